/* The second-order metric against matrices that are written out and inverted, and its kernel at every CPU
 * level. */
#include "tests/online_sample.h"

#include <stdlib.h>

#include "learn/metric.h"
#include "linalg/linalg.h"
#include "unconfuse/cpu.h"

static const char *const levels[] = {"baseline", "avx2", "avx512"};

/* ---- the kernel ---- */

enum { MOST_ROWS = 41, MOST_STRIDE = 48, MOST_VECTORS = 11 };

typedef struct sweep_sample {
    double B[MOST_ROWS * MOST_STRIDE], u[MOST_STRIDE], X[MOST_VECTORS * MOST_STRIDE];
    double out[MOST_VECTORS * MOST_STRIDE];
} sweep_sample;

/* A symmetric matrix, with zeros behind the n columns of every row and vector. */
static void fill(sweep_sample *self, uc_rng *rng, size_t n, size_t S)
{
    memset(self, 0, sizeof *self);
    for (size_t i = 0; i < n; i++) {
        self->u[i] = uc_rng_normal(rng);
        for (size_t j = 0; j <= i; j++)
            self->B[i * S + j] = self->B[j * S + i] = uc_rng_normal(rng);
        for (size_t r = 0; r < MOST_VECTORS; r++)
            self->X[r * S + i] = uc_rng_normal(rng);
    }
}

static void check_sweep(sweep_sample *self, sweep_sample *plain, size_t n, size_t S, double factor,
                        size_t count)
{
    *plain = *self;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            plain->B[i * S + j] -= factor * plain->u[i] * plain->u[j];
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (size_t j = 0; j < n; j++)
                sum += plain->B[i * S + j] * plain->X[r * S + j];
            plain->out[r * S + i] = sum;
        }
    for (size_t i = 0; i < MOST_VECTORS * MOST_STRIDE; i++)
        self->out[i] = plain->out[i] = i < count * S && i % S < n ? plain->out[i] : 77.0;
    uc_sweep(self->out, self->B, n, S, self->u, factor, self->X, count);
    for (size_t i = 0; i < MOST_ROWS * MOST_STRIDE; i++)
        assert_near(self->B[i], plain->B[i], 1e-14 * (1.0 + fabs(plain->B[i])));
    for (size_t i = 0; i < MOST_VECTORS * MOST_STRIDE; i++) /* also what must not be written */
        assert_near(self->out[i], plain->out[i], 1e-13 * (double)n);
}

static void the_sweep_of_every_level_is_plain_loops(void **state)
{
    (void)state;
    static sweep_sample self, plain;
    size_t tested = 0;
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        tested++;
        uc_rng rng = uc_rng_make(1, l);
        for (size_t n = 1; n <= MOST_ROWS; n += n < 10 ? 1 : 5)
            for (size_t S = (n + 7) / 8 * 8; S <= MOST_STRIDE; S += 8)
                for (size_t count = 1; count <= MOST_VECTORS; count++)
                    for (int factor = 0; factor < 2; factor++) {
                        fill(&self, &rng, n, S);
                        check_sweep(&self, &plain, n, S, factor ? 0.3 : 0.0, count);
                    }
    }
    assert_ok(uc_cpu_set_level("best"));
    assert_true(tested >= 1);
}

/* So that what is replayed along with a round does not change the metric, nor the rows next to it a row's
 * direction. */
static void the_number_of_vectors_changes_no_bit(void **state)
{
    (void)state;
    static sweep_sample start, one, many;
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        uc_rng rng = uc_rng_make(2, l);
        for (size_t n = 1; n <= MOST_ROWS; n += 4) {
            const size_t S = (n + 7) / 8 * 8;
            fill(&start, &rng, n, S);
            for (size_t count = 1; count <= MOST_VECTORS; count++) {
                many = start;
                uc_sweep(many.out, many.B, n, S, many.u, 0.7, many.X, count);
                for (size_t r = 0; r < count; r++) {
                    one = start;
                    uc_sweep(one.out, one.B, n, S, one.u, 0.7, one.X + r * S, 1);
                    assert_memory_equal(one.B, many.B, sizeof one.B);
                    assert_memory_equal(one.out, many.out + r * S, n * sizeof(double));
                }
            }
        }
    }
    assert_ok(uc_cpu_set_level("best"));
}

/* Zeros behind the columns that are there: a metric may be made for more columns than have come. */
static void columns_that_have_not_come_change_no_bit(void **state)
{
    (void)state;
    static sweep_sample narrow, wide;
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        uc_rng rng = uc_rng_make(3, l);
        for (size_t n = 1; n <= MOST_ROWS; n += 3) {
            const size_t S = (n + 7) / 8 * 8;
            fill(&narrow, &rng, n, S);
            memset(&wide, 0, sizeof wide);
            memcpy(wide.u, narrow.u, sizeof wide.u);
            for (size_t i = 0; i < n; i++)
                memcpy(wide.B + i * MOST_STRIDE, narrow.B + i * S, n * sizeof(double));
            memcpy(wide.X, narrow.X, n * sizeof(double));
            uc_sweep(narrow.out, narrow.B, n, S, narrow.u, 0.4, narrow.X, 1);
            uc_sweep(wide.out, wide.B, MOST_ROWS, MOST_STRIDE, wide.u, 0.4, wide.X, 1);
            assert_memory_equal(narrow.out, wide.out, n * sizeof(double));
            for (size_t i = 0; i < n; i++)
                assert_memory_equal(narrow.B + i * S, wide.B + i * MOST_STRIDE, n * sizeof(double));
        }
    }
    assert_ok(uc_cpu_set_level("best"));
}

