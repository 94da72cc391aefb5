/* Margins between classes, which several online learners share. */
#ifndef UC_PASSIVE_AGGRESSIVE_H
#define UC_PASSIVE_AGGRESSIVE_H

#include "learn/learner.h"

/* The best-scoring class but y, the lowest index among equals. At least two classes. */
uint32_t uc_best_other(const double *scores, size_t classes, uint32_t y);
/* The smallest change that gives class y a margin of 1 over every other: spa with a hard margin, for a row
 * (or a direction) along which scores grow by `xx` a unit. Adds nothing when the margin is there. */
void uc_spa_step(uc_step *out, const double *scores, size_t classes, uint32_t y, double xx);

#endif
