/* Sessions: one loop for a file, for rows in memory and for prepared rows, against rounds played by hand. */
#include "tests/online_sample.h"

#include <stdlib.h>

#include "train/order.h"
#include "unconfuse/session.h"

enum { ROWS = 120, COLS = 9, CLASSES = 5 };

static int feedback_of(const online_setup *self)
{
    const uc_learner *learner = uc_learner_find(self->learner);
    return uc_learner_accepts(learner, UC_FEEDBACK_FULL) ? UC_FEEDBACK_FULL : UC_FEEDBACK_PARTIAL;
}

static uc_session *continued(uc_online *online, const uc_session_settings *settings)
{
    uc_session *session = NULL;
    assert_ok(uc_session_continue(&session, online, settings, NULL));
    return session;
}

/* ---- the slow way ---- */

typedef struct by_hand {
    uc_online *online;
    uc_proposal proposals[ROWS];
    bool comes[ROWS];
    size_t correct;
} by_hand;

/* Feedback of round t arrives after the proposal of round t + delay, unless it is missing. */
static void play_by_hand(by_hand *self, const uc_dataset *data, const size_t *order, size_t delay,
                         double missing, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, UINT64_C(0x636c692d6d697373));
    for (size_t t = 0; t < ROWS + delay; t++) {
        if (t < ROWS) {
            const size_t i = order ? order[t] : t;
            const uc_row row = uc_matrix_row(&data->X, i);
            assert_ok(uc_online_propose(&self->proposals[t], self->online, &row));
            self->comes[t] = missing == 0.0 || uc_rng_uniform(&rng) >= missing;
            self->correct += self->proposals[t].label == data->y[i];
        }
        if (t < delay || !self->comes[t - delay])
            continue;
        const size_t i = order ? order[t - delay] : t - delay;
        const uc_row row = uc_matrix_row(&data->X, i);
        const uc_answer answer = online_answer(self->online, &self->proposals[t - delay], data->y[i]);
        assert_ok(uc_online_learn(self->online, &row, &self->proposals[t - delay], answer));
    }
}

static void a_session_is_rounds_played_by_hand(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset dense = sample_data(ROWS, COLS, CLASSES, false, 3),
               sparse = sample_data(ROWS, COLS, CLASSES, true, 3);
    for (size_t s = 0; online_setup_number(&self, s); s++) {
        const uc_dataset *data = s % 2 ? &sparse : &dense;
        const size_t delay = s % 3 == 0 ? 0 : s % 11;
        const double missing = s % 5 == 0 ? 0.3 : 0.0;
        by_hand *slow = calloc(1, sizeof *slow);
        slow->online = online_begin(&self, &data->classes, NULL);
        uc_online *online = online_begin(&self, &data->classes, NULL);
        play_by_hand(slow, data, NULL, delay, missing, self.train.seed);
        const uc_session_settings settings = {
            .feedback = feedback_of(&self), .delay = delay, .missing = missing};
        uc_session *session = continued(online, &settings);
        assert_ok(uc_session_run_data(session, data, 1, false));
        assert_ok(uc_session_finish(session));
        check_same_online(slow->online, online);
        assert_int_equal(uc_session_count(session).correct, slow->correct);
        assert_int_equal(uc_session_count(session).rounds, ROWS);
        uc_session_free(session);
        uc_online_free(online);
        uc_online_free(slow->online);
        free(slow);
    }
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

/* Behind a map that grows, a session maps rows in blocks; by hand they are mapped one by one, and late
 * feedback is learned from with the row as the map is by then: so without delay only. */
static void a_session_behind_landmarks_is_rounds_played_by_hand(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 4);
    for (size_t s = 0; online_kind(&self, s); s++) {
        add_landmarks(&self, s % 2 ? 40 : ROWS + 10);
        by_hand *slow = calloc(1, sizeof *slow);
        slow->online = online_begin(&self, &data.classes, NULL);
        uc_online *online = online_begin(&self, &data.classes, NULL);
        uc_order order = {0};
        assert_ok(uc_order_begin(&order, ROWS, self.train.seed, UC_SEQUENCE_ORDER));
        uc_order_next(&order);
        play_by_hand(slow, &data, order.rows, 0, 0.0, self.train.seed);
        const uc_session_settings settings = {.feedback = feedback_of(&self)};
        uc_session *session = continued(online, &settings);
        assert_ok(uc_session_run_data(session, &data, 1, true));
        check_same_online(slow->online, online);
        uc_order_free(&order);
        uc_session_free(session);
        uc_online_free(online);
        uc_online_free(slow->online);
        free(slow);
    }
    uc_dataset_free(&data);
}

