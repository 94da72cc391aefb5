/* Training on a whole data set: check, prepare, learn, summarise. */
#include <math.h>
#include <string.h>

#include "learn/online.h"

#define SHUFFLE_STREAM 1 /* of random numbers */
#define ROUNDS_A_REPORT 4096

static uc_status check_data(const uc_dataset *data)
{
    if (!data->y)
        return uc_fail(UC_ERR_FORMAT, "the data have no labels");
    if (data->X.rows == 0)
        return uc_fail(UC_ERR_FORMAT, "no examples");
    if (data->classes.count < 2)
        return uc_fail(UC_ERR_FORMAT, "only one class, '%s', where two are needed",
                       data->classes.count ? data->classes.text[0] : "");
    for (size_t i = 0; i < data->X.rows; i++)
        if (data->y[i] >= data->classes.count)
            return uc_fail(UC_ERR_FORMAT, "example %zu has no label ('?'), which this learner cannot use",
                           i + 1);
    return UC_OK;
}

static uc_status check_memory(const uc_online *self, const uc_dataset *data, const uc_context *context)
{
    /* the learner's weights and their average, and the model made from them */
    const double arrays = self->train.average ? 3.0 : 2.0;
    const double bytes =
        arrays * 8.0 * ((double)data->X.cols + 1.0) * (double)uc_class_stride(data->classes.count);
    char what[128];
    snprintf(what, sizeof what, "a model of %zu features and %zu classes", data->X.cols, data->classes.count);
    return uc_memory_check(context, bytes, what);
}

static uc_status run_pass(size_t *errors, uc_online *self, const uc_dataset *data, const size_t *order,
                          uint64_t pass, const uc_context *context)
{
    const size_t rows = data->X.rows;
    char detail[64];
    *errors = 0;
    for (size_t i = 0; i < rows; i++) {
        const size_t row = order ? order[i] : i;
        *errors += uc_online_round(self, uc_matrix_row(&data->X, row), data->y[row]) != data->y[row];
        if ((i + 1) % ROUNDS_A_REPORT != 0 && i + 1 != rows)
            continue;
        snprintf(detail, sizeof detail, "pass %llu of %llu, error %.4f", (unsigned long long)pass + 1,
                 (unsigned long long)self->train.passes, (double)*errors / (double)(i + 1));
        const uc_status status = uc_report(context, "training", (double)pass * (double)rows + (double)(i + 1),
                                           (double)self->train.passes * (double)rows, detail);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

/* *training_error is the progressive error of the last pass. */
static uc_status run_passes(double *training_error, uc_online *self, const uc_dataset *data,
                            const uc_context *context)
{
    const size_t rows = data->X.rows;
    size_t *order = NULL, errors = 0;
    if (self->train.shuffle) {
        order = uc_alloc(rows, sizeof *order);
        if (!order)
            return UC_ERR_NOMEM;
        for (size_t i = 0; i < rows; i++)
            order[i] = i;
    }
    uc_rng rng = uc_rng_make(self->train.seed, SHUFFLE_STREAM);
    uc_status status = UC_OK;
    for (uint64_t pass = 0; pass < self->train.passes && status == UC_OK; pass++) {
        if (order)
            uc_rng_shuffle(&rng, order, rows);
        status = run_pass(&errors, self, data, order, pass, context);
    }
    *training_error = (double)errors / (double)rows;
    uc_free(order);
    return status;
}

static uc_status finish(uc_model **out, uc_online *self, const uc_dataset *data, double training_error)
{
    uc_model *model;
    uc_status status = uc_online_model(&model, self, false);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < (model->features + 1) * model->stride && status == UC_OK; i++)
        if (!isfinite(model->weights[i]))
            status =
                uc_fail(UC_ERR_DIVERGED, "the weights grew beyond all numbers; try --normalize or --scale");
    if (status == UC_OK)
        status = uc_json_set(model->summary, "examples", json_integer((json_int_t)data->X.rows));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "iterations", json_integer((json_int_t)self->train.passes));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "training_error", json_real(training_error));
    if (status == UC_OK)
        *out = model;
    else
        uc_model_free(model);
    return status;
}

/* `data` is prepared. */
static uc_status train_prepared(uc_model **out, uc_online *self, const uc_dataset *data,
                                const uc_context *context)
{
    size_t *counts = uc_alloc(data->classes.count, sizeof *counts);
    if (!counts)
        return UC_ERR_NOMEM;
    uc_class_counts(counts, data);
    for (size_t k = 0; k < data->classes.count; k++)
        self->label_counts[k] = counts[k];
    self->counts_are_final = true;
    uc_free(counts);
    double training_error = 0.0;
    uc_status status = uc_online_reserve(self, data->X.cols);
    if (status == UC_OK)
        status = run_passes(&training_error, self, data, context);
    return status == UC_OK ? finish(out, self, data, training_error) : status;
}

uc_status uc_train(uc_model **out, const uc_learner *learner, const void *settings,
                   const uc_train_settings *train, uc_dataset *data, const uc_context *context)
{
    const uc_train_settings common = train ? *train : uc_train_defaults();
    uc_steps steps = {0};
    uc_online *self = NULL;
    uc_dataset copy = {0}, *prepared = data;
    uc_status status = check_data(data);
    if (status == UC_OK)
        status = uc_options_check(uc_train_options, &common);
    if (status == UC_OK)
        status = uc_steps_learn(&steps, (uc_scaling)common.scale, &data->X);
    if (status == UC_OK && common.noise)
        uc_warn(context, "%s does not use a noise matrix; it is ignored", learner->name);
    if (status == UC_OK)
        status =
            uc_online_begin(&self, learner, settings, &common, &data->classes, steps.factor ? &steps : NULL);
    if (status == UC_OK)
        status = check_memory(self, data, context);
    if (status == UC_OK && !uc_steps_are_idle(&self->steps)) {
        if (!common.overwrite) {
            status = uc_dataset_subset(&copy, data, NULL, 0);
            prepared = &copy;
        }
        if (status == UC_OK)
            status = uc_steps_apply(&self->steps, &prepared->X, context);
    }
    if (status == UC_OK)
        status = train_prepared(out, self, prepared, context);
    uc_dataset_free(&copy);
    uc_online_free(self);
    uc_steps_free(&steps);
    return status;
}
