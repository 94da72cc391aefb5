/* Blocks and sums: the same bits for any number of threads, the lowest failure, and more than one process. */
#include "tests/support.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "parallel/parallel.h"
#include "unconfuse/random.h"

static const unsigned thread_counts[] = {1, 2, 3, 7};

/* ---- blocks ---- */

static uc_status count_block(size_t block, void *user)
{
    atomic_fetch_add((atomic_int *)user + block, 1);
    return UC_OK;
}

static void every_block_runs_exactly_once(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 5, 70, 1000};
    static const unsigned threads[] = {1,  2,  3,  7,
                                       63, 64, 65, 200}; /* above 64 some begin at the same blocks */
    for (size_t t = 0; t < 8; t++)
        for (size_t c = 0; c < 6; c++) {
            static atomic_int runs[1000];
            memset(runs, 0, sizeof runs);
            const uc_context context = {.threads = threads[t]};
            assert_ok(uc_run_blocks(&context, counts[c], count_block, runs));
            for (size_t b = 0; b < 1000; b++)
                assert_int_equal(runs[b], b < counts[c]);
        }
}

/* Block `lowest` and every second one after it fail. It must not matter whether the lowest fails before or
 * after the next one that was already running: `lowest_first` decides which one waits for the other (not
 * forever, since there may be only one thread). */
typedef struct failing {
    size_t lowest;
    bool lowest_first;
    atomic_bool lowest_failed, higher_began, higher_failed;
    atomic_size_t before; /* blocks below the lowest that ran */
    atomic_size_t all;
} failing;

static void wait_for(atomic_bool *event)
{
    for (size_t i = 0; i < 2000 && !atomic_load(event); i++)
        sched_yield();
}

static uc_status fail_late(size_t block, void *user)
{
    failing *self = user;
    atomic_fetch_add(&self->all, 1);
    if (block < self->lowest)
        atomic_fetch_add(&self->before, 1);
    if (block < self->lowest || (block - self->lowest) % 2 == 1)
        return UC_OK;
    if (block == self->lowest) {
        wait_for(self->lowest_first ? &self->higher_began : &self->higher_failed);
        atomic_store(&self->lowest_failed, true);
        return uc_fail(UC_ERR_FORMAT, "block %zu failed", block);
    }
    atomic_store(&self->higher_began, true);
    if (self->lowest_first) {
        wait_for(&self->lowest_failed);
        for (int i = 0; i < 100; i++) /* until its failure has been noted */
            sched_yield();
    }
    atomic_store(&self->higher_failed, true);
    return uc_fail(UC_ERR_IO, "block %zu failed", block);
}

static void the_lowest_block_that_fails_is_reported_for_any_number_of_threads(void **state)
{
    (void)state;
    static const size_t lowest[] = {0, 1, 3, 17, 96};
    for (size_t t = 0; t < 4; t++)
        for (size_t l = 0; l < 5; l++)
            for (size_t repeat = 0; repeat < 10; repeat++) {
                failing job = {.lowest = lowest[l], .lowest_first = repeat % 2};
                char sentence[64];
                const uc_context context = {.threads = thread_counts[t]};
                snprintf(sentence, sizeof sentence, "block %zu failed", lowest[l]);
                assert_error(uc_run_blocks(&context, 100, fail_late, &job), UC_ERR_FORMAT, sentence);
                assert_int_equal(job.before, lowest[l]);
            }
}

static void no_new_block_begins_after_a_failure(void **state)
{
    (void)state;
    for (size_t t = 0; t < 4; t++) {
        failing job = {.lowest = 2};
        const uc_context context = {.threads = thread_counts[t]};
        assert_status(uc_run_blocks(&context, 100000, fail_late, &job), UC_ERR_FORMAT);
        assert_true(job.all < 50000);
    }
}

/* ---- sums ---- */

enum { LENGTH = 3, MOST_ROWS = 40000 };

typedef struct numbers {
    double values[MOST_ROWS];
    size_t fail_at; /* a row; SIZE_MAX: none */
} numbers;

static uc_status add_numbers(double *sum, size_t first, size_t last, void *user)
{
    const numbers *self = user;
    for (size_t i = first; i < last; i++) {
        if (i >= self->fail_at)
            return uc_fail(UC_ERR_INVALID, "row %zu", i);
        sum[0] += self->values[i];
        sum[1] += self->values[i] * self->values[i];
        sum[2] += 1.0;
    }
    return UC_OK;
}

