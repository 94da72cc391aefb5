/* onebit as a whole: resumed at any round, its model, its memory, what must not matter, and what goes
 * wrong. */
#include "tests/online_sample.h"

#include <math.h>
#include <stdlib.h>

#include "map/map.h"
#include "model/model.h"

enum { ROWS = 140, COLS = 6, CLASSES = 4 };

static online_setup setup_of(uint64_t memory_rounds)
{
    online_setup self = {.learner = "onebit", .train = uc_train_defaults()};
    uc_options_defaults(uc_learner_options(uc_learner_find("onebit")), &self.settings.onebit);
    self.settings.onebit.memory_rounds = memory_rounds;
    return self;
}

/* Rows of 200 columns, of which three are not 0: counts. */
static uc_dataset text_data(size_t rows)
{
    uc_rng rng = uc_rng_make(4, 9);
    uc_dataset data = sample_data(rows, 200, CLASSES, true, 1);
    uint64_t filled = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t column = (uint32_t)uc_rng_below(&rng, 8);
        for (size_t e = 0; e < 3; e++) {
            data.X.columns[filled] = column + 40 * data.y[i] * (uint32_t)(e < 2);
            data.X.values[filled] = (float)(1 + uc_rng_below(&rng, 5));
            column += 1 + (uint32_t)uc_rng_below(&rng, 8);
            if (e == 1)
                column += 160 - 16;
            filled++;
        }
        data.X.offsets[i + 1] = filled;
    }
    return data;
}

static void stop_and_resume(uc_online **online, bool through_file)
{
    uc_model *model, *back;
    assert_ok(uc_online_model(&model, *online, true));
    uc_online_free(*online);
    if (through_file) {
        assert_ok(uc_model_save(model, temporary_path("onebit.uc")));
        assert_ok(uc_model_load(&back, temporary_path("onebit.uc")));
        uc_model_free(model);
        model = back;
    }
    assert_ok(uc_online_resume(online, model));
    uc_model_free(model);
}

/* Maps at 16, 32, 64 and 128, refits in between, rounds that are dropped from memory, and a restart. */
static void check_resumed(const uc_dataset *data, const uc_preprocessing *scaling, uint64_t memory_rounds)
{
    const online_setup self = setup_of(memory_rounds);
    uc_online *whole = online_begin(&self, &data->classes, scaling),
              *parts = online_begin(&self, &data->classes, scaling);
    for (size_t i = 0; i < 3 * data->X.rows; i++) {
        const size_t row = i % data->X.rows;
        const uint32_t y = (data->y[row] + (uint32_t)(i > 2 * data->X.rows)) % CLASSES; /* renumbered */
        stop_and_resume(&parts, i % 29 == 0);
        const uc_row x = uc_matrix_row(&data->X, row);
        assert_int_equal(online_round_on(whole, x, y), online_round_on(parts, x, y));
    }
    check_same_online(whole, parts);
    uc_online_free(whole);
    uc_online_free(parts);
}

static void resuming_at_any_round_is_never_stopping(void **state)
{
    (void)state;
    uc_dataset dense = sample_data(ROWS, COLS, CLASSES, false, 5), text = text_data(ROWS);
    uc_dataset wide = sample_data(30, 5000, CLASSES, false, 6);
    uc_preprocessing scaling;
    assert_ok(learn_scaling(&scaling, UC_SCALE_RANGE, &dense.X));
    check_resumed(&dense, NULL, 10000);
    check_resumed(&dense, &scaling, 90);
    check_resumed(&text, NULL, 60);
    check_resumed(&wide, NULL, 10000);
    uc_preprocessing_free(&scaling);
    uc_dataset_free(&dense);
    uc_dataset_free(&wide);
    uc_dataset_free(&text);
}

