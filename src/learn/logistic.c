/*
 * Multinomial logistic regression on labels that a matrix has confused.
 *
 *   x_i, y_i  an example and its observed label      s_q = <w_q, x> + b_q    p = softmax(s)
 *   C, B      C[k][q] = P(observed k | true q), and its inverse
 *
 *   minimise  1/n sum_i loss_i + l2/2 sum_q ||w_q||^2          over W and the free offsets b
 *
 *   none      loss = -log p_y                         gradient in s_q:  p_q - [q = y]
 *   forward   loss = -log o,  o = sum_q C[y][q] p_q                     p_q - C[y][q] p_q / o
 *   backward  loss = -sum_q B[q][y] log p_q                             p_q sum_r B[r][y] - B[q][y]
 *
 * With weights u_i the mean is sum_i u_i loss_i / sum_i u_i; with soft labels loss_i is the mean over the
 * label.
 *
 * Forward is the likelihood of the observed labels (Patrini, Rozza, Krishna Menon, Nock, Qu, CVPR 2017). It
 * is not convex; the search starts at zero, and without offsets. p then estimates the probability of the
 * true class. The minimiser is Newton (newton.c) or L-BFGS, depending on the data; both use sums over rows.
 *
 * Sparse rows of two classes are summed in a few lanes. Other sparse rows, if a process has fewer rows than
 * columns, are also kept transposed: first the gradient r_i in the scores of every row is computed, then that
 * of the weights of column j, sum_i x_ij r_i, which no two threads share.
 */
#include <math.h>
#include <string.h>

#include "learn/logistic.h"
#include "learn/minimise.h"
#include "learn/newton.h"
#include "linalg/linalg.h"

#define COLUMNS_PER_BLOCK ((size_t)512)
#define NUMBERS_PER_BLOCK ((size_t)8192)
#define NEWTON_VECTORS ((size_t)10) /* at the peak, including the model */
#define LBFGS_VECTORS ((size_t)20)
#define STAGE 100.0        /* times the tolerance: when offsets become free */
#define FAR 100.0          /* times the tolerance: beyond it, L-BFGS ignores where Newton's method ended */
#define LEAST_SPREAD 1e-12 /* of p (1 - p) */

#define FIELD(name) offsetof(uc_logistic_settings, name)

static const uc_option options[] = {
    {.name = "correction",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(correction),
     .standard = "auto",
     .choices = "auto|none|forward|backward",
     .help = "how the noise matrix is used (auto: forward when noise is given, else none)"},
    {.name = "l2",
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(l2),
     .standard = "0.0001",
     .low = 0,
     .high = 1e6,
     .argument = "L",
     .help = "strength of the L2 penalty, the squared length of the weights (auto: by the likelihood of "
             "held-out labels)"},
    UC_MINIMISE_OPTIONS(uc_logistic_settings),
    UC_CLASS_WEIGHT_OPTION(uc_logistic_settings),
    {.name = NULL},
};

typedef uc_logistic_problem problem;

