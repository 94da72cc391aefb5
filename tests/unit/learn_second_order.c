/*
 * arow and scw: every round against the optimality conditions of the problem that it claims to solve, with
 * gradients taken by differences of an objective that is written out with explicit matrices.
 *
 *   min  KL(N(w, S) || N(w(old), S(old)))  +  f(l)  +  e u         u = x'S_y x + x'S_r x,  m = <w_y - w_r, x>
 *
 *   arow   l = 1 - m,             f = c/(2R) max(0, l)^2,                    e = c/(2R)
 *   scw    l = phi sqrt(u) - m,   f = C c max(0, l)  |  C c max(0, l)^2,     e = 0
 *
 * In w and the square root of S the problem is convex: (w, S) is its solution if for some b in the slope of f
 * at l the gradient of KL + e u + b l is zero.
 */
#include "tests/online_sample.h"

#include "learn/covariance.h"

enum { ROWS = 60, COLS = 3, SIZE = COLS + 1, CLASSES = 4 };
enum { AROW, SCW_1, SCW_2 };

typedef struct gaussian {
    double w[CLASSES][SIZE], S[CLASSES][SIZE][SIZE];
} gaussian;

typedef struct problem {
    int kind;
    bool full;
    double R, C, phi, weight; /* C: with the class weight */
    double x[SIZE];
    uint32_t y, r;
    gaussian before;
} problem;

/* ---- the objective ---- */

/* A = L L'; returns log det A. */
static double cholesky(double L[SIZE][SIZE], const double A[SIZE][SIZE])
{
    double log_det = 0.0;
    memset(L, 0, sizeof(double[SIZE][SIZE]));
    for (size_t j = 0; j < SIZE; j++)
        for (size_t i = j; i < SIZE; i++) {
            double sum = A[i][j];
            for (size_t k = 0; k < j; k++)
                sum -= L[i][k] * L[j][k];
            if (i == j) {
                assert_true(sum > 0.0);
                log_det += log(sum);
            }
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    return log_det;
}

/* b = A^-1 b for A = L L' */
static void solve(double *b, double L[SIZE][SIZE])
{
    for (size_t i = 0; i < SIZE; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= L[i][k] * b[k];
        b[i] /= L[i][i];
    }
    for (size_t i = SIZE; i-- > 0;) {
        for (size_t k = i + 1; k < SIZE; k++)
            b[i] -= L[k][i] * b[k];
        b[i] /= L[i][i];
    }
}

static double divergence(const gaussian *self, const gaussian *before, uint32_t k)
{
    double L[SIZE][SIZE], ignored[SIZE][SIZE], difference[SIZE], solved[SIZE];
    double sum = cholesky(L, before->S[k]) - cholesky(ignored, self->S[k]) - SIZE;
    for (size_t j = 0; j < SIZE; j++) {
        double column[SIZE];
        for (size_t i = 0; i < SIZE; i++)
            column[i] = self->S[k][i][j];
        solve(column, L);
        sum += column[j];
        difference[j] = solved[j] = self->w[k][j] - before->w[k][j];
    }
    solve(solved, L);
    for (size_t j = 0; j < SIZE; j++)
        sum += difference[j] * solved[j];
    return 0.5 * sum;
}

static double variance(const problem *self, const gaussian *at)
{
    double u = 0.0;
    for (size_t i = 0; i < SIZE; i++)
        for (size_t j = 0; j < SIZE; j++)
            u += self->x[i] * self->x[j] * (at->S[self->y][i][j] + at->S[self->r][i][j]);
    return u;
}

/* l before it is cut at 0. */
static double loss(const problem *self, const gaussian *at)
{
    double m = 0.0;
    for (size_t j = 0; j < SIZE; j++)
        m += self->x[j] * (at->w[self->y][j] - at->w[self->r][j]);
    return self->kind == AROW ? 1.0 - m : self->phi * sqrt(variance(self, at)) - m;
}

/* KL + e u */
static double smooth(const problem *self, const gaussian *at)
{
    const double e = self->kind == AROW ? self->weight / (2.0 * self->R) : 0.0;
    return divergence(at, &self->before, self->y) + divergence(at, &self->before, self->r) +
           e * variance(self, at);
}

static double objective(const problem *self, const gaussian *at)
{
    const double l = fmax(0.0, loss(self, at));
    const double f[] = {self->weight / (2.0 * self->R) * l * l, self->C * l, self->C * l * l};
    return smooth(self, at) + f[self->kind];
}

/* ---- gradients by differences ---- */

typedef double function(const problem *self, const gaussian *at);

/* `mirror`, if any, is the same entry of a symmetric matrix. */
static double slope(function *f, const problem *self, const gaussian *at, double *entry, double *mirror,
                    double step)
{
    const double value = *entry;
    double sides[2];
    for (int side = 0; side < 2; side++) {
        *entry = value + (side ? step : -step);
        if (mirror)
            *mirror = *entry;
        sides[side] = f(self, at);
    }
    *entry = value;
    if (mirror)
        *mirror = value;
    return (sides[1] - sides[0]) / (2.0 * step);
}

/* b, from the gradient along the weights, and whether it is a slope of f at l. */
static double multiplier(const problem *self, gaussian *at)
{
    double product = 0.0, square = 0.0;
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < SIZE; j++) {
            double *entry = &at->w[i ? self->r : self->y][j];
            const double of_l = slope(loss, self, at, entry, NULL, 1e-5);
            product -= of_l * slope(smooth, self, at, entry, NULL, 1e-5);
            square += of_l * of_l;
        }
    const double b = product / square, l = loss(self, at);
    if (self->kind == AROW)
        assert_near(b, self->weight / self->R * l, 1e-6 * (1.0 + b));
    if (self->kind == SCW_2)
        assert_near(b, 2.0 * self->C * l, 1e-6 * (1.0 + b));
    if (self->kind == SCW_1) {
        assert_true(b > 0.0 && b < self->C * (1.0 + 1e-6));
        assert_true(fabs(l) < 1e-9 || (l > 0.0 && b > self->C * (1.0 - 1e-6)));
    }
    return b;
}

