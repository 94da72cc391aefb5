/*
 * The risks of positive and unlabelled rows.
 *
 *   P, U     labelled rows, unlabelled rows            pi     P(y = +), the class prior
 *   f        score, <w, x> + b                           l(z)   loss of a margin z
 *   g        share of labelled rows in the population; 0 if the unlabelled rows alone are the population
 *
 *   positive part   pi mean_P l(f)
 *   negative part   E l(-f) - pi mean_P l(-f),     E h = g mean_P h + (1 - g) mean_U h
 *
 * E is the mean over the population, so the negative part estimates (1 - pi) E[l(-f) | y = -] without a
 * negative row, and the sum of the two parts estimates the risk (du Plessis, Niu, Sugiyama, NIPS 2014 and
 * ICML 2015). With few rows the negative part can fall below 0, although no mean of losses does; the rows are
 * then overfitted. The non-negative risk uses max(0, negative part) instead (Kiryo, Niu, du Plessis,
 * Sugiyama, NIPS 2017).
 *
 *   logistic   log(1 + e^-z)            l(z) - l(-z) = -z: the sum is convex
 *   hinge      max(-z, max(0, (1-z)/2)), the double hinge, rounded off around -1 and 1; also convex
 *   sigmoid    1/(1 + e^z)              bounded, not convex
 *
 * Elkan and Noto (KDD 2008) learn which rows are labelled, by the mean over all rows of l(f) for labelled and
 * l(-f) for unlabelled ones.
 *
 * All means are weighted by the weights of the rows. If classes have different costs, the positive part
 * counts c+ times and the negative part c- times. Each row's own weight is multiplied by `own` for l(f) and
 * `other` for l(-f) if it is in P, by `unlabelled` for l(-f) if it is in U. The objective adds
 * l2/2 sum_j factors_j w_j^2.
 */
#include <math.h>
#include <string.h>

#include "data/weights.h"
#include "learn/pu/pu.h"
#include "linalg/linalg.h"

#define ROWS_AT_ONCE ((size_t)64) /* rows; a dense block of them stays in the cache */
#define ROUNDING 0.5              /* of the hinge's corners, on both sides */
#define SIGN_SCALE 4.0            /* deviation of the scores of UC_PU_BY_SIGN */

/* ---- losses ---- */

/* The integral of a ramp from 0 at u = -1 to 1 at u = 1; *ramp is its value. */
static double ramp_integral(double *ramp, double u)
{
    *ramp = fmin(fmax((u + 1.0) / 2.0, 0.0), 1.0);
    return u > 1.0 ? u : *ramp * *ramp;
}

double uc_pu_loss_at(double *slope, uc_pu_loss loss, double z)
{
    if (loss == UC_PU_HINGE) {
        double left, right;
        const double value =
            ramp_integral(&left, (z + 1.0) / ROUNDING) + ramp_integral(&right, (z - 1.0) / ROUNDING);
        *slope = (left + right) / 2.0 - 1.0;
        return ROUNDING / 2.0 * value - z;
    }
    const double small = exp(-fabs(z)), wrong = (z > 0.0 ? small : 1.0) / (1.0 + small); /* 1/(1 + e^z) */
    if (loss == UC_PU_SIGMOID) {
        *slope = -small / ((1.0 + small) * (1.0 + small));
        return wrong;
    }
    *slope = -wrong;
    return fmax(-z, 0.0) + log1p(small);
}

/* ---- the rows in use, and their weights ---- */

typedef struct row_weights {
    double own;        /* multiplies l(f) of a labelled row */
    double other;      /* multiplies l(-f) of a labelled row */
    double unlabelled; /* multiplies l(-f) of an unlabelled row */
} row_weights;

static row_weights weights_for(const uc_pu_problem *self, double labelled, double unlabelled)
{
    const uc_pu_rows *rows = self->rows;
    const double both = rows->labelled + rows->unlabelled;
    if (self->kind == UC_PU_ELKAN_NOTO)
        return (row_weights){rows->labelled / both / labelled, 0.0, rows->unlabelled / both / unlabelled};
    const double share = rows->scenario == UC_PU_CENSORED ? rows->labelled / both : 0.0;
    const double missed = self->cost ? self->cost[0] : 1.0, false_alarm = self->cost ? self->cost[1] : 1.0;
    return (row_weights){missed * self->prior / labelled, false_alarm * (share - self->prior) / labelled,
                         false_alarm * (1.0 - share) / unlabelled};
}

static bool is_used(const uc_pu_problem *self, size_t row)
{
    const uint8_t fold = self->held_out < 0 ? 0 : self->rows->fold[row];
    return self->held_out < 0 || (fold != self->held_out && fold != UC_PU_UNUSED);
}

