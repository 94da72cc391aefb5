/*
 * Scaling and unit length.
 *
 *   scaled value = (value - shift_j) factor_j
 *
 *   range     shift = (max + min)/2, factor = 2/(max - min)
 *   standard  shift = mean,          factor = 1/deviation
 *   maxabs    shift = 0,             factor = 1/max |value|
 *   numbers   standard; a column of only 0 and 1, such as that of a category, is not scaled
 *
 * A constant column gets factor 0. Means and deviations are updated value by value (Welford) over the stored
 * values; the zeros that sparse rows leave out are merged at the end (Chan et al.). A row of weight u counts
 * as u rows.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "prepare/preprocessing.h"

#define COLUMNS_PER_JOB ((size_t)16) /* floats of a cache line */
#define ROUNDING 1e-9                /* relative error of a variance */

typedef struct column_sums {
    uint64_t count; /* stored values */
    double weight;  /* of their rows */
    double low, high, mean, squares;
} column_sums;

struct uc_scale_sums {
    uint64_t rows;
    double weight; /* of the rows */
    size_t cols, capacity;
    column_sums *columns;
};

static void add_value(column_sums *column, double value, double weight)
{
    if (column->count == 0 || value < column->low)
        column->low = value;
    if (column->count == 0 || value > column->high)
        column->high = value;
    const double difference = value - column->mean;
    column->count++;
    column->weight += weight;
    column->mean += weight * difference / column->weight;
    column->squares += weight * difference * (value - column->mean);
}

static uc_status widen(uc_scale_sums *self, size_t cols)
{
    if (cols > self->capacity) {
        const size_t capacity = uc_grown(self->capacity, cols);
        column_sums *columns = uc_realloc(self->columns, capacity, sizeof *columns);
        if (!columns)
            return UC_ERR_NOMEM;
        memset(columns + self->capacity, 0, (capacity - self->capacity) * sizeof *columns);
        self->columns = columns;
        self->capacity = capacity;
    }
    if (cols > self->cols)
        self->cols = cols;
    return UC_OK;
}

static void add_sparse(uc_scale_sums *self, const uc_matrix *X, const double *weights)
{
    for (size_t i = 0; i < X->rows; i++) {
        const uc_row row = uc_matrix_row(X, i);
        const double weight = weights ? weights[i] : 1.0;
        for (size_t j = 0; weight > 0.0 && j < row.count; j++)
            add_value(&self->columns[row.columns[j]], row.values[j], weight);
    }
}

typedef struct column_job {
    uc_scale_sums *sums;
    const uc_matrix *X;
    const double *weights;
} column_job;

/* Sums up some columns of all rows. Each column is summed by one thread, in the order of the rows. */
static uc_status add_columns(size_t number, void *user)
{
    const column_job *job = user;
    const uc_matrix *X = job->X;
    const uc_range columns = uc_block_range(number, X->cols, COLUMNS_PER_JOB);
    for (size_t i = 0; i < X->rows; i++) {
        const double weight = job->weights ? job->weights[i] : 1.0;
        for (size_t j = columns.first; weight > 0.0 && j < columns.last; j++)
            add_value(&job->sums->columns[j], X->values[i * X->stride + j], weight);
    }
    return UC_OK;
}

static uc_status add_rows(uc_scale_sums **sums, const uc_matrix *X, const double *weights,
                          const uc_context *context)
{
    if (!*sums && !(*sums = uc_alloc(1, sizeof **sums)))
        return UC_ERR_NOMEM;
    uc_scale_sums *self = *sums;
    uc_status status = widen(self, X->cols);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < X->rows; i++) {
        const double weight = weights ? weights[i] : 1.0;
        self->rows += weight > 0.0;
        self->weight += weight;
    }
    if (uc_matrix_is_sparse(X)) {
        add_sparse(self, X, weights);
        return UC_OK;
    }
    column_job job = {self, X, weights};
    const uc_context fitting = uc_context_for_work(context, 4.0 * (double)X->rows * (double)X->cols);
    return uc_run_blocks(&fitting, uc_block_count(X->cols, COLUMNS_PER_JOB), add_columns, &job);
}

uc_status uc_scale_sums_add(uc_scale_sums **sums, const uc_matrix *X, const double *weights)
{
    const uc_context one_thread = {.threads = 1};
    return add_rows(sums, X, weights, &one_thread);
}

