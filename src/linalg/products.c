/* Products, eigenvectors and triangles of dense matrices, handed to BLAS and LAPACK. Matrices are stored
 * row by row; LAPACK, which thinks in columns, is given the transposed problem instead of a copy. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

#define VECTORS_PER_JOB ((size_t)64)
#define MOST_ROWS ((size_t)46000) /* LAPACK counts the work of dstedc, n^2 + 4n + 1 numbers, with 32 bits */
#define PANEL ((size_t)32)        /* columns of reflections that are applied together */

static CBLAS_TRANSPOSE turned(uc_operand operand)
{
    return operand.transposed ? CblasTrans : CblasNoTrans;
}

static double entry(uc_operand operand, size_t i, size_t j)
{
    if (operand.transposed)
        return operand.values[j * operand.stride + i];
    return operand.values[i * operand.stride + j];
}

/* For assertions: columns of the operand as stored, when it is rows x columns as used. */
__attribute__((unused)) static size_t used_width(uc_operand operand, size_t rows, size_t columns)
{
    return operand.transposed ? rows : columns;
}

/* For when OpenBLAS cannot have a buffer. */
static void multiply_plainly(double *C, size_t stride, uc_operand A, uc_operand B, size_t m, size_t k,
                             size_t n, double alpha, double beta)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0.0, *c = C + i * stride + j;
            for (size_t l = 0; l < k; l++)
                sum += entry(A, i, l) * entry(B, l, j);
            *c = alpha * sum + (beta == 0.0 ? 0.0 : beta * *c);
        }
}

void uc_gemm(double *C, size_t stride, uc_operand A, uc_operand B, size_t m, size_t k, size_t n, double alpha,
             double beta)
{
    if (m == 0 || n == 0)
        return;
    assert(stride >= n && A.stride >= used_width(A, m, k) && B.stride >= used_width(B, k, n));
    if (!uc_blas_enter()) {
        multiply_plainly(C, stride, A, B, m, k, n, alpha, beta);
        return;
    }
    cblas_dgemm(CblasRowMajor, turned(A), turned(B), (int)m, (int)n, (int)k, alpha, A.values, (int)A.stride,
                B.values, (int)B.stride, beta, C, (int)stride);
    uc_blas_leave();
}

void uc_multiply(double *C, const double *A, const double *B, size_t m, size_t k, size_t n)
{
    if (k == 0) {
        memset(C, 0, m * n * sizeof *C);
        return;
    }
    uc_gemm(C, n, (uc_operand){A, k, false}, (uc_operand){B, n, false}, m, k, n, 1.0, 0.0);
}

double uc_dot(const double *a, const double *b, size_t n)
{
    return cblas_ddot((int)n, a, 1, b, 1);
}

void uc_axpy(double *y, double factor, const double *x, size_t n)
{
    cblas_daxpy((int)n, factor, x, 1, y, 1);
}

/* ---- eigenvalues: A = H T H' with T tridiagonal, and T by divide and conquer ---- */

/* H is the product of reflections, one per column except the last, whose vectors dsytrd leaves below the
 * diagonal of A. They are applied a panel of columns at a time. LAPACK's dormtr does the same, but writes
 * to A meanwhile. */
typedef struct reflections {
    const double *A;
    double *triangles; /* PANEL x PANEL of every panel */
    double *vectors;
    size_t n, count;
} reflections;

static size_t panel_count(const reflections *self)
{
    return (self->n - 1 + PANEL - 1) / PANEL;
}

static size_t panel_width(const reflections *self, size_t panel)
{
    return uc_min_size(self->n - 1 - panel * PANEL, PANEL);
}

static const double *panel_values(const reflections *self, size_t panel)
{
    return self->A + panel * PANEL * self->n + panel * PANEL + 1;
}

static lapack_int make_triangles(reflections *self, const double *factors)
{
    lapack_int info = 0;
    for (size_t p = 0; p < panel_count(self) && info == 0; p++)
        info =
            LAPACKE_dlarft_work(LAPACK_COL_MAJOR, 'F', 'C', (lapack_int)(self->n - 1 - p * PANEL),
                                (lapack_int)panel_width(self, p), panel_values(self, p), (lapack_int)self->n,
                                factors + p * PANEL, self->triangles + p * PANEL * PANEL, (lapack_int)PANEL);
    return info;
}

