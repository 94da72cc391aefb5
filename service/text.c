#include "service/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"

static void reserve(text *self, size_t more)
{
    if (self->size + more + 1 <= self->capacity)
        return;
    self->capacity = 2 * (self->size + more) + 64;
    self->bytes = app_realloc(self->bytes, self->capacity, 1);
}

void text_add(text *self, const char *bytes, size_t size)
{
    reserve(self, size);
    memcpy(self->bytes + self->size, bytes, size);
    self->size += size;
    self->bytes[self->size] = 0;
}

void text_add_string(text *self, const char *string)
{
    text_add(self, string, strlen(string));
}

void text_add_format(text *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *string = app_text_of(format, arguments);
    va_end(arguments);
    text_add_string(self, string);
    free(string);
}

void text_add_json_string(text *self, const char *string)
{
    text_add(self, "\"", 1);
    for (const char *at = string; *at; at++) {
        char escaped[8];
        const unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\') {
            escaped[0] = '\\';
            escaped[1] = *at;
            text_add(self, escaped, 2);
        } else if (byte < 0x20) {
            snprintf(escaped, sizeof escaped, "\\u%04x", byte);
            text_add_string(self, escaped);
        } else {
            text_add(self, at, 1);
        }
    }
    text_add(self, "\"", 1);
}

void text_add_number(text *self, double value)
{
    char number[40];
    if (!isfinite(value)) {
        text_add(self, "null", 4);
        return;
    }
    int length = snprintf(number, sizeof number, "%.15g", value);
    if (strtod(number, NULL) != value)
        length = snprintf(number, sizeof number, "%.17g", value);
    text_add(self, number, (size_t)length);
}
