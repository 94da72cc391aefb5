/* The parts of onebit, each against a slow version: the ridge by solving, leaving out by refitting, the
 * projection by a search for its threshold, the choice of the map by brute force. */
#include "tests/sample.h"

#include <math.h>
#include <string.h>

#include "learn/onebit/choice.h"
#include "learn/onebit/refit.h"
#include "learn/onebit/running_ridge.h"
#include "learn/onebit/targets.h"

/* ---- the projection ---- */

static double excess(const double *v, size_t K, uint32_t p, double theta)
{
    double sum = -1.0;
    for (size_t k = 0; k < K; k++)
        if (k != p)
            sum += fmax(0.0, v[k] - theta);
    return sum;
}

/* The quadratic program's conditions: q = max(0, v - theta) and the sum is 1; theta by bisection. */
static void the_projection_solves_its_quadratic_program(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(1, 1);
    for (size_t K = 2; K <= 40; K++)
        for (int scale = -2; scale <= 2; scale++) {
            double v[40], q[40], low = -1e3, high = 1e3;
            const uint32_t p = (uint32_t)uc_rng_below(&rng, K);
            for (size_t k = 0; k < K; k++)
                v[k] = uc_rng_normal(&rng) * pow(10.0, scale);
            uc_project_without(q, v, K, p);
            for (int step = 0; step < 200; step++) {
                const double middle = (low + high) / 2;
                if (excess(v, K, p, middle) > 0.0)
                    low = middle;
                else
                    high = middle;
            }
            for (size_t k = 0; k < K; k++)
                assert_near(q[k], k == p ? 0.0 : fmax(0.0, v[k] - high), 1e-9);
        }
}

static void classes_that_score_alike_get_the_same_bits(void **state)
{
    (void)state;
    const double v[6] = {0.1, 0.1, -3.0, 0.1, 0.3, 0.1};
    double q[6];
    uc_project_without(q, v, 6, 4);
    assert_true(q[0] == q[1] && q[1] == q[3] && q[3] == q[5] && q[0] > 0.0);
    assert_true(q[2] == 0.0 && q[4] == 0.0);
}

/* ---- the ridge ---- */

enum { SIZE = 13, CLASSES = 5, STRIDE = 8, ROWS = 150 };
#define PRIOR 0.03

typedef struct rows {
    float phi[ROWS][SIZE];
    double q[ROWS][STRIDE], weight[ROWS];
} rows;

static void draw_rows(rows *out, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 2);
    *out = (rows){0};
    for (size_t i = 0; i < ROWS; i++) {
        out->phi[i][0] = 1.0f;
        for (size_t j = 1; j < SIZE; j++)
            out->phi[i][j] = (float)uc_rng_normal(&rng);
        for (size_t k = 0; k < CLASSES; k++)
            out->q[i][k] = uc_rng_normal(&rng);
        out->weight[i] = i % 3 == 0 ? 0.5 + uc_rng_uniform(&rng) : 1.0;
    }
}

/* W of the first `count` rows but `without`, by solving. */
static void solve(double *W, double *A, const rows *from, size_t count, size_t without, size_t K)
{
    double B[SIZE * STRIDE] = {0};
    memset(A, 0, SIZE * SIZE * sizeof *A);
    for (size_t j = 0; j < SIZE; j++)
        A[j * SIZE + j] = PRIOR;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < SIZE && i != without; j++) {
            const double x = from->weight[i] * (double)from->phi[i][j];
            for (size_t l = 0; l < SIZE; l++)
                A[j * SIZE + l] += x * (double)from->phi[i][l];
            for (size_t k = 0; k < K; k++)
                B[j * K + k] += x * from->q[i][k];
        }
    assert_ok(uc_solve(W, A, B, SIZE, K));
}

static uc_running_ridge begin_ridge(void)
{
    uc_running_ridge ridge;
    assert_ok(uc_running_ridge_begin(&ridge, SIZE, CLASSES));
    for (size_t j = 0; j < SIZE; j++)
        ridge.inverse[j * ridge.stride + j] = 1.0 / PRIOR;
    return ridge;
}

