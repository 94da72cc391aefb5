/* LIBSVM text: what is read, and what is said about what cannot be read. */
#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/reader.h"
#include "unconfuse/random.h"

static uc_status read_settings(uc_dataset *out, const char *text, const uc_read_settings *settings,
                               unsigned threads)
{
    const uc_context context = {.threads = threads};
    return uc_dataset_read_memory(out, text, strlen(text), "data.svm", settings, &context);
}

static uc_status read_text(uc_dataset *out, const char *text)
{
    uc_read_settings settings = uc_reader_defaults();
    settings.storage = UC_STORAGE_SPARSE;
    return read_settings(out, text, &settings, 1);
}

static void check_row(const uc_dataset *data, size_t i, const char *label, size_t count,
                      const uint32_t *columns, const float *values)
{
    const uc_row row = uc_matrix_row(&data->X, i);
    if (label)
        assert_string_equal(data->classes.text[data->y[i]], label);
    else
        assert_int_equal(data->y[i], UC_NONE);
    assert_int_equal(row.count, count);
    for (size_t j = 0; j < count; j++) {
        assert_int_equal(row.columns[j], columns[j]);
        assert_true(row.values[j] == values[j]);
    }
}

static void check_error_of(const char *text, const char *sentence)
{
    uc_dataset data = {0};
    const long live = uc_alloc_live();
    assert_error(read_text(&data, text), UC_ERR_FORMAT, sentence);
    assert_int_equal(uc_alloc_live(), live);
    assert_null(data.X.values);
}

static void rows_labels_and_values_are_read(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_text(&data, "+1 1:0.5 3:-2e1\n-1 2:.25 1000:7.\n"));
    assert_int_equal(data.X.rows, 2);
    assert_int_equal(data.X.cols, 1000);
    assert_int_equal(data.classes.count, 2);
    assert_string_equal(data.classes.text[0], "-1");
    check_row(&data, 0, "+1", 2, (const uint32_t[]){0, 2}, (const float[]){0.5f, -20.0f});
    check_row(&data, 1, "-1", 2, (const uint32_t[]){1, 999}, (const float[]){0.25f, 7.0f});
    assert_null(data.bag);
    uc_dataset_free(&data);
}

static void comments_blank_lines_qid_tabs_and_crlf_are_read_over(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_text(&data, "\xef\xbb\xbf# a comment: with 1:2\r\n\r\n  \t\n1 qid:3\t1:1 \t 2:2  # 9:9\r\n"
                               "cat#2:2\n? 4:0\n007 2:1#x"));
    assert_int_equal(data.X.rows, 4);
    assert_int_equal(data.X.cols, 4);
    check_row(&data, 0, "1", 2, (const uint32_t[]){0, 1}, (const float[]){1.0f, 2.0f});
    check_row(&data, 1, "cat", 0, NULL, NULL);
    check_row(&data, 2, NULL, 1, (const uint32_t[]){3}, (const float[]){0.0f});
    check_row(&data, 3, "007", 1, (const uint32_t[]){1}, (const float[]){1.0f});
    uc_dataset_free(&data);
}

static void labels_stay_as_they_are_written(void **state)
{
    (void)state;
    static const char *const labels[] = {"cat", "007", "-1",           "1e0",  "7",
                                         "+1",  "1,3", "na\xc3\xafve", "\"q\""};
    const size_t count = sizeof labels / sizeof labels[0];
    char text[400] = "";
    for (size_t i = 0; i < count; i++)
        sprintf(text + strlen(text), "%s 1:1\n", labels[i]);
    uc_dataset data = {0};
    assert_ok(read_text(&data, text));
    assert_int_equal(data.classes.count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(data.classes.text[data.y[i]], labels[i]);
    uc_dataset_free(&data);
}

static void spellings_of_a_number_are_one_class(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_text(&data, "+1 1:1\n-1 1:1\n1 1:1\n-1.0 1:1\n1.0 1:1\n1.50 1:1\n1.5 1:1\n"));
    assert_int_equal(data.classes.count, 3);
    static const char *const labels[] = {"1", "-1", "1", "-1", "1", "1.5", "1.5"};
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(data.classes.text[data.y[i]], labels[i]);
    uc_dataset_free(&data);
}

