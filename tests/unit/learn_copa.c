/*
 * COPA (Ralaivola, NIPS 2012) against independent solutions of its problem, and its theorems by
 * simulation.
 *
 *   Q  classes     y  the label     s_q  scores, mean 0     xx  squared length of the row     C  cost
 *   l_q = s_q + 1/(Q-1),  q != y
 *
 * A step W += t x' solves (18):  min  xx/2 |t|^2 + C/2 sum_{q != y} (l_q + xx t_q)_+^2  such that  sum_q
 * t_q = 0. With m the multiplier of the constraint, divided by xx, every class satisfies
 *
 *   t_q + C (l_q + xx t_q)_+ = -m   (q != y),     t_y = -m
 *
 * so for each m all t_q follow, their sum falls in m, and bisection finds the m where it is 0.
 */
#include "tests/online_sample.h"

#include <math.h>
#include <stdlib.h>

#include "linalg/linalg.h"

enum { MOST = 30, SCALE_CLASS = 0, SCALE_NONE = 1 };

typedef struct problem {
    size_t Q;
    uint32_t y;
    double cost, xx;
    double scores[MOST];
} problem;

/* ---- the solution by bisection ---- */

static void losses_of(long double *l, const problem *p)
{
    long double mean = 0.0L;
    for (size_t q = 0; q < p->Q; q++)
        mean += (long double)p->scores[q] / (long double)p->Q;
    for (size_t q = 0; q < p->Q; q++)
        l[q] = (long double)p->scores[q] - mean + 1.0L / (long double)(p->Q - 1);
}

/* t_q for a multiplier; returns their sum. */
static long double answer_to(long double *t, const problem *p, const long double *l, long double m)
{
    const long double C = p->cost, xx = p->xx;
    long double sum = 0.0L;
    for (size_t q = 0; q < p->Q; q++) {
        t[q] = q != p->y && l[q] - xx * m > 0.0L ? -(m + C * l[q]) / (1.0L + C * xx) : -m;
        sum += t[q];
    }
    return sum;
}

static void solve(long double *t, const problem *p)
{
    long double low = 0.0L, high = 0.0L, width = 1.0L, l[MOST];
    losses_of(l, p);
    while (answer_to(t, p, l, low) < 0.0L)
        low -= width *= 2.0L;
    while (answer_to(t, p, l, high) > 0.0L)
        high += width *= 2.0L;
    for (int i = 0; i < 300 && low < high; i++) {
        const long double middle = low / 2.0L + high / 2.0L;
        if (middle <= low || middle >= high)
            break;
        if (answer_to(t, p, l, middle) > 0.0L)
            low = middle;
        else
            high = middle;
    }
    answer_to(t, p, l, low / 2.0L + high / 2.0L);
}

static size_t take_step(double *t, const problem *p, int scale, double inverse_share)
{
    const uc_copa_settings settings = {.cost = p->cost, .cost_scale = scale};
    const uc_round round = {.scores = p->scores,
                            .classes = p->Q,
                            .xx = p->xx,
                            .answer = {UC_ANSWER_LABEL, p->y},
                            .weight = 1.0,
                            .inverse_share = inverse_share};
    const size_t count = take_online_step(t, &uc_learner_copa, &settings, &round);
    centre(t, p->Q);
    return count;
}

static problem random_problem(uc_rng *rng, bool ties)
{
    problem p = {.Q = 2 + (size_t)uc_rng_below(rng, MOST - 1)};
    const double size = pow(10.0, 5.0 * uc_rng_uniform(rng) - 3.0);
    p.y = (uint32_t)uc_rng_below(rng, p.Q);
    p.xx = ties ? ldexp(1.0, (int)uc_rng_below(rng, 5) - 2) : pow(10.0, 16.0 * uc_rng_uniform(rng) - 8.0);
    p.cost = ties ? ldexp(1.0, (int)uc_rng_below(rng, 9) - 4) : pow(10.0, 22.0 * uc_rng_uniform(rng) - 11.0);
    for (size_t q = 0; q < p.Q; q++)
        p.scores[q] = ties ? ((double)uc_rng_below(rng, 5) - 2.0) / 4.0 : size * uc_rng_normal(rng);
    if (uc_rng_below(rng, 2))
        centre(p.scores, p.Q); /* the learner's own scores have any mean */
    return p;
}

