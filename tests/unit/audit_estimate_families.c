/* The noise matrix by maximum likelihood: found again where it is known, next to symmetric noise where
 * classes overlap. */
#include <math.h>
#include <stdlib.h>

#include "tests/sample.h"

#define K 3
#define M_PI_2_3 2.0943951023931953

static const char *const names[K] = {"a", "b", "c"};
/* Columns are the true class. */
static const double none[K * K] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static const double pairs[K * K] = {0.7, 0, 0.3, 0.3, 0.7, 0, 0, 0.3, 0.7};
static const double even[K * K] = {0.7, 0.15, 0.15, 0.15, 0.7, 0.15, 0.15, 0.15, 0.7};

/* Gaussians around the corners of a triangle, `distance` from its middle. */
static uc_dataset gaussians(size_t rows, double distance, const double *matrix, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 18);
    uc_dataset data = {.classes = sample_names(names, K)};
    assert_ok(uc_matrix_create_dense(&data.X, rows, 2));
    data.y = uc_alloc(rows, sizeof *data.y);
    assert_non_null(data.y);
    for (size_t i = 0; i < rows; i++) {
        const size_t q = i % K;
        const double column[K] = {matrix[q], matrix[K + q], matrix[2 * K + q]};
        data.X.values[i * data.X.stride] =
            (float)(distance * cos(M_PI_2_3 * (double)q) + uc_rng_normal(&rng));
        data.X.values[i * data.X.stride + 1] =
            (float)(distance * sin(M_PI_2_3 * (double)q) + uc_rng_normal(&rng));
        data.y[i] = (uint32_t)uc_rng_weighted(&rng, column, K);
    }
    return data;
}

static uc_noise_estimate_settings settings_of(int estimator, uint64_t bootstrap)
{
    uc_noise_estimate_settings settings = uc_noise_estimate_defaults();
    settings.estimator = estimator;
    settings.bootstrap = bootstrap;
    return settings;
}

/* Linear on standardised columns: no search for a view. */
static uc_train_settings plain_view(void)
{
    uc_train_settings train = uc_train_defaults();
    train.scale = UC_SCALE_STANDARD;
    train.map.map = UC_MAP_NONE;
    return train;
}

