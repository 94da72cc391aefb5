/* Delimited text: CSV, TSV, and lists of one entry per line. This is the only tokenizer of such text; data
 * files, noise matrices and files of labels are all read through it.
 *
 * The text is in one buffer whose last line ends with a newline. UC_NUMBER_SLACK bytes after it are readable,
 * so that no loop has to check for the end of the buffer. A field is a span of the buffer. Cutting a quoted
 * field removes its quotes in place, so each field can be cut only once. */
#ifndef UC_DATA_DELIMITED_H
#define UC_DATA_DELIMITED_H

#include <math.h>

#include "data/input.h"
#include "data/number.h"

#define UC_BYTE_ORDER_MARK "\xef\xbb\xbf"

/* ---- characters ---- */

static inline bool uc_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Whether c is a blank that may surround a field and is not part of it. */
static inline bool uc_is_padding(char c, char delimiter)
{
    return uc_is_blank(c) && c != delimiter;
}

static inline char *uc_skip_padding(char *p, char delimiter)
{
    while (uc_is_padding(*p, delimiter))
        p++;
    return p;
}

/* The length of the byte order mark at the beginning of a text: 3 or 0. */
size_t uc_byte_order_mark(const char *text, size_t length);
/* The first control character from `text` to the end of its line, other than tab and carriage return; NULL:
 * none. */
const char *uc_find_control(const char *text);
/* The end of the first line of a table whose first name may be quoted and have line breaks; `line_end` if it
 * is not, or if the quote is not closed before `end`. */
const char *uc_header_end(const char *line, const char *line_end, const char *end);
/* The first tab, semicolon, comma or bar outside quotes; a comma if the line has none of them. */
char uc_find_delimiter(const char *line, size_t length);

/* ---- fields ---- */

typedef struct uc_field {
    const char *begin;
    size_t length;
    bool quoted;
} uc_field;

/* Cuts the field at *at, without the blanks around it, and moves *at to the delimiter or newline that ends
 * it. A field that begins with a quote follows RFC 4180, but must end on its line. Returns NULL, or a
 * description of the problem. */
const char *uc_field_cut(uc_field *out, char **at, char delimiter);
/* The same for a field of a record, where line breaks in quotes are allowed; the text must end with a zero
 * byte. */
const char *uc_field_cut_record(uc_field *out, char **at, char delimiter);

/* A hint for a record of `count` fields where the first line has `columns`, if the last field shows what is
 * wrong; otherwise "". */
const char *uc_ragged_hint(size_t count, size_t columns, const uc_field *last);

/* ---- records: lines, except that quoted fields may contain line breaks ---- */

/* The newline at or after `from`, before `end`, that ends a record; NULL: none. A record starts at
 * `begin`. */
const char *uc_record_end(const char *begin, const char *from, const char *end, char delimiter);
/* The last newline before `end` that ends a record; NULL: none. */
const char *uc_last_record_end(const char *begin, const char *end, char delimiter);
bool uc_field_equals(const uc_field *self, const char *text);
/* The whole field as a double, which may be infinite or NaN; false if it is not a number. */
bool uc_field_real(double *out, const uc_field *self);

/* Reads the field at p if it is a finite number, with or without blanks around it. Returns the delimiter or
 * newline that ends it, or NULL if it is something else, which is left to uc_field_cut. */
char *uc_field_float_any(float *out, char *p, char delimiter);

/* The same, with a fast path for numeric columns. */
UC_INLINE char *uc_field_float(float *out, char *p, char delimiter)
{
    const char *end = uc_number_read_usual(out, p);
    if (end && (*end == delimiter || *end == '\n'))
        return p + (end - p);
    return uc_field_float_any(out, p, delimiter);
}

/* ---- lines ---- */

/* A whole text in memory, returned line by line. Large data files are read in chunks instead (text.h). */
typedef struct uc_lines {
    char *text;
    size_t length; /* including the last newline */
    size_t read;   /* bytes of the input, without the newline that is added if the last line has none */
    char *next;    /* start of the next line */
    char *line;    /* the current line, which ends with a newline */
    size_t width;  /* of the current line, without its line end (LF or CR LF) */
    size_t number; /* of the current line, from 1 */
} uc_lines;        /* zero-initialised may be freed */

/* Reads the rest of the input; a byte order mark is skipped. */
uc_status uc_lines_read(uc_lines *out, uc_input *input, const uc_context *context);
bool uc_lines_next(uc_lines *self); /* false if there are no more */
void uc_lines_rewind(uc_lines *self);
void uc_lines_free(uc_lines *self);

#endif