/* In units of the scores: xx times the difference. */
static void check_solution(const problem *p)
{
    double t[MOST], largest = 1.0;
    long double expected[MOST];
    for (size_t q = 0; q < p->Q; q++)
        largest = fmax(largest, fabs(p->scores[q]));
    take_step(t, p, SCALE_NONE, 7.0);
    solve(expected, p);
    for (size_t q = 0; q < p->Q; q++)
        assert_near(p->xx * t[q], (double)(p->xx * expected[q]), 1e-13 * largest * (double)p->Q);
}

static void a_step_is_the_numerical_optimum_of_its_problem(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(1, 1);
    for (size_t i = 0; i < 10000; i++) {
        const problem p = random_problem(&rng, i % 2);
        check_solution(&p);
    }
}

static double objective(const problem *p, const double *t)
{
    double sum = 0.0;
    long double losses[MOST];
    losses_of(losses, p);
    for (size_t q = 0; q < p->Q; q++) {
        const double l = (double)losses[q] + p->xx * t[q];
        sum += 0.5 * p->xx * t[q] * t[q];
        if (q != p->y && l > 0.0)
            sum += 0.5 * p->cost * l * l;
    }
    return sum;
}

/* The same without any theory: no nearby change that keeps the sum is better. */
static void no_other_change_that_keeps_the_sum_costs_less(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(2, 1);
    for (size_t i = 0; i < 2000; i++) {
        problem p = random_problem(&rng, i % 2);
        p.xx = pow(10.0, uc_rng_uniform(&rng) - 0.5);
        p.cost = pow(10.0, 4.0 * uc_rng_uniform(&rng) - 2.0);
        double t[MOST], other[MOST], sum = 0.0;
        take_step(t, &p, SCALE_NONE, 1.0);
        const double best = objective(&p, t);
        for (size_t q = 0; q < p.Q; q++)
            sum += t[q];
        assert_near(sum, 0.0, 1e-12 * (1.0 + fabs(t[p.y]) * (double)p.Q));
        for (size_t trial = 0; trial < 20; trial++) {
            const double size = pow(10.0, -5.0 * uc_rng_uniform(&rng));
            for (size_t q = 0; q < p.Q; q++)
                other[q] = size * uc_rng_normal(&rng);
            centre(other, p.Q);
            for (size_t q = 0; q < p.Q; q++)
                other[q] += t[q];
            assert_true(objective(&p, other) >= best - 1e-12 * (1.0 + best));
        }
    }
}

static void nothing_changes_without_loss(void **state)
{
    (void)state;
    for (size_t Q = 2; Q <= MOST; Q++) {
        problem p = {.Q = Q, .y = (uint32_t)(Q / 2), .cost = 1.0, .xx = 1.0};
        double t[MOST];
        for (size_t q = 0; q < Q; q++)
            p.scores[q] = q == p.y ? 3.0 * (double)(Q - 1) : -3.0;
        assert_int_equal(take_step(t, &p, SCALE_NONE, 1.0), 0);
    }
}

/* Two classes: l = s_other + 1, alpha = l/(kappa - xx/2), each class moves by half of it. */
static void two_classes_by_hand(void **state)
{
    (void)state;
    const problem p = {.Q = 2, .y = 1, .cost = 2.0, .xx = 4.0, .scores = {0.5, -0.5}};
    double t[MOST];
    assert_int_equal(take_step(t, &p, SCALE_NONE, 1.0), 1);
    assert_near(t[0], -(1.5 / (0.5 + 4.0 - 2.0)) / 2.0, 1e-15);
    assert_near(t[1], +(1.5 / (0.5 + 4.0 - 2.0)) / 2.0, 1e-15);
}

/* A class whose loss is minus the root, to the last bit: whether it is active is a matter of rounding, and
 * the search for the root must end all the same. */
