/* The summary of a model as one JSON object. Only this file defines its members. */
#include <string.h>

#include "model/model.h"

/* JSON text must be UTF-8. In a name that is not, other bytes become the replacement character U+FFFD. */
static json_t *name_json(const char *name)
{
    static const char sign[] = "\xEF\xBF\xBD";
    json_t *text = json_string(name);
    if (text)
        return text;
    char *copy = uc_alloc(3 * strlen(name) + 1, 1), *end = copy;
    if (!copy)
        return NULL;
    for (; *name; name++)
        if ((unsigned char)*name < 0x80)
            *end++ = *name;
        else
            end = (char *)memcpy(end, sign, 3) + 3;
    text = json_string(copy);
    uc_free(copy);
    return text;
}

/* Appends an item, which may be NULL for "no memory". *list becomes NULL if there is no memory. */
static void append(json_t **list, json_t *item)
{
    if (json_array_append_new(*list, item) == 0)
        return;
    json_decref(*list);
    *list = NULL;
}

static json_t *names_json(const uc_names *names)
{
    json_t *list = json_array();
    for (size_t i = 0; i < names->count && list; i++)
        append(&list, name_json(names->text[i]));
    return list;
}

static json_t *reals_json(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && list; i++)
        append(&list, json_real(values[i]));
    return list;
}

static json_t *values_json(const uc_values *values);
static json_t *list_json(const uc_values *values);

static json_t *value_json(const uc_value *value)
{
    switch (value->kind) {
    case UC_VALUE_FLAG:
        return json_boolean(value->flag);
    case UC_VALUE_COUNT:
        return json_integer(value->count);
    case UC_VALUE_REAL:
        return json_real(value->real);
    case UC_VALUE_TEXT:
        return json_string(value->text);
    case UC_VALUE_OBJECT:
        return values_json(value->members);
    case UC_VALUE_LIST:
        return list_json(value->members);
    case UC_VALUE_NONE:
        break;
    }
    return json_null();
}

static json_t *list_json(const uc_values *values)
{
    json_t *list = json_array();
    for (size_t i = 0; i < values->count && list; i++)
        append(&list, value_json(&values->items[i]));
    return list;
}

static json_t *values_json(const uc_values *values)
{
    json_t *object = json_object();
    for (size_t i = 0; i < values->count && object; i++)
        if (json_object_set_new(object, values->items[i].name, value_json(&values->items[i])) != 0) {
            json_decref(object);
            object = NULL;
        }
    return object;
}

static json_t *map_json(const uc_model_summary *self)
{
    if (!self->map.kernel)
        return json_string(self->map.kind);
    json_t *object = json_pack("{s:s, s:s, s:f, s:f, s:f, s:I, s:I, s:I, s:b}", "kind", self->map.kind,
                               "kernel", self->map.kernel, "width", self->map.width, "degree",
                               self->map.degree, "coefficient", self->map.coefficient, "landmarks",
                               (json_int_t)self->map.landmarks, "columns", (json_int_t)self->map.columns,
                               "dimension", (json_int_t)self->map.dimension, "sparse", (int)self->map.sparse);
    if (!object || !self->map.eigenvalues)
        return object;
    if (json_object_set_new(object, "eigenvalues", reals_json(self->map.eigenvalues, self->map.dimension)) ==
        0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *uc_summary_json(const uc_model_summary *self)
{
    char checksum[16];
    snprintf(checksum, sizeof checksum, "%08x", self->checksum);
    json_t *found = values_json(&self->found);
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:O, s:I, s:I, s:o, s:f, s:{s:s, s:b, s:b}, s:o, s:o, s:b, s:b, s:i, s:s}", "kind",
        "model", "learner", self->learner, "settings", values_json(&self->settings), "summary", found,
        "features", (json_int_t)self->features, "dimension", (json_int_t)self->dimension, "classes",
        names_json(self->classes), "bias", self->bias, "steps", "scale", self->scale, "normalize_input",
        (int)self->normalize_input, "normalize", (int)self->normalize, "map", map_json(self), "weight_norms",
        reals_json(self->weight_norms, self->classes->count), "probabilities", (int)self->probabilities,
        "resumable", (int)self->resumable, "format_version", (int)self->format_version, "checksum", checksum);
    if (object && json_object_update_missing(object, found) != 0) {
        json_decref(object); /* results of training also become members of the object itself */
        object = NULL;
    }
    json_decref(found);
    if (object && self->views > 0 &&
        json_object_set_new(object, "views", json_integer((json_int_t)self->views)) != 0) {
        json_decref(object);
        object = NULL;
    }
    return object;
}
