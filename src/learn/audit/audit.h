/* `audit`: finds wrong labels, and trains a model that does not rely on them. The input is one label per row
 * or the labels of several annotators (docs/learners/audit.md).
 *
 *   n, K    rows, classes                    z   true class of a row, which is unknown
 *   R       n x K: P(z | all data)           S   n x K: scores of rows by fits without their labels
 *   C_j     K x K: C_j[z][l] = P(annotator j says l | true class z); rows sum to 1
 *
 * Rows are those of one process; sums and numbers of annotators are over all processes. */
#ifndef UC_AUDIT_LEARNER_H
#define UC_AUDIT_LEARNER_H

#include "learn/calibration/clean_error.h"
#include "model/model.h"
#include "parallel/parallel.h"
#include "unconfuse/learn.h"

/* ---- who labelled what (annotations.c) ---- */

/* An annotator's label of a row. */
typedef struct uc_annotation {
    uint32_t row, annotator, label;
} uc_annotation;

/* The annotations of some rows. An annotator and a label that occur together form a pair. What is learned
 * about an annotator is stored by pairs, so memory grows with the annotations and not with annotators x
 * K^2. */
typedef struct uc_annotations {
    size_t rows, K;
    size_t annotators;    /* over all processes; 1: ordinary labels */
    size_t count;         /* annotations of this process's rows */
    uc_annotation *items; /* sorted by row; within a row in the order given */
    size_t *first;        /* rows + 1: the annotations of row i are first[i] .. first[i + 1] - 1 */
    uint32_t *pair;       /* of each annotation */
    size_t pairs;         /* over all processes */
    uint32_t *annotator_of, *label_of; /* per pair, sorted by annotator, then by label */
    double total_rows, total;          /* rows and annotations over all processes */
} uc_annotations;                      /* zero-initialised may be freed */

/* Copies items[0..count), which may come in any order. Returns UC_ERR_INVALID if one is out of bounds. */
uc_status uc_annotations_make(uc_annotations *out, const uc_annotation *items, size_t count, size_t rows,
                              size_t annotators, size_t K, const uc_context *context);
/* A single annotator, whose labels are y; rows with UC_NONE have no annotation. */
uc_status uc_annotations_of_labels(uc_annotations *out, const uint32_t *y, size_t rows, size_t K,
                                   const uc_context *context);
void uc_annotations_free(uc_annotations *self);
/* R0 = (votes + 1/(9K)) / (annotations + 1/9) for each row. */
void uc_annotations_votes(double *R, const uc_annotations *self);

/* ---- what is known about rows besides their features ---- */

typedef struct uc_labelled {
    const uc_annotations *annotations;
    const uint32_t *gold;  /* true class of each checked row, UC_NONE for the others; NULL: none was */
    const double *weights; /* of the rows, > 0; NULL: all are 1 */
    double total_weight;   /* over all processes; set by uc_labelled_weigh */
    const uc_context *context;
} uc_labelled;

uc_status uc_labelled_weigh(uc_labelled *self); /* sets total_weight */
/* R0, with certainty for rows that were checked. */
void uc_labelled_start(double *R, const uc_labelled *self);

/* ---- how annotators confuse classes (confusion.c) ---- */

/* P has the normalised rows of sum_j N_j + I + 1/K, where N_j[z][l] sums R[row][z] over annotator j's labels
 * l. With one annotator, C = P; with several, C_j has the normalised rows of N_j + 10 P. */
typedef struct uc_confusion {
    size_t K, pairs;
    double *P;      /* K x K */
    double *logs;   /* pairs x K: log C_j[z][l] of pair (j, l) */
    double *counts; /* pairs x K: N_j[z][l] */
} uc_confusion;     /* zero-initialised may be freed */

uc_status uc_confusion_create(uc_confusion *out, const uc_annotations *annotations);
void uc_confusion_free(uc_confusion *self);
uc_status uc_confusion_find(uc_confusion *self, const uc_labelled *labelled, const double *R);
/* LL[z] = sum over the row's annotations of log C_j[z][l]; minus infinity if a check rules class z out. */
void uc_confusion_of_row(double *LL, const uc_confusion *self, const uc_labelled *labelled, size_t row);
/* C_j, K x K, of one annotator; counts of labels that the annotator never used are 0. */
void uc_confusion_of_annotator(double *C, const uc_confusion *self, const uc_labelled *labelled,
                               uint32_t annotator);

