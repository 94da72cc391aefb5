/* Whether the share of right proposals fell so far that what was learned does not hold any more. */
#ifndef UC_ONEBIT_CHANGE_H
#define UC_ONEBIT_CHANGE_H

#include "learn/state.h"

#define UC_CHANGE_BLOCKS 64
#define UC_CHANGE_STRATA 3

/* Of some rounds: how many proposals of each confidence there were, and how many of them were right. */
typedef struct uc_change_counts {
    uint32_t rounds[UC_CHANGE_STRATA], right[UC_CHANGE_STRATA];
} uc_change_counts;

typedef struct uc_change {
    double ratio;    /* running share of right proposals, with a memory of 50 rounds */
    double usual;    /* the same, of 500 rounds */
    double best;     /* maximum of `usual` */
    uint64_t judged; /* rounds that they are of */
    uc_change_counts blocks[UC_CHANGE_BLOCKS]; /* a ring; the last is being filled */
} uc_change;                                   /* zero-initialised: before the first round */

/* What a round says. */
typedef struct uc_change_seen {
    size_t rounds; /* since the change; 0: there was none */
    bool certain;  /* the share of right proposals halved, else: begin again if that is better */
} uc_change_seen;

/* Takes in a round whose proposal had this score, 0 to 1 as far as scores are. Whoever begins again does so
 * with another uc_change. */
uc_change_seen uc_change_round(uc_change *self, double score, bool right);
uc_status uc_change_remember(uc_change *self, uc_state *state);

#endif
