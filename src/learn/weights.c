/*
 * The weights of an online learner: scores of a row, and steps added to them.
 *
 *   W      weights        U   sum over rounds s of (s - 1) D_s, where D_s is what round s added
 *   t      rounds so far
 *
 * The mean of the iterates W_1..W_t costs O(1) extra per step:  mean = W - U / t,  because D_s is in the
 * iterates s..t and so counts t - s + 1 = t - (s - 1) times.
 */
#include <string.h>

#include "learn/online.h"

void uc_online_plane_scores(double *scores, const uc_online *self, size_t plane, uc_row row)
{
    const double *W = self->plane[plane];
    for (size_t k = 0; k < self->stride; k++)
        scores[k] = self->train.bias * W[k];
    uc_row_scores(scores, row, W + self->stride, self->stride);
}

void uc_online_score(uc_online *self, uc_row row)
{
    if (self->learner->score)
        self->learner->score(self, row);
    else
        uc_online_plane_scores(self->scores, self, UC_WEIGHTS, row);
    self->ticket++;
}

/* The step as one number per class, times `factor`. */
static const double *spread_step(const uc_online *self, double factor)
{
    const uc_step *step = &self->step;
    double *full = self->full_step;
    memset(full, 0, self->stride * sizeof *full);
    for (size_t i = 0; i < step->count; i++)
        full[step->classes[i]] = factor * step->tau[i];
    return full;
}

/* array += row (x) step, dense over the classes if many of them change. */
static void add_step(const uc_online *self, double *array, uc_row row, double constant, double factor)
{
    const uc_step *step = &self->step;
    const size_t S = self->stride;
    if (S <= 8 || 4 * step->count >= S) {
        const double *full = spread_step(self, factor);
        for (size_t k = 0; k < S; k++)
            array[k] += constant * full[k];
        uc_row_update(array + S, S, row, full);
        return;
    }
    for (size_t i = 0; i < step->count; i++) {
        step->work[i] = factor * step->tau[i];
        array[step->classes[i]] += constant * step->work[i];
    }
    uc_row_update_some(array + S, S, row, step->classes, step->work, step->count);
}

void uc_online_add_to(uc_online *self, size_t plane, const uc_direction *direction, double factor)
{
    if (self->step.count == 0)
        return;
    if (direction->dense)
        uc_outer_update(self->plane[plane], self->features + 1, self->stride, direction->dense,
                        spread_step(self, factor));
    else
        add_step(self, self->plane[plane], direction->row, direction->constant, factor);
}

void uc_online_add(uc_online *self, const uc_direction *direction)
{
    uc_online_add_to(self, UC_WEIGHTS, direction, 1.0);
    if (self->plane[UC_AVERAGE] && self->rounds > 0)
        uc_online_add_to(self, UC_AVERAGE, direction, (double)self->rounds);
}
