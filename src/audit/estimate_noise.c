/*
 * The noise matrix, estimated from two labels per example or from noisy data alone. From data, `counting` and
 * `anchor` use the probabilities of held-out examples by logistic regression, gathered from all processes;
 * the other estimators are in estimate_families.c. evidence.c turns labels and probabilities into the matrix
 * and has the mathematics.
 */
#include <math.h>
#include <string.h>

#include "audit/estimate_families.h"
#include "audit/evidence.h"
#include "base/base.h"
#include "data/folds.h"
#include "parallel/parallel.h"
#include "unconfuse/audit.h"
#include "unconfuse/select.h"

/* ---- settings ---- */

#define FIELD(name) offsetof(uc_noise_estimate_settings, name)

const uc_option uc_noise_estimate_options[] = {
    {.name = "bootstrap",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(bootstrap),
     .standard = "200",
     .low = 0,
     .high = 1e6,
     .help = "resamples for the 95% intervals; 0: no intervals (self by full or symmetric: at most 50)"},
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
     .standard = "auto",
     .choices = "counting|anchor|full|symmetric|auto",
     .help =
         "self: full: the matrix that makes the labels most likely; symmetric: the same with one rate for "
         "all mistakes; auto: full, but for two classes symmetric unless full is clearly likelier; "
         "counting: count the confidently classified examples; anchor: average the "
         "probabilities of each class's clearest ones"},
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

/* ---- from known labels ---- */

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

/* Two labels of the same examples, and the weights of the examples. */
typedef struct label_pairs {
    uint32_t *observed, *gold;
    double *weights; /* NULL: all are 1 */
    size_t count;
    size_t present; /* examples with a weight above 0 */
} label_pairs;

static uc_status check_pair(const label_pairs *self, size_t i, const uc_names *classes)
{
    if (!is_label(self->observed[i], classes) || !is_label(self->gold[i], classes))
        return uc_fail(UC_ERR_INVALID, "example %zu has a label that is not one of the %zu classes", i + 1,
                       classes->count);
    if (self->weights && !(self->weights[i] >= 0.0 && isfinite(self->weights[i])))
        return uc_fail(UC_ERR_INVALID, "the weight of example %zu, %g, is not a finite number of 0 or more",
                       i + 1, self->weights[i]);
    return UC_OK;
}

/* Keeps the pairs with both labels known; changes *self in place. */
static uc_status keep_known(label_pairs *self, const uc_names *classes)
{
    size_t used = 0;
    self->present = 0;
    for (size_t i = 0; i < self->count; i++) {
        const uc_status status = check_pair(self, i, classes);
        if (status != UC_OK)
            return status;
        if (self->weights && self->weights[i] == 0.0)
            continue;
        self->present++;
        if (self->observed[i] == UC_NONE || self->gold[i] == UC_NONE)
            continue;
        self->observed[used] = self->observed[i];
        self->gold[used] = self->gold[i];
        if (self->weights)
            self->weights[used] = self->weights[i];
        used++;
    }
    self->count = used;
    if (used == 0)
        return uc_fail(UC_ERR_INVALID, "no example has both an observed and a gold label");
    return UC_OK;
}

/* A copy of the pairs of all processes; freed with free_pairs, also after a failure. */
static uc_status gather_pairs(label_pairs *out, const uint32_t *observed, const uint32_t *gold,
                              const double *weights, size_t count, const uc_context *context)
{
    const uc_comm *comm = uc_comm_of(context);
    uc_share share;
    uc_status status = uc_share_of(&share, context, count);
    if (status == UC_OK)
        status = uc_comm_gather((void **)&out->observed, NULL, comm, observed, count * sizeof *observed);
    if (status == UC_OK)
        status = uc_comm_gather((void **)&out->gold, NULL, comm, gold, count * sizeof *gold);
    if (status == UC_OK && weights)
        status = uc_comm_gather((void **)&out->weights, NULL, comm, weights, count * sizeof *weights);
    out->count = share.total;
    return status;
}

static void free_pairs(label_pairs *self)
{
    uc_free(self->observed);
    uc_free(self->gold);
    uc_free(self->weights);
}

