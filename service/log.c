#define _GNU_SOURCE
#include "service/log.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "app/json.h"
#include "app/memory.h"

int64_t log_milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void log_line(const char *level, const char *event, const char *format, ...)
{
    char when[40];
    struct tm utc;
    const int64_t now = log_milliseconds();
    const time_t seconds = (time_t)(now / 1000);
    va_list arguments;
    va_start(arguments, format);
    char *message = app_text_of(format, arguments);
    va_end(arguments);
    (void)gmtime_r(&seconds, &utc);
    const size_t length = strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(when + length, sizeof when - length, ".%03dZ", (int)(now % 1000));
    json_t *line = json_pack("{ss ss ss so}", "time", when, "level", level, "event", event, "message",
                             app_json_text(message));
    char *text = json_dumps(line, JSON_COMPACT);
    (void)fprintf(stderr, "%s\n", text);
    free(text);
    json_decref(line);
    free(message);
}
