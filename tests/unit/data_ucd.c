/* UCD files: mapped, checked, and refused when they are damaged. */
#include "tests/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/reader.h"
#include "unconfuse/cpu.h"

static const char text[] = "cat bag:p 1:1 3:-2.5\ndog bag:q 2:0.25\n? bag:p 7:4\n";

static uc_dataset read_text(int storage)
{
    uc_read_settings settings = uc_reader_defaults();
    settings.storage = storage;
    uc_dataset data = {0};
    assert_ok(uc_dataset_read_memory(&data, text, strlen(text), "data.svm", &settings, NULL));
    return data;
}

static void check_same(const uc_dataset *a, const uc_dataset *b)
{
    assert_int_equal(a->X.rows, b->X.rows);
    assert_int_equal(a->X.cols, b->X.cols);
    assert_int_equal(uc_matrix_is_sparse(&a->X), uc_matrix_is_sparse(&b->X));
    for (size_t i = 0; i < a->X.rows; i++) {
        const uc_row x = uc_matrix_row(&a->X, i), z = uc_matrix_row(&b->X, i);
        assert_int_equal(x.count, z.count);
        assert_memory_equal(x.values, z.values, x.count * sizeof *x.values);
        if (x.columns)
            assert_memory_equal(x.columns, z.columns, x.count * sizeof *x.columns);
    }
    assert_memory_equal(a->y, b->y, a->X.rows * sizeof *a->y);
    assert_memory_equal(a->bag, b->bag, a->X.rows * sizeof *a->bag);
    assert_int_equal(a->classes.count, b->classes.count);
    for (size_t k = 0; k < a->classes.count; k++)
        assert_string_equal(a->classes.text[k], b->classes.text[k]);
}

static void what_is_written_is_mapped_back(void **state)
{
    (void)state;
    for (int storage = UC_STORAGE_DENSE; storage <= UC_STORAGE_SPARSE; storage++) {
        uc_dataset data = read_text(storage), back = {0};
        const char *path = temporary_path("data.ucd");
        assert_ok(uc_dataset_write(&data, path, UC_FORMAT_AUTO, NULL, NULL));
        assert_ok(uc_dataset_read(&back, path, NULL, NULL));
        assert_non_null(back.mapping);
        check_same(&data, &back);
        assert_int_equal((uintptr_t)back.X.values % 64, 0);
        uc_dataset_free(&back);
        uc_dataset_free(&data);
    }
}

static void changing_the_data_does_not_change_the_file(void **state)
{
    (void)state;
    uc_dataset data = read_text(UC_STORAGE_SPARSE), back = {0};
    const char *path = temporary_path("private.ucd");
    assert_ok(uc_dataset_write(&data, path, UC_FORMAT_UCD, NULL, NULL));
    assert_ok(uc_dataset_read(&back, path, NULL, NULL));
    back.X.values[0] = 99.0f;
    back.y[0] = 1;
    uc_dataset_free(&back);
    assert_ok(uc_dataset_read(&back, path, NULL, NULL));
    check_same(&data, &back);
    uc_dataset_free(&back);
    uc_dataset_free(&data);
}

static void a_reader_hands_it_out_as_one_block(void **state)
{
    (void)state;
    uc_dataset data = read_text(UC_STORAGE_SPARSE);
    const char *path = temporary_path("stream.ucd");
    assert_ok(uc_dataset_write(&data, path, UC_FORMAT_UCD, NULL, NULL));
    uc_reader *reader;
    const uc_dataset *block;
    assert_ok(uc_reader_open(&reader, path, NULL, NULL));
    assert_string_equal(uc_reader_format(reader), "ucd");
    assert_ok(uc_reader_next(&block, reader));
    assert_int_equal(block->X.rows, 3);
    assert_int_equal(block->classes.count, 0);
    assert_string_equal(uc_reader_classes(reader)->text[block->y[1]], "dog");
    assert_ok(uc_reader_next(&block, reader));
    assert_null(block);
    uc_reader_close(reader);
    uc_dataset_free(&data);
}

static void it_is_read_through_an_archive_too(void **state)
{
    (void)state;
    uc_dataset data = read_text(UC_STORAGE_DENSE), back = {0};
    const char *path = temporary_path("plain.ucd"), *packed = temporary_path("packed.ucd.zst");
    assert_ok(uc_dataset_write(&data, path, UC_FORMAT_UCD, NULL, NULL));
    size_t length;
    char *bytes = read_file(path, &length);
    write_packed(packed, bytes, length);
    assert_ok(uc_dataset_read(&back, packed, NULL, NULL));
    check_same(&data, &back);
    uc_dataset_free(&back);
    uc_dataset_free(&data);
    free(bytes);
}

