/* Training on a whole data set: equal to single rounds, reproducible, and refusing what cannot work. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "train/online.h"

static const char *const learners[] = {"perceptron", "pa", "spa"};

static uc_model *train_on(uc_dataset *data, const char *learner, const void *settings,
                          const uc_train_settings *train, const uc_context *context)
{
    uc_model *model = NULL;
    assert_ok(uc_train(&model, uc_learner_find(learner), settings, train, data, context));
    return model;
}

static void check_same_weights(const uc_model *a, const uc_model *b)
{
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->stride, b->stride);
    assert_memory_equal(a->weights, b->weights, (a->features + 1) * a->stride * sizeof(double));
}

static bool weights_differ(const uc_model *a, const uc_model *b)
{
    return memcmp(a->weights, b->weights, (a->features + 1) * a->stride * sizeof(double)) != 0;
}

/* One unshuffled pass is propose and learn, row after row; with scaling learned beforehand, unit length, a
 * bias. */
static void a_pass_in_order_is_single_rounds_bit_for_bit(void **state)
{
    (void)state;
    for (size_t l = 0; l < 3; l++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int kind = 0; kind < 8; kind++)
                for (size_t classes = 2; classes <= 11; classes += 3) {
                    uc_dataset data = sample_data(150, 12, classes, sparse, 1);
                    uc_train_settings train = uc_train_defaults();
                    train.passes = 1;
                    train.shuffle = 0;
                    train.average = kind & 1;
                    train.normalize = kind >> 1 & 1;
                    train.bias = kind & 1 ? 0.25 : 0.0;
                    train.scale = kind & 4 ? (sparse ? UC_SCALE_MAXABS : UC_SCALE_STANDARD) : UC_SCALE_NONE;
                    uc_model *model = train_on(&data, learners[l], NULL, &train, NULL), *single;
                    uc_preprocessing preprocessing;
                    uc_online *online;
                    assert_ok(learn_scaling(&preprocessing, (uc_scaling)train.scale, &data.X));
                    assert_ok(uc_online_begin(&online, uc_learner_find(learners[l]), NULL, &train,
                                              &data.classes, &preprocessing));
                    size_t errors = 0;
                    for (size_t i = 0; i < 150; i++) {
                        const uc_row row = uc_matrix_row(&data.X, i);
                        uc_proposal proposal;
                        assert_ok(uc_online_propose(&proposal, online, &row));
                        errors += proposal.label != data.y[i];
                        assert_ok(uc_online_learn(online, &row, &proposal,
                                                  (uc_answer){UC_ANSWER_LABEL, data.y[i]}));
                    }
                    assert_ok(uc_online_model(&single, online, false));
                    check_same_weights(model, single);
                    assert_int_equal(json_integer_value(json_object_get(model->summary, "updates")),
                                     uc_online_updates(online));
                    assert_true(json_real_value(json_object_get(model->summary, "training_error")) ==
                                (double)errors / 150.0);
                    uc_model_free(model);
                    uc_model_free(single);
                    uc_online_free(online);
                    uc_preprocessing_free(&preprocessing);
                    uc_dataset_free(&data);
                }
}

/* Shuffled passes are single rounds in the orders that the seed gives. */
static void every_pass_has_a_new_order_by_the_seed(void **state)
{
    (void)state;
    uc_dataset data = sample_data(100, 6, 4, false, 2);
    uc_train_settings train = uc_train_defaults();
    train.passes = 3;
    train.seed = 42;
    uc_model *first = train_on(&data, "spa", NULL, &train, NULL),
             *same = train_on(&data, "spa", NULL, &train, NULL);
    check_same_weights(first, same);
    train.seed = 43;
    uc_model *other = train_on(&data, "spa", NULL, &train, NULL);
    assert_true(weights_differ(first, other));
    train.shuffle = 0;
    uc_model *ordered = train_on(&data, "spa", NULL, &train, NULL);
    assert_true(weights_differ(other, ordered));
    train.seed = 42;
    uc_model *ordered_too = train_on(&data, "spa", NULL, &train, NULL);
    check_same_weights(ordered, ordered_too); /* the seed has no other use */
    uc_model_free(first);
    uc_model_free(same);
    uc_model_free(other);
    uc_model_free(ordered);
    uc_model_free(ordered_too);
    uc_dataset_free(&data);
}

