/* Products, eigenvectors and triangles against loops. */
#include "tests/support.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "unconfuse/random.h"

static void fill(double *values, size_t count, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 400);
    for (size_t i = 0; i < count; i++)
        values[i] = uc_rng_normal(&rng);
}

static void a_product_is_the_sum_of_products(void **state)
{
    (void)state;
    double A[5 * 7], B[7 * 4], C[5 * 4];
    fill(A, 35, 1);
    fill(B, 28, 2);
    uc_multiply(C, A, B, 5, 7, 4);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 4; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < 7; k++)
                sum += A[i * 7 + k] * B[k * 4 + j];
            assert_near(C[i * 4 + j], sum, 1e-13);
        }
    uc_multiply(C, A, B, 5, 0, 4); /* no terms: zero */
    for (size_t i = 0; i < 20; i++)
        assert_true(C[i] == 0.0);
    assert_near(uc_dot(A, B, 20), A[0] * B[0] + uc_dot(A + 1, B + 1, 19), 1e-13);
}

/* 3 x 4 parts of larger matrices, either of them transposed, added to existing values. */
static void blocks_may_be_transposed_and_have_gaps(void **state)
{
    (void)state;
    enum { M = 3, K = 4, N = 2, STRIDE = 6 };
    double A[STRIDE * STRIDE], B[STRIDE * STRIDE], C[STRIDE * STRIDE], before[STRIDE * STRIDE];
    fill(A, STRIDE * STRIDE, 3);
    fill(B, STRIDE * STRIDE, 4);
    for (int turned = 0; turned < 4; turned++) {
        const bool a = turned & 1, b = turned & 2;
        fill(C, STRIDE * STRIDE, 5);
        memcpy(before, C, sizeof C);
        uc_gemm(C, STRIDE, (uc_operand){A, STRIDE, a}, (uc_operand){B, STRIDE, b}, M, K, N, -2.0, 3.0);
        for (size_t i = 0; i < STRIDE; i++)
            for (size_t j = 0; j < STRIDE; j++) {
                double expected = before[i * STRIDE + j];
                if (i < M && j < N) {
                    expected *= 3.0;
                    for (size_t k = 0; k < K; k++)
                        expected -= 2.0 * (a ? A[k * STRIDE + i] : A[i * STRIDE + k]) *
                                    (b ? B[j * STRIDE + k] : B[k * STRIDE + j]);
                }
                assert_near(C[i * STRIDE + j], expected, 1e-13);
            }
    }
}

enum { LARGEST = 150 };

/* `count` eigenvalues of a random symmetric matrix: A v = lambda v, v orthonormal, the same bits with
 * threads. */
static void check_eigenvalues(size_t n, size_t count)
{
    static double half[LARGEST * LARGEST], A[LARGEST * LARGEST], copy[LARGEST * LARGEST];
    static double vectors[LARGEST * LARGEST], again[LARGEST * LARGEST];
    double values[LARGEST], trace = 0.0, sum = 0.0;
    const uc_context three = {.threads = 3};
    fill(half, n * n, 6);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            A[i * n + j] = half[i * n + j] + half[j * n + i];
    memcpy(copy, A, n * n * sizeof *A);
    assert_ok(uc_eigen_top(values, vectors, copy, n, count, NULL));
    for (size_t k = 0; k < count; k++) {
        const double *v = vectors + k * n;
        assert_true(k == 0 || values[k] <= values[k - 1]);
        assert_near(uc_dot(v, v, n), 1.0, 1e-12);
        for (size_t other = 0; other < k; other++)
            assert_near(uc_dot(v, vectors + other * n, n), 0.0, 1e-12);
        for (size_t i = 0; i < n; i++)
            assert_near(uc_dot(A + i * n, v, n), values[k] * v[i], 1e-11);
        trace += A[k * n + k];
        sum += values[k];
    }
    if (count == n)
        assert_near(sum, trace, 1e-11);
    for (int turn = 0; turn < 20; turn++) { /* threads that disturb each other do so only sometimes */
        memcpy(copy, A, n * n * sizeof *A);
        assert_ok(uc_eigen_top(values, again, copy, n, count, &three));
        assert_memory_equal(again, vectors, count * n * sizeof *vectors);
    }
}

/* Vectors are made 64 at a time, by reflections of 32 columns at a time: n - 1 of them. */
static void the_largest_eigenvalues_come_first_with_their_vectors(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 3, 32, 33, 34, 65, LARGEST}, counts[] = {1, 64, 65, LARGEST};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            check_eigenvalues(sizes[s], counts[c] < sizes[s] ? counts[c] : sizes[s]);
}

static void eigenvalues_that_cannot_be_are_refused(void **state)
{
    (void)state;
    double A[9] = {2.0, 1.0, 0.0, 1.0, NAN, 1.0, 0.0, 1.0, 2.0}, values[3], vectors[9];
    assert_error(uc_eigen_top(values, vectors, A, 3, 3, NULL), UC_ERR_DIVERGED,
                 "the eigenvalues of a 3 x 3 matrix did not converge");
    assert_ok(uc_eigen_check(1000, 0.0, "the map", NULL));
    assert_error(
        uc_eigen_check(46001, 0.0, "the map", NULL), UC_ERR_INVALID,
        "the map: the eigenvalues of a 46001 x 46001 matrix; at most 46000 rows can be: lower {dimension}");
    const uc_context small = {.memory = 1 << 20};
    assert_int_equal(uc_eigen_check(1000, 0.0, "the map", &small), UC_ERR_NOMEM);
}

