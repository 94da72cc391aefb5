/*
 * Helper threads. A thread that has work for several threads puts a call into the list of open calls, does
 * its own part, and waits for the helpers that joined it. An idle helper looks for a call that it may join.
 * Nobody waits for a helper that has not joined, so calls may come from several threads at once and from
 * within a job, and a helper that cannot be started is not missed.
 *
 * Helper h = 1, 2, ... joins only calls for more than h threads. So a call for as many threads as the last
 * one gets the same helpers, whose caches may still hold its data. An idle thread spins before it sleeps: the
 * steps of a learner follow each other closely, and waking a thread often takes longer than a step.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "parallel/parallel.h"

#define SPINS 3000 /* 10 to 100 microseconds, depending on the CPU */
#define MOST_HELPERS ((unsigned)1023)

typedef struct call {
    uc_team_job *job;
    void *user;
    unsigned threads;
    bool finished; /* a helper has found nothing left to do */
    atomic_uint active;
    pthread_cond_t left;
    struct call *next;
} call;

/* The lock protects everything that is not atomic. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static call *open_calls;
static unsigned helpers, sleeping;
static atomic_uint calls_made;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

unsigned uc_cores(void)
{
    static atomic_uint cores;
    if (atomic_load(&cores) == 0) {
        cpu_set_t set;
        const long online = sysconf(_SC_NPROCESSORS_ONLN);
        unsigned count = online > 0 ? (unsigned)online : 1;
        if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
            count = (unsigned)CPU_COUNT(&set);
        atomic_store(&cores, count);
    }
    return atomic_load(&cores);
}

static void spin_once(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* With more threads than cores, a spinning thread would keep another from running. */
static unsigned spins(void)
{
    return helpers < uc_cores() ? SPINS : 0;
}

static call *call_for(unsigned helper)
{
    call *found = open_calls;
    while (found && (found->finished || found->threads <= helper))
        found = found->next;
    return found;
}

static void join_call(call *joined, unsigned helper)
{
    atomic_fetch_add(&joined->active, 1);
    pthread_mutex_unlock(&lock);
    joined->job(helper, joined->user);
    pthread_mutex_lock(&lock);
    joined->finished = true;
    if (atomic_fetch_sub(&joined->active, 1) == 1)
        pthread_cond_signal(&joined->left);
}

static void wait_for_work(void)
{
    const unsigned before = atomic_load(&calls_made), most = spins();
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < most && atomic_load(&calls_made) == before; i++)
        spin_once();
    pthread_mutex_lock(&lock);
    sleeping++;
    while (atomic_load(&calls_made) == before)
        pthread_cond_wait(&work, &lock);
    sleeping--;
}

static void *help(void *number)
{
    const unsigned helper = (unsigned)(uintptr_t)number;
    pthread_mutex_lock(&lock);
    for (;;) {
        call *found = call_for(helper);
        if (found)
            join_call(found, helper);
        else
            wait_for_work();
    }
    return NULL;
}

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* After a fork, the child has only the thread that called it. */
static void begin_child(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&work, NULL);
    open_calls = NULL;
    helpers = 0;
    sleeping = 0;
}

static void follow_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, begin_child);
}

/* Helpers block all signals, which are for the threads of the program, except those that a thread causes
 * itself. */
static bool start_helper(unsigned number)
{
    pthread_t thread;
    sigset_t others, before;
    sigfillset(&others);
    sigdelset(&others, SIGBUS);
    sigdelset(&others, SIGSEGV);
    sigdelset(&others, SIGFPE);
    sigdelset(&others, SIGILL);
    (void)pthread_sigmask(SIG_BLOCK, &others, &before);
    const bool started = pthread_create(&thread, NULL, help, (void *)(uintptr_t)number) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        (void)pthread_detach(thread);
    return started;
}

static void open_call(call *self)
{
    const unsigned wanted = (unsigned)uc_min_size(self->threads - 1, MOST_HELPERS);
    pthread_mutex_lock(&lock);
    while (helpers < wanted && start_helper(helpers + 1))
        helpers++;
    self->next = open_calls;
    open_calls = self;
    atomic_fetch_add(&calls_made, 1);
    if (sleeping > 0)
        pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&lock);
}

static void close_call(call *self)
{
    pthread_mutex_lock(&lock);
    const unsigned most = spins();
    call **at = &open_calls;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < most && atomic_load(&self->active) > 0; i++)
        spin_once();
    pthread_mutex_lock(&lock); /* the last helper holds it until it no longer uses the call */
    while (atomic_load(&self->active) > 0)
        pthread_cond_wait(&self->left, &lock);
    pthread_mutex_unlock(&lock);
}

void uc_team_run(unsigned threads, uc_team_job *job, void *user)
{
    call self = {.job = job, .user = user, .threads = threads, .left = PTHREAD_COND_INITIALIZER};
    if (threads > 1) {
        pthread_once(&fork_once, follow_forks);
        open_call(&self);
    }
    job(0, user);
    if (threads > 1)
        close_call(&self);
    (void)pthread_cond_destroy(&self.left);
}
