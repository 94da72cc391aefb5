/* Parts of finding a consensus. */
#ifndef UC_AUDIT_CROWD_EM_H
#define UC_AUDIT_CROWD_EM_H

#include "audit/crowd_pairs.h"

#define UC_SLAB_CLASSES ((size_t)16) /* classes of a slab */

/* A posterior without values for these rows and classes, in slabs. */
uc_status uc_posterior_create(uc_posteriors *out, size_t rows, size_t classes, size_t width);

/* The classes from .. from + *width - 1 of a row, which are one slab's; `from` is where a slab begins. */
static inline double *uc_posterior_slab(const uc_posteriors *self, size_t row, size_t from, size_t *width)
{
    *width = uc_min_size(self->width, self->classes - from);
    return self->values + from * self->rows + row * *width;
}

/* The votes of each row, as shares, or where it has a gold class that one; for rows that `start` has, those
 * (crowd_em.c). */
void uc_posterior_start(uc_posteriors *self, const uc_crowd *crowd, const uint32_t *gold,
                        const uc_posteriors *start);

/* Fills in out->posterior, which holds the start, and out->prior (crowd_em.c). */
uc_status uc_consensus_iterate(uc_consensus *out, const uc_crowd *crowd, const uc_pairs *pairs,
                               const uint32_t *gold, const uc_consensus_settings *settings,
                               const uc_context *context);

/* Fills in out->annotators and out->pooled from the posterior and the prior (annotators.c). */
uc_status uc_consensus_describe(uc_consensus *out, const uc_crowd *crowd, const uc_pairs *pairs,
                                const uc_context *context);

static inline uint32_t uc_gold_of(const uint32_t *gold, size_t row)
{
    return gold ? gold[row] : UC_NONE;
}

static inline bool uc_is_annotated(const uc_crowd *crowd, size_t row)
{
    return crowd->first[row + 1] > crowd->first[row];
}

#endif