static void classes_are_sorted_when_read(void **state)
{
    (void)state;
    uc_dataset data = read_text(UC_STORAGE_SPARSE), back = {0};
    char *kept = data.classes.text[0];
    data.classes.text[0] =
        data.classes.text[1]; /* the hash table no longer fits, but writing does not use it */
    data.classes.text[1] = kept;
    const char *path = temporary_path("unsorted.ucd");
    assert_ok(uc_dataset_write(&data, path, UC_FORMAT_UCD, NULL, NULL));
    assert_ok(uc_dataset_read(&back, path, NULL, NULL));
    assert_string_equal(back.classes.text[0], "cat");
    assert_string_equal(back.classes.text[back.y[0]], "dog");
    uc_dataset_free(&back);
    uc_dataset_free(&data);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    uc_dataset data = read_text(UC_STORAGE_SPARSE);
    const char *path = temporary_path("cut.ucd");
    assert_ok(uc_dataset_write(&data, path, UC_FORMAT_UCD, NULL, NULL));
    size_t length;
    char *bytes = read_file(path, &length);
    for (size_t cut = 8; cut < length; cut++) {
        uc_dataset back = {0};
        assert_status(uc_dataset_read_memory(&back, bytes, cut, "cut.ucd", NULL, NULL), UC_ERR_FORMAT);
    }
    free(bytes);
    uc_dataset_free(&data);
}

/* The data set with one thing wrong must not be readable. */
static void check_damage(const uc_dataset *data, const char *sentence)
{
    const char *path = temporary_path("damaged.ucd");
    assert_ok(uc_dataset_write(data, path, UC_FORMAT_UCD, NULL, NULL));
    uc_dataset back = {0};
    const long live = uc_alloc_live();
    assert_error_has(uc_dataset_read(&back, path, NULL, NULL), UC_ERR_FORMAT, sentence);
    assert_int_equal(uc_alloc_live(), live);
}

static void values_that_break_what_others_rely_on_are_refused(void **state)
{
    (void)state;
    uc_dataset data = read_text(UC_STORAGE_SPARSE);
    const float value = data.X.values[2];
    data.X.values[2] = NAN;
    check_damage(&data, "damaged.ucd: damaged: row 2 has a value that is not a finite number");
    data.X.values[2] = value;
    data.X.columns[1] = 0;
    check_damage(&data, "row 1 has columns that do not ascend or are too large");
    data.X.columns[1] = 7;
    check_damage(&data, "row 1 has columns that do not ascend or are too large");
    data.X.columns[1] = 2;
    data.y[2] = 2;
    check_damage(&data, "row 3 has a label that is not in the list of classes");
    data.y[2] = UC_NONE;
    data.bag[0] = 2;
    check_damage(&data, "row 1 has a bag that is not in the list of bags");
    data.bag[0] = 0;
    data.X.offsets[2] = 1;
    check_damage(&data, "row 2 has no place in the file");
    data.X.offsets[2] = 3;
    data.X.offsets[1] = 1000000000000u;
    check_damage(&data, "row 1 has no place in the file");
    data.X.offsets[1] = 2;
    uc_dataset_free(&data);
    data = read_text(UC_STORAGE_DENSE);
    data.X.values[data.X.stride - 1] = 1.0f;
    check_damage(&data, "row 1 has a value that is not a finite number");
    data.X.values[data.X.stride - 1] = 0.0f;
    data.X.values[data.X.stride] = INFINITY;
    check_damage(&data, "row 2 has a value that is not a finite number");
    uc_dataset_free(&data);
}

/* Rows of 1, 2, ... WIDE values. */
#define WIDE ((size_t)37)

static uc_dataset read_wide(int storage)
{
    char wide[WIDE * (WIDE + 1) * 6 + WIDE * 2 + 64] = "", *to = wide;
    uc_read_settings settings = uc_reader_defaults();
    settings.storage = storage;
    for (size_t i = 0; i < WIDE; i++) {
        to += sprintf(to, "c");
        for (size_t j = 0; j <= i; j++)
            to += sprintf(to, " %zu:%zu", j + 1, j % 9 + 1);
        to += sprintf(to, "\n");
    }
    uc_dataset data = {0};
    assert_ok(uc_dataset_read_memory(&data, wide, (size_t)(to - wide), "wide.svm", &settings, NULL));
    return data;
}

