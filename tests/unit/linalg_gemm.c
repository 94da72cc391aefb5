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

/* 3 x 4 parts of larger matrices, either of them turned, added to what is there. */
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
        uc_multiply_blocks(C, STRIDE, (uc_block){A, STRIDE, a}, (uc_block){B, STRIDE, b}, M, K, N, -2.0, 3.0);
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

static void the_largest_eigenvalues_come_first_with_their_vectors(void **state)
{
    (void)state;
    enum { SIZE = 150 }; /* vectors are made 64 at a time */
    static double half[SIZE * SIZE], A[SIZE * SIZE], copy[SIZE * SIZE], vectors[SIZE * SIZE];
    static double again[SIZE * SIZE];
    double all[SIZE], values[SIZE], trace = 0.0, sum = 0.0;
    const uc_context three = {.threads = 3};
    fill(half, SIZE * SIZE, 6);
    for (size_t i = 0; i < SIZE; i++)
        for (size_t j = 0; j < SIZE; j++)
            A[i * SIZE + j] = half[i * SIZE + j] + half[j * SIZE + i];
    memcpy(copy, A, sizeof A);
    assert_ok(uc_eigen_top(all, vectors, copy, SIZE, SIZE, NULL));
    for (size_t i = 0; i < SIZE; i++) {
        trace += A[i * SIZE + i];
        sum += all[i];
    }
    assert_near(sum, trace, 1e-11);
    const size_t counts[] = {1, 64, 65, SIZE};
    for (size_t c = 0; c < 4; c++) {
        memcpy(copy, A, sizeof A);
        assert_ok(uc_eigen_top(values, vectors, copy, SIZE, counts[c], NULL));
        for (size_t k = 0; k < counts[c]; k++) {
            const double *v = vectors + k * SIZE;
            assert_near(values[k], all[k], 1e-11);
            assert_true(k == 0 || values[k] <= values[k - 1]);
            assert_near(uc_dot(v, v, SIZE), 1.0, 1e-12);
            for (size_t other = 0; other < k; other++)
                assert_near(uc_dot(v, vectors + other * SIZE, SIZE), 0.0, 1e-12);
            for (size_t i = 0; i < SIZE; i++)
                assert_near(uc_dot(A + i * SIZE, v, SIZE), values[k] * v[i], 1e-11);
        }
        for (int turn = 0; turn < 20; turn++) { /* threads that disturb each other do so only sometimes */
            memcpy(copy, A, sizeof A);
            assert_ok(uc_eigen_top(values, again, copy, SIZE, counts[c], &three));
            assert_memory_equal(again, vectors, counts[c] * SIZE * sizeof *vectors);
        }
    }
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
        cmocka_unit_test(a_lower_triangle_is_inverted_and_solved_with),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
