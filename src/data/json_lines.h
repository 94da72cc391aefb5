/* JSON lines: one object of names to values per line, as services log them. Values become fields, as those of
 * delimited text are: numbers as they are written, text without its quotes, true and false; null and a key
 * that a line does not have are empty. An object within an object has its names joined by a dot: a.b.
 *
 * As in delimited.h, the text lies in a buffer whose lines end with a newline, and escapes are undone in
 * place, so each line is cut once. */
#ifndef UC_DATA_JSON_LINES_H
#define UC_DATA_JSON_LINES_H

#include <string.h>

#include "data/layout.h"

#define UC_JSON_DEPTH 16 /* objects within objects */

typedef enum uc_json_kind {
    UC_JSON_NULL,
    UC_JSON_WORD, /* a number, true or false */
    UC_JSON_TEXT,
    UC_JSON_ARRAY
} uc_json_kind;

typedef struct uc_json_pair {
    const char *key; /* with the names of the objects around it; valid until the next pair */
    size_t key_length;
    uc_field value;            /* of an array: its text */
    char *raw_begin, *raw_end; /* where the value is in the line, with its quotes */
    uc_json_kind kind;
    bool is_outer; /* not within another object */
} uc_json_pair;

/* A key may have a zero byte; no name has one. */
static inline bool uc_json_is_key(const uc_json_pair *pair, const char *name)
{
    return strlen(name) == pair->key_length && memcmp(name, pair->key, pair->key_length) == 0;
}

/* A line that is cut into pairs. */
typedef struct uc_json_line {
    char *at;
    unsigned depth;
    size_t lengths[UC_JSON_DEPTH]; /* of `path`, outside each object */
    char *path;                    /* a.b. */
    size_t path_length, path_room;
    bool after_pair; /* a comma or brace comes next */
    uc_status status;
    char problem[UC_QUOTE_SIZE + 80]; /* with UC_ERR_FORMAT */
} uc_json_line;                       /* zero-initialised, and freed with uc_json_line_free */

void uc_json_begin(uc_json_line *self, char *line);
/* false: the line has ended, with self->status; self->at is its newline then, also after a problem. */
bool uc_json_next(uc_json_pair *out, uc_json_line *self);
void uc_json_line_free(uc_json_line *self);
/* Whether the text is a number as JSON writes them, or true or false. */
bool uc_json_is_word(const char *text, size_t length);

/* ---- rows ---- */

/* What cutting rows needs, for as long as a block's parser lives. */
typedef struct uc_json_row {
    uc_json_line line;
    uint32_t *rows; /* of each column: the row that had it last */
    uint32_t row;
    size_t column; /* with a problem: the column whose value is to blame, or UC_NO_COLUMN */
} uc_json_row;     /* zero-initialised, and freed with uc_json_row_free */

/* Cuts the line at *at into the fields of the layout's columns, and moves *at to its newline. On failure the
 * sentence is in self->line.problem. */
uc_status uc_json_cut_row(uc_field *fields, uc_json_row *self, const uc_layout *layout, char **at);
void uc_json_row_free(uc_json_row *self);

/* ---- files ---- */

struct uc_look_source;
/* A table whose columns are the keys of all files, in order of their first appearance; those of labels, bags
 * and weights have their types, and the others none yet. */
uc_status uc_json_find_columns(uc_table **out, const struct uc_look_source *source,
                               const uc_read_settings *settings, const uc_context *context);
/* uc_layout_begin for JSON lines, when the reader's settings say so. Their columns are those of the reader's
 * table, and keys that only the file has. */
uc_status uc_table_layout_begin(uc_layout **out, uc_reader *reader, uc_text_parser *parser);

#endif
