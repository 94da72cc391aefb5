/*
 * Support vector machines for two classes whose labels may be wrong: CSVM, and SloppySVM (Stempfel,
 * Ralaivola, ICANN 2009), which knows at what rates the labels of each class were flipped.
 *
 *   x_i, t_i    an example and its observed label, +1 or -1        f(x) = <w, x> + b        n  examples
 *   eta+, eta-  the share of true positives, and of true negatives, that have the other label
 *   L           the hinge loss max(0, 1 - g), smooth between 1 - h and 1 + h (Chapelle 2007)
 *
 *   minimise  1/2 |w|^2 + C/n sum_i l(t_i f(x_i), t_i)        over w and, unpenalised, b
 *
 *   csvm      l(g, t) = L(g)
 *   sloppy    l(g, t) = K ((1 - eta_-t) L(g) - eta_t L(-g)),   K = 1/(1 - eta+ - eta-)
 *   weighted  l(g, t) = K (1 - eta_-t + eta_t) L(g), the convex function with the same slope around 0
 *   with weights u_i of the examples, C/n sum_i becomes C / (sum_i u_i) sum_i u_i
 *   with class weights v, of the true classes, (1 - eta_-t) gets the factor v_t, and eta_t the factor v_-t
 *
 * The mean of the sloppy loss over the flips is L of the true label (Lemma 1 of the paper). It is not convex;
 * L-BFGS starts from zero. It decreases without bound as b grows unless the observed labels are consistent
 * with the rates: the share of labels -1 must exceed eta+, and that of +1 eta-. The other losses are convex:
 * they use dual coordinate descent (dual.c), and L-BFGS once that becomes slow. Labels of bags may need
 * several machines in sequence (bags.c).
 */
#include "learn/svm/svm.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "data/exchange.h"
#include "data/weights.h"
#include "learn/svm/bags.h"
#include "linalg/linalg.h"

#define RELATIVE_COST                                                                                        \
    3000.0 /* C times the mean squared length of the rows; docs/learners/svm.md has the table */
#define LEAST_COST 100.0
#define MOST_COST 1e12

#define FIELD(name) offsetof(uc_svm_settings, name)

/* All options except the cost, whose default differs. */
#define OTHER_OPTIONS                                                                                        \
    {.name = "smoothing",                                                                                    \
     .type = UC_OPTION_REAL,                                                                                 \
     .offset = FIELD(smoothing),                                                                             \
     .standard = "0.5",                                                                                      \
     .low = 1e-6,                                                                                            \
     .high = 100,                                                                                            \
     .argument = "H",                                                                                        \
     .help = "the hinge is rounded off this far on both sides of its corner"},                               \
        {.name = "loss",                                                                                     \
         .type = UC_OPTION_CHOICE,                                                                           \
         .offset = FIELD(loss),                                                                              \
         .standard = "sloppy",                                                                               \
         .choices = "sloppy|weighted",                                                                       \
         .help = "the loss when noise rates are given: sloppy: unbiased, not convex; weighted: convex, "     \
                 "with the same slope where it matters"},                                                    \
        {.name = "positive-unlabelled",                                                                      \
         .type = UC_OPTION_FLAG,                                                                             \
         .offset = FIELD(positive_unlabelled),                                                               \
         .standard = "off",                                                                                  \
         .help =                                                                                             \
             "only positives are labelled: all other examples, '?' or negative, may be of either class"},    \
        {.name = "bags",                                                                                     \
         .type = UC_OPTION_FLAG,                                                                             \
         .offset = FIELD(bags),                                                                              \
         .standard = "off",                                                                                  \
         .help = "labels belong to bags: a positive bag has at least one positive example"},                 \
        {.name = "bag-rule",                                                                                 \
         .type = UC_OPTION_CHOICE,                                                                           \
         .offset = FIELD(bag_rule),                                                                          \
         .standard = "spread",                                                                               \
         .choices = "spread|instance|witness",                                                               \
         .help =                                                                                             \
             "with {bags}: spread: an example has its bag's label; instance: in positive bags the label "    \
             "that suits it, at least one positive; witness: one example of each positive bag counts"},      \
        UC_CLASS_WEIGHT_OPTION(uc_svm_settings),                                                             \
        {.name = "iterations",                                                                               \
         .type = UC_OPTION_COUNT,                                                                            \
         .offset = FIELD(iterations),                                                                        \
         .standard = "1000",                                                                                 \
         .low = 1,                                                                                           \
         .high = 1e9,                                                                                        \
         .help = "largest number of epochs of coordinate descent, and of steps of L-BFGS"},                  \
    {                                                                                                        \
        .name = "tolerance", .type = UC_OPTION_REAL, .offset = FIELD(tolerance), .standard = "1e-05",        \
        .low = 0, .above_low = true, .high = 1,                                                              \
        .help =                                                                                              \
            "stop when the objective is proved this near its minimum, relative, or the gradient this small " \
            "relative to the weights"                                                                        \
    }

