/*
 * Parts of a data set: folds, two-way splits, class counts.
 *
 * Both ways of splitting deal out a list of rows like cards. The list is in random order; for a stratified
 * split it is then sorted by class, keeping that order within a class, so every class is one run of the list.
 * Dealing in turn gives parts that are as equal as possible over the whole list and, at the same time, within
 * every run:
 *
 *   fold     the card at position i goes to fold i mod folds
 *   share s  the cards before position i leave round(s i) rows in the first part, so a run of length m
 *            gives it s m rows, rounded up or down
 */
#include "unconfuse/dataset.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "data/exchange.h"

#define SEQUENCE_SPLIT UINT64_C(0x73706c6974) /* "split" */

void uc_dataset_class_counts(size_t *counts, const uc_dataset *data)
{
    memset(counts, 0, data->classes.count * sizeof *counts);
    if (!data->y)
        return;
    for (size_t i = 0; i < data->X.rows; i++)
        if (data->y[i] != UC_NONE)
            counts[data->y[i]]++;
}

/* The position at which a row is counted: its class, or after all classes if it is unlabelled. */
static size_t place_of(const uc_dataset *data, size_t row)
{
    if (!data->y || data->y[row] == UC_NONE)
        return data->classes.count;
    return data->y[row];
}

/* Sorts `order` by class, unlabelled rows last, keeping the order within a class; `work` has the same
 * size. */
static uc_status sort_by_class(size_t *order, size_t *work, const uc_dataset *data)
{
    const size_t rows = data->X.rows, classes = data->classes.count;
    size_t *next = uc_alloc(classes + 2, sizeof *next);
    if (!next)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < rows; i++)
        next[place_of(data, i) + 1]++;
    for (size_t k = 0; k <= classes; k++)
        next[k + 1] += next[k];
    for (size_t i = 0; i < rows; i++)
        work[next[place_of(data, order[i])]++] = order[i];
    memcpy(order, work, rows * sizeof *order);
    uc_free(next);
    return UC_OK;
}

/* Makes the list of rows to deal out, which the caller frees. */
static uc_status deal_order(size_t **out, const uc_dataset *data, bool stratified, uint64_t seed)
{
    const size_t rows = data->X.rows;
    size_t *order = uc_alloc(rows, sizeof *order), *work = uc_alloc(rows, sizeof *work);
    uc_status status = UC_ERR_NOMEM;
    if (!order || !work)
        goto cleanup;
    status = UC_OK;

    for (size_t i = 0; i < rows; i++)
        order[i] = i;
    uc_rng rng = uc_rng_make(seed, SEQUENCE_SPLIT);
    uc_rng_shuffle(&rng, order, rows);
    if (stratified && data->y)
        status = sort_by_class(order, work, data);
    if (status == UC_OK) {
        *out = order;
        order = NULL;
    }

cleanup:
    uc_free(order);
    uc_free(work);
    return status;
}

size_t uc_dataset_fold_units(const uc_dataset *data)
{
    uint32_t first = UC_NONE, most = 0;
    bool several = false;
    for (size_t i = 0; data->bag && i < data->X.rows; i++) {
        if (data->bag[i] == UC_NONE)
            return data->X.rows;
        several = several || (i > 0 && data->bag[i] != first);
        first = data->bag[0];
        if (data->bag[i] > most)
            most = data->bag[i];
    }
    if (!several)
        return data->X.rows;
    bool *seen = uc_alloc((size_t)most + 1, sizeof *seen);
    size_t bags = 0;
    for (size_t i = 0; i < data->X.rows && seen; i++) {
        bags += !seen[data->bag[i]];
        seen[data->bag[i]] = true;
    }
    uc_free(seen);
    return bags; /* 0 if there was no memory for `seen`, with which no number of folds is accepted */
}

static uc_status deal_folds(uint32_t *fold, const uc_dataset *data, unsigned folds, bool stratified,
                            uint64_t seed);

/* Rows of a bag stay together: bags are dealt out instead of rows, each with the label of its first row. */
static uc_status folds_of_bags(uint32_t *fold, const uc_dataset *data, unsigned folds, bool stratified,
                               uint64_t seed)
{
    const size_t n = data->X.rows, bags = data->bags.count;
    uint32_t *place = uc_alloc(bags, sizeof *place), *label = uc_alloc(bags, sizeof *label);
    uint32_t *bag_fold = uc_alloc(bags, sizeof *bag_fold), seen = 0;
    uc_dataset dealt = {.classes = data->classes}; /* one row per bag; borrows names and labels */
    uc_status status = UC_ERR_NOMEM;
    if (!place || !label || !bag_fold)
        goto cleanup;
    for (size_t b = 0; b < bags; b++)
        place[b] = UC_NONE;
    for (size_t i = 0; i < n; i++)
        if (place[data->bag[i]] == UC_NONE) {
            if (data->y)
                label[seen] = data->y[i];
            place[data->bag[i]] = seen++;
        }
    if (data->y)
        dealt.y = label;
    dealt.X.rows = seen;
    if (folds < 2 || folds > seen) {
        status = uc_fail(UC_ERR_INVALID,
                         "the number of folds must be from 2 to the number of bags, %u, not %u", seen, folds);
        goto cleanup;
    }
    status = deal_folds(bag_fold, &dealt, folds, stratified, seed);
    for (size_t i = 0; i < n && status == UC_OK; i++)
        fold[i] = bag_fold[place[data->bag[i]]];

cleanup:
    uc_free(bag_fold);
    uc_free(label);
    uc_free(place);
    return status;
}