static bool is_labelled(const uc_pu_rows *self, size_t row)
{
    return self->data->y[row] == self->positive;
}

static uc_status add_counts(double *sum, size_t first, size_t last, void *user)
{
    const uc_pu_problem *self = user;
    for (size_t i = first; i < last; i++)
        if (is_used(self, i))
            sum[is_labelled(self->rows, i) ? 0 : 1] += uc_row_weight(self->rows->data, i);
    return UC_OK;
}

uc_status uc_pu_problem_count(uc_pu_problem *self)
{
    double sum[2] = {0.0, 0.0};
    const uc_status status =
        uc_sum_over(self->rows->context, self->rows->data->X.rows, add_counts, self, sum, 2);
    self->labelled = sum[0];
    self->unlabelled = sum[1];
    return status;
}

/* ---- the objective ---- */

typedef struct gradient_job {
    const uc_pu_problem *problem;
    const double *weights;
    row_weights count;
    size_t columns; /* 2: separate gradients of both parts; 1: of their sum */
} gradient_job;

/* Turns the score of a row into its gradient; adds to the parts of the risk. */
static void add_row(double *parts, double *slopes, const gradient_job *job, size_t row, double f)
{
    const uc_pu_problem *self = job->problem;
    const bool labelled = is_labelled(self->rows, row);
    const double u = uc_row_weight(self->rows->data, row);
    double as_positive = 0.0, own = 0.0, as_negative;
    const double other = uc_pu_loss_at(&as_negative, self->loss, -f);
    if (labelled)
        own = uc_pu_loss_at(&as_positive, self->loss, f);
    const double weight = u * (labelled ? job->count.other : job->count.unlabelled);
    parts[0] += u * job->count.own * own;
    parts[1] += weight * other;
    slopes[0] = u * job->count.own * as_positive;
    slopes[job->columns - 1] = -weight * as_negative + (job->columns == 1 ? slopes[0] : 0.0);
}

/* Adds the gradients, (1 + d) x columns, followed by both parts, over rows first .. last-1. */
static uc_status add_gradient(double *sum, size_t first, size_t last, void *user)
{
    const gradient_job *job = user;
    const uc_pu_problem *self = job->problem;
    const uc_matrix *X = &self->rows->data->X;
    const size_t S = job->columns, d = X->cols;
    double scores[ROWS_AT_ONCE], slopes[2 * ROWS_AT_ONCE];
    double *work = uc_alloc(uc_matrix_is_sparse(X) ? 0 : ROWS_AT_ONCE * d, sizeof *work);
    if (!work)
        return UC_ERR_NOMEM;
    for (size_t start = first; start < last; start += ROWS_AT_ONCE) {
        const size_t rows = last - start < ROWS_AT_ONCE ? last - start : ROWS_AT_ONCE;
        uc_score_rows_for_gradient(scores, X, start, rows, job->weights + 1, 1, job->weights, work);
        memset(slopes, 0, sizeof slopes);
        for (size_t i = 0; i < rows; i++) {
            if (!is_used(self, start + i))
                continue;
            add_row(sum + (d + 1) * S, slopes + i * S, job, start + i, scores[i]);
            for (size_t k = 0; k < S; k++)
                sum[k] += slopes[i * S + k];
        }
        uc_block_update(sum + S, X, start, rows, S, slopes, work);
    }
    uc_free(work);
    return UC_OK;
}

/* max(0, x), rounded off: smoothing log(1 + e^(x/smoothing)); *slope is its derivative. */
static double rounded_max(double *slope, double x, double smoothing)
{
    double wrong;
    const double value = smoothing * uc_pu_loss_at(&wrong, UC_PU_LOGISTIC, -x / smoothing);
    *slope = -wrong;
    return value;
}

uc_status uc_pu_objective(double *value, double *gradient, uc_pu_parts *parts, const uc_pu_problem *self,
                          const double *weights)
{
    const size_t d = self->rows->data->X.cols, S = self->smoothing > 0.0 ? 2 : 1, used = (d + 1) * S;
    gradient_job job = {self, weights, weights_for(self, self->labelled, self->unlabelled), S};
    double *sum = uc_alloc(used + 2, sizeof *sum);
    if (!sum)
        return UC_ERR_NOMEM;
    const uc_status status =
        uc_sum_over(self->rows->context, self->rows->data->X.rows, add_gradient, &job, sum, used + 2);
    double slope = 1.0, penalty = 0.0, negative = sum[used + 1];
    if (S == 2)
        negative = rounded_max(&slope, negative, self->smoothing);
    for (size_t j = 0; j <= d; j++)
        gradient[j] = S == 1 ? sum[j] : sum[2 * j] + slope * sum[2 * j + 1];
    if (!self->rows->free_offset)
        gradient[0] = 0.0;
    for (size_t j = 1; j <= d; j++) {
        const double factor = self->l2 * (self->factors ? self->factors[j - 1] : 1.0);
        gradient[j] += factor * weights[j];
        penalty += factor * weights[j] * weights[j] / 2.0;
    }
    *value = sum[used] + negative + penalty;
    if (parts)
        *parts = (uc_pu_parts){sum[used], sum[used + 1]};
    uc_free(sum);
    return status;
}

