/* Kernel values in tiles, for every kind of storage, and the median distance. */
#include "tests/map_sample.h"

#include <stdlib.h>

#include "map/kernel.h"

#define ROWS ((size_t)300) /* more than a panel */
#define COLS ((size_t)37)

static uc_matrix dense, sparse;

static int make_rows(void **state)
{
    (void)state;
    dense = sample_rows(ROWS, COLS, 1);
    sparse = sparse_copy(&dense);
    return 0;
}

static int free_rows(void **state)
{
    (void)state;
    uc_matrix_free(&dense);
    uc_matrix_free(&sparse);
    return 0;
}

/* The kernel of all rows of X with all landmarks, by panels. */
static double *by_panels(const uc_map *map, const uc_matrix *X, const uc_matrix *landmarks)
{
    double *values = uc_alloc(X->rows * landmarks->rows, sizeof *values), *norm2, *landmark_norm2;
    norm2 = uc_alloc(X->rows, sizeof *norm2);
    landmark_norm2 = uc_alloc(landmarks->rows, sizeof *landmark_norm2);
    double *tile = uc_alloc(UC_PANEL * UC_PANEL, sizeof *tile);
    uc_panels panels;
    uc_norms(norm2, X, landmarks->cols);
    uc_norms(landmark_norm2, landmarks, landmarks->cols);
    assert_ok(uc_panels_prepare(&panels, landmarks, landmark_norm2, uc_matrix_is_sparse(X), NULL));
    double *work = uc_alloc(uc_panels_work(&panels, X), sizeof *work);
    for (size_t block = 0; block < uc_panel_count(X->rows); block++)
        for (size_t panel = 0; panel < uc_panel_count(landmarks->rows); panel++) {
            const size_t first = block * UC_PANEL, rows = uc_panel_rows(X->rows, block);
            const size_t count = uc_panel_rows(landmarks->rows, panel);
            uc_panel_kernel(tile, map, &panels, panel, X, norm2 + first, first, first + rows, work);
            for (size_t i = 0; i < rows; i++)
                memcpy(values + (first + i) * landmarks->rows + panel * UC_PANEL, tile + i * count,
                       count * sizeof *tile);
        }
    uc_free(work);
    uc_panels_free(&panels);
    uc_free(tile);
    uc_free(landmark_norm2);
    uc_free(norm2);
    return values;
}

static uc_map kernel_of(uc_kernel kernel)
{
    return (uc_map){.kernel = kernel, .width = 20.0, .degree = 2.0, .coefficient = 1.0};
}

static void tiles_hold_the_kernel_for_every_storage_of_rows_and_landmarks(void **state)
{
    (void)state;
    const uc_matrix *storages[] = {&dense, &sparse};
    for (int kernel = 0; kernel < 3; kernel++)
        for (size_t s = 0; s < 4; s++) {
            const uc_matrix *X = storages[s / 2], *landmarks = storages[s % 2];
            const uc_map map = kernel_of((uc_kernel)kernel);
            const uc_map_settings settings = map_settings(UC_MAP_KPCA, (uc_kernel)kernel, 20.0, 1);
            double *values = by_panels(&map, X, landmarks);
            for (size_t i = 0; i < ROWS; i += 7)
                for (size_t l = 0; l < ROWS; l++)
                    assert_near_relative(1.0 + values[i * ROWS + l],
                                         1.0 + direct_kernel(&settings, uc_matrix_row(X, i),
                                                             uc_matrix_row(landmarks, l), COLS),
                                         1e-12);
            uc_free(values);
        }
}

static void a_row_with_itself_has_gaussian_kernel_exactly_1(void **state)
{
    (void)state;
    uc_map map = kernel_of(UC_KERNEL_GAUSSIAN);
    map.width = 1e-3; /* any rest of the distance would show */
    const uc_matrix *storages[] = {&dense, &sparse};
    for (size_t s = 0; s < 4; s++) {
        double *values = by_panels(&map, storages[s / 2], storages[s % 2]);
        for (size_t i = 0; i < ROWS; i++)
            assert_true(values[i * ROWS + i] == 1.0);
        uc_free(values);
    }
}

static void more_columns_than_a_tile_are_summed(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(5, 1300, 2);
    const uc_map map = kernel_of(UC_KERNEL_LINEAR);
    const uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_LINEAR, 1.0, 1);
    double *values = by_panels(&map, &X, &X);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            assert_near_relative(values[i * 5 + j],
                                 direct_kernel(&settings, uc_matrix_row(&X, i), uc_matrix_row(&X, j), X.cols),
                                 1e-12);
    uc_free(values);
    uc_matrix_free(&X);
}

