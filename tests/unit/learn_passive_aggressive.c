/*
 * PA and SPA against independent solutions of the optimisation problems that define them.
 *
 * An update W += tau x' changes the scores of the row by xx tau and costs xx |tau|^2 / 2. So each step is
 *
 *   hard      min 1/2 |v|^2               such that v_y - v_i >= l_i                        v = xx tau
 *   slack     min 1/2 |v|^2 + C xx e      such that v_y - v_i >= l_i - e, e >= 0
 *   squared   min 1/2 |v|^2 + C xx e^2    such that v_y - v_i >= l_i - e
 *
 * over all wrong classes i for SPA, over the best wrong class for PA. For few classes the solution is
 * searched over all subsets of constraints that hold with equality (each subset is a small linear system, the
 * feasible one with the smallest cost wins); for many classes the sorted rule of Matsushima et al. is
 * followed literally.
 */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "learn/learner.h"
#include "learn/online.h"

enum { MOST = 30, HARD = 0, SLACK = 1, SQUARED = 2 };

typedef struct problem {
    size_t K;
    uint32_t y;
    int variant;
    double cost, xx, weight;
    double scores[MOST];
} problem;

/* tau as one number a class; returns how many classes change. */
static size_t take_step(double *tau, const uc_learner *learner, const problem *p)
{
    uint32_t classes[MOST];
    double values[MOST], work[MOST];
    uc_step step = {0, classes, values, work};
    const uc_pa_settings settings = {.variant = p->variant, .cost = p->cost};
    const uc_round round = {.scores = p->scores,
                            .classes = p->K,
                            .xx = p->xx,
                            .answer = {UC_ANSWER_LABEL, p->y},
                            .weight = p->weight};
    bool changed[MOST] = {false};
    learner->step(&step, &round, &settings);
    memset(tau, 0, p->K * sizeof *tau);
    for (size_t i = 0; i < step.count; i++) {
        assert_true(classes[i] < p->K && !changed[classes[i]]);
        changed[classes[i]] = true;
        tau[classes[i]] = values[i];
    }
    return step.count;
}

static double loss_of(const problem *p, size_t i)
{
    return fmax(0.0, 1.0 + p->scores[i] - p->scores[p->y]);
}

static double largest_loss(const problem *p)
{
    double largest = 0.0;
    for (size_t i = 0; i < p->K; i++)
        largest = i == p->y ? largest : fmax(largest, loss_of(p, i));
    return largest;
}

/* ---- the objective, with the slack chosen as well as possible ---- */

static double slack_needed(const problem *p, const double *v)
{
    double slack = 0.0;
    for (size_t i = 0; i < p->K; i++)
        if (i != p->y)
            slack = fmax(slack, 1.0 + p->scores[i] - p->scores[p->y] - (v[p->y] - v[i]));
    return slack;
}

static double objective(const problem *p, const double *v)
{
    const double slack = slack_needed(p, v), C = p->cost * p->weight * p->xx;
    double sum = 0.0;
    for (size_t k = 0; k < p->K; k++)
        sum += 0.5 * v[k] * v[k];
    if (p->variant == SLACK)
        return sum + C * slack;
    if (p->variant == SQUARED)
        return sum + C * slack * slack;
    return slack > 1e-9 * (1.0 + largest_loss(p)) ? INFINITY : sum;
}

/* ---- all subsets of constraints, for few classes ---- */

/* The solution when exactly the constraints of `set` are equalities. With multipliers a_i >= 0 (v_i = -a_i,
 * v_y = sum a): a_i + sum a = l_i - e for i in the set. Hard: e = 0. Squared: 2 C xx e = sum a. Slack: either
 * e = 0, or sum a = C xx and e is free. */
static bool solve_subset(double *v, const problem *p, unsigned set, bool slack_free)
{
    const double C = p->cost * p->weight * p->xx;
    double sum_losses = 0.0, n = 0.0;
    for (size_t i = 0; i < p->K; i++)
        if (set >> i & 1) {
            sum_losses += loss_of(p, i);
            n += 1.0;
        }
    double total; /* sum a */
    double slack = 0.0;
    if (p->variant == SLACK && slack_free) {
        total = C; /* n total' : sum a + n sum a = sum l - n e */
        slack = (sum_losses - (1.0 + n) * total) / n;
        if (slack < 0.0)
            return false;
    } else if (p->variant == SQUARED) {
        total = sum_losses / (1.0 + n + n / (2.0 * C)); /* e = sum a/(2 C) */
        slack = total / (2.0 * C);
    } else {
        total = sum_losses / (1.0 + n);
        if (p->variant == SLACK && total > C * (1.0 + 1e-12))
            return false;
    }
    memset(v, 0, p->K * sizeof *v);
    for (size_t i = 0; i < p->K; i++)
        if (set >> i & 1) {
            const double a = loss_of(p, i) - slack - total;
            if (a < 0.0)
                return false;
            v[i] = -a;
        }
    v[p->y] = total;
    return true;
}

