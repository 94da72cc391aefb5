/* The perceptron's two steps, worked by hand and against a plain version. */
#include "tests/sample.h"

#include <math.h>

#include "learn/learner.h"
#include "learn/online.h"

enum { MOST = 30 };

typedef struct step_room {
    uint32_t classes[MOST];
    double tau[MOST], work[MOST];
    uc_step step;
} step_room;

/* What every class gets, as one number a class. */
static void take_step(double *tau, const uc_perceptron_settings *settings, const double *scores,
                      size_t classes, uint32_t label, double weight)
{
    step_room room = {.step = {0}};
    room.step = (uc_step){0, room.classes, room.tau, room.work};
    const uc_round round = {.scores = scores,
                            .classes = classes,
                            .xx = 2.0,
                            .answer = {UC_ANSWER_LABEL, label},
                            .weight = weight};
    uc_learner_perceptron.step(&room.step, &round, settings);
    memset(tau, 0, classes * sizeof *tau);
    for (size_t i = 0; i < room.step.count; i++) {
        assert_true(room.classes[i] < classes);
        assert_true(tau[room.classes[i]] == 0.0);
        tau[room.classes[i]] = room.tau[i];
    }
}

static void check_step(int step, const double *scores, size_t classes, uint32_t label, double weight,
                       const double *expected)
{
    const uc_perceptron_settings settings = {.step = step};
    double tau[MOST];
    take_step(tau, &settings, scores, classes, label, weight);
    for (size_t k = 0; k < classes; k++)
        assert_near(tau[k], expected[k], 1e-16);
}

static void the_best_wrong_class_pays(void **state)
{
    (void)state;
    check_step(0, (double[]){1, 3, 2, 0}, 4, 0, 1.0, (double[]){1, -1, 0, 0});
    check_step(0, (double[]){1, 3, 3, 0}, 4, 0, 1.0, (double[]){1, -1, 0, 0}); /* the lowest of equals */
    check_step(0, (double[]){1, 0, 0, 1}, 4, 0, 1.0, (double[]){1, 0, 0, -1}); /* a tie is an error */
    check_step(0, (double[]){0, 0, 0, 0}, 4, 0, 1.0, (double[]){1, -1, 0, 0});
    check_step(0, (double[]){0, 0, 0, 0}, 4, 2, 1.0, (double[]){-1, 0, 1, 0});
    check_step(0, (double[]){-5, -2}, 2, 0, 0.25, (double[]){0.25, -0.25});
}

static void all_classes_that_score_too_high_pay_alike(void **state)
{
    (void)state;
    check_step(1, (double[]){1, 3, 2, 0}, 4, 0, 1.0, (double[]){1, -0.5, -0.5, 0});
    check_step(1, (double[]){1, 3, 1, 0}, 4, 0, 1.0, (double[]){1, -0.5, -0.5, 0});
    check_step(1, (double[]){0, 0, 0, 0}, 4, 3, 1.0, (double[]){-1.0 / 3, -1.0 / 3, -1.0 / 3, 1});
    check_step(1, (double[]){1, 0, 0, 2}, 4, 0, 3.0, (double[]){3, 0, 0, -3});
}

static void a_right_answer_changes_nothing(void **state)
{
    (void)state;
    for (int step = 0; step < 2; step++) {
        check_step(step, (double[]){1, 0.999999, -1, 0}, 4, 0, 1.0, (double[]){0, 0, 0, 0});
        check_step(step, (double[]){-3, -2}, 2, 1, 1.0, (double[]){0, 0});
    }
}

