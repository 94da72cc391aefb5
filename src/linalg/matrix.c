/* Creates, copies and reshapes feature matrices. */
#include "unconfuse/matrix.h"

#include <string.h>

#include "linalg/linalg.h"

#define ROWS_PER_BLOCK ((size_t)1024)

uc_status uc_matrix_create_dense(uc_matrix *out, size_t rows, size_t cols)
{
    const size_t stride = uc_matrix_stride(cols);
    size_t count;
    if (stride < cols || !uc_size_mul(&count, rows, stride))
        return uc_fail(UC_ERR_NOMEM, "a dense matrix of %zu rows and %zu columns is too large", rows, cols);
    float *values = uc_alloc(count, sizeof *values);
    if (!values)
        return UC_ERR_NOMEM;
    *out = (uc_matrix){.rows = rows, .cols = cols, .stride = stride, .values = values};
    return UC_OK;
}

uc_status uc_matrix_create_sparse(uc_matrix *out, size_t rows, size_t cols, size_t entries)
{
    uc_matrix self = {.rows = rows, .cols = cols};
    self.values = uc_alloc(entries, sizeof *self.values);
    self.columns = uc_alloc(entries, sizeof *self.columns);
    self.offsets = uc_alloc(rows + 1, sizeof *self.offsets);
    if (!self.values || !self.columns || !self.offsets) {
        uc_matrix_free(&self);
        return UC_ERR_NOMEM;
    }
    *out = self;
    return UC_OK;
}

size_t uc_matrix_entries(const uc_matrix *self)
{
    if (uc_matrix_is_sparse(self))
        return (size_t)(self->offsets[self->rows] - self->offsets[0]);
    return self->rows * self->cols;
}

typedef struct copy_job {
    uc_matrix *to;
    const uc_matrix *from;
    const size_t *rows; /* NULL: all */
} copy_job;

/* Row rows[i], or row i if `rows` is NULL. */
static uc_row named_row(const uc_matrix *self, const size_t *rows, size_t i)
{
    const size_t row = rows ? rows[i] : i;
    assert(row < self->rows);
    return uc_matrix_row(self, row);
}

static uc_status copy_block(size_t block, void *user)
{
    const copy_job *job = user;
    const uc_range range = uc_block_range(block, job->to->rows, ROWS_PER_BLOCK);
    for (size_t i = range.first; i < range.last; i++) {
        const uc_row row = named_row(job->from, job->rows, i);
        if (row.count == 0)
            continue;
        if (!row.columns) {
            memcpy(job->to->values + i * job->to->stride, row.values, row.count * sizeof *row.values);
            continue;
        }
        const size_t first = (size_t)job->to->offsets[i];
        memcpy(job->to->values + first, row.values, row.count * sizeof *row.values);
        memcpy(job->to->columns + first, row.columns, row.count * sizeof *row.columns);
    }
    return UC_OK;
}

static uc_status create_for_subset(uc_matrix *out, const uc_matrix *self, const size_t *rows, size_t count)
{
    if (!uc_matrix_is_sparse(self))
        return uc_matrix_create_dense(out, count, self->cols);
    size_t entries = 0;
    for (size_t i = 0; i < count; i++)
        entries += named_row(self, rows, i).count;
    const uc_status status = uc_matrix_create_sparse(out, count, self->cols, entries);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        out->offsets[i + 1] = out->offsets[i] + named_row(self, rows, i).count;
    return status;
}

uc_status uc_matrix_subset(uc_matrix *out, const uc_matrix *self, const size_t *rows, size_t count,
                           const uc_context *context)
{
    if (!rows)
        count = self->rows;
    const uc_status status = create_for_subset(out, self, rows, count);
    if (status != UC_OK)
        return status;
    copy_job job = {out, self, rows};
    const uc_context fitting = uc_context_for_work(context, (double)uc_matrix_entries(out));
    return uc_run_blocks(&fitting, uc_block_count(count, ROWS_PER_BLOCK), copy_block, &job);
}

