/*
 * Ridge regression for a few lambdas.
 *
 *   A    sum of r_i (x_i - m)(x_i - m)'          B   sum of r_i (x_i - m)(y_i - n)'
 *   L    lower triangle, L L' = A + lambda
 *
 *   w = L'^-1 L^-1 B        h_i = r_i (1/R + |L^-1 (x_i - m)|^2)
 *
 * and the rest as in decomposition.c. For each lambda a factor costs d^3/3 multiplications at the full speed
 * of a matrix product, and the h_i cost n d^2/2. Eigenvalues and eigenvectors cost 9 d^3 at a fraction of
 * that speed, no matter how many lambdas there are.
 *
 * Three lambdas or more have a tridiagonal form T in common, A = H T H' with orthogonal H. It costs 2/3 d^3
 * multiplications, and the rows H'(x_i - m) cost n d^2. What remains for each lambda is linear in d:
 *
 *   T + lambda = U D U'        w = H (T + lambda)^-1 H'B        h_i = r_i (1/R + |D^-1/2 U^-1 H'(x_i - m)|^2)
 */
#include <math.h>
#include <string.h>

#include "learn/ridge/rows.h"
#include "linalg/linalg.h"

#define FEWEST_SHARED ((size_t)3) /* lambdas that a tridiagonal form is made for */

/* ---- factors ---- */

typedef struct leverage_job {
    const uc_ridge *ridge;
    const uc_ridge_lambda *at;
} leverage_job;

static uc_status leverage_block(size_t block, void *user)
{
    const leverage_job *job = user;
    const size_t first = block * UC_RIDGE_ROWS, d = job->ridge->X->cols;
    const size_t count = uc_min_size(job->ridge->X->rows - first, UC_RIDGE_ROWS);
    double *Z = uc_alloc(UC_RIDGE_ROWS * d, sizeof *Z);
    if (!Z)
        return UC_ERR_NOMEM;
    uc_ridge_rows(Z, job->ridge, first, count, NULL);
    uc_solve_lower(Z, d, count, job->at->L, d, d);
    for (size_t i = 0; i < count; i++)
        job->at->leverage[first + i] = uc_dot(Z + i * d, Z + i * d, d);
    uc_free(Z);
    return UC_OK;
}

static uc_status find_leverage(const uc_ridge *self, uc_ridge_lambda *at)
{
    leverage_job job = {self, at};
    const uc_context alone = uc_context_alone(self->context);
    at->leverage = uc_alloc(self->X->rows, sizeof *at->leverage);
    if (!at->leverage)
        return UC_ERR_NOMEM;
    return uc_run_blocks(&alone, (self->X->rows + UC_RIDGE_ROWS - 1) / UC_RIDGE_ROWS, leverage_block, &job);
}

static uc_status factor_at(uc_ridge_lambda *at, const uc_ridge *self, const double *squares, double lambda)
{
    const size_t d = self->X->cols;
    at->lambda = lambda;
    at->L = uc_alloc(d * d, sizeof *at->L);
    if (!at->L)
        return UC_ERR_NOMEM;
    memcpy(at->L, squares, d * d * sizeof *squares);
    for (size_t j = 0; j < d; j++)
        at->L[j * d + j] += lambda;
    return uc_cholesky(at->L, d);
}

/* ---- the tridiagonal form ---- */

static uc_status shared_leverage_block(size_t block, void *user)
{
    const uc_ridge *self = user;
    const uc_ridge_shared *shared = &self->shared;
    const size_t first = block * UC_RIDGE_ROWS, d = self->X->cols, padded = shared->padded;
    const size_t count = uc_min_size(self->X->rows - first, UC_RIDGE_ROWS);
    double *Z = uc_alloc(UC_RIDGE_ROWS * (d + padded), sizeof *Z);
    if (!Z)
        return UC_ERR_NOMEM;
    double *H = Z + UC_RIDGE_ROWS * d;
    uc_ridge_rows(Z, self, first, count, NULL);
    const uc_status status = uc_tridiagonal_reflect(Z, count, &shared->T, false);
    if (status == UC_OK)
        uc_tridiagonal_forms(H, Z, count, d, shared->ratios, shared->inverses, padded / UC_LANES);
    for (size_t l = 0; l < self->factor_count && status == UC_OK; l++)
        for (size_t i = 0; i < count && self->factors[l].leverage; i++)
            self->factors[l].leverage[first + i] = H[i * padded + l];
    uc_free(Z);
    return status;
}

