/* Counts of what happened in a session: the labels, how many examples of each got the right proposal, the
 * proposals of each class, and the share of right proposals along the way. */
#ifndef UC_TALLY_H
#define UC_TALLY_H

#include "base/base.h"
#include "unconfuse/session.h"

typedef struct uc_label_tally {
    uint32_t class; /* its position among the learner's; UC_NONE: the learner does not know it */
    uint64_t examples, correct;
} uc_label_tally;

typedef struct uc_tally {
    uint64_t rounds, correct;
    uc_names labels;    /* in order of first appearance */
    uc_label_tally *of; /* one entry per label */
    size_t capacity;
    uint64_t *proposals; /* one entry per class of the learner */
    size_t proposals_count;
    uc_session_point curve[65]; /* at rounds 1, 2, 4, ...: at most 64 points, and room for the last round */
    size_t points;
    uint64_t correct_at_point;
} uc_tally; /* zero-initialised is empty and may be freed */

/* The position of a label, which is added if it is new; `classes` are the learner's. */
uc_status uc_tally_add_label(uint32_t *out, uc_tally *self, const char *name, const uc_names *classes);
/* Makes room for proposals of `classes` classes. */
uc_status uc_tally_reserve(uc_tally *self, size_t classes);
/* Counts a round. `proposed` is UC_NONE or a class that uc_tally_reserve made room for. */
void uc_tally_round(uc_tally *self, uint32_t label, uint32_t proposed, bool right);
/* Like uc_session_curve and uc_session_label_at. */
const uc_session_point *uc_tally_curve(size_t *count, uc_tally *self);
bool uc_tally_label_at(uc_session_label *out, const uc_tally *self, const uc_names *classes, size_t i);
void uc_tally_free(uc_tally *self);

#endif
