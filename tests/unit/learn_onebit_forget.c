/* How onebit forgets where meanings drift: the choice against refitting, weights, and the learner. */
#include "tests/online_sample.h"

#include <math.h>
#include <string.h>

#include "learn/onebit/forget.h"
#include "linalg/linalg.h"

enum { ROUNDS = 3000, COLUMNS = 2, CLASSES = 2, LANDMARKS = 8, SIZE = 1 + LANDMARKS, JUDGED = 1000 };

static const double rates[UC_FORGET_RATES] = {0.0, 1.0 / 20000.0, 1.0 / 2000.0};
static const uc_onebit_choice choice = {.prior = 0.03, .jitter = 0.001, .landmarks = LANDMARKS};

/* The class is the side of a line that moves by `drift` in all; every fourth round was wrong. */
static uc_rounds draw_rounds(uint64_t seed, double drift, uc_map **map)
{
    uc_rounds rounds = {0};
    uc_rng rng = uc_rng_make(seed, 40);
    const uc_onebit_view view = {UC_ROWS_STANDARD, 1.0};
    double work[64];
    float mapped[SIZE];
    assert_ok(uc_rounds_reshape(&rounds, COLUMNS, SIZE, CLASSES));
    for (size_t i = 0; i < ROUNDS; i++) {
        const double x = uc_rng_normal(&rng), line = drift * ((double)i / ROUNDS - 1.0);
        uint32_t class = x + 0.3 * uc_rng_normal(&rng) > line;
        const bool right = i % 4 != 0;
        if (!right)
            class = 1 - class;
        assert_ok(uc_rounds_reserve(&rounds, ROUNDS));
        const uc_onebit_answer answer = {
            .class = class, .known = right, .right = right, .weight = 0.5 + (double)(i % 3)};
        const uc_past_round round = uc_rounds_add(&rounds, &answer, ROUNDS);
        round.row[0] = (float)x;
        round.row[1] = (float)uc_rng_normal(&rng);
        for (uint32_t k = 0; k < CLASSES; k++)
            round.target[k] = k == class ? -0.2f : 1.0f;
    }
    assert_ok(uc_onebit_make_map(map, &rounds, &view, &choice, &rng));
    assert_true(uc_map_row_work(*map) <= 64);
    for (size_t i = 0; i < ROUNDS; i++) {
        const uc_past_round round = uc_rounds_at(&rounds, i);
        uc_map_row(mapped, *map, (uc_row){COLUMNS, round.row, NULL}, work);
        round.phi[0] = 1.0f;
        memcpy(round.phi + 1, mapped, LANDMARKS * sizeof *mapped);
    }
    return rounds;
}

static double target_of(const uc_past_round *round, size_t k)
{
    return (round->known ? (double)(k == round->class) : (double)round->target[k]) - 1.0 / CLASSES;
}

/* The round added to A and B, with a factor. */
static void add(double *A, double *B, const uc_past_round *round, double factor)
{
    for (size_t j = 0; j < SIZE; j++) {
        for (size_t l = 0; l < SIZE; l++)
            A[j * SIZE + l] += factor * (double)round->phi[j] * (double)round->phi[l];
        for (size_t k = 0; k < CLASSES; k++)
            B[j * CLASSES + k] += factor * (double)round->phi[j] * target_of(round, k);
    }
}

/* Of the last `judged` rounds, each by solving the problem without it and without those before `from`. */
static double slow_error(const uc_rounds *rounds, const uc_map *map, double rate, size_t from, size_t judged)
{
    double all_A[SIZE * SIZE], all_B[SIZE * CLASSES] = {0}, error = 0.0;
    assert_ok(uc_onebit_prior(all_A, SIZE, map, &choice));
    for (size_t j = 0; j < SIZE; j++)
        for (size_t l = 0; l < j; l++)
            all_A[l * SIZE + j] = all_A[j * SIZE + l];
    for (size_t i = from; i < ROUNDS; i++) {
        const uc_past_round round = uc_rounds_at(rounds, i);
        add(all_A, all_B, &round, round.weight * exp(-rate * (double)(ROUNDS - 1 - i)));
    }
    for (size_t i = ROUNDS - judged; i < ROUNDS; i++) {
        const uc_past_round round = uc_rounds_at(rounds, i);
        double A[SIZE * SIZE], B[SIZE * CLASSES], W[SIZE * CLASSES];
        memcpy(A, all_A, sizeof A);
        memcpy(B, all_B, sizeof B);
        add(A, B, &round, -round.weight * exp(-rate * (double)(ROUNDS - 1 - i)));
        assert_ok(uc_solve(W, A, B, SIZE, CLASSES));
        for (size_t k = 0; k < CLASSES; k++) {
            double s = 0.0;
            for (size_t j = 0; j < SIZE; j++)
                s += (double)round.phi[j] * W[j * CLASSES + k];
            const double wanted = round.right ? target_of(&round, k) : -1.0 / CLASSES;
            if (round.right || k == round.class)
                error += (s - wanted) * (s - wanted);
        }
    }
    return error;
}

