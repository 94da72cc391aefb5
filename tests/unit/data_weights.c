/* Weights and soft labels go with their rows: files, copies, and rows that go from process to process. */
#include "tests/processes.h"
#include "tests/sample.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "data/exchange.h"
#include "unconfuse/dataset.h"

enum { ROWS = 40, COLS = 5, CLASSES = 3 };

static uc_dataset counted_data(bool sparse)
{
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, sparse, 7);
    data.weights = uc_alloc(ROWS, sizeof *data.weights);
    data.soft = uc_alloc(ROWS * CLASSES, sizeof *data.soft);
    for (size_t i = 0; i < ROWS; i++) {
        data.weights[i] = (double)(i % 5) / 3.0;
        for (size_t k = 0; k < CLASSES; k++)
            data.soft[i * CLASSES + k] = k == data.y[i] ? 0.5 : 0.25;
    }
    return data;
}

/* Rows first .. of `whole` are those of `part`. */
static bool is_part(const uc_dataset *part, const uc_dataset *whole, size_t first)
{
    const size_t n = part->X.rows;
    return part->weights && part->soft &&
           memcmp(part->weights, whole->weights + first, n * sizeof *part->weights) == 0 &&
           memcmp(part->soft, whole->soft + first * CLASSES, n * CLASSES * sizeof *part->soft) == 0;
}

static void ucd_keeps_them(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/unconfuse-weights-%ld.ucd", (long)getpid());
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = counted_data(sparse), back = {0};
        assert_ok(uc_dataset_write(&data, path, UC_FORMAT_UCD, NULL, NULL));
        assert_ok(uc_dataset_read(&back, path, NULL, NULL));
        assert_int_equal(back.X.rows, ROWS);
        assert_true(is_part(&back, &data, 0));
        uc_dataset_free(&back);
        data.weights[3] = -1.0;
        assert_ok(uc_dataset_write(&data, path, UC_FORMAT_UCD, NULL, NULL));
        assert_error_has(uc_dataset_read(&back, path, NULL, NULL), UC_ERR_FORMAT,
                         "row 4 has a weight or soft label that is none");
        data.weights[3] = 1.0;
        data.soft[7] += 0.1;
        assert_ok(uc_dataset_write(&data, path, UC_FORMAT_UCD, NULL, NULL));
        assert_error_has(uc_dataset_read(&back, path, NULL, NULL), UC_ERR_FORMAT,
                         "row 3 has a weight or soft label that is none");
        uc_dataset_free(&data);
    }
    unlink(path);
}

static uc_status trade(const uc_comm *comm, void *user)
{
    const uc_dataset *whole = user;
    const uc_context context = {.comm = comm, .threads = 1};
    const size_t first = (size_t)comm->rank * ROWS / 3, last = (size_t)(comm->rank + 1) * ROWS / 3;
    const size_t starts[] = {0, 5, 5, ROWS};
    size_t rows[ROWS];
    uc_dataset mine = {0}, all = {0}, other = {0};
    for (size_t i = first; i < last; i++)
        rows[i - first] = i;
    uc_status status = uc_dataset_subset(&mine, whole, rows, last - first, NULL);
    if (status == UC_OK)
        status = uc_gather_dataset(&all, &mine, NULL, 0, &context);
    if (status == UC_OK)
        status = uc_deal_rows(&other, &mine, starts, &context);
    if (status == UC_OK && (!is_part(&all, whole, 0) || !is_part(&other, whole, starts[comm->rank])))
        status = uc_fail(UC_ERR_INVALID, "other weights");
    double total = 0.0, expected = 0.0;
    if (status == UC_OK)
        status = uc_dataset_total_weight(&total, &mine, &context);
    for (size_t i = 0; i < ROWS; i++)
        expected += whole->weights[i];
    if (status == UC_OK && fabs(total - expected) > 1e-12)
        status = uc_fail(UC_ERR_INVALID, "a weight of %g", total);
    uc_dataset_free(&mine);
    uc_dataset_free(&all);
    uc_dataset_free(&other);
    return status;
}

static void rows_take_them_to_other_processes(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = counted_data(sparse);
        assert_ok(run_processes(3, trade, &data));
        uc_dataset_free(&data);
    }
}

/* Files of rows, weights and soft labels. */
typedef struct files {
    char data[64], weights[64], soft[64];
} files;

