/* Annotations by annotator. A pair is an annotator and a label that this annotator has used: the pairs are
 * the sparse columns of all annotators' matrices. */
#ifndef UC_AUDIT_CROWD_PAIRS_H
#define UC_AUDIT_CROWD_PAIRS_H

#include "parallel/parallel.h"
#include "unconfuse/crowd.h"

typedef struct uc_pairs {
    size_t count; /* number of pairs */
    size_t annotators;
    size_t *first;   /* annotators + 1: pairs first[j] .. first[j + 1] - 1 are annotator j's, labels ascend */
    uint32_t *label; /* of each pair */
    size_t *begin;   /* count + 1: rows of pair p are row[begin[p]] .. row[begin[p + 1] - 1], ascending */
    uint32_t *row;
    uint32_t *of; /* the pair of each annotation, in the order of uc_crowd */
} uc_pairs;       /* zero-initialised may be freed */

uc_status uc_pairs_find(uc_pairs *out, const uc_crowd *crowd);
void uc_pairs_free(uc_pairs *self);

/* counts[k] += the posteriors of class from + k, k < width, over the rows of pair p. All of these classes
 * must be in one slab. */
void uc_pairs_add(double *counts, const uc_pairs *self, size_t pair, const uc_posteriors *posterior,
                  size_t from, size_t width);

/* The same for all classes. */
static inline void uc_pairs_count(double *counts, const uc_pairs *self, size_t pair,
                                  const uc_posteriors *posterior)
{
    const size_t K = posterior->classes;
    for (size_t from = 0; from < K; from += posterior->width)
        uc_pairs_add(counts + from, self, pair, posterior, from, uc_min_size(posterior->width, K - from));
}

/* How many labels an annotator has given. */
static inline size_t uc_pairs_labels(const uc_pairs *self, size_t annotator)
{
    return self->begin[self->first[annotator + 1]] - self->begin[self->first[annotator]];
}

#endif
