/* Ranks and Friedman's test against SciPy, the critical difference against the literature. */
#include "tests/support.h"

#include <math.h>

#include "unconfuse/metrics.h"

static void ranks_share_their_mean_among_equals(void **state)
{
    (void)state;
    const double values[] = {0.3, 0.1, 0.3, 0.9, 0.3}, expected[] = {3.0, 1.0, 3.0, 5.0, 3.0};
    double ranks[5];
    uc_metrics_ranks(ranks, values, 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(ranks[i] == expected[i]);
}

/* scipy.stats.friedmanchisquare, and scipy.stats.f.sf of Iman and Davenport's statistic. */
static void friedman_agrees_with_scipy(void **state)
{
    (void)state;
    const double errors[] = {0.1, 0.4, 1.1, 0.7, 0.1, 0.6, 0.8, 0.3, 0.7, 0.3, 0.7, 0.6, 0.4, 0.8, 1.0, 1.1,
                             0.3, 0.8, 1.0, 0.4, 0.0, 1.2, 0.6, 0.4, 0.9, 0.8, 0.8, 0.9, 0.0, 0.9, 0.7, 0.2};
    const double expected[] = {1.625, 2.5625, 3.25, 2.5625};
    double ranks[4];
    uc_friedman test;
    assert_ok(uc_metrics_friedman(&test, ranks, errors, 8, 4));
    for (size_t j = 0; j < 4; j++)
        assert_near(ranks[j], expected[j], 1e-15);
    assert_near_relative(test.statistic, 6.662337662337657, 1e-13);
    assert_near_relative(test.p_value, 0.07242012401650891, 1e-11);
}

/* q of Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006), table 5(a). */
static void critical_differences_are_demsars(void **state)
{
    (void)state;
    const double q[] = {1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164};
    double errors[2 * 10] = {0}, ranks[10];
    for (size_t k = 2; k <= 10; k++) {
        uc_friedman test;
        assert_ok(uc_metrics_friedman(&test, ranks, errors, 2, k));
        const double unit = sqrt((double)(k * (k + 1)) / (6.0 * 2.0));
        assert_near(test.critical_difference / unit, q[k - 2], 1e-3);
    }
}

static void friedman_knows_its_limits(void **state)
{
    (void)state;
    const double same[] = {0.5, 0.5, 0.5, 0.5}, order[] = {0.1, 0.2, 0.3, 0.4};
    double ranks[2];
    uc_friedman test;
    assert_ok(uc_metrics_friedman(&test, ranks, same, 2, 2));
    assert_true(test.statistic == 0.0 && test.p_value == 1.0 && ranks[0] == 1.5);
    assert_ok(uc_metrics_friedman(&test, ranks, order, 2, 2));
    assert_true(test.p_value == 0.5 && ranks[0] == 1.0 &&
                ranks[1] == 2.0); /* the second order is as likely */
    assert_ok(uc_metrics_friedman(&test, ranks, order, 1, 2));
    assert_true(isnan(test.p_value) && isnan(test.critical_difference) && ranks[1] == 2.0);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, uc_metrics_friedman(&test, ranks, order, 2, 2));
    assert_int_equal(status, UC_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_share_their_mean_among_equals),
        cmocka_unit_test(friedman_agrees_with_scipy),
        cmocka_unit_test(critical_differences_are_demsars),
        cmocka_unit_test(friedman_knows_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
