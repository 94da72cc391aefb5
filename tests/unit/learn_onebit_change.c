/* When onebit begins again: seldom without a cause, and soon with one. */
#include "tests/support.h"

#include <math.h>

#include "learn/onebit/change.h"
#include "unconfuse/random.h"

/* Scores of low, middling and high confidence, and how a share p of right proposals is spread over them. */
static double score_of(double u)
{
    if (u < 0.33)
        return 0.2;
    return u < 0.6 ? 0.5 : 0.9;
}

static double share_of(double p, double score)
{
    if (score < 0.4)
        return 0.6 * p;
    return score < 0.75 ? 0.9 * p : p + (1.0 - p) / 2.0;
}

/* Rounds until a change is seen, when proposals are right with probability p, then q from round `after` on;
 * 0: never. `sure`: with scores that say how likely they are right. */
static uint64_t rounds_until(uc_rng *rng, double p, double q, uint64_t after, uint64_t most, bool sure)
{
    uc_change change = {0};
    for (uint64_t t = 1; t <= most; t++) {
        const double now = t <= after ? p : q, score = sure ? score_of(uc_rng_uniform(rng)) : 0.9;
        if (uc_change_round(&change, score, uc_rng_uniform(rng) < (sure ? share_of(now, score) : now))
                .rounds > 0)
            return t;
    }
    return 0;
}

/* Fewer than one false restart in 100,000 rounds, whatever the share of right proposals. */
static void stationary_streams_go_on(void **state)
{
    (void)state;
    const double shares[] = {0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995};
    const uint64_t rounds = 2000000;
    for (size_t i = 0; i < 2 * sizeof shares / sizeof *shares; i++) {
        const double share = shares[i / 2];
        uc_rng rng = uc_rng_make(7, i);
        uint64_t restarts = 0;
        for (uint64_t t = 0; t < rounds;) {
            const uint64_t until = rounds_until(&rng, share, share, rounds, rounds - t, i % 2);
            restarts += until > 0;
            t = until > 0 ? t + until : rounds;
        }
        assert_true(restarts < rounds / 100000);
    }
}

/* A learner that gets better does not begin again. */
static void learning_is_no_change(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        uc_rng rng = uc_rng_make(8, seed);
        uc_change change = {0};
        for (int t = 1; t <= 5000; t++)
            assert_int_equal(
                uc_change_round(&change, 0.5, uc_rng_uniform(&rng) < 0.95 - 0.85 * exp(-t / 200.0)).rounds,
                0);
    }
}

/* Also where more than half stay right. */
static void drops_are_noticed(void **state)
{
    (void)state;
    const struct {
        double before, after;
        uint64_t within;
    } drops[] = {{0.97, 0.03, 60}, {0.97, 0.6, 64}, {0.6, 0.1, 64},  {0.8, 0.45, 120},
                 {0.95, 0.7, 120}, {0.9, 0.7, 250}, {0.6, 0.35, 300}};
    for (size_t i = 0; i < sizeof drops / sizeof *drops; i++) {
        size_t noticed = 0;
        for (uint64_t seed = 0; seed < 100; seed++) {
            uc_rng rng = uc_rng_make(9 + i, seed);
            const uint64_t at =
                rounds_until(&rng, drops[i].before, drops[i].after, 2000, 2000 + drops[i].within, false);
            noticed += at > 2000;
        }
        assert_true(noticed >= 90);
    }
}

/* Rounds from the cut on are about those since the change, so little of what holds no more is kept. */
static void the_cut_is_near_the_change(void **state)
{
    (void)state;
    size_t near = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        uc_rng rng = uc_rng_make(20, seed);
        uc_change change = {0};
        uc_change_seen seen = {0};
        uint64_t t = 0;
        while (seen.rounds == 0 && t < 3000)
            seen = uc_change_round(&change, 0.9, uc_rng_uniform(&rng) < (t++ < 2000 ? 0.95 : 0.7));
        near += t > 2000 && seen.rounds <= t - 2000 + 32 && seen.rounds + 64 >= t - 2000;
    }
    assert_true(near >= 90);
}

/* Fewer right proposals, because rows are harder and the scores say so. */
static void hard_rows_are_no_change(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        uc_rng rng = uc_rng_make(21, seed);
        uc_change change = {0};
        for (int t = 1; t <= 4000; t++) {
            const bool hard = uc_rng_uniform(&rng) < (t <= 2000 ? 0.1 : 0.6);
            const bool right = uc_rng_uniform(&rng) < (hard ? 0.5 : 0.98);
            assert_int_equal(uc_change_round(&change, hard ? 0.3 : 0.9, right).rounds, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stationary_streams_go_on), cmocka_unit_test(learning_is_no_change),
        cmocka_unit_test(drops_are_noticed),        cmocka_unit_test(the_cut_is_near_the_change),
        cmocka_unit_test(hard_rows_are_no_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
