/* Logistic regression on confused labels. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "learn/logistic.h"
#include "linalg/linalg.h"

static uc_logistic_settings defaults(void)
{
    uc_logistic_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("logistic")), &settings);
    return settings;
}

static uc_noise noise_of(size_t classes, double level)
{
    uc_noise noise;
    assert_ok(uc_noise_random(&noise, classes, level, 5));
    return noise;
}

/* The objective as the formulas say it, example by example. */
static double plain_objective(const double *W, const uc_logistic_problem *self)
{
    const size_t K = self->K, S = self->S, d = self->data->X.cols;
    double total = 0, squares = 0;
    for (size_t i = 0; i < self->data->X.rows; i++) {
        const uc_row row = uc_matrix_row(&self->data->X, i);
        const uint32_t y = self->data->y[i];
        double p[32], sum = 0, observed = 0;
        for (size_t q = 0; q < K; q++) {
            double s = W[q];
            for (size_t j = 0; j < row.count; j++)
                s += (double)row.values[j] * W[((row.columns ? row.columns[j] : j) + 1) * S + q];
            sum += p[q] = exp(s);
        }
        for (size_t q = 0; q < K; q++)
            p[q] /= sum;
        if (self->correction == UC_CORRECTION_NONE)
            total -= log(p[y]);
        for (size_t q = 0; q < K && self->correction == UC_CORRECTION_BACKWARD; q++)
            total -= self->B[q * K + y] * log(p[q]);
        for (size_t q = 0; q < K && self->correction == UC_CORRECTION_FORWARD; q++)
            observed += self->C[y * K + q] * p[q];
        if (self->correction == UC_CORRECTION_FORWARD)
            total -= log(observed);
    }
    for (size_t i = S; i < (d + 1) * S; i++)
        squares += W[i] * W[i];
    return total / (double)self->data->X.rows + self->l2 / 2 * squares;
}

static void the_gradient_is_that_of_the_formula(void **state)
{
    (void)state;
    enum { DENSE, SPARSE, BY_COLUMN, BY_LANE };
    for (int how = DENSE; how <= BY_LANE; how++)
        for (size_t K = 2; K <= 5; K += 3)
            for (int correction = UC_CORRECTION_NONE; correction <= UC_CORRECTION_BACKWARD; correction++) {
                uc_dataset data = sample_data(130, 7, K, how != DENSE, 3);
                uc_noise noise = noise_of(K, 4);
                uc_matrix by_column = {0};
                double residuals[130 * 8], lanes[UC_LOGISTIC_MOST_LANES * 8 * 8];
                if (how == BY_COLUMN)
                    assert_ok(uc_matrix_transpose(&by_column, &data.X));
                double inverse[25], W[8 * 8] = {0}, gradient[8 * 8], objective;
                assert_ok(uc_noise_invert(inverse, &noise, 0));
                const size_t S = uc_class_stride(K);
                const uc_logistic_problem problem = {.data = &data,
                                                     .K = K,
                                                     .S = S,
                                                     .correction = (uc_correction)correction,
                                                     .C = noise.values,
                                                     .B = inverse,
                                                     .l2 = 0.03,
                                                     .free_offset = true,
                                                     .by_column = how == BY_COLUMN ? &by_column : NULL,
                                                     .residuals = residuals,
                                                     .lanes = how == BY_LANE ? lanes : NULL,
                                                     .lane_count = UC_LOGISTIC_MOST_LANES};
                uc_rng rng = uc_rng_make(K, 1);
                for (size_t j = 0; j < 8; j++)
                    for (size_t q = 0; q < K; q++)
                        W[j * S + q] = 0.4 * uc_rng_normal(&rng);
                assert_ok(uc_logistic_gradient(&objective, gradient, W, &problem, NULL));
                assert_near_relative(objective, plain_objective(W, &problem), 1e-12);
                for (size_t j = 0; j < 8; j++)
                    for (size_t q = 0; q < K; q++) {
                        const double old = W[j * S + q], h = 1e-5;
                        W[j * S + q] = old + h;
                        const double above = plain_objective(W, &problem);
                        W[j * S + q] = old - h;
                        const double below = plain_objective(W, &problem);
                        W[j * S + q] = old;
                        assert_near(gradient[j * S + q], (above - below) / (2 * h), 1e-8);
                    }
                uc_matrix_free(&by_column);
                uc_noise_free(&noise);
                uc_dataset_free(&data);
            }
}

