/* The parts of preprocessing one row. */
#ifndef UC_PREPARE_PREPROCESSING_H
#define UC_PREPARE_PREPROCESSING_H

#include <math.h>

#include "unconfuse/prepare.h"

/* Learns scaling from the rows of X, of all processes, and leaves them as they are. */
uc_status uc_learn_scaling(uc_preprocessing *out, uc_scaling scaling, const uc_matrix *X,
                           const double *weights, const uc_context *context);

/* Scaling and --normalize-input: what comes before the map; without a map, --normalize too. The result is
 * the row itself, or is in `work`, which may be the row's own values unless there is a shift. */
uc_row uc_prepare_input(const uc_preprocessing *self, uc_row row, float *work);
/* UC_ERR_INVALID for a scaling that would turn the zeros of sparse rows into other values. */
uc_status uc_check_sparse_scaling(uc_scaling scaling);
/* A term count v >= 1 becomes 1 + log v; other values stay. */
static inline double uc_damped_count(double v)
{
    return v >= 1.0 ? 1.0 + log(v) : v;
}
/* Whether zeros of a row become other values, so that sparse rows must be dense first. */
bool uc_preprocessing_shifts(const uc_preprocessing *self);
/* Scales the row to unit length; a zero row is returned as it is. */
uc_row uc_normalize_row(uc_row row, float *work);

#endif
