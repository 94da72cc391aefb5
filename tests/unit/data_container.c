/* The file of arrays behind a JSON header: what is written comes back, and nothing damaged gets in. */
#define _GNU_SOURCE
#include "tests/files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const char magic[8] = {'\x89', 'T', 'E', 'S', 'T', 'I', 'N', 'G'};

enum { NEWEST = 3 };

static const double reals[5] = {1.5, -2.0, 0.1, 1e300, -0.0};
static const uint32_t counts[3] = {1, 2, 0xffffffff};
static const unsigned char bytes[7] = "abc\0\xff\n";
static const float floats[2] = {0.5f, -1.0f};
static const uint64_t longs[1] = {UINT64_MAX};

static uc_status write_sample(const char *path, uint32_t version)
{
    const uc_array arrays[] = {
        {"reals", UC_ARRAY_F64, reals, 5}, {"counts", UC_ARRAY_U32, counts, 3},
        {"bytes", UC_ARRAY_U8, bytes, 7},  {"floats", UC_ARRAY_F32, floats, 2},
        {"longs", UC_ARRAY_U64, longs, 1}, {"none", UC_ARRAY_F64, NULL, 0},
    };
    json_t *header = json_pack("{s:s, s:f}", "name", "caf\xc3\xa9", "value", 0.1);
    assert_non_null(header);
    const uc_status status = write_container(path, magic, version, header, arrays, 6);
    json_decref(header);
    return status;
}

/* The sample's bytes in a block of exactly their length; the caller frees it. */
static unsigned char *sample(size_t *length)
{
    const char *path = temporary_path("container");
    assert_ok(write_sample(path, 1));
    char *content = read_file(path, length);
    unsigned char *exact = malloc(*length);
    assert_non_null(exact);
    memcpy(exact, content, *length);
    free(content);
    return exact;
}

/* Makes changed bytes a file whose length and checksum are right. */
static void seal(unsigned char *file, size_t length)
{
    const uint64_t whole = length;
    memcpy(file + 16, &whole, sizeof whole);
    const uint32_t ending[2] = {(uint32_t)crc32_z(0, file, length - 8), 0};
    memcpy(file + length - 8, ending, sizeof ending);
}

static void arrays_come_back_as_they_were_written(void **state)
{
    (void)state;
    size_t length;
    unsigned char *file = sample(&length);
    uc_container container;
    const void *data;
    assert_ok(uc_container_open(&container, file, length, magic, NEWEST, true, "file"));
    assert_int_equal(container.version, 1);
    assert_string_equal(json_string_value(json_object_get(container.header, "name")), "caf\xc3\xa9");
    assert_true(json_real_value(json_object_get(container.header, "value")) == 0.1);
    static const struct {
        const char *name;
        uc_array_type type;
        const void *data;
        size_t count, size;
    } expected[] = {{"reals", UC_ARRAY_F64, reals, 5, 8},
                    {"counts", UC_ARRAY_U32, counts, 3, 4},
                    {"bytes", UC_ARRAY_U8, bytes, 7, 1},
                    {"floats", UC_ARRAY_F32, floats, 2, 4},
                    {"longs", UC_ARRAY_U64, longs, 1, 8}};
    for (size_t i = 0; i < 5; i++) {
        assert_true(uc_container_has(&container, expected[i].name));
        assert_ok(
            uc_container_array(&data, &container, expected[i].name, expected[i].type, expected[i].count));
        assert_int_equal(((const unsigned char *)data - file) % 64, 0);
        assert_memory_equal(data, expected[i].data, expected[i].count * expected[i].size);
    }
    assert_ok(uc_container_array(&data, &container, "none", UC_ARRAY_F64, 0));
    assert_false(uc_container_has(&container, "other"));
    uint32_t stored;
    memcpy(&stored, file + length - 8, sizeof stored);
    assert_int_equal(uc_container_checksum(&container), stored);
    assert_int_equal(stored, crc32_z(0, file, length - 8));
    uc_container_close(&container);
    free(file);
}

