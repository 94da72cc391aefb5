/*
 * The encoder: what a table learns from its training rows, so that later rows become the same features.
 *
 *   v_ij   value of row i and feature j as it was read: NaN is missing, a word is 1 + log(count)
 *   n      rows             d_j   rows that have word j
 *
 *   fill_j    the median of the values of a number that are not missing
 *   shift_j   the mean of a number, 0 for all others; in sparse rows only. If weights are penalised or steps
 *             are small, an intercept does not make up for a year of 2024 or a day of 19,800
 *   factor_j  1 / the deviation of a number, or 1 / its size if all values are the same; in sparse rows only
 *             idf_j = log((1 + n) / (1 + d_j)) + 1 for a word; 1 for all others
 *
 *   encoded value = ((v_ij is NaN ? fill_j : v_ij) - shift_j) factor_j
 *
 * A word that only one training row has is not a feature. It says nothing about any other row, but a thousand
 * such words (the names of customers) would reveal every training row's label to a model.
 *
 * For a data set in memory the median is exact (encode_numbers.c). A stream is read once more for it, and the
 * median is that of evenly spaced rows, at most SAMPLE of them, or fewer for wide tables.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/encode.h"

#define SAMPLE ((size_t)131072)
#define LEAST_SAMPLE ((size_t)4096)
#define SAMPLE_VALUES ((size_t)1 << 25) /* over all columns: 128 MB */
#define ROWS_PER_BLOCK ((size_t)1024)

/* ---- data in memory ---- */

static uc_status allocate(uc_table *table)
{
    table->fill = uc_alloc(table->text_first, sizeof *table->fill);
    if (table->sparse) {
        table->shift = uc_alloc(table->text_first, sizeof *table->shift);
        table->factor = uc_alloc(table->features, sizeof *table->factor);
    }
    if (!table->fill || (table->sparse && (!table->shift || !table->factor)))
        return UC_ERR_NOMEM;
    for (size_t j = 0; j < table->features && table->factor; j++)
        table->factor[j] = 1.0;
    return UC_OK;
}

void uc_count_words(double *counts, const uc_table *table, const uc_matrix *X)
{
    const size_t first = table->text_first, words = table->features - first;
    for (size_t i = 0; i < X->rows; i++) {
        const uc_row row = uc_matrix_row(X, i);
        for (size_t j = row.count; j > 0 && row.columns[j - 1] >= first; j--)
            counts[row.columns[j - 1] - first] += 1.0;
    }
    counts[words] += (double)X->rows;
}

double uc_idf(double rows, double rows_with_word)
{
    return log((1.0 + rows) / (1.0 + rows_with_word)) + 1.0;
}

double uc_least_rows_with_word(const uc_table *table, const double *counts)
{
    const size_t words = table->features - table->text_first;
    if (table->text_first > 0)
        return 2.0;
    for (size_t w = 0; w < words; w++)
        if (counts[w] >= 2.0)
            return 2.0;
    return 1.0;
}

/* Keeps the slots that occur in rows, with their idf. */
static uc_status learn_words(uc_table *table, const double *counts)
{
    const size_t first = table->text_first, slots = table->features - first;
    uint32_t *words = uc_alloc(slots, sizeof *words);
    const double least = uc_least_rows_with_word(table, counts);
    size_t count = 0;
    if (!words)
        return UC_ERR_NOMEM;
    for (size_t w = 0; w < slots; w++) {
        if (counts[w] < least)
            continue;
        table->factor[first + count] = uc_idf(counts[slots], counts[w]);
        words[count++] = (uint32_t)w;
    }
    const uc_status status = uc_table_take_words(table, words, count);
    uc_free(words);
    return status;
}

/* ---- encoding ---- */

typedef struct encoding {
    const uc_table *table;
    uc_matrix *X;
} encoding;

static void encode_dense(const uc_table *table, float *values)
{
    for (size_t j = 0; j < table->features; j++)
        if (isnan(values[j]))
            values[j] = (float)table->fill[j];
}

/* Words come last. Those that are not features leave entries of column UC_NONE at the end of the row. */
static void encode_sparse(const uc_table *table, float *values, uint32_t *columns, size_t count)
{
    const double *factor = table->factor;
    const size_t first = table->text_first;
    size_t j = 0;
    for (; j < count && columns[j] < first; j++) {
        const float value = isnan(values[j]) ? (float)table->fill[columns[j]] : values[j];
        values[j] = uc_encoded_value(table, columns[j], value);
    }
    size_t kept = j;
    for (; j < count; j++) {
        const uint32_t word = table->word_of[columns[j] - first];
        if (word == UC_NONE)
            continue;
        columns[kept] = word;
        values[kept++] = (float)((double)values[j] * factor[word]);
    }
    for (; kept < count; kept++)
        columns[kept] = UC_NONE;
}

static uc_status encode_block(size_t block, void *user)
{
    const encoding *self = user;
    const uc_matrix *X = self->X;
    const uc_range rows = uc_block_range(block, X->rows, ROWS_PER_BLOCK);
    for (size_t i = rows.first; i < rows.last; i++)
        if (!uc_matrix_is_sparse(X))
            encode_dense(self->table, X->values + i * X->stride);
        else
            encode_sparse(self->table, X->values + X->offsets[i], X->columns + X->offsets[i],
                          (size_t)(X->offsets[i + 1] - X->offsets[i]));
    return UC_OK;
}

/* Removes the entries that encode_sparse has left at the ends of rows. */
static void close_gaps(uc_matrix *X)
{
    uint64_t end = 0;
    for (size_t i = 0, next = 0; i < X->rows; i++) {
        const uint64_t first = next, last = X->offsets[i + 1];
        uint64_t e = first;
        next = last;
        X->offsets[i] = end;
        for (; e < last && X->columns[e] != UC_NONE; e++, end++) {
            X->columns[end] = X->columns[e];
            X->values[end] = X->values[e];
        }
    }
    X->offsets[X->rows] = end;
}

