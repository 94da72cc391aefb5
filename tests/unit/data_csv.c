/* CSV and TSV: layout from the first line, values, and what is said about bad ones. */
#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/reader.h"

static uc_status read_with(uc_dataset *out, const char *text, const uc_read_settings *settings)
{
    const uc_context context = {.threads = 2};
    return uc_dataset_read_memory(out, text, strlen(text), "data.csv", settings, &context);
}

static uc_status read_text(uc_dataset *out, const char *text)
{
    return read_with(out, text, NULL);
}

static void check_value(const uc_dataset *data, size_t row, size_t column, float value)
{
    assert_true(row < data->X.rows && column < data->X.cols);
    assert_true(data->X.values[row * data->X.stride + column] == value);
}

static const char *label(const uc_dataset *data, size_t row)
{
    return data->classes.text[data->y[row]];
}

static void check_error_of(const char *text, const char *sentence)
{
    uc_dataset data = {0};
    const long live = uc_alloc_live();
    assert_error(read_text(&data, text), UC_ERR_FORMAT, sentence);
    assert_int_equal(uc_alloc_live(), live);
}

static void a_header_and_a_label_column_are_recognised(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_text(&data, "width,Class,height\n1.5,cat,2\n-3,dog,4e2\n"));
    assert_int_equal(data.X.rows, 2);
    assert_int_equal(data.X.cols, 2);
    assert_false(uc_matrix_is_sparse(&data.X));
    check_value(&data, 0, 0, 1.5f);
    check_value(&data, 1, 1, 400.0f);
    assert_string_equal(label(&data, 0), "cat");
    assert_string_equal(label(&data, 1), "dog");
    uc_dataset_free(&data);
}

static void without_a_header_the_label_is_the_last_column(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_text(&data, "5.1,3.5,setosa\r\n4.9,3.0,virginica"));
    assert_int_equal(data.X.rows, 2);
    assert_int_equal(data.X.cols, 2);
    assert_string_equal(label(&data, 0), "setosa");
    assert_string_equal(label(&data, 1), "virginica");
    uc_dataset_free(&data);
}

static void a_label_called_y_is_no_header(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_text(&data, "1,2,y\n3,4,n\n"));
    assert_int_equal(data.X.rows, 2);
    uc_dataset_free(&data);
}

static void a_header_of_numbers_is_known_by_the_label_name(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_text(&data, "0,1,2,label\n5,6,7,a\n8,9,10,b\n"));
    assert_int_equal(data.X.rows, 2);
    assert_int_equal(data.classes.count, 2);
    uc_dataset_free(&data);
}

static void tabs_and_semicolons_delimit_too(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_text(&data, "1\t2\ta b\n3\t4\tc\n"));
    assert_string_equal(label(&data, 0), "a b");
    assert_string_equal(uc_matrix_is_sparse(&data.X) ? "sparse" : "dense", "dense");
    uc_dataset_free(&data);
    assert_ok(read_text(&data, "\"a, b\";c;label\n1;2;x\n"));
    assert_int_equal(data.X.cols, 2);
    uc_dataset_free(&data);
}

