/* Learning one example at a time: averages, growth, resuming, delays, against plain bookkeeping. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "learn/online.h"

enum { ROWS = 120, COLS = 9, CLASSES = 5 };

typedef struct setup {
    const char *learner;
    uc_pa_settings pa; /* of pa and spa */
    uc_perceptron_settings perceptron;
    uc_train_settings train;
} setup;

static const void *settings_of(const setup *self)
{
    return strcmp(self->learner, "perceptron") == 0 ? (const void *)&self->perceptron
                                                    : (const void *)&self->pa;
}

/* Setup number i of many: every learner and variant, with and without averaging, bias, class weights, unit
 * length. */
static bool setup_number(setup *out, size_t i)
{
    static const char *const learners[] = {"perceptron", "pa", "spa"};
    if (i >= 48)
        return false;
    *out = (setup){.learner = learners[i % 3], .train = uc_train_defaults()};
    out->pa = (uc_pa_settings){.variant = (int)(i / 3 % 3), .cost = 0.3, .class_weight = (int)(i / 9 % 2)};
    out->perceptron = (uc_perceptron_settings){.step = (int)(i / 3 % 2), .class_weight = (int)(i / 9 % 2)};
    out->train.average = (int)(i / 2 % 2);
    out->train.bias = i / 4 % 2 ? 0.5 : 0.0;
    out->train.normalize = (int)(i / 5 % 2);
    return true;
}

static uc_online *begin(const setup *self, const uc_names *classes, const uc_steps *steps)
{
    uc_online *online = NULL;
    assert_ok(uc_online_begin(&online, uc_learner_find(self->learner), settings_of(self), &self->train,
                              classes, steps));
    return online;
}

static uint32_t one_round(uc_online *online, const uc_dataset *data, size_t i)
{
    const uc_row row = uc_matrix_row(&data->X, i);
    uc_proposal proposal;
    assert_ok(uc_online_propose(&proposal, online, &row));
    assert_true(proposal.probability == 1.0);
    assert_ok(uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, data->y[i]}));
    return proposal.label;
}

static void check_same_bits(const uc_online *a, const uc_online *b)
{
    uc_model *x, *y;
    assert_ok(uc_online_model(&x, a, true));
    assert_ok(uc_online_model(&y, b, true));
    assert_int_equal(x->features, y->features);
    assert_int_equal(x->stride, y->stride);
    const size_t bytes = (x->features + 1) * x->stride * sizeof(double);
    assert_memory_equal(x->weights, y->weights, bytes);
    assert_int_equal(x->state.count, y->state.count);
    for (size_t i = 0; i < x->state.count; i++) {
        const uc_array *a_array = &x->state.arrays[i], *b_array = &y->state.arrays[i];
        assert_string_equal(a_array->name, b_array->name);
        assert_int_equal(a_array->count, b_array->count);
        assert_memory_equal(a_array->data, b_array->data, a_array->count * uc_array_item_size(a_array->type));
    }
    assert_true(json_equal(x->state.counters, y->state.counters));
    assert_true(json_equal(x->settings, y->settings));
    uc_model_free(x);
    uc_model_free(y);
}

/* The iterates of a learner that does not average, kept one by one and added up. */
static void the_average_is_the_plain_mean_of_the_iterates(void **state)
{
    (void)state;
    setup self;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 1);
    for (size_t s = 0; setup_number(&self, s); s++) {
        self.train.average = 0;
        uc_online *plain = begin(&self, &data.classes, NULL);
        self.train.average = 1;
        uc_online *averaged = begin(&self, &data.classes, NULL);
        double sum[(COLS + 1) * 8] = {0};
        uc_model *iterate, *mean;
        for (size_t i = 0; i < ROWS; i++) {
            assert_int_equal(one_round(plain, &data, i),
                             one_round(averaged, &data, i)); /* averaging proposes nothing */
            assert_ok(uc_online_model(&iterate, plain, false));
            for (size_t w = 0; w < (COLS + 1) * 8; w++)
                sum[w] += iterate->weights[w];
            uc_model_free(iterate);
            if (i % 40 != 39)
                continue;
            assert_ok(uc_online_model(&mean, averaged, false));
            for (size_t w = 0; w < (COLS + 1) * 8; w++)
                assert_near(mean->weights[w], sum[w] / (double)(i + 1), 1e-11);
            uc_model_free(mean);
        }
        uc_online_free(plain);
        uc_online_free(averaged);
    }
    uc_dataset_free(&data);
}

