/* The one loop over folds: holds out each fold in turn and provides the other rows for training. */
#ifndef UC_FOLDS_H
#define UC_FOLDS_H

#include "parallel/parallel.h"
#include "unconfuse/dataset.h"

/* The current fold. */
typedef struct uc_fold {
    unsigned number;
    size_t share;               /* number of this share of the fold's work, below uc_folds.shares */
    uc_dataset train, held_out; /* copies, freed after the job unless it moves them elsewhere; those of a
                                   table are encoded by what the training rows say */
    const size_t *rows;         /* row numbers in the data of the held-out rows, ascending */
    const uc_context *context;  /* for the work on this fold */
    const uc_part *progress;    /* uc_part_done(progress) counts a part as done */
} uc_fold;

typedef uc_status uc_fold_job(uc_fold *fold, void *user);

typedef struct uc_folds {
    const uc_dataset *data; /* must outlive this struct */
    uint32_t *of_row;       /* the fold of each row */
    unsigned count;
    size_t shares;     /* jobs per fold, all with the same rows; 1 unless changed */
    uc_parts progress; /* progress reported while jobs run; task NULL: jobs report it themselves */
} uc_folds;

/* The wanted number of folds, or fewer if there are fewer rows (or bags, if the data have them). */
unsigned uc_folds_at_most(const uc_dataset *data, unsigned wanted);
/* Stratified folds, drawn with the seed. */
uc_status uc_folds_begin(uc_folds *out, const uc_dataset *data, unsigned count, uint64_t seed,
                         const uc_context *context);
void uc_folds_free(uc_folds *self); /* zero-initialised is fine */

/* Runs the job on one fold after the other, each with all threads of the context. Stops at the first status
 * other than UC_OK. */
uc_status uc_folds_each(uc_folds *self, uc_fold_job *job, void *user, const uc_context *context);
/* Runs jobs concurrently, each on one thread: jobs first .. last-1 of the count x shares, where job j does
 * share j % shares of fold j / shares. Returns as uc_run_concurrently does. */
uc_status uc_folds_concurrently(uc_folds *self, size_t first, size_t last, uc_fold_job *job, void *user,
                                const uc_context *context);

#endif
