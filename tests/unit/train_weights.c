/* Weights and soft labels: a weight is a number of rows, for every batch learner, in threads and in
 * processes; and invalid weights are refused. */
#include "tests/files.h"
#include "tests/processes.h"
#include "tests/sample.h"

#include <math.h>

#include "learn/learner.h"
#include "learn/logistic.h"
#include "linalg/linalg.h"
#include "model/model.h"
#include "unconfuse/unconfuse.h"

enum { ROWS = 90, COLS = 4 };

/* Rows i of `data` repeated times[i] times. */
static uc_dataset repeat(const uc_dataset *data, const double *times)
{
    size_t rows[8 * ROWS], count = 0;
    uc_dataset plain = *data, out = {0};
    plain.weights = NULL;
    for (size_t i = 0; i < data->X.rows; i++)
        for (double t = 0.0; t < times[i]; t += 1.0)
            rows[count++] = i;
    assert_ok(uc_dataset_subset(&out, &plain, rows, count, NULL));
    return out;
}

/* 0, 1, 2, 3 by turns. */
static uc_dataset weighted_data(size_t classes, bool sparse, bool with_zeros)
{
    uc_dataset data = sample_data(ROWS, COLS, classes, sparse, 5);
    data.weights = uc_alloc(ROWS, sizeof *data.weights);
    for (size_t i = 0; i < ROWS; i++)
        data.weights[i] = with_zeros ? (double)(i * 7 % 4) : (double)(1 + i * 7 % 3);
    return data;
}

/* Options of pu: the sigmoid loss has several minima, and an estimate of the prior is made from folds. */
static void fix_pu(const uc_learner *learner, void *settings)
{
    assert_ok(uc_option_set(uc_options_find(uc_learner_options(learner), "prior"), settings, "0.8"));
    assert_ok(uc_option_set(uc_options_find(uc_learner_options(learner), "loss"), settings, "logistic"));
}

static uc_model *train_with(const char *name, uc_dataset *data, const char *class_weight,
                            const uc_context *context)
{
    const uc_learner *learner = uc_learner_find(name);
    unsigned char settings[256];
    uc_model *model = NULL;
    assert_true(uc_learner_settings_size(learner) <= sizeof settings);
    uc_options_defaults(uc_learner_options(learner), settings);
    const char *const fixed[][2] = {
        {"tolerance", "1e-9"}, {"kappa", "0.1"}, {"lambda", "0.1"}, {"cost", "10"}, {"l2", "0.01"}};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        const uc_option *option = uc_options_find(uc_learner_options(learner), fixed[i][0]);
        if (option)
            assert_ok(uc_option_set(option, settings, fixed[i][1]));
    }
    if (strcmp(name, "pu") == 0)
        fix_pu(learner, settings);
    if (class_weight)
        assert_ok(uc_option_set(uc_options_find(uc_learner_options(learner), "class-weight"), settings,
                                class_weight));
    uc_train_settings train = uc_train_defaults();
    train.scale = uc_matrix_is_sparse(&data->X) ? UC_SCALE_MAXABS : UC_SCALE_STANDARD;
    train.map.map = UC_MAP_NONE;
    assert_ok(uc_train(&model, learner, settings, &train, data, context));
    return model;
}

static void models_are_near(const uc_model *a, const uc_model *b, double tolerance)
{
    double largest = 0.0;
    assert_int_equal(a->stride, b->stride);
    for (size_t i = 0; i < (a->dimension + 1) * a->stride; i++)
        largest = fmax(largest, fabs(a->weights[i]));
    for (size_t i = 0; i < (a->dimension + 1) * a->stride; i++)
        assert_near(a->weights[i], b->weights[i], tolerance * largest);
    for (size_t j = 0; j < COLS && a->preprocessing.shift; j++) {
        assert_near(a->preprocessing.shift[j], b->preprocessing.shift[j], 1e-12);
        assert_near_relative(a->preprocessing.factor[j], b->preprocessing.factor[j], 1e-12);
    }
}

static const char *const batch[] = {"logistic", "uma", "rp", "csvm", "sloppy-svm", "s3vm", "ridge", "pu"};
enum { BATCH = sizeof batch / sizeof *batch };

static size_t classes_for(const char *name)
{
    static const char *const binary[] = {"sloppy-svm", "rp", "pu"};
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (strcmp(name, binary[i]) == 0)
            return 2;
    return 3;
}

