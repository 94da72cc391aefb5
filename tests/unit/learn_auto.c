/* The parts of `auto`: the calibrator's gradient, noise that is found again, families within each other,
 * and the error that one can believe. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "learn/auto/heads.h"
#include "learn/calibration/clean_error.h"
#include "learn/calibration/families.h"
#include "linalg/linalg.h"

#define MOST_ROWS 4000
#define MOST_CLASSES 4

/* Rows whose true class has a score near 1, the others near 0, with labels drawn from a noise matrix. */
typedef struct drawn {
    size_t rows, K;
    double scores[MOST_ROWS * MOST_CLASSES];
    uint32_t truth[MOST_ROWS], labels[MOST_ROWS];
} drawn;

static void draw(drawn *out, size_t rows, size_t K, const double *C, double spread, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 5);
    out->rows = rows;
    out->K = K;
    for (size_t i = 0; i < rows; i++) {
        const size_t q = uc_rng_below(&rng, K);
        out->truth[i] = (uint32_t)q;
        out->labels[i] = (uint32_t)uc_rng_weighted(&rng, C + q * K, K);
        for (size_t k = 0; k < K; k++)
            out->scores[i * K + k] = (k == q) + spread * uc_rng_normal(&rng);
    }
}

static uc_held_out rows_of(const drawn *self)
{
    return (uc_held_out){.scores = self->scores, .labels = self->labels, .rows = self->rows, .K = self->K};
}

static void the_gradient_is_that_of_the_likelihood(void **state)
{
    (void)state;
    const size_t K = 3;
    drawn *self = malloc(sizeof *self);
    double C[9], gradient[2 + 9], ignored[2 + 9], low, high, value;
    uc_symmetric_noise(C, K, 0.3);
    draw(self, 50, K, C, 0.4, 1);
    const uc_held_out rows = rows_of(self);
    for (size_t i = 0; i < 9; i++)
        C[i] = 0.05 + (double)((i * 7) % 5) / 10.0; /* any positive numbers: rows need not sum to 1 here */
    uc_calibrator at = {.K = K, .a1 = 3.0, .a2 = 0.7, .C = C};
    assert_ok(uc_calibrator_gradient(&value, gradient, &at, &rows));
    for (size_t i = 0; i < 2 + 9; i++) {
        uc_calibrator moved = at;
        double entries[9], h = 1e-6, *bounds[2] = {&low, &high};
        moved.C = entries;
        for (int side = 0; side < 2; side++) {
            const double step = side ? h : -h;
            memcpy(entries, C, sizeof entries);
            moved.a1 = at.a1 * (i == 0 ? exp(step) : 1.0);
            moved.a2 = at.a2 * (i == 1 ? exp(step) : 1.0);
            if (i >= 2)
                entries[i - 2] += step;
            assert_ok(uc_calibrator_gradient(bounds[side], ignored, &moved, &rows));
        }
        assert_near((high - low) / (2 * h), gradient[i], 1e-7);
    }
    free(self);
}

static void symmetric_noise_is_found_again(void **state)
{
    (void)state;
    drawn *self = malloc(sizeof *self);
    for (size_t K = 2; K <= MOST_CLASSES; K += 2)
        for (int tenth = 0; tenth <= 3; tenth++) {
            double C[MOST_CLASSES * MOST_CLASSES];
            uc_calibrator found;
            uc_symmetric_noise(C, K, tenth / 10.0);
            draw(self, MOST_ROWS, K, C, 0.15, 20 + K + (uint64_t)tenth);
            const uc_held_out rows = rows_of(self);
            assert_ok(uc_calibrate(&found, &rows, UC_FAMILY_SYMMETRIC, NULL));
            assert_near(found.eta, tenth / 10.0, 0.03);
            uc_calibrator_free(&found);
        }
    free(self);
}

static void a_full_matrix_is_found_again(void **state)
{
    (void)state;
    const double C[9] = {0.7, 0.3, 0.0, 0.0, 0.9, 0.1, 0.25, 0.0, 0.75};
    drawn *self = malloc(sizeof *self);
    draw(self, MOST_ROWS, 3, C, 0.2, 3);
    const uc_held_out rows = rows_of(self);
    uc_calibrator symmetric, full;
    assert_ok(uc_calibrate(&symmetric, &rows, UC_FAMILY_SYMMETRIC, NULL));
    assert_ok(uc_calibrate(&full, &rows, UC_FAMILY_FULL, &symmetric));
    for (size_t i = 0; i < 9; i++)
        assert_near(full.C[i], C[i], 0.04);
    assert_true(full.fit > symmetric.fit);
    uc_calibrator_free(&full);
    uc_calibrator_free(&symmetric);
    free(self);
}

