/* Option tables: every type, every bound, text and back, and every default of the library. */
#include "tests/support.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unconfuse/dataset.h"
#include "unconfuse/learn.h"
#include "unconfuse/option.h"

typedef struct settings {
    int flag, automatic_flag;
    uint64_t count, automatic_count;
    double real, above, automatic_real;
    int choice;
    const char *text;
    uint64_t bytes;
} settings;

enum { FLAG, AUTO_FLAG, COUNT, AUTO_COUNT, REAL, ABOVE, AUTO_REAL, CHOICE, TEXT, BYTES };

static const uc_option table[] = {
    [FLAG] = {.name = "flag", .type = UC_OPTION_FLAG, .offset = offsetof(settings, flag), .standard = "on"},
    [AUTO_FLAG] = {.name = "auto-flag",
                   .type = UC_OPTION_FLAG,
                   .automatic = true,
                   .offset = offsetof(settings, automatic_flag),
                   .standard = "auto"},
    [COUNT] = {.name = "count",
               .type = UC_OPTION_COUNT,
               .offset = offsetof(settings, count),
               .standard = "5",
               .low = 1,
               .high = 100},
    [AUTO_COUNT] = {.name = "auto-count",
                    .type = UC_OPTION_COUNT,
                    .automatic = true,
                    .offset = offsetof(settings, automatic_count),
                    .standard = "auto",
                    .low = 2,
                    .high = 0x1p63},
    [REAL] = {.name = "real",
              .type = UC_OPTION_REAL,
              .offset = offsetof(settings, real),
              .standard = "-0.5",
              .low = -1,
              .high = 1},
    [ABOVE] = {.name = "above",
               .type = UC_OPTION_REAL,
               .above_low = true,
               .offset = offsetof(settings, above),
               .standard = "1",
               .low = 0,
               .high = INFINITY},
    [AUTO_REAL] = {.name = "auto-real",
                   .type = UC_OPTION_REAL,
                   .automatic = true,
                   .above_low = true,
                   .offset = offsetof(settings, automatic_real),
                   .standard = "auto",
                   .low = 0,
                   .high = 1},
    [CHOICE] = {.name = "choice",
                .type = UC_OPTION_CHOICE,
                .offset = offsetof(settings, choice),
                .standard = "range",
                .choices = "none|range|standard"},
    [TEXT] = {.name = "text", .type = UC_OPTION_TEXT, .offset = offsetof(settings, text)},
    [BYTES] = {.name = "bytes",
               .type = UC_OPTION_BYTES,
               .offset = offsetof(settings, bytes),
               .standard = "1M"},
    {.name = NULL},
};

static settings defaults(void)
{
    settings values;
    memset(&values, 0x5a, sizeof values);
    uc_options_defaults(table, &values);
    return values;
}

static void defaults_fill_every_field(void **state)
{
    (void)state;
    const settings values = defaults();
    assert_int_equal(values.flag, 1);
    assert_int_equal(values.automatic_flag, UC_AUTO_FLAG);
    assert_int_equal(values.count, 5);
    assert_true(values.automatic_count == UC_AUTO_COUNT);
    assert_true(values.real == -0.5);
    assert_true(values.above == 1.0);
    assert_true(isnan(values.automatic_real));
    assert_int_equal(values.choice, 1);
    assert_null(values.text);
    assert_int_equal(values.bytes, 1 << 20);
    assert_ok(uc_options_check(table, &values));
}

static void an_entry_is_found_by_its_whole_name(void **state)
{
    (void)state;
    assert_ptr_equal(uc_options_find(table, "auto-count"), &table[AUTO_COUNT]);
    assert_null(uc_options_find(table, "auto"));
    assert_null(uc_options_find(table, ""));
    assert_null(uc_options_find(table, "auto-counts"));
}

/* `value` is refused with the sentence and leaves everything as it was. */
static void check_refused(int entry, const char *value, const char *sentence)
{
    settings values = defaults();
    const settings before = values;
    assert_error(uc_option_set(&table[entry], &values, value), UC_ERR_OPTION, sentence);
    assert_memory_equal(&values, &before, sizeof values);
}

