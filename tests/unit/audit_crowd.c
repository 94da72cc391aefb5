/* The consensus of annotators: compared with a slow computation, and properties that hold for every crowd. */
#include "tests/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64 /* annotators or classes in a name */

/* ---- crowds ---- */

typedef struct some_crowd {
    uc_crowd crowd;
    uint32_t *truth;
} some_crowd;

static uc_names numbered(size_t count, const char *prefix)
{
    uc_names names = {0};
    for (size_t i = 0; i < count; i++) {
        char text[MOST];
        uint32_t index;
        const int length = snprintf(text, sizeof text, "%s%zu", prefix, i);
        assert_ok(uc_names_add(&index, &names, text, (size_t)length));
    }
    return names;
}

/* `each` annotators label a row; annotator j is right with a probability of its own. */
static some_crowd draw_crowd(size_t rows, size_t annotators, size_t K, size_t each, uint64_t seed)
{
    some_crowd self = {.truth = uc_alloc(rows, sizeof *self.truth)};
    const size_t count = rows * each;
    uint32_t *row = uc_alloc(count, 4), *annotator = uc_alloc(count, 4), *label = uc_alloc(count, 4);
    uc_rng rng = uc_rng_make(seed, 0);
    for (size_t i = 0; i < rows; i++) {
        self.truth[i] = (uint32_t)uc_rng_below(&rng, K);
        const size_t start = uc_rng_below(&rng, annotators);
        for (size_t e = 0; e < each; e++) {
            const size_t a = i * each + e, j = (start + e) % annotators;
            const double right = 0.5 + 0.45 * (double)(j % 7) / 6.0;
            row[a] = (uint32_t)i;
            annotator[a] = (uint32_t)j;
            label[a] = self.truth[i];
            if (uc_rng_uniform(&rng) > right) /* often the next class */
                label[a] = (uint32_t)((self.truth[i] + 1 + (uc_rng_uniform(&rng) < 0.3)) % K);
        }
    }
    uc_names who = numbered(annotators, "w"), classes = numbered(K, "c");
    assert_ok(uc_crowd_from_arrays(&self.crowd, row, annotator, label, count, rows, &who, &classes, NULL));
    uc_names_free(&who);
    uc_names_free(&classes);
    uc_free(row);
    uc_free(annotator);
    uc_free(label);
    return self;
}

static void some_crowd_free(some_crowd *self)
{
    uc_crowd_free(&self->crowd);
    uc_free(self->truth);
}

static double at(const uc_consensus *self, size_t i, size_t k)
{
    return self->posterior.values[uc_posterior_at(&self->posterior, i, k)];
}

static uc_consensus find(const uc_crowd *crowd, int method, uint64_t iterations, const uint32_t *gold)
{
    uc_consensus_settings settings = uc_consensus_defaults();
    uc_consensus out = {0};
    settings.method = method;
    settings.iterations = iterations;
    settings.tolerance = 0.0;
    assert_ok(uc_consensus_find(&out, crowd, gold, NULL, &settings, NULL));
    return out;
}

static double wrong_share(const uc_consensus *self, const uint32_t *truth)
{
    size_t wrong = 0;
    for (size_t i = 0; i < self->posterior.rows; i++)
        wrong += self->most_probable[i] != truth[i];
    return (double)wrong / (double)self->posterior.rows;
}

/* ---- against a slow computation ---- */

#define SMOOTHING 0.01
#define TRUST 1.0

/* Dense matrices and products, by the equations. */
typedef struct slow {
    const uc_crowd *crowd;
    const uint32_t *gold;
    bool coin;
    size_t n, K, J;
    double *R, *C, *pi; /* n x K, J x K x K, K */
    double penalty;     /* what smoothing and trust add to the log-likelihood */
} slow;

static bool is_known(const slow *self, size_t i)
{
    return self->crowd->first[i + 1] > self->crowd->first[i] || self->gold[i] != UC_NONE;
}

