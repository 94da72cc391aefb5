/* Kaneko, Sato, Sugiyama: Online multiclass classification based on prediction margin for partial feedback,
 * section 5.
 *
 * Every number in the paper is the share of right proposals in one pass, in percent. */
#ifndef PAPERS_CSPA_H
#define PAPERS_CSPA_H

#include "experiment.h"

/* ---- the methods compared (rounds.c) ---- */

enum { CSPA, BANDITRON, CONFIDIT, BPA, PUBLISHED, CSPA_PLUS = PUBLISHED, SPA, METHODS };

typedef struct values {
    const double *list;
    size_t count;
} values;

typedef struct method {
    const char *title, *learner;
    const char *option;    /* the hyper-parameter; NULL: the defaults are used */
    const char *symbol;    /* its name in the paper */
    values linear, kernel; /* the paper's lists */
} method;

extern const method methods[METHODS];

/* Preprocessed rows, in the order of the rounds. */
typedef struct rounds {
    uc_matrix X;
    uint32_t *y;
    const uc_names *classes; /* borrowed */
} rounds;

void rounds_free(rounds *self);
/* One pass over the first `count` rounds: right[t] becomes whether proposal t was right. `value` is the
 * hyper-parameter. */
uc_status rounds_run(bool *right, const rounds *self, size_t count, const method *who, double value,
                     uint64_t seed);
/* The share of right proposals, in percent. */
double percent_right(const bool *right, size_t count);

/* ---- data sets (task.c) ---- */

#define SIGMAS 4

typedef struct recipe {
    const char *name; /* of the row or panel, and for --only */
    const char *data; /* the data set */
    uc_scaling scaling;
    double divisor; /* of all values; 0: not divided */
    bool tf_idf;
    size_t rows;                                       /* the first rows only; 0: all */
    double published[PUBLISHED], deviation[PUBLISHED]; /* table 1 or 2; NaN: not in the paper */
    double sigma[SIGMAS]; /* figure 2: deviations of the noise; all 0: not in the figure */
} recipe;

/* Both end with a name of NULL. */
extern const recipe linear_tasks[], kernel_tasks[];

typedef struct task {
    const recipe *recipe;
    uc_dataset data; /* scaled */
} task;              /* empty and safe to free if zero-initialised */

/* False if it is not wanted or, with a sentence in the report, if its data are missing. */
bool task_takes_part(execution *self, const recipe *chosen);
size_t task_rounds(const task *self, const execution *running); /* per run */
uc_status task_open(task *out, execution *self, const recipe *chosen);
/* The rows in the order of run `run`. `sigma`: deviation of Gaussian noise on every stored value. `width` 0:
 * rows are scaled to unit length. Otherwise they become Gaussian kernel values against the first rows, each
 * of which becomes a landmark when it arrives, and are then scaled to unit length. */
uc_status task_prepare(rounds *out, const task *self, const execution *running, size_t run, double sigma,
                       double width);
void task_free(task *self);

#endif
