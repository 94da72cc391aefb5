/* The results of unconfuse experiment, and their output. */
#ifndef CLI_EXPERIMENT_H
#define CLI_EXPERIMENT_H

#include "cli.h"

/* One learner on one data set with one kind of noise. */
typedef struct experiment_cell {
    double *errors; /* of each run; NaN: it failed */
    double seconds; /* of a run, for training and testing */
    double error, deviation;
    double rank; /* mean over the runs, among the learners that did not fail */
    char *why;   /* what went wrong; NULL: nothing */
} experiment_cell;

typedef struct experiment_learner {
    const char *name;
    double error, seconds; /* means over all problems; NaN: it failed on one of them */
    double rank;           /* mean over the problems, of the mean errors */
} experiment_learner;

typedef struct experiment_result {
    char **data, **noise; /* names */
    size_t data_count, noise_count, learner_count, runs;
    experiment_cell *cells; /* data x noise x learners */
    experiment_learner *learners;
    size_t compared; /* learners that never failed; the test compares these */
    uc_friedman test;
} experiment_result;

experiment_cell *experiment_at(const experiment_result *self, size_t data, size_t noise, size_t learner);
void experiment_print(const experiment_result *self, FILE *file);
json_t *experiment_json(const experiment_result *self);
void experiment_csv(const experiment_result *self, FILE *file);
void experiment_latex(const experiment_result *self, FILE *file);

#endif
