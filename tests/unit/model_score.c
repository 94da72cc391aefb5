/* Scores and predictions against their definition, for every kind of step before the weights. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "linalg/linalg.h"
#include "model/model.h"

/* Random weights and scaling. */
static uc_model *random_model(uint64_t seed, size_t features, size_t classes, uc_scaling scaling)
{
    uc_rng rng = uc_rng_make(seed, 7);
    uc_names names = {0};
    uc_model *model;
    for (size_t k = 0; k < classes; k++) {
        char name[24];
        uint32_t index;
        snprintf(name, sizeof name, "%zu", k);
        assert_ok(uc_names_add(&index, &names, name, strlen(name)));
    }
    assert_ok(uc_model_create(&model, &names, features, features, "spa"));
    uc_names_free(&names);
    for (size_t j = 0; j <= features; j++)
        for (size_t k = 0; k < classes; k++)
            model->weights[j * model->stride + k] = uc_rng_normal(&rng);
    model->preprocessing.scaling = scaling;
    model->preprocessing.cols = features;
    if (scaling != UC_SCALE_NONE) {
        model->preprocessing.factor = uc_alloc(features, sizeof(double));
        for (size_t j = 0; j < features; j++)
            model->preprocessing.factor[j] = 0.5 + uc_rng_uniform(&rng);
    }
    if (scaling == UC_SCALE_RANGE || scaling == UC_SCALE_STANDARD) {
        model->preprocessing.shift = uc_alloc(features, sizeof(double));
        for (size_t j = 0; j < features; j++)
            model->preprocessing.shift[j] = uc_rng_normal(&rng);
    }
    return model;
}

/* The scores of one row by their definition: known columns, missing ones as 0, scaled, unit length, bias. */
static void plain_scores(double *scores, const uc_model *model, const uc_matrix *X, size_t i)
{
    const uc_row row = uc_matrix_row(X, i);
    double *x = calloc(model->features + 1, sizeof *x), squares = 0.0;
    for (size_t e = 0; e < row.count; e++) {
        const size_t j = row.columns ? row.columns[e] : e;
        if (j < model->features)
            x[j] = row.values[e];
    }
    for (size_t j = 0; j < model->features; j++) {
        if (model->preprocessing.factor)
            x[j] = (x[j] - (model->preprocessing.shift ? model->preprocessing.shift[j] : 0.0)) *
                   model->preprocessing.factor[j];
        squares += x[j] * x[j];
    }
    const bool unit =
        (model->preprocessing.normalize || model->preprocessing.normalize_input) && squares > 0.0;
    for (size_t k = 0; k < model->classes.count; k++) {
        scores[k] = model->bias * model->weights[k];
        for (size_t j = 0; j < model->features; j++)
            scores[k] += x[j] / (unit ? sqrt(squares) : 1.0) * uc_model_weight(model, j, k);
    }
    free(x);
}

/* Scores agree with the definition (rows are floats, hence the tolerance), predictions with the scores. */
static void check_scores(const uc_model *model, const uc_matrix *X)
{
    const size_t K = model->classes.count;
    double *scores = malloc((X->rows * K + 1) * sizeof *scores), expected[64];
    uint32_t *predicted = malloc((X->rows + 1) * sizeof *predicted);
    assert_true(scores && predicted);
    assert_ok(uc_model_scores(scores, model, X, NULL));
    assert_ok(uc_model_predict(predicted, model, X, NULL));
    for (size_t i = 0; i < X->rows; i++) {
        plain_scores(expected, model, X, i);
        for (size_t k = 0; k < K; k++)
            assert_near(scores[i * K + k], expected[k], 1e-5);
        assert_int_equal(predicted[i], uc_argmax(scores + i * K, K));
    }
    free(scores);
    free(predicted);
}

