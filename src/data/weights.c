/* Weights and soft labels: reading their files, and attaching them to data sets. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/delimited.h"
#include "data/exchange.h"
#include "data/npy.h"
#include "data/reader.h"
#include "data/weights.h"

#define LEAST_TOTAL 1e-100 /* of weights; the squares of both bounds are within the range of doubles */
#define MOST_TOTAL 1e100
#define SUM_TOLERANCE 1e-3 /* rows of soft labels whose sum is this close to 1 are normalised */

/* ---- tables of numbers ---- */

/* rows x columns numbers, and the names of the columns, if any. */
typedef struct table {
    double *values;
    size_t rows, columns;
    uc_names names; /* may be empty */
    bool text;      /* rows are lines */
    size_t header;  /* number of lines before the first row */
} table;

static void table_free(table *self)
{
    uc_free(self->values);
    uc_names_free(&self->names);
    *self = (table){0};
}

static uc_status read_npy(table *out, uc_input *input, size_t dimensions, const char *what)
{
    uc_npy array;
    size_t items, bytes_needed;
    uc_status status = uc_npy_read_header(&array, input, dimensions, what);
    if (status != UC_OK)
        return status;
    if (!uc_npy_is_numeric(&array))
        return uc_fail(UC_ERR_FORMAT, "%s: an array of text, but %s must be numbers", uc_input_name(input),
                       what);
    out->rows = array.shape[0];
    out->columns = dimensions == 2 ? array.shape[1] : 1;
    if (!uc_size_mul(&items, out->rows, out->columns) || !uc_size_mul(&bytes_needed, items, array.size))
        return uc_fail(UC_ERR_NOMEM, "%s: not enough memory", uc_input_name(input));
    void *bytes = uc_alloc(bytes_needed, 1);
    double *values = uc_alloc(items, sizeof *values);
    out->values = uc_alloc(items, sizeof *out->values);
    status =
        bytes && values && out->values ? uc_input_read_exactly(input, bytes, bytes_needed) : UC_ERR_NOMEM;
    if (status == UC_OK)
        uc_npy_to_double(values, &array, bytes, items);
    for (size_t i = 0; i < items && status == UC_OK; i++) {
        const size_t row = i / out->columns, column = i % out->columns;
        out->values[i] = values[array.fortran ? column * out->rows + row : i];
    }
    uc_free(bytes);
    uc_free(values);
    return status;
}

static uc_status fail_field(const char *name, size_t line, const uc_field *field, const char *complaint)
{
    char text[UC_QUOTE_SIZE];
    return uc_fail(UC_ERR_FORMAT, "%s:%zu: '%s' %s", name, line, uc_quote(text, field->begin, field->length),
                   complaint);
}

/* Reads one line of numbers into `values`, or of names if `values` is NULL. */
static uc_status read_line(table *out, double *values, const uc_lines *lines, char delimiter,
                           const char *name)
{
    char *at = lines->line;
    for (size_t column = 0;; column++, at++) {
        uc_field field;
        uint32_t index;
        const char *problem = uc_field_cut(&field, &at, delimiter);
        if (problem)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: %s", name, lines->number, problem);
        if (values && column >= out->columns)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: more columns than the first line, which has %zu", name,
                           lines->number, out->columns);
        if (values && !uc_field_real(&values[column], &field))
            return fail_field(name, lines->number, &field, "is not a number");
        if (!values && (field.length == 0 || !uc_is_name(field.begin, field.length)))
            return fail_field(name, lines->number, &field, "is not the name of a class");
        const uc_status status =
            values ? UC_OK : uc_names_add(&index, &out->names, field.begin, field.length);
        if (status != UC_OK)
            return status;
        if (!values && index != column)
            return fail_field(name, lines->number, &field, "is named twice");
        if (*at == '\n' && values && column + 1 < out->columns)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: %zu columns, but the first line has %zu", name,
                           lines->number, column + 1, out->columns);
        if (*at == '\n')
            return UC_OK;
    }
}

static bool is_blank(const uc_lines *lines)
{
    for (size_t i = 0; i < lines->width; i++)
        if (!uc_is_blank(lines->line[i]))
            return false;
    return true;
}

