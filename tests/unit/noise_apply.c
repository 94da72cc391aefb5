/* Noise applied to labels: every entry of the matrix as a frequency. */
#include "tests/support.h"

#include <math.h>
#include <string.h>

#include "unconfuse/noise.h"

/* `rows` rows of classes 0, 1, ..., K-1, 0, 1, ... */
static void make_data(uc_dataset *out, size_t rows, uint32_t K)
{
    *out = (uc_dataset){0};
    assert_ok(uc_matrix_create_dense(&out->X, rows, 1));
    out->y = uc_alloc(rows, sizeof *out->y);
    assert_non_null(out->y);
    for (size_t i = 0; i < rows; i++)
        out->y[i] = (uint32_t)(i % K);
    for (uint32_t k = 0; k < K; k++) {
        const char name[2] = {(char)('a' + k), 0};
        uint32_t index;
        assert_ok(uc_names_add(&index, &out->classes, name, 1));
    }
}

static void check_frequencies(const uc_noise *noise, uint64_t seed)
{
    enum { PER_CLASS = 20000 };
    const size_t K = noise->classes;
    uc_dataset data;
    size_t counts[16 * 16] = {0}, changed, moved = 0;
    make_data(&data, PER_CLASS * K, (uint32_t)K);
    assert_ok(uc_noise_apply(&data, noise, seed, &changed));
    for (size_t i = 0; i < data.X.rows; i++) {
        assert_true(data.y[i] < K);
        counts[data.y[i] * K + i % K]++;
        moved += data.y[i] != i % K;
    }
    assert_int_equal(changed, moved);
    for (size_t i = 0; i < K * K; i++) {
        const double want = noise->values[i];
        assert_near((double)counts[i] / PER_CLASS, want, 4.5 * sqrt(want * (1 - want) / PER_CLASS));
    }
    uc_dataset_free(&data);
}

/* Entries of 0 and 1 have no deviation: they must come out exactly. */
static void observed_labels_have_the_frequencies_of_their_column(void **state)
{
    (void)state;
    uc_noise noise;
    const double C[16] = {.7, 0, .25, 0, .1, 1, .25, .05, .2, 0, .5, 0, 0, 0, 0, .95};
    assert_ok(uc_noise_create(&noise, C, 4, NULL, UC_NOISE_COLUMNS, "C"));
    check_frequencies(&noise, 1);
    uc_noise_free(&noise);
    assert_ok(uc_noise_random(&noise, 10, 6, 4));
    check_frequencies(&noise, 2);
    uc_noise_free(&noise);
    assert_ok(uc_noise_binary(&noise, .4, .1));
    check_frequencies(&noise, 3);
    uc_noise_free(&noise);
}

static void the_identity_changes_nothing(void **state)
{
    (void)state;
    uc_noise noise;
    uc_dataset data;
    size_t changed = 99;
    make_data(&data, 1000, 3);
    assert_ok(uc_noise_uniform(&noise, 3, 0));
    assert_ok(uc_noise_apply(&data, &noise, 1, &changed));
    assert_int_equal(changed, 0);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(data.y[i], i % 3);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
}

static void a_permutation_matrix_renames_every_label(void **state)
{
    (void)state;
    uc_noise noise;
    uc_dataset data;
    make_data(&data, 1000, 3);
    const double C[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0}; /* 0 -> 2, 1 -> 0, 2 -> 1 */
    assert_ok(uc_noise_create(&noise, C, 3, NULL, UC_NOISE_COLUMNS, "C"));
    assert_ok(uc_noise_apply(&data, &noise, 1, NULL));
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(data.y[i], (i + 2) % 3);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
}

static void labels_depend_on_the_seed_alone(void **state)
{
    (void)state;
    uc_noise noise;
    uc_dataset a, b, c;
    make_data(&a, 1000, 3);
    make_data(&b, 1000, 3);
    make_data(&c, 1000, 3);
    assert_ok(uc_noise_uniform(&noise, 3, .4));
    assert_ok(uc_noise_apply(&a, &noise, 5, NULL));
    assert_ok(uc_noise_apply(&b, &noise, 5, NULL));
    assert_ok(uc_noise_apply(&c, &noise, 6, NULL));
    assert_memory_equal(a.y, b.y, 1000 * sizeof *a.y);
    assert_memory_not_equal(a.y, c.y, 1000 * sizeof *a.y);
    uc_noise_free(&noise);
    uc_dataset_free(&a);
    uc_dataset_free(&b);
    uc_dataset_free(&c);
}

static void unlabelled_rows_stay_so_and_move_no_other(void **state)
{
    (void)state;
    uc_noise noise;
    uc_dataset all, some;
    make_data(&all, 1000, 3);
    make_data(&some, 1000, 3);
    for (size_t i = 0; i < 1000; i += 4)
        some.y[i] = UC_NONE;
    assert_ok(uc_noise_uniform(&noise, 3, .4));
    assert_ok(uc_noise_apply(&all, &noise, 5, NULL));
    assert_ok(uc_noise_apply(&some, &noise, 5, NULL));
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(some.y[i], i % 4 ? all.y[i] : UC_NONE);
    uc_noise_free(&noise);
    uc_dataset_free(&all);
    uc_dataset_free(&some);
}

static void data_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    uc_noise noise;
    uc_dataset data;
    size_t changed = 99;
    make_data(&data, 10, 3);
    assert_ok(uc_noise_uniform(&noise, 4, .4));
    assert_error(uc_noise_apply(&data, &noise, 1, &changed), UC_ERR_INVALID,
                 "the noise matrix has 4 classes, the data have 3");
    uc_noise_free(&noise);
    assert_ok(uc_noise_uniform(&noise, 3, .4));
    for (size_t k = 0; k < 3; k++) {
        uint32_t index;
        assert_ok(uc_names_add(&index, &noise.names, &"acb"[k], 1));
    }
    assert_error(uc_noise_apply(&data, &noise, 1, &changed), UC_ERR_INVALID,
                 "class 2 is \"c\" in the noise matrix and \"b\" in the data");
    assert_ok(uc_noise_match(&noise, &data.classes));
    assert_ok(uc_noise_apply(&data, &noise, 1, NULL));
    uc_free(data.y);
    data.y = NULL;
    assert_error(uc_noise_apply(&data, &noise, 1, &changed), UC_ERR_INVALID,
                 "the data have no labels to apply noise to");
    assert_int_equal(changed, 99);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
}

static void every_allocation_may_fail_and_leaves_the_labels(void **state)
{
    (void)state;
    uc_noise noise;
    uc_dataset data;
    make_data(&data, 100, 3);
    assert_ok(uc_noise_uniform(&noise, 3, .5));
    const long live = uc_alloc_live();
    uc_alloc_fail_after(0);
    assert_status(uc_noise_apply(&data, &noise, 1, NULL), UC_ERR_NOMEM);
    uc_alloc_fail_after(-1);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(data.y[i], i % 3);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_apply(&data, &noise, 1, NULL));
    assert_int_equal(uc_alloc_live(), live);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(observed_labels_have_the_frequencies_of_their_column),
        cmocka_unit_test(the_identity_changes_nothing),
        cmocka_unit_test(a_permutation_matrix_renames_every_label),
        cmocka_unit_test(labels_depend_on_the_seed_alone),
        cmocka_unit_test(unlabelled_rows_stay_so_and_move_no_other),
        cmocka_unit_test(data_that_do_not_fit_are_refused),
        cmocka_unit_test(every_allocation_may_fail_and_leaves_the_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
