/* Given class weights: the same as balanced ones of that size, remembered, and refused if they make no sense.
 * And how a learner describes itself. */
#include "tests/sample.h"

#include <math.h>

#include "learn/online.h"
#include "unconfuse/learn.h"

enum { ROWS = 90, COLS = 4, CLASSES = 3 };

static uc_model *trained(const char *learner, const uc_train_settings *train, int class_weight,
                         uc_dataset *data)
{
    const uc_learner *found = uc_learner_find(learner);
    unsigned char settings[256];
    uc_model *model = NULL;
    assert_true(uc_learner_settings_size(found) <= sizeof settings);
    uc_options_defaults(uc_learner_options(found), settings);
    const uc_option *option = uc_options_find(uc_learner_options(found), "class-weight");
    assert_ok(uc_option_set(option, settings, class_weight ? "balanced" : "none"));
    assert_ok(uc_train(&model, found, settings, train, data, NULL));
    return model;
}

/* Given weights n/(K n_c) have the same effect as counted ones. */
static void weights_told_are_those_counted(void **state)
{
    (void)state;
    static const char *const learners[] = {"perceptron", "pa", "spa", "arow", "scw", "csvm", "sloppy-svm"};
    for (size_t l = 0; l < 7; l++) {
        const size_t classes = l < 5 ? CLASSES : 2;
        uc_dataset data = sample_data(ROWS, COLS, classes, false, 2);
        size_t counts[CLASSES];
        double weights[CLASSES];
        uc_dataset_class_counts(counts, &data);
        for (size_t k = 0; k < classes; k++)
            weights[k] = (double)ROWS / ((double)classes * (double)counts[k]);
        uc_train_settings train = uc_train_defaults();
        uc_model *counted = trained(learners[l], &train, UC_CLASS_WEIGHT_BALANCED, &data);
        train.class_weights = weights;
        uc_model *told = trained(learners[l], &train, UC_CLASS_WEIGHT_NONE, &data);
        for (size_t i = 0; i < (COLS + 1) * told->stride; i++)
            assert_near(told->weights[i], counted->weights[i], 1e-6);
        const json_t *stored = json_object_get(told->settings, "class-weights");
        assert_int_equal(json_array_size(stored), classes);
        assert_true(json_number_value(json_array_get(stored, 1)) == weights[1]);
        uc_model_free(told);
        uc_model_free(counted);
        uc_dataset_free(&data);
    }
}

/* Against the rest only the one class weighs, so the order of importance shows in the predictions. */
static void a_heavy_class_of_three_is_predicted_more(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, 1, CLASSES, false, 3);
    uint32_t predicted[ROWS];
    size_t light = 0, heavy = 0;
    double weights[CLASSES] = {1, 1, 1};
    uc_train_settings train = uc_train_defaults();
    train.class_weights = weights;
    for (int round = 0; round < 2; round++) {
        uc_model *model = trained("csvm", &train, UC_CLASS_WEIGHT_NONE, &data);
        assert_ok(uc_model_predict(predicted, model, &data.X, NULL));
        for (size_t i = 0; i < ROWS; i++)
            *(round ? &heavy : &light) += predicted[i] == 2;
        uc_model_free(model);
        weights[2] = 1000;
    }
    assert_true(heavy > light);
    uc_dataset_free(&data);
}

static void learn_rows(uc_online *online, const uc_dataset *data, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        const uc_row row = uc_matrix_row(&data->X, i);
        uc_proposal proposal;
        assert_ok(uc_online_propose(&proposal, online, &row));
        assert_ok(uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, data->y[i]}));
    }
}

/* The caller's array is not needed afterwards, a model remembers it, and a class that comes later weighs
 * 1. */
