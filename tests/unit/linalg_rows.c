/* The kernels of every CPU level that this machine has, against the plain versions. */
#include "tests/support.h"
#include "tests/reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "unconfuse/cpu.h"
#include "unconfuse/random.h"

enum { COLUMNS = 300, MOST = 56 };

static const char *const levels[] = {"baseline", "avx2", "avx512"};
static const size_t strides[] = {1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 44, 56};
#define STRIDES (sizeof strides / sizeof *strides)

typedef struct sample {
    float values[COLUMNS];
    uint32_t columns[COLUMNS];
    double W[COLUMNS * MOST], plain[COLUMNS * MOST], tau[MOST];
    double scores[MOST], expected[MOST];
} sample;

/* A row of `count` values, dense or at random columns that ascend. */
static uc_row random_row(sample *self, uc_rng *rng, size_t count, bool sparse)
{
    for (size_t i = 0; i < count; i++)
        self->values[i] = (float)uc_rng_normal(rng);
    if (!sparse)
        return (uc_row){count, self->values, NULL};
    size_t chosen = 0;
    for (uint32_t j = 0; j < COLUMNS && chosen < count; j++)
        if (uc_rng_below(rng, COLUMNS - j) < count - chosen)
            self->columns[chosen++] = j;
    assert_int_equal(chosen, count);
    return (uc_row){count, self->values, self->columns};
}

static void random_weights(sample *self, uc_rng *rng, size_t S)
{
    for (size_t i = 0; i < COLUMNS * S; i++)
        self->W[i] = self->plain[i] = uc_rng_normal(rng);
    for (size_t k = 0; k < S; k++) {
        self->tau[k] = uc_rng_normal(rng);
        self->scores[k] = self->expected[k] = uc_rng_normal(rng);
    }
}

static void check_row(sample *self, uc_row row, size_t S)
{
    uc_row_scores(self->scores, row, self->W, S);
    reference_scores(self->expected, row, self->plain, S);
    for (size_t k = 0; k < S; k++)
        assert_near(self->scores[k], self->expected[k], 1e-13 * (1.0 + (double)row.count));
    uc_row_update(self->W, S, row, self->tau);
    reference_update(self->plain, S, row, self->tau);
    for (size_t i = 0; i < COLUMNS * S; i++) /* also the columns that the row does not have */
        assert_near(self->W[i], self->plain[i], 1e-15 * (1.0 + fabs(self->plain[i])));
    assert_near_relative(uc_row_norm2(row), reference_norm2(row), 1e-14);
    if (S == 1) {
        assert_near(uc_row_dot(row, self->W), reference_dot(row, self->W), 1e-13 * (1.0 + (double)row.count));
        uc_row_axpy(-0.75, row, self->W);
        const double step = -0.75;
        reference_update(self->plain, 1, row, &step);
        for (size_t i = 0; i < COLUMNS; i++)
            assert_near(self->W[i], self->plain[i], 1e-14 * (1.0 + fabs(self->plain[i])));
    }
}

static void kernels_of_every_level_agree_with_the_plain_versions(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 31, 64, 127, 255, COLUMNS};
    sample *self = malloc(sizeof *self);
    assert_non_null(self);
    size_t tested = 0;
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        assert_string_equal(uc_cpu_level(), levels[l]);
        tested++;
        uc_rng rng = uc_rng_make(1, l);
        for (size_t s = 0; s < STRIDES; s++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                for (int sparse = 0; sparse < 2; sparse++) {
                    random_weights(self, &rng, strides[s]);
                    check_row(self, random_row(self, &rng, counts[c], sparse), strides[s]);
                }
    }
    assert_ok(uc_cpu_set_level("best"));
    assert_true(tested >= 1);
    free(self);
}

/* Rows shorter and longer than those that are asked for ahead; values of very different sizes, whose sums
 * would differ in another order. */
