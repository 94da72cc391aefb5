/* Audits of labels: which ones are wrong, how noisy they are overall, and how reliable each annotator is. */
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

/* A label and the probability that it is wrong, estimated from all other rows and from how classes are
 * confused. */
typedef struct uc_suspect {
    size_t row; /* from 0 */
    uint32_t given, suggested;
    double p_wrong;
} uc_suspect;

/* Examples that are labelled `given` and whose true class is `truth`. */
typedef struct uc_class_pair {
    uint32_t given, truth;
    uc_label_share share;
} uc_class_pair;

/* One bin of a calibration table: the labels that were given a probability from `low` to `high`, the mean of
 * these probabilities (`expected`) and the share for which the event happened (`observed`). */
#define UC_RELIABILITY_BINS 10
typedef struct uc_reliability {
    double low, high, expected, observed; /* `expected` and `observed` are NaN for an empty bin */
    size_t labels;
} uc_reliability;
/* Sets up empty bins of equal width over [0, 1]; adds one outcome; turns the sums into means. */
void uc_reliability_begin(uc_reliability bins[UC_RELIABILITY_BINS]);
void uc_reliability_add(uc_reliability bins[UC_RELIABILITY_BINS], double probability, bool happened);
void uc_reliability_end(uc_reliability bins[UC_RELIABILITY_BINS]);

#define UC_NOISE_INTERVALS 40
typedef struct uc_label_audit {
    size_t rows, labels; /* `labels` counts the rows that have one */
    uc_label_share wrong;
    uc_suspect *suspects; /* every label, the most suspicious first */
    size_t flagged;       /* the first `flagged` of `suspects` are called wrong (largest expected F1) */
    uc_class_pair *pairs; /* of different classes, with at least half a label expected; the largest first */
    size_t pair_count;
    uc_noise noise; /* with class names */
    /* 95% bootstrap intervals of the entries of `noise`, in the same layout; NULL without bootstrap or with
     * more than UC_NOISE_INTERVALS classes. */
    double *noise_low, *noise_high;
    uc_clean_error clean_error; /* of predictions made without the row's own label */
    uint32_t *predicted;        /* those predictions */
    /* Of the predicted probability that a label differs from the class suggested by the other rows.
     */
    uc_reliability calibration[UC_RELIABILITY_BINS];
    double *posterior; /* rows x classes: probability of each true class, the own label included */
    const char *mode;  /* structure or labels */
    double loss;       /* of the guard; NaN if the features say nothing about the labels */
    double width;
    double temperature; /* the scores are divided by it for `posterior` and p_wrong */
    uc_model *model;    /* predicts true classes */
} uc_label_audit;       /* zero-initialised is empty and may be freed */

typedef struct uc_label_audit_settings {
    uc_audit_settings learner;
    uint64_t bootstrap; /* resamples of the rows for the intervals   (200) */
    uint64_t seed;      /* same seed, same result                    (1) */
} uc_label_audit_settings;

/* Finds wrong labels. `gold` has the true class of each row that was checked and UC_NONE for the others; NULL
 * if none was checked. Several processes all pass all rows; each fits a share of them, and all get the result
 * for all rows, that of one process up to rounding. The data need labels of at least two classes. */
uc_status uc_label_audit_run(uc_label_audit *out, const uc_dataset *data, const uint32_t *gold,
                             const uc_label_audit_settings *settings, const uc_context *context);
void uc_label_audit_free(uc_label_audit *self);

typedef enum uc_repair {
    UC_REPAIR_SUGGEST, /* flagged labels become the suggested ones */
    UC_REPAIR_DROP,    /* flagged rows are left out */
    UC_REPAIR_WEIGHT,  /* rows are weighted by the probability that their label is right */
    UC_REPAIR_CHECKED  /* labels of checked rows become their true classes; nothing else changes */
} uc_repair;
/* A repaired copy of the data. `gold` as in uc_label_audit_run; UC_REPAIR_CHECKED needs it. */
uc_status uc_label_audit_repair(uc_dataset *out, const uc_dataset *data, const uc_label_audit *audit,
                                const uint32_t *gold, uc_repair repair, const uc_context *context);

/* The most suspicious first; ties are ordered by row. */
void uc_suspects_sort(uc_suspect *suspects, size_t count);
/* Sorts the suspects and returns how many of them to flag: the number n with the largest expected F1, 2 (sum
 * of the n largest p) / (n + sum of all p), or 0 if it is more likely that all labels are right. */
size_t uc_suspects_flag(uc_suspect *suspects, size_t count);

