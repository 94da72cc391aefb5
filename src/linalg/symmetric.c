/* Symmetric matrices, given by their lower triangle, over BLAS and LAPACK; one thread each. */
#include <string.h>

#include "linalg/blas.h"
#include "linalg/linalg.h"

static double entry(const double *A, size_t stride, size_t i, size_t j)
{
    return i >= j ? A[i * stride + j] : A[j * stride + i];
}

/* For when there is no buffer for OpenBLAS. Rows and columns of C and X are given by their strides. */
static void multiply_plainly(double *C, size_t c_row, size_t c_column, const double *A, size_t stride,
                             size_t n, const double *X, size_t x_row, size_t x_column, size_t columns)
{
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (size_t l = 0; l < n; l++)
                sum += entry(A, stride, i, l) * X[l * x_row + j * x_column];
            C[i * c_row + j * c_column] = sum;
        }
}

void uc_symmetric_times(double *y, const double *A, size_t stride, size_t n, const double *x)
{
    if (n == 0)
        return;
    if (!uc_blas_enter()) {
        multiply_plainly(y, 1, 1, A, stride, n, x, 1, 1, 1);
        return;
    }
    uc_blas.dsymv(CblasRowMajor, CblasLower, (int)n, 1.0, A, (int)stride, x, 1, 0.0, y, 1);
    uc_blas_leave();
}

void uc_times_symmetric(double *C, const double *X, size_t x_stride, size_t rows, const double *A,
                        size_t stride, size_t n)
{
    if (n == 0 || rows == 0)
        return;
    if (!uc_blas_enter()) {
        multiply_plainly(C, 1, x_stride, A, stride, n, X, 1, x_stride, rows);
        return;
    }
    uc_blas.dsymm(CblasRowMajor, CblasRight, CblasLower, (int)rows, (int)n, 1.0, A, (int)stride, X,
                  (int)x_stride, 0.0, C, (int)x_stride);
    uc_blas_leave();
}

void uc_symmetric_product(double *C, const double *A, size_t stride, size_t n, const double *B,
                          size_t columns)
{
    if (n == 0 || columns == 0)
        return;
    if (!uc_blas_enter()) {
        multiply_plainly(C, columns, 1, A, stride, n, B, columns, 1, columns);
        return;
    }
    uc_blas.dsymm(CblasRowMajor, CblasLeft, CblasLower, (int)n, (int)columns, 1.0, A, (int)stride, B,
                  (int)columns, 0.0, C, (int)columns);
    uc_blas_leave();
}

void uc_symmetric_add(double *A, size_t stride, size_t n, double factor, const double *U, size_t u_stride,
                      size_t rows)
{
    if (n == 0 || rows == 0)
        return;
    if (!uc_blas_enter()) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                for (size_t r = 0; r < rows; r++)
                    A[i * stride + j] += factor * U[r * u_stride + i] * U[r * u_stride + j];
        return;
    }
    uc_blas.dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)n, (int)rows, factor, U, (int)u_stride, 1.0, A,
                  (int)stride);
    uc_blas_leave();
}

/* Our lower triangle is LAPACK's upper one, since it stores matrices by columns. */
uc_status uc_symmetric_invert(double *A, size_t stride, size_t n)
{
    if (n == 0)
        return UC_OK;
    if (!uc_blas_enter())
        return UC_ERR_NOMEM;
    const int size = (int)n, leading = (int)stride;
    int info = 0;
    uc_blas.dpotrf("U", &size, A, &leading, &info, 1);
    if (info == 0)
        uc_blas.dpotri("U", &size, A, &leading, &info, 1);
    uc_blas_leave();
    if (info != 0)
        return uc_fail(UC_ERR_INVALID, "a matrix of %zu rows is not positive definite", n);
    return UC_OK;
}

uc_status uc_symmetric_root(float *L, const double *A, size_t stride, size_t n, double *work)
{
    for (size_t i = 0; i < n; i++)
        memcpy(work + i * n, A + i * stride, (i + 1) * sizeof *work);
    const uc_status status = uc_cholesky(work, n);
    for (size_t i = 0; i < n && status == UC_OK; i++)
        for (size_t j = 0; j <= i; j++)
            L[i * stride + j] = (float)work[i * n + j];
    return status;
}

void uc_times_root(float *X, size_t rows, const float *L, size_t stride, size_t n)
{
    if (n == 0 || rows == 0)
        return;
    if (uc_blas_enter()) {
        uc_blas.strmm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int)rows, (int)n,
                      1.0f, L, (int)stride, X, (int)stride);
        uc_blas_leave();
        return;
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++) { /* entries left of j are no longer needed */
            double sum = 0.0;
            for (size_t l = j; l < n; l++)
                sum += (double)X[i * stride + l] * (double)L[l * stride + j];
            X[i * stride + j] = (float)sum;
        }
}
