/* Scaling that is learned as rows arrive: against sums over all rows so far, and the same bits each way. */
#include "tests/online_sample.h"
#include "tests/support.h"

#include "prepare/preprocessing.h"
#include "unconfuse/session.h"

enum { ROWS = 60, COLS = 7, CLASSES = 3 };
static const uc_scaling scalings[] = {UC_SCALE_RANGE, UC_SCALE_STANDARD, UC_SCALE_MAXABS};

/* Columns of very different sizes; the second is constant. */
static uc_dataset uneven_data(bool sparse, uint64_t seed)
{
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, sparse, seed);
    static const float sizes[COLS] = {1.0f, 0.0f, 1e-4f, 300.0f, 1e6f, 5.0f, 0.1f};
    for (size_t i = 0; i < ROWS; i++) {
        const uc_row row = uc_matrix_row(&data.X, i);
        float *values = data.X.values + (row.values - data.X.values);
        for (size_t j = 0; j < row.count; j++)
            values[j] = values[j] * sizes[uc_row_column(row, j)] + (sparse ? 0.0f : 3.0f);
    }
    return data;
}

/* Row i as a dense array. */
static void spread_row(double out[COLS], const uc_dataset *data, size_t i)
{
    const uc_row row = uc_matrix_row(&data->X, i);
    memset(out, 0, COLS * sizeof *out);
    for (size_t j = 0; j < row.count; j++)
        out[uc_row_column(row, j)] = (double)row.values[j];
}

/* By two passes over rows 0 .. last. */
static double slow_value(const uc_dataset *data, uc_scaling scaling, size_t column, size_t last)
{
    double values[COLS], mean = 0.0, squares = 0.0, low = (double)INFINITY, high = -(double)INFINITY;
    for (size_t i = 0; i <= last; i++) {
        spread_row(values, data, i);
        mean += values[column] / (double)(last + 1);
        low = fmin(low, values[column]);
        high = fmax(high, values[column]);
    }
    for (size_t i = 0; i <= last; i++) {
        spread_row(values, data, i);
        squares += (values[column] - mean) * (values[column] - mean) / (double)(last + 1);
    }
    spread_row(values, data, last);
    const double largest = fmax(fabs(low), fabs(high));
    if (scaling == UC_SCALE_MAXABS)
        return largest > 0.0 ? values[column] / largest : 0.0;
    if (low == high)
        return 0.0;
    if (scaling == UC_SCALE_STANDARD)
        return (values[column] - mean) / sqrt(squares);
    return (values[column] - (low + high) / 2) * 2 / (high - low);
}

static online_setup scaled_setup(const char *learner, uc_scaling scaling)
{
    online_setup self = {.learner = learner, .settings.pa = {.cost = 1.0}, .train = uc_train_defaults()};
    self.train.normalize = 0;
    self.train.scale = (int)scaling;
    return self;
}

static void a_row_is_scaled_by_the_rows_up_to_it(void **state)
{
    (void)state;
    for (size_t s = 0; s < 6; s++) {
        uc_dataset data = uneven_data(s >= 3, s + 1);
        const online_setup self = scaled_setup("spa", scalings[s % 3]);
        uc_online *online = online_begin(&self, &data.classes, NULL);
        for (size_t i = 0; i < ROWS; i++) {
            const uc_row row = uc_matrix_row(&data.X, i);
            double seen[COLS] = {0};
            uc_proposal proposal;
            assert_ok(uc_online_propose(&proposal, online, &row));
            const uc_row prepared = uc_online_prepared(online);
            for (size_t j = 0; j < prepared.count; j++)
                seen[uc_row_column(prepared, j)] = (double)prepared.values[j];
            for (size_t j = 0; j < COLS; j++) {
                const double expected = slow_value(&data, scalings[s % 3], j, i);
                assert_true(fabs(seen[j] - expected) <= 1e-5 * (1.0 + fabs(expected)));
            }
            assert_ok(uc_online_learn(online, &row, &proposal, online_answer(online, &proposal, data.y[i])));
        }
        uc_online_free(online);
        uc_dataset_free(&data);
    }
}

/* ---- the same bits ---- */

static void prepare_in_blocks(uc_online *online, const uc_dataset *data, size_t size)
{
    for (size_t first = 0; first < ROWS; first += size) {
        size_t numbers[ROWS];
        const size_t count = uc_min_size(ROWS - first, size);
        uc_matrix block, prepared;
        for (size_t i = 0; i < count; i++)
            numbers[i] = first + i;
        assert_ok(uc_matrix_subset(&block, &data->X, numbers, count, NULL));
        assert_ok(uc_online_prepare(&prepared, online, &block, NULL));
        for (size_t i = 0; i < count; i++) {
            const uc_row row = uc_matrix_row(&prepared, i);
            uc_proposal proposal;
            assert_ok(uc_online_propose_prepared(&proposal, online, &row));
            assert_ok(uc_online_learn_prepared(online, &row, &proposal,
                                               online_answer(online, &proposal, data->y[first + i])));
        }
        uc_matrix_free(&block);
        uc_matrix_free(&prepared);
    }
}

