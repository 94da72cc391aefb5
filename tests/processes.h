/* Simulates several processes in one, for tests: threads that communicate through a comm. If one returns
 * while others wait for it, they fail; mpirun would kill them. */
#ifndef TESTS_PROCESSES_H
#define TESTS_PROCESSES_H

#include "parallel/parallel.h"

typedef uc_status process_job(const uc_comm *comm, void *user);
/* Runs the job in `size` processes. Returns the failure of the lowest rank that failed by itself, with its
 * message. */
uc_status run_processes(int size, process_job *job, void *user);

#endif