/* The scores of a model are those by which the learner would propose, without the bonus. */
static void check_model(const uc_dataset *data, const uc_preprocessing *scaling, int normalize,
                        double tolerance)
{
    online_setup self = setup_of(1000);
    self.train.normalize = normalize;
    uc_online *online = online_begin(&self, &data->classes, scaling);
    double scores[CLASSES];
    for (size_t i = 0; i < data->X.rows; i++) {
        uc_model *model, *back;
        const uc_row row = uc_matrix_row(&data->X, i);
        if (i % 13 == 5) {
            uc_matrix one = {0};
            uc_proposal proposal;
            assert_ok(uc_online_model(&model, online, false));
            assert_ok(uc_model_save(model, temporary_path("model.uc")));
            assert_ok(uc_model_load(&back, temporary_path("model.uc")));
            assert_ok(uc_matrix_subset(&one, &data->X, &i, 1, NULL));
            assert_ok(uc_model_scores(scores, back, &one, NULL));
            assert_ok(uc_online_propose(&proposal, online, &row));
            for (size_t k = 0; k < CLASSES; k++)
                assert_near(scores[k], online->scores[k], tolerance);
            uc_matrix_free(&one);
            uc_model_free(model);
            uc_model_free(back);
        }
        online_round(online, data, i);
    }
    uc_online_free(online);
}

static void the_model_scores_as_the_learner(void **state)
{
    (void)state;
    uc_dataset dense = sample_data(ROWS, COLS, CLASSES, false, 6), text = text_data(ROWS);
    uc_preprocessing scaling;
    assert_ok(learn_scaling(&scaling, UC_SCALE_STANDARD, &dense.X));
    check_model(&dense, NULL, 0, 1e-12);
    check_model(&dense, &scaling, 0, 1e-12);
    check_model(&dense, &scaling, 1, 1e-6);
    check_model(&text, NULL, 0,
                0.2); /* the row at hand counts in the learner's frequencies, not in the model's */
    check_model(&text, NULL, 1, 0.2);
    uc_preprocessing_free(&scaling);
    uc_dataset_free(&dense);
    uc_dataset_free(&text);
}

static size_t right_of(const online_setup *self, const uc_dataset *data, uint32_t *proposed)
{
    uc_online *online = online_begin(self, &data->classes, NULL);
    size_t right = 0;
    for (size_t i = 0; i < data->X.rows; i++) {
        const uint32_t label = online_round(online, data, i);
        right += label == data->y[i];
        if (proposed)
            proposed[i] = label;
    }
    uc_online_free(online);
    return right;
}

static void the_order_of_columns_does_not_matter(void **state)
{
    (void)state;
    const online_setup self = setup_of(1000);
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 7),
               moved = sample_data(ROWS, COLS, CLASSES, false, 7);
    uint32_t a[ROWS], b[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLS; j++)
            moved.X.values[i * moved.X.stride + (5 * j + 2) % COLS] = data.X.values[i * data.X.stride + j];
    right_of(&self, &data, a);
    right_of(&self, &moved, b);
    assert_memory_equal(a, b, sizeof a);
    uc_dataset_free(&data);
    uc_dataset_free(&moved);
}

/* The first proposals are ties, which go to the lowest class: exactly the same it cannot be. */
static void numbering_classes_otherwise_is_as_good(void **state)
{
    (void)state;
    enum { MANY = 600 };
    const online_setup self = setup_of(1000);
    double right[2] = {0.0, 0.0};
    for (uint64_t seed = 0; seed < 4; seed++) {
        uc_dataset data = sample_data(MANY, COLS, CLASSES, false, 20 + seed);
        right[0] += (double)right_of(&self, &data, NULL);
        for (size_t i = 0; i < MANY; i++)
            data.y[i] = (data.y[i] + 1) % CLASSES;
        right[1] += (double)right_of(&self, &data, NULL);
        uc_dataset_free(&data);
    }
    assert_true(right[0] > 0.5 * 4 * MANY);
    assert_near(right[0], right[1], 0.03 * 4 * MANY);
}

