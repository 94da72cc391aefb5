/*
 * cspa-plus against a plain version: dense rows, the matrix A written out and inverted in every round,
 * past rounds in a list, every rule as the learner's own file states it. Only the random numbers are
 * shared.
 */
#include "tests/online_sample.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { ROWS = 150, COLS = 8, MOST_CLASSES = 5, SIZE = COLS + 1 };
enum { AUTO, NONE, DIAGONAL, FULL };

/* ---- the plain version ---- */

typedef struct past_round {
    double x[SIZE];
    uint32_t p;
    bool right;
} past_round;

typedef struct plain_plus {
    uc_cspa_plus_settings settings;
    size_t K;
    double A[SIZE * SIZE], inverse[SIZE * SIZE];
    double W[2][SIZE][MOST_CLASSES]; /* with the metric, and of the second learner without */
    double sum[SIZE][MOST_CLASSES];
    double tail[2][SIZE][MOST_CLASSES], tail_total; /* sums over rounds t of t^P W, and of t^P */
    double tried[2], tried_right[2];
    uint32_t favourite[2];
    double told;
    size_t by_second; /* proposals of the second learner */
    double right[MOST_CLASSES], proposed[MOST_CLASSES];
    past_round past[ROWS]; /* the last ones, the oldest first */
    size_t past_count;
    uc_rng rng;
} plain_plus;

static void plain_begin(plain_plus *self, const uc_cspa_plus_settings *settings, size_t K, uc_rng rng)
{
    *self = (plain_plus){.settings = *settings, .K = K, .rng = rng};
    for (size_t i = 0; i < SIZE; i++)
        self->A[i * SIZE + i] = settings->metric == NONE ? 1.0 : settings->prior;
}

static void plain_scores(double *s, const plain_plus *self, int which, const double *x)
{
    for (size_t k = 0; k < self->K; k++) {
        s[k] = 0.0;
        for (size_t j = 0; j < SIZE; j++)
            s[k] += self->W[which][j][k] * x[j];
    }
}

static bool plain_full(const plain_plus *self)
{
    return self->settings.metric == AUTO || self->settings.metric == FULL;
}

static bool plain_pairs(const uc_cspa_plus_settings *settings)
{
    return (settings->metric == AUTO || settings->metric == FULL) && settings->pair != 0;
}

static bool plain_pair(const plain_plus *self)
{
    return plain_pairs(&self->settings);
}

static double plain_power(const plain_plus *self)
{
    return !isnan(self->settings.tail) ? self->settings.tail : plain_full(self) ? 10.0 : 0.0;
}

/* The weights that a learner proposes with. */
static double plain_steady(const plain_plus *self, int which, size_t j, size_t k)
{
    return plain_power(self) > 0.0 && self->tail_total > 0.0 ? self->tail[which][j][k] / self->tail_total
                                                             : self->W[which][j][k];
}

static int plain_better(const plain_plus *self)
{
    return plain_pair(self) && (self->tried_right[1] + 2.0) * (self->tried[0] + 2.0) >
                                   (self->tried_right[0] + 2.0) * (self->tried[1] + 2.0);
}

/* Equal to rounding means equal: the lowest class. */
static uint32_t best_class(const double *s, size_t K)
{
    uint32_t best = 0;
    for (uint32_t k = 0; k < K; k++)
        if (s[k] > s[best] + 1e-11)
            best = k;
    return best;
}

static uint32_t plain_propose(plain_plus *self, const double *x)
{
    double s[2][MOST_CLASSES] = {{0}};
    for (int which = 0; which < 2; which++) {
        for (size_t k = 0; k < self->K; k++)
            for (size_t j = 0; j < SIZE; j++)
                s[which][k] += plain_steady(self, which, j, k) * x[j];
        self->favourite[which] = best_class(s[which], self->K);
    }
    double *sums = s[plain_better(self)];
    self->by_second += plain_better(self) == 1;
    for (uint32_t k = 0; k < self->K; k++)
        sums[k] += self->settings.bonus / ((1.0 + self->right[k]) * sqrt(1.0 + self->proposed[k]));
    const uint32_t best = best_class(sums, self->K);
    self->proposed[best] += 1.0;
    return best;
}

