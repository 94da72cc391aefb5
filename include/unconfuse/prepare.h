/* Preprocessing: what happens to a row before the weights are applied, both in training and in prediction.
 * The order is: readers encode the columns of a table (unconfuse/table.h); columns that the model does not
 * know are dropped; --scale; --normalize-input; the feature map; --normalize. Instead of one map there may be
 * several views of the row, each with its own preprocessing, whose results are concatenated. */
#ifndef UNCONFUSE_PREPARE_H
#define UNCONFUSE_PREPARE_H

#include "unconfuse/dataset.h"
#include "unconfuse/map.h"
#include "unconfuse/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum uc_scaling {
    UC_SCALE_NONE,
    UC_SCALE_RANGE,     /* every column to [-1, 1]; a constant column becomes 0; dense data only */
    UC_SCALE_STANDARD,  /* mean 0, standard deviation 1; a constant column becomes 0; dense data only */
    UC_SCALE_MAXABS,    /* every column is divided by its largest absolute value; zeros stay zeros */
    UC_SCALE_NUMBERS,   /* as standard, but columns of only 0 and 1 stay as they are; dense data only */
    UC_SCALE_AUTO,      /* chosen before training (uc_tune_and_train): none, numbers or standard */
    UC_SCALE_TERMS,     /* made by a learner (onebit): v >= 1 becomes 1 + log v, times a weight per column */
    UC_SCALE_RELEVANCE, /* made by auto: standardised, weighted by what columns tell about the labels */
} uc_scaling;

/* Learned from training data. The scaled value is (value - shift[j]) * factor[j] or, where bend[j] > 0,
 * asinh((value - shift[j]) * bend[j]) * factor[j]. */
typedef struct uc_preprocessing {
    uc_scaling scaling;
    uc_table *table;                /* how a table became these columns; NULL: the data are not a table */
    size_t cols;                    /* columns of the training data */
    double *shift, *factor;         /* NULL: no scaling (shift also NULL for maxabs) */
    double *bend;                   /* for UC_SCALE_RELEVANCE and dense rows; NULL: no column is bent */
    bool root;                      /* every value v becomes sign(v) sqrt|v|, after the scaling */
    bool normalize_input;           /* rows to unit length before the map; a zero row stays zero */
    uc_map *map;                    /* NULL: none */
    bool normalize;                 /* rows to unit length after the map */
    struct uc_preprocessing *views; /* in place of a map: each view has a map and no views itself; NULL:
                                       none */
    size_t view_count;
} uc_preprocessing; /* zero-initialised: rows are left as they are */

/* What uc_preprocessing_fit learns. */
typedef struct uc_preprocessing_settings {
    uc_scaling scaling;
    bool normalize_input;
    const uc_map_settings *map; /* NULL, or UC_MAP_NONE: no map */
    bool normalize;
    uint64_t seed;                     /* for the map's random choices */
    const double *weights;             /* of the rows, > 0, for the scaling and the map; NULL: all are 1 */
    const uc_preprocessing *relevance; /* the scaling to use with UC_SCALE_RELEVANCE */
} uc_preprocessing_settings;

/* Learns the scaling and then the map from X, and applies both to X. With a map, X becomes another matrix and
 * its previous arrays are freed. After a failure the contents of X are undefined, but the caller must still
 * free it. */
uc_status uc_preprocessing_fit(uc_preprocessing *out, uc_matrix *X, const uc_preprocessing_settings *settings,
                               const uc_context *context);
/* Learns only the scaling, from data that come in several matrices: start with *sums NULL, add every matrix,
 * then finish. */
typedef struct uc_scale_sums uc_scale_sums;
uc_status uc_scale_sums_add(uc_scale_sums **sums, const uc_matrix *X,
                            const double *weights); /* of the rows; NULL: all are 1 */
uc_status uc_scale_sums_finish(uc_preprocessing *out, uc_scale_sums *sums, uc_scaling scaling, size_t cols);
void uc_scale_sums_free(uc_scale_sums *sums);

/* Scaling by relevance. It is learned from rows that all have labels and are dense, or are sparse rows of a
 * table with text columns. */
typedef struct uc_relevance {
    uc_preprocessing steps; /* only scaling; free it with uc_preprocessing_free */
    bool clear;             /* some column is clearly informative; otherwise columns are not weighted */
    size_t kept;            /* if so, the number of columns with a factor above 0 */
    double distance2;       /* the mean squared distance between two scaled rows */
} uc_relevance;
uc_status uc_relevance_learn(uc_relevance *out, const uc_dataset *rows, const uc_context *context);

bool uc_preprocessing_is_identity(const uc_preprocessing *self); /* rows are left as they are */
/* The number of columns after preprocessing, for raw rows of `cols` columns. */
size_t uc_preprocessing_dimension(const uc_preprocessing *self, size_t cols);
/* Preprocesses X in place. With a map, X becomes another matrix and its previous arrays are freed. With
 * scaling, X must have at most self->cols columns. */
uc_status uc_preprocessing_apply(const uc_preprocessing *self, uc_matrix *X, const uc_context *context);
/* Preprocesses one row, all of whose columns must be known. The result points into `row` itself or into
 * `work`, which has room for uc_preprocessing_row_work(self, columns of the row) floats and is aligned to 64
 * bytes. Without map and shift, `work` may be the row's own values. */
size_t uc_preprocessing_row_work(const uc_preprocessing *self, size_t cols);
uc_row uc_preprocessing_row(const uc_preprocessing *self, uc_row row, float *work);
/* For a map that grows (uc_map_begin_landmarks): adds the row, preprocessed up to the map, as the next
 * landmark. Does nothing once the map has all of them. `work` as above. */
uc_status uc_preprocessing_add_landmark(uc_preprocessing *self, uc_row row, float *work);
/* Preprocesses all rows of X as if they arrived one by one; while the map grows, each row is first added as a
 * landmark. *out is a new matrix with the same bits as uc_preprocessing_add_landmark and uc_preprocessing_row
 * give. Columns that the scaling does not know are dropped. */
uc_status uc_preprocessing_apply_arriving(uc_matrix *out, uc_preprocessing *self, const uc_matrix *X,
                                          const uc_context *context);
uc_status uc_preprocessing_copy(uc_preprocessing *out, const uc_preprocessing *self);
void uc_preprocessing_free(uc_preprocessing *self);

#ifdef __cplusplus
}
#endif

#endif
