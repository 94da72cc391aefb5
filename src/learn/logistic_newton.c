/*
 * Newton steps for logistic regression (logistic.c) on sparse rows.
 *
 *   z, u      the scores of the rows at the weights W, and their change by a step V
 *
 *   f(W + t V) = 1/n sum_i loss_i(z_i + t u_i) + l2/2 (<W, W> + 2 t <W, V> + t^2 <V, V>)
 *
 * Once u is known, the objective along a step takes numbers of the rows only, not their values. So steps go
 * to the smallest value along them, and the gradient there begins with known scores. The two arrays of
 * numbers per row: `scores` holds z. `probabilities` holds p while products need it, and then u.
 */
#include <math.h>
#include <string.h>

#include "learn/logistic.h"
#include "learn/newton.h"
#include "linalg/linalg.h"

#define NUMBERS_PER_BLOCK ((size_t)8192)
#define COLUMNS_PER_BLOCK ((size_t)512)
#define LEAST_SPREAD 1e-12 /* of p (1 - p) */
#define FAR 100.0          /* times the tolerance: beyond it, L-BFGS ignores where Newton's method ended */

typedef uc_logistic_problem problem;

enum { OF_WEIGHTS, OF_BOTH, OF_STEP, SQUARES }; /* <W, W>, <W, V>, <V, V>, without offsets */

typedef struct search {
    const problem *problem;
    const uc_context *context;
    double *column_squares; /* sums over all rows */
    bool moved;             /* `scores` are those of the next point */
    double squares[SQUARES];
    double *block_squares; /* SQUARES per block */
} search;

static uc_status evaluate(double *objective, double *gradient, const double *W, void *user)
{
    search *self = user;
    const bool known = self->moved;
    self->moved = false;
    return uc_logistic_gradient_at(objective, gradient, W, known, self->problem, self->context);
}

static uc_status multiply(double *product, double *along, const double *direction, void *user)
{
    const search *self = user;
    return uc_logistic_product(product, along, direction, self->problem, self->context);
}

/* ---- approximate diagonal of the curvature ---- */

/* Adds p (1 - p) of each class, then the number of rows. */
static uc_status add_spreads(double *sum, size_t first, size_t last, void *user)
{
    const problem *self = user;
    const size_t S = self->S, K = uc_min_size(S, self->K);
    for (size_t i = first; i < last; i++) {
        const double weight = self->weights ? self->weights[i] : 1.0, *p = self->probabilities + i * S;
        for (size_t q = 0; q < K; q++)
            sum[q] += weight * p[q] * (1.0 - p[q]);
        sum[S] += weight;
    }
    return UC_OK;
}

typedef struct diagonal_job {
    const search *search;
    const double *spread; /* the means of p (1 - p), and the number of rows */
    double *out;
} diagonal_job;

static uc_status fill_diagonal(size_t block, void *user)
{
    const diagonal_job *job = user;
    const problem *self = job->search->problem;
    const size_t S = self->S;
    const uc_range columns = uc_block_range(block, self->data->X.cols, COLUMNS_PER_BLOCK);
    for (size_t j = columns.first; j < columns.last; j++) {
        const double square = job->search->column_squares[j] / job->spread[S];
        for (size_t q = 0; q < S; q++) {
            const double curvature = square * job->spread[q] + uc_logistic_penalty(self);
            job->out[(j + 1) * S + q] = curvature > 0.0 ? curvature : 1.0;
        }
    }
    return UC_OK;
}

/* The mean square of a column times the mean p (1 - p) of a class: exact at the start, where all p are equal.
 * All offsets get the same number, which keeps their sum at 0; the objective does not depend on it. A column
 * without values and penalty has no curvature and does not change in any step, so 1 will do. */
