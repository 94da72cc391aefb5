/* The invariant of noise matrices, for `assert`. */
#ifndef UC_NOISE_VALID_H
#define UC_NOISE_VALID_H

#include "unconfuse/noise.h"

/* Whether entries are in [0, 1] and every column sums to 1, within the tolerance of uc_noise_create. */
bool uc_noise_is_valid(const uc_noise *self);

#endif