/* The sums of the column as if its zeros had been stored. */
static column_sums with_zeros(column_sums column, uint64_t rows, double weight)
{
    if (rows == column.count)
        return column;
    if (column.count == 0)
        return (column_sums){.count = rows, .weight = weight};
    const double zeros = fmax(weight - column.weight, 0.0);
    column.low = fmin(column.low, 0.0);
    column.high = fmax(column.high, 0.0);
    column.squares += column.mean * column.mean * column.weight * zeros / weight;
    column.mean *= column.weight / weight;
    column.count = rows;
    column.weight = weight;
    return column;
}

static double inverse_or_zero(double value)
{
    if (!(value > 0.0) || !isfinite(1.0 / value))
        return 0.0;
    return 1.0 / value;
}

/* Values in [0, 1] of mean m have the variance m (1 - m) if all of them are 0 or 1, and less otherwise. */
static bool is_indicator(const column_sums *column)
{
    if (column->low != 0.0 || column->high != 1.0)
        return false;
    const double largest = column->mean * (1.0 - column->mean);
    return largest - column->squares / column->weight <= ROUNDING * largest;
}

static void scale_column(double *shift, double *factor, const column_sums *column, uc_scaling scaling)
{
    *shift = 0.0;
    if (scaling == UC_SCALE_NUMBERS && is_indicator(column)) {
        *factor = 1.0;
        return;
    }
    switch (scaling) {
    case UC_SCALE_RANGE:
        *shift = (column->high + column->low) / 2;
        *factor = 2 * inverse_or_zero(column->high - column->low);
        break;
    case UC_SCALE_STANDARD:
    case UC_SCALE_NUMBERS:
        *shift = column->mean;
        *factor = 0.0;
        if (column->high != column->low)
            *factor = inverse_or_zero(sqrt(column->squares / column->weight));
        break;
    case UC_SCALE_MAXABS:
        *factor = inverse_or_zero(fmax(fabs(column->low), fabs(column->high)));
        break;
    case UC_SCALE_NONE:
    case UC_SCALE_AUTO: /* replaced before this is called */
    case UC_SCALE_TERMS:
    case UC_SCALE_RELEVANCE: /* relevance.c */
        *factor = 1.0;
        break;
    }
}

/* ---- row by row ---- */

uc_status uc_scale_sums_reserve(uc_scale_sums **sums, size_t cols)
{
    if (!*sums && !(*sums = uc_alloc(1, sizeof **sums)))
        return UC_ERR_NOMEM;
    return widen(*sums, cols);
}

void uc_scale_sums_add_row(uc_scale_sums *self, uc_row row)
{
    assert(uc_row_width(row) <= self->cols);
    self->rows++;
    self->weight += 1.0;
    for (size_t j = 0; j < row.count; j++)
        add_value(&self->columns[uc_row_column(row, j)], row.values[j], 1.0);
}

void uc_scale_sums_column(double *shift, double *factor, const uc_scale_sums *self, uc_scaling scaling,
                          size_t j)
{
    assert(j < self->cols);
    const column_sums column = with_zeros(self->columns[j], self->rows, self->weight);
    scale_column(shift, factor, &column, scaling);
}

uc_status uc_scale_sums_copy(uc_scale_sums **out, const uc_scale_sums *self)
{
    uc_scale_sums *copy = NULL;
    const uc_status status = uc_scale_sums_reserve(&copy, self->cols);
    if (status != UC_OK) {
        uc_scale_sums_free(copy);
        return status;
    }
    copy->rows = self->rows;
    copy->weight = self->weight;
    if (self->cols > 0)
        memcpy(copy->columns, self->columns, self->cols * sizeof *copy->columns);
    *out = copy;
    return UC_OK;
}

uint64_t uc_scale_sums_rows(const uc_scale_sums *self)
{
    return self->rows;
}

void uc_scale_sums_pack(double *out, const uc_scale_sums *self)
{
    for (size_t j = 0; j < self->cols; j++) {
        const column_sums *column = &self->columns[j];
        const double packed[UC_SCALE_SUMS_PACKED] = {(double)column->count, column->low, column->high,
                                                     column->mean, column->squares};
        memcpy(out + j * UC_SCALE_SUMS_PACKED, packed, sizeof packed);
    }
}

bool uc_scale_sums_unpack(uc_scale_sums *self, uint64_t rows, const double *packed)
{
    for (size_t j = 0; j < self->cols; j++) {
        const double *from = packed + j * UC_SCALE_SUMS_PACKED;
        if (!(from[0] >= 0.0 && from[0] <= (double)rows && from[4] >= 0.0 && from[1] <= from[2]))
            return false;
        self->columns[j] = (column_sums){.count = (uint64_t)from[0],
                                         .weight = from[0],
                                         .low = from[1],
                                         .high = from[2],
                                         .mean = from[3],
                                         .squares = from[4]};
    }
    self->rows = rows;
    self->weight = (double)rows;
    return true;
}

