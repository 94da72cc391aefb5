/*
 * Passive-aggressive learning with one pair of classes (Crammer, Dekel, Keshet, Shalev-Shwartz, Singer, JMLR
 * 7:551-585, 2006), and with all classes that matter: support-class PA (Matsushima, Shimizu, Yoshida,
 * Ninomiya, Nakagawa, SDM 2010).
 *
 *   s_k  scores      y  the label      xx  squared length of the row      C  cost (times the class weight)
 *   l_i  = max(0, 1 + s_i - s_y), i != y, the losses
 *
 * Both make the smallest change of the weights that gives the row a margin of 1: `pa` against the best
 * wrong class r only,
 *
 *   tau_y = t, tau_r = -t;   t = l_r/(2 xx)  |  min(C, l_r/(2 xx))  |  l_r/(2 xx + 1/(2C))
 *                            for variants 0, 1, 2
 *
 * `spa` against every wrong class, exactly. The classes that change are those with l_i > theta, where theta
 * solves
 *
 *   sum_i (l_i - theta)_+ = a theta + b                                                                   (*)
 *
 *   variant 0 (hard)           a = 1                   b = 0
 *   variant 1 (slack C xi)     as 0 while theta/xx <= C; otherwise a = 0, b = C xx
 *   variant 2 (slack C xi^2)   a = 1/(1 + 1/(2 C xx))  b = 0
 *
 * For these tau_i = -(l_i - theta)/xx, and tau_y is minus their sum. (*) has one root: its left side
 * decreases in theta, its right side does not. Michelot's iteration finds it without sorting: solve (*) for a
 * set of classes, drop those at or below the root, repeat. Every root found is a lower bound, so no support
 * class is ever dropped.
 *
 * A class weight multiplies C; the hard variant has no C, so there it multiplies the step.
 */
#include <math.h>
#include <stddef.h>

#include "learn/passive_aggressive.h"
#include "linalg/linalg.h"

#define BOUND_ROUNDING 1e-12

enum { HARD, LINEAR_SLACK, SQUARED_SLACK };

static const uc_option options[] = {
    {.name = "variant",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(uc_pa_settings, variant),
     .standard = "0",
     .choices = "0|1|2",
     .help = "0: hard margin; 1: slack, each step at most the cost; 2: squared slack"},
    {.name = "cost",
     .letter = 'c',
     .type = UC_OPTION_REAL,
     .offset = offsetof(uc_pa_settings, cost),
     .standard = "1",
     .low = 0,
     .above_low = true,
     .high = 1e12,
     .argument = "C",
     .help = "how much one example may change the weights (variants 1 and 2)"},
    UC_CLASS_WEIGHT_OPTION(uc_pa_settings),
    {.name = NULL},
};

uint32_t uc_best_other(const double *scores, size_t classes, uint32_t y)
{
    const uint32_t below = (uint32_t)uc_argmax(scores, y);
    const uint32_t above = y + 1 + (uint32_t)uc_argmax(scores + y + 1, classes - y - 1);
    if (y == 0)
        return above;
    if (above >= classes || !(scores[above] > scores[below]))
        return below;
    return above;
}

static void pa_step(uc_step *out, const uc_round *round, const void *user)
{
    const uc_pa_settings *settings = user;
    const uint32_t y = round->answer.label, r = uc_best_other(round->scores, round->classes, y);
    const double loss = 1.0 + round->scores[r] - round->scores[y], C = settings->cost * round->weight;
    if (!(loss > 0.0))
        return;
    double t = loss / (2.0 * round->xx);
    if (settings->variant == HARD)
        t *= round->weight;
    else if (settings->variant == LINEAR_SLACK)
        t = fmin(C, t);
    else
        t = loss / (2.0 * round->xx + 1.0 / (2.0 * C));
    out->classes[0] = y;
    out->tau[0] = t;
    out->classes[1] = r;
    out->tau[1] = -t;
    out->count = 2;
}

/* Returns the root of (*) over losses[0..*count); keeps only the losses above it, and their classes. */
static double michelot(double *losses, uint32_t *classes, size_t *count, double a, double b)
{
    for (;;) {
        double sum = 0.0;
        for (size_t i = 0; i < *count; i++)
            sum += losses[i];
        const double theta = (sum - b) / ((double)*count + a), first_loss = losses[0];
        const uint32_t first_class = classes[0];
        size_t kept = 0;
        for (size_t i = 0; i < *count; i++) { /* no branch, since it would be mispredicted often */
            const double loss = losses[i];
            losses[kept] = loss;
            classes[kept] = classes[i];
            kept += loss > theta;
        }
        if (kept == *count)
            return theta;
        if (kept == 0) { /* due to rounding, if all losses equal the root; the first was written over */
            losses[0] = first_loss;
            classes[0] = first_class;
            return theta;
        }
        *count = kept;
    }
}

