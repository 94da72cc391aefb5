/*
 * The noise matrix from noisy labels alone, by maximum likelihood.
 *
 *   f     scores of each row by a ridge regression that has not seen its label: exact leave-one-out, on the
 *         view of the columns that `auto` would choose (select/view.c)
 *   S     softmax(a1 f + a2 log max(f, .02)), the probabilities of the true class
 *   C     P(label | true class); C, a1 and a2 make the labels most likely (learn/calibration)
 *
 * Less certain classes and more wrong labels explain scores about equally well. Therefore the estimate comes
 * with that of symmetric noise and with the gain of the full matrix over it on labels that the calibrator has
 * not seen. If there is no gain, overlapping classes may explain the labels as well, and a warning says so.
 *
 * Intervals are normal intervals from a bootstrap of rows; the scores are not computed again.
 */
#include "audit/estimate_families.h"

#include <math.h>
#include <string.h>

#include "learn/calibration/families.h"
#include "learn/ridge/path.h"
#include "linalg/linalg.h"
#include "select/view.h"

#define SAMPLE ((size_t)10000)   /* rows that are used at most */
#define LANDMARKS ((size_t)1000) /* of a map without a dimension setting */
#define NOTABLE 0.03 /* difference of the families' shares of wrong labels that deserves a warning */
#define SEQUENCE 0x66616d696c79ULL /* of the random numbers of the bootstrap */
#define REPLICATES_PER_REPORT 10
#define MOST_REPLICATES ((size_t)50) /* each one is a search */
#define QUANTILE 1.959963984540054   /* two-sided 95% of the normal distribution */
#define HARDLY 0.34 /* of the full matrix's share; below this, symmetric noise finds next to nothing */

/* ---- held-out scores ---- */

/* Decides how to prepare the rows: as `train` says, and as the labels suggest where it leaves the choice
 * open. */
static uc_status decide_view(uc_train_settings *out, const uc_train_settings *train, const uc_dataset *rows,
                             const uc_context *context)
{
    const uc_view_wish wish = {.effort = UC_EFFORT_NORMAL, .landmarks = LANDMARKS, .decomposes = true};
    uc_views views = {0};
    *out = train ? *train : uc_train_defaults();
    if (out->map.map == UC_MAP_DEFAULT)
        out->map.map = UC_MAP_AUTO;
    if (out->scale == UC_SCALE_NONE && !uc_matrix_is_sparse(&rows->X))
        out->scale = UC_SCALE_AUTO;
    uc_status status = UC_OK;
    if (out->scale == UC_SCALE_AUTO || out->map.map == UC_MAP_AUTO)
        status = uc_view_choose(&views, out, rows, &wish, context);
    uc_views_free(&views);
    if (out->map.dimension == UC_AUTO_COUNT)
        out->map.dimension = uc_min_size(rows->X.rows, LANDMARKS);
    return status;
}

/* f[i * K + k]: the score of class k for row i, by a ridge regression on all other rows. */
static uc_status leave_one_out(double *f, const uc_dataset *rows, const uc_map_settings *map,
                               const uc_matrix *X, const uc_context *context)
{
    const size_t n = rows->X.rows, K = rows->classes.count;
    uc_ridge ridge = {0};
    uc_ridge_targets targets = {0};
    uc_ridge_path path;
    double *Y = uc_alloc(n * K, sizeof *Y);
    uc_status status = UC_ERR_NOMEM;
    if (Y)
        status = uc_ridge_decompose(&ridge, X, rows->weights, context);
    if (status != UC_OK)
        goto cleanup;
    uc_ridge_label_targets(Y, rows->y, n, K);
    status = uc_ridge_project(&targets, &ridge, Y, K);
    if (status == UC_OK)
        status = uc_ridge_try_lambdas(&path, &ridge, &targets, rows->y, uc_ridge_scale(&ridge, map));
    if (status == UC_OK)
        status = uc_ridge_leave_one_out(f, &ridge, &targets, path.lambda[path.best]);

cleanup:
    uc_ridge_targets_free(&targets);
    uc_ridge_free(&ridge);
    uc_free(Y);
    return status;
}

static uc_status score_rows(double *f, const uc_dataset *rows, const uc_train_settings *train,
                            const uc_context *context)
{
    uc_train_settings view;
    uc_preprocessing preprocessing = {0};
    uc_matrix X = {0};
    uc_context quiet = uc_context_copy(context);
    quiet.warn = NULL; /* rows may span fewer dimensions than there are landmarks */
    uc_status status = decide_view(&view, train, rows, context);
    const uc_preprocessing_settings wanted = {.scaling = (uc_scaling)view.scale,
                                              .normalize_input = view.normalize_input,
                                              .map = &view.map,
                                              .seed = view.seed,
                                              .weights = rows->weights};
    if (status == UC_OK)
        status = uc_matrix_subset(&X, &rows->X, NULL, 0, context);
    if (status == UC_OK)
        status = uc_preprocessing_fit(&preprocessing, &X, &wanted, &quiet);
    if (status == UC_OK)
        status = leave_one_out(f, rows, &view.map, &X, context);
    uc_preprocessing_free(&preprocessing);
    uc_matrix_free(&X);
    return status;
}

