/* The change of variables: the same objective, its gradient, the same minimum, and columns of any size. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "learn/conditioning.h"
#include "learn/logistic.h"
#include "learn/minimise.h"
#include "learn/svm/svm.h"
#include "linalg/linalg.h"

enum { N = 120, D = 5 };

/* Columns from 1/100 to 100 times as large as before, and far from 0 by up to ten times their size. Sparse
 * rows get no shift, which would fill them. */
static uc_dataset uneven_data(size_t classes, bool sparse, uint64_t seed, double most)
{
    uc_dataset data = sample_data(N, D, classes, sparse, seed);
    for (size_t i = 0; i < N; i++) {
        const uc_row row = uc_matrix_row(&data.X, i);
        for (size_t k = 0; k < row.count; k++) {
            const size_t j = row.columns ? row.columns[k] : k;
            const double size = pow(most, (double)j / 2 - 1), shift = sparse ? 0 : 2.5 * (double)j;
            ((float *)row.values)[k] = (float)(size * ((double)row.values[k] + shift));
        }
    }
    return data;
}

static uc_svm sloppy(const uc_dataset *data, bool free_offset)
{
    return (uc_svm){.data = data,
                    .positive = 1,
                    .cost = 10,
                    .smoothing = 0.5,
                    .rate = {0.1, 0.2},
                    .weight = {1, 1},
                    .free_offset = free_offset};
}

static uc_status svm_objective(double *value, double *gradient, const double *point, void *user)
{
    return uc_svm_gradient(value, gradient, point, user, NULL);
}

static uc_status logistic_objective(double *value, double *gradient, const double *point, void *user)
{
    return uc_logistic_gradient(value, gradient, point, user, NULL);
}

/* The objective at variables u, and its gradient there, by the chain rule. */
static double in_variables(double *gradient, const uc_conditioning *change, uc_objective_fn *objective,
                           void *user, const double *u, size_t count)
{
    double value, *w = calloc(count, sizeof *w);
    uc_conditioning_leave(w, change, u);
    assert_ok(objective(&value, gradient, w, user));
    uc_conditioning_turn(gradient, change);
    free(w);
    return value;
}

static void check_change(const uc_dataset *data, size_t stride, bool free_offset, bool whitened,
                         uc_objective_fn *objective, void *user)
{
    const size_t count = (D + 1) * stride;
    double w[(D + 1) * 4], u[(D + 1) * 4], back[(D + 1) * 4], gradient[(D + 1) * 4], other[(D + 1) * 4];
    uc_conditioning change;
    uc_rng rng = uc_rng_make(5, 5);
    assert_ok(uc_conditioning_fit(&change, &data->X, stride, 1, 2.5, free_offset, NULL));
    if (whitened)
        assert_ok(uc_conditioning_whiten(&change, &data->X, 1, 2.5, NULL));
    assert_true((change.root != NULL) == whitened);
    assert_true((change.centre != NULL) ==
                free_offset); /* half of the values are not 0, however they are stored */
    for (size_t i = 0; i < count; i++)
        u[i] = 0.3 * uc_rng_normal(&rng) * (free_offset || i >= stride);
    uc_conditioning_leave(w, &change, u);
    uc_conditioning_enter(back, &change, w);
    for (size_t i = 0; i < count; i++)
        assert_near(back[i], u[i], 1e-12 * (1 + fabs(u[i])));
    double value;
    assert_ok(objective(&value, other, w, user));
    assert_near(in_variables(gradient, &change, objective, user, u, count), value, 1e-12 * (1 + fabs(value)));
    const double step = 1e-6;
    for (size_t i = free_offset ? 0 : stride; i < count; i++) {
        memcpy(back, u, sizeof back);
        back[i] = u[i] + step;
        const double above = in_variables(other, &change, objective, user, back, count);
        back[i] = u[i] - step;
        const double below = in_variables(other, &change, objective, user, back, count);
        assert_near(gradient[i], (above - below) / (2 * step), 1e-5 * (1 + fabs(gradient[i])));
    }
    uc_conditioning_free(&change);
}