/* Vectors of T become vectors of A, some at a time. */
static uc_status reflect_job(size_t job, void *user)
{
    const reflections *self = user;
    const uc_range range = uc_block_range(job, self->count, VECTORS_PER_JOB);
    const size_t first = range.first, count = range.last - first;
    double *work = uc_alloc(VECTORS_PER_JOB * PANEL, sizeof *work);
    lapack_int info = 0;
    if (!work || !uc_blas_enter()) {
        uc_free(work);
        return UC_ERR_NOMEM;
    }
    for (size_t p = panel_count(self); p-- > 0 && info == 0;)
        info = LAPACKE_dlarfb_work(
            LAPACK_COL_MAJOR, 'L', 'N', 'F', 'C', (lapack_int)(self->n - 1 - p * PANEL), (lapack_int)count,
            (lapack_int)panel_width(self, p), panel_values(self, p), (lapack_int)self->n,
            self->triangles + p * PANEL * PANEL, (lapack_int)PANEL,
            self->vectors + first * self->n + p * PANEL + 1, (lapack_int)self->n, work, (lapack_int)count);
    uc_blas_leave();
    uc_free(work);
    if (info != 0)
        return uc_fail(UC_ERR_DIVERGED, "the eigenvectors of a matrix cannot be made");
    return UC_OK;
}

static lapack_int make_tridiagonal(double *A, size_t n, double *diagonal, double *off_diagonal,
                                   double *factors)
{
    const lapack_int size = (lapack_int)n;
    double needed = 0.0;
    lapack_int info = LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', size, A, size, diagonal, off_diagonal,
                                          factors, &needed, -1);
    double *work = uc_alloc((size_t)needed, sizeof *work);
    if (!work)
        return LAPACK_WORK_MEMORY_ERROR;
    if (info == 0)
        info = LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', size, A, size, diagonal, off_diagonal, factors,
                                   work, (lapack_int)needed);
    uc_free(work);
    return info;
}

/* The diagonal becomes the eigenvalues, ascending; column k of Z the vector of the k-th. */
static lapack_int solve_tridiagonal(double *diagonal, double *off_diagonal, size_t n, double *Z)
{
    const lapack_int size = (lapack_int)n;
    double reals_needed = 0.0;
    lapack_int integers_needed = 0;
    lapack_int info = LAPACKE_dstedc_work(LAPACK_COL_MAJOR, 'I', size, diagonal, off_diagonal, Z, size,
                                          &reals_needed, -1, &integers_needed, -1);
    double *reals = uc_alloc((size_t)reals_needed, sizeof *reals);
    lapack_int *integers = uc_alloc((size_t)integers_needed, sizeof *integers);
    if (!reals || !integers)
        info = LAPACK_WORK_MEMORY_ERROR;
    if (info == 0)
        info = LAPACKE_dstedc_work(LAPACK_COL_MAJOR, 'I', size, diagonal, off_diagonal, Z, size, reals,
                                   (lapack_int)reals_needed, integers, integers_needed);
    uc_free(integers);
    uc_free(reals);
    return info;
}

uc_status uc_eigen_check(size_t n, double other_bytes, const char *what, const uc_context *context)
{
    if (n > MOST_ROWS)
        return uc_fail(
            UC_ERR_INVALID,
            "%s: the eigenvalues of a %zu x %zu matrix; at most %zu rows can be: lower {dimension}", what, n,
            n, MOST_ROWS);
    return uc_memory_check(context, other_bytes + 2.0 * (double)n * (double)n * sizeof(double), what);
}

static bool are_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

