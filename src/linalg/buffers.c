/*
 * The work buffers of OpenBLAS. Each of its calls takes a buffer of 128 MB and gives it back; the buffer then
 * serves the next call and is never returned to the system. If the system has no memory for another buffer,
 * OpenBLAS asks again forever. So buffers are made here, before the first call, each only after a check that
 * the memory is available, and no more calls run at once than there are buffers: the others wait.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "linalg/blas.h"
#include "linalg/linalg.h"

#define BUFFER_BYTES ((size_t)1 << 27)
/* Memory that must be left over: for what other threads allocate meanwhile and, if it is not the first
 * buffer, for the work itself, which matters more. */
#define FIRST_SPARE ((size_t)1 << 24)
#define NEXT_SPARE ((size_t)1 << 29)
#define MOST_BUFFERS 128u /* OpenBLAS has room for twice as many */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint made;
static atomic_uint limit = MOST_BUFFERS;
static sem_t unused;

static void begin(void)
{
    (void)sem_init(&unused, 0, 0);
}

static bool has_room(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room != MAP_FAILED)
        (void)munmap(room, bytes);
    return room != MAP_FAILED;
}

/* Whether there is memory for buffers number `first` .. `first` + `count` - 1, and enough is left over. */
static bool has_room_for(unsigned first, unsigned count)
{
    const size_t spare = first + count > 1 ? NEXT_SPARE : FIRST_SPARE;
    return has_room(count * BUFFER_BYTES + spare);
}

/* Makes buffers until there are `wanted`, or as many as fit in memory, and returns their number. Existing
 * ones are held meanwhile, so that OpenBLAS must make new ones. */
static unsigned make_buffers(unsigned wanted)
{
    void *held[MOST_BUFFERS];
    unsigned count = 0;
    if (!uc_blas.memory_alloc ||
        !uc_blas.memory_free) { /* calls will make the buffers, soon enough for the check to hold */
        while (count < wanted && has_room_for(0, count + 1))
            count++;
        return count;
    }
    const unsigned before = atomic_load(&made);
    while (count < wanted && (count < before || has_room_for(count, 1)) &&
           (held[count] = uc_blas.memory_alloc(0)))
        count++;
    for (unsigned i = 0; i < count; i++)
        uc_blas.memory_free(held[i]);
    return count;
}

void uc_blas_limit(unsigned buffers)
{
    atomic_store(&limit, (unsigned)uc_min_size(buffers, MOST_BUFFERS));
}

static uc_status no_room(void)
{
    return uc_fail(UC_ERR_NOMEM,
                   "not enough memory for matrix products: OpenBLAS needs %zu MB for its buffer",
                   BUFFER_BYTES >> 20);
}

uc_status uc_blas_begin(unsigned calls_at_once)
{
    const unsigned cores = uc_threads(NULL), most = calls_at_once > cores ? calls_at_once : cores;
    const unsigned wanted = (unsigned)uc_min_size(most, atomic_load(&limit));
    static atomic_uint tried; /* the most that was wanted so far, so that no failure is tried again */
    pthread_once(&once, begin);
    if (atomic_load(&made) > 0 && atomic_load(&tried) >= wanted)
        return UC_OK;
    if (atomic_load(&made) == 0 && !has_room(BUFFER_BYTES + FIRST_SPARE))
        return no_room();
    if (!uc_blas_load())
        return uc_fail(UC_ERR_IO, "cannot load OpenBLAS: %s", uc_blas_load_error());
    pthread_mutex_lock(&making);
    const unsigned before = atomic_load(&made);
    /* A running call holds a buffer, so that not all existing buffers can be held here. No call may begin
     * meanwhile either. So this takes the places of all calls, and makes buffers only if it gets them. */
    unsigned taken = 0;
    while (taken < before && sem_trywait(&unused) == 0)
        taken++;
    const bool idle = taken == before;
    unsigned count = before;
    if (idle && before < wanted)
        count = make_buffers(wanted);
    if (count < before) /* earlier buffers still exist */
        count = before;
    atomic_store(&made, count);
    for (unsigned i = 0; i < taken + (count - before); i++)
        (void)sem_post(&unused);
    if (idle && count > 0 && wanted > atomic_load(&tried))
        atomic_store(&tried, wanted);
    pthread_mutex_unlock(&making);
    return count > 0 ? UC_OK : no_room();
}

uc_status uc_blas_ready(const uc_context *context)
{
    return uc_comm_agree(uc_comm_of(context), uc_blas_begin(uc_threads(context)));
}

bool uc_blas_enter(void)
{
    if (atomic_load(&made) == 0 && uc_blas_begin(1) != UC_OK)
        return false;
    while (sem_wait(&unused) != 0 && errno == EINTR)
        ;
    return true;
}

void uc_blas_leave(void)
{
    (void)sem_post(&unused);
}
