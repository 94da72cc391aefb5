/*
 * The inverse is stored and updated by rank one (Sherman, Morrison):
 *
 *   u = A^-1 x,  f = 1/(1 + x'u),  (A + x x')^-1 = A^-1 - f u u'
 *
 *   new A^-1 x = f u,  new A^-1 r = A^-1 r - f (u'r) u
 *
 * so the directions of x and of other rows r need only products with the old inverse, and the update can wait
 * for the next round's products: one pass over the matrix per round.
 */
#include "learn/metric.h"

#include <stdio.h>
#include <string.h>

#include "linalg/linalg.h"

static size_t padded(size_t size)
{
    return (size + 7) / 8 * 8;
}

void uc_metric_free(uc_metric *self)
{
    uc_free(self->inverse);
    uc_free(self->pending);
    uc_free(self->rows);
    uc_free(self->directions);
    *self = (uc_metric){0};
}

/* Returns a new array with the old one in its upper left corner and the prior on the rest of the diagonal. */
static double *grown_inverse(const uc_metric *self, uc_metric_kind kind, size_t size, size_t stride,
                             double prior)
{
    double *inverse = uc_alloc(kind == UC_METRIC_FULL ? size * stride : size, sizeof *inverse);
    const size_t step = kind == UC_METRIC_FULL ? stride + 1 : 1;
    for (size_t i = 0; i < self->size && inverse && kind == UC_METRIC_FULL; i++)
        memcpy(inverse + i * stride, self->inverse + i * self->stride, self->size * sizeof *inverse);
    if (inverse && self->size > 0 && kind == UC_METRIC_DIAGONAL)
        memcpy(inverse, self->inverse, self->size * sizeof *inverse);
    for (size_t i = self->size; i < size && inverse; i++)
        inverse[i * step] = 1.0 / prior;
    return inverse;
}

uc_status uc_metric_grown(uc_metric *out, const uc_metric *self, uc_metric_kind kind, size_t features,
                          double prior, size_t vectors)
{
    const size_t size = features + 1, stride = padded(size);
    uc_metric grown = {
        .kind = kind, .size = size, .stride = stride, .factor = self->factor, .vectors = vectors};
    grown.inverse = grown_inverse(self, kind, size, stride, prior);
    grown.pending = uc_alloc(stride, sizeof *grown.pending);
    grown.rows = uc_alloc(vectors * stride, sizeof *grown.rows);
    grown.directions = uc_alloc(vectors * stride, sizeof *grown.directions);
    if (!grown.inverse || !grown.pending || !grown.rows || !grown.directions) {
        uc_metric_free(&grown);
        return UC_ERR_NOMEM;
    }
    if (self->pending)
        memcpy(grown.pending, self->pending, self->size * sizeof *grown.pending);
    *out = grown;
    return UC_OK;
}

uc_status uc_metric_resize(uc_metric *self, uc_metric_kind kind, size_t features, double prior,
                           size_t vectors)
{
    uc_metric grown = {0};
    if (features + 1 == self->size && vectors == self->vectors && kind != UC_METRIC_NONE)
        return UC_OK;
    if (kind != UC_METRIC_NONE) {
        const uc_status status = uc_metric_grown(&grown, self, kind, features, prior, vectors);
        if (status != UC_OK)
            return status;
    }
    uc_metric_free(self);
    *self = grown;
    return UC_OK;
}

/* ---- rounds ---- */

static void expand(double *dense, uc_row row, double bias, size_t stride)
{
    memset(dense, 0, stride * sizeof *dense);
    dense[0] = bias;
    for (size_t i = 0; i < row.count; i++)
        dense[1 + uc_row_column(row, i)] = row.values[i];
}

static double product(uc_row row, double bias, const double *vector)
{
    return bias * vector[0] + uc_row_dot(row, vector + 1);
}

uc_direction uc_metric_direction_dense(uc_metric *self)
{
    uc_sweep(self->directions, self->inverse, self->size, self->stride, self->pending, self->factor,
             self->rows, 1);
    memcpy(self->pending, self->directions, self->size * sizeof *self->pending);
    self->factor = 0.0;
    double length = 0.0;
    for (size_t i = 0; i < self->size; i++)
        length += self->rows[i] * self->pending[i];
    return (uc_direction){.length = length > 0.0 ? length : 0.0,
                          .dense = self->pending}; /* not positive only by rounding */
}

