/*
 * The noise matrix, estimated.
 *
 *   C[p][q]   P(observed class p | true class q); columns sum to 1
 *   J[p][q]   examples observed as p and taken for true class q; n_p examples are observed as p
 *   P_k(x)    the probability of *observing* class k, from a logistic regression that did not see x
 *
 * Labels   both labels are known: J counts them, C = J with columns divided by their sums.
 *
 * Counting (confident learning: Northcutt, Jiang, Chuang, JAIR 70:1373-1411, 2021)
 *          t_k = mean of P_k over the examples observed as k
 *          An example counts for the likeliest of the classes with P_k >= t_k, if there is one.
 *          C = J with row p scaled to the sum n_p, then columns divided by their sums.
 *          A row of J without any example is n_p on the diagonal: nothing speaks against its labels.
 *
 * Anchor   (Liu, Tao, TPAMI 38:447-461, 2016; Patrini et al., CVPR 2017) where an example is surely of
 *          class q, P_p(x) = C[p][q]. Column q is the mean of P over the m_q examples with the largest P_q,
 *          where m_q is a share of n_q, at least 1.
 *
 * A class for which nothing was counted has the column of the identity.
 *
 * Intervals are the percentiles 2.5 and 97.5 of the estimate over resampled examples. The probabilities are
 * not learned again for every resample, so what the intervals of the two latter leave out is the error of the
 * regression. Resampling cannot show what never happened: an entry whose count is 0, or the whole column,
 * takes Wilson's bound on that side as well.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/folds.h"
#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include "unconfuse/audit.h"
#include "unconfuse/select.h"

#define SEQUENCE_BOOTSTRAP UINT64_C(0x626f6f7400000000) /* "boot", then the resample */
#define FEW_EXAMPLES 30
#define REPLICATES_PER_REPORT ((size_t)16)

/* ---- settings ---- */

#define FIELD(name) offsetof(uc_noise_estimate_settings, name)

const uc_option uc_noise_estimate_options[] = {
    {.name = "bootstrap",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(bootstrap),
     .standard = "200",
     .low = 0,
     .high = 1e6,
     .help = "resamples for the 95% intervals; 0: no intervals"},
    {.name = "folds",
     .letter = 'v',
     .type = UC_OPTION_COUNT,
     .offset = FIELD(folds),
     .standard = "5",
     .low = 2,
     .high = 1e9,
     .argument = "K",
     .help = "cv, self: number of folds; each is predicted by a model trained on the others"},
    {.name = "estimator",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(estimator),
     .standard = "counting",
     .choices = "counting|anchor",
     .help = "self: counting: count the confidently classified examples; anchor: average the probabilities "
             "of each class's clearest ones"},
    {.name = "anchors",
     .type = UC_OPTION_REAL,
     .offset = FIELD(anchors),
     .standard = "0.3",
     .low = 0,
     .above_low = true,
     .high = 1,
     .argument = "SHARE",
     .help = "self: with the estimator anchor, the share of the examples of each label that are averaged"},
    {.name = "l2",
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(l2),
     .standard = "1e-4",
     .low = 0,
     .high = 1e6,
     .argument = "L",
     .help = "cv, self: strength of the L2 penalty of logistic regression (auto: by the likelihood of "
             "held-out labels)"},
    {.name = "seed",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(seed),
     .standard = "1",
     .low = 0,
     .high = 0x1p63,
     .help = "seed of the random numbers; the same seed gives the same intervals"},
    {.name = NULL},
};

uc_noise_estimate_settings uc_noise_estimate_defaults(void)
{
    uc_noise_estimate_settings settings;
    uc_options_defaults(uc_noise_estimate_options, &settings);
    return settings;
}

void uc_noise_estimate_free(uc_noise_estimate *self)
{
    uc_noise_free(&self->noise);
    uc_free(self->low);
    uc_free(self->high);
    uc_free(self->counts);
    *self = (uc_noise_estimate){0};
}

/* ---- from weighted examples to a matrix ---- */