static files write_files(const uc_dataset *data)
{
    files made;
    snprintf(made.data, sizeof made.data, "/tmp/unconfuse-weights-%ld.svm", (long)getpid());
    snprintf(made.weights, sizeof made.weights, "/tmp/unconfuse-weights-%ld.txt", (long)getpid());
    snprintf(made.soft, sizeof made.soft, "/tmp/unconfuse-weights-%ld.csv", (long)getpid());
    uc_dataset plain = *data;
    plain.weights = plain.soft = NULL;
    assert_ok(uc_dataset_write(&plain, made.data, UC_FORMAT_LIBSVM, NULL, NULL));
    FILE *weights = fopen(made.weights, "w"), *soft = fopen(made.soft, "w");
    assert_true(weights && soft);
    fputs("3;1;2\r\n", soft);
    for (size_t i = 0; i < ROWS; i++) {
        const double *row = data->soft + i * CLASSES;
        fprintf(weights, "%.17g\n", data->weights[i]);
        fprintf(soft, "%.17g;%.17g;%.17g\r\n", row[2], row[0], row[1]);
    }
    fputs("\n", weights); /* a blank line at the end is no weight */
    fclose(weights);
    fclose(soft);
    return made;
}

static uc_read_settings reading_of(const files *self)
{
    uc_read_settings settings = uc_reader_defaults();
    settings.weights = self->weights;
    settings.soft_labels = self->soft;
    return settings;
}

typedef struct shared_reading {
    const files *files;
    const uc_dataset *whole;
} shared_reading;

static uc_status read_share(const uc_comm *comm, void *user)
{
    const shared_reading *self = user;
    const uc_context context = {.comm = comm, .threads = 1};
    const uc_read_settings settings = reading_of(self->files);
    const char *path = self->files->data;
    uc_dataset data = {0};
    uc_share share = {0, 0};
    uc_status status = uc_dataset_read_files(&data, &path, 1, &settings, &context);
    if (status == UC_OK)
        status = uc_share_of(&share, &context, data.X.rows);
    if (status == UC_OK && !is_part(&data, self->whole, share.first))
        status = uc_fail(UC_ERR_INVALID, "other weights in rank %d", comm->rank);
    uc_dataset_free(&data);
    return status;
}

static void files_of_their_own_are_of_all_rows(void **state)
{
    (void)state;
    uc_dataset data = counted_data(true), back = {0};
    const files made = write_files(&data);
    const uc_read_settings settings = reading_of(&made);
    shared_reading shared = {&made, &data};
    assert_ok(uc_dataset_read(&back, made.data, &settings, NULL));
    assert_true(is_part(&back, &data, 0));
    uc_dataset_free(&back);
    assert_ok(run_processes(3, read_share, &shared));

    /* Block by block: weights alone. */
    uc_reader *reader = NULL;
    const uc_dataset *block = NULL;
    size_t seen = 0;
    assert_ok(uc_reader_open(&reader, made.data, &settings, NULL));
    while (uc_reader_next(&block, reader) == UC_OK && block) {
        assert_memory_equal(block->weights, data.weights + seen, block->X.rows * sizeof *data.weights);
        seen += block->X.rows;
    }
    assert_int_equal(seen, ROWS);
    uc_reader_close(reader);

    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status,
                                uc_dataset_read(&back, made.data, &settings, &(uc_context){.threads = 1}));
    assert_true(is_part(&back, &data, 0));
    uc_dataset_free(&back);
    unlink(made.data);
    unlink(made.weights);
    unlink(made.soft);
    uc_dataset_free(&data);
}

static uc_status harden(const uc_dataset *data)
{
    uc_dataset hard = {0}, kept = {0};
    uc_status status = uc_dataset_harden(&hard, data, NULL);
    if (status == UC_OK)
        status = uc_dataset_copy_weighted(&kept, &hard, NULL);
    if (status == UC_OK) {
        double before = 0.0, after = 0.0;
        assert_int_equal(hard.X.rows, ROWS * CLASSES);
        for (size_t i = 0; i < ROWS; i++)
            before += data->weights[i];
        for (size_t i = 0; i < kept.X.rows; i++) {
            assert_true(kept.weights[i] > 0.0);
            after += kept.weights[i];
        }
        assert_near(before, after, 1e-12);
    }
    uc_dataset_free(&hard);
    uc_dataset_free(&kept);
    return status;
}

static void soft_labels_become_rows_of_as_much_weight(void **state)
{
    (void)state;
    uc_dataset data = counted_data(false);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, harden(&data));
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ucd_keeps_them),
        cmocka_unit_test(rows_take_them_to_other_processes),
        cmocka_unit_test(files_of_their_own_are_of_all_rows),
        cmocka_unit_test(soft_labels_become_rows_of_as_much_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
