/* Rows that a person checks: which ones, and what their true classes say about a model. */
#ifndef UNCONFUSE_CHECK_H
#define UNCONFUSE_CHECK_H

#include "unconfuse/clean_error.h"
#include "unconfuse/names.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A model errs at different rates where its prediction agrees with the label and where it does not, so rows
 * are drawn from both strata. */
typedef enum uc_stratum { UC_AGREE, UC_DISAGREE, UC_STRATA } uc_stratum;
const char *uc_stratum_name(uc_stratum stratum); /* "agree", "disagree" */

/* Rows with their labels and a model's predictions for them. All pointers are borrowed. */
typedef struct uc_predicted_rows {
    const uint32_t
        *labels; /* positions in `classes`; UC_NONE: none; classes->count or above: unknown to the model */
    const uint32_t *predicted; /* positions in `classes` */
    size_t rows;
    const uc_names *classes; /* the model's */
    const char *name;        /* of the data, for messages */
    const char *const *ids;  /* of the rows, NULL for a row without id; NULL if no row has one */
    bool named;              /* rows are identified by their ids, which all of them have, not by order */
} uc_predicted_rows;

/* ---- which rows ---- */

typedef struct uc_check {
    size_t *rows; /* from 0, in random order, so that any first part of them is a random sample */
    size_t count;
    size_t sizes[UC_STRATA], drawn[UC_STRATA]; /* labelled rows per stratum, and how many were drawn */
} uc_check;                                    /* zero-initialised may be freed */

/* Draws `wanted` labelled rows (all of them if there are fewer). The share of each stratum is proportional to
 * its size times sqrt(g (1 - g)), with at least 5 rows; g[h] is the error expected in stratum h, as in
 * uc_clean_error. */
uc_status uc_check_draw(uc_check *out, const uc_predicted_rows *rows, size_t wanted,
                        const double g[UC_STRATA], uint64_t seed);
void uc_check_free(uc_check *self);

/* ---- what they say ---- */

typedef struct uc_checked_stratum {
    size_t rows;    /* labelled rows of the data */
    size_t checked; /* of these, rows with a true class */
    size_t errors;  /* of those, rows whose prediction is another class */
} uc_checked_stratum;

/* The rows of a file that have a true class. */
typedef struct uc_checked {
    size_t *rows; /* from 0, ascending in the file's order */
    uint32_t *truth;
    uint8_t *stratum; /* UC_STRATA: not known */
    size_t count;
    size_t empty;                              /* rows of the file without a true class */
    bool stratified;                           /* drawn by uc_check_draw, with sizes[] */
    size_t sizes[UC_STRATA], drawn[UC_STRATA]; /* as stated in the file; 0 if it does not */
    const char *why;                           /* why the rows are not stratified; NULL: nothing to report */
    bool other_model;                          /* the rows were drawn for other predictions than these */
    size_t missing;                            /* rows that were drawn and are not in the file */
} uc_checked;                                  /* zero-initialised may be freed */

/* Reads the true classes that somebody filled in. The file may be one that `unconfuse check` wrote (separated
 * by comma, semicolon or tab; columns in any order, with `true_label` and either `row` or `id`), two columns
 * with a header (`row`, `id`, `task`, `item` or `example`; `true_label`, `label` or `class`), a JSON export
 * of Label Studio tasks or Argilla records (`row` is among the fields shown, the answer is the one to the
 * question true_label), or else, as for uc_labels_read, one label per row with '?' where nobody has looked.
 * If rows are `named`, the column `row` holds ids unless there is a column `id`, and labels without ids are
 * refused unless the ids are numbers, which then number the labels from 1. Returns UC_ERR_FORMAT for a row
 * that the data do not have or that occurs twice, a class that the model does not know, and labels that
 * differ from those of the data. */
uc_status uc_checked_read(uc_checked *out, const char *path, const uc_predicted_rows *rows,
                          const uc_context *context);
void uc_checked_free(uc_checked *self);

/* Estimates the error of `rows->predicted` from the checked rows: the sum over strata h of W_h k_h / m_h,
 * where W is the share of the rows, m counts checked rows and k their errors. The normal interval at
 * UC_CLEAN_ERROR_LEVEL uses (k + 1/2) / (m + 1) for k / m in its variances; a stratum without checked rows
 * may be all right or all wrong. If `self` is not stratified, all rows form one stratum, and the interval
 * holds if they were drawn at random. strata[] (may be NULL) gets the counts; only strata[0] is set if there
 * is one stratum. Returns UC_ERR_INVALID if no row is checked. */
uc_status uc_checked_error(uc_clean_error *out, uc_checked_stratum strata[UC_STRATA], const uc_checked *self,
                           const uc_predicted_rows *rows);

#ifdef __cplusplus
}
#endif

#endif
