/* Creating, copying and freeing tables, and the names and positions of their features. */
#include "data/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {"drop",     "id",   "boolean", "number", "date",
                                         "category", "text", "label",   "bag",    "weight"};

const char *uc_column_type_name(uc_column_type type)
{
    return type_names[type];
}

bool uc_column_type_read(uc_column_type *out, const char *text, size_t length)
{
    for (int type = UC_COLUMN_DROP; type <= UC_COLUMN_WEIGHT; type++)
        if (strlen(type_names[type]) == length && memcmp(type_names[type], text, length) == 0) {
            *out = (uc_column_type)type;
            return true;
        }
    return false;
}

bool uc_column_is_feature(uc_column_type type)
{
    return type >= UC_COLUMN_BOOLEAN && type <= UC_COLUMN_TEXT;
}

/* ---- creating, sharing and freeing ---- */

uc_status uc_table_create(uc_table **out, size_t columns)
{
    uc_table *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    atomic_init(&self->owners, 1);
    self->decimal = '.';
    self->columns = uc_alloc(columns, sizeof *self->columns);
    if (!self->columns) {
        uc_free(self);
        return UC_ERR_NOMEM;
    }
    self->column_count = columns;
    for (size_t i = 0; i < columns; i++)
        self->columns[i].low = self->columns[i].high = (double)NAN;
    *out = self;
    return UC_OK;
}

uc_table *uc_table_share(const uc_table *self)
{
    uc_table *shared = (uc_table *)self; /* the number of owners changes, although `self` is const */
    if (shared)
        atomic_fetch_add(&shared->owners, 1);
    return shared;
}

static void free_column(uc_table_column *self)
{
    uc_free(self->name);
    uc_free(self->why);
    uc_names_free(&self->values);
    for (size_t i = 0; i < UC_TOP_VALUES; i++)
        uc_free(self->top[i]);
}

void uc_table_free(uc_table *self)
{
    if (!self || atomic_fetch_sub(&self->owners, 1) > 1)
        return;
    for (size_t i = 0; i < self->column_count; i++)
        free_column(&self->columns[i]);
    uc_free(self->columns);
    uc_free(self->column_of);
    uc_names_free(&self->names);
    uc_missing_free(&self->missing);
    uc_free(self->missing_list);
    uc_free(self->words);
    uc_free(self->word_of);
    uc_free(self->fill);
    uc_free(self->shift);
    uc_free(self->factor);
    uc_free(self);
}

/* Copies an array; NULL stays NULL. */
static bool copy_array(void *out, const void *from, size_t count, size_t size)
{
    void **to = out;
    if (!from)
        return true;
    *to = uc_alloc(count, size);
    if (*to)
        memcpy(*to, from, count * size);
    return *to != NULL;
}

static uc_status copy_column(uc_table_column *out, const uc_table_column *self)
{
    *out = (uc_table_column){.type = self->type,
                             .whole = self->whole,
                             .has_missing = self->has_missing,
                             .has_hour = self->has_hour,
                             .form = self->form,
                             .first = self->first,
                             .features = self->features,
                             .seed = self->seed,
                             .low = (double)NAN,
                             .high = (double)NAN};
    out->name = uc_strdup(self->name);
    return out->name ? uc_names_copy(&out->values, &self->values) : UC_ERR_NOMEM;
}

uc_status uc_table_copy(uc_table **out, const uc_table *self)
{
    uc_table *copy;
    const size_t words = self->features - self->text_first;
    uc_status status = uc_table_create(&copy, self->column_count);
    if (status != UC_OK)
        return status;
    copy->named = self->named;
    copy->plain = self->plain;
    copy->learned = self->learned;
    copy->sparse = self->sparse;
    copy->decimal = self->decimal;
    copy->features = self->features;
    copy->text_first = self->text_first;
    copy->number_count = self->number_count;
    for (size_t i = 0; i < self->column_count && status == UC_OK; i++)
        status = copy_column(&copy->columns[i], &self->columns[i]);
    if (status == UC_OK)
        status = uc_names_copy(&copy->names, &self->names);
    if (status == UC_OK)
        status = uc_missing_read(&copy->missing, self->missing_list);
    const bool complete =
        status == UC_OK &&
        copy_array(&copy->missing_list, self->missing_list,
                   self->missing_list ? strlen(self->missing_list) + 1 : 0, 1) &&
        copy_array(&copy->column_of, self->column_of, self->text_first, sizeof *self->column_of) &&
        copy_array(&copy->words, self->words, words, sizeof *self->words) &&
        copy_array(&copy->word_of, self->word_of, UC_TEXT_FEATURES, sizeof *self->word_of) &&
        copy_array(&copy->fill, self->fill, self->text_first, sizeof *self->fill) &&
        copy_array(&copy->shift, self->shift, self->text_first, sizeof *self->shift) &&
        copy_array(&copy->factor, self->factor, self->features, sizeof *self->factor);
    if (status == UC_OK && !complete)
        status = UC_ERR_NOMEM;
    if (status == UC_OK)
        *out = copy;
    else
        uc_table_free(copy);
    return status;
}