/* Class weights by plain bookkeeping: n/(K n_label) over the labels so far, the current one included. */
static void class_weights_follow_the_labels_so_far(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 2);
    const setup self = {.learner = "perceptron",
                        .perceptron = {.step = 0, .class_weight = UC_CLASS_WEIGHT_BALANCED},
                        .train = uc_train_defaults()};
    uc_online *online = begin(&self, &data.classes, NULL);
    double W[COLS][CLASSES] = {{0}}, counts[CLASSES] = {0};
    for (size_t i = 0; i < ROWS; i++) {
        const float *x = data.X.values + i * data.X.stride;
        const uint32_t y = data.y[i];
        double scores[CLASSES] = {0}, present = 0.0;
        for (size_t j = 0; j < COLS; j++)
            for (size_t k = 0; k < CLASSES; k++)
                scores[k] += W[j][k] * (double)x[j];
        counts[y] += 1.0;
        for (size_t k = 0; k < CLASSES; k++)
            present += counts[k] > 0.0;
        size_t worst = CLASSES;
        for (size_t k = 0; k < CLASSES; k++)
            if (k != y && scores[k] >= scores[y] - 1e-12 &&
                (worst == CLASSES || scores[k] > scores[worst] + 1e-12))
                worst = k;
        const double weight = (double)(i + 1) / (present * counts[y]);
        for (size_t j = 0; j < COLS && worst < CLASSES; j++) {
            W[j][y] += weight * (double)x[j];
            W[j][worst] -= weight * (double)x[j];
        }
        one_round(online, &data, i);
        for (size_t j = 0; j < COLS; j++)
            for (size_t k = 0; k < CLASSES; k++)
                assert_near(online->plane[UC_WEIGHTS][(j + 1) * online->stride + k], W[j][k], 1e-10);
    }
    uc_online_free(online);
    uc_dataset_free(&data);
}

static void sparse_rows_are_dense_rows(void **state)
{
    (void)state;
    setup self;
    uc_dataset dense = sample_data(ROWS, COLS, CLASSES, false, 3),
               sparse = sample_data(ROWS, COLS, CLASSES, true, 3);
    for (size_t s = 0; setup_number(&self, s); s++) {
        uc_online *a = begin(&self, &dense.classes, NULL), *b = begin(&self, &dense.classes, NULL);
        for (size_t i = 0; i < ROWS; i++) {
            one_round(a, &dense, i);
            one_round(b, &sparse, i);
        }
        assert_int_equal(uc_online_updates(a), uc_online_updates(b));
        uc_model *x, *y;
        assert_ok(uc_online_model(&x, a, false));
        assert_ok(uc_online_model(&y, b, false));
        for (size_t w = 0; w < (COLS + 1) * x->stride; w++)
            assert_near(x->weights[w], y->weights[w], 1e-10);
        uc_model_free(x);
        uc_model_free(y);
        uc_online_free(a);
        uc_online_free(b);
    }
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

/* Feature j appears in row 10 j, class k in row 7 k: sparse rows in any case. */
static uc_dataset growing_data(void)
{
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, true, 4);
    for (size_t i = 0; i < ROWS; i++) {
        const uint32_t classes = (uint32_t)(1 + i / 7);
        if (data.y[i] >= classes)
            data.y[i] %= classes;
        if (i % 7 == 0 && i / 7 < CLASSES)
            data.y[i] = (uint32_t)(i / 7);
    }
    return data;
}

/* Rows cut to the columns that have "appeared" so far. */
static uc_row cut_row(const uc_dataset *data, size_t i)
{
    uc_row row = uc_matrix_row(&data->X, i);
    while (row.count > 0 && row.columns[row.count - 1] > i / 10)
        row.count--;
    return row;
}

/* Columns that appear as the stream goes on, and classes that are named one by one before it begins. */
static void columns_that_come_later_give_what_knowing_them_gives(void **state)
{
    (void)state;
    setup self;
    uc_dataset data = growing_data();
    const uc_names none = {0};
    for (size_t s = 0; setup_number(&self, s); s++) {
        uc_online *grown = begin(&self, &none, NULL), *known = begin(&self, &data.classes, NULL);
        uint32_t index;
        assert_ok(uc_online_reserve(known, COLS));
        for (uint32_t k = 0; k < CLASSES; k++) {
            assert_ok(uc_online_add_class(&index, grown, data.classes.text[k]));
            assert_int_equal(index, k);
        }
        for (size_t i = 0; i < ROWS; i++) {
            const uc_row row = cut_row(&data, i);
            uc_proposal a, b;
            assert_ok(uc_online_propose(&a, grown, &row));
            assert_ok(uc_online_propose(&b, known, &row));
            assert_int_equal(a.label, b.label);
            assert_ok(uc_online_learn(grown, &row, &a, (uc_answer){UC_ANSWER_LABEL, data.y[i]}));
            assert_ok(uc_online_learn(known, &row, &b, (uc_answer){UC_ANSWER_LABEL, data.y[i]}));
        }
        check_same_bits(grown, known);
        uc_online_free(grown);
        uc_online_free(known);
    }
    uc_dataset_free(&data);
}

