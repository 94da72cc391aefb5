/* Columns for named features.
 *
 *   "age": 31            column "age", value 31
 *   "city": "Paris"      column "city=Paris", value 1
 *   "title": "two words" a column "title~H" for each word, H its hash; the value is how often it occurs
 *
 * A hash has 18 bits, so that an unlimited number of words needs a limited number of columns. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"
#include "service/features.h"

#define HASH_BITS 18
#define LONGEST_CATEGORY 256 /* bytes; longer text is split into words */
#define LONGEST_NAME 1024    /* of a column: a name of 255 bytes, and a category */

void encoded_free(encoded *self)
{
    free(self->values);
    free(self->columns);
    *self = (encoded){0};
}

encoded encoded_copy(uc_row row)
{
    encoded copy = {.values = app_calloc(row.count, sizeof *copy.values)};
    if (row.count > 0)
        memcpy(copy.values, row.values, row.count * sizeof *copy.values);
    if (row.columns) {
        copy.columns = app_calloc(row.count, sizeof *copy.columns);
        if (row.count > 0)
            memcpy(copy.columns, row.columns, row.count * sizeof *copy.columns);
    }
    copy.row = (uc_row){row.count, copy.values, copy.columns};
    return copy;
}

void dictionary_free(dictionary *self)
{
    uc_names_free(&self->columns);
    uc_names_free(&self->fields);
    free(self->is_text);
    *self = (dictionary){0};
}

/* ---- what is accepted ---- */

static const char *kind_words(features_kind kind)
{
    return kind == FEATURES_NAMED ? "an object of names" : "an array or an object of column numbers";
}

/* Rows by position may be arrays or indexed; named features are another kind. */
static bool check_kinds(const dictionary *self, const features *given, problem *why)
{
    const bool named = given->kind == FEATURES_NAMED;
    if (given->count > 0 && self->kind && named != (self->kind == FEATURES_NAMED))
        return problem_set(why, 400, "features: %s, but this model's examples have been %s so far",
                           kind_words(given->kind), kind_words(self->kind));
    for (size_t i = 0; i < given->count && named; i++) {
        const feature *item = &given->items[i];
        const uint32_t field = uc_names_find(&self->fields, item->name, strlen(item->name));
        if (field != UC_NONE && self->is_text[field] != (item->text != NULL))
            return problem_set(why, 400, "features: %.80s is %s, but it has been %s so far", item->name,
                               item->text ? "text" : "a number", item->text ? "a number" : "text");
    }
    return true;
}

static bool add_fields(dictionary *self, const features *given, problem *why)
{
    for (size_t i = 0; i < given->count; i++) {
        const feature *item = &given->items[i];
        uint32_t field;
        if (self->fields.count + 1 > self->text_capacity) {
            self->text_capacity = 2 * self->text_capacity + 16;
            self->is_text = app_realloc(self->is_text, self->text_capacity, 1);
        }
        const size_t before = self->fields.count;
        if (uc_names_add(&field, &self->fields, item->name, strlen(item->name)) != UC_OK)
            return problem_set(why, 503, "not enough memory for another feature name");
        if (field == before)
            self->is_text[field] = item->text != NULL;
    }
    return true;
}

/* ---- columns ---- */

typedef struct cell {
    uint32_t column;
    float value;
} cell;

typedef struct cells {
    cell *items;
    size_t count, capacity;
    bool only_known; /* names that have no column yet are only counted */
    size_t unknown;
} cells;

static bool add_cell(cells *out, dictionary *self, const char *name, size_t length, float value, problem *why)
{
    uint32_t column = uc_names_find(&self->columns, name, length);
    if (out->only_known && column == UC_NONE) {
        out->unknown++;
        return true;
    }
    if (column == UC_NONE && uc_names_add(&column, &self->columns, name, length) != UC_OK)
        return problem_set(why, 503, "not enough memory for another column");
    if (out->count == out->capacity) {
        out->capacity = 2 * out->capacity + 16;
        out->items = app_realloc(out->items, out->capacity, sizeof *out->items);
    }
    out->items[out->count++] = (cell){column, value};
    return true;
}

static bool is_word(char byte)
{
    return isalnum((unsigned char)byte) || (unsigned char)byte >= 0x80;
}

/* FNV-1a of the field's name, a zero byte and the word in lower case. */
static uint32_t hash_of(const char *field, const char *word, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *at = field;; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
        if (!*at)
            break;
    }
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)tolower((unsigned char)word[i])) * UINT64_C(0x100000001b3);
    return (uint32_t)((hash ^ (hash >> 32)) & ((1u << HASH_BITS) - 1));
}

static bool add_words(cells *out, dictionary *self, const feature *item, problem *why)
{
    char name[LONGEST_NAME];
    for (const char *at = item->text; *at;) {
        size_t length = 0;
        while (is_word(at[length]))
            length++;
        if (length > 0) {
            const int size =
                snprintf(name, sizeof name, "%s~%u", item->name, hash_of(item->name, at, length));
            if (!add_cell(out, self, name, (size_t)size, 1.0f, why))
                return false;
        }
        at += length;
        at += *at && !is_word(*at);
    }
    return true;
}

static bool is_words(const char *text)
{
    return strpbrk(text, " \t\r\n") || strlen(text) > LONGEST_CATEGORY;
}

