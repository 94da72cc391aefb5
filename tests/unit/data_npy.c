/* NPY files, made by hand as NumPy writes them. */
#include "tests/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/reader.h"

typedef struct npy_file {
    unsigned char bytes[4096];
    size_t length;
} npy_file;

static npy_file make(int version, const char *descr, const char *order, const char *shape, const void *items,
                     size_t size)
{
    npy_file file = {.length = 0};
    char text[300];
    snprintf(text, sizeof text, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape);
    const size_t length = strlen(text);
    memcpy(file.bytes, "\x93NUMPY", 6);
    file.bytes[6] = (unsigned char)version;
    file.bytes[8] = (unsigned char)(length & 0xff);
    file.bytes[9] = (unsigned char)(length >> 8);
    file.length = version == 1 ? 10 : 12;
    memcpy(file.bytes + file.length, text, length);
    file.length += length;
    memcpy(file.bytes + file.length, items, size);
    file.length += size;
    return file;
}

static uc_status read_npy(uc_dataset *out, const npy_file *file, const char *labels)
{
    uc_read_settings settings = uc_reader_defaults();
    settings.labels = labels;
    return uc_dataset_read_memory(out, file->bytes, file->length, "X.npy", &settings, NULL);
}

static void check_matrix(const npy_file *file, size_t rows, size_t cols, const float *values)
{
    uc_dataset data = {0};
    assert_ok(read_npy(&data, file, NULL));
    assert_int_equal(data.X.rows, rows);
    assert_int_equal(data.X.cols, cols);
    assert_null(data.y);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < cols; j++)
            assert_true(data.X.values[i * data.X.stride + j] == values[i * cols + j]);
        for (size_t j = cols; j < data.X.stride; j++)
            assert_true(data.X.values[i * data.X.stride + j] == 0.0f);
    }
    uc_dataset_free(&data);
}