static void add_to_metric(plain_plus *self, const double *x)
{
    for (size_t i = 0; i < SIZE; i++)
        for (size_t j = 0; j < SIZE; j++)
            if (self->settings.metric == FULL || self->settings.metric == AUTO ||
                (self->settings.metric == DIAGONAL && i == j))
                self->A[i * SIZE + j] += x[i] * x[j];
    assert_ok(uc_invert(self->inverse, self->A, SIZE));
}

static void right_step(double *tau, const double *s, size_t K, uint32_t p, double length)
{
    size_t sorted[MOST_CLASSES], count = 0, n = 0;
    double sum = 0.0;
    for (size_t i = 0; i < K; i++) {
        if (i == p)
            continue;
        size_t at = count++;
        for (; at > 0 && s[sorted[at - 1]] < s[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = i;
    }
    for (; n < count; n++) {
        const double l = fmax(0.0, 1.0 + s[sorted[n]] - s[p]);
        if (!(l > sum / (double)(n + 1)))
            break;
        sum += l;
    }
    const double theta = sum / (double)(n + 1);
    for (size_t i = 0; i < n; i++)
        tau[sorted[i]] = -(1.0 + s[sorted[i]] - s[p] - theta) / length;
    tau[p] = theta / length;
}

static void wrong_step(double *tau, const plain_plus *self, const double *s, uint32_t p, double length,
                       bool replayed)
{
    size_t r = p == 0 ? 1 : 0;
    double total = 0.0, q[MOST_CLASSES];
    for (size_t i = 0; i < self->K; i++)
        r = i != p && s[i] > s[r] ? i : r;
    const double loss = 1.0 + s[p] - s[r];
    if (loss <= 0.0 || (replayed && loss < 1.0 - 1e-11))
        return;
    for (size_t i = 0; i < self->K; i++)
        total += q[i] = i == p ? 0.0 : exp(self->settings.spread * s[i]);
    for (size_t i = 0; i < self->K; i++)
        q[i] /= total;
    const double c = self->settings.beta * loss / (length * (1.0 + q[r]));
    for (size_t i = 0; i < self->K; i++)
        tau[i] = i == p ? -c : c * q[i];
}

static void learn_one(plain_plus *self, int which, const double *x, uint32_t p, bool right, bool replayed)
{
    double s[MOST_CLASSES], tau[MOST_CLASSES] = {0}, direction[SIZE], length = 0.0;
    for (size_t i = 0; i < SIZE; i++) {
        direction[i] = which == 0 ? 0.0 : x[i];
        for (size_t j = 0; j < SIZE && which == 0; j++)
            direction[i] += self->inverse[i * SIZE + j] * x[j];
        length += x[i] * direction[i];
    }
    if (!(length > 0.0))
        return;
    plain_scores(s, self, which, x);
    if (right)
        right_step(tau, s, self->K, p, length);
    else
        wrong_step(tau, self, s, p, length, replayed);
    for (size_t j = 0; j < SIZE; j++)
        for (size_t k = 0; k < self->K; k++)
            self->W[which][j][k] += tau[k] * direction[j];
}

static void learn_row(plain_plus *self, const double *x, uint32_t p, bool right, bool replayed)
{
    for (int which = 0; which < 2; which++)
        learn_one(self, which, x, p, right, replayed);
}

static void remember_round(plain_plus *self, const double *x, uint32_t p, bool right)
{
    if (self->settings.replay == 0)
        return;
    if (self->past_count == self->settings.memory_rounds) {
        memmove(self->past, self->past + 1, (self->past_count - 1) * sizeof *self->past);
        self->past_count--;
    }
    past_round *round = &self->past[self->past_count++];
    memcpy(round->x, x, sizeof round->x);
    round->p = p;
    round->right = right;
}

static void plain_learn(plain_plus *self, const double *x, uint32_t p, bool right)
{
    double length = 0.0;
    size_t drawn[8], count = 0;
    for (size_t j = 0; j < SIZE; j++)
        length += x[j] * x[j];
    self->told += 1.0;
    if (length > 0.0) {
        for (int which = 0; which < 2 && self->favourite[0] != self->favourite[1]; which++)
            if (self->favourite[which] == p) {
                self->tried[which] += 1.0;
                self->tried_right[which] += right;
            }
        for (; count < self->settings.replay && self->past_count > 0; count++)
            drawn[count] = (size_t)uc_rng_below(&self->rng, self->past_count);
        add_to_metric(self, x);
        learn_row(self, x, p, right, false);
        for (size_t r = 0; r < count; r++)
            learn_row(self, self->past[drawn[r]].x, self->past[drawn[r]].p, self->past[drawn[r]].right, true);
        self->right[p] += right;
        remember_round(self, x, p, right);
    }
    const double share = length > 0.0 ? pow(self->told, plain_power(self)) : 0.0;
    self->tail_total += share;
    for (size_t j = 0; j < SIZE; j++)
        for (size_t k = 0; k < self->K; k++) {
            self->sum[j][k] += self->W[0][j][k];
            for (int which = 0; which < 2; which++)
                self->tail[which][j][k] += share * self->W[which][j][k];
        }
}

static void expand(double *x, uc_row row, double bias)
{
    x[0] = bias;
    for (size_t j = 0; j < COLS; j++)
        x[j + 1] = dense_value(row, j);
}

/* ---- the comparison ---- */

static void check_weights(const uc_online *online, const plain_plus *plain, double tolerance)
{
    for (size_t j = 0; j < SIZE && j <= online->features; j++)
        for (size_t k = 0; k < plain->K; k++) {
            const size_t at = j * online->stride + k;
            assert_near(online->plane[UC_WEIGHTS][at], plain->W[0][j][k], tolerance);
            if (plain_pair(plain))
                assert_near(online->plane[UC_OWN + 1][at], plain->W[1][j][k], tolerance);
        }
    assert_true((online->plane[UC_OWN] != NULL) == (plain_power(plain) > 0.0));
    assert_true((online->plane[UC_OWN + 1] != NULL) == plain_pair(plain));
}

/* Directions of a diagonal metric are floats; everything else is computed in doubles. The first `known`
 * classes are there from the beginning, the others are added one by one. Returns how often the second
 * learner proposed. */
static size_t compare(const online_setup *setup, size_t K, size_t known, bool sparse, double tolerance)
{
    static plain_plus plain;
    static const char *const names[MOST_CLASSES] = {"1", "2", "3", "4", "5"};
    uc_names classes = sample_names(names, known);
    uc_dataset data = sample_data(ROWS, COLS, K, sparse, 1);
    uc_online *online = online_begin(setup, &classes, NULL);
    plain_begin(&plain, &setup->settings.plus, known, online->rng);
    size_t right = 0;
    for (size_t i = 0; i < ROWS; i++) {
        uc_row row = uc_matrix_row(&data.X, i);
        double x[SIZE];
        if (i % 25 == 24 && plain.K < K) {
            uint32_t index;
            assert_ok(uc_online_add_class(&index, online, names[plain.K]));
            assert_int_equal(index, plain.K++);
        }
        if (sparse && i % 31 == 7)
            row.count = 0; /* a row of zeros; not quite so with a constant feature */
        expand(x, row, setup->train.bias);
        const uint32_t p = plain_propose(&plain, x);
        assert_int_equal(online_round_on(online, row, data.y[i]), p);
        plain_learn(&plain, x, p, p == data.y[i]);
        check_weights(online, &plain, tolerance);
        right += p == data.y[i];
    }
    assert_true(right > ROWS / 8 && right < ROWS);
    assert_int_equal(plain.rng.drawn, online->rng.drawn);
    uc_model *model;
    assert_ok(uc_online_model(&model, online, false));
    for (size_t j = 0; j < SIZE; j++)
        for (size_t k = 0; k < K; k++)
            assert_near(model->weights[j * model->stride + k],
                        setup->train.average ? plain.sum[j][k] / ROWS
                                             : plain_steady(&plain, plain_better(&plain), j, k),
                        tolerance);
    uc_model_free(model);
    uc_online_free(online);
    uc_names_free(&classes);
    uc_dataset_free(&data);
    return plain.by_second;
}

static online_setup plus_setup(int metric, uint64_t replay, uint64_t memory_rounds, double bias)
{
    online_setup setup = {.learner = "cspa-plus", .train = uc_train_defaults()};
    setup.settings.plus = (uc_cspa_plus_settings){.beta = 0.5,
                                                  .spread = 3.0,
                                                  .metric = metric,
                                                  .prior = 1.0,
                                                  .bonus = 1.0,
                                                  .replay = replay,
                                                  .memory_rounds = memory_rounds,
                                                  .tail = 0.0,
                                                  .pair = 0};
    setup.train.normalize = setup.train.average = 0;
    setup.train.bias = bias;
    return setup;
}

static void the_first_four_additions_are_those_of_the_plain_version(void **state)
{
    (void)state;
    static const uint64_t replays[4][2] = {{0, 10}, {1, 3}, {3, 10000}, {7, 5}};
    for (int metric = AUTO; metric <= FULL; metric++)
        for (size_t r = 0; r < 4; r++)
            for (int kind = 0; kind < 16; kind++) {
                online_setup setup = plus_setup(metric, replays[r][0], replays[r][1], kind & 1 ? 0.5 : 0.0);
                setup.train.average = kind >> 1 & 1;
                setup.train.seed = (uint64_t)kind;
                setup.settings.plus.beta = kind & 8 ? 0.9 : 0.5;
                setup.settings.plus.prior = kind & 8 ? 3.0 : 1.0;
                const size_t K = kind & 8 ? 2 : MOST_CLASSES;
                compare(&setup, K, K, kind >> 2 & 1, metric == DIAGONAL ? 1e-6 : 1e-11);
            }
}

/* The second learner proposes sometimes, and so does the first: the data are such that it depends on the
 * round. */
static void tail_and_pair_are_those_of_the_plain_version(void **state)
{
    (void)state;
    static const double tails[4] = {UC_AUTO_REAL, 0.0, 1.0, 10.0};
    size_t runs = 0, by_second = 0;
    for (int metric = AUTO; metric <= FULL; metric++)
        for (size_t t = 0; t < 4; t++)
            for (int kind = 0; kind < 8; kind++) {
                online_setup setup = plus_setup(metric, kind & 1 ? 3 : 0, 40, kind & 2 ? 0.5 : 0.0);
                setup.settings.plus.tail = tails[t];
                setup.settings.plus.pair = kind & 4 ? UC_AUTO_FLAG : t % 2 == 0;
                setup.train.seed = (uint64_t)kind;
                by_second +=
                    compare(&setup, MOST_CLASSES, MOST_CLASSES, kind & 1, metric == DIAGONAL ? 1e-6 : 1e-10);
                runs += plain_pairs(&setup.settings.plus);
            }
    assert_true(by_second > ROWS && by_second < (runs - 1) * ROWS);
}

static void classes_may_be_added_while_it_runs(void **state)
{
    (void)state;
    for (int metric = AUTO; metric <= FULL; metric++)
        for (int average = 0; average < 2; average++) {
            online_setup setup = plus_setup(metric, 3, 30, 0.5);
            setup.train.average = average;
            setup.settings.plus.tail = UC_AUTO_REAL;
            setup.settings.plus.pair = UC_AUTO_FLAG;
            compare(&setup, MOST_CLASSES, 2, average, metric == DIAGONAL ? 1e-6 : 1e-11);
        }
}

/* Each addition by itself, and their largest and smallest values. */
static void every_addition_works_alone(void **state)
{
    (void)state;
    static const uc_cspa_plus_settings settings[] = {
        {.beta = 0.7, .spread = 50.0, .metric = NONE, .prior = 1, .bonus = 0, .memory_rounds = 1},
        {.beta = 0.7, .spread = 0.0, .metric = FULL, .prior = 0.5, .bonus = 0, .memory_rounds = 1},
        {.beta = 0.7, .spread = 0.0, .metric = DIAGONAL, .prior = 0.5, .bonus = 0, .memory_rounds = 1},
        {.beta = 0.7, .spread = 0.0, .metric = NONE, .prior = 1, .bonus = 5, .memory_rounds = 1},
        {.beta = 0.7, .spread = 0.0, .metric = NONE, .prior = 1, .bonus = 0, .replay = 4, .memory_rounds = 1},
        {.beta = 1.0,
         .spread = 0.0,
         .metric = NONE,
         .prior = 1,
         .bonus = 0,
         .replay = 4,
         .memory_rounds = 60},
    };
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++)
        for (int sparse = 0; sparse < 2; sparse++) {
            online_setup setup = plus_setup(NONE, 0, 1, 0.0);
            setup.settings.plus = settings[s];
            compare(&setup, MOST_CLASSES, MOST_CLASSES, sparse,
                    settings[s].metric == DIAGONAL ? 1e-6 : 1e-11);
        }
}

static void without_any_addition_it_is_cspa(void **state)
{
    (void)state;
    for (size_t K = 2; K <= 12; K++)
        for (int bias = 0; bias < 2; bias++) {
            uc_dataset data = sample_data(ROWS, COLS, K, K % 2, 3);
            online_setup plus = plus_setup(NONE, 0, 1, bias ? 0.5 : 0.0), cspa = plus;
            plus.settings.plus.spread = plus.settings.plus.bonus = 0.0;
            cspa.learner = "cspa";
            cspa.settings.cspa = (uc_cspa_settings){.beta = plus.settings.plus.beta};
            uc_online *a = online_begin(&plus, &data.classes, NULL),
                      *b = online_begin(&cspa, &data.classes, NULL);
            for (size_t i = 0; i < ROWS; i++)
                assert_int_equal(online_round(a, &data, i), online_round(b, &data, i));
            uc_model *x, *y;
            assert_ok(uc_online_model(&x, a, false));
            assert_ok(uc_online_model(&y, b, false));
            for (size_t w = 0; w < SIZE * x->stride; w++)
                assert_near(x->weights[w], y->weights[w], 1e-11);
            assert_int_equal(uc_online_updates(a), uc_online_updates(b));
            uc_model_free(x);
            uc_model_free(y);
            uc_online_free(a);
            uc_online_free(b);
            uc_dataset_free(&data);
        }
}

/* ---- late feedback ---- */

/* A proposal that was kept elsewhere and came back, as after a restart, has lost its ticket. Two are under
 * way at a time: the older one is answered first. */
static void late_feedback_is_the_same_with_and_without_tickets(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, 4, false, 9);
    online_setup setup = plus_setup(FULL, 3, 1000, 0.5);
    setup.settings.plus.pair = 1;
    uc_online *online[2];
    for (int which = 0; which < 2; which++)
        online[which] = online_begin(&setup, &data.classes, NULL);
    for (size_t i = 0; i + 1 < ROWS; i += 2)
        for (int which = 0; which < 2; which++) {
            uc_proposal proposals[2];
            uc_row rows[2];
            for (size_t j = 0; j < 2; j++) {
                rows[j] = uc_matrix_row(&data.X, i + j);
                assert_ok(uc_online_propose(&proposals[j], online[which], &rows[j]));
            }
            for (size_t j = 0; j < 2; j++) {
                const bool right = proposals[j].label == data.y[i + j];
                if (which == 1)
                    proposals[j].ticket = UINT64_MAX;
                assert_ok(uc_online_learn(online[which], &rows[j], &proposals[j],
                                          (uc_answer){right ? UC_ANSWER_RIGHT : UC_ANSWER_WRONG, 0}));
            }
        }
    check_same_online(online[0], online[1]);
    for (int which = 0; which < 2; which++)
        uc_online_free(online[which]);
    uc_dataset_free(&data);
}