static void the_label_column_can_be_told(void **state)
{
    (void)state;
    static const struct {
        const char *wanted;
        const char *label; /* of the only row */
    } cases[] = {{"1", "10"},  {"3", "20"}, {"a", "10"}, {"-1", "40"},
                 {"-4", "10"}, {"2", "20"}, {"4", "40"}, {"y", "40"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uc_read_settings settings = uc_reader_defaults();
        settings.label = cases[i].wanted;
        uc_dataset data = {0};
        assert_ok(read_with(&data, "a,3,b,y\n10,20,30,40\n", &settings)); /* the second column is called 3 */
        assert_string_equal(label(&data, 0), cases[i].label);
        assert_int_equal(data.X.cols, 3);
        uc_dataset_free(&data);
    }
}

static void no_label_column_when_none_is_wanted_or_all_are_expected(void **state)
{
    (void)state;
    uc_read_settings settings = uc_reader_defaults();
    settings.label = "none";
    uc_dataset data = {0};
    assert_ok(read_with(&data, "1,2,3\n4,5,6\n", &settings));
    assert_int_equal(data.X.cols, 3);
    assert_null(data.y);
    uc_dataset_free(&data);
    settings.label = NULL;
    settings.expected_cols = 3;
    assert_ok(read_with(&data, "1,2,3\n4,5,6\n", &settings));
    assert_int_equal(data.X.cols, 3);
    assert_null(data.y);
    uc_dataset_free(&data);
    settings.expected_cols = 2;
    assert_ok(read_with(&data, "1,2,3\n4,5,6\n", &settings));
    assert_int_equal(data.X.cols, 2);
    uc_dataset_free(&data);
}

static void bags_come_from_their_column(void **state)
{
    (void)state;
    uc_read_settings settings = uc_reader_defaults();
    settings.bag = "patient";
    uc_dataset data = {0};
    assert_ok(read_with(&data, "x,patient,label\n1,p1,a\n2,p2,b\n3,p1,a\n", &settings));
    assert_int_equal(data.X.cols, 1);
    assert_int_equal(data.bags.count, 2);
    assert_int_equal(data.bag[2], data.bag[0]);
    assert_string_equal(data.bags.text[data.bag[1]], "p2");
    uc_dataset_free(&data);
    settings.bag = "3";
    settings.label = "label";
    assert_error(read_with(&data, "x,patient,label\n1,p1,a\n", &settings), UC_ERR_INVALID,
                 "data.csv: label and bag cannot both be column 3");
}

static void columns_that_are_not_there_are_refused(void **state)
{
    (void)state;
    uc_read_settings settings = uc_reader_defaults();
    uc_dataset data = {0};
    settings.label = "foo";
    assert_error(read_with(&data, "a,b\n1,2\n", &settings), UC_ERR_INVALID,
                 "data.csv: no column is called 'foo'; the first line has a, b");
    settings.label = "3";
    assert_error(read_with(&data, "a,b\n1,2\n", &settings), UC_ERR_INVALID,
                 "data.csv: there is no column 3: the file has 2 columns");
    settings.label = "-3";
    assert_error(read_with(&data, "a,b\n1,2\n", &settings), UC_ERR_INVALID,
                 "data.csv: there is no column -3: the file has 2 columns");
    settings.label = NULL;
    settings.format = UC_FORMAT_CSV;
    assert_error(read_with(&data, "label\na\n", &settings), UC_ERR_FORMAT,
                 "data.csv: no columns of features");
}

static void quotes_follow_rfc_4180(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_text(&data, "\"x, y\",label\n\"1.5\", \"a,b\" \n 2 ,\"say \"\"hi\"\"\"\n3,\" kept \"\n"));
    assert_int_equal(data.X.rows, 3);
    check_value(&data, 0, 0, 1.5f);
    check_value(&data, 1, 0, 2.0f);
    assert_string_equal(label(&data, 0), "a,b");
    assert_string_equal(label(&data, 1), "say \"hi\"");
    assert_string_equal(label(&data, 2), " kept ");
    uc_dataset_free(&data);
    check_error_of("1,a\n2,\"b\n3,c\n", "data.csv:2: a quote is not closed");
    check_error_of("\"1,a\n", "data.csv:1: a quote is not closed");
    assert_ok(read_text(&data, "x,label\n1,\"a\"\n2,\" b\"\n"));
    uc_dataset_free(&data);
    check_error_of("1,a\n2,\"b\"c\n", "data.csv:2: text follows a closing quote");
}

static void labels_are_trimmed_and_a_question_mark_is_none(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_text(&data, "1,  a \n2,?\n3, 007\n"));
    assert_string_equal(label(&data, 0), "a");
    assert_int_equal(data.y[1], UC_NONE);
    assert_string_equal(label(&data, 2), "007");
    assert_int_equal(data.classes.count, 2);
    uc_dataset_free(&data);
}

#define ODD(column)                                                                                          \
    ", but 2 of 3 values are numbers: add it to {missing-values}, or give {columns=" column                  \
    "=category}, text or drop"

#define NO_LABEL "no label: leave the row out, or write ? for a learner that takes such rows"

