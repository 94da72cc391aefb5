/*
 * Which annotations are wrong, and how many.
 *
 *   p_a = 1 - R_i[l]       the probability that annotation a, label l of row i, is wrong
 *
 * The k most suspicious annotations are flagged, where k gives the largest expected F1 (suspects.c). The
 * intervals of shares come from a bootstrap over rows, because the annotations of a row are not independent.
 */
#include <math.h>
#include <stdlib.h>

#include "audit/crowd_em.h"
#include "audit/resample.h"

void uc_crowd_issues_free(uc_crowd_issues *self)
{
    uc_free(self->issues);
    uc_free(self->pairs);
    *self = (uc_crowd_issues){0};
}

/* ---- flags ---- */

static int compare_issues(const void *a, const void *b)
{
    const uc_crowd_issue *x = a, *y = b;
    if (x->wrong != y->wrong)
        return x->wrong > y->wrong ? -1 : 1;
    return (x->annotation > y->annotation) - (x->annotation < y->annotation);
}

static uc_status list_issues(uc_crowd_issues *out, const uc_consensus *consensus, const uc_crowd *crowd)
{
    const uc_posteriors *posterior = &consensus->posterior;
    double total = 0.0, *wrong = uc_alloc(crowd->count, sizeof *wrong);
    out->count = crowd->count;
    out->issues = uc_alloc(crowd->count, sizeof *out->issues);
    if (!out->issues || !wrong) {
        uc_free(wrong);
        return UC_ERR_NOMEM;
    }
    for (size_t i = 0; i < crowd->rows; i++)
        for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++) {
            const double right = posterior->values[uc_posterior_at(posterior, i, crowd->label[a])];
            out->issues[a] = (uc_crowd_issue){(uint32_t)i, (uint32_t)a, fmax(0.0, 1.0 - right)};
            total += out->issues[a].wrong;
        }
    qsort(out->issues, out->count, sizeof *out->issues, compare_issues);
    for (size_t a = 0; a < out->count; a++)
        wrong[a] = out->issues[a].wrong;
    out->flagged = uc_flag_most(wrong, out->count, total);
    out->wrong.estimate = total / (double)out->count;
    uc_free(wrong);
    return UC_OK;
}

/* ---- pairs of classes ---- */

static int compare_pairs(const void *a, const void *b)
{
    const uc_crowd_mistake *x = a, *y = b;
    if (x->share.estimate != y->share.estimate)
        return x->share.estimate > y->share.estimate ? -1 : 1;
    if (x->given != y->given)
        return x->given < y->given ? -1 : 1;
    return (x->truth > y->truth) - (x->truth < y->truth);
}

/* counts[given * K + true]: the expected number of annotations with this label and this true class. */
static void count_pairs(double *counts, const uc_posteriors *posterior, const uc_crowd *crowd)
{
    const size_t K = crowd->classes.count;
    size_t width;
    for (size_t i = 0; i < crowd->rows; i++)
        for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++)
            for (size_t from = 0; from < K; from += width) {
                const double *row = uc_posterior_slab(posterior, i, from, &width);
                for (size_t k = 0; k < width; k++)
                    counts[crowd->label[a] * K + from + k] += row[k];
            }
}

/* The most frequent mistakes, without intervals. */
static uc_status find_pairs(uc_crowd_issues *out, const uc_consensus *consensus, const uc_crowd *crowd)
{
    const size_t K = crowd->classes.count;
    double *counts = uc_alloc(K * K, sizeof *counts);
    out->pairs = uc_alloc(K * K, sizeof *out->pairs);
    if (!counts || !out->pairs) {
        uc_free(counts);
        return UC_ERR_NOMEM;
    }
    count_pairs(counts, &consensus->posterior, crowd);
    for (size_t l = 0; l < K; l++)
        for (size_t z = 0; z < K; z++)
            if (l != z)
                out->pairs[out->pair_count++] = (uc_crowd_mistake){
                    (uint32_t)l, (uint32_t)z, {counts[l * K + z] / (double)crowd->count, 0.0, 0.0}};
    qsort(out->pairs, out->pair_count, sizeof *out->pairs, compare_pairs);
    out->pair_count = uc_min_size(out->pair_count, UC_WORST_PAIRS);
    uc_free(counts);
    return UC_OK;
}

/* ---- intervals ---- */

/* For every row: its annotations, how many are wrong, and how many belong to each pair of classes. */
static void fill_numbers(double *numbers, const uc_crowd_issues *issues, const uc_posteriors *posterior,
                         const uc_crowd *crowd)
{
    for (size_t i = 0; i < crowd->rows; i++) {
        double *row = numbers + i * (2 + issues->pair_count);
        row[0] = (double)(crowd->first[i + 1] - crowd->first[i]);
        for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++) {
            row[1] += 1.0 - posterior->values[uc_posterior_at(posterior, i, crowd->label[a])];
            for (size_t p = 0; p < issues->pair_count; p++)
                if (issues->pairs[p].given == crowd->label[a])
                    row[2 + p] += posterior->values[uc_posterior_at(posterior, i, issues->pairs[p].truth)];
        }
    }
}

static uc_status find_intervals(uc_crowd_issues *out, const uc_consensus *consensus, const uc_crowd *crowd,
                                uint64_t seed, const uc_context *context)
{
    uc_share_estimate *shares[1 + UC_WORST_PAIRS] = {&out->wrong};
    double *numbers = uc_alloc(crowd->rows * (2 + out->pair_count), sizeof *numbers);
    if (!numbers)
        return UC_ERR_NOMEM;
    for (size_t p = 0; p < out->pair_count; p++)
        shares[1 + p] = &out->pairs[p].share;
    fill_numbers(numbers, out, &consensus->posterior, crowd);
    const uc_status status =
        uc_resample_shares(shares, 1 + out->pair_count, numbers, crowd->rows, seed, context);
    uc_free(numbers);
    return status;
}

uc_status uc_crowd_issues_find(uc_crowd_issues *out, const uc_consensus *consensus, const uc_crowd *crowd,
                               uint64_t seed, const uc_context *context)
{
    uc_crowd_issues self = {0};
    const uc_context alone = uc_context_alone(context);
    uc_status status = list_issues(&self, consensus, crowd);
    if (status == UC_OK)
        status = find_pairs(&self, consensus, crowd);
    if (status == UC_OK)
        status = find_intervals(&self, consensus, crowd, seed, &alone);
    if (status == UC_OK)
        *out = self;
    else
        uc_crowd_issues_free(&self);
    return status;
}
