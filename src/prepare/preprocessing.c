/* Preprocessing of rows: scaling, roots, unit length, the map or several views, unit length. scaling.c learns
 * the scaling. */
#include "prepare/preprocessing.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

#define ROWS_PER_BLOCK ((size_t)1024)

bool uc_preprocessing_is_identity(const uc_preprocessing *self)
{
    return !self->factor && !self->root && !self->normalize_input && !self->map && !self->normalize &&
           !self->views;
}

/* Keeps a value finite that is far outside the range that the scaling was learned from. */
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
    if (self->scaling == UC_SCALE_TERMS)
        value = uc_damped_count(value);
    if (self->bend && self->bend[j] > 0.0)
        value = asinh(value * self->bend[j]);
    return value * self->factor[j];
}

uc_row uc_scale_row(const uc_preprocessing *self, uc_row row, float *work)
{
    if (self->shift) { /* zeros, and columns that the row lacks, become other values */
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
        row = uc_scale_row(self, row, work);
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

/* ---- several views ---- */

bool uc_preprocessing_shifts(const uc_preprocessing *self)
{
    bool shifts = self->shift != NULL;
    for (size_t v = 0; v < self->view_count; v++)
        shifts = shifts || self->views[v].shift;
    return shifts;
}

static size_t views_dimension(const uc_preprocessing *self)
{
    size_t dimension = 0;
    for (size_t v = 0; v < self->view_count; v++)
        dimension += uc_preprocessing_dimension(&self->views[v], self->views[v].cols);
    return dimension;
}

static size_t views_row_work(const uc_preprocessing *self, size_t cols)
{
    size_t most = 0;
    for (size_t v = 0; v < self->view_count; v++)
        most = uc_max_size(most, uc_preprocessing_row_work(&self->views[v], cols));
    return whole_lines(views_dimension(self)) + whole_lines(most);
}

static uc_row views_row(const uc_preprocessing *self, uc_row row, float *out)
{
    const size_t dimension = views_dimension(self);
    float *work = out + whole_lines(dimension), *end = out;
    for (size_t v = 0; v < self->view_count; v++) {
        const uc_row seen = uc_preprocessing_row(&self->views[v], row, work);
        memcpy(end, seen.values, seen.count * sizeof *end);
        end += seen.count;
    }
    row = (uc_row){dimension, out, NULL};
    return self->normalize ? uc_normalize_row(row, out) : row;
}

/* Fills the columns of `out` from `first` on with those of the view. */
static uc_status apply_view(uc_matrix *out, size_t first, const uc_preprocessing *view, const uc_matrix *X,
                            const uc_context *context)
{
    uc_matrix seen = {0};
    uc_status status = uc_matrix_subset(&seen, X, NULL, 0, context);
    if (status == UC_OK && view->shift && uc_matrix_is_sparse(&seen))
        status = uc_matrix_densify(&seen);
    if (status == UC_OK)
        status = uc_preprocessing_apply(view, &seen, context);
    for (size_t i = 0; i < seen.rows && status == UC_OK; i++)
        memcpy(out->values + i * out->stride + first, seen.values + i * seen.stride,
               seen.cols * sizeof *seen.values);
    uc_matrix_free(&seen);
    return status;
}

static uc_status views_apply(const uc_preprocessing *self, uc_matrix *X, const uc_context *context)
{
    uc_matrix out = {0};
    size_t first = 0;
    uc_status status = uc_matrix_create_dense(&out, X->rows, views_dimension(self));
    for (size_t v = 0; v < self->view_count && status == UC_OK; v++) {
        status = apply_view(&out, first, &self->views[v], X, context);
        first += uc_preprocessing_dimension(&self->views[v], X->cols);
    }
    if (status != UC_OK) {
        uc_matrix_free(&out);
        return status;
    }
    for (size_t i = 0; i < out.rows && self->normalize; i++)
        (void)uc_normalize_row(uc_matrix_row(&out, i), out.values + i * out.stride);
    uc_matrix_free(X);
    *X = out;
    return UC_OK;
}

static uc_status views_copy(uc_preprocessing *out, const uc_preprocessing *self)
{
    out->views = uc_alloc(self->view_count, sizeof *out->views);
    out->view_count = self->view_count;
    uc_status status = out->views ? UC_OK : UC_ERR_NOMEM;
    for (size_t v = 0; v < self->view_count && status == UC_OK; v++)
        status = uc_preprocessing_copy(&out->views[v], &self->views[v]);
    return status;
}

static void views_free(uc_preprocessing *self)
{
    for (size_t v = 0; v < self->view_count && self->views; v++)
        uc_preprocessing_free(&self->views[v]);
    uc_free(self->views);
    self->views = NULL;
    self->view_count = 0;
}

/* ---- all ---- */

size_t uc_preprocessing_dimension(const uc_preprocessing *self, size_t cols)
{
    if (self->views)
        return views_dimension(self);
    return self->map ? uc_map_dimension(self->map) : cols;
}

/* The prepared input, then the mapped row, then the map's own work space. */
size_t uc_preprocessing_row_work(const uc_preprocessing *self, size_t cols)
{
    const size_t input = whole_lines(larger(cols, self->cols));
    if (self->views)
        return input + views_row_work(self, larger(cols, self->cols));
    if (!self->map)
        return input;
    return input + whole_lines(uc_map_dimension(self->map)) + 2 * uc_map_row_work(self->map);
}

uc_row uc_preprocessing_row(const uc_preprocessing *self, uc_row row, float *work)
{
    row = uc_prepare_input(self, row, work);
    if (self->views)
        return views_row(self, row, work + whole_lines(larger(row.count, self->cols)));
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

/* Works in place: the work space of a row is the row itself. */
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
        return views_apply(self, X, context);
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

/* Learns the map from rows in the form in which it will get them. */
static uc_status fit_map(uc_preprocessing *self, uc_matrix *X, const uc_preprocessing_settings *settings,
                         const uc_context *context)
{
    uc_share share;
    uc_status status = uc_share_of(&share, context, X->rows);
    if (status == UC_OK && settings->map && settings->map->map != UC_MAP_NONE)
        status =
            uc_map_fit_weighted(&self->map, settings->map, X, settings->weights, settings->seed, context);
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
    uc_status status;
    if (settings->scaling == UC_SCALE_RELEVANCE)
        status = uc_preprocessing_copy(&preprocessing, settings->relevance);
    else
        status = uc_learn_scaling(&preprocessing, settings->scaling, X, settings->weights, context);
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
    copy.shift = copy.factor = copy.bend = NULL;
    copy.map = NULL;
    copy.views = NULL;
    copy.table = uc_table_share(self->table);
    uc_status status = copy_reals(&copy.shift, self->shift, self->cols);
    if (status == UC_OK)
        status = copy_reals(&copy.factor, self->factor, self->cols);
    if (status == UC_OK)
        status = copy_reals(&copy.bend, self->bend, self->cols);
    if (status == UC_OK && self->map)
        status = uc_map_copy(&copy.map, self->map);
    if (status == UC_OK && self->views)
        status = views_copy(&copy, self);
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
    uc_free(self->bend);
    uc_map_free(self->map);
    views_free(self);
    uc_table_free(self->table);
    *self = (uc_preprocessing){0};
}
