/*
 * Mapping rows:  map(x) = P' k(x) - shift,  k(x) = the kernel values of x with the landmarks.
 *
 * Many rows are mapped by tiles: a block of rows times a panel of landmarks gives kernel values, which are
 * multiplied by the panel's rows of P and added to the block's coordinates. The P of a Cholesky factor is
 * triangular: its rows begin with zeros, and the product leaves out those that all rows of a strip share. A
 * single row is copied into a dense vector first, and every landmark takes one dot product with it. A learned
 * map prepares the row first, and maps many rows one by one, so that a stream and a model have the same bits.
 */
#include <string.h>

#include "linalg/linalg.h"
#include "map/kernel.h"
#include "map/map.h"

#define STRIP ((size_t)64) /* rows of P that are multiplied at once; a panel has a whole number of strips */

/* ---- many rows ---- */

typedef struct apply_job {
    const uc_map *map;
    const uc_matrix *X;
    const uc_panels *panels;
    const size_t *zeros; /* columns of 0 that each strip of P begins with; NULL without P */
    uc_matrix *out;
} apply_job;

/* Memory for one block of rows. */
typedef struct apply_work {
    double *norm2, *coordinates, *values, *products;
} apply_work;

/* Counts the columns of 0 that each strip of P begins with. */
static uc_status count_zeros(size_t **out, const uc_map *map)
{
    const size_t m = map->landmarks.rows, D = map->dimension;
    *out = NULL;
    if (!map->projection)
        return UC_OK;
    size_t *zeros = uc_alloc(m / STRIP + 1, sizeof *zeros);
    if (!zeros)
        return UC_ERR_NOMEM;
    for (size_t l = 0; l < m; l++) {
        size_t *least = &zeros[l / STRIP], count = 0;
        if (l % STRIP == 0)
            *least = D;
        while (count < *least && map->projection[l * D + count] == 0.0)
            count++;
        *least = count;
    }
    *out = zeros;
    return UC_OK;
}

static void project_panel(double *coordinates, const apply_job *job, const double *values, size_t panel,
                          size_t rows)
{
    const uc_map *map = job->map;
    const size_t count = uc_panel_rows(map->landmarks.rows, panel), D = map->dimension;
    if (!map->projection) {
        for (size_t i = 0; i < rows; i++)
            memcpy(coordinates + i * D + panel * UC_PANEL, values + i * count, count * sizeof *values);
        return;
    }
    for (size_t first = 0; first < count; first += STRIP) {
        const size_t landmark = panel * UC_PANEL + first, zeros = job->zeros[landmark / STRIP];
        const uc_operand P = {map->projection + landmark * D + zeros, D, false};
        if (zeros < D)
            uc_gemm(coordinates + zeros, D, (uc_operand){values + first, count, false}, P, rows,
                    uc_min_size(count - first, STRIP), D - zeros, 1.0, 1.0);
    }
}

/* Sets the coordinates to -shift; P' k(x) is added later. */
static void start_coordinates(double *coordinates, const uc_map *map)
{
    memset(coordinates, 0, map->dimension * sizeof *coordinates);
    for (size_t j = 0; j < map->dimension && map->shift; j++)
        coordinates[j] = -map->shift[j];
}

static void map_block(const apply_job *job, const apply_work *work, size_t first, size_t last)
{
    const uc_map *map = job->map;
    const size_t D = map->dimension;
    for (size_t i = first; i < last; i++) {
        const uc_row row = uc_known_row(uc_matrix_row(job->X, i), map->landmarks.cols);
        work->norm2[i - first] = uc_row_norm2(row);
        start_coordinates(work->coordinates + (i - first) * D, map);
    }
    for (size_t panel = 0; panel < uc_panel_count(map->landmarks.rows); panel++) {
        uc_panel_kernel(work->values, map, job->panels, panel, job->X, work->norm2, first, last,
                        work->products);
        project_panel(work->coordinates, job, work->values, panel, last - first);
    }
    for (size_t i = first; i < last; i++)
        for (size_t j = 0; j < D; j++)
            job->out->values[i * job->out->stride + j] = (float)work->coordinates[(i - first) * D + j];
}

static uc_status apply_learned(const apply_job *job, size_t first, size_t last)
{
    double *work = uc_alloc(uc_map_row_work(job->map), sizeof *work);
    if (!work)
        return UC_ERR_NOMEM;
    for (size_t i = first; i < last; i++)
        uc_map_row(job->out->values + i * job->out->stride, job->map, uc_matrix_row(job->X, i), work);
    uc_free(work);
    return UC_OK;
}

static uc_status apply_block(size_t block, void *user)
{
    const apply_job *job = user;
    const size_t first = block * UC_PANEL, rows = uc_panel_rows(job->X->rows, block);
    if (job->map->kind == UC_MAP_LEARNED)
        return apply_learned(job, first, first + rows);
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
    size_t *zeros;
    const double bytes = (double)X->rows * (double)uc_matrix_stride(self->dimension) * sizeof(float);
    uc_status status = uc_memory_check(context, bytes, "the mapped data");
    if (status == UC_OK)
        status = uc_blas_begin(uc_threads(context));
    if (status == UC_OK)
        status = uc_matrix_create_dense(&mapped, X->rows, self->dimension);
    if (status != UC_OK)
        return status;
    status = count_zeros(&zeros, self);
    if (status == UC_OK)
        status = uc_panels_prepare(&panels, &self->landmarks, self->norm2, uc_matrix_is_sparse(X), context);
    if (status == UC_OK) {
        apply_job job = {self, X, &panels, zeros, &mapped};
        status = uc_run_blocks(context, uc_panel_count(X->rows), apply_block, &job);
    }
    uc_panels_free(&panels);
    uc_free(zeros);
    if (status == UC_OK)
        *out = mapped;
    else
        uc_matrix_free(&mapped);
    return status;
}