/* The number of lines, without blank ones at the end. */
static size_t count_lines(uc_lines *lines)
{
    size_t count = 0;
    while (uc_lines_next(lines))
        if (!is_blank(lines))
            count = lines->number;
    uc_lines_rewind(lines);
    return count;
}

/* named: the first line has the names of the columns; otherwise, there is one column. */
static uc_status read_text(table *out, uc_lines *lines, bool named, const char *name)
{
    const size_t count = count_lines(lines);
    char delimiter = '\t';
    uc_status status = UC_OK;
    out->text = true;
    out->columns = 1;
    if (named && uc_lines_next(lines)) {
        delimiter = uc_find_delimiter(lines->line, lines->width);
        status = read_line(out, NULL, lines, delimiter, name);
        out->columns = out->names.count;
        out->header = 1;
    }
    if (status != UC_OK)
        return status;
    out->rows = count - uc_min_size(count, out->header);
    size_t items;
    if (!uc_size_mul(&items, out->rows, out->columns) ||
        !(out->values = uc_alloc(items, sizeof *out->values)))
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < out->rows && status == UC_OK && uc_lines_next(lines); i++)
        status = read_line(out, out->values + i * out->columns, lines, delimiter, name);
    return status;
}

static uc_status read_table(table *out, const char *path, size_t dimensions, const char *what,
                            const uc_context *context)
{
    uc_input *input;
    uc_lines lines = {0};
    const char *bytes;
    size_t length;
    uc_status status = uc_input_open(&input, path);
    if (status != UC_OK)
        return status;
    status = uc_input_peek(&bytes, &length, input);
    if (status == UC_OK && uc_npy_begins(bytes, length)) {
        status = read_npy(out, input, dimensions, what);
    } else if (status == UC_OK) {
        status = uc_lines_read(&lines, input, context);
        if (status == UC_OK)
            status = read_text(out, &lines, dimensions == 2, uc_input_name(input));
    }
    uc_lines_free(&lines);
    uc_input_close(input);
    if (status != UC_OK)
        table_free(out);
    return status;
}

/* The place of row i of a table, for messages: "FILE:LINE" or "FILE: row N". */
static const char *place_of(char *text, size_t size, const table *self, const char *path, size_t i)
{
    if (self->text)
        snprintf(text, size, "%s:%zu", path, i + 1 + self->header);
    else
        snprintf(text, size, "%s: row %zu", path, i + 1);
    return text;
}

/* ---- weights ---- */

uc_status uc_weights_check_total(double total, const char *of)
{
    if (total >= LEAST_TOTAL && total <= MOST_TOTAL)
        return UC_OK;
    return uc_fail(UC_ERR_FORMAT, "%s sum to %g, which must be from %g to %g", of, total, LEAST_TOTAL,
                   MOST_TOTAL);
}

static uc_status check_total(const table *self, const char *path)
{
    double total = 0.0;
    char of[512];
    for (size_t i = 0; i < self->rows; i++)
        total += self->values[i];
    snprintf(of, sizeof of, "%s: the weights", path);
    return self->rows == 0 ? UC_OK : uc_weights_check_total(total, of);
}

uc_status uc_weights_read(double **out, size_t *count, const char *path, size_t rows,
                          const uc_context *context)
{
    table read = {0};
    char place[512];
    uc_status status = read_table(&read, path, 1, "weights", context);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < read.rows && status == UC_OK; i++)
        if (!(read.values[i] >= 0.0 && isfinite(read.values[i])))
            status = uc_fail(UC_ERR_FORMAT, "%s: %g is not a weight: a finite number of 0 or more",
                             place_of(place, sizeof place, &read, path, i), read.values[i]);
    if (status == UC_OK && rows != SIZE_MAX && read.rows != rows)
        status = uc_fail(UC_ERR_FORMAT, "%s: %zu weights for %zu examples", path, read.rows, rows);
    if (status == UC_OK)
        status = check_total(&read, path);
    if (status == UC_OK) {
        *out = read.values;
        read.values = NULL;
        if (count)
            *count = read.rows;
    }
    table_free(&read);
    return status;
}

void uc_weights_free(double *weights)
{
    uc_free(weights);
}

/* ---- soft labels ---- */

