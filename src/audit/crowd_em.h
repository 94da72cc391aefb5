/* The parts of finding a consensus. */
#ifndef UC_AUDIT_CROWD_EM_H
#define UC_AUDIT_CROWD_EM_H

#include "audit/crowd_pairs.h"

#define UC_SLAB_CLASSES ((size_t)16) /* classes per slab */

/* A posterior for these rows and classes, in slabs; its values are not set. */
uc_status uc_posterior_create(uc_posteriors *out, size_t rows, size_t classes, size_t width);

/* The classes from .. from + *width - 1 of a row, which belong to one slab; `from` is the first class of a
 * slab. */
static inline double *uc_posterior_slab(const uc_posteriors *self, size_t row, size_t from, size_t *width)
{
    *width = uc_min_size(self->width, self->classes - from);
    return self->values + from * self->rows + row * *width;
}

/* Sets each row to its gold class if it has one, otherwise to its posterior in `start` if it has one there,
 * otherwise to the shares of its votes (crowd_em.c). */
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