static void the_choice_is_that_of_refitting(void **state)
{
    (void)state;
    const double drifts[] = {0.0, 0.2, 0.4, 0.8, 3.0};
    size_t chosen[UC_FORGET_RATES] = {0};
    assert_ok(uc_blas_begin(1));
    for (size_t d = 0; d < sizeof drifts / sizeof *drifts; d++) {
        uc_map *map;
        uc_rounds rounds = draw_rounds(d, drifts[d], &map);
        const uc_forget nothing = {0};
        double least = INFINITY;
        uint64_t best = 0, number;
        for (uint64_t i = 0; i < UC_FORGET_RATES; i++) {
            const double error = slow_error(&rounds, map, rates[i], 0, JUDGED);
            if (i == 0 || error < 0.98 * least) {
                least = error;
                best = i;
            }
        }
        assert_ok(uc_forget_choose(&number, &nothing, ROUNDS, &rounds, map, &choice));
        assert_int_equal(number, best);
        chosen[number]++;
        /* As they are weighed now does not matter. */
        uc_forget forget = nothing;
        uc_forget_reweigh(&forget, 2, ROUNDS, &rounds);
        assert_ok(uc_forget_choose(&number, &forget, ROUNDS, &rounds, map, &choice));
        assert_int_equal(number, best);
        uc_map_free(map);
        uc_rounds_free(&rounds);
    }
    assert_true(chosen[0] > 0 && chosen[2] > 0);
}

/* Classes that change places help no more; those of a line that stays do, even when there are few rounds. */
static void beginning_again_is_judged_as_by_refitting(void **state)
{
    (void)state;
    const size_t lasts[] = {40, 100, 400};
    const uc_forget nothing = {0};
    size_t chosen[2] = {0};
    for (size_t swapped = 0; swapped < 2; swapped++)
        for (size_t l = 0; l < sizeof lasts / sizeof *lasts; l++) {
            const size_t last = lasts[l], from = ROUNDS - last;
            uc_map *map;
            bool better;
            uc_rounds rounds = draw_rounds(5 + l, 0.0, &map);
            for (size_t i = from; i < ROUNDS && swapped; i++)
                rounds.answer[i] ^= 2; /* the other class */
            for (size_t i = from; i < ROUNDS && swapped; i++)
                for (size_t k = 0; k < CLASSES; k++)
                    rounds.targets[i * CLASSES + k] = 0.8f - rounds.targets[i * CLASSES + k];
            const double with = slow_error(&rounds, map, 0.0, 0, last);
            const double without = slow_error(&rounds, map, 0.0, from, last);
            assert_ok(uc_forget_judge_restart(&better, last, &nothing, ROUNDS, &rounds, map, &choice));
            assert_int_equal(better, without < with);
            assert_int_equal(better, swapped);
            chosen[better]++;
            uc_map_free(map);
            uc_rounds_free(&rounds);
        }
    assert_true(chosen[0] > 0 && chosen[1] > 0);
}

/* What came before is not among the rounds kept: there is nothing to compare with. */
static void a_change_longer_ago_than_the_memory_is_certain(void **state)
{
    (void)state;
    const uc_forget nothing = {0};
    uc_map *map;
    bool better = false;
    uc_rounds rounds = draw_rounds(1, 0.0, &map);
    assert_ok(uc_forget_judge_restart(&better, ROUNDS, &nothing, ROUNDS, &rounds, map, &choice));
    assert_true(better);
    uc_map_free(map);
    uc_rounds_free(&rounds);
}

