/*
 * From evidence to a noise matrix with its intervals.
 *
 *   C[p][q]   P(observed class p | true class q); columns sum to 1
 *   J[p][q]   examples observed as p and assigned to true class q; n_p examples are observed as p
 *   P_k(x)    the probability of *observing* class k, from a logistic regression that did not see x
 *
 * Labels   both labels are known: J counts them, C = J with columns divided by their sums.
 *
 * Counting (confident learning: Northcutt, Jiang, Chuang, JAIR 70:1373-1411, 2021)
 *          t_k = mean of P_k over the examples observed as k
 *          An example counts for the most probable of the classes with P_k >= t_k, if there is one.
 *          C = J with row p scaled to the sum n_p, then columns divided by their sums.
 *          A row of J without any example becomes n_p on the diagonal: nothing contradicts its labels.
 *
 * Anchor   (Liu, Tao, TPAMI 38:447-461, 2016; Patrini et al., CVPR 2017) where an example is certainly of
 *          class q, P_p(x) = C[p][q]. Column q is the mean of P over the m_q examples with the largest P_q,
 *          where m_q is a share of n_q, at least 1.
 *
 * A class for which nothing was counted gets the column of the identity.
 *
 * Intervals are the 2.5 and 97.5 percentiles of the estimate over resampled examples. The probabilities are
 * not learned again for each resample, so the intervals of counting and anchor do not include the error of
 * the regression. Resampling cannot show what never happened: an entry whose count is 0 or its whole column
 * also takes Wilson's bound on that side.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/evidence.h"
#include "base/base.h"
#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include "unconfuse/metrics.h"

#define SEQUENCE_BOOTSTRAP UINT64_C(0x626f6f7400000000) /* "boot", plus the number of the resample */
#define FEW_EXAMPLES 30
#define REPLICATES_PER_REPORT ((size_t)16)

/* ---- from weighted examples to a matrix ---- */

void uc_divide_columns(double *C, size_t K)
{
    for (size_t q = 0; q < K; q++) {
        double sum = 0.0;
        for (size_t p = 0; p < K; p++)
            sum += C[p * K + q];
        for (size_t p = 0; p < K; p++)
            C[p * K + q] = sum > 0.0 ? C[p * K + q] / sum : (double)NAN;
    }
}

void uc_evidence_from_labels(double *C, double *J, const uc_evidence *self, const double *weight,
                             double *work)
{
    (void)work;
    const size_t K = self->K;
    memset(J, 0, K * K * sizeof *J);
    for (size_t i = 0; i < self->rows; i++)
        J[self->observed[i] * K + self->gold[i]] += weight[i];
    memcpy(C, J, K * K * sizeof *C);
    uc_divide_columns(C, K);
}

/* labelled[k] = n_k. */
static void count_labels(double *labelled, const uc_evidence *self, const double *weight)
{
    memset(labelled, 0, self->K * sizeof *labelled);
    for (size_t i = 0; i < self->rows; i++)
        labelled[self->observed[i]] += weight[i];
}

/* The most probable class at or above its threshold, the lowest one if tied; K if there is none. */
static size_t confident_class(const double *P, const double *threshold, size_t K)
{
    size_t best = K;
    for (size_t k = 0; k < K; k++)
        if (P[k] >= threshold[k] && (best == K || P[k] > P[best]))
            best = k;
    return best;
}

void uc_evidence_by_counting(double *C, double *J, const uc_evidence *self, const double *weight,
                             double *work)
{
    const size_t K = self->K;
    double *threshold = work, *labelled = work + K;
    count_labels(labelled, self, weight);
    memset(threshold, 0, K * sizeof *threshold);
    for (size_t i = 0; i < self->rows; i++)
        threshold[self->observed[i]] += weight[i] * self->P[i * K + self->observed[i]];
    for (size_t k = 0; k < K; k++)
        threshold[k] = labelled[k] > 0.0 ? threshold[k] / labelled[k] : (double)INFINITY;

    memset(J, 0, K * K * sizeof *J);
    for (size_t i = 0; i < self->rows; i++) {
        if (weight[i] == 0.0)
            continue;
        const size_t q = confident_class(self->P + i * K, threshold, K);
        if (q < K)
            J[self->observed[i] * K + q] += weight[i];
    }
    for (size_t p = 0; p < K; p++) {
        double sum = 0.0;
        for (size_t q = 0; q < K; q++)
            sum += J[p * K + q];
        for (size_t q = 0; q < K; q++)
            C[p * K + q] = sum > 0.0 ? J[p * K + q] * labelled[p] / sum : (p == q) * labelled[p];
    }
    uc_divide_columns(C, K);
}