/* Rows, columns, classes and their stride, and all that a problem of them needs. */
typedef struct sample_problem {
    uc_dataset data;
    uc_noise noise;
    uc_matrix by_column;
    double inverse[25], residuals[130 * 8], probabilities[130 * 8], weights[130];
    uc_logistic_problem problem;
} sample_problem;

static void make_problem(sample_problem *out, size_t K, size_t S, int correction, bool sparse, bool columns)
{
    *out = (sample_problem){.data = sample_data(130, 7, K, sparse, 3), .noise = noise_of(K, 4)};
    assert_ok(uc_noise_invert(out->inverse, &out->noise, 0));
    if (columns)
        assert_ok(uc_matrix_transpose(&out->by_column, &out->data.X));
    for (size_t i = 0; i < 130; i++)
        out->weights[i] = 0.5 + (double)(i % 3);
    out->problem = (uc_logistic_problem){.data = &out->data,
                                         .K = K,
                                         .S = S,
                                         .correction = (uc_correction)correction,
                                         .C = out->noise.values,
                                         .B = out->inverse,
                                         .l2 = 0.03,
                                         .weights = out->weights,
                                         .free_offset = true,
                                         .by_column = columns ? &out->by_column : NULL,
                                         .residuals = out->residuals,
                                         .probabilities = out->probabilities};
}

static void free_problem(sample_problem *self)
{
    uc_matrix_free(&self->by_column);
    uc_noise_free(&self->noise);
    uc_dataset_free(&self->data);
}

static void draw(double *W, size_t S, size_t K, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 1);
    for (size_t i = 0; i < 8 * S; i++)
        W[i] = i % S < K ? 0.4 * uc_rng_normal(&rng) : 0.0;
}

/* The product of the curvature with a direction is how the gradient changes along it. */
static void products_are_differences_of_gradients(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{2, 1}, {2, 2}, {5, 8}}; /* classes, stride */
    for (int how = 0; how < 4; how++)
        for (size_t k = 0; k < 3; k++)
            for (int correction = UC_CORRECTION_NONE; correction <= UC_CORRECTION_BACKWARD; correction++) {
                const size_t K = shapes[k][0], S = shapes[k][1];
                sample_problem sample;
                double W[64], V[64], moved[64], above[64], below[64], product[64], value, along = 0;
                double product_along;
                double lanes[UC_LOGISTIC_MOST_LANES * 64];
                const double h = 1e-6;
                make_problem(&sample, K, S, correction, how > 0, how == 2);
                sample.problem.lanes = how == 3 ? lanes : NULL;
                sample.problem.lane_count = 2;
                draw(W, S, K, 1);
                draw(V, S, K, 2);
                for (size_t i = 0; i < 8 * S; i++)
                    moved[i] = W[i] - h * V[i];
                assert_ok(uc_logistic_gradient(&value, below, moved, &sample.problem, NULL));
                for (size_t i = 0; i < 8 * S; i++)
                    moved[i] = W[i] + h * V[i];
                assert_ok(uc_logistic_gradient(&value, above, moved, &sample.problem, NULL));
                assert_ok(uc_logistic_gradient(&value, moved, W, &sample.problem, NULL));
                assert_ok(uc_logistic_product(product, &product_along, V, &sample.problem, NULL));
                for (size_t i = 0; i < 8 * S; i++) {
                    along += product[i] * V[i];
                    assert_near(product[i], (above[i] - below[i]) / (2 * h), 1e-7);
                }
                assert_near_relative(product_along, along, 1e-12);
                assert_true(along > 0 || correction == UC_CORRECTION_FORWARD);
                free_problem(&sample);
            }
}

/* With the scores that the gradient saved it is the same again, bit for bit. */
static void a_gradient_of_known_scores_is_the_same(void **state)
{
    (void)state;
    for (int columns = 0; columns < 2; columns++) {
        sample_problem sample;
        double W[64], nowhere[64] = {0}, scores[130 * 8], gradient[64], again[64], value, same;
        make_problem(&sample, 5, 8, UC_CORRECTION_FORWARD, true, columns);
        sample.problem.scores = scores;
        sample.problem.l2 = 0;
        draw(W, 8, 5, 1);
        assert_ok(uc_logistic_gradient(&value, gradient, W, &sample.problem, NULL));
        assert_ok(uc_logistic_gradient_at(&same, again, nowhere, true, &sample.problem, NULL));
        assert_true(value == same);
        assert_memory_equal(gradient, again, sizeof gradient);
        free_problem(&sample);
    }
}

