/*
 * UMA, the unconfused multiclass additive algorithm (Louche, Ralaivola, 2013): learns from labels that a
 * known matrix has confused.
 *
 *   n, d, Q    examples, dimensions, classes           x_i, y_i   an example and its observed label
 *   C, B       C[p][q] = P(observed p | true q), and its (regularised) inverse
 *   S[p][k]    sum of the x_i that are predicted p and labelled k;  N[p][k]  their number
 *              an example of weight u counts u times, and n is the sum of the weights
 *   z_pq       = 1/n sum_k B[q][k] S[p][k]: an estimate of the mean of what is truly q and predicted p
 *
 * A step chooses a pair p != q, and changes the weights by z = z_pq as an ultraconservative perceptron would
 * for an example z of class q: w_q += z, and z is subtracted from the classes that score too high for z,
 * E = {r != q: <w_r, z> >= <w_q, z>}. There is no step if E is empty. z is an estimate, so p itself may not
 * be in E: then `perceptron`, which subtracts z from w_p, has no step either, while `uniform` and `worst`
 * subtract it from E as Algorithm 2 says.
 *
 * As a whole, with m_q the corrected class means, UMA is a pairwise subgradient method on
 *
 *   J(W) = 1/n sum_i max_q <w_q, x_i> - sum_q <w_q, m_q> = sum_{p != q} <w_p - w_q, z_pq>.
 *
 * A step is incremental: it changes the scores by multiples of X z only, so it needs a single pass over X;
 * only the examples whose prediction changed move between the sums S, and only the rows p of z whose sums
 * changed are refreshed. tests/unit/learn_uma.c compares it with the naive form, which recomputes everything.
 */
#include <math.h>
#include <string.h>

#include "learn/learner.h"
#include "learn/uma/options.h"
#include "learn/uma/pair_sums.h"
#include "linalg/linalg.h"
#include "model/model.h"

#define SEQUENCE_CHOICE 2    /* of random numbers */
#define RIDGE_CONDITION 50.0 /* the condition number from which `auto` regularises */
#define RIDGE_WHEN_BAD 0.01
#define MANY_CLASSES 1000
#define PAIR_BYTES 97.0         /* kept per pair of classes, here and in the sums */
#define PAIR_BYTES_OF_ROWS 41.0 /* the same if the sums are not kept */
#define ENTRY_BYTES 16.0        /* per value of the rows, when their columns are sorted */
#define LOW_DIMENSION 100       /* below it, `auto` returns the best iterate, otherwise the average */

typedef struct uma {
    const uc_matrix *X;
    size_t n, d, Q;
    uc_weight_sums n_all; /* n of all processes; S and N are sums over the rows of all */
    const uc_uma_settings *settings;
    const uc_context *context;
    uc_rng rng;
    int returns; /* with `auto` decided */

    double *B;                  /* Q x Q */
    double *class_share;        /* pi_q, estimated */
    double *W;                  /* Q x d: class by class */
    double *scores;             /* n x Q */
    uint32_t *predicted, *next; /* n; UC_NONE: within alpha of a boundary. `next`: after the step */
    uc_pair_sums sums;          /* S and N */
    double *norm;               /* Q x Q, ||z_pq|| */
    bool *rejected;             /* Q x Q: tried in this step */
    double *z;                  /* d */
    double *change;             /* Q: w_r changes by change[r] z in this step */

    double condition, ridge; /* of C; what was added to C for its inversion */
    uint64_t steps;
    double *sum;      /* Q x d: sum over steps s of (s - 1) times what step s added; NULL: not needed */
    double *early[2]; /* Q x d: sums of the iterates before the last two powers of two; NULL: not needed */
    double *best;     /* Q x d */
    double best_error;
    bool knows_noise; /* otherwise, nothing is corrected */
} uma;

/* ---- scores and predictions ---- */

static uint32_t prediction(const uma *self, const double *scores)
{
    const size_t best = uc_argmax(scores, self->Q);
    /* not before the first step: with zero weights every example is on every boundary */
    if (self->settings->alpha > 0.0 && self->steps > 0)
        for (size_t r = 0; r < self->Q; r++)
            if (r != best && scores[best] - scores[r] < self->settings->alpha)
                return UC_NONE;
    return (uint32_t)best;
}

