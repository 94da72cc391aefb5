/*
 * Ridge regression for every lambda at once.
 *
 *   x_i, y_i   a row and its K targets          r_i  its weight, R the sum of all r_i
 *   m, n       means of rows and targets, weighted
 *   e, V       eigenvalues and eigenvectors of the sum of r_i (x_i - m)(x_i - m)'
 *   z_i        V'(x_i - m)                      B    sum of r_i z_i (y_i - n)'
 *
 * The minimum over w, b of  sum_i r_i |y_i - b - w'x_i|^2 + lambda |w|^2  is
 *
 *   w = V diag(1 / (e + lambda)) B        b = n - w'm        p_i = n + B' diag(1 / (e + lambda)) z_i
 *
 * and the prediction for row i of the fit without row i needs no second fit. With h_i the weight (leverage)
 * of a row in its own prediction,
 *
 *   h_i = r_i (1/R + sum_j z_ij^2 / (e_j + lambda))        l_i = y_i - (y_i - p_i) / (1 - h_i)
 *
 * (b is not penalised, and the mean, too, is that without the row). So after a single decomposition, each
 * lambda costs products of n x rank x K. If there are fewer rows than columns, the dual form gives the same
 * numbers: the Gram matrix of the rows sqrt(r_i) (x_i - m) is U e U', and sqrt(r_i) z_i = U_i sqrt(e).
 *
 * Hastie, Tibshirani, Efficient quadratic regularization for expression arrays, Biostatistics 5:329-340,
 * 2004.
 */
#include "learn/ridge/decomposition.h"

#include <math.h>
#include <string.h>

#include "data/exchange.h"
#include "learn/ridge/rows.h"
#include "linalg/linalg.h"

#define VANISHED 1e-10 /* eigenvalues below this share of the largest are dropped */

typedef struct keep_job {
    const uc_ridge *ridge;
    double *out;
} keep_job;

static uc_status keep_block(size_t block, void *user)
{
    const keep_job *job = user;
    const size_t first = block * UC_RIDGE_ROWS, left = job->ridge->X->rows - first;
    double *work = uc_alloc(uc_ridge_rows_work(job->ridge), sizeof *work);
    if (!work)
        return UC_ERR_NOMEM;
    uc_ridge_rows(job->out + first * job->ridge->rank, job->ridge, first, uc_min_size(left, UC_RIDGE_ROWS),
                  work);
    uc_free(work);
    return UC_OK;
}

/* Every pass over the rows needs their coordinates, whose computation costs more than all the rest. They are
 * kept if there is enough memory. */
static uc_status keep_coordinates(uc_ridge *self)
{
    const size_t n = self->X->rows;
    const double bytes = 8.0 * (double)n * (double)self->rank;
    if (bytes > (double)uc_memory_limit(self->context) / 4)
        return UC_OK;
    keep_job job = {self, uc_alloc(n * self->rank, sizeof *job.out)};
    if (!job.out)
        return UC_ERR_NOMEM;
    const uc_context alone = uc_context_alone(self->context);
    const uc_status status = uc_run_blocks(&alone, (n + UC_RIDGE_ROWS - 1) / UC_RIDGE_ROWS, keep_block, &job);
    self->coordinates = job.out;
    return status;
}

/* Counts the eigenvalues that have not vanished. */
static void count_rank(uc_ridge *self, size_t found)
{
    self->rank = 0;
    while (self->rank < found && self->values[self->rank] > VANISHED * self->values[0])
        self->rank++;
}

/* ---- the primal form ---- */

static uc_status decompose_columns(uc_ridge *self)
{
    const size_t d = self->X->cols;
    uc_status status = uc_eigen_check(d, 16.0 * (double)d * (double)d, "ridge", self->context);
    if (status != UC_OK)
        return status;
    double *squares = uc_alloc(d * d, sizeof *squares);
    self->values = uc_alloc(d, sizeof *self->values);
    self->vectors = uc_alloc(d * d, sizeof *self->vectors);
    if (squares && self->values && self->vectors)
        status = uc_ridge_sum_squares(squares, self);
    else
        status = UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_eigen_top(self->values, self->vectors, squares, d, d, self->context);
    uc_free(squares);
    if (status != UC_OK)
        return status;
    count_rank(self, d);
    return keep_coordinates(self);
}

