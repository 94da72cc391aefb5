/* Recomputes all targets that are guesses. */
#ifndef UC_ONEBIT_REFIT_H
#define UC_ONEBIT_REFIT_H

#include "learn/onebit/doubt.h"
#include "learn/onebit/rounds.h"
#include "learn/onebit/running_ridge.h"

/* How answers become targets. */
typedef struct uc_onebit_rule {
    double penalty; /* a class that was wrong gets the target -penalty */
    uc_doubt doubt;
} uc_onebit_rule;

/* The answer to a proposal, where the class is not known for certain. */
typedef struct uc_onebit_said {
    uint32_t proposed;
    bool right;
} uc_onebit_said;

/* The target of such a round, without the mean. With r the probability that the proposal was right (0 after
 * "wrong" unless answers are in doubt), it is r for the proposed class plus (1 - r) times what the scores say
 * of the other classes, with -penalty for the proposed class. `scores` are centred. h is the round's leverage
 * if it is in the ridge with target `before`, otherwise 0. All arrays have K entries; before may be NULL if h
 * is 0. */
void uc_onebit_target(double *target, const double *scores, size_t K, uc_onebit_said said, double h,
                      const float *before, const uc_onebit_rule *rule);
/* Solves W = A^-1 B and computes exact leverages of the rounds whose class is not known, and how much answers
 * are worth if they are in doubt. Then makes up to five passes in which all these rounds get new targets from
 * the same W, followed by W = A^-1 B.
 */
uc_status uc_onebit_refit(uc_running_ridge *ridge, uc_rounds *rounds, uc_onebit_rule *rule);

#endif
