/*
 * CSPA (Kaneko, Sato, Sugiyama, 2019) against its optimisation problem, the published algorithm with all
 * classes explicit, and its cumulative-loss bound.
 *
 *   s_k  scores     p  the class proposed     K  classes     xx  squared length of the row
 *   l = 1 + s_p - max_{i != p} s_i  after "wrong";  max_{i != p} (1 + s_i - s_p)_+  after "right"
 */
#include "tests/online_sample.h"

#include <stdlib.h>

enum { MOST = 30, ROWS = 150, COLS = 8 };

typedef struct problem {
    size_t K;
    uint32_t p;
    double beta, xx;
    double scores[MOST];
} problem;

static double wrong_loss(const double *s, size_t K, size_t p)
{
    double best = -INFINITY;
    for (size_t i = 0; i < K; i++)
        best = i == p ? best : fmax(best, s[i]);
    return 1.0 + s[p] - best;
}

/* p scores best, in the other half of the problems any class: feedback may be late. */
static problem random_problem(uc_rng *rng, size_t i)
{
    problem self = {.K = 2 + (size_t)uc_rng_below(rng, MOST - 1)};
    const double size = pow(10.0, 4.0 * uc_rng_uniform(rng) - 2.0);
    self.beta = i % 7 ? 1e-3 + 0.999 * uc_rng_uniform(rng) : 1.0;
    self.xx = pow(10.0, 12.0 * uc_rng_uniform(rng) - 6.0);
    for (size_t k = 0; k < self.K; k++) {
        self.scores[k] = i % 3 ? size * uc_rng_normal(rng) : ((double)uc_rng_below(rng, 5) - 2.0) / 4.0;
        if (self.scores[k] > self.scores[self.p])
            self.p = (uint32_t)k;
    }
    if (i % 2)
        self.p = (uint32_t)uc_rng_below(rng, self.K);
    return self;
}

static size_t take_step(double *tau, const problem *self, uc_answer_kind kind, bool automatic)
{
    const uc_cspa_settings settings = {.beta = automatic ? (double)NAN : self->beta};
    const uc_round round = {.scores = self->scores,
                            .classes = self->K,
                            .xx = self->xx,
                            .proposal = {.label = self->p, .probability = 1.0, .favourite = self->p},
                            .answer = {kind, 0},
                            .weight = 1.0};
    const size_t count = take_online_step(tau, &uc_learner_cspa, &settings, &round);
    centre(tau, self->K);
    return count;
}

/* The cost of (6): all classes but p gain `a`, p gains as little as the constraint needs. */
static double cost_of(const problem *self, double a, double loss)
{
    const double b = fmin(0.0, a - self->beta * loss / self->xx);
    return (double)(self->K - 1) * a * a + b * b;
}

/* Golden section. If a alone is enough, b is free, so the cost is convex in a. */
static double best_gain(const problem *self, double loss)
{
    double low = 0.0, high = self->beta * loss / self->xx;
    const double ratio = (sqrt(5.0) - 1.0) / 2.0;
    for (int i = 0; i < 200; i++) {
        const double left = high - ratio * (high - low), right = low + ratio * (high - low);
        if (cost_of(self, left, loss) < cost_of(self, right, loss))
            high = right;
        else
            low = left;
    }
    return (low + high) / 2.0;
}

