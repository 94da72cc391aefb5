/* Products, eigenvectors and triangles of dense matrices by BLAS and LAPACK. Our matrices are stored by rows
 * and those of LAPACK by columns, so LAPACK gets the transposed problem instead of a copy. */
#include <math.h>
#include <string.h>

#include "linalg/blas.h"
#include "linalg/linalg.h"

#define VECTORS_PER_JOB ((size_t)64)
#define MOST_ROWS ((size_t)46000) /* LAPACK counts the work of dstedc, n^2 + 4n + 1 numbers, with 32 bits */
#define PANEL ((size_t)32)        /* columns of reflections that are applied together */
#define ROUNDING 1e-14            /* of the largest entry: less than this is no number to divide by */
#define NO_MEMORY (-1000)         /* a value that LAPACK never returns */

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

/* For assertions: the columns of the operand as stored, if it is rows x columns as used. */
__attribute__((unused)) static size_t used_width(uc_operand operand, size_t rows, size_t columns)
{
    return operand.transposed ? rows : columns;
}

/* For when there is no buffer for OpenBLAS. */
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
    uc_blas.dgemm(CblasRowMajor, turned(A), turned(B), (int)m, (int)n, (int)k, alpha, A.values, (int)A.stride,
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

static void multiply_single_plainly(float *C, uc_single_operand A, uc_single_operand B, size_t m, size_t k,
                                    size_t n)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (size_t l = 0; l < k; l++) {
                const size_t a = A.transposed ? l * A.stride + i : i * A.stride + l;
                const size_t b = B.transposed ? j * B.stride + l : l * B.stride + j;
                sum += (double)A.values[a] * (double)B.values[b];
            }
            C[i * n + j] = (float)sum;
        }
}

void uc_gemm_single(float *C, uc_single_operand A, uc_single_operand B, size_t m, size_t k, size_t n)
{
    if (m == 0 || n == 0)
        return;
    if (!uc_blas_enter()) {
        multiply_single_plainly(C, A, B, m, k, n);
        return;
    }
    uc_blas.sgemm(CblasRowMajor, A.transposed ? CblasTrans : CblasNoTrans,
                  B.transposed ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, 1.0f, A.values,
                  (int)A.stride, B.values, (int)B.stride, 0.0f, C, (int)n);
    uc_blas_leave();
}

