/* Crowds: several annotators who label the same examples, and what the examples really are. */
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

/* Who said what about which example. Annotations are in the order of the rows, those of a row in the order of
 * the annotators, and an annotator has one at most on a row. */
typedef struct uc_crowd {
    size_t rows;         /* of the data; some may have no annotation */
    size_t count;        /* annotations */
    size_t *first;       /* rows + 1: those of row i are first[i] .. first[i + 1] - 1 */
    uint32_t *annotator; /* position in `annotators` */
    uint32_t *label;     /* position in `classes` */
    uc_names annotators; /* sorted (uc_names_sort); each has an annotation */
    uc_names classes;    /* those that the caller knows, in that order, or those of the file, sorted */
    uc_names ids;        /* the names of the rows where nothing but the file names them; else empty */
} uc_crowd;              /* a zero-initialised one is empty and may be freed */

/* What a crowd file is about. */
typedef struct uc_crowd_frame {
    size_t rows;             /* of the data; 0: rows are those that the file names */
    const uc_names *ids;     /* of the data's rows, in their order; NULL: rows have numbers, from 1 */
    const uc_names *classes; /* NULL: those of the file */
} uc_crowd_frame;

/* Reads a crowd file ("-": standard input; .gz and .zst are unpacked): one annotation per line, with a header
 * that names the columns (row, id, task, item or example; annotator, worker or user; label, class or
 * answer) or
 * without one, as row, annotator and label. Columns are separated by commas, semicolons, tabs or, where a
 * file has none of these, blanks. '?' is no label. Annotations that a file repeats count once, with a
 * warning.
 * `frame` may be NULL. *out, which the caller frees, is untouched on failure. */
uc_status uc_crowd_read(uc_crowd *out, const char *path, const uc_crowd_frame *frame,
                        const uc_context *context);
uc_status uc_crowd_read_memory(uc_crowd *out, const void *bytes, size_t length, const char *name,
                               const uc_crowd_frame *frame, const uc_context *context);
/* The same from arrays: annotation a is annotators->text[annotator[a]] saying class label[a] about row[a],
 * from 0. */
uc_status uc_crowd_from_arrays(uc_crowd *out, const uint32_t *row, const uint32_t *annotator,
                               const uint32_t *label, size_t count, size_t rows, const uc_names *annotators,
                               const uc_names *classes, const uc_context *context);
/* The same from columns of a table, `list` with commas, each of which is an annotator; fields that are empty
 * or among missing_values (NULL: the usual ones) are no label. `source` names the table in messages. */
uc_status uc_crowd_from_table(uc_crowd *out, uc_table_text *text, const char *list,
                              const char *missing_values, const char *source, const uc_context *context);
void uc_crowd_free(uc_crowd *self);

/* ---- consensus ---- */

/* P(true class | annotations) of every row; NaN in the first class of a row: not known. The classes are
 * kept in slabs of `width`, each of which holds its
 * classes of all rows, row by row: with width >= classes it is a plain matrix. */
typedef struct uc_posteriors {
    size_t rows, classes, width;
    double *values;
} uc_posteriors;

/* Where the class is among `values`. */
static inline size_t uc_posterior_at(const uc_posteriors *self, size_t row, size_t class_)
{
    const size_t begin = class_ - class_ % self->width, left = self->classes - begin;
    return begin * self->rows + row * (left < self->width ? left : self->width) + class_ - begin;
}

typedef enum uc_consensus_method {
    UC_CONSENSUS_AUDIT, /* with the features of the rows; without features it is Dawid-Skene */
    UC_CONSENSUS_DAWID_SKENE,
    UC_CONSENSUS_MAJORITY,
    UC_CONSENSUS_ONE_COIN
} uc_consensus_method;

typedef struct uc_consensus_settings {
    int method;          /* uc_consensus_method (audit) */
    double smoothing;    /* what every count of labels begins with, >= 0 (0.01) */
    double trust;        /* right labels, per class, that every annotator is credited with, >= 0 (1) */
    uint64_t iterations; /* of EM, at most (1000) */
    double tolerance;    /* EM ends when the log-likelihood rises by less than this per row (1e-12) */
} uc_consensus_settings;

extern const uc_option uc_consensus_options[]; /* the table of uc_consensus_settings */
uc_consensus_settings uc_consensus_defaults(void);