void uc_evidence_by_anchors(double *C, double *J, const uc_evidence *self, const double *weight, double *work)
{
    const size_t K = self->K;
    double *labelled = work;
    count_labels(labelled, self, weight);
    memset(C, 0, K * K * sizeof *C);
    memset(J, 0, K * K * sizeof *J);
    for (size_t q = 0; q < K; q++) {
        const uint32_t *clearest = self->clearest + q * self->rows;
        double left = labelled[q] > 0.0 ? fmax(1.0, round(self->anchors * labelled[q])) : 0.0;
        for (size_t r = 0; r < self->rows && left > 0.0; r++) {
            const size_t i = clearest[r];
            const double taken = fmin(left, weight[i]);
            left -= taken;
            J[self->observed[i] * K + q] += taken;
            for (size_t p = 0; p < K && taken > 0.0; p++)
                C[p * K + q] += taken * self->P[i * K + p];
        }
    }
    uc_divide_columns(C, K);
}

typedef struct ranked {
    double value;
    uint32_t row;
} ranked;

/* By descending value, then by row: the order does not depend on qsort. */
static int descending(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

uc_status uc_evidence_rank(uc_evidence *from)
{
    ranked *list = uc_alloc(from->rows, sizeof *list);
    from->clearest = uc_alloc(from->rows * from->K, sizeof *from->clearest);
    if (!list || !from->clearest) {
        uc_free(list);
        return UC_ERR_NOMEM;
    }
    for (size_t q = 0; q < from->K; q++) {
        for (size_t i = 0; i < from->rows; i++)
            list[i] = (ranked){from->P[i * from->K + q], (uint32_t)i};
        qsort(list, from->rows, sizeof *list, descending);
        for (size_t i = 0; i < from->rows; i++)
            from->clearest[q * from->rows + i] = list[i].row;
    }
    uc_free(list);
    return UC_OK;
}

/* ---- intervals ---- */

typedef struct bootstrap {
    const uc_evidence *evidence;
    uint64_t seed;
    size_t first;   /* replicate of block 0 */
    double *sample; /* replicates x K x K */
} bootstrap;

static uc_status run_replicate(size_t block, void *user)
{
    const bootstrap *self = user;
    const uc_evidence *from = self->evidence;
    const size_t replicate = self->first + block, K = from->K;
    double *weight = uc_alloc(from->rows, sizeof *weight), *J = uc_alloc(K * K, sizeof *J),
           *work = uc_alloc(2 * K, sizeof *work);
    uc_status status = UC_ERR_NOMEM;
    if (weight && J && work) {
        uc_rng rng = uc_rng_make(self->seed, SEQUENCE_BOOTSTRAP + replicate);
        for (size_t i = 0; i < from->rows; i++)
            weight[uc_rng_below(&rng, from->rows)] += 1.0;
        for (size_t i = 0; i < from->rows && from->weights; i++)
            weight[i] *= from->weights[i];
        from->estimate(self->sample + replicate * K * K, J, from, weight, work);
        status = UC_OK;
    }
    uc_free(work);
    uc_free(J);
    uc_free(weight);
    return status;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Interpolates linearly between neighbours; `values` ascend, count >= 1. */
static double percentile(const double *values, size_t count, double share)
{
    const double at = share * (double)(count - 1);
    const size_t below = (size_t)at;
    const size_t above = uc_min_size(below + 1, count - 1);
    return values[below] + (at - (double)below) * (values[above] - values[below]);
}

static size_t column_count(const uc_noise_estimate *self, size_t q)
{
    size_t sum = 0;
    for (size_t p = 0; p < self->noise.classes; p++)
        sum += self->counts[p * self->noise.classes + q];
    return sum;
}

/* Resamples without any example of the column's class are left out. */
static void set_interval(uc_noise_estimate *out, size_t cell, const double *sample, size_t replicates,
                         double *sorted)
{
    const size_t K = out->noise.classes;
    const size_t of_class = column_count(out, cell % K), count = out->counts[cell];
    size_t known = 0;
    double low = out->noise.values[cell], high = low, wilson[2];
    if (of_class == 0) {
        out->low[cell] = 0.0;
        out->high[cell] = 1.0;
        return;
    }
    for (size_t b = 0; b < replicates; b++)
        if (!isnan(sample[b * K * K + cell]))
            sorted[known++] = sample[b * K * K + cell];
    qsort(sorted, known, sizeof *sorted, ascending);
    if (known > 0) {
        low = fmin(low, percentile(sorted, known, 0.025));
        high = fmax(high, percentile(sorted, known, 0.975));
    }
    uc_metrics_wilson(wilson, count, of_class);
    if (count == 0)
        high = fmax(high, wilson[1]);
    if (count == of_class)
        low = fmin(low, wilson[0]);
    out->low[cell] = low;
    out->high[cell] = high;
}

static uc_status find_intervals(uc_noise_estimate *out, const uc_evidence *from,
                                const uc_noise_estimate_settings *settings, const uc_context *context)
{
    const size_t K = from->K, replicates = (size_t)settings->bootstrap;
    size_t length;
    uc_status status = uc_memory_check(context, 8.0 * (double)replicates * (double)(K * K), "the bootstrap");
    if (status != UC_OK)
        return status;
    if (!uc_size_mul(&length, replicates, K * K))
        return uc_fail(UC_ERR_NOMEM, "%zu resamples of %zu classes do not fit in memory", replicates, K);
    double *sorted = uc_alloc(replicates, sizeof *sorted);
    bootstrap run = {from, settings->seed, 0, uc_alloc(length, sizeof *run.sample)};
    out->low = uc_alloc(K * K, sizeof *out->low);
    out->high = uc_alloc(K * K, sizeof *out->high);
    if (!sorted || !run.sample || !out->low || !out->high) {
        status = UC_ERR_NOMEM;
        goto cleanup;
    }
    while (run.first < replicates && status == UC_OK) {
        const size_t blocks = uc_min_size(replicates - run.first, REPLICATES_PER_REPORT);
        status = uc_run_blocks(context, blocks, run_replicate, &run);
        run.first += blocks;
        if (status == UC_OK)
            status = uc_report(context, "resampling", (double)run.first, (double)replicates, NULL);
    }
    for (size_t cell = 0; cell < K * K && status == UC_OK; cell++)
        set_interval(out, cell, run.sample, replicates, sorted);
cleanup:
    uc_free(run.sample);
    uc_free(sorted);
    return status;
}

/* ---- the complete estimate ---- */

void uc_noise_estimate_free(uc_noise_estimate *self)
{
    uc_noise_free(&self->noise);
    uc_free(self->low);
    uc_free(self->high);
    uc_free(self->counts);
    *self = (uc_noise_estimate){0};
}

#define NAMED_CLASSES 5

/* One warning for all classes with at least `least` and fewer than `below` examples; it names some of
 * them. */
static void warn_of(const uc_noise_estimate *self, size_t least, size_t below, const char *sentence,
                    const uc_context *context)
{
    char list[512] = "";
    size_t found = 0;
    for (size_t q = 0; q < self->noise.classes; q++) {
        const size_t examples = column_count(self, q), length = strlen(list);
        if (examples < least || examples >= below)
            continue;
        if (found++ < NAMED_CLASSES)
            snprintf(list + length, sizeof list - length, "%s\"%.60s\" (%zu)", found > 1 ? ", " : "",
                     self->noise.names.text[q], examples);
    }
    if (found > NAMED_CLASSES) {
        const size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, " and %zu more", found - NAMED_CLASSES);
    }
    if (found > 0)
        uc_warn(context, "%s %s", sentence, list);
}

/* Counts examples, regardless of their weights. */
static void count_examples(uc_noise_estimate *out, const double *J)
{
    for (size_t i = 0; i < out->noise.classes * out->noise.classes; i++)
        out->counts[i] = (size_t)J[i];
}

static void fill_in(uc_noise_estimate *out)
{
    const size_t K = out->noise.classes;
    double *C = out->noise.values;
    for (size_t i = 0; i < K * K; i++) {
        if (isnan(C[i])) /* no example of this true class */
            C[i] = i / K == i % K;
    }
    for (size_t q = 0; q < K; q++) {
        double sum = 0.0;
        for (size_t p = 0; p < K; p++)
            sum += C[p * K + q];
        assert(fabs(sum - 1.0) < 1e-6);
        (void)sum;
    }
}

uc_status uc_evidence_estimate(uc_noise_estimate *out, const uc_evidence *from, size_t rows,
                               const uc_names *classes, const uc_noise_estimate_settings *settings,
                               const uc_context *context)
{
    const size_t K = from->K;
    uc_noise_estimate result = {.noise = {.classes = K, .values = uc_alloc(K * K, sizeof(double))},
                                .counts = uc_alloc(K * K, sizeof *result.counts),
                                .examples = from->rows,
                                .skipped = rows - from->rows};
    double *weight = uc_alloc(from->rows, sizeof *weight), *J = uc_alloc(K * K, sizeof *J),
           *work = uc_alloc(2 * K, sizeof *work);
    uc_status status = UC_ERR_NOMEM;
    if (result.noise.values && result.counts && weight && J && work)
        status = uc_names_copy(&result.noise.names, classes);
    if (status != UC_OK)
        goto cleanup;
    for (size_t i = 0; i < from->rows; i++)
        weight[i] = 1.0;
    from->estimate(result.noise.values, J, from, weight, work);
    count_examples(&result, J);
    if (from->weights)
        from->estimate(result.noise.values, J, from, from->weights, work);
    fill_in(&result);
    if (settings->bootstrap > 0)
        status = find_intervals(&result, from, settings, context);
    if (status == UC_OK) {
        warn_of(&result, 0, 1, "no example to estimate from, so the column is the identity's, for class",
                context);
        warn_of(&result, 1, FEW_EXAMPLES, "fewer than 30 examples to estimate from, for class", context);
    }
cleanup:
    if (status == UC_OK)
        *out = result;
    else
        uc_noise_estimate_free(&result);
    uc_free(work);
    uc_free(J);
    uc_free(weight);
    return status;
}
