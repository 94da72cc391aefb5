/*
 * Jobs over numbered blocks, and sums. A sum uses a fixed number of lanes, each of which adds its blocks in
 * order:
 *
 *   lane l:  block l, l + L, l + 2L, ...        sum = lane 0 + lane 1 + ... + lane L-1
 *
 * L depends only on the size of the work and the memory limit, so the order of every addition, and with it
 * every bit of the result, is the same for any number of threads. At the end all threads add up the lanes,
 * each for a piece of the sum.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "parallel/parallel.h"

#define LINE_BYTES 128 /* a cache line and its neighbour, to which two threads should not both write */
#define MOST_RANGES ((size_t)64)
#define ROWS_PER_BLOCK ((size_t)512)
#define MOST_LANES ((size_t)64)
#define CACHED_BYTES ((size_t)1 << 22) /* all lanes together, as long as there are at least MANY_LANES */
#define MANY_LANES ((size_t)16)
#define LANE_BYTES ((size_t)1 << 25) /* the same limit with at least ENOUGH_LANES */
#define ENOUGH_LANES ((size_t)8)
#define MEMORY_SHARE 8 /* long sums: all lanes together take at most 1/8 of the memory */
#define NUMBERS_PER_PIECE ((size_t)8192)

/* The blocks of a thread, in a cache line of their own. */
typedef struct range {
    _Alignas(LINE_BYTES) atomic_size_t next;
    size_t last;
} range;

typedef struct run_state {
    uc_block_job *job;
    void *user;
    range ranges[MOST_RANGES];
    size_t count;                 /* of ranges */
    atomic_size_t lowest_failure; /* SIZE_MAX: none */
    pthread_mutex_t noting;       /* protects the failure below */
    uc_status status;
    char sentence[1024];
} run_state;

static void note_failure(run_state *run, size_t block, uc_status status)
{
    pthread_mutex_lock(&run->noting);
    if (block < atomic_load(&run->lowest_failure)) {
        atomic_store(&run->lowest_failure, block);
        run->status = status;
        snprintf(run->sentence, sizeof run->sentence, "%s", uc_last_error());
    }
    pthread_mutex_unlock(&run->noting);
}

/* A block below one that failed still runs, so that the lowest failure is reported whichever thread is
 * faster. */
static void run_range(run_state *run, range *mine)
{
    for (size_t block; (block = atomic_fetch_add(&mine->next, 1)) < mine->last;) {
        if (block > atomic_load(&run->lowest_failure))
            continue;
        const uc_status status = run->job(block, run->user);
        if (status != UC_OK)
            note_failure(run, block, status);
    }
}

static void run_all_ranges(unsigned member, void *user)
{
    run_state *run = user;
    for (size_t r = 0; r < run->count; r++)
        run_range(run, run->ranges + (member + r) % run->count);
}

static uc_status run_in_order(size_t blocks, uc_block_job *job, void *user)
{
    uc_status status = UC_OK;
    for (size_t block = 0; block < blocks && status == UC_OK; block++)
        status = job(block, user);
    return status;
}

/* In every run over the same number of blocks, a thread begins with the same ones, whose data may still be in
 * its cache. When it is done, it helps the others. */
uc_status uc_run_blocks(const uc_context *context, size_t blocks, uc_block_job *job, void *user)
{
    const unsigned threads = (unsigned)uc_min_size(uc_threads(context), blocks);
    if (threads <= 1)
        return run_in_order(blocks, job, user);
    run_state run;
    run.job = job;
    run.user = user;
    run.count = uc_min_size(threads, MOST_RANGES);
    run.status = UC_OK;
    atomic_init(&run.lowest_failure, SIZE_MAX);
    for (size_t r = 0; r < run.count; r++) {
        atomic_init(&run.ranges[r].next, blocks * r / run.count);
        run.ranges[r].last = blocks * (r + 1) / run.count;
    }
    pthread_mutex_init(&run.noting, NULL);
    uc_team_run(threads, run_all_ranges, &run);
    pthread_mutex_destroy(&run.noting);
    if (run.status != UC_OK)
        return uc_fail_again(run.status, "", run.sentence);
    return UC_OK;
}

typedef struct concurrent_state {
    uc_concurrent_job *job;
    void *user;
    const uc_context *context;
} concurrent_state;

static uc_status run_concurrently(size_t number, void *user)
{
    const concurrent_state *state = user;
    return state->job(number, state->context, state->user);
}

