/* Numbers in text, compared with the C library's strtod and printf. */
#include "tests/support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"
#include "unconfuse/random.h"

/* uc_number_read on a copy with the slack that it asks for; *used is how many characters it took. */
static float read_number(const char *text, size_t *used)
{
    static char copy[2048];
    assert_true(strlen(text) + UC_NUMBER_SLACK < sizeof copy);
    memset(copy, 0, sizeof copy);
    strcpy(copy, text);
    float value = 0.0f;
    *used = (size_t)(uc_number_read(&value, copy) - copy);
    return value;
}

static void check_like_strtod(const char *text)
{
    size_t used;
    const float value = read_number(text, &used);
    const float want = (float)strtod(text, NULL);
    if (used != strlen(text) || memcmp(&value, &want, sizeof value) != 0)
        fail_msg("'%s': read %zu characters as %.9g, not %.9g", text, used, (double)value, (double)want);
}

static void every_shape_of_number_reads_like_strtod(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "-.5",
                                        "+.25e1",
                                        "1e5",
                                        "1E+05",
                                        "1e-05",
                                        "00012",
                                        "0.10",
                                        "12345678",
                                        "123456789",
                                        "1234567890123456789",
                                        "12345678901234567890",
                                        "0.12345678",
                                        "0.123456789",
                                        "0.1234567890123456",
                                        "0.9876543210987654",
                                        "0.98765432109876543",
                                        "1234567.12345678901234567",
                                        "99999999.99999999",
                                        "1e38",
                                        "3.4028234663852886e38",
                                        "3.4028235677973366e38",
                                        "3.5e38",
                                        "1e39",
                                        "-1e999",
                                        "1e-37",
                                        "1.17549435e-38",
                                        "1e-40",
                                        "1e-45",
                                        "7.006492321624085e-46",
                                        "7.006492321624086e-46",
                                        "1e-46",
                                        "1e-400",
                                        "-1e-999999999999",
                                        "0.0000000000000000000000000000000000000000000001",
                                        "100000000000000000000000000000000000000",
                                        "16777217",
                                        "16777217.0000000000000000000000000001",
                                        "1.00000005960464477539062500",
                                        "1.000000059604644775390625000000000000000000000000001",
                                        "0e99999999999999999999",
                                        "9007199254740993"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_like_strtod(texts[i]);
}

static void random_numbers_read_like_strtod(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(1, 0);
    for (int i = 0; i < 200000; i++) {
        char text[400];
        const int digits = (int)uc_rng_below(&rng, 25);
        const double scale = pow(10.0, (double)uc_rng_below(&rng, 90) - 48.0);
        const double value = (uc_rng_uniform(&rng) - 0.5) * (i % 2 ? scale : 10.0);
        snprintf(text, sizeof text, i % 3 == 0 ? "%.*e" : i % 3 == 1 ? "%.*g" : "%.*f", digits, value);
        check_like_strtod(text);
    }
}

/* The hardest to round: texts in the exact middle of two floats, and a little off it. */
static void numbers_between_two_floats_read_like_strtod(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(2, 0);
    for (int i = 0; i < 50000; i++) {
        const uint32_t bits = uc_rng_word(&rng) & 0x7effffffu;
        float low;
        memcpy(&low, &bits, sizeof low);
        const double middle = ((double)low + (double)nextafterf(low, INFINITY)) / 2.0;
        char text[400];
        snprintf(text, sizeof text, "%.*e", (int)(uc_rng_below(&rng, 100) + 15), middle);
        check_like_strtod(text);
        snprintf(text, sizeof text, "%.17e", nextafter(middle, i % 2 ? 0.0 : INFINITY));
        check_like_strtod(text);
    }
}

static void a_thousand_digits_are_read_to_their_end(void **state)
{
    (void)state;
    char text[1200] = "16777217.";
    for (size_t i = strlen(text); i < 1100; i++)
        text[i] = '0';
    check_like_strtod(text);
    text[1050] = '1';
    check_like_strtod(text);
}

static void reading_stops_where_the_number_ends(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t used;
    } cases[] = {{"", 0},       {"-", 0},    {".", 0},          {"+.", 0},   {"e5", 0},
                 {"nan", 0},    {"inf", 0},  {"abc", 0},        {"1e", 1},   {"1e+", 1},
                 {"1.5e-x", 3}, {"0x10", 1}, {"1.2.3", 3},      {"1 2", 1},  {"12,5", 2},
                 {"--1", 0},    {"1:2", 1},  {"123456789:", 9}, {"1.5#", 3}, {"1-2", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t used;
        read_number(cases[i].text, &used);
        if (used != cases[i].used)
            fail_msg("'%s': read %zu characters, not %zu", cases[i].text, used, cases[i].used);
    }
}

static void the_mask_marks_what_is_not_a_digit(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(3, 0);
    for (int i = 0; i < 20000; i++) {
        char text[64];
        for (size_t j = 0; j < sizeof text; j++)
            text[j] = i % 2 ? (char)uc_rng_word(&rng) : (char)('-' + uc_rng_below(&rng, 14));
        const uint32_t mask = uc_number_mask_16(text);
        for (unsigned j = 0; j < 16; j++)
            assert_int_equal(mask >> j & 1, text[j] < '0' || text[j] > '9');
        uint64_t value, plain = 0;
        const unsigned count = uc_number_digits(&value, text);
        unsigned j = 0;
        for (; j < 8 && text[j] >= '0' && text[j] <= '9'; j++)
            plain = plain * 10 + (uint64_t)(text[j] - '0');
        assert_int_equal(count, j);
        assert_int_equal(value, plain);
    }
}

