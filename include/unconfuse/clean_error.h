/* How wrong predictions are on the true classes, from labels of which some are wrong. */
#ifndef UNCONFUSE_CLEAN_ERROR_H
#define UNCONFUSE_CLEAN_ERROR_H

#include "unconfuse/context.h"
#include "unconfuse/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UC_CLEAN_ERROR_LEVEL 0.9   /* of the interval */
#define UC_CLEAN_ERROR_WIDE 0.25   /* a wider interval says: these labels alone cannot tell */
#define UC_CHECKED_HALF_WIDTH 0.03 /* what checking rows by hand should bring it down to, at either side */
#define UC_CLEAN_ERROR_ROWS 10000  /* an estimate looks at no more rows than this, drawn at random */

/* Rows with their labels, and the scores that a model gave them which has not seen those labels. Borrows
 * everything. */
typedef struct uc_scored_rows {
    const double *scores; /* rows x classes */
    bool probabilities; /* they are probabilities of the classes; else any scores, the best is the highest */
    const uint32_t *labels;    /* UC_NONE: none; `classes` or above: one that the model does not know */
    const uint32_t *predicted; /* NULL: the class with the highest score */
    const double *weights;     /* NULL: all are 1 */
    size_t rows, classes;
} uc_scored_rows;

/* Shares in [0, 1]. The interval holds if wrong labels do not depend on the example (docs/evaluate.md). */
typedef struct uc_clean_error {
    double estimate, low, high; /* the share of predictions that are not the true class */
    double noisy;               /* the same against the labels as they are */
    double wrong;               /* the share of labels that are wrong, by the same estimate */
    double likeliest_wrong;     /* the same by the likeliest noise alone, which is often none */
    size_t rows;                /* labelled ones, of which the estimate may have looked at fewer */
    double strata[2];           /* estimates where the prediction is the label, and where it is not */
    double fit;                 /* log-likelihood of all labels by the likeliest hypothesis */
} uc_clean_error;

/* The error on true classes, from noisy labels alone. Rows without a label are left out; a label that the
 * model does not know is an error of the estimate, and may be right or wrong in the interval. Fewer than 20
 * labelled rows, or more than 200 classes, say nothing: low 0, high 1. Rows are those of this process.
 * UC_ERR_INVALID: no row has a label. */
uc_status uc_clean_error_estimate(uc_clean_error *out, const uc_scored_rows *rows, const uc_context *context);

/* What a bound on the share of wrong labels, wrong_at_most, leaves: the error on true classes of rows whose
 * labels show `noisy` is within bound[0] to bound[1], whatever the noise is. */
void uc_clean_error_bound(double bound[2], double noisy, double wrong_at_most);
/* Cuts the estimate and its interval to the bound. */
void uc_clean_error_cut(uc_clean_error *self, const double bound[2]);

/* How many rows to check, drawn as uc_check_draw does, for an interval of +- half_width at
 * UC_CLEAN_ERROR_LEVEL: at least 20, at most self->rows, and a multiple of 10 between. */
size_t uc_rows_to_check(const uc_clean_error *self, double half_width);

#ifdef __cplusplus
}
#endif

#endif
