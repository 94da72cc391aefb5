/*
 * Opening data: recognises the format and whether CSV is a table of several types, and collects a reader's
 * blocks into a whole data set, in which blocks are appended instead of replaced.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <string.h>

#include "data/layout.h"
#include "data/reader.h"
#include "data/recognise.h"
#include "data/table.h"
#include "data/valid.h"

/* In the order of uc_format. */
static const uc_data_format *const formats[] = {NULL,           &uc_format_libsvm, &uc_format_csv,
                                                &uc_format_npy, &uc_format_ucd,    &uc_format_jsonl};

/* Whether rows have named or numbered columns. */
static bool has_columns(uc_format format)
{
    return format == UC_FORMAT_CSV || format == UC_FORMAT_JSONL;
}

static bool is_table(const uc_reader *self)
{
    return self->format == &uc_format_table || self->format == &uc_format_jsonl;
}

uc_status uc_read_settings_fit(const uc_read_settings *settings, uc_format format, const char *name)
{
    const bool unlabelled =
        settings->label && strcmp(settings->label, "none") == 0; /* "none" names no column */
    const struct {
        const char *option, *value;
    } given[] = {{"label", unlabelled ? NULL : settings->label},
                 {"bag", settings->bag},
                 {"id", settings->id},
                 {"columns", settings->columns},
                 {"drop", settings->drop},
                 {"missing-values", settings->missing_values},
                 {"decimal", settings->decimal},
                 {"separator", settings->separator}};
    for (size_t i = 0; i < sizeof given / sizeof *given && !has_columns(format); i++)
        if (given[i].value)
            return uc_fail(
                UC_ERR_INVALID,
                "%s: {%s} is about the columns of CSV data or JSON lines, and this is %s: leave it "
                "out",
                name, given[i].option, formats[format]->name);
    return UC_OK;
}

void uc_read_settings_forget_columns(uc_read_settings *settings)
{
    settings->label = settings->bag = settings->id = settings->columns = settings->drop = NULL;
    settings->missing_values = settings->decimal = settings->separator = NULL;
}

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
    else if (format != UC_FORMAT_NPY && format != UC_FORMAT_UCD)
        status = uc_refuse_utf16(bytes, length, name);
    if (status != UC_OK)
        return status;
    if (self->settings.labels && format != UC_FORMAT_NPY)
        return uc_fail(UC_ERR_INVALID, "%s: a file of labels goes with NPY data only, and this is %s", name,
                       formats[format]->name);
    if (self->settings.weight && !has_columns(format))
        return uc_fail(
            UC_ERR_INVALID,
            "%s: {weight} names a column of CSV data or JSON lines, and this is %s: give the weights with "
            "{weights}",
            name, formats[format]->name);
    if ((status = uc_read_settings_fit(&self->settings, format, name)) != UC_OK)
        return status;
    if (self->settings.weight && self->settings.weights)
        return uc_fail(UC_ERR_INVALID, "%s: give only one of {weight} and {weights}", name);
    if (self->settings.table && !self->settings.table->plain && !has_columns(format))
        return uc_fail(
            UC_ERR_INVALID,
            "%s: a model of typed columns needs a table (CSV, JSON lines) with these columns by name, and "
            "this is %s",
            name, formats[format]->name);
    if (format == UC_FORMAT_JSONL && self->settings.table && !self->settings.table->named)
        return uc_fail(
            UC_ERR_INVALID,
            "%s: the model was trained on columns without names, and JSON lines have names: give CSV", name);
    self->format = formats[format];
    if (format == UC_FORMAT_JSONL) /* for later looks at the same bytes */
        self->settings.format = UC_FORMAT_JSONL;
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

/* All CSV files must have the columns of the first one. If that cannot be opened, the process that reads it
 * reports why. */
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

/* ---- tables ---- */

/* Whether options are set that only apply to tables of several types. */
static bool has_table_options(const uc_read_settings *settings)
{
    return settings->columns || settings->drop || settings->id || settings->missing_values ||
           settings->decimal || settings->max_categories != UC_MAX_CATEGORIES;
}

/* Whether the names of a plain table's features are those of the header, in the same order. */
static bool has_columns_of(const uc_table *table, const uc_table *file)
{
    size_t c = 0;
    for (size_t i = 0; i < file->column_count; i++) {
        if (file->columns[i].type != UC_COLUMN_NUMBER)
            continue;
        while (c < table->column_count && table->columns[c].type != UC_COLUMN_NUMBER)
            c++;
        if (c == table->column_count || strcmp(table->columns[c].name, file->columns[i].name) != 0)
            return false;
        c++;
    }
    while (c < table->column_count && table->columns[c].type != UC_COLUMN_NUMBER)
        c++;
    return c == table->column_count;
}

