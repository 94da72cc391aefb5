/* The tokenizer of JSON lines (RFC 8259); json_lines.h says what it accepts. */
#define _GNU_SOURCE
#include "data/json_lines.h"

#include <stdarg.h>
#include <string.h>

#include "data/table.h"

static const char nothing[UC_NUMBER_SLACK + 1]; /* an empty field, followed by as many bytes as in a buffer */

/* ---- problems ---- */

static bool blame(uc_json_line *self, const char *format, ...) UC_PRINTF(2, 3);

static bool blame(uc_json_line *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->problem, sizeof self->problem, format, arguments);
    va_end(arguments);
    self->status = UC_ERR_FORMAT;
    self->at = rawmemchr(self->at, '\n');
    return false;
}

/* Reports what was found instead of what was expected. */
static bool blame_found(uc_json_line *self, const char *expected)
{
    char quoted[UC_QUOTE_SIZE];
    size_t length = strcspn(self->at, ",:{}[] \t\r\n\"");
    if (*self->at == '\n')
        return blame(self, "the line ends where %s is expected", expected);
    if (length == 0)
        length = 1;
    return blame(self, "'%s' where %s is expected", uc_quote(quoted, self->at, length), expected);
}

/* ---- text ---- */

static void skip_blanks(uc_json_line *self)
{
    while (uc_is_blank(*self->at))
        self->at++;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of the four digits at p; -1 if they are not hexadecimal. */
static int32_t read_unit(const char *p)
{
    int32_t unit = 0;
    for (size_t i = 0; i < 4; i++) {
        const int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* self->at moves from the u of \u to the last digit. A character beyond 16 bits is a pair of escapes. */
static char *read_unicode(uc_json_line *self, char *to)
{
    int32_t unit = read_unit(self->at + 1);
    if (unit < 0) {
        blame(self, "\\u is not followed by four digits of base 16");
        return NULL;
    }
    uint32_t c = (uint32_t)unit;
    self->at += 4;
    if (c >= 0xd800 && c < 0xdc00 && self->at[1] == '\\' && self->at[2] == 'u') {
        unit = read_unit(self->at + 3);
        if (unit >= 0xdc00 && unit < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + ((uint32_t)unit - 0xdc00);
            self->at += 6;
        }
    }
    if (c >= 0xd800 && c < 0xe000) {
        blame(self, "\\u%04x is half of a pair of surrogates", c);
        return NULL;
    }
    if (c == 0) {
        blame(self, "\\u0000 is not a character of text");
        return NULL;
    }
    return put_utf8(to, c);
}

/* self->at moves from the character after the backslash to the last one of the escape. */
static char *read_escape(uc_json_line *self, char *to)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (*self->at == 'u')
        return read_unicode(self, to);
    const char *name = *self->at ? strchr(names, *self->at) : NULL;
    if (!name) {
        if (*self->at == '\n')
            blame(self, "a quote is not closed on its line");
        else
            blame(self, "\\%c is not an escape of JSON",
                  *self->at >= ' ' && *self->at < 127 ? *self->at : '?');
        return NULL;
    }
    *to = meanings[name - names];
    return to + 1;
}

/* Cuts the text whose opening quote is at self->at; moves to after its closing quote. */
static bool cut_text(const char **begin, size_t *length, uc_json_line *self)
{
    char *to = ++self->at;
    *begin = to;
    while (*self->at != '"' && *self->at != '\\' && *self->at != '\n')
        self->at++;
    to = self->at;
    for (; *self->at != '"'; self->at++) {
        if (*self->at == '\n')
            return blame(self, "a quote is not closed on its line");
        if (*self->at != '\\') {
            *to++ = *self->at;
            continue;
        }
        self->at++;
        to = read_escape(self, to);
        if (!to)
            return false;
    }
    self->at++;
    *length = (size_t)(to - *begin);
    return true;
}

/* ---- values ---- */

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* At least one digit; NULL if there is none. */
static const char *some_digits(const char *p, const char *end)
{
    const char *last = skip_digits(p, end);
    return last > p ? last : NULL;
}

bool uc_json_is_word(const char *text, size_t length)
{
    const char *p = text, *const end = text + length;
    if ((length == 4 && memcmp(text, "true", 4) == 0) || (length == 5 && memcmp(text, "false", 5) == 0))
        return true;
    p += p < end && *p == '-';
    if (p < end && *p == '0')
        p++;
    else if (!(p = some_digits(p, end)))
        return false;
    if (p < end && *p == '.' && !(p = some_digits(p + 1, end)))
        return false;
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        if (!(p = some_digits(p, end)))
            return false;
    }
    return p == end;
}

/* Infinity and NaN are not valid JSON, but Python writes them. */
static bool is_not_finite(const char *text, size_t length)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < 3; i++)
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
            return true;
    return false;
}

