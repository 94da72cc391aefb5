/* kgs, random, jl: orthonormal coordinates of the span of rows. */
#include "tests/map_sample.h"

#define ROWS ((size_t)120)
#define COLS ((size_t)9)

/* Pivoted Cholesky as in a textbook: the whole matrix, and the residual matrix (Schur complement) updated
 * in place. */
static void textbook_pivots(size_t *pivots, double *K, size_t n, size_t steps)
{
    for (size_t s = 0; s < steps; s++) {
        size_t p = 0;
        for (size_t i = 1; i < n; i++)
            if (K[i * n + i] > K[p * n + p])
                p = i;
        pivots[s] = p;
        double *column = uc_alloc(n, sizeof *column);
        const double root = sqrt(K[p * n + p]);
        for (size_t i = 0; i < n; i++)
            column[i] = K[i * n + p] / root;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                K[i * n + j] -= column[i] * column[j];
        K[p * n + p] = 0.0;
        uc_free(column);
    }
}

static void kgs_is_the_pivoted_cholesky_factorisation(void **state)
{
    (void)state;
    const size_t D = 25;
    uc_matrix X = sample_rows(ROWS, COLS, 3);
    /* rows of different lengths: a pivot by length comes first for the polynomial kernel */
    for (int kernel = 1; kernel < 3; kernel++) {
        const uc_map_settings settings = map_settings(UC_MAP_KGS, (uc_kernel)kernel, 9.0, D);
        double *K = direct_kernel_matrix(&settings, &X), *residual = direct_kernel_matrix(&settings, &X);
        size_t pivots[25];
        textbook_pivots(pivots, residual, ROWS, D);
        uc_map *map = fitted(&settings, &X);
        uc_matrix rows = mapped(map, &X);
        assert_int_equal(uc_map_landmarks(map), D);
        for (size_t l = 0; l < D; l++)
            assert_memory_equal(map->landmarks.values + l * map->landmarks.stride,
                                X.values + pivots[l] * X.stride, COLS * sizeof(float));
        for (size_t i = 0; i < ROWS; i++) /* G G' = K less the residual */
            for (size_t j = 0; j < ROWS; j++)
                assert_near(mapped_product(&rows, i, j), K[i * ROWS + j] - residual[i * ROWS + j],
                            1e-5 * K[pivots[0] * ROWS + pivots[0]]);
        uc_matrix_free(&rows);
        uc_map_free(map);
        uc_free(residual);
        uc_free(K);
    }
    uc_matrix_free(&X);
}

static void a_full_map_reproduces_the_kernel(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(60, COLS, 4);
    const uc_map_kind kinds[] = {UC_MAP_KGS, UC_MAP_RANDOM};
    for (size_t k = 0; k < 2; k++) {
        const uc_map_settings settings = map_settings(kinds[k], UC_KERNEL_GAUSSIAN, 4.0, 60);
        double *K = direct_kernel_matrix(&settings, &X);
        uc_map *map = fitted(&settings, &X);
        uc_matrix rows = mapped(map, &X);
        for (size_t i = 0; i < 60; i++)
            for (size_t j = 0; j < 60; j++)
                assert_near(mapped_product(&rows, i, j), K[i * 60 + j], 1e-5);
        uc_matrix_free(&rows);
        uc_map_free(map);
        uc_free(K);
    }
    uc_matrix_free(&X);
}

static void the_first_coordinates_of_kgs_are_the_smaller_map(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(ROWS, COLS, 5);
    uc_map_settings settings = map_settings(UC_MAP_KGS, UC_KERNEL_GAUSSIAN, 9.0, 40);
    uc_map *large = fitted(&settings, &X);
    settings.dimension = 13;
    uc_map *small = fitted(&settings, &X);
    assert_int_equal(uc_map_landmarks(small), 13);
    uc_matrix a = mapped(small, &X), b = mapped(large, &X);
    assert_near(largest_difference(&a, &b, 13), 0.0, 1e-6);
    uc_matrix_free(&b);
    uc_matrix_free(&a);
    uc_map_free(small);
    uc_map_free(large);
    uc_matrix_free(&X);
}

