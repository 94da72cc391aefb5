/* Folds and splits: sizes, shares, order, and that they are random. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unconfuse/dataset.h"

enum { ROWS = 103, CLASSES = 4 };

/* Class k has about k + 1 tenths of the rows; feature 0 is the row's number; one in ten may lack a label. */
static void make_data(uc_dataset *out, size_t rows, bool unlabelled)
{
    static const uint32_t labels[10] = {3, 2, 3, 1, 3, 2, 0, 3, 1, 2};
    *out = (uc_dataset){0};
    assert_ok(uc_matrix_create_dense(&out->X, rows, 1));
    out->y = uc_alloc(rows, sizeof *out->y);
    assert_non_null(out->y);
    for (size_t i = 0; i < rows; i++) {
        out->X.values[i * out->X.stride] = (float)i;
        out->y[i] = unlabelled && i % 10 == 7 ? UC_NONE : labels[i % 10];
    }
    for (uint32_t k = 0; k < CLASSES; k++) {
        const char name[2] = {(char)('a' + k), 0};
        uint32_t index;
        assert_ok(uc_names_add(&index, &out->classes, name, 1));
    }
}

/* The largest and smallest number of rows of `label` (CLASSES: of all) in a fold differ by at most 1. */
static void check_folds(const uint32_t *fold, const uc_dataset *data, unsigned folds, uint32_t label)
{
    size_t counts[16] = {0}, least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < data->X.rows; i++) {
        assert_true(fold[i] < folds);
        counts[fold[i]] += label == CLASSES || data->y[i] == label;
    }
    for (unsigned f = 0; f < folds; f++) {
        least = counts[f] < least ? counts[f] : least;
        most = counts[f] > most ? counts[f] : most;
    }
    assert_true(most - least <= 1);
}

static void folds_are_equal_in_size_and_in_every_class(void **state)
{
    (void)state;
    uint32_t fold[ROWS];
    uc_dataset data;
    make_data(&data, ROWS, true);
    for (unsigned folds = 2; folds <= 16; folds++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            assert_ok(uc_dataset_folds(fold, &data, folds, true, seed, NULL));
            for (uint32_t label = 0; label <= CLASSES; label++)
                check_folds(fold, &data, folds, label);
            check_folds(fold, &data, folds, UC_NONE);
        }
    uc_dataset_free(&data);
}

static void folds_that_are_not_stratified_are_equal_in_size(void **state)
{
    (void)state;
    uint32_t fold[ROWS];
    uc_dataset data;
    make_data(&data, ROWS, false);
    bool uneven_class = false;
    for (uint64_t seed = 0; seed < 20; seed++) {
        assert_ok(uc_dataset_folds(fold, &data, 5, false, seed, NULL));
        check_folds(fold, &data, 5, CLASSES);
        size_t counts[5] = {0};
        for (size_t i = 0; i < ROWS; i++)
            counts[fold[i]] += data.y[i] == 3;
        uneven_class |= counts[0] > counts[1] + 2;
    }
    assert_true(uneven_class);
    uc_dataset_free(&data);
}

static void folds_depend_on_the_seed_alone(void **state)
{
    (void)state;
    uint32_t a[ROWS], b[ROWS];
    uc_dataset data;
    make_data(&data, ROWS, false);
    assert_ok(uc_dataset_folds(a, &data, 5, true, 7, NULL));
    assert_ok(uc_dataset_folds(b, &data, 5, true, 7, NULL));
    assert_memory_equal(a, b, sizeof a);
    assert_ok(uc_dataset_folds(b, &data, 5, true, 8, NULL));
    assert_memory_not_equal(a, b, sizeof a);
    uc_dataset_free(&data);
}

static void data_without_labels_have_folds_too(void **state)
{
    (void)state;
    uint32_t fold[ROWS];
    uc_dataset data;
    make_data(&data, ROWS, false);
    uc_free(data.y);
    data.y = NULL;
    assert_ok(uc_dataset_folds(fold, &data, 5, true, 1, NULL));
    check_folds(fold, &data, 5, CLASSES);
    uc_dataset_free(&data);
}

