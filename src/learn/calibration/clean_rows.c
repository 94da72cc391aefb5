/*
 * The error on true classes for the scores of any model: selects the rows and scales their scores.
 *
 * Probabilities are calibrated in the same way as the scores of ridge regression. Other scores may have any
 * scale, which carries no information. Therefore each row is centred, and all scores are divided by one
 * number so that their mean square is that of one-hot labels, (1 - 1/K) / K; the search for a1 expects this
 * scale.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/calibration/clean_error.h"
#include "learn/calibration/families.h"
#include "linalg/linalg.h"
#include "model/model.h"
#include "unconfuse/random.h"

#define LEAST_ROWS 20
#define MOST_CLASSES 200            /* each calibrator has a matrix */
#define QUANTILE 1.6448536269514722 /* of the normal distribution, for a two-sided 90% */
#define SEQUENCE 0x636c65616eULL    /* of the random numbers that choose rows */

/* ---- rows ---- */

/* The rows used for the estimate, in the layout that a calibrator needs. */
typedef struct chosen_rows {
    double *scores, *weights;
    uint32_t *labels, *predicted;
    size_t count, labelled; /* rows used, and all rows that have a label */
    double unknown;         /* share of the labelled rows, by weight, whose label the model does not know */
    bool plain;
} chosen_rows;

static void free_rows(chosen_rows *self)
{
    uc_free(self->scores);
    uc_free(self->weights);
    uc_free(self->labels);
    uc_free(self->predicted);
}

static double weight_of(const uc_scored_rows *rows, size_t i)
{
    return rows->weights ? rows->weights[i] : 1.0;
}

/* Lists the rows with known labels and a weight above 0 in `items`; *count becomes their number. */
static uc_status list_known(size_t *items, size_t *count, chosen_rows *out, const uc_scored_rows *rows)
{
    double known = 0.0, unknown = 0.0;
    *count = 0;
    for (size_t i = 0; i < rows->rows; i++) {
        if (rows->labels[i] == UC_NONE || weight_of(rows, i) <= 0.0)
            continue;
        out->labelled++;
        if (rows->labels[i] >= rows->classes) {
            unknown += weight_of(rows, i);
            continue;
        }
        known += weight_of(rows, i);
        items[(*count)++] = i;
    }
    if (known + unknown <= 0.0)
        return uc_fail(UC_ERR_INVALID, "there is no labelled example to estimate an error from");
    out->unknown = unknown / (known + unknown);
    return UC_OK;
}

static int by_number(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Keeps at most UC_CLEAN_ERROR_ROWS of them, in their order. */
static uc_status thin(size_t *items, size_t *count)
{
    const size_t kept = UC_CLEAN_ERROR_ROWS;
    if (*count <= kept)
        return UC_OK;
    size_t *order = uc_alloc(*count, sizeof *order);
    if (!order)
        return UC_ERR_NOMEM;
    uc_rng rng = uc_rng_make(1, SEQUENCE);
    uc_rng_choose(&rng, order, *count, kept);
    qsort(order, kept, sizeof *order, by_number);
    for (size_t i = 0; i < kept; i++)
        items[i] = items[order[i]];
    *count = kept;
    uc_free(order);
    return UC_OK;
}

static uc_status copy_rows(chosen_rows *out, const uc_scored_rows *rows, const size_t *items, size_t count)
{
    const size_t K = rows->classes;
    out->scores = uc_alloc(count * K, sizeof *out->scores);
    out->weights = uc_alloc(count, sizeof *out->weights);
    out->labels = uc_alloc(count, sizeof *out->labels);
    out->predicted = uc_alloc(count, sizeof *out->predicted);
    if (!out->scores || !out->weights || !out->labels || !out->predicted)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const double *scores = rows->scores + items[i] * K;
        memcpy(out->scores + i * K, scores, K * sizeof *scores);
        out->weights[i] = weight_of(rows, items[i]);
        out->labels[i] = rows->labels[items[i]];
        out->predicted[i] = (uint32_t)(rows->predicted ? rows->predicted[items[i]] : uc_argmax(scores, K));
    }
    out->count = count;
    out->plain = !rows->probabilities;
    return UC_OK;
}

/* Centres the scores and scales them to the size of one-hot labels. */
static void rescale(chosen_rows *self, size_t K)
{
    double squares = 0.0;
    for (size_t i = 0; i < self->count; i++) {
        double *f = self->scores + i * K, mean = 0.0;
        for (size_t k = 0; k < K; k++)
            mean += f[k] / (double)K;
        for (size_t k = 0; k < K; k++) {
            f[k] -= mean;
            squares += f[k] * f[k];
        }
    }
    const double wanted = (1.0 - 1.0 / (double)K) / (double)K;
    const double factor = sqrt(wanted * (double)(self->count * K) / squares);
    for (size_t i = 0; i < self->count * K && isfinite(factor); i++)
        self->scores[i] *= factor;
}

static uc_status choose_rows(chosen_rows *out, const uc_scored_rows *rows)
{
    size_t count = 0, *items = uc_alloc(rows->rows, sizeof *items);
    if (!items)
        return UC_ERR_NOMEM;
    uc_status status = list_known(items, &count, out, rows);
    if (status == UC_OK)
        status = thin(items, &count);
    if (status == UC_OK)
        status = copy_rows(out, rows, items, count);
    if (status == UC_OK && out->plain)
        rescale(out, rows->classes);
    uc_free(items);
    return status;
}