/* When labels are drawn from o = C p, the mean of the second derivative over them is that of the product of
 * the gradient with itself. */
static void mean_forward_curvature_is_the_mean_square_of_gradients(void **state)
{
    (void)state;
    sample_problem sample;
    make_problem(&sample, 5, 8, UC_CORRECTION_FORWARD, false, false);
    const double scores[5] = {0.3, -1, 0.8, 0.1, -0.4}, direction[5] = {1, 0.5, -2, 0.7, 0};
    double p[8], work[8], mean[5] = {0}, expected[5] = {0};
    for (uint32_t y = 0; y < 5; y++) {
        double g[8], product[8] = {0}, observed = 0, along = 0;
        sample.data.y[0] = y;
        memcpy(g, scores, sizeof scores);
        memcpy(product, direction, sizeof direction);
        (void)uc_logistic_rows_gradient(&sample.problem, g, p, 0, 1, work);
        for (size_t q = 0; q < 5; q++) {
            observed += sample.noise.values[y * 5 + q] * p[q];
            along += g[q] * direction[q];
        }
        uc_logistic_rows_product(&sample.problem, product, p, 0, 1, work);
        for (size_t q = 0; q < 5; q++) {
            expected[q] += observed * along * g[q];
            mean[q] += observed * product[q];
        }
    }
    for (size_t q = 0; q < 5; q++)
        assert_near(mean[q], expected[q], 1e-12);
    free_problem(&sample);
}

/* One vector for two classes: the same value at half of it with either sign, and the gradient of that. */
static void two_classes_by_their_difference_are_the_same(void **state)
{
    (void)state;
    for (int correction = UC_CORRECTION_NONE; correction <= UC_CORRECTION_BACKWARD; correction++) {
        sample_problem sample;
        double u[8], W[16], difference[8], gradient[16], one, two;
        make_problem(&sample, 2, 1, correction, false, false);
        draw(u, 1, 1, 3);
        for (size_t j = 0; j < 8; j++) {
            W[2 * j] = -u[j] / 2;
            W[2 * j + 1] = u[j] / 2;
        }
        assert_ok(uc_logistic_gradient(&one, difference, u, &sample.problem, NULL));
        sample.problem.S = 2;
        assert_ok(uc_logistic_gradient(&two, gradient, W, &sample.problem, NULL));
        assert_near_relative(one, two, 1e-14);
        for (size_t j = 0; j < 8; j++)
            assert_near(difference[j], (gradient[2 * j + 1] - gradient[2 * j]) / 2, 1e-14);
        free_problem(&sample);
    }
}

static uc_model *train(int correction, const uc_noise *noise, uc_dataset *data, double bias, unsigned threads)
{
    uc_logistic_settings settings = defaults();
    uc_train_settings common = uc_train_defaults();
    settings.correction = correction;
    settings.l2 = 0.01;
    settings.tolerance = 1e-9;
    common.noise = noise;
    common.bias = bias;
    uc_model *model = NULL;
    const uc_context context = {.threads = threads};
    assert_ok(uc_train(&model, uc_learner_find("logistic"), &settings, &common, data, &context));
    return model;
}

/* At the minimum no coordinate can be moved to gain anything. */
static void training_ends_at_the_minimum(void **state)
{
    (void)state;
    for (int correction = UC_CORRECTION_NONE; correction <= UC_CORRECTION_FORWARD; correction++) {
        uc_dataset data = sample_data(200, 5, 3, false, 12);
        uc_noise noise = noise_of(3, 3);
        uc_model *model = train(correction, &noise, &data, UC_AUTO_REAL, 2);
        const uc_logistic_problem problem = {.data = &data,
                                             .K = 3,
                                             .S = 4,
                                             .correction = (uc_correction)correction,
                                             .C = noise.values,
                                             .l2 = 0.01,
                                             .free_offset = true};
        const double least = plain_objective(model->weights, &problem);
        assert_near(json_number_value(json_object_get(model->summary, "objective")), least, 1e-12);
        for (size_t j = 0; j < 6; j++)
            for (size_t q = 0; q < 3; q++)
                for (double move = -1e-3; move < 2e-3; move += 2e-3) {
                    model->weights[j * 4 + q] += move;
                    assert_true(plain_objective(model->weights, &problem) > least);
                    model->weights[j * 4 + q] -= move;
                }
        uc_model_free(model);
        uc_noise_free(&noise);
        uc_dataset_free(&data);
    }
}