static void products_of_many_rows_are_those_of_each_bit_for_bit(void **state)
{
    (void)state;
    enum { ROWS = 7 };
    static const size_t counts[] = {1, 3, 4, 15, 16, 17, 100, 255, 256, 257, COLUMNS};
    double w[COLUMNS], products[ROWS];
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        uc_rng rng = uc_rng_make(4, l);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int sparse = 0; sparse < 2; sparse++) {
                uc_matrix X;
                if (sparse)
                    assert_ok(uc_matrix_create_sparse(&X, ROWS, counts[c], ROWS * counts[c]));
                else
                    assert_ok(uc_matrix_create_dense(&X, ROWS, counts[c]));
                for (size_t i = 0; i < ROWS; i++)
                    for (size_t j = 0; j < counts[c]; j++) {
                        const size_t at = sparse ? i * counts[c] + j : i * X.stride + j;
                        X.values[at] = (float)ldexp(uc_rng_normal(&rng), (int)uc_rng_below(&rng, 30));
                        if (sparse)
                            X.columns[at] = (uint32_t)j;
                    }
                for (size_t i = 0; sparse && i <= ROWS; i++)
                    X.offsets[i] = i * counts[c];
                for (size_t j = 0; j < counts[c]; j++)
                    w[j] = uc_rng_normal(&rng);
                double wide[COLUMNS];
                uc_widen(wide, X.values, counts[c]);
                for (size_t j = 0; j < counts[c]; j++)
                    assert_true(wide[j] == (double)X.values[j]);
                for (size_t first = 0; first < ROWS; first++) {
                    uc_row_dots(products, &X, first, ROWS - first, w);
                    for (size_t i = first; i < ROWS; i++) {
                        const uc_row row = uc_matrix_row(&X, i);
                        assert_true(products[i - first] == uc_row_dot(row, w));
                        assert_near_relative(products[i - first], reference_dot(row, w), 1e-6);
                    }
                }
                uc_matrix_free(&X);
            }
    }
    assert_ok(uc_cpu_set_level("best"));
}

/* Two classes have a kernel for many dense rows. Values of very different sizes: another order would show. */
static void rows_of_two_classes_score_as_each_alone_bit_for_bit(void **state)
{
    (void)state;
    enum { TILE = 1024, /* of score_dense_rows */ WIDEST = 2100, ROWS = 9 };
    double *W = malloc(2 * WIDEST * sizeof *W);
    float *values = malloc(ROWS * (WIDEST + 3) * sizeof *values);
    assert_true(W && values);
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        uc_rng rng = uc_rng_make(3, l);
        for (size_t columns = 0; columns <= WIDEST; columns += columns < 40 ? 1 : 515) {
            const size_t stride = columns + 3;
            for (size_t i = 0; i < ROWS * stride; i++)
                values[i] = (float)(uc_rng_normal(&rng) * pow(10.0, (double)(i % 13) - 6.0));
            for (size_t i = 0; i < 2 * columns; i++)
                W[i] = uc_rng_normal(&rng);
            const uc_matrix X = {.rows = ROWS, .cols = columns, .stride = stride, .values = values};
            double scores[2 * ROWS], alone[2];
            uc_score_rows(scores, &X, 0, ROWS, W, columns, 2, NULL);
            for (size_t i = 0; i < ROWS; i++) {
                alone[0] = alone[1] = 0.0;
                for (size_t j = 0; j < columns; j += TILE) {
                    const size_t width = columns - j < TILE ? columns - j : TILE;
                    uc_row_scores(alone, (uc_row){width, values + i * stride + j, NULL}, W + 2 * j, 2);
                }
                assert_memory_equal(scores + 2 * i, alone, sizeof alone);
            }
        }
    }
    assert_ok(uc_cpu_set_level("best"));
    free(values);
    free(W);
}

static void a_value_that_is_not_finite_is_found_wherever_it_is(void **state)
{
    (void)state;
    const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    float values[70];
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        for (size_t i = 0; i < 70; i++)
            values[i] = i % 2 ? -FLT_MAX : FLT_MAX;
        for (size_t count = 0; count <= 70; count++)
            for (size_t i = 0; i < 70; i++) {
                const float value = values[i];
                values[i] = bad[i % 4];
                assert_int_equal(uc_are_finite(values, count), i >= count);
                values[i] = value;
            }
    }
    assert_ok(uc_cpu_set_level("best"));
}

