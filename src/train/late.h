/* Delayed feedback: the rounds that wait for it, in the order in which it arrives. */
#ifndef UC_LATE_H
#define UC_LATE_H

#include "train/row_copy.h"
#include "unconfuse/train.h"

typedef struct uc_late_round {
    uint64_t due; /* after the proposal of this round, the feedback arrives or expires */
    uc_proposal proposal;
    uint32_t label;
    bool right, told; /* `right` is what the answer says; told: the answer includes the label */
    bool expired;     /* no feedback will come */
    double weight;
    uc_row_copy row; /* the row as it was preprocessed for the proposal */
} uc_late_round;

typedef struct uc_late {
    uc_late_round *ring;
    size_t capacity, first, count;
} uc_late; /* zero-initialised is empty and may be freed */

/* The capacity that the ring will have once one more round waits. */
size_t uc_late_capacity_for_one_more(const uc_late *self);
/* Adds a round, which the caller fills in; *out is valid until the next call. */
uc_status uc_late_add(uc_late_round **out, uc_late *self);
const uc_late_round *uc_late_first(const uc_late *self); /* NULL: no round waits */
void uc_late_remove_first(uc_late *self);
void uc_late_free(uc_late *self);

#endif
