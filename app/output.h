/* The files that a command writes. It opens them before the work starts; all of them appear together when it
 * is done, and app_main removes what is left of them if it fails. unconfuse/output.h makes single files
 * appear; this is the list of them, and text that several processes write as one. */
#ifndef APP_OUTPUT_H
#define APP_OUTPUT_H

#include "app/program.h"

/* Messages name the file by `option`. With several processes only the first one has the files; in the others
 * *out is NULL. */
uc_status app_begin_file(uc_output **out, const char *path, const char *option);
/* Fails if one of the files is `path`, which the command reads; NULL is fine. */
uc_status app_keep_input(const char *path);
uc_status app_finish_files(bool durable);
void app_abort_files(void);

/* A text file among them; "-" is standard output. With several processes the first one writes the text of
 * all, in the order of their ranks. */
typedef struct app_output app_output;
uc_status app_output_open(app_output **out, const char *path);
/* Returns room for `length` bytes; app_output_advance must follow, with the number of bytes used. */
char *app_output_reserve(app_output *self, size_t length);
void app_output_advance(app_output *self, size_t length);
/* Commits it with all files of the command, and frees it, also on failure. Reports earlier write errors. */
uc_status app_output_commit(app_output *self);
void app_output_abort(app_output *self);            /* NULL is fine */
bool app_output_failed(const app_output *self);     /* a write failed, so going on is useless */
uc_status app_output_check(const app_output *self); /* the same, with a message */

#endif
