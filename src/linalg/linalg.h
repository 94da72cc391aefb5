/* Operations on rows and on dense matrices.
 *
 *   K        classes          S   stride of the weights: K rounded up, the padding is zero
 *   W        weights, feature-major: W[j * S + k] is feature j's weight for class k
 *   tau      the coefficient of each class in an update: W[j][k] += x_j tau[k]
 */
#ifndef UC_LINALG_H
#define UC_LINALG_H

#include "parallel/parallel.h"
#include "unconfuse/matrix.h"

/* Doubles from feature to feature for K classes. No kernel has a scalar tail, so equal weights give equal
 * scores, bit for bit: ties between classes that have the same weights are broken by index, not by
 * rounding. */
static inline size_t uc_class_stride(size_t classes)
{
    return classes <= 2 ? classes : (classes + 3) / 4 * 4;
}

/* The number of columns that the row needs: one more than its last column. */
static inline size_t uc_row_width(uc_row row)
{
    return row.count > 0 ? uc_row_column(row, row.count - 1) + 1 : 0;
}
double uc_row_norm2(uc_row row);
double uc_row_dot(uc_row row, const double *w); /* w: one weight per column */
/* The same for `rows` rows of X from `first` on, with the same bits; dense rows are faster this way. */
void uc_row_dots(double *out, const uc_matrix *X, size_t first, size_t rows, const double *w);
/* w[j] += sum over i of factors[i] x_ij, for `rows` dense rows of X from `first` on. */
void uc_rows_combine(double *w, const uc_matrix *X, size_t first, size_t rows, const double *factors);
bool uc_are_finite(const float *values, size_t count);
void uc_widen(double *out, const float *values, size_t count); /* as doubles */
void uc_row_axpy(double factor, uc_row row, double *w);        /* w += factor * row */
/* scores[0..S) += sum over j of x_j W[j][0..S) */
void uc_row_scores(double *scores, uc_row row, const double *W, size_t S);
/* W[j][k] += x_j tau[k] for all k < S */
void uc_row_update(double *W, size_t S, uc_row row, const double *tau);
/* The same for the `count` classes listed only. */
void uc_row_update_some(double *W, size_t S, uc_row row, const uint32_t *classes, const double *tau,
                        size_t count);

/* W[j][k] += x[j] tau[k] for j < rows, k < S: an update along a dense vector of doubles. */
void uc_outer_update(double *W, size_t rows, size_t S, const double *x, const double *tau);

/* The part of a row in columns 0 .. cols-1. */
uc_row uc_known_row(uc_row row, size_t cols);

/* A symmetric n x n matrix with rows of S doubles, S a multiple of 8, the padding zero: B -= factor u u',
 * and then the products of the new B with `count` vectors of X (at least one), each S doubles: out[r * S +
 * i] = (B X_r)_i. Four vectors cost one pass over B. Every entry of B is computed alike whatever `count`
 * is. */
void uc_sweep(double *out, double *B, size_t n, size_t S, const double *u, double factor, const double *X,
              size_t count);

/* ---- products of dense rows, the same bits whether one row or many are multiplied ----
 * A product has UC_LANES sums: column j is added to sum j mod UC_LANES, in ascending order, and
 * uc_lane_sum joins them. Columns come in quads of UC_LANES, the last filled up with zeros, which change
 * nothing. Values are floats, whose products are exact doubles, so that neither fusing nor the CPU level
 * matters either. */
