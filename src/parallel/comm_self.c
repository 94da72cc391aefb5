/* The process that works alone: a sum over all processes is its own. */
#include "parallel/parallel.h"

static uc_status sum_of_one(const uc_comm *self, double *values, size_t length)
{
    (void)self, (void)values, (void)length;
    return UC_OK;
}

const uc_comm uc_comm_self = {.rank = 0, .size = 1, .sum = sum_of_one};

uc_status uc_comm_sum(const uc_comm *comm, double *values, size_t length)
{
    return comm ? comm->sum(comm, values, length) : UC_OK;
}
