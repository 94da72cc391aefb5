/* The only two verbs of parallel work: run jobs over blocks, and sum over rows.
 *
 * Blocks have a fixed size and sums a fixed order, so results are the same bytes for any number of threads. */
#ifndef UC_PARALLEL_H
#define UC_PARALLEL_H

#include "base/base.h"
#include "unconfuse/context.h"

/* Work on block `block`, in any thread. */
typedef uc_status uc_block_job(size_t block, void *user);
/* Runs job(0) .. job(blocks - 1) on the context's threads; after a failure no new block begins, and the failure of
 * the lowest block that failed, with its sentence, is returned. */
uc_status uc_run_blocks(const uc_context *context, size_t blocks, uc_block_job *job, void *user);

/* Adds the contribution of rows first .. last-1 into sum[0..length). */
typedef uc_status uc_sum_job(double *sum, size_t first, size_t last, void *user);
/* sum[0..length) += the contributions of rows 0 .. rows-1, over all processes of the context's comm. */
uc_status uc_sum_over(const uc_context *context, size_t rows, uc_sum_job *job, void *user, double *sum,
                      size_t length);

/* The same context, with one thread when the work is so small (in additions, say) that starting threads costs more. */
uc_context uc_context_for_work(const uc_context *context, double operations);

unsigned uc_threads(const uc_context *context);
uint64_t uc_memory_limit(const uc_context *context); /* bytes */
/* UC_ERR_NOMEM with the figure when `bytes` for `what` exceed the context's memory. */
uc_status uc_memory_check(const uc_context *context, double bytes, const char *what);
/* UC_ERR_CANCELLED when the callback said so. */
uc_status uc_report(const uc_context *context, const char *task, double done, double total,
                    const char *detail);
void uc_warn(const uc_context *context, const char *format, ...) UC_PRINTF(2, 3);

/* Processes that share a job; comm_self.c is the one that is alone. */
struct uc_comm {
    int rank, size;
    uc_status (*sum)(const uc_comm *self, double *values, size_t length);
};
extern const uc_comm uc_comm_self;
uc_status uc_comm_sum(const uc_comm *comm, double *values, size_t length); /* comm NULL: alone */

#endif
