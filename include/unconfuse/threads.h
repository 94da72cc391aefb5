/* For programs: threads that sleep while they wait. */
#ifndef UNCONFUSE_THREADS_H
#define UNCONFUSE_THREADS_H

#ifdef __cplusplus
extern "C" {
#endif

/* OpenMP's threads wait for each other by spinning, which on a busy machine takes many times the work itself; how
 * they wait is read from the environment before main begins. So a program that calls this first in main starts itself
 * once more, set to wait asleep after a short look (GOMP_SPINCOUNT); and OpenBLAS, which is given one thread anyway, is
 * set not to start more when it is loaded. Nothing happens when the user has chosen how threads wait (OMP_WAIT_POLICY) or
 * where they run (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY), or where a program cannot find itself. No other function
 * of the library looks at the environment. */
void uc_threads_sleep_when_idle(char *const argv[]);

/* The same for a program that calls it before the libraries that it is linked with begin (.preinit_array), and for
 * OpenBLAS whatever the user has chosen for the rest: the threads that it starts when it is loaded are never used, and where
 * there is no memory for them it ends the program. */
void uc_threads_sleep_when_idle_early(char *const argv[], char *const environment[]);

#ifdef __cplusplus
}
#endif

#endif
