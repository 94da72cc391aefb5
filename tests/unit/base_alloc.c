/* Memory: alignment, zeroes, overflow, growing and shrinking, and the hook that makes allocations fail. */
#include "tests/support.h"

#include <string.h>

static void blocks_start_at_a_multiple_of_64_and_are_zero(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 7, 63, 64, 65, 1000, 4096, 100003, 3000000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        unsigned char *block[8];
        for (size_t b = 0; b < 8; b++) {
            block[b] = uc_alloc(sizes[s], 1);
            assert_non_null(block[b]);
            assert_int_equal((uintptr_t)block[b] % 64, 0);
            for (size_t i = 0; i < sizes[s]; i++)
                assert_int_equal(block[b][i], 0);
            memset(block[b], 0xa5, sizes[s]); /* so that memory used again would show */
        }
        for (size_t b = 0; b < 8; b++)
            uc_free(block[b]);
    }
}

static void sizes_that_overflow_are_refused_with_a_sentence(void **state)
{
    (void)state;
    const long live = uc_alloc_live();
    assert_null(uc_alloc(SIZE_MAX, 2));
    assert_string_equal(uc_last_error(), "not enough memory for 18446744073709551615 items of 2 bytes");
    assert_null(uc_alloc(SIZE_MAX / 2 + 1, 2));
    assert_null(uc_alloc(SIZE_MAX, 1)); /* the product fits, the header does not */
    assert_null(uc_alloc((size_t)1 << 32, (size_t)1 << 32));
    unsigned char *block = uc_alloc(10, 1);
    memcpy(block, "012345678", 10);
    assert_null(uc_realloc(block, SIZE_MAX / 4 + 1, 8));
    assert_null(uc_realloc(block, SIZE_MAX, 1));
    assert_string_equal((char *)block, "012345678");
    assert_int_equal(uc_alloc_live(), live + 1);
    uc_free(block);
    assert_int_equal(uc_alloc_live(), live);
}

/* Large blocks are moved by pages, to another alignment; small ones by copying. */
static void a_block_keeps_its_content_and_alignment_when_it_grows_and_shrinks(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 100, 5000, 40, 300000, 9000000, 300001, 17, 2000000, 64, 63, 0, 65, 1};
    uint32_t *block = uc_alloc(1, sizeof *block), *neighbour[20];
    size_t known = 1;
    block[0] = 12345;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        neighbour[s] = uc_alloc(s + 1, 1); /* keeps blocks from growing where they are */
        block = uc_realloc(block, sizes[s], sizeof *block);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        known = known < sizes[s] ? known : sizes[s];
        for (size_t i = 0; i < known; i++)
            assert_int_equal(block[i], 12345 + i);
        for (size_t i = known; i < sizes[s]; i++)
            block[i] = (uint32_t)(12345 + i);
        known = sizes[s];
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        uc_free(neighbour[s]);
    uc_free(block);
}

static void reallocating_nothing_is_allocating(void **state)
{
    (void)state;
    const long live = uc_alloc_live();
    int *block = uc_realloc(NULL, 10, sizeof *block);
    assert_non_null(block);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(block[i], 0);
    assert_int_equal(uc_alloc_live(), live + 1);
    uc_free(block);
    uc_free(NULL);
    assert_int_equal(uc_alloc_live(), live);
}

static void the_allocation_after_n_fails_and_so_do_all_later_ones(void **state)
{
    (void)state;
    for (long n = 0; n < 6; n++) {
        void *block[8] = {NULL};
        uc_alloc_fail_after(n);
        for (long i = 0; i < 8; i++) {
            block[i] = uc_alloc(3, 5);
            assert_true((block[i] != NULL) == (i < n));
        }
        assert_int_equal(uc_alloc_count(), 8);
        uc_alloc_fail_after(-1);
        for (size_t i = 0; i < 8; i++)
            uc_free(block[i]);
    }
    assert_int_equal(uc_alloc_count(), 0);
    char *block = uc_alloc(1, 1);
    block[0] = 'x';
    uc_alloc_fail_after(0);
    assert_null(uc_realloc(block, 100, 1));
    assert_int_equal(block[0], 'x');
    assert_null(uc_strdup("text"));
    uc_alloc_fail_after(-1);
    uc_free(block);
}

