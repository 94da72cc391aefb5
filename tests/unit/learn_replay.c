/* The ring of past rounds against a plain list, its bounds, and its way to a model and back. */
#include "tests/online_sample.h"

#include <stdlib.h>

#include "learn/replay.h"

enum { ROUNDS = 200, COLS = 9, CLASSES = 5 };

static uc_status keep(uc_replay *self, uc_row row, uint32_t proposed, bool right, size_t limit)
{
    uc_row copy;
    const uc_status status = uc_replay_copy(&copy, self, row, limit);
    if (status == UC_OK)
        uc_replay_keep(self, copy, proposed, right, limit);
    return status;
}

static void check_round(const uc_replay_round *round, uc_row row, uint32_t proposed, bool right)
{
    assert_int_equal(round->proposed, proposed);
    assert_int_equal(round->right, right);
    assert_int_equal(round->row.count, row.count);
    assert_int_equal(round->row.columns != NULL, row.columns != NULL);
    assert_ptr_not_equal(round->row.values, row.values);
    assert_memory_equal(round->row.values, row.values, row.count * sizeof *row.values);
    if (row.columns)
        assert_memory_equal(round->row.columns, row.columns, row.count * sizeof *row.columns);
}

/* Dense and sparse rows by turns, some empty. */
static uc_row row_number(const uc_dataset *dense, const uc_dataset *sparse, size_t t)
{
    uc_row row = uc_matrix_row(t % 3 ? &sparse->X : &dense->X, t);
    if (t % 10 == 4)
        row.count = 0;
    return row;
}

static void the_last_rounds_are_kept_in_order(void **state)
{
    (void)state;
    static const size_t limits[] = {1, 2, 7, 64, 65, ROUNDS, SIZE_MAX};
    uc_dataset dense = sample_data(ROUNDS, COLS, CLASSES, false, 1),
               sparse = sample_data(ROUNDS, COLS, CLASSES, true, 1);
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        uc_replay ring = {0};
        for (size_t t = 0; t < ROUNDS; t++) {
            assert_ok(keep(&ring, row_number(&dense, &sparse, t), dense.y[t], t % 4 == 0, limits[l]));
            const size_t kept = t + 1 < limits[l] ? t + 1 : limits[l];
            assert_int_equal(ring.count, kept);
            size_t bytes = 0;
            for (size_t i = 0; i < kept; i++) {
                const size_t past = t + 1 - kept + i;
                const uc_row row = row_number(&dense, &sparse, past);
                check_round(uc_replay_at(&ring, i), row, dense.y[past], past % 4 == 0);
                bytes += row.count * (row.columns ? 8 : 4);
            }
            assert_int_equal(ring.bytes, bytes);
            assert_true(ring.capacity <= 2 * kept + 64);
        }
        uc_replay_free(&ring);
        uc_replay_free(&ring); /* empty again */
    }
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

/* Rows of 48 MB: five of them are less than 256 MB, six are more. */
static void rows_take_at_most_256_megabytes(void **state)
{
    (void)state;
    enum { FLOATS = 12 << 20 };
    float *values = calloc(FLOATS, sizeof *values);
    assert_non_null(values);
    uc_replay ring = {0};
    for (uint32_t t = 0; t < 9; t++) {
        values[0] = (float)t;
        assert_ok(keep(&ring, (uc_row){FLOATS, values, NULL}, t, true, 1000));
        assert_int_equal(ring.count, t < 5 ? t + 1 : 5);
        assert_true(ring.bytes <= (size_t)1 << 28);
        assert_int_equal(uc_replay_at(&ring, 0)->proposed, t < 5 ? 0 : t - 4);
        assert_true(uc_replay_at(&ring, ring.count - 1)->row.values[0] == (float)t);
    }
    uc_replay_free(&ring);
    free(values);
}

/* ---- a model and back ---- */