/* ---- the estimate ---- */

/* Turns a matrix whose rows are true classes into a noise matrix, whose columns are. */
static void transpose(double *out, const double *C, size_t K)
{
    for (size_t q = 0; q < K; q++)
        for (size_t p = 0; p < K; p++)
            out[p * K + q] = C[q * K + p];
}

/* The share of wrong labels according to the calibrator; counts (unless NULL) become the examples assigned to
 * each true class. */
static uc_status count_wrong(double *wrong, size_t *counts, const uc_held_out *rows, const uc_calibrator *at)
{
    const size_t K = rows->K;
    double total = 0.0, right = 0.0;
    double *sum = uc_alloc(K * K, sizeof *sum), *R = uc_alloc(K, sizeof *R);
    if (!sum || !R) {
        uc_free(sum);
        uc_free(R);
        return UC_ERR_NOMEM;
    }
    for (size_t i = 0; i < rows->rows; i++) {
        const double r = rows->weights ? rows->weights[i] : 1.0;
        const uint32_t label = rows->labels[i];
        uc_calibrated(R, at, rows->scores + i * K);
        (void)uc_posterior(R, at, R, label);
        for (size_t q = 0; q < K; q++)
            sum[label * K + q] += R[q];
        total += r;
        right += r * R[label];
    }
    for (size_t e = 0; e < K * K && counts; e++)
        counts[e] = (size_t)(sum[e] + 0.5);
    *wrong = fmin(fmax(1.0 - right / total, 0.0), 1.0);
    uc_free(sum);
    uc_free(R);
    return UC_OK;
}

/* ---- intervals ---- */

typedef struct bootstrap {
    const uc_held_out *rows;
    const uc_calibrator *found;
    uint64_t seed;
    size_t first;   /* replicate of block 0 */
    double *sample; /* replicates x K x K */
} bootstrap;

static uc_status run_replicate(size_t block, void *user)
{
    const bootstrap *self = user;
    const size_t n = self->rows->rows, K = self->rows->K, replicate = self->first + block;
    const uc_context one = {.threads = 1};
    uc_held_out rows = *self->rows;
    uc_calibrator at = {0};
    double *weights = uc_alloc(n, sizeof *weights);
    if (!weights)
        return UC_ERR_NOMEM;
    uc_rng rng = uc_rng_make(self->seed, SEQUENCE + replicate);
    for (size_t i = 0; i < n; i++)
        weights[uc_rng_below(&rng, n)] += 1.0;
    for (size_t i = 0; i < n && self->rows->weights; i++)
        weights[i] *= self->rows->weights[i];
    rows.weights = weights;
    rows.context = &one;
    const uc_status status = uc_calibrate(&at, &rows, self->found->family, self->found);
    if (status == UC_OK)
        transpose(self->sample + replicate * K * K, at.C, K);
    uc_calibrator_free(&at);
    uc_free(weights);
    return status;
}

/* The estimate +- 1.96 standard deviations of the replicates. */
static void set_interval(uc_noise_estimate *out, size_t entry, const double *sample, size_t replicates)
{
    const size_t K = out->noise.classes;
    const double C = out->noise.values[entry];
    double squares = 0.0, mean = 0.0;
    for (size_t b = 0; b < replicates; b++)
        mean += sample[b * K * K + entry] / (double)replicates;
    for (size_t b = 0; b < replicates; b++)
        squares += pow(sample[b * K * K + entry] - mean, 2.0);
    const double half = QUANTILE * sqrt(squares / fmax((double)replicates - 1.0, 1.0));
    out->low[entry] = fmax(C - half, 0.0);
    out->high[entry] = fmin(C + half, 1.0);
}

static uc_status find_intervals(uc_noise_estimate *out, const uc_held_out *rows, const uc_calibrator *found,
                                const uc_noise_estimate_settings *settings)
{
    const size_t K = rows->K, replicates = uc_min_size((size_t)settings->bootstrap, MOST_REPLICATES);
    const uc_context *context = rows->context;
    uc_status status = uc_memory_check(context, 8.0 * (double)replicates * (double)(K * K), "the bootstrap");
    if (status != UC_OK)
        return status;
    bootstrap run = {rows, found, settings->seed, 0, uc_alloc(replicates * K * K, sizeof *run.sample)};
    out->low = uc_alloc(K * K, sizeof *out->low);
    out->high = uc_alloc(K * K, sizeof *out->high);
    if (!run.sample || !out->low || !out->high)
        status = UC_ERR_NOMEM;
    while (run.first < replicates && status == UC_OK) {
        const size_t blocks = uc_min_size(replicates - run.first, REPLICATES_PER_REPORT);
        status = uc_run_blocks(context, blocks, run_replicate, &run);
        run.first += blocks;
        if (status == UC_OK)
            status = uc_report(context, "resampling", (double)run.first, (double)replicates, NULL);
    }
    for (size_t entry = 0; entry < K * K && status == UC_OK; entry++)
        set_interval(out, entry, run.sample, replicates);
    uc_free(run.sample);
    return status;
}

