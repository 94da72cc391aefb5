/* OpenBLAS' buffers: without room for one there is a sentence, and products are computed all the same. */
#include <math.h>
#include <stdatomic.h>
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

static bool single_without_room(void)
{
    const float A[4] = {1.0f, 2.0f, 3.0f, 4.0f}, B[4] = {0.5f, 1.0f, -1.0f, 2.0f};
    float C[4];
    uc_gemm_single(C, (uc_single_operand){A, 2, true}, (uc_single_operand){B, 2, false}, 2, 2, 2);
    if (C[0] != -2.5f || C[1] != 7.0f || C[2] != -3.0f || C[3] != 10.0f)
        return false;
    uc_squares_single(C, A, 2, 2);
    return C[0] == 10.0f && C[2] == 14.0f && C[3] == 20.0f;
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
    uc_gemm(C, N, (uc_operand){A, K, false}, (uc_operand){B, K, true}, M, K, N, 2.0, 3.0);
    double expected = 3.0 * c;
    for (size_t k = 0; k < K; k++)
        expected += 2.0 * A[K + k] * B[2 * K + k];
    if (fabs(C[N + 2] - expected) > 1e-12)
        return 3;
    uc_solve_lower(X, M, ROWS, L, M, M);
    for (size_t i = 0; i < M; i++)
        if (fabs(uc_dot(X + M, L + i * M, i + 1) - before[M + i]) > 1e-9)
            return 4;
    return single_without_room() ? 0 : 5;
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

enum { SIDE = 64, BLOCKS = 16, THREADS = 4 };

typedef struct products {
    double A[SIDE * SIDE], *C; /* C: BLOCKS of them */
} products;

static uc_status multiply(size_t block, void *user)
{
    products *self = user;
    for (int i = 0; i < 20; i++)
        uc_multiply(self->C + block * SIDE * SIDE, self->A, self->A, SIDE, SIDE, SIDE);
    return UC_OK;
}

static void check_products(products *self)
{
    memset(self->C, 0, (size_t)BLOCKS * SIDE * SIDE * sizeof *self->C);
    assert_ok(uc_run_blocks(&(uc_context){.threads = THREADS}, BLOCKS, multiply, self));
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++) {
            double expected = 0.0;
            for (size_t k = 0; k < SIDE; k++)
                expected += self->A[i * SIDE + k] * self->A[k * SIDE + j];
            for (size_t block = 0; block < BLOCKS; block++)
                assert_true(fabs(self->C[block * SIDE * SIDE + i * SIDE + j] - expected) < 1e-10);
        }
}

/* How many threads are between uc_blas_enter and uc_blas_leave, and how many were at most. Each stays
 * until all are there, or for as long as `pause_ms`. */
typedef struct crowd {
    atomic_uint inside, most;
    unsigned pause_ms;
} crowd;

static uc_status stay_inside(size_t block, void *user)
{
    crowd *self = user;
    (void)block;
    if (!uc_blas_enter())
        return UC_ERR_NOMEM;
    const unsigned now = atomic_fetch_add(&self->inside, 1) + 1;
    for (unsigned most = atomic_load(&self->most);
         now > most && !atomic_compare_exchange_weak(&self->most, &most, now);)
        ;
    for (unsigned i = 0; i < self->pause_ms && atomic_load(&self->most) < THREADS; i++)
        (void)usleep(1000);
    atomic_fetch_sub(&self->inside, 1);
    uc_blas_leave();
    return UC_OK;
}

static unsigned most_inside(unsigned pause_ms)
{
    crowd self = {.pause_ms = pause_ms};
    assert_ok(uc_run_blocks(&(uc_context){.threads = THREADS}, THREADS, stay_inside, &self));
    return atomic_load(&self.most);
}

/* Fewer buffers than threads: the threads take turns and none waits forever. */
static void more_threads_than_buffers_take_turns(void **state)
{
    (void)state;
    products self = {.C = malloc((size_t)BLOCKS * SIDE * SIDE * sizeof *self.C)};
    fill(self.A, SIDE * SIDE);
    uc_blas_limit(1);
    assert_ok(uc_blas_begin(THREADS));
    check_products(&self);
    assert_int_equal(most_inside(50), 1);
    free(self.C);
}

/* While a call runs no buffer is made; that is not remembered as if there were no room. */
static void buffers_that_could_not_be_made_during_a_call_are_made_later(void **state)
{
    (void)state;
    products self = {.C = malloc((size_t)BLOCKS * SIDE * SIDE * sizeof *self.C)};
    fill(self.A, SIDE * SIDE);
    uc_blas_limit(THREADS);
    assert_true(uc_blas_enter());
    assert_ok(uc_blas_begin(THREADS));
    uc_blas_leave();
    assert_int_equal(most_inside(50), 1);
    assert_ok(uc_blas_begin(THREADS));
    assert_int_equal(most_inside(10000), THREADS);
    check_products(&self);
    free(self.C);
}

/* Threads that enter while others ask for more buffers. */
static uc_status enter_or_begin(size_t block, void *user)
{
    if (block % 4 != 0)
        return multiply(block % BLOCKS, user);
    uc_blas_limit((unsigned)block / 4 + THREADS);
    return uc_blas_begin((unsigned)block / 4 + THREADS);
}

static void buffers_may_be_asked_for_while_others_work(void **state)
{
    (void)state;
    products self = {.C = malloc((size_t)BLOCKS * SIDE * SIDE * sizeof *self.C)};
    fill(self.A, SIDE * SIDE);
    assert_ok(uc_run_blocks(&(uc_context){.threads = THREADS}, BLOCKS, enter_or_begin, &self));
    check_products(&self);
    free(self.C);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_room_there_is_a_sentence), /* first: no buffer is there yet */
        cmocka_unit_test(more_threads_than_buffers_take_turns),
        cmocka_unit_test(buffers_that_could_not_be_made_during_a_call_are_made_later),
        cmocka_unit_test(buffers_may_be_asked_for_while_others_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