static void an_array_of_another_type_or_length_is_refused(void **state)
{
    (void)state;
    size_t length;
    unsigned char *file = sample(&length);
    uc_container container;
    const void *data = file;
    assert_ok(uc_container_open(&container, file, length, magic, NEWEST, true, "file"));
    assert_error(uc_container_array(&data, &container, "reals", UC_ARRAY_F64, 4), UC_ERR_FORMAT,
                 "file: damaged: it has no array 'reals' of 4 numbers of type f64");
    assert_status(uc_container_array(&data, &container, "reals", UC_ARRAY_U64, 5), UC_ERR_FORMAT);
    assert_status(uc_container_array(&data, &container, "real", UC_ARRAY_F64, 5), UC_ERR_FORMAT);
    assert_status(uc_container_array(&data, &container, "reals", UC_ARRAY_F64, SIZE_MAX), UC_ERR_FORMAT);
    assert_ptr_equal(data, file);
    uc_container_close(&container);
    free(file);
}

static void writing_twice_gives_the_same_bytes(void **state)
{
    (void)state;
    size_t a, b;
    unsigned char *first = sample(&a), *second = sample(&b);
    assert_int_equal(a, b);
    assert_memory_equal(first, second, a);
    free(first);
    free(second);
}

/* Every byte is accounted for: prologue, header, arrays, ending, and zeros between them. */
static void what_lies_between_header_and_arrays_is_zero(void **state)
{
    (void)state;
    size_t length;
    unsigned char *file = sample(&length);
    bool *known = calloc(length, sizeof *known);
    uint32_t text_length;
    memcpy(&text_length, file + 12, sizeof text_length);
    memset(known, true, 24 + text_length);
    memset(known + length - 8, true, 8);
    uc_container container;
    assert_ok(uc_container_open(&container, file, length, magic, NEWEST, true, "file"));
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(container.header, "arrays"), i, item)
    {
        static const size_t sizes[] = {8, 4, 1, 4, 8, 8};
        const size_t count = (size_t)json_integer_value(json_array_get(item, 2));
        memset(known + json_integer_value(json_array_get(item, 3)), true, count * sizes[i]);
    }
    uc_container_close(&container);
    size_t unknown = 0;
    for (size_t b = 0; b < length; b++) {
        unknown += !known[b];
        assert_true(known[b] || file[b] == 0);
    }
    assert_true(unknown > 0);
    free(known);
    free(file);
}

static void every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    size_t length;
    unsigned char *file = sample(&length);
    const long live = uc_alloc_live();
    for (size_t i = 0; i < length; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            uc_container container;
            file[i] ^= (unsigned char)(1u << bit);
            assert_status(uc_container_open(&container, file, length, magic, NEWEST, true, "file"),
                          UC_ERR_FORMAT);
            assert_int_equal(strncmp(uc_last_error(), "file: ", 6), 0);
            file[i] ^= (unsigned char)(1u << bit);
        }
    assert_int_equal(uc_alloc_live(), live);
    free(file);
}

static void every_cut_is_noticed(void **state)
{
    (void)state;
    size_t length;
    unsigned char *file = sample(&length);
    for (size_t cut = 0; cut < length; cut++) {
        uc_container container;
        unsigned char *part = malloc(cut ? cut : 1); /* exactly as long, so that a read past the end shows */
        memcpy(part, file, cut);
        assert_status(uc_container_open(&container, part, cut, magic, NEWEST, true, "file"), UC_ERR_FORMAT);
        assert_status(uc_container_open(&container, part, cut, magic, NEWEST, false, "file"), UC_ERR_FORMAT);
        free(part);
    }
    free(file);
}