/* ---- the dual form ---- */

typedef struct gram_job {
    const uc_ridge *ridge;
    const uc_matrix *rows; /* of all processes */
    const double *roots;   /* of their weights; NULL: all 1 */
    const double *along;   /* <x_i, m> */
    double *gram, norm2;   /* |m|^2 */
} gram_job;

/* Computes a row of the Gram matrix: the products of row i with the rows up to itself. */
static uc_status gram_row(size_t i, void *user)
{
    const gram_job *job = user;
    const size_t n = job->rows->rows, d = job->rows->cols;
    double *x = uc_alloc(d, sizeof *x);
    if (!x)
        return UC_ERR_NOMEM;
    uc_row_axpy(1.0, uc_matrix_row(job->rows, i), x);
    for (size_t j = 0; j <= i; j++) {
        double product =
            uc_row_dot(uc_matrix_row(job->rows, j), x) - job->along[i] - job->along[j] + job->norm2;
        if (job->roots)
            product *= job->roots[i] * job->roots[j];
        job->gram[i * n + j] = job->gram[j * n + i] = product;
    }
    uc_free(x);
    return UC_OK;
}

/* The square roots of the weights of all processes' rows; NULL: all 1. */
static uc_status gather_roots(double **out, const uc_ridge *self, size_t total)
{
    void *all = NULL;
    *out = NULL;
    if (!self->weights)
        return UC_OK;
    const uc_status status = uc_comm_gather(&all, NULL, uc_comm_of(self->context), self->weights,
                                            self->X->rows * sizeof *self->weights);
    *out = all;
    for (size_t i = 0; i < total && status == UC_OK; i++)
        (*out)[i] = sqrt((*out)[i]);
    return status;
}

static uc_status make_gram(gram_job *job)
{
    const uc_ridge *self = job->ridge;
    const size_t n = job->rows->rows;
    double *along = uc_alloc(n, sizeof *along);
    if (!along)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        along[i] = uc_row_dot(uc_matrix_row(job->rows, i), self->mean);
    job->along = along;
    job->norm2 = uc_dot(self->mean, self->mean, self->X->cols);
    const uc_context alone = uc_context_alone(self->context);
    const uc_status status = uc_run_blocks(&alone, n, gram_row, job);
    uc_free(along);
    return status;
}

/* Computes the coordinates of this process's rows from the eigenvectors of the Gram matrix of all rows. */
static uc_status take_coordinates(uc_ridge *self, const double *vectors, size_t all, size_t first)
{
    const size_t n = self->X->rows;
    count_rank(self, all);
    self->coordinates = uc_alloc(n * self->rank, sizeof *self->coordinates);
    if (!self->coordinates)
        return UC_ERR_NOMEM;
    for (size_t j = 0; j < self->rank; j++)
        for (size_t i = 0; i < n; i++)
            self->coordinates[i * self->rank + j] = sqrt(self->values[j]) * vectors[j * all + first + i];
    return UC_OK;
}

