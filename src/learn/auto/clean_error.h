/* How wrong predictions are on the true classes, from noisy labels alone (clean_error.c). */
#ifndef UC_CLEAN_ERROR_H
#define UC_CLEAN_ERROR_H

#include "learn/auto/calibrate.h"

typedef struct uc_clean_error {
    double estimate, low, high; /* shares in [0, 1] */
    double wrong;               /* the share of labels that are wrong, by the same estimate */
} uc_clean_error;

/* Of the predictions argmax of the held-out scores. `full` is the matrix of the full family on the same
 * scores, `chosen` the calibrator that the estimate comes from. */
uc_status uc_clean_error_find(uc_clean_error *out, const uc_held_out *rows, const uc_calibrator *chosen,
                              const uc_calibrator *full);

#endif
