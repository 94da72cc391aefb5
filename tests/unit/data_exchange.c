/* Rows of several processes: reading files in pieces, gathering and dealing out rows, folds and samples. */
#include "tests/processes.h"
#include "tests/sample.h"

#include <stdlib.h>

#include "data/exchange.h"

#define MOST 7

/* ---- equal data ---- */

static bool same_rows(const uc_dataset *a, size_t i, const uc_dataset *b, size_t j)
{
    const uc_row x = uc_matrix_row(&a->X, i), y = uc_matrix_row(&b->X, j);
    const uint32_t p = a->y[i], q = b->y[j];
    if (x.count != y.count || memcmp(x.values, y.values, x.count * sizeof *x.values) != 0)
        return false;
    if (x.columns && memcmp(x.columns, y.columns, x.count * sizeof *x.columns) != 0)
        return false;
    if (a->bag && strcmp(a->bags.text[a->bag[i]], b->bags.text[b->bag[j]]) != 0)
        return false;
    return p == UC_NONE || q == UC_NONE ? p == q : strcmp(a->classes.text[p], b->classes.text[q]) == 0;
}

/* Rows first .. of `whole` are those of `part`. */
static uc_status compare(const uc_dataset *part, const uc_dataset *whole, size_t first)
{
    if (part->X.cols != whole->X.cols || part->classes.count != whole->classes.count ||
        uc_matrix_is_sparse(&part->X) != uc_matrix_is_sparse(&whole->X))
        return uc_fail(UC_ERR_INVALID, "another shape: %zu columns, %zu classes", part->X.cols,
                       part->classes.count);
    for (size_t k = 0; k < part->classes.count; k++)
        if (strcmp(part->classes.text[k], whole->classes.text[k]) != 0)
            return uc_fail(UC_ERR_INVALID, "class %zu is %s", k, part->classes.text[k]);
    for (size_t i = 0; i < part->X.rows; i++)
        if (first + i >= whole->X.rows || !same_rows(part, i, whole, first + i))
            return uc_fail(UC_ERR_INVALID, "row %zu differs", first + i);
    return UC_OK;
}

/* ---- reading ---- */

typedef struct reading {
    const char *paths[4];
    size_t count;
    uc_read_settings settings;
    const uc_dataset *whole;
    bool even; /* nobody has more than one row more than another */
} reading;

static uc_status read_share(const uc_comm *comm, void *user)
{
    const reading *self = user;
    const uc_context context = {.comm = comm, .threads = 1 + (unsigned)comm->rank % 2};
    uc_dataset data = {0};
    uc_share share = {0, 0};
    uc_status status = uc_dataset_read_files(&data, self->paths, self->count, &self->settings, &context);
    if (status == UC_OK)
        status = uc_share_of(&share, &context, data.X.rows);
    if (status == UC_OK && share.total != self->whole->X.rows)
        status = uc_fail(UC_ERR_INVALID, "%zu rows in all", share.total);
    const size_t even = share.total / (size_t)comm->size;
    if (status == UC_OK && (double)data.X.rows > 1.11 * (double)even + 2.0)
        status = uc_fail(UC_ERR_INVALID, "rank %d has %zu of %zu rows", comm->rank, data.X.rows, share.total);
    const size_t first = uc_even_start(share.total, (size_t)comm->size, (size_t)comm->rank);
    if (status == UC_OK && self->even && share.first != first)
        status =
            uc_fail(UC_ERR_INVALID, "rank %d begins with row %zu, not %zu", comm->rank, share.first, first);
    if (status == UC_OK)
        status = compare(&data, self->whole, share.first);
    uc_dataset_free(&data);
    return status;
}

static void check_reading(const reading *task, const char *whole_path)
{
    uc_dataset whole = {0};
    reading self = *task;
    assert_ok(uc_dataset_read(&whole, whole_path, &self.settings, NULL));
    self.whole = &whole;
    for (int size = 1; size <= MOST; size++)
        assert_ok(run_processes(size, read_share, &self));
    uc_dataset_free(&whole);
}

/* Every process reads the lines that begin in its bytes; together they are the file, wherever it is cut. */
static void a_file_in_pieces_is_the_file(void **state)
{
    (void)state;
    const char *path = temporary_path("cut.svm");
    const char *const texts[] = {
        "b 1:1 3:2\na 2:5\n\n# a comment that is longer than the other lines\nc 9:1\n? 1:3\na 4:4\n",
        "b 1:1\r\na 2:5\r\nc 9:1\r\na 1:1",   /* no newline at the end */
        "\357\273\2772 1:1\n10 1:2\n1 1:3\n", /* a byte order mark */
        "1 bag:x 1:1\n2 bag:yy 1:2\n1 bag:x 2:3\n2 bag:z 1:4\n",
        "1 1:1\n",
        "+1 1:0.5 2:0.25 3:7\n-1 1:1 2:2 3:3\n+1 1:4 2:5 3:6\n", /* becomes dense */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const reading task = {.paths = {path}, .count = 1, .settings = uc_reader_defaults()};
        write_file(path, texts[i]);
        check_reading(&task, path);
    }
}

