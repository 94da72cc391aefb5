/* The step of cspa-plus, which onebit also uses on sparse rows. */
#ifndef UC_SPREAD_H
#define UC_SPREAD_H

#include "learn/learner.h"

typedef struct uc_spread_rule {
    double beta;   /* share of the margin that a wrong proposal loses */
    double spread; /* rho: how strongly the other classes' gains depend on their scores */
} uc_spread_rule;

/* After "right", the step of spa. After "wrong" about p, p loses and all other classes gain by their softmax;
 * a replayed round has an effect only while p still scores best. `xx` is the change of the scores per unit
 * along the direction. */
void uc_spread_step(uc_step *out, const double *scores, size_t classes, uint32_t p, bool right, bool replayed,
                    double xx, const uc_spread_rule *rule);

#endif
