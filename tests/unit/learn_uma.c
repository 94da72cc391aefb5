/* UMA against its naive form, which recomputes predictions, sums and all z_pq in every step. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "learn/learner.h"
#include "learn/uma/pair_sums.h"
#include "linalg/linalg.h"

enum { ERROR_PAIR, CONFUSION_PAIR };
enum { PERCEPTRON, UNIFORM, WORST };
enum { LAST, AVERAGE, TAIL, BEST, AUTO };

static uc_uma_settings defaults(void)
{
    uc_uma_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("uma")), &settings);
    return settings;
}

static uc_noise noise_of(size_t classes, double level, uint64_t seed)
{
    uc_noise noise;
    assert_ok(uc_noise_random(&noise, classes, level, seed));
    return noise;
}

static uc_model *train(const uc_uma_settings *settings, const uc_noise *noise, uc_dataset *data,
                       bool normalize, unsigned threads)
{
    uc_train_settings common = uc_train_defaults();
    common.noise = noise;
    common.normalize = normalize;
    const uc_context context = {.threads = threads};
    uc_model *model = NULL;
    assert_ok(uc_train(&model, uc_learner_find("uma"), settings, &common, data, &context));
    return model;
}

/* ---- the naive form ---- */

typedef struct naive {
    size_t n, d, Q;
    double *X; /* n x d */
    const uint32_t *y;
    double *B;
    double *W;       /* Q x d */
    double *history; /* (T + 1) x Q x d */
    double *errors;  /* corrected error after each step */
    double *mass;    /* the share of the examples behind each step's z, for C = I */
    size_t steps;
    size_t without_p; /* steps whose error set is not empty, but lacks p */
} naive;

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t j = 0; j < count; j++)
        sum += a[j] * b[j];
    return sum;
}

static size_t predict(const naive *self, size_t i)
{
    size_t best = 0;
    for (size_t q = 1; q < self->Q; q++)
        if (dot(self->W + q * self->d, self->X + i * self->d, self->d) >
            dot(self->W + best * self->d, self->X + i * self->d, self->d))
            best = q;
    return best;
}

/* z for every pair, and the corrected error. */
static double all_z(const naive *self, double *z)
{
    double hits = 0;
    memset(z, 0, self->Q * self->Q * self->d * sizeof *z);
    for (size_t i = 0; i < self->n; i++) {
        const size_t p = predict(self, i);
        for (size_t q = 0; q < self->Q; q++)
            for (size_t j = 0; j < self->d; j++)
                z[(p * self->Q + q) * self->d + j] +=
                    self->B[q * self->Q + self->y[i]] * self->X[i * self->d + j] / (double)self->n;
        hits += self->B[p * self->Q + self->y[i]] / (double)self->n;
    }
    return 1 - hits;
}

static bool naive_step(naive *self, double *z, int choose, int step, const double *share)
{
    const size_t Q = self->Q, d = self->d;
    bool *tried = calloc(Q * Q, sizeof *tried);
    bool moved = false;
    for (;;) {
        double best = -1;
        size_t at = 0;
        for (size_t pair = 0; pair < Q * Q; pair++) {
            const double norm = sqrt(dot(z + pair * d, z + pair * d, d));
            const double value = choose == CONFUSION_PAIR ? norm / share[pair % Q] : norm;
            if (pair / Q != pair % Q && !tried[pair] && norm > 0.5 / (double)self->n && value > best) {
                best = value;
                at = pair;
            }
        }
        if (best < 0)
            break;
        const size_t p = at / Q, q = at % Q;
        const double *v = z + at * d, own = dot(self->W + q * d, v, d);
        size_t errors = 0, worst = q;
        for (size_t r = 0; r < Q; r++)
            if (r != q && dot(self->W + r * d, v, d) >= own) {
                if (errors++ == 0 || dot(self->W + r * d, v, d) > dot(self->W + worst * d, v, d))
                    worst = r;
            }
        tried[at] = true;
        const bool p_errs = dot(self->W + p * d, v, d) >= own;
        if (errors == 0 || (step == PERCEPTRON && !p_errs))
            continue;
        self->without_p += !p_errs;
        for (size_t i = 0; i < self->n; i++)
            self->mass[self->steps] += (predict(self, i) == p && self->y[i] == q) / (double)self->n;
        double *old = malloc(Q * d * sizeof *old);
        memcpy(old, self->W, Q * d * sizeof *old);
        for (size_t r = 0; r < Q; r++) {
            double change = r == q ? 1.0 : 0.0;
            if (step == UNIFORM && r != q && dot(old + r * d, v, d) >= own)
                change = -1.0 / (double)errors;
            if ((step == PERCEPTRON && r == p) || (step == WORST && r == worst))
                change = -1.0;
            for (size_t j = 0; j < d; j++)
                self->W[r * d + j] += change * v[j];
        }
        free(old);
        moved = true;
        break;
    }
    free(tried);
    return moved;
}