static void scores_of(double *s, const uc_running_ridge *ridge, const float *phi)
{
    memset(s, 0, STRIDE * sizeof *s);
    uc_row_scores(s, (uc_row){SIZE, phi, NULL}, ridge->weights, ridge->class_stride);
}

static void add(uc_running_ridge *ridge, const rows *from, size_t i)
{
    double s[STRIDE], work[SIZE * STRIDE];
    scores_of(s, ridge, from->phi[i]);
    const double h = uc_running_ridge_direct(ridge, from->phi[i]);
    uc_running_ridge_add(ridge, from->phi[i], h, from->weight[i], from->q[i], s);
    if (ridge->pending_count == UC_RIDGE_PENDING)
        uc_running_ridge_settle(ridge, work);
}

static void check_weights(const uc_running_ridge *ridge, const double *W, size_t K, double tolerance)
{
    for (size_t j = 0; j < SIZE; j++)
        for (size_t k = 0; k < K; k++)
            assert_near(ridge->weights[j * ridge->class_stride + k], W[j * K + k], tolerance);
}

static void rank_one_is_solving(void **state)
{
    (void)state;
    static rows sample;
    double W[SIZE * STRIDE], A[SIZE * SIZE];
    draw_rows(&sample, 3);
    uc_running_ridge ridge = begin_ridge();
    for (size_t i = 0; i < ROWS; i++) {
        add(&ridge, &sample, i);
        solve(W, A, &sample, i + 1, SIZE_MAX, CLASSES);
        check_weights(&ridge, W, CLASSES, 1e-9);
    }
    uc_running_ridge_free(&ridge);
}

/* Targets of rows that are in already, and the solution anew. */
static void changed_targets_are_solving(void **state)
{
    (void)state;
    static rows sample;
    double W[SIZE * STRIDE], A[SIZE * SIZE], work[SIZE * STRIDE];
    draw_rows(&sample, 4);
    uc_running_ridge ridge = begin_ridge();
    for (size_t i = 0; i < ROWS; i++) {
        add(&ridge, &sample, i);
        double change[STRIDE] = {0};
        const size_t past = i / 2;
        for (size_t k = 0; k < CLASSES; k++) {
            const double q = sin((double)(i + k));
            change[k] = sample.weight[past] * (q - sample.q[past][k]);
            sample.q[past][k] = q;
        }
        uc_running_ridge_change(&ridge, sample.phi[past], change);
        if (i % 7 == 0)
            uc_running_ridge_settle(&ridge, work);
        if (i % 31 == 0)
            uc_running_ridge_solve(&ridge);
    }
    uc_running_ridge_settle(&ridge, work);
    solve(W, A, &sample, ROWS, SIZE_MAX, CLASSES);
    check_weights(&ridge, W, CLASSES, 1e-9);
    uc_running_ridge_free(&ridge);
}

/* (s - h q)/(1 - h) is the score of the ridge without the row. */
static void leaving_out_in_closed_form_is_refitting_without_the_row(void **state)
{
    (void)state;
    static rows sample;
    double W[SIZE * STRIDE], A[SIZE * SIZE], s[STRIDE];
    draw_rows(&sample, 5);
    uc_running_ridge ridge = begin_ridge();
    for (size_t i = 0; i < ROWS; i++)
        add(&ridge, &sample, i);
    for (size_t i = 0; i < ROWS; i += 11) {
        const double h = sample.weight[i] * uc_running_ridge_direct(&ridge, sample.phi[i]);
        scores_of(s, &ridge, sample.phi[i]);
        solve(W, A, &sample, ROWS, i, CLASSES);
        for (size_t k = 0; k < CLASSES; k++) {
            double without = 0.0;
            for (size_t j = 0; j < SIZE; j++)
                without += (double)sample.phi[i][j] * W[j * CLASSES + k];
            assert_near((s[k] - h * sample.q[i][k]) / (1.0 - h), without, 1e-9);
        }
    }
    uc_running_ridge_free(&ridge);
}

