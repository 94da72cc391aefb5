/* Views, axes, fits and the guard of `audit`, each by itself: distances, coordinates and scores compared with
 * their definitions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"

#include "learn/audit/views.h"
#include "linalg/linalg.h"

#define N 40
#define COLS 4
#define K 3

typedef struct problem {
    uc_matrix X;
    uint32_t y[N];
    double R[N * K];
    uc_annotations annotations;
    uc_labelled labelled;
} problem;

static void draw(problem *self)
{
    uc_rng rng = uc_rng_make(3, 21);
    *self = (problem){0};
    assert_ok(uc_matrix_create_dense(&self->X, N, COLS));
    for (size_t i = 0; i < N; i++) {
        self->y[i] = (uint32_t)(i % K);
        for (size_t j = 0; j < COLS; j++)
            self->X.values[i * self->X.stride + j] =
                (float)(uc_rng_normal(&rng) + (j == self->y[i] ? 2.0 : 0.5));
        for (size_t k = 0; k < K; k++)
            self->R[i * K + k] = k == self->y[i] ? 0.8 : 0.1;
    }
    assert_ok(uc_annotations_of_labels(&self->annotations, self->y, N, K, NULL));
    self->labelled = (uc_labelled){.annotations = &self->annotations};
    assert_ok(uc_labelled_weigh(&self->labelled));
}

static void release(problem *self)
{
    uc_annotations_free(&self->annotations);
    uc_matrix_free(&self->X);
}

/* A row as the view sees it, by the definition. */
static void slow_row(double *out, const problem *self, size_t row, uc_audit_view_kind kind)
{
    double norm = 0.0;
    for (size_t j = 0; j < COLS; j++) {
        const double x = (double)self->X.values[row * self->X.stride + j];
        double mean = 0.0, squares = 0.0;
        for (size_t i = 0; i < N; i++)
            mean += (double)self->X.values[i * self->X.stride + j] / N;
        for (size_t i = 0; i < N; i++)
            squares += pow((double)self->X.values[i * self->X.stride + j] - mean, 2.0) / N;
        out[j] = x;
        if (kind == UC_AUDIT_VIEW_STANDARD)
            out[j] = (x - mean) / sqrt(squares);
        if (kind == UC_AUDIT_VIEW_ROOT)
            out[j] = copysign(sqrt(fabs(x)), x);
        norm += out[j] * out[j];
    }
    for (size_t j = 0; j < COLS && kind != UC_AUDIT_VIEW_STANDARD; j++)
        out[j] /= sqrt(norm);
}

static int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void distances_are_those_of_the_views(void **state)
{
    (void)state;
    problem self;
    draw(&self);
    for (int kind = UC_AUDIT_VIEW_UNIT; kind <= UC_AUDIT_VIEW_ROOT; kind++) {
        uc_audit_rows rows = {0};
        double values[N * N], a[COLS], b[COLS], pairs[N * N];
        size_t count = 0;
        assert_ok(uc_audit_rows_make(&rows, (uc_audit_view_kind)kind, &self.X, &self.X, &self.labelled));
        double *work = calloc(uc_audit_view_work(&rows, N) + 1, sizeof *work);
        uc_audit_view_kernel(values, &rows, &self.X, 0, N, 0.0, work);
        for (size_t i = 0; i < N; i++)
            for (size_t l = 0; l < N; l++) {
                double want = 0.0;
                slow_row(a, &self, i, (uc_audit_view_kind)kind);
                slow_row(b, &self, l, (uc_audit_view_kind)kind);
                for (size_t j = 0; j < COLS; j++)
                    want += (a[j] - b[j]) * (a[j] - b[j]);
                assert_near(values[i * N + l], want, 1e-9);
                if (i < l && want > 1e-12)
                    pairs[count++] = want;
            }
        qsort(pairs, count, sizeof *pairs, compare_reals);
        const double median = 0.5 * (pairs[(count - 1) / 2] + pairs[count / 2]);
        assert_near(rows.median, median, 1e-9);
        double kernel[N * N];
        uc_audit_view_kernel(kernel, &rows, &self.X, 0, N, 2.0, work);
        for (size_t i = 0; i < N * N; i++)
            assert_near(kernel[i], exp(-values[i] / 2.0), 1e-9);
        free(work);
        uc_audit_rows_free(&rows);
    }
    release(&self);
}

/* The view `standard` does not depend on the units of the columns. The powers of two and shifts are exact in
 * floats. */