static naive run_naive(const uc_dataset *data, const uc_noise *noise, size_t iterations, int choose, int step)
{
    naive self = {.n = data->X.rows, .d = data->X.cols, .Q = data->classes.count, .y = data->y};
    const size_t Q = self.Q, d = self.d;
    self.X = calloc(self.n * d, sizeof(double));
    self.B = calloc(Q * Q, sizeof(double));
    self.W = calloc(Q * d, sizeof(double));
    self.history = calloc((iterations + 1) * Q * d, sizeof(double));
    self.errors = calloc(iterations + 1, sizeof(double));
    self.mass = calloc(iterations + 1, sizeof(double));
    double *z = calloc(Q * Q * d, sizeof(double)), *share = calloc(Q, sizeof(double)), total = 0;
    assert_ok(uc_noise_invert(self.B, noise, 0));
    for (size_t i = 0; i < self.n; i++) {
        const uc_row row = uc_matrix_row(&data->X, i);
        for (size_t j = 0; j < row.count; j++)
            self.X[i * d + (row.columns ? row.columns[j] : j)] = row.values[j];
        for (size_t q = 0; q < Q; q++)
            share[q] += self.B[q * Q + data->y[i]] / (double)self.n;
    }
    for (size_t q = 0; q < Q; q++)
        total += share[q] = fmax(share[q], 1 / (double)self.n);
    for (size_t q = 0; q < Q; q++)
        share[q] /= total;
    while (self.steps < iterations) {
        (void)all_z(&self, z);
        if (!naive_step(&self, z, choose, step, share))
            break;
        self.steps++;
        memcpy(self.history + self.steps * Q * d, self.W, Q * d * sizeof(double));
        self.errors[self.steps] = all_z(&self, z);
    }
    free(z);
    free(share);
    return self;
}

static void free_naive(naive *self)
{
    free(self->X);
    free(self->B);
    free(self->W);
    free(self->history);
    free(self->errors);
    free(self->mass);
}

static double wanted(const naive *self, int returns, size_t weight)
{
    const size_t T = self->steps, size = self->Q * self->d;
    size_t first = T, last = T;
    if (returns == AVERAGE)
        first = 1;
    if (returns == TAIL)
        for (first = 1; 4 * first <= T;)
            first *= 2;
    if (returns == BEST)
        for (size_t t = T; t > 0; t--)
            if (self->errors[t] <= self->errors[first])
                first = last = t;
    double sum = 0;
    for (size_t t = first; t <= last; t++)
        sum += self->history[t * size + weight];
    return sum / (double)(last - first + 1);
}

