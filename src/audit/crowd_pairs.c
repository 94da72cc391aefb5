/* Annotations sorted by annotator, label and row. */
#include "audit/crowd_pairs.h"

#include "data/crowd.h"

void uc_pairs_free(uc_pairs *self)
{
    uc_free(self->first);
    uc_free(self->label);
    uc_free(self->begin);
    uc_free(self->row);
    uc_free(self->of);
    *self = (uc_pairs){0};
}

/* Whether two annotations have the same annotator and label. */
static bool is_same(const uc_crowd *crowd, uint32_t a, uint32_t b)
{
    return crowd->annotator[a] == crowd->annotator[b] && crowd->label[a] == crowd->label[b];
}

static uc_status allocate(uc_pairs *self, const uc_crowd *crowd, const uint32_t *order)
{
    self->annotators = crowd->annotators.count;
    for (size_t a = 0; a < crowd->count; a++)
        self->count += a == 0 || !is_same(crowd, order[a - 1], order[a]);
    self->first = uc_alloc(self->annotators + 1, sizeof *self->first);
    self->label = uc_alloc(self->count, sizeof *self->label);
    self->begin = uc_alloc(self->count + 1, sizeof *self->begin);
    self->of = uc_alloc(crowd->count, sizeof *self->of);
    return self->first && self->label && self->begin && self->of ? UC_OK : UC_ERR_NOMEM;
}

/* `rows` has the row of each annotation. */
static void fill(uc_pairs *self, const uc_crowd *crowd, const uint32_t *order, const uint32_t *rows)
{
    size_t next = 0;
    for (size_t a = 0; a < crowd->count; a++) {
        const uint32_t annotation = order[a];
        if (a == 0 || !is_same(crowd, order[a - 1], annotation)) {
            self->begin[next] = a;
            self->label[next++] = crowd->label[annotation];
            self->first[crowd->annotator[annotation] + 1] = next;
        }
        self->of[annotation] = (uint32_t)(next - 1);
    }
    self->begin[next] = crowd->count;
    for (size_t a = 0; a < crowd->count; a++)
        self->row[a] = rows[order[a]];
}

uc_status uc_pairs_find(uc_pairs *out, const uc_crowd *crowd)
{
    const size_t keys = uc_max_size(crowd->annotators.count, crowd->classes.count);
    uc_pairs self = {0};
    uc_status status = UC_ERR_NOMEM;
    size_t *starts = uc_alloc(keys + 1, sizeof *starts);
    uint32_t *by_label = uc_alloc(crowd->count, sizeof *by_label);
    uint32_t *order = uc_alloc(crowd->count, sizeof *order);
    if (starts && by_label && order) {
        uc_sort_by_key(by_label, starts, crowd->label, crowd->classes.count, NULL, crowd->count);
        uc_sort_by_key(order, starts, crowd->annotator, crowd->annotators.count, by_label, crowd->count);
        status = allocate(&self, crowd, order);
    }
    uc_free(starts);
    if (status == UC_OK) {
        uint32_t *rows = by_label; /* by_label is no longer needed */
        for (size_t i = 0; i < crowd->rows; i++)
            for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++)
                rows[a] = (uint32_t)i;
        self.row = uc_alloc(crowd->count, sizeof *self.row);
        if (self.row)
            fill(&self, crowd, order, rows);
        else
            status = UC_ERR_NOMEM;
    }
    uc_free(by_label);
    uc_free(order);
    if (status == UC_OK)
        *out = self;
    else
        uc_pairs_free(&self);
    return status;
}

void uc_pairs_add(double *counts, const uc_pairs *self, size_t pair, const uc_posteriors *posterior,
                  size_t from, size_t width)
{
    const double *slab = posterior->values + uc_posterior_at(posterior, 0, from);
    const size_t stride = uc_posterior_at(posterior, 1, from) - uc_posterior_at(posterior, 0, from);
    for (size_t a = self->begin[pair]; a < self->begin[pair + 1]; a++) {
        const double *row = slab + self->row[a] * stride;
        for (size_t k = 0; k < width; k++)
            counts[k] += row[k];
    }
}