static numbers *make_numbers(void)
{
    numbers *self = malloc(sizeof *self);
    assert_non_null(self);
    uc_rng rng = uc_rng_make(1, 1);
    for (size_t i = 0; i < MOST_ROWS; i++) /* of very different sizes, so that the order of additions shows */
        self->values[i] = ldexp(uc_rng_normal(&rng), (int)uc_rng_below(&rng, 60) - 30);
    self->fail_at = SIZE_MAX;
    return self;
}

static void sums_have_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    numbers *data = make_numbers();
    static const size_t rows[] = {0, 1, 511, 512, 513, 1024, 5000, 8192, 8193, MOST_ROWS};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double first[LENGTH], plain[LENGTH] = {1.0, 2.0, 3.0}, size = 0.0;
        add_numbers(plain, 0, rows[r], data);
        for (size_t i = 0; i < rows[r]; i++)
            size += fabs(data->values[i]);
        for (size_t t = 0; t < 4; t++) {
            const uc_context context = {.threads = thread_counts[t]};
            double sum[LENGTH] = {1.0, 2.0, 3.0}; /* is added to */
            assert_ok(uc_sum_over(&context, rows[r], add_numbers, data, sum, LENGTH));
            assert_near(sum[0], plain[0], 1e-12 * size);
            assert_near_relative(sum[1], plain[1], 1e-12);
            assert_true(sum[2] == plain[2]);
            if (t == 0)
                memcpy(first, sum, sizeof sum);
            assert_memory_equal(sum, first, sizeof sum);
        }
        double sum[LENGTH] = {1.0, 2.0, 3.0};
        assert_ok(uc_sum_over(NULL, rows[r], add_numbers, data, sum, LENGTH));
        assert_memory_equal(sum, first, sizeof sum);
    }
    free(data);
}

static uc_status add_long(double *sum, size_t first, size_t last, void *user)
{
    const size_t length = *(const size_t *)user;
    for (size_t i = first; i < last; i++)
        sum[(i * 7919) % length] += 1.0 / (double)(i + 1);
    return UC_OK;
}

/* Too long for all lanes: fewer of them are used, one if there is no memory, and still nothing depends on
 * the threads. */
static void very_long_sums_have_the_same_bits_too(void **state)
{
    (void)state;
    size_t length = ((size_t)5 << 20) + 3;
    const size_t rows = 20 * 512;
    static const uint64_t memories[] = {0, (uint64_t)1 << 30, (uint64_t)1 << 26};
    for (size_t m = 0; m < 3; m++) {
        double *first = calloc(length, sizeof *first), *sum = calloc(length, sizeof *sum);
        assert_true(first && sum);
        const uc_context one = {.threads = 1, .memory = memories[m]},
                         three = {.threads = 3, .memory = memories[m]};
        assert_ok(uc_sum_over(&one, rows, add_long, &length, first, length));
        assert_ok(uc_sum_over(&three, rows, add_long, &length, sum, length));
        assert_memory_equal(sum, first, length * sizeof *sum);
        for (size_t i = 0; i < rows; i += 97)
            assert_near_relative(sum[(i * 7919) % length], 1.0 / (double)(i + 1), 1e-15);
        free(first);
        free(sum);
    }
}

/* Every lane adds to all numbers; pieces of the sum must be added in the order of the lanes. */
static uc_status add_everywhere(double *sum, size_t first, size_t last, void *user)
{
    const size_t length = *(const size_t *)user;
    for (size_t i = first; i < last; i += 64)
        for (size_t j = 0; j < length; j++)
            sum[j] += ldexp(1.0 / (double)(i + j + 1), (int)(i / 64 % 50) - 25);
    return UC_OK;
}

static void lanes_are_added_in_order_by_any_number_of_threads(void **state)
{
    (void)state;
    enum { LONG = 70001 };
    size_t length = LONG;
    static double first[LONG], sum[LONG];
    for (size_t t = 0; t < 4; t++) {
        const uc_context context = {.threads = thread_counts[t]};
        memset(sum, 0, sizeof sum);
        assert_ok(uc_sum_over(&context, 16 * 512 + 5, add_everywhere, &length, sum, length));
        if (t == 0)
            memcpy(first, sum, sizeof sum);
        assert_memory_equal(sum, first, sizeof sum);
    }
}

