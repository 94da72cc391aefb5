/*
 * Online learners in several processes: iterative parameter mixing (McDonald, Hall, Mann, Distributed
 * training strategies for the structured perceptron, NAACL 2010). Every process learns from its own rows;
 * then
 *
 *   W <- sum_r mu_r W_r     mu_r   the share of process r in all rows
 *   A <- sum_r mu_r A_r     A_r = W_r - U_r / t_r   the mean of its iterates (learn/weights.c), if kept
 *
 * and all processes continue from W. To let the mean continue from A, U becomes t_r (W - A) in process r.
 * After the last pass all processes have A, or W if no mean is kept, as if a single learner had run as many
 * rounds as all processes together.
 */
#include <string.h>

#include "parallel/parallel.h"
#include "train/online.h"

enum { ROUNDS, UPDATES, COUNTS };

/* The contribution of this process: W, A and the counts. */
static void weigh(double *sum, const uc_online *self, double share)
{
    const size_t count = (self->features + 1) * self->stride;
    const double *W = self->plane[UC_WEIGHTS], *U = self->plane[UC_AVERAGE];
    const double t = (double)self->rounds;
    for (size_t i = 0; i < count; i++)
        sum[i] = sum[count + i] = share * W[i];
    for (size_t i = 0; i < count && U && t > 0.0; i++)
        sum[count + i] = share * (W[i] - U[i] / t);
    sum[2 * count + ROUNDS] = t;
    sum[2 * count + UPDATES] = (double)self->updates;
}

static void go_on_from(uc_online *self, const double *W, const double *A, const double *counts, bool last)
{
    const size_t count = (self->features + 1) * self->stride;
    double *U = self->plane[UC_AVERAGE];
    if (last) {
        memcpy(self->plane[UC_WEIGHTS], A, count * sizeof *A);
        self->rounds = (uint64_t)counts[ROUNDS];
        self->updates = (uint64_t)counts[UPDATES];
    } else {
        memcpy(self->plane[UC_WEIGHTS], W, count * sizeof *W);
    }
    if (U && last)
        memset(U, 0, count * sizeof *U);
    for (size_t i = 0; i < count && U && !last; i++)
        U[i] = (double)self->rounds * (W[i] - A[i]);
    self->ticket++; /* earlier scores belong to other weights */
}

uc_status uc_online_mix(uc_online *self, double share, bool last, uc_status status, const uc_context *context)
{
    if (!uc_is_shared(context))
        return status;
    const size_t count = (self->features + 1) * self->stride;
    double *sum = NULL;
    if (status == UC_OK) {
        sum = uc_alloc(2 * count + COUNTS, sizeof *sum);
        if (!sum)
            status = UC_ERR_NOMEM;
    }
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status == UC_OK) {
        weigh(sum, self, share);
        status = uc_comm_sum(uc_comm_of(context), sum, 2 * count + COUNTS);
    }
    if (status == UC_OK)
        go_on_from(self, sum, sum + count, sum + 2 * count, last);
    uc_free(sum);
    return status;
}
