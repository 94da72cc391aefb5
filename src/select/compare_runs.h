/* Runs learners over the same shuffles of a data set. */
#ifndef UC_COMPARE_RUNS_H
#define UC_COMPARE_RUNS_H

#include <stdatomic.h>

#include "learn/learner.h"
#include "unconfuse/select.h"

/* Rows unchanged, or scaled to unit length after the map; which one is better depends on the learner. */
enum { UC_PLAIN, UC_UNIT, UC_VIEWS };

/* A learner with its settings. */
typedef struct uc_entry {
    const uc_learner *learner;
    void *settings;
    bool fixed; /* its options are not searched on a grid */
    uc_feedback feedback;
    size_t view; /* of the rows */
    double bias;
} uc_entry;

/* Data and settings that all runs share. */
typedef struct uc_compare_setup {
    const uc_dataset *data;
    const uc_context *context;
    uc_compare_settings settings;
    uc_train_settings train;
    size_t rounds;   /* of a run */
    size_t features; /* of a prepared row */
    double density;  /* of prepared rows */
    bool mapped, needed[UC_VIEWS];
    double width;                             /* of the map's kernel */
    uc_preprocessing preprocessing[UC_VIEWS]; /* every run begins its own map */
    uc_matrix prepared[UC_VIEWS];             /* without a map; empty: use the data's own rows */
} uc_compare_setup;

/* Prepares the rows that the entries need; `needed` must be set. Free the setup on failure, too. */
uc_status uc_compare_prepare(uc_compare_setup *self);
void uc_compare_setup_free(uc_compare_setup *self);

/* The learning curve of each entry. All runs have the same points. */
typedef struct uc_compare_curves {
    size_t points, classes; /* classes 0: without counts per class */
    uint64_t *rounds;       /* of each point */
    double *ratios;         /* entries x points x runs: share of right proposals so far */
    /* entries x points x classes: counts so far, summed over all runs */
    atomic_ullong *examples, *correct;
} uc_compare_curves; /* zero-initialised is empty and may be freed */
uc_status uc_compare_curves_begin(uc_compare_curves *out, size_t entries, size_t runs,
                                  const uc_compare_setup *setup);
void uc_compare_curves_free(uc_compare_curves *self);

/* Trains all entries in runs 0 .. runs-1; run r is shuffled by seed + r and the random `sequence`.
 * correct[entry][run] counts right proposals; seconds[entry][run] is the time that one thread spends on
 * proposing and learning. `curves` may be NULL. */
uc_status uc_compare_run(size_t *correct, double *seconds, uc_compare_curves *curves,
                         const uc_compare_setup *setup, const uc_entry *entries, size_t count, size_t runs,
                         uint64_t sequence, const char *task);

#endif
