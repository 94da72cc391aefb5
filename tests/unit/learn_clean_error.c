/* The error on true classes of the scores of any model: coverage where the truth is known, degenerate rows,
 * the bound that always holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"

#define ROWS 400
#define MOST_CLASSES 3

/* Gaussians of deviation 1 around the corners of a triangle, scored by their log-density: the best there is.
 */
typedef struct problem {
    size_t K, rows;
    double scores[ROWS * MOST_CLASSES];
    uint32_t truth[ROWS], labels[ROWS];
} problem;

static void draw(problem *out, size_t K, double distance, const double *noise, uint64_t seed)
{
    static const double corner[MOST_CLASSES][2] = {{0, 0}, {1, 0}, {0.5, 0.8660254}};
    uc_rng rng = uc_rng_make(seed, 11);
    *out = (problem){.K = K, .rows = ROWS};
    for (size_t i = 0; i < ROWS; i++) {
        const size_t q = uc_rng_below(&rng, K);
        const double x = distance * corner[q][0] + uc_rng_normal(&rng);
        const double y = distance * corner[q][1] + uc_rng_normal(&rng);
        out->truth[i] = (uint32_t)q;
        out->labels[i] = (uint32_t)uc_rng_weighted(&rng, noise + q * K, K);
        for (size_t k = 0; k < K; k++)
            out->scores[i * K + k] =
                -(pow(x - distance * corner[k][0], 2) + pow(y - distance * corner[k][1], 2)) / 2.0;
    }
}

/* log-densities become probabilities */
static void to_probabilities(problem *self)
{
    for (size_t i = 0; i < self->rows; i++) {
        double *p = self->scores + i * self->K, total = 0;
        for (size_t k = 0; k < self->K; k++)
            total += p[k] = exp(p[k]);
        for (size_t k = 0; k < self->K; k++)
            p[k] /= total;
    }
}

static uc_scored_rows rows_of(const problem *self, bool probabilities)
{
    return (uc_scored_rows){.scores = self->scores,
                            .probabilities = probabilities,
                            .labels = self->labels,
                            .rows = self->rows,
                            .classes = self->K};
}

static uint32_t prediction(const problem *self, size_t i)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < self->K; k++)
        if (self->scores[i * self->K + k] > self->scores[i * self->K + best])
            best = k;
    return best;
}

/* The share of predictions that differ from the truth, or from the labels. */
static double error_against(const problem *self, const uint32_t *classes)
{
    size_t wrong = 0;
    for (size_t i = 0; i < self->rows; i++)
        wrong += prediction(self, i) != classes[i];
    return (double)wrong / (double)self->rows;
}

static void check_order(const uc_clean_error *e)
{
    assert_true(e->low >= 0.0 && e->low <= e->estimate && e->estimate <= e->high && e->high <= 1.0);
    assert_true(e->wrong >= 0.0 && e->wrong <= 1.0);
    for (int h = 0; h < 2; h++)
        assert_true(e->strata[h] >= 0.0 && e->strata[h] <= 1.0);
}

/* Symmetric, pair and one-sided noise, near and far Gaussians, scores and probabilities: at least nine of ten
 * intervals hold the error that the truth shows. */
static void intervals_cover_the_truth(void **state)
{
    (void)state;
    static const double three[3][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1},
                                       {0.7, 0.15, 0.15, 0.15, 0.7, 0.15, 0.15, 0.15, 0.7},
                                       {0.7, 0.3, 0, 0, 0.7, 0.3, 0.3, 0, 0.7}};
    static const double two[3][4] = {{1, 0, 0, 1}, {0.8, 0.2, 0.2, 0.8}, {0.95, 0.05, 0.3, 0.7}};
    problem *self = malloc(sizeof *self);
    int covered = 0, all = 0;
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int noise = 0; noise < 3; noise++)
            for (int kind = 0; kind < 8; kind++) {
                const size_t K = kind & 1 ? 2 : 3;
                uc_clean_error found;
                draw(self, K, kind & 2 ? 1.5 : 3.0, K == 2 ? two[noise] : three[noise],
                     1000 * seed + (uint64_t)(10 * noise + kind));
                if (kind & 4)
                    to_probabilities(self);
                const uc_scored_rows rows = rows_of(self, kind & 4);
                const double truth = error_against(self, self->truth);
                assert_ok(uc_clean_error_estimate(&found, &rows, NULL));
                check_order(&found);
                assert_near(found.noisy, error_against(self, self->labels), 1e-12);
                covered += found.low <= truth && truth <= found.high;
                all++;
            }
    print_message("%d of %d intervals hold the truth\n", covered, all);
    if (covered < 0.9 * all)
        fail_msg("%d of %d intervals hold the truth", covered, all);
    free(self);
}

