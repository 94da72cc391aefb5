/* Names: against a naive list, in both orders, through copies and failing allocations. */
#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unconfuse/names.h"
#include "unconfuse/random.h"

static uint32_t add(uc_names *names, const char *name)
{
    uint32_t index = UC_NONE;
    assert_ok(uc_names_add(&index, names, name, strlen(name)));
    return index;
}

static uint32_t find(const uc_names *names, const char *name)
{
    return uc_names_find(names, name, strlen(name));
}

/* Name number i; many of them begin alike. */
static void name_number(char *text, size_t size, size_t i)
{
    snprintf(text, size, "%s%zu",
             i % 3 == 0   ? ""
             : i % 3 == 1 ? "name "
                          : "a long beginning that many share/",
             i);
}

static void a_hundred_thousand_names_are_found_where_they_were_added(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    uc_names names = {0};
    char text[64];
    for (size_t i = 0; i < COUNT; i++) {
        name_number(text, sizeof text, i);
        assert_int_equal(find(&names, text), UC_NONE);
        assert_int_equal(add(&names, text), i);
    }
    for (size_t i = COUNT; i-- > 0;) { /* adding again changes nothing */
        name_number(text, sizeof text, i);
        assert_int_equal(find(&names, text), i);
        assert_int_equal(add(&names, text), i);
        assert_string_equal(names.text[i], text);
    }
    assert_int_equal(names.count, COUNT);
    assert_int_equal(find(&names, "name 1000001"), UC_NONE);
    uc_names_free(&names);
    assert_int_equal(names.count, 0);
    assert_int_equal(find(&names, "name 1"), UC_NONE);
}

/* Random words over three letters, so that many repeat and many begin alike, against a linear search. */
static void a_set_of_names_is_what_a_naive_list_is(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(1, 2);
    uc_names names = {0};
    char list[3000][8];
    size_t count = 0;
    for (size_t round = 0; round < 5000; round++) {
        char word[8] = "";
        const size_t length = (size_t)uc_rng_below(&rng, 7);
        for (size_t i = 0; i < length; i++)
            word[i] = (char)('a' + uc_rng_below(&rng, 3));
        size_t expected = 0;
        while (expected < count && strcmp(list[expected], word) != 0)
            expected++;
        assert_int_equal(find(&names, word), expected < count ? (uint32_t)expected : UC_NONE);
        if (expected == count)
            strcpy(list[count++], word);
        assert_int_equal(add(&names, word), expected);
        assert_int_equal(names.count, count);
    }
    assert_true(count > 500 && count < 2000);
    uc_names_free(&names);
}

static void a_name_is_compared_whole(void **state)
{
    (void)state;
    uc_names names = {0};
    assert_int_equal(add(&names, "abc"), 0);
    assert_int_equal(add(&names, "ab"), 1);
    assert_int_equal(add(&names, ""), 2);
    assert_int_equal(add(&names, "abcd"), 3);
    assert_int_equal(uc_names_find(&names, "abcd", 3), 0);
    assert_int_equal(uc_names_find(&names, "abcd", 2), 1);
    assert_int_equal(uc_names_find(&names, "abcd", 0), 2);
    assert_int_equal(uc_names_find(&names, "abcd", 1), UC_NONE);
    uint32_t index;
    assert_ok(uc_names_add(&index, &names, "xyz tail", 3));
    assert_string_equal(names.text[index], "xyz");
    uc_names_free(&names);
}

static void check_sorted(const char *const *given, const char *const *expected, size_t count)
{
    uc_names names = {0};
    uint32_t renumber[16];
    for (size_t i = 0; i < count; i++)
        assert_int_equal(add(&names, given[i]), i);
    assert_ok(uc_names_sort(&names, renumber));
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(names.text[i], expected[i]);
        assert_string_equal(names.text[renumber[i]], given[i]);
        assert_int_equal(find(&names, given[i]), renumber[i]);
    }
    assert_int_equal(add(&names, "a new one"), count);
    uc_names_free(&names);
}

static void numbers_are_sorted_by_number(void **state)
{
    (void)state;
    static const char *const given[] = {"10", "9", "+1", "-1", "1e1", "1.0", "-2.5", "1", "007", "0.1"};
    /* equal numbers, all kept, by their bytes */
    static const char *const expected[] = {"-2.5", "-1", "0.1", "+1", "1", "1.0", "007", "9", "10", "1e1"};
    check_sorted(given, expected, 10);
}