static void a_sum_that_fails_leaves_the_numbers_as_they_were(void **state)
{
    (void)state;
    numbers *data = make_numbers();
    data->fail_at = 6000;
    for (size_t t = 0; t < 4; t++) {
        const uc_context context = {.threads = thread_counts[t]};
        double sum[LENGTH] = {1.0, 2.0, 3.0};
        assert_error_has(uc_sum_over(&context, MOST_ROWS, add_numbers, data, sum, LENGTH), UC_ERR_INVALID,
                         "row ");
        assert_true(sum[0] == 1.0 && sum[1] == 2.0 && sum[2] == 3.0);
    }
    free(data);
}

/* Which row is named must not depend on the threads either. */
static void a_sum_that_fails_names_the_same_row_for_any_number_of_threads(void **state)
{
    (void)state;
    numbers *data = make_numbers();
    data->fail_at = 6000;
    char first[128] = "";
    for (size_t t = 0; t < 4; t++) {
        const uc_context context = {.threads = thread_counts[t]};
        double sum[LENGTH] = {0};
        assert_status(uc_sum_over(&context, MOST_ROWS, add_numbers, data, sum, LENGTH), UC_ERR_INVALID);
        if (t == 0)
            snprintf(first, sizeof first, "%s", uc_last_error());
        assert_string_equal(uc_last_error(), first);
    }
    free(data);
}

static void every_allocation_of_a_sum_may_fail(void **state)
{
    (void)state;
    numbers *data = make_numbers();
    double sum[LENGTH] = {0};
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, uc_sum_over(NULL, 100, add_numbers, data, sum, LENGTH));
    assert_true(sum[2] == 100.0);
    free(data);
}

static void a_sum_too_long_for_memory_is_refused(void **state)
{
    (void)state;
    double sum = 0.0;
    numbers *data = make_numbers();
    assert_status(uc_sum_over(NULL, MOST_ROWS, add_numbers, data, &sum, SIZE_MAX / 4), UC_ERR_NOMEM);
    free(data);
}

/* ---- processes ---- */

/* Two processes in one: the other one contributes `other`, and that it did not fail. */
typedef struct pair {
    uc_comm comm;
    double other[LENGTH + 1];
    uc_status status;
    size_t calls;
} pair;

static uc_status sum_of_two(const uc_comm *comm, double *values, size_t length)
{
    pair *self = (pair *)(uintptr_t)comm;
    self->calls++;
    for (size_t i = 0; i < length; i++)
        values[i] += self->other[i];
    return self->status == UC_OK ? UC_OK : uc_fail(self->status, "the other process is gone");
}

static void a_sum_is_over_all_processes(void **state)
{
    (void)state;
    numbers *data = make_numbers();
    pair two = {.comm = {.rank = 0, .size = 2, .sum = sum_of_two}};
    assert_int_equal(add_numbers(two.other, 1000, 3000, data), UC_OK);
    double alone[LENGTH] = {0}, sum[LENGTH] = {10.0, 20.0, 30.0};
    assert_ok(uc_sum_over(NULL, 1000, add_numbers, data, alone, LENGTH));
    const uc_context context = {.threads = 2, .comm = &two.comm};
    assert_ok(uc_sum_over(&context, 1000, add_numbers, data, sum, LENGTH));
    assert_int_equal(two.calls, 1);
    /* what was in `sum` before counts once, not once a process */
    assert_true(sum[0] == 10.0 + (alone[0] + two.other[0]));
    assert_true(sum[1] == 20.0 + (alone[1] + two.other[1]));
    assert_true(sum[2] == 3030.0);

    two.status = UC_ERR_IO;
    memset(sum, 0, sizeof sum);
    assert_error(uc_sum_over(&context, 1000, add_numbers, data, sum, LENGTH), UC_ERR_IO,
                 "the other process is gone");
    assert_true(sum[0] == 0.0 && sum[1] == 0.0 && sum[2] == 0.0);
    free(data);
}

/* A process without rows of its own still takes part. */
static void a_process_without_rows_takes_part_in_the_sum(void **state)
{
    (void)state;
    numbers *data = make_numbers();
    pair two = {.comm = {.rank = 1, .size = 2, .sum = sum_of_two}, .other = {1.0, 2.0, 3.0}};
    double sum[LENGTH] = {0};
    const uc_context context = {.comm = &two.comm};
    assert_ok(uc_sum_over(&context, 0, add_numbers, data, sum, LENGTH));
    assert_int_equal(two.calls, 1);
    assert_true(sum[0] == 1.0 && sum[1] == 2.0 && sum[2] == 3.0);
    free(data);
}