static void folds_out_of_range_are_refused(void **state)
{
    (void)state;
    uint32_t fold[ROWS];
    uc_dataset data;
    make_data(&data, 5, false);
    assert_error(uc_dataset_folds(fold, &data, 1, true, 1, NULL), UC_ERR_INVALID,
                 "the number of folds must be from 2 to the number of examples, 5, not 1");
    assert_error(uc_dataset_folds(fold, &data, 6, true, 1, NULL), UC_ERR_INVALID,
                 "the number of folds must be from 2 to the number of examples, 5, not 6");
    assert_ok(uc_dataset_folds(fold, &data, 5, true, 1, NULL));
    uc_dataset_free(&data);
}

/* The part's rows by their number, ascending; their labels are those of the data. */
static void check_part(bool *seen, const uc_dataset *part, const uc_dataset *data)
{
    for (size_t i = 0; i < part->X.rows; i++) {
        const size_t row = (size_t)part->X.values[i * part->X.stride];
        assert_true(i == 0 || part->X.values[i * part->X.stride] > part->X.values[(i - 1) * part->X.stride]);
        assert_false(seen[row]);
        seen[row] = true;
        assert_int_equal(part->y[i], data->y[row]);
    }
    assert_int_equal(part->classes.count, CLASSES);
    assert_string_equal(part->classes.text[3], "d");
}

static void a_split_shares_out_every_row_once_in_order(void **state)
{
    (void)state;
    uc_dataset data, first, second;
    make_data(&data, ROWS, true);
    for (int stratified = 0; stratified < 2; stratified++) {
        bool seen[ROWS] = {false};
        assert_ok(uc_dataset_split(&first, &second, &data, .7, stratified, 3, NULL));
        assert_int_equal(first.X.rows, 72); /* .7 * 103 = 72.1 */
        assert_int_equal(first.X.rows + second.X.rows, ROWS);
        check_part(seen, &first, &data);
        check_part(seen, &second, &data);
        uc_dataset_free(&first);
        uc_dataset_free(&second);
    }
    uc_dataset_free(&data);
}

static void a_stratified_split_shares_out_every_class(void **state)
{
    (void)state;
    uc_dataset data, first, second;
    make_data(&data, ROWS, false);
    size_t all[CLASSES], some[CLASSES];
    uc_dataset_class_counts(all, &data);
    for (double share = .05; share < .96; share += .05) {
        assert_ok(uc_dataset_split(&first, &second, &data, share, true, 11, NULL));
        uc_dataset_class_counts(some, &first);
        for (size_t k = 0; k < CLASSES; k++)
            assert_true(fabs((double)some[k] - share * (double)all[k]) < 1);
        uc_dataset_free(&first);
        uc_dataset_free(&second);
    }
    uc_dataset_free(&data);
}

/* 100 rows, classes of 10, 20, 30 and 40: whole numbers for every tenth, however .3 or .7 are rounded. */
static void a_split_is_exact_where_it_can_be(void **state)
{
    (void)state;
    uc_dataset data, first, second;
    make_data(&data, 100, false);
    for (unsigned tenths = 1; tenths < 10; tenths++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            size_t counts[CLASSES];
            assert_ok(uc_dataset_split(&first, &second, &data, tenths / 10.0, true, seed, NULL));
            uc_dataset_class_counts(counts, &first);
            for (size_t k = 0; k < CLASSES; k++)
                assert_int_equal(counts[k], (k + 1) * tenths);
            uc_dataset_free(&first);
            uc_dataset_free(&second);
        }
    uc_dataset_free(&data);
}

/* Over many seeds every row is in the first part as often as every other. */
static void a_split_favours_no_row(void **state)
{
    (void)state;
    enum { RUNS = 2000, N = 30 };
    size_t often[N] = {0};
    uc_dataset data, first, second;
    make_data(&data, N, false);
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        assert_ok(uc_dataset_split(&first, &second, &data, .4, false, seed, NULL));
        for (size_t i = 0; i < first.X.rows; i++)
            often[(size_t)first.X.values[i * first.X.stride]]++;
        uc_dataset_free(&first);
        uc_dataset_free(&second);
    }
    for (size_t i = 0; i < N; i++)
        assert_near((double)often[i], .4 * RUNS, 4.5 * sqrt(RUNS * .4 * .6));
    uc_dataset_free(&data);
}

