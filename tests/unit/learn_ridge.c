/* Ridge regression for every lambda at once: leave-one-out against refitting without the row, weights
 * against a direct solution, both forms against each other. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "learn/ridge/path.h"
#include "linalg/linalg.h"

#define ROWS 60
#define CLASSES 3

static const double lambdas[] = {0.01, 1.0, 30.0};

typedef struct problem {
    uc_dataset data;
    double weights[ROWS], Y[ROWS * CLASSES];
} problem;

/* Targets that are not labels, and weights from .5 to 2.5. */
static void begin(problem *out, size_t cols, bool sparse, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 1);
    out->data = sample_data(ROWS, cols, CLASSES, sparse, seed);
    for (size_t i = 0; i < ROWS; i++) {
        out->weights[i] = 0.5 + 2.0 * uc_rng_uniform(&rng);
        for (size_t k = 0; k < CLASSES; k++)
            out->Y[i * CLASSES + k] = (out->data.y[i] == k) + 0.3 * uc_rng_normal(&rng);
    }
}

/* The minimum over w and b of the sum of r_i |y_i - b - w'x_i|^2 + lambda |w|^2 without row `out`, from
 * its normal equations; `w` is (1 + cols) x CLASSES, the offset first. */
static void solve_directly(double *w, const problem *self, const double *weights, double lambda,
                           size_t left_out)
{
    const size_t d = self->data.X.cols, m = d + 1;
    double *A = calloc(m * m, sizeof *A), *b = calloc(m * CLASSES, sizeof *b), *x = calloc(m, sizeof *x);
    for (size_t i = 0; i < ROWS; i++) {
        const uc_row row = uc_matrix_row(&self->data.X, i);
        memset(x, 0, m * sizeof *x);
        x[0] = 1.0;
        for (size_t j = 0; j < row.count; j++)
            x[1 + (row.columns ? row.columns[j] : j)] = (double)row.values[j];
        for (size_t a = 0; a < m && i != left_out; a++) {
            for (size_t c = 0; c < m; c++)
                A[a * m + c] += weights[i] * x[a] * x[c];
            for (size_t k = 0; k < CLASSES; k++)
                b[a * CLASSES + k] += weights[i] * x[a] * self->Y[i * CLASSES + k];
        }
    }
    for (size_t j = 1; j < m; j++)
        A[j * m + j] += lambda;
    assert_ok(uc_solve(w, A, b, m, CLASSES));
    free(x);
    free(b);
    free(A);
}

static double predict(const double *w, const problem *self, size_t i, size_t k)
{
    const uc_row row = uc_matrix_row(&self->data.X, i);
    double sum = w[k];
    for (size_t j = 0; j < row.count; j++)
        sum += w[(1 + (row.columns ? row.columns[j] : j)) * CLASSES + k] * (double)row.values[j];
    return sum;
}

/* Decomposed, or factored for the lambdas above. */
static uc_status make(uc_ridge *out, const problem *self, const double *weights, bool factored)
{
    const size_t count = sizeof lambdas / sizeof *lambdas;
    if (factored)
        return uc_ridge_factor(out, &self->data.X, weights, lambdas, count, count, NULL);
    return uc_ridge_decompose(out, &self->data.X, weights, NULL);
}

