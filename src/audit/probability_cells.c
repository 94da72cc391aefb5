/*
 * Counts of labels by true class, N[z][l], where they are not 0: a row labelled l can only add to the classes
 * that were kept for it. With many classes, most cells of the K x K matrix belong to no row and are not
 * stored. Memory grows with rows x classes kept, not with K^2.
 */
#include <string.h>

#include "audit/probability_rows.h"

#define BITS 64

void uc_probability_cells_free(uc_probability_cells *self)
{
    uc_free(self->begin);
    uc_free(self->truth);
    uc_free(self->count);
    uc_free(self->totals);
    *self = (uc_probability_cells){0};
}

typedef struct listing {
    uc_probability_cells *cells;
    const uc_label_groups *groups;
    const uc_probability_rows *rows;
    const uint32_t *gold;
    uint32_t *place; /* rows x kept; NULL: only count the cells */
} listing;

static void mark(uint64_t *marks, uint32_t z)
{
    marks[z / BITS] |= UINT64_C(1) << (z % BITS);
}

/* The possible true classes of the rows of group l, as a set. */
static void mark_classes(uint64_t *marks, const listing *self, size_t l)
{
    const size_t kept = self->rows->kept;
    for (size_t r = self->groups->begin[l]; r < self->groups->begin[l + 1]; r++) {
        const size_t i = self->groups->order[r];
        for (size_t e = i * kept; e < (i + 1) * kept; e++)
            mark(marks, self->rows->class[e]);
        if (self->gold && self->gold[i] != UC_NONE)
            mark(marks, self->gold[i]);
    }
}

/* Counts the cells of group l or, if `place` is set, lists them and the cell of each entry of its rows. */
static uc_status list_group(size_t l, void *user)
{
    const listing *self = user;
    const size_t K = self->rows->K, kept = self->rows->kept, words = (K + BITS - 1) / BITS;
    uint64_t *marks = uc_alloc(words, sizeof *marks);
    uint32_t *position = uc_alloc(self->place ? K : 0, sizeof *position);
    uc_status status = marks && position ? UC_OK : UC_ERR_NOMEM;
    size_t count = 0;
    if (status != UC_OK)
        goto cleanup;
    mark_classes(marks, self, l);
    for (size_t w = 0; w < words; w++)
        for (uint64_t left = marks[w]; left; left &= left - 1) {
            const uint32_t z = (uint32_t)(w * BITS + (size_t)__builtin_ctzll(left));
            if (self->place) {
                self->cells->truth[self->cells->begin[l] + count] = z;
                position[z] = (uint32_t)count;
            }
            count++;
        }
    if (!self->place) {
        self->cells->begin[l + 1] = count;
        goto cleanup;
    }
    for (size_t r = self->groups->begin[l]; r < self->groups->begin[l + 1]; r++) {
        const size_t first = self->groups->order[r] * kept;
        for (size_t e = first; e < first + kept; e++)
            self->place[e] = position[self->rows->class[e]];
    }
cleanup:
    uc_free(marks);
    uc_free(position);
    return status;
}

uc_status uc_probability_cells_list(uc_probability_cells *out, uint32_t **place,
                                    const uc_label_groups *groups, const uc_probability_rows *rows,
                                    const uint32_t *gold, const uc_context *context)
{
    const size_t K = rows->K;
    uc_probability_cells self = {.K = K, .begin = uc_alloc(K + 2, sizeof *self.begin)};
    listing job = {&self, groups, rows, gold, NULL};
    uc_status status = self.begin ? uc_run_blocks(context, K + 1, list_group, &job) : UC_ERR_NOMEM;
    if (status != UC_OK)
        goto cleanup;
    for (size_t l = 0; l <= K; l++)
        self.begin[l + 1] += self.begin[l];
    self.truth = uc_alloc(self.begin[K + 1], sizeof *self.truth);
    self.count = uc_alloc(self.begin[K + 1], sizeof *self.count);
    self.totals = uc_alloc(K, sizeof *self.totals);
    job.place = uc_alloc(rows->rows * rows->kept, sizeof *job.place);
    status = self.truth && self.count && self.totals && job.place ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_run_blocks(context, K + 1, list_group, &job);
cleanup:
    if (status == UC_OK) {
        *out = self;
        *place = job.place;
    } else {
        uc_probability_cells_free(&self);
        uc_free(job.place);
    }
    return status;
}

void uc_probability_cells_add_up(uc_probability_cells *self, double background)
{
    for (size_t z = 0; z < self->K; z++)
        self->totals[z] = background;
    for (size_t c = 0; c < self->begin[self->K]; c++)
        self->totals[self->truth[c]] += self->count[c];
}

uc_status uc_probability_audit_noise(uc_noise *out, const uc_probability_audit *self)
{
    const uc_probability_cells *cells = &self->cells;
    const size_t K = self->K;
    uc_noise noise = {.classes = K, .values = uc_alloc(K * K, sizeof *noise.values)};
    uc_status status = noise.values ? uc_names_copy(&noise.names, &self->classes) : UC_ERR_NOMEM;
    if (status != UC_OK) {
        uc_noise_free(&noise);
        return status;
    }
    for (size_t l = 0; l < K; l++) {
        double *row = noise.values + l * K;
        for (size_t c = cells->begin[l]; c < cells->begin[l + 1]; c++)
            row[cells->truth[c]] = cells->count[c];
        for (size_t z = 0; z < K; z++)
            row[z] = uc_probability_share(row[z], z == l, K, cells->totals[z]);
    }
    *out = noise;
    return UC_OK;
}