/* Targets t - 1/K: with one more class, whose t are 0, the ridge is that of K + 1 from the start. */
static void a_class_that_comes_later_was_there_from_the_start(void **state)
{
    (void)state;
    static rows sample, more;
    double W[SIZE * STRIDE], A[SIZE * SIZE];
    draw_rows(&sample, 6);
    more = sample;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < CLASSES + 1; k++) {
            const double t = (double)(k < CLASSES && i % CLASSES == k);
            more.q[i][k] = t - 1.0 / (CLASSES + 1);
            if (k < CLASSES)
                sample.q[i][k] = t - 1.0 / CLASSES;
        }
    uc_running_ridge ridge = begin_ridge();
    for (size_t i = 0; i < 75; i++)
        add(&ridge, &sample, i);
    assert_ok(uc_running_ridge_add_classes(&ridge, CLASSES + 1));
    for (size_t i = 75; i < ROWS; i++)
        add(&ridge, &more, i);
    solve(W, A, &more, ROWS, SIZE_MAX, CLASSES + 1);
    check_weights(&ridge, W, CLASSES + 1, 1e-9);
    uc_running_ridge_free(&ridge);
}

/* The inverse after very many updates is still that of A. */
static void the_drift_of_the_inverse_is_bounded(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    double A[SIZE * SIZE] = {0}, inverse[SIZE * SIZE], q[STRIDE] = {0}, work[SIZE * STRIDE];
    float phi[SIZE];
    uc_rng rng = uc_rng_make(7, 3);
    uc_running_ridge ridge = begin_ridge();
    for (size_t j = 0; j < SIZE; j++)
        A[j * SIZE + j] = PRIOR;
    for (size_t i = 0; i < MANY; i++) {
        const double shared = uc_rng_normal(&rng); /* features that are nearly the same */
        for (size_t j = 0; j < SIZE; j++)
            phi[j] = (float)(shared + 0.01 * uc_rng_normal(&rng));
        const double h = uc_running_ridge_direct(&ridge, phi);
        uc_running_ridge_add(&ridge, phi, h, 1.0, q, q);
        if (ridge.pending_count == UC_RIDGE_PENDING)
            uc_running_ridge_settle(&ridge, work);
        for (size_t j = 0; j < SIZE; j++)
            for (size_t l = 0; l < SIZE; l++)
                A[j * SIZE + l] += (double)phi[j] * (double)phi[l];
    }
    uc_running_ridge_settle(&ridge, work);
    assert_ok(uc_invert(inverse, A, SIZE));
    for (size_t j = 0; j < SIZE; j++)
        for (size_t l = 0; l <= j; l++)
            assert_near(ridge.inverse[j * ridge.stride + l], inverse[j * SIZE + l], 1e-8 * inverse[0]);
    uc_running_ridge_free(&ridge);
}

/* ---- rounds, targets and the map ---- */

enum { ROUNDS = 60, MANY_ROUNDS = 256, COLUMNS = 4 };

/* Rounds of a small problem, some of them wrong, with targets made from nothing. */
static uc_rounds draw_rounds(uint64_t seed, size_t count, size_t features)
{
    uc_rounds rounds = {0};
    uc_rng rng = uc_rng_make(seed, 4);
    assert_ok(uc_rounds_reshape(&rounds, COLUMNS, features, CLASSES));
    for (size_t i = 0; i < count; i++) {
        const uint32_t class = (uint32_t)uc_rng_below(&rng, CLASSES);
        const bool known = uc_rng_below(&rng, 3) > 0;
        assert_ok(uc_rounds_reserve(&rounds, count));
        const uc_past_round round = uc_rounds_add(
            &rounds, &(uc_onebit_answer){.class = class, .known = known, .right = known, .weight = 1.0},
            count);
        for (size_t j = 0; j < COLUMNS; j++)
            round.row[j] = (float)(uc_rng_normal(&rng) + 2.0 * (double)(class == j) + 3.0);
        for (size_t j = 0; j < features; j++)
            round.phi[j] = j == 0 ? 1.0f : (float)uc_rng_normal(&rng);
        for (size_t k = 0; k < CLASSES; k++)
            round.target[k] = k == class ? -0.2f : 1.0f / (CLASSES - 1);
    }
    return rounds;
}

