/* Several processes in one, for tests: threads that talk through a comm. One that returns while others
 * wait for it makes them fail, as mpirun would end them. */
#ifndef TESTS_PROCESSES_H
#define TESTS_PROCESSES_H

#include "parallel/parallel.h"

typedef uc_status process_job(const uc_comm *comm, void *user);
/* Runs the job in `size` processes. Returns the failure of the lowest rank that failed by itself, with its
 * sentence. */
uc_status run_processes(int size, process_job *job, void *user);

#endif
