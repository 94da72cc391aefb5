/*
 * Noise rates of two classes, from the noisy labels alone.
 *
 *   h     the classifier that sloppy-svm learns with a pair of rates (eta+, eta-)
 *   crit  P(h = + | labelled -) + P(h = - | labelled +), on rows that h did not see
 *
 * The pair with the smallest criterion wins (Blum, Mitchell, COLT 1998). With flipped labels, crit is an
 * increasing function of the two *true* error rates, with equal weights for both. It therefore follows the
 * balanced error and is biased if the classes differ in size. The grid has steps of 0.1 and is refined to
 * 0.05 and 0.025 around its best point. Rows are prepared once per fold, for all rates.
 */
#include <math.h>
#include <string.h>

#include "data/folds.h"
#include "learn/learner.h"
#include "parallel/parallel.h"
#include "train/train.h"
#include "unconfuse/audit.h"
#include "unconfuse/select.h"

#define FOLDS 5u
#define SAMPLE ((size_t)5000)
#define COARSE 0.1
#define HIGHEST 0.4
#define REFINEMENTS 2

typedef struct fold_rows {
    uc_dataset train, test; /* prepared */
} fold_rows;

typedef struct search {
    uc_svm_settings settings;
    uc_train_settings train; /* for prepared rows */
    uc_preprocessing_settings preprocessing;
    const uc_context *context;
    uint32_t positive;
    uc_rates_free free_rates;
    fold_rows folds[FOLDS];
    unsigned fold_count; /* fewer if there are fewer bags */
    uc_rates *tried;
    size_t count, room;
    const uc_part *part;
} search;

/* ---- one pair of rates ---- */

/* For each observed label, counts the rows and how many of them are predicted as the other class. */
static uc_status count_errors(size_t labelled[2], size_t errors[2], const search *self, const fold_rows *fold,
                              const uc_noise *noise)
{
    uc_train_settings train = self->train;
    uc_dataset rows = fold->train;
    uc_model *model = NULL;
    train.noise = noise;
    uint32_t *predicted = uc_alloc(fold->test.X.rows, sizeof *predicted);
    if (!predicted)
        return UC_ERR_NOMEM;
    uc_status status =
        uc_train(&model, uc_learner_find("sloppy-svm"), &self->settings, &train, &rows, self->context);
    if (status == UC_OK)
        status = uc_model_predict(predicted, model, &fold->test.X, self->context);
    for (size_t i = 0; i < fold->test.X.rows && status == UC_OK; i++) {
        const int label = fold->test.y[i] == self->positive;
        labelled[label]++;
        errors[label] += predicted[i] != fold->test.y[i];
    }
    uc_model_free(model);
    uc_free(predicted);
    return status;
}

static uc_status binary_noise(uc_noise *out, const uc_rates *rates, uint32_t positive)
{
    if (positive == 1)
        return uc_noise_binary(out, rates->positive, rates->negative);
    return uc_noise_binary(out, rates->negative, rates->positive);
}

/* The criterion stays NaN for rates that the labels rule out, and for rates with which nothing can be
 * learned. */
static uc_status try_rates(uc_rates *rates, search *self)
{
    size_t labelled[2] = {0}, errors[2] = {0};
    uc_noise noise = {0};
    uc_status status = binary_noise(&noise, rates, self->positive);
    rates->criterion = rates->deviation = (double)NAN;
    for (unsigned fold = 0; fold < self->fold_count && status == UC_OK; fold++) {
        status = count_errors(labelled, errors, self, &self->folds[fold], &noise);
        if (status == UC_OK)
            status = uc_part_done(self->part);
    }
    uc_noise_free(&noise);
    const bool unsuitable = status == UC_ERR_INVALID && rates->positive + rates->negative > 0.0;
    if (unsuitable || status == UC_ERR_DIVERGED)
        return UC_OK;
    if (status != UC_OK || labelled[0] == 0 || labelled[1] == 0)
        return status;
    double sum = 0.0, variance = 0.0;
    for (int label = 0; label < 2; label++) {
        const double share = (double)errors[label] / (double)labelled[label];
        sum += share;
        variance += share * (1.0 - share) / (double)labelled[label];
    }
    rates->criterion = sum;
    rates->deviation = sqrt(variance);
    return UC_OK;
}

/* ---- the grid ---- */

static bool was_tried(const search *self, double positive, double negative)
{
    for (size_t i = 0; i < self->count; i++)
        if (fabs(self->tried[i].positive - positive) < 1e-9 &&
            fabs(self->tried[i].negative - negative) < 1e-9)
            return true;
    return false;
}

