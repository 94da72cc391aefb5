/* Stopping by a signal, and the files that must then be removed. */
#ifndef APP_SIGNALS_H
#define APP_SIGNALS_H

#include "app/program.h"

void app_catch_signals(void);
int app_signal(void);                /* the signal that asked to stop, 0: none */
uc_status app_check_interrupt(void); /* UC_ERR_CANCELLED after a signal */
/* While output files get their names, a signal does not end the program, so that all of them appear or
 * none. */
void app_files_appear(bool now);
/* Whether a progress bar is on the terminal's last line, which must be cleared before writing anything
 * else. */
void app_bar_is_shown(bool shown);

/* Temporary files of unfinished outputs, which are removed if the program ends early. A name must stay valid
 * until app_unfinished_forget. */
#define APP_MOST_FILES 8
void app_unfinished_add(const char *temporary); /* NULL: nothing to remove */
void app_unfinished_forget(void);
void app_unfinished_remove(void); /* safe in a signal handler */

#endif