/* offsets[j + 1] is where the next entry of row j goes; once all are placed, it is the end of the row. */
uc_status uc_matrix_transpose(uc_matrix *out, const uc_matrix *self)
{
    assert(uc_matrix_is_sparse(self) && self->rows <= UINT32_MAX);
    const uc_status status = uc_matrix_create_sparse(out, self->cols, self->rows, uc_matrix_entries(self));
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < self->rows; i++) {
        const uc_row row = uc_matrix_row(self, i);
        for (size_t e = 0; e < row.count; e++)
            if ((size_t)row.columns[e] + 2 <= self->cols)
                out->offsets[(size_t)row.columns[e] + 2]++;
    }
    for (size_t j = 2; j <= self->cols; j++)
        out->offsets[j] += out->offsets[j - 1];
    for (size_t i = 0; i < self->rows; i++) {
        const uc_row row = uc_matrix_row(self, i);
        for (size_t e = 0; e < row.count; e++) {
            const uint64_t at = out->offsets[(size_t)row.columns[e] + 1]++;
            out->columns[at] = (uint32_t)i;
            out->values[at] = row.values[e];
        }
    }
    return UC_OK;
}

uc_status uc_matrix_drop_empty_columns(uc_matrix *a, uc_matrix *b)
{
    uc_matrix *const both[] = {a, b};
    assert(uc_matrix_is_sparse(a) && uc_matrix_is_sparse(b));
    const size_t cols = uc_max_size(a->cols, b->cols);
    uint32_t *place = uc_alloc(cols, sizeof *place), kept = 0;
    if (!place)
        return UC_ERR_NOMEM;
    for (size_t m = 0; m < 2; m++)
        for (size_t e = 0; e < uc_matrix_entries(both[m]); e++)
            place[both[m]->columns[e]] = 1;
    for (size_t j = 0; j < cols; j++) {
        const uint32_t used = place[j];
        place[j] = kept;
        kept += used;
    }
    for (size_t m = 0; m < 2; m++) {
        for (size_t e = 0; e < uc_matrix_entries(both[m]); e++)
            both[m]->columns[e] = place[both[m]->columns[e]];
        both[m]->cols = uc_max_size(kept, uc_min_size(cols, 1));
    }
    uc_free(place);
    return UC_OK;
}

/* Returns the memory of entries at or above `entries`; if that fails, it is only kept longer. */
static void shrink(uc_matrix *self, size_t entries)
{
    float *values = uc_realloc(self->values, entries, sizeof *values);
    if (values)
        self->values = values;
    uint32_t *columns = uc_realloc(self->columns, entries, sizeof *columns);
    if (columns)
        self->columns = columns;
}

/* Goes from the last row to the first, so that the memory of rows that were moved can be returned on the
 * way. */
uc_status uc_matrix_densify(uc_matrix *self)
{
    const size_t entries_per_shrink = (size_t)1 << 22;
    assert(uc_matrix_is_sparse(self));
    uc_matrix dense;
    const uc_status status = uc_matrix_create_dense(&dense, self->rows, self->cols);
    if (status != UC_OK)
        return status;
    size_t kept = (size_t)self->offsets[self->rows];
    for (size_t i = self->rows; i-- > 0;) {
        const uc_row row = uc_matrix_row(self, i);
        float *values = dense.values + i * dense.stride;
        for (size_t j = 0; j < row.count; j++)
            values[row.columns[j]] = row.values[j];
        if (kept - self->offsets[i] >= entries_per_shrink) {
            kept = (size_t)self->offsets[i];
            shrink(self, kept);
        }
    }
    uc_matrix_free(self);
    *self = dense;
    return UC_OK;
}

void uc_matrix_free(uc_matrix *self)
{
    uc_free(self->values);
    uc_free(self->offsets);
    uc_free(self->columns);
    *self = (uc_matrix){0};
}

double uc_matrix_density(const uc_matrix *self)
{
    const size_t rows = uc_min_size(self->rows, 1000);
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        const uc_row row = uc_matrix_row(self, i);
        for (size_t j = 0; j < row.count; j++)
            count += row.values[j] != 0.0f;
    }
    return (double)count / ((double)rows * (double)self->cols);
}
