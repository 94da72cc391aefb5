/*
 * The encoder: what a table learns from its training rows, so that later rows become the same features.
 *
 *   v_ij   value of row i and feature j as it was read: NaN is missing, a word is 1 + log(count)
 *   n      rows             d_j   rows that have word j
 *
 *   fill_j    the median of the values of a number that are not missing
 *   factor_j  1 / the deviation of a number, in sparse rows only, whose zeros cannot be shifted away
 *             idf_j = log((1 + n) / (1 + d_j)) + 1 of a word; 1 for all others
 *
 *   encoded value = (v_ij is NaN ? fill_j : v_ij) factor_j
 *
 * A data set in memory gives the exact median. A stream is read once more for it, and the median is that of
 * evenly spaced rows, at most SAMPLE of them, and fewer of wide tables.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/encode.h"

#define SAMPLE ((size_t)131072)
#define LEAST_SAMPLE ((size_t)4096)
#define SAMPLE_VALUES ((size_t)1 << 25) /* of all columns: 128 MB */
#define ROWS_PER_BLOCK ((size_t)1024)
#define COLUMNS_PER_BATCH ((size_t)8) /* that a thread learns from at a time */

/* ---- the features that are numbers ---- */

bool uc_feature_is_number(const uc_table *table, size_t feature)
{
    const uc_table_column *column = &table->columns[table->column_of[feature]];
    const bool is_flag = column->has_missing && feature + 1 == column->first + column->features;
    return column->type != UC_COLUMN_CATEGORY && !is_flag;
}