static void bags_are_read(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_text(&data, "1 bag:a 1:1\n0 qid:1 bag:b 2:1\n1 bag:a\n"));
    assert_int_equal(data.bags.count, 2);
    assert_string_equal(data.bags.text[data.bag[0]], "a");
    assert_string_equal(data.bags.text[data.bag[1]], "b");
    assert_int_equal(data.bag[2], data.bag[0]);
    uc_dataset_free(&data);
    check_error_of("1 bag:a 1:1\n1 1:1\n", "data.svm:2: no bag, but the lines before have one");
    check_error_of("1 1:1\n1 bag:a 1:1\n", "data.svm:2: a bag, but the lines before have none");
    check_error_of("1 bag:a 1:1 bag:b\n", "data.svm:1: 'bag:b' does not follow the label");
}

static void the_largest_column_is_accepted(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_ok(read_text(&data, "1 00000000001:1 2147483647:1\n"));
    assert_int_equal(data.X.cols, 2147483647);
    uc_dataset_free(&data);
}

static void every_bad_line_is_named_with_its_reason(void **state)
{
    (void)state;
    static const struct {
        const char *line, *sentence;
    } cases[] = {
        {"1 1:abc", "the value 'abc' of column 1 is not a number"},
        {"1 1:1x", "the value '1x' of column 1 is not a number"},
        {"1 1:1.5.2", "the value '1.5.2' of column 1 is not a number"},
        {"1 1:0x10", "the value '0x10' of column 1 is not a number"},
        {"1 1:1:2", "the value '1:2' of column 1 is not a number"},
        {"1 1:--1", "the value '--1' of column 1 is not a number"},
        {"1 1:1,5 2:2", "the value '1,5' of column 1 is not a number"},
        {"1 1:nan", "the value 'nan' of column 1 is not a finite number"},
        {"1 1:-inf", "the value '-inf' of column 1 is not a finite number"},
        {"1 1:1e39", "the value '1e39' of column 1 is beyond the range of float"},
        {"1 1:-400000000000000000000000000000000000000",
         "the value '-400000000000000000000000000000000000000' of column 1 is beyond the range of float"},
        {"1 0:1", "column 0 is not an integer from 1 to 2147483647"},
        {"1 -1:1", "column -1 is not an integer from 1 to 2147483647"},
        {"1 1.5:1", "column 1.5 is not an integer from 1 to 2147483647"},
        {"1 2147483648:1", "column 2147483648 is not an integer from 1 to 2147483647"},
        {"1 99999999999999999999:1", "column 99999999999999999999 is not an integer from 1 to 2147483647"},
        {"1 abc:1", "column abc is not an integer from 1 to 2147483647"},
        {"1 :1", "column  is not an integer from 1 to 2147483647"},
        {"1 2:1 2:1", "column 2 is not above 2, the one before"},
        {"1 12:1 3:1", "column 3 is not above 12, the one before"},
        {"1 5", "'5' has no colon: expected column:value"},
        {"1 2:1 word", "'word' has no colon: expected column:value"},
        {"1 1: 2:1", "column 1 has no value"},
        {"1 1:", "column 1 has no value"},
        {"1:0.5 2:1", "no label before '1:0.5'"},
        {"1 1:\x01", "control character 0x01"},
        {"1\x02 1:1", "control character 0x02"},
        {"1 1:1 # \x1b", "control character 0x1b"},
        {"# \x1b", "control character 0x1b"},
        {"a\x7f 1:1", "control character 0x7f"},
        {"\xef\xbb\xbf"
         "1 1:1",
         "the label '???1' has a byte order mark"},
        {"\xff\x41 1:1", "the label '?A' is not UTF-8 text"},
        {"1 1:aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee",
         "the value 'aaaaaaaaaabbbbbbbbbbccccccccccddddddd...' of column 1 is not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[300], sentence[300];
        snprintf(text, sizeof text, "# comment\n\n1 1:1 2:2\n%s\n1 1:1 2:nan\n", cases[i].line);
        snprintf(sentence, sizeof sentence, "data.svm:4: %s", cases[i].sentence);
        check_error_of(text, sentence);
        snprintf(text, sizeof text, "1 1:1\n%s", cases[i].line);
        snprintf(sentence, sizeof sentence, "data.svm:2: %s", cases[i].sentence);
        check_error_of(text, sentence);
    }
}

static void a_zero_byte_is_a_control_character(void **state)
{
    (void)state;
    static const char text[] = "1 1:1\n1\0 1:1\n";
    uc_dataset data = {0};
    assert_error(uc_dataset_read_memory(&data, text, sizeof text - 1, "data.svm", NULL, NULL), UC_ERR_FORMAT,
                 "data.svm:2: control character 0x00");
}

static void files_without_examples_are_refused(void **state)
{
    (void)state;
    check_error_of("", "data.svm: no examples");
    check_error_of("\n\n  \n", "data.svm: no examples");
    check_error_of("# only this\n", "data.svm: no examples");
}

static void storage_follows_the_share_of_given_values(void **state)
{
    (void)state;
    uc_read_settings settings = uc_reader_defaults();
    uc_dataset data = {0};
    assert_ok(read_settings(&data, "1 1:1\n2 4:2\n", &settings, 1)); /* 2 of 8 */
    assert_false(uc_matrix_is_sparse(&data.X));
    assert_true(data.X.values[0] == 1.0f && data.X.values[data.X.stride + 3] == 2.0f);
    uc_dataset_free(&data);
    assert_ok(read_settings(&data, "1 1:1\n2 5:2\n", &settings, 1)); /* 2 of 10 */
    assert_true(uc_matrix_is_sparse(&data.X));
    uc_dataset_free(&data);
    settings.storage = UC_STORAGE_DENSE;
    assert_ok(read_settings(&data, "1 1:1\n2 50:2\n", &settings, 1));
    assert_false(uc_matrix_is_sparse(&data.X));
    uc_dataset_free(&data);
}

/* ---- many lines ---- */

/* About `bytes` of text with what makes blocks differ: comments with colons, blank lines, long lines, and
 * a new label every `bytes_a_label`. */
static char *long_text(size_t bytes, size_t bytes_a_label, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 0);
    char *text = malloc(bytes + 400000);
    assert_non_null(text);
    size_t length = 0;
    while (length < bytes) {
        const uint64_t kind = uc_rng_below(&rng, 100);
        if (kind == 0)
            length += (size_t)sprintf(text + length, "# 1:2 3:4 :::\n\n");
        const size_t pairs = kind == 1 ? 5000 : uc_rng_below(&rng, 30);
        length += (size_t)sprintf(text + length, "c%d", (int)uc_rng_below(&rng, 1 + length / bytes_a_label));
        size_t column = 0;
        for (size_t j = 0; j < pairs; j++) {
            column += 1 + uc_rng_below(&rng, 50);
            length += (size_t)sprintf(text + length, " %zu:%.*g", column, (int)uc_rng_below(&rng, 18),
                                      uc_rng_uniform(&rng) - 0.3);
        }
        text[length++] = '\n';
    }
    text[length] = '\0';
    return text;
}