static void the_scale_of_columns_does_not_matter(void **state)
{
    (void)state;
    problem self, other;
    uc_audit_rows rows = {0}, others = {0};
    double a[N * N], b[N * N];
    draw(&self);
    draw(&other);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < COLS; j++) {
            float *x = &self.X.values[i * self.X.stride + j];
            *x = roundf(*x * 1024.0f) / 1024.0f;
            other.X.values[i * other.X.stride + j] = ldexpf(*x + (float)j, 3 * (int)j - 4);
        }
    assert_ok(uc_audit_rows_make(&rows, UC_AUDIT_VIEW_STANDARD, &self.X, &self.X, &self.labelled));
    assert_ok(uc_audit_rows_make(&others, UC_AUDIT_VIEW_STANDARD, &other.X, &other.X, &other.labelled));
    double *work = calloc(uc_audit_view_work(&rows, N) + 1, sizeof *work);
    uc_audit_view_kernel(a, &rows, &self.X, 0, N, 0.0, work);
    uc_audit_view_kernel(b, &others, &other.X, 0, N, 0.0, work);
    for (size_t i = 0; i < N * N; i++)
        assert_near(a[i], b[i], 1e-9);
    assert_near(rows.median, others.median, 1e-9);
    free(work);
    uc_audit_rows_free(&rows);
    uc_audit_rows_free(&others);
    release(&self);
    release(&other);
}

static void axes_are_uncorrelated_and_leverage_is_bounded(void **state)
{
    (void)state;
    problem self;
    uc_audit_rows rows = {0};
    uc_audit_view view = {0};
    double leverage = 0.0;
    draw(&self);
    assert_ok(uc_audit_rows_make(&rows, UC_AUDIT_VIEW_STANDARD, &self.X, &self.X, &self.labelled));
    assert_ok(uc_audit_view_make(&view, &rows, &self.X, &self.labelled, 1.0, 8, NULL));
    assert_int_equal(view.axes, 8);
    for (size_t d = 0; d < 8; d++)
        for (size_t e = 0; e <= d; e++) {
            double mean = 0.0, product = 0.0;
            for (size_t i = 0; i < N; i++) {
                mean += view.A[i * 8 + d] / N;
                product += view.A[i * 8 + d] * view.A[i * 8 + e] / N;
            }
            assert_near(mean, 0.0, 1e-9);
            assert_near(product, d == e ? view.w[d] : 0.0, 1e-9);
            assert_true(d == 0 || view.w[d] <= view.w[d - 1]);
        }
    for (size_t i = 0; i < N; i++) {
        double h = 1.0 / N;
        for (size_t d = 0; d < 8; d++)
            h += (1.0 - view.s) / N * view.A[i * 8 + d] * view.A[i * 8 + d] * view.q[d];
        assert_near(view.h[i], fmin(h, 0.95), 1e-9);
        leverage += (h - 1.0 / N) / N;
    }
    assert_true(leverage <= 0.1 + 1e-9 || view.s >= 0.8);
    uc_audit_view_free(&view);
    uc_audit_rows_free(&rows);
    release(&self);
}

/* W from the covariance within classes, inverted as a whole: no Woodbury. */
static void a_fit_is_that_of_the_inverse_covariance(void **state)
{
    (void)state;
    enum { D = 6 };
    problem self;
    uc_audit_rows rows = {0};
    uc_audit_view view = {0};
    uc_audit_view_fit fit = {0};
    double M[K * D] = {0}, c[K] = {0}, S[D * D] = {0}, T[D * D], W[D * K], B[D * K];
    draw(&self);
    assert_ok(uc_audit_rows_make(&rows, UC_AUDIT_VIEW_UNIT, &self.X, &self.X, &self.labelled));
    assert_ok(uc_audit_view_make(&view, &rows, &self.X, &self.labelled, 1.0, D, NULL));
    assert_int_equal(view.axes, D);
    assert_ok(uc_audit_view_fit_make(&fit, &view, &self.labelled, self.R));
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < K; k++) {
            c[k] += self.R[i * K + k];
            for (size_t d = 0; d < D; d++)
                M[k * D + d] += self.R[i * K + k] * view.A[i * D + d];
        }
    for (size_t k = 0; k < K; k++)
        for (size_t d = 0; d < D; d++)
            M[k * D + d] /= c[k] + 1e-9;
    for (size_t d = 0; d < D; d++)
        for (size_t e = 0; e < D; e++) {
            S[d * D + e] = d == e ? 1.0 / view.q[d] : 0.0;
            for (size_t k = 0; k < K; k++)
                S[d * D + e] -= (1.0 - view.s) * (c[k] + 1e-9) / N * M[k * D + d] * M[k * D + e];
        }
    memcpy(T, S, sizeof T);
    for (size_t k = 0; k < K; k++)
        for (size_t d = 0; d < D; d++)
            B[d * K + k] = M[k * D + d];
    assert_ok(uc_solve(W, T, B, D, K));
    for (size_t k = 0; k < K; k++) {
        double offset = 0.0;
        for (size_t d = 0; d < D; d++) {
            assert_near(fit.W[k * D + d], W[d * K + k], 1e-7 * (1.0 + fabs(W[d * K + k])));
            offset -= 0.5 * W[d * K + k] * M[k * D + d];
        }
        assert_near(fit.b[k], offset, 1e-7 * (1.0 + fabs(offset)));
    }
    uc_audit_view_fit_free(&fit);
    uc_audit_view_free(&view);
    uc_audit_rows_free(&rows);
    release(&self);
}

