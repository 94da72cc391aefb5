/*
 * Scaling and unit length.
 *
 *   scaled value = (value - shift_j) factor_j
 *
 *   range     shift = (max + min)/2, factor = 2/(max - min)
 *   standard  shift = mean,          factor = 1/deviation
 *   maxabs    shift = 0,             factor = 1/max |value|
 *
 * A constant column gets factor 0. Means and deviations are gathered value by value (Welford) over the
 * values that are stored, and the zeros that a sparse row leaves out join at the end (Chan et al.). A row of
 * weight u is u rows.
 */
#include "prepare/preprocessing.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

#define ROWS_PER_BLOCK ((size_t)1024)
#define COLUMNS_PER_JOB ((size_t)16) /* a line of the cache */

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

/* Some columns of all rows: a column is gathered by one thread, in the order of the rows. */
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

/* The column as if its zeros had been stored. */
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

static void scale_column(double *shift, double *factor, const column_sums *column, uc_scaling scaling)
{
    *shift = 0.0;
    switch (scaling) {
    case UC_SCALE_RANGE:
        *shift = (column->high + column->low) / 2;
        *factor = 2 * inverse_or_zero(column->high - column->low);
        break;
    case UC_SCALE_STANDARD:
        *shift = column->mean;
        *factor = 0.0;
        if (column->high != column->low)
            *factor = inverse_or_zero(sqrt(column->squares / column->weight));
        break;
    case UC_SCALE_MAXABS:
        *factor = inverse_or_zero(fmax(fabs(column->low), fabs(column->high)));
        break;
    case UC_SCALE_NONE:
    case UC_SCALE_AUTO: /* never here: it is decided before */
        *factor = 1.0;
        break;
    }
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
        uc_preprocessing_free(&preprocessing);
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

/* The values of both, as if one had seen them all (Chan et al.). */
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

/* The sums of this process become those of all; all have as many columns. */
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
    if (scaling != UC_SCALE_RANGE && scaling != UC_SCALE_STANDARD)
        return UC_OK;
    const char *name = scaling == UC_SCALE_RANGE ? "range" : "standard";
    return uc_fail(
        UC_ERR_INVALID,
        "{scale=%s} would turn the zeros of sparse data into other values: use {scale=maxabs}, or read "
        "the data with {storage=dense}",
        name);
}

