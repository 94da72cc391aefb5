/* What must not matter does not matter: names of classes, order of columns, units of measurement, storage. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "learn/online.h"

enum { ROWS = 200, COLS = 7 };

/* A learner with its settings; those of the perceptron or of pa and spa. */
typedef struct variant {
    const char *learner;
    uc_perceptron_settings perceptron;
    uc_pa_settings pa;
    bool symmetric; /* ties between classes are not broken by their order */
} variant;

static const variant variants[] = {
    {"perceptron", {.step = 0}, {0}, false},          {"perceptron", {.step = 1}, {0}, true},
    {"pa", {0}, {.variant = 0, .cost = 1.0}, false},  {"pa", {0}, {.variant = 1, .cost = 0.05}, false},
    {"pa", {0}, {.variant = 2, .cost = 0.05}, false}, {"spa", {0}, {.variant = 0, .cost = 1.0}, true},
    {"spa", {0}, {.variant = 1, .cost = 0.05}, true}, {"spa", {0}, {.variant = 2, .cost = 0.05}, true},
};
#define VARIANTS (sizeof variants / sizeof *variants)

static uc_model *learn(const variant *v, uc_dataset *data, const uc_train_settings *train)
{
    uc_model *model;
    const void *settings =
        strcmp(v->learner, "perceptron") == 0 ? (const void *)&v->perceptron : (const void *)&v->pa;
    assert_ok(uc_train(&model, uc_learner_find(v->learner), settings, train, data, NULL));
    return model;
}

static double largest_weight(const uc_model *model)
{
    double largest = 0.0;
    for (size_t i = 0; i < (model->features + 1) * model->stride; i++)
        largest = fmax(largest, fabs(model->weights[i]));
    return largest;
}

static uc_train_settings two_passes(void)
{
    uc_train_settings train = uc_train_defaults();
    train.passes = 2;
    return train;
}

static void renaming_classes_renames_the_answers(void **state)
{
    (void)state;
    const uc_train_settings train = two_passes();
    for (size_t v = 0; v < VARIANTS; v++)
        for (size_t K = 2; K <= 6; K++) {
            if (!variants[v].symmetric && K > 2) /* with two classes there is one other class, and no tie */
                continue;
            uc_dataset data = sample_data(ROWS, COLS, K, false, K),
                       renamed = sample_data(ROWS, COLS, K, false, K);
            for (size_t i = 0; i < ROWS; i++)
                renamed.y[i] = (uint32_t)((data.y[i] * (K == 5 ? 2 : 1) + 1) % K);
            uc_model *a = learn(&variants[v], &data, &train), *b = learn(&variants[v], &renamed, &train);
            for (size_t j = 0; j < COLS; j++)
                for (size_t k = 0; k < K; k++)
                    assert_near(uc_model_weight(a, j, k),
                                uc_model_weight(b, j, (k * (K == 5 ? 2 : 1) + 1) % K),
                                1e-10 * largest_weight(a));
            uc_model_free(a);
            uc_model_free(b);
            uc_dataset_free(&data);
            uc_dataset_free(&renamed);
        }
}

static void permuting_columns_permutes_the_weights(void **state)
{
    (void)state;
    uc_train_settings train = two_passes();
    for (size_t v = 0; v < VARIANTS; v++)
        for (int scale = UC_SCALE_NONE; scale <= UC_SCALE_MAXABS; scale++) {
            uc_dataset data = sample_data(ROWS, COLS, 4, false, 1),
                       moved = sample_data(ROWS, COLS, 4, false, 1);
            for (size_t i = 0; i < ROWS; i++)
                for (size_t j = 0; j < COLS; j++)
                    moved.X.values[i * moved.X.stride + (j * 3 + 2) % COLS] =
                        data.X.values[i * data.X.stride + j];
            train.scale = scale;
            train.bias = 0.5;
            uc_model *a = learn(&variants[v], &data, &train), *b = learn(&variants[v], &moved, &train);
            for (size_t k = 0; k < 4; k++) {
                for (size_t j = 0; j < COLS; j++)
                    assert_near(uc_model_weight(a, j, k), uc_model_weight(b, (j * 3 + 2) % COLS, k),
                                1e-9 * largest_weight(a));
                assert_near(uc_model_offset(a, k), uc_model_offset(b, k), 1e-9 * largest_weight(a));
            }
            uc_model_free(a);
            uc_model_free(b);
            uc_dataset_free(&data);
            uc_dataset_free(&moved);
        }
}

/* Data and bias times 1024: the perceptron's weights grow by 1024, a hard passive-aggressive step shrinks by
 * it, so that all scores are 1024^2 times, or exactly, the same. */