/* Returns how many steps had an error set without p. */
static size_t check_against_naive(const uc_dataset *data, double level, uint64_t iterations, int choose,
                                  int step)
{
    uc_noise noise = noise_of(data->classes.count, level, 4);
    naive oracle = run_naive(data, &noise, (size_t)iterations, choose, step);
    uc_dataset copy;
    for (int returns = LAST; returns <= BEST; returns++) {
        uc_uma_settings settings = defaults();
        settings.iterations = iterations;
        settings.choose = choose;
        settings.step = step;
        settings.returns = returns;
        settings.ridge = 0;
        assert_ok(uc_dataset_subset(&copy, data, NULL, 0, NULL));
        uc_model *model = train(&settings, &noise, &copy, false, 2);
        assert_int_equal(json_integer_value(json_object_get(model->summary, "iterations")), oracle.steps);
        for (size_t q = 0; q < oracle.Q; q++)
            for (size_t j = 0; j < oracle.d; j++)
                assert_near(uc_model_weight(model, j, q), wanted(&oracle, returns, q * oracle.d + j), 1e-12);
        uc_model_free(model);
        uc_dataset_free(&copy);
    }
    const size_t without_p = oracle.without_p;
    free_naive(&oracle);
    uc_noise_free(&noise);
    return without_p;
}

/* ---- claims ---- */

static void the_incremental_form_takes_the_steps_of_the_naive_one(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++)
        for (int choose = ERROR_PAIR; choose <= CONFUSION_PAIR; choose++)
            for (int step = PERCEPTRON; step <= WORST; step++) {
                uc_dataset data = sample_data(150, 6, 4, sparse, 17 + (uint64_t)step);
                check_against_naive(&data, 5, 60, choose, step);
                uc_dataset_free(&data);
            }
    uc_dataset large = sample_data(15000, 4, 2, false, 3); /* its cells are summed in pieces */
    check_against_naive(&large, 4, 12, ERROR_PAIR, PERCEPTRON);
    uc_dataset_free(&large);
}

/* So many classes that the sums of pairs would be larger than the rows, and are not kept. */
static void with_more_classes_than_rows_the_steps_are_still_those_of_the_naive_form(void **state)
{
    (void)state;
    for (int choose = ERROR_PAIR; choose <= CONFUSION_PAIR; choose++)
        for (int step = PERCEPTRON; step <= WORST; step++) {
            uc_dataset data = sample_data(20, 6, 45, true, 17 + (uint64_t)step);
            const uc_pair_sums sums = {.X = &data.X, .n = 20, .d = 6, .Q = 45};
            assert_true(uc_pair_sums_may_use_rows(&sums));
            check_against_naive(&data, 3, 40, choose, step);
            uc_dataset_free(&data);
        }
}

/* Algorithm 2 of the paper asks for an error set that is not empty; only `perceptron`, where p pays, needs
 * p in it. */
static void uniform_and_worst_steps_do_not_need_p_among_the_errors(void **state)
{
    (void)state;
    uc_dataset data = sample_data(150, 6, 5, false, 23);
    assert_int_equal(check_against_naive(&data, 8, 80, ERROR_PAIR, PERCEPTRON), 0);
    assert_true(check_against_naive(&data, 8, 80, ERROR_PAIR, UNIFORM) > 0);
    assert_true(check_against_naive(&data, 8, 80, CONFUSION_PAIR, WORST) > 0);
    uc_dataset_free(&data);
}

static void every_length_of_a_run_returns_the_right_mean(void **state)
{
    (void)state;
    uc_dataset data = sample_data(60, 4, 3, false, 3);
    for (uint64_t iterations = 1; iterations <= 17; iterations++)
        check_against_naive(&data, 4, iterations, ERROR_PAIR, PERCEPTRON);
    uc_dataset_free(&data);
}