static void the_objective_is_the_same_and_the_gradient_is_that_in_the_variables(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++)
        for (int offset = 0; offset < 2; offset++) {
            uc_dataset two = uneven_data(2, sparse, 3, 10), three = uneven_data(3, sparse, 4, 10);
            uc_svm svm = sloppy(&two, offset);
            uc_logistic_problem logistic = {
                .data = &three, .K = 3, .S = 4, .l2 = 0.01, .free_offset = offset};
            for (int whitened = 0; whitened < 2; whitened++) {
                check_change(&two, 1, offset, whitened, svm_objective, &svm);
                check_change(&three, 4, offset, whitened, logistic_objective, &logistic);
            }
            uc_dataset_free(&two);
            uc_dataset_free(&three);
        }
}

/* At the start the second derivative of logistic regression in whitened variables is about the identity, in
 * all directions alike, however columns depend on each other. */
static void whitened_columns_have_equal_curvature(void **state)
{
    (void)state;
    uc_dataset data = uneven_data(2, false, 7, 10);
    for (size_t i = 0; i < N; i++) { /* two columns that are nearly the same */
        float *x = data.X.values + i * data.X.stride;
        x[1] = 3 * x[0] + 0.001f * x[1];
    }
    double probabilities[N], value, w[D + 1] = {0}, u[D + 1], product[D + 1];
    const uc_logistic_problem problem = {.data = &data,
                                         .K = 2,
                                         .S = 1,
                                         .correction = UC_CORRECTION_NONE,
                                         .l2 = 2e-4, /* half of it, of the difference of two classes */
                                         .free_offset = true,
                                         .probabilities = probabilities};
    uc_conditioning change;
    assert_ok(uc_conditioning_fit(&change, &data.X, 1, 1e-4, 0.25, true, NULL));
    assert_ok(uc_conditioning_whiten(&change, &data.X, 1e-4, 0.25, NULL));
    assert_ok(uc_logistic_gradient(&value, product, w, &problem, NULL));
    uc_rng rng = uc_rng_make(3, 3);
    for (int direction = 0; direction < 50; direction++) {
        double square = 0, along = 0;
        for (size_t j = 0; j <= D; j++)
            u[j] = uc_rng_normal(&rng);
        uc_conditioning_leave(w, &change, u);
        assert_ok(uc_logistic_product(product, &value, w, &problem, NULL));
        uc_conditioning_turn(product, &change);
        for (size_t j = 0; j <= D; j++) {
            square += u[j] * u[j];
            along += u[j] * product[j];
        }
        assert_near(along / square, 1, 1e-3);
    }
    uc_conditioning_free(&change);
    uc_dataset_free(&data);
}

static uc_status spreads(double *out, size_t first, size_t every, size_t count, void *user)
{
    const double *probabilities = user;
    for (size_t i = 0; i < count; i++) {
        const double p = probabilities[first + i * every];
        out[i] = p * (1 - p);
    }
    return UC_OK;
}

/* Far from the start it is a multiple of the identity: that by which the mean of the rows' second derivatives
 * has changed. */
static void columns_whitened_again_have_equal_curvature_there(void **state)
{
    (void)state;
    uc_dataset data = uneven_data(2, false, 7, 1);
    double probabilities[N], value, mean = 0, w[D + 1], u[D + 1], product[D + 1];
    const uc_logistic_problem problem = {.data = &data,
                                         .K = 2,
                                         .S = 1,
                                         .correction = UC_CORRECTION_NONE,
                                         .l2 = 2e-4,
                                         .free_offset = true,
                                         .probabilities = probabilities};
    uc_conditioning change;
    uc_rng rng = uc_rng_make(3, 4);
    assert_ok(uc_blas_begin(1));
    assert_ok(uc_conditioning_fit(&change, &data.X, 1, 1e-4, 0.25, true, NULL));
    assert_ok(uc_conditioning_whiten(&change, &data.X, 1e-4, 0.25, NULL));
    for (size_t j = 0; j <= D; j++)
        u[j] = 2 * uc_rng_normal(&rng);
    uc_conditioning_leave(w, &change, u);
    assert_ok(uc_logistic_gradient(&value, product, w, &problem, NULL));
    for (size_t i = 0; i < N; i++)
        mean += probabilities[i] * (1 - probabilities[i]) / N;
    assert_true(mean < 0.1);
    assert_ok(uc_conditioning_whiten_again(&change, &data.X, 1e-4, 0.25, spreads, probabilities, NULL));
    for (int direction = 0; direction < 50; direction++) {
        double square = 0, along = 0;
        for (size_t j = 0; j <= D; j++)
            u[j] = uc_rng_normal(&rng);
        uc_conditioning_leave(w, &change, u);
        assert_ok(uc_logistic_product(product, &value, w, &problem, NULL));
        uc_conditioning_turn(product, &change);
        for (size_t j = 0; j <= D; j++) {
            square += u[j] * u[j];
            along += u[j] * product[j];
        }
        assert_near_relative(along / square, mean / 0.25, 1e-3);
    }
    uc_conditioning_free(&change);
    uc_dataset_free(&data);
}