static const double flipped[9] = {0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.8};

/* A perceptron's scores have any size, and each row any offset: neither says anything. */
static void the_scale_of_scores_does_not_matter(void **state)
{
    (void)state;
    problem *self = malloc(sizeof *self);
    uc_clean_error one, other;
    draw(self, 3, 2.0, flipped, 5);
    const uc_scored_rows rows = rows_of(self, false);
    assert_ok(uc_clean_error_estimate(&one, &rows, NULL));
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < 3; k++)
            self->scores[i * 3 + k] = 4096.0 * self->scores[i * 3 + k] - 512.0 * (double)(i % 7);
    assert_ok(uc_clean_error_estimate(&other, &rows, NULL));
    assert_near(one.estimate, other.estimate, 1e-4);
    assert_near(one.low, other.low, 1e-4);
    assert_near(one.high, other.high, 1e-4);
    free(self);
}

/* One class, labels that say nothing, labels that are all right, scores that are all the same. */
static void degenerate_rows_stay_within_0_and_1(void **state)
{
    (void)state;
    static const double random[4] = {0.5, 0.5, 0.5, 0.5}, right[4] = {1, 0, 0, 1}, one[4] = {1, 0, 1, 0};
    static const double opposite[4] = {0, 1, 1, 0};
    const double *const noise[] = {random, right, one, opposite, right};
    problem *self = malloc(sizeof *self);
    for (int kind = 0; kind < 10; kind++) {
        uc_clean_error found;
        draw(self, 2, kind == 1 ? 20.0 : 4.0, noise[kind / 2], 7);
        if (kind % 2)
            to_probabilities(self);
        if (kind / 2 == 4)
            memset(self->scores, 0, sizeof self->scores);
        const uc_scored_rows rows = rows_of(self, kind % 2);
        assert_ok(uc_clean_error_estimate(&found, &rows, NULL));
        check_order(&found);
    }
    draw(self, 2, 20.0, right, 9); /* nothing wrong, no overlap */
    const uc_scored_rows rows = rows_of(self, false);
    uc_clean_error found;
    assert_ok(uc_clean_error_estimate(&found, &rows, NULL));
    assert_true(found.high < 0.1 && found.estimate < 0.01);
    free(self);
}

static void few_rows_say_nothing(void **state)
{
    (void)state;
    problem *self = malloc(sizeof *self);
    uc_clean_error found;
    draw(self, 3, 2.0, flipped, 3);
    uc_scored_rows rows = rows_of(self, false);
    rows.rows = 19;
    assert_ok(uc_clean_error_estimate(&found, &rows, NULL));
    assert_true(found.low == 0.0 && found.high == 1.0);
    rows.rows = 20;
    assert_ok(uc_clean_error_estimate(&found, &rows, NULL));
    check_order(&found);
    for (size_t i = 0; i < ROWS; i++)
        self->labels[i] = UC_NONE;
    assert_error(uc_clean_error_estimate(&found, &rows, NULL), UC_ERR_INVALID,
                 "there is no labelled example to estimate an error from");
    rows.rows = 0;
    assert_status(uc_clean_error_estimate(&found, &rows, NULL), UC_ERR_INVALID);
    free(self);
}

/* A row of weight 0 or without a label is not there; weights that are all the same are none. */
static void weights_and_missing_labels(void **state)
{
    (void)state;
    problem *self = malloc(sizeof *self);
    double weights[ROWS];
    uc_clean_error plain, weighted, unlabelled;
    draw(self, 3, 2.0, flipped, 8);
    uc_scored_rows rows = rows_of(self, false);
    assert_ok(uc_clean_error_estimate(&plain, &rows, NULL));
    for (size_t i = 0; i < ROWS; i++)
        weights[i] = 8.0;
    rows.weights = weights;
    assert_ok(uc_clean_error_estimate(&weighted, &rows, NULL));
    assert_near(plain.low, weighted.low, 1e-9);
    assert_near(plain.high, weighted.high, 1e-9);
    for (size_t i = 0; i < 100; i++)
        weights[i] = 0.0;
    assert_ok(uc_clean_error_estimate(&weighted, &rows, NULL));
    for (size_t i = 0; i < 100; i++)
        self->labels[i] = UC_NONE;
    rows.weights = NULL;
    assert_ok(uc_clean_error_estimate(&unlabelled, &rows, NULL));
    assert_near(unlabelled.estimate, weighted.estimate, 1e-9);
    assert_near(unlabelled.high, weighted.high, 1e-9);
    for (size_t i = 0; i < 100; i++)
        self->labels[i] = 3; /* 100 of 400 labels are of no class that the model knows */
    assert_ok(uc_clean_error_estimate(&weighted, &rows, NULL));
    assert_near(weighted.low, 0.75 * unlabelled.low, 1e-9);
    assert_near(weighted.high, 0.75 * unlabelled.high + 0.25, 1e-9);
    assert_near(weighted.estimate, 0.75 * unlabelled.estimate + 0.25, 1e-9);
    free(self);
}

