/*
 * Semi-supervised support vector machine: a few rows have labels, the others show where the rows are.
 *
 *   x_i, y_i  a row and its class; l rows have one, u rows do not
 *   f_k(x)    = <w_k, x> + b_k, one machine per class against the rest      t_ik = +1 if y_i = k, else -1
 *   L(g)      = max(0, 1 - g)^2
 *             with weights, every sum over rows is weighted, and l and u are sums of weights
 *
 *   minimise  1/2 sum_k |w_k|^2 + C/l sum over labelled i of   sum_k L(t_ik f_k(x_i))
 *                               + C_u/u sum over unlabelled i of min_y sum_k L(t_k(y) f_k(x_i))
 *
 * An unlabelled row counts as if it had the label that suits it best (Bennett, Demiriz, NIPS 11, 1998). With
 * K machines that is *one* class for all of them: sum_k L(-f_k) + min_y e_y with e_y = L(f_y) - L(-f_y).
 * Machines that choose their signs independently may assign a row to no class or to every class
 * (docs/learners/s3vm.md has figures). Two classes need one machine, which chooses between e and 0.
 *
 *   smooth    min_y e_y becomes -T log sum_y exp(-e_y / T)
 *   anneal    C_u = 0, then from a hundredth of its value up to it, each minimum being the starting point of
 *             the next search by L-BFGS (Chapelle, Zien, AISTATS 2005)
 *   balance   the unlabelled rows must score on average what the labelled rows score in the plain machine
 *             (C_u = 0), lest they all go to one class:  b_k = target_k - <w_k, mean of the unlabelled rows>
 *
 * The balance eliminates b, so it holds exactly; its gradient goes to w by the chain rule. The usual target,
 * 2 share_k - 1, assumes that every score is +1 or -1, but scores of the rest are mostly below -1.
 */
#include "learn/s3vm.h"

#include <math.h>
#include <string.h>

#include "data/weights.h"
#include "learn/minimise.h"
#include "linalg/linalg.h"

#define ROWS_AT_ONCE ((size_t)64) /* rows; a dense block of them stays in the cache */
#define TEMPERATURE 0.1           /* T */
#define STAGES 8                  /* of the annealing */
#define FIRST_SHARE 0.01          /* of C_u, in the first stage */
#define ROUGH 1e-3                /* gradient relative to the weights at which a stage ends, */
#define FINE 1e-5                 /* and the last stage */
#define MOST_ITERATIONS 1000      /* per stage */

#define FIELD(name) offsetof(uc_s3vm_settings, name)

static const uc_option options[] = {
    {.name = "cost",
     .letter = 'c',
     .type = UC_OPTION_REAL,
     .offset = FIELD(cost),
     .standard = "100",
     .low = 0,
     .above_low = true,
     .high = 1e9,
     .argument = "C",
     .help = "weight of the labelled examples' mean loss against half the squared length of the weights"},
    {.name = "unlabelled-cost",
     .type = UC_OPTION_REAL,
     .offset = FIELD(unlabelled_cost),
     .standard = "1",
     .low = 0,
     .high = 1e6,
     .argument = "R",
     .help = "weight of the unlabelled examples' mean loss, in units of the cost; 0: they are ignored"},
    UC_CLASS_WEIGHT_OPTION(uc_s3vm_settings),
    {.name = NULL},
};

/* ---- the rows, counted and averaged ---- */

/* Adds both sums of rows, then the weights of the labelled rows of every class and of the unlabelled rows,
 * and the number of unlabelled rows. */
static uc_status add_rows(double *sum, size_t first, size_t last, void *user)
{
    const uc_s3vm *self = user;
    double *counts = sum + 2 * self->d;
    for (size_t i = first; i < last; i++) {
        const bool labelled = self->data->y[i] != UC_NONE;
        const double weight = uc_row_weight(self->data, i);
        double *into = labelled ? sum : sum + self->d;
        uc_row_axpy(weight, uc_matrix_row(&self->data->X, i), into);
        counts[labelled ? self->data->y[i] : self->data->classes.count] += weight;
        counts[self->data->classes.count + 1] += !labelled;
    }
    return UC_OK;
}

