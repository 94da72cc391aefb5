/* From an online learner to a model, and back to where it stopped. */
#include <string.h>

#include "learn/online.h"

/* Rows of the learner's stride, which may be larger than the model's after a class could not be added. */
static void copy_rows(double *out, const double *from, const uc_online *self)
{
    const size_t stride = uc_class_stride(self->classes.count);
    for (size_t j = 0; j <= self->features; j++)
        memcpy(out + j * stride, from + j * self->stride, stride * sizeof *out);
}

uc_status uc_online_write(uc_model *model, const uc_online *self)
{
    copy_rows(model->weights, self->weights, self);
    for (size_t j = 0; j <= self->features && self->average && self->rounds > 0; j++)
        for (size_t k = 0; k < self->classes.count; k++)
            model->weights[j * model->stride + k] -=
                self->average[j * self->stride + k] / (double)self->rounds;
    model->bias = self->train.bias;
    const uc_status status = uc_json_set(model->summary, "rounds", json_integer((json_int_t)self->rounds));
    return status == UC_OK ? uc_json_set(model->summary, "updates", json_integer((json_int_t)self->updates))
                           : status;
}

uc_status uc_write_settings(uc_model *model, const uc_learner *learner, const void *settings,
                            const uc_train_settings *train)
{
    uc_status status = uc_settings_to_json(model->settings, learner->options, settings);
    if (status == UC_OK)
        status = uc_settings_to_json(model->settings, uc_train_options, train);
    if (status == UC_OK && train->map.map != UC_MAP_NONE)
        status = uc_settings_to_json(model->settings, uc_map_options, &train->map);
    return status;
}

static uc_status write_state(uc_model *model, const uc_online *self)
{
    const size_t count = (self->features + 1) * model->stride;
    model->state.counters = json_pack("{s:I, s:I, s:[]}", "rounds", (json_int_t)self->rounds, "updates",
                                      (json_int_t)self->updates, "label_counts");
    model->state.weights = uc_alloc(count, sizeof(double));
    if (self->average)
        model->state.average = uc_alloc(count, sizeof(double));
    if (!model->state.counters || !model->state.weights || (self->average && !model->state.average))
        return uc_fail(UC_ERR_NOMEM, "not enough memory for the learner's state");
    copy_rows(model->state.weights, self->weights, self);
    if (self->average)
        copy_rows(model->state.average, self->average, self);
    json_t *counts = json_object_get(model->state.counters, "label_counts");
    for (size_t k = 0; k < self->classes.count; k++)
        if (json_array_append_new(counts, json_integer((json_int_t)self->label_counts[k])) != 0)
            return uc_fail(UC_ERR_NOMEM, "not enough memory for the learner's state");
    return UC_OK;
}

/* Scaling learned from fewer columns than were seen since does not occur: it drops what it does not know. */
uc_status uc_online_model(uc_model **out, const uc_online *self, bool with_state)
{
    uc_model *model = NULL;
    uc_status status =
        uc_model_create(&model, &self->classes, self->features, self->features, self->learner->name);
    if (status != UC_OK)
        return status;
    status = uc_online_write(model, self);
    if (status == UC_OK)
        status = uc_steps_copy(&model->steps, &self->steps);
    if (status == UC_OK) {
        model->steps.cols = self->features;
        status = uc_write_settings(model, self->learner, self->settings, &self->train);
    }
    if (status == UC_OK && with_state)
        status = write_state(model, self);
    if (status == UC_OK)
        *out = model;
    else
        uc_model_free(model);
    return status;
}

/* ---- resuming ---- */

static uc_status read_state(uc_online *self, const uc_model *model)
{
    const json_t *counters = model->state.counters, *counts = json_object_get(counters, "label_counts");
    if (json_array_size(counts) != model->classes.count ||
        (self->average != NULL) != (model->state.average != NULL))
        return uc_fail(UC_ERR_FORMAT, "the model's learner state does not fit its settings");
    const size_t count = (model->features + 1) * model->stride;
    memcpy(self->weights, model->state.weights, count * sizeof(double));
    if (self->average)
        memcpy(self->average, model->state.average, count * sizeof(double));
    for (size_t k = 0; k < model->classes.count; k++)
        self->label_counts[k] = (uint64_t)json_integer_value(json_array_get(counts, k));
    self->rounds = (uint64_t)json_integer_value(json_object_get(counters, "rounds"));
    self->updates = (uint64_t)json_integer_value(json_object_get(counters, "updates"));
    return UC_OK;
}

uc_status uc_online_resume(uc_online **out, const uc_model *model)
{
    if (model->steps.map)
        return uc_fail(UC_ERR_INVALID, "a learner that works behind a map cannot be resumed");
    if (!model->state.counters)
        return uc_fail(UC_ERR_INVALID,
                       "the model holds no learner's state to go on from: save it with `unconfuse stream`");
    const uc_learner *learner = uc_learner_find(model->learner);
    if (!learner)
        return UC_ERR_FORMAT;
    void *settings = uc_alloc(1, learner->settings_size);
    if (!settings)
        return UC_ERR_NOMEM;
    uc_train_settings train = uc_train_defaults();
    uc_online *self = NULL;
    uc_options_defaults(learner->options, settings);
    uc_status status = uc_settings_from_json(settings, learner->options, model->settings);
    if (status == UC_OK)
        status = uc_settings_from_json(&train, uc_train_options, model->settings);
    if (status == UC_OK)
        status = uc_online_begin(&self, learner, settings, &train, &model->classes, &model->steps);
    if (status == UC_OK)
        status = uc_online_reserve(self, model->features);
    if (status == UC_OK)
        status = read_state(self, model);
    uc_free(settings);
    if (status == UC_OK)
        *out = self;
    else
        uc_online_free(self);
    return status;
}