/* The rows of every pass are a permutation: a row's own feature counts how often it was learned from. */
static void every_pass_sees_every_row_once(void **state)
{
    (void)state;
    enum { ROWS = 40 };
    uc_dataset data = sample_data(ROWS, ROWS, 2, false, 3);
    memset(data.X.values, 0, ROWS * data.X.stride * sizeof(float));
    for (size_t i = 0; i < ROWS; i++) {
        data.X.values[i * data.X.stride + i] = 1.0f;
        data.y[i] = (uint32_t)(i % 2);
    }
    /* linear slack with a tiny cost: each visit to a row moves its own weight by exactly the cost */
    const uc_pa_settings settings = {.variant = 1, .cost = 0x1p-10};
    uc_train_settings train = uc_train_defaults();
    train.average = 0;
    for (uint64_t passes = 1; passes <= 7; passes += 3) {
        train.passes = passes;
        uc_model *model = train_on(&data, "pa", &settings, &train, NULL);
        for (size_t i = 0; i < ROWS; i++)
            assert_true(uc_model_weight(model, i, i % 2) == (double)passes * 0x1p-10);
        assert_int_equal(json_integer_value(json_object_get(model->summary, "rounds")), passes * ROWS);
        assert_int_equal(json_integer_value(json_object_get(model->summary, "iterations")), passes);
        assert_int_equal(json_integer_value(json_object_get(model->summary, "examples")), ROWS);
        uc_model_free(model);
    }
    uc_dataset_free(&data);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    uc_dataset data = sample_data(3000, 10, 4, false, 4);
    uc_train_settings train = uc_train_defaults();
    train.scale = UC_SCALE_STANDARD;
    train.normalize = 1;
    const uc_context one = {.threads = 1}, seven = {.threads = 7};
    uc_model *a = train_on(&data, "spa", NULL, &train, &one),
             *b = train_on(&data, "spa", NULL, &train, &seven);
    check_same_weights(a, b);
    uc_model_free(a);
    uc_model_free(b);
    uc_dataset_free(&data);
}

static void play(uc_online *online, const uc_dataset *data, size_t first, size_t last)
{
    const bool full = uc_learner_accepts(uc_online_learner(online), UC_FEEDBACK_FULL);
    for (size_t i = first; i < last; i++) {
        const uc_row row = uc_matrix_row(&data->X, i);
        uc_proposal proposal;
        assert_ok(uc_online_propose(&proposal, online, &row));
        const uc_answer_kind told = full                           ? UC_ANSWER_LABEL
                                    : proposal.label == data->y[i] ? UC_ANSWER_RIGHT
                                                                   : UC_ANSWER_WRONG;
        assert_ok(uc_online_learn(online, &row, &proposal, (uc_answer){told, data->y[i]}));
    }
}

/* Training on the first rows and going on with the others is playing all of them. */
static void a_model_that_kept_its_state_goes_on(void **state)
{
    (void)state;
    static const char *const names[] = {"perceptron", "spa", "cspa", "banditron", "confidit", "cspa-plus"};
    for (size_t l = 0; l < 6; l++) {
        uc_dataset data = sample_data(120, 8, 4, false, 3), half = data;
        uc_train_settings train = uc_train_defaults();
        uc_online *whole, *rest;
        train.passes = 1;
        train.shuffle = 0;
        train.bias = 0.5;
        half.X.rows = 60;
        uc_model *without = train_on(&half, names[l], NULL, &train, NULL);
        train.keep_state = 1;
        uc_model *model = train_on(&half, names[l], NULL, &train, NULL), *a, *b;
        assert_ok(uc_online_begin(&whole, uc_learner_find(names[l]), NULL, &train, &data.classes, NULL));
        assert_ok(uc_online_expect(whole, 8, uc_matrix_density(&half.X)));
        play(whole, &data, 0, 120);
        assert_ok(uc_online_resume(&rest, model));
        play(rest, &data, 60, 120);
        assert_ok(uc_online_model(&a, whole, false));
        assert_ok(uc_online_model(&b, rest, false));
        check_same_weights(a, b);

        void *kept, *plain;
        size_t kept_length, plain_length;
        uc_model_forget_state(model);
        assert_ok(uc_model_save_memory(&kept, &kept_length, model));
        assert_ok(uc_model_save_memory(&plain, &plain_length, without));
        assert_int_equal(kept_length, plain_length);
        assert_memory_equal(kept, plain, plain_length);
        uc_online *none = NULL;
        assert_error_has(uc_online_resume(&none, without), UC_ERR_INVALID, "holds no learner's state");
        uc_model_memory_free(kept);
        uc_model_memory_free(plain);
        uc_model_free(without);
        uc_model_free(model);
        uc_model_free(a);
        uc_model_free(b);
        uc_online_free(whole);
        uc_online_free(rest);
        uc_dataset_free(&data);
    }
}