/* The best view by solving the ridge anew without each round. */
static double slow_error(const uc_rounds *rounds, const uc_map *map, double prior, double jitter)
{
    const size_t n = 1 + map->dimension, R = map->landmarks.rows, N = rounds->count;
    double *phi = uc_alloc(N * n, sizeof *phi), *A = uc_alloc(n * n, sizeof *A),
           *B = uc_alloc(n * CLASSES, sizeof *B), *W = uc_alloc(n * CLASSES, sizeof *W), error = 0.0;
    double *work = uc_alloc(uc_map_row_work(map), sizeof *work);
    float *mapped = uc_alloc(n, sizeof *mapped);
    for (size_t i = 0; i < N; i++) {
        uc_map_row(mapped, map, (uc_row){COLUMNS, uc_rounds_at(rounds, i).row, NULL}, work);
        phi[i * n] = 1.0;
        for (size_t j = 1; j < n; j++)
            phi[i * n + j] = (double)mapped[j - 1];
    }
    for (size_t without = 0; without < N; without++) {
        memset(A, 0, n * n * sizeof *A);
        memset(B, 0, n * CLASSES * sizeof *B);
        for (size_t j = 0; j < n; j++)
            A[j * n + j] = prior;
        for (size_t a = 0; a < R; a++)
            for (size_t b = 0; b < R; b++) {
                double distance = 0.0;
                for (size_t j = 0; j < COLUMNS; j++) {
                    const float *values = map->landmarks.values;
                    const double difference = (double)values[a * map->landmarks.stride + j] -
                                              (double)values[b * map->landmarks.stride + j];
                    distance += difference * difference;
                }
                A[(1 + a) * n + 1 + b] = prior * (exp(-distance / map->width) + jitter * (double)(a == b));
            }
        for (size_t i = 0; i < N; i++) {
            const uc_past_round round = uc_rounds_at(rounds, i);
            for (size_t j = 0; j < n && i != without; j++) {
                for (size_t l = 0; l < n; l++)
                    A[j * n + l] += phi[i * n + j] * phi[i * n + l];
                for (size_t k = 0; k < CLASSES; k++) {
                    const double t = round.known ? (double)(k == round.class) : (double)round.target[k];
                    B[j * CLASSES + k] += phi[i * n + j] * (t - 1.0 / CLASSES);
                }
            }
        }
        assert_ok(uc_solve(W, A, B, n, CLASSES));
        const uc_past_round left = uc_rounds_at(rounds, without);
        for (size_t k = 0; k < CLASSES; k++) {
            double s = 1.0 / CLASSES;
            for (size_t j = 0; j < n; j++)
                s += phi[without * n + j] * W[j * CLASSES + k];
            const double wanted = (double)(left.known && k == left.class);
            if (left.known || k == left.class)
                error += (s - wanted) * (s - wanted);
        }
    }
    uc_free(phi);
    uc_free(A);
    uc_free(B);
    uc_free(W);
    uc_free(work);
    uc_free(mapped);
    return error;
}

