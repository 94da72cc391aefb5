/* Sums over rows that every form of ridge regression starts with, and the rows in its coordinates. */
#include "learn/ridge/rows.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

double uc_ridge_weight(const uc_ridge *self, size_t i)
{
    return self->weights ? self->weights[i] : 1.0;
}

/* Multiplies each row, stored without gaps, by the square root of its weight. */
static void weigh_rows(double *rows, const double *weights, size_t count, size_t cols)
{
    for (size_t i = 0; i < count; i++) {
        const double root = sqrt(weights[i]);
        for (size_t j = 0; j < cols; j++)
            rows[i * cols + j] *= root;
    }
}

/* Copies rows first .. first + count - 1, centred, as doubles without gaps. */
static void centred_rows(double *out, const uc_matrix *X, const double *mean, size_t first, size_t count)
{
    const size_t d = X->cols;
    for (size_t i = 0; i < count; i++) {
        const uc_row row = uc_matrix_row(X, first + i);
        double *x = out + i * d;
        if (!row.columns) {
            for (size_t j = 0; j < d; j++)
                x[j] = (double)row.values[j] - mean[j];
            continue;
        }
        for (size_t j = 0; j < d; j++)
            x[j] = -mean[j];
        for (size_t j = 0; j < row.count; j++)
            x[row.columns[j]] += (double)row.values[j];
    }
}

void uc_ridge_rows(double *Z, const uc_ridge *self, size_t first, size_t count, double *work)
{
    const size_t d = self->X->cols, rank = self->rank;
    if (self->coordinates) {
        memcpy(Z, self->coordinates + first * rank, count * rank * sizeof *Z);
        return;
    }
    centred_rows(self->vectors ? work : Z, self->X, self->mean, first, count);
    if (self->vectors)
        uc_gemm(Z, rank, (uc_operand){work, d, false}, (uc_operand){self->vectors, d, true}, count, d, rank,
                1.0, 0.0);
    if (self->weights)
        weigh_rows(Z, self->weights + first, count, rank);
}

size_t uc_ridge_rows_work(const uc_ridge *self)
{
    return self->coordinates ? 0 : UC_RIDGE_ROWS * self->X->cols;
}

/* Adds r_i x_i and, after the columns, r_i and r_i^2. */
static uc_status add_means(double *sum, size_t first, size_t last, void *user)
{
    const uc_ridge *self = user;
    for (size_t i = first; i < last; i++) {
        const double r = uc_ridge_weight(self, i);
        uc_row_axpy(r, uc_matrix_row(self->X, i), sum);
        sum[self->X->cols] += r;
        sum[self->X->cols + 1] += r * r;
    }
    return UC_OK;
}

uc_status uc_ridge_find_mean(uc_ridge *self)
{
    const size_t d = self->X->cols;
    self->mean = uc_alloc(d + 2, sizeof *self->mean);
    if (!self->mean)
        return UC_ERR_NOMEM;
    const uc_status status = uc_sum_over(self->context, self->X->rows, add_means, self, self->mean, d + 2);
    self->total = self->mean[d];
    self->effective = self->total * self->total / self->mean[d + 1];
    for (size_t j = 0; j < d; j++)
        self->mean[j] /= self->total;
    return status;
}

static uc_status add_squares(double *sum, size_t first, size_t last, void *user)
{
    const uc_ridge *self = user;
    const size_t d = self->X->cols;
    double *rows = uc_alloc(UC_RIDGE_ROWS * d, sizeof *rows);
    if (!rows)
        return UC_ERR_NOMEM;
    for (size_t start = first; start < last; start += UC_RIDGE_ROWS) {
        const size_t count = uc_min_size(last - start, UC_RIDGE_ROWS);
        centred_rows(rows, self->X, self->mean, start, count);
        if (self->weights)
            weigh_rows(rows, self->weights + start, count, d);
        uc_add_squares(sum, rows, count, d);
    }
    uc_free(rows);
    return UC_OK;
}

uc_status uc_ridge_sum_squares(double *squares, const uc_ridge *self)
{
    const size_t d = self->X->cols;
    const uc_status status =
        uc_sum_over(self->context, self->X->rows, add_squares, (void *)(uintptr_t)self, squares, d * d);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++)
            squares[j * d + i] = squares[i * d + j];
    return status;
}

void uc_ridge_free(uc_ridge *self)
{
    uc_free(self->mean);
    uc_free(self->values);
    uc_free(self->vectors);
    uc_free(self->coordinates);
    for (size_t i = 0; i < self->factor_count; i++) {
        uc_free(self->factors[i].L);
        uc_free(self->factors[i].leverage);
    }
    uc_free(self->factors);
    uc_tridiagonal_free(&self->shared.T);
    uc_free(self->shared.squares);
    uc_free(self->shared.ratios);
    uc_free(self->shared.inverses);
    *self = (uc_ridge){0};
}

void uc_ridge_offset(double *offset, const double *W, size_t stride, const uc_ridge *self,
                     const uc_ridge_targets *targets)
{
    for (size_t k = 0; k < targets->count; k++) {
        offset[k] = targets->mean[k];
        for (size_t j = 0; j < self->X->cols; j++)
            offset[k] -= self->mean[j] * W[j * stride + k];
    }
}
