/* Writes bytes to an output file, compressed if its name ends with .gz or .zst. */
#ifndef UC_DATA_SINK_H
#define UC_DATA_SINK_H

#include "base/base.h"

typedef struct uc_sink uc_sink;

/* The output still belongs to the caller: uc_sink_end and uc_sink_abort leave it open. */
uc_status uc_sink_begin(uc_sink **out, uc_output *output);
uc_status uc_sink_write(uc_sink *self, const void *bytes, size_t length);
uc_status uc_sink_end(uc_sink *self); /* writes what is left; frees *self even on failure */
void uc_sink_abort(uc_sink *self);    /* frees *self; NULL is fine */

/* The length of the path without .gz or .zst. */
size_t uc_sink_stem(const char *path);

#endif
