/* Processes that share one job: each holds some of the rows, and what they add up is the same for all.
 *
 * Every function of this library that takes a context works on the rows of all processes when the context has a comm of
 * more than one; all of them must call it, with the same settings. A process that fails alone leaves the others waiting:
 * it must end the job (uc_comm_end does). */
#ifndef UNCONFUSE_COMM_H
#define UNCONFUSE_COMM_H

#include "unconfuse/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The processes that this one was started with; NULL: it is alone. The library knows of none; a program that was linked
 * with src/parallel/comm_mpi.c, as unconfuse-mpi is, knows those that mpirun started. To be called once, first. */
const uc_comm *uc_comm_start(void);

/* A comm of NULL is one process. */
int uc_comm_rank(const uc_comm *self); /* 0 .. size - 1 */
int uc_comm_size(const uc_comm *self);
int uc_comm_neighbours(const uc_comm *self); /* processes on this machine, this one included */

/* The same answer in all processes: UC_OK when all come with it, else what the first of those that failed came with, whose
 * sentence uc_last_error has then, behind "rank R: " unless all failed. The second form is for a program with sentences of
 * its own. */
uc_status uc_comm_agree(const uc_comm *self, uc_status status);
uc_status uc_comm_agree_on(const uc_comm *self, uc_status status, const char *sentence);

/* UC_ERR_INVALID, in all processes, when one comes with another text than the first: "rank R: WHAT is TEXT, but ...". */
uc_status uc_comm_same(const uc_comm *self, const char *text, const char *what);

/* values[0..length) become their sums over all processes. */
uc_status uc_comm_sum(const uc_comm *self, double *values, size_t length);

/* Hands the bytes of all processes to the first one, in the order of the ranks and in parts; `take` is called in the
 * first process only. */
typedef uc_status uc_take_fn(const void *bytes, size_t length, void *user);
uc_status uc_comm_collect(const uc_comm *self, const void *bytes, size_t length, uc_take_fn *take,
                          void *user);

/* What this process passed to the others. */
typedef struct uc_traffic {
    uint64_t sums;  /* all-reduces */
    double bytes;   /* that they added up */
    double seconds; /* waiting for others included */
} uc_traffic;
uc_traffic uc_comm_traffic(const uc_comm *self);

/* All processes end their work here, each with its status and, when it failed, its sentence. Returns the status that all
 * end with. Of several processes the first one prints the sentence of the failure, behind `prefix`, before any ends. When
 * the others do not come because they wait for this one, which failed, it prints its own, and ends them all with exit
 * status `code`. */
uc_status uc_comm_end(const uc_comm *self, uc_status status, const char *sentence, const char *prefix,
                      int code);

#ifdef __cplusplus
}
#endif

#endif