static uc_status count_rows(uc_s3vm *self)
{
    const uc_names *classes = &self->data->classes;
    const size_t length = 2 * self->d + classes->count + 2;
    self->means = uc_alloc(length, sizeof *self->means);
    if (!self->means)
        return UC_ERR_NOMEM;
    const uc_status status =
        uc_sum_over(self->context, self->data->X.rows, add_rows, self, self->means, length);
    if (status != UC_OK)
        return status;
    const double *counts = self->means + 2 * self->d;
    for (size_t k = 0; k < classes->count; k++) {
        if (counts[k] == 0.0)
            return uc_fail(UC_ERR_FORMAT,
                           "class '%s' has no labelled example, and s3vm needs one of every class",
                           classes->text[k]);
        self->labelled += counts[k];
    }
    self->unlabelled = counts[classes->count];
    self->unlabelled_rows = (size_t)counts[classes->count + 1];
    for (size_t j = 0; j < self->d; j++)
        self->means[j] /= self->labelled;
    for (size_t j = 0; j < self->d && self->unlabelled_rows > 0; j++)
        self->means[self->d + j] /= self->unlabelled;
    return UC_OK;
}

uc_status uc_s3vm_begin(uc_s3vm *self, const uc_fit *fit, double cost)
{
    const size_t K = fit->data->classes.count, P = K == 2 ? 1 : K;
    *self = (uc_s3vm){
        .data = fit->data,
        .context = fit->context,
        .cost = cost,
        .d = fit->data->X.cols,
        .P = P,
        .S = uc_class_stride(P),
        .free_offset = fit->train->bias != 0.0,
    };
    self->target = uc_alloc(self->S, sizeof *self->target);
    self->offset = uc_alloc(self->S, sizeof *self->offset);
    self->sum = uc_alloc((self->d + 1) * self->S + 1, sizeof *self->sum);
    uc_status status = UC_ERR_NOMEM;
    if (self->target && self->offset && self->sum)
        status = count_rows(self);
    if (status != UC_OK)
        uc_s3vm_end(self);
    return status;
}

void uc_s3vm_end(uc_s3vm *self)
{
    uc_free(self->means);
    uc_free(self->target);
    uc_free(self->offset);
    uc_free(self->sum);
    *self = (uc_s3vm){0};
}

/* ---- the objective ---- */

/* out[k] += sign <w_k, mean> */
static void add_mean_scores(double *out, const uc_s3vm *self, const double *W, const double *mean,
                            double sign)
{
    for (size_t j = 0; j < self->d; j++)
        for (size_t k = 0; k < self->P; k++)
            out[k] += sign * mean[j] * W[(j + 1) * self->S + k];
}

static void set_offset(uc_s3vm *self, const double *W)
{
    if (!self->balanced) {
        memcpy(self->offset, W, self->S * sizeof *W);
        return;
    }
    memcpy(self->offset, self->target, self->S * sizeof *W);
    add_mean_scores(self->offset, self, W, self->means + self->d, -1.0);
}

void uc_s3vm_balance(uc_s3vm *self, const double *W)
{
    memcpy(self->target, W, self->S * sizeof *W);
    add_mean_scores(self->target, self, W, self->means, 1.0);
    self->balanced = true;
}

/* Whether a label is that of machine k; for two classes, the only machine is for the second one. */
static bool is_own(const uc_s3vm *self, uint32_t y, size_t k)
{
    if (self->P == 1)
        return y == 1;
    return y == k;
}

/* Replaces the scores by the gradient in the scores; returns the loss. */
static double labelled_gradient(const uc_s3vm *self, double *f, uint32_t y, double weight)
{
    const double scale = weight * (self->cost / self->labelled);
    double loss = 0.0;
    for (size_t k = 0; k < self->P; k++) {
        const double t = is_own(self, y, k) ? 1.0 : -1.0;
        const double short_by = fmax(0.0, 1.0 - t * f[k]);
        loss += short_by * short_by;
        f[k] = -2.0 * scale * t * short_by;
    }
    return scale * loss;
}

/* The same without a label; `q` has room for P numbers. If q_k is the smoothed choice of class k, machine k's
 * gradient is the mean of those for its two signs: q_k L'(f) - (1 - q_k) L'(-f). */
