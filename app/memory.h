/* Memory: a program that cannot allocate a few kilobytes says so and ends. */
#ifndef APP_MEMORY_H
#define APP_MEMORY_H

#include <stdarg.h>

#include "app/program.h"

void *app_realloc(void *block, size_t count, size_t size);
void *app_calloc(size_t count, size_t size);
char *app_text(const char *format, ...) APP_PRINTF(1, 2); /* freed with free */
char *app_text_of(const char *format, va_list arguments) APP_PRINTF(1, 0);
void app_own_json_memory(void); /* jansson's too: it does not survive a failed allocation unharmed */

#endif