static void scores_follow_their_definition_whatever_the_steps(void **state)
{
    (void)state;
    for (int scaling = UC_SCALE_NONE; scaling <= UC_SCALE_MAXABS; scaling++)
        for (int unit = 0; unit < 3; unit++)
            for (int sparse = 0; sparse < 2; sparse++)
                for (size_t K = 2; K <= 20; K += 3) {
                    uc_model *model = random_model(K, 13, K, (uc_scaling)scaling);
                    uc_dataset data = sample_data(300, 13, 3, sparse, K);
                    model->preprocessing.normalize = unit == 1;
                    model->preprocessing.normalize_input = unit == 2;
                    model->bias = K % 2 ? 0.0 : 1.5;
                    check_scores(model, &data.X);
                    uc_dataset_free(&data);
                    uc_model_free(model);
                }
}

static void columns_that_the_model_does_not_know_are_dropped(void **state)
{
    (void)state;
    for (int scaling = UC_SCALE_NONE; scaling <= UC_SCALE_MAXABS; scaling++)
        for (int unit = 0; unit < 2; unit++)
            for (int sparse = 0; sparse < 2; sparse++) {
                uc_model *model = random_model(1, 7, 4, (uc_scaling)scaling);
                uc_dataset data = sample_data(300, 13, 3, sparse, 1);
                model->preprocessing.normalize = unit; /* the length is that of the known part */
                check_scores(model, &data.X);
                uc_dataset_free(&data);
                uc_model_free(model);
            }
}

/* A text file whose last columns happen to be all zero reads as fewer columns; the scores must be those of
 * zeros. */
static void columns_that_the_data_do_not_have_are_zero(void **state)
{
    (void)state;
    for (int scaling = UC_SCALE_NONE; scaling <= UC_SCALE_MAXABS; scaling++)
        for (int unit = 0; unit < 2; unit++)
            for (int sparse = 0; sparse < 2; sparse++) {
                uc_model *model = random_model(1, 13, 4, (uc_scaling)scaling);
                uc_dataset data = sample_data(300, 7, 3, sparse, 1);
                model->preprocessing.normalize = unit;
                check_scores(model, &data.X);
                uc_dataset_free(&data);
                uc_model_free(model);
            }
}

static void no_rows_and_no_columns_are_fine(void **state)
{
    (void)state;
    uc_model *model = random_model(1, 5, 3, UC_SCALE_NONE), *constant = random_model(1, 0, 3, UC_SCALE_NONE);
    constant->bias = 2.0;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset none = sample_data(0, 5, 2, sparse, 1), empty = sample_data(4, 0, 2, sparse, 1);
        uc_dataset some = sample_data(4, 5, 2, sparse, 1);
        check_scores(model, &none.X);
        check_scores(model, &empty.X);
        check_scores(constant, &some.X);
        check_scores(constant, &empty.X);
        uc_dataset_free(&none);
        uc_dataset_free(&empty);
        uc_dataset_free(&some);
    }
    uc_model_free(model);
    uc_model_free(constant);
}

static void scores_have_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++)
        for (int unit = 0; unit < 2; unit++) {
            uc_model *model = random_model(2, 30, 10, UC_SCALE_NONE);
            uc_dataset data = sample_data(2000, 30, 10, sparse, 2);
            model->preprocessing.normalize = unit;
            double *first = malloc(2000 * 10 * sizeof *first), *other = malloc(2000 * 10 * sizeof *other);
            for (unsigned threads = 1; threads <= 7; threads += 2) {
                const uc_context context = {.threads = threads};
                assert_ok(uc_model_scores(threads == 1 ? first : other, model, &data.X, &context));
                if (threads > 1)
                    assert_memory_equal(other, first, 2000 * 10 * sizeof *first);
            }
            free(first);
            free(other);
            uc_dataset_free(&data);
            uc_model_free(model);
        }
}

