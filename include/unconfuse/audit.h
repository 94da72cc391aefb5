/* What the labels are worth: estimates of the noise in them. */
#ifndef UNCONFUSE_AUDIT_H
#define UNCONFUSE_AUDIT_H

#include "unconfuse/clean_error.h"
#include "unconfuse/crowd.h"
#include "unconfuse/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- which labels are wrong ---- */

/* A share of all labels, with its 95% bootstrap interval. */
typedef struct uc_label_share {
    double estimate, low, high;
} uc_label_share;

/* A label and the probability that it is wrong, by all other rows and how classes are confused. */
typedef struct uc_suspect {
    size_t row; /* from 0 */
    uint32_t given, suggested;
    double p_wrong;
} uc_suspect;

/* Labels `given` whose true class is `truth`. */
typedef struct uc_class_pair {
    uint32_t given, truth;
    uc_label_share share;
} uc_class_pair;

/* Labels that were given a probability from `low` to `high`: how many, the mean of these probabilities, and
 * the share that it came true for. */
#define UC_RELIABILITY_BINS 10
typedef struct uc_reliability {
    double low, high, expected, observed; /* the last two are NaN where there are no labels */
    size_t labels;
} uc_reliability;
/* Empty bins of equal width, from 0 to 1; adding to them; and sums become means. */
void uc_reliability_begin(uc_reliability bins[UC_RELIABILITY_BINS]);
void uc_reliability_add(uc_reliability bins[UC_RELIABILITY_BINS], double probability, bool happened);
void uc_reliability_end(uc_reliability bins[UC_RELIABILITY_BINS]);

#define UC_NOISE_INTERVALS 40
typedef struct uc_label_audit {
    size_t rows, labels; /* rows without a label have none */
    uc_label_share wrong;
    uc_suspect *suspects; /* every label, the most suspicious first */
    size_t flagged;       /* so many of them are called wrong: the largest expected F1 */
    uc_class_pair *pairs; /* of different classes, half a label or more expected, the largest first */
    size_t pair_count;
    uc_noise noise; /* with class names */
    /* 95% bootstrap intervals of its entries, in its layout; NULL: without bootstrap, or of more classes than
     * UC_NOISE_INTERVALS. */
    double *noise_low, *noise_high;
    uc_clean_error clean_error; /* of predictions that have not seen the row's own label */
    uint32_t *predicted;        /* those predictions */
    /* Of the probability that a label is not the class which other rows predict, by how classes are confused.
     */
    uc_reliability calibration[UC_RELIABILITY_BINS];
    double *posterior; /* rows x classes: probability of each true class, the own label included */
    const char *mode;  /* structure or labels */
    double loss;       /* of the guard; NaN: features say nothing about labels */
    double width;
    double temperature; /* by which scores are divided for `posterior` and p_wrong */
    uc_model *model;    /* predicts true classes */
} uc_label_audit;       /* zero-initialised is empty and may be freed */

typedef struct uc_label_audit_settings {
    uc_audit_settings learner;
    uint64_t bootstrap; /* resamples of the rows for the intervals   (200) */
    uint64_t seed;      /* same seed, same result                    (1) */
} uc_label_audit_settings;

/* `gold` has the true class of rows that were checked and UC_NONE for others; NULL: none was. Runs in one
 * process. The data need labels of at least two classes. */
uc_status uc_label_audit_run(uc_label_audit *out, const uc_dataset *data, const uint32_t *gold,
                             const uc_label_audit_settings *settings, const uc_context *context);
void uc_label_audit_free(uc_label_audit *self);

typedef enum uc_repair {
    UC_REPAIR_SUGGEST, /* flagged labels become the suggested ones */
    UC_REPAIR_DROP,    /* flagged rows are left out */
    UC_REPAIR_WEIGHT,  /* rows are weighted by the probability that their label is right */
    UC_REPAIR_CHECKED  /* labels of checked rows become their true classes, nothing else changes */
} uc_repair;
/* A repaired copy of the data. `gold` as in uc_label_audit_run; UC_REPAIR_CHECKED needs it. */
uc_status uc_label_audit_repair(uc_dataset *out, const uc_dataset *data, const uc_label_audit *audit,
                                const uint32_t *gold, uc_repair repair, const uc_context *context);

/* The most suspicious first; equals by row. */
void uc_suspects_sort(uc_suspect *suspects, size_t count);
/* Sorts suspects and returns how many of them to flag: the number with the
 * largest expected F1, 2 sum of their p / (number + sum of all p), or none where it is more likely that all
 * labels are right. */
size_t uc_suspects_flag(uc_suspect *suspects, size_t count);

/* ---- estimating the noise matrix ---- */

