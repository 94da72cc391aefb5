/* Positive and unlabelled examples, labels of bags, and spellings of numbers. */
#include "tests/sample.h"

#include <stdlib.h>

enum { NONE = -1 };

/* One feature, the row's number; labels are positions in `names`, NONE an unlabelled row. */
static uc_dataset labelled(const char *const *names, size_t classes, const int *labels, size_t rows)
{
    uc_dataset data = {.classes = sample_names(names, classes)};
    assert_ok(uc_matrix_create_dense(&data.X, rows, 1));
    data.y = uc_alloc(rows, sizeof *data.y);
    assert_non_null(data.y);
    for (size_t i = 0; i < rows; i++) {
        data.X.values[i * data.X.stride] = (float)i;
        data.y[i] = labels[i] == NONE ? UC_NONE : (uint32_t)labels[i];
    }
    return data;
}

/* Afterwards the classes are `first` and `second`, and a row is positive where it was labelled so. */
static void check(const char *const *names, size_t classes, const int *labels, size_t rows,
                  const char *positive, int positive_before, const char *first, const char *second,
                  uint32_t positive_after)
{
    uc_dataset data = labelled(names, classes, labels, rows);
    uint32_t index = 77;
    assert_ok(uc_dataset_positive_unlabelled(&index, &data, positive, NULL));
    assert_int_equal(data.classes.count, 2);
    assert_string_equal(data.classes.text[0], first);
    assert_string_equal(data.classes.text[1], second);
    assert_int_equal(uc_names_find(&data.classes, first, strlen(first)), 0);
    assert_int_equal(uc_names_find(&data.classes, second, strlen(second)), 1);
    assert_int_equal(index, positive_after);
    for (size_t i = 0; i < rows; i++)
        assert_int_equal(data.y[i], labels[i] == positive_before ? index : 1 - index);
    uc_dataset_free(&data);
}

static void unlabelled_rows_become_the_class_that_has_no_name(void **state)
{
    (void)state;
    static const int labels[] = {0, NONE, NONE, 0, NONE};
    static const char *const names[][3] = {{"1", "-1", "1"},
                                           {"+1", "-1", "+1"},
                                           {"2", "2", "not-2"},
                                           {"spam", "not-spam", "spam"},
                                           {"apple", "apple", "not-apple"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *const *name = names[k];
        const uint32_t after = strcmp(name[0], name[1]) == 0 ? 0 : 1;
        check(name, 1, labels, 5, NULL, 0, name[1], name[2], after);
        check(name, 1, labels, 5, name[0], 0, name[1], name[2], after);
    }
}

static void the_later_of_two_classes_is_positive_unless_told(void **state)
{
    (void)state;
    static const char *const numbers[] = {"-1", "1"}, *const words[] = {"cat", "dog"};
    static const int pure[] = {0, 1, 1, 0, 0}, mixed[] = {0, 1, NONE, NONE, 1};
    check(numbers, 2, pure, 5, NULL, 1, "-1", "1", 1);
    check(numbers, 2, mixed, 5, NULL, 1, "-1", "1", 1);
    check(words, 2, pure, 5, "dog", 1, "cat", "dog", 1);
    check(words, 2, pure, 5, "cat", 0, "cat", "dog", 0);
    check(words, 2, mixed, 5, "cat", 0, "cat", "dog", 0);
}

/* A list in order of appearance is sorted, and the labels move with it. */
static void classes_end_up_sorted(void **state)
{
    (void)state;
    static const char *const names[] = {"10", "9"};
    static const int labels[] = {0, 1, NONE, 0};
    check(names, 2, labels, 4, "10", 0, "9", "10", 1);
    check(names, 2, labels, 4, NULL, 1, "9", "10", 0); /* the later one before it is sorted */
}

static void refuse(const char *const *names, size_t classes, const int *labels, size_t rows,
                   const char *positive, uc_status status, const char *sentence)
{
    uc_dataset data = labelled(names, classes, labels, rows);
    uint32_t index = 77;
    assert_error(uc_dataset_positive_unlabelled(&index, &data, positive, NULL), status, sentence);
    assert_int_equal(index, 77);
    assert_int_equal(data.classes.count, classes);
    for (size_t i = 0; i < rows; i++)
        assert_int_equal(data.y[i], labels[i] == NONE ? UC_NONE : (uint32_t)labels[i]);
    uc_dataset_free(&data);
}

static void labels_that_cannot_be_positive_and_unlabelled_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    static const int none[] = {NONE, NONE}, all[] = {0, 0, 0}, three[] = {0, 1, 2}, no_b[] = {0, 0, NONE};
    refuse(names, 0, none, 2, NULL, UC_ERR_FORMAT, "no example is labelled positive");
    refuse(names, 1, all, 3, NULL, UC_ERR_FORMAT,
           "every example is labelled a: unlabelled ones are needed too");
    refuse(names, 3, three, 3, NULL, UC_ERR_INVALID,
           "positive and unlabelled examples are of one or two classes, not 3");
    refuse(names, 1, no_b, 3, "b", UC_ERR_INVALID, "no example is labelled b, which {positive} names");
    refuse(names, 2, no_b, 3, "b", UC_ERR_FORMAT, "no example is labelled b");
    uc_dataset bare = {0};
    uint32_t index;
    assert_ok(uc_matrix_create_dense(&bare.X, 3, 1));
    assert_error(uc_dataset_positive_unlabelled(&index, &bare, NULL, NULL), UC_ERR_FORMAT,
                 "no example is labelled positive");
    uc_dataset_free(&bare);
}