/* ---- the complete estimate ---- */

/* Compares the families. */
static uc_status compare(uc_noise_estimate *out, const uc_families *families, const uc_held_out *rows)
{
    static const char *const names[UC_FAMILIES] = {"none", "symmetric", "full"};
    uc_noise_families *found = &out->families;
    found->chosen = names[families->family];
    uc_status status = count_wrong(&found->wrong_full, NULL, rows, &families->found[UC_FAMILY_FULL]);
    if (status == UC_OK)
        status = count_wrong(&found->wrong_symmetric, NULL, rows, &families->found[UC_FAMILY_SYMMETRIC]);
    found->gain = uc_family_gain(&found->gain_deviation, families->fit[UC_FAMILY_FULL],
                                 families->fit[UC_FAMILY_SYMMETRIC], rows->weights, rows->rows);
    found->symmetric_gain =
        uc_family_gain(&found->symmetric_gain_deviation, families->fit[UC_FAMILY_SYMMETRIC],
                       families->fit[UC_FAMILY_NONE], rows->weights, rows->rows);
    return status;
}

/* Overlap looks like noise between two classes. Real noise also shows in the symmetric family, and makes
 * held-out labels more likely. */
static void warn_of_overlap(const uc_noise_estimate *self, const uc_context *context)
{
    const uc_noise_families *found = &self->families;
    const bool hardly = found->wrong_symmetric < HARDLY * found->wrong_full;
    const bool differ = fabs(found->wrong_full - found->wrong_symmetric) >= NOTABLE;
    const bool none = strcmp(found->chosen, "none") == 0 && found->wrong_symmetric >= NOTABLE;
    if (none || (differ && (hardly || strcmp(found->chosen, "full") != 0)))
        uc_warn(context,
                "classes that overlap may explain these labels as well: %.1f%% of them are wrong by the full "
                "matrix, %.1f%% by symmetric noise",
                100.0 * found->wrong_full, 100.0 * found->wrong_symmetric);
}

/* The family whose matrix is the estimate. With two classes, overlap can always be mistaken for noise, and
 * the full family does so: it must be more likely than symmetric noise by two standard errors. */
static uc_noise_family family_of(int estimator, const uc_families *families, size_t K)
{
    if (estimator == UC_NOISE_SYMMETRIC)
        return UC_FAMILY_SYMMETRIC;
    if (estimator == UC_NOISE_AUTO && K == 2 && families->family != UC_FAMILY_FULL)
        return UC_FAMILY_SYMMETRIC;
    return UC_FAMILY_FULL;
}

static uc_status estimate_rows(uc_noise_estimate *out, const uc_held_out *rows, const uc_names *classes,
                               const uc_noise_estimate_settings *settings)
{
    const size_t K = rows->K;
    uc_families families = {0};
    double wrong;
    uc_status status = uc_families_fit(&families, rows);
    if (status != UC_OK)
        return status;
    const uc_calibrator *found = &families.found[family_of(settings->estimator, &families, K)];
    out->noise.classes = K;
    out->noise.values = uc_alloc(K * K, sizeof *out->noise.values);
    out->counts = uc_alloc(K * K, sizeof *out->counts);
    status = UC_ERR_NOMEM;
    if (out->noise.values && out->counts)
        status = uc_names_copy(&out->noise.names, classes);
    if (status == UC_OK) {
        transpose(out->noise.values, found->C, K);
        status = count_wrong(&wrong, out->counts, rows, found);
    }
    if (status == UC_OK)
        status = compare(out, &families, rows);
    if (status == UC_OK && settings->bootstrap > 0)
        status = find_intervals(out, rows, found, settings);
    uc_families_free(&families);
    return status;
}

uc_status uc_noise_by_families(uc_noise_estimate *out, const uc_dataset *data,
                               const uc_noise_estimate_settings *settings, const uc_train_settings *train,
                               const uc_context *context)
{
    const uc_context alone = uc_context_alone(context); /* every process gets the same result */
    uc_dataset sample = {0};
    uc_noise_estimate result = {0};
    double *f = NULL;
    uc_status status = uc_report(context, "estimating noise", 0.0, 1.0, NULL);
    if (status == UC_OK)
        status = uc_dataset_sample(&sample, data, SAMPLE, settings->seed, context);
    if (status == UC_OK) {
        f = uc_alloc(sample.X.rows, sample.classes.count * sizeof *f);
        status = f ? score_rows(f, &sample, train, &alone) : UC_ERR_NOMEM;
    }
    const uc_held_out rows = {.scores = f,
                              .labels = sample.y,
                              .weights = sample.weights,
                              .rows = sample.X.rows,
                              .K = sample.classes.count,
                              .context = &alone};
    if (status == UC_OK)
        status = estimate_rows(&result, &rows, &sample.classes, settings);
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status == UC_OK) {
        result.examples = sample.X.rows;
        warn_of_overlap(&result, context);
        *out = result;
    } else {
        uc_noise_estimate_free(&result);
    }
    uc_free(f);
    uc_dataset_free(&sample);
    return status;
}
