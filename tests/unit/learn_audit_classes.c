/* Fits of `audit` with more classes than axes, which invert the covariance within classes itself, compared
 * with the formulas for few classes, which solve for K x K matrices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"

#include "learn/audit/views.h"
#include "linalg/linalg.h"

#define N ((size_t)600)
#define SOME 80
#define COLS 6
#define K ((size_t)40)
#define EMPTY ((size_t)7) /* the class that no row has */

typedef struct problem {
    uc_matrix X;
    uint32_t *y;
    double *R, *weights;
    uc_annotations annotations;
    uc_labelled labelled;
    uc_audit_rows rows;
    uc_audit_view view;
} problem;

static void draw(problem *self, bool weighted)
{
    uc_rng rng = uc_rng_make(4, 17);
    *self = (problem){.y = calloc(N, sizeof *self->y),
                      .R = calloc(N * K, sizeof *self->R),
                      .weights = calloc(N, sizeof *self->weights)};
    assert_ok(uc_matrix_create_dense(&self->X, N, COLS));
    for (size_t i = 0; i < N; i++) {
        double sum = 0.0;
        self->y[i] = (uint32_t)((i % K) == EMPTY ? 0 : i % K);
        self->weights[i] = 0.5 + uc_rng_uniform(&rng);
        for (size_t j = 0; j < COLS; j++)
            self->X.values[i * self->X.stride + j] =
                (float)(uc_rng_normal(&rng) + sin((double)(self->y[i] * (j + 1))));
        for (size_t k = 0; k < K; k++) {
            const double share = uc_rng_uniform(&rng) / (double)K + (double)(k == self->y[i]);
            self->R[i * K + k] = k == EMPTY ? 0.0 : share;
            sum += self->R[i * K + k];
        }
        for (size_t k = 0; k < K; k++)
            self->R[i * K + k] /= sum;
    }
    assert_ok(uc_annotations_of_labels(&self->annotations, self->y, N, K, NULL));
    self->labelled = (uc_labelled){.annotations = &self->annotations};
    if (weighted)
        self->labelled.weights = self->weights;
    assert_ok(uc_labelled_weigh(&self->labelled));
}

/* `single`: coordinates are stored in single precision, as those of many rows are. */
static void see(problem *self, size_t axes, bool single)
{
    uc_some_rows some = {0};
    assert_ok(uc_some_rows_draw(&some, &self->X, &self->labelled, SOME, 3));
    assert_ok(uc_audit_rows_make(&self->rows, UC_AUDIT_VIEW_STANDARD, &self->X, &some.X, &self->labelled));
    assert_ok(uc_audit_view_make(&self->view, &self->rows, &self->X, &self->labelled, 1.0, axes,
                                 single ? &some : NULL));
    assert_int_equal(self->view.axes, axes);
    assert_true(single == (self->view.A == NULL));
    uc_some_rows_free(&some);
}

static void release(problem *self)
{
    uc_audit_view_free(&self->view);
    uc_audit_rows_free(&self->rows);
    uc_annotations_free(&self->annotations);
    uc_matrix_free(&self->X);
    free(self->weights);
    free(self->R);
    free(self->y);
}

/* ---- the formulas for few classes ---- */

typedef struct slow_fit {
    double *A; /* N x D */
    double *M, *H, *W, *U;
    double c[K], f[K], b[K];
} slow_fit;

/* Coordinates in double precision; a = (b - mean) turn. */
static double *coordinates_of(const uc_audit_view *view)
{
    const size_t D = view->axes;
    double *A = calloc(N * D, sizeof *A), *centred = calloc(N * D, sizeof *centred);
    for (size_t i = 0; i < N * D && view->B; i++)
        centred[i] = view->B[i] - view->mean[i % D];
    if (view->B)
        uc_multiply(A, centred, view->turn, N, D, D);
    else
        memcpy(A, view->A, N * D * sizeof *A);
    free(centred);
    return A;
}

