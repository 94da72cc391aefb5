/* How logistic regression (logistic.c) sums over the rows of these data, and whether by Newton's method. */
#include <math.h>

#include "learn/conditioning.h"
#include "learn/logistic.h"
#include "linalg/linalg.h"

#define LANE_ENTRIES 8.0 /* values per column that a lane needs */
#define VECTORS_SAVED 12 /* of the 20 that L-BFGS keeps, Newton steps need 8 */
#define UNEVEN 3.0 /* mean fourth power of the rows' lengths, divided by the square of their mean square */

/* Newton steps are for rows that are mostly zeros and have similar lengths. On raw word counts, where a few
 * rows are far longer than others, conjugate gradients need hundreds of products per step. Newton steps keep
 * two numbers for each row and class, which must fit in what L-BFGS would keep plus a quarter of the data. */
static uc_status plan_newton(uc_logistic_problem *self, const uc_fit *fit)
{
    const uc_matrix *X = &fit->data->X;
    const uc_comm *comm = uc_comm_of(fit->context);
    const double entries = (double)uc_matrix_entries(X), S = (double)self->S, d = (double)X->cols;
    const double n = (double)fit->rows, room = VECTORS_SAVED * d * S + entries / 4;
    double sums[4] = {entries, !uc_matrix_is_sparse(X) || 2.0 * (double)X->rows * S > room};
    for (size_t i = 0; i < X->rows && sums[1] == 0.0; i++) {
        const double square = uc_row_norm2(uc_matrix_row(X, i));
        sums[2] += square / n;
        sums[3] += square * square / n;
    }
    uc_status status = uc_comm_sum(comm, sums, 4);
    if (status != UC_OK || sums[1] > 0.0 || sums[0] >= UC_SPARSE * n * d)
        return status;
    if (!(sums[3] <= UNEVEN * sums[2] * sums[2]))
        return UC_OK;
    self->probabilities = uc_alloc(X->rows * self->S, sizeof *self->probabilities);
    self->scores = uc_alloc(X->rows * self->S, sizeof *self->scores);
    status = self->probabilities && self->scores ? UC_OK : UC_ERR_NOMEM;
    return uc_comm_agree(comm, status);
}

/* Adding up lanes is cheaper than a pass over the transposed data if, in every process, columns have at least
 * LANE_ENTRIES values on average, and a single weight. As many values per column make a lane; from two to
 * eight lanes, a power of two, so that few values do not pay for clearing and adding up long sums. */
static uc_status plan_lanes(uc_logistic_problem *self, const uc_fit *fit)
{
    const uc_matrix *X = &fit->data->X;
    const uc_comm *comm = uc_comm_of(fit->context);
    const double possible = (double)uc_matrix_entries(X) / (LANE_ENTRIES * (double)(X->cols + 1));
    double unfit = !uc_matrix_is_sparse(X) || self->S > 1 || possible < 1.0;
    uc_status status = uc_comm_sum(comm, &unfit, 1);
    if (status != UC_OK || unfit > 0.0)
        return status;
    self->lane_count = 2;
    while (2 * self->lane_count <= UC_LOGISTIC_MOST_LANES && 2.0 * (double)self->lane_count <= possible)
        self->lane_count *= 2;
    self->lanes = uc_alloc(self->lane_count * (X->cols + 1), sizeof *self->lanes);
    return uc_comm_agree(comm, self->lanes ? UC_OK : UC_ERR_NOMEM);
}

/* If processes have fewer rows than columns, and every one has the memory for it, gradients are summed by
 * columns. The number of processes that do so affects rounding only. */
static uc_status turn_data(uc_matrix *by_column, uc_logistic_problem *self, const uc_fit *fit)
{
    const uc_matrix *X = &fit->data->X;
    const uc_comm *comm = uc_comm_of(fit->context);
    /* The untransposed rows are kept. */
    const double bytes = 8.0 * (2.0 * (double)uc_matrix_entries(X) + (double)X->cols +
                                (double)X->rows * (1.0 + (double)self->S));
    if (self->lanes || !uc_matrix_is_sparse(X) || fit->rows / (size_t)uc_comm_size(comm) >= X->cols)
        return UC_OK;
    double lacking = uc_memory_check(fit->context, bytes, "transposed data") != UC_OK;
    uc_status status = uc_comm_sum(comm, &lacking, 1);
    if (status != UC_OK || lacking > 0.0)
        return status;
    self->residuals = uc_alloc(X->rows * self->S, sizeof *self->residuals);
    status = UC_ERR_NOMEM;
    if (self->residuals)
        status = uc_matrix_transpose(by_column, X);
    self->by_column = by_column;
    return uc_comm_agree(comm, status);
}

uc_status uc_logistic_plan(uc_logistic_problem *self, uc_matrix *by_column, const uc_fit *fit)
{
    uc_status status = plan_lanes(self, fit);
    if (status == UC_OK)
        status = turn_data(by_column, self, fit);
    if (status == UC_OK)
        status = plan_newton(self, fit);
    return status;
}
