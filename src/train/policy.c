/*
 * The rules for replacing the learner's own proposal and for translating answers, shared by a session, a
 * service and a program with its own events.
 *
 *   proposal   with `apprentice` and a baseline: the baseline, with certainty; otherwise the learner's own,
 *              or a class drawn evenly (online_explore.c)
 *   answer     the label for a learner that needs labels, right or wrong for the others
 *   expiry     nothing, or "wrong"
 */
#include <assert.h>

#include "train/online.h"
#include "unconfuse/session.h"

void uc_policy_propose(uc_proposal *proposal, uc_event_counts *counts, const uc_policy *self,
                       const uc_online *online, uint32_t baseline, uc_rng *rng)
{
    const bool compared = baseline != UC_NONE;
    assert(!compared || baseline < online->classes.count);
    counts->proposals++;
    counts->compared += compared;
    counts->agreed += compared && baseline == proposal->label;
    if (self->apprentice && compared) {
        proposal->label = baseline;
        proposal->probability = 1.0;
    } else if (rng) {
        uc_online_explore_drawn(proposal, online, self->explore, rng);
    } else {
        uc_online_explore(proposal, online, self->explore);
    }
}

bool uc_policy_answer(uc_answer *out, const uc_online *online, const uc_proposal *proposal, bool right,
                      uint32_t label)
{
    const uc_learner *learner = online->learner;
    if (uc_learner_accepts(learner, UC_FEEDBACK_PARTIAL) &&
        (label == UC_NONE || !uc_learner_accepts(learner, UC_FEEDBACK_FULL))) {
        *out = (uc_answer){right ? UC_ANSWER_RIGHT : UC_ANSWER_WRONG, UC_NONE};
        return true;
    }
    if (label == UC_NONE && right)
        label = proposal->label;
    *out = (uc_answer){UC_ANSWER_LABEL, label};
    return label != UC_NONE;
}

bool uc_policy_expire(uc_answer *out, uc_event_counts *counts, const uc_policy *self, const uc_online *online,
                      const uc_proposal *proposal)
{
    counts->expired++;
    return self->expired_is_wrong && uc_policy_answer(out, online, proposal, false, UC_NONE);
}