static void every_type_of_number_is_read(void **state)
{
    (void)state;
    const float want[] = {1, 0, 3, 4, 5, 100};
    const float f4[] = {1, 0, 3, 4, 5, 100};
    const double f8[] = {1, 0, 3, 4, 5, 100};
    const int8_t i1[] = {1, 0, 3, 4, 5, 100};
    const int16_t i2[] = {1, 0, 3, 4, 5, 100};
    const int32_t i4[] = {1, 0, 3, 4, 5, 100};
    const int64_t i8[] = {1, 0, 3, 4, 5, 100};
    const struct {
        const char *type;
        const void *items;
        size_t size;
    } cases[] = {{"'<f4'", f4, sizeof f4}, {"'<f8'", f8, sizeof f8}, {"'|i1'", i1, sizeof i1},
                 {"'<i2'", i2, sizeof i2}, {"'<i4'", i4, sizeof i4}, {"'<i8'", i8, sizeof i8},
                 {"'|u1'", i1, sizeof i1}, {"'<u2'", i2, sizeof i2}, {"'<u4'", i4, sizeof i4},
                 {"'<u8'", i8, sizeof i8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int version = 1; version <= 3; version++) {
            const npy_file file =
                make(version, cases[i].type, "False", "(3, 2)", cases[i].items, cases[i].size);
            check_matrix(&file, 3, 2, want);
        }
    const npy_file flags = make(1, "'|b1'", "False", "(1, 3)", "\1\0\1", 3);
    check_matrix(&flags, 1, 3, (const float[]){1, 0, 1});
    const int32_t negative[] = {-1, -2000000000};
    const npy_file file = make(1, "'<i4'", "False", "(2, 1)", negative, sizeof negative);
    check_matrix(&file, 2, 1, (const float[]){-1.0f, -2e9f});
}

static void the_other_byte_order_is_read(void **state)
{
    (void)state;
    static const unsigned char items[] = {0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}; /* 1, -2 */
    const npy_file file = make(1, "'>f4'", "False", "(1, 2)", items, sizeof items);
    check_matrix(&file, 1, 2, (const float[]){1.0f, -2.0f});
}

static void fortran_order_is_turned_around(void **state)
{
    (void)state;
    const double items[] = {1, 3, 5, 2, 4, 6};
    const npy_file file = make(1, "'<f8'", "True", "(3, 2)", items, sizeof items);
    check_matrix(&file, 3, 2, (const float[]){1, 2, 3, 4, 5, 6});
}

static void labels_come_from_their_file_and_whole_floats_are_integers(void **state)
{
    (void)state;
    const float rows[] = {1, 2, 3};
    const npy_file X = make(1, "'<f4'", "False", "(3, 1)", rows, sizeof rows);
    const int64_t i8[] = {-1, 7, -1};
    const double f8[] = {1.0, 0.5, 1e16};
    const float f4[] = {0.1f, 2.0f, 0.1f};
    const uint32_t U2[] = {'c', 'a', 0xe9, 0, '?', 0};
    const uint32_t swapped[] = {__builtin_bswap32('x'), __builtin_bswap32(0x1f600), __builtin_bswap32('z')};
    const struct {
        const char *type;
        const void *items;
        size_t size;
        const char *labels[3]; /* NULL: none */
    } cases[] = {{"'<i8'", i8, sizeof i8, {"-1", "7", "-1"}},
                 {"'<f8'", f8, sizeof f8, {"1", "0.5", "1e+16"}},
                 {"'<f4'", f4, sizeof f4, {"0.1", "2", "0.1"}},
                 {"'|b1'", "\1\0\1", 3, {"True", "False", "True"}},
                 {"'|u1'", "\1\0\377", 3, {"1", "0", "255"}},
                 {"'|S2'", "a\0bcd\0", 6, {"a", "bc", "d"}},
                 {"'<U2'", U2, sizeof U2, {"ca", "\xc3\xa9", NULL}},
                 {"'>U1'", swapped, sizeof swapped, {"x", "\xf0\x9f\x98\x80", "z"}}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const npy_file y = make(1, cases[c].type, "False", "(3,)", cases[c].items, cases[c].size);
        const char *path = temporary_path("y.npy");
        write_bytes(path, y.bytes, y.length);
        uc_dataset data = {0};
        assert_ok(read_npy(&data, &X, path));
        for (size_t i = 0; i < 3; i++) {
            if (!cases[c].labels[i])
                assert_int_equal(data.y[i], UC_NONE);
            else
                assert_string_equal(data.classes.text[data.y[i]], cases[c].labels[i]);
        }
        uc_dataset_free(&data);
    }
}

static void check_refused(const npy_file *file, const char *sentence)
{
    uc_dataset data = {0};
    const long live = uc_alloc_live();
    assert_error(read_npy(&data, file, NULL), UC_ERR_FORMAT, sentence);
    assert_int_equal(uc_alloc_live(), live);
}

static void what_cannot_be_data_is_refused(void **state)
{
    (void)state;
    const double items[] = {1, 2, NAN, 4, 1e300, INFINITY};
    npy_file file = make(1, "'<f8'", "False", "(6,)", items, sizeof items);
    check_refused(&file, "X.npy: an array of 1 dimension, but the data must have 2");
    file = make(1, "'<f8'", "False", "(1, 2, 3)", items, sizeof items);
    check_refused(&file, "X.npy: an array of 3 dimensions, but the data must have 2");
    file = make(1, "'<f8'", "False", "(3, 2)", items, sizeof items);
    check_refused(&file, "X.npy: row 2, column 1: nan is not a finite number");
    file = make(1, "'<f8'", "False", "(2, 1)", items + 4, 16);
    check_refused(&file, "X.npy: row 1, column 1: 1e+300 is beyond the range of float");
    file = make(1, "'<f8'", "True", "(1, 1)", items + 5, 8);
    check_refused(&file, "X.npy: row 1, column 1: inf is not a finite number");
    file = make(1, "'<f8'", "False", "(2, 1)", items, 15);
    check_refused(&file, "X.npy: the file ends too early: 15 bytes of 16");
    file = make(1, "'<f8'", "False", "(2, 1)", items, 17);
    check_refused(&file, "X.npy: 1 bytes follow the array");
    file = make(1, "'<f8'", "False", "(0, 1)", items, 0);
    check_refused(&file, "X.npy: no examples");
    file = make(1, "'<f8'", "False", "(1, 0)", items, 0);
    check_refused(&file, "X.npy: 0 columns of features");
    file = make(1, "'<c16'", "False", "(1, 1)", items, 16);
    check_refused(
        &file,
        "X.npy: items of type '<c16' cannot be read; convert them with astype('float32') or astype(str)");
    file = make(1, "'|O'", "False", "(1, 1)", items, 8);
    check_refused(
        &file,
        "X.npy: items of type '|O' cannot be read; convert them with astype('float32') or astype(str)");
    file = make(1, "'<U2'", "False", "(1, 1)", items, 8);
    check_refused(&file, "X.npy: an array of text, but the data must be numbers");
    file = make(1, "'<f8'", "False", "(18446744073709551615, 2)", items, 8);
    check_refused(&file, "X.npy: damaged: not the header of an NPY file");
    file = make(1, "'<f8'", "False", "(9000000000000000000, 9000000000000000000)", items, 8);
    check_refused(&file, "X.npy: damaged: not the header of an NPY file");
    file = make(4, "'<f8'", "False", "(1, 1)", items, 8);
    check_refused(&file, "X.npy: damaged: not the header of an NPY file");
    file = make(1, "'<f8'", "False", "(1, 1)", items, 8);
    file.length = 9;
    check_refused(&file, "X.npy: the file ends too early");
}

static void labels_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const float rows[] = {1, 2, 3};
    const npy_file X = make(1, "'<f4'", "False", "(3, 1)", rows, sizeof rows);
    const char *path = temporary_path("bad.npy");
    char sentence[300];
    uc_dataset data = {0};
    npy_file y = make(1, "'|u1'", "False", "(2,)", "\1\2", 2);
    write_bytes(path, y.bytes, y.length);
    snprintf(sentence, sizeof sentence, "%s has 2 labels, but X.npy has 3 rows", path);
    assert_error(read_npy(&data, &X, path), UC_ERR_FORMAT, sentence);
    y = make(1, "'|u1'", "False", "(3, 1)", "\1\2\3", 3);
    write_bytes(path, y.bytes, y.length);
    assert_error_has(read_npy(&data, &X, path), UC_ERR_FORMAT,
                     "an array of 2 dimensions, but the labels must have 1");
    y = make(1, "'|S2'", "False", "(3,)", "ab\0\0cd", 6);
    write_bytes(path, y.bytes, y.length);
    assert_error_has(read_npy(&data, &X, path), UC_ERR_FORMAT, "label 2 is empty");
    y = make(1, "'|S2'", "False", "(3,)", "ab\1bcd", 6);
    write_bytes(path, y.bytes, y.length);
    assert_error_has(read_npy(&data, &X, path), UC_ERR_FORMAT, "label 2 is not text");
    const float nan_labels[] = {1, NAN, 2};
    y = make(1, "'<f4'", "False", "(3,)", nan_labels, sizeof nan_labels);
    write_bytes(path, y.bytes, y.length);
    assert_error_has(read_npy(&data, &X, path), UC_ERR_FORMAT, "label 2: nan is not a finite number");
    assert_error(read_npy(&data, &X, "/nowhere/y.npy"), UC_ERR_IO,
                 "/nowhere/y.npy: No such file or directory");
}