static void flags_are_words(void **state)
{
    (void)state;
    settings values = defaults();
    static const char *const on[] = {"on", "yes", "true", "1"}, *const off[] = {"off", "no", "false", "0"};
    for (size_t i = 0; i < 4; i++) {
        assert_ok(uc_option_set(&table[FLAG], &values, off[i]));
        assert_int_equal(values.flag, 0);
        assert_ok(uc_option_set(&table[FLAG], &values, on[i]));
        assert_int_equal(values.flag, 1);
    }
    assert_ok(uc_option_set(&table[AUTO_FLAG], &values, "off"));
    assert_ok(uc_option_set(&table[AUTO_FLAG], &values, "auto"));
    assert_int_equal(values.automatic_flag, UC_AUTO_FLAG);
    check_refused(FLAG, "auto", "{flag:=auto}: it must be on or off");
    check_refused(FLAG, "2", "{flag:=2}: it must be on or off");
    check_refused(FLAG, "", "{flag:=}: it must be on or off");
}

static void counts_stay_within_their_bounds(void **state)
{
    (void)state;
    settings values = defaults();
    assert_ok(uc_option_set(&table[COUNT], &values, "1"));
    assert_int_equal(values.count, 1);
    assert_ok(uc_option_set(&table[COUNT], &values, "100"));
    assert_int_equal(values.count, 100);
    assert_ok(uc_option_set(&table[COUNT], &values, "007"));
    assert_int_equal(values.count, 7);
    check_refused(COUNT, "0", "{count=0}: it must be a whole number from 1 to 100");
    check_refused(COUNT, "101", "{count=101}: it must be a whole number from 1 to 100");
    static const char *const bad[] = {"",
                                      "-1",
                                      "+1",
                                      "1.5",
                                      "1e1",
                                      " 1",
                                      "1 ",
                                      "auto",
                                      "ten",
                                      "0x1",
                                      "18446744073709551616",
                                      "99999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char sentence[128];
        snprintf(sentence, sizeof sentence, "{count=%s}: it must be a whole number from 1 to 100", bad[i]);
        check_refused(COUNT, bad[i], sentence);
    }
    assert_ok(uc_option_set(&table[AUTO_COUNT], &values, "auto"));
    assert_true(values.automatic_count == UC_AUTO_COUNT);
    assert_ok(uc_option_set(&table[AUTO_COUNT], &values, "9223372036854775807"));
    assert_true(values.automatic_count == INT64_MAX);
    check_refused(AUTO_COUNT, "1", "{auto-count=1}: it must be a whole number at least 2, or auto");
    check_refused(AUTO_COUNT, "18446744073709551615",
                  "{auto-count=18446744073709551615}: it must be a whole number at least 2, or auto");
}

