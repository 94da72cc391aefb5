/* The objective of logistic regression on confused labels (logistic.c); also for who tests it. */
#ifndef UC_LOGISTIC_H
#define UC_LOGISTIC_H

#include "learn/learner.h"

#define UC_LOGISTIC_LANES ((size_t)8)

typedef enum uc_correction {
    UC_CORRECTION_AUTO,
    UC_CORRECTION_NONE,
    UC_CORRECTION_FORWARD,
    UC_CORRECTION_BACKWARD
} uc_correction;

/* Of two classes one vector of weights is enough: with S = 1 it is that of class 1 less that of class 0, and
 * the penalty is that of the two which are half of it, with either sign. */
typedef struct uc_logistic_problem {
    const uc_dataset *data;
    size_t K, S; /* classes, their stride; S = 1: two classes by their difference */
    uc_correction correction;
    const double *C; /* K x K; forward */
    const double *B; /* K x K, its inverse; backward */
    double l2;
    const double *weights; /* of the rows; NULL: all are 1 */
    bool free_offset;      /* row 0 of the weights is learned; else it stays */
    /* To add the gradient up column by column, where there are more of these than rows; NULL: row by row. */
    const uc_matrix *by_column; /* the data, transposed */
    double *residuals;          /* n x S, of the last gradient */
    /* To add it up in lanes of rows, each with a sum of its own, UC_LOGISTIC_LANES x (1 + d) S; NULL: not. */
    double *lanes;
    double *probabilities; /* n x S: kept by the gradient for the curvature; NULL: not kept */
} uc_logistic_problem;

/* The objective at W, (1 + d) x S, and its gradient, of the same shape. */
uc_status uc_logistic_gradient(double *objective, double *gradient, const double *W,
                               const uc_logistic_problem *self, const uc_context *context);
/* The curvature where the gradient was taken last, times V, of the same shape. */
uc_status uc_logistic_product(double *product, const double *V, const uc_logistic_problem *self,
                              const uc_context *context);

/* ---- one row (logistic_loss.c); `work` has room for K ---- */

/* Scores s of row `row` become the gradient in them, p gets their softmax; returns the loss. */
double uc_logistic_row_gradient(const uc_logistic_problem *self, double *s, double *p, size_t row,
                                double *work);
/* What the scores change by along a direction becomes what the gradient in them does. */
void uc_logistic_row_product(const uc_logistic_problem *self, double *a, const double *p, size_t row,
                             double *work);
/* Adds, of each column, the squares of its values, by the weights of the rows. */
void uc_logistic_column_squares(double *sum, const uc_logistic_problem *self);

#endif
