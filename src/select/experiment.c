/*
 * The parts of an experiment: labels are made wrong on purpose, and learners are trained on them.
 *
 * Noise that depends on the example: a weak model, ridge on a tenth of the rows, scores all rows; margin =
 * score of the true class - the best other score. Rows are sorted by ascending margin, and row r of n gets
 * the best other class with probability 2 rate (1 - (r + 1/2)/n). The average is `rate`; it is most likely
 * where the weak model is uncertain or wrong, and unlikely where the class is obvious.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "data/table.h"
#include "unconfuse/select.h"

#define WEAK_SHARE 0.1 /* of the rows are for the weak model, */
#define WEAK_LEAST 5   /* but at least this many of every class that has them */

#define SEQUENCE_WEAK UINT64_C(0x6578702d7765)     /* "exp-we" */
#define SEQUENCE_INSTANCE UINT64_C(0x6578702d696e) /* "exp-in" */

/* ---- kinds of noise ---- */

static const struct kind {
    const char *name;
    size_t numbers;
    double most;
    const char *written;
} kinds[] = {
    [UC_NOISE_KIND_NONE] = {"none", 0, 0.0, "none"},
    [UC_NOISE_KIND_UNIFORM] = {"uniform", 1, 1.0, "uniform:RATE"},
    [UC_NOISE_KIND_PAIR] = {"pair", 1, 1.0, "pair:RATE"},
    [UC_NOISE_KIND_RANDOM] = {"random", 1, 20.0, "random:LEVEL"},
    [UC_NOISE_KIND_RATES] = {"rates", 2, 1.0, "rates:POSITIVE:NEGATIVE"},
    [UC_NOISE_KIND_INSTANCE] = {"instance", 1, 0.5, "instance:RATE"},
};

#define KINDS (sizeof kinds / sizeof *kinds)

static uc_status refuse_kind(const char *text)
{
    char quoted[UC_QUOTE_SIZE];
    return uc_fail(UC_ERR_OPTION,
                   "'%s' is no kind of noise: it must be none, uniform:RATE, pair:RATE, random:LEVEL, "
                   "rates:POSITIVE:NEGATIVE or instance:RATE",
                   uc_quote(quoted, text, strlen(text)));
}

uc_status uc_label_noise_parse(uc_label_noise *out, const char *text)
{
    const size_t length = strcspn(text, ":");
    size_t k = 0;
    while (k < KINDS && (strlen(kinds[k].name) != length || strncmp(kinds[k].name, text, length) != 0))
        k++;
    if (k == KINDS)
        return refuse_kind(text);
    uc_label_noise found = {.kind = (uc_noise_kind)k};
    const char *at = text + length;
    for (size_t i = 0; i < kinds[k].numbers; i++) {
        const size_t digits = *at == ':' ? strcspn(at + 1, ":") : 0;
        double *number = &found.numbers[i];
        if (digits == 0 || !uc_parse_real(number, at + 1, digits))
            return uc_fail(UC_ERR_OPTION, "noise '%s': it is written as %s", kinds[k].name, kinds[k].written);
        if (!(*number >= 0.0 && *number <= kinds[k].most))
            return uc_fail(UC_ERR_OPTION, "noise '%s': %g is not between 0 and %g", kinds[k].name, *number,
                           kinds[k].most);
        at += digits + 1;
    }
    if (*at)
        return uc_fail(UC_ERR_OPTION, "noise '%s': it is written as %s", kinds[k].name, kinds[k].written);
    *out = found;
    return UC_OK;
}

static uc_status make_matrix(uc_noise *out, const uc_label_noise *noise, size_t classes, uint64_t seed)
{
    const double *numbers = noise->numbers;
    switch (noise->kind) {
    case UC_NOISE_KIND_UNIFORM:
        return uc_noise_uniform(out, classes, numbers[0]);
    case UC_NOISE_KIND_PAIR:
        return uc_noise_pair(out, classes, numbers[0]);
    case UC_NOISE_KIND_RANDOM:
        return uc_noise_random(out, classes, numbers[0], seed);
    case UC_NOISE_KIND_RATES:
        if (classes == 2)
            return uc_noise_binary(out, numbers[0], numbers[1]);
        return uc_fail(UC_ERR_INVALID, "noise 'rates' is for two classes, but there are %zu", classes);
    case UC_NOISE_KIND_NONE:
    case UC_NOISE_KIND_INSTANCE:
        break;
    }
    return uc_noise_uniform(out, classes, 0.0);
}

/* ---- noise that depends on the example ---- */

typedef struct doubt {
    size_t row;
    double margin;
    uint32_t rival; /* the best class other than the row's own */
} doubt;

static int compare_doubts(const void *a, const void *b)
{
    const doubt *first = a, *second = b;
    if (first->margin != second->margin)
        return first->margin < second->margin ? -1 : 1;
    return first->row < second->row ? -1 : 1;
}

/* Draws a tenth of the labelled rows at random, but at least a few of every class. */
static uc_status choose_rows(size_t *rows, size_t *count, const uc_dataset *data, uint64_t seed)
{
    const size_t n = data->X.rows, K = data->classes.count;
    size_t *taken = uc_alloc(K, sizeof *taken), *order = uc_alloc(n, sizeof *order);
    uc_rng rng = uc_rng_make(seed, SEQUENCE_WEAK);
    *count = 0;
    if (taken && order) {
        uc_rng_choose(&rng, order, n, n);
        for (size_t i = 0; i < n; i++) {
            const uint32_t label = data->y[order[i]];
            if (label == UC_NONE)
                continue;
            if ((double)i < WEAK_SHARE * (double)n || taken[label] < WEAK_LEAST) {
                rows[(*count)++] = order[i];
                taken[label]++;
            }
        }
    }
    const bool failed = !taken || !order;
    uc_free(taken);
    uc_free(order);
    return failed ? UC_ERR_NOMEM : UC_OK;
}