static uc_status decompose_rows(uc_ridge *self, uc_share share)
{
    const size_t n = share.total;
    uc_matrix rows = {0};
    gram_job job = {.ridge = self, .rows = &rows};
    double *roots = NULL, *vectors = NULL;
    const uc_context alone = uc_context_alone(self->context);
    uc_status status = uc_eigen_check(n, 16.0 * (double)n * (double)n, "ridge", self->context);
    if (status == UC_OK)
        status = uc_gather_matrix(&rows, self->X, NULL, 0, self->context);
    if (status == UC_OK)
        status = gather_roots(&roots, self, n);
    if (status != UC_OK)
        goto cleanup;
    job.roots = roots;
    job.gram = uc_alloc(n * n, sizeof *job.gram);
    vectors = uc_alloc(n * n, sizeof *vectors);
    self->values = uc_alloc(n, sizeof *self->values);
    status = UC_ERR_NOMEM;
    if (job.gram && vectors && self->values)
        status = make_gram(&job);
    if (status == UC_OK)
        status = uc_eigen_top(self->values, vectors, job.gram, n, n, &alone);
    if (status == UC_OK)
        status = take_coordinates(self, vectors, n, share.first);

cleanup:
    uc_free(vectors);
    uc_free(job.gram);
    uc_free(roots);
    uc_matrix_free(&rows);
    return status;
}

uc_status uc_ridge_decompose(uc_ridge *out, const uc_matrix *X, const double *weights,
                             const uc_context *context)
{
    uc_ridge self = {.X = X, .weights = weights, .context = context};
    uc_share share = {0};
    uc_status status = uc_blas_ready(context);
    if (status == UC_OK)
        status = uc_share_of(&share, context, X->rows);
    if (status == UC_OK)
        status = uc_ridge_find_mean(&self);
    if (status == UC_OK && uc_ridge_is_dual(X, share.total))
        status = decompose_rows(&self, share);
    else if (status == UC_OK)
        status = decompose_columns(&self);
    if (status == UC_OK)
        *out = self;
    else
        uc_ridge_free(&self);
    return status;
}

/* ---- targets ---- */

typedef struct targets_job {
    const uc_ridge *ridge;
    const uc_ridge_targets *targets;
} targets_job;

static uc_status add_target_means(double *sum, size_t first, size_t last, void *user)
{
    const targets_job *job = user;
    const size_t K = job->targets->count;
    for (size_t i = first; i < last; i++)
        for (size_t k = 0; k < K; k++)
            sum[k] += uc_ridge_weight(job->ridge, i) * job->targets->Y[i * K + k];
    return UC_OK;
}

/* Adds Z' T, where T is the centred targets times sqrt(r). */
static uc_status add_targets(double *sum, size_t first, size_t last, void *user)
{
    const targets_job *job = user;
    const uc_ridge *self = job->ridge;
    const size_t K = job->targets->count, rank = self->rank;
    double *memory = uc_alloc(UC_RIDGE_ROWS * (rank + K) + uc_ridge_rows_work(self), sizeof *memory);
    if (!memory)
        return UC_ERR_NOMEM;
    double *Z = memory, *T = Z + UC_RIDGE_ROWS * rank, *work = T + UC_RIDGE_ROWS * K;
    for (size_t start = first; start < last; start += UC_RIDGE_ROWS) {
        const size_t count = uc_min_size(last - start, UC_RIDGE_ROWS);
        uc_ridge_rows(Z, self, start, count, work);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < K; k++)
                T[i * K + k] = sqrt(uc_ridge_weight(self, start + i)) *
                               (job->targets->Y[(start + i) * K + k] - job->targets->mean[k]);
        uc_gemm(sum, K, (uc_operand){Z, rank, true}, (uc_operand){T, K, false}, rank, count, K, 1.0, 1.0);
    }
    uc_free(memory);
    return UC_OK;
}

uc_status uc_ridge_project(uc_ridge_targets *out, const uc_ridge *self, const double *Y, size_t count)
{
    uc_ridge_targets targets = {.Y = Y, .count = count};
    targets_job job = {self, &targets};
    targets.mean = uc_alloc(count, sizeof *targets.mean);
    targets.B = uc_alloc(self->rank * count, sizeof *targets.B);
    uc_status status = UC_ERR_NOMEM;
    if (targets.mean && targets.B)
        status = uc_sum_over(self->context, self->X->rows, add_target_means, &job, targets.mean, count);
    for (size_t k = 0; k < count && status == UC_OK; k++)
        targets.mean[k] /= self->total;
    if (status == UC_OK)
        status = uc_sum_over(self->context, self->X->rows, add_targets, &job, targets.B, self->rank * count);
    if (status == UC_OK && self->shared.T.n > 0)
        status = uc_ridge_share_targets(&targets, self);
    if (status == UC_OK)
        *out = targets;
    else
        uc_ridge_targets_free(&targets);
    return status;
}

