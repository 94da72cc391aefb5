/* A reader of one format: its options, and the blocks of rows that it returns. */
#include "data/reader.h"

#include <string.h>

#include "data/layout.h"
#include "data/table.h"

const uc_option uc_read_options[] = {
    {.name = "format",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(uc_read_settings, format),
     .standard = "auto",
     .choices = "auto|libsvm|csv|npy|ucd|jsonl",
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
    {.name = "columns",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, columns),
     .argument = "NAME=TYPE,...",
     .help = "tables: what columns are, by their names: number, category, boolean, date, text, id or drop "
             "(without it: found out, as inspect shows)"},
    {.name = "drop",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, drop),
     .argument = "A,B,...",
     .help = "tables: names of columns to leave out"},
    {.name = "id",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, id),
     .argument = "COLUMN",
     .help = "tables: the column that names the rows in every output; it is not a feature"},
    {.name = "missing-values",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, missing_values),
     .argument = "LIST",
     .help = "tables: what stands for a missing value besides an empty field (without it: "
             "NA,N/A,NaN,null,None,?)"},
    {.name = "decimal",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, decimal),
     .argument = ".|,",
     .help = "tables: the decimal point of numbers, a point or a comma; the other one separates thousands "
             "(without it: a point)"},
    {.name = "separator",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(uc_read_settings, separator),
     .argument = "CHARACTER",
     .help = "CSV: what separates columns: one character, tab or auto (without it: the first of tab, "
             "semicolon, comma and | that the first line has)"},
    {.name = "max-categories",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(uc_read_settings, max_categories),
     .standard = "100",
     .low = 1,
     .high = 4000,
     .help = "tables: text of more different values than these is not a category"},
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

uc_status uc_read_settings_check(const uc_read_settings *settings)
{
    const uc_status status = uc_options_check(uc_read_options, settings);
    const char *separator = settings->separator, *decimal = settings->decimal;
    if (status != UC_OK)
        return status;
    if (separator && strcmp(separator, "auto") != 0 &&
        (!*separator || (strlen(separator) != 1 && uc_separator_of(settings) != '\t') ||
         strchr("\"\n\r", *separator)))
        return uc_fail(UC_ERR_OPTION, "{separator} '%s' is not one character, tab or auto", separator);
    if (decimal && strcmp(decimal, ".") != 0 && strcmp(decimal, ",") != 0)
        return uc_fail(UC_ERR_OPTION, "{decimal} '%s' is neither a point nor a comma", decimal);
    return UC_OK;
}

/* The reader takes ownership of the input, even if this fails. */
uc_status uc_reader_create(uc_reader **out, uc_input *input, const uc_file_range *range,
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
    *out = self;
    return UC_OK;
}

uc_status uc_reader_open_as(uc_reader **out, uc_input *input, const uc_data_format *format,
                            const uc_read_settings *settings, const uc_context *context)
{
    uc_reader *self;
    const uc_file_range range = {.path = uc_input_name(input)};
    uc_status status = uc_reader_create(&self, input, &range, settings, context);
    if (status != UC_OK)
        return status;
    self->format = format;
    if (settings)
        self->table = uc_table_share(settings->table);
    status = uc_read_settings_check(&self->settings);
    if (status == UC_OK)
        status = format->begin(self);
    if (status == UC_OK)
        *out = self;
    else
        uc_reader_close(self);
    return status;
}

void uc_reader_close(uc_reader *self)
{
    if (!self)
        return;
    if (self->format)
        self->format->end(self);
    uc_input_close(self->input);
    if (self->weights)
        self->rows.weights = NULL; /* points into self->weights */
    uc_free(self->weights);
    uc_dataset_free(&self->rows);
    uc_names_free(&self->classes);
    uc_names_free(&self->bags);
    uc_names_free(&self->numbers);
    uc_names_free(&self->spelled);
    uc_free(self->number_class);
    uc_free(self->spelled_class);
    uc_table_free(self->table);
    uc_free(self->ids);
    uc_free(self);
}

uc_status uc_reader_pull(uc_reader *self)
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

/* Sets the weights of the current block, from a separate file. */
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
        uc_status status = uc_reader_pull(self);
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

const uc_table *uc_reader_table(const uc_reader *self)
{
    return self->table;
}

const char *uc_reader_id(size_t *length, const uc_reader *self, size_t row)
{
    if (!self->has_ids)
        return NULL;
    *length = self->ids[row].length;
    return self->ids[row].begin;
}

const uc_row_check *uc_reader_check(const uc_reader *self)
{
    return self->check.check ? &self->check : NULL;
}

size_t uc_reader_unseen(const uc_reader *self)
{
    return self->unseen;
}

size_t uc_reader_extra_columns(const uc_reader *self)
{
    return self->extra;
}
