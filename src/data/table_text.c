/* The text of a table, row by row: the whole file in memory, and the positions of its records. */
#define _GNU_SOURCE
#include "data/table_text.h"

#include <string.h>

#include "data/recognise.h"
#include "data/table.h"

void uc_table_text_free(uc_table_text *self)
{
    if (!self)
        return;
    uc_free(self->name);
    uc_free(self->text);
    uc_free(self->begins);
    for (size_t i = 0; self->layout.names && i < self->layout.columns; i++)
        uc_free(self->layout.names[i]);
    uc_free(self->layout.names);
    uc_names_free(&self->layout.keys);
    uc_free(self->layout.dropped);
    uc_free(self->csv.text);
    uc_free(self->csv_begins);
    uc_free(self->row);
    uc_free(self->fields);
    uc_json_row_free(&self->json);
    uc_free(self);
}

/* ---- records ---- */

static uc_status add_row(uc_table_text *self, size_t begin)
{
    if (self->rows + 1 >= self->room) {
        const size_t room = uc_grown(self->room, self->rows + 2);
        size_t *begins = uc_realloc(self->begins, 2 * room, sizeof *begins);
        if (!begins)
            return UC_ERR_NOMEM;
        self->begins = begins;
        self->room = room;
    }
    self->begins[2 * self->rows] = begin;
    return UC_OK;
}

/* Finds the records that are not blank; the first is the header, if there is one. */
static uc_status find_rows(uc_table_text *self, bool header)
{
    const char *end = self->text + self->length;
    const char *p = self->text + uc_byte_order_mark(self->text, self->length);
    while (p < end) {
        const char *first = p;
        while (uc_is_padding(*first, self->delimiter))
            first++;
        const char *newline = self->layout.json ? memchr(p, '\n', (size_t)(end - p))
                                                : uc_record_end(p, p, end, self->delimiter);
        if (!newline)
            newline = end - 1;
        const size_t begin = (size_t)(p - self->text), next = (size_t)(newline - self->text) + 1;
        p = newline + 1;
        if (*first == '\n')
            continue;
        if (header) {
            self->header_begin = begin;
            self->header_end = next;
            header = false;
            continue;
        }
        const uc_status status = add_row(self, begin);
        if (status != UC_OK)
            return status;
        self->begins[2 * self->rows++ + 1] = next;
    }
    return UC_OK;
}

/* ---- reading ---- */

/* Copies the columns' names, so that they outlive the reader. */
static uc_status copy_layout(uc_table_text *self, const uc_layout *layout)
{
    uc_layout *own = &self->layout;
    own->columns = layout->columns;
    own->json = layout->json;
    own->names = uc_alloc(own->columns, sizeof *own->names);
    own->dropped = uc_alloc(own->columns, sizeof *own->dropped);
    if (!own->names || !own->dropped)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < own->columns; i++) {
        char number[40];
        snprintf(number, sizeof number, "column %zu", i + 1);
        own->names[i] = uc_strdup(layout->names ? layout->names[i] : number);
        own->dropped[i] = true;
        if (!own->names[i])
            return UC_ERR_NOMEM;
    }
    return layout->json ? uc_names_copy(&own->keys, &layout->keys) : UC_OK;
}

/* Renders JSON lines as CSV, for outputs in that format. */
static uc_status render_csv(uc_table_text *self)
{
    const uc_table_edit nothing = {.column = UC_NO_COLUMN};
    self->csv_begins = uc_alloc(self->rows + 1, sizeof *self->csv_begins);
    if (!self->csv_begins)
        return UC_ERR_NOMEM;
    uc_status status = uc_put_csv_header(&self->csv, self, ',');
    for (size_t i = 0; i < self->rows && status == UC_OK; i++) {
        self->csv_begins[i] = self->csv.length;
        status = uc_table_text_cut(self, i);
        if (status == UC_OK)
            status = uc_put_csv(&self->csv, self, self->fields, &nothing, ',');
    }
    self->csv_begins[self->rows] = self->csv.length;
    return status;
}

