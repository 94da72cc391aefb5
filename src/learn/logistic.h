/* The objective of logistic regression on confused labels (logistic.c); a header for tests, too. */
#ifndef UC_LOGISTIC_H
#define UC_LOGISTIC_H

#include "learn/learner.h"
#include "learn/minimise.h"

#define UC_LOGISTIC_MOST_LANES ((size_t)8)
#define UC_LOGISTIC_ROWS ((size_t)64) /* at once; a dense block of them stays in the cache */

typedef enum uc_correction {
    UC_CORRECTION_AUTO,
    UC_CORRECTION_NONE,
    UC_CORRECTION_FORWARD,
    UC_CORRECTION_BACKWARD
} uc_correction;

/* For two classes one weight vector is enough. With S = 1 it is the difference between those of class 1 and
 * class 0, and the penalty is that of the two vectors that are half of it, with opposite signs. */
typedef struct uc_logistic_problem {
    const uc_dataset *data;
    size_t K, S; /* number of classes, their stride; S = 1: two classes by their difference */
    uc_correction correction;
    const double *C; /* K x K, for `forward` */
    const double *B; /* K x K, its inverse, for `backward` */
    double l2;
    const double *weights; /* of the rows; NULL: all are 1 */
    bool free_offset;      /* row 0 of the weights is learned; otherwise it stays as it is */
    bool started;          /* the search begins at the weights of another model */
    /* For summing the gradient column by column, if there are more columns than rows; NULL: row by row. */
    const uc_matrix *by_column; /* the data, transposed */
    double *residuals;          /* n x S, those of the last gradient */
    /* For summing it in lanes of rows, each with its own sum: lane_count x (1 + d) S; NULL: no lanes. */
    double *lanes;
    size_t lane_count; /* at most UC_LOGISTIC_MOST_LANES */
    /* n x S each, for Newton steps: saved by the gradient for the curvature, and for what follows; NULL: not
     * saved */
    double *probabilities, *scores;
} uc_logistic_problem;

/* The objective at W, (1 + d) x S, and its gradient, which has the same shape. */
uc_status uc_logistic_gradient(double *objective, double *gradient, const double *W,
                               const uc_logistic_problem *self, const uc_context *context);
/* The same; `known`: the problem has the scores at W. */
uc_status uc_logistic_gradient_at(double *objective, double *gradient, const double *W, bool known,
                                  const uc_logistic_problem *self, const uc_context *context);
/* The curvature at the point of the last gradient, times V, which has the same shape; *along becomes the
 * product of this with V. */
uc_status uc_logistic_product(double *product, double *along, const double *V,
                              const uc_logistic_problem *self, const uc_context *context);

/* The factor of |w|^2 / 2. Two classes have weights +-w/2, w being their difference: 2 (w/2)^2 = w^2/2. */
double uc_logistic_penalty(const uc_logistic_problem *self);
/* Newton steps from `weights`; if they do not get close to the minimum, gives up and restores the weights. */
uc_status uc_logistic_newton(uc_minimum *out, double *weights, const uc_logistic_problem *self,
                             const uc_conditioning *conditioning, const uc_logistic_settings *settings,
                             const uc_context *context);

/* Allocates lanes, the transposed data (in *by_column) with residuals, or probabilities and scores, where
 * that is faster (logistic_plan.c). The caller frees them, also after a failure. */
uc_status uc_logistic_plan(uc_logistic_problem *self, uc_matrix *by_column, const uc_fit *fit);

/* ---- for at most UC_LOGISTIC_ROWS rows, from `first` on (logistic_loss.c); `work`: S numbers ---- */

/* Replaces the scores s by the gradient in them; p becomes their softmax. Both have S numbers for each row.
 * Returns the sum of the losses times the weights of the rows; the gradient is without these. */
double uc_logistic_rows_gradient(const uc_logistic_problem *self, double *s, double *p, size_t first,
                                 size_t rows, double *work);
/* Replaces changes of the scores by the resulting changes of the gradient in them. */
void uc_logistic_rows_product(const uc_logistic_problem *self, double *a, const double *p, size_t first,
                              size_t rows, double *work);
/* For `forward`: the second derivative of a row's loss in a score, expected over the observed label, and in
 * the mean over the scores. p has K numbers. */
double uc_logistic_information(const uc_logistic_problem *self, const double *p);
/* Adds the weighted sum of squares of each column. */
void uc_logistic_column_squares(double *sum, const uc_logistic_problem *self);

#endif