static double unlabelled_gradient(const uc_s3vm *self, double *f, double *q, double weight)
{
    const size_t P = self->P;
    const double scale = weight * (self->unlabelled_cost / self->unlabelled);
    double best = P == 1 ? 0.0 : -INFINITY, total = 0.0, loss = 0.0;
    for (size_t k = 0; k < P; k++) {
        const double as_own = fmax(0.0, 1.0 - f[k]), as_rest = fmax(0.0, 1.0 + f[k]);
        q[k] = as_rest * as_rest - as_own * as_own;
        loss += as_rest * as_rest;
        best = fmax(best, q[k]);
    }
    for (size_t k = 0; k < P; k++)
        total += q[k] = exp((q[k] - best) / TEMPERATURE);
    if (P == 1)
        total += exp(-best / TEMPERATURE);
    for (size_t k = 0; k < P; k++) {
        const double share = q[k] / total;
        f[k] = 2.0 * scale * ((1.0 - share) * fmax(0.0, 1.0 + f[k]) - share * fmax(0.0, 1.0 - f[k]));
    }
    /* cppcheck-suppress invalidFunctionArg ; one of the terms is exp(0) */
    return scale * (loss - best - TEMPERATURE * log(total));
}

/* Adds the gradient, (1 + d) x S, followed by the loss, over rows first .. last-1. */
static uc_status add_gradient(double *sum, size_t first, size_t last, void *user)
{
    const uc_s3vm *self = user;
    const uc_matrix *X = &self->data->X;
    const size_t S = self->S, work_size = uc_matrix_is_sparse(X) ? 0 : ROWS_AT_ONCE * self->d;
    double *scores = uc_alloc((ROWS_AT_ONCE + 1) * S, sizeof *scores);
    double *work = uc_alloc(work_size, sizeof *work);
    for (size_t start = first; start < last && scores && work; start += ROWS_AT_ONCE) {
        const size_t rows = uc_min_size(last - start, ROWS_AT_ONCE);
        double *choice = scores + ROWS_AT_ONCE * S;
        uc_score_rows_for_gradient(scores, X, start, rows, self->W + S, S, self->offset, work);
        for (size_t i = 0; i < rows; i++) {
            double *f = scores + i * S, loss = 0.0;
            const uint32_t y = self->data->y[start + i];
            const double weight = uc_row_weight(self->data, start + i);
            if (y != UC_NONE)
                loss = labelled_gradient(self, f, y, weight);
            else if (self->unlabelled_cost > 0.0)
                loss = unlabelled_gradient(self, f, choice, weight);
            else
                memset(f, 0, S * sizeof *f);
            sum[(self->d + 1) * S] += loss;
            for (size_t k = 0; k < self->P; k++)
                sum[k] += f[k];
        }
        uc_block_update(sum + S, X, start, rows, S, scores, work);
    }
    uc_free(work);
    uc_free(scores);
    if (!scores || !work)
        return UC_ERR_NOMEM;
    return UC_OK;
}

uc_status uc_s3vm_objective(double *value, double *gradient, uc_s3vm *self, const double *W)
{
    const size_t S = self->S, used = (self->d + 1) * S;
    self->W = W;
    self->evaluations++;
    set_offset(self, W);
    memset(self->sum, 0, (used + 1) * sizeof *self->sum);
    const uc_status status =
        uc_sum_over(self->context, self->data->X.rows, add_gradient, self, self->sum, used + 1);
    if (status != UC_OK)
        return status;
    const double *mean = self->means + self->d;
    double penalty = 0.0;
    for (size_t j = 0; j < self->d; j++)
        for (size_t k = 0; k < S; k++) {
            const size_t at = (j + 1) * S + k;
            gradient[at] = W[at] + self->sum[at];
            if (self->balanced)
                gradient[at] -= mean[j] * self->sum[k];
            penalty += W[at] * W[at];
        }
    for (size_t k = 0; k < S; k++)
        gradient[k] = self->free_offset && !self->balanced ? self->sum[k] : 0.0;
    *value = penalty / 2 + self->sum[used];
    return UC_OK;
}

/* ---- the optimiser ---- */

static uc_status evaluate(double *value, double *gradient, const double *W, void *user)
{
    return uc_s3vm_objective(value, gradient, user, W);
}