static void check_leave_one_out(size_t cols, bool sparse, bool weighted, bool factored)
{
    problem self;
    begin(&self, cols, sparse, 3 + cols);
    double ones[ROWS], *L = calloc(ROWS * CLASSES, sizeof *L), *w = calloc((cols + 1) * CLASSES, sizeof *w);
    for (size_t i = 0; i < ROWS; i++)
        ones[i] = 1.0;
    uc_ridge ridge = {0};
    uc_ridge_targets targets = {0};
    assert_ok(make(&ridge, &self, weighted ? self.weights : NULL, factored));
    assert_int_equal(ridge.vectors == NULL && ridge.factors == NULL, sparse && cols > ROWS);
    assert_ok(uc_ridge_project(&targets, &ridge, self.Y, CLASSES));
    for (size_t l = 0; l < sizeof lambdas / sizeof *lambdas; l++) {
        assert_ok(uc_ridge_leave_one_out(L, &ridge, &targets, lambdas[l]));
        for (size_t i = 0; i < ROWS; i += 7) {
            solve_directly(w, &self, weighted ? self.weights : ones, lambdas[l], i);
            for (size_t k = 0; k < CLASSES; k++)
                assert_near(L[i * CLASSES + k], predict(w, &self, i, k), 1e-10);
        }
    }
    uc_ridge_targets_free(&targets);
    uc_ridge_free(&ridge);
    uc_dataset_free(&self.data);
    free(w);
    free(L);
}

static void leave_one_out_is_refitting_without_the_row(void **state)
{
    (void)state;
    for (int weighted = 0; weighted < 2; weighted++)
        for (int factored = 0; factored < 2; factored++) {
            check_leave_one_out(8, false, weighted, factored);
            check_leave_one_out(8, true, weighted, factored);
            check_leave_one_out(90, true, weighted, factored); /* the dual form, decomposed in either case */
            check_leave_one_out(90, false, weighted, factored);
        }
}

static void the_weights_are_those_of_the_normal_equations(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        problem self;
        const size_t S = uc_class_stride(CLASSES), cols = form % 2 ? 90 : 8;
        begin(&self, cols, true, 5);
        double *w = calloc((cols + 1) * CLASSES, sizeof *w), *W = calloc((cols + 1) * S, sizeof *W);
        uc_ridge ridge = {0};
        uc_ridge_targets targets = {0};
        assert_ok(make(&ridge, &self, self.weights, form / 2));
        assert_ok(uc_ridge_project(&targets, &ridge, self.Y, CLASSES));
        assert_ok(uc_ridge_weights(W + S, W, S, &ridge, &targets, lambdas[1]));
        solve_directly(w, &self, self.weights, lambdas[1], ROWS);
        for (size_t j = 0; j <= cols; j++)
            for (size_t k = 0; k < CLASSES; k++)
                assert_near(W[j * S + k], w[j * CLASSES + k], 1e-9);
        uc_ridge_targets_free(&targets);
        uc_ridge_free(&ridge);
        uc_dataset_free(&self.data);
        free(W);
        free(w);
    }
}

/* A weight of 2 is the row twice. */
static void a_weight_counts_rows(void **state)
{
    (void)state;
    const size_t cols = 6, S = uc_class_stride(CLASSES);
    problem self;
    begin(&self, cols, false, 9);
    size_t rows[ROWS + ROWS / 3], count = 0;
    double weights[ROWS], Y[(ROWS + ROWS / 3) * CLASSES], W[2][8 * 4] = {{0}};
    for (size_t i = 0; i < ROWS; i++)
        for (int copy = 0; copy < (i % 3 == 0 ? 2 : 1); copy++) {
            weights[i] = i % 3 == 0 ? 2.0 : 1.0;
            memcpy(Y + count * CLASSES, self.Y + i * CLASSES, CLASSES * sizeof *Y);
            rows[count++] = i;
        }
    uc_matrix repeated = {0};
    assert_ok(uc_matrix_subset(&repeated, &self.data.X, rows, count, NULL));
    for (int twice = 0; twice < 2; twice++) {
        uc_ridge ridge = {0};
        uc_ridge_targets targets = {0};
        assert_ok(uc_ridge_decompose(&ridge, twice ? &repeated : &self.data.X, twice ? NULL : weights, NULL));
        assert_ok(uc_ridge_project(&targets, &ridge, twice ? Y : self.Y, CLASSES));
        assert_ok(uc_ridge_weights(W[twice] + S, W[twice], S, &ridge, &targets, 2.0));
        uc_ridge_targets_free(&targets);
        uc_ridge_free(&ridge);
    }
    for (size_t i = 0; i < (cols + 1) * S; i++)
        assert_near(W[0][i], W[1][i], 1e-10);
    uc_matrix_free(&repeated);
    uc_dataset_free(&self.data);
}

