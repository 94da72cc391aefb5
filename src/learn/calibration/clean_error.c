/*
 * The error on true classes when all labels are noisy: not one number but all those that the labels allow.
 *
 *   a noise hypothesis C gives, with its own a1 and a2, each row the probability R_iq of true class q
 *   e(C) = mean of 1 - R_i[prediction]        the error if C holds
 *
 * Two families of hypotheses are tried: symmetric noise at rates from 0 to .95 (1 - 1/K), and
 * I + t (C_full - I) for t around 1. In each family, the hypotheses whose log-likelihood is within SUPPORTED
 * of the best are kept. The interval spans their e, widened by two standard errors and one percentage point
 * to allow for noise outside the families. It holds if wrong labels do not depend on the example; if they
 * do, nothing in the data shows it.
 *
 * Estimates are means over the hypotheses of each family; the two means are then mixed according to the
 * belief in the full family. Means are used because no noise at all often explains a few rows nearly as well
 * as a lot of noise, and the most likely rate is then often 0. A hypothesis is weighted by its likelihood to
 * the power POWER, since held-out scores share their fits and carry less information than as many
 * independent ones. For the share of wrong labels, the weight is also proportional to the noise rate, since
 * the calibration mistakes noise for overlap rather than overlap for noise; for the error this would be too
 * optimistic. All this was chosen on small samples of the data sets of scripts/auto-grid.
 *
 * Rows with weights count as (sum of weights)^2 / (sum of squares) equal rows.
 */
#include "learn/calibration/clean_error.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

#define SUPPORTED 3.3
#define EXTRA 0.01
#define LEAST_DIAGONAL 0.02
#define POWER 0.5       /* of the likelihood, in means over hypotheses */
#define STEP 0.05       /* between one noise rate and the next */
#define LEAST_RATE 0.02 /* the rate that no noise counts as */

static const double rates[] = {0,   0.02, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3,  0.35, 0.4, 0.45,
                               0.5, 0.55, 0.6,  0.65, 0.7,  0.75, 0.8,  0.85, 0.9,  0.95};
static const double shares[] = {0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25};
#define RATES (sizeof rates / sizeof *rates)
#define SHARES (sizeof shares / sizeof *shares)

/* ---- the error if a hypothesis holds ---- */

typedef struct error_job {
    const uc_held_out *rows;
    const uint32_t *predicted;
    const uc_calibrator *at;
} error_job;

enum {
    WEIGHT,
    SQUARES,
    LABEL_RIGHT,
    AGREEING, /* weight of rows whose prediction is the label */
    RIGHT,    /* of those: weight of the rows whose prediction is right */
    OTHER_RIGHT /* the same of all other rows */,
    SUMS
};

static uc_status add_errors(double *sum, size_t first, size_t last, void *user)
{
    const error_job *job = user;
    const size_t K = job->rows->K;
    double *R = uc_alloc(K, sizeof *R);
    if (!R)
        return UC_ERR_NOMEM;
    for (size_t i = first; i < last; i++) {
        const double *f = job->rows->scores + i * K;
        const double r = job->rows->weights ? job->rows->weights[i] : 1.0;
        const size_t label = job->rows->labels[i];
        const size_t predicted = job->predicted ? job->predicted[i] : uc_argmax(f, K);
        uc_calibrated(R, job->at, f);
        (void)uc_posterior(R, job->at, R, job->rows->labels[i]);
        sum[WEIGHT] += r;
        sum[SQUARES] += r * r;
        sum[LABEL_RIGHT] += r * R[label];
        if (predicted == label)
            sum[AGREEING] += r;
        sum[predicted == label ? RIGHT : OTHER_RIGHT] += r * R[predicted];
    }
    uc_free(R);
    return UC_OK;
}

/* 1 - part / whole, or 1/2 if the whole is 0. */
static double rest(double part, double whole)
{
    return whole > 0.0 ? fmin(fmax(1.0 - part / whole, 0.0), 1.0) : 0.5;
}

/* The errors if the calibrator is right; `count` becomes the number of equal rows that the weights amount
 * to. */
static uc_status error_at(uc_clean_error *out, double *count, const error_job *job)
{
    double sum[SUMS] = {0};
    error_job own = *job;
    const uc_status status = uc_sum_over(job->rows->context, job->rows->rows, add_errors, &own, sum, SUMS);
    if (status != UC_OK)
        return status;
    *count = sum[WEIGHT] * sum[WEIGHT] / sum[SQUARES];
    out->estimate = rest(sum[RIGHT] + sum[OTHER_RIGHT], sum[WEIGHT]);
    out->noisy = rest(sum[AGREEING], sum[WEIGHT]);
    out->wrong = rest(sum[LABEL_RIGHT], sum[WEIGHT]);
    out->strata[0] = rest(sum[RIGHT], sum[AGREEING]);
    out->strata[1] = rest(sum[OTHER_RIGHT], sum[WEIGHT] - sum[AGREEING]);
    return UC_OK;
}

/* ---- hypotheses ---- */

/* The hypotheses of one family, each with its error and its log-likelihood. */
typedef struct hypotheses {
    const uc_held_out *rows;
    const uint32_t *predicted;
    uc_clean_error found[RATES + 1];
    double fit[RATES + 1];
    double range[RATES + 1]; /* the width of the interval that each represents */
    double rate[RATES + 1];  /* the noise rate, if it differs between them; otherwise 1 */
    size_t count;
    uc_calibrator last; /* where the search for the next one starts */
} hypotheses;

static void add(hypotheses *self, const uc_clean_error *found, double fit, double range, double rate)
{
    const size_t i = self->count++;
    self->found[i] = *found;
    self->fit[i] = fit;
    self->range[i] = range;
    self->rate[i] = rate;
}