/* Through the bytes of a file. */
static uc_online *resumed(const uc_online *online)
{
    uc_model *model;
    uc_online *again;
    void *bytes;
    size_t size;
    assert_ok(uc_online_model(&model, online, true));
    assert_ok(uc_model_save_memory(&bytes, &size, model));
    uc_model_free(model);
    assert_ok(uc_model_load_memory(&model, bytes, size, "memory"));
    assert_ok(uc_online_resume(&again, model));
    uc_model_memory_free(bytes);
    uc_model_free(model);
    return again;
}

/* Row by row, in blocks, and stopped before row 0, 1, and half-way. */
static void check_ways(const online_setup *self, const uc_dataset *data)
{
    static const size_t blocks[] = {1, 7, ROWS}, stops[] = {0, 1, ROWS / 2};
    uc_online *whole = online_begin(self, &data->classes, NULL);
    for (size_t i = 0; i < ROWS; i++)
        online_round(whole, data, i);
    for (size_t b = 0; b < 3; b++) {
        uc_online *blockwise = online_begin(self, &data->classes, NULL);
        prepare_in_blocks(blockwise, data, blocks[b]);
        check_same_online(whole, blockwise);
        uc_online_free(blockwise);
    }
    for (size_t s = 0; s < 3; s++) {
        uc_online *online = online_begin(self, &data->classes, NULL);
        for (size_t i = 0; i < ROWS; i++) {
            if (i == stops[s]) {
                uc_online *again = resumed(online);
                uc_online_free(online);
                online = again;
            }
            online_round(online, data, i);
        }
        check_same_online(whole, online);
        uc_online_free(online);
    }
    uc_online_free(whole);
}

static void blocks_and_stops_change_no_bit(void **state)
{
    (void)state;
    uc_dataset dense = uneven_data(false, 8), sparse = uneven_data(true, 8);
    online_setup self;
    for (size_t s = 0; online_setup_number(&self, s); s++) {
        self.train.scale = (int)scalings[s % 3];
        check_ways(&self, s % 5 == 0 ? &sparse : &dense);
    }
    for (size_t s = 0; online_kind(&self, s); s++) {
        self.train.scale = (int)scalings[s % 3];
        add_landmarks(&self, s % 2 ? 20 : ROWS + 10);
        check_ways(&self, s % 5 == 0 ? &sparse : &dense);
    }
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

/* onebit makes a map of its own of the scaled rows. */
static void a_learner_with_its_own_map_goes_on(void **state)
{
    (void)state;
    uc_dataset data = uneven_data(false, 9);
    online_setup self = {.learner = "onebit", .train = uc_train_defaults()};
    uc_options_defaults(uc_learner_options(uc_learner_find("onebit")), &self.settings);
    self.train.scale = UC_SCALE_STANDARD;
    check_ways(&self, &data);
    uc_dataset_free(&data);
}

/* ---- feedback that comes late ---- */

enum { DELAY = 5 };

typedef struct kept_row {
    float values[COLS];
    size_t count;
    uc_proposal proposal;
} kept_row;

/* The session's rounds by hand: every row stays as it was scaled when it was proposed for. */
static void play_late(uc_online *online, const uc_dataset *data)
{
    kept_row kept[ROWS];
    for (size_t i = 0; i < ROWS + DELAY; i++) {
        if (i < ROWS) {
            const uc_row row = uc_matrix_row(&data->X, i);
            assert_ok(uc_online_propose(&kept[i].proposal, online, &row));
            const uc_row prepared = uc_online_prepared(online);
            assert_true(!prepared.columns && prepared.count <= COLS);
            memcpy(kept[i].values, prepared.values, prepared.count * sizeof *prepared.values);
            kept[i].count = prepared.count;
        }
        if (i < DELAY)
            continue;
        const kept_row *late = &kept[i - DELAY];
        const uc_row row = {late->count, late->values, NULL};
        assert_ok(uc_online_learn_prepared(online, &row, &late->proposal,
                                           online_answer(online, &late->proposal, data->y[i - DELAY])));
    }
}

static void late_feedback_meets_the_row_as_it_was(void **state)
{
    (void)state;
    uc_dataset data = uneven_data(false, 10);
    online_setup self;
    for (size_t s = 0; online_kind(&self, s); s++) {
        self.train.scale = (int)scalings[s % 3];
        const uc_learner *learner = uc_learner_find(self.learner);
        uc_session_settings settings = {.feedback = UC_FEEDBACK_PARTIAL, .delay = DELAY};
        if (uc_learner_accepts(learner, UC_FEEDBACK_FULL))
            settings.feedback = UC_FEEDBACK_FULL;
        uc_online *by_hand = online_begin(&self, &data.classes, NULL),
                  *in_session = online_begin(&self, &data.classes, NULL);
        uc_session *session;
        play_late(by_hand, &data);
        assert_ok(uc_session_continue(&session, in_session, &settings, NULL));
        assert_ok(uc_session_run_rows(session, &data.X, data.y, NULL, ROWS, false));
        assert_ok(uc_session_finish(session));
        check_same_online(by_hand, in_session);
        uc_session_free(session);
        uc_online_free(by_hand);
        uc_online_free(in_session);
    }
    uc_dataset_free(&data);
}

/* ---- failures ---- */

static void sparse_rows_are_not_shifted(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, true, 2);
    data.X.cols *= 10; /* about a twentieth of the values are there */
    for (size_t s = 0; s < 3; s++) {
        const online_setup self = scaled_setup("spa", scalings[s]);
        const uc_session_settings settings = {.feedback = UC_FEEDBACK_FULL};
        uc_online *online = online_begin(&self, &data.classes, NULL);
        uc_session *session;
        assert_ok(uc_session_continue(&session, online, &settings, NULL));
        const uc_status status = uc_session_run_rows(session, &data.X, data.y, NULL, ROWS, false);
        assert_int_equal(status, scalings[s] != UC_SCALE_MAXABS ? UC_ERR_INVALID : UC_OK);
        uc_session_free(session);
        uc_online_free(online);
    }
    uc_dataset_free(&data);
}

