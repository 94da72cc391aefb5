/*
 * CSV and TSV: a table of numbers, with a column of labels and perhaps columns of bags and weights. Rows are
 * dense.
 *
 * The first line is a header if a field that should be a feature is not a number, or if the label's field is
 * simply a usual name for it. delimited.h explains how lines become fields.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <string.h>

#include "data/layout.h"
#include "data/marks.h"
#include "data/table.h"
#include "data/text.h"

/* ---- the rows ---- */

static void blame_column(uc_text_block *block, const uc_layout *self, size_t column, const char *complaint,
                         const uc_field *value)
{
    char name[UC_QUOTE_SIZE], text[UC_QUOTE_SIZE], where[80];
    if (self->names)
        snprintf(where, sizeof where, "column '%s'",
                 uc_quote(name, self->names[column], strlen(self->names[column])));
    else
        snprintf(where, sizeof where, "column %zu", column + 1);
    if (value->length == 0)
        uc_text_blame(block, "%s is empty", where);
    else
        uc_text_blame(block, "%s: '%s' %s", where, uc_quote(text, value->begin, value->length), complaint);
}

/* A model of numbers alone has no median to replace a missing value by. */
static bool blame_missing(uc_text_block *block, const uc_reader *reader, const uc_layout *self, size_t column,
                          const uc_field *value)
{
    const uc_table *known = reader->settings.table;
    char name[UC_QUOTE_SIZE];
    if (!known || !self->names || !uc_is_missing(&known->missing, value->begin, value->length))
        return false;
    uc_quote(name, self->names[column], strlen(self->names[column]));
    uc_text_blame(
        block,
        "column '%s' has no value, and a model of numbers alone has no median for it: fill it in, or "
        "give the column's type, number, when training",
        name);
    return true;
}

/* Reports a line that has `count` fields up to p and then ends, or continues. */
static void blame_ragged(uc_text_block *block, const uc_layout *self, size_t count, char *p)
{
    uc_field unused = {.length = 1};
    while (*p != '\n') {
        count++;
        p++;
        if (uc_field_cut_record(&unused, &p, self->delimiter))
            break;
    }
    uc_text_blame(block, "%zu column%s, but the first line has %zu%s", count, count == 1 ? "" : "s",
                  self->columns, uc_ragged_hint(count, self->columns, &unused));
}

static void read_name(uc_text_block *block, const uc_reader *reader, const uc_layout *self, size_t column,
                      const uc_field *name)
{
    for (size_t i = 0; i < name->length; i++)
        if ((unsigned char)name->begin[i] < ' ' && uc_text_blame_control(block, name->begin))
            return;
    const bool is_label = column == self->label;
    if (name->length == 0 && is_label)
        uc_layout_blame_label(block, self, &reader->settings);
    else if (name->length == 0)
        uc_text_blame(block, "no bag");
    else if (is_label)
        uc_text_class(block, reader, name->begin, name->length);
    else
        uc_text_bag(block, reader, name->begin, name->length);
}

static void read_weight(uc_text_block *block, const uc_layout *self, const uc_field *field)
{
    double *weight = &block->weights[block->rows];
    if (field->length == 0 || !uc_field_real(weight, field))
        blame_column(block, self, self->weight, "is not a number", field);
    else if (!(*weight >= 0.0 && isfinite(*weight)))
        blame_column(block, self, self->weight, "is not a weight: a finite number of 0 or more", field);
}

/* Reads a field that is not simply a number: a label, a bag, a weight, or a quoted or bad field. Returns its
 * end; NULL if it is bad. */
static char *read_field(uc_text_block *block, const uc_reader *reader, const uc_layout *self, size_t column,
                        char *p, float *value)
{
    uc_field field;
    const char *start = p, *problem = uc_field_cut_record(&field, &p, self->delimiter);
    for (size_t i = 0; !problem && field.quoted && i < field.length; i++)
        block->lines += field.begin[i] == '\n';
    if (problem) {
        uc_text_blame(block, "%s", problem);
    } else if (column == self->weight) {
        read_weight(block, self, &field);
    } else if (!uc_layout_is_feature(self, column)) {
        read_name(block, reader, self, column, &field);
    } else if (field.length == 0 || uc_number_read(value, field.begin) != field.begin + field.length ||
               !isfinite(*value)) {
        block->not_numbers = true;
        if (!uc_text_blame_control(block, start) && !blame_missing(block, reader, self, column, &field))
            blame_column(block, self, column, uc_number_complaint(field.begin, field.length), &field);
    }
    return block->status == UC_OK ? p : NULL;
}