/* LL' of the change without offsets is the second derivative at the start, added up row by row; columns are
 * far from 0. */
static void without_offsets_the_root_is_that_of_rows_that_are_not_centred(void **state)
{
    (void)state;
    enum { MANY = 600 };
    const double penalty = 0.5, curvature = 0.25;
    uc_dataset data = sample_data(MANY, D, 2, false, 9);
    uc_conditioning change, fixed;
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = 0; j < D; j++)
            data.X.values[i * data.X.stride + j] += (float)(3 * j);
    assert_ok(uc_blas_begin(1));
    assert_ok(uc_conditioning_fit(&change, &data.X, 1, penalty, curvature, true, NULL));
    assert_ok(uc_conditioning_whiten(&change, &data.X, penalty, curvature, NULL));
    assert_non_null(change.root);
    assert_ok(uc_conditioning_fix_offset(&fixed, &change, curvature));
    assert_null(fixed.centre);
    for (size_t a = 0; a < D; a++)
        for (size_t b = 0; b < D; b++) {
            double wanted = a == b ? penalty / (fixed.scale[a + 1] * fixed.scale[a + 1]) : 0, found = 0;
            for (size_t i = 0; i < MANY; i++) {
                const float *x = data.X.values + i * data.X.stride;
                wanted += curvature / MANY * x[a] / fixed.scale[a + 1] * x[b] / fixed.scale[b + 1];
            }
            for (size_t j = 0; j < D; j++)
                found += fixed.root[a * D + j] * fixed.root[b * D + j];
            assert_near(found, wanted, 1e-6 * (1 + fabs(wanted)));
        }
    uc_conditioning_free(&fixed);
    uc_conditioning_free(&change);
    uc_dataset_free(&data);
}

static void scales_are_mean_deviations(void **state)
{
    (void)state;
    uc_dataset data = uneven_data(2, false, 7, 10);
    uc_conditioning change;
    assert_ok(uc_conditioning_fit(&change, &data.X, 1, 0, 4, true, NULL));
    for (size_t j = 0; j < D; j++) {
        double mean = 0, deviation = 0;
        for (size_t i = 0; i < N; i++)
            mean += (double)data.X.values[i * data.X.stride + j] / N;
        for (size_t i = 0; i < N; i++)
            deviation += fabs((double)data.X.values[i * data.X.stride + j] - mean) / N;
        assert_near(change.centre[j], mean, 1e-9 * fabs(mean));
        assert_near(change.scale[j + 1] / deviation, 2, 1e-6); /* the root of the curvature */
    }
    uc_conditioning_free(&change);
    uc_dataset_free(&data);
}

/* Of data of which half is 0, and of data of which nearly all is. */
static void how_rows_are_stored_does_not_matter(void **state)
{
    (void)state;
    for (size_t wide = 0; wide < 2; wide++) {
        uc_dataset sparse = sample_data(N, D, 2, true, 7);
        sparse.X.cols += wide * 100 * D; /* empty columns */
        uc_dataset dense = {0};
        assert_ok(uc_dataset_subset(&dense, &sparse, NULL, 0, NULL));
        assert_ok(uc_matrix_densify(&dense.X));
        uc_conditioning one, other;
        assert_ok(uc_conditioning_fit(&one, &sparse.X, 1, 1, 2.5, true, NULL));
        assert_ok(uc_conditioning_fit(&other, &dense.X, 1, 1, 2.5, true, NULL));
        assert_true((one.centre != NULL) == !wide && (other.centre != NULL) == !wide);
        for (size_t j = 0; j <= sparse.X.cols; j++)
            assert_near_relative(one.scale[j], other.scale[j], 1e-12);
        for (size_t j = 0; j < sparse.X.cols && one.centre; j++)
            assert_near(one.centre[j], other.centre[j], 1e-12);
        uc_conditioning_free(&one);
        uc_conditioning_free(&other);
        uc_dataset_free(&dense);
        uc_dataset_free(&sparse);
    }
}

