/* Blocks of scores against row by row, and small matrices against elimination and Jacobi's method. */
#include "tests/support.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "unconfuse/random.h"

/* A matrix of random values; sparse: about a third of them. */
static uc_matrix random_matrix(uc_rng *rng, size_t rows, size_t cols, bool sparse)
{
    uc_matrix X;
    if (!sparse) {
        assert_ok(uc_matrix_create_dense(&X, rows, cols));
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++)
                X.values[i * X.stride + j] = (float)uc_rng_normal(rng);
        return X;
    }
    assert_ok(uc_matrix_create_sparse(&X, rows, cols, rows * cols));
    for (size_t i = 0; i < rows; i++) {
        X.offsets[i + 1] = X.offsets[i];
        for (uint32_t j = 0; j < cols; j++)
            if (uc_rng_below(rng, 3) == 0) {
                X.columns[X.offsets[i + 1]] = j;
                X.values[X.offsets[i + 1]++] = (float)uc_rng_normal(rng);
            }
    }
    return X;
}

/* The score of row i for class k by its definition; only columns below `cols` count. */
static double plain_score(const uc_matrix *X, size_t i, const double *W, size_t cols, size_t S, size_t k)
{
    const uc_row row = uc_matrix_row(X, i);
    double sum = 0.0;
    for (size_t e = 0; e < row.count; e++) {
        const size_t j = row.columns ? row.columns[e] : e;
        if (j < cols)
            sum += (double)row.values[e] * W[j * S + k];
    }
    return sum;
}

static void check_block(uc_rng *rng, size_t rows, size_t data_cols, size_t cols, size_t S, bool sparse,
                        bool offset)
{
    uc_matrix X = random_matrix(rng, rows + 3, data_cols, sparse);
    double *W = malloc((cols * S + 1) * sizeof *W), *scores = malloc((rows + 1) * S * sizeof *scores);
    double constants[64];
    assert_true(W && scores);
    for (size_t i = 0; i < cols * S; i++)
        W[i] = uc_rng_normal(rng);
    for (size_t k = 0; k < S; k++) {
        constants[k] = uc_rng_normal(rng);
        scores[rows * S + k] = 77.0; /* past the end */
    }
    memset(scores, 0xff, rows * S * sizeof *scores);
    uc_score_rows(scores, &X, 2, 2 + rows, W, cols, S, offset ? constants : NULL);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < S; k++)
            assert_near(scores[i * S + k],
                        plain_score(&X, 2 + i, W, cols, S, k) + (offset ? constants[k] : 0.0),
                        1e-13 * (1.0 + (double)data_cols));
    for (size_t k = 0; k < S; k++)
        assert_true(scores[rows * S + k] == 77.0);
    free(W);
    free(scores);
    uc_matrix_free(&X);
}

static void a_block_of_scores_is_what_each_row_gives(void **state)
{
    (void)state;
    static const size_t rows[] = {0, 1, 2, 7, 33}, strides[] = {1, 2, 4, 12, 16, 20, 28};
    static const size_t data_cols[] = {0, 1, 5, 17, 100, 511, 512, 513, 1100};
    uc_rng rng = uc_rng_make(1, 0);
    for (size_t r = 0; r < 5; r++)
        for (size_t s = 0; s < 7; s++)
            for (size_t c = 0; c < 9; c++)
                for (int sparse = 0; sparse < 2; sparse++)
                    check_block(&rng, rows[r], data_cols[c], data_cols[c], strides[s], sparse, (r + c) % 2);
}

static void columns_that_the_weights_do_not_know_are_ignored(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(2, 0);
    for (int sparse = 0; sparse < 2; sparse++) {
        check_block(&rng, 9, 40, 25, 4, sparse, true);
        check_block(&rng, 9, 40, 0, 4, sparse, true);
        check_block(&rng, 9, 1100, 513, 2, sparse, false);
        check_block(&rng, 9, 1100, 512, 1, sparse, false);
    }
}

