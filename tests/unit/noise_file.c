/* Files of noise matrices: CSV and NPY, read and written. */
#include "tests/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unconfuse/noise.h"

static void name_list(uc_names *out, const char *const *names, size_t count)
{
    *out = (uc_names){0};
    for (size_t i = 0; i < count; i++) {
        uint32_t index;
        assert_ok(uc_names_add(&index, out, names[i], strlen(names[i])));
    }
}

static void check_values(const uc_noise *noise, const double *values, size_t classes, double tolerance)
{
    assert_int_equal(noise->classes, classes);
    for (size_t i = 0; i < classes * classes; i++)
        assert_near(noise->values[i], values[i], tolerance);
}

static void check_names(const uc_noise *noise, const char *const *names, size_t count)
{
    assert_int_equal(noise->names.count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(noise->names.text[i], names[i]);
}

static const double three[9] = {.7, .1, .2, .2, .8, .2, .1, .1, .6};      /* columns sum to 1 */
static const double three_rows[9] = {.7, .2, .1, .1, .8, .1, .2, .2, .6}; /* its transpose */

static const char *const abc[] = {"a", "b", "c"};

static void check_text(const char *text, const char *const *names)
{
    uc_noise noise;
    const char *path = temporary_path("noise.csv");
    write_file(path, text);
    assert_ok(uc_noise_read(&noise, path, UC_NOISE_COLUMNS, NULL));
    check_values(&noise, three, 3, 1e-15);
    check_names(&noise, names, names ? 3 : 0);
    uc_noise_free(&noise);
}

static void csv_is_read_with_and_without_names(void **state)
{
    (void)state;
    check_text(".7,.1,.2\n.2,.8,.2\n.1,.1,.6\n", NULL);
    check_text("a,b,c\n.7,.1,.2\n.2,.8,.2\n.1,.1,.6\n", abc);
    check_text("a,.7,.1,.2\nb,.2,.8,.2\nc,.1,.1,.6\n", abc);
    check_text(",a,b,c\na,.7,.1,.2\nb,.2,.8,.2\nc,.1,.1,.6\n", abc);
    check_text("observed\\true,a,b,c\na,.7,.1,.2\nb,.2,.8,.2\nc,.1,.1,.6\n", abc);
    check_text("a,b,c\na,.7,.1,.2\nb,.2,.8,.2\nc,.1,.1,.6\n", abc); /* as R writes it */
    const char *const numbers[] = {"0", "1", "2"};
    check_text("0,1,2\n.7,.1,.2\n.2,.8,.2\n.1,.1,.6\n", numbers);
    check_text("0,.7,.1,.2\n1,.2,.8,.2\n2,.1,.1,.6\n", numbers);
    check_text(",0,1,2\n0,.7,.1,.2\n1,.2,.8,.2\n2,.1,.1,.6\n", numbers);
}

static void csv_may_use_tabs_semicolons_spaces_quotes_and_windows_lines(void **state)
{
    (void)state;
    check_text(".7\t.1\t.2\n.2\t.8\t.2\n.1\t.1\t.6\n", NULL);
    check_text("\ta\tb\tc\na\t.7\t.1\t.2\nb\t.2\t.8\t.2\nc\t.1\t.1\t.6\n", abc);
    check_text(".7;.1;.2\r\n.2;.8;.2\r\n.1;.1;.6", NULL);
    check_text("\xef\xbb\xbf.7, .1 ,.2\n\n.2,.8,2e-1\n  \n.1,.1,.6\n\n", NULL);
    const char *const odd[] = {"a;b", "say \"c\"", "d,e"};
    check_text("\"a;b\", \"say \"\"c\"\"\" ,\"d,e\"\n.7,.1,.2\n.2,.8,.2\n.1,.1,.6\n", odd);
    const char *const inches[] = {"5\"", "6\"", "7"};
    check_text("5\",6\",7\n.7,.1,.2\n.2,.8,.2\n.1,.1,.6\n", inches);
}

static void row_names_in_another_order_decide(void **state)
{
    (void)state;
    check_text(",a,b,c\nc,.1,.1,.6\na,.7,.1,.2\nb,.2,.8,.2\n", abc);
}

static void rows_in_a_file_may_be_the_true_class(void **state)
{
    (void)state;
    uc_noise noise;
    const char *path = temporary_path("rows.csv");
    write_file(path, "a,b,c\n.7,.2,.1\n.1,.8,.1\n.2,.2,.6\n");
    assert_ok(uc_noise_read(&noise, path, UC_NOISE_ROWS, NULL));
    check_values(&noise, three, 3, 1e-15);
    check_names(&noise, abc, 3);
    uc_noise_free(&noise);
}

/* `rest` follows the file's name. */
static void check_refused(const char *text, size_t length, const char *rest)
{
    uc_noise noise = {0};
    char sentence[512];
    const char *path = temporary_path("bad.csv");
    write_bytes(path, text, length);
    snprintf(sentence, sizeof sentence, "%s%s", path, rest);
    const long live = uc_alloc_live();
    const uc_status status = uc_noise_read(&noise, path, UC_NOISE_COLUMNS, NULL);
    assert_true(status == UC_ERR_FORMAT || status == UC_ERR_INVALID);
    assert_string_equal(uc_last_error(), sentence);
    assert_null(noise.values);
    assert_int_equal(uc_alloc_live(), live);
}

static void bad_files_are_refused_with_a_sentence(void **state)
{
    (void)state;
    const struct {
        const char *text, *rest;
    } bad[] = {
        {"", ": the file is empty"},
        {"\n \n", ": the file is empty"},
        {"1", ": a noise matrix needs at least 2 classes, not 1"},
        {".7,.1,.2\n.2,.8\n.1,.1,.6\n", ":2: 2 fields where the line before has 3"},
        {".7,.1,.2\n.2,.8,.2\n.1,.1,.6,0\n", ":3: 4 fields where the line before has 3"},
        {".7,.1,.2\n.2,.8,x\n.1,.1,.6\n", ":2: \"x\" is not a number"},
        {".7,.1,.2\n.2,,.2\n.1,.1,.6\n", ":2: \"\" is not a number"},
        {"1,0,0,0,0\n0,1,0,0,0\n", ": 2 lines of 5 fields are not a square matrix, with or without names"},
        {"a,b\na,1,0\n", ": 2 lines of 3 fields are not a square matrix, with or without names"},
        {"a,a\n1,0\n0,1\n", ":1: class \"a\" is named twice"},
        {"a,1,0\na,0,1\n", ":2: class \"a\" is named twice"},
        {",a,\na,1,0\nb,0,1\n", ":1: a class without a name"},
        {",a,b\na,1,0\nc,0,1\n", ":3: the row \"c\" has no column of that name"},
        {"\"a,b\n1,0\n0,1\n", ":1: a quote is not closed on its line"},
        {"\"a\"x,b\n1,0\n0,1\n", ":1: text follows a closing quote"},
        {"1,0\n0,2\n", ": the entry 2 in row 2, column 2 is not between 0 and 1"},
        {"1,0\n0,nan\n", ": the entry nan in row 2, column 2 is not between 0 and 1"},
        {".5,.5\n.5,.5\n", ": the matrix is singular: different true classes would give the same labels"},
        {".9,.1\n.2,.8\n",
         ": column 1 sums to 1.1, not 1, but every row sums to 1; if the true class is in rows, say "
         "{noise-orientation=rows}"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_refused(bad[i].text, strlen(bad[i].text), bad[i].rest);
    check_refused("1,0\0\n0,1\n", 9, ": neither a text file nor NPY");
    uc_noise noise;
    const char *missing = temporary_path("missing.csv");
    assert_error_has(uc_noise_read(&noise, missing, UC_NOISE_COLUMNS, NULL), UC_ERR_IO, "missing.csv: ");
    assert_error_has(uc_noise_read(&noise, missing, UC_NOISE_COLUMNS, NULL), UC_ERR_IO,
                     "No such file or directory");
}

/* .75,.5 and .25,.5 by gzip. */
static void a_packed_file_is_read(void **state)
{
    (void)state;
    static const unsigned char packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                           0xd3, 0x33, 0x37, 0xd5, 0xd1, 0x33, 0xe5, 0xd2, 0x33, 0x02,
                                           0x53, 0x00, 0x8f, 0xca, 0x92, 0x2c, 0x0e, 0x00, 0x00, 0x00};
    const double want[4] = {.75, .5, .25, .5};
    uc_noise noise;
    const char *path = temporary_path("noise.csv.gz");
    write_bytes(path, packed, sizeof packed);
    assert_ok(uc_noise_read(&noise, path, UC_NOISE_COLUMNS, NULL));
    check_values(&noise, want, 2, 0);
    uc_noise_free(&noise);
    write_bytes(path, packed, sizeof packed - 12);
    assert_error_has(uc_noise_read(&noise, path, UC_NOISE_COLUMNS, NULL), UC_ERR_FORMAT, "noise.csv.gz: ");
}

/* A version 1 or 2 file; the header is padded as NumPy does it. */
static size_t make_npy(char *out, char version, const char *type, const char *order, const char *shape,
                       const void *data, size_t bytes)
{
    char header[128];
    int text = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", type,
                        order, shape);
    while (text < 117)
        header[text++] = ' ';
    header[text++] = '\n';
    const size_t prefix = version == 1 ? 10 : 12;
    memset(out, 0, prefix);
    memcpy(out, "\x93NUMPY", 6);
    out[6] = version;
    out[8] = (char)text;
    memcpy(out + prefix, header, (size_t)text);
    memcpy(out + prefix + text, data, bytes);
    return prefix + (size_t)text + bytes;
}

static void check_npy(char version, const char *type, const char *order, const void *data, size_t bytes,
                      const double *want, size_t classes, double tolerance)
{
    char file[512], shape[32];
    uc_noise noise;
    const char *path = temporary_path("noise.npy");
    snprintf(shape, sizeof shape, "(%zu, %zu)", classes, classes);
    write_bytes(path, file, make_npy(file, version, type, order, shape, data, bytes));
    assert_ok(uc_noise_read(&noise, path, UC_NOISE_COLUMNS, NULL));
    check_values(&noise, want, classes, tolerance);
    uc_noise_free(&noise);
}

static void npy_is_read_in_full_precision(void **state)
{
    (void)state;
    check_npy(1, "<f8", "False", three, sizeof three, three, 3, 1e-15);
    check_npy(1, "<f8", "True", three_rows, sizeof three_rows, three, 3, 1e-15);
    check_npy(2, "<f8", "False", three, sizeof three, three, 3, 1e-15);
    const float single[4] = {.75f, .5f, .25f, .5f};
    const double same[4] = {.75, .5, .25, .5}, swap[4] = {0, 1, 1, 0};
    check_npy(1, "<f4", "False", single, sizeof single, same, 2, 0);
    const int64_t wide[4] = {0, 1, 1, 0};
    const uint8_t narrow[4] = {0, 1, 1, 0};
    const int16_t fortran[4] = {0, 1, 1, 0};
    check_npy(1, "<i8", "False", wide, sizeof wide, swap, 2, 0);
    check_npy(1, "|u1", "False", narrow, sizeof narrow, swap, 2, 0);
    check_npy(1, "<i2", "True", fortran, sizeof fortran, swap, 2, 0);
    check_npy(1, "|b1", "False", narrow, sizeof narrow, swap, 2, 0);
}

static void reverse_items(void *items, size_t count, size_t size)
{
    unsigned char *p = items;
    for (size_t i = 0; i < count; i++, p += size)
        for (size_t j = 0; j < size / 2; j++) {
            const unsigned char kept = p[j];
            p[j] = p[size - 1 - j];
            p[size - 1 - j] = kept;
        }
}

/* Data in this byte order were read, matrices were not. */
static void npy_of_the_other_byte_order_is_read(void **state)
{
    (void)state;
    double wide[9];
    memcpy(wide, three, sizeof wide);
    reverse_items(wide, 9, sizeof *wide);
    check_npy(1, ">f8", "False", wide, sizeof wide, three, 3, 1e-15);
    memcpy(wide, three_rows, sizeof wide);
    reverse_items(wide, 9, sizeof *wide);
    check_npy(3, ">f8", "True", wide, sizeof wide, three, 3, 1e-15);
    float single[4] = {.75f, .5f, .25f, .5f};
    const double same[4] = {.75, .5, .25, .5}, swap[4] = {0, 1, 1, 0};
    reverse_items(single, 4, sizeof *single);
    check_npy(1, ">f4", "False", single, sizeof single, same, 2, 0);
    uint16_t counts[4] = {0, 1, 1, 0};
    reverse_items(counts, 4, sizeof *counts);
    check_npy(1, ">u2", "False", counts, sizeof counts, swap, 2, 0);
}

static void bad_npy_is_refused(void **state)
{
    (void)state;
    char file[512];
    const int32_t negative[4] = {1, 0, 0, -1};
    check_refused(file, make_npy(file, 1, "<i4", "False", "(2, 2)", negative, sizeof negative),
                  ": the entry -1 in row 2, column 2 is not between 0 and 1");
    check_refused(
        file, make_npy(file, 1, "<c16", "False", "(3, 3)", three, sizeof three),
        ": items of type '<c16' cannot be read; convert them with astype('float32') or astype(str)");
    check_refused(file, make_npy(file, 1, "<f2", "False", "(3, 3)", three, sizeof three),
                  ": items of type '<f2' cannot be read; convert them with astype('float32') or astype(str)");
    check_refused(file, make_npy(file, 1, "|S8", "False", "(3, 3)", three, sizeof three),
                  ": an array of text, but the noise matrix must be numbers");
    check_refused(file, make_npy(file, 1, "<f8", "False", "(9,)", three, sizeof three),
                  ": an array of 1 dimension, but the noise matrix must have 2");
    check_refused(file, make_npy(file, 1, "<f8", "False", "(1, 3, 3)", three, sizeof three),
                  ": an array of 3 dimensions, but the noise matrix must have 2");
    check_refused(file, make_npy(file, 1, "<f8", "False", "(3, 2)", three, 6 * sizeof *three),
                  ": a matrix of 3 x 2 is not square");
    check_refused(file, make_npy(file, 1, "<f8", "False", "(0, 0)", three, 0),
                  ": a noise matrix needs at least 2 classes, not 0");
    check_refused(file, make_npy(file, 1, "<f8", "False", "(999999999, 999999999)", three, sizeof three),
                  ": the file ends too early: 72 bytes of 7999999984000000008");
    check_refused("\x93NUMPY\1\0\3\0{}\n", 13, ": damaged: not the header of an NPY file");
    const size_t length = make_npy(file, 1, "<f8", "False", "(3, 3)", three, sizeof three), header = 128;
    for (size_t cut = 6; cut < header; cut++)
        check_refused(file, cut, ": the file ends too early");
    for (size_t cut = header; cut < length; cut++) {
        char rest[80];
        snprintf(rest, sizeof rest, ": the file ends too early: %zu bytes of 72", cut - header);
        check_refused(file, cut, rest);
    }
}

static void what_is_written_reads_back_exactly(void **state)
{
    (void)state;
    const char *const odd[] = {"a,b", "say \"c\"", " d ", "#e;f", "7"};
    const char *path = temporary_path("written.csv");
    for (int named = 0; named < 2; named++) {
        uc_noise noise, back;
        assert_ok(uc_noise_random(&noise, 5, 6.5, 9));
        if (named)
            name_list(&noise.names, odd, 5);
        assert_ok(uc_noise_write(&noise, path));
        assert_ok(uc_noise_read(&back, path, UC_NOISE_COLUMNS, NULL));
        check_values(&back, noise.values, 5, 2e-16); /* columns are normalised again: the last bit may move */
        check_names(&back, odd, named ? 5 : 0);
        uc_noise_free(&noise);
        uc_noise_free(&back);
    }
}

static void a_written_file_is_what_people_expect(void **state)
{
    (void)state;
    uc_noise noise;
    const char *path = temporary_path("plain.csv");
    assert_ok(uc_noise_create(&noise, (double[]){.9, .25, .1, .75}, 2, NULL, UC_NOISE_COLUMNS, "C"));
    assert_ok(uc_noise_write(&noise, path));
    char *text = read_file(path, NULL);
    assert_string_equal(text, "0.9,0.25\n0.1,0.75\n");
    free(text);
    name_list(&noise.names, (const char *const[]){"cat", "dog"}, 2);
    assert_ok(uc_noise_write(&noise, path));
    text = read_file(path, NULL);
    assert_string_equal(text, ",cat,dog\ncat,0.9,0.25\ndog,0.1,0.75\n");
    free(text);
    uc_noise_free(&noise);
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    if (!file_exists("/dev/full"))
        skip();
    uc_noise noise;
    const size_t sizes[] = {2, 200}; /* noticed at the end, and on the way */
    for (int i = 0; i < 2; i++) {
        assert_ok(uc_noise_uniform(&noise, sizes[i], 1.0 / 3));
        assert_error_has(uc_noise_write(&noise, "/dev/full"), UC_ERR_IO, "/dev/full: ");
        uc_noise_free(&noise);
    }
    assert_ok(uc_noise_uniform(&noise, 2, .1));
    const char *path = temporary_path("no/such/directory.csv");
    assert_error_has(uc_noise_write(&noise, path), UC_ERR_IO, "directory.csv: ");
    uc_noise_free(&noise);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_status status;
    uc_noise noise;
    const char *path = temporary_path("alloc.csv"), *npy = temporary_path("alloc.npy");
    char file[512];
    write_file(path, ",a,b,c\nc,.1,.1,.6\na,.7,.1,.2\nb,.2,.8,.2\n");
    write_bytes(npy, file, make_npy(file, 1, "<f8", "False", "(3, 3)", three, sizeof three));
    const long live = uc_alloc_live();
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_read(&noise, npy, UC_NOISE_COLUMNS, NULL));
    uc_noise_free(&noise);
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_read(&noise, path, UC_NOISE_COLUMNS, NULL));
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_write(&noise, path));
    uc_noise_free(&noise);
    assert_int_equal(uc_alloc_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_is_read_with_and_without_names),
        cmocka_unit_test(csv_may_use_tabs_semicolons_spaces_quotes_and_windows_lines),
        cmocka_unit_test(row_names_in_another_order_decide),
        cmocka_unit_test(rows_in_a_file_may_be_the_true_class),
        cmocka_unit_test(bad_files_are_refused_with_a_sentence),
        cmocka_unit_test(a_packed_file_is_read),
        cmocka_unit_test(npy_is_read_in_full_precision),
        cmocka_unit_test(npy_of_the_other_byte_order_is_read),
        cmocka_unit_test(bad_npy_is_refused),
        cmocka_unit_test(what_is_written_reads_back_exactly),
        cmocka_unit_test(a_written_file_is_what_people_expect),
        cmocka_unit_test(a_full_disk_is_reported),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