/* ---- the estimate ---- */

/* For too few rows, or one class, or too many classes: only the error against the labels is known. */
static void say_nothing(uc_clean_error *out, const chosen_rows *rows)
{
    double agreeing = 0.0, total = 0.0;
    for (size_t i = 0; i < rows->count; i++) {
        total += rows->weights[i];
        if (rows->labels[i] == rows->predicted[i])
            agreeing += rows->weights[i];
    }
    const double noisy = total > 0.0 ? 1.0 - agreeing / total : 0.0;
    *out = (uc_clean_error){.estimate = noisy, .high = 1.0, .noisy = noisy, .strata = {0.1, 0.5}};
}

static uc_status estimate_rows(uc_clean_error *out, const chosen_rows *rows, size_t K,
                               const uc_context *context)
{
    const uc_held_out held_out = {.scores = rows->scores,
                                  .labels = rows->labels,
                                  .weights = rows->weights,
                                  .rows = rows->count,
                                  .K = K,
                                  .context = context,
                                  .plain = rows->plain};
    uc_families families = {0};
    uc_status status = uc_families_fit(&families, &held_out);
    if (status == UC_OK)
        status = uc_clean_error_find(
            out, &held_out, rows->predicted, &families.found[families.family],
            families.full ? &families.found[UC_FAMILY_FULL] : NULL,
            uc_family_belief((const double *const *)families.fit, held_out.weights, held_out.rows));
    uc_families_free(&families);
    return status;
}

/* Accounts for labels that the model does not know: the estimate counts their predictions as wrong, the
 * interval allows for right ones. */
static void add_unknown(uc_clean_error *self, double share)
{
    self->estimate = self->estimate * (1.0 - share) + share;
    self->low *= 1.0 - share;
    self->high = self->high * (1.0 - share) + share;
    self->noisy = self->noisy * (1.0 - share) + share;
}

uc_status uc_clean_error_estimate(uc_clean_error *out, const uc_scored_rows *rows, const uc_context *context)
{
    const uc_context alone = uc_context_alone(context);
    const size_t K = rows->classes;
    chosen_rows chosen = {0};
    uc_clean_error found = {0};
    uc_status status = choose_rows(&chosen, rows);
    if (status == UC_OK && (chosen.count < LEAST_ROWS || K < 2 || K > MOST_CLASSES))
        say_nothing(&found, &chosen);
    else if (status == UC_OK)
        status = estimate_rows(&found, &chosen, K, &alone);
    if (status == UC_OK) {
        found.rows = chosen.labelled;
        add_unknown(&found, chosen.unknown);
        *out = found;
    }
    free_rows(&chosen);
    return status;
}

/* ---- bounds, the summary, and rows to check ---- */

void uc_clean_error_bound(double bound[2], double noisy, double wrong_at_most)
{
    bound[0] = fmax(noisy - wrong_at_most, 0.0);
    bound[1] = fmin(noisy + wrong_at_most, 1.0);
}

static double clamp(double x, const double bound[2])
{
    return fmin(fmax(x, bound[0]), bound[1]);
}

void uc_clean_error_cut(uc_clean_error *self, const double bound[2])
{
    self->estimate = clamp(self->estimate, bound);
    self->low = clamp(self->low, bound);
    self->high = clamp(self->high, bound);
}

uc_status uc_clean_error_save(json_t *summary, const uc_clean_error *error, double wrong_at_most)
{
    uc_clean_error cut = *error;
    double bound[2] = {0.0, 1.0};
    if (wrong_at_most > 0.0)
        uc_clean_error_bound(bound, error->noisy, wrong_at_most);
    uc_clean_error_cut(&cut, bound);
    json_t *object =
        json_pack("{s:f, s:f, s:f, s:f, s:s, s:f}", "estimate", cut.estimate, "low", cut.low, "high",
                  cut.high, "level", UC_CLEAN_ERROR_LEVEL, "method", "noise hypotheses", "noisy", cut.noisy);
    uc_status status = uc_json_set(summary, "wrong_labels", json_real(error->wrong));
    if (status == UC_OK)
        status = uc_json_set(summary, "likeliest_wrong_labels", json_real(error->likeliest_wrong));
    if (status != UC_OK) {
        json_decref(object);
        return status;
    }
    status = uc_json_set(summary, "clean_error", object);
    if (status == UC_OK && wrong_at_most > 0.0)
        status = uc_json_set(object, "wrong_at_most", json_real(wrong_at_most));
    if (status == UC_OK && wrong_at_most > 0.0)
        status = uc_json_set(object, "bound", json_pack("[ff]", bound[0], bound[1]));
    if (status == UC_OK && cut.high - cut.low > UC_CLEAN_ERROR_WIDE)
        status = uc_json_set(object, "rows_to_check",
                             json_integer((json_int_t)uc_rows_to_check(error, UC_CHECKED_HALF_WIDTH)));
    return status;
}

size_t uc_rows_to_check(const uc_clean_error *self, double half_width)
{
    const double share[2] = {1.0 - self->noisy, self->noisy};
    double deviation = 0.0;
    for (int h = 0; h < 2; h++)
        deviation += share[h] * sqrt(self->strata[h] * (1.0 - self->strata[h]));
    const double wanted = pow(QUANTILE * deviation / half_width, 2.0);
    const size_t rows = (size_t)(10.0 * ceil(fmax(wanted, 20.0) / 10.0));
    return rows < self->rows ? rows : self->rows;
}
