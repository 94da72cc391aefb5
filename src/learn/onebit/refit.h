/* All targets that are guessed, made anew. */
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

/* What was answered about a proposal, where the class is not known for certain. */
typedef struct uc_onebit_said {
    uint32_t proposed;
    bool right;
} uc_onebit_said;

/* The target of such a round, without the mean: r times the class proposed, and (1 - r) times what the
 * scores say of the other classes, with -penalty for the one proposed; r the probability that it was right,
 * which is 0 after "wrong" unless answers are in doubt. `scores`: centred; h: the round's leverage if it is
 * in the ridge with target `before`, else 0. K of each; before may be NULL when h is 0. */
void uc_onebit_target(double *target, const double *scores, size_t K, uc_onebit_said said, double h,
                      const float *before, const uc_onebit_rule *rule);
/* W = A^-1 B and exact leverages of the rounds whose class is not known; what answers are worth, where they
 * are in doubt; then up to five passes in which all of them get new targets from the same W, and W = A^-1 B.
 */
uc_status uc_onebit_refit(uc_running_ridge *ridge, uc_rounds *rounds, uc_onebit_rule *rule);

#endif
