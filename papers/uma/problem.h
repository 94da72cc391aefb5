/* The data of section 4.2, prepared: rows of unit length, after kernel PCA or tf-idf. */
#ifndef PAPERS_UMA_PROBLEM_H
#define PAPERS_UMA_PROBLEM_H

#include "uma.h"

typedef struct recipe {
    const char *name;           /* of the panel */
    const char *title;          /* including the paper's data set that it replaces */
    const char *data;           /* the data set */
    const char *const *classes; /* the names of the classes to keep, terminated by NULL; NULL: all */
    size_t train_rows;          /* in a random split; 0: the data are already split */
    size_t quick_rows;          /* training rows in the quick version; 0: all */
    double
        width_divisor; /* g: the Gaussian kernel is exp(-g ||x-y||^2 / median squared distance); 0: tf-idf */
    size_t dimension, quick_dimension; /* D of kernel PCA */
    size_t examples_per_class;         /* m: for learning the rough classifier g */
    uint64_t iterations;               /* for UMA and the perceptrons; 0: the default */
    double published[6];               /* table 1, in the order of `table1_method`; NaN: not in the paper */
} recipe;

extern const recipe problem_optdigits, problem_letter, problem_reuters_r8, problem_reuters_r52;

typedef struct problem {
    const recipe *recipe;
    uc_dataset all;                 /* for a random split */
    uc_dataset raw_train, raw_test; /* before the kernel */
    uc_dataset train, test;         /* prepared */
    double gamma;                   /* of the kernel; 0: no kernel */
} problem;                          /* empty and safe to free if zero-initialised */

uc_status problem_open(problem *out, execution *self, const recipe *chosen);
/* Prepares the split of run `run`; does nothing from the second run on if the split is fixed. */
uc_status problem_prepare(problem *self, execution *running, size_t run);
/* The rows of the problem after kernel PCA, without unit length. */
uc_status problem_project(uc_dataset *train, uc_dataset *test, const problem *self, uint64_t seed,
                          const uc_context *context);
/* The same rows in the whole span of the kernel, or in UNPROJECTED_LIMIT dimensions of it (kernel
 * Gram-Schmidt; with `quick`, in twice as many dimensions as the projection has). */
#define UNPROJECTED_LIMIT 4000
uc_status problem_unproject(uc_dataset *train, uc_dataset *test, const problem *self, bool quick,
                            bool unit_rows, uint64_t seed, const uc_context *context);
void problem_free(problem *self);

/* ---- the protocol of section 4.2.1 (protocol.c) ---- */

typedef struct draw {
    const problem *problem;
    size_t *order;       /* a random order of the training rows, which begins with S_conf */
    uint32_t *noisy;     /* y = g(x) for every training row */
    double noisy_error;  /* share of these that are wrong */
    uc_dataset labelled; /* the training rows labelled with y; borrowed */
} draw;

/* Learns the rough classifier g from m examples per class and labels all rows with it. */
uc_status draw_labels(draw *out, const problem *from, size_t examples_per_class, uint64_t seed,
                      const uc_context *context);
/* Estimates C of g from its labels for the first `count` rows of the order. */
uc_status draw_noise(uc_noise *out, const draw *self, size_t count, const uc_context *context);
/* Tests a perceptron learned from these `count` rows with their true labels: f_conf. */
uc_status draw_test_conf(score *out, const draw *self, size_t count, uint64_t seed,
                         const uc_context *context);
/* Tests the semi-supervised SVM learned from `train`, with all labels hidden except those of these rows. */
uc_status draw_test_s3vm(score *out, const draw *self, size_t count, double cost, const uc_dataset *train,
                         const uc_dataset *test, uint64_t seed, const uc_context *context);
#define CONF_SHARE 0.05 /* the share of S that is S_conf */
#define S3VM_COST 100.0 /* the C of the tables and figures */
void draw_free(draw *self);

#endif
