/* Noise estimation: counts by hand, estimators against a slow computation, convergence, intervals. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "unconfuse/audit.h"
#include "unconfuse/select.h"

enum { K = 3 };
static const char *const names[K] = {"a", "b", "c"};
/* Columns are the true class. */
static const double truth[K * K] = {0.7, 0.1, 0.2, 0.1, 0.8, 0.2, 0.2, 0.1, 0.6};

typedef struct ear {
    char heard[4][256];
    size_t count;
} ear;

static void hear(const char *sentence, void *user)
{
    ear *self = user;
    if (self->count < 4)
        snprintf(self->heard[self->count], sizeof self->heard[0], "%s", sentence);
    self->count++;
}

/* Gold labels by turns, observed ones drawn from `truth`. */
static void draw_labels(uint32_t *observed, uint32_t *gold, size_t count, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 7);
    for (size_t i = 0; i < count; i++) {
        gold[i] = (uint32_t)(i % K);
        const double column[K] = {truth[gold[i]], truth[K + gold[i]], truth[2 * K + gold[i]]};
        observed[i] = (uint32_t)uc_rng_weighted(&rng, column, K);
    }
}

/* Three Gaussians in the plane, `distance` from the origin; labels drawn from `matrix`. */
static uc_dataset gaussians(size_t rows, double distance, const double *matrix, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 8);
    uc_dataset data = {.classes = sample_names(names, K)};
    assert_ok(uc_matrix_create_dense(&data.X, rows, 2));
    data.y = uc_alloc(rows, sizeof *data.y);
    assert_non_null(data.y);
    for (size_t i = 0; i < rows; i++) {
        const uint32_t q = (uint32_t)(i % K);
        const double angle = 2 * M_PI * q / K, column[K] = {matrix[q], matrix[K + q], matrix[2 * K + q]};
        data.X.values[i * data.X.stride] = (float)(distance * cos(angle) + uc_rng_normal(&rng));
        data.X.values[i * data.X.stride + 1] = (float)(distance * sin(angle) + uc_rng_normal(&rng));
        data.y[i] = (uint32_t)uc_rng_weighted(&rng, column, K);
    }
    return data;
}

static double distance_to(const double *values, const double *matrix)
{
    double sum = 0.0;
    for (size_t i = 0; i < K * K; i++)
        sum += (values[i] - matrix[i]) * (values[i] - matrix[i]);
    return sqrt(sum);
}

static uc_noise_estimate_settings without_intervals(void)
{
    uc_noise_estimate_settings settings = uc_noise_estimate_defaults();
    settings.bootstrap = 0;
    return settings;
}

/* ---- labels ---- */

/* Gold a: observed a a b; gold b: b a b b; two examples are not checked, one has no observed label. */
static void entries_are_shares_of_the_gold_class(void **state)
{
    (void)state;
    const uint32_t gold[10] = {0, 0, 0, 1, 1, 1, 1, UC_NONE, UC_NONE, 0};
    const uint32_t observed[10] = {0, 0, 1, 1, 0, 1, 1, 0, 1, UC_NONE};
    uc_names classes = sample_names(names, 2);
    uc_noise_estimate found;
    assert_ok(uc_noise_from_labels(&found, observed, gold, 10, &classes, NULL, NULL));
    const size_t counts[4] = {2, 1, 1, 3};
    assert_memory_equal(found.counts, counts, sizeof counts);
    assert_near(found.noise.values[0], 2.0 / 3, 1e-15);
    assert_near(found.noise.values[2], 1.0 / 3, 1e-15);
    assert_near(found.noise.values[1], 0.25, 1e-15);
    assert_near(found.noise.values[3], 0.75, 1e-15);
    assert_int_equal(found.examples, 7);
    assert_int_equal(found.skipped, 3);
    assert_int_equal(found.noise.classes, 2);
    assert_string_equal(found.noise.names.text[1], "b");
    for (size_t i = 0; i < 4; i++)
        assert_true(0 <= found.low[i] && found.low[i] <= found.noise.values[i] &&
                    found.noise.values[i] <= found.high[i] && found.high[i] <= 1);
    uc_noise_estimate_free(&found);
    uc_names_free(&classes);
}

