/* Writers: the exact text, and that everything comes back. */
#include "tests/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/reader.h"
#include "unconfuse/random.h"

static uc_dataset read_text(const char *text, int storage)
{
    uc_read_settings settings = uc_reader_defaults();
    settings.storage = storage;
    uc_dataset data = {0};
    assert_ok(uc_dataset_read_memory(&data, text, strlen(text), "data", &settings, NULL));
    return data;
}

static void check_written(const uc_dataset *data, const char *name, const char *want)
{
    const char *path = temporary_path(name);
    assert_ok(uc_dataset_write(data, path, UC_FORMAT_AUTO, NULL, NULL));
    char *got = read_file(path, NULL);
    assert_string_equal(got, want);
    free(got);
}

static void libsvm_text_is_written_as_it_would_be_typed(void **state)
{
    (void)state;
    static const char text[] = "cat bag:a:1 1:1 3:-0.5\n? bag:b 2:0.1\n";
    for (int storage = UC_STORAGE_DENSE; storage <= UC_STORAGE_SPARSE; storage++) {
        uc_dataset data = read_text(text, storage);
        check_written(&data, "out.svm", text);
        check_written(&data, "out.libsvm", text);
        check_written(&data, "out.txt", text);
        uc_dataset_free(&data);
    }
}

static void csv_has_a_header_and_quotes_what_needs_them(void **state)
{
    (void)state;
    uc_dataset data =
        read_text("1,2,\"a,b\"\n3,0.5,\"say \"\"hi\"\"\"\n5,6,?\n7,8,\" x\"\n", UC_STORAGE_AUTO);
    check_written(&data, "out.csv",
                  "x1,x2,label\n1,2,\"a,b\"\n3,0.5,\"say \"\"hi\"\"\"\n5,6,?\n7,8,\" x\"\n");
    check_written(&data, "out.tsv",
                  "x1\tx2\tlabel\n1\t2\ta,b\n3\t0.5\t\"say \"\"hi\"\"\"\n5\t6\t?\n7\t8\t\" x\"\n");
    uc_dataset_free(&data);
    data = read_text("1 bag:p 2:5\n0 bag:q 1:3\n", UC_STORAGE_SPARSE);
    check_written(&data, "out.csv", "x1,x2,label,bag\n0,5,1,p\n3,0,0,q\n");
    uc_dataset_free(&data);
}

static void npy_files_are_what_numpy_writes(void **state)
{
    (void)state;
    uc_dataset data = read_text("1,2,cat\n3,4,na\xc3\xafve\n5,6,?\n", UC_STORAGE_AUTO);
    const char *path = temporary_path("X.npy"), *labels = temporary_path("y.npy");
    assert_ok(uc_dataset_write(&data, path, UC_FORMAT_AUTO, labels, NULL));
    size_t length;
    char *bytes = read_file(path, &length);
    static const float items[] = {1, 2, 3, 4, 5, 6};
    assert_int_equal(length, 128 + sizeof items);
    assert_memory_equal(
        bytes, "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", 68);
    assert_int_equal(bytes[127], '\n');
    assert_memory_equal(bytes + 128, items, sizeof items);
    free(bytes);
    bytes = read_file(labels, &length);
    assert_int_equal(length, 128 + 3 * 5 * 4);
    assert_memory_equal(bytes + 10, "{'descr': '<U5', 'fortran_order': False, 'shape': (3,), }", 57);
    const uint32_t *y = (const uint32_t *)(const void *)(bytes + 128);
    assert_true(y[0] == 'c' && y[3] == 0 && y[7] == 0xef && y[10] == '?' && y[11] == 0);
    free(bytes);
    uc_dataset_free(&data);
}

static void check_same_rows(const uc_dataset *a, const uc_dataset *b)
{
    assert_int_equal(a->X.rows, b->X.rows);
    for (size_t i = 0; i < a->X.rows; i++) {
        float x[64] = {0}, z[64] = {0};
        const uc_row r = uc_matrix_row(&a->X, i), s = uc_matrix_row(&b->X, i);
        for (size_t j = 0; j < r.count; j++)
            x[r.columns ? r.columns[j] : j] = r.values[j];
        for (size_t j = 0; j < s.count; j++)
            z[s.columns ? s.columns[j] : j] = s.values[j];
        assert_memory_equal(x, z, sizeof x);
        if (a->y[i] == UC_NONE)
            assert_int_equal(b->y[i], UC_NONE);
        else
            assert_string_equal(a->classes.text[a->y[i]], b->classes.text[b->y[i]]);
    }
}

/* A random data set of `rows` rows with up to 50 columns. */
static uc_dataset random_data(size_t rows, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 0);
    char *text = malloc(rows * 1000), *p = text;
    assert_non_null(text);
    for (size_t i = 0; i < rows; i++) {
        p += sprintf(p, i % 50 == 7 ? "?" : "c%d", (int)uc_rng_below(&rng, 5));
        for (int j = 1; j <= 50; j++)
            if (uc_rng_below(&rng, 4) == 0 || (i == 0 && j == 50))
                p += sprintf(p, " %d:%.9g", j,
                             (uc_rng_uniform(&rng) - 0.5) *
                                 (i % 2 ? 1.0 : pow(10.0, (double)uc_rng_below(&rng, 60) - 30.0)));
        p += sprintf(p, "\n");
    }
    uc_dataset data = read_text(text, UC_STORAGE_SPARSE);
    free(text);
    return data;
}