/* Random scores with ties, against the definition. */
static void steps_are_those_of_the_definition(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(1, 0);
    for (size_t round = 0; round < 20000; round++) {
        const size_t K = 2 + (size_t)uc_rng_below(&rng, MOST - 1);
        const uint32_t y = (uint32_t)uc_rng_below(&rng, K);
        double scores[MOST], expected[MOST] = {0}, best = -INFINITY;
        size_t errors = 0, worst = K;
        for (size_t k = 0; k < K; k++)
            scores[k] = (double)uc_rng_below(&rng, 7) - 3.0;
        for (size_t k = 0; k < K; k++)
            errors += k != y && scores[k] >= scores[y];
        for (size_t k = 0; k < K; k++)
            if (k != y && scores[k] > best) {
                best = scores[k];
                worst = k;
            }
        const int step = (int)uc_rng_below(&rng, 2);
        for (size_t k = 0; k < K && errors; k++) {
            if (k == y)
                expected[k] = 1.0;
            else if (step == 0)
                expected[k] = k == worst ? -1.0 : 0.0;
            else
                expected[k] = scores[k] >= scores[y] ? -1.0 / (double)errors : 0.0;
        }
        check_step(step, scores, K, y, 1.0, expected);
    }
}

/* x0 = (1, 0) of class 0, x1 = (1, 1) of class 1, x2 = (0, 2) of class 2; one pass in order, not averaged.
 *   x0: scores 0 0 0, wrong (tie):    w0 = (1, 0), w1 = (-1, 0)
 *   x1: scores 1 -1 0, wrong:         w1 = (0, 1), w0 = (0, -1)
 *   x2: scores -2 2 0, wrong:         w2 = (0, 2), w1 = (0, -1) */
static void three_rounds_worked_by_hand(void **state)
{
    (void)state;
    static const float rows[3][2] = {{1, 0}, {1, 1}, {0, 2}};
    uc_dataset data = sample_data(3, 2, 3, false, 1);
    for (size_t i = 0; i < 3; i++) {
        memcpy(data.X.values + i * data.X.stride, rows[i], sizeof rows[i]);
        data.y[i] = (uint32_t)i;
    }
    uc_train_settings train = uc_train_defaults();
    train.passes = 1;
    train.shuffle = 0;
    uc_model *model;
    for (int average = 0; average < 2; average++) {
        train.average = average;
        assert_ok(uc_train(&model, &uc_learner_perceptron, NULL, &train, &data, NULL));
        /* averaged: the mean of the three iterates */
        const double last[3][2] = {{0, -1}, {0, -1}, {0, 2}};
        const double mean[3][2] = {{1.0 / 3, -2.0 / 3}, {-1.0 / 3, 0}, {0, 2.0 / 3}};
        for (size_t k = 0; k < 3; k++)
            for (size_t j = 0; j < 2; j++)
                assert_near(uc_model_weight(model, j, k), average ? mean[k][j] : last[k][j], 1e-15);
        uc_model_free(model);
    }
    uc_dataset_free(&data);
}

/* On separable data the perceptron stops making errors. */
static void separable_data_are_separated(void **state)
{
    (void)state;
    uc_dataset data = sample_data(90, 5, 3, false, 2);
    for (size_t i = 0; i < 90; i++) {
        data.y[i] = (uint32_t)(i % 3);
        for (size_t j = 0; j < 3; j++)
            data.X.values[i * data.X.stride + j] = j == i % 3 ? 8.0f : 0.0f;
    }
    for (int step = 0; step < 2; step++) {
        const uc_perceptron_settings settings = {.step = step};
        uc_train_settings train = uc_train_defaults();
        uc_model *model;
        train.passes = 50;
        train.average = 0;
        assert_ok(uc_train(&model, &uc_learner_perceptron, &settings, &train, &data, NULL));
        assert_true(json_real_value(json_object_get(model->summary, "training_error")) == 0.0);
        uint32_t predicted[90];
        assert_ok(uc_model_predict(predicted, model, &data.X, NULL));
        assert_memory_equal(predicted, data.y, sizeof predicted);
        uc_model_free(model);
    }
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_wrong_class_pays),
        cmocka_unit_test(all_classes_that_score_too_high_pay_alike),
        cmocka_unit_test(a_right_answer_changes_nothing),
        cmocka_unit_test(steps_are_those_of_the_definition),
        cmocka_unit_test(three_rounds_worked_by_hand),
        cmocka_unit_test(separable_data_are_separated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
