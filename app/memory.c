#define _GNU_SOURCE
#include "app/memory.h"

#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/signals.h"

#define LARGE (4 << 20)      /* bytes; such a block is returned to the system as soon as it is freed */
#define MOST_KEPT (64 << 20) /* bytes of free memory */

static _Noreturn void give_up(size_t count, size_t size)
{
    app_unfinished_remove();
    fprintf(stderr, "%s: not enough memory for %zu times %zu bytes\n", app_this_program.name, count, size);
    exit(1);
}

void *app_realloc(void *block, size_t count, size_t size)
{
    void *result = reallocarray(block, count ? count : 1, size);
    if (!result)
        give_up(count, size);
    return result;
}

void *app_calloc(size_t count, size_t size)
{
    void *result = calloc(count ? count : 1, size);
    if (!result)
        give_up(count, size);
    return result;
}

char *app_text_of(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    const size_t size = length < 0 ? 1 : (size_t)length + 1;
    char *text = app_calloc(size, 1);
    (void)vsnprintf(text, size, format, again);
    va_end(again);
    return text;
}

char *app_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = app_text_of(format, arguments);
    va_end(arguments);
    return text;
}

void app_keep_freed_memory(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, LARGE);
    (void)mallopt(M_TRIM_THRESHOLD, MOST_KEPT);
#endif
}

static void *json_alloc(size_t size)
{
    return app_realloc(NULL, size, 1);
}

void app_own_json_memory(void)
{
    json_set_alloc_funcs(json_alloc, free);
}