/* The largest entry on the diagonal of S^-1: differences must be small compared with its inverse. */
static double sharpness(double S[SIZE][SIZE])
{
    double L[SIZE][SIZE], largest = 0.0;
    cholesky(L, (const double(*)[SIZE])S);
    for (size_t j = 0; j < SIZE; j++) {
        double column[SIZE] = {0};
        column[j] = 1.0;
        solve(column, L);
        largest = fmax(largest, column[j]);
    }
    return largest;
}

static void check_optimum(const problem *self, gaussian *at)
{
    const double b = multiplier(self, at);
    for (int i = 0; i < 2; i++) {
        const uint32_t k = i ? self->r : self->y;
        const double sharp = sharpness(at->S[k]), step = 1e-4 / sharp;
        for (size_t j = 0; j < SIZE; j++) {
            double *w = &at->w[k][j];
            const double of_w = slope(smooth, self, at, w, NULL, 1e-5),
                         of_l = slope(loss, self, at, w, NULL, 1e-5);
            assert_near(of_w + b * of_l, 0.0, 1e-5 * (1.0 + fabs(of_w)));
            for (size_t n = self->full ? 0 : j; n <= j; n++) {
                double *S = &at->S[k][j][n], *mirror = n == j ? S : &at->S[k][n][j];
                const double of_S = slope(smooth, self, at, S, mirror, step);
                assert_near(of_S + b * slope(loss, self, at, S, mirror, step), 0.0, 1e-6 * (b + sharp));
            }
        }
    }
}

/* And no Gaussian near or far is better. */
static void check_neighbours(const problem *self, const gaussian *at, uc_rng *rng)
{
    const double best = objective(self, at);
    for (int n = 0; n < 40; n++) {
        gaussian other = *at;
        const double scale = pow(10.0, -(double)(n % 5));
        for (int i = 0; i < 2; i++) {
            const uint32_t k = i ? self->r : self->y;
            const double stretch = exp(scale * uc_rng_normal(rng));
            for (size_t j = 0; j < SIZE; j++) {
                other.w[k][j] += scale * uc_rng_normal(rng);
                for (size_t c = 0; c < SIZE; c++)
                    other.S[k][j][c] *= stretch;
                other.S[k][j][j] *= exp(fabs(scale * uc_rng_normal(rng))); /* stays positive definite */
            }
        }
        assert_true(objective(self, &other) > best - 1e-10 * (1.0 + fabs(best)));
    }
}

/* ---- rounds ---- */