/* The fast reader takes what it says, and gives what the other one gives. */
static void the_usual_shape_is_read_as_any_is(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(6, 0);
    size_t taken = 0;
    for (int i = 0; i < 200000; i++) {
        static const char kinds[] = "0123456789012345678901234567.-+eE, ";
        char text[24 + UC_NUMBER_SLACK] = {0};
        const size_t length = uc_rng_below(&rng, 20);
        for (size_t j = 0; j < length; j++)
            text[j] = kinds[uc_rng_below(&rng, j == 0 ? sizeof kinds - 1 : sizeof kinds - 6)];
        float usual = 0.0f, any = 0.0f;
        const char *end = uc_number_read_usual(&usual, text), *other = uc_number_read_any(&any, text);
        const size_t digits = strspn(text + (*text == '-'), "0123456789.");
        if (end) {
            assert_ptr_equal(end, other);
            assert_memory_equal(&usual, &any, sizeof usual);
            assert_true(digits <= 9);
            taken++;
        }
    }
    assert_true(taken > 50000);
}

static void every_written_float_reads_back(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(4, 0);
    for (int i = 0; i < 300000; i++) {
        uint32_t bits = uc_rng_word(&rng);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (i % 2)
            value = (float)(uc_rng_uniform(&rng) - 0.5);
        if (!isfinite(value))
            continue;
        char text[UC_NUMBER_TEXT + 1] = "";
        assert_true(uc_number_write(text, value) <= UC_NUMBER_TEXT);
        size_t used;
        const float back = read_number(text, &used);
        if (memcmp(&back, &value, sizeof back) != 0 || used != strlen(text))
            fail_msg("%.9g was written as '%s'", (double)value, text);
    }
}

/* Significant digits without leading and trailing zeros. */
static size_t digits_of(const char *text)
{
    size_t count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && count == 0))
            continue;
        count++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return count - zeros;
}

static void no_shorter_text_would_read_back(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(5, 0);
    for (int i = 0; i < 20000; i++) {
        const float value =
            (float)((uc_rng_uniform(&rng) - 0.5) * pow(10.0, (double)uc_rng_below(&rng, 60) - 30.0));
        char text[UC_NUMBER_TEXT + 1] = "", shortest[40];
        uc_number_write(text, value);
        int digits = 0;
        do
            snprintf(shortest, sizeof shortest, "%.*e", digits++, (double)value);
        while ((float)strtod(shortest, NULL) != value);
        const bool whole =
            !strpbrk(text, ".e"); /* 46642072 is shorter than 4.664207e7, though it has a digit more */
        if (!whole && digits_of(text) > digits_of(shortest))
            fail_msg("'%s' is longer than '%s'", text, shortest);
    }
}

static void numbers_are_written_as_people_write_them(void **state)
{
    (void)state;
    static const struct {
        float value;
        const char *text;
    } cases[] = {{0.0f, "0"},
                 {-0.0f, "-0"},
                 {1.0f, "1"},
                 {-12.0f, "-12"},
                 {0.1f, "0.1"},
                 {0.5f, "0.5"},
                 {-2.25f, "-2.25"},
                 {123456.0f, "123456"},
                 {1e10f, "1e+10"},
                 {1.5e-7f, "1.5e-07"},
                 {3.4028235e38f, "3.4028235e+38"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[UC_NUMBER_TEXT + 1] = "";
        uc_number_write(text, cases[i].value);
        assert_string_equal(text, cases[i].text);
    }
}

static void doubles_are_written_as_python_writes_them(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{1.0, "1.0"},
                 {0.5, "0.5"},
                 {-3.0, "-3.0"},
                 {0.0, "0.0"},
                 {123456789.0, "123456789.0"},
                 {0.1, "0.1"},
                 {1e15, "1000000000000000.0"},
                 {1e16, "1e+16"},
                 {0.0001, "0.0001"},
                 {0.00001, "1e-05"},
                 {1.0 / 3.0, "0.3333333333333333"},
                 {12.5, "12.5"},
                 {1.5e300, "1.5e+300"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[40] = "";
        uc_number_write_real(text, cases[i].value);
        assert_string_equal(text, cases[i].text);
    }
}

static void complaints_name_the_reason(void **state)
{
    (void)state;
    assert_string_equal(uc_number_complaint("abc", 3), "is not a number");
    assert_string_equal(uc_number_complaint("0x1p3", 5), "is not a number");
    assert_string_equal(uc_number_complaint("1.2.3", 5), "is not a number");
    assert_string_equal(uc_number_complaint("NaN", 3), "is not a finite number");
    assert_string_equal(uc_number_complaint("-Infinity", 9), "is not a finite number");
    assert_string_equal(uc_number_complaint("1e39", 4), "is beyond the range of float");
    assert_string_equal(uc_number_complaint("-1e999", 6), "is beyond the range of float");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_of_number_reads_like_strtod),
        cmocka_unit_test(random_numbers_read_like_strtod),
        cmocka_unit_test(numbers_between_two_floats_read_like_strtod),
        cmocka_unit_test(a_thousand_digits_are_read_to_their_end),
        cmocka_unit_test(reading_stops_where_the_number_ends),
        cmocka_unit_test(the_mask_marks_what_is_not_a_digit),
        cmocka_unit_test(the_usual_shape_is_read_as_any_is),
        cmocka_unit_test(every_written_float_reads_back),
        cmocka_unit_test(no_shorter_text_would_read_back),
        cmocka_unit_test(numbers_are_written_as_people_write_them),
        cmocka_unit_test(doubles_are_written_as_python_writes_them),
        cmocka_unit_test(complaints_name_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