/* No column is too large, none too small. */
static void units_of_columns_do_not_matter(void **state)
{
    (void)state;
    enum { MANY = 600 };
    const online_setup self = setup_of(1000);
    uc_dataset data = sample_data(MANY, COLS, CLASSES, false, 9),
               other = sample_data(MANY, COLS, CLASSES, false, 9);
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = 0; j < COLS; j++)
            other.X.values[i * other.X.stride + j] *= j % 2 ? 1024.0f : 1.0f;
    const size_t plain = right_of(&self, &data, NULL), scaled = right_of(&self, &other, NULL);
    assert_true((double)plain > 0.5 * MANY && (double)scaled > (double)plain - 0.08 * MANY);
    uc_dataset_free(&data);
    uc_dataset_free(&other);
}

/* ---- change ---- */

/* Labels are renumbered after 500 rounds. */
static size_t right_after_a_change(int restart)
{
    enum { MANY = 1000 };
    online_setup self = setup_of(10000);
    self.settings.onebit.restart = restart;
    uc_dataset data = sample_data(MANY, COLS, CLASSES, false, 10);
    for (size_t i = MANY / 2; i < MANY; i++)
        data.y[i] = (data.y[i] + 1) % CLASSES;
    uint32_t proposed[MANY];
    size_t right = 0;
    right_of(&self, &data, proposed);
    for (size_t i = MANY - 250; i < MANY; i++)
        right += proposed[i] == data.y[i];
    uc_dataset_free(&data);
    return right;
}

static void it_recovers_when_classes_are_renumbered(void **state)
{
    (void)state;
    assert_true((double)right_after_a_change(1) > 0.65 * 250);
    assert_true((double)right_after_a_change(0) < 0.5 * 250);
}

/* Eight places on a circle are eight classes, of which two change places after half of the rounds. Right
 * proposals of the last 500 of 3,000. */
static size_t right_after_two_change(int restart, uint64_t seed)
{
    enum { MANY = 3000, EIGHT = 8, LAST = 500 };
    online_setup self = setup_of(10000);
    self.settings.onebit.restart = restart;
    self.train.map.dimension = 64;
    uc_dataset names = sample_data(10, 2, EIGHT, false, 1);
    uc_online *online = online_begin(&self, &names.classes, NULL);
    uc_rng rng = uc_rng_make(seed, 42);
    size_t right = 0;
    for (size_t i = 0; i < MANY; i++) {
        uint32_t y = (uint32_t)uc_rng_below(&rng, EIGHT);
        const double angle = acos(-1.0) * y / 4.0;
        const float x[2] = {(float)(3.0 * cos(angle) + 0.4 * uc_rng_normal(&rng)),
                            (float)(3.0 * sin(angle) + 0.4 * uc_rng_normal(&rng))};
        if (i >= MANY / 2 && y < 2)
            y = 1 - y;
        right += online_round_on(online, (uc_row){2, x, NULL}, y) == y && i >= MANY - LAST;
    }
    uc_online_free(online);
    uc_dataset_free(&names);
    return right;
}

/* More than half of the proposals stay right. */
static void it_recovers_when_two_of_eight_classes_change_places(void **state)
{
    (void)state;
    size_t with = 0, without = 0;
    for (uint64_t seed = 50; seed < 54; seed++) {
        with += right_after_two_change(1, seed);
        without += right_after_two_change(0, seed);
    }
    print_message("right in the last 2,000 rounds: %zu, with --no-restart %zu\n", with, without);
    assert_true(with > without + 150);
}

