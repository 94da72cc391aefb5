/* The RP-classifier against a plain computation on an explicit matrix of signed examples. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "learn/learner.h"

enum { NU, ETA, MOST_ROWS = 400, MOST_COLS = 8 };

static uc_rp_settings settings_of(int rule, double kappa, uint64_t iterations)
{
    uc_rp_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("rp")), &settings);
    settings.rule = rule;
    settings.kappa = kappa;
    settings.iterations = iterations;
    return settings;
}

static uc_train_settings plain_rows(void)
{
    uc_train_settings common = uc_train_defaults();
    common.map.map = UC_MAP_NONE;
    common.normalize = 0;
    return common;
}

static uc_model *train(const uc_rp_settings *settings, const uc_train_settings *common, uc_dataset *data)
{
    uc_model *model = NULL;
    assert_ok(uc_train(&model, uc_learner_find("rp"), settings, common, data, NULL));
    return model;
}

static double told(const uc_model *model, const char *name)
{
    const json_t *value = json_object_get(model->summary, name);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* ---- the slow computation ---- */

typedef struct plain {
    size_t m, d;
    double signed_rows[MOST_ROWS][MOST_COLS]; /* y_i x_i */
    double best[MOST_COLS];
    size_t correct, iterations;
    double rate;
} plain;

static double dot(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += a[j] * b[j];
    return sum;
}

static void fill(plain *self, const uc_dataset *data, uint32_t positive)
{
    *self = (plain){.m = data->X.rows, .d = data->X.cols};
    assert_true(self->m <= MOST_ROWS && self->d <= MOST_COLS);
    for (size_t i = 0; i < self->m; i++) {
        const uc_row row = uc_matrix_row(&data->X, i);
        for (size_t j = 0; j < row.count; j++)
            self->signed_rows[i][row.columns ? row.columns[j] : j] =
                (data->y[i] == positive ? 1 : -1) * (double)row.values[j];
    }
}

/* mu (where `wrong` is false) or mu'. */
static void mean_of(double *mean, const plain *self, const double *w, bool wrong)
{
    for (size_t j = 0; j < self->d; j++) {
        mean[j] = 0;
        for (size_t i = 0; i < self->m; i++)
            if (!wrong || dot(w, self->signed_rows[i], self->d) <= 0)
                mean[j] += self->signed_rows[i][j] / (double)self->m;
    }
}

/* Algorithm 2 of the paper, line by line; `eta` takes the other rule. */
static void update_of(double *z, const plain *self, const double *w, int rule, double nu, double eta)
{
    const size_t d = self->d;
    double mu[MOST_COLS], wrong[MOST_COLS];
    mean_of(mu, self, w, false);
    mean_of(wrong, self, w, true);
    const double length = sqrt(dot(w, w, d)), along = dot(w, mu, d), along_wrong = dot(w, wrong, d);
    double a = 0, b = 1;
    if (rule == ETA) {
        a = 1 - 2 * eta;
        b = eta;
    } else if (along > nu * length) {
        a = (along - nu * length) / (along - along_wrong);
        b = (-along_wrong + nu * length) / (along - along_wrong);
    }
    for (size_t j = 0; j < d; j++)
        z[j] = a * wrong[j] + b * mu[j];
    const double upward = dot(w, z, d);
    for (size_t j = 0; j < d && upward > 0; j++)
        z[j] -= w[j] * upward / (length * length);
}