static void from_zero_the_weights_of_all_classes_sum_to_zero(void **state)
{
    (void)state;
    uc_noise noise = noise_of(5, 6, 1);
    for (int step = PERCEPTRON; step <= WORST; step++) {
        uc_dataset data = sample_data(200, 8, 5, true, 9);
        uc_uma_settings settings = defaults();
        settings.step = step;
        settings.iterations = 100;
        uc_model *model = train(&settings, &noise, &data, true, 1);
        for (size_t j = 0; j < 8; j++) {
            double sum = 0;
            for (size_t q = 0; q < 5; q++)
                sum += uc_model_weight(model, j, q);
            assert_near(sum, 0, 1e-12);
        }
        uc_model_free(model);
        uc_dataset_free(&data);
    }
    uc_noise_free(&noise);
}

/* The perceptron's bound (the paper's Theorem 1), for examples z of different lengths. On data of unit
 * length that some W* of length 1 separates with margin gamma, a z that sums the share m of the examples
 * has length at most m and margin at least m gamma. So |W|^2 <= 2 sum m^2 and <W, W*> >= gamma sum m,
 * hence (sum m)^2 <= 2 / gamma^2 sum m^2; and the run ends by itself. */
static void on_separable_data_the_perceptrons_bound_holds(void **state)
{
    (void)state;
    enum { N = 200, D = 3, Q = 5 };
    const double gamma = 0.01;
    uc_dataset data = sample_data(N, D, Q, false, 1);
    uc_rng rng = uc_rng_make(3, 3);
    double truth[Q][D], length = 0;
    for (size_t q = 0; q < Q; q++)
        for (size_t j = 0; j < D; j++) {
            truth[q][j] = uc_rng_normal(&rng);
            length += truth[q][j] * truth[q][j];
        }
    for (size_t i = 0; i < N;) {
        double x[D], norm = 0, score[Q];
        size_t best = 0, second = 1;
        for (size_t j = 0; j < D; j++) {
            x[j] = uc_rng_normal(&rng);
            norm += x[j] * x[j];
        }
        for (size_t q = 0; q < Q; q++) {
            for (size_t j = 0; j < D; j++)
                x[j] /= q == 0 ? sqrt(norm) : 1;
            score[q] = dot(truth[q], x, D) / sqrt(length);
        }
        for (size_t q = 0; q < Q; q++)
            best = score[q] > score[best] ? q : best;
        second = best == 0 ? 1 : 0;
        for (size_t q = 0; q < Q; q++)
            second = q != best && score[q] > score[second] ? q : second;
        if (score[best] - score[second] < gamma)
            continue;
        data.y[i] = (uint32_t)best;
        for (size_t j = 0; j < D; j++)
            data.X.values[i * data.X.stride + j] = (float)x[j];
        i++;
    }
    uc_noise identity;
    assert_ok(uc_noise_uniform(&identity, Q, 0));
    naive self = run_naive(&data, &identity, 100000, ERROR_PAIR, PERCEPTRON);
    assert_true(self.steps > 3 && self.steps < 100000);
    assert_near(self.errors[self.steps], 0, 1e-12);
    double sum = 0, squares = 0;
    for (size_t t = 0; t < self.steps; t++) {
        sum += self.mass[t];
        squares += self.mass[t] * self.mass[t];
    }
    assert_true(sum * sum <= 2 / (gamma * gamma) * squares);
    free_naive(&self);
    uc_noise_free(&identity);
    uc_dataset_free(&data);
}

/* J(W) = mean_i max_q <w_q, x_i> - sum_q <w_q, m_q> = sum over p != q of <w_p - w_q, z_pq>, at any W. */
static void the_pairs_add_up_to_one_convex_function(void **state)
{
    (void)state;
    uc_dataset data = sample_data(80, 5, 4, false, 21);
    uc_noise noise = noise_of(4, 5, 2);
    naive self = run_naive(&data, &noise, 7, ERROR_PAIR, PERCEPTRON);
    const size_t Q = 4, d = 5;
    double *z = calloc(Q * Q * d, sizeof *z), J = 0, pairs = 0;
    (void)all_z(&self, z);
    for (size_t i = 0; i < self.n; i++) {
        J += dot(self.W + predict(&self, i) * d, self.X + i * d, d) / (double)self.n;
        for (size_t q = 0; q < Q; q++)
            J -= self.B[q * Q + data.y[i]] * dot(self.W + q * d, self.X + i * d, d) / (double)self.n;
    }
    for (size_t p = 0; p < Q; p++)
        for (size_t q = 0; q < Q; q++)
            if (p != q)
                pairs +=
                    dot(self.W + p * d, z + (p * Q + q) * d, d) - dot(self.W + q * d, z + (p * Q + q) * d, d);
    assert_true(fabs(J) > 1e-6);
    assert_near(J, pairs, 1e-12);
    free(z);
    free_naive(&self);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
}

