/* The tokenizer of delimited text; delimited.h says what it accepts. */
#define _GNU_SOURCE
#include "data/delimited.h"

#include <assert.h>
#include <string.h>

#include "data/scan.h"

/* ---- characters ---- */

size_t uc_byte_order_mark(const char *text, size_t length)
{
    const size_t mark = strlen(UC_BYTE_ORDER_MARK);
    if (length < mark || memcmp(text, UC_BYTE_ORDER_MARK, mark) != 0)
        return 0;
    return mark;
}

const char *uc_find_control(const char *text)
{
    for (const char *p = text; *p != '\n'; p++) {
        const unsigned char c = (unsigned char)*p;
        if ((c < ' ' && !uc_is_blank(*p)) || c == 0x7f)
            return p;
    }
    return NULL;
}

const char *uc_header_end(const char *line, const char *line_end, const char *end)
{
    bool open = false;
    if (line == line_end || *line != '"')
        return line_end;
    for (const char *at = line; at < end; at++) {
        open ^= *at == '"';
        if (*at == '\n' && !open)
            return at;
    }
    return open ? line_end : end;
}

char uc_find_delimiter(const char *line, size_t length)
{
    static const char delimiters[] = "\t;,|";
    bool found[4] = {false}, quoted = false;
    for (size_t i = 0; i < length; i++) {
        quoted ^= line[i] == '"';
        for (size_t d = 0; d < 4 && !quoted; d++)
            found[d] |= line[i] == delimiters[d];
    }
    for (size_t d = 0; d < 4; d++)
        if (found[d])
            return delimiters[d];
    return ',';
}

/* ---- fields ---- */

static void cut_plain(uc_field *out, char **at, char delimiter)
{
    char *p = *at + (uc_scan_end(*at, delimiter) - *at);
    *out = (uc_field){.begin = *at};
    const char *last = p;
    while (last > out->begin && uc_is_padding(last[-1], delimiter))
        last--;
    out->length = (size_t)(last - out->begin);
    *at = p;
}

/* *at is just after the opening quote. */
static const char *cut_quoted(uc_field *out, char **at, char delimiter, bool lines)
{
    char *p = *at, *to = p;
    for (;; p++) {
        if (*p == '\n' && !lines)
            return "a quote is not closed on its line";
        if (*p == '\0' && lines)
            return "a quote is not closed";
        if (*p == '"' && *++p != '"')
            break;
        *to++ = *p;
    }
    *out = (uc_field){.begin = *at, .length = (size_t)(to - *at), .quoted = true};
    *at = uc_skip_padding(p, delimiter);
    if (**at != delimiter && **at != '\n')
        return "text follows a closing quote";
    return NULL;
}

static const char *cut_field(uc_field *out, char **at, char delimiter, bool lines)
{
    assert(delimiter != '\n' && delimiter != '"');
    *at = uc_skip_padding(*at, delimiter);
    if (**at == '"') {
        ++*at;
        return cut_quoted(out, at, delimiter, lines);
    }
    cut_plain(out, at, delimiter);
    return NULL;
}

const char *uc_field_cut(uc_field *out, char **at, char delimiter)
{
    return cut_field(out, at, delimiter, false);
}

const char *uc_field_cut_record(uc_field *out, char **at, char delimiter)
{
    return cut_field(out, at, delimiter, true);
}

/* ---- records ---- */

/* Whether the quote at q opens a field; the text starts at `begin`. */
static bool opens_field(const char *q, const char *begin, char delimiter)
{
    while (q > begin && uc_is_padding(q[-1], delimiter))
        q--;
    return q == begin || q[-1] == delimiter || q[-1] == '\n';
}

/* The position after the quote that closes the field opened by the quote at q; NULL: not before `end`. */
static const char *after_closing(const char *q, const char *end)
{
    for (;;) {
        q = memchr(q + 1, '"', (size_t)(end - q - 1));
        if (!q)
            return NULL;
        if (q + 1 == end || q[1] != '"')
            return q + 1;
        if (++q + 1 == end)
            return NULL;
    }
}

const char *uc_record_end(const char *begin, const char *from, const char *end, char delimiter)
{
    const char *p = begin;
    for (;;) {
        const char *first = p > from ? p : from;
        const char *newline = memchr(first, '\n', (size_t)(end - first)), *stop = newline ? newline : end;
        const char *quote = memchr(p, '"', (size_t)(stop - p));
        if (!quote)
            return newline;
        p = quote + 1;
        if (opens_field(quote, begin, delimiter)) {
            p = after_closing(quote, end);
            if (!p)
                return NULL;
        }
    }
}

const char *uc_last_record_end(const char *begin, const char *end, char delimiter)
{
    const char *last = NULL, *p = begin;
    for (;;) {
        const char *quote = memchr(p, '"', (size_t)(end - p)), *stop = quote ? quote : end;
        const char *newline = memrchr(p, '\n', (size_t)(stop - p));
        if (newline)
            last = newline;
        if (!quote)
            return last;
        p = quote + 1;
        if (opens_field(quote, begin, delimiter)) {
            p = after_closing(quote, end);
            if (!p)
                return last;
        }
    }
}

const char *uc_ragged_hint(size_t count, size_t columns, const uc_field *last)
{
    if (count == columns + 1 && last->length == 0)
        return ": it ends with a separator, so let the first line end with one, too";
    return "";
}

bool uc_field_equals(const uc_field *self, const char *text)
{
    return self->length == strlen(text) && memcmp(self->begin, text, self->length) == 0;
}

bool uc_field_real(double *out, const uc_field *self)
{
    return uc_parse_real(out, self->begin, self->length);
}

char *uc_field_float_any(float *out, char *p, char delimiter)
{
    p = uc_skip_padding(p, delimiter);
    char *end = p + (uc_number_read(out, p) - p);
    if (end == p || !isfinite(*out))
        return NULL;
    end = uc_skip_padding(end, delimiter);
    return *end == delimiter || *end == '\n' ? end : NULL;
}

/* ---- lines ---- */

uc_status uc_lines_read(uc_lines *out, uc_input *input, const uc_context *context)
{
    char *text;
    size_t length;
    const uc_status status = uc_input_read_all(&text, &length, input, 1 + UC_NUMBER_SLACK, context);
    if (status != UC_OK)
        return status;
    *out = (uc_lines){.text = text, .length = length, .read = length};
    if (length > 0 && text[length - 1] != '\n')
        text[out->length++] = '\n';
    uc_lines_rewind(out);
    return UC_OK;
}

bool uc_lines_next(uc_lines *self)
{
    const char *end = self->text + self->length;
    if (self->next == end)
        return false;
    const char *newline = rawmemchr(self->next, '\n');
    assert(newline < end);
    self->line = self->next;
    self->width = (size_t)(newline - self->line);
    self->next += self->width + 1;
    if (self->width > 0 && newline[-1] == '\r')
        self->width--;
    self->number++;
    return true;
}

void uc_lines_rewind(uc_lines *self)
{
    self->next = self->text + uc_byte_order_mark(self->text, self->length);
    self->line = NULL;
    self->width = self->number = 0;
}

void uc_lines_free(uc_lines *self)
{
    uc_free(self->text);
    *self = (uc_lines){0};
}
