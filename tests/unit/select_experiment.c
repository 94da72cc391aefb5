/* Labels that are made wrong on purpose, and trials. */
#include "tests/sample.h"

#include <math.h>
#include <string.h>

#include "unconfuse/select.h"

static void check_refused(const char *text, const char *sentence)
{
    uc_label_noise noise;
    assert_int_equal(uc_label_noise_parse(&noise, text), UC_ERR_OPTION);
    assert_string_equal(uc_last_error(), sentence);
}

static void kinds_are_parsed_or_refused_with_a_sentence(void **state)
{
    (void)state;
    uc_label_noise noise;
    assert_ok(uc_label_noise_parse(&noise, "rates:0.3:0.1"));
    assert_true(noise.kind == UC_NOISE_KIND_RATES && noise.numbers[0] == 0.3 && noise.numbers[1] == 0.1);
    assert_ok(uc_label_noise_parse(&noise, "none"));
    assert_int_equal(noise.kind, UC_NOISE_KIND_NONE);
    check_refused("unifrm:0.2", "'unifrm:0.2' is no kind of noise: it must be none, uniform:RATE, pair:RATE, "
                                "random:LEVEL, rates:POSITIVE:NEGATIVE or instance:RATE");
    check_refused("uniform", "noise 'uniform': it is written as uniform:RATE");
    check_refused("uniform:", "noise 'uniform': it is written as uniform:RATE");
    check_refused("uniform:0.2:0.3", "noise 'uniform': it is written as uniform:RATE");
    check_refused("none:1", "noise 'none': it is written as none");
    check_refused("rates:0.2", "noise 'rates': it is written as rates:POSITIVE:NEGATIVE");
    check_refused("instance:0.6", "noise 'instance': 0.6 is not between 0 and 0.5");
    check_refused("pair:nan", "noise 'pair': nan is not between 0 and 1");
}

static double share_changed(const uc_dataset *a, const uc_dataset *b)
{
    size_t changed = 0;
    for (size_t i = 0; i < a->X.rows; i++)
        changed += a->y[i] != b->y[i];
    return (double)changed / (double)a->X.rows;
}

static void labels_are_wrong_as_often_as_asked(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double share;
    } kinds[] = {{"none", 0.0}, {"uniform:0.3", 0.3}, {"pair:0.2", 0.2}, {"instance:0.25", 0.25}};
    uc_dataset data = sample_data(4000, 5, 3, false, 1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uc_label_noise noise;
        uc_dataset noisy = {0}, again = {0};
        assert_ok(uc_label_noise_parse(&noise, kinds[i].text));
        assert_ok(uc_dataset_subset(&noisy, &data, NULL, 0, NULL));
        assert_ok(uc_dataset_subset(&again, &data, NULL, 0, NULL));
        assert_ok(uc_label_noise_apply(&noisy, NULL, &noise, 7, NULL));
        assert_ok(uc_label_noise_apply(&again, NULL, &noise, 7, NULL));
        assert_near(share_changed(&noisy, &data), kinds[i].share, 0.03);
        assert_memory_equal(noisy.y, again.y, 4000 * sizeof *noisy.y);
        for (size_t row = 0; row < 4000 && noise.kind == UC_NOISE_KIND_PAIR; row++)
            assert_true(noisy.y[row] == data.y[row] || noisy.y[row] == (data.y[row] + 1) % 3);
        uc_dataset_free(&noisy);
        uc_dataset_free(&again);
    }
    uc_dataset_free(&data);
}

/* Rows far from the other class keep their label; those between the classes do not. */
static void noise_of_instances_is_where_classes_meet(void **state)
{
    (void)state;
    enum { ROWS = 4000 };
    uc_dataset data = {0}, noisy = {0};
    uint32_t index;
    uc_label_noise noise;
    assert_ok(uc_matrix_create_dense(&data.X, ROWS, 1));
    data.y = uc_alloc(ROWS, sizeof *data.y);
    assert_ok(uc_names_add(&index, &data.classes, "low", 3));
    assert_ok(uc_names_add(&index, &data.classes, "high", 4));
    for (size_t i = 0; i < ROWS; i++) {
        data.X.values[i * data.X.stride] = (float)i / (float)ROWS;
        data.y[i] = i >= ROWS / 2;
    }
    assert_ok(uc_label_noise_parse(&noise, "instance:0.3"));
    assert_ok(uc_dataset_subset(&noisy, &data, NULL, 0, NULL));
    assert_ok(uc_label_noise_apply(&noisy, NULL, &noise, 3, NULL));
    size_t middle = 0, ends = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (noisy.y[i] != data.y[i])
            *(i >= ROWS / 4 && i < 3 * ROWS / 4 ? &middle : &ends) += 1;
    assert_true(middle > 2 * ends && ends > 0);
    uc_dataset_free(&noisy);
    uc_dataset_free(&data);
}