static void columns_that_the_data_do_not_have_count_as_zero(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(3, 0);
    for (int sparse = 0; sparse < 2; sparse++) {
        check_block(&rng, 9, 25, 40, 4, sparse, true);
        check_block(&rng, 9, 0, 40, 8, sparse, true);
        check_block(&rng, 9, 520, 1100, 2, sparse, false);
    }
}

static void blas_runs_one_thread(void **state)
{
    (void)state;
    openblas_set_num_threads(2);
    const double A[4] = {1.0, 2.0, 3.0, 4.0};
    double C[4];
    uc_multiply(C, A, A, 2, 2, 2); /* the first use sets it */
    assert_int_equal(openblas_get_num_threads(), 1);
}

/* ---- small matrices ---- */

enum { MOST = 40 };

static void random_square(uc_rng *rng, double *A, size_t n)
{
    for (size_t i = 0; i < n * n; i++)
        A[i] = uc_rng_normal(rng);
    for (size_t i = 0; i < n; i++)
        A[i * n + i] += 3.0 * sqrt((double)n); /* well conditioned */
}

/* Gauss and Jordan's elimination with full search for the pivot in a column. */
static void plain_inverse(double *inverse, const double *matrix, size_t n)
{
    double A[MOST * MOST];
    memcpy(A, matrix, n * n * sizeof *A);
    memset(inverse, 0, n * n * sizeof *inverse);
    for (size_t i = 0; i < n; i++)
        inverse[i * n + i] = 1.0;
    for (size_t c = 0; c < n; c++) {
        size_t pivot = c;
        for (size_t r = c + 1; r < n; r++)
            if (fabs(A[r * n + c]) > fabs(A[pivot * n + c]))
                pivot = r;
        for (size_t j = 0; j < n; j++) {
            double swap = A[c * n + j];
            A[c * n + j] = A[pivot * n + j];
            A[pivot * n + j] = swap;
            swap = inverse[c * n + j];
            inverse[c * n + j] = inverse[pivot * n + j];
            inverse[pivot * n + j] = swap;
        }
        const double divisor = A[c * n + c];
        for (size_t j = 0; j < n; j++) {
            A[c * n + j] /= divisor;
            inverse[c * n + j] /= divisor;
        }
        for (size_t r = 0; r < n; r++) {
            const double factor = A[r * n + c];
            for (size_t j = 0; j < n && r != c; j++) {
                A[r * n + j] -= factor * A[c * n + j];
                inverse[r * n + j] -= factor * inverse[c * n + j];
            }
        }
    }
}

static void an_inverse_is_what_elimination_gives(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(5, 0);
    for (size_t n = 1; n <= MOST; n += 3) {
        double A[MOST * MOST], inverse[MOST * MOST], expected[MOST * MOST];
        random_square(&rng, A, n);
        plain_inverse(expected, A, n);
        assert_ok(uc_invert(inverse, A, n));
        for (size_t i = 0; i < n * n; i++)
            assert_near(inverse[i], expected[i], 1e-12);
    }
}

/* Not symmetric, so that rows and columns cannot be confused. */
static void a_small_inverse_worked_by_hand(void **state)
{
    (void)state;
    const double A[4] = {2.0, 1.0, 0.0, 4.0};
    double inverse[4];
    assert_ok(uc_invert(inverse, A, 2));
    assert_near(inverse[0], 0.5, 1e-15);
    assert_near(inverse[1], -0.125, 1e-15);
    assert_near(inverse[2], 0.0, 1e-15);
    assert_near(inverse[3], 0.25, 1e-15);
}

static void solutions_satisfy_their_equations(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(6, 0);
    for (size_t n = 1; n <= 20; n++)
        for (size_t columns = 1; columns <= 5; columns += 2) {
            double A[400], B[100], X[100];
            random_square(&rng, A, n);
            for (size_t i = 0; i < n * columns; i++)
                B[i] = uc_rng_normal(&rng);
            assert_ok(uc_solve(X, A, B, n, columns));
            for (size_t i = 0; i < n; i++)
                for (size_t c = 0; c < columns; c++) {
                    double sum = 0.0;
                    for (size_t j = 0; j < n; j++)
                        sum += A[i * n + j] * X[j * columns + c];
                    assert_near(sum, B[i * columns + c], 1e-12);
                }
        }
}