typedef struct uc_annotator {
    size_t labels;
    double accuracy;    /* the mean probability that a label is right */
    double interval[2]; /* of the accuracy (Wilson, 95%) */
    double information; /* bits that a label tells of the true class; NaN: too many annotators and classes */
} uc_annotator;

typedef struct uc_consensus {
    uc_posteriors posterior;
    double *prior;            /* of each class */
    uint32_t *most_probable;  /* class of each row; of equal ones the first */
    size_t ties;              /* annotated rows where another class is as probable */
    size_t unannotated;       /* rows without an annotation, whose posterior is the prior */
    uc_annotator *annotators; /* in the order of uc_crowd's */
    double *pooled;           /* classes x classes: P(label | true class) of all annotators, rows are true */
    double log_likelihood;    /* of the annotations; majority has none: NaN */
    double objective; /* what EM raises: that, and the logarithm of the prior that smoothing stands for */
    size_t iterations;
    bool converged;
} uc_consensus; /* zero-initialised may be freed */

/* The consensus of the annotations. `gold` (NULL: none) has the true class of rows that were checked, and
 * UC_NONE for others. `start` (NULL, and rows that it does not know: the votes) is where EM begins: the
 * posterior of an earlier result, for
 * as
 * many rows as it has. */
uc_status uc_consensus_find(uc_consensus *out, const uc_crowd *crowd, const uint32_t *gold,
                            const uc_posteriors *start, const uc_consensus_settings *settings,
                            const uc_context *context);
/* What a posterior of another origin says of the annotators; it is copied. */
uc_status uc_consensus_from_posterior(uc_consensus *out, const uc_crowd *crowd, const double *posterior,
                                      const uint32_t *gold, const uc_context *context);
/* matrix[p * classes + q] = P(annotator says p | true class q), shrunk towards all annotators' matrix by the
 * weight of ten labels per class. */
uc_status uc_consensus_matrix(double *matrix, const uc_consensus *self, const uc_crowd *crowd,
                              size_t annotator);
void uc_consensus_free(uc_consensus *self);

/* Whom to ask again: rows whose true class is least certain, and for each the annotator whose labels tell
 * most
 * among those who have not labelled it. */
typedef struct uc_question {
    size_t row;         /* from 0 */
    uint32_t annotator; /* UC_NONE: all have labelled it */
    double probability; /* of the most probable class */
} uc_question;
/* The first `count` questions, or fewer when there are fewer uncertain rows; `gold` as above. *out is freed
 * with
 * uc_questions_free. */
uc_status uc_questions_find(uc_question **out, size_t *found, const uc_consensus *self, const uc_crowd *crowd,
                            const uint32_t *gold, size_t count);
void uc_questions_free(uc_question *questions);

/* ---- adding annotations to a result ---- */

/* Writes annotations and posteriors to an output, which stays open, for uc_crowd_state_add. */
uc_status uc_crowd_state_write(uc_output *output, const uc_crowd *crowd, const uc_consensus *consensus);
/* Adds the annotations that the file has to `crowd`, whose rows and classes must be of the same data; what
 * both
 * have counts once. *start, which is freed with uc_posteriors_free, is where uc_consensus_find goes on
 * from. On
 * failure both are as they were. */
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
    double wrong;        /* the probability that it is */
} uc_crowd_issue;

#define UC_WORST_PAIRS ((size_t)10)
/* The share of the annotations that say `given` where `truth` is right. */
typedef struct uc_crowd_mistake {
    uint32_t given, truth;
    uc_share_estimate share;
} uc_crowd_mistake;

typedef struct uc_crowd_issues {
    uc_crowd_issue *issues; /* every annotation, the most suspicious first */
    size_t count, flagged;  /* the first `flagged` are those to look at: the largest expected F1 */
    uc_share_estimate wrong;
    uc_crowd_mistake *pairs; /* the most frequent mistakes, at most UC_WORST_PAIRS */
    size_t pair_count;
} uc_crowd_issues; /* zero-initialised may be freed */

uc_status uc_crowd_issues_find(uc_crowd_issues *out, const uc_consensus *consensus, const uc_crowd *crowd,
                               uint64_t seed, const uc_context *context);
void uc_crowd_issues_free(uc_crowd_issues *self);
/* How many of the most suspicious labels to flag: the number with the largest expected F1; none, where it is
 * more likely that all are right. wrong[0 .. count-1] descend; their sum is `total`. */
size_t uc_flag_most(const double *wrong, size_t count, double total);

#ifdef __cplusplus
}
#endif

#endif
