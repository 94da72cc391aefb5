/*
 * The error of `audit` on true classes, by the noise hypotheses that `auto` uses (learn/calibration).
 *
 * The scores are calibrated, not the probabilities softmax(S / t). The latter are so close to 0 and 1 that a
 * model which is right four times in five looks like one that is always right on labels of which one in five
 * is wrong. The distances between the scores tell the two apart.
 *
 * The scores S of the last step may all be wrong together, if clouds of rows have drifted away from their
 * classes: each row then confirms the others, and labels that disagree look like noise. The scores of the
 * first fit, to the labels as they are, cannot drift. Therefore the hypotheses are tried with both. If the
 * labels are clearly more likely under one of them (SUPPORTED), that one is used, otherwise the interval
 * covers both.
 *
 * A row with several labels counts with one of them, drawn evenly: two labels of one row are not two rows.
 */
#include <math.h>
#include <string.h>

#include "learn/audit/audit.h"
#include "linalg/linalg.h"
#include "unconfuse/random.h"

#define SEQUENCE UINT64_C(0x6c6162656c) /* "label": which of a row's labels counts */
#define SUPPORTED 3.3                   /* of log-likelihood, as in clean_error.c */

/* The rows of all processes, in their order. */
typedef struct seen_rows {
    double *S, *first, *weights; /* weights NULL: all are 1 */
    uint32_t *labels, *predicted;
    size_t count;
} seen_rows;

static void free_rows(seen_rows *self)
{
    uc_free(self->S);
    uc_free(self->first);
    uc_free(self->weights);
    uc_free(self->labels);
    uc_free(self->predicted);
}

/* Draws one label per row; `first` is the number of the first row among those of all processes. */
static void draw_labels(uint32_t *labels, const uc_annotations *annotations, size_t first, uint64_t seed)
{
    for (size_t i = 0; i < annotations->rows; i++) {
        const size_t begin = annotations->first[i], count = annotations->first[i + 1] - begin;
        labels[i] = UC_NONE;
        if (count == 0)
            continue;
        uc_rng rng = uc_rng_make(seed, SEQUENCE + ((uint64_t)(first + i) << 40));
        labels[i] = annotations->items[begin + (count > 1 ? uc_rng_below(&rng, count) : 0)].label;
    }
}

/* Copies the data or, with several processes, collects them from all. */
static uc_status gather(void *out, const void *own, size_t bytes, const uc_context *context)
{
    void *all = NULL;
    uc_status status = UC_OK;
    if (uc_is_shared(context))
        status = uc_comm_gather(&all, NULL, uc_comm_of(context), own, bytes);
    else if (!(all = uc_alloc(bytes, 1)))
        status = UC_ERR_NOMEM;
    else
        memcpy(all, own, bytes);
    memcpy(out, &all, sizeof all);
    return status;
}

static uc_status gather_rows(seen_rows *out, const uc_audit_fit *found, const uc_labelled *labelled,
                             uint64_t seed)
{
    const uc_context *context = labelled->context;
    const size_t n = found->rows, bytes = n * found->K * sizeof *found->held_out;
    uc_share share = {0};
    uint32_t *labels = uc_alloc(n, sizeof *labels);
    uc_status status = uc_comm_agree(uc_comm_of(context), labels ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = uc_share_of(&share, context, n);
    if (status == UC_OK) {
        out->count = share.total;
        draw_labels(labels, labelled->annotations, share.first, seed);
        status = gather(&out->labels, labels, n * sizeof *labels, context);
    }
    uc_free(labels);
    if (status == UC_OK)
        status = gather(&out->predicted, found->predicted, n * sizeof *found->predicted, context);
    if (status == UC_OK)
        status = gather(&out->S, found->held_out, bytes, context);
    if (status == UC_OK)
        status = gather(&out->first, found->first, bytes, context);
    if (status == UC_OK && labelled->weights)
        status = gather(&out->weights, labelled->weights, n * sizeof *labelled->weights, context);
    return uc_comm_agree(uc_comm_of(context), status);
}

static uc_status estimate(uc_clean_error *out, const seen_rows *seen, const double *scores, size_t K,
                          const uc_context *context)
{
    const uc_scored_rows rows = {.scores = scores,
                                 .labels = seen->labels,
                                 .predicted = seen->predicted,
                                 .weights = seen->weights,
                                 .rows = seen->count,
                                 .classes = K};
    return uc_comm_agree(uc_comm_of(context), uc_clean_error_estimate(out, &rows, context));
}

/* The estimate that the labels support, or the union of both. */
static uc_clean_error unite(uc_clean_error last, const uc_clean_error *first)
{
    if (first->fit > last.fit + SUPPORTED)
        return *first;
    if (last.fit > first->fit + SUPPORTED)
        return last;
    last.low = fmin(last.low, first->low);
    last.high = fmax(last.high, first->high);
    return last;
}

uc_status uc_audit_share_wrong(double *out, const uc_audit_fit *found, const uc_labelled *labelled)
{
    const uc_annotations *annotations = labelled->annotations;
    double sums[2] = {0.0, 0.0};
    for (size_t a = 0; a < annotations->count; a++) {
        const uc_annotation *one = &annotations->items[a];
        const double weight = labelled->weights ? labelled->weights[one->row] : 1.0;
        sums[0] += weight * fmax(1.0 - found->R[one->row * found->K + one->label], 0.0);
        sums[1] += weight;
    }
    const uc_status status = uc_comm_sum(uc_comm_of(labelled->context), sums, 2);
    *out = sums[1] > 0.0 ? sums[0] / sums[1] : 0.0;
    return status;
}

uc_status uc_audit_clean_error(uc_clean_error *out, const uc_audit_fit *found, const uc_labelled *labelled,
                               uint64_t seed)
{
    seen_rows seen = {0};
    uc_clean_error last = {0}, first = {0};
    uc_status status = gather_rows(&seen, found, labelled, seed);
    if (status == UC_OK)
        status = estimate(&last, &seen, seen.S, found->K, labelled->context);
    if (status == UC_OK)
        status = estimate(&first, &seen, seen.first, found->K, labelled->context);
    if (status == UC_OK) {
        last = unite(last, &first);
        status = uc_audit_share_wrong(&last.wrong, found, labelled);
        last.likeliest_wrong = last.wrong;
    }
    free_rows(&seen);
    if (status == UC_OK)
        *out = last;
    return status;
}