/* Without its prior the full family holds the symmetric one, which holds none (up to the least rate that
 * it may have). */
static void families_hold_each_other(void **state)
{
    (void)state;
    drawn *self = malloc(sizeof *self);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double C[9];
        uc_calibrator none, symmetric, full;
        uc_symmetric_noise(C, 3, 0.05 * (double)seed);
        draw(self, 300, 3, C, 0.5, seed);
        const uc_held_out rows = rows_of(self);
        assert_ok(uc_calibrate(&none, &rows, UC_FAMILY_NONE, NULL));
        assert_ok(uc_calibrate(&symmetric, &rows, UC_FAMILY_SYMMETRIC, NULL));
        assert_ok(uc_calibrate_full(&full, &rows, &symmetric, 0.0));
        assert_true(symmetric.fit > none.fit - 1e-3);
        assert_true(full.fit > symmetric.fit - 1e-4);
        uc_calibrator_free(&none);
        uc_calibrator_free(&symmetric);
        uc_calibrator_free(&full);
    }
    free(self);
}

/* ---- the error on true classes ---- */

static uc_status find_error(uc_clean_error *out, const drawn *self)
{
    const uc_held_out rows = rows_of(self);
    uc_calibrator symmetric = {0}, full = {0};
    uc_status status = uc_calibrate(&symmetric, &rows, UC_FAMILY_SYMMETRIC, NULL);
    if (status == UC_OK)
        status = uc_calibrate(&full, &rows, UC_FAMILY_FULL, &symmetric);
    if (status == UC_OK)
        status = uc_clean_error_find(out, &rows, NULL, &symmetric, &full, 0.0);
    uc_calibrator_free(&full);
    uc_calibrator_free(&symmetric);
    return status;
}

static double true_error(const drawn *self)
{
    double wrong = 0.0;
    for (size_t i = 0; i < self->rows; i++)
        wrong += uc_argmax(self->scores + i * self->K, self->K) != self->truth[i];
    return wrong / (double)self->rows;
}

/* 60 draws of three classes at four noise rates. */
static void the_interval_covers_the_truth(void **state)
{
    (void)state;
    drawn *self = malloc(sizeof *self);
    int covered = 0, all = 0;
    for (uint64_t seed = 1; seed <= 15; seed++)
        for (int tenth = 0; tenth <= 3; tenth++) {
            double C[9];
            uc_clean_error found;
            uc_symmetric_noise(C, 3, tenth / 10.0);
            draw(self, 400, 3, C, 0.35, 100 * seed + (uint64_t)tenth);
            assert_ok(find_error(&found, self));
            assert_true(found.low >= 0.0 && found.low <= found.estimate);
            assert_true(found.estimate <= found.high && found.high <= 1.0);
            covered += found.low <= true_error(self) && true_error(self) <= found.high;
            all++;
        }
    if (covered < 0.9 * all)
        fail_msg("%d of %d intervals cover the truth", covered, all);
    free(self);
}

/* 80 rows of classes that overlap, 30% of the labels wrong: the mean over noise rates is nearer to the truth
 * than the likeliest rate, which is often 0. */
static void few_rows_have_a_mean_share_of_wrong_labels(void **state)
{
    (void)state;
    drawn *self = malloc(sizeof *self);
    double C[9], mean = 0.0, likeliest = 0.0;
    uc_symmetric_noise(C, 3, 0.3);
    for (uint64_t seed = 1; seed <= 30; seed++) {
        double wrong = 0.0;
        uc_clean_error found;
        draw(self, 80, 3, C, 0.6, 50 + seed);
        for (size_t i = 0; i < self->rows; i++)
            wrong += (self->labels[i] != self->truth[i]) / (double)self->rows;
        assert_ok(find_error(&found, self));
        mean += fabs(found.wrong - wrong) / 30.0;
        likeliest += fabs(found.likeliest_wrong - wrong) / 30.0;
    }
    print_message("off by %.3f, the likeliest by %.3f\n", mean, likeliest);
    assert_true(mean < 0.8 * likeliest && mean < 0.12);
    free(self);
}

