/* Other ways to the same learner, bit for bit: saved and resumed, trained, with rows prepared in blocks, with
 * late feedback. */
#include "tests/online_sample.h"

#include <stdlib.h>

enum { ROWS = 120, COLS = 9, CLASSES = 5 };

/* Resumes *online from a model of itself, through a file or not. */
static void stop_and_resume(uc_online **online, const char *path)
{
    uc_model *model, *back;
    assert_ok(uc_online_model(&model, *online, true));
    uc_online_free(*online);
    if (path) {
        assert_ok(uc_model_save(model, path));
        assert_ok(uc_model_load(&back, path));
        uc_model_free(model);
        model = back;
    }
    assert_ok(uc_online_resume(online, model));
    uc_model_free(model);
}

/* One stops in front of every row, the first included; one is only saved; one does neither. */
static void check_resumed(const online_setup *self, const uc_dataset *data, const uc_preprocessing *steps,
                          const char *path)
{
    uc_online *whole = online_begin(self, &data->classes, steps),
              *parts = online_begin(self, &data->classes, steps),
              *saved = online_begin(self, &data->classes, steps);
    for (size_t i = 0; i < ROWS; i++) {
        uc_model *model;
        const bool through_file = path && (i < 2 || i == 45 || i == ROWS - 1);
        stop_and_resume(&parts, through_file ? path : NULL);
        if (i % 3 == 0) {
            assert_ok(uc_online_model(&model, saved, i % 2));
            uc_model_free(model);
        }
        const uint32_t proposed = online_round(whole, data, i);
        assert_int_equal(online_round(parts, data, i), proposed);
        assert_int_equal(online_round(saved, data, i), proposed);
    }
    check_same_online(whole, parts);
    check_same_online(whole, saved);
    assert_int_equal(uc_online_rounds(whole), ROWS);
    assert_int_equal(uc_online_proposals(whole), uc_online_proposals(parts));
    assert_int_equal(uc_online_updates(whole), uc_online_updates(parts));
    assert_string_equal(uc_learner_name(uc_online_learner(parts)), self->learner);
    uc_online_free(whole);
    uc_online_free(parts);
    uc_online_free(saved);
}