static void a_table_in_pieces_keeps_its_header(void **state)
{
    (void)state;
    const char *path = temporary_path("cut.csv");
    reading task = {.paths = {path}, .count = 1, .settings = uc_reader_defaults()};
    write_file(path, "height,class,width\n1,a,2\n3,b,4\n5,a,6\n7,c,8\n9,b,10\n");
    check_reading(&task, path);
    write_file(path, "1;2;x\n3;4;y\n5;6;x\n");
    check_reading(&task, path);
}

static void rows_of_the_binary_format_are_shared(void **state)
{
    (void)state;
    const char *path = temporary_path("cut.ucd");
    for (size_t rows = 300; rows < 316; rows++) {
        uc_dataset data = sample_data(rows, 5, 3, rows % 2, 4);
        assert_ok(uc_dataset_write(&data, path, UC_FORMAT_AUTO, NULL, NULL));
        const reading task = {.paths = {path}, .count = 1, .settings = uc_reader_defaults(), .even = true};
        check_reading(&task, path);
        uc_dataset_free(&data);
    }
}

/* A packed file is read by one process, and its rows are dealt out. */
static void a_packed_file_is_dealt_out(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        const char *path = temporary_path(kind ? "whole.svm.zst" : "whole.csv.gz");
        uc_dataset data = sample_data(500, 6, 4, false, 4);
        assert_ok(uc_dataset_write(&data, path, UC_FORMAT_AUTO, NULL, NULL));
        const reading task = {.paths = {path}, .count = 1, .settings = uc_reader_defaults()};
        check_reading(&task, path);
        uc_dataset_free(&data);
    }
}

/* Shards of any sizes and formats are one data set, in their order; an empty one is passed over. */
static void shards_are_one_data_set(void **state)
{
    (void)state;
    const char *parts[] = {temporary_path("a.svm"), temporary_path("b.svm.gz"), temporary_path("c.svm"),
                           temporary_path("d.svm")};
    const char *whole = temporary_path("abcd.svm");
    uc_dataset b = {0};
    write_file(parts[0], "x 1:1\ny 2:2 7:1\n");
    write_file(parts[2], "");
    write_file(parts[3], "w 3:1\nx 1:4\nx 1:5\nz 1:6\n");
    write_file(whole, "zz 5:1\nx 3:3\n");
    assert_ok(uc_dataset_read(&b, whole, NULL, NULL));
    assert_ok(uc_dataset_write(&b, parts[1], UC_FORMAT_AUTO, NULL, NULL));
    uc_dataset_free(&b);
    write_file(whole, "x 1:1\ny 2:2 7:1\nzz 5:1\nx 3:3\nw 3:1\nx 1:4\nx 1:5\nz 1:6\n");
    const reading task = {{parts[0], parts[1], parts[2], parts[3]}, 4, uc_reader_defaults(), NULL, false};
    check_reading(&task, whole);
}

static void a_bad_line_is_named_with_its_process_and_number(void **state)
{
    (void)state;
    const char *path = temporary_path("bad.svm");
    char *text = calloc(1000, 20);
    for (int i = 1; i <= 1000; i++)
        sprintf(text + strlen(text), i == 800 ? "1 1:x\n" : "%d 1:%d\n", i % 3, i);
    write_file(path, text);
    free(text);
    const reading task = {.paths = {path}, .count = 1, .settings = uc_reader_defaults()};
    char expected[512];
    snprintf(expected, sizeof expected, "rank 2: %s:800: the value 'x' of column 1 is not a number", path);
    assert_error(run_processes(3, read_share, (void *)&task), UC_ERR_FORMAT, expected);
}

static void files_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const char *wide = temporary_path("wide.csv"), *narrow = temporary_path("narrow.csv");
    const char *missing = temporary_path("missing.svm");
    write_file(wide, "1,2,3,a\n4,5,6,b\n");
    write_file(narrow, "1,2,a\n4,5,b\n");
    const reading widths = {{wide, narrow}, 2, uc_reader_defaults(), NULL, false};
    const reading gone = {{wide, missing}, 2, uc_reader_defaults(), NULL, false};
    char expected[512];
    snprintf(expected, sizeof expected, "%s: 2 columns, but %s has 3", narrow, wide);
    assert_error(run_processes(1, read_share, (void *)&widths), UC_ERR_FORMAT, expected);
    snprintf(expected, sizeof expected, "rank 1: %s: 2 columns, but %s has 3", narrow, wide);
    assert_error(run_processes(2, read_share, (void *)&widths), UC_ERR_FORMAT, expected);
    for (int size = 1; size < 4; size++) {
        snprintf(expected, sizeof expected, "%s%s: No such file or directory", size > 1 ? "rank 0: " : "",
                 missing);
        assert_error(run_processes(size, read_share, (void *)&gone), UC_ERR_IO, expected);
    }
}

/* ---- gathering and dealing out ---- */

typedef struct parts {
    const uc_dataset *whole;
    const size_t *starts; /* of the processes */
} parts;