/* Means over many draws of the noisy labels approach the mean with the true ones: E[z_pq] = mu_q^p. */
static void the_corrected_mean_is_unbiased(void **state)
{
    (void)state;
    enum { DRAWS = 4000, Q = 3, d = 2 };
    uc_dataset data = sample_data(30, d, Q, false, 5);
    uc_noise noise = noise_of(Q, 5, 3), identity;
    assert_ok(uc_noise_uniform(&identity, Q, 0));
    naive self = run_naive(&data, &identity, 3, ERROR_PAIR,
                           PERCEPTRON); /* some weights that predict several classes */
    double clean[Q * Q * d], z[Q * Q * d], mean[Q * Q * d] = {0}, square[Q * Q * d] = {0};
    (void)all_z(&self, clean);
    assert_ok(uc_noise_invert(self.B, &noise, 0));
    uint32_t truth[30];
    memcpy(truth, data.y, sizeof truth);
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        memcpy(data.y, truth, sizeof truth);
        assert_ok(uc_noise_apply(&data, &noise, draw, NULL));
        (void)all_z(&self, z);
        for (size_t i = 0; i < Q * Q * d; i++) {
            mean[i] += z[i] / DRAWS;
            square[i] += z[i] * z[i] / DRAWS;
        }
    }
    for (size_t i = 0; i < Q * Q * d; i++)
        assert_near(mean[i], clean[i], 1e-12 + 4.5 * sqrt(fmax(0, square[i] - mean[i] * mean[i]) / DRAWS));
    free_naive(&self);
    uc_noise_free(&noise);
    uc_noise_free(&identity);
    uc_dataset_free(&data);
}

/* No given noise and the identity are the same, and on separable data it learns every label. */
static void without_noise_it_is_the_class_sum_perceptron(void **state)
{
    (void)state;
    uc_dataset data, test, copy;
    assert_ok(uc_generator_run(&data, &test, uc_generator_find("uma-circle"), NULL, 400, 400, 7));
    assert_ok(uc_dataset_subset(&copy, &data, NULL, 0, NULL));
    uc_noise identity;
    assert_ok(uc_noise_uniform(&identity, data.classes.count, 0));
    uc_uma_settings settings = defaults();
    uc_model *with = train(&settings, &identity, &data, true, 1),
             *without = train(&settings, NULL, &copy, true, 1);
    for (size_t j = 0; j < data.X.cols; j++)
        for (size_t q = 0; q < data.classes.count; q++)
            assert_true(uc_model_weight(with, j, q) == uc_model_weight(without, j, q));
    assert_near(json_number_value(json_object_get(with->summary, "training_error")), 0, 0.01);
    uc_model_free(with);
    uc_model_free(without);
    uc_noise_free(&identity);
    uc_dataset_free(&data);
    uc_dataset_free(&test);
    uc_dataset_free(&copy);
}