/* ---- one row ---- */

size_t uc_map_row_work(const uc_map *self)
{
    const size_t dense = uc_quads(self->landmarks.cols) * UC_LANES;
    if (self->kind == UC_MAP_LEARNED) /* z as floats, z as doubles, and the kernel values */
        return 2 * dense + self->landmarks.rows;
    if (!self->projection)
        return dense;
    return dense + self->landmarks.rows + self->dimension;
}

static void expand(double *dense, uc_row row, size_t cols)
{
    memset(dense, 0, cols * sizeof *dense);
    for (size_t i = 0; i < row.count; i++)
        dense[uc_row_column(row, i)] = row.values[i];
}

/* A single sum, in the same order as in uc_panel_row_products. */
static double product_in_order(uc_row landmark, const double *dense)
{
    double sum = 0.0;
    for (size_t i = 0; i < landmark.count; i++)
        sum += dense[landmark.columns[i]] * (double)landmark.values[i];
    return sum;
}

/* Landmarks of a stream are also multiplied by blocks of rows, which must give the same bits. Other maps may
 * use a faster order of summation. */
static void sparse_products(double *values, const uc_map *self, size_t first, size_t count,
                            const double *dense)
{
    const bool in_order = self->kind == UC_MAP_LANDMARKS;
    for (size_t l = 0; l < count; l++) {
        const uc_row landmark = uc_matrix_row(&self->landmarks, first + l);
        if (in_order)
            values[l] = product_in_order(landmark, dense);
        else
            values[l] = uc_row_dot(landmark, dense);
    }
}

/* Kernel values of one row with landmarks first .. first + count - 1. */
static void row_values(double *values, const uc_map *self, size_t first, size_t count, const double *dense,
                       double norm2)
{
    const uc_matrix *landmarks = &self->landmarks;
    if (uc_matrix_is_sparse(landmarks))
        sparse_products(values, self, first, count, dense);
    else
        uc_products(values, dense, landmarks->values + first * landmarks->stride, landmarks->stride, count,
                    uc_quads(landmarks->cols));
    uc_kernel_values(self, values, self->norm2 + first, count, norm2);
}

static void project_row(float *out, const uc_map *self, const double *values, double *coordinates)
{
    const size_t m = self->landmarks.rows, D = self->dimension;
    start_coordinates(coordinates, self);
    uc_gemm(coordinates, D, (uc_operand){values, m, false}, (uc_operand){self->projection, D, false}, 1, m, D,
            1.0, 1.0);
    for (size_t j = 0; j < D; j++)
        out[j] = (float)coordinates[j];
}

/* Computes z, then the kernel values of z; copies z behind them if it is kept. */
static void learned_row(float *out, const uc_map *self, uc_row row, double *work)
{
    const size_t cols = self->landmarks.cols, width = uc_quads(cols) * UC_LANES, m = self->landmarks.rows;
    float *z = (float *)(void *)(work + width);
    double *values = work + 2 * width;
    uc_map_prepare_input(z, &self->input, row, cols);
    const uc_row prepared = {cols, z, NULL};
    expand(work, prepared, width);
    if (m > 0)
        row_values(values, self, 0, m, work, uc_landmark_norm2(&self->landmarks, prepared));
    for (size_t l = 0; l < m; l++)
        out[l] = (float)values[l];
    if (self->input.kept && cols > 0)
        memcpy(out + m, z, cols * sizeof *z);
}

void uc_map_row_seen(float *out, const uc_map *self, uc_row row, size_t seen, double *work)
{
    if (self->kind == UC_MAP_LEARNED) {
        learned_row(out, self, row, work);
        return;
    }
    const size_t width = uc_quads(self->landmarks.cols) * UC_LANES, m = self->landmarks.rows;
    assert(seen <= m && (self->projection || m <= self->dimension));
    row = uc_known_row(row, self->landmarks.cols);
    expand(work, row, width);
    const double norm2 = uc_landmark_norm2(&self->landmarks, row);
    if (self->projection) {
        row_values(work + width, self, 0, m, work, norm2);
        project_row(out, self, work + width, work + width + m);
        return;
    }
    for (size_t first = 0; first < seen; first += UC_PANEL) {
        double values[UC_PANEL];
        const size_t count = uc_min_size(seen - first, UC_PANEL);
        row_values(values, self, first, count, work, norm2);
        for (size_t l = 0; l < count; l++)
            out[first + l] = (float)values[l];
    }
    for (size_t l = seen; l < self->dimension; l++)
        out[l] = 0.0f;
}

void uc_map_row(float *out, const uc_map *self, uc_row row, double *work)
{
    uc_map_row_seen(out, self, row, self->landmarks.rows, work);
}
