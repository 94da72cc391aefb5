/* Where bytes go: an output file that appears whole or not at all, packed when its name ends with .gz or .zst. */
#ifndef UC_DATA_SINK_H
#define UC_DATA_SINK_H

#include "base/base.h"

typedef struct uc_sink uc_sink;

uc_status uc_sink_open(uc_sink **out, const char *path); /* "-": standard output */
/* Into an output that stays its caller's; ended by uc_sink_end or uc_sink_abort, which leave it open. */
uc_status uc_sink_begin(uc_sink **out, uc_output *output);
uc_status uc_sink_end(uc_sink *self); /* frees it whatever happens */
uc_status uc_sink_write(uc_sink *self, const void *bytes, size_t length);
/* Ends and frees *self whatever happens. */
uc_status uc_sink_commit(uc_sink *self);
void uc_sink_abort(uc_sink *self); /* NULL is fine */

/* The length of the path without .gz or .zst. */
size_t uc_sink_stem(const char *path);

#endif