static void find_means(slow_fit *self, const problem *of)
{
    const size_t D = of->view.axes;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < K; k++) {
            const double weight = of->labelled.weights ? of->labelled.weights[i] : 1.0;
            self->c[k] += weight * of->R[i * K + k];
            for (size_t d = 0; d < D; d++)
                self->M[k * D + d] += weight * of->R[i * K + k] * self->A[i * D + d];
        }
    for (size_t k = 0; k < K; k++) {
        self->c[k] += 1e-9;
        self->f[k] = self->c[k] / of->labelled.total_weight;
        for (size_t d = 0; d < D; d++) {
            self->M[k * D + d] /= self->c[k];
            self->H[k * D + d] = self->M[k * D + d] * of->view.q[d];
        }
    }
}

static void find_correction(slow_fit *self, const uc_audit_view *view)
{
    const size_t D = view->axes;
    double *G = calloc(K * K, sizeof *G), *B = calloc(K * K, sizeof *B), *X = calloc(K * K, sizeof *X);
    for (size_t k = 0; k < K; k++)
        for (size_t l = 0; l < K; l++) {
            G[k * K + l] = uc_dot(self->H + k * D, self->M + l * D, D);
            B[k * K + l] = (k == l ? 1.0 / ((1.0 - view->s) * self->f[k]) : 0.0) - G[k * K + l];
        }
    assert_ok(uc_solve(X, B, G, K, K));
    for (size_t k = 0; k < K; k++)
        for (size_t l = 0; l < K; l++)
            self->U[k * K + l] = X[l * K + k] + (k == l ? 1.0 : 0.0);
    uc_multiply(self->W, self->U, self->H, K, K, D);
    for (size_t k = 0; k < K; k++)
        self->b[k] = -0.5 * uc_dot(self->W + k * D, self->M + k * D, D);
    free(X);
    free(B);
    free(G);
}

static void make_slowly(slow_fit *out, const problem *of)
{
    const size_t D = of->view.axes;
    *out = (slow_fit){.A = coordinates_of(&of->view),
                      .M = calloc(K * D, sizeof(double)),
                      .H = calloc(K * D, sizeof(double)),
                      .W = calloc(K * D, sizeof(double)),
                      .U = calloc(K * K, sizeof(double))};
    find_means(out, of);
    find_correction(out, &of->view);
}

static void free_slow(slow_fit *self)
{
    free(self->A);
    free(self->M);
    free(self->H);
    free(self->W);
    free(self->U);
}

/* The leave-one-out scores of a row. */
static void score_slowly(double *S, const slow_fit *self, const problem *of, size_t row)
{
    const size_t D = of->view.axes;
    const double s = of->view.s, h = of->view.h[row];
    double E[K];
    for (size_t k = 0; k < K; k++) {
        const double own = (1.0 - s) * self->f[k] * uc_dot(self->A + row * D, self->H + k * D, D);
        E[k] = (own - h * (of->R[row * K + k] - self->f[k])) / (1.0 - h) / self->f[k] / (1.0 - s);
    }
    for (size_t k = 0; k < K; k++)
        S[k] = uc_dot(self->U + k * K, E, K) + self->b[k];
}

/* ---- tests ---- */

/* `near` is relative to 1 + the value. */
static void check(const problem *self, double near)
{
    const size_t D = self->view.axes;
    uc_audit_view_fit fit = {0};
    slow_fit slow;
    double *S = calloc(N * K, sizeof *S), want[K];
    make_slowly(&slow, self);
    assert_ok(uc_audit_view_fit_make(&fit, &self->view, &self->labelled, self->R));
    assert_ok(uc_audit_view_leave_one_out(S, &fit, &self->view, &self->labelled, self->R, 1.0));
    assert_true((fit.U != NULL) == (K <= D));
    for (size_t i = 0; i < K * D; i++)
        assert_near(fit.W[i], slow.W[i], near * (1.0 + fabs(slow.W[i])));
    for (size_t k = 0; k < K; k++)
        assert_near(fit.b[k], slow.b[k], near * (1.0 + fabs(slow.b[k])));
    for (size_t i = 0; i < N; i++) {
        score_slowly(want, &slow, self, i);
        for (size_t k = 0; k < K; k++)
            assert_near(S[i * K + k], want[k], near * (1.0 + fabs(want[k])));
    }
    uc_audit_view_fit_free(&fit);
    free_slow(&slow);
    free(S);
}

