/*
 * CSV with columns of several types, and JSON lines. Rows become features as described by a table, which
 * comes from a first look or from a model. Columns are matched by name if the file has names.
 *
 * Dense rows have every feature; sparse rows those that are not 0. Missing numbers are NaN and words are
 * 1 + log(count) until the encoder has learned; with a model's table they are encoded at once.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/encode.h"
#include "data/json_lines.h"
#include "data/layout.h"
#include "data/marks.h"
#include "data/scan.h"
#include "data/table.h"
#include "data/value_index.h"

#define MOST_COUNTS 64 /* log(count) is tabulated up to here */

/* One column of the file. */
typedef struct place {
    size_t column; /* of the table; SIZE_MAX: unused */
    bool is_id;
} place;

typedef struct plan {
    const uc_table *table;
    uc_value_index *categories; /* of the table's columns */
    size_t category_count;      /* copied: the table may be freed before the plan */
    place *places;              /* of the file's columns */
    size_t *order; /* columns of the file by first feature: the order in which sparse rows are written */
    size_t order_count;
    float log_counts[MOST_COUNTS];
} plan;

/* A block's work space: the fields of a row, and the words of its texts. */
typedef struct workspace {
    uc_field *fields;
    uint64_t *marks;
    uint32_t *words; /* columns of words */
    size_t room;     /* of marks and words */
    size_t word_count;
    uc_json_row json;
} workspace;

static void free_workspace(void *own)
{
    workspace *self = own;
    uc_free(self->fields);
    uc_free(self->marks);
    uc_free(self->words);
    uc_json_row_free(&self->json);
    uc_free(self);
}

static workspace *begin_block(uc_text_block *block, const uc_layout *layout)
{
    workspace *self = block->own;
    if (self)
        return self;
    self = uc_alloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->fields = uc_alloc(layout->columns, sizeof *self->fields);
    if (!self->fields) {
        uc_free(self);
        return NULL;
    }
    block->own = self;
    return self;
}

/* ---- values ---- */

/* Where the next values of a row are written. */
typedef struct row_writer {
    uc_text_block *block;
    const plan *plan;
    float *dense; /* NULL: sparse */
} row_writer;

/* Whether a 0 of a sparse row is stored, because it becomes another value, now or when the encoder learns. */
static bool keeps_zero(const uc_table *table, size_t feature)
{
    return uc_table_centres(table, feature) && (!table->learned || table->shift);
}

UC_INLINE void put(const row_writer *self, size_t feature, float value)
{
    const uc_table *table = self->plan->table;
    const bool filled = table->learned && table->fill && isnan(value);
    if (filled)
        value = (float)table->fill[feature];
    if (self->dense) {
        self->dense[feature] = value;
        return;
    }
    if (value == 0.0f && !filled && !keeps_zero(table, feature)) /* a fold may have another median */
        return;
    if (table->learned && table->factor)
        value = uc_encoded_value(table, feature, value);
    uc_text_block *block = self->block;
    block->values[block->pairs] = value;
    block->columns[block->pairs++] = (uint32_t)feature;
}

static void blame_value(const row_writer *self, const uc_table_column *column, const uc_field *field,
                        const char *complaint)
{
    char name[UC_QUOTE_SIZE], text[UC_QUOTE_SIZE];
    uc_text_blame(self->block, "column '%s': '%s' %s", uc_quote(name, column->name, strlen(column->name)),
                  uc_quote(text, field->begin, field->length), complaint);
}

static void put_missing(const row_writer *self, const uc_table_column *column)
{
    const bool category = column->type == UC_COLUMN_CATEGORY;
    const size_t parts = column->features - (size_t)column->has_missing;
    for (size_t i = 0; i < parts && !category; i++)
        put(self, column->first + i, NAN);
    if (column->has_missing)
        put(self, column->first + column->features - 1, 1.0f);
    else if (category) {
        put(self, column->first + column->values.count, 1.0f);
        self->block->unseen++;
    }
}

