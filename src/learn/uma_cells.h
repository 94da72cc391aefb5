/* The sums that uma works on: a cell for every predicted class p and label k has the sum S[p][k] of its examples and their
 * number N[p][k], those of all processes. */
#ifndef UC_UMA_CELLS_H
#define UC_UMA_CELLS_H

#include "parallel/parallel.h"
#include "unconfuse/dataset.h"

#define UC_CELL_ROWS ((size_t)1024) /* of a block of `moved` */

typedef struct uc_cells {
    const uc_matrix *X;
    const uint32_t *y;
    size_t n, d, Q; /* rows of this process, columns, classes */
    const uc_context *context;
    double **S;  /* Q x Q sums of d numbers, NULL while nothing is in it */
    uint64_t *N; /* Q x Q */
    size_t sums; /* of S that are not NULL */
    bool *stale; /* Q: whether sums of this p have changed; the user takes it back */

    size_t *moved;      /* n: the rows of each block whose prediction changed, filled in by the user */
    size_t *moved_in;   /* how many they are, a block */
    size_t *entry;      /* 2n: rows in the order of the cell that they leave or enter */
    size_t *cell_start; /* Q x Q + 1 */
    double **target;    /* Q x Q: what the entries of each cell are added to */
} uc_cells;

/* X, y, n, d, Q and context are there; what was allocated is freed with uc_cells_free, also after a failure. */
uc_status uc_cells_allocate(uc_cells *self);
void uc_cells_free(uc_cells *self);
/* The rows in `moved` leave the cell of their prediction before, and enter that of the one after; UC_NONE: no cell. */
uc_status uc_cells_move(uc_cells *self, const uint32_t *before, const uint32_t *after);
/* N alone, for these predictions; S is of no use any more. */
uc_status uc_cells_count(uc_cells *self, const uint32_t *predicted);

#endif