static uc_status deal_folds(uint32_t *fold, const uc_dataset *data, unsigned folds, bool stratified,
                            uint64_t seed)
{
    const size_t rows = data->X.rows;
    if (uc_dataset_fold_units(data) != rows)
        return folds_of_bags(fold, data, folds, stratified, seed);
    if (folds < 2 || folds > rows)
        return uc_fail(UC_ERR_INVALID,
                       "the number of folds must be from 2 to the number of examples, %zu, not %u", rows,
                       folds);
    size_t *order;
    const uc_status status = deal_order(&order, data, stratified, seed);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < rows; i++)
        fold[order[i]] = (uint32_t)(i % folds);
    uc_free(order);
    return UC_OK;
}

/* Folds depend only on labels and bags: every process deals out the rows of all, and keeps the folds of its
 * own. */
uc_status uc_dataset_folds(uint32_t *fold, const uc_dataset *data, unsigned folds, bool stratified,
                           uint64_t seed, const uc_context *context)
{
    if (!uc_is_shared(context))
        return deal_folds(fold, data, folds, stratified, seed);
    uc_dataset labels = {0};
    uc_share share;
    uint32_t *all = NULL;
    uc_status status = uc_share_of(&share, context, data->X.rows);
    if (status == UC_OK)
        status = uc_gather_labels(&labels, data, context);
    if (status == UC_OK) {
        status = UC_ERR_NOMEM;
        all = uc_alloc(share.total, sizeof *all);
        if (all)
            status = deal_folds(all, &labels, folds, stratified, seed);
    }
    if (status == UC_OK)
        memcpy(fold, all + share.first, data->X.rows * sizeof *fold);
    uc_free(all);
    uc_free_labels(&labels);
    return status;
}

uc_status uc_dataset_fold_split(uc_dataset *others, uc_dataset *inside, const uc_dataset *data,
                                const uint32_t *fold_of, unsigned fold, const uc_context *context)
{
    const size_t n = data->X.rows;
    size_t *rows = uc_alloc(n, sizeof *rows), first = 0, last = n;
    if (!rows)
        return UC_ERR_NOMEM;
    uc_dataset front = {0}, back = {0};
    for (size_t i = 0; i < n; i++)
        if (fold_of[i] != fold)
            rows[first++] = i;
    for (size_t i = n; i > 0; i--)
        if (fold_of[i - 1] == fold)
            rows[--last] = i - 1;
    uc_status status = uc_dataset_subset(&front, data, rows, first, context);
    if (status == UC_OK)
        status = uc_dataset_subset(&back, data, rows + last, n - last, context);
    uc_free(rows);
    if (status == UC_OK) {
        *others = front;
        *inside = back;
    } else {
        uc_dataset_free(&front);
        uc_dataset_free(&back);
    }
    return status;
}

#define SEQUENCE_SAMPLE UINT64_C(0x73616d706c65) /* random numbers: "sample" */
#define SAMPLED_ALWAYS ((size_t)20)

/* Chooses the rows of a sample, in random order: the first *taken of `order`, which has room for all rows. */
static uc_status choose_sample(size_t *order, size_t *taken, const uc_dataset *labels, size_t most,
                               uint64_t seed)
{
    const size_t n = labels->X.rows, K = labels->classes.count;
    size_t *left = uc_alloc(K + 1, sizeof *left);
    if (!left)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        left[place_of(labels, i)]++;
    for (size_t k = 0; k <= K; k++) {
        const size_t share = (size_t)((double)left[k] * (double)most / (double)n);
        left[k] = uc_max_size(share, uc_min_size(left[k], SAMPLED_ALWAYS));
    }
    uc_rng rng = uc_rng_make(seed, SEQUENCE_SAMPLE);
    uc_rng_choose(&rng, order, n, n);
    *taken = 0;
    for (size_t i = 0; i < n; i++) {
        size_t *quota = &left[place_of(labels, order[i])];
        if (*quota > 0) {
            (*quota)--;
            order[(*taken)++] = order[i];
        }
    }
    uc_free(left);
    return UC_OK;
}

/* The same for whole bags: returns their rows in the order of the data. Every class gets its share of the
 * rows, plus at most the rest of its last bag. */
