/*
 * Comparing k methods on N problems by their ranks (Demsar, JMLR 7, 2006).
 *
 *   r_ij     rank of method j on problem i, 1 for the smallest error; ties share the mean of their ranks
 *   R_j      mean of r_ij over the problems
 *
 *   Friedman:   chi2 = (k - 1) (sum_j (N R_j)^2 - N^2 k (k + 1)^2 / 4) / (A - N k (k + 1)^2 / 4),
 *               A = sum_ij r_ij^2, which is 12 N/(k (k + 1)) (sum_j R_j^2 - k (k + 1)^2 / 4) without ties;
 *               F = (N - 1) chi2 / (N (k - 1) - chi2) has k - 1 and (k - 1)(N - 1) degrees of freedom
 *               (Iman, Davenport, 1980); p is at least (k!)^(1 - N), the chance of one order everywhere
 *   Nemenyi:    two mean ranks differ significantly when they are further apart than
 *               q sqrt(k (k + 1) / (12 N)), q the 95% point of the range of k normal variables:
 *               P(range <= q) = k integral of phi(x) (Phi(x) - Phi(x - q))^(k - 1) dx
 */
#include <assert.h>
#include <math.h>

#include "base/base.h"
#include "metrics/incomplete_beta.h"
#include "unconfuse/metrics.h"

#define LEVEL 0.95
#define FURTHEST 9.0 /* the integral ends at this many standard deviations */
#define STEPS 1800   /* of the integral; even */

void uc_metrics_ranks(double *ranks, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t below = 0, equal = 0;
        for (size_t j = 0; j < count; j++) {
            below += values[j] < values[i];
            equal += values[j] == values[i];
        }
        ranks[i] = (double)below + ((double)equal + 1.0) / 2.0;
    }
}

static double normal_density(double x)
{
    return exp(-x * x / 2.0) / sqrt(2.0 * 3.14159265358979323846);
}

static double normal_below(double x)
{
    return erfc(-x / sqrt(2.0)) / 2.0;
}

/* The distribution of the range of k normal variables, by Simpson's rule. */
static double range_below(double q, double k)
{
    const double step = 2.0 * FURTHEST / STEPS;
    double sum = 0.0;
    for (int i = 0; i <= STEPS; i++) {
        const double x = -FURTHEST + step * i;
        const double value = normal_density(x) * pow(normal_below(x) - normal_below(x - q), k - 1.0);
        double weight = i % 2 ? 4.0 : 2.0;
        if (i == 0 || i == STEPS)
            weight = 1.0;
        sum += weight * value;
    }
    return k * sum * step / 3.0;
}

/* Its 95% point. */
static double range_point(double k)
{
    double low = 0.0, high = 2.0 * FURTHEST;
    while (high - low > 1e-9) {
        const double middle = (low + high) / 2.0;
        if (range_below(middle, k) < LEVEL)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* P(F >= f) */
static double f_above(double f, double first, double second)
{
    const double x = second / (second + first * f), rest = first * f / (second + first * f);
    return fmin(1.0, uc_incomplete_beta(second / 2.0, first / 2.0, x, rest));
}

/* The probability that methods that do not differ have the same order on all problems. No result is rarer. */
static double chance_of_one_order(size_t problems, size_t methods)
{
    double orders = 1.0;
    for (size_t i = 2; i <= methods; i++)
        orders *= (double)i;
    return pow(orders, 1.0 - (double)problems);
}

uc_status uc_metrics_friedman(uc_friedman *out, double *mean_ranks, const double *errors, size_t problems,
                              size_t methods)
{
    assert(problems > 0 && methods > 0);
    const double N = (double)problems, k = (double)methods, expected = N * k * (k + 1.0) * (k + 1.0) / 4.0;
    double *ranks = uc_alloc(methods, sizeof *ranks), squares = 0.0, of_sums = 0.0;
    if (!ranks)
        return UC_ERR_NOMEM;
    for (size_t j = 0; j < methods; j++)
        mean_ranks[j] = 0.0;
    for (size_t i = 0; i < problems; i++) {
        uc_metrics_ranks(ranks, errors + i * methods, methods);
        for (size_t j = 0; j < methods; j++) {
            mean_ranks[j] += ranks[j] / N;
            squares += ranks[j] * ranks[j];
        }
    }
    for (size_t j = 0; j < methods; j++)
        of_sums += N * N * mean_ranks[j] * mean_ranks[j];
    uc_free(ranks);

    *out = (uc_friedman){.statistic = NAN, .p_value = NAN, .critical_difference = NAN};
    if (problems < 2 || methods < 2)
        return UC_OK;
    out->critical_difference = range_point(k) * sqrt(k * (k + 1.0) / (12.0 * N));
    const double spread = squares - expected;
    if (spread <= 0.0) { /* all methods tie on all problems */
        out->statistic = 0.0;
        out->p_value = 1.0;
        return UC_OK;
    }
    out->statistic = (k - 1.0) * (of_sums - N * expected) / spread;
    const double left = N * (k - 1.0) - out->statistic;
    out->p_value = chance_of_one_order(problems, methods);
    if (left > 1e-9 * N)
        out->p_value =
            fmax(out->p_value, f_above((N - 1.0) * out->statistic / left, k - 1.0, (k - 1.0) * (N - 1.0)));
    return UC_OK;
}
