/* A text that grows, for writing answers. */
#ifndef SERVICE_TEXT_H
#define SERVICE_TEXT_H

#include <stddef.h>

#include "app/program.h"

typedef struct text {
    char *bytes;
    size_t size, capacity;
} text; /* empty if zero-initialised; `bytes` is freed with free */

void text_add(text *self, const char *bytes, size_t size);
void text_add_string(text *self, const char *string);
void text_add_format(text *self, const char *format, ...) APP_PRINTF(2, 3);
void text_add_json_string(text *self, const char *string); /* with its quotes */
void text_add_number(text *self, double value);            /* all its digits; null if it is not finite */

#endif
