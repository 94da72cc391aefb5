/*
 * Products with the coordinates a_i of the rows. Those of many rows are stored as b_i in single precision,
 *
 *   a = Q'(b - m)      sum_i R_ik a_i = Q'(sum_i R_ik b_i - m sum_i R_ik)      <a, h> = <b, Q h> - <m, Q h>
 *
 * so that rows need not be turned. Sums over the rows of a block are in single precision, those over blocks
 * in double precision. Also the leverage of each row:
 *
 *   h_i = min(.95, (1 - s)/n sum_d a_id^2 q_d + 1/n)
 *   sum_d a_id^2 q_d = |L'(b_i - m)|^2,      LL' = Q diag(q) Q'
 */
#include <math.h>
#include <string.h>

#include "learn/audit/views.h"
#include "linalg/linalg.h"

#define MOST_LEVERAGE 0.95
#define ROWS_PER_BLOCK ((size_t)256)

/* ---- sums ---- */

double uc_audit_unit(const double *values, size_t count)
{
    double largest = 0.0;
    int exponent = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(values[i]));
    (void)frexp(largest, &exponent);
    return ldexp(1.0, 2 * (exponent / 2));
}

static uc_status add_single(double *sum, const uc_audit_view *view, size_t first, size_t last,
                            const double *R, size_t K)
{
    const size_t D = view->axes, count = last - first;
    float *shares = uc_alloc(count * K + K * D, sizeof *shares);
    if (!shares)
        return UC_ERR_NOMEM;
    float *part = shares + count * K;
    const double unit = uc_audit_unit(R, count * K);
    for (size_t i = 0; i < count * K; i++)
        shares[i] = (float)(R[i] / unit);
    uc_gemm_single(part, (uc_single_operand){shares, K, true},
                   (uc_single_operand){view->B + first * D, D, false}, K, count, D);
    for (size_t i = 0; i < K * D; i++)
        sum[i] += unit * (double)part[i];
    uc_free(shares);
    return UC_OK;
}

uc_status uc_audit_add_coordinates(double *sum, const uc_audit_view *view, size_t first, size_t last,
                                   const double *R, size_t K)
{
    const size_t D = view->axes;
    if (view->B)
        return add_single(sum, view, first, last, R, K);
    uc_gemm(sum, D, (uc_operand){R, K, true}, (uc_operand){view->A + first * D, D, false}, K, last - first, D,
            1.0, 1.0);
    return UC_OK;
}

uc_status uc_audit_turn_sums(double *sums, const double *counts, const uc_audit_view *view, size_t K)
{
    const size_t D = view->axes;
    if (!view->B)
        return UC_OK;
    double *centred = uc_alloc(K * D, sizeof *centred);
    if (!centred)
        return UC_ERR_NOMEM;
    memcpy(centred, sums, K * D * sizeof *centred);
    for (size_t k = 0; k < K; k++)
        uc_axpy(centred + k * D, -counts[k], view->mean, D);
    uc_multiply(sums, centred, view->turn, K, D, D);
    uc_free(centred);
    return UC_OK;
}

/* ---- directions ---- */

void uc_audit_directions_free(uc_audit_directions *self)
{
    uc_free(self->turned);
    uc_free(self->offset);
    *self = (uc_audit_directions){0};
}

uc_status uc_audit_directions_make(uc_audit_directions *out, const double *H, const uc_audit_view *view,
                                   size_t K)
{
    const size_t D = view->axes;
    uc_audit_directions self = {.K = K, .H = H};
    if (view->B) {
        double *turned = uc_alloc(K * D, sizeof *turned);
        self.turned = uc_alloc(K * D, sizeof *self.turned);
        self.offset = uc_alloc(K, sizeof *self.offset);
        if (!turned || !self.turned || !self.offset) {
            uc_free(turned);
            uc_audit_directions_free(&self);
            return UC_ERR_NOMEM;
        }
        uc_gemm(turned, D, (uc_operand){H, D, false}, (uc_operand){view->turn, D, true}, K, D, D, 1.0, 0.0);
        for (size_t k = 0; k < K; k++)
            self.offset[k] = uc_dot(turned + k * D, view->mean, D);
        for (size_t i = 0; i < K * D; i++)
            self.turned[i] = (float)turned[i];
        uc_free(turned);
    }
    *out = self;
    return UC_OK;
}

/* Of rows that are stored in single precision. */
static uc_status along_single(double *E, const uc_audit_directions *directions, const float *B, size_t count,
                              size_t D)
{
    const size_t K = directions->K;
    float *products = uc_alloc(count * K, sizeof *products);
    if (!products)
        return UC_ERR_NOMEM;
    uc_gemm_single(products, (uc_single_operand){B, D, false},
                   (uc_single_operand){directions->turned, D, true}, count, D, K);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < K; k++)
            E[i * K + k] = products[i * K + k] - directions->offset[k];
    uc_free(products);
    return UC_OK;
}

