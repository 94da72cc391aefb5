/* The Nystroem map: uniform and k-means landmarks. */
#include "tests/map_sample.h"

#define ROWS ((size_t)300)
#define COLS ((size_t)5)

/* With all rows as landmarks K^-1/2 K (K^-1/2)' = K^1/2 K^1/2. */
static void all_rows_as_landmarks_reproduce_the_kernel(void **state)
{
    (void)state;
    const size_t n = 50;
    uc_matrix X = sample_rows(n, COLS, 1);
    const uc_map_settings settings = map_settings(UC_MAP_NYSTROEM, UC_KERNEL_GAUSSIAN, 2.0, n);
    double *K = direct_kernel_matrix(&settings, &X);
    uc_map *map = fitted(&settings, &X);
    uc_matrix rows = mapped(map, &X);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            assert_near(mapped_product(&rows, i, j), K[i * n + j], 1e-5);
    uc_matrix_free(&rows);
    uc_map_free(map);
    uc_free(K);
    uc_matrix_free(&X);
}

/* P K P = the identity, and P is symmetric. */
static void the_projection_is_the_inverse_root_of_the_landmarks_kernel(void **state)
{
    (void)state;
    const size_t D = 20;
    uc_matrix X = sample_rows(ROWS, COLS, 2);
    uc_map_settings settings = map_settings(UC_MAP_NYSTROEM, UC_KERNEL_GAUSSIAN, 2.0, D);
    for (settings.pick = 0; settings.pick < 2; settings.pick++) {
        uc_map *map = fitted(&settings, &X);
        double *K = direct_kernel_matrix(&settings, &map->landmarks);
        for (size_t a = 0; a < D; a++)
            for (size_t b = 0; b < D; b++) {
                double sum = 0.0;
                for (size_t i = 0; i < D; i++)
                    for (size_t j = 0; j < D; j++)
                        sum += map->projection[i * D + a] * K[i * D + j] * map->projection[j * D + b];
                assert_near(sum, a == b ? 1.0 : 0.0, 1e-8);
                assert_near(map->projection[a * D + b], map->projection[b * D + a], 1e-9);
            }
        uc_free(K);
        uc_map_free(map);
    }
    uc_matrix_free(&X);
}

/* Rows that occur twice make K singular: the map stays finite and reproduces the kernel of its landmarks. */
static void a_singular_kernel_matrix_is_no_problem(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(40, COLS, 3);
    for (size_t i = 20; i < 40; i++)
        memcpy(X.values + i * X.stride, X.values + (i - 20) * X.stride, X.stride * sizeof(float));
    const uc_map_settings settings = map_settings(UC_MAP_NYSTROEM, UC_KERNEL_GAUSSIAN, 2.0, 40);
    uc_map *map = fitted(&settings, &X);
    uc_matrix rows = mapped(map, &X);
    for (size_t i = 0; i < 40; i++)
        for (size_t j = 0; j < 40; j++)
            assert_near(mapped_product(&rows, i, j),
                        direct_kernel(&settings, uc_matrix_row(&X, i), uc_matrix_row(&X, j), COLS), 1e-4);
    uc_matrix_free(&rows);
    uc_map_free(map);
    uc_matrix_free(&X);
}

/* Three tight groups far apart: three centres are their means. */
static void kmeans_finds_separate_groups(void **state)
{
    (void)state;
    const double centres[3][2] = {{0.0, 0.0}, {10.0, 0.0}, {0.0, 10.0}};
    size_t successes = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uc_matrix X;
        uc_rng rng = uc_rng_make(seed, 300);
        double means[3][2] = {{0}};
        assert_ok(uc_matrix_create_dense(&X, 30, 2));
        for (size_t i = 0; i < 30; i++)
            for (size_t j = 0; j < 2; j++) {
                X.values[i * X.stride + j] = (float)(centres[i % 3][j] + 0.1 * uc_rng_normal(&rng));
                means[i % 3][j] += (double)X.values[i * X.stride + j] / 10.0;
            }
        uc_map_settings settings = map_settings(UC_MAP_NYSTROEM, UC_KERNEL_GAUSSIAN, 5.0, 3);
        settings.pick = 1;
        uc_map *map;
        assert_ok(uc_map_fit(&map, &settings, &X, seed, NULL));
        size_t matched = 0;
        for (size_t c = 0; c < 3; c++)
            for (size_t l = 0; l < 3; l++) {
                const float *landmark = map->landmarks.values + l * map->landmarks.stride;
                matched += fabs((double)landmark[0] - means[c][0]) < 1e-5 &&
                           fabs((double)landmark[1] - means[c][1]) < 1e-5;
            }
        successes += matched == 3;
        uc_map_free(map);
        uc_matrix_free(&X);
    }
    /* a start with one row of each group (probability 2/9) leads there at once */
    assert_in_range(successes, 2, 20);
}

