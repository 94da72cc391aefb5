/*
 * The RP-classifier (Stempfel, Ralaivola, ALT 2007): a perceptron that tolerates labels flipped at random
 * (Bylander 1994, 1998), on a finite projection of a kernel's space.
 *
 *   x_i, y_i  an example and its label, +1 or -1        m   examples        a_i = y_i <w, x_i>
 *   mu        = 1/m sum_i y_i x_i                       mu' = 1/m sum of y_i x_i where a_i <= 0
 *             with weights, every sum over examples is weighted, and m is the sum of the weights
 *
 * w starts at 0; each of T steps adds z, given by the rule:
 *
 *   nu    z = mu                if <w, mu> <= nu |w|, nu = kappa |mu|; otherwise
 *         z = a mu' + b mu      a = (<w, mu> - nu |w|)/D,  b = (nu |w| - <w, mu'>)/D,  D = <w, mu> - <w, mu'>
 *   eta   z = (1 - 2 eta) mu' + eta mu
 *
 * minus its component along w, if that is positive. The result is the first w with the most a_i > 0, not
 * simply the last w. Since |mu| shrinks like 1 - 2 eta by itself, the rule nu needs no noise rate; kappa >= 1
 * keeps w along mu, the class-mean classifier. With the rule eta, z is -(1 - 2 eta) times the gradient of
 * sloppy-svm's corrected loss, with the perceptron's loss max(0, -a) instead of the hinge.
 *
 * The noise rate is estimated as well: eta^ = sum of |a_i| where a_i <= 0 / sum of all |a_i|. If the classes
 * overlap it includes their own error, so it is an upper estimate.
 *
 * One step is one sweep: a = S w and mu' together; <w, mu> and <w, mu'> are sums of a. To m mu' a sweep adds
 * only the examples that have become wrong, and subtracts those that have become right; after the first
 * steps these are few.
 */
#include <math.h>
#include <string.h>

#include "data/weights.h"
#include "learn/learner.h"
#include "linalg/linalg.h"

enum { RULE_NU, RULE_ETA };

#define ROWS_AT_ONCE ((size_t)128)
#define ALL_CORRECT (1.0 - 1e-12) /* sums of weights have rounding errors */

#define FIELD(name) offsetof(uc_rp_settings, name)

static const uc_option options[] = {
    {.name = "rule",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(rule),
     .standard = "nu",
     .choices = "nu|eta",
     .help = "nu: for an unknown noise rate; eta: for a given one, two classes only"},
    {.name = "kappa",
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(kappa),
     .standard = "auto",
     .low = 0,
     .high = 1e6,
     .argument = "K",
     .help = "rule nu: how closely the weights stay to the class means; from 1 on only the means count "
             "(auto: by cross-validation)"},
    {.name = "iterations",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(iterations),
     .standard = "300",
     .low = 1,
     .high = 1e9,
     .help = "largest number of steps"},
    UC_CLASS_WEIGHT_OPTION(uc_rp_settings),
    {.name = NULL},
};

static const double kappa_values[] = {0, 0.03, 0.1, 0.2};
static const uc_candidates candidates[] = {
    {"kappa", kappa_values, sizeof kappa_values / sizeof *kappa_values}, {0}};

typedef struct machine {
    const uc_dataset *data;
    uint32_t positive;
    const uc_rp_settings *settings;
    double eta;
    const uc_context *context;
    size_t d;
    double m;          /* total weight of the examples of all processes */
    double effective;  /* the number of equal examples that are as informative */
    const double *w;   /* the weights of the current sweep */
    bool *wrong;       /* a_i <= 0 in the last sweep */
    double *sum_wrong; /* m mu' */
} machine;

/* What a sweep adds up, following the d changes of m mu'. */
enum {
    CORRECT,       /* examples with a > 0 */
    SUM,           /* of a */
    SUM_WRONG,     /* of a where a <= 0 */
    LENGTH,        /* of |a| */
    SQUARES,       /* of a^2 */
    SQUARES_WRONG, /* of a^2 where a <= 0 */
    SUMS
};

