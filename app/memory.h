/* Small allocations, which end the program with a message if they fail. */
#ifndef APP_MEMORY_H
#define APP_MEMORY_H

#include <stdarg.h>

#include "app/program.h"

void *app_realloc(void *block, size_t count, size_t size);
void *app_calloc(size_t count, size_t size);
char *app_text(const char *format, ...) APP_PRINTF(1, 2); /* freed with free */
char *app_text_of(const char *format, va_list arguments) APP_PRINTF(1, 0);
void app_own_json_memory(void); /* the same for jansson, which does not handle failed allocations well */
/* Makes malloc keep some megabytes of freed memory, not return pages that it soon asks for again. */
void app_keep_freed_memory(void);

#endif
