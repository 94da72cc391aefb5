/* Whether the share of right proposals fell so far that what was learned does not hold any more. */
#ifndef UC_ONEBIT_CHANGE_H
#define UC_ONEBIT_CHANGE_H

#include "learn/state.h"

typedef struct uc_change {
    double ratio;    /* running share of right proposals, with a memory of 50 rounds */
    double usual;    /* the same, of 500 rounds */
    double best;     /* maximum of `usual` */
    uint64_t judged; /* rounds that they are of */
    uint64_t alarm;  /* rounds since the ratio fell; 0: it has not */
} uc_change;         /* zero-initialised: before the first round */

/* Takes in a round; true: begin again, and with another uc_change. */
bool uc_change_round(uc_change *self, bool right);
uc_status uc_change_remember(uc_change *self, uc_state *state);

#endif
