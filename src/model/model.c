/* Creates, frees and queries models. */
#include "model/model.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

uc_status uc_json_set(json_t *object, const char *name, json_t *value)
{
    if (json_object_set_new(object, name, value) != 0)
        return uc_fail(UC_ERR_NOMEM, "not enough memory for '%s'", name);
    return UC_OK;
}

/* The number of weights, padding included; fails on overflow. */
static uc_status count_weights(size_t *count, size_t dimension, size_t classes)
{
    size_t rows;
    if (!uc_size_add(&rows, dimension, 1) || !uc_size_mul(count, rows, uc_class_stride(classes)))
        return uc_fail(UC_ERR_NOMEM, "a model of %zu features and %zu classes is too large", dimension,
                       classes);
    return UC_OK;
}

uc_status uc_model_create(uc_model **out, const uc_names *classes, size_t features, size_t dimension,
                          const char *learner)
{
    size_t count;
    uc_status status = count_weights(&count, dimension, classes->count);
    if (status != UC_OK)
        return status;
    uc_model *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    self->features = features;
    self->dimension = dimension;
    self->stride = uc_class_stride(classes->count);
    self->weights = uc_alloc(count, sizeof *self->weights);
    self->learner = uc_strdup(learner);
    self->settings = json_object();
    self->summary = json_object();
    status = uc_names_copy(&self->classes, classes);
    if (status == UC_OK && (!self->weights || !self->learner || !self->settings || !self->summary))
        status = uc_fail(UC_ERR_NOMEM, "not enough memory for a model of %zu features and %zu classes",
                         features, classes->count);
    if (status == UC_OK)
        *out = self;
    else
        uc_model_free(self);
    return status;
}

uc_status uc_model_take_views(uc_model *self, uc_preprocessing *views, size_t count)
{
    self->preprocessing.views = views;
    self->preprocessing.view_count = count;
    size_t weights;
    const size_t dimension = uc_preprocessing_dimension(&self->preprocessing, self->features);
    const uc_status status = count_weights(&weights, dimension, self->classes.count);
    if (status != UC_OK)
        return status;
    double *zeros = uc_alloc(weights, sizeof *zeros);
    if (!zeros)
        return UC_ERR_NOMEM;
    uc_free(self->weights);
    self->weights = zeros;
    self->dimension = dimension;
    return UC_OK;
}

void uc_model_free(uc_model *self)
{
    if (!self)
        return;
    uc_names_free(&self->classes);
    uc_preprocessing_free(&self->preprocessing);
    uc_free(self->weights);
    uc_free(self->noise);
    uc_free(self->calibration);
    uc_free(self->learner);
    json_decref(self->settings);
    json_decref(self->summary);
    uc_model_state_free(&self->state);
    uc_free(self);
}

void uc_model_forget_state(uc_model *self)
{
    uc_model_state_free(&self->state);
}

const uc_names *uc_model_classes(const uc_model *self)
{
    return &self->classes;
}

size_t uc_model_features(const uc_model *self)
{
    return self->features;
}

size_t uc_model_dimension(const uc_model *self)
{
    return self->dimension;
}

const double *uc_model_noise(const uc_model *self)
{
    return self->noise;
}

double uc_model_prior(const uc_model *self)
{
    const json_t *prior = json_object_get(self->summary, "prior");
    return json_is_number(prior) ? json_number_value(prior) : (double)NAN;
}

const char *uc_model_positive(const uc_model *self)
{
    return json_string_value(json_object_get(self->settings, "positive"));
}

const uc_table *uc_model_table(const uc_model *self)
{
    return self->preprocessing.table;
}

const char *uc_model_learner(const uc_model *self)
{
    return self->learner;
}

double uc_model_weight(const uc_model *self, size_t feature, size_t cls)
{
    assert(feature < self->dimension && cls < self->classes.count);
    return self->weights[(feature + 1) * self->stride + cls];
}

double uc_model_offset(const uc_model *self, size_t cls)
{
    assert(cls < self->classes.count);
    return self->bias * self->weights[cls];
}

/* ---- settings ---- */

static json_t *value_to_json(const uc_option *option, const char *text)
{
    if ((option->automatic && strcmp(text, "auto") == 0) || (option->zero && strcmp(text, option->zero) == 0))
        return json_string(text);
    switch (option->type) {
    case UC_OPTION_FLAG:
        return json_boolean(strcmp(text, "on") == 0);
    case UC_OPTION_COUNT:
    case UC_OPTION_BYTES: {
        uint64_t count = 0;
        uc_parse_count(&count, text, strlen(text));
        return json_integer((json_int_t)count);
    }
    case UC_OPTION_REAL: {
        double real = 0.0;
        uc_parse_real(&real, text, strlen(text));
        return json_real(real);
    }
    case UC_OPTION_CHOICE:
    case UC_OPTION_PAIR:
    case UC_OPTION_TEXT:
        return json_string(text);
    }
    return NULL;
}

uc_status uc_settings_to_json(json_t *object, const uc_option *table, const void *settings)
{
    uc_status status = UC_OK;
    for (; table->name && status == UC_OK; table++) {
        char text[256];
        uc_option_text(table, settings, text, sizeof text);
        status = uc_json_set(object, table->name, value_to_json(table, text));
    }
    return status;
}

uc_status uc_settings_from_json(void *settings, const uc_option *table, const json_t *object)
{
    for (; table->name; table++) {
        const json_t *value = json_object_get(object, table->name);
        char text[64];
        if (!value || table->type == UC_OPTION_TEXT)
            continue;
        if (json_is_boolean(value))
            snprintf(text, sizeof text, "%s", json_is_true(value) ? "on" : "off");
        else if (json_is_integer(value))
            snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        else if (json_is_real(value))
            snprintf(text, sizeof text, "%.17g", json_real_value(value));
        else
            snprintf(text, sizeof text, "%s", json_is_string(value) ? json_string_value(value) : "");
        const uc_status status = uc_option_set(table, settings, text);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}