/* Whatever fails, the data are as they were. */
static void every_allocation_may_fail_and_changes_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"apple"};
    static const int labels[] = {0, NONE, 0, NONE};
    uc_dataset data = labelled(names, 1, labels, 4);
    uint32_t index = 77;
    const long live = uc_alloc_live();
    for (long successes = 0;; successes++) {
        uc_alloc_fail_after(successes);
        const uc_status status = uc_dataset_positive_unlabelled(&index, &data, NULL, NULL);
        uc_alloc_fail_after(-1);
        if (status == UC_OK)
            break;
        assert_int_equal(status, UC_ERR_NOMEM);
        assert_int_equal(uc_alloc_live(), live);
        assert_int_equal(index, 77);
        assert_int_equal(data.classes.count, 1);
        assert_string_equal(data.classes.text[0], "apple");
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(data.y[i], labels[i] == NONE ? UC_NONE : 0u);
        assert_true(successes < 100);
    }
    assert_int_equal(index, 0);
    assert_string_equal(data.classes.text[1], "not-apple");
    uc_dataset_free(&data);
}

/* ---- bags ---- */

static uc_dataset bagged(const int *labels, const int *bags, size_t rows)
{
    static const char *const classes[] = {"-1", "1"}, *const bag_names[] = {"red", "blue", "green"};
    uc_dataset data = labelled(classes, 2, labels, rows);
    data.bags = sample_names(bag_names, 3);
    data.bag = uc_alloc(rows, sizeof *data.bag);
    assert_non_null(data.bag);
    for (size_t i = 0; i < rows; i++)
        data.bag[i] = bags[i] == NONE ? UC_NONE : (uint32_t)bags[i];
    return data;
}

static void bags_of_one_label_each_are_fine(void **state)
{
    (void)state;
    static const int labels[] = {1, 0, 1, 0, 0}, bags[] = {0, 1, 0, 2, 1};
    uc_dataset data = bagged(labels, bags, 5);
    uc_status status;
    assert_ok(uc_dataset_check_bags(&data, NULL));
    const long live = uc_alloc_live();
    FOR_EACH_FAILING_ALLOCATION(status, uc_dataset_check_bags(&data, NULL));
    assert_int_equal(uc_alloc_live(), live);
    uc_dataset_free(&data);
}

static void refuse_bags(const int *labels, const int *bags, size_t rows, const char *sentence)
{
    uc_dataset data = bagged(labels, bags, rows);
    assert_error(uc_dataset_check_bags(&data, NULL), UC_ERR_FORMAT, sentence);
    uc_dataset_free(&data);
}

static void bags_that_are_not_are_refused(void **state)
{
    (void)state;
    static const int labels[] = {1, 0, 1}, good[] = {0, 1, 0}, one[] = {2, 2, 2}, same[] = {1, 1, 1};
    static const int both[] = {0, 1, 1}, lost[] = {0, NONE, 0}, unlabelled[] = {1, 0, NONE};
    refuse_bags(same, one, 3, "all examples are in one bag, where two are needed");
    refuse_bags(labels, both, 3, "bag blue has examples labelled -1 and 1: a bag has one label");
    refuse_bags(labels, lost, 3, "example 2 has no bag");
    refuse_bags(unlabelled, good, 3, "example 3 has no label");
    uc_dataset data = bagged(labels, good, 3);
    uc_free(data.y);
    data.y = NULL;
    assert_error(uc_dataset_check_bags(&data, NULL), UC_ERR_FORMAT, "example 1 has no label");
    uc_free(data.bag);
    data.bag = NULL;
    assert_error(uc_dataset_check_bags(&data, NULL), UC_ERR_FORMAT,
                 "the data have no bags: LIBSVM rows name theirs as bag:ID after the label, CSV files in a "
                 "column that {bag} names");
    uc_dataset_free(&data);
}

/* The spellings come again and again in one block of rows, the first one last. */
static void spellings_of_numbers_that_come_again_are_one_class(void **state)
{
    (void)state;
    enum { NUMBERS = 20, TURNS = 3 };
    char text[8192];
    size_t length = 0;
    for (int turn = 0; turn < TURNS; turn++)
        for (int k = NUMBERS - 1; k >= 0; k--)
            length +=
                (size_t)snprintf(text + length, sizeof text - length, "%d 1:1\n+%d 1:1\n%d.0 1:1\n", k, k, k);
    length += (size_t)snprintf(text + length, sizeof text - length, "+%d 1:1\n", NUMBERS - 1);
    uc_dataset data;
    assert_ok(uc_dataset_read_memory(&data, text, length, "data", NULL, NULL));
    assert_int_equal(data.classes.count, NUMBERS);
    assert_int_equal(data.X.rows, 3 * TURNS * NUMBERS + 1);
    for (size_t i = 0; i < data.X.rows; i++)
        assert_int_equal(data.y[i], NUMBERS - 1 - i / 3 % NUMBERS);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unlabelled_rows_become_the_class_that_has_no_name),
        cmocka_unit_test(the_later_of_two_classes_is_positive_unless_told),
        cmocka_unit_test(classes_end_up_sorted),
        cmocka_unit_test(labels_that_cannot_be_positive_and_unlabelled_are_refused),
        cmocka_unit_test(every_allocation_may_fail_and_changes_nothing),
        cmocka_unit_test(bags_of_one_label_each_are_fine),
        cmocka_unit_test(bags_that_are_not_are_refused),
        cmocka_unit_test(spellings_of_numbers_that_come_again_are_one_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