/* ---- other ways to the same session ---- */

static void a_file_its_rows_and_prepared_rows_are_the_same_session(void **state)
{
    (void)state;
    online_setup self;
    const char *path = temporary_path("session.svm");
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, true, 7);
    assert_ok(uc_dataset_write(&data, path, UC_FORMAT_LIBSVM, NULL, NULL));
    for (size_t s = 0; online_kind(&self, s); s++) {
        uc_online *learners[3];
        const uc_session_settings settings = {.feedback = feedback_of(&self), .delay = 2};
        self.train.normalize = 1;
        for (size_t way = 0; way < 3; way++) {
            learners[way] = online_begin(&self, &data.classes, NULL);
            assert_ok(uc_online_expect(learners[way], COLS, uc_matrix_density(&data.X)));
            uc_session *session = continued(learners[way], &settings);
            uc_matrix prepared = {0};
            if (way == 0)
                assert_ok(uc_session_run_file(session, path, NULL, 2));
            else if (way == 1)
                assert_ok(uc_session_run_data(session, &data, 2, false));
            else {
                assert_ok(uc_online_prepare(&prepared, learners[way], &data.X, NULL));
                for (size_t pass = 0; pass < 2; pass++)
                    assert_ok(uc_session_run_rows(session, &prepared, data.y, NULL, ROWS, true));
            }
            assert_ok(uc_session_finish(session));
            uc_matrix_free(&prepared);
            uc_session_free(session);
        }
        check_same_online(learners[0], learners[1]);
        check_same_online(learners[0], learners[2]);
        for (size_t way = 0; way < 3; way++)
            uc_online_free(learners[way]);
    }
    uc_dataset_free(&data);
}

static void a_session_that_continues_never_stopped(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 8);
    for (size_t s = 0; online_kind(&self, s); s++) {
        const uc_session_settings settings = {.feedback = feedback_of(&self), .missing = 0.25};
        uc_online *whole = online_begin(&self, &data.classes, NULL),
                  *parts = online_begin(&self, &data.classes, NULL);
        uc_session *session = continued(whole, &settings);
        assert_ok(uc_session_run_data(session, &data, 3, true));
        uc_session_free(session);
        for (size_t pass = 0; pass < 3; pass++) {
            session = continued(parts, &settings);
            assert_int_equal(uc_session_count(session).rounds_before, pass * ROWS);
            assert_ok(uc_session_run_data(session, &data, 1, true));
            uc_session_free(session);
        }
        check_same_online(whole, parts);
        uc_online_free(whole);
        uc_online_free(parts);
    }
    uc_dataset_free(&data);
}

/* ---- labels ---- */

/* Data whose names come in another order than the learner's, with one that it does not know. */
static void labels_are_matched_by_name(void **state)
{
    (void)state;
    const char *path = temporary_path("names.svm");
    write_file(path, "c 1:1\nb 2:1\na 3:1\nz 1:1\nc 1:1\nb 2:1\na 3:1\n");
    const char *const names[] = {"a", "b", "c"};
    uc_names classes = sample_names(names, 3);
    online_setup self;
    assert_true(online_kind(&self, 10)); /* cspa: right or wrong, so unknown labels are just wrong */
    uc_online *online = online_begin(&self, &classes, NULL);
    const uc_session_settings settings = {.feedback = UC_FEEDBACK_PARTIAL, .source = path};
    uc_session *session = continued(online, &settings);
    assert_ok(uc_session_run_file(session, path, NULL, 20));
    uc_session_label label;
    uint64_t correct = 0, proposed = 0;
    for (size_t i = 0; i < 3; i++) {
        assert_true(uc_session_label_at(&label, session, i));
        assert_string_equal(label.name, names[i]);
        assert_true(label.known);
        assert_int_equal(label.examples, 40);
        correct += label.correct;
        proposed += label.proposed;
    }
    assert_true(uc_session_label_at(&label, session, 3));
    assert_string_equal(label.name, "z");
    assert_false(label.known);
    assert_int_equal(label.examples, 20);
    assert_int_equal(label.correct, 0);
    assert_false(uc_session_label_at(&label, session, 4));
    assert_int_equal(proposed, 140);
    assert_int_equal(uc_session_count(session).correct, correct);
    assert_true(correct > 90); /* of 120: the three classes are easy */
    uc_session_free(session);
    uc_online_free(online);
    uc_names_free(&classes);
}