static void assert_same_weights(const uc_model *a, const uc_model *b, double tolerance)
{
    for (size_t i = 0; i < (a->dimension + 1) * a->stride; i++)
        assert_near(a->weights[i], b->weights[i], tolerance);
}

static void corrections_by_the_identity_are_none(void **state)
{
    (void)state;
    uc_dataset data = sample_data(150, 6, 4, true, 2);
    uc_noise identity;
    assert_ok(uc_noise_uniform(&identity, 4, 0));
    uc_model *none = train(UC_CORRECTION_NONE, NULL, &data, UC_AUTO_REAL, 1);
    for (int correction = UC_CORRECTION_FORWARD; correction <= UC_CORRECTION_BACKWARD; correction++) {
        uc_model *corrected = train(correction, &identity, &data, UC_AUTO_REAL, 1);
        assert_same_weights(none, corrected, 1e-5);
        uc_model_free(corrected);
    }
    uc_model_free(none);
    uc_noise_free(&identity);
    uc_dataset_free(&data);
}

static void without_bias_there_is_no_offset(void **state)
{
    (void)state;
    uc_dataset data = sample_data(100, 4, 3, false, 2);
    uc_model *model = train(UC_CORRECTION_NONE, NULL, &data, 0.0, 1);
    uc_model *with = train(UC_CORRECTION_NONE, NULL, &data, UC_AUTO_REAL, 1);
    bool any = false;
    for (size_t q = 0; q < 3; q++) {
        assert_true(uc_model_offset(model, q) == 0.0);
        any |= uc_model_offset(with, q) != 0.0;
    }
    assert_true(any);
    uc_model_free(model);
    uc_model_free(with);
    uc_dataset_free(&data);
}

static void probabilities_are_the_softmax_of_the_scores(void **state)
{
    (void)state;
    uc_dataset data = sample_data(60, 4, 3, false, 2);
    uc_noise noise = noise_of(3, 3);
    uc_model *model = train(UC_CORRECTION_FORWARD, &noise, &data, UC_AUTO_REAL, 1);
    double scores[60 * 3], probabilities[60 * 3];
    assert_true(uc_model_has_probabilities(model));
    assert_ok(uc_model_scores(scores, model, &data.X, NULL));
    assert_ok(uc_model_probabilities(probabilities, model, &data.X, NULL));
    for (size_t i = 0; i < 60; i++) {
        double sum = 0;
        const double *p = probabilities + 3 * i;
        for (size_t q = 0; q < 3; q++)
            sum += exp(scores[3 * i + q]);
        for (size_t q = 0; q < 3; q++)
            assert_near(p[q], exp(scores[3 * i + q]) / sum, 1e-12);
        const uint32_t y = data.y[i]; /* Bayes' rule: P(true = y | x, observed = y) */
        double observed = 0;
        for (size_t q = 0; q < 3; q++)
            observed += noise.values[y * 3 + q] * p[q];
        assert_near(uc_model_label_is_right(model, p, y), noise.values[y * 3 + y] * p[y] / observed, 1e-12);
        assert_true(uc_model_label_is_right(model, p, UC_NONE) == 0.0);
    }
    uc_model_free(model);
    model = NULL;
    assert_ok(uc_train(&model, uc_learner_find("spa"), NULL, NULL, &data, NULL));
    assert_false(uc_model_has_probabilities(model));
    assert_error(uc_model_probabilities(probabilities, model, &data.X, NULL), UC_ERR_INVALID,
                 "a model of spa has scores but no probabilities; logistic has them");
    uc_model_free(model);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
}

/* Half of the labels are wrong: if the noise is given, the learner is nearly as good as on clean labels. */
static void forward_correction_recovers_from_noise(void **state)
{
    (void)state;
    uc_dataset data, test;
    assert_ok(uc_generator_run(&data, &test, uc_generator_find("cspa-gaussians"), NULL, 4000, 2000, 3));
    uc_noise noise = noise_of(4, 6);
    assert_ok(uc_noise_apply(&data, &noise, 1, NULL));
    double error[2];
    for (int corrected = 0; corrected < 2; corrected++) {
        uc_model *model =
            train(corrected ? UC_CORRECTION_FORWARD : UC_CORRECTION_NONE, &noise, &data, UC_AUTO_REAL, 2);
        uint32_t predicted[2000];
        size_t errors = 0;
        assert_ok(uc_model_predict(predicted, model, &test.X, NULL));
        for (size_t i = 0; i < 2000; i++)
            errors += predicted[i] != test.y[i];
        error[corrected] = (double)errors / 2000;
        uc_model_free(model);
    }
    assert_true(error[1] < 0.09); /* clean labels: about 0.07 */
    assert_true(error[1] <= error[0]);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
    uc_dataset_free(&test);
}

