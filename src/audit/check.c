/*
 * Draws rows to check from two strata (prediction = label, prediction != label) and estimates the error from
 * the rows that were checked.
 *
 *   W_h   share of the labelled rows in stratum h     m_h   rows drawn from it     k_h   errors among those
 *   g_h   the error that is expected there
 *
 *   m_h proportional to W_h sqrt(g_h (1 - g_h))       (Neyman 1934), at least LEAST
 *   e = sum of W_h k_h / m_h,   variance = sum of W_h^2 p_h (1 - p_h) / m_h,   p_h = (k_h + 1/2) / (m_h + 1)
 *
 * The interval is e +- 1.645 deviations. The sum of exact intervals per stratum would be wider than the
 * interval of a simple random sample.
 */
#include "unconfuse/check.h"

#include <math.h>

#include "base/base.h"
#include "unconfuse/random.h"

#define LEAST 5
#define QUANTILE 1.6448536269514722 /* two-sided 90% of the normal distribution */
#define SEQUENCE 0x636865636bULL    /* of the random numbers for drawing rows */

const char *uc_stratum_name(uc_stratum stratum)
{
    return stratum == UC_AGREE ? "agree" : "disagree";
}

static uc_stratum stratum_of(const uc_predicted_rows *rows, size_t i)
{
    return rows->labels[i] == rows->predicted[i] ? UC_AGREE : UC_DISAGREE;
}

static void count_strata(size_t sizes[UC_STRATA], const uc_predicted_rows *rows)
{
    sizes[UC_AGREE] = sizes[UC_DISAGREE] = 0;
    for (size_t i = 0; i < rows->rows; i++)
        if (rows->labels[i] != UC_NONE)
            sizes[stratum_of(rows, i)]++;
}

/* ---- drawing ---- */

void uc_check_free(uc_check *self)
{
    uc_free(self->rows);
    *self = (uc_check){0};
}

static size_t between(double x, size_t low, size_t high)
{
    if (x < (double)low)
        return low;
    return x > (double)high ? high : (size_t)x;
}

/* Splits `wanted` rows between the strata. */
static void allocate(size_t drawn[UC_STRATA], const size_t sizes[UC_STRATA], size_t wanted,
                     const double g[UC_STRATA])
{
    double weight[UC_STRATA];
    for (size_t h = 0; h < UC_STRATA; h++)
        weight[h] = (double)sizes[h] * sqrt(fmax(g[h] * (1.0 - g[h]), 0.0));
    double share = (double)sizes[UC_AGREE] / (double)(sizes[UC_AGREE] + sizes[UC_DISAGREE]);
    if (weight[UC_AGREE] + weight[UC_DISAGREE] > 0.0)
        share = weight[UC_AGREE] / (weight[UC_AGREE] + weight[UC_DISAGREE]);
    /* Each stratum gets at least LEAST rows, or all that it has; the other one gets the rest. */
    const size_t least = wanted / 2 < LEAST ? wanted / 2 : LEAST;
    size_t low = sizes[UC_AGREE] < least ? sizes[UC_AGREE] : least;
    if (wanted > sizes[UC_DISAGREE] && wanted - sizes[UC_DISAGREE] > low)
        low = wanted - sizes[UC_DISAGREE];
    size_t high = wanted - (sizes[UC_DISAGREE] < least ? sizes[UC_DISAGREE] : least);
    if (high > sizes[UC_AGREE])
        high = sizes[UC_AGREE];
    drawn[UC_AGREE] = between(share * (double)wanted + 0.5, low, high);
    drawn[UC_DISAGREE] = wanted - drawn[UC_AGREE];
}