uc_direction uc_metric_direction(uc_metric *self, uc_row row, double bias)
{
    expand(self->rows, row, bias, self->stride);
    return uc_metric_direction_dense(self);
}

void uc_metric_add_last(uc_metric *self, const uc_direction *direction, double weight)
{
    self->factor = direction->length > 0.0 ? weight / (1.0 + weight * direction->length) : 0.0;
}

static void add_full(uc_direction *out, uc_metric *self, const uc_row *rows, size_t count, double bias)
{
    const size_t S = self->stride;
    for (size_t r = 0; r < count; r++)
        expand(self->rows + r * S, rows[r], bias, S);
    uc_sweep(self->directions, self->inverse, self->size, S, self->pending, self->factor, self->rows, count);
    memcpy(self->pending, self->directions, self->size * sizeof *self->pending);
    const double *u = self->pending, xu = product(rows[0], bias, u);
    self->factor = xu > 0.0 ? 1.0 / (1.0 + xu) : 0.0; /* by rounding, the part along x may not be positive */
    for (size_t r = 0; r < count; r++) {
        double *direction = self->directions + r * S;
        const double step = r == 0 ? self->factor * xu : self->factor * product(rows[r], bias, u);
        for (size_t i = 0; i < self->size; i++)
            direction[i] -= step * u[i];
        out[r] = (uc_direction){.length = product(rows[r], bias, direction), .dense = direction};
    }
}

static void add_to_entry(double *inverse, double x)
{
    *inverse = 1.0 / (1.0 / *inverse + x * x);
}

static void add_diagonal(uc_direction *out, uc_metric *self, const uc_row *rows, size_t count, double bias)
{
    double *inverse = self->inverse + 1;
    add_to_entry(self->inverse, bias);
    for (size_t i = 0; i < rows[0].count; i++)
        add_to_entry(&inverse[uc_row_column(rows[0], i)], rows[0].values[i]);
    const double constant = bias * self->inverse[0];
    for (size_t r = 0; r < count; r++) {
        float *scaled = (float *)(void *)(self->rows + r * self->stride);
        double length = bias * constant;
        for (size_t i = 0; i < rows[r].count; i++) {
            scaled[i] = (float)(rows[r].values[i] * inverse[uc_row_column(rows[r], i)]);
            length += (double)scaled[i] * (double)rows[r].values[i];
        }
        out[r] = (uc_direction){
            .length = length, .constant = constant, .row = {rows[r].count, scaled, rows[r].columns}};
    }
}

void uc_metric_add(uc_direction *directions, uc_metric *self, const uc_row *rows, size_t count, double bias)
{
    if (self->kind == UC_METRIC_FULL) {
        add_full(directions, self, rows, count, bias);
        return;
    }
    if (self->kind == UC_METRIC_DIAGONAL) {
        add_diagonal(directions, self, rows, count, bias);
        return;
    }
    for (size_t r = 0; r < count; r++)
        directions[r] =
            (uc_direction){.length = uc_row_norm2(rows[r]) + bias * bias, .constant = bias, .row = rows[r]};
}

/* ---- saving and resuming ---- */

uc_status uc_metric_remember(uc_metric *self, uc_state *state, const char *name)
{
    char pending[64], factor[64];
    if (self->kind == UC_METRIC_NONE)
        return UC_OK;
    if (self->kind == UC_METRIC_DIAGONAL)
        return uc_state_array(state, name, UC_ARRAY_F64, self->inverse, self->size);
    snprintf(pending, sizeof pending, "%s.pending", name);
    snprintf(factor, sizeof factor, "%s.factor", name);
    uc_status status = uc_state_array(state, name, UC_ARRAY_F64, self->inverse, self->size * self->stride);
    if (status == UC_OK)
        status = uc_state_array(state, pending, UC_ARRAY_F64, self->pending, self->stride);
    return status == UC_OK ? uc_state_array(state, factor, UC_ARRAY_F64, &self->factor, 1) : status;
}
