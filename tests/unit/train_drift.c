/* ADWIN on random bits: the changes that it finds, and how often it gives a false alarm. */
#include "tests/support.h"
#include "unconfuse/unconfuse.h"

/* Adds `count` bits of a ratio; the first alarm, counted from 1; 0: none. */
static uint64_t add_bits(uc_drift *drift, uc_rng *rng, double ratio, uint64_t count)
{
    uint64_t first = 0;
    for (uint64_t i = 1; i <= count; i++)
        if (uc_drift_add(drift, uc_rng_uniform(rng) < ratio) && first == 0)
            first = i;
    return first;
}

static void a_fall_is_found_within_500_rounds(void **state)
{
    (void)state;
    for (uint64_t draw = 0; draw < 50; draw++) {
        uc_rng rng = uc_rng_make(draw, 1);
        uc_drift drift = {0};
        assert_int_equal(add_bits(&drift, &rng, 0.9, 300 + 100 * draw), 0);
        const uint64_t found = add_bits(&drift, &rng, 0.6, 500);
        assert_true(found > 0);
        assert_true(drift.before > 0.85 && drift.after < 0.8);
    }
}

static void a_constant_ratio_is_no_alarm(void **state)
{
    static const double ratios[] = {0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98};
    (void)state;
    for (uint64_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        uc_rng rng = uc_rng_make(i, 2);
        uc_drift drift = {0};
        (void)add_bits(&drift, &rng, ratios[i], 200000);
        assert_true(drift.alarms <= 1); /* fewer than one in 100,000 rounds */
        assert_true(drift.width > 100000);
    }
}

static void a_rise_moves_the_window_and_is_no_alarm(void **state)
{
    uc_rng rng = uc_rng_make(3, 3);
    uc_drift drift = {0};
    (void)state;
    (void)add_bits(&drift, &rng, 0.6, 5000);
    (void)add_bits(&drift, &rng, 0.9, 5000);
    assert_int_equal(drift.alarms, 0);
    assert_true(drift.width < 6000);
    const double ratio = (double)drift.right / (double)drift.width;
    assert_true(ratio > 0.85);
}

/* The sums are those of a window that is kept bit by bit. */
static void the_window_holds_the_last_bits(void **state)
{
    enum { ROUNDS = 5000 };
    static bool bits[ROUNDS];
    uc_rng rng = uc_rng_make(4, 4);
    uc_drift drift = {0};
    (void)state;
    for (size_t t = 0; t < ROUNDS; t++) {
        bits[t] = uc_rng_uniform(&rng) < (t < 2000 ? 0.8 : 0.3);
        (void)uc_drift_add(&drift, bits[t]);
        uint64_t right = 0;
        for (size_t i = 0; i < drift.width && t % 97 == 0; i++)
            right += bits[t - i];
        assert_true(t % 97 != 0 || right == drift.right);
    }
    assert_int_equal(drift.alarms, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fall_is_found_within_500_rounds),
        cmocka_unit_test(a_constant_ratio_is_no_alarm),
        cmocka_unit_test(a_rise_moves_the_window_and_is_no_alarm),
        cmocka_unit_test(the_window_holds_the_last_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
