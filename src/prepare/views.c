/* Several views of a row, each prepared and mapped in its own way, next to each other. */
#include <string.h>

#include "linalg/linalg.h"
#include "prepare/preprocessing.h"

bool uc_preprocessing_shifts(const uc_preprocessing *self)
{
    bool shifts = self->shift != NULL;
    for (size_t v = 0; v < self->view_count; v++)
        shifts = shifts || self->views[v].shift;
    return shifts;
}

size_t uc_row_views_dimension(const uc_preprocessing *self)
{
    size_t dimension = 0;
    for (size_t v = 0; v < self->view_count; v++)
        dimension += uc_preprocessing_dimension(&self->views[v], self->views[v].cols);
    return dimension;
}

static size_t whole_lines(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

size_t uc_row_views_row_work(const uc_preprocessing *self, size_t cols)
{
    size_t most = 0;
    for (size_t v = 0; v < self->view_count; v++)
        most = uc_max_size(most, uc_preprocessing_row_work(&self->views[v], cols));
    return whole_lines(uc_row_views_dimension(self)) + whole_lines(most);
}

uc_row uc_row_views_row(const uc_preprocessing *self, uc_row row, float *out)
{
    const size_t dimension = uc_row_views_dimension(self);
    float *work = out + whole_lines(dimension), *end = out;
    for (size_t v = 0; v < self->view_count; v++) {
        const uc_row seen = uc_preprocessing_row(&self->views[v], row, work);
        memcpy(end, seen.values, seen.count * sizeof *end);
        end += seen.count;
    }
    row = (uc_row){dimension, out, NULL};
    return self->normalize ? uc_normalize_row(row, out) : row;
}

/* Columns first .. of `out` become those of the view. */
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

uc_status uc_row_views_apply(const uc_preprocessing *self, uc_matrix *X, const uc_context *context)
{
    uc_matrix out = {0};
    size_t first = 0;
    uc_status status = uc_matrix_create_dense(&out, X->rows, uc_row_views_dimension(self));
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

uc_status uc_row_views_copy(uc_preprocessing *out, const uc_preprocessing *self)
{
    out->views = uc_alloc(self->view_count, sizeof *out->views);
    out->view_count = self->view_count;
    uc_status status = out->views ? UC_OK : UC_ERR_NOMEM;
    for (size_t v = 0; v < self->view_count && status == UC_OK; v++)
        status = uc_preprocessing_copy(&out->views[v], &self->views[v]);
    return status;
}

void uc_row_views_free(uc_preprocessing *self)
{
    for (size_t v = 0; v < self->view_count && self->views; v++)
        uc_preprocessing_free(&self->views[v]);
    uc_free(self->views);
    self->views = NULL;
    self->view_count = 0;
}
