/* The error on true classes that audits report: its interval contains the known error, and is no wider than
 * necessary. */
#include "tests/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/probability_rows.h"
#include "tests/sample.h"

#define DRAWS 6
#define K 3

/* ---- one label per row ---- */

/* Clouds of rows at a distance, whose labels go to the next class, or to any, at a rate. */
static uc_dataset draw_clouds(uint32_t **truth, size_t rows, double distance, double rate, bool pair,
                              uint64_t seed)
{
    uc_dataset data = {0};
    uc_rng rng = uc_rng_make(seed, 3);
    const char *const names[] = {"a", "b", "c"};
    assert_ok(uc_matrix_create_dense(&data.X, rows, 4));
    data.classes = sample_names(names, K);
    data.y = uc_alloc(rows, sizeof *data.y);
    *truth = uc_alloc(rows, sizeof **truth);
    for (size_t i = 0; i < rows; i++) {
        const uint32_t z = (uint32_t)uc_rng_below(&rng, K);
        float *row = data.X.values + i * data.X.stride;
        for (size_t j = 0; j < 4; j++)
            row[j] = (float)(uc_rng_normal(&rng) + (j == z ? distance : 0.0));
        (*truth)[i] = data.y[i] = z;
        if (uc_rng_uniform(&rng) < rate)
            data.y[i] = (z + 1 + (pair ? 0 : (uint32_t)uc_rng_below(&rng, K - 1))) % K;
    }
    return data;
}

static double share_other(const uint32_t *a, const uint32_t *b, size_t count)
{
    size_t other = 0;
    for (size_t i = 0; i < count; i++)
        other += a[i] != b[i];
    return (double)other / (double)count;
}

static uc_label_audit_settings settings(uint64_t seed)
{
    uc_label_audit_settings out = {.bootstrap = 20, .seed = seed};
    uc_options_defaults(uc_audit_options, &out.learner);
    out.learner.landmarks = 60;
    return out;
}

static const uc_context alone = {.threads = 1}; /* the work is too small for more */

/* How many of the intervals hold the error; *width becomes their mean width. */
static int count_held(double *width, size_t rows, double distance, double rate, bool pair)
{
    int held = 0;
    *width = 0.0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        uint32_t *truth;
        uc_dataset data = draw_clouds(&truth, rows, distance, rate, pair, seed);
        uc_label_audit found = {0};
        const uc_label_audit_settings own = settings(seed);
        assert_ok(uc_label_audit_run(&found, &data, NULL, &own, &alone));
        const double error = share_other(found.predicted, truth, rows);
        held += found.clean_error.low <= error && error <= found.clean_error.high;
        *width += (found.clean_error.high - found.clean_error.low) / DRAWS;
        assert_true(found.clean_error.low <= found.clean_error.estimate);
        assert_true(found.clean_error.estimate <= found.clean_error.high);
        uc_label_audit_free(&found);
        uc_dataset_free(&data);
        uc_free(truth);
    }
    return held;
}

static void intervals_of_audits_hold_the_true_error(void **state)
{
    (void)state;
    double width;
    assert_true(count_held(&width, 150, 2.0, 0.0, false) >= 5);
    assert_true(count_held(&width, 150, 2.0, 0.2, false) >= 5);
    assert_true(count_held(&width, 150, 3.0, 0.3, true) >= 5);
    assert_true(count_held(&width, 700, 2.0, 0.2, false) >= 5); /* by leave-one-out */
}

/* Some rows are clear and some are not. If labels are equally often wrong in both, this can be distinguished
 * from errors of the model. By probabilities, which call all rows clear, the interval would begin at 0 and
 * end above .2. */
static void noise_is_told_from_errors(void **state)
{
    (void)state;
    double width;
    assert_true(count_held(&width, 700, 3.5, 0.2, false) >= 5);
    assert_true(width < 0.13);
}

static void the_model_keeps_error_and_share(void **state)
{
    (void)state;
    uint32_t *truth;
    uc_dataset data = draw_clouds(&truth, 200, 4.0, 0.2, false, 3);
    uc_label_audit found = {0};
    const uc_label_audit_settings own = settings(1);
    assert_ok(uc_label_audit_run(&found, &data, NULL, &own, &alone));
    char *text;
    assert_ok(uc_model_describe(&text, found.model));
    assert_non_null(strstr(text, "\"clean_error\""));
    assert_non_null(strstr(text, "\"wrong_labels\""));
    assert_near(found.clean_error.wrong, found.wrong.estimate, 1e-12);
    uc_model_text_free(text);
    uc_label_audit_free(&found);
    uc_dataset_free(&data);
    uc_free(truth);
}

/* ---- annotators ---- */

static void draw_crowd(uc_crowd *out, uint32_t *truth, size_t rows, size_t each, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 4);
    const char *const who[] = {"p", "q", "r", "s", "t", "u"}, *const names[] = {"a", "b", "c"};
    uc_names annotators = sample_names(who, 6), classes = sample_names(names, K);
    uint32_t *row = calloc(rows * each, 4), *annotator = calloc(rows * each, 4),
             *label = calloc(rows * each, 4);
    for (size_t i = 0; i < rows; i++) {
        truth[i] = (uint32_t)uc_rng_below(&rng, K);
        const size_t start = uc_rng_below(&rng, 6);
        for (size_t e = 0; e < each; e++) {
            const size_t a = i * each + e, j = (start + e) % 6;
            row[a] = (uint32_t)i;
            annotator[a] = (uint32_t)j;
            label[a] = truth[i];
            if (uc_rng_uniform(&rng) > 0.55 + 0.07 * (double)j)
                label[a] = (truth[i] + 1 + (uint32_t)uc_rng_below(&rng, K - 1)) % K;
        }
    }
    assert_ok(
        uc_crowd_from_arrays(out, row, annotator, label, rows * each, rows, &annotators, &classes, NULL));
    uc_names_free(&annotators);
    uc_names_free(&classes);
    free(row);
    free(annotator);
    free(label);
}