static void the_search_ends_when_a_class_is_on_the_edge_of_being_active(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(3, 1);
    for (size_t i = 0; i < 50000; i++) {
        problem p = {.Q = 3 + (size_t)uc_rng_below(&rng, 8), .y = 0};
        p.xx = 0.5 + uc_rng_uniform(&rng);
        p.cost = 0.5 + 4.0 * uc_rng_uniform(&rng);
        double t[MOST], sum = 0.0, rest = 0.0;
        const size_t active = 1 + (size_t)uc_rng_below(&rng, p.Q - 2);
        for (size_t q = 1; q <= active; q++)
            sum += p.scores[q] = uc_rng_uniform(&rng);
        const double shift = 1.0 / (double)(p.Q - 1), kappa = 1.0 / p.cost + p.xx;
        const double total = sum + shift * (double)active;
        const double edge = -p.xx * total / (kappa * (double)p.Q - (double)active * p.xx);
        for (size_t q = active + 1; q < p.Q; q++)
            p.scores[q] = edge - shift + (double)((int)uc_rng_below(&rng, 9) - 4) * 0x1p-54;
        for (size_t q = 1; q < p.Q; q++)
            rest += p.scores[q];
        p.scores[0] = -rest;
        take_step(t, &p, SCALE_NONE, 1.0);
        if (i % 64 == 0)
            check_solution(&p);
    }
}

static void the_cost_grows_with_the_square_of_the_rareness(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(4, 1);
    for (size_t i = 0; i < 500; i++) {
        problem p = random_problem(&rng, false);
        double scaled[MOST], plain[MOST];
        const double inverse_share = 1.0 + 20.0 * uc_rng_uniform(&rng);
        take_step(scaled, &p, SCALE_CLASS, inverse_share);
        p.cost *= inverse_share * inverse_share;
        take_step(plain, &p, SCALE_NONE, inverse_share);
        for (size_t q = 0; q < p.Q; q++)
            assert_near(p.xx * scaled[q], p.xx * plain[q], 1e-12 * (1.0 + fabs(p.xx * plain[q])));
    }
}

/* ---- rounds: all weight vectors kept explicitly, as the paper has them ---- */

enum { ROWS = 150, COLS = 8, CLASSES = 5 };

typedef struct plain_copa {
    size_t Q;
    double cost;
    bool scaled, final; /* counts taken beforehand */
    double counts[CLASSES], total;
    double W[COLS + 1][CLASSES],
        sum[COLS + 1][CLASSES]; /* row 0: the constant feature; sum of the iterates */
    double bias;
} plain_copa;

static uint32_t plain_round(plain_copa *self, uc_row row, uint32_t y)
{
    problem p = {.Q = self->Q, .y = y, .cost = self->cost, .xx = self->bias * self->bias};
    long double t[MOST];
    for (size_t q = 0; q < p.Q; q++)
        p.scores[q] = self->bias * self->W[0][q];
    for (size_t j = 0; j < COLS; j++) {
        const double x = dense_value(row, j);
        p.xx += x * x;
        for (size_t q = 0; q < p.Q; q++)
            p.scores[q] += x * self->W[j + 1][q];
    }
    uint32_t proposed = 0;
    for (uint32_t q = 1; q < p.Q; q++)
        if (p.scores[q] > p.scores[proposed] + 1e-12)
            proposed = q;
    self->counts[y] += !self->final;
    self->total += !self->final;
    if (self->scaled)
        p.cost *= self->total * self->total / (self->counts[y] * self->counts[y]);
    if (p.xx > 0.0 && p.Q > 1)
        solve(t, &p);
    for (size_t j = 0; j <= COLS; j++)
        for (size_t q = 0; q < CLASSES; q++) {
            if (p.xx > 0.0 && q < p.Q && p.Q > 1)
                self->W[j][q] += (double)t[q] * (j == 0 ? self->bias : dense_value(row, j - 1));
            self->sum[j][q] += self->W[j][q];
        }
    return proposed;
}

static void check_against_plain(const uc_model *model, const plain_copa *plain, double rounds)
{
    for (size_t j = 0; j <= COLS; j++) {
        double sum = 0.0;
        for (size_t q = 0; q < CLASSES; q++) {
            const double *expected = rounds > 0.0 ? plain->sum[j] : plain->W[j];
            assert_near(model->weights[j * model->stride + q], expected[q] / fmax(rounds, 1.0), 1e-11);
            sum += model->weights[j * model->stride + q];
        }
        assert_near(sum, 0.0, 1e-12);
    }
}

