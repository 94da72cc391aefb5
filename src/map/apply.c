/*
 * Mapping rows:  map(x) = P' k(x) - shift,  k(x) = the kernel values of x with the landmarks.
 *
 * Many rows go through tiles: a block of rows times a panel of landmarks gives kernel values, which are multiplied by
 * the panel's rows of P and added to the block's coordinates. One row goes through a dense copy of itself, with which
 * every landmark has one dot product.
 */
#include <string.h>

#include "linalg/linalg.h"
#include "map/kernel.h"
#include "map/map.h"

#define STREAM_LANDMARKS 700 /* of a growing map, when the dimension is auto */

/* ---- many rows ---- */

typedef struct apply_job {
    const uc_map *map;
    const uc_matrix *X;
    const uc_panels *panels;
    uc_matrix *out;
} apply_job;

/* Room for one block of rows; doubles. */
typedef struct apply_work {
    double *norm2, *coordinates, *values, *products;
} apply_work;

static void project_panel(double *coordinates, const uc_map *map, const double *values, size_t panel,
                          size_t rows)
{
    const size_t count = uc_panel_rows(map->landmarks.rows, panel), D = map->dimension;
    if (!map->projection) {
        for (size_t i = 0; i < rows; i++)
            memcpy(coordinates + i * D + panel * UC_PANEL, values + i * count, count * sizeof *values);
        return;
    }
    const uc_block P = {map->projection + panel * UC_PANEL * D, D, false};
    uc_multiply_blocks(coordinates, D, (uc_block){values, count, false}, P, rows, count, D, 1.0, 1.0);
}

static void map_block(const apply_job *job, const apply_work *work, size_t first, size_t last)
{
    const uc_map *map = job->map;
    const size_t D = map->dimension;
    for (size_t i = first; i < last; i++) {
        const uc_row row = uc_known_row(uc_matrix_row(job->X, i), map->landmarks.cols);
        work->norm2[i - first] = uc_row_norm2(row);
        for (size_t j = 0; j < D; j++)
            work->coordinates[(i - first) * D + j] = map->shift ? -map->shift[j] : 0.0;
    }
    for (size_t panel = 0; panel < uc_panel_count(map->landmarks.rows); panel++) {
        uc_panel_kernel(work->values, map, job->panels, panel, job->X, work->norm2, first, last,
                        work->products);
        project_panel(work->coordinates, map, work->values, panel, last - first);
    }
    for (size_t i = first; i < last; i++)
        for (size_t j = 0; j < D; j++)
            job->out->values[i * job->out->stride + j] = (float)work->coordinates[(i - first) * D + j];
}

static uc_status apply_block(size_t block, void *user)
{
    const apply_job *job = user;
    const size_t first = block * UC_PANEL, rows = uc_panel_rows(job->X->rows, block);
    const size_t coordinates = rows * job->map->dimension, products = uc_panels_work(job->panels, job->X);
    double *memory = uc_alloc(UC_PANEL + coordinates + UC_PANEL * UC_PANEL + products, sizeof *memory);
    if (!memory)
        return UC_ERR_NOMEM;
    const apply_work work = {memory + UC_PANEL * UC_PANEL + products,
                             memory + UC_PANEL * UC_PANEL + products + UC_PANEL, memory,
                             memory + UC_PANEL * UC_PANEL};
    map_block(job, &work, first, first + rows);
    uc_free(memory);
    return UC_OK;
}

uc_status uc_map_apply(uc_matrix *out, const uc_map *self, const uc_matrix *X, const uc_context *context)
{
    uc_matrix mapped = {0};
    uc_panels panels = {0};
    const double bytes = (double)X->rows * (double)uc_dense_stride(self->dimension) * sizeof(float);
    uc_status status = uc_memory_check(context, bytes, "the mapped data");
    if (status == UC_OK)
        status = uc_matrix_create_dense(&mapped, X->rows, self->dimension);
    if (status == UC_OK)
        status = uc_panels_prepare(&panels, &self->landmarks, self->norm2, uc_matrix_is_sparse(X), context);
    if (status == UC_OK) {
        apply_job job = {self, X, &panels, &mapped};
        status = uc_run_blocks(context, uc_panel_count(X->rows), apply_block, &job);
    }
    uc_panels_free(&panels);
    if (status == UC_OK)
        *out = mapped;
    else
        uc_matrix_free(&mapped);
    return status;
}

/* ---- one row ---- */

size_t uc_map_row_work(const uc_map *self)
{
    return self->landmarks.cols + self->landmarks.rows + self->dimension;
}

static void expand(double *dense, uc_row row, size_t cols)
{
    memset(dense, 0, cols * sizeof *dense);
    for (size_t i = 0; i < row.count; i++)
        dense[row.columns ? row.columns[i] : i] = row.values[i];
}