/* A call that failed has added nothing to the scaling: repeated until it works, it ends with the same
 * bits. */
static void stubborn_round(uc_online *online, uc_row row, uint32_t y)
{
    uc_proposal proposal;
    uc_status status = UC_ERR_NOMEM;
    for (long successes = 0; status != UC_OK; successes++) {
        uc_alloc_fail_after(successes);
        status = uc_online_propose(&proposal, online, &row);
        uc_alloc_fail_after(-1);
        assert_true(status == UC_OK || status == UC_ERR_NOMEM);
    }
    assert_ok(uc_online_learn(online, &row, &proposal, online_answer(online, &proposal, y)));
}

static void a_failed_row_leaves_no_trace(void **state)
{
    (void)state;
    uc_dataset data = uneven_data(false, 11);
    for (size_t s = 0; s < 6; s++) {
        online_setup self = scaled_setup("spa", scalings[s % 3]);
        uc_model *model = NULL;
        uc_online *again = NULL;
        uc_status status;
        if (s >= 3)
            add_landmarks(&self, 20);
        uc_online *easy = online_begin(&self, &data.classes, NULL),
                  *stubborn = online_begin(&self, &data.classes, NULL);
        for (size_t i = 0; i < ROWS; i++) {
            online_round(easy, &data, i);
            stubborn_round(stubborn, uc_matrix_row(&data.X, i), data.y[i]);
        }
        check_same_online(easy, stubborn);
        FOR_EACH_FAILING_ALLOCATION(status, uc_online_model(&model, easy, true));
        FOR_EACH_FAILING_ALLOCATION(status, uc_online_resume(&again, model));
        check_same_online(easy, again);
        uc_model_free(model);
        uc_online_free(easy);
        uc_online_free(stubborn);
        uc_online_free(again);
    }
    uc_dataset_free(&data);
}

static void damaged_sums_are_refused(void **state)
{
    (void)state;
    uc_dataset data = uneven_data(false, 12);
    const online_setup self = scaled_setup("spa", UC_SCALE_STANDARD);
    uc_online *online = online_begin(&self, &data.classes, NULL), *again = NULL;
    uc_model *model;
    for (size_t i = 0; i < ROWS; i++)
        online_round(online, &data, i);
    assert_ok(uc_online_model(&model, online, true));
    double *sums = (double *)uc_model_state_find(&model->state, "state.scaling")->data;
    sums[0] = ROWS + 1; /* more values than rows */
    assert_status(uc_online_resume(&again, model), UC_ERR_FORMAT);
    sums[0] = ROWS;
    sums[4] = -1.0; /* squares below 0 */
    assert_status(uc_online_resume(&again, model), UC_ERR_FORMAT);
    uc_model_free(model);
    uc_online_free(online);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_scaled_by_the_rows_up_to_it),
        cmocka_unit_test(blocks_and_stops_change_no_bit),
        cmocka_unit_test(a_learner_with_its_own_map_goes_on),
        cmocka_unit_test(late_feedback_meets_the_row_as_it_was),
        cmocka_unit_test(sparse_rows_are_not_shifted),
        cmocka_unit_test(a_failed_row_leaves_no_trace),
        cmocka_unit_test(damaged_sums_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