static void a_stream_is_the_published_algorithm_with_all_classes_explicit(void **state)
{
    (void)state;
    for (int kind = 0; kind < 16; kind++) {
        uc_dataset data = sample_data(ROWS, COLS, CLASSES, kind & 1, 5);
        online_setup setup = {.learner = "copa",
                              .settings.copa = {.cost = 0.3, .cost_scale = kind >> 1 & 1},
                              .train = uc_train_defaults()};
        setup.train.bias = kind & 4 ? -0.5 : 0.0;
        setup.train.average = kind >> 3 & 1;
        plain_copa plain = {.Q = CLASSES, .cost = 0.3, .scaled = !(kind >> 1 & 1), .bias = setup.train.bias};
        uc_online *online = online_begin(&setup, &data.classes, NULL);
        for (size_t i = 0; i < ROWS; i++) {
            if (i % 29 == 3 && kind & 1)
                data.X.offsets[i + 1] = data.X.offsets[i]; /* a row of zeros */
            const uint32_t y = i % 3 ? 0 : data.y[i];      /* imbalanced */
            assert_int_equal(online_round_on(online, uc_matrix_row(&data.X, i), y),
                             plain_round(&plain, uc_matrix_row(&data.X, i), y));
            if (i % 50 != 49)
                continue;
            uc_model *model;
            assert_ok(uc_online_model(&model, online, false));
            check_against_plain(model, &plain, setup.train.average ? (double)(i + 1) : 0.0);
            uc_model_free(model);
        }
        uc_online_free(online);
        uc_dataset_free(&data);
    }
}

static void training_counts_the_classes_beforehand(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 6);
    const uc_copa_settings settings = {.cost = 0.1, .cost_scale = SCALE_CLASS};
    uc_train_settings train = uc_train_defaults();
    train.shuffle = 0;
    train.passes = 2;
    plain_copa plain = {.Q = CLASSES, .cost = 0.1, .scaled = true, .final = true, .total = ROWS};
    for (size_t i = 0; i < ROWS; i++) {
        data.y[i] = i % 3 ? 0 : data.y[i];
        plain.counts[data.y[i]] += 1.0;
    }
    for (size_t i = 0; i < 2 * ROWS; i++)
        plain_round(&plain, uc_matrix_row(&data.X, i % ROWS), data.y[i % ROWS]);
    uc_model *model;
    assert_ok(uc_train(&model, uc_learner_find("copa"), &settings, &train, &data, NULL));
    check_against_plain(model, &plain, 2.0 * ROWS);
    uc_model_free(model);
    uc_dataset_free(&data);
}

/* A class joins with zero weights, and 1/(Q-1) becomes smaller. */
static void classes_may_be_added_while_the_algorithm_runs(void **state)
{
    (void)state;
    for (int average = 0; average < 2; average++) {
        uc_dataset data = sample_data(ROWS, COLS, CLASSES, true, 7);
        online_setup setup = {.learner = "copa",
                              .settings.copa = {.cost = 0.3, .cost_scale = SCALE_CLASS},
                              .train = uc_train_defaults()};
        setup.train.average = average;
        const uc_names none = {0};
        plain_copa plain = {.cost = 0.3, .scaled = true};
        uc_online *online = online_begin(&setup, &none, NULL);
        for (size_t i = 0; i < ROWS; i++) {
            const size_t known = 1 + i / 20 < CLASSES ? 1 + i / 20 : CLASSES;
            const uint32_t y = data.y[i] % (uint32_t)known;
            while (plain.Q < known) {
                uint32_t index;
                assert_ok(uc_online_add_class(&index, online, data.classes.text[plain.Q]));
                assert_int_equal(index, plain.Q++);
            }
            online_round_on(online, uc_matrix_row(&data.X, i), y);
            plain_round(&plain, uc_matrix_row(&data.X, i), y);
        }
        uc_model *model;
        assert_ok(uc_online_model(&model, online, false));
        check_against_plain(model, &plain, average ? (double)ROWS : 0.0);
        uc_model_free(model);
        uc_online_free(online);
        uc_dataset_free(&data);
    }
}