typedef struct evidence evidence;
struct evidence {
    size_t rows, K;
    const uint32_t *observed; /* all below K */
    const uint32_t *gold;     /* labels: all below K */
    double *P;                /* counting, anchor: rows x K */
    uint32_t *clearest;       /* anchor: K lists of all rows, by descending P_q */
    double anchors;
    const double *weights; /* of the rows; NULL: all are 1 */
    /* J and C (NaN in the columns of classes without examples) when row i counts weight[i] times. `work`
     * holds 2 K. */
    void (*estimate)(double *C, double *J, const evidence *self, const double *weight, double *work);
};

/* Columns divided by their sums; NaN where the sum is 0. */
static void divide_columns(double *C, size_t K)
{
    for (size_t q = 0; q < K; q++) {
        double sum = 0.0;
        for (size_t p = 0; p < K; p++)
            sum += C[p * K + q];
        for (size_t p = 0; p < K; p++)
            C[p * K + q] = sum > 0.0 ? C[p * K + q] / sum : (double)NAN;
    }
}

static void estimate_from_labels(double *C, double *J, const evidence *self, const double *weight,
                                 double *work)
{
    (void)work;
    const size_t K = self->K;
    memset(J, 0, K * K * sizeof *J);
    for (size_t i = 0; i < self->rows; i++)
        J[self->observed[i] * K + self->gold[i]] += weight[i];
    memcpy(C, J, K * K * sizeof *C);
    divide_columns(C, K);
}

/* labelled[k] = n_k. */
static void count_labels(double *labelled, const evidence *self, const double *weight)
{
    memset(labelled, 0, self->K * sizeof *labelled);
    for (size_t i = 0; i < self->rows; i++)
        labelled[self->observed[i]] += weight[i];
}

/* The likeliest class at or above its threshold, the lowest of equals; K: none. */
static size_t confident_class(const double *P, const double *threshold, size_t K)
{
    size_t best = K;
    for (size_t k = 0; k < K; k++)
        if (P[k] >= threshold[k] && (best == K || P[k] > P[best]))
            best = k;
    return best;
}

static void estimate_by_counting(double *C, double *J, const evidence *self, const double *weight,
                                 double *work)
{
    const size_t K = self->K;
    double *threshold = work, *labelled = work + K;
    count_labels(labelled, self, weight);
    memset(threshold, 0, K * sizeof *threshold);
    for (size_t i = 0; i < self->rows; i++)
        threshold[self->observed[i]] += weight[i] * self->P[i * K + self->observed[i]];
    for (size_t k = 0; k < K; k++)
        threshold[k] = labelled[k] > 0.0 ? threshold[k] / labelled[k] : (double)INFINITY;

    memset(J, 0, K * K * sizeof *J);
    for (size_t i = 0; i < self->rows; i++) {
        if (weight[i] == 0.0)
            continue;
        const size_t q = confident_class(self->P + i * K, threshold, K);
        if (q < K)
            J[self->observed[i] * K + q] += weight[i];
    }
    for (size_t p = 0; p < K; p++) {
        double sum = 0.0;
        for (size_t q = 0; q < K; q++)
            sum += J[p * K + q];
        for (size_t q = 0; q < K; q++)
            C[p * K + q] = sum > 0.0 ? J[p * K + q] * labelled[p] / sum : (p == q) * labelled[p];
    }
    divide_columns(C, K);
}

static void estimate_by_anchors(double *C, double *J, const evidence *self, const double *weight,
                                double *work)
{
    const size_t K = self->K;
    double *labelled = work;
    count_labels(labelled, self, weight);
    memset(C, 0, K * K * sizeof *C);
    memset(J, 0, K * K * sizeof *J);
    for (size_t q = 0; q < K; q++) {
        const uint32_t *clearest = self->clearest + q * self->rows;
        double left = labelled[q] > 0.0 ? fmax(1.0, round(self->anchors * labelled[q])) : 0.0;
        for (size_t r = 0; r < self->rows && left > 0.0; r++) {
            const size_t i = clearest[r];
            const double taken = fmin(left, weight[i]);
            left -= taken;
            J[self->observed[i] * K + q] += taken;
            for (size_t p = 0; p < K && taken > 0.0; p++)
                C[p * K + q] += taken * self->P[i * K + p];
        }
    }
    divide_columns(C, K);
}