static void note_moves(uma *self, size_t block, size_t first, size_t last)
{
    size_t moved = 0;
    for (size_t i = first; i < last; i++)
        if (self->next[i] != self->predicted[i])
            self->sums.moved[first + moved++] = i;
    self->sums.moved_in[block] = moved;
}

/* One pass over the block's rows: <x, z>, the scores and the predictions. */
static uc_status score_block(size_t block, void *user)
{
    uma *self = user;
    const size_t Q = self->Q, first = block * UC_PAIR_SUMS_ROWS;
    const size_t last = uc_min_size(first + UC_PAIR_SUMS_ROWS, self->n);
    for (size_t i = first; i < last; i++) {
        const double product = uc_row_dot(uc_matrix_row(self->X, i), self->z);
        double *scores = self->scores + i * Q;
        for (size_t r = 0; r < Q; r++)
            scores[r] += self->change[r] * product;
        self->next[i] = prediction(self, scores);
    }
    note_moves(self, block, first, last);
    return UC_OK;
}

/* Moves the rows whose `next` prediction differs from `predicted`, and swaps the two. */
static uc_status move_rows(uma *self)
{
    uint32_t *old = self->predicted;
    self->predicted = self->next;
    self->next = old;
    return uc_pair_sums_move(&self->sums, old, self->predicted);
}

static uc_status update_predictions(uma *self)
{
    const uc_status status = uc_run_blocks(
        self->context, (self->n + UC_PAIR_SUMS_ROWS - 1) / UC_PAIR_SUMS_ROWS, score_block, self);
    if (status != UC_OK)
        return status;
    return move_rows(self);
}

/* 1 - sum over (p, k) of B[p][k] N[p][k] / n: an estimate of the error on true labels; and its standard
 * error. */
static double corrected_error(const uma *self, double *deviation)
{
    double mean = 0.0, square = 0.0;
    for (size_t pair = 0; pair < self->Q * self->Q; pair++) {
        const double share = self->sums.N[pair] / self->n_all.total;
        mean += self->B[pair] * share;
        square += self->B[pair] * self->B[pair] * share;
    }
    if (deviation)
        *deviation = sqrt(fmax(0.0, square - mean * mean) / self->n_all.effective);
    return 1.0 - mean;
}

/* ---- choosing a pair ---- */

static uc_status refresh_norms(uma *self, size_t p)
{
    double *norms = self->norm + p * self->Q;
    const uc_status status = uc_pair_sums_squares(norms, &self->sums, self->B, p);
    if (status != UC_OK)
        return status;
    for (size_t q = 0; q < self->Q; q++)
        norms[q] = sqrt(norms[q]) / self->n_all.total;
    self->sums.stale[p] = false;
    return UC_OK;
}

static void compute_z(uma *self, size_t p, size_t q)
{
    uc_pair_sums_combine(self->z, &self->sums, self->B + q * self->Q, self->n_all.total, p);
}

/* Computes each class's multiple of z; false if z is not an error that this kind of step corrects. */
static bool plan_step(uma *self, size_t p, size_t q)
{
    const size_t Q = self->Q;
    const double own = uc_dot(self->W + q * self->d, self->z, self->d);
    size_t errors = 0, worst = q;
    double highest = 0.0;
    for (size_t r = 0; r < Q; r++) {
        const double score = uc_dot(self->W + r * self->d, self->z, self->d);
        const bool error = r != q && score >= own;
        self->change[r] = 0.0;
        if (error)
            self->change[r] = -1.0;
        if (error && (errors == 0 || score > highest)) {
            worst = r;
            highest = score;
        }
        errors += error;
    }
    const bool p_pays = self->settings->step == STEP_PERCEPTRON;
    if (errors == 0 || (p_pays && self->change[p] == 0.0))
        return false;
    const size_t payer = self->settings->step == STEP_WORST ? worst : p;
    for (size_t r = 0; r < Q; r++)
        if (self->settings->step == STEP_UNIFORM)
            self->change[r] /= (double)errors;
        else
            self->change[r] = r == payer ? -1.0 : 0.0;
    self->change[q] = 1.0;
    return true;
}

