/*
 * The part of a change of variables (conditioning.c) that decorrelates the columns.
 *
 *   z_j = (x_j - m_j) / s_j                    a column, centred and scaled as in conditioning.c
 *   A = curvature mean(zz') + diag(penalty / s_j^2) + tiny I = L L'
 *
 * A is approximately the second derivative of the objective in u = s w at the start, so in the variables L'u
 * it is approximately the identity. On Gaussians with slowly decreasing eigenvalues L-BFGS then takes 7
 * gradients instead of 57. It is a change of variables, not an approximation of the objective, so a sample of
 * the rows is enough: twenty per column.
 *
 * Farther on, rows differ in their second derivatives c_i. With these in A, m_j the mean of column j weighted
 * by them, and all of A multiplied so that the mean of c_i is `curvature` again, the units of the variables
 * stay about the same, and with them the meaning of a tolerance.
 *
 * Without a free offset m = 0. Then A, for z that are not centred, is the centred one plus
 * curvature m/s (m/s)', and the rows are not needed.
 *
 * A thread computes complete rows of A from all rows of the sample, in their order: the bytes are the same
 * for any number of threads, and no thread needs its own matrix.
 */
#include <math.h>
#include <string.h>

#include "learn/conditioning.h"
#include "linalg/linalg.h"

#define ROWS_PER_COLUMN ((size_t)20)
#define FEWEST_ROWS ((size_t)2000)
#define ROWS_AT_ONCE ((size_t)64)
#define PANEL ((size_t)64) /* rows of A per block of work */
#define TINY 1e-8
#define MOST_COLUMNS ((size_t)2000)
#define GRADIENTS_WORTH 10.0 /* A may cost at most this many gradients */

typedef struct whiten_job {
    const uc_conditioning *conditioning;
    const uc_matrix *X;
    size_t every; /* the distance between consecutive rows of the sample */
    double *A;
    double *curvatures; /* of the sample's rows; NULL: all are 1 */
    uc_curvatures_fn *find;
    void *user;
} whiten_job;

static size_t sample_size(const whiten_job *job)
{
    return uc_block_count(job->X->rows, job->every);
}

/* z times s, and times the root of the curvature, for row `i` of the sample, columns 0 .. count-1. */
static void put_row(double *z, const whiten_job *job, size_t i, size_t count)
{
    const double *centre = job->conditioning->centre;
    const double root = job->curvatures ? sqrt(job->curvatures[i]) : 1.0;
    const uc_row values = uc_known_row(uc_matrix_row(job->X, i * job->every), count);
    if (!values.columns) {
        uc_widen(z, values.values, count);
    } else {
        memset(z, 0, count * sizeof *z);
        for (size_t k = 0; k < values.count; k++)
            z[values.columns[k]] = (double)values.values[k];
    }
    for (size_t j = 0; j < count && centre; j++)
        z[j] -= centre[j];
    for (size_t j = 0; j < count && job->curvatures; j++)
        z[j] *= root;
}

/* Adds the panel's rows of the sum, up to the diagonal of the last of them. */
static uc_status add_panel(size_t panel, void *user)
{
    const whiten_job *job = user;
    const size_t d = job->X->cols, sample = sample_size(job);
    const uc_range rows = uc_block_range(panel, d, PANEL);
    const size_t width = rows.last, height = rows.last - rows.first;
    double *z = uc_alloc(ROWS_AT_ONCE * width, sizeof *z);
    if (!z)
        return UC_ERR_NOMEM;
    for (size_t first = 0; first < sample; first += ROWS_AT_ONCE) {
        const size_t count = uc_min_size(sample - first, ROWS_AT_ONCE);
        for (size_t i = 0; i < count; i++)
            put_row(z + i * width, job, first + i, width);
        uc_gemm(job->A + rows.first * d, d, (uc_operand){z + rows.first, width, true},
                (uc_operand){z, width, false}, height, count, width, 1.0, 1.0);
    }
    uc_free(z);
    return UC_OK;
}

/* A gradient multiplies every value by `stride` weights, twice, and is slower than products of matrices. */
static bool is_worth_it(const uc_conditioning *self, double sample)
{
    const double d = (double)self->columns, gradient = self->rows * (4.0 * (double)self->stride + 16.0);
    if (self->sparse || self->columns < 2 || self->columns > MOST_COLUMNS || self->rows < d)
        return false;
    return sample * d <= GRADIENTS_WORTH * gradient;
}

/* The distance between the rows of the sample, which has that many rows or more. */
static size_t distance_for(const uc_conditioning *self)
{
    const size_t every = (size_t)self->rows / (ROWS_PER_COLUMN * self->columns + FEWEST_ROWS);
    return every > 0 ? every : 1;
}