/* Sums that would come out differently in another order: values of very different sizes. */
static void classes_with_equal_weights_get_equal_scores_bit_for_bit(void **state)
{
    (void)state;
    sample *self = malloc(sizeof *self);
    assert_non_null(self);
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        uc_rng rng = uc_rng_make(2, l);
        for (size_t s = 1; s < STRIDES; s++)
            for (size_t count = 1; count < 80; count++)
                for (int sparse = 0; sparse < 2; sparse++) {
                    const size_t S = strides[s];
                    for (size_t j = 0; j < COLUMNS; j++) {
                        const double w = ldexp(uc_rng_normal(&rng), (int)uc_rng_below(&rng, 40));
                        for (size_t k = 0; k < S; k++)
                            self->W[j * S + k] = w;
                    }
                    memset(self->scores, 0, sizeof self->scores);
                    uc_row_scores(self->scores, random_row(self, &rng, count, sparse), self->W, S);
                    for (size_t k = 1; k < S; k++)
                        assert_true(self->scores[k] == self->scores[0]);
                }
    }
    assert_ok(uc_cpu_set_level("best"));
    free(self);
}

/* The same after updates: classes that got the same steps are still equal. */
static void classes_with_equal_updates_keep_equal_weights_bit_for_bit(void **state)
{
    (void)state;
    sample *self = malloc(sizeof *self);
    assert_non_null(self);
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        uc_rng rng = uc_rng_make(3, l);
        for (size_t s = 1; s < STRIDES; s++) {
            const size_t S = strides[s];
            memset(self->W, 0, sizeof self->W);
            for (size_t round = 0; round < 50; round++) {
                const double tau = uc_rng_normal(&rng);
                for (size_t k = 0; k < S; k++)
                    self->tau[k] = tau;
                const size_t count = 1 + (size_t)uc_rng_below(&rng, COLUMNS);
                uc_row_update(self->W, S, random_row(self, &rng, count, round % 2), self->tau);
            }
            for (size_t i = 0; i < COLUMNS * S; i++)
                assert_true(self->W[i] == self->W[i / S * S]);
        }
    }
    assert_ok(uc_cpu_set_level("best"));
    free(self);
}

static void a_sparse_row_with_all_columns_is_the_dense_row(void **state)
{
    (void)state;
    sample *self = malloc(sizeof *self);
    assert_non_null(self);
    uc_rng rng = uc_rng_make(4, 0);
    for (size_t s = 0; s < STRIDES; s++) {
        const size_t S = strides[s];
        random_weights(self, &rng, S);
        const uc_row sparse = random_row(self, &rng, COLUMNS, true);
        const uc_row dense = {COLUMNS, self->values, NULL};
        memcpy(self->expected, self->scores, sizeof self->scores);
        uc_row_scores(self->scores, sparse, self->W, S);
        uc_row_scores(self->expected, dense, self->W, S);
        assert_memory_equal(self->scores, self->expected, S * sizeof(double));
        uc_row_update(self->W, S, sparse, self->tau);
        uc_row_update(self->plain, S, dense, self->tau);
        assert_memory_equal(self->W, self->plain, COLUMNS * S * sizeof(double));
        assert_true(uc_row_norm2(sparse) == uc_row_norm2(dense));
    }
    free(self);
}

static void updating_some_classes_leaves_the_others_alone(void **state)
{
    (void)state;
    sample *self = malloc(sizeof *self);
    assert_non_null(self);
    uc_rng rng = uc_rng_make(5, 0);
    for (int sparse = 0; sparse < 2; sparse++) {
        const uint32_t classes[3] = {13, 0, 7};
        const double tau[3] = {0.5, -2.0, 3.0};
        double full[MOST] = {0};
        random_weights(self, &rng, 28);
        const uc_row row = random_row(self, &rng, 41, sparse);
        for (size_t i = 0; i < 3; i++)
            full[classes[i]] = tau[i];
        uc_row_update_some(self->W, 28, row, classes, tau, 3);
        reference_update(self->plain, 28, row, full);
        for (size_t i = 0; i < COLUMNS * 28; i++)
            assert_near(self->W[i], self->plain[i], 1e-15 * (1.0 + fabs(self->plain[i])));
    }
    free(self);
}

