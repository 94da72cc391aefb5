/*
 * Scores against labels that some positives alone have.
 *
 *   pi   P(y = +)      s   score, positive above 0
 *   P    labelled rows
 *   D    the population: all rows, or the unlabelled ones
 *
 *   r = P(s > 0 | P)                 recall, since labelled rows are positives drawn by chance
 *   q = P(s > 0 | D)                 = pi r + (1 - pi) P(s > 0 | y = -)
 *   A = P(s_P > s_D) + 1/2 P(s_P = s_D)     = pi/2 + (1 - pi) AUC, a positive against a positive being even
 *
 * so precision is pi r / q, the error q - pi r + pi (1 - r), and AUC (A - pi/2)/(1 - pi). Of few rows, or
 * with a prior that is off, these can leave their range; they are brought back to its end.
 */
#include "unconfuse/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

typedef struct scored {
    double score;
    bool labelled;
} scored;

static int by_score(const void *a, const void *b)
{
    const double x = ((const scored *)a)->score, y = ((const scored *)b)->score;
    return (x > y) - (x < y);
}

/* A: the mean, over pairs of a labelled row and one of the population, of 1 where the first scores
 * higher and 1/2 for a tie. */
static double area_against_population(scored *rows, size_t count, double labelled, double population,
                                      bool censored)
{
    double below = 0.0, area = 0.0;
    qsort(rows, count, sizeof *rows, by_score);
    for (size_t first = 0, last; first < count; first = last) {
        double tied_labelled = 0.0, tied = 0.0;
        for (last = first; last < count && rows[last].score == rows[first].score; last++) {
            tied_labelled += rows[last].labelled;
            tied += censored || !rows[last].labelled;
        }
        area += tied_labelled * (below + tied / 2.0);
        below += tied;
    }
    return area / (labelled * population);
}

static double within(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

uc_status uc_pu_evaluation_compute(uc_pu_evaluation *out, const bool *labelled, const double *scores,
                                   size_t count, double prior, bool censored)
{
    size_t known = 0, found = 0, above = 0;
    if (!(prior > 0.0 && prior < 1.0))
        return uc_fail(UC_ERR_INVALID, "the class prior, %g, is not between 0 and 1", prior);
    for (size_t i = 0; i < count; i++) {
        known += labelled[i];
        found += labelled[i] && scores[i] > 0.0;
        above += (censored || !labelled[i]) && scores[i] > 0.0;
    }
    if (known == 0 || known == count)
        return uc_fail(UC_ERR_INVALID, "there is no %s example to evaluate with",
                       known ? "unlabelled" : "labelled");
    scored *rows = uc_alloc(count, sizeof *rows);
    if (!rows)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        rows[i] = (scored){scores[i], labelled[i]};
    const double population = (double)(censored ? count : count - known);
    const double r = (double)found / (double)known, q = (double)above / population;
    const double area = area_against_population(rows, count, (double)known, population, censored);
    uc_free(rows);
    *out = (uc_pu_evaluation){.labelled = known,
                              .unlabelled = count - known,
                              .prior = prior,
                              .recall = r,
                              .predicted_positive = q,
                              .precision = q > 0.0 ? within(prior * r / q, 0.0, 1.0) : (double)NAN,
                              .f1 = within(2.0 * prior * r / (prior + q), 0.0, 1.0),
                              .error = within(q + prior - 2.0 * prior * r, 0.0, 1.0),
                              .auc = within((area - prior / 2.0) / (1.0 - prior), 0.0, 1.0)};
    uc_metrics_wilson(out->recall_interval, found, known);
    return UC_OK;
}
