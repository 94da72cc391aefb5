/*
 * Reading data: recognises the format, hands out blocks of rows, and collects them into a whole data set,
 * which is the same blocks, appended instead of replaced.
 */
#include "data/reader.h"

#include <assert.h>
#include <string.h>

#include "data/recognise.h"
#include "data/valid.h"

const uc_option uc_read_options[] = {
    {.name = "format",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(uc_read_settings, format),
     .standard = "auto",
     .choices = "auto|libsvm|csv|npy|ucd",
     .help = "format of the data; auto recognises it from the content"},
    {.name = "label",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, label),
     .argument = "COLUMN",
     .help = "CSV: the column of the labels, by name or number (-1: the last), or none (without it: a column "
             "called label, class, target or y, else the last)"},
    {.name = "bag",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, bag),
     .argument = "COLUMN",
     .help = "CSV: the column, by name or number, that says which bag each row belongs to"},
    {.name = "labels",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, labels),
     .argument = "FILE",
     .help = "NPY: the file that holds the labels"},
    {.name = "weight",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, weight),
     .argument = "COLUMN",
     .help = "CSV: the column, by name or number, of the examples' weights: numbers of 0 or more"},
    {.name = "weights",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, weights),
     .argument = "FILE",
     .help = "a file with the weight of every example, one number of 0 or more per line"},
    {.name = "soft-labels",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, soft_labels),
     .argument = "FILE",
     .help = "a file with the probability of every class for each example: CSV with the class names in its "
             "first line, or NPY; used instead of the labels"},
    {.name = "storage",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(uc_read_settings, storage),
     .standard = "auto",
     .choices = "auto|dense|sparse",
     .help =
         "how LIBSVM text is held in memory (auto: dense when a quarter or more of the values are given)"},
    {0},
};

uc_read_settings uc_reader_defaults(void)
{
    uc_read_settings settings = {0};
    uc_options_defaults(uc_read_options, &settings);
    return settings;
}

/* In the order of uc_format. */
static const uc_data_format *const formats[] = {NULL, &uc_format_libsvm, &uc_format_csv, &uc_format_npy,
                                                &uc_format_ucd};

static uc_status recognise(uc_reader *self)
{
    const char *bytes, *name = uc_input_name(self->input);
    size_t length;
    uc_status status = uc_input_peek(&bytes, &length, self->input);
    if (status != UC_OK)
        return status;
    if (length == 0 && !self->range.may_be_empty)
        return uc_fail(UC_ERR_FORMAT, "%s: no examples", name);
    uc_format format = (uc_format)self->settings.format;
    if (format == UC_FORMAT_AUTO)
        status = uc_recognise_format(&format, bytes, length, name);
    if (status != UC_OK)
        return status;
    if (self->settings.labels && format != UC_FORMAT_NPY)
        return uc_fail(UC_ERR_INVALID, "%s: a file of labels goes with NPY data only, and this is %s", name,
                       formats[format]->name);
    if (self->settings.weight && format != UC_FORMAT_CSV)
        return uc_fail(UC_ERR_INVALID,
                       "%s: {weight} names a column of CSV data, and this is %s: give the weights with "
                       "{weights}",
                       name, formats[format]->name);
    if (self->settings.weight && self->settings.weights)
        return uc_fail(UC_ERR_INVALID, "%s: give only one of {weight} and {weights}", name);
    self->format = formats[format];
    return UC_OK;
}

/* ---- blocks of rows ---- */

static uc_status compare_columns(const uc_reader *self, const uc_reader *first)
{
    const char *name = uc_input_name(self->input), *first_name = uc_input_name(first->input);
    if (self->header && first->header && self->header != first->header)
        return uc_fail(UC_ERR_FORMAT, "%s: other columns, or in another order, than %s", name, first_name);
    if (self->rows.X.cols != first->rows.X.cols)
        return uc_fail(UC_ERR_FORMAT, "%s: %zu columns, but %s has %zu", name, self->rows.X.cols, first_name,
                       first->rows.X.cols);
    if (self->label && first->label && self->label != first->label)
        return uc_fail(
            UC_ERR_FORMAT,
            "%s: its labels would be column %zu, but those of %s are column %zu: name it with {label}", name,
            self->label, first_name, first->label);
    if (self->bag && first->bag && self->bag != first->bag)
        return uc_fail(UC_ERR_FORMAT, "%s: its bags would be column %zu, but those of %s are column %zu",
                       name, self->bag, first_name, first->bag);
    if (self->weight != first->weight)
        return uc_fail(UC_ERR_FORMAT, "%s: its weights would be column %zu, but those of %s are column %zu",
                       name, self->weight, first_name, first->weight);
    return UC_OK;
}