/* Classes added one by one against plain bookkeeping that adds them at the same moments. */
static void a_class_added_later_starts_at_zero_weights(void **state)
{
    (void)state;
    uc_dataset data = growing_data();
    const setup self = {.learner = "perceptron", .train = uc_train_defaults()};
    const uc_names none = {0};
    uc_online *online = begin(&self, &none, NULL);
    double W[COLS][CLASSES] = {{0}}, U[COLS][CLASSES] = {{0}}; /* U: sum of the iterates */
    size_t K = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const uc_row row = cut_row(&data, i);
        const uint32_t y = data.y[i];
        uint32_t index;
        uc_proposal proposal;
        assert_ok(uc_online_propose(&proposal, online, &row)); /* also without any class */
        assert_int_equal(proposal.label == UC_NONE, i == 0);
        assert_ok(uc_online_add_class(&index, online, data.classes.text[y]));
        assert_int_equal(index, y);
        K = y + 1 > K ? y + 1 : K;
        assert_ok(uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, y}));
        double scores[CLASSES] = {0};
        for (size_t e = 0; e < row.count; e++)
            for (size_t k = 0; k < K; k++)
                scores[k] += W[row.columns[e]][k] * (double)row.values[e];
        size_t worst = K;
        for (size_t k = 0; k < K; k++)
            if (k != y && scores[k] >= scores[y] && (worst == K || scores[k] > scores[worst]))
                worst = k;
        double squares = 0.0;
        for (size_t e = 0; e < row.count; e++)
            squares += (double)row.values[e] * (double)row.values[e];
        for (size_t e = 0; e < row.count && worst < K && squares > 0.0; e++) {
            W[row.columns[e]][y] += (double)row.values[e];
            W[row.columns[e]][worst] -= (double)row.values[e];
        }
        for (size_t j = 0; j < COLS; j++)
            for (size_t k = 0; k < CLASSES; k++)
                U[j][k] += W[j][k];
    }
    uc_model *model;
    assert_ok(uc_online_model(&model, online, false));
    assert_int_equal(K, CLASSES);
    for (size_t j = 0; j < COLS; j++)
        for (size_t k = 0; k < CLASSES; k++) {
            assert_near(online->plane[UC_WEIGHTS][(j + 1) * online->stride + k], W[j][k],
                        1e-12); /* sums of 64ths are exact */
            assert_near(uc_model_weight(model, j, k), U[j][k] / ROWS, 1e-11);
        }
    uc_model_free(model);
    uc_online_free(online);
    uc_dataset_free(&data);
}

/* Stops after every 17 rows, through a file. */
static void a_learner_saved_and_resumed_never_stopped(void **state)
{
    (void)state;
    setup self;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 5);
    const char *path = temporary_path("resumed.uc");
    for (size_t s = 0; setup_number(&self, s); s++) {
        uc_steps steps;
        self.train.scale = (int)(s % 4);
        assert_ok(uc_steps_learn(&steps, (uc_scaling)self.train.scale, &data.X));
        uc_online *whole = begin(&self, &data.classes, &steps), *parts = begin(&self, &data.classes, &steps);
        for (size_t i = 0; i < ROWS; i++) {
            assert_int_equal(one_round(whole, &data, i), one_round(parts, &data, i));
            if (i % 17 != 16)
                continue;
            uc_model *model, *back;
            assert_ok(uc_online_model(&model, parts, true));
            assert_ok(uc_model_save(model, path));
            assert_ok(uc_model_load(&back, path));
            uc_online_free(parts);
            assert_ok(uc_online_resume(&parts, back));
            uc_model_free(model);
            uc_model_free(back);
        }
        check_same_bits(whole, parts);
        assert_int_equal(uc_online_updates(whole), uc_online_updates(parts));
        assert_string_equal(uc_learner_name(uc_online_learner(parts)), self.learner);
        uc_online_free(whole);
        uc_online_free(parts);
        uc_steps_free(&steps);
    }
    uc_dataset_free(&data);
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

