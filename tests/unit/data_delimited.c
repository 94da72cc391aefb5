/* The tokenizer of delimited text: delimiters, fields, lines. */
#include "tests/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/delimited.h"
#include "data/scan.h"

/* A text as the tokenizer wants it: room for the slack behind its newline. */
typedef struct buffer {
    char text[256];
} buffer;

static buffer with_slack(const char *text)
{
    buffer made = {{0}};
    assert_true(strlen(text) + UC_NUMBER_SLACK <= sizeof made.text);
    strcpy(made.text, text);
    return made;
}

static void the_delimiter_is_the_first_kind_outside_quotes(void **state)
{
    (void)state;
    const struct {
        const char *line;
        char delimiter;
    } cases[] = {
        {"a,b", ','},       {"a;b,c", ';'}, {"a\tb;c,d", '\t'}, {"abc", ','}, {"\"a;b\",\"c\td\"", ','},
        {"\"a,b\";c", ';'}, {"", ','}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(uc_find_delimiter(cases[i].line, strlen(cases[i].line)), cases[i].delimiter);
}

static void check_fields(const char *line, char delimiter, const char *const *want, const char *quoted)
{
    buffer made = with_slack(line);
    char *p = made.text;
    for (size_t i = 0; want[i]; i++, p++) {
        uc_field field;
        assert_null(uc_field_cut(&field, &p, delimiter));
        assert_int_equal(field.length, strlen(want[i]));
        assert_memory_equal(field.begin, want[i], field.length);
        assert_true(uc_field_equals(&field, want[i]));
        assert_int_equal(field.quoted, quoted[i] == 'q');
        assert_int_equal(*p, want[i + 1] ? delimiter : '\n');
    }
}

static void fields_are_spans_without_blanks_and_quotes(void **state)
{
    (void)state;
    check_fields("a,b,,c\n", ',', (const char *const[]){"a", "b", "", "c", NULL}, "----");
    check_fields(" a , b c\t,d \r\n", ',', (const char *const[]){"a", "b c", "d", NULL}, "---");
    check_fields("\"a,b\" ,\"say \"\"c\"\"\", \"\"\r\n", ',',
                 (const char *const[]){"a,b", "say \"c\"", "", NULL}, "qqq");
    check_fields("\" d \"\tx\"y\t\t z\n", '\t', (const char *const[]){" d ", "x\"y", "", "z", NULL}, "q---");
    check_fields("\n", ';', (const char *const[]){"", NULL}, "-");
}

static void a_quote_must_be_closed_and_end_its_field(void **state)
{
    (void)state;
    const struct {
        const char *line, *problem;
    } cases[] = {{"\"a,b\n", "a quote is not closed on its line"},
                 {"\"a\"\"\n", "a quote is not closed on its line"},
                 {"\"a\"b,c\n", "text follows a closing quote"},
                 {"\"a\" \"b\",c\n", "text follows a closing quote"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buffer made = with_slack(cases[i].line);
        char *p = made.text;
        uc_field field;
        assert_string_equal(uc_field_cut(&field, &p, ','), cases[i].problem);
    }
}

/* The fast path accepts exactly the fields that the slow one reads as finite numbers without quotes, and
 * agrees. */
static void the_fast_path_of_numbers_agrees_with_the_slow_one(void **state)
{
    (void)state;
    const char *const texts[] = {"1\n",   " -2.5e3 ,x\n", "1e-3\r\n", "7;8\n",  "x\n",   "\n",
                                 "1x\n",  "\"4\"\n",      "nan\n",    "1e99\n", ".5,\n", "+3\t\n",
                                 "1 2\n", "0x10\n",       "-,1\n",    "1e\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        buffer fast = with_slack(texts[i]), slow = fast;
        char *p = slow.text;
        uc_field field;
        float value;
        double real;
        const char *end = uc_field_float(&value, fast.text, ',');
        assert_null(uc_field_cut(&field, &p, ','));
        char *rest;
        real = strtod(field.begin, &rest);
        const bool number = !field.quoted && field.length > 0 && rest == field.begin + field.length &&
                            isfinite((float)real) && !memchr(field.begin, 'x', field.length);
        assert_int_equal(end != NULL, number);
        if (number) {
            assert_true(value == (float)real);
            assert_int_equal(end - fast.text, p - slow.text);
        }
    }
}

/* ---- lines ---- */

static uc_lines read_lines(const char *text, size_t length)
{
    uc_input *input;
    uc_lines lines;
    assert_ok(uc_input_open_memory(&input, text, length, "text"));
    assert_ok(uc_lines_read(&lines, input, NULL));
    uc_input_close(input);
    return lines;
}

static void check_lines(const char *text, size_t length, const char *const *want)
{
    uc_lines lines = read_lines(text, length);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; want[i]; i++) {
            assert_true(uc_lines_next(&lines));
            assert_int_equal(lines.number, i + 1);
            assert_int_equal(lines.width, strlen(want[i]));
            assert_memory_equal(lines.line, want[i], lines.width);
        }
        assert_false(uc_lines_next(&lines));
        uc_lines_rewind(&lines);
    }
    uc_lines_free(&lines);
}

