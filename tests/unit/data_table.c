/* Tables: values as people write them, types, and what the encoder makes of rows, worked by hand. */
#include "tests/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/reader.h"
#include "data/encode.h"
#include "data/table_look.h"
#include "data/value.h"
#include "data/value_index.h"

static void check_number(const char *text, char decimal, double expected)
{
    char padded[200] = "";
    float value = 0.0f;
    strcpy(padded, text);
    const bool is_number = uc_value_number(&value, padded, strlen(padded), decimal);
    if (isnan(expected))
        assert_false(is_number);
    else {
        assert_true(is_number);
        assert_true(value == (float)expected);
    }
}

static void numbers_are_read_as_people_write_them(void **state)
{
    (void)state;
    check_number("1,097.44", '.', 1097.44);
    check_number("1.097,44", ',', 1097.44);
    check_number("-2,000,000", '.', -2e6);
    check_number("12%", '.', 0.12);
    check_number("12 %", '.', 0.12);
    check_number("$3", '.', 3);
    check_number("-$3.50", '.', -3.5);
    check_number("$ -3", '.', -3);
    check_number("3 \xe2\x82\xac", '.', 3);
    check_number("1'234'567.5", '.', 1234567.5);
    check_number("1\xe2\x80\x99"
                 "234",
                 '.', 1234);
    check_number("1\xc2\xa0"
                 "234,50\xc2\xa0\xe2\x82\xac",
                 ',', 1234.5);
    check_number("12\xe2\x80\xaf"
                 "345",
                 '.', 12345);
    check_number("1'234,567", '.', NAN);
    check_number("1'23", '.', NAN);
    check_number("1'", '.', NAN);
    check_number("\xe2\x88\x92"
                 "2.5",
                 '.', -2.5);
    check_number("(1,234.50)", '.', -1234.5);
    check_number("($3)", '.', -3);
    check_number("(-3)", '.', NAN);
    check_number("()", '.', NAN);
    check_number("(3", '.', NAN);
    check_number("EUR 12.50", '.', 12.5);
    check_number("12,50 EUR", ',', 12.5);
    check_number("EUR", '.', NAN);
    check_number("+1e3", '.', 1000);
    check_number(".5", '.', 0.5);
    check_number("5.", '.', 5);
    static const char *const none[] = {"",      "-",   ".",   "1,5",   "1,0975", "12,34,567", "1.5.2",
                                       "1e",    "abc", "1 2", "$",     "%",      "12%%",      "$3%",
                                       "1e999", "--1", "nan", "0x10,", "1,23",   ",123",      "inf"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        check_number(none[i], '.', NAN);
}

static void check_date(const char *text, uc_date_form form, int64_t days, int weekday, double hour)
{
    uc_date date;
    assert_true(uc_value_date(&date, text, strlen(text), form));
    assert_int_equal(date.days, days);
    assert_int_equal(date.weekday, weekday);
    assert_true(fabs(date.hour - hour) < 1e-9);
}

static void dates_of_every_form_are_days(void **state)
{
    (void)state;
    check_date("1970-01-01", UC_DATE_ISO, 0, 3, 0);
    check_date("2024-02-29", UC_DATE_ISO, 19782, 3, 0);
    check_date("1969-12-31T18:45:00Z", UC_DATE_ISO, -1, 2, 18.75);
    check_date("2024-02-29 06:30:00+02:00", UC_DATE_ISO, 19782, 3, 6.5);
    check_date("2024/02/29", UC_DATE_SLASH_YMD, 19782, 3, 0);
    check_date("29.2.2024", UC_DATE_DOT_DMY, 19782, 3, 0);
    check_date("29/02/2024", UC_DATE_SLASH_DMY, 19782, 3, 0);
    check_date("2/29/2024 11:15 pm", UC_DATE_SLASH_MDY, 19782, 3, 23.25);
    check_date("29-02-2024", UC_DATE_DASH_DMY, 19782, 3, 0);
    check_date("29 Feb 2024", UC_DATE_NAME_DMY, 19782, 3, 0);
    check_date("29-FEB-2024", UC_DATE_NAME_DMY, 19782, 3, 0);
    check_date("February 29, 2024", UC_DATE_NAME_MDY, 19782, 3, 0);
    check_date("2/29/24", UC_DATE_SLASH_MDY, 19782, 3, 0);
    check_date("29/2/24 06:30", UC_DATE_SLASH_DMY, 19782, 3, 6.5);
    check_date("29.02.24", UC_DATE_DOT_DMY, 19782, 3, 0);
    check_date("29-Feb-24", UC_DATE_NAME_DMY, 19782, 3, 0);
    check_date("1/1/70", UC_DATE_SLASH_DMY, 0, 3, 0);
    static const char *const none[] = {"2023-02-29", "2024-13-01", "2024-00-10",       "24-02-29",
                                       "20240229",   "2024-02-30", "2024-02-29 25:00", "2024-02-29x",
                                       "9.2.24",     "1/2/4",      "1/2/024",          "29-02-24"};
    bool has_time = false;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(uc_value_date_forms(&has_time, none[i], strlen(none[i])), 0);
}

static size_t words_of(uint64_t *marks, const char *text, uint64_t seed)
{
    char copy[256 + UC_NUMBER_SLACK] = {0};
    assert_true(strlen(text) < 256);
    strcpy(copy, text);
    return uc_value_words(marks, copy, strlen(text), seed);
}

/* The mark of a word does not depend on how many bytes are looked at together. */
static void words_of_any_length_are_found(void **state)
{
    (void)state;
    for (size_t length = 1; length < 64; length++)
        for (size_t before = 0; before < 20; before++) {
            char text[128] = "", lower[128] = "";
            uint64_t marks[8];
            memset(text, '.', before);
            for (size_t i = 0; i < length; i++) {
                static const char letters[] = "azAZ@[`{mM09\x80\xc3\xff";
                const char c = letters[(7 * i + length + before) % (sizeof letters - 1)];
                text[before + i] = strchr("@[`{", c) ? 'Q' : c;
                lower[i] = text[before + i];
                if (lower[i] >= 'A' && lower[i] <= 'Z')
                    lower[i] = (char)(lower[i] + 32);
            }
            strcat(text, "@");
            assert_int_equal(words_of(marks, text, 5), 1);
            assert_true(marks[0] == uc_value_mark(5, lower, length));
        }
}

static void words_are_lower_case_and_pairs_are_ordered(void **state)
{
    (void)state;
    uint64_t a[20], b[20];
    assert_int_equal(words_of(a, "Red, green", 7), 3);
    assert_int_equal(words_of(b, "red green!", 7), 3);
    assert_memory_equal(a, b, 3 * sizeof *a);
    assert_int_equal(words_of(b, "green red", 7), 3);
    assert_true(a[0] == b[2] && a[2] == b[0] && a[1] != b[1]);
    assert_int_equal(words_of(b, "red green", 8), 3);
    assert_true(a[0] != b[0]); /* another column's words are others */
    assert_int_equal(words_of(b, " ,;- ", 7), 0);
}

static const char table_text[] = "colour,n,ok,when,label\n"
                                 "red,1,yes,2024-02-29,a\n"
                                 "blue,,no,2024-03-01,b\n"
                                 "red,4,no,1970-01-01,a\n"
                                 "blue,3,,2024-02-28,b\n"
                                 "red,100,yes,2024-02-27,a\n";

static uc_status read_table(uc_dataset *out, const char *text)
{
    return uc_dataset_read_memory(out, text, strlen(text), "data.csv", NULL, NULL);
}

/* The value of a feature by its name. */
static double value_of(const uc_dataset *data, size_t row, const char *name)
{
    for (size_t j = 0; j < data->X.cols; j++) {
        char found[100];
        uc_table_feature_name(found, sizeof found, data->table, j);
        if (strcmp(found, name) == 0)
            return (double)data->X.values[row * data->X.stride + j];
    }
    fail_msg("there is no feature %s", name);
    return 0.0;
}

static void rows_become_what_the_types_say(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_table(&data, table_text));
    assert_false(uc_matrix_is_sparse(&data.X));
    assert_int_equal(data.X.cols, 3 + 2 + 2 + 4);
    assert_true(value_of(&data, 0, "colour=red") == 1 && value_of(&data, 0, "colour=blue") == 0);
    assert_true(value_of(&data, 0, "colour=other") == 0);
    assert_true(value_of(&data, 1, "n") == 3.5); /* the median of 1, 3, 4 and 100 */
    assert_true(value_of(&data, 1, "n is missing") == 1 && value_of(&data, 0, "n is missing") == 0);
    assert_true(value_of(&data, 0, "ok") == 1 && value_of(&data, 1, "ok") == 0);
    assert_true(value_of(&data, 3, "ok") == 0.5 && value_of(&data, 3, "ok is missing") == 1);
    assert_true(value_of(&data, 0, "when days") == 19782 && value_of(&data, 0, "when year") == 2024);
    assert_true(value_of(&data, 0, "when month") == 2 && value_of(&data, 0, "when weekday") == 3);
    uc_dataset_free(&data);
}