/* ---- held-out rows ---- */

typedef struct scoring {
    const uc_pu_rows *rows;
    const double *weights;
    double *scores;
} scoring;

#define ROWS_PER_BLOCK ((size_t)512)

static uc_status score_block(size_t block, void *user)
{
    const scoring *self = user;
    const uc_matrix *X = &self->rows->data->X;
    const size_t first = block * ROWS_PER_BLOCK;
    for (size_t i = first; i < X->rows && i < first + ROWS_PER_BLOCK; i++)
        self->scores[i] = self->weights[0] + uc_row_dot(uc_matrix_row(X, i), self->weights + 1);
    return UC_OK;
}

uc_status uc_pu_scores(double *scores, const uc_pu_rows *rows, const double *weights)
{
    scoring all = {rows, weights, scores};
    return uc_run_blocks(rows->context, (rows->data->X.rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK,
                         score_block, &all);
}

typedef struct held_out_job {
    const uc_pu_problem *problem;
    const double *scores;
    uc_pu_loss loss;
    double scale; /* multiplies the scores */
} held_out_job;

enum { HELD_LABELLED, HELD_UNLABELLED, OWN_LOSS, OTHER_LOSS, UNLABELLED_LOSS, HELD_SUMS };

static uc_status add_held_out(double *sum, size_t first, size_t last, void *user)
{
    const held_out_job *job = user;
    const uc_pu_problem *self = job->problem;
    for (size_t i = first; i < last; i++) {
        double slope;
        if (self->rows->fold[i] != self->held_out)
            continue;
        const bool labelled = is_labelled(self->rows, i);
        const double f = job->scale * job->scores[i], u = uc_row_weight(self->rows->data, i);
        sum[labelled ? HELD_LABELLED : HELD_UNLABELLED] += u;
        sum[labelled ? OTHER_LOSS : UNLABELLED_LOSS] += u * uc_pu_loss_at(&slope, job->loss, -f);
        if (labelled)
            sum[OWN_LOSS] += u * uc_pu_loss_at(&slope, job->loss, f);
    }
    return UC_OK;
}

/* Adds weight, sum and sum of squares of the scores of the unlabelled rows in use. */
static uc_status add_moments(double *sum, size_t first, size_t last, void *user)
{
    const held_out_job *job = user;
    for (size_t i = first; i < last; i++) {
        if (is_labelled(job->problem->rows, i) || !is_used(job->problem, i))
            continue;
        const double u = uc_row_weight(job->problem->rows->data, i);
        sum[0] += u;
        sum[1] += u * job->scores[i];
        sum[2] += u * job->scores[i] * job->scores[i];
    }
    return UC_OK;
}

static uc_status scale_scores(held_out_job *job)
{
    double sum[3] = {0.0, 0.0, 0.0};
    const uc_pu_rows *rows = job->problem->rows;
    const uc_status status = uc_sum_over(rows->context, rows->data->X.rows, add_moments, job, sum, 3);
    const double mean = sum[1] / sum[0], deviation = sqrt(fmax(0.0, sum[2] / sum[0] - mean * mean));
    job->loss = UC_PU_SIGMOID;
    job->scale = deviation > 0.0 ? SIGN_SCALE / deviation : 1.0;
    return status;
}

uc_status uc_pu_held_out(double *value, const uc_pu_problem *self, const double *scores,
                         uc_pu_criterion criterion)
{
    held_out_job job = {self, scores, self->loss, 1.0};
    double sum[HELD_SUMS] = {0.0};
    uc_status status = criterion == UC_PU_BY_SIGN ? scale_scores(&job) : UC_OK;
    if (status == UC_OK)
        status =
            uc_sum_over(self->rows->context, self->rows->data->X.rows, add_held_out, &job, sum, HELD_SUMS);
    *value = 0.0; /* stays 0 in a fold without labelled or without unlabelled rows */
    if (status != UC_OK || sum[HELD_LABELLED] == 0.0 || sum[HELD_UNLABELLED] == 0.0)
        return status;
    const row_weights count = weights_for(self, sum[HELD_LABELLED], sum[HELD_UNLABELLED]);
    *value =
        count.own * sum[OWN_LOSS] + count.other * sum[OTHER_LOSS] + count.unlabelled * sum[UNLABELLED_LOSS];
    return UC_OK;
}