/* With offsets that were free from the start, one of the ten digits was never predicted again. */
static void no_class_is_lost_under_strong_noise(void **state)
{
    (void)state;
    const char *train_path, *test_path;
    data_file_or_skip(train_path, "optdigits.train.svm.zst");
    data_file_or_skip(test_path, "optdigits.test.svm.zst");
    uc_dataset data, test;
    assert_ok(uc_dataset_read(&data, train_path, NULL, NULL));
    assert_ok(uc_dataset_read(&test, test_path, NULL, NULL));
    uc_noise noise;
    assert_ok(uc_noise_random(&noise, 10, 8, 12));
    assert_ok(uc_noise_apply(&data, &noise, 12, NULL));
    uc_train_settings common = uc_train_defaults();
    common.noise = &noise;
    common.map.map = UC_MAP_NYSTROEM;
    common.map.dimension = 300;
    common.map.gamma = 0.00122;
    uc_model *model = NULL;
    assert_ok(uc_train(&model, uc_learner_find("logistic"), NULL, &common, &data, NULL));
    uint32_t *predicted = uc_alloc(test.X.rows, sizeof *predicted);
    size_t right[10] = {0};
    assert_ok(uc_model_predict(predicted, model, &test.X, NULL));
    for (size_t i = 0; i < test.X.rows; i++)
        right[test.y[i]] += predicted[i] == test.y[i];
    for (size_t k = 0; k < 10; k++)
        assert_true(right[k] > 120); /* of about 180 */
    uc_free(predicted);
    uc_model_free(model);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
    uc_dataset_free(&test);
}

/* Rows of a few values each: sparse enough for Newton steps. */
static uc_dataset thin_data(size_t rows, size_t cols, size_t classes)
{
    uc_dataset data = sample_data(rows, 12, classes, true, 2);
    uc_rng rng = uc_rng_make(9, 1);
    data.X.cols = cols;
    for (size_t i = 0; i < rows; i++) { /* each to a place of its own, in ascending order */
        const uc_row row = uc_matrix_row(&data.X, i);
        for (size_t k = 0; k < row.count; k++) {
            const size_t width = cols / 12, column = row.columns[k];
            ((uint32_t *)row.columns)[k] = (uint32_t)(column * width + uc_rng_below(&rng, width));
        }
    }
    return data;
}

/* Rows that are mostly zeros are learned by Newton steps when they are stored as such, and by L-BFGS when
 * their zeros are stored, too: both arrive at the same weights, Newton in far fewer steps. */
static void both_ways_to_minimise_arrive_at_the_same_weights(void **state)
{
    (void)state;
    for (size_t K = 2; K <= 5; K += 3)
        for (int correction = UC_CORRECTION_NONE; correction <= UC_CORRECTION_BACKWARD; correction++)
            for (int wide = 0; wide < 2; wide++) {
                uc_dataset sparse = thin_data(700, wide ? 960 : 240, K), dense = {0};
                uc_noise noise = noise_of(K, 1);
                assert_ok(uc_dataset_subset(&dense, &sparse, NULL, 0, NULL));
                assert_ok(uc_matrix_densify(&dense.X));
                uc_model *newton = train(correction, &noise, &sparse, UC_AUTO_REAL, 1);
                uc_model *lbfgs = train(correction, &noise, &dense, UC_AUTO_REAL, 1);
                assert_same_weights(newton, lbfgs, 1e-5);
                assert_true(2 * json_integer_value(json_object_get(newton->summary, "iterations")) <=
                            json_integer_value(json_object_get(lbfgs->summary, "iterations")));
                uc_model_free(newton);
                uc_model_free(lbfgs);
                uc_noise_free(&noise);
                uc_dataset_free(&sparse);
                uc_dataset_free(&dense);
            }
}

