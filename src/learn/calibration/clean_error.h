/* The error on true classes, for callers that already have calibrators (clean_error.c). */
#ifndef UC_CLEAN_ERROR_H
#define UC_CLEAN_ERROR_H

#include <jansson.h>

#include "learn/calibration/calibrate.h"
#include "unconfuse/clean_error.h"

/* Estimates the error of `predicted` (NULL: the argmax of the held-out scores). `chosen` is the calibrator of
 * the chosen family, `full` (NULL: ignored) that of the full family on the same scores, and `belief` how far
 * to believe the full family (uc_family_belief). */
uc_status uc_clean_error_find(uc_clean_error *out, const uc_held_out *rows, const uint32_t *predicted,
                              const uc_calibrator *chosen, const uc_calibrator *full, double belief);

/* Puts `clean_error`, `wrong_labels` and `likeliest_wrong_labels` into a model's summary. wrong_at_most > 0
 * is a known bound on the share of wrong labels; the error is clipped to what it allows. */
uc_status uc_clean_error_save(json_t *summary, const uc_clean_error *error, double wrong_at_most);

#endif