static void lines_end_with_lf_or_cr_lf_or_the_text(void **state)
{
    (void)state;
    const char *const two[] = {"a", "b", NULL}, *const blank[] = {"a", "", "b", NULL}, *const none[] = {NULL};
    const char *const inner[] = {"a\rb", NULL};
    check_lines("a\nb\n", 4, two);
    check_lines("a\r\nb", 4, two);
    check_lines(UC_BYTE_ORDER_MARK "a\nb\r\n", 8, two);
    check_lines("a\r\n\r\nb\n", 7, blank);
    check_lines("", 0, none);
    check_lines(UC_BYTE_ORDER_MARK, 3, (const char *const[]){"", NULL}); /* a line was begun */
    check_lines("a\rb\n", 4, inner);
}

static void control_characters_are_found_on_their_line(void **state)
{
    (void)state;
    const char *text = "a\tb\r\nc\x01\n";
    assert_null(uc_find_control(text));
    assert_ptr_equal(uc_find_control(text + 5), text + 6);
    assert_non_null(uc_find_control("\x7f\n"));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_input *input;
    uc_lines lines = {0};
    uc_status status;
    assert_ok(uc_input_open_memory(&input, "a\nb\n", 4, "text"));
    FOR_EACH_FAILING_ALLOCATION(status, uc_lines_read(&lines, input, NULL));
    assert_true(uc_lines_next(&lines));
    uc_lines_free(&lines);
    uc_input_close(input);
}

/* Random characters of a few kinds, at every distance from the end. */
static void characters_are_found_sixteen_at_a_time_as_one_by_one(void **state)
{
    (void)state;
    static const char kinds[] = "aZz09/:@[`{, \t\r\n\x01\x1f\x7f\x80\xff";
    uc_rng rng = uc_rng_make(8, 0);
    for (int turn = 0; turn < 20000; turn++) {
        char text[200 + UC_NUMBER_SLACK] = {0};
        const size_t length = 1 + uc_rng_below(&rng, 199);
        const bool seldom = turn % 2;
        for (size_t i = 0; i < length; i++) {
            text[i] = kinds[uc_rng_below(&rng, sizeof kinds - 1)];
            if (seldom && (unsigned char)text[i] < ' ' && uc_rng_below(&rng, 100) > 0)
                text[i] = 'x';
        }
        text[length] = '\n';
        const char *begin = text + uc_rng_below(&rng, (uint32_t)length), *end = text + length;
        bool before = false;
        assert_ptr_equal(uc_scan_end(begin, ','), uc_scan_end_plain(begin, ','));
        assert_int_equal(uc_scan_has_control(begin, end), uc_scan_has_control_plain(begin, end));
        assert_int_equal(uc_scan_words(begin, end), uc_scan_words_plain(begin, end, &before));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_delimiter_is_the_first_kind_outside_quotes),
        cmocka_unit_test(fields_are_spans_without_blanks_and_quotes),
        cmocka_unit_test(a_quote_must_be_closed_and_end_its_field),
        cmocka_unit_test(the_fast_path_of_numbers_agrees_with_the_slow_one),
        cmocka_unit_test(lines_end_with_lf_or_cr_lf_or_the_text),
        cmocka_unit_test(control_characters_are_found_on_their_line),
        cmocka_unit_test(characters_are_found_sixteen_at_a_time_as_one_by_one),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
