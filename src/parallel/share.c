/* Dividing blocks of work among processes. */
#include "parallel/parallel.h"

typedef struct block_range {
    uc_block_job *job;
    void *user;
    size_t first;
} block_range;

static uc_status run_in_range(size_t block, void *user)
{
    const block_range *range = user;
    return range->job(range->first + block, range->user);
}

uc_status uc_share_blocks(const uc_context *context, size_t blocks, uc_block_job *job, void *user,
                          void *results, size_t block_bytes, size_t total_bytes)
{
    assert(blocks == uc_block_count(total_bytes, block_bytes));
    const uc_comm *comm = uc_comm_of(context);
    if (uc_comm_size(comm) == 1)
        return uc_run_blocks(context, blocks, job, user);
    size_t *sizes = uc_alloc((size_t)comm->size, sizeof *sizes);
    block_range range = {job, user, uc_first_block(blocks, comm, comm->rank)};
    const size_t count = uc_first_block(blocks, comm, comm->rank + 1) - range.first;
    uc_status status = UC_ERR_NOMEM;
    if (sizes)
        status = uc_run_blocks(context, count, run_in_range, &range);
    status = uc_comm_agree(comm, status);
    if (status != UC_OK)
        goto cleanup;
    for (int r = 0; r < comm->size; r++) {
        const size_t begin = uc_first_block(blocks, comm, r) * block_bytes;
        const size_t end = uc_first_block(blocks, comm, r + 1) * block_bytes;
        sizes[r] = uc_min_size(end, total_bytes) - uc_min_size(begin, total_bytes);
    }
    status = comm->gather(comm, results, sizes);

cleanup:
    uc_free(sizes);
    return status;
}
