/* Crowds: several annotators label the same examples; the consensus estimates the true classes. */
#ifndef UNCONFUSE_CROWD_H
#define UNCONFUSE_CROWD_H

#include "unconfuse/context.h"
#include "unconfuse/names.h"
#include "unconfuse/option.h"
#include "unconfuse/output.h"
#include "unconfuse/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- annotations ---- */

/* The annotations: which annotator gave which label to which example. They are ordered by row and, within a
 * row, by annotator; an annotator has at most one annotation per row. */
typedef struct uc_crowd {
    size_t rows;         /* of the data; some may have no annotation */
    size_t count;        /* annotations */
    size_t *first;       /* rows + 1 entries: the annotations of row i are first[i] .. first[i + 1] - 1 */
    uint32_t *annotator; /* position in `annotators` */
    uint32_t *label;     /* position in `classes` */
    uc_names annotators; /* sorted (uc_names_sort); each has at least one annotation */
    uc_names classes;    /* those given by the caller, in that order, or those of the file, sorted */
    uc_names ids;        /* names of the rows if only the file names them; otherwise empty */
} uc_crowd;              /* a zero-initialised one is empty and may be freed */

/* The data that a crowd file refers to. */
typedef struct uc_crowd_frame {
    size_t rows;             /* of the data; 0: the rows are those that the file names */
    const uc_names *ids;     /* of the data's rows, in their order; NULL: rows are numbered from 1 */
    const uc_names *classes; /* NULL: the classes of the file */
} uc_crowd_frame;

/* Reads a crowd file ("-": standard input; .gz and .zst are unpacked) with one annotation per line. A header
 * may name the columns (row, id, task, item or example; annotator, worker or user; label, class or answer);
 * without a header the columns are row, annotator and label. They are separated by commas, semicolons, tabs
 * or, in a file with none of these, blanks. '?' means no label. Repeated annotations count once, with a
 * warning. `frame` may be NULL. *out, which the caller frees, is untouched on failure. */
uc_status uc_crowd_read(uc_crowd *out, const char *path, const uc_crowd_frame *frame,
                        const uc_context *context);
uc_status uc_crowd_read_memory(uc_crowd *out, const void *bytes, size_t length, const char *name,
                               const uc_crowd_frame *frame, const uc_context *context);
/* The same from arrays: annotator annotators->text[annotator[a]] gave row[a], counted from 0, the class
 * label[a]. */
uc_status uc_crowd_from_arrays(uc_crowd *out, const uint32_t *row, const uint32_t *annotator,
                               const uint32_t *label, size_t count, size_t rows, const uc_names *annotators,
                               const uc_names *classes, const uc_context *context);
/* The same from the columns of a table. `list` names the columns, separated by commas; each column is an
 * annotator. Fields that are empty or listed in missing_values (NULL: the usual ones) are no labels. `source`
 * names the table in messages. */
uc_status uc_crowd_from_table(uc_crowd *out, uc_table_text *text, const char *list,
                              const char *missing_values, const char *source, const uc_context *context);
void uc_crowd_free(uc_crowd *self);

/* ---- consensus ---- */

/* P(true class | annotations) of every row; NaN in the first class of a row means that it is not known. The
 * classes are stored in slabs of `width` classes. Each slab holds its classes for all rows, row by row; with
 * width >= classes it is a plain matrix. */
typedef struct uc_posteriors {
    size_t rows, classes, width;
    double *values;
} uc_posteriors;

/* The index of a class within `values`. */
static inline size_t uc_posterior_at(const uc_posteriors *self, size_t row, size_t class_)
{
    const size_t begin = class_ - class_ % self->width, left = self->classes - begin;
    return begin * self->rows + row * (left < self->width ? left : self->width) + class_ - begin;
}

typedef enum uc_consensus_method {
    UC_CONSENSUS_AUDIT, /* also uses the features of the rows; without features it is Dawid-Skene */
    UC_CONSENSUS_DAWID_SKENE,
    UC_CONSENSUS_MAJORITY,
    UC_CONSENSUS_ONE_COIN
} uc_consensus_method;

typedef struct uc_consensus_settings {
    int method;          /* uc_consensus_method (audit) */
    double smoothing;    /* added to every count of labels, >= 0 (0.01) */
    double trust;        /* right labels per class credited to every annotator in advance, >= 0 (1) */
    uint64_t iterations; /* of EM at most (1000) */
    double tolerance;    /* EM stops when the log-likelihood per row rises by less than this (1e-12) */
} uc_consensus_settings;

extern const uc_option uc_consensus_options[]; /* the table of uc_consensus_settings */
uc_consensus_settings uc_consensus_defaults(void);

typedef struct uc_annotator {
    size_t labels;
    double accuracy;    /* the mean probability that a label is right */
    double interval[2]; /* of the accuracy (Wilson, 95%) */
    double information; /* bits about the true class per label; NaN: too many annotators and classes */
} uc_annotator;