/* An example of weight 3 is three of them, one of weight 0 none, and the unit does not matter. */
static void weighted_labels_are_repeated_labels(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    uint32_t gold[COUNT], observed[COUNT], more_gold[3 * COUNT], more_observed[3 * COUNT];
    double weights[COUNT], halves[COUNT];
    size_t more = 0, absent = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        gold[i] = i % 2;
        observed[i] = i % 7 == 3 ? 1 - gold[i] : gold[i];
        if (i % 11 == 5)
            gold[i] = UC_NONE;
        weights[i] = (double)(i * 5 % 4);
        halves[i] = weights[i] / 2.0;
        absent += weights[i] == 0.0;
        for (double t = 0.0; t < weights[i]; t += 1.0) {
            more_gold[more] = gold[i];
            more_observed[more++] = observed[i];
        }
    }
    uc_names classes = sample_names(names, 2);
    const uc_noise_estimate_settings settings = without_intervals();
    uc_noise_estimate found, repeated, half;
    assert_ok(uc_noise_from_weighted_labels(&found, observed, gold, weights, COUNT, &classes, NULL, NULL));
    assert_ok(uc_noise_from_weighted_labels(&half, observed, gold, halves, COUNT, &classes, NULL, NULL));
    assert_ok(uc_noise_from_labels(&repeated, more_observed, more_gold, more, &classes, &settings, NULL));
    for (size_t i = 0; i < 4; i++) {
        assert_near(found.noise.values[i], repeated.noise.values[i], 1e-15);
        assert_near(found.noise.values[i], half.noise.values[i], 1e-15);
        assert_near(found.low[i], half.low[i], 1e-15);
        assert_true(found.low[i] <= found.noise.values[i] && found.noise.values[i] <= found.high[i]);
    }
    assert_int_equal(found.examples + found.skipped, COUNT - absent);
    weights[7] = -1.0;
    uc_noise_estimate none = {0};
    assert_error(uc_noise_from_weighted_labels(&none, observed, gold, weights, COUNT, &classes, NULL, NULL),
                 UC_ERR_INVALID, "the weight of example 8, -1, is not a finite number of 0 or more");
    uc_noise_estimate_free(&found);
    uc_noise_estimate_free(&half);
    uc_noise_estimate_free(&repeated);
    uc_names_free(&classes);
}

static void a_missing_class_is_the_identity_and_a_warning(void **state)
{
    (void)state;
    uint32_t gold[100], observed[100];
    uc_names classes = sample_names(names, K);
    uc_noise_estimate found;
    ear warnings = {.count = 0};
    const uc_context context = {.warn = hear, .user = &warnings};
    for (size_t i = 0; i < 100; i++) { /* a: 90 examples, b: 10, c: none, though a third of b is called c */
        gold[i] = i % 10 == 0;
        observed[i] = i % 30 == 0 ? 2 : gold[i];
    }
    assert_ok(uc_noise_from_labels(&found, observed, gold, 100, &classes, NULL, &context));
    const double column[K] = {0, 0, 1};
    for (size_t p = 0; p < K; p++) {
        assert_true(found.noise.values[p * K + 2] == column[p]);
        assert_true(found.low[p * K + 2] == 0 && found.high[p * K + 2] == 1);
    }
    assert_near(found.noise.values[2 * K + 1], 0.4, 1e-15);
    assert_int_equal(warnings.count, 2);
    assert_string_equal(warnings.heard[0],
                        "no example to estimate from, so the column is the identity's, for class \"c\" (0)");
    assert_string_equal(warnings.heard[1], "fewer than 30 examples to estimate from, for class \"b\" (10)");
    uc_noise_estimate_free(&found);
    uc_names_free(&classes);
}

/* 0 of 50: resampling always gives 0, Wilson's interval reaches .071. */
static void what_never_happened_may_still_happen(void **state)
{
    (void)state;
    uint32_t gold[100], observed[100];
    uc_names classes = sample_names(names, 2);
    uc_noise_estimate found;
    double wilson[2];
    for (size_t i = 0; i < 100; i++)
        observed[i] = gold[i] = (uint32_t)(i % 2);
    assert_ok(uc_noise_from_labels(&found, observed, gold, 100, &classes, NULL, NULL));
    uc_metrics_wilson(wilson, 0, 50);
    assert_true(found.low[1] == 0.0 && found.high[1] == wilson[1] && wilson[1] > 0.05);
    assert_near(found.low[0], 1 - wilson[1], 1e-12);
    assert_true(found.high[0] == 1.0);
    uc_noise_estimate_free(&found);
    uc_names_free(&classes);
}

