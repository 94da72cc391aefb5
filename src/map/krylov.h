/* The largest eigenvalues of a symmetric operator, of which only products with vectors are needed. */
#ifndef UC_MAP_KRYLOV_H
#define UC_MAP_KRYLOV_H

#include "linalg/linalg.h"

/* Z (n x width, without gaps) = A Q, where rows of Q are `stride` doubles apart. */
typedef uc_status uc_operator(double *Z, const double *Q, size_t stride, size_t width, void *user);

typedef struct uc_krylov_problem {
    uc_operator *multiply;
    void *user;
    size_t n;         /* A is n x n and positive semidefinite */
    size_t wanted;    /* eigenvalues */
    size_t at_once;   /* vectors multiplied at a time, <= dimension */
    size_t dimension; /* of the space that is searched, wanted <= dimension <= n: larger is more accurate */
    double vanished;  /* eigenvalues below this share of the largest are ignored */
    uint64_t seed;
} uc_krylov_problem;

double uc_krylov_bytes(const uc_krylov_problem *problem); /* without those of the final eigenproblem */
/* Finds values[k], descending, and vectors (n x wanted; column k is the unit eigenvector of values[k]).
 * *found may be less than `wanted` if A has a low rank; the remaining columns are zero. */
uc_status uc_krylov(double *values, double *vectors, size_t *found, const uc_krylov_problem *problem,
                    const uc_context *context);

#endif