static void a_learner_that_goes_on_keeps_its_weights(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 4);
    double weights[CLASSES] = {0.5, 3, 1};
    uc_train_settings train = uc_train_defaults();
    train.class_weights = weights;
    uc_online *whole = NULL, *first = NULL, *second = NULL;
    const uc_learner *learner = uc_learner_find("perceptron");
    assert_ok(uc_online_begin(&whole, learner, NULL, &train, &data.classes, NULL));
    assert_ok(uc_online_begin(&first, learner, NULL, &train, &data.classes, NULL));
    weights[0] = weights[1] = weights[2] = 100;
    learn_rows(whole, &data, 0, ROWS);
    learn_rows(first, &data, 0, ROWS / 2);
    uc_model *model = NULL;
    assert_ok(uc_online_model(&model, first, true));
    assert_ok(uc_online_resume(&second, model));
    learn_rows(second, &data, ROWS / 2, ROWS);
    assert_memory_equal(second->plane[UC_WEIGHTS], whole->plane[UC_WEIGHTS],
                        (COLS + 1) * whole->stride * sizeof(double));
    uint32_t index;
    assert_ok(uc_online_add_class(&index, second, "later"));
    assert_true(second->class_weights[1] == 3 && second->class_weights[index] == 1);

    json_object_set_new(model->settings, "class-weights", json_pack("[f]", 1.0));
    uc_online *none = NULL;
    assert_error(uc_online_resume(&none, model), UC_ERR_FORMAT,
                 "the model's learner state does not fit its settings");
    assert_null(none);
    uc_model_free(model);
    uc_online_free(whole);
    uc_online_free(first);
    uc_online_free(second);
    uc_dataset_free(&data);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 5);
    double weights[CLASSES] = {1, 0, 1};
    uc_train_settings train = uc_train_defaults();
    train.class_weights = weights;
    uc_model *model = NULL;
    assert_error(uc_train(&model, uc_learner_find("spa"), NULL, &train, &data, NULL), UC_ERR_INVALID,
                 "the weight of class '2', 0, is not a number above 0");
    weights[1] = NAN;
    assert_status(uc_train(&model, uc_learner_find("csvm"), NULL, &train, &data, NULL), UC_ERR_INVALID);
    weights[1] = 2;
    assert_error(uc_train(&model, uc_learner_find("cspa"), NULL, &train, &data, NULL), UC_ERR_INVALID,
                 "cspa has no class weights");
    assert_null(model);
    uc_dataset_free(&data);
}

static uc_status begin_grow_save_resume(const uc_dataset *data, const uc_train_settings *train)
{
    uc_online *online = NULL, *again = NULL;
    uc_model *model = NULL;
    uint32_t index;
    uc_status status =
        uc_online_begin(&online, uc_learner_find("perceptron"), NULL, train, &data->classes, NULL);
    if (status == UC_OK)
        status = uc_online_add_class(&index, online, "later");
    if (status == UC_OK)
        status = uc_online_model(&model, online, true);
    if (status == UC_OK)
        status = uc_online_resume(&again, model);
    uc_model_free(model);
    uc_online_free(again);
    uc_online_free(online);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 6);
    const double weights[CLASSES] = {1, 2, 3};
    uc_train_settings train = uc_train_defaults();
    train.class_weights = weights;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, begin_grow_save_resume(&data, &train));
    uc_dataset_free(&data);
}

static void a_learner_tells_what_it_can(void **state)
{
    (void)state;
    for (size_t i = 0; uc_learner_at(i); i++) {
        const uc_learner *learner = uc_learner_at(i);
        const char *name = uc_learner_name(learner);
        assert_int_equal(uc_learner_uses_unlabelled(learner),
                         strcmp(name, "s3vm") == 0 || strcmp(name, "pu") == 0 || strcmp(name, "audit") == 0);
        assert_int_equal(uc_learner_has_probabilities(learner), strcmp(name, "logistic") == 0 ||
                                                                    strcmp(name, "auto") == 0 ||
                                                                    strcmp(name, "audit") == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_told_are_those_counted),
        cmocka_unit_test(a_heavy_class_of_three_is_predicted_more),
        cmocka_unit_test(a_learner_that_goes_on_keeps_its_weights),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_learner_tells_what_it_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
