/* Progress of the work on standard error. */
#ifndef APP_PROGRESS_H
#define APP_PROGRESS_H

#include "app/program.h"

/* Callbacks of uc_context. The first shows a bar on a terminal and prints a line now and then elsewhere; the
 * second shows nothing. Both cancel the work after a signal. */
bool app_progress(const char *task, double done, double total, const char *detail, void *user);
bool app_progress_silent(const char *task, double done, double total, const char *detail, void *user);
size_t app_terminal_width(int file); /* the usual width if the file is not a terminal */
void app_progress_end(void);         /* clears the bar */
double app_seconds(void);            /* a clock that only goes forward */

#endif