static void a_split_that_leaves_a_part_empty_is_refused(void **state)
{
    (void)state;
    uc_dataset data, first = {0}, second = {0};
    make_data(&data, 5, false);
    assert_error(uc_dataset_split(&first, &second, &data, 0, true, 1, NULL), UC_ERR_INVALID,
                 "the share of the first part must be between 0 and 1, not 0");
    assert_error(uc_dataset_split(&first, &second, &data, 1.5, true, 1, NULL), UC_ERR_INVALID,
                 "the share of the first part must be between 0 and 1, not 1.5");
    assert_error(uc_dataset_split(&first, &second, &data, NAN, true, 1, NULL), UC_ERR_INVALID,
                 "the share of the first part must be between 0 and 1, not nan");
    assert_error(uc_dataset_split(&first, &second, &data, .01, true, 1, NULL), UC_ERR_INVALID,
                 "a share of 0.01 of 5 examples leaves one part empty");
    assert_error(uc_dataset_split(&first, &second, &data, .99, true, 1, NULL), UC_ERR_INVALID,
                 "a share of 0.99 of 5 examples leaves one part empty");
    assert_null(first.y);
    assert_null(second.y);
    uc_dataset_free(&data);
}

static void a_fold_and_the_others_are_all_rows_once_in_order(void **state)
{
    (void)state;
    uint32_t fold[ROWS];
    uc_dataset data, others, inside;
    make_data(&data, ROWS, true);
    assert_ok(uc_dataset_folds(fold, &data, 5, true, 2, NULL));
    for (unsigned f = 0; f < 6; f++) { /* the last fold has no rows */
        bool seen[ROWS] = {false};
        size_t expected = 0;
        assert_ok(uc_dataset_fold_split(&others, &inside, &data, fold, f, NULL));
        check_part(seen, &inside, &data);
        for (size_t i = 0; i < ROWS; i++) {
            assert_true(seen[i] == (fold[i] == f));
            expected += fold[i] == f;
        }
        assert_int_equal(inside.X.rows, expected);
        check_part(seen, &others, &data);
        assert_int_equal(inside.X.rows + others.X.rows, ROWS);
        uc_dataset_free(&others);
        uc_dataset_free(&inside);
    }
    uc_dataset_free(&data);
}

static void class_counts_leave_unlabelled_rows_out(void **state)
{
    (void)state;
    uc_dataset data;
    size_t counts[CLASSES];
    make_data(&data, 100, true);
    uc_dataset_class_counts(counts, &data);
    assert_int_equal(counts[0], 10);
    assert_int_equal(counts[1], 20);
    assert_int_equal(counts[2], 30);
    assert_int_equal(counts[3], 30); /* of 40, ten are unlabelled */
    uc_free(data.y);
    data.y = NULL;
    uc_dataset_class_counts(counts, &data);
    for (size_t k = 0; k < CLASSES; k++)
        assert_int_equal(counts[k], 0);
    uc_dataset_free(&data);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint32_t fold[ROWS];
    uc_dataset data, first, second;
    uc_status status;
    make_data(&data, ROWS, true);
    const long live = uc_alloc_live();
    FOR_EACH_FAILING_ALLOCATION(status, uc_dataset_folds(fold, &data, 5, true, 1, NULL));
    assert_int_equal(uc_alloc_live(), live);
    FOR_EACH_FAILING_ALLOCATION(status, uc_dataset_split(&first, &second, &data, .5, true, 1, NULL));
    uc_dataset_free(&first);
    uc_dataset_free(&second);
    assert_int_equal(uc_alloc_live(), live);
    assert_ok(uc_dataset_folds(fold, &data, 5, true, 1, NULL));
    FOR_EACH_FAILING_ALLOCATION(status, uc_dataset_fold_split(&first, &second, &data, fold, 3, NULL));
    uc_dataset_free(&first);
    uc_dataset_free(&second);
    assert_int_equal(uc_alloc_live(), live);
    uc_dataset_free(&data);
}