static void slow_start(slow *self)
{
    const uc_crowd *crowd = self->crowd;
    for (size_t i = 0; i < self->n; i++) {
        const double votes = (double)(crowd->first[i + 1] - crowd->first[i]);
        for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++)
            self->R[i * self->K + crowd->label[a]] += 1.0 / votes;
        for (size_t k = 0; k < self->K && self->gold[i] != UC_NONE; k++)
            self->R[i * self->K + k] = k == self->gold[i] ? 1.0 : 0.0;
    }
}

static void slow_count(slow *self)
{
    const uc_crowd *crowd = self->crowd;
    const size_t K = self->K;
    double total = (double)K * SMOOTHING;
    for (size_t k = 0; k < K; k++)
        self->pi[k] = SMOOTHING;
    for (size_t cell = 0; cell < self->J * K * K; cell++)
        self->C[cell] = self->coin ? 0.0 : SMOOTHING + (cell % (K * K) % (K + 1) == 0 ? TRUST : 0.0);
    for (size_t i = 0; i < self->n; i++)
        for (size_t k = 0; k < K && is_known(self, i); k++) {
            self->pi[k] += self->R[i * K + k];
            total += self->R[i * K + k];
            for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++)
                self->C[(crowd->annotator[a] * K + k) * K + crowd->label[a]] += self->R[i * K + k];
        }
    self->penalty = 0.0;
    for (size_t k = 0; k < K; k++) {
        self->pi[k] /= total;
        self->penalty += SMOOTHING * log(self->pi[k]);
    }
}

/* The counts of annotator j become shares, or the shares of a coin. */
static void slow_normalise(slow *self, size_t j)
{
    const size_t K = self->K;
    double right = SMOOTHING + TRUST, all = 2.0 * SMOOTHING + TRUST;
    for (size_t z = 0; z < K; z++) {
        double *row = self->C + (j * K + z) * K, total = 0.0;
        for (size_t l = 0; l < K; l++)
            total += row[l];
        right += row[z];
        all += total;
        for (size_t l = 0; l < K && !self->coin; l++) {
            row[l] /= total;
            self->penalty += (z == l ? SMOOTHING + TRUST : SMOOTHING) * log(row[l]);
        }
    }
    if (!self->coin)
        return;
    for (size_t cell = 0; cell < K * K; cell++)
        self->C[j * K * K + cell] = cell % (K + 1) == 0 ? right / all : (1.0 - right / all) / (double)(K - 1);
    self->penalty += (SMOOTHING + TRUST) * log(right / all) + SMOOTHING * log(1.0 - right / all);
}

static double slow_expect(slow *self)
{
    const uc_crowd *crowd = self->crowd;
    const size_t K = self->K;
    double likelihood = 0.0;
    for (size_t i = 0; i < self->n; i++) {
        double *row = self->R + i * K, sum = 0.0;
        for (size_t k = 0; k < K; k++) {
            row[k] = self->gold[i] == UC_NONE || self->gold[i] == k ? self->pi[k] : 0.0;
            for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++)
                row[k] *= self->C[(crowd->annotator[a] * K + k) * K + crowd->label[a]];
            sum += row[k];
        }
        for (size_t k = 0; k < K; k++)
            row[k] /= sum;
        likelihood += is_known(self, i) ? log(sum) : 0.0;
    }
    return likelihood;
}

/* Sets R to the posterior after this number of steps. Returns the log-likelihood of the last parameters. */
static double slow_em(double *R, double *penalty, const uc_crowd *crowd, bool coin, size_t steps,
                      const uint32_t *gold)
{
    const size_t n = crowd->rows, K = crowd->classes.count, J = crowd->annotators.count;
    slow self = {crowd, gold, coin, n, K, J, R, calloc(J * K * K, sizeof *R), calloc(K, sizeof *R), 0.0};
    double likelihood = 0.0;
    slow_start(&self);
    for (size_t step = 0; step < steps; step++) {
        slow_count(&self);
        for (size_t j = 0; j < J; j++)
            slow_normalise(&self, j);
        likelihood = slow_expect(&self);
    }
    *penalty = self.penalty;
    free(self.C);
    free(self.pi);
    return likelihood;
}

