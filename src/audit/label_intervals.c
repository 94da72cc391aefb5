/*
 * Intervals for the share of wrong labels. Rows are drawn again, as many as there are, each with a true class
 * drawn from its probabilities R. The intervals therefore reflect both sources of uncertainty: which rows
 * were sampled, and what their true classes are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/evidence.h"
#include "audit/label_intervals.h"
#include "unconfuse/random.h"

#define SEQUENCE UINT64_C(0x6175646974) /* "audit" */
#define LEAST_EXPECTED 0.5              /* labels; a pair with fewer is not listed */
#define LOW 0.025
#define HIGH 0.975

/* ---- pairs of classes ---- */

static int compare_pairs(const void *a, const void *b)
{
    const uc_class_pair *x = a, *y = b;
    if (x->share.estimate != y->share.estimate)
        return x->share.estimate > y->share.estimate ? -1 : 1;
    if (x->given != y->given)
        return x->given < y->given ? -1 : 1;
    return (x->truth > y->truth) - (x->truth < y->truth);
}

static uc_status list_pairs(uc_label_audit *out, const uc_label_rows *rows)
{
    const size_t K = rows->K;
    double *expected = uc_alloc(K * K, sizeof *expected);
    size_t count = 0;
    if (!expected)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < rows->count; i++)
        for (size_t z = 0; z < K; z++)
            expected[rows->labels[i] * K + z] += rows->R[rows->row[i] * K + z];
    for (size_t p = 0; p < K * K; p++)
        count += p / K != p % K && expected[p] >= LEAST_EXPECTED;
    out->pairs = uc_alloc(count, sizeof *out->pairs);
    uc_status status = out->pairs ? UC_OK : UC_ERR_NOMEM;
    for (size_t p = 0; p < K * K && status == UC_OK; p++)
        if (p / K != p % K && expected[p] >= LEAST_EXPECTED)
            out->pairs[out->pair_count++] = (uc_class_pair){
                (uint32_t)(p / K), (uint32_t)(p % K), {expected[p] / (double)rows->count, 0.0, 0.0}};
    if (status == UC_OK && count > 0)
        qsort(out->pairs, count, sizeof *out->pairs, compare_pairs);
    uc_free(expected);
    return status;
}

/* ---- resamples ---- */

typedef struct resampling {
    const uc_label_rows *rows;
    const double *right;   /* R of each label; most draws need nothing else */
    const uint32_t *place; /* K x K: position of a pair in the list; UC_NONE: not listed */
    size_t width;          /* the listed pairs, after the share of all wrong labels */
    double *shares;        /* resamples x width */
    double *noise;         /* resamples x K x K: shares per true class, NaN for one without rows; or NULL */
    uint64_t seed;
} resampling;

/* Draws a true class of the row other than its label, for u below the sum of their R; UC_NONE if there is
 * none. */
static uint32_t draw_other(const double *R, size_t K, uint32_t label, double u)
{
    uint32_t last = UC_NONE;
    for (uint32_t z = 0; z < K; z++) {
        if (z == label || !(R[z] > 0.0))
            continue;
        last = z;
        u -= R[z];
        if (u < 0.0)
            break;
    }
    return last;
}

static uc_status resample(size_t number, void *user)
{
    const resampling *self = user;
    const uc_label_rows *rows = self->rows;
    const size_t K = rows->K;
    double *shares = self->shares + number * self->width;
    double *noise = self->noise ? self->noise + number * K * K : NULL;
    uc_rng rng = uc_rng_make(self->seed, SEQUENCE + number);
    for (size_t i = 0; i < rows->count; i++) {
        const size_t drawn = uc_rng_below(&rng, rows->count);
        const uint32_t label = rows->labels[drawn];
        const double u = uc_rng_uniform(&rng) - self->right[drawn];
        uint32_t z = UC_NONE;
        if (u >= 0.0)
            z = draw_other(rows->R + rows->row[drawn] * K, K, label, u);
        if (noise)
            noise[label * K + (z == UC_NONE ? label : z)] += 1.0;
        if (z == UC_NONE)
            continue;
        shares[0] += 1.0 / (double)rows->count;
        if (self->place[label * K + z] != UC_NONE)
            shares[1 + self->place[label * K + z]] += 1.0 / (double)rows->count;
    }
    if (noise)
        uc_divide_columns(noise, K);
    return UC_OK;
}