static void check_equal(const uc_dataset *a, const uc_dataset *b)
{
    assert_int_equal(a->X.rows, b->X.rows);
    assert_int_equal(a->X.cols, b->X.cols);
    const size_t entries = uc_matrix_entries(&a->X);
    assert_memory_equal(a->X.offsets, b->X.offsets, (a->X.rows + 1) * sizeof *a->X.offsets);
    assert_memory_equal(a->X.values, b->X.values, entries * sizeof *a->X.values);
    assert_memory_equal(a->X.columns, b->X.columns, entries * sizeof *a->X.columns);
    assert_memory_equal(a->y, b->y, a->X.rows * sizeof *a->y);
    assert_int_equal(a->classes.count, b->classes.count);
    for (size_t i = 0; i < a->classes.count; i++)
        assert_string_equal(a->classes.text[i], b->classes.text[i]);
}

/* The slow reader: one line after the other with strtod and strtol. */
static void check_against_strtod(const uc_dataset *data, const char *text)
{
    size_t row = 0, entry = 0;
    for (const char *p = text; *p; p = strchr(p, '\n') + 1) {
        if (*p == '#' || *p == '\n')
            continue;
        const char *end = strchr(p, '\n');
        const size_t label = strcspn(p, " \n");
        assert_int_equal(strncmp(data->classes.text[data->y[row]], p, label), 0);
        assert_int_equal(strlen(data->classes.text[data->y[row]]), label);
        for (const char *q = p + label; q < end;) {
            char *after;
            const long column = strtol(q, &after, 10);
            const double value = strtod(after + 1, &after);
            assert_int_equal(data->X.columns[entry], column - 1);
            assert_true(data->X.values[entry] == (float)value);
            entry++;
            q = after;
        }
        assert_int_equal(data->X.offsets[++row], entry);
    }
    assert_int_equal(data->X.rows, row);
}

