/* Kernel PCA against LAPACK on the whole kernel matrix. */
#include "tests/map_sample.h"

#include "linalg/linalg.h"
#include "map/krylov.h"

#define COLS ((size_t)6)

extern void dsyev_(const char *job, const char *triangle, const int *n, double *A, const int *lda,
                   double *values, double *work, const int *work_length, int *info, size_t, size_t);

/* All eigenvalues and vectors of the n x n matrix K, descending; vectors row by row. */
static void lapack_eigen(double *values, double *K, size_t n)
{
    const int size = (int)n, length = 64 * size;
    int info = 0;
    double *work = uc_alloc((size_t)length, sizeof *work);
    assert_non_null(work);
    dsyev_("V", "L", &size, K, &size, values, work, &length, &info, 1, 1);
    uc_free(work);
    assert_int_equal(info, 0);
    for (size_t k = 0; k < n / 2; k++) {
        const double value = values[k];
        values[k] = values[n - 1 - k];
        values[n - 1 - k] = value;
        for (size_t i = 0; i < n; i++) {
            const double component = K[k * n + i];
            K[k * n + i] = K[(n - 1 - k) * n + i];
            K[(n - 1 - k) * n + i] = component;
        }
    }
}

/* The sine of the largest angle between the span of the map's components and that of the first D rows of
 * V: the components, as unit vectors, without their part in the span. */
static double largest_sine(const uc_map *map, const double *V, size_t n)
{
    const size_t D = uc_map_dimension(map);
    double largest = 0.0;
    double *rest = uc_alloc(n, sizeof *rest);
    for (size_t k = 0; k < D; k++) {
        double length = 0.0;
        for (size_t i = 0; i < n; i++)
            rest[i] = map->projection[i * D + k] * sqrt(map->eigenvalues[k]);
        for (size_t v = 0; v < D; v++) {
            double overlap = 0.0;
            for (size_t i = 0; i < n; i++)
                overlap += rest[i] * V[v * n + i];
            for (size_t i = 0; i < n; i++)
                rest[i] -= overlap * V[v * n + i];
        }
        for (size_t i = 0; i < n; i++)
            length += rest[i] * rest[i];
        largest = fmax(largest, sqrt(length));
    }
    uc_free(rest);
    return largest;
}

