/* Features from JSON, as canonical bytes, and as JSON again. */
#include "service/features.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"

void features_free(features *self)
{
    free(self->items);
    free(self->texts);
    *self = (features){0};
}

/* ---- from JSON ---- */

/* Reads a number, or true and false, as a finite float. */
static bool read_number(float *out, const json_t *json, const char *at, const char *name, problem *why)
{
    double value = json_number_value(json);
    if (json_is_boolean(json))
        value = json_is_true(json) ? 1.0 : 0.0;
    else if (!json_is_number(json))
        return problem_set(why, 400, "%s: the value of %.80s is not a number", at, name);
    *out = (float)value + 0.0f; /* -0 becomes 0, as it would in an export of the journal */
    if (!isfinite(*out))
        return problem_set(why, 400, "%s: the value of %.80s, %g, is beyond the numbers of a row, 3.4e38", at,
                           name, value);
    return true;
}

static bool read_array(features *out, const json_t *json, const char *at, problem *why)
{
    out->kind = FEATURES_DENSE;
    out->count = json_array_size(json);
    out->items = app_calloc(out->count, sizeof *out->items);
    for (size_t i = 0; i < out->count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "number %zu", i + 1);
        out->items[i].column = (uint32_t)i;
        if (!read_number(&out->items[i].value, json_array_get(json, i), at, name, why))
            return false;
    }
    return true;
}

/* Whether the key is a column number, which starts from 1 as in files. */
static bool is_index(const char *key, uint32_t *column)
{
    const size_t length = strlen(key);
    if (length == 0 || length > 9 || strspn(key, "0123456789") != length)
        return false;
    *column = (uint32_t)strtoul(key, NULL, 10);
    return true;
}

static bool all_indexes(const json_t *json)
{
    const char *key;
    json_t *value;
    uint32_t column;
    json_object_foreach((json_t *)json, key, value) if (!is_index(key, &column)) return false;
    return true;
}

static int by_column(const void *a, const void *b)
{
    const uint32_t first = ((const feature *)a)->column, second = ((const feature *)b)->column;
    return (first > second) - (first < second);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const feature *)a)->name, ((const feature *)b)->name);
}

static bool read_index(feature *out, const char *key, const json_t *value, const char *at, problem *why)
{
    (void)is_index(key, &out->column);
    if (out->column == 0 || out->column > FEATURES_MOST_COLUMNS)
        return problem_set(why, 400, "%s: column %s is not an integer from 1 to %d", at, key,
                           FEATURES_MOST_COLUMNS);
    out->column--;
    return read_number(&out->value, value, at, key, why);
}

static bool read_named(feature *out, const char *key, const json_t *value, const char *at, problem *why)
{
    if (!*key || strlen(key) > 255)
        return problem_set(why, 400, "%s: the name '%.40s' does not have 1 to 255 bytes", at, key);
    out->name = key;
    out->value = 1.0f;
    if (!json_is_string(value))
        return read_number(&out->value, value, at, key, why);
    out->text = json_string_value(value);
    return true;
}

static bool read_object(features *out, const json_t *json, features_kind kind, const char *at, problem *why)
{
    const char *key;
    json_t *value;
    const bool indexed = kind == FEATURES_INDEXED;
    out->kind = kind;
    out->items = app_calloc(json_object_size(json), sizeof *out->items);
    json_object_foreach((json_t *)json, key, value)
    {
        feature *item = &out->items[out->count];
        if (json_is_null(value))
            continue;
        if (!(indexed ? read_index(item, key, value, at, why) : read_named(item, key, value, at, why)))
            return false;
        out->count++;
    }
    qsort(out->items, out->count, sizeof *out->items, indexed ? by_column : by_name);
    for (size_t i = 1; i < out->count && indexed; i++)
        if (out->items[i].column == out->items[i - 1].column)
            return problem_set(why, 400, "%s: column %u occurs twice", at, out->items[i].column + 1);
    return true;
}

static features_kind kind_of(const json_t *json)
{
    if (json_is_array(json))
        return FEATURES_DENSE;
    return all_indexes(json) ? FEATURES_INDEXED : FEATURES_NAMED;
}

bool features_read(features *out, const json_t *json, const char *at, problem *why)
{
    return features_read_as(out, json, kind_of(json), at, why);
}

bool features_read_as(features *out, const json_t *json, features_kind kind, const char *at, problem *why)
{
    *out = (features){0};
    bool read = false;
    if (json_array_size(json) > FEATURES_MOST || json_object_size(json) > FEATURES_MOST)
        (void)problem_set(why, 400, "%s: more than %d features in one example", at, FEATURES_MOST);
    else if (json_is_array(json) && kind == FEATURES_DENSE)
        read = read_array(out, json, at, why);
    else if (json_is_object(json) && (kind == FEATURES_INDEXED || kind == FEATURES_NAMED))
        read = read_object(out, json, kind, at, why);
    else
        (void)problem_set(why, 400, "%s: expected an array of numbers or an object", at);
    if (!read)
        features_free(out);
    return read;
}

