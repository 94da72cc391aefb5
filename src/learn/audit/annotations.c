/* Annotations by row, and the pairs of annotator and label that occur in them. */
#include <stdlib.h>
#include <string.h>

#include "learn/audit/audit.h"

#define DOUBT (1.0 / 9.0) /* for a row's labels, counted in labels, before anything else is known */

void uc_annotations_free(uc_annotations *self)
{
    uc_free(self->items);
    uc_free(self->first);
    uc_free(self->pair);
    uc_free(self->annotator_of);
    uc_free(self->label_of);
    *self = (uc_annotations){0};
}

static uc_status check(const uc_annotation *items, size_t count, const uc_annotations *bounds)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].row >= bounds->rows || items[i].annotator >= bounds->annotators ||
            items[i].label >= bounds->K)
            return uc_fail(UC_ERR_INVALID, "annotation %zu names a row, annotator or class that is not there",
                           i + 1);
    return UC_OK;
}

/* Sorts annotations by row, by counting sort. */
static void sort_by_row(uc_annotations *self, const uc_annotation *items)
{
    for (size_t i = 0; i < self->count; i++)
        self->first[items[i].row + 1]++;
    for (size_t r = 0; r < self->rows; r++)
        self->first[r + 1] += self->first[r];
    for (size_t i = 0; i < self->count; i++)
        self->items[self->first[items[i].row]++] = items[i];
    for (size_t r = self->rows; r > 0; r--)
        self->first[r] = self->first[r - 1];
    self->first[0] = 0;
}

/* A pair as one number; the numbers sort by annotator, then by label. */
static uint64_t key_of(uc_annotation item)
{
    return (uint64_t)item.annotator << 32 | item.label;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts and removes duplicates; returns the number of keys that remain. */
static size_t sort_unique(uint64_t *keys, size_t count)
{
    size_t kept = 0;
    if (count > 0)
        qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || keys[kept - 1] != keys[i])
            keys[kept++] = keys[i];
    return kept;
}

/* The distinct pairs over all processes; *keys is freed with uc_free. */
static uc_status find_pairs(uint64_t **keys, size_t *count, const uc_annotations *self,
                            const uc_context *context)
{
    const uc_comm *comm = uc_comm_of(context);
    uint64_t *own = uc_alloc(self->count, sizeof *own);
    uc_status status = uc_comm_agree(comm, own ? UC_OK : UC_ERR_NOMEM);
    if (status != UC_OK)
        goto cleanup;
    for (size_t i = 0; i < self->count; i++)
        own[i] = key_of(self->items[i]);
    *count = sort_unique(own, self->count);
    if (!uc_is_shared(context)) {
        *keys = own;
        return UC_OK;
    }
    size_t *sizes = uc_alloc((size_t)uc_comm_size(comm), sizeof *sizes), bytes = 0;
    status = uc_comm_agree(comm, sizes ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = uc_comm_gather((void **)keys, sizes, comm, own, *count * sizeof *own);
    for (int r = 0; r < uc_comm_size(comm) && status == UC_OK; r++)
        bytes += sizes[r];
    if (status == UC_OK)
        *count = sort_unique(*keys, bytes / sizeof **keys);
    uc_free(sizes);
cleanup:
    uc_free(own);
    return status;
}

static uint32_t position_of(const uint64_t *keys, size_t count, uint64_t key)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (keys[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static uc_status number_pairs(uc_annotations *self, const uc_context *context)
{
    uint64_t *keys = NULL;
    uc_status status = find_pairs(&keys, &self->pairs, self, context);
    if (status != UC_OK)
        return status;
    self->annotator_of = uc_alloc(self->pairs, sizeof *self->annotator_of);
    self->label_of = uc_alloc(self->pairs, sizeof *self->label_of);
    if (self->annotator_of && self->label_of) {
        for (size_t p = 0; p < self->pairs; p++) {
            self->annotator_of[p] = (uint32_t)(keys[p] >> 32);
            self->label_of[p] = (uint32_t)keys[p];
        }
        for (size_t i = 0; i < self->count; i++)
            self->pair[i] = position_of(keys, self->pairs, key_of(self->items[i]));
    } else {
        status = UC_ERR_NOMEM;
    }
    uc_free(keys);
    return status;
}

uc_status uc_annotations_make(uc_annotations *out, const uc_annotation *items, size_t count, size_t rows,
                              size_t annotators, size_t K, const uc_context *context)
{
    uc_annotations self = {.rows = rows, .K = K, .annotators = annotators, .count = count};
    double totals[2] = {(double)rows, (double)count};
    uc_status status = check(items, count, &self);
    self.items = uc_alloc(count, sizeof *self.items);
    self.first = uc_alloc(rows + 1, sizeof *self.first);
    self.pair = uc_alloc(count, sizeof *self.pair);
    if (status == UC_OK && (!self.items || !self.first || !self.pair))
        status = UC_ERR_NOMEM;
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status != UC_OK)
        goto cleanup;
    sort_by_row(&self, items);
    status = uc_comm_agree(uc_comm_of(context), number_pairs(&self, context));
    if (status == UC_OK)
        status = uc_comm_sum(uc_comm_of(context), totals, 2);
    self.total_rows = totals[0];
    self.total = totals[1];
cleanup:
    if (status == UC_OK)
        *out = self;
    else
        uc_annotations_free(&self);
    return status;
}

uc_status uc_annotations_of_labels(uc_annotations *out, const uint32_t *y, size_t rows, size_t K,
                                   const uc_context *context)
{
    uc_annotation *items = uc_alloc(rows, sizeof *items);
    size_t count = 0;
    uc_status status = UC_OK;
    for (size_t i = 0; i < rows && items; i++)
        if (y[i] != UC_NONE)
            items[count++] = (uc_annotation){(uint32_t)i, 0, y[i]};
    status = uc_comm_agree(uc_comm_of(context), items ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = uc_annotations_make(out, items, count, rows, 1, K, context);
    uc_free(items);
    return status;
}

void uc_annotations_votes(double *R, const uc_annotations *self)
{
    const size_t K = self->K;
    for (size_t i = 0; i < self->rows; i++) {
        const double count = (double)(self->first[i + 1] - self->first[i]) + DOUBT;
        for (size_t z = 0; z < K; z++)
            R[i * K + z] = DOUBT / (double)K / count;
        for (size_t a = self->first[i]; a < self->first[i + 1]; a++)
            R[i * K + self->items[a].label] += 1.0 / count;
    }
}

/* ---- with weights and checked rows ---- */

uc_status uc_labelled_weigh(uc_labelled *self)
{
    const size_t rows = self->annotations->rows;
    double total = (double)rows;
    if (self->weights) {
        total = 0.0;
        for (size_t i = 0; i < rows; i++)
            total += self->weights[i];
    }
    const uc_status status = uc_comm_sum(uc_comm_of(self->context), &total, 1);
    self->total_weight = total;
    return status;
}

void uc_labelled_start(double *R, const uc_labelled *self)
{
    const size_t K = self->annotations->K;
    uc_annotations_votes(R, self->annotations);
    for (size_t i = 0; i < self->annotations->rows && self->gold; i++) {
        if (self->gold[i] == UC_NONE)
            continue;
        memset(R + i * K, 0, K * sizeof *R);
        R[i * K + self->gold[i]] = 1.0;
    }
}