/* ---- the theorems ----
 *
 * The labels y_1..y_T are fixed; X_t is drawn from POINTS equally likely points of its class, so every
 * expectation is a finite sum. h_t is what the learner has after t rounds. For a hypothesis h let L_pq(h)
 * = E[l_q(h, X) | class p], and
 *
 *   C   = sum_t L_{y_t}(h_{t-1})/T_{y_t},     C^  = sum_t l_{y_t}(h_{t-1}, X_t)/T_{y_t}     (one row each)
 *
 * Theorem 1: with probability 1 - delta |C - C^| <= M sqrt(2 Q sum_p 1/T_p log(2Q/delta)), operator norm,
 * losses in [0, M]. (The paper prints log(Q/delta); its own corollary has d1 + d2 = 2Q.) Theorem 2: the
 * mean h of h_0..h_{T-1} has |L(h)| <= |C^| + the same. Both are checked with M the largest loss that
 * occurs at all, which is sharper than any M known beforehand, and the martingale that is behind them with
 * much sharper statistics: the mean of C - C^ over the draws is 0. Row p of C looks only at the hypotheses
 * in front of the examples of class p, while h averages all of them, so convexity is not all that Theorem
 * 2 needs: below it holds where the classes take turns, and fails where the labels are sorted by class.
 */
enum { POINTS = 6, CLASSES_T = 3, ROUNDS_T = 60, MOST_ROUNDS = 30000, DRAWS = 400, DIMENSION = 3 };

typedef double square[CLASSES_T * CLASSES_T];

typedef struct hypothesis {
    double W[DIMENSION][CLASSES_T];
} hypothesis;

typedef struct simulation {
    float points[CLASSES_T][POINTS][DIMENSION];
    size_t rounds;
    uint32_t labels[MOST_ROUNDS];
    double counts[CLASSES_T];
    double largest; /* loss */
} simulation;

static double loss_at(const hypothesis *h, const float *x, size_t q)
{
    double score = 0.0, mean = 0.0;
    for (size_t j = 0; j < DIMENSION; j++)
        for (size_t k = 0; k < CLASSES_T; k++) {
            score += k == q ? h->W[j][k] * (double)x[j] : 0.0;
            mean += h->W[j][k] * (double)x[j] / CLASSES_T;
        }
    return fmax(0.0, score - mean + 1.0 / (CLASSES_T - 1));
}

/* Adds L_p(h) / parts to row p. */
static void add_risk(square out, simulation *self, const hypothesis *h, uint32_t p, double parts)
{
    for (size_t q = 0; q < CLASSES_T; q++)
        for (size_t i = 0; i < POINTS && q != p; i++) {
            const double loss = loss_at(h, self->points[p][i], q);
            self->largest = fmax(self->largest, loss);
            out[p * CLASSES_T + q] += loss / POINTS / parts;
        }
}

static double norm_of(const square A)
{
    double values[CLASSES_T];
    assert_ok(uc_singular_values(values, A, CLASSES_T));
    return values[0];
}

/* One draw of X: C, C^ and the risk of the mean hypothesis. */
static void simulate(square risk, square seen, square of_mean, simulation *self, const uc_names *classes,
                     uc_rng *rng)
{
    const online_setup setup = {.learner = "copa",
                                .settings.copa = {.cost = 0.1, .cost_scale = SCALE_CLASS},
                                .train = uc_train_defaults()};
    uc_online *online = online_begin(&setup, classes, NULL);
    assert_ok(uc_online_reserve(online, DIMENSION));
    hypothesis h, mean = {{{0}}};
    memset(risk, 0, sizeof(square));
    memset(seen, 0, sizeof(square));
    memset(of_mean, 0, sizeof(square));
    for (size_t t = 0; t < self->rounds; t++) {
        const uint32_t y = self->labels[t];
        const float *x = self->points[y][uc_rng_below(rng, POINTS)];
        for (size_t j = 0; j < DIMENSION; j++)
            for (size_t k = 0; k < CLASSES_T; k++) {
                h.W[j][k] = online->plane[UC_WEIGHTS][(j + 1) * online->stride + k];
                mean.W[j][k] += h.W[j][k] / (double)self->rounds;
            }
        add_risk(risk, self, &h, y, self->counts[y]);
        for (size_t q = 0; q < CLASSES_T; q++)
            seen[y * CLASSES_T + q] += q != y ? loss_at(&h, x, q) / self->counts[y] : 0.0;
        online_round_on(online, (uc_row){DIMENSION, x, NULL}, y);
    }
    for (uint32_t p = 0; p < CLASSES_T; p++)
        add_risk(of_mean, self, &mean, p, 1.0);
    uc_online_free(online);
}