static void an_unknown_label_becomes_a_class_or_is_refused(void **state)
{
    (void)state;
    const char *path = temporary_path("unknown.svm");
    write_file(path, "a 1:1\nb 2:1\nz 3:1\nz 3:1\n");
    const char *const names[] = {"a", "b"};
    uc_names classes = sample_names(names, 2);
    online_setup self;
    assert_true(online_kind(&self, 0));
    for (int adds = 0; adds < 2; adds++) {
        uc_online *online = online_begin(&self, &classes, NULL);
        const uc_session_settings settings = {.add_classes = adds, .source = "unknown.svm"};
        uc_session *session = continued(online, &settings);
        if (adds)
            assert_ok(uc_session_run_file(session, path, NULL, 1));
        else
            assert_error(uc_session_run_file(session, path, NULL, 1), UC_ERR_INVALID,
                         "unknown.svm: label z of example 3 is not among the classes");
        assert_int_equal(uc_online_classes(online)->count, adds ? 3 : 2);
        assert_int_equal(uc_session_count(session).rounds, adds ? 4 : 2);
        uc_session_free(session);
        uc_online_free(online);
    }
    uc_names_free(&classes);
}

static void what_cannot_be_played_is_refused(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 8), unlabelled = {.X = data.X};
    assert_true(online_kind(&self, 10));
    uc_online *online = online_begin(&self, &data.classes, NULL);
    uc_session *session = NULL;
    uc_session_settings settings = {.feedback = UC_FEEDBACK_FULL};
    assert_error(uc_session_continue(&session, online, &settings, NULL), UC_ERR_INVALID,
                 "cspa does not learn from labels, only from right or wrong");
    settings.feedback = UC_FEEDBACK_PARTIAL;
    settings.missing = 1.5;
    assert_error(uc_session_continue(&session, online, &settings, NULL), UC_ERR_OPTION,
                 "missing 1.5 is not a probability, from 0 to 1");
    settings.missing = 0.0;
    const uc_train_settings train = uc_train_defaults();
    const uc_first_look look = uc_first_look_none();
    assert_error(uc_session_begin(&session, uc_learner_find("spa"), NULL, &train, &settings, &look, 1, NULL),
                 UC_ERR_INVALID, "spa does not learn from right or wrong, only from labels");
    session = continued(online, &settings);
    assert_error(uc_session_run_data(session, &unlabelled, 1, false), UC_ERR_INVALID,
                 "the data have no labels");
    data.y[3] = UC_NONE;
    assert_error(uc_session_run_data(session, &data, 1, false), UC_ERR_INVALID,
                 "example 4 has no label ('?'), which cspa cannot use");
    data.y[3] = CLASSES;
    assert_error(uc_session_run_rows(session, &data.X, data.y, NULL, ROWS, false), UC_ERR_INVALID,
                 "label 5 of example 7 is not below the number of classes, 5");
    uc_session_free(session);
    uc_online_free(online);
    uc_dataset_free(&data);
}

/* ---- what happened ---- */

typedef struct listener {
    uint64_t rounds, correct, stop_after;
} listener;

static uc_status listen(const uc_session_round *round, void *user)
{
    listener *self = user;
    assert_int_equal(round->number, ++self->rounds);
    self->correct += round->right;
    return self->rounds == self->stop_after ? uc_fail(UC_ERR_CANCELLED, "interrupted") : UC_OK;
}

static void the_curve_has_rounds_that_double_and_the_last(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 8);
    assert_true(online_kind(&self, 0));
    uc_online *online = online_begin(&self, &data.classes, NULL);
    listener heard = {0};
    const uc_session_settings settings = {.on_round = listen, .user = &heard};
    uc_session *session = continued(online, &settings);
    size_t count;
    (void)uc_session_curve(&count, session);
    assert_int_equal(count, 0);
    assert_ok(uc_session_run_data(session, &data, 1, false));
    const uc_session_point *curve = uc_session_curve(&count, session);
    const uint64_t rounds[] = {1, 2, 4, 8, 16, 32, 64, ROWS};
    assert_int_equal(count, sizeof rounds / sizeof *rounds);
    double correct = 0.0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(curve[i].round, rounds[i]);
        correct += curve[i].recent_ratio * (double)(rounds[i] - (i ? rounds[i - 1] : 0));
        assert_near(curve[i].ratio_correct * (double)rounds[i], correct, 1e-9);
    }
    assert_near(correct, (double)heard.correct, 1e-9);
    assert_int_equal(heard.rounds, ROWS);
    uc_session_free(session);
    uc_online_free(online);
    uc_dataset_free(&data);
}