/* The score of a row does not depend on the rows around it, nor on how many there are. */
static void a_row_scores_the_same_alone(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_model *model = random_model(3, 30, 7, UC_SCALE_MAXABS);
        uc_dataset data = sample_data(300, 30, 7, sparse, 3);
        double *all = malloc(300 * 7 * sizeof *all), alone[7];
        assert_ok(uc_model_scores(all, model, &data.X, NULL));
        for (size_t i = 0; i < 300; i += 17) {
            uc_matrix one;
            assert_ok(uc_matrix_subset(&one, &data.X, &i, 1, NULL));
            assert_ok(uc_model_scores(alone, model, &one, NULL));
            assert_memory_equal(alone, all + i * 7, sizeof alone);
            uc_matrix_free(&one);
        }
        free(all);
        uc_dataset_free(&data);
        uc_model_free(model);
    }
}

/* Classes that were never distinguished have equal weights: the lowest must win, whatever the rounding. */
static void equal_classes_tie_and_the_lowest_is_predicted(void **state)
{
    (void)state;
    static const size_t class_counts[] = {2, 3, 5, 7, 10, 13, 26, 50};
    for (size_t c = 0; c < 8; c++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int unit = 0; unit < 2; unit++) {
                const size_t K = class_counts[c], features = 700;
                uc_model *model = random_model(4, features, K, UC_SCALE_NONE);
                for (size_t j = 0; j <= features; j++)
                    for (size_t k = 1; k < K; k++)
                        model->weights[j * model->stride + k] = model->weights[j * model->stride];
                model->preprocessing.normalize = unit;
                uc_dataset data = sample_data(77, features, 3, sparse, 4);
                uint32_t predicted[77];
                assert_ok(uc_model_predict(predicted, model, &data.X, NULL));
                for (size_t i = 0; i < 77; i++)
                    assert_int_equal(predicted[i], 0);
                uc_dataset_free(&data);
                uc_model_free(model);
            }
}

/* NaN and infinity end in no score that is a number; scaling, though, takes infinity for the largest
 * float. */
static void rows_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    static const float wrong[] = {NAN, INFINITY, -INFINITY};
    for (int scaling = UC_SCALE_NONE; scaling <= UC_SCALE_MAXABS; scaling++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int unit = 0; unit < 2; unit++)
                for (size_t w = 0; w < (scaling == UC_SCALE_NONE ? 3 : 1); w++) {
                    uc_model *model = random_model(6, 6, 3, (uc_scaling)scaling);
                    uc_dataset data = sample_data(600, 6, 3, sparse, 6);
                    uint32_t predicted[600];
                    double scores[1800];
                    model->preprocessing.normalize = unit;
                    for (size_t k = 0; k < 3; k++) /* also where no class has a weight */
                        model->weights[4 * model->stride + k] = 0.0;
                    *(float *)uc_matrix_row(&data.X, 523).values = wrong[w];
                    assert_error(uc_model_predict(predicted, model, &data.X, NULL), UC_ERR_INVALID,
                                 "row 524 has no finite scores: it holds NaN or infinity");
                    assert_status(uc_model_scores(scores, model, &data.X, NULL), UC_ERR_INVALID);
                    uc_dataset_free(&data);
                    uc_model_free(model);
                }
}

/* Finite values whose scores are not are not called NaN. */
static void a_row_that_is_too_large_is_called_so(void **state)
{
    (void)state;
    uc_model *model = random_model(6, 6, 3, UC_SCALE_NONE);
    uc_dataset data = sample_data(5, 6, 3, false, 6);
    uint32_t predicted[5];
    for (size_t i = 0; i < 7 * model->stride; i++)
        model->weights[i] = 1e300;
    *(float *)uc_matrix_row(&data.X, 2).values = 1e30f;
    assert_error(uc_model_predict(predicted, model, &data.X, NULL), UC_ERR_INVALID,
                 "row 3 has no finite scores: its values are too large");
    for (size_t i = 0; i < 7 * model->stride; i++)
        model->weights[i] = 1e307; /* a sum over the classes would overflow, and no score does */
    *(float *)uc_matrix_row(&data.X, 2).values = 1.0f;
    assert_ok(uc_model_predict(predicted, model, &data.X, NULL));
    uc_dataset_free(&data);
    uc_model_free(model);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const uc_context context = {.threads = 2};
    for (int scaling = UC_SCALE_NONE; scaling <= UC_SCALE_RANGE; scaling++) {
        uc_model *model = random_model(5, 6, 3, (uc_scaling)scaling);
        uc_dataset data = sample_data(1000, 6, 3, false, 5);
        uint32_t predicted[1000];
        double *scores = malloc(3000 * sizeof *scores);
        uc_status status;
        FOR_EACH_FAILING_ALLOCATION(status, uc_model_predict(predicted, model, &data.X, &context));
        FOR_EACH_FAILING_ALLOCATION(status, uc_model_scores(scores, model, &data.X, &context));
        free(scores);
        uc_dataset_free(&data);
        uc_model_free(model);
    }
}