/* ---- columns ---- */

/* Column j appears in round 12 j. */
static void columns_that_come_later_give_what_knowing_them_gives(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, MOST_CLASSES, true, 4);
    for (int metric = AUTO; metric <= FULL; metric++)
        for (int average = 0; average < 2; average++) {
            online_setup setup = plus_setup(metric, 3, 40, 0.5);
            setup.train.average = average;
            setup.train.normalize = average;
            uc_online *grown = online_begin(&setup, &data.classes, NULL),
                      *known = online_begin(&setup, &data.classes, NULL);
            assert_ok(uc_online_expect(known, COLS, 1.0));
            for (size_t i = 0; i < ROWS; i++) {
                uc_row row = uc_matrix_row(&data.X, i);
                while (row.count > 0 && row.columns[row.count - 1] > i / 12)
                    row.count--;
                assert_int_equal(online_round_on(grown, row, data.y[i]),
                                 online_round_on(known, row, data.y[i]));
            }
            check_same_online(grown, known);
            uc_online_free(grown);
            uc_online_free(known);
        }
    uc_dataset_free(&data);
}

/* Ten features, of which one or all are nonzero. This is announced beforehand or noticed in the first row;
 * the result is the same in both storages. */
static void sparse_data_get_no_metric_unless_they_ask_for_it(void **state)
{
    (void)state;
    enum { WIDE = 40 };
    static const char *const names[] = {"a", "b", "c"};
    uc_names classes = sample_names(names, 3);
    float dense[WIDE] = {0};
    const float one = 1.0f;
    const uint32_t last = WIDE - 1;
    dense[WIDE - 1] = one;
    const uc_row rows[2] = {{1, &one, &last}, {WIDE, dense, NULL}};
    for (int metric = AUTO; metric <= FULL; metric++)
        for (int told = 0; told < 3; told++)
            for (size_t storage = 0; storage < 2; storage++) {
                const online_setup setup = plus_setup(metric, 1, 10, 0.0);
                uc_online *online = online_begin(&setup, &classes, NULL);
                if (told > 0)
                    assert_ok(uc_online_expect(online, WIDE, told == 1 ? 0.01 : 0.5));
                online_round_on(online, rows[storage], 1);
                uc_model *model;
                assert_ok(uc_online_model(&model, online, true));
                const bool expected = metric == FULL || metric == DIAGONAL || (metric == AUTO && told == 2);
                assert_true((uc_model_state_find(&model->state, "state.metric") != NULL) == expected);
                uc_online *resumed; /* does not decide anew */
                assert_ok(uc_online_resume(&resumed, model));
                online_round_on(online, rows[storage], 2);
                online_round_on(resumed, rows[storage], 2);
                check_same_online(online, resumed);
                uc_online_free(resumed);
                uc_model_free(model);
                uc_online_free(online);
            }
    uc_names_free(&classes);
}