static bool is_eligible(const uma *self, size_t p, size_t q)
{
    return p != q && !self->rejected[p * self->Q + q] &&
           self->norm[p * self->Q + q] > 0.5 / self->n_all.finest;
}

/* The next pair in the order of the criterion; false if none is left. */
static bool next_pair(uma *self, size_t *p_out, size_t *q_out)
{
    const size_t Q = self->Q;
    double best = -1.0;
    size_t eligible = 0;
    for (size_t p = 0; p < Q; p++)
        for (size_t q = 0; q < Q; q++) {
            if (!is_eligible(self, p, q))
                continue;
            eligible++;
            double value = self->norm[p * Q + q];
            if (self->settings->choose == CHOOSE_CONFUSION)
                value /= self->class_share[q];
            /* Each eligible pair in turn replaces the earlier ones with probability 1/eligible. */
            if (self->settings->choose == CHOOSE_RANDOM)
                value = uc_rng_below(&self->rng, eligible) == 0 ? (double)eligible : -1.0;
            if (value > best) {
                best = value;
                *p_out = p;
                *q_out = q;
            }
        }
    return eligible > 0;
}

/* ---- one step ---- */

static void add_to_weights(uma *self)
{
    for (size_t r = 0; r < self->Q; r++) {
        if (self->change[r] == 0.0)
            continue;
        double *w = self->W + r * self->d;
        for (size_t j = 0; j < self->d; j++)
            w[j] += self->change[r] * self->z[j];
        if (!self->sum)
            continue;
        double *u = self->sum + r * self->d;
        const double factor = (double)(self->steps) * self->change[r];
        for (size_t j = 0; j < self->d; j++)
            u[j] += factor * self->z[j];
    }
    self->steps++;
}

/* Before step 2^k, saves the sum of the iterates so far, t W - U. */
static void keep_early_sum(uma *self)
{
    const uint64_t t = self->steps;
    if (!self->early[0] || (t & (t + 1)) != 0)
        return;
    double *oldest = self->early[0];
    self->early[0] = self->early[1];
    self->early[1] = oldest;
    for (size_t i = 0; i < self->Q * self->d; i++)
        oldest[i] = (double)t * self->W[i] - self->sum[i];
}

static void keep_best(uma *self)
{
    const double error = corrected_error(self, NULL);
    if (!self->best || error >= self->best_error)
        return;
    self->best_error = error;
    memcpy(self->best, self->W, self->Q * self->d * sizeof *self->best);
}

/* Reports within a step, which takes long with thousands of classes. */
static uc_status ask_to_go_on(const uma *self)
{
    if (self->Q < MANY_CLASSES)
        return UC_OK;
    return uc_report(self->context, "training", (double)self->steps, (double)self->settings->iterations,
                     NULL);
}

/* *done: no pair is left to correct. */
static uc_status take_step(uma *self, bool *done)
{
    uc_status status = UC_OK;
    for (size_t p = 0; p < self->Q && status == UC_OK; p++)
        if (self->sums.stale[p]) {
            status = refresh_norms(self, p);
            if (status == UC_OK)
                status = ask_to_go_on(self);
        }
    if (status != UC_OK)
        return status;
    memset(self->rejected, 0, self->Q * self->Q * sizeof *self->rejected);
    size_t p = 0, q = 0;
    for (;;) {
        if (!next_pair(self, &p, &q)) {
            *done = true;
            return UC_OK;
        }
        compute_z(self, p, q);
        if (plan_step(self, p, q))
            break;
        self->rejected[p * self->Q + q] = true;
        status = ask_to_go_on(self);
        if (status != UC_OK)
            return status;
    }
    keep_early_sum(self);
    add_to_weights(self);
    status = update_predictions(self);
    keep_best(self);
    char detail[96];
    snprintf(detail, sizeof detail, "|z| %.2e, corrected error %.4f", self->norm[p * self->Q + q],
             corrected_error(self, NULL));
    if (status == UC_OK)
        status = uc_report(self->context, "training", (double)self->steps, (double)self->settings->iterations,
                           detail);
    return status;
}

