/* L-BFGS with its line searches: the minima that they find, and the messages if they find none. */
#include "tests/sample.h"

#include <math.h>

#include "learn/minimise.h"
#include "learn/svm/svm.h"

static uc_status svm_objective(double *value, double *gradient, const double *point, void *user)
{
    return uc_svm_gradient(value, gradient, point, user, NULL);
}

/* Rows of small integers, of which there are few different ones: most of the sloppy loss is piecewise
 * linear, and some of it is concave. */
static uc_dataset counted_rows(uint64_t seed, const double *eta)
{
    uc_dataset data = sample_data(150, 6, 2, false, seed);
    uc_rng rng = uc_rng_make(seed, 21);
    for (size_t i = 0; i < data.X.rows; i++) {
        float *x = data.X.values + i * data.X.stride;
        for (size_t j = 0; j < 6; j++)
            x[j] = (float)(1 + (uc_rng_uniform(&rng) < 0.3) + (uc_rng_uniform(&rng) < 0.2));
        const int truth = x[0] + x[1] - x[2] + 0.5 * uc_rng_normal(&rng) > 1.4;
        data.y[i] = (uint32_t)(uc_rng_uniform(&rng) < eta[truth] ? 1 - truth : truth);
    }
    return data;
}

static void minimise_on_counted_rows(uc_minimum *found, uint64_t seed, double cost)
{
    static const double eta[2] = {0.2, 0.4};
    uc_dataset data = counted_rows(seed, eta);
    const uc_svm svm = {.data = &data,
                        .positive = 1,
                        .cost = cost,
                        .smoothing = 0.5,
                        .rate = {eta[0], eta[1]},
                        .weight = {1, 1},
                        .free_offset = true};
    double point[7] = {0};
    assert_ok(uc_minimise(found, point, 7, svm_objective, (void *)&svm, NULL, 1000, 1e-5, NULL));
    uc_dataset_free(&data);
}

/* At larger costs rounding is the limit: a value of 545 is known to 1e-13, which hides gradients of 1e-5,
 * the tolerance. The line search of More and Thuente alone gives up in 3 of 100 at cost 1000, and in 20 at
 * 10000, with gradients 1e5 times as long as they should be; in seed 19 at 100 without a single step. */
static void a_sloppy_loss_on_few_different_rows_is_minimised(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uc_minimum found;
        minimise_on_counted_rows(&found, seed, 100);
        assert_true(found.excess <= 1 && found.iterations > 0);
        minimise_on_counted_rows(&found, seed, 1000);
        assert_true(found.excess <= 2);
        minimise_on_counted_rows(&found, seed, 10000);
        assert_true(found.excess <= 20 && !found.stuck);
    }
}

/* |x|^2 with a gradient that points the wrong way. */
static uc_status misleading(double *value, double *gradient, const double *x, void *user)
{
    (void)user;
    *value = x[0] * x[0] + x[1] * x[1];
    gradient[0] = -2 * x[0];
    gradient[1] = -2 * x[1];
    return UC_OK;
}

static void hear(const char *sentence, void *user)
{
    snprintf(user, 256, "%s", sentence);
}

static void where_no_step_helps_the_best_point_is_returned_and_how_far_it_is(void **state)
{
    (void)state;
    double x[2] = {3, 4};
    uc_minimum found;
    assert_ok(uc_minimise(&found, x, 2, misleading, NULL, NULL, 1000, 0.01, NULL));
    assert_true(x[0] == 3 && x[1] == 4);
    assert_true(found.stuck);
    assert_near(found.value, 25, 0);
    assert_near(found.excess, 10 / (0.01 * 5), 1e-9); /* gradient 10, weights 5 */
    char heard[256] = "";
    const uc_context context = {.warn = hear, .user = heard};
    uc_minimum_warn(&found, "the machine", 1000, UC_ADVISE_NOTHING, &context);
    assert_string_equal(heard, "the machine stopped where no step makes its loss smaller: the gradient is "
                               "2e+02 times the tolerance");
}

/* x^2 - log(1 - x), no number from 1 on, with a minimum of its own at (1 - sqrt(3)) / 2. */
static uc_status with_an_end(double *value, double *gradient, const double *x, void *user)
{
    (void)user;
    *value = 100 * (x[0] * x[0] - log(1 - x[0])); /* NaN beyond 1 */
    gradient[0] = 100 * (2 * x[0] + 1 / (1 - x[0]));
    return UC_OK;
}

static void a_step_beyond_all_numbers_is_taken_back(void **state)
{
    (void)state;
    for (double start = -1000; start < 1; start += 0.97) {
        double x = start;
        uc_minimum found;
        assert_ok(uc_minimise(&found, &x, 1, with_an_end, NULL, NULL, 1000, 1e-7, NULL));
        assert_near(x, (1 - sqrt(3)) / 2, 1e-6);
        assert_false(found.stuck);
    }
}

/* A narrow curved valley, in which many steps are needed. */
static uc_status valley(double *value, double *gradient, const double *x, void *user)
{
    (void)user;
    const double across = x[1] - x[0] * x[0], along = 1 - x[0];
    *value = 100 * across * across + along * along;
    gradient[0] = -400 * across * x[0] - 2 * along;
    gradient[1] = 200 * across;
    return UC_OK;
}

static void an_end_by_iterations_is_told_from_convergence(void **state)
{
    (void)state;
    char heard[256] = "";
    const uc_context context = {.warn = hear, .user = heard};
    double x[2] = {-1.2, 1};
    uc_minimum found;
    assert_ok(uc_minimise(&found, x, 2, valley, NULL, NULL, 5, 1e-8, NULL));
    assert_int_equal(found.iterations, 5);
    assert_true(found.excess > 1 && !found.stuck);
    uc_minimum_warn(&found, "valley", 5, UC_ADVISE_ITERATIONS, &context);
    assert_memory_equal(heard, "valley has not converged after 5 iterations: the gradient is ", 61);
    assert_non_null(strstr(heard, " times the tolerance; allow more {iterations}"));
    assert_ok(uc_minimise(&found, x, 2, valley, NULL, NULL, 1000, 1e-8, NULL));
    assert_near(x[0], 1, 1e-6);
    assert_near(x[1], 1, 1e-6);
    assert_true(found.excess <= 1);
    heard[0] = 0;
    uc_minimum_warn(&found, "valley", 1000, UC_ADVISE_NOTHING, &context);
    assert_string_equal(heard, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sloppy_loss_on_few_different_rows_is_minimised),
        cmocka_unit_test(where_no_step_helps_the_best_point_is_returned_and_how_far_it_is),
        cmocka_unit_test(a_step_beyond_all_numbers_is_taken_back),
        cmocka_unit_test(an_end_by_iterations_is_told_from_convergence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