static double largest_difference(const double *a, const double *b)
{
    double most = 0.0;
    for (size_t i = 0; i < K * K; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void a_matrix_is_found_again(void **state)
{
    (void)state;
    const double *const matrices[] = {none, pairs, even};
    for (int i = 0; i < 3; i++) {
        uc_dataset data = gaussians(900, 3.0, matrices[i], 5 + (uint64_t)i);
        const uc_noise_estimate_settings settings = settings_of(UC_NOISE_FULL, 20);
        const uc_train_settings train = plain_view();
        uc_noise_estimate found;
        assert_ok(uc_noise_from_data(&found, &data, &settings, &train, NULL));
        assert_true(largest_difference(found.noise.values, matrices[i]) < 0.08);
        for (size_t e = 0; e < K * K; e++)
            assert_true(0.0 <= found.low[e] && found.low[e] <= found.noise.values[e] &&
                        found.noise.values[e] <= found.high[e] && found.high[e] <= 1.0);
        for (size_t q = 0; q < K; q++)
            assert_near(found.noise.values[q] + found.noise.values[K + q] + found.noise.values[2 * K + q],
                        1.0, 1e-9);
        assert_near(found.families.wrong_full, i == 0 ? 0.0 : 0.3, 0.05);
        assert_non_null(found.families.chosen);
        uc_noise_estimate_free(&found);
        uc_dataset_free(&data);
    }
}

/* The view of the columns is chosen by itself here. */
static void symmetric_noise_has_one_rate(void **state)
{
    (void)state;
    const uc_noise_estimate_settings settings = settings_of(UC_NOISE_SYMMETRIC, 0);
    uc_noise_estimate found;
    uc_dataset data = gaussians(300, 3.0, even, 2);
    assert_ok(uc_noise_from_data(&found, &data, &settings, NULL, NULL));
    assert_true(largest_difference(found.noise.values, even) < 0.06);
    for (size_t e = 0; e < K * K; e++)
        if (e % (K + 1) != 0)
            assert_near(found.noise.values[e], found.noise.values[1], 1e-12);
    assert_near(found.families.wrong_symmetric, 0.3, 0.06);
    assert_true(isfinite(found.families.gain) && found.families.gain_deviation > 0.0);
    assert_true(isfinite(found.families.symmetric_gain) && found.families.symmetric_gain_deviation > 0.0);
    uc_noise_estimate_free(&found);
    uc_dataset_free(&data);
}

static void count_warnings(const char *text, void *user)
{
    if (strstr(text, "overlap may explain"))
        ++*(int *)user;
}

/* Two of three classes are nearly on top of each other, and all labels are right: the full matrix takes that
 * for noise, symmetric noise does not. */
static void overlap_gets_a_warning(void **state)
{
    (void)state;
    int warnings = 0;
    const uc_context context = {.warn = count_warnings, .user = &warnings};
    const uc_noise_estimate_settings settings = settings_of(UC_NOISE_FULL, 0);
    const uc_train_settings train = plain_view();
    uc_dataset data = gaussians(900, 4.0, none, 3);
    const float move[2] = {(float)(3.6 * (1.0 - cos(M_PI_2_3))), (float)(-3.6 * sin(M_PI_2_3))};
    for (size_t i = 1; i < 900; i += 3) /* class b goes nine tenths of the way to class a */
        for (size_t j = 0; j < 2; j++)
            data.X.values[i * data.X.stride + j] += move[j];
    uc_noise_estimate found;
    assert_ok(uc_noise_from_data(&found, &data, &settings, &train, &context));
    assert_true(found.families.wrong_symmetric < 0.02);
    assert_true(found.families.wrong_full > 0.05);
    assert_int_equal(warnings, 1);
    uc_noise_estimate_free(&found);
    uc_dataset_free(&data);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    uc_dataset data = gaussians(300, 2.0, even, 6);
    const uc_noise_estimate_settings settings = settings_of(UC_NOISE_FULL, 8);
    const uc_context one = {.threads = 1}, many = {.threads = 5};
    const uc_train_settings train = plain_view();
    uc_noise_estimate first, second;
    assert_ok(uc_noise_from_data(&first, &data, &settings, &train, &one));
    assert_ok(uc_noise_from_data(&second, &data, &settings, &train, &many));
    assert_memory_equal(first.noise.values, second.noise.values, sizeof none);
    assert_memory_equal(first.low, second.low, sizeof none);
    assert_memory_equal(first.high, second.high, sizeof none);
    uc_noise_estimate_free(&first);
    uc_noise_estimate_free(&second);
    uc_dataset_free(&data);
}

static void weights_repeat_rows(void **state)
{
    (void)state;
    uc_dataset data = gaussians(300, 3.0, pairs, 7);
    const uc_noise_estimate_settings settings = settings_of(UC_NOISE_FULL, 0);
    const uc_train_settings train = plain_view();
    uc_noise_estimate plain, weighted;
    assert_ok(uc_noise_from_data(&plain, &data, &settings, &train, NULL));
    data.weights = uc_alloc(300, sizeof *data.weights);
    for (size_t i = 0; i < 300; i++)
        data.weights[i] = 1.0;
    assert_ok(uc_noise_from_data(&weighted, &data, &settings, &train, NULL));
    assert_true(largest_difference(plain.noise.values, weighted.noise.values) < 1e-6);
    uc_noise_estimate_free(&plain);
    uc_noise_estimate_free(&weighted);
    uc_dataset_free(&data);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = gaussians(24, 3.0, none, 1);
    const uc_train_settings train = plain_view();
    const uc_noise_estimate_settings settings = settings_of(UC_NOISE_SYMMETRIC, 1);
    const uc_context one = {.threads = 1};
    uc_noise_estimate found;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_from_data(&found, &data, &settings, &train, &one));
    uc_noise_estimate_free(&found);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_is_found_again), cmocka_unit_test(symmetric_noise_has_one_rate),
        cmocka_unit_test(overlap_gets_a_warning),  cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(weights_repeat_rows),     cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
