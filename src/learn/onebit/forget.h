/* How fast rounds are forgotten where meanings change slowly, and whether all before a change are. */
#ifndef UC_ONEBIT_FORGET_H
#define UC_ONEBIT_FORGET_H

#include "learn/onebit/choice.h"

#define UC_FORGET_EVERY 4096  /* rounds from one choice to the next */
#define UC_FORGET_FEWEST 2000 /* rounds kept, for a choice */
#define UC_FORGET_RATES 3

/* Round t has the weight of its example times exp(rate (t - base)). */
typedef struct uc_forget {
    uint64_t number; /* of the rate; 0: nothing is forgotten */
    uint64_t base;   /* age at the last choice */
} uc_forget;         /* zero-initialised: nothing is forgotten */

/* What the weight of the round of this age is multiplied by. */
double uc_forget_factor(const uc_forget *self, uint64_t age);
/* The rate whose closed-form leave-one-out squared error of the last 1,000 rounds is smallest, by at least a
 * fiftieth where something is forgotten; on at most 128 landmarks of the map, whose features the rounds have,
 * with the targets as they are. `now`: as the rounds are weighed; age: of the next round. */
uc_status uc_forget_choose(uint64_t *number, const uc_forget *now, uint64_t age, const uc_rounds *rounds,
                           const uc_map *map, const uc_onebit_choice *choice);
/* *better: the closed-form leave-one-out squared error of the last rounds is smaller without those before
 * them, or there are none before them. */
uc_status uc_forget_judge_restart(bool *better, size_t last, const uc_forget *now, uint64_t age,
                                  const uc_rounds *rounds, const uc_map *map, const uc_onebit_choice *choice);
/* The rounds kept are weighed by another rate from now on. */
void uc_forget_reweigh(uc_forget *self, uint64_t number, uint64_t age, uc_rounds *rounds);
uc_status uc_forget_remember(uc_forget *self, uc_state *state, uint64_t age);

#endif
