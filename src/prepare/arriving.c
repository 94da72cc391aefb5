/*
 * Prepares many rows of a stream in one call, with the same result as one by one.
 *
 * While the map grows, a row becomes a landmark before it is mapped, so row i sees the landmarks up to its
 * own. A call first adds all its landmarks. Then blocks of rows are mapped, in any order and by any thread,
 * each row with only the landmarks that it sees. Sums and kernel values of a pair are computed by the same
 * operations in the same order as in uc_map_row, and so have the same bits.
 */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "map/kernel.h"
#include "map/map.h"
#include "map/tiles.h"
#include "prepare/preprocessing.h"

#define FEW_ROWS ((size_t)8) /* for fewer rows, panels or tiles of landmarks do not pay */

typedef struct arrival {
    const uc_preprocessing *preprocessing;
    const uc_matrix *X;
    uc_matrix *out;
    size_t seen;      /* landmarks that the first row sees; each later row sees one more, up to all */
    uc_panels panels; /* for sparse landmarks and many rows */
} arrival;

/* Drops columns that the scaling does not know. */
static uc_row known_part(const uc_preprocessing *preprocessing, uc_row row)
{
    if (!preprocessing->factor)
        return row;
    return uc_known_row(row, preprocessing->cols);
}

/* The number of columns of scaled rows. With a shift, they have all columns that the scaling knows. */
static size_t known_columns(const uc_preprocessing *preprocessing, size_t cols)
{
    if (preprocessing->shift)
        return preprocessing->cols;
    if (preprocessing->factor)
        return uc_min_size(cols, preprocessing->cols);
    return cols;
}

/* ---- without a map ---- */

static float *values_of_row(uc_matrix *X, size_t i)
{
    if (uc_matrix_is_sparse(X))
        return X->values + X->offsets[i];
    return X->values + i * X->stride;
}

/* Dense rows, or sparse ones whose offsets and columns are filled in already. */
static uc_status copy_block(size_t block, void *user)
{
    const arrival *job = user;
    uc_matrix *out = job->out;
    const uc_range rows = uc_block_range(block, out->rows, UC_TILES_ROWS);
    for (size_t i = rows.first; i < rows.last; i++) {
        float *values = values_of_row(out, i);
        const uc_row row = uc_prepare_input(job->preprocessing,
                                            known_part(job->preprocessing, uc_matrix_row(job->X, i)), values);
        if (row.values != values && row.count > 0)
            memcpy(values, row.values, row.count * sizeof *values);
    }
    return UC_OK;
}

static uc_status create_sparse(uc_matrix *out, const uc_preprocessing *preprocessing, const uc_matrix *X,
                               size_t cols)
{
    size_t entries = 0;
    for (size_t i = 0; i < X->rows; i++)
        entries += known_part(preprocessing, uc_matrix_row(X, i)).count;
    const uc_status status = uc_matrix_create_sparse(out, X->rows, cols, entries);
    for (size_t i = 0; i < X->rows && status == UC_OK; i++) {
        const uc_row row = known_part(preprocessing, uc_matrix_row(X, i));
        if (row.count > 0)
            memcpy(out->columns + out->offsets[i], row.columns, row.count * sizeof *row.columns);
        out->offsets[i + 1] = out->offsets[i] + row.count;
    }
    return status;
}

static uc_status arrive_without_map(uc_matrix *out, const uc_preprocessing *self, const uc_matrix *X,
                                    const uc_context *context)
{
    const size_t cols = known_columns(self, X->cols);
    uc_status status;
    if (uc_matrix_is_sparse(X) && !self->shift)
        status = create_sparse(out, self, X, cols);
    else
        status = uc_matrix_create_dense(out, X->rows, cols);
    if (status != UC_OK)
        return status;
    arrival job = {.preprocessing = self, .X = X, .out = out};
    const uc_context suited = uc_context_for_work(context, (double)uc_matrix_entries(X));
    status = uc_run_blocks(&suited, uc_block_count(X->rows, UC_TILES_ROWS), copy_block, &job);
    if (status != UC_OK)
        uc_matrix_free(out);
    return status;
}

/* ---- with a map ---- */