/* ---- allocation, start and result ---- */

static void release(uma *self)
{
    void *const blocks[] = {self->B,    self->class_share, self->W,    self->scores,   self->predicted,
                            self->next, self->norm,        self->z,    self->rejected, self->change,
                            self->sum,  self->early[0],    self->best, self->early[1]};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        uc_free(blocks[i]);
    uc_pair_sums_free(&self->sums);
}

static uc_status allocate(uma *self)
{
    const size_t n = self->n, Q = self->Q, weights = self->Q * self->d;
    const bool averages = self->returns == RETURN_AVERAGE || self->returns == RETURN_TAIL;
    bool complete = true;
    complete &= (self->B = uc_alloc(Q * Q, sizeof(double))) != NULL;
    complete &= (self->class_share = uc_alloc(Q, sizeof(double))) != NULL;
    complete &= (self->W = uc_alloc(weights, sizeof(double))) != NULL;
    complete &= (self->scores = uc_alloc(n * Q, sizeof(double))) != NULL;
    complete &= (self->predicted = uc_alloc(n, sizeof(uint32_t))) != NULL;
    complete &= (self->next = uc_alloc(n, sizeof(uint32_t))) != NULL;
    complete &= (self->norm = uc_alloc(Q * Q, sizeof(double))) != NULL;
    complete &= (self->rejected = uc_alloc(Q * Q, sizeof(bool))) != NULL;
    complete &= (self->z = uc_alloc(self->d, sizeof(double))) != NULL;
    complete &= (self->change = uc_alloc(Q, sizeof(double))) != NULL;
    if (averages)
        complete &= (self->sum = uc_alloc(weights, sizeof(double))) != NULL;
    for (size_t i = 0; i < 2 && self->returns == RETURN_TAIL; i++)
        complete &= (self->early[i] = uc_alloc(weights, sizeof(double))) != NULL;
    if (self->returns == RETURN_BEST)
        complete &= (self->best = uc_alloc(weights, sizeof(double))) != NULL;
    if (!complete)
        return UC_ERR_NOMEM;
    return uc_pair_sums_allocate(&self->sums);
}

static uc_status invert_noise(uma *self, const uc_noise *noise)
{
    uc_noise_check check;
    const uc_status status = uc_noise_inspect(&check, noise);
    if (status != UC_OK)
        return status;
    self->condition = check.condition;
    self->ridge = self->settings->ridge;
    if (isnan(self->ridge)) {
        self->ridge = check.condition < RIDGE_CONDITION ? 0.0 : RIDGE_WHEN_BAD;
        if (self->ridge > 0.0)
            uc_warn(self->context,
                    "the noise matrix is nearly singular (condition number %.3g): its inverse is regularised "
                    "with {ridge=%g}, and the classifier may be poor",
                    check.condition, self->ridge);
    }
    return uc_noise_invert(self->B, noise, self->ridge);
}

/* pi = C^-1 (counts of the labels) / n, kept positive. At the start every example is in a pair. */
static void estimate_class_shares(uma *self)
{
    const size_t Q = self->Q;
    double total = 0.0, *labels = self->change;
    memset(labels, 0, Q * sizeof *labels);
    for (size_t pair = 0; pair < Q * Q; pair++)
        labels[pair % Q] += self->sums.N[pair];
    for (size_t q = 0; q < Q; q++) {
        double share = 0.0;
        for (size_t k = 0; k < Q; k++)
            share += self->B[q * Q + k] * labels[k] / self->n_all.total;
        self->class_share[q] = fmax(share, 1.0 / self->n_all.finest);
        total += self->class_share[q];
    }
    for (size_t q = 0; q < Q; q++)
        self->class_share[q] /= total;
}

