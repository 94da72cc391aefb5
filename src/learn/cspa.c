/*
 * CSPA, complementary support-class passive-aggressive (Kaneko, Sato, Sugiyama, 2019), for right/wrong
 * feedback.
 *
 *   s_k  scores    p  the class proposed, the best-scoring one    K  classes    xx  squared length of the row
 *
 * Right: p is the label, and the step is that of `spa` with a hard margin. Wrong: p is a complementary label.
 * With l = 1 + s_p - max_{i != p} s_i, the smallest change that reduces the margin by beta l and leaves the
 * differences between the other classes unchanged is
 *
 *   tau_i = beta l/(K xx), i != p;   tau_p = -(K-1) beta l/(K xx)
 *
 * which is -beta l/xx for p alone, apart from a gain common to all classes (`relative` in learner.h).
 */
#include <math.h>
#include <stddef.h>

#include "learn/passive_aggressive.h"

static const uc_option options[] = {
    {.name = "beta",
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = offsetof(uc_cspa_settings, beta),
     .standard = "auto",
     .low = 0,
     .above_low = true,
     .high = 1,
     .argument = "B",
     .help = "share of the margin that a wrong proposal loses (auto: 1/(2(K-1)), K classes)"},
    {.name = NULL},
};

static const double grid_values[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, (double)NAN /* auto */};
static const uc_candidates grid[] = {{"beta", grid_values, sizeof grid_values / sizeof *grid_values}, {0}};

static void decide(void *user, uc_shape shape, size_t classes)
{
    uc_cspa_settings *settings = user;
    (void)shape;
    if (isnan(settings->beta))
        settings->beta = 1.0 / (2.0 * (double)(classes - 1));
}

static void step(uc_step *out, const uc_round *round, const void *user)
{
    uc_cspa_settings settings = *(const uc_cspa_settings *)user;
    const uint32_t p = round->proposal.label;
    const double *s = round->scores;
    if (round->answer.kind == UC_ANSWER_RIGHT) {
        uc_spa_step(out, s, round->classes, p, round->xx);
        return;
    }
    decide(&settings, (uc_shape){0}, round->classes);
    const double loss = 1.0 + s[p] - s[uc_best_other(s, round->classes, p)];
    if (!(loss > 0.0)) /* possible if feedback is late */
        return;
    out->classes[0] = p;
    out->tau[0] = -settings.beta * loss / round->xx;
    out->count = 1;
}

const uc_learner uc_learner_cspa = {
    .name = "cspa",
    .summary = "right/wrong feedback only: margins for both answers, no exploration",
    .paper =
        "Kaneko, Sato, Sugiyama: Online multiclass classification based on prediction margin for partial "
        "feedback, arXiv 1902.01056, 2019",
    .options = options,
    .settings_size = sizeof(uc_cspa_settings),
    .grid = grid,
    .partial = true,
    .normalizes = true,
    .relative = true,
    .class_weight = UC_NO_CLASS_WEIGHT,
    .step = step,
    .decide = decide,
};