static uc_status try_point(search *self, double positive, double negative)
{
    if (positive < 0.0 || negative < 0.0 || positive + negative > 0.9 || was_tried(self, positive, negative))
        return UC_OK;
    if (self->count == self->room) {
        const size_t room = uc_grown(self->room, self->count + 1);
        uc_rates *tried = uc_realloc(self->tried, room, sizeof *tried);
        if (!tried)
            return UC_ERR_NOMEM;
        self->tried = tried;
        self->room = room;
    }
    uc_rates *rates = &self->tried[self->count++];
    *rates = (uc_rates){.positive = positive, .negative = negative};
    return try_rates(rates, self);
}

/* The first of the smallest criteria; `count` if there is none. */
static size_t best_of(const search *self)
{
    size_t best = self->count;
    for (size_t i = 0; i < self->count; i++)
        if (!isnan(self->tried[i].criterion) &&
            (best == self->count || self->tried[i].criterion < self->tried[best].criterion))
            best = i;
    return best;
}

/* Tries the points of a grid around `centre`, up to `reach` steps to each side, that are allowed as rates. */
static uc_status try_around(search *self, const uc_rates *centre, double spacing, int reach)
{
    int low[2] = {-reach, -reach}, high[2] = {reach, reach}; /* of the positive and the negative rate */
    if (self->free_rates == UC_RATES_NEGATIVE_ONLY)
        low[0] = high[0] = 0;
    if (self->free_rates == UC_RATES_POSITIVE_ONLY)
        low[1] = high[1] = 0;
    for (int p = low[0]; p <= high[0]; p++)
        for (int q = low[1]; q <= high[1]; q++) {
            const uc_status status =
                try_point(self, centre->positive + spacing * p, centre->negative + spacing * q);
            if (status != UC_OK)
                return status;
        }
    return UC_OK;
}

static uc_status try_all(search *self)
{
    const uc_rates origin = {0};
    int reach = (int)lround(HIGHEST / COARSE);
    double spacing = COARSE;
    if (self->free_rates != UC_RATES_BOTH)
        reach *= 2;
    uc_status status = try_around(self, &origin, spacing, reach);
    for (int refinement = 0; refinement < REFINEMENTS && status == UC_OK; refinement++) {
        const size_t best = best_of(self);
        if (best == self->count)
            break;
        const uc_rates centre = self->tried[best];
        spacing /= 2.0;
        status = try_around(self, &centre, spacing, 1);
    }
    return status;
}

/* ---- rows ---- */

/* Prepares the fold's rows, which are then used for every pair of rates. */
static uc_status prepare_fold(uc_fold *fold, void *user)
{
    search *self = user;
    uc_preprocessing preprocessing = {0};
    uc_preprocessing_settings wanted = self->preprocessing;
    wanted.weights = fold->train.weights;
    uc_status status = uc_preprocessing_fit(&preprocessing, &fold->train.X, &wanted, fold->context);
    if (status == UC_OK)
        status = uc_preprocessing_apply(&preprocessing, &fold->held_out.X, fold->context);
    uc_preprocessing_free(&preprocessing);
    if (status != UC_OK)
        return status;
    self->folds[fold->number] = (fold_rows){fold->train, fold->held_out};
    fold->train = fold->held_out = (uc_dataset){0};
    return UC_OK;
}

static uc_status prepare_folds(search *self, const uc_dataset *data, uint64_t seed)
{
    uc_folds folds = {0};
    uc_status status = uc_folds_begin(&folds, data, self->fold_count, seed, NULL);
    if (status == UC_OK)
        status = uc_folds_each(&folds, prepare_fold, self, self->context);
    uc_folds_free(&folds);
    return status;
}

/* ---- the whole search ---- */

/* The intervals of all rates whose criterion is within one standard error of the best. */
static void find_intervals(uc_rates_estimate *self)
{
    const uc_rates *best = &self->tried[self->best];
    self->positive_interval[0] = self->positive_interval[1] = best->positive;
    self->negative_interval[0] = self->negative_interval[1] = best->negative;
    for (size_t i = 0; i < self->count; i++) {
        const uc_rates *rates = &self->tried[i];
        if (!(rates->criterion <= best->criterion + best->deviation))
            continue;
        self->positive_interval[0] = fmin(self->positive_interval[0], rates->positive);
        self->positive_interval[1] = fmax(self->positive_interval[1], rates->positive);
        self->negative_interval[0] = fmin(self->negative_interval[0], rates->negative);
        self->negative_interval[1] = fmax(self->negative_interval[1], rates->negative);
    }
}

