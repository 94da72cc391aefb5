/* The summary of a model: everything besides its weights. */
#include <math.h>
#include <string.h>

#include "map/map.h"
#include "model/model.h"
#include "model/model_file.h"

#define MOST_DEPTH 8 /* of values within values */

/* ---- values ---- */

const uc_value *uc_values_find(const uc_values *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->items[i].name && strcmp(self->items[i].name, name) == 0)
            return &self->items[i];
    return NULL;
}

double uc_values_number(const uc_values *self, const char *name)
{
    const uc_value *value = uc_values_find(self, name);
    if (value && value->kind == UC_VALUE_COUNT)
        return (double)value->count;
    return value && value->kind == UC_VALUE_REAL ? value->real : (double)NAN;
}

static uc_value value_of(const char *name, const json_t *json)
{
    if (json_is_boolean(json))
        return (uc_value){.name = name, .kind = UC_VALUE_FLAG, .flag = json_is_true(json)};
    if (json_is_integer(json))
        return (uc_value){.name = name, .kind = UC_VALUE_COUNT, .count = json_integer_value(json)};
    if (json_is_real(json))
        return (uc_value){.name = name, .kind = UC_VALUE_REAL, .real = json_real_value(json)};
    if (json_is_string(json))
        return (uc_value){.name = name, .kind = UC_VALUE_TEXT, .text = json_string_value(json)};
    return (uc_value){.name = name, .kind = UC_VALUE_NONE};
}

static uc_status list_values(uc_values *out, json_t *json, unsigned depth);

/* Adds a value, with its members if it has any. Values that are nested too deeply are left out, since headers
 * come from files. */
static uc_status add_value(uc_values *out, const char *name, json_t *json, unsigned depth)
{
    uc_value *value = &out->items[out->count++];
    *value = value_of(name, json);
    if ((!json_is_object(json) && !json_is_array(json)) || depth == MOST_DEPTH)
        return UC_OK;
    value->members = uc_alloc(1, sizeof *value->members);
    if (!value->members)
        return UC_ERR_NOMEM;
    value->kind = json_is_object(json) ? UC_VALUE_OBJECT : UC_VALUE_LIST;
    return list_values(value->members, json, depth + 1);
}

static uc_status list_values(uc_values *out, json_t *json, unsigned depth)
{
    const char *name;
    json_t *member;
    size_t i;
    uc_status status = UC_OK;
    out->items = uc_alloc(json_object_size(json) + json_array_size(json), sizeof *out->items);
    if (!out->items)
        return UC_ERR_NOMEM;
    json_object_foreach(json, name, member)
    {
        status = add_value(out, name, member, depth);
        if (status != UC_OK)
            return status;
    }
    json_array_foreach(json, i, member)
    {
        status = add_value(out, NULL, member, depth);
        if (status != UC_OK)
            return status;
    }
    return status;
}

static void free_values(uc_values *self)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->items[i].members) {
            free_values(self->items[i].members);
            uc_free(self->items[i].members);
        }
    uc_free(self->items);
}

/* ---- the summary ---- */

static void describe_map(uc_model_summary *out, const uc_map *map)
{
    out->map.kind = uc_map_kind_word(UC_MAP_NONE);
    if (!map)
        return;
    out->map.kind = uc_map_kind_word(map->kind);
    out->map.kernel = uc_kernel_word(map->kernel);
    out->map.width = map->width;
    out->map.degree = map->degree;
    out->map.coefficient = map->coefficient;
    out->map.landmarks = map->landmarks.rows;
    out->map.columns = map->landmarks.cols;
    out->map.dimension = map->dimension;
    out->map.sparse = uc_matrix_is_sparse(&map->landmarks);
    out->map.eigenvalues = map->eigenvalues;
}

static double norm_of(const uc_model *self, size_t cls)
{
    double sum = 0.0;
    for (size_t j = 0; j < self->dimension; j++)
        sum += uc_model_weight(self, j, cls) * uc_model_weight(self, j, cls);
    return isfinite(sum) ? sqrt(sum) : 0.0;
}

uc_status uc_model_summarize(uc_model_summary *out, const uc_model *self)
{
    const uc_preprocessing *preprocessing = &self->preprocessing;
    *out = (uc_model_summary){
        .learner = self->learner,
        .features = self->features,
        .dimension = self->dimension,
        .classes = &self->classes,
        .bias = self->bias,
        .scale = uc_scaling_word((int)preprocessing->scaling),
        .normalize_input = preprocessing->normalize_input,
        .normalize = preprocessing->normalize,
        .views = preprocessing->view_count,
        .probabilities = self->probabilities,
        .resumable = self->state.counters != NULL,
        .format_version = self->format_version,
        .checksum = self->checksum,
    };
    describe_map(out, preprocessing->map);
    out->weight_norms = uc_alloc(self->classes.count, sizeof *out->weight_norms);
    uc_status status = out->weight_norms ? UC_OK : UC_ERR_NOMEM;
    for (size_t k = 0; k < self->classes.count && status == UC_OK; k++)
        out->weight_norms[k] = norm_of(self, k);
    if (status == UC_OK)
        status = list_values(&out->settings, self->settings, 0);
    if (status == UC_OK)
        status = list_values(&out->found, self->summary, 0);
    if (status == UC_OK && !(out->json = uc_summary_json(out)))
        status = UC_ERR_NOMEM;
    if (status == UC_OK)
        status = list_values(&out->all, out->json, 0);
    if (status == UC_OK)
        return UC_OK;
    uc_model_summary_free(out);
    return uc_fail(UC_ERR_NOMEM, "not enough memory to describe the model");
}

void uc_model_summary_free(uc_model_summary *self)
{
    free_values(&self->settings);
    free_values(&self->found);
    free_values(&self->all);
    json_decref(self->json);
    uc_free(self->weight_norms);
    *self = (uc_model_summary){0};
}

/* ---- as text ---- */

uc_status uc_model_describe(char **text, const uc_model *self)
{
    uc_model_summary summary;
    const uc_status status = uc_model_summarize(&summary, self);
    if (status != UC_OK)
        return status;
    char *copy = uc_json_text(summary.json);
    uc_model_summary_free(&summary);
    if (!copy)
        return uc_fail(UC_ERR_NOMEM, "not enough memory to describe the model");
    *text = copy;
    return UC_OK;
}

void uc_model_text_free(char *text)
{
    uc_free(text);
}

void uc_model_memory_free(void *bytes)
{
    uc_free(bytes);
}
