/* CSVM and SloppySVM: gradient, optimum, refusals; Proposition 1 of the paper by simulation. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "learn/minimise.h"
#include "learn/svm/svm.h"

/* eta- and eta+: the order of uc_svm's `rate`. */
static const double rates[][2] = {{0, 0},      {0.3, 0},   {0, 0.4},   {0.2, 0.2},
                                  {0.1, 0.35}, {0.4, 0.2}, {0.45, 0.5}};
enum { RATES = sizeof rates / sizeof *rates };

static uc_svm_settings defaults(void)
{
    uc_svm_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("sloppy-svm")), &settings);
    return settings;
}

/* ---- losses, as the papers write them ---- */

static double plain_hinge(double g, double h)
{
    if (g > 1 + h)
        return 0;
    return fabs(1 - g) <= h ? (1 + h - g) * (1 + h - g) / (4 * h) : 1 - g;
}

/* With weights v of the true classes. */
static double weighed_loss(double g, int label, const double *eta, const double *v, double h,
                           uc_svm_loss kind)
{
    const double K = 1 / (1 - eta[0] - eta[1]), own = eta[label] * v[1 - label],
                 other = (1 - eta[1 - label]) * v[label];
    return kind == UC_SVM_WEIGHTED ? K * (other + own) * plain_hinge(g, h)
                                   : K * (other * plain_hinge(g, h) - own * plain_hinge(-g, h));
}

static uc_svm with_rates(const double *eta, double h, uc_svm_loss kind)
{
    return (uc_svm){.smoothing = h, .loss = kind, .rate = {eta[0], eta[1]}, .weight = {1, 1}};
}

/* ---- the objective ---- */

static double plain_objective(const double *point, const uc_svm *self)
{
    const uc_dataset *data = self->data;
    double total = 0, squares = 0;
    for (size_t i = 0; i < data->X.rows; i++) {
        const uc_row row = uc_matrix_row(&data->X, i);
        const int label = data->y[i] == self->positive;
        double f = point[0];
        for (size_t j = 0; j < row.count; j++)
            f += (double)row.values[j] * point[(row.columns ? row.columns[j] : j) + 1];
        total += weighed_loss(label ? f : -f, label, self->rate, self->weight, self->smoothing, self->loss);
    }
    for (size_t j = 1; j <= data->X.cols; j++)
        squares += point[j] * point[j];
    return squares / 2 + self->cost / (double)data->X.rows * total;
}

static void the_gradient_is_that_of_the_formula(void **state)
{
    (void)state;
    enum { D = 5 };
    for (int sparse = 0; sparse < 2; sparse++)
        for (size_t r = 0; r < RATES; r++)
            for (int kind = UC_SVM_SLOPPY; kind <= UC_SVM_WEIGHTED; kind++)
                for (int offset = 0; offset < 2; offset++) {
                    uc_dataset data = sample_data(90, D, 2, sparse, 4);
                    uc_svm svm = with_rates(rates[r], 0.5, (uc_svm_loss)kind);
                    svm.data = &data;
                    svm.positive = (uint32_t)(r % 2);
                    svm.cost = 7;
                    svm.weight[0] = 0.6;
                    svm.weight[1] = 1.8;
                    svm.free_offset = offset;
                    double point[D + 1], gradient[D + 1], value;
                    uc_rng rng = uc_rng_make(r, 2);
                    for (size_t j = 0; j <= D; j++)
                        point[j] = j == 0 && !offset ? 0 : 0.8 * uc_rng_normal(&rng);
                    assert_ok(uc_svm_gradient(&value, gradient, point, &svm, NULL));
                    assert_near_relative(value, plain_objective(point, &svm), 1e-12);
                    assert_true(offset || gradient[0] == 0);
                    for (size_t j = offset ? 0 : 1; j <= D; j++) {
                        const double old = point[j], step = 1e-6;
                        point[j] = old + step;
                        const double above = plain_objective(point, &svm);
                        point[j] = old - step;
                        const double below = plain_objective(point, &svm);
                        point[j] = old;
                        assert_near(gradient[j], (above - below) / (2 * step), 1e-4);
                    }
                    uc_dataset_free(&data);
                }
}

/* ---- training ---- */

