/* k-fold cross-validation: every row is predicted by a model that did not see it. */
#include <math.h>
#include <string.h>

#include "learn/learner.h"
#include "parallel/parallel.h"
#include "train/train.h"
#include "unconfuse/select.h"

/* Rows of the fold, or of all others, into `rows`; returns how many. */
static size_t rows_of(size_t *rows, const uint32_t *fold_of, size_t count, unsigned fold, bool in_fold)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if ((fold_of[i] == fold) == in_fold)
            rows[found++] = i;
    return found;
}

typedef struct validation {
    const uc_learner *learner;
    const void *settings;
    uc_train_settings train;
    const uc_dataset *data;
    const uint32_t *fold_of;
    uint32_t *predicted;
    double *error;  /* of each fold */
    uc_parts parts; /* the folds */
} validation;

/* What the fold's model says of the fold's rows. */
static uc_status predict_fold(validation *self, size_t *rows, size_t fold, const uc_model *model,
                              const uc_context *context)
{
    uc_dataset part = {0};
    const size_t count = rows_of(rows, self->fold_of, self->data->X.rows, (unsigned)fold, true);
    uint32_t *answers = uc_alloc(count, sizeof *answers);
    uc_status status = answers ? uc_dataset_subset(&part, self->data, rows, count, context) : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_model_predict(answers, model, &part.X, context);
    double counts[2] = {0.0, 0.0}; /* errors and labelled rows */
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        self->predicted[rows[i]] = answers[i];
        counts[1] += part.y[i] != UC_NONE;
        counts[0] += part.y[i] != UC_NONE && answers[i] != part.y[i];
    }
    if (status == UC_OK)
        status = uc_comm_sum(uc_comm_of(context), counts, 2);
    self->error[fold] = counts[1] > 0.0 ? counts[0] / counts[1] : 0.0;
    uc_dataset_free(&part);
    uc_free(answers);
    return status;
}

static uc_status run_fold(size_t fold, const uc_context *context, void *user)
{
    validation *self = user;
    uc_dataset part = {0};
    uc_model *model = NULL;
    uc_part progress = {&self->parts, context};
    const uc_context inner = uc_context_of_part(&progress);
    size_t *rows = uc_alloc(self->data->X.rows, sizeof *rows);
    if (!rows)
        return UC_ERR_NOMEM;
    const size_t count = rows_of(rows, self->fold_of, self->data->X.rows, (unsigned)fold, false);
    uc_status status = uc_dataset_subset(&part, self->data, rows, count, &inner);
    if (status == UC_OK)
        status = uc_tune_and_train(&model, self->learner, self->settings, &self->train, &part, &inner);
    uc_dataset_free(&part);
    if (status == UC_OK)
        status = predict_fold(self, rows, fold, model, &inner);
    if (status == UC_OK)
        status = uc_part_done(&progress);
    uc_model_free(model);
    uc_free(rows);
    return status;
}

/* Online learners are serial, so their folds run beside each other, as many as half of the memory has room for. */
static uc_status run_folds(validation *self, unsigned folds, const uc_context *context)
{
    const uc_matrix *X = &self->data->X;
    const uc_train_settings train = uc_train_decide(self->learner, &self->train);
    uc_status status = UC_OK;
    self->parts = (uc_parts){.task = "cross-validating", .part = "fold", .count = folds};
    if (!self->learner->fit && train.map.map == UC_MAP_NONE && !uc_is_shared(context)) {
        const double weights = 3.0 * sizeof(double) * (double)X->cols * (double)self->data->classes.count;
        const double bytes = 8.0 * (double)uc_matrix_entries(X) + 24.0 * (double)X->rows + weights;
        uc_context outer = context ? *context : (uc_context){0};
        outer.threads =
            (unsigned)fmax(1.0, fmin(uc_threads(context), (double)uc_memory_limit(context) / 2.0 / bytes));
        return uc_run_beside(&outer, folds, run_fold, self);
    }
    self->parts.detailed = true;
    for (unsigned fold = 0; fold < folds && status == UC_OK; fold++)
        status = run_fold(fold, context, self);
    return status;
}

uc_status uc_cross_validate(uint32_t *predicted, double *fold_error, const uc_learner *learner,
                            const void *settings, const uc_train_settings *train, const uc_dataset *data,
                            unsigned folds, const uc_context *context)
{
    uc_share share;
    uc_status status = uc_share_of(&share, context, data->X.rows);
    if (status == UC_OK && (folds < 2 || folds > share.total))
        status =
            uc_fail(UC_ERR_INVALID, "%u folds of %zu examples: it must be from 2 to the number of examples",
                    folds, share.total);
    if (status == UC_OK)
        status = uc_train_check(learner, data, context);
    if (status != UC_OK)
        return status;
    uint32_t *fold_of = uc_alloc(data->X.rows, sizeof *fold_of);
    validation self = {.learner = learner,
                       .settings = settings,
                       .train = train ? *train : uc_train_defaults(),
                       .data = data,
                       .fold_of = fold_of,
                       .predicted = predicted,
                       .error = uc_alloc(folds, sizeof(double))};
    self.train.overwrite = 1; /* each fold's data are a copy of our own */
    status = fold_of && self.error ? uc_dataset_folds(fold_of, data, folds, true, self.train.seed, context)
                                   : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = run_folds(&self, folds, context);
    if (fold_error && status == UC_OK)
        memcpy(fold_error, self.error, folds * sizeof *fold_error);
    uc_free(self.error);
    uc_free(fold_of);
    return status;
}
