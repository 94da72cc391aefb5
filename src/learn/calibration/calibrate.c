/*
 * Calibration of scores when some of the labels are wrong.
 *
 *   f_i      K scores of row i from a fit that has not seen its label      k_i  its label
 *   S_iq     softmax_q(a1 f_i + a2 log max(f_i, .02)), the probability of true class q
 *   C[q][k]  P(label k | true class q); rows sum to 1 here
 *   p_i      sum_q C[q][k_i] S_iq, the probability of what was observed
 *
 * a1, a2 > 0 and C maximise the mean of log p_i within a family of matrices: the identity; symmetric noise
 * at a rate eta < 1 - 1/K; or any matrix, with a Dirichlet prior on each row that is worth PRIOR K rows and
 * is centred at symmetric noise. Without the prior, overlapping classes are mistaken for mislabelled ones.
 * The search for the full matrix starts at the same symmetric noise; from the identity it finds only half of
 * the noise between pairs of classes. A logistic function, x = low + (high - low) / (1 + exp(-u)), keeps the
 * parameters within bounds, so L-BFGS is free to move anywhere in u. For scores that are nothing like
 * probabilities (those of a perceptron, say) the logarithm is meaningless, so a2 = 0.
 */
#include "learn/calibration/calibrate.h"

#include <math.h>
#include <string.h>

#include "learn/minimise.h"
#include "linalg/linalg.h"
#include "model/model.h"

#define LOG_A1_LOW (-4.0)
#define LOG_A1_HIGH 5.0
#define LOG_A2_LOW (-6.0)
#define LOG_A2_HIGH 1.5
#define ETA_LOW (-8.0) /* of the logit of eta */
#define ETA_HIGH 4.0
#define LOGIT_MOST 12.0  /* of an entry of a full matrix */
#define PRIOR 0.3        /* the prior's worth in rows, per true class and class */
#define LEAST_CENTRE 0.3 /* the centre's eta is at least this times (K - 1) / (.9 K) */
#define ITERATIONS 200
#define TOLERANCE 1e-5
#define TINY 1e-300
#define ROWS_AT_ONCE ((size_t)64)

enum { A1, A2, MATRIX }; /* positions of the parameters in u */

static double between(double low, double high, double u)
{
    return low + (high - low) / (1.0 + exp(-u));
}

static double back_from(double low, double high, double x)
{
    const double share = fmin(fmax((x - low) / (high - low), 1e-6), 1.0 - 1e-6);
    return log(share / (1.0 - share));
}

/* d between / du */
static double slope(double low, double high, double u)
{
    const double share = 1.0 / (1.0 + exp(-u));
    return (high - low) * share * (1.0 - share);
}

static double most_eta(size_t K)
{
    return 1.0 - 1.0 / (double)K;
}

/* ---- calibrators ---- */

void uc_symmetric_noise(double *C, size_t K, double eta)
{
    for (size_t q = 0; q < K; q++)
        for (size_t k = 0; k < K; k++)
            C[q * K + k] = eta / ((double)K - 1.0);
    for (size_t q = 0; q < K; q++)
        C[q * K + q] = 1.0 - eta;
}

static uc_status create(uc_calibrator *out, size_t K)
{
    *out = (uc_calibrator){.K = K, .a1 = 4.0, .a2 = 0.3, .C = uc_alloc(K * K, sizeof *out->C)};
    if (!out->C)
        return UC_ERR_NOMEM;
    uc_symmetric_noise(out->C, K, 0.0);
    return UC_OK;
}

uc_status uc_calibrator_copy(uc_calibrator *out, const uc_calibrator *self)
{
    double *C = uc_alloc(self->K * self->K, sizeof *C);
    if (!C)
        return UC_ERR_NOMEM;
    memcpy(C, self->C, self->K * self->K * sizeof *C);
    *out = *self;
    out->C = C;
    return UC_OK;
}

void uc_calibrator_free(uc_calibrator *self)
{
    uc_free(self->C);
    *self = (uc_calibrator){0};
}

void uc_calibrated(double *S, const uc_calibrator *self, const double *f)
{
    uc_calibrate_scores(S, self->a1, self->a2, f, self->K);
}