static void solve_by_subsets(double *best, const problem *p)
{
    double least = INFINITY, v[MOST];
    memset(best, 0, p->K * sizeof *best);
    if (largest_loss(p) == 0.0)
        return;
    for (unsigned set = 1; set < 1u << p->K; set++) {
        if (set >> p->y & 1)
            continue;
        for (int slack_free = 0; slack_free < 2; slack_free++)
            if (solve_subset(v, p, set, slack_free) && objective(p, v) < least) {
                least = objective(p, v);
                memcpy(best, v, p->K * sizeof *best);
            }
    }
    assert_true(isfinite(least));
}

/* ---- the sorted rule, for many classes ---- */

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

static void solve_by_sorting(double *v, const problem *p)
{
    double l[MOST] = {0}, sum = 0.0, threshold;
    size_t count = 0, n = 0;
    for (size_t i = 0; i < p->K; i++)
        if (i != p->y)
            l[count++] = loss_of(p, i);
    qsort(l, count, sizeof *l, descending);
    const double C = p->cost * p->weight * p->xx, c = p->variant == SQUARED ? 1.0 + 1.0 / (2.0 * C) : 1.0;
    while (n < count && l[n] > c * sum / (1.0 + c * (double)n))
        sum += l[n++];
    double total = sum / (1.0 + c * (double)n);
    threshold = c * total;
    if (p->variant == SLACK && total > C) {
        while (n < count && sum - C < (double)n * l[n])
            sum += l[n++];
        threshold = (sum - C) / (double)n;
        /* the literal rule only grows the set; classes at or below the new threshold leave it */
        while (n > 1 && l[n - 1] <= threshold) {
            sum -= l[--n];
            threshold = (sum - C) / (double)n;
        }
        total = C;
    }
    for (size_t i = 0; i < p->K; i++)
        v[i] = i == p->y ? total : -fmax(0.0, loss_of(p, i) - threshold);
}

/* ---- random problems ---- */

static problem random_problem(uc_rng *rng, size_t most_classes)
{
    static const double sizes[] = {0.0, 0.1, 1.0, 10.0, 1e3, 1e6};
    problem p = {.K = 2 + (size_t)uc_rng_below(rng, most_classes - 1), .weight = 1.0};
    p.y = (uint32_t)uc_rng_below(rng, p.K);
    p.xx = pow(10.0, 4.0 * uc_rng_uniform(rng) - 2.0);
    p.cost = pow(10.0, 6.0 * uc_rng_uniform(rng) - 4.0);
    p.variant = (int)uc_rng_below(rng, 3);
    const double size = sizes[uc_rng_below(rng, 6)];
    const bool ties = uc_rng_below(rng, 3) == 0;
    for (size_t k = 0; k < p.K; k++)
        p.scores[k] = size * (ties ? (double)uc_rng_below(rng, 3) - 1.0 : uc_rng_normal(rng));
    if (uc_rng_below(rng, 4) == 0) /* often no loss at all, or at some classes only */
        p.scores[p.y] += 1.0 + 2.0 * size;
    if (uc_rng_below(rng, 3) == 0)
        p.weight = 0.2 + 3.0 * uc_rng_uniform(rng);
    return p;
}

/* In the units of the scores, relative to the largest loss. */
static void check_step(const problem *p, const double *tau, const double *expected)
{
    const double step_weight = p->variant == HARD ? p->weight : 1.0;
    for (size_t k = 0; k < p->K; k++)
        assert_near(p->xx * tau[k], step_weight * expected[k], 1e-12 * (1.0 + largest_loss(p)));
}

static void spa_solves_its_problem_exactly_for_few_classes(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(1, 0);
    for (size_t round = 0; round < 20000; round++) {
        const problem p = random_problem(&rng, 6);
        double tau[MOST], expected[MOST];
        take_step(tau, &uc_learner_spa, &p);
        solve_by_subsets(expected, &p);
        check_step(&p, tau, expected);
    }
}

static void spa_is_the_sorted_rule_for_many_classes(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(2, 0);
    for (size_t round = 0; round < 50000; round++) {
        const problem p = random_problem(&rng, MOST);
        double tau[MOST], expected[MOST];
        take_step(tau, &uc_learner_spa, &p);
        solve_by_sorting(expected, &p);
        check_step(&p, tau, expected);
    }
}