uc_status uc_noise_from_weighted_labels(uc_noise_estimate *out, const uint32_t *observed,
                                        const uint32_t *gold, const double *weights, size_t count,
                                        const uc_names *classes, const uc_noise_estimate_settings *settings,
                                        const uc_context *context)
{
    const uc_noise_estimate_settings own = settings ? *settings : uc_noise_estimate_defaults();
    uc_status status = uc_options_check(uc_noise_estimate_options, &own);
    if (status == UC_OK)
        status = check_classes(classes);
    if (status != UC_OK)
        return status;
    label_pairs pairs = {0};
    status = gather_pairs(&pairs, observed, gold, weights, count, context);
    if (status == UC_OK)
        status = keep_known(&pairs, classes);
    const uc_evidence from = {.rows = pairs.count,
                              .K = classes->count,
                              .observed = pairs.observed,
                              .gold = pairs.gold,
                              .weights = pairs.weights,
                              .estimate = uc_evidence_from_labels};
    if (status == UC_OK)
        status = uc_evidence_estimate(out, &from, pairs.present, classes, &own, context);
    free_pairs(&pairs);
    return status;
}

uc_status uc_noise_from_labels(uc_noise_estimate *out, const uint32_t *observed, const uint32_t *gold,
                               size_t count, const uc_names *classes,
                               const uc_noise_estimate_settings *settings, const uc_context *context)
{
    return uc_noise_from_weighted_labels(out, observed, gold, NULL, count, classes, settings, context);
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
    work.learner.tolerance = 1e-3; /* averages of probabilities need no greater precision */
    if (train)
        work.train = *train;
    work.train.noise = NULL;
    work.train.overwrite = 1; /* the data of each fold are our own copy */

    /* settings that are `auto` are decided once, for all folds */
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

static uc_status check_data(const uc_dataset *data, const uc_noise_estimate_settings *settings,
                            uc_share share)
{
    if (!data->y)
        return uc_fail(UC_ERR_FORMAT, "the data have no labels");
    if (data->X.cols == 0)
        return uc_fail(UC_ERR_FORMAT, "the data have no features");
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

/* Replaces this process's labels, weights and probabilities with those of all processes. */
static uc_status gather_evidence(uc_evidence *from, uint32_t **observed, double **weights, size_t rows,
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

/* Checks that the data of all processes together suffice for an estimate, and counts their rows. */
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
    const bool by_families = own.estimator >= UC_NOISE_FULL;
    uint32_t *observed = NULL;
    double *weights = NULL;
    uc_share share;
    uc_status status = check_all(&share, data, &own, context);
    if (status != UC_OK)
        return status;
    if (by_families && data->classes.count <= UC_MOST_FAMILY_CLASSES)
        return uc_noise_by_families(out, data, &own, train, context);
    if (by_families)
        uc_warn(context, "more than %d classes: confident examples are counted instead",
                UC_MOST_FAMILY_CLASSES);
    uc_evidence from = {.rows = data->X.rows,
                        .K = data->classes.count,
                        .observed = data->y,
                        .weights = data->weights,
                        .P = uc_alloc(data->X.rows, data->classes.count * sizeof *from.P),
                        .anchors = own.anchors,
                        .estimate = uc_evidence_by_counting};
    if (!from.P)
        return UC_ERR_NOMEM;
    if (by_anchors)
        from.estimate = uc_evidence_by_anchors;
    status = held_out_probabilities(from.P, data, &own, train, context);
    if (status != UC_OK)
        goto cleanup;
    status = gather_evidence(&from, &observed, &weights, data->X.rows, share, context);
    if (status == UC_OK && by_anchors)
        status = uc_evidence_rank(&from);
    if (status == UC_OK)
        status = uc_evidence_estimate(out, &from, share.total, &data->classes, &own, context);
cleanup:
    uc_free(from.clearest);
    uc_free(from.P);
    uc_free(observed);
    uc_free(weights);
    return status;
}

/* Two classes that overlap look like two classes with wrong labels. If assuming noise does not make held-out
 * labels more likely, a learner that assumes it would lose more than one that does not. */
static void doubt_noise(uc_noise_estimate *self, const uc_context *context)
{
    const uc_noise_families *found = &self->families;
    if (self->noise.classes != 2 || !found->chosen || strcmp(found->chosen, "full") == 0 ||
        found->symmetric_gain > found->symmetric_gain_deviation)
        return;
    for (size_t e = 0; e < 4; e++)
        self->noise.values[e] = e % 3 == 0;
    uc_warn(context, "labels of two classes that overlap do not show whether some are wrong: all are taken "
                     "for right; give the noise if you know it");
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
        doubt_noise(&found, context);
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