static void check_wrong(const problem *self)
{
    double tau[MOST], after[MOST];
    const double loss = wrong_loss(self->scores, self->K, self->p);
    const size_t count = take_step(tau, self, UC_ANSWER_WRONG, false);
    if (loss <= 0.0) {
        assert_int_equal(count, 0);
        return;
    }
    const double gain = best_gain(self, loss); /* golden section is good to the root of the precision */
    assert_near(self->xx * tau[self->p ? 0 : 1], self->xx * gain, 1e-7 * loss);
    assert_near(self->xx * tau[self->p], self->xx * gain - self->beta * loss, 1e-7 * loss);
    /* No more than a rounding error worse than the best that was found, and feasible. */
    double cost = 0.0, largest = 1.0;
    for (size_t k = 0; k < self->K; k++) {
        cost += tau[k] * tau[k];
        after[k] = self->scores[k] + self->xx * tau[k];
        largest = fmax(largest, fabs(self->scores[k]));
        if (k != self->p) /* the others keep their differences */
            assert_near(self->xx * tau[k], self->xx * tau[self->p ? 0 : 1], 1e-13 * largest);
    }
    assert_true(cost <= cost_of(self, gain, loss) * (1.0 + 1e-12));
    assert_near(wrong_loss(after, self->K, self->p), (1.0 - self->beta) * loss, 1e-13 * largest);
}

static void a_wrong_step_is_the_smallest_that_takes_its_share_of_the_margin(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(1, 1);
    for (size_t i = 0; i < 5000; i++) {
        const problem self = random_problem(&rng, i);
        check_wrong(&self);
    }
}

static void auto_is_the_beta_of_the_theory(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(2, 1);
    for (size_t i = 0; i < 300; i++) {
        problem self = random_problem(&rng, i);
        double automatic[MOST], told[MOST];
        self.beta = 1.0 / (2.0 * (double)(self.K - 1));
        take_step(automatic, &self, UC_ANSWER_WRONG, true);
        take_step(told, &self, UC_ANSWER_WRONG, false);
        assert_memory_equal(automatic, told, self.K * sizeof *told);
    }
}

/* The step of spa with a hard margin, whose own tests compare it with a numerical optimum. */
static void a_right_step_is_that_of_spa(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(3, 1);
    for (size_t i = 0; i < 2000; i++) {
        const problem self = random_problem(&rng, i);
        const uc_pa_settings settings = {.variant = 0, .cost = 1.0};
        const uc_round round = {.scores = self.scores,
                                .classes = self.K,
                                .xx = self.xx,
                                .answer = {UC_ANSWER_LABEL, self.p},
                                .weight = 1.0};
        double tau[MOST], spa[MOST], largest = 1.0;
        const size_t count = take_step(tau, &self, UC_ANSWER_RIGHT, false);
        assert_int_equal(take_online_step(spa, &uc_learner_spa, &settings, &round), count);
        for (size_t k = 0; k < self.K; k++)
            largest = fmax(largest, fabs(self.scores[k]));
        for (size_t k = 0; k < self.K; k++) { /* spa's changes add up to 0 by themselves */
            const double margin = self.scores[self.p] - self.scores[k] + self.xx * (tau[self.p] - tau[k]);
            assert_near(self.xx * tau[k], self.xx * spa[k], 1e-13 * largest * (double)self.K);
            assert_true(k == self.p || margin >= 1.0 - 1e-12 * largest * (double)self.K);
        }
    }
}

/* ---- rounds: all weight vectors explicit, by the sorted rule of the paper (signs and 1/xx put right)
 * ---- */

enum { CLASSES = 5 };

typedef struct plain_cspa {
    size_t K;
    double beta, bias;
    double W[COLS + 1][CLASSES], sum[COLS + 1][CLASSES];
} plain_cspa;