/* Values and columns are looked at several at a time. */
static void one_bad_value_is_found_wherever_it_is(void **state)
{
    (void)state;
    static const char *const levels[] = {"baseline", "best"};
    const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (size_t l = 0; l < 2; l++) {
        assert_ok(uc_cpu_set_level(levels[l]));
        uc_dataset dense = read_wide(UC_STORAGE_DENSE), sparse = read_wide(UC_STORAGE_SPARSE);
        const size_t last = WIDE - 1, first = (size_t)sparse.X.offsets[last];
        for (size_t j = 0; j < WIDE; j++) {
            float *values[] = {dense.X.values + last * dense.X.stride + j, sparse.X.values + first + j};
            const uc_dataset *data[] = {&dense, &sparse};
            for (size_t k = 0; k < 2; k++) {
                const float value = *values[k];
                *values[k] = bad[j % 4];
                check_damage(data[k], "row 37 has a value that is not a finite number");
                *values[k] = value;
            }
            uint32_t *column = sparse.X.columns + first + j, right = *column;
            *column = j == 0 ? UINT32_MAX : right - 1;
            check_damage(&sparse, "row 37 has columns that do not ascend or are too large");
            *column = right + (j == last ? 1 : UINT32_MAX / 2);
            check_damage(&sparse, "row 37 has columns that do not ascend or are too large");
            *column = right;
        }
        uc_dataset_free(&dense);
        uc_dataset_free(&sparse);
    }
    assert_ok(uc_cpu_set_level("best"));
}

/* A reader that leaves the check to its caller finds the same. */
static void a_check_that_comes_later_finds_the_same(void **state)
{
    (void)state;
    uc_read_settings settings = uc_reader_defaults();
    settings.check_later = true;
    for (int storage = UC_STORAGE_DENSE; storage <= UC_STORAGE_SPARSE; storage++) {
        uc_dataset data = read_wide(storage);
        const char *path = temporary_path("later.ucd");
        const uc_row last = uc_matrix_row(&data.X, WIDE - 1);
        data.X.values[last.values - data.X.values + (ptrdiff_t)WIDE - 1] = NAN;
        data.y[3] = 7;
        assert_ok(uc_dataset_write(&data, path, UC_FORMAT_UCD, NULL, NULL));
        uc_reader *reader;
        const uc_dataset *block;
        assert_ok(uc_reader_open(&reader, path, &settings, NULL));
        assert_ok(uc_reader_next(&block, reader));
        const uc_row_check *rows = uc_reader_check(reader);
        assert_non_null(rows);
        assert_ok(rows->check(0, 3, rows->user));
        assert_ok(rows->check(4, WIDE - 1, rows->user));
        assert_error_has(rows->check(3, 4, rows->user), UC_ERR_FORMAT,
                         "later.ucd: damaged: row 4 has a label that is not in the list of classes");
        assert_error_has(rows->check(4, WIDE, rows->user), UC_ERR_FORMAT,
                         "later.ucd: damaged: row 37 has a value that is not a finite number");
        uc_reader_close(reader);
        uc_dataset_free(&data);
    }
}

/* Padding is looked at in whole vectors and in a part of one. */
static void padding_that_is_not_zero_is_refused_wherever_it_is(void **state)
{
    (void)state;
    for (size_t cols = 1; cols <= 33; cols++) {
        uc_dataset data = {0};
        assert_ok(uc_matrix_create_dense(&data.X, 3, cols));
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < cols; j++)
                data.X.values[i * data.X.stride + j] = 1.0f;
        for (size_t j = cols; j < data.X.stride; j++) {
            data.X.values[data.X.stride + j] = 1e-40f;
            check_damage(&data, "row 2 has a value that is not a finite number");
            data.X.values[data.X.stride + j] = -0.0f;
        }
        const char *path = temporary_path("padded.ucd");
        uc_dataset back = {0};
        assert_ok(uc_dataset_write(&data, path, UC_FORMAT_UCD, NULL, NULL));
        assert_ok(uc_dataset_read(&back, path, NULL, NULL));
        uc_dataset_free(&back);
        uc_dataset_free(&data);
    }
}

/* A container with this header and one array of values must not be readable. */
static void check_header(const char *header, const char *sentence)
{
    const float values[32] = {0};
    const uint64_t offsets[3] = {0, 0, 0};
    const uint32_t columns[1] = {0};
    const uc_array arrays[] = {{"values", UC_ARRAY_F32, values, 32},
                               {"offsets", UC_ARRAY_U64, offsets, 3},
                               {"columns", UC_ARRAY_U32, columns, 0}};
    const char *path = temporary_path("header.ucd");
    json_t *json = json_loads(header, 0, NULL);
    assert_non_null(json);
    assert_ok(write_container(path, UC_DATA_MAGIC, UC_DATA_VERSION, json, arrays, 3));
    json_decref(json);
    uc_dataset data = {0};
    const long live = uc_alloc_live();
    if (sentence)
        assert_error_has(uc_dataset_read(&data, path, NULL, NULL), UC_ERR_FORMAT, sentence);
    else
        assert_ok(uc_dataset_read(&data, path, NULL, NULL));
    uc_dataset_free(&data);
    assert_int_equal(uc_alloc_live(), live);
}

