/* Scores of many rows, and small dense matrices by LAPACK. OpenBLAS runs one thread: our own pool gives it
 * blocks. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "unconfuse/cpu.h"

#define TILE_WEIGHTS ((size_t)2048) /* half of a first cache */
#define SHORTEST_TILE ((size_t)64)

const char *uc_cpu_blas(void)
{
    return openblas_get_corename();
}

/* A tile of the weights stays in the cache while all rows are multiplied by it. BLAS would be no faster,
 * and sums the classes at the edge of its own tiles in another order: classes with equal weights would not
 * tie. */
static void score_dense_rows(double *scores, const uc_matrix *X, size_t first, size_t rows, const double *W,
                             size_t cols, size_t S)
{
    const size_t tile = TILE_WEIGHTS / S > SHORTEST_TILE ? TILE_WEIGHTS / S : SHORTEST_TILE;
    for (size_t start = 0; start < cols; start += tile) {
        const size_t width = uc_min_size(cols - start, tile);
        for (size_t i = 0; i < rows; i++) {
            const float *values = X->values + (first + i) * X->stride + start;
            uc_row_scores(scores + i * S, (uc_row){width, values, NULL}, W + start * S, S);
        }
    }
}

void uc_score_rows(double *scores, const uc_matrix *X, size_t first, size_t last, const double *W,
                   size_t cols, size_t S, const double *offset)
{
    assert(first <= last && last <= X->rows);
    for (size_t i = first; i < last; i++) {
        double *row_scores = scores + (i - first) * S;
        if (offset)
            memcpy(row_scores, offset, S * sizeof *offset);
        else
            memset(row_scores, 0, S * sizeof *row_scores);
        if (uc_matrix_is_sparse(X))
            uc_row_scores(row_scores, uc_known_row(uc_matrix_row(X, i), cols), W, S);
    }
    if (!uc_matrix_is_sparse(X))
        score_dense_rows(scores, X, first, last - first, W, uc_min_size(X->cols, cols), S);
}

void uc_score_rows_for_gradient(double *scores, const uc_matrix *X, size_t first, size_t rows,
                                const double *W, size_t S, const double *offset, double *work)
{
    assert(first + rows <= X->rows);
    for (size_t i = 0; i < rows; i++)
        memcpy(scores + i * S, offset, S * sizeof *offset);
    if (uc_matrix_is_sparse(X)) {
        for (size_t i = 0; i < rows; i++)
            uc_row_scores(scores + i * S, uc_matrix_row(X, first + i), W, S);
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        const float *values = X->values + (first + i) * X->stride;
        for (size_t j = 0; j < X->cols; j++)
            work[i * X->cols + j] = values[j];
    }
    uc_gemm(scores, S, (uc_operand){work, X->cols, false}, (uc_operand){W, S, false}, rows, X->cols, S, 1.0,
            1.0);
}

void uc_block_update(double *G, const uc_matrix *X, size_t first, size_t rows, size_t S, const double *R,
                     const double *work)
{
    assert(first + rows <= X->rows);
    if (uc_matrix_is_sparse(X)) {
        for (size_t i = 0; i < rows; i++)
            uc_row_update(G, S, uc_matrix_row(X, first + i), R + i * S);
        return;
    }
    uc_gemm(G, S, (uc_operand){work, X->cols, true}, (uc_operand){R, S, false}, X->cols, rows, S, 1.0, 1.0);
}

/* ---- small matrices ---- */

static uc_status solve_status(lapack_int info, size_t n)
{
    if (info == 0)
        return UC_OK;
    if (info > 0)
        return uc_fail(UC_ERR_INVALID, "the matrix is singular");
    return uc_fail(UC_ERR_NOMEM, "not enough memory to solve %zu equations", n);
}

uc_status uc_solve(double *X, const double *A, const double *B, size_t n, size_t columns)
{
    double *factors = uc_alloc(n * n, sizeof *factors), *solution = uc_alloc(n * columns, sizeof *solution);
    lapack_int *pivots = uc_alloc(n, sizeof *pivots);
    uc_status status = UC_ERR_NOMEM;
    if (factors && solution && pivots && uc_blas_enter()) {
        memcpy(factors, A, n * n * sizeof *A);
        memcpy(solution, B, n * columns * sizeof *B);
        const lapack_int info = LAPACKE_dgesv(LAPACK_ROW_MAJOR, (lapack_int)n, (lapack_int)columns, factors,
                                              (lapack_int)n, pivots, solution, (lapack_int)columns);
        uc_blas_leave();
        status = solve_status(info, n);
        if (status == UC_OK)
            memcpy(X, solution, n * columns * sizeof *X);
    }
    uc_free(pivots);
    uc_free(solution);
    uc_free(factors);
    return status;
}

uc_status uc_invert(double *inverse, const double *A, size_t n)
{
    double *identity = uc_alloc(n * n, sizeof *identity);
    if (!identity)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        identity[i * n + i] = 1.0;
    const uc_status status = uc_solve(inverse, A, identity, n, n);
    uc_free(identity);
    return status;
}

static uc_status singular_values_status(lapack_int info, size_t n)
{
    if (info == 0)
        return UC_OK;
    if (info > 0)
        return uc_fail(UC_ERR_DIVERGED, "the singular values of a %zu x %zu matrix did not converge", n, n);
    if (info <= LAPACK_WORK_MEMORY_ERROR)
        return uc_fail(UC_ERR_NOMEM, "not enough memory for the singular values of a %zu x %zu matrix", n, n);
    return uc_fail(UC_ERR_INVALID, "the matrix has an entry that is not a number");
}

uc_status uc_singular_values(double *values, const double *A, size_t n)
{
    double *copy = uc_alloc(n * n, sizeof *copy), *superdiagonal = uc_alloc(n, sizeof *superdiagonal);
    uc_status status = UC_ERR_NOMEM;
    if (copy && superdiagonal && uc_blas_enter()) {
        memcpy(copy, A, n * n * sizeof *A);
        const lapack_int size = (lapack_int)n;
        const lapack_int info = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'N', size, size, copy, size, values,
                                               NULL, size, NULL, size, superdiagonal);
        uc_blas_leave();
        status = singular_values_status(info, n);
    }
    uc_free(superdiagonal);
    uc_free(copy);
    return status;
}