static void check_axes(size_t axes, bool single, double near)
{
    for (int weighted = 0; weighted < 2; weighted++) {
        problem self;
        draw(&self, weighted);
        see(&self, axes, single);
        check(&self, near);
        release(&self);
    }
}

static void more_classes_than_axes_have_the_fit_of_few(void **state)
{
    (void)state;
    check_axes(5, false, 1e-10);
    check_axes(K - 1, false, 1e-10);
    check_axes(K, false, 1e-10);
}

static void they_have_it_in_single_precision(void **state)
{
    (void)state;
    check_axes(5, true, 1e-4);
    check_axes(K - 1, true, 1e-4);
    check_axes(K, true, 1e-4);
}

static uc_status score(double *S, const problem *self, unsigned threads)
{
    const uc_context context = {.threads = threads};
    uc_labelled labelled = self->labelled;
    double pi[K];
    labelled.context = &context;
    return uc_audit_scores(S, pi, &self->view, 1, &labelled, self->R);
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    double *one = calloc(N * K, sizeof *one), *three = calloc(N * K, sizeof *three);
    for (int single = 0; single < 2; single++) {
        problem self;
        draw(&self, false);
        see(&self, 9, single);
        assert_ok(score(one, &self, 1));
        assert_ok(score(three, &self, 3));
        assert_memory_equal(one, three, N * K * sizeof *one);
        release(&self);
    }
    free(three);
    free(one);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    double *S = calloc(N * K, sizeof *S);
    for (int single = 0; single < 2; single++) {
        problem self;
        uc_status status;
        draw(&self, true);
        see(&self, 9, single);
        FOR_EACH_FAILING_ALLOCATION(status, score(S, &self, 1));
        release(&self);
    }
    free(S);
}

/* More than 900 classes: N and P from their definitions. */
static void many_classes_are_counted_by_columns(void **state)
{
    (void)state;
    enum { MANY = 1000, ROWS = 700 };
    double *R = calloc((size_t)ROWS * MANY, sizeof *R), *counts = calloc((size_t)MANY * MANY, sizeof *counts);
    uint32_t y[ROWS];
    double weights[ROWS];
    uc_rng rng = uc_rng_make(6, 2);
    for (size_t i = 0; i < ROWS; i++) {
        y[i] = (uint32_t)uc_rng_below(&rng, MANY);
        weights[i] = 0.5 + uc_rng_uniform(&rng);
        for (size_t z = 0; z < MANY; z++) {
            R[i * MANY + z] = uc_rng_uniform(&rng);
            counts[z * MANY + y[i]] += weights[i] * R[i * MANY + z];
        }
    }
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        const uc_context context = {.threads = threads};
        uc_annotations annotations = {0};
        uc_confusion confusion = {0};
        assert_ok(uc_annotations_of_labels(&annotations, y, ROWS, MANY, &context));
        const uc_labelled labelled = {.annotations = &annotations, .weights = weights, .context = &context};
        assert_ok(uc_confusion_create(&confusion, &annotations));
        assert_ok(uc_confusion_find(&confusion, &labelled, R));
        for (size_t z = 0; z < MANY; z++) {
            double sum = 0.0;
            for (size_t l = 0; l < MANY; l++)
                sum += counts[z * MANY + l] + (double)(z == l) + 1.0 / MANY;
            for (size_t l = 0; l < MANY; l++) {
                const double want = (counts[z * MANY + l] + (double)(z == l) + 1.0 / MANY) / sum;
                assert_near(confusion.P[z * MANY + l], want, 1e-12);
            }
        }
        uc_confusion_free(&confusion);
        uc_annotations_free(&annotations);
    }
    free(counts);
    free(R);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_classes_than_axes_have_the_fit_of_few),
        cmocka_unit_test(they_have_it_in_single_precision),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(many_classes_are_counted_by_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