typedef struct uc_consensus {
    uc_posteriors posterior;
    double *prior;            /* of each class */
    uint32_t *most_probable;  /* class of each row; the first of several */
    size_t ties;              /* annotated rows where another class is equally probable */
    size_t unannotated;       /* rows without an annotation, whose posterior is the prior */
    uc_annotator *annotators; /* in the same order as in uc_crowd */
    double *pooled;           /* classes x classes: P(label | true class) of all annotators; a row per true
                               class */
    double log_likelihood;    /* of the annotations; NaN for the majority vote, which has none */
    double objective; /* what EM maximises: log_likelihood plus the log prior that smoothing stands for */
    size_t iterations;
    bool converged;
} uc_consensus; /* zero-initialised may be freed */

/* Finds the consensus of the annotations. `gold` (NULL: none) has the true class of each row that was
 * checked, and UC_NONE for the others. EM begins at `start`, the posterior of an earlier result, for as many
 * rows as it has; rows that it does not cover, or all rows if it is NULL, begin at the votes. */
uc_status uc_consensus_find(uc_consensus *out, const uc_crowd *crowd, const uint32_t *gold,
                            const uc_posteriors *start, const uc_consensus_settings *settings,
                            const uc_context *context);
/* The consensus for a posterior that was computed elsewhere, which is copied: derives the figures of the
 * annotators from it. */
uc_status uc_consensus_from_posterior(uc_consensus *out, const uc_crowd *crowd, const double *posterior,
                                      const uint32_t *gold, const uc_context *context);
/* matrix[p * classes + q] = P(annotator says p | true class q), shrunk towards the matrix of all annotators
 * with the weight of ten labels per class. */
uc_status uc_consensus_matrix(double *matrix, const uc_consensus *self, const uc_crowd *crowd,
                              size_t annotator);
void uc_consensus_free(uc_consensus *self);

/* A question to ask next: a row whose true class is among the least certain, and, of the annotators who have
 * not labelled it, the one whose labels are the most informative. */
typedef struct uc_question {
    size_t row;         /* from 0 */
    uint32_t annotator; /* UC_NONE: every annotator has labelled the row */
    double probability; /* of the most probable class */
} uc_question;
/* The first `count` questions, or fewer if there are fewer uncertain rows; `gold` as above. *out is freed
 * with uc_questions_free. */
uc_status uc_questions_find(uc_question **out, size_t *found, const uc_consensus *self, const uc_crowd *crowd,
                            const uint32_t *gold, size_t count);
void uc_questions_free(uc_question *questions);

/* ---- adding annotations to a result ---- */

/* Writes annotations and posteriors to an output, which stays open; uc_crowd_state_add reads them. */
uc_status uc_crowd_state_write(uc_output *output, const uc_crowd *crowd, const uc_consensus *consensus);
/* Adds the annotations in the file to `crowd`, whose rows and classes must be those of the same data; an
 * annotation that is in both counts once. *start becomes the point from which uc_consensus_find continues;
 * free it with uc_posteriors_free. On failure both are unchanged. */
uc_status uc_crowd_state_add(uc_crowd *crowd, uc_posteriors *start, const char *path,
                             const uc_context *context);
void uc_posteriors_free(uc_posteriors *self);

/* ---- which annotations are wrong ---- */

/* A share with its interval (bootstrap over rows, 95%). */
typedef struct uc_share_estimate {
    double estimate, low, high;
} uc_share_estimate;

typedef struct uc_crowd_issue {
    uint32_t row;        /* from 0 */
    uint32_t annotation; /* position in uc_crowd */
    double wrong;        /* the probability that it is wrong */
} uc_crowd_issue;

#define UC_WORST_PAIRS ((size_t)10)
/* The share of all annotations that say `given` where the true class is `truth`. */
typedef struct uc_crowd_mistake {
    uint32_t given, truth;
    uc_share_estimate share;
} uc_crowd_mistake;

typedef struct uc_crowd_issues {
    uc_crowd_issue *issues; /* every annotation, the most suspicious first */
    size_t count, flagged;  /* the first `flagged` are worth a look (largest expected F1) */
    uc_share_estimate wrong;
    uc_crowd_mistake *pairs; /* the most frequent mistakes, at most UC_WORST_PAIRS */
    size_t pair_count;
} uc_crowd_issues; /* zero-initialised may be freed */

uc_status uc_crowd_issues_find(uc_crowd_issues *out, const uc_consensus *consensus, const uc_crowd *crowd,
                               uint64_t seed, const uc_context *context);
void uc_crowd_issues_free(uc_crowd_issues *self);
/* How many of the most suspicious labels to flag: the number with the largest expected F1, or 0 if it is more
 * likely that all labels are right. wrong[0 .. count-1] must descend; `total` is their sum. */
size_t uc_flag_most(const double *wrong, size_t count, double total);

#ifdef __cplusplus
}
#endif

#endif