static void read_gaussian(gaussian *out, const uc_online *online, bool full, double scale)
{
    const uc_covariance *covariance = online->memory;
    memset(out, 0, sizeof *out);
    for (size_t k = 0; k < CLASSES; k++)
        for (size_t j = 0; j < SIZE; j++) {
            out->w[k][j] = online->plane[UC_WEIGHTS][j * online->stride + k];
            if (!full)
                out->S[k][j][j] = scale * online->plane[UC_OWN][j * online->stride + k];
            for (size_t i = 0; i < SIZE && full; i++) {
                const uc_metric *metric = &covariance->metric[k];
                out->S[k][i][j] = scale * (metric->inverse[i * metric->stride + j] -
                                           metric->factor * metric->pending[i] * metric->pending[j]);
            }
        }
}

static uint32_t best_wrong(const gaussian *at, const double *x, uint32_t y)
{
    uint32_t best = y;
    double highest = -INFINITY;
    for (uint32_t k = 0; k < CLASSES; k++) {
        double score = 0.0;
        for (size_t j = 0; j < SIZE; j++)
            score += at->w[k][j] * x[j];
        if (k != y && score > highest + 1e-12) {
            best = k;
            highest = score;
        }
    }
    return best;
}

static void check_others(const problem *self, const gaussian *after)
{
    for (uint32_t k = 0; k < CLASSES; k++)
        for (size_t j = 0; j < SIZE && k != self->y && k != self->r; j++) {
            assert_true(self->before.w[k][j] == after->w[k][j]);
            for (size_t i = 0; i < SIZE; i++)
                assert_true(self->before.S[k][i][j] == after->S[k][i][j]);
        }
}

/* ROWS rounds; returns how many changed something. */
static size_t check_rounds(const online_setup *setup, problem *self, uc_rng *rng, const double *weights)
{
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 3);
    uc_online *online = online_begin(setup, &data.classes, NULL);
    const double scale = self->kind == AROW ? self->R : 1.0, C = self->C;
    size_t updates = 0;
    assert_ok(uc_online_reserve(online, COLS));
    for (size_t i = 0; i < ROWS; i++) {
        gaussian after;
        const uc_row row = uc_matrix_row(&data.X, i);
        read_gaussian(&self->before, online, self->full, scale);
        self->y = data.y[i];
        self->weight = weights[self->y];
        self->C = C * self->weight;
        self->x[0] = setup->train.bias;
        for (size_t j = 0; j < COLS; j++)
            self->x[j + 1] = dense_value(row, j);
        self->r = best_wrong(&self->before, self->x, self->y);
        online_round(online, &data, i);
        read_gaussian(&after, online, self->full, scale);
        check_others(self, &after);
        if (uc_online_updates(online) > updates) {
            assert_true(loss(self, &self->before) > 0.0);
            check_optimum(self, &after);
            check_neighbours(self, &after, rng);
        } else {
            assert_true(loss(self, &self->before) < 1e-12);
            assert_memory_equal(after.w, self->before.w, sizeof after.w);
        }
        updates = uc_online_updates(online);
    }
    uc_online_free(online);
    uc_dataset_free(&data);
    return updates;
}

static void rounds_of_arow_solve_its_problem(void **state)
{
    (void)state;
    static const double regularizers[] = {0.01, 1.0, 30.0}, weights[] = {1.0, 0.5, 4.0, 1.3};
    uc_rng rng = uc_rng_make(1, 1);
    for (int n = 0; n < 12; n++) {
        problem self = {.kind = AROW, .full = n % 2, .R = regularizers[n / 2 % 3]};
        online_setup setup = {.learner = "arow",
                              .settings.arow = {.regularizer = self.R, .covariance = self.full},
                              .train = uc_train_defaults()};
        setup.train.bias = n % 4 < 2 ? 0.7 : 1e-3;
        setup.train.class_weights = weights;
        const size_t updates = check_rounds(&setup, &self, &rng, weights);
        assert_true(updates > 10);
    }
}

static void rounds_of_scw_solve_its_problem(void **state)
{
    (void)state;
    static const double costs[] = {0.01, 0.3, 20.0}, weights[] = {1.0, 0.5, 4.0, 1.3};
    static const double confidences[] = {0.6, 0.9, 0.99};
    static const double quantiles[] = {0.25334710313579972, 1.2815515655446004, 2.3263478740408408};
    uc_rng rng = uc_rng_make(2, 1);
    for (int n = 0; n < 36; n++) {
        problem self = {.kind = SCW_1 + n / 2 % 2,
                        .full = n % 2,
                        .C = costs[n / 4 % 3],
                        .phi = quantiles[n / 12],
                        .R = 1.0};
        online_setup setup = {.learner = "scw",
                              .settings.scw = {.variant = n / 2 % 2,
                                               .cost = self.C,
                                               .confidence = confidences[n / 12],
                                               .covariance = self.full},
                              .train = uc_train_defaults()};
        setup.train.bias = n % 3 ? 0.7 : 1e-3;
        setup.train.class_weights = weights;
        assert_true(check_rounds(&setup, &self, &rng, weights) > 10);
    }
}

