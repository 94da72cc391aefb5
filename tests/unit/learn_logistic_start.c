/* Logistic regression that begins at the weights of another model. */
#include "tests/sample.h"

#include <jansson.h>

#include "model/model.h"

static uc_model *trained(uc_dataset *data, double l2, const uc_noise *noise, const uc_model *start)
{
    const uc_learner *logistic = uc_learner_find("logistic");
    uc_train_settings train = uc_train_defaults();
    uc_logistic_settings settings;
    uc_model *model = NULL;
    uc_options_defaults(uc_learner_options(logistic), &settings);
    settings.l2 = l2;
    settings.tolerance = 1e-6;
    train.noise = noise;
    train.start = start;
    assert_ok(uc_train(&model, logistic, &settings, &train, data, NULL));
    return model;
}

static double number(const uc_model *model, const char *name)
{
    return json_number_value(json_object_get(model->summary, name));
}

static void the_minimum_does_not_depend_on_the_start(void **state)
{
    (void)state;
    for (size_t K = 2; K <= 4; K += 2)
        for (int sparse = 0; sparse < 2; sparse++) {
            uc_dataset data = sample_data(400, 60, K, sparse, 3);
            uc_model *before = trained(&data, 1e-2, NULL, NULL), *direct = trained(&data, 3e-3, NULL, NULL);
            uc_model *after = trained(&data, 3e-3, NULL, before);
            assert_near_relative(number(after, "objective"), number(direct, "objective"), 1e-6);
            assert_true(number(after, "objective") !=
                        number(direct, "objective")); /* another way led there */
            uc_model_free(after);
            uc_model_free(direct);
            uc_model_free(before);
            uc_dataset_free(&data);
        }
}

/* With noise the loss is not convex; at least it stays at a minimum where it begins. */
static void a_start_at_a_minimum_is_kept(void **state)
{
    (void)state;
    for (size_t K = 2; K <= 4; K += 2) {
        uc_dataset data = sample_data(400, 60, K, false, 3);
        uc_noise noise = {0};
        assert_ok(uc_noise_uniform(&noise, K, 0.2));
        uc_model *first = trained(&data, 3e-3, &noise, NULL), *again = trained(&data, 3e-3, &noise, first);
        assert_near_relative(number(again, "objective"), number(first, "objective"), 1e-6);
        uc_model_free(again);
        uc_model_free(first);
        uc_noise_free(&noise);
        uc_dataset_free(&data);
    }
}

static void a_model_of_another_shape_is_refused(void **state)
{
    (void)state;
    uc_dataset data = sample_data(50, 6, 3, false, 3), wider = sample_data(50, 7, 3, false, 3);
    uc_model *start = trained(&data, 1e-2, NULL, NULL), *model = NULL;
    uc_train_settings train = uc_train_defaults();
    train.start = start;
    assert_error(uc_train(&model, uc_learner_find("logistic"), NULL, &train, &wider, NULL), UC_ERR_INVALID,
                 "the model to start from has 6 features and 3 classes, not 7 and 3");
    assert_null(model);
    uc_model_free(start);
    uc_dataset_free(&wider);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_minimum_does_not_depend_on_the_start),
        cmocka_unit_test(a_start_at_a_minimum_is_kept),
        cmocka_unit_test(a_model_of_another_shape_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
