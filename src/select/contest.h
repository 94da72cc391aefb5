/* Learners that play the same shuffles of a data set. */
#ifndef UC_CONTEST_H
#define UC_CONTEST_H

#include "learn/learner.h"
#include "unconfuse/select.h"

/* Rows as they are, or of unit length where the weights live: learners differ in what suits them. */
enum { UC_PLAIN, UC_UNIT, UC_VIEWS };

/* A learner with its settings. */
typedef struct uc_entrant {
    const uc_learner *learner;
    void *settings;
    bool fixed; /* no grid for it */
    uc_feedback told;
    size_t view; /* of the rows */
    double bias;
} uc_entrant;

/* What all runs share. */
typedef struct uc_arena {
    const uc_dataset *data;
    const uc_context *context;
    uc_compare_settings settings;
    uc_train_settings train;
    size_t rounds;   /* of a run */
    size_t features; /* of a prepared row */
    double density;  /* of prepared rows */
    bool mapped, needed[UC_VIEWS];
    double width;                             /* of the map's kernel */
    uc_preprocessing preprocessing[UC_VIEWS]; /* the map is begun in every run */
    uc_matrix prepared[UC_VIEWS];             /* without a map; empty: the data's own rows */
} uc_arena;

/* Prepares the rows that the entrants need: `needed` is known. On failure there may be something to free. */
uc_status uc_arena_prepare(uc_arena *self);
void uc_arena_free(uc_arena *self);

/* Plays all entrants in runs 0 .. runs-1; run r is shuffled by the seed + r and the random `sequence`.
 * correct[entrant][run] counts right proposals; seconds[entrant][run] is the time of one thread for proposing
 * and learning. */
uc_status uc_contest_run(size_t *correct, double *seconds, const uc_arena *arena, const uc_entrant *entrants,
                         size_t count, size_t runs, uint64_t sequence, const char *task);

#endif
