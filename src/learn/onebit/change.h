/* Detects that the share of right proposals fell so far that what was learned no longer holds. */
#ifndef UC_ONEBIT_CHANGE_H
#define UC_ONEBIT_CHANGE_H

#include "learn/state.h"

#define UC_CHANGE_BLOCKS 64
#define UC_CHANGE_STRATA 3

/* Counts over some rounds: proposals of each level of confidence, and how many of them were right. */
typedef struct uc_change_counts {
    uint32_t rounds[UC_CHANGE_STRATA], right[UC_CHANGE_STRATA];
} uc_change_counts;

typedef struct uc_change {
    double ratio;    /* running share of right proposals, with a memory of 50 rounds */
    double usual;    /* the same with a memory of 500 rounds */
    double best;     /* maximum of `usual` */
    uint64_t judged; /* rounds that these values are based on */
    uc_change_counts blocks[UC_CHANGE_BLOCKS]; /* a ring, of which the last block is being filled */
} uc_change;                                   /* zero-initialised: before the first round */

/* What a round revealed. */
typedef struct uc_change_seen {
    size_t rounds; /* since the change; 0: no change */
    bool certain;  /* the share of right proposals halved; if false, restart only if that is better */
} uc_change_seen;

/* Adds a round whose proposal had this score, from 0 to 1 as far as scores are. After a restart, use a new
 * uc_change. */
uc_change_seen uc_change_round(uc_change *self, double score, bool right);
uc_status uc_change_remember(uc_change *self, uc_state *state);

#endif
