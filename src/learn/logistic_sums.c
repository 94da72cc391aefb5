/*
 * The objective of logistic regression (logistic.c), its gradient, and products with its curvature: sums over
 * the rows.
 *
 * Sparse rows of two classes are summed in a few lanes. Other sparse rows, if a process has fewer rows than
 * columns, are also kept transposed: first the gradient r_i in the scores of every row is computed, then that
 * of the weights of column j, sum_i x_ij r_i, which no two threads share.
 */
#include <string.h>

#include "learn/logistic.h"
#include "linalg/linalg.h"

#define COLUMNS_PER_BLOCK ((size_t)512)
#define NUMBERS_PER_BLOCK ((size_t)8192)

typedef uc_logistic_problem problem;

/* What is summed over the rows: the gradient at W, (1 + d) x S, or the last gradient's curvature times W. */
typedef struct row_job {
    const problem *problem;
    const double *W;
    bool product;
    bool known; /* the problem's `scores` are those at W */
} row_job;

enum { LOSS, NUMBER, TOTALS }; /* sums over the rows, weighted; they follow another sum */

/* The count of numbers in `work` that turn_rows needs. */
static size_t work_size(const problem *self)
{
    return (UC_LOGISTIC_ROWS + 1) * self->S;
}

/* Multiplies the rows' numbers by the weights of the rows; adds these to *total. */
static void weigh_rows(double *total, double *scores, const problem *self, size_t first, size_t rows)
{
    const size_t S = self->S;
    if (!self->weights) {
        *total += (double)rows;
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        *total += self->weights[first + i];
        for (size_t q = 0; q < S; q++)
            scores[i * S + q] *= self->weights[first + i];
    }
}

static void add_offsets(double *offsets, const double *scores, size_t rows, size_t S)
{
    double lanes[UC_LANES] = {0}; /* for a single number per row, additions that do not wait for each other */
    for (size_t i = 0; i < rows && S == 1; i++)
        lanes[i % UC_LANES] += scores[i];
    offsets[0] += uc_lane_sum(lanes);
    for (size_t i = 0; i < rows && S > 1; i++)
        for (size_t q = 0; q < S; q++)
            offsets[q] += scores[i * S + q];
}

/* Turns the scores of rows from `first` on into the gradient (or product) in these scores. Adds them to the
 * offsets' part, and adds the totals. */
static void turn_rows(double *offsets, double *totals, double *scores, const row_job *job, size_t first,
                      size_t rows, double *work)
{
    const problem *self = job->problem;
    const size_t S = self->S;
    double *p = self->probabilities ? self->probabilities + first * S : work + S;
    if (job->product)
        uc_logistic_rows_product(self, scores, p, first, rows, work);
    else
        totals[LOSS] += uc_logistic_rows_gradient(self, scores, p, first, rows, work);
    weigh_rows(&totals[NUMBER], scores, self, first, rows);
    add_offsets(offsets, scores, rows, S);
}

/* The scores of `rows` rows, at most UC_LOGISTIC_ROWS; `dense` as in uc_score_rows_for_gradient. */
static void score_rows(double *scores, const row_job *job, size_t first, size_t rows, double *dense)
{
    const problem *self = job->problem;
    const size_t S = self->S, bytes = rows * S * sizeof *scores;
    if (job->known) {
        memcpy(scores, self->scores + first * S, bytes);
        return;
    }
    uc_score_rows_for_gradient(scores, &self->data->X, first, rows, job->W + S, S, job->W, dense);
    if (self->scores && !job->product)
        memcpy(self->scores + first * S, scores, bytes);
}

/* Adds (1 + d) x S numbers, and LOSS and NUMBER to the totals, for rows first .. last-1. */
static uc_status add_row_range(double *sum, double *totals, size_t first, size_t last, const row_job *job)
{
    const problem *self = job->problem;
    const uc_matrix *X = &self->data->X;
    const size_t S = self->S, d = X->cols;
    const bool whole_blocks = !uc_matrix_is_sparse(X) && S > 1;
    double *scores = uc_alloc(UC_LOGISTIC_ROWS * S + work_size(self), sizeof *scores);
    double *dense = whole_blocks ? uc_alloc(UC_LOGISTIC_ROWS * d, sizeof *dense) : NULL;
    const bool enough = scores && (dense || !whole_blocks);
    for (size_t start = first; start < last && enough; start += UC_LOGISTIC_ROWS) {
        const size_t rows = uc_min_size(last - start, UC_LOGISTIC_ROWS);
        score_rows(scores, job, start, rows, dense);
        turn_rows(sum, totals, scores, job, start, rows, scores + UC_LOGISTIC_ROWS * S);
        uc_block_update(sum + S, X, start, rows, S, scores, dense);
    }
    uc_free(dense);
    uc_free(scores);
    if (!enough)
        return UC_ERR_NOMEM;
    return UC_OK;
}

static uc_status add_rows(double *sum, size_t first, size_t last, void *user)
{
    const row_job *job = user;
    const size_t used = (job->problem->data->X.cols + 1) * job->problem->S;
    return add_row_range(sum, sum + used, first, last, job);
}

