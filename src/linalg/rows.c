/* Operations on one row by the kernels chosen for this CPU. tests/reference.h has simple versions to compare
 * with. */
#include <string.h>

#include "linalg/kernels.h"
#include "linalg/linalg.h"

double uc_row_norm2(uc_row row)
{
    return uc_kernels_now()->norm2(row);
}

double uc_row_dot(uc_row row, const double *w)
{
    return uc_kernels_now()->dot(row, w);
}

void uc_row_dots(double *out, const uc_matrix *X, size_t first, size_t rows, const double *w)
{
    assert(first + rows <= X->rows);
    const uc_kernels *kernels = uc_kernels_now();
    if (!uc_matrix_is_sparse(X)) {
        kernels->dots(out, X->values + first * X->stride, X->stride, rows, X->cols, w);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        out[i] = kernels->dot(uc_matrix_row(X, first + i), w);
}

void uc_rows_combine(double *w, const uc_matrix *X, size_t first, size_t rows, const double *factors)
{
    assert(first + rows <= X->rows && !uc_matrix_is_sparse(X));
    uc_kernels_now()->combine(w, X->values + first * X->stride, X->stride, rows, X->cols, factors);
}

bool uc_are_finite(const float *values, size_t count)
{
    return uc_kernels_now()->are_finite(values, count);
}

void uc_widen(double *out, const float *values, size_t count)
{
    uc_kernels_now()->widen(out, values, count);
}

void uc_row_axpy(double factor, uc_row row, double *w)
{
    uc_kernels_now()->axpy(factor, row, w);
}

void uc_row_scores(double *scores, uc_row row, const double *W, size_t S)
{
    assert(S <= 2 || S % 4 == 0);
    uc_kernels_now()->scores(scores, row, W, S);
}

void uc_row_update(double *W, size_t S, uc_row row, const double *tau)
{
    assert(S <= 2 || S % 4 == 0);
    uc_kernels_now()->update(W, S, row, tau);
}

void uc_sweep(double *out, double *B, size_t n, size_t S, const double *u, double factor, const double *X,
              size_t count)
{
    assert(S % 8 == 0 && S >= n && count > 0);
    uc_kernels_now()->sweep(out, B, n, S, u, factor, X, count);
}

void uc_products(double *out, const double *x, const float *Y, size_t stride, size_t count, size_t quads)
{
    assert(stride >= quads * UC_LANES || count <= 1);
    uc_kernels_now()->products(out, x, Y, stride, count, quads);
}

void uc_tile(double *sums, const double *X, const double *Y, size_t quads)
{
    uc_kernels_now()->tile(sums, X, Y, quads);
}

void uc_gaussian(double *values, const double *norm2_y, size_t count, double norm2_x, double width,
                 double rounding)
{
    const uc_kernels *kernels = uc_kernels_now();
    const size_t quads = count / UC_LANES, whole = quads * UC_LANES;
    kernels->gaussian(values, norm2_y, norm2_x, rounding, -1.0 / width, quads);
    if (whole == count)
        return;
    double rest[UC_LANES] = {0}, rest_norm2[UC_LANES] = {0};
    memcpy(rest, values + whole, (count - whole) * sizeof *rest);
    memcpy(rest_norm2, norm2_y + whole, (count - whole) * sizeof *rest);
    kernels->gaussian(rest, rest_norm2, norm2_x, rounding, -1.0 / width, 1);
    memcpy(values + whole, rest, (count - whole) * sizeof *rest);
}

void uc_exponential(double *values, size_t count)
{
    const uc_kernels *kernels = uc_kernels_now();
    const size_t quads = count / UC_LANES, whole = quads * UC_LANES;
    kernels->exponential(values, quads);
    if (whole == count)
        return;
    double rest[UC_LANES] = {0};
    memcpy(rest, values + whole, (count - whole) * sizeof *rest);
    kernels->exponential(rest, 1);
    memcpy(values + whole, rest, (count - whole) * sizeof *rest);
}

void uc_softmax_rows(double *p, double *highest, double *total, const double *s, size_t rows, size_t K,
                     size_t S)
{
    if (S % UC_LANES == 0) {
        uc_kernels_now()->softmax(p, highest, total, s, rows, K, S);
        return;
    }
    double quad[UC_LANES], padded[UC_LANES];
    assert(K <= S && S < UC_LANES);
    for (size_t i = 0; i < rows; i++) {
        memcpy(padded, s + i * S, K * sizeof *padded);
        uc_kernels_now()->softmax(quad, highest + i, total + i, padded, 1, K, UC_LANES);
        memcpy(p + i * S, quad, S * sizeof *p);
    }
}

void uc_mixture_gradient(double *p, double *sums, double *in_C, const uc_mixture *rows, size_t first,
                         size_t count, double *S)
{
    uc_kernels_now()->mixture(p, sums, in_C, rows, first, count, S);
}

void uc_tridiagonal_forms(double *H, const double *Z, size_t rows, size_t n, const double *ratios,
                          const double *inverses, size_t quads)
{
    uc_kernels_now()->chain(H, Z, rows, n, ratios, inverses, quads);
}

void uc_outer_update(double *W, size_t rows, size_t S, const double *x, const double *tau)
{
    uc_kernels_now()->outer(W, rows, S, x, tau);
}

void uc_row_update_some(double *W, size_t S, uc_row row, const uint32_t *classes, const double *tau,
                        size_t count)
{
    for (size_t i = 0; i < row.count; i++) {
        double *w = W + uc_row_column(row, i) * S;
        const double x = row.values[i];
        for (size_t c = 0; c < count; c++)
            w[classes[c]] += x * tau[c];
    }
}

uc_row uc_known_row(uc_row row, size_t cols)
{
    if (!row.columns) {
        row.count = uc_min_size(row.count, cols);
        return row;
    }
    while (row.count > 0 && row.columns[row.count - 1] >= cols)
        row.count--;
    return row;
}

size_t uc_argmax(const double *values, size_t count)
{
    if (count == 0)
        return 0;
    size_t best = 0;
    double most = values[0];
    for (size_t k = 1; k < count; k++) { /* no branch, since it would be mispredicted often */
        const bool more = values[k] > most;
        most = more ? values[k] : most;
        best = more ? k : best;
    }
    return best;
}