/* Leave-one-out. E of fit.c is a ridge regression of R on the coordinates, with a free intercept:
 *
 *   (1 - s) q_d / n = 1 / (n w_d + penalty),  penalty = n s mean(w) / (1 - s),   and f + E_i its prediction,
 *
 * so that f + E_i of the fit without row i is the prediction of the same regression of all other rows, as
 * long as the row's leverage is below its bound. U and b, the covariance and offsets of all rows, stay. */
#define AXES 6

typedef struct regression {
    double gram[(AXES + 1) * (AXES + 1)], right[(AXES + 1) * K], solution[(AXES + 1) * K];
} regression;

/* Of all rows but `left`, by the normal equations; coordinate AXES is the constant. */
static void predict_without(double *out, const uc_audit_view *view, const double *R, const double *weights,
                            double penalty, size_t left)
{
    enum { P = AXES + 1 };
    regression self = {0};
    double x[P];
    for (size_t i = 0; i < N; i++) {
        const double weight = weights ? weights[i] : 1.0;
        memcpy(x, view->A + i * AXES, AXES * sizeof *x);
        x[AXES] = 1.0;
        for (size_t d = 0; d < P && i != left; d++) {
            for (size_t e = 0; e < P; e++)
                self.gram[d * P + e] += weight * x[d] * x[e];
            for (size_t k = 0; k < K; k++)
                self.right[d * K + k] += weight * x[d] * R[i * K + k];
        }
    }
    for (size_t d = 0; d < AXES; d++)
        self.gram[d * P + d] += penalty;
    assert_ok(uc_solve(self.solution, self.gram, self.right, P, K));
    for (size_t k = 0; k < K; k++) {
        out[k] = self.solution[AXES * K + k];
        for (size_t d = 0; d < AXES; d++)
            out[k] += view->A[left * AXES + d] * self.solution[d * K + k];
    }
}

static void check_rows_left_out(const problem *self)
{
    uc_audit_rows rows = {0};
    uc_audit_view view = {0};
    uc_audit_view_fit fit = {0};
    double S[N * K] = {0}, mean = 0.0, without[K];
    assert_ok(uc_audit_rows_make(&rows, UC_AUDIT_VIEW_STANDARD, &self->X, &self->X, &self->labelled));
    assert_ok(uc_audit_view_make(&view, &rows, &self->X, &self->labelled, 1.0, AXES, NULL));
    assert_int_equal(view.axes, AXES);
    assert_ok(uc_audit_view_fit_make(&fit, &view, &self->labelled, self->R));
    assert_ok(uc_audit_view_leave_one_out(S, &fit, &view, &self->labelled, self->R, 1.0));
    for (size_t d = 0; d < AXES; d++)
        mean += view.w[d] / AXES;
    const double penalty = self->labelled.total_weight * view.s * mean / (1.0 - view.s);
    for (size_t i = 0; i < N; i++) {
        assert_true(view.h[i] < 0.95);
        predict_without(without, &view, self->R, self->labelled.weights, penalty, i);
        for (size_t k = 0; k < K; k++) {
            double want = fit.b[k];
            for (size_t l = 0; l < K; l++)
                want += fit.U[k * K + l] * (without[l] - fit.f[l]) / fit.f[l] / (1.0 - view.s);
            assert_near(S[i * K + k], want, 1e-7 * (1.0 + fabs(want)));
        }
    }
    uc_audit_view_fit_free(&fit);
    uc_audit_view_free(&view);
    uc_audit_rows_free(&rows);
}

static void a_row_left_out_is_that_of_a_fit_without_it(void **state)
{
    (void)state;
    problem self;
    double weights[N];
    draw(&self);
    check_rows_left_out(&self);
    for (size_t i = 0; i < N; i++)
        weights[i] = 0.5 + (double)(i % 4);
    self.labelled.weights = weights;
    assert_ok(uc_labelled_weigh(&self.labelled));
    check_rows_left_out(&self);
    release(&self);
}

static void the_guard_is_the_share_that_the_path_has_lost(void **state)
{
    (void)state;
    const uc_path risen = {.top = -1.0, .last = -1.0, .prior = -2.0};
    const uc_path fallen = {.top = -1.0, .last = -1.1, .prior = -2.0};
    const uc_path nothing = {.top = -2.0, .last = -2.0, .prior = -2.0};
    assert_near(uc_path_loss(&risen), 0.0, 0.0);
    assert_near(uc_path_loss(&fallen), 0.1, 1e-12);
    assert_true(isnan(uc_path_loss(&nothing)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_of_the_views),
        cmocka_unit_test(the_scale_of_columns_does_not_matter),
        cmocka_unit_test(axes_are_uncorrelated_and_leverage_is_bounded),
        cmocka_unit_test(a_fit_is_that_of_the_inverse_covariance),
        cmocka_unit_test(a_row_left_out_is_that_of_a_fit_without_it),
        cmocka_unit_test(the_guard_is_the_share_that_the_path_has_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
