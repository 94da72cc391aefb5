/* Problems with two classes: the benchmark of Raetsch and others, and test errors in percent. */
#ifndef PAPERS_BINARY_H
#define PAPERS_BINARY_H

#include "experiment.h"

/* ---- the benchmark: one data set, split into training and test rows again and again ---- */

/* The training rows of several splits, sorted or not, numbered from 0. */
typedef struct split_list {
    size_t *rows; /* split by split */
    size_t splits, size;
} split_list;

typedef struct benchmark {
    const char *name;
    size_t train_rows; /* per split */
    uc_dataset all;
    split_list official, redrawn; /* from the data directory; further splits are drawn */
    size_t used[3];               /* splits used of each kind */
} benchmark;                      /* empty and safe to free if zero-initialised */

/* `name` is a data set whose file is ratsch.NAME.svm. The splits are in ratsch.NAME.KIND.train.idx, with one
 * line of row numbers per split; the other rows are the test rows. */
uc_status benchmark_open(benchmark *out, execution *self, const char *name, size_t train_rows);
/* Split `run`: a published one while there are any, then one of those that were drawn once, then one drawn
 * with the seed. */
uc_status benchmark_split(uc_dataset *train, uc_dataset *test, benchmark *self, const execution *running,
                          size_t run);
/* Notes in the report how many splits of each kind were used. */
void benchmark_note(const benchmark *self, execution *running);
void benchmark_free(benchmark *self);

/* ---- learning ---- */

/* Copies the labels of `clean` to `labels`, which has room for every row, and adds noise to them. */
uc_status draw_noisy(uint32_t *labels, const uc_dataset *clean, const uc_noise *noise, uint64_t seed);
/* The share of wrong predictions, in percent. */
uc_status model_error(double *percent, const uc_model *model, const uc_dataset *test,
                      const uc_context *context);
/* Chooses the settings that are `auto`, trains, and tests. */
uc_status learn_error(double *percent, const char *learner, const void *settings,
                      const uc_train_settings *common, const uc_dataset *train, const uc_dataset *test,
                      const uc_context *context);
/* A panel of test errors in percent. */
panel *percent_panel(execution *self, const char *name, const char *title, const char *row_title);
/* Moves a table of what was chosen or found to after those of the errors. */
void move_to_end(execution *self, const panel *table);
/* The context with one thread: a few hundred rows are not enough work for two. */
uc_context one_thread(const execution *self);

#endif