static void other_units_change_no_prediction(void **state)
{
    (void)state;
    uc_train_settings train = two_passes();
    for (size_t v = 0; v < VARIANTS; v++) {
        if (variants[v].pa.variant != 0) /* the cost has a unit of its own */
            continue;
        uc_dataset data = sample_data(ROWS, COLS, 4, false, 2), large = sample_data(ROWS, COLS, 4, false, 2);
        for (size_t i = 0; i < ROWS * data.X.stride; i++)
            large.X.values[i] *= 1024.0f;
        train.bias = 0.5;
        uc_model *a = learn(&variants[v], &data, &train);
        train.bias = 512.0;
        uc_model *b = learn(&variants[v], &large, &train);
        const double factor = strcmp(variants[v].learner, "perceptron") == 0 ? 1024.0 : 1.0 / 1024.0;
        for (size_t i = 0; i < (COLS + 1) * a->stride; i++)
            assert_true(b->weights[i] == factor * a->weights[i]); /* powers of two: bit for bit */
        uint32_t x[ROWS], y[ROWS];
        assert_ok(uc_model_predict(x, a, &data.X, NULL));
        assert_ok(uc_model_predict(y, b, &large.X, NULL));
        assert_memory_equal(x, y, sizeof x);
        uc_model_free(a);
        uc_model_free(b);
        uc_dataset_free(&data);
        uc_dataset_free(&large);
    }
}

/* Unit length forgets the length of a row. */
static void the_length_of_a_row_does_not_matter_when_rows_get_unit_length(void **state)
{
    (void)state;
    uc_train_settings train = two_passes();
    for (int input = 0; input < 2; input++)
        for (size_t v = 0; v < VARIANTS; v++) {
            uc_dataset data = sample_data(ROWS, COLS, 4, true, 3),
                       longer = sample_data(ROWS, COLS, 4, true, 3);
            for (size_t i = 0; i < ROWS; i++)
                for (uint64_t e = data.X.offsets[i]; e < data.X.offsets[i + 1]; e++)
                    longer.X.values[e] *= (float)(1u << (i % 9));
            train.normalize = !input;
            train.normalize_input = input;
            train.bias = 0.5;
            uc_model *a = learn(&variants[v], &data, &train), *b = learn(&variants[v], &longer, &train);
            assert_memory_equal(a->weights, b->weights, (COLS + 1) * a->stride * sizeof(double));
            uc_model_free(a);
            uc_model_free(b);
            uc_dataset_free(&data);
            uc_dataset_free(&longer);
        }
}

/* Columns in other units and with another origin, when they are scaled. Powers of two and multiples of 1/64:
 * the scaled values are the same floats. */
static void units_and_origins_of_columns_do_not_matter_when_they_are_scaled(void **state)
{
    (void)state;
    uc_train_settings train = two_passes();
    for (int scale = UC_SCALE_RANGE; scale <= UC_SCALE_MAXABS; scale++)
        for (size_t v = 0; v < VARIANTS; v++) {
            uc_dataset data = sample_data(ROWS, COLS, 4, false, 4),
                       other = sample_data(ROWS, COLS, 4, false, 4);
            for (size_t i = 0; i < ROWS; i++)
                for (size_t j = 0; j < COLS; j++) {
                    float *value = &other.X.values[i * other.X.stride + j];
                    *value = *value * (float)(1u << j) + (scale == UC_SCALE_MAXABS ? 0.0f : (float)j);
                }
            train.scale = scale;
            uc_model *a = learn(&variants[v], &data, &train), *b = learn(&variants[v], &other, &train);
            uint32_t x[ROWS], y[ROWS];
            assert_ok(uc_model_predict(x, a, &data.X, NULL));
            assert_ok(uc_model_predict(y, b, &other.X, NULL));
            assert_memory_equal(x, y, sizeof x);
            for (size_t i = 0; i < (COLS + 1) * a->stride; i++)
                assert_near(a->weights[i], b->weights[i], 1e-4 * largest_weight(a));
            uc_model_free(a);
            uc_model_free(b);
            uc_dataset_free(&data);
            uc_dataset_free(&other);
        }
}

/* --scale is scaling the data beforehand, bit for bit. */
static void scaling_inside_is_scaling_outside(void **state)
{
    (void)state;
    uc_train_settings train = two_passes();
    for (int scale = UC_SCALE_RANGE; scale <= UC_SCALE_MAXABS; scale++)
        for (size_t v = 0; v < VARIANTS; v++) {
            uc_dataset data = sample_data(ROWS, COLS, 4, false, 5),
                       scaled = sample_data(ROWS, COLS, 4, false, 5);
            uc_preprocessing preprocessing;
            assert_ok(learn_scaling(&preprocessing, (uc_scaling)scale, &scaled.X));
            assert_ok(uc_preprocessing_apply(&preprocessing, &scaled.X, NULL));
            train.scale = scale;
            uc_model *a = learn(&variants[v], &data, &train);
            train.scale = UC_SCALE_NONE;
            uc_model *b = learn(&variants[v], &scaled, &train);
            assert_memory_equal(a->weights, b->weights, (COLS + 1) * a->stride * sizeof(double));
            double x[ROWS * 4], y[ROWS * 4];
            assert_ok(uc_model_scores(x, a, &data.X, NULL));
            assert_ok(uc_model_scores(y, b, &scaled.X, NULL));
            for (size_t i = 0; i < ROWS * 4; i++)
                assert_near(x[i], y[i], 1e-12 * (1.0 + fabs(x[i])));
            uc_model_free(a);
            uc_model_free(b);
            uc_preprocessing_free(&preprocessing);
            uc_dataset_free(&data);
            uc_dataset_free(&scaled);
        }
}