/* What is summed over the rows: the gradient at W, (1 + d) x S, or the last gradient's curvature times W. */
typedef struct row_job {
    const problem *problem;
    const double *W;
    bool product;
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
        uc_score_rows_for_gradient(scores, X, start, rows, job->W + S, S, job->W, dense);
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

/* ---- with more columns than rows, where a sum per thread would be longer than the data ---- */

/* Computes the residuals of rows first .. last-1; adds the offsets' part of the gradient, then the totals. */
static uc_status add_residuals(double *sum, size_t first, size_t last, void *user)
{
    const row_job *job = user;
    const problem *self = job->problem;
    const size_t S = self->S;
    double *scores = self->residuals + first * S;
    uc_score_rows_for_gradient(scores, &self->data->X, first, last - first, job->W + S, S, job->W, NULL);
    double *work = uc_alloc(work_size(self), sizeof *work);
    if (!work)
        return UC_ERR_NOMEM;
    for (size_t at = first; at < last; at += UC_LOGISTIC_ROWS)
        turn_rows(sum, sum + S, self->residuals + at * S, job, at, uc_min_size(last - at, UC_LOGISTIC_ROWS),
                  work);
    uc_free(work);
    return UC_OK;
}

typedef struct columns_job {
    const problem *problem;
    double *gradient; /* of the weights, d x S */
} columns_job;

static uc_status multiply_columns(size_t block, void *user)
{
    const columns_job *job = user;
    const problem *self = job->problem;
    const size_t S = self->S, d = self->by_column->rows, first = block * COLUMNS_PER_BLOCK;
    for (size_t j = first; j < d && j < first + COLUMNS_PER_BLOCK; j++) {
        double *sum = job->gradient + j * S;
        memset(sum, 0, S * sizeof *sum);
        uc_row_scores(sum, uc_matrix_row(self->by_column, j), self->residuals, S);
    }
    return UC_OK;
}

static uc_status sum_by_column(double *out, double *totals, row_job *job, const uc_context *context)
{
    const problem *self = job->problem;
    const size_t S = self->S, d = self->data->X.cols;
    columns_job columns = {self, out + S};
    double *sum = uc_alloc(S + TOTALS, sizeof *sum);
    if (!sum)
        return UC_ERR_NOMEM;
    uc_status status = uc_sum_over(context, self->data->X.rows, add_residuals, job, sum, S + TOTALS);
    memcpy(out, sum, S * sizeof *sum);
    memcpy(totals, sum + S, TOTALS * sizeof *sum);
    uc_free(sum);
    if (status == UC_OK)
        status = uc_run_blocks(context, uc_block_count(d, COLUMNS_PER_BLOCK), multiply_columns, &columns);
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

/* ---- means over the rows, and the penalty ---- */

/* The factor of |w|^2 / 2. Two classes have weights +-w/2, w being their difference: 2 (w/2)^2 = w^2/2. */
static double penalty_of(const problem *self)
{
    return self->S < self->K ? self->l2 / 2 : self->l2;
}

/* Turns sums into means and adds the penalty's part at W; *squares is that of the weights. */
typedef struct mean_job {
    double *sums;
    const double *W;
    double number, penalty;
    size_t count;
    double *squares; /* one per block */
} mean_job;

static uc_status add_penalty(size_t block, void *user)
{
    const mean_job *job = user;
    const uc_range range = uc_block_range(block, job->count, NUMBERS_PER_BLOCK);
    double squares = 0.0;
    for (size_t i = range.first; i < range.last; i++) {
        const double w = job->W[i];
        job->sums[i] = job->sums[i] / job->number + job->penalty * w;
        squares += w * w;
    }
    job->squares[block] = squares;
    return UC_OK;
}

static uc_status make_means(double *squares, double *sums, const double *W, double number,
                            const problem *self, const uc_context *context)
{
    const size_t S = self->S, count = self->data->X.cols * S,
                 blocks = uc_block_count(count, NUMBERS_PER_BLOCK);
    mean_job job = {sums + S, W + S, number, penalty_of(self), count, uc_alloc(blocks, sizeof(double))};
    const uc_context fitting = uc_context_for_work(context, (double)count);
    *squares = 0.0;
    if (!job.squares)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < S; i++)
        sums[i] = self->free_offset ? sums[i] / number : 0.0;
    const uc_status status = uc_run_blocks(&fitting, blocks, add_penalty, &job);
    for (size_t b = 0; b < blocks; b++)
        *squares += job.squares[b];
    uc_free(job.squares);
    return status;
}

static uc_status sum_rows(double *out, double *totals, double *squares, row_job *job,
                          const uc_context *context)
{
    uc_status status;
    if (job->problem->lanes)
        status = sum_by_lane(out, totals, job, context);
    else if (job->problem->by_column)
        status = sum_by_column(out, totals, job, context);
    else
        status = sum_by_row(out, totals, job, context);
    if (status != UC_OK)
        return status;
    return make_means(squares, out, job->W, totals[NUMBER], job->problem, context);
}

uc_status uc_logistic_gradient(double *objective, double *gradient, const double *W, const problem *self,
                               const uc_context *context)
{
    row_job job = {self, W, false};
    double totals[TOTALS] = {0}, squares = 0.0;
    const uc_status status = sum_rows(gradient, totals, &squares, &job, context);
    *objective = totals[LOSS] / totals[NUMBER] + penalty_of(self) / 2 * squares;
    return status;
}

uc_status uc_logistic_product(double *product, const double *V, const problem *self,
                              const uc_context *context)
{
    row_job job = {self, V, true};
    double totals[TOTALS] = {0}, squares = 0.0;
    return sum_rows(product, totals, &squares, &job, context);
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

typedef struct search {
    const problem *problem;
    const uc_context *context;
    double *column_squares; /* sums over all rows */
} search;

static uc_status evaluate(double *objective, double *gradient, const double *W, void *user)
{
    const search *self = user;
    return uc_logistic_gradient(objective, gradient, W, self->problem, self->context);
}

static uc_status multiply(double *product, const double *direction, void *user)
{
    const search *self = user;
    return uc_logistic_product(product, direction, self->problem, self->context);
}

/* The mean square of a column times the mean p (1 - p) of a class: exact at the start, where all p are equal.
 * All offsets get the same number, which keeps their sum at 0; the objective does not depend on it. A column
 * without values and penalty has no curvature and does not change in any step, so 1 will do. */
static uc_status diagonal(double *out, void *user)
{
    const search *self = user;
    const problem *of = self->problem;
    const size_t S = of->S, d = of->data->X.cols;
    double *spread = uc_alloc(S + 1, sizeof *spread);
    if (!spread)
        return UC_ERR_NOMEM;
    const uc_status status =
        uc_sum_over(self->context, of->data->X.rows, add_spreads, (void *)of, spread, S + 1);
    double mean = 0.0;
    for (size_t q = 0; q < S; q++) {
        spread[q] = fmax(spread[q] / spread[S], LEAST_SPREAD);
        mean += spread[q] / (double)S;
    }
    for (size_t q = 0; q < S; q++)
        out[q] = mean;
    for (size_t j = 0; j < d; j++)
        for (size_t q = 0; q < S; q++) {
            const double curvature = self->column_squares[j] / spread[S] * spread[q] + penalty_of(of);
            out[(j + 1) * S + q] = curvature > 0.0 ? curvature : 1.0;
        }
    uc_free(spread);
    return status;
}

/* ---- minimisation ---- */

/* Newton steps; if they do not get close to the minimum, gives up and restores the weights. */
static uc_status step_down(uc_minimum *out, double *weights, search *user,
                           const uc_conditioning *conditioning, const uc_logistic_settings *settings)
{
    const problem *self = user->problem;
    const uc_matrix *X = &self->data->X;
    const size_t count = (X->cols + 1) * self->S;
    const uc_curvature curvature = {multiply, diagonal};
    double *start = uc_alloc(count, sizeof *start);
    uc_status status = UC_ERR_NOMEM;
    user->column_squares = uc_alloc(X->cols, sizeof *user->column_squares);
    if (!start || !user->column_squares)
        goto cleanup;
    memcpy(start, weights, count * sizeof *start);
    uc_logistic_column_squares(user->column_squares, self);
    status = uc_comm_sum(uc_comm_of(user->context), user->column_squares, X->cols);
    if (status == UC_OK)
        status = uc_newton(out, weights, count, evaluate, &curvature, user, conditioning,
                           settings->iterations, settings->tolerance, user->context);
    if (out->excess > FAR && out->iterations < settings->iterations)
        memcpy(weights, start, count * sizeof *start);
cleanup:
    uc_free(user->column_squares);
    uc_free(start);
    return status;
}

/* With many classes, the vectors of a solver take more memory than anything else. */
static uc_status check_vectors(const problem *self, size_t vectors, const uc_context *context)
{
    char what[128];
    const size_t d = self->data->X.cols, K = self->K;
    const double bytes = (double)vectors * (double)(d + 1) * (double)self->S * sizeof(double);
    snprintf(what, sizeof what, "logistic with %zu features and %zu classes", d, K);
    return uc_comm_agree(uc_comm_of(context), uc_memory_check(context, bytes, what));
}

/* The second derivative of the mean loss in a score is p (1 - p), which is 1/K (1 - 1/K) at the start. */
static double curvature_of(const problem *self)
{
    const double share = 1.0 / (double)self->K;
    return share * (1.0 - share);
}

static uc_status condition(uc_conditioning *out, const problem *self, const uc_context *context)
{
    const double l2 = penalty_of(self), curvature = curvature_of(self);
    const uc_matrix *X = &self->data->X;
    uc_status status = uc_conditioning_fit(out, X, self->S, l2, curvature, self->free_offset, context);
    if (status == UC_OK)
        status = uc_conditioning_whiten(out, X, l2, curvature, context);
    return status;
}

/* Newton steps if there is memory for them (plan_newton); L-BFGS otherwise, and if they gave up. */
static uc_status descend(uc_minimum *out, double *weights, const problem *self,
                         const uc_conditioning *conditioning, const uc_logistic_settings *settings,
                         const uc_context *context)
{
    search user = {.problem = self, .context = context};
    const size_t count = (self->data->X.cols + 1) * self->S;
    uc_minimum newton = {.excess = INFINITY};
    uc_status status = UC_OK;
    if (self->probabilities)
        status = check_vectors(self, NEWTON_VECTORS, context);
    if (status == UC_OK && self->probabilities)
        status = step_down(&newton, weights, &user, conditioning, settings);
    *out = newton;
    if (status != UC_OK || newton.excess <= 1.0 || newton.iterations >= settings->iterations)
        return status;
    status = check_vectors(self, LBFGS_VECTORS, context);
    if (status == UC_OK)
        status = uc_minimise(out, weights, count, evaluate, &user, conditioning,
                             settings->iterations - newton.iterations, settings->tolerance, context);
    out->iterations += newton.iterations;
    out->evaluations += newton.evaluations;
    return status;
}

/* Minimises without offsets, to a loose tolerance. */
static uc_status descend_first(uc_minimum *out, double *weights, const problem *self,
                               const uc_conditioning *conditioning, const uc_logistic_settings *settings,
                               const uc_context *context)
{
    problem stage = *self;
    uc_logistic_settings roughly = *settings;
    uc_conditioning fixed = {0};
    uc_status status;
    stage.free_offset = false;
    roughly.tolerance = fmin(STAGE * settings->tolerance, 1.0);
    if (conditioning->root)
        status = uc_conditioning_fix_offset(&fixed, conditioning, curvature_of(self));
    else
        status = condition(&fixed, &stage, context);
    if (status == UC_OK)
        status = descend(out, weights, &stage, &fixed, &roughly, context);
    uc_conditioning_free(&fixed);
    return status;
}

/* The forward loss is not convex. Offsets that are free from the start may drive a class to probability 0,
 * and no gradient brings it back (on digits with 70% wrong labels, one of the ten was lost). Weights that
 * have found the classes first prevent this. */
static uc_status minimise_from(uc_minimum *out, double *weights, const problem *self,
                               const uc_logistic_settings *settings, const uc_context *context)
{
    uc_minimum first = {0};
    uc_conditioning conditioning = {0};
    uc_status status = condition(&conditioning, self, context);
    if (status == UC_OK && self->correction == UC_CORRECTION_FORWARD && self->free_offset && !self->started)
        status = descend_first(&first, weights, self, &conditioning, settings, context);
    if (status == UC_OK)
        status = descend(out, weights, self, &conditioning, settings, context);
    uc_conditioning_free(&conditioning);
    if (status == UC_OK)
        uc_minimum_warn(out, "logistic", settings->iterations, UC_ADVISE_L2, context);
    out->iterations += first.iterations;
    out->evaluations += first.evaluations;
    return status;
}

/* Copies the weights at which the search begins, unless it begins at 0. */
static uc_status begin(uc_model *model, const uc_model *start)
{
    if (!start)
        return UC_OK;
    if (start->dimension != model->dimension || start->classes.count != model->classes.count)
        return uc_fail(UC_ERR_INVALID,
                       "the model to start from has %zu features and %zu classes, not %zu and %zu",
                       start->dimension, start->classes.count, model->dimension, model->classes.count);
    memcpy(model->weights, start->weights, (model->dimension + 1) * model->stride * sizeof *model->weights);
    return UC_OK;
}

/* Two classes, represented by the difference of their weights. */
static uc_status minimise_pair(uc_minimum *out, uc_model *model, const problem *self,
                               const uc_logistic_settings *settings, const uc_context *context)
{
    const size_t count = self->data->X.cols + 1;
    double *difference = uc_alloc(count, sizeof *difference);
    if (!difference)
        return UC_ERR_NOMEM;
    for (size_t j = 0; j < count; j++)
        difference[j] = model->weights[2 * j + 1] - model->weights[2 * j];
    const uc_status status = minimise_from(out, difference, self, settings, context);
    for (size_t j = 0; j < count; j++) {
        model->weights[2 * j] = -0.5 * difference[j];
        model->weights[2 * j + 1] = 0.5 * difference[j];
    }
    uc_free(difference);
    return status;
}

static uc_status minimise(uc_model *model, const problem *self, const uc_logistic_settings *settings,
                          const uc_context *context)
{
    uc_minimum found = {0};
    uc_status status;
    if (self->S < self->K)
        status = minimise_pair(&found, model, self, settings, context);
    else
        status = minimise_from(&found, model->weights, self, settings, context);
    if (status != UC_OK)
        return status;
    model->bias = self->free_offset; /* the free offset is the weight of a constant 1 */
    status = uc_json_set(model->summary, "iterations", json_integer((json_int_t)found.iterations));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "updates", json_integer((json_int_t)found.evaluations));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "objective", json_real(found.value));
    return status;
}

