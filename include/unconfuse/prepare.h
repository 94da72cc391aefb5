/* What happens to a row between the file and the weights, at training and at prediction alike:
 * columns that the model does not know are dropped, --scale, --normalize-input, the map, --normalize. */
#ifndef UNCONFUSE_PREPARE_H
#define UNCONFUSE_PREPARE_H

#include "unconfuse/dataset.h"
#include "unconfuse/map.h"

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
typedef struct uc_preprocessing {
    uc_scaling scaling;
    size_t cols;            /* columns of the data it was learned from */
    double *shift, *factor; /* NULL: no scaling (shift also NULL for maxabs) */
    bool normalize_input;   /* rows to unit length before the map; a zero row stays zero */
    uc_map *map;            /* NULL: none */
    bool normalize;         /* rows to unit length in the space of the weights */
} uc_preprocessing;         /* zero-initialised: rows are left as they are */

/* What uc_preprocessing_fit is to learn. */
typedef struct uc_preprocessing_settings {
    uc_scaling scaling;
    bool normalize_input;
    const uc_map_settings *map; /* NULL, or of the kind none: no map */
    bool normalize;
    uint64_t seed; /* of the map */
} uc_preprocessing_settings;

/* Learns scaling and map from X, one after the other, and prepares X with each on the way; with a map X becomes another
 * matrix, and its own arrays are freed. X is of no use after a failure, but still to be freed. */
uc_status uc_preprocessing_fit(uc_preprocessing *out, uc_matrix *X, const uc_preprocessing_settings *settings,
                               const uc_context *context);
/* Learns the scaling of X's columns alone. */
uc_status uc_steps_learn(uc_preprocessing *out, uc_scaling scaling, const uc_matrix *X);
/* The same from blocks: begin with a zeroed accumulator, add every block, then finish. */
typedef struct uc_scale_sums uc_scale_sums;
uc_status uc_scale_sums_add(uc_scale_sums **sums, const uc_matrix *block); /* *sums NULL: begins */
uc_status uc_scale_sums_finish(uc_preprocessing *out, uc_scale_sums *sums, uc_scaling scaling, size_t cols);
void uc_scale_sums_free(uc_scale_sums *sums);

bool uc_preprocessing_is_identity(const uc_preprocessing *self); /* nothing to do to a row */
/* Columns of a row after preprocessing, for raw rows of `cols` columns. */
size_t uc_preprocessing_dimension(const uc_preprocessing *self, size_t cols);
/* Prepares X in place; with a map X becomes another matrix, and its own arrays are freed. X must have at most
 * self->cols columns when it is dense and scaled. */
uc_status uc_preprocessing_apply(const uc_preprocessing *self, uc_matrix *X, const uc_context *context);
/* Prepares one row, all of whose columns are known. The result points into `row` itself or into `work`, which has room
 * for uc_preprocessing_row_work(self, columns of the row) floats, at a multiple of 64 bytes. Without map and shift `work` may
 * be the row's own values. */
size_t uc_preprocessing_row_work(const uc_preprocessing *self, size_t cols);
uc_row uc_preprocessing_row(const uc_preprocessing *self, uc_row row, float *work);
/* For a map that grows (uc_map_begin_landmarks): the row, prepared up to the map, becomes its next landmark; nothing
 * happens when all are there. `work` as above. */
uc_status uc_preprocessing_add_landmark(uc_preprocessing *self, uc_row row, float *work);
/* All rows of X as if they arrived one by one, each before it is prepared: a new matrix, the same bits as uc_preprocessing_add_landmark
 * and uc_preprocessing_row give. Columns that the scaling does not know are dropped. */
uc_status uc_preprocessing_apply_arriving(uc_matrix *out, uc_preprocessing *self, const uc_matrix *X,
                                          const uc_context *context);
uc_status uc_preprocessing_copy(uc_preprocessing *out, const uc_preprocessing *self);
void uc_preprocessing_free(uc_preprocessing *self);

#ifdef __cplusplus
}
#endif

#endif