/* Without verification (mapped data files), whatever is flipped must still not lead outside of the file. */
static void flipped_bits_that_nobody_verifies_never_lead_outside_of_the_file(void **state)
{
    (void)state;
    size_t length, opened = 0;
    unsigned char *file = sample(&length);
    static const uc_array_type types[] = {UC_ARRAY_F64, UC_ARRAY_U32, UC_ARRAY_U8, UC_ARRAY_F32,
                                          UC_ARRAY_U64};
    static const char *const names[] = {"reals", "counts", "bytes", "floats", "longs"};
    static const size_t sizes[] = {8, 4, 1, 4, 8};
    for (size_t i = 0; i < length; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            uc_container container;
            file[i] ^= (unsigned char)(1u << bit);
            if (uc_container_open(&container, file, length, magic, NEWEST, false, "file") == UC_OK) {
                opened++;
                for (size_t a = 0; a < 5; a++)
                    for (size_t count = 0; count < 80; count++) {
                        const void *data;
                        if (uc_container_array(&data, &container, names[a], types[a], count) != UC_OK)
                            continue;
                        const unsigned char *start = data;
                        assert_true(start >= file + 24 && start + count * sizes[a] <= file + length - 8);
                    }
                uc_container_close(&container);
            }
            file[i] ^= (unsigned char)(1u << bit);
        }
    assert_true(opened > 100);
    free(file);
}

static void newer_versions_are_refused_with_their_number(void **state)
{
    (void)state;
    const char *path = temporary_path("newer");
    uc_container container;
    for (uint32_t version = 0; version <= 5; version++) {
        assert_ok(write_sample(path, version));
        size_t length;
        char *file = read_file(path, &length);
        if (version >= 1 && version <= NEWEST) {
            assert_ok(uc_container_open(&container, file, length, magic, NEWEST, true, "file"));
            assert_int_equal(container.version, version);
            uc_container_close(&container);
        } else {
            char sentence[128];
            snprintf(sentence, sizeof sentence,
                     "file: format version %u, but this program reads versions 1 to 3", version);
            assert_error(uc_container_open(&container, file, length, magic, NEWEST, true, "file"),
                         UC_ERR_FORMAT, sentence);
        }
        free(file);
    }
}

static void another_magic_is_another_kind_of_file(void **state)
{
    (void)state;
    size_t length;
    unsigned char *file = sample(&length);
    uc_container container;
    const char other[8] = {'\x89', 'O', 'T', 'H', 'E', 'R', 'O', 'N'};
    assert_error(uc_container_open(&container, file, length, other, NEWEST, true, "file"), UC_ERR_FORMAT,
                 "file: not a file of this kind, or cut short");
    free(file);
}

/* Replaces the header by `text` and seals the file. */
static uc_status open_with_header(const char *text, const char *array)
{
    enum { LENGTH = 1024 };
    unsigned char *file = calloc(1, LENGTH);
    const uint32_t version = 1, text_length = (uint32_t)strlen(text);
    memcpy(file, magic, 8);
    memcpy(file + 8, &version, 4);
    memcpy(file + 12, &text_length, 4);
    memcpy(file + 24, text, text_length);
    seal(file, LENGTH);
    uc_container container;
    const void *data;
    uc_status status = uc_container_open(&container, file, LENGTH, magic, NEWEST, true, "file");
    if (status == UC_OK) {
        status = uc_container_array(&data, &container, array, UC_ARRAY_F64, 4);
        uc_container_close(&container);
    }
    free(file);
    return status;
}

