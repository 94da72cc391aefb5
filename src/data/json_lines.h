/* JSON lines: one object of names and values per line, as services log them. Values become fields like those
 * of delimited text: numbers as they are written, text without its quotes, true and false. null and a key
 * that a line does not have give an empty field. The names of nested objects are joined by a dot: a.b.
 *
 * As in delimited.h, the text is in a buffer whose lines end with a newline, and escapes are decoded in
 * place, so each line can be cut only once. */
#ifndef UC_DATA_JSON_LINES_H
#define UC_DATA_JSON_LINES_H

#include <string.h>

#include "data/layout.h"

#define UC_JSON_DEPTH 16 /* levels of nested objects */

typedef enum uc_json_kind {
    UC_JSON_NULL,
    UC_JSON_WORD, /* a number, true or false */
    UC_JSON_TEXT,
    UC_JSON_ARRAY
} uc_json_kind;

typedef struct uc_json_pair {
    const char *key; /* prefixed by the names of the enclosing objects; valid until the next pair */
    size_t key_length;
    uc_field value;            /* for an array: its text */
    char *raw_begin, *raw_end; /* the span of the value in the line, including its quotes */
    uc_json_kind kind;
    bool is_outer; /* not within another object */
} uc_json_pair;

/* A key may contain a zero byte; a name cannot. */
static inline bool uc_json_is_key(const uc_json_pair *pair, const char *name)
{
    return strlen(name) == pair->key_length && memcmp(name, pair->key, pair->key_length) == 0;
}

/* A line that is being cut into pairs. */
typedef struct uc_json_line {
    char *at;
    unsigned depth;
    size_t lengths[UC_JSON_DEPTH]; /* of `path`, outside each enclosing object */
    char *path;                    /* such as "a.b." */
    size_t path_length, path_room;
    bool after_pair; /* the next character must be a comma or brace */
    uc_status status;
    char problem[UC_QUOTE_SIZE + 80]; /* set with UC_ERR_FORMAT */
} uc_json_line;                       /* zero-initialised; freed with uc_json_line_free */

void uc_json_begin(uc_json_line *self, char *line);
/* Returns false at the end of the line or on a problem, with self->status set; self->at is then the line's
 * newline. */
bool uc_json_next(uc_json_pair *out, uc_json_line *self);
void uc_json_line_free(uc_json_line *self);
/* Whether the text is a number in JSON syntax, or true or false. */
bool uc_json_is_word(const char *text, size_t length);

/* ---- rows ---- */

/* Work space for cutting rows, kept as long as a block's parser. */
typedef struct uc_json_row {
    uc_json_line line;
    uint32_t *rows; /* for each column, the last row that had it */
    uint32_t row;
    size_t column; /* on failure, the column with the bad value, or UC_NO_COLUMN */
} uc_json_row;     /* zero-initialised; freed with uc_json_row_free */

/* Cuts the line at *at into the fields of the layout's columns, and moves *at to its newline. On failure the
 * message is in self->line.problem. */
uc_status uc_json_cut_row(uc_field *fields, uc_json_row *self, const uc_layout *layout, char **at);
void uc_json_row_free(uc_json_row *self);

/* ---- files ---- */

struct uc_look_source;
/* Makes a table whose columns are the keys of all files, in the order of their first appearance. The columns
 * of labels, bags and weights get their types; the others have none yet. */
uc_status uc_json_find_columns(uc_table **out, const struct uc_look_source *source,
                               const uc_read_settings *settings, const uc_context *context);
/* uc_layout_begin, or its equivalent for JSON lines if the reader's settings say so. The columns of JSON
 * lines are those of the reader's table, followed by keys that only the file has. */
uc_status uc_table_layout_begin(uc_layout **out, uc_reader *reader, uc_text_parser *parser);

#endif
