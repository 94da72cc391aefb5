/*
 * Encodes a part of a table again, with medians, deviations, categories and idf learned from the training
 * rows of a fold alone. The rows have already been encoded by the table of the whole, which is undone on the
 * way:
 *
 *   v        the value that was read     e = (v - shift) factor    the encoded one
 *   missing  the rows whose feature `NAME is missing` is 1
 *
 *   e becomes (fill' - shift') factor' if it is missing, otherwise
 *   e (factor' / factor) + (shift - shift') factor'
 *
 * where ' marks what is learned from the part. Dense rows have no factors and get exactly what a table of the
 * part alone would give them; sparse rows get the same except for the rounding of the quotient.
 */
#include <math.h>

#include "data/encode.h"

typedef struct again {
    const uc_table *before;
    uc_table *now;
    uc_dataset *train, *held_out;
    const uc_context *context;
} again;

static double factor_of(const uc_table *table, size_t feature)
{
    return table->factor ? table->factor[feature] : 1.0;
}

static double shift_of(const uc_table *table, size_t feature)
{
    return table->shift ? table->shift[feature] : 0.0;
}

static bool is_set(const uc_matrix *X, size_t row, size_t feature)
{
    const float *cell = uc_matrix_cell(X, row, feature);
    return cell && *cell != 0.0f;
}

/* ---- numbers ---- */

static bool is_missing(const uc_matrix *X, size_t row, const uc_table_column *column)
{
    return column->has_missing && is_set(X, row, column->first + column->features - 1);
}

static uc_status learn_number(again *self, const uc_table_column *column, size_t j)
{
    const uc_matrix *X = &self->train->X;
    const double factor = factor_of(self->before, j), shift = shift_of(self->before, j);
    size_t count = X->rows;
    float *values = uc_alloc(count, sizeof *values);
    if (!values)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const float *cell = uc_matrix_cell(X, i, j);
        values[i] = 0.0f;
        if (is_missing(X, i, column))
            values[i] = NAN;
        else if (cell)
            values[i] = (float)((double)*cell / factor + shift);
    }
    if (self->now->factor)
        self->now->factor[j] = 1.0;
    uc_status status = uc_gather_values(&values, &count, self->context);
    if (status == UC_OK)
        status = uc_learn_values(self->now, j, values, count);
    uc_free(values);
    return status;
}

static void encode_number(const again *self, uc_matrix *X, const uc_table_column *column, size_t j)
{
    const double factor = factor_of(self->now, j), quotient = factor / factor_of(self->before, j);
    const double shift = shift_of(self->now, j), moved = (shift_of(self->before, j) - shift) * factor;
    for (size_t i = 0; i < X->rows; i++) {
        float *cell = uc_matrix_cell(X, i, j);
        if (!cell)
            continue;
        if (is_missing(X, i, column))
            *cell = (float)(((double)(float)self->now->fill[j] - shift) * factor);
        else if (quotient != 1.0 || moved != 0.0)
            *cell = (float)((double)*cell * quotient + moved);
    }
}

static uc_status encode_numbers(again *self, const uc_table_column *column)
{
    const size_t parts = column->features - (size_t)column->has_missing;
    if (!column->has_missing && !self->now->factor)
        return UC_OK; /* nothing was learned from it */
    for (size_t j = column->first; j < column->first + parts; j++) {
        const uc_status status = learn_number(self, column, j);
        if (status != UC_OK)
            return status;
        encode_number(self, &self->train->X, column, j);
        encode_number(self, &self->held_out->X, column, j);
    }
    return UC_OK;
}

/* ---- categories ---- */

/* The row's entry for the column, and which of its values it is; values.count means `other`. */
static float *find_value(size_t *value, const uc_matrix *X, size_t row, const uc_table_column *column)
{
    const size_t last = column->first + column->values.count;
    const uc_row view = uc_matrix_row(X, row);
    size_t j = column->first;
    if (view.columns) {
        size_t high = view.count;
        for (j = 0; j < high;) {
            const size_t middle = j + (high - j) / 2;
            if (view.columns[middle] < column->first)
                j = middle + 1;
            else
                high = middle;
        }
    }
    for (; j < view.count && uc_row_column(view, j) <= last; j++)
        if (view.values[j] != 0.0f) {
            *value = uc_row_column(view, j) - column->first;
            return X->values + (view.values - X->values) + j;
        }
    return NULL;
}