static void run_plain(plain *self, int rule, double kappa, double eta, size_t steps)
{
    const size_t d = self->d;
    double w[MOST_COLS] = {0}, mu[MOST_COLS], z[MOST_COLS];
    mean_of(mu, self, w, false);
    const double nu = kappa * sqrt(dot(mu, mu, d));
    for (size_t t = 0; t < steps && self->correct < self->m; t++) {
        update_of(z, self, w, rule, nu, eta);
        if (dot(z, z, d) == 0)
            break;
        size_t correct = 0;
        double below = 0, all = 0;
        for (size_t j = 0; j < d; j++)
            w[j] += z[j];
        for (size_t i = 0; i < self->m; i++) {
            const double a = dot(w, self->signed_rows[i], d);
            correct += a > 0;
            below += a <= 0 ? -a : 0;
            all += fabs(a);
        }
        self->iterations = t + 1;
        if (correct <= self->correct)
            continue;
        self->correct = correct;
        self->rate = below / all;
        memcpy(self->best, w, sizeof w);
    }
    const double length = sqrt(dot(self->best, self->best, d));
    for (size_t j = 0; j < d && length > 0; j++)
        self->best[j] /= length;
}

static void flip(uc_dataset *data, double eta, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 55);
    for (size_t i = 0; i < data->X.rows; i++)
        if (uc_rng_uniform(&rng) < eta)
            data->y[i] = 1 - data->y[i];
}

static void it_is_the_plain_computation(void **state)
{
    (void)state;
    static plain slow;
    static const double kappas[] = {0, 0.03, 0.2, 0.7};
    for (int sparse = 0; sparse < 2; sparse++)
        for (uint64_t seed = 1; seed <= 4; seed++)
            for (size_t k = 0; k < 8; k++) {
                const int rule = k < 4 ? NU : ETA;
                const double kappa = kappas[k % 4], eta = 0.1 * (double)(k % 4);
                uc_dataset data = sample_data(150, 6, 2, sparse, seed);
                flip(&data, 0.2, seed);
                uc_rp_settings settings = settings_of(rule, rule == NU ? kappa : UC_AUTO_REAL, 40);
                uc_train_settings common = plain_rows();
                uc_noise noise;
                assert_ok(uc_noise_uniform(&noise, 2, eta));
                common.noise = rule == ETA ? &noise : NULL;
                uc_model *model = train(&settings, &common, &data);
                fill(&slow, &data, 1);
                run_plain(&slow, rule, kappa, eta, 40);
                for (size_t j = 0; j < 6; j++) {
                    const double *row = model->weights + (j + 1) * model->stride;
                    assert_near(row[1], slow.best[j] / 2, 1e-10);
                    assert_near(row[0], -slow.best[j] / 2, 1e-10);
                }
                assert_int_equal((size_t)told(model, "iterations"), slow.iterations);
                assert_near(told(model, "training_error"), 1 - (double)slow.correct / 150, 1e-12);
                assert_near(told(model, "noise_rate"), slow.rate, 1e-10);
                uc_model_free(model);
                uc_noise_free(&noise);
                uc_dataset_free(&data);
            }
}

/* More steps never make the model worse, and equals of an earlier best do not replace it. */
static void the_first_of_the_most_correct_is_returned(void **state)
{
    (void)state;
    uc_dataset data = sample_data(120, 5, 2, false, 3);
    flip(&data, 0.3, 1);
    const uc_train_settings common = plain_rows();
    double weights[32], best = 2;
    bool worse_step = false;
    for (uint64_t steps = 1; steps <= 60; steps++) {
        const uc_rp_settings settings = settings_of(NU, 0, steps);
        uc_model *model = train(&settings, &common, &data);
        const double error = told(model, "training_error");
        const size_t bytes = 6 * model->stride * sizeof(double);
        assert_true(bytes <= sizeof weights);
        assert_true(error <= best);
        if (error == best) {
            assert_memory_equal(model->weights, weights, bytes);
            worse_step = true;
        }
        best = error;
        memcpy(weights, model->weights, bytes);
        uc_model_free(model);
    }
    assert_true(worse_step);
    uc_dataset_free(&data);
}

/* For |w| > 0 the corrected perceptron loss, with eta+ = eta- = eta and l(a) = max(0, -a), is
 * 1/(1 - 2 eta) sum_i ((1 - eta) l(a_i) - eta l(-a_i))/m. */