static void a_long_file_equals_the_slow_reader_for_any_number_of_threads(void **state)
{
    (void)state;
    char *text = long_text(7000000, 5000, 1);
    uc_read_settings settings = uc_reader_defaults();
    settings.storage = UC_STORAGE_SPARSE;
    uc_dataset one = {0};
    assert_ok(read_settings(&one, text, &settings, 1));
    check_against_strtod(&one, text);
    for (unsigned threads = 2; threads <= 7; threads += 5) {
        uc_dataset many = {0};
        assert_ok(read_settings(&many, text, &settings, threads));
        check_equal(&one, &many);
        uc_dataset_free(&many);
    }
    uc_dataset_free(&one);
    free(text);
}

static void a_line_longer_than_a_chunk_is_read(void **state)
{
    (void)state;
    const size_t pairs = 600000;
    char *text = malloc(pairs * 12 + 100), *p = text;
    assert_non_null(text);
    p += sprintf(p, "a 1:1\nb");
    for (size_t j = 1; j <= pairs; j++)
        p += sprintf(p, " %zu:%zu", j, j % 10);
    p += sprintf(p, "\nc 2:5");
    uc_dataset data = {0};
    assert_ok(read_text(&data, text));
    assert_int_equal(data.X.rows, 3);
    assert_int_equal(data.X.cols, pairs);
    assert_int_equal(data.X.offsets[2], pairs + 1);
    for (size_t j = 1; j <= pairs; j++)
        assert_true(data.X.columns[j] == j - 1 && data.X.values[j] == (float)(j % 10));
    check_row(&data, 2, "c", 1, (const uint32_t[]){1}, (const float[]){5.0f});
    uc_dataset_free(&data);
    free(text);
}

static void the_first_bad_line_is_reported_for_any_number_of_threads(void **state)
{
    (void)state;
    char *text = long_text(5000000, 5000, 2);
    size_t line = 1, blamed = 0;
    for (char *p = text; *p; p = strchr(p, '\n') + 1, line++) {
        const size_t at = (size_t)(p - text);
        if (*p != '#' && strchr(p, '\n') > p + 8 && at > 3000000 && at % 7 == 0) {
            char *colon = strchr(p, ':');
            if (!colon || colon > strchr(p, '\n'))
                continue;
            *colon = ';';
            blamed = blamed ? blamed : line;
        }
    }
    assert_true(blamed > 0);
    char prefix[60];
    snprintf(prefix, sizeof prefix, "data.svm:%zu: '", blamed);
    for (unsigned threads = 1; threads <= 4; threads++) {
        uc_dataset data = {0};
        assert_error_has(read_settings(&data, text, NULL, threads), UC_ERR_FORMAT, prefix);
    }
    free(text);
}

static void blocks_of_the_reader_are_the_whole_file_in_order(void **state)
{
    (void)state;
    char *text = long_text(5000000, 5000, 3);
    const char *path = temporary_path("long.svm");
    write_file(path, text);
    uc_read_settings settings = uc_reader_defaults();
    settings.storage = UC_STORAGE_SPARSE;
    uc_dataset all = {0};
    assert_ok(uc_dataset_read(&all, path, &settings, NULL));
    uc_reader *reader;
    assert_ok(uc_reader_open(&reader, path, NULL, NULL));
    assert_string_equal(uc_reader_format(reader), "libsvm");
    const uc_dataset *block;
    size_t row = 0, blocks = 0;
    for (;;) {
        assert_ok(uc_reader_next(&block, reader));
        if (!block)
            break;
        blocks++;
        for (size_t i = 0; i < block->X.rows; i++, row++) {
            const uc_row got = uc_matrix_row(&block->X, i), want = uc_matrix_row(&all.X, row);
            assert_int_equal(got.count, want.count);
            assert_memory_equal(got.values, want.values, got.count * sizeof *got.values);
            assert_memory_equal(got.columns, want.columns, got.count * sizeof *got.columns);
            assert_string_equal(uc_reader_classes(reader)->text[block->y[i]], all.classes.text[all.y[row]]);
        }
    }
    assert_int_equal(row, all.X.rows);
    assert_true(blocks > 1);
    assert_ok(uc_reader_next(&block, reader));
    assert_null(block);
    uc_reader_close(reader);
    uc_dataset_free(&all);
    free(text);
}

