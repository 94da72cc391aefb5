/* The text of a CSV file, row by row: the whole file in memory, and where its records begin. */
#define _GNU_SOURCE
#include <string.h>

#include "data/layout.h"
#include "data/recognise.h"
#include "data/sink.h"
#include "data/table.h"

struct uc_table_text {
    char *text;
    size_t length;
    size_t header_begin, header_end; /* equal: there is none */
    size_t *begins;                  /* of the rows, and where the last ends */
    size_t rows, room;
    size_t label, id; /* columns, or UC_NO_COLUMN */
    char delimiter;
    char *field; /* of uc_table_text_id */
    size_t field_room;
};

void uc_table_text_free(uc_table_text *self)
{
    if (!self)
        return;
    uc_free(self->text);
    uc_free(self->begins);
    uc_free(self->field);
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

/* Records that are not blank; the first is the header if there is one. */
static uc_status find_rows(uc_table_text *self, bool header)
{
    const char *end = self->text + self->length;
    const char *p = self->text + uc_byte_order_mark(self->text, self->length);
    while (p < end) {
        const char *first = p;
        while (uc_is_padding(*first, self->delimiter))
            first++;
        const char *newline = uc_record_end(p, p, end, self->delimiter);
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

/* Where field `column` of the record at p begins and ends, with its quotes and without blanks around it. */
static void find_field(const char **begin, const char **end, const char *p, const char *stop, char delimiter,
                       size_t column)
{
    for (size_t i = 0;; i++) {
        while (p < stop && uc_is_padding(*p, delimiter))
            p++;
        const char *first = p;
        if (p < stop && *p == '"') {
            for (p++; p < stop; p++)
                if (*p == '"' && (p + 1 == stop || *++p != '"'))
                    break;
        }
        while (p < stop && *p != delimiter && *p != '\n')
            p++;
        if (i == column || p >= stop || *p == '\n') {
            const char *last = p;
            while (last > first && uc_is_padding(last[-1], delimiter))
                last--;
            *begin = first;
            *end = last;
            return;
        }
        p++;
    }
}

/* ---- reading ---- */

/* Which columns are labels and ids, by a reader that is opened on the same text. */
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
    const bool plain = !table || table->plain;
    own.table = plain ? NULL : table;
    own.weights = own.soft_labels = NULL;
    status = uc_reader_open_as(&reader, input, plain ? &uc_format_csv : &uc_format_table, &own, &one_thread);
    if (status != UC_OK)
        return status;
    const uc_layout *layout = uc_text_layout(reader);
    self->delimiter = layout->delimiter;
    self->label = layout->label;
    self->id = UC_NO_COLUMN;
    for (size_t i = 0; i < layout->columns && !plain && self->id == UC_NO_COLUMN; i++) {
        size_t c = i;
        if (layout->names && table->named)
            c = uc_table_find(table, layout->names[i], strlen(layout->names[i]));
        if (c < table->column_count && table->columns[c].type == UC_COLUMN_ID &&
            uc_layout_is_feature(layout, i))
            self->id = i;
    }
    status = find_rows(self, layout->names != NULL);
    uc_reader_close(reader);
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

uc_status uc_dataset_read_with_text(uc_dataset *out, uc_table_text **text, const char *path,
                                    const uc_read_settings *settings, const uc_context *context)
{
    const uc_read_settings standard = uc_reader_defaults();
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    uc_table_text *self = NULL;
    uc_dataset data = {0};
    uc_file_look look;
    if (!settings)
        settings = &standard;
    uc_status status = uc_look_at_file(&look, path);
    if (status != UC_OK)
        return status;
    if (look.is_ucd || (settings->format != UC_FORMAT_AUTO && settings->format != UC_FORMAT_CSV))
        return uc_dataset_read(out, path, settings, context);
    self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    status = read_text(self, path, context);
    uc_format format = UC_FORMAT_CSV;
    if (status == UC_OK && settings->format == UC_FORMAT_AUTO && self->length > 0)
        status = uc_recognise_format(&format, self->text, self->length, name);
    if (status == UC_OK && format == UC_FORMAT_CSV && self->length > 0 &&
        self->text[self->length - 1] != '\n')
        self->text[self->length++] = '\n';
    if (status == UC_OK)
        status = uc_dataset_read_memory(&data, self->text, self->length, name, settings, context);
    if (status == UC_OK && format == UC_FORMAT_CSV)
        status = find_columns(self, data.table, settings, name);
    if (status == UC_OK && format == UC_FORMAT_CSV && self->rows != data.X.rows)
        status = uc_fail(UC_ERR_FORMAT, "%s: its rows cannot be told apart", name);
    if (status != UC_OK || format != UC_FORMAT_CSV) {
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

/* ---- asking ---- */

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
    *length = self->header_end - self->header_begin;
    return *length ? self->text + self->header_begin : NULL;
}

const char *uc_table_text_row(size_t *length, const uc_table_text *self, size_t row)
{
    *length = self->begins[2 * row + 1] - self->begins[2 * row];
    return self->text + self->begins[2 * row];
}

const char *uc_table_text_id(size_t *length, uc_table_text *self, size_t row)
{
    const char *begin, *end;
    size_t size;
    if (self->id == UC_NO_COLUMN)
        return NULL;
    const char *text = uc_table_text_row(&size, self, row);
    find_field(&begin, &end, text, text + size, self->delimiter, self->id);
    size = (size_t)(end - begin);
    if (size < 2 || *begin != '"') {
        *length = size;
        return begin;
    }
    if (size > self->field_room) {
        char *field = uc_realloc(self->field, size, 1);
        if (!field)
            return NULL;
        self->field = field;
        self->field_room = size;
    }
    *length = 0;
    for (const char *p = begin + 1; p < end - 1; p++) {
        p += *p == '"';
        self->field[(*length)++] = *p;
    }
    return self->field;
}

/* ---- writing ---- */

static uc_status write_label(uc_sink *sink, const char *label, char delimiter)
{
    const size_t length = strlen(label);
    bool quoted = length == 0 || uc_is_blank(label[0]) || uc_is_blank(label[length - 1]);
    quoted = quoted || memchr(label, delimiter, length) || memchr(label, '"', length) ||
             memchr(label, '\n', length);
    uc_status status = UC_OK;
    if (!quoted)
        return uc_sink_write(sink, label, length);
    status = uc_sink_write(sink, "\"", 1);
    for (size_t i = 0; i < length && status == UC_OK; i++) {
        if (label[i] == '"')
            status = uc_sink_write(sink, "\"", 1);
        if (status == UC_OK)
            status = uc_sink_write(sink, label + i, 1);
    }
    if (status == UC_OK)
        status = uc_sink_write(sink, "\"", 1);
    return status;
}

static uc_status write_row(uc_sink *sink, const uc_table_text *self, size_t row, const char *label)
{
    size_t length;
    const char *text = uc_table_text_row(&length, self, row), *begin, *end;
    if (!label || self->label == UC_NO_COLUMN)
        return uc_sink_write(sink, text, length);
    find_field(&begin, &end, text, text + length, self->delimiter, self->label);
    uc_status status = uc_sink_write(sink, text, (size_t)(begin - text));
    if (status == UC_OK)
        status = write_label(sink, label, self->delimiter);
    if (status == UC_OK)
        status = uc_sink_write(sink, end, (size_t)(text + length - end));
    return status;
}

uc_status uc_table_text_write(const uc_table_text *self, uc_output *output, const size_t *rows, size_t count,
                              const uint32_t *y, const uint32_t *before, const uc_names *classes)
{
    uc_sink *sink = NULL;
    size_t length;
    if (!rows)
        count = self->rows;
    uc_status status = uc_sink_begin(&sink, output);
    if (status != UC_OK)
        return status;
    const char *header = uc_table_text_header(&length, self);
    if (header)
        status = uc_sink_write(sink, header, length);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        const size_t row = rows ? rows[i] : i;
        const char *label = NULL;
        if (y && y[i] != before[i] && y[i] != UC_NONE)
            label = classes->text[y[i]];
        status = write_row(sink, self, row, label);
    }
    if (status == UC_OK)
        return uc_sink_end(sink);
    uc_sink_abort(sink);
    return status;
}
