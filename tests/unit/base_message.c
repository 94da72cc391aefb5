/* Sentences that name options: as the library has them, as each front end writes them, and what the user
 * brought. */
#include "tests/support.h"

#include <string.h>

#include "parallel/parallel.h"

static void check_rendered(const char *text, const char *command_line, const char *python, const char *json)
{
    char out[256];
    uc_message_render(out, sizeof out, text, UC_MESSAGE_COMMAND_LINE);
    assert_string_equal(out, command_line);
    uc_message_render(out, sizeof out, text, UC_MESSAGE_PYTHON);
    assert_string_equal(out, python);
    uc_message_render(out, sizeof out, text, UC_MESSAGE_JSON);
    assert_string_equal(out, json);
}

static void every_front_end_writes_names_its_way(void **state)
{
    (void)state;
    check_rendered("see {noise-orientation}.", "see --noise-orientation.", "see `noise_orientation`.",
                   "see \"noise_orientation\".");
    check_rendered("({scale}, {normalize})", "(--scale, --normalize)", "(`scale`, `normalize`)",
                   "(\"scale\", \"normalize\")");
    check_rendered("{scale=maxabs}", "--scale maxabs", "scale='maxabs'", "\"scale\": \"maxabs\"");
    check_rendered("{ridge=1e-3}", "--ridge 1e-3", "ridge=1e-3", "\"ridge\": 1e-3");
    check_rendered("{map=none}", "--map none", "map=None", "\"map\": null");
    check_rendered("{bags:=maybe}", "--bags=maybe", "bags='maybe'", "\"bags\": \"maybe\"");
    check_rendered("{average:=off}", "--average=off", "average=False", "\"average\": false");
    check_rendered("{noise-rates ETA+,ETA-} or", "--noise-rates ETA+,ETA- or", "`noise_rates` or",
                   "\"noise_rates\" or");
    check_rendered("{gamma,g G}", "-g G", "`gamma`", "\"gamma\"");
    check_rendered("{count=}: no", "--count : no", "count='': no", "\"count\": \"\": no");
    check_rendered("{a=it's \"so\"}", "--a it's \"so\"", "a='it\\'s \"so\"'", "\"a\": \"it's \\\"so\\\"\"");
}

static void text_without_names_stays_as_it_is(void **state)
{
    (void)state;
    const char *const texts[] = {"",   "a plain sentence", "{", "}", "{ x }", "{X}", "{}", "{a?}", "{a:b}",
                                 "{,}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_rendered(texts[i], texts[i], texts[i], texts[i]);
    check_rendered("a class {{scale}} }}{{", "a class {scale} }{", "a class {scale} }{",
                   "a class {scale} }{");
}

static void a_sentence_that_was_cut_is_rendered_to_its_end(void **state)
{
    (void)state;
    check_rendered("{scale", "--scale", "`scale`", "\"scale\"");
    check_rendered("{scale=max", "--scale max", "scale='max'", "\"scale\": \"max\"");
}

static void what_does_not_fit_is_cut_between_characters(void **state)
{
    (void)state;
    char out[8];
    uc_message_render(out, sizeof out, "{normalize}", UC_MESSAGE_COMMAND_LINE);
    assert_string_equal(out, "--norma");
    uc_message_render(out, sizeof out, "12345\xe2\x82\xac",
                      UC_MESSAGE_COMMAND_LINE); /* three bytes, room for two */
    assert_string_equal(out, "12345");
    uc_message_render(out, 1, "{a}", UC_MESSAGE_JSON);
    assert_string_equal(out, "");
}

/* What a user's text becomes in a sentence, and that every front end shows it as it was. */
static void check_user_text(const char *text, const char *in_sentence, const char *shown)
{
    char sentence[128], out[128], expected[128];
    (void)uc_fail(UC_ERR_INVALID, "%s: see {scale}", text);
    snprintf(sentence, sizeof sentence, "%s: see {scale}", in_sentence);
    assert_string_equal(uc_last_error(), sentence);
    uc_message_render(out, sizeof out, uc_last_error(), UC_MESSAGE_COMMAND_LINE);
    snprintf(expected, sizeof expected, "%s: see --scale", shown);
    assert_string_equal(out, expected);
    (void)uc_fail(UC_ERR_INVALID, "{map=%s}: no", text);
    uc_message_render(out, sizeof out, uc_last_error(), UC_MESSAGE_COMMAND_LINE);
    snprintf(expected, sizeof expected, "--map %s: no", shown);
    assert_string_equal(out, expected);
}

static void braces_of_the_user_never_name_an_option(void **state)
{
    (void)state;
    check_user_text("{scale}", "{{scale}}", "{scale}");
    check_user_text("{scale=maxabs}", "{{scale=maxabs}}", "{scale=maxabs}");
    check_user_text("{{scale}", "{{{{scale}}", "{{scale}");
    check_user_text("a}b", "a}}b", "a}b");
    check_user_text("}", "}}", "}");
    check_user_text("\x01scale\x02", "\\x01scale\\x02",
                    "\\x01scale\\x02"); /* the marks of uc_message_format */
    check_user_text("\x01{\x02}", "\\x01{{\\x02}}", "\\x01{\\x02}");
}

static void a_sentence_said_again_is_not_changed(void **state)
{
    (void)state;
    char before[128];
    (void)uc_fail(UC_ERR_INVALID, "%s: lower {dimension}", "{x}");
    snprintf(before, sizeof before, "%s", uc_last_error());
    assert_int_equal(uc_fail_again(UC_ERR_IO, "", uc_last_error()), UC_ERR_IO);
    assert_string_equal(uc_last_error(), before);
    (void)uc_fail_again(UC_ERR_IO, "choosing {l2}: ", uc_last_error());
    assert_string_equal(uc_last_error(), "choosing {l2}: {{x}}: lower {dimension}");
}

static uc_status refuse(size_t block, void *user)
{
    return uc_fail(UC_ERR_INVALID, "%s %zu: lower {dimension}", (const char *)user, block);
}

static void names_survive_the_threads_that_carry_them(void **state)
{
    (void)state;
    const uc_context two = {.threads = 2};
    assert_error(uc_run_blocks(&two, 9, refuse, "{x}"), UC_ERR_INVALID, "{{x}} 0: lower {dimension}");
}

static void hear(const char *sentence, void *user)
{
    uc_message_render(user, 128, sentence, UC_MESSAGE_COMMAND_LINE);
}

static void warnings_are_such_sentences(void **state)
{
    (void)state;
    char heard[128];
    const uc_context context = {.warn = hear, .user = heard};
    uc_warn(&context, "%s has no {label}", "{file}.csv");
    assert_string_equal(heard, "{file}.csv has no --label");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_front_end_writes_names_its_way),
        cmocka_unit_test(text_without_names_stays_as_it_is),
        cmocka_unit_test(a_sentence_that_was_cut_is_rendered_to_its_end),
        cmocka_unit_test(what_does_not_fit_is_cut_between_characters),
        cmocka_unit_test(braces_of_the_user_never_name_an_option),
        cmocka_unit_test(a_sentence_said_again_is_not_changed),
        cmocka_unit_test(names_survive_the_threads_that_carry_them),
        cmocka_unit_test(warnings_are_such_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