void uc_map_row(float *out, const uc_map *self, uc_row row, double *work)
{
    const size_t cols = self->landmarks.cols, m = self->landmarks.rows, D = self->dimension;
    double *dense = work, *values = work + cols, *coordinates = values + m;
    row = uc_known_row(row, cols);
    expand(dense, row, cols);
    const double norm2 = uc_row_norm2(row);
    for (size_t l = 0; l < m; l++)
        values[l] = uc_kernel_value(self, uc_row_dot(uc_matrix_row(&self->landmarks, l), dense), norm2,
                                    self->norm2[l]);
    for (size_t j = 0; j < D; j++)
        coordinates[j] = self->shift ? -self->shift[j] : 0.0;
    if (self->projection)
        uc_multiply_blocks(coordinates, D, (uc_block){values, m, false},
                           (uc_block){self->projection, D, false}, 1, m, D, 1.0, 1.0);
    else
        memcpy(coordinates, values, m * sizeof *values);
    for (size_t j = 0; j < D; j++)
        out[j] = (float)coordinates[j];
}

/* ---- landmarks that arrive one by one ---- */

uc_status uc_map_begin_landmarks(uc_map **out, const uc_map_settings *settings, double width)
{
    const uc_status status = uc_options_check(uc_map_options, settings);
    if (status != UC_OK)
        return status;
    if (settings->kernel == UC_KERNEL_GAUSSIAN && !(width > 0.0))
        return uc_fail(UC_ERR_INVALID, "the width %g of a gaussian kernel is not above 0", width);
    uc_map *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    const uint64_t dimension = settings->dimension == UC_AUTO_COUNT ? STREAM_LANDMARKS : settings->dimension;
    *self = (uc_map){.kind = UC_MAP_LANDMARKS,
                     .kernel = (uc_kernel)settings->kernel,
                     .width = width,
                     .degree = (double)settings->degree,
                     .coefficient = settings->coefficient,
                     .dimension = (size_t)dimension};
    *out = self;
    return UC_OK;
}

/* The landmarks move to rows of `cols` columns; what has no value is 0. */
static uc_status widen(uc_matrix *landmarks, size_t cols)
{
    uc_matrix wider;
    const uc_status status = uc_matrix_create_dense(&wider, landmarks->rows, cols);
    if (status != UC_OK)
        return status;
    for (size_t l = 0; l < landmarks->rows; l++)
        memcpy(wider.values + l * wider.stride, landmarks->values + l * landmarks->stride,
               landmarks->cols * sizeof *wider.values);
    uc_matrix_free(landmarks);
    *landmarks = wider;
    return UC_OK;
}

static uc_status append_dense(uc_matrix *landmarks, uc_row row, size_t cols)
{
    const uc_status status = cols > landmarks->cols ? widen(landmarks, cols) : UC_OK;
    if (status != UC_OK)
        return status;
    float *values = uc_realloc(landmarks->values, (landmarks->rows + 1) * landmarks->stride, sizeof *values);
    if (!values)
        return UC_ERR_NOMEM;
    landmarks->values = values;
    values += landmarks->rows * landmarks->stride;
    memset(values, 0, landmarks->stride * sizeof *values);
    for (size_t i = 0; i < row.count; i++)
        values[row.columns ? row.columns[i] : i] = row.values[i];
    landmarks->rows++;
    return UC_OK;
}

static uc_status append_sparse(uc_matrix *landmarks, uc_row row, size_t cols)
{
    const size_t before = (size_t)landmarks->offsets[landmarks->rows], after = before + row.count;
    float *values = uc_realloc(landmarks->values, after, sizeof *values);
    if (!values)
        return UC_ERR_NOMEM;
    landmarks->values = values;
    uint32_t *columns = uc_realloc(landmarks->columns, after, sizeof *columns);
    if (!columns)
        return UC_ERR_NOMEM;
    landmarks->columns = columns;
    uint64_t *offsets = uc_realloc(landmarks->offsets, landmarks->rows + 2, sizeof *offsets);
    if (!offsets)
        return UC_ERR_NOMEM;
    landmarks->offsets = offsets;
    for (size_t i = 0; i < row.count; i++) {
        values[before + i] = row.values[i];
        columns[before + i] = row.columns ? row.columns[i] : (uint32_t)i;
    }
    landmarks->rows++;
    offsets[landmarks->rows] = after;
    if (cols > landmarks->cols)
        landmarks->cols = cols;
    return UC_OK;
}

/* The first row decides whether landmarks are stored dense or sparse. */
uc_status uc_map_add_landmark(uc_map *self, uc_row row)
{
    uc_matrix *landmarks = &self->landmarks;
    if (landmarks->rows == self->dimension)
        return UC_OK;
    uc_status status = uc_kernel_check(self, uc_row_norm2(row), landmarks->rows);
    if (status != UC_OK)
        return status;
    double *norm2 = uc_realloc(self->norm2, landmarks->rows + 1, sizeof *norm2);
    if (!norm2)
        return UC_ERR_NOMEM;
    self->norm2 = norm2;
    const size_t cols = !row.columns ? row.count : row.count > 0 ? (size_t)row.columns[row.count - 1] + 1 : 0;
    if (!landmarks->values) {
        status = row.columns ? uc_matrix_create_sparse(landmarks, 0, 0, 0)
                             : uc_matrix_create_dense(landmarks, 0, row.count);
        if (status != UC_OK)
            return status;
    }
    status = uc_matrix_is_sparse(landmarks) ? append_sparse(landmarks, row, cols)
                                            : append_dense(landmarks, row, cols);
    if (status == UC_OK)
        norm2[landmarks->rows - 1] = uc_row_norm2(row);
    return status;
}
