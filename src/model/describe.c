/* A model as one JSON object, for people and programs that look into it. */
#include <math.h>

#include "map/map.h"
#include "model/model.h"
#include "model/model_file.h"

/* A name that is not UTF-8 cannot be JSON text; its other bytes become question marks. */
static json_t *name_json(const char *name)
{
    json_t *text = json_string(name);
    if (text)
        return text;
    char *copy = uc_strdup(name);
    if (!copy)
        return NULL;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c > 126)
            *c = '?';
    text = json_string(copy);
    uc_free(copy);
    return text;
}

static json_t *classes_json(const uc_names *classes)
{
    json_t *list = json_array();
    for (size_t k = 0; k < classes->count && list; k++)
        if (json_array_append_new(list, name_json(classes->text[k])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* What the file says of the map, and kernel PCA's eigenvalues. */
static json_t *map_json(const uc_map *map)
{
    json_t *object = uc_map_header(map);
    if (!object || !map || !map->eigenvalues)
        return object;
    json_t *list = json_array();
    for (size_t i = 0; i < map->dimension && list; i++)
        if (json_array_append_new(list, json_real(map->eigenvalues[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    if (json_object_set_new(object, "eigenvalues", list) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *norms_json(const uc_model *self)
{
    json_t *list = json_array();
    for (size_t k = 0; k < self->classes.count && list; k++) {
        double sum = 0.0;
        for (size_t j = 0; j < self->dimension; j++)
            sum += uc_model_weight(self, j, k) * uc_model_weight(self, j, k);
        if (json_array_append_new(list, json_real(isfinite(sum) ? sqrt(sum) : 0.0)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

uc_status uc_model_describe(char **text, const uc_model *self)
{
    static const char *const scalings[] = {"none", "range", "standard", "maxabs"};
    char checksum[16];
    snprintf(checksum, sizeof checksum, "%08x", self->checksum);
    json_t *object = json_pack(
        "{s:s, s:s, s:O, s:O, s:I, s:I, s:o, s:f, s:{s:s, s:b, s:b}, s:o, s:o, s:b, s:b, s:i, s:s}", "kind",
        "model", "learner", self->learner, "settings", self->settings, "summary", self->summary, "features",
        (json_int_t)self->features, "dimension", (json_int_t)self->dimension, "classes",
        classes_json(&self->classes), "bias", self->bias, "steps", "scale",
        scalings[self->preprocessing.scaling], "normalize_input", (int)self->preprocessing.normalize_input,
        "normalize", (int)self->preprocessing.normalize, "map", map_json(self->preprocessing.map),
        "weight_norms", norms_json(self), "probabilities", (int)self->probabilities, "resumable",
        self->state.counters != NULL, "format_version", (int)self->format_version, "checksum", checksum);
    if (object && json_object_update_missing(object, self->summary) != 0) {
        json_decref(object); /* what training found stands at the top as well */
        object = NULL;
    }
    char *copy = object ? uc_json_text(object) : NULL;
    json_decref(object);
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