static double mean_distance(size_t count, size_t runs)
{
    uc_names classes = sample_names(names, K);
    const uc_noise_estimate_settings settings = without_intervals();
    uint32_t *gold = calloc(count, sizeof *gold), *observed = calloc(count, sizeof *observed);
    double sum = 0.0;
    for (size_t run = 0; run < runs; run++) {
        uc_noise_estimate found;
        draw_labels(observed, gold, count, run);
        assert_ok(uc_noise_from_labels(&found, observed, gold, count, &classes, &settings, NULL));
        assert_null(found.low);
        sum += distance_to(found.noise.values, truth);
        uc_noise_estimate_free(&found);
    }
    free(gold);
    free(observed);
    uc_names_free(&classes);
    return sum / (double)runs;
}

static void the_error_shrinks_with_the_root_of_the_examples(void **state)
{
    (void)state;
    const double few = mean_distance(600, 100), many = mean_distance(16 * 600, 100);
    assert_true(few < 0.15);
    assert_near(few / many, 4.0, 0.6);
}

static void intervals_hold_the_truth_about_95_times_in_100(void **state)
{
    (void)state;
    enum { COUNT = 450, RUNS = 100 };
    const uc_context one = {.threads = 1};
    uc_names classes = sample_names(names, K);
    uint32_t gold[COUNT], observed[COUNT];
    size_t hits = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        uc_noise_estimate found;
        uc_noise_estimate_settings settings = uc_noise_estimate_defaults();
        settings.seed = run;
        draw_labels(observed, gold, COUNT, 1000 + run);
        assert_ok(uc_noise_from_labels(&found, observed, gold, COUNT, &classes, &settings, &one));
        for (size_t i = 0; i < K * K; i++)
            hits += found.low[i] <= truth[i] && truth[i] <= found.high[i];
        uc_noise_estimate_free(&found);
    }
    const double coverage = (double)hits / (RUNS * K * K);
    assert_near(coverage, 0.945, 0.035);
    uc_names_free(&classes);
}

/* ---- data ---- */

/* Out-of-fold probabilities, the plain way. */
static double *probabilities(const uc_dataset *data, const uc_train_settings *train, uint64_t seed)
{
    const size_t rows = data->X.rows;
    double *P = calloc(rows * K, sizeof *P), *found = calloc(rows * K, sizeof *found);
    uint32_t *fold = calloc(rows, sizeof *fold);
    size_t *inside = calloc(rows, sizeof *inside), *outside = calloc(rows, sizeof *outside);
    assert_ok(uc_dataset_folds(fold, data, 5, true, seed, NULL));
    for (uint32_t f = 0; f < 5; f++) {
        size_t in = 0, out = 0;
        uc_dataset rest, test;
        uc_model *model;
        const uc_logistic_settings learner = {
            .correction = 1, .l2 = 1e-4, .iterations = 1000, .tolerance = 1e-3};
        for (size_t i = 0; i < rows; i++)
            if (fold[i] == f)
                inside[in++] = i;
            else
                outside[out++] = i;
        assert_ok(uc_dataset_subset(&rest, data, outside, out, NULL));
        assert_ok(uc_dataset_subset(&test, data, inside, in, NULL));
        assert_ok(uc_train(&model, uc_learner_find("logistic"), &learner, train, &rest, NULL));
        assert_ok(uc_model_probabilities(found, model, &test.X, NULL));
        for (size_t i = 0; i < in * K; i++)
            P[inside[i / K] * K + i % K] = found[i];
        uc_model_free(model);
        uc_dataset_free(&rest);
        uc_dataset_free(&test);
    }
    free(inside);
    free(outside);
    free(fold);
    free(found);
    return P;
}

static void slow_counting(double *C, double *counts, const uc_dataset *data, const double *P)
{
    double threshold[K] = {0}, labelled[K] = {0};
    memset(counts, 0, K * K * sizeof *counts);
    for (size_t k = 0; k < K; k++) {
        for (size_t i = 0; i < data->X.rows; i++)
            if (data->y[i] == k) {
                labelled[k]++;
                threshold[k] += P[i * K + k];
            }
        threshold[k] /= labelled[k];
    }
    for (size_t i = 0; i < data->X.rows; i++) {
        double best = -1;
        size_t class = K;
        for (size_t k = 0; k < K; k++)
            if (P[i * K + k] >= threshold[k] && P[i * K + k] > best) {
                best = P[i * K + k];
                class = k;
            }
        if (class < K)
            counts[data->y[i] * K + class] += 1;
    }
    for (size_t p = 0; p < K; p++)
        for (size_t q = 0; q < K; q++)
            C[p * K + q] =
                counts[p * K + q] * labelled[p] / (counts[p * K] + counts[p * K + 1] + counts[p * K + 2]);
    for (size_t q = 0; q < K; q++) {
        const double sum = C[q] + C[K + q] + C[2 * K + q];
        for (size_t p = 0; p < K; p++)
            C[p * K + q] /= sum;
    }
}