static uc_status fit(uc_model *model, const uc_fit *fit, const void *user)
{
    const uc_logistic_settings *settings = user;
    const uc_noise *noise = fit->train->noise;
    const size_t K = fit->data->classes.count;
    int correction = settings->correction;
    if (correction == UC_CORRECTION_AUTO)
        correction = noise ? UC_CORRECTION_FORWARD : UC_CORRECTION_NONE;
    if (correction != UC_CORRECTION_NONE && !noise)
        return uc_fail(UC_ERR_INVALID,
                       "{correction=%s} needs the noise: give it with {noise-matrix} or {noise-rate}",
                       correction == UC_CORRECTION_FORWARD ? "forward" : "backward");
    if (isnan(settings->l2))
        return uc_fail(UC_ERR_INVALID, "{l2=auto} must become a number before training (uc_tune)");
    double *inverse = NULL;
    uc_status status = uc_blas_begin(uc_threads(fit->context));
    if (status == UC_OK && correction == UC_CORRECTION_BACKWARD) {
        inverse = uc_alloc(K * K, sizeof *inverse);
        status = UC_ERR_NOMEM;
        if (inverse)
            status = uc_noise_invert(inverse, noise, 0.0);
    }
    problem self = {.data = fit->data,
                    .K = K,
                    .S = K == 2 ? 1 : model->stride,
                    .correction = (uc_correction)correction,
                    .B = inverse,
                    .l2 = settings->l2,
                    .weights = fit->weights,
                    .free_offset = fit->train->bias != 0.0,
                    .started = fit->train->start != NULL};
    uc_matrix by_column = {0};
    if (noise)
        self.C = noise->values;
    status = uc_comm_agree(uc_comm_of(fit->context), status);
    if (status == UC_OK)
        status = uc_logistic_plan(&self, &by_column, fit);
    if (status == UC_OK)
        status = begin(model, fit->train->start);
    if (status == UC_OK)
        status = minimise(model, &self, settings, fit->context);
    uc_matrix_free(&by_column);
    uc_free(self.probabilities);
    uc_free(self.residuals);
    uc_free(self.lanes);
    uc_free(inverse);
    return status;
}

static const double l2_values[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
static const uc_candidates candidates[] = {{"l2", l2_values, sizeof l2_values / sizeof *l2_values}, {0}};

const uc_learner uc_learner_logistic = {
    .name = "logistic",
    .summary = "labels confused by a matrix, or clean; gives probabilities, and finds suspicious labels",
    .paper =
        "Patrini, Rozza, Krishna Menon, Nock, Qu: Making deep neural networks robust to label noise: a loss "
        "correction approach, CVPR 2017",
    .options = options,
    .settings_size = sizeof(uc_logistic_settings),
    .full = true,
    .free_offset = true,
    .uses_noise = true,
    .probabilities = true,
    .soft = true,
    .class_weight = offsetof(uc_logistic_settings, class_weight),
    .candidates = candidates,
    .follows = true,
    .fit = fit,
};
