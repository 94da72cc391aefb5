/* Delimited text: CSV, TSV, and lists of one entry per line. This is the only tokenizer of such text; data
 * files, noise matrices and files of labels are all read through it.
 *
 * The text lies in one buffer whose last line ends with a newline; UC_NUMBER_SLACK bytes after it are
 * readable, so that no loop has to ask where the buffer ends. A field is a span of the buffer. Cutting a
 * quoted field takes off its quotes in place, so each field is cut once. */
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

/* Blanks around a field, which are not part of it. */
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

/* The bytes of a byte order mark at the beginning of a text: 3 or 0. */
size_t uc_byte_order_mark(const char *text, size_t length);
/* The first control character of the line, from `text` on, that is not a tab or carriage return; NULL: none.
 * */
const char *uc_find_control(const char *text);
/* The first of tab, semicolon, comma and bar that the line has outside quotes; a comma when it has none. */
char uc_find_delimiter(const char *line, size_t length);

/* ---- fields ---- */

typedef struct uc_field {
    const char *begin;
    size_t length;
    bool quoted;
} uc_field;

/* Cuts the field at *at, without the blanks around it, and moves *at to the delimiter or newline that ends
 * it. A field that begins with a quote follows RFC 4180, but ends on its line. Returns NULL, or what is
 * wrong. */
const char *uc_field_cut(uc_field *out, char **at, char delimiter);
/* The same of a record, whose quoted fields may have line breaks; a text ends with a zero byte. */
const char *uc_field_cut_record(uc_field *out, char **at, char delimiter);

/* What to do about a record of `count` fields where the first line has `columns`, if that is plain from its
 * last field; else nothing. */
const char *uc_ragged_hint(size_t count, size_t columns, const uc_field *last);

/* ---- records: lines, but for line breaks in quotes ---- */

/* `begin` begins a record. The newline that ends a record at or after `from`, before `end`; NULL: none. */
const char *uc_record_end(const char *begin, const char *from, const char *end, char delimiter);
/* The last newline before `end` that ends a record; NULL: none. */
const char *uc_last_record_end(const char *begin, const char *end, char delimiter);
bool uc_field_equals(const uc_field *self, const char *text);
/* The whole field as a double, which may be infinite or NaN; false: it is not a number. */
bool uc_field_real(double *out, const uc_field *self);

/* The field at p, if it is a finite number, with blanks around it or none. Returns the delimiter or newline
 * that ends it; NULL: it is something else, for uc_field_cut to look at. */
char *uc_field_float_any(float *out, char *p, char delimiter);

/* The same: the fast path of numeric columns. */
UC_INLINE char *uc_field_float(float *out, char *p, char delimiter)
{
    const char *end = uc_number_read_usual(out, p);
    if (end && (*end == delimiter || *end == '\n'))
        return p + (end - p);
    return uc_field_float_any(out, p, delimiter);
}

/* ---- lines ---- */

/* A whole text in memory, handed out line by line. Large data files are read in chunks instead (text.h). */
typedef struct uc_lines {
    char *text;
    size_t length; /* with the last newline */
    size_t read;   /* bytes of the input: without the newline that was added to a last line without one */
    char *next;    /* where the next line begins */
    char *line;    /* the current one, which ends with a newline */
    size_t width;  /* of the current line, without its end (LF or CR LF) */
    size_t number; /* of the current line, from 1 */
} uc_lines;        /* zero-initialised may be freed */

/* Reads all that the input has left, without its byte order mark. */
uc_status uc_lines_read(uc_lines *out, uc_input *input, const uc_context *context);
bool uc_lines_next(uc_lines *self); /* false: there are no more */
void uc_lines_rewind(uc_lines *self);
void uc_lines_free(uc_lines *self);

#endif