double uc_posterior(double *R, const uc_calibrator *self, const double *S, uint32_t label)
{
    const size_t K = self->K;
    double p = 0.0;
    for (size_t q = 0; q < K; q++)
        p += R[q] = self->C[q * K + label] * S[q];
    p = fmax(p, TINY);
    for (size_t q = 0; q < K; q++)
        R[q] /= p;
    return p;
}

/* ---- likelihood and gradient ---- */

enum {
    VALUE,
    TOTAL,
    FIRST
}; /* layout of a sum: log-likelihood, weights, then the gradient in log a1, log a2 and C of each label */

/* The rows as the gradient takes them, K filled up to whole quads: f, then g = log max(f, .02). */
static uc_status lay_out(double **out, const uc_held_out *rows)
{
    const size_t n = rows->rows, K = rows->K, padded = uc_quads(K) * UC_LANES;
    double *f = uc_alloc(2 * n * padded, sizeof *f);
    if (!f)
        return UC_ERR_NOMEM;
    double *g = f + n * padded;
    for (size_t i = 0; i < n; i++) {
        const double *scores = rows->scores + i * K;
        for (size_t q = 0; q < padded; q++) {
            f[i * padded + q] = q < K ? scores[q] : UC_NEVER;
            g[i * padded + q] = q < K ? uc_calibration_log(scores[q]) : 0.0;
        }
    }
    *out = f;
    return UC_OK;
}

typedef struct gradient_job {
    uc_mixture rows;
    bool matrix; /* whether the gradient in C is wanted too */
} gradient_job;

static uc_status add_rows(double *sum, size_t first, size_t last, void *user)
{
    const gradient_job *job = user;
    double *S = uc_alloc(job->rows.quads, UC_LANES * sizeof *S), p[ROWS_AT_ONCE];
    if (!S)
        return UC_ERR_NOMEM;
    for (size_t start = first; start < last; start += ROWS_AT_ONCE) {
        const size_t count = uc_min_size(last - start, ROWS_AT_ONCE);
        uc_mixture_gradient(p, sum + FIRST + A1, job->matrix ? sum + FIRST + MATRIX : NULL, &job->rows, start,
                            count, S);
        for (size_t i = 0; i < count; i++) {
            const double r = job->rows.weights ? job->rows.weights[start + i] : 1.0;
            sum[VALUE] += r * log(p[i]);
            sum[TOTAL] += r;
        }
    }
    uc_free(S);
    return UC_OK;
}

/* The matrix by labels, each filled up to whole quads. */
static void to_columns(double *out, const double *C, size_t K)
{
    const size_t padded = uc_quads(K) * UC_LANES;
    for (size_t q = 0; q < K; q++)
        for (size_t k = 0; k < K; k++)
            out[k * padded + q] = C[q * K + k];
}

static void from_columns(double *out, const double *columns, size_t K)
{
    const size_t padded = uc_quads(K) * UC_LANES;
    for (size_t q = 0; q < K; q++)
        for (size_t k = 0; k < K; k++)
            out[q * K + k] = columns[k * padded + q];
}

/* `laid_out` has the rows by lay_out; `matrix`: whether the gradient in C is computed as well. */
static uc_status gradient_at(double *value, double *gradient, const uc_calibrator *at,
                             const uc_held_out *rows, const double *laid_out, bool matrix)
{
    const size_t K = at->K, quads = uc_quads(K), padded = quads * UC_LANES;
    const size_t length = FIRST + MATRIX + (matrix ? K * padded : 0);
    double *sum = uc_alloc(length, sizeof *sum), *columns = uc_alloc(K * padded, sizeof *columns);
    gradient_job job = {{.f = laid_out,
                         .g = laid_out + rows->rows * padded,
                         .labels = rows->labels,
                         .weights = rows->weights,
                         .columns = columns,
                         .a1 = at->a1,
                         .a2 = at->a2,
                         .quads = quads},
                        matrix};
    uc_status status = UC_ERR_NOMEM;
    if (!sum || !columns)
        goto cleanup;
    to_columns(columns, at->C, K);
    /* This is evaluated thousands of times, so threads are used only if they pay off. */
    const uc_context fitting = uc_context_for_work(rows->context, 20.0 * (double)(rows->rows * K));
    status = uc_sum_over(&fitting, rows->rows, add_rows, &job, sum, length);
    for (size_t i = FIRST; i < length; i++)
        sum[i] /= sum[TOTAL];
    *value = sum[VALUE] / sum[TOTAL];
    gradient[A1] = at->a1 * sum[FIRST + A1];
    gradient[A2] = at->a2 * sum[FIRST + A2];
    if (matrix)
        from_columns(gradient + MATRIX, sum + FIRST + MATRIX, K);

cleanup:
    uc_free(columns);
    uc_free(sum);
    return status;
}