/* ---- bytes ---- */

/* Dense: floats. Indexed: column, float. Named: name 0 then 'n' float, or 't' text 0. */
char *features_bytes(const features *self, size_t *size)
{
    size_t room = 1;
    for (size_t i = 0; i < self->count; i++) {
        const feature *item = &self->items[i];
        room += 2 * sizeof(float) + 4;
        room += item->name ? strlen(item->name) : 0;
        room += item->text ? strlen(item->text) : 0;
    }
    char *bytes = app_calloc(room, 1), *end = bytes;
    *end++ = (char)self->kind;
    for (size_t i = 0; i < self->count; i++) {
        const feature *item = &self->items[i];
        if (self->kind == FEATURES_INDEXED) {
            memcpy(end, &item->column, sizeof item->column);
            end += sizeof item->column;
        }
        if (self->kind == FEATURES_NAMED && item->name) { /* all of them have one */
            const size_t length = strlen(item->name) + 1;
            memcpy(end, item->name, length);
            end += length;
            *end++ = item->text ? 't' : 'n';
        }
        if (item->text) {
            const size_t length = strlen(item->text) + 1;
            memcpy(end, item->text, length);
            end += length;
        } else {
            memcpy(end, &item->value, sizeof item->value);
            end += sizeof item->value;
        }
    }
    *size = (size_t)(end - bytes);
    return bytes;
}

/* Takes a text that ends with a zero byte before `end`; NULL if it does not. */
static const char *take_text(const char **at, const char *end)
{
    const char *text = *at, *zero = memchr(text, 0, (size_t)(end - text));
    if (!zero)
        return NULL;
    *at = zero + 1;
    return text;
}

static bool take(void *out, size_t size, const char **at, const char *end)
{
    if ((size_t)(end - *at) < size)
        return false;
    memcpy(out, *at, size);
    *at += size;
    return true;
}

static bool take_item(feature *out, features_kind kind, size_t position, const char **at, const char *end)
{
    *out = (feature){.column = (uint32_t)position, .value = 1.0f};
    char type = 'n';
    if (kind == FEATURES_INDEXED && !take(&out->column, sizeof out->column, at, end))
        return false;
    if (kind == FEATURES_NAMED) {
        out->name = take_text(at, end);
        if (!out->name || !take(&type, 1, at, end))
            return false;
    }
    if (type == 't')
        return (out->text = take_text(at, end)) != NULL;
    return type == 'n' && take(&out->value, sizeof out->value, at, end);
}

bool features_parse(features *out, const char *bytes, size_t size)
{
    const char *at = bytes + 1, *end = bytes + size;
    *out = (features){0};
    if (size == 0 || bytes[0] < FEATURES_DENSE || bytes[0] > FEATURES_NAMED)
        return false;
    out->kind = (features_kind)bytes[0];
    out->items = app_calloc(size / sizeof(float) + 1, sizeof *out->items);
    while (at < end)
        if (!take_item(&out->items[out->count], out->kind, out->count, &at, end)) {
            features_free(out);
            return false;
        } else {
            out->count++;
        }
    return true;
}

/* ---- to JSON ---- */

static const char *const kind_names[] = {"", "array", "columns", "names"};

const char *features_kind_name(features_kind kind)
{
    return kind_names[kind];
}

features_kind features_named_kind(const json_t *name, const json_t *json)
{
    const char *typed = json_string_value(name);
    if (!name)
        return kind_of(json);
    for (int kind = FEATURES_DENSE; kind <= FEATURES_NAMED; kind++)
        if (typed && strcmp(typed, kind_names[kind]) == 0)
            return (features_kind)kind;
    return (features_kind)0;
}

/* The shortest number that is the same float after parsing it like JSON, that is, as a double. */
static json_t *number_json(float value)
{
    char text[32];
    if (value == floorf(value) && fabsf(value) < 1e9f)
        return json_integer((json_int_t)value);
    for (int digits = 6; digits <= 9; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if ((float)strtod(text, NULL) == value)
            break;
    }
    return json_real(strtod(text, NULL));
}

json_t *features_json(const features *self)
{
    json_t *json = self->kind == FEATURES_DENSE ? json_array() : json_object();
    for (size_t i = 0; i < self->count; i++) {
        const feature *item = &self->items[i];
        json_t *value = item->text ? json_string(item->text) : number_json(item->value);
        char index[16];
        (void)snprintf(index, sizeof index, "%u", item->column + 1);
        if (self->kind == FEATURES_DENSE)
            (void)json_array_append_new(json, value);
        else
            (void)json_object_set_new(json, item->name ? item->name : index, value);
    }
    return json;
}