static void a_weight_is_a_number_of_rows(void **state)
{
    (void)state;
    for (size_t l = 0; l < BATCH; l++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int balanced = 0; balanced < 2; balanced++) {
                if (balanced && strcmp(batch[l], "uma") == 0)
                    continue; /* rounding of the class weights changes which of its steps is the last */
                uc_dataset data = weighted_data(classes_for(batch[l]), sparse, true);
                uc_dataset more = repeat(&data, data.weights);
                uc_model *a = train_with(batch[l], &data, balanced ? "balanced" : NULL, NULL);
                uc_model *b = train_with(batch[l], &more, balanced ? "balanced" : NULL, NULL);
                models_are_near(a, b, 1e-3);
                assert_near(json_number_value(json_object_get(a->summary, "training_error")),
                            json_number_value(json_object_get(b->summary, "training_error")), 1e-12);
                uc_model_free(a);
                uc_model_free(b);
                uc_dataset_free(&more);
                uc_dataset_free(&data);
            }
}

/* But for ridge with a given lambda, whose loss is a sum. */
static void all_weights_times_a_number_change_nothing(void **state)
{
    (void)state;
    for (size_t l = 0; l < BATCH; l++) {
        if (strcmp(batch[l], "ridge") == 0)
            continue;
        uc_dataset data = weighted_data(classes_for(batch[l]), false, false);
        uc_model *a = train_with(batch[l], &data, NULL, NULL);
        for (size_t i = 0; i < ROWS; i++)
            data.weights[i] *= 0.37;
        uc_model *b = train_with(batch[l], &data, NULL, NULL);
        models_are_near(a, b, 1e-3);
        uc_model_free(a);
        uc_model_free(b);
        uc_dataset_free(&data);
    }
}

/* How far the probabilities of two models of `auto` are apart, on average over rows and classes. */
static double mean_difference(const uc_model *a, const uc_model *b, const uc_matrix *X)
{
    enum { CELLS = 3 * ROWS };
    double p[CELLS], q[CELLS], sum = 0.0;
    assert_int_equal(X->rows, ROWS);
    assert_ok(uc_model_probabilities(p, a, X, NULL));
    assert_ok(uc_model_probabilities(q, b, X, NULL));
    for (size_t i = 0; i < CELLS; i++)
        sum += fabs(p[i] - q[i]) / CELLS;
    return sum;
}

/* `auto` chooses by held-out rows, where a weighted row leaves as a whole and one of two equal rows does
 * not: so a weight is nearly a number of rows, unless that changes a choice (as it does here when classes are
 * balanced). What must be exact is that the unit does not matter: the path of lambdas moves in its steps. */
static void auto_counts_weights(void **state)
{
    (void)state;
    for (int balanced = 0; balanced < 2; balanced++) {
        const char *how = balanced ? "balanced" : NULL;
        uc_dataset data = weighted_data(3, false, false), more = repeat(&data, data.weights), plain = data;
        plain.weights = NULL;
        uc_model *a = train_with("auto", &data, how, NULL), *b = train_with("auto", &more, how, NULL),
                 *without = train_with("auto", &plain, how, NULL);
        for (size_t i = 0; i < ROWS; i++)
            data.weights[i] *= 100.0;
        uc_model *c = train_with("auto", &data, how, NULL);
        models_are_near(a, c, 1e-6);
        const double repeated = mean_difference(a, b, &data.X),
                     ignored = mean_difference(a, without, &data.X);
        assert_true(balanced || repeated < 0.5 * ignored);
        uc_model_free(a);
        uc_model_free(b);
        uc_model_free(c);
        uc_model_free(without);
        uc_dataset_free(&more);
        uc_dataset_free(&data);
    }
}

/* Every learner, online ones too: the same bytes. */
static void a_row_of_weight_0_is_absent(void **state)
{
    (void)state;
    for (size_t l = 0; uc_learner_at(l); l++) {
        const char *name = uc_learner_name(uc_learner_at(l));
        uc_dataset data = weighted_data(classes_for(name), false, true), kept = {0};
        for (size_t i = 0; i < ROWS; i++)
            data.weights[i] = fmin(data.weights[i], 1.0);
        assert_ok(uc_dataset_copy_weighted(&kept, &data, NULL));
        uc_model *a = train_with(name, &data, NULL, NULL), *b = train_with(name, &kept, NULL, NULL);
        assert_memory_equal(a->weights, b->weights, (a->dimension + 1) * a->stride * sizeof *a->weights);
        uc_model_free(a);
        uc_model_free(b);
        uc_dataset_free(&kept);
        uc_dataset_free(&data);
    }
}

static void set_soft(uc_dataset *data, double share)
{
    const size_t K = data->classes.count;
    data->soft = uc_alloc(ROWS * K, sizeof *data->soft);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < K; k++)
            data->soft[i * K + k] = k == data->y[i] ? share : (1.0 - share) / (double)(K - 1);
}

