/* The sums that uma uses. The pair of a predicted class p and a label k has the sum S[p][k] of its examples
 * and their number N[p][k], over all processes. Both count each example by its weight.
 *
 * With many classes and columns nearly all numbers of S are 0, and it would be much larger than the data.
 * Then it is not kept: what is asked of it is computed from the rows. */
#ifndef UC_PAIR_SUMS_H
#define UC_PAIR_SUMS_H

#include "parallel/parallel.h"
#include "unconfuse/dataset.h"

#define UC_PAIR_SUMS_ROWS ((size_t)1024) /* per block of `moved` */

typedef struct uc_pair_sums {
    const uc_matrix *X;
    const uint32_t *y;
    const double *weights; /* of the rows; NULL: all are 1 */
    size_t n, d, Q;        /* rows of this process, columns, classes */
    const uc_context *context;
    bool from_rows; /* S is not kept; set before, by uc_pair_sums_may_use_rows */
    double **S;     /* Q x Q sums of d numbers, NULL while a pair is empty; NULL: not kept */
    double *N;      /* Q x Q */
    uint64_t *rows; /* Q x Q: number of examples in the pair */
    size_t sums;    /* number of sums in S that are not NULL */
    bool *stale;    /* Q: whether sums of this p have changed; the user resets it */

    size_t *moved;      /* n: for each block, the rows whose prediction changed; set by the user */
    size_t *moved_in;   /* number of these, per block */
    size_t *entry;      /* 2n: rows in the order of the pairs that they leave or enter */
    size_t *pair_start; /* Q x Q + 1 */
    double **target;    /* Q x Q: where the entries of each pair are added */

    /* if S is not kept: */
    const uint32_t *predicted; /* n: the last predictions */
    double *B_turned;          /* Q x Q: the transposed inverse of the noise */
} uc_pair_sums;

/* Whether to compute from the rows: a single process, sparse rows, and S would have more than four times as
 * many numbers per prediction as the data. */
bool uc_pair_sums_may_use_rows(const uc_pair_sums *self);
/* X, y, n, d, Q, context and from_rows are set before. Freed with uc_pair_sums_free, also after a failure. */
uc_status uc_pair_sums_allocate(uc_pair_sums *self);
void uc_pair_sums_free(uc_pair_sums *self);
/* The rows in `moved` leave the pair of their prediction before and enter that of their prediction after;
 * UC_NONE means no pair. */
uc_status uc_pair_sums_move(uc_pair_sums *self, const uint32_t *before, const uint32_t *after);
/* B, Q x Q, is the inverse of the noise that is asked for below. */
void uc_pair_sums_set_inverse(uc_pair_sums *self, const double *B);
/* squares[q] = || sum_k B[q][k] S[p][k] ||^2, for all q. */
uc_status uc_pair_sums_squares(double *squares, const uc_pair_sums *self, const double *B, size_t p);
/* out = sum_k b[k] S[p][k] / divisor, d numbers. */
void uc_pair_sums_combine(double *out, const uc_pair_sums *self, const double *b, double divisor, size_t p);
/* Counts only N for these predictions; S becomes invalid. */
uc_status uc_pair_sums_count(uc_pair_sums *self, const uint32_t *predicted);

#endif
