/*
 * Multiclass perceptron, ultraconservative (Crammer, Singer, JMLR 3:951-991, 2003).
 *
 *   s_k  scores      y  the label      E = {r != y: s_r >= s_y}, the classes that score too high
 *
 * If E is not empty, the row is added to w_y and subtracted from the classes of E:
 *
 *   max      entirely from the best-scoring class of E, the lowest index if tied
 *   uniform  1/|E| of it from every class of E
 *
 * A class weight multiplies the row.
 */
#include <math.h>
#include <stddef.h>

#include "learn/learner.h"

enum { STEP_MAX, STEP_UNIFORM };

static const uc_option options[] = {
    {.name = "step",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(uc_perceptron_settings, step),
     .standard = "max",
     .choices = "max|uniform",
     .help = "which classes lose weight after a mistake: max: the best-scoring one; uniform: all that score "
             "at least as high as the label"},
    UC_CLASS_WEIGHT_OPTION(uc_perceptron_settings),
    {.name = NULL},
};

static void step(uc_step *out, const uc_round *round, const void *user)
{
    const uc_perceptron_settings *settings = user;
    const double *s = round->scores;
    const uint32_t y = round->answer.label;
    size_t errors = 0;
    uint32_t worst = y;
    for (uint32_t r = 0; r < round->classes; r++) {
        if (r == y || s[r] < s[y])
            continue;
        if (worst == y || s[r] > s[worst])
            worst = r;
        out->classes[1 + errors++] = r;
    }
    if (errors == 0)
        return;
    if (settings->step == STEP_MAX) {
        errors = 1;
        out->classes[1] = worst;
    }
    out->classes[0] = y;
    out->tau[0] = round->weight;
    for (size_t i = 1; i <= errors; i++)
        out->tau[i] = -round->weight / (double)errors;
    out->count = 1 + errors;
}

const uc_learner uc_learner_perceptron = {
    .name = "perceptron",
    .summary = "labels that are mostly right: the averaged multiclass perceptron, the plainest baseline",
    .paper = "Crammer, Singer: Ultraconservative online algorithms for multiclass problems, JMLR 3, 2003",
    .options = options,
    .settings_size = sizeof(uc_perceptron_settings),
    .full = true,
    .weighs_steps = true,
    .class_weight = offsetof(uc_perceptron_settings, class_weight),
    .step = step,
};