static size_t seen_by(const arrival *job, size_t i)
{
    return uc_min_size(job->seen + i, uc_map_landmarks(job->preprocessing->map));
}

static void finish_row(const arrival *job, size_t i)
{
    float *values = job->out->values + i * job->out->stride;
    if (job->preprocessing->normalize)
        (void)uc_normalize_row((uc_row){job->out->cols, values, NULL}, values);
}

/* Row i as the input of the map. */
static uc_row input_row(const arrival *job, size_t i, float *work)
{
    const uc_row row = known_part(job->preprocessing, uc_matrix_row(job->X, i));
    return uc_known_row(uc_prepare_input(job->preprocessing, row, work),
                        job->preprocessing->map->landmarks.cols);
}

static size_t input_work(const arrival *job)
{
    return uc_matrix_stride(known_columns(job->preprocessing, job->X->cols));
}

/* Maps rows one by one, for few rows and for maps with a projection. */
static uc_status map_rows(size_t block, void *user)
{
    const arrival *job = user;
    const uc_map *map = job->preprocessing->map;
    const uc_range rows = uc_block_range(block, job->X->rows, UC_TILES_ROWS);
    float *input = uc_alloc(input_work(job), sizeof *input);
    double *work = uc_alloc(uc_map_row_work(map), sizeof *work);
    uc_status status = UC_ERR_NOMEM;
    if (!input || !work)
        goto cleanup;
    for (size_t i = rows.first; i < rows.last; i++) {
        uc_map_row_seen(job->out->values + i * job->out->stride, map, input_row(job, i, input),
                        seen_by(job, i), work);
        finish_row(job, i);
    }
    status = UC_OK;

cleanup:
    uc_free(work);
    uc_free(input);
    return status;
}

/* Turns the products of row i with landmarks from `start` on into the row's coordinates. */
static void keep_values(const arrival *job, size_t i, double *values, size_t start, size_t panel,
                        double norm2)
{
    const uc_map *map = job->preprocessing->map;
    const size_t seen = seen_by(job, i);
    if (seen <= start)
        return;
    const size_t count = uc_min_size(seen - start, panel);
    float *out = job->out->values + i * job->out->stride + start;
    uc_kernel_values(map, values, map->norm2 + start, count, norm2);
    for (size_t l = 0; l < count; l++)
        out[l] = (float)values[l];
}

static uc_status map_with_sparse(size_t block, void *user)
{
    const arrival *job = user;
    const uc_matrix *landmarks = &job->preprocessing->map->landmarks;
    const uc_range rows = uc_block_range(block, job->X->rows, UC_TILES_ROWS);
    float *input = uc_alloc(input_work(job), sizeof *input);
    if (!input)
        return UC_ERR_NOMEM;
    for (size_t i = rows.first; i < rows.last; i++) {
        const uc_row row = input_row(job, i, input);
        const double norm2 = uc_landmark_norm2(landmarks, row);
        for (size_t panel = 0; panel * UC_PANEL < seen_by(job, i); panel++) {
            double values[UC_PANEL];
            uc_panel_row_products(values, &job->panels, panel, row);
            keep_values(job, i, values, panel * UC_PANEL, UC_PANEL, norm2);
        }
        finish_row(job, i);
    }
    uc_free(input);
    return UC_OK;
}

static uc_status map_with_dense(size_t block, void *user)
{
    const arrival *job = user;
    const uc_matrix *landmarks = &job->preprocessing->map->landmarks;
    const uc_range range = uc_block_range(block, job->X->rows, UC_TILES_ROWS);
    const size_t first = range.first, rows = range.last - first, products = uc_tiles_values(rows);
    double *work = uc_alloc(rows + products + uc_tiles_work(landmarks, rows), sizeof *work);
    float *input = uc_alloc(input_work(job), sizeof *input);
    uc_status status = UC_ERR_NOMEM;
    if (!work || !input)
        goto cleanup;
    double *values = work, *norm2 = values + products;
    uc_tiles tiles = uc_tiles_begin(landmarks, rows, norm2 + rows);
    for (size_t i = 0; i < rows; i++) {
        const uc_row row = input_row(job, first + i, input);
        norm2[i] = uc_landmark_norm2(landmarks, row);
        uc_tiles_put(&tiles, i, row);
    }
    for (size_t start = 0; start < seen_by(job, range.last - 1); start += UC_TILES_LANDMARKS) {
        uc_tiles_products(values, &tiles, rows, start, job->seen + first);
        for (size_t i = 0; i < rows; i++)
            keep_values(job, first + i, values + i * UC_TILES_LANDMARKS, start, UC_TILES_LANDMARKS, norm2[i]);
    }
    for (size_t i = first; i < range.last; i++)
        finish_row(job, i);
    status = UC_OK;

cleanup:
    uc_free(input);
    uc_free(work);
    return status;
}