/* Asking for the curve on the way changes nothing, however often: the point of the last round is not kept. */
static void the_curve_may_be_asked_for_at_any_time(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 8);
    assert_true(online_kind(&self, 0));
    uc_online *often = online_begin(&self, &data.classes, NULL),
              *once = online_begin(&self, &data.classes, NULL);
    const uc_session_settings settings = {0};
    uc_session *asked = continued(often, &settings), *other = continued(once, &settings);
    size_t count, expected;
    for (size_t i = 0; i < ROWS; i++) {
        assert_ok(uc_session_run_rows(asked, &data.X, data.y, &i, 1, false));
        (void)uc_session_curve(&count, asked);
        assert_true(count <= 8);
    }
    assert_ok(uc_session_run_data(other, &data, 1, false));
    const uc_session_point *curve = uc_session_curve(&count, asked);
    const uc_session_point *wanted = uc_session_curve(&expected, other);
    assert_int_equal(count, expected);
    assert_memory_equal(curve, wanted, count * sizeof *curve);
    uc_session_free(asked);
    uc_session_free(other);
    uc_online_free(often);
    uc_online_free(once);
    uc_dataset_free(&data);
}

static void a_listener_can_end_the_session(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 8);
    assert_true(online_kind(&self, 0));
    uc_online *online = online_begin(&self, &data.classes, NULL);
    listener heard = {.stop_after = 17};
    const uc_session_settings settings = {.on_round = listen, .user = &heard};
    uc_session *session = continued(online, &settings);
    assert_error(uc_session_run_data(session, &data, 2, true), UC_ERR_CANCELLED, "interrupted");
    assert_int_equal(uc_session_count(session).rounds, 17);
    assert_int_equal(uc_online_rounds(online), 17);
    uc_session_free(session);
    uc_online_free(online);
    uc_dataset_free(&data);
}

/* ---- the first look ---- */

static uc_train_settings looking(uc_scaling scaling, bool unit_length)
{
    uc_train_settings train = uc_train_defaults();
    train.scale = (int)scaling;
    train.normalize_input = unit_length;
    train.map.map = UC_MAP_LANDMARKS;
    train.map.kernel = UC_KERNEL_GAUSSIAN;
    return train;
}

/* More rows than the sample has. */
static void a_file_and_its_rows_look_the_same(void **state)
{
    (void)state;
    const char *path = temporary_path("look.svm");
    uc_dataset data = sample_data(3000, COLS, CLASSES, true, 11);
    assert_ok(uc_dataset_write(&data, path, UC_FORMAT_LIBSVM, NULL, NULL));
    for (int unit_length = 0; unit_length < 2; unit_length++) {
        const uc_train_settings train = looking(UC_SCALE_MAXABS, unit_length);
        uc_first_look file, memory;
        assert_ok(uc_first_look_at_file(&file, path, NULL, &train, NULL));
        assert_ok(uc_first_look_at_data(&memory, &data, &train, NULL));
        assert_int_equal(file.rows, 3000);
        assert_int_equal(memory.rows, 3000);
        assert_int_equal(file.columns, memory.columns);
        assert_int_equal(file.classes.count, CLASSES);
        assert_true(file.width == memory.width);
        assert_true(file.density == memory.density);
        assert_true(file.row_bytes == memory.row_bytes);
        assert_memory_equal(file.scaling.factor, memory.scaling.factor, COLS * sizeof(double));
        uc_first_look_free(&file);
        uc_first_look_free(&memory);
    }
    uc_dataset_free(&data);
}

/* The width is that of scaled rows: one column a thousand times as large as the others must not decide. */
static void the_width_is_the_median_of_scaled_rows(void **state)
{
    (void)state;
    uc_dataset data = sample_data(400, COLS, CLASSES, false, 12);
    for (size_t i = 0; i < 400; i++)
        data.X.values[i * data.X.stride] *= 1000.0f;
    const uc_train_settings train = looking(UC_SCALE_STANDARD, false);
    uc_first_look look;
    assert_ok(uc_first_look_at_data(&look, &data, &train, NULL));
    double median;
    assert_ok(uc_preprocessing_apply(&look.scaling, &data.X, NULL));
    assert_ok(uc_map_median_distance2(&median, &data.X, train.seed, NULL));
    assert_true(look.width == median);
    assert_true(look.width < 4.0 * COLS);
    uc_first_look_free(&look);
    uc_dataset_free(&data);
}