static void every_bad_line_is_named_with_its_reason(void **state)
{
    (void)state;
    static const struct {
        const char *line, *sentence;
    } cases[] = {
        {"1,2", "2 columns, but the first line has 3"},
        {"1", "1 column, but the first line has 3"},
        {"1,2,3,4", "4 columns, but the first line has 3"},
        {"1,2,a,\"b,c\",d", "5 columns, but the first line has 3"},
        {"1,abc,a", "column 'width': 'abc' is not a number" ODD("width")},
        {"1,\"1,5\",a", "column 'width': '1,5' looks like a number with a decimal comma: add {decimal=,}"},
        {"1,nan,a", "column 'width': 'nan' is not a finite number" ODD("width")},
        {"1,-Inf,a", "column 'width': '-Inf' is not a finite number" ODD("width")},
        {"1,1e39,a", "column 'width': '1e39' is beyond the range of float" ODD("width")},
        {"1 2,1,a", "column 'x': '1 2' is not a number" ODD("x")},
        {"1,2,", NO_LABEL},
        {"1,2,\"\"", NO_LABEL},
        {"1,2\x01,a", "control character 0x01"},
        {"1,2,a\x02", "control character 0x02"},
        {"1,2,a\x7f", "control character 0x7f"},
        {"1,2,\xff", "the label '?' is not UTF-8 text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200], sentence[200];
        snprintf(text, sizeof text, "\nx,width,label\n1,2,a\n\n%s\n1,2,\n", cases[i].line);
        snprintf(sentence, sizeof sentence, "data.csv:5: %s", cases[i].sentence);
        check_error_of(text, sentence);
    }
    check_error_of(
        "1,2,a\n1,x,a\n",
        "data.csv:2: column 'column 2': 'x' is not a number, but 1 of 2 values are numbers: add it to "
        "{missing-values}, or give {columns=column 2=category}, text or drop");
    check_error_of("x,y,label\n1,,a\n2,3,\n", "data.csv:3: " NO_LABEL);
    check_error_of("a,b,label\n", "data.csv: no examples");
}

static void a_long_file_is_the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    const size_t rows = 90000;
    char *text = malloc(rows * 40 + 100), *p = text;
    assert_non_null(text);
    p += sprintf(p, "a,b,c,label\n");
    for (size_t i = 0; i < rows; i++)
        p += sprintf(p, "%s%zu,-0.%zu,%g,c%zu\n", i % 1000 == 0 ? "\n" : "", i, i % 777, (double)i / 7.0,
                     i / 20000);
    for (unsigned threads = 1; threads <= 7; threads += 6) {
        const uc_context context = {.threads = threads};
        uc_dataset data = {0};
        assert_ok(uc_dataset_read_memory(&data, text, strlen(text), "data.csv", NULL, &context));
        assert_int_equal(data.X.rows, rows);
        for (size_t i = 0; i < rows; i++) {
            char number[40];
            check_value(&data, i, 0, (float)i);
            sprintf(number, "-0.%zu", i % 777);
            check_value(&data, i, 1, (float)strtod(number, NULL));
            sprintf(number, "%g", (double)i / 7.0);
            check_value(&data, i, 2, (float)strtod(number, NULL));
            sprintf(number, "c%zu", i / 20000);
            assert_string_equal(label(&data, i), number);
            for (size_t j = 3; j < data.X.stride; j++)
                assert_true(data.X.values[i * data.X.stride + j] == 0.0f);
        }
        uc_dataset_free(&data);
    }
    free(text);
}

static uc_status read_small(uc_dataset *out)
{
    uc_read_settings settings = uc_reader_defaults();
    settings.bag = "b";
    return read_with(out, "x,b,label\n1,p,a\n2,q,b\n", &settings);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = {0};
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, read_small(&data));
    assert_int_equal(data.X.rows, 2);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_and_a_label_column_are_recognised),
        cmocka_unit_test(without_a_header_the_label_is_the_last_column),
        cmocka_unit_test(a_label_called_y_is_no_header),
        cmocka_unit_test(a_header_of_numbers_is_known_by_the_label_name),
        cmocka_unit_test(tabs_and_semicolons_delimit_too),
        cmocka_unit_test(the_label_column_can_be_told),
        cmocka_unit_test(no_label_column_when_none_is_wanted_or_all_are_expected),
        cmocka_unit_test(bags_come_from_their_column),
        cmocka_unit_test(columns_that_are_not_there_are_refused),
        cmocka_unit_test(quotes_follow_rfc_4180),
        cmocka_unit_test(labels_are_trimmed_and_a_question_mark_is_none),
        cmocka_unit_test(every_bad_line_is_named_with_its_reason),
        cmocka_unit_test(a_long_file_is_the_same_for_any_number_of_threads),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