/* Lloyd's iteration lowers the distance of the rows to their centres. */
static double quantisation_error(const uc_map *map, const uc_matrix *X)
{
    double total = 0.0;
    const uc_map_settings settings = map_settings(UC_MAP_NYSTROEM, UC_KERNEL_GAUSSIAN, 1.0, 1);
    for (size_t i = 0; i < X->rows; i++) {
        double best = INFINITY;
        for (size_t l = 0; l < map->landmarks.rows; l++)
            best = fmin(best, -log(direct_kernel(&settings, uc_matrix_row(X, i),
                                                 uc_matrix_row(&map->landmarks, l), X->cols)));
        total += best;
    }
    return total;
}

static void centres_are_closer_to_the_rows_than_random_rows_are(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(ROWS, COLS, 4), sparse = sparse_copy(&X);
    uc_map_settings settings = map_settings(UC_MAP_NYSTROEM, UC_KERNEL_GAUSSIAN, 2.0, 15);
    uc_map *uniform = fitted(&settings, &X);
    settings.pick = 1;
    uc_map *centred = fitted(&settings, &X), *from_sparse = fitted(&settings, &sparse);
    assert_true(quantisation_error(centred, &X) < 0.8 * quantisation_error(uniform, &X));
    uc_matrix a = mapped(centred, &X), b = mapped(from_sparse, &sparse);
    assert_near(largest_difference(&a, &b, 15), 0.0, 1e-5);
    uc_matrix_free(&b);
    uc_matrix_free(&a);
    uc_map_free(from_sparse);
    uc_map_free(centred);
    uc_map_free(uniform);
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

static void the_number_of_threads_does_not_change_a_byte(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(2000, COLS, 5);
    uc_map_settings settings = map_settings(UC_MAP_NYSTROEM, UC_KERNEL_GAUSSIAN, 2.0, 30);
    settings.pick = 1;
    const unsigned threads[] = {1, 2, 7};
    uc_map *maps[3];
    for (size_t t = 0; t < 3; t++) {
        const uc_context context = {.threads = threads[t]};
        assert_ok(uc_map_fit(&maps[t], &settings, &X, 1, &context));
        assert_memory_equal(maps[t]->projection, maps[0]->projection, 900 * sizeof(double));
    }
    for (size_t t = 0; t < 3; t++)
        uc_map_free(maps[t]);
    uc_matrix_free(&X);
}

static uc_status fit_once(const uc_matrix *X, int pick)
{
    uc_map_settings settings = map_settings(UC_MAP_NYSTROEM, UC_KERNEL_GAUSSIAN, 2.0, 6);
    settings.pick = pick;
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
    uc_matrix X = sample_rows(40, COLS, 6), sparse = sparse_copy(&X);
    uc_status status;
    for (int pick = 0; pick < 2; pick++) {
        FOR_EACH_FAILING_ALLOCATION(status, fit_once(&X, pick));
        FOR_EACH_FAILING_ALLOCATION(status, fit_once(&sparse, pick));
    }
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_rows_as_landmarks_reproduce_the_kernel),
        cmocka_unit_test(the_projection_is_the_inverse_root_of_the_landmarks_kernel),
        cmocka_unit_test(a_singular_kernel_matrix_is_no_problem),
        cmocka_unit_test(kmeans_finds_separate_groups),
        cmocka_unit_test(centres_are_closer_to_the_rows_than_random_rows_are),
        cmocka_unit_test(the_number_of_threads_does_not_change_a_byte),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