static void strides_round_up_to_what_the_kernels_have(void **state)
{
    (void)state;
    static const size_t expected[] = {0, 1, 2, 4, 4, 8, 8, 8, 8, 12};
    for (size_t K = 0; K < 10; K++)
        assert_int_equal(uc_class_stride(K), expected[K]);
    assert_int_equal(uc_class_stride(26), 28);
}

static void the_largest_value_is_found_the_lowest_of_equals(void **state)
{
    (void)state;
    const double values[] = {-3.0, 2.0, 5.0, 5.0, -INFINITY, 5.0};
    assert_int_equal(uc_argmax(values, 6), 2);
    assert_int_equal(uc_argmax(values, 2), 1);
    assert_int_equal(uc_argmax(values, 1), 0);
    const double same[] = {0.0, 0.0, -0.0};
    assert_int_equal(uc_argmax(same, 3), 0);
    const double low[] = {-INFINITY, -1e308};
    assert_int_equal(uc_argmax(low, 2), 1);
}

static void levels_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    const char *before = uc_cpu_level();
    assert_error(uc_cpu_set_level("sse9"), UC_ERR_INVALID,
                 "CPU level sse9: it must be baseline, avx2, avx512 or best");
    assert_string_equal(uc_cpu_level(), before);
    for (size_t l = 0; l < 3; l++)
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            assert_non_null(strstr(uc_last_error(), "this machine does not have it"));
    assert_ok(uc_cpu_set_level("best"));
    assert_string_equal(uc_cpu_level(), before);
}

/* ---- products of dense rows ---- */

enum { TILE_COLUMNS = 52, TILE_STRIDE = 64, TILE_ROWS = 21 };

typedef struct rows_sample {
    double x[4][TILE_STRIDE];
    float y[TILE_ROWS * TILE_STRIDE];
} rows_sample;

/* Floats of very different sizes in the first `columns` columns, zeros behind: another order would give
 * another sum. */
static void random_rows(rows_sample *self, uc_rng *rng, size_t columns)
{
    memset(self, 0, sizeof *self);
    for (size_t j = 0; j < columns; j++) {
        for (size_t r = 0; r < 4; r++)
            self->x[r][j] = (double)(float)ldexp(uc_rng_normal(rng), (int)uc_rng_below(rng, 30));
        for (size_t r = 0; r < TILE_ROWS; r++)
            self->y[r * TILE_STRIDE + j] = (float)ldexp(uc_rng_normal(rng), (int)uc_rng_below(rng, 30));
    }
}

static void a_product_is_near_the_sum_in_any_order(void **state)
{
    (void)state;
    rows_sample self;
    uc_rng rng = uc_rng_make(6, 0);
    for (size_t columns = 0; columns <= TILE_COLUMNS; columns++) {
        random_rows(&self, &rng, columns);
        long double sum = 0.0L, size = 0.0L;
        for (size_t j = columns; j-- > 0;) {
            sum += (long double)self.x[0][j] * (long double)self.y[j];
            size += fabsl((long double)self.x[0][j] * (long double)self.y[j]);
        }
        assert_near(reference_product(self.x[0], self.y, columns), (double)sum, 1e-14 * (double)size);
    }
}

