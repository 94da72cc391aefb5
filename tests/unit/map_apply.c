/* Maps of every kind from outside: options, one row and many, copies, threads, refusals. */
#include "tests/map_sample.h"

#define ROWS ((size_t)700)
#define COLS ((size_t)11)

static const uc_map_kind kinds[] = {UC_MAP_KPCA,     UC_MAP_KGS, UC_MAP_RANDOM,
                                    UC_MAP_NYSTROEM, UC_MAP_JL,  UC_MAP_LANDMARKS};
#define KINDS (sizeof kinds / sizeof *kinds)

static void the_defaults_are_those_of_the_table(void **state)
{
    (void)state;
    const uc_map_settings settings = uc_map_defaults();
    assert_int_equal(settings.map, UC_MAP_DEFAULT);
    assert_int_equal(settings.kernel, UC_KERNEL_GAUSSIAN);
    assert_true(settings.width == 0.0 && isnan(settings.gamma));
    assert_int_equal(settings.degree, 3);
    assert_true(settings.coefficient == 1.0);
    assert_true(settings.dimension == UC_AUTO_COUNT);
    assert_int_equal(settings.center, 0);
    assert_int_equal(settings.pick, 0);
    assert_ok(uc_options_check(uc_map_options, &settings));
}

static void words_and_letters_are_understood(void **state)
{
    (void)state;
    uc_map_settings settings = uc_map_defaults();
    assert_ok(uc_option_set(uc_options_find(uc_map_options, "map"), &settings, "landmarks"));
    assert_int_equal(settings.map, UC_MAP_LANDMARKS);
    assert_ok(uc_option_set(uc_options_find(uc_map_options, "width"), &settings, "auto"));
    assert_true(isnan(settings.width));
    assert_ok(uc_option_set(uc_options_find(uc_map_options, "width"), &settings, "median"));
    assert_true(settings.width == 0.0);
    assert_status(uc_option_set(uc_options_find(uc_map_options, "width"), &settings, "-1"), UC_ERR_OPTION);
    assert_status(uc_option_set(uc_options_find(uc_map_options, "gamma"), &settings, "0"), UC_ERR_OPTION);
    assert_int_equal(uc_options_find(uc_map_options, "gamma")->letter, 'g');
}

