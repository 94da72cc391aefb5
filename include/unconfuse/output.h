/* Output files that appear whole or not at all. A program opens them before it begins to work, so that a file
 * that cannot be written is refused at once; functions such as uc_model_write fill them; and they appear
 * together. */
#ifndef UNCONFUSE_OUTPUT_H
#define UNCONFUSE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "unconfuse/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uc_output uc_output;

/* Called while a write waits, for the reader of a pipe say. When it returns false, the write fails with
 * UC_ERR_CANCELLED. */
typedef bool uc_go_on_fn(void *user);

/* Bytes go to a temporary file next to `path`, which takes the name only in uc_output_commit. Symbolic links
 * are followed; "-" is standard output; a pipe or a device is written directly. Temporary files that a
 * process left here when it was killed are removed. `go_on` may be NULL: then it waits for as long as it
 * takes, whatever signals come. */
uc_status uc_output_begin(uc_output **out, const char *path, uc_go_on_fn *go_on, void *user);
uc_status uc_output_write(uc_output *self, const void *bytes, size_t length);
/* Gives the file its name; durable: fsync first. Frees *self, also on failure. */
uc_status uc_output_commit(uc_output *self, bool durable);
/* Commits several at once: either all of them appear, or none does. */
uc_status uc_output_commit_all(uc_output *const *outputs, size_t count, bool durable);
void uc_output_abort(uc_output *self); /* removes the temporary file; NULL is fine */

const char *uc_output_name(const uc_output *self);      /* the path as it was given */
const char *uc_output_temporary(const uc_output *self); /* NULL: there is none */
/* Whether two of them are the same file or pipe, however it is named (a device is not); whether `path` is the
 * file that will be replaced. */
bool uc_output_is_same(const uc_output *a, const uc_output *b);
bool uc_output_replaces(const uc_output *self, const char *path);

#ifdef __cplusplus
}
#endif

#endif
