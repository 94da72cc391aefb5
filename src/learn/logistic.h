/* The objective of logistic regression on confused labels (logistic.c); also for who tests it. */
#ifndef UC_LOGISTIC_H
#define UC_LOGISTIC_H

#include "learn/learner.h"

typedef enum uc_correction {
    UC_CORRECTION_AUTO,
    UC_CORRECTION_NONE,
    UC_CORRECTION_FORWARD,
    UC_CORRECTION_BACKWARD
} uc_correction;

typedef struct uc_logistic_problem {
    const uc_dataset *data;
    size_t K, S; /* classes, their stride */
    uc_correction correction;
    const double *C; /* K x K; forward */
    const double *B; /* K x K, its inverse; backward */
    double l2;
    const double *weights; /* of the rows; NULL: all are 1 */
    bool free_offset;      /* row 0 of the weights is learned; else it stays */
    /* To add the gradient up column by column, where there are more of these than rows; NULL: row by row. */
    const uc_matrix *by_column; /* the data, transposed */
    double *residuals;          /* n x S, of the last gradient */
} uc_logistic_problem;

/* The objective at W, (1 + d) x S, and its gradient, of the same shape. */
uc_status uc_logistic_gradient(double *objective, double *gradient, const double *W,
                               const uc_logistic_problem *self, const uc_context *context);

#endif