const char *features_words(const features *self)
{
    for (size_t i = 0; i < self->count && self->kind == FEATURES_NAMED; i++)
        if (self->items[i].text && is_words(self->items[i].text))
            return self->items[i].name;
    return NULL;
}

static bool add_item(cells *out, dictionary *self, const feature *item, problem *why)
{
    char name[LONGEST_NAME];
    if (!item->text)
        return add_cell(out, self, item->name, strlen(item->name), item->value, why);
    if (is_words(item->text))
        return add_words(out, self, item, why);
    const int size = snprintf(name, sizeof name, "%s=%s", item->name, item->text);
    return add_cell(out, self, name, strnlen(name, (size_t)size), 1.0f, why);
}

static int by_column(const void *a, const void *b)
{
    const uint32_t first = ((const cell *)a)->column, second = ((const cell *)b)->column;
    return (first > second) - (first < second);
}

/* Makes a sparse row; values in the same column are added. */
static void make_sparse(encoded *out, cells *found)
{
    size_t count = 0;
    if (found->count > 0)
        qsort(found->items, found->count, sizeof *found->items, by_column);
    out->values = app_calloc(found->count, sizeof *out->values);
    out->columns = app_calloc(found->count, sizeof *out->columns);
    for (size_t i = 0; i < found->count; i++) {
        if (count > 0 && out->columns[count - 1] == found->items[i].column) {
            out->values[count - 1] += found->items[i].value;
            continue;
        }
        out->columns[count] = found->items[i].column;
        out->values[count++] = found->items[i].value;
    }
    out->row = (uc_row){count, out->values, out->columns};
}

static bool encode_names(encoded *out, dictionary *self, const features *given, problem *why)
{
    cells new = {.only_known = true}, found = {0};
    for (size_t i = 0; i < given->count; i++)
        (void)add_item(&new, self, &given->items[i], why);
    free(new.items);
    if (self->columns.count + new.unknown > FEATURES_MOST_COLUMNS)
        return problem_set(why, 400, "features: %zu new names would be more than %d columns", new.unknown,
                           FEATURES_MOST_COLUMNS);
    bool added = add_fields(self, given, why);
    for (size_t i = 0; i < given->count && added; i++)
        added = add_item(&found, self, &given->items[i], why);
    if (added)
        make_sparse(out, &found);
    free(found.items);
    return added;
}

static void encode_positions(encoded *out, const features *given)
{
    const bool dense = given->kind == FEATURES_DENSE;
    out->values = app_calloc(given->count, sizeof *out->values);
    if (!dense)
        out->columns = app_calloc(given->count, sizeof *out->columns);
    for (size_t i = 0; i < given->count; i++) {
        out->values[i] = given->items[i].value;
        if (!dense)
            out->columns[i] = given->items[i].column;
    }
    out->row = (uc_row){given->count, out->values, out->columns};
}

/* Only looks names up; nothing is added. */
bool dictionary_encode_known(encoded *out, const dictionary *self, const features *given, problem *why)
{
    cells found = {.only_known = true};
    *out = (encoded){0};
    if (!check_kinds(self, given, why))
        return false;
    if (given->kind != FEATURES_NAMED) {
        encode_positions(out, given);
        return true;
    }
    for (size_t i = 0; i < given->count; i++)
        (void)add_item(&found, (dictionary *)self, &given->items[i], why);
    make_sparse(out, &found);
    free(found.items);
    return true;
}

bool dictionary_encode(encoded *out, dictionary *self, const features *given, problem *why)
{
    *out = (encoded){0};
    if (!check_kinds(self, given, why))
        return false;
    if (given->kind != FEATURES_NAMED)
        encode_positions(out, given);
    else if (!encode_names(out, self, given, why))
        return false;
    if (given->count > 0 && !self->kind)
        self->kind = given->kind;
    return true;
}

/* ---- saving and restoring ---- */

json_t *dictionary_json(const dictionary *self)
{
    json_t *text = json_array();
    for (size_t i = 0; i < self->fields.count; i++)
        (void)json_array_append_new(text, json_boolean(self->is_text[i]));
    json_t *columns = json_array(), *fields = json_array();
    for (size_t i = 0; i < self->columns.count; i++)
        (void)json_array_append_new(columns, json_string(self->columns.text[i]));
    for (size_t i = 0; i < self->fields.count; i++)
        (void)json_array_append_new(fields, json_string(self->fields.text[i]));
    return json_pack("{si so so so}", "kind", (int)self->kind, "columns", columns, "fields", fields, "text",
                     text);
}

static bool restore_names(uc_names *out, const json_t *list)
{
    uint32_t index;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (!name || uc_names_add(&index, out, name, strlen(name)) != UC_OK)
            return false;
    }
    return json_is_array(list);
}

bool dictionary_restore(dictionary *out, const json_t *json)
{
    const json_t *text = json_object_get(json, "text");
    *out = (dictionary){.kind = (features_kind)json_integer_value(json_object_get(json, "kind"))};
    if (!restore_names(&out->columns, json_object_get(json, "columns")) ||
        !restore_names(&out->fields, json_object_get(json, "fields")) ||
        json_array_size(text) != out->fields.count) {
        dictionary_free(out);
        return false;
    }
    out->text_capacity = out->fields.count + 16;
    out->is_text = app_calloc(out->text_capacity, 1);
    for (size_t i = 0; i < out->fields.count; i++)
        out->is_text[i] = (char)json_is_true(json_array_get(text, i));
    return true;
}