/* Finds the columns of labels and ids, by opening a reader on the same text. */
static uc_status find_columns(uc_table_text *self, const uc_table *table, const uc_read_settings *settings,
                              const char *name)
{
    const uc_context one_thread = {.threads = 1};
    uc_read_settings own = *settings;
    uc_input *input;
    uc_reader *reader = NULL;
    uc_status status = uc_input_open_memory(&input, self->text, self->length, name);
    if (status != UC_OK)
        return status;
    const bool plain = !table || table->plain, json = settings->format == UC_FORMAT_JSONL;
    const uc_data_format *format = &uc_format_table;
    if (json)
        format = &uc_format_jsonl;
    else if (plain)
        format = &uc_format_csv;
    own.table = plain && !json ? NULL : table;
    own.weights = own.soft_labels = NULL;
    status = uc_reader_open_as(&reader, input, format, &own, &one_thread);
    if (status != UC_OK)
        return status;
    const uc_layout *layout = uc_text_layout(reader);
    self->delimiter = layout->delimiter;
    status = copy_layout(self, layout);
    self->label = layout->label;
    self->weight = layout->weight;
    self->id = UC_NO_COLUMN;
    for (size_t i = 0; i < layout->columns && !plain && self->id == UC_NO_COLUMN; i++) {
        size_t c = i;
        if (layout->names && table->named)
            c = uc_table_find(table, layout->names[i], strlen(layout->names[i]));
        if (c < table->column_count && table->columns[c].type == UC_COLUMN_ID &&
            uc_layout_is_feature(layout, i))
            self->id = i;
    }
    if (status == UC_OK)
        status = find_rows(self, layout->names != NULL && !layout->json);
    uc_reader_close(reader);
    if (status == UC_OK && json)
        status = render_csv(self);
    return status;
}

static uc_status read_text(uc_table_text *self, const char *path, const uc_context *context)
{
    uc_input *input;
    uc_status status = uc_input_open(&input, path);
    if (status != UC_OK)
        return status;
    status = uc_input_read_all(&self->text, &self->length, input, 1 + UC_NUMBER_SLACK, context);
    uc_input_close(input);
    return status;
}

/* Whether rows of the format are kept as text. */
static bool has_text(uc_format format)
{
    return format == UC_FORMAT_CSV || format == UC_FORMAT_JSONL;
}

/* Reads the data set from the text in *self. If rows of its format are kept as text, *text becomes `self`,
 * which is freed otherwise. */
static uc_status read_kept(uc_dataset *out, uc_table_text **text, uc_table_text *self,
                           const uc_read_settings *settings, const uc_context *context)
{
    uc_dataset data = {0};
    uc_read_settings own = *settings;
    uc_format format = (uc_format)own.format;
    uc_status status = UC_OK;
    if (format == UC_FORMAT_AUTO && self->length > 0)
        status = uc_recognise_format(&format, self->text, self->length, self->name);
    if (format == UC_FORMAT_JSONL)
        own.format = UC_FORMAT_JSONL;
    const bool kept = has_text(format);
    if (status == UC_OK && kept && self->length > 0 && self->text[self->length - 1] != '\n')
        self->text[self->length++] = '\n';
    if (status == UC_OK)
        status = uc_dataset_read_memory(&data, self->text, self->length, self->name, &own, context);
    if (status == UC_OK && kept)
        status = find_columns(self, data.table, &own, self->name);
    if (status == UC_OK && kept && self->rows != data.X.rows)
        status = uc_fail(UC_ERR_FORMAT, "%s: its rows cannot be told apart", self->name);
    if (status != UC_OK || !kept) {
        uc_table_text_free(self);
        self = NULL;
    }
    if (status != UC_OK) {
        uc_dataset_free(&data);
        return status;
    }
    *out = data;
    *text = self;
    return UC_OK;
}

static uc_table_text *create(const char *name)
{
    uc_table_text *self = uc_alloc(1, sizeof *self);
    if (self && (self->name = uc_strdup(name)) != NULL)
        return self;
    uc_free(self);
    return NULL;
}

