/* The error on true classes of a model of which only the probabilities are known. Its prediction is the most
 * probable class; the error is estimated by noise hypotheses (learn/calibration/clean_error.c) on log p.
 * Classes of a row whose probabilities were not kept get the smallest one that was. */
#include <math.h>
#include <stdlib.h>

#include "audit/probability_rows.h"
#include "unconfuse/random.h"

#define MOST_CLASSES ((size_t)200)      /* with more, nothing can be estimated */
#define SEQUENCE UINT64_C(0x70726f6261) /* "proba": for sampling the rows */

/* The most probable class, the first one if tied. */
static uint32_t predict(const uc_probability_rows *rows, size_t i)
{
    const uint32_t *class = rows->class + i * rows->kept;
    const float *log_p = rows->log_p + i * rows->kept;
    size_t best = 0;
    for (size_t e = 1; e < rows->kept; e++)
        if (log_p[e] > log_p[best] || (log_p[e] >= log_p[best] && class[e] < class[best]))
            best = e;
    return class[best];
}

static void copy_scores(double *scores, const uc_probability_rows *rows, size_t i)
{
    const uint32_t *class = rows->class + i * rows->kept;
    const float *log_p = rows->log_p + i * rows->kept;
    double least = (double)log_p[0];
    for (size_t e = 1; e < rows->kept; e++)
        least = fmin(least, (double)log_p[e]);
    for (size_t k = 0; k < rows->K; k++)
        scores[k] = least;
    for (size_t e = 0; e < rows->kept; e++)
        scores[class[e]] = (double)log_p[e];
}

/* Only the share of labels that differ from the prediction is known. */
static void say_nothing(uc_clean_error *out, const uc_probability_rows *rows, const uint32_t *labels)
{
    size_t labelled = 0, other = 0;
    for (size_t i = 0; i < rows->rows; i++)
        if (labels[i] != UC_NONE) {
            labelled++;
            other += labels[i] != predict(rows, i);
        }
    const double noisy = (double)other / (double)labelled;
    *out = (uc_clean_error){
        .estimate = noisy, .high = 1.0, .noisy = noisy, .rows = labelled, .strata = {0.1, 0.5}};
}

/* Samples the rows to use into `items`; returns how many. `order` has room for all rows. */
static size_t choose_rows(size_t *items, size_t *order, size_t *labelled, const uint32_t *labels, size_t rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
        if (labels[i] != UC_NONE)
            items[count++] = i;
    *labelled = count;
    if (count <= UC_CLEAN_ERROR_ROWS)
        return count;
    uc_rng rng = uc_rng_make(1, SEQUENCE);
    uc_rng_choose(&rng, order, count, UC_CLEAN_ERROR_ROWS);
    for (size_t i = 0; i < UC_CLEAN_ERROR_ROWS; i++)
        order[i] = items[order[i]];
    for (size_t i = 0; i < UC_CLEAN_ERROR_ROWS; i++)
        items[i] = order[i];
    return UC_CLEAN_ERROR_ROWS;
}

uc_status uc_probability_clean_error(uc_clean_error *out, const uc_probability_rows *rows,
                                     const uint32_t *labels, const uc_context *context)
{
    const size_t K = rows->K;
    size_t labelled = 0, *items = NULL, *order = NULL;
    double *scores = NULL;
    uint32_t *given = NULL;
    uc_status status = UC_ERR_NOMEM;
    if (K > MOST_CLASSES) {
        say_nothing(out, rows, labels);
        return UC_OK;
    }
    items = uc_alloc(rows->rows, sizeof *items);
    order = uc_alloc(rows->rows, sizeof *order);
    if (!items || !order)
        goto cleanup;
    const size_t count = choose_rows(items, order, &labelled, labels, rows->rows);
    scores = uc_alloc(count * K, sizeof *scores);
    given = uc_alloc(count, sizeof *given);
    if (!scores || !given)
        goto cleanup;
    for (size_t i = 0; i < count; i++) {
        copy_scores(scores + i * K, rows, items[i]);
        given[i] = labels[items[i]];
    }
    const uc_scored_rows scored = {.scores = scores, .labels = given, .rows = count, .classes = K};
    status = uc_clean_error_estimate(out, &scored, context);
    out->rows = labelled;
cleanup:
    uc_free(items);
    uc_free(order);
    uc_free(scores);
    uc_free(given);
    return status;
}