static void one_word_among_numbers_sorts_all_by_bytes(void **state)
{
    (void)state;
    static const char *const given[] = {"10", "9", "cat", "+1", "-1", "Zebra", "\xc3\xa9", ""};
    static const char *const expected[] = {"", "+1", "-1", "10", "9", "Zebra", "cat", "\xc3\xa9"};
    check_sorted(given, expected, 8);
}

static void what_only_looks_like_a_number_is_a_word(void **state)
{
    (void)state;
    static const char *const hexadecimal[] = {"0x10", "9", "10"}, *const by_bytes[] = {"0x10", "10", "9"};
    check_sorted(hexadecimal, by_bytes, 3);
    static const char *const infinite[] = {"9", "inf", "10"}, *const by_bytes_2[] = {"10", "9", "inf"};
    check_sorted(infinite, by_bytes_2, 3);
    static const char *const not_a_number[] = {"nan", "9", "10"}, *const by_bytes_3[] = {"10", "9", "nan"};
    check_sorted(not_a_number, by_bytes_3, 3);
    static const char *const spaced[] = {" 9", "10"}, *const by_bytes_4[] = {" 9", "10"};
    check_sorted(spaced, by_bytes_4, 2);
    static const char *const partly[] = {"9a", "10"}, *const by_bytes_5[] = {"10", "9a"};
    check_sorted(partly, by_bytes_5, 2);
}

static int by_number(const void *a, const void *b)
{
    const double x = atof(*(const char *const *)a), y = atof(*(const char *const *)b);
    return x < y ? -1 : x > y;
}

static void many_numbers_are_sorted_as_qsort_would(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    uc_rng rng = uc_rng_make(3, 1);
    uc_names names = {0};
    while (names.count < COUNT) {
        char text[32];
        snprintf(text, sizeof text, "%.9g", 1000.0 * uc_rng_normal(&rng));
        add(&names, text);
    }
    const char **expected = malloc(COUNT * sizeof *expected);
    assert_non_null(expected);
    memcpy(expected, names.text, COUNT * sizeof *expected);
    qsort(expected, COUNT, sizeof *expected, by_number);
    assert_ok(uc_names_sort(&names, NULL));
    for (size_t i = 0; i < COUNT; i++)
        assert_ptr_equal(names.text[i], expected[i]);
    free(expected);
    uc_names_free(&names);
}

static void sorting_nothing_is_fine(void **state)
{
    (void)state;
    uc_names names = {0};
    assert_ok(uc_names_sort(&names, NULL));
    assert_int_equal(names.count, 0);
    uc_names_free(&names);
}

static void a_copy_is_independent(void **state)
{
    (void)state;
    uc_names names = {0}, copy;
    add(&names, "b");
    add(&names, "a");
    assert_ok(uc_names_copy(&copy, &names));
    assert_ok(uc_names_sort(&names, NULL));
    add(&names, "c");
    assert_int_equal(copy.count, 2);
    assert_string_equal(copy.text[0], "b");
    assert_int_equal(find(&copy, "a"), 1);
    assert_int_equal(find(&copy, "c"), UC_NONE);
    uc_names_free(&names);
    uc_names_free(&copy);
}

static uc_status build(uc_names *out)
{
    uc_names names = {0};
    uc_status status = UC_OK;
    for (size_t i = 0; i < 40 && status == UC_OK; i++) {
        char text[64];
        uint32_t index = 77;
        name_number(text, sizeof text, 40 - i);
        status = uc_names_add(&index, &names, text, strlen(text));
        if (status != UC_OK) { /* the set is as it was, and still works */
            assert_int_equal(index, 77);
            assert_int_equal(names.count, i);
            assert_int_equal(find(&names, text), UC_NONE);
        }
    }
    if (status == UC_OK)
        status = uc_names_sort(&names, NULL);
    uc_names copy = {0};
    if (status == UC_OK)
        status = uc_names_copy(&copy, &names);
    uc_names_free(&names);
    if (status == UC_OK)
        *out = copy;
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_names names;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, build(&names));
    assert_int_equal(names.count, 40);
    uc_names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_thousand_names_are_found_where_they_were_added),
        cmocka_unit_test(a_set_of_names_is_what_a_naive_list_is),
        cmocka_unit_test(a_name_is_compared_whole),
        cmocka_unit_test(numbers_are_sorted_by_number),
        cmocka_unit_test(one_word_among_numbers_sorts_all_by_bytes),
        cmocka_unit_test(what_only_looks_like_a_number_is_a_word),
        cmocka_unit_test(many_numbers_are_sorted_as_qsort_would),
        cmocka_unit_test(sorting_nothing_is_fine),
        cmocka_unit_test(a_copy_is_independent),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