static void reals_stay_within_their_bounds(void **state)
{
    (void)state;
    settings values = defaults();
    static const struct {
        const char *text;
        double value;
    } good[] = {{"-1", -1.0}, {"1", 1.0}, {".5", 0.5}, {"1e-3", 0.001}, {"+0.25", 0.25}, {"-0", 0.0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(uc_option_set(&table[REAL], &values, good[i].text));
        assert_true(values.real == good[i].value);
    }
    check_refused(REAL, "1.0000001", "{real=1.0000001}: it must be a number from -1 to 1");
    check_refused(REAL, "-1.0000001", "{real=-1.0000001}: it must be a number from -1 to 1");
    static const char *const bad[] = {"",    "auto", "nan", "inf", "-inf", "0x1p-1",
                                      "1,0", " 1",   "1 ",  "1e",  "e1",   "--1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char sentence[128];
        snprintf(sentence, sizeof sentence, "{real=%s}: it must be a number from -1 to 1", bad[i]);
        check_refused(REAL, bad[i], sentence);
    }
    assert_ok(uc_option_set(&table[ABOVE], &values, "1e-300"));
    assert_ok(uc_option_set(&table[ABOVE], &values, "1e300"));
    check_refused(ABOVE, "0", "{above=0}: it must be a number above 0");
    check_refused(ABOVE, "1e999", "{above=1e999}: it must be a number above 0");
    check_refused(AUTO_REAL, "0", "{auto-real=0}: it must be a number above 0 and at most 1, or auto");
    check_refused(AUTO_REAL, "2", "{auto-real=2}: it must be a number above 0 and at most 1, or auto");
    check_refused(AUTO_REAL, "nan", "{auto-real=nan}: it must be a number above 0 and at most 1, or auto");
    assert_ok(uc_option_set(&table[AUTO_REAL], &values, "1"));
    assert_ok(uc_option_set(&table[AUTO_REAL], &values, "auto"));
    assert_true(isnan(values.automatic_real));
}

static void choices_are_whole_words(void **state)
{
    (void)state;
    settings values = defaults();
    static const char *const words[] = {"none", "range", "standard"};
    for (int i = 0; i < 3; i++) {
        assert_ok(uc_option_set(&table[CHOICE], &values, words[i]));
        assert_int_equal(values.choice, i);
    }
    static const char *const bad[] = {"", "non", "nonee", "none|range", "0", "None", "|"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char sentence[128];
        snprintf(sentence, sizeof sentence, "{choice=%s}: it must be one of none|range|standard", bad[i]);
        check_refused(CHOICE, bad[i], sentence);
    }
}

static void bytes_have_units(void **state)
{
    (void)state;
    settings values = defaults();
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"1048576", 1048576},
                {"512K", UINT64_C(512) << 10},
                {"64M", UINT64_C(64) << 20},
                {"2G", UINT64_C(2) << 30},
                {"1T", UINT64_C(1) << 40},
                {"16777215T", UINT64_C(16777215) << 40},
                {"18446744073709551615", UINT64_MAX}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(uc_option_set(&table[BYTES], &values, good[i].text));
        assert_true(values.bytes == good[i].value);
    }
    static const char *const bad[] = {"",     "M",         "1MM", "-1M",
                                      "1.5G", "16777216T", "1X",  "18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char sentence[128];
        snprintf(sentence, sizeof sentence, "{bytes=%s}: it must be a size such as 512M or 4G", bad[i]);
        check_refused(BYTES, bad[i], sentence);
    }
}

static void pairs_are_two_numbers_or_a_word(void **state)
{
    (void)state;
    static const uc_option pairs[] = {{.name = "pair",
                                       .type = UC_OPTION_PAIR,
                                       .standard = "none",
                                       .zero = "none",
                                       .unknown = "estimate",
                                       .high = 0.5},
                                      {.name = NULL}};
    const struct {
        const char *typed, *written;
        double first, second;
    } good[] = {{"none", "none", 0, 0}, {"0,0", "none", 0, 0}, {"0.1,.25", "0.1,0.25", 0.1, 0.25}};
    double pair[2] = {7, 7};
    char text[64];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(uc_option_set(pairs, pair, good[i].typed));
        assert_true(pair[0] == good[i].first && pair[1] == good[i].second);
        uc_option_text(pairs, pair, text, sizeof text);
        assert_string_equal(text, good[i].written);
        assert_ok(uc_options_check(pairs, pair));
    }
    const char *const bad[] = {"",         "0.1",         "0.1,",    ",0.1", "0.1,0.6",
                               "-0.1,0.1", "0.1,0.1,0.1", "nan,nan", "auto"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char sentence[160];
        snprintf(
            sentence, sizeof sentence,
            "{pair=%s}: it must be two numbers with a comma between them, both from 0 to 0.5, or none, or "
            "estimate",
            bad[i]);
        assert_int_equal(uc_option_set(pairs, pair, bad[i]), UC_ERR_OPTION);
        assert_string_equal(uc_last_error(), sentence);
        assert_true(pair[0] == 0.1 && pair[1] == 0.25);
    }
    pair[1] = 0.7;
    assert_int_equal(uc_options_check(pairs, pair), UC_ERR_OPTION);
    assert_ok(uc_option_set(pairs, pair, "estimate"));
    assert_true(isnan(pair[0]) && isnan(pair[1]));
    uc_option_text(pairs, pair, text, sizeof text);
    assert_string_equal(text, "estimate");
    assert_ok(uc_options_check(pairs, pair));
}

static void text_is_borrowed(void **state)
{
    (void)state;
    settings values = defaults();
    const char *given = "any text, even auto";
    assert_ok(uc_option_set(&table[TEXT], &values, given));
    assert_ptr_equal(values.text, given);
    char text[64];
    assert_int_equal(uc_option_text(&table[TEXT], &values, text, sizeof text), strlen(given));
    assert_string_equal(text, given);
    values.text = NULL;
    assert_int_equal(uc_option_text(&table[TEXT], &values, text, sizeof text), 0);
    assert_string_equal(text, "");
}

