/* Margins between classes, shared by several online learners. */
#ifndef UC_PASSIVE_AGGRESSIVE_H
#define UC_PASSIVE_AGGRESSIVE_H

#include "learn/learner.h"

/* The best-scoring class other than y, the lowest index if tied. There are at least two classes. */
uint32_t uc_best_other(const double *scores, size_t classes, uint32_t y);
/* The smallest change that gives class y a margin of 1 over every other class: spa with a hard margin, for
 * a row (or a direction) that changes scores by `xx` per unit. Adds nothing if the margin is already
 * reached. */
void uc_spa_step(uc_step *out, const double *scores, size_t classes, uint32_t y, double xx);

#endif
