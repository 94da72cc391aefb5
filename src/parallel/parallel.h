/* Parallel work has only two forms: running jobs over blocks, and summing over rows.
 *
 * Blocks have a fixed size and sums a fixed order, so results are the same bytes for any number of
 * threads. */
#ifndef UC_PARALLEL_H
#define UC_PARALLEL_H

#include <assert.h>
#include <stdatomic.h>

#include "base/base.h"
#include "unconfuse/comm.h"

/* ---- blocks ---- */

/* Items first .. last-1: usually the rows of a block. */
typedef struct uc_range {
    size_t first, last;
} uc_range;

/* The number of blocks of `size` items that `count` items make; the last may be shorter. */
static inline size_t uc_block_count(size_t count, size_t size)
{
    return count / size + (count % size != 0);
}
/* The items of block `block`. */
static inline uc_range uc_block_range(size_t block, size_t count, size_t size)
{
    assert(block < uc_block_count(count, size));
    const size_t first = block * size;
    return (uc_range){first, first + uc_min_size(count - first, size)};
}

/* Works on block `block`; called in any thread. */
typedef uc_status uc_block_job(size_t block, void *user);
/* Runs job(0) .. job(blocks - 1) on the context's threads, in any order. After a failure, higher blocks
 * are no longer started but lower ones still are, so that the status and message are those of the lowest
 * failing block. */
uc_status uc_run_blocks(const uc_context *context, size_t blocks, uc_block_job *job, void *user);

/* Like uc_run_blocks, for jobs that are too small or too serial to use threads inside: each runs in one
 * thread, with the context that it is given. With several processes the jobs run one after the other, each
 * with the whole context. */
typedef uc_status uc_concurrent_job(size_t number, const uc_context *context, void *user);
uc_status uc_run_concurrently(const uc_context *context, size_t jobs, uc_concurrent_job *job, void *user);

/* Adds the contribution of rows first .. last-1 into sum[0..length). */
typedef uc_status uc_sum_job(double *sum, size_t first, size_t last, void *user);
/* sum[0..length) += the contributions of rows 0 .. rows-1, over all processes of the context's comm. */
uc_status uc_sum_over(const uc_context *context, size_t rows, uc_sum_job *job, void *user, double *sum,
                      size_t length);

/* Calls job(0, user) in this thread and meanwhile job(1), job(2), ..., each at most once, in some of up to
 * `threads` - 1 other threads: as many as are idle or can be started, perhaps none. A job returns when
 * nothing is left to do for any; uc_team_run returns after the last of them. */
typedef void uc_team_job(unsigned member, void *user);
void uc_team_run(unsigned threads, uc_team_job *job, void *user);

/* ---- contexts ---- */

/* A copy of the context; the defaults for NULL. */
static inline uc_context uc_context_copy(const uc_context *context)
{
    if (context)
        return *context;
    return (uc_context){0};
}

/* The same context, with one thread when the work (in additions, say) is too small to be worth starting
 * threads. */
uc_context uc_context_for_work(const uc_context *context, double operations);

/* For jobs that run concurrently: the same context with one thread, whose callbacks are called by one job
 * at a time. `context`, which may be NULL, must outlive it. */
uc_context uc_context_for_job(const uc_context *context);

/* The same context for work that every process does by itself. */
uc_context uc_context_alone(const uc_context *context);

unsigned uc_threads(const uc_context *context);
unsigned uc_cores(void);                             /* those that the process may run on */
uint64_t uc_memory_limit(const uc_context *context); /* bytes */
/* Fails with UC_ERR_NOMEM, naming both figures, if `bytes` for `what` exceed the context's memory. */
uc_status uc_memory_check(const uc_context *context, double bytes, const char *what);
/* Calls the progress callback; UC_ERR_CANCELLED if it returns false. */
uc_status uc_report(const uc_context *context, const char *task, double done, double total,
                    const char *detail);
void uc_warn(const uc_context *context, const char *format, ...) UC_PRINTF(2, 3);

/* Work that consists of many similar parts, such as trainings or folds. Progress reported inside a part is
 * passed on as progress of the whole: its task, how many parts are done, and which part this is: "training
 * 7 of 25". */