static bool has_id_names(const uc_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].type == UC_COLUMN_NUMBER && table->named &&
            (uc_is_index_name(table->columns[i].name) ||
             uc_table_is_id_name(table->columns[i].name, strlen(table->columns[i].name))))
            return true;
    return false;
}

/* Tries to read the beginning of the file as a table of numbers. */
uc_status uc_table_is_needed(bool *out, const char *bytes, size_t length, const uc_read_settings *settings)
{
    const uc_table *known = settings->table;
    uc_read_settings own = *settings;
    const uc_context one_thread = {.threads = 1};
    uc_input *input;
    uc_reader *reader = NULL;
    const uc_dataset *block;
    *out = has_table_options(settings) || (known && !known->plain);
    if (*out)
        return UC_OK;
    own.table = NULL;
    own.weights = NULL;
    const char *last = memrchr(bytes, '\n', length);
    uc_status status = uc_input_open_memory(&input, bytes, last ? (size_t)(last - bytes) + 1 : length, "");
    if (status != UC_OK)
        return status;
    status = uc_reader_open_as(&reader, input, &uc_format_csv, &own, &one_thread);
    if (status == UC_ERR_NOMEM)
        return status;
    if (status != UC_OK)
        return UC_OK; /* problems are reported when it is read */
    if (known && known->named && reader->table)
        *out = !has_columns_of(known, reader->table);
    else if (!known)
        *out = reader->table && has_id_names(reader->table);
    if (!*out && uc_reader_next(&block, reader) == UC_ERR_NOMEM)
        status = UC_ERR_NOMEM;
    *out = *out || (reader->not_numbers && !known);
    uc_reader_close(reader);
    return status;
}

/* Finds bytes that can be looked at first and read later. */
static uc_status find_source(uc_look_source *out, const char **path, uc_reader *self)
{
    *path = self->range.path;
    *out = (uc_look_source){.paths = path, .count = 1, .name = uc_input_name(self->input)};
    if (self->memory) {
        *out = (uc_look_source){
            .bytes = self->memory, .length = self->memory_length, .name = out->name, .whole = true};
        return UC_OK;
    }
    if (strcmp(*path, "-") != 0 && !uc_input_is_live(self->input))
        return UC_OK;
    out->paths = NULL;
    const uc_status status =
        uc_input_peek_lines(&out->bytes, &out->length, &out->whole, self->input, UC_LOOK_ROWS + 1);
    const char *last = memrchr(out->bytes, '\n', out->length);
    if (status == UC_OK && !out->whole && last)
        out->length = (size_t)(last - out->bytes) + 1;
    return status;
}

/* CSV whose features are not all numbers is read by another format, with a table. */
static uc_status begin_table(uc_reader *self)
{
    const char *bytes, *path;
    size_t length;
    bool needed = self->as_table || is_table(self);
    uc_look_source source;
    uc_status status = uc_input_peek(&bytes, &length, self->input);
    if (status == UC_OK && !needed)
        status = uc_table_is_needed(&needed, bytes, length, &self->settings);
    if (status != UC_OK || !needed)
        return status;
    if (!is_table(self))
        self->format = &uc_format_table;
    if (self->settings.table)
        return UC_OK;
    status = find_source(&source, &path, self);
    if (status == UC_OK)
        status = uc_table_look_at(&self->table, &source, &self->settings, &self->context);
    if (status == UC_OK)
        status = uc_table_check_features(self->table, source.name);
    if (status == UC_OK && !self->whole)
        status = uc_encoder_learn(self->table, &source, &self->settings, &self->context);
    return status;
}

static uc_status begin(uc_reader *self)
{
    uc_status status = uc_read_settings_check(&self->settings);
    if (status == UC_OK)
        status = recognise(self);
    if (status == UC_OK && (self->format == &uc_format_csv || is_table(self)))
        status = begin_table(self);
    if (status != UC_OK)
        return status;
    if (is_table(self) && !self->table)
        self->table = uc_table_share(self->settings.table);
    status = self->format->begin(self);
    if (status != UC_OK)
        return status;
    status = check_like_first(self);
    if (status == UC_OK && self->range.to && self->format->cut)
        status = self->format->cut(self);
    return status;
}