static void old_rounds_weigh_less_and_get_their_weight_back(void **state)
{
    (void)state;
    uc_map *map;
    uc_rounds rounds = draw_rounds(1, 1.0, &map);
    uc_forget forget = {0};
    uc_forget_reweigh(&forget, 2, 7000, &rounds);
    assert_near(uc_forget_factor(&forget, 7000), 1.0, 0.0);
    assert_near(uc_forget_factor(&forget, 9000), exp(1.0), 1e-12);
    for (size_t i = 0; i < ROUNDS; i++) {
        const double own = 0.5 + (double)(i % 3), ago = (double)(ROUNDS - i);
        assert_near(uc_rounds_at(&rounds, i).weight, own * exp(-ago / 2000.0), 1e-6 * own);
    }
    uc_forget_reweigh(&forget, 0, 7000, &rounds);
    for (size_t i = 0; i < ROUNDS; i++)
        assert_near(uc_rounds_at(&rounds, i).weight, 0.5 + (double)(i % 3), 1e-6);
    uc_map_free(map);
    uc_rounds_free(&rounds);
}

static uc_status choose_once(const uc_rounds *rounds, const uc_map *map)
{
    const uc_forget nothing = {0};
    uint64_t number;
    bool better;
    const uc_status status = uc_forget_choose(&number, &nothing, ROUNDS, rounds, map, &choice);
    if (status != UC_OK)
        return status;
    return uc_forget_judge_restart(&better, 100, &nothing, ROUNDS, rounds, map, &choice);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_map *map;
    uc_rounds rounds = draw_rounds(1, 1.0, &map);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, choose_once(&rounds, map));
    assert_ok(status);
    uc_map_free(map);
    uc_rounds_free(&rounds);
}

/* ---- the learner ---- */

enum { MANY = 13000, ANGLES = 4 };

/* A row of round t: two of four places on a circle that turns by half in all belong to each class. */
static uint32_t draw_round(float *x, uc_rng *rng, size_t t)
{
    const uint32_t place = (uint32_t)uc_rng_below(rng, ANGLES);
    const double pi = acos(-1.0), angle = 2.0 * pi * place / ANGLES + pi * (double)t / MANY;
    x[0] = (float)(2.0 * cos(angle) + 0.3 * uc_rng_normal(rng));
    x[1] = (float)(2.0 * sin(angle) + 0.3 * uc_rng_normal(rng));
    return place % 2;
}

static online_setup drifting(int restart)
{
    online_setup self = {.learner = "onebit", .train = uc_train_defaults()};
    uc_options_defaults(uc_learner_options(uc_learner_find("onebit")), &self.settings.onebit);
    self.settings.onebit.restart = restart;
    self.settings.onebit.memory_rounds = 6000;
    self.train.map.dimension = 24;
    return self;
}

/* Right proposals after round 5,000; with `stops`, the learner is saved and resumed now and then. */
static size_t right_of(uc_online **out, int restart, bool stops)
{
    const online_setup self = drifting(restart);
    uc_dataset names = sample_data(4, COLUMNS, CLASSES, false, 1);
    uc_online *online = online_begin(&self, &names.classes, NULL);
    uc_rng rng = uc_rng_make(3, 41);
    size_t right = 0;
    for (size_t t = 0; t < MANY; t++) {
        float x[COLUMNS];
        const uint32_t y = draw_round(x, &rng, t);
        if (stops && t % 997 == 0) {
            uc_model *model;
            assert_ok(uc_online_model(&model, online, true));
            uc_online_free(online);
            assert_ok(uc_online_resume(&online, model));
            uc_model_free(model);
        }
        right += online_round_on(online, (uc_row){COLUMNS, x, NULL}, y) == y && t >= 5000;
    }
    uc_dataset_free(&names);
    *out = online;
    return right;
}

static void drift_is_followed_and_resumed(void **state)
{
    (void)state;
    uc_online *follows, *resumed, *stays;
    const size_t right = right_of(&follows, 1, false);
    assert_int_equal(right_of(&resumed, 1, true), right);
    check_same_online(follows, resumed);
    const size_t without = right_of(&stays, 0, false);
    print_message("right after round 5,000 of %d: %zu, with --no-restart %zu\n", MANY, right, without);
    assert_true(right > without + 300);
    uc_online_free(follows);
    uc_online_free(resumed);
    uc_online_free(stays);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_is_that_of_refitting),
        cmocka_unit_test(beginning_again_is_judged_as_by_refitting),
        cmocka_unit_test(a_change_longer_ago_than_the_memory_is_certain),
        cmocka_unit_test(old_rounds_weigh_less_and_get_their_weight_back),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(drift_is_followed_and_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