/* log((1 + rows) / (1 + rows with the word)) + 1, times 1 + log(count), of words that two rows have; numbers
 * are standardised. */
static void texts_are_log_counts_times_idf(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_table(&data, "n,t,label\n1,good good day,a\n3,good night,b\n5,a day,a\n"));
    assert_true(uc_matrix_is_sparse(&data.X));
    /* good and day; one row alone has good good, good day, good night, night, a, and a day */
    assert_int_equal(data.X.cols, 1 + 2);
    const uc_row row = uc_matrix_row(&data.X, 0);
    assert_int_equal(row.count, 1 + 2);
    assert_true(fabs((double)row.values[0] - (1.0 - 3.0) / sqrt(8.0 / 3.0)) < 1e-6);
    assert_true(uc_matrix_row(&data.X, 1).values[0] == 0.0f); /* the mean */
    const double twice = log(4.0 / 3.0) + 1;
    double sum = 0.0, expected = (1 + log(2.0)) * twice + twice;
    for (size_t j = 1; j < row.count; j++)
        sum += (double)row.values[j];
    assert_true(fabs(sum - expected) < 1e-5);
    assert_int_equal(uc_matrix_row(&data.X, 1).count, 1 + 1);
    assert_int_equal(uc_matrix_row(&data.X, 2).count, 1 + 1);
    uc_dataset_free(&data);
}

