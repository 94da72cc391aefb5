/* How far the work is, on standard error. */
#ifndef APP_PROGRESS_H
#define APP_PROGRESS_H

#include "app/program.h"

/* Callbacks of uc_context: a bar on a terminal, a line now and then elsewhere; nothing. Both cancel after a
 * signal. */
bool app_progress(const char *task, double done, double total, const char *detail, void *user);
bool app_progress_silent(const char *task, double done, double total, const char *detail, void *user);
size_t app_terminal_width(int file); /* the usual one where the file is no terminal */
void app_progress_end(void);         /* clears the bar */
double app_seconds(void);            /* a clock that only goes forward */

#endif
