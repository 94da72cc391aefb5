/* Cross-validation: every row is predicted once, by a model that did not see it. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "unconfuse/select.h"

enum { ROWS = 61 };

/* Row i has a feature of its own and nothing else: a model that has seen the row answers its label (see the
 * first test), one that has not has zero scores for it and answers class 0, the lowest of equals. */
static uc_dataset memorised_data(void)
{
    uc_dataset data = {0};
    uint32_t index;
    assert_ok(uc_matrix_create_dense(&data.X, ROWS, ROWS));
    data.y = uc_alloc(ROWS, sizeof *data.y);
    assert_ok(uc_names_add(&index, &data.classes, "never", 5));
    assert_ok(uc_names_add(&index, &data.classes, "odd", 3));
    assert_ok(uc_names_add(&index, &data.classes, "even", 4));
    for (size_t i = 0; i < ROWS; i++) {
        data.X.values[i * data.X.stride + i] = 1.0f;
        data.y[i] = (uint32_t)(1 + i % 2);
    }
    return data;
}

static void no_row_is_predicted_by_a_model_that_saw_it(void **state)
{
    (void)state;
    uc_dataset data = memorised_data();
    uc_model *model;
    uint32_t predicted[ROWS];
    assert_ok(uc_train(&model, uc_learner_find("spa"), NULL, NULL, &data, NULL));
    assert_ok(uc_model_predict(predicted, model, &data.X, NULL));
    assert_memory_equal(predicted, data.y, sizeof predicted); /* it memorises */
    uc_model_free(model);
    for (unsigned folds = 2; folds <= ROWS; folds += folds < 10 ? 1 : 17) {
        double errors[ROWS];
        memset(predicted, 0xff, sizeof predicted);
        assert_ok(
            uc_cross_validate(predicted, errors, uc_learner_find("spa"), NULL, NULL, &data, folds, NULL));
        for (size_t i = 0; i < ROWS; i++)
            assert_int_equal(predicted[i], 0); /* predicted, and not from memory */
        for (unsigned f = 0; f < folds; f++)
            assert_true(errors[f] == 1.0);
    }
    uc_dataset_free(&data);
}

/* The same by hand: the folds of the seed, a model on the others, its prediction. */
static void predictions_are_those_of_models_trained_on_the_other_folds(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = sample_data(200, 8, 3, sparse, 1);
        uc_train_settings train = uc_train_defaults();
        train.seed = 5;
        train.scale = UC_SCALE_MAXABS;
        train.normalize = 1;
        uint32_t predicted[200], fold[200];
        double errors[4];
        assert_ok(uc_cross_validate(predicted, errors, uc_learner_find("pa"), NULL, &train, &data, 4, NULL));
        assert_ok(uc_dataset_folds(fold, &data, 4, true, 5, NULL));
        for (uint32_t f = 0; f < 4; f++) {
            size_t inside[200], outside[200], in = 0, out = 0, wrong = 0;
            for (size_t i = 0; i < 200; i++)
                if (fold[i] == f)
                    inside[in++] = i;
                else
                    outside[out++] = i;
            uc_dataset rest, test;
            uc_model *model;
            uint32_t answers[200];
            assert_ok(uc_dataset_subset(&rest, &data, outside, out, NULL));
            assert_ok(uc_dataset_subset(&test, &data, inside, in, NULL));
            assert_ok(uc_train(&model, uc_learner_find("pa"), NULL, &train, &rest, NULL));
            assert_ok(uc_model_predict(answers, model, &test.X, NULL));
            for (size_t i = 0; i < in; i++) {
                assert_int_equal(predicted[inside[i]], answers[i]);
                wrong += answers[i] != data.y[inside[i]];
            }
            assert_true(errors[f] == (double)wrong / (double)in);
            uc_model_free(model);
            uc_dataset_free(&rest);
            uc_dataset_free(&test);
        }
        uc_dataset_free(&data);
    }
}

static void the_same_seed_gives_the_same_answers(void **state)
{
    (void)state;
    uc_dataset data = sample_data(150, 6, 4, false, 2);
    uc_train_settings train = uc_train_defaults();
    uint32_t first[150], again[150], other[150];
    double errors[5], errors_again[5];
    const uc_context one = {.threads = 1}, three = {.threads = 3};
    assert_ok(uc_cross_validate(first, errors, uc_learner_find("spa"), NULL, &train, &data, 5, &one));
    assert_ok(uc_cross_validate(again, errors_again, uc_learner_find("spa"), NULL, &train, &data, 5, &three));
    assert_memory_equal(first, again, sizeof first);
    assert_memory_equal(errors, errors_again, sizeof errors);
    train.seed = 2;
    assert_ok(uc_cross_validate(other, NULL, uc_learner_find("spa"), NULL, &train, &data, 5, NULL));
    assert_true(memcmp(first, other, sizeof first) != 0);
    uc_dataset_free(&data);
}

typedef struct listener {
    size_t calls, most;
} listener;

