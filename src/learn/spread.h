/* The step of cspa-plus, which onebit uses on sparse rows, too. */
#ifndef UC_SPREAD_H
#define UC_SPREAD_H

#include "learn/learner.h"

typedef struct uc_spread_rule {
    double beta;   /* share of the margin that a wrong proposal loses */
    double spread; /* rho: how much more the other classes gain the higher they score */
} uc_spread_rule;

/* After "right" the step of spa. After "wrong" about p: p loses, all other classes gain by their softmax; a
 * round that is replayed acts only while p still scores best. `xx`: by how much a unit along the direction
 * moves the scores. */
void uc_spread_step(uc_step *out, const double *scores, size_t classes, uint32_t p, bool right, bool replayed,
                    double xx, const uc_spread_rule *rule);

#endif
