/*
 * Gaussian classes with a common covariance, fitted to soft labels R, and the scores of rows by fits without
 * them.
 *
 *   a_i       coordinates of row i on uncorrelated axes of mean 0 and variances w      u_i  its weight
 *   c, f      sums of u R + 1e-9, and their shares of the total weight n
 *   M_k       mean of class k:  sum_i u_i R_ik a_i / c_k
 *   q         1 / ((1 - s) w + s mean w): the inverse of the shrunk total covariance, which is diagonal
 *
 * The covariance within classes is the total covariance minus that of the class means, (1 - s) M' diag(f) M.
 * Its inverse follows from the diagonal one (Woodbury), with only K x K matrices:
 *
 *   H = M diag(q)      G = H M'      U = I + G (diag(1 / ((1 - s) f)) - G)^-1
 *   W = U H            b_k = -<W_k, M_k> / 2
 *
 * A score is U (H a) + b, and (1 - s) H a f is a linear smoother of R with leverage h_i. The score of row i
 * by the fit without it therefore needs no other fit:
 *
 *   E_i = (1 - s) f (H a_i)      E_i <- (E_i - h_i (R_i - f)) / (1 - h_i)      U (E_i / f / (1 - s)) + b
 *
 * With more classes than axes, the D x D covariance itself is inverted. As U = I + W M' diag((1 - s) f), and
 * M'f, the mean of all rows, is 0, all of that is
 *
 *   W = M (diag(1 / q) - (1 - s) M' diag(f) M)^-1
 *   score without row i:  (W (a_i - h_i M'R_i) - h_i (R_i / f - 1) / (1 - s)) / (1 - h_i) + b
 */
#include <math.h>
#include <string.h>

#include "learn/audit/views.h"
#include "linalg/linalg.h"

#define LEAST_COUNT 1e-9 /* for a class that no row has */
#define ROWS_PER_BLOCK ((size_t)256)

/* ---- the fit ---- */

typedef struct mean_job {
    const uc_audit_view *view;
    const uc_labelled *labelled;
    const double *R;
    size_t K;
} mean_job;

/* Adds (u R)'A, K x D, as coordinates are stored, then the sums of u R. */
static uc_status add_means(double *sum, size_t first, size_t last, void *user)
{
    const mean_job *job = user;
    const size_t K = job->K, D = job->view->axes, count = last - first;
    double *counts = sum + K * D;
    const double *R = job->R + first * K;
    double *weighted = NULL;
    if (job->labelled->weights) {
        weighted = uc_alloc(count * K, sizeof *weighted);
        if (!weighted)
            return UC_ERR_NOMEM;
        for (size_t i = 0; i < count * K; i++)
            weighted[i] = R[i] * job->labelled->weights[first + i / K];
        R = weighted;
    }
    const uc_status status = uc_audit_add_coordinates(sum, job->view, first, last, R, K);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < K; k++)
            counts[k] += R[i * K + k];
    uc_free(weighted);
    return status;
}

/* U from G, and W. As G is symmetric, the transpose of U solves (diag - G) X = G, plus I. */
static uc_status weigh_few_classes(uc_audit_view_fit *self, const uc_audit_view *view, size_t K)
{
    const size_t D = view->axes;
    const double s = view->s;
    double *G = uc_alloc(K * K, sizeof *G), *B = uc_alloc(K * K, sizeof *B);
    double *X = uc_alloc(K * K, sizeof *X);
    uc_status status = UC_ERR_NOMEM;
    if (!G || !B || !X)
        goto cleanup;
    for (size_t k = 0; k < K; k++)
        for (size_t d = 0; d < D; d++)
            self->H[k * D + d] = self->M[k * D + d] * view->q[d];
    uc_gemm(G, K, (uc_operand){self->H, D, false}, (uc_operand){self->M, D, true}, K, D, K, 1.0, 0.0);
    for (size_t k = 0; k < K; k++)
        for (size_t l = 0; l < K; l++)
            B[k * K + l] = (k == l ? 1.0 / ((1.0 - s) * self->f[k]) : 0.0) - G[k * K + l];
    status = uc_solve(X, B, G, K, K);
    if (status != UC_OK)
        goto cleanup;
    for (size_t k = 0; k < K; k++)
        for (size_t l = 0; l < K; l++)
            self->U[k * K + l] = X[l * K + k] + (k == l ? 1.0 : 0.0);
    uc_multiply(self->W, self->U, self->H, K, K, D);
cleanup:
    uc_free(X);
    uc_free(B);
    uc_free(G);
    return status;
}

