/*
 * Reading data: recognises the format, hands out blocks of rows, and collects them into a whole data set.
 *
 * A whole data set is the same blocks, appended instead of replaced. Its arrays are made as large as the part of the file
 * that has been read lets expect, and cut to size in the end: the system gives memory only where something is written,
 * and moves the pages of large blocks without copying them, so the arrays are never held twice.
 */
#include "data/reader.h"

#include <string.h>
#include <sys/stat.h>

#define NPY_MAGIC "\x93NUMPY"
#define MODEL_MAGIC "\x89UCMODEL" /* to say what it is, not to read it */

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
     .help = "CSV: the label's column, a name or 1, 2, ... (-1: the last), or none; else label, class, "
             "target, y or the last"},
    {.name = "bag",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, bag),
     .argument = "COLUMN",
     .help = "CSV: the column that says to which bag a row belongs, a name or number"},
    {.name = "labels",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, labels),
     .argument = "FILE",
     .help = "NPY: the file of labels"},
    {.name = "storage",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(uc_read_settings, storage),
     .standard = "auto",
     .choices = "auto|dense|sparse",
     .help = "how LIBSVM text is held; auto is dense when a quarter or more of the values are given"},
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

/* ---- recognising ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A word like `3:...`, `qid:...` or `bag:...`, without a comma or semicolon. */
static bool is_entry(const char *p, const char *end)
{
    const char *word = p;
    while (p < end && is_digit(*p))
        p++;
    if (p == word && end - p > 3 && (memcmp(p, "qid", 3) == 0 || memcmp(p, "bag", 3) == 0))
        p += 3;
    if (p == word || p == end || *p != ':')
        return false;
    for (; p < end && !is_blank(*p); p++)
        if (*p == ',' || *p == ';')
            return false;
    return true;
}

/* Text is LIBSVM when nothing in its first line separates columns of a table, or when its first or second word is
 * column:value. */
static uc_format recognise_line(const char *p, const char *end)
{
    if (!memchr(p, ',', (size_t)(end - p)) && !memchr(p, ';', (size_t)(end - p)) &&
        !memchr(p, '\t', (size_t)(end - p)))
        return UC_FORMAT_LIBSVM;
    if (is_entry(p, end))
        return UC_FORMAT_LIBSVM;
    while (p < end && !is_blank(*p))
        p++;
    while (p < end && is_blank(*p))
        p++;
    return is_entry(p, end) ? UC_FORMAT_LIBSVM : UC_FORMAT_CSV;
}

/* The first line that is neither blank nor a comment decides; text without one is LIBSVM without examples. */
static uc_format recognise_text(const char *p, const char *end)
{
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *line_end = newline ? newline : end;
        while (p < line_end && is_blank(*p))
            p++;
        const char *last = line_end;
        while (last > p && is_blank(last[-1]))
            last--;
        if (p < last && *p != '#')
            return recognise_line(p, last);
        p = newline ? newline + 1 : end;
    }
    return UC_FORMAT_LIBSVM;
}

static bool begins_with(const char *bytes, size_t length, const char *magic, size_t magic_length)
{
    return length >= magic_length && memcmp(bytes, magic, magic_length) == 0;
}

static uc_status recognise(uc_reader *self)
{
    const char *bytes, *name = uc_input_name(self->input);
    size_t length;
    const uc_status status = uc_input_peek(&bytes, &length, self->input);
    if (status != UC_OK)
        return status;
    if (length == 0 && !self->range.may_be_empty)
        return uc_fail(UC_ERR_FORMAT, "%s: no examples", name);
    uc_format format = (uc_format)self->settings.format;
    if (format == UC_FORMAT_AUTO) {
        const unsigned char first = length ? (unsigned char)bytes[0] : 0;
        if (begins_with(bytes, length, UC_DATA_MAGIC, 8))
            format = UC_FORMAT_UCD;
        else if (begins_with(bytes, length, NPY_MAGIC, 6))
            format = UC_FORMAT_NPY;
        else if (begins_with(bytes, length, MODEL_MAGIC, 8))
            return uc_fail(UC_ERR_FORMAT, "%s: a model, where data are expected", name);
        else if (first == 0xff || first == 0xfe)
            return uc_fail(UC_ERR_FORMAT, "%s: text in UTF-16; convert it to UTF-8 first", name);
        else if (first >= 0x80 && first < 0xc0) /* no text begins like this */
            return uc_fail(UC_ERR_FORMAT, "%s: neither LIBSVM nor CSV text, and not an NPY or UCD file",
                           name);
        else if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
            format = recognise_text(bytes + 3, bytes + length);
        else
            format = recognise_text(bytes, bytes + length);
    }
    if (self->settings.labels && format != UC_FORMAT_NPY)
        return uc_fail(UC_ERR_INVALID, "%s: a file of labels goes with NPY data only, and this is %s", name,
                       formats[format]->name);
    self->format = formats[format];
    return UC_OK;
}