typedef enum uc_noise_estimator {
    UC_NOISE_COUNTING,  /* examples counted for the class that they are confidently of */
    UC_NOISE_ANCHOR,    /* mean probabilities of the examples that are most clearly of a class */
    UC_NOISE_FULL,      /* the matrix that makes the labels most likely, given held-out scores */
    UC_NOISE_SYMMETRIC, /* the same, of matrices with one rate for all mistakes */
    UC_NOISE_AUTO       /* full; for two classes symmetric, unless full predicts labels better beyond doubt */
} uc_noise_estimator;

typedef struct uc_noise_estimate_settings {
    uint64_t bootstrap; /* resamples for the intervals; 0: no intervals                (200) */
    uint64_t folds;     /* from data: of the out-of-fold probabilities                 (5) */
    int estimator;      /* from data: uc_noise_estimator                               (auto) */
    double anchors;     /* from data: anchors of a class, as a share of its labels     (0.3) */
    double l2;          /* from data: of the logistic regression                       (1e-4) */
    uint64_t seed;      /* same seed, same intervals                                   (1) */
} uc_noise_estimate_settings;

extern const uc_option uc_noise_estimate_options[]; /* the table of uc_noise_estimate_settings */
uc_noise_estimate_settings uc_noise_estimate_defaults(void);

/* What families of noise say of the same labels; of `full` and `symmetric` alone. Gains are of the mean
 * log-likelihood of a label that the estimate has not seen, with their standard errors. */
typedef struct uc_noise_families {
    const char *chosen;                              /* "none", "symmetric", "full": the simplest that does */
    double wrong_full, wrong_symmetric;              /* shares of the labels */
    double gain, gain_deviation;                     /* of full over symmetric */
    double symmetric_gain, symmetric_gain_deviation; /* of symmetric over none */
} uc_noise_families;

/* An estimated matrix C and how sure it is; all arrays are K x K, row by row: observed class p, true class
 * q. */
typedef struct uc_noise_estimate {
    uc_noise noise;             /* with class names; may be singular, which uc_noise_inspect tells */
    double *low, *high;         /* 95% bootstrap intervals; NULL without bootstrap */
    size_t *counts;             /* examples taken for true class q that are observed as p */
    size_t examples;            /* with labels; from data, not all of them are in `counts` */
    size_t skipped;             /* without one of the two labels */
    uc_noise_families families; /* `chosen` NULL: not estimated by them */
} uc_noise_estimate;            /* zero-initialised is empty and may be freed */

void uc_noise_estimate_free(uc_noise_estimate *self);

/* From two labels of the same examples, positions in `classes`: C[p][q] is the share of gold q that is
 * observed as p. An example with UC_NONE as either label is skipped. A class without gold examples gets the
 * identity's column, the interval [0, 1], and a warning; one with fewer than 30 a warning. `settings` may be
 * NULL. */
uc_status uc_noise_from_labels(uc_noise_estimate *out, const uint32_t *observed, const uint32_t *gold,
                               size_t count, const uc_names *classes,
                               const uc_noise_estimate_settings *settings, const uc_context *context);
/* The same, where example i counts weights[i] times, and one of weight 0 is left out. NULL: all are 1. */
uc_status uc_noise_from_weighted_labels(uc_noise_estimate *out, const uint32_t *observed,
                                        const uint32_t *gold, const double *weights, size_t count,
                                        const uc_names *classes, const uc_noise_estimate_settings *settings,
                                        const uc_context *context);
/* From noisy labels alone. By `full` and `symmetric`: maximum likelihood on leave-one-out scores of at most
 * 10,000 rows, on the view of the columns that `auto` would choose, as far as `train` (NULL: the defaults)
 * leaves it open; with a warning where overlapping classes explain the labels as well. More than 100 classes
 * are counted instead. By `counting` and `anchor`: through out-of-fold probabilities of `logistic` after
 * preprocessing of `train`; overlap is taken for noise. */
uc_status uc_noise_from_data(uc_noise_estimate *out, const uc_dataset *data,
                             const uc_noise_estimate_settings *settings, const uc_train_settings *train,
                             const uc_context *context);
/* The matrix alone, to train with: uc_noise_from_data at its defaults, without intervals. Refuses a singular
 * one. */
uc_status uc_noise_estimate_self(uc_noise *out, const uc_dataset *data, const uc_train_settings *train,
                                 const uc_context *context);

/* ---- estimating the rates of two classes ---- */

/* One pair of rates that was tried. */
typedef struct uc_rates {
    double positive, negative; /* eta+ and eta- */
    double criterion;          /* P(predicted + | labelled -) + P(predicted - | labelled +), held out */
    double deviation;          /* its standard error; both NaN when the labels do not allow for the rates */
} uc_rates;

