/*
 * What the encoder learns from numbers, in two passes over them and without a copy:
 *
 *   first    a histogram by the leading bits, and the sum
 *   second   the values in the median's bin, and the squared distances from the mean
 *
 * The median is exact. Sums have four lanes, which take values in turn, so they do not depend on whether the
 * values come from a matrix or a list.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/encode.h"

#define BINS ((size_t)2048)
#define NUMBERS_PER_BATCH ((size_t)16) /* that a thread processes at a time: their bins stay in the cache */

typedef struct number {
    uint32_t bins[BINS];
    size_t known, missing;
    double sums[4];
    /* For the second pass. */
    size_t bin, before; /* the median's bin; number of values in earlier bins */
    double mean, squares[4];
    size_t seen, taken;
    float *near; /* the values in the median's bin */
    float below; /* the largest value of earlier bins */
} number;

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

/* ---- the median ---- */

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

/* The bin of a value; a larger value is never in an earlier bin. */
static inline size_t bin_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits ^= (uint32_t) - (int32_t)(bits >> 31) | UINT32_C(0x80000000);
    return bits >> 21;
}

/* The median of all known values, after the second pass. */
static double median_of(const number *self)
{
    const size_t k = self->known / 2 - self->before;
    float below = self->below;
    if (self->known == 0)
        return 0.0;
    select_value(self->near, self->taken, k);
    for (size_t i = 0; i < k; i++)
        below = fmaxf(below, self->near[i]);
    if (self->known % 2 == 1)
        return (double)self->near[k];
    return ((double)below + (double)self->near[k]) / 2.0;
}

/* ---- passes ---- */

UC_INLINE void visit_first(number *self, float value)
{
    if (isnan(value)) {
        self->missing++;
        return;
    }
    self->bins[bin_of(value)]++;
    self->sums[self->known++ & 3] += (double)value;
}

UC_INLINE void visit_second(number *self, float value)
{
    if (isnan(value))
        return;
    const size_t bin = bin_of(value);
    if (bin == self->bin)
        self->near[self->taken++] = value;
    else if (bin < self->bin && value > self->below)
        self->below = value;
    const double x = (double)value - self->mean;
    self->squares[self->seen++ & 3] += x * x;
}