static const uc_option sloppy_options[] = {
    {.name = "cost",
     .letter = 'c',
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(cost),
     .standard = "100",
     .low = 0,
     .above_low = true,
     .high = MOST_COST,
     .argument = "C",
     .help = "weight of the mean loss against half the squared length of the weights (auto: by "
             "cross-validation)"},
    OTHER_OPTIONS,
    {.name = NULL},
};

static const uc_option plain_options[] = {
    {.name = "cost",
     .letter = 'c',
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(cost),
     .standard = "scaled",
     .low = 0,
     .above_low = true,
     .high = MOST_COST,
     .zero = "scaled",
     .argument = "C",
     .help = "weight of the mean loss against half the squared length of the weights (scaled: 100, or 3000 "
             "divided by the rows' mean squared length where that is more; auto: by cross-validation)"},
    OTHER_OPTIONS,
    {.name = NULL},
};

static const double sloppy_costs[] = {0.1, 1, 10, 100, 1000, 10000};
static const double plain_costs[] = {1, 10, 100, 1000, 1e4, 1e5, 1e6}; /* narrow kernels give short rows */
static const uc_candidates sloppy_candidates[] = {
    {"cost", sloppy_costs, sizeof sloppy_costs / sizeof *sloppy_costs}, {0}};
static const uc_candidates plain_candidates[] = {
    {"cost", plain_costs, sizeof plain_costs / sizeof *plain_costs}, {0}};

/* ---- learning ---- */

/* The result of a machine, or the sum over several of them. */
typedef struct outcome {
    uc_minimum minimum;
    uc_bags_found bags;
} outcome;

/* Solves one machine, or the last of a sequence, into `point`. */
static uc_status solve(outcome *out, double *point, const uc_svm *self, const uc_svm_settings *settings,
                       const uc_context *context)
{
    if (settings->bag_rule == UC_BAG_SPREAD)
        return uc_svm_solve(&out->minimum, point, self, settings, context);
    return uc_bags_solve(&out->minimum, &out->bags, point, self, (uc_bag_rule)settings->bag_rule, settings,
                         NULL, NULL, context);
}

static uc_status summarise(uc_model *model, const outcome *total, const uc_svm_settings *settings)
{
    const uc_minimum *minimum = &total->minimum;
    uc_status status =
        uc_json_set(model->summary, "iterations", json_integer((json_int_t)minimum->iterations));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "updates", json_integer((json_int_t)minimum->evaluations));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "objective", json_real(minimum->value));
    if (status != UC_OK || settings->bag_rule == UC_BAG_SPREAD)
        return status;
    status = uc_json_set(model->summary, "alternations", json_integer((json_int_t)total->bags.alternations));
    if (status != UC_OK)
        return status;
    return uc_json_set(model->summary, "positive_examples", json_integer((json_int_t)total->bags.positives));
}

/* The labels must be consistent with the rates, or the loss decreases without bound as the offset grows. */
static uc_status check_rates(const uc_svm *self, const double labelled[2])
{
    const uc_names *classes = &self->data->classes;
    const uint32_t class_of[2] = {1 - self->positive, self->positive};
    const double total = labelled[0] + labelled[1];
    if (!(self->rate[0] + self->rate[1] < 1.0))
        return uc_fail(UC_ERR_INVALID,
                       "the noise rates %g and %g add up to 1 or more: such labels say nothing",
                       self->rate[1], self->rate[0]);
    for (int label = 0; label < 2 && self->loss == UC_SVM_SLOPPY && self->free_offset; label++)
        if (self->rate[1 - label] > 0.0 && !(labelled[label] > self->rate[1 - label] * total))
            return uc_fail(UC_ERR_INVALID,
                           "%.4g of the labels are '%s', but at a noise rate of %g for '%s' more than that "
                           "must be: the rate is too high, or use {loss=weighted}",
                           labelled[label] / total, classes->text[class_of[label]], self->rate[1 - label],
                           classes->text[class_of[1 - label]]);
    return UC_OK;
}

