/* Logistic regression that begins at the weights of another model. */
#include "tests/sample.h"

#include <jansson.h>

#include "model/model.h"
#include "unconfuse/random.h"

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

/* Rows of text, nearly: one value in a hundred, so that Newton's method takes the steps. */
static uc_dataset few_values(size_t classes, uint64_t seed)
{
    enum { ROWS = 600, COLS = 400, PER_ROW = 4 };
    uc_dataset data = sample_data(ROWS, 4, classes, false, seed);
    uc_rng rng = uc_rng_make(seed, 9);
    uc_matrix_free(&data.X);
    assert_ok(uc_matrix_create_sparse(&data.X, ROWS, COLS, ROWS * PER_ROW));
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < PER_ROW; k++) {
            const size_t at = i * PER_ROW + k, first = k * COLS / PER_ROW;
            const size_t own = data.y[i] * 5 + uc_rng_below(&rng, 60); /* somewhat its class's */
            data.X.columns[at] = (uint32_t)(first + own % (COLS / PER_ROW));
            data.X.values[at] = 1.0f + (float)uc_rng_uniform(&rng);
        }
        data.X.offsets[i + 1] = (i + 1) * PER_ROW;
    }
    return data;
}

static uc_dataset data_of(int kind, size_t classes)
{
    if (kind == 2)
        return few_values(classes, 3);
    return sample_data(400, 60, classes, kind == 1, 3);
}

static void the_minimum_does_not_depend_on_the_start(void **state)
{
    (void)state;
    for (size_t K = 2; K <= 4; K += 2)
        for (int kind = 0; kind < 3; kind++) {
            uc_dataset data = data_of(kind, K);
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
    for (size_t K = 2; K <= 4; K += 2)
        for (int kind = 0; kind < 3; kind++) {
            uc_dataset data = data_of(kind, K);
            uc_noise noise = {0};
            assert_ok(uc_noise_uniform(&noise, K, 0.2));
            uc_model *first = trained(&data, 3e-3, &noise, NULL),
                     *again = trained(&data, 3e-3, &noise, first);
            assert_near_relative(number(again, "objective"), number(first, "objective"), 1e-6);
            assert_true(2.0 * number(again, "updates") < number(first, "updates"));
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