static void the_number_of_threads_does_not_change_a_bit(void **state)
{
    (void)state;
    enum { DENSE, SPARSE, THIN };
    static const size_t shapes[][4] = {{3000, 20, DENSE, 5},  {3000, 20, SPARSE, 5},  {1100, 1300, SPARSE, 5},
                                       {3000, 20, DENSE, 2},  {3000, 1200, THIN, 5},  {1100, 2400, THIN, 5},
                                       {3000, 1200, THIN, 2}, {1100, 240, DENSE, 30}, {1100, 9600, THIN, 5}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const size_t *shape = shapes[s];
        uc_dataset data = shape[2] == THIN ? thin_data(shape[0], shape[1], shape[3])
                                           : sample_data(shape[0], shape[1], shape[3], shape[2] == SPARSE, 2);
        uc_model *one = train(UC_CORRECTION_NONE, NULL, &data, UC_AUTO_REAL, 1);
        for (unsigned threads = 2; threads <= 7; threads += 5) {
            uc_model *many = train(UC_CORRECTION_NONE, NULL, &data, UC_AUTO_REAL, threads);
            assert_memory_equal(many->weights, one->weights,
                                (one->dimension + 1) * one->stride * sizeof(double));
            uc_model_free(many);
        }
        uc_model_free(one);
        uc_dataset_free(&data);
    }
}

static uc_status train_status(uc_model **model, uc_dataset *data, const uc_noise *noise)
{
    uc_logistic_settings settings = defaults();
    uc_train_settings common = uc_train_defaults();
    settings.correction = UC_CORRECTION_BACKWARD;
    settings.iterations = 2;
    common.noise = noise;
    const uc_context alone = {.threads = 1};
    return uc_train(model, uc_learner_find("logistic"), &settings, &common, data, &alone);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int wide = 0; wide < 3; wide++) {
        uc_dataset data = wide > 1 ? thin_data(30, 240, 3) : sample_data(30, wide ? 40 : 3, 3, wide, 6);
        uc_noise noise = noise_of(3, 3);
        uc_model *model = NULL;
        uc_status status;
        FOR_EACH_FAILING_ALLOCATION(status, train_status(&model, &data, &noise));
        uc_model_free(model);
        uc_noise_free(&noise);
        uc_dataset_free(&data);
    }
}

static void a_correction_without_noise_is_refused(void **state)
{
    (void)state;
    uc_dataset data = sample_data(30, 3, 3, false, 6);
    uc_logistic_settings settings = defaults();
    uc_model *model = NULL;
    settings.correction = UC_CORRECTION_FORWARD;
    assert_error(uc_train(&model, uc_learner_find("logistic"), &settings, NULL, &data, NULL), UC_ERR_INVALID,
                 "{correction=forward} needs the noise: give it with {noise-matrix} or {noise-rate}");
    assert_null(model);
    uc_dataset_free(&data);
}

static void hear(const char *sentence, void *user)
{
    snprintf(user, 256, "%s", sentence);
}

/* The change of variables makes them as good as any; the penalty is next to nothing then. */
static void columns_of_1e30_are_learned_without_a_warning(void **state)
{
    (void)state;
    double objective[2];
    for (int large = 0; large < 2; large++) {
        uc_dataset data = sample_data(90, 4, 3, false, 3);
        for (size_t i = 0; i < data.X.rows * data.X.stride && large; i++)
            data.X.values[i] *= 1e30f;
        char heard[256] = "";
        const uc_context context = {.warn = hear, .user = heard};
        uc_model *model = NULL;
        assert_ok(uc_train(&model, uc_learner_find("logistic"), NULL, NULL, &data, &context));
        assert_string_equal(heard, "");
        objective[large] = json_real_value(json_object_get(model->summary, "objective"));
        uc_model_free(model);
        uc_dataset_free(&data);
    }
    assert_true(objective[1] <= objective[0] && objective[1] > objective[0] - 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_formula),
        cmocka_unit_test(products_are_differences_of_gradients),
        cmocka_unit_test(a_gradient_of_known_scores_is_the_same),
        cmocka_unit_test(mean_forward_curvature_is_the_mean_square_of_gradients),
        cmocka_unit_test(two_classes_by_their_difference_are_the_same),
        cmocka_unit_test(training_ends_at_the_minimum),
        cmocka_unit_test(corrections_by_the_identity_are_none),
        cmocka_unit_test(without_bias_there_is_no_offset),
        cmocka_unit_test(probabilities_are_the_softmax_of_the_scores),
        cmocka_unit_test(forward_correction_recovers_from_noise),
        cmocka_unit_test(no_class_is_lost_under_strong_noise),
        cmocka_unit_test(both_ways_to_minimise_arrive_at_the_same_weights),
        cmocka_unit_test(the_number_of_threads_does_not_change_a_bit),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_correction_without_noise_is_refused),
        cmocka_unit_test(columns_of_1e30_are_learned_without_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