/* ---- intervals ---- */

typedef struct bootstrap {
    const evidence *evidence;
    uint64_t seed;
    size_t first;   /* replicate of block 0 */
    double *sample; /* replicates x K x K */
} bootstrap;

static uc_status run_replicate(size_t block, void *user)
{
    const bootstrap *self = user;
    const evidence *from = self->evidence;
    const size_t replicate = self->first + block, K = from->K;
    double *weight = uc_alloc(from->rows, sizeof *weight), *J = uc_alloc(K * K, sizeof *J),
           *work = uc_alloc(2 * K, sizeof *work);
    uc_status status = UC_ERR_NOMEM;
    if (weight && J && work) {
        uc_rng rng = uc_rng_make(self->seed, SEQUENCE_BOOTSTRAP + replicate);
        for (size_t i = 0; i < from->rows; i++)
            weight[uc_rng_below(&rng, from->rows)] += 1.0;
        for (size_t i = 0; i < from->rows && from->weights; i++)
            weight[i] *= from->weights[i];
        from->estimate(self->sample + replicate * K * K, J, from, weight, work);
        status = UC_OK;
    }
    uc_free(work);
    uc_free(J);
    uc_free(weight);
    return status;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between the neighbours in proportion; `values` ascend, count >= 1. */
static double percentile(const double *values, size_t count, double share)
{
    const double at = share * (double)(count - 1);
    const size_t below = (size_t)at;
    const size_t above = uc_min_size(below + 1, count - 1);
    return values[below] + (at - (double)below) * (values[above] - values[below]);
}

static size_t column_count(const uc_noise_estimate *self, size_t q)
{
    size_t sum = 0;
    for (size_t p = 0; p < self->noise.classes; p++)
        sum += self->counts[p * self->noise.classes + q];
    return sum;
}

/* Resamples without any example of the column's class say nothing about it. */
static void set_interval(uc_noise_estimate *out, size_t cell, const double *sample, size_t replicates,
                         double *sorted)
{
    const size_t K = out->noise.classes;
    const size_t of_class = column_count(out, cell % K), count = out->counts[cell];
    size_t known = 0;
    double low = out->noise.values[cell], high = low, wilson[2];
    if (of_class == 0) {
        out->low[cell] = 0.0;
        out->high[cell] = 1.0;
        return;
    }
    for (size_t b = 0; b < replicates; b++)
        if (!isnan(sample[b * K * K + cell]))
            sorted[known++] = sample[b * K * K + cell];
    qsort(sorted, known, sizeof *sorted, ascending);
    if (known > 0) {
        low = fmin(low, percentile(sorted, known, 0.025));
        high = fmax(high, percentile(sorted, known, 0.975));
    }
    uc_metrics_wilson(wilson, count, of_class);
    if (count == 0)
        high = fmax(high, wilson[1]);
    if (count == of_class)
        low = fmin(low, wilson[0]);
    out->low[cell] = low;
    out->high[cell] = high;
}

static uc_status find_intervals(uc_noise_estimate *out, const evidence *from,
                                const uc_noise_estimate_settings *settings, const uc_context *context)
{
    const size_t K = from->K, replicates = (size_t)settings->bootstrap;
    size_t length;
    uc_status status = uc_memory_check(context, 8.0 * (double)replicates * (double)(K * K), "the bootstrap");
    if (status != UC_OK)
        return status;
    if (!uc_size_mul(&length, replicates, K * K))
        return uc_fail(UC_ERR_NOMEM, "%zu resamples of %zu classes do not fit in memory", replicates, K);
    double *sorted = uc_alloc(replicates, sizeof *sorted);
    bootstrap run = {from, settings->seed, 0, uc_alloc(length, sizeof *run.sample)};
    out->low = uc_alloc(K * K, sizeof *out->low);
    out->high = uc_alloc(K * K, sizeof *out->high);
    if (!sorted || !run.sample || !out->low || !out->high) {
        status = UC_ERR_NOMEM;
        goto cleanup;
    }
    while (run.first < replicates && status == UC_OK) {
        const size_t blocks = uc_min_size(replicates - run.first, REPLICATES_PER_REPORT);
        status = uc_run_blocks(context, blocks, run_replicate, &run);
        run.first += blocks;
        if (status == UC_OK)
            status = uc_report(context, "resampling", (double)run.first, (double)replicates, NULL);
    }
    for (size_t cell = 0; cell < K * K && status == UC_OK; cell++)
        set_interval(out, cell, run.sample, replicates, sorted);
cleanup:
    uc_free(run.sample);
    uc_free(sorted);
    return status;
}

/* ---- all of an estimate ---- */

#define NAMED_CLASSES 5

/* One warning for all classes with at least `least` and fewer than `below` examples: names some of them. */
static void warn_of(const uc_noise_estimate *self, size_t least, size_t below, const char *sentence,
                    const uc_context *context)
{
    char list[512] = "";
    size_t found = 0;
    for (size_t q = 0; q < self->noise.classes; q++) {
        const size_t examples = column_count(self, q), length = strlen(list);
        if (examples < least || examples >= below)
            continue;
        if (found++ < NAMED_CLASSES)
            snprintf(list + length, sizeof list - length, "%s\"%.60s\" (%zu)", found > 1 ? ", " : "",
                     self->noise.names.text[q], examples);
    }
    if (found > NAMED_CLASSES) {
        const size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, " and %zu more", found - NAMED_CLASSES);
    }
    if (found > 0)
        uc_warn(context, "%s %s", sentence, list);
}