/* u'S^-1 u is what z'z must be, up to one factor: S summed and solved without a triangle. */
static void rows_turned_have_mahalanobis_lengths(void **state)
{
    (void)state;
    enum { D = COLUMNS };
    uc_rounds rounds = draw_rounds(3, ROUNDS, 1);
    double mean[CLASSES][D] = {0}, S[D * D] = {0}, known = 0.0, classes = 0.0, trace = 0.0, lengths = 0.0;
    double count[CLASSES] = {0}, factor = 0.0;
    float u[D], z[D];
    uc_map_input standard, within;
    bool can;
    assert_ok(uc_onebit_can_prepare(&can, &rounds, UC_ROWS_WITHIN));
    assert_true(can);
    assert_ok(uc_onebit_fit_input(&standard, &rounds, UC_ROWS_STANDARD));
    assert_ok(uc_onebit_fit_input(&within, &rounds, UC_ROWS_WITHIN));
    for (size_t i = 0; i < ROUNDS; i++)
        count[uc_rounds_at(&rounds, i).class] += uc_rounds_at(&rounds, i).known;
    for (size_t k = 0; k < CLASSES; k++) {
        known += count[k];
        classes += count[k] > 0.0;
    }
    for (int step = 0; step < 2; step++)
        for (size_t i = 0; i < ROUNDS; i++) {
            const uc_past_round round = uc_rounds_at(&rounds, i);
            uc_onebit_prepare(u, &standard, &rounds, i);
            for (size_t a = 0; a < D && round.known; a++)
                for (size_t b = 0; b < D; b++) {
                    const double *centre = mean[round.class];
                    if (step == 0 && b == 0)
                        mean[round.class][a] += (double)u[a] / count[round.class];
                    if (step == 1)
                        S[a * D + b] +=
                            ((double)u[a] - centre[a]) * ((double)u[b] - centre[b]) / (known - classes);
                }
        }
    for (size_t a = 0; a < D; a++)
        trace += S[a * D + a];
    const double sphere = 2.0 * D / (2.0 * D + known);
    for (size_t a = 0; a < D; a++)
        for (size_t b = 0; b < D; b++)
            S[a * D + b] = (1.0 - sphere) * S[a * D + b] + (a == b ? sphere * trace / D : 0.0);
    for (size_t i = 0; i < ROUNDS; i++) {
        double x[D], right[D], matrix[D * D], length = 0.0, turned = 0.0;
        uc_onebit_prepare(u, &standard, &rounds, i);
        uc_onebit_prepare(z, &within, &rounds, i);
        for (size_t j = 0; j < D; j++)
            right[j] = (double)u[j];
        memcpy(matrix, S, sizeof S);
        assert_ok(uc_solve(x, matrix, right, D, 1));
        for (size_t j = 0; j < D; j++) {
            length += (double)u[j] * x[j];
            turned += (double)z[j] * (double)z[j];
        }
        if (i == 0)
            factor = turned / length;
        assert_near(turned, factor * length, 1e-5 * turned);
        lengths += turned / ROUNDS;
    }
    assert_near(lengths, 1.0, 1e-6);
    uc_map_input_free(&standard);
    uc_map_input_free(&within);
    uc_rounds_free(&rounds);
}

/* As few rounds as columns say nothing of a covariance; neither do rounds that were all wrong. */
static void rows_are_not_turned_by_few_answers(void **state)
{
    (void)state;
    uc_rounds rounds = draw_rounds(3, ROUNDS, 1), wrong = {0};
    bool can;
    uc_rounds_forget(&rounds, 2 * COLUMNS);
    assert_ok(uc_onebit_can_prepare(&can, &rounds, UC_ROWS_WITHIN));
    assert_false(can);
    assert_ok(uc_onebit_can_prepare(&can, &rounds, UC_ROWS_STANDARD));
    assert_true(can);
    assert_ok(uc_rounds_reshape(&wrong, COLUMNS, 1, CLASSES));
    for (size_t i = 0; i < ROUNDS; i++) {
        assert_ok(uc_rounds_reserve(&wrong, ROUNDS));
        uc_rounds_add(&wrong, &(uc_onebit_answer){.class = 1, .weight = 1.0}, ROUNDS);
    }
    assert_ok(uc_onebit_can_prepare(&can, &wrong, UC_ROWS_WITHIN));
    assert_false(can);
    uc_rounds_free(&wrong);
    uc_rounds_free(&rounds);
}