/* With one part only, the closed forms of the paper: a row of one column, a wrong class of which all is
 * known. */
static void scw_has_the_closed_forms_of_the_paper(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b"};
    uc_names classes = sample_names(names, 2);
    const double phi = 1.2815515655446004, psi = 1.0 + phi * phi / 2.0, zeta = 1.0 + phi * phi, v = 0.8;
    for (int variant = 0; variant < 2; variant++) {
        const online_setup setup = {.learner = "scw",
                                    .settings.scw = {.variant = variant, .cost = 0.9, .confidence = 0.9},
                                    .train = uc_train_defaults()};
        uc_online *online = online_begin(&setup, &classes, NULL);
        assert_ok(uc_online_reserve(online, 1));
        const float one = 1.0f;
        const size_t at = online->stride;
        online->plane[UC_WEIGHTS][at] = 0.3;
        online->plane[UC_OWN][at] = v;
        online->plane[UC_OWN][at + 1] = 1e-300;
        online_round_on(online, (uc_row){1, &one, NULL}, 0);
        const double m = 0.3, n = v + 1.0 / (2.0 * 0.9);
        const double gamma = phi * sqrt(phi * phi * m * m * v * v + 4.0 * n * v * (n + v * phi * phi));
        double a = (-m * psi + sqrt(m * m * pow(phi, 4.0) / 4.0 + v * phi * phi * zeta)) / (v * zeta);
        if (variant == 1)
            a = (-(2.0 * m * n + phi * phi * m * v) + gamma) / (2.0 * (n * n + n * v * phi * phi));
        a = variant == 0 ? fmin(0.9, a) : a;
        const double root = 0.5 * (-a * v * phi + sqrt(a * a * v * v * phi * phi + 4.0 * v));
        const double beta = a * phi / (root + v * a * phi);
        assert_near(online->plane[UC_WEIGHTS][at], m + a * v, 1e-14);
        assert_near(online->plane[UC_OWN][at], v - beta * v * v, 1e-14);
        uc_online_free(online);
    }
    uc_names_free(&classes);
}

/* l = 1, v = 2/R = 4, a = 1/5: each class gains or loses a/R x = .4 x. */
static void a_round_of_arow_by_hand(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    uc_names classes = sample_names(names, 3);
    for (int full = 0; full < 2; full++) {
        const online_setup setup = {.learner = "arow",
                                    .settings.arow = {.regularizer = 0.5, .covariance = full},
                                    .train = uc_train_defaults()};
        uc_online *online = online_begin(&setup, &classes, NULL);
        const float values[2] = {0.0f, 1.0f};
        online_round_on(online, (uc_row){2, values, NULL}, 1);
        const double *w = online->plane[UC_WEIGHTS] + 2 * online->stride;
        assert_near(w[1], 0.4, 1e-15);
        assert_near(w[0], -0.4, 1e-15);
        assert_true(w[2] == 0.0 && w[0 - (ptrdiff_t)online->stride] == 0.0);
        online_round_on(online, (uc_row){2, values, NULL}, 1); /* against c: l = .6, v = 2/3 + 2 */
        w = online->plane[UC_WEIGHTS] + 2 * online->stride;
        assert_near(w[1], 0.4 + 0.6 / (11.0 / 3.0) * 2.0 / 3.0, 1e-14);
        assert_near(w[2], -0.6 / (11.0 / 3.0) * 2.0, 1e-14);
        uc_online_free(online);
    }
    uc_names_free(&classes);
}

/* ---- properties ---- */