static void headers_that_lie_are_refused(void **state)
{
    (void)state;
    assert_ok(open_with_header("{\"arrays\":[[\"a\",\"f64\",4,512]]}", "a"));
    assert_ok(open_with_header("{\"arrays\":[[\"a\",\"f64\",4,960]]}", "a"));
    static const char *const places[] = {"961",   "1024",    "0",   "-64", "100", "9223372036854775744",
                                         "512.0", "\"512\"", "null"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char text[128];
        snprintf(text, sizeof text, "{\"arrays\":[[\"a\",\"f64\",4,%s]]}", places[i]);
        assert_error(open_with_header(text, "a"), UC_ERR_FORMAT,
                     "file: damaged: array 'a' does not lie within the file");
    }
    static const char *const bad[] = {
        "", "{", "[]", "{}", "null", "{\"arrays\":{}}", "{\"arrays\":[]} x", "{\"arrays\":3}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_error_has(open_with_header(bad[i], "a"), UC_ERR_FORMAT, "file: damaged: its header");
    static const char *const missing[] = {
        "{\"arrays\":[]}", "{\"arrays\":[3,null,[],[\"a\"],[\"a\",\"f64\",4,512]]}",
        "{\"arrays\":[[\"a\",\"f32\",4,512]]}", "{\"arrays\":[[\"a\",7,4,512]]}",
        "{\"arrays\":[[\"a\",\"f64\",\"4\",512]]}"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        assert_error_has(open_with_header(missing[i], "a"), UC_ERR_FORMAT, "it has no array 'a'");
}

/* A header nested too deep must not exhaust the stack. */
static void a_header_nested_very_deep_is_refused(void **state)
{
    (void)state;
    const size_t length = 2000000;
    unsigned char *file = malloc(length);
    memset(file, '[', length);
    const uint32_t version = 1, text_length = (uint32_t)length - 32;
    memcpy(file, magic, 8);
    memcpy(file + 8, &version, 4);
    memcpy(file + 12, &text_length, 4);
    seal(file, length);
    uc_container container;
    assert_status(uc_container_open(&container, file, length, magic, NEWEST, true, "file"), UC_ERR_FORMAT);
    free(file);
}

static void many_arrays_fit_their_header(void **state)
{
    (void)state;
    uc_array arrays[200];
    char names[200][32];
    static const double zeros[300];
    for (size_t i = 0; i < 200; i++) {
        snprintf(names[i], sizeof names[i], "array %zu", i);
        arrays[i] = (uc_array){names[i], UC_ARRAY_F64, zeros, i};
    }
    const char *path = temporary_path("many");
    json_t *header = json_object();
    assert_ok(write_container(path, magic, 1, header, arrays, 200));
    json_decref(header);
    size_t length;
    char *file = read_file(path, &length);
    uc_container container;
    const void *data;
    assert_ok(uc_container_open(&container, file, length, magic, NEWEST, true, "file"));
    for (size_t i = 0; i < 200; i++)
        assert_ok(uc_container_array(&data, &container, names[i], UC_ARRAY_F64, i));
    uc_container_close(&container);
    free(file);
}

static void a_file_that_cannot_be_written_leaves_nothing(void **state)
{
    (void)state;
    const size_t files = temporary_count();
    assert_status(write_sample(temporary_path("nowhere/file"), 1), UC_ERR_IO);
    assert_int_equal(temporary_count(), files);
    if (access("/dev/full", W_OK) == 0)
        assert_status(write_sample("/dev/full", 1), UC_ERR_IO);
    uc_status status;
    const char *path = temporary_path("failing");
    FOR_EACH_FAILING_ALLOCATION(status, write_sample(path, 1));
    assert_int_equal(temporary_count(), files + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_come_back_as_they_were_written),
        cmocka_unit_test(an_array_of_another_type_or_length_is_refused),
        cmocka_unit_test(writing_twice_gives_the_same_bytes),
        cmocka_unit_test(what_lies_between_header_and_arrays_is_zero),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(flipped_bits_that_nobody_verifies_never_lead_outside_of_the_file),
        cmocka_unit_test(newer_versions_are_refused_with_their_number),
        cmocka_unit_test(another_magic_is_another_kind_of_file),
        cmocka_unit_test(headers_that_lie_are_refused),
        cmocka_unit_test(a_header_nested_very_deep_is_refused),
        cmocka_unit_test(many_arrays_fit_their_header),
        cmocka_unit_test(a_file_that_cannot_be_written_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
