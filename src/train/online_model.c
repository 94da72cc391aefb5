/* Converts an online learner to a model, and resumes one from a model. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "train/online.h"
#include "learn/state.h"
#include "prepare/preprocessing.h"

uc_status uc_model_check_finite(const uc_model *model)
{
    for (size_t i = 0; i < (model->dimension + 1) * model->stride; i++)
        if (!isfinite(model->weights[i]))
            return uc_fail(UC_ERR_DIVERGED, "the weights overflowed; try {normalize} or {scale}");
    return UC_OK;
}

/* If the learner preprocesses rows itself, its preprocessing becomes part of the model's. */
static uc_status write_own(uc_model *model, const uc_online *self)
{
    uc_preprocessing preprocessing = {0};
    double *weights = NULL, bias = model->bias;
    uc_status status = uc_preprocessing_copy(&preprocessing, &model->preprocessing);
    if (status == UC_OK)
        status = self->learner->model(&preprocessing, &weights, &bias, self);
    if (status != UC_OK) {
        uc_preprocessing_free(&preprocessing);
        return status;
    }
    uc_preprocessing_free(&model->preprocessing);
    model->preprocessing = preprocessing;
    model->bias = bias;
    if (weights) {
        uc_free(model->weights);
        model->weights = weights;
        model->dimension = uc_preprocessing_dimension(&preprocessing, model->features);
    }
    return UC_OK;
}

/* The weights of the algorithm, or their mean over the rounds. */
static void write_weights(uc_model *model, const uc_online *self)
{
    const double *weights = self->plane[UC_WEIGHTS], *average = self->plane[UC_AVERAGE];
    const size_t K = self->classes.count;
    const bool own = self->learner->weight && !average;
    assert(model->dimension == self->features && model->classes.count == K);
    for (size_t j = 0; j <= self->features; j++) {
        double *row = model->weights + j * model->stride, sum = 0.0;
        for (size_t k = 0; k < K; k++) {
            const size_t at = j * self->stride + k;
            row[k] = weights[at];
            if (own)
                row[k] = self->learner->weight(self, at);
            if (average && self->rounds > 0)
                row[k] -= average[at] / (double)self->rounds;
            sum += row[k];
        }
        for (size_t k = 0; k < K && self->learner->relative; k++)
            row[k] -= sum / (double)K;
    }
    model->bias = self->train.bias;
}

uc_status uc_online_write(uc_model *model, const uc_online *self)
{
    write_weights(model, self);
    uc_status status = uc_json_set(model->summary, "rounds", json_integer((json_int_t)self->rounds));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "updates", json_integer((json_int_t)self->updates));
    if (status == UC_OK && self->learner->model)
        status = write_own(model, self);
    return status;
}

