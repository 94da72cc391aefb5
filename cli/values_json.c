/* Values from the library as JSON. */
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
