/* A row of a table's text: cut into fields, and written as CSV. */
#define _GNU_SOURCE
#include <string.h>

#include "data/table_text.h"

/* ---- cutting ---- */

/* Cuts a CSV record into fields; those that it lacks are empty. */
static void cut_csv(uc_table_text *self, char *p)
{
    for (size_t i = 0; i < self->layout.columns; i++) {
        self->fields[i] = (uc_field){.begin = "\n"};
        if (*p == '\0')
            continue;
        if (uc_field_cut_record(&self->fields[i], &p, self->delimiter) || *p == '\n')
            p = self->row + self->row_room - 1;
        else
            p++;
    }
}

uc_status uc_table_text_cut(uc_table_text *self, size_t row)
{
    const size_t begin = self->begins[2 * row], length = self->begins[2 * row + 1] - begin;
    const size_t needed = length + UC_NUMBER_SLACK + 1;
    if (!self->fields)
        self->fields = uc_alloc(self->layout.columns, sizeof *self->fields);
    if (!self->fields)
        return UC_ERR_NOMEM;
    if (needed > self->row_room) {
        char *grown = uc_realloc(self->row, needed, 1);
        if (!grown)
            return UC_ERR_NOMEM;
        self->row = grown;
        self->row_room = needed;
    }
    memcpy(self->row, self->text + begin, length);
    memset(self->row + length, 0, self->row_room - length);
    if (!self->layout.json) {
        cut_csv(self, self->row);
        return UC_OK;
    }
    char *p = self->row;
    return uc_json_cut_row(self->fields, &self->json, &self->layout, &p);
}

/* ---- writing ---- */

uc_status uc_line_add(uc_line_text *self, const void *bytes, size_t length)
{
    const size_t needed = self->length + length;
    if (needed > self->room) {
        const size_t room = uc_grown(self->room, needed);
        char *text = uc_realloc(self->text, room, 1);
        if (!text)
            return UC_ERR_NOMEM;
        self->text = text;
        self->room = room;
    }
    if (length > 0)
        memcpy(self->text + self->length, bytes, length);
    self->length = needed;
    return UC_OK;
}

/* ---- CSV ---- */

uc_status uc_put_field(uc_line_text *out, const char *text, size_t length, char delimiter)
{
    const bool blanks = length > 0 && (uc_is_blank(text[0]) || uc_is_blank(text[length - 1]));
    if (!blanks && !memchr(text, delimiter, length) && !memchr(text, '"', length) &&
        !memchr(text, '\n', length) && !memchr(text, '\r', length))
        return uc_line_add(out, text, length);
    uc_status status = uc_line_add(out, "\"", 1);
    for (size_t i = 0; i < length && status == UC_OK; i++) {
        if (text[i] == '"')
            status = uc_line_add(out, "\"", 1);
        if (status == UC_OK)
            status = uc_line_add(out, text + i, 1);
    }
    return status == UC_OK ? uc_line_add(out, "\"", 1) : status;
}

uc_status uc_put_csv(uc_line_text *out, const uc_table_text *self, const uc_field *fields,
                     const uc_table_edit *edit, char delimiter)
{
    uc_status status = UC_OK;
    for (size_t i = 0; i < self->layout.columns && status == UC_OK; i++) {
        if (i > 0)
            status = uc_line_add(out, &delimiter, 1);
        if (status == UC_OK && edit->text && i == edit->column)
            status = uc_put_field(out, edit->text, strlen(edit->text), delimiter);
        else if (status == UC_OK)
            status = uc_put_field(out, fields[i].begin, fields[i].length, delimiter);
    }
    return status == UC_OK ? uc_line_add(out, "\n", 1) : status;
}

uc_status uc_put_csv_header(uc_line_text *out, const uc_table_text *self, char delimiter)
{
    uc_status status = UC_OK;
    for (size_t i = 0; i < self->layout.columns && status == UC_OK; i++) {
        const char *name = self->layout.names[i];
        if (i > 0)
            status = uc_line_add(out, &delimiter, 1);
        if (status == UC_OK)
            status = uc_put_field(out, name, strlen(name), delimiter);
    }
    return status == UC_OK ? uc_line_add(out, "\n", 1) : status;
}