uc_status uc_dataset_read_with_text(uc_dataset *out, uc_table_text **text, const char *path,
                                    const uc_read_settings *settings, const uc_context *context)
{
    const uc_read_settings standard = uc_reader_defaults();
    uc_file_look look;
    if (!settings)
        settings = &standard;
    uc_status status = uc_look_at_file(&look, path);
    if (status != UC_OK)
        return status;
    const uc_format format = (uc_format)settings->format;
    if (look.is_ucd || (format != UC_FORMAT_AUTO && !has_text(format)))
        return uc_dataset_read(out, path, settings, context);
    uc_table_text *self = create(strcmp(path, "-") == 0 ? "standard input" : path);
    if (!self)
        return UC_ERR_NOMEM;
    status = read_text(self, path, context);
    if (status == UC_OK)
        return read_kept(out, text, self, settings, context);
    uc_table_text_free(self);
    return status;
}

uc_status uc_dataset_read_memory_with_text(uc_dataset *out, uc_table_text **text, const void *bytes,
                                           size_t length, const char *name, const uc_read_settings *settings,
                                           const uc_context *context)
{
    const uc_format format = (uc_format)settings->format;
    if (format != UC_FORMAT_AUTO && !has_text(format))
        return uc_dataset_read_memory(out, bytes, length, name, settings, context);
    uc_table_text *self = create(name);
    if (!self)
        return UC_ERR_NOMEM;
    self->text = uc_alloc(length + 1 + UC_NUMBER_SLACK, 1);
    if (!self->text) {
        uc_table_text_free(self);
        return UC_ERR_NOMEM;
    }
    memcpy(self->text, bytes, length);
    self->length = length;
    return read_kept(out, text, self, settings, context);
}

/* ---- queries ---- */

size_t uc_table_text_rows(const uc_table_text *self)
{
    return self->rows;
}

char uc_table_text_separator(const uc_table_text *self)
{
    return self->delimiter;
}

const char *uc_table_text_header(size_t *length, const uc_table_text *self)
{
    if (self->layout.json) {
        *length = self->rows > 0 ? self->csv_begins[0] : 0;
        return self->csv.text;
    }
    *length = self->header_end - self->header_begin;
    return *length ? self->text + self->header_begin : NULL;
}

const char *uc_table_text_row(size_t *length, const uc_table_text *self, size_t row)
{
    if (self->layout.json) {
        *length = self->csv_begins[row + 1] - self->csv_begins[row];
        return self->csv.text + self->csv_begins[row];
    }
    *length = self->begins[2 * row + 1] - self->begins[2 * row];
    return self->text + self->begins[2 * row];
}

const char *uc_table_text_field(size_t *length, uc_table_text *self, size_t row, size_t column)
{
    if (uc_table_text_cut(self, row) != UC_OK)
        return NULL;
    const uc_field *field = &self->fields[uc_min_size(column, self->layout.columns - 1)];
    *length = field->length;
    return field->begin;
}

const char *uc_table_text_id(size_t *length, uc_table_text *self, size_t row)
{
    return self->id == UC_NO_COLUMN ? NULL : uc_table_text_field(length, self, row, self->id);
}

const char *uc_table_text_name(size_t *length, uc_table_text *self, size_t column)
{
    if (!self->layout.json && self->header_begin == self->header_end)
        return NULL;
    const char *name = self->layout.names[uc_min_size(column, self->layout.columns - 1)];
    *length = strlen(name);
    return name;
}

size_t uc_table_text_columns(const uc_table_text *self)
{
    return self->layout.columns;
}

bool uc_table_text_has_weights(const uc_table_text *self)
{
    return self->weight != UC_NO_COLUMN;
}

/* Whether a column has this name, or in JSON lines is a member of an object with this name: `weight.kg`. */
static bool takes_name(const char *column, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(column, name, length) == 0 && (column[length] == '\0' || column[length] == '.');
}

const char *uc_table_text_weight_name(const uc_table_text *self)
{
    static const char *const names[] = {"weight", "label_weight"};
    for (size_t n = 0; n < 2; n++) {
        bool taken = false;
        for (size_t i = 0; i < self->layout.columns; i++)
            taken = taken || takes_name(self->layout.names[i], names[n]);
        if (!taken)
            return names[n];
    }
    return NULL;
}