uc_status uc_eigen_top(double *values, double *vectors, double *A, size_t n, size_t count,
                       const uc_context *context)
{
    uc_status status = uc_blas_begin(uc_threads(context));
    if (status != UC_OK)
        return status;
    double *diagonal = uc_alloc(n, sizeof *diagonal), *off_diagonal = uc_alloc(n, sizeof *off_diagonal);
    double *factors = uc_alloc(n, sizeof *factors), *Z = uc_alloc(n * n, sizeof *Z);
    double *triangles = uc_alloc(n + PANEL, PANEL * sizeof *triangles);
    reflections back = {A, triangles, vectors, n, count};
    lapack_int info = diagonal && off_diagonal && factors && Z && triangles ? 0 : LAPACK_WORK_MEMORY_ERROR;
    const bool inside = info == 0 && uc_blas_enter();
    if (!inside)
        info = LAPACK_WORK_MEMORY_ERROR;
    if (inside) {
        info = make_tridiagonal(A, n, diagonal, off_diagonal, factors);
        if (info == 0)
            info = make_triangles(&back, factors);
        if (info == 0)
            info = solve_tridiagonal(diagonal, off_diagonal, n, Z);
        uc_blas_leave();
    }
    for (size_t k = 0; k < count && info == 0; k++) {
        values[k] = diagonal[n - 1 - k];
        memcpy(vectors + k * n, Z + (n - 1 - k) * n, n * sizeof *vectors);
    }
    uc_free(Z);
    status = info == LAPACK_WORK_MEMORY_ERROR ? UC_ERR_NOMEM : UC_OK;
    if (status == UC_OK && (info != 0 || !are_finite(diagonal, n)))
        status = uc_fail(UC_ERR_DIVERGED, "the eigenvalues of a %zu x %zu matrix did not converge", n, n);
    if (status == UC_OK)
        status = uc_run_blocks(context, uc_block_count(count, VECTORS_PER_JOB), reflect_job, &back);
    uc_free(triangles);
    uc_free(factors);
    uc_free(off_diagonal);
    uc_free(diagonal);
    return status;
}

/* Our lower triangle is the upper one of a matrix stored by columns. */
uc_status uc_invert_lower(double *L, size_t n)
{
    const lapack_int size = (lapack_int)n;
    if (n == 0)
        return UC_OK;
    if (!uc_blas_enter())
        return UC_ERR_NOMEM;
    const lapack_int info = LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'U', 'N', size, L, size);
    uc_blas_leave();
    if (info != 0)
        return uc_fail(UC_ERR_INVALID, "the triangular matrix is singular");
    return UC_OK;
}

/* x' = x' L^-T, all rows at once. */
void uc_solve_lower(double *X, size_t x_stride, size_t rows, const double *L, size_t l_stride, size_t n)
{
    if (!uc_blas_enter()) {
        for (size_t r = 0; r < rows; r++)
            for (size_t i = 0; i < n; i++) {
                double *x = X + r * x_stride;
                x[i] = (x[i] - uc_dot(x, L + i * l_stride, i)) / L[i * l_stride + i];
            }
        return;
    }
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)rows, (int)n, 1.0, L,
                (int)l_stride, X, (int)x_stride);
    uc_blas_leave();
}

void uc_add_squares(double *A, const double *X, size_t rows, size_t n)
{
    if (!uc_blas_enter()) {
        multiply_plainly(A, n, (uc_operand){X, n, true}, (uc_operand){X, n, false}, n, rows, n, 1.0, 1.0);
        return;
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)n, (int)rows, 1.0, X, (int)n, 1.0, A, (int)n);
    uc_blas_leave();
}

/* ---- Cholesky ---- */

uc_status uc_cholesky(double *A, size_t n)
{
    if (!uc_blas_enter())
        return uc_fail(UC_ERR_NOMEM, "not enough memory to factor a %zu x %zu matrix", n, n);
    /* our rows are LAPACK's columns, so our lower triangle is its upper one */
    const lapack_int info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (lapack_int)n, A, (lapack_int)n);
    uc_blas_leave();
    if (info > 0)
        return uc_fail(UC_ERR_DIVERGED,
                       "a %zu x %zu matrix is not positive definite: scale the data ({scale})", n, n);
    if (info < 0)
        return uc_fail(UC_ERR_INVALID, "the matrix has an entry that is not a number");
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            A[i * n + j] = 0.0;
    return UC_OK;
}

/* Row x becomes L'^-1 x, by the columns of L. */
static void solve_transposed_plainly(double *x, const double *L, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        x[i] /= L[i * n + i];
        uc_axpy(x, -x[i], L + i * n, i);
    }
}

void uc_solve_cholesky(double *X, size_t rows, const double *L, size_t n)
{
    uc_solve_lower(X, n, rows, L, n, n);
    if (!uc_blas_enter()) {
        for (size_t r = 0; r < rows; r++)
            solve_transposed_plainly(X + r * n, L, n);
        return;
    }
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int)rows, (int)n, 1.0, L,
                (int)n, X, (int)n);
    uc_blas_leave();
}