typedef struct uc_rates_estimate {
    uc_rates *tried; /* in the order in which they were */
    size_t count, best;
    double positive_interval[2], negative_interval[2]; /* of all within one standard error of the best */
} uc_rates_estimate;

typedef enum uc_rates_free { UC_RATES_BOTH, UC_RATES_POSITIVE_ONLY, UC_RATES_NEGATIVE_ONLY } uc_rates_free;

/* The rates at which the labels of two classes were flipped, by the criterion of Blum and Mitchell (1998)
 * that the paper on SloppySVM takes over: those whose machine separates the *observed* labels best, in 5-fold
 * cross-validation over a grid that is refined around its best point. What is not `free_rates` is 0.
 * `settings` of sloppy-svm, NULL for its defaults. Out becomes the noise matrix; *estimate (may be NULL) is
 * freed with uc_rates_estimate_free. */
uc_status uc_noise_rates_from_data(uc_noise *out, uc_rates_estimate *estimate,
                                   const uc_svm_settings *settings, const uc_train_settings *train,
                                   const uc_dataset *data, uint32_t positive, uc_rates_free free_rates,
                                   const uc_context *context);
void uc_rates_estimate_free(uc_rates_estimate *self);

/* ---- labels and the probabilities of any model ---- */

/* How many labels have which true class, in expectation: cells begin[p] .. begin[p + 1] - 1 are those of
 * label p. A label and a true class that no row has are no cell. */
typedef struct uc_probability_cells {
    size_t K;
    size_t *begin;
    uint32_t *truth; /* true class of each cell, ascending within a label */
    double *count;
    double *totals; /* K: of each true class */
} uc_probability_cells;

/* What a model's probabilities say about the labels. */
typedef struct uc_probability_audit {
    size_t rows, labels, K;  /* labels: rows that have one */
    size_t kept;             /* classes of a row that count: the most probable, and its label; K: all */
    uc_names classes;        /* of the columns */
    uint32_t *given;         /* the label of each row, a position in `classes`, or UC_NONE */
    double *wrong;           /* the probability that it is wrong; NaN: there is none */
    uint32_t *most_probable; /* true class of each row */
    uc_probability_cells cells;
    double temperature;                     /* by which the model's confidence is divided */
    double fit;                             /* mean log-likelihood of the labels */
    uc_share_estimate share;                /* of wrong labels */
    uc_crowd_mistake pairs[UC_WORST_PAIRS]; /* the most frequent mistakes, as shares of all labels */
    size_t pair_count;
    uc_clean_error clean_error; /* of the class that the model calls most probable; from a file only */
} uc_probability_audit;         /* zero-initialised may be freed */

/* `path` is NPY or CSV, n x K, of a model that has not seen the labels that it is asked about (out of
 * fold). Columns
 * are named in the first line of a CSV file; without names they are the labels' classes in order, or where
 * labels
 * are numbers from 0, these columns. The file is read once, in blocks; `gold` (NULL: none) are true classes,
 * positions in labels->classes, or UC_NONE. */
uc_status uc_probability_audit_read(uc_probability_audit *out, const char *path, const uc_labels *labels,
                                    const uint32_t *gold, const uc_context *context);
/* From a matrix in memory, row by row, and labels that are numbers of columns. */
uc_status uc_probability_audit_matrix(uc_probability_audit *out, const double *p, size_t rows, size_t K,
                                      const uint32_t *labels, const uc_context *context);
void uc_probability_audit_free(uc_probability_audit *self);
/* P(label p | true class q), with class names; all K x K of it. */
uc_status uc_probability_audit_noise(uc_noise *out, const uc_probability_audit *self);

/* ---- several annotators ---- */

/* The consensus of annotators (unconfuse/crowd.h) that takes the rows' features into account, by the learner
 * `audit`. `data` has the rows of the crowd, as a file has them, and its labels are not used; with several
 * processes it is this one's share, while all have the whole crowd. Unless `model` is NULL, *model predicts
 * true classes; the caller frees it. *error (may be NULL) is the model's, by one label of each row. */
uc_status uc_consensus_with_features(uc_consensus *out, uc_model **model, uc_clean_error *error,
                                     const uc_dataset *data, const uc_crowd *crowd, const uint32_t *gold,
                                     const uc_audit_settings *settings, uint64_t seed,
                                     const uc_context *context);
/* How often a consensus is wrong, if annotators err independently of each other and of the example. `seed`
 * draws the label of each row that is compared with the others. */
uc_status uc_consensus_error(uc_clean_error *out, const uc_consensus *consensus, const uc_crowd *crowd,
                             const uint32_t *gold, uint64_t seed, const uc_context *context);

#ifdef __cplusplus
}
#endif

#endif