static void fill(uc_replay *ring, const uc_dataset *dense, const uc_dataset *sparse, size_t rounds,
                 size_t limit)
{
    for (size_t t = 0; t < rounds; t++)
        assert_ok(keep(ring, row_number(dense, sparse, t), dense->y[t], t % 4 == 0, limit));
}

static uc_status written(uc_model_state *out, uc_replay *ring)
{
    uc_model_state model = {.counters = json_object()};
    uc_state state = {.model = &model, .reading = false};
    const uc_status status = uc_replay_remember(ring, &state, COLS, CLASSES);
    if (status == UC_OK)
        *out = model;
    else
        uc_model_state_free(&model);
    return status;
}

static uc_status read_back(uc_replay *out, uc_model_state *model, size_t features, size_t classes)
{
    uc_replay ring = {0};
    uc_state state = {.model = model, .reading = true};
    const uc_status status = uc_replay_remember(&ring, &state, features, classes);
    if (status == UC_OK)
        *out = ring;
    else
        uc_replay_free(&ring);
    return status;
}

static void what_is_written_comes_back(void **state)
{
    (void)state;
    uc_dataset dense = sample_data(ROUNDS, COLS, CLASSES, false, 2),
               sparse = sample_data(ROUNDS, COLS, CLASSES, true, 2);
    for (size_t rounds = 0; rounds <= 100; rounds += rounds < 4 ? 1 : 16) {
        uc_replay ring = {0}, back;
        uc_model_state model;
        fill(&ring, &dense, &sparse, rounds, 30);
        assert_ok(written(&model, &ring));
        assert_ok(read_back(&back, &model, COLS, CLASSES));
        assert_int_equal(back.count, ring.count);
        assert_int_equal(back.bytes, ring.bytes);
        for (size_t i = 0; i < ring.count; i++) {
            const uc_replay_round *round = uc_replay_at(&ring, i);
            check_round(uc_replay_at(&back, i), round->row, round->proposed, round->right);
        }
        uc_replay_free(&ring);
        uc_replay_free(&back);
        uc_model_state_free(&model);
    }
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset dense = sample_data(ROUNDS, COLS, CLASSES, false, 3),
               sparse = sample_data(ROUNDS, COLS, CLASSES, true, 3);
    uc_replay ring = {0}, back;
    uc_model_state model;
    uc_status status;
    fill(&ring, &dense, &sparse, 20, 10);
    FOR_EACH_FAILING_ALLOCATION(status, written(&model, &ring));
    FOR_EACH_FAILING_ALLOCATION(status, read_back(&back, &model, COLS, CLASSES));
    for (size_t t = 20; t < 60; t++) { /* a ring that grows, then wraps */
        const size_t count = back.count, bytes = back.bytes;
        for (long successes = 0;; successes++) {
            uc_alloc_fail_after(successes);
            status = keep(&back, row_number(&dense, &sparse, t), dense.y[t], false, 40);
            uc_alloc_fail_after(-1);
            if (status == UC_OK)
                break;
            assert_int_equal(status, UC_ERR_NOMEM);
            assert_int_equal(back.count, count);
            assert_int_equal(back.bytes, bytes);
        }
        assert_true(back.count == 40 || back.count == count + 1);
    }
    uc_replay_free(&ring);
    uc_replay_free(&back);
    uc_model_state_free(&model);
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

/* ---- damage ---- */

static void *array_data(uc_model_state *model, const char *name)
{
    const uc_array *array = uc_model_state_find(model, name);
    assert_non_null(array);
    return (void *)(uintptr_t)array->data;
}

static void check_damaged(uc_model_state *model)
{
    uc_replay ring;
    assert_error(read_back(&ring, model, COLS, CLASSES), UC_ERR_FORMAT,
                 "the model's learner state does not fit its settings");
}

static void rounds_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    uc_dataset dense = sample_data(ROUNDS, COLS, CLASSES, false, 4),
               sparse = sample_data(ROUNDS, COLS, CLASSES, true, 4);
    uc_replay ring = {0}, back;
    uc_model_state model;
    fill(&ring, &dense, &sparse, 12, 12);
    assert_ok(written(&model, &ring));
    uint32_t *told = array_data(&model, "state.replay.told"),
             *columns = array_data(&model, "state.replay.columns");
    uint64_t *ends = array_data(&model, "state.replay.ends");
    float *values = array_data(&model, "state.replay.values");
    const size_t count = uc_model_state_find(&model, "state.replay.columns")->count;

    for (size_t i = 0; i < 12; i++) { /* a class that there is not */
        const uint32_t before = told[i];
        told[i] = (uint32_t)CLASSES << 2;
        check_damaged(&model);
        told[i] = UINT32_MAX;
        check_damaged(&model);
        told[i] =
            before ^ 2; /* sparse instead of dense: no columns for it, or too many left; or any other row */
        const uc_status status = read_back(&back, &model, COLS, CLASSES);
        assert_true(status == UC_OK || status == UC_ERR_FORMAT);
        if (status == UC_OK)
            uc_replay_free(&back);
        told[i] = before;
    }
    for (size_t i = 0; i < 12; i++) { /* rows that end before they begin, or behind the last value */
        const uint64_t before = ends[i];
        static const uint64_t wrong[] = {UINT64_MAX, UINT64_MAX / 2, 1u << 20};
        for (size_t w = 0; w < 3; w++) {
            ends[i] = wrong[w];
            check_damaged(&model);
        }
        ends[i] = i > 0 && ends[i - 1] > 0 ? ends[i - 1] - 1 : before;
        if (ends[i] != before)
            check_damaged(&model);
        ends[i] = before;
    }
    for (size_t i = 0; i < count; i++) { /* a column that there is not, or that is not above the one before */
        const uint32_t before = columns[i];
        columns[i] = COLS;
        check_damaged(&model);
        columns[i] = UINT32_MAX;
        check_damaged(&model);
        columns[i] = i > 0 ? columns[i - 1] : before;
        const uc_status status = read_back(&back, &model, COLS, CLASSES);
        assert_true(status == UC_OK || status == UC_ERR_FORMAT); /* i may begin a row */
        if (status == UC_OK)
            uc_replay_free(&back);
        columns[i] = before;
    }
    values[3] = INFINITY;
    check_damaged(&model);
    values[3] = 1.0f;
    assert_ok(read_back(&back, &model, COLS, CLASSES));
    uc_replay_free(&back);
    assert_status(read_back(&back, &model, COLS - 1, CLASSES), UC_ERR_FORMAT);
    uc_replay_free(&ring);
    uc_model_state_free(&model);
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

/* Counters that promise more, or less, than there is. */
static void counters_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const char *const counters[] = {"replay_rounds", "replay_entries", "replay_columns"};
    static const json_int_t wrong[] = {0, 1, -1, INT64_MAX, 1 << 30};
    uc_dataset dense = sample_data(ROUNDS, COLS, CLASSES, false, 5),
               sparse = sample_data(ROUNDS, COLS, CLASSES, true, 5);
    uc_replay ring = {0};
    uc_model_state model;
    fill(&ring, &dense, &sparse, 12, 12);
    assert_ok(written(&model, &ring));
    for (size_t c = 0; c < 3; c++) {
        json_t *before = json_incref(json_object_get(model.counters, counters[c]));
        for (size_t w = 0; w < 5; w++) {
            json_object_set_new(model.counters, counters[c], json_integer(wrong[w]));
            check_damaged(&model);
        }
        json_object_set_new(model.counters, counters[c], json_string("many"));
        check_damaged(&model);
        json_object_del(model.counters, counters[c]);
        check_damaged(&model);
        json_object_set_new(model.counters, counters[c], before);
    }
    uc_replay_free(&ring);
    uc_model_state_free(&model);
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_rounds_are_kept_in_order),
        cmocka_unit_test(rows_take_at_most_256_megabytes),
        cmocka_unit_test(what_is_written_comes_back),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(rounds_that_make_no_sense_are_refused),
        cmocka_unit_test(counters_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
