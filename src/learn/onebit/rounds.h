/* The last rounds as dense arrays: rows, their features, the answers, and the targets derived from them. */
#ifndef UC_ONEBIT_ROUNDS_H
#define UC_ONEBIT_ROUNDS_H

#include "learn/onebit/answer.h"
#include "learn/state.h"

typedef struct uc_rounds {
    size_t capacity, first, count; /* a ring; `first` is 0 until it has its final size */
    size_t columns, features, classes;
    float *rows;     /* capacity x columns */
    float *phi;      /* capacity x features; not saved */
    float *targets;  /* capacity x classes, without the mean; not used if the class is known */
    float *leverage; /* of the round within the ridge */
    float *weight;   /* of the example */
    uint32_t
        *answer; /* 2 class + 1 where the class is known, else 2 class, plus 2^31 for a doubtful "right" */
} uc_rounds;     /* zero-initialised: empty */

typedef struct uc_past_round {
    float *row, *phi, *target, *leverage;
    double weight;
    uint32_t class; /* the true class if it is known, otherwise the proposed one */
    bool known;
    bool right; /* the answer was "right", whether certain or in doubt */
} uc_past_round;

/* Bytes per round. */
double uc_rounds_bytes(size_t columns, size_t features, size_t classes);
/* Changes the widths; rounds keep their content. Features are kept only if their number stays the same. */
uc_status uc_rounds_reshape(uc_rounds *self, size_t columns, size_t features, size_t classes);
/* Makes room for one more round, up to `limit`. */
uc_status uc_rounds_reserve(uc_rounds *self, size_t limit);
/* Adds a round, in place of the oldest if there are `limit`; the caller fills in its arrays. */
uc_past_round uc_rounds_add(uc_rounds *self, const uc_onebit_answer *answer, size_t limit);
/* Round i of count, counted from the oldest. */
uc_past_round uc_rounds_at(const uc_rounds *self, size_t i);
/* Multiplies the weight of round i by a factor. */
void uc_rounds_weigh(uc_rounds *self, size_t i, double factor);
/* Drops all but the last `kept` rounds. */
void uc_rounds_forget(uc_rounds *self, size_t kept);
void uc_rounds_free(uc_rounds *self);
/* Saves or reads everything except the features; the widths must be set before reading. */
uc_status uc_rounds_remember(uc_rounds *self, uc_state *state, size_t limit);

#endif