/* Feedback that comes 5 rounds late: the step uses the scores of now, so it equals learning row after row. */
static void delayed_feedback_learns_from_the_scores_of_now(void **state)
{
    (void)state;
    setup self;
    enum { DELAY = 5 };
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 6);
    for (size_t s = 0; setup_number(&self, s); s++) {
        uc_online *prompt = begin(&self, &data.classes, NULL), *late = begin(&self, &data.classes, NULL);
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
            one_round(prompt, &data, i);
        check_same_bits(prompt, late);
        uc_online_free(prompt);
        uc_online_free(late);
    }
    uc_dataset_free(&data);
}

/* Asking without telling changes nothing. */
static void proposals_do_not_change_the_learner(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, true, 7);
    const setup self = {.learner = "spa", .pa = {.variant = 0, .cost = 1.0}, .train = uc_train_defaults()};
    uc_online *asked = begin(&self, &data.classes, NULL), *quiet = begin(&self, &data.classes, NULL);
    for (size_t i = 0; i < ROWS; i++) {
        uc_proposal ignored;
        for (size_t j = 0; j < 3; j++) {
            const uc_row row = uc_matrix_row(&data.X, (i * 7 + j) % ROWS);
            assert_ok(uc_online_propose(&ignored, asked, &row));
        }
        one_round(asked, &data, i);
        one_round(quiet, &data, i);
    }
    uc_model *a, *b;
    assert_ok(uc_online_model(&a, asked, false));
    assert_ok(uc_online_model(&b, quiet, false));
    for (size_t j = 0; j < COLS; j++)
        for (size_t k = 0; k < CLASSES; k++)
            assert_true(uc_model_weight(a, j, k) == uc_model_weight(b, j, k));
    uc_model_free(a);
    uc_model_free(b);
    uc_online_free(asked);
    uc_online_free(quiet);
    uc_dataset_free(&data);
}

static void columns_that_the_scaling_does_not_know_are_dropped(void **state)
{
    (void)state;
    uc_dataset narrow = sample_data(ROWS, 5, 3, false, 8), wide = sample_data(ROWS, 5, 3, false, 8);
    uc_matrix X;
    assert_ok(uc_matrix_create_dense(&X, ROWS, 30));
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < 30; j++)
            X.values[i * X.stride + j] = j < 5 ? wide.X.values[i * wide.X.stride + j] : (float)(i + j);
    uc_matrix_free(&wide.X);
    wide.X = X;
    const setup self = {.learner = "spa", .pa = {.variant = 1, .cost = 1.0}, .train = uc_train_defaults()};
    uc_steps steps;
    assert_ok(uc_steps_learn(&steps, UC_SCALE_RANGE, &narrow.X));
    uc_online *a = begin(&self, &narrow.classes, &steps), *b = begin(&self, &narrow.classes, &steps);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(one_round(a, &narrow, i), one_round(b, &wide, i));
    check_same_bits(a, b);
    uc_online_free(a);
    uc_online_free(b);
    uc_steps_free(&steps);
    uc_dataset_free(&narrow);
    uc_dataset_free(&wide);
}

static void what_does_not_fit_is_refused_with_a_sentence(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b"};
    uc_names classes = sample_names(names, 2);
    const float values[2] = {1.0f, 2.0f};
    const uc_row row = {2, values, NULL};
    uc_online *online = NULL;
    uc_proposal proposal;
    uc_pa_settings settings = {.variant = 1, .cost = -1.0};
    const long live = uc_alloc_live();
    assert_error(uc_online_begin(&online, uc_learner_find("spa"), &settings, NULL, &classes, NULL),
                 UC_ERR_OPTION, "--cost -1: it must be above 0 and at most 1000000000000");
    uc_train_settings train = uc_train_defaults();
    train.passes = 0;
    assert_error_has(uc_online_begin(&online, uc_learner_find("spa"), NULL, &train, &classes, NULL),
                     UC_ERR_OPTION, "--passes 0: it must be from 1 to");
    train = uc_train_defaults();
    train.bias = INFINITY;
    assert_status(uc_online_begin(&online, uc_learner_find("spa"), NULL, &train, &classes, NULL),
                  UC_ERR_OPTION);
    assert_null(online);
    assert_int_equal(uc_alloc_live(), live);

    assert_ok(uc_online_begin(&online, uc_learner_find("spa"), NULL, NULL, &classes, NULL));
    assert_ok(uc_online_propose(&proposal, online, &row));
    assert_error(uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_RIGHT, 0}), UC_ERR_INVALID,
                 "spa does not learn from right or wrong, only from labels");
    assert_error(uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, 2}), UC_ERR_INVALID,
                 "label 2 is not below the number of classes, 2");
    assert_status(uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, UC_NONE}),
                  UC_ERR_INVALID);
    assert_int_equal(uc_online_rounds(online), 0);
    uc_online_free(online);
    uc_online_free(NULL);
    assert_null(uc_learner_find("svm"));
    assert_non_null(
        strstr(uc_last_error(), "there is no learner 'svm'; the learners are perceptron, pa, spa, "));
    uc_names_free(&classes);
}

