/*
 * An exploration floor for any learner: with probability e a class is drawn evenly instead of the one that
 * the learner proposed, so that every class has a probability of at least e/K.
 *
 *   P(k) = e/K + (1 - e) L(k)      L(k) the learner's own probability to propose k, K classes
 */
#include <assert.h>

#include "learn/explore.h"
#include "train/online.h"

#define EXPLORE_SEQUENCE UINT64_C(0x6f6e6c6e6578706c) /* random numbers: "onlnexpl" */
#define DRAWN_WORDS 8                                 /* drawn per round at most */

/* L(class), whether or not the learner proposed this class. */
static double own_probability(const uc_online *self, const uc_proposal *proposal, uint32_t class)
{
    if (class == proposal->label)
        return proposal->probability;
    if (!self->learner->explore)
        return 0.0;
    return uc_explore_probability(self->learner->explore(self->settings), class, proposal->favourite,
                                  self->classes.count);
}

void uc_online_explore_drawn(uc_proposal *proposal, const uc_online *self, double share, uc_rng *rng)
{
    const size_t K = self->classes.count;
    uint32_t class = proposal->label;
    assert(share >= 0.0 && share <= 1.0);
    if (share == 0.0 || K == 0)
        return;
    if (uc_rng_uniform(rng) < share)
        class = (uint32_t)uc_rng_below(rng, K);
    proposal->probability = share / (double)K + (1.0 - share) * own_probability(self, proposal, class);
    proposal->label = class;
}

void uc_online_explore(uc_proposal *proposal, const uc_online *self, double share)
{
    if (share == 0.0)
        return;
    uc_rng rng = uc_rng_resume(self->train.seed, EXPLORE_SEQUENCE, DRAWN_WORDS * self->proposals);
    uc_online_explore_drawn(proposal, self, share, &rng);
}