/* W from the covariance within classes. */
static uc_status weigh_many_classes(uc_audit_view_fit *self, const uc_audit_view *view, size_t K)
{
    const size_t D = view->axes;
    double *within = uc_alloc(D * D, sizeof *within), *inverse = uc_alloc(D * D, sizeof *inverse);
    uc_status status = UC_ERR_NOMEM;
    if (!within || !inverse)
        goto cleanup;
    for (size_t d = 0; d < D; d++)
        within[d * D + d] = 1.0 / view->q[d];
    for (size_t k = 0; k < K; k++)
        for (size_t d = 0; d < D; d++)
            self->W[k * D + d] = self->M[k * D + d] * self->f[k];
    uc_gemm(within, D, (uc_operand){self->W, D, true}, (uc_operand){self->M, D, false}, D, K, D,
            view->s - 1.0, 1.0);
    status = uc_invert(inverse, within, D);
    if (status == UC_OK)
        uc_multiply(self->W, self->M, inverse, K, D, D);
cleanup:
    uc_free(inverse);
    uc_free(within);
    return status;
}

static uc_status allocate(uc_audit_view_fit *self, size_t K, size_t D)
{
    self->M = uc_alloc(K * D + K, sizeof *self->M);
    self->W = uc_alloc(K * D, sizeof *self->W);
    self->b = uc_alloc(K, sizeof *self->b);
    self->f = uc_alloc(K, sizeof *self->f);
    if (!self->M || !self->W || !self->b || !self->f)
        return UC_ERR_NOMEM;
    if (K > D)
        return UC_OK;
    self->H = uc_alloc(K * D, sizeof *self->H);
    self->U = uc_alloc(K * K, sizeof *self->U);
    return self->H && self->U ? UC_OK : UC_ERR_NOMEM;
}

/* M holds K x D and then K numbers, as add_means leaves them; the first part becomes the means. */
static uc_status solve(uc_audit_view_fit *self, const uc_audit_view *view, double n, size_t K)
{
    const size_t D = view->axes;
    for (size_t k = 0; k < K; k++) {
        const double c = self->M[K * D + k] + LEAST_COUNT;
        self->f[k] = c / n;
        for (size_t d = 0; d < D; d++)
            self->M[k * D + d] /= c;
    }
    uc_status status;
    if (self->U)
        status = weigh_few_classes(self, view, K);
    else
        status = weigh_many_classes(self, view, K);
    for (size_t k = 0; k < K && status == UC_OK; k++)
        self->b[k] = -0.5 * uc_dot(self->W + k * D, self->M + k * D, D);
    return status;
}

uc_status uc_audit_view_fit_make(uc_audit_view_fit *out, const uc_audit_view *view,
                                 const uc_labelled *labelled, const double *R)
{
    const size_t K = labelled->annotations->K, D = view->axes;
    uc_audit_view_fit self = {0};
    mean_job job = {view, labelled, R, K};
    uc_status status = uc_comm_agree(uc_comm_of(labelled->context), allocate(&self, K, D));
    if (status == UC_OK)
        status =
            uc_sum_over(labelled->context, labelled->annotations->rows, add_means, &job, self.M, K * D + K);
    if (status == UC_OK)
        status = uc_audit_turn_sums(self.M, self.M + K * D, view, K);
    if (status == UC_OK)
        status = solve(&self, view, labelled->total_weight, K);
    if (status == UC_OK)
        *out = self;
    else
        uc_audit_view_fit_free(&self);
    return status;
}

void uc_audit_view_fit_free(uc_audit_view_fit *self)
{
    uc_free(self->M);
    uc_free(self->W);
    uc_free(self->b);
    uc_free(self->f);
    uc_free(self->H);
    uc_free(self->U);
    *self = (uc_audit_view_fit){0};
}

/* ---- leave-one-out ---- */

typedef struct score_job {
    const uc_audit_view_fit *fit;
    const uc_audit_view *view;
    const uc_audit_directions *directions; /* H; W if there are more classes than axes */
    const double *R;
    double *S, share;
    size_t rows, K;
} score_job;