static void check_against_slow(size_t K, int method, size_t steps, bool checked)
{
    some_crowd drawn = draw_crowd(150, 12, K, 4, 3 + K);
    const uc_crowd *crowd = &drawn.crowd;
    uint32_t gold[150];
    double *R = calloc(150 * K, sizeof *R), penalty;
    for (size_t i = 0; i < 150; i++)
        gold[i] = checked && i % 5 == 0 ? drawn.truth[i] : UC_NONE;
    const double likelihood = slow_em(R, &penalty, crowd, method == UC_CONSENSUS_ONE_COIN, steps, gold);
    uc_consensus fast = find(crowd, method, steps, gold);
    for (size_t i = 0; i < 150; i++)
        for (size_t k = 0; k < K; k++)
            assert_near(at(&fast, i, k), R[i * K + k], 1e-9);
    assert_near_relative(fast.log_likelihood, likelihood, 1e-12);
    assert_near_relative(fast.objective, likelihood + penalty, 1e-12);
    uc_consensus_free(&fast);
    some_crowd_free(&drawn);
    free(R);
}

static void em_is_that_of_the_equations(void **state)
{
    (void)state;
    for (size_t steps = 1; steps <= 9; steps += 4) {
        check_against_slow(2, UC_CONSENSUS_DAWID_SKENE, steps, false);
        check_against_slow(5, UC_CONSENSUS_DAWID_SKENE, steps, true);
        check_against_slow(21, UC_CONSENSUS_AUDIT, steps, false); /* more than one slab */
        check_against_slow(2, UC_CONSENSUS_ONE_COIN, steps, true);
        check_against_slow(40, UC_CONSENSUS_ONE_COIN, steps, false);
    }
}

static void the_objective_never_falls(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(300, 20, 4, 3, 7);
    for (int method = UC_CONSENSUS_DAWID_SKENE; method <= UC_CONSENSUS_ONE_COIN; method += 2) {
        double before = -INFINITY;
        for (uint64_t steps = 1; steps < 40; steps++) {
            uc_consensus out = find(&drawn.crowd, method, steps, NULL);
            assert_true(out.objective >= before - 1e-9 * fabs(before));
            before = out.objective;
            uc_consensus_free(&out);
        }
    }
    some_crowd_free(&drawn);
}

/* ---- results ---- */

static void many_labels_of_good_annotators_find_the_truth(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(1000, 14, 4, 7, 11);
    uc_consensus coin = find(&drawn.crowd, UC_CONSENSUS_ONE_COIN, 500, NULL);
    uc_consensus votes = find(&drawn.crowd, UC_CONSENSUS_MAJORITY, 1, NULL);
    uc_consensus both = find(&drawn.crowd, UC_CONSENSUS_DAWID_SKENE, 500, NULL);
    assert_true(wrong_share(&both, drawn.truth) < 0.5 * wrong_share(&votes, drawn.truth));
    assert_true(wrong_share(&coin, drawn.truth) < wrong_share(&votes, drawn.truth));
    for (size_t j = 0; j < 14; j++) { /* w10 is after w1 */
        const size_t number = (size_t)atoi(drawn.crowd.annotators.text[j] + 1);
        const uc_annotator *annotator = &both.annotators[j];
        assert_near(annotator->accuracy, 0.5 + 0.45 * (double)(number % 7) / 6.0, 0.07);
        assert_true(annotator->interval[0] < annotator->accuracy &&
                    annotator->accuracy < annotator->interval[1]);
        assert_true(annotator->information > 0.0 && annotator->information < 2.0);
    }
    uc_consensus_free(&both);
    uc_consensus_free(&coin);
    uc_consensus_free(&votes);
    some_crowd_free(&drawn);
}

static uc_crowd read_text(const char *text, const uc_crowd_frame *frame)
{
    uc_crowd crowd = {0};
    assert_ok(uc_crowd_read_memory(&crowd, text, strlen(text), "text", frame, NULL));
    return crowd;
}

