/*
 * Noise rates of two classes, from the noisy labels alone.
 *
 *   h     the machine of sloppy-svm that is learned with a pair of rates (eta+, eta-)
 *   crit  P(h = + | labelled -) + P(h = - | labelled +), on rows that h did not see
 *
 * The pair with the smallest criterion wins (Blum, Mitchell, COLT 1998). Under flips crit is a rising
 * function of the two *true* error rates alike, so it follows the balanced error: on classes of unlike size
 * it is biased. The grid has steps of 0.1 and is refined to 0.05 and 0.025 around its best point. Rows are
 * prepared once a fold, for all rates.
 */
#include <math.h>
#include <string.h>

#include "learn/learner.h"
#include "parallel/parallel.h"
#include "select/folds.h"
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
    uc_train_settings train; /* for rows that are prepared */
    uc_preprocessing_settings preprocessing;
    const uc_context *context;
    uint32_t positive;
    fold_rows folds[FOLDS];
    unsigned fold_count; /* fewer when there are fewer bags */
    uc_rates *tried;
    size_t count, room;
    const uc_part *part;
} search;

/* ---- one pair of rates ---- */

/* Counts, by observed label: how many rows, and how many are predicted otherwise. */
static uc_status count_errors(size_t labelled[2], size_t errors[2], const search *self, const fold_rows *fold,
                              const uc_noise *noise)
{
    uc_train_settings train = self->train;
    uc_dataset rows = fold->train;
    uc_model *model = NULL;
    train.noise = noise;
    uint32_t *predicted = uc_alloc(fold->test.X.rows, sizeof *predicted);
    uc_status status = predicted ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK)
        status =
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
    return positive == 1 ? uc_noise_binary(out, rates->positive, rates->negative)
                         : uc_noise_binary(out, rates->negative, rates->positive);
}

/* Rates that the labels do not allow for, or at which a machine cannot be learned, leave the criterion
 * NaN. */
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

/* The first of the smallest criteria; count when there is none. */
static size_t best_of(const search *self)
{
    size_t best = self->count;
    for (size_t i = 0; i < self->count; i++)
        if (!isnan(self->tried[i].criterion) &&
            (best == self->count || self->tried[i].criterion < self->tried[best].criterion))
            best = i;
    return best;
}

static uc_status try_all(search *self, uc_rates_free free_rates)
{
    const int steps = (int)lround(HIGHEST / COARSE);
    const int most_positive = free_rates == UC_RATES_NEGATIVE_ONLY ? 0 : 2 * steps;
    const int most_negative = free_rates == UC_RATES_POSITIVE_ONLY ? 0 : 2 * steps;
    const bool both = free_rates == UC_RATES_BOTH;
    uc_status status = UC_OK;
    for (int p = 0; p <= (both ? steps : most_positive); p++)
        for (int q = 0; q <= (both ? steps : most_negative) && status == UC_OK; q++)
            status = try_point(self, COARSE * p, COARSE * q);
    double step = COARSE;
    for (int refinement = 0; refinement < REFINEMENTS && status == UC_OK; refinement++) {
        const size_t best = best_of(self);
        if (best == self->count)
            break;
        const uc_rates centre = self->tried[best];
        step /= 2.0;
        for (int p = -1; p <= 1; p++)
            for (int q = -1; q <= 1 && status == UC_OK; q++)
                status = try_point(self, centre.positive + (most_positive ? step * p : 0.0),
                                   centre.negative + (most_negative ? step * q : 0.0));
    }
    return status;
}

/* ---- rows ---- */

/* Prepares the fold's rows and keeps them for every pair of rates. */
static uc_status prepare_fold(uc_fold *fold, void *user)
{
    search *self = user;
    uc_preprocessing preprocessing = {0};
    uc_status status =
        uc_preprocessing_fit(&preprocessing, &fold->train.X, &self->preprocessing, fold->context);
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

/* ---- all ---- */

/* All rates that are as good as the best, give or take its standard error. */
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

uc_status uc_noise_rates_from_data(uc_noise *out, uc_rates_estimate *estimate,
                                   const uc_svm_settings *settings, const uc_train_settings *train,
                                   const uc_dataset *data, uint32_t positive, uc_rates_free free_rates,
                                   const uc_context *context)
{
    const uc_learner *learner = uc_learner_find("sloppy-svm");
    uc_context quiet = uc_context_alone(context); /* every process has the sample and finds the same */
    uc_share share;
    quiet.warn = NULL; /* the same sentence from every fold */
    search self = {.context = &quiet, .positive = positive};
    uc_train_settings chosen = train ? *train : uc_train_defaults();
    uc_dataset rows = {0};
    uc_status status = uc_train_check(learner, data, context);
    if (status == UC_OK)
        status = uc_share_of(&share, context, data->X.rows);
    if (status == UC_OK && data->classes.count != 2)
        status = uc_fail(UC_ERR_INVALID, "noise rates are for two classes, but there are %zu",
                         data->classes.count);
    if (status == UC_OK && share.total < 2 * FOLDS)
        status =
            uc_fail(UC_ERR_INVALID, "%zu examples are too few to estimate noise rates from, %u are needed",
                    share.total, 2 * FOLDS);
    if (status != UC_OK)
        return status;
    uc_options_defaults(learner->options, &self.settings);
    if (settings)
        self.settings = *settings;
    chosen.noise = NULL;
    status = uc_dataset_sample(&rows, data, SAMPLE, chosen.seed, context);
    if (status == UC_OK)
        status = uc_tune(&self.settings, &chosen, learner, &rows, &quiet);
    chosen = uc_train_decide(learner, &chosen);
    self.train = chosen;
    self.train.map.map = UC_MAP_NONE;
    self.train.scale = UC_SCALE_NONE;
    self.train.normalize = self.train.normalize_input = self.train.overwrite = 0;
    self.fold_count = uc_folds_at_most(&rows, FOLDS);
    self.preprocessing = (uc_preprocessing_settings){(uc_scaling)chosen.scale, chosen.normalize_input,
                                                     &chosen.map, chosen.normalize, chosen.seed};
    uc_parts trainings = {.task = "estimating noise rates",
                          .part = "training",
                          .count = self.fold_count * (free_rates == UC_RATES_BOTH ? 41 : 13),
                          .at_most = true};
    uc_part part = {&trainings, &quiet};
    const uc_context inner = uc_context_of_part(&part);
    self.context = &inner;
    self.part = &part;
    if (status == UC_OK)
        status = prepare_folds(&self, &rows, chosen.seed);
    if (status == UC_OK)
        status = try_all(&self, free_rates);
    uc_rates_estimate found = {self.tried, self.count, best_of(&self), {0}, {0}};
    if (status == UC_OK && found.best == found.count)
        status = uc_fail(UC_ERR_INVALID, "no noise rates fit the labels");
    if (status == UC_OK) {
        find_intervals(&found);
        if (found.tried[found.best].criterion > 1.0 - found.tried[found.best].deviation)
            uc_warn(context, "the noise rates are a guess: no machine tells the two labels apart");
        status = binary_noise(out, &found.tried[found.best], positive);
    }
    for (unsigned fold = 0; fold < FOLDS; fold++) {
        uc_dataset_free(&self.folds[fold].train);
        uc_dataset_free(&self.folds[fold].test);
    }
    uc_dataset_free(&rows);
    if (status == UC_OK && estimate)
        *estimate = found;
    else
        uc_rates_estimate_free(&found);
    return status;
}
