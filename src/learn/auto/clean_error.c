/*
 * The error on true classes when all labels are noisy: not one number but those that the labels allow.
 *
 *   a noise hypothesis C gives, with its own a1 and a2, each row the probability R_iq of true class q
 *   e(C) = mean of 1 - R_i[prediction]        the error if C holds
 *
 * Two families of hypotheses are walked through: symmetric noise at rates from 0 to .95 (1 - 1/K), and I +
 * t (C_full - I) for t around 1. Within each, those whose log-likelihood is within SUPPORTED of the best
 * stay; the interval spans their e, and is widened by two standard errors and a point, for what is not in
 * the families. It holds if wrong labels do not depend on the example; where they do, nothing in the data
 * shows it.
 */
#include "learn/auto/clean_error.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

#define SUPPORTED 3.3
#define EXTRA 0.01
#define LEAST_DIAGONAL 0.02

static const double rates[] = {0,   0.02, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3,  0.35, 0.4, 0.45,
                               0.5, 0.55, 0.6,  0.65, 0.7,  0.75, 0.8,  0.85, 0.9,  0.95};
static const double shares[] = {0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25};
#define RATES (sizeof rates / sizeof *rates)
#define SHARES (sizeof shares / sizeof *shares)

typedef struct error_job {
    const uc_held_out *rows;
    const uc_calibrator *at;
} error_job;

enum { WEIGHT, RIGHT, LABEL_RIGHT, SUMS };

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
        uc_calibrated(R, job->at, f);
        (void)uc_posterior(R, job->at, R, job->rows->labels[i]);
        sum[WEIGHT] += r;
        sum[RIGHT] += r * R[uc_argmax(f, K)];
        sum[LABEL_RIGHT] += r * R[job->rows->labels[i]];
    }
    uc_free(R);
    return UC_OK;
}

/* The error, and the share of wrong labels, if the calibrator holds. */
static uc_status error_at(double *error, double *wrong, double *total, const uc_held_out *rows,
                          const uc_calibrator *at)
{
    error_job job = {rows, at};
    double sum[SUMS] = {0};
    const uc_status status = uc_sum_over(rows->context, rows->rows, add_errors, &job, sum, SUMS);
    *total = sum[WEIGHT];
    *error = 1.0 - sum[RIGHT] / sum[WEIGHT];
    *wrong = 1.0 - sum[LABEL_RIGHT] / sum[WEIGHT];
    return status;
}

/* Hypotheses of one family, each with its error and its log-likelihood. */
typedef struct hypotheses {
    double error[RATES], fit[RATES];
    size_t count;
    double total;
} hypotheses;

static uc_status try_matrix(hypotheses *self, const uc_held_out *rows, const double *C)
{
    uc_calibrator at;
    double wrong;
    uc_status status = uc_calibrate_given(&at, rows, C, NULL);
    if (status != UC_OK)
        return status;
    status = error_at(&self->error[self->count], &wrong, &self->total, rows, &at);
    self->fit[self->count] = at.fit * self->total;
    self->count++;
    uc_calibrator_free(&at);
    return status;
}

static uc_status try_rates(hypotheses *self, const uc_held_out *rows, double *C)
{
    uc_status status = UC_OK;
    for (size_t i = 0; i < RATES && status == UC_OK; i++) {
        const double eta = rates[i] * (1.0 - 1.0 / (double)rows->K);
        uc_symmetric_noise(C, rows->K, eta);
        if (1.0 - eta > LEAST_DIAGONAL)
            status = try_matrix(self, rows, C);
    }
    return status;
}

/* I + t (C_full - I), where that is a matrix of probabilities. */
static uc_status try_shares(hypotheses *self, const uc_held_out *rows, const double *full, double *C)
{
    const size_t K = rows->K;
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
            status = try_matrix(self, rows, C);
    }
    return status;
}

/* Widens the interval by the errors of the hypotheses that the labels support. */
static void widen(uc_clean_error *out, const hypotheses *self)
{
    double best = -INFINITY;
    for (size_t i = 0; i < self->count; i++)
        best = fmax(best, self->fit[i]);
    for (size_t i = 0; i < self->count; i++)
        if (self->fit[i] >= best - SUPPORTED) {
            out->low = fmin(out->low, self->error[i]);
            out->high = fmax(out->high, self->error[i]);
        }
}

static double spread_of(double error, double total)
{
    return 2.0 * sqrt(error * (1.0 - error) / total) + EXTRA;
}

uc_status uc_clean_error_find(uc_clean_error *out, const uc_held_out *rows, const uc_calibrator *chosen,
                              const uc_calibrator *full)
{
    const size_t K = rows->K;
    hypotheses symmetric = {.count = 0}, any = {.count = 0};
    double total, *C = uc_alloc(K * K, sizeof *C);
    uc_status status = UC_ERR_NOMEM;
    if (C)
        status = error_at(&out->estimate, &out->wrong, &total, rows, chosen);
    out->low = out->high = out->estimate;
    if (status == UC_OK)
        status = try_rates(&symmetric, rows, C);
    if (status == UC_OK)
        status = try_shares(&any, rows, full->C, C);
    uc_free(C);
    if (status != UC_OK)
        return status;
    widen(out, &symmetric);
    widen(out, &any);
    out->low = fmax(out->low - spread_of(out->low, total), 0.0);
    out->high = fmin(out->high + spread_of(out->high, total), 1.0);
    return UC_OK;
}
