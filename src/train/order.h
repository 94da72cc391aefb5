/* Random orders of rows, a new one for each pass. */
#ifndef UC_ORDER_H
#define UC_ORDER_H

#include "base/base.h"
#include "unconfuse/random.h"

/* The orders of a shuffled stream come from this sequence of random numbers ("cli-orde": the command line had
 * it first). */
#define UC_SEQUENCE_ORDER UINT64_C(0x636c692d6f726465)

typedef struct uc_order {
    uc_rng rng;
    size_t *rows; /* the present order; at first that of the data */
    size_t count;
} uc_order; /* zero-initialised is empty and may be freed */

uc_status uc_order_begin(uc_order *out, size_t count, uint64_t seed, uint64_t sequence);
/* The next pass: shuffles the last order. */
void uc_order_next(uc_order *self);
void uc_order_free(uc_order *self);

#endif