/* Examples, whatever they weigh. */
static void count_examples(uc_noise_estimate *out, const double *J)
{
    for (size_t i = 0; i < out->noise.classes * out->noise.classes; i++)
        out->counts[i] = (size_t)J[i];
}

static void fill_in(uc_noise_estimate *out)
{
    const size_t K = out->noise.classes;
    double *C = out->noise.values;
    for (size_t i = 0; i < K * K; i++) {
        if (isnan(C[i])) /* no example of this true class */
            C[i] = i / K == i % K;
    }
    for (size_t q = 0; q < K; q++) {
        double sum = 0.0;
        for (size_t p = 0; p < K; p++)
            sum += C[p * K + q];
        assert(fabs(sum - 1.0) < 1e-6);
        (void)sum;
    }
}

/* Everything of *out; `rows` is what the caller began with. */
static uc_status estimate(uc_noise_estimate *out, const evidence *from, size_t rows, const uc_names *classes,
                          const uc_noise_estimate_settings *settings, const uc_context *context)
{
    const size_t K = from->K;
    uc_noise_estimate result = {.noise = {.classes = K, .values = uc_alloc(K * K, sizeof(double))},
                                .counts = uc_alloc(K * K, sizeof *result.counts),
                                .examples = from->rows,
                                .skipped = rows - from->rows};
    double *weight = uc_alloc(from->rows, sizeof *weight), *J = uc_alloc(K * K, sizeof *J),
           *work = uc_alloc(2 * K, sizeof *work);
    uc_status status = UC_ERR_NOMEM;
    if (result.noise.values && result.counts && weight && J && work)
        status = uc_names_copy(&result.noise.names, classes);
    if (status != UC_OK)
        goto cleanup;
    for (size_t i = 0; i < from->rows; i++)
        weight[i] = 1.0;
    from->estimate(result.noise.values, J, from, weight, work);
    count_examples(&result, J);
    if (from->weights)
        from->estimate(result.noise.values, J, from, from->weights, work);
    fill_in(&result);
    if (settings->bootstrap > 0)
        status = find_intervals(&result, from, settings, context);
    if (status == UC_OK) {
        warn_of(&result, 0, 1, "no example to estimate from, so the column is the identity's, for class",
                context);
        warn_of(&result, 1, FEW_EXAMPLES, "fewer than 30 examples to estimate from, for class", context);
    }
cleanup:
    if (status == UC_OK)
        *out = result;
    else
        uc_noise_estimate_free(&result);
    uc_free(work);
    uc_free(J);
    uc_free(weight);
    return status;
}