/* Whatever the noise is: labels are made wrong exactly where it misleads most. */
static void the_bound_always_holds(void **state)
{
    (void)state;
    problem *self = malloc(sizeof *self);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        static const double none[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        uc_clean_error found;
        double bound[2];
        size_t wrong = 0;
        draw(self, 3, 2.0, none, seed);
        for (size_t i = 0; i < ROWS && wrong < 80; i++)
            if (seed % 2 && prediction(self, i) != self->truth[i]) { /* wrong labels hide errors */
                self->labels[i] = prediction(self, i);
                wrong++;
            } else if (seed % 2 == 0 && prediction(self, i) == self->truth[i]) { /* or make some */
                self->labels[i] = (self->truth[i] + 1) % 3;
                wrong++;
            }
        const uc_scored_rows rows = rows_of(self, false);
        const double truth = error_against(self, self->truth);
        assert_ok(uc_clean_error_estimate(&found, &rows, NULL));
        uc_clean_error_bound(bound, found.noisy, (double)wrong / ROWS);
        assert_true(bound[0] <= truth + 1e-12 && truth <= bound[1] + 1e-12);
        uc_clean_error_cut(&found, bound);
        check_order(&found);
        assert_true(found.low >= bound[0] && found.high <= bound[1]);
    }
    free(self);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    problem *self = malloc(sizeof *self);
    draw(self, 3, 2.0, flipped, 4);
    const uc_scored_rows rows = rows_of(self, false);
    const uc_context one = {.threads = 1}, seven = {.threads = 7};
    uc_clean_error first, second;
    assert_ok(uc_clean_error_estimate(&first, &rows, &one));
    assert_ok(uc_clean_error_estimate(&second, &rows, &seven));
    assert_memory_equal(&first, &second, sizeof first);
    free(self);
}

/* m rows in Neyman's shares have variance (sum of W s)^2 / m. */
static void rows_to_check_give_the_width(void **state)
{
    (void)state;
    const uc_clean_error e = {.noisy = 0.4, .rows = 1000, .strata = {0.1, 0.5}};
    const double deviation = 0.6 * 0.3 + 0.4 * 0.5;
    const size_t rows = uc_rows_to_check(&e, 0.03);
    assert_true(rows % 10 == 0);
    assert_true(1.6448536 * deviation / sqrt((double)rows) <= 0.03);
    assert_true(1.6448536 * deviation / sqrt((double)rows - 10.0) > 0.03);
    const uc_clean_error sure = {.noisy = 0.4, .rows = 1000},
                         few = {.noisy = 0.4, .rows = 50, .strata = {0.5, 0.5}};
    assert_int_equal(uc_rows_to_check(&sure, 0.03), 20);
    assert_int_equal(uc_rows_to_check(&few, 0.03), 50);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    problem *self = malloc(sizeof *self);
    uc_clean_error found;
    uc_status status;
    draw(self, 2, 2.0, (const double[]){0.8, 0.2, 0.2, 0.8}, 4);
    uc_scored_rows rows = rows_of(self, false);
    rows.rows = 24;
    FOR_EACH_FAILING_ALLOCATION(status, uc_clean_error_estimate(&found, &rows, NULL));
    free(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_cover_the_truth),
        cmocka_unit_test(the_scale_of_scores_does_not_matter),
        cmocka_unit_test(degenerate_rows_stay_within_0_and_1),
        cmocka_unit_test(few_rows_say_nothing),
        cmocka_unit_test(weights_and_missing_labels),
        cmocka_unit_test(the_bound_always_holds),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(rows_to_check_give_the_width),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