static bool is_boolean(const uc_table *table, size_t feature)
{
    return table->columns[table->column_of[feature]].type == UC_COLUMN_BOOLEAN;
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* Moves the k-th smallest value to place k, smaller ones before it and larger ones after it (Hoare). */
static void select_value(float *values, size_t count, size_t k)
{
    size_t low = 0, high = count - 1;
    while (high - low > 16) {
        const float a = values[low], b = values[low + (high - low) / 2], c = values[high];
        const float pivot = fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
        size_t i = low, j = high;
        for (;;) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            const float swap = values[i];
            values[i++] = values[j];
            values[j--] = swap;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    qsort(values + low, high - low + 1, sizeof *values, compare_floats);
}

static double median_of(float *values, size_t count)
{
    if (count == 0)
        return 0.0;
    const size_t half = count / 2;
    select_value(values, count, half);
    if (count % 2 == 1)
        return (double)values[half];
    float below = values[0];
    for (size_t i = 1; i < half; i++)
        below = fmaxf(below, values[i]);
    return ((double)below + (double)values[half]) / 2.0;
}

/* The deviation when `missing` values are the median. */
static double deviation_of(const float *values, size_t count, size_t missing, double median)
{
    const double all = (double)(count + missing);
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; i++)
        mean += (double)values[i];
    mean = (mean + (double)missing * median) / all;
    for (size_t i = 0; i < count; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean);
    squares += (double)missing * (median - mean) * (median - mean);
    return sqrt(squares / all);
}

/* Fills in what the table learns of feature j; moves the missing values to the end of the list first. */
void uc_learn_values(uc_table *table, size_t j, float *values, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            values[known++] = values[i];
    /* A sum does not depend on the order of the rows when they are sorted first; selecting is enough for the
     * median, and the deviation only scales. */
    table->fill[j] = median_of(values, known);
    if (!table->factor || is_boolean(table, j))
        return;
    const double deviation = deviation_of(values, known, count - known, table->fill[j]);
    if (deviation > 0.0 && isfinite(1.0 / deviation))
        table->factor[j] = 1.0 / deviation;
}

/* ---- data in memory ---- */

typedef struct column_job {
    uc_table *table;
    const uc_matrix *X;
    const uc_context *context;
} column_job;

/* Where the first entry of a sparse row is whose column is not less. */
static uint64_t place_in_row(const uc_matrix *X, size_t row, size_t column)
{
    uint64_t low = X->offsets[row], high = X->offsets[row + 1];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (X->columns[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

float *uc_matrix_cell(const uc_matrix *X, size_t row, size_t column)
{
    if (!uc_matrix_is_sparse(X))
        return X->values + row * X->stride + column;
    const uint64_t low = place_in_row(X, row, column);
    if (low == X->offsets[row + 1] || X->columns[low] != column)
        return NULL;
    return X->values + low;
}

uc_status uc_gather_values(float **values, size_t *count, const uc_context *context)
{
    const int processes = uc_comm_size(uc_comm_of(context));
    void *all = NULL;
    if (!uc_is_shared(context))
        return UC_OK;
    size_t *sizes = uc_alloc((size_t)processes, sizeof *sizes);
    if (!sizes)
        return UC_ERR_NOMEM;
    const uc_status status =
        uc_comm_gather(&all, sizes, uc_comm_of(context), *values, *count * sizeof **values);
    if (status == UC_OK && all) {
        uc_free(*values);
        *values = all;
        *count = 0;
        for (int r = 0; r < processes; r++)
            *count += sizes[r] / sizeof **values;
    }
    uc_free(sizes);
    return status;
}

/* The values of `count` neighbouring columns from `first` on, column after column; 0 where a sparse row has
 * none. */
static void copy_columns(float *values, const uc_matrix *X, size_t first, size_t count)
{
    const size_t last = first + count;
    for (size_t i = 0; i < X->rows; i++) {
        if (!uc_matrix_is_sparse(X)) {
            for (size_t j = 0; j < count; j++)
                values[j * X->rows + i] = X->values[i * X->stride + first + j];
            continue;
        }
        const uint64_t end = X->offsets[i + 1];
        for (uint64_t at = place_in_row(X, i, first); at < end && X->columns[at] < last; at++)
            values[(X->columns[at] - first) * X->rows + i] = X->values[at];
    }
}

/* Every row is walked once for several columns. */
static uc_status learn_batch(size_t batch, void *user)
{
    const column_job *self = user;
    const uc_range columns = uc_block_range(batch, self->table->text_first, COLUMNS_PER_BATCH);
    const size_t rows = self->X->rows, count = columns.last - columns.first;
    bool any = false;
    for (size_t j = columns.first; j < columns.last; j++)
        any = any || uc_feature_is_number(self->table, j);
    if (!any)
        return UC_OK;
    float *values = uc_alloc(rows * count, sizeof *values);
    if (!values)
        return UC_ERR_NOMEM;
    copy_columns(values, self->X, columns.first, count);
    for (size_t j = 0; j < count; j++)
        if (uc_feature_is_number(self->table, columns.first + j))
            uc_learn_values(self->table, columns.first + j, values + j * rows, rows);
    uc_free(values);
    return UC_OK;
}

/* The column of all processes. */
static uc_status learn_shared_column(size_t j, const column_job *self)
{
    size_t count = self->X->rows;
    if (!uc_feature_is_number(self->table, j))
        return UC_OK;
    float *values = uc_alloc(count, sizeof *values);
    if (!values)
        return UC_ERR_NOMEM;
    copy_columns(values, self->X, j, 1);
    const uc_status status = uc_gather_values(&values, &count, self->context);
    if (status == UC_OK)
        uc_learn_values(self->table, j, values, count);
    uc_free(values);
    return status;
}

static uc_status learn_columns(uc_table *table, const uc_matrix *X, const uc_context *context)
{
    column_job job = {table, X, context};
    uc_status status = UC_OK;
    if (!uc_is_shared(context))
        return uc_run_blocks(context, uc_block_count(table->text_first, COLUMNS_PER_BATCH), learn_batch,
                             &job);
    for (size_t j = 0; j < table->text_first && status == UC_OK; j++)
        status = learn_shared_column(j, &job); /* processes talk in the same order */
    return status;
}

static uc_status allocate(uc_table *table)
{
    table->fill = uc_alloc(table->text_first, sizeof *table->fill);
    if (table->sparse)
        table->factor = uc_alloc(table->features, sizeof *table->factor);
    if (!table->fill || (table->sparse && !table->factor))
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

/* Keeps the slots that some row has, with their idf. */
static uc_status learn_words(uc_table *table, const double *counts)
{
    const size_t first = table->text_first, slots = table->features - first;
    uint32_t *words = uc_alloc(slots, sizeof *words);
    size_t count = 0;
    if (!words)
        return UC_ERR_NOMEM;
    for (size_t w = 0; w < slots; w++) {
        if (counts[w] == 0.0)
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

static uc_status encode_block(size_t block, void *user)
{
    const encoding *self = user;
    const uc_table *table = self->table;
    const uc_range rows = uc_block_range(block, self->X->rows, ROWS_PER_BLOCK);
    for (size_t i = rows.first; i < rows.last; i++) {
        const uc_row row = uc_matrix_row(self->X, i);
        float *values = self->X->values + (row.values - self->X->values);
        for (size_t j = 0; j < row.count; j++) {
            size_t feature = uc_row_column(row, j);
            if (feature >= table->text_first) {
                feature = table->word_of[feature - table->text_first];
                self->X->columns[row.columns - self->X->columns + (ptrdiff_t)j] = (uint32_t)feature;
            }
            if (feature < table->text_first && isnan(values[j]))
                values[j] = (float)table->fill[feature];
            if (table->factor)
                values[j] = (float)((double)values[j] * table->factor[feature]);
        }
    }
    return UC_OK;
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
    status = learn_columns(table, &data->X, context);
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
    table->learned = status == UC_OK;
    return status;
}

/* ---- streams ---- */

/* Every `stride`-th row's numbers, row by row; there is room for `room` rows, at most `most`. */
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

/* Every other row stays. */
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
    for (size_t j = 0; j < self->features; j++) {
        if (!uc_feature_is_number(table, j))
            continue;
        for (size_t s = 0; s < self->count; s++)
            column[s] = self->values[s * self->features + j];
        uc_learn_values(table, j, column, self->count);
    }
    uc_free(column);
    return UC_OK;
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