static json_t *reals_json(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && list; i++)
        if (json_array_append_new(list, json_real(values[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

uc_status uc_write_settings(uc_model *model, const uc_learner *learner, const void *settings,
                            const uc_train_settings *train)
{
    uc_status status = uc_settings_to_json(model->settings, learner->options, settings);
    if (status != UC_OK)
        return status;
    status = uc_settings_to_json(model->settings, uc_train_options, train);
    if (status == UC_OK && train->map.map != UC_MAP_NONE)
        status = uc_settings_to_json(model->settings, uc_map_options, &train->map);
    if (status == UC_OK && learner->model && train->map.dimension != UC_AUTO_COUNT) /* the learner's own
                                                                                       map */
        status = uc_json_set(model->settings, "dimension", json_integer((json_int_t)train->map.dimension));
    if (status == UC_OK && train->positive)
        status = uc_json_set(model->settings, "positive", json_string(train->positive));
    if (status == UC_OK && train->class_weights)
        status = uc_json_set(model->settings, "class-weights",
                             reals_json(train->class_weights, model->classes.count));
    return status;
}

void uc_online_settings(void *settings, const uc_online *self)
{
    memcpy(settings, self->settings, self->learner->settings_size);
    if (self->learner->decide)
        self->learner->decide(settings, uc_shape_of(self->features, self->density), self->classes.count);
}

/* ---- the learner's state ---- */

/* A proposal made before saving must not be mistaken for one of the resumed learner. A round scores its own
 * row once and every row that it replays: far fewer than 2^20 tickets. */
#define TICKETS_PER_PROPOSAL 20

/* Stores a plane without the padding of the classes and without spare capacity. */
static uc_status remember_plane(uc_online *self, size_t plane, uc_state *state)
{
    static const char *const names[UC_PLANES] = {"state.weights", "state.average", "state.own1", "state.own2",
                                                 "state.own3"};
    const size_t K = self->classes.count, rows = self->features + 1;
    double *array = self->plane[plane];
    if (state->reading && (array != NULL) != uc_state_has(state, names[plane]))
        return uc_state_damaged();
    if (!array)
        return UC_OK;
    double *packed = uc_alloc(rows * K, sizeof *packed);
    if (!packed)
        return UC_ERR_NOMEM;
    for (size_t j = 0; j < rows && !state->reading; j++)
        memcpy(packed + j * K, array + j * self->stride, K * sizeof *packed);
    const uc_status status = uc_state_array(state, names[plane], UC_ARRAY_F64, packed, rows * K);
    for (size_t j = 0; j < rows && state->reading && status == UC_OK; j++)
        memcpy(array + j * self->stride, packed + j * K, K * sizeof *packed);
    uc_free(packed);
    return status;
}

/* A sum of weights as JSON; whole numbers, as without weights, are written as integers. */
static json_t *count_json(double count)
{
    if (count == floor(count) && count < 0x1p53)
        return json_integer((json_int_t)count);
    return json_real(count);
}

static uc_status remember_label_counts(uc_online *self, uc_state *state)
{
    json_t *counters = state->model->counters;
    if (!state->reading) {
        json_t *counts = json_array();
        for (size_t k = 0; k < self->classes.count; k++)
            if (json_array_append_new(counts, count_json(self->label_counts[k])) != 0) {
                json_decref(counts);
                return uc_fail(UC_ERR_NOMEM, "not enough memory for the learner's state");
            }
        return uc_json_set(counters, "label_counts", counts);
    }
    const json_t *counts = json_object_get(counters, "label_counts");
    if (json_array_size(counts) != self->classes.count)
        return uc_state_damaged();
    for (size_t k = 0; k < self->classes.count; k++) {
        const json_t *count = json_array_get(counts, k);
        if (!json_is_number(count) || !(json_number_value(count) >= 0.0))
            return uc_state_damaged();
        self->label_counts[k] = json_number_value(count);
        self->label_total += self->label_counts[k];
    }
    return UC_OK;
}

static uc_status remember_counters(uc_online *self, uint64_t *drawn, uc_state *state)
{
    uint64_t sparse = uc_shape_of(self->features, self->density).sparse;
    uc_status status = uc_state_counter(state, "rounds", &self->rounds);
    if (status != UC_OK)
        return status;
    if (state->reading)
        self->proposals = self->rounds; /* as in older models */
    status = uc_state_counter(state, "updates", &self->updates);
    if (status == UC_OK)
        status = uc_state_counter(state, "proposals", &self->proposals);
    if (status == UC_OK)
        status = uc_state_counter(state, "drawn", drawn);
    if (status == UC_OK && !isnan(self->density))
        status = uc_state_counter(state, "sparse", &sparse);
    return status;
}

/* The sums of a running scaling. In a model without them, the scaling is fixed. */
static uc_status remember_scaling(uc_online *self, uc_state *state)
{
    uint64_t rows = UINT64_MAX;
    if (!state->reading && !self->running)
        return UC_OK;
    if (self->running)
        rows = uc_scale_sums_rows(self->running);
    uc_status status = uc_state_counter(state, "scaled_rows", &rows);
    if (status != UC_OK || rows == UINT64_MAX)
        return status;
    if (!self->preprocessing.factor)
        return uc_state_damaged();
    const size_t count = self->columns * UC_SCALE_SUMS_PACKED;
    double *packed = uc_alloc(count, sizeof *packed);
    if (!packed)
        return UC_ERR_NOMEM;
    if (!state->reading)
        uc_scale_sums_pack(packed, self->running);
    if (count > 0)
        status = uc_state_array(state, "state.scaling", UC_ARRAY_F64, packed, count);
    if (state->reading && status == UC_OK)
        status = uc_scale_sums_reserve(&self->running, self->columns);
    if (state->reading && status == UC_OK && !uc_scale_sums_unpack(self->running, rows, packed))
        status = uc_state_damaged();
    uc_free(packed);
    return status;
}

static uc_status remember(uc_online *self, uc_state *state)
{
    uint64_t drawn = self->rng.drawn;
    uc_status status = remember_counters(self, &drawn, state);
    if (status == UC_OK)
        status = remember_label_counts(self, state);
    if (status == UC_OK)
        status = remember_scaling(self, state);
    for (size_t p = 0; p < UC_PLANES && status == UC_OK; p++)
        status = remember_plane(self, p, state);
    if (status != UC_OK)
        return status;
    if (state->reading) {
        self->rng = uc_rng_resume(self->rng.seed, self->rng.sequence, drawn);
        self->ticket = (self->proposals + 1) << TICKETS_PER_PROPOSAL;
    }
    if (!self->learner->remember)
        return UC_OK;
    return self->learner->remember(self, state);
}

/* ---- saving ---- */

/* Stores the preprocessing in front of a learner that preprocesses rows further by itself; in the model's own
 * preprocessing the two parts cannot be told apart. */
static uc_status write_input(uc_state *state, const uc_preprocessing *input, size_t columns)
{
    uint64_t scaling = (uint64_t)input->scaling, root = input->root;
    uc_status status = uc_state_counter(state, "input_scaling", &scaling);
    if (status == UC_OK)
        status = uc_state_counter(state, "input_root", &root);
    if (status == UC_OK && input->factor)
        status = uc_state_array(state, "state.input.factor", UC_ARRAY_F64, input->factor, columns);
    if (status == UC_OK && input->shift)
        status = uc_state_array(state, "state.input.shift", UC_ARRAY_F64, input->shift, columns);
    return status;
}

static uc_status read_input_array(double **out, uc_state *state, const char *name, size_t columns)
{
    *out = uc_alloc(columns, sizeof **out);
    if (!*out)
        return UC_ERR_NOMEM;
    return uc_state_array(state, name, UC_ARRAY_F64, *out, columns);
}

/* After a failure *out must still be freed. */
static uc_status read_input(uc_preprocessing *out, uc_state *state, size_t columns)
{
    uint64_t scaling = UC_SCALE_NONE, root = 0;
    uc_status status = uc_state_counter(state, "input_scaling", &scaling);
    if (status == UC_OK)
        status = uc_state_counter(state, "input_root", &root);
    if (status == UC_OK && scaling >= UC_SCALE_AUTO)
        status = uc_state_damaged();
    if (status != UC_OK)
        return status;
    out->scaling = (uc_scaling)scaling;
    out->root = root != 0;
    out->cols = columns;
    if (out->scaling != UC_SCALE_NONE)
        status = read_input_array(&out->factor, state, "state.input.factor", columns);
    if (status == UC_OK && (out->scaling == UC_SCALE_RANGE || out->scaling == UC_SCALE_STANDARD))
        status = read_input_array(&out->shift, state, "state.input.shift", columns);
    return status;
}

/* The learner is not modified: `remember` changes its argument only when reading. */
uc_status uc_online_write_state(uc_model *model, const uc_online *self)
{
    uc_state state = {.model = &model->state, .reading = false};
    model->state.counters = json_object();
    if (!model->state.counters)
        return uc_fail(UC_ERR_NOMEM, "not enough memory for the learner's state");
    const uc_status status = remember((uc_online *)self, &state);
    if (status != UC_OK || !self->learner->model)
        return status;
    return write_input(&state, &model->preprocessing, model->features);
}

/* Scaling learned from fewer columns than were seen later cannot occur: unknown columns are dropped. */
uc_status uc_online_model(uc_model **out, const uc_online *self, bool with_state)
{
    uc_model *model = NULL;
    uc_status status =
        uc_model_create(&model, &self->classes, self->columns, self->features, self->learner->name);
    if (status != UC_OK)
        return status;
    status = uc_preprocessing_copy(&model->preprocessing, &self->preprocessing);
    if (status != UC_OK)
        goto cleanup;
    model->preprocessing.cols = self->columns;
    if (with_state)
        status = uc_online_write_state(model, self);
    if (status == UC_OK)
        status = uc_online_write(model, self);
    if (status == UC_OK)
        status = uc_model_check_finite(model);
    if (status == UC_OK)
        status = uc_write_settings(model, self->learner, self->settings, &self->train);
cleanup:
    if (status == UC_OK)
        *out = model;
    else
        uc_model_free(model);
    return status;
}

/* ---- resuming ---- */

/* Only whether rows are sparse matters; a resumed learner must not decide that again. */
static double stored_density(const uc_model *model)
{
    const json_t *sparse = json_object_get(model->state.counters, "sparse");
    if (!json_is_integer(sparse))
        return (double)NAN;
    return json_integer_value(sparse) == 1 ? 0.01 : 1.0;
}

/* *out, which the caller frees, stays NULL if no class weights were given. */
static uc_status stored_class_weights(double **out, const uc_model *model)
{
    const json_t *list = json_object_get(model->settings, "class-weights");
    const size_t K = model->classes.count;
    if (!list)
        return UC_OK;
    if (json_array_size(list) != K)
        return uc_state_damaged();
    double *weights = uc_alloc(K, sizeof *weights);
    if (!weights)
        return UC_ERR_NOMEM;
    for (size_t k = 0; k < K; k++)
        weights[k] = json_number_value(json_array_get(list, k));
    *out = weights;
    return UC_OK;
}

/* The settings that the model was trained with; the caller frees train->class_weights. */
static uc_status stored_settings(void *settings, uc_train_settings *train, const uc_learner *learner,
                                 const uc_model *model)
{
    double *class_weights = NULL;
    uc_options_defaults(learner->options, settings);
    uc_status status = uc_settings_from_json(settings, learner->options, model->settings);
    if (status != UC_OK)
        return status;
    status = stored_class_weights(&class_weights, model);
    train->class_weights = class_weights;
    if (status == UC_OK)
        status = uc_settings_from_json(train, uc_train_options, model->settings);
    if (status == UC_OK && (model->preprocessing.map || learner->model))
        status = uc_settings_from_json(&train->map, uc_map_options, model->settings);
    return status;
}

uc_status uc_online_resume(uc_online **out, const uc_model *model)
{
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
    uc_state state = {.model = (uc_model_state *)&model->state, .reading = true}; /* only read */
    uc_preprocessing input = {0};
    const uc_preprocessing *preprocessing = &model->preprocessing;
    uc_status status = stored_settings(settings, &train, learner, model);
    if (status == UC_OK && learner->model) {
        status = read_input(&input, &state, model->features);
        input.table = uc_table_share(model->preprocessing.table); /* columns are matched by name, as before */
        preprocessing = &input;
    }
    if (status == UC_OK)
        status = uc_online_begin(&self, learner, settings, &train, &model->classes, preprocessing);
    if (status != UC_OK)
        goto cleanup;
    status = uc_online_expect(self, model->features, stored_density(model));
    if (status == UC_OK)
        status = remember(self, &state);
cleanup:
    if (status == UC_ERR_OPTION) /* the settings come from a file, not from a user */
        status = UC_ERR_FORMAT;
    uc_preprocessing_free(&input);
    uc_free((double *)train.class_weights);
    uc_free(settings);
    if (status == UC_OK)
        *out = self;
    else
        uc_online_free(self);
    return status;
}