/* Puts every example in the pair of its first prediction. */
static uc_status predict_first(uma *self)
{
    const size_t blocks = (self->n + UC_PAIR_SUMS_ROWS - 1) / UC_PAIR_SUMS_ROWS;
    memset(self->predicted, 0xff, self->n * sizeof *self->predicted);
    for (size_t block = 0; block < blocks; block++) {
        const size_t first = block * UC_PAIR_SUMS_ROWS;
        const size_t last = uc_min_size(first + UC_PAIR_SUMS_ROWS, self->n);
        for (size_t i = first; i < last; i++)
            self->next[i] = prediction(self, self->scores + i * self->Q);
        note_moves(self, block, first, last);
    }
    return move_rows(self);
}

/* w_q = corrected mean of class q, minus the mean of all of these. With zero weights all examples are
 * predicted 0, so S[0][k] are the sums of the labels. */
static uc_status start_at_means(uma *self)
{
    const size_t Q = self->Q, d = self->d;
    for (size_t q = 0; q < Q; q++) {
        compute_z(self, 0, q);
        memcpy(self->W + q * d, self->z, d * sizeof *self->z);
    }
    for (size_t j = 0; j < d; j++) {
        double mean = 0.0;
        for (size_t q = 0; q < Q; q++)
            mean += self->W[q * d + j] / (double)Q;
        for (size_t q = 0; q < Q; q++)
            self->W[q * d + j] -= mean;
    }
    const size_t blocks = (self->n + UC_PAIR_SUMS_ROWS - 1) / UC_PAIR_SUMS_ROWS;
    uc_status status = UC_OK;
    for (size_t q = 0; q < Q && status == UC_OK; q++) {
        memset(self->change, 0, Q * sizeof *self->change);
        self->change[q] = 1.0;
        memcpy(self->z, self->W + q * d, d * sizeof *self->z);
        status = uc_run_blocks(self->context, blocks, score_block, self);
    }
    if (status != UC_OK)
        return status;
    return move_rows(self);
}

/* Sets W to the chosen iterate, or mean of iterates. */
static void choose_result(uma *self)
{
    const size_t weights = self->Q * self->d;
    const uint64_t t = self->steps;
    if (self->best && self->best_error < INFINITY)
        memcpy(self->W, self->best, weights * sizeof *self->W);
    if (!self->sum || t == 0)
        return;
    /* The tail leaves out all iterates before the last power of two at or below t/2. */
    uint64_t before = 0;
    if (self->early[0] && t >= 4) {
        before = 1;
        while (4 * (before + 1) <= t)
            before = 2 * before + 1;
    }
    for (size_t i = 0; i < weights; i++) {
        const double all = (double)t * self->W[i] - self->sum[i];
        const double early = before > 0 ? self->early[0][i] : 0.0;
        self->W[i] = (all - early) / (double)(t - before);
    }
}

/* Counts the sums again with the predictions of the returned model, for its corrected error. */
static uc_status count_again(uma *self, const uc_model *model)
{
    const uc_status status = uc_model_predict_prepared(self->next, model, self->X, self->context);
    if (status != UC_OK)
        return status;
    return uc_pair_sums_count(&self->sums, self->next);
}

static uc_status write_summary(json_t *summary, uma *self)
{
    uc_status status = uc_json_set(summary, "iterations", json_integer((json_int_t)self->steps));
    if (status == UC_OK)
        status = uc_json_set(summary, "updates", json_integer((json_int_t)self->steps));
    if (status != UC_OK)
        return status;
    json_t *condition = isfinite(self->condition) ? json_real(self->condition) : json_null();
    status = uc_json_set(summary, "condition_number", condition);
    if (status == UC_OK)
        status = uc_json_set(summary, "ridge", json_real(self->ridge));
    if (status != UC_OK || !self->knows_noise)
        return status;
    double deviation;
    const double error = fmin(fmax(corrected_error(self, &deviation), 0.0), 1.0); /* a share */
    status = uc_json_set(summary, "corrected_error", json_real(error));
    if (status == UC_OK)
        status = uc_json_set(summary, "corrected_error_deviation", json_real(deviation));
    return status;
}