typedef struct watched {
    size_t bad; /* this row is not sound */
    unsigned checked[1000];
} watched;

static uc_status watch(size_t first, size_t last, void *user)
{
    watched *self = user;
    for (size_t i = first; i < last; i++) {
        self->checked[i]++;
        if (i == self->bad)
            return uc_fail(UC_ERR_FORMAT, "row %zu is not sound", i + 1);
    }
    return UC_OK;
}

static void every_row_is_checked_before_it_is_scored(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++)
        for (unsigned threads = 1; threads <= 4; threads += 3) {
            uc_model *model = random_model(1, 7, 2, UC_SCALE_NONE);
            uc_dataset data = sample_data(1000, 7, 2, sparse, 1);
            uint32_t predicted[1000], expected[1000];
            const uc_context context = {.threads = threads};
            watched rows = {.bad = SIZE_MAX};
            const uc_row_check check = {watch, &rows};
            const uc_scoring wanted = {.predicted = predicted, .check = &check};
            assert_ok(uc_model_predict(expected, model, &data.X, &context));
            assert_ok(uc_model_score(&wanted, model, &data.X, &context));
            assert_memory_equal(predicted, expected, sizeof predicted);
            for (size_t i = 0; i < 1000; i++)
                assert_int_equal(rows.checked[i], 1);
            /* A row that is not sound matters more than an earlier one that is too large. */
            data.X.values[0] = INFINITY;
            for (rows.bad = 3; rows.bad < 1000; rows.bad += 332)
                assert_error_has(uc_model_score(&wanted, model, &data.X, &context), UC_ERR_FORMAT,
                                 "is not sound");
            rows.bad = SIZE_MAX;
            assert_error_has(uc_model_score(&wanted, model, &data.X, &context), UC_ERR_INVALID,
                             "row 1 has no finite scores: it holds NaN or infinity");
            uc_dataset_free(&data);
            uc_model_free(model);
        }
}

/* .05 + .55 + .3 + .1 is above 1, by rounding. */
static void a_calibrated_probability_is_never_above_1(void **state)
{
    (void)state;
    const uc_calibration parts[] = {{0.05, 100, 0}, {0.55, 100, 0}, {0.3, 100, 0}, {0.1, 100, 0}};
    double scores[2] = {-50, 50}, work[4];
    uc_calibration_apply(scores, parts, 4, 2, work);
    assert_true(scores[1] == 1.0 && scores[0] >= 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_follow_their_definition_whatever_the_steps),
        cmocka_unit_test(columns_that_the_model_does_not_know_are_dropped),
        cmocka_unit_test(columns_that_the_data_do_not_have_are_zero),
        cmocka_unit_test(no_rows_and_no_columns_are_fine),
        cmocka_unit_test(scores_have_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(a_row_scores_the_same_alone),
        cmocka_unit_test(equal_classes_tie_and_the_lowest_is_predicted),
        cmocka_unit_test(rows_that_are_not_finite_are_refused),
        cmocka_unit_test(a_row_that_is_too_large_is_called_so),
        cmocka_unit_test(every_row_is_checked_before_it_is_scored),
        cmocka_unit_test(a_calibrated_probability_is_never_above_1),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