/* Rows that tell noise rates apart which are close: the mean is not drawn to one of those that are tried. */
static void many_rows_have_their_own_share_of_wrong_labels(void **state)
{
    (void)state;
    drawn *self = malloc(sizeof *self);
    double C[9], wrong = 0.0;
    uc_clean_error found;
    uc_symmetric_noise(C, 3, 0.217);
    draw(self, MOST_ROWS, 3, C, 0.1, 3);
    for (size_t i = 0; i < self->rows; i++)
        wrong += (self->labels[i] != self->truth[i]) / (double)self->rows;
    assert_ok(find_error(&found, self));
    assert_near(found.likeliest_wrong, wrong, 0.003);
    assert_near(found.wrong, wrong, 0.005);
    free(self);
}

/* The gain of the full family over the symmetric one, compared with its standard error. */
static void a_family_is_believed_by_its_gain(void **state)
{
    (void)state;
    double none[4] = {0}, symmetric[4] = {-1, -1, -1, -1}, full[4] = {-1, -1, -1, -1};
    const double *fit[UC_FAMILIES] = {none, symmetric, full};
    assert_true(uc_family_belief(fit, NULL, 4) == 0.0);
    full[0] = full[1] = -0.5; /* 0.25 +- 0.125 */
    const double once = uc_family_belief(fit, NULL, 4);
    assert_near(once, 0.5 * erfc(-1.5 / sqrt(2.0)), 1e-12);
    full[0] = full[1] = -1.5;
    assert_near(uc_family_belief(fit, NULL, 4), 0.5 * erfc(2.5 / sqrt(2.0)), 1e-12);
    fit[UC_FAMILY_FULL] = NULL;
    assert_true(uc_family_belief(fit, NULL, 4) == 0.0);
}

/* Labels that say nothing, and labels that are all right. */
static void the_interval_stays_within_0_and_1(void **state)
{
    (void)state;
    drawn *self = malloc(sizeof *self);
    for (int kind = 0; kind < 3; kind++) {
        const double random[4] = {0.5, 0.5, 0.5, 0.5}, right[4] = {1, 0, 0, 1}, one[4] = {1, 0, 1, 0};
        const double *const C[] = {random, right, one};
        uc_clean_error found;
        draw(self, 200, 2, C[kind], 0.01, 7);
        assert_ok(find_error(&found, self));
        assert_true(found.low >= 0.0 && found.high <= 1.0 && found.low <= found.high);
        assert_true(found.wrong >= 0.0 && found.wrong <= 1.0);
        if (kind == 1)
            assert_true(found.high < 0.1);
    }
    free(self);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    drawn *self = malloc(sizeof *self);
    double C[4];
    uc_clean_error found;
    uc_status status;
    uc_symmetric_noise(C, 2, 0.2);
    draw(self, 12, 2, C, 0.3, 1);
    const uc_held_out rows = rows_of(self);
    uc_calibrator symmetric, full;
    FOR_EACH_FAILING_ALLOCATION(status, uc_calibrate_given(&symmetric, &rows, C, NULL));
    uc_calibrator_free(&symmetric);
    assert_ok(uc_calibrate(&symmetric, &rows, UC_FAMILY_SYMMETRIC, NULL));
    FOR_EACH_FAILING_ALLOCATION(status, uc_calibrate_full(&full, &rows, &symmetric, 0.3));
    FOR_EACH_FAILING_ALLOCATION(status, uc_clean_error_find(&found, &rows, NULL, &symmetric, &full, 0.5));
    uc_calibrator_free(&full);
    uc_calibrator_free(&symmetric);
    free(self);
}

/* ---- heads ---- */

static uc_status fit_head(uc_model *model, const uc_head *head, const uc_dataset *data, const double *R)
{
    const uc_train_settings train = uc_train_defaults();
    const uc_fit fit = {.data = data, .train = &train, .rows = data->X.rows, .weights = data->weights};
    memset(model->weights, 0, (model->dimension + 1) * model->stride * sizeof *model->weights);
    return uc_head_fit(model, head, &fit, R);
}

