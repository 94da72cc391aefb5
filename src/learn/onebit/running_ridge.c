/*
 *   phi   features of a row        q   its target, one number per class
 *   A = prior + sum phi phi'       B = sum phi q'        W = A^-1 B       s = W'phi
 *
 * A row is added by the formula of Sherman and Morrison:
 *
 *   g = A^-1 phi,  h = phi'g,  A^-1 -= g g'/(1 + h),  W += g (q - s)'/(1 + h)
 *
 * The vectors g wait in `pending`, and the inverse is updated with all of them at once, by a matrix product
 * that reads it from the cache. Meanwhile A^-1 phi = A0^-1 phi - sum u (u'phi). Changes of targets wait in
 * the same way: W += A^-1 (sum phi dq').
 *
 * Targets are centred: q = t - 1/K. If K changes, B = T - (1/K) f 1' follows from f = sum phi, and W from
 * A^-1 f.
 */
#include "learn/onebit/running_ridge.h"

#include <math.h>
#include <string.h>

void uc_running_ridge_free(uc_running_ridge *self)
{
    uc_free(self->inverse);
    uc_free(self->pending);
    uc_free(self->weights);
    uc_free(self->sums);
    uc_free(self->changes);
    uc_free(self->feature_sum);
    uc_free(self->work);
    uc_free(self->direction);
    uc_free(self->step);
    *self = (uc_running_ridge){0};
}

uc_status uc_running_ridge_begin(uc_running_ridge *out, size_t size, size_t classes)
{
    const size_t stride = (size + 7) / 8 * 8, C = uc_class_stride(classes);
    uc_running_ridge self = {.size = size, .stride = stride, .classes = classes, .class_stride = C};
    self.inverse = uc_alloc(size * stride, sizeof *self.inverse);
    self.pending = uc_alloc(UC_RIDGE_PENDING * stride, sizeof *self.pending);
    self.weights = uc_alloc(size * C, sizeof *self.weights);
    self.sums = uc_alloc(size * C, sizeof *self.sums);
    self.changes = uc_alloc(size * C, sizeof *self.changes);
    self.feature_sum = uc_alloc(stride, sizeof *self.feature_sum);
    self.work = uc_alloc(stride, sizeof *self.work);
    self.direction = uc_alloc(stride, sizeof *self.direction);
    self.step = uc_alloc(C, sizeof *self.step);
    const bool vectors = self.feature_sum && self.work && self.direction && self.step;
    if (!self.inverse || !self.pending || !self.weights || !self.sums || !self.changes || !vectors) {
        uc_running_ridge_free(&self);
        return UC_ERR_NOMEM;
    }
    *out = self;
    return UC_OK;
}

static uc_row row_of(const uc_running_ridge *self, const float *phi)
{
    return (uc_row){self->size, phi, NULL};
}

double uc_running_ridge_direct(uc_running_ridge *self, const float *phi)
{
    const size_t n = self->size;
    double *x = self->work, *g = self->direction, h = 0.0;
    for (size_t j = 0; j < n; j++)
        x[j] = (double)phi[j];
    uc_symmetric_times(g, self->inverse, self->stride, n, x);
    for (size_t r = 0; r < self->pending_count; r++) {
        const double *u = self->pending + r * self->stride;
        uc_axpy(g, -uc_row_dot(row_of(self, phi), u), u, n);
    }
    h = uc_row_dot(row_of(self, phi), g);
    return h > 0.0 ? h : 0.0; /* otherwise rounding */
}

void uc_running_ridge_add(uc_running_ridge *self, const float *phi, double h, double weight, const double *q,
                          const double *s)
{
    const size_t n = self->size, C = self->class_stride;
    const double factor = weight / (1.0 + weight * h);
    double *u = self->pending + self->pending_count++ * self->stride, *g = self->direction;
    const double root = sqrt(factor);
    for (size_t j = 0; j < n; j++)
        u[j] = root * g[j];
    for (size_t k = 0; k < C; k++)
        self->step[k] = factor * (q[k] - s[k]);
    uc_outer_update(self->weights, n, C, g, self->step);
    for (size_t k = 0; k < C; k++)
        self->step[k] = weight * q[k];
    uc_row_update(self->sums, C, row_of(self, phi), self->step);
    uc_row_axpy(weight, row_of(self, phi), self->feature_sum);
}

void uc_running_ridge_change(uc_running_ridge *self, const float *phi, const double *dq)
{
    uc_row_update(self->sums, self->class_stride, row_of(self, phi), dq);
    uc_row_update(self->changes, self->class_stride, row_of(self, phi), dq);
    self->changed = true;
}

static void settle_inverse(uc_running_ridge *self)
{
    uc_symmetric_add(self->inverse, self->stride, self->size, -1.0, self->pending, self->stride,
                     self->pending_count);
    self->pending_count = 0;
}

static void forget_changes(uc_running_ridge *self)
{
    memset(self->changes, 0, self->size * self->class_stride * sizeof *self->changes);
    self->changed = false;
}