static void a_class_that_arrives_is_found(void **state)
{
    (void)state;
    const online_setup self = setup_of(10000);
    uc_dataset data = sample_data(1000, COLS, CLASSES, false, 11);
    uc_names three = {0};
    uint32_t index;
    for (size_t k = 0; k + 1 < CLASSES; k++)
        assert_ok(uc_names_add(&index, &three, data.classes.text[k], strlen(data.classes.text[k])));
    uc_online *online = online_begin(&self, &three, NULL);
    size_t right = 0, seen = 0;
    for (size_t i = 0; i < 1000; i++) {
        if (i == 300)
            assert_ok(uc_online_add_class(&index, online, data.classes.text[CLASSES - 1]));
        if (i < 300 && data.y[i] == CLASSES - 1)
            continue;
        const uint32_t label = online_round(online, &data, i);
        if (i >= 600 && data.y[i] == CLASSES - 1) {
            right += label == data.y[i];
            seen++;
        }
    }
    assert_true(seen > 50 && (double)right > 0.4 * (double)seen);
    uc_online_free(online);
    uc_names_free(&three);
    uc_dataset_free(&data);
}

/* 1/sqrt(K sum p^2), p_k = (n_k + .1)/(sum n + .1 K): the cosine of p and equal shares. */
static double slow_evenness(const double *right)
{
    double sum = 0.0, squares = 0.0;
    for (size_t k = 0; k < CLASSES; k++) {
        sum += right[k] + 0.1;
        squares += pow(right[k] + 0.1, 2.0);
    }
    return sum / sqrt(CLASSES * squares);
}

/* Proposals are the largest s_k + b e u/((1 + n^2/m) sqrt(1 + m)), n right of m proposed, e as above, u = 1
 * less the best score. */
static void check_bonus(double b)
{
    online_setup self = setup_of(10000);
    uc_dataset data = sample_data(300, COLS, CLASSES, false, 14);
    double right[CLASSES] = {0}, proposed[CLASSES] = {0};
    self.settings.onebit.bonus = b;
    self.settings.onebit.restart = false;
    uc_online *online = online_begin(&self, &data.classes, NULL);
    for (size_t i = 0; i < 300; i++) {
        double sums[CLASSES], most = -INFINITY, best = -INFINITY;
        const uc_row row = uc_matrix_row(&data.X, i);
        uc_proposal proposal;
        uc_answer answer = {UC_ANSWER_WRONG, 0};
        assert_ok(uc_online_propose(&proposal, online, &row));
        for (size_t k = 0; k < CLASSES; k++)
            best = fmax(best, online->scores[k] + 1.0 / CLASSES);
        const double u = fmin(1.0, fmax(0.01, 1.0 - best)), e = slow_evenness(right);
        for (size_t k = 0; k < CLASSES; k++) {
            const double found = proposed[k] > 0.0 ? right[k] * right[k] / proposed[k] : 0.0;
            sums[k] = online->scores[k] + b * e * u / ((1.0 + found) * sqrt(1.0 + proposed[k]));
            most = fmax(most, sums[k]);
        }
        assert_near(sums[proposal.label], most, 1e-12 * fmax(1.0, most));
        if (proposal.label == data.y[i])
            answer.kind = UC_ANSWER_RIGHT;
        assert_ok(uc_online_learn(online, &row, &proposal, answer));
        proposed[proposal.label]++;
        right[proposal.label] += proposal.label == data.y[i];
    }
    uc_online_free(online);
    uc_dataset_free(&data);
}

static void the_bonus_is_for_classes_that_are_seldom_right(void **state)
{
    (void)state;
    check_bonus(1e6); /* outweighs all scores */
    check_bonus(4.0);
    check_bonus(0.0);
}

/* Columns that come later are used by the next map. */
static void columns_may_come_later(void **state)
{
    (void)state;
    const online_setup self = setup_of(10000);
    uc_dataset data = sample_data(400, COLS, CLASSES, false, 12);
    uc_online *online = online_begin(&self, &data.classes, NULL);
    size_t right = 0;
    for (size_t i = 0; i < 400; i++) {
        uc_row row = uc_matrix_row(&data.X, i);
        if (i < 20)
            row.count = 3;
        const uint32_t label = online_round_on(online, row, data.y[i]);
        right += i >= 200 && label == data.y[i];
    }
    assert_true((double)right > 0.5 * 200);
    uc_online_free(online);
    uc_dataset_free(&data);
}

/* ---- labels ---- */