static void every_format_comes_back_as_it_was(void **state)
{
    (void)state;
    uc_dataset data = random_data(3000, 1);
    static const char *const names[] = {"a.svm",     "a.svm.gz", "a.svm.zst", "a.csv",     "a.csv.gz",
                                        "a.tsv.zst", "a.npy",    "a.npy.gz",  "a.npy.zst", "a.ucd"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        const char *path = temporary_path(names[n]),
                   *labels = strstr(names[n], ".npy") ? temporary_path("a_y.npy.gz") : NULL;
        assert_ok(uc_dataset_write(&data, path, UC_FORMAT_AUTO, labels, NULL));
        uc_read_settings settings = uc_reader_defaults();
        settings.labels = labels;
        uc_dataset back = {0};
        assert_ok(uc_dataset_read(&back, path, &settings, NULL));
        check_same_rows(&data, &back);
        uc_dataset_free(&back);
    }
    uc_dataset_free(&data);
}

static void the_text_does_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    uc_dataset data = random_data(20000, 2);
    char *texts[2];
    for (unsigned i = 0; i < 2; i++) {
        const uc_context context = {.threads = i ? 5 : 1};
        const char *path = temporary_path("threads.svm");
        assert_ok(uc_dataset_write(&data, path, UC_FORMAT_AUTO, NULL, &context));
        texts[i] = read_file(path, NULL);
    }
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
    uc_dataset_free(&data);
}

static void check_refused(const uc_dataset *data, const char *name, uc_format format, const char *labels,
                          const char *sentence)
{
    const size_t files = temporary_count();
    assert_error_has(uc_dataset_write(data, temporary_path(name), format, labels, NULL), UC_ERR_INVALID,
                     sentence);
    assert_int_equal(temporary_count(), files);
}

static void what_cannot_be_written_is_refused(void **state)
{
    (void)state;
    static const char *const labels[] = {"a b", "a#b", "a:b"};
    for (size_t i = 0; i < 3; i++) {
        char text[40], sentence[160];
        snprintf(text, sizeof text, "1,2,%s\n", labels[i]);
        snprintf(sentence, sizeof sentence, "the label '%s' cannot be written as LIBSVM text", labels[i]);
        uc_dataset data = read_text(text, UC_STORAGE_AUTO);
        check_refused(&data, "refused.svm", UC_FORMAT_AUTO, NULL, sentence);
        uc_dataset_free(&data);
    }
    uc_dataset data = read_text("1 1:2\n", UC_STORAGE_AUTO);
    check_refused(&data, "refused.xyz", UC_FORMAT_AUTO, NULL, "its ending is none of .svm .libsvm .txt");
    check_refused(&data, "refused.ucd.gz", UC_FORMAT_AUTO, NULL,
                  "a .ucd file is mapped and cannot be packed");
    check_refused(&data, "refused.csv", UC_FORMAT_AUTO, "y.npy",
                  "labels go to a file of their own with NPY only");
    assert_status(uc_dataset_write(&data, "/nowhere/x.svm", UC_FORMAT_AUTO, NULL, NULL), UC_ERR_IO);
    const size_t files = temporary_count();
    assert_status(uc_dataset_write(&data, temporary_path("half.npy"), UC_FORMAT_AUTO, "/nowhere/y.npy", NULL),
                  UC_ERR_IO);
    assert_int_equal(temporary_count(), files);
    uc_dataset_free(&data);
    data = read_text("1\n", UC_STORAGE_AUTO);
    check_refused(&data, "refused.csv", UC_FORMAT_AUTO, NULL,
                  "data without columns cannot be written as CSV");
    uc_dataset_free(&data);
}

static uc_status write_all(const uc_dataset *data)
{
    static const char *const names[] = {"f.svm.gz", "f.csv", "f.npy.zst"};
    uc_status status = UC_OK;
    for (size_t i = 0; i < 3 && status == UC_OK; i++) {
        const bool npy = strstr(names[i], "npy") != NULL;
        status = uc_dataset_write(data, temporary_path(names[i]), UC_FORMAT_AUTO,
                                  npy ? temporary_path("fy.npy") : NULL, NULL);
    }
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = random_data(20, 3);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, write_all(&data));
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libsvm_text_is_written_as_it_would_be_typed),
        cmocka_unit_test(csv_has_a_header_and_quotes_what_needs_them),
        cmocka_unit_test(npy_files_are_what_numpy_writes),
        cmocka_unit_test(every_format_comes_back_as_it_was),
        cmocka_unit_test(the_text_does_not_depend_on_the_number_of_threads),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