/* The sums over all rows, and the totals. */
static uc_status sum_by_row(double *out, double *totals, row_job *job, const uc_context *context)
{
    const problem *self = job->problem;
    const size_t used = (self->data->X.cols + 1) * self->S;
    double *sum = uc_alloc(used + TOTALS, sizeof *sum);
    if (!sum)
        return UC_ERR_NOMEM;
    const uc_status status = uc_sum_over(context, self->data->X.rows, add_rows, job, sum, used + TOTALS);
    memcpy(out, sum, used * sizeof *sum);
    memcpy(totals, sum + used, TOTALS * sizeof *sum);
    uc_free(sum);
    return status;
}

/* ---- means over the rows, and the penalty ---- */

double uc_logistic_penalty(const problem *self)
{
    return self->S < self->K ? self->l2 / 2 : self->l2;
}

enum { SQUARES, ALONG, PRODUCTS }; /* <w, w>, and <w, mean> */

/* Turns sums into means and adds the penalty's part at the weights w; neither includes the offsets. */
typedef struct mean_job {
    double *sums;
    const double *w;
    double number, penalty;
    size_t count;
    double *products; /* PRODUCTS per block */
} mean_job;

static void finish_range(const mean_job *job, size_t block, uc_range range)
{
    double lanes[PRODUCTS][UC_LANES] = {{0}};
    const double share = 1.0 / job->number;
    for (size_t i = range.first; i < range.last; i++) {
        const double w = job->w[i], mean = job->sums[i] * share + job->penalty * w;
        job->sums[i] = mean;
        lanes[SQUARES][i % UC_LANES] += w * w;
        lanes[ALONG][i % UC_LANES] += w * mean;
    }
    for (size_t k = 0; k < PRODUCTS; k++)
        job->products[block * PRODUCTS + k] = uc_lane_sum(lanes[k]);
}

static uc_status finish_block(size_t block, void *user)
{
    const mean_job *job = user;
    finish_range(job, block, uc_block_range(block, job->count, NUMBERS_PER_BLOCK));
    return UC_OK;
}

/* ---- with more columns than rows, where a sum per thread would be longer than the data ---- */

/* Computes the residuals of rows first .. last-1; adds the offsets' part of the gradient, then the totals. */
static uc_status add_residuals(double *sum, size_t first, size_t last, void *user)
{
    const row_job *job = user;
    const problem *self = job->problem;
    const size_t S = self->S;
    double *work = uc_alloc(work_size(self), sizeof *work);
    if (!work)
        return UC_ERR_NOMEM;
    for (size_t at = first; at < last; at += UC_LOGISTIC_ROWS) {
        const size_t rows = uc_min_size(last - at, UC_LOGISTIC_ROWS);
        score_rows(self->residuals + at * S, job, at, rows, NULL);
        turn_rows(sum, sum + S, self->residuals + at * S, job, at, rows, work);
    }
    uc_free(work);
    return UC_OK;
}

typedef struct columns_job {
    const problem *problem;
    double *gradient;      /* of the weights, d x S */
    const mean_job *means; /* finishes columns while they are in the cache; NULL: not all are summed yet */
} columns_job;

static uc_status multiply_columns(size_t block, void *user)
{
    const columns_job *job = user;
    const problem *self = job->problem;
    const size_t S = self->S;
    const uc_range columns = uc_block_range(block, self->by_column->rows, COLUMNS_PER_BLOCK);
    for (size_t j = columns.first; j < columns.last; j++) {
        double *sum = job->gradient + j * S;
        memset(sum, 0, S * sizeof *sum);
        uc_row_scores(sum, uc_matrix_row(self->by_column, j), self->residuals, S);
    }
    if (job->means)
        finish_range(job->means, block, (uc_range){columns.first * S, columns.last * S});
    return UC_OK;
}

/* A process alone sets *blocks to the number of those that are finished. */
static uc_status sum_by_column(double *out, double *totals, row_job *job, mean_job *means, size_t *blocks,
                               const uc_context *context)
{
    const problem *self = job->problem;
    const size_t S = self->S, d = self->data->X.cols, all = uc_block_count(d, COLUMNS_PER_BLOCK);
    columns_job columns = {self, out + S, uc_is_shared(context) ? NULL : means};
    double *sum = uc_alloc(S + TOTALS, sizeof *sum);
    if (!sum)
        return UC_ERR_NOMEM;
    uc_status status = uc_sum_over(context, self->data->X.rows, add_residuals, job, sum, S + TOTALS);
    memcpy(out, sum, S * sizeof *sum);
    memcpy(totals, sum + S, TOTALS * sizeof *sum);
    uc_free(sum);
    means->number = totals[NUMBER];
    if (status == UC_OK)
        status = uc_run_blocks(context, all, multiply_columns, &columns);
    if (columns.means)
        *blocks = all;
    if (status != UC_OK)
        return status;
    return uc_comm_sum(uc_comm_of(context), out + S, d * S);
}

/* ---- in a few lanes, whose sums stay allocated from one call to the next ---- */

typedef struct lanes_job {
    row_job *rows;
    double *out;
    double totals[UC_LOGISTIC_MOST_LANES][TOTALS];
} lanes_job;