static void one_row_is_mapped_like_many(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(ROWS, COLS, 1), sparse = sparse_copy(&X);
    const uc_matrix *storages[] = {&X, &sparse};
    for (size_t k = 0; k < KINDS; k++)
        for (size_t s = 0; s < 4; s++) {
            uc_map_settings settings = map_settings(kinds[k], UC_KERNEL_GAUSSIAN, 8.0, 25);
            settings.center = 1;
            uc_map *map = fitted(&settings, storages[s / 2]);
            const uc_matrix *given = storages[s % 2];
            uc_matrix rows = mapped(map, given);
            double *work = uc_alloc(uc_map_row_work(map), sizeof *work), scale = 0.0;
            for (size_t i = 0; i < ROWS; i++)
                scale = fmax(scale, sqrt(mapped_product(&rows, i, i)));
            for (size_t i = 0; i < ROWS; i += 13) {
                float row[25];
                memset(work, 0xff, uc_map_row_work(map) * sizeof *work);
                uc_map_row(row, map, uc_matrix_row(given, i), work);
                for (size_t j = 0; j < 25; j++)
                    assert_near(row[j], rows.values[i * rows.stride + j], 1e-6 * scale);
            }
            uc_free(work);
            uc_matrix_free(&rows);
            uc_map_free(map);
        }
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

/* More landmarks than one strip and one panel: the projection of `random` is triangular, that of `nystroem`
 * is not. */
static void many_landmarks_map_many_rows_like_one(void **state)
{
    (void)state;
    const size_t dimensions[] = {64, 130, 300};
    uc_matrix X = sample_rows(400, COLS, 3);
    for (size_t d = 0; d < 3; d++)
        for (size_t k = 0; k < 2; k++) {
            const size_t D = dimensions[d];
            uc_map_settings settings =
                map_settings(k ? UC_MAP_NYSTROEM : UC_MAP_RANDOM, UC_KERNEL_GAUSSIAN, 8.0, D);
            uc_map *map = fitted(&settings, &X);
            uc_matrix rows = mapped(map, &X);
            double *work = uc_alloc(uc_map_row_work(map), sizeof *work);
            for (size_t i = 0; i < X.rows; i += 23) {
                float row[300];
                uc_map_row(row, map, uc_matrix_row(&X, i), work);
                for (size_t j = 0; j < D; j++)
                    assert_near(row[j], rows.values[i * rows.stride + j], 1e-6);
            }
            uc_free(work);
            uc_matrix_free(&rows);
            uc_map_free(map);
        }
    uc_matrix_free(&X);
}

/* Columns beyond those of the map are dropped; missing ones are zero. */
static void unknown_columns_are_dropped_and_missing_ones_are_zero(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(50, COLS, 2), wide = sample_rows(50, COLS + 9, 3);
    uc_matrix narrow = sample_rows(50, COLS - 4, 4), padded;
    assert_ok(uc_matrix_create_dense(&padded, 50, COLS));
    for (size_t i = 0; i < 50; i++) {
        memcpy(wide.values + i * wide.stride, X.values + i * X.stride, COLS * sizeof(float));
        memcpy(padded.values + i * padded.stride, narrow.values + i * narrow.stride,
               (COLS - 4) * sizeof(float));
    }
    uc_matrix wide_sparse = sparse_copy(&wide), narrow_sparse = sparse_copy(&narrow);
    const uc_matrix *given[] = {&wide, &wide_sparse, &narrow, &narrow_sparse};
    const uc_matrix *meant[] = {&X, &X, &padded, &padded};
    for (size_t k = 0; k < KINDS; k++) {
        const uc_map_settings settings = map_settings(kinds[k], UC_KERNEL_GAUSSIAN, 8.0, 10);
        uc_map *map = fitted(&settings, &X);
        for (size_t g = 0; g < 4; g++) {
            uc_matrix a = mapped(map, given[g]), b = mapped(map, meant[g]);
            double *work = uc_alloc(uc_map_row_work(map), sizeof *work);
            float row[10];
            assert_near(largest_difference(&a, &b, 10), 0.0, 1e-6);
            uc_map_row(row, map, uc_matrix_row(given[g], 5), work);
            for (size_t j = 0; j < 10; j++)
                assert_near(row[j], b.values[5 * b.stride + j], 1e-5);
            uc_free(work);
            uc_matrix_free(&b);
            uc_matrix_free(&a);
        }
        uc_map_free(map);
    }
    uc_matrix_free(&narrow_sparse);
    uc_matrix_free(&wide_sparse);
    uc_matrix_free(&padded);
    uc_matrix_free(&narrow);
    uc_matrix_free(&wide);
    uc_matrix_free(&X);
}

static void the_number_of_threads_does_not_change_a_byte(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(1500, COLS, 5), sparse = sparse_copy(&X);
    const uc_matrix *storages[] = {&X, &sparse};
    const unsigned threads[] = {1, 2, 7};
    for (size_t k = 0; k < KINDS; k++)
        for (size_t s = 0; s < 2; s++) {
            const uc_map_settings settings = map_settings(kinds[k], UC_KERNEL_GAUSSIAN, 8.0, 16);
            uc_matrix rows[3];
            for (size_t t = 0; t < 3; t++) {
                const uc_context context = {.threads = threads[t]};
                uc_map *map;
                assert_ok(uc_map_fit(&map, &settings, storages[s], 3, &context));
                assert_ok(uc_map_apply(&rows[t], map, storages[s], &context));
                assert_memory_equal(rows[t].values, rows[0].values, 1500 * rows[0].stride * sizeof(float));
                uc_map_free(map);
            }
            for (size_t t = 0; t < 3; t++)
                uc_matrix_free(&rows[t]);
        }
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

static void a_copy_maps_alike_and_outlives_the_map(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(80, COLS, 6);
    for (size_t k = 0; k < KINDS; k++) {
        uc_map_settings settings = map_settings(kinds[k], UC_KERNEL_POLYNOMIAL, 0.0, 10);
        settings.center = 1;
        uc_map *map = fitted(&settings, &X), *copy;
        uc_matrix a = mapped(map, &X);
        assert_ok(uc_map_copy(&copy, map));
        assert_int_equal(copy->kind, kinds[k]);
        uc_map_free(map);
        uc_matrix b = mapped(copy, &X);
        assert_memory_equal(a.values, b.values, 80 * a.stride * sizeof(float));
        uc_map_free(copy);
        uc_matrix_free(&b);
        uc_matrix_free(&a);
    }
    uc_matrix_free(&X);
}

static void gamma_is_one_over_the_width_and_the_median_is_the_default(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(60, COLS, 8);
    uc_map_settings settings = map_settings(UC_MAP_KGS, UC_KERNEL_GAUSSIAN, 0.0, 5);
    double median;
    assert_ok(uc_map_median_distance2(&median, &X, 1, NULL));
    uc_map *map = fitted(&settings, &X);
    assert_true(uc_map_width(map) == median);
    uc_map_free(map);
    settings.gamma = 0.25;
    map = fitted(&settings, &X);
    assert_true(uc_map_width(map) == 4.0);
    uc_map_free(map);
    uc_matrix_free(&X);
}

/* ---- refusals ---- */

static void what_cannot_be_learned_is_refused_with_a_sentence(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(30, COLS, 9), none = X;
    none.rows = 0;
    uc_map *map = NULL;
    uc_map_settings settings = map_settings(UC_MAP_KGS, UC_KERNEL_GAUSSIAN, 8.0, 5);
    assert_error(uc_map_fit(&map, &settings, &none, 1, NULL), UC_ERR_INVALID,
                 "a map cannot be learned from no rows");
    settings.dimension = UC_AUTO_COUNT;
    assert_error_has(uc_map_fit(&map, &settings, &X, 1, NULL), UC_ERR_INVALID, "{dimension=auto}");
    settings.dimension = 5;
    settings.width = UC_AUTO_REAL;
    assert_error_has(uc_map_fit(&map, &settings, &X, 1, NULL), UC_ERR_INVALID, "{width=auto}");
    settings.width = -1.0;
    assert_status(uc_map_fit(&map, &settings, &X, 1, NULL), UC_ERR_OPTION);
    settings.width = 8.0;
    settings.map = UC_MAP_NONE;
    assert_error_has(uc_map_fit(&map, &settings, &X, 1, NULL), UC_ERR_INVALID, "{map=none}");
    assert_null(map);
    uc_matrix_free(&X);
}

static void same_rows_need_a_width_and_zero_rows_have_no_span(void **state)
{
    (void)state;
    uc_matrix zeros;
    uc_map *map = NULL;
    assert_ok(uc_matrix_create_dense(&zeros, 20, 3));
    for (size_t k = 0; k < KINDS; k++) {
        uc_map_settings settings = map_settings(kinds[k], UC_KERNEL_GAUSSIAN, 0.0, 5);
        assert_error_has(uc_map_fit(&map, &settings, &zeros, 1, NULL), UC_ERR_INVALID,
                         "give {width} or {gamma}");
        settings.kernel = UC_KERNEL_LINEAR;
        if (kinds[k] != UC_MAP_LANDMARKS)
            assert_error_has(uc_map_fit(&map, &settings, &zeros, 1, NULL), UC_ERR_INVALID,
                             "the kernel is 0 on all rows");
    }
    assert_null(map);
    uc_matrix_free(&zeros);
}

static void a_dimension_above_the_rows_is_lowered_with_a_warning(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(30, COLS, 10);
    for (size_t k = 0; k < KINDS; k++) {
        const uc_map_settings settings = map_settings(kinds[k], UC_KERNEL_GAUSSIAN, 1.0, 31);
        heard warnings = {0};
        const uc_context context = {.warn = hear, .user = &warnings};
        uc_map *map;
        assert_ok(uc_map_fit(&map, &settings, &X, 1, &context));
        assert_int_equal(uc_map_dimension(map), 30);
        assert_int_equal(warnings.count, 1);
        assert_string_equal(warnings.sentence,
                            "the map has 30 dimensions instead of 31: the rows span no more");
        uc_map_free(map);
    }
    uc_matrix_free(&X);
}

static void kernel_values_beyond_numbers_are_refused(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(30, COLS, 11);
    X.values[3 * X.stride] = 1e30f;
    uc_map *map = NULL;
    uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_POLYNOMIAL, 0.0, 5);
    settings.degree = 10;
    assert_error(uc_map_fit(&map, &settings, &X, 1, NULL), UC_ERR_DIVERGED,
                 "row 4: its kernel value with itself is too large for a number; scale the data");
    assert_null(map);
    uc_matrix_free(&X);
}

static void mapped_rows_beyond_the_memory_are_refused(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(100, COLS, 12), out;
    const uc_map_settings settings = map_settings(UC_MAP_KGS, UC_KERNEL_GAUSSIAN, 8.0, 16);
    uc_map *map = fitted(&settings, &X);
    const uc_context tight = {.memory = 1000};
    assert_error_has(uc_map_apply(&out, map, &X, &tight), UC_ERR_NOMEM, "the mapped data needs");
    uc_map_free(map);
    uc_matrix_free(&X);
}

static uc_status apply_once(const uc_map *map, const uc_matrix *X)
{
    const uc_context one = {.threads = 1};
    uc_matrix out;
    const uc_status status = uc_map_apply(&out, map, X, &one);
    if (status == UC_OK)
        uc_matrix_free(&out);
    return status;
}

static uc_status copy_once(const uc_map *map)
{
    uc_map *copy;
    const uc_status status = uc_map_copy(&copy, map);
    if (status == UC_OK)
        uc_map_free(copy);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(300, COLS, 13), sparse = sparse_copy(&X);
    uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 8.0, 5);
    settings.center = 1;
    uc_map *dense_map = fitted(&settings, &X), *sparse_map = fitted(&settings, &sparse);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, apply_once(dense_map, &X));
    FOR_EACH_FAILING_ALLOCATION(status, apply_once(dense_map, &sparse));
    FOR_EACH_FAILING_ALLOCATION(status, apply_once(sparse_map, &sparse));
    FOR_EACH_FAILING_ALLOCATION(status, copy_once(dense_map));
    FOR_EACH_FAILING_ALLOCATION(status, copy_once(sparse_map));
    uc_map_free(sparse_map);
    uc_map_free(dense_map);
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_are_those_of_the_table),
        cmocka_unit_test(words_and_letters_are_understood),
        cmocka_unit_test(one_row_is_mapped_like_many),
        cmocka_unit_test(many_landmarks_map_many_rows_like_one),
        cmocka_unit_test(unknown_columns_are_dropped_and_missing_ones_are_zero),
        cmocka_unit_test(the_number_of_threads_does_not_change_a_byte),
        cmocka_unit_test(a_copy_maps_alike_and_outlives_the_map),
        cmocka_unit_test(gamma_is_one_over_the_width_and_the_median_is_the_default),
        cmocka_unit_test(what_cannot_be_learned_is_refused_with_a_sentence),
        cmocka_unit_test(same_rows_need_a_width_and_zero_rows_have_no_span),
        cmocka_unit_test(a_dimension_above_the_rows_is_lowered_with_a_warning),
        cmocka_unit_test(kernel_values_beyond_numbers_are_refused),
        cmocka_unit_test(mapped_rows_beyond_the_memory_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
