/* Which family of noise explains held-out scores and noisy labels best (families.c). */
#ifndef UC_FAMILIES_H
#define UC_FAMILIES_H

#include "learn/calibration/calibrate.h"

/* fit[i] = the log-likelihood of row i's label by a calibrator that was found on other rows (3 folds).
 * `near`: where the searches start, as in uc_calibrate. All rows are in this process. */
uc_status uc_family_fit(double *fit, const uc_held_out *rows, uc_noise_family family,
                        const uc_calibrator *near);
/* Symmetric if likelier than none; full if likelier still by two standard errors. fit[family] are those of
 * uc_family_fit, each on scores of its own or all on the same. `weights` NULL: all are 1. */
uc_noise_family uc_family_choose(const double *const *fit, const double *weights, size_t rows);

/* Between 0 and 1: how far to believe the full family rather than the symmetric one, in estimates. */
double uc_family_belief(const double *const *fit, const double *weights, size_t rows);

/* How much likelier the labels are by `fit` than by `other`: the mean difference per row; its standard error
 * is *deviation. */
double uc_family_gain(double *deviation, const double *fit, const double *other, const double *weights,
                      size_t rows);

/* All families on the same scores, and which of them to believe. */
typedef struct uc_families {
    uc_calibrator found[UC_FAMILIES];
    double *fit[UC_FAMILIES]; /* of uc_family_fit */
    uc_noise_family family;   /* the one to believe */
    bool full;                /* the full family was tried: not with more than UC_MOST_FULL_CLASSES */
} uc_families;                /* zero-initialised may be freed */
#define UC_MOST_FULL_CLASSES 100
uc_status uc_families_fit(uc_families *out, const uc_held_out *rows);
void uc_families_free(uc_families *self);

#endif
