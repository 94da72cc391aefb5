/* Rows that a person checks: which ones, and what their true classes say about a model. */
#ifndef UNCONFUSE_CHECK_H
#define UNCONFUSE_CHECK_H

#include "unconfuse/clean_error.h"
#include "unconfuse/names.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A model errs at different rates where its prediction is the label and where it is not, so rows are drawn
 * from both. */
typedef enum uc_stratum { UC_AGREE, UC_DISAGREE, UC_STRATA } uc_stratum;
const char *uc_stratum_name(uc_stratum stratum); /* "agree", "disagree" */

/* Rows with their labels and what a model predicts for them. Borrows everything. */
typedef struct uc_predicted_rows {
    const uint32_t
        *labels; /* positions in `classes`; UC_NONE: none; above: one that the model does not know */
    const uint32_t *predicted; /* positions in `classes` */
    size_t rows;
    const uc_names *classes; /* the model's */
    const char *name;        /* of the data, for messages */
    const char *const *ids;  /* of the rows, NULL where one has none; NULL: none has */
    bool named;              /* rows have no order but that of their ids, which all of them have */
} uc_predicted_rows;

/* ---- which rows ---- */

typedef struct uc_check {
    size_t *rows; /* from 0, in random order, so that those checked so far are a random part of all */
    size_t count;
    size_t sizes[UC_STRATA], drawn[UC_STRATA]; /* labelled rows of each stratum, and how many of them */
} uc_check;                                    /* zero-initialised may be freed */

/* Draws `wanted` labelled rows (all, if there are fewer), from each stratum in proportion to its size times
 * sqrt(g (1 - g)), at least 5. g[h] is the error that is expected there, as in uc_clean_error. */
uc_status uc_check_draw(uc_check *out, const uc_predicted_rows *rows, size_t wanted,
                        const double g[UC_STRATA], uint64_t seed);
void uc_check_free(uc_check *self);

/* ---- what they say ---- */

typedef struct uc_checked_stratum {
    size_t rows;    /* labelled rows of the data */
    size_t checked; /* of them: with a true class */
    size_t errors;  /* of those: the prediction is another class */
} uc_checked_stratum;

/* Rows of a file that have a true class. */
typedef struct uc_checked {
    size_t *rows; /* from 0, ascending in the file's order */
    uint32_t *truth;
    uint8_t *stratum; /* UC_STRATA: not known */
    size_t count;
    size_t empty;                              /* rows of the file without a true class */
    bool stratified;                           /* drawn by uc_check_draw, with sizes[] */
    size_t sizes[UC_STRATA], drawn[UC_STRATA]; /* as the file says; 0 without */
    const char *why;                           /* not stratified: what shows it; NULL: nothing to say */
    bool other_model;                          /* drawn for other predictions than these */
    size_t missing;                            /* rows that were drawn and are not in the file */
} uc_checked;                                  /* zero-initialised may be freed */

/* Reads a file that `unconfuse check` wrote and somebody filled in (comma, semicolon or tab; columns in any
 * order, `true_label` needed, and `row` or `id`); or one of two columns with a header: `row`, `id`, `task`,
 * `item` or `example`, and `true_label`, `label` or `class`; or the JSON of tasks that Label Studio or of
 * records that Argilla exports (`row` is in what was shown, the answer is that to the question true_label);
 * or else, as uc_labels_read does, one with a label for every row and '?' where nobody has looked. Where rows
 * are `named` the column `row` has ids, unless there is a column `id`, and labels without ids are refused
 * unless ids are numbers, which then count the labels from 1. UC_ERR_FORMAT: a row that the data do not have,
 * or twice; a class that the model does not know; labels other than those of the data. */
uc_status uc_checked_read(uc_checked *out, const char *path, const uc_predicted_rows *rows,
                          const uc_context *context);
void uc_checked_free(uc_checked *self);

/* The error of `rows->predicted` by the checked rows: sum over strata of W_h k_h / m_h, with the normal
 * interval at UC_CLEAN_ERROR_LEVEL whose variances take (k + 1/2) / (m + 1) for k / m; a stratum without
 * checked rows may be all right or all wrong. Not stratified: all rows are one stratum, and the interval
 * holds if they were drawn at random. strata[] (may be NULL) gets the counts; [0] alone if there is one.
 * UC_ERR_INVALID: no row is checked. */
uc_status uc_checked_error(uc_clean_error *out, uc_checked_stratum strata[UC_STRATA], const uc_checked *self,
                           const uc_predicted_rows *rows);

#ifdef __cplusplus
}
#endif

#endif
