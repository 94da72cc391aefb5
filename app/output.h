/* The files that a command writes. It opens them before it begins to work, all of them appear together when
 * it is done, and app_main removes what is left of them when it failed. How a file appears whole is
 * unconfuse/output.h's; this is the list of them, and text that several processes write as one. */
#ifndef APP_OUTPUT_H
#define APP_OUTPUT_H

#include "app/program.h"

/* `option` names the file in messages. With several processes the first one has the files, and NULL stands
 * for them in the others. */
uc_status app_begin_file(uc_output **out, const char *path, const char *option);
/* Fails when one of the files is `path`, which the command reads; NULL is fine. */
uc_status app_keep_input(const char *path);
uc_status app_finish_files(bool durable);
void app_abort_files(void);

/* A text file among them; "-" is standard output. With several processes the first one writes what all of
 * them have to say, in the order of their ranks. */
typedef struct app_output app_output;
uc_status app_output_open(app_output **out, const char *path);
/* Room for `length` bytes, to be followed by app_output_advance of what was used. */
char *app_output_reserve(app_output *self, size_t length);
void app_output_advance(app_output *self, size_t length);
/* Ends and frees it whatever happens, with all files of the command; write errors end up here. */
uc_status app_output_commit(app_output *self);
void app_output_abort(app_output *self);            /* NULL is fine */
bool app_output_failed(const app_output *self);     /* a write failed: going on is of no use */
uc_status app_output_check(const app_output *self); /* the same, with the sentence */

#endif