/* ---- expectation (expectation.c) ---- */

#define UC_AUDIT_TEMPERATURES 16
/* R_i <- softmax(S_i / t + LL_i). *change becomes the largest change of R; fits[k] (NULL, or one entry per
 * temperature) becomes the mean of log sum_z softmax(S_i / temperatures[k])_z exp(LL_iz). */
typedef struct uc_expectation {
    const uc_labelled *labelled;
    const uc_confusion *confusion;
    const double *S;
    double temperature;         /* t */
    const double *temperatures; /* at most UC_AUDIT_TEMPERATURES */
    size_t count;
} uc_expectation;
uc_status uc_expect(double *R, double *change, double *fits, const uc_expectation *self);
/* The mean of log sum_z pi_z exp(LL_iz): the fit of the labels without features. */
uc_status uc_fit_of_prior(double *out, const uc_labelled *labelled, const uc_confusion *confusion,
                          const double *pi);
/* pi_k = (sum of R_k + 1)/(n + K) */
uc_status uc_class_prior(double *pi, const uc_labelled *labelled, const double *R);

/* ---- all of it (audit.c) ---- */

typedef struct uc_audit_fit {
    size_t rows, K;
    double *R;          /* rows x K */
    double *S;          /* rows x K, log pi included; softmax(S / temperature) is P(z) from other rows
                           alone */
    double temperature; /* the most likely one */
    /* From fits without the row's label (held_out.c); if there are many rows, by leave-one-out: */
    double *held_out;       /* rows x K: S of the last step */
    double *first;          /* rows x K: S of the fit to the labels as they are */
    uint32_t *predicted;    /* the model's class for each row */
    uc_confusion confusion; /* from R */
    double *pi;             /* K */
    int mode;               /* uc_audit_mode: the decision, never UC_AUDIT_AUTO */
    double loss;            /* of the guard (guard.c) */
    double width;           /* of the kernels, in median distances */
    unsigned steps;
    bool large; /* more than 600 rows; up to 600, all rows are landmarks by default */
} uc_audit_fit; /* zero-initialised may be freed */

/* `X` has the rows as in the file. Unless `model` is NULL, its preprocessing, weights and calibration become
 * those of the fit; it must have as many features as X has columns. */
uc_status uc_audit_run(uc_audit_fit *out, uc_model *model, const uc_matrix *X, const uc_labelled *labelled,
                       const uc_audit_settings *settings, uint64_t seed);
/* The same, only up to the guard: R, S, loss and mode of `structure`, whether or not the guard accepts it; no
 * model. */
uc_status uc_audit_guard(uc_audit_fit *out, const uc_matrix *X, const uc_labelled *labelled,
                         const uc_audit_settings *settings, uint64_t seed);
void uc_audit_fit_free(uc_audit_fit *self);
/* The error of `predicted` on the true classes, and the share of wrong labels according to R; the same in all
 * processes (error.c). `seed` draws one label of each row that has several. */
uc_status uc_audit_clean_error(uc_clean_error *out, const uc_audit_fit *found, const uc_labelled *labelled,
                               uint64_t seed);
/* Q, rows x K: R turned into calibrated probabilities, by dividing scores by *temperature (soften.c). */
uc_status uc_audit_soften(double *Q, double *temperature, const uc_audit_fit *found,
                          const uc_labelled *labelled);
/* Stores the findings in the model's summary, and its noise matrix. wrong_at_most as in
 * uc_clean_error_save. */
uc_status uc_audit_describe(uc_model *model, const uc_audit_fit *found, const uc_clean_error *error,
                            double wrong_at_most);
/* The share of labels that are wrong according to R. */
uc_status uc_audit_share_wrong(double *out, const uc_audit_fit *found, const uc_labelled *labelled);
const char *uc_audit_mode_name(int mode);

#endif