/* Writes f as half the difference of two classes' scores. */
static void write_pair(uc_model *model, const double *point, uint32_t positive)
{
    for (size_t j = 0; j <= model->dimension; j++) {
        model->weights[j * model->stride + positive] = point[j] / 2.0;
        model->weights[j * model->stride + 1 - positive] = -point[j] / 2.0;
    }
}

static uc_status fit_pair(uc_model *model, uc_svm *self, const uc_svm_settings *settings,
                          const uc_context *context)
{
    outcome total = {0};
    double *point = uc_alloc(self->data->X.cols + 1, sizeof *point);
    if (!point)
        return UC_ERR_NOMEM;
    double labelled[2];
    uc_status status = uc_svm_count_labels(labelled, self, context);
    if (status == UC_OK)
        status = check_rates(self, labelled);
    uc_svm_weigh(self, labelled, settings);
    if (status == UC_OK)
        status = solve(&total, point, self, settings, context);
    if (status == UC_OK)
        write_pair(model, point, self->positive);
    uc_free(point);
    return status == UC_OK ? summarise(model, &total, settings) : status;
}

/* ---- one class against the rest, for every class ---- */

typedef struct machines {
    uc_model *model;
    const uc_svm *common; /* what all machines have in common: everything but `positive` and the weights */
    const uc_svm_settings *settings;
    uc_context context; /* for each machine */
    outcome *found;     /* results of each machine */
    atomic_size_t done;
} machines;

static uc_status fit_one(size_t k, void *user)
{
    machines *self = user;
    const size_t d = self->model->dimension;
    uc_svm svm = *self->common;
    double *point = uc_alloc(d + 1, sizeof *point);
    if (!point)
        return UC_ERR_NOMEM;
    svm.positive = (uint32_t)k;
    double labelled[2];
    uc_status status = uc_svm_count_labels(labelled, &svm, &self->context);
    if (status == UC_OK) {
        uc_svm_weigh(&svm, labelled, self->settings);
        status = solve(self->found + k, point, &svm, self->settings, &self->context);
    }
    for (size_t j = 0; j <= d && status == UC_OK; j++)
        self->model->weights[j * self->model->stride + k] = point[j];
    atomic_fetch_add(&self->done, 1);
    uc_free(point);
    return status;
}

/* If machines run concurrently, progress is measured by their number. */
typedef struct counted {
    const machines *all;
    uc_context outer;
} counted;

static bool tell_machines(const char *task, double done, double total, const char *detail, void *user)
{
    const counted *self = user;
    (void)done, (void)total;
    return uc_report(&self->outer, task, (double)atomic_load(&self->all->done),
                     (double)self->all->model->classes.count, detail) == UC_OK;
}

static void warn_outer(const char *sentence, void *user)
{
    const uc_context *outer = &((const counted *)user)->outer;
    if (outer->warn)
        outer->warn(sentence, outer->user);
}

/* Solves each machine in one thread, as many at a time as the threads and half of the memory allow. */
static uc_status fit_beside(machines *self, const uc_context *context)
{
    const uc_matrix *X = &self->common->data->X;
    counted user = {self, uc_context_for_job(context)};
    self->context = user.outer;
    self->context.progress = user.outer.progress ? tell_machines : NULL;
    self->context.warn = user.outer.warn ? warn_outer : NULL;
    self->context.user = &user;
    uc_context outer = context ? *context : (uc_context){0};
    const double bytes = uc_svm_dual_bytes(X->rows, X->cols, (double)uc_matrix_entries(X)),
                 fit = fmax(1.0, (double)uc_memory_limit(context) / 2.0 / bytes);
    outer.threads = (unsigned)fmin(fit, uc_threads(context));
    return uc_run_blocks(&outer, self->model->classes.count, fit_one, self);
}

