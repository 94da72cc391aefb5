/* Errors and warnings. */
#ifndef APP_MESSAGE_H
#define APP_MESSAGE_H

#include <stdarg.h>

#include "app/program.h"

/* Stores the message for app_main and returns `status`, as uc_fail does in the library. */
uc_status app_fail(uc_status status, const char *format, ...) APP_PRINTF(2, 3);
/* Puts the name of the file in front of the last message, but after the rank of the process. */
uc_status app_fail_in(uc_status status, const char *file);
const char *app_last_error(void); /* the program's own message, or else the library's */
const char *
app_library_error(void);     /* uc_last_error() with options as users type them; until the next call */
void app_forget_error(void); /* so that the library's next message is used */
/* If one process fails, all fail with its message. */
uc_status app_agree(uc_status status);

void app_warn(const char *format, ...) APP_PRINTF(1, 2);
/* Prints a line on standard error, after the program's name and without control characters; only in the first
 * process. */
void app_say(const char *format, ...) APP_PRINTF(1, 2);
void app_say_list(const char *prefix, const char *format, va_list arguments) APP_PRINTF(2, 0);

#endif