/* Of more than 50,000 rows, the map is that of 50,000 of them, in order; a larger one begins with a smaller
 * one. */
static void kgs_looks_among_some_of_very_many_rows(void **state)
{
    (void)state;
    enum { MANY = 52000, CANDIDATES = 50000, D = 12 };
    uc_matrix X = sample_rows(MANY, COLS, 11), candidates;
    uc_map_settings settings = map_settings(UC_MAP_KGS, UC_KERNEL_GAUSSIAN, 4.0, D);
    size_t *rows;
    assert_ok(uc_map_random_rows(&rows, MANY, CANDIDATES, 1));
    bool *chosen = uc_alloc(MANY, sizeof *chosen);
    for (size_t i = 0; i < CANDIDATES; i++)
        chosen[rows[i]] = true;
    for (size_t i = 0, count = 0; i < MANY; i++)
        if (chosen[i])
            rows[count++] = i;
    uc_free(chosen);
    assert_ok(uc_matrix_subset(&candidates, &X, rows, CANDIDATES, NULL));
    uc_map *all = fitted(&settings, &X), *some = fitted(&settings, &candidates);
    settings.dimension = D / 2;
    uc_map *smaller = fitted(&settings, &X);
    const size_t stride = all->landmarks.stride;
    assert_int_equal(uc_map_landmarks(all), D);
    assert_memory_equal(all->landmarks.values, some->landmarks.values, D * stride * sizeof(float));
    assert_memory_equal(all->projection, some->projection, D * D * sizeof(double));
    assert_memory_equal(all->landmarks.values, smaller->landmarks.values, D / 2 * stride * sizeof(float));
    uc_map_free(smaller);
    uc_map_free(some);
    uc_map_free(all);
    uc_free(rows);
    uc_matrix_free(&candidates);
    uc_matrix_free(&X);
}

/* Every second row is the one before it; the linear kernel of 9 columns has rank 9. */
static void dependent_rows_are_passed_over_with_a_warning(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(40, COLS, 6);
    for (size_t i = 1; i < 40; i += 2)
        memcpy(X.values + i * X.stride, X.values + (i - 1) * X.stride, X.stride * sizeof(float));
    const uc_map_kind kinds[] = {UC_MAP_KGS, UC_MAP_RANDOM, UC_MAP_JL};
    for (size_t k = 0; k < 3; k++)
        for (int kernel = 0; kernel < 2; kernel++) {
            const uc_map_settings settings = map_settings(kinds[k], (uc_kernel)kernel, 4.0, 40);
            const size_t rank = kernel == UC_KERNEL_LINEAR ? COLS : 20;
            heard warnings = {0};
            const uc_context context = {.warn = hear, .user = &warnings};
            uc_map *map;
            assert_ok(uc_map_fit(&map, &settings, &X, 1, &context));
            assert_int_equal(uc_map_dimension(map), rank);
            assert_int_equal(warnings.count, 1);
            assert_non_null(strstr(warnings.sentence, "instead of 40: the rows span no more"));
            uc_map_free(map);
        }
    uc_matrix_free(&X);
}

/* Projecting onto the span shortens: |map(x)|^2 <= k(x, x), with equality for the landmarks. */
static void a_random_map_projects_onto_the_span_of_its_landmarks(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(ROWS, COLS, 7);
    const uc_map_settings settings = map_settings(UC_MAP_RANDOM, UC_KERNEL_GAUSSIAN, 9.0, 30);
    uc_map *map = fitted(&settings, &X), *other;
    uc_matrix rows = mapped(map, &X), own = mapped(map, &map->landmarks);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(mapped_product(&rows, i, i) <= 1.0 + 1e-5);
    for (size_t l = 0; l < 30; l++)
        assert_near(mapped_product(&own, l, l), 1.0, 1e-5);
    assert_ok(uc_map_fit(&other, &settings, &X, 2, NULL)); /* another seed, other rows */
    assert_memory_not_equal(map->norm2, other->norm2, 30 * sizeof *map->norm2);
    uc_map_free(other);
    uc_matrix_free(&own);
    uc_matrix_free(&rows);
    uc_map_free(map);
    uc_matrix_free(&X);
}