uc_status uc_look_at_file(uc_file_look *out, const char *path)
{
    uc_input *input;
    const char *head;
    size_t length;
    struct stat info;
    *out = (uc_file_look){0};
    if (strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode)))
        return UC_OK; /* what comes out of a pipe comes once */
    uc_status status = uc_input_open(&input, path);
    if (status != UC_OK)
        return status;
    status = uc_input_peek(&head, &length, input);
    if (status == UC_OK)
        *out = (uc_file_look){
            .bytes = uc_input_total(input),
            .can_be_cut = uc_input_file(input) >= 0 && !begins_with(head, length, NPY_MAGIC, 6),
            .is_ucd = begins_with(head, length, UC_DATA_MAGIC, 8),
        };
    uc_input_close(input);
    return status;
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
    return UC_OK;
}

/* A CSV file that belongs to others has its columns where the first of them has. What is wrong with that one is said by
 * whoever reads it. */
static uc_status check_like_first(const uc_reader *self)
{
    uc_reader *first = NULL;
    if (self->format != &uc_format_csv || !self->range.first || strcmp(self->range.first, "-") == 0)
        return UC_OK;
    uc_status status = uc_reader_open(&first, self->range.first, &self->settings, &self->context);
    if (status == UC_OK)
        status = first->format == &uc_format_csv ? compare_columns(self, first) : UC_OK;
    else if (status != UC_ERR_NOMEM)
        status = UC_OK;
    uc_reader_close(first);
    return status;
}

/* The whole of the input belongs to the reader from here on, also when this fails. */
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
    uc_status status = uc_options_check(uc_read_options, &self->settings);
    if (status == UC_OK)
        status = recognise(self);
    if (status == UC_OK)
        status = self->format->begin(self);
    if (status == UC_OK)
        status = check_like_first(self);
    if (status == UC_OK && range->to && self->format->cut)
        status = self->format->cut(self);
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
    return status == UC_OK ? open_reader(out, input, range, settings, context) : status;
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
    uc_dataset_free(&self->rows);
    uc_names_free(&self->classes);
    uc_names_free(&self->bags);
    uc_free(self);
}

static uc_status grow(void **array, size_t count, size_t size)
{
    void *grown = uc_realloc(*array, count, size);
    if (!grown)
        return UC_ERR_NOMEM;
    *array = grown;
    return UC_OK;
}

/* How many items to make room for when `needed` are known of: all, as far as the share of the file that they come from
 * tells, or a quarter more. */
static size_t expected(const uc_reader *self, size_t needed, bool exact)
{
    const double done = (double)uc_input_done(self->input), total = (double)uc_input_total(self->input);
    const double quarter = (double)needed * 1.25, all = (double)needed * 1.02 * total / done;
    if (exact || quarter >= (double)(SIZE_MAX / 64))
        return needed;
    return (size_t)(self->whole && done > 0.0 && all > quarter && all < (double)(SIZE_MAX / 64) ? all
                                                                                                : quarter);
}

static uc_status reserve_rows(uc_reader *self, size_t rows)
{
    uc_dataset *data = &self->rows;
    uc_status status = UC_OK;
    if (self->has_labels)
        status = grow((void **)&data->y, rows, sizeof *data->y);
    if (status == UC_OK && self->has_bags)
        status = grow((void **)&data->bag, rows, sizeof *data->bag);
    if (status == UC_OK && self->sparse) {
        status = grow((void **)&data->X.offsets, rows + 1, sizeof *data->X.offsets);
        if (status == UC_OK)
            data->X.offsets[0] = 0;
    }
    if (status == UC_OK)
        self->row_capacity = rows;
    return status;
}

static uc_status reserve_values(uc_reader *self, size_t values)
{
    uc_matrix *X = &self->rows.X;
    uc_status status = grow((void **)&X->values, values, sizeof *X->values);
    if (status == UC_OK && self->sparse)
        status = grow((void **)&X->columns, values, sizeof *X->columns);
    if (status != UC_OK)
        return status;
    self->value_capacity = values;
    return UC_OK;
}

