/* Matrices of features: rows of floats, dense or sparse, and a common view of one row. */
#ifndef UNCONFUSE_MATRIX_H
#define UNCONFUSE_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unconfuse/context.h"
#include "unconfuse/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One example. Sparse columns are below the matrix's `cols` and strictly ascending. */
typedef struct uc_row {
    size_t count; /* number of values; dense: the number of columns */
    const float *values;
    const uint32_t *columns; /* NULL: dense, value j is column j */
} uc_row;

/* Dense: row i starts at values + i * stride, its padding is zero, and offsets and columns are NULL.
 * Sparse: row i is offsets[i] .. offsets[i + 1] of values and columns; stride is 0. */
typedef struct uc_matrix {
    size_t rows, cols;
    size_t stride;
    float *values;
    uint64_t *offsets;
    uint32_t *columns;
} uc_matrix;

static inline bool uc_matrix_is_sparse(const uc_matrix *self)
{
    return self->offsets != NULL;
}

static inline uc_row uc_matrix_row(const uc_matrix *self, size_t i)
{
    if (!self->offsets)
        return (uc_row){self->cols, self->values + i * self->stride, NULL};
    const uint64_t first = self->offsets[i];
    return (uc_row){(size_t)(self->offsets[i + 1] - first), self->values + first, self->columns + first};
}

/* Fails unless rows first .. last-1 lie within their arrays and are as uc_row says. Several threads may call
 * it at once. */
typedef uc_status uc_row_check_fn(size_t first, size_t last, void *user);

/* How to check rows that nobody has looked at yet. */
typedef struct uc_row_check {
    uc_row_check_fn *check;
    void *user;
} uc_row_check;

/* The column of entry i of a row. */
static inline size_t uc_row_column(uc_row row, size_t i)
{
    return row.columns ? row.columns[i] : i;
}

/* The stride of a dense matrix that this library allocates, in floats: whole cache lines. */
static inline size_t uc_matrix_stride(size_t cols)
{
    return (cols + 15) / 16 * 16;
}

/* All entries are zero; the caller frees the matrix with uc_matrix_free. */
uc_status uc_matrix_create_dense(uc_matrix *out, size_t rows, size_t cols);
/* Allocates room for `entries` values; the offsets are zero and are for the caller to fill in. */
uc_status uc_matrix_create_sparse(uc_matrix *out, size_t rows, size_t cols, size_t entries);
/* Copies rows[0..count), in that order (repeats allowed); NULL: all rows. */
uc_status uc_matrix_subset(uc_matrix *out, const uc_matrix *self, const size_t *rows, size_t count,
                           const uc_context *context);
/* Makes a sparse matrix dense in place. Peak memory is hardly more than the larger of the two. */
uc_status uc_matrix_densify(uc_matrix *self);
size_t uc_matrix_entries(const uc_matrix *self); /* stored values */
/* The share of values that are not 0, dense or sparse, in the first 1,000 rows; NaN if there are none. */
double uc_matrix_density(const uc_matrix *self);
void uc_matrix_free(uc_matrix *self);

#ifdef __cplusplus
}
#endif

#endif
