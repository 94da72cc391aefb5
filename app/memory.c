#define _GNU_SOURCE
#include "app/memory.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/signals.h"

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

static void *json_alloc(size_t size)
{
    return app_realloc(NULL, size, 1);
}

void app_own_json_memory(void)
{
    json_set_alloc_funcs(json_alloc, free);
}