static double corrected_perceptron_loss(const double *w, const plain *self, double eta)
{
    double sum = 0;
    for (size_t i = 0; i < self->m; i++) {
        const double a = dot(w, self->signed_rows[i], self->d);
        sum += (1 - eta) * fmax(0, -a) - eta * fmax(0, a);
    }
    return sum / (double)self->m / (1 - 2 * eta);
}

/* The rule's z before its part along w is taken off, which it is where it points upward. */
static void the_eta_rule_descends_the_corrected_perceptron_loss(void **state)
{
    (void)state;
    static plain slow;
    uc_dataset data = sample_data(200, 4, 2, false, 8);
    fill(&slow, &data, 1);
    uc_rng rng = uc_rng_make(1, 9);
    size_t projected = 0;
    for (size_t trial = 0; trial < 40; trial++) {
        const double eta = 0.45 * uc_rng_uniform(&rng), step = 1e-7;
        double w[4], mu[MOST_COLS], wrong[MOST_COLS], z[MOST_COLS], expected[4];
        for (size_t j = 0; j < 4; j++)
            w[j] = uc_rng_normal(&rng);
        mean_of(mu, &slow, w, false);
        mean_of(wrong, &slow, w, true);
        for (size_t j = 0; j < 4; j++) {
            const double old = w[j];
            w[j] = old + step;
            const double above = corrected_perceptron_loss(w, &slow, eta);
            w[j] = old - step;
            const double below = corrected_perceptron_loss(w, &slow, eta);
            w[j] = old;
            expected[j] = -(1 - 2 * eta) * (above - below) / (2 * step);
            assert_near((1 - 2 * eta) * wrong[j] + eta * mu[j], expected[j], 1e-6);
        }
        update_of(z, &slow, w, ETA, 0, eta);
        const double upward = dot(w, expected, 4), length2 = dot(w, w, 4);
        projected += upward > 0;
        for (size_t j = 0; j < 4; j++)
            assert_near(z[j], expected[j] - (upward > 0 ? upward / length2 * w[j] : 0), 1e-6);
    }
    assert_true(projected > 0 && projected < 40);
    uc_dataset_free(&data);
}

static void from_kappa_1_on_it_is_the_class_mean_classifier(void **state)
{
    (void)state;
    static plain slow;
    static const double kappas[] = {1, 1.5, 1000};
    for (size_t k = 0; k < 3; k++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            uc_dataset data = sample_data(101, 5, 2, false, seed);
            const uc_train_settings common = plain_rows();
            const uc_rp_settings settings = settings_of(NU, kappas[k], 300);
            uc_model *model = train(&settings, &common, &data);
            double mu[MOST_COLS], w[MOST_COLS] = {0};
            fill(&slow, &data, 1);
            mean_of(mu, &slow, w, false);
            const double length = sqrt(dot(mu, mu, 5));
            for (size_t j = 0; j < 5; j++)
                assert_near(model->weights[(j + 1) * model->stride + 1], mu[j] / length / 2, 1e-9);
            uc_model_free(model);
            uc_dataset_free(&data);
        }
}

/* Points on the circle with a gap of `margin` around the line x = y; the clean labels. */
static uc_dataset separable(size_t rows, double margin, uint64_t seed)
{
    uc_dataset data = sample_data(rows, 2, 2, false, seed);
    uc_rng rng = uc_rng_make(seed, 33);
    for (size_t i = 0; i < rows; i++) {
        double x, y;
        do {
            const double angle = 2 * M_PI * uc_rng_uniform(&rng);
            x = cos(angle);
            y = sin(angle);
        } while (fabs(x - y) < margin * M_SQRT2);
        data.X.values[i * data.X.stride] = (float)x;
        data.X.values[i * data.X.stride + 1] = (float)y;
        data.y[i] = x > y;
    }
    return data;
}