static bool has_metric(const uc_online *online)
{
    uc_model *model;
    assert_ok(uc_online_model(&model, online, true));
    const bool has = uc_model_state_find(&model->state, "state.metric") != NULL;
    uc_model_free(model);
    return has;
}

/* With a full metric an update changes all features, without one only those of the row. */
static void auto_gives_the_metric_up_above_1024_features(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    uc_names classes = sample_names(names, 3);
    const online_setup setup = plus_setup(AUTO, 2, 100, 0.0);
    uc_online *online = online_begin(&setup, &classes, NULL);
    const float values[3] = {1.0f, -0.5f, 0.25f};
    uint32_t columns[3] = {3, 500, 1023}, beyond[3] = {3, 7, 1024};
    assert_ok(uc_online_expect(online, 10, 1.0)); /* not sparse, whatever the rows look like */
    for (size_t i = 0; i < 20; i++) {
        columns[0] = (uint32_t)(i % 5);
        online_round_on(online, (uc_row){3, values, columns}, (uint32_t)(i % 3));
    }
    assert_int_equal(online->features, 1024);
    assert_true(has_metric(online));
    const double other = online->plane[UC_WEIGHTS][(500 + 1) * online->stride];
    assert_true(other != 0.0);
    for (size_t i = 0; i < 20; i++) {
        const uint64_t updates = uc_online_updates(online);
        online_round_on(online, (uc_row){3, values, beyond}, (uint32_t)(i % 3));
        assert_int_equal(online->features, 1025);
        assert_true(uc_online_updates(online) > updates);
        assert_false(has_metric(online));
        assert_true(online->plane[UC_WEIGHTS][(400 + 1) * online->stride] == 0.0);
    }
    uc_model *model;
    uc_online *again;
    assert_ok(uc_online_model(&model, online, true));
    assert_ok(uc_online_resume(&again, model));
    check_same_online(online, again);
    uc_model_free(model);
    uc_online_free(again);
    uc_online_free(online);
    uc_names_free(&classes);
}