static void products_are_those_of_the_plain_version_bit_for_bit_at_every_level(void **state)
{
    (void)state;
    rows_sample self;
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        uc_rng rng = uc_rng_make(7, l);
        for (size_t columns = 0; columns <= TILE_COLUMNS; columns++)
            for (size_t count = 0; count <= TILE_ROWS; count++) {
                double out[TILE_ROWS + 1];
                random_rows(&self, &rng, columns);
                for (size_t r = 0; r <= TILE_ROWS; r++)
                    out[r] = 0.125;
                uc_products(out, self.x[0], self.y, TILE_STRIDE, count, uc_quads(columns));
                for (size_t r = 0; r < count; r++)
                    assert_true(out[r] == reference_product(self.x[0], self.y + r * TILE_STRIDE, columns));
                assert_true(out[count] == 0.125);
            }
    }
    assert_ok(uc_cpu_set_level("best"));
}

/* Also when the columns come in two steps. */
static void a_tile_is_its_products_bit_for_bit_at_every_level(void **state)
{
    (void)state;
    rows_sample self;
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        uc_rng rng = uc_rng_make(8, l);
        for (size_t columns = 0; columns <= TILE_COLUMNS; columns++) {
            double X[UC_TILE_X * TILE_STRIDE], Y[UC_TILE_Y * TILE_STRIDE];
            double sums[UC_TILE_X * UC_TILE_Y * UC_LANES] = {0};
            random_rows(&self, &rng, columns);
            for (size_t j = 0; j < TILE_STRIDE; j++) {
                for (size_t r = 0; r < UC_TILE_X; r++)
                    X[(j / UC_LANES * UC_TILE_X + r) * UC_LANES + j % UC_LANES] = self.x[r][j];
                for (size_t r = 0; r < UC_TILE_Y; r++)
                    Y[(j / UC_LANES * UC_TILE_Y + r) * UC_LANES + j % UC_LANES] = self.y[r * TILE_STRIDE + j];
            }
            const size_t quads = uc_quads(columns), half = quads / 2;
            uc_tile(sums, X, Y, half);
            uc_tile(sums, X + half * UC_TILE_X * UC_LANES, Y + half * UC_TILE_Y * UC_LANES, quads - half);
            for (size_t r = 0; r < UC_TILE_X; r++)
                for (size_t c = 0; c < UC_TILE_Y; c++)
                    assert_true(uc_lane_sum(sums + (r * UC_TILE_Y + c) * UC_LANES) ==
                                reference_product(self.x[r], self.y + c * TILE_STRIDE, columns));
        }
    }
    assert_ok(uc_cpu_set_level("best"));
}

/* Distances from 0 to beyond the range of a double; one value by itself, and among others. */
static void gaussian_values_are_those_of_exp_wherever_they_stand(void **state)
{
    (void)state;
    enum { COUNT = 4003 };
    static double values[COUNT], norm2[COUNT];
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        const double x = 3.0, width = 0.7;
        for (size_t i = 0; i < COUNT; i++) {
            norm2[i] = (double)i * 0.131;
            values[i] = i % 5 == 0 ? 0.5 * (x + norm2[i]) * (1.0 - 1e-14) : -0.1 * (double)(i % 7);
        }
        static double products[COUNT];
        memcpy(products, values, sizeof values);
        uc_gaussian(values, norm2, COUNT, x, width, 1e-13);
        for (size_t i = 0; i < COUNT; i++) {
            const double distance = x + norm2[i] - 2.0 * products[i], expected = exp(-distance / width);
            if (i % 5 == 0)
                assert_true(values[i] == 1.0);
            else if (distance / width > 708.0)
                assert_true(values[i] >= 0.0 && values[i] <= 1e-307);
            else
                assert_near_relative(values[i], expected, 1e-15 * (1.0 + distance / width));
            double alone = products[i];
            uc_gaussian(&alone, norm2 + i, 1, x, width, 1e-13);
            assert_true(alone == values[i]);
        }
        assert_true(values[COUNT - 1] == 0.0);
    }
    assert_ok(uc_cpu_set_level("best"));
}

static void exponentials_of_every_level_are_those_of_libm(void **state)
{
    enum { COUNT = 1003 };
    static double values[COUNT];
    (void)state;
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        for (size_t i = 0; i < COUNT; i++)
            values[i] = -0.7093 * (double)i;
        uc_exponential(values, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            const double x = -0.7093 * (double)i;
            double alone = x;
            uc_exponential(&alone, 1);
            assert_true(alone == values[i]);
            if (x >= -708.0)
                assert_near_relative(values[i], exp(x), 1e-15);
            else
                assert_true(values[i] == 0.0);
        }
        assert_true(values[0] == 1.0);
    }
    assert_ok(uc_cpu_set_level("best"));
}

