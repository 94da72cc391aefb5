/* Starting the program once more with another way to wait. */
#define _GNU_SOURCE
#include "unconfuse/threads.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ADDED 3 /* variables */

static const char *value_in(char *const environment[], const char *name)
{
    const size_t length = strlen(name);
    for (; *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

static bool is_set(char *const environment[], const char *name)
{
    return value_in(environment, name) != NULL;
}

/* The environment without the variable. */
static size_t leave_out(char **environment, size_t count, const char *name)
{
    const size_t length = strlen(name);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environment[i], name, length) != 0 || environment[i][length] != '=')
            environment[kept++] = environment[i];
    return kept;
}

/* Steps follow each other closely: 10 to 100 microseconds, by CPU. */
static void start_again(char *const argv[], char *const environment[], bool wait, bool blas)
{
    char program[4096];
    size_t count = 0;
    while (environment[count])
        count++;
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return;
    char **changed = malloc((count + ADDED + 1) * sizeof *changed);
    if (!changed)
        return;
    program[length] = '\0';
    memcpy(changed, environment, count * sizeof *changed);
    if (wait)
        changed[count++] = "OMP_WAIT_POLICY=passive";
    if (wait && !is_set(environment, "GOMP_SPINCOUNT"))
        changed[count++] = "GOMP_SPINCOUNT=3000";
    if (blas) {
        count = leave_out(changed, count, "OPENBLAS_NUM_THREADS");
        changed[count++] = "OPENBLAS_NUM_THREADS=1";
    }
    changed[count] = NULL;
    (void)execve(program, argv, changed); /* returns only when it failed: then threads spin */
    free(changed);
}

void uc_threads_sleep_when_idle_early(char *const argv[], char *const environment[])
{
    const char *blas = value_in(environment, "OPENBLAS_NUM_THREADS");
    const bool wait = !is_set(environment, "OMP_WAIT_POLICY") && !is_set(environment, "OMP_PROC_BIND") &&
                      !is_set(environment, "OMP_PLACES") && !is_set(environment, "GOMP_CPU_AFFINITY");
    const bool more_threads = !blas || strcmp(blas, "1") != 0;
    if (wait || more_threads)
        start_again(argv, environment, wait, more_threads);
}

void uc_threads_sleep_when_idle(char *const argv[])
{
    /* Who binds threads to cores has bound this one by now, and the program would stay there with all of its
     * threads. */
    const bool bound = is_set(environ, "OMP_PROC_BIND") || is_set(environ, "OMP_PLACES") ||
                       is_set(environ, "GOMP_CPU_AFFINITY");
    if (!bound && !is_set(environ, "OMP_WAIT_POLICY"))
        start_again(argv, environ, true, !is_set(environ, "OPENBLAS_NUM_THREADS"));
}
