#include "tests/processes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct meeting {
    int size, arrived, gone;
    unsigned long turn;
    pthread_mutex_t lock;
    pthread_cond_t all_there;
    const void **shown; /* what each process shows the others */
} meeting;

typedef struct process {
    uc_comm comm;
    uc_traffic traffic;
    meeting *meeting;
    process_job *job;
    void *user;
    uc_status status;
    bool left_alone; /* it failed because another process has ended */
    char sentence[1024];
} process;

/* Waits for all processes; false: one of them has ended and will never arrive. */
static bool meet(meeting *self)
{
    pthread_mutex_lock(&self->lock);
    const unsigned long turn = self->turn;
    if (++self->arrived == self->size) {
        self->arrived = 0;
        self->turn++;
        pthread_cond_broadcast(&self->all_there);
    }
    while (self->turn == turn && self->gone == 0)
        pthread_cond_wait(&self->all_there, &self->lock);
    const bool met = self->turn != turn;
    pthread_mutex_unlock(&self->lock);
    return met;
}

static uc_status wait_for_all(const uc_comm *comm)
{
    process *self = (process *)(uintptr_t)comm;
    if (meet(self->meeting))
        return UC_OK;
    self->left_alone = true;
    return uc_fail(UC_ERR_IO, "another process is gone");
}

/* Shows something to the other processes. It stays valid until all have waited once more. */
static uc_status show(const uc_comm *comm, const void *what)
{
    ((const process *)comm)->meeting->shown[comm->rank] = what;
    return wait_for_all(comm);
}

static uc_status sum(const uc_comm *comm, double *values, size_t length)
{
    process *self = (process *)(uintptr_t)comm;
    double *total = calloc(length ? length : 1, sizeof *total);
    uc_status status = show(comm, values);
    for (int r = 0; r < comm->size && status == UC_OK; r++)
        for (size_t i = 0; i < length; i++)
            total[i] += ((const double *)self->meeting->shown[r])[i];
    if (status == UC_OK)
        status = wait_for_all(comm); /* all have seen it */
    if (status == UC_OK && length)
        memcpy(values, total, length * sizeof *values);
    self->traffic.sums++;
    free(total);
    return status;
}

static uc_status count_failures(const uc_comm *comm, double *failures, bool failed)
{
    *failures = failed ? 1.0 : 0.0;
    return sum(comm, failures, 1);
}

static uc_status gather(const uc_comm *comm, void *all, const size_t *sizes)
{
    const process *self = (const process *)comm;
    uc_status status = show(comm, all);
    size_t at = 0;
    for (int r = 0; r < comm->size && status == UC_OK; at += sizes[r++])
        if (r != comm->rank && sizes[r])
            memcpy((char *)all + at, (const char *)self->meeting->shown[r] + at, sizes[r]);
    return status == UC_OK ? wait_for_all(comm) : status;
}

typedef struct parcels {
    const void *const *from;
    const size_t *from_bytes;
} parcels;

static uc_status exchange(const uc_comm *comm, void *const *to, const size_t *to_bytes,
                          const void *const *from, const size_t *from_bytes)
{
    const process *self = (const process *)comm;
    const parcels mine = {from, from_bytes};
    uc_status status = show(comm, &mine);
    for (int r = 0; r < comm->size && status == UC_OK; r++) {
        const parcels *theirs = self->meeting->shown[r];
        if (theirs->from_bytes[comm->rank] != to_bytes[r])
            abort(); /* the two processes disagree about the size */
        if (to_bytes[r])
            memcpy(to[r], theirs->from[comm->rank], to_bytes[r]);
    }
    return status == UC_OK ? wait_for_all(comm) : status;
}

static void *live(void *user)
{
    process *self = user;
    meeting *met = self->meeting;
    self->status = self->job(&self->comm, self->user);
    if (self->status != UC_OK)
        snprintf(self->sentence, sizeof self->sentence, "%s", uc_last_error());
    pthread_mutex_lock(&met->lock);
    met->gone++;
    pthread_cond_broadcast(&met->all_there);
    pthread_mutex_unlock(&met->lock);
    return NULL;
}

uc_status run_processes(int size, process_job *job, void *user)
{
    meeting met = {.size = size, .shown = calloc((size_t)size, sizeof *met.shown)};
    process *processes = calloc((size_t)size, sizeof *processes);
    pthread_t *threads = calloc((size_t)size, sizeof *threads);
    pthread_mutex_init(&met.lock, NULL);
    pthread_cond_init(&met.all_there, NULL);
    for (int r = 0; r < size; r++) {
        processes[r] = (process){.comm = {.rank = r,
                                          .size = size,
                                          .neighbours = size,
                                          .traffic = &processes[r].traffic,
                                          .sum = sum,
                                          .count_failures = count_failures,
                                          .gather = gather,
                                          .exchange = exchange},
                                 .meeting = &met,
                                 .job = job,
                                 .user = user};
        pthread_create(&threads[r], NULL, live, &processes[r]);
    }
    const process *blamed = NULL;
    for (int r = 0; r < size; r++)
        pthread_join(threads[r], NULL);
    for (int r = size - 1; r >= 0; r--)
        if (processes[r].status != UC_OK && (!blamed || !processes[r].left_alone || blamed->left_alone))
            blamed = &processes[r];
    const uc_status status = blamed ? uc_fail(blamed->status, "%s", blamed->sentence) : UC_OK;
    pthread_cond_destroy(&met.all_there);
    pthread_mutex_destroy(&met.lock);
    free(threads);
    free(processes);
    free(met.shown);
    return status;
}