/* Sets class[j] to the class of column j of the table. */
static uc_status name_columns(uint32_t *class, const table *self, const char *path, const uc_names *classes)
{
    const char *const *names = (const char *const *)self->names.text; /* NULL: an array has no names */
    if (!names && self->columns != classes->count)
        return uc_fail(UC_ERR_FORMAT, "%s: %zu columns, but there are %zu classes", path, self->columns,
                       classes->count);
    for (size_t j = 0; j < self->columns; j++) {
        class[j] = (uint32_t)j;
        if (!names)
            continue;
        class[j] = uc_names_find_label(classes, names[j], strlen(names[j]));
        if (class[j] == UC_NONE)
            return uc_fail(UC_ERR_FORMAT, "%s:1: no example is of class '%s'", path, names[j]);
    }
    return UC_OK;
}

static uc_status take_row(double *out, const table *self, size_t i, const uint32_t *class, const char *path)
{
    char place[512];
    double sum = 0.0;
    const double *row = self->values + i * self->columns;
    for (size_t j = 0; j < self->columns; j++) {
        if (!(row[j] >= 0.0 && row[j] <= 1.0 + SUM_TOLERANCE))
            return uc_fail(UC_ERR_FORMAT, "%s: %g is not a probability",
                           place_of(place, sizeof place, self, path, i), row[j]);
        sum += row[j];
    }
    if (!(fabs(sum - 1.0) <= SUM_TOLERANCE))
        return uc_fail(UC_ERR_FORMAT, "%s: the probabilities sum to %g, not to 1",
                       place_of(place, sizeof place, self, path, i), sum);
    for (size_t j = 0; j < self->columns; j++)
        out[class[j]] = row[j] / sum;
    return UC_OK;
}

uc_status uc_soft_labels_read(double **out, const char *path, size_t rows, const uc_names *classes,
                              const uc_context *context)
{
    table read = {0};
    size_t cells;
    uc_status status = read_table(&read, path, 2, "soft labels", context);
    if (status != UC_OK)
        return status;
    uint32_t *class = uc_alloc(read.columns, sizeof *class);
    double *soft = uc_size_mul(&cells, rows, classes->count) ? uc_alloc(cells, sizeof *soft) : NULL;
    status = class && soft ? name_columns(class, &read, path, classes) : UC_ERR_NOMEM;
    if (status == UC_OK && read.rows != rows)
        status = uc_fail(UC_ERR_FORMAT, "%s: soft labels of %zu examples, but there are %zu", path, read.rows,
                         rows);
    for (size_t i = 0; i < rows && status == UC_OK; i++)
        status = take_row(soft + i * classes->count, &read, i, class, path);
    if (status == UC_OK) {
        *out = soft;
        soft = NULL;
    }
    uc_free(soft);
    uc_free(class);
    table_free(&read);
    return status;
}

uc_status uc_renumber_soft(double *soft, size_t rows, const uint32_t *renumber, size_t classes)
{
    double *row = uc_alloc(classes, sizeof *row);
    if (!row)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < classes; k++)
            row[renumber[k]] = soft[i * classes + k];
        memcpy(soft + i * classes, row, classes * sizeof *row);
    }
    uc_free(row);
    return UC_OK;
}

/* ---- attaching to data sets ---- */

/* Keeps this process's rows of an array for all rows; `all` is freed. */
static uc_status keep_share(double **out, double *all, size_t width, uc_share share, size_t rows)
{
    if (share.total == rows) {
        uc_free(*out);
        *out = all;
        return UC_OK;
    }
    double *own = uc_alloc(rows * width, sizeof *own);
    if (own) {
        memcpy(own, all + share.first * width, rows * width * sizeof *own);
        uc_free(*out);
        *out = own;
    }
    uc_free(all);
    return own ? UC_OK : UC_ERR_NOMEM;
}

static uc_status attach_weights(uc_dataset *data, const char *path, uc_share share, const uc_context *context)
{
    double *all;
    const uc_status status = uc_weights_read(&all, NULL, path, share.total, context);
    if (status != UC_OK)
        return status;
    return keep_share(&data->weights, all, 1, share, data->X.rows);
}