static void plain_right(double *tau, const double *s, size_t K, size_t p, double xx)
{
    double l[MOST], sum = 0.0;
    size_t sorted[MOST], count = 0, n = 0;
    for (size_t i = 0; i < K; i++) {
        l[i] = fmax(0.0, 1.0 + s[i] - s[p]);
        if (i == p)
            continue;
        size_t at = count++;
        for (; at > 0 && l[sorted[at - 1]] < l[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = i;
    }
    while (n < K - 1 && l[sorted[n]] > sum / (double)(n + 1))
        sum += l[sorted[n++]];
    const double theta = sum / (double)(n + 1);
    for (size_t i = 0; i < n; i++)
        tau[sorted[i]] = -(l[sorted[i]] - theta) / xx;
    tau[p] = theta / xx;
}

static uint32_t plain_round(plain_cspa *self, uc_row row, uint32_t y)
{
    double s[CLASSES] = {0}, tau[CLASSES] = {0}, xx = self->bias * self->bias;
    const size_t K = self->K;
    uint32_t p = 0;
    for (size_t k = 0; k < K; k++)
        s[k] = self->bias * self->W[0][k];
    for (size_t j = 0; j < COLS; j++) {
        const double x = dense_value(row, j);
        xx += x * x;
        for (size_t k = 0; k < K; k++)
            s[k] += x * self->W[j + 1][k];
    }
    for (uint32_t k = 1; k < K; k++)
        if (s[k] > s[p] + 1e-12)
            p = k;
    if (xx > 0.0 && p == y)
        plain_right(tau, s, K, p, xx);
    else if (xx > 0.0)
        for (size_t k = 0; k < K; k++)
            tau[k] = (k == p ? -(double)(K - 1) : 1.0) * self->beta * wrong_loss(s, K, p) / ((double)K * xx);
    for (size_t j = 0; j <= COLS; j++)
        for (size_t k = 0; k < K; k++) {
            self->W[j][k] += tau[k] * (j == 0 ? self->bias : dense_value(row, j - 1));
            self->sum[j][k] += self->W[j][k];
        }
    return p;
}

static void a_stream_is_the_published_algorithm_with_all_classes_explicit(void **state)
{
    (void)state;
    for (int kind = 0; kind < 32; kind++) {
        const size_t K = kind & 16 ? 2 : CLASSES;
        uc_dataset data = sample_data(ROWS, COLS, K, kind & 1, 5);
        online_setup setup = {.learner = "cspa", .train = uc_train_defaults()};
        setup.settings.cspa.beta = kind & 2 ? 0.6 : (double)NAN;
        setup.train.normalize = 0;
        setup.train.bias = kind & 4 ? 0.7 : 0.0;
        setup.train.average = kind >> 3 & 1;
        plain_cspa plain = {
            .K = K, .beta = kind & 2 ? 0.6 : 1.0 / (2.0 * (double)(K - 1)), .bias = setup.train.bias};
        uc_online *online = online_begin(&setup, &data.classes, NULL);
        size_t right = 0;
        for (size_t i = 0; i < ROWS; i++) {
            const uc_row row = uc_matrix_row(&data.X, i);
            const uint32_t proposed = online_round(online, &data, i);
            assert_int_equal(proposed, plain_round(&plain, row, data.y[i]));
            right += proposed == data.y[i];
        }
        assert_true(right > ROWS / 10 && right < ROWS); /* both answers occurred */
        uc_model *model;
        assert_ok(uc_online_model(&model, online, false));
        for (size_t j = 0; j <= COLS; j++)
            for (size_t k = 0; k < K; k++)
                assert_near(model->weights[j * model->stride + k],
                            setup.train.average ? plain.sum[j][k] / ROWS : plain.W[j][k], 1e-11);
        uc_model_free(model);
        uc_online_free(online);
        uc_dataset_free(&data);
    }
}

/* A class joins at zero weights, where the mean of the others is; beta auto goes with the number of
 * classes. */
static void classes_may_be_added_while_the_algorithm_runs(void **state)
{
    (void)state;
    for (int average = 0; average < 2; average++) {
        uc_dataset data = sample_data(ROWS, COLS, CLASSES, true, 8);
        online_setup setup = {
            .learner = "cspa", .settings.cspa = {.beta = (double)NAN}, .train = uc_train_defaults()};
        setup.train.normalize = 0;
        setup.train.average = average;
        static const char *const two[] = {"1", "2"};
        uc_names classes = sample_names(two, 2);
        plain_cspa plain = {.K = 2};
        uc_online *online = online_begin(&setup, &classes, NULL);
        for (size_t i = 0; i < ROWS; i++) {
            if (i % 30 == 29 && plain.K < CLASSES) {
                uint32_t index;
                assert_ok(uc_online_add_class(&index, online, data.classes.text[plain.K]));
                assert_int_equal(index, plain.K++);
            }
            plain.beta = 1.0 / (2.0 * (double)(plain.K - 1));
            const uint32_t y = data.y[i] % (uint32_t)plain.K;
            assert_int_equal(online_round_on(online, uc_matrix_row(&data.X, i), y),
                             plain_round(&plain, uc_matrix_row(&data.X, i), y));
        }
        assert_int_equal(plain.K, CLASSES);
        uc_model *model;
        assert_ok(uc_online_model(&model, online, false));
        for (size_t j = 0; j <= COLS; j++)
            for (size_t k = 0; k < CLASSES; k++)
                assert_near(model->weights[j * model->stride + k],
                            average ? plain.sum[j][k] / ROWS : plain.W[j][k], 1e-11);
        uc_model_free(model);
        uc_online_free(online);
        uc_names_free(&classes);
        uc_dataset_free(&data);
    }
}

static void a_row_of_zeros_changes_nothing(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 6);
    const online_setup setup = {
        .learner = "cspa", .settings.cspa = {.beta = 0.5}, .train = uc_train_defaults()};
    uc_online *with = online_begin(&setup, &data.classes, NULL),
              *without = online_begin(&setup, &data.classes, NULL);
    const float zeros[COLS] = {0};
    for (size_t i = 0; i < ROWS; i++) {
        const uint64_t updates = uc_online_updates(with);
        online_round_on(with, (uc_row){COLS, zeros, NULL}, data.y[i]);
        online_round_on(with, (uc_row){0, zeros, (const uint32_t[]){0}}, data.y[i]);
        assert_int_equal(uc_online_updates(with), updates);
        assert_int_equal(online_round(with, &data, i), online_round(without, &data, i));
    }
    assert_int_equal(uc_online_rounds(with), 3 * ROWS);
    assert_memory_equal(with->plane[UC_WEIGHTS], without->plane[UC_WEIGHTS],
                        (COLS + 1) * with->stride * sizeof(double));
    uc_online_free(with);
    uc_online_free(without);
    uc_dataset_free(&data);
}

/* ---- the bound on the sum of squared losses ----
 *
 * Theorem 2 with its misprints put right. |x_t| = R. For any u_1..u_K, D_t = sum_k |w_k - u_k|^2 before
 * minus after round t adds up to at most U = sum_k |u_k|^2. l*_t = max_{i != y} (1 + (u_i - u_y)'x)_+.
 *
 * Wrong, p != y. As in (37), with l >= 1 (p scores best) and
 *
 *   sum_{i != p, y} (u_p - u_i)'x <= alpha  for every p != y
 *   (26)
 *
 * (the paper prints the difference the other way round, which the last step but four of (37) cannot use),
 *
 *   R^2 D >= beta (2(1 - alpha) - (K-1) beta)/K l^2 - 2 beta/K l l*
 *
 * Right. a_i = (l_i - theta)/R^2 for the n support classes, A their sum, R^2 (a_i + A) = l_i. Then
 * D >= 2 sum a_i (l_i - l*) - R^2 (sum a_i^2 + A^2) = sum a_i l_i - 2 A l*, and
 *   R^2 sum a_i l_i = sum l_i^2 - (sum l_i)^2/(n+1) >= l^2/2   (the least is where all but the largest are
 *   l/2),
 *   R^2 A = sum l_i/(n+1) <= n l/(n+1), so
 *
 *   R^2 D >= l^2/2 - 2n/(n+1) l l*.         (35) prints 1 instead of 2n/(n+1), which is false for n >= 2.
 *
 * With beta = (1 - alpha)/(K-1) the smaller coefficient of l^2 is (1-alpha)^2/(K(K-1)) and the larger one
 * of l l* is 2(K-1)/K; Cauchy and Schwarz, and the quadratic in L = sqrt(sum l^2), give
 *
 *   L <= 2(K-1)/K K(K-1)/(1-alpha)^2 L* + R sqrt(K(K-1))/(1-alpha) sqrt(U).
 *   (29)
 */
enum { BOUND_ROUNDS = 400, DIMENSION = 4, BOUND_CLASSES = 6 };

typedef struct match {
    size_t K;
    double alpha, beta;
    float X[BOUND_ROUNDS][DIMENSION];
    uint32_t y[BOUND_ROUNDS];
    double u[DIMENSION][BOUND_CLASSES];
} match;

static double reference_score(const match *self, size_t t, size_t k)
{
    double sum = 0.0;
    for (size_t j = 0; j < DIMENSION; j++)
        sum += self->u[j][k] * (double)self->X[t][j];
    return sum;
}

/* The left side of (26), over all p. */
static double spread_of(const match *self, size_t t)
{
    double largest = 0.0;
    for (uint32_t p = 0; p < self->K; p++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < self->K; i++)
            if (i != p && i != self->y[t])
                sum += reference_score(self, t, p) - reference_score(self, t, i);
        if (p != self->y[t])
            largest = fmax(largest, sum);
    }
    return largest;
}