/* The learner stays as it was: it can go on with rows that fit, and be saved. */
static void a_full_metric_of_too_many_features_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    uc_names classes = sample_names(names, 3);
    const online_setup setup = plus_setup(FULL, 1, 10, 0.0);
    uc_online *online = online_begin(&setup, &classes, NULL), *other = online_begin(&setup, &classes, NULL);
    const float values[2] = {1.0f, -0.5f};
    const uint32_t columns[2] = {3, 7}, beyond[2] = {3, 8192};
    const uc_row fits = {2, values, columns}, does_not = {2, values, beyond};
    uc_proposal proposal = {0, 1.0, 0, 0};
    for (uint32_t i = 0; i < 12; i++) {
        assert_error(uc_online_propose(&proposal, online, &does_not), UC_ERR_INVALID,
                     "{metric=full} is for at most 8192 features, not 8193: use {metric=auto}");
        assert_status(uc_online_expect(online, 9000, 1.0), UC_ERR_INVALID);
        assert_int_equal(online_round_on(online, fits, i % 3), online_round_on(other, fits, i % 3));
        assert_error(uc_online_learn(online, &does_not, &proposal, (uc_answer){UC_ANSWER_WRONG, 0}),
                     UC_ERR_INVALID,
                     "{metric=full} is for at most 8192 features, not 8193: use {metric=auto}");
    }
    check_same_online(online, other);
    uc_online_free(online);
    uc_online_free(other);
    uc_names_free(&classes);
}