static void a_width_that_is_given_is_kept(void **state)
{
    (void)state;
    uc_dataset data = sample_data(40, COLS, CLASSES, false, 12);
    uc_train_settings train = looking(UC_SCALE_NONE, false);
    uc_first_look look;
    train.map.gamma = 0.25;
    assert_ok(uc_first_look_at_data(&look, &data, &train, NULL));
    assert_true(look.width == 4.0);
    uc_first_look_free(&look);
    train.map.map = UC_MAP_NONE;
    assert_ok(uc_first_look_at_data(&look, &data, &train, NULL));
    assert_true(isnan(look.width));
    assert_null(look.scaling.factor);
    uc_first_look_free(&look);
    uc_dataset_free(&data);
}

static void sparse_rows_are_not_shifted(void **state)
{
    (void)state;
    uc_dataset data = sample_data(40, COLS, CLASSES, true, 12);
    const uc_train_settings train = looking(UC_SCALE_STANDARD, false);
    uc_first_look look;
    assert_error_has(uc_first_look_at_data(&look, &data, &train, NULL), UC_ERR_INVALID,
                     "would turn the zeros of sparse data into other values");
    uc_dataset_free(&data);
}

/* ---- memory ---- */

typedef struct whole_run {
    const uc_dataset *data;
    const char *learner;
    uc_train_settings train;
    uc_session_settings session;
} whole_run;

static uc_status look_and_play(const whole_run *self)
{
    uc_first_look look = uc_first_look_none();
    uc_session *session = NULL;
    uc_status status = uc_first_look_at_data(&look, self->data, &self->train, NULL);
    if (status == UC_OK)
        status = uc_session_begin(&session, uc_learner_find(self->learner), NULL, &self->train,
                                  &self->session, &look, 2, NULL);
    if (status == UC_OK)
        status = uc_session_run_data(session, self->data, 2, true);
    if (status == UC_OK)
        status = uc_session_finish(session);
    uc_session_free(session);
    uc_first_look_free(&look);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = sample_data(30, 4, 3, false, 2);
    const whole_run full = {&data, "pa", looking(UC_SCALE_STANDARD, true), {.delay = 3, .missing = 0.1}};
    whole_run partial = {&data, "cspa", uc_train_defaults(), {.feedback = UC_FEEDBACK_PARTIAL, .delay = 70}};
    partial.train.scale = UC_SCALE_RANGE;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, look_and_play(&full));
    FOR_EACH_FAILING_ALLOCATION(status, look_and_play(&partial));
    uc_dataset_free(&data);
}

/* A queue of a million rows of 1,000 columns does not fit into 64 MB. */
static void what_does_not_fit_is_refused_beforehand(void **state)
{
    (void)state;
    const uc_context small = {.memory = 64 << 20};
    const char *const names[] = {"a", "b"};
    uc_first_look look = uc_first_look_none();
    look.classes = sample_names(names, 2);
    look.rows = 2000000;
    look.columns = 1000;
    look.density = 1.0;
    look.row_bytes = 4000.0;
    const uc_train_settings train = uc_train_defaults();
    const uc_learner *spa = uc_learner_find("spa");
    uc_session *session = NULL;
    uc_session_settings settings = {.delay = 1000000};
    assert_error_has(uc_session_begin(&session, spa, NULL, &train, &settings, &look, 1, &small), UC_ERR_NOMEM,
                     "spa with 1000 features and 2 classes");
    settings.delay = 1000;
    assert_ok(uc_session_begin(&session, spa, NULL, &train, &settings, &look, 1, &small));
    uc_session_free(session);
    uc_first_look_free(&look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_rounds_played_by_hand),
        cmocka_unit_test(a_session_behind_landmarks_is_rounds_played_by_hand),
        cmocka_unit_test(a_file_its_rows_and_prepared_rows_are_the_same_session),
        cmocka_unit_test(a_session_that_continues_never_stopped),
        cmocka_unit_test(labels_are_matched_by_name),
        cmocka_unit_test(an_unknown_label_becomes_a_class_or_is_refused),
        cmocka_unit_test(what_cannot_be_played_is_refused),
        cmocka_unit_test(the_curve_has_rounds_that_double_and_the_last),
        cmocka_unit_test(the_curve_may_be_asked_for_at_any_time),
        cmocka_unit_test(a_listener_can_end_the_session),
        cmocka_unit_test(a_file_and_its_rows_look_the_same),
        cmocka_unit_test(the_width_is_the_median_of_scaled_rows),
        cmocka_unit_test(a_width_that_is_given_is_kept),
        cmocka_unit_test(sparse_rows_are_not_shifted),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(what_does_not_fit_is_refused_beforehand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
