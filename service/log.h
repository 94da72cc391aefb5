/* The service's log: one JSON object per line on standard error. */
#ifndef SERVICE_LOG_H
#define SERVICE_LOG_H

#include <stdint.h>

#include "app/program.h"

int64_t log_milliseconds(void); /* since 1970, by the system's clock */
/* `level` is info, warning or error; `event` is one word. */
void log_line(const char *level, const char *event, const char *format, ...) APP_PRINTF(3, 4);

#endif
