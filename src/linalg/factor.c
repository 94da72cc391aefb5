/* Scores of many rows, and small dense matrices by LAPACK. OpenBLAS uses one thread, since our own threads
 * call it for blocks. */
#include <math.h>
#include <string.h>

#include "linalg/blas.h"
#include "linalg/kernels.h"
#include "linalg/linalg.h"
#include "unconfuse/cpu.h"

#define TILE_WEIGHTS ((size_t)2048) /* half of an L1 cache */
#define SHORTEST_TILE ((size_t)64)

const char *uc_cpu_blas(void)
{
    return uc_blas_load() ? uc_blas.get_corename() : "none";
}

/* A tile of the weights stays in the cache while all rows are multiplied by it. BLAS would be no faster, and
 * it sums the classes at the edge of its own tiles in another order, so that classes with equal weights would
 * not tie. */
static void score_dense_rows(double *scores, const uc_matrix *X, size_t first, size_t rows, const double *W,
                             size_t cols, size_t S)
{
    const size_t tile = TILE_WEIGHTS / S > SHORTEST_TILE ? TILE_WEIGHTS / S : SHORTEST_TILE;
    for (size_t start = 0; start < cols; start += tile) {
        const size_t width = uc_min_size(cols - start, tile);
        if (S == 2 && uc_kernels_now()->pair_scores) {
            uc_kernels_now()->pair_scores(scores, X->values + first * X->stride + start, X->stride, rows,
                                          width, W + start * S);
            continue;
        }
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
    const size_t rows = last - first;
    if (!offset)
        memset(scores, 0, rows * S * sizeof *scores);
    for (size_t i = 0; offset && i < rows; i++)
        for (size_t k = 0; k < S; k++)
            scores[i * S + k] = offset[k];
    if (!uc_matrix_is_sparse(X))
        score_dense_rows(scores, X, first, rows, W, uc_min_size(X->cols, cols), S);
    else
        for (size_t i = 0; i < rows; i++)
            uc_row_scores(scores + i * S, uc_known_row(uc_matrix_row(X, first + i), cols), W, S);
}

void uc_score_rows_for_gradient(double *scores, const uc_matrix *X, size_t first, size_t rows,
                                const double *W, size_t S, const double *offset, double *work)
{
    assert(first + rows <= X->rows);
    if (S == 1 && !work) {
        uc_row_dots(scores, X, first, rows, W);
        for (size_t i = 0; i < rows; i++)
            scores[i] += offset[0];
        return;
    }
    for (size_t i = 0; i < rows; i++)
        memcpy(scores + i * S, offset, S * sizeof *offset);
    if (uc_matrix_is_sparse(X) || !work) {
        for (size_t i = 0; i < rows; i++)
            uc_row_scores(scores + i * S, uc_matrix_row(X, first + i), W, S);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        uc_widen(work + i * X->cols, X->values + (first + i) * X->stride, X->cols);
    uc_gemm(scores, S, (uc_operand){work, X->cols, false}, (uc_operand){W, S, false}, rows, X->cols, S, 1.0,
            1.0);
}

void uc_block_update(double *G, const uc_matrix *X, size_t first, size_t rows, size_t S, const double *R,
                     const double *work)
{
    assert(first + rows <= X->rows);
    if (S == 1 && !work && !uc_matrix_is_sparse(X)) {
        uc_rows_combine(G, X, first, rows, R);
        return;
    }
    if (uc_matrix_is_sparse(X) || !work) {
        for (size_t i = 0; i < rows; i++)
            uc_row_update(G, S, uc_matrix_row(X, first + i), R + i * S);
        return;
    }
    uc_gemm(G, S, (uc_operand){work, X->cols, true}, (uc_operand){R, S, false}, X->cols, rows, S, 1.0, 1.0);
}

/* ---- small matrices ---- */

/* LAPACK stores matrices by columns. Returns false if an entry is not a number, since some of LAPACK never
 * ends if it meets one. */
static bool copy_transposed(double *out, const double *A, size_t rows, size_t columns)
{
    bool finite = true;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            out[j * rows + i] = A[i * columns + j];
            finite = finite && !isnan(A[i * columns + j]);
        }
    return finite;
}

static uc_status not_a_number(void)
{
    return uc_fail(UC_ERR_INVALID, "the matrix has an entry that is not a number");
}

uc_status uc_solve(double *X, const double *A, const double *B, size_t n, size_t columns)
{
    double *factors = uc_alloc(n * n, sizeof *factors), *solution = uc_alloc(n * columns, sizeof *solution);
    int *pivots = uc_alloc(n, sizeof *pivots);
    const int size = (int)n, count = (int)columns, leading = size > 1 ? size : 1;
    int info = 0;
    uc_status status = UC_ERR_NOMEM;
    if (!factors || !solution || !pivots || !uc_blas_enter())
        goto cleanup;
    status = UC_OK;
    if (!copy_transposed(factors, A, n, n) || !copy_transposed(solution, B, n, columns))
        status = not_a_number();
    else
        uc_blas.dgesv(&size, &count, factors, &leading, pivots, solution, &leading, &info);
    uc_blas_leave();
    if (info != 0)
        status = uc_fail(UC_ERR_INVALID, "the matrix is singular");
    else if (status == UC_OK)
        (void)copy_transposed(X, solution, columns, n);

cleanup:
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

/* A is stored by columns and is destroyed. */
static uc_status singular_values_by_columns(double *values, double *A, size_t n)
{
    const int size = (int)n, leading = size > 1 ? size : 1, query = -1;
    int info = 0;
    double needed = 0.0;
    uc_blas.dgesvd("N", "N", &size, &size, A, &leading, values, NULL, &leading, NULL, &leading, &needed,
                   &query, &info, 1, 1);
    const int length = (int)needed;
    double *work = uc_alloc((size_t)length, sizeof *work);
    if (!work)
        return uc_fail(UC_ERR_NOMEM, "not enough memory for the singular values of a %zu x %zu matrix", n, n);
    uc_blas.dgesvd("N", "N", &size, &size, A, &leading, values, NULL, &leading, NULL, &leading, work, &length,
                   &info, 1, 1);
    uc_free(work);
    if (info != 0)
        return uc_fail(UC_ERR_DIVERGED, "the singular values of a %zu x %zu matrix did not converge", n, n);
    return UC_OK;
}

uc_status uc_singular_values(double *values, const double *A, size_t n)
{
    double *copy = uc_alloc(n * n, sizeof *copy);
    uc_status status = UC_ERR_NOMEM;
    if (copy && uc_blas_enter()) {
        if (copy_transposed(copy, A, n, n))
            status = singular_values_by_columns(values, copy, n);
        else
            status = not_a_number();
        uc_blas_leave();
    }
    uc_free(copy);
    return status;
}