static uc_status check_classes(const uc_names *classes)
{
    if (classes->count < 2)
        return uc_fail(UC_ERR_INVALID, "a noise matrix needs at least 2 classes, not %zu", classes->count);
    if (classes->count > UINT32_MAX / classes->count)
        return uc_fail(UC_ERR_INVALID, "a noise matrix of %zu classes is too large", classes->count);
    return UC_OK;
}

static bool is_label(uint32_t label, const uc_names *classes)
{
    return label == UC_NONE || label < classes->count;
}

/* Pairs of labels that are both known: `used` observed ones, and from pairs + count on the gold ones. */
static uc_status list_pairs(uint32_t *pairs, size_t *used, const uint32_t *observed, const uint32_t *gold,
                            size_t count, const uc_names *classes)
{
    *used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_label(observed[i], classes) || !is_label(gold[i], classes))
            return uc_fail(UC_ERR_INVALID, "example %zu has a label that is not one of the %zu classes",
                           i + 1, classes->count);
        if (observed[i] == UC_NONE || gold[i] == UC_NONE)
            continue;
        pairs[*used] = observed[i];
        pairs[count + (*used)++] = gold[i];
    }
    if (*used == 0)
        return uc_fail(UC_ERR_INVALID, "no example has both an observed and a gold label");
    return UC_OK;
}

static uc_status from_labels(uc_noise_estimate *out, const uint32_t *observed, const uint32_t *gold,
                             size_t count, const uc_names *classes,
                             const uc_noise_estimate_settings *settings, const uc_context *context)
{
    const uc_noise_estimate_settings own = settings ? *settings : uc_noise_estimate_defaults();
    uc_status status = uc_options_check(uc_noise_estimate_options, &own);
    if (status == UC_OK)
        status = check_classes(classes);
    if (status != UC_OK)
        return status;
    uint32_t *pairs = uc_alloc(count, 2 * sizeof *pairs);
    if (!pairs)
        return UC_ERR_NOMEM;
    evidence from = {
        .K = classes->count, .observed = pairs, .gold = pairs + count, .estimate = estimate_from_labels};
    status = list_pairs(pairs, &from.rows, observed, gold, count, classes);
    if (status == UC_OK)
        status = estimate(out, &from, count, classes, &own, context);
    uc_free(pairs);
    return status;
}

uc_status uc_noise_from_labels(uc_noise_estimate *out, const uint32_t *observed, const uint32_t *gold,
                               size_t count, const uc_names *classes,
                               const uc_noise_estimate_settings *settings, const uc_context *context)
{
    const uc_comm *comm = uc_comm_of(context);
    if (!uc_is_shared(context))
        return from_labels(out, observed, gold, count, classes, settings, context);
    uint32_t *all_observed = NULL, *all_gold = NULL;
    uc_share share;
    uc_status status = uc_share_of(&share, context, count);
    if (status == UC_OK)
        status = uc_comm_gather((void **)&all_observed, NULL, comm, observed, count * sizeof *observed);
    if (status == UC_OK)
        status = uc_comm_gather((void **)&all_gold, NULL, comm, gold, count * sizeof *gold);
    if (status == UC_OK)
        status = from_labels(out, all_observed, all_gold, share.total, classes, settings, context);
    uc_free(all_gold);
    uc_free(all_observed);
    return status;
}

/* ---- out-of-fold probabilities ---- */

typedef struct held_out_work {
    double *P; /* of all rows */
    uc_logistic_settings learner;
    uc_train_settings train;
} held_out_work;

