/* Byte sources: compressed files, pipes, and the messages about bad ones. */
#include "tests/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/reader.h"

static const char lines[] = "1 1:1 2:2\n0 2:3\n1 1:5\n";

/* A packed member, as the writer makes it; the caller frees it. */
static unsigned char *pack(bool zstd, const char *text, size_t size, size_t *length)
{
    const char *path = temporary_path(zstd ? "packed.zst" : "packed.gz");
    write_packed(path, text, size);
    return (unsigned char *)read_file(path, length);
}

static uc_status read_memory(uc_dataset *out, const void *bytes, size_t length)
{
    return uc_dataset_read_memory(out, bytes, length, "data", NULL, NULL);
}

static void archives_are_known_by_their_first_bytes(void **state)
{
    (void)state;
    for (int zstd = 0; zstd < 2; zstd++) {
        size_t length;
        unsigned char *packed = pack(zstd, lines, strlen(lines), &length);
        const char *path = temporary_path("no-ending");
        write_bytes(path, packed, length);
        uc_dataset data = {0};
        assert_ok(uc_dataset_read(&data, path, NULL, NULL));
        assert_int_equal(data.X.rows, 3);
        uc_dataset_free(&data);
        free(packed);
    }
}

static void members_one_after_the_other_are_one_file(void **state)
{
    (void)state;
    for (int zstd = 0; zstd < 2; zstd++) {
        size_t a, b;
        unsigned char *first = pack(zstd, lines, 13, &a),
                      *second = pack(zstd, lines + 13, strlen(lines) - 13, &b);
        unsigned char *both = calloc(1, a + b + 100);
        assert_non_null(both);
        memcpy(both, first, a);
        memcpy(both + a, second, b);
        uc_dataset data = {0};
        assert_ok(read_memory(&data, both, a + b));
        assert_int_equal(data.X.rows, 3);
        uc_dataset_free(&data);
        if (!zstd) { /* tar and tapes pad with zeros */
            assert_ok(read_memory(&data, both, a + b + 100));
            uc_dataset_free(&data);
            both[a + b] = 'x';
            assert_error(read_memory(&data, both, a + b + 1), UC_ERR_FORMAT,
                         "data: the archive is followed by something else");
        }
        free(first);
        free(second);
        free(both);
    }
}

static void an_archive_cut_anywhere_ends_too_early(void **state)
{
    (void)state;
    for (int zstd = 0; zstd < 2; zstd++) {
        size_t length;
        unsigned char *packed = pack(zstd, lines, strlen(lines), &length);
        for (size_t cut = 4; cut < length; cut++) {
            uc_dataset data = {0};
            assert_error(read_memory(&data, packed, cut), UC_ERR_FORMAT, "data: the archive ends too early");
        }
        free(packed);
    }
}

static void a_long_archive_cut_short_ends_too_early(void **state)
{
    (void)state;
    const size_t rows = 900000;
    char *text = malloc(rows * 24), *p = text;
    assert_non_null(text);
    for (size_t i = 0; i < rows; i++)
        p += sprintf(p, "%zu %zu:%zu.5\n", i % 3, i % 100 + 1, i * 2654435761u % 100003);
    for (int zstd = 0; zstd < 2; zstd++) {
        size_t length;
        unsigned char *packed = pack(zstd, text, (size_t)(p - text), &length);
        for (unsigned threads = 1; threads <= 2; threads++) {
            const uc_context context = {.threads = threads};
            uc_dataset data = {0};
            assert_ok(uc_dataset_read_memory(&data, packed, length, "data", NULL, &context));
            assert_int_equal(data.X.rows, rows);
            uc_dataset_free(&data);
            assert_error(uc_dataset_read_memory(&data, packed, length - 10, "data", NULL, &context),
                         UC_ERR_FORMAT, "data: the archive ends too early");
        }
        free(packed);
    }
    free(text);
}

static void a_damaged_archive_is_refused(void **state)
{
    (void)state;
    for (int zstd = 0; zstd < 2; zstd++) {
        size_t length;
        unsigned char *packed = pack(zstd, lines, strlen(lines), &length);
        packed[length - 6] ^= 0x55; /* the checksum of gzip, the content of zstd */
        packed[4] ^= 0xff;
        uc_dataset data = {0};
        assert_status(read_memory(&data, packed, length), UC_ERR_FORMAT);
        free(packed);
    }
}

static void what_cannot_be_opened_is_named(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_error(uc_dataset_read(&data, "/nowhere/data.svm", NULL, NULL), UC_ERR_IO,
                 "/nowhere/data.svm: No such file or directory");
    assert_error(uc_dataset_read(&data, "/", NULL, NULL), UC_ERR_IO, "/: is a directory");
}

static void what_is_no_data_file_is_refused(void **state)
{
    (void)state;
    uc_dataset data = {0};
    assert_error(read_memory(&data, "\x89PNX\r\n\x1a\n....", 12), UC_ERR_FORMAT,
                 "data: neither LIBSVM nor CSV text, and not an NPY or UCD file");
    assert_error(read_memory(&data, "\x89PNG\r\n\x1a\n....", 12), UC_ERR_FORMAT,
                 "data: an image, where rows of features are expected: make features of images first, as a "
                 "pretrained network does");
    assert_error(read_memory(&data, "\xff\xfe\x31\x00", 4), UC_ERR_FORMAT,
                 "data: text in UTF-16: convert it to UTF-8 first, as iconv -f UTF-16 -t UTF-8 does");
    assert_error(read_memory(&data, "a\0,\0", 4), UC_ERR_FORMAT,
                 "data: text in UTF-16: convert it to UTF-8 first, as iconv -f UTF-16LE -t UTF-8 does");
    assert_error(read_memory(&data, "\0a\0,", 4), UC_ERR_FORMAT,
                 "data: text in UTF-16: convert it to UTF-8 first, as iconv -f UTF-16BE -t UTF-8 does");
    uc_read_settings settings = uc_reader_defaults();
    settings.labels = "y.npy";
    assert_error(uc_dataset_read_memory(&data, lines, strlen(lines), "data", &settings, NULL), UC_ERR_INVALID,
                 "data: a file of labels goes with NPY data only, and this is libsvm");
}

