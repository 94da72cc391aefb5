/* Feature matrices: shapes, subsets, sparse to dense, and failing allocations. */
#include "tests/support.h"

#include <string.h>

#include "linalg/linalg.h"
#include "unconfuse/random.h"

static uc_matrix random_sparse(uint64_t seed, size_t rows, size_t cols, uint64_t one_in)
{
    uc_rng rng = uc_rng_make(seed, 0);
    uc_matrix X;
    assert_ok(uc_matrix_create_sparse(&X, rows, cols, rows * cols / (one_in > 8 ? 4 : 1)));
    for (size_t i = 0; i < rows; i++) {
        X.offsets[i + 1] = X.offsets[i];
        for (uint32_t j = 0; j < cols; j++)
            if (uc_rng_below(&rng, one_in) == 0) {
                X.columns[X.offsets[i + 1]] = j;
                X.values[X.offsets[i + 1]++] = (float)uc_rng_normal(&rng);
            }
    }
    return X;
}

static float value_at(const uc_matrix *X, size_t i, size_t j)
{
    const uc_row row = uc_matrix_row(X, i);
    for (size_t e = 0; e < row.count; e++)
        if ((row.columns ? row.columns[e] : e) == j)
            return row.values[e];
    return 0.0f;
}

static void a_dense_matrix_is_zero_and_its_rows_are_aligned(void **state)
{
    (void)state;
    static const size_t cols[] = {0, 1, 15, 16, 17, 100};
    for (size_t c = 0; c < 6; c++) {
        uc_matrix X;
        assert_ok(uc_matrix_create_dense(&X, 5, cols[c]));
        assert_false(uc_matrix_is_sparse(&X));
        assert_true(X.rows == 5 && X.cols == cols[c] && X.stride >= cols[c] && X.stride % 16 == 0);
        for (size_t i = 0; i < 5; i++) {
            const uc_row row = uc_matrix_row(&X, i);
            assert_int_equal(row.count, cols[c]);
            assert_null(row.columns);
            assert_int_equal((uintptr_t)row.values % 64, 0);
        }
        for (size_t i = 0; i < 5 * X.stride; i++)
            assert_true(X.values[i] == 0.0f);
        assert_int_equal(uc_matrix_entries(&X), 5 * cols[c]);
        uc_matrix_free(&X);
        assert_null(X.values);
    }
}

static void matrices_too_large_are_refused(void **state)
{
    (void)state;
    uc_matrix X = {.rows = 77};
    assert_error(uc_matrix_create_dense(&X, SIZE_MAX / 16, 32), UC_ERR_NOMEM,
                 "a dense matrix of 1152921504606846975 rows and 32 columns is too large");
    assert_status(uc_matrix_create_dense(&X, 1, SIZE_MAX - 3), UC_ERR_NOMEM);
    assert_status(uc_matrix_create_sparse(&X, 1, 1, SIZE_MAX / 2), UC_ERR_NOMEM);
    assert_int_equal(X.rows, 77);
}

static void check_subset(const uc_matrix *X, const size_t *rows, size_t count)
{
    uc_matrix part;
    assert_ok(uc_matrix_subset(&part, X, rows, count, NULL));
    const size_t expected = rows ? count : X->rows;
    assert_int_equal(part.rows, expected);
    assert_int_equal(part.cols, X->cols);
    assert_int_equal(uc_matrix_is_sparse(&part), uc_matrix_is_sparse(X));
    size_t entries = 0;
    for (size_t i = 0; i < expected; i++) {
        const size_t from = rows ? rows[i] : i;
        entries += uc_matrix_row(X, from).count;
        assert_int_equal(uc_matrix_row(&part, i).count, uc_matrix_row(X, from).count);
        for (size_t j = 0; j < X->cols; j++)
            assert_true(value_at(&part, i, j) == value_at(X, from, j));
    }
    assert_int_equal(uc_matrix_entries(&part), entries);
    uc_matrix_free(&part);
}

static void a_subset_has_the_rows_named_in_their_order(void **state)
{
    (void)state;
    const size_t rows[] = {7, 0, 7, 3, 19}, none[1] = {0};
    uc_matrix X = random_sparse(1, 20, 23, 3);
    for (int dense = 0; dense < 2; dense++) {
        check_subset(&X, rows, 5);
        check_subset(&X, NULL, 0);
        check_subset(&X, none, 0);
        if (!dense)
            assert_ok(uc_matrix_densify(&X));
    }
    uc_matrix_free(&X);
}

static void densifying_scatters_every_value_and_nothing_else(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{0, 0}, {1, 1}, {3, 0}, {0, 5}, {10, 7}, {37, 100}};
    for (size_t s = 0; s < 6; s++) {
        const size_t rows = shapes[s][0], cols = shapes[s][1];
        uc_matrix X = random_sparse(s, rows, cols, 3), before;
        assert_ok(uc_matrix_subset(&before, &X, NULL, 0, NULL));
        assert_ok(uc_matrix_densify(&X));
        assert_false(uc_matrix_is_sparse(&X));
        assert_true(X.rows == rows && X.cols == cols && !X.columns);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < X.stride; j++)
                assert_true(X.values[i * X.stride + j] == (j < cols ? value_at(&before, i, j) : 0.0f));
        uc_matrix_free(&X);
        uc_matrix_free(&before);
    }
}

