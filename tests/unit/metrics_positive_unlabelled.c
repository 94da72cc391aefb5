/* Measures for data in which only some positives have a label. */
#include "tests/support.h"

#include <math.h>

#include "unconfuse/metrics.h"

/* Worked by hand: labelled 2, 1, -1; unlabelled 3, 0.5, -1, -2, -3. */
static const bool labelled[] = {true, true, true, false, false, false, false, false};
static const double scores[] = {2, 1, -1, 3, 0.5, -1, -2, -3};

static void figures_worked_by_hand(void **state)
{
    (void)state;
    uc_pu_evaluation found;
    assert_ok(uc_pu_evaluation_compute(&found, labelled, scores, 8, 0.5, true));
    assert_int_equal(found.labelled, 3);
    assert_int_equal(found.unlabelled, 5);
    assert_near(found.recall, 2.0 / 3, 1e-15);
    assert_near(found.predicted_positive, 4.0 / 8, 1e-15);
    assert_near(found.precision, 2.0 / 3, 1e-15);         /* .5 r / q */
    assert_near(found.f1, 2.0 / 3, 1e-15);                /* 2 .5 r / (.5 + q) */
    assert_near(found.error, 0.5 + 0.5 - 2.0 / 3, 1e-15); /* q + pi - 2 pi r */
    /* of 24 pairs: 2 is above 6 and even with itself, 1 above 5 and even, -1 above 2 and even with two */
    assert_near(found.auc, ((6.5 + 5.5 + 3.0) / 24 - 0.25) / 0.5, 1e-15);
    assert_ok(uc_pu_evaluation_compute(&found, labelled, scores, 8, 0.5, false));
    assert_near(found.predicted_positive, 2.0 / 5, 1e-15);
    assert_near(found.auc, ((4.0 + 4.0 + 2.5) / 15 - 0.25) / 0.5, 1e-15);
}

static void estimates_stay_in_their_range(void **state)
{
    (void)state;
    uc_pu_evaluation found;
    const double low[] = {-1, -1, -1, -2, -2, -2, -2, -2}, best[] = {1, 1, 1, -1, -1, -1, -1, -1};
    assert_ok(uc_pu_evaluation_compute(&found, labelled, low, 8, 0.4, true));
    assert_true(isnan(found.precision));
    assert_near(found.f1, 0.0, 0.0);
    assert_near(found.error, 0.4, 1e-15);
    assert_ok(
        uc_pu_evaluation_compute(&found, labelled, best, 8, 0.9, true)); /* a prior that is far too high */
    assert_near(found.precision, 1.0, 0.0);
    assert_near(found.error, 0.0, 0.0);
    assert_near(found.f1, 1.0, 0.0);
    assert_near(found.auc, 1.0, 0.0);
}

static void what_cannot_be_evaluated_is_refused(void **state)
{
    (void)state;
    uc_pu_evaluation found;
    assert_error(uc_pu_evaluation_compute(&found, labelled, scores, 3, 0.5, true), UC_ERR_INVALID,
                 "there is no unlabelled example to evaluate with");
    assert_error(uc_pu_evaluation_compute(&found, labelled + 3, scores, 3, 0.5, true), UC_ERR_INVALID,
                 "there is no labelled example to evaluate with");
    assert_error(uc_pu_evaluation_compute(&found, labelled, scores, 8, 1.0, true), UC_ERR_INVALID,
                 "the class prior, 1, is not between 0 and 1");
    assert_error(uc_pu_evaluation_compute(&found, labelled, scores, 8, (double)NAN, true), UC_ERR_INVALID,
                 "the class prior, nan, is not between 0 and 1");
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, uc_pu_evaluation_compute(&found, labelled, scores, 8, 0.5, true));
}

/* Rows that weigh 0, 1, 2 and 3 by turns against rows repeated so often; the unit does not matter. */
static void a_weight_is_a_number_of_rows(void **state)
{
    (void)state;
    enum { ROWS = 40 };
    bool known[ROWS], more_labelled[3 * ROWS];
    double values[ROWS], weights[ROWS], halves[ROWS], more_scores[3 * ROWS];
    size_t more = 0;
    for (size_t i = 0; i < ROWS; i++) {
        known[i] = i % 3 == 0;
        values[i] = (double)(i * 13 % 17) - (known[i] ? 5.0 : 9.0);
        weights[i] = (double)(i * 7 % 4);
        halves[i] = weights[i] / 2.0;
        for (double t = 0.0; t < weights[i]; t += 1.0) {
            more_labelled[more] = known[i];
            more_scores[more++] = values[i];
        }
    }
    for (int censored = 0; censored < 2; censored++) {
        uc_pu_evaluation a, b, c;
        assert_ok(uc_pu_evaluation_weighted(&a, known, values, weights, ROWS, 0.4, censored));
        assert_ok(uc_pu_evaluation_weighted(&b, known, values, halves, ROWS, 0.4, censored));
        assert_ok(uc_pu_evaluation_compute(&c, more_labelled, more_scores, more, 0.4, censored));
        const double figures[3][6] = {{a.recall, a.predicted_positive, a.precision, a.f1, a.error, a.auc},
                                      {b.recall, b.predicted_positive, b.precision, b.f1, b.error, b.auc},
                                      {c.recall, c.predicted_positive, c.precision, c.f1, c.error, c.auc}};
        for (size_t i = 0; i < 6; i++) {
            assert_near(figures[0][i], figures[2][i], 1e-12);
            assert_near(figures[1][i], figures[2][i], 1e-12);
        }
        assert_near(a.recall_interval[0], b.recall_interval[0], 1e-12);
        assert_true(a.recall_interval[1] - a.recall_interval[0] >
                    c.recall_interval[1] - c.recall_interval[0]);
    }
    weights[2] = (double)INFINITY;
    uc_pu_evaluation none;
    assert_error(uc_pu_evaluation_weighted(&none, known, values, weights, ROWS, 0.4, true), UC_ERR_INVALID,
                 "the weight of example 3, inf, is not a finite number of 0 or more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_weight_is_a_number_of_rows),
        cmocka_unit_test(figures_worked_by_hand),
        cmocka_unit_test(estimates_stay_in_their_range),
        cmocka_unit_test(what_cannot_be_evaluated_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
