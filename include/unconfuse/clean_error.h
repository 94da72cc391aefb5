/* The error of predictions on the true classes, estimated from labels of which some are wrong. */
#ifndef UNCONFUSE_CLEAN_ERROR_H
#define UNCONFUSE_CLEAN_ERROR_H

#include "unconfuse/context.h"
#include "unconfuse/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UC_CLEAN_ERROR_LEVEL 0.9   /* confidence level of the interval */
#define UC_CLEAN_ERROR_WIDE 0.25   /* if the interval is wider, the labels alone cannot tell */
#define UC_CHECKED_HALF_WIDTH 0.03 /* the half-width that checking rows by hand should reach */
#define UC_CLEAN_ERROR_ROWS 10000  /* an estimate uses at most so many rows, drawn at random */

/* Rows with their labels and the scores of a model that was not trained on these labels. All pointers are
 * borrowed. */
typedef struct uc_scored_rows {
    const double *scores;      /* rows x classes */
    bool probabilities;        /* class probabilities; otherwise any scores, of which the highest wins */
    const uint32_t *labels;    /* UC_NONE: no label; `classes` or above: unknown to the model */
    const uint32_t *predicted; /* NULL: the class with the highest score */
    const double *weights;     /* NULL: all are 1 */
    size_t rows, classes;
} uc_scored_rows;

/* Shares in [0, 1]. The interval holds if wrong labels do not depend on the example (docs/evaluate.md). */
typedef struct uc_clean_error {
    double estimate, low, high; /* the share of predictions that are not the true class */
    double noisy;               /* the share of predictions that differ from the given labels */
    double wrong;               /* the share of labels that are wrong, by the same estimate */
    double likeliest_wrong;     /* the same under the single most likely noise, which is often none */
    size_t rows;                /* labelled rows; the estimate may have used fewer of them */
    double strata[2];           /* estimates where the prediction is the label, and where it is not */
    double fit;                 /* log-likelihood of all labels under the most likely hypothesis */
} uc_clean_error;

/* Estimates the error on the true classes from noisy labels alone. Rows without a label are left out. A label
 * that the model does not know counts as an error in the estimate; the interval allows for both right and
 * wrong. Fewer than 20 labelled rows or more than 200 classes tell nothing: the interval is then [0, 1].
 * Works on the rows of this process only. Returns UC_ERR_INVALID if no row has a label. */
uc_status uc_clean_error_estimate(uc_clean_error *out, const uc_scored_rows *rows, const uc_context *context);

/* If at most the share `wrong_at_most` of the labels is wrong and the error against the labels is `noisy`,
 * then the error on the true classes is within bound[0] .. bound[1], whatever the noise is. */
void uc_clean_error_bound(double bound[2], double noisy, double wrong_at_most);
/* Clips the estimate and its interval to the bound. */
void uc_clean_error_cut(uc_clean_error *self, const double bound[2]);

/* The number of rows to check, drawn as by uc_check_draw, for an interval of +- half_width at
 * UC_CLEAN_ERROR_LEVEL: at least 20, at most self->rows, and a multiple of 10 in between. */
size_t uc_rows_to_check(const uc_clean_error *self, double half_width);

#ifdef __cplusplus
}
#endif

#endif
