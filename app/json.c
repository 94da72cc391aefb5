/* JSON from the library's types. Only app_main prints it. */
#include "app/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"

json_t *app_json_text(const char *text)
{
    json_t *result = json_string(text);
    if (result)
        return result;
    char *replaced = app_calloc(3 * strlen(text) + 1, 1), *end = replaced;
    for (; *text; text++)
        if ((unsigned char)*text < 0x80)
            *end++ = *text;
        else
            end = (char *)memcpy(end, "\xEF\xBF\xBD", 3) + 3;
    result = json_string(replaced);
    free(replaced);
    return result;
}

json_t *app_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *app_json_reals(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, app_json_real(values[i]));
    return list;
}

json_t *app_json_matrix(const double *values, size_t rows, size_t columns)
{
    if (!values)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < rows; i++)
        json_array_append_new(list, app_json_reals(values + i * columns, columns));
    return list;
}

json_t *app_json_texts(char *const *texts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, app_json_text(texts[i]));
    return list;
}

json_t *app_json_names(const uc_names *names)
{
    json_t *list = json_array();
    for (size_t i = 0; i < names->count; i++)
        json_array_append_new(list, app_json_text(names->text[i]));
    return list;
}

json_t *app_json_option(const uc_option *option, const void *settings)
{
    char text[64];
    const void *field = (const char *)settings + option->offset;
    if (option->type == UC_OPTION_TEXT) {
        const char *value = *(const char *const *)field;
        return value ? app_json_text(value) : json_null();
    }
    uc_option_text(option, settings, text, sizeof text);
    if (strcmp(text, "auto") == 0 || option->type == UC_OPTION_CHOICE || option->type == UC_OPTION_PAIR)
        return json_string(text);
    if (option->type == UC_OPTION_FLAG)
        return json_boolean(*(const int *)field);
    if (option->type == UC_OPTION_REAL)
        return app_json_real(*(const double *)field);
    return json_integer((json_int_t) * (const uint64_t *)field);
}

void app_json_settings(json_t *object, const uc_option *table, const void *settings)
{
    for (; table->name; table++)
        json_object_set_new(object, table->name, app_json_option(table, settings));
}

json_t *app_json_table(const uc_option *table)
{
    static const char *const types[] = {"flag", "count", "real", "choice", "text", "bytes", "pair"};
    json_t *list = json_array();
    for (; table->name; table++) {
        json_t *option = json_pack("{ss ss ss? ss?}", "name", table->name, "type", types[table->type],
                                   "default", table->standard, "choices", table->choices);
        const bool bounded = table->type == UC_OPTION_REAL || table->type == UC_OPTION_PAIR;
        if (table->type == UC_OPTION_COUNT || bounded) {
            json_object_set_new(option, "low", app_json_real(table->low));
            json_object_set_new(option, "high", app_json_real(table->high));
        }
        json_object_set_new(option, "help",
                            table->help ? json_string(app_in_words(table->help)) : json_null());
        json_array_append_new(list, option);
    }
    return list;
}