/* How a reader is opened, apart from what is detected. */
typedef struct opening {
    bool whole, as_table;
    const char *memory; /* the bytes of the input; NULL if it is a file */
    size_t memory_length;
} opening;

/* The reader takes ownership of the input, even if this fails. */
static uc_status open_reader(uc_reader **out, uc_input *input, const uc_file_range *range,
                             const uc_read_settings *settings, const opening *how, const uc_context *context)
{
    uc_reader *self;
    uc_status status = uc_reader_create(&self, input, range, settings, context);
    if (status != UC_OK)
        return status;
    self->whole = how->whole;
    self->as_table = how->as_table;
    self->memory = how->memory;
    self->memory_length = how->memory_length;
    status = begin(self);
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
    return open_reader(out, input, range, settings, &(opening){0}, context);
}

uc_status uc_reader_open(uc_reader **out, const char *path, const uc_read_settings *settings,
                         const uc_context *context)
{
    return uc_reader_open_range(out, &(uc_file_range){.path = path}, settings, context);
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
    if (!self->sparse || self->rows.mapping || self->table || self->settings.storage == UC_STORAGE_SPARSE)
        return UC_OK;
    const double cells = (double)X->rows * (double)X->cols;
    if (self->settings.storage == UC_STORAGE_AUTO && (double)uc_matrix_entries(X) * 4.0 < cells)
        return UC_OK;
    const double bytes = (double)X->rows * (double)uc_matrix_stride(X->cols) * (double)sizeof(float);
    const uc_status status = uc_memory_check(&self->context, bytes, uc_input_name(self->input));
    if (status != UC_OK && self->settings.storage == UC_STORAGE_AUTO)
        return UC_OK; /* dense storage was not requested */
    if (status != UC_OK)
        return status;
    return uc_matrix_densify(X);
}

#define FEW_ROWS 20     /* in which every label may well be different */
#define MANY_NUMBERS 20 /* that are not whole look like measurements */
#define ROWS_PER_NUMBER 10

static bool is_fraction(const char *text)
{
    double value;
    return uc_parse_real(&value, text, strlen(text)) && value != (double)(int64_t)value;
}

/* Fails if the last column was taken for the labels but does not look like labels. A column that the user
 * named is accepted, with a warning if its values look like measurements. */
static uc_status check_labels(const uc_reader *self)
{
    const size_t rows = self->rows.X.rows, classes = self->classes.count;
    size_t fractions = 0;
    const bool csv = self->format == &uc_format_csv || is_table(self);
    const bool many = classes >= MANY_NUMBERS && ROWS_PER_NUMBER * classes > rows;
    if (!csv || !self->rows.y || rows < FEW_ROWS || (!many && 2 * classes <= rows))
        return UC_OK;
    for (size_t k = 0; k < classes; k++)
        fractions += is_fraction(self->classes.text[k]);
    const bool continuous = 2 * fractions > classes;
    if (self->settings.label) {
        if (continuous)
            uc_warn(
                &self->context,
                "%s: the labels, column '%s', have %zu different numbers in %zu rows, which look like "
                "measurements: every number becomes a class of its own; is another column meant by {label}?",
                uc_input_name(self->input), self->settings.label, classes, rows);
        return UC_OK;
    }
    if (!continuous && 2 * classes <= rows)
        return UC_OK;
    if (continuous)
        return uc_fail(
            UC_ERR_FORMAT,
            "%s: column %zu, taken for the labels, has %zu different numbers in %zu rows and looks "
            "continuous: name the labels' column with {label}, or give {label=none}",
            uc_input_name(self->input), self->label, classes, rows);
    return uc_fail(
        UC_ERR_FORMAT,
        "%s: column %zu, taken for the labels, has %zu different values in %zu rows, so most rows "
        "would be a class of their own: name the labels' column with {label}, or give {label=none}",
        uc_input_name(self->input), self->label, classes, rows);
}

/* Reads all rows, in their final form. */
static uc_status collect(uc_reader *self)
{
    uc_status status = UC_OK;
    self->whole = true;
    while (status == UC_OK && !self->ended)
        status = uc_reader_pull(self);
    if (status == UC_OK && self->total_rows == 0) /* a range may have none */
        status = uc_reader_reserve_none(self);
    if (status != UC_OK)
        return status;
    uc_reader_trim(self);
    status = check_labels(self);
    if (status == UC_OK)
        status = uc_reader_settle_classes(self);
    if (status == UC_OK)
        status = sort_classes(self);
    if (status != UC_OK)
        return status;
    return choose_storage(self);
}

