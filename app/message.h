/* What a program says when something goes wrong. */
#ifndef APP_MESSAGE_H
#define APP_MESSAGE_H

#include <stdarg.h>

#include "app/program.h"

/* Keeps the sentence for app_main and returns `status`; like the library's own failures. */
uc_status app_fail(uc_status status, const char *format, ...) APP_PRINTF(2, 3);
/* The last sentence again, with the file that it is about in front, after the rank of the process. */
uc_status app_fail_in(uc_status status, const char *file);
const char *app_last_error(void); /* the program's own sentence, else the library's */
const char *
app_library_error(void);     /* uc_last_error() with its options as they are typed; until the next call */
void app_forget_error(void); /* so that the library's next sentence is seen */
/* All processes fail when one does, with its sentence. */
uc_status app_agree(uc_status status);

void app_warn(const char *format, ...) APP_PRINTF(1, 2);
/* A line on standard error after the program's name, without what a terminal might obey; the first process
 * alone. */
void app_say(const char *format, ...) APP_PRINTF(1, 2);
void app_say_list(const char *prefix, const char *format, va_list arguments) APP_PRINTF(2, 0);

#endif