/* Minimises from W; self->offset has the final offsets. */
static uc_status minimise(double *value, uc_s3vm *self, double *W, double tolerance)
{
    uc_minimum found;
    uc_conditioning conditioning;
    uc_status status = uc_conditioning_fit(&conditioning, &self->data->X, self->S, 1.0, self->cost,
                                           self->free_offset, self->context);
    if (status == UC_OK)
        status = uc_minimise(&found, W, (self->d + 1) * self->S, evaluate, self, &conditioning,
                             MOST_ITERATIONS, tolerance, self->context);
    uc_conditioning_free(&conditioning);
    if (status != UC_OK)
        return status;
    set_offset(self, W); /* the last evaluation may have been at another point */
    memcpy(W, self->offset, self->S * sizeof *W);
    self->iterations += found.iterations;
    *value = found.value;
    if (tolerance <= FINE)
        uc_minimum_warn(&found, "s3vm", MOST_ITERATIONS, UC_ADVISE_NOTHING, self->context);
    return UC_OK;
}

/* First fits the plain machine, then includes the unlabelled rows with increasing cost. */
static uc_status anneal(double *value, uc_s3vm *self, double *W, double unlabelled_cost)
{
    const bool plain = self->unlabelled_rows == 0 || unlabelled_cost == 0.0;
    uc_status status = minimise(value, self, W, plain ? FINE : ROUGH);
    if (plain || status != UC_OK)
        return status;
    if (self->free_offset)
        uc_s3vm_balance(self, W);
    for (int stage = 1; stage <= STAGES && status == UC_OK; stage++) {
        const double left = (double)(STAGES - stage) / (STAGES - 1);
        self->unlabelled_cost = unlabelled_cost * pow(FIRST_SHARE, left);
        status = minimise(value, self, W, stage < STAGES ? ROUGH : FINE);
    }
    return status;
}

/* ---- the learner ---- */

/* Turns one machine for two classes into two weight vectors, -w/2 and +w/2. */
static void write_weights(uc_model *model, const uc_s3vm *self, const double *W)
{
    for (size_t j = 0; j <= self->d; j++) {
        double *row = model->weights + j * model->stride;
        if (self->P > 1) {
            memcpy(row, W + j * self->S, model->stride * sizeof *row);
        } else {
            row[0] = W[j] * -0.5;
            row[1] = W[j] * 0.5;
        }
    }
    model->bias = self->free_offset; /* the offset is the weight of a constant 1 */
}

static uc_status write_summary(uc_model *model, const uc_s3vm *self, double objective)
{
    uc_status status = uc_json_set(model->summary, "iterations", json_integer((json_int_t)self->iterations));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "updates", json_integer((json_int_t)self->evaluations));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "objective", json_real(objective));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "unlabelled", json_integer((json_int_t)self->unlabelled_rows));
    return status;
}

static uc_status fit(uc_model *model, const uc_fit *fit, const void *user)
{
    const uc_s3vm_settings *settings = user;
    uc_s3vm self;
    uc_status status = uc_s3vm_begin(&self, fit, settings->cost);
    if (status != UC_OK)
        return status;
    double objective = 0.0, *W = NULL;
    status = uc_blas_ready(fit->context);
    if (status != UC_OK)
        goto cleanup;
    W = uc_alloc((self.d + 1) * self.S, sizeof *W);
    status = UC_ERR_NOMEM;
    if (W)
        status = anneal(&objective, &self, W, settings->cost * settings->unlabelled_cost);
    if (status == UC_OK) {
        write_weights(model, &self, W);
        status = write_summary(model, &self, objective);
    }
cleanup:
    uc_free(W);
    uc_s3vm_end(&self);
    return status;
}

const uc_learner uc_learner_s3vm = {
    .name = "s3vm",
    .summary = "a few clean labels and many rows without one ('?')",
    .paper = "Bennett, Demiriz: Semi-supervised support vector machines, NIPS 11, 1998; Chapelle, Zien: "
             "Semi-supervised classification by low density separation, AISTATS 2005",
    .options = options,
    .settings_size = sizeof(uc_s3vm_settings),
    .full = true,
    .free_offset = true,
    .unlabelled = true,
    .class_weight = offsetof(uc_s3vm_settings, class_weight),
    .fit = fit,
};