static uc_status train_with(uc_model **model, const char *learner, const uc_svm_settings *settings,
                            const double *eta, double bias, uc_dataset *data, const uc_context *context)
{
    uc_train_settings common = uc_train_defaults();
    uc_noise noise = {0};
    if (eta)
        assert_ok(uc_noise_binary(&noise, eta[1], eta[0]));
    common.noise = eta ? &noise : NULL;
    common.bias = bias;
    const uc_status status = uc_train(model, uc_learner_find(learner), settings, &common, data, context);
    uc_noise_free(&noise);
    return status;
}

static uc_model *train(const char *learner, const uc_svm_settings *settings, const double *eta, double bias,
                       uc_dataset *data)
{
    uc_model *model = NULL;
    assert_ok(train_with(&model, learner, settings, eta, bias, data, NULL));
    return model;
}

/* The offset and weights of class 1: half the difference of two classes' scores. */
static void point_of(double *point, const uc_model *model)
{
    for (size_t j = 0; j <= model->dimension; j++) {
        point[j] = 2 * model->weights[j * model->stride + 1];
        assert_near(model->weights[j * model->stride], -point[j] / 2, 0);
    }
}

/* Compass search: along every axis and diagonal of two axes, with steps that shrink. Slow, and knows no
 * slopes. */
static double compass(double *point, size_t first, size_t count, const uc_svm *self)
{
    double least = plain_objective(point, self);
    for (double step = 1; step > 1e-9;) {
        bool better = false;
        for (size_t a = first; a < count; a++)
            for (size_t b = first; b < count; b++)
                for (int sign = 0; sign < 4; sign++) {
                    const double old_a = point[a], old_b = point[b];
                    point[a] += sign & 1 ? step : -step;
                    if (a != b)
                        point[b] += sign & 2 ? step : -step;
                    const double value = plain_objective(point, self);
                    if (value < least) {
                        least = value;
                        better = true;
                        continue;
                    }
                    point[a] = old_a;
                    point[b] = old_b;
                }
        if (!better)
            step /= 2;
    }
    return least;
}

static void training_ends_where_a_slow_search_ends(void **state)
{
    (void)state;
    enum { D = 2 };
    for (int learner = 0; learner < 2; learner++) /* csvm, and sloppy-svm with its convex loss */
        for (int free_offset = 0; free_offset < 2; free_offset++)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                uc_dataset data = sample_data(25, D, 2, seed == 2, seed);
                uc_svm_settings settings = defaults();
                settings.cost = 5;
                settings.tolerance = 1e-9;
                settings.loss = UC_SVM_WEIGHTED;
                const double *eta = rates[learner ? 5 : 0];
                uc_model *model = train(learner ? "sloppy-svm" : "csvm", &settings, learner ? eta : NULL,
                                        free_offset ? UC_AUTO_REAL : 0, &data);
                uc_svm svm = with_rates(eta, settings.smoothing, UC_SVM_WEIGHTED);
                svm.data = &data;
                svm.positive = 1;
                svm.cost = settings.cost;
                double slow[D + 1] = {0}, found[D + 1];
                const double least = compass(slow, free_offset ? 0 : 1, D + 1, &svm);
                point_of(found, model);
                assert_near_relative(plain_objective(found, &svm), least, 1e-7);
                assert_near_relative(json_number_value(json_object_get(model->summary, "objective")), least,
                                     1e-7);
                for (size_t j = 0; j <= D; j++)
                    assert_near(found[j], slow[j], 1e-3);
                uc_model_free(model);
                uc_dataset_free(&data);
            }
}

/* The sloppy loss is not convex: its end is a point that no small move improves. */
static void the_sloppy_loss_ends_at_a_minimum(void **state)
{
    (void)state;
    for (size_t r = 1; r < 6; r++) {
        uc_dataset data = sample_data(200, 4, 2, false, r);
        uc_svm_settings settings = defaults();
        settings.cost = 10;
        settings.tolerance = 1e-9;
        uc_model *model = train("sloppy-svm", &settings, rates[r], UC_AUTO_REAL, &data);
        uc_svm svm = with_rates(rates[r], settings.smoothing, UC_SVM_SLOPPY);
        svm.data = &data;
        svm.positive = 1;
        svm.cost = settings.cost;
        double point[5];
        point_of(point, model);
        const double least = plain_objective(point, &svm);
        assert_near_relative(json_number_value(json_object_get(model->summary, "objective")), least, 1e-10);
        for (size_t j = 0; j < 5; j++)
            for (double move = -1e-3; move < 2e-3; move += 2e-3) {
                point[j] += move;
                assert_true(plain_objective(point, &svm) > least);
                point[j] -= move;
            }
        uc_model_free(model);
        uc_dataset_free(&data);
    }
}

