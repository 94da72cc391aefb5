/*
 * Landmarks that arrive one by one.
 *
 * The first row decides whether they are stored dense or sparse. Their memory doubles when it is used up, and
 * dense landmarks move to longer rows when one arrives with more columns; missing values are 0. If adding a
 * landmark fails, the map is unchanged.
 */
#include <string.h>

#include "linalg/linalg.h"
#include "map/kernel.h"
#include "map/map.h"

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
    uint64_t dimension = settings->dimension;
    if (dimension == UC_AUTO_COUNT)
        dimension = UC_STREAM_LANDMARKS;
    *self = (uc_map){.kind = UC_MAP_LANDMARKS,
                     .kernel = (uc_kernel)settings->kernel,
                     .width = width,
                     .degree = (double)settings->degree,
                     .coefficient = settings->coefficient,
                     .dimension = (size_t)dimension};
    *out = self;
    return UC_OK;
}

bool uc_map_grows(const uc_map *self)
{
    return self->kind == UC_MAP_LANDMARKS && self->landmarks.rows < self->dimension;
}

/* The new room of the arrays, when there is none left for one more landmark. */
static size_t next_room(const uc_map *self)
{
    const size_t rows = self->landmarks.rows;
    if (rows < self->room)
        return self->room;
    return uc_min_size(uc_grown(self->room, rows + 1), self->dimension);
}

static uc_status reserve_dense(uc_map *self, size_t room, size_t cols)
{
    uc_matrix *landmarks = &self->landmarks;
    const bool wider = uc_matrix_stride(cols) > landmarks->stride;
    if (room == self->room && !wider)
        return UC_OK;
    uc_matrix larger;
    const uc_status status = uc_matrix_create_dense(&larger, room, wider ? cols : landmarks->cols);
    if (status != UC_OK)
        return status;
    for (size_t l = 0; l < landmarks->rows; l++)
        memcpy(larger.values + l * larger.stride, landmarks->values + l * landmarks->stride,
               landmarks->cols * sizeof *larger.values);
    larger.rows = landmarks->rows;
    larger.cols = landmarks->cols;
    uc_matrix_free(landmarks);
    *landmarks = larger;
    return UC_OK;
}

static uc_status reserve_sparse(uc_map *self, size_t room, size_t entries)
{
    uc_matrix *landmarks = &self->landmarks;
    size_t entries_room = self->entries_room;
    if (entries > entries_room)
        entries_room = uc_grown(entries_room, entries);
    if (room != self->room) {
        uint64_t *offsets = uc_realloc(landmarks->offsets, room + 1, sizeof *offsets);
        if (!offsets)
            return UC_ERR_NOMEM;
        landmarks->offsets = offsets;
    }
    if (entries_room != self->entries_room) {
        float *values = uc_realloc(landmarks->values, entries_room, sizeof *values);
        if (!values)
            return UC_ERR_NOMEM;
        landmarks->values = values;
        uint32_t *columns = uc_realloc(landmarks->columns, entries_room, sizeof *columns);
        if (!columns)
            return UC_ERR_NOMEM;
        landmarks->columns = columns;
        self->entries_room = entries_room;
    }
    return UC_OK;
}

/* The first landmark decides whether the storage is dense or sparse. */
static uc_status begin_storage(uc_map *self, uc_row row)
{
    uc_map_forget_landmarks(self, 0, 0);
    if (row.columns)
        return uc_matrix_create_sparse(&self->landmarks, 0, 0, 0);
    return uc_matrix_create_dense(&self->landmarks, 0, 0);
}

static uc_status reserve(uc_map *self, uc_row row, size_t cols)
{
    uc_matrix *landmarks = &self->landmarks;
    const size_t room = next_room(self);
    uc_status status = UC_OK;
    if (landmarks->rows == 0)
        status = begin_storage(self, row);
    if (status != UC_OK)
        return status;
    if (room != self->room) {
        double *norm2 = uc_realloc(self->norm2, room, sizeof *norm2);
        if (!norm2)
            return UC_ERR_NOMEM;
        self->norm2 = norm2;
    }
    if (uc_matrix_is_sparse(landmarks))
        status = reserve_sparse(self, room, (size_t)landmarks->offsets[landmarks->rows] + row.count);
    else
        status = reserve_dense(self, room, cols);
    if (status == UC_OK)
        self->room = room;
    return status;
}

static void append(uc_matrix *landmarks, uc_row row)
{
    if (!uc_matrix_is_sparse(landmarks)) {
        float *values = landmarks->values + landmarks->rows * landmarks->stride;
        memset(values, 0, landmarks->stride * sizeof *values);
        for (size_t i = 0; i < row.count; i++)
            values[uc_row_column(row, i)] = row.values[i];
        return;
    }
    const size_t before = (size_t)landmarks->offsets[landmarks->rows];
    for (size_t i = 0; i < row.count; i++) {
        landmarks->values[before + i] = row.values[i];
        landmarks->columns[before + i] = (uint32_t)uc_row_column(row, i);
    }
    landmarks->offsets[landmarks->rows + 1] = before + row.count;
}

uc_status uc_map_add_landmark(uc_map *self, uc_row row)
{
    uc_matrix *landmarks = &self->landmarks;
    if (!uc_map_grows(self))
        return UC_OK;
    const size_t cols = uc_row_width(row);
    uc_status status = uc_kernel_check(self, uc_row_norm2(row), landmarks->rows);
    if (status == UC_OK)
        status = reserve(self, row, cols);
    if (status != UC_OK)
        return status;
    assert(landmarks->rows < self->room);
    append(landmarks, row);
    if (cols > landmarks->cols)
        landmarks->cols = cols;
    self->norm2[landmarks->rows++] = uc_landmark_norm2(landmarks, row);
    return UC_OK;
}

void uc_map_forget_landmarks(uc_map *self, size_t rows, size_t cols)
{
    uc_matrix *landmarks = &self->landmarks;
    assert(rows <= landmarks->rows && (rows == 0 || cols <= landmarks->cols));
    if (rows == 0) {
        uc_matrix_free(landmarks);
        uc_free(self->norm2);
        self->norm2 = NULL;
        self->room = self->entries_room = 0;
        return;
    }
    const size_t stride = uc_matrix_stride(cols);
    for (size_t l = 1; l < rows && !uc_matrix_is_sparse(landmarks) && stride < landmarks->stride; l++)
        memmove(landmarks->values + l * stride, landmarks->values + l * landmarks->stride,
                stride * sizeof *landmarks->values);
    if (!uc_matrix_is_sparse(landmarks))
        landmarks->stride = stride;
    landmarks->rows = rows;
    landmarks->cols = cols;
}