/* ---- positions of features ---- */

static size_t features_of(const uc_table_column *self)
{
    switch (self->type) {
    case UC_COLUMN_BOOLEAN:
    case UC_COLUMN_NUMBER:
        return 1 + (size_t)self->has_missing;
    case UC_COLUMN_DATE:
        return 4 + (size_t)self->has_hour + (size_t)self->has_missing;
    case UC_COLUMN_CATEGORY:
        return self->values.count + 1 + (size_t)self->has_missing;
    default:
        return 0;
    }
}

static int compare_names(const void *a, const void *b)
{
    const uc_table_column *x = *(const uc_table_column *const *)a, *y = *(const uc_table_column *const *)b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x > y) - (x < y);
}

void uc_table_order(const uc_table_column **order, const uc_table *self)
{
    for (size_t i = 0; i < self->column_count; i++)
        order[i] = &self->columns[i];
    if (self->named && !self->plain)
        qsort(order, self->column_count, sizeof *order, compare_names);
}

static uc_status assign_features(uc_table *self)
{
    uc_free(self->column_of);
    self->column_of = uc_alloc(self->text_first, sizeof *self->column_of);
    if (!self->column_of)
        return UC_ERR_NOMEM;
    for (size_t c = 0; c < self->column_count; c++)
        for (size_t i = 0; i < self->columns[c].features; i++)
            self->column_of[self->columns[c].first + i] = (uint32_t)c;
    return UC_OK;
}

uc_status uc_table_lay_out(uc_table *self)
{
    const uc_table_column **order = uc_alloc(self->column_count, sizeof(uc_table_column *));
    bool text = false;
    if (!order)
        return UC_ERR_NOMEM;
    uc_table_order(order, self);
    self->features = self->number_count = 0;
    for (size_t i = 0; i < self->column_count; i++) {
        uc_table_column *column = &self->columns[order[i] - self->columns];
        column->first = self->features;
        column->features = features_of(column);
        self->features += column->features;
        self->number_count += column->type == UC_COLUMN_NUMBER;
        text = text || column->type == UC_COLUMN_TEXT;
        column->seed = uc_value_mark(UC_MARK, column->name, strlen(column->name));
    }
    uc_free(order);
    self->text_first = self->features;
    if (text)
        self->features += UC_TEXT_FEATURES;
    self->sparse = !self->plain && (text || self->features > UC_DENSE_FEATURES);
    return assign_features(self);
}

bool uc_table_centres(const uc_table *self, size_t feature)
{
    if (feature >= self->text_first)
        return false;
    const uc_table_column *column = &self->columns[self->column_of[feature]];
    const bool is_flag = column->has_missing && feature + 1 == column->first + column->features;
    const bool few_numbers = column->type == UC_COLUMN_NUMBER && self->number_count <= UC_DENSE_FEATURES;
    return self->sparse && !is_flag && (column->type == UC_COLUMN_DATE || few_numbers);
}

uc_status uc_table_take_words(uc_table *self, const uint32_t *words, size_t count)
{
    self->words = uc_alloc(count, sizeof *self->words);
    self->word_of = uc_alloc(UC_TEXT_FEATURES, sizeof *self->word_of);
    if (!self->words || !self->word_of)
        return UC_ERR_NOMEM;
    memset(self->word_of, 0xff, UC_TEXT_FEATURES * sizeof *self->word_of);
    for (size_t w = 0; w < count; w++) {
        self->words[w] = words[w];
        self->word_of[words[w]] = (uint32_t)(self->text_first + w);
    }
    self->features = self->text_first + count;
    return UC_OK;
}

