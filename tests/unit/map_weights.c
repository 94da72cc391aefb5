/* Maps of weighted rows: kernel PCA is that of repeated rows, landmarks are drawn by weight, and equal
 * weights are none. */
#include "tests/map_sample.h"
#include "tests/processes.h"

enum { COLS = 5 };

static uc_matrix repeated(const uc_matrix *X, const double *times)
{
    size_t rows[4 * 1200], count = 0;
    uc_matrix out;
    for (size_t i = 0; i < X->rows; i++)
        for (double t = 0.0; t < times[i]; t += 1.0)
            rows[count++] = i;
    assert_ok(uc_matrix_subset(&out, X, rows, count, NULL));
    return out;
}

static void set_weights(double *weights, size_t n)
{
    for (size_t i = 0; i < n; i++)
        weights[i] = (double)(1 + i * 7 % 3);
}

/* A row's coefficients are the sum of those of its copies. */
static void same_projection(const uc_map *weighted, const uc_map *more, const double *weights,
                            double tolerance)
{
    const size_t D = weighted->dimension;
    size_t at = 0;
    for (size_t i = 0; i < weighted->landmarks.rows; i++) {
        double sum[64] = {0.0};
        for (double t = 0.0; t < weights[i]; t += 1.0, at++)
            for (size_t k = 0; k < D; k++)
                sum[k] += more->projection[at * D + k];
        for (size_t k = 0; k < D; k++)
            assert_near(weighted->projection[i * D + k], sum[k], tolerance);
    }
    assert_int_equal(at, more->landmarks.rows);
}

static void check_components(size_t n, size_t D, int kernel, int center, double tolerance, double angle)
{
    double *weights = uc_alloc(n, sizeof *weights);
    uc_matrix X = sample_rows(n, COLS, n);
    uc_map_settings settings = map_settings(UC_MAP_KPCA, (uc_kernel)kernel, 6.0, D);
    uc_map *weighted, *more;
    set_weights(weights, n);
    uc_matrix Y = repeated(&X, weights);
    settings.center = center;
    assert_ok(uc_map_fit_weighted(&weighted, &settings, &X, weights, 1, NULL));
    assert_ok(uc_map_fit(&more, &settings, &Y, 1, NULL));
    assert_int_equal(weighted->dimension, D);
    for (size_t k = 0; k < D; k++)
        assert_near_relative(weighted->eigenvalues[k], more->eigenvalues[k], tolerance);
    for (size_t k = 0; k < D && center; k++)
        assert_near(weighted->shift[k], more->shift[k], angle);
    same_projection(weighted, more, weights, angle);
    uc_map_free(weighted);
    uc_map_free(more);
    uc_matrix_free(&Y);
    uc_matrix_free(&X);
    uc_free(weights);
}

static void kernel_pca_is_that_of_repeated_rows(void **state)
{
    (void)state;
    for (int kernel = UC_KERNEL_LINEAR; kernel <= UC_KERNEL_POLYNOMIAL; kernel++)
        for (int center = 0; center < 2; center++)
            check_components(40, 4, kernel, center, 1e-12, 1e-12);
}

/* The iteration ends when eigenvalues are right to five digits; angles are larger. */
static void large_problems_too(void **state)
{
    (void)state;
    check_components(1050, 40, UC_KERNEL_GAUSSIAN, 0, 1e-5, 0.01);
    check_components(1050, 40, UC_KERNEL_GAUSSIAN, 1, 1e-5, 0.01);
}

/* All weights the same are as none, to the last bit, whatever they are. */
static void equal_weights_are_none(void **state)
{
    (void)state;
    static const uc_map_kind kinds[] = {UC_MAP_KPCA, UC_MAP_KGS, UC_MAP_RANDOM, UC_MAP_NYSTROEM,
                                        UC_MAP_LANDMARKS};
    double weights[60];
    for (size_t i = 0; i < 60; i++)
        weights[i] = 2.5;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uc_matrix X = sample_rows(60, COLS, 3);
        const uc_map_settings settings = map_settings(kinds[k], UC_KERNEL_GAUSSIAN, 6.0, 8);
        uc_map *one, *other;
        assert_ok(uc_map_fit_weighted(&one, &settings, &X, weights, 1, NULL));
        assert_ok(uc_map_fit(&other, &settings, &X, 1, NULL));
        uc_matrix a = mapped(one, &X), b = mapped(other, &X);
        assert_memory_equal(a.values, b.values, 60 * a.stride * sizeof *a.values);
        uc_matrix_free(&a);
        uc_matrix_free(&b);
        uc_map_free(one);
        uc_map_free(other);
        uc_matrix_free(&X);
    }
}

