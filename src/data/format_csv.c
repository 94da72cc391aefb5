/*
 * CSV and TSV: a table of numbers, with a column of labels and perhaps ones of bags and weights. Rows are
 * dense.
 *
 * The first line is a header when a field that should be a feature is not a number, or when the label's field
 * is just its usual name. How lines become fields is delimited.h's business.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "data/delimited.h"
#include "data/text.h"

#define NO_COLUMN SIZE_MAX

typedef struct layout {
    char delimiter;
    size_t columns, features;
    size_t label, bag, weight; /* or NO_COLUMN */
    char **names;              /* of the columns; NULL: there is no header */
} layout;

static bool is_feature(const layout *self, size_t column)
{
    return column != self->label && column != self->bag && column != self->weight;
}

/* ---- the first line ---- */

static void free_layout(void *user)
{
    layout *self = user;
    for (size_t i = 0; self->names && i < self->columns; i++)
        uc_free(self->names[i]);
    uc_free(self->names);
    uc_free(self);
}

static bool is_number(const uc_field *self)
{
    float value;
    return self->length > 0 && uc_number_read(&value, self->begin) == self->begin + self->length;
}

static bool is_called(const uc_field *self, const char *name)
{
    return self->length == strlen(name) && strncasecmp(self->begin, name, self->length) == 0;
}

/* The column whose field in the first line is exactly `name`. */
static size_t find_name(const uc_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (uc_field_equals(&fields[i], name))
            return i;
    return NO_COLUMN;
}

/* The column that a user calls `wanted`: 1, 2, ..., -1 for the last, or a name of the first line, which then
 * is a header. Whether a number is also a name is for the caller to see. */
static uc_status find_column(size_t *out, bool *header, const uc_reader *reader, const char *wanted,
                             const uc_field *fields, size_t count)
{
    const bool from_end = wanted[0] == '-';
    uint64_t number;
    if (uc_parse_count(&number, wanted + from_end, strlen(wanted + from_end))) {
        if (number >= 1 && number <= count) {
            *out = (size_t)number - 1;
            if (from_end)
                *out = count - (size_t)number;
            return UC_OK;
        }
        if (find_name(fields, count, wanted) == NO_COLUMN)
            return uc_fail(UC_ERR_INVALID, "%s: there is no column %s: the file has %zu columns",
                           uc_input_name(reader->input), wanted, count);
    }
    *out = find_name(fields, count, wanted);
    if (*out == NO_COLUMN)
        return uc_fail(UC_ERR_INVALID, "%s: no column is called '%s'", uc_input_name(reader->input), wanted);
    *header = true;
    return UC_OK;
}

/* Unless one is named: a column with one of the usual names, else the last; none when all columns are
 * features. */
static size_t usual_label(bool *header, const uc_reader *reader, const layout *self, const uc_field *fields)
{
    static const char *const names[] = {"label", "class", "target", "y"};
    const size_t others = (size_t)(self->bag != NO_COLUMN) + (size_t)(self->weight != NO_COLUMN);
    for (size_t n = 0; n < 4; n++) {
        if (n == 3 && reader->settings.expected_cols == self->columns - others)
            return NO_COLUMN; /* before `y`, which may well be a feature */
        for (size_t i = 0; i < self->columns; i++)
            if (is_feature(self, i) && is_called(&fields[i], names[n])) {
                *header = *header || n < 3; /* `y` may well be a label: yes or no */
                return i;
            }
    }
    for (size_t i = self->columns; i > 0; i--)
        if (is_feature(self, i - 1))
            return i - 1;
    return NO_COLUMN;
}

static uc_status find_columns(layout *self, bool *header, const uc_reader *reader, const uc_field *fields)
{
    const uc_read_settings *settings = &reader->settings;
    if (settings->bag) {
        const uc_status status =
            find_column(&self->bag, header, reader, settings->bag, fields, self->columns);
        if (status != UC_OK)
            return status;
    }
    if (settings->weight) {
        const uc_status status =
            find_column(&self->weight, header, reader, settings->weight, fields, self->columns);
        if (status != UC_OK)
            return status;
    }
    if (!settings->label)
        self->label = usual_label(header, reader, self, fields);
    else if (strcmp(settings->label, "none") != 0)
        return find_column(&self->label, header, reader, settings->label, fields, self->columns);
    return UC_OK;
}