uc_status uc_audit_along(double *E, const uc_audit_directions *directions, const uc_audit_view *view,
                         size_t first, size_t last)
{
    const size_t D = view->axes, K = directions->K, count = last - first;
    if (view->B)
        return along_single(E, directions, view->B + first * D, count, D);
    uc_gemm(E, K, (uc_operand){view->A + first * D, D, false}, (uc_operand){directions->H, D, true}, count, D,
            K, 1.0, 0.0);
    return UC_OK;
}

uc_status uc_audit_along_moved(double *E, const uc_audit_directions *directions, const double *moves,
                               const uc_audit_view *view, size_t first, size_t last)
{
    const size_t D = view->axes, K = directions->K, count = last - first;
    double *moved = uc_alloc(count * D, sizeof *moved);
    float *single = view->B ? uc_alloc(count * D, sizeof *single) : NULL;
    uc_status status = UC_OK;
    if (!moved || (view->B && !single)) {
        status = UC_ERR_NOMEM;
    } else if (view->B) {
        uc_gemm(moved, D, (uc_operand){moves, D, false}, (uc_operand){view->turn, D, true}, count, D, D, 1.0,
                0.0);
        for (size_t i = 0; i < count * D; i++)
            single[i] = (float)(view->B[first * D + i] - moved[i]);
        status = along_single(E, directions, single, count, D);
    } else {
        for (size_t i = 0; i < count * D; i++)
            moved[i] = view->A[first * D + i] - moves[i];
        uc_gemm(E, K, (uc_operand){moved, D, false}, (uc_operand){directions->H, D, true}, count, D, K, 1.0,
                0.0);
    }
    uc_free(single);
    uc_free(moved);
    return status;
}

/* ---- leverage ---- */

typedef struct leverage_job {
    uc_audit_view *view;
    const uc_labelled *labelled;
    const float *root; /* D x D: L of many rows; otherwise NULL */
} leverage_job;

/* Computes the sum over the axes for `count` rows from `first` on. */
static uc_status add_squares(double *sums, const leverage_job *job, size_t first, size_t count)
{
    const uc_audit_view *view = job->view;
    const size_t D = view->axes;
    if (!job->root) {
        for (size_t i = 0; i < count; i++)
            for (size_t d = 0; d < D; d++) {
                const double a = view->A[(first + i) * D + d];
                sums[i] += a * a * view->q[d];
            }
        return UC_OK;
    }
    float *X = uc_alloc(count * D, sizeof *X);
    if (!X)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < D; d++)
            X[i * D + d] = (float)(view->B[(first + i) * D + d] - view->mean[d]);
    uc_times_root(X, count, job->root, D, D);
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < D; d++)
            sums[i] += (double)X[i * D + d] * (double)X[i * D + d];
    uc_free(X);
    return UC_OK;
}

static uc_status find_block(size_t block, void *user)
{
    const leverage_job *job = user;
    const uc_labelled *labelled = job->labelled;
    const uc_range rows = uc_block_range(block, labelled->annotations->rows, ROWS_PER_BLOCK);
    const double n = labelled->total_weight;
    double sums[ROWS_PER_BLOCK] = {0};
    const uc_status status = add_squares(sums, job, rows.first, rows.last - rows.first);
    for (size_t i = rows.first; i < rows.last; i++) {
        const double weight = labelled->weights ? labelled->weights[i] : 1.0;
        const double h = weight * ((1.0 - job->view->s) / n * sums[i - rows.first] + 1.0 / n);
        job->view->h[i] = fmin(MOST_LEVERAGE, h);
    }
    return status;
}

/* L, given Q and q. */
static uc_status find_root(float *root, const uc_audit_view *view)
{
    const size_t D = view->axes;
    double *scaled = uc_alloc(D * D, sizeof *scaled), *inverse = uc_alloc(D * D, sizeof *inverse);
    uc_status status = scaled && inverse ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK) {
        for (size_t b = 0; b < D; b++)
            for (size_t d = 0; d < D; d++)
                scaled[b * D + d] = view->turn[b * D + d] * view->q[d];
        uc_gemm(inverse, D, (uc_operand){scaled, D, false}, (uc_operand){view->turn, D, true}, D, D, D, 1.0,
                0.0);
        status = uc_symmetric_root(root, inverse, D, D, scaled);
    }
    uc_free(inverse);
    uc_free(scaled);
    return status;
}

uc_status uc_audit_find_leverage(uc_audit_view *self, const uc_labelled *labelled)
{
    const size_t rows = labelled->annotations->rows, D = self->axes;
    float *root = self->B ? uc_alloc(D * D, sizeof *root) : NULL;
    self->h = uc_alloc(rows, sizeof *self->h);
    uc_status status = self->h && (root || !self->B) ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK && root)
        status = find_root(root, self);
    leverage_job job = {self, labelled, root};
    if (status == UC_OK)
        status = uc_run_blocks(labelled->context, uc_block_count(rows, ROWS_PER_BLOCK), find_block, &job);
    uc_free(root);
    return status;
}
