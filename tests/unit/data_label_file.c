/* Labels in a file of their own: lists, NPY arrays, data files, packed or not. */
#include "tests/files.h"

#include <stdlib.h>
#include <string.h>

#include "data/npy.h"

static void check_labels(const char *path, const uc_names *known, const char *const *want)
{
    uc_labels labels = {0};
    assert_ok(uc_labels_read(&labels, path, known, NULL, NULL));
    size_t count = 0;
    for (; want[count]; count++) {
        assert_true(count < labels.count);
        if (strcmp(want[count], "?") == 0)
            assert_int_equal(labels.y[count], UC_NONE);
        else
            assert_string_equal(labels.classes.text[labels.y[count]], want[count]);
    }
    assert_int_equal(labels.count, count);
    uc_labels_free(&labels);
}

static const char *const four[] = {"a", "b", "?", "a", NULL};

static void a_list_has_a_label_per_line(void **state)
{
    (void)state;
    const char *path = temporary_path("list.txt");
    uc_names none = {0};
    write_file(path, "a\nb\n?\na\n");
    check_labels(path, NULL, four);
    check_labels(path, &none, four);
    write_file(path, "a\r\nb\r\n?\r\na");
    check_labels(path, NULL, four);
}

/* These were read with a mark in the first label, or not at all. */
static void a_byte_order_mark_and_an_archive_do_not_matter(void **state)
{
    (void)state;
    const char *path = temporary_path("marked.txt"), *packed = temporary_path("packed.txt.gz");
    write_file(path, "\xef\xbb\xbf"
                     "a\nb\n?\na\n");
    check_labels(path, NULL, four);
    write_packed(packed, "a\nb\n?\na\n", 8);
    check_labels(packed, NULL, four);
}

static void names_may_look_like_features_when_they_are_known(void **state)
{
    (void)state;
    const char *path = temporary_path("odd.txt"), *const want[] = {"a,b", "c:d", NULL};
    uc_names known = {0};
    uint32_t index;
    assert_ok(uc_names_add(&index, &known, "a,b", 3));
    assert_ok(uc_names_add(&index, &known, "c:d", 3));
    write_file(path, "a,b\nc:d\n");
    check_labels(path, &known, want);
    uc_names_free(&known);
}

static void a_data_file_has_labels_too(void **state)
{
    (void)state;
    const char *svm = temporary_path("data.svm"), *csv = temporary_path("data.csv.zst");
    const uc_names none = {0};
    write_file(svm, "a 1:2\nb 2:3\n? 1:1\na 2:2\n");
    check_labels(svm, &none, four);
    const char text[] = "x,label\n1,a\n2,b\n3,?\n4,a\n";
    write_packed(csv, text, strlen(text));
    check_labels(csv, &none, four);
    uc_labels labels = {0};
    uc_read_settings settings = uc_reader_defaults();
    settings.label = "none";
    write_file(svm, "1,2\n3,4\n");
    assert_error_has(uc_labels_read(&labels, svm, &none, &settings, NULL), UC_ERR_FORMAT,
                     "data.svm: there are no labels in this file");
    assert_null(labels.y);
}

static size_t make_npy(char *out, const char *type, const char *shape, const void *items, size_t size)
{
    const int length =
        snprintf(out + 10, 200, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", type, shape);
    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (char)length;
    out[9] = 0;
    memcpy(out + 10 + length, items, size);
    return 10 + (size_t)length + size;
}

static void an_npy_array_of_one_dimension_is_a_list(void **state)
{
    (void)state;
    char bytes[300];
    const char *path = temporary_path("labels.npy"), *const numbers[] = {"1", "2", "1", NULL};
    write_bytes(path, bytes, make_npy(bytes, "|S1", "(4,)", "ab?a", 4));
    check_labels(path, NULL, four);
    write_bytes(path, bytes, make_npy(bytes, ">u2", "(3,)", "\0\1\0\2\0\1", 6));
    check_labels(path, NULL, numbers);
    const float floats[] = {1, 2, 3, 4};
    uc_labels labels = {0};
    const uc_names none = {0};
    write_bytes(path, bytes, make_npy(bytes, "<f4", "(2, 2)", floats, sizeof floats));
    assert_error_has(uc_labels_read(&labels, path, &none, NULL, NULL), UC_ERR_FORMAT, "there are no labels");
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    const char *path = temporary_path("bad.txt");
    const struct {
        const char *text;
        size_t length;
        const char *rest;
    } cases[] = {{"a\n\nb\n", 5, "bad.txt:2: there is no label on this line"},
                 {"a\nb\0c\n", 6, "bad.txt:2: control character 0x00"},
                 {"a\tb\n", 4, "bad.txt:1: control character 0x09"},
                 {"a\nb\rc\n", 6, "bad.txt:2: control character 0x0d"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uc_labels labels = {0};
        write_bytes(path, cases[i].text, cases[i].length);
        assert_error_has(uc_labels_read(&labels, path, NULL, NULL, NULL), UC_ERR_FORMAT, cases[i].rest);
    }
    uc_labels labels = {0};
    assert_error_has(uc_labels_read(&labels, temporary_path("nowhere"), NULL, NULL, NULL), UC_ERR_IO,
                     "No such file");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    char bytes[300];
    const char *list = temporary_path("some.txt"), *svm = temporary_path("some.svm"),
               *npy = temporary_path("some.npy");
    const uc_names none = {0};
    uc_labels labels = {0};
    uc_status status;
    write_file(list, "a\nb\n?\na\n");
    write_file(svm, "a 1:2\nb 2:3\n? 1:1\na 2:2\n");
    write_bytes(npy, bytes, make_npy(bytes, "|S1", "(4,)", "ab?a", 4));
    const char *const paths[] = {list, svm, npy};
    for (size_t i = 0; i < 3; i++) {
        FOR_EACH_FAILING_ALLOCATION(status, uc_labels_read(&labels, paths[i], &none, NULL, NULL));
        assert_int_equal(labels.count, 4);
        uc_labels_free(&labels);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_has_a_label_per_line),
        cmocka_unit_test(a_byte_order_mark_and_an_archive_do_not_matter),
        cmocka_unit_test(names_may_look_like_features_when_they_are_known),
        cmocka_unit_test(a_data_file_has_labels_too),
        cmocka_unit_test(an_npy_array_of_one_dimension_is_a_list),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
