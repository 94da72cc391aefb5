/* The tokenizer of delimited text; delimited.h says what it accepts. */
#define _GNU_SOURCE
#include "data/delimited.h"

#include <assert.h>
#include <string.h>

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

char uc_find_delimiter(const char *line, size_t length)
{
    bool tab = false, semicolon = false, quoted = false;
    for (size_t i = 0; i < length; i++) {
        quoted ^= line[i] == '"';
        tab |= !quoted && line[i] == '\t';
        semicolon |= !quoted && line[i] == ';';
    }
    if (tab)
        return '\t';
    return semicolon ? ';' : ',';
}

/* ---- fields ---- */

static void cut_plain(uc_field *out, char **at, char delimiter)
{
    char *p = *at;
    while (*p != delimiter && *p != '\n')
        p++;
    *out = (uc_field){.begin = *at};
    const char *last = p;
    while (last > out->begin && uc_is_padding(last[-1], delimiter))
        last--;
    out->length = (size_t)(last - out->begin);
    *at = p;
}

/* *at follows the opening quote. */
static const char *cut_quoted(uc_field *out, char **at, char delimiter)
{
    char *p = *at, *to = p;
    for (;; p++) {
        if (*p == '\n')
            return "a quote is not closed on its line";
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

const char *uc_field_cut(uc_field *out, char **at, char delimiter)
{
    assert(delimiter != '\n' && delimiter != '"');
    *at = uc_skip_padding(*at, delimiter);
    if (**at == '"') {
        ++*at;
        return cut_quoted(out, at, delimiter);
    }
    cut_plain(out, at, delimiter);
    return NULL;
}

bool uc_field_equals(const uc_field *self, const char *text)
{
    return self->length == strlen(text) && memcmp(self->begin, text, self->length) == 0;
}

bool uc_field_real(double *out, const uc_field *self)
{
    return uc_parse_real(out, self->begin, self->length);
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