/* No point around the solution is better: random directions, and directions that change two classes only. */
static void no_other_step_is_better(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(3, 0);
    for (size_t round = 0; round < 2000; round++) {
        problem p = random_problem(&rng, 12);
        double tau[MOST], v[MOST], other[MOST];
        p.weight = 1.0;
        take_step(tau, &uc_learner_spa, &p);
        for (size_t k = 0; k < p.K; k++)
            v[k] = p.xx * tau[k];
        const double least = objective(&p, v);
        assert_true(isfinite(least));
        for (size_t attempt = 0; attempt < 200; attempt++) {
            const double size = (1.0 + largest_loss(&p)) * pow(10.0, -4.0 * uc_rng_uniform(&rng));
            const size_t a = (size_t)uc_rng_below(&rng, p.K), b = (size_t)uc_rng_below(&rng, p.K);
            for (size_t k = 0; k < p.K; k++)
                other[k] = v[k] + (attempt % 2 || k == a || k == b ? size * uc_rng_normal(&rng) : 0.0);
            if (p.variant == HARD) /* back to where all constraints hold */
                other[p.y] += slack_needed(&p, other);
            assert_true(objective(&p, other) >= least - 1e-9 * (1.0 + least));
        }
    }
}

static void after_a_hard_step_every_margin_is_at_least_1(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(4, 0);
    for (size_t round = 0; round < 50000; round++) {
        problem p = random_problem(&rng, MOST);
        double tau[MOST];
        p.variant = HARD;
        p.weight = 1.0;
        take_step(tau, &uc_learner_spa, &p);
        const double label = p.scores[p.y] + p.xx * tau[p.y];
        for (size_t i = 0; i < p.K; i++)
            if (i != p.y)
                assert_true(label - (p.scores[i] + p.xx * tau[i]) >=
                            1.0 - 1e-9 * (1.0 + 1e-3 * largest_loss(&p)));
    }
}

/* The sum of all weights stays zero, the label never loses, no other class gains. */
static void steps_sum_to_zero_and_have_the_right_signs(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(5, 0);
    for (size_t round = 0; round < 50000; round++) {
        const problem p = random_problem(&rng, MOST);
        const uc_learner *learner = round % 2 ? &uc_learner_spa : &uc_learner_pa;
        double tau[MOST], sum = 0.0;
        const size_t count = take_step(tau, learner, &p);
        for (size_t k = 0; k < p.K; k++) {
            sum += tau[k];
            assert_true(k == p.y ? tau[k] >= 0.0 : tau[k] <= 0.0);
        }
        assert_near(p.xx * sum, 0.0, 1e-12 * (1.0 + largest_loss(&p)));
        assert_int_equal(count == 0, largest_loss(&p) == 0.0);
        if (p.variant == SLACK)
            assert_true(tau[p.y] <=
                        p.cost * p.weight * (1.0 + 1e-9) + 1e-12 * (1.0 + largest_loss(&p)) / p.xx);
    }
}

static void pa_is_its_closed_form(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(6, 0);
    for (size_t round = 0; round < 50000; round++) {
        const problem p = random_problem(&rng, MOST);
        double tau[MOST], expected[MOST] = {0};
        size_t r = p.K;
        for (size_t i = 0; i < p.K; i++) /* the lowest of equals */
            if (i != p.y && (r == p.K || p.scores[i] > p.scores[r]))
                r = i;
        const double l = loss_of(&p, r), C = p.cost * p.weight;
        const double t = p.variant == HARD    ? p.weight * l / (2.0 * p.xx)
                         : p.variant == SLACK ? fmin(C, l / (2.0 * p.xx))
                                              : l / (2.0 * p.xx + 1.0 / (2.0 * C));
        expected[p.y] = t;
        expected[r] = -t;
        take_step(tau, &uc_learner_pa, &p);
        for (size_t k = 0; k < p.K; k++)
            assert_near_relative(tau[k], expected[k], 1e-14);
    }
}

/* With one wrong class both problems are the same. */
static void pa_and_spa_agree_for_two_classes(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(7, 0);
    for (size_t round = 0; round < 20000; round++) {
        const problem p = random_problem(&rng, 2);
        double a[MOST], b[MOST];
        take_step(a, &uc_learner_pa, &p);
        take_step(b, &uc_learner_spa, &p);
        for (size_t k = 0; k < 2; k++)
            assert_near(p.xx * a[k], p.xx * b[k], 1e-12 * (1.0 + largest_loss(&p)));
    }
}