/* A number of 0 and a Monday are values like others; what a model reads later is centred by its training
 * rows. */
static void zeros_of_sparse_rows_are_centred(void **state)
{
    (void)state;
    uc_dataset data = {0}, later = {0};
    assert_ok(read_table(&data, "n,t,w,label\n0,x y,2024-01-01,a\n4,y x,2024-01-04,b\n"));
    char name[50];
    double sum = 0.0;
    for (size_t j = 0; j < 5; j++) {
        sum = 0.0;
        for (size_t i = 0; i < 2; i++) {
            const float *cell = uc_matrix_cell(&data.X, i, j);
            assert_non_null(cell);
            sum += (double)*cell;
        }
        assert_true(fabs(sum) < 1e-6);
        uc_table_feature_name(name, sizeof name, data.table, j);
        const bool same = strcmp(name, "w year") == 0 || strcmp(name, "w month") == 0;
        assert_true(fabs((double)*uc_matrix_cell(&data.X, 1, j)) == (same ? 0.0 : 1.0));
    }
    uc_read_settings settings = uc_reader_defaults();
    settings.table = data.table;
    static const char text[] = "n,t,w\n0,z,2024-01-01\n";
    assert_ok(uc_dataset_read_memory(&later, text, strlen(text), "later.csv", &settings, NULL));
    for (size_t j = 0; j < 5; j++)
        assert_true(*uc_matrix_cell(&later.X, 0, j) == *uc_matrix_cell(&data.X, 0, j));
    uc_dataset_free(&later);
    uc_dataset_free(&data);
}

