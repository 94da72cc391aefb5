/* Reading text in parallel: chunks of whole lines are cut into blocks of whole lines, which are parsed
 * concurrently, each into its place in the reader's arrays. */
#ifndef UC_DATA_TEXT_H
#define UC_DATA_TEXT_H

#include "data/delimited.h"
#include "data/reader.h"

/* A name that was not known to the reader when its block was parsed. */
typedef struct uc_new_name {
    const char *text;
    size_t length;
    size_t row;  /* within the block */
    size_t line; /* within the block, from 1 */
    bool is_bag;
} uc_new_name;

typedef struct uc_text_block {
    char *begin, *end;          /* whole lines, the last one with its newline; the parser may change them */
    size_t newlines, colons;    /* upper bounds on the numbers of rows and of column:value pairs */
    size_t row_base, pair_base; /* where the block's rows and pairs go */
    /* Where to write rows 0, 1, ... of the block: parts of the reader's arrays. */
    float *values;
    uint32_t *columns; /* sparse; from 0 */
    uint64_t *ends;    /* sparse; ends[i] is pair_base + the number of pairs in rows 0 to i */
    uint32_t *y, *bag; /* NULL: no labels, no bags */
    double *weights;   /* NULL: none */
    uc_field *ids;     /* NULL: none */
    /* Results of the parser. */
    size_t lines; /* seen so far; if the block failed, the number of the bad line */
    size_t rows, pairs;
    size_t cols; /* largest column + 1 */
    uc_status status;
    char sentence[200]; /* about the bad line */
    uc_new_name *names;
    size_t name_room, name_count;
    bool not_numbers; /* the failure is a feature that is not a number */
    size_t unseen;    /* values of categories that the table does not know */
    void *own;        /* owned by the parser, as long as the reader lives: uc_text_set_hooks */
} uc_text_block;

typedef void uc_text_parser(uc_text_block *block, const uc_reader *reader, const void *layout);
/* Looks at the current chunk before it is parsed, until the first rows have been read. */
typedef void uc_text_look(uc_reader *reader);

/* For parsers that keep something besides rows; each hook may be NULL. `bound` sets block->colons to an upper
 * bound on the number of values; `join` gets the parsed blocks in order; `free_own` frees block->own. */
typedef struct uc_text_hooks {
    void (*bound)(uc_text_block *block, const void *layout);
    uc_status (*join)(uc_text_block *block, uc_reader *reader, size_t line); /* lines before the block */
    void (*free_own)(void *own);
} uc_text_hooks;
void uc_text_set_hooks(uc_reader *self, const uc_text_hooks *hooks);

/* Begins: reads the first chunk and skips a byte order mark. `look` may be NULL. */
uc_status uc_text_begin(uc_reader *self, uc_text_parser *parser, uc_text_look *look);
/* Parses the current chunk into the reader's rows. */
uc_status uc_text_next(uc_reader *self);
/* Restricts reading to the lines that begin in the reader's range, without those that were skipped. */
uc_status uc_text_cut(uc_reader *self);
void uc_text_end(uc_reader *self);

/* The first line of the current chunk that is not blank and does not begin with `comment` (0: any line),
 * without its line end; NULL if there is none. *number becomes its number, from 1. */
const char *uc_text_first_line(size_t *length, size_t *number, const uc_reader *self, char comment);
/* Continues after a line of the first chunk that uc_text_first_line found. */
void uc_text_skip_line(uc_reader *self, const char *line, size_t number);
/* The end of the current chunk. */
const char *uc_text_chunk_end(const uc_reader *self);
void *uc_text_layout(const uc_reader *self);
/* Sets what is passed to the parser, and the function that frees it in the end. */
void uc_text_set_layout(uc_reader *self, void *layout, void (*free_layout)(void *layout));

/* For parsers: sets the class (or bag) of the block's next row. A name that is not known yet is recorded, and
 * its position is set after the whole chunk has been parsed. */
void uc_text_class(uc_text_block *block, const uc_reader *reader, const char *name, size_t length);
void uc_text_bag(uc_text_block *block, const uc_reader *reader, const char *name, size_t length);
/* Reports a problem in line block->lines. */
void uc_text_blame(uc_text_block *block, const char *format, ...) UC_PRINTF(2, 3);
/* Reports a control character between `text` and the end of the line, if there is one. */
bool uc_text_blame_control(uc_text_block *block, const char *text);

#endif