uc_status uc_scale_sums_finish(uc_preprocessing *out, uc_scale_sums *sums, uc_scaling scaling, size_t cols)
{
    uc_preprocessing preprocessing = {.scaling = scaling, .cols = cols};
    if (scaling == UC_SCALE_NONE) {
        *out = preprocessing;
        return UC_OK;
    }
    uc_status status = widen(sums, cols);
    if (status != UC_OK)
        return status;
    preprocessing.shift = uc_alloc(cols, sizeof *preprocessing.shift);
    preprocessing.factor = uc_alloc(cols, sizeof *preprocessing.factor);
    if (!preprocessing.shift || !preprocessing.factor) {
        uc_free(preprocessing.shift);
        uc_free(preprocessing.factor);
        return UC_ERR_NOMEM;
    }
    for (size_t j = 0; j < cols; j++) {
        const column_sums column = with_zeros(sums->columns[j], sums->rows, sums->weight);
        scale_column(&preprocessing.shift[j], &preprocessing.factor[j], &column, scaling);
    }
    if (scaling == UC_SCALE_MAXABS) {
        uc_free(preprocessing.shift);
        preprocessing.shift = NULL;
    }
    *out = preprocessing;
    return UC_OK;
}

void uc_scale_sums_free(uc_scale_sums *sums)
{
    if (sums)
        uc_free(sums->columns);
    uc_free(sums);
}

/* The sums over the values of both (Chan et al.). */
static column_sums merge_columns(column_sums a, column_sums b)
{
    if (a.count == 0)
        return b;
    if (b.count == 0)
        return a;
    const double all = a.weight + b.weight, difference = b.mean - a.mean;
    a.low = fmin(a.low, b.low);
    a.high = fmax(a.high, b.high);
    a.squares += b.squares + difference * difference * a.weight * b.weight / all;
    a.mean += difference * b.weight / all;
    a.count += b.count;
    a.weight = all;
    return a;
}

/* Replaces the sums of this process by those over all processes. All have as many columns. */
static uc_status merge_sums(uc_scale_sums *self, size_t cols, const uc_context *context)
{
    const uc_comm *comm = uc_comm_of(context);
    column_sums *all = NULL;
    uc_share share;
    if (!uc_is_shared(context))
        return UC_OK;
    uc_status status = uc_share_of(&share, context, (size_t)self->rows);
    if (status == UC_OK)
        status = uc_comm_gather((void **)&all, NULL, comm, self->columns, cols * sizeof *all);
    for (size_t j = 0; j < cols && status == UC_OK; j++) {
        self->columns[j] = all[j];
        for (int r = 1; r < comm->size; r++)
            self->columns[j] = merge_columns(self->columns[j], all[(size_t)r * cols + j]);
    }
    self->rows = share.total;
    uc_free(all);
    if (status == UC_OK)
        status = uc_comm_sum(comm, &self->weight, 1);
    return status;
}

uc_status uc_check_sparse_scaling(uc_scaling scaling)
{
    static const char *const shifting[] = {
        [UC_SCALE_RANGE] = "range", [UC_SCALE_STANDARD] = "standard", [UC_SCALE_NUMBERS] = "numbers"};
    if ((size_t)scaling >= sizeof shifting / sizeof *shifting || !shifting[scaling])
        return UC_OK;
    return uc_fail(
        UC_ERR_INVALID,
        "{scale=%s} would turn the zeros of sparse data into other values: use {scale=maxabs}, or read "
        "the data with {storage=dense}",
        shifting[scaling]);
}

uc_status uc_learn_scaling(uc_preprocessing *out, uc_scaling scaling, const uc_matrix *X,
                           const double *weights, const uc_context *context)
{
    uc_scale_sums *sums = NULL;
    uc_status status = UC_OK;
    if (uc_matrix_is_sparse(X))
        status = uc_check_sparse_scaling(scaling);
    if (status != UC_OK)
        return status;
    if (scaling != UC_SCALE_NONE)
        status = add_rows(&sums, X, weights, context);
    if (status == UC_OK && sums)
        status = merge_sums(sums, X->cols, context);
    if (status == UC_OK)
        status = uc_scale_sums_finish(out, sums, scaling, X->cols);
    uc_scale_sums_free(sums);
    return status;
}