/* Numbers that make rows sparse by being many stay sparse: their zeros are not stored. */
static void many_numbers_are_not_centred(void **state)
{
    (void)state;
    static char text[20000];
    char *p = text;
    for (int i = 0; i < 300; i++)
        p += sprintf(p, "n%d,", i);
    p += sprintf(p, "c,label\n");
    for (int row = 0; row < 4; row++) {
        for (int i = 0; i < 300; i++)
            p += sprintf(p, "%d,", i % 4 == row ? row + 1 : 0);
        p += sprintf(p, "%c,%c\n", 'x' + row / 2, 'a' + row % 2);
    }
    uc_dataset data = {0};
    assert_ok(read_table(&data, text));
    assert_true(uc_matrix_is_sparse(&data.X));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(uc_matrix_row(&data.X, i).count, 300 / 4 + 1);
    uc_dataset_free(&data);
}

static void seldom_values_are_other(void **state)
{
    (void)state;
    static char text[40000] = "c,n,label\n";
    char *p = text + strlen(text);
    for (size_t i = 0; i < 2001; i++)
        p += sprintf(p, "%s,%zu,%c\n", i == 7 ? "rare" : i % 2 ? "x" : "y", i, i % 2 ? 'a' : 'b');
    uc_dataset data = {0};
    assert_ok(read_table(&data, text));
    assert_int_equal(data.X.cols, 3 + 1);
    assert_true(value_of(&data, 7, "c=other") == 1 && value_of(&data, 8, "c=other") == 0);
    uc_dataset_free(&data);
}

static void the_text_of_a_table_comes_back(void **state)
{
    (void)state;
    const char *path = temporary_path("text.csv");
    static const char text[] =
        "id,\"a, b\",label\r\n\"x \"\"1\"\"\",\"two\nlines\",p\r\n\r\ny,other one,q\r\n";
    write_file(path, text);
    uc_dataset data = {0};
    uc_table_text *rows = NULL;
    size_t length;
    assert_ok(uc_dataset_read_with_text(&data, &rows, path, NULL, NULL));
    assert_int_equal(uc_table_text_rows(rows), 2);
    const char *id = uc_table_text_id(&length, rows, 0);
    assert_int_equal(length, 5);
    assert_memory_equal(id, "x \"1\"", 5);
    const char *row = uc_table_text_row(&length, rows, 1);
    assert_int_equal(length, strlen("y,other one,q\r\n"));
    assert_memory_equal(row, "y,other one,q\r\n", length);
    const char *header = uc_table_text_header(&length, rows);
    assert_memory_equal(header, text, length);
    uc_table_text_free(rows);
    uc_dataset_free(&data);
}

/* ---- folds ---- */

#define FOLD_ROWS 60

/* A row of a table with everything that is learned: numbers and dates that may be missing, categories of
 * which one is only in held-out rows, and words. */
static char *put_fold_row(char *p, size_t i, bool with_text)
{
    static const char *const words[] = {"good", "bad", "late", "fine", "never seen"};
    const size_t word = i % 6 == 0 && i > 30 ? 4 : i * 7 % 4;
    if (i % 7 == 3)
        p += sprintf(p, ",");
    else
        p += sprintf(p, "%zu.5,", i * i % 17);
    p += sprintf(p, "%s,", i % 6 == 0 && i % 4 == 0 ? "odd" : i % 3 ? "x" : "y");
    p += sprintf(p, i % 9 == 1 ? "," : "2024-01-%02zu,", 1 + i % 28);
    if (with_text)
        p += sprintf(p, "%s and %s %zu,", words[word], words[i % 4], i * 7 % 50);
    return p + sprintf(p, "%c\n", i % 2 ? 'a' : 'b');
}

