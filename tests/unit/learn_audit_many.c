/* `audit` of many rows: some of them choose the width, and the space of the axes. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"

#include "learn/audit/views.h"
#include "linalg/linalg.h"
#include "tests/processes.h"

#define N ((size_t)7700) /* more than 7,500 */
#define COLS 3
#define K 3
#define SOME 60
#define SMALL ((size_t)200)

typedef struct problem {
    uc_matrix X;
    uint32_t *y, *z;
    double *weights;
} problem;

static void draw(problem *self, size_t rows)
{
    uc_rng rng = uc_rng_make(8, 31);
    *self = (problem){
        {0}, calloc(rows, sizeof(uint32_t)), calloc(rows, sizeof(uint32_t)), calloc(rows, sizeof(double))};
    assert_ok(uc_matrix_create_dense(&self->X, rows, COLS));
    for (size_t i = 0; i < rows; i++) {
        self->z[i] = (uint32_t)uc_rng_below(&rng, K);
        self->y[i] = uc_rng_uniform(&rng) < 0.3 ? (uint32_t)uc_rng_below(&rng, K) : self->z[i];
        self->weights[i] = 0.5 + uc_rng_uniform(&rng);
        for (size_t j = 0; j < COLS; j++)
            self->X.values[i * self->X.stride + j] =
                (float)(2.0 + uc_rng_normal(&rng) + (j == self->z[i] ? 4.0 : 0.0));
    }
}

static void release(problem *self)
{
    uc_matrix_free(&self->X);
    free(self->y);
    free(self->z);
    free(self->weights);
}

/* ---- axes ---- */

static uc_status see(uc_audit_view *view, uc_audit_rows *rows, const problem *self, uc_labelled *labelled,
                     size_t axes)
{
    uc_some_rows some = {0};
    uc_status status = uc_labelled_weigh(labelled);
    if (status == UC_OK)
        status = uc_some_rows_draw(&some, &self->X, labelled, SOME, 3);
    if (status == UC_OK)
        status = uc_audit_rows_make(rows, UC_AUDIT_VIEW_STANDARD, &self->X, &some.X, labelled);
    if (status == UC_OK)
        status = uc_audit_view_make(view, rows, &self->X, labelled, 1.0, axes, &some);
    uc_some_rows_free(&some);
    return status;
}

/* The coordinates as the model computes them, k(X) projection - shift, in double precision; the caller frees
 * them. */
static double *coordinates_of(const uc_audit_view *view, const problem *self)
{
    const size_t m = view->rows->landmarks, D = view->axes;
    double *A = calloc(SMALL * D, sizeof *A), *values = calloc(SMALL * m, sizeof *values);
    double *work = calloc(uc_audit_view_work(view->rows, SMALL), sizeof *work);
    uc_audit_view_kernel(values, view->rows, &self->X, 0, SMALL, view->width, work);
    uc_multiply(A, values, view->projection, SMALL, m, D);
    for (size_t i = 0; i < SMALL; i++)
        for (size_t d = 0; d < D; d++)
            A[i * D + d] -= view->shift[d];
    free(work);
    free(values);
    return A;
}

/* Mean 0, uncorrelated and of variances w among all rows, though some found their space. */
static void check_moments(const uc_audit_view *view, const double *A, const uc_labelled *labelled)
{
    const size_t D = view->axes;
    for (size_t d = 0; d < D; d++)
        for (size_t e = 0; e <= d; e++) {
            double mean = 0.0, product = 0.0;
            for (size_t i = 0; i < SMALL; i++) {
                const double weight = labelled->weights ? labelled->weights[i] : 1.0;
                mean += weight / labelled->total_weight * A[i * D + d];
                product += weight / labelled->total_weight * A[i * D + d] * A[i * D + e];
            }
            /* Sums in single precision, whose rounding depends on the kernels of BLAS for this CPU. */
            const double rounding = 8.0 * FLT_EPSILON * sqrt(view->w[d] * view->w[e]);
            assert_near(mean, 0.0, 1e-7);
            assert_near(product, d == e ? view->w[d] : 0.0, fmax(rounding, 1e-7));
        }
}