static void check_text(int entry, const char *value, const char *expected)
{
    settings values = defaults();
    char text[64];
    assert_ok(uc_option_set(&table[entry], &values, value));
    assert_int_equal(uc_option_text(&table[entry], &values, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
}

static void values_are_written_as_a_user_would_type_them(void **state)
{
    (void)state;
    check_text(FLAG, "yes", "on");
    check_text(FLAG, "0", "off");
    check_text(AUTO_FLAG, "auto", "auto");
    check_text(COUNT, "07", "7");
    check_text(AUTO_COUNT, "auto", "auto");
    check_text(REAL, "0.10", "0.1");
    check_text(REAL, "1", "1");
    check_text(ABOVE, "1e-300", "1e-300");
    check_text(ABOVE, "123456789", "123456789");
    check_text(AUTO_REAL, "auto", "auto");
    check_text(CHOICE, "standard", "standard");
    check_text(BYTES, "2K", "2048");
}

/* Numbers of all sizes, some of which need all 17 digits. */
static void a_real_written_is_the_same_number_read(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(1, 1);
    for (size_t i = 0; i < 20000; i++) {
        settings values = defaults(), back = defaults();
        char text[64];
        values.above = fabs(ldexp(uc_rng_uniform(&rng), (int)uc_rng_below(&rng, 2000) - 1000));
        if (values.above == 0.0)
            continue;
        uc_option_text(&table[ABOVE], &values, text, sizeof text);
        assert_ok(uc_option_set(&table[ABOVE], &back, text));
        assert_true(back.above == values.above);
    }
}

static void a_text_too_long_for_its_room_is_cut_and_terminated(void **state)
{
    (void)state;
    settings values = defaults();
    char text[6] = "xxxxx";
    values.choice = 2;
    assert_int_equal(uc_option_text(&table[CHOICE], &values, text, sizeof text), strlen("standard"));
    assert_string_equal(text, "stand");
}

static void settings_filled_in_by_hand_are_checked(void **state)
{
    (void)state;
    settings values = defaults();
    values.count = 0;
    assert_error(uc_options_check(table, &values), UC_ERR_OPTION, "{count=0}: it must be from 1 to 100");
    values.count = UC_AUTO_COUNT;
    assert_status(uc_options_check(table, &values), UC_ERR_OPTION);
    values = defaults();
    values.automatic_count = 1;
    assert_error(uc_options_check(table, &values), UC_ERR_OPTION,
                 "{auto-count=1}: it must be at least 2, or auto");
    values = defaults();
    values.real = 1.5;
    assert_error(uc_options_check(table, &values), UC_ERR_OPTION, "{real=1.5}: it must be from -1 to 1");
    values.real = NAN; /* auto, where there is none */
    assert_status(uc_options_check(table, &values), UC_ERR_OPTION);
    values = defaults();
    values.above = INFINITY;
    assert_status(uc_options_check(table, &values), UC_ERR_OPTION);
    values.above = 0.0;
    assert_error(uc_options_check(table, &values), UC_ERR_OPTION, "{above=0}: it must be above 0");
    values = defaults();
    values.choice = 3;
    assert_error(uc_options_check(table, &values), UC_ERR_OPTION,
                 "{choice}: choice 3 is not one of none|range|standard");
    values.choice = -1;
    assert_status(uc_options_check(table, &values), UC_ERR_OPTION);
}

/* In a locale whose decimal point is a comma, options are still read and written with a point. */
static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        print_message("no locale with a decimal comma: only the C locale is checked\n");
    }
    double value = 0.0;
    assert_true(uc_parse_real(&value, "0.25", 4));
    assert_true(value == 0.25);
    assert_false(uc_parse_real(&value, "0,25", 4));
    setlocale(LC_ALL, "C");
}