static uc_status score_few_classes(size_t block, void *user)
{
    const score_job *job = user;
    const uc_range rows = uc_block_range(block, job->rows, ROWS_PER_BLOCK);
    const size_t count = rows.last - rows.first, K = job->K;
    const double s = job->view->s, *f = job->fit->f, *b = job->fit->b;
    double *E = uc_alloc(2 * count * K, sizeof *E);
    if (!E)
        return UC_ERR_NOMEM;
    double *scores = E + count * K;
    const uc_status status = uc_audit_along(E, job->directions, job->view, rows.first, rows.last);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        const double h = job->view->h[rows.first + i], *R = job->R + (rows.first + i) * K;
        for (size_t k = 0; k < K; k++) {
            const double own = (1.0 - s) * f[k] * E[i * K + k];
            E[i * K + k] = (own - h * (R[k] - f[k])) / (1.0 - h) / f[k] / (1.0 - s);
        }
    }
    uc_gemm(scores, K, (uc_operand){E, K, false}, (uc_operand){job->fit->U, K, true}, count, K, K, 1.0, 0.0);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < K; k++)
            job->S[(rows.first + i) * K + k] += job->share * (scores[i * K + k] + b[k]);
    uc_free(E);
    return status;
}

static uc_status score_many_classes(size_t block, void *user)
{
    const score_job *job = user;
    const uc_range rows = uc_block_range(block, job->rows, ROWS_PER_BLOCK);
    const size_t count = rows.last - rows.first, K = job->K, D = job->view->axes;
    const double s = job->view->s, *f = job->fit->f, *b = job->fit->b, *h = job->view->h + rows.first;
    const double *R = job->R + rows.first * K;
    double *S = job->S + rows.first * K;
    double *E = uc_alloc(count * (K + D), sizeof *E);
    if (!E)
        return UC_ERR_NOMEM;
    double *own = E + count * K; /* h_i M'R_i: what row i adds to its own coordinates */
    uc_gemm(own, D, (uc_operand){R, K, false}, (uc_operand){job->fit->M, D, false}, count, K, D, 1.0, 0.0);
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < D; d++)
            own[i * D + d] *= h[i];
    const uc_status status = uc_audit_along_moved(E, job->directions, own, job->view, rows.first, rows.last);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        for (size_t k = 0; k < K; k++) {
            const double label = h[i] * (R[i * K + k] / f[k] - 1.0) / (1.0 - s);
            S[i * K + k] += job->share * ((E[i * K + k] - label) / (1.0 - h[i]) + b[k]);
        }
    uc_free(E);
    return status;
}

uc_status uc_audit_view_leave_one_out(double *S, const uc_audit_view_fit *self, const uc_audit_view *view,
                                      const uc_labelled *labelled, const double *R, double share)
{
    const size_t rows = labelled->annotations->rows, K = labelled->annotations->K;
    uc_audit_directions directions = {0};
    uc_status status = uc_audit_directions_make(&directions, self->U ? self->H : self->W, view, K);
    score_job job = {self, view, &directions, R, S, share, rows, K};
    const size_t blocks = uc_block_count(rows, ROWS_PER_BLOCK);
    if (status == UC_OK && self->U)
        status = uc_run_blocks(labelled->context, blocks, score_few_classes, &job);
    else if (status == UC_OK)
        status = uc_run_blocks(labelled->context, blocks, score_many_classes, &job);
    uc_audit_directions_free(&directions);
    return status;
}

uc_status uc_audit_scores(double *S, double *pi, const uc_audit_view *views, size_t count,
                          const uc_labelled *labelled, const double *R)
{
    const size_t rows = labelled->annotations->rows, K = labelled->annotations->K;
    uc_status status = uc_class_prior(pi, labelled, R);
    for (size_t i = 0; i < rows * K; i++)
        S[i] = 0.0;
    for (size_t v = 0; v < count && status == UC_OK; v++) {
        uc_audit_view_fit fit = {0};
        status = uc_audit_view_fit_make(&fit, &views[v], labelled, R);
        if (status == UC_OK)
            status = uc_audit_view_leave_one_out(S, &fit, &views[v], labelled, R, 1.0 / (double)count);
        status = uc_comm_agree(uc_comm_of(labelled->context), status);
        uc_audit_view_fit_free(&fit);
    }
    for (size_t i = 0; i < rows * K && status == UC_OK; i++)
        S[i] += log(pi[i % K]);
    return status;
}
