/*
 * Confidit (Crammer, Gentile, ICML 2011) against diagonal matrices that are written out:
 *
 *   p = argmax_k  w_k'x + sqrt(eta x'A_k^-1 x);   A_p += diag(x)^2,   A_p(new) w_p = A_p(old) w_p + Z x,
 *   Z = +-1
 */
#include "tests/online_sample.h"

#include <stdlib.h>

enum { ROWS = 200, COLS = 7, CLASSES = 5, SIZE = COLS + 1 };

typedef struct plain_confidit {
    double eta, bias;
    double A[CLASSES][SIZE], w[CLASSES][SIZE],
        sum[CLASSES][SIZE]; /* entry 0: the constant feature; sum of the w */
} plain_confidit;

static void expand(double *x, uc_row row, double bias)
{
    x[0] = bias;
    for (size_t j = 0; j < COLS; j++)
        x[j + 1] = dense_value(row, j);
}

/* The bounds and, apart from the scores, how much of them is uncertainty. */
static uint32_t plain_propose(double *bounds, const plain_confidit *self, const double *x)
{
    uint32_t best = 0;
    for (uint32_t k = 0; k < CLASSES; k++) {
        double score = 0.0, variance = 0.0;
        for (size_t j = 0; j < SIZE; j++) {
            score += self->w[k][j] * x[j];
            variance += x[j] * x[j] / self->A[k][j];
        }
        bounds[k] = score + sqrt(self->eta * variance);
        if (bounds[k] > bounds[best] + 1e-12)
            best = k;
    }
    return best;
}

static void plain_learn(plain_confidit *self, const double *x, uint32_t p, bool right)
{
    for (size_t j = 0; j < SIZE; j++) {
        const double before = self->A[p][j];
        self->A[p][j] += x[j] * x[j];
        self->w[p][j] = (before * self->w[p][j] + (right ? x[j] : -x[j])) / self->A[p][j];
    }
    for (size_t k = 0; k < CLASSES; k++)
        for (size_t j = 0; j < SIZE; j++)
            self->sum[k][j] += self->w[k][j];
}

static void check_planes(const uc_online *online, const plain_confidit *plain)
{
    for (size_t j = 0; j < SIZE; j++)
        for (size_t k = 0; k < CLASSES; k++) {
            assert_near(online->plane[UC_WEIGHTS][j * online->stride + k], plain->w[k][j], 1e-12);
            assert_near_relative(1.0 / online->plane[UC_OWN][j * online->stride + k], plain->A[k][j], 1e-12);
        }
}

static void rounds_are_those_of_explicit_matrices(void **state)
{
    (void)state;
    static const double etas[] = {0.0, 0.01, 1.0, 30.0}, priors[] = {1e-3, 4.0, 100.0};
    for (int kind = 0; kind < 96; kind++) {
        uc_dataset data = sample_data(ROWS, COLS, CLASSES, kind & 1, 1);
        online_setup setup = {.learner = "confidit",
                              .settings.confidit = {.eta = etas[kind / 2 % 4], .prior = priors[kind / 8 % 3]},
                              .train = uc_train_defaults()};
        setup.train.normalize = 0;
        setup.train.bias = kind / 24 % 2 ? 0.7 : 0.0;
        setup.train.average = kind / 48;
        plain_confidit plain = {.eta = etas[kind / 2 % 4], .bias = setup.train.bias};
        for (size_t k = 0; k < CLASSES; k++)
            for (size_t j = 0; j < SIZE; j++)
                plain.A[k][j] = priors[kind / 8 % 3];
        uc_online *online = online_begin(&setup, &data.classes, NULL);
        assert_ok(uc_online_reserve(online, COLS));
        for (size_t i = 0; i < ROWS; i++) {
            const uc_row row = uc_matrix_row(&data.X, i);
            double x[SIZE], bounds[CLASSES];
            expand(x, row, plain.bias);
            const uint32_t p = plain_propose(bounds, &plain, x);
            assert_int_equal(online_round(online, &data, i), p);
            plain_learn(&plain, x, p, p == data.y[i]);
            check_planes(online, &plain);
        }
        assert_int_equal(uc_online_updates(online), ROWS);
        uc_model *model;
        assert_ok(uc_online_model(&model, online, false));
        for (size_t j = 0; j < SIZE; j++)
            for (size_t k = 0; k < CLASSES; k++)
                assert_near(model->weights[j * model->stride + k],
                            setup.train.average ? plain.sum[k][j] / ROWS : plain.w[k][j], 1e-11);
        uc_model_free(model);
        uc_online_free(online);
        uc_dataset_free(&data);
    }
}

/* At the start all classes are equal; a class that was proposed is better known, so another one is next. */
static void what_is_not_known_is_proposed(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    uc_names classes = sample_names(names, 3);
    const online_setup setup = {
        .learner = "confidit", .settings.confidit = {.eta = 1.0, .prior = 4.0}, .train = uc_train_defaults()};
    uc_online *online = online_begin(&setup, &classes, NULL);
    const float values[2] = {0.6f, 0.8f};
    for (uint32_t k = 0; k < 3; k++)
        assert_int_equal(online_round_on(online, (uc_row){2, values, NULL}, 2), k);
    assert_int_equal(online_round_on(online, (uc_row){2, values, NULL}, 2), 2);
    uc_online_free(online);
    uc_names_free(&classes);
}

/* Nothing is drawn, so asking changes nothing. */
static void proposals_change_nothing(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, true, 2);
    const online_setup setup = {
        .learner = "confidit", .settings.confidit = {.eta = 1.0, .prior = 4.0}, .train = uc_train_defaults()};
    uc_online *asked = online_begin(&setup, &data.classes, NULL),
              *quiet = online_begin(&setup, &data.classes, NULL);
    for (size_t i = 0; i < ROWS; i++) {
        uc_proposal ignored;
        const uc_row row = uc_matrix_row(&data.X, i * 7 % ROWS);
        assert_ok(uc_online_propose(&ignored, asked, &row));
        assert_true(ignored.probability == 1.0);
        assert_int_equal(online_round(asked, &data, i), online_round(quiet, &data, i));
    }
    assert_memory_equal(asked->plane[UC_OWN], quiet->plane[UC_OWN], SIZE * asked->stride * sizeof(double));
    uc_online_free(asked);
    uc_online_free(quiet);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_are_those_of_explicit_matrices),
        cmocka_unit_test(what_is_not_known_is_proposed),
        cmocka_unit_test(proposals_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