/* Soft labels, some of them certain. */
static void make_expected(double *R, const uc_dataset *data)
{
    const size_t K = data->classes.count;
    for (size_t i = 0; i < data->X.rows; i++)
        for (size_t k = 0; k < K; k++) {
            const bool own = k == data->y[i], next = k == (data->y[i] + 1) % K;
            const double doubt = 0.1 * (double)(i % 4);
            R[i * K + k] = own * (1.0 - doubt) + next * doubt;
        }
}

/* The objective of a head at its weights, by its definition: mean loss + penalty / 2 |w|^2. */
static double objective_of(const uc_head *head, const double *weights, size_t d, size_t stride,
                           const uc_dataset *data, const double *R)
{
    const size_t K = data->classes.count, n = data->X.rows;
    const double h = 0.5;
    double loss = 0.0, squares = 0.0, s[MOST_CLASSES];
    for (size_t i = 0; i < n; i++) {
        double total = 0.0;
        for (size_t k = 0; k < K; k++) {
            s[k] = weights[k];
            for (size_t j = 0; j < d; j++)
                s[k] += weights[(j + 1) * stride + k] * (double)data->X.values[i * data->X.stride + j];
            total += exp(s[k]);
        }
        for (size_t q = 0; q < K && head->learner == &uc_learner_logistic; q++)
            loss += R[i * K + q] * (log(total) - s[q]) / (double)n;
        for (size_t q = 0; q < K && head->learner == &uc_learner_csvm; q++)
            for (size_t k = 0; k < K; k++) { /* one machine for each class */
                const double margin = q == k ? s[k] : -s[k];
                if (margin < 1.0 - h)
                    loss += R[i * K + q] * (1.0 - margin) / (double)n;
                else if (margin < 1.0 + h)
                    loss += R[i * K + q] * pow(1.0 + h - margin, 2.0) / (4.0 * h) / (double)n;
            }
    }
    for (size_t j = 1; j <= d; j++)
        for (size_t k = 0; k < K; k++)
            squares += pow(weights[j * stride + k], 2.0);
    return loss + head->penalty / 2.0 * squares;
}

/* At the weights of a head no step in any direction makes its objective clearly smaller. */
static void heads_minimise_their_objective(void **state)
{
    (void)state;
    const size_t d = 3, K = 3, n = 90;
    uc_dataset data = sample_data(n, d, K, false, 12);
    uc_model *model = NULL;
    uc_head heads[UC_HEADS];
    double R[90 * 3];
    make_expected(R, &data);
    uc_heads_list(heads, 2.0, (double)n);
    assert_ok(uc_model_create(&model, &data.classes, d, d, "auto"));
    for (size_t h = 0; h < UC_HEADS; h++) {
        double option;
        assert_string_equal(uc_head_option(&option, &heads[h]), h < UC_HEADS / 2 ? "l2" : "cost");
        assert_ok(fit_head(model, &heads[h], &data, R));
        const double found = objective_of(&heads[h], model->weights, d, model->stride, &data, R);
        for (size_t at = 0; at < (d + 1) * model->stride; at++)
            for (int side = -1; side <= 1 && at % model->stride < K; side += 2) {
                const double kept = model->weights[at];
                model->weights[at] += side * 0.05 * (fabs(kept) + 0.1);
                const double moved = objective_of(&heads[h], model->weights, d, model->stride, &data, R);
                assert_true(moved > found * (1.0 - 2e-3));
                model->weights[at] = kept;
            }
    }
    uc_model_free(model);
    uc_dataset_free(&data);
}

/* The factor, which makes scores as large as one-hot labels, multiplies the weights and nothing else. */
static void the_factor_of_a_head_is_in_its_weights(void **state)
{
    (void)state;
    uc_dataset data = sample_data(60, 3, 2, false, 13);
    uc_model *model = NULL;
    uc_head heads[UC_HEADS];
    double R[60 * 2], before[4];
    make_expected(R, &data);
    uc_heads_list(heads, 1.0, 60.0);
    assert_ok(uc_model_create(&model, &data.classes, 3, 3, "auto"));
    assert_ok(fit_head(model, &heads[4], &data, R));
    for (size_t j = 0; j < 4; j++)
        before[j] = model->weights[j * model->stride + 1];
    heads[4].factor = 0.25;
    assert_ok(fit_head(model, &heads[4], &data, R));
    for (size_t j = 0; j < 4; j++)
        assert_near(model->weights[j * model->stride + 1], 0.25 * before[j], 1e-15);
    uc_model_free(model);
    uc_dataset_free(&data);
}