/* Bags of 1 to 4 rows, some numbers unused: whole bags, in folds of as many bags as possible, in every
 * class too. */
static void rows_of_a_bag_stay_together(void **state)
{
    (void)state;
    enum { BAGS = 40, FOLDS = 4 };
    uint32_t bag[4 * BAGS], y[4 * BAGS], fold[4 * BAGS], fold_of_bag[2 * BAGS];
    size_t rows = 0, bags_in[FOLDS][2] = {{0}};
    for (uint32_t b = 0; b < BAGS; b++)
        for (size_t i = 0; i <= b % 4; i++) {
            bag[rows] = 2 * b; /* every other number is not used */
            y[rows++] = b < BAGS / 2;
        }
    uc_dataset data = {.y = y, .bag = bag};
    uint32_t index;
    data.X.rows = rows;
    for (uint32_t b = 0; b < 2 * BAGS; b++) {
        char name[8];
        const int length = snprintf(name, sizeof name, "b%u", b);
        assert_ok(uc_names_add(&index, &data.bags, name, (size_t)length));
        fold_of_bag[b] = UC_NONE;
    }
    assert_ok(uc_names_add(&index, &data.classes, "a", 1));
    assert_ok(uc_names_add(&index, &data.classes, "b", 1));
    assert_ok(uc_dataset_folds(fold, &data, FOLDS, true, 7, NULL));
    for (size_t i = 0; i < rows; i++) {
        if (fold_of_bag[bag[i]] == UC_NONE) {
            fold_of_bag[bag[i]] = fold[i];
            bags_in[fold[i]][y[i]]++;
        }
        assert_int_equal(fold[i], fold_of_bag[bag[i]]);
    }
    for (size_t f = 0; f < FOLDS; f++)
        assert_true(bags_in[f][0] == BAGS / FOLDS / 2 && bags_in[f][1] == BAGS / FOLDS / 2);
    assert_error_has(uc_dataset_folds(fold, &data, BAGS + 1, true, 7, NULL), UC_ERR_INVALID,
                     "the number of bags, 40");
    uc_names_free(&data.bags);
    uc_names_free(&data.classes);
}

static void all_rows_of_one_bag_are_dealt_out_as_rows(void **state)
{
    (void)state;
    uint32_t bag[6] = {0}, y[6] = {0, 1, 0, 1, 0, 1}, fold[6];
    uc_dataset data = {.y = y, .bag = bag};
    uint32_t index;
    data.X.rows = 6;
    assert_ok(uc_names_add(&index, &data.bags, "only", 4));
    assert_ok(uc_names_add(&index, &data.classes, "a", 1));
    assert_ok(uc_names_add(&index, &data.classes, "b", 1));
    assert_int_equal(uc_dataset_fold_units(&data), 6);
    assert_ok(uc_dataset_folds(fold, &data, 3, true, 1, NULL));
    bag[5] = UC_NONE; /* a row in no bag: rows again */
    assert_int_equal(uc_dataset_fold_units(&data), 6);
    bag[5] = 1;
    assert_int_equal(uc_dataset_fold_units(&data), 2);
    uc_names_free(&data.bags);
    uc_names_free(&data.classes);
}