/* Machines run concurrently if there are at least as many of them as one of them has parts. */
static uc_status fit_each(uc_model *model, uc_svm *self, const uc_svm_settings *settings,
                          const uc_context *context)
{
    const uc_matrix *X = &self->data->X;
    const size_t K = model->classes.count;
    const bool alone = !uc_is_shared(context);
    machines all = {.model = model, .common = self, .settings = settings};
    outcome total = {0};
    uc_status status = UC_OK;
    all.context = context ? *context : (uc_context){0};
    all.found = uc_alloc(K, sizeof *all.found);
    if (!all.found)
        return UC_ERR_NOMEM;
    if (alone && K >= uc_svm_plan_for(X->rows, X->cols, (double)uc_matrix_entries(X)).parts)
        status = fit_beside(&all, context);
    else
        for (size_t k = 0; k < K && status == UC_OK; k++)
            status = fit_one(k, &all);
    for (size_t k = 0; k < K; k++) {
        total.minimum.value += all.found[k].minimum.value;
        total.minimum.iterations += all.found[k].minimum.iterations;
        total.minimum.evaluations += all.found[k].minimum.evaluations;
        total.bags.alternations += all.found[k].bags.alternations;
        total.bags.positives += all.found[k].bags.positives;
    }
    uc_free(all.found);
    return status == UC_OK ? summarise(model, &total, settings) : status;
}

static uc_svm machine(uc_model *model, const uc_fit *fit, const uc_svm_settings *settings)
{
    const char *positive = fit->train->positive;
    model->bias = fit->train->bias != 0.0 ? 1.0 : 0.0; /* the free offset is the weight of a constant 1 */
    const bool first = settings->bag_rule != UC_BAG_SPREAD && positive && fit->data->classes.count == 2 &&
                       strcmp(positive, fit->data->classes.text[0]) == 0;
    return (uc_svm){.data = fit->data,
                    .positive = first ? 0 : 1,
                    .cost = settings->cost,
                    .smoothing = settings->smoothing,
                    .weight = {1.0, 1.0},
                    .class_weights = fit->train->class_weights,
                    .free_offset = fit->train->bias != 0.0};
}

static uc_status check_settings(const uc_svm_settings *settings, const uc_fit *fit)
{
    if (isnan(settings->cost))
        return uc_fail(UC_ERR_INVALID, "{cost=auto} must become a number before training (uc_tune)");
    if (settings->bag_rule == UC_BAG_SPREAD)
        return UC_OK;
    if (!settings->bags)
        return uc_fail(UC_ERR_INVALID, "{bag-rule=%s} is for labels of bags: say {bags}",
                       settings->bag_rule == UC_BAG_INSTANCE ? "instance" : "witness");
    return uc_dataset_check_bags(fit->data, fit->context);
}

/* ---- a default cost that suits the rows ---- */

/* Adds the values, followed by their squares and the rows' weights. */
static uc_status add_lengths(double *sum, size_t first, size_t last, void *user)
{
    const uc_dataset *data = user;
    const uc_matrix *X = &data->X;
    for (size_t i = first; i < last; i++) {
        const uc_row row = uc_matrix_row(X, i);
        const double weight = uc_row_weight(data, i);
        uc_row_axpy(weight, row, sum);
        sum[X->cols] += weight * uc_row_norm2(row);
        sum[X->cols + 1] += weight;
    }
    return UC_OK;
}

/* The mean squared length of the rows of all processes; relative to their mean, if a free offset can take
 * that up. Sums per thread would be longer than sparse rows, so a single thread adds these up. */
static uc_status mean_square_length(double *out, const uc_dataset *data, bool free_offset,
                                    const uc_context *context)
{
    const uc_matrix *X = &data->X;
    const size_t d = X->cols;
    double *sum = uc_alloc(d + 2, sizeof *sum);
    if (!sum)
        return UC_ERR_NOMEM;
    uc_status status;
    if (uc_matrix_is_sparse(X)) {
        status = add_lengths(sum, 0, X->rows, (void *)data);
        if (status == UC_OK)
            status = uc_comm_sum(uc_comm_of(context), sum, d + 2);
    } else {
        const uc_context fitting = uc_context_for_work(context, (double)uc_matrix_entries(X));
        status = uc_sum_over(&fitting, X->rows, add_lengths, (void *)data, sum, d + 2);
    }
    const double n = sum[d + 1];
    *out = sum[d] / n;
    for (size_t j = 0; j < d && free_offset; j++)
        *out -= sum[j] / n * sum[j] / n;
    uc_free(sum);
    return status;
}

/* For --cost 0. Short rows are regularised alike, whatever their length. Long rows may be long because of a
 * single column, whose size would determine the cost for all. */