/* Takes `squares`. */
static uc_status share(uc_ridge *self, double *squares, const double *lambdas, size_t left_out)
{
    const size_t d = self->X->cols, n = self->X->rows, count = self->factor_count;
    uc_ridge_shared *shared = &self->shared;
    shared->squares = squares;
    shared->padded = uc_quads(count) * UC_LANES;
    shared->ratios = uc_alloc(d * shared->padded, sizeof *shared->ratios);
    shared->inverses = uc_alloc(d * shared->padded, sizeof *shared->inverses);
    if (!shared->ratios || !shared->inverses)
        return UC_ERR_NOMEM;
    for (size_t l = 0; l < count; l++) {
        self->factors[l].lambda = lambdas[l];
        if (l < left_out && !(self->factors[l].leverage = uc_alloc(n, sizeof *self->factors[l].leverage)))
            return UC_ERR_NOMEM;
    }
    uc_status status = uc_tridiagonalise(&shared->T, squares, d);
    if (status != UC_OK)
        return status;
    for (size_t j = 0; j < d; j++)
        if (!isfinite(shared->T.diagonal[j]))
            return uc_fail(UC_ERR_INVALID, "the matrix has an entry that is not a number");
    uc_tridiagonal_factor(shared->ratios, shared->inverses, &shared->T, lambdas, count);
    const uc_context alone = uc_context_alone(self->context);
    return uc_run_blocks(&alone, (n + UC_RIDGE_ROWS - 1) / UC_RIDGE_ROWS, shared_leverage_block, self);
}

/* ---- either ---- */

static uc_status factor_all(uc_ridge *self, const double *lambdas, size_t left_out)
{
    const size_t d = self->X->cols;
    double *squares = uc_alloc(d * d, sizeof *squares);
    uc_status status = squares && self->factors ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_ridge_find_mean(self);
    if (status == UC_OK)
        status = uc_ridge_sum_squares(squares, self);
    if (status == UC_OK && self->factor_count >= FEWEST_SHARED)
        return share(self, squares, lambdas, left_out);
    for (size_t i = 0; i < self->factor_count && status == UC_OK; i++) {
        status = factor_at(&self->factors[i], self, squares, lambdas[i]);
        if (status == UC_OK && i < left_out)
            status = find_leverage(self, &self->factors[i]);
    }
    uc_free(squares);
    return status;
}

uc_status uc_ridge_factor_columns(uc_ridge *out, const uc_matrix *X, const double *weights,
                                  const double *lambdas, size_t count, size_t left_out,
                                  const uc_context *context)
{
    uc_ridge self = {.X = X, .weights = weights, .context = context, .rank = X->cols};
    const double bytes = 8.0 * (double)(count + 2) * (double)X->cols * (double)X->cols;
    uc_status status = uc_blas_ready(context);
    if (status == UC_OK)
        status = uc_memory_check(context, bytes, "ridge");
    if (status != UC_OK)
        return status;
    self.factors = uc_alloc(count, sizeof *self.factors);
    self.factor_count = self.factors ? count : 0;
    status = factor_all(&self, lambdas, left_out);
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status == UC_OK)
        *out = self;
    else
        uc_ridge_free(&self);
    return status;
}

/* ---- fits ---- */

static const uc_ridge_lambda *find(const uc_ridge *self, double lambda)
{
    size_t i = 0;
    while (i < self->factor_count && self->factors[i].lambda != lambda)
        i++;
    assert(i < self->factor_count); /* the lambda was passed to uc_ridge_factor */
    return &self->factors[i];
}

/* out (columns x rows) = in' (rows x columns) */
static void transpose(double *out, const double *in, size_t rows, size_t columns)
{
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++)
            out[j * rows + i] = in[i * columns + j];
}

