/* When onebit begins again: seldom without a cause, and soon with one. */
#include "tests/support.h"

#include <math.h>

#include "learn/onebit/change.h"
#include "unconfuse/random.h"

/* Rounds until it begins again, when proposals are right with probability p, then q from round `after` on;
 * 0: never. */
static uint64_t rounds_until(uc_rng *rng, double p, double q, uint64_t after, uint64_t most)
{
    uc_change change = {0};
    for (uint64_t t = 1; t <= most; t++)
        if (uc_change_round(&change, uc_rng_uniform(rng) < (t <= after ? p : q)))
            return t;
    return 0;
}

/* Fewer than one false restart in 100,000 rounds, whatever the share of right proposals. */
static void stationary_streams_go_on(void **state)
{
    (void)state;
    const double shares[] = {0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995};
    const uint64_t rounds = 2000000;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        uc_rng rng = uc_rng_make(7, i);
        uint64_t restarts = 0;
        for (uint64_t t = 0; t < rounds;) {
            const uint64_t until = rounds_until(&rng, shares[i], shares[i], rounds, rounds - t);
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
            assert_false(uc_change_round(&change, uc_rng_uniform(&rng) < 0.95 - 0.85 * exp(-t / 200.0)));
    }
}

/* Also where more than half stay right. */
static void drops_are_noticed(void **state)
{
    (void)state;
    const struct {
        double before, after;
        uint64_t within;
    } drops[] = {{0.97, 0.03, 100}, {0.97, 0.6, 160}, {0.6, 0.1, 150}};
    for (size_t i = 0; i < sizeof drops / sizeof *drops; i++) {
        size_t noticed = 0;
        for (uint64_t seed = 0; seed < 100; seed++) {
            uc_rng rng = uc_rng_make(9 + i, seed);
            const uint64_t at =
                rounds_until(&rng, drops[i].before, drops[i].after, 2000, 2000 + drops[i].within);
            noticed += at > 2000;
        }
        assert_true(noticed >= 90);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stationary_streams_go_on),
        cmocka_unit_test(learning_is_no_change),
        cmocka_unit_test(drops_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
