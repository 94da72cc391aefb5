/*
 * Whether threads can be started, found out by starting them. OpenMP keeps the threads of its last team,
 * so this is tried when a team is larger than any before; where the address space is limited, when it is
 * larger than the last one, since the smaller team between them ended threads.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "parallel/parallel.h"

#define MOST_OTHERS 1024u /* no team has more threads than these and the caller's own */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* All threads live until the last one has been started. */
static void *wait_at_gate(void *nothing)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return nothing;
}

static unsigned start_threads(unsigned wanted)
{
    pthread_t threads[MOST_OTHERS];
    unsigned started = 0;
    pthread_mutex_lock(&gate);
    while (started < wanted && pthread_create(&threads[started], NULL, wait_at_gate, NULL) == 0)
        started++;
    pthread_mutex_unlock(&gate);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return started;
}

unsigned uc_startable_threads(unsigned wanted)
{
    static atomic_uint most, last;
    struct rlimit space;
    const unsigned before = atomic_exchange(&last, wanted);
    if (wanted <= atomic_load(&most)) {
        const bool limited = getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
        if (!limited || wanted <= before)
            return wanted;
    }
    const unsigned found = 1 + start_threads((unsigned)uc_min_size(wanted - 1, MOST_OTHERS));
    atomic_store(&last, found);
    if (found > atomic_load(&most))
        atomic_store(&most, found);
    return found;
}