uc_status uc_ridge_share_targets(uc_ridge_targets *targets, const uc_ridge *self)
{
    const size_t d = self->X->cols, K = targets->count;
    double *B = uc_alloc(K * d, sizeof *B); /* transposed */
    if (!B)
        return UC_ERR_NOMEM;
    transpose(B, targets->B, d, K);
    const uc_status status = uc_tridiagonal_reflect(B, K, &self->shared.T, false);
    transpose(targets->B, B, K, d);
    uc_free(B);
    return status;
}

/* Solves for K rows of d numbers. */
static uc_status solve(double *w, size_t K, const uc_ridge *self, double lambda)
{
    const uc_ridge_lambda *at = find(self, lambda);
    const uc_ridge_shared *shared = &self->shared;
    const size_t d = self->X->cols, l = (size_t)(at - self->factors);
    if (at->L) {
        uc_solve_cholesky(w, K, at->L, d);
        return UC_OK;
    }
    uc_tridiagonal_solve(w, K, d, shared->ratios + l, shared->inverses + l, shared->padded);
    return uc_tridiagonal_reflect(w, K, &shared->T, true);
}

uc_status uc_ridge_factored_weights(double *W, size_t stride, const uc_ridge *self,
                                    const uc_ridge_targets *targets, double lambda)
{
    const size_t d = self->X->cols, K = targets->count;
    double *w = uc_alloc(K * d, sizeof *w); /* transposed */
    if (!w)
        return UC_ERR_NOMEM;
    transpose(w, targets->B, d, K);
    const uc_status status = solve(w, K, self, lambda);
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < stride; k++)
            W[j * stride + k] = k < K ? w[k * d + j] : 0.0;
    uc_free(w);
    return status;
}

typedef struct predict_job {
    const uc_ridge *ridge;
    const uc_ridge_targets *targets;
    const uc_ridge_lambda *at;
    const double *W, *offset; /* columns x stride; stride */
    size_t stride;
    double *out;
} predict_job;

static uc_status predict_block(size_t block, void *user)
{
    const predict_job *job = user;
    const uc_ridge *self = job->ridge;
    const size_t first = block * UC_RIDGE_ROWS, d = self->X->cols, K = job->targets->count, S = job->stride;
    const size_t count = uc_min_size(self->X->rows - first, UC_RIDGE_ROWS);
    double *P = uc_alloc(UC_RIDGE_ROWS * S, sizeof *P);
    if (!P)
        return UC_ERR_NOMEM;
    uc_score_rows(P, self->X, first, first + count, job->W, d, S, job->offset);
    for (size_t i = 0; i < count; i++) {
        const size_t row = first + i;
        const double h = job->at->leverage[row] + uc_ridge_weight(self, row) / self->total;
        const double *y = job->targets->Y + row * K;
        for (size_t k = 0; k < K; k++)
            job->out[row * K + k] = y[k] - (y[k] - P[i * S + k]) / (1.0 - fmin(h, UC_MOST_LEVERAGE));
    }
    uc_free(P);
    return UC_OK;
}

uc_status uc_ridge_factored_leave_one_out(double *out, const uc_ridge *self, const uc_ridge_targets *targets,
                                          double lambda)
{
    const size_t stride = uc_class_stride(targets->count), d = self->X->cols;
    double *W = uc_alloc((d + 1) * stride, sizeof *W);
    predict_job job = {self, targets, find(self, lambda), W, NULL, stride, out};
    const uc_context alone = uc_context_alone(self->context);
    uc_status status = UC_ERR_NOMEM;
    assert(job.at->leverage != NULL);
    if (W)
        status = uc_ridge_factored_weights(W, stride, self, targets, lambda);
    if (status == UC_OK) {
        uc_ridge_offset(W + d * stride, W, stride, self, targets);
        job.offset = W + d * stride;
        status =
            uc_run_blocks(&alone, (self->X->rows + UC_RIDGE_ROWS - 1) / UC_RIDGE_ROWS, predict_block, &job);
    }
    uc_free(W);
    return uc_comm_agree(uc_comm_of(self->context), status);
}