static void intervals_of_a_consensus_hold_its_true_error(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    uint32_t truth[ROWS];
    for (int method = UC_CONSENSUS_DAWID_SKENE; method <= UC_CONSENSUS_ONE_COIN; method++) {
        uc_consensus_settings own = uc_consensus_defaults();
        own.method = method;
        int held = 0;
        double width = 0.0;
        for (uint64_t seed = 1; seed <= DRAWS; seed++) {
            uc_crowd crowd = {0};
            uc_consensus found = {0};
            uc_clean_error judged;
            draw_crowd(&crowd, truth, ROWS, 3, seed);
            assert_ok(uc_consensus_find(&found, &crowd, NULL, NULL, &own, &alone));
            assert_ok(uc_consensus_error(&judged, &found, &crowd, NULL, seed, &alone));
            const double error = share_other(found.most_probable, truth, ROWS);
            held += judged.low <= error && error <= judged.high;
            width += (judged.high - judged.low) / DRAWS;
            assert_int_equal(judged.rows, ROWS);
            uc_consensus_free(&found);
            uc_crowd_free(&crowd);
        }
        assert_true(held >= 5);
        assert_true(width < 0.3);
    }
}

static void checked_rows_of_a_crowd_are_right(void **state)
{
    (void)state;
    enum { ROWS = 200 };
    uint32_t truth[ROWS];
    uc_crowd crowd = {0};
    uc_consensus found = {0};
    uc_clean_error judged;
    draw_crowd(&crowd, truth, ROWS, 2, 1);
    assert_ok(uc_consensus_find(&found, &crowd, truth, NULL, NULL, NULL));
    assert_ok(
        uc_consensus_error(&judged, &found, &crowd, truth, 1, NULL)); /* all are checked: nothing is open */
    assert_near(judged.high, 0.0, 0.0);
    uc_consensus_free(&found);
    uc_crowd_free(&crowd);
}

/* ---- probabilities ---- */

static void intervals_of_probabilities_hold_the_true_error(void **state)
{
    (void)state;
    enum { ROWS = 400 };
    int held = 0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        uc_rng rng = uc_rng_make(seed, 5);
        uc_probability_rows rows = {0};
        uc_clean_error error;
        uint32_t truth[ROWS], labels[ROWS], predicted[ROWS];
        assert_ok(uc_probability_rows_create(&rows, ROWS, K, ROWS * K));
        for (size_t i = 0; i < ROWS; i++) {
            double p[K], sum = 0.0;
            float given[K];
            truth[i] = (uint32_t)uc_rng_below(&rng, K);
            labels[i] = uc_rng_uniform(&rng) < 0.25 ? (uint32_t)uc_rng_below(&rng, K) : truth[i];
            for (size_t k = 0; k < K; k++) /* too sure of itself, three times over */
                sum += p[k] = exp(3.0 * (uc_rng_normal(&rng) + (k == truth[i] ? 2.5 : 0.0)));
            for (size_t k = 0; k < K; k++)
                given[k] = (float)(p[k] / sum);
            predicted[i] = 0;
            for (uint32_t k = 1; k < K; k++)
                predicted[i] = given[k] > given[predicted[i]] ? k : predicted[i];
            uc_probability_rows_set(&rows, i, given, labels[i]);
        }
        labels[7] = UC_NONE;
        assert_ok(uc_probability_clean_error(&error, &rows, labels, &alone));
        const double other = share_other(predicted, truth, ROWS);
        held += error.low <= other && other <= error.high;
        assert_int_equal(error.rows, ROWS - 1);
        uc_probability_rows_free(&rows);
    }
    assert_true(held >= 5);
}

/* ---- failures ---- */

static uc_status judge(const uc_consensus *found, const uc_crowd *crowd)
{
    uc_clean_error error;
    return uc_consensus_error(&error, found, crowd, NULL, 1, &alone);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_status status;
    uint32_t *truth, truths[30];
    uc_dataset data = draw_clouds(&truth, 8, 3.0, 0.2, false, 1);
    uc_label_audit found = {0};
    uc_label_audit_settings own = settings(1);
    own.learner.landmarks = 4;
    own.bootstrap = 2;
    FOR_EACH_FAILING_ALLOCATION(status,
                                uc_label_audit_run(&found, &data, truth, &own, &(uc_context){.threads = 1}));
    uc_label_audit_free(&found);
    uc_dataset_free(&data);
    uc_free(truth);
    uc_crowd crowd = {0};
    uc_consensus consensus = {0};
    draw_crowd(&crowd, truths, 30, 2, 1);
    assert_ok(uc_consensus_find(&consensus, &crowd, NULL, NULL, NULL, NULL));
    FOR_EACH_FAILING_ALLOCATION(status, judge(&consensus, &crowd));
    uc_consensus_free(&consensus);
    uc_crowd_free(&crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_of_audits_hold_the_true_error),
        cmocka_unit_test(noise_is_told_from_errors),
        cmocka_unit_test(the_model_keeps_error_and_share),
        cmocka_unit_test(intervals_of_a_consensus_hold_its_true_error),
        cmocka_unit_test(checked_rows_of_a_crowd_are_right),
        cmocka_unit_test(intervals_of_probabilities_hold_the_true_error),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