static uc_status fill_lane(size_t lane, void *user)
{
    lanes_job *job = user;
    const problem *self = job->rows->problem;
    const size_t n = self->data->X.rows, used = (self->data->X.cols + 1) * self->S;
    double *sum = self->lanes + lane * used;
    memset(sum, 0, used * sizeof *sum);
    return add_row_range(sum, job->totals[lane], n * lane / self->lane_count,
                         n * (lane + 1) / self->lane_count, job->rows);
}

static uc_status join_lanes(size_t block, void *user)
{
    const lanes_job *job = user;
    const problem *self = job->rows->problem;
    const size_t used = (self->data->X.cols + 1) * self->S;
    const uc_range range = uc_block_range(block, used, NUMBERS_PER_BLOCK);
    memcpy(job->out + range.first, self->lanes + range.first,
           (range.last - range.first) * sizeof *self->lanes);
    for (size_t lane = 1; lane < self->lane_count; lane++)
        uc_axpy(job->out + range.first, 1.0, self->lanes + lane * used + range.first,
                range.last - range.first);
    return UC_OK;
}

static uc_status sum_by_lane(double *out, double *totals, row_job *rows, const uc_context *context)
{
    const problem *self = rows->problem;
    const uc_comm *comm = uc_comm_of(context);
    const size_t used = (self->data->X.cols + 1) * self->S;
    const uc_context fitting = uc_context_for_work(context, (double)(self->lane_count * used));
    lanes_job job = {.rows = rows, .out = out};
    uc_status status = uc_run_blocks(context, self->lane_count, fill_lane, &job);
    if (status == UC_OK)
        status = uc_run_blocks(&fitting, uc_block_count(used, NUMBERS_PER_BLOCK), join_lanes, &job);
    memset(totals, 0, TOTALS * sizeof *totals);
    for (size_t lane = 0; lane < self->lane_count; lane++)
        for (size_t t = 0; t < TOTALS; t++)
            totals[t] += job.totals[lane][t];
    status = uc_comm_agree(comm, status);
    if (status == UC_OK)
        status = uc_comm_sum(comm, totals, TOTALS);
    return status == UC_OK ? uc_comm_sum(comm, out, used) : status;
}

/* ---- the gradient and products ---- */

/* `products`: those of finish_range, over all weights. */
static uc_status sum_rows(double *out, double *totals, double *products, row_job *job,
                          const uc_context *context)
{
    const problem *self = job->problem;
    const size_t S = self->S, d = self->data->X.cols, count = d * S;
    const size_t most = uc_block_count(count, NUMBERS_PER_BLOCK) + uc_block_count(d, COLUMNS_PER_BLOCK);
    const uc_context fitting = uc_context_for_work(context, (double)count);
    mean_job means = {.sums = out + S,
                      .w = job->W + S,
                      .penalty = uc_logistic_penalty(self),
                      .count = count,
                      .products = uc_alloc(most, PRODUCTS * sizeof(double))};
    size_t blocks = 0;
    uc_status status = means.products ? UC_OK : UC_ERR_NOMEM;
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status != UC_OK)
        goto cleanup;
    if (self->lanes)
        status = sum_by_lane(out, totals, job, context);
    else if (self->by_column)
        status = sum_by_column(out, totals, job, &means, &blocks, context);
    else
        status = sum_by_row(out, totals, job, context);
    means.number = totals[NUMBER];
    if (status == UC_OK && blocks == 0) {
        blocks = uc_block_count(count, NUMBERS_PER_BLOCK);
        status = uc_run_blocks(&fitting, blocks, finish_block, &means);
    }
    for (size_t q = 0; q < S; q++) {
        out[q] = self->free_offset ? out[q] / means.number : 0.0;
        products[ALONG] += job->W[q] * out[q];
    }
    for (size_t b = 0; b < blocks; b++)
        for (size_t k = 0; k < PRODUCTS; k++)
            products[k] += means.products[b * PRODUCTS + k];
cleanup:
    uc_free(means.products);
    return status;
}

uc_status uc_logistic_gradient_at(double *objective, double *gradient, const double *W, bool known,
                                  const problem *self, const uc_context *context)
{
    row_job job = {self, W, false, known};
    double totals[TOTALS] = {0}, products[PRODUCTS] = {0};
    const uc_status status = sum_rows(gradient, totals, products, &job, context);
    *objective = totals[LOSS] / totals[NUMBER] + uc_logistic_penalty(self) / 2 * products[SQUARES];
    return status;
}

uc_status uc_logistic_gradient(double *objective, double *gradient, const double *W, const problem *self,
                               const uc_context *context)
{
    return uc_logistic_gradient_at(objective, gradient, W, false, self, context);
}

uc_status uc_logistic_product(double *product, double *along, const double *V, const problem *self,
                              const uc_context *context)
{
    row_job job = {self, V, true, false};
    double totals[TOTALS] = {0}, products[PRODUCTS] = {0};
    const uc_status status = sum_rows(product, totals, products, &job, context);
    *along = products[ALONG];
    return status;
}