static void counting_agrees_with_the_slow_computation(void **state)
{
    (void)state;
    uc_dataset data = gaussians(600, 2.0, truth, 1);
    uc_train_settings train = uc_train_defaults();
    uc_noise_estimate_settings settings = uc_noise_estimate_defaults();
    double C[K * K], counts[K * K];
    uc_noise_estimate found;
    train.scale = UC_SCALE_STANDARD;
    settings.estimator = UC_NOISE_COUNTING;
    settings.seed = 9;
    double *P = probabilities(&data, &train, 9);
    slow_counting(C, counts, &data, P);
    assert_ok(uc_noise_from_data(&found, &data, &settings, &train, NULL));
    for (size_t i = 0; i < K * K; i++) {
        assert_int_equal(found.counts[i], (size_t)counts[i]);
        assert_near(found.noise.values[i], C[i], 1e-12);
        assert_true(0 <= found.low[i] && found.low[i] <= C[i] + 1e-12 && C[i] <= found.high[i] + 1e-12);
        assert_true(found.high[i] - found.low[i] > 0.01);
    }
    assert_int_equal(found.examples, 600);
    uc_noise_estimate_free(&found);
    uc_dataset_free(&data);
    free(P);
}

/* Column q: the plain mean over the m_q examples whose P_q no other example exceeds. */
static void anchors_agree_with_the_slow_computation(void **state)
{
    (void)state;
    uc_dataset data = gaussians(400, 2.0, truth, 2);
    uc_noise_estimate_settings settings = uc_noise_estimate_defaults();
    uc_noise_estimate found;
    size_t labelled[K];
    settings.estimator = UC_NOISE_ANCHOR;
    settings.anchors = 0.25;
    double *P = probabilities(&data, NULL, 1);
    uc_dataset_class_counts(labelled, &data);
    assert_ok(uc_noise_from_data(&found, &data, &settings, NULL, NULL));
    for (size_t q = 0; q < K; q++) {
        const size_t wanted = (size_t)lround(0.25 * (double)labelled[q]);
        double mean[K] = {0};
        size_t taken = 0;
        for (size_t i = 0; i < 400; i++) {
            size_t above = 0;
            for (size_t j = 0; j < 400; j++)
                above += P[j * K + q] > P[i * K + q];
            for (size_t p = 0; p < K && above < wanted; p++)
                mean[p] += P[i * K + p] / (double)wanted;
            taken += above < wanted;
        }
        assert_int_equal(taken, wanted);
        for (size_t p = 0; p < K; p++) {
            assert_near(found.noise.values[p * K + q], mean[p], 1e-12);
            assert_true(found.low[p * K + q] <= mean[p] + 1e-12 && mean[p] <= found.high[p * K + q] + 1e-12);
        }
        assert_int_equal(found.counts[q] + found.counts[K + q] + found.counts[2 * K + q], wanted);
    }
    uc_noise_estimate_free(&found);
    uc_dataset_free(&data);
    free(P);
}

/* The class is a feature: P(observed | x) is what a linear model can be. */
static uc_dataset islands(size_t rows, const double *matrix, uint64_t seed)
{
    uc_dataset data = gaussians(rows, 0.0, matrix, seed);
    uc_matrix_free(&data.X);
    assert_ok(uc_matrix_create_dense(&data.X, rows, K));
    for (size_t i = 0; i < rows; i++)
        data.X.values[i * data.X.stride + i % K] = 1.0f;
    return data;
}

static double distance_from_data(uc_dataset data, const double *matrix, int estimator)
{
    uc_noise_estimate_settings settings = without_intervals();
    uc_noise_estimate found;
    const uc_context one = {.threads = 1};
    settings.estimator = estimator;
    assert_ok(uc_noise_from_data(&found, &data, &settings, NULL, &one));
    const double distance = distance_to(found.noise.values, matrix);
    uc_noise_estimate_free(&found);
    uc_dataset_free(&data);
    return distance;
}

