/*
 * Estimates the class prior by a sigmoid with a ceiling.
 *
 *   x_k     score of bin k, in deviations from the mean       L_k, U_k   labelled and unlabelled rows in it
 *   pi      P(y = +), to be estimated                           s = 1      the row is labelled
 *
 * Which positives are labelled is random, so P(s = 1 | x) = c P(y = + | x) if the rows are one sample in
 * which some positives were labelled, c = P(s = 1)/pi (Elkan, Noto, KDD 2008). With P(y = + | x) = 1/(1 +
 * exp(-a x - b)) the share of labelled rows increases with the score up to the ceiling c. For every pi of a
 * grid the likelihood of the labels
 *
 *   sum_k L_k log q_k + U_k log(1 - q_k),     q = c sigma(a x + b)                              (censored)
 *                                             q = r sigma / (1 + r sigma),  r = n_L/(pi n_U)    (two samples)
 *
 * is maximised over a and b by Fisher scoring. The estimate is the mean of pi under this profile likelihood,
 * weighted by (pi (1 - pi))^2, which keeps it away from 0 and 1 if a few labelled rows leave it open. The
 * interval comes from estimates on bins whose counts are redrawn (Poisson); it does not include the variation
 * that other scores would have shown.
 *
 * Of the methods that were tried on held-out scores this one had the smallest error (docs/learners/pu.md).
 */
#include "learn/pu/prior.h"

#include <math.h>
#include <stdlib.h>

#include "unconfuse/random.h"

#define GRID ((size_t)39)
#define RESAMPLES ((size_t)199)
#define MOST_STEPS 30
#define LEAST_SLOPE 0.05
#define MOST_SLOPE 20.0
#define MOST_OFFSET 80.0
#define SEQUENCE_RESAMPLES UINT64_C(0x70752d7072696f72) /* random numbers: "pu-prior" */

size_t uc_prior_bin(double deviations)
{
    const double last = (double)(UC_PRIOR_BINS - 1);
    const double at = floor((deviations + UC_PRIOR_REACH) / (2.0 * UC_PRIOR_REACH) * (double)UC_PRIOR_BINS);
    return (size_t)fmin(fmax(at, 0.0), last);
}

static double centre_of(size_t bin)
{
    return ((double)bin + 0.5) * (2.0 * UC_PRIOR_REACH / (double)UC_PRIOR_BINS) - UC_PRIOR_REACH;
}

/* P(s = 1) as a function of the score, with its parameters. */
typedef struct curve {
    double ceiling; /* c, or r for two samples */
    bool censored;
    double slope, offset; /* a, b */
} curve;

/* q at x; *rise becomes its derivative in a x + b. */
static double label_share(double *rise, const curve *self, double x)
{
    const double sigma = 1.0 / (1.0 + exp(-(self->slope * x + self->offset)));
    const double below = self->ceiling * sigma, odds = 1.0 + below;
    *rise = below * (1.0 - sigma) / (self->censored ? 1.0 : odds * odds);
    return fmin(fmax(self->censored ? below : below / odds, 1e-12), 1.0 - 1e-12);
}

/* Returns -log likelihood; sets the gradient (2) of the log likelihood and the expected curvature (3: aa, ab,
 * bb). */
static double look(double *gradient, double *curvature, const curve *self, const uc_prior_bins *bins)
{
    double loss = 0.0;
    for (size_t i = 0; i < 2; i++)
        gradient[i] = 0.0;
    for (size_t i = 0; i < 3; i++)
        curvature[i] = 0.0;
    for (size_t k = 0; k < UC_PRIOR_BINS; k++) {
        const double count = bins->labelled[k] + bins->unlabelled[k], x = centre_of(k);
        if (count == 0.0)
            continue;
        double rise;
        const double q = label_share(&rise, self, x);
        const double pull = (bins->labelled[k] - count * q) * rise / (q * (1.0 - q));
        const double weight = count * rise * rise / (q * (1.0 - q));
        loss -= bins->labelled[k] * log(q) + bins->unlabelled[k] * log(1.0 - q);
        gradient[0] += pull * x;
        gradient[1] += pull;
        curvature[0] += weight * x * x;
        curvature[1] += weight * x;
        curvature[2] += weight;
    }
    return loss;
}