static bool cut_word(uc_json_pair *out, uc_json_line *self)
{
    const size_t length = strcspn(self->at, ",:{}[] \t\r\n\"");
    out->value = (uc_field){.begin = self->at, .length = length};
    out->kind = UC_JSON_WORD;
    if (length == 4 && memcmp(self->at, "null", 4) == 0) {
        out->value = (uc_field){.begin = nothing};
        out->kind = UC_JSON_NULL;
    } else if (!uc_json_is_word(self->at, length) && !is_not_finite(self->at, length)) {
        return blame_found(self, "a value");
    }
    self->at += length;
    return true;
}

/* Finds the end of an array without looking at its items. */
static bool skip_array(uc_json_pair *out, uc_json_line *self)
{
    size_t depth = 0;
    const char *begin = self->at;
    for (;; self->at++) {
        if (*self->at == '\n')
            return blame(self, "the line ends within an array");
        if (*self->at == '"') {
            for (self->at++; *self->at != '"' && *self->at != '\n'; self->at++)
                if (*self->at == '\\' && self->at[1] != '\n')
                    self->at++;
            if (*self->at == '\n')
                return blame(self, "a quote is not closed on its line");
        }
        depth += *self->at == '[';
        if (*self->at == ']' && --depth == 0)
            break;
    }
    self->at++;
    out->kind = UC_JSON_ARRAY;
    out->value = (uc_field){.begin = begin, .length = (size_t)(self->at - begin)};
    return true;
}

/* ---- pairs ---- */

void uc_json_begin(uc_json_line *self, char *line)
{
    self->at = line;
    self->depth = 0;
    self->path_length = 0;
    self->after_pair = false;
    self->status = UC_OK;
}

void uc_json_line_free(uc_json_line *self)
{
    uc_free(self->path);
    *self = (uc_json_line){0};
}

static bool add_to_path(uc_json_line *self, const char *text, size_t length)
{
    const size_t needed = self->path_length + length + 1;
    if (needed > self->path_room) {
        const size_t room = uc_grown(self->path_room, needed);
        char *path = uc_realloc(self->path, room, 1);
        if (!path) {
            self->status = UC_ERR_NOMEM;
            return false;
        }
        self->path = path;
        self->path_room = room;
    }
    memcpy(self->path + self->path_length, text, length);
    self->path_length += length;
    return true;
}

static bool enter(uc_json_line *self)
{
    if (self->depth == UC_JSON_DEPTH)
        return blame(self, "more than %d objects within each other", UC_JSON_DEPTH);
    self->lengths[self->depth++] = self->path_length;
    self->after_pair = false;
    self->at++;
    return true;
}

/* Closes objects and skips commas up to the next key; false: the line has ended, or there is a problem. */
static bool find_key(uc_json_line *self)
{
    if (self->depth == 0) {
        skip_blanks(self);
        if (*self->at != '{')
            return blame_found(self, "an object in braces, {\"name\": value, ...},");
        if (!enter(self))
            return false;
    }
    for (;;) {
        skip_blanks(self);
        if (*self->at == '}') {
            self->at++;
            self->after_pair = true;
            self->depth--;
            if (self->depth == 0) {
                skip_blanks(self);
                if (*self->at != '\n')
                    blame_found(self, "the end of the line");
                return false;
            }
            self->path_length = self->lengths[self->depth];
            continue;
        }
        if (!self->after_pair)
            break;
        if (*self->at != ',')
            return blame_found(self, "a comma or a closing brace");
        self->at++;
        skip_blanks(self);
        self->after_pair = false;
        break;
    }
    if (*self->at != '"')
        return blame_found(self, "a name in quotes");
    return true;
}