static void center_explicitly(double *K, size_t n)
{
    double *means = uc_alloc(n, sizeof *means), mean = 0.0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            means[i] += K[i * n + j] / (double)n;
        mean += means[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            K[i * n + j] += mean - means[i] - means[j];
    uc_free(means);
}

/* Eigenvalues and subspace of a map of n rows against LAPACK. */
static void check_against_lapack(size_t n, size_t D, int kernel, int center, uint64_t memory,
                                 double tolerance)
{
    uc_matrix X = sample_rows(n, COLS, 1 + n);
    uc_map_settings settings = map_settings(UC_MAP_KPCA, (uc_kernel)kernel, 6.0, D);
    settings.center = center;
    const uc_context context = {.memory = memory};
    double *K = direct_kernel_matrix(&settings, &X), *values = uc_alloc(n, sizeof *values);
    if (center)
        center_explicitly(K, n);
    lapack_eigen(values, K, n);
    uc_map *map;
    assert_ok(uc_map_fit(&map, &settings, &X, 1, &context));
    assert_int_equal(uc_map_dimension(map), D);
    for (size_t k = 0; k < D; k++)
        assert_near_relative(map->eigenvalues[k], values[k], tolerance);
    assert_near(largest_sine(map, K, n), 0.0, sqrt(tolerance));
    uc_matrix rows = mapped(map, &X);
    for (size_t k = 0; k < D; k++) { /* training rows land on V diag(lambda)^1/2 */
        double length = 0.0;
        for (size_t i = 0; i < n; i++)
            length += (double)rows.values[i * rows.stride + k] * (double)rows.values[i * rows.stride + k];
        assert_near_relative(length, values[k], 1e-5 + tolerance);
    }
    uc_matrix_free(&rows);
    uc_map_free(map);
    uc_free(values);
    uc_free(K);
    uc_matrix_free(&X);
}

static void small_problems_are_solved_exactly(void **state)
{
    (void)state;
    for (int kernel = 1; kernel < 3; kernel++)
        for (int center = 0; center < 2; center++)
            check_against_lapack(300, 12, kernel, center, 0, 1e-9);
}

static void large_problems_agree_with_lapack(void **state)
{
    (void)state;
    for (int center = 0; center < 2; center++)
        check_against_lapack(1100, 40, UC_KERNEL_GAUSSIAN, center, 0, 1e-6);
}

/* 1,100 rows: 7.9 MB for the tiles; half of 10 MB is not enough for them. */
static void tiles_that_do_not_fit_are_made_again(void **state)
{
    (void)state;
    check_against_lapack(1100, 40, UC_KERNEL_GAUSSIAN, 0, 10000000, 1e-6);
    check_against_lapack(1100, 40, UC_KERNEL_GAUSSIAN, 1, 10000000, 1e-6);
}

static void what_does_not_fit_in_any_way_is_refused_with_the_figure(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(1100, COLS, 2);
    const uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 6.0, 100);
    const uc_context tight = {.memory = 1000000};
    uc_map *map;
    assert_error_has(uc_map_fit(&map, &settings, &X, 1, &tight), UC_ERR_NOMEM,
                     "rows (maps nystroem and kgs take less) needs ");
    assert_error_has(uc_map_fit(&map, &settings, &X, 1, &tight), UC_ERR_NOMEM,
                     "more than the limit of 1.0 MB ({memory})");
    uc_matrix_free(&X);
}

static void the_full_gram_matrix_is_reproduced(void **state)
{
    (void)state;
    const size_t n = 70;
    uc_matrix X = sample_rows(n, COLS, 3);
    const uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 2.0, n);
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

/* New rows: the inner products of centred maps are those of phi(x) - mean phi, by the definition. */
static void a_centred_map_centres_new_rows_too(void **state)
{
    (void)state;
    const size_t n = 60;
    uc_matrix X = sample_rows(n, COLS, 4), new_rows = sample_rows(2, COLS, 5);
    uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_LINEAR, 1.0, COLS);
    settings.center = 1;
    uc_map *map = fitted(&settings, &X);
    uc_matrix rows = mapped(map, &new_rows);
    double product = 0.0;
    for (size_t j = 0; j < COLS; j++) {
        double mean = 0.0;
        for (size_t i = 0; i < n; i++)
            mean += (double)X.values[i * X.stride + j] / (double)n;
        product +=
            ((double)new_rows.values[j] - mean) * ((double)new_rows.values[new_rows.stride + j] - mean);
    }
    assert_near(mapped_product(&rows, 0, 1), product, 1e-5);
    uc_matrix_free(&rows);
    uc_map_free(map);
    uc_matrix_free(&new_rows);
    uc_matrix_free(&X);
}

static void coordinates_are_nested(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(200, COLS, 6);
    for (int center = 0; center < 2; center++) {
        uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 6.0, 30);
        settings.center = center;
        uc_map *large = fitted(&settings, &X);
        settings.dimension = 7;
        uc_map *small = fitted(&settings, &X);
        uc_matrix a = mapped(small, &X), b = mapped(large, &X);
        assert_near(largest_difference(&a, &b, 7), 0.0, 1e-5);
        uc_matrix_free(&b);
        uc_matrix_free(&a);
        uc_map_free(small);
        uc_map_free(large);
    }
    uc_matrix_free(&X);
}