size_t uc_table_find(const uc_table *self, const char *name, size_t length)
{
    const uint32_t index = uc_names_find(&self->names, name, length);
    return index == UC_NONE ? SIZE_MAX : index;
}

uc_status uc_table_index_names(uc_table *self)
{
    for (size_t i = 0; i < self->column_count; i++) {
        const char *name = self->columns[i].name;
        uint32_t index;
        const uc_status status = uc_names_add(&index, &self->names, name, strlen(name));
        if (status != UC_OK)
            return status;
        if (index != i)
            return uc_fail(UC_ERR_FORMAT, "two columns have the same name");
    }
    return UC_OK;
}

uc_status uc_table_check_features(const uc_table *self, const char *source)
{
    if (self->features > 0)
        return UC_OK;
    return uc_fail(UC_ERR_FORMAT, "%s: no column can be a feature: inspect shows what they are", source);
}

/* ---- queries ---- */

size_t uc_table_rows(const uc_table *self)
{
    return self->rows;
}

size_t uc_table_column_count(const uc_table *self)
{
    return self->column_count;
}

size_t uc_table_features(const uc_table *self)
{
    return self->features;
}

int uc_table_is_sparse(const uc_table *self)
{
    return self->sparse;
}

int uc_table_is_plain(const uc_table *self)
{
    return self->plain;
}

const char *uc_table_decided(const uc_table *self, const uc_read_settings *settings)
{
    const char *missing = settings->missing_values, *decimal = settings->decimal;
    if (settings->drop)
        return "drop";
    if (settings->columns)
        return "columns";
    if (settings->id) {
        const size_t column = uc_table_find(self, settings->id, strlen(settings->id));
        if (column == SIZE_MAX || self->columns[column].type != UC_COLUMN_ID)
            return "id";
    }
    if (missing && (!self->missing_list || strcmp(missing, self->missing_list) != 0))
        return "missing-values";
    if (decimal && *decimal != self->decimal)
        return "decimal";
    return settings->max_categories != UC_MAX_CATEGORIES ? "max-categories" : NULL;
}

void uc_table_column_at(uc_column *out, const uc_table *self, size_t i)
{
    const uc_table_column *column = &self->columns[i];
    *out = (uc_column){.name = column->name,
                       .type = column->type,
                       .first = column->first,
                       .features = column->features,
                       .missing = column->missing,
                       .distinct = column->distinct,
                       .distinct_is_exact = column->distinct_is_exact,
                       .low = column->low,
                       .high = column->high,
                       .top_count = column->top_count,
                       .why = column->why};
    if (column->type == UC_COLUMN_TEXT) {
        out->first = self->text_first;
        out->features = self->features - self->text_first;
    }
    for (size_t t = 0; t < column->top_count; t++) {
        out->top[t].text = column->top[t];
        out->top[t].rows = column->top_rows[t];
    }
}

static void name_part(char *out, size_t size, const uc_table_column *column, size_t part)
{
    static const char *const of_dates[] = {"days", "year", "month", "weekday", "hour"};
    if (column->has_missing && part + 1 == column->features)
        snprintf(out, size, "%s is missing", column->name);
    else if (column->type == UC_COLUMN_DATE)
        snprintf(out, size, "%s %s", column->name, of_dates[part]);
    else if (column->type == UC_COLUMN_CATEGORY && part < column->values.count)
        snprintf(out, size, "%s=%s", column->name, column->values.text[part]);
    else if (column->type == UC_COLUMN_CATEGORY)
        snprintf(out, size, "%s=other", column->name);
    else
        snprintf(out, size, "%s", column->name);
}

void uc_table_feature_name(char *out, size_t size, const uc_table *self, size_t feature)
{
    if (feature >= self->text_first) {
        const size_t word = feature - self->text_first;
        snprintf(out, size, "text %zu", self->words ? (size_t)self->words[word] : word);
        return;
    }
    const uc_table_column *column = &self->columns[self->column_of[feature]];
    name_part(out, size, column, feature - column->first);
}
