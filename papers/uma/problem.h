/* The data of section 4.2, prepared: rows of unit length, behind kernel PCA or tf-idf. */
#ifndef PAPERS_UMA_PROBLEM_H
#define PAPERS_UMA_PROBLEM_H

#include "uma.h"

typedef struct recipe {
    const char *name;           /* of the panel */
    const char *title;          /* with the paper's data set that it stands for */
    const char *data;           /* the data set */
    const char *const *classes; /* the classes to keep, by name, ends with NULL; NULL: all */
    size_t train_rows;          /* of a random split; 0: the data come split */
    size_t quick_rows;          /* training rows of the quick version; 0: all */
    double
        width_divisor; /* g: the Gaussian kernel is exp(-g ||x-y||^2 / median squared distance); 0: tf-idf */
    size_t dimension, quick_dimension; /* D of kernel PCA */
    size_t examples_per_class;         /* m: the rough classifier g is learned from */
    uint64_t iterations;               /* of UMA and the perceptrons; 0: the default */
    double published[6];               /* table 1, in the order of `table1_method`; NaN: not in the paper */
} recipe;

extern const recipe problem_optdigits, problem_letter, problem_reuters_r8, problem_reuters_r52;

typedef struct problem {
    const recipe *recipe;
    uc_dataset all;                 /* of a random split */
    uc_dataset raw_train, raw_test; /* before the kernel */
    uc_dataset train, test;         /* prepared */
    double gamma;                   /* of the kernel; 0: none */
} problem;                          /* zero-initialised is empty and may be freed */

uc_status problem_open(problem *out, execution *self, const recipe *chosen);
/* The split of run `run`, prepared; nothing to do from the second run on where the split is fixed. */
uc_status problem_prepare(problem *self, execution *running, size_t run);
/* The rows of the problem as the kernel PCA leaves them, without unit length. */
uc_status problem_project(uc_dataset *train, uc_dataset *test, const problem *self, uint64_t seed,
                          const uc_context *context);
/* The same rows in the whole span of the kernel, or of UNPROJECTED_LIMIT dimensions of it (kernel
 * Gram-Schmidt; with `quick` of twice the dimension of the projection). */
#define UNPROJECTED_LIMIT 4000
uc_status problem_unproject(uc_dataset *train, uc_dataset *test, const problem *self, bool quick,
                            bool unit_rows, uint64_t seed, const uc_context *context);
void problem_free(problem *self);

/* ---- the protocol of section 4.2.1 (protocol.c) ---- */

typedef struct draw {
    const problem *problem;
    size_t *order;       /* a random order of the training rows: S_conf is a beginning of it */
    uint32_t *noisy;     /* y = g(x) of every training row */
    double noisy_error;  /* share of them that are wrong */
    uc_dataset labelled; /* the training rows with y as labels; lent */
} draw;

/* Learns the rough classifier g from m examples a class and labels all rows with it. */
uc_status draw_labels(draw *out, const problem *from, size_t examples_per_class, uint64_t seed,
                      const uc_context *context);
/* C of g, estimated from its labels of the first `count` rows of the order. */
uc_status draw_noise(uc_noise *out, const draw *self, size_t count, const uc_context *context);
/* A perceptron from these `count` rows with their true labels: f_conf. */
uc_status draw_test_conf(score *out, const draw *self, size_t count, uint64_t seed,
                         const uc_context *context);
/* The semi-supervised SVM from `train`, all but the labels of these rows hidden. */
uc_status draw_test_s3vm(score *out, const draw *self, size_t count, double cost, const uc_dataset *train,
                         const uc_dataset *test, uint64_t seed, const uc_context *context);
#define CONF_SHARE 0.05 /* of S that is S_conf */
#define S3VM_COST 100.0 /* the C of the tables and figures */
void draw_free(draw *self);

#endif