static void without_noise_all_three_are_one(void **state)
{
    (void)state;
    uc_dataset data = sample_data(120, 6, 2, true, 2);
    uc_svm_settings settings = defaults();
    uc_model *plain = train("csvm", &settings, NULL, UC_AUTO_REAL, &data);
    for (int kind = UC_SVM_SLOPPY; kind <= UC_SVM_WEIGHTED; kind++) {
        settings.loss = kind;
        uc_model *model = train("sloppy-svm", &settings, rates[0], UC_AUTO_REAL, &data);
        assert_memory_equal(model->weights, plain->weights,
                            (plain->dimension + 1) * plain->stride * sizeof *plain->weights);
        uc_model_free(model);
    }
    uc_model_free(plain);
    uc_dataset_free(&data);
}

static void without_bias_there_is_no_offset(void **state)
{
    (void)state;
    uc_dataset data = sample_data(100, 4, 2, false, 2);
    uc_svm_settings settings = defaults();
    uc_model *without = train("csvm", &settings, NULL, 0, &data),
             *with = train("csvm", &settings, NULL, UC_AUTO_REAL, &data);
    assert_true(uc_model_offset(without, 0) == 0 && uc_model_offset(without, 1) == 0);
    assert_true(uc_model_offset(with, 1) != 0);
    uc_model_free(without);
    uc_model_free(with);
    uc_dataset_free(&data);
}

/* A weight of n/(2 n_c) for every example is as good as repeating examples of the rarer class. (With rates,
 * the weights are those of the true classes, which repeating observed labels cannot give.) */
static void balanced_weights_are_as_good_as_repeated_rows(void **state)
{
    (void)state;
    enum { N = 80, D = 3 };
    for (int sloppy = 0; sloppy < 2; sloppy++) { /* at rates 0 it is csvm */
        uc_dataset data = sample_data(N, D, 2, false, 7), repeated;
        size_t rows[3 * N], count = 0;
        for (size_t i = 0; i < N; i++) {
            data.y[i] = i % 4 == 1 ? 1 : 0; /* one in four */
            for (int times = data.y[i] ? 3 : 1; times > 0; times--)
                rows[count++] = i;
        }
        assert_ok(uc_dataset_subset(&repeated, &data, rows, count, NULL));
        uc_svm_settings settings = defaults();
        settings.cost = 3;
        settings.tolerance = 1e-10;
        const double *eta = NULL;
        uc_model *many = train(sloppy ? "sloppy-svm" : "csvm", &settings, eta, UC_AUTO_REAL, &repeated);
        settings.class_weight = UC_CLASS_WEIGHT_BALANCED;
        uc_model *weighted = train(sloppy ? "sloppy-svm" : "csvm", &settings, eta, UC_AUTO_REAL, &data);
        for (size_t i = 0; i < (D + 1) * many->stride; i++)
            assert_near(weighted->weights[i], many->weights[i], 1e-5);
        uc_model_free(many);
        uc_model_free(weighted);
        uc_dataset_free(&repeated);
        uc_dataset_free(&data);
    }
}

static void three_classes_are_three_machines_against_the_rest(void **state)
{
    (void)state;
    enum { N = 90, D = 4 };
    uc_dataset data = sample_data(N, D, 3, false, 5);
    uc_svm_settings settings = defaults();
    settings.tolerance = 1e-9;
    uc_model *all = train("csvm", &settings, NULL, UC_AUTO_REAL, &data);
    double objective = 0;
    for (uint32_t k = 0; k < 3; k++) {
        uc_dataset two = sample_data(N, D, 2, false, 5);
        for (size_t i = 0; i < N; i++) {
            memcpy(two.X.values + i * two.X.stride, data.X.values + i * data.X.stride, D * sizeof(float));
            two.y[i] = data.y[i] == k;
        }
        uc_model *one = train("csvm", &settings, NULL, UC_AUTO_REAL, &two);
        objective += json_number_value(json_object_get(one->summary, "objective"));
        for (size_t j = 0; j <= D; j++)
            assert_near(all->weights[j * all->stride + k], 2 * one->weights[j * one->stride + 1], 1e-9);
        uc_model_free(one);
        uc_dataset_free(&two);
    }
    assert_near_relative(json_number_value(json_object_get(all->summary, "objective")), objective, 1e-12);
    uc_model_free(all);
    uc_dataset_free(&data);
}