static uc_status diagonal(double *out, void *user)
{
    const search *self = user;
    const problem *of = self->problem;
    const size_t S = of->S, d = of->data->X.cols;
    const uc_context fitting = uc_context_for_work(self->context, (double)(d * S));
    double *spread = uc_alloc(S + 1, sizeof *spread);
    if (!spread)
        return UC_ERR_NOMEM;
    uc_status status = uc_sum_over(self->context, of->data->X.rows, add_spreads, (void *)of, spread, S + 1);
    double mean = 0.0;
    for (size_t q = 0; q < S; q++) {
        spread[q] = fmax(spread[q] / spread[S], LEAST_SPREAD);
        mean += spread[q] / (double)S;
    }
    for (size_t q = 0; q < S; q++)
        out[q] = mean;
    diagonal_job job = {self, spread, out};
    if (status == UC_OK)
        status = uc_run_blocks(&fitting, uc_block_count(d, COLUMNS_PER_BLOCK), fill_diagonal, &job);
    uc_free(spread);
    return status;
}

/* ---- along a step ---- */

typedef struct line_job {
    const search *search;
    const double *W, *V;
    double factor;
} line_job;

static uc_status add_squares(size_t block, void *user)
{
    const line_job *job = user;
    const problem *self = job->search->problem;
    const size_t S = self->S;
    const uc_range range = uc_block_range(block, self->data->X.cols * S, NUMBERS_PER_BLOCK);
    double sums[SQUARES] = {0};
    for (size_t i = S + range.first; i < S + range.last; i++) {
        sums[OF_WEIGHTS] += job->W[i] * job->W[i];
        sums[OF_BOTH] += job->W[i] * job->V[i];
        sums[OF_STEP] += job->V[i] * job->V[i];
    }
    memcpy(job->search->block_squares + block * SQUARES, sums, sizeof sums);
    return UC_OK;
}

static uc_status score_step(size_t block, void *user)
{
    const line_job *job = user;
    const problem *self = job->search->problem;
    const size_t S = self->S;
    const uc_range rows = uc_block_range(block, self->data->X.rows, UC_LOGISTIC_ROWS);
    uc_score_rows_for_gradient(self->probabilities + rows.first * S, &self->data->X, rows.first,
                               rows.last - rows.first, job->V + S, S, job->V, NULL);
    return UC_OK;
}

static uc_status begin_line(const double *W, const double *step, void *user)
{
    search *self = user;
    const problem *of = self->problem;
    const size_t count = of->data->X.cols * of->S, blocks = uc_block_count(count, NUMBERS_PER_BLOCK);
    const uc_context fitting = uc_context_for_work(self->context, (double)count);
    line_job job = {self, W, step, 0.0};
    uc_status status =
        uc_run_blocks(self->context, uc_block_count(of->data->X.rows, UC_LOGISTIC_ROWS), score_step, &job);
    if (status == UC_OK)
        status = uc_run_blocks(&fitting, blocks, add_squares, &job);
    memset(self->squares, 0, sizeof self->squares);
    for (size_t b = 0; b < blocks; b++)
        for (size_t k = 0; k < SQUARES; k++)
            self->squares[k] += self->block_squares[b * SQUARES + k];
    return uc_comm_agree(uc_comm_of(self->context), status);
}

enum { LOSS, SLOPE, NUMBER, TOTALS };

/* Adds losses and slopes at z + t u. */
static uc_status add_along(double *sum, size_t first, size_t last, void *user)
{
    const line_job *job = user;
    const problem *self = job->search->problem;
    const size_t S = self->S;
    double *scores = uc_alloc((2 * UC_LOGISTIC_ROWS + 1) * S, sizeof *scores);
    if (!scores)
        return UC_ERR_NOMEM;
    double *p = scores + UC_LOGISTIC_ROWS * S, *work = p + UC_LOGISTIC_ROWS * S;
    for (size_t at = first; at < last; at += UC_LOGISTIC_ROWS) {
        const size_t rows = uc_min_size(last - at, UC_LOGISTIC_ROWS);
        const double *z = self->scores + at * S, *u = self->probabilities + at * S;
        for (size_t i = 0; i < rows * S; i++)
            scores[i] = z[i] + job->factor * u[i];
        sum[LOSS] += uc_logistic_rows_gradient(self, scores, p, at, rows, work);
        for (size_t i = 0; i < rows; i++) {
            const double weight = self->weights ? self->weights[at + i] : 1.0;
            double slope = 0.0;
            for (size_t q = 0; q < S; q++)
                slope += scores[i * S + q] * u[i * S + q];
            sum[SLOPE] += weight * slope;
            sum[NUMBER] += weight;
        }
    }
    uc_free(scores);
    return UC_OK;
}

