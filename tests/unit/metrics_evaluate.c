/* Evaluations worked by hand, and the noise-corrected error by simulation. */
#include "tests/support.h"

#include <math.h>
#include <string.h>

#include "unconfuse/metrics.h"

/* Labels and predictions that give the confusion matrix `counts` (K x K, row = label). */
static size_t spread(uint32_t *labels, uint32_t *predicted, const unsigned *counts, uint32_t K)
{
    size_t n = 0;
    for (uint32_t k = 0; k < K; k++)
        for (uint32_t p = 0; p < K; p++)
            for (unsigned i = 0; i < counts[k * K + p]; i++, n++) {
                labels[n] = k;
                predicted[n] = p;
            }
    return n;
}

/*       predicted
 *        0  1       row-normalised, no diagonal: (0 1/4; 1/6 0), singular values 1/4 and 1/6
 *  true  3  1       joint: (0 .1; .1 0)
 *        1  5                                                                                          */
static void two_classes_worked_by_hand(void **state)
{
    (void)state;
    const unsigned counts[] = {3, 1, 1, 5};
    uint32_t labels[10], predicted[10];
    const size_t n = spread(labels, predicted, counts, 2);
    uc_evaluation e;
    assert_ok(uc_evaluation_compute(&e, labels, predicted, n, 2, NULL));
    assert_int_equal(e.classes, 2);
    assert_int_equal(e.examples, 10);
    assert_int_equal(e.errors, 2);
    assert_int_equal(e.unlabelled, 0);
    assert_int_equal(e.unknown_labels, 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(e.confusion[i], counts[i]);
    assert_near(e.error, 0.2, 1e-15);
    assert_near(e.error_interval[0], 0.0567, 5e-5); /* Wilson for 2 of 10 */
    assert_near(e.error_interval[1], 0.5098, 5e-5);
    assert_near(e.confusion_rate, sqrt((1.0 / 16 + 1.0 / 36) / 2), 1e-15);
    assert_near(e.confusion_norm, 0.25, 1e-15);
    assert_near(e.confusion_norm_joint, 0.1, 1e-15);
    assert_near(e.recall[0], 0.75, 1e-15);
    assert_near(e.recall[1], 5.0 / 6, 1e-15);
    assert_near(e.precision[0], 0.75, 1e-15);
    assert_near(e.precision[1], 5.0 / 6, 1e-15);
    assert_near(e.f1[0], 0.75, 1e-15);
    assert_near(e.f1[1], 5.0 / 6, 1e-15);
    assert_near(e.macro_f1, 19.0 / 24, 1e-15);
    assert_near(e.balanced_accuracy, 19.0 / 24, 1e-15);
    assert_true(isnan(e.log_loss));
    assert_false(e.corrected);
    assert_null(e.corrected_confusion);
    uc_evaluation_free(&e);
}

/* (5 1 0; 2 3 1; 0 2 6): without its diagonal the normalised matrix has the rows (0 1/6 0), (1/3 0 1/6), (0
 * 1/4 0). Its middle column is orthogonal to the others, so the singular values are |(1/3, 1/6)| = sqrt(5)/6
 * and |(1/6, 1/4)| = sqrt(13)/12; likewise of counts/20: sqrt(5)/20, twice. */
static void three_classes_worked_by_hand(void **state)
{
    (void)state;
    const unsigned counts[] = {5, 1, 0, 2, 3, 1, 0, 2, 6};
    uint32_t labels[20], predicted[20];
    const size_t n = spread(labels, predicted, counts, 3);
    uc_evaluation e;
    assert_ok(uc_evaluation_compute(&e, labels, predicted, n, 3, NULL));
    assert_near(e.error, 0.3, 1e-15);
    assert_near(e.confusion_norm, sqrt(5.0) / 6, 1e-14);
    assert_near(e.confusion_norm_joint, sqrt(5.0) / 20, 1e-14);
    assert_near(e.confusion_rate, sqrt((5.0 / 36 + 13.0 / 144) / 3), 1e-15);
    assert_near(e.recall[1], 0.5, 1e-15);
    assert_near(e.precision[0], 5.0 / 7, 1e-15);
    assert_near(e.precision[2], 6.0 / 7, 1e-15);
    assert_near(e.f1[0], 10.0 / 13, 1e-15); /* 2 * 5 / (6 + 7), and so on */
    assert_near(e.f1[1], 6.0 / 12, 1e-15);
    assert_near(e.f1[2], 12.0 / 15, 1e-15);
    assert_near(e.macro_f1, (10.0 / 13 + .5 + .8) / 3, 1e-15);
    assert_near(e.balanced_accuracy, (5.0 / 6 + .5 + .75) / 3, 1e-15);
    uc_evaluation_free(&e);
}

static void unlabelled_rows_count_nowhere(void **state)
{
    (void)state;
    const uint32_t labels[] = {0, UC_NONE, 1, UC_NONE}, predicted[] = {0, 1, 0, 0};
    uc_evaluation e;
    assert_ok(uc_evaluation_compute(&e, labels, predicted, 4, 2, NULL));
    assert_int_equal(e.unlabelled, 2);
    assert_int_equal(e.examples, 2);
    assert_near(e.error, 0.5, 0);
    assert_near(e.precision[0], 0.5, 0);
    assert_true(isnan(e.precision[1]));
    uc_evaluation_free(&e);
}

static void unknown_labels_are_errors_outside_the_matrix(void **state)
{
    (void)state;
    const uint32_t labels[] = {0, 1, 2, 7}, predicted[] = {0, 1, 0, 1};
    uc_evaluation e;
    assert_ok(uc_evaluation_compute(&e, labels, predicted, 4, 2, NULL));
    assert_int_equal(e.unknown_labels, 2);
    assert_int_equal(e.examples, 4);
    assert_near(e.error, 0.5, 0);
    assert_int_equal(e.confusion[0] + e.confusion[1] + e.confusion[2] + e.confusion[3], 2);
    assert_near(e.recall[0], 1, 0);
    assert_near(e.precision[0], 0.5, 0); /* one of two examples predicted so is of it */
    /* Labels 2 and 7 are one class more, of which nothing is right. */
    assert_near(e.f1[0], 2.0 / 3, 1e-15);
    assert_near(e.macro_f1, (2.0 / 3 + 2.0 / 3 + 0) / 3, 1e-15);
    assert_near(e.balanced_accuracy, (1.0 + 1.0 + 0) / 3, 1e-15);
    const double probability[] = {1, .5, 0, 0};
    assert_ok(uc_evaluation_set_log_loss(&e, labels, probability, 4));
    assert_true(isnan(e.log_loss));
    uc_evaluation_free(&e);
}

/* -log of 1/2 and of 1/8 are log 2 and 3 log 2; rows without a label count nowhere. */
static void log_loss_worked_by_hand(void **state)
{
    (void)state;
    const uint32_t labels[] = {0, UC_NONE, 1}, predicted[] = {0, 0, 0};
    const double probability[] = {.5, 0, .125};
    uc_evaluation e;
    assert_ok(uc_evaluation_compute(&e, labels, predicted, 3, 2, NULL));
    assert_ok(uc_evaluation_set_log_loss(&e, labels, probability, 3));
    assert_near(e.log_loss, 2 * log(2), 1e-15);
    uc_evaluation_free(&e);
}

/* A certain mistake is not infinitely bad, and a certain hit not perfect: as scikit-learn has it. */
static void probabilities_of_the_log_loss_are_kept_from_zero_and_one(void **state)
{
    (void)state;
    const uint32_t labels[] = {0, 1}, predicted[] = {0, 0};
    const double certain[] = {1, 0}, wrong[] = {1, 1.5}, missing[] = {1, (double)NAN};
    uc_evaluation e;
    assert_ok(uc_evaluation_compute(&e, labels, predicted, 2, 2, NULL));
    assert_ok(uc_evaluation_set_log_loss(&e, labels, certain, 2));
    assert_near(e.log_loss, 26 * log(2), 1e-13); /* half of -log 2^-52 */
    assert_error(uc_evaluation_set_log_loss(&e, labels, wrong, 2), UC_ERR_INVALID,
                 "row 2: 1.5 is not a probability");
    assert_int_equal(uc_evaluation_set_log_loss(&e, labels, missing, 2), UC_ERR_INVALID);
    uc_evaluation_free(&e);
}

static void a_class_without_examples_is_a_zero_row(void **state)
{
    (void)state;
    const uint32_t labels[] = {0, 0, 0, 0}, predicted[] = {0, 0, 0, 2};
    uc_evaluation e;
    assert_ok(uc_evaluation_compute(&e, labels, predicted, 4, 3, NULL));
    assert_true(isnan(e.recall[1]) && isnan(e.recall[2]));
    assert_true(isnan(e.precision[1]));
    assert_near(e.precision[2], 0, 0);
    assert_near(e.f1[0], 6.0 / 7, 1e-15);
    assert_true(isnan(e.f1[1])); /* neither occurs nor is predicted */
    assert_near(e.f1[2], 0, 0);
    assert_near(e.macro_f1, 3.0 / 7, 1e-15);
    assert_near(e.balanced_accuracy, 0.75, 0);
    assert_near(e.confusion_norm, 0.25, 1e-15);
    assert_near(e.confusion_rate, 0.25 / sqrt(3), 1e-15);
    uc_evaluation_free(&e);
}

/* Renaming the classes permutes the results and changes no norm. */
static void a_permutation_of_the_classes_changes_nothing_else(void **state)
{
    (void)state;
    const unsigned counts[] = {5, 1, 0, 2, 3, 1, 0, 2, 6};
    const uint32_t renamed[3] = {2, 0, 1};
    uint32_t labels[20], predicted[20];
    const size_t n = spread(labels, predicted, counts, 3);
    uc_evaluation e, f;
    assert_ok(uc_evaluation_compute(&e, labels, predicted, n, 3, NULL));
    for (size_t i = 0; i < n; i++) {
        labels[i] = renamed[labels[i]];
        predicted[i] = renamed[predicted[i]];
    }
    assert_ok(uc_evaluation_compute(&f, labels, predicted, n, 3, NULL));
    assert_near(e.error, f.error, 0);
    assert_near(e.confusion_rate, f.confusion_rate, 1e-15);
    assert_near(e.confusion_norm, f.confusion_norm, 1e-14);
    assert_near(e.confusion_norm_joint, f.confusion_norm_joint, 1e-14);
    for (uint32_t k = 0; k < 3; k++) {
        assert_near(f.recall[renamed[k]], e.recall[k], 0);
        for (uint32_t p = 0; p < 3; p++)
            assert_int_equal(f.confusion[renamed[k] * 3 + renamed[p]], e.confusion[k * 3 + p]);
    }
    uc_evaluation_free(&e);
    uc_evaluation_free(&f);
}

/* C = (.9 .2; .1 .8), C^-1 = (8 -2; -1 9)/7. N/n = (.4 .1; .2 .3), so T^ = ((3.2-.4) (.8-.6); (-.4+1.8)
 * (-.1+2.7))/7 = (.4 .0286; .2 .3714), error 1 - 5.4/7. The example values v are 8/7 (40%, label 0 predicted
 * 0), -1/7 (10%, 0 predicted 1), -2/7 (20%, 1 predicted 0), 9/7 (30%). */
static void the_correction_worked_by_hand(void **state)
{
    (void)state;
    const double C[] = {.9, .2, .1, .8};
    const unsigned counts[] = {4, 1, 2, 3};
    uint32_t labels[10], predicted[10];
    const size_t n = spread(labels, predicted, counts, 2);
    uc_noise noise;
    uc_evaluation e;
    assert_ok(uc_noise_create(&noise, C, 2, NULL, UC_NOISE_COLUMNS, "C"));
    assert_ok(uc_evaluation_compute(&e, labels, predicted, n, 2, &noise));
    assert_true(e.corrected);
    assert_near(e.error, .3, 1e-15);
    assert_near(e.corrected_error, 1 - 5.4 / 7, 1e-14);
    assert_near(e.corrected_confusion[0], 2.8 / 7, 1e-14);
    assert_near(e.corrected_confusion[1], 0.2 / 7, 1e-14);
    assert_near(e.corrected_confusion[2], 1.4 / 7, 1e-14);
    assert_near(e.corrected_confusion[3], 2.6 / 7, 1e-14);
    const double mean = 5.4 / 7, square = (.4 * 64 + .1 * 1 + .2 * 4 + .3 * 81) / 49;
    assert_near(e.corrected_error_deviation, sqrt((square - mean * mean) / 10), 1e-14);
    uc_evaluation_free(&e);
    uc_noise_free(&noise);
}

static void noise_free_labels_need_no_correction(void **state)
{
    (void)state;
    const unsigned counts[] = {5, 1, 0, 2, 3, 1, 0, 2, 6};
    uint32_t labels[22], predicted[22] = {0};
    size_t n = spread(labels, predicted, counts, 3);
    labels[n++] = 5; /* unknown: stays an error */
    labels[n++] = UC_NONE;
    uc_noise noise;
    uc_evaluation e;
    assert_ok(uc_noise_uniform(&noise, 3, 0));
    assert_ok(uc_evaluation_compute(&e, labels, predicted, n, 3, &noise));
    assert_near(e.corrected_error, e.error, 1e-15);
    assert_near(e.corrected_error_deviation, sqrt(e.error * (1 - e.error) / 21), 1e-15);
    for (size_t i = 0; i < 9; i++)
        assert_near(e.corrected_confusion[i], counts[i] / 21.0, 1e-15);
    uc_evaluation_free(&e);
    uc_noise_free(&noise);
}

/* A classifier that errs in a known way, labels confused by a known matrix, many times over: the corrected
 * error is right on average, and scatters as much as its standard error says. */
static void the_corrected_error_is_unbiased_and_its_deviation_true(void **state)
{
    (void)state;
    enum { RUNS = 2000, ROWS = 200, K = 3 };
    const double C[] = {.7, .1, .2, .2, .8, .2, .1, .1, .6};
    const double rows_of_prediction[K][K] = {{.8, .1, .1}, {.05, .9, .05}, {.2, .2, .6}};
    uc_noise noise;
    assert_ok(uc_noise_create(&noise, C, K, NULL, UC_NOISE_COLUMNS, "C"));
    uc_rng rng = uc_rng_make(5, 1);
    double sum = 0, squares = 0, deviations = 0, errors = 0;
    static uint32_t labels[ROWS], predicted[ROWS];
    for (int run = 0; run < RUNS; run++) {
        for (size_t i = 0; i < ROWS; i++) {
            const size_t q = i % K;
            const double column[K] = {C[q], C[K + q], C[2 * K + q]};
            predicted[i] = (uint32_t)uc_rng_weighted(&rng, rows_of_prediction[q], K);
            labels[i] = (uint32_t)uc_rng_weighted(&rng, column, K);
        }
        uc_evaluation e;
        assert_ok(uc_evaluation_compute(&e, labels, predicted, ROWS, K, &noise));
        sum += e.corrected_error;
        squares += e.corrected_error * e.corrected_error;
        deviations += e.corrected_error_deviation;
        errors += e.error;
        uc_evaluation_free(&e);
    }
    const double truth = (67 * .2 + 67 * .1 + 66 * .4) / ROWS;
    const double mean = sum / RUNS, deviation = sqrt(squares / RUNS - mean * mean);
    assert_near(mean, truth, 4.5 * deviation / sqrt(RUNS));
    assert_true(errors / RUNS > truth + .1); /* the uncorrected one is far off */
    /* The classes are dealt out, not drawn, which takes a few percent off the scatter. */
    assert_near_relative(deviation, deviations / RUNS, .1);
    uc_noise_free(&noise);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    const uint32_t labels[] = {0, 1}, predicted[] = {0, 2}, none[] = {UC_NONE, UC_NONE}, right[] = {0, 1};
    uc_evaluation e;
    memset(&e, 0x5a, sizeof e);
    uc_evaluation untouched = e;
    assert_error(uc_evaluation_compute(&e, labels, predicted, 2, 2, NULL), UC_ERR_INVALID,
                 "prediction 2 is class 2 of 2");
    assert_error(uc_evaluation_compute(&e, none, right, 2, 2, NULL), UC_ERR_INVALID,
                 "there is no labelled example to evaluate");
    assert_error(uc_evaluation_compute(&e, NULL, NULL, 0, 2, NULL), UC_ERR_INVALID,
                 "there is no labelled example to evaluate");
    assert_error(uc_evaluation_compute(&e, labels, right, 2, (size_t)1 << 40, NULL), UC_ERR_NOMEM,
                 "a confusion matrix of 1099511627776 classes does not fit in memory");
    uc_noise noise;
    assert_ok(uc_noise_uniform(&noise, 3, .1));
    assert_error(uc_evaluation_compute(&e, labels, right, 2, 2, &noise), UC_ERR_INVALID,
                 "the noise matrix has 3 classes, the model has 2");
    uc_noise_free(&noise);
    assert_memory_equal(&e, &untouched, sizeof e);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const uint32_t labels[] = {0, 1, 1}, predicted[] = {0, 1, 0};
    uc_noise noise;
    uc_evaluation e;
    uc_status status;
    assert_ok(uc_noise_uniform(&noise, 2, .1));
    const long live = uc_alloc_live();
    FOR_EACH_FAILING_ALLOCATION(status, uc_evaluation_compute(&e, labels, predicted, 3, 2, &noise));
    uc_evaluation_free(&e);
    uc_evaluation_free(&e); /* an empty one may be freed */
    assert_int_equal(uc_alloc_live(), live);
    uc_noise_free(&noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_classes_worked_by_hand),
        cmocka_unit_test(three_classes_worked_by_hand),
        cmocka_unit_test(unlabelled_rows_count_nowhere),
        cmocka_unit_test(unknown_labels_are_errors_outside_the_matrix),
        cmocka_unit_test(log_loss_worked_by_hand),
        cmocka_unit_test(probabilities_of_the_log_loss_are_kept_from_zero_and_one),
        cmocka_unit_test(a_class_without_examples_is_a_zero_row),
        cmocka_unit_test(a_permutation_of_the_classes_changes_nothing_else),
        cmocka_unit_test(the_correction_worked_by_hand),
        cmocka_unit_test(noise_free_labels_need_no_correction),
        cmocka_unit_test(the_corrected_error_is_unbiased_and_its_deviation_true),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
