/* The latest rounds, kept for learning from them again. */
#ifndef UC_REPLAY_H
#define UC_REPLAY_H

#include "learn/state.h"

typedef struct uc_replay_round {
    uc_row row; /* a copy, in one block that begins at row.values */
    uint32_t proposed;
    bool right;
} uc_replay_round;

typedef struct uc_replay {
    uc_replay_round *rounds; /* a ring buffer */
    size_t capacity, first, count;
    size_t bytes; /* of all rows */
} uc_replay;      /* zero-initialised: empty */

/* The part of keeping a round that may fail, to be done before learning from it: makes a copy of its row, and
 * room for one among at most `limit` rounds. The copy is then passed to uc_replay_keep. */
uc_status uc_replay_copy(uc_row *copy, uc_replay *self, uc_row row, size_t limit);
/* Keeps at most `limit` rounds, and at most 256 MB of rows; the oldest are dropped. Takes over the copy. */
void uc_replay_keep(uc_replay *self, uc_row copy, uint32_t proposed, bool right, size_t limit);
/* Bytes for this number of rounds, with rows of `row_bytes`, within that limit. */
double uc_replay_bytes(double rounds, double row_bytes);
/* Round i of `count`; the oldest is 0. */
const uc_replay_round *uc_replay_at(const uc_replay *self, size_t i);
void uc_replay_free(uc_replay *self);
/* When reading, fails if a row has columns beyond `features` or a class is not below `classes`. */
uc_status uc_replay_remember(uc_replay *self, uc_state *state, size_t features, size_t classes);

#endif
