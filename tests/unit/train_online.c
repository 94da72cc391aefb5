/* Learning one example at a time: averages, growth, resuming and delays, compared with simple bookkeeping,
 * for every learner. */
#include "tests/online_sample.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROWS = 120, COLS = 9, CLASSES = 5 };

/* The iterates of a learner that does not average, kept one by one and added up. */
static void the_average_is_the_plain_mean_of_the_iterates(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 1);
    for (size_t s = 0; online_setup_number(&self, s); s++) {
        if (strcmp(self.learner, "cspa-plus") == 0) /* without --average its model is not its last iterate */
            self.settings.plus.tail = self.settings.plus.pair = 0;
        self.train.average = 0;
        uc_online *plain = online_begin(&self, &data.classes, NULL);
        self.train.average = 1;
        uc_online *averaged = online_begin(&self, &data.classes, NULL);
        double sum[(COLS + 1) * 8] = {0};
        uc_model *iterate, *mean;
        for (size_t i = 0; i < ROWS; i++) {
            assert_int_equal(online_round(plain, &data, i),
                             online_round(averaged, &data, i)); /* averaging proposes nothing */
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
    const online_setup self = {.learner = "perceptron",
                               .settings.perceptron = {.step = 0, .class_weight = UC_CLASS_WEIGHT_BALANCED},
                               .train = uc_train_defaults()};
    uc_online *online = online_begin(&self, &data.classes, NULL);
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
        online_round(online, &data, i);
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
    online_setup self;
    uc_dataset dense = sample_data(ROWS, COLS, CLASSES, false, 3),
               sparse = sample_data(ROWS, COLS, CLASSES, true, 3);
    for (size_t s = 0; online_setup_number(&self, s); s++) {
        uc_online *a = online_begin(&self, &dense.classes, NULL),
                  *b = online_begin(&self, &dense.classes, NULL);
        for (size_t i = 0; i < ROWS; i++) {
            assert_int_equal(online_round(a, &dense, i), online_round(b, &sparse, i));
        }
        /* A margin that was made exactly 1 and is replayed lacks a rounding error, or not. */
        const bool replays = strcmp(self.learner, "cspa-plus") == 0 && self.settings.plus.replay > 0;
        assert_true(replays || uc_online_updates(a) == uc_online_updates(b));
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
    online_setup self;
    uc_dataset data = growing_data();
    const uc_names none = {0};
    for (size_t s = 0; online_setup_number(&self, s); s++) {
        uc_online *grown = online_begin(&self, &none, NULL),
                  *known = online_begin(&self, &data.classes, NULL);
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
            assert_ok(uc_online_learn(grown, &row, &a, online_answer(grown, &a, data.y[i])));
            assert_ok(uc_online_learn(known, &row, &b, online_answer(known, &b, data.y[i])));
        }
        check_same_online(grown, known);
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
    const online_setup self = {.learner = "perceptron", .train = uc_train_defaults()};
    const uc_names none = {0};
    uc_online *online = online_begin(&self, &none, NULL);
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

/* However long the stream and the delay: the blocks in use are those of the beginning. */
static void memory_does_not_grow_with_the_rounds(void **state)
{
    (void)state;
    online_setup self;
    enum { DELAY = 30 };
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, true, 10);
    for (size_t s = 0; online_kind(&self, s); s++)
        for (int mapped = 0; mapped < 2; mapped++) {
            if (mapped)
                add_landmarks(&self, 25);
            if (strcmp(self.learner, "cspa-plus") == 0)
                self.settings.plus.memory_rounds = 40;
            uc_online *online = online_begin(&self, &data.classes, NULL);
            uc_proposal waiting[DELAY];
            long live = 0;
            for (size_t i = 0; i < 4 * ROWS; i++) {
                if (i >= DELAY) {
                    const uc_row past = uc_matrix_row(&data.X, (i - DELAY) % ROWS);
                    const uint32_t y = data.y[(i - DELAY) % ROWS];
                    assert_ok(uc_online_learn(online, &past, &waiting[i % DELAY],
                                              online_answer(online, &waiting[i % DELAY], y)));
                }
                const uc_row row = uc_matrix_row(&data.X, i % ROWS);
                assert_ok(uc_online_propose(&waiting[i % DELAY], online, &row));
                if (i == ROWS)
                    live = uc_alloc_live();
                assert_true(i < ROWS || uc_alloc_live() == live);
            }
            uc_online_free(online);
        }
    uc_dataset_free(&data);
}

/* ---- cost ---- */

enum { WIDE = 4010, PAGE_FEATURES = 64 }; /* a feature's weights of 5 classes are 64 bytes */

/* Ten columns at each end. */
static uc_row wide_row(const uc_dataset *data, size_t i, uint32_t *columns)
{
    const uc_row row = uc_matrix_row(&data->X, i);
    for (size_t e = 0; e < row.count; e++)
        columns[e] = row.columns[e] < COLS / 2 ? row.columns[e] : WIDE - 1 - (COLS - 1 - row.columns[e]);
    return (uc_row){row.count, row.values, columns};
}

/* The same numbers in pages of its own, the middle of which cannot even be read. */
static double *guarded(const double *plane, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(copy != MAP_FAILED);
    memcpy(copy, plane, bytes);
    assert_int_equal(mprotect(copy + page, (bytes / page - 2) * page, PROT_NONE), 0);
    return (double *)(void *)copy;
}

static void a_round_touches_only_the_features_of_its_row(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, true, 11);
    for (size_t s = 0; online_setup_number(&self, s); s++) {
        if (online_has_full_matrix(&self))
            continue;
        uc_online *online = online_begin(&self, &data.classes, NULL),
                  *other = online_begin(&self, &data.classes, NULL);
        assert_ok(uc_online_expect(online, WIDE, 1.0));
        assert_ok(uc_online_expect(other, WIDE, 1.0));
        const size_t bytes = (WIDE + 1) * online->stride * sizeof(double);
        double *own[UC_PLANES];
        uint32_t columns[COLS];
        for (size_t i = 0; i < ROWS; i++) {
            const bool here = i >= 20 && i < ROWS - 20;
            for (size_t p = 0; p < UC_PLANES && i == 20; p++)
                if ((own[p] = online->plane[p]))
                    online->plane[p] = guarded(own[p], bytes);
            assert_int_equal(online_round_on(online, wide_row(&data, i, columns), data.y[i]),
                             online_round_on(other, wide_row(&data, i, columns), data.y[i]));
            for (size_t p = 0; p < UC_PLANES && here && i + 1 == ROWS - 20; p++)
                if (own[p]) {
                    assert_int_equal(mprotect(online->plane[p], bytes, PROT_READ), 0);
                    memcpy(own[p], online->plane[p], bytes);
                    assert_int_equal(munmap(online->plane[p], bytes), 0);
                    online->plane[p] = own[p];
                }
        }
        check_same_online(online, other);
        uc_online_free(online);
        uc_online_free(other);
    }
    uc_dataset_free(&data);
}

/* Asking without telling changes nothing, for learners that do not count or draw. */
static void proposals_do_not_change_the_learner(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, true, 7);
    online_setup self;
    for (size_t s = 0; online_kind(&self, s) && strcmp(self.learner, "banditron") != 0; s++) {
        uc_online *asked = online_begin(&self, &data.classes, NULL),
                  *quiet = online_begin(&self, &data.classes, NULL);
        for (size_t i = 0; i < ROWS; i++) {
            uc_proposal ignored;
            for (size_t j = 0; j < 3; j++) {
                const uc_row row = uc_matrix_row(&data.X, (i * 7 + j) % ROWS);
                assert_ok(uc_online_propose(&ignored, asked, &row));
            }
            online_round(asked, &data, i);
            online_round(quiet, &data, i);
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
    }
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
    const online_setup self = {
        .learner = "spa", .settings.pa = {.variant = 1, .cost = 1.0}, .train = uc_train_defaults()};
    uc_preprocessing preprocessing;
    assert_ok(learn_scaling(&preprocessing, UC_SCALE_RANGE, &narrow.X));
    uc_online *a = online_begin(&self, &narrow.classes, &preprocessing),
              *b = online_begin(&self, &narrow.classes, &preprocessing);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(online_round(a, &narrow, i), online_round(b, &wide, i));
    check_same_online(a, b);
    uc_online_free(a);
    uc_online_free(b);
    uc_preprocessing_free(&preprocessing);
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
                 UC_ERR_OPTION, "{cost=-1}: it must be above 0 and at most 1000000000000");
    uc_train_settings train = uc_train_defaults();
    train.passes = 0;
    assert_error_has(uc_online_begin(&online, uc_learner_find("spa"), NULL, &train, &classes, NULL),
                     UC_ERR_OPTION, "{passes=0}: it must be from 1 to");
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
    online_setup kind;
    for (size_t s = 0; online_kind(&kind, s); s++) {
        char sentence[128];
        const uc_learner *learner = uc_learner_find(kind.learner);
        const bool full = uc_learner_accepts(learner, UC_FEEDBACK_FULL);
        online = online_begin(&kind, &classes, NULL);
        assert_ok(uc_online_propose(&proposal, online, &row));
        snprintf(sentence, sizeof sentence, "%s does not learn from %s", kind.learner,
                 full ? "right or wrong, only from labels" : "labels, only from right or wrong");
        for (int wrong = 0; wrong < 2; wrong++) {
            const uc_answer_kind half = wrong ? UC_ANSWER_WRONG : UC_ANSWER_RIGHT;
            assert_error(
                uc_online_learn(online, &row, &proposal, (uc_answer){full ? half : UC_ANSWER_LABEL, 0}),
                UC_ERR_INVALID, sentence);
            assert_error(uc_online_learn_prepared(online, &row, &proposal,
                                                  (uc_answer){full ? half : UC_ANSWER_LABEL, 0}),
                         UC_ERR_INVALID, sentence);
        }
        if (!full) {
            proposal.label = 2;
            assert_error(uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_WRONG, 0}),
                         UC_ERR_INVALID, "the class proposed, 2, is not below the number of classes, 2");
        }
        assert_int_equal(uc_online_rounds(online), 0);
        assert_int_equal(uc_online_updates(online), 0);
        uc_online_free(online);
    }
    uc_online_free(NULL);
    assert_null(uc_learner_find("svm"));
    assert_non_null(
        strstr(uc_last_error(), "there is no learner 'svm'; the learners are auto, perceptron, pa, "));
    uc_names_free(&classes);
}