static uc_status write_model(uc_model *model, uma *self)
{
    for (size_t q = 0; q < self->Q; q++)
        for (size_t j = 0; j < self->d; j++)
            model->weights[(j + 1) * model->stride + q] = self->W[q * self->d + j];
    const uc_status status = count_again(self, model);
    if (status != UC_OK)
        return status;
    return write_summary(model->summary, self);
}

static uc_status learn(uma *self, const uc_noise *noise)
{
    uc_status status = allocate(self);
    if (status == UC_OK)
        status = invert_noise(self, noise);
    if (status != UC_OK)
        return status;
    uc_pair_sums_set_inverse(&self->sums, self->B);
    status = predict_first(self);
    if (status != UC_OK)
        return status;
    estimate_class_shares(self);
    if (self->settings->init == INIT_MEANS)
        status = start_at_means(self);
    bool done = false;
    while (!done && self->steps < self->settings->iterations && status == UC_OK)
        status = take_step(self, &done);
    if (status == UC_OK)
        choose_result(self);
    return status;
}

static uc_status check_size(const uma *self)
{
    const double n = (double)self->n, Q = (double)self->Q, d = (double)self->d;
    double bytes = 8.0 * n * Q + 40.0 * n + 8.0 * 3.0 * Q * d;
    if (self->sums.from_rows)
        bytes += PAIR_BYTES_OF_ROWS * Q * Q + ENTRY_BYTES * (double)uc_matrix_entries(self->X) + 8.0 * d;
    else
        bytes += PAIR_BYTES * Q * Q;
    return uc_memory_check(self->context, bytes, "UMA's scores, weights and pairs of classes");
}

static uc_status fit(uc_model *model, const uc_fit *fit, const void *user)
{
    const uc_uma_settings *settings = user;
    uma self = {
        .X = &fit->data->X,
        .n = fit->data->X.rows,
        .d = fit->data->X.cols,
        .Q = fit->data->classes.count,
        .settings = settings,
        .context = fit->context,
        .rng = uc_rng_make(fit->train->seed, SEQUENCE_CHOICE),
        .returns = settings->returns,
        .best_error = INFINITY,
        .knows_noise = fit->train->noise != NULL,
    };
    self.sums = (uc_pair_sums){
        .X = self.X,
        .y = fit->data->y,
        .weights = fit->weights,
        .n = self.n,
        .d = self.d,
        .Q = self.Q,
        .context = self.context,
    };
    self.sums.from_rows = uc_pair_sums_may_use_rows(&self.sums);
    if (self.returns == RETURN_AUTO)
        self.returns = self.d < LOW_DIMENSION ? RETURN_BEST : RETURN_AVERAGE;
    uc_noise identity = {0};
    const uc_noise *noise = fit->train->noise;
    uc_status status = check_size(&self);
    if (status == UC_OK)
        status = uc_weigh(&self.n_all, fit);
    if (status == UC_OK)
        status = uc_blas_ready(fit->context);
    if (status == UC_OK && !noise) {
        uc_warn(
            fit->context,
            "no noise matrix was given: uma takes the labels as they are (see {noise-matrix}, {noise-rate})");
        status = uc_noise_uniform(&identity, self.Q, 0.0);
        noise = &identity;
    }
    if (status != UC_OK)
        goto cleanup;
    status = learn(&self, noise);
    if (status == UC_OK)
        status = write_model(model, &self);
cleanup:
    release(&self);
    uc_noise_free(&identity);
    return status;
}

const uc_learner uc_learner_uma = {
    .name = "uma",
    .summary = "labels confused by a matrix that is known or estimated ({noise-matrix})",
    .paper =
        "Louche, Ralaivola: Unconfused ultraconservative multiclass algorithms, Machine Learning 99, 2015",
    .options = uc_uma_options,
    .settings_size = sizeof(uc_uma_settings),
    .full = true,
    .normalizes = true,
    .uses_noise = true,
    .class_weight = offsetof(uc_uma_settings, class_weight),
    .fit = fit,
};