/* Which rows: 0 all, 1 those to learn from, 2 those that are held out. */
static void make_fold_text(char *out, bool with_text, int which)
{
    out += sprintf(out, "n,c,d,%slabel\n", with_text ? "t," : "");
    for (size_t i = 0; i < FOLD_ROWS; i++)
        if (which == 0 || (which == 2) == (i % 6 == 0))
            out = put_fold_row(out, i, with_text);
}

/* The value of a feature by its name; a part does not know all features of the whole, which are 0 then. */
static double named_value(const uc_dataset *data, size_t row, const char *name)
{
    for (size_t j = 0; j < data->X.cols; j++) {
        char found[100];
        uc_table_feature_name(found, sizeof found, data->table, j);
        const float *cell = uc_matrix_cell(&data->X, row, j);
        if (strcmp(found, name) == 0)
            return cell ? (double)*cell : 0.0;
    }
    return 0.0;
}

static void compare_by_name(const uc_dataset *fold, const uc_dataset *alone, double tolerance)
{
    assert_int_equal(fold->X.rows, alone->X.rows);
    for (size_t i = 0; i < fold->X.rows; i++) {
        for (size_t j = 0; j < fold->X.cols; j++) {
            char name[100];
            uc_table_feature_name(name, sizeof name, fold->table, j);
            const float *cell = uc_matrix_cell(&fold->X, i, j);
            const double value = cell ? (double)*cell : 0.0, expected = named_value(alone, i, name);
            if (fabs(value - expected) > tolerance * (1.0 + fabs(expected)))
                fail_msg("row %zu: %s is %g, not %g", i, name, value, expected);
        }
    }
}

/* A fold's rows are encoded as by a table that was learned only from its training rows. */
static void folds_learn_from_their_training_rows(void **state)
{
    (void)state;
    static char text[3][8000];
    for (int with_text = 0; with_text < 2; with_text++) {
        uc_dataset all = {0}, train = {0}, held_out = {0}, train_alone = {0}, held_out_alone = {0};
        uint32_t fold_of[FOLD_ROWS];
        for (int which = 0; which < 3; which++)
            make_fold_text(text[which], with_text, which);
        for (size_t i = 0; i < FOLD_ROWS; i++)
            fold_of[i] = i % 6 == 0;
        assert_ok(read_table(&all, text[0]));
        assert_int_equal(uc_matrix_is_sparse(&all.X), with_text);
        assert_ok(uc_dataset_fold_split(&train, &held_out, &all, fold_of, 1, NULL));
        assert_ok(uc_encode_again(&train, &held_out, NULL));

        uc_read_settings settings = uc_reader_defaults();
        assert_ok(read_table(&train_alone, text[1]));
        settings.table = train_alone.table;
        assert_ok(uc_dataset_read_memory(&held_out_alone, text[2], strlen(text[2]), "held-out.csv", &settings,
                                         NULL));
        compare_by_name(&train, &train_alone, with_text ? 1e-6 : 0.0);
        compare_by_name(&held_out, &held_out_alone, with_text ? 1e-6 : 0.0);
        uc_dataset_free(&train);
        uc_dataset_free(&held_out);
        uc_dataset_free(&train_alone);
        uc_dataset_free(&held_out_alone);
        uc_dataset_free(&all);
    }
}

static uc_status encode_fold(const uc_dataset *all, const uint32_t *fold_of)
{
    uc_dataset train = {0}, held_out = {0};
    uc_status status = uc_dataset_fold_split(&train, &held_out, all, fold_of, 1, NULL);
    if (status == UC_OK)
        status = uc_encode_again(&train, &held_out, NULL);
    uc_dataset_free(&train);
    uc_dataset_free(&held_out);
    return status;
}

