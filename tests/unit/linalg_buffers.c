/* OpenBLAS' buffers: without room for one there is a sentence, and products are computed all the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linalg/linalg.h"
#include "tests/support.h"

enum { M = 5, K = 7, N = 3, ROWS = 4 };

static void fill(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = 0.5 + (double)(i * 7 % 11) / 11.0;
}

/* In a process whose address space may not grow; its exit status tells which claim failed. */
static int without_room(void)
{
    const struct rlimit none = {1, 1};
    double A[M * K], B[K * N], C[M * N], X[ROWS * M], L[M * M], before[ROWS * M];
    fill(A, M * K);
    fill(B, K * N);
    fill(C, M * N);
    fill(X, ROWS * M);
    fill(L, M * M);
    memcpy(before, X, sizeof X);
    const double c = C[N + 2];
    if (setrlimit(RLIMIT_AS, &none) != 0)
        return 1;
    if (uc_blas_begin(2) != UC_ERR_NOMEM || !strstr(uc_last_error(), "OpenBLAS needs 128 MB"))
        return 2;
    uc_multiply_blocks(C, N, (uc_block){A, K, false}, (uc_block){B, K, true}, M, K, N, 2.0, 3.0);
    double expected = 3.0 * c;
    for (size_t k = 0; k < K; k++)
        expected += 2.0 * A[K + k] * B[2 * K + k];
    if (fabs(C[N + 2] - expected) > 1e-12)
        return 3;
    uc_solve_lower(X, M, ROWS, L, M, M);
    for (size_t i = 0; i < M; i++)
        if (fabs(uc_dot(X + M, L + i * M, i + 1) - before[M + i]) > 1e-9)
            return 4;
    return 0;
}

static void without_room_there_is_a_sentence(void **state)
{
    (void)state;
    if (SANITIZED)
        skip(); /* which needs room itself */
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(without_room());
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static uc_status multiply(size_t block, void *user)
{
    static double A[64 * 64];
    double *C = user;
    for (int i = 0; i < 20; i++)
        uc_multiply(C + block * 64 * 64, A, A, 64, 64, 64);
    return UC_OK;
}

/* Fewer buffers than threads: they take turns and nobody waits for ever. */
static void more_threads_than_buffers_take_turns(void **state)
{
    (void)state;
    double *C = calloc((size_t)16 * 64 * 64, sizeof *C);
    assert_ok(uc_blas_begin(1));
    assert_ok(uc_run_blocks(&(uc_context){.threads = 8}, 16, multiply, C));
    assert_ok(uc_blas_begin(8)); /* more of them, later */
    assert_ok(uc_run_blocks(&(uc_context){.threads = 8}, 16, multiply, C));
    free(C);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_room_there_is_a_sentence), /* first: no buffer is there yet */
        cmocka_unit_test(more_threads_than_buffers_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
