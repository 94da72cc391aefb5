/* Intervals of shares by resampling rows. */
#ifndef UC_AUDIT_RESAMPLE_H
#define UC_AUDIT_RESAMPLE_H

#include "parallel/parallel.h"
#include "unconfuse/crowd.h"

#define UC_MOST_SHARES ((size_t)11)

/* Sets low and high of shares[0 .. count-1], count <= UC_MOST_SHARES. A row has 1 + count numbers: its total,
 * and the part of it that belongs to each share. */
uc_status uc_resample_shares(uc_share_estimate *const *shares, size_t count, const double *numbers,
                             size_t rows, uint64_t seed, const uc_context *context);

#endif
