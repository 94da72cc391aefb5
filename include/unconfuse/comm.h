/* Processes that share one job: each holds some of the rows, and every process gets the same sums.
 *
 * A function of this library that takes a context works on the rows of all processes if the context's comm
 * has more than one. All processes must then call it, with the same settings. A process that fails alone
 * would leave the others waiting, so it must end the job with uc_comm_end. */
#ifndef UNCONFUSE_COMM_H
#define UNCONFUSE_COMM_H

#include "unconfuse/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The processes that this one was started with; NULL if there is only this one. The library itself always
 * returns NULL; a program linked with src/parallel/comm_mpi.c, as unconfuse-mpi is, returns the processes
 * that mpirun started. Call it once, before any other function of this library. */
const uc_comm *uc_comm_start(void);

/* In all of these functions, NULL stands for a single process. */
int uc_comm_rank(const uc_comm *self); /* 0 .. size - 1 */
int uc_comm_size(const uc_comm *self);
int uc_comm_neighbours(const uc_comm *self); /* processes on this machine, this one included */

/* Returns UC_OK if every rank passed UC_OK; otherwise, in all processes, the status of the lowest failing
 * rank. uc_last_error is then the sentence of that rank, after "rank R: " unless all ranks failed. The second
 * form takes the sentence from the caller instead of from uc_last_error. */
uc_status uc_comm_agree(const uc_comm *self, uc_status status);
uc_status uc_comm_agree_on(const uc_comm *self, uc_status status, const char *reason);

/* Returns UC_ERR_INVALID in all processes if a rank passed a different text from rank 0: "rank R: WHAT is
 * TEXT, but that of rank 0 is ...". */
uc_status uc_comm_same(const uc_comm *self, const char *text, const char *what);

/* values[0..length) become their sums over all processes. */
uc_status uc_comm_sum(const uc_comm *self, double *values, size_t length);

/* Sends the bytes of all processes to rank 0, which passes them to `take`, part by part and in the order
 * of the ranks. `take` is not called in other processes. */
typedef uc_status uc_take_fn(const void *bytes, size_t length, void *user);
uc_status uc_comm_collect(const uc_comm *self, const void *bytes, size_t length, uc_take_fn *take,
                          void *user);

/* What this process has exchanged with the others so far. */
typedef struct uc_traffic {
    uint64_t sums;  /* number of all-reduce calls */
    double bytes;   /* summed by them */
    double seconds; /* spent in communication, including waiting for the others */
} uc_traffic;
uc_traffic uc_comm_traffic(const uc_comm *self);

/* Ends the work of all processes. Each passes its status and, if it failed, a sentence that says why.
 * Returns the same status in all of them, as uc_comm_agree does. Before any process returns, rank 0 calls
 * `tell` once with the sentence of the failure. If this process failed and the others do not arrive within
 * a few seconds because they are waiting for it elsewhere, it calls `tell` itself and aborts the job with
 * exit status `code`. With one process, `tell` is called if the status is not UC_OK. */
uc_status uc_comm_end(const uc_comm *self, uc_status status, const char *sentence, uc_warn_fn *tell,
                      void *user, int code);

#ifdef __cplusplus
}
#endif

#endif
