/* k-fold cross-validation: every row is predicted by a model that did not see it. */
#include <string.h>

#include "learn/learner.h"
#include "parallel/parallel.h"
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
    size_t *rows;      /* room for all */
    uint32_t *answers; /* room for all */
    uint32_t *predicted;
} validation;

static uc_status run_fold(double *error, validation *self, unsigned fold, const uc_context *context)
{
    uc_dataset part = {0};
    uc_model *model = NULL;
    size_t count = rows_of(self->rows, self->fold_of, self->data->X.rows, fold, false);
    uc_status status = uc_dataset_subset(&part, self->data, self->rows, count);
    if (status == UC_OK)
        status = uc_select_and_train(&model, self->learner, self->settings, &self->train, &part, context);
    uc_dataset_free(&part);
    count = rows_of(self->rows, self->fold_of, self->data->X.rows, fold, true);
    if (status == UC_OK)
        status = uc_dataset_subset(&part, self->data, self->rows, count);
    if (status == UC_OK)
        status = uc_model_predict(self->answers, model, &part.X, context);
    double counts[2] = {0.0, 0.0}; /* errors and labelled rows */
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        self->predicted[self->rows[i]] = self->answers[i];
        counts[1] += part.y[i] != UC_NONE;
        counts[0] += part.y[i] != UC_NONE && self->answers[i] != part.y[i];
    }
    if (status == UC_OK)
        status = uc_comm_sum(uc_comm_of(context), counts, 2);
    *error = counts[1] > 0.0 ? counts[0] / counts[1] : 0.0;
    uc_dataset_free(&part);
    uc_model_free(model);
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
    validation self = {learner,
                       settings,
                       train ? *train : uc_train_defaults(),
                       data,
                       fold_of,
                       uc_alloc(data->X.rows, sizeof(size_t)),
                       uc_alloc(data->X.rows, sizeof(uint32_t)),
                       predicted};
    self.train.overwrite = 1; /* each fold's data are a copy of our own */
    status = fold_of && self.rows && self.answers ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_folds(fold_of, data, folds, true, self.train.seed, context);
    for (unsigned fold = 0; fold < folds && status == UC_OK; fold++) {
        double error;
        status = run_fold(&error, &self, fold, context);
        if (fold_error && status == UC_OK)
            fold_error[fold] = error;
    }
    uc_free(self.answers);
    uc_free(self.rows);
    uc_free(fold_of);
    return status;
}