/* Whichever allocation fails when a class is added, the learner does not change and can still be used. */
static void a_class_that_could_not_be_added_leaves_the_learner_whole(void **state)
{
    (void)state;
    online_setup self;
    for (size_t run = 0; online_kind(&self, run / 10); run++)
        for (long successes = 0;; successes++) {
            const size_t before = run % 10;
            const uc_names none = {0};
            uc_online *online = online_begin(&self, &none, NULL);
            uint32_t index = 77;
            const float values[3] = {1.0f, 2.0f, 3.0f};
            const uc_row row = {3, values, NULL};
            uc_proposal proposal;
            for (size_t k = 0; k < before; k++) {
                const char name[2] = {(char)('a' + k), '\0'};
                assert_ok(uc_online_add_class(&index, online, name));
                assert_ok(uc_online_propose(&proposal, online, &row));
                assert_ok(uc_online_learn(online, &row, &proposal, online_answer(online, &proposal, index)));
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
                assert_ok(uc_online_learn(online, &row, &proposal, online_answer(online, &proposal, 0)));
            uc_online_free(online);
            if (status == UC_OK)
                break;
        }
}

/* Columns and, with labels, classes come one by one. */
static uc_status some_rounds(uc_model **out, const online_setup *self, const uc_dataset *data)
{
    uc_online *online = NULL;
    const uc_names none = {0};
    const uc_learner *learner = uc_learner_find(self->learner);
    const bool full = uc_learner_accepts(learner, UC_FEEDBACK_FULL);
    uc_status status =
        uc_online_begin(&online, learner, &self->settings, &self->train, full ? &none : &data->classes, NULL);
    for (size_t i = 0; i < 12 && status == UC_OK; i++) {
        const uc_row row = cut_row(data, i * 9);
        uint32_t index = data->y[i * 9];
        uc_proposal proposal;
        if (full)
            status = uc_online_add_class(&index, online, data->classes.text[index]);
        if (status == UC_OK)
            status = uc_online_propose(&proposal, online, &row);
        if (status == UC_OK)
            status = uc_online_learn(online, &row, &proposal, online_answer(online, &proposal, index));
    }
    if (status == UC_OK)
        status = uc_online_model(out, online, true);
    uc_online_free(online);
    return status;
}

static uc_status load_and_resume(uc_online **out, const char *path)
{
    uc_model *model = NULL;
    uc_status status = uc_model_load(&model, path);
    if (status == UC_OK)
        status = uc_online_resume(out, model);
    uc_model_free(model);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = growing_data();
    const char *path = temporary_path("whole.uc");
    online_setup self;
    for (size_t s = 0; online_kind(&self, s); s++)
        for (int mapped = 0; mapped < 2; mapped++) {
            uc_model *model;
            uc_online *online;
            uc_status status;
            self.train.average = (int)(s % 2);
            if (mapped)
                add_landmarks(&self, 5);
            FOR_EACH_FAILING_ALLOCATION(status, some_rounds(&model, &self, &data));
            if (s % 5 == 0) {
                FOR_EACH_FAILING_ALLOCATION(status, uc_model_save(model, path));
                FOR_EACH_FAILING_ALLOCATION(status, load_and_resume(&online, path));
            } else
                FOR_EACH_FAILING_ALLOCATION(status, uc_online_resume(&online, model));
            uc_model_free(model);
            uc_online_free(online);
        }
    uc_dataset_free(&data);
}

/* Every call is repeated, with one more allocation that succeeds, until it works. */
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
    status = UC_ERR_NOMEM;
    for (long successes = 0; status != UC_OK; successes++) {
        uc_alloc_fail_after(successes);
        status = uc_online_learn(online, &row, &proposal, online_answer(online, &proposal, y));
        uc_alloc_fail_after(-1);
        assert_true(status == UC_OK || status == UC_ERR_NOMEM);
    }
}

