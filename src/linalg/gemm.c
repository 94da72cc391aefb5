/* Products, eigenvectors and triangles of dense matrices, handed to BLAS and LAPACK. Matrices are stored row by row;
 * LAPACK, which thinks in columns, is given the transposed problem instead of a copy. */
#include <cblas.h>
#include <lapacke.h>
#include <string.h>

#include "linalg/linalg.h"

static CBLAS_TRANSPOSE turned(uc_block block)
{
    return block.transposed ? CblasTrans : CblasNoTrans;
}

void uc_multiply_blocks(double *C, size_t stride, uc_block A, uc_block B, size_t m, size_t k, size_t n,
                        double alpha, double beta)
{
    if (m == 0 || n == 0)
        return;
    uc_blas_begin();
    cblas_dgemm(CblasRowMajor, turned(A), turned(B), (int)m, (int)n, (int)k, alpha, A.values, (int)A.stride,
                B.values, (int)B.stride, beta, C, (int)stride);
}

void uc_multiply(double *C, const double *A, const double *B, size_t m, size_t k, size_t n)
{
    if (k == 0) {
        memset(C, 0, m * n * sizeof *C);
        return;
    }
    uc_multiply_blocks(C, n, (uc_block){A, k, false}, (uc_block){B, n, false}, m, k, n, 1.0, 0.0);
}

double uc_dot(const double *a, const double *b, size_t n)
{
    uc_blas_begin();
    return cblas_ddot((int)n, a, 1, b, 1);
}

void uc_axpy(double *y, double factor, const double *x, size_t n)
{
    uc_blas_begin();
    cblas_daxpy((int)n, factor, x, 1, y, 1);
}

/* LAPACK returns ascending eigenvalues, eigenvector k in column k: in our rows, row k. */
static void turn_around(double *values, double *vectors, size_t n, size_t count)
{
    for (size_t low = 0, high = count; low + 1 < high; low++) {
        high--;
        const double value = values[low];
        values[low] = values[high];
        values[high] = value;
        for (size_t i = 0; i < n; i++) {
            const double component = vectors[low * n + i];
            vectors[low * n + i] = vectors[high * n + i];
            vectors[high * n + i] = component;
        }
    }
}

uc_status uc_eigen_top(double *values, double *vectors, double *A, size_t n, size_t count)
{
    uc_blas_begin();
    const lapack_int size = (lapack_int)n, lowest = (lapack_int)(n - count + 1);
    lapack_int found = 0, integers_needed = 0, info;
    double reals_needed = 0.0;
    info = LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'L', size, A, size, 0.0, 0.0, lowest, size, 0.0,
                               &found, NULL, NULL, size, NULL, &reals_needed, -1, &integers_needed, -1);
    const size_t reals = (size_t)reals_needed, integers = (size_t)integers_needed;
    double *all_values = uc_alloc(n, sizeof *all_values), *work = uc_alloc(reals, sizeof *work);
    lapack_int *integer_work = uc_alloc(integers, sizeof *integer_work);
    lapack_int *support = uc_alloc(2 * n, sizeof *support);
    uc_status status = UC_ERR_NOMEM;
    if (all_values && work && integer_work && support) {
        if (info == 0)
            info = LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'L', size, A, size, 0.0, 0.0, lowest, size,
                                       0.0, &found, all_values, vectors, size, support, work,
                                       (lapack_int)reals, integer_work, (lapack_int)integers);
        status =
            info == 0 && (size_t)found == count
                ? UC_OK
                : uc_fail(UC_ERR_DIVERGED, "the eigenvalues of a %zu x %zu matrix did not converge", n, n);
    }
    if (status == UC_OK) {
        memcpy(values, all_values, count * sizeof *values);
        turn_around(values, vectors, n, count);
    }
    uc_free(support);
    uc_free(integer_work);
    uc_free(work);
    uc_free(all_values);
    return status;
}

/* Our lower triangle is the upper one of a matrix stored by columns. */
uc_status uc_invert_lower(double *L, size_t n)
{
    uc_blas_begin();
    const lapack_int size = (lapack_int)n;
    if (n > 0 && LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'U', 'N', size, L, size) != 0)
        return uc_fail(UC_ERR_INVALID, "the triangular matrix is singular");
    return UC_OK;
}

/* x' = x' L^-T, all rows at once. */
void uc_solve_lower(double *X, size_t x_stride, size_t rows, const double *L, size_t l_stride, size_t n)
{
    uc_blas_begin();
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)rows, (int)n, 1.0, L,
                (int)l_stride, X, (int)x_stride);
}
