/* Internals of the text of a table, shared by reading (table_text.c) and writing (table_write.c). */
#ifndef UC_DATA_TABLE_TEXT_H
#define UC_DATA_TABLE_TEXT_H

#include "data/json_lines.h"
#include "unconfuse/table.h"

/* A byte string that grows. */
typedef struct uc_line_text {
    char *text;
    size_t length, room;
} uc_line_text;
uc_status uc_line_add(uc_line_text *self, const void *bytes, size_t length);

struct uc_table_text {
    char *name; /* of the file, for messages */
    char *text;
    size_t length;
    size_t header_begin, header_end; /* equal if there is no header */
    size_t *begins;                  /* 2 * room: where each row begins and where it ends */
    size_t rows, room;
    size_t label, id, weight; /* columns, or UC_NO_COLUMN */
    char delimiter;
    uc_layout layout; /* columns, names, json; keys and `dropped` only for JSON lines */
    uc_line_text csv; /* for JSON lines: the header and all rows as CSV */
    size_t *csv_begins;
    /* The row that was cut last. */
    char *row;
    size_t row_room;
    uc_field *fields;
    uc_json_row json;
};

/* uc_dataset_read_with_text for a file in memory. */
uc_status uc_dataset_read_memory_with_text(uc_dataset *out, uc_table_text **text, const void *bytes,
                                           size_t length, const char *name, const uc_read_settings *settings,
                                           const uc_context *context);
/* Cuts a row into self->fields, which are valid until the next row is cut. */
uc_status uc_table_text_cut(uc_table_text *self, size_t row);
/* Adds a field, in quotes if it would be read differently without them. */
uc_status uc_put_field(uc_line_text *out, const char *text, size_t length, char delimiter);
/* A change to a row: `text` replaces the field in `column`. */
typedef struct uc_table_edit {
    size_t column;
    const char *text; /* NULL: no change */
} uc_table_edit;
/* A line with one field per column. */
uc_status uc_put_csv(uc_line_text *out, const uc_table_text *self, const uc_field *fields,
                     const uc_table_edit *edit, char delimiter);
uc_status uc_put_csv_header(uc_line_text *out, const uc_table_text *self, char delimiter);

#endif