/* By hand: the split, the noise, a model, its errors. */
static void a_trial_is_training_and_testing(void **state)
{
    (void)state;
    uc_dataset data = sample_data(300, 6, 3, false, 1), train = {0}, test = {0}, kept = {0};
    const uc_learner *learner = uc_learner_find("ridge");
    uc_train_settings settings = uc_train_defaults();
    double error = NAN, seconds = -1.0;
    uc_model *model, *learned = NULL;
    assert_ok(uc_experiment_draw(&train, &test, &data, 0.3, 5, NULL));
    assert_int_equal(train.X.rows + test.X.rows, 300);
    assert_near((double)test.X.rows, 90.0, 3.0);
    assert_ok(uc_dataset_subset(&kept, &train, NULL, 0, NULL));
    assert_ok(uc_trial(&error, &seconds, &learned, learner, NULL, &settings, &train, &test, NULL));
    assert_true(seconds >= 0.0);
    assert_memory_equal(train.y, kept.y, train.X.rows * sizeof *train.y); /* it learns from a copy */
    assert_ok(uc_train(&model, learner, NULL, &settings, &kept, NULL));
    uint32_t *predicted = uc_alloc(test.X.rows, sizeof *predicted);
    uint32_t *again = uc_alloc(test.X.rows, sizeof *again);
    assert_ok(uc_model_predict(predicted, model, &test.X, NULL));
    assert_ok(uc_model_predict(again, learned, &test.X, NULL));
    assert_memory_equal(predicted, again, test.X.rows * sizeof *predicted);
    size_t wrong = 0;
    for (size_t i = 0; i < test.X.rows; i++)
        wrong += predicted[i] != test.y[i];
    assert_near(error, (double)wrong / (double)test.X.rows, 1e-15);
    uc_free(again);
    uc_free(predicted);
    uc_model_free(learned);
    uc_model_free(model);
    uc_dataset_free(&kept);
    uc_dataset_free(&train);
    uc_dataset_free(&test);
    uc_dataset_free(&data);
}

static uc_status run_all(const uc_dataset *data, const uc_label_noise *noise, const uc_context *context)
{
    uc_dataset train = {0}, test = {0};
    uc_noise matrix = {0};
    double error, seconds;
    uc_train_settings settings = uc_train_defaults();
    uc_status status = uc_experiment_draw(&train, &test, data, 0.3, 5, context);
    if (status == UC_OK)
        status = uc_label_noise_apply(&train, &matrix, noise, 5, context);
    if (status == UC_OK)
        status = uc_trial(&error, &seconds, NULL, uc_learner_find("perceptron"), NULL, &settings, &train,
                          &test, context);
    uc_noise_free(&matrix);
    uc_dataset_free(&train);
    uc_dataset_free(&test);
    return status;
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    uc_dataset data = sample_data(60, 3, 3, false, 1);
    const uc_context context = {.threads = 1};
    const char *const texts[] = {"uniform:0.2", "pair:0.2", "instance:0.2"};
    for (size_t i = 0; i < 3; i++) {
        uc_label_noise noise;
        uc_status status;
        assert_ok(uc_label_noise_parse(&noise, texts[i]));
        FOR_EACH_FAILING_ALLOCATION(status, run_all(&data, &noise, &context));
        assert_int_equal(status, UC_OK);
    }
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_parsed_or_refused_with_a_sentence),
        cmocka_unit_test(labels_are_wrong_as_often_as_asked),
        cmocka_unit_test(noise_of_instances_is_where_classes_meet),
        cmocka_unit_test(a_trial_is_training_and_testing),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