/* Numbers of a row that are still in a batch, and their destination. */
typedef struct waiting {
    uc_batch batch;
    float *values;
} waiting;

static void empty_batch(waiting *self)
{
    const size_t count = self->batch.count;
    if (count > 0)
        uc_batch_numbers(self->values, &self->batch);
    self->values += count;
}

/* Reads the feature at p into `value`, perhaps via the batch. Returns its end, or NULL if it is bad. */
UC_INLINE char *read_feature(waiting *self, uc_marks *marks, char *p, float *value)
{
    uc_marks_reach(marks, p);
    const size_t place = (size_t)(p - marks->begin);
    const unsigned length = uc_marks_length(marks, place);
    const uint64_t others = uc_marks_at(marks->others, place) & (((uint64_t)1 << length) - 1);
    if (uc_batch_add(&self->batch, p, length, others)) {
        self->batch.count++;
        if (self->batch.count == UC_BATCH)
            empty_batch(self);
        return p + length;
    }
    empty_batch(self);
    self->values++;
    return uc_field_float(value, p, marks->delimiter);
}

/* Reads the row at p into the block's next row. Returns the end of its line, or NULL if it is bad. */
UC_INLINE char *read_row(uc_text_block *block, uc_marks *marks, const uc_reader *reader,
                         const uc_layout *self, char *p)
{
    const size_t stride = reader->rows.X.stride, columns = self->columns;
    const size_t label = self->label, bag = self->bag, weight = self->weight;
    float *value = block->values + block->rows * stride, *const row_end = value + stride;
    waiting numbers;
    numbers.batch.count = 0;
    numbers.values = value;
    for (size_t column = 0;; column++, p++) {
        char *end = NULL;
        if (column != label && column != bag && column != weight) {
            end = read_feature(&numbers, marks, p, value);
            if (!end)
                end = read_field(block, reader, self, column, p, value);
            value++;
        } else {
            end = read_field(block, reader, self, column, p, NULL);
        }
        if (!end)
            return NULL;
        p = end;
        const bool last = column + 1 == columns, ended = *p == '\n';
        if (last != ended) {
            blame_ragged(block, self, column + 1, p);
            return NULL;
        }
        if (ended)
            break;
    }
    empty_batch(&numbers);
    assert(value <= row_end);
    while (value < row_end)
        *value++ = 0.0f;
    return p;
}

UC_INLINE void parse_lines(uc_text_block *block, const uc_reader *reader, const uc_layout *self)
{
    uc_marks marks;
    uc_marks_begin(&marks, block->begin, block->end, self->delimiter);
    for (char *p = block->begin; p < block->end; p++) {
        block->lines++;
        char *first = uc_skip_padding(p, self->delimiter);
        if (*first == '\n') {
            p = first;
            continue;
        }
        p = read_row(block, &marks, reader, self, p);
        if (!p)
            return;
        block->rows++;
    }
}

UC_MARKS_FAST static void parse_fast(uc_text_block *block, const uc_reader *reader, const uc_layout *self)
{
    parse_lines(block, reader, self);
}

static void parse(uc_text_block *block, const uc_reader *reader, const void *layout)
{
    if (uc_marks_are_fast())
        parse_fast(block, reader, layout);
    else
        parse_lines(block, reader, layout);
}

static uc_status begin(uc_reader *self)
{
    uc_layout *layout;
    const uc_status status = uc_layout_begin(&layout, self, parse, false);
    if (status != UC_OK)
        return status;
    self->rows.X.cols = layout->features;
    self->rows.X.stride = uc_matrix_stride(layout->features);
    if (layout->names)
        return uc_table_of_numbers(&self->table, layout);
    return UC_OK;
}

const uc_data_format uc_format_csv = {"csv", begin, uc_text_next, uc_text_end, uc_text_cut};