static double sign_of(const machine *self, size_t i)
{
    static const double signs[] = {-1.0, 1.0}; /* without a branch, which could not be predicted */
    return signs[self->data->y[i] == self->positive];
}

/* Returns the value or 0 by masking its bits: compilers turn `wanted ? value : 0` into a branch. */
static double value_if(bool wanted, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= -(uint64_t)wanted;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

/* Adds the `margins` a_i of some rows, with `weights` (NULL: all are 1). There are no branches or calls,
 * since which rows are wrong cannot be predicted, and the sums stay in registers. */
static void add_margins(double *sums, const double *margins, const double *weights, size_t rows)
{
    double correct = sums[CORRECT], sum = sums[SUM], sum_wrong = sums[SUM_WRONG], length = sums[LENGTH],
           squares = sums[SQUARES], squares_wrong = sums[SQUARES_WRONG];
    for (size_t i = 0; i < rows; i++) {
        const double a = margins[i], weight = weights ? weights[i] : 1.0;
        const double weighted = weight * a, wrong = value_if(!(a > 0.0), weighted);
        sum += weighted;
        length += fabs(weighted);
        squares += weighted * a;
        correct += value_if(a > 0.0, weight);
        sum_wrong += wrong;
        squares_wrong += wrong * a;
    }
    sums[CORRECT] = correct;
    sums[SUM] = sum;
    sums[SUM_WRONG] = sum_wrong;
    sums[LENGTH] = length;
    sums[SQUARES] = squares;
    sums[SQUARES_WRONG] = squares_wrong;
}

/* Computes the margins of a whole block of rows first, so that memory is read at full speed: no read waits
 * for a margin. */
static uc_status add_rows(double *sum, size_t first, size_t last, void *user)
{
    const machine *self = user;
    const uc_matrix *X = &self->data->X;
    const double *weights = self->data->weights;
    double sums[SUMS] = {0.0}, margins[ROWS_AT_ONCE];
    for (size_t start = first; start < last; start += ROWS_AT_ONCE) {
        const size_t rows = uc_min_size(last - start, ROWS_AT_ONCE);
        uc_row_dots(margins, X, start, rows, self->w);
        for (size_t i = 0; i < rows; i++)
            margins[i] *= sign_of(self, start + i);
        add_margins(sums, margins, weights ? weights + start : NULL, rows);
        for (size_t i = 0; i < rows; i++) {
            const bool wrong = !(margins[i] > 0.0);
            if (wrong == self->wrong[start + i])
                continue;
            const double weighted = uc_row_weight(self->data, start + i) * sign_of(self, start + i);
            self->wrong[start + i] = wrong;
            uc_row_axpy(wrong ? weighted : -weighted, uc_matrix_row(X, start + i), sum);
        }
    }
    for (size_t j = 0; j < SUMS; j++)
        sum[self->d + j] += sums[j];
    return UC_OK;
}

/* Sets `sum` to mu' and the means. */
static uc_status sweep(double *sum, machine *self, const double *w)
{
    const size_t d = self->d;
    const double m = self->m;
    const uc_context fitting =
        uc_context_for_work(self->context, 2.0 * (double)uc_matrix_entries(&self->data->X));
    self->w = w;
    memset(sum, 0, (d + SUMS) * sizeof *sum);
    const uc_status status = uc_sum_over(&fitting, self->data->X.rows, add_rows, self, sum, d + SUMS);
    for (size_t j = 0; j < d && status == UC_OK; j++) {
        self->sum_wrong[j] += sum[j];
        sum[j] = self->sum_wrong[j] / m;
    }
    for (size_t j = d; j < d + SUMS && status == UC_OK; j++)
        sum[j] /= m;
    return status;
}

/* Computes z from the sweep's sums, in place of mu'; false if there is nothing to add. */
static bool step_from(double *z, const machine *self, const double *mu, const double *w, const double *sums)
{
    const size_t d = self->d;
    const double length = sqrt(uc_dot(w, w, d)), along = sums[SUM], along_wrong = sums[SUM_WRONG];
    const double nu = self->settings->kappa * sqrt(uc_dot(mu, mu, d));
    double of_wrong = 0.0, of_all = 1.0; /* z = of_wrong mu' + of_all mu */
    if (self->settings->rule == RULE_ETA) {
        of_wrong = 1.0 - 2.0 * self->eta;
        of_all = self->eta;
    } else if (along > nu * length) {
        of_wrong = (along - nu * length) / (along - along_wrong);
        of_all = (nu * length - along_wrong) / (along - along_wrong);
    }
    for (size_t j = 0; j < d; j++)
        z[j] = of_wrong * z[j] + of_all * mu[j];
    const double upward = of_wrong * along_wrong + of_all * along; /* <w, z> */
    for (size_t j = 0; j < d && upward > 0.0; j++)
        z[j] -= upward / (length * length) * w[j];
    return uc_dot(z, z, d) > 0.0;
}

typedef struct outcome {
    double correct; /* share of the examples */
    double noise_rate, noise_rate_deviation;
    uint64_t iterations;
} outcome;

/* The noise rate as a ratio of two means, and the standard deviation of that ratio. */
static void estimate_noise(outcome *out, const double *sums, double examples)
{
    if (!(sums[LENGTH] > 0.0)) {
        out->noise_rate = out->noise_rate_deviation = 0.0;
        return;
    }
    const double rate = fabs(sums[SUM_WRONG]) / sums[LENGTH];
    const double residual = (1.0 - 2.0 * rate) * sums[SQUARES_WRONG] + rate * rate * sums[SQUARES];
    out->noise_rate = rate;
    out->noise_rate_deviation = sqrt(fmax(residual, 0.0) / examples) / sums[LENGTH];
}

/* `best` becomes the first of the most correct iterates. w, best and mu have d numbers, zeroed; sum has d +
 * SUMS. */
static uc_status run(outcome *out, machine *self, double *w, double *best, double *mu, double *sum)
{
    const size_t d = self->d;
    uc_status status = sweep(sum, self, w); /* at w = 0 all examples are wrong, so mu' is mu */
    memcpy(mu, sum, d * sizeof *mu);
    *out = (outcome){0};
    for (uint64_t t = 0; t < self->settings->iterations && status == UC_OK; t++) {
        if (sum[d + CORRECT] >= ALL_CORRECT || !step_from(sum, self, mu, w, sum + d))
            break;
        for (size_t j = 0; j < d; j++)
            w[j] += sum[j];
        status = sweep(sum, self, w);
        out->iterations = t + 1;
        if (status == UC_OK && sum[d + CORRECT] > out->correct) {
            out->correct = sum[d + CORRECT];
            estimate_noise(out, sum + d, self->effective);
            memcpy(best, w, d * sizeof *best);
        }
        if (status == UC_OK)
            status = uc_report(self->context, "training", (double)(t + 1), (double)self->settings->iterations,
                               NULL);
    }
    return status;
}

/* Learns one machine; `best` (d, zeroed) is scaled to unit length. */
static uc_status learn_one(outcome *out, double *best, machine *self)
{
    const size_t d = self->d, rows = self->data->X.rows;
    double *memory = uc_alloc(4 * d + SUMS, sizeof *memory);
    self->wrong = uc_alloc(rows, sizeof *self->wrong); /* all false, so that the first sweep adds every row */
    uc_status status = UC_ERR_NOMEM;
    if (memory && self->wrong)
        status = UC_OK;
    if (status == UC_OK) {
        self->sum_wrong = memory + 2 * d;
        status = run(out, self, memory, best, memory + d, memory + 3 * d);
    }
    const double length = sqrt(uc_dot(best, best, d));
    for (size_t j = 0; j < d && length > 0.0; j++)
        best[j] /= length;
    uc_free(self->wrong);
    uc_free(memory);
    return status;
}

static uc_status summarise(uc_model *model, const outcome *found, uint64_t iterations, bool binary)
{
    uc_status status = uc_json_set(model->summary, "iterations", json_integer((json_int_t)iterations));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "updates", json_integer((json_int_t)iterations));
    binary = binary && found->correct > 0.0; /* nothing was learned, so nothing is known */
    if (status == UC_OK && binary)
        status = uc_json_set(model->summary, "noise_rate", json_real(found->noise_rate));
    if (status == UC_OK && binary)
        status = uc_json_set(model->summary, "noise_rate_deviation", json_real(found->noise_rate_deviation));
    return status;
}