double uc_dot(const double *a, const double *b, size_t n)
{
    if (uc_blas_load())
        return uc_blas.ddot((int)n, a, 1, b, 1);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

void uc_axpy(double *y, double factor, const double *x, size_t n)
{
    if (uc_blas_load()) {
        uc_blas.daxpy((int)n, factor, x, 1, y, 1);
        return;
    }
    for (size_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

/* ---- A = H T H' with T tridiagonal ---- */

/* H is the product of reflections, one per column except the last, whose vectors dsytrd leaves below the
 * diagonal of A. They are applied a panel of columns at a time. LAPACK's dormtr does the same, but writes
 * to A meanwhile. */

static size_t panel_count(const uc_tridiagonal *self)
{
    return (self->n - 1 + PANEL - 1) / PANEL;
}

static size_t panel_width(const uc_tridiagonal *self, size_t panel)
{
    return uc_min_size(self->n - 1 - panel * PANEL, PANEL);
}

static const double *panel_values(const uc_tridiagonal *self, size_t panel)
{
    return self->A + panel * PANEL * self->n + panel * PANEL + 1;
}

static void make_triangles(uc_tridiagonal *self, const double *factors)
{
    const int leading = (int)self->n, side = (int)PANEL;
    for (size_t p = 0; p < panel_count(self); p++) {
        const int rows = (int)(self->n - 1 - p * PANEL), width = (int)panel_width(self, p);
        uc_blas.dlarft("F", "C", &rows, &width, panel_values(self, p), &leading, factors + p * PANEL,
                       self->triangles + p * PANEL * PANEL, &side, 1, 1);
    }
}

/* Applies the reflections of a panel to `count` vectors; `work` has room for count x PANEL numbers. */
static void reflect_panel(double *vectors, int count, const uc_tridiagonal *self, size_t p, bool back,
                          double *work)
{
    const int leading = (int)self->n, side = (int)PANEL;
    const int rows = (int)(self->n - 1 - p * PANEL), width = (int)panel_width(self, p);
    uc_blas.dlarfb("L", back ? "N" : "T", "F", "C", &rows, &count, &width, panel_values(self, p), &leading,
                   self->triangles + p * PANEL * PANEL, &side, vectors + 1 + p * PANEL, &leading, work,
                   &count, 1, 1, 1, 1);
}

uc_status uc_tridiagonal_reflect(double *X, size_t rows, const uc_tridiagonal *self, bool back)
{
    double *work = uc_alloc(VECTORS_PER_JOB * PANEL, sizeof *work);
    if (!work || !uc_blas_enter()) {
        uc_free(work);
        return UC_ERR_NOMEM;
    }
    const size_t panels = panel_count(self);
    for (size_t first = 0; first < rows; first += VECTORS_PER_JOB) {
        const int count = (int)uc_min_size(rows - first, VECTORS_PER_JOB);
        for (size_t p = 0; p < panels; p++)
            reflect_panel(X + first * self->n, count, self, back ? panels - 1 - p : p, back, work);
    }
    uc_blas_leave();
    uc_free(work);
    return UC_OK;
}

static int make_tridiagonal(double *A, size_t n, double *diagonal, double *off_diagonal, double *factors)
{
    const int size = (int)n, query = -1;
    int info = 0;
    double needed = 0.0;
    uc_blas.dsytrd("L", &size, A, &size, diagonal, off_diagonal, factors, &needed, &query, &info, 1);
    const int length = (int)needed;
    double *work = uc_alloc((size_t)length, sizeof *work);
    if (!work)
        return NO_MEMORY;
    uc_blas.dsytrd("L", &size, A, &size, diagonal, off_diagonal, factors, work, &length, &info, 1);
    uc_free(work);
    return info;
}

uc_status uc_tridiagonalise(uc_tridiagonal *out, double *A, size_t n)
{
    uc_tridiagonal self = {.A = A, .n = n};
    double *factors = uc_alloc(n, sizeof *factors);
    self.diagonal = uc_alloc(n, sizeof *self.diagonal);
    self.off_diagonal = uc_alloc(n, sizeof *self.off_diagonal);
    self.triangles = uc_alloc(n + PANEL, PANEL * sizeof *self.triangles);
    int info = NO_MEMORY;
    if (factors && self.diagonal && self.off_diagonal && self.triangles && uc_blas_enter()) {
        info = make_tridiagonal(A, n, self.diagonal, self.off_diagonal, factors);
        if (info == 0)
            make_triangles(&self, factors);
        uc_blas_leave();
    }
    uc_free(factors);
    if (info == 0) {
        *out = self;
        return UC_OK;
    }
    uc_tridiagonal_free(&self);
    return UC_ERR_NOMEM; /* dsytrd fails for bad arguments only */
}

void uc_tridiagonal_free(uc_tridiagonal *self)
{
    uc_free(self->triangles);
    uc_free(self->diagonal);
    uc_free(self->off_diagonal);
    *self = (uc_tridiagonal){0};
}

void uc_tridiagonal_factor(double *ratios, double *inverses, const uc_tridiagonal *self, const double *shifts,
                           size_t count)
{
    const size_t P = uc_quads(count) * UC_LANES;
    double largest = 0.0;
    for (size_t j = 0; j < self->n; j++)
        largest = fmax(largest, self->diagonal[j]);
    for (size_t s = 0; s < count; s++) {
        double before = 1.0; /* D[j - 1] */
        for (size_t j = 0; j < self->n; j++) {
            const double off = j > 0 ? self->off_diagonal[j - 1] : 0.0, ratio = off / before;
            before = fmax(self->diagonal[j] + shifts[s] - ratio * off, ROUNDING * largest);
            ratios[j * P + s] = ratio;
            inverses[j * P + s] = 1.0 / before;
        }
    }
}

void uc_tridiagonal_solve(double *X, size_t rows, size_t n, const double *ratios, const double *inverses,
                          size_t P)
{
    for (size_t r = 0; r < rows; r++) {
        double *x = X + r * n;
        for (size_t j = 1; j < n; j++)
            x[j] -= ratios[j * P] * x[j - 1];
        for (size_t j = 0; j < n; j++)
            x[j] *= inverses[j * P];
        for (size_t j = n - 1; j-- > 0;)
            x[j] -= ratios[(j + 1) * P] * x[j + 1];
    }
}

/* ---- eigenvalues: those of T by divide and conquer ---- */

typedef struct reflect_vectors {
    const uc_tridiagonal *T;
    double *vectors;
    size_t count;
} reflect_vectors;

/* Turns some eigenvectors of T into those of A. */
static uc_status reflect_job(size_t job, void *user)
{
    const reflect_vectors *self = user;
    const uc_range range = uc_block_range(job, self->count, VECTORS_PER_JOB);
    return uc_tridiagonal_reflect(self->vectors + range.first * self->T->n, range.last - range.first, self->T,
                                  true);
}

/* Replaces the diagonal by the eigenvalues, ascending. LAPACK's column k of Z becomes the k-th
 * eigenvector. */
static int solve_tridiagonal(double *diagonal, double *off_diagonal, size_t n, double *Z)
{
    const int size = (int)n, query = -1;
    int info = 0, integers_length = 0;
    double needed = 0.0;
    uc_blas.dstedc("I", &size, diagonal, off_diagonal, Z, &size, &needed, &query, &integers_length, &query,
                   &info, 1);
    const int length = (int)needed;
    double *reals = uc_alloc((size_t)length, sizeof *reals);
    int *integers = uc_alloc((size_t)integers_length, sizeof *integers);
    if (reals && integers)
        uc_blas.dstedc("I", &size, diagonal, off_diagonal, Z, &size, reals, &length, integers,
                       &integers_length, &info, 1);
    else
        info = NO_MEMORY;
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
    uc_tridiagonal T = {0};
    uc_status status = uc_blas_begin(uc_threads(context));
    if (status == UC_OK)
        status = uc_tridiagonalise(&T, A, n);
    if (status != UC_OK)
        return status;
    double *Z = uc_alloc(n * n, sizeof *Z);
    int info = NO_MEMORY;
    if (Z && uc_blas_enter()) {
        info = solve_tridiagonal(T.diagonal, T.off_diagonal, n, Z);
        uc_blas_leave();
    }
    for (size_t k = 0; k < count && info == 0; k++) {
        values[k] = T.diagonal[n - 1 - k];
        memcpy(vectors + k * n, Z + (n - 1 - k) * n, n * sizeof *vectors);
    }
    uc_free(Z);
    status = info == NO_MEMORY ? UC_ERR_NOMEM : UC_OK;
    if (status == UC_OK && (info != 0 || !are_finite(T.diagonal, n)))
        status = uc_fail(UC_ERR_DIVERGED, "the eigenvalues of a %zu x %zu matrix did not converge", n, n);
    reflect_vectors back = {&T, vectors, count};
    if (status == UC_OK)
        status = uc_run_blocks(context, uc_block_count(count, VECTORS_PER_JOB), reflect_job, &back);
    uc_tridiagonal_free(&T);
    return status;
}

/* Our lower triangle is LAPACK's upper one, since it stores matrices by columns. */
uc_status uc_invert_lower(double *L, size_t n)
{
    const int size = (int)n;
    int info = 0;
    if (n == 0)
        return UC_OK;
    if (!uc_blas_enter())
        return UC_ERR_NOMEM;
    uc_blas.dtrtri("U", "N", &size, L, &size, &info, 1, 1);
    uc_blas_leave();
    if (info != 0)
        return uc_fail(UC_ERR_INVALID, "the triangular matrix is singular");
    return UC_OK;
}

/* For all rows at once: x' becomes x' L'^-1. */
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
    uc_blas.dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)rows, (int)n, 1.0, L,
                  (int)l_stride, X, (int)x_stride);
    uc_blas_leave();
}