static uc_status read_once(uc_dataset *out, bool *not_numbers, uc_input *input, const uc_file_range *range,
                           const uc_read_settings *settings, const opening *how, const uc_context *context)
{
    uc_reader *self;
    uc_status status = open_reader(&self, input, range, settings, how, context);
    if (status != UC_OK)
        return status;
    status = collect(self);
    *not_numbers = self->not_numbers;
    if (status == UC_OK) {
        uc_dataset read = self->rows;
        read.table = self->table;
        self->table = NULL;
        read.classes = self->classes;
        read.bags = self->bags;
        self->rows = (uc_dataset){0};
        self->classes = self->bags = (uc_names){0};
        if (!self->settings.table)
            status = uc_encode_dataset(&read, &self->context);
        if (status == UC_OK)
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

/* Adds what helps where a table cannot be looked at again. */
static uc_status fail_once(uc_status status)
{
    char *text = uc_strdup(uc_last_error());
    if (!text)
        return UC_ERR_NOMEM;
    status = uc_fail_again(status, text,
                           "; standard input is read only once: give the type of the column with {columns}, "
                           "or read a file");
    uc_free(text);
    return status;
}

/* A CSV file that begins like a table of numbers may turn out not to be one. It is then read again, after a
 * look at its columns. */
uc_status uc_dataset_read_range(uc_dataset *out, const uc_file_range *range, const uc_read_settings *settings,
                                const uc_context *context)
{
    uc_input *input;
    opening how = {.whole = true};
    bool not_numbers = false;
    uc_status status = uc_input_open(&input, range->path);
    if (status != UC_OK)
        return status;
    const bool once = strcmp(range->path, "-") == 0 || uc_input_is_live(input);
    status = read_once(out, &not_numbers, input, range, settings, &how, context);
    if (status != UC_ERR_FORMAT || !not_numbers || (settings && settings->table))
        return status;
    if (once)
        return fail_once(status);
    how.as_table = true;
    status = uc_input_open(&input, range->path);
    if (status != UC_OK)
        return status;
    return read_once(out, &not_numbers, input, range, settings, &how, context);
}

uc_status uc_dataset_read(uc_dataset *out, const char *path, const uc_read_settings *settings,
                          const uc_context *context)
{
    return uc_dataset_read_range(out, &(uc_file_range){.path = path}, settings, context);
}

uc_status uc_dataset_read_memory(uc_dataset *out, const void *bytes, size_t length, const char *name,
                                 const uc_read_settings *settings, const uc_context *context)
{
    opening how = {.whole = true, .memory = bytes, .memory_length = length};
    uc_status status = UC_OK;
    for (int turn = 0; turn < 2; turn++) {
        uc_input *input;
        bool not_numbers = false;
        status = uc_input_open_memory(&input, bytes, length, name);
        if (status != UC_OK)
            return status;
        status = read_once(out, &not_numbers, input, &(uc_file_range){.path = name}, settings, &how, context);
        how.as_table = true;
        if (status != UC_ERR_FORMAT || !not_numbers || (settings && settings->table))
            break;
    }
    return status;
}

/* ---- tables without data sets ---- */

static uc_status look_at_path(uc_table **out, bool learn, const char *path, const uc_read_settings *settings,
                              const uc_context *context)
{
    const uc_read_settings standard = uc_reader_defaults();
    const uc_look_source source = {.paths = &path, .count = 1, .name = path};
    uc_read_settings own = settings ? *settings : standard;
    uc_status status = uc_read_settings_check(&own);
    if (status == UC_OK)
        status = uc_recognise_json(&own, &path, 1);
    if (status == UC_OK)
        status = uc_table_look_at(out, &source, &own, context);
    if (status != UC_OK || !learn)
        return status;
    status = uc_table_check_features(*out, path);
    if (status == UC_OK)
        status = uc_encoder_learn(*out, &source, &own, context);
    return status;
}

uc_status uc_table_look(uc_table **out, const char *path, const uc_read_settings *settings,
                        const uc_context *context)
{
    return look_at_path(out, false, path, settings, context);
}

uc_status uc_table_learn(uc_table **out, const char *path, const uc_read_settings *settings,
                         const uc_context *context)
{
    return look_at_path(out, true, path, settings, context);
}
