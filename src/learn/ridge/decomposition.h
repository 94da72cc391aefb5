/* Ridge regression for every lambda at once, with exact leave-one-out predictions (decomposition.c). */
#ifndef UC_RIDGE_DECOMPOSITION_H
#define UC_RIDGE_DECOMPOSITION_H

#include "parallel/parallel.h"
#include "unconfuse/matrix.h"

/* For one lambda: the Cholesky factor of the sum of squares + lambda, and the weight that each row has on its
 * own prediction, r_i / R left out. */
typedef struct uc_ridge_lambda {
    double lambda;
    double *L;        /* columns x columns, lower */
    double *leverage; /* NULL: not asked for */
} uc_ridge_lambda;

/* The centred rows in coordinates in which their sum of squares is diagonal. Does not depend on targets,
 * so one serves for all of them. */
typedef struct uc_ridge {
    const uc_matrix *X;    /* borrowed: the rows of this process */
    const double *weights; /* borrowed: one per row, > 0; NULL: all 1 */
    const uc_context *context;
    size_t rank;
    double total;        /* sum of the weights of all processes */
    double effective;    /* so many equal rows say as much: (sum r)^2 / sum r^2 */
    double *mean;        /* of the columns */
    double *values;      /* e: `rank` eigenvalues, descending, > 0 */
    double *vectors;     /* V': rank x columns; NULL in the dual form */
    double *coordinates; /* rows x rank, row i has sqrt(r_i) z_i; NULL: too many, found anew for every pass */
    uc_ridge_lambda *factors; /* NULL: it is decomposed, and all lambdas are possible */
    size_t factor_count;
} uc_ridge; /* zero-initialised may be freed */

/* X, weights and context must outlive *out. The dual form is taken for sparse rows with more columns than
 * there are rows. */
uc_status uc_ridge_decompose(uc_ridge *out, const uc_matrix *X, const double *weights,
                             const uc_context *context);
/* The same for these lambdas alone: a Cholesky factor for each of them costs less than a decomposition
 * (factors.c), except in the dual form, which is decomposed here, too. Leave-one-out is possible for the
 * first `left_out` of them. uc_ridge_visit is not. */
uc_status uc_ridge_factor(uc_ridge *out, const uc_matrix *X, const double *weights, const double *lambdas,
                          size_t count, size_t left_out, const uc_context *context);
void uc_ridge_free(uc_ridge *self);

/* Targets as the decomposition sees them. */
typedef struct uc_ridge_targets {
    const double *Y; /* borrowed: rows x count */
    size_t count;    /* K */
    double *mean;    /* of Y, weighted */
    double *B;       /* rank x count: sum of r_i z_i (y_i - mean)' */
} uc_ridge_targets;  /* zero-initialised may be freed */

uc_status uc_ridge_project(uc_ridge_targets *out, const uc_ridge *self, const double *Y, size_t count);
void uc_ridge_targets_free(uc_ridge_targets *self);

/* Visits the leave-one-out predictions of row i for each of the lambdas: L[l * K + k]. Called in any
 * thread; adds to `sum`, which is that of all rows of all processes in the end. */
typedef void uc_ridge_visit_fn(double *sum, size_t i, const double *L, void *user);
uc_status uc_ridge_visit(double *sum, size_t length, const uc_ridge *self, const uc_ridge_targets *targets,
                         const double *lambdas, size_t lambda_count, uc_ridge_visit_fn *visit, void *user);
/* The leave-one-out predictions for one lambda, rows x K. */
uc_status uc_ridge_leave_one_out(double *out, const uc_ridge *self, const uc_ridge_targets *targets,
                                 double lambda);

/* The weights for one lambda: W[j * stride + k] for column j, and offset[k]. */
uc_status uc_ridge_weights(double *W, double *offset, size_t stride, const uc_ridge *self,
                           const uc_ridge_targets *targets, double lambda);

#endif