static bool cut_value(uc_json_pair *out, uc_json_line *self)
{
    if (*self->at == '[')
        return skip_array(out, self);
    if (*self->at != '"')
        return cut_word(out, self);
    out->kind = UC_JSON_TEXT;
    out->value = (uc_field){.quoted = true};
    return cut_text(&out->value.begin, &out->value.length, self);
}

/* Makes the full name of a key, which begins with the names of the enclosing objects. */
static bool join_key(uc_json_pair *out, uc_json_line *self)
{
    const size_t outer = self->path_length;
    out->is_outer = self->depth == 1;
    if (out->is_outer)
        return true;
    if (!add_to_path(self, out->key, out->key_length))
        return false;
    out->key = self->path;
    out->key_length = self->path_length;
    self->path_length = outer;
    return true;
}

bool uc_json_next(uc_json_pair *out, uc_json_line *self)
{
    for (;;) {
        if (!find_key(self) || !cut_text(&out->key, &out->key_length, self))
            return false;
        skip_blanks(self);
        if (*self->at != ':')
            return blame_found(self, "a colon after a name");
        self->at++;
        skip_blanks(self);
        if (*self->at != '{')
            break;
        const size_t outer = self->path_length;
        if (!add_to_path(self, out->key, out->key_length) || !add_to_path(self, ".", 1))
            return false;
        const size_t inner = self->path_length;
        self->path_length = outer;
        if (!enter(self))
            return false;
        self->path_length = inner;
    }
    out->raw_begin = self->at;
    if (!cut_value(out, self))
        return false;
    out->raw_end = self->at;
    self->after_pair = true;
    return join_key(out, self);
}

/* ---- rows ---- */

void uc_json_row_free(uc_json_row *self)
{
    uc_json_line_free(&self->line);
    uc_free(self->rows);
    *self = (uc_json_row){0};
}

static uc_status begin_row(uc_field *fields, uc_json_row *self, const uc_layout *layout)
{
    if (!self->rows) {
        self->rows = uc_alloc(layout->columns, sizeof *self->rows);
        if (!self->rows)
            return UC_ERR_NOMEM;
    }
    if (++self->row == 0) { /* after 2^32 rows */
        memset(self->rows, 0, layout->columns * sizeof *self->rows);
        self->row = 1;
    }
    for (size_t i = 0; i < layout->columns; i++)
        fields[i] = (uc_field){.begin = nothing};
    self->column = UC_NO_COLUMN;
    return UC_OK;
}

/* The column of a key, which is usually the next one. */
static size_t find_column(const uc_layout *layout, const uc_json_pair *pair, size_t next)
{
    if (next < layout->columns && uc_json_is_key(pair, layout->names[next]))
        return next;
    const uint32_t found = uc_names_find(&layout->keys, pair->key, pair->key_length);
    return found == UC_NONE ? UC_NO_COLUMN : found;
}

static void take_pair(uc_field *fields, uc_json_row *self, const uc_layout *layout, size_t column,
                      const uc_json_pair *pair)
{
    const bool again = self->rows[column] == self->row;
    self->rows[column] = self->row;
    fields[column] = pair->value;
    if (!again && (pair->kind != UC_JSON_ARRAY || layout->dropped[column]))
        return;
    char quoted[UC_QUOTE_SIZE];
    uc_quote(quoted, pair->key, pair->key_length);
    self->column = column;
    if (again)
        blame(&self->line, "the name '%s' is there twice", quoted);
    else
        blame(&self->line, "column '%s' has an array: leave it out with {drop=%s}", quoted, quoted);
}

uc_status uc_json_cut_row(uc_field *fields, uc_json_row *self, const uc_layout *layout, char **at)
{
    uc_json_pair pair;
    size_t next = 0;
    const uc_status status = begin_row(fields, self, layout);
    if (status != UC_OK)
        return status;
    uc_json_begin(&self->line, *at);
    while (self->line.status == UC_OK && uc_json_next(&pair, &self->line)) {
        const size_t column = find_column(layout, &pair, next);
        if (column == UC_NO_COLUMN)
            continue; /* only possible after the lines that were looked at */
        take_pair(fields, self, layout, column, &pair);
        next = column + 1;
    }
    *at = self->line.at;
    return self->line.status;
}