static uc_status look_along(double *value, double *slope, double factor, void *user)
{
    const search *self = user;
    const problem *of = self->problem;
    const double *squares = self->squares, penalty = uc_logistic_penalty(of);
    line_job job = {.search = self, .factor = factor};
    double totals[TOTALS] = {0};
    const uc_status status = uc_sum_over(self->context, of->data->X.rows, add_along, &job, totals, TOTALS);
    const double square = squares[OF_WEIGHTS] + factor * (2.0 * squares[OF_BOTH] + factor * squares[OF_STEP]);
    *value = totals[LOSS] / totals[NUMBER] + penalty / 2 * square;
    *slope = totals[SLOPE] / totals[NUMBER] + penalty * (squares[OF_BOTH] + factor * squares[OF_STEP]);
    return status;
}

static uc_status move_scores(size_t block, void *user)
{
    const line_job *job = user;
    const problem *of = job->search->problem;
    const uc_range range = uc_block_range(block, of->data->X.rows * of->S, NUMBERS_PER_BLOCK);
    for (size_t i = range.first; i < range.last; i++)
        of->scores[i] += job->factor * of->probabilities[i];
    return UC_OK;
}

static uc_status follow_line(double factor, void *user)
{
    search *self = user;
    const size_t count = self->problem->data->X.rows * self->problem->S;
    line_job job = {.search = self, .factor = factor};
    const uc_context fitting = uc_context_for_work(self->context, (double)count);
    self->moved = true;
    return uc_run_blocks(&fitting, uc_block_count(count, NUMBERS_PER_BLOCK), move_scores, &job);
}

/* ---- minimisation ---- */

static bool is_zero(const double *values, size_t count)
{
    size_t i = 0;
    while (i < count && values[i] == 0.0)
        i++;
    return i == count;
}

/* Goes back to where the search began, if it gave up. Most searches begin at 0, which need not be kept. */
static void give_up(double *weights, const double *start, size_t count)
{
    if (start)
        memcpy(weights, start, count * sizeof *start);
    else
        memset(weights, 0, count * sizeof *weights);
}

uc_status uc_logistic_newton(uc_minimum *out, double *weights, const problem *self,
                             const uc_conditioning *conditioning, const uc_logistic_settings *settings,
                             const uc_context *context)
{
    static const uc_curvature curvature = {multiply, diagonal, begin_line, look_along, follow_line};
    const size_t d = self->data->X.cols, count = (d + 1) * self->S;
    search user = {.problem = self,
                   .context = context,
                   .column_squares = uc_alloc(d, sizeof(double)),
                   .block_squares =
                       uc_alloc(uc_block_count(d * self->S, NUMBERS_PER_BLOCK), SQUARES * sizeof(double))};
    const bool from_zero = is_zero(weights, count);
    double *start = from_zero ? NULL : uc_alloc(count, sizeof *start);
    uc_status status = UC_ERR_NOMEM;
    if ((!start && !from_zero) || !user.column_squares || !user.block_squares)
        goto cleanup;
    if (start)
        memcpy(start, weights, count * sizeof *start);
    uc_logistic_column_squares(user.column_squares, self);
    status = uc_comm_sum(uc_comm_of(context), user.column_squares, d);
    if (status == UC_OK)
        status = uc_newton(out, weights, count, evaluate, &curvature, &user, conditioning,
                           settings->iterations, settings->tolerance, context);
    if (out->excess > FAR && out->iterations < settings->iterations)
        give_up(weights, start, count);
cleanup:
    uc_free(user.column_squares);
    uc_free(user.block_squares);
    uc_free(start);
    return status;
}