/* One damped step of Fisher scoring from `self`. */
static curve step_from(const curve *self, const double *gradient, const double *curvature, double damping)
{
    const double aa = curvature[0] * (1.0 + damping) + 1e-9, bb = curvature[2] * (1.0 + damping) + 1e-9;
    const double ab = curvature[1], determinant = aa * bb - ab * ab;
    curve next = *self;
    next.slope += (bb * gradient[0] - ab * gradient[1]) / determinant;
    next.offset += (aa * gradient[1] - ab * gradient[0]) / determinant;
    next.slope = fmin(fmax(next.slope, LEAST_SLOPE), MOST_SLOPE);
    next.offset = fmin(fmax(next.offset, -MOST_OFFSET), MOST_OFFSET);
    return next;
}

/* Minimises -log likelihood over slope and offset, from their present values. */
static double fit_curve(curve *self, const uc_prior_bins *bins)
{
    double gradient[2], curvature[3], tried_gradient[2], tried_curvature[3], damping = 1e-3;
    double loss = look(gradient, curvature, self, bins);
    for (int step = 0; step < MOST_STEPS && damping < 1e6; step++) {
        const curve tried = step_from(self, gradient, curvature, damping);
        const double other = look(tried_gradient, tried_curvature, &tried, bins);
        if (!(other < loss)) {
            damping *= 10.0;
            continue;
        }
        const double fall = loss - other;
        *self = tried;
        loss = other;
        damping = fmax(damping / 10.0, 1e-9);
        for (size_t i = 0; i < 2; i++)
            gradient[i] = tried_gradient[i];
        for (size_t i = 0; i < 3; i++)
            curvature[i] = tried_curvature[i];
        if (fall < 1e-4)
            break;
    }
    return loss;
}

/* The mean of pi under the profile likelihood. */
static double estimate(const uc_prior_bins *bins, bool censored)
{
    double labelled = 0.0, unlabelled = 0.0, loss[GRID], least = INFINITY;
    for (size_t k = 0; k < UC_PRIOR_BINS; k++) {
        labelled += bins->labelled[k];
        unlabelled += bins->unlabelled[k];
    }
    const double share = labelled / (labelled + unlabelled);
    curve found = {.censored = censored, .slope = 1.0};
    for (size_t i = 0; i < GRID; i++) {
        const double pi = (double)(i + 1) / (double)(GRID + 1);
        loss[i] = INFINITY;
        if (censored && pi < share) /* more rows are labelled than would be positive */
            continue;
        found.ceiling = censored ? share / pi : labelled / (pi * unlabelled);
        loss[i] = fit_curve(&found, bins) - 2.0 * log(pi * (1.0 - pi));
        least = fmin(least, loss[i]);
    }
    double weights = 0.0, sum = 0.0;
    for (size_t i = 0; i < GRID; i++) {
        const double weight = exp(least - loss[i]);
        weights += weight;
        sum += weight * (double)(i + 1) / (double)(GRID + 1);
    }
    /* If all but a few rows are labelled, no pi of the grid is as large as their share. */
    return isfinite(least) ? sum / weights : share;
}

/* Draws from the Poisson distribution with mean `mean`: exactly if it is small, by its normal approximation
 * if it is large. */
static double draw_count(uc_rng *rng, double mean)
{
    if (mean > 64.0)
        return fmax(0.0, floor(mean + sqrt(mean) * uc_rng_normal(rng) + 0.5));
    double left = exp(-mean), count = -1.0;
    for (double product = 1.0; product > left || count < 0.0; count += 1.0)
        product *= 1.0 - uc_rng_uniform(rng);
    return count;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void uc_prior_from_bins(uc_prior_estimate *out, const uc_prior_bins *bins, bool censored, uint64_t seed)
{
    double found[RESAMPLES];
    out->prior = estimate(bins, censored);
    for (size_t r = 0; r < RESAMPLES; r++) {
        uc_rng rng = uc_rng_make(seed, SEQUENCE_RESAMPLES + r);
        uc_prior_bins other;
        double labelled = 0.0, unlabelled = 0.0;
        for (size_t k = 0; k < UC_PRIOR_BINS; k++) {
            labelled += other.labelled[k] = draw_count(&rng, bins->labelled[k]);
            unlabelled += other.unlabelled[k] = draw_count(&rng, bins->unlabelled[k]);
        }
        found[r] = labelled > 0.0 && unlabelled > 0.0 ? estimate(&other, censored) : out->prior;
    }
    qsort(found, RESAMPLES, sizeof *found, by_size);
    out->low = fmin(out->prior, found[RESAMPLES / 40]);
    out->high = fmax(out->prior, found[RESAMPLES - 1 - RESAMPLES / 40]);
}