static void separable_data_are_separated(void **state)
{
    (void)state;
    uc_dataset data = separable(300, 0.02, 1);
    /* A lopsided sample, on which the class mean is not good enough. */
    for (size_t i = 0; i < 300; i++)
        if (i % 3) {
            data.X.values[i * data.X.stride] = data.y[i] ? 0.1f : -0.1f;
            data.X.values[i * data.X.stride + 1] = data.y[i] ? -1.0f : 1.0f;
        }
    const uc_train_settings common = plain_rows();
    for (size_t k = 0; k < 2; k++) {
        const uc_rp_settings settings = settings_of(NU, k ? 1 : 0, 300);
        uc_model *model = train(&settings, &common, &data);
        if (k == 0) {
            assert_true(told(model, "training_error") == 0);
            assert_true(told(model, "noise_rate") == 0 && told(model, "noise_rate_deviation") == 0);
            assert_true(told(model, "iterations") > 1 && told(model, "iterations") < 300);
        } else {
            assert_true(told(model, "training_error") > 0.02);
        }
        uc_model_free(model);
    }
    uc_dataset_free(&data);
}

static void noise_does_not_hurt_and_its_rate_is_found(void **state)
{
    (void)state;
    for (int rule = NU; rule <= ETA; rule++)
        for (double eta = 0.1; eta < 0.45; eta += 0.1) {
            uc_dataset data = separable(4000, 0.05, 2);
            uint32_t truth[4000], predicted[4000];
            memcpy(truth, data.y, sizeof truth);
            flip(&data, eta, 3);
            uc_noise noise;
            uc_train_settings common = plain_rows();
            assert_ok(uc_noise_uniform(&noise, 2, eta));
            common.noise = rule == ETA ? &noise : NULL;
            const uc_rp_settings settings = settings_of(rule, 0, 300);
            uc_model *model = train(&settings, &common, &data);
            size_t errors = 0;
            assert_ok(uc_model_predict(predicted, model, &data.X, NULL));
            for (size_t i = 0; i < 4000; i++)
                errors += predicted[i] != truth[i];
            assert_true(errors < 80); /* 2% */
            assert_near(told(model, "noise_rate"), eta, 0.03);
            uc_model_free(model);
            uc_noise_free(&noise);
            uc_dataset_free(&data);
        }
}

/* The deviation of the ratio, against that of ratios of resampled rows at the same weights. */
static void the_deviation_of_the_noise_rate_is_that_of_a_bootstrap(void **state)
{
    (void)state;
    enum { M = 400, RESAMPLES = 3000 };
    static plain slow;
    uc_dataset data = separable(M, 0.05, 4);
    flip(&data, 0.25, 5);
    const uc_train_settings common = plain_rows();
    const uc_rp_settings settings = settings_of(NU, 0.03, 100);
    uc_model *model = train(&settings, &common, &data);
    fill(&slow, &data, 1);
    double w[2], a[M], sum = 0, squares = 0;
    for (size_t j = 0; j < 2; j++)
        w[j] = model->weights[(j + 1) * model->stride + 1];
    for (size_t i = 0; i < M; i++)
        a[i] = dot(w, slow.signed_rows[i], 2);
    uc_rng rng = uc_rng_make(5, 5);
    for (size_t r = 0; r < RESAMPLES; r++) {
        double below = 0, all = 0;
        for (size_t i = 0; i < M; i++) {
            const double one = a[uc_rng_below(&rng, M)];
            below += one <= 0 ? -one : 0;
            all += fabs(one);
        }
        sum += below / all;
        squares += below / all * below / all;
    }
    const double mean = sum / RESAMPLES, deviation = sqrt(squares / RESAMPLES - mean * mean);
    assert_near(told(model, "noise_rate"), mean, 4 * deviation / sqrt(RESAMPLES) + 1e-3);
    assert_near_relative(told(model, "noise_rate_deviation"), deviation, 0.07);
    uc_model_free(model);
    uc_dataset_free(&data);
}

/* Lemma 5 for pure label noise (theta = 0): where w is so bad that it errs more than eta + 3 eps/4, the
 * update of rule nu with nu = eps gamma/4 leaves <w, z> <= 0 and gains <w*, z> >= eps gamma/4. Its proof
 * goes through Lemma 4 divided by 1 - eta: a' = (1 - 2 eta)/(1 - eta) weighs mu', and b' = eta/(1 - eta)
 * mu (the paper prints them swapped). */
