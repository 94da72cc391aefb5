/* Ridge regression for every lambda at once, with exact leave-one-out predictions (decomposition.c). */
#ifndef UC_RIDGE_DECOMPOSITION_H
#define UC_RIDGE_DECOMPOSITION_H

#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include "unconfuse/matrix.h"

/* For one lambda: the Cholesky factor of the sum of squares + lambda, and for each row its weight in its own
 * prediction, without r_i / R. */
typedef struct uc_ridge_lambda {
    double lambda;
    double *L;        /* columns x columns, lower; NULL: the lambdas have a tridiagonal form in common */
    double *leverage; /* NULL: not needed */
} uc_ridge_lambda;

/* For several lambdas: the sum of squares made tridiagonal, and factors of it + each lambda, `padded` numbers
 * for each column (uc_tridiagonal_factor). */
typedef struct uc_ridge_shared {
    uc_tridiagonal T;
    double *squares; /* what T borrows */
    double *ratios, *inverses;
    size_t padded;
} uc_ridge_shared;

/* The centred rows, in coordinates in which their sum of squares is diagonal. It does not depend on targets,
 * so one decomposition serves all of them. */
typedef struct uc_ridge {
    const uc_matrix *X;    /* borrowed: the rows of this process */
    const double *weights; /* borrowed: one per row, > 0; NULL: all 1 */
    const uc_context *context;
    size_t rank;
    double total;        /* sum of the weights of all processes */
    double effective;    /* the number of equal rows that are as informative: (sum r)^2 / sum r^2 */
    double *mean;        /* of the columns */
    double *values;      /* e: `rank` eigenvalues, descending, > 0 */
    double *vectors;     /* V': rank x columns; NULL in the dual form */
    double *coordinates; /* rows x rank, row i is sqrt(r_i) z_i; NULL: too many, recomputed in each pass */
    uc_ridge_lambda *factors; /* NULL: decomposed, and any lambda is possible */
    size_t factor_count;
    uc_ridge_shared shared; /* used if the factors have no L */
} uc_ridge;                 /* may be freed if zero-initialised */

/* X, weights and context must outlive *out. Sparse rows with more columns than there are rows get the dual
 * form. */
uc_status uc_ridge_decompose(uc_ridge *out, const uc_matrix *X, const double *weights,
                             const uc_context *context);
/* The same for these lambdas alone: Cholesky factors, or a tridiagonal form for more than two of them, cost
 * less than a decomposition (factors.c), except in the dual form, which is decomposed here as well.
 * Leave-one-out predictions are possible for the first `left_out` lambdas; uc_ridge_visit is not possible. */
uc_status uc_ridge_factor(uc_ridge *out, const uc_matrix *X, const double *weights, const double *lambdas,
                          size_t count, size_t left_out, const uc_context *context);
void uc_ridge_free(uc_ridge *self);

/* Targets, projected on a decomposition. */
typedef struct uc_ridge_targets {
    const double *Y; /* borrowed: rows x count */
    size_t count;    /* K */
    double *mean;    /* of Y, weighted */
    double *B;       /* rank x count: sum of r_i z_i (y_i - mean)'; with a tridiagonal form, times H' */
} uc_ridge_targets;  /* may be freed if zero-initialised */

uc_status uc_ridge_project(uc_ridge_targets *out, const uc_ridge *self, const double *Y, size_t count);
void uc_ridge_targets_free(uc_ridge_targets *self);

/* Gets the leave-one-out predictions L[l * K + k] of row i for each lambda l. Called in any thread; adds to
 * `sum`, which finally is the sum over the rows of all processes. */
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