/* With the start at the means there are no ties to break by index. */
static void relabelling_the_classes_relabels_the_answer(void **state)
{
    (void)state;
    enum { Q = 4 };
    static const size_t place[Q] = {2, 0, 3, 1};
    uc_dataset data = sample_data(200, 6, Q, false, 31), other = sample_data(200, 6, Q, false, 31);
    uc_noise noise = noise_of(Q, 4, 6);
    double values[Q * Q];
    for (size_t p = 0; p < Q; p++)
        for (size_t q = 0; q < Q; q++)
            values[place[p] * Q + place[q]] = noise.values[p * Q + q];
    uc_noise relabelled;
    assert_ok(uc_noise_create(&relabelled, values, Q, NULL, UC_NOISE_COLUMNS, "test"));
    for (size_t i = 0; i < 200; i++)
        other.y[i] = (uint32_t)place[data.y[i]];
    uc_uma_settings settings = defaults();
    settings.init = 1;
    settings.iterations = 30;
    settings.returns = LAST;
    uc_model *a = train(&settings, &noise, &data, true, 1),
             *b = train(&settings, &relabelled, &other, true, 1);
    for (size_t j = 0; j < 6; j++)
        for (size_t q = 0; q < Q; q++)
            assert_near(uc_model_weight(a, j, q), uc_model_weight(b, j, place[q]), 1e-9);
    uc_model_free(a);
    uc_model_free(b);
    uc_noise_free(&noise);
    uc_noise_free(&relabelled);
    uc_dataset_free(&data);
    uc_dataset_free(&other);
}

static void the_number_of_threads_does_not_change_a_bit(void **state)
{
    (void)state;
    static const struct {
        size_t rows, cols, classes;
        bool sparse;
    } shapes[] = {{5000, 40, 6, false},
                  {5000, 40, 6, true},
                  {30000, 10, 3, false}, /* the sums are large enough to be cut */
                  {30000, 10, 3, true},
                  {40, 1500, 90, true}}; /* the sums are not kept */
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        char *first = NULL;
        size_t first_length = 0;
        static const unsigned threads[] = {1, 2, 3, 7};
        for (size_t t = 0; t < 4; t++) {
            const size_t K = shapes[shape].classes;
            uc_dataset data = sample_data(shapes[shape].rows, shapes[shape].cols, K, shapes[shape].sparse, 2);
            uc_noise noise = noise_of(K, 5, 1);
            uc_uma_settings settings = defaults();
            settings.iterations = 40;
            uc_model *model = train(&settings, &noise, &data, true, threads[t]);
            const char *path = temporary_path("model.uc");
            assert_ok(uc_model_save(model, path));
            size_t length;
            char *bytes = read_file(path, &length);
            if (t > 0) {
                assert_int_equal(length, first_length);
                assert_memory_equal(bytes, first, length);
                free(bytes);
            } else {
                first = bytes;
                first_length = length;
            }
            uc_model_free(model);
            uc_noise_free(&noise);
            uc_dataset_free(&data);
        }
        free(first);
    }
}

/* A margin that no example has: nothing counts any more after the first step, and the run ends. */
static void alpha_leaves_out_what_is_near_a_boundary(void **state)
{
    (void)state;
    uc_noise noise = noise_of(3, 3, 1);
    for (int large = 0; large < 2; large++) {
        uc_dataset data = sample_data(90, 4, 3, false, 8);
        uc_uma_settings settings = defaults();
        settings.alpha = large ? 1e6 : 1e-9;
        settings.iterations = 50;
        uc_model *model = train(&settings, &noise, &data, true, 1);
        const json_int_t steps = json_integer_value(json_object_get(model->summary, "iterations"));
        assert_true(large ? steps == 1 : steps > 10);
        uc_model_free(model);
        uc_dataset_free(&data);
    }
    uc_noise_free(&noise);
}