static void a_process_alone_sums_its_own(void **state)
{
    (void)state;
    double values[2] = {1.5, -2.0};
    assert_ok(uc_comm_sum(NULL, values, 2));
    assert_true(values[0] == 1.5 && values[1] == -2.0);
    assert_int_equal(uc_comm_rank(NULL), 0);
    assert_int_equal(uc_comm_size(NULL), 1);
    assert_null(uc_comm_start());
}

/* ---- the context ---- */

static void threads_and_memory_come_from_the_context_or_the_machine(void **state)
{
    (void)state;
    const uc_context context = {.threads = 5, .memory = 1000000};
    assert_int_equal(uc_threads(&context), 5);
    assert_true(uc_threads(NULL) >= 1);
    assert_int_equal(uc_memory_limit(&context), 1000000);
    assert_true(uc_memory_limit(NULL) > 1000000);
    assert_ok(uc_memory_check(&context, 1e6, "a thing"));
    assert_error(uc_memory_check(&context, 1.6e6, "a thing"), UC_ERR_NOMEM,
                 "a thing needs 1.6 MB of memory, more than the limit of 1.0 MB ({memory})");
    assert_ok(uc_memory_check(NULL, 1e6, "a thing"));
}

typedef struct listener {
    bool go_on;
    char heard[128];
} listener;

static bool hear(const char *task, double done, double total, const char *detail, void *user)
{
    listener *self = user;
    snprintf(self->heard, sizeof self->heard, "%s %g %g %s", task, done, total, detail ? detail : "-");
    return self->go_on;
}

static void hear_warning(const char *sentence, void *user)
{
    snprintf(((listener *)user)->heard, sizeof((listener *)user)->heard, "%s", sentence);
}

static void progress_is_told_and_may_cancel(void **state)
{
    (void)state;
    listener user = {.go_on = true};
    uc_context context = {.progress = hear, .warn = hear_warning, .user = &user};
    assert_ok(uc_report(&context, "work", 3, 4, NULL));
    assert_string_equal(user.heard, "work 3 4 -");
    user.go_on = false;
    assert_error(uc_report(&context, "work", 3, 4, "detail"), UC_ERR_CANCELLED, "interrupted");
    assert_ok(uc_report(NULL, "work", 3, 4, NULL));
    uc_warn(&context, "%d things", 3);
    assert_string_equal(user.heard, "3 things");
    uc_warn(NULL, "nobody listens");
}

/* ---- parts of a whole ---- */

static void a_part_reports_how_far_the_whole_is(void **state)
{
    (void)state;
    listener user = {.go_on = true};
    uc_context context = {.threads = 3, .progress = hear, .warn = hear_warning, .user = &user};
    uc_parts trainings = {.task = "choosing {l2}", .part = "training", .count = 2};
    uc_part part = {&trainings, &context};
    const uc_context inner = uc_context_of_part(&part);
    assert_int_equal(inner.threads, 3);
    assert_ok(uc_report(&inner, "training", 30, 40, "pass 3 of 4"));
    assert_string_equal(user.heard, "choosing {l2} 0 2 training 1 of 2");
    assert_ok(uc_part_done(&part));
    assert_string_equal(user.heard, "choosing {l2} 1 2 training 2 of 2");
    assert_ok(uc_part_done(&part));
    assert_string_equal(user.heard, "choosing {l2} 2 2 training 2 of 2");
    uc_warn(&inner, "%d things", 3);
    assert_string_equal(user.heard, "3 things");
    user.go_on = false;
    assert_error(uc_report(&inner, "training", 30, 40, NULL), UC_ERR_CANCELLED, "interrupted");
    assert_error(uc_part_done(&part), UC_ERR_CANCELLED, "interrupted");
}