static void put_number(const row_writer *self, const uc_table_column *column, const uc_field *field)
{
    float value;
    const char decimal = self->plan->table->decimal;
    const bool plain = decimal == '.' &&
                       uc_number_read(&value, field->begin) == field->begin + field->length &&
                       isfinite(value);
    if (!plain && !uc_value_number(&value, field->begin, field->length, decimal))
        blame_value(self, column, field, uc_number_complaint(field->begin, field->length));
    else
        put(self, column->first, value);
}

static void put_boolean(const row_writer *self, const uc_table_column *column, const uc_field *field)
{
    const unsigned word = uc_value_boolean(field->begin, field->length) >> (2 * column->form) & 3;
    if (word == 0)
        blame_value(self, column, field, "is neither of the two words that the column has");
    else
        put(self, column->first, (float)(word >> 1));
}

static void put_date(const row_writer *self, const uc_table_column *column, const uc_field *field)
{
    uc_date date;
    if (!uc_value_date(&date, field->begin, field->length, (uc_date_form)column->form)) {
        char complaint[80];
        snprintf(complaint, sizeof complaint, "is not a date as the column has them: %s",
                 uc_date_form_names[column->form]);
        blame_value(self, column, field, complaint);
        return;
    }
    put(self, column->first, (float)date.days);
    put(self, column->first + 1, (float)date.year);
    put(self, column->first + 2, (float)date.month);
    put(self, column->first + 3, (float)date.weekday);
    if (column->has_hour)
        put(self, column->first + 4, (float)date.hour);
}

static void put_category(const row_writer *self, const uc_table_column *column, const uc_field *field)
{
    const uc_value_index *values = &self->plan->categories[column - self->plan->table->columns];
    const uint32_t index = uc_value_index_find(values, field->begin, field->length);
    size_t feature = column->first + column->values.count;
    if (index != UC_NONE)
        feature = column->first + index;
    else
        self->block->unseen++;
    put(self, feature, 1.0f);
}

static bool make_room(workspace *work, size_t more)
{
    const size_t needed = work->word_count + more;
    if (needed <= work->room)
        return true;
    const size_t room = uc_grown(work->room, needed);
    uint64_t *marks = uc_realloc(work->marks, room, sizeof *marks);
    if (marks)
        work->marks = marks;
    uint32_t *words = uc_realloc(work->words, room, sizeof *words);
    if (words)
        work->words = words;
    if (!marks || !words)
        return false;
    work->room = room;
    return true;
}

/* Adds the words to those of the row's other texts. */
static void add_words(workspace *work, const row_writer *self, const uc_table_column *column,
                      const uc_field *field)
{
    size_t count = 1;
    if (!make_room(work, field->length + 1)) {
        self->block->status = UC_ERR_NOMEM;
        return;
    }
    if (column->whole)
        work->marks[0] = uc_value_mark(column->seed, field->begin, field->length);
    else
        count = uc_value_words(work->marks, field->begin, field->length, column->seed);
    for (size_t i = 0; i < count; i++)
        work->words[work->word_count++] = (uint32_t)(work->marks[i] >> 13) & (uint32_t)(UC_TEXT_FEATURES - 1);
}

