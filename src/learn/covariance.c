/* Gaussians over the weights, diagonal or with one full matrix per class. */
#include "learn/covariance.h"

#include <stdio.h>

enum { VARIANCE = UC_OWN };

/* ---- room ---- */

bool uc_covariance_plane(double *start, int kind, double prior, size_t number)
{
    *start = 1.0 / prior;
    return number == 0 && kind == UC_COVARIANCE_DIAGONAL;
}

static void free_metrics(uc_metric *metric, size_t count)
{
    for (size_t k = 0; k < count && metric; k++)
        uc_metric_free(&metric[k]);
    uc_free(metric);
}

/* Grows all matrices, or none on failure. */
static uc_status grow_metrics(uc_covariance *self, double prior, size_t features, size_t classes)
{
    const uc_metric none = {0};
    if (classes == self->classes && self->metric[0].size == features + 1)
        return UC_OK;
    uc_metric *grown = uc_alloc(classes, sizeof *grown);
    if (!grown)
        return UC_ERR_NOMEM;
    for (size_t k = 0; k < classes; k++) {
        const uc_metric *old = k < self->classes ? &self->metric[k] : &none;
        const uc_status status = uc_metric_grown(&grown[k], old, UC_METRIC_FULL, features, prior, 1);
        if (status != UC_OK) {
            free_metrics(grown, classes);
            return status;
        }
    }
    free_metrics(self->metric, self->classes);
    self->metric = grown;
    self->classes = classes;
    return UC_OK;
}

static bool allows_full(uc_shape shape)
{
    return !shape.sparse && shape.features <= UC_COVARIANCE_FEATURES;
}

uc_status uc_covariance_grow(uc_covariance *self, int kind, double prior, uc_shape shape, size_t classes)
{
    const size_t room = kind == UC_COVARIANCE_FULL ? 2 : 2 * (shape.features + 1);
    if (kind == UC_COVARIANCE_FULL && shape.features > UC_COVARIANCE_FEATURES && !shape.sparse)
        return uc_fail(UC_ERR_INVALID,
                       "{covariance=full} is for at most %d features, not %zu: use {covariance=diagonal}",
                       UC_COVARIANCE_FEATURES, shape.features);
    if (kind == UC_COVARIANCE_FULL && shape.sparse)
        return uc_fail(UC_ERR_INVALID, "{covariance=full} is for dense rows: use {covariance=diagonal}");
    if (room > self->room) {
        double *parts = uc_alloc(room, sizeof *parts);
        if (!parts)
            return UC_ERR_NOMEM;
        uc_free(self->parts);
        self->parts = parts;
        self->room = room;
    }
    return kind == UC_COVARIANCE_FULL && classes > 0 ? grow_metrics(self, prior, shape.features, classes)
                                                     : UC_OK;
}

double uc_covariance_bytes(int kind, uc_shape shape, size_t classes)
{
    const double size = (double)shape.features + 1.0;
    if (kind == UC_COVARIANCE_DIAGONAL || !allows_full(shape)) /* otherwise uc_covariance_grow refuses */
        return sizeof(double) * 2.0 * size;
    return sizeof(double) * (double)classes * size * (size + 3.0);
}

void uc_covariance_release(void *memory)
{
    uc_covariance *self = memory;
    free_metrics(self->metric, self->classes);
    uc_free(self->parts);
}

uc_status uc_covariance_remember(uc_online *online, uc_state *state)
{
    uc_covariance *self = online->memory;
    uc_status status = UC_OK;
    for (size_t k = 0; k < self->classes && status == UC_OK; k++) {
        char name[48];
        snprintf(name, sizeof name, "state.covariance%zu", k + 1);
        status = uc_metric_remember(&self->metric[k], state, name);
    }
    return status;
}

/* ---- rounds ---- */

size_t uc_covariance_margin(double *v, uc_online *online, uc_row row, uint32_t y, uint32_t r)
{
    uc_covariance *self = online->memory;
    const double bias = online->train.bias;
    const uint32_t classes[2] = {y, r};
    size_t count = 0;
    *v = 0.0;
    for (size_t i = 0; i < 2 && self->metric; i++) {
        self->along[i] = uc_metric_direction(&self->metric[classes[i]], row, bias);
        self->parts[count++] = self->along[i].length;
        *v += self->along[i].length;
    }
    for (size_t i = 0; i < 2 && !self->metric; i++) {
        const double *V = online->plane[VARIANCE] + classes[i];
        self->parts[count++] = bias * bias * V[0];
        for (size_t j = 0; j < row.count; j++) {
            const double x = row.values[j];
            self->parts[count++] = x * x * V[(1 + (row.columns ? row.columns[j] : j)) * online->stride];
        }
    }
    for (size_t i = 0; i < count && !self->metric; i++)
        *v += self->parts[i];
    return count;
}

static void learn_entry(uc_online *online, size_t at, double x, double step, double weight)
{
    double *V = online->plane[VARIANCE] + at;
    const double change = step * *V * x;
    online->plane[UC_WEIGHTS][at] += change;
    if (online->plane[UC_AVERAGE])
        online->plane[UC_AVERAGE][at] += (double)online->rounds * change;
    *V /= 1.0 + weight * x * x * *V;
}

static void learn_diagonal(uc_online *online, uc_row row, uint32_t k, double step, double weight)
{
    if (online->train.bias != 0.0)
        learn_entry(online, k, online->train.bias, step, weight);
    for (size_t i = 0; i < row.count; i++)
        learn_entry(online, (1 + (row.columns ? row.columns[i] : i)) * online->stride + k, row.values[i],
                    step, weight);
}

void uc_covariance_learn(uc_online *online, uc_row row, uint32_t y, uint32_t r, double step, double weight)
{
    uc_covariance *self = online->memory;
    const uint32_t classes[2] = {y, r};
    for (size_t i = 0; i < 2; i++) {
        const double signed_step = i == 0 ? step : -step;
        if (!self->metric) {
            learn_diagonal(online, row, classes[i], signed_step, weight);
            continue;
        }
        online->step.count = 1;
        online->step.classes[0] = classes[i];
        online->step.tau[0] = signed_step;
        uc_online_add(online, &self->along[i]);
        uc_metric_add_last(&self->metric[classes[i]], &self->along[i], weight);
    }
    online->updates++;
}