/* Of many rounds, too, for which not all widths are tried. */
static void the_choice_of_the_map_is_that_of_brute_force(void **state)
{
    (void)state;
    static const double multiples[] = {0.125, 0.25, 0.5, 1.0, 2.0};
    const uc_onebit_choice choice = {.prior = 0.03, .jitter = 0.001, .landmarks = 20, .linear = 256};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        uc_rounds rounds = draw_rounds(seed, seed < 5 ? ROUNDS : MANY_ROUNDS, 1);
        uc_rng rng = uc_rng_make(seed, 5);
        uc_onebit_view chosen, best = {0};
        double least = INFINITY;
        for (uc_onebit_rows kind = 0; kind < UC_ROWS_KINDS; kind++) {
            const uc_rng pairs = rng; /* one median for all widths, as in the choice */
            for (size_t m = 0; m < 5; m++) {
                uc_map *map;
                const uc_onebit_view view = {kind, multiples[m]};
                rng = pairs;
                assert_ok(uc_onebit_make_map(&map, &rounds, &view, &choice, &rng));
                double error = slow_error(&rounds, map, choice.prior, choice.jitter);
                if (kind == UC_ROWS_WITHIN)
                    error *= 1.03;
                if (error < least) {
                    least = error;
                    best = view;
                }
                uc_map_free(map);
            }
        }
        rng = uc_rng_make(seed, 5);
        assert_ok(uc_onebit_choose(&chosen, &rounds, &choice, &rng));
        assert_int_equal((int)chosen.rows, (int)best.rows);
        assert_true(chosen.multiple == best.multiple);
        uc_rounds_free(&rounds);
    }
}

/* After a refit W = A^-1 B of the targets, and a further pass would hardly change them. */
static void a_refit_settles(void **state)
{
    (void)state;
    uc_rounds rounds = draw_rounds(8, ROUNDS, SIZE);
    static rows same;
    double W[SIZE * STRIDE], A[SIZE * SIZE], s[STRIDE];
    uc_running_ridge ridge = begin_ridge();
    same = (rows){0};
    for (size_t i = 0; i < ROUNDS; i++) {
        const uc_past_round round = uc_rounds_at(&rounds, i);
        memcpy(same.phi[i], round.phi, sizeof same.phi[i]);
        same.weight[i] = 1.0;
        for (size_t k = 0; k < CLASSES; k++)
            same.q[i][k] =
                (round.known ? (double)(k == round.class) : (double)round.target[k]) - 1.0 / CLASSES;
        add(&ridge, &same, i);
    }
    uc_onebit_rule rule = {.penalty = 0.2};
    assert_ok(uc_onebit_refit(&ridge, &rounds, &rule));
    double moved = 0.0, wrong = 0.0;
    for (size_t i = 0; i < ROUNDS; i++) {
        const uc_past_round round = uc_rounds_at(&rounds, i);
        for (size_t k = 0; k < CLASSES && !round.known; k++)
            same.q[i][k] = (double)round.target[k] - 1.0 / CLASSES;
    }
    solve(W, A, &same, ROUNDS, SIZE_MAX, CLASSES);
    check_weights(&ridge, W, CLASSES, 1e-9);
    for (size_t i = 0; i < ROUNDS; i++) {
        const uc_past_round round = uc_rounds_at(&rounds, i);
        if (round.known)
            continue;
        double target[CLASSES], sum = 0.0;
        scores_of(s, &ridge, round.phi);
        assert_near((double)*round.leverage, uc_running_ridge_direct(&ridge, round.phi), 1e-6);
        uc_onebit_target(target, s, CLASSES, (uc_onebit_said){round.class, false}, (double)*round.leverage,
                         round.target, &rule);
        for (size_t k = 0; k < CLASSES; k++) {
            moved += fabs(target[k] - (double)round.target[k]);
            sum += (double)round.target[k];
        }
        assert_near(sum, 0.8, 1e-6); /* a share for every other class, and -0.2 */
        assert_near((double)round.target[round.class], -0.2, 1e-7);
        wrong++;
    }
    assert_true(wrong > 5 && moved / wrong < 0.2);
    uc_running_ridge_free(&ridge);
    uc_rounds_free(&rounds);
}

