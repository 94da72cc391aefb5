/* The instruction set that the inner loops use; chosen at run time. */
#ifndef UNCONFUSE_CPU_H
#define UNCONFUSE_CPU_H

#include "unconfuse/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "baseline", "avx2" or "avx512": the best that this machine supports, unless uc_cpu_set_level chose
 * another. */
const char *uc_cpu_level(void);
/* Chooses the level, for example to get the same bytes on different machines; "best" restores the default.
 * Returns UC_ERR_INVALID if this machine does not support the level. Call it before any other thread uses the
 * library. */
uc_status uc_cpu_set_level(const char *level);
/* The name of the kernels that BLAS uses on this machine; BLAS chooses them by itself. */
const char *uc_cpu_blas(void);

#ifdef __cplusplus
}
#endif

#endif