static void a_lower_triangle_is_inverted_and_solved_with(void **state)
{
    (void)state;
    enum { SIZE = 6, ROWS = 3, STRIDE = 8 };
    double L[SIZE * SIZE], inverse[SIZE * SIZE], X[ROWS * STRIDE], given[ROWS * STRIDE];
    fill(L, SIZE * SIZE, 7);
    fill(X, ROWS * STRIDE, 8);
    for (size_t i = 0; i < SIZE; i++)
        L[i * SIZE + i] = 2.0 + (double)i;
    memcpy(inverse, L, sizeof L);
    memcpy(given, X, sizeof X);
    assert_ok(uc_invert_lower(inverse, SIZE));
    uc_solve_lower(X, STRIDE, ROWS, L, SIZE, SIZE);
    for (size_t i = 0; i < SIZE; i++)
        for (size_t j = 0; j < SIZE; j++) {
            double sum = 0.0;
            for (size_t k = j; k <= i; k++)
                sum += L[i * SIZE + k] * inverse[k * SIZE + j];
            if (j > i)
                assert_true(inverse[i * SIZE + j] == L[i * SIZE + j]); /* above the diagonal: left alone */
            else
                assert_near(sum, i == j ? 1.0 : 0.0, 1e-12);
        }
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < STRIDE; i++)
            assert_near(i < SIZE ? uc_dot(L + i * SIZE, X + r * STRIDE, i + 1) : X[r * STRIDE + i],
                        given[r * STRIDE + i], 1e-12);
    L[0] = 0.0;
    assert_error(uc_invert_lower(L, SIZE), UC_ERR_INVALID, "the triangular matrix is singular");
}

static uc_status eigen_once(void)
{
    double A[9] = {2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0}, values[3], vectors[9];
    return uc_eigen_top(values, vectors, A, 3, 3, NULL);
}

/* In single precision; either operand transposed. */
static void single_products_are_those_of_doubles(void **state)
{
    (void)state;
    enum { M = 3, K = 7, N = 5, STRIDE = 8 };
    double values[2 * STRIDE * STRIDE];
    float A[STRIDE * STRIDE], B[STRIDE * STRIDE], C[M * N], squares[N * N];
    fill(values, 2 * STRIDE * STRIDE, 8);
    for (size_t i = 0; i < STRIDE * STRIDE; i++) {
        A[i] = (float)values[i];
        B[i] = (float)values[STRIDE * STRIDE + i];
    }
    assert_ok(uc_blas_begin(1));
    for (int turned = 0; turned < 4; turned++) {
        const bool a = turned & 1, b = turned & 2;
        uc_gemm_single(C, (uc_single_operand){A, STRIDE, a}, (uc_single_operand){B, STRIDE, b}, M, K, N);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                double expected = 0.0;
                for (size_t k = 0; k < K; k++)
                    expected += (double)(a ? A[k * STRIDE + i] : A[i * STRIDE + k]) *
                                (double)(b ? B[j * STRIDE + k] : B[k * STRIDE + j]);
                assert_near(C[i * N + j], expected, 1e-5);
            }
    }
    uc_squares_single(squares, A, K, N); /* rows without gaps */
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            double expected = 0.0;
            for (size_t k = 0; k < K; k++)
                expected += (double)A[k * N + i] * (double)A[k * N + j];
            assert_near(squares[i * N + j], expected, 1e-5);
        }
}

/* The squares of 9 rows of 6, their factor, and a solution. */
static void squares_are_factored_and_solved_with(void **state)
{
    (void)state;
    double X[9 * 6], A[6 * 6] = {0}, L[6 * 6], b[2 * 6], x[2 * 6];
    fill(X, 54, 5);
    fill(b, 12, 6);
    assert_ok(uc_blas_begin(1));
    uc_add_squares(A, X, 9, 6);
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < 9; k++)
                sum += X[k * 6 + i] * X[k * 6 + j];
            assert_near(A[i * 6 + j], sum, 1e-13);
        }
    memcpy(L, A, sizeof L);
    memcpy(x, b, sizeof x);
    assert_ok(uc_cholesky(L, 6));
    uc_solve_cholesky(x, 2, L, 6);
    for (size_t r = 0; r < 2; r++)
        for (size_t i = 0; i < 6; i++) {
            double sum = 0.0;
            for (size_t j = 0; j < 6; j++)
                sum += (j <= i ? A[i * 6 + j] : A[j * 6 + i]) * x[r * 6 + j];
            assert_near(sum, b[r * 6 + i], 1e-11);
        }
    A[0] = -1.0;
    assert_error_has(uc_cholesky(A, 6), UC_ERR_DIVERGED, "not positive definite");
}