/* ---- the ring ---- */

static void the_ring_keeps_the_last_rounds(void **state)
{
    (void)state;
    enum { LIMIT = 9 };
    uc_rounds rounds = {0};
    assert_ok(uc_rounds_reshape(&rounds, 2, 3, 4));
    for (uint32_t i = 0; i < 40; i++) {
        assert_ok(uc_rounds_reserve(&rounds, LIMIT));
        const uc_past_round round = uc_rounds_add(
            &rounds,
            &(uc_onebit_answer){.class = i % 4, .known = i % 2, .right = i % 3 == 0, .weight = 1.0 + i},
            LIMIT);
        round.row[0] = (float)i;
        round.phi[2] = (float)i + 0.5f;
        round.target[3] = -(float)i;
        *round.leverage = 0.25f;
        if (i == 20)
            uc_rounds_forget(&rounds, 3);
        if (i == 25) /* wider: all that is there stays */
            assert_ok(uc_rounds_reshape(&rounds, 5, 3, 6));
        assert_true(rounds.count <= LIMIT && rounds.capacity <= LIMIT);
        for (size_t r = 0; r < rounds.count; r++) {
            const uc_past_round past = uc_rounds_at(&rounds, r);
            const uint32_t number = i - (uint32_t)(rounds.count - 1 - r);
            assert_true(past.row[0] == (float)number && past.phi[2] == (float)number + 0.5f);
            assert_true(past.target[3] == -(float)number && past.weight == 1.0 + number);
            assert_int_equal(past.class, number % 4);
            assert_int_equal(past.known, number % 2);
            assert_int_equal(past.right, number % 2 || number % 3 == 0);
        }
    }
    assert_int_equal(rounds.count, LIMIT);
    uc_rounds_free(&rounds);
}

/* Wide rounds: the ring is copied while it is small, then once to its limit. */
static void a_large_ring_grows_to_its_limit_at_once(void **state)
{
    (void)state;
    enum { WIDE = 4000, LIMIT = 5000, FILLED = 1100 };
    uc_rounds rounds = {0};
    size_t largest = 0;
    assert_ok(uc_rounds_reshape(&rounds, WIDE, 1, 1));
    for (uint32_t i = 0; i < FILLED; i++) {
        assert_ok(uc_rounds_reserve(&rounds, LIMIT));
        uc_rounds_add(&rounds, &(uc_onebit_answer){.weight = 1.0}, LIMIT).row[WIDE - 1] = (float)i;
        if (rounds.capacity < LIMIT)
            largest = rounds.capacity;
    }
    assert_int_equal(rounds.capacity, LIMIT);
    assert_true((double)largest * uc_rounds_bytes(WIDE, 1, 1) < 16e6);
    for (size_t i = 0; i < FILLED; i++)
        assert_true(uc_rounds_at(&rounds, i).row[WIDE - 1] == (float)i);
    uc_rounds_free(&rounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_projection_solves_its_quadratic_program),
        cmocka_unit_test(classes_that_score_alike_get_the_same_bits),
        cmocka_unit_test(rank_one_is_solving),
        cmocka_unit_test(changed_targets_are_solving),
        cmocka_unit_test(leaving_out_in_closed_form_is_refitting_without_the_row),
        cmocka_unit_test(a_class_that_comes_later_was_there_from_the_start),
        cmocka_unit_test(the_drift_of_the_inverse_is_bounded),
        cmocka_unit_test(rows_turned_have_mahalanobis_lengths),
        cmocka_unit_test(rows_are_not_turned_by_few_answers),
        cmocka_unit_test(the_choice_of_the_map_is_that_of_brute_force),
        cmocka_unit_test(a_refit_settles),
        cmocka_unit_test(the_ring_keeps_the_last_rounds),
        cmocka_unit_test(a_large_ring_grows_to_its_limit_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