/* One landmark of rows of weights 1, 2 and 3: each as often as its weight says. */
static void landmarks_are_drawn_by_weight(void **state)
{
    (void)state;
    enum { ROWS = 30, DRAWS = 3000 };
    double weights[ROWS], counts[3] = {0.0};
    uc_matrix X = sample_rows(ROWS, COLS, 4);
    const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, UC_KERNEL_GAUSSIAN, 6.0, 1);
    for (size_t i = 0; i < ROWS; i++) {
        weights[i] = (double)(1 + i % 3);
        X.values[i * X.stride] = (float)i;
    }
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        uc_map *map;
        assert_ok(uc_map_fit_weighted(&map, &settings, &X, weights, seed, NULL));
        counts[(size_t)map->landmarks.values[0] % 3] += 1.0;
        uc_map_free(map);
    }
    for (size_t k = 0; k < 3; k++) { /* within four deviations */
        const double share = (double)(k + 1) / 6.0;
        assert_near(counts[k] / DRAWS, share, 4.0 * sqrt(share * (1.0 - share) / DRAWS));
    }
    uc_matrix_free(&X);
}

typedef struct shared_rows {
    uc_matrix X;
    double weights[60];
    uc_map_settings settings;
    uc_map *maps[3];
} shared_rows;

static uc_status fit_share(const uc_comm *comm, void *user)
{
    shared_rows *self = user;
    const uc_context context = {.comm = comm, .threads = 1};
    const size_t first = (size_t)comm->rank * 20;
    size_t rows[20];
    uc_matrix mine;
    for (size_t i = 0; i < 20; i++)
        rows[i] = first + i;
    uc_status status = uc_matrix_subset(&mine, &self->X, rows, 20, NULL);
    if (status == UC_OK)
        status = uc_map_fit_weighted(&self->maps[comm->rank], &self->settings, &mine, self->weights + first,
                                     1, &context);
    uc_matrix_free(&mine);
    return status;
}

static void processes_weigh_as_one_does(void **state)
{
    (void)state;
    static const uc_map_kind kinds[] = {UC_MAP_KPCA, UC_MAP_NYSTROEM, UC_MAP_LANDMARKS};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        shared_rows self = {.X = sample_rows(60, COLS, 5),
                            .settings = map_settings(kinds[k], UC_KERNEL_GAUSSIAN, 6.0, 8)};
        uc_map *alone;
        set_weights(self.weights, 60);
        assert_ok(uc_map_fit_weighted(&alone, &self.settings, &self.X, self.weights, 1, NULL));
        assert_ok(run_processes(3, fit_share, &self));
        uc_matrix a = mapped(alone, &self.X);
        for (size_t r = 0; r < 3; r++) {
            uc_matrix b = mapped(self.maps[r], &self.X);
            assert_memory_equal(a.values, b.values, 60 * a.stride * sizeof *a.values);
            uc_matrix_free(&b);
            uc_map_free(self.maps[r]);
        }
        uc_matrix_free(&a);
        uc_map_free(alone);
        uc_matrix_free(&self.X);
    }
}

static uc_status fit_once(uc_map_kind kind, const uc_matrix *X, const double *weights)
{
    uc_map_settings settings = map_settings(kind, UC_KERNEL_GAUSSIAN, 6.0, 4);
    uc_map *map = NULL;
    settings.center = kind == UC_MAP_KPCA;
    const uc_context one = {.threads = 1};
    const uc_status status = uc_map_fit_weighted(&map, &settings, X, weights, 1, &one);
    uc_map_free(map);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const uc_map_kind kinds[] = {UC_MAP_KPCA, UC_MAP_LANDMARKS};
    double weights[30];
    uc_matrix X = sample_rows(30, COLS, 6);
    uc_status status;
    set_weights(weights, 30);
    for (size_t k = 0; k < 2; k++)
        FOR_EACH_FAILING_ALLOCATION(status, fit_once(kinds[k], &X, weights));
    uc_matrix_free(&X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_pca_is_that_of_repeated_rows),
        cmocka_unit_test(large_problems_too),
        cmocka_unit_test(equal_weights_are_none),
        cmocka_unit_test(landmarks_are_drawn_by_weight),
        cmocka_unit_test(processes_weigh_as_one_does),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