/* Counting needs no more than that the clearest examples are those of the class; a linear model of
 * Gaussians far apart is enough, although it cannot be the flat P(observed | x). Anchors take P(observed |
 * x) as it is. */
static void estimates_from_noisy_labels_converge_on_separable_data(void **state)
{
    (void)state;
    enum { RUNS = 6, FEW = 300 };
    double far[2] = {0}, counted[2] = {0}, anchors[2] = {0};
    for (uint64_t run = 0; run < RUNS; run++)
        for (size_t many = 0; many < 2; many++) {
            const size_t rows = many ? 16 * FEW : FEW;
            far[many] +=
                distance_from_data(gaussians(rows, 4.0, truth, 100 + run), truth, UC_NOISE_COUNTING) / RUNS;
            counted[many] += distance_from_data(islands(rows, truth, run), truth, UC_NOISE_COUNTING) / RUNS;
            anchors[many] += distance_from_data(islands(rows, truth, run), truth, UC_NOISE_ANCHOR) / RUNS;
        }
    assert_true(far[1] < 0.05 && far[0] / far[1] > 2);
    assert_true(counted[1] < 0.04 && counted[0] / counted[1] > 2.5);
    assert_true(anchors[1] < 0.04 && anchors[0] / anchors[1] > 2.5);
}

/* The labels are all right, but a third of the examples lie where another class is likelier. */
static void overlap_is_taken_for_noise(void **state)
{
    (void)state;
    static const double identity[K * K] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_true(distance_from_data(gaussians(3000, 8.0, identity, 9), identity, UC_NOISE_COUNTING) < 0.01);
    assert_true(distance_from_data(gaussians(3000, 1.0, identity, 9), identity, UC_NOISE_COUNTING) > 0.2);
}

/* ---- everything else ---- */

static void the_number_of_threads_does_not_matter(void **state)
{
    (void)state;
    const uc_context one = {.threads = 1}, five = {.threads = 5};
    uc_dataset data = gaussians(700, 2.0, truth, 3);
    for (int estimator = UC_NOISE_COUNTING; estimator <= UC_NOISE_ANCHOR; estimator++) {
        uc_noise_estimate_settings settings = uc_noise_estimate_defaults();
        uc_noise_estimate first, again, other;
        settings.estimator = estimator;
        settings.bootstrap = 50;
        assert_ok(uc_noise_from_data(&first, &data, &settings, NULL, &one));
        assert_ok(uc_noise_from_data(&again, &data, &settings, NULL, &five));
        settings.seed = 2;
        assert_ok(uc_noise_from_data(&other, &data, &settings, NULL, &five));
        const size_t bytes = K * K * sizeof(double);
        assert_memory_equal(first.noise.values, again.noise.values, bytes);
        assert_memory_equal(first.low, again.low, bytes);
        assert_memory_equal(first.high, again.high, bytes);
        assert_true(memcmp(first.low, other.low, bytes) != 0);
        uc_noise_estimate_free(&first);
        uc_noise_estimate_free(&again);
        uc_noise_estimate_free(&other);
    }
    uc_dataset_free(&data);
}

static void the_matrix_to_train_with_is_that_of_the_data(void **state)
{
    (void)state;
    uc_dataset data = gaussians(600, 4.0, truth, 4);
    uc_train_settings train = uc_train_defaults();
    uc_noise_estimate found;
    uc_noise noise;
    train.seed = 5;
    uc_noise_estimate_settings settings = without_intervals();
    settings.seed = 5;
    assert_ok(uc_noise_estimate_self(&noise, &data, &train, NULL));
    assert_ok(uc_noise_from_data(&found, &data, &settings, &train, NULL));
    assert_memory_equal(noise.values, found.noise.values, K * K * sizeof(double));
    assert_string_equal(noise.names.text[2], "c");
    uc_noise_free(&noise);
    uc_noise_estimate_free(&found);
    uc_dataset_free(&data);
}

static bool refuse(const char *task, double done, double total, const char *detail, void *user)
{
    (void)detail;
    assert_true(done <= total);
    *(bool *)user = strcmp(task, "estimating noise") == 0 || strcmp(task, "resampling") == 0;
    return false;
}