static void the_data_stay_as_they_were_unless_they_may_be_overwritten(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = sample_data(50, 6, 3, sparse, 5), before = sample_data(50, 6, 3, sparse, 5);
        uc_train_settings train = uc_train_defaults();
        train.scale = UC_SCALE_MAXABS;
        train.normalize = 1;
        const size_t bytes = (sparse ? uc_matrix_entries(&data.X) : 50 * data.X.stride) * sizeof(float);
        uc_model *copied = train_on(&data, "spa", NULL, &train, NULL);
        assert_memory_equal(data.X.values, before.X.values, bytes);
        train.overwrite = 1;
        uc_model *in_place = train_on(&data, "spa", NULL, &train, NULL);
        assert_true(memcmp(data.X.values, before.X.values, bytes) != 0);
        check_same_weights(copied, in_place);
        uc_model_free(copied);
        uc_model_free(in_place);
        uc_dataset_free(&data);
        uc_dataset_free(&before);
    }
}

/* Balanced weights use the counts of the whole data set: n/(K n_c) from the first round on. */
static void class_weights_are_counted_beforehand(void **state)
{
    (void)state;
    static const float rows[4][2] = {{1, 0}, {0, 1}, {1, 1}, {2, 1}};
    static const uint32_t labels[4] = {1, 0, 0, 0};
    uc_dataset data = sample_data(4, 2, 2, false, 6);
    for (size_t i = 0; i < 4; i++) {
        memcpy(data.X.values + i * data.X.stride, rows[i], sizeof rows[i]);
        data.y[i] = labels[i];
    }
    uc_train_settings train = uc_train_defaults();
    train.passes = 1;
    train.shuffle = 0;
    train.average = 0;
    const uc_perceptron_settings settings = {.class_weight = UC_CLASS_WEIGHT_BALANCED};
    uc_model *model = train_on(&data, "perceptron", &settings, &train, NULL);
    /* class 1 weighs 4/(2 x 1) = 2, class 0 4/(2 x 3) = 2/3; written as class 1 minus class 0, halves each:
     *   (1,0) of 1: tie, wrong:      w1 = (2, 0)
     *   (0,1) of 0: tie, wrong:      w1 = (2, -2/3)
     *   (1,1) of 0: 4/3, wrong:      w1 = (4/3, -4/3)
     *   (2,1) of 0: 4/3, wrong:      w1 = (0, -2) */
    assert_near(uc_model_weight(model, 0, 1), 0.0, 1e-15);
    assert_near(uc_model_weight(model, 1, 1), -2.0, 1e-15);
    assert_near(uc_model_weight(model, 0, 0), 0.0, 1e-15);
    assert_near(uc_model_weight(model, 1, 0), 2.0, 1e-15);
    uc_model_free(model);
    uc_dataset_free(&data);
}

static void the_model_remembers_its_settings_and_steps(void **state)
{
    (void)state;
    uc_dataset data = sample_data(50, 6, 3, false, 7);
    const uc_pa_settings settings = {.variant = 2, .cost = 0.125, .class_weight = UC_CLASS_WEIGHT_BALANCED};
    uc_train_settings train = uc_train_defaults();
    train.scale = UC_SCALE_RANGE;
    train.normalize = 1;
    train.seed = 99;
    uc_model *model = train_on(&data, "spa", &settings, &train, NULL);
    const json_t *told = model->settings;
    assert_string_equal(json_string_value(json_object_get(told, "variant")), "2");
    assert_true(json_real_value(json_object_get(told, "cost")) == 0.125);
    assert_string_equal(json_string_value(json_object_get(told, "class-weight")), "balanced");
    assert_string_equal(json_string_value(json_object_get(told, "scale")), "range");
    assert_int_equal(json_integer_value(json_object_get(told, "seed")), 99);
    assert_int_equal(json_integer_value(json_object_get(told, "passes")), 5);
    assert_true(json_is_true(json_object_get(told, "average"))); /* auto, decided */
    assert_true(json_is_true(json_object_get(told, "normalize")));
    assert_int_equal(model->preprocessing.scaling, UC_SCALE_RANGE);
    assert_true(model->preprocessing.normalize && !model->preprocessing.normalize_input);
    assert_non_null(model->preprocessing.shift);
    assert_null(model->state.counters);
    assert_string_equal(uc_model_learner(model), "spa");
    uc_model_free(model);
    uc_dataset_free(&data);
}