static void numbers_are_read_to_their_length_only(void **state)
{
    (void)state;
    double value = 0.0;
    uint64_t count = 0;
    assert_true(uc_parse_real(&value, "12.5xyz", 4));
    assert_true(value == 12.5);
    assert_false(uc_parse_real(&value, "12.5xyz", 5));
    assert_true(uc_parse_count(&count, "123abc", 3));
    assert_int_equal(count, 123);
    assert_false(uc_parse_count(&count, "123abc", 4));
    assert_false(uc_parse_count(&count, "", 0));
    assert_false(uc_parse_real(&value, "", 0));
    assert_true(uc_parse_count(&count, "18446744073709551615", 20));
    assert_true(count == UINT64_MAX);
    assert_false(uc_parse_count(&count, "18446744073709551616", 20));
    char digits[600];
    memset(digits, '1', sizeof digits);
    assert_false(uc_parse_count(&count, digits, sizeof digits));
    assert_true(uc_parse_real(&value, digits, 300));
    assert_near_relative(value, 1.1111111111111111e299, 1e-15);
}

/* Sets every entry to its default by uc_option_set, as uc_options_defaults does without looking at the
 * status. */
static void check_table(const uc_option *options, size_t size, const char *owner)
{
    char *values = calloc(1, size), text[256];
    assert_non_null(values);
    for (const uc_option *option = options; option->name; option++) {
        if (!option->standard) {
            if (option->type != UC_OPTION_TEXT)
                fail_msg("%s --%s has no default", owner, option->name);
            continue;
        }
        if (uc_option_set(option, values, option->standard) != UC_OK)
            fail_msg("%s: %s", owner, uc_last_error());
        uc_option_text(option, values, text, sizeof text);
        if (option->type != UC_OPTION_BYTES && strcmp(text, option->standard) != 0)
            fail_msg("%s --%s: the default %s is written as %s", owner, option->name, option->standard, text);
        if (!option->help || !*option->help || option->help[strlen(option->help) - 1] == '.')
            fail_msg("%s --%s: its help is missing or ends with a period", owner, option->name);
        if (uc_options_find(options, option->name) != option)
            fail_msg("%s --%s is in the table twice", owner, option->name);
        if (option->offset >= size)
            fail_msg("%s --%s lies outside of its settings", owner, option->name);
    }
    memset(values, 0, size);
    uc_options_defaults(options, values);
    if (uc_options_check(options, values) != UC_OK)
        fail_msg("%s: %s", owner, uc_last_error());
    free(values);
}

static void every_default_of_the_library_is_accepted(void **state)
{
    (void)state;
    check_table(uc_train_options, sizeof(uc_train_settings), "train");
    check_table(uc_read_options, sizeof(uc_read_settings), "read");
    size_t learners = 0, generators = 0;
    for (const uc_learner *learner; (learner = uc_learner_at(learners)) != NULL; learners++)
        check_table(uc_learner_options(learner), uc_learner_settings_size(learner), uc_learner_name(learner));
    for (const uc_generator *one; (one = uc_generator_at(generators)) != NULL; generators++)
        check_table(uc_generator_options(one), uc_generator_settings_size(one), uc_generator_name(one));
    assert_true(learners >= 3);
    assert_true(generators >= 8);
}

/* The option of a learner must not hide one of the settings that all learners share. */
static void learners_do_not_repeat_the_shared_options(void **state)
{
    (void)state;
    for (size_t i = 0; uc_learner_at(i); i++)
        for (const uc_option *option = uc_learner_options(uc_learner_at(i)); option->name; option++)
            if (uc_options_find(uc_train_options, option->name))
                fail_msg("%s --%s is also an option of every learner", uc_learner_name(uc_learner_at(i)),
                         option->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_fill_every_field),
        cmocka_unit_test(an_entry_is_found_by_its_whole_name),
        cmocka_unit_test(flags_are_words),
        cmocka_unit_test(counts_stay_within_their_bounds),
        cmocka_unit_test(reals_stay_within_their_bounds),
        cmocka_unit_test(choices_are_whole_words),
        cmocka_unit_test(bytes_have_units),
        cmocka_unit_test(pairs_are_two_numbers_or_a_word),
        cmocka_unit_test(text_is_borrowed),
        cmocka_unit_test(values_are_written_as_a_user_would_type_them),
        cmocka_unit_test(a_real_written_is_the_same_number_read),
        cmocka_unit_test(a_text_too_long_for_its_room_is_cut_and_terminated),
        cmocka_unit_test(settings_filled_in_by_hand_are_checked),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(numbers_are_read_to_their_length_only),
        cmocka_unit_test(every_default_of_the_library_is_accepted),
        cmocka_unit_test(learners_do_not_repeat_the_shared_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