static uc_status try_matrix(hypotheses *self, const double *C, double range, double rate)
{
    uc_calibrator at;
    double count;
    uc_status status = uc_calibrate_given(&at, self->rows, C, self->last.C ? &self->last : NULL);
    if (status != UC_OK)
        return status;
    const error_job job = {self->rows, self->predicted, &at};
    uc_clean_error found;
    status = error_at(&found, &count, &job);
    uc_calibrator_free(&self->last);
    self->last = at;
    if (status == UC_OK)
        add(self, &found, at.fit * count, range, rate);
    return status;
}

/* The width of the interval of values that list[i] represents. */
static double range_of(const double *list, size_t count, size_t i)
{
    const size_t before = i > 0 ? i - 1 : 0, after = i + 1 < count ? i + 1 : i;
    return (list[after] - list[before]) / (double)(after - before);
}

static uc_status try_rates(hypotheses *self, double *C)
{
    const size_t K = self->rows->K;
    uc_status status = UC_OK;
    for (size_t i = 0; i < RATES && status == UC_OK; i++) {
        const double eta = rates[i] * (1.0 - 1.0 / (double)K);
        uc_symmetric_noise(C, K, eta);
        if (1.0 - eta > LEAST_DIAGONAL)
            status = try_matrix(self, C, range_of(rates, RATES, i), rates[i] + LEAST_RATE);
    }
    return status;
}

/* Tries I + t (C_full - I) for each t that leaves a matrix of probabilities. */
static uc_status try_shares(hypotheses *self, const double *full, double *C)
{
    const size_t K = self->rows->K;
    uc_status status = UC_OK;
    for (size_t i = 0; i < SHARES && status == UC_OK; i++) {
        bool fits = true;
        for (size_t e = 0; e < K * K; e++) {
            const double identity = e % (K + 1) == 0;
            C[e] = identity + shares[i] * (full[e] - identity);
            if (identity > 0.0 && C[e] <= LEAST_DIAGONAL)
                fits = false;
        }
        if (fits)
            status = try_matrix(self, C, range_of(shares, SHARES, i), 1.0);
    }
    return status;
}

/* Widens the interval to the errors of the hypotheses that the labels support. */
static void widen(uc_clean_error *out, const hypotheses *self)
{
    double best = -INFINITY;
    for (size_t i = 0; i < self->count; i++)
        best = fmax(best, self->fit[i]);
    out->fit = fmax(out->fit, best);
    for (size_t i = 0; i < self->count; i++)
        if (self->fit[i] >= best - SUPPORTED) {
            out->low = fmin(out->low, self->found[i].estimate);
            out->high = fmax(out->high, self->found[i].estimate);
        }
}

/* Adds `share` times the means over the hypotheses. */
static void add_mean(uc_clean_error *out, double share, const hypotheses *self)
{
    double best = -INFINITY, total = 0.0, rising = 0.0, weight[RATES + 1];
    for (size_t i = 0; i < self->count; i++)
        best = fmax(best, self->fit[i]);
    for (size_t i = 0; i < self->count; i++) {
        weight[i] = self->range[i] * exp(POWER * (self->fit[i] - best));
        total += weight[i];
        rising += weight[i] * self->rate[i];
    }
    for (size_t i = 0; i < self->count; i++) {
        const uc_clean_error *found = &self->found[i];
        out->wrong += share * weight[i] * self->rate[i] / rising * found->wrong;
        out->estimate += share * weight[i] / total * found->estimate;
        for (size_t h = 0; h < 2; h++)
            out->strata[h] += share * weight[i] / total * found->strata[h];
    }
}

static double spread_of(double error, double count)
{
    return 2.0 * sqrt(error * (1.0 - error) / count) + EXTRA;
}

uc_status uc_clean_error_find(uc_clean_error *out, const uc_held_out *rows, const uint32_t *predicted,
                              const uc_calibrator *chosen, const uc_calibrator *full, double belief)
{
    const size_t K = rows->K;
    const error_job job = {rows, predicted, chosen};
    hypotheses symmetric = {.rows = rows, .predicted = predicted};
    hypotheses any = {.rows = rows, .predicted = predicted};
    double count = 1.0, *C = uc_alloc(K * K, sizeof *C);
    uc_status status = UC_ERR_NOMEM;
    if (C)
        status = error_at(out, &count, &job);
    if (status == UC_OK)
        status = try_rates(&symmetric, C);
    if (status == UC_OK && full)
        status = try_shares(&any, full->C, C);
    uc_calibrator_free(&symmetric.last);
    uc_calibrator_free(&any.last);
    uc_free(C);
    if (status != UC_OK)
        return status;
    out->rows = rows->rows;
    out->likeliest_wrong = out->wrong;
    out->low = out->high = out->estimate;
    out->fit = -INFINITY;
    widen(out, &symmetric);
    widen(out, &any);
    if (chosen->family == UC_FAMILY_SYMMETRIC) /* with many rows even close rates can be told apart */
        add(&symmetric, out, chosen->fit * count, STEP, chosen->eta / (1.0 - 1.0 / (double)K) + LEAST_RATE);
    out->estimate = out->wrong = out->strata[0] = out->strata[1] = 0.0;
    if (any.count == 0)
        belief = 0.0;
    add_mean(out, 1.0 - belief, &symmetric);
    add_mean(out, belief, &any);
    out->low = fmin(out->low, out->estimate);
    out->high = fmax(out->high, out->estimate);
    out->low = fmax(out->low - spread_of(out->low, count), 0.0);
    out->high = fmin(out->high + spread_of(out->high, count), 1.0);
    return UC_OK;
}