typedef struct uc_parts {
    const char *task; /* "choosing {l2}" */
    const char *part; /* "training" */
    size_t count;
    bool at_most;    /* `count` is an upper limit: fewer parts may be enough */
    bool detailed;   /* parts are long and run one after the other: report their own task and detail too */
    double furthest; /* share of the current part that is done, when they are detailed */
    atomic_size_t done;
} uc_parts;
/* The context for the work inside a part is made from `context`: that of the whole, or one made from it by
 * uc_context_for_job. Both the uc_part and `context` must outlive it. */
typedef struct uc_part {
    uc_parts *parts;
    const uc_context *context;
} uc_part;
uc_context uc_context_of_part(uc_part *self);
/* Counts one more part as done, and reports it. */
uc_status uc_part_done(const uc_part *self);

/* ---- several processes: comm_mpi.c; a comm of NULL is a process that works alone ----
 * All processes of a comm call the same functions in the same order. */
struct uc_comm {
    int rank, size;
    int neighbours; /* processes on the same machine, this one included */
    uc_traffic *traffic;
    /* Replaces values[0..length) by their sums over all processes, the same bits in each. */
    uc_status (*sum)(const uc_comm *self, double *values, size_t length);
    /* Sets *failures to the number of processes that call this with `failed`. A process that failed waits
     * only for a limited time, since the others may not know of the failure and be waiting elsewhere. If it
     * times out, the status is not UC_OK. */
    uc_status (*count_failures)(const uc_comm *self, double *failures, bool failed);
    /* `all` holds sizes[0] + sizes[1] + ... bytes, with this process's piece in its place; receives the
     * others'. */
    uc_status (*gather)(const uc_comm *self, void *all, const size_t *sizes);
    /* Sends from_bytes[r] bytes at from[r] to process r, and receives to_bytes[r] bytes at to[r] from it. */
    uc_status (*exchange)(const uc_comm *self, void *const *to, const size_t *to_bytes,
                          const void *const *from, const size_t *from_bytes);
    uc_status (*end)(const uc_comm *self, uc_status status, const char *sentence, uc_warn_fn *tell,
                     void *user, int code);
};

#ifdef __clang_analyzer__ /* which cannot see that UC_OK comes back only where UC_OK was passed */
#define uc_comm_agree(self, status) ((status) == UC_OK ? (uc_comm_agree)((self), UC_OK) : (status))
#endif

/* The pieces of all processes, concatenated in the order of the ranks; *all is freed with uc_free. `sizes`
 * (may be NULL) gets the bytes of each piece. */
uc_status uc_comm_gather(void **all, size_t *sizes, const uc_comm *self, const void *piece, size_t bytes);

/* Puts "rank R: " before a message that does not name a process yet. */
void uc_name_rank(char *sentence, size_t size, int rank);

/* Blocks of work on data that every process has: each process runs an even share of the blocks, then gets
 * the results of the others. Block b fills bytes b * block_bytes .. of `results`, the last one up to
 * `total_bytes`. With one process it is uc_run_blocks. */
uc_status uc_share_blocks(const uc_context *context, size_t blocks, uc_block_job *job, void *user,
                          void *results, size_t block_bytes, size_t total_bytes);
/* Where part `part` of `parts` begins when `total` things are divided evenly; part `parts` begins after
 * the last thing. With half as many parts, each begins where every other one of these does. */
static inline size_t uc_even_start(size_t total, size_t parts, size_t part)
{
    assert(parts > 0 && part <= parts);
    return total / parts * part + total % parts * part / parts;
}
/* The first block of process r; that of process `size` is the number of all. */
static inline size_t uc_first_block(size_t blocks, const uc_comm *comm, int r)
{
    return uc_even_start(blocks, (size_t)uc_comm_size(comm), (size_t)r);
}

/* The position of this process's rows among the rows of all processes. */
typedef struct uc_share {
    size_t first, total;
} uc_share;
uc_status uc_share_of(uc_share *out, const uc_context *context, size_t rows);

static inline const uc_comm *uc_comm_of(const uc_context *context)
{
    return context ? context->comm : NULL;
}

/* Whether there are other processes. */
static inline bool uc_is_shared(const uc_context *context)
{
    return uc_comm_size(uc_comm_of(context)) > 1;
}

#endif