uc_status uc_run_concurrently(const uc_context *context, size_t jobs, uc_concurrent_job *job, void *user)
{
    if (uc_is_shared(context)) {
        concurrent_state one_by_one = {job, user, context};
        return run_in_order(jobs, run_concurrently, &one_by_one);
    }
    const uc_context inner = uc_context_for_job(context);
    concurrent_state state = {job, user, &inner};
    return uc_run_blocks(context, jobs, run_concurrently, &state);
}

typedef struct sum_state {
    uc_sum_job *job;
    void *user;
    size_t rows, blocks, lanes, length;
    size_t stride;   /* from lane to lane; larger than the length */
    double *partial; /* lanes x stride */
} sum_state;

static uc_status run_lane(size_t lane, void *user)
{
    const sum_state *state = user;
    double *sum = state->partial + lane * state->stride;
    for (size_t block = lane; block < state->blocks; block += state->lanes) {
        const uc_range rows = uc_block_range(block, state->rows, ROWS_PER_BLOCK);
        const uc_status status = state->job(sum, rows.first, rows.last, state->user);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

static size_t lane_count(const uc_context *context, size_t blocks, size_t length)
{
    const size_t bytes = length ? length * sizeof(double) : 1;
    const uint64_t fitting = uc_memory_limit(context) / MEMORY_SHARE / bytes;
    size_t lanes = CACHED_BYTES / bytes;
    if (lanes < MANY_LANES)
        lanes = uc_min_size(LANE_BYTES / bytes, MANY_LANES);
    if (lanes < ENOUGH_LANES)
        lanes = uc_min_size((size_t)fitting, ENOUGH_LANES);
    lanes = uc_min_size(uc_min_size(lanes, MOST_LANES), blocks);
    return lanes ? lanes : 1;
}

/* Adds a piece of all other lanes to lane 0. */
static uc_status add_lanes(size_t piece, void *user)
{
    const sum_state *state = user;
    const uc_range numbers = uc_block_range(piece, state->length, NUMBERS_PER_PIECE);
    const size_t count = numbers.last - numbers.first;
    double *sum = state->partial + numbers.first;
    for (size_t lane = 1; lane < state->lanes; lane++)
        for (size_t i = 0; i < count; i++)
            sum[i] += sum[lane * state->stride + i];
    return UC_OK;
}

/* values[length] may be overwritten: it counts the failures. */
static uc_status sum_over_processes(const uc_comm *comm, double *values, size_t length, uc_status status)
{
    if (uc_comm_size(comm) == 1)
        return status;
    values[length] = (double)(status != UC_OK);
    const uc_status summed = uc_comm_sum(comm, values, length + 1);
    if (summed == UC_OK && values[length] > 0.0)
        return uc_comm_agree(comm, status);
    return summed;
}

/* The number of failed processes is summed together with the values, which saves a message. */
uc_status uc_sum_over(const uc_context *context, size_t rows, uc_sum_job *job, void *user, double *sum,
                      size_t length)
{
    const size_t blocks = uc_block_count(rows, ROWS_PER_BLOCK),
                 pieces = uc_block_count(length, NUMBERS_PER_PIECE);
    size_t items, bytes;
    if (!uc_size_mul(&bytes, length, sizeof(double)))
        return uc_fail(UC_ERR_NOMEM, "a sum of %zu numbers is too long", length);
    const size_t numbers = LINE_BYTES / sizeof(double), stride = (length / numbers + 2) * numbers;
    sum_state state = {job, user, rows, blocks, lane_count(context, blocks, length), length, stride, NULL};
    if (!uc_size_mul(&items, state.lanes, stride))
        return uc_fail(UC_ERR_NOMEM, "a sum of %zu numbers is too long", length);
    state.partial = uc_alloc(items, sizeof(double));
    if (!state.partial)
        return UC_ERR_NOMEM;
    const uc_context fitting = uc_context_for_work(context, (double)items);
    uc_status status = uc_run_blocks(context, state.lanes, run_lane, &state);
    if (status == UC_OK)
        status = uc_run_blocks(&fitting, pieces, add_lanes, &state);
    status = sum_over_processes(uc_comm_of(context), state.partial, length, status);
    for (size_t i = 0; i < length && status == UC_OK; i++)
        sum[i] += state.partial[i];
    uc_free(state.partial);
    return status;
}