/* A fold of a cross-validation may have lost one of the classes. */
static void a_class_without_examples_is_never_predicted(void **state)
{
    (void)state;
    for (uint32_t only = 0; only < 2; only++) {
        uc_dataset data = sample_data(30, 3, 2, false, 5);
        uc_svm_settings settings = defaults();
        settings.class_weight = (int)only; /* balanced or not */
        for (size_t i = 0; i < 30; i++)
            data.y[i] = only;
        uc_model *model = train("csvm", &settings, NULL, UC_AUTO_REAL, &data);
        uint32_t predicted[30];
        assert_ok(uc_model_predict(predicted, model, &data.X, NULL));
        for (size_t i = 0; i < 30; i++)
            assert_int_equal(predicted[i], only);
        uc_model_free(model);
        uc_dataset_free(&data);
    }
}

/* ---- errors and warnings ---- */

static char heard[4][256];
static size_t heard_count;

static void hear(const char *sentence, void *user)
{
    (void)user;
    if (heard_count < 4)
        snprintf(heard[heard_count], sizeof heard[0], "%s", sentence);
    heard_count++;
}

/* 100 rows, the first `positives` of them labelled "2", the others "1". */
static uc_dataset with_positives(size_t positives)
{
    uc_dataset data = sample_data(100, 3, 2, false, 9);
    for (size_t i = 0; i < 100; i++)
        data.y[i] = i < positives;
    return data;
}

static void rates_that_the_labels_do_not_allow_for_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t positives;
        double eta[2];
        const char *sentence; /* NULL: allowed */
    } cases[] = {
        {70,
         {0, 0.4},
         "0.3 of the labels are '1', but at a noise rate of 0.4 for '2' more than that must be: the rate is "
         "too high, or use {loss=weighted}"},
        {20,
         {0.3, 0},
         "0.2 of the labels are '2', but at a noise rate of 0.3 for '1' more than that must be: the rate is "
         "too high, or use {loss=weighted}"},
        {50,
         {0, 0.5},
         "0.5 of the labels are '1', but at a noise rate of 0.5 for '2' more than that must be: the rate is "
         "too high, or use {loss=weighted}"},
        {50, {0, 0.49}, NULL},
        {50, {0.49, 0.49}, NULL},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uc_dataset data = with_positives(cases[c].positives);
        uc_svm_settings settings = defaults();
        uc_model *model = NULL;
        uc_status status =
            train_with(&model, "sloppy-svm", &settings, cases[c].eta, UC_AUTO_REAL, &data, NULL);
        if (cases[c].sentence) {
            assert_error(status, UC_ERR_INVALID, cases[c].sentence);
            assert_null(model);
            /* Without an offset nothing falls for ever, nor does the convex loss. */
            model = train("sloppy-svm", &settings, cases[c].eta, 0, &data);
            uc_model_free(model);
            settings.loss = UC_SVM_WEIGHTED;
            model = train("sloppy-svm", &settings, cases[c].eta, UC_AUTO_REAL, &data);
        } else {
            assert_ok(status);
        }
        assert_true(isfinite(uc_model_offset(model, 1)));
        uc_model_free(model);
        uc_dataset_free(&data);
    }
}

/* The refusal is not out of caution: along a growing offset the objective falls without end. */
static void the_objective_of_refused_rates_falls_without_end(void **state)
{
    (void)state;
    static const double eta[2] = {0, 0.4};
    uc_dataset data = with_positives(70);
    uc_svm svm = with_rates(eta, 0.5, UC_SVM_SLOPPY);
    svm.data = &data;
    svm.positive = 1;
    svm.cost = 1;
    double last = HUGE_VAL;
    for (double offset = 10; offset < 1e7; offset *= 10) {
        const double point[4] = {offset}, value = plain_objective(point, &svm);
        assert_true(value < last - 1);
        last = value;
    }
    uc_dataset_free(&data);
}