/* The linear kernel of six columns has rank 6, centred or not, for both ways to solve. */
static void vanishing_eigenvalues_lower_the_dimension_with_a_warning(void **state)
{
    (void)state;
    const size_t sizes[] = {100, 1100};
    for (size_t s = 0; s < 2; s++) {
        uc_matrix X = sample_rows(sizes[s], COLS, 7);
        const uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_LINEAR, 1.0, 20);
        heard warnings = {0};
        const uc_context context = {.warn = hear, .user = &warnings};
        uc_map *map;
        assert_ok(uc_map_fit(&map, &settings, &X, 1, &context));
        assert_int_equal(uc_map_dimension(map), COLS);
        assert_string_equal(warnings.sentence,
                            "the map has 6 dimensions instead of 20: the rows span no more");
        uc_matrix rows = mapped(map, &X);
        for (size_t i = 0; i < 20; i++)
            assert_near(mapped_product(&rows, i, i + 1),
                        direct_kernel(&settings, uc_matrix_row(&X, i), uc_matrix_row(&X, i + 1), COLS), 1e-4);
        uc_matrix_free(&rows);
        uc_map_free(map);
        uc_matrix_free(&X);
    }
}

static void sparse_rows_give_the_same_map(void **state)
{
    (void)state;
    const size_t sizes[] = {300, 1100};
    for (size_t s = 0; s < 2; s++) {
        uc_matrix X = sample_rows(sizes[s], COLS, 8), sparse = sparse_copy(&X);
        const uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 6.0, 10);
        uc_map *a = fitted(&settings, &X), *b = fitted(&settings, &sparse);
        uc_matrix x = mapped(a, &X), y = mapped(b, &sparse), z = mapped(b, &X);
        assert_near(largest_difference(&x, &y, 10), 0.0, 1e-5);
        assert_near(largest_difference(&x, &z, 10), 0.0, 1e-5);
        uc_matrix_free(&z);
        uc_matrix_free(&y);
        uc_matrix_free(&x);
        uc_map_free(b);
        uc_map_free(a);
        uc_matrix_free(&sparse);
        uc_matrix_free(&X);
    }
}

static void the_number_of_threads_does_not_change_a_byte(void **state)
{
    (void)state;
    const size_t n = 1100, D = 20;
    uc_matrix X = sample_rows(n, COLS, 9);
    const uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 6.0, D);
    const unsigned threads[] = {1, 2, 7};
    uc_map *maps[3];
    for (size_t t = 0; t < 3; t++) {
        const uc_context context = {.threads = threads[t]};
        assert_ok(uc_map_fit(&maps[t], &settings, &X, 1, &context));
        assert_memory_equal(maps[t]->projection, maps[0]->projection, n * D * sizeof(double));
        assert_memory_equal(maps[t]->eigenvalues, maps[0]->eigenvalues, D * sizeof(double));
    }
    for (size_t t = 0; t < 3; t++)
        uc_map_free(maps[t]);
    uc_matrix_free(&X);
}

static uc_status fit_once(const uc_matrix *X, int center)
{
    uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 6.0, 3);
    settings.center = center;
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
    uc_matrix small = sample_rows(20, COLS, 10), large = sample_rows(1010, COLS, 11);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, fit_once(&small, 1));
    FOR_EACH_FAILING_ALLOCATION(status, fit_once(&large, 1));
    uc_matrix_free(&large);
    uc_matrix_free(&small);
}

/* If only the n-th allocation fails, the result is either no map or that of a fit in which none fails. */
static void check_fit_without_one(const uc_matrix *X, double first_eigenvalue)
{
    uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 6.0, 3);
    settings.center = true;
    const uc_context one = {.threads = 1};
    uc_status status = UC_OK;
    for (long successes = 0, needed = 1; successes < needed; successes++) {
        uc_map *map = NULL;
        uc_alloc_fail_once_after(successes);
        status = uc_map_fit(&map, &settings, X, 1, &one);
        needed = uc_alloc_count();
        uc_alloc_fail_after(-1);
        if (status == UC_OK)
            assert_near(map->eigenvalues[0], first_eigenvalue, 1e-12);
        else
            assert_status(status, UC_ERR_NOMEM);
        uc_map_free(map);
    }
}