/* Against uc_names_find: names of every length, with prefixes and extensions of each other. */
static void an_index_finds_what_names_have(void **state)
{
    (void)state;
    uc_names names = {0};
    uc_value_index index;
    uint32_t position;
    char text[200];
    for (size_t length = 0; length <= 40; length++)
        for (char c = 'a'; c < 'e' && length % 3 != 1; c++) {
            memset(text, c, length);
            text[length / 2] = 'a';
            assert_int_equal(uc_names_add(&position, &names, text, length), UC_OK);
        }
    assert_int_equal(uc_value_index_create(&index, &names), UC_OK);
    size_t found = 0;
    for (size_t length = 0; length <= 42; length++)
        for (int c = 'a'; c < 'f'; c++) {
            memset(text, 'x', sizeof text); /* what follows a value does not matter */
            memset(text, c, length);
            text[length / 2] = length ? 'a' : 'x';
            position = uc_value_index_find(&index, text, length);
            assert_int_equal(position, uc_names_find(&names, text, length));
            found += position != UC_NONE;
        }
    assert_true(found > 100);
    uc_value_index_free(&index);
    uc_names_free(&names);
}

/* Exactly up to UC_EXACT_VALUES; beyond, by a sample that does not depend on the order of the values. */
static void different_values_are_counted(void **state)
{
    (void)state;
    for (size_t count = UC_EXACT_VALUES - 1; count < 400000; count *= 7) {
        uc_value_set forward = {0}, backward = {0};
        char text[100] = "";
        for (size_t i = 0; i < count; i++)
            for (int back = 0; back < 2; back++) {
                const size_t length = (size_t)sprintf(text, "%zu.5", back ? count - 1 - i : i);
                const uint64_t mark = uc_short_mark(uc_value_short(text, length), length);
                uc_value_set *set = back ? &backward : &forward;
                assert_int_equal(uc_value_set_add(set, mark, 1, text, length), UC_OK);
            }
        assert_int_equal(forward.level, backward.level);
        assert_int_equal(forward.used, backward.used);
        const double estimate = (double)(forward.used << forward.level);
        if (count < UC_EXACT_VALUES)
            assert_int_equal(forward.used, count);
        assert_true(fabs(estimate / (double)count - 1.0) < 0.15);
        uc_value_set_free(&forward);
        uc_value_set_free(&backward);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char text[] =
        "id,c,t,d,label\n1,x,two words,2024-01-01,a\n2,y,more words,,b\n3,x,a,2024-01-03,a\n"
        "4,y,two,2024-01-04,b\n";
    static const char lines[] =
        "{\"c\": \"x\", \"t\": \"two \\u0041\", \"a\": {\"n\": 1.5}, \"label\": \"a\"}\n"
        "{\"a\": {\"n\": null}, \"t\": \"more words\", \"c\": \"y\", \"label\": \"b\"}\n"
        "{\"c\": \"x\", \"t\": \"a\", \"label\": \"a\"}\n"
        "{\"c\": \"y\", \"t\": \"two\", \"a\": {\"n\": 4}, \"label\": \"b\"}\n";
    const char *const tables[] = {table_text, text, lines};
    for (size_t i = 0; i < 3; i++) {
        uc_dataset data = {0};
        uc_status status;
        FOR_EACH_FAILING_ALLOCATION(status, read_table(&data, tables[i]));
        assert_int_equal(data.X.rows, i == 0 ? 5 : 4);
        const uint32_t fold_of[5] = {0, 1, 0, 0, 1};
        FOR_EACH_FAILING_ALLOCATION(status, encode_fold(&data, fold_of));
        uc_dataset_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_people_write_them),
        cmocka_unit_test(dates_of_every_form_are_days),
        cmocka_unit_test(words_are_lower_case_and_pairs_are_ordered),
        cmocka_unit_test(words_of_any_length_are_found),
        cmocka_unit_test(rows_become_what_the_types_say),
        cmocka_unit_test(texts_are_log_counts_times_idf),
        cmocka_unit_test(zeros_of_sparse_rows_are_centred),
        cmocka_unit_test(many_numbers_are_not_centred),
        cmocka_unit_test(seldom_values_are_other),
        cmocka_unit_test(the_text_of_a_table_comes_back),
        cmocka_unit_test(folds_learn_from_their_training_rows),
        cmocka_unit_test(an_index_finds_what_names_have),
        cmocka_unit_test(different_values_are_counted),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