static void a_constant_feature_is_an_ordinary_column(void **state)
{
    (void)state;
    uc_dataset data = sample_data(120, 5, 3, true, 4), wide = sample_data(120, 5, 3, false, 4);
    uc_noise noise = noise_of(3, 4, 2);
    uc_matrix X;
    assert_ok(uc_matrix_create_dense(&X, 120, 6));
    for (size_t i = 0; i < 120; i++) {
        memcpy(X.values + i * X.stride, wide.X.values + i * wide.X.stride, 5 * sizeof(float));
        X.values[i * X.stride + 5] = 2.0f;
    }
    uc_matrix_free(&wide.X);
    wide.X = X;
    uc_train_settings common = uc_train_defaults();
    common.noise = &noise;
    common.normalize = 0;
    uc_model *explicit_column, *constant;
    assert_ok(uc_train(&explicit_column, uc_learner_find("uma"), NULL, &common, &wide, NULL));
    common.bias = 2.0;
    assert_ok(uc_train(&constant, uc_learner_find("uma"), NULL, &common, &data, NULL));
    for (size_t q = 0; q < 3; q++) {
        assert_near(uc_model_offset(constant, q), 2.0 * uc_model_weight(explicit_column, 5, q), 1e-9);
        for (size_t j = 0; j < 5; j++)
            assert_near(uc_model_weight(constant, j, q), uc_model_weight(explicit_column, j, q), 1e-9);
    }
    uc_model_free(explicit_column);
    uc_model_free(constant);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
    uc_dataset_free(&wide);
}

static uc_status train_status(uc_model **model, uc_dataset *data, const uc_noise *noise)
{
    uc_train_settings common = uc_train_defaults();
    common.noise = noise;
    const uc_context alone = {.threads = 1};
    uc_uma_settings settings = defaults();
    settings.iterations = 5;
    return uc_train(model, uc_learner_find("uma"), &settings, &common, data, &alone);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t K = 3; K <= 30; K += 27) { /* sums that are kept, and not */
        uc_dataset data = sample_data(K == 3 ? 30 : 12, 3, K, true, 6);
        uc_noise noise = noise_of(K, 3, 3);
        uc_model *model = NULL;
        uc_status status;
        FOR_EACH_FAILING_ALLOCATION(status, train_status(&model, &data, &noise));
        assert_int_equal(status, UC_OK);
        uc_model_free(model);
        uc_noise_free(&noise);
        uc_dataset_free(&data);
    }
}

static void sums_that_do_not_fit_are_refused_with_the_figure(void **state)
{
    (void)state;
    uc_dataset data = sample_data(300, 1000, 10, true, 6);
    uc_noise noise = noise_of(10, 3, 3);
    uc_train_settings common = uc_train_defaults();
    common.noise = &noise;
    common.overwrite = true; /* no copy of the data */
    uc_model *model = NULL;
    const uc_context small = {.threads = 1, .memory = 310000};
    assert_error_has(uc_train(&model, uc_learner_find("uma"), NULL, &common, &data, &small), UC_ERR_NOMEM,
                     "class sums of 1000 numbers needs");
    assert_null(model);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_incremental_form_takes_the_steps_of_the_naive_one),
        cmocka_unit_test(with_more_classes_than_rows_the_steps_are_still_those_of_the_naive_form),
        cmocka_unit_test(uniform_and_worst_steps_do_not_need_p_among_the_errors),
        cmocka_unit_test(every_length_of_a_run_returns_the_right_mean),
        cmocka_unit_test(from_zero_the_weights_of_all_classes_sum_to_zero),
        cmocka_unit_test(on_separable_data_the_perceptrons_bound_holds),
        cmocka_unit_test(the_pairs_add_up_to_one_convex_function),
        cmocka_unit_test(the_corrected_mean_is_unbiased),
        cmocka_unit_test(without_noise_it_is_the_class_sum_perceptron),
        cmocka_unit_test(relabelling_the_classes_relabels_the_answer),
        cmocka_unit_test(the_number_of_threads_does_not_change_a_bit),
        cmocka_unit_test(alpha_leaves_out_what_is_near_a_boundary),
        cmocka_unit_test(a_constant_feature_is_an_ordinary_column),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(sums_that_do_not_fit_are_refused_with_the_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
