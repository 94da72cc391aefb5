/*
 * Confidit (Crammer, Gentile, ICML 2011), with the diagonal matrices of its experiments: proposes the class
 * that may be the best, given how uncertain its score is.
 *
 *   A_k  diagonal, initially a0 I     v_k = 1/A_k, in its own plane   p  the class proposed
 *
 *   p = argmax_k  s_k + sqrt(eta sum_j x_j^2 v_kj)
 *
 *   then, Z = 1 for right and -1 for wrong:  A_p += x^2,  w_p = (A_p(old) w_p + Z x)/A_p
 *
 * element by element; nothing changes where x_j = 0.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "learn/online.h"

static const uc_option options[] = {
    {.name = "eta",
     .type = UC_OPTION_REAL,
     .offset = offsetof(uc_confidit_settings, eta),
     .standard = "1",
     .low = 0,
     .high = 1e12,
     .argument = "E",
     .help = "how much the uncertainty of a class's score adds to it in a proposal; 0: nothing"},
    {.name = "prior",
     .type = UC_OPTION_REAL,
     .offset = offsetof(uc_confidit_settings, prior),
     .standard = "4",
     .low = 1e-6,
     .high = 1e12,
     .argument = "A0",
     .help = "how strongly the weights are held at zero at the start; less: faster learning"},
    {.name = NULL},
};

static const double grid_values[] = {1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1e3, 1e4, 1e5};
static const uc_candidates grid[] = {{"eta", grid_values, sizeof grid_values / sizeof *grid_values}, {0}};

enum { VARIANCE = UC_OWN };

static bool plane(double *start, const void *user, size_t number, uc_shape shape)
{
    (void)shape;
    const uc_confidit_settings *settings = user;
    *start = 1.0 / settings->prior;
    return number == 0;
}

/* sums[k] += x^2 v[k] */
static void add_variance(double *restrict sums, double x, const double *restrict v, size_t S)
{
    for (size_t k = 0; k < S; k++)
        sums[k] += x * x * v[k];
}

static void propose(uc_proposal *proposal, uc_online *self, uc_row row)
{
    const uc_confidit_settings *settings = self->settings;
    const size_t S = self->stride;
    const double *V = self->plane[VARIANCE];
    double *bounds = self->full_step;
    memset(bounds, 0, S * sizeof *bounds);
    add_variance(bounds, self->train.bias, V, S);
    for (size_t i = 0; i < row.count; i++)
        add_variance(bounds, row.values[i], V + (1 + uc_row_column(row, i)) * S, S);
    for (size_t k = 0; k < S; k++)
        bounds[k] = self->scores[k] + sqrt(settings->eta * bounds[k]);
    proposal->label = (uint32_t)uc_argmax(bounds, self->classes.count);
}

static void learn_entry(uc_online *self, size_t at, double x, double sign, double weight)
{
    double *w = self->plane[UC_WEIGHTS] + at, *v = self->plane[VARIANCE] + at;
    const double before = *w, known = 1.0 / *v, sum = known + weight * (x * x);
    *w = (known * before + weight * (sign * x)) / sum;
    *v = 1.0 / sum;
    if (self->plane[UC_AVERAGE])
        self->plane[UC_AVERAGE][at] += (double)self->rounds * (*w - before);
}

static uc_status learn(uc_online *self, uc_row row, const uc_round *round)
{
    const size_t S = self->stride, p = round->proposal.label;
    const double sign = round->answer.kind == UC_ANSWER_RIGHT ? 1.0 : -1.0;
    if (self->train.bias != 0.0)
        learn_entry(self, p, self->train.bias, sign, round->weight);
    for (size_t i = 0; i < row.count; i++)
        if (row.values[i] != 0.0f)
            learn_entry(self, (1 + uc_row_column(row, i)) * S + p, row.values[i], sign, round->weight);
    self->updates++;
    return UC_OK;
}

const uc_learner uc_learner_confidit = {
    .name = "confidit",
    .summary = "right/wrong feedback only: second order, proposes what could be best (upper confidence)",
    .paper =
        "Crammer, Gentile: Multiclass classification with bandit feedback using adaptive regularization, "
        "ICML 2011",
    .options = options,
    .settings_size = sizeof(uc_confidit_settings),
    .grid = grid,
    .partial = true,
    .normalizes = true,
    .class_weight = UC_NO_CLASS_WEIGHT,
    .plane = plane,
    .propose = propose,
    .learn = learn,
};