/* The criterion of the path, added up from leave-one-out predictions for each lambda by itself. */
static void the_path_adds_up(void **state)
{
    (void)state;
    problem self;
    begin(&self, 8, false, 11);
    double Y[ROWS * CLASSES], L[ROWS * CLASSES];
    uc_ridge ridge = {0};
    uc_ridge_targets targets = {0};
    uc_ridge_path path;
    uc_ridge_label_targets(Y, self.data.y, ROWS, CLASSES);
    assert_ok(uc_ridge_decompose(&ridge, &self.data.X, self.weights, NULL));
    assert_ok(uc_ridge_project(&targets, &ridge, Y, CLASSES));
    assert_ok(uc_ridge_try_lambdas(&path, &ridge, &targets, self.data.y, 3.0));
    for (size_t l = 0; l < UC_RIDGE_LAMBDAS; l++) {
        double squared = 0.0, wrong = 0.0, total = 0.0;
        assert_near_relative(path.lambda[l], 3.0 * pow(10.0, -3.0 + 0.5 * (double)l), 1e-12);
        assert_ok(uc_ridge_leave_one_out(L, &ridge, &targets, path.lambda[l]));
        for (size_t i = 0; i < ROWS; i++) {
            total += self.weights[i];
            for (size_t k = 0; k < CLASSES; k++)
                squared += self.weights[i] * pow(Y[i * CLASSES + k] - L[i * CLASSES + k], 2.0);
            if (uc_argmax(L + i * CLASSES, CLASSES) != self.data.y[i])
                wrong += self.weights[i];
        }
        assert_near(path.squared[l], squared / total, 1e-10);
        assert_near(path.error[l], wrong / total, 1e-12);
        assert_true(path.criterion[path.best] <= path.criterion[l]);
    }
    uc_ridge_targets_free(&targets);
    uc_ridge_free(&ridge);
    uc_dataset_free(&self.data);
}

static void every_allocation_of_a_factor_may_fail(void **state)
{
    (void)state;
    problem self;
    uc_ridge ridge = {0};
    uc_status status;
    begin(&self, 6, false, 4);
    FOR_EACH_FAILING_ALLOCATION(status, make(&ridge, &self, self.weights, true));
    uc_ridge_free(&ridge);
    uc_dataset_free(&self.data);
}

/* ---- the learner ---- */

static uc_status train(uc_model **out, const uc_ridge_settings *settings, const uc_dataset *data)
{
    uc_dataset copy = {0};
    uc_status status = uc_dataset_subset(&copy, data, NULL, 0, NULL);
    if (status == UC_OK)
        status = uc_train(out, uc_learner_find("ridge"), settings, NULL, &copy, NULL);
    uc_dataset_free(&copy);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = sample_data(40, sparse ? 70 : 5, CLASSES, sparse, 2);
        uc_model *model = NULL;
        uc_status status;
        FOR_EACH_FAILING_ALLOCATION(status, train(&model, NULL, &data));
        uc_model_free(model);
        uc_dataset_free(&data);
    }
}

static void a_lambda_of_0_is_refused(void **state)
{
    (void)state;
    uc_dataset data = sample_data(40, 5, CLASSES, false, 2);
    uc_model *model = NULL;
    const uc_ridge_settings settings = {.lambda = 0.0};
    assert_error_has(train(&model, &settings, &data), UC_ERR_OPTION, "0");
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leave_one_out_is_refitting_without_the_row),
        cmocka_unit_test(the_weights_are_those_of_the_normal_equations),
        cmocka_unit_test(a_weight_counts_rows),
        cmocka_unit_test(the_path_adds_up),
        cmocka_unit_test(every_allocation_of_a_factor_may_fail),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_lambda_of_0_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