static void one_allocation_that_fails_is_noticed(void **state)
{
    (void)state;
    uc_matrix small = sample_rows(20, COLS, 10), large = sample_rows(1010, COLS, 11);
    const uc_matrix *samples[] = {&small, &large};
    for (size_t i = 0; i < 2; i++) {
        uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 6.0, 3);
        settings.center = true;
        const uc_context one = {.threads = 1};
        uc_map *map;
        assert_ok(uc_map_fit(&map, &settings, samples[i], 1, &one));
        const double first = map->eigenvalues[0];
        uc_map_free(map);
        check_fit_without_one(samples[i], first);
    }
    uc_matrix_free(&large);
    uc_matrix_free(&small);
}

static bool stop_at_once(const char *task, double done, double total, const char *detail, void *user)
{
    (void)task, (void)done, (void)total, (void)detail, (void)user;
    return false;
}

static void progress_can_stop_it(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(1100, COLS, 12);
    const uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 6.0, 10);
    const uc_context context = {.progress = stop_at_once};
    const long live = uc_alloc_live();
    uc_map *map;
    assert_status(uc_map_fit(&map, &settings, &X, 1, &context), UC_ERR_CANCELLED);
    assert_int_equal(uc_alloc_live(), live);
    uc_matrix_free(&X);
}

/* ---- the iteration itself, on a diagonal matrix ---- */

typedef struct diagonal {
    size_t n;
    double decay;
} diagonal;

static uc_status times_diagonal(double *Z, const double *Q, size_t stride, size_t width, void *user)
{
    const diagonal *A = user;
    for (size_t i = 0; i < A->n; i++)
        for (size_t j = 0; j < width; j++)
            Z[i * width + j] = pow((double)i + 1.0, -A->decay) * Q[i * stride + j];
    return UC_OK;
}

static void the_iteration_finds_known_eigenvalues_and_orthonormal_vectors(void **state)
{
    (void)state;
    diagonal A = {600, 1.5};
    const uc_krylov_problem problem = {times_diagonal, &A, 600, 20, 10, 90, 1e-10, 1};
    double values[20], *vectors = uc_alloc(600 * 20, sizeof *vectors);
    size_t found;
    assert_ok(uc_krylov(values, vectors, &found, &problem, NULL));
    assert_int_equal(found, 20);
    for (size_t k = 0; k < 20; k++) {
        assert_near_relative(values[k], pow((double)k + 1.0, -1.5), 1e-9);
        for (size_t l = 0; l < 20; l++) {
            double product = 0.0;
            for (size_t i = 0; i < 600; i++)
                product += vectors[i * 20 + k] * vectors[i * 20 + l];
            assert_near(product, k == l ? 1.0 : 0.0, 1e-12);
        }
        assert_near(fabs(vectors[k * 20 + k]), 1.0, 1e-8);
    }
    uc_free(vectors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_problems_are_solved_exactly),
        cmocka_unit_test(large_problems_agree_with_lapack),
        cmocka_unit_test(tiles_that_do_not_fit_are_made_again),
        cmocka_unit_test(what_does_not_fit_in_any_way_is_refused_with_the_figure),
        cmocka_unit_test(the_full_gram_matrix_is_reproduced),
        cmocka_unit_test(a_centred_map_centres_new_rows_too),
        cmocka_unit_test(coordinates_are_nested),
        cmocka_unit_test(vanishing_eigenvalues_lower_the_dimension_with_a_warning),
        cmocka_unit_test(sparse_rows_give_the_same_map),
        cmocka_unit_test(the_number_of_threads_does_not_change_a_byte),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(one_allocation_that_fails_is_noticed),
        cmocka_unit_test(progress_can_stop_it),
        cmocka_unit_test(the_iteration_finds_known_eigenvalues_and_orthonormal_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