/* Whichever allocation of adding a class fails, the learner stays as it was and can be used. */
static void a_class_that_could_not_be_added_leaves_the_learner_whole(void **state)
{
    (void)state;
    for (size_t before = 0; before <= 9; before++)
        for (long successes = 0;; successes++) {
            const setup self = {.learner = "perceptron", .train = uc_train_defaults()};
            const uc_names none = {0};
            uc_online *online = begin(&self, &none, NULL);
            uint32_t index = 77;
            const float values[3] = {1.0f, 2.0f, 3.0f};
            const uc_row row = {3, values, NULL};
            uc_proposal proposal;
            for (size_t k = 0; k < before; k++) {
                const char name[2] = {(char)('a' + k), '\0'};
                assert_ok(uc_online_add_class(&index, online, name));
                assert_ok(uc_online_propose(&proposal, online, &row));
                assert_ok(uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, index}));
            }
            uc_alloc_fail_after(successes);
            const uc_status status = uc_online_add_class(&index, online, "new");
            uc_alloc_fail_after(-1);
            assert_true(status == UC_OK || status == UC_ERR_NOMEM);
            assert_int_equal(uc_online_classes(online)->count, before + (status == UC_OK));
            uc_model *model; /* of the classes that are there */
            assert_ok(uc_online_model(&model, online, true));
            const double *saved = uc_model_state_find(&model->state, "state.weights")->data;
            for (size_t j = 0; j < uc_model_features(model); j++)
                for (size_t k = 0; k < before; k++)
                    assert_true(saved[(j + 1) * uc_online_classes(online)->count + k] ==
                                online->plane[UC_WEIGHTS][(j + 1) * online->stride + k]);
            uc_model_free(model);
            assert_ok(uc_online_propose(&proposal, online, &row));
            if (before > 0)
                assert_ok(uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, 0}));
            uc_online_free(online);
            if (status == UC_OK)
                break;
        }
}

static uc_status some_rounds(uc_model **out, const uc_dataset *data)
{
    uc_online *online = NULL;
    const uc_names none = {0};
    uc_status status = uc_online_begin(&online, uc_learner_find("spa"), NULL, NULL, &none, NULL);
    for (size_t i = 0; i < 20 && status == UC_OK; i++) {
        const uc_row row = cut_row(data, i * 6);
        uint32_t index;
        uc_proposal proposal;
        status = uc_online_add_class(&index, online, data->classes.text[data->y[i * 6]]);
        if (status == UC_OK)
            status = uc_online_propose(&proposal, online, &row);
        if (status == UC_OK)
            status = uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, index});
    }
    if (status == UC_OK)
        status = uc_online_model(out, online, true);
    uc_online_free(online);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = growing_data();
    uc_model *model;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, some_rounds(&model, &data));
    uc_model_free(model);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_average_is_the_plain_mean_of_the_iterates),
        cmocka_unit_test(class_weights_follow_the_labels_so_far),
        cmocka_unit_test(sparse_rows_are_dense_rows),
        cmocka_unit_test(columns_that_come_later_give_what_knowing_them_gives),
        cmocka_unit_test(a_class_added_later_starts_at_zero_weights),
        cmocka_unit_test(a_learner_saved_and_resumed_never_stopped),
        cmocka_unit_test(the_largest_seed_is_refused_or_resumes),
        cmocka_unit_test(delayed_feedback_learns_from_the_scores_of_now),
        cmocka_unit_test(proposals_do_not_change_the_learner),
        cmocka_unit_test(columns_that_the_scaling_does_not_know_are_dropped),
        cmocka_unit_test(what_does_not_fit_is_refused_with_a_sentence),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_class_that_could_not_be_added_leaves_the_learner_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
