/* Landmarks: drawn from a data set, or arriving one by one. */
#include "tests/map_sample.h"

#define ROWS ((size_t)300)
#define COLS ((size_t)7)

static void a_row_is_mapped_to_its_kernel_values(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(ROWS, COLS, 1);
    for (int kernel = 0; kernel < 3; kernel++) {
        const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, (uc_kernel)kernel, 5.0, 280);
        uc_map *map = fitted(&settings, &X);
        uc_matrix rows = mapped(map, &X);
        for (size_t i = 0; i < ROWS; i += 11)
            for (size_t l = 0; l < 280; l++) {
                const double value =
                    direct_kernel(&settings, uc_matrix_row(&X, i), uc_matrix_row(&map->landmarks, l), COLS);
                assert_near(rows.values[i * rows.stride + l], value, 1e-6 * (1.0 + fabs(value)));
            }
        uc_matrix_free(&rows);
        uc_map_free(map);
    }
    uc_matrix_free(&X);
}

static void landmarks_are_different_rows(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(ROWS, COLS, 2);
    for (size_t i = 0; i < ROWS; i++)
        X.values[i * X.stride] = (float)i; /* the row's number */
    const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, UC_KERNEL_GAUSSIAN, 5.0, 100);
    uc_map *map = fitted(&settings, &X);
    bool taken[ROWS] = {false};
    for (size_t l = 0; l < 100; l++) {
        const size_t row = (size_t)map->landmarks.values[l * map->landmarks.stride];
        assert_false(taken[row]);
        taken[row] = true;
    }
    uc_map_free(map);
    uc_matrix_free(&X);
}

/* ---- growing ---- */

static uc_map *begun(uint64_t dimension)
{
    const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, UC_KERNEL_GAUSSIAN, 5.0, dimension);
    uc_map *map;
    assert_ok(uc_map_begin_landmarks(&map, &settings, 5.0));
    return map;
}

/* Dense, sparse, and both by turns; some rows have fewer columns than others. */
static void a_grown_map_is_the_map_of_its_rows(void **state)
{
    (void)state;
    const size_t D = 20;
    uc_matrix X = sample_rows(D, COLS, 3), sparse = sparse_copy(&X);
    const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, UC_KERNEL_GAUSSIAN, 5.0, D);
    for (size_t form = 0; form < 4; form++) {
        uc_map *map = begun(D);
        float row[20];
        for (size_t l = 0; l < D; l++) {
            uc_row added = uc_matrix_row(
                form == 1 || (form == 2 && l % 2) || (form == 3 && l % 2 == 0) ? &sparse : &X, l);
            assert_ok(uc_map_add_landmark(map, added));
            assert_int_equal(uc_map_landmarks(map), l + 1);
            double *work = uc_alloc(uc_map_row_work(map), sizeof *work);
            uc_map_row(row, map, added, work);
            uc_free(work);
            assert_true(row[l] == 1.0f); /* a landmark that has just arrived scores with itself */
            for (size_t later = l + 1; later < D; later++)
                assert_true(row[later] == 0.0f);
        }
        assert_ok(uc_map_add_landmark(map, uc_matrix_row(&X, 0))); /* all are there: nothing happens */
        assert_int_equal(uc_map_landmarks(map), D);
        uc_matrix rows = mapped(map, &X);
        for (size_t i = 0; i < D; i++)
            for (size_t l = 0; l < D; l++)
                assert_near(rows.values[i * rows.stride + l],
                            direct_kernel(&settings, uc_matrix_row(&X, i), uc_matrix_row(&X, l), COLS), 1e-6);
        uc_matrix_free(&rows);
        uc_map_free(map);
    }
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

static void later_landmarks_may_have_more_columns(void **state)
{
    (void)state;
    const float first[] = {1.0f, 2.0f}, second[] = {1.0f, 2.0f, 3.0f}, third[] = {4.0f};
    const uint32_t column[] = {40};
    const bool sparse_first[] = {false, true};
    for (size_t s = 0; s < 2; s++) {
        uc_map *map = begun(4);
        const uint32_t columns[] = {0, 1};
        assert_ok(uc_map_add_landmark(map, (uc_row){2, first, sparse_first[s] ? columns : NULL}));
        assert_ok(uc_map_add_landmark(map, (uc_row){3, second, NULL}));
        assert_ok(uc_map_add_landmark(map, (uc_row){1, third, column}));
        float row[4];
        double *work = uc_alloc(uc_map_row_work(map), sizeof *work);
        uc_map_row(row, map, (uc_row){2, first, NULL}, work);
        uc_free(work);
        assert_true(row[0] == 1.0f && row[3] == 0.0f);
        assert_near(row[1], exp(-9.0 / 5.0), 1e-7);
        assert_near(row[2], exp(-(1.0 + 4.0 + 16.0) / 5.0), 1e-7);
        uc_map_free(map);
    }
}

static void many_rows_and_one_row_agree_while_landmarks_are_missing(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(10, COLS, 4);
    uc_map *map = begun(8);
    uc_matrix none = mapped(map, &X);
    for (size_t i = 0; i < 10 * none.stride; i++)
        assert_true(none.values[i] == 0.0f);
    for (size_t l = 0; l < 3; l++)
        assert_ok(uc_map_add_landmark(map, uc_matrix_row(&X, l)));
    uc_matrix rows = mapped(map, &X);
    double *work = uc_alloc(uc_map_row_work(map), sizeof *work);
    for (size_t i = 0; i < 10; i++) {
        float row[8];
        uc_map_row(row, map, uc_matrix_row(&X, i), work);
        for (size_t l = 0; l < 8; l++)
            assert_near(rows.values[i * rows.stride + l], row[l], 1e-6);
    }
    uc_free(work);
    uc_matrix_free(&rows);
    uc_matrix_free(&none);
    uc_map_free(map);
    uc_matrix_free(&X);
}

static void auto_is_700_and_a_width_is_needed(void **state)
{
    (void)state;
    uc_map *map = begun(UC_AUTO_COUNT);
    assert_int_equal(uc_map_dimension(map), 700);
    uc_map_free(map);
    const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, UC_KERNEL_GAUSSIAN, 5.0, 10);
    assert_error(uc_map_begin_landmarks(&map, &settings, 0.0), UC_ERR_INVALID,
                 "the width 0 of a gaussian kernel is not above 0");
}

static uc_status grow_once(const uc_matrix *X)
{
    const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, UC_KERNEL_GAUSSIAN, 5.0, 5);
    uc_map *map;
    uc_status status = uc_map_begin_landmarks(&map, &settings, 5.0);
    if (status != UC_OK)
        return status;
    for (size_t l = 0; l < 5 && status == UC_OK; l++) {
        status = uc_map_add_landmark(map, uc_matrix_row(X, l));
        assert_int_equal(uc_map_landmarks(map), status == UC_OK ? l + 1 : l);
    }
    uc_map_free(map);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(5, COLS, 5), sparse = sparse_copy(&X);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, grow_once(&X));
    FOR_EACH_FAILING_ALLOCATION(status, grow_once(&sparse));
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_mapped_to_its_kernel_values),
        cmocka_unit_test(landmarks_are_different_rows),
        cmocka_unit_test(a_grown_map_is_the_map_of_its_rows),
        cmocka_unit_test(later_landmarks_may_have_more_columns),
        cmocka_unit_test(many_rows_and_one_row_agree_while_landmarks_are_missing),
        cmocka_unit_test(auto_is_700_and_a_width_is_needed),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