/* Right or wrong, with the label after every `labels`-th wrong proposal; 0: never. */
static size_t right_with_labels(const uc_dataset *data, size_t labels)
{
    const online_setup self = setup_of(10000);
    uc_online *online = online_begin(&self, &data->classes, NULL);
    size_t right = 0, wrong = 0;
    for (size_t i = 0; i < data->X.rows; i++) {
        const uc_row row = uc_matrix_row(&data->X, i);
        uc_proposal proposal;
        assert_ok(uc_online_propose(&proposal, online, &row));
        uc_answer answer = {UC_ANSWER_RIGHT, 0};
        if (proposal.label != data->y[i])
            answer.kind = UC_ANSWER_WRONG;
        if (answer.kind == UC_ANSWER_WRONG && labels > 0 && ++wrong % labels == 0)
            answer = (uc_answer){UC_ANSWER_LABEL, data->y[i]};
        assert_ok(uc_online_learn(online, &row, &proposal, answer));
        right += proposal.label == data->y[i];
    }
    uc_online_free(online);
    return right;
}

static void a_label_teaches_more_than_wrong(void **state)
{
    (void)state;
    size_t none = 0, some = 0, all = 0;
    for (uint64_t seed = 30; seed < 34; seed++) {
        uc_dataset data = sample_data(400, COLS, 8, false, seed);
        none += right_with_labels(&data, 0);
        some += right_with_labels(&data, 3);
        all += right_with_labels(&data, 1);
        uc_dataset_free(&data);
    }
    print_message("right of 1,600: %zu without labels, %zu with some, %zu with all\n", none, some, all);
    assert_true(some > none + 30 && all > some + 10);
}

/* With a label in every round no class must be searched for, so a class costs the round in which it is first
 * seen and few more. */
static void labels_leave_nothing_to_find(void **state)
{
    (void)state;
    enum { MANY = 1000, EIGHT = 8 };
    uc_dataset data = sample_data(MANY, 2, EIGHT, false, 1);
    uc_rng rng = uc_rng_make(15, 42);
    size_t wrong = 0;
    for (size_t i = 0; i < MANY; i++) {
        const double angle = acos(-1.0) * data.y[i] / 4.0;
        float *x = data.X.values + i * data.X.stride;
        x[0] = (float)(3.0 * cos(angle) + 0.2 * uc_rng_normal(&rng));
        x[1] = (float)(3.0 * sin(angle) + 0.2 * uc_rng_normal(&rng));
    }
    wrong = MANY - right_with_labels(&data, 1);
    const size_t without = MANY - right_with_labels(&data, 0);
    print_message("wrong of 1,000 easy rounds: %zu with labels, %zu without\n", wrong, without);
    assert_true(wrong <= 2 * EIGHT && wrong < without);
    uc_dataset_free(&data);
}

/* ---- bounds ---- */

static void memory_is_bounded(void **state)
{
    (void)state;
    const online_setup self = setup_of(60);
    uc_dataset data = sample_data(700, COLS, CLASSES, false, 13);
    uc_online *online = online_begin(&self, &data.classes, NULL);
    uc_model *model;
    for (size_t i = 0; i < 700; i++)
        online_round(online, &data, i);
    assert_ok(uc_online_model(&model, online, true));
    const uc_array *answers = uc_model_state_find(&model->state, "state.rounds.answer");
    assert_int_equal(answers->count, 60);
    assert_true(model->preprocessing.map->landmarks.rows <= 60);
    uc_model_free(model);
    uc_online_free(online);
    uc_dataset_free(&data);
}