static void softmax_of_every_level_is_that_of_libm(void **state)
{
    enum { ROWS = 5 };
    static const size_t shapes[][2] = {{2, 2}, {3, 4}, {4, 4}, {9, 12}, {20, 20}}; /* K, S */
    (void)state;
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        uc_rng rng = uc_rng_make(4, l);
        for (size_t k = 0; k < 5; k++) {
            const size_t K = shapes[k][0], S = shapes[k][1];
            double s[ROWS * 20] = {0}, p[ROWS * 20], highest[ROWS], total[ROWS];
            for (size_t i = 0; i < ROWS * S; i++)
                s[i] = i % S < K ? -5.0 + 10.0 * uc_rng_normal(&rng) : 0.0;
            s[4 * S + 1] = NAN;
            uc_softmax_rows(p, highest, total, s, ROWS, K, S);
            for (size_t i = 0; i < 4; i++) {
                double sum = 0.0;
                for (size_t q = 0; q < K; q++)
                    sum += exp(s[i * S + q]);
                assert_near_relative(exp(highest[i]) * total[i], sum, 1e-13);
                for (size_t q = 0; q < K; q++)
                    assert_near_relative(p[i * S + q], exp(s[i * S + q]) / sum, 1e-13);
                for (size_t q = K; q < S; q++)
                    assert_true(p[i * S + q] == 0.0);
            }
            assert_true(isnan(total[4]));
        }
    }
    assert_ok(uc_cpu_set_level("best"));
}

/* Numbers of rows and columns that leave something over after whole groups. */
static void rows_are_combined_as_one_after_the_other(void **state)
{
    enum { ROWS = 21, WIDE = 37 };
    (void)state;
    uc_matrix X;
    assert_ok(uc_matrix_create_dense(&X, ROWS, WIDE));
    uc_rng rng = uc_rng_make(5, 1);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < WIDE; j++)
            X.values[i * X.stride + j] = (float)uc_rng_normal(&rng);
    for (size_t l = 0; l < 3; l++) {
        double factors[ROWS], w[WIDE], plain[WIDE];
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        for (size_t i = 0; i < ROWS; i++)
            factors[i] = uc_rng_normal(&rng);
        for (size_t j = 0; j < WIDE; j++)
            w[j] = plain[j] = uc_rng_normal(&rng);
        uc_rows_combine(w, &X, 1, ROWS - 1, factors);
        for (size_t i = 1; i < ROWS; i++)
            reference_update(plain, 1, uc_matrix_row(&X, i), factors + i - 1);
        for (size_t j = 0; j < WIDE; j++)
            assert_near(w[j], plain[j], 1e-13);
    }
    assert_ok(uc_cpu_set_level("best"));
    uc_matrix_free(&X);
}

enum { MIXED = 9, MIXED_CLASSES = 5, PADDED = 8 };

/* p and the derivatives of sum r log p, from their definitions. */
static void plain_mixture(double *p, double *sums, double *in_C, const uc_mixture *rows)
{
    for (size_t i = 0; i < MIXED; i++) {
        const double *f = rows->f + i * PADDED, *g = rows->g + i * PADDED;
        const double *C = rows->columns + rows->labels[i] * PADDED;
        double S[MIXED_CLASSES], total = 0.0;
        for (size_t q = 0; q < MIXED_CLASSES; q++)
            total += S[q] = exp(rows->a1 * f[q] + rows->a2 * g[q]);
        p[i] = 0.0;
        for (size_t q = 0; q < MIXED_CLASSES; q++)
            p[i] += C[q] * (S[q] /= total);
        for (size_t q = 0; q < MIXED_CLASSES; q++) {
            sums[0] += rows->weights[i] * S[q] * (C[q] / p[i] - 1.0) * f[q];
            sums[1] += rows->weights[i] * S[q] * (C[q] / p[i] - 1.0) * g[q];
            in_C[rows->labels[i] * PADDED + q] += rows->weights[i] * S[q] / p[i];
        }
    }
}