/* A name of the header is meant before a number. */
static void prefer_name(size_t *column, const char *wanted, const layout *self, const uc_field *fields)
{
    if (!wanted || *column == NO_COLUMN)
        return;
    const size_t named = find_name(fields, self->columns, wanted);
    if (named != NO_COLUMN)
        *column = named;
}

/* No column is two things. */
static uc_status check_distinct(const layout *self, const uc_reader *reader)
{
    const struct {
        const char *name;
        size_t column;
    } named[] = {{"label", self->label}, {"bag", self->bag}, {"weight", self->weight}};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = i + 1; j < 3; j++)
            if (named[i].column != NO_COLUMN && named[i].column == named[j].column)
                return uc_fail(UC_ERR_INVALID, "%s: %s and %s cannot both be column %zu",
                               uc_input_name(reader->input), named[i].name, named[j].name,
                               named[i].column + 1);
    return UC_OK;
}

static uc_status choose_columns(layout *self, bool *header, const uc_reader *reader, const uc_field *fields)
{
    const uc_status status = find_columns(self, header, reader, fields);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < self->columns; i++)
        *header = *header || (is_feature(self, i) && !is_number(&fields[i]));
    if (*header) {
        prefer_name(&self->bag, reader->settings.bag, self, fields);
        prefer_name(&self->weight, reader->settings.weight, self, fields);
        prefer_name(&self->label, reader->settings.label, self, fields);
    }
    const uc_status distinct = check_distinct(self, reader);
    if (distinct != UC_OK)
        return distinct;
    self->features = 0;
    for (size_t i = 0; i < self->columns; i++)
        self->features += is_feature(self, i);
    if (self->features == 0)
        return uc_fail(UC_ERR_FORMAT, "%s: no columns of features", uc_input_name(reader->input));
    return UC_OK;
}

static uc_status keep_names(layout *self, const uc_field *fields)
{
    self->names = uc_alloc(self->columns, sizeof *self->names);
    if (!self->names)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < self->columns; i++) {
        self->names[i] = uc_strndup(fields[i].begin, fields[i].length);
        if (!self->names[i])
            return UC_ERR_NOMEM;
    }
    return UC_OK;
}

/* Cuts a line into at most length + 1 fields. */
static uc_status cut_line(uc_field *fields, size_t *count, const layout *self, const uc_reader *reader,
                          char *line, size_t number)
{
    *count = 0;
    for (char *p = line;; p++) {
        const char *problem = uc_field_cut(&fields[(*count)++], &p, self->delimiter);
        if (problem)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: %s", uc_input_name(reader->input), number, problem);
        if (*p == '\n')
            return UC_OK;
    }
}

/* Learns the layout from a copy of the first line, which cutting may change. */
static uc_status learn_layout(layout *self, bool *header, const uc_reader *reader, const char *line,
                              size_t length, size_t number)
{
    uc_status status = UC_ERR_NOMEM;
    char *copy = uc_alloc(length + 1 + UC_NUMBER_SLACK, 1);
    uc_field *fields = uc_alloc(length + 1, sizeof *fields);
    if (!copy || !fields)
        goto cleanup;
    memcpy(copy, line, length);
    copy[length] = '\n';
    self->delimiter = uc_find_delimiter(line, length);
    status = cut_line(fields, &self->columns, self, reader, copy, number);
    if (status != UC_OK)
        goto cleanup;
    status = choose_columns(self, header, reader, fields);
    if (status == UC_OK && *header)
        status = keep_names(self, fields);

cleanup:
    uc_free(fields);
    uc_free(copy);
    return status;
}

/* ---- the rows ---- */