/* A fold chooses, which has parts of its own, and then trains; the whole never goes backwards. */
static void parts_within_parts_are_told_in_one_line(void **state)
{
    (void)state;
    listener user = {.go_on = true};
    const uc_context context = {.progress = hear, .user = &user};
    uc_parts folds = {.task = "cross-validating", .part = "fold", .count = 4, .detailed = true, .done = 1};
    uc_part fold = {&folds, &context};
    const uc_context inside = uc_context_of_part(&fold);
    uc_parts trainings = {
        .task = "choosing {l2}", .part = "training", .count = 25, .at_most = true, .done = 5};
    uc_part training = {&trainings, &inside};
    const uc_context innermost = uc_context_of_part(&training);
    assert_ok(uc_report(&innermost, "training", 1, 2, "error 0.1"));
    assert_string_equal(user.heard,
                        "cross-validating 1.2 4 fold 2 of 4, choosing {l2}: training 6 of at most 25");
    assert_ok(uc_report(&inside, "training", 1, 100, NULL));
    assert_string_equal(user.heard, "cross-validating 1.2 4 fold 2 of 4, training");
    assert_ok(uc_part_done(&fold));
    assert_string_equal(user.heard, "cross-validating 2 4 fold 3 of 4");
}

static void parts_need_nobody_who_listens(void **state)
{
    (void)state;
    uc_parts parts = {.task = "choosing", .part = "training", .count = 1};
    uc_part part = {&parts, NULL};
    const uc_context inner = uc_context_of_part(&part);
    assert_ok(uc_report(&inner, "training", 1, 2, NULL));
    uc_warn(&inner, "nobody listens");
    assert_ok(uc_part_done(&part));
}

/* ---- concurrent jobs ---- */

typedef struct turns {
    atomic_int inside;
    atomic_bool together;
    int calls, warnings;
} turns;

static bool take_turn(const char *task, double done, double total, const char *detail, void *user)
{
    turns *self = user;
    (void)task, (void)done, (void)total, (void)detail;
    if (atomic_fetch_add(&self->inside, 1) != 0)
        atomic_store(&self->together, true);
    self->calls++;
    sched_yield();
    atomic_fetch_sub(&self->inside, 1);
    return true;
}

static void warn_in_turn(const char *sentence, void *user)
{
    (void)sentence;
    (void)take_turn(NULL, 0, 0, NULL, user);
    ((turns *)user)->warnings++;
}

/* A job may run jobs of its own concurrently; its one thread waits for nobody then. */
static uc_status report_often(size_t block, void *user)
{
    const uc_context *outer = user;
    (void)block;
    const uc_context inner = uc_context_for_job(outer);
    assert_int_equal(uc_threads(outer), 1);
    for (int i = 0; i < 50; i++) {
        uc_warn(&inner, "%d", i);
        if (uc_report(i % 2 ? outer : &inner, "work", 0, 0, NULL) != UC_OK)
            return UC_ERR_CANCELLED;
    }
    return UC_OK;
}

static void callbacks_of_jobs_beside_each_other_take_turns(void **state)
{
    (void)state;
    for (size_t t = 0; t < 4; t++) {
        turns user = {0};
        const uc_context context = {
            .threads = thread_counts[t], .progress = take_turn, .warn = warn_in_turn, .user = &user};
        uc_context outer = uc_context_for_job(&context);
        assert_ok(uc_run_blocks(&context, 20, report_often, &outer));
        assert_false(atomic_load(&user.together));
        assert_int_equal(user.calls, 2000);
        assert_int_equal(user.warnings, 1000);
    }
    const uc_context silent = uc_context_for_job(NULL);
    assert_true(silent.threads == 1 && !silent.progress && !silent.warn);
}

/* ---- threads that cannot be started ---- */