static void a_large_array_is_handed_out_in_blocks(void **state)
{
    (void)state;
    const size_t rows = 300000, cols = 5;
    const char *path = temporary_path("large.npy"), *labels = temporary_path("large_y.npy");
    uc_dataset made = {0};
    assert_ok(uc_matrix_create_dense(&made.X, rows, cols));
    made.y = uc_alloc(rows, sizeof *made.y);
    uint32_t index;
    assert_ok(uc_names_add(&index, &made.classes, "a", 1));
    assert_ok(uc_names_add(&index, &made.classes, "b", 1));
    for (size_t i = 0; i < rows; i++) {
        made.y[i] = i / 7 % 2;
        for (size_t j = 0; j < cols; j++)
            made.X.values[i * made.X.stride + j] = (float)(i * cols + j);
    }
    assert_ok(uc_dataset_write(&made, path, UC_FORMAT_AUTO, labels, NULL));
    uc_read_settings settings = uc_reader_defaults();
    settings.labels = labels;
    uc_reader *reader;
    const uc_dataset *block;
    assert_ok(uc_reader_open(&reader, path, &settings, NULL));
    size_t row = 0, blocks = 0;
    for (assert_ok(uc_reader_next(&block, reader)); block;
         assert_ok(uc_reader_next(&block, reader)), blocks++)
        for (size_t i = 0; i < block->X.rows; i++, row++) {
            assert_memory_equal(block->X.values + i * block->X.stride, made.X.values + row * made.X.stride,
                                made.X.stride * sizeof(float));
            assert_string_equal(uc_reader_classes(reader)->text[block->y[i]], row / 7 % 2 ? "b" : "a");
        }
    uc_reader_close(reader);
    assert_int_equal(row, rows);
    assert_true(blocks > 1);
    uc_dataset all = {0};
    assert_ok(uc_dataset_read(&all, path, &settings, NULL));
    assert_memory_equal(all.X.values, made.X.values, rows * made.X.stride * sizeof(float));
    assert_memory_equal(all.y, made.y, rows * sizeof *all.y);
    uc_dataset_free(&all);
    uc_dataset_free(&made);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const float rows[] = {1, 2, 3};
    const npy_file X = make(1, "'<f4'", "False", "(3, 1)", rows, sizeof rows);
    const npy_file y = make(1, "'|u1'", "False", "(3,)", "\1\2\1", 3);
    const char *path = temporary_path("fail.npy");
    write_bytes(path, y.bytes, y.length);
    uc_dataset data = {0};
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, read_npy(&data, &X, path));
    assert_int_equal(data.classes.count, 2);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_of_number_is_read),
        cmocka_unit_test(the_other_byte_order_is_read),
        cmocka_unit_test(fortran_order_is_turned_around),
        cmocka_unit_test(labels_come_from_their_file_and_whole_floats_are_integers),
        cmocka_unit_test(what_cannot_be_data_is_refused),
        cmocka_unit_test(labels_that_do_not_fit_are_refused),
        cmocka_unit_test(a_large_array_is_handed_out_in_blocks),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