static void transposing_twice_changes_nothing(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{0, 0}, {1, 1}, {3, 0}, {0, 5}, {10, 7}, {37, 100}};
    for (size_t s = 0; s < 6; s++) {
        const size_t rows = shapes[s][0], cols = shapes[s][1];
        uc_matrix X = random_sparse(s, rows, cols, 3), turned, back;
        assert_ok(uc_matrix_transpose(&turned, &X));
        assert_ok(uc_matrix_transpose(&back, &turned));
        assert_true(turned.rows == cols && turned.cols == rows);
        assert_true(uc_matrix_entries(&turned) == uc_matrix_entries(&X));
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++)
                assert_true(value_at(&turned, j, i) == value_at(&X, i, j));
        for (size_t j = 0; j < cols; j++)
            for (size_t e = 1; e < uc_matrix_row(&turned, j).count; e++)
                assert_true(uc_matrix_row(&turned, j).columns[e - 1] < uc_matrix_row(&turned, j).columns[e]);
        assert_memory_equal(back.offsets, X.offsets, (rows + 1) * sizeof *X.offsets);
        assert_memory_equal(back.columns, X.columns, uc_matrix_entries(&X) * sizeof *X.columns);
        uc_matrix_free(&X);
        uc_matrix_free(&turned);
        uc_matrix_free(&back);
    }
}

/* Large enough that memory is given back on the way, several times. */
static void densifying_a_large_matrix_keeps_every_value(void **state)
{
    (void)state;
    const size_t rows = 300000, entries_a_row = 32, cols = 64;
    uc_matrix X;
    assert_ok(uc_matrix_create_sparse(&X, rows, cols, rows * entries_a_row));
    for (size_t i = 0; i < rows; i++) {
        for (size_t e = 0; e < entries_a_row; e++) {
            X.columns[i * entries_a_row + e] = (uint32_t)(2 * e + i % 2);
            X.values[i * entries_a_row + e] = (float)(i % 1000) + (float)e / 32.0f;
        }
        X.offsets[i + 1] = (i + 1) * entries_a_row;
    }
    assert_ok(uc_matrix_densify(&X));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            if (X.values[i * X.stride + j] !=
                (j % 2 == i % 2 ? (float)(i % 1000) + (float)(j / 2) / 32.0f : 0.0f))
                fail_msg("row %zu, column %zu is %g", i, j, (double)X.values[i * X.stride + j]);
    uc_matrix_free(&X);
}

static uc_status make_densify_subset(uc_matrix *out)
{
    uc_matrix X, part = {0};
    uc_status status = uc_matrix_create_sparse(&X, 4, 5, 4);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < 4; i++) {
        X.columns[i] = (uint32_t)i;
        X.values[i] = (float)i;
        X.offsets[i + 1] = i + 1;
    }
    status = uc_matrix_subset(&part, &X, NULL, 0, NULL);
    if (status == UC_OK)
        status = uc_matrix_densify(&part);
    if (status == UC_OK)
        status = uc_matrix_subset(out, &part, NULL, 0, NULL);
    uc_matrix_free(&X);
    uc_matrix_free(&part);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_matrix X;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, make_densify_subset(&X));
    assert_true(value_at(&X, 3, 3) == 3.0f);
    uc_matrix_free(&X);
}

/* Values stay where they are; columns keep their order and are all used. */
static void empty_columns_are_dropped_from_both(void **state)
{
    (void)state;
    uc_matrix X[2] = {random_sparse(31, 20, 300, 40), random_sparse(32, 7, 300, 40)};
    bool used[300] = {false};
    size_t count = 0;
    uint32_t before[2][400];
    for (size_t m = 0; m < 2; m++) {
        assert_in_range(uc_matrix_entries(&X[m]), 1, 400);
        memcpy(before[m], X[m].columns, uc_matrix_entries(&X[m]) * sizeof **before);
        for (size_t e = 0; e < uc_matrix_entries(&X[m]); e++) {
            count += !used[X[m].columns[e]];
            used[X[m].columns[e]] = true;
        }
    }
    assert_in_range(count, 1, 299);
    assert_ok(uc_matrix_drop_empty_columns(&X[0], &X[1]));
    for (size_t m = 0; m < 2; m++) {
        assert_int_equal(X[m].cols, count);
        for (size_t e = 0; e < uc_matrix_entries(&X[m]); e++) {
            size_t place = 0;
            for (size_t j = 0; j < before[m][e]; j++)
                place += used[j];
            assert_int_equal(X[m].columns[e], place);
        }
    }
    uc_matrix_free(&X[0]);
    uc_matrix_free(&X[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_columns_are_dropped_from_both),
        cmocka_unit_test(a_dense_matrix_is_zero_and_its_rows_are_aligned),
        cmocka_unit_test(matrices_too_large_are_refused),
        cmocka_unit_test(a_subset_has_the_rows_named_in_their_order),
        cmocka_unit_test(densifying_scatters_every_value_and_nothing_else),
        cmocka_unit_test(transposing_twice_changes_nothing),
        cmocka_unit_test(densifying_a_large_matrix_keeps_every_value),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