/* ---- the metric ---- */

enum { ROWS = 120, COLS = 11, SIZE = COLS + 1 };

static void expand(double *x, uc_row row, double bias)
{
    x[0] = bias;
    for (size_t j = 0; j < COLS; j++)
        x[j + 1] = dense_value(row, j);
}

/* A with the kind's entries only. */
static void add_to(double *A, const double *x, uc_metric_kind kind)
{
    for (size_t i = 0; i < SIZE; i++)
        for (size_t j = 0; j < SIZE; j++)
            if (kind == UC_METRIC_FULL || (kind == UC_METRIC_DIAGONAL && i == j))
                A[i * SIZE + j] += x[i] * x[j];
}

static void check_direction(const uc_direction *got, const double *inverse, uc_row row, double bias,
                            double tolerance)
{
    double x[SIZE], expected[SIZE], length = 0.0;
    expand(x, row, bias);
    for (size_t i = 0; i < SIZE; i++) {
        expected[i] = 0.0;
        for (size_t j = 0; j < SIZE; j++)
            expected[i] += inverse[i * SIZE + j] * x[j];
        length += x[i] * expected[i];
    }
    assert_near_relative(got->length, length, tolerance);
    for (size_t i = 0; i < SIZE; i++) {
        const double value = got->dense ? got->dense[i]
                             : i == 0   ? got->constant
                                        : dense_value(got->row, i - 1);
        assert_near(value, expected[i], tolerance * sqrt(length));
    }
}

/* Directions of a diagonal metric are rows of floats. */
static void directions_are_those_of_the_inverted_matrix(void **state)
{
    (void)state;
    static const double priors[] = {0.5, 1.0, 20.0};
    for (int kind = 0; kind < 3; kind++)
        for (int variant = 0; variant < 12; variant++) {
            const double prior = priors[variant % 3], bias = variant / 3 % 2 ? -0.6 : 0.0;
            const size_t at_most = variant / 6 ? 7 : 2;
            uc_dataset data = sample_data(ROWS, COLS, 3, variant % 2, 1);
            uc_rng rng = uc_rng_make(4, (uint64_t)variant);
            uc_metric metric = {0};
            assert_ok(uc_metric_resize(&metric, (uc_metric_kind)kind, COLS, prior, at_most));
            double A[SIZE * SIZE] = {0}, inverse[SIZE * SIZE];
            for (size_t i = 0; i < SIZE; i++)
                A[i * SIZE + i] = kind == UC_METRIC_NONE ? 1.0 : prior;
            for (size_t t = 0; t < ROWS; t++) {
                uc_row rows[7];
                uc_direction directions[7];
                double x[SIZE];
                const size_t count = 1 + (size_t)uc_rng_below(&rng, at_most);
                for (size_t r = 0; r < count; r++) /* sometimes the row itself once more */
                    rows[r] = uc_matrix_row(&data.X, r == 0 ? t : (size_t)uc_rng_below(&rng, t + 1));
                uc_metric_add(directions, &metric, rows, count, bias);
                expand(x, rows[0], bias);
                add_to(A, x, (uc_metric_kind)kind);
                assert_ok(uc_invert(inverse, A, SIZE));
                for (size_t r = 0; r < count; r++)
                    check_direction(&directions[r], inverse, rows[r], bias,
                                    kind == UC_METRIC_FULL ? 1e-12 : 1e-6);
            }
            uc_metric_free(&metric);
            uc_dataset_free(&data);
        }
}

/* Many rounds in few directions. The first rounds subtract numbers of the size of 1/prior, so that is what
 * rounding is measured by; later rounds add nothing to it. */
static void rounding_does_not_pile_up(void **state)
{
    (void)state;
    static const double priors[] = {1e-3, 1.0};
    for (size_t p = 0; p < 2; p++) {
        const double prior = priors[p];
        uc_rng rng = uc_rng_make(5, 1);
        uc_metric metric = {0};
        double A[SIZE * SIZE] = {0}, inverse[SIZE * SIZE];
        assert_ok(uc_metric_resize(&metric, UC_METRIC_FULL, COLS, prior, 1));
        for (size_t i = 0; i < SIZE; i++)
            A[i * SIZE + i] = prior;
        for (size_t t = 0; t < 10000; t++) {
            float values[COLS];
            double x[SIZE];
            for (size_t j = 0; j < COLS; j++)
                values[j] = (float)(uc_rng_normal(&rng) * (j < 3 ? 1.0 : 1e-3));
            const uc_row row = {COLS, values, NULL};
            uc_direction direction;
            uc_metric_add(&direction, &metric, &row, 1, 0.5);
            expand(x, row, 0.5);
            add_to(A, x, UC_METRIC_FULL);
            if (t % 2500 != 2499)
                continue;
            assert_ok(uc_invert(inverse, A, SIZE));
            check_direction(&direction, inverse, row, 0.5, 1e-10);
            for (size_t i = 0; i < SIZE; i++)
                for (size_t j = 0; j < i; j++) {
                    const size_t here = i * metric.stride + j, mirrored = j * metric.stride + i;
                    assert_near(metric.inverse[here], metric.inverse[mirrored], 1e-14 / prior);
                }
        }
        uc_metric_free(&metric);
    }
}

