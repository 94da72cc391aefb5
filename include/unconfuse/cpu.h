/* The CPU level that the hot loops run at; chosen at run time. */
#ifndef UNCONFUSE_CPU_H
#define UNCONFUSE_CPU_H

#include "unconfuse/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "baseline", "avx2" or "avx512": the best that this machine has, unless set. */
const char *uc_cpu_level(void);
/* Fixes the level, for the same bytes on different machines ("best": back to the best). Refuses a level
 * that this machine does not have. Call it before any other thread uses the library. */
uc_status uc_cpu_set_level(const char *level);
/* What BLAS, which chooses for itself, has chosen for this machine. */
const char *uc_cpu_blas(void);

#ifdef __cplusplus
}
#endif

#endif
