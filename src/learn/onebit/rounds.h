/* The last rounds as dense arrays: rows, their features, what was answered, and the targets made of it. */
#ifndef UC_ONEBIT_ROUNDS_H
#define UC_ONEBIT_ROUNDS_H

#include "learn/onebit/answer.h"
#include "learn/state.h"

typedef struct uc_rounds {
    size_t capacity, first, count; /* a ring; `first` is 0 until it has its final size */
    size_t columns, features, classes;
    float *rows;     /* capacity x columns */
    float *phi;      /* capacity x features; not saved */
    float *targets;  /* capacity x classes, without the mean; of a known class: not used */
    float *leverage; /* of the round in the ridge */
    float *weight;   /* of the example */
    uint32_t
        *answer; /* 2 class + 1 where the class is known, else 2 class, plus 2^31 for a doubtful "right" */
} uc_rounds;     /* zero-initialised: empty */

typedef struct uc_past_round {
    float *row, *phi, *target, *leverage;
    double weight;
    uint32_t class; /* the true one where it is known, else the one that was proposed */
    bool known;
    bool right; /* answered so, whether it is known or doubtful */
} uc_past_round;

/* Bytes of a round. */
double uc_rounds_bytes(size_t columns, size_t features, size_t classes);
/* Other widths; rounds keep what they have. Features are kept only when their number stays. */
uc_status uc_rounds_reshape(uc_rounds *self, size_t columns, size_t features, size_t classes);
/* Room for one more of at most `limit`. */
uc_status uc_rounds_reserve(uc_rounds *self, size_t limit);
/* The next round, in the place of the oldest when there are `limit`; its arrays are the caller's to fill. */
uc_past_round uc_rounds_add(uc_rounds *self, const uc_onebit_answer *answer, size_t limit);
/* Round i of count, the oldest first. */
uc_past_round uc_rounds_at(const uc_rounds *self, size_t i);
/* The weight of round i times a factor. */
void uc_rounds_weigh(uc_rounds *self, size_t i, double factor);
/* All but the last `kept` rounds are dropped. */
void uc_rounds_forget(uc_rounds *self, size_t kept);
void uc_rounds_free(uc_rounds *self);
/* All but the features; the widths are there when it is read. */
uc_status uc_rounds_remember(uc_rounds *self, uc_state *state, size_t limit);

#endif
