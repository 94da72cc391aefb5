/* Feedback that is on its way: rounds that wait for theirs, in the order of its arrival. */
#ifndef UC_LATE_H
#define UC_LATE_H

#include "train/row_copy.h"
#include "unconfuse/train.h"

typedef struct uc_late_round {
    uint64_t due; /* the round after whose proposal the feedback arrives, or is given up */
    uc_proposal proposal;
    uint32_t label;
    bool right, told; /* what the answer says; whether it is the label */
    bool expired;     /* there is none */
    double weight;
    uc_row_copy row; /* as the weights saw it when it was proposed for */
} uc_late_round;

typedef struct uc_late {
    uc_late_round *ring;
    size_t capacity, first, count;
} uc_late; /* zero-initialised is empty and may be freed */

/* How much room the ring will have once one more round waits. */
size_t uc_late_capacity_for_one_more(const uc_late *self);
/* The new round, which the caller fills in; *out is valid until the next call. */
uc_status uc_late_add(uc_late_round **out, uc_late *self);
const uc_late_round *uc_late_first(const uc_late *self); /* NULL: nothing waits */
void uc_late_remove_first(uc_late *self);
void uc_late_free(uc_late *self);

#endif
