/* All targets that are guessed, made anew. */
#ifndef UC_ONEBIT_REFIT_H
#define UC_ONEBIT_REFIT_H

#include "learn/onebit/rounds.h"
#include "learn/onebit/running_ridge.h"

/* The target of a round that was wrong about class p, without the mean: what the scores say of the other
 * classes, and -penalty for p. `scores`: centred; h: the round's leverage if it is in the ridge with target
 * `before`, else 0. K of each; before may be NULL when h is 0. */
void uc_onebit_target(double *target, const double *scores, size_t K, uint32_t p, double h,
                      const float *before, double penalty);
/* W = A^-1 B, exact leverages of the wrong rounds, then up to five passes in which all of them get new
 * targets from the same W, and W = A^-1 B. */
uc_status uc_onebit_refit(uc_running_ridge *ridge, uc_rounds *rounds, double penalty);

#endif