uc_status uc_encode_dataset(uc_dataset *data, const uc_context *context)
{
    uc_table *table = data->table;
    double *counts = NULL;
    if (!table || table->learned)
        return UC_OK;
    uc_status status = allocate(table);
    if (status != UC_OK)
        return status;
    status = uc_learn_columns(table, &data->X, context);
    const size_t words = table->features - table->text_first;
    if (status == UC_OK && words > 0) {
        counts = uc_alloc(words + 1, sizeof *counts);
        if (!counts)
            return UC_ERR_NOMEM;
        uc_count_words(counts, table, &data->X);
        status = uc_comm_sum(uc_comm_of(context), counts, words + 1);
        if (status == UC_OK)
            status = learn_words(table, counts);
    }
    uc_free(counts);
    data->X.cols = table->features;
    encoding all = {table, &data->X};
    if (status == UC_OK)
        status = uc_run_blocks(context, uc_block_count(data->X.rows, ROWS_PER_BLOCK), encode_block, &all);
    if (status == UC_OK && words > 0)
        close_gaps(&data->X);
    table->learned = status == UC_OK;
    return status;
}

/* ---- streams ---- */

/* The numeric features of every `stride`-th row, row by row; there is room for `room` rows, at most
 * `most`. */
typedef struct sample {
    float *values;
    size_t features, count, room, most, stride, seen;
} sample;

static sample begin_sample(const uc_table *table)
{
    const size_t features = table->text_first, all = SAMPLE_VALUES / (features + !features);
    size_t most = LEAST_SAMPLE;
    while (most < SAMPLE && 2 * most <= all)
        most *= 2;
    return (sample){.features = features, .most = most, .stride = 1};
}

/* Keeps every other row. */
static void halve_sample(sample *self)
{
    for (size_t s = 1; s < self->count / 2; s++)
        memcpy(self->values + s * self->features, self->values + 2 * s * self->features,
               self->features * sizeof *self->values);
    self->count /= 2;
    self->stride *= 2;
}

static uc_status grow_sample(sample *self)
{
    const size_t room = uc_grown(self->room, self->count + 1);
    float *values = uc_realloc(self->values, room * self->features, sizeof *values);
    if (!values)
        return UC_ERR_NOMEM;
    self->values = values;
    self->room = room;
    return UC_OK;
}

static uc_status add_rows(sample *self, const uc_matrix *X)
{
    for (size_t i = 0; i < X->rows; i++, self->seen++) {
        if (self->seen % self->stride == 0 && self->count == self->most)
            halve_sample(self);
        if (self->seen % self->stride != 0)
            continue;
        if (self->count == self->room) {
            const uc_status status = grow_sample(self);
            if (status != UC_OK)
                return status;
        }
        const uc_row row = uc_matrix_row(X, i);
        float *values = self->values + self->count++ * self->features;
        memset(values, 0, self->features * sizeof *values);
        for (size_t j = 0; j < row.count && uc_row_column(row, j) < self->features; j++)
            values[uc_row_column(row, j)] = row.values[j];
    }
    return UC_OK;
}

static uc_status learn_sample(uc_table *table, const sample *self)
{
    float *column = uc_alloc(self->count, sizeof *column);
    if (!column)
        return UC_ERR_NOMEM;
    uc_status status = UC_OK;
    for (size_t j = 0; j < self->features && status == UC_OK; j++) {
        if (!uc_feature_is_number(table, j))
            continue;
        for (size_t s = 0; s < self->count; s++)
            column[s] = self->values[s * self->features + j];
        status = uc_learn_values(table, j, column, self->count);
    }
    uc_free(column);
    return status;
}

static uc_status learn_from(uc_table *table, uc_reader *reader, sample *numbers, double *counts)
{
    const uc_dataset *block;
    uc_status status = UC_OK;
    while ((status = uc_reader_next(&block, reader)) == UC_OK && block) {
        status = add_rows(numbers, &block->X);
        if (status != UC_OK)
            return status;
        if (counts)
            uc_count_words(counts, table, &block->X);
    }
    return status;
}

uc_status uc_encoder_learn(uc_table *table, const uc_look_source *source, const uc_read_settings *settings,
                           const uc_context *context)
{
    uc_read_settings own = *settings;
    uc_reader *reader = NULL;
    uc_input *input = NULL;
    const size_t words = table->features - table->text_first;
    sample numbers = begin_sample(table);
    double *counts = NULL;
    uc_status status = allocate(table);
    own.table = table;
    own.weights = NULL;
    if (words > 0)
        counts = uc_alloc(words + 1, sizeof *counts);
    if (status == UC_OK && words > 0 && !counts)
        status = UC_ERR_NOMEM;
    if (status == UC_OK && source->paths)
        status = uc_input_open(&input, source->paths[0]);
    else if (status == UC_OK)
        status = uc_input_open_memory(&input, source->bytes, source->length, source->name);
    if (status == UC_OK)
        status = uc_reader_open_as(&reader, input,
                                   own.format == UC_FORMAT_JSONL ? &uc_format_jsonl : &uc_format_table, &own,
                                   context);
    if (status == UC_OK)
        status = learn_from(table, reader, &numbers, counts);
    if (status == UC_OK)
        status = learn_sample(table, &numbers);
    if (status == UC_OK && words > 0)
        status = learn_words(table, counts);
    table->learned = status == UC_OK;
    uc_reader_close(reader);
    uc_free(counts);
    uc_free(numbers.values);
    return status;
}