/* --cost scaled: C times the mean squared distance of the rows from their mean is fixed. So rows are
 * separated equally well however short they are and by whatever constant they are shifted. */
static void the_default_cost_of_csvm_does_not_depend_on_the_length_of_short_rows(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = sample_data(120, 4, 3, sparse, 5), shorter = sample_data(120, 4, 3, sparse, 5);
        double mean[4] = {0}, length2 = 0;
        for (size_t i = 0; i < 120; i++) {
            const uc_row row = uc_matrix_row(&data.X, i);
            for (size_t k = 0; k < row.count; k++) {
                const double x = (double)row.values[k];
                length2 += x * x / 120;
                mean[row.columns ? row.columns[k] : k] += x / 120;
            }
        }
        for (size_t j = 0; j < 4; j++)
            length2 -= mean[j] * mean[j];
        for (size_t i = 0; i < 120; i++) {
            const uc_row row = uc_matrix_row(&shorter.X, i);
            for (size_t k = 0; k < row.count; k++)
                ((float *)row.values)[k] = row.values[k] / 64.0f + (sparse ? 0.0f : 0.25f);
        }
        uc_model *model = NULL, *same = NULL;
        assert_ok(uc_train(&model, uc_learner_find("csvm"), NULL, NULL, &data, NULL));
        assert_ok(uc_train(&same, uc_learner_find("csvm"), NULL, NULL, &shorter, NULL));
        assert_near(json_real_value(json_object_get(model->summary, "cost")), 3000 / length2, 1e-6);
        assert_near(json_real_value(json_object_get(same->summary, "cost")), 3000 / length2 * 4096, 1);
        for (size_t k = 0; k < 3; k++)
            for (size_t j = 0; j < 4; j++)
                assert_near(uc_model_weight(same, j, k) / 64, uc_model_weight(model, j, k),
                            0.02 * (1 + fabs(uc_model_weight(model, j, k))));
        uc_model_free(model);
        uc_model_free(same);
        uc_dataset_free(&data);
        uc_dataset_free(&shorter);
    }
}

static void what_sloppy_svm_cannot_learn_from_is_refused(void **state)
{
    (void)state;
    uc_svm_settings settings = defaults();
    uc_model *model = NULL;
    uc_dataset two = sample_data(40, 3, 2, false, 2), three = sample_data(40, 3, 3, false, 2);
    static const double more[2] = {0.7, 0.5};
    uc_noise noise;
    assert_error_has(uc_noise_binary(&noise, 0.5, 0.5), UC_ERR_INVALID,
                     "noise rates 0.5 and 0.5: the matrix is singular");
    assert_error(train_with(&model, "sloppy-svm", &settings, more, UC_AUTO_REAL, &two, NULL), UC_ERR_INVALID,
                 "the noise rates 0.5 and 0.7 add up to 1 or more: such labels say nothing");
    settings.loss = UC_SVM_WEIGHTED;
    assert_error(train_with(&model, "sloppy-svm", &settings, more, UC_AUTO_REAL, &two, NULL), UC_ERR_INVALID,
                 "the noise rates 0.5 and 0.7 add up to 1 or more: such labels say nothing");
    assert_error(train_with(&model, "sloppy-svm", &settings, NULL, UC_AUTO_REAL, &three, NULL),
                 UC_ERR_INVALID,
                 "sloppy-svm is for two classes, but there are 3: use logistic or uma with a noise matrix");
    settings.cost = UC_AUTO_REAL;
    static const char *const learners[] = {"csvm", "sloppy-svm"};
    for (size_t k = 0; k < 2; k++)
        assert_error(train_with(&model, learners[k], &settings, NULL, UC_AUTO_REAL, &two, NULL),
                     UC_ERR_INVALID, "{cost=auto} must become a number before training (uc_tune)");
    assert_null(model);
    uc_dataset_free(&two);
    uc_dataset_free(&three);
}