/* Sums over rows, products with directions, and leverage are those of the coordinates, though others are
 * stored. */
static void check_products(const uc_audit_view *view, const double *A, const uc_labelled *labelled)
{
    const size_t D = view->axes;
    double *sums = calloc(K * D, sizeof *sums), *E = calloc(SMALL * K, sizeof *E), counts[K] = {0};
    double *R = calloc(SMALL * K, sizeof *R);
    uc_audit_directions directions = {0};
    uc_labelled_start(R, labelled);
    for (size_t i = 0; i < SMALL * K; i++)
        counts[i % K] += R[i];
    for (size_t first = 0; first < SMALL; first += SMALL / 4)
        assert_ok(uc_audit_add_coordinates(sums, view, first, first + SMALL / 4, R + first * K, K));
    assert_ok(uc_audit_turn_sums(sums, counts, view, K));
    assert_ok(uc_audit_directions_make(&directions, sums, view, K));
    assert_ok(uc_audit_along(E, &directions, view, 0, SMALL));
    for (size_t k = 0; k < K; k++)
        for (size_t d = 0; d < D; d++) {
            double sum = 0.0;
            for (size_t i = 0; i < SMALL; i++)
                sum += R[i * K + k] * A[i * D + d];
            assert_near(sums[k * D + d], sum, 1e-4);
        }
    for (size_t i = 0; i < SMALL; i++) {
        const double weight = labelled->weights ? labelled->weights[i] : 1.0, n = labelled->total_weight;
        double h = 1.0 / n;
        for (size_t d = 0; d < D; d++)
            h += (1.0 - view->s) / n * A[i * D + d] * A[i * D + d] * view->q[d];
        assert_near(view->h[i], fmin(weight * h, 0.95), 1e-5);
        for (size_t k = 0; k < K; k++)
            assert_near(E[i * K + k], uc_dot(A + i * D, sums + k * D, D), 1e-4);
    }
    uc_audit_directions_free(&directions);
    free(R);
    free(E);
    free(sums);
}

static void axes_are_those_of_all_rows(void **state)
{
    (void)state;
    enum { D = 7 };
    problem self;
    draw(&self, SMALL);
    for (int weighted = 0; weighted < 2; weighted++) {
        uc_annotations annotations = {0};
        uc_audit_rows rows = {0};
        uc_audit_view view = {0};
        assert_ok(uc_annotations_of_labels(&annotations, self.y, SMALL, K, NULL));
        uc_labelled labelled = {.annotations = &annotations, .weights = weighted ? self.weights : NULL};
        assert_ok(see(&view, &rows, &self, &labelled, D));
        assert_int_equal(view.axes, D);
        assert_null(view.A);
        double *A = coordinates_of(&view, &self);
        check_moments(&view, A, &labelled);
        check_products(&view, A, &labelled);
        free(A);
        uc_audit_view_free(&view);
        uc_audit_rows_free(&rows);
        uc_annotations_free(&annotations);
    }
    release(&self);
}

/* Single precision does not hold 1e60, which weights may be. */
static void weights_of_any_size_give_the_same_axes_and_sums(void **state)
{
    (void)state;
    enum { D = 7 };
    problem self;
    double *A[2], sums[2][K * D] = {{0}}, *R = calloc(SMALL * K, sizeof *R);
    draw(&self, SMALL);
    for (int large = 0; large < 2; large++) {
        const double unit = large ? 1e60 : 1.0;
        uc_annotations annotations = {0};
        uc_audit_rows rows = {0};
        uc_audit_view view = {0};
        for (size_t i = 0; i < SMALL; i++)
            self.weights[i] *= unit;
        for (size_t i = 0; i < SMALL * K; i++)
            R[i] = unit * (double)(i % 5);
        assert_ok(uc_annotations_of_labels(&annotations, self.y, SMALL, K, NULL));
        uc_labelled labelled = {.annotations = &annotations, .weights = self.weights};
        assert_ok(see(&view, &rows, &self, &labelled, D));
        A[large] = coordinates_of(&view, &self);
        assert_ok(uc_audit_add_coordinates(sums[large], &view, 0, SMALL, R, K));
        uc_audit_view_free(&view);
        uc_audit_rows_free(&rows);
        uc_annotations_free(&annotations);
    }
    for (size_t i = 0; i < SMALL * D; i++)
        assert_near(A[1][i], A[0][i], 1e-5);
    for (size_t i = 0; i < K * D; i++)
        assert_near(sums[1][i] / 1e60, sums[0][i], 1e-3);
    free(A[0]);
    free(A[1]);
    free(R);
    release(&self);
}