static uc_status map_blocks(arrival *job, const uc_context *context)
{
    const uc_map *map = job->preprocessing->map;
    const uc_matrix *landmarks = &map->landmarks;
    const size_t rows = job->X->rows, blocks = uc_block_count(rows, UC_TILES_ROWS);
    const double operations = (double)rows * (double)uc_matrix_entries(landmarks);
    const uc_context suited = uc_context_for_work(context, operations);
    if (map->projection || rows < FEW_ROWS)
        return uc_run_blocks(&suited, blocks, map_rows, job);
    if (!uc_matrix_is_sparse(landmarks))
        return uc_run_blocks(&suited, blocks, map_with_dense, job);
    uc_status status = uc_panels_prepare(&job->panels, landmarks, map->norm2, false, &suited);
    if (status == UC_OK)
        status = uc_run_blocks(&suited, blocks, map_with_sparse, job);
    uc_panels_free(&job->panels);
    return status;
}

/* Makes rows landmarks, from the first on, until the map no longer grows. */
static uc_status add_landmarks(uc_preprocessing *self, const uc_matrix *X)
{
    if (!uc_map_grows(self->map) || X->rows == 0)
        return UC_OK;
    float *work = uc_alloc(known_columns(self, X->cols), sizeof *work);
    if (!work)
        return UC_ERR_NOMEM;
    uc_status status = UC_OK;
    for (size_t i = 0; i < X->rows && uc_map_grows(self->map) && status == UC_OK; i++)
        status = uc_preprocessing_add_landmark(self, known_part(self, uc_matrix_row(X, i)), work);
    uc_free(work);
    return status;
}

static uc_status arrive_with_map(uc_matrix *out, uc_preprocessing *self, const uc_matrix *X,
                                 const uc_context *context)
{
    uc_map *map = self->map;
    const size_t before = map->landmarks.rows, cols = map->landmarks.cols;
    const bool grows = uc_map_grows(map);
    uc_matrix arrived = {0};
    const double bytes = (double)X->rows * (double)uc_matrix_stride(map->dimension) * sizeof(float);
    uc_status status = uc_memory_check(context, bytes, "the mapped data");
    if (status == UC_OK)
        status = uc_matrix_create_dense(&arrived, X->rows, map->dimension);
    if (status == UC_OK)
        status = add_landmarks(self, X);
    if (status == UC_OK) {
        arrival job = {.preprocessing = self, .X = X, .out = &arrived, .seen = before + 1};
        status = map_blocks(&job, context);
    }
    for (size_t i = 0; i < X->rows && status == UC_OK; i++)
        if (!isfinite(uc_row_norm2(uc_matrix_row(&arrived, i))))
            status = uc_fail(UC_ERR_DIVERGED, "a row's mapped features overflowed; scale the data ({scale})");
    if (status == UC_OK) {
        *out = arrived;
        return UC_OK;
    }
    if (grows)
        uc_map_forget_landmarks(map, before, cols);
    uc_matrix_free(&arrived);
    return status;
}

uc_status uc_preprocessing_add_landmark(uc_preprocessing *self, uc_row row, float *work)
{
    return uc_map_add_landmark(self->map, uc_prepare_input(self, row, work));
}

uc_status uc_preprocessing_apply_arriving(uc_matrix *out, uc_preprocessing *self, const uc_matrix *X,
                                          const uc_context *context)
{
    if (self->map)
        return arrive_with_map(out, self, X, context);
    uc_matrix arrived;
    const uc_status status = arrive_without_map(&arrived, self, X, context);
    if (status == UC_OK)
        *out = arrived;
    return status;
}