static void a_block_that_lacked_memory_can_be_repeated(void **state)
{
    (void)state;
    uc_dataset data = growing_data();
    online_setup self;
    for (size_t s = 0; online_kind(&self, s); s++)
        for (int mapped = 0; mapped < 2; mapped++) {
            if (mapped)
                add_landmarks(&self, 10);
            uc_online *whole = online_begin(&self, &data.classes, NULL),
                      *broken = online_begin(&self, &data.classes, NULL);
            for (size_t i = 0; i + 8 <= 40; i += 8) {
                const uc_matrix block = {8, COLS, 0, data.X.values, data.X.offsets + i, data.X.columns};
                uc_matrix prepared, again;
                uc_status status;
                assert_ok(uc_online_prepare(&prepared, whole, &block, NULL));
                for (long successes = 0;; successes++) {
                    uc_alloc_fail_after(successes);
                    status = uc_online_prepare(&again, broken, &block, NULL);
                    uc_alloc_fail_after(-1);
                    if (status == UC_OK)
                        break;
                    assert_int_equal(status, UC_ERR_NOMEM);
                }
                for (size_t r = 0; r < 8; r++) {
                    const uc_row a = uc_matrix_row(&prepared, r), b = uc_matrix_row(&again, r);
                    assert_int_equal(a.count, b.count);
                    assert_memory_equal(a.values, b.values, a.count * sizeof *a.values);
                }
                uc_matrix_free(&prepared);
                uc_matrix_free(&again);
            }
            check_same_online(whole, broken);
            uc_online_free(whole);
            uc_online_free(broken);
        }
    uc_dataset_free(&data);
}

