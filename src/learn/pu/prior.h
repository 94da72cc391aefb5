/* The class prior: the share of positives among rows of which only some positives have a label. */
#ifndef UC_PU_PRIOR_H
#define UC_PU_PRIOR_H

#include "base/base.h"

#define UC_PRIOR_BINS ((size_t)64)
#define UC_PRIOR_REACH 4.0 /* deviations from the mean to the first and last bin */

/* Scores of held-out rows in bins of equal width; the first and the last bin include all scores beyond
 * them. */
typedef struct uc_prior_bins {
    double labelled[UC_PRIOR_BINS], unlabelled[UC_PRIOR_BINS];
} uc_prior_bins;

/* The bin of a score that is this many deviations above the mean. */
size_t uc_prior_bin(double deviations);

typedef struct uc_prior_estimate {
    double prior;
    double low, high; /* the interval of 95% of the estimates from resampled scores */
} uc_prior_estimate;

/* censored: labelled and unlabelled rows together are the population; otherwise, the unlabelled ones are.
 * `seed` is for resampling. There must be rows of both kinds. */
void uc_prior_from_bins(uc_prior_estimate *out, const uc_prior_bins *bins, bool censored, uint64_t seed);

#endif
