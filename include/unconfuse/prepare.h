/* What happens to a row between the file and the weights, at training and at prediction alike:
 * columns that the model does not know are dropped, --scale, --normalize-input, (a map,) --normalize. */
#ifndef UNCONFUSE_PREPARE_H
#define UNCONFUSE_PREPARE_H

#include "unconfuse/dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum uc_scaling {
    UC_SCALE_NONE,
    UC_SCALE_RANGE,    /* every column to [-1, 1]; a constant one becomes 0; dense data only */
    UC_SCALE_STANDARD, /* mean 0, deviation 1; a constant one becomes 0; dense data only */
    UC_SCALE_MAXABS,   /* divided by the largest absolute value: zeros stay zeros */
} uc_scaling;

/* Learned from training data. scaled value = (value - shift[j]) * factor[j]. */
typedef struct uc_steps {
    uc_scaling scaling;
    size_t cols;            /* columns of the data it was learned from */
    double *shift, *factor; /* NULL: no scaling (shift also NULL for maxabs) */
    bool normalize_input;   /* rows to unit length before the map; a zero row stays zero */
    bool normalize;         /* rows to unit length in the space of the weights */
} uc_steps;                 /* zero-initialised: rows are left as they are */

/* Learns the scaling of X's columns. */
uc_status uc_steps_learn(uc_steps *out, uc_scaling scaling, const uc_matrix *X);
/* The same from blocks: begin with a zeroed accumulator, add every block, then finish. */
typedef struct uc_scale_sums uc_scale_sums;
uc_status uc_scale_sums_add(uc_scale_sums **sums, const uc_matrix *block); /* *sums NULL: begins */
uc_status uc_scale_sums_finish(uc_steps *out, uc_scale_sums *sums, uc_scaling scaling, size_t cols);
void uc_scale_sums_free(uc_scale_sums *sums);

bool uc_steps_are_idle(const uc_steps *self); /* nothing to do to a row */
/* Prepares X in place. X must have at most self->cols columns when it is dense and scaled. */
uc_status uc_steps_apply(const uc_steps *self, uc_matrix *X, const uc_context *context);
/* Prepares one row, all of whose columns are known. The result points into `row` itself or into `work`: room for
 * row.count floats, and for self->cols when a shift makes a sparse row dense. `work` may be the row itself. */
uc_row uc_steps_row(const uc_steps *self, uc_row row, float *work);
uc_status uc_steps_copy(uc_steps *out, const uc_steps *self);
void uc_steps_free(uc_steps *self);

#ifdef __cplusplus
}
#endif

#endif
