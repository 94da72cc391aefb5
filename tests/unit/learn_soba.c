/*
 * SOBA (Beygelzimer, Orabona, Zhang, ICML 2017) as the paper writes it: A and theta are kept, and
 * W = A^-1 theta is solved for in every round. After a right proposal p, with r the best other class and
 * P the probability of p,
 *
 *   g = (e_r - e_p) (x) x / P,  z = sqrt(P) g,  M = (<W, z>^2 + 2 <W, g>)/(1 + z'A^-1 z)
 *
 * and if the sum of M and those of all updates is not negative: A += z z', theta -= g. Diagonal: the diagonal
 * of A alone.
 */
#include "tests/online_sample.h"

#include <stdlib.h>

#include "learn/passive_aggressive.h"
#include "learn/metric.h"

enum { ROWS = 150, COLS = 4, SIZE = COLS + 1, CLASSES = 3, ALL = SIZE * CLASSES };

typedef struct plain_soba {
    bool full;
    double A[ALL][ALL], theta[ALL], W[ALL], margins; /* class by class for every column */
    size_t updates;
} plain_soba;

/* out = A^-1 b by elimination with pivots. */
static void solve(double *out, const plain_soba *self, const double *b)
{
    double M[ALL][ALL + 1];
    for (size_t i = 0; i < ALL; i++) {
        memcpy(M[i], self->A[i], sizeof self->A[i]);
        M[i][ALL] = b[i];
    }
    for (size_t c = 0; c < ALL; c++) {
        size_t pivot = c;
        for (size_t i = c + 1; i < ALL; i++)
            if (fabs(M[i][c]) > fabs(M[pivot][c]))
                pivot = i;
        for (size_t j = 0; j <= ALL; j++) {
            const double kept = M[c][j];
            M[c][j] = M[pivot][j];
            M[pivot][j] = kept;
        }
        for (size_t i = 0; i < ALL; i++) {
            const double factor = i == c ? 0.0 : M[i][c] / M[c][c];
            for (size_t j = c; j <= ALL && factor != 0.0; j++)
                M[i][j] -= factor * M[c][j];
        }
    }
    for (size_t i = 0; i < ALL; i++)
        out[i] = M[i][ALL] / M[i][i];
}

static double product(const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < ALL; i++)
        sum += a[i] * b[i];
    return sum;
}

static double score(const plain_soba *self, const double *x, size_t k)
{
    double sum = 0.0;
    for (size_t j = 0; j < SIZE; j++)
        sum += x[j] * self->W[j * CLASSES + k];
    return sum;
}

/* `r` is one of the best other classes, of which there may be several, up to rounding. */
static void plain_learn(plain_soba *self, const double *x, uint32_t p, double P, uint32_t r)
{
    double g[ALL] = {0}, z[ALL], solved[ALL];
    for (size_t k = 0; k < CLASSES; k++)
        assert_true(k == p || score(self, x, k) < score(self, x, r) + 1e-9);
    for (size_t j = 0; j < SIZE; j++) {
        g[j * CLASSES + r] = x[j] / P;
        g[j * CLASSES + p] = -x[j] / P;
    }
    for (size_t i = 0; i < ALL; i++)
        z[i] = sqrt(P) * g[i];
    solve(solved, self, z);
    const double Wz = product(self->W, z);
    const double M = (Wz * Wz + 2.0 * product(self->W, g)) / (1.0 + product(z, solved));
    if (self->margins + M < 0.0)
        return;
    self->margins += M;
    self->updates++;
    for (size_t i = 0; i < ALL; i++) {
        self->theta[i] -= g[i];
        for (size_t j = 0; j < ALL; j++)
            if (self->full || i == j)
                self->A[i][j] += z[i] * z[j];
    }
    solve(self->W, self, self->theta);
}

