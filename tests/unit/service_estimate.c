/* Off-policy estimates cover the truth: logs are drawn, and what the other learner would have earned is
 * known. */
#include <math.h>

#include "service/estimate.h"
#include "tests/support.h"
#include "unconfuse/unconfuse.h"

/* Needed by app/: this test is no program. */
#include "app/program.h"
const app_program app_this_program = {.name = "service_estimate"};

enum { CLASSES = 4, EVENTS = 2000, LOGS = 100 };

static bool covers(interval given, double truth)
{
    return given.low <= truth && truth <= given.high;
}

/* A log of a policy that proposes a favourite with 1 - e + e/K and others with e/K. The other learner is
 * right with a probability that grows, as one that learns is. *truth: the mean of those probabilities. */
static estimates draw_log(double *truth, uint64_t draw, double explore)
{
    uc_rng rng = uc_rng_make(draw, 22);
    estimate *sums = estimate_create(CLASSES);
    *truth = 0.0;
    for (size_t t = 0; t < EVENTS; t++) {
        const uint32_t label = (uint32_t)uc_rng_below(&rng, CLASSES);
        const double skill = 0.4 + 0.5 * (double)t / EVENTS;
        uint32_t now = (uint32_t)uc_rng_below(&rng, CLASSES),
                 favourite = (uint32_t)uc_rng_below(&rng, CLASSES);
        const bool knows = uc_rng_uniform(&rng) < skill;
        if (knows)
            now = label;
        *truth += (skill + (1.0 - skill) / CLASSES) / EVENTS;
        uint32_t logged = favourite;
        if (uc_rng_uniform(&rng) < explore)
            logged = (uint32_t)uc_rng_below(&rng, CLASSES);
        const double probability = explore / CLASSES + (logged == favourite ? 1.0 - explore : 0.0);
        estimate_add(sums, logged, probability, logged == label, now);
    }
    const estimates found = estimate_all(sums);
    estimate_free(sums);
    return found;
}

static void ips_snips_and_dr_cover_the_truth(void **state)
{
    static const double explored[] = {1.0, 0.5, 0.2};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        size_t ips = 0, snips = 0, dr = 0;
        double narrower = 0.0;
        for (uint64_t draw = 0; draw < LOGS; draw++) {
            double truth;
            const estimates found = draw_log(&truth, draw + 1000 * i, explored[i]);
            ips += covers(found.ips, truth);
            snips += covers(found.snips, truth);
            dr += covers(found.dr, truth);
            narrower += (found.ips.high - found.ips.low) - (found.dr.high - found.dr.low);
        }
        assert_true(ips >= 90 && snips >= 90 && dr >= 90);
        assert_true(ips < 100 || dr < 100 || snips < 100); /* intervals that say something */
        assert_true(narrower > 0.0);
    }
}

/* Three events by hand: w = 2, 0, 4; r = 1, 1, 0. */
static void three_events_by_hand(void **state)
{
    estimate *sums = estimate_create(2);
    (void)state;
    estimate_add(sums, 0, 0.5, true, 0);   /* q = .5: term .5 + 2 (.5) = 1.5 */
    estimate_add(sums, 0, 0.5, true, 1);   /* q = .5: term .5 */
    estimate_add(sums, 1, 0.25, false, 1); /* q = .5: term .5 - 4 (.5) = -1.5 */
    const estimates found = estimate_all(sums);
    estimate_free(sums);
    assert_true(fabs(found.ips.estimate - 2.0 / 3.0) < 1e-15);
    assert_true(fabs(found.snips.estimate - 2.0 / 6.0) < 1e-15);
    assert_true(fabs(found.replay.estimate - 0.5) < 1e-15);
    assert_true(fabs(found.dr.estimate - 0.5 / 3.0) < 1e-15);
    assert_true(fabs(found.effective - 36.0 / 20.0) < 1e-15);
    assert_true(found.events == 3 && found.agreed == 2 && fabs(found.logged - 2.0 / 3.0) < 1e-15);
    /* residuals w (r - 1/3): 4/3 and -4/3; half = 1.96 sqrt(32/9) / 6 */
    assert_true(fabs(found.snips.high - found.snips.estimate - 1.959963984540054 * sqrt(32.0 / 9.0) / 6.0) <
                1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ips_snips_and_dr_cover_the_truth),
        cmocka_unit_test(three_events_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