static void a_round_that_lacked_memory_can_be_repeated(void **state)
{
    (void)state;
    uc_dataset data = growing_data();
    online_setup self;
    for (size_t s = 0; online_setup_number(&self, s); s++)
        for (int mapped = 0; mapped < 2; mapped++) {
            if (mapped && s % 4 != 0)
                continue;
            if (mapped)
                add_landmarks(&self, 30);
            uc_online *whole = online_begin(&self, &data.classes, NULL),
                      *broken = online_begin(&self, &data.classes, NULL);
            for (size_t i = 0; i < ROWS; i++) {
                online_round_on(whole, cut_row(&data, i), data.y[i]);
                stubborn_round(broken, cut_row(&data, i), data.y[i]);
            }
            check_same_online(whole, broken);
            uc_online_free(whole);
            uc_online_free(broken);
        }
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
        cmocka_unit_test(memory_does_not_grow_with_the_rounds),
        cmocka_unit_test(a_round_touches_only_the_features_of_its_row),
        cmocka_unit_test(proposals_do_not_change_the_learner),
        cmocka_unit_test(columns_that_the_scaling_does_not_know_are_dropped),
        cmocka_unit_test(what_does_not_fit_is_refused_with_a_sentence),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_round_that_lacked_memory_can_be_repeated),
        cmocka_unit_test(a_block_that_lacked_memory_can_be_repeated),
        cmocka_unit_test(a_class_that_could_not_be_added_leaves_the_learner_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