/* The slow solver is L-BFGS in the weights themselves, with all the steps that it wants. */
static void the_minimum_is_that_of_a_slow_search(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++)
        for (int offset = 0; offset < 2; offset++) {
            uc_dataset data = uneven_data(2, sparse, 3, 4);
            uc_svm svm = sloppy(&data, offset);
            svm.loss = UC_SVM_WEIGHTED; /* one minimum only */
            uc_conditioning change;
            uc_minimum slow, fast;
            double there[D + 1] = {0}, here[D + 1] = {0};
            assert_ok(uc_conditioning_fit(&change, &data.X, 1, 1, 2.5, offset, NULL));
            assert_ok(uc_minimise(&slow, there, D + 1, svm_objective, &svm, NULL, 100000, 1e-9, NULL));
            assert_ok(uc_minimise(&fast, here, D + 1, svm_objective, &svm, &change, 1000, 1e-7, NULL));
            assert_near(fast.value, slow.value, 1e-9 * slow.value);
            for (size_t j = 0; j <= D; j++)
                assert_near(here[j], there[j], 1e-4 * (1 + fabs(there[j])));
            assert_true(fast.iterations < slow.iterations);
            uc_conditioning_free(&change);
            uc_dataset_free(&data);
        }
}

static void hear(const char *sentence, void *user)
{
    (void)sentence;
    ++*(size_t *)user;
}

/* Sizes from 1e-4 to 1e4, as in a table whose columns have different units. */
static void columns_of_all_sizes_converge(void **state)
{
    (void)state;
    static const char *const learners[] = {"csvm", "sloppy-svm", "logistic", "s3vm"};
    uc_noise noise;
    assert_ok(uc_noise_binary(&noise, 0.05, 0.1));
    for (int sparse = 0; sparse < 2; sparse++)
        for (size_t k = 0; k < sizeof learners / sizeof *learners; k++) {
            uc_dataset data = uneven_data(2, sparse, 9, 1e4);
            size_t warnings = 0;
            const uc_context context = {.warn = hear, .user = &warnings};
            uc_train_settings common = uc_train_defaults();
            common.noise = k == 1 ? &noise : NULL;
            uc_model *model = NULL;
            assert_ok(uc_train(&model, uc_learner_find(learners[k]), NULL, &common, &data, &context));
            assert_int_equal(warnings, 0);
            assert_true(json_integer_value(json_object_get(model->summary, "iterations")) < 800);
            uc_model_free(model);
            uc_dataset_free(&data);
        }
    uc_noise_free(&noise);
}

static void a_constant_column_and_an_empty_one_do_no_harm(void **state)
{
    (void)state;
    uc_dataset data = sample_data(N, D, 2, false, 3);
    for (size_t i = 0; i < N; i++) {
        data.X.values[i * data.X.stride] = 1e6f;
        data.X.values[i * data.X.stride + 1] = 0;
    }
    for (int offset = 0; offset < 2; offset++) {
        uc_conditioning change;
        assert_ok(uc_conditioning_fit(&change, &data.X, 1, 0, 1, offset, NULL));
        for (size_t j = 0; j <= D; j++)
            assert_true(isfinite(change.scale[j]) && change.scale[j] > 0);
        uc_conditioning_free(&change);
    }
    uc_dataset_free(&data);
}

static uc_status fit_status(uc_conditioning *change, const uc_dataset *data)
{
    const uc_context alone = {.threads = 1};
    const uc_status status = uc_conditioning_fit(change, &data->X, 1, 1, 1, true, &alone);
    if (status != UC_OK)
        uc_conditioning_free(change);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = sample_data(N, D, 2, sparse, 3);
        uc_conditioning change = {0};
        uc_status status;
        FOR_EACH_FAILING_ALLOCATION(status, fit_status(&change, &data));
        uc_conditioning_free(&change);
        uc_dataset_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_objective_is_the_same_and_the_gradient_is_that_in_the_variables),
        cmocka_unit_test(whitened_columns_have_equal_curvature),
        cmocka_unit_test(columns_whitened_again_have_equal_curvature_there),
        cmocka_unit_test(without_offsets_the_root_is_that_of_rows_that_are_not_centred),
        cmocka_unit_test(scales_are_mean_deviations),
        cmocka_unit_test(how_rows_are_stored_does_not_matter),
        cmocka_unit_test(the_minimum_is_that_of_a_slow_search),
        cmocka_unit_test(columns_of_all_sizes_converge),
        cmocka_unit_test(a_constant_column_and_an_empty_one_do_no_harm),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