/* The largest of the scores first .. last-1 and `most`. Two maxima do not wait for each other. */
static double largest_score(double most, const double *s, size_t first, size_t last)
{
    double even = most, odd = most;
    for (; first + 1 < last; first += 2) {
        even = s[first] > even ? s[first] : even;
        odd = s[first + 1] > odd ? s[first + 1] : odd;
    }
    if (first < last)
        even = s[first] > even ? s[first] : even;
    return odd > even ? odd : even;
}

/* Appends the losses above the bound of classes first .. last-1, and these classes; returns the new count. */
static size_t append_losses(double *losses, uint32_t *classes, size_t count, const double *s, uint32_t first,
                            uint32_t last, double own, double bound)
{
    for (uint32_t i = first; i < last; i++) { /* no branch here either */
        const double loss = 1.0 + s[i] - own;
        losses[count] = loss;
        classes[count] = i;
        count += loss > bound;
    }
    return count;
}

/* Writes the losses of the classes other than y that may be support classes to `work`, and the classes after
 * out->classes[0]; returns their number. The root of (*) with b = 0 for the largest loss alone, l / (1 + a),
 * is a lower bound of the root for all: only few of thousands of classes are above it. */
static size_t gather_losses(uc_step *out, const double *s, size_t K, uint32_t y, double a)
{
    const double other = largest_score(largest_score(-INFINITY, s, 0, y), s, y + 1, K);
    const double largest = 1.0 + other - s[y];
    if (!(largest > 0.0))
        return 0;
    const double bound = (1.0 - BOUND_ROUNDING) * largest / (1.0 + a);
    uint32_t *support = out->classes + 1;
    const size_t count = append_losses(out->work, support, 0, s, 0, y, s[y], bound);
    return append_losses(out->work, support, count, s, y + 1, (uint32_t)K, s[y], bound);
}

/* The step for the root `theta`, with the `count` losses that are left. */
static void support_step(uc_step *out, uint32_t y, size_t count, double theta, double scale)
{
    double total = 0.0;
    for (size_t i = 0; i < count; i++) {
        out->tau[1 + i] = -(out->work[i] - theta) * scale;
        total -= out->tau[1 + i];
    }
    out->classes[0] = y;
    out->tau[0] = total;
    out->count = 1 + count;
}

void uc_spa_step(uc_step *out, const double *scores, size_t classes, uint32_t y, double xx)
{
    size_t count = gather_losses(out, scores, classes, y, 1.0);
    if (count == 0)
        return;
    const double theta = michelot(out->work, out->classes + 1, &count, 1.0, 0.0);
    support_step(out, y, count, theta, 1.0 / xx);
}

static void spa_step(uc_step *out, const uc_round *round, const void *user)
{
    const uc_pa_settings *settings = user;
    const double C = settings->cost * round->weight, xx = round->xx;
    const uint32_t y = round->answer.label;
    uint32_t *support = out->classes + 1;
    const double a = settings->variant == SQUARED_SLACK ? 1.0 / (1.0 + 1.0 / (2.0 * C * xx)) : 1.0;
    size_t count = gather_losses(out, round->scores, round->classes, y, a);
    if (count == 0)
        return;
    double theta = michelot(out->work, support, &count, a, 0.0);
    if (settings->variant == LINEAR_SLACK && theta > C * xx)
        theta = michelot(out->work, support, &count, 0.0, C * xx);
    support_step(out, y, count, theta, (settings->variant == HARD ? round->weight : 1.0) / xx);
}

const uc_learner uc_learner_pa = {
    .name = "pa",
    .summary =
        "labels that are mostly right: passive-aggressive, large margins; variants 1 and 2 resist noise",
    .paper =
        "Crammer, Dekel, Keshet, Shalev-Shwartz, Singer: Online passive-aggressive algorithms, JMLR 7, 2006",
    .options = options,
    .settings_size = sizeof(uc_pa_settings),
    .full = true,
    .weighs_steps = true,
    .class_weight = offsetof(uc_pa_settings, class_weight),
    .step = pa_step,
};

const uc_learner uc_learner_spa = {
    .name = "spa",
    .summary =
        "labels that are mostly right, many classes: passive-aggressive over all classes at once, exactly",
    .paper =
        "Matsushima, Shimizu, Yoshida, Ninomiya, Nakagawa: Exact passive-aggressive algorithm for multiclass "
        "classification using support class, SDM 2010",
    .options = options,
    .settings_size = sizeof(uc_pa_settings),
    .full = true,
    .weighs_steps = true,
    .class_weight = offsetof(uc_pa_settings, class_weight),
    .step = spa_step,
};