static int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle part of values[0], values[stride], ..., ignoring NaN; [0, 1] if all are NaN. `column` has room
 * for all of them. */
static void find_middle(double *low, double *high, const double *values, size_t resamples, size_t stride,
                        double *column)
{
    size_t count = 0;
    for (size_t b = 0; b < resamples; b++)
        if (!isnan(values[b * stride]))
            column[count++] = values[b * stride];
    *low = 0.0;
    *high = 1.0;
    if (count == 0)
        return;
    qsort(column, count, sizeof *column, compare_reals);
    *low = column[(size_t)floor(LOW * (double)(count - 1))];
    *high = column[(size_t)ceil(HIGH * (double)(count - 1))];
}

/* Sets the interval from column `which` of the resamples. */
static void take_interval(uc_label_share *out, const resampling *self, size_t resamples, size_t which,
                          double *column)
{
    double low, high;
    find_middle(&low, &high, self->shares + which, resamples, self->width, column);
    out->low = fmin(out->estimate, low);
    out->high = fmax(out->estimate, high);
}

/* Allocates the intervals of the noise matrix, which belong to *out from the start. */
static uc_status begin_noise(uc_label_audit *out, resampling *self, size_t resamples,
                             const uc_context *context)
{
    const size_t cells = self->rows->K * self->rows->K;
    if (self->rows->K > UC_NOISE_INTERVALS)
        return UC_OK;
    const double bytes = (double)resamples * (double)cells * (double)sizeof *self->noise;
    const uc_status status = uc_memory_check(context, bytes, "resampling the noise matrix");
    if (status != UC_OK)
        return status;
    self->noise = uc_alloc(resamples * cells, sizeof *self->noise);
    out->noise_low = uc_alloc(cells, sizeof *out->noise_low);
    out->noise_high = uc_alloc(cells, sizeof *out->noise_high);
    return self->noise && out->noise_low && out->noise_high ? UC_OK : UC_ERR_NOMEM;
}

uc_status uc_label_intervals(uc_label_audit *out, const uc_label_rows *rows, size_t resamples, uint64_t seed,
                             const uc_context *context)
{
    const size_t K = rows->K;
    double wrong = 0.0;
    for (size_t i = 0; i < rows->count; i++)
        wrong += 1.0 - rows->R[rows->row[i] * K + rows->labels[i]];
    out->wrong = (uc_label_share){wrong / (double)rows->count, 0.0, 1.0};
    uc_status status = list_pairs(out, rows);
    if (status != UC_OK || resamples < 2)
        return status;
    uint32_t *place = uc_alloc(K * K, sizeof *place);
    double *right = uc_alloc(rows->count, sizeof *right);
    resampling self = {rows, right, place, 1 + out->pair_count, NULL, NULL, seed};
    double *column = uc_alloc(resamples, sizeof *column);
    self.shares = uc_alloc(resamples * self.width, sizeof *self.shares);
    status =
        place && right && column && self.shares ? begin_noise(out, &self, resamples, context) : UC_ERR_NOMEM;
    if (status != UC_OK)
        goto cleanup;
    for (size_t i = 0; i < rows->count; i++)
        right[i] = rows->R[rows->row[i] * K + rows->labels[i]];
    memset(place, 0xff, K * K * sizeof *place);
    for (size_t p = 0; p < out->pair_count; p++)
        place[out->pairs[p].given * K + out->pairs[p].truth] = (uint32_t)p;
    status = uc_run_blocks(context, resamples, resample, &self);
    if (status != UC_OK)
        goto cleanup;
    take_interval(&out->wrong, &self, resamples, 0, column);
    for (size_t p = 0; p < out->pair_count; p++)
        take_interval(&out->pairs[p].share, &self, resamples, 1 + p, column);
    for (size_t cell = 0; cell < K * K && self.noise; cell++)
        find_middle(&out->noise_low[cell], &out->noise_high[cell], self.noise + cell, resamples, K * K,
                    column);
cleanup:
    uc_free(self.noise);
    uc_free(self.shares);
    uc_free(column);
    uc_free(right);
    uc_free(place);
    return status;
}