/* ---- estimating the noise matrix ---- */

typedef enum uc_noise_estimator {
    UC_NOISE_COUNTING,  /* counts of the examples that are confidently of each class */
    UC_NOISE_ANCHOR,    /* mean probabilities of the examples that are most clearly of each class */
    UC_NOISE_FULL,      /* the matrix that makes the labels most likely, given held-out scores */
    UC_NOISE_SYMMETRIC, /* as full, but restricted to matrices with one rate for all mistakes */
    UC_NOISE_AUTO       /* full; with two classes symmetric, unless full predicts labels clearly better */
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

/* How well families of noise matrices explain the same labels; set by `full` and `symmetric` only. A gain is
 * a difference of mean log-likelihoods per label that the estimate has not seen; each comes with its standard
 * error. */
typedef struct uc_noise_families {
    const char *chosen;                              /* the simplest that suffices: "none", "symmetric" or
                                                        "full" */
    double wrong_full, wrong_symmetric;              /* estimated shares of wrong labels */
    double gain, gain_deviation;                     /* of full over symmetric */
    double symmetric_gain, symmetric_gain_deviation; /* of symmetric over none */
} uc_noise_families;

/* An estimated matrix C and its uncertainty. All arrays are K x K, row by row: observed class p, true class
 * q. */
typedef struct uc_noise_estimate {
    uc_noise noise;             /* with class names; may be singular (see uc_noise_inspect) */
    double *low, *high;         /* 95% bootstrap intervals; NULL without bootstrap */
    size_t *counts;             /* examples assigned to true class q that are observed as p */
    size_t examples;            /* with labels; uc_noise_from_data may leave some of them out of `counts` */
    size_t skipped;             /* without one of the two labels */
    uc_noise_families families; /* `chosen` is NULL if the families were not compared */
} uc_noise_estimate;            /* zero-initialised is empty and may be freed */

void uc_noise_estimate_free(uc_noise_estimate *self);

/* Estimates the matrix from two labels of the same examples, both positions in `classes`: C[p][q] is the
 * share of examples with gold label q that are observed as p. An example with UC_NONE as either label is
 * skipped. A class without gold examples gets the identity's column, the interval [0, 1] and a warning; a
 * class with fewer than 30 gets a warning. `settings` may be NULL. */
uc_status uc_noise_from_labels(uc_noise_estimate *out, const uint32_t *observed, const uint32_t *gold,
                               size_t count, const uc_names *classes,
                               const uc_noise_estimate_settings *settings, const uc_context *context);
/* The same, but example i counts weights[i] times; weight 0 leaves it out. weights NULL: all are 1. */
uc_status uc_noise_from_weighted_labels(uc_noise_estimate *out, const uint32_t *observed,
                                        const uint32_t *gold, const double *weights, size_t count,
                                        const uc_names *classes, const uc_noise_estimate_settings *settings,
                                        const uc_context *context);
/* Estimates the matrix from noisy labels alone. `full` and `symmetric` maximise the likelihood of
 * leave-one-out scores of at most 10,000 rows. They use the view of the columns that `auto` would choose, as
 * far as `train` (NULL: the defaults) leaves the choice open, and warn if overlapping classes explain the
 * labels as well. With more than 100 classes, labels are counted instead. `counting` and `anchor` use
 * out-of-fold probabilities of `logistic` after the preprocessing of `train`; they mistake overlap of the
 * classes for noise. */
uc_status uc_noise_from_data(uc_noise_estimate *out, const uc_dataset *data,
                             const uc_noise_estimate_settings *settings, const uc_train_settings *train,
                             const uc_context *context);
/* Only the matrix, for training: uc_noise_from_data with its defaults and without intervals. Fails if the
 * matrix is singular. */
uc_status uc_noise_estimate_self(uc_noise *out, const uc_dataset *data, const uc_train_settings *train,
                                 const uc_context *context);

/* ---- estimating the rates of two classes ---- */

/* One pair of rates that was tried. */
typedef struct uc_rates {
    double positive, negative; /* eta+ and eta- */
    double criterion;          /* P(predicted + | labelled -) + P(predicted - | labelled +), held out */
    double deviation;          /* standard error of `criterion`; both NaN: the labels rule these rates out */
} uc_rates;

typedef struct uc_rates_estimate {
    uc_rates *tried; /* in the order in which they were tried */
    size_t count, best;
    double positive_interval[2], negative_interval[2]; /* of all pairs within a standard error of the best */
} uc_rates_estimate;

typedef enum uc_rates_free { UC_RATES_BOTH, UC_RATES_POSITIVE_ONLY, UC_RATES_NEGATIVE_ONLY } uc_rates_free;

/* Estimates the rates at which the labels of two classes were flipped, by the criterion of Blum and Mitchell
 * (1998) that the SloppySVM paper adopts: the best rates are those whose classifier separates the *observed*
 * labels best, in 5-fold cross-validation over a grid that is refined around its best point. A rate that
 * `free_rates` does not include is 0. `settings` are those of sloppy-svm; NULL for its defaults. *out becomes
 * the noise matrix; *estimate (may be NULL) is freed with uc_rates_estimate_free. */
uc_status uc_noise_rates_from_data(uc_noise *out, uc_rates_estimate *estimate,
                                   const uc_svm_settings *settings, const uc_train_settings *train,
                                   const uc_dataset *data, uint32_t positive, uc_rates_free free_rates,
                                   const uc_context *context);
void uc_rates_estimate_free(uc_rates_estimate *self);

/* ---- labels and the probabilities of any model ---- */

/* The expected number of labels of each true class. Cells begin[p] .. begin[p + 1] - 1 belong to label p; a
 * combination of label and true class that occurs in no row has no cell. */
typedef struct uc_probability_cells {
    size_t K;
    size_t *begin;
    uint32_t *truth; /* true class of each cell, ascending within a label */
    double *count;
    double *totals; /* K entries: the total of each true class */
} uc_probability_cells;

/* What a model's probabilities say about the labels. */
typedef struct uc_probability_audit {
    size_t rows, labels, K;  /* labels: rows that have one */
    size_t kept;             /* classes kept per row: the most probable ones and its label; K: all */
    uc_names classes;        /* of the columns */
    uint32_t *given;         /* the label of each row, a position in `classes`, or UC_NONE */
    double *wrong;           /* the probability that the label is wrong; NaN if the row has no label */
    uint32_t *most_probable; /* the most probable true class of each row */
    uc_probability_cells cells;
    double temperature;                     /* the model's log-probabilities are divided by it */
    double fit;                             /* mean log-likelihood of the labels */
    uc_share_estimate share;                /* of wrong labels */
    uc_crowd_mistake pairs[UC_WORST_PAIRS]; /* the most frequent mistakes, as shares of all labels */
    size_t pair_count;
    uc_clean_error clean_error; /* of the model's most probable class; from a file only */
} uc_probability_audit;         /* zero-initialised may be freed */

/* Reads the probabilities from `path`, NPY or CSV, n x K. They must come from a model that was not trained on
 * the labels in question (out-of-fold predictions). The first line of a CSV file may name the columns;
 * without names, the columns are the classes of the labels in order or, if the labels are numbers from 0, the
 * columns with these numbers. The file is read once, in blocks. `gold` (NULL: none) has true classes, as
 * positions in labels->classes, or UC_NONE. */
uc_status uc_probability_audit_read(uc_probability_audit *out, const char *path, const uc_labels *labels,
                                    const uint32_t *gold, const uc_context *context);
/* The same for a matrix in memory, row by row; labels are column numbers. */
uc_status uc_probability_audit_matrix(uc_probability_audit *out, const double *p, size_t rows, size_t K,
                                      const uint32_t *labels, const uc_context *context);
void uc_probability_audit_free(uc_probability_audit *self);
/* P(label p | true class q), with class names, as a full K x K matrix. */
uc_status uc_probability_audit_noise(uc_noise *out, const uc_probability_audit *self);

/* ---- several annotators ---- */

/* The consensus of annotators (unconfuse/crowd.h) that also uses the features of the rows, by the learner
 * `audit`. `data` has the rows of the crowd, in the order of the file; its labels are not used. With several
 * processes, `data` is this process's share, while every process has the whole crowd. *model (unless `model`
 * is NULL) predicts true classes; the caller frees it. *error (may be NULL) is the model's clean error,
 * estimated from one label per row. */
uc_status uc_consensus_with_features(uc_consensus *out, uc_model **model, uc_clean_error *error,
                                     const uc_dataset *data, const uc_crowd *crowd, const uint32_t *gold,
                                     const uc_audit_settings *settings, uint64_t seed,
                                     const uc_context *context);
/* How often a consensus is wrong, assuming that annotators err independently of each other and of the
 * example. `seed` determines which label of each row is compared with the others. */
uc_status uc_consensus_error(uc_clean_error *out, const uc_consensus *consensus, const uc_crowd *crowd,
                             const uint32_t *gold, uint64_t seed, const uc_context *context);

#ifdef __cplusplus
}
#endif

#endif