static void columns_unknown_to_the_landmarks_do_not_count(void **state)
{
    (void)state;
    const size_t known = 20;
    uc_matrix narrow;
    assert_ok(uc_matrix_create_dense(&narrow, 10, known));
    for (size_t i = 0; i < 10; i++)
        memcpy(narrow.values + i * narrow.stride, dense.values + i * dense.stride, known * sizeof(float));
    uc_matrix narrow_sparse = sparse_copy(&narrow);
    const uc_matrix *wide[] = {&dense, &sparse}, *landmarks[] = {&narrow, &narrow_sparse};
    const uc_map map = kernel_of(UC_KERNEL_GAUSSIAN);
    for (size_t s = 0; s < 4; s++) {
        double *values = by_panels(&map, wide[s / 2], landmarks[s % 2]);
        for (size_t i = 0; i < 10; i++)
            assert_true(values[i * 10 + i] == 1.0);
        uc_free(values);
        values = by_panels(&map, landmarks[s % 2], wide[s / 2]); /* fewer columns: the others are 0 */
        const uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 20.0, 1);
        for (size_t l = 0; l < ROWS; l++)
            assert_near(values[ROWS + l],
                        direct_kernel(&settings, uc_matrix_row(&narrow, 1), uc_matrix_row(&dense, l), COLS),
                        1e-12);
        uc_free(values);
    }
    uc_matrix_free(&narrow);
    uc_matrix_free(&narrow_sparse);
}

static uc_status prepare_and_free(const uc_matrix *landmarks, bool for_sparse_rows)
{
    static double norm2[ROWS];
    const uc_context one = {.threads = 1};
    uc_panels panels;
    const uc_status status = uc_panels_prepare(&panels, landmarks, norm2, for_sparse_rows, &one);
    if (status == UC_OK)
        uc_panels_free(&panels);
    return status;
}

static void every_allocation_of_panels_may_fail(void **state)
{
    (void)state;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, prepare_and_free(&sparse, true));
    FOR_EACH_FAILING_ALLOCATION(status, prepare_and_free(&dense, true));
    FOR_EACH_FAILING_ALLOCATION(status, prepare_and_free(&dense, false));
}

/* ---- the median ---- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median of all pairs lies within a few standard deviations of that of 1,000 random ones. */
static void the_median_distance_is_that_of_random_pairs(void **state)
{
    (void)state;
    static double all[ROWS * (ROWS - 1) / 2];
    size_t count = 0, below = 0;
    const uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 1.0, 1);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < i; j++)
            all[count++] =
                -log(direct_kernel(&settings, uc_matrix_row(&dense, i), uc_matrix_row(&dense, j), COLS));
    qsort(all, count, sizeof *all, by_value);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double median, same;
        assert_ok(uc_map_median_distance2(&median, &dense, seed, NULL));
        assert_ok(uc_map_median_distance2(&same, &sparse, seed, NULL));
        assert_near_relative(median, same, 1e-12);
        for (below = 0; below < count && all[below] < median;)
            below++;
        assert_near((double)below / (double)count, 0.5, 4.0 * 0.5 / sqrt(1000.0));
    }
}

/* Two rows have one pair only. */
static void the_median_of_one_pair_is_its_distance(void **state)
{
    (void)state;
    float values[2][16] = {{1.0f, 2.0f}, {4.0f, 6.0f}};
    const uc_matrix X = {.rows = 2, .cols = 2, .stride = 16, .values = values[0]};
    double median;
    assert_ok(uc_map_median_distance2(&median, &X, 1, NULL));
    assert_true(median == 25.0);
}

static void no_median_without_different_rows(void **state)
{
    (void)state;
    double median = 7.0;
    uc_matrix same;
    assert_ok(uc_matrix_create_dense(&same, 10, 3));
    assert_error(
        uc_map_median_distance2(&median, &same, 1, NULL), UC_ERR_INVALID,
        "the median distance of two rows is 0, because most rows are the same; give {width} or {gamma}");
    same.rows = 1;
    assert_error(uc_map_median_distance2(&median, &same, 1, NULL), UC_ERR_INVALID,
                 "the median distance needs two rows; give {width} or {gamma}");
    assert_true(median == 7.0);
    uc_matrix_free(&same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_hold_the_kernel_for_every_storage_of_rows_and_landmarks),
        cmocka_unit_test(a_row_with_itself_has_gaussian_kernel_exactly_1),
        cmocka_unit_test(more_columns_than_a_tile_are_summed),
        cmocka_unit_test(columns_unknown_to_the_landmarks_do_not_count),
        cmocka_unit_test(every_allocation_of_panels_may_fail),
        cmocka_unit_test(the_median_distance_is_that_of_random_pairs),
        cmocka_unit_test(the_median_of_one_pair_is_its_distance),
        cmocka_unit_test(no_median_without_different_rows),
    };
    return cmocka_run_group_tests(tests, make_rows, free_rows);
}
