/* Wilson's interval against the literature, the paired t-test against SciPy. */
#include "tests/support.h"

#include <math.h>

#include "unconfuse/metrics.h"

static void check_interval(size_t hits, size_t trials, double low, double high, double tolerance)
{
    double interval[2];
    uc_metrics_wilson(interval, hits, trials);
    assert_near(interval[0], low, tolerance);
    assert_near(interval[1], high, tolerance);
}

/* Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998), table
 * I, method 3. */
static void wilson_agrees_with_newcombes_table(void **state)
{
    (void)state;
    check_interval(81, 263, 0.2553, 0.3662, 5e-5);
    check_interval(15, 148, 0.0624, 0.1605, 5e-5);
    check_interval(0, 20, 0.0000, 0.1611, 5e-5);
    check_interval(1, 29, 0.0061, 0.1718, 5e-5);
}

/* |p - q| = z sqrt(q (1 - q)/n) at both ends q: the definition of the interval. */
static void wilson_ends_solve_the_defining_equation(void **state)
{
    (void)state;
    for (size_t trials = 1; trials < 200; trials += 7)
        for (size_t hits = 0; hits <= trials; hits++) {
            double interval[2];
            uc_metrics_wilson(interval, hits, trials);
            const double p = (double)hits / (double)trials;
            for (int end = 0; end < 2; end++) {
                const double q = interval[end];
                assert_near(fabs(p - q), 1.959963984540054 * sqrt(q * (1.0 - q) / (double)trials), 1e-12);
            }
            assert_true(interval[0] <= p && p <= interval[1]);
        }
}

static void wilson_is_exact_at_the_edges(void **state)
{
    (void)state;
    double interval[2];
    uc_metrics_wilson(interval, 0, 7);
    assert_true(interval[0] == 0.0 && interval[1] > 0.0 && interval[1] < 1.0);
    uc_metrics_wilson(interval, 7, 7);
    assert_true(interval[1] == 1.0 && interval[0] > 0.0 && interval[0] < 1.0);
    uc_metrics_wilson(interval, 0, 0);
    assert_true(interval[0] == 0.0 && interval[1] == 1.0);
}

/* The p-values are those of scipy.stats.ttest_rel (SciPy 1.10.1). */
static void t_test_agrees_with_scipy(void **state)
{
    (void)state;
    const double a5[] = {0.11, 0.13, 0.09, 0.15, 0.12}, b5[] = {0.10, 0.11, 0.10, 0.12, 0.09};
    assert_near_relative(uc_metrics_paired_t_test(a5, b5, 5), 0.09930068321372693, 1e-11);
    const double a2[] = {1, 2}, b2[] = {2, 5};
    assert_near_relative(uc_metrics_paired_t_test(a2, b2, 2), 0.2951672353008664, 1e-13);
    const double a4[] = {1.0, 2.0, 3.0, 4.0}, b4[] = {1.1, 1.8, 3.3, 3.9};
    assert_near_relative(uc_metrics_paired_t_test(a4, b4, 4), 0.8360832258079628, 1e-12);

    double a[1000], b[1000];
    for (int i = 1; i <= 30; i++) {
        a[i - 1] = (double)(i * 7 % 11) / 10;
        b[i - 1] = (double)(i * 5 % 13) / 10;
    }
    assert_near_relative(uc_metrics_paired_t_test(a, b, 30), 0.27395074450933876, 1e-12);
    for (int i = 0; i < 1000; i++) {
        a[i] = (double)(i * 7919 % 1009) / 1009;
        b[i] = (double)(i * 104729 % 1013) / 1013 + 0.04;
    }
    assert_near_relative(uc_metrics_paired_t_test(a, b, 1000), 0.002688230456797011, 1e-10);
}

/* t = 3477 with 9 degrees of freedom: 1 - cdf would be 0. */
static void t_test_is_accurate_far_in_the_tail(void **state)
{
    (void)state;
    double a[10], b[10];
    for (int i = 0; i < 10; i++) {
        a[i] = 10 + i * .01;
        b[i] = i * .013;
    }
    assert_near_relative(uc_metrics_paired_t_test(a, b, 10), 6.857921663569285e-29, 1e-9);
}

/* With one degree of freedom T is Cauchy's: P(|T| >= t) = 1 - 2 atan(t)/pi. The differences 1 + h and 1 - h
 * give t = 1/h. */
static void t_test_of_two_pairs_is_cauchys(void **state)
{
    (void)state;
    const double zero[2] = {0, 0};
    for (double h = 1.0 / 1024; h < 1000; h *= 2) {
        const double a[2] = {1 + h, 1 - h};
        assert_near(uc_metrics_paired_t_test(a, zero, 2), 1.0 - 2.0 * atan(1.0 / h) / acos(-1.0), 1e-14);
    }
}

static void t_test_does_not_care_which_side_is_which(void **state)
{
    (void)state;
    const double a[] = {3, 1, 4, 1, 5}, b[] = {2, 7, 1, 8, 2};
    assert_near(uc_metrics_paired_t_test(a, b, 5), uc_metrics_paired_t_test(b, a, 5), 0);
}

static void t_test_knows_its_limits(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3}, b[] = {0, 1, 2};
    assert_true(isnan(uc_metrics_paired_t_test(a, b, 0)));
    assert_true(isnan(uc_metrics_paired_t_test(a, b, 1)));
    assert_true(uc_metrics_paired_t_test(a, a, 3) == 1.0);
    assert_true(uc_metrics_paired_t_test(a, b, 3) == 0.0); /* always exactly 1 apart */
    const double balanced[] = {1, -1}, zero[] = {0, 0};
    assert_true(uc_metrics_paired_t_test(balanced, zero, 2) == 1.0);
    const double huge[] = {1e100, 1e100, 1e100}, tiny[] = {1e-100, 0, 0};
    assert_true(uc_metrics_paired_t_test(huge, tiny, 3) == 0.0);
}

/* Squares of such numbers are beyond the range of a double; their ratios are not. */
static void t_test_does_not_depend_on_the_unit(void **state)
{
    (void)state;
    const double a[] = {1.0, 2.0, 3.0, 4.0}, b[] = {1.1, 1.8, 3.3, 3.9};
    double large_a[4], large_b[4];
    for (int i = 0; i < 4; i++) {
        large_a[i] = 0x1p500 * a[i];
        large_b[i] = 0x1p500 * b[i];
    }
    assert_near(uc_metrics_paired_t_test(large_a, large_b, 4), uc_metrics_paired_t_test(a, b, 4), 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wilson_agrees_with_newcombes_table),
        cmocka_unit_test(wilson_ends_solve_the_defining_equation),
        cmocka_unit_test(wilson_is_exact_at_the_edges),
        cmocka_unit_test(t_test_agrees_with_scipy),
        cmocka_unit_test(t_test_is_accurate_far_in_the_tail),
        cmocka_unit_test(t_test_of_two_pairs_is_cauchys),
        cmocka_unit_test(t_test_does_not_care_which_side_is_which),
        cmocka_unit_test(t_test_knows_its_limits),
        cmocka_unit_test(t_test_does_not_depend_on_the_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
