/* What holds for every noise matrix, for `assert`. */
#ifndef UC_NOISE_VALID_H
#define UC_NOISE_VALID_H

#include "unconfuse/noise.h"

/* Entries in [0, 1]; every column sums to 1, as far as uc_noise_create is strict about it. */
bool uc_noise_is_valid(const uc_noise *self);

#endif