static void lemma_5_holds_with_its_weights_the_right_way_round(void **state)
{
    (void)state;
    enum { M = 400, TRIALS = 300 };
    static plain sample;
    const double gamma = 0.15, star[2] = {M_SQRT1_2, -M_SQRT1_2};
    uc_rng rng = uc_rng_make(7, 7);
    size_t bad = 0, gained = 0, lemma_4 = 0, swapped = 0;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        const double eta = 0.1 + 0.1 * (double)(trial % 3), angle = 2 * M_PI * uc_rng_uniform(&rng);
        const double w[2] = {cos(angle), sin(angle)};
        uc_dataset data = separable(M, gamma, trial + 1);
        fill(&sample, &data, 1);
        size_t errors = 0; /* of w, where w* makes none */
        for (size_t i = 0; i < M; i++) {
            assert_true(dot(star, sample.signed_rows[i], 2) >= gamma - 1e-6);
            errors += dot(w, sample.signed_rows[i], 2) <= 0;
        }
        /* On noisy labels w errs by eta + (1 - 2 eta) e: the epsilon that makes it just bad enough. */
        const double share = (double)errors / M, epsilon = 4.0 / 3.0 * (1 - 2 * eta) * share;
        flip(&data, eta, trial + 1000);
        fill(&sample, &data, 1);
        uc_dataset_free(&data);
        if (share < 0.15)
            continue;
        double z[MOST_COLS], mu[MOST_COLS], wrong[MOST_COLS];
        bad++;
        update_of(z, &sample, w, NU, epsilon * gamma / 4, 0);
        assert_true(dot(w, z, 2) <= 1e-12);
        gained += dot(star, z, 2) >= epsilon * gamma / 4;
        mean_of(mu, &sample, w, false);
        mean_of(wrong, &sample, w, true);
        const double a = (1 - 2 * eta) / (1 - eta), b = eta / (1 - eta);
        /* Lemma 4: <w*, .> >= 5 eps gamma/8 and <w, .> <= 0, up to the sample's deviation. */
        const double slack = 0.05;
        lemma_4 += a * dot(star, wrong, 2) + b * dot(star, mu, 2) >= 5 * epsilon * gamma / 8 - slack &&
                   a * dot(w, wrong, 2) + b * dot(w, mu, 2) <= slack;
        swapped += b * dot(w, wrong, 2) + a * dot(w, mu, 2) <= slack;
    }
    assert_true(bad > 100);
    assert_true(gained >= bad - bad / 50);
    assert_true(lemma_4 >= bad - bad / 50);
    assert_true(swapped < 9 * bad / 10); /* as printed, Lemma 4 would not follow */
}

static void three_classes_are_three_unit_vectors(void **state)
{
    (void)state;
    static plain slow;
    for (size_t bias = 0; bias < 2; bias++) {
        uc_dataset data = sample_data(120, 5, 3, true, 6);
        uc_train_settings common = plain_rows();
        common.bias = (double)bias;
        const uc_rp_settings settings = settings_of(NU, 0.1, 50);
        uc_model *model = train(&settings, &common, &data);
        size_t iterations = 0;
        for (uint32_t k = 0; k < 3; k++) {
            double length = 0;
            fill(&slow, &data, k);
            for (size_t i = 0; i < 120 && bias; i++)
                slow.signed_rows[i][5] = data.y[i] == k ? 1 : -1;
            slow.d += bias;
            run_plain(&slow, NU, 0.1, 0, 50);
            iterations += slow.iterations;
            for (size_t j = 0; j < slow.d; j++) {
                const double weight = model->weights[(j == 5 ? 0 : j + 1) * model->stride + k];
                length += weight * weight;
                assert_near(weight, slow.best[j], 1e-10);
            }
            assert_near(length, 1, 1e-12);
        }
        assert_int_equal((size_t)told(model, "iterations"), iterations);
        assert_null(json_object_get(model->summary, "noise_rate"));
        uc_model_free(model);
        uc_dataset_free(&data);
    }
}