static void every_allocation_of_a_head_may_fail(void **state)
{
    (void)state;
    uc_dataset data = sample_data(20, 2, 2, false, 14);
    uc_model *model = NULL;
    uc_head heads[UC_HEADS];
    uc_status status;
    double R[20 * 2];
    make_expected(R, &data);
    uc_heads_list(heads, 1.0, 20.0);
    assert_ok(uc_model_create(&model, &data.classes, 2, 2, "auto"));
    for (size_t h = 0; h < UC_HEADS; h += UC_HEAD_STRENGTHS)
        FOR_EACH_FAILING_ALLOCATION(status, fit_head(model, &heads[h], &data, R));
    uc_model_free(model);
    uc_dataset_free(&data);
}

/* ---- the learner ---- */

static uc_model *train(const uc_dataset *data, unsigned threads, int effort)
{
    const uc_context context = {.threads = threads};
    const uc_auto_settings settings = {.effort = effort};
    uc_model *model = NULL;
    uc_dataset copy = {0};
    assert_ok(uc_dataset_subset(&copy, data, NULL, 0, NULL));
    assert_ok(uc_tune_and_train(&model, uc_learner_find("auto"), &settings, NULL, &copy, &context));
    uc_dataset_free(&copy);
    return model;
}

static void threads_change_nothing(void **state)
{
    (void)state;
    for (int run = 0; run < 4; run++) {
        const int sparse = run % 2, effort = run / 2 * 2; /* fast, thorough */
        uc_dataset data = sample_data(200, 6, 3, sparse, 4);
        void *one, *many;
        size_t length, other;
        uc_model *model = train(&data, 1, effort);
        assert_ok(uc_model_save_memory(&one, &length, model));
        uc_model_free(model);
        model = train(&data, 7, effort);
        assert_ok(uc_model_save_memory(&many, &other, model));
        uc_model_free(model);
        assert_int_equal(length, other);
        assert_memory_equal(one, many, length);
        uc_model_memory_free(one);
        uc_model_memory_free(many);
        uc_dataset_free(&data);
    }
}

/* The calibration is part of the file, and a model that was read back gives the same probabilities. */
static void a_model_read_back_is_the_same(void **state)
{
    (void)state;
    uc_dataset data = sample_data(120, 5, 3, false, 8);
    uc_model *model = train(&data, 1, 0), *again = NULL;
    double before[120 * 3], after[120 * 3];
    void *bytes;
    size_t length;
    assert_true(uc_model_has_probabilities(model));
    assert_ok(uc_model_probabilities(before, model, &data.X, NULL));
    assert_ok(uc_model_save_memory(&bytes, &length, model));
    assert_ok(uc_model_load_memory(&again, bytes, length, "memory"));
    assert_ok(uc_model_probabilities(after, again, &data.X, NULL));
    assert_memory_equal(before, after, sizeof before);
    for (size_t i = 0; i < 120; i++)
        assert_near(before[3 * i] + before[3 * i + 1] + before[3 * i + 2], 1.0, 1e-12);
    uc_model_memory_free(bytes);
    uc_model_free(again);
    uc_model_free(model);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_likelihood),
        cmocka_unit_test(symmetric_noise_is_found_again),
        cmocka_unit_test(a_full_matrix_is_found_again),
        cmocka_unit_test(families_hold_each_other),
        cmocka_unit_test(the_interval_covers_the_truth),
        cmocka_unit_test(few_rows_have_a_mean_share_of_wrong_labels),
        cmocka_unit_test(many_rows_have_their_own_share_of_wrong_labels),
        cmocka_unit_test(a_family_is_believed_by_its_gain),
        cmocka_unit_test(the_interval_stays_within_0_and_1),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(heads_minimise_their_objective),
        cmocka_unit_test(the_factor_of_a_head_is_in_its_weights),
        cmocka_unit_test(every_allocation_of_a_head_may_fail),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_model_read_back_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
