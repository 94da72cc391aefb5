/* Messages that name options: how the library formats them, and how a front end writes the names.
 *
 * All front ends share the text of a message. It names an option by its neutral name in braces, which each
 * front end writes in its own way:
 *
 *   {scale}          the option                    --scale           `scale`           "scale"
 *   {scale=maxabs}   set to a value                --scale maxabs    scale='maxabs'    "scale": "maxabs"
 *   {bags:=maybe}    the same for a flag           --bags=maybe      bags='maybe'      "bags": "maybe"
 *   {width W}        with a placeholder            --width W         `width`           "width"
 *   {gamma,g G}      the same by its letter        -g G              `gamma`           "gamma"
 *
 * Braces in user input (a class, a path) are doubled, so that they never name an option. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/base.h"

#define OPENS '\x01' /* a brace of the format, while the message is formatted */
#define CLOSES '\x02'

/* ---- formatting a message ---- */

static void mark_braces(char *out, size_t size, const char *format)
{
    size_t i = 0;
    for (; format[i] && i + 1 < size; i++) {
        out[i] = format[i];
        if (format[i] == '{')
            out[i] = OPENS;
        else if (format[i] == '}')
            out[i] = CLOSES;
    }
    out[i] = '\0';
}

/* The message is printed twice, once with the braces of the format and once with marks in their place. A
 * brace that appears in both came from an argument. Arguments may contain the marks, too, because only the
 * difference between the two texts counts. */
void uc_message_format(char *out, size_t size, const char *format, va_list arguments)
{
    char marked_format[UC_MESSAGE_BYTES], plain[UC_MESSAGE_BYTES], marked[UC_MESSAGE_BYTES];
    char text[2 * UC_MESSAGE_BYTES], *end = text;
    va_list again;
    va_copy(again, arguments);
    vsnprintf(plain, sizeof plain, format, arguments);
    mark_braces(marked_format, sizeof marked_format, format);
    vsnprintf(marked, sizeof marked, marked_format, again);
    va_end(again);
    for (size_t i = 0; plain[i]; i++) {
        const bool is_brace = plain[i] == '{' || plain[i] == '}';
        *end++ = plain[i];
        if (is_brace && marked[i] == plain[i])
            *end++ = plain[i];
    }
    *end = '\0';
    uc_printable(out, size, text);
}

/* ---- reading the name of an option ---- */

typedef struct option {
    char name[64];
    char letter;    /* 0: none */
    char separator; /* '=' a value, ':' the value of a flag, ' ' a placeholder, 0: none */
    char value[UC_MESSAGE_BYTES];
} option;

/* Reads the value up to the closing brace, or to the end of a truncated message; returns what follows. */
static const char *read_value(option *out, const char *text)
{
    size_t length = 0;
    for (; *text && !(text[0] == '}' && text[1] != '}'); text++) {
        if ((text[0] == '{' || text[0] == '}') && text[1] == text[0])
            text++;
        if (length + 1 < sizeof out->value)
            out->value[length++] = *text;
    }
    out->value[length] = '\0';
    return *text ? text + 1 : text;
}

/* `text` follows the opening brace. Returns what follows the closing one, or NULL if there is no name. */
static const char *read_option(option *out, const char *text)
{
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
    if (!islower((unsigned char)*text) || length >= sizeof out->name)
        return NULL;
    memcpy(out->name, text, length);
    out->name[length] = '\0';
    text += length;
    out->letter = out->separator = out->value[0] = '\0';
    if (text[0] == ',' && text[1]) {
        out->letter = text[1];
        text += 2;
    }
    if (*text == '}' || *text == '\0')
        return *text ? text + 1 : text;
    if (*text != '=' && *text != ' ' && !(text[0] == ':' && text[1] == '='))
        return NULL;
    out->separator = *text;
    return read_value(out, text + (*text == ':' ? 2 : 1));
}

/* ---- writing the name of an option ---- */

typedef struct writer {
    char *at;
    size_t left; /* bytes, without the final zero */
    bool full;
} writer;

static void put(writer *self, char c)
{
    self->full = self->full || self->left == 0;
    if (self->full)
        return;
    *self->at++ = c;
    self->left--;
}

static void put_text(writer *self, const char *text)
{
    while (*text)
        put(self, *text++);
}

static void put_quoted(writer *self, char quote, const char *text)
{
    put(self, quote);
    for (; *text; text++) {
        if (*text == quote || *text == '\\')
            put(self, '\\');
        put(self, *text);
    }
    put(self, quote);
}

/* Writes underscores instead of hyphens. */
static void put_identifier(writer *self, const char *name)
{
    for (; *name; name++)
        put(self, *name == '-' ? '_' : *name);
}

static bool is_number(const char *text)
{
    const size_t length = strlen(text);
    double value;
    return strspn(text, "0123456789+-.eE") == length && uc_parse_real(&value, text, length);
}

static const struct constant {
    const char *word, *python, *json;
} constants[] = {{"none", "None", "null"}, {"on", "True", "true"}, {"off", "False", "false"}};

/* Writes a value as Python or JSON does. */
static void put_value(writer *self, const char *value, bool python)
{
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strcmp(value, constants[i].word) == 0) {
            put_text(self, python ? constants[i].python : constants[i].json);
            return;
        }
    if (is_number(value))
        put_text(self, value);
    else
        put_quoted(self, python ? '\'' : '"', value);
}

static void put_command_line(writer *self, const option *named)
{
    put_text(self, named->letter ? "-" : "--");
    if (named->letter)
        put(self, named->letter);
    else
        put_text(self, named->name);
    if (named->separator)
        put(self, named->separator == ':' ? '=' : ' ');
    put_text(self, named->value);
}

static void put_python(writer *self, const option *named)
{
    const bool valued = named->separator && named->separator != ' ';
    put_text(self, valued ? "" : "`");
    put_identifier(self, named->name);
    put(self, valued ? '=' : '`');
    if (valued)
        put_value(self, named->value, true);
}

static void put_json(writer *self, const option *named)
{
    put(self, '"');
    put_identifier(self, named->name);
    put(self, '"');
    if (!named->separator || named->separator == ' ')
        return;
    put_text(self, ": ");
    put_value(self, named->value, false);
}

static void put_option(writer *self, const option *named, uc_message_style style)
{
    switch (style) {
    case UC_MESSAGE_COMMAND_LINE:
        put_command_line(self, named);
        break;
    case UC_MESSAGE_PYTHON:
        put_python(self, named);
        break;
    case UC_MESSAGE_JSON:
        put_json(self, named);
        break;
    }
}

/* Removes a UTF-8 character that did not fit completely. */
static void finish(writer *self, const char *out)
{
    while (self->full && self->at > out && ((unsigned char)self->at[-1] & 0xc0) == 0x80)
        self->at--;
    if (self->full && self->at > out && (unsigned char)self->at[-1] >= 0xc0)
        self->at--;
    *self->at = '\0';
}

void uc_message_render(char *out, size_t size, const char *text, uc_message_style style)
{
    writer self = {out, size - 1, false};
    option named;
    while (*text) {
        const bool doubled = (text[0] == '{' || text[0] == '}') && text[1] == text[0];
        const char *after = text[0] == '{' && !doubled ? read_option(&named, text + 1) : NULL;
        if (after) {
            put_option(&self, &named, style);
            text = after;
        } else {
            put(&self, *text);
            text += doubled ? 2 : 1;
        }
    }
    finish(&self, out);
}