static void data_that_cannot_be_learned_from_are_refused(void **state)
{
    (void)state;
    uc_model *model = NULL;
    uc_dataset data = sample_data(20, 4, 3, false, 8);
    const uc_learner *spa = uc_learner_find("spa");
    const long live = uc_alloc_live();
    data.y[6] = UC_NONE;
    assert_error(uc_train(&model, spa, NULL, NULL, &data, NULL), UC_ERR_FORMAT,
                 "example 7 has no label ('?'), which spa cannot use");
    data.y[6] = 1;
    uint32_t *labels = data.y;
    data.y = NULL;
    assert_error(uc_train(&model, spa, NULL, NULL, &data, NULL), UC_ERR_FORMAT, "the data have no labels");
    data.y = labels;
    data.X.rows = 0;
    assert_error(uc_train(&model, spa, NULL, NULL, &data, NULL), UC_ERR_FORMAT, "no examples");
    data.X.rows = 20;
    uc_dataset one = sample_data(20, 4, 1, false, 8);
    assert_error(uc_train(&model, spa, NULL, NULL, &one, NULL), UC_ERR_FORMAT,
                 "only one class, '1', where two are needed");
    uc_dataset_free(&one);
    uc_dataset sparse = sample_data(20, 4, 3, true, 8);
    uc_train_settings train = uc_train_defaults();
    train.scale = UC_SCALE_STANDARD;
    assert_error_has(uc_train(&model, spa, NULL, &train, &sparse, NULL), UC_ERR_INVALID,
                     "{scale=standard} would turn");
    uc_dataset_free(&sparse);
    train = uc_train_defaults();
    train.passes = 0;
    assert_status(uc_train(&model, spa, NULL, &train, &data, NULL), UC_ERR_OPTION);
    train = uc_train_defaults();
    train.scale = 9;
    assert_status(uc_train(&model, spa, NULL, &train, &data, NULL), UC_ERR_OPTION);
    const uc_pa_settings settings = {.variant = 3, .cost = 1.0};
    assert_status(uc_train(&model, spa, &settings, NULL, &data, NULL), UC_ERR_OPTION);
    assert_null(model);
    assert_int_equal(uc_alloc_live(), live);
    uc_dataset_free(&data);
}

static void a_model_too_large_for_the_memory_is_refused_before_training(void **state)
{
    (void)state;
    uc_dataset data = sample_data(10, 4, 4, true, 9);
    uc_model *model = NULL;
    data.X.cols = 1000000; /* 3 arrays of a million columns and one, times 4 classes, 8 bytes */
    uc_context context = {.memory = 50000000};
    assert_error(
        uc_train(&model, uc_learner_find("spa"), NULL, NULL, &data, &context), UC_ERR_NOMEM,
        "a model of 1000000 features and 4 classes needs 96.0 MB of memory, more than the limit of 50.0 MB "
        "({memory})");
    context.memory = 200000000;
    assert_ok(uc_train(&model, uc_learner_find("spa"), NULL, NULL, &data, &context));
    uc_model_free(model);
    uc_dataset_free(&data);
}

/* 2 planes and the model's weights, and a square of 404 weights with three vectors. */
static void matrices_too_large_for_the_memory_are_refused_before_training(void **state)
{
    (void)state;
    const double planes = 3 * 8.0 * 101 * 4, matrix = 8.0 * 404 * 407;
    uc_dataset data = sample_data(10, 100, 4, false, 9);
    uc_model *model = NULL;
    uc_context context = {.memory = (uint64_t)(planes + matrix) - 1};
    assert_error(
        uc_train(&model, uc_learner_find("soba"), NULL, NULL, &data, &context), UC_ERR_NOMEM,
        "a model of 100 features and 4 classes needs 1.3 MB of memory, more than the limit of 1.3 MB "
        "({memory})");
    context.memory++;
    assert_ok(uc_train(&model, uc_learner_find("soba"), NULL, NULL, &data, &context));
    uc_model_free(model);
    uc_dataset_free(&data);
}

/* The memory that was checked against the limit is what is used: weights have the data's columns and no
 * more. */
static void the_weights_have_room_for_the_columns_and_not_for_more(void **state)
{
    (void)state;
    uc_dataset data = sample_data(10, 4, 4, true, 9);
    uc_online *online;
    assert_ok(uc_online_begin(&online, uc_learner_find("spa"), NULL, NULL, &data.classes, NULL));
    assert_ok(uc_online_reserve(online, 1050000));
    assert_true(online->capacity >= 1050000);
    assert_true((double)online->capacity <= 1.1 * 1050000.0);
    uc_online_free(online);
    uc_dataset_free(&data);
}

typedef struct watcher {
    size_t calls, stop_at;
    double last;
    char warning[256];
} watcher;

static bool watch(const char *task, double done, double total, const char *detail, void *user)
{
    watcher *self = user;
    assert_string_equal(task, "training");
    assert_true(done > self->last && done <= total);
    assert_non_null(strstr(detail, "pass "));
    self->last = done;
    return ++self->calls != self->stop_at;
}