static uc_status see_all(const problem *self)
{
    const uc_context context = {.threads = 1};
    uc_annotations annotations = {0};
    uc_audit_rows rows = {0};
    uc_audit_view view = {0};
    uc_status status = uc_annotations_of_labels(&annotations, self->y, SMALL, K, &context);
    uc_labelled labelled = {
        .annotations = &annotations, .weights = self->weights, .gold = self->z, .context = &context};
    if (status == UC_OK)
        status = see(&view, &rows, self, &labelled, 5);
    uc_audit_view_free(&view);
    uc_audit_rows_free(&rows);
    uc_annotations_free(&annotations);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    problem self;
    uc_status status;
    draw(&self, SMALL);
    FOR_EACH_FAILING_ALLOCATION(status, see_all(&self));
    release(&self);
}

/* ---- all of it, in one process and in three ---- */

typedef struct shared {
    const problem *all;
    double *R;
    double width;
    int mode;
} shared;

static uc_status audit_share(const uc_comm *comm, void *user)
{
    shared *self = user;
    const size_t rank = (size_t)uc_comm_rank(comm), size = (size_t)uc_comm_size(comm);
    const size_t from = N * rank / size, to = N * (rank + 1) / size;
    const uc_context context = {.threads = 1, .comm = comm};
    const uc_audit_settings settings = {.mode = UC_AUDIT_AUTO, .landmarks = 40, .axes = 12};
    size_t *rows = malloc((to - from) * sizeof *rows);
    uc_matrix X = {0};
    uc_annotations annotations = {0};
    uc_audit_fit found = {0};
    for (size_t i = from; i < to; i++)
        rows[i - from] = i;
    uc_status status = uc_matrix_subset(&X, &self->all->X, rows, to - from, NULL);
    if (status == UC_OK)
        status = uc_annotations_of_labels(&annotations, self->all->y + from, to - from, K, &context);
    const uc_labelled labelled = {.annotations = &annotations, .context = &context};
    if (status == UC_OK)
        status = uc_audit_run(&found, NULL, &X, &labelled, &settings, 1);
    if (status == UC_OK) {
        memcpy(self->R + from * K, found.R, (to - from) * K * sizeof *found.R);
        if (rank == 0) {
            self->width = found.width;
            self->mode = found.mode;
        }
    }
    uc_audit_fit_free(&found);
    uc_annotations_free(&annotations);
    uc_matrix_free(&X);
    free(rows);
    return status;
}

static void several_processes_find_what_one_does(void **state)
{
    (void)state;
    problem self;
    draw(&self, N);
    shared one = {.all = &self, .R = calloc(N * K, sizeof(double))};
    shared three = {.all = &self, .R = calloc(N * K, sizeof(double))};
    size_t wrong = 0;
    assert_ok(run_processes(1, audit_share, &one));
    assert_ok(run_processes(3, audit_share, &three));
    assert_near(one.width, three.width, 0.0);
    assert_int_equal(one.mode, three.mode);
    for (size_t i = 0; i < N * K; i++)
        assert_near(one.R[i], three.R[i], 1e-5); /* sums over blocks are in single precision */
    for (size_t i = 0; i < N; i++)
        wrong += uc_argmax(one.R + i * K, K) != self.z[i];
    assert_true(wrong < N / 50);
    free(one.R);
    free(three.R);
    release(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_are_those_of_all_rows),
        cmocka_unit_test(weights_of_any_size_give_the_same_axes_and_sums),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(several_processes_find_what_one_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