/* ---- memory ---- */

/* Blocks, and bytes as the ring counts them, stay where they are once the ring has wrapped. */
static void replay_memory_is_bounded(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, MOST_CLASSES, false, 5);
    const online_setup setup = plus_setup(NONE, 3, 20, 0.0);
    uc_online *online = online_begin(&setup, &data.classes, NULL);
    long live = 0;
    for (size_t i = 0; i < 5 * ROWS; i++) {
        online_round(online, &data, i % ROWS);
        if (i == 40)
            live = uc_alloc_live();
        assert_true(i < 40 || uc_alloc_live() == live);
    }
    uc_model *model;
    assert_ok(uc_online_model(&model, online, true));
    assert_int_equal(uc_model_state_find(&model->state, "state.replay.told")->count, 20);
    assert_int_equal(uc_model_state_find(&model->state, "state.replay.values")->count, 20 * COLS);
    uc_model_free(model);
    uc_online_free(online);
    uc_dataset_free(&data);
}

/* The classes that were never proposed come first, each once, while nothing scores above them. */
static void the_bonus_tries_every_class(void **state)
{
    (void)state;
    enum { MANY = 12 };
    uc_dataset data = sample_data(ROWS, COLS, MANY, false, 6);
    online_setup setup = plus_setup(NONE, 0, 1, 0.0);
    setup.settings.plus.bonus = 1000.0;
    uc_online *online = online_begin(&setup, &data.classes, NULL);
    bool seen[MANY] = {false};
    for (size_t i = 0; i < MANY; i++) {
        uc_proposal proposal;
        const uc_row row = uc_matrix_row(&data.X, i);
        assert_ok(uc_online_propose(&proposal, online, &row));
        assert_true(proposal.probability == 1.0);
        assert_false(seen[proposal.label]);
        seen[proposal.label] = true;
        assert_ok(uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_WRONG, 0}));
    }
    uc_online_free(online);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_four_additions_are_those_of_the_plain_version),
        cmocka_unit_test(every_addition_works_alone),
        cmocka_unit_test(tail_and_pair_are_those_of_the_plain_version),
        cmocka_unit_test(classes_may_be_added_while_it_runs),
        cmocka_unit_test(without_any_addition_it_is_cspa),
        cmocka_unit_test(late_feedback_is_the_same_with_and_without_tickets),
        cmocka_unit_test(columns_that_come_later_give_what_knowing_them_gives),
        cmocka_unit_test(auto_gives_the_metric_up_above_1024_features),
        cmocka_unit_test(sparse_data_get_no_metric_unless_they_ask_for_it),
        cmocka_unit_test(a_full_metric_of_too_many_features_is_refused),
        cmocka_unit_test(replay_memory_is_bounded),
        cmocka_unit_test(the_bonus_tries_every_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