static void a_singular_matrix_is_refused_and_nothing_written(void **state)
{
    (void)state;
    const double A[9] = {1, 2, 3, 2, 4, 6, 1, 0, 1};
    double inverse[9];
    for (size_t i = 0; i < 9; i++)
        inverse[i] = 5.0;
    assert_error(uc_invert(inverse, A, 3), UC_ERR_INVALID, "the matrix is singular");
    for (size_t i = 0; i < 9; i++)
        assert_true(inverse[i] == 5.0);
}

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

/* One-sided Jacobi: rotate pairs of columns until all are orthogonal; their lengths are the singular values.
 * */
static void plain_singular_values(double *values, const double *matrix, size_t n)
{
    double A[MOST * MOST];
    memcpy(A, matrix, n * n * sizeof *A);
    for (size_t sweep = 0; sweep < 60; sweep++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                double a = 0.0, b = 0.0, c = 0.0;
                for (size_t i = 0; i < n; i++) {
                    a += A[i * n + p] * A[i * n + p];
                    b += A[i * n + q] * A[i * n + q];
                    c += A[i * n + p] * A[i * n + q];
                }
                if (fabs(c) <= 1e-300)
                    continue;
                const double z = (b - a) / (2.0 * c),
                             t = (z >= 0 ? 1.0 : -1.0) / (fabs(z) + sqrt(1.0 + z * z));
                const double cosine = 1.0 / sqrt(1.0 + t * t), sine = t * cosine;
                for (size_t i = 0; i < n; i++) {
                    const double x = A[i * n + p], y = A[i * n + q];
                    A[i * n + p] = cosine * x - sine * y;
                    A[i * n + q] = sine * x + cosine * y;
                }
            }
    for (size_t p = 0; p < n; p++) {
        double sum = 0.0;
        for (size_t i = 0; i < n; i++)
            sum += A[i * n + p] * A[i * n + p];
        values[p] = sqrt(sum);
    }
    qsort(values, n, sizeof *values, descending);
}

static void singular_values_are_those_of_jacobis_method(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(7, 0);
    for (size_t n = 1; n <= MOST; n += 3) {
        double A[MOST * MOST] = {0}, values[MOST], expected[MOST];
        for (size_t i = 0; i < n * n; i++)
            A[i] = uc_rng_normal(&rng);
        plain_singular_values(expected, A, n);
        assert_ok(uc_singular_values(values, A, n));
        for (size_t i = 0; i < n; i++)
            assert_near(values[i], expected[i], 1e-11);
    }
    const double rank_one[9] = {2, 4, 4, 1, 2, 2, 2, 4, 4}; /* (2, 1, 2)' (1, 2, 2): 3 x 3 = 9 */
    double values[3];
    assert_ok(uc_singular_values(values, rank_one, 3));
    assert_near(values[0], 9.0, 1e-14);
    assert_near(values[1], 0.0, 1e-14);
    assert_near(values[2], 0.0, 1e-14);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const double A[4] = {2.0, 1.0, 0.0, 4.0};
    double out[4], values[2];
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, uc_invert(out, A, 2));
    FOR_EACH_FAILING_ALLOCATION(status, uc_solve(out, A, A, 2, 2));
    assert_near(out[0], 1.0, 1e-15);
    FOR_EACH_FAILING_ALLOCATION(status, uc_singular_values(values, A, 2));
    assert_near(values[0] * values[1], 8.0, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blas_runs_one_thread), /* first: before anything else has used BLAS */
        cmocka_unit_test(a_block_of_scores_is_what_each_row_gives),
        cmocka_unit_test(columns_that_the_weights_do_not_know_are_ignored),
        cmocka_unit_test(columns_that_the_data_do_not_have_count_as_zero),
        cmocka_unit_test(an_inverse_is_what_elimination_gives),
        cmocka_unit_test(a_small_inverse_worked_by_hand),
        cmocka_unit_test(solutions_satisfy_their_equations),
        cmocka_unit_test(a_singular_matrix_is_refused_and_nothing_written),
        cmocka_unit_test(singular_values_are_those_of_jacobis_method),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
