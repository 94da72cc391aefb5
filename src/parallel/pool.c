/*
 * Threads. Jobs run over numbered blocks; sums use a fixed number of lanes, each of which adds its blocks in order:
 *
 *   lane l:  block l, l + L, l + 2L, ...        sum = lane 0 + lane 1 + ... + lane L-1
 *
 * L depends on the size of the work only, so the order of every addition, and with it every bit of the result, is
 * the same for any number of threads.
 */
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

#include "parallel/parallel.h"

#define ROWS_A_BLOCK ((size_t)512)
#define MOST_LANES ((size_t)16)
#define LANE_BYTES ((size_t)1 << 25) /* all lanes together, unless one alone is larger */

unsigned uc_threads(const uc_context *context)
{
    if (context && context->threads)
        return context->threads;
    const int cores = omp_get_num_procs();
    return cores > 0 ? (unsigned)cores : 1;
}

typedef struct run_state {
    atomic_size_t lowest_failure; /* SIZE_MAX: none */
    uc_status status;
    char sentence[1024];
} run_state;

static void note_failure(run_state *run, size_t block, uc_status status)
{
#pragma omp critical(uc_run_failure)
    if (block < atomic_load(&run->lowest_failure)) {
        atomic_store(&run->lowest_failure, block);
        run->status = status;
        strncpy(run->sentence, uc_last_error(), sizeof run->sentence - 1);
    }
}

/* A block below one that failed still runs: blocks are handed out in order, and the failure that counts is the
 * lowest one, whichever thread is faster. */
uc_status uc_run_blocks(const uc_context *context, size_t blocks, uc_block_job *job, void *user)
{
    unsigned threads = uc_threads(context);
    if (threads > blocks)
        threads = (unsigned)blocks;
    if (threads <= 1) {
        uc_status status = UC_OK;
        for (size_t block = 0; block < blocks && status == UC_OK; block++)
            status = job(block, user);
        return status;
    }
    run_state run = {.lowest_failure = SIZE_MAX};
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)threads)
    for (size_t block = 0; block < blocks; block++) {
        if (block > atomic_load(&run.lowest_failure))
            continue;
        const uc_status status = job(block, user);
        if (status != UC_OK)
            note_failure(&run, block, status);
    }
    return run.status == UC_OK ? UC_OK : uc_fail(run.status, "%s", run.sentence);
}

typedef struct sum_state {
    uc_sum_job *job;
    void *user;
    size_t rows, blocks, lanes, length;
    double *partial; /* lanes x length */
} sum_state;

static uc_status run_lane(size_t lane, void *user)
{
    const sum_state *state = user;
    double *sum = state->partial + lane * state->length;
    for (size_t block = lane; block < state->blocks; block += state->lanes) {
        const size_t first = block * ROWS_A_BLOCK;
        const size_t last = first + ROWS_A_BLOCK < state->rows ? first + ROWS_A_BLOCK : state->rows;
        const uc_status status = state->job(sum, first, last, state->user);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

static size_t lane_count(size_t blocks, size_t length)
{
    size_t lanes = length ? LANE_BYTES / sizeof(double) / length : MOST_LANES;
    if (lanes > MOST_LANES)
        lanes = MOST_LANES;
    if (lanes > blocks)
        lanes = blocks;
    return lanes ? lanes : 1;
}

/* values[length] is free. */
static uc_status sum_over_processes(const uc_comm *comm, double *values, size_t length, uc_status status)
{
    if (uc_comm_size(comm) == 1)
        return status;
    values[length] = status == UC_OK ? 0.0 : 1.0;
    const uc_status summed = uc_comm_sum(comm, values, length + 1);
    return summed == UC_OK && values[length] > 0.0 ? uc_comm_agree(comm, status) : summed;
}

/* Behind the sum goes how many processes failed, so that they agree on it without further talk. */
uc_status uc_sum_over(const uc_context *context, size_t rows, uc_sum_job *job, void *user, double *sum,
                      size_t length)
{
    const size_t blocks = (rows + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK;
    sum_state state = {job, user, rows, blocks, lane_count(blocks, length), length, NULL};
    size_t items;
    if (!uc_size_mul(&items, state.lanes, length) || !uc_size_add(&items, items, 1))
        return uc_fail(UC_ERR_NOMEM, "a sum of %zu numbers is too long", length);
    state.partial = uc_alloc(items, sizeof(double));
    if (!state.partial)
        return UC_ERR_NOMEM;
    uc_status status = uc_run_blocks(context, state.lanes, run_lane, &state);
    for (size_t lane = 1; lane < state.lanes && status == UC_OK; lane++)
        for (size_t i = 0; i < length; i++)
            state.partial[i] += state.partial[lane * length + i];
    status = sum_over_processes(uc_comm_of(context), state.partial, length, status);
    for (size_t i = 0; i < length && status == UC_OK; i++)
        sum[i] += state.partial[i];
    uc_free(state.partial);
    return status;
}