/* Column j comes in round 10 j. */
static void columns_that_come_later_give_what_knowing_them_gives(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, 3, true, 2);
    for (int kind = 1; kind < 3; kind++) {
        uc_metric grown = {0}, known = {0};
        assert_ok(uc_metric_resize(&known, (uc_metric_kind)kind, COLS, 2.0, 1));
        for (size_t t = 0; t < ROWS; t++) {
            const size_t features = 1 + t / 10 < COLS ? 1 + t / 10 : COLS;
            uc_row row = uc_matrix_row(&data.X, t);
            while (row.count > 0 && row.columns[row.count - 1] >= features)
                row.count--;
            uc_direction a, b;
            assert_ok(uc_metric_resize(&grown, (uc_metric_kind)kind, features, 2.0, 1));
            uc_metric_add(&a, &grown, &row, 1, 0.5);
            uc_metric_add(&b, &known, &row, 1, 0.5);
            assert_true(a.length == b.length);
            if (kind == UC_METRIC_FULL)
                assert_memory_equal(a.dense, b.dense, (features + 1) * sizeof(double));
            else
                assert_memory_equal(a.row.values, b.row.values, row.count * sizeof(float));
        }
        uc_metric_free(&grown);
        uc_metric_free(&known);
    }
    uc_dataset_free(&data);
}

static void a_metric_that_could_not_grow_is_as_it_was(void **state)
{
    (void)state;
    uc_dataset data = sample_data(20, COLS, 3, true, 3);
    for (int kind = 1; kind < 3; kind++)
        for (long successes = 0;; successes++) {
            const long live = uc_alloc_live();
            uc_metric metric = {0}, other = {0};
            assert_ok(uc_metric_resize(&metric, (uc_metric_kind)kind, COLS, 2.0, 1));
            assert_ok(uc_metric_resize(&other, (uc_metric_kind)kind, COLS, 2.0, 1));
            uc_status status = UC_OK;
            for (size_t t = 0; t < 20; t++) {
                const uc_row row = uc_matrix_row(&data.X, t);
                uc_direction a, b;
                if (t == 10) {
                    uc_alloc_fail_after(successes);
                    status = uc_metric_resize(&metric, (uc_metric_kind)kind, 100, 2.0, 1);
                    uc_alloc_fail_after(-1);
                    assert_true(status == UC_OK || status == UC_ERR_NOMEM);
                }
                uc_metric_add(&a, &metric, &row, 1, 0.5);
                uc_metric_add(&b, &other, &row, 1, 0.5);
                assert_true(a.length == b.length);
            }
            uc_metric_free(&metric);
            uc_metric_free(&other);
            assert_int_equal(uc_alloc_live(), live);
            if (status == UC_OK)
                break;
        }
    uc_dataset_free(&data);
}

static void a_metric_of_none_is_the_row_itself(void **state)
{
    (void)state;
    const float values[] = {3.0f, -4.0f};
    const uc_row row = {2, values, NULL};
    uc_metric metric = {0};
    uc_direction direction;
    assert_ok(uc_metric_resize(&metric, UC_METRIC_NONE, 2, 7.0, 4));
    uc_metric_add(&direction, &metric, &row, 1, 2.0);
    assert_true(direction.length == 29.0 && direction.constant == 2.0 && !direction.dense);
    assert_ptr_equal(direction.row.values, values);
    assert_ok(uc_metric_resize(&metric, UC_METRIC_FULL, 2, 7.0, 4));
    assert_ok(uc_metric_resize(&metric, UC_METRIC_NONE, 3, 7.0, 4)); /* given up */
    uc_metric_add(&direction, &metric, &row, 1, 2.0);
    assert_true(direction.length == 29.0);
    uc_metric_free(&metric);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sweep_of_every_level_is_plain_loops),
        cmocka_unit_test(the_number_of_vectors_changes_no_bit),
        cmocka_unit_test(columns_that_have_not_come_change_no_bit),
        cmocka_unit_test(directions_are_those_of_the_inverted_matrix),
        cmocka_unit_test(rounding_does_not_pile_up),
        cmocka_unit_test(columns_that_come_later_give_what_knowing_them_gives),
        cmocka_unit_test(a_metric_that_could_not_grow_is_as_it_was),
        cmocka_unit_test(a_metric_of_none_is_the_row_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
