/* Memory, sentences, time. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "experiment.h"

static char sentence[1024];

uc_status papers_fail(uc_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return status;
}

const char *papers_last_error(void)
{
    static char rendered[2048];
    uc_message_render(rendered, sizeof rendered, uc_last_error(), UC_MESSAGE_COMMAND_LINE);
    return sentence[0] ? sentence : rendered;
}

void papers_forget_error(void)
{
    sentence[0] = 0;
}

static void *or_end(void *block)
{
    if (block)
        return block;
    fputs("unconfuse-papers: no memory\n", stderr);
    exit(1);
}

void *papers_realloc(void *block, size_t count, size_t size)
{
    return or_end(reallocarray(block, count ? count : 1, size));
}

void *papers_calloc(size_t count, size_t size)
{
    return or_end(calloc(count ? count : 1, size));
}

char *papers_text(const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return or_end(length < 0 ? NULL : text);
}

double papers_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
