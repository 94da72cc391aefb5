/*
 * Processes that mpirun started. This is the only file that uses MPI.
 *
 * Sums are all-reduced. Every algorithm that Open MPI has for this adds either in the same order in all
 * processes or in one place, so all processes get the same bits; learners rely on this when a sum decides
 * what they do next. A failure inside MPI ends all processes (its default).
 *
 * The end: a process that failed alone cannot be sure that the others will ever ask for its status, since
 * they may be waiting for it in a sum. So statuses are exchanged by a non-blocking collective on a separate
 * communicator, and a rank that times out aborts the job. Nor can a failed process be sure that the others
 * will come to agree on failures. This has a communicator of its own, too, and a failed rank that times out
 * there goes on to the end.
 */
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <string.h>
#include <time.h>

#include "parallel/parallel.h"

#define SUM_AT_ONCE ((size_t)1 << 26)   /* doubles */
#define BYTES_AT_ONCE ((size_t)1 << 30) /* per message */
#define FEW 8                           /* requests */
#define PATIENCE_SECONDS 2.0            /* at the end */
#define AGREE_SECONDS 20.0              /* longer, because the others may still be working */

static uc_traffic traffic;
static MPI_Comm news;         /* statuses at the end */
static MPI_Comm agreement;    /* agreeing on failures */
static bool given_up;         /* agreeing timed out */
static int *counts, *offsets; /* per process: the bytes that it sends, and where they go */

static uc_status sum(const uc_comm *self, double *values, size_t length)
{
    (void)self;
    const double began = MPI_Wtime();
    for (size_t at = 0; at < length; at += SUM_AT_ONCE) {
        const size_t count = uc_min_size(length - at, SUM_AT_ONCE);
        MPI_Allreduce(MPI_IN_PLACE, values + at, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    traffic.sums++;
    traffic.bytes += (double)length * sizeof(double);
    traffic.seconds += MPI_Wtime() - began;
    return UC_OK;
}

/* Whether the request was done within this time. */
static bool wait_for(MPI_Request *request, double seconds)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const double began = MPI_Wtime();
    int done = 0;
    for (;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done || MPI_Wtime() - began > seconds)
            return done;
        (void)nanosleep(&pause, NULL);
    }
}

static uc_status count_failures(const uc_comm *self, double *failures, bool failed)
{
    (void)self;
    static double mine, all; /* static, because after a timeout MPI may still use them */
    const double began = MPI_Wtime();
    MPI_Request request;
    if (given_up)
        return UC_ERR_IO;
    mine = (double)failed;
    MPI_Iallreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, agreement, &request);
    if (failed)
        given_up = !wait_for(&request, AGREE_SECONDS);
    else
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    traffic.seconds += MPI_Wtime() - began;
    *failures = all;
    if (given_up)
        return UC_ERR_IO;
    return UC_OK;
}

/* Gathers everything in one call, if its size fits the int that MPI counts with; false if not. */
static bool gather_at_once(const uc_comm *self, void *all, const size_t *sizes)
{
    size_t total = 0;
    for (int r = 0; r < self->size; r++)
        total += uc_min_size(sizes[r], BYTES_AT_ONCE);
    if (total >= BYTES_AT_ONCE)
        return false;
    int end = 0;
    for (int r = 0; r < self->size; r++) {
        counts[r] = (int)sizes[r];
        offsets[r] = end;
        end += counts[r];
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, offsets, MPI_BYTE, MPI_COMM_WORLD);
    return true;
}

static void gather_by_turns(const uc_comm *self, void *all, const size_t *sizes)
{
    char *piece = all;
    for (int r = 0; r < self->size; piece += sizes[r++])
        for (size_t at = 0; at < sizes[r]; at += BYTES_AT_ONCE) {
            const size_t count = uc_min_size(sizes[r] - at, BYTES_AT_ONCE);
            MPI_Bcast(piece + at, (int)count, MPI_BYTE, r, MPI_COMM_WORLD);
        }
}

static uc_status gather(const uc_comm *self, void *all, const size_t *sizes)
{
    const double began = MPI_Wtime();
    if (!gather_at_once(self, all, sizes))
        gather_by_turns(self, all, sizes);
    traffic.seconds += MPI_Wtime() - began;
    return UC_OK;
}