/* Of classes 1, 1 and 2, the last against the rest has no mean to start from. */
static void a_class_that_cannot_start_has_no_weights(void **state)
{
    (void)state;
    uc_dataset data = sample_data(3, 1, 3, false, 1);
    for (size_t i = 0; i < 3; i++) {
        data.y[i] = (uint32_t)i;
        data.X.values[i * data.X.stride] = i == 2 ? 2 : 1;
    }
    const uc_rp_settings settings = settings_of(NU, 0, 10);
    const uc_train_settings common = plain_rows();
    uc_model *model = train(&settings, &common, &data);
    const double *weights = model->weights + model->stride;
    assert_true(weights[0] == -1 && weights[1] == -1 && weights[2] == 0);
    uc_model_free(model);
    uc_dataset_free(&data);
}

static void zero_rows_are_wrong_and_do_no_harm(void **state)
{
    (void)state;
    uc_dataset data = separable(60, 0.1, 3);
    for (size_t i = 0; i < 60; i += 3)
        memset(data.X.values + i * data.X.stride, 0, 2 * sizeof(float));
    const uc_rp_settings settings = settings_of(NU, 0, 50);
    const uc_train_settings common = plain_rows();
    static plain slow;
    uc_model *model = train(&settings, &common, &data);
    fill(&slow, &data, 1);
    run_plain(&slow, NU, 0, 0, 50);
    assert_int_equal(slow.correct, 40);
    for (size_t j = 0; j < 2; j++)
        assert_near(model->weights[(j + 1) * model->stride + 1], slow.best[j] / 2, 1e-10);
    uc_model_free(model);
    memset(data.X.values, 0, 60 * data.X.stride * sizeof(float)); /* nothing but zeros: nothing to learn */
    model = train(&settings, &common, &data);
    assert_true(told(model, "iterations") == 0 && !json_object_get(model->summary, "noise_rate"));
    for (size_t i = 0; i < 3 * model->stride; i++)
        assert_true(model->weights[i] == 0);
    uc_model_free(model);
    uc_dataset_free(&data);
}

static void what_cannot_be_learned_is_refused(void **state)
{
    (void)state;
    uc_dataset two = sample_data(40, 3, 2, false, 2), three = sample_data(40, 3, 3, false, 2);
    uc_rp_settings settings = settings_of(ETA, 0, 10);
    uc_train_settings common = plain_rows();
    const uc_learner *rp = uc_learner_find("rp");
    uc_model *model = NULL;
    uc_noise noise;
    assert_error(uc_train(&model, rp, &settings, &common, &two, NULL), UC_ERR_INVALID,
                 "{rule=eta} needs the noise rate: give it with {noise-rate ETA}");
    assert_error(uc_train(&model, rp, &settings, &common, &three, NULL), UC_ERR_INVALID,
                 "{rule=eta} is for two classes, but there are 3: use {rule=nu}");
    assert_ok(uc_noise_binary(&noise, 0.2, 0.1));
    common.noise = &noise;
    assert_error(
        uc_train(&model, rp, &settings, &common, &two, NULL), UC_ERR_INVALID,
        "{rule=eta} is for classes that flip at the same rate, not at 0.2 and 0.1: give one rate with "
        "{noise-rate ETA}, "
        "or use sloppy-svm");
    uc_noise_free(&noise);
    assert_ok(uc_noise_binary(&noise, 0.6, 0.6));
    assert_error(uc_train(&model, rp, &settings, &common, &two, NULL), UC_ERR_INVALID,
                 "the noise rate 0.6 is not below 0.5");
    uc_noise_free(&noise);
    common.noise = NULL;
    settings = settings_of(NU, UC_AUTO_REAL, 10);
    assert_error(uc_train(&model, rp, &settings, &common, &two, NULL), UC_ERR_INVALID,
                 "{kappa=auto} must become a number before training (uc_tune)");
    assert_null(model);
    uc_dataset_free(&two);
    uc_dataset_free(&three);
}