static void blocks_that_are_not_freed_are_counted(void **state)
{
    (void)state;
    const long live = uc_alloc_live();
    void *a = uc_alloc(1, 1), *b = uc_alloc(0, 8);
    assert_int_equal(uc_alloc_live(), live + 2);
    a = uc_realloc(a, 1000, 8);
    assert_int_equal(uc_alloc_live(), live + 2);
    uc_alloc_fail_after(0);
    assert_null(uc_alloc(1, 1));
    uc_alloc_fail_after(-1);
    assert_int_equal(uc_alloc_live(), live + 2);
    uc_free(b);
    uc_free(a);
    assert_int_equal(uc_alloc_live(), live);
}

static void strings_are_copied_up_to_their_length(void **state)
{
    (void)state;
    char *whole = uc_strdup("a text"), *part = uc_strndup("a text", 3), *none = uc_strndup("", 0);
    assert_string_equal(whole, "a text");
    assert_string_equal(part, "a t");
    assert_string_equal(none, "");
    uc_free(whole);
    uc_free(part);
    uc_free(none);
}

static void sums_and_products_of_sizes_say_when_they_overflow(void **state)
{
    (void)state;
    size_t out;
    assert_true(uc_size_add(&out, SIZE_MAX - 5, 5));
    assert_true(out == SIZE_MAX);
    assert_false(uc_size_add(&out, SIZE_MAX - 5, 6));
    assert_true(uc_size_mul(&out, SIZE_MAX / 3, 3));
    assert_true(out == SIZE_MAX / 3 * 3);
    assert_false(uc_size_mul(&out, SIZE_MAX / 3 + 1, 3));
    assert_true(uc_size_mul(&out, 0, SIZE_MAX));
    assert_int_equal(out, 0);
}

static void capacities_grow_by_doubling(void **state)
{
    (void)state;
    assert_int_equal(uc_grown(0, 0), 16);
    assert_int_equal(uc_grown(0, 17), 32);
    assert_int_equal(uc_grown(100, 101), 200);
    assert_int_equal(uc_grown(100, 50), 100);
    assert_true(uc_grown(16, SIZE_MAX) == SIZE_MAX);
    assert_true(uc_grown(SIZE_MAX / 2 + 2, SIZE_MAX - 1) == SIZE_MAX - 1);
}

static void the_last_sentence_can_be_part_of_the_next(void **state)
{
    (void)state;
    assert_error(uc_fail(UC_ERR_INVALID, "value %d", 7), UC_ERR_INVALID, "value 7");
    assert_error(uc_fail_again(UC_ERR_IO, "file: ", uc_last_error()), UC_ERR_IO, "file: value 7");
    assert_error(uc_fail(UC_ERR_FORMAT, "<%s>", uc_last_error()), UC_ERR_FORMAT, "<file: value 7>");
    char longest[2 * UC_MESSAGE_BYTES];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_status(uc_fail(UC_ERR_IO, "%s", longest), UC_ERR_IO);
    assert_int_equal(strlen(uc_last_error()), UC_MESSAGE_BYTES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_start_at_a_multiple_of_64_and_are_zero),
        cmocka_unit_test(sizes_that_overflow_are_refused_with_a_sentence),
        cmocka_unit_test(a_block_keeps_its_content_and_alignment_when_it_grows_and_shrinks),
        cmocka_unit_test(reallocating_nothing_is_allocating),
        cmocka_unit_test(the_allocation_after_n_fails_and_so_do_all_later_ones),
        cmocka_unit_test(blocks_that_are_not_freed_are_counted),
        cmocka_unit_test(strings_are_copied_up_to_their_length),
        cmocka_unit_test(sums_and_products_of_sizes_say_when_they_overflow),
        cmocka_unit_test(capacities_grow_by_doubling),
        cmocka_unit_test(the_last_sentence_can_be_part_of_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