/* Learns from the rows outside the fold and writes the probabilities of those inside. */
static uc_status run_fold(uc_fold *fold, void *user)
{
    held_out_work *work = user;
    const size_t K = fold->held_out.classes.count, rows = fold->held_out.X.rows;
    uc_model *model = NULL;
    double *found = uc_alloc(rows * K, sizeof *found);
    if (!found)
        return UC_ERR_NOMEM;
    uc_status status = uc_train(&model, uc_learner_find("logistic"), &work->learner, &work->train,
                                &fold->train, fold->context);
    uc_dataset_free(&fold->train);
    if (status == UC_OK)
        status = uc_model_probabilities(found, model, &fold->held_out.X, fold->context);
    for (size_t i = 0; i < rows && status == UC_OK; i++)
        memcpy(work->P + fold->rows[i] * K, found + i * K, K * sizeof *found);
    if (status == UC_OK)
        status = uc_part_done(fold->progress);
    uc_model_free(model);
    uc_free(found);
    return status;
}

static uc_status held_out_probabilities(double *P, const uc_dataset *data,
                                        const uc_noise_estimate_settings *settings,
                                        const uc_train_settings *train, const uc_context *context)
{
    const unsigned count = (unsigned)settings->folds;
    const uc_learner *logistic = uc_learner_find("logistic");
    const uc_option *options = uc_learner_options(logistic);
    held_out_work work = {.P = P, .train = uc_train_defaults()};
    uc_folds folds = {0};
    uc_options_defaults(options, &work.learner);
    uc_status status = uc_option_set(uc_options_find(options, "correction"), &work.learner, "none");
    if (status != UC_OK)
        return status;
    work.learner.l2 = settings->l2;
    work.learner.tolerance = 1e-3; /* averages of probabilities need no more */
    if (train)
        work.train = *train;
    work.train.noise = NULL;
    work.train.overwrite = 1; /* each fold's data are a copy of our own */

    /* what is `auto` is decided once, for all folds */
    status = uc_tune(&work.learner, &work.train, logistic, data, context);
    if (status != UC_OK)
        return status;
    status = uc_folds_begin(&folds, data, count, settings->seed, context);
    folds.progress =
        (uc_parts){.task = "estimating noise", .part = "training", .count = count, .detailed = true};
    if (status == UC_OK)
        status = uc_folds_each(&folds, run_fold, &work, context);
    uc_folds_free(&folds);
    return status;
}

/* ---- from noisy data alone ---- */

typedef struct ranked {
    double value;
    uint32_t row;
} ranked;