/* E|map(x)|^2 is the squared length in the larger space, here the whole one; the mean over seeds shows it. */
static void jl_keeps_squared_distances_on_average(void **state)
{
    (void)state;
    const size_t n = 60, D = 15, runs = 200;
    uc_matrix X = sample_rows(n, COLS, 8);
    const uc_map_settings settings = map_settings(UC_MAP_JL, UC_KERNEL_GAUSSIAN, 4.0, D);
    const double k01 = direct_kernel(&settings, uc_matrix_row(&X, 0), uc_matrix_row(&X, 1), COLS);
    double sum = 0.0;
    for (uint64_t seed = 1; seed <= runs; seed++) {
        uc_map *map;
        assert_ok(uc_map_fit(&map, &settings, &X, seed, NULL));
        assert_int_equal(uc_map_landmarks(map), n);
        uc_matrix rows = mapped(map, &X);
        sum += mapped_product(&rows, 0, 0) + mapped_product(&rows, 1, 1) - 2.0 * mapped_product(&rows, 0, 1);
        uc_matrix_free(&rows);
        uc_map_free(map);
    }
    /* chi-square of D degrees: relative deviation sqrt(2/D) of one run */
    assert_near_relative(sum / (double)runs, 2.0 - 2.0 * k01, 4.0 * sqrt(2.0 / (double)D / (double)runs));
    uc_matrix_free(&X);
}

static uc_status fit_once(uc_map_kind kind, const uc_matrix *X)
{
    const uc_map_settings settings = map_settings(kind, UC_KERNEL_GAUSSIAN, 4.0, 10);
    const uc_context one = {.threads = 1};
    uc_map *map;
    const uc_status status = uc_map_fit(&map, &settings, X, 1, &one);
    if (status == UC_OK)
        uc_map_free(map);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(50, COLS, 9), sparse = sparse_copy(&X);
    uc_status status;
    const uc_map_kind kinds[] = {UC_MAP_KGS, UC_MAP_RANDOM, UC_MAP_JL};
    for (size_t k = 0; k < 3; k++) {
        FOR_EACH_FAILING_ALLOCATION(status, fit_once(kinds[k], &X));
        FOR_EACH_FAILING_ALLOCATION(status, fit_once(kinds[k], &sparse));
    }
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

static void more_memory_than_allowed_is_refused_with_the_figure(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(ROWS, COLS, 10);
    uc_map_settings settings = map_settings(UC_MAP_KGS, UC_KERNEL_GAUSSIAN, 4.0, 100);
    const uc_context tight = {.memory = 50000};
    uc_map *map;
    assert_error(uc_map_fit(&map, &settings, &X, 1, &tight), UC_ERR_NOMEM,
                 "kernel Gram-Schmidt needs 0.2 MB of memory, more than the limit of 0.1 MB ({memory})");
    settings.map = UC_MAP_RANDOM;
    assert_error_has(uc_map_fit(&map, &settings, &X, 1, &tight), UC_ERR_NOMEM, "a random projection needs");
    uc_matrix_free(&X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kgs_is_the_pivoted_cholesky_factorisation),
        cmocka_unit_test(a_full_map_reproduces_the_kernel),
        cmocka_unit_test(the_first_coordinates_of_kgs_are_the_smaller_map),
        cmocka_unit_test(kgs_looks_among_some_of_very_many_rows),
        cmocka_unit_test(dependent_rows_are_passed_over_with_a_warning),
        cmocka_unit_test(a_random_map_projects_onto_the_span_of_its_landmarks),
        cmocka_unit_test(jl_keeps_squared_distances_on_average),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(more_memory_than_allowed_is_refused_with_the_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
