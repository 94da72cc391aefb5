/* The parts of preprocessing one row. */
#ifndef UC_PREPARE_PREPROCESSING_H
#define UC_PREPARE_PREPROCESSING_H

#include <math.h>

#include "unconfuse/prepare.h"

/* Learns the scaling from the rows of X of all processes, and does not change them. */
uc_status uc_learn_scaling(uc_preprocessing *out, uc_scaling scaling, const uc_matrix *X,
                           const double *weights, const uc_context *context);

/* ---- scaling sums of rows that arrive one by one, each of weight 1 ---- */

#define UC_SCALE_SUMS_PACKED 5 /* numbers per column: count, lowest, highest, mean, sum of squares */

uc_status uc_scale_sums_reserve(uc_scale_sums **sums, size_t cols);
void uc_scale_sums_add_row(uc_scale_sums *self, uc_row row); /* there must be room for its columns */
/* The shift and factor of column j, given the rows so far. */
void uc_scale_sums_column(double *shift, double *factor, const uc_scale_sums *self, uc_scaling scaling,
                          size_t j);
uc_status uc_scale_sums_copy(uc_scale_sums **out, const uc_scale_sums *self);
uint64_t uc_scale_sums_rows(const uc_scale_sums *self);
void uc_scale_sums_pack(double *out, const uc_scale_sums *self);
/* Unpacks sums for as many columns as there is room for; false: the numbers are not valid sums. */
bool uc_scale_sums_unpack(uc_scale_sums *self, uint64_t rows, const double *packed);

/* ---- running scaling (running.c): row t is scaled by what was learned from rows 1 to t ---- */

/* An empty preprocessing learns its scaling from now on; *sums must be freed by uc_scale_sums_free. */
uc_status uc_running_begin(uc_preprocessing *self, uc_scale_sums **sums, uc_scaling scaling);
/* Makes room for rows of `cols` columns. */
uc_status uc_running_widen(uc_preprocessing *self, uc_scale_sums *sums, size_t cols);
/* Adds a row, for which there must be room, and updates shift and factor. */
void uc_running_add(uc_preprocessing *self, uc_scale_sums *sums, uc_row row);
/* Goes back to the sums `before`, an earlier copy with as many columns, and to their scaling; takes over
 * `before`. */
void uc_running_return(uc_preprocessing *self, uc_scale_sums **sums, uc_scale_sums *before);
/* Adds all rows of X, for which there must be room. *out, a new matrix, has each row as scaled when it
 * arrived. */
uc_status uc_running_apply(uc_matrix *out, uc_preprocessing *self, uc_scale_sums *sums, const uc_matrix *X);

/* The part of preprocessing before the map: scaling and --normalize-input; without a map, also --normalize.
 * The result is the row itself, or is in `work`, which may be the row's own values unless there is a
 * shift. */
uc_row uc_prepare_input(const uc_preprocessing *self, uc_row row, float *work);
#define UC_SPARSE_DENSITY 0.25 /* the reader's limit between sparse and dense */
/* UC_ERR_INVALID for a scaling that would turn the zeros of sparse rows into other values. */
uc_status uc_check_sparse_scaling(uc_scaling scaling);
/* A term count v >= 1 becomes 1 + log v; other values stay. */
static inline double uc_damped_count(double v)
{
    return v >= 1.0 ? 1.0 + log(v) : v;
}
/* Whether zeros of a row become other values, so that sparse rows must be made dense first. */
bool uc_preprocessing_shifts(const uc_preprocessing *self);
/* Only scales the row, into `work`. The scaling must know all columns of the row. */
uc_row uc_scale_row(const uc_preprocessing *self, uc_row row, float *work);
/* Scales the row to unit length; a zero row is returned as it is. */
uc_row uc_normalize_row(uc_row row, float *work);

#endif