/* --bias B is one more column that is B everywhere. */
static void a_bias_is_a_constant_column(void **state)
{
    (void)state;
    uc_train_settings train = two_passes();
    for (size_t v = 0; v < VARIANTS; v++) {
        uc_dataset data = sample_data(ROWS, COLS, 4, false, 6),
                   wide = sample_data(ROWS, COLS + 1, 4, false, 6);
        for (size_t i = 0; i < ROWS; i++) {
            wide.y[i] = data.y[i];
            for (size_t j = 0; j < COLS; j++)
                wide.X.values[i * wide.X.stride + j] = data.X.values[i * data.X.stride + j];
            wide.X.values[i * wide.X.stride + COLS] = 0.75f;
        }
        train.bias = 0.75;
        uc_model *a = learn(&variants[v], &data, &train);
        train.bias = 0.0;
        uc_model *b = learn(&variants[v], &wide, &train);
        for (size_t k = 0; k < 4; k++) {
            for (size_t j = 0; j < COLS; j++)
                assert_near(uc_model_weight(a, j, k), uc_model_weight(b, j, k), 1e-10 * largest_weight(a));
            assert_near(uc_model_offset(a, k), 0.75 * uc_model_weight(b, COLS, k), 1e-10 * largest_weight(a));
        }
        uc_model_free(a);
        uc_model_free(b);
        uc_dataset_free(&data);
        uc_dataset_free(&wide);
    }
}

static void columns_of_zeros_change_nothing(void **state)
{
    (void)state;
    const uc_train_settings train = two_passes();
    for (size_t v = 0; v < VARIANTS; v++) {
        uc_dataset data = sample_data(ROWS, COLS, 4, true, 7), wide = sample_data(ROWS, COLS, 4, true, 7);
        wide.X.cols = 1000;
        uc_model *a = learn(&variants[v], &data, &train), *b = learn(&variants[v], &wide, &train);
        assert_memory_equal(a->weights, b->weights, (COLS + 1) * a->stride * sizeof(double));
        for (size_t i = (COLS + 1) * a->stride; i < 1001 * a->stride; i++)
            assert_true(b->weights[i] == 0.0);
        uc_model_free(a);
        uc_model_free(b);
        uc_dataset_free(&data);
        uc_dataset_free(&wide);
    }
}

static void sparse_and_dense_data_give_the_same_model(void **state)
{
    (void)state;
    uc_train_settings train = two_passes();
    for (size_t v = 0; v < VARIANTS; v++) {
        uc_dataset dense = sample_data(ROWS, COLS, 4, false, 8), sparse = sample_data(ROWS, COLS, 4, true, 8);
        train.scale = UC_SCALE_MAXABS;
        train.bias = 1.0;
        uc_model *a = learn(&variants[v], &dense, &train), *b = learn(&variants[v], &sparse, &train);
        for (size_t i = 0; i < (COLS + 1) * a->stride; i++)
            assert_near(a->weights[i], b->weights[i], 1e-10 * largest_weight(a));
        uint32_t x[ROWS], y[ROWS];
        assert_ok(uc_model_predict(x, a, &dense.X, NULL));
        assert_ok(uc_model_predict(y, a, &sparse.X, NULL)); /* and one model answers both alike */
        assert_memory_equal(x, y, sizeof x);
        uc_model_free(a);
        uc_model_free(b);
        uc_dataset_free(&dense);
        uc_dataset_free(&sparse);
    }
}

/* The weights of all classes sum to zero after every multiclass step of these learners. */
static void weights_sum_to_zero_over_the_classes(void **state)
{
    (void)state;
    uc_train_settings train = two_passes();
    train.bias = 1.0;
    for (size_t v = 0; v < VARIANTS; v++) {
        uc_dataset data = sample_data(ROWS, COLS, 5, false, 9);
        uc_model *model = learn(&variants[v], &data, &train);
        for (size_t j = 0; j <= COLS; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < 5; k++)
                sum += model->weights[j * model->stride + k];
            assert_near(sum, 0.0, 1e-11 * largest_weight(model));
        }
        uc_model_free(model);
        uc_dataset_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renaming_classes_renames_the_answers),
        cmocka_unit_test(permuting_columns_permutes_the_weights),
        cmocka_unit_test(other_units_change_no_prediction),
        cmocka_unit_test(the_length_of_a_row_does_not_matter_when_rows_get_unit_length),
        cmocka_unit_test(units_and_origins_of_columns_do_not_matter_when_they_are_scaled),
        cmocka_unit_test(scaling_inside_is_scaling_outside),
        cmocka_unit_test(a_bias_is_a_constant_column),
        cmocka_unit_test(columns_of_zeros_change_nothing),
        cmocka_unit_test(sparse_and_dense_data_give_the_same_model),
        cmocka_unit_test(weights_sum_to_zero_over_the_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