static uc_status learn_scaling(uc_preprocessing *out, uc_scaling scaling, const uc_matrix *X,
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

bool uc_preprocessing_is_identity(const uc_preprocessing *self)
{
    return !self->factor && !self->root && !self->normalize_input && !self->map && !self->normalize &&
           !self->views;
}

/* A value far outside of what the scaling was learned from stays finite. */
static float to_float(double value)
{
    if (value > (double)FLT_MAX)
        return FLT_MAX;
    if (value < -(double)FLT_MAX)
        return -FLT_MAX;
    return (float)value;
}

static double scaled(const uc_preprocessing *self, size_t j, double value)
{
    if (self->shift)
        value -= self->shift[j];
    return value * self->factor[j];
}

static uc_row scale_row(const uc_preprocessing *self, uc_row row, float *work)
{
    if (self->shift) { /* zeros, and columns that the row does not have, become other values */
        size_t next = 0;
        for (size_t j = 0; j < self->cols; j++) {
            double value = 0.0;
            if (next < row.count && uc_row_column(row, next) == j)
                value = row.values[next++];
            work[j] = to_float(scaled(self, j, value));
        }
        return (uc_row){self->cols, work, NULL};
    }
    for (size_t j = 0; j < row.count; j++)
        work[j] = to_float(scaled(self, uc_row_column(row, j), row.values[j]));
    return (uc_row){row.count, work, row.columns};
}

uc_row uc_normalize_row(uc_row row, float *work)
{
    const double length = sqrt(uc_row_norm2(row));
    if (length == 0.0)
        return row;
    for (size_t j = 0; j < row.count; j++)
        work[j] = (float)(row.values[j] / length);
    return (uc_row){row.count, work, row.columns};
}

static uc_row root_row(uc_row row, float *work)
{
    for (size_t j = 0; j < row.count; j++)
        work[j] = copysignf(sqrtf(fabsf(row.values[j])), row.values[j]);
    return (uc_row){row.count, work, row.columns};
}

uc_row uc_prepare_input(const uc_preprocessing *self, uc_row row, float *work)
{
    assert(!self->factor || row.count == 0 || uc_row_column(row, row.count - 1) < self->cols);
    if (self->factor)
        row = scale_row(self, row, work);
    if (self->root)
        row = root_row(row, work);
    if (self->normalize_input || (self->normalize && !self->map))
        row = uc_normalize_row(row, work);
    return row;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t whole_lines(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

size_t uc_preprocessing_dimension(const uc_preprocessing *self, size_t cols)
{
    if (self->views)
        return uc_row_views_dimension(self);
    return self->map ? uc_map_dimension(self->map) : cols;
}

/* The prepared input, then the mapped row, then what the map needs. */
size_t uc_preprocessing_row_work(const uc_preprocessing *self, size_t cols)
{
    const size_t input = whole_lines(larger(cols, self->cols));
    if (self->views)
        return input + uc_row_views_row_work(self, larger(cols, self->cols));
    if (!self->map)
        return input;
    return input + whole_lines(uc_map_dimension(self->map)) + 2 * uc_map_row_work(self->map);
}

uc_row uc_preprocessing_row(const uc_preprocessing *self, uc_row row, float *work)
{
    row = uc_prepare_input(self, row, work);
    if (self->views)
        return uc_row_views_row(self, row, work + whole_lines(larger(row.count, self->cols)));
    if (!self->map)
        return row;
    const size_t dimension = uc_map_dimension(self->map);
    const size_t input = row.columns ? row.count : larger(row.count, self->cols);
    float *mapped = work + whole_lines(input);
    uc_map_row(mapped, self->map, row, (double *)(void *)(mapped + whole_lines(dimension)));
    row = (uc_row){dimension, mapped, NULL};
    if (!self->normalize)
        return row;
    return uc_normalize_row(row, mapped);
}

typedef struct apply_job {
    const uc_preprocessing *preprocessing;
    uc_matrix *X;
} apply_job;

/* In place: the work space of a row is the row itself. */
static uc_status prepare_input_block(size_t block, void *user)
{
    const apply_job *job = user;
    const uc_range rows = uc_block_range(block, job->X->rows, ROWS_PER_BLOCK);
    for (size_t i = rows.first; i < rows.last; i++) {
        const uc_row row = uc_matrix_row(job->X, i);
        (void)uc_prepare_input(job->preprocessing, row, job->X->values + (row.values - job->X->values));
    }
    return UC_OK;
}

static uc_status normalize_block(size_t block, void *user)
{
    const apply_job *job = user;
    const uc_range rows = uc_block_range(block, job->X->rows, ROWS_PER_BLOCK);
    for (size_t i = rows.first; i < rows.last; i++) {
        const uc_row row = uc_matrix_row(job->X, i);
        (void)uc_normalize_row(row, job->X->values + (row.values - job->X->values));
    }
    return UC_OK;
}

static uc_status apply_to_blocks(const uc_preprocessing *self, uc_matrix *X, uc_block_job *job,
                                 const uc_context *context)
{
    apply_job user = {self, X};
    return uc_run_blocks(context, uc_block_count(X->rows, ROWS_PER_BLOCK), job, &user);
}

/* The map, and unit length after it. */
static uc_status apply_map(const uc_preprocessing *self, uc_matrix *X, const uc_context *context)
{
    uc_matrix mapped;
    const uc_status status = uc_map_apply(&mapped, self->map, X, context);
    if (status != UC_OK)
        return status;
    uc_matrix_free(X);
    *X = mapped;
    if (!self->normalize)
        return UC_OK;
    return apply_to_blocks(self, X, normalize_block, context);
}

uc_status uc_preprocessing_apply(const uc_preprocessing *self, uc_matrix *X, const uc_context *context)
{
    if (uc_preprocessing_is_identity(self))
        return UC_OK;
    if (self->factor && X->cols > self->cols)
        return uc_fail(UC_ERR_INVALID, "the data have %zu columns, but the scaling was learned from %zu",
                       X->cols, self->cols);
    if (self->shift && (uc_matrix_is_sparse(X) || X->cols != self->cols))
        return uc_fail(UC_ERR_INVALID, "only dense data of %zu columns can be shifted in place", self->cols);
    const uc_status status = apply_to_blocks(self, X, prepare_input_block, context);
    if (status == UC_OK && self->views)
        return uc_row_views_apply(self, X, context);
    if (status != UC_OK || !self->map)
        return status;
    return apply_map(self, X, context);
}

typedef struct mapped_check {
    const uc_matrix *X;
    size_t rows_before;
} mapped_check;

static uc_status check_mapped(size_t block, void *user)
{
    const mapped_check *self = user;
    const uc_range rows = uc_block_range(block, self->X->rows, ROWS_PER_BLOCK);
    for (size_t i = rows.first; i < rows.last; i++)
        if (!isfinite(uc_row_norm2(uc_matrix_row(self->X, i))))
            return uc_fail(UC_ERR_DIVERGED, "row %zu: mapped features overflowed; scale the data ({scale})",
                           self->rows_before + i + 1);
    return UC_OK;
}

/* The map is learned from rows as it will see them. */
static uc_status fit_map(uc_preprocessing *self, uc_matrix *X, const uc_preprocessing_settings *settings,
                         const uc_context *context)
{
    uc_share share;
    uc_status status = uc_share_of(&share, context, X->rows);
    if (status == UC_OK && settings->map && settings->map->map != UC_MAP_NONE)
        status = uc_map_fit(&self->map, settings->map, X, settings->seed, context);
    self->normalize = settings->normalize;
    if (status == UC_OK && self->map) {
        mapped_check mapped = {X, share.first};
        status = apply_map(self, X, context);
        if (status == UC_OK)
            status = uc_run_blocks(context, uc_block_count(X->rows, ROWS_PER_BLOCK), check_mapped, &mapped);
        return uc_comm_agree(uc_comm_of(context), status);
    }
    if (status == UC_OK && self->normalize && !self->normalize_input)
        return apply_to_blocks(self, X, normalize_block, context);
    return status;
}

uc_status uc_preprocessing_fit(uc_preprocessing *out, uc_matrix *X, const uc_preprocessing_settings *settings,
                               const uc_context *context)
{
    uc_preprocessing preprocessing = {0};
    uc_status status = learn_scaling(&preprocessing, settings->scaling, X, settings->weights, context);
    if (status != UC_OK)
        return status;
    preprocessing.normalize_input = settings->normalize_input;
    status = uc_preprocessing_apply(&preprocessing, X, context);
    if (status == UC_OK)
        status = fit_map(&preprocessing, X, settings, context);
    if (status == UC_OK)
        *out = preprocessing;
    else
        uc_preprocessing_free(&preprocessing);
    return status;
}

static uc_status copy_reals(double **out, const double *from, size_t count)
{
    if (!from)
        return UC_OK;
    *out = uc_alloc(count, sizeof **out);
    if (!*out)
        return UC_ERR_NOMEM;
    memcpy(*out, from, count * sizeof *from);
    return UC_OK;
}

uc_status uc_preprocessing_copy(uc_preprocessing *out, const uc_preprocessing *self)
{
    uc_preprocessing copy = *self;
    copy.shift = copy.factor = NULL;
    copy.map = NULL;
    copy.views = NULL;
    uc_status status = copy_reals(&copy.shift, self->shift, self->cols);
    if (status == UC_OK)
        status = copy_reals(&copy.factor, self->factor, self->cols);
    if (status == UC_OK && self->map)
        status = uc_map_copy(&copy.map, self->map);
    if (status == UC_OK && self->views)
        status = uc_row_views_copy(&copy, self);
    if (status == UC_OK)
        *out = copy;
    else
        uc_preprocessing_free(&copy);
    return status;
}

void uc_preprocessing_free(uc_preprocessing *self)
{
    uc_free(self->shift);
    uc_free(self->factor);
    uc_map_free(self->map);
    uc_row_views_free(self);
    *self = (uc_preprocessing){0};
}
