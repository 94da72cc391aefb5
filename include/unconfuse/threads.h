/* For programs, not for libraries: make idle threads sleep instead of spin. */
#ifndef UNCONFUSE_THREADS_H
#define UNCONFUSE_THREADS_H

#ifdef __cplusplus
extern "C" {
#endif

/* OpenMP threads wait for each other by spinning, which on a busy machine can take many times as long as
 * the work itself. How they wait is read from the environment before main begins. So a program that calls
 * this first in main restarts itself once, with GOMP_SPINCOUNT set so that threads sleep after spinning
 * briefly, and with OPENBLAS_NUM_THREADS set so that OpenBLAS, of which only one thread is used, starts no
 * others. Does nothing if the user has set how threads wait (OMP_WAIT_POLICY) or where they run
 * (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY), or if the program cannot find its own file. No other
 * function of the library looks at the environment. */
void uc_threads_sleep_when_idle(char *const argv[]);

/* The same, for a call from .preinit_array, before the libraries of the program are initialised. Unlike
 * the other, it limits OpenBLAS to one thread whatever the user has set for OpenMP: the threads that
 * OpenBLAS starts when it is loaded are never used, and if there is no memory for them it ends the
 * program. */
void uc_threads_sleep_when_idle_early(char *const argv[], char *const environment[]);

#ifdef __cplusplus
}
#endif

#endif