static void headers_that_lie_are_refused(void **state)
{
    (void)state;
    check_header("{\"rows\":2,\"cols\":3,\"sparse\":false,\"stride\":16,\"entries\":6}", NULL);
    check_header("{\"rows\":2,\"cols\":3,\"sparse\":false,\"stride\":16}",
                 "its header has no usable 'entries'");
    check_header("{\"rows\":-2,\"cols\":3,\"sparse\":false,\"stride\":16,\"entries\":6}", "no usable 'rows'");
    check_header("{\"rows\":2,\"cols\":17,\"sparse\":false,\"stride\":16,\"entries\":6}",
                 "rows of 17 columns every 16");
    check_header("{\"rows\":2,\"cols\":3,\"sparse\":false,\"stride\":3,\"entries\":6}",
                 "rows of 3 columns every 3");
    check_header("{\"rows\":4,\"cols\":3,\"sparse\":false,\"stride\":16,\"entries\":12}",
                 "it has no array 'values'");
    check_header("{\"rows\":100000000000000000,\"cols\":3,\"sparse\":false,\"stride\":1600000,\"entries\":6}",
                 "damaged");
    check_header("{\"rows\":2,\"cols\":3,\"sparse\":true,\"stride\":16,\"entries\":32}",
                 "rows of 3 columns every 16");
    check_header("{\"rows\":1125899906842624,\"cols\":0,\"sparse\":false,\"stride\":0,\"entries\":0}",
                 "it has no array 'values' of 0 numbers");
    check_header("{\"rows\":0,\"cols\":3,\"sparse\":false,\"stride\":16,\"entries\":0}",
                 "it has no array 'values'");
    check_header(
        "{\"rows\":2,\"cols\":3,\"sparse\":false,\"stride\":16,\"entries\":6,\"classes\":[\"a\",\"a\"]}",
        "classes has 'a' twice");
    check_header("{\"rows\":2,\"cols\":3,\"sparse\":false,\"stride\":16,\"entries\":6,\"classes\":[1]}",
                 "classes has an entry that is not a name");
    check_header(
        "{\"rows\":2,\"cols\":3,\"sparse\":false,\"stride\":16,\"entries\":6,\"bags\":[\"a\\u0001\"]}",
        "bags has an entry that is not a name");
}

static uc_status write_and_read(uc_dataset *out, const uc_dataset *data, const char *path)
{
    const uc_status status = uc_dataset_write(data, path, UC_FORMAT_UCD, NULL, NULL);
    return status == UC_OK ? uc_dataset_read(out, path, NULL, NULL) : status;
}

/* 2^50 rows of nothing would be looked at one by one. */
static void rows_that_no_array_holds_are_refused(void **state)
{
    (void)state;
    const char *path = temporary_path("nothing.ucd");
    json_t *header = json_loads("{\"rows\":1125899906842624,\"cols\":0,\"sparse\":false,\"stride\":0,"
                                "\"entries\":0,\"classes\":[],\"bags\":[]}",
                                0, NULL);
    const uc_array nothing = {"values", UC_ARRAY_F32, "", 0};
    uc_dataset data = {0};
    assert_non_null(header);
    assert_ok(write_container(path, UC_DATA_MAGIC, UC_DATA_VERSION, header, &nothing, 1));
    json_decref(header);
    assert_error_has(uc_dataset_read(&data, path, NULL, NULL), UC_ERR_FORMAT,
                     "damaged: 1125899906842624 rows without columns, labels or bags");
    data.X.rows = 3;
    assert_error_has(uc_dataset_write(&data, path, UC_FORMAT_UCD, NULL, NULL), UC_ERR_INVALID,
                     "3 rows without columns, labels or bags cannot be written");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = read_text(UC_STORAGE_SPARSE), back = {0};
    const char *path = temporary_path("fail.ucd");
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, write_and_read(&back, &data, path));
    check_same(&data, &back);
    uc_dataset_free(&back);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_mapped_back),
        cmocka_unit_test(changing_the_data_does_not_change_the_file),
        cmocka_unit_test(a_reader_hands_it_out_as_one_block),
        cmocka_unit_test(it_is_read_through_an_archive_too),
        cmocka_unit_test(classes_are_sorted_when_read),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(values_that_break_what_others_rely_on_are_refused),
        cmocka_unit_test(one_bad_value_is_found_wherever_it_is),
        cmocka_unit_test(a_check_that_comes_later_finds_the_same),
        cmocka_unit_test(padding_that_is_not_zero_is_refused_wherever_it_is),
        cmocka_unit_test(headers_that_lie_are_refused),
        cmocka_unit_test(rows_that_no_array_holds_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
