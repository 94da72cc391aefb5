/* The choice between families of noise, based on labels that the calibrator has not seen. */
#include "learn/calibration/families.h"

#include <math.h>
#include <string.h>

#define FOLDS 3
#define DOUBT 0.5 /* gain, in standard errors, at which the belief in the full family is 1/2 */

/* ---- one family ---- */

/* The rows of all folds but one, packed for calibration. */
typedef struct packed_rows {
    double *scores, *weights;
    uint32_t *labels;
} packed_rows;

static uc_held_out pack(packed_rows *out, const uc_held_out *rows, size_t fold)
{
    const size_t K = rows->K;
    uc_held_out packed = *rows;
    packed.scores = out->scores;
    packed.labels = out->labels;
    packed.weights = rows->weights ? out->weights : NULL;
    packed.rows = 0;
    for (size_t i = 0; i < rows->rows; i++) {
        if (i % FOLDS == fold)
            continue;
        memcpy(out->scores + packed.rows * K, rows->scores + i * K, K * sizeof *rows->scores);
        out->labels[packed.rows] = rows->labels[i];
        if (rows->weights)
            out->weights[packed.rows] = rows->weights[i];
        packed.rows++;
    }
    return packed;
}

uc_status uc_family_fit(double *fit, const uc_held_out *rows, uc_noise_family family,
                        const uc_calibrator *near)
{
    const size_t n = rows->rows, K = rows->K;
    packed_rows work = {uc_alloc(n * K, sizeof(double)), uc_alloc(n, sizeof(double)),
                        uc_alloc(n, sizeof(uint32_t))};
    double *S = uc_alloc(K, sizeof *S);
    uc_status status = UC_ERR_NOMEM;
    if (work.scores && work.weights && work.labels && S)
        status = UC_OK;
    for (size_t fold = 0; fold < FOLDS && status == UC_OK; fold++) {
        const uc_held_out others = pack(&work, rows, fold);
        uc_calibrator own = {0};
        status = uc_calibrate(&own, &others, family, near);
        for (size_t i = fold; i < n && status == UC_OK; i += FOLDS) {
            uc_calibrated(S, &own, rows->scores + i * K);
            fit[i] = log(uc_posterior(S, &own, S, rows->labels[i]));
        }
        uc_calibrator_free(&own);
    }
    uc_free(S);
    uc_free(work.scores);
    uc_free(work.weights);
    uc_free(work.labels);
    return status;
}

double uc_family_gain(double *deviation, const double *fit, const double *other, const double *weights,
                      size_t rows)
{
    double mean = 0.0, squares = 0.0, total = 0.0;
    for (size_t i = 0; i < rows; i++)
        total += weights ? weights[i] : 1.0;
    for (size_t i = 0; i < rows; i++)
        mean += (weights ? weights[i] : 1.0) * (fit[i] - other[i]) / total;
    for (size_t i = 0; i < rows; i++)
        squares += pow((weights ? weights[i] : 1.0) * (fit[i] - other[i] - mean), 2.0);
    *deviation = sqrt(squares) / total;
    return mean;
}

uc_noise_family uc_family_choose(const double *const *fit, const double *weights, size_t rows)
{
    uc_noise_family best = UC_FAMILY_NONE;
    double deviation;
    if (uc_family_gain(&deviation, fit[UC_FAMILY_SYMMETRIC], fit[UC_FAMILY_NONE], weights, rows) > 0.0)
        best = UC_FAMILY_SYMMETRIC;
    if (fit[UC_FAMILY_FULL] &&
        uc_family_gain(&deviation, fit[UC_FAMILY_FULL], fit[best], weights, rows) > 2.0 * deviation)
        best = UC_FAMILY_FULL;
    return best;
}

double uc_family_belief(const double *const *fit, const double *weights, size_t rows)
{
    double deviation;
    if (!fit[UC_FAMILY_FULL])
        return 0.0;
    const double gain =
        uc_family_gain(&deviation, fit[UC_FAMILY_FULL], fit[UC_FAMILY_SYMMETRIC], weights, rows);
    if (deviation <= 0.0)
        return gain > 0.0 ? 1.0 : 0.0;
    return 0.5 * erfc((DOUBT - gain / deviation) / sqrt(2.0));
}

/* ---- all families, on the same scores ---- */

void uc_families_free(uc_families *self)
{
    for (size_t family = 0; family < UC_FAMILIES; family++) {
        uc_calibrator_free(&self->found[family]);
        uc_free(self->fit[family]);
    }
    *self = (uc_families){0};
}

static uc_status fit_family(uc_families *out, const uc_held_out *rows, uc_noise_family family)
{
    uc_calibrator *found = &out->found[family];
    const uc_calibrator *near = family == UC_FAMILY_FULL ? &out->found[UC_FAMILY_SYMMETRIC] : NULL;
    out->fit[family] = uc_alloc(rows->rows, sizeof *out->fit[family]);
    uc_status status = UC_ERR_NOMEM;
    if (out->fit[family])
        status = uc_calibrate(found, rows, family, near);
    if (status == UC_OK)
        status = uc_family_fit(out->fit[family], rows, family, family == UC_FAMILY_NONE ? NULL : found);
    return status;
}

uc_status uc_families_fit(uc_families *out, const uc_held_out *rows)
{
    uc_families all = {.full = rows->K <= UC_MOST_FULL_CLASSES};
    const size_t tried = all.full ? UC_FAMILIES : UC_FAMILY_FULL;
    uc_status status = UC_OK;
    for (size_t family = 0; family < tried && status == UC_OK; family++)
        status = fit_family(&all, rows, (uc_noise_family)family);
    if (status != UC_OK) {
        uc_families_free(&all);
        return status;
    }
    all.family = uc_family_choose((const double *const *)all.fit, rows->weights, rows->rows);
    *out = all;
    return UC_OK;
}
