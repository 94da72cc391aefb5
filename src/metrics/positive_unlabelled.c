/*
 * Evaluates scores when only some positives have a label.
 *
 *   pi   P(y = +)      s   score, positive above 0
 *   P    labelled rows
 *   D    the population: all rows, or the unlabelled ones
 *
 *   r = P(s > 0 | P)                 recall, since labelled rows are positives drawn at random
 *   q = P(s > 0 | D)                 = pi r + (1 - pi) P(s > 0 | y = -)
 *   A = P(s_P > s_D) + 1/2 P(s_P = s_D)     = pi/2 + (1 - pi) AUC, as a positive beats another half the time
 *
 * So precision is pi r / q, the error is q - pi r + pi (1 - r), and AUC is (A - pi/2)/(1 - pi). With few rows
 * or a wrong prior, these can leave their range; they are clipped to it.
 */
#include "unconfuse/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

typedef struct scored {
    double score, weight;
    bool labelled;
} scored;

static int by_score(const void *a, const void *b)
{
    const double x = ((const scored *)a)->score, y = ((const scored *)b)->score;
    return (x > y) - (x < y);
}

/* Sums of the rows' weights. */
typedef struct pu_sums {
    double labelled, labelled_squares; /* of the labelled rows: weights, and their squares */
    double found;                      /* labelled rows with a score above 0 */
    double population, above;          /* of the population: all, and those with a score above 0 */
} pu_sums;

/* A: the mean over all pairs of a labelled row and one of the population; a pair counts 1 if the labelled row
 * scores higher and 1/2 for a tie. */
static double area_against_population(scored *rows, size_t count, const pu_sums *sums, bool censored)
{
    double below = 0.0, area = 0.0;
    qsort(rows, count, sizeof *rows, by_score);
    for (size_t first = 0, last; first < count; first = last) {
        double tied_labelled = 0.0, tied = 0.0;
        for (last = first; last < count && rows[last].score == rows[first].score; last++) {
            tied_labelled += rows[last].labelled ? rows[last].weight : 0.0;
            tied += censored || !rows[last].labelled ? rows[last].weight : 0.0;
        }
        area += tied_labelled * (below + tied / 2.0);
        below += tied;
    }
    return area / (sums->labelled * sums->population);
}

static double within(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

static pu_sums add_up(const scored *rows, size_t count, bool censored)
{
    pu_sums sums = {0};
    for (size_t i = 0; i < count; i++) {
        const double u = rows[i].weight, above = rows[i].score > 0.0 ? u : 0.0;
        if (rows[i].labelled) {
            sums.labelled += u;
            sums.labelled_squares += u * u;
            sums.found += above;
        }
        if (censored || !rows[i].labelled) {
            sums.population += u;
            sums.above += above;
        }
    }
    return sums;
}

/* Computes the measures; sorts `rows`. */
static void compute(uc_pu_evaluation *out, scored *rows, size_t count, double prior, bool censored)
{
    const pu_sums sums = add_up(rows, count, censored);
    const double r = sums.found / sums.labelled, q = sums.above / sums.population;
    const double area = area_against_population(rows, count, &sums, censored);
    *out = (uc_pu_evaluation){.labelled = out->labelled,
                              .unlabelled = out->unlabelled,
                              .prior = prior,
                              .recall = r,
                              .predicted_positive = q,
                              .precision = q > 0.0 ? within(prior * r / q, 0.0, 1.0) : (double)NAN,
                              .f1 = within(2.0 * prior * r / (prior + q), 0.0, 1.0),
                              .error = within(q + prior - 2.0 * prior * r, 0.0, 1.0),
                              .auc = within((area - prior / 2.0) / (1.0 - prior), 0.0, 1.0)};
    uc_metrics_wilson_of_share(out->recall_interval, r,
                               sums.labelled * sums.labelled / sums.labelled_squares);
}

/* Takes the rows with a weight above 0, and counts how many of them are labelled. */
static uc_status take_rows(scored *rows, size_t *kept, size_t *known, const bool *labelled,
                           const double *scores, const double *weights, size_t count)
{
    *kept = *known = 0;
    for (size_t i = 0; i < count; i++) {
        const double weight = weights ? weights[i] : 1.0;
        if (!(weight >= 0.0 && isfinite(weight)))
            return uc_fail(UC_ERR_INVALID,
                           "the weight of example %zu, %g, is not a finite number of 0 or more", i + 1,
                           weight);
        if (weight == 0.0)
            continue;
        *known += labelled[i];
        rows[(*kept)++] = (scored){scores[i], weight, labelled[i]};
    }
    if (*known == 0 || *known == *kept)
        return uc_fail(UC_ERR_INVALID, "there is no %s example to evaluate with",
                       *known ? "unlabelled" : "labelled");
    return UC_OK;
}

uc_status uc_pu_evaluation_weighted(uc_pu_evaluation *out, const bool *labelled, const double *scores,
                                    const double *weights, size_t count, double prior, bool censored)
{
    size_t kept, known;
    if (!(prior > 0.0 && prior < 1.0))
        return uc_fail(UC_ERR_INVALID, "the class prior, %g, is not between 0 and 1", prior);
    scored *rows = uc_alloc(count, sizeof *rows);
    if (!rows)
        return UC_ERR_NOMEM;
    const uc_status status = take_rows(rows, &kept, &known, labelled, scores, weights, count);
    if (status == UC_OK) {
        *out = (uc_pu_evaluation){.labelled = known, .unlabelled = kept - known};
        compute(out, rows, kept, prior, censored);
    }
    uc_free(rows);
    return status;
}

uc_status uc_pu_evaluation_compute(uc_pu_evaluation *out, const bool *labelled, const double *scores,
                                   size_t count, double prior, bool censored)
{
    return uc_pu_evaluation_weighted(out, labelled, scores, NULL, count, prior, censored);
}
