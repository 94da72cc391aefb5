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
 * is not convex; the search starts at zero and without offsets, unless a start is given. p then estimates
 * the probability of the true class. The minimiser is Newton (logistic_newton.c) or L-BFGS, depending on the
 * data; both use sums over the rows (logistic_sums.c).
 */
#include <math.h>
#include <string.h>

#include "learn/logistic.h"
#include "learn/minimise.h"
#include "linalg/linalg.h"

#define NEWTON_VECTORS ((size_t)8) /* at the peak, including the model and a start that is not 0 */
#define LBFGS_VECTORS ((size_t)20)
#define STAGE 300.0 /* times the tolerance: when offsets become free */

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

/* ---- minimisation ---- */

typedef struct search {
    const problem *problem;
    const uc_context *context;
} search;

static uc_status evaluate(double *objective, double *gradient, const double *W, void *user)
{
    const search *self = user;
    return uc_logistic_gradient(objective, gradient, W, self->problem, self->context);
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
    const double l2 = uc_logistic_penalty(self), curvature = curvature_of(self);
    const uc_matrix *X = &self->data->X;
    uc_status status = uc_conditioning_fit(out, X, self->S, l2, curvature, self->free_offset, context);
    if (status == UC_OK)
        status = uc_conditioning_whiten(out, X, l2, curvature, context);
    return status;
}

/* Newton steps if there is memory for them (plan_newton); L-BFGS otherwise, and if they gave up. These then
 * have restored the weights, unless they came close to the minimum. */
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
        status = uc_logistic_newton(&newton, weights, self, conditioning, settings, context);
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

/* The weights at which uc_conditioning_whiten_again asks for curvatures. */
typedef struct point {
    const problem *problem;
    const double *W;
} point;

static uc_status find_information(double *out, size_t first, size_t every, size_t count, void *user)
{
    const point *at = user;
    const problem *self = at->problem;
    const size_t S = self->S, K = self->K, stride = uc_class_stride(K);
    double *scores = uc_alloc(2 * stride, sizeof *scores), highest, total;
    if (!scores)
        return UC_ERR_NOMEM;
    double *p = scores + stride;
    for (size_t i = 0; i < count; i++) {
        const size_t row = first + i * every;
        double *own = scores + (S < K ? 1 : 0); /* the score of class 0 stays 0 */
        memcpy(own, at->W, S * sizeof *own);
        uc_row_scores(own, uc_matrix_row(&self->data->X, row), at->W + S, S);
        uc_softmax_rows(p, &highest, &total, scores, 1, K, stride);
        out[i] = uc_logistic_information(self, p) * (self->weights ? self->weights[row] : 1.0);
    }
    uc_free(scores);
    return UC_OK;
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

/* A first stage without offsets; then columns are decorrelated once more, since by now many rows have hardly
 * any curvature. L-BFGS takes 21 passes instead of 38 on two Gaussians with 20% wrong labels. The stage may
 * end early, but when it ended at 1000 times the tolerance more searches ended in worse minima. */
static uc_status prepare(uc_minimum *out, double *weights, const problem *self, uc_conditioning *conditioning,
                         const uc_logistic_settings *settings, const uc_context *context)
{
    point found = {self, weights};
    const uc_status status = descend_first(out, weights, self, conditioning, settings, context);
    if (status != UC_OK || !conditioning->root)
        return status;
    return uc_conditioning_whiten_again(conditioning, &self->data->X, uc_logistic_penalty(self),
                                        curvature_of(self), find_information, &found, context);
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
        status = prepare(&first, weights, self, &conditioning, settings, context);
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
static uc_status begin(uc_model *model, const uc_model *start, bool free_offset)
{
    if (!start)
        return UC_OK;
    if (start->dimension != model->dimension || start->classes.count != model->classes.count)
        return uc_fail(UC_ERR_INVALID,
                       "the model to start from has %zu features and %zu classes, not %zu and %zu",
                       start->dimension, start->classes.count, model->dimension, model->classes.count);
    memcpy(model->weights, start->weights, (model->dimension + 1) * model->stride * sizeof *model->weights);
    if (!free_offset) /* row 0 stays as it is */
        memset(model->weights, 0, model->stride * sizeof *model->weights);
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
        status = begin(model, fit->train->start, self.free_offset);
    if (status == UC_OK)
        status = minimise(model, &self, settings, fit->context);
    uc_matrix_free(&by_column);
    uc_free(self.scores);
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
    .warm_starts = true,
    .fit = fit,
};