static void the_number_of_threads_does_not_change_a_bit(void **state)
{
    (void)state;
    for (size_t classes = 2; classes <= 3; classes++)
        for (int sparse = 0; sparse < 2; sparse++) {
            uc_dataset data = sample_data(8000, 40, classes, sparse, 2);
            const uc_rp_settings settings = settings_of(NU, 0.03, 15);
            const uc_train_settings common = plain_rows();
            uc_model *models[3] = {NULL};
            for (unsigned threads = 1; threads <= 3; threads++) {
                const uc_context context = {.threads = threads};
                uc_model **model = &models[threads - 1];
                assert_ok(uc_train(model, uc_learner_find("rp"), &settings, &common, &data, &context));
                assert_memory_equal((*model)->weights, models[0]->weights,
                                    41 * models[0]->stride * sizeof(double));
            }
            for (size_t k = 0; k < 3; k++)
                uc_model_free(models[k]);
            uc_dataset_free(&data);
        }
}

static uc_status train_alone(uc_model **model, const uc_rp_settings *settings,
                             const uc_train_settings *common, uc_dataset *data)
{
    const uc_context alone = {.threads = 1};
    return uc_train(model, uc_learner_find("rp"), settings, common, data, &alone);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset two = sample_data(30, 3, 2, false, 6), three = sample_data(30, 3, 3, true, 6);
    uc_rp_settings settings = settings_of(NU, 0, 3);
    uc_train_settings common = plain_rows();
    uc_model *model = NULL;
    uc_noise noise;
    uc_status status;
    assert_ok(uc_noise_uniform(&noise, 2, 0.2));
    FOR_EACH_FAILING_ALLOCATION(status, train_alone(&model, &settings, &common, &three));
    uc_model_free(model);
    settings.rule = ETA;
    common.noise = &noise;
    common.bias = 1;
    FOR_EACH_FAILING_ALLOCATION(status, train_alone(&model, &settings, &common, &two));
    uc_model_free(model);
    uc_noise_free(&noise);
    uc_dataset_free(&two);
    uc_dataset_free(&three);
}

static bool stop_training(const char *task, double done, double total, const char *detail, void *user)
{
    (void)done, (void)total, (void)detail, (void)user;
    return strcmp(task, "training") != 0;
}

static void training_can_be_interrupted(void **state)
{
    (void)state;
    uc_dataset data = sample_data(60, 3, 2, false, 6);
    const uc_rp_settings settings = settings_of(NU, 0, 30);
    const uc_train_settings common = plain_rows();
    const uc_context context = {.progress = stop_training};
    uc_model *model = NULL;
    assert_status(uc_train(&model, uc_learner_find("rp"), &settings, &common, &data, &context),
                  UC_ERR_CANCELLED);
    assert_null(model);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_plain_computation),
        cmocka_unit_test(the_first_of_the_most_correct_is_returned),
        cmocka_unit_test(the_eta_rule_descends_the_corrected_perceptron_loss),
        cmocka_unit_test(from_kappa_1_on_it_is_the_class_mean_classifier),
        cmocka_unit_test(separable_data_are_separated),
        cmocka_unit_test(noise_does_not_hurt_and_its_rate_is_found),
        cmocka_unit_test(the_deviation_of_the_noise_rate_is_that_of_a_bootstrap),
        cmocka_unit_test(lemma_5_holds_with_its_weights_the_right_way_round),
        cmocka_unit_test(three_classes_are_three_unit_vectors),
        cmocka_unit_test(a_class_that_cannot_start_has_no_weights),
        cmocka_unit_test(zero_rows_are_wrong_and_do_no_harm),
        cmocka_unit_test(what_cannot_be_learned_is_refused),
        cmocka_unit_test(the_number_of_threads_does_not_change_a_bit),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(training_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
