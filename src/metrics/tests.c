/*
 * Statistical tests: Wilson's interval for a proportion, the paired t-test.
 *
 *   z   1.959964, the 97.5% point of the normal distribution        p = hits / trials
 *
 *   Wilson:  (p + z^2/2n -+ z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n)
 *   t-test:  t = mean(d) / sqrt(var(d)/n) for the differences d, and with v = n - 1 degrees of freedom
 *            P(|T| >= |t|) = I_x(v/2, 1/2),  x = v/(v + t^2)
 *
 * I_x(a, b) is the regularised incomplete beta function, computed by the modified Lentz method from its
 * continued fraction (Abramowitz and Stegun 26.5.8), which converges fast for x < (a + 1)/(a + b + 2); above
 * that I_x(a, b) = 1 - I_{1-x}(b, a).
 */
#define _DEFAULT_SOURCE /* lgamma_r: lgamma writes a global variable */

#include "unconfuse/metrics.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "metrics/incomplete_beta.h"

#define NORMAL_97_5 1.959963984540054
#define MOST_TERMS 10000

void uc_metrics_wilson(double interval[2], size_t hits, size_t trials)
{
    uc_metrics_wilson_of_share(interval, (double)hits / (double)trials, (double)trials);
}

void uc_metrics_wilson_of_share(double interval[2], double share, double trials)
{
    const double p = share, n = trials; /* the formula's names */
    if (!(n > 0.0)) {
        interval[0] = 0.0;
        interval[1] = 1.0;
        return;
    }
    assert(p >= 0.0 && p <= 1.0 + 1e-9);
    const double zz = NORMAL_97_5 * NORMAL_97_5, middle = p + zz / (2.0 * n);
    const double half = NORMAL_97_5 * sqrt(fmax(p * (1.0 - p), 0.0) / n + zz / (4.0 * n * n));
    /* Rounding must not move an end that is exactly 0 or 1. */
    interval[0] = 0.0;
    interval[1] = 1.0;
    if (p > 0.0)
        interval[0] = fmax(0.0, (middle - half) / (1.0 + zz / n));
    if (p < 1.0)
        interval[1] = fmin(1.0, (middle + half) / (1.0 + zz / n));
}

/* Keeps a denominator of the Lentz method away from 0. */
static double nonzero(double value)
{
    return fabs(value) < DBL_MIN ? DBL_MIN : value;
}

/* The continued fraction 1/(1 + d_1/(1 + d_2/(1 + ...))). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1.0, d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0)), fraction = d;
    for (int m = 1; m <= MOST_TERMS; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        fraction *= c * d;

        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        fraction *= c * d;
        if (fabs(c * d - 1.0) <= DBL_EPSILON)
            break;
    }
    return fraction;
}

double uc_incomplete_beta(double a, double b, double x, double rest)
{
    if (x > (a + 1.0) / (a + b + 2.0))
        return 1.0 - uc_incomplete_beta(b, a, rest, x);
    if (x <= 0.0)
        return 0.0;
    int sign;
    const double log_front =
        lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) + b * log(rest);
    return exp(log_front) / a * beta_fraction(a, b, x);
}

double uc_metrics_paired_t_test(const double *a, const double *b, size_t count)
{
    if (count < 2)
        return NAN;
    const double n = (double)count, freedom = n - 1.0;
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; i++)
        mean += (a[i] - b[i]) / n;
    for (size_t i = 0; i < count; i++)
        squares += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    if (squares == 0.0)
        return (double)(mean == 0.0);

    const double t = mean / sqrt(squares / (n * freedom)), tt = t * t;
    if (isinf(tt))
        return 0.0;
    return fmin(1.0, uc_incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + tt), tt / (freedom + tt)));
}
