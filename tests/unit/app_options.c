/* The words of a command line, read by option tables. */
#include <string.h>

#include "app/message.h"
#include "app/options.h"
#include "tests/support.h"

const app_program app_this_program = {.name = "program"};

typedef struct settings {
    int loud;
    uint64_t passes;
    double cost;
    const char *output;
} settings;

static const uc_option first_table[] = {
    {.name = "loud",
     .letter = 'l',
     .type = UC_OPTION_FLAG,
     .offset = offsetof(settings, loud),
     .standard = "off"},
    {.name = "passes",
     .letter = 'p',
     .type = UC_OPTION_COUNT,
     .offset = offsetof(settings, passes),
     .standard = "5",
     .low = 1,
     .high = 100},
    {.name = "output", .letter = 'o', .type = UC_OPTION_TEXT, .offset = offsetof(settings, output)},
    {0},
};
static const uc_option second_table[] = {
    {.name = "cost", .type = UC_OPTION_REAL, .offset = offsetof(settings, cost), .standard = "1", .high = 10},
    {.name = "passes",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(settings, passes),
     .standard = "7",
     .high = 100},
    {0},
};

/* Everything that was read: settings of both tables, and the words between the options, each in brackets. */
typedef struct outcome {
    settings first, second;
    char words[128];
    uc_status status;
} outcome;

static outcome read_words(char *const *argv)
{
    outcome out = {.status = UC_OK};
    app_tables tables = {0};
    int argc = 0;
    while (argv[argc])
        argc++;
    app_tables_add(&tables, "First", first_table, &out.first);
    app_tables_add(&tables, "Second", second_table, &out.second);
    app_tables_add(&tables, "Known", second_table, NULL);
    app_tables_defaults(&tables);
    app_parser parser = {.tables = &tables, .argc = argc, .argv = (char **)argv, .see = "program help"};
    for (app_token token; out.status == UC_OK;) {
        out.status = app_parser_next(&token, &parser);
        if (out.status != UC_OK || !token.text)
            break;
        if (token.option)
            out.status = app_tables_set(&tables, token.option, token.text);
        else
            snprintf(out.words + strlen(out.words), sizeof out.words - strlen(out.words), "[%s]", token.text);
    }
    app_tables_free(&tables);
    return out;
}

#define READ(...) read_words((char *const[]){__VA_ARGS__, NULL})

static void defaults_hold_where_nothing_is_typed(void **state)
{
    (void)state;
    const outcome out = READ("data", "-");
    assert_ok(out.status);
    assert_string_equal(out.words, "[data][-]");
    assert_true(!out.first.loud && out.first.passes == 5 && !out.first.output);
    assert_true(out.second.cost == 1 && out.second.passes == 7);
}

static void an_option_has_many_spellings(void **state)
{
    (void)state;
    const outcome spellings[] = {READ("--passes", "9", "-l"),
                                 READ("--passes=9", "--loud"),
                                 READ("-p", "9", "-l"),
                                 READ("-p9", "-l"),
                                 READ("-lp9"),
                                 READ("-lp", "9")};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        assert_ok(spellings[i].status);
        assert_true(spellings[i].first.loud && spellings[i].first.passes == 9);
        assert_true(spellings[i].second.passes == 9); /* set in all tables */
        assert_string_equal(spellings[i].words, "");
    }
}

static void a_flag_can_be_turned_off_and_the_last_one_counts(void **state)
{
    (void)state;
    assert_false(READ("--loud", "--no-loud").first.loud);
    assert_true(READ("--no-loud", "--loud").first.loud);
}

static void after_two_dashes_everything_is_a_word(void **state)
{
    (void)state;
    const outcome out = READ("a", "--loud", "--", "--loud=x", "--", "-p");
    assert_ok(out.status);
    assert_string_equal(out.words, "[a][--loud=x][--][-p]");
    assert_true(out.first.loud);
}

static void a_value_may_look_like_an_option(void **state)
{
    (void)state;
    const outcome out = READ("--output", "--loud", "-o-x");
    assert_ok(out.status);
    assert_string_equal(out.first.output, "-x");
    assert_false(out.first.loud);
}

static void check_refused(outcome out, const char *sentence)
{
    assert_int_equal(out.status, UC_ERR_OPTION);
    assert_string_equal(app_last_error(), sentence);
    app_forget_error();
}

static void what_is_wrong_is_one_sentence(void **state)
{
    (void)state;
    check_refused(READ("--pases", "3"), "unknown option --pases; did you mean --passes?");
    check_refused(READ("--no-passes"), "unknown option --no-passes; did you mean --passes?");
    check_refused(READ("--no-loud=on"), "unknown option --no-loud; did you mean --loud?");
    check_refused(READ("--colour", "red"), "unknown option --colour; see program help");
    check_refused(READ("-z"), "unknown option -z; see program help");
    check_refused(READ("-lz"), "unknown option -z; see program help");
    check_refused(READ("--passes"), "--passes needs a value");
    check_refused(READ("-p"), "-p needs a value");
    check_refused(READ("--passes", "0"), "--passes 0: it must be a whole number from 1 to 100");
    check_refused(READ("--cost", "11"), "--cost 11: it must be a number from 0 to 10");
}

static void a_name_that_is_too_long_is_unknown(void **state)
{
    (void)state;
    char word[400] = "--";
    memset(word + 2, 'x', sizeof word - 3);
    assert_int_equal(READ(word).status, UC_ERR_OPTION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_hold_where_nothing_is_typed),
        cmocka_unit_test(an_option_has_many_spellings),
        cmocka_unit_test(a_flag_can_be_turned_off_and_the_last_one_counts),
        cmocka_unit_test(after_two_dashes_everything_is_a_word),
        cmocka_unit_test(a_value_may_look_like_an_option),
        cmocka_unit_test(what_is_wrong_is_one_sentence),
        cmocka_unit_test(a_name_that_is_too_long_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