static void majority_has_shares_of_votes_and_says_where_they_tie(void **state)
{
    (void)state;
    uc_crowd crowd = read_text("1 x a\n1 y a\n1 z b\n2 x a\n2 y b\n4 x b\n", &(uc_crowd_frame){.rows = 4});
    uc_consensus out = find(&crowd, UC_CONSENSUS_MAJORITY, 1, NULL);
    assert_near(at(&out, 0, 0), 2.0 / 3.0, 1e-15);
    assert_near(at(&out, 1, 0), 0.5, 1e-15);
    assert_near(at(&out, 2, 0), (2.0 / 3.0 + 0.5) / 3.0, 1e-15); /* without votes it is the prior */
    assert_int_equal(out.most_probable[0], 0);
    assert_int_equal(out.most_probable[1], 0);
    assert_int_equal(out.most_probable[3], 1);
    assert_int_equal(out.ties, 1);
    assert_int_equal(out.unannotated, 1);
    assert_true(isnan(out.objective));
    uc_consensus_free(&out);
    uc_crowd_free(&crowd);
}

static void checked_rows_have_their_class(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(60, 6, 3, 3, 5);
    uint32_t gold[60];
    for (size_t i = 0; i < 60; i++)
        gold[i] = i < 30 ? (drawn.truth[i] + 1) % 3 : UC_NONE; /* whatever annotators say */
    for (int method = UC_CONSENSUS_AUDIT; method <= UC_CONSENSUS_ONE_COIN; method++) {
        uc_consensus out = find(&drawn.crowd, method, 50, gold);
        for (size_t i = 0; i < 30; i++) {
            assert_int_equal(out.most_probable[i], gold[i]);
            assert_true(at(&out, i, gold[i]) == 1.0);
        }
        uc_consensus_free(&out);
    }
    some_crowd_free(&drawn);
}

static void one_who_always_says_the_same_tells_nothing(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(400, 5, 3, 4, 8);
    uc_crowd crowd = {0};
    const size_t count = drawn.crowd.count + 400;
    uint32_t *row = uc_alloc(count, 4), *annotator = uc_alloc(count, 4), *label = uc_alloc(count, 4);
    uc_names who = numbered(6, "w");
    size_t a = 0;
    for (size_t i = 0; i < 400; i++) {
        for (size_t b = drawn.crowd.first[i]; b < drawn.crowd.first[i + 1]; b++, a++) {
            row[a] = (uint32_t)i;
            annotator[a] = drawn.crowd.annotator[b];
            label[a] = drawn.crowd.label[b];
        }
        row[a] = (uint32_t)i;
        annotator[a] = 5;
        label[a++] = 1;
    }
    assert_ok(
        uc_crowd_from_arrays(&crowd, row, annotator, label, count, 400, &who, &drawn.crowd.classes, NULL));
    uc_consensus with = find(&crowd, UC_CONSENSUS_DAWID_SKENE, 300, NULL);
    uc_consensus without = find(&drawn.crowd, UC_CONSENSUS_DAWID_SKENE, 300, NULL);
    assert_true(with.annotators[5].information < 0.05);
    for (size_t i = 0; i < 400; i++)
        assert_near(at(&with, i, 0), at(&without, i, 0), 0.02);
    uc_consensus_free(&with);
    uc_consensus_free(&without);
    uc_crowd_free(&crowd);
    uc_names_free(&who);
    some_crowd_free(&drawn);
    uc_free(row);
    uc_free(annotator);
    uc_free(label);
}

static void one_annotator_is_believed(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(100, 1, 3, 1, 2);
    for (int method = UC_CONSENSUS_AUDIT; method <= UC_CONSENSUS_ONE_COIN; method++) {
        uc_consensus out = find(&drawn.crowd, method, 100, NULL);
        for (size_t i = 0; i < 100; i++)
            assert_int_equal(out.most_probable[i], drawn.crowd.label[i]);
        uc_consensus_free(&out);
    }
    some_crowd_free(&drawn);
}