uc_status uc_calibrator_gradient(double *value, double *gradient, const uc_calibrator *at,
                                 const uc_held_out *rows)
{
    double *laid_out = NULL;
    uc_status status = lay_out(&laid_out, rows);
    if (status == UC_OK)
        status = gradient_at(value, gradient, at, rows, laid_out, true);
    uc_free(laid_out);
    return status;
}

/* ---- the search ---- */

typedef struct search {
    uc_calibrator at;
    const uc_held_out *rows;
    uc_noise_family family; /* NONE: the matrix stays as it is */
    const double *centre;   /* of the prior, K x K; full only */
    double prior;           /* its worth in rows per true class, as a share of all rows */
    double *gradient;       /* MATRIX + K x K */
    double *laid_out;       /* the rows, by lay_out */
    double *shares;         /* full only: of each parameter of C, where it stands between its bounds */
    double fit;
} search;

static size_t parameter_count(const search *self)
{
    switch (self->family) {
    case UC_FAMILY_SYMMETRIC:
        return MATRIX + 1;
    case UC_FAMILY_FULL:
        return MATRIX + self->at.K * self->at.K;
    default:
        return MATRIX;
    }
}

/* Computes the matrix from its parameters: the logits of row q are between(-LOGIT_MOST, LOGIT_MOST, u). */
static void matrix_of(search *self, const double *u)
{
    const size_t K = self->at.K;
    double *C = self->at.C, *shares = self->shares;
    for (size_t i = 0; i < K * K; i++)
        shares[i] = -fabs(u[i]);
    uc_exponential(shares, K * K);
    for (size_t i = 0; i < K * K; i++) {
        shares[i] = (u[i] < 0.0 ? shares[i] : 1.0) / (1.0 + shares[i]);
        C[i] = 2.0 * LOGIT_MOST * (shares[i] - 1.0); /* not above 0 */
    }
    uc_exponential(C, K * K);
    for (size_t q = 0; q < K; q++) {
        double total = 0.0;
        for (size_t k = 0; k < K; k++)
            total += C[q * K + k];
        for (size_t k = 0; k < K; k++)
            C[q * K + k] /= total;
    }
}

/* Sets self->at to the calibrator that the parameters u encode. */
static void go_to(search *self, const double *u)
{
    uc_calibrator *at = &self->at;
    const size_t K = at->K;
    at->a1 = exp(between(LOG_A1_LOW, LOG_A1_HIGH, u[A1]));
    at->a2 = self->rows->plain ? 0.0 : exp(between(LOG_A2_LOW, LOG_A2_HIGH, u[A2]));
    if (self->family == UC_FAMILY_SYMMETRIC) {
        at->eta = most_eta(K) / (1.0 + exp(-between(ETA_LOW, ETA_HIGH, u[MATRIX])));
        uc_symmetric_noise(at->C, K, at->eta);
    }
    if (self->family == UC_FAMILY_FULL)
        matrix_of(self, u + MATRIX);
}

/* Turns the gradient in C into the derivative in the parameter of eta. */
static double symmetric_slope(const search *self, const double *u)
{
    const size_t K = self->at.K;
    const double share = self->at.eta / most_eta(K), *in_C = self->gradient + MATRIX;
    double along = 0.0;
    for (size_t q = 0; q < K; q++)
        for (size_t k = 0; k < K; k++)
            along += q == k ? -in_C[q * K + k] : in_C[q * K + k] / ((double)K - 1.0);
    return along * most_eta(K) * share * (1.0 - share) * slope(ETA_LOW, ETA_HIGH, u[MATRIX]);
}

/* Turns the gradients in C, of likelihood and prior, into those in the parameters; returns the log of the
 * prior. */
