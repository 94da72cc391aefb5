/*
 * Rows that arrive one by one, many of them at once.
 *
 * While the map grows a row becomes a landmark before it is mapped, so row i sees the landmarks up to its own. All of a
 * call's landmarks are added first; then blocks of rows are mapped, in any order and by any thread, each row to the
 * landmarks that it sees. Both sums and kernel values of a pair are the same operations in the same order as those of
 * uc_map_row, and so are the bits.
 */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "map/kernel.h"
#include "map/map.h"
#include "prepare/preprocessing.h"
#include "map/tiles.h"

#define FEW_ROWS ((size_t)8) /* not worth arranging the landmarks for */

typedef struct play_job {
    const uc_preprocessing *preprocessing;
    const uc_matrix *X;
    uc_matrix *out;
    size_t seen;             /* landmarks that the first row sees; every row sees one more, up to all */
    const uc_panels *panels; /* sparse landmarks and many rows; else NULL */
} play_job;

/* Columns that the scaling does not know are dropped. */
static uc_row known_part(const uc_preprocessing *preprocessing, uc_row row)
{
    return preprocessing->factor ? uc_known_row(row, preprocessing->cols) : row;
}

static size_t known_columns(const uc_preprocessing *preprocessing, size_t cols)
{
    return preprocessing->shift || (preprocessing->factor && cols > preprocessing->cols) ? preprocessing->cols
                                                                                         : cols;
}

static size_t block_count(size_t rows)
{
    return (rows + UC_TILES_ROWS - 1) / UC_TILES_ROWS;
}

static void block_range(size_t *first, size_t *last, size_t block, size_t rows)
{
    *first = block * UC_TILES_ROWS;
    *last = *first + UC_TILES_ROWS < rows ? *first + UC_TILES_ROWS : rows;
}

/* ---- without a map ---- */

