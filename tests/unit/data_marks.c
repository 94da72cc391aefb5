/* Marks of characters and batches of numbers, at every CPU level, compared with strtod and character by
 * character. */
#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/marks.h"
#include "unconfuse/cpu.h"
#include "unconfuse/random.h"

#define FIELDS ((size_t)4000)

static const char *const levels[] = {"baseline", "best"};

/* Fields of random numbers, with a comma after each, and now and then a newline or an odd field. */
static char *random_text(size_t *length, uint64_t seed)
{
    static const char *const odd[] = {"",  "1e5",   "+1",  ".5",        "1.", "x",
                                      "-", "1.2.3", "--1", "123456789", "-.5"};
    uc_rng rng = uc_rng_make(seed, 1);
    char *text = calloc(FIELDS * 24 + UC_NUMBER_SLACK, 1), *to = text;
    for (size_t i = 0; i < FIELDS; i++) {
        const unsigned decimals = (unsigned)(uc_rng_below(&rng, 8)),
                       whole = (unsigned)(uc_rng_below(&rng, 9));
        const unsigned m = (unsigned)(uc_rng_below(&rng, 100000000));
        if (uc_rng_below(&rng, 16) == 0)
            to += sprintf(to, "%s", odd[uc_rng_below(&rng, sizeof odd / sizeof *odd)]);
        else
            to += sprintf(to, "%s%.*f", uc_rng_below(&rng, 2) ? "-" : "", (int)decimals,
                          (double)m / (double)uc_count_of_ten[whole]);
        *to++ = uc_rng_below(&rng, 20) == 0 ? '\n' : ',';
    }
    to[-1] = '\n';
    *length = (size_t)(to - text);
    return text;
}

/* The shape that a batch takes: -?[0-9]+(\.[0-9]*)?, one to eight digits. */
static bool is_usual(const char *p, size_t length)
{
    const char *end = p + length;
    size_t digits = 0, points = 0;
    for (p += *p == '-'; p < end; p++) {
        if (*p == '.' && digits > 0 && points == 0)
            points++;
        else if (*p >= '0' && *p <= '9')
            digits++;
        else
            return false;
    }
    return digits >= 1 && digits <= 8;
}

/* strtod of only the field, since the text after it may look like more of the number. */
static float value_of(const char *p, size_t length)
{
    char field[32] = "";
    assert_in_range(length, 1, sizeof field - 1);
    memcpy(field, p, length);
    return (float)strtod(field, NULL);
}

/* Returns how many fields there are. */
static size_t read_all(const char *text, size_t length, char delimiter)
{
    static uc_marks marks;
    const char ends[] = {delimiter, '\n', '\0'};
    uc_batch batch;
    float got[UC_BATCH], want[UC_BATCH];
    size_t seen = 0;
    uc_marks_begin(&marks, text, text + length, delimiter);
    batch.count = 0;
    for (const char *p = text; p < text + length; seen++) {
        uc_marks_reach(&marks, p);
        const size_t place = (size_t)(p - marks.begin), size = strcspn(p, ends);
        const unsigned known = uc_marks_length(&marks, place);
        assert_int_equal(known, size < UC_MARKS_AHEAD ? size : UC_MARKS_AHEAD);
        const uint64_t others = uc_marks_at(marks.others, place) & (((uint64_t)1 << known) - 1);
        for (size_t i = 0; i < known; i++)
            assert_int_equal(others >> i & 1, p[i] < '0' || p[i] > '9');
        const bool usual = uc_batch_add(&batch, p, known, others);
        assert_int_equal(usual, is_usual(p, size) && p[size] != '.');
        if (usual)
            want[batch.count++] = value_of(p, size);
        p += size + 1;
        const size_t count = batch.count;
        if (count == UC_BATCH || p == text + length || seen % 13 == 12) { /* batches of any size */
            uc_batch_numbers(got, &batch);
            assert_int_equal(batch.count, 0);
            if (count > 0)
                assert_memory_equal(got, want, count * sizeof *got);
        }
    }
    return seen;
}

/* A separator may be a character that numbers have, too. */
static void every_number_of_a_batch_reads_like_strtod(void **state)
{
    (void)state;
    for (size_t l = 0; l < 2; l++) {
        size_t length;
        char *text = random_text(&length, 7 + l);
        assert_ok(uc_cpu_set_level(levels[l]));
        assert_int_equal(read_all(text, length, ','), FIELDS);
        assert_true(read_all(text, length, '-') > 0);
        assert_true(read_all(text, length, '.') > 0);
        free(text);
    }
    assert_ok(uc_cpu_set_level("best"));
}

/* Whole numbers beyond 2^24 lie between two floats: the product with a power of ten is not trusted there.
 * */
static void numbers_between_two_floats_are_rounded_like_strtod(void **state)
{
    (void)state;
    for (size_t l = 0; l < 2; l++) {
        assert_ok(uc_cpu_set_level(levels[l]));
        for (unsigned m = 16777217; m < 17100000; m += 32 * 9) {
            uc_batch batch = {.count = 0};
            float got[9], want[9];
            for (unsigned i = 0; i < 9; i++) {
                char text[16 + 64] = "";
                const unsigned decimals = i % 8, sign = i % 2;
                snprintf(text, sizeof text, "%u", m + 2 * i);
                batch.digits[i] = uc_batch_word(text, 8);
                batch.scales[i] = uc_batch_scales[8 * sign + decimals];
                snprintf(text, sizeof text, "%s%ue-%u", sign ? "-" : "", m + 2 * i, decimals);
                want[i] = (float)strtod(text, NULL);
            }
            batch.count = 9;
            uc_batch_numbers(got, &batch);
            assert_memory_equal(got, want, sizeof got);
        }
    }
    assert_ok(uc_cpu_set_level("best"));
}

static void columns_of_pairs_must_ascend(void **state)
{
    (void)state;
    for (size_t l = 0; l < 2; l++) {
        assert_ok(uc_cpu_set_level(levels[l]));
        for (size_t count = 1; count <= 11; count++)
            for (size_t wrong = 0; wrong <= count; wrong++) {
                uc_batch batch = {.count = count};
                float values[11] = {0};
                uint32_t columns[11] = {0};
                for (size_t i = 0; i < count; i++) {
                    char text[16 + 64] = "";
                    const size_t column = 100 + 7 * (i == wrong ? i - (i > 0) : i);
                    const int digits = snprintf(text, sizeof text, "%zu", wrong == 0 && i == 0 ? 99 : column);
                    batch.columns[i] = uc_batch_word(text, (unsigned)digits);
                    batch.digits[i] = uc_batch_word("25      ", 2);
                    batch.scales[i] = uc_batch_scales[1];
                }
                const bool ascend = uc_batch_pairs(values, columns, &batch, 99);
                assert_int_equal(ascend, wrong == count);
                for (size_t i = 0; i < count && ascend; i++) {
                    assert_int_equal(columns[i], 99 + 7 * i);
                    assert_true(values[i] == 2.5f);
                }
            }
    }
    assert_ok(uc_cpu_set_level("best"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_a_batch_reads_like_strtod),
        cmocka_unit_test(numbers_between_two_floats_are_rounded_like_strtod),
        cmocka_unit_test(columns_of_pairs_must_ascend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