static uc_status attach_soft_labels(uc_dataset *data, const char *path, uc_share share,
                                    const uc_context *context)
{
    const size_t K = data->classes.count;
    double *all;
    if (!data->y)
        return uc_fail(UC_ERR_INVALID, "%s: the data have no labels, which name the classes", path);
    uc_status status = uc_soft_labels_read(&all, path, share.total, &data->classes, context);
    if (status == UC_OK)
        status = keep_share(&data->soft, all, K, share, data->X.rows);
    for (size_t i = 0; i < data->X.rows && status == UC_OK; i++) {
        const double *row = data->soft + i * K;
        data->y[i] = 0;
        for (size_t k = 1; k < K; k++)
            if (row[k] > row[data->y[i]])
                data->y[i] = (uint32_t)k;
    }
    return status;
}

uc_status uc_dataset_attach(uc_dataset *data, const uc_read_settings *settings, const uc_context *context)
{
    uc_share share;
    if (!settings->weights && !settings->soft_labels)
        return UC_OK;
    uc_status status = uc_share_of(&share, context, data->X.rows);
    if (status != UC_OK)
        return status;
    if (settings->weights)
        status = attach_weights(data, settings->weights, share, context);
    if (status == UC_OK && settings->soft_labels)
        status = attach_soft_labels(data, settings->soft_labels, share, context);
    return uc_comm_agree(uc_comm_of(context), status);
}

bool uc_dataset_has_weightless(const uc_dataset *data)
{
    for (size_t i = 0; data->weights && i < data->X.rows; i++)
        if (data->weights[i] == 0.0)
            return true;
    return false;
}

uc_status uc_dataset_copy_weighted(uc_dataset *out, const uc_dataset *data, const uc_context *context)
{
    size_t *rows = uc_alloc(data->X.rows, sizeof *rows), count = 0;
    if (!rows)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < data->X.rows; i++)
        if (!data->weights || data->weights[i] > 0.0)
            rows[count++] = i;
    const uc_status status = uc_dataset_subset(out, data, rows, count, context);
    uc_free(rows);
    return status;
}

uc_status uc_dataset_drop_weightless(uc_dataset *data, const uc_context *context)
{
    uc_dataset kept = {0};
    if (!uc_dataset_has_weightless(data))
        return UC_OK;
    const uc_status status = uc_dataset_copy_weighted(&kept, data, context);
    if (status != UC_OK)
        return status;
    uc_dataset_free(data);
    *data = kept;
    return UC_OK;
}

uc_status uc_dataset_total_weight(double *total, const uc_dataset *data, const uc_context *context)
{
    double sum = data->weights ? 0.0 : (double)data->X.rows;
    for (size_t i = 0; data->weights && i < data->X.rows; i++)
        sum += data->weights[i];
    *total = sum;
    return uc_comm_sum(uc_comm_of(context), total, 1);
}

uc_status uc_dataset_harden(uc_dataset *out, const uc_dataset *data, const uc_context *context)
{
    const size_t n = data->X.rows, K = data->classes.count;
    size_t count = 0, *rows = NULL, at = 0;
    assert(data->soft && data->y);
    for (size_t cell = 0; cell < n * K; cell++)
        count += data->soft[cell] > 0.0;
    uc_dataset hard = {0}, part = *data;
    part.soft = NULL;
    rows = uc_alloc(count, sizeof *rows);
    for (size_t i = 0; i < n && rows; i++)
        for (size_t k = 0; k < K; k++)
            if (data->soft[i * K + k] > 0.0)
                rows[at++] = i;
    uc_status status = rows ? uc_dataset_subset(&hard, &part, rows, count, context) : UC_ERR_NOMEM;
    uc_free(rows);
    if (status == UC_OK && !hard.weights) {
        hard.weights = uc_alloc(count, sizeof *hard.weights);
        for (size_t i = 0; i < count && hard.weights; i++)
            hard.weights[i] = 1.0;
        status = hard.weights ? UC_OK : UC_ERR_NOMEM;
    }
    at = 0;
    for (size_t i = 0; i < n && status == UC_OK; i++)
        for (size_t k = 0; k < K; k++)
            if (data->soft[i * K + k] > 0.0) {
                hard.y[at] = (uint32_t)k;
                hard.weights[at++] *= data->soft[i * K + k];
            }
    if (status == UC_OK)
        *out = hard;
    else
        uc_dataset_free(&hard);
    return status;
}