static void the_dimension_is_that_of_the_map(void **state)
{
    (void)state;
    online_setup self = setup_of(1000);
    self.train.map.dimension = 20;
    uc_dataset data = sample_data(200, COLS, CLASSES, false, 13);
    uc_online *online = online_begin(&self, &data.classes, NULL);
    for (size_t i = 0; i < 200; i++) {
        if (i == 30)
            stop_and_resume(&online, true);
        online_round(online, &data, i);
    }
    uc_model *model;
    assert_ok(uc_online_model(&model, online, false));
    assert_int_equal(uc_map_landmarks(model->preprocessing.map), 20);
    assert_int_equal(uc_model_dimension(model), 20 + COLS);
    uc_model_free(model);
    uc_online_free(online);
    uc_dataset_free(&data);
}

/* ---- what goes wrong ---- */

static uc_status run_short(const uc_dataset *data, size_t rounds)
{
    const online_setup self = setup_of(50);
    uc_online *online = NULL;
    uc_model *model = NULL;
    uc_status status = uc_online_begin(&online, uc_learner_find("onebit"), &self.settings, &self.train,
                                       &data->classes, NULL);
    for (size_t i = 0; i < rounds && status == UC_OK; i++) {
        const uc_row row = uc_matrix_row(&data->X, i);
        uc_proposal proposal;
        status = uc_online_propose(&proposal, online, &row);
        if (status == UC_OK)
            status = uc_online_learn(online, &row, &proposal, online_answer(online, &proposal, data->y[i]));
    }
    if (status == UC_OK)
        status = uc_online_model(&model, online, true);
    uc_online_free(online);
    online = NULL;
    if (status == UC_OK)
        status = uc_online_resume(&online, model);
    uc_online_free(online);
    uc_model_free(model);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset dense = sample_data(40, 3, 3, false, 14), text = text_data(20);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, run_short(&dense, 34));
    assert_ok(status);
    FOR_EACH_FAILING_ALLOCATION(status, run_short(&text, 12));
    assert_ok(status);
    uc_dataset_free(&dense);
    uc_dataset_free(&text);
}

static void what_it_cannot_do_is_said(void **state)
{
    (void)state;
    online_setup self = setup_of(100);
    uc_dataset text = text_data(10);
    uc_online *online = NULL;
    uc_preprocessing scaling;
    add_landmarks(&self, 10);
    assert_error(
        uc_online_begin(&online, uc_learner_find("onebit"), &self.settings, &self.train, &text.classes, NULL),
        UC_ERR_INVALID, "onebit makes a map of its own: leave out {map}");
    self = setup_of(49);
    assert_error_has(
        uc_online_begin(&online, uc_learner_find("onebit"), &self.settings, &self.train, &text.classes, NULL),
        UC_ERR_OPTION, "memory-rounds");
    self = setup_of(100);
    assert_ok(learn_scaling(&scaling, UC_SCALE_MAXABS, &text.X));
    assert_ok(uc_online_begin(&online, uc_learner_find("onebit"), &self.settings, &self.train, &text.classes,
                              &scaling));
    const uc_row row = uc_matrix_row(&text.X, 0);
    uc_proposal proposal;
    assert_error(uc_online_propose(&proposal, online, &row), UC_ERR_INVALID,
                 "onebit weighs the columns of sparse rows by itself: leave out {scale}");
    uc_online_free(online);
    uc_preprocessing_free(&scaling);
    uc_dataset_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resuming_at_any_round_is_never_stopping),
        cmocka_unit_test(the_model_scores_as_the_learner),
        cmocka_unit_test(the_order_of_columns_does_not_matter),
        cmocka_unit_test(numbering_classes_otherwise_is_as_good),
        cmocka_unit_test(units_of_columns_do_not_matter),
        cmocka_unit_test(it_recovers_when_classes_are_renumbered),
        cmocka_unit_test(it_recovers_when_two_of_eight_classes_change_places),
        cmocka_unit_test(a_class_that_arrives_is_found),
        cmocka_unit_test(the_bonus_is_for_classes_that_are_seldom_right),
        cmocka_unit_test(columns_may_come_later),
        cmocka_unit_test(a_label_teaches_more_than_wrong),
        cmocka_unit_test(labels_leave_nothing_to_find),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(the_dimension_is_that_of_the_map),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(what_it_cannot_do_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