static uc_status weak_scores(double *scores, const uc_dataset *data, uint64_t seed, const uc_context *context)
{
    size_t *rows = uc_alloc(data->X.rows, sizeof *rows), count = 0;
    uc_dataset few = {0};
    uc_model *model = NULL;
    uc_train_settings settings = uc_train_defaults();
    settings.scale = UC_SCALE_STANDARD;
    settings.seed = seed;
    if (uc_matrix_is_sparse(&data->X))
        settings.scale = UC_SCALE_MAXABS;
    uc_status status = rows ? choose_rows(rows, &count, data, seed) : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_dataset_subset(&few, data, rows, count, context);
    if (status == UC_OK)
        status = uc_train(&model, uc_learner_find("ridge"), NULL, &settings, &few, context);
    if (status == UC_OK)
        status = uc_model_scores(scores, model, &data->X, context);
    uc_model_free(model);
    uc_dataset_free(&few);
    uc_free(rows);
    return status;
}

static doubt doubt_of(const double *scores, size_t row, uint32_t label, size_t K)
{
    uint32_t rival = label == 0 ? 1 : 0;
    for (uint32_t k = 0; k < K; k++)
        if (k != label && scores[k] > scores[rival])
            rival = k;
    return (doubt){row, scores[label] - scores[rival], rival};
}

static uc_status apply_by_instance(uc_dataset *data, double rate, uint64_t seed, const uc_context *context)
{
    const size_t n = data->X.rows, K = data->classes.count;
    double *scores = uc_alloc(n * K, sizeof *scores);
    doubt *doubts = uc_alloc(n, sizeof *doubts);
    uc_status status = scores && doubts ? weak_scores(scores, data, seed, context) : UC_ERR_NOMEM;
    size_t count = 0;
    for (size_t i = 0; i < n && status == UC_OK; i++)
        if (data->y[i] != UC_NONE)
            doubts[count++] = doubt_of(scores + i * K, i, data->y[i], K);
    if (status == UC_OK) {
        uc_rng rng = uc_rng_make(seed, SEQUENCE_INSTANCE);
        qsort(doubts, count, sizeof *doubts, compare_doubts);
        for (size_t r = 0; r < count; r++) {
            const double likely = 2.0 * rate * (1.0 - ((double)r + 0.5) / (double)count);
            if (uc_rng_uniform(&rng) < likely)
                data->y[doubts[r].row] = doubts[r].rival;
        }
    }
    uc_free(doubts);
    uc_free(scores);
    return status;
}

uc_status uc_label_noise_apply(uc_dataset *data, uc_noise *matrix, const uc_label_noise *noise, uint64_t seed,
                               const uc_context *context)
{
    uc_noise made = {0};
    uc_status status = UC_OK;
    if (data->classes.count == 0)
        return uc_fail(UC_ERR_FORMAT, "the data have no labels");
    if (data->classes.count == 1)
        return uc_dataset_check_classes(data);
    if (noise->kind == UC_NOISE_KIND_INSTANCE)
        return apply_by_instance(data, noise->numbers[0], seed, context);
    status = make_matrix(&made, noise, data->classes.count, seed);
    if (status == UC_OK && noise->kind != UC_NOISE_KIND_NONE)
        status = uc_noise_apply(data, &made, seed, NULL);
    if (status == UC_OK && matrix) {
        *matrix = made;
        return UC_OK;
    }
    uc_noise_free(&made);
    return status;
}

/* ---- one cell ---- */

uc_status uc_experiment_draw(uc_dataset *train, uc_dataset *test, const uc_dataset *data, double test_share,
                             uint64_t seed, const uc_context *context)
{
    *train = *test = (uc_dataset){0};
    uc_status status = uc_dataset_split(train, test, data, 1.0 - test_share, true, seed, context);
    if (status == UC_OK)
        status = uc_encode_again(train, test, context);
    if (status == UC_OK)
        return UC_OK;
    uc_dataset_free(train);
    uc_dataset_free(test);
    *train = *test = (uc_dataset){0};
    return status;
}

uc_status uc_trial(double *error, double *seconds, uc_model **model, const uc_learner *learner,
                   const void *settings, const uc_train_settings *train, const uc_dataset *noisy,
                   const uc_dataset *test, const uc_context *context)
{
    uc_dataset copy = {0};
    uc_model *learned = NULL;
    uc_evaluation found = {0};
    struct timespec began, ended;
    uint32_t *predicted = uc_alloc(test->X.rows, sizeof *predicted);
    uc_status status = predicted ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_dataset_subset(&copy, noisy, NULL, 0, context);
    clock_gettime(CLOCK_MONOTONIC, &began);
    if (status == UC_OK)
        status = uc_tune_and_train(&learned, learner, settings, train, &copy, context);
    if (status == UC_OK)
        status = uc_model_predict(predicted, learned, &test->X, context);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    if (status == UC_OK)
        status = uc_evaluation_compute(&found, test->y, predicted, test->X.rows, test->classes.count, NULL);
    if (status == UC_OK) {
        *error = found.error;
        *seconds = difftime(ended.tv_sec, began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec);
    }
    if (status == UC_OK && model) {
        *model = learned;
        learned = NULL;
    }
    uc_evaluation_free(&found);
    uc_model_free(learned);
    uc_dataset_free(&copy);
    uc_free(predicted);
    return status;
}