/* Sets the root to that of A with `curvature`; leaves it as it is if A is not positive definite. */
static uc_status make_root(uc_conditioning *self, whiten_job *job, double penalty, double curvature,
                           const uc_context *context)
{
    const size_t d = self->columns;
    const uc_comm *comm = uc_comm_of(context);
    double *A = uc_alloc(d * d + 1, sizeof *A);
    const uc_context fitting = uc_context_for_work(context, (double)sample_size(job) * (double)(d * d));
    uc_status status = UC_ERR_NOMEM;
    job->A = A;
    if (A)
        status = uc_run_blocks(&fitting, uc_block_count(d, PANEL), add_panel, job);
    status = uc_comm_agree(comm, status);
    if (status != UC_OK)
        goto cleanup;
    A[d * d] = (double)sample_size(job);
    status = uc_comm_sum(comm, A, d * d + 1);
    if (status != UC_OK)
        goto cleanup;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++)
            A[i * d + j] *= curvature / A[d * d] / (self->scale[i + 1] * self->scale[j + 1]);
    for (size_t j = 0; j < d; j++)
        A[j * d + j] += penalty / (self->scale[j + 1] * self->scale[j + 1]) + TINY;
    if (uc_cholesky(A, d) == UC_OK) {
        self->root = A;
        return UC_OK;
    }
cleanup:
    uc_free(A);
    return status;
}

uc_status uc_conditioning_whiten(uc_conditioning *self, const uc_matrix *X, double penalty, double curvature,
                                 const uc_context *context)
{
    whiten_job job = {.conditioning = self, .X = X, .every = distance_for(self)};
    if (!is_worth_it(self, self->rows / (double)job.every))
        return UC_OK;
    return make_root(self, &job, penalty, curvature, context);
}

static uc_status find_curvatures(size_t block, void *user)
{
    const whiten_job *job = user;
    const uc_range rows = uc_block_range(block, sample_size(job), ROWS_AT_ONCE);
    return job->find(job->curvatures + rows.first, rows.first * job->every, job->every,
                     rows.last - rows.first, job->user);
}

/* Adds the curvatures times the columns, and then the curvatures and their number. */
static uc_status add_centre(double *sum, size_t first, size_t last, void *user)
{
    const whiten_job *job = user;
    const size_t d = job->X->cols;
    for (size_t i = first; i < last; i++) {
        uc_row_axpy(job->curvatures[i], uc_matrix_row(job->X, i * job->every), sum);
        sum[d] += job->curvatures[i];
        sum[d + 1] += 1.0;
    }
    return UC_OK;
}

uc_status uc_conditioning_whiten_again(uc_conditioning *self, const uc_matrix *X, double penalty,
                                       double curvature, uc_curvatures_fn *find, void *user,
                                       const uc_context *context)
{
    const size_t d = self->columns;
    whiten_job job = {.conditioning = self, .X = X, .every = distance_for(self), .find = find, .user = user};
    const size_t sample = sample_size(&job);
    double *before = self->root, *sums = uc_alloc(d + 2, sizeof *sums);
    assert(before);
    job.curvatures = uc_alloc(sample, sizeof *job.curvatures);
    uc_status status = sums && job.curvatures ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_run_blocks(context, uc_block_count(sample, ROWS_AT_ONCE), find_curvatures, &job);
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status == UC_OK)
        status = uc_sum_over(context, sample, add_centre, &job, sums, d + 2);
    if (status != UC_OK || !(sums[d] > 0.0) || !isfinite(sums[d]))
        goto cleanup;
    const double factor = curvature * sums[d + 1] / sums[d];
    for (size_t j = 0; j < d && self->centre; j++)
        self->centre[j] = sums[j] / sums[d];
    status = make_root(self, &job, factor * penalty, factor, context);
    if (self->root != before)
        uc_free(before);
cleanup:
    uc_free(job.curvatures);
    uc_free(sums);
    return status;
}

uc_status uc_conditioning_fix_offset(uc_conditioning *out, const uc_conditioning *self, double curvature)
{
    const size_t d = self->columns;
    *out = *self;
    out->centre = NULL;
    out->scale = uc_alloc(d + 1, sizeof *out->scale);
    out->root = uc_alloc(d * d, sizeof *out->root);
    double *mean = uc_alloc(d, sizeof *mean);
    uc_status status = UC_ERR_NOMEM;
    if (!out->scale || !out->root || !mean)
        goto cleanup;
    memcpy(out->scale, self->scale, (d + 1) * sizeof *out->scale);
    for (size_t j = 0; j < d && self->centre; j++)
        mean[j] = self->centre[j] / self->scale[j + 1];
    uc_gemm(out->root, d, (uc_operand){self->root, d, false}, (uc_operand){self->root, d, true}, d, d, d, 1.0,
            0.0);
    uc_symmetric_add(out->root, d, d, curvature, mean, d, 1);
    status = UC_OK;
    if (uc_cholesky(out->root, d) != UC_OK) { /* the columns stay as they are */
        uc_free(out->root);
        out->root = NULL;
    }
cleanup:
    uc_free(mean);
    return status;
}
