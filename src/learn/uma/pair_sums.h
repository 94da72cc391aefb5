/* The sums that uma works on: a pair for every predicted class p and label k has the sum S[p][k] of its
 * examples and their number N[p][k], those of all processes. Both count an example by its weight. */
#ifndef UC_PAIR_SUMS_H
#define UC_PAIR_SUMS_H

#include "parallel/parallel.h"
#include "unconfuse/dataset.h"

#define UC_PAIR_SUMS_ROWS ((size_t)1024) /* of a block of `moved` */

typedef struct uc_pair_sums {
    const uc_matrix *X;
    const uint32_t *y;
    const double *weights; /* of the rows; NULL: all are 1 */
    size_t n, d, Q;        /* rows of this process, columns, classes */
    const uc_context *context;
    double **S;     /* Q x Q sums of d numbers, NULL while nothing is in it */
    double *N;      /* Q x Q */
    uint64_t *rows; /* Q x Q: how many examples are in it */
    size_t sums;    /* of S that are not NULL */
    bool *stale;    /* Q: whether sums of this p have changed; the user takes it back */

    size_t *moved;      /* n: the rows of each block whose prediction changed, filled in by the user */
    size_t *moved_in;   /* how many they are, a block */
    size_t *entry;      /* 2n: rows in the order of the pair that they leave or enter */
    size_t *pair_start; /* Q x Q + 1 */
    double **target;    /* Q x Q: what the entries of each pair are added to */
} uc_pair_sums;

/* X, y, n, d, Q and context are there; what was allocated is freed with uc_pair_sums_free, also after a
 * failure. */
uc_status uc_pair_sums_allocate(uc_pair_sums *self);
void uc_pair_sums_free(uc_pair_sums *self);
/* The rows in `moved` leave the pair of their prediction before, and enter that of the one after; UC_NONE: no
 * pair. */
uc_status uc_pair_sums_move(uc_pair_sums *self, const uint32_t *before, const uint32_t *after);
/* N alone, for these predictions; S is of no use any more. */
uc_status uc_pair_sums_count(uc_pair_sums *self, const uint32_t *predicted);

#endif