uc_status uc_check_draw(uc_check *out, const uc_predicted_rows *rows, size_t wanted,
                        const double g[UC_STRATA], uint64_t seed)
{
    uc_check check = {0};
    count_strata(check.sizes, rows);
    const size_t labelled = check.sizes[UC_AGREE] + check.sizes[UC_DISAGREE];
    if (labelled == 0)
        return uc_fail(UC_ERR_INVALID, "no row has a label to check");
    check.count = wanted < labelled ? wanted : labelled;
    allocate(check.drawn, check.sizes, check.count, g);
    size_t *of = uc_alloc(labelled, sizeof *of), *order = uc_alloc(labelled, sizeof *order);
    check.rows = uc_alloc(check.count, sizeof *check.rows);
    uc_status status = UC_ERR_NOMEM;
    if (!of || !order || !check.rows)
        goto cleanup;
    uc_rng rng = uc_rng_make(seed, SEQUENCE);
    size_t filled = 0;
    for (int h = 0; h < UC_STRATA; h++) {
        size_t count = 0;
        for (size_t i = 0; i < rows->rows; i++)
            if (rows->labels[i] != UC_NONE && stratum_of(rows, i) == (uc_stratum)h)
                of[count++] = i;
        uc_rng_choose(&rng, order, count, check.drawn[h]);
        for (size_t i = 0; i < check.drawn[h]; i++)
            check.rows[filled++] = of[order[i]];
    }
    uc_rng_shuffle(&rng, check.rows, check.count);
    *out = check;
    check.rows = NULL;
    status = UC_OK;

cleanup:
    uc_free(of);
    uc_free(order);
    uc_free(check.rows);
    return status;
}

/* ---- the error of the checked rows ---- */

/* Adds a stratum of weight W to the estimate and the variance. A stratum without checked rows may have any
 * error, which widens the interval separately, by *open. */
static void add_stratum(double *estimate, double *variance, double *open, const uc_checked_stratum *stratum,
                        double W)
{
    const double m = (double)stratum->checked, k = (double)stratum->errors;
    if (stratum->checked == 0) {
        *estimate += W / 2.0;
        *open += W / 2.0;
        return;
    }
    const double p = (k + 0.5) / (m + 1.0);
    *estimate += W * k / m;
    *variance += W * W * p * (1.0 - p) / m;
}

uc_status uc_checked_error(uc_clean_error *out, uc_checked_stratum strata[UC_STRATA], const uc_checked *self,
                           const uc_predicted_rows *rows)
{
    uc_checked_stratum found[UC_STRATA] = {{0}};
    size_t sizes[UC_STRATA], mistaken = 0;
    count_strata(sizes, rows);
    const double total = (double)(sizes[UC_AGREE] + sizes[UC_DISAGREE]);
    if (self->count == 0)
        return uc_fail(UC_ERR_INVALID, "no row has a true class yet");
    for (size_t i = 0; i < self->count; i++) {
        const size_t row = self->rows[i], h = self->stratified ? self->stratum[i] : 0;
        found[h].checked++;
        found[h].errors += self->truth[i] != rows->predicted[row];
        mistaken += self->truth[i] != rows->labels[row];
    }
    double estimate = 0.0, variance = 0.0, open = 0.0;
    for (size_t h = 0; h < UC_STRATA; h++) {
        found[h].rows = self->stratified ? self->sizes[h] : sizes[UC_AGREE] + sizes[UC_DISAGREE];
        if (self->stratified && found[h].rows > 0)
            add_stratum(&estimate, &variance, &open, &found[h], (double)found[h].rows / total);
        else if (!self->stratified && h == 0)
            add_stratum(&estimate, &variance, &open, &found[h], 1.0);
    }
    const double half = QUANTILE * sqrt(variance) + open;
    *out = (uc_clean_error){.estimate = estimate,
                            .low = fmax(estimate - half, 0.0),
                            .high = fmin(estimate + half, 1.0),
                            .noisy = total > 0.0 ? (double)sizes[UC_DISAGREE] / total : 0.0,
                            .wrong = (double)mistaken / (double)self->count,
                            .rows = sizes[UC_AGREE] + sizes[UC_DISAGREE]};
    for (size_t h = 0; h < UC_STRATA; h++) {
        out->strata[h] = ((double)found[h].errors + 0.5) / ((double)found[h].checked + 1.0);
        if (strata)
            strata[h] = found[h];
    }
    return UC_OK;
}
