/*
 * A change of variables for linear machines that leaves the objective unchanged.
 *
 *   w, b       weights and offset, in which the objective is written
 *   u, a       the variables that L-BFGS sees
 *   m_j, e_j   column j's mean and mean deviation
 *
 *   u_j = s_j w_j             s_j = sqrt(penalty + curvature e_j^2), about the root of d^2F/dw_j^2
 *   a   = s_0 (b + <w, m>)    s_0 = sqrt(curvature)
 *
 * This amounts to standardised columns, except that the penalty remains |w|^2. By the chain rule
 *
 *   dF/du_j = (dF/dw_j - m_j dF/db) / s_j          dF/da = dF/db / s_0
 *
 * so the rows are never changed. Without a free offset nothing can absorb <w, m>, so m = 0. With a root L
 * (whiten.c) the variables are L'u instead, and the gradient in them is L^-1 dF/du.
 *
 * Columns of sparse data also differ in how often they are not 0. If that entered the scale, the weights of
 * rare columns would move too far: on raw word counts L-BFGS took three times as many iterations. Therefore,
 * if less than one value in twenty is not 0, m = 0 and e_j is the mean of |x_j| over the rows where x_j is
 * not 0. How the rows are stored does not matter.
 */
#include "learn/conditioning.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

typedef struct column_job {
    const uc_matrix *X;
    const double *centre; /* for add_deviations */
} column_job;

/* What is summed for each column, one column after the other; the number of rows follows. */
typedef struct column_sums {
    double value, size, count; /* x, |x|, and how many are not 0 */
} column_sums;

enum { SUMS = sizeof(column_sums) / sizeof(double) };

static uc_status add_values(double *sum, size_t first, size_t last, void *user)
{
    const column_job *job = user;
    column_sums *columns = (column_sums *)sum;
    for (size_t i = first; i < last; i++) {
        const uc_row row = uc_matrix_row(job->X, i);
        for (size_t k = 0; k < row.count; k++) {
            column_sums *column = &columns[uc_row_column(row, k)];
            const double x = (double)row.values[k];
            column->value += x;
            column->size += fabs(x);
            column->count += x != 0.0;
        }
    }
    sum[SUMS * job->X->cols] += (double)(last - first);
    return UC_OK;
}

/* Adds |x - centre| for each column, over the values that are not 0. */
static uc_status add_deviations(double *sum, size_t first, size_t last, void *user)
{
    const column_job *job = user;
    for (size_t i = first; i < last; i++) {
        const uc_row row = uc_matrix_row(job->X, i);
        for (size_t k = 0; k < row.count; k++) {
            const size_t j = uc_row_column(row, k);
            if (row.values[k] != 0.0f)
                sum[j] += fabs((double)row.values[k] - job->centre[j]);
        }
    }
    return UC_OK;
}

/* Sums over the rows of all processes. Sparse rows are summed by one thread: the sums of several would be
 * longer than the rows. */
static uc_status sum_columns(double *sum, size_t length, uc_sum_job *add, column_job *job,
                             const uc_context *context)
{
    const uc_matrix *X = job->X;
    if (uc_matrix_is_sparse(X)) {
        const uc_status status = add(sum, 0, X->rows, job);
        if (status != UC_OK)
            return status;
        return uc_comm_sum(uc_comm_of(context), sum, length);
    }
    const uc_context fitting = uc_context_for_work(context, (double)uc_matrix_entries(X));
    return uc_sum_over(&fitting, X->rows, add, job, sum, length);
}

/* Sets the scale of each column from its mean deviation; `deviation` is that of the values that are not 0. */
static void set_scales(uc_conditioning *self, const column_sums *columns, const double *deviation,
                       double penalty, double curvature)
{
    self->scale[0] = curvature > 0.0 ? sqrt(curvature) : 1.0;
    for (size_t j = 0; j < self->columns; j++) {
        const double count = columns[j].count, among = self->sparse ? count : self->rows;
        double sum = columns[j].size;
        if (self->centre)
            sum = deviation[j] + (self->rows - count) * fabs(self->centre[j]);
        const double e = among > 0.0 ? sum / among : 0.0;
        const double scale = sqrt(penalty + curvature * e * e);
        self->scale[j + 1] = scale > 0.0 ? scale : 1.0;
    }
}

static bool is_sparse(const column_sums *columns, size_t count, double rows)
{
    double entries = 0.0;
    for (size_t j = 0; j < count; j++)
        entries += columns[j].count;
    return entries < UC_SPARSE * rows * (double)count;
}

/* Sets the centre to the means of the columns, and sums the deviations from it. */
static uc_status find_centre(uc_conditioning *self, double *deviation, const column_sums *columns,
                             const uc_matrix *X, const uc_context *context)
{
    self->centre = uc_alloc(self->columns, sizeof *self->centre);
    if (!self->centre)
        return UC_ERR_NOMEM;
    for (size_t j = 0; j < self->columns; j++)
        self->centre[j] = columns[j].value / self->rows;
    column_job job = {X, self->centre};
    return sum_columns(deviation, self->columns, add_deviations, &job, context);
}

uc_status uc_conditioning_fit(uc_conditioning *out, const uc_matrix *X, size_t stride, double penalty,
                              double curvature, bool free_offset, const uc_context *context)
{
    const size_t d = X->cols, length = SUMS * d + 1;
    *out = (uc_conditioning){.columns = d, .stride = stride};
    double *sums = uc_alloc(length, sizeof *sums), *deviation = uc_alloc(d, sizeof *deviation);
    const column_sums *columns = (const column_sums *)sums;
    column_job job = {.X = X};
    uc_status status = UC_ERR_NOMEM;
    out->scale = uc_alloc(d + 1, sizeof *out->scale);
    if (sums && deviation && out->scale)
        status = sum_columns(sums, length, add_values, &job, context);
    if (status != UC_OK)
        goto cleanup;
    out->rows = sums[SUMS * d];
    out->sparse = is_sparse(columns, d, out->rows);
    if (free_offset && !out->sparse && out->rows > 0.0)
        status = find_centre(out, deviation, columns, X, context);
    if (status == UC_OK)
        set_scales(out, columns, deviation, penalty, curvature);
cleanup:
    uc_free(deviation);
    uc_free(sums);
    return status;
}

void uc_conditioning_free(uc_conditioning *self)
{
    uc_free(self->scale);
    uc_free(self->centre);
    uc_free(self->root);
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
    if (self->root)
        uc_times_lower(variables + S, S, self->root, self->columns);
}

void uc_conditioning_leave(double *weights, const uc_conditioning *self, const double *variables)
{
    const size_t S = self->stride;
    memcpy(weights, variables, (self->columns + 1) * S * sizeof *weights);
    if (self->root)
        uc_solve_lower_columns(weights + S, S, self->root, self->columns, true);
    for (size_t q = 0; q < S; q++)
        weights[q] /= self->scale[0];
    for (size_t j = 1; j <= self->columns; j++)
        for (size_t q = 0; q < S; q++) {
            const double w = weights[j * S + q] / self->scale[j];
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
    if (self->root)
        uc_solve_lower_columns(gradient + S, S, self->root, self->columns, false);
    for (size_t q = 0; q < S; q++)
        gradient[q] /= self->scale[0];
}