static uc_status suit_cost(uc_svm *self, const uc_context *context)
{
    double length2 = 0.0;
    const uc_status status = mean_square_length(&length2, self->data, self->free_offset, context);
    self->cost = length2 > 0.0 ? fmin(fmax(RELATIVE_COST / length2, LEAST_COST), MOST_COST) : LEAST_COST;
    return status;
}

/* Fits one machine, or one per class, to rows that are arranged as needed. */
static uc_status fit_arranged(uc_model *model, const uc_fit *fit, uc_svm *self,
                              const uc_svm_settings *settings)
{
    uc_dataset arranged = {0};
    uc_context context = fit->context ? *fit->context : (uc_context){0};
    uc_status status = UC_OK;
    if (uc_svm_is_convex(self) || settings->bag_rule != UC_BAG_SPREAD)
        status = uc_svm_arrange(&arranged, &self->arranged, &context, fit->data, fit->rows);
    if (arranged.y)
        self->data = &arranged;
    if (status == UC_OK && fit->data->classes.count == 2)
        status = fit_pair(model, self, settings, &context);
    else if (status == UC_OK)
        status = fit_each(model, self, settings, &context);
    self->data = fit->data;
    uc_dataset_free(&arranged);
    return status;
}

static uc_status fit_plain(uc_model *model, const uc_fit *fit, const void *user)
{
    const uc_svm_settings *settings = user;
    uc_svm self = machine(model, fit, settings);
    uc_status status = check_settings(settings, fit);
    if (status == UC_OK && self.cost == 0.0) {
        status = suit_cost(&self, fit->context);
        if (status == UC_OK)
            status = uc_json_set(model->summary, "cost", json_real(self.cost));
    }
    return status == UC_OK ? fit_arranged(model, fit, &self, settings) : status;
}

static uc_status fit_sloppy(uc_model *model, const uc_fit *fit, const void *user)
{
    const uc_svm_settings *settings = user;
    const uc_noise *noise = fit->train->noise;
    uc_svm self = machine(model, fit, settings);
    const uc_status status = check_settings(settings, fit);
    if (status != UC_OK)
        return status;
    if (fit->data->classes.count != 2)
        return uc_fail(UC_ERR_INVALID,
                       "sloppy-svm is for two classes, but there are %zu: use logistic or uma with a noise "
                       "matrix",
                       fit->data->classes.count);
    self.loss = (uc_svm_loss)settings->loss;
    if (noise) { /* C[p][q] = P(observed p | true q) */
        const uint32_t positive = self.positive, negative = 1 - positive;
        self.rate[0] = noise->values[positive * 2 + negative];
        self.rate[1] = noise->values[negative * 2 + positive];
    } else {
        uc_warn(fit->context,
                "no noise rates given, so sloppy-svm equals csvm: use {noise-rates ETA+,ETA-} or "
                "{noise=estimate}");
    }
    return fit_arranged(model, fit, &self, settings);
}

static bool judges_bags(const void *user)
{
    const uc_svm_settings *settings = user;
    return settings->bags && settings->bag_rule != UC_BAG_SPREAD;
}

const uc_learner uc_learner_csvm = {
    .name = "csvm",
    .summary =
        "labels that are mostly right: the support vector machine, two classes or one against the rest",
    .paper =
        "Stempfel, Ralaivola: Learning SVMs from sloppily labeled data, ICANN 2009; Chapelle: Training a "
        "support vector machine in the primal, Neural Computation 19, 2007",
    .options = plain_options,
    .settings_size = sizeof(uc_svm_settings),
    .full = true,
    .normalizes_gaussian = true,
    .free_offset = true,
    .judges_bags = judges_bags,
    .weighs_classes = true,
    .class_weight = FIELD(class_weight),
    .candidates = plain_candidates,
    .fit = fit_plain,
};

const uc_learner uc_learner_sloppy_svm = {
    .name = "sloppy-svm",
    .summary = "two classes whose labels flip at different rates; positive and unlabelled examples; bags",
    .paper = "Stempfel, Ralaivola: Learning SVMs from sloppily labeled data, ICANN 2009",
    .options = sloppy_options,
    .settings_size = sizeof(uc_svm_settings),
    .full = true,
    .free_offset = true,
    .judges_bags = judges_bags,
    .uses_noise = true,
    .uses_rates = true,
    .weighs_classes = true,
    .class_weight = FIELD(class_weight),
    .candidates = sloppy_candidates,
    .fit = fit_sloppy,
};