static double reference_loss(const match *self, size_t t)
{
    double largest = 0.0;
    for (size_t i = 0; i < self->K; i++)
        if (i != self->y[t])
            largest = fmax(largest, 1.0 + reference_score(self, t, i) - reference_score(self, t, self->y[t]));
    return largest;
}

/* Labels that follow u, labels at random, or a mixture; u scaled so that (26) holds with a random alpha <
 * 1. */
static match random_match(uc_rng *rng, size_t number)
{
    match self = {.K = 2 + number % (BOUND_CLASSES - 1)};
    const size_t noise = number % 3; /* of 4 */
    for (size_t j = 0; j < DIMENSION; j++)
        for (size_t k = 0; k < self.K; k++)
            self.u[j][k] = uc_rng_normal(rng);
    double spread = 0.0;
    for (size_t t = 0; t < BOUND_ROUNDS; t++) {
        double length = 0.0, x[DIMENSION];
        for (size_t j = 0; j < DIMENSION; j++) {
            x[j] = uc_rng_normal(rng);
            length += x[j] * x[j];
        }
        for (size_t j = 0; j < DIMENSION; j++)
            self.X[t][j] = (float)(x[j] / sqrt(length));
        for (uint32_t k = 1; k < self.K; k++)
            if (reference_score(&self, t, k) > reference_score(&self, t, self.y[t]))
                self.y[t] = k;
        if (uc_rng_below(rng, 4) < 2 * noise)
            self.y[t] = (uint32_t)uc_rng_below(rng, self.K);
        spread = fmax(spread, spread_of(&self, t));
    }
    self.alpha = number % 5 == 0 ? 0.0 : 0.95 * uc_rng_uniform(rng);
    for (size_t j = 0; j < DIMENSION; j++)
        for (size_t k = 0; k < self.K; k++)
            self.u[j][k] *= spread > 0.0 ? self.alpha / spread : 5.0 * uc_rng_uniform(rng);
    self.beta = (1.0 - self.alpha) / (double)(self.K - 1);
    return self;
}

