/* Output files that appear either complete or not at all. A program opens all of them before the work starts,
 * so that a file that cannot be written is refused at once; functions such as uc_model_write fill them; and a
 * commit makes them appear together. */
#ifndef UNCONFUSE_OUTPUT_H
#define UNCONFUSE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "unconfuse/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uc_output uc_output;

/* Called while a write waits, for example for the reader of a pipe. If it returns false, the write fails with
 * UC_ERR_CANCELLED. */
typedef bool uc_go_on_fn(void *user);

/* Opens an output. Bytes go to a temporary file next to `path`, which gets that name only in
 * uc_output_commit. Symbolic links are followed; "-" is standard output; a pipe or a device is written
 * directly. Temporary files that a killed process left here are removed. With `go_on` NULL, writes wait for
 * as long as it takes, even if signals arrive. */
uc_status uc_output_begin(uc_output **out, const char *path, uc_go_on_fn *go_on, void *user);
uc_status uc_output_write(uc_output *self, const void *bytes, size_t length);
/* Gives the file its name; durable: calls fsync first. Frees *self, also on failure. */
uc_status uc_output_commit(uc_output *self, bool durable);
/* Commits several outputs at once: either all of them appear, or none does. */
uc_status uc_output_commit_all(uc_output *const *outputs, size_t count, bool durable);
void uc_output_abort(uc_output *self); /* removes the temporary file; NULL is fine */

const char *uc_output_name(const uc_output *self);      /* the path as given */
const char *uc_output_temporary(const uc_output *self); /* NULL if there is none */
/* Whether two outputs are the same file or pipe, under whatever names (a device never is); whether `path` is
 * the file that will be replaced. */
bool uc_output_is_same(const uc_output *a, const uc_output *b);
bool uc_output_replaces(const uc_output *self, const char *path);

#ifdef __cplusplus
}
#endif

#endif