static double full_slopes(double *out, const search *self)
{
    const size_t K = self->at.K;
    double prior = 0.0;
    for (size_t q = 0; q < K; q++) {
        const double *C = self->at.C + q * K, *in_C = self->gradient + MATRIX + q * K;
        const double *shares = self->shares + q * K, first = log(C[0]);
        double mean = 0.0;
        for (size_t k = 0; k < K; k++)
            mean += C[k] * in_C[k];
        for (size_t k = 0; k < K; k++) {
            const double centre = self->centre[q * K + k];
            prior += self->prior * centre * (first + 2.0 * LOGIT_MOST * (shares[k] - shares[0])); /* log C */
            out[q * K + k] = (C[k] * (in_C[k] - mean) + self->prior * (centre - C[k])) * 2.0 * LOGIT_MOST *
                             shares[k] * (1.0 - shares[k]);
        }
    }
    return prior;
}

static uc_status objective(double *value, double *gradient, const double *u, void *user)
{
    search *self = user;
    double prior = 0.0;
    go_to(self, u);
    const uc_status status = gradient_at(&self->fit, self->gradient, &self->at, self->rows, self->laid_out,
                                         self->family != UC_FAMILY_NONE);
    if (status != UC_OK)
        return status;
    gradient[A1] = self->gradient[A1] * slope(LOG_A1_LOW, LOG_A1_HIGH, u[A1]);
    gradient[A2] = self->gradient[A2] * slope(LOG_A2_LOW, LOG_A2_HIGH, u[A2]);
    if (self->family == UC_FAMILY_SYMMETRIC)
        gradient[MATRIX] = symmetric_slope(self, u);
    else if (self->family == UC_FAMILY_FULL)
        prior = full_slopes(gradient + MATRIX, self);
    for (size_t i = 0; i < parameter_count(self); i++)
        gradient[i] = -gradient[i];
    *value = -(self->fit + prior);
    return UC_OK;
}

/* Computes the parameters of the calibrator self->at. */
static void parameters_of(double *u, const search *self)
{
    const uc_calibrator *at = &self->at;
    const size_t K = at->K;
    u[A1] = back_from(LOG_A1_LOW, LOG_A1_HIGH, log(at->a1));
    u[A2] = back_from(LOG_A2_LOW, LOG_A2_HIGH, log(fmax(at->a2, TINY)));
    if (self->family == UC_FAMILY_SYMMETRIC) {
        const double share = fmin(fmax(at->eta / most_eta(K), 1e-9), 1.0 - 1e-9);
        u[MATRIX] = back_from(ETA_LOW, ETA_HIGH, log(share / (1.0 - share)));
    }
    for (size_t i = 0; i < K * K && self->family == UC_FAMILY_FULL; i++)
        u[MATRIX + i] = back_from(-LOGIT_MOST, LOGIT_MOST, log(fmax(at->C[i], TINY)));
}

/* Climbs from self->at to a local maximum; *found becomes its value, prior included. */
static uc_status climb(double *found, search *self)
{
    const size_t count = parameter_count(self), K = self->at.K;
    uc_context quiet = self->rows->context ? *self->rows->context : (uc_context){0};
    quiet.progress = NULL; /* one of many short searches */
    uc_minimum minimum = {0};
    double *u = uc_alloc(count, sizeof *u);
    self->gradient = uc_alloc(MATRIX + K * K, sizeof *self->gradient);
    self->shares = uc_alloc(K * K, sizeof *self->shares);
    uc_status status =
        u && self->gradient && self->shares ? lay_out(&self->laid_out, self->rows) : UC_ERR_NOMEM;
    if (status == UC_OK) {
        parameters_of(u, self);
        status = uc_minimise(&minimum, u, count, objective, self, NULL, ITERATIONS, TOLERANCE, &quiet);
    }
    if (status == UC_OK) {
        go_to(self, u); /* the last evaluation may have been at another point */
        status = gradient_at(&self->at.fit, self->gradient, &self->at, self->rows, self->laid_out, false);
    }
    *found = -minimum.value;
    uc_free(self->shares);
    uc_free(self->gradient);
    uc_free(self->laid_out);
    self->laid_out = NULL;
    uc_free(u);
    return status;
}

