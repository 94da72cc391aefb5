/* The error on true classes, for callers who have calibrators already (clean_error.c). */
#ifndef UC_CLEAN_ERROR_H
#define UC_CLEAN_ERROR_H

#include <jansson.h>

#include "learn/calibration/calibrate.h"
#include "unconfuse/clean_error.h"

/* Of the predictions, NULL: argmax of the held-out scores. `full` (NULL: not looked at) is the matrix of the
 * full family on the same scores, `belief` how far to believe it (uc_family_belief), `chosen` the calibrator
 * of the family that was chosen. */
uc_status uc_clean_error_find(uc_clean_error *out, const uc_held_out *rows, const uint32_t *predicted,
                              const uc_calibrator *chosen, const uc_calibrator *full, double belief);

/* Puts `clean_error` and `wrong_labels` into a model's summary. wrong_at_most > 0: a known bound on the share
 * of wrong labels, to which the error is cut. */
uc_status uc_clean_error_save(json_t *summary, const uc_clean_error *error, double wrong_at_most);

#endif