/* By descending value, then by row: one order, whatever qsort does. */
static int descending(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Fills in from->clearest. */
static uc_status rank_rows(evidence *from)
{
    ranked *list = uc_alloc(from->rows, sizeof *list);
    from->clearest = uc_alloc(from->rows * from->K, sizeof *from->clearest);
    if (!list || !from->clearest) {
        uc_free(list);
        return UC_ERR_NOMEM;
    }
    for (size_t q = 0; q < from->K; q++) {
        for (size_t i = 0; i < from->rows; i++)
            list[i] = (ranked){from->P[i * from->K + q], (uint32_t)i};
        qsort(list, from->rows, sizeof *list, descending);
        for (size_t i = 0; i < from->rows; i++)
            from->clearest[q * from->rows + i] = list[i].row;
    }
    uc_free(list);
    return UC_OK;
}

static uc_status check_data(const uc_dataset *data, const uc_noise_estimate_settings *settings,
                            uc_share share)
{
    if (!data->y)
        return uc_fail(UC_ERR_FORMAT, "the data have no labels");
    if (share.total >= UINT32_MAX)
        return uc_fail(UC_ERR_INVALID, "%zu examples are too many to estimate noise from", share.total);
    if (settings->folds > share.total)
        return uc_fail(UC_ERR_INVALID,
                       "%llu folds of %zu examples: it must be at most the number of examples",
                       (unsigned long long)settings->folds, share.total);
    for (size_t i = 0; i < data->X.rows; i++)
        if (data->y[i] >= data->classes.count)
            return uc_fail(UC_ERR_FORMAT,
                           "example %zu has no label ('?'), which cannot be used to estimate noise",
                           share.first + i + 1);
    return check_classes(&data->classes);
}

/* The labels, weights and probabilities of all processes, in place of this one's. */
static uc_status gather_evidence(evidence *from, uint32_t **observed, double **weights, size_t rows,
                                 uc_share share, const uc_context *context)
{
    const uc_comm *comm = uc_comm_of(context);
    double *P = NULL;
    if (!uc_is_shared(context))
        return UC_OK;
    uc_status status =
        uc_comm_gather((void **)observed, NULL, comm, from->observed, rows * sizeof *from->observed);
    if (status == UC_OK)
        status = uc_comm_gather((void **)&P, NULL, comm, from->P, rows * from->K * sizeof *P);
    if (status == UC_OK && from->weights)
        status = uc_comm_gather((void **)weights, NULL, comm, from->weights, rows * sizeof **weights);
    if (status != UC_OK) {
        uc_free(P);
        return status;
    }
    uc_free(from->P);
    from->P = P;
    from->observed = *observed;
    from->weights = *weights;
    from->rows = share.total;
    return UC_OK;
}

/* Whether the data can be estimated from, by all processes, and how many rows these have. */
static uc_status check_all(uc_share *share, const uc_dataset *data,
                           const uc_noise_estimate_settings *settings, const uc_context *context)
{
    const double bytes_per_entry = settings->estimator == UC_NOISE_ANCHOR ? 12.0 : 8.0;
    uc_status status = uc_options_check(uc_noise_estimate_options, settings);
    if (status != UC_OK)
        return status;
    status = uc_share_of(share, context, data->X.rows);
    if (status == UC_OK)
        status = uc_comm_agree(uc_comm_of(context), check_data(data, settings, *share));
    if (status == UC_OK)
        status =
            uc_memory_check(context, bytes_per_entry * (double)share->total * (double)data->classes.count,
                            "the probabilities");
    return status;
}

uc_status uc_noise_from_data(uc_noise_estimate *out, const uc_dataset *data,
                             const uc_noise_estimate_settings *settings, const uc_train_settings *train,
                             const uc_context *context)
{
    const uc_noise_estimate_settings own = settings ? *settings : uc_noise_estimate_defaults();
    const bool by_anchors = own.estimator == UC_NOISE_ANCHOR;
    uint32_t *observed = NULL;
    double *weights = NULL;
    uc_share share;
    uc_status status = check_all(&share, data, &own, context);
    if (status != UC_OK)
        return status;
    evidence from = {.rows = data->X.rows,
                     .K = data->classes.count,
                     .observed = data->y,
                     .weights = data->weights,
                     .P = uc_alloc(data->X.rows, data->classes.count * sizeof *from.P),
                     .anchors = own.anchors,
                     .estimate = estimate_by_counting};
    if (!from.P)
        return UC_ERR_NOMEM;
    if (by_anchors)
        from.estimate = estimate_by_anchors;
    status = held_out_probabilities(from.P, data, &own, train, context);
    if (status != UC_OK)
        goto cleanup;
    status = gather_evidence(&from, &observed, &weights, data->X.rows, share, context);
    if (status == UC_OK && by_anchors)
        status = rank_rows(&from);
    if (status == UC_OK)
        status = estimate(out, &from, share.total, &data->classes, &own, context);
cleanup:
    uc_free(from.clearest);
    uc_free(from.P);
    uc_free(observed);
    uc_free(weights);
    return status;
}

uc_status uc_noise_estimate_self(uc_noise *out, const uc_dataset *data, const uc_train_settings *train,
                                 const uc_context *context)
{
    uc_noise_estimate_settings settings = uc_noise_estimate_defaults();
    uc_noise_estimate found = {0};
    uc_noise_check check = {0};
    settings.bootstrap = 0;
    if (train)
        settings.seed = train->seed;
    uc_status status = uc_noise_from_data(&found, data, &settings, train, context);
    if (status == UC_OK)
        status = uc_noise_inspect(&check, &found.noise);
    if (status == UC_OK && isinf(check.condition))
        status =
            uc_fail(UC_ERR_INVALID, "the noise estimated from the data is a singular matrix: different true "
                                    "classes would give the same labels");
    if (status == UC_OK) {
        *out = found.noise;
        found.noise = (uc_noise){0};
    }
    uc_noise_estimate_free(&found);
    return status;
}