static bool hear(const char *task, double done, double total, const char *detail, void *user)
{
    listener *self = user;
    (void)task, (void)done, (void)total, (void)detail;
    return ++self->calls < self->most;
}

/* Folds of online learners run concurrently, those of the others one after the other. */
static void answers_do_not_depend_on_the_threads(void **state)
{
    (void)state;
    static const char *const learners[] = {"spa", "logistic"};
    static const unsigned threads[] = {1, 2, 3, 7};
    uc_dataset data = sample_data(300, 8, 3, true, 3);
    for (size_t l = 0; l < 2; l++) {
        uint32_t first[300], predicted[300];
        double first_errors[6], errors[6];
        for (size_t t = 0; t < 4; t++) {
            listener user = {.most = SIZE_MAX};
            const uc_context context = {
                .threads = threads[t], .memory = t == 3 ? 50000 : 0, .progress = hear, .user = &user};
            const uc_learner *learner = uc_learner_find(learners[l]);
            assert_ok(uc_cross_validate(predicted, errors, learner, NULL, NULL, &data, 6, &context));
            assert_true(user.calls >= 6);
            if (t == 0) {
                memcpy(first, predicted, sizeof first);
                memcpy(first_errors, errors, sizeof errors);
            }
            assert_memory_equal(predicted, first, sizeof first);
            assert_memory_equal(errors, first_errors, sizeof errors);
            user = (listener){.most = 2};
            assert_error(uc_cross_validate(predicted, errors, learner, NULL, NULL, &data, 6, &context),
                         UC_ERR_CANCELLED, "interrupted");
        }
    }
    uc_dataset_free(&data);
}

static void the_data_stay_as_they_were(void **state)
{
    (void)state;
    uc_dataset data = sample_data(60, 6, 3, false, 3), before = sample_data(60, 6, 3, false, 3);
    uc_train_settings train = uc_train_defaults();
    uint32_t predicted[60];
    train.scale = UC_SCALE_STANDARD;
    train.normalize = 1;
    assert_ok(uc_cross_validate(predicted, NULL, uc_learner_find("spa"), NULL, &train, &data, 3, NULL));
    assert_memory_equal(data.X.values, before.X.values, 60 * data.X.stride * sizeof(float));
    assert_memory_equal(data.y, before.y, 60 * sizeof *data.y);
    uc_dataset_free(&data);
    uc_dataset_free(&before);
}

static void what_cannot_be_validated_is_refused(void **state)
{
    (void)state;
    uc_dataset data = sample_data(20, 4, 2, false, 4);
    uint32_t predicted[20];
    const uc_learner *spa = uc_learner_find("spa");
    const long live = uc_alloc_live();
    assert_error(uc_cross_validate(predicted, NULL, spa, NULL, NULL, &data, 1, NULL), UC_ERR_INVALID,
                 "1 folds of 20 examples: it must be from 2 to the number of examples");
    assert_error(uc_cross_validate(predicted, NULL, spa, NULL, NULL, &data, 21, NULL), UC_ERR_INVALID,
                 "21 folds of 20 examples: it must be from 2 to the number of examples");
    assert_status(uc_cross_validate(predicted, NULL, spa, NULL, NULL, &data, 0, NULL), UC_ERR_INVALID);
    data.y[3] = UC_NONE;
    assert_error_has(uc_cross_validate(predicted, NULL, spa, NULL, NULL, &data, 4, NULL), UC_ERR_FORMAT,
                     "has no label");
    uint32_t *labels = data.y;
    data.y = NULL;
    assert_error(uc_cross_validate(predicted, NULL, spa, NULL, NULL, &data, 4, NULL), UC_ERR_FORMAT,
                 "the data have no labels");
    data.y = labels;
    assert_int_equal(uc_alloc_live(), live);
    uc_dataset_free(&data);
}

/* The example named is the one in the caller's data, not its place among the rows of a fold. */
static void the_unlabelled_row_that_is_named_is_the_callers(void **state)
{
    (void)state;
    uc_dataset data = sample_data(40, 4, 2, false, 5);
    uint32_t predicted[40];
    data.y[36] = UC_NONE;
    assert_error_has(uc_cross_validate(predicted, NULL, uc_learner_find("spa"), NULL, NULL, &data, 4, NULL),
                     UC_ERR_FORMAT, "example 37 has no label");
    uc_dataset_free(&data);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = sample_data(12, 3, 2, false, 6);
    uint32_t predicted[12];
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(
        status, uc_cross_validate(predicted, NULL, uc_learner_find("spa"), NULL, NULL, &data, 2, NULL));
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_row_is_predicted_by_a_model_that_saw_it),
        cmocka_unit_test(predictions_are_those_of_models_trained_on_the_other_folds),
        cmocka_unit_test(the_same_seed_gives_the_same_answers),
        cmocka_unit_test(answers_do_not_depend_on_the_threads),
        cmocka_unit_test(the_data_stay_as_they_were),
        cmocka_unit_test(what_cannot_be_validated_is_refused),
        cmocka_unit_test(the_unlabelled_row_that_is_named_is_the_callers),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