void uc_ridge_targets_free(uc_ridge_targets *self)
{
    uc_free(self->mean);
    uc_free(self->B);
    *self = (uc_ridge_targets){0};
}

/* ---- predictions ---- */

typedef struct visit_job {
    const uc_ridge *ridge;
    const uc_ridge_targets *targets;
    const double *lambdas;
    size_t lambda_count;
    double *scaled;  /* rank x (lambdas x K): B divided by e + lambda */
    double *inverse; /* rank x lambdas: 1 / (e + lambda) */
    uc_ridge_visit_fn *visit;
    void *user;
} visit_job;

/* Computes the parts of predictions and leverages that do not depend on the row. */
static uc_status prepare_visit(visit_job *job)
{
    const size_t rank = job->ridge->rank, K = job->targets->count, count = job->lambda_count;
    job->scaled = uc_alloc(rank * count * K, sizeof *job->scaled);
    job->inverse = uc_alloc(rank * count, sizeof *job->inverse);
    if (!job->scaled || !job->inverse)
        return UC_ERR_NOMEM;
    for (size_t j = 0; j < rank; j++)
        for (size_t l = 0; l < count; l++) {
            const double inverse = 1.0 / (job->ridge->values[j] + job->lambdas[l]);
            job->inverse[j * count + l] = inverse;
            for (size_t k = 0; k < K; k++)
                job->scaled[(j * count + l) * K + k] = inverse * job->targets->B[j * K + k];
        }
    return UC_OK;
}

/* Turns the predictions P for row i, without the mean and times sqrt(r_i), into leave-one-out predictions. */
static void leave_out(double *P, const double *leverage, const visit_job *job, size_t i)
{
    const size_t K = job->targets->count;
    const double r = uc_ridge_weight(job->ridge, i), *y = job->targets->Y + i * K;
    for (size_t l = 0; l < job->lambda_count; l++) {
        const double h = fmin(leverage[l] + r / job->ridge->total, UC_MOST_LEVERAGE);
        for (size_t k = 0; k < K; k++) {
            const double p = P[l * K + k] / sqrt(r) + job->targets->mean[k];
            P[l * K + k] = y[k] - (y[k] - p) / (1.0 - h);
        }
    }
}

static uc_status visit_rows(double *sum, size_t first, size_t last, void *user)
{
    const visit_job *job = user;
    const uc_ridge *self = job->ridge;
    const size_t rank = self->rank, count = job->lambda_count, width = count * job->targets->count;
    double *memory =
        uc_alloc(UC_RIDGE_ROWS * (rank + width + count) + uc_ridge_rows_work(self), sizeof *memory);
    if (!memory)
        return UC_ERR_NOMEM;
    double *Z = memory, *P = Z + UC_RIDGE_ROWS * rank, *H = P + UC_RIDGE_ROWS * width;
    double *work = H + UC_RIDGE_ROWS * count;
    for (size_t start = first; start < last; start += UC_RIDGE_ROWS) {
        const size_t rows = uc_min_size(last - start, UC_RIDGE_ROWS);
        uc_ridge_rows(Z, self, start, rows, work);
        uc_multiply(P, Z, job->scaled, rows, rank, width);
        for (size_t i = 0; i < rows * rank; i++)
            Z[i] *= Z[i];
        uc_multiply(H, Z, job->inverse, rows, rank, count);
        for (size_t i = 0; i < rows; i++) {
            leave_out(P + i * width, H + i * count, job, start + i);
            job->visit(sum, start + i, P + i * width, job->user);
        }
    }
    uc_free(memory);
    return UC_OK;
}