/* Turns rare values into `other`. In a sparse row `other` comes after all values, so the entry can stay where
 * it is. */
static void merge_seldom(uc_matrix *X, const uc_table_column *column, const double *counts, double rows)
{
    const size_t other = column->values.count;
    for (size_t i = 0; i < X->rows; i++) {
        size_t value = 0;
        float *cell = find_value(&value, X, i, column);
        if (!cell || value == other || counts[value] * UC_SELDOM >= rows)
            continue;
        if (uc_matrix_is_sparse(X)) {
            X->columns[cell - X->values] = (uint32_t)(column->first + other);
        } else {
            cell[other - value] = *cell;
            *cell = 0.0f;
        }
    }
}

static uc_status encode_category(again *self, const uc_table_column *column)
{
    const uc_matrix *X = &self->train->X;
    const size_t values = column->values.count;
    double *counts = uc_alloc(values + 2, sizeof *counts); /* then `other`, and the number of rows */
    if (!counts)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < X->rows; i++) {
        size_t value = 0;
        if (find_value(&value, X, i, column))
            counts[value] += 1.0;
    }
    counts[values + 1] = (double)X->rows;
    const uc_status status = uc_comm_sum(uc_comm_of(self->context), counts, values + 2);
    if (status == UC_OK) {
        merge_seldom(&self->train->X, column, counts, counts[values + 1]);
        merge_seldom(&self->held_out->X, column, counts, counts[values + 1]);
    }
    uc_free(counts);
    return status;
}

/* ---- words ---- */

static void encode_words(const again *self, uc_matrix *X)
{
    const size_t first = self->now->text_first;
    for (size_t i = 0; i < X->rows; i++)
        for (uint64_t e = X->offsets[i + 1]; e > X->offsets[i] && X->columns[e - 1] >= first; e--) {
            const size_t word = X->columns[e - 1];
            const double before = self->before->factor[word];
            double quotient = 0.0;
            if (before > 0.0)
                quotient = self->now->factor[word] / before;
            X->values[e - 1] = (float)((double)X->values[e - 1] * quotient);
        }
}

static uc_status learn_words(again *self)
{
    uc_table *now = self->now;
    const size_t first = now->text_first, words = now->features - first;
    if (words == 0)
        return UC_OK;
    double *counts = uc_alloc(words + 1, sizeof *counts);
    if (!counts)
        return UC_ERR_NOMEM;
    uc_count_words(counts, now, &self->train->X);
    const uc_status status = uc_comm_sum(uc_comm_of(self->context), counts, words + 1);
    const double least = uc_least_rows_with_word(now, counts);
    for (size_t w = 0; w < words && status == UC_OK; w++) {
        now->factor[first + w] = 0.0;
        if (counts[w] >= least)
            now->factor[first + w] = uc_idf(counts[words], counts[w]);
    }
    uc_free(counts);
    if (status != UC_OK)
        return status;
    encode_words(self, &self->train->X);
    encode_words(self, &self->held_out->X);
    return UC_OK;
}

/* ---- both parts ---- */

uc_status uc_encode_again(uc_dataset *train, uc_dataset *held_out, const uc_context *context)
{
    const uc_table *before = train->table;
    uc_table *now;
    if (!before || before->plain || !before->learned || !before->fill)
        return UC_OK;
    uc_status status = uc_table_copy(&now, before);
    if (status != UC_OK)
        return status;
    again self = {before, now, train, held_out, context};
    for (size_t c = 0; c < now->column_count && status == UC_OK; c++) {
        const uc_table_column *column = &now->columns[c];
        if (column->type == UC_COLUMN_CATEGORY)
            status = encode_category(&self, column);
        else if (column->features > 0)
            status = encode_numbers(&self, column);
    }
    if (status == UC_OK)
        status = learn_words(&self);
    if (status != UC_OK) {
        uc_table_free(now);
        return status;
    }
    uc_table_free(train->table);
    train->table = now;
    uc_table_free(held_out->table);
    held_out->table = uc_table_share(now);
    return UC_OK;
}