static void mixtures_of_every_level_are_those_of_the_plain_version(void **state)
{
    (void)state;
    double f[MIXED * PADDED], g[MIXED * PADDED], weights[MIXED], columns[MIXED_CLASSES * PADDED];
    uint32_t labels[MIXED];
    uc_rng rng = uc_rng_make(8, 0);
    for (size_t i = 0; i < MIXED * PADDED; i++) {
        const bool padding = i % PADDED >= MIXED_CLASSES;
        f[i] = padding ? UC_NEVER : uc_rng_normal(&rng);
        g[i] = padding ? 0.0 : -uc_rng_uniform(&rng);
    }
    for (size_t i = 0; i < MIXED_CLASSES * PADDED; i++)
        columns[i] = i % PADDED < MIXED_CLASSES ? uc_rng_uniform(&rng) : 0.0;
    for (size_t i = 0; i < MIXED; i++) {
        weights[i] = 0.5 + uc_rng_uniform(&rng);
        labels[i] = (uint32_t)(i % MIXED_CLASSES);
    }
    const uc_mixture rows = {f, g, labels, weights, columns, 3.0, 0.4, PADDED / UC_LANES};
    double p[MIXED], sums[2] = {0}, in_C[MIXED_CLASSES * PADDED] = {0};
    plain_mixture(p, sums, in_C, &rows);
    for (size_t l = 0; l < 3; l++) {
        double found[MIXED], along[2] = {0}, by_label[MIXED_CLASSES * PADDED] = {0}, S[PADDED];
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        uc_mixture_gradient(found, along, by_label, &rows, 0, 4, S);
        uc_mixture_gradient(found + 4, along, by_label, &rows, 4, MIXED - 4, S);
        for (size_t i = 0; i < MIXED; i++)
            assert_near_relative(found[i], p[i], 1e-13);
        for (size_t i = 0; i < 2; i++)
            assert_near(along[i], sums[i], 1e-12);
        for (size_t i = 0; i < MIXED_CLASSES * PADDED; i++)
            assert_near(by_label[i], in_C[i], 1e-12);
    }
    assert_ok(uc_cpu_set_level("best"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_every_level_agree_with_the_plain_versions),
        cmocka_unit_test(products_of_many_rows_are_those_of_each_bit_for_bit),
        cmocka_unit_test(rows_of_two_classes_score_as_each_alone_bit_for_bit),
        cmocka_unit_test(a_value_that_is_not_finite_is_found_wherever_it_is),
        cmocka_unit_test(classes_with_equal_weights_get_equal_scores_bit_for_bit),
        cmocka_unit_test(classes_with_equal_updates_keep_equal_weights_bit_for_bit),
        cmocka_unit_test(a_sparse_row_with_all_columns_is_the_dense_row),
        cmocka_unit_test(updating_some_classes_leaves_the_others_alone),
        cmocka_unit_test(strides_round_up_to_what_the_kernels_have),
        cmocka_unit_test(the_largest_value_is_found_the_lowest_of_equals),
        cmocka_unit_test(levels_that_do_not_exist_are_refused),
        cmocka_unit_test(a_product_is_near_the_sum_in_any_order),
        cmocka_unit_test(products_are_those_of_the_plain_version_bit_for_bit_at_every_level),
        cmocka_unit_test(a_tile_is_its_products_bit_for_bit_at_every_level),
        cmocka_unit_test(gaussian_values_are_those_of_exp_wherever_they_stand),
        cmocka_unit_test(exponentials_of_every_level_are_those_of_libm),
        cmocka_unit_test(softmax_of_every_level_is_that_of_libm),
        cmocka_unit_test(rows_are_combined_as_one_after_the_other),
        cmocka_unit_test(mixtures_of_every_level_are_those_of_the_plain_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
