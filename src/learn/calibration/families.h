/* Finds the family of noise that explains held-out scores and noisy labels best (families.c). */
#ifndef UC_FAMILIES_H
#define UC_FAMILIES_H

#include "learn/calibration/calibrate.h"

/* Sets fit[i] to the log-likelihood of row i's label under a calibrator found on other rows (3 folds).
 * `near`: where the searches start, as in uc_calibrate. All rows must be in this process. */
uc_status uc_family_fit(double *fit, const uc_held_out *rows, uc_noise_family family,
                        const uc_calibrator *near);
/* Chooses symmetric if it is more likely than none, and full if that is more likely still by two standard
 * errors. fit[family] comes from uc_family_fit; the families may use the same scores or each its own.
 * `weights` NULL: all are 1. */
uc_noise_family uc_family_choose(const double *const *fit, const double *weights, size_t rows);

/* How far estimates should believe the full family rather than the symmetric one, from 0 to 1. */
double uc_family_belief(const double *const *fit, const double *weights, size_t rows);

/* How much more likely the labels are under `fit` than under `other`: returns the mean difference per row;
 * *deviation becomes its standard error. */
double uc_family_gain(double *deviation, const double *fit, const double *other, const double *weights,
                      size_t rows);

/* All families on the same scores, and the one to believe. */
typedef struct uc_families {
    uc_calibrator found[UC_FAMILIES];
    double *fit[UC_FAMILIES]; /* from uc_family_fit */
    uc_noise_family family;   /* the one to believe */
    bool full;                /* whether the full family was tried: only up to UC_MOST_FULL_CLASSES classes */
} uc_families;                /* zero-initialised may be freed */
#define UC_MOST_FULL_CLASSES 100
uc_status uc_families_fit(uc_families *out, const uc_held_out *rows);
void uc_families_free(uc_families *self);

#endif