static uc_status own_part(uc_dataset *out, const parts *self, int rank)
{
    size_t rows[1024];
    const size_t count = self->starts[rank + 1] - self->starts[rank];
    for (size_t i = 0; i < count; i++)
        rows[i] = self->starts[rank] + i;
    return uc_dataset_subset(out, self->whole, rows, count, NULL);
}

static uc_status gather_and_deal(const uc_comm *comm, void *user)
{
    const parts *self = user;
    const uc_context context = {.comm = comm};
    const size_t some[] = {200, 0, 3, 3, 150, 77};
    uc_dataset mine = {0}, gathered = {0}, all = {0}, dealt = {0};
    size_t *even = NULL;
    uc_status status = own_part(&mine, self, comm->rank);
    if (status == UC_OK)
        status = uc_gather_dataset(&gathered, &mine, some, 6, &context);
    for (size_t i = 0; i < 6 && status == UC_OK; i++)
        if (!same_rows(&gathered, i, self->whole, some[i]))
            status = uc_fail(UC_ERR_INVALID, "gathered row %zu differs", i);
    if (status == UC_OK)
        status = uc_gather_dataset(&all, &mine, NULL, 0, &context);
    if (status == UC_OK)
        status = all.X.rows == self->whole->X.rows ? compare(&all, self->whole, 0)
                                                   : uc_fail(UC_ERR_INVALID, "%zu rows", all.X.rows);
    if (status == UC_OK)
        status = uc_even_starts(&even, self->whole->X.rows, comm);
    if (status == UC_OK)
        status = uc_deal_rows(&dealt, &mine, even, &context);
    if (status == UC_OK)
        status = dealt.X.rows == even[comm->rank + 1] - even[comm->rank]
                     ? compare(&dealt, self->whole, even[comm->rank])
                     : uc_fail(UC_ERR_INVALID, "%zu rows dealt out", dealt.X.rows);
    uc_free(even);
    uc_dataset_free(&dealt);
    uc_dataset_free(&all);
    uc_dataset_free(&gathered);
    uc_dataset_free(&mine);
    return status;
}

static void rows_go_where_they_are_wanted(void **state)
{
    (void)state;
    const size_t uneven[] = {0, 3, 3, 180, 201};
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset whole = sample_data(201, 7, 3, sparse, 2);
        const parts self = {&whole, uneven};
        assert_ok(run_processes(4, gather_and_deal, (void *)&self));
        uc_dataset_free(&whole);
    }
}

/* An allocation that fails in one process ends all of them, and nothing is left behind. */
static void every_allocation_may_fail_in_any_process(void **state)
{
    (void)state;
    const size_t uneven[] = {0, 20, 201};
    uc_dataset whole = sample_data(201, 3, 2, true, 2);
    parts self = {&whole, uneven};
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, run_processes(2, gather_and_deal, &self));
    uc_dataset_free(&whole);
}

static uc_status draw(const uc_comm *comm, void *user)
{
    const parts *self = user;
    const uc_context context = {.comm = comm};
    uc_dataset mine = {0}, sample = {0}, expected = {0};
    uint32_t folds[1024], all_folds[1024];
    uc_status status = own_part(&mine, self, comm->rank);
    if (status == UC_OK)
        status = uc_dataset_sample(&sample, &mine, 50, 9, &context);
    if (status == UC_OK)
        status = uc_dataset_sample(&expected, self->whole, 50, 9, NULL);
    if (status == UC_OK)
        status = sample.X.rows == expected.X.rows ? compare(&sample, &expected, 0)
                                                  : uc_fail(UC_ERR_INVALID, "%zu sampled", sample.X.rows);
    if (status == UC_OK)
        status = uc_dataset_folds(folds, &mine, 4, true, 3, &context);
    if (status == UC_OK)
        status = uc_dataset_folds(all_folds, self->whole, 4, true, 3, NULL);
    for (size_t i = 0; i < mine.X.rows && status == UC_OK; i++)
        if (folds[i] != all_folds[self->starts[comm->rank] + i])
            status = uc_fail(UC_ERR_INVALID, "row %zu is in another fold", i);
    uc_dataset_free(&expected);
    uc_dataset_free(&sample);
    uc_dataset_free(&mine);
    return status;
}

static void samples_and_folds_are_those_of_one_process(void **state)
{
    (void)state;
    const size_t uneven[] = {0, 100, 100, 170, 201};
    uc_dataset whole = sample_data(201, 7, 3, true, 2);
    const parts self = {&whole, uneven};
    assert_ok(run_processes(4, draw, (void *)&self));
    uc_dataset_free(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_in_pieces_is_the_file),
        cmocka_unit_test(a_table_in_pieces_keeps_its_header),
        cmocka_unit_test(rows_of_the_binary_format_are_shared),
        cmocka_unit_test(a_packed_file_is_dealt_out),
        cmocka_unit_test(shards_are_one_data_set),
        cmocka_unit_test(a_bad_line_is_named_with_its_process_and_number),
        cmocka_unit_test(files_that_do_not_fit_are_refused),
        cmocka_unit_test(rows_go_where_they_are_wanted),
        cmocka_unit_test(every_allocation_may_fail_in_any_process),
        cmocka_unit_test(samples_and_folds_are_those_of_one_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
