/* Random orders of rows, a new one for each pass. */
#ifndef UC_ORDER_H
#define UC_ORDER_H

#include "base/base.h"
#include "unconfuse/random.h"

/* The random-number sequence for the orders of a shuffled stream (spelled "cli-orde" since the command line
 * used it first). */
#define UC_SEQUENCE_ORDER UINT64_C(0x636c692d6f726465)

typedef struct uc_order {
    uc_rng rng;
    size_t *rows; /* the current order; at first that of the data */
    size_t count;
} uc_order; /* zero-initialised is empty and may be freed */

uc_status uc_order_begin(uc_order *out, size_t count, uint64_t seed, uint64_t sequence);
/* The order for the next pass: shuffles the previous order. */
void uc_order_next(uc_order *self);
void uc_order_free(uc_order *self);

#endif
