/*
 * Learning from positive and unlabelled rows: the learner.
 *
 * 1. The class prior is given, or estimated from the scores of held-out rows (prior.c).
 * 2. Minimising the convex risk of the logistic loss with a plain penalty gives first weights v.
 * 3. The chosen risk (risk.c) is minimised with the penalty l2/2 sum_j r_j w_j^2,
 *
 *      r_j = (1 + h) m / (v_j^2 + h m),   m = mean of v_j^2,   h = 10          (--penalty plain: r_j = 1)
 *
 *    one step towards a separate prior for every weight: if few rows are labelled, the error of their mean
 *    is spread over all columns, and columns that seem to be uninformative get a larger part of the penalty.
 *
 * Both penalties are chosen by cross-validation (solve.c) if l2 is `auto`: v by its own risk, w by
 * approximately the error, since the penalty determines the scale of the scores with the sigmoid loss. v
 * uses all rows, even while w is evaluated on some of them.
 */
#include <math.h>
#include <string.h>

#include "data/exchange.h"
#include "data/weights.h"
#include "learn/pu/pu.h"
#include "linalg/linalg.h"

#define MOST_ROWS 4000.0  /* approximate number of labelled, and of unlabelled, rows used for choosing */
#define FEW_LABELS_L2 1.0 /* times the variance: used if a single labelled row leaves nothing to choose by */
#define SEQUENCE_FOLDS UINT64_C(0x70752d666f6c6473) /* random numbers: "pu-folds" */

#define LOSS_AUTO 0 /* in the settings; the other values are uc_pu_loss + 1 */

#define FIELD(name) offsetof(uc_pu_settings, name)

static const uc_option options[] = {
    {.name = "risk",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(risk),
     .standard = "nonnegative",
     .choices = "unbiased|nonnegative|elkan-noto",
     .help =
         "what is minimised: the unbiased risk, the same with its negative part kept at 0 or above, or which "
         "rows are labelled (a baseline)"},
    {.name = "loss",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(loss),
     .standard = "auto",
     .choices = "auto|logistic|sigmoid|hinge",
     .help = "logistic and hinge are convex, sigmoid is bounded (auto: logistic or sigmoid, by the risk of "
             "held-out "
             "rows; sigmoid when l2 is given)"},
    {.name = "prior",
     .type = UC_OPTION_REAL,
     .offset = FIELD(prior),
     .standard = "estimate",
     .low = 0,
     .above_low = true,
     .high = 0.999,
     .zero = "estimate",
     .argument = "P",
     .help = "share of positives in the population"},
    {.name = "scenario",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(scenario),
     .standard = "censored",
     .choices = "sampled|censored",
     .help = "sampled: the unlabelled rows are the population, the labelled ones come from elsewhere; "
             "censored: both "
             "together are the population"},
    {.name = "l2",
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(l2),
     .standard = "auto",
     .low = 0,
     .high = 1e6,
     .argument = "L",
     .help = "weight of the squared length of the weights (auto: by the risk of held-out rows)"},
    {.name = "penalty",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(penalty),
     .standard = "adaptive",
     .choices = "plain|adaptive",
     .help = "adaptive: weights that are small in a first solution pay more"},
    {.name = "class-weight",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(class_weight),
     .standard = "none",
     .choices = "none|balanced",
     .help = "balanced: errors on true positives and on true negatives cost alike, whatever the class prior"},
    UC_MINIMISE_OPTIONS(uc_pu_settings),
    {.name = NULL},
};

/* ---- the rows ---- */

enum { SQUARES, LABELLED, LABELLED_WEIGHT, ROWS, WEIGHT, WEIGHT_SQUARES, MORE_SUMS };

/* Adds the weighted sums of the columns, followed by the sums named above. */
static uc_status add_columns(double *sum, size_t first, size_t last, void *user)
{
    const uc_pu_rows *self = user;
    const uc_matrix *X = &self->data->X;
    for (size_t i = first; i < last; i++) {
        const uc_row row = uc_matrix_row(X, i);
        const double u = uc_row_weight(self->data, i);
        const bool labelled = self->data->y[i] == self->positive;
        double *more = sum + X->cols;
        uc_row_axpy(u, row, sum);
        more[SQUARES] += u * uc_row_norm2(row);
        more[LABELLED] += labelled;
        more[LABELLED_WEIGHT] += labelled ? u : 0.0;
        more[ROWS] += 1.0;
        more[WEIGHT] += u;
        more[WEIGHT_SQUARES] += u * u;
    }
    return UC_OK;
}

