/*
 * Scaling that is learned while rows arrive, for streams that cannot be seen beforehand.
 *
 * Row t is scaled by the sums of rows 1 to t, including itself, and is not scaled again: the learner learns
 * later feedback with the values that the proposal was made from. With a shift (range, standard) the first
 * row becomes 0, and so does a column until it has had two different values, and every row may change the
 * scaling of every column. Without a shift (maxabs) a row changes only its own columns, so the cost of a
 * sparse row depends only on its entries.
 */
#include <string.h>

#include "linalg/linalg.h"
#include "prepare/preprocessing.h"

uc_status uc_running_begin(uc_preprocessing *self, uc_scale_sums **sums, uc_scaling scaling)
{
    const bool shifts = scaling != UC_SCALE_MAXABS;
    uc_status status = uc_scale_sums_reserve(sums, 0);
    if (status != UC_OK)
        return status;
    self->scaling = scaling;
    self->factor = uc_alloc(0, sizeof *self->factor);
    if (shifts)
        self->shift = uc_alloc(0, sizeof *self->shift);
    return self->factor && (self->shift || !shifts) ? UC_OK : UC_ERR_NOMEM;
}

static uc_status widen_reals(double **array, size_t before, size_t cols)
{
    if (!*array)
        return UC_OK;
    double *wider = uc_realloc(*array, cols, sizeof *wider);
    if (!wider)
        return UC_ERR_NOMEM;
    memset(wider + before, 0, (cols - before) * sizeof *wider);
    *array = wider;
    return UC_OK;
}

uc_status uc_running_widen(uc_preprocessing *self, uc_scale_sums *sums, size_t cols)
{
    if (cols <= self->cols)
        return UC_OK;
    uc_status status = uc_scale_sums_reserve(&sums, cols);
    if (status == UC_OK)
        status = widen_reals(&self->factor, self->cols, cols);
    if (status == UC_OK)
        status = widen_reals(&self->shift, self->cols, cols);
    if (status == UC_OK)
        self->cols = cols;
    return status;
}

static void settle_column(uc_preprocessing *self, const uc_scale_sums *sums, size_t j)
{
    double shift;
    uc_scale_sums_column(&shift, &self->factor[j], sums, self->scaling, j);
    if (self->shift)
        self->shift[j] = shift;
}

static void settle_columns(uc_preprocessing *self, const uc_scale_sums *sums)
{
    for (size_t j = 0; j < self->cols; j++)
        settle_column(self, sums, j);
}

void uc_running_add(uc_preprocessing *self, uc_scale_sums *sums, uc_row row)
{
    uc_scale_sums_add_row(sums, row);
    if (self->shift) {
        settle_columns(self, sums);
        return;
    }
    for (size_t j = 0; j < row.count; j++)
        settle_column(self, sums, uc_row_column(row, j));
}

void uc_running_return(uc_preprocessing *self, uc_scale_sums **sums, uc_scale_sums *before)
{
    uc_scale_sums_free(*sums);
    *sums = before;
    settle_columns(self, before);
}

/* Makes a sparse matrix with the same entries, whose values are filled in later. */
static uc_status copy_columns(uc_matrix *out, const uc_matrix *X)
{
    const size_t entries = uc_matrix_entries(X);
    const uc_status status = uc_matrix_create_sparse(out, X->rows, X->cols, entries);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < X->rows; i++) {
        const uc_row row = uc_matrix_row(X, i);
        if (row.count > 0)
            memcpy(out->columns + out->offsets[i], row.columns, row.count * sizeof *row.columns);
        out->offsets[i + 1] = out->offsets[i] + row.count;
    }
    return UC_OK;
}

uc_status uc_running_apply(uc_matrix *out, uc_preprocessing *self, uc_scale_sums *sums, const uc_matrix *X)
{
    const bool sparse = uc_matrix_is_sparse(X) && !self->shift;
    uc_status status;
    if (sparse)
        status = copy_columns(out, X);
    else
        status = uc_matrix_create_dense(out, X->rows, self->shift ? self->cols : X->cols);
    for (size_t i = 0; i < X->rows && status == UC_OK; i++) {
        const uc_row row = uc_matrix_row(X, i);
        float *values = out->values + i * out->stride;
        if (sparse)
            values = out->values + out->offsets[i];
        uc_running_add(self, sums, row);
        (void)uc_scale_row(self, row, values);
    }
    return status;
}