static void soft_labels_of_one_class_are_labels(void **state)
{
    (void)state;
    for (size_t l = 0; l < BATCH; l++) {
        uc_dataset data = weighted_data(classes_for(batch[l]), false, false);
        uc_model *a = train_with(batch[l], &data, NULL, NULL);
        set_soft(&data, 1.0);
        uc_model *b = train_with(batch[l], &data, NULL, NULL);
        assert_memory_equal(a->weights, b->weights, (a->dimension + 1) * a->stride * sizeof *a->weights);
        uc_model_free(a);
        uc_model_free(b);
        uc_dataset_free(&data);
    }
}

/* The matrix of logistic and a row for every class give the same loss, with class weights, too. */
static void soft_labels_are_a_row_for_every_class(void **state)
{
    (void)state;
    for (int balanced = 0; balanced < 2; balanced++) {
        uc_dataset data = weighted_data(3, false, false), hard = {0};
        set_soft(&data, 0.7);
        assert_ok(uc_dataset_harden(&hard, &data, NULL));
        assert_int_equal(hard.X.rows, 3 * ROWS);
        uc_model *a = train_with("logistic", &data, balanced ? "balanced" : NULL, NULL);
        uc_model *b = train_with("logistic", &hard, balanced ? "balanced" : NULL, NULL);
        models_are_near(a, b, 1e-5);
        uc_model_free(a);
        uc_model_free(b);
        uc_dataset_free(&hard);
        uc_dataset_free(&data);
    }
}

/* The gradient of the weighted objective, by differences. */
static void gradients_have_the_weights(void **state)
{
    (void)state;
    for (int correction = UC_CORRECTION_NONE; correction <= UC_CORRECTION_BACKWARD; correction++)
        for (int soft = 0; soft < 2; soft++) {
            uc_dataset data = weighted_data(3, false, false);
            uc_noise noise = {0};
            double inverse[9], W[(COLS + 1) * 4] = {0}, gradient[(COLS + 1) * 4], ignored[(COLS + 1) * 4];
            assert_ok(uc_noise_uniform(&noise, 3, 0.2));
            assert_ok(uc_noise_invert(inverse, &noise, 0.0));
            if (soft)
                set_soft(&data, 0.6);
            const size_t S = uc_class_stride(3);
            const uc_logistic_problem problem = {.data = &data,
                                                 .K = 3,
                                                 .S = S,
                                                 .correction = (uc_correction)correction,
                                                 .C = noise.values,
                                                 .B = inverse,
                                                 .l2 = 0.03,
                                                 .weights = data.weights,
                                                 .free_offset = true};
            uc_rng rng = uc_rng_make(3, 1);
            for (size_t j = 0; j <= COLS; j++)
                for (size_t q = 0; q < 3; q++)
                    W[j * S + q] = 0.4 * uc_rng_normal(&rng);
            double value, above, below;
            assert_ok(uc_logistic_gradient(&value, gradient, W, &problem, NULL));
            for (size_t j = 0; j <= COLS; j++)
                for (size_t q = 0; q < 3; q++) {
                    double *w = &W[j * S + q], old = *w, h = 1e-5;
                    *w = old + h;
                    assert_ok(uc_logistic_gradient(&above, ignored, W, &problem, NULL));
                    *w = old - h;
                    assert_ok(uc_logistic_gradient(&below, ignored, W, &problem, NULL));
                    *w = old;
                    assert_near(gradient[j * S + q], (above - below) / (2 * h), 1e-8);
                }
            uc_noise_free(&noise);
            uc_dataset_free(&data);
        }
}

typedef struct shared_task {
    const uc_dataset *whole;
    const char *learner;
    uc_model *models[3];
} shared_task;

static uc_status train_share(const uc_comm *comm, void *user)
{
    shared_task *self = user;
    const uc_context context = {.comm = comm, .threads = 1};
    size_t rows[ROWS], count = 0;
    uc_dataset mine = {0};
    for (size_t i = (size_t)comm->rank * ROWS / 3; i < (size_t)(comm->rank + 1) * ROWS / 3; i++)
        rows[count++] = i;
    const uc_status status = uc_dataset_subset(&mine, self->whole, rows, count, NULL);
    if (status == UC_OK)
        self->models[comm->rank] = train_with(self->learner, &mine, NULL, &context);
    uc_dataset_free(&mine);
    return status;
}