static uc_status choose_bags(size_t *rows, size_t *taken, const uc_dataset *labels, size_t most,
                             uint64_t seed)
{
    const size_t n = labels->X.rows, K = labels->classes.count, bags = labels->bags.count;
    size_t *left = uc_alloc(K, sizeof *left), *size = uc_alloc(bags, sizeof *size);
    size_t *order = uc_alloc(bags, sizeof *order);
    uint32_t *label = uc_alloc(bags, sizeof *label);
    uc_status status = UC_ERR_NOMEM;
    if (!left || !size || !order || !label)
        goto cleanup;
    for (size_t i = 0; i < n; i++) {
        left[labels->y[i]]++;
        label[labels->bag[i]] = labels->y[i];
        size[labels->bag[i]]++;
    }
    for (size_t k = 0; k < K; k++)
        left[k] = (size_t)ceil((double)left[k] * (double)most / (double)n);
    uc_rng rng = uc_rng_make(seed, SEQUENCE_SAMPLE);
    uc_rng_choose(&rng, order, bags, bags);
    for (size_t b = 0; b < bags; b++) {
        size_t *quota = &left[label[order[b]]], *rows_of_bag = &size[order[b]];
        if (*quota == 0)
            *rows_of_bag = 0; /* which leaves it out */
        *quota -= uc_min_size(*quota, *rows_of_bag);
    }
    *taken = 0;
    for (size_t i = 0; i < n; i++)
        if (size[labels->bag[i]] > 0)
            rows[(*taken)++] = i;
    status = UC_OK;

cleanup:
    uc_free(label);
    uc_free(order);
    uc_free(size);
    uc_free(left);
    return status;
}

typedef uc_status choose_fn(size_t *rows, size_t *taken, const uc_dataset *labels, size_t most,
                            uint64_t seed);

static uc_status sample(uc_dataset *out, const uc_dataset *data, size_t most, choose_fn *choose,
                        uint64_t seed, const uc_context *context)
{
    uc_dataset labels = *data; /* replaced by the labels of all rows if there are several processes */
    size_t *order = NULL, taken = 0;
    uc_status status = UC_OK;
    if (uc_is_shared(context))
        status = uc_gather_labels(&labels, data, context);
    if (status == UC_OK && labels.X.rows > most) {
        status = UC_ERR_NOMEM;
        order = uc_alloc(labels.X.rows, sizeof *order);
        if (order)
            status = choose(order, &taken, &labels, most, seed);
    }
    if (status == UC_OK)
        status = uc_gather_dataset(out, data, order, taken, context);
    uc_free(order);
    if (uc_is_shared(context))
        uc_free_labels(&labels);
    return status;
}

uc_status uc_dataset_sample(uc_dataset *out, const uc_dataset *data, size_t most, uint64_t seed,
                            const uc_context *context)
{
    return sample(out, data, most, choose_sample, seed, context);
}

uc_status uc_dataset_sample_bags(uc_dataset *out, const uc_dataset *data, size_t most, uint64_t seed,
                                 const uc_context *context)
{
    const uc_status status = uc_dataset_check_bags(data, context);
    if (status != UC_OK)
        return status;
    return sample(out, data, most, choose_bags, seed, context);
}

/* round(share i), rounding up from slightly less than a half: 0.3 * 15 must round up like its exact value. */
static size_t dealt_before(double share, size_t i)
{
    return (size_t)floor(share * (double)i + (0.5 + 1e-9));
}

uc_status uc_dataset_split_rows(size_t *rows, size_t *count, const uc_dataset *data, double share,
                                bool stratified, uint64_t seed)
{
    const size_t row_count = data->X.rows;
    if (!(share > 0.0 && share < 1.0))
        return uc_fail(UC_ERR_INVALID, "the share of the first part must be between 0 and 1, not %g", share);
    *count = dealt_before(share, row_count);
    if (*count == 0 || *count >= row_count)
        return uc_fail(UC_ERR_INVALID, "a share of %g of %zu examples leaves one part empty", share,
                       row_count);
    size_t *order = NULL;
    bool *in_first = uc_alloc(row_count, sizeof *in_first);
    if (!in_first)
        return UC_ERR_NOMEM;
    const uc_status status = deal_order(&order, data, stratified, seed);
    for (size_t i = 0; i < row_count && status == UC_OK; i++)
        in_first[order[i]] = dealt_before(share, i + 1) > dealt_before(share, i);
    /* Both parts keep the order of the data. */
    for (size_t i = 0, a = 0, b = *count; i < row_count && status == UC_OK; i++)
        rows[in_first[i] ? a++ : b++] = i;
    uc_free(order);
    uc_free(in_first);
    return status;
}

uc_status uc_dataset_split(uc_dataset *first, uc_dataset *second, const uc_dataset *data, double share,
                           bool stratified, uint64_t seed, const uc_context *context)
{
    const size_t rows = data->X.rows;
    uc_dataset part = {0}, other = {0};
    size_t count, *chosen = uc_alloc(rows, sizeof *chosen);
    if (!chosen)
        return UC_ERR_NOMEM;
    uc_status status = uc_dataset_split_rows(chosen, &count, data, share, stratified, seed);
    if (status == UC_OK)
        status = uc_dataset_subset(&part, data, chosen, count, context);
    if (status == UC_OK)
        status = uc_dataset_subset(&other, data, chosen + count, rows - count, context);
    if (status == UC_OK) {
        *first = part;
        *second = other;
    } else {
        uc_dataset_free(&part);
    }
    uc_free(chosen);
    return status;
}