static void a_learner_saved_and_resumed_never_stopped(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset dense = sample_data(ROWS, COLS, CLASSES, false, 5),
               sparse = sample_data(ROWS, COLS, CLASSES, true, 5);
    for (size_t s = 0; online_setup_number(&self, s); s++) {
        uc_preprocessing steps;
        const uc_dataset *data = s % 3 == 0 ? &sparse : &dense;
        self.train.scale = data == &dense ? (int)(s % 4) : UC_SCALE_MAXABS;
        assert_ok(learn_scaling(&steps, (uc_scaling)self.train.scale, &data->X));
        check_resumed(&self, data, &steps, s % 4 == 3 ? temporary_path("resumed.uc") : NULL);
        uc_preprocessing_free(&steps);
    }
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

static void a_learner_resumed_while_landmarks_arrive_never_stopped(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset dense = sample_data(ROWS, COLS, CLASSES, false, 6),
               sparse = sample_data(ROWS, COLS, CLASSES, true, 6);
    for (size_t s = 0; online_kind(&self, s); s++) {
        add_landmarks(&self, s % 2 ? 40 : ROWS + 10);
        self.train.average = (int)(s % 3 == 0);
        self.train.bias = s % 2 ? 0.5 : 0.0;
        self.train.normalize_input = (int)(s % 5 == 0);
        check_resumed(&self, s % 4 < 2 ? &dense : &sparse, NULL,
                      s % 4 == 1 ? temporary_path("map.uc") : NULL);
    }
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

/* ---- training is rounds ---- */

/* The classes are counted beforehand in both. */
static void a_pass_of_training_is_single_rounds(void **state)
{
    (void)state;
    online_setup self;
    for (size_t s = 0; online_setup_number(&self, s); s++) {
        uc_dataset data = sample_data(ROWS, COLS, CLASSES, s % 3 == 0, 7);
        self.train.shuffle = 0;
        self.train.passes = 2;
        uc_online *online = online_begin(&self, &data.classes, NULL);
        for (size_t i = 0; i < ROWS; i++)
            online->label_counts[data.y[i]]++;
        online->label_total = ROWS;
        online->counts_are_final = true;
        size_t errors = 0;
        for (size_t i = 0; i < 2 * ROWS; i++)
            errors += online_round(online, &data, i % ROWS) != data.y[i % ROWS] && i >= ROWS;
        uc_model *trained, *model;
        assert_ok(
            uc_train(&trained, uc_learner_find(self.learner), &self.settings, &self.train, &data, NULL));
        assert_ok(uc_online_model(&model, online, false));
        assert_int_equal(trained->dimension, model->dimension);
        assert_memory_equal(trained->weights, model->weights,
                            (model->dimension + 1) * model->stride * sizeof(double));
        assert_true(json_real_value(json_object_get(trained->summary, "training_error")) ==
                    (double)errors / ROWS);
        assert_int_equal(json_integer_value(json_object_get(trained->summary, "updates")),
                         uc_online_updates(online));
        uc_model_free(trained);
        uc_model_free(model);
        uc_online_free(online);
        uc_dataset_free(&data);
    }
}

/* ---- rows that are prepared in blocks ---- */

/* Plays rows first .. last-1 through prepared copies. */
static void play_block(uc_online *online, const uc_dataset *data, size_t first, size_t last)
{
    size_t numbers[ROWS] = {0};
    uc_matrix block, prepared;
    for (size_t i = first; i < last; i++)
        numbers[i - first] = i;
    assert_ok(uc_matrix_subset(&block, &data->X, numbers, last - first, NULL));
    assert_ok(uc_online_prepare(&prepared, online, &block, NULL));
    uc_matrix_free(&block);
    assert_int_equal(prepared.rows, last - first);
    for (size_t i = first; i < last; i++) {
        const uc_row row = uc_matrix_row(&prepared, i - first);
        uc_proposal proposal;
        assert_ok(uc_online_propose_prepared(&proposal, online, &row));
        assert_ok(
            uc_online_learn_prepared(online, &row, &proposal, online_answer(online, &proposal, data->y[i])));
    }
    uc_matrix_free(&prepared);
}

static void check_prepared(const online_setup *self, const uc_dataset *data, const uc_preprocessing *steps)
{
    static const size_t blocks[] = {1, 7, ROWS};
    uc_online *raw = online_begin(self, &data->classes, steps);
    assert_ok(uc_online_expect(raw, COLS, 1.0));
    for (size_t i = 0; i < ROWS; i++)
        online_round(raw, data, i);
    for (size_t b = 0; b < 3; b++) {
        uc_online *prepared = online_begin(self, &data->classes, steps);
        for (size_t i = 0; i < ROWS; i += blocks[b])
            play_block(prepared, data, i, i + blocks[b] < ROWS ? i + blocks[b] : ROWS);
        check_same_online(raw, prepared);
        uc_online_free(prepared);
    }
    uc_online_free(raw);
}

static void prepared_rows_are_raw_rows(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset dense = sample_data(ROWS, COLS, CLASSES, false, 8),
               sparse = sample_data(ROWS, COLS, CLASSES, true, 8);
    for (size_t s = 0; online_setup_number(&self, s); s++) {
        uc_preprocessing steps;
        const uc_dataset *data = s % 3 == 0 ? &sparse : &dense;
        self.train.scale = data == &dense ? (int)(s % 4) : UC_SCALE_MAXABS;
        assert_ok(learn_scaling(&steps, (uc_scaling)self.train.scale, &data->X));
        check_prepared(&self, data, &steps);
        uc_preprocessing_free(&steps);
    }
    for (size_t s = 0; online_kind(&self, s); s++)
        for (int kind = 0; kind < 4; kind++) {
            add_landmarks(&self, kind & 1 ? 40 : ROWS + 10);
            self.train.normalize_input = kind >> 1;
            check_prepared(&self, (s + (size_t)kind) % 2 ? &dense : &sparse, NULL);
        }
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

/* Every seed that is accepted must survive: the state is written as JSON, whose integers have a sign. */
static void the_largest_seed_is_refused_or_resumes(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b"};
    static const uint64_t seeds[] = {0, INT64_MAX, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1000};
    uc_names classes = sample_names(names, 2);
    for (size_t i = 0; i < 4; i++) {
        uc_train_settings train = uc_train_defaults();
        uc_online *online, *again;
        train.seed = seeds[i];
        if (uc_online_begin(&online, uc_learner_find("spa"), NULL, &train, &classes, NULL) != UC_OK)
            continue;
        uc_model *model;
        assert_ok(uc_online_model(&model, online, true));
        uc_online_free(online);
        const uc_status status = uc_online_resume(&again, model);
        uc_model_free(model);
        assert_int_equal(status, UC_OK);
        assert_true(again->train.seed == seeds[i]);
        uc_online_free(again);
    }
    uc_names_free(&classes);
}

/* Labels that come 5 rounds late: the step uses the scores of now, so it equals learning row after row. */
static void late_labels_are_learned_from_with_the_scores_of_now(void **state)
{
    (void)state;
    online_setup self;
    enum { DELAY = 5 };
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 6);
    for (size_t s = 0; online_setup_number(&self, s); s++) {
        if (!uc_learner_accepts(uc_learner_find(self.learner), UC_FEEDBACK_FULL))
            continue;
        uc_online *prompt = online_begin(&self, &data.classes, NULL),
                  *late = online_begin(&self, &data.classes, NULL);
        uc_proposal proposals[ROWS];
        for (size_t i = 0; i < ROWS + DELAY; i++) {
            if (i < ROWS) {
                const uc_row row = uc_matrix_row(&data.X, i);
                assert_ok(uc_online_propose(&proposals[i], late, &row));
            }
            if (i >= DELAY) {
                const uc_row row = uc_matrix_row(&data.X, i - DELAY);
                assert_ok(uc_online_learn(late, &row, &proposals[i - DELAY],
                                          (uc_answer){UC_ANSWER_LABEL, data.y[i - DELAY]}));
            }
        }
        for (size_t i = 0; i < ROWS; i++)
            online_round(prompt, &data, i);
        check_same_online(prompt, late);
        uc_online_free(prompt);
        uc_online_free(late);
    }
    uc_dataset_free(&data);
}

/* Answers arrive 5 rounds late, or never (every seventh). A second learner proposes nothing itself: it only
 * learns from the same rows with the same proposals, and ends with the same weights. */
static void late_answers_are_learned_from_with_the_scores_of_now(void **state)
{
    (void)state;
    online_setup self;
    enum { DELAY = 5 };
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 9);
    for (size_t s = 0; online_setup_number(&self, s); s++) {
        uc_online *late = online_begin(&self, &data.classes, NULL),
                  *told = online_begin(&self, &data.classes, NULL);
        assert_ok(uc_online_expect(told, COLS, 1.0));
        uc_proposal proposals[ROWS];
        for (size_t i = 0; i < ROWS + DELAY; i++) {
            if (i < ROWS) {
                const uc_row row = uc_matrix_row(&data.X, i);
                assert_ok(uc_online_propose(&proposals[i], late, &row));
            }
            if (i < DELAY || i % 7 == 0)
                continue;
            const size_t past = i - DELAY;
            const uc_row row = uc_matrix_row(&data.X, past);
            const uc_answer answer = online_answer(late, &proposals[past], data.y[past]);
            uc_proposal again = proposals[past];
            again.ticket = UINT64_MAX;
            assert_ok(uc_online_learn(late, &row, &proposals[past], answer));
            assert_ok(uc_online_learn(told, &row, &again, answer));
            for (size_t p = 0; p < UC_PLANES; p++)
                if (late->plane[p])
                    assert_memory_equal(late->plane[p], told->plane[p],
                                        (COLS + 1) * late->stride * sizeof(double));
        }
        assert_int_equal(uc_online_updates(late), uc_online_updates(told));
        uc_online_free(late);
        uc_online_free(told);
    }
    uc_dataset_free(&data);
}

/* A proposal is answered by the learner that was resumed since, after others: its row is scored anew,
 * whatever came between. */
static void answers_to_proposals_from_before_a_resume_are_learned_on_their_row(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 5);
    const uc_row row = uc_matrix_row(&data.X, 30);
    for (size_t s = 0; online_setup_number(&self, s); s++)
        for (size_t between = 0; between < 12; between++) {
            uc_online *online = online_begin(&self, &data.classes, NULL), *forced;
            for (size_t i = 0; i < 5; i++)
                online_round(online, &data, i);
            uc_proposal proposal, other;
            assert_ok(uc_online_propose(&proposal, online, &row));
            const uc_answer answer = online_answer(online, &proposal, data.y[30]);
            uc_model *model;
            assert_ok(uc_online_model(&model, online, true));
            uc_online_free(online);
            assert_ok(uc_online_resume(&online, model));
            assert_ok(uc_online_resume(&forced, model));
            for (size_t i = 0; i < between; i++) {
                const uc_row next = uc_matrix_row(&data.X, 31 + i);
                assert_ok(uc_online_propose(&other, online, &next));
                assert_ok(uc_online_propose(&other, forced, &next));
            }
            assert_ok(uc_online_learn(online, &row, &proposal, answer));
            proposal.ticket = UINT64_MAX;
            assert_ok(uc_online_learn(forced, &row, &proposal, answer));
            check_same_online(online, forced);
            uc_model_free(model);
            uc_online_free(online);
            uc_online_free(forced);
        }
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_learner_saved_and_resumed_never_stopped),
        cmocka_unit_test(a_learner_resumed_while_landmarks_arrive_never_stopped),
        cmocka_unit_test(a_pass_of_training_is_single_rounds),
        cmocka_unit_test(prepared_rows_are_raw_rows),
        cmocka_unit_test(the_largest_seed_is_refused_or_resumes),
        cmocka_unit_test(late_labels_are_learned_from_with_the_scores_of_now),
        cmocka_unit_test(late_answers_are_learned_from_with_the_scores_of_now),
        cmocka_unit_test(answers_to_proposals_from_before_a_resume_are_learned_on_their_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