static void annotators_with_one_label_each_vote(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(2000, 6000, 3, 3, 2);
    uc_crowd crowd = drawn.crowd;
    uint32_t *row = uc_alloc(crowd.count, 4), *annotator = uc_alloc(crowd.count, 4);
    uc_names who = numbered(crowd.count, "w");
    for (size_t i = 0; i < crowd.rows; i++)
        for (size_t a = crowd.first[i]; a < crowd.first[i + 1]; a++) {
            row[a] = (uint32_t)i;
            annotator[a] = (uint32_t)a;
        }
    uc_crowd own = {0};
    assert_ok(uc_crowd_from_arrays(&own, row, annotator, crowd.label, crowd.count, crowd.rows, &who,
                                   &crowd.classes, NULL));
    for (int method = UC_CONSENSUS_DAWID_SKENE; method <= UC_CONSENSUS_ONE_COIN; method += 2) {
        uc_consensus out = find(&own, method, 100, NULL), votes = find(&own, UC_CONSENSUS_MAJORITY, 1, NULL);
        size_t differ = 0;
        for (size_t i = 0; i < own.rows; i++)
            differ +=
                out.most_probable[i] != votes.most_probable[i] && at(&votes, i, votes.most_probable[i]) > 0.5;
        assert_int_equal(differ, 0);
        uc_consensus_free(&out);
        uc_consensus_free(&votes);
    }
    uc_crowd_free(&own);
    uc_names_free(&who);
    uc_free(row);
    uc_free(annotator);
    some_crowd_free(&drawn);
}

/* ---- invariance ---- */

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(3000, 200, 18, 5, 4);
    for (int method = UC_CONSENSUS_DAWID_SKENE; method <= UC_CONSENSUS_ONE_COIN; method++) {
        uc_consensus one = {0}, four = {0};
        uc_consensus_settings settings = uc_consensus_defaults();
        settings.method = method;
        settings.iterations = 12;
        assert_ok(uc_consensus_find(&one, &drawn.crowd, NULL, NULL, &settings, &(uc_context){.threads = 1}));
        assert_ok(uc_consensus_find(&four, &drawn.crowd, NULL, NULL, &settings, &(uc_context){.threads = 4}));
        assert_memory_equal(one.posterior.values, four.posterior.values, 3000 * 18 * sizeof(double));
        assert_memory_equal(one.annotators, four.annotators, 200 * sizeof *one.annotators);
        uc_consensus_free(&one);
        uc_consensus_free(&four);
    }
    some_crowd_free(&drawn);
}

/* The same crowd with rows in another order, other names of classes and annotators, and another order of
 * these. */
static void order_and_names_do_not_matter(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(200, 10, 4, 3, 6);
    const uc_crowd *crowd = &drawn.crowd;
    const size_t count = crowd->count;
    uint32_t *row = uc_alloc(count, 4), *annotator = uc_alloc(count, 4), *label = uc_alloc(count, 4);
    uc_names who = numbered(10, "somebody"), classes = numbered(4, "thing");
    for (size_t i = 0, a = 0; i < 200; i++)
        for (; a < crowd->first[i + 1]; a++) {
            row[count - 1 - a] = (uint32_t)(199 - i);
            annotator[count - 1 - a] = 9 - crowd->annotator[a];
            label[count - 1 - a] = 3 - crowd->label[a];
        }
    uc_crowd turned = {0};
    assert_ok(uc_crowd_from_arrays(&turned, row, annotator, label, count, 200, &who, &classes, NULL));
    for (int method = UC_CONSENSUS_DAWID_SKENE; method <= UC_CONSENSUS_ONE_COIN; method++) {
        uc_consensus out = find(crowd, method, 60, NULL), other = find(&turned, method, 60, NULL);
        for (size_t i = 0; i < 200; i++)
            for (size_t k = 0; k < 4; k++)
                assert_near(at(&out, i, k), at(&other, 199 - i, 3 - k), 1e-7);
        uc_consensus_free(&out);
        uc_consensus_free(&other);
    }
    uc_crowd_free(&turned);
    uc_names_free(&who);
    uc_names_free(&classes);
    uc_free(row);
    uc_free(annotator);
    uc_free(label);
    some_crowd_free(&drawn);
}