/* The likelihood of symmetric noise has several maxima: takes the best from three starts, or the one from
 * `near`. */
static uc_status climb_symmetric(uc_calibrator *out, search *self, const uc_calibrator *near)
{
    static const double starts[] = {-3.0, -0.7, 0.8};
    const size_t count = near ? 1 : sizeof starts / sizeof *starts;
    double best = -INFINITY, found = 0.0;
    uc_status status = UC_OK;
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        self->at.a1 = near ? near->a1 : 8.0;
        self->at.a2 = near ? near->a2 : 0.3;
        self->at.eta = near ? near->eta : most_eta(self->at.K) / (1.0 + exp(-starts[i]));
        status = climb(&found, self);
        if (status == UC_OK && found > best) {
            uc_calibrator_free(out);
            status = uc_calibrator_copy(out, &self->at);
            best = found;
        }
    }
    return status;
}

/* A symmetric `near` determines the centre of the prior and the start of the matrix; from a full one the
 * whole search starts. */
static uc_status climb_full(uc_calibrator *out, search *self, const uc_calibrator *near, double prior)
{
    const size_t K = self->at.K;
    double *centre = uc_alloc(K * K, sizeof *centre), found, total = (double)self->rows->rows;
    if (!centre)
        return UC_ERR_NOMEM;
    uc_symmetric_noise(centre, K, fmax(near->eta, LEAST_CENTRE * most_eta(K) / 0.9));
    memcpy(self->at.C, near->family == UC_FAMILY_FULL ? near->C : centre, K * K * sizeof *centre);
    if (near->family == UC_FAMILY_FULL) {
        self->at.a1 = near->a1;
        self->at.a2 = near->a2;
    }
    self->centre = centre;
    uc_status status = uc_comm_sum(uc_comm_of(self->rows->context), &total, 1);
    self->prior = prior * (double)K / total;
    if (status == UC_OK)
        status = climb(&found, self);
    if (status == UC_OK)
        status = uc_calibrator_copy(out, &self->at);
    if (status == UC_OK)
        out->eta = near->eta;
    uc_free(centre);
    return status;
}

uc_status uc_calibrate(uc_calibrator *out, const uc_held_out *rows, uc_noise_family family,
                       const uc_calibrator *near)
{
    search self = {.rows = rows, .family = family};
    double found;
    if (family == UC_FAMILY_FULL)
        return uc_calibrate_full(out, rows, near, PRIOR);
    *out = (uc_calibrator){0};
    uc_status status = create(&self.at, rows->K);
    if (status != UC_OK)
        return status;
    self.at.family = family;
    if (family == UC_FAMILY_SYMMETRIC)
        status = climb_symmetric(out, &self, near);
    else {
        status = climb(&found, &self);
        if (status == UC_OK)
            status = uc_calibrator_copy(out, &self.at);
    }
    uc_calibrator_free(&self.at);
    if (status != UC_OK)
        uc_calibrator_free(out);
    return status;
}

uc_status uc_calibrate_full(uc_calibrator *out, const uc_held_out *rows, const uc_calibrator *near,
                            double prior)
{
    search self = {.rows = rows, .family = UC_FAMILY_FULL};
    *out = (uc_calibrator){0};
    uc_status status = create(&self.at, rows->K);
    self.at.family = UC_FAMILY_FULL;
    if (status == UC_OK)
        status = climb_full(out, &self, near, prior);
    uc_calibrator_free(&self.at);
    if (status != UC_OK)
        uc_calibrator_free(out);
    return status;
}

uc_status uc_calibrate_given(uc_calibrator *out, const uc_held_out *rows, const double *C,
                             const uc_calibrator *near)
{
    search self = {.rows = rows, .family = UC_FAMILY_NONE};
    double found;
    *out = (uc_calibrator){0};
    uc_status status = create(&self.at, rows->K);
    if (status != UC_OK)
        return status;
    memcpy(self.at.C, C, rows->K * rows->K * sizeof *C);
    if (near) {
        self.at.a1 = near->a1;
        self.at.a2 = near->a2;
    }
    status = climb(&found, &self);
    if (status == UC_OK)
        *out = self.at;
    else
        uc_calibrator_free(&self.at);
    return status;
}