static void draw_points(simulation *self, uc_rng *rng)
{
    for (uint32_t p = 0; p < CLASSES_T; p++)
        for (size_t i = 0; i < POINTS; i++)
            for (size_t j = 0; j < DIMENSION; j++)
                self->points[p][i][j] = (float)(0.5 * uc_rng_normal(rng) + (j == p ? 0.7 : 0.0));
    for (size_t t = 0; t < self->rounds; t++)
        self->counts[self->labels[t]] += 1.0;
}

static double bound_of(const simulation *self, double delta)
{
    double reciprocals = 0.0;
    for (size_t p = 0; p < CLASSES_T; p++)
        reciprocals += 1.0 / self->counts[p];
    return self->largest * sqrt(2.0 * CLASSES_T * reciprocals * log(2.0 * CLASSES_T / delta));
}

static void the_confusion_risk_is_within_the_theorems_bounds(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    static simulation self = {.rounds = ROUNDS_T};
    static double deviation[DRAWS], excess[DRAWS];
    uc_names classes = sample_names(names, CLASSES_T);
    uc_rng rng = uc_rng_make(8, 1);
    for (size_t t = 0; t < ROUNDS_T; t++) /* 3 : 1 : 1 */
        self.labels[t] = t % 5 == 1 ? 1 : t % 5 == 3 ? 2 : 0;
    draw_points(&self, &rng);
    square sum = {0}, squares = {0};
    for (size_t d = 0; d < DRAWS; d++) {
        square risk, seen, of_mean, difference;
        simulate(risk, seen, of_mean, &self, &classes, &rng);
        for (size_t e = 0; e < CLASSES_T * CLASSES_T; e++) {
            difference[e] = risk[e] - seen[e];
            sum[e] += difference[e];
            squares[e] += difference[e] * difference[e];
        }
        deviation[d] = norm_of(difference);
        excess[d] = norm_of(of_mean) - norm_of(seen);
    }
    for (size_t e = 0; e < CLASSES_T * CLASSES_T; e++) /* a martingale: five standard errors */
        assert_true(fabs(sum[e]) <= 5.0 * sqrt(squares[e]));
    for (double delta = 0.5; delta > 0.01; delta /= 2.0) {
        size_t first = 0, second = 0;
        for (size_t d = 0; d < DRAWS; d++) {
            first += deviation[d] > bound_of(&self, delta);
            second += excess[d] > bound_of(&self, delta);
        }
        assert_true((double)first <= delta * DRAWS);
        assert_true((double)second <= delta * DRAWS);
    }
    uc_names_free(&classes);
}

static void labels_sorted_by_class_keep_the_first_theorem_and_break_the_second(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    static simulation self = {.rounds = MOST_ROUNDS};
    uc_names classes = sample_names(names, CLASSES_T);
    uc_rng rng = uc_rng_make(9, 1);
    for (size_t t = 0; t < MOST_ROUNDS; t++)
        self.labels[t] = (uint32_t)(t * CLASSES_T / MOST_ROUNDS);
    draw_points(&self, &rng);
    square risk, seen, of_mean;
    simulate(risk, seen, of_mean, &self, &classes, &rng);
    for (size_t e = 0; e < CLASSES_T * CLASSES_T; e++)
        risk[e] -= seen[e];
    assert_true(norm_of(risk) <= bound_of(&self, 0.01));
    assert_true(norm_of(of_mean) > norm_of(seen) + bound_of(&self, 0.01));
    uc_names_free(&classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_the_numerical_optimum_of_its_problem),
        cmocka_unit_test(no_other_change_that_keeps_the_sum_costs_less),
        cmocka_unit_test(nothing_changes_without_loss),
        cmocka_unit_test(two_classes_by_hand),
        cmocka_unit_test(the_search_ends_when_a_class_is_on_the_edge_of_being_active),
        cmocka_unit_test(the_cost_grows_with_the_square_of_the_rareness),
        cmocka_unit_test(a_stream_is_the_published_algorithm_with_all_classes_explicit),
        cmocka_unit_test(training_counts_the_classes_beforehand),
        cmocka_unit_test(classes_may_be_added_while_the_algorithm_runs),
        cmocka_unit_test(the_confusion_risk_is_within_the_theorems_bounds),
        cmocka_unit_test(labels_sorted_by_class_keep_the_first_theorem_and_break_the_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