/* EM goes on from where it was, and ends where it would have ended. */
static void a_warm_start_ends_at_the_same_place(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(500, 10, 3, 5, 9);
    uc_crowd early = drawn.crowd; /* the first 400 rows are the earlier result */
    early.rows = 400;
    early.count = early.first[400];
    uc_consensus before = find(&early, UC_CONSENSUS_DAWID_SKENE, 300, NULL);
    uc_consensus cold = find(&drawn.crowd, UC_CONSENSUS_DAWID_SKENE, 1000, NULL), warm = {0};
    uc_consensus_settings settings = uc_consensus_defaults();
    assert_ok(uc_consensus_find(&warm, &drawn.crowd, NULL, &before.posterior, &settings, NULL));
    assert_true(warm.iterations < cold.iterations);
    for (size_t i = 0; i < 500; i++)
        for (size_t k = 0; k < 3; k++)
            assert_near(at(&warm, i, k), at(&cold, i, k), 2e-3);
    uc_consensus_free(&before);
    uc_consensus_free(&cold);
    uc_consensus_free(&warm);
    some_crowd_free(&drawn);
}

/* ---- annotators and questions ---- */

static void a_matrix_has_columns_of_true_classes(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(2000, 7, 3, 4, 10);
    uc_consensus out = find(&drawn.crowd, UC_CONSENSUS_DAWID_SKENE, 500, NULL);
    double matrix[9], counts[9] = {0};
    assert_ok(uc_consensus_matrix(matrix, &out, &drawn.crowd, 2));
    for (size_t i = 0; i < 2000; i++)
        for (size_t a = drawn.crowd.first[i]; a < drawn.crowd.first[i + 1]; a++)
            if (drawn.crowd.annotator[a] == 2)
                counts[drawn.crowd.label[a] * 3 + drawn.truth[i]] += 1.0;
    for (size_t q = 0; q < 3; q++) {
        const double all = counts[q] + counts[3 + q] + counts[6 + q];
        assert_near(matrix[q] + matrix[3 + q] + matrix[6 + q], 1.0, 1e-12);
        for (size_t p = 0; p < 3; p++)
            assert_near(matrix[p * 3 + q], counts[p * 3 + q] / all, 0.05);
    }
    uc_consensus_free(&out);
    some_crowd_free(&drawn);
}

static void questions_are_of_uncertain_rows_for_those_who_know(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(300, 7, 3, 3, 12);
    uc_consensus out = find(&drawn.crowd, UC_CONSENSUS_DAWID_SKENE, 100, NULL);
    uint32_t gold[300];
    uc_question *questions;
    size_t found;
    for (size_t i = 0; i < 300; i++)
        gold[i] = i < 290 ? UC_NONE : drawn.truth[i];
    assert_ok(uc_questions_find(&questions, &found, &out, &drawn.crowd, gold, 20));
    assert_int_equal(found, 20);
    for (size_t q = 0; q < found; q++) {
        assert_true(questions[q].row < 290);
        assert_true(q == 0 || questions[q - 1].probability <= questions[q].probability);
        const uc_annotator *asked = &out.annotators[questions[q].annotator];
        bool better = false;
        for (uint32_t j = 0; j < 7; j++) {
            bool has = false;
            for (size_t a = drawn.crowd.first[questions[q].row]; a < drawn.crowd.first[questions[q].row + 1];
                 a++)
                has |= drawn.crowd.annotator[a] == j;
            assert_false(has && j == questions[q].annotator);
            better |= !has && out.annotators[j].information > asked->information;
        }
        assert_false(better);
    }
    uc_questions_free(questions);
    uc_consensus_free(&out);
    some_crowd_free(&drawn);
}