static void doubtful_trainings_are_warned_of(void **state)
{
    (void)state;
    uc_svm_settings settings = defaults();
    uc_model *model = NULL;
    uc_dataset data = sample_data(40, 3, 2, false, 2);
    const uc_context context = {.warn = hear};
    heard_count = 0;
    assert_ok(train_with(&model, "sloppy-svm", &settings, NULL, UC_AUTO_REAL, &data, &context));
    uc_model_free(model);
    assert_int_equal(heard_count, 1);
    assert_string_equal(heard[0],
                        "no noise rates given, so sloppy-svm equals csvm: use {noise-rates ETA+,ETA-} "
                        "or {noise=estimate}");
    settings.iterations = 2;
    heard_count = 0;
    assert_ok(train_with(&model, "csvm", &settings, NULL, UC_AUTO_REAL, &data, &context));
    uc_model_free(model);
    assert_int_equal(heard_count, 1);
    assert_memory_equal(heard[0], "the machine has not converged after 2 iterations: the gradient is ", 66);
    assert_non_null(strstr(heard[0], " times the tolerance; allow more {iterations}"));
    heard_count = 0;
    assert_ok(train_with(&model, "csvm", &settings, rates[1], UC_AUTO_REAL, &data, &context));
    uc_model_free(model);
    assert_string_equal(heard[0], "csvm does not use a noise matrix; it is ignored");
    uc_dataset_free(&data);
}

/* ---- noise ---- */

/* Two Gaussians around (-1, 0) and (1, 0), by turns; the clean labels go to `truth`. */
static uc_dataset gaussians(uint32_t *truth, size_t rows, const double *eta, uint64_t seed)
{
    uc_dataset data = sample_data(rows, 2, 2, false, seed);
    uc_rng rng = uc_rng_make(seed, 21);
    for (size_t i = 0; i < rows; i++) {
        truth[i] = (uint32_t)(i % 2);
        data.X.values[i * data.X.stride] = (float)((truth[i] ? 1 : -1) + uc_rng_normal(&rng));
        data.X.values[i * data.X.stride + 1] = (float)uc_rng_normal(&rng);
        data.y[i] = uc_rng_uniform(&rng) < eta[truth[i]] ? 1 - truth[i] : truth[i];
    }
    return data;
}

static double error_of(const uc_model *model, const uc_dataset *data, const uint32_t *truth)
{
    uint32_t *predicted = uc_alloc(data->X.rows, sizeof *predicted);
    size_t errors = 0;
    assert_ok(uc_model_predict(predicted, model, &data->X, NULL));
    for (size_t i = 0; i < data->X.rows; i++)
        errors += predicted[i] != truth[i];
    uc_free(predicted);
    return (double)errors / (double)data->X.rows;
}

/* The best possible error is 15.9%. Labels of one class flipped: csvm follows the majority, the others do
 * not. */
static void given_the_rates_a_machine_is_as_good_as_on_clean_labels(void **state)
{
    (void)state;
    enum { N = 3000 };
    static uint32_t truth[N];
    static const double one_sided[][2] = {{0, 0.45}, {0.45, 0}};
    for (size_t r = 0; r < 2; r++) {
        uc_dataset data = gaussians(truth, N, one_sided[r], 4);
        uc_svm_settings settings = defaults();
        uc_model *plain = train("csvm", &settings, NULL, UC_AUTO_REAL, &data),
                 *sloppy = train("sloppy-svm", &settings, one_sided[r], UC_AUTO_REAL, &data);
        settings.loss = UC_SVM_WEIGHTED;
        uc_model *weighted = train("sloppy-svm", &settings, one_sided[r], UC_AUTO_REAL, &data);
        assert_true(error_of(plain, &data, truth) > 0.22);
        assert_true(error_of(sloppy, &data, truth) < 0.175);
        assert_true(error_of(weighted, &data, truth) < 0.175);
        uc_model_free(plain);
        uc_model_free(sloppy);
        uc_model_free(weighted);
        uc_dataset_free(&data);
    }
}

static uc_status evaluate(double *value, double *gradient, const double *point, void *user)
{
    return uc_svm_gradient(value, gradient, point, user, NULL);
}