/* 3,000 rows: 2,900 of one class, 97 of another, 3 of a third. */
static void a_sample_keeps_rare_classes(void **state)
{
    (void)state;
    uc_dataset data = sample_data(3000, 2, 3, false, 1), drawn, again;
    for (size_t i = 0; i < 3000; i++) {
        data.y[i] = i % 1000 == 7 ? 2 : i % 31 == 1 ? 1 : 0;
        data.X.values[i * data.X.stride] = (float)i; /* tells which row it is */
    }
    size_t counts[3], of[3] = {0};
    uc_dataset_class_counts(counts, &data);
    assert_ok(uc_dataset_sample(&drawn, &data, 300, 5, NULL));
    assert_ok(uc_dataset_sample(&again, &data, 300, 5, NULL));
    bool seen[3000] = {false};
    for (size_t i = 0; i < drawn.X.rows; i++) {
        const size_t row = (size_t)drawn.X.values[i * drawn.X.stride];
        assert_false(seen[row]); /* no row twice */
        seen[row] = true;
        assert_int_equal(drawn.y[i], data.y[row]);
        of[drawn.y[i]]++;
        assert_true(again.X.values[i * again.X.stride] == drawn.X.values[i * drawn.X.stride]);
    }
    assert_int_equal(of[2], counts[2]);
    assert_int_equal(of[1], 20);
    assert_int_equal(of[0], counts[0] / 10);
    uc_dataset_free(&again);
    uc_dataset_free(&drawn);
    assert_ok(uc_dataset_sample(&drawn, &data, 3000, 5, NULL)); /* all of them, in their order */
    assert_int_equal(drawn.X.rows, 3000);
    assert_memory_equal(drawn.y, data.y, 3000 * sizeof *data.y);
    uc_dataset_free(&drawn);
    uc_dataset_free(&data);
}

/* Bags of one to five rows, a third of them of class 1. */
static void a_sample_of_bags_has_whole_bags(void **state)
{
    (void)state;
    enum { BAGS = 300 };
    size_t size[BAGS], found[BAGS] = {0}, rows = 0, of_class[2] = {0, 0};
    for (size_t b = 0; b < BAGS; b++)
        rows += size[b] = 1 + b % 5;
    uc_dataset data = sample_data(rows, 2, 2, false, 1), drawn;
    data.bag = uc_alloc(rows, sizeof *data.bag);
    for (size_t b = 0, i = 0; b < BAGS; b++) {
        char name[24];
        uint32_t index;
        snprintf(name, sizeof name, "%zu", b);
        assert_ok(uc_names_add(&index, &data.bags, name, strlen(name)));
        for (size_t k = 0; k < size[b]; k++, i++) {
            data.bag[i] = index;
            data.y[i] = b % 3 == 0;
        }
    }
    assert_ok(uc_dataset_sample_bags(&drawn, &data, 150, 5, NULL));
    for (size_t i = 0; i < drawn.X.rows; i++) {
        found[drawn.bag[i]]++;
        of_class[drawn.y[i]]++;
    }
    for (size_t b = 0; b < BAGS; b++)
        assert_true(found[b] == 0 || found[b] == size[b]);
    assert_true(of_class[1] >= 50 && of_class[1] <= 54 && of_class[0] >= 100 && of_class[0] <= 104);
    uc_dataset_free(&drawn);
    assert_ok(uc_dataset_sample_bags(&drawn, &data, rows, 5, NULL)); /* all of them */
    assert_int_equal(drawn.X.rows, rows);
    uc_dataset_free(&drawn);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, uc_dataset_sample_bags(&drawn, &data, 150, 6, NULL));
    uc_dataset_free(&drawn);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_of_bags_has_whole_bags),
        cmocka_unit_test(folds_are_equal_in_size_and_in_every_class),
        cmocka_unit_test(folds_that_are_not_stratified_are_equal_in_size),
        cmocka_unit_test(folds_depend_on_the_seed_alone),
        cmocka_unit_test(data_without_labels_have_folds_too),
        cmocka_unit_test(folds_out_of_range_are_refused),
        cmocka_unit_test(a_split_shares_out_every_row_once_in_order),
        cmocka_unit_test(a_stratified_split_shares_out_every_class),
        cmocka_unit_test(a_split_is_exact_where_it_can_be),
        cmocka_unit_test(a_split_favours_no_row),
        cmocka_unit_test(a_split_that_leaves_a_part_empty_is_refused),
        cmocka_unit_test(a_fold_and_the_others_are_all_rows_once_in_order),
        cmocka_unit_test(class_counts_leave_unlabelled_rows_out),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(rows_of_a_bag_stay_together),
        cmocka_unit_test(all_rows_of_one_bag_are_dealt_out_as_rows),
        cmocka_unit_test(a_sample_keeps_rare_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
