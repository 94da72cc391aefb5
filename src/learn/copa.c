/*
 * COPA, confusion passive-aggressive (Ralaivola, NIPS 2012): keeps the norm of the confusion matrix small, so
 * that rare classes count as much as frequent ones.
 *
 *   s_q  scores, mean 0   y  the label   Q  classes   xx  squared length of the row    C  cost of the example
 *   l_q  = s_q + 1/(Q-1), q != y: the losses, if positive        kappa = 1/C + xx
 *
 * A round solves, with sum_q w_q = 0 kept,
 *
 *   min 1/2 sum_q |w_q - w_q(old)|^2 + C/2 sum_{q != y} (<w_q, x> + 1/(Q-1))_+^2
 *
 * whose solution is w_q = w_q(old) - (alpha_q - S/Q) x for every q, S the sum of
 *
 *   alpha_q = (l_q + theta)_+ / kappa,  theta = xx S/Q.
 *
 * theta is the root of  kappa Q theta/xx = sum_q (l_q + theta)_+,  whose right side is flatter everywhere.
 * The root is found from below: the equation is solved for the classes that are active at the last value,
 * until no other class becomes active. The gain S/Q, common to all classes, is left out (`relative` in
 * learner.h).
 *
 * `--cost-scale class` is the cost of the confusion matrix: C = c (T/T_y)^2, where T_y of T examples are of
 * the label's class.
 */
#include <stddef.h>

#include "learn/learner.h"

enum { SCALE_CLASS, SCALE_NONE };

static const uc_option options[] = {
    {.name = "cost",
     .letter = 'c',
     .type = UC_OPTION_REAL,
     .offset = offsetof(uc_copa_settings, cost),
     .standard = "0.04",
     .low = 0,
     .above_low = true,
     .high = 1e12,
     .argument = "C",
     .help = "how much one example may change the weights"},
    {.name = "cost-scale",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(uc_copa_settings, cost_scale),
     .standard = "class",
     .choices = "class|none",
     .help = "class: multiply the cost by (total / count of the label's class) squared, as the loss of the "
             "confusion matrix does; none: use it as it is"},
    UC_CLASS_WEIGHT_OPTION(uc_copa_settings),
    {.name = NULL},
};

static const double grid_values[] = {0.001, 0.004, 0.01, 0.04, 0.1, 0.4, 1, 4};
static const uc_candidates grid[] = {{"cost", grid_values, sizeof grid_values / sizeof *grid_values}, {0}};

static void step(uc_step *out, const uc_round *round, const void *user)
{
    const uc_copa_settings *settings = user;
    const size_t Q = round->classes;
    const uint32_t y = round->answer.label;
    const double scale =
        settings->cost_scale == SCALE_CLASS ? round->inverse_share * round->inverse_share : 1.0;
    const double kappa = 1.0 / (settings->cost * scale * round->weight) + round->xx;
    double mean = 0.0, theta = 0.0, *losses = out->work;
    for (size_t q = 0; q < Q; q++)
        mean += round->scores[q] / (double)Q;
    for (size_t q = 0; q < Q; q++)
        losses[q] = round->scores[q] - mean + 1.0 / (double)(Q - 1);

    size_t active = 0;
    for (;;) {
        double sum = 0.0;
        size_t count = 0;
        for (uint32_t q = 0; q < Q; q++)
            if (q != y && losses[q] + theta > 0.0) {
                sum += losses[q];
                out->classes[count++] = q;
            }
        const bool grew =
            count > active; /* fewer only by rounding, if a loss equals -theta up to the last bits */
        active = count;
        if (!grew)
            break;
        theta = round->xx * sum / (kappa * (double)Q - (double)count * round->xx);
    }
    for (size_t i = 0; i < active; i++)
        out->tau[i] = -(losses[out->classes[i]] + theta) / kappa;
    out->count = active;
}

const uc_learner uc_learner_copa = {
    .name = "copa",
    .summary = "imbalanced classes: makes the confusion matrix small, rare classes count as much as others",
    .paper = "Ralaivola: Confusion-based online learning and a passive-aggressive scheme, NIPS 2012",
    .options = options,
    .settings_size = sizeof(uc_copa_settings),
    .grid = grid,
    .full = true,
    .relative = true,
    .weighs_steps = true,
    .class_weight = offsetof(uc_copa_settings, class_weight),
    .step = step,
};