static void classes_of_a_reader_are_in_order_of_appearance(void **state)
{
    (void)state;
    const char *path = temporary_path("order.svm");
    write_file(path, "b 1:1\na 1:1\nb 1:1\nc 1:1\n");
    uc_reader *reader;
    const uc_dataset *block;
    assert_ok(uc_reader_open(&reader, path, NULL, NULL));
    assert_ok(uc_reader_next(&block, reader));
    assert_int_equal(uc_reader_classes(reader)->count, 3);
    assert_string_equal(uc_reader_classes(reader)->text[0], "b");
    assert_string_equal(uc_reader_classes(reader)->text[2], "c");
    uc_reader_close(reader);
}

static bool stop_at_half(const char *task, double done, double total, const char *detail, void *user)
{
    (void)detail;
    assert_string_equal(task, "reading");
    *(int *)user += 1;
    return done < total / 2;
}

static void a_progress_callback_can_cancel(void **state)
{
    (void)state;
    char *text = long_text(9000000, 5000, 4);
    int calls = 0;
    const uc_context context = {.threads = 1, .progress = stop_at_half, .user = &calls};
    uc_dataset data = {0};
    assert_status(uc_dataset_read_memory(&data, text, strlen(text), "data.svm", NULL, &context),
                  UC_ERR_CANCELLED);
    assert_true(calls >= 2 && calls <= 4);
    free(text);
}

static void more_than_the_memory_limit_is_refused(void **state)
{
    (void)state;
    char *text = long_text(9000000, 5000, 5);
    const uc_context context = {.threads = 1, .memory = 4000000};
    uc_dataset data = {0};
    assert_status(uc_dataset_read_memory(&data, text, strlen(text), "data.svm", NULL, &context),
                  UC_ERR_NOMEM);
    uc_read_settings settings = uc_reader_defaults();
    settings.storage = UC_STORAGE_DENSE;
    const char *wide = "1 2000000000:1\n";
    assert_error_has(uc_dataset_read_memory(&data, wide, strlen(wide), "wide.svm", &settings, &context),
                     UC_ERR_NOMEM, "wide.svm needs 8000.0 MB");
    free(text);
}

static uc_status read_with_bags(uc_dataset *out)
{
    return read_text(out, "1 bag:a 1:1\n2 bag:b 2:1 3:4\n");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = {0};
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, read_with_bags(&data));
    assert_int_equal(data.X.rows, 2);
    uc_dataset_free(&data);
}

static uc_status read_long(uc_dataset *out, const char *text)
{
    return read_settings(out, text, NULL, 2);
}

static void every_allocation_of_a_long_file_may_fail(void **state)
{
    (void)state;
    char *text = long_text(2600000, 200000, 6);
    uc_dataset data = {0};
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, read_long(&data, text));
    assert_true(data.X.rows > 1000);
    uc_dataset_free(&data);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_labels_and_values_are_read),
        cmocka_unit_test(comments_blank_lines_qid_tabs_and_crlf_are_read_over),
        cmocka_unit_test(labels_stay_as_they_are_written),
        cmocka_unit_test(spellings_of_a_number_are_one_class),
        cmocka_unit_test(bags_are_read),
        cmocka_unit_test(the_largest_column_is_accepted),
        cmocka_unit_test(every_bad_line_is_named_with_its_reason),
        cmocka_unit_test(a_zero_byte_is_a_control_character),
        cmocka_unit_test(files_without_examples_are_refused),
        cmocka_unit_test(storage_follows_the_share_of_given_values),
        cmocka_unit_test(a_long_file_equals_the_slow_reader_for_any_number_of_threads),
        cmocka_unit_test(a_line_longer_than_a_chunk_is_read),
        cmocka_unit_test(the_first_bad_line_is_reported_for_any_number_of_threads),
        cmocka_unit_test(blocks_of_the_reader_are_the_whole_file_in_order),
        cmocka_unit_test(classes_of_a_reader_are_in_order_of_appearance),
        cmocka_unit_test(a_progress_callback_can_cancel),
        cmocka_unit_test(more_than_the_memory_limit_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_of_a_long_file_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