/* Once row i of the solution is known, its contribution is subtracted from all other rows. */
static void solve_columns_plainly(double *X, size_t columns, const double *L, size_t n, bool transposed)
{
    for (size_t step = 0; step < n; step++) {
        const size_t i = transposed ? n - 1 - step : step;
        for (size_t c = 0; c < columns; c++)
            X[i * columns + c] /= L[i * n + i];
        for (size_t j = 0; j < i && transposed; j++)
            uc_axpy(X + j * columns, -L[i * n + j], X + i * columns, columns);
        for (size_t j = i + 1; j < n && !transposed; j++)
            uc_axpy(X + j * columns, -L[j * n + i], X + i * columns, columns);
    }
}

void uc_solve_lower_columns(double *X, size_t columns, const double *L, size_t n, bool transposed)
{
    if (n == 0 || columns == 0)
        return;
    if (!uc_blas_enter()) {
        solve_columns_plainly(X, columns, L, n, transposed);
        return;
    }
    uc_blas.dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit,
                  (int)n, (int)columns, 1.0, L, (int)n, X, (int)columns);
    uc_blas_leave();
}

/* From the top down: row j of L'x needs row j and those below it, which still have their old values. */
void uc_times_lower(double *X, size_t columns, const double *L, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t c = 0; c < columns; c++)
            X[j * columns + c] *= L[j * n + j];
        for (size_t i = j + 1; i < n; i++)
            uc_axpy(X + j * columns, L[i * n + j], X + i * columns, columns);
    }
}

