/*
 * AROW, adaptive regularization of weight vectors (Crammer, Kulesza, Dredze, NIPS 2009), for several classes
 * as in Crammer, Dredze, Kulesza (Multi-class confidence weighted algorithms, EMNLP 2009): each round
 * compares the label's class with the best wrong one.
 *
 *   y  the label      r  the best wrong class      m = <w_y - w_r, x>      l = max(0, 1 - m)
 *   c  class weight   R  --regularizer
 *
 * The weights are modelled as Gaussian, N(w, S), where S starts as the identity and has one block per class
 * (covariance.h). If l > 0, a round solves, over all w and all S with the same blocks,
 *
 *   min  KL(N(w, S) || N(w(old), S(old)))  +  c/(2R) l^2  +  c/(2R) (x'S_y x + x'S_r x)
 *
 * which separates into one problem for w and one for S. With V = S/R, so that V starts as I/R, and
 * v = x'V_y x + x'V_r x before the round,
 *
 *   w_y += a V_y x,   w_r -= a V_r x,   a = l/(1/c + v),        then   V_y^-1 += c x x',   V_r^-1 += c x x'
 *
 * If V is diagonal, only the diagonal of x x' is added.
 */
#include <stddef.h>

#include "learn/covariance.h"
#include "learn/passive_aggressive.h"

static const uc_option options[] = {
    {.name = "regularizer",
     .type = UC_OPTION_REAL,
     .offset = offsetof(uc_arow_settings, regularizer),
     .standard = "0.1",
     .low = 1e-6,
     .high = 1e12,
     .argument = "R",
     .help = "how slowly weights become sure; the larger, the smaller the steps"},
    UC_COVARIANCE_OPTION(uc_arow_settings),
    UC_CLASS_WEIGHT_OPTION(uc_arow_settings),
    {.name = NULL},
};

static const double grid_values[] = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30};
static const uc_candidates grid[] = {{"regularizer", grid_values, sizeof grid_values / sizeof *grid_values},
                                     {0}};

static bool plane(double *start, const void *user, size_t number, uc_shape shape)
{
    const uc_arow_settings *settings = user;
    (void)shape;
    return uc_covariance_plane(start, settings->covariance, settings->regularizer, number);
}

static uc_status grow(uc_online *self, uc_shape shape, size_t classes)
{
    const uc_arow_settings *settings = self->settings;
    return uc_covariance_grow(self->memory, settings->covariance, settings->regularizer, shape, classes);
}

static double memory_bytes(const void *user, uc_shape shape, size_t classes, double row_bytes, double rounds)
{
    const uc_arow_settings *settings = user;
    (void)row_bytes;
    (void)rounds;
    return uc_covariance_bytes(settings->covariance, shape, classes);
}

static uc_status learn(uc_online *self, uc_row row, const uc_round *round)
{
    const uint32_t y = round->answer.label, r = uc_best_other(round->scores, round->classes, y);
    const double loss = 1.0 + round->scores[r] - round->scores[y];
    if (!(loss > 0.0))
        return UC_OK;
    double v;
    uc_covariance_margin(&v, self, row, y, r);
    uc_covariance_learn(self, row, y, r, loss / (1.0 / round->weight + v), round->weight);
    return UC_OK;
}

const uc_learner uc_learner_arow = {
    .name = "arow",
    .summary = "labels that are mostly right: second order, gets far in one pass over the data",
    .paper = "Crammer, Kulesza, Dredze: Adaptive regularization of weight vectors, NIPS 2009",
    .options = options,
    .settings_size = sizeof(uc_arow_settings),
    .grid = grid,
    .full = true,
    .last = true,
    .class_weight = offsetof(uc_arow_settings, class_weight),
    .plane = plane,
    .memory_size = sizeof(uc_covariance),
    .grow = grow,
    .memory_bytes = memory_bytes,
    .release = uc_covariance_release,
    .remember = uc_covariance_remember,
    .learn = learn,
};