static uc_status noise_rate_of(double *eta, const uc_fit *fit)
{
    const uc_noise *noise = fit->train->noise;
    if (fit->data->classes.count != 2)
        return uc_fail(UC_ERR_INVALID, "{rule=eta} is for two classes, but there are %zu: use {rule=nu}",
                       fit->data->classes.count);
    if (!noise)
        return uc_fail(UC_ERR_INVALID, "{rule=eta} needs the noise rate: give it with {noise-rate ETA}");
    const double positive = noise->values[1], negative = noise->values[2];
    if (fabs(positive - negative) > 1e-9)
        return uc_fail(
            UC_ERR_INVALID,
            "{rule=eta} is for classes that flip at the same rate, not at %g and %g: give one rate with "
            "{noise-rate ETA}, or use sloppy-svm",
            positive, negative);
    if (!(positive < 0.5))
        return uc_fail(UC_ERR_INVALID, "the noise rate %g is not below 0.5", positive);
    *eta = positive;
    return UC_OK;
}

static uc_status fit(uc_model *model, const uc_fit *fit, const void *user)
{
    machine self = {.data = fit->data, .settings = user, .context = fit->context, .d = fit->data->X.cols};
    const size_t K = fit->data->classes.count, machines = K == 2 ? 1 : K;
    uint64_t iterations = 0;
    outcome found = {0};
    uc_weight_sums weights = {0};
    uc_status status = UC_OK;
    if (self.settings->rule == RULE_ETA)
        status = noise_rate_of(&self.eta, fit);
    else if (isnan(self.settings->kappa))
        return uc_fail(UC_ERR_INVALID, "{kappa=auto} must become a number before training (uc_tune)");
    if (status == UC_OK)
        status = uc_weigh(&weights, fit);
    self.m = weights.total;
    self.effective = weights.effective;
    double *best = uc_alloc(self.d, sizeof *best);
    if (status == UC_OK && !best)
        status = UC_ERR_NOMEM;
    for (size_t k = 0; k < machines && status == UC_OK; k++) {
        self.positive = K == 2 ? 1 : (uint32_t)k;
        memset(best, 0, self.d * sizeof *best);
        status = learn_one(&found, best, &self);
        iterations += found.iterations;
        for (size_t j = 0; j < self.d && status == UC_OK; j++) {
            double *row = model->weights + (j + 1) * model->stride;
            row[self.positive] = best[j];
            if (K == 2) {
                row[0] = -best[j] / 2.0;
                row[1] = best[j] / 2.0;
            }
        }
    }
    uc_free(best);
    if (status != UC_OK)
        return status;
    return summarise(model, &found, iterations, K == 2);
}

const uc_learner uc_learner_rp = {
    .name = "rp",
    .summary =
        "two classes, labels flipped at random at one rate; nonlinear; needs no noise rate and estimates it",
    .paper =
        "Stempfel, Ralaivola: Learning kernel perceptrons on noisy data and random projections, ALT 2007",
    .options = options,
    .settings_size = sizeof(uc_rp_settings),
    .full = true,
    .normalizes = true,
    .uses_noise = true,
    .map = UC_MAP_KGS,
    .class_weight = offsetof(uc_rp_settings, class_weight),
    .candidates = candidates,
    .fit = fit,
};