/* Blocks 0 .. 999 in 20 threads, in a child of this process: 0 when each ran once. */
static int blocks_in_a_child(bool limited)
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static atomic_int runs[1000];
        const struct rlimit none = {1, 1};
        const uc_context context = {.threads = 20};
        bool right = !limited || setrlimit(RLIMIT_AS, &none) == 0;
        right = right && uc_run_blocks(&context, 1000, count_block, runs) == UC_OK;
        for (size_t b = 0; b < 1000; b++)
            right = right && runs[b] == 1;
        _exit(right ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Where the address space may not grow there is no room for the stacks of 20 threads. */
static void threads_that_cannot_be_started_are_not_missed(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    assert_int_equal(blocks_in_a_child(true), 0);
}

static void a_child_starts_threads_of_its_own(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    every_block_runs_exactly_once(state);
    assert_int_equal(blocks_in_a_child(false), 0);
    every_block_runs_exactly_once(state);
}

/* ---- the threads of a team ---- */

typedef struct meeting {
    atomic_uint present;
    unsigned wanted;
    atomic_bool twice;
    atomic_uint members[8];
} meeting;

/* Members wait for each other, for some seconds at most. */
static void meet(unsigned member, void *user)
{
    meeting *self = user;
    if (atomic_fetch_add(&self->members[member], 1) > 0)
        atomic_store(&self->twice, true);
    atomic_fetch_add(&self->present, 1);
    for (size_t i = 0; i < 5000 && atomic_load(&self->present) < self->wanted; i++)
        usleep(1000);
}

/* Half a second, in which a thread that spins would use half a second of processor time. */
static void idle_threads_sleep(void **state)
{
    (void)state;
    meeting both = {.wanted = 2};
    struct timespec before, after;
    uc_team_run(2, meet, &both);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    usleep(500000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    assert_true((double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec) <
                0.2);
}

static void members_of_a_team_run_at_the_same_time_and_once_each(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        meeting all = {.wanted = 1 + round % 7};
        uc_team_run(all.wanted, meet, &all);
        assert_int_equal(all.present, all.wanted);
        assert_false(all.twice);
    }
}

typedef struct nested {
    atomic_int runs[100];
} nested;

static uc_status run_blocks_within(size_t block, void *user)
{
    const uc_context context = {.threads = 3};
    return uc_run_blocks(&context, 100, count_block, (nested *)user + block);
}

static void a_block_may_have_blocks_of_its_own(void **state)
{
    (void)state;
    static nested inner[20];
    const uc_context context = {.threads = 4};
    assert_ok(uc_run_blocks(&context, 20, run_blocks_within, inner));
    for (size_t i = 0; i < 20; i++)
        for (size_t b = 0; b < 100; b++)
            assert_int_equal(inner[i].runs[b], 1);
}

static void *run_blocks_apart(void *runs)
{
    for (size_t i = 0; i < 50; i++) {
        const uc_context context = {.threads = 3};
        if (uc_run_blocks(&context, 100, count_block, runs) != UC_OK)
            return runs;
    }
    return NULL;
}

static void several_threads_may_run_blocks_at_once(void **state)
{
    (void)state;
    static nested apart[4];
    pthread_t threads[4];
    void *failed = NULL;
    for (size_t t = 0; t < 4; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, run_blocks_apart, apart[t].runs), 0);
    for (size_t t = 0; t < 4; t++) {
        assert_int_equal(pthread_join(threads[t], &failed), 0);
        assert_null(failed);
        for (size_t b = 0; b < 100; b++)
            assert_int_equal(apart[t].runs[b], 50);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_cannot_be_started_are_not_missed),
        cmocka_unit_test(every_block_runs_exactly_once),
        cmocka_unit_test(a_child_starts_threads_of_its_own),
        cmocka_unit_test(members_of_a_team_run_at_the_same_time_and_once_each),
        cmocka_unit_test(idle_threads_sleep),
        cmocka_unit_test(a_block_may_have_blocks_of_its_own),
        cmocka_unit_test(several_threads_may_run_blocks_at_once),
        cmocka_unit_test(the_lowest_block_that_fails_is_reported_for_any_number_of_threads),
        cmocka_unit_test(no_new_block_begins_after_a_failure),
        cmocka_unit_test(sums_have_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(very_long_sums_have_the_same_bits_too),
        cmocka_unit_test(lanes_are_added_in_order_by_any_number_of_threads),
        cmocka_unit_test(a_sum_that_fails_leaves_the_numbers_as_they_were),
        cmocka_unit_test(a_sum_that_fails_names_the_same_row_for_any_number_of_threads),
        cmocka_unit_test(every_allocation_of_a_sum_may_fail),
        cmocka_unit_test(a_sum_too_long_for_memory_is_refused),
        cmocka_unit_test(a_sum_is_over_all_processes),
        cmocka_unit_test(a_process_without_rows_takes_part_in_the_sum),
        cmocka_unit_test(a_process_alone_sums_its_own),
        cmocka_unit_test(threads_and_memory_come_from_the_context_or_the_machine),
        cmocka_unit_test(progress_is_told_and_may_cancel),
        cmocka_unit_test(a_part_reports_how_far_the_whole_is),
        cmocka_unit_test(parts_within_parts_are_told_in_one_line),
        cmocka_unit_test(parts_need_nobody_who_listens),
        cmocka_unit_test(callbacks_of_jobs_beside_each_other_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
