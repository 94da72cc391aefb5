/* Intervals for shares of wrong labels (label_intervals.c). */
#ifndef UC_LABEL_INTERVALS_H
#define UC_LABEL_INTERVALS_H

#include "parallel/parallel.h"
#include "unconfuse/audit.h"

/* Labels and their rows; R has K probabilities for each row of the data. */
typedef struct uc_label_rows {
    const uint32_t *labels;
    const size_t *row;
    size_t count, K;
    const double *R;
} uc_label_rows;

/* Sets wrong, pairs, pair_count, noise_low and noise_high of *out, with intervals from `resamples` resamples;
 * 0: no intervals. */
uc_status uc_label_intervals(uc_label_audit *out, const uc_label_rows *rows, size_t resamples, uint64_t seed,
                             const uc_context *context);

#endif