static int compare_words(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

#define FEW_WORDS ((size_t)64)

typedef int32_t four __attribute__((vector_size(16)));

/* Sorts a few words by counting the smaller ones for each, so that no branch depends on their order. */
static void sort_few(uint32_t *words, size_t count)
{
    int32_t keys[FEW_WORDS], places[FEW_WORDS];
    for (size_t i = 0; i < FEW_WORDS && i < count + 3; i++) /* the words are all different */
        keys[i] = i < count ? (int32_t)(words[i] * FEW_WORDS + i) : INT32_MAX;
    for (size_t i = 0; i < count; i += 4) {
        four mine, smaller = {0};
        memcpy(&mine, keys + i, sizeof mine);
        for (size_t j = 0; j < count; j++) {
            const four other = {keys[j], keys[j], keys[j], keys[j]};
            smaller -= other < mine;
        }
        memcpy(places + i, &smaller, sizeof smaller);
    }
    for (size_t i = 0; i < count; i++)
        words[places[i]] = (uint32_t)keys[i] / FEW_WORDS;
}

static void sort_words(uint32_t *words, size_t count)
{
    if (count > FEW_WORDS)
        qsort(words, count, sizeof *words, compare_words);
    else if (count > 1)
        sort_few(words, count);
}

static void put_words(workspace *work, const row_writer *self)
{
    const size_t first = self->plan->table->text_first;
    sort_words(work->words, work->word_count);
    for (size_t i = 0; i < work->word_count;) {
        size_t end = i + 1;
        while (end < work->word_count && work->words[end] == work->words[i])
            end++;
        const size_t count = end - i;
        float value = 0.0f;
        if (count < MOST_COUNTS)
            value = self->plan->log_counts[count];
        else
            value = (float)(1.0 + log((double)count));
        const uint32_t *word_of = self->plan->table->word_of;
        const size_t feature = word_of ? word_of[work->words[i]] : first + work->words[i];
        if (feature != UC_NONE)
            put(self, feature, value);
        i = end;
    }
    work->word_count = 0;
}

static void put_value(workspace *work, const row_writer *self, const uc_table_column *column,
                      const uc_field *field)
{
    const uc_table *table = self->plan->table;
    if (uc_is_missing(&table->missing, field->begin, field->length)) {
        if (table->plain)
            blame_value(self, column, field, "is missing, and the model knows no such rows");
        else
            put_missing(self, column);
        return;
    }
    switch (column->type) {
    case UC_COLUMN_NUMBER:
        put_number(self, column, field);
        break;
    case UC_COLUMN_BOOLEAN:
        put_boolean(self, column, field);
        break;
    case UC_COLUMN_DATE:
        put_date(self, column, field);
        break;
    case UC_COLUMN_CATEGORY:
        put_category(self, column, field);
        break;
    case UC_COLUMN_TEXT:
        add_words(work, self, column, field);
        break;
    default:
        break;
    }
}

/* ---- rows ---- */

static bool cut_json_row(workspace *work, uc_text_block *block, const uc_layout *layout, char **at)
{
    block->status = uc_json_cut_row(work->fields, &work->json, layout, at);
    if (block->status == UC_ERR_FORMAT)
        uc_text_blame(block, "%s", work->json.line.problem);
    return block->status == UC_OK;
}

static bool cut_row(workspace *work, uc_text_block *block, const uc_layout *layout, uc_marks *marks,
                    char **at)
{
    if (layout->json)
        return cut_json_row(work, block, layout, at);
    size_t count = 0;
    const size_t line = block->lines;
    uc_field unused = {0};
    for (char *p = *at;; p++) {
        uc_field *field = count < layout->columns ? &work->fields[count] : &unused;
        const char *problem = uc_marks_cut(field, &p, marks);
        if (problem) {
            block->lines = line;
            uc_text_blame(block, "%s", problem);
            return false;
        }
        for (size_t i = 0; field->quoted && i < field->length; i++)
            block->lines += field->begin[i] == '\n';
        count++;
        if (*p == '\n') {
            *at = p;
            break;
        }
    }
    if (count == layout->columns)
        return true;
    block->lines = line;
    uc_text_blame(block, "%zu column%s, but the first line has %zu%s", count, count == 1 ? "" : "s",
                  layout->columns, uc_ragged_hint(count, layout->columns, &unused));
    return false;
}

static void read_name(uc_text_block *block, const uc_reader *reader, const uc_layout *layout,
                      const uc_field *field, bool is_label)
{
    if (field->length == 0 && is_label && reader->table->learned && reader->settings.table)
        block->y[block->rows] = UC_NONE; /* a row to predict */
    else if (field->length == 0 && is_label)
        uc_layout_blame_label(block, layout, &reader->settings);
    else if (field->length == 0)
        uc_text_blame(block, "no bag");
    else if (is_label)
        uc_text_class(block, reader, field->begin, field->length);
    else
        uc_text_bag(block, reader, field->begin, field->length);
}

static void read_weight(uc_text_block *block, const uc_field *field)
{
    char text[UC_QUOTE_SIZE];
    double *weight = &block->weights[block->rows];
    if (field->length == 0 || !uc_field_real(weight, field) || !(*weight >= 0.0 && isfinite(*weight)))
        uc_text_blame(block, "'%s' is not a weight: a finite number of 0 or more",
                      uc_quote(text, field->begin, field->length));
}

static void read_row(workspace *work, uc_text_block *block, const uc_reader *reader, const uc_layout *layout)
{
    const plan *own = reader->own;
    const uc_table *table = own->table;
    row_writer writer = {block, own, NULL};
    if (!reader->sparse) {
        writer.dense = block->values + block->rows * reader->rows.X.stride;
        memset(writer.dense, 0, reader->rows.X.stride * sizeof *writer.dense);
    }
    for (size_t i = 0; i < own->order_count && block->status == UC_OK; i++) {
        const size_t c = own->order[i];
        put_value(work, &writer, &table->columns[own->places[c].column], &work->fields[c]);
    }
    put_words(work, &writer);
    if (reader->sparse)
        block->ends[block->rows] = block->pair_base + block->pairs;
    if (block->status == UC_OK && layout->label != UC_NO_COLUMN)
        read_name(block, reader, layout, &work->fields[layout->label], true);
    if (block->status == UC_OK && layout->bag != UC_NO_COLUMN)
        read_name(block, reader, layout, &work->fields[layout->bag], false);
    if (block->status == UC_OK && layout->weight != UC_NO_COLUMN)
        read_weight(block, &work->fields[layout->weight]);
    for (size_t c = 0; c < layout->columns && block->ids; c++)
        if (own->places[c].is_id)
            block->ids[block->rows] = work->fields[c];
}

static void parse(uc_text_block *block, const uc_reader *reader, const void *user)
{
    const uc_layout *layout = user;
    workspace *work = begin_block(block, layout);
    if (!work) {
        block->status = UC_ERR_NOMEM;
        return;
    }
    work->word_count = 0;
    uc_marks marks;
    uc_marks_begin(&marks, block->begin, block->end, layout->delimiter);
    for (char *p = block->begin; p < block->end; p++) {
        block->lines++;
        char *first = uc_skip_padding(p, layout->delimiter);
        if (*first == '\n') {
            p = first;
            continue;
        }
        const size_t line = block->lines;
        if (!cut_row(work, block, layout, &marks, &p))
            return;
        const size_t last = block->lines; /* problems are reported at a record's first line */
        block->lines = line;
        read_row(work, block, reader, layout);
        if (block->status != UC_OK)
            return;
        block->lines = last;
        block->rows++;
    }
}

/* ---- beginning ---- */

/* A row has at most as many values as its columns can have, plus two per word of text. */
static void bound(uc_text_block *block, const void *user)
{
    const uc_layout *layout = user;
    block->colons = block->newlines * layout->values_per_row + 2 * uc_scan_words(block->begin, block->end);
}

static const char *name_at(size_t i, const void *user)
{
    const char *const *names = user;
    return names[i];
}

/* Lists the names of the file's columns that the table does not have, terminated by NULL. */
static uc_status list_strangers(const char ***out, const uc_layout *layout, const uc_table *table)
{
    const char **names = uc_alloc(layout->columns + 1, sizeof *names);
    size_t count = 0;
    if (!names)
        return UC_ERR_NOMEM;
    *out = names;
    /* With JSON, the names are the table's. */
    for (size_t i = 0; i < layout->columns && layout->names && !layout->json; i++)
        if (uc_table_find(table, layout->names[i], strlen(layout->names[i])) == SIZE_MAX)
            names[count++] = layout->names[i];
    return UC_OK;
}

#define MOST_MISSING ((size_t)20)
#define MISSING_TEXT (2 * UC_QUOTE_SIZE + 40)

/* Lists the missing columns, except the first, in `text`. */
static void list_missing(char text[MOST_MISSING * MISSING_TEXT], const uc_table *table, const size_t *missing,
                         size_t count, const char *const *strangers)
{
    char *to = text;
    for (size_t i = 1; i < count && i < MOST_MISSING; i++) {
        char quoted[UC_QUOTE_SIZE], near_name[UC_QUOTE_SIZE];
        const char *name = table->columns[missing[i]].name,
                   *near = uc_names_nearest(name, name_at, strangers);
        to += sprintf(to, "%s'%s'", i == 1 ? "; nor is there " : ", ", uc_quote(quoted, name, strlen(name)));
        if (near)
            to += sprintf(to, " (did you mean '%s'?)", uc_quote(near_name, near, strlen(near)));
    }
    if (count > MOST_MISSING)
        sprintf(to, " (and %zu more)", count - MOST_MISSING);
}

/* `any`: some column of the model was found. Otherwise the file has other names, or none. */
static uc_status refuse_missing(const uc_reader *self, const uc_layout *layout, const uc_table *table,
                                const size_t *missing, size_t count, bool any)
{
    char quoted[UC_QUOTE_SIZE], near_name[UC_QUOTE_SIZE], hint[UC_QUOTE_SIZE + 40] = "";
    char others[MOST_MISSING * MISSING_TEXT] = "";
    const char **strangers = NULL, *name = table->columns[missing[0]].name;
    uc_status status = list_strangers(&strangers, layout, table);
    if (status != UC_OK)
        return status;
    const char *near = uc_names_nearest(name, name_at, strangers);
    if (near)
        snprintf(hint, sizeof hint, "; did you mean '%s'?", uc_quote(near_name, near, strlen(near)));
    else if (!any)
        snprintf(hint, sizeof hint, "; does its first line name the columns?");
    if (near || any)
        list_missing(others, table, missing, count, strangers);
    status = uc_fail(UC_ERR_INVALID, "%s: there is no column '%s', which the model was trained on%s%s",
                     uc_input_name(self->input), uc_quote(quoted, name, strlen(name)), hint, others);
    uc_free(strangers);
    return status;
}

/* Whether none of the lines looked at has the key although training rows all had it. Otherwise a key that is
 * absent means a missing value. */
static bool is_absent(const uc_layout *layout, const uc_table *table, size_t column)
{
    const uc_table_column *one = &table->columns[column];
    return layout->json && table->learned && !layout->present[column] && !one->has_missing &&
           one->type != UC_COLUMN_TEXT;
}

/* Fails unless all features of the table are present. */
static uc_status check_missing(const uc_reader *reader, const uc_layout *layout, const uc_table *table,
                               const bool *found, bool any)
{
    size_t count = 0, missing[MOST_MISSING];
    for (size_t c = 0; c < table->column_count; c++) {
        if ((found[c] && !is_absent(layout, table, c)) || !uc_column_is_feature(table->columns[c].type))
            continue;
        if (count < MOST_MISSING)
            missing[count] = c;
        count++;
    }
    if (count == 0)
        return UC_OK;
    return refuse_missing(reader, layout, table, missing, count, any);
}

/* Finds the table's column for each column of the file. */
static uc_status match_columns(plan *self, uc_reader *reader, const uc_layout *layout)
{
    const uc_table *table = self->table;
    bool *found = uc_alloc(table->column_count, sizeof *found);
    if (!found)
        return UC_ERR_NOMEM;
    size_t place_of = 0;
    bool id = false, any = false;
    for (size_t i = 0; i < layout->columns; i++) {
        size_t column;
        if (layout->names && table->named) {
            column = uc_table_find(table, layout->names[i], strlen(layout->names[i]));
        } else if (!uc_layout_is_feature(layout, i)) {
            column = SIZE_MAX;
        } else {
            while (place_of < table->column_count && table->columns[place_of].type >= UC_COLUMN_LABEL)
                place_of++;
            column = place_of < table->column_count ? place_of++ : SIZE_MAX;
        }
        const bool known = column != SIZE_MAX && !found[column];
        self->places[i].column = SIZE_MAX;
        if (!known) {
            reader->extra += uc_layout_is_feature(layout, i);
            continue;
        }
        found[column] = any = true;
        const uc_column_type type = table->columns[column].type;
        if (uc_column_is_feature(type) && uc_layout_is_feature(layout, i))
            self->places[i].column = column;
        self->places[i].is_id = type == UC_COLUMN_ID && !id;
        id = id || type == UC_COLUMN_ID;
    }
    const uc_status status = check_missing(reader, layout, table, found, any);
    uc_free(found);
    reader->has_ids = id && !reader->whole;
    return status;
}

/* Orders columns by their first features; text columns can be anywhere, since their features are put last. */
static void order_columns(plan *self, size_t columns)
{
    const uc_table *table = self->table;
    for (size_t i = 0; i < columns; i++) {
        if (self->places[i].column == SIZE_MAX)
            continue;
        size_t at = self->order_count++;
        const size_t first = table->columns[self->places[i].column].first;
        for (; at > 0 && table->columns[self->places[self->order[at - 1]].column].first > first; at--)
            self->order[at] = self->order[at - 1];
        self->order[at] = i;
    }
}

static void free_plan(plan *self)
{
    if (!self)
        return;
    for (size_t c = 0; c < self->category_count; c++)
        uc_value_index_free(&self->categories[c]);
    uc_free(self->categories);
    uc_free(self->places);
    uc_free(self->order);
    uc_free(self);
}

static uc_status make_plan(uc_reader *reader, const uc_layout *layout)
{
    plan *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    reader->own = self;
    self->table = reader->table;
    self->categories = uc_alloc(self->table->column_count, sizeof *self->categories);
    self->places = uc_alloc(layout->columns, sizeof *self->places);
    self->order = uc_alloc(layout->columns, sizeof *self->order);
    if (!self->categories || !self->places || !self->order)
        return UC_ERR_NOMEM;
    for (size_t i = 1; i < MOST_COUNTS; i++)
        self->log_counts[i] = (float)(1.0 + log((double)i));
    uc_status status = UC_OK;
    for (; self->category_count < self->table->column_count && status == UC_OK; self->category_count++)
        status = uc_value_index_create(&self->categories[self->category_count],
                                       &self->table->columns[self->category_count].values);
    if (status == UC_OK)
        status = match_columns(self, reader, layout);
    if (status == UC_OK)
        order_columns(self, layout->columns);
    return status;
}

static uc_status begin(uc_reader *self)
{
    static const uc_text_hooks sparse = {.bound = bound, .free_own = free_workspace};
    static const uc_text_hooks dense = {.free_own = free_workspace};
    uc_layout *layout;
    uc_status status = uc_table_layout_begin(&layout, self, parse);
    if (status == UC_OK)
        status = make_plan(self, layout);
    if (status != UC_OK)
        return status;
    self->sparse = self->table->sparse;
    self->rows.X.cols = self->table->features;
    if (!self->sparse)
        self->rows.X.stride = uc_matrix_stride(self->table->features);
    for (size_t c = 0; c < self->table->column_count; c++)
        layout->values_per_row +=
            self->table->columns[c].type == UC_COLUMN_CATEGORY ? 1 : self->table->columns[c].features;
    uc_text_set_hooks(self, self->sparse ? &sparse : &dense);
    return UC_OK;
}

static void end(uc_reader *self)
{
    uc_text_end(self);
    free_plan(self->own);
    self->own = NULL;
}

const uc_data_format uc_format_table = {"csv", begin, uc_text_next, end, uc_text_cut};
const uc_data_format uc_format_jsonl = {"jsonl", begin, uc_text_next, end, uc_text_cut};