static double sum_of(const double *lanes)
{
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

/* Between the passes, finds the median's bin and the mean. */
static uc_status prepare_second(number *self)
{
    self->below = -INFINITY;
    if (self->known == 0)
        return UC_OK;
    while (self->before + self->bins[self->bin] <= self->known / 2)
        self->before += self->bins[self->bin++];
    self->mean = sum_of(self->sums) / (double)self->known;
    self->near = uc_alloc(self->bins[self->bin], sizeof *self->near);
    return self->near ? UC_OK : UC_ERR_NOMEM;
}

/* Sets what the table learns about feature j. */
static void take_number(uc_table *table, size_t j, const number *self)
{
    const double median = median_of(self), known = (double)self->known, missing = (double)self->missing;
    table->fill[j] = median;
    if (!table->factor || is_boolean(table, j))
        return;
    /* Missing values become the median, which changes the mean. */
    const double all = known + missing, mean = (known * self->mean + missing * median) / all;
    const double apart = self->mean - mean, fill_apart = median - mean;
    const double squares = sum_of(self->squares) + known * apart * apart + missing * fill_apart * fill_apart;
    const double deviation = sqrt(squares / all);
    if (table->shift && uc_table_centres(table, j))
        table->shift[j] = mean;
    /* Values that are all the same, such as the year, would outweigh all others. They become 1 or -1 if they
     * are not centred. */
    const double size = deviation > 0.0 ? deviation : fabs(median);
    if (size > 0.0 && isfinite(1.0 / size))
        table->factor[j] = 1.0 / size;
}

uc_status uc_learn_values(uc_table *table, size_t j, const float *values, size_t count)
{
    number *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        visit_first(self, values[i]);
    const uc_status status = prepare_second(self);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        visit_second(self, values[i]);
    if (status == UC_OK)
        take_number(table, j, self);
    uc_free(self->near);
    uc_free(self);
    return status;
}

/* ---- the columns of a matrix ---- */

typedef struct column_job {
    uc_table *table;
    const uc_matrix *X;
    const uc_context *context;
    size_t *numbers; /* the features that are numbers */
    size_t number_count;
} column_job;

/* The position of the first entry of a sparse row whose column is at least `column`. Tries first `guess`
 * entries after the row's beginning, since most rows of a table have the same number of entries before it. */
static inline uint64_t place_in_row(const uc_matrix *X, size_t row, size_t column, uint64_t guess)
{
    uint64_t low = X->offsets[row], high = X->offsets[row + 1];
    const uint64_t at = low + guess;
    if (at < high && X->columns[at] >= column && (guess == 0 || X->columns[at - 1] < column))
        return at;
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
    const uint64_t low = place_in_row(X, row, column, 0);
    if (low == X->offsets[row + 1] || X->columns[low] != column)
        return NULL;
    return X->values + low;
}

/* Passes every value of `count` ascending columns to `visit`; a sparse row has 0 where it has no entry. */
UC_INLINE void visit_columns(number *numbers, const uc_matrix *X, const size_t *columns, size_t count,
                             void (*visit)(number *self, float value))
{
    uint64_t before = 0; /* number of a row's entries before these columns */
    for (size_t i = 0; i < X->rows; i++) {
        if (!uc_matrix_is_sparse(X)) {
            for (size_t j = 0; j < count; j++)
                visit(&numbers[j], X->values[i * X->stride + columns[j]]);
            continue;
        }
        const uint64_t end = X->offsets[i + 1];
        uint64_t at = place_in_row(X, i, columns[0], before);
        before = at - X->offsets[i];
        for (size_t j = 0; j < count;) {
            const size_t column = at < end ? X->columns[at] : SIZE_MAX;
            if (column == columns[j])
                visit(&numbers[j++], X->values[at++]);
            else if (column < columns[j])
                at++;
            else
                visit(&numbers[j++], 0.0f);
        }
    }
}

static uc_status learn_batch(size_t batch, void *user)
{
    const column_job *self = user;
    const uc_range range = uc_block_range(batch, self->number_count, NUMBERS_PER_BATCH);
    const size_t count = range.last - range.first, *columns = self->numbers + range.first;
    uc_status status = UC_OK;
    number *numbers = uc_alloc(count, sizeof *numbers);
    if (!numbers)
        return UC_ERR_NOMEM;
    visit_columns(numbers, self->X, columns, count, visit_first);
    for (size_t j = 0; j < count && status == UC_OK; j++)
        status = prepare_second(&numbers[j]);
    if (status == UC_OK)
        visit_columns(numbers, self->X, columns, count, visit_second);
    for (size_t j = 0; j < count && status == UC_OK; j++)
        take_number(self->table, columns[j], &numbers[j]);
    for (size_t j = 0; j < count; j++)
        uc_free(numbers[j].near);
    uc_free(numbers);
    return status;
}

/* ---- several processes ---- */

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

/* Learns a column from the rows of all processes. */
static uc_status learn_shared_column(size_t j, const column_job *self)
{
    size_t count = self->X->rows;
    float *values = uc_alloc(count, sizeof *values);
    if (!values)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const float *cell = uc_matrix_cell(self->X, i, j);
        values[i] = cell ? *cell : 0.0f;
    }
    uc_status status = uc_gather_values(&values, &count, self->context);
    if (status == UC_OK)
        status = uc_learn_values(self->table, j, values, count);
    uc_free(values);
    return status;
}

uc_status uc_learn_columns(uc_table *table, const uc_matrix *X, const uc_context *context)
{
    column_job job = {.table = table, .X = X, .context = context};
    uc_status status = UC_OK;
    job.numbers = uc_alloc(table->text_first, sizeof *job.numbers);
    if (!job.numbers)
        return UC_ERR_NOMEM;
    for (size_t j = 0; j < table->text_first; j++)
        if (uc_feature_is_number(table, j))
            job.numbers[job.number_count++] = j;
    if (!uc_is_shared(context))
        status =
            uc_run_blocks(context, uc_block_count(job.number_count, NUMBERS_PER_BATCH), learn_batch, &job);
    for (size_t k = 0; uc_is_shared(context) && k < job.number_count && status == UC_OK; k++)
        status = learn_shared_column(job.numbers[k], &job); /* all processes communicate in the same order */
    uc_free(job.numbers);
    return status;
}