static void progress_may_stop_the_work(void **state)
{
    (void)state;
    uc_dataset data = gaussians(100, 4.0, truth, 5);
    bool told = false;
    const uc_context context = {.progress = refuse, .user = &told};
    uc_noise_estimate found;
    assert_status(uc_noise_from_data(&found, &data, NULL, NULL, &context), UC_ERR_CANCELLED);
    assert_true(told);
    told = false;
    assert_status(uc_noise_from_labels(&found, data.y, data.y, 100, &data.classes, NULL, &context),
                  UC_ERR_CANCELLED);
    assert_true(told);
    uc_dataset_free(&data);
}

static void what_cannot_be_estimated_is_refused(void **state)
{
    (void)state;
    uc_dataset data = gaussians(20, 4.0, truth, 6);
    uc_names one = sample_names(names, 1);
    uc_noise_estimate found;
    uint32_t labels[2] = {0, UC_NONE}, other[2] = {UC_NONE, 1}, strange[2] = {0, 3};
    const long live = uc_alloc_live();
    assert_error(uc_noise_from_labels(&found, labels, other, 2, &data.classes, NULL, NULL), UC_ERR_INVALID,
                 "no example has both an observed and a gold label");
    assert_error(uc_noise_from_labels(&found, labels, strange, 2, &data.classes, NULL, NULL), UC_ERR_INVALID,
                 "example 2 has a label that is not one of the 3 classes");
    assert_error(uc_noise_from_labels(&found, labels, labels, 2, &one, NULL, NULL), UC_ERR_INVALID,
                 "a noise matrix needs at least 2 classes, not 1");
    uc_noise_estimate_settings settings = uc_noise_estimate_defaults();
    settings.folds = 21;
    assert_error(uc_noise_from_data(&found, &data, &settings, NULL, NULL), UC_ERR_INVALID,
                 "21 folds of 20 examples: it must be at most the number of examples");
    settings.folds = 1;
    assert_status(uc_noise_from_data(&found, &data, &settings, NULL, NULL), UC_ERR_OPTION);
    data.y[16] = UC_NONE;
    assert_error(uc_noise_from_data(&found, &data, NULL, NULL, NULL), UC_ERR_FORMAT,
                 "example 17 has no label ('?'), which cannot be used to estimate noise");
    uint32_t *y = data.y;
    data.y = NULL;
    assert_error(uc_noise_from_data(&found, &data, NULL, NULL, NULL), UC_ERR_FORMAT,
                 "the data have no labels");
    data.y = y;
    assert_int_equal(uc_alloc_live(), live);
    uc_names_free(&one);
    uc_dataset_free(&data);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const uc_context one = {.threads = 1};
    uc_dataset data = gaussians(24, 4.0, truth, 7);
    uc_noise_estimate_settings settings = uc_noise_estimate_defaults();
    uc_noise_estimate found;
    uc_noise noise;
    uc_status status;
    settings.bootstrap = 3;
    settings.folds = 2;
    settings.l2 = 0.1; /* few steps */
    FOR_EACH_FAILING_ALLOCATION(
        status, uc_noise_from_labels(&found, data.y, data.y, 24, &data.classes, &settings, &one));
    uc_noise_estimate_free(&found);
    for (int estimator = UC_NOISE_COUNTING; estimator <= UC_NOISE_ANCHOR; estimator++) {
        settings.estimator = estimator;
        FOR_EACH_FAILING_ALLOCATION(status, uc_noise_from_data(&found, &data, &settings, NULL, &one));
        uc_noise_estimate_free(&found);
    }
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_estimate_self(&noise, &data, NULL, &one));
    uc_noise_free(&noise);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_shares_of_the_gold_class),
        cmocka_unit_test(weighted_labels_are_repeated_labels),
        cmocka_unit_test(a_missing_class_is_the_identity_and_a_warning),
        cmocka_unit_test(what_never_happened_may_still_happen),
        cmocka_unit_test(the_error_shrinks_with_the_root_of_the_examples),
        cmocka_unit_test(intervals_hold_the_truth_about_95_times_in_100),
        cmocka_unit_test(counting_agrees_with_the_slow_computation),
        cmocka_unit_test(anchors_agree_with_the_slow_computation),
        cmocka_unit_test(estimates_from_noisy_labels_converge_on_separable_data),
        cmocka_unit_test(overlap_is_taken_for_noise),
        cmocka_unit_test(the_number_of_threads_does_not_matter),
        cmocka_unit_test(the_matrix_to_train_with_is_that_of_the_data),
        cmocka_unit_test(progress_may_stop_the_work),
        cmocka_unit_test(what_cannot_be_estimated_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