static void a_posterior_of_another_origin_describes_the_annotators(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(200, 6, 20, 3, 13);
    uc_consensus first = find(&drawn.crowd, UC_CONSENSUS_DAWID_SKENE, 50, NULL), second = {0};
    double *plain = calloc(200 * 20, sizeof *plain);
    for (size_t i = 0; i < 200; i++)
        for (size_t k = 0; k < 20; k++)
            plain[i * 20 + k] = at(&first, i, k);
    assert_ok(uc_consensus_from_posterior(&second, &drawn.crowd, plain, NULL, NULL));
    for (size_t j = 0; j < 6; j++) {
        assert_near(first.annotators[j].accuracy, second.annotators[j].accuracy, 1e-12);
        assert_near(first.annotators[j].information, second.annotators[j].information,
                    1e-3); /* another prior */
    }
    assert_memory_equal(first.most_probable, second.most_probable, 200 * sizeof(uint32_t));
    uc_consensus_free(&first);
    uc_consensus_free(&second);
    some_crowd_free(&drawn);
    free(plain);
}

/* ---- failures ---- */

static void bad_input_has_its_sentence(void **state)
{
    (void)state;
    uc_crowd crowd = read_text("1 x a\n2 x a\n", NULL), two = read_text("1 x a\n2 x b\n", NULL);
    uc_consensus out = {0};
    uint32_t gold[2] = {UC_NONE, 2};
    uc_consensus_settings settings = uc_consensus_defaults();
    assert_error(uc_consensus_find(&out, &crowd, NULL, NULL, NULL, NULL), UC_ERR_INVALID,
                 "all annotations are of one class; a consensus needs two or more");
    assert_error(uc_consensus_find(&out, &two, gold, NULL, NULL, NULL), UC_ERR_INVALID,
                 "row 2: its gold class is not one of the 2 classes");
    double values[9];
    assert_error(uc_consensus_find(&out, &two, NULL, &(uc_posteriors){3, 3, 3, values}, NULL, NULL),
                 UC_ERR_INVALID, "the earlier result has 3 rows and 3 classes, but there are 2 and 2");
    settings.smoothing = -1.0;
    assert_status(uc_consensus_find(&out, &two, NULL, NULL, &settings, NULL), UC_ERR_OPTION);
    uc_crowd_free(&crowd);
    uc_crowd_free(&two);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    some_crowd drawn = draw_crowd(40, 5, 3, 2, 1);
    for (int method = UC_CONSENSUS_DAWID_SKENE; method <= UC_CONSENSUS_ONE_COIN; method++) {
        uc_consensus out = {0};
        uc_status status;
        uc_consensus_settings settings = uc_consensus_defaults();
        settings.method = method;
        FOR_EACH_FAILING_ALLOCATION(status, uc_consensus_find(&out, &drawn.crowd, NULL, NULL, &settings,
                                                              &(uc_context){.threads = 1}));
        uc_question *questions;
        size_t found;
        FOR_EACH_FAILING_ALLOCATION(status,
                                    uc_questions_find(&questions, &found, &out, &drawn.crowd, NULL, 3));
        uc_questions_free(questions);
        uc_consensus_free(&out);
    }
    some_crowd_free(&drawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(em_is_that_of_the_equations),
        cmocka_unit_test(the_objective_never_falls),
        cmocka_unit_test(many_labels_of_good_annotators_find_the_truth),
        cmocka_unit_test(majority_has_shares_of_votes_and_says_where_they_tie),
        cmocka_unit_test(checked_rows_have_their_class),
        cmocka_unit_test(one_who_always_says_the_same_tells_nothing),
        cmocka_unit_test(one_annotator_is_believed),
        cmocka_unit_test(annotators_with_one_label_each_vote),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(order_and_names_do_not_matter),
        cmocka_unit_test(a_warm_start_ends_at_the_same_place),
        cmocka_unit_test(a_matrix_has_columns_of_true_classes),
        cmocka_unit_test(questions_are_of_uncertain_rows_for_those_who_know),
        cmocka_unit_test(a_posterior_of_another_origin_describes_the_annotators),
        cmocka_unit_test(bad_input_has_its_sentence),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