void uc_running_ridge_flush(uc_running_ridge *self, uint64_t every, double *work)
{
    self->flushes++;
    if (self->flushes < every)
        settle_inverse(self);
    else
        uc_running_ridge_settle(self, work);
}

void uc_running_ridge_settle(uc_running_ridge *self, double *work)
{
    const size_t count = self->size * self->class_stride;
    settle_inverse(self);
    self->flushes = 0;
    if (!self->changed)
        return;
    uc_symmetric_product(work, self->inverse, self->stride, self->size, self->changes, self->class_stride);
    for (size_t i = 0; i < count; i++)
        self->weights[i] += work[i];
    forget_changes(self);
}

void uc_running_ridge_solve(uc_running_ridge *self)
{
    settle_inverse(self);
    self->flushes = 0;
    uc_symmetric_product(self->weights, self->inverse, self->stride, self->size, self->sums,
                         self->class_stride);
    if (self->changed)
        forget_changes(self);
}

/* A copy for more classes, in which the mean that centres the targets goes from 1/K to 1/more. */
static double *recentred(const uc_running_ridge *self, const double *array, const double *all, size_t more)
{
    const size_t n = self->size, K = self->classes, C = uc_class_stride(more);
    double *copy = uc_alloc(n * C, sizeof *copy);
    const double before = K > 0 ? 1.0 / (double)K : 0.0, after = 1.0 / (double)more;
    for (size_t j = 0; j < n && copy; j++)
        for (size_t k = 0; k < more; k++) {
            double target = 0.0; /* without the mean */
            if (k < K)
                target = array[j * self->class_stride + k] + before * all[j];
            copy[j * C + k] = target - after * all[j];
        }
    return copy;
}

uc_status uc_running_ridge_add_classes(uc_running_ridge *self, size_t classes)
{
    const size_t C = uc_class_stride(classes);
    double *solved = self->direction, *nothing = self->work; /* A^-1 f, and a change of zero */
    settle_inverse(self);
    uc_symmetric_times(solved, self->inverse, self->stride, self->size, self->feature_sum);
    memset(nothing, 0, self->stride * sizeof *nothing);
    double *weights = recentred(self, self->weights, solved, classes);
    double *sums = recentred(self, self->sums, self->feature_sum, classes);
    double *changes = recentred(self, self->changes, nothing, classes), *step = uc_alloc(C, sizeof *step);
    if (!weights || !sums || !changes || !step) {
        uc_free(weights);
        uc_free(sums);
        uc_free(changes);
        uc_free(step);
        return UC_ERR_NOMEM;
    }
    uc_free(self->weights);
    uc_free(self->sums);
    uc_free(self->changes);
    uc_free(self->step);
    self->step = step;
    self->weights = weights;
    self->sums = sums;
    self->changes = changes;
    self->classes = classes;
    self->class_stride = C;
    return UC_OK;
}

/* ---- saving and resuming ---- */

/* The lower triangle, row by row without padding. */
static uc_status remember_inverse(uc_running_ridge *self, uc_state *state)
{
    const size_t n = self->size, count = n * (n + 1) / 2;
    double *packed = uc_alloc(count, sizeof *packed), *next = packed;
    if (!packed)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < n && !state->reading; next += ++i)
        memcpy(next, self->inverse + i * self->stride, (i + 1) * sizeof *next);
    const uc_status status = uc_state_array(state, "state.ridge.inverse", UC_ARRAY_F64, packed, count);
    next = packed;
    for (size_t i = 0; i < n && state->reading && status == UC_OK; next += ++i)
        memcpy(self->inverse + i * self->stride, next, (i + 1) * sizeof *next);
    uc_free(packed);
    return status;
}

uc_status uc_running_ridge_remember(uc_running_ridge *self, uc_state *state)
{
    const size_t n = self->size, C = self->class_stride;
    uint64_t pending = self->pending_count, changed = self->changed;
    uc_status status = uc_state_counter(state, "ridge_pending", &pending);
    if (status == UC_OK)
        status = uc_state_counter(state, "ridge_changed", &changed);
    if (status == UC_OK)
        status = uc_state_counter(state, "ridge_flushes", &self->flushes);
    if (status == UC_OK && pending > UC_RIDGE_PENDING)
        return uc_state_damaged();
    self->pending_count = (size_t)pending;
    self->changed = changed != 0;
    if (status == UC_OK)
        status = remember_inverse(self, state);
    if (status == UC_OK)
        status = uc_state_array(state, "state.ridge.pending", UC_ARRAY_F64, self->pending,
                                self->pending_count * self->stride);
    if (status == UC_OK)
        status = uc_state_array(state, "state.ridge.weights", UC_ARRAY_F64, self->weights, n * C);
    if (status == UC_OK)
        status = uc_state_array(state, "state.ridge.sums", UC_ARRAY_F64, self->sums, n * C);
    if (status == UC_OK && self->changed)
        status = uc_state_array(state, "state.ridge.changes", UC_ARRAY_F64, self->changes, n * C);
    if (status == UC_OK)
        status = uc_state_array(state, "state.ridge.features", UC_ARRAY_F64, self->feature_sum, n);
    return status;
}