/* x'Ax by a root in single precision, where A has entries of 10,000 that cancel: x is at a right angle to v,
 * A = 10,000 vv' + 0.01 X'X. */
static void a_root_in_single_precision_measures_what_cancels(void **state)
{
    (void)state;
    enum { N = 11, WIDTH = 16, COUNT = 5 };
    double A[N * WIDTH] = {0}, X[2 * N * N], v[N], work[N * N];
    float root[N * WIDTH] = {0}, rows[COUNT * WIDTH] = {0}, roots[COUNT * WIDTH];
    fill(X, 2 * N * N, 7);
    fill(v, N, 8);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            A[i * WIDTH + j] = 1e4 * v[i] * v[j];
            for (size_t k = 0; k < 2 * N; k++)
                A[i * WIDTH + j] += 0.01 * X[k * N + i] * X[k * N + j];
        }
    for (size_t r = 0; r < COUNT; r++) { /* two entries that make the angle right */
        rows[r * WIDTH + r] = (float)v[r + 1];
        rows[r * WIDTH + r + 1] = (float)-v[r];
    }
    memcpy(roots, rows, sizeof roots);
    assert_ok(uc_blas_begin(1));
    assert_ok(uc_symmetric_root(root, A, WIDTH, N, work));
    uc_times_root(roots, COUNT, root, WIDTH, N);
    for (size_t r = 0; r < COUNT; r++) {
        double exact = 0.0, found = 0.0;
        for (size_t k = 0; k < 2 * N; k++) {
            double product = 0.0;
            for (size_t j = 0; j < N; j++)
                product += X[k * N + j] * (double)rows[r * WIDTH + j];
            exact += 0.01 * product * product;
        }
        for (size_t j = 0; j < N; j++)
            found += (double)roots[r * WIDTH + j] * (double)roots[r * WIDTH + j];
        assert_near(found, exact, 1e-3 * exact);
    }
    A[0] = -1.0;
    assert_error_has(uc_symmetric_root(root, A, WIDTH, N, work), UC_ERR_DIVERGED, "not positive definite");
}

/* A + shift times the solution is what was solved for, and its product with that is the quadratic form, for
 * sizes of one panel of reflections and of several. */
static void tridiagonal_forms_solve_for_every_shift(void **state)
{
    (void)state;
    enum { MOST = 70, ROWS = 6, SHIFTS = 5, P = 8 };
    const size_t sizes[] = {1, 2, 33, MOST};
    const double shifts[SHIFTS] = {0.01, 0.1, 1, 10, 100};
    static double X[2 * MOST * MOST], A[MOST * MOST], changed[MOST * MOST], ratios[MOST * P],
        inverses[MOST * P];
    double rows[ROWS * MOST], solved[ROWS * MOST], H[ROWS * P];
    assert_ok(uc_blas_begin(1));
    for (size_t t = 0; t < 4; t++) {
        const size_t n = sizes[t];
        uc_tridiagonal T;
        fill(X, 2 * n * n, 30 + t);
        memset(A, 0, sizeof A);
        uc_add_squares(A, X, 2 * n, n);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++)
                A[j * n + i] = A[i * n + j];
        memcpy(changed, A, sizeof A);
        assert_ok(uc_tridiagonalise(&T, changed, n));
        uc_tridiagonal_factor(ratios, inverses, &T, shifts, SHIFTS);
        fill(rows, ROWS * n, 40 + t);
        memcpy(solved, rows, sizeof rows);
        assert_ok(uc_tridiagonal_reflect(solved, ROWS, &T, false));
        uc_tridiagonal_forms(H, solved, ROWS, n, ratios, inverses, P / UC_LANES);
        for (size_t s = 0; s < SHIFTS; s++) {
            memcpy(solved, rows, sizeof rows);
            assert_ok(uc_tridiagonal_reflect(solved, ROWS, &T, false));
            uc_tridiagonal_solve(solved, ROWS, n, ratios + s, inverses + s, P);
            assert_ok(uc_tridiagonal_reflect(solved, ROWS, &T, true));
            for (size_t r = 0; r < ROWS; r++) {
                const double *x = solved + r * n;
                for (size_t i = 0; i < n; i++)
                    assert_near(uc_dot(A + i * n, x, n) + shifts[s] * x[i], rows[r * n + i], 1e-9);
                assert_near(H[r * P + s], uc_dot(rows + r * n, x, n), 1e-9 * (1 + H[r * P + s]));
            }
        }
        uc_tridiagonal_free(&T);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, eigen_once());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_is_the_sum_of_products),
        cmocka_unit_test(blocks_may_be_transposed_and_have_gaps),
        cmocka_unit_test(the_largest_eigenvalues_come_first_with_their_vectors),
        cmocka_unit_test(eigenvalues_that_cannot_be_are_refused),
        cmocka_unit_test(a_lower_triangle_is_inverted_and_solved_with),
        cmocka_unit_test(single_products_are_those_of_doubles),
        cmocka_unit_test(squares_are_factored_and_solved_with),
        cmocka_unit_test(a_root_in_single_precision_measures_what_cancels),
        cmocka_unit_test(tridiagonal_forms_solve_for_every_shift),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