static uc_status count_rows(uc_pu_rows *self)
{
    const size_t d = self->data->X.cols;
    double *sum = uc_alloc(d + MORE_SUMS, sizeof *sum), squares = 0.0;
    uc_status status = uc_comm_agree(uc_comm_of(self->context), sum ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = uc_sum_over(self->context, self->data->X.rows, add_columns, self, sum, d + MORE_SUMS);
    if (status == UC_OK) {
        const double *more = sum + d, n = more[WEIGHT];
        for (size_t j = 0; j < d && self->free_offset; j++)
            squares += sum[j] * sum[j] / n;
        self->labelled_count = more[LABELLED];
        self->unlabelled_count = more[ROWS] - more[LABELLED];
        self->labelled = more[LABELLED_WEIGHT];
        self->unlabelled = n - more[LABELLED_WEIGHT];
        self->effective = n * n / more[WEIGHT_SQUARES];
        self->variance = (more[SQUARES] - squares) / (n * (double)d);
        if (!(self->variance > 0.0))
            self->variance = 1.0;
    }
    uc_free(sum);
    return status;
}

/* Deals labelled rows to the folds in turn, so that each gets some; unlabelled ones at random. */
static uc_status deal_folds(uc_pu_rows *self, uint64_t seed)
{
    const size_t rows = self->data->X.rows;
    size_t labelled = 0;
    uc_share share, labelled_share;
    for (size_t i = 0; i < rows; i++)
        labelled += self->data->y[i] == self->positive;
    uc_status status = uc_share_of(&share, self->context, rows);
    if (status == UC_OK)
        status = uc_share_of(&labelled_share, self->context, labelled);
    for (size_t i = 0, seen = 0; i < rows && status == UC_OK; i++) {
        const bool known = self->data->y[i] == self->positive;
        uc_rng rng = uc_rng_resume(seed, SEQUENCE_FOLDS, 4 * (uint64_t)(share.first + i));
        const double kind = known ? self->labelled_count : self->unlabelled_count;
        const bool used = uc_rng_uniform(&rng) * kind < MOST_ROWS;
        const size_t turn = known ? labelled_share.first + seen : uc_rng_word(&rng);
        seen += known;
        self->fold[i] = used ? (uint8_t)(turn % UC_PU_FOLDS) : UC_PU_UNUSED;
    }
    return status;
}

uc_status uc_pu_rows_begin(uc_pu_rows *out, const uc_fit *fit, uint32_t positive, uc_pu_scenario scenario)
{
    *out = (uc_pu_rows){.data = fit->data,
                        .context = fit->context,
                        .positive = positive,
                        .scenario = scenario,
                        .free_offset = fit->train->bias != 0.0};
    const char *name = fit->data->classes.text[positive];
    out->fold = uc_alloc(fit->data->X.rows, sizeof *out->fold);
    uc_status status = uc_comm_agree(uc_comm_of(fit->context), out->fold ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = count_rows(out);
    if (status != UC_OK)
        return status;
    if (out->labelled_count == 0.0)
        return uc_fail(UC_ERR_FORMAT, "no example is labelled %s", name);
    if (out->unlabelled_count == 0.0)
        return uc_fail(UC_ERR_FORMAT, "every example is labelled %s: unlabelled ones are needed too", name);
    status = deal_folds(out, fit->train->seed);
    if (status == UC_OK)
        status = uc_conditioning_fit(&out->conditioning, &fit->data->X, 1, 0.1 * out->variance, 0.25,
                                     out->free_offset, fit->context);
    return status;
}

void uc_pu_rows_free(uc_pu_rows *self)
{
    uc_free(self->fold);
    uc_conditioning_free(&self->conditioning);
    *self = (uc_pu_rows){0};
}

/* ---- the class prior ---- */

typedef struct binning {
    const uc_pu_rows *rows;
    const double *scores; /* NaN: not used */
    double mean, deviation;
} binning;

static uc_status add_score_moments(double *sum, size_t first, size_t last, void *user)
{
    const binning *self = user;
    for (size_t i = first; i < last; i++) {
        if (isnan(self->scores[i]))
            continue;
        const double u = uc_row_weight(self->rows->data, i);
        sum[0] += u;
        sum[1] += u * self->scores[i];
        sum[2] += u * self->scores[i] * self->scores[i];
    }
    return UC_OK;
}

static uc_status add_to_bins(double *sum, size_t first, size_t last, void *user)
{
    const binning *self = user;
    for (size_t i = first; i < last; i++) {
        if (isnan(self->scores[i]))
            continue;
        const size_t bin = uc_prior_bin((self->scores[i] - self->mean) / self->deviation);
        const size_t before = self->rows->data->y[i] == self->rows->positive ? 0 : UC_PRIOR_BINS;
        sum[before + bin] += uc_row_weight(self->rows->data, i);
    }
    return UC_OK;
}

/* Counts scored rows in bins. The counts are scaled to the number of equal rows that are as informative as
 * all rows, and to the shares of labelled and unlabelled rows. */
static uc_status fill_bins(uc_prior_bins *bins, const uc_pu_rows *rows, const double *scores)
{
    binning self = {rows, scores, 0.0, 1.0};
    double moments[3] = {0.0, 0.0, 0.0}, sum[2 * UC_PRIOR_BINS] = {0.0}, labelled = 0.0, unlabelled = 0.0;
    uc_status status = uc_sum_over(rows->context, rows->data->X.rows, add_score_moments, &self, moments, 3);
    self.mean = moments[1] / moments[0];
    const double variance = moments[2] / moments[0] - self.mean * self.mean;
    if (variance > 0.0)
        self.deviation = sqrt(variance);
    if (status == UC_OK)
        status = uc_sum_over(rows->context, rows->data->X.rows, add_to_bins, &self, sum, 2 * UC_PRIOR_BINS);
    for (size_t k = 0; k < UC_PRIOR_BINS; k++) {
        labelled += sum[k];
        unlabelled += sum[UC_PRIOR_BINS + k];
    }
    const double rate = rows->effective / (rows->labelled + rows->unlabelled);
    for (size_t k = 0; k < UC_PRIOR_BINS; k++) {
        bins->labelled[k] = sum[k] * rate * rows->labelled / labelled;
        bins->unlabelled[k] = sum[UC_PRIOR_BINS + k] * rate * rows->unlabelled / unlabelled;
    }
    return status;
}

static uc_status estimate_prior(uc_prior_estimate *out, const uc_pu_rows *rows, uint64_t seed)
{
    /* The prior used for the scores hardly affects their order. */
    uc_pu_problem problem = {.rows = rows, .loss = UC_PU_LOGISTIC, .prior = 0.5, .held_out = -1};
    uc_prior_bins *bins = NULL;
    double *scores = NULL, risk;
    if (rows->labelled_count < 2.0 || rows->unlabelled_count < 2.0)
        return uc_fail(
            UC_ERR_FORMAT,
            "estimating the class prior takes 2 labelled and 2 unlabelled examples at least, not %.0f and "
            "%.0f: give {prior}",
            rows->labelled_count, rows->unlabelled_count);
    uc_status status = uc_pu_choose_l2(&problem.l2, &risk, &problem, UC_PU_BY_LOSS);
    if (status != UC_OK)
        return status;
    bins = uc_alloc(1, sizeof *bins);
    scores = uc_alloc(rows->data->X.rows, sizeof *scores);
    status = uc_comm_agree(uc_comm_of(rows->context), bins && scores ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = uc_pu_cross_scores(scores, &problem);
    if (status == UC_OK)
        status = fill_bins(bins, rows, scores);
    if (status == UC_OK)
        uc_prior_from_bins(out, bins, rows->scenario == UC_PU_CENSORED, seed);
    uc_free(scores);
    uc_free(bins);
    return status;
}

/* The given prior, or the estimate. It cannot be below the share of rows that are labelled positive, if those
 * are part of the population. */
static uc_status find_prior(uc_prior_estimate *out, const uc_pu_rows *rows, double given, uint64_t seed)
{
    const double share = rows->labelled / (rows->labelled + rows->unlabelled);
    *out = (uc_prior_estimate){given, given, given};
    if (given == 0.0)
        return estimate_prior(out, rows, seed);
    if (rows->scenario == UC_PU_CENSORED && given < share)
        return uc_fail(
            UC_ERR_INVALID,
            "{prior=%g}: %.4g of the examples are labelled %s, and the share of positives cannot be smaller; "
            "if the labelled ones come from elsewhere, use {scenario=sampled}",
            given, share, rows->data->classes.text[rows->positive]);
    return UC_OK;
}

/* ---- the weights ---- */

static bool can_choose(const uc_pu_rows *rows, double l2)
{
    return isnan(l2) && rows->labelled_count >= 2.0 && rows->unlabelled_count >= 2.0;
}

/* With few labelled rows there is nothing to choose by. */
static uc_status find_l2(uc_pu_problem *problem, double *risk, double given, uc_pu_criterion criterion)
{
    problem->l2 = isnan(given) ? FEW_LABELS_L2 * problem->rows->variance : given;
    *risk = 0.0;
    return can_choose(problem->rows, given) ? uc_pu_choose_l2(&problem->l2, risk, problem, criterion) : UC_OK;
}

/* The loss and the penalty: as given, or chosen together. */
static uc_status find_loss(uc_pu_problem *problem, const uc_pu_settings *settings)
{
    uc_pu_problem other = *problem;
    double risk, other_risk;
    problem->loss = settings->loss == LOSS_AUTO ? UC_PU_SIGMOID : (uc_pu_loss)(settings->loss - 1);
    uc_status status = find_l2(problem, &risk, settings->l2, UC_PU_BY_SIGN);
    if (status != UC_OK || settings->loss != LOSS_AUTO || !can_choose(problem->rows, settings->l2))
        return status;
    other.loss = UC_PU_LOGISTIC;
    status = find_l2(&other, &other_risk, settings->l2, UC_PU_BY_SIGN);
    if (other_risk < risk)
        *problem = other;
    return status;
}

/* The score above which a row is positive, for weights that separate labelled from unlabelled rows: where P(y
 * = +) = 1/2, or where both kinds of error have the same cost. */
static double elkan_noto_threshold(const uc_pu_problem *problem)
{
    const uc_pu_rows *rows = problem->rows;
    double least = 0.5; /* P(y = +) */
    if (problem->cost)
        least = problem->cost[1] / (problem->cost[0] + problem->cost[1]);
    if (rows->scenario == UC_PU_SAMPLED)
        return log(least * rows->labelled / (problem->prior * rows->unlabelled));
    const double share = least * rows->labelled / (rows->labelled + rows->unlabelled) / problem->prior;
    return log(share / (1.0 - share));
}

static uc_status minimise(uc_minimum *found, double *weights, double *factors, uc_pu_problem *problem,
                          const uc_pu_settings *settings)
{
    const uc_pu_rows *rows = problem->rows;
    const bool baseline = problem->kind == UC_PU_ELKAN_NOTO;
    uc_pu_problem first = *problem;
    if (!baseline)
        first.kind = UC_PU_UNBIASED;
    first.loss = UC_PU_LOGISTIC;
    double risk;
    uc_status status = find_l2(&first, &risk, settings->l2, UC_PU_BY_LOSS);
    if (status == UC_OK)
        status = uc_pu_problem_count(&first);
    if (status == UC_OK)
        status = uc_pu_solve(found, weights, &first, settings->iterations, settings->tolerance);
    problem->l2 = first.l2;
    if (baseline)
        weights[0] -= elkan_noto_threshold(problem);
    if (status != UC_OK || baseline)
        return status;
    if (settings->penalty) {
        uc_pu_set_factors(factors, weights, rows->data->X.cols);
        problem->factors = factors;
    }
    status = find_loss(problem, settings);
    if (status == UC_OK)
        status = uc_pu_problem_count(problem);
    if (status == UC_OK)
        status = uc_pu_solve(found, weights, problem, settings->iterations, settings->tolerance);
    return status;
}

/* ---- the learner ---- */

static uc_status write_summary(uc_model *model, const uc_pu_problem *problem, const uc_prior_estimate *prior,
                               const uc_minimum *found, bool estimated)
{
    json_t *summary = model->summary;
    uc_status status = uc_json_set(summary, "iterations", json_integer((json_int_t)found->iterations));
    if (status == UC_OK)
        status = uc_json_set(summary, "updates", json_integer((json_int_t)found->evaluations));
    if (status == UC_OK)
        status = uc_json_set(summary, "objective", json_real(found->value));
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"prior", prior->prior},
                   {"l2", problem->l2},
                   {"labelled", problem->rows->labelled_count},
                   {"unlabelled", problem->rows->unlabelled_count}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == UC_OK; i++)
        status =
            uc_json_set(summary, numbers[i].name,
                        i < 2 ? json_real(numbers[i].value) : json_integer((json_int_t)numbers[i].value));
    static const char *const losses[] = {"logistic", "sigmoid", "hinge"};
    if (status == UC_OK)
        status = uc_json_set(summary, "loss", json_string(losses[problem->loss]));
    if (status == UC_OK && estimated)
        status = uc_json_set(summary, "prior_low", json_real(prior->low));
    if (status == UC_OK && estimated)
        status = uc_json_set(summary, "prior_high", json_real(prior->high));
    return status;
}

/* Turns one weight vector into two, -w/2 and +w/2. */
static void write_weights(uc_model *model, const double *weights, uint32_t positive, bool has_offset)
{
    for (size_t j = 0; j <= model->dimension; j++) {
        model->weights[j * model->stride + positive] = weights[j] / 2.0;
        model->weights[j * model->stride + 1 - positive] = -weights[j] / 2.0;
    }
    model->bias = has_offset ? 1.0 : 0.0; /* the offset is the weight of a constant 1 */
}

/* The costs of errors on true positives and on true negatives: as given, or such that both classes have the
 * same total cost. */
static void class_costs(double *cost, const uc_pu_problem *problem, const double *given)
{
    const uint32_t positive = problem->rows->positive;
    cost[0] = given ? given[positive] : 1.0 / (2.0 * problem->prior);
    cost[1] = given ? given[1 - positive] : 1.0 / (2.0 * (1.0 - problem->prior));
}

static uc_status learn(uc_model *model, const uc_pu_rows *rows, const uc_fit *fit,
                       const uc_pu_settings *settings)
{
    const size_t d = fit->data->X.cols;
    uc_pu_problem problem = {
        .rows = rows, .kind = (uc_pu_kind)settings->risk, .loss = UC_PU_LOGISTIC, .held_out = -1};
    uc_prior_estimate prior;
    uc_minimum found = {0};
    double cost[2];
    double *weights = uc_alloc(d + 1, sizeof *weights), *factors = uc_alloc(d, sizeof *factors);
    uc_status status = uc_comm_agree(uc_comm_of(fit->context), weights && factors ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = find_prior(&prior, rows, settings->prior, fit->train->seed);
    if (status != UC_OK)
        goto cleanup;
    problem.prior = prior.prior;
    if (fit->train->class_weights || settings->class_weight == UC_CLASS_WEIGHT_BALANCED)
        problem.cost = cost;
    class_costs(cost, &problem, fit->train->class_weights);
    status = minimise(&found, weights, factors, &problem, settings);
    if (status != UC_OK)
        goto cleanup;
    uc_minimum_warn(&found, "pu", settings->iterations, UC_ADVISE_ITERATIONS, fit->context);
    write_weights(model, weights, rows->positive, rows->free_offset || problem.kind == UC_PU_ELKAN_NOTO);
    status = write_summary(model, &problem, &prior, &found, settings->prior == 0.0);
cleanup:
    uc_free(weights);
    uc_free(factors);
    return status;
}

static uc_status fit(uc_model *model, const uc_fit *fit, const void *user)
{
    const uc_pu_settings *settings = user;
    const uc_names *classes = &fit->data->classes;
    const char *name = fit->train->positive;
    uint32_t positive = 1;
    if (classes->count != 2)
        return uc_fail(UC_ERR_INVALID, "positive and unlabelled examples are of one or two classes, not %zu",
                       classes->count);
    if (name && (positive = uc_names_find_label(classes, name, strlen(name))) == UC_NONE)
        return uc_fail(UC_ERR_INVALID, "no example is labelled %s, which {positive} names", name);
    uc_pu_rows rows = {0};
    uc_status status = uc_blas_ready(fit->context);
    if (status == UC_OK)
        status = uc_pu_rows_begin(&rows, fit, positive, (uc_pu_scenario)settings->scenario);
    if (status == UC_OK)
        status = learn(model, &rows, fit, settings);
    uc_pu_rows_free(&rows);
    return status;
}

const uc_learner uc_learner_pu = {
    .name = "pu",
    .summary = "some positives labelled, all other rows without a label ('?')",
    .paper = "Kiryo, Niu, du Plessis, Sugiyama: Positive-unlabeled learning with non-negative risk "
             "estimator, NIPS "
             "2017; du Plessis, Niu, Sugiyama: Convex formulation for learning from positive and unlabeled "
             "data, ICML "
             "2015; Elkan, Noto: Learning classifiers from only positive and unlabeled data, KDD 2008",
    .options = options,
    .settings_size = sizeof(uc_pu_settings),
    .full = true,
    .free_offset = true,
    .unlabelled = true,
    .positive_unlabelled = true,
    .weighs_classes = true,
    .class_weight = FIELD(class_weight),
    .fit = fit,
};
