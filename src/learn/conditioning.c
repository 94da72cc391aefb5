/*
 * A change of variables for linear machines, which leaves the objective as it is.
 *
 *   w, b    weights and offset, in which the objective is written      m_j, e_j   column j's mean and mean deviation
 *   u, a    the variables that L-BFGS sees
 *
 *   u_j = s_j w_j                s_j = sqrt(penalty + curvature e_j^2), about the root of the second derivative in w_j
 *   a   = s_0 (b + <w, m>)       s_0 = sqrt(curvature)
 *
 * That is what standardised columns would be, but for the penalty, which stays |w|^2. By the chain rule
 *
 *   dF/du_j = (dF/dw_j - m_j dF/db) / s_j          dF/da = dF/db / s_0
 *
 * so the rows are never touched. Without a free offset nothing takes up <w, m>: m = 0.
 *
 * Columns of sparse rows differ in how often they are given, too. Scaled by that, rare ones would move too far: on raw counts of
 * words L-BFGS took three times as many iterations. There m = 0, and e_j is the mean of |x_j| over the rows that have it.
 */
#include "learn/conditioning.h"

#include <math.h>

#include "linalg/linalg.h"

typedef struct means_job {
    const uc_matrix *X;
    const double *centre; /* NULL: 0 */
} means_job;

/* The sums of |x - centre|, and behind them how many there are. */
static uc_status add_deviations(double *sum, size_t first, size_t last, void *user)
{
    const means_job *job = user;
    for (size_t i = first; i < last; i++) {
        const uc_row row = uc_matrix_row(job->X, i);
        for (size_t k = 0; k < row.count; k++) {
            const size_t j = row.columns ? row.columns[k] : k;
            sum[j] += fabs((double)row.values[k] - (job->centre ? job->centre[j] : 0.0));
            sum[job->X->cols + j] += 1.0;
        }
    }
    return UC_OK;
}

/* The sums of the values, of dense rows, and how many there are. */
static uc_status add_values(double *sum, size_t first, size_t last, void *user)
{
    const means_job *job = user;
    for (size_t i = first; i < last; i++)
        uc_row_axpy(1.0, uc_matrix_row(job->X, i), sum);
    for (size_t j = 0; j < job->X->cols; j++)
        sum[job->X->cols + j] += (double)(last - first);
    return UC_OK;
}

/* Means over the rows of all processes. Sums by threads would be longer than sparse rows: these are added up by one. */
static uc_status mean_of(double *mean, uc_sum_job *add, means_job *job, const uc_context *context)
{
    const uc_matrix *X = job->X;
    double *sum = uc_alloc(2 * X->cols, sizeof *sum);
    if (!sum)
        return UC_ERR_NOMEM;
    uc_status status;
    if (uc_matrix_is_sparse(X)) {
        status = add(sum, 0, X->rows, job);
        if (status == UC_OK)
            status = uc_comm_sum(uc_comm_of(context), sum, 2 * X->cols);
    } else {
        const uc_context fitting = uc_context_for_work(context, (double)uc_matrix_entries(X));
        status = uc_sum_over(&fitting, X->rows, add, job, sum, 2 * X->cols);
    }
    for (size_t j = 0; j < X->cols && status == UC_OK; j++)
        mean[j] = sum[X->cols + j] > 0.0 ? sum[j] / sum[X->cols + j] : 0.0;
    uc_free(sum);
    return status;
}

uc_status uc_conditioning_fit(uc_conditioning *out, const uc_matrix *X, size_t stride, double penalty,
                              double curvature, bool free_offset, const uc_context *context)
{
    const size_t d = X->cols;
    *out = (uc_conditioning){.columns = d, .stride = stride};
    out->scale = uc_alloc(d + 1, sizeof *out->scale);
    const bool centred = free_offset && !uc_matrix_is_sparse(X);
    if (centred)
        out->centre = uc_alloc(d, sizeof *out->centre);
    uc_status status = out->scale && (out->centre || !centred) ? UC_OK : UC_ERR_NOMEM;
    means_job job = {X, out->centre};
    if (status == UC_OK && centred)
        status = mean_of(out->centre, add_values, &job, context);
    if (status == UC_OK)
        status = mean_of(out->scale + 1, add_deviations, &job, context);
    if (status != UC_OK)
        return status;
    out->scale[0] = curvature > 0.0 ? sqrt(curvature) : 1.0;
    for (size_t j = 1; j <= d; j++) {
        const double scale = sqrt(penalty + curvature * out->scale[j] * out->scale[j]);
        out->scale[j] = scale > 0.0 ? scale : 1.0;
    }
    return UC_OK;
}

void uc_conditioning_free(uc_conditioning *self)
{
    uc_free(self->scale);
    uc_free(self->centre);
    *self = (uc_conditioning){0};
}

void uc_conditioning_enter(double *variables, const uc_conditioning *self, const double *weights)
{
    const size_t S = self->stride;
    for (size_t q = 0; q < S; q++) {
        double offset = weights[q];
        for (size_t j = 0; self->centre && j < self->columns; j++)
            offset += self->centre[j] * weights[(j + 1) * S + q];
        variables[q] = self->scale[0] * offset;
    }
    for (size_t j = 1; j <= self->columns; j++)
        for (size_t q = 0; q < S; q++)
            variables[j * S + q] = self->scale[j] * weights[j * S + q];
}

void uc_conditioning_leave(double *weights, const uc_conditioning *self, const double *variables)
{
    const size_t S = self->stride;
    for (size_t q = 0; q < S; q++)
        weights[q] = variables[q] / self->scale[0];
    for (size_t j = 1; j <= self->columns; j++)
        for (size_t q = 0; q < S; q++) {
            const double w = variables[j * S + q] / self->scale[j];
            weights[j * S + q] = w;
            if (self->centre)
                weights[q] -= self->centre[j - 1] * w;
        }
}

void uc_conditioning_turn(double *gradient, const uc_conditioning *self)
{
    const size_t S = self->stride;
    for (size_t j = 1; j <= self->columns; j++)
        for (size_t q = 0; q < S; q++) {
            double *g = &gradient[j * S + q];
            if (self->centre)
                *g -= self->centre[j - 1] * gradient[q];
            *g /= self->scale[j];
        }
    for (size_t q = 0; q < S; q++)
        gradient[q] /= self->scale[0];
}
