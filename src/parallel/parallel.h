/* The only two verbs of parallel work: run jobs over blocks, and sum over rows.
 *
 * Blocks have a fixed size and sums a fixed order, so results are the same bytes for any number of threads. */
#ifndef UC_PARALLEL_H
#define UC_PARALLEL_H

#include <stdatomic.h>

#include "base/base.h"
#include "unconfuse/comm.h"

/* Work on block `block`, in any thread. */
typedef uc_status uc_block_job(size_t block, void *user);
/* Runs job(0) .. job(blocks - 1) on the context's threads, in any order; blocks above one that failed no longer begin, those
 * below it do, and the failure of the lowest block that failed, with its sentence, is returned. */
uc_status uc_run_blocks(const uc_context *context, size_t blocks, uc_block_job *job, void *user);

/* Like uc_run_blocks for jobs that are too small or too serial for threads inside: each runs by one thread, with the context
 * that it is given. Where several processes share the work, one job after the other has the whole context. */
typedef uc_status uc_beside_job(size_t number, const uc_context *context, void *user);
uc_status uc_run_beside(const uc_context *context, size_t jobs, uc_beside_job *job, void *user);

/* Adds the contribution of rows first .. last-1 into sum[0..length). */
typedef uc_status uc_sum_job(double *sum, size_t first, size_t last, void *user);
/* sum[0..length) += the contributions of rows 0 .. rows-1, over all processes of the context's comm. */
uc_status uc_sum_over(const uc_context *context, size_t rows, uc_sum_job *job, void *user, double *sum,
                      size_t length);

/* The same context, with one thread when the work is so small (in additions, say) that starting threads costs more. */
uc_context uc_context_for_work(const uc_context *context, double operations);

/* For jobs that run concurrently, as blocks: the same context with one thread, whose callbacks are called by one job
 * at a time. `context`, which may be NULL, must outlive it. */
uc_context uc_context_beside(const uc_context *context);

unsigned uc_threads(const uc_context *context);
/* How many of the `wanted` threads, the caller's own included, the system can start now: OpenMP ends the program when
 * it cannot start one that it was asked for. At least 1. */
unsigned uc_startable_threads(unsigned wanted);
uint64_t uc_memory_limit(const uc_context *context); /* bytes */
/* UC_ERR_NOMEM with the figure when `bytes` for `what` exceed the context's memory. */
uc_status uc_memory_check(const uc_context *context, double bytes, const char *what);
/* UC_ERR_CANCELLED when the callback said so. */
uc_status uc_report(const uc_context *context, const char *task, double done, double total,
                    const char *detail);
void uc_warn(const uc_context *context, const char *format, ...) UC_PRINTF(2, 3);

/* Work of many like parts, such as trainings or folds. What the work inside a part reports comes out as a report of the
 * whole: its task, the parts that are done, and which one of them this is: "training 7 of 25". */
typedef struct uc_parts {
    const char *task; /* "choosing {l2}" */
    const char *part; /* "training" */
    size_t count;
    bool at_most;  /* fewer parts than `count` may do */
    bool detailed; /* one part after the other, each so long that its own task and detail are reported, too */
    double furthest; /* share of the part at hand, when they are detailed */
    atomic_size_t done;
} uc_parts;
/* The context for the work inside a part, made from `context`: that of the whole, or one made from it for jobs that run
 * concurrently. Both the uc_part and `context` must outlive it. */
typedef struct uc_part {
    uc_parts *parts;
    const uc_context *context;
} uc_part;
uc_context uc_context_of_part(uc_part *self);
/* One part more is done: counts and reports it. */
uc_status uc_part_done(const uc_part *self);

/* ---- several processes: comm_mpi.c; a comm of NULL is the process that works alone ----
 * All processes of a comm call the same functions in the same order. */
struct uc_comm {
    int rank, size;
    int neighbours; /* processes on the same machine, this one included */
    uc_traffic *traffic;
    /* values[0..length) become their sums over all processes, the same bits in each. */
    uc_status (*sum)(const uc_comm *self, double *values, size_t length);
    /* How many processes come here with a failure, when all do. Who has one waits for the others for a while only, since it may
     * have failed where they do not know of it, and wait for it elsewhere: then it is not UC_OK. */
    uc_status (*count_failures)(const uc_comm *self, double *failures, bool failed);
    /* `all` has room for sizes[0] + sizes[1] + ... bytes, and this process's piece in its place; gets the others'. */
    uc_status (*gather)(const uc_comm *self, void *all, const size_t *sizes);
    /* Sends from_bytes[r] bytes at from[r] to process r, and receives to_bytes[r] bytes at to[r] from it. */
    uc_status (*exchange)(const uc_comm *self, void *const *to, const size_t *to_bytes,
                          const void *const *from, const size_t *from_bytes);
    uc_status (*end)(const uc_comm *self, uc_status status, const char *sentence, const char *prefix,
                     int code);
};

/* The pieces of all processes, one behind the other in the order of the ranks; *all is freed with uc_free. `sizes` (may be
 * NULL) gets the bytes of each piece. */
uc_status uc_comm_gather(void **all, size_t *sizes, const uc_comm *self, const void *piece, size_t bytes);

/* Puts "rank R: " before a sentence that does not name a process yet. */
void uc_name_rank(char *sentence, size_t size, int rank);

/* Blocks of work on what every process has: each runs an even range of them, and gets the results of the others. Block b
 * fills bytes b * block_bytes .. of `results`, the last one up to `total_bytes`. With one process it is uc_run_blocks. */
uc_status uc_share_blocks(const uc_context *context, size_t blocks, uc_block_job *job, void *user,
                          void *results, size_t block_bytes, size_t total_bytes);
/* Where part `part` of `parts` begins when `total` things are dealt out evenly; part `parts` begins behind the last. Half as
 * many parts begin where every other one of these does. */
static inline size_t uc_even_start(size_t total, size_t parts, size_t part)
{
    return total / parts * part + total % parts * part / parts;
}
/* The first block of process r; that of process `size` is the number of all. */
static inline size_t uc_first_block(size_t blocks, const uc_comm *comm, int r)
{
    return uc_even_start(blocks, (size_t)uc_comm_size(comm), (size_t)r);
}

/* Where this process's rows stand among the rows of all. */
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

/* The same context for work that every process does by itself. */
uc_context uc_context_alone(const uc_context *context);

#endif