static void rounds_are_those_of_the_paper(void **state)
{
    (void)state;
    static const double priors[] = {0.05, 1.0, 20.0}, explores[] = {0.05, 0.5, 1.0};
    size_t updates = 0, skipped = 0;
    for (int kind = 0; kind < 36; kind++) {
        uc_dataset data = sample_data(ROWS, COLS, CLASSES, kind & 1, 1);
        online_setup setup = {.learner = "soba",
                              .settings.soba = {.explore = explores[kind / 4 % 3],
                                                .prior = priors[kind / 12],
                                                .covariance = kind & 2 ? 1 : 2},
                              .train = uc_train_defaults()};
        setup.train.bias = 0.7;
        setup.train.normalize = 0;
        plain_soba plain = {.full = kind & 2};
        for (size_t i = 0; i < ALL; i++)
            plain.A[i][i] = priors[kind / 12];
        uc_online *online = online_begin(&setup, &data.classes, NULL);
        assert_ok(uc_online_expect(online, COLS, 1.0));
        for (size_t i = 0; i < ROWS; i++) {
            const uc_row row = uc_matrix_row(&data.X, i);
            double x[SIZE] = {0.7};
            for (size_t j = 0; j < COLS; j++)
                x[j + 1] = dense_value(row, j);
            uc_proposal proposal;
            assert_ok(uc_online_propose(&proposal, online, &row));
            const bool right = proposal.label == data.y[i];
            if (right)
                plain_learn(&plain, x, proposal.label, proposal.probability,
                            uc_best_other(online->scores, CLASSES, proposal.label));
            assert_ok(uc_online_learn(online, &row, &proposal,
                                      (uc_answer){right ? UC_ANSWER_RIGHT : UC_ANSWER_WRONG, 0}));
            assert_int_equal(uc_online_updates(online), plain.updates);
            skipped += right;
            for (size_t n = 0; n < ALL; n++) {
                const size_t at = n / CLASSES * online->stride + n % CLASSES;
                assert_near(online->plane[UC_WEIGHTS][at], plain.W[n], 1e-9 * (1.0 + fabs(plain.W[n])));
                assert_near_relative(1.0 / online->plane[UC_OWN][at], plain.A[n][n], 1e-10);
            }
        }
        updates += plain.updates;
        skipped -= plain.updates;
        uc_online_free(online);
        uc_dataset_free(&data);
    }
    assert_true(updates > 500 && skipped > 20); /* both happened */
}

static const uc_metric *metric_of(const uc_online *online)
{
    return online->memory; /* its first member */
}

/* Entry (i, j) of A^-1. */
static double inverse_at(const uc_online *online, size_t i, size_t j)
{
    const uc_metric *metric = metric_of(online);
    return metric->inverse[i * metric->stride + j] - metric->factor * metric->pending[i] * metric->pending[j];
}

/* The matrix for two classes and COLS columns, after a class and two columns were added. */
static void columns_and_classes_that_come_later_find_their_place(void **state)
{
    (void)state;
    enum { SMALL = 2 * SIZE, WIDE = SIZE + 2 };
    static const char *const names[] = {"a", "b"};
    uc_names two = sample_names(names, 2);
    uc_dataset data = sample_data(ROWS, COLS, 2, false, 4);
    const online_setup setup = {.learner = "soba",
                                .settings.soba = {.explore = 0.3, .prior = 4.0, .covariance = 1},
                                .train = uc_train_defaults()};
    for (int class_first = 0; class_first < 2; class_first++) {
        uc_online *online = online_begin(&setup, &two, NULL);
        double before[SMALL][SMALL];
        uint32_t index;
        for (size_t i = 0; i < ROWS; i++)
            online_round(online, &data, i);
        assert_true(metric_of(online)->factor != 0.0);
        for (size_t i = 0; i < SMALL; i++)
            for (size_t j = 0; j < SMALL; j++)
                before[i][j] = inverse_at(online, i, j);
        if (class_first)
            assert_ok(uc_online_add_class(&index, online, "c"));
        assert_ok(uc_online_reserve(online, WIDE - 1));
        if (!class_first)
            assert_ok(uc_online_add_class(&index, online, "c"));
        assert_int_equal(metric_of(online)->size, 3 * WIDE);
        for (size_t i = 0; i < 3 * WIDE; i++)
            for (size_t j = 0; j < 3 * WIDE; j++) {
                const bool old = i / 3 < SIZE && i % 3 < 2 && j / 3 < SIZE && j % 3 < 2;
                const double fresh = i == j ? 0.25 : 0.0;
                assert_true(inverse_at(online, i, j) ==
                            (old ? before[i / 3 * 2 + i % 3][j / 3 * 2 + j % 3] : fresh));
            }
        uc_online_free(online);
    }
    uc_dataset_free(&data);
    uc_names_free(&two);
}