#define UC_LANES ((size_t)4)
#define UC_TILE_X ((size_t)4) /* rows of a tile: the sums of all pairs stay in registers */
#define UC_TILE_Y ((size_t)3)
static inline size_t uc_quads(size_t columns)
{
    return (columns + UC_LANES - 1) / UC_LANES;
}
static inline double uc_lane_sum(const double *sums)
{
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
/* out[r] = <x, Y_r> for `count` rows of Y, `stride` floats apart. */
void uc_products(double *out, const double *x, const float *Y, size_t stride, size_t count, size_t quads);
/* sums[(r * UC_TILE_Y + c) * UC_LANES + lane] += the products of UC_TILE_X rows with UC_TILE_Y rows. Of
 * both, every quad of one row is followed by the same quad of the next. */
void uc_tile(double *sums, const double *X, const double *Y, size_t quads);
/* Inner products of x with rows y become values of the gaussian kernel, exp(-distance / width): distance =
 * norm2_x + norm2_y - 2 product, which counts as 0 up to `rounding` (norm2_x + norm2_y). The relative
 * error is below 1e-15 (1 + distance / width); values below e^-708 become 0. Every value is computed in the
 * same way, whatever `count` is. */
void uc_gaussian(double *values, const double *norm2_y, size_t count, double norm2_x, double width,
                 double rounding);
/* Replaces numbers <= 0 by their exponentials, with a relative error below 1e-15; values below e^-708 become
 * 0. Every value is computed in the same way, whatever `count` is. */
void uc_exponential(double *values, size_t count);

/* p = softmax(s) of `rows` rows of K numbers, S >= K apart: p_q = exp(s_q - highest) / total. What fills up a
 * row of p becomes 0. If a score is not finite, the row's total is not a number. */
void uc_softmax_rows(double *p, double *highest, double *total, const double *s, size_t rows, size_t K,
                     size_t S);

/* Rows whose true class q has probability S_q = softmax_q(a1 f + a2 g), and whose label has probability p =
 * sum_q C_q S_q. Vectors of K classes are filled up to whole quads: f with UC_NEVER, so that S is 0 there, g
 * and C with 0. */
typedef struct uc_mixture {
    const double *f, *g;
    const uint32_t *labels;
    const double *weights; /* r; NULL: all 1 */
    const double *columns; /* C of each label */
    double a1, a2;         /* a1 > 0 */
    size_t quads;
} uc_mixture;
#define UC_NEVER (-1e300)
#define UC_LEAST_SHARE 1e-300 /* p is at least this */
/* Computes p of `count` rows from `first` on, and adds the derivatives of sum r log p: by a1 and a2 to
 * sums[0] and sums[1], and by C of each label to in_C (NULL: not wanted). `S` is memory for one row. */
void uc_mixture_gradient(double *p, double *sums, double *in_C, const uc_mixture *rows, size_t first,
                         size_t count, double *S);

/* scores[i * S + k] for rows first .. last-1 of X (row i - first of the output) plus offset[k] (NULL: 0).
 * Columns of X at or above `cols` are ignored. Every class is summed in the same order: equal weights give
 * equal scores. */
void uc_score_rows(double *scores, const uc_matrix *X, size_t first, size_t last, const double *W,
                   size_t cols, size_t S, const double *offset);

/* For gradients, which need the same rows twice: scores[i * S + k] of rows first .. first + rows - 1, plus
 * offset[k]. Dense rows stay in `work` (rows x cols) as doubles; sparse ones do not use it. If `work` is
 * NULL, rows are multiplied one by one, which is faster if S is 1. */
void uc_score_rows_for_gradient(double *scores, const uc_matrix *X, size_t first, size_t rows,
                                const double *W, size_t S, const double *offset, double *work);
/* G[j][k] += sum over the same rows of x_ij R[i * S + k]; `work` as uc_score_rows_for_gradient left it. */
void uc_block_update(double *G, const uc_matrix *X, size_t first, size_t rows, size_t S, const double *R,
                     const double *work);

/* ---- small dense matrices, row by row, over LAPACK ---- */
uc_status uc_invert(double *inverse, const double *A, size_t n);         /* UC_ERR_INVALID if singular */
uc_status uc_singular_values(double *values, const double *A, size_t n); /* descending */
uc_status uc_solve(double *X, const double *A, const double *B, size_t n, size_t columns); /* A X = B */

/* Transposes a sparse matrix of at most UINT32_MAX rows: row j of `out` has the entries of column j. */
uc_status uc_matrix_transpose(uc_matrix *out, const uc_matrix *self);
/* Numbers the columns of two sparse matrices anew, in their order, without those that are empty in both; one
 * column stays. */
uc_status uc_matrix_drop_empty_columns(uc_matrix *a, uc_matrix *b);

/* The position of the largest of values[0..count); of equal ones, the lowest. */
size_t uc_argmax(const double *values, size_t count);

/* ---- dense matrices over BLAS and LAPACK, row by row; one thread each ---- */

/* Call it before work that calls BLAS from up to `calls_at_once` threads. Makes OpenBLAS use one thread per
 * call and reserves its buffers, at least one per core, since jobs that run concurrently do not know of each
 * other. UC_ERR_NOMEM if there is not enough memory for a single buffer; if there are fewer than were asked
 * for, calls wait for each other. Once the buffers exist, this costs nothing. */
uc_status uc_blas_begin(unsigned calls_at_once);
/* For tests: the largest number of buffers that uc_blas_begin makes; existing ones stay. */
void uc_blas_limit(unsigned buffers);
/* uc_blas_begin for all threads of the context; if it fails in one process, it fails in all. */
uc_status uc_blas_ready(const uc_context *context);
/* Around every call that takes a buffer; calls do not nest. false: there is no buffer, and BLAS must not
 * be called. That only happens if uc_blas_begin was not called before. */
bool uc_blas_enter(void);
void uc_blas_leave(void);

/* An operand of a matrix product: rows of `stride` doubles, used as they are or transposed. */
typedef struct uc_operand {
    const double *values;
    size_t stride;
    bool transposed;
} uc_operand;
/* C = alpha A B + beta C, where C is m x n with rows of `stride` doubles, A is m x k and B is k x n (after
 * transposing). With beta 0, C need not be initialised. */
void uc_gemm(double *C, size_t stride, uc_operand A, uc_operand B, size_t m, size_t k, size_t n, double alpha,
             double beta);
/* C (m x n) = A (m x k) B (k x n), without gaps. */
void uc_multiply(double *C, const double *A, const double *B, size_t m, size_t k, size_t n);
/* An operand in single precision. */
typedef struct uc_single_operand {
    const float *values;
    size_t stride;
    bool transposed;
} uc_single_operand;
/* C (m x n, without gaps) = A (m x k) B (k x n), in single precision. */
void uc_gemm_single(float *C, uc_single_operand A, uc_single_operand B, size_t m, size_t k, size_t n);
double uc_dot(const double *a, const double *b, size_t n);
void uc_axpy(double *y, double factor, const double *x, size_t n); /* y += factor x */
/* The `count` largest eigenvalues, descending, of the symmetric n x n matrix A, which is destroyed. Row k
 * of `vectors` (count x n) is the unit eigenvector of values[k]. */
uc_status uc_eigen_top(double *values, double *vectors, double *A, size_t n, size_t count,
                       const uc_context *context);
/* Fails, naming `what`, if n is too large for uc_eigen_top, or if it and `other_bytes` exceed the memory
 * limit. */
uc_status uc_eigen_check(size_t n, double other_bytes, const char *what, const uc_context *context);
/* A symmetric n x n matrix A = H T H', T tridiagonal, H a product of reflections. */
typedef struct uc_tridiagonal {
    double *A;                                   /* borrowed: holds the reflections below its diagonal */
    double *triangles, *diagonal, *off_diagonal; /* n, n - 1 */
    size_t n;
} uc_tridiagonal; /* may be freed if zero-initialised */
/* A, whose lower triangle is read, is changed and must outlive *out. */
uc_status uc_tridiagonalise(uc_tridiagonal *out, double *A, size_t n);
void uc_tridiagonal_free(uc_tridiagonal *self);
/* Replaces each of the `rows` rows x of X (n numbers each, without gaps) by H'x or, if `back`, by H x. */
uc_status uc_tridiagonal_reflect(double *X, size_t rows, const uc_tridiagonal *self, bool back);
/* Factors T + shift = L D L' for each of `count` shifts >= 0, of which T + shift is positive definite up to
 * rounding: ratios[j * P + s] = L[j][j - 1] and inverses[j * P + s] = 1 / D[j], where P = UC_LANES
 * uc_quads(count). */
void uc_tridiagonal_factor(double *ratios, double *inverses, const uc_tridiagonal *self, const double *shifts,
                           size_t count);
/* Replaces each of the `rows` rows x of X by (T + shift)^-1 x; ratios and inverses are those of the shift, P
 * apart. */
void uc_tridiagonal_solve(double *X, size_t rows, size_t n, const double *ratios, const double *inverses,
                          size_t P);
/* H[r * P + s] = z'(T + shift s)^-1 z for the rows z of Z. */
void uc_tridiagonal_forms(double *H, const double *Z, size_t rows, size_t n, const double *ratios,
                          const double *inverses, size_t quads);
/* Inverts a lower triangle (n rows of n) in place and leaves what is above the diagonal alone. UC_ERR_INVALID
 * if a diagonal entry is 0. */
uc_status uc_invert_lower(double *L, size_t n);
/* Replaces each of the `rows` rows x of X by L^-1 x. L is a lower triangle of n rows; rows of X and L are
 * `x_stride` and `l_stride` doubles apart. */
void uc_solve_lower(double *X, size_t x_stride, size_t rows, const double *L, size_t l_stride, size_t n);
/* Replaces each of the `columns` columns x of X (n rows, without gaps) by L^-1 x or, if `transposed`, by
 * L'^-1 x for a lower triangle L; the second function replaces it by L'x. */
void uc_solve_lower_columns(double *X, size_t columns, const double *L, size_t n, bool transposed);
void uc_times_lower(double *X, size_t columns, const double *L, size_t n);
/* Replaces the n x n matrix A, of which the lower triangle is read, by the lower triangle L with L L' = A,
 * and zeros above the diagonal. UC_ERR_DIVERGED if A is not positive definite. */
uc_status uc_cholesky(double *A, size_t n);
/* Replaces each of the `rows` rows x of X (n numbers each, without gaps) by (L L')^-1 x. */
void uc_solve_cholesky(double *X, size_t rows, const double *L, size_t n);
/* Adds the sum of x x' over the `rows` rows x of X to the lower triangle of the n x n matrix A. */
void uc_add_squares(double *A, const double *X, size_t rows, size_t n);
/* In single precision: the lower triangle of A becomes that sum. */
void uc_squares_single(float *A, const float *X, size_t rows, size_t n);

/* ---- symmetric n x n matrices of which the lower triangle is used; rows are `stride` doubles apart ---- */

/* y = A x */
void uc_symmetric_times(double *y, const double *A, size_t stride, size_t n, const double *x);
/* C (rows x n) = X A, where rows of C and X are `x_stride` doubles apart. */
void uc_times_symmetric(double *C, const double *X, size_t x_stride, size_t rows, const double *A,
                        size_t stride, size_t n);
/* C (n x columns) = A B, without gaps. */
void uc_symmetric_product(double *C, const double *A, size_t stride, size_t n, const double *B,
                          size_t columns);
/* A += factor U'U, where U has `rows` rows of n, `u_stride` doubles apart. */
void uc_symmetric_add(double *A, size_t stride, size_t n, double factor, const double *U, size_t u_stride,
                      size_t rows);
/* Inverts A in place; UC_ERR_INVALID if it is not positive definite. */
uc_status uc_symmetric_invert(double *A, size_t stride, size_t n);
/* The lower triangle L with LL' = A. Single precision is enough, since its use, x'Ax = |L'x|^2, has no
 * cancellation, and A may have entries of any size. `work` has n^2 doubles. UC_ERR_DIVERGED if A is not
 * positive definite. */
uc_status uc_symmetric_root(float *L, const double *A, size_t stride, size_t n, double *work);
/* Replaces each of the `rows` rows x of X by L'x, L a lower triangle; rows of both are `stride` apart. */
void uc_times_root(float *X, size_t rows, const float *L, size_t stride, size_t n);

#endif