static void several_starts_of_the_sloppy_loss_end_alike(void **state)
{
    (void)state;
    enum { N = 2000 };
    static uint32_t truth[N];
    for (size_t r = 1; r < 6; r++) {
        uc_dataset data = gaussians(truth, N, rates[r], r);
        uc_svm svm = with_rates(rates[r], 0.5, UC_SVM_SLOPPY);
        svm.data = &data;
        svm.positive = 1;
        svm.cost = 100;
        svm.free_offset = true;
        double least = 1, most = 0;
        uc_rng rng = uc_rng_make(r, 5);
        for (int start = 0; start < 7; start++) {
            double point[3] = {0};
            for (size_t j = 0; j < 3 && start > 0; j++)
                point[j] = uc_rng_normal(&rng);
            uc_minimum found;
            assert_ok(uc_minimise(&found, point, 3, evaluate, &svm, NULL, 1000, 1e-6, NULL));
            size_t errors = 0;
            for (size_t i = 0; i < N; i++) {
                const float *x = data.X.values + i * data.X.stride;
                errors += (point[0] + point[1] * (double)x[0] + point[2] * (double)x[1] > 0) != truth[i];
            }
            least = fmin(least, (double)errors / N);
            most = fmax(most, (double)errors / N);
        }
        assert_true(most - least <= 0.005);
        assert_true(most < 0.2);
        uc_dataset_free(&data);
    }
}

/* ---- machinery ---- */

static void the_number_of_threads_does_not_change_a_bit(void **state)
{
    (void)state;
    for (int sloppy = 0; sloppy < 2; sloppy++)
        for (int sparse = 0; sparse < 2; sparse++) {
            uc_dataset data = sample_data(8000, 40, sloppy ? 2 : 3, sparse, 2);
            uc_svm_settings settings = defaults();
            settings.iterations = 15;
            uc_model *models[3] = {NULL};
            for (unsigned threads = 1; threads <= 3; threads++) {
                const uc_context context = {.threads = threads};
                assert_ok(train_with(&models[threads - 1], sloppy ? "sloppy-svm" : "csvm", &settings,
                                     sloppy ? rates[5] : NULL, UC_AUTO_REAL, &data, &context));
                assert_memory_equal(models[threads - 1]->weights, models[0]->weights,
                                    41 * models[0]->stride * sizeof(double));
            }
            for (size_t k = 0; k < 3; k++)
                uc_model_free(models[k]);
            uc_dataset_free(&data);
        }
}

static uc_status train_alone(uc_model **model, const char *learner, const uc_noise *noise, uc_dataset *data)
{
    uc_svm_settings settings = defaults();
    uc_train_settings common = uc_train_defaults();
    const uc_context alone = {.threads = 1};
    settings.iterations = 3;
    common.noise = noise;
    return uc_train(model, uc_learner_find(learner), &settings, &common, data, &alone);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset two = sample_data(30, 3, 2, false, 6), three = sample_data(30, 3, 3, true, 6);
    uc_noise noise;
    uc_model *model = NULL;
    uc_status status;
    assert_ok(uc_noise_binary(&noise, 0.2, 0.1));
    FOR_EACH_FAILING_ALLOCATION(status, train_alone(&model, "sloppy-svm", &noise, &two));
    uc_model_free(model);
    FOR_EACH_FAILING_ALLOCATION(status, train_alone(&model, "csvm", NULL, &three));
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
    uc_svm_settings settings = defaults();
    const uc_context context = {.progress = stop_training};
    uc_model *model = NULL;
    assert_status(train_with(&model, "csvm", &settings, NULL, UC_AUTO_REAL, &data, &context),
                  UC_ERR_CANCELLED);
    assert_null(model);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_formula),
        cmocka_unit_test(training_ends_where_a_slow_search_ends),
        cmocka_unit_test(the_sloppy_loss_ends_at_a_minimum),
        cmocka_unit_test(without_noise_all_three_are_one),
        cmocka_unit_test(without_bias_there_is_no_offset),
        cmocka_unit_test(balanced_weights_are_as_good_as_repeated_rows),
        cmocka_unit_test(three_classes_are_three_machines_against_the_rest),
        cmocka_unit_test(a_class_without_examples_is_never_predicted),
        cmocka_unit_test(rates_that_the_labels_do_not_allow_for_are_refused),
        cmocka_unit_test(the_objective_of_refused_rates_falls_without_end),
        cmocka_unit_test(the_default_cost_of_csvm_does_not_depend_on_the_length_of_short_rows),
        cmocka_unit_test(what_sloppy_svm_cannot_learn_from_is_refused),
        cmocka_unit_test(doubtful_trainings_are_warned_of),
        cmocka_unit_test(given_the_rates_a_machine_is_as_good_as_on_clean_labels),
        cmocka_unit_test(several_starts_of_the_sloppy_loss_end_alike),
        cmocka_unit_test(the_number_of_threads_does_not_change_a_bit),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(training_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