/* Three classes, all scores 0, xx = 2: losses 1 and 1. Hard: theta = 2/3, tau = (2/3, -1/3, -1/3)/2. */
static void a_step_worked_by_hand(void **state)
{
    (void)state;
    problem p = {.K = 3, .y = 0, .variant = HARD, .cost = 1.0, .xx = 2.0, .weight = 1.0};
    double tau[MOST];
    take_step(tau, &uc_learner_spa, &p);
    assert_near(tau[0], 1.0 / 3, 1e-15);
    assert_near(tau[1], -1.0 / 6, 1e-15);
    assert_near(tau[2], -1.0 / 6, 1e-15);
    p.variant = SLACK; /* 1/3 > C = 0.1: the label gets 0.1, both others lose half of it */
    p.cost = 0.1;
    take_step(tau, &uc_learner_spa, &p);
    assert_near(tau[0], 0.1, 1e-15);
    assert_near(tau[1], -0.05, 1e-15);
    p.variant = SQUARED; /* c = 1 + 1/(2 x 1 x 2) = 5/4, A = 2/((1 + 5/2) 2) = 2/7 */
    p.cost = 1.0;
    take_step(tau, &uc_learner_spa, &p);
    assert_near(tau[0], 2.0 / 7, 1e-15);
    assert_near(tau[1], -1.0 / 7, 1e-15);
    p.variant = HARD; /* losses 5 and 1: only the first is in the support, theta = 5/2 */
    p.scores[1] = 4.0;
    take_step(tau, &uc_learner_spa, &p);
    assert_near(tau[0], 1.25, 1e-15);
    assert_near(tau[1], -1.25, 1e-15);
    assert_true(tau[2] == 0.0);
}

/* A class weight multiplies C; a hard step has no C, there it multiplies the step. */
static void class_weights_multiply_the_cost(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(8, 0);
    for (size_t round = 0; round < 5000; round++) {
        problem p = random_problem(&rng, MOST), plain;
        double weighted[MOST], expected[MOST];
        p.weight = 0.1 + 5.0 * uc_rng_uniform(&rng);
        plain = p;
        plain.weight = 1.0;
        plain.cost = p.cost * p.weight;
        for (int s = 0; s < 2; s++) {
            const uc_learner *learner = s ? &uc_learner_spa : &uc_learner_pa;
            take_step(weighted, learner, &p);
            take_step(expected, learner, &plain);
            for (size_t k = 0; k < p.K; k++)
                assert_near(p.xx * weighted[k], p.xx * expected[k] * (p.variant == HARD ? p.weight : 1.0),
                            1e-12 * (1.0 + largest_loss(&p)));
        }
    }
}

/* Through the learner: a zero vector is no update, and a row seen twice needs no second hard step. */
static void zero_rows_and_rows_with_margin_change_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    const float zeros[2] = {0}, values[2] = {1.0f, -2.0f};
    const uc_row zero = {2, zeros, NULL}, row = {2, values, NULL};
    const uc_learner *const learners[] = {&uc_learner_pa, &uc_learner_spa, &uc_learner_perceptron};
    for (size_t l = 0; l < 3; l++) {
        uc_names classes = sample_names(names, 3);
        uc_online *online;
        uc_proposal proposal;
        assert_ok(uc_online_begin(&online, learners[l], NULL, NULL, &classes, NULL));
        assert_ok(uc_online_propose(&proposal, online, &zero));
        assert_ok(uc_online_learn(online, &zero, &proposal, (uc_answer){UC_ANSWER_LABEL, 1}));
        assert_int_equal(uc_online_updates(online), 0);
        assert_int_equal(uc_online_rounds(online), 1);
        for (size_t i = 0; i < 3; i++) {
            assert_ok(uc_online_propose(&proposal, online, &row));
            assert_ok(uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, 1}));
        }
        if (l == 1) /* up to rounding, which may ask for a step of 1e-16 */
            for (size_t k = 0; k < 3; k++)
                assert_near(online->scores[1] - online->scores[k], k == 1 ? 0.0 : 1.0, 1e-14);
        uc_online_free(online);
        uc_names_free(&classes);
    }
}

/* The root of equal losses is their value: by rounding, none is above it. */
static void equal_losses_with_a_tiny_cost_change_every_class_once(void **state)
{
    (void)state;
    for (int variant = SLACK; variant <= SQUARED; variant++) {
        const problem p = {.K = 5, .y = 2, .variant = variant, .cost = 1e-20, .xx = 1, .weight = 1};
        double tau[MOST];
        assert_int_equal(take_step(tau, &uc_learner_spa, &p), p.K);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_losses_with_a_tiny_cost_change_every_class_once),
        cmocka_unit_test(spa_solves_its_problem_exactly_for_few_classes),
        cmocka_unit_test(spa_is_the_sorted_rule_for_many_classes),
        cmocka_unit_test(no_other_step_is_better),
        cmocka_unit_test(after_a_hard_step_every_margin_is_at_least_1),
        cmocka_unit_test(steps_sum_to_zero_and_have_the_right_signs),
        cmocka_unit_test(pa_is_its_closed_form),
        cmocka_unit_test(pa_and_spa_agree_for_two_classes),
        cmocka_unit_test(a_step_worked_by_hand),
        cmocka_unit_test(class_weights_multiply_the_cost),
        cmocka_unit_test(zero_rows_and_rows_with_margin_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