/* sum_k |w_k - u_k|^2, of the weights with mean 0. */
static double distance(const uc_online *online, const match *self)
{
    double sum = 0.0;
    for (size_t j = 0; j < DIMENSION; j++) {
        double w[BOUND_CLASSES];
        memcpy(w, online->plane[UC_WEIGHTS] + (j + 1) * online->stride, self->K * sizeof *w);
        centre(w, self->K);
        for (size_t k = 0; k < self->K; k++)
            sum += (w[k] - self->u[j][k]) * (w[k] - self->u[j][k]);
    }
    return sum;
}

/* One round, with the inequality of its kind; returns l^2. *printed counts where (35) as printed fails. */
static double bounded_round(uc_online *online, const match *self, size_t t, size_t *printed)
{
    const uc_row row = {DIMENSION, self->X[t], NULL};
    const double K = (double)self->K, before = distance(online, self), best = reference_loss(self, t);
    const double xx = uc_row_norm2(row);
    uc_proposal proposal;
    double s[BOUND_CLASSES], loss = 0.0, n = 0.0;
    assert_ok(uc_online_propose(&proposal, online, &row));
    memcpy(s, online->scores, self->K * sizeof *s);
    const uc_answer answer = online_answer(online, &proposal, self->y[t]);
    assert_ok(uc_online_learn(online, &row, &proposal, answer));
    const double gained = before - distance(online, self);
    if (answer.kind == UC_ANSWER_WRONG) {
        loss = wrong_loss(s, self->K, proposal.label);
        assert_true(loss >= 1.0 - 1e-13); /* it scores best */
        assert_true(xx * gained >=
                    self->beta * (2.0 * (1.0 - self->alpha) - (K - 1.0) * self->beta) / K * loss * loss -
                        2.0 * self->beta / K * loss * best - 1e-10);
        return loss * loss;
    }
    for (uint32_t i = 0; i < self->K; i++)
        if (i != proposal.label)
            loss = fmax(loss, 1.0 + s[i] - s[proposal.label]);
    for (size_t i = 0; i < online->step.count; i++)
        n += online->step.classes[i] != proposal.label;
    assert_true(xx * gained >= loss * loss / 2.0 - 2.0 * n / (n + 1.0) * loss * best - 1e-10);
    *printed += xx * gained < (n + 3.0) / (4.0 * n + 4.0) * loss * loss - loss * best - 1e-6;
    return loss * loss;
}

