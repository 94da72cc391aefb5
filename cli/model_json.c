/* The summary of a model as JSON. */
#include "cli.h"

static json_t *list_json(const uc_values *values);

static json_t *as_json(const uc_value *value)
{
    switch (value->kind) {
    case UC_VALUE_FLAG:
        return json_boolean(value->flag);
    case UC_VALUE_COUNT:
        return json_integer(value->count);
    case UC_VALUE_REAL:
        return app_json_real(value->real);
    case UC_VALUE_TEXT:
        return app_json_text(value->text);
    case UC_VALUE_OBJECT:
        return cli_json_values(value->members);
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
    for (size_t i = 0; i < values->count; i++)
        json_array_append_new(list, as_json(&values->items[i]));
    return list;
}

json_t *cli_json_value(const uc_values *values, const char *name)
{
    const uc_value *value = uc_values_find(values, name);
    return value ? as_json(value) : json_null();
}

json_t *cli_json_values(const uc_values *values)
{
    json_t *object = json_object();
    for (size_t i = 0; i < values->count; i++)
        json_object_set_new(object, values->items[i].name, as_json(&values->items[i]));
    return object;
}

static json_t *map_json(const uc_model_summary *self)
{
    if (!self->map.kernel)
        return json_string(self->map.kind);
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(self->map.kind));
    json_object_set_new(object, "kernel", json_string(self->map.kernel));
    json_object_set_new(object, "width", app_json_real(self->map.width));
    json_object_set_new(object, "degree", app_json_real(self->map.degree));
    json_object_set_new(object, "coefficient", app_json_real(self->map.coefficient));
    json_object_set_new(object, "landmarks", json_integer((json_int_t)self->map.landmarks));
    json_object_set_new(object, "columns", json_integer((json_int_t)self->map.columns));
    json_object_set_new(object, "dimension", json_integer((json_int_t)self->map.dimension));
    json_object_set_new(object, "sparse", json_boolean(self->map.sparse));
    if (self->map.eigenvalues)
        json_object_set_new(object, "eigenvalues",
                            app_json_reals(self->map.eigenvalues, self->map.dimension));
    return object;
}

json_t *cli_json_model(const uc_model_summary *self)
{
    json_t *object = json_object(), *found = cli_json_values(&self->found);
    char checksum[16];
    snprintf(checksum, sizeof checksum, "%08x", self->checksum);
    json_object_set_new(object, "kind", json_string("model"));
    json_object_set_new(object, "learner", app_json_text(self->learner));
    json_object_set_new(object, "settings", cli_json_values(&self->settings));
    json_object_set(object, "summary", found);
    json_object_set_new(object, "features", json_integer((json_int_t)self->features));
    json_object_set_new(object, "dimension", json_integer((json_int_t)self->dimension));
    json_object_set_new(object, "classes", app_json_names(self->classes));
    json_object_set_new(object, "bias", app_json_real(self->bias));
    json_object_set_new(object, "steps",
                        json_pack("{ss sb sb}", "scale", self->scale, "normalize_input",
                                  (int)self->normalize_input, "normalize", (int)self->normalize));
    json_object_set_new(object, "map", map_json(self));
    json_object_set_new(object, "weight_norms", app_json_reals(self->weight_norms, self->classes->count));
    json_object_set_new(object, "probabilities", json_boolean(self->probabilities));
    json_object_set_new(object, "resumable", json_boolean(self->resumable));
    json_object_set_new(object, "format_version", json_integer((json_int_t)self->format_version));
    json_object_set_new(object, "checksum", json_string(checksum));
    json_object_update_missing(object, found); /* what training found stands at the top as well */
    json_decref(found);
    return object;
}
