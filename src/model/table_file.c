/* The part of the model file for a table: the header member "table", which lists the columns, and the arrays
 * table.values (the values of all categories, each ended by a zero byte), table.words (the slots of words),
 * table.fill, table.shift and table.factor (what the encoder learned; earlier versions had no shift). Columns
 * are listed by name, so that their order in the training file does not matter. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "data/table.h"
#include "model/model_file.h"

#define MOST_COLUMNS 1000000

/* ---- writing ---- */

static json_t *column_header(const uc_table_column *self)
{
    return json_pack("{s:s, s:s, s:b, s:b, s:b, s:i, s:I}", "name", self->name, "type",
                     uc_column_type_name(self->type), "whole", (int)self->whole, "missing",
                     (int)self->has_missing, "hour", (int)self->has_hour, "form", (int)self->form, "values",
                     (json_int_t)self->values.count);
}

json_t *uc_table_header(const uc_table *table)
{
    const char decimal[2] = {table->decimal, '\0'};
    json_t *columns = json_array();
    const uc_table_column **order = uc_alloc(table->column_count, sizeof(uc_table_column *));
    if (!order) {
        json_decref(columns);
        return NULL;
    }
    uc_table_order(order, table);
    for (size_t i = 0; i < table->column_count; i++)
        json_array_append_new(columns, column_header(order[i]));
    uc_free(order);
    return json_pack("{s:b, s:b, s:s, s:s*, s:o}", "named", (int)table->named, "plain", (int)table->plain,
                     "decimal", decimal, "missing_values", table->missing_list, "columns", columns);
}

uc_status uc_table_values(char **out, size_t *length, const uc_table *table)
{
    *length = 0;
    for (size_t c = 0; c < table->column_count; c++)
        for (size_t k = 0; k < table->columns[c].values.count; k++)
            *length += strlen(table->columns[c].values.text[k]) + 1;
    char *joined = uc_alloc(*length, 1), *end = joined;
    const uc_table_column **order = uc_alloc(table->column_count, sizeof(uc_table_column *));
    if (!joined || !order) {
        uc_free(joined);
        uc_free(order);
        return UC_ERR_NOMEM;
    }
    uc_table_order(order, table);
    for (size_t c = 0; c < table->column_count; c++) {
        const uc_names *values = &order[c]->values;
        for (size_t k = 0; k < values->count; k++)
            end = stpcpy(end, values->text[k]) + 1;
    }
    uc_free(order);
    *out = joined;
    return UC_OK;
}

size_t uc_table_arrays(uc_array arrays[UC_TABLE_ARRAYS], const uc_table *table, const char *values,
                       size_t length)
{
    size_t filled = 0;
    arrays[filled++] = (uc_array){"table.values", UC_ARRAY_U8, values, length};
    if (table->words)
        arrays[filled++] =
            (uc_array){"table.words", UC_ARRAY_U32, table->words, table->features - table->text_first};
    if (table->fill)
        arrays[filled++] = (uc_array){"table.fill", UC_ARRAY_F64, table->fill, table->text_first};
    if (table->shift)
        arrays[filled++] = (uc_array){"table.shift", UC_ARRAY_F64, table->shift, table->text_first};
    if (table->factor)
        arrays[filled++] = (uc_array){"table.factor", UC_ARRAY_F64, table->factor, table->features};
    return filled;
}

/* ---- reading ---- */

static uc_status damaged(const uc_container *file)
{
    return uc_fail(UC_ERR_FORMAT, "%s: damaged: its table does not make sense", file->source);
}

static uc_status find_values(const char **out, size_t *length, const uc_container *file)
{
    uc_array array;
    for (size_t i = 0;; i++) {
        const uc_status status = uc_container_array_at(&array, file, i);
        if (status != UC_OK)
            return status;
        if (!array.name)
            return damaged(file);
        if (strcmp(array.name, "table.values") == 0 && array.type == UC_ARRAY_U8)
            break;
    }
    *out = array.data;
    *length = array.count;
    return UC_OK;
}

static uc_status read_values(uc_names *out, const char **at, const char *end, json_int_t count,
                             const uc_container *file)
{
    for (json_int_t k = 0; k < count; k++) {
        const size_t left = (size_t)(end - *at), size = strnlen(*at, left);
        uint32_t index;
        if (left == 0 || size == left)
            return damaged(file);
        const uc_status status = uc_names_add(&index, out, *at, size);
        if (status != UC_OK)
            return status;
        if (index != (uint32_t)k)
            return damaged(file);
        *at += size + 1;
    }
    return UC_OK;
}

static uc_status read_column(uc_table_column *out, const json_t *json, const char **at, const char *end,
                             const uc_container *file)
{
    const char *name, *type;
    int whole, missing, hour, form;
    json_int_t values;
    if (json_unpack((json_t *)json, "{s:s, s:s, s:b, s:b, s:b, s:i, s:I}", "name", &name, "type", &type,
                    "whole", &whole, "missing", &missing, "hour", &hour, "form", &form, "values",
                    &values) != 0)
        return damaged(file);
    if (!uc_column_type_read(&out->type, type, strlen(type)) || form < 0 || form >= UC_DATE_FORMS ||
        (out->type == UC_COLUMN_BOOLEAN && form >= UC_BOOLEANS) || values < 0 ||
        (values > 0 && out->type != UC_COLUMN_CATEGORY))
        return damaged(file);
    out->whole = whole;
    out->has_missing = missing;
    out->has_hour = hour;
    out->form = (unsigned)form;
    out->name = uc_strdup(name);
    if (!out->name)
        return UC_ERR_NOMEM;
    return read_values(&out->values, at, end, values, file);
}

