/* How good predictions are: errors, confusion, and statistical tests. */
#ifndef UNCONFUSE_METRICS_H
#define UNCONFUSE_METRICS_H

#include "unconfuse/noise.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uc_evaluation {
    size_t classes, examples;        /* examples with a label, known or not */
    size_t unlabelled;               /* rows without a label; not counted anywhere else */
    size_t unknown_labels;           /* labels that the model does not know; they count as errors */
    size_t errors;                   /* of the labels; with soft labels, of the most probable class */
    double error, error_interval[2]; /* 95% Wilson interval, for `effective_examples` examples */
    uint64_t *confusion;             /* row = true class, column = predicted; unknown labels are not in it */
    bool weighted;                   /* examples have weights or soft labels, which all figures below use */
    double weight;                   /* of all examples: their number, unless weighted */
    double effective_examples;  /* (sum of weights)^2 / sum of squared weights; unweighted: their number */
    double *weighted_confusion; /* the confusion by weights; NULL unless weighted */
    double confusion_rate; /* Frobenius norm of the row-normalised matrix without its diagonal / sqrt(K) */
    double confusion_norm; /* largest singular value of that matrix before the division */
    double confusion_norm_joint; /* largest singular value of counts/examples without the diagonal */
    double *recall, *precision;  /* NaN for a class without examples, or never predicted */
    double *f1;                  /* NaN for a class that neither occurs nor is predicted */
    double macro_f1;             /* mean of the F1 that are not NaN */
    double balanced_accuracy;    /* mean of the recalls that are not NaN */
    double log_loss;             /* NaN until uc_evaluation_set_log_loss has set it */
    /* Only with a noise matrix of the test labels: estimates of the figures on the true classes. */
    bool corrected;
    double corrected_error, corrected_error_deviation; /* estimate and its standard error */
    double *corrected_confusion; /* shares of all examples, true class x predicted; may be negative */
} uc_evaluation;

/* Compares `count` labels with predictions; both are indices of the model's classes. UC_NONE means
 * unlabelled; `classes` or above means unknown. All unknown labels together form one more class in macro_f1
 * and balanced_accuracy, with F1 and recall 0. `noise` (of the labels; may be NULL) has the same order of
 * classes. */
uc_status uc_evaluation_compute(uc_evaluation *out, const uint32_t *labels, const uint32_t *predicted,
                                size_t count, size_t classes, const uc_noise *noise);
/* The labels and predictions to compare, and how much each counts. */
typedef struct uc_outcomes {
    const uint32_t *labels, *predicted;
    const double *weights; /* of the rows; rows of weight 0 are left out; NULL: all are 1 */
    const double *soft;    /* count x classes: replaces labels that are known; NULL: none */
    size_t count;
} uc_outcomes;
/* The same with weights and soft labels. An example with soft labels counts for each class with its
 * probability. */
uc_status uc_evaluation_of(uc_evaluation *out, const uc_outcomes *outcomes, size_t classes,
                           const uc_noise *noise);
/* Sets log_loss to the mean of -log p_i over the labelled rows, where p_i = label_probability[i] is the
 * probability that the model gives to the label of row i, clipped to [e, 1 - e] with e = DBL_EPSILON. The
 * result is NaN if any label is unknown, since such a label has no probability. */
uc_status uc_evaluation_set_log_loss(uc_evaluation *self, const uint32_t *labels,
                                     const double *label_probability, size_t count);
void uc_evaluation_free(uc_evaluation *self);

/* The same as a weighted mean; weights NULL: all are 1. */
uc_status uc_evaluation_set_weighted_log_loss(uc_evaluation *self, const uint32_t *labels,
                                              const double *label_probability, const double *weights,
                                              size_t count);

/* The class of a bag from the scores of its examples. best[0..classes) starts as -HUGE_VAL; call uc_bag_add
 * for each example in turn. With two classes a bag is positive if any of its examples scores higher as
 * positive; with more, it gets the class with the highest score of any example, and `positive` is not
 * read. */
void uc_bag_add(double *best, const double *scores, size_t classes, uint32_t positive);
uint32_t uc_bag_class(const double *best, size_t classes, uint32_t positive);

/* The quality of scores on data in which only some positives are labelled. Every figure estimates the one
 * that complete labels would give, using the class prior pi. The estimates are right if it is chance which
 * positives are labelled (docs/evaluate.md). */
typedef struct uc_pu_evaluation {
    size_t labelled, unlabelled;
    double prior;              /* pi, as given */
    double recall;             /* r: share of the labelled rows with a score above 0 */
    double recall_interval[2]; /* Wilson's interval, 95% */
    double predicted_positive; /* q: share of the population with a score above 0 */
    double precision;          /* pi r / q, at most 1; NaN when no score is above 0 */
    double f1;                 /* 2 pi r / (pi + q), at most 1 */
    double error;              /* q + pi - 2 pi r, within [0, 1] */
    double auc; /* (A - pi/2) / (1 - pi), within [0, 1]; A: AUC of labelled rows against the population */
} uc_pu_evaluation;

/* A score above 0 means that the row is predicted positive. censored: all rows together are the population;
 * otherwise the unlabelled ones are. Returns UC_ERR_INVALID without labelled or unlabelled rows, or with a
 * prior outside (0, 1). */
uc_status uc_pu_evaluation_compute(uc_pu_evaluation *out, const bool *labelled, const double *scores,
                                   size_t count, double prior, bool censored);
/* The same, but row i counts weights[i] times, a finite number >= 0; weight 0 leaves it out. The interval is
 * that of the effective number of equally weighted rows. weights NULL: all are 1. */
uc_status uc_pu_evaluation_weighted(uc_pu_evaluation *out, const bool *labelled, const double *scores,
                                    const double *weights, size_t count, double prior, bool censored);

/* The 95% Wilson score interval for `hits` of `trials`. */
void uc_metrics_wilson(double interval[2], size_t hits, size_t trials);
/* The same for a share of `trials` trials, where neither count need be a whole number. */
void uc_metrics_wilson_of_share(double interval[2], double share, double trials);
/* Two-sided p-value of the paired t-test that a and b have the same mean; NaN for fewer than two pairs, 1
 * when all differences are zero. */
double uc_metrics_paired_t_test(const double *a, const double *b, size_t count);

/* The rank of each value, 1 for the smallest; equal values share the mean of their ranks. */
void uc_metrics_ranks(double *ranks, const double *values, size_t count);

/* Friedman's test: whether methods differ over several problems, by their ranks on each. */
typedef struct uc_friedman {
    double statistic;           /* Friedman's chi-squared */
    double p_value;             /* of "all are equally good", by the F statistic of Iman and Davenport */
    double critical_difference; /* mean ranks further apart than this differ at the 5% level (Nemenyi) */
} uc_friedman;                  /* NaN for fewer than two problems or methods */
/* `errors` is problems x methods, row by row; mean_ranks gets one entry per method. */
uc_status uc_metrics_friedman(uc_friedman *out, double *mean_ranks, const double *errors, size_t problems,
                              size_t methods);

#ifdef __cplusplus
}
#endif

#endif