void uc_rates_estimate_free(uc_rates_estimate *self)
{
    uc_free(self->tried);
    *self = (uc_rates_estimate){0};
}

static uc_status check_data(const uc_learner *learner, const uc_dataset *data, const uc_context *context)
{
    uc_share share;
    uc_status status = uc_train_check(learner, data, context);
    if (status == UC_OK)
        status = uc_share_of(&share, context, data->X.rows);
    if (status != UC_OK)
        return status;
    if (data->classes.count != 2)
        return uc_fail(UC_ERR_INVALID, "noise rates are for two classes, but there are %zu",
                       data->classes.count);
    if (share.total < 2 * FOLDS)
        return uc_fail(UC_ERR_INVALID, "%zu examples are too few to estimate noise rates from, %u are needed",
                       share.total, 2 * FOLDS);
    return UC_OK;
}

/* Tries the rates on a sample of the data; settings in `chosen` may still be `auto`. */
static uc_status search_rates(search *self, const uc_learner *learner, uc_train_settings *chosen,
                              const uc_dataset *rows, const uc_context *context)
{
    uc_status status = uc_tune(&self->settings, chosen, learner, rows, context);
    if (status != UC_OK)
        return status;
    const uc_train_settings decided = uc_train_decide(learner, chosen);
    self->train = decided;
    self->train.map.map = UC_MAP_NONE;
    self->train.scale = UC_SCALE_NONE;
    self->train.normalize = self->train.normalize_input = self->train.overwrite = 0;
    self->fold_count = uc_folds_at_most(rows, FOLDS);
    self->preprocessing = (uc_preprocessing_settings){(uc_scaling)decided.scale,
                                                      decided.normalize_input,
                                                      &decided.map,
                                                      decided.normalize,
                                                      decided.seed,
                                                      NULL,
                                                      NULL};
    const size_t pairs = self->free_rates == UC_RATES_BOTH ? 41 : 13;
    uc_parts trainings = {.task = "estimating noise rates",
                          .part = "training",
                          .count = self->fold_count * pairs,
                          .at_most = true};
    uc_part part = {&trainings, context};
    const uc_context inner = uc_context_of_part(&part);
    self->context = &inner;
    self->part = &part;
    status = prepare_folds(self, rows, decided.seed);
    if (status == UC_OK)
        status = try_all(self);
    for (unsigned fold = 0; fold < FOLDS; fold++) {
        uc_dataset_free(&self->folds[fold].train);
        uc_dataset_free(&self->folds[fold].test);
    }
    self->context = context;
    self->part = NULL;
    return status;
}

/* The best pair of rates, as a noise matrix. */
static uc_status choose_rates(uc_noise *out, uc_rates_estimate *found, uint32_t positive,
                              const uc_context *context)
{
    if (found->best == found->count)
        return uc_fail(UC_ERR_INVALID, "no noise rates fit the labels");
    const uc_rates *best = &found->tried[found->best];
    find_intervals(found);
    if (best->criterion > 1.0 - best->deviation)
        uc_warn(context, "the noise rates are a guess: no machine tells the two labels apart");
    return binary_noise(out, best, positive);
}

uc_status uc_noise_rates_from_data(uc_noise *out, uc_rates_estimate *estimate,
                                   const uc_svm_settings *settings, const uc_train_settings *train,
                                   const uc_dataset *data, uint32_t positive, uc_rates_free free_rates,
                                   const uc_context *context)
{
    const uc_learner *learner = uc_learner_find("sloppy-svm");
    uc_context quiet = uc_context_alone(context); /* every process has the sample and gets the same result */
    quiet.warn = NULL;                            /* otherwise every fold would give the same warning */
    search self = {.context = &quiet, .positive = positive, .free_rates = free_rates};
    uc_train_settings chosen = uc_train_defaults();
    uc_dataset rows = {0};
    uc_status status = check_data(learner, data, context);
    if (status != UC_OK)
        return status;
    uc_options_defaults(learner->options, &self.settings);
    if (settings)
        self.settings = *settings;
    if (train)
        chosen = *train;
    chosen.noise = NULL;
    status = uc_dataset_sample(&rows, data, SAMPLE, chosen.seed, context);
    if (status == UC_OK)
        status = search_rates(&self, learner, &chosen, &rows, &quiet);
    uc_rates_estimate found = {self.tried, self.count, best_of(&self), {0}, {0}};
    if (status == UC_OK)
        status = choose_rates(out, &found, positive, context);
    uc_dataset_free(&rows);
    if (status == UC_OK && estimate)
        *estimate = found;
    else
        uc_rates_estimate_free(&found);
    return status;
}