static void blame_column(uc_text_block *block, const layout *self, size_t column, const char *complaint,
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

/* A line with `count` fields up to p, where it has its newline or goes on. */
static void blame_ragged(uc_text_block *block, const layout *self, size_t count, char *p)
{
    uc_field unused;
    while (*p != '\n') {
        count++;
        p++;
        if (uc_field_cut(&unused, &p, self->delimiter))
            break;
    }
    uc_text_blame(block, "%zu column%s, but the first line has %zu", count, count == 1 ? "" : "s",
                  self->columns);
}

static void read_name(uc_text_block *block, const uc_reader *reader, const layout *self, size_t column,
                      const uc_field *name)
{
    for (size_t i = 0; i < name->length; i++)
        if ((unsigned char)name->begin[i] < ' ' && uc_text_blame_control(block, name->begin))
            return;
    const bool is_label = column == self->label;
    if (name->length == 0)
        uc_text_blame(block, "no %s", is_label ? "label" : "bag");
    else if (is_label)
        uc_text_class(block, reader, name->begin, name->length);
    else
        uc_text_bag(block, reader, name->begin, name->length);
}

static void read_weight(uc_text_block *block, const layout *self, const uc_field *field)
{
    double *weight = &block->weights[block->rows];
    if (field->length == 0 || !uc_field_real(weight, field))
        blame_column(block, self, self->weight, "is not a number", field);
    else if (!(*weight >= 0.0 && isfinite(*weight)))
        blame_column(block, self, self->weight, "is not a weight: a finite number of 0 or more", field);
}

/* A field that is not simply a number: a label, a bag, a weight, a quoted or a bad one. Returns where it
 * ends; NULL when something is wrong. */
static char *read_field(uc_text_block *block, const uc_reader *reader, const layout *self, size_t column,
                        char *p, float *value)
{
    uc_field field;
    const char *start = p, *problem = uc_field_cut(&field, &p, self->delimiter);
    if (problem) {
        uc_text_blame(block, "%s", problem);
    } else if (column == self->weight) {
        read_weight(block, self, &field);
    } else if (!is_feature(self, column)) {
        read_name(block, reader, self, column, &field);
    } else if (field.length == 0 || uc_number_read(value, field.begin) != field.begin + field.length ||
               !isfinite(*value)) {
        if (!uc_text_blame_control(block, start))
            blame_column(block, self, column, uc_number_complaint(field.begin, field.length), &field);
    }
    return block->status == UC_OK ? p : NULL;
}

/* The row at p, into the block's next row; returns the end of its line, or NULL. */
static char *read_row(uc_text_block *block, const uc_reader *reader, const layout *self, char *p)
{
    const size_t stride = reader->rows.X.stride;
    float *value = block->values + block->rows * stride, *const row_end = value + stride;
    for (size_t column = 0;; column++, p++) {
        char *end = NULL;
        if (is_feature(self, column)) {
            end = uc_field_float(value, p, self->delimiter);
            if (!end)
                end = read_field(block, reader, self, column, p, value);
            value++;
        } else {
            end = read_field(block, reader, self, column, p, NULL);
        }
        if (!end)
            return NULL;
        p = end;
        const bool last = column + 1 == self->columns, ended = *p == '\n';
        if (last != ended) {
            blame_ragged(block, self, column + 1, p);
            return NULL;
        }
        if (ended)
            break;
    }
    assert(value <= row_end);
    while (value < row_end)
        *value++ = 0.0f;
    return p;
}

static void parse(uc_text_block *block, const uc_reader *reader, const void *user)
{
    const layout *self = user;
    for (char *p = block->begin; p < block->end; p++) {
        block->lines++;
        char *first = uc_skip_padding(p, self->delimiter);
        if (*first == '\n') {
            p = first;
            continue;
        }
        p = read_row(block, reader, self, p);
        if (!p)
            return;
        block->rows++;
    }
}

static uc_status begin(uc_reader *self)
{
    uc_status status = uc_text_begin(self, parse, NULL);
    if (status != UC_OK)
        return status;
    layout *made = uc_alloc(1, sizeof *made);
    if (!made)
        return UC_ERR_NOMEM;
    made->label = made->bag = made->weight = NO_COLUMN;
    uc_text_set_layout(self, made, free_layout);
    size_t length, number;
    const char *line = uc_text_first_line(&length, &number, self, 0);
    if (!line)
        return uc_fail(UC_ERR_FORMAT, "%s: no examples", uc_input_name(self->input));
    bool header = false;
    status = learn_layout(made, &header, self, line, length, number);
    if (status != UC_OK)
        return status;
    if (header) {
        uc_text_skip_line(self, line, number);
        self->header = UC_MARK;
        for (size_t i = 0; i < made->columns; i++)
            self->header = uc_mark(self->header, made->names[i], strlen(made->names[i]) + 1);
    }
    self->has_labels = made->label != NO_COLUMN;
    self->has_bags = made->bag != NO_COLUMN;
    self->has_weights = made->weight != NO_COLUMN;
    self->label = made->label + 1; /* NO_COLUMN becomes 0 */
    self->bag = made->bag + 1;
    self->weight = made->weight + 1;
    self->rows.X.cols = made->features;
    self->rows.X.stride = uc_matrix_stride(made->features);
    return UC_OK;
}

const uc_data_format uc_format_csv = {"csv", begin, uc_text_next, uc_text_end, uc_text_cut};