uc_status uc_ridge_visit(double *sum, size_t length, const uc_ridge *self, const uc_ridge_targets *targets,
                         const double *lambdas, size_t lambda_count, uc_ridge_visit_fn *visit, void *user)
{
    visit_job job = {self, targets, lambdas, lambda_count, NULL, NULL, visit, user};
    uc_status status = prepare_visit(&job);
    if (status == UC_OK)
        status = uc_sum_over(self->context, self->X->rows, visit_rows, &job, sum, length);
    uc_free(job.scaled);
    uc_free(job.inverse);
    return status;
}

typedef struct copy_job {
    double *out;
    size_t count;
} copy_job;

static void copy_row(double *sum, size_t i, const double *L, void *user)
{
    const copy_job *job = user;
    (void)sum;
    memcpy(job->out + i * job->count, L, job->count * sizeof *L);
}

uc_status uc_ridge_decomposed_leave_one_out(double *out, const uc_ridge *self,
                                            const uc_ridge_targets *targets, double lambda)
{
    copy_job job = {out, targets->count};
    double nothing = 0.0;
    return uc_ridge_visit(&nothing, 1, self, targets, &lambda, 1, copy_row, &job);
}

/* ---- weights ---- */

/* The dual form: V = X' U / sqrt(e), so w is a sum over rows. */
typedef struct dual_weights_job {
    const uc_ridge *ridge;
    const double *c; /* rank x S: the factor of V, divided by e */
    size_t S;
} dual_weights_job;

/* Adds alpha_i x_i to the d x S weights, followed by the sums of the alpha_i. */
static uc_status add_dual_weights(double *sum, size_t first, size_t last, void *user)
{
    const dual_weights_job *job = user;
    const uc_ridge *self = job->ridge;
    const size_t S = job->S, d = self->X->cols;
    double *alpha = uc_alloc(S, sizeof *alpha);
    if (!alpha)
        return UC_ERR_NOMEM;
    for (size_t i = first; i < last; i++) {
        uc_multiply(alpha, self->coordinates + i * self->rank, job->c, 1, self->rank, S);
        for (size_t k = 0; k < S; k++)
            alpha[k] *= sqrt(uc_ridge_weight(self, i));
        uc_row_update(sum, S, uc_matrix_row(self->X, i), alpha);
        for (size_t k = 0; k < S; k++)
            sum[d * S + k] += alpha[k];
    }
    uc_free(alpha);
    return UC_OK;
}

static uc_status dual_weights(double *W, const uc_ridge *self, double *c, size_t S)
{
    const size_t d = self->X->cols;
    for (size_t j = 0; j < self->rank; j++)
        for (size_t k = 0; k < S; k++)
            c[j * S + k] /= self->values[j];
    dual_weights_job job = {self, c, S};
    double *sum = uc_alloc((d + 1) * S, sizeof *sum);
    if (!sum)
        return UC_ERR_NOMEM;
    const uc_status status =
        uc_sum_over(self->context, self->X->rows, add_dual_weights, &job, sum, (d + 1) * S);
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < S; k++)
            W[j * S + k] = sum[j * S + k] - self->mean[j] * sum[d * S + k];
    uc_free(sum);
    return status;
}

uc_status uc_ridge_decomposed_weights(double *W, size_t stride, const uc_ridge *self,
                                      const uc_ridge_targets *targets, double lambda)
{
    const size_t d = self->X->cols, K = targets->count;
    double *c = uc_alloc(self->rank * stride, sizeof *c);
    if (!c)
        return UC_ERR_NOMEM;
    for (size_t j = 0; j < self->rank; j++)
        for (size_t k = 0; k < K; k++)
            c[j * stride + k] = targets->B[j * K + k] / (self->values[j] + lambda);
    uc_status status = UC_OK;
    if (self->vectors)
        uc_gemm(W, stride, (uc_operand){self->vectors, d, true}, (uc_operand){c, stride, false}, d,
                self->rank, stride, 1.0, 0.0);
    else
        status = dual_weights(W, self, c, stride);
    uc_free(c);
    return status;
}