static void hear(const char *sentence, void *user)
{
    watcher *self = user;
    snprintf(self->warning, sizeof self->warning, "%s", sentence);
}

static void progress_is_told_and_may_stop_the_training(void **state)
{
    (void)state;
    uc_dataset data = sample_data(5000, 4, 3, false, 10);
    watcher user = {0};
    const uc_context context = {.progress = watch, .warn = hear, .user = &user};
    uc_model *model = train_on(&data, "spa", NULL, NULL, &context);
    uc_model_free(model);
    assert_true(user.calls >= 5 && user.last == 25000.0);
    user = (watcher){.stop_at = 3};
    const long live = uc_alloc_live();
    model = NULL;
    assert_error(uc_train(&model, uc_learner_find("spa"), NULL, NULL, &data, &context), UC_ERR_CANCELLED,
                 "interrupted");
    assert_int_equal(user.calls, 3);
    assert_null(model);
    assert_int_equal(uc_alloc_live(), live);
    uc_noise noise;
    assert_ok(uc_noise_uniform(&noise, 3, 0.2));
    uc_train_settings train = uc_train_defaults();
    train.noise = &noise;
    user = (watcher){0};
    model = train_on(&data, "pa", NULL, &train, &context);
    assert_string_equal(user.warning, "pa does not use a noise matrix; it is ignored");
    uc_model_free(model);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
}

/* Rows of the largest floats: their squares overflow nothing, since sums are doubles. */
static void enormous_values_are_learned_from_or_refused(void **state)
{
    (void)state;
    uc_dataset data = sample_data(60, 4, 3, false, 11);
    for (size_t i = 0; i < 60; i++)
        for (size_t j = 0; j < 4; j++)
            data.X.values[i * data.X.stride + j] *= 1e37f;
    for (size_t l = 0; l < 3; l++) {
        uc_model *model = NULL;
        const uc_status status = uc_train(&model, uc_learner_find(learners[l]), NULL, NULL, &data, NULL);
        assert_true(status == UC_OK || status == UC_ERR_DIVERGED);
        for (size_t w = 0; status == UC_OK && w < 5 * model->stride; w++)
            assert_true(isfinite(model->weights[w]));
        uc_model_free(model);
    }
    uc_dataset_free(&data);
}

static void learning_beats_guessing_by_far(void **state)
{
    (void)state;
    uc_dataset data = sample_data(2000, 10, 4, false, 12), test = sample_data(2000, 10, 4, false, 13);
    for (size_t l = 0; l < 3; l++) {
        uc_model *model = train_on(&data, learners[l], NULL, NULL, NULL);
        uint32_t predicted[2000];
        size_t errors = 0;
        assert_ok(uc_model_predict(predicted, model, &test.X, NULL));
        for (size_t i = 0; i < 2000; i++)
            errors += predicted[i] != i % 4; /* the true class; some labels are wrong on purpose */
        assert_true(errors < 500);
        uc_model_free(model);
    }
    uc_dataset_free(&data);
    uc_dataset_free(&test);
}

static uc_status train_scaled(uc_model **out, uc_dataset *data)
{
    uc_train_settings train = uc_train_defaults();
    train.scale = UC_SCALE_RANGE;
    train.normalize_input = 1;
    return uc_train(out, uc_learner_find("spa"), NULL, &train, data, NULL);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = sample_data(30, 5, 3, false, 14);
    uc_model *model;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, train_scaled(&model, &data));
    uc_model_free(model);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_in_order_is_single_rounds_bit_for_bit),
        cmocka_unit_test(every_pass_has_a_new_order_by_the_seed),
        cmocka_unit_test(every_pass_sees_every_row_once),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_model_that_kept_its_state_goes_on),
        cmocka_unit_test(the_data_stay_as_they_were_unless_they_may_be_overwritten),
        cmocka_unit_test(class_weights_are_counted_beforehand),
        cmocka_unit_test(the_model_remembers_its_settings_and_steps),
        cmocka_unit_test(data_that_cannot_be_learned_from_are_refused),
        cmocka_unit_test(a_model_too_large_for_the_memory_is_refused_before_training),
        cmocka_unit_test(matrices_too_large_for_the_memory_are_refused_before_training),
        cmocka_unit_test(the_weights_have_room_for_the_columns_and_not_for_more),
        cmocka_unit_test(progress_is_told_and_may_stop_the_training),
        cmocka_unit_test(enormous_values_are_learned_from_or_refused),
        cmocka_unit_test(learning_beats_guessing_by_far),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
