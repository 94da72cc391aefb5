/* Starting the program once more with another way to wait. */
#define _GNU_SOURCE
#include "unconfuse/patience.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

void uc_wait_asleep(char *const argv[])
{
    char program[4096];
    /* Who binds threads to cores has bound this one by now, and the program would stay there with all of its threads. */
    const bool bound = getenv("OMP_PROC_BIND") || getenv("OMP_PLACES") || getenv("GOMP_CPU_AFFINITY");
    if (bound || getenv("OMP_WAIT_POLICY") || setenv("OMP_WAIT_POLICY", "passive", 1) != 0)
        return;
    /* Steps follow each other closely: 10 to 100 microseconds, by CPU. */
    (void)setenv("GOMP_SPINCOUNT", "3000", 0);
    (void)setenv("OPENBLAS_NUM_THREADS", "1", 0);
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return;
    program[length] = '\0';
    (void)execv(program, argv); /* returns only when it failed: then threads spin */
}