/* Other names of the classes, another order of the columns. The weights start at random: no ties. */
static void other_orders_of_classes_and_columns_change_nothing(void **state)
{
    (void)state;
    online_setup setup;
    for (size_t s = 0; online_kind(&setup, s); s++) {
        if (strcmp(setup.learner, "arow") != 0 && strcmp(setup.learner, "scw") != 0)
            continue;
        uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 5);
        uc_online *online = online_begin(&setup, &data.classes, NULL),
                  *moved = online_begin(&setup, &data.classes, NULL);
        assert_ok(uc_online_reserve(online, COLS));
        assert_ok(uc_online_reserve(moved, COLS));
        uc_rng rng = uc_rng_make(7, s);
        for (size_t j = 0; j < COLS; j++)
            for (size_t k = 0; k < CLASSES; k++)
                online->plane[UC_WEIGHTS][(1 + j) * online->stride + k] =
                    moved->plane[UC_WEIGHTS][(1 + (j + 1) % COLS) * moved->stride + (3 * k + 1) % CLASSES] =
                        uc_rng_normal(&rng);
        for (size_t i = 0; i < ROWS; i++) {
            const uc_row row = uc_matrix_row(&data.X, i);
            float values[COLS];
            for (size_t j = 0; j < COLS; j++)
                values[(j + 1) % COLS] = row.values[j];
            const uint32_t proposed = online_round(online, &data, i);
            assert_int_equal(
                (3 * proposed + 1) % CLASSES,
                online_round_on(moved, (uc_row){COLS, values, NULL}, (3 * data.y[i] + 1) % CLASSES));
        }
        for (size_t j = 0; j < COLS; j++)
            for (size_t k = 0; k < CLASSES; k++)
                assert_near(
                    online->plane[UC_WEIGHTS][(1 + j) * online->stride + k],
                    moved->plane[UC_WEIGHTS][(1 + (j + 1) % COLS) * moved->stride + (3 * k + 1) % CLASSES],
                    1e-9);
        uc_online_free(online);
        uc_online_free(moved);
        uc_dataset_free(&data);
    }
}

/* ---- what is refused ---- */

static void refuse(const char *learner, const void *settings, const char *sentence)
{
    static const char *const names[] = {"a", "b"};
    uc_names classes = sample_names(names, 2);
    const uc_train_settings train = uc_train_defaults();
    uc_online *online = NULL;
    assert_error(uc_online_begin(&online, uc_learner_find(learner), settings, &train, &classes, NULL),
                 UC_ERR_OPTION, sentence);
    assert_null(online);
    uc_names_free(&classes);
}

static void bad_settings_are_refused_with_a_sentence(void **state)
{
    (void)state;
    refuse("arow", &(uc_arow_settings){.regularizer = 0.0},
           "{regularizer=0}: it must be from 1e-06 to 1000000000000");
    refuse("scw", &(uc_scw_settings){.cost = 0.0, .confidence = 0.9},
           "{cost=0}: it must be above 0 and at most 1000000000000");
    refuse("scw", &(uc_scw_settings){.cost = 1.0, .confidence = 0.5},
           "{confidence=0.5}: it must be above 0.5 and at most 0.999999");
    refuse("scw", &(uc_scw_settings){.cost = 1.0, .confidence = 1.0},
           "{confidence=1}: it must be above 0.5 and at most 0.999999");
}

static void full_matrices_are_for_few_dense_columns(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b"};
    uc_names classes = sample_names(names, 2);
    online_setup setups[2] = {
        {.learner = "arow", .settings.arow = {.regularizer = 1.0, .covariance = 1}},
        {.learner = "scw", .settings.scw = {.cost = 1.0, .confidence = 0.9, .covariance = 1}}};
    for (size_t s = 0; s < 2; s++) {
        setups[s].train = uc_train_defaults();
        uc_online *online = online_begin(&setups[s], &classes, NULL);
        assert_error(uc_online_expect(online, 2049, 1.0), UC_ERR_INVALID,
                     "{covariance=full} is for at most 2048 features, not 2049: use {covariance=diagonal}");
        assert_error(uc_online_expect(online, 10, 0.01), UC_ERR_INVALID,
                     "{covariance=full} is for dense rows: use {covariance=diagonal}");
        assert_ok(uc_online_expect(online, 20, 0.5));
        uc_online_free(online);
    }
    uc_names_free(&classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_of_arow_solve_its_problem),
        cmocka_unit_test(rounds_of_scw_solve_its_problem),
        cmocka_unit_test(scw_has_the_closed_forms_of_the_paper),
        cmocka_unit_test(a_round_of_arow_by_hand),
        cmocka_unit_test(other_orders_of_classes_and_columns_change_nothing),
        cmocka_unit_test(bad_settings_are_refused_with_a_sentence),
        cmocka_unit_test(full_matrices_are_for_few_dense_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