static void the_format_is_known_by_the_content(void **state)
{
    (void)state;
    static const struct {
        const char *text, *format;
    } cases[] = {
        {"1 1:2\n", "libsvm"},        {"a\n", "libsvm"},           {"1,3 1:2\n", "libsvm"},
        {"1\t1:2\t2:3\n", "libsvm"},  {"1 qid:2 1:2\n", "libsvm"}, {"1\tbag:3\t1:2\n", "libsvm"},
        {"# a,b\n1 1:2\n", "libsvm"}, {"1,2,a\n", "csv"},          {"1\t2\ta\n", "csv"},
        {"1;2;a\n", "csv"},           {"# x,y\n1,2\n", "csv"},     {"2020-01-01 12:30:00,5,6\n", "csv"},
        {"a b,c\n1,2\n", "csv"},      {"1 2:3", "libsvm"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = temporary_path("recognise");
        write_file(path, cases[i].text);
        uc_reader *reader;
        assert_ok(uc_reader_open(&reader, path, NULL, NULL));
        if (strcmp(uc_reader_format(reader), cases[i].format) != 0)
            fail_msg("'%s' was taken for %s", cases[i].text, uc_reader_format(reader));
        uc_reader_close(reader);
    }
}

/* Replaces standard input by the reading end of a pipe; returns the writing end. */
static int open_pipe(int *kept)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *kept = dup(STDIN_FILENO);
    assert_true(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    close(ends[0]);
    return ends[1];
}

static void close_pipe(int kept)
{
    dup2(kept, STDIN_FILENO);
    close(kept);
}

static void send_text(int pipe_end, const char *text)
{
    assert_int_equal(write(pipe_end, text, strlen(text)), (ssize_t)strlen(text));
}

/* Whoever writes example after example into a pipe gets every one read at once, not when a buffer is full. */
static void a_pipe_is_read_as_its_lines_come(void **state)
{
    (void)state;
    int kept;
    const int sender = open_pipe(&kept);
    send_text(sender, "1 1:1\n");
    uc_reader *reader;
    const uc_dataset *block;
    assert_ok(uc_reader_open(&reader, "-", NULL, NULL));
    assert_ok(uc_reader_next(&block, reader));
    assert_int_equal(block->X.rows, 1);
    send_text(sender, "0 2:1\n1 1:2\n0 ");
    assert_ok(uc_reader_next(&block, reader));
    assert_int_equal(block->X.rows, 2);
    send_text(sender, "3:7");
    close(sender);
    assert_ok(uc_reader_next(&block, reader));
    assert_int_equal(block->X.rows, 1);
    assert_int_equal(block->X.cols, 3);
    assert_ok(uc_reader_next(&block, reader));
    assert_null(block);
    uc_reader_close(reader);
    close_pipe(kept);
}

static void an_archive_comes_through_a_pipe(void **state)
{
    (void)state;
    size_t length;
    unsigned char *packed = pack(false, lines, strlen(lines), &length);
    int kept;
    const int sender = open_pipe(&kept);
    assert_int_equal(write(sender, packed, length), (ssize_t)length);
    close(sender);
    uc_dataset data = {0};
    assert_ok(uc_dataset_read(&data, "-", NULL, NULL));
    assert_int_equal(data.X.rows, 3);
    uc_dataset_free(&data);
    close_pipe(kept);
    free(packed);
}

static void errors_of_standard_input_call_it_so(void **state)
{
    (void)state;
    int kept;
    const int sender = open_pipe(&kept);
    send_text(sender, "1 1:x\n");
    close(sender);
    uc_dataset data = {0};
    assert_error(uc_dataset_read(&data, "-", NULL, NULL), UC_ERR_FORMAT,
                 "standard input:1: the value 'x' of column 1 is not a number");
    close_pipe(kept);
}

static const unsigned char *shared_packed;
static size_t shared_length;

static uc_status read_shared(uc_dataset *out)
{
    return read_memory(out, shared_packed, shared_length);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int zstd = 0; zstd < 2; zstd++) {
        unsigned char *packed = pack(zstd, lines, strlen(lines), &shared_length);
        shared_packed = packed;
        uc_dataset data = {0};
        uc_status status;
        FOR_EACH_FAILING_ALLOCATION(status, read_shared(&data));
        assert_int_equal(data.X.rows, 3);
        uc_dataset_free(&data);
        free(packed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archives_are_known_by_their_first_bytes),
        cmocka_unit_test(members_one_after_the_other_are_one_file),
        cmocka_unit_test(an_archive_cut_anywhere_ends_too_early),
        cmocka_unit_test(a_long_archive_cut_short_ends_too_early),
        cmocka_unit_test(a_damaged_archive_is_refused),
        cmocka_unit_test(what_cannot_be_opened_is_named),
        cmocka_unit_test(what_is_no_data_file_is_refused),
        cmocka_unit_test(the_format_is_known_by_the_content),
        cmocka_unit_test(a_pipe_is_read_as_its_lines_come),
        cmocka_unit_test(an_archive_comes_through_a_pipe),
        cmocka_unit_test(errors_of_standard_input_call_it_so),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