static void threads_and_processes_weigh_alike(void **state)
{
    (void)state;
    for (size_t l = 0; l < BATCH; l++)
        for (int soft = 0; soft < 2; soft++) {
            uc_dataset data = weighted_data(classes_for(batch[l]), false, true);
            if (soft)
                set_soft(&data, 0.8);
            shared_task self = {.whole = &data, .learner = batch[l]};
            const uc_context two = {.threads = 2}, one = {.threads = 1};
            uc_model *a = train_with(batch[l], &data, NULL, &one),
                     *b = train_with(batch[l], &data, NULL, &two);
            assert_memory_equal(a->weights, b->weights, (a->dimension + 1) * a->stride * sizeof *a->weights);
            assert_ok(run_processes(3, train_share, &self));
            for (int r = 0; r < 3; r++) {
                models_are_near(a, self.models[r], 1e-3);
                uc_model_free(self.models[r]);
            }
            uc_model_free(a);
            uc_model_free(b);
            uc_dataset_free(&data);
        }
}

/* An example of any weight is in one fold. */
static void folds_keep_a_weighted_row_whole(void **state)
{
    (void)state;
    uc_dataset data = weighted_data(3, false, false), others, inside;
    uint32_t fold[ROWS];
    double total = 0.0, parts = 0.0;
    set_soft(&data, 0.7);
    assert_ok(uc_dataset_folds(fold, &data, 5, true, 1, NULL));
    for (unsigned f = 0; f < 5; f++) {
        assert_ok(uc_dataset_fold_split(&others, &inside, &data, fold, f, NULL));
        assert_int_equal(others.X.rows + inside.X.rows, ROWS);
        for (size_t i = 0; i < inside.X.rows; i++)
            parts += inside.weights[i];
        for (size_t i = 0, at = 0; i < ROWS; i++)
            if (fold[i] == f)
                assert_memory_equal(inside.soft + 3 * at++, data.soft + 3 * i, 3 * sizeof *data.soft);
        uc_dataset_free(&others);
        uc_dataset_free(&inside);
    }
    assert_ok(uc_dataset_total_weight(&total, &data, NULL));
    assert_true(parts == total);
    uc_dataset_free(&data);
}

static void what_is_no_weight_is_refused(void **state)
{
    (void)state;
    uc_dataset data = weighted_data(3, false, false);
    uc_model *model = NULL;
    data.weights[4] = -1.0;
    assert_error(uc_train(&model, uc_learner_find("logistic"), NULL, NULL, &data, NULL), UC_ERR_INVALID,
                 "the weight of example 5, -1, is not a finite number of 0 or more");
    data.weights[4] = 1.0;
    set_soft(&data, 0.7);
    assert_error_has(uc_train(&model, uc_learner_find("pa"), NULL, NULL, &data, NULL), UC_ERR_INVALID,
                     "cannot use soft labels");
    data.soft[3] = 0.9;
    assert_error_has(uc_train(&model, uc_learner_find("logistic"), NULL, NULL, &data, NULL), UC_ERR_INVALID,
                     "soft labels of example 2 sum to");
    uc_dataset_free(&data);
}

static uc_status train_soft(const uc_dataset *data, const char *name)
{
    uc_model *model = NULL;
    uc_train_settings train = uc_train_defaults();
    unsigned char settings[256];
    const uc_learner *learner = uc_learner_find(name);
    uc_options_defaults(uc_learner_options(learner), settings);
    assert_ok(
        uc_option_set(uc_options_find(uc_learner_options(learner), "class-weight"), settings, "balanced"));
    train.scale = UC_SCALE_STANDARD;
    const uc_context one = {.threads = 1};
    const uc_status status = uc_train(&model, learner, settings, &train, (uc_dataset *)data, &one);
    uc_model_free(model);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const learners[] = {"logistic", "csvm"};
    for (size_t l = 0; l < 2; l++) {
        uc_dataset data = weighted_data(2, false, true);
        set_soft(&data, 0.9);
        uc_status status;
        FOR_EACH_FAILING_ALLOCATION(status, train_soft(&data, learners[l]));
        uc_dataset_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_weight_is_a_number_of_rows),
        cmocka_unit_test(all_weights_times_a_number_change_nothing),
        cmocka_unit_test(auto_counts_weights),
        cmocka_unit_test(a_row_of_weight_0_is_absent),
        cmocka_unit_test(soft_labels_of_one_class_are_labels),
        cmocka_unit_test(soft_labels_are_a_row_for_every_class),
        cmocka_unit_test(gradients_have_the_weights),
        cmocka_unit_test(threads_and_processes_weigh_alike),
        cmocka_unit_test(folds_keep_a_weighted_row_whole),
        cmocka_unit_test(what_is_no_weight_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