/* A CSV file of several has its columns where the first of them has. If that one cannot be opened, whoever
 * reads it says why. */
static uc_status check_like_first(const uc_reader *self)
{
    const char *path = self->range.first;
    uc_reader *first = NULL;
    if (self->format != &uc_format_csv || !path || strcmp(path, "-") == 0)
        return UC_OK;
    uc_status status = uc_reader_open(&first, path, &self->settings, &self->context);
    if (status != UC_OK)
        return status == UC_ERR_NOMEM ? status : UC_OK;
    if (first->format == &uc_format_csv)
        status = compare_columns(self, first);
    uc_reader_close(first);
    return status;
}

static uc_status begin(uc_reader *self)
{
    uc_status status = uc_options_check(uc_read_options, &self->settings);
    if (status != UC_OK)
        return status;
    status = recognise(self);
    if (status != UC_OK)
        return status;
    status = self->format->begin(self);
    if (status != UC_OK)
        return status;
    status = check_like_first(self);
    if (status == UC_OK && self->range.to && self->format->cut)
        status = self->format->cut(self);
    return status;
}

/* The input belongs to the reader from here on, also when this fails. */
static uc_status open_reader(uc_reader **out, uc_input *input, const uc_file_range *range,
                             const uc_read_settings *settings, const uc_context *context)
{
    uc_reader *self = uc_alloc(1, sizeof *self);
    if (!self) {
        uc_input_close(input);
        return UC_ERR_NOMEM;
    }
    self->input = input;
    self->range = *range;
    self->settings = settings ? *settings : uc_reader_defaults();
    if (context)
        self->context = *context;
    const uc_status status = begin(self);
    if (status != UC_OK) {
        uc_reader_close(self);
        return status;
    }
    *out = self;
    return UC_OK;
}

uc_status uc_reader_open_range(uc_reader **out, const uc_file_range *range, const uc_read_settings *settings,
                               const uc_context *context)
{
    uc_input *input;
    const uc_status status = uc_input_open(&input, range->path);
    if (status != UC_OK)
        return status;
    return open_reader(out, input, range, settings, context);
}

uc_status uc_reader_open(uc_reader **out, const char *path, const uc_read_settings *settings,
                         const uc_context *context)
{
    return uc_reader_open_range(out, &(uc_file_range){.path = path}, settings, context);
}

void uc_reader_close(uc_reader *self)
{
    if (!self)
        return;
    if (self->format)
        self->format->end(self);
    uc_input_close(self->input);
    if (self->weights)
        self->rows.weights = NULL; /* a part of them */
    uc_free(self->weights);
    uc_dataset_free(&self->rows);
    uc_names_free(&self->classes);
    uc_names_free(&self->bags);
    uc_free(self);
}

/* One block more, with at least one row unless the input has ended. */
static uc_status pull(uc_reader *self)
{
    const size_t before = self->rows.X.rows;
    while (self->rows.X.rows == before && !self->ended) {
        uc_status status = self->format->next(self);
        if (status == UC_OK)
            status = uc_report(&self->context, "reading", (double)uc_input_done(self->input),
                               (double)uc_input_total(self->input), NULL);
        if (status != UC_OK)
            return status;
    }
    self->total_rows += self->rows.X.rows - before;
    if (self->total_rows == 0 && !self->range.to && !self->range.may_be_empty)
        return uc_fail(UC_ERR_FORMAT, "%s: no examples", uc_input_name(self->input));
    return UC_OK;
}

/* The weights of the block at hand, from a file of their own. */
static uc_status attach_block(uc_reader *self)
{
    uc_dataset *block = &self->rows;
    const char *path = self->settings.weights;
    if (!path)
        return UC_OK;
    if (!self->weights) {
        if (self->range.to)
            return uc_fail(UC_ERR_INVALID, "%s: weights are of whole files", path);
        uc_free(block->weights);
        block->weights = NULL;
        const uc_status status =
            uc_weights_read(&self->weights, &self->weight_count, path, SIZE_MAX, &self->context);
        if (status != UC_OK)
            return status;
    }
    const bool differ =
        self->total_rows > self->weight_count || (self->ended && self->total_rows != self->weight_count);
    if (differ)
        return uc_fail(UC_ERR_FORMAT, "%s: %zu weights, but %s has %s%zu examples", path, self->weight_count,
                       uc_input_name(self->input), self->ended ? "" : "more than ",
                       self->ended ? self->total_rows : self->weight_count);
    block->weights = self->weights + (self->total_rows - block->X.rows);
    return UC_OK;
}