uc_status uc_reader_reserve(uc_reader *self, size_t rows, size_t entries, bool exact)
{
    size_t values = entries;
    if (!self->sparse && !uc_size_mul(&values, rows, self->rows.X.stride))
        return uc_fail(UC_ERR_NOMEM, "%s: %zu rows of %zu columns do not fit in memory",
                       uc_input_name(self->input), rows, self->rows.X.cols);
    const double bytes = (double)values * (self->sparse ? 8.0 : 4.0);
    uc_status status = uc_memory_check(&self->context, bytes, uc_input_name(self->input));
    if (status == UC_OK && (rows > self->row_capacity || (self->has_bags && !self->rows.bag)))
        status = reserve_rows(self, expected(self, rows, exact));
    if (status == UC_OK && (values > self->value_capacity || !self->rows.X.values))
        status = reserve_values(self, expected(self, values, exact));
    return status;
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

uc_status uc_reader_next(const uc_dataset **block, uc_reader *self)
{
    if (!self->ended) {
        self->rows.X.rows = 0;
        const uc_status status = pull(self);
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

/* Gives back what the arrays do not use; a failure leaves them larger, which harms no one. */
static void shrink(uc_reader *self)
{
    uc_dataset *data = &self->rows;
    uc_matrix *X = &data->X;
    if (data->mapping)
        return;
    const size_t values = self->sparse ? (size_t)X->offsets[X->rows] : X->rows * X->stride;
    if (values < self->value_capacity) {
        (void)grow((void **)&X->values, values, sizeof *X->values);
        if (self->sparse)
            (void)grow((void **)&X->columns, values, sizeof *X->columns);
    }
    if (X->rows < self->row_capacity) {
        if (self->has_labels)
            (void)grow((void **)&data->y, X->rows, sizeof *data->y);
        if (self->has_bags)
            (void)grow((void **)&data->bag, X->rows, sizeof *data->bag);
        if (self->sparse)
            (void)grow((void **)&X->offsets, X->rows + 1, sizeof *X->offsets);
    }
}

static uc_status sort_classes(uc_reader *self)
{
    uint32_t *renumber = uc_alloc(self->classes.count, sizeof *renumber);
    if (!renumber)
        return UC_ERR_NOMEM;
    const uc_status status = uc_names_sort(&self->classes, renumber);
    if (status == UC_OK)
        for (size_t i = 0; self->rows.y && i < self->rows.X.rows; i++)
            if (self->rows.y[i] != UC_NONE)
                self->rows.y[i] = renumber[self->rows.y[i]];
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
    if (status != UC_OK) /* whoever did not ask for dense data can do without */
        return self->settings.storage == UC_STORAGE_AUTO ? UC_OK : status;
    return uc_matrix_densify(X);
}

static uc_status read_all(uc_dataset *out, uc_input *input, const uc_file_range *range,
                          const uc_read_settings *settings, const uc_context *context)
{
    uc_reader *self;
    uc_status status = open_reader(&self, input, range, settings, context);
    if (status != UC_OK)
        return status;
    self->whole = true;
    while (status == UC_OK && !self->ended)
        status = pull(self);
    if (status == UC_OK && self->total_rows == 0) /* a range may have none */
        status = reserve_rows(self, 0);
    if (status == UC_OK) {
        shrink(self);
        status = sort_classes(self);
    }
    if (status == UC_OK)
        status = choose_storage(self);
    if (status == UC_OK) {
        *out = self->rows;
        out->classes = self->classes;
        out->bags = self->bags;
        self->rows = (uc_dataset){0};
        self->classes = self->bags = (uc_names){0};
    }
    uc_reader_close(self);
    return status;
}

uc_status uc_dataset_read_range(uc_dataset *out, const uc_file_range *range, const uc_read_settings *settings,
                                const uc_context *context)
{
    uc_input *input;
    const uc_status status = uc_input_open(&input, range->path);
    return status == UC_OK ? read_all(out, input, range, settings, context) : status;
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
    return status == UC_OK ? read_all(out, input, &(uc_file_range){.path = name}, settings, context) : status;
}

/* ---- words of the input ---- */

const char *uc_quote(char quoted[UC_QUOTE_SIZE], const char *text, size_t length)
{
    const size_t most = 40;
    const size_t shown = length > most ? most - 3 : length;
    for (size_t i = 0; i < shown; i++)
        quoted[i] = text[i];
    size_t end = shown;
    while (length > most && end > 0 && (text[end] & 0xc0) == 0x80)
        end--; /* not within a character */
    if (!uc_is_name(quoted, end))
        for (size_t i = 0; i < end; i++)
            quoted[i] = text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
    strcpy(quoted + end, length > most ? "..." : "");
    return quoted;
}
