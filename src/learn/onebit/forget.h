/* How fast rounds are forgotten if meanings drift, and whether to forget all rounds before a change. */
#ifndef UC_ONEBIT_FORGET_H
#define UC_ONEBIT_FORGET_H

#include "learn/onebit/choice.h"

#define UC_FORGET_EVERY 4096  /* rounds between two choices */
#define UC_FORGET_FEWEST 2000 /* minimum number of rounds kept, for a choice */
#define UC_FORGET_RATES 3

/* Round t has the weight of its example times exp(rate (t - base)). */
typedef struct uc_forget {
    uint64_t number; /* of the rate among those to choose from; 0: nothing is forgotten */
    uint64_t base;   /* age at the last choice */
} uc_forget;         /* zero-initialised: nothing is forgotten */

/* The factor for the weight of the round at this age. */
double uc_forget_factor(const uc_forget *self, uint64_t age);
/* The rate with the smallest closed-form leave-one-out squared error on the last 1,000 rounds; a rate above 0
 * must reduce the error by at least 2%. Uses at most 128 landmarks of the map, whose features the rounds must
 * have, and the current targets. `now` is how the rounds are weighted at present; `age` is that of the next
 * round. */
uc_status uc_forget_choose(uint64_t *number, const uc_forget *now, uint64_t age, const uc_rounds *rounds,
                           const uc_map *map, const uc_onebit_choice *choice);
/* *better becomes true if the closed-form leave-one-out squared error of the last rounds is smaller without
 * the rounds before them, or if there are no rounds before them. */
uc_status uc_forget_judge_restart(bool *better, size_t last, const uc_forget *now, uint64_t age,
                                  const uc_rounds *rounds, const uc_map *map, const uc_onebit_choice *choice);
/* Weights the rounds kept by another rate from now on. */
void uc_forget_reweigh(uc_forget *self, uint64_t number, uint64_t age, uc_rounds *rounds);
uc_status uc_forget_remember(uc_forget *self, uc_state *state, uint64_t age);

#endif