static uc_status read_learned(double **out, const uc_container *file, const char *name, size_t count)
{
    const void *data;
    const uc_status status = uc_container_array(&data, file, name, UC_ARRAY_F64, count);
    if (status != UC_OK)
        return status;
    const double *values = data;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return damaged(file);
    *out = uc_alloc(count, sizeof **out);
    if (!*out)
        return UC_ERR_NOMEM;
    memcpy(*out, values, count * sizeof **out);
    return UC_OK;
}

static uc_status read_words(uc_table *self, const uc_container *file, size_t features)
{
    const void *data;
    if (features < self->text_first || features - self->text_first > UC_TEXT_FEATURES)
        return damaged(file);
    const size_t count = features - self->text_first;
    const uc_status status = uc_container_array(&data, file, "table.words", UC_ARRAY_U32, count);
    if (status != UC_OK)
        return status;
    const uint32_t *words = data;
    for (size_t w = 0; w < count; w++)
        if (words[w] >= UC_TEXT_FEATURES || (w > 0 && words[w] <= words[w - 1]))
            return damaged(file);
    return uc_table_take_words(self, words, count);
}

static uc_status fill_table(uc_table *self, const uc_container *file, const json_t *json, size_t features)
{
    const char *decimal = json_string_value(json_object_get(json, "decimal"));
    const char *missing = json_string_value(json_object_get(json, "missing_values"));
    const json_t *columns = json_object_get(json, "columns");
    const char *values = NULL;
    size_t length = 0;
    self->named = json_is_true(json_object_get(json, "named"));
    self->plain = json_is_true(json_object_get(json, "plain"));
    if (!decimal || (strcmp(decimal, ".") != 0 && strcmp(decimal, ",") != 0))
        return damaged(file);
    self->decimal = *decimal;
    uc_status status = uc_missing_read(&self->missing, missing);
    if (status == UC_OK && missing && !(self->missing_list = uc_strdup(missing)))
        status = UC_ERR_NOMEM;
    if (status == UC_OK)
        status = find_values(&values, &length, file);
    const char *end = values + length;
    for (size_t i = 0; i < self->column_count && status == UC_OK; i++)
        status = read_column(&self->columns[i], json_array_get(columns, i), &values, end, file);
    for (size_t i = 0; i < self->column_count && status == UC_OK; i++)
        if (self->plain && uc_column_is_feature(self->columns[i].type) &&
            (self->columns[i].type != UC_COLUMN_NUMBER || self->columns[i].has_missing))
            status = damaged(file);
    if (status == UC_OK)
        status = uc_table_index_names(self);
    if (status == UC_ERR_FORMAT)
        return damaged(file);
    if (status == UC_OK)
        status = uc_table_lay_out(self);
    if (status == UC_OK && self->features > self->text_first)
        status = read_words(self, file, features);
    if (status == UC_OK && self->features != features)
        status = damaged(file);
    if (status == UC_OK && !self->plain)
        status = read_learned(&self->fill, file, "table.fill", self->text_first);
    if (status == UC_OK && self->sparse && uc_container_has(file, "table.shift"))
        status = read_learned(&self->shift, file, "table.shift", self->text_first);
    if (status == UC_OK && self->sparse)
        status = read_learned(&self->factor, file, "table.factor", self->features);
    self->learned = status == UC_OK;
    return status;
}

uc_status uc_table_read(uc_table **out, const uc_container *file, size_t features)
{
    const json_t *json = json_object_get(file->header, "table");
    const json_t *columns = json_object_get(json, "columns");
    const size_t count = json_array_size(columns);
    uc_table *table = NULL;
    if (!json)
        return UC_OK;
    if (count == 0 || count > MOST_COLUMNS)
        return damaged(file);
    uc_status status = uc_table_create(&table, count);
    if (status != UC_OK)
        return status;
    status = fill_table(table, file, json, features);
    if (status == UC_OK)
        *out = table;
    else
        uc_table_free(table);
    return status;
}

/* ---- a table on its own ---- */

static const char magic[8] = "\x89UCTABL\n";

uc_status uc_table_save_memory(void **bytes, size_t *length, const uc_table *self)
{
    char *values = NULL;
    size_t values_length = 0;
    uc_array arrays[UC_TABLE_ARRAYS];
    json_t *table = uc_table_header(self);
    json_t *header =
        table ? json_pack("{s:o, s:I}", "table", table, "features", (json_int_t)self->features) : NULL;
    uc_status status = header ? uc_table_values(&values, &values_length, self) : UC_ERR_NOMEM;
    if (status == UC_OK) {
        const size_t count = uc_table_arrays(arrays, self, values, values_length);
        status = uc_container_write_memory(bytes, length, magic, 1, header, arrays, count);
    }
    json_decref(header);
    uc_free(values);
    return status;
}

void uc_table_bytes_free(void *bytes)
{
    uc_free(bytes);
}

uc_status uc_table_load_memory(uc_table **out, const void *bytes, size_t length, const char *name)
{
    uc_container file;
    uc_table *table = NULL;
    uc_status status = uc_container_open(&file, bytes, length, magic, 1, true, name);
    if (status != UC_OK)
        return status;
    const json_int_t features = json_integer_value(json_object_get(file.header, "features"));
    if (features < 0 || features > INT32_MAX)
        status = damaged(&file);
    else
        status = uc_table_read(&table, &file, (size_t)features);
    if (status == UC_OK && !table)
        status = damaged(&file);
    uc_container_close(&file);
    if (status == UC_OK)
        *out = table;
    return status;
}
