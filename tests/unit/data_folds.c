/* The loop over folds: every row is held out once, and the jobs see the same rows however they are run. */
#include "tests/sample.h"

#include "data/folds.h"

enum { ROWS = 53, COLS = 4, FOLDS = 5, SHARES = 3 };

/* What the jobs saw. Each writes to places of its own only. */
typedef struct seen {
    const uc_dataset *data;
    unsigned held_out[SHARES][ROWS];
    bool wrong[FOLDS][SHARES]; /* rows that are not those of the data, or not disjoint */
    unsigned stop_at;          /* this fold fails */
} seen;

static bool same_row(const uc_dataset *a, size_t i, const uc_dataset *b, size_t j)
{
    const uc_row x = uc_matrix_row(&a->X, i), y = uc_matrix_row(&b->X, j);
    return a->y[i] == b->y[j] && memcmp(x.values, y.values, COLS * sizeof *x.values) == 0;
}

static uc_status look(uc_fold *fold, void *user)
{
    seen *self = user;
    bool inside[ROWS] = {false}, wrong = false;
    for (size_t i = 0; i < fold->held_out.X.rows; i++) {
        wrong = wrong || !same_row(&fold->held_out, i, self->data, fold->rows[i]);
        inside[fold->rows[i]] = true;
        self->held_out[fold->share][fold->rows[i]]++;
    }
    size_t next = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (!inside[i])
            wrong = wrong || !same_row(&fold->train, next++, self->data, i);
    self->wrong[fold->number][fold->share] = wrong || next != fold->train.X.rows;
    if (fold->number == self->stop_at)
        return uc_fail(UC_ERR_DIVERGED, "fold %u", fold->number);
    return uc_part_done(fold->progress);
}

static void check_seen(const seen *self, size_t shares)
{
    for (size_t share = 0; share < shares; share++) {
        for (size_t i = 0; i < ROWS; i++)
            assert_int_equal(self->held_out[share][i], 1);
        for (size_t fold = 0; fold < FOLDS; fold++)
            assert_false(self->wrong[fold][share]);
    }
}

static void every_row_is_held_out_once(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, 3, false, 1);
    uc_folds folds = {0};
    seen found = {.data = &data, .stop_at = FOLDS};
    assert_ok(uc_folds_begin(&folds, &data, FOLDS, 7, NULL));
    assert_ok(uc_folds_each(&folds, look, &found, NULL));
    check_seen(&found, 1);
    uc_folds_free(&folds);
    uc_dataset_free(&data);
}

/* In two runs, as two processes would: jobs 0 .. 6 and 7 .. 14. */
static void concurrent_jobs_see_the_same_rows(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, 3, false, 1);
    uc_folds folds = {0};
    seen found = {.data = &data, .stop_at = FOLDS};
    const uc_context context = {.threads = 3};
    assert_ok(uc_folds_begin(&folds, &data, FOLDS, 7, &context));
    folds.shares = SHARES;
    assert_ok(uc_folds_concurrently(&folds, 0, 7, look, &found, &context));
    assert_ok(uc_folds_concurrently(&folds, 7, FOLDS * SHARES, look, &found, &context));
    check_seen(&found, SHARES);
    uc_folds_free(&folds);
    uc_dataset_free(&data);
}

static void a_fold_that_fails_ends_the_loop(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, 3, false, 1);
    uc_folds folds = {0};
    seen found = {.data = &data, .stop_at = 2};
    assert_ok(uc_folds_begin(&folds, &data, FOLDS, 7, NULL));
    assert_error(uc_folds_each(&folds, look, &found, NULL), UC_ERR_DIVERGED, "fold 2");
    unsigned held_out = 0;
    for (size_t i = 0; i < ROWS; i++) {
        held_out += found.held_out[0][i];
        assert_int_equal(found.held_out[0][i], folds.of_row[i] <= 2);
    }
    assert_true(held_out < ROWS);
    uc_folds_free(&folds);
    uc_dataset_free(&data);
}

typedef struct told {
    unsigned reports;
    char detail[64];
} told;

static bool cancel_after_two(const char *task, double done, double total, const char *detail, void *user)
{
    told *self = user;
    assert_string_equal(task, "testing");
    assert_true(done <= total);
    snprintf(self->detail, sizeof self->detail, "%s", detail);
    return ++self->reports < 2;
}

static void progress_counts_folds_and_may_end_the_loop(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, 3, false, 1);
    uc_folds folds = {0};
    seen found = {.data = &data, .stop_at = FOLDS};
    told heard = {0};
    const uc_context context = {.threads = 1, .progress = cancel_after_two, .user = &heard};
    assert_ok(uc_folds_begin(&folds, &data, FOLDS, 7, NULL));
    folds.progress = (uc_parts){.task = "testing", .part = "fold", .count = FOLDS};
    assert_error(uc_folds_each(&folds, look, &found, &context), UC_ERR_CANCELLED, "interrupted");
    assert_int_equal(heard.reports, 2);
    assert_string_equal(heard.detail, "fold 3 of 5"); /* two are done */
    uc_folds_free(&folds);
    uc_dataset_free(&data);
}

static uc_status take_rows(uc_fold *fold, void *user)
{
    uc_dataset *kept = user;
    kept[fold->number] = fold->held_out;
    fold->held_out = (uc_dataset){0};
    return UC_OK;
}

static void a_job_may_keep_the_rows(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, 3, true, 1), kept[FOLDS];
    uc_folds folds = {0};
    size_t rows = 0;
    memset(kept, 0, sizeof kept);
    assert_ok(uc_folds_begin(&folds, &data, FOLDS, 7, NULL));
    assert_ok(uc_folds_each(&folds, take_rows, kept, NULL));
    for (size_t fold = 0; fold < FOLDS; fold++) {
        rows += kept[fold].X.rows;
        uc_dataset_free(&kept[fold]);
    }
    assert_int_equal(rows, ROWS);
    uc_folds_free(&folds);
    uc_dataset_free(&data);
}

static void there_are_no_more_folds_than_rows(void **state)
{
    (void)state;
    uc_dataset data = sample_data(3, COLS, 2, false, 1);
    uc_folds folds = {0};
    assert_int_equal(uc_folds_at_most(&data, FOLDS), 3);
    assert_int_equal(uc_folds_at_most(&data, 2), 2);
    assert_error_has(uc_folds_begin(&folds, &data, 4, 7, NULL), UC_ERR_INVALID,
                     "the number of folds must be from 2 to the number of examples, 3, not 4");
    assert_null(folds.of_row);
    uc_dataset_free(&data);
}

static uc_status begin_and_run(const uc_dataset *data)
{
    uc_folds folds = {0};
    seen found = {.data = data, .stop_at = FOLDS};
    uc_status status = uc_folds_begin(&folds, data, FOLDS, 7, NULL);
    if (status == UC_OK)
        status = uc_folds_each(&folds, look, &found, NULL);
    uc_folds_free(&folds);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, 3, false, 1);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, begin_and_run(&data));
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_held_out_once),
        cmocka_unit_test(concurrent_jobs_see_the_same_rows),
        cmocka_unit_test(a_fold_that_fails_ends_the_loop),
        cmocka_unit_test(progress_counts_folds_and_may_end_the_loop),
        cmocka_unit_test(a_job_may_keep_the_rows),
        cmocka_unit_test(there_are_no_more_folds_than_rows),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