static size_t parts_of(const size_t *bytes, int processes)
{
    size_t parts = 0;
    for (int r = 0; r < processes; r++)
        parts += uc_block_count(bytes[r], BYTES_AT_ONCE);
    return parts;
}

static uc_status exchange(const uc_comm *self, void *const *to, const size_t *to_bytes,
                          const void *const *from, const size_t *from_bytes)
{
    const double began = MPI_Wtime();
    const size_t most = parts_of(to_bytes, self->size) + parts_of(from_bytes, self->size);
    MPI_Request few[FEW], *requests = few;
    if (most > FEW)
        requests = uc_alloc(most, sizeof *requests);
    if (!requests)
        return UC_ERR_NOMEM;
    int count = 0;
    for (int r = 0; r < self->size; r++)
        for (size_t at = 0; at < to_bytes[r]; at += BYTES_AT_ONCE)
            MPI_Irecv((char *)to[r] + at, (int)uc_min_size(to_bytes[r] - at, BYTES_AT_ONCE), MPI_BYTE, r, 0,
                      MPI_COMM_WORLD, &requests[count++]);
    for (int r = 0; r < self->size; r++)
        for (size_t at = 0; at < from_bytes[r]; at += BYTES_AT_ONCE)
            MPI_Isend((const char *)from[r] + at, (int)uc_min_size(from_bytes[r] - at, BYTES_AT_ONCE),
                      MPI_BYTE, r, 0, MPI_COMM_WORLD, &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    if (requests != few)
        uc_free(requests);
    traffic.seconds += MPI_Wtime() - began;
    return UC_OK;
}

/* ---- the end ---- */

typedef struct farewell {
    int status;
    char sentence[1024];
} farewell;

/* Rank 0 reports the message of the lowest failing rank, and names the rank unless all failed. mpirun kills
 * all processes as soon as one ends with a failure, so none ends before the message is out. */
static uc_status tell_for_all(const uc_comm *self, farewell *all, uc_warn_fn *tell, void *user)
{
    int first = -1, failures = 0;
    for (int r = self->size - 1; r >= 0; r--)
        if (all[r].status != UC_OK) {
            first = r;
            failures++;
        }
    if (first >= 0 && failures < self->size)
        uc_name_rank(all[first].sentence, sizeof all[first].sentence, first);
    if (first >= 0 && self->rank == 0)
        tell(all[first].sentence, user);
    MPI_Barrier(news);
    if (first >= 0)
        return (uc_status)all[first].status;
    return UC_OK;
}

static uc_status end(const uc_comm *self, uc_status status, const char *sentence, uc_warn_fn *tell,
                     void *user, int code)
{
    static farewell mine; /* static, because after a timeout MPI may still use it */
    farewell *all = uc_alloc((size_t)self->size, sizeof *all);
    MPI_Request request;
    mine.status = status;
    if (status != UC_OK)
        snprintf(mine.sentence, sizeof mine.sentence, "%s", sentence);
    if (all)
        MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, news, &request);
    /* A rank that did not fail waits for the others' statuses for as long as it takes. */
    if (!all || !wait_for(&request, status == UC_OK ? HUGE_VAL : PATIENCE_SECONDS)) {
        uc_name_rank(mine.sentence, sizeof mine.sentence, self->rank);
        tell(mine.sentence, user);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    const uc_status agreed = tell_for_all(self, all, tell, user);
    uc_free(all);
    uc_free(counts);
    MPI_Finalize();
    return agreed;
}

/* ---- the beginning ---- */

const uc_comm *uc_comm_start(void)
{
    static uc_comm self = {.traffic = &traffic,
                           .sum = sum,
                           .count_failures = count_failures,
                           .gather = gather,
                           .exchange = exchange,
                           .end = end};
    int provided;
    MPI_Comm machine;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &self.size);
    MPI_Comm_dup(MPI_COMM_WORLD, &news);
    MPI_Comm_dup(MPI_COMM_WORLD, &agreement);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &self.neighbours);
    MPI_Comm_free(&machine);
    counts = uc_alloc(2 * (size_t)self.size, sizeof *counts);
    if (!counts)
        MPI_Abort(MPI_COMM_WORLD, 1);
    offsets = counts + self.size;
    return &self;
}