static void auto_is_full_up_to_1024_weights(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d"};
    uc_names classes = sample_names(names, 4);
    const online_setup setup = {
        .learner = "soba", .settings.soba = {.explore = 0.1, .prior = 1.0}, .train = uc_train_defaults()};
    static const struct {
        size_t columns;
        double density;
        bool full;
    } cases[] = {{255, 1.0, true}, {256, 1.0, false}, {255, 0.01, false}, {3, 0.06, true}};
    for (size_t c = 0; c < 4; c++) {
        uc_online *online = online_begin(&setup, &classes, NULL);
        uc_soba_settings decided;
        assert_ok(uc_online_expect(online, cases[c].columns, cases[c].density));
        assert_int_equal(metric_of(online)->kind, cases[c].full ? UC_METRIC_FULL : UC_METRIC_NONE);
        uc_online_settings(&decided, online);
        assert_int_equal(decided.covariance, cases[c].full ? 1 : 2);
        uc_online_free(online);
    }
    uc_names_free(&classes);
}

/* From full to diagonal when too many columns come: the weights stay, and the diagonal of A is there. */
static void a_stream_that_outgrows_the_matrix_goes_on(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, true, 8);
    const online_setup setup = {
        .learner = "soba", .settings.soba = {.explore = 0.2, .prior = 1.0}, .train = uc_train_defaults()};
    uc_online *online = online_begin(&setup, &data.classes, NULL);
    assert_ok(uc_online_expect(online, COLS, 1.0));
    for (size_t i = 0; i < ROWS / 2; i++)
        online_round(online, &data, i);
    assert_int_equal(metric_of(online)->kind, UC_METRIC_FULL);
    double before[ALL];
    for (size_t n = 0; n < ALL; n++)
        before[n] = online->plane[UC_WEIGHTS][n / CLASSES * online->stride + n % CLASSES];
    assert_ok(uc_online_expect(online, 2000, 1.0));
    assert_int_equal(metric_of(online)->kind, UC_METRIC_NONE);
    for (size_t n = 0; n < ALL; n++)
        assert_true(before[n] == online->plane[UC_WEIGHTS][n / CLASSES * online->stride + n % CLASSES]);
    const uint64_t updates = uc_online_updates(online);
    for (size_t i = ROWS / 2; i < ROWS; i++)
        online_round(online, &data, i);
    assert_true(uc_online_updates(online) > updates);
    uc_online_free(online);
    uc_dataset_free(&data);
}

static void bad_settings_are_refused_with_a_sentence(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d"};
    uc_names classes = sample_names(names, 4);
    online_setup setup = {.learner = "soba",
                          .settings.soba = {.explore = 0.1, .prior = 1.0, .covariance = 1},
                          .train = uc_train_defaults()};
    uc_online *online = online_begin(&setup, &classes, NULL);
    assert_error(uc_online_expect(online, 2048, 1.0), UC_ERR_INVALID,
                 "{covariance=full} is for at most 8192 weights, not 8196 (4 classes of 2048 features and a "
                 "constant): use {covariance=auto}");
    assert_error(uc_online_expect(online, 10, 0.01), UC_ERR_INVALID,
                 "{covariance=full} is for dense rows: use {covariance=auto}");
    uc_online_free(online);
    online = NULL;
    setup.settings.soba.prior = 0.0;
    assert_error(
        uc_online_begin(&online, uc_learner_find("soba"), &setup.settings, &setup.train, &classes, NULL),
        UC_ERR_OPTION, "{prior=0}: it must be from 1e-06 to 1000000000000");
    setup.settings.soba = (uc_soba_settings){.explore = 0.0, .prior = 1.0};
    assert_error(
        uc_online_begin(&online, uc_learner_find("soba"), &setup.settings, &setup.train, &classes, NULL),
        UC_ERR_OPTION, "{explore=0}: it must be above 0 and at most 1");
    uc_names_free(&classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_are_those_of_the_paper),
        cmocka_unit_test(columns_and_classes_that_come_later_find_their_place),
        cmocka_unit_test(auto_is_full_up_to_1024_weights),
        cmocka_unit_test(a_stream_that_outgrows_the_matrix_goes_on),
        cmocka_unit_test(bad_settings_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