/* Dense rows, or sparse ones whose entries are counted and whose columns are there. */
static uc_status copy_block(size_t block, void *user)
{
    const play_job *job = user;
    uc_matrix *out = job->out;
    size_t first, last;
    block_range(&first, &last, block, out->rows);
    for (size_t i = first; i < last; i++) {
        float *values = out->values + (out->offsets ? (size_t)out->offsets[i] : i * out->stride);
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

static uc_status play_without_map(uc_matrix *out, const uc_preprocessing *self, const uc_matrix *X,
                                  const uc_context *context)
{
    const size_t cols = known_columns(self, X->cols);
    uc_status status = uc_matrix_is_sparse(X) && !self->shift ? create_sparse(out, self, X, cols)
                                                              : uc_matrix_create_dense(out, X->rows, cols);
    if (status != UC_OK)
        return status;
    play_job job = {.preprocessing = self, .X = X, .out = out};
    const uc_context suited = uc_context_for_work(context, (double)uc_matrix_entries(X));
    status = uc_run_blocks(&suited, block_count(X->rows), copy_block, &job);
    if (status != UC_OK)
        uc_matrix_free(out);
    return status;
}

/* ---- with a map ---- */

static size_t seen_by(const play_job *job, size_t i)
{
    const size_t landmarks = uc_map_landmarks(job->preprocessing->map);
    return job->seen + i < landmarks ? job->seen + i : landmarks;
}

static void finish_row(const play_job *job, size_t i)
{
    float *values = job->out->values + i * job->out->stride;
    if (job->preprocessing->normalize)
        (void)uc_normalize_row((uc_row){job->out->cols, values, NULL}, values);
}

/* Row i as the map sees it. */
static uc_row input_row(const play_job *job, size_t i, float *work)
{
    const uc_row row = known_part(job->preprocessing, uc_matrix_row(job->X, i));
    return uc_known_row(uc_prepare_input(job->preprocessing, row, work),
                        job->preprocessing->map->landmarks.cols);
}

static size_t input_work(const play_job *job)
{
    return uc_matrix_stride(known_columns(job->preprocessing, job->X->cols));
}

/* One by one: few rows, and maps with a projection. */
static uc_status play_rows(size_t block, void *user)
{
    const play_job *job = user;
    const uc_map *map = job->preprocessing->map;
    size_t first, last;
    block_range(&first, &last, block, job->X->rows);
    float *input = uc_alloc(input_work(job), sizeof *input);
    double *work = uc_alloc(uc_map_row_work(map), sizeof *work);
    const uc_status status = input && work ? UC_OK : UC_ERR_NOMEM;
    for (size_t i = first; i < last && status == UC_OK; i++) {
        uc_map_row_seen(job->out->values + i * job->out->stride, map, input_row(job, i, input),
                        seen_by(job, i), work);
        finish_row(job, i);
    }
    uc_free(work);
    uc_free(input);
    return status;
}

/* Products of row i with landmarks from `start` on become the row's coordinates. */
static void keep_values(const play_job *job, size_t i, double *values, size_t start, size_t panel,
                        double norm2)
{
    const uc_map *map = job->preprocessing->map;
    const size_t seen = seen_by(job, i);
    if (seen <= start)
        return;
    const size_t count = seen - start < panel ? seen - start : panel;
    float *out = job->out->values + i * job->out->stride + start;
    uc_kernel_values(map, values, map->norm2 + start, count, norm2);
    for (size_t l = 0; l < count; l++)
        out[l] = (float)values[l];
}

static uc_status play_sparse(size_t block, void *user)
{
    const play_job *job = user;
    const uc_matrix *landmarks = &job->preprocessing->map->landmarks;
    size_t first, last;
    block_range(&first, &last, block, job->X->rows);
    float *input = uc_alloc(input_work(job), sizeof *input);
    if (!input)
        return UC_ERR_NOMEM;
    for (size_t i = first; i < last; i++) {
        const uc_row row = input_row(job, i, input);
        const double norm2 = uc_landmark_norm2(landmarks, row);
        for (size_t panel = 0; panel * UC_PANEL < seen_by(job, i); panel++) {
            double values[UC_PANEL];
            uc_panel_row_products(values, job->panels, panel, row);
            keep_values(job, i, values, panel * UC_PANEL, UC_PANEL, norm2);
        }
        finish_row(job, i);
    }
    uc_free(input);
    return UC_OK;
}

static uc_status play_dense(size_t block, void *user)
{
    const play_job *job = user;
    const uc_matrix *landmarks = &job->preprocessing->map->landmarks;
    size_t first, last;
    block_range(&first, &last, block, job->X->rows);
    const size_t rows = last - first, products = uc_tiles_values(rows);
    double *work = uc_alloc(rows + products + uc_tiles_work(landmarks, rows), sizeof *work);
    float *input = uc_alloc(input_work(job), sizeof *input);
    const uc_status status = work && input ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK) {
        double *values = work, *norm2 = values + products;
        uc_tiles tiles = uc_tiles_begin(landmarks, rows, norm2 + rows);
        for (size_t i = 0; i < rows; i++) {
            const uc_row row = input_row(job, first + i, input);
            norm2[i] = uc_landmark_norm2(landmarks, row);
            uc_tiles_put(&tiles, i, row);
        }
        for (size_t start = 0; start < seen_by(job, last - 1); start += UC_TILES_LANDMARKS) {
            uc_tiles_products(values, &tiles, rows, start, job->seen + first);
            for (size_t i = 0; i < rows; i++)
                keep_values(job, first + i, values + i * UC_TILES_LANDMARKS, start, UC_TILES_LANDMARKS,
                            norm2[i]);
        }
        for (size_t i = first; i < last; i++)
            finish_row(job, i);
    }
    uc_free(input);
    uc_free(work);
    return status;
}

static uc_status play_blocks(play_job *job, const uc_context *context)
{
    const uc_map *map = job->preprocessing->map;
    const uc_matrix *landmarks = &map->landmarks;
    const size_t rows = job->X->rows;
    const double operations = (double)rows * (double)uc_matrix_entries(landmarks);
    const uc_context suited = uc_context_for_work(context, operations);
    if (map->projection || rows < FEW_ROWS)
        return uc_run_blocks(&suited, block_count(rows), play_rows, job);
    if (!uc_matrix_is_sparse(landmarks))
        return uc_run_blocks(&suited, block_count(rows), play_dense, job);
    uc_panels panels = {0};
    uc_status status = uc_panels_prepare(&panels, landmarks, map->norm2, false, &suited);
    job->panels = &panels;
    if (status == UC_OK)
        status = uc_run_blocks(&suited, block_count(rows), play_sparse, job);
    uc_panels_free(&panels);
    return status;
}

/* The first rows become landmarks as long as the map grows. */
static uc_status add_landmarks(uc_preprocessing *self, const uc_matrix *X)
{
    if (!uc_map_grows(self->map) || X->rows == 0)
        return UC_OK;
    float *work = uc_alloc(known_columns(self, X->cols), sizeof *work);
    uc_status status = work ? UC_OK : UC_ERR_NOMEM;
    for (size_t i = 0; i < X->rows && uc_map_grows(self->map) && status == UC_OK; i++)
        status = uc_preprocessing_add_landmark(self, known_part(self, uc_matrix_row(X, i)), work);
    uc_free(work);
    return status;
}

static uc_status play_with_map(uc_matrix *out, uc_preprocessing *self, const uc_matrix *X,
                               const uc_context *context)
{
    uc_map *map = self->map;
    const size_t before = map->landmarks.rows, cols = map->landmarks.cols;
    const bool grows = uc_map_grows(map);
    uc_matrix played = {0};
    const double bytes = (double)X->rows * (double)uc_matrix_stride(map->dimension) * sizeof(float);
    uc_status status = uc_memory_check(context, bytes, "the mapped data");
    if (status == UC_OK)
        status = uc_matrix_create_dense(&played, X->rows, map->dimension);
    if (status == UC_OK)
        status = add_landmarks(self, X);
    if (status == UC_OK) {
        play_job job = {.preprocessing = self, .X = X, .out = &played, .seen = before + 1};
        status = play_blocks(&job, context);
    }
    for (size_t i = 0; i < X->rows && status == UC_OK; i++)
        if (!isfinite(uc_row_norm2(uc_matrix_row(&played, i))))
            status = uc_fail(UC_ERR_DIVERGED, "a row's mapped features overflowed; scale the data ({scale})");
    if (status == UC_OK) {
        *out = played;
        return UC_OK;
    }
    if (grows)
        uc_map_forget_landmarks(map, before, cols);
    uc_matrix_free(&played);
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
        return play_with_map(out, self, X, context);
    uc_matrix played;
    const uc_status status = play_without_map(&played, self, X, context);
    if (status == UC_OK)
        *out = played;
    return status;
}