uc_status uc_reader_next(const uc_dataset **block, uc_reader *self)
{
    if (!self->ended) {
        self->rows.X.rows = 0;
        uc_status status = pull(self);
        if (status == UC_OK)
            status = attach_block(self);
        if (status != UC_OK)
            return status;
        if (self->rows.X.rows > 0) {
            *block = &self->rows;
            return UC_OK;
        }
    }
    *block = NULL;
    return UC_OK;
}

const uc_names *uc_reader_classes(const uc_reader *self)
{
    return &self->classes;
}

const char *uc_reader_format(const uc_reader *self)
{
    return self->format->name;
}

/* ---- whole data sets ---- */

static uc_status sort_classes(uc_reader *self)
{
    uint32_t *renumber = uc_alloc(self->classes.count, sizeof *renumber);
    if (!renumber)
        return UC_ERR_NOMEM;
    uc_status status = uc_names_sort(&self->classes, renumber);
    uint32_t *y = self->rows.y;
    for (size_t i = 0; status == UC_OK && y && i < self->rows.X.rows; i++)
        if (y[i] != UC_NONE)
            y[i] = renumber[y[i]];
    if (status == UC_OK && self->rows.soft)
        status = uc_renumber_soft(self->rows.soft, self->rows.X.rows, renumber, self->classes.count);
    uc_free(renumber);
    return status;
}

static uc_status choose_storage(uc_reader *self)
{
    uc_matrix *X = &self->rows.X;
    if (!self->sparse || self->rows.mapping || self->settings.storage == UC_STORAGE_SPARSE)
        return UC_OK;
    const double cells = (double)X->rows * (double)X->cols;
    if (self->settings.storage == UC_STORAGE_AUTO && (double)uc_matrix_entries(X) * 4.0 < cells)
        return UC_OK;
    const double bytes = (double)X->rows * (double)uc_matrix_stride(X->cols) * (double)sizeof(float);
    const uc_status status = uc_memory_check(&self->context, bytes, uc_input_name(self->input));
    if (status != UC_OK && self->settings.storage == UC_STORAGE_AUTO)
        return UC_OK; /* dense storage was not asked for */
    if (status != UC_OK)
        return status;
    return uc_matrix_densify(X);
}

/* All rows, as they will be handed out. */
static uc_status collect(uc_reader *self)
{
    uc_status status = UC_OK;
    self->whole = true;
    while (status == UC_OK && !self->ended)
        status = pull(self);
    if (status == UC_OK && self->total_rows == 0) /* a range may have none */
        status = uc_reader_reserve_none(self);
    if (status != UC_OK)
        return status;
    uc_reader_trim(self);
    status = sort_classes(self);
    if (status != UC_OK)
        return status;
    return choose_storage(self);
}

static uc_status read_all(uc_dataset *out, uc_input *input, const uc_file_range *range,
                          const uc_read_settings *settings, const uc_context *context)
{
    uc_reader *self;
    uc_status status = open_reader(&self, input, range, settings, context);
    if (status != UC_OK)
        return status;
    status = collect(self);
    if (status == UC_OK) {
        uc_dataset read = self->rows;
        read.classes = self->classes;
        read.bags = self->bags;
        self->rows = (uc_dataset){0};
        self->classes = self->bags = (uc_names){0};
        status = uc_dataset_attach(&read, &self->settings, &self->context);
        if (status == UC_OK)
            *out = read;
        else
            uc_dataset_free(&read);
        assert(status != UC_OK || uc_dataset_is_valid(out));
    }
    uc_reader_close(self);
    return status;
}

uc_status uc_dataset_read_range(uc_dataset *out, const uc_file_range *range, const uc_read_settings *settings,
                                const uc_context *context)
{
    uc_input *input;
    const uc_status status = uc_input_open(&input, range->path);
    if (status != UC_OK)
        return status;
    return read_all(out, input, range, settings, context);
}

uc_status uc_dataset_read(uc_dataset *out, const char *path, const uc_read_settings *settings,
                          const uc_context *context)
{
    return uc_dataset_read_range(out, &(uc_file_range){.path = path}, settings, context);
}

uc_status uc_dataset_read_memory(uc_dataset *out, const void *bytes, size_t length, const char *name,
                                 const uc_read_settings *settings, const uc_context *context)
{
    uc_input *input;
    const uc_status status = uc_input_open_memory(&input, bytes, length, name);
    if (status != UC_OK)
        return status;
    return read_all(out, input, &(uc_file_range){.path = name}, settings, context);
}
