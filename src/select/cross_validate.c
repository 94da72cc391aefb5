/* k-fold cross-validation: every row is predicted by a model that did not see it. */
#include <math.h>
#include <string.h>

#include "data/folds.h"
#include "data/weights.h"
#include "learn/learner.h"
#include "train/train.h"
#include "unconfuse/select.h"

typedef struct validation {
    const uc_learner *learner;
    const void *settings;
    uc_train_settings train;
    uint32_t *predicted;
    double *scores; /* rows x classes; NULL: not wanted */
    double *error;  /* of each fold */
} validation;

/* Stores the scores of the fold's rows at the rows' own positions. */
static uc_status score_fold(validation *self, const uc_fold *fold, const uc_model *model)
{
    const uc_dataset *test = &fold->held_out;
    const size_t count = test->X.rows, K = test->classes.count;
    double *scores = uc_alloc(count * K, sizeof *scores);
    uc_status status = UC_ERR_NOMEM;
    if (scores && uc_model_has_probabilities(model))
        status = uc_model_probabilities(scores, model, &test->X, fold->context);
    else if (scores)
        status = uc_model_scores(scores, model, &test->X, fold->context);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        memcpy(self->scores + fold->rows[i] * K, scores + i * K, K * sizeof *scores);
    uc_free(scores);
    return status;
}

/* Predicts the fold's held-out rows with the fold's model. */
static uc_status predict_fold(validation *self, const uc_fold *fold, const uc_model *model)
{
    const uc_dataset *test = &fold->held_out;
    const size_t count = test->X.rows;
    uint32_t *answers = uc_alloc(count, sizeof *answers);
    if (!answers)
        return UC_ERR_NOMEM;
    uc_status status = uc_model_predict(answers, model, &test->X, fold->context);
    double counts[2] = {0.0, 0.0}; /* weights of errors and of labelled rows */
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        self->predicted[fold->rows[i]] = answers[i];
        const double weight = test->y[i] == UC_NONE ? 0.0 : uc_row_weight(test, i);
        counts[1] += weight;
        counts[0] += weight * uc_row_error(test, i, answers[i]);
    }
    if (status == UC_OK)
        status = uc_comm_sum(uc_comm_of(fold->context), counts, 2);
    self->error[fold->number] = 0.0;
    if (counts[1] > 0.0)
        self->error[fold->number] = counts[0] / counts[1];
    uc_free(answers);
    return status;
}

static uc_status run_fold(uc_fold *fold, void *user)
{
    validation *self = user;
    uc_model *model = NULL;
    uc_status status =
        uc_tune_and_train(&model, self->learner, self->settings, &self->train, &fold->train, fold->context);
    uc_dataset_free(&fold->train);
    if (status == UC_OK)
        status = predict_fold(self, fold, model);
    if (status == UC_OK && self->scores)
        status = score_fold(self, fold, model);
    if (status == UC_OK)
        status = uc_part_done(fold->progress);
    uc_model_free(model);
    return status;
}

/* Online learners are serial, so their folds run concurrently, as many as fit in half of the memory. */
static uc_status run_folds(validation *self, uc_folds *folds, const uc_context *context)
{
    const uc_matrix *X = &folds->data->X;
    const uc_train_settings train = uc_train_decide(self->learner, &self->train);
    const bool serial = !self->learner->fit && train.map.map == UC_MAP_NONE && !uc_is_shared(context);
    folds->progress = (uc_parts){.task = "cross-validating", .part = "fold", .count = folds->count};
    if (!serial) {
        folds->progress.detailed = true;
        return uc_folds_each(folds, run_fold, self, context);
    }
    const double weights = 3.0 * sizeof(double) * (double)X->cols * (double)folds->data->classes.count;
    const double bytes = 8.0 * (double)uc_matrix_entries(X) + 24.0 * (double)X->rows + weights;
    uc_context outer = {0};
    if (context)
        outer = *context;
    outer.threads =
        (unsigned)fmax(1.0, fmin(uc_threads(context), (double)uc_memory_limit(context) / 2.0 / bytes));
    return uc_folds_concurrently(folds, 0, folds->count, run_fold, self, &outer);
}

static uc_status check(const uc_learner *learner, const uc_dataset *data, unsigned folds,
                       const uc_context *context)
{
    uc_share share;
    const uc_status status = uc_share_of(&share, context, data->X.rows);
    if (status != UC_OK)
        return status;
    if (folds < 2 || folds > share.total)
        return uc_fail(UC_ERR_INVALID,
                       "%u folds of %zu examples: it must be from 2 to the number of examples", folds,
                       share.total);
    return uc_train_check(learner, data, context);
}

uc_status uc_cross_validate(uint32_t *predicted, double *fold_error, const uc_learner *learner,
                            const void *settings, const uc_train_settings *train, const uc_dataset *data,
                            unsigned folds, const uc_context *context)
{
    return uc_cross_validate_scores(NULL, predicted, fold_error, learner, settings, train, data, folds,
                                    context);
}

uc_status uc_cross_validate_scores(double *scores, uint32_t *predicted, double *fold_error,
                                   const uc_learner *learner, const void *settings,
                                   const uc_train_settings *train, const uc_dataset *data, unsigned folds,
                                   const uc_context *context)
{
    uc_status status = check(learner, data, folds, context);
    if (status != UC_OK)
        return status;
    validation self = {.learner = learner,
                       .settings = settings,
                       .train = uc_train_defaults(),
                       .predicted = predicted,
                       .scores = scores,
                       .error = uc_alloc(folds, sizeof(double))};
    uc_folds all = {0};
    if (!self.error)
        return UC_ERR_NOMEM;
    if (train)
        self.train = *train;
    self.train.overwrite = 1; /* each fold's data are our own copy */
    status = uc_folds_begin(&all, data, folds, self.train.seed, context);
    if (status == UC_OK)
        status = run_folds(&self, &all, context);
    if (fold_error && status == UC_OK)
        memcpy(fold_error, self.error, folds * sizeof *fold_error);
    uc_folds_free(&all);
    uc_free(self.error);
    return status;
}