void uc_add_squares(double *A, const double *X, size_t rows, size_t n)
{
    if (!uc_blas_enter()) {
        multiply_plainly(A, n, (uc_operand){X, n, true}, (uc_operand){X, n, false}, n, rows, n, 1.0, 1.0);
        return;
    }
    uc_blas.dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)n, (int)rows, 1.0, X, (int)n, 1.0, A, (int)n);
    uc_blas_leave();
}

void uc_squares_single(float *A, const float *X, size_t rows, size_t n)
{
    if (!uc_blas_enter()) {
        multiply_single_plainly(A, (uc_single_operand){X, n, true}, (uc_single_operand){X, n, false}, n, rows,
                                n);
        return;
    }
    uc_blas.ssyrk(CblasRowMajor, CblasLower, CblasTrans, (int)n, (int)rows, 1.0f, X, (int)n, 0.0f, A, (int)n);
    uc_blas_leave();
}

/* ---- Cholesky ---- */

static bool has_nan_below(const double *A, size_t n)
{
    bool found = false;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            found = found || isnan(A[i * n + j]);
    return found;
}

uc_status uc_cholesky(double *A, size_t n)
{
    const int size = (int)n, leading = size > 1 ? size : 1;
    int info = 0;
    if (has_nan_below(A, n))
        return uc_fail(UC_ERR_INVALID, "the matrix has an entry that is not a number");
    if (!uc_blas_enter())
        return uc_fail(UC_ERR_NOMEM, "not enough memory to factor a %zu x %zu matrix", n, n);
    /* Our rows are LAPACK's columns, so our lower triangle is its upper one. */
    uc_blas.dpotrf("U", &size, A, &leading, &info, 1);
    uc_blas_leave();
    if (info != 0)
        return uc_fail(UC_ERR_DIVERGED,
                       "a %zu x %zu matrix is not positive definite: scale the data ({scale})", n, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            A[i * n + j] = 0.0;
    return UC_OK;
}

/* Replaces the row x by L'^-1 x; it reads L by rows. */
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
    uc_blas.dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int)rows, (int)n, 1.0,
                  L, (int)n, X, (int)n);
    uc_blas_leave();
}