static void the_squared_losses_stay_below_the_corrected_bound(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    static match self;
    uc_rng rng = uc_rng_make(7, 1);
    size_t printed = 0;
    for (size_t number = 0; number < 150; number++) {
        self = random_match(&rng, number);
        uc_names classes = sample_names(names, self.K);
        const online_setup setup = {
            .learner = "cspa", .settings.cspa = {.beta = self.beta}, .train = uc_train_defaults()};
        online_setup plain = setup;
        plain.train.normalize = 0;
        uc_online *online = online_begin(&plain, &classes, NULL);
        assert_ok(uc_online_reserve(online, DIMENSION));
        const double K = (double)self.K;
        double squares = 0.0, best_squares = 0.0, U = 0.0;
        for (size_t t = 0; t < BOUND_ROUNDS; t++) {
            squares += bounded_round(online, &self, t, &printed);
            best_squares += reference_loss(&self, t) * reference_loss(&self, t);
        }
        for (size_t j = 0; j < DIMENSION; j++)
            for (size_t k = 0; k < self.K; k++)
                U += self.u[j][k] * self.u[j][k];
        const double bound =
            2.0 * (K - 1.0) * (K - 1.0) / ((1.0 - self.alpha) * (1.0 - self.alpha)) * sqrt(best_squares) +
            sqrt(K * (K - 1.0)) / (1.0 - self.alpha) * sqrt(U);
        assert_true(squares <= bound * bound);
        uc_online_free(online);
        uc_names_free(&classes);
    }
    assert_true(printed > 0); /* the misprint is one */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_step_is_the_smallest_that_takes_its_share_of_the_margin),
        cmocka_unit_test(auto_is_the_beta_of_the_theory),
        cmocka_unit_test(a_right_step_is_that_of_spa),
        cmocka_unit_test(a_stream_is_the_published_algorithm_with_all_classes_explicit),
        cmocka_unit_test(classes_may_be_added_while_the_algorithm_runs),
        cmocka_unit_test(a_row_of_zeros_changes_nothing),
        cmocka_unit_test(the_squared_losses_stay_below_the_corrected_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
