/*
 * The probabilities of the true classes, given scores S and labels:
 *
 *   R_i = softmax(S_i / t + LL_i)                  LL_iz = sum over the row's labels of log C_j[z][l]
 *   fit = mean_i log sum_z softmax(S_i / t)_z exp(LL_iz)
 */
#include <math.h>

#include "learn/audit/audit.h"
#include "linalg/linalg.h"

#define ROWS_PER_BLOCK ((size_t)256)

#define SMALL 1e-290 /* a sum below it may lack terms that became 0 */

/* In loops over all classes, where a call of fmax would be most of the work. */
static double larger(double a, double b)
{
    return b > a ? b : a;
}

static double largest_of(const double *values, size_t count)
{
    double most = values[0];
    for (size_t k = 1; k < count; k++)
        most = larger(most, values[k]);
    return most;
}

static double log_sum_exp(const double *values, size_t count)
{
    const double most = largest_of(values, count);
    double sum = 0.0;
    if (most == -INFINITY)
        return most;
    for (size_t k = 0; k < count; k++)
        sum += exp(values[k] - most);
    return most + log(sum);
}

/* log sum_z softmax(s / t)_z exp(LL_z), whatever their sizes */
static double fit_of_row(const double *s, double t, const double *LL, size_t K, double *work)
{
    for (size_t z = 0; z < K; z++)
        work[z] = s[z] / t;
    const double all = log_sum_exp(work, K);
    for (size_t z = 0; z < K; z++)
        work[z] += LL[z];
    return log_sum_exp(work, K) - all;
}

typedef struct expect_job {
    const uc_expectation *self;
    double *R, *changes; /* largest change of each block */
    bool fits;
} expect_job;

/* Adds the row's fit at every temperature. All exponentials are computed at once: those of LL, then those of
 * s / t for each t. `work` has room for (1 + count) K values. */
static void add_fits(double *sum, const uc_expectation *self, const double *s, const double *LL,
                     double weight, double *work)
{
    const size_t K = self->confusion->K;
    const double most_s = largest_of(s, K), most_LL = largest_of(LL, K);
    double *e = work + K;
    for (size_t z = 0; z < K; z++)
        work[z] = LL[z] - most_LL;
    for (size_t k = 0; k < self->count; k++)
        for (size_t z = 0; z < K; z++)
            e[k * K + z] = (s[z] - most_s) / self->temperatures[k];
    uc_exponential(work, (1 + self->count) * K);
    for (size_t k = 0; k < self->count; k++, e += K) {
        double all = 0.0, seen = 0.0;
        for (size_t z = 0; z < K; z++) {
            all += e[z];
            seen += e[z] * work[z];
        }
        const double fit =
            seen > SMALL ? log(seen / all) + most_LL : fit_of_row(s, self->temperatures[k], LL, K, e);
        sum[k] += weight * fit;
    }
}

static double expect_row(double *R, const uc_expectation *self, const double *s, const double *LL,
                         double *work)
{
    const size_t K = self->confusion->K;
    double change = 0.0, total = 0.0;
    for (size_t z = 0; z < K; z++)
        work[z] = s[z] / self->temperature + LL[z];
    const double most = largest_of(work, K);
    for (size_t z = 0; z < K; z++)
        work[z] -= most;
    uc_exponential(work, K);
    for (size_t z = 0; z < K; z++)
        total += work[z];
    for (size_t z = 0; z < K; z++) {
        const double after = work[z] / total;
        change = larger(change, fabs(after - R[z]));
        R[z] = after;
    }
    return change;
}

static uc_status expect_rows(double *sum, size_t first, size_t last, void *user)
{
    const expect_job *job = user;
    const uc_expectation *self = job->self;
    const size_t K = self->confusion->K;
    double *LL = uc_alloc((2 + self->count) * K, sizeof *LL);
    if (!LL)
        return UC_ERR_NOMEM;
    double *work = LL + K;
    for (size_t i = first; i < last; i++) {
        const double weight = self->labelled->weights ? self->labelled->weights[i] : 1.0;
        const double *s = self->S + i * K;
        uc_confusion_of_row(LL, self->confusion, self->labelled, i);
        if (job->fits)
            add_fits(sum, self, s, LL, weight, work);
        const double change = expect_row(job->R + i * K, self, s, LL, work);
        double *largest = &job->changes[i / ROWS_PER_BLOCK];
        *largest = fmax(*largest, change);
    }
    uc_free(LL);
    return UC_OK;
}

/* The largest value over all processes. */
static uc_status largest_of_all(double *value, const uc_context *context)
{
    const uc_comm *comm = uc_comm_of(context);
    double *all = NULL;
    if (!uc_is_shared(context))
        return UC_OK;
    const uc_status status = uc_comm_gather((void **)&all, NULL, comm, value, sizeof *value);
    for (int r = 0; r < uc_comm_size(comm) && status == UC_OK; r++)
        *value = fmax(*value, all[r]);
    uc_free(all);
    return status;
}

/* The blocks of uc_sum_over are multiples of these, so no two threads write the change of the same block. */
uc_status uc_expect(double *R, double *change, double *fits, const uc_expectation *self)
{
    const size_t rows = self->labelled->annotations->rows, blocks = uc_block_count(rows, ROWS_PER_BLOCK);
    double sums[UC_AUDIT_TEMPERATURES] = {0};
    expect_job job = {self, R, uc_alloc(blocks, sizeof(double)), fits != NULL};
    const uc_context *context = self->labelled->context;
    assert(self->count <= UC_AUDIT_TEMPERATURES);
    uc_status status = uc_comm_agree(uc_comm_of(context), job.changes ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = uc_sum_over(context, rows, expect_rows, &job, sums, self->count);
    *change = 0.0;
    for (size_t b = 0; b < blocks && status == UC_OK; b++)
        *change = fmax(*change, job.changes[b]);
    if (status == UC_OK)
        status = largest_of_all(change, context);
    for (size_t k = 0; k < self->count && fits; k++)
        fits[k] = sums[k] / self->labelled->total_weight;
    uc_free(job.changes);
    return status;
}

/* ---- without features ---- */

typedef struct prior_job {
    const uc_labelled *labelled;
    const uc_confusion *confusion;
    const double *logs; /* of pi */
} prior_job;

static uc_status add_prior(double *sum, size_t first, size_t last, void *user)
{
    const prior_job *job = user;
    const size_t K = job->confusion->K;
    double *LL = uc_alloc(K, sizeof *LL);
    if (!LL)
        return UC_ERR_NOMEM;
    for (size_t i = first; i < last; i++) {
        const double weight = job->labelled->weights ? job->labelled->weights[i] : 1.0;
        uc_confusion_of_row(LL, job->confusion, job->labelled, i);
        for (size_t z = 0; z < K; z++)
            LL[z] += job->logs[z];
        *sum += weight * log_sum_exp(LL, K);
    }
    uc_free(LL);
    return UC_OK;
}

uc_status uc_fit_of_prior(double *out, const uc_labelled *labelled, const uc_confusion *confusion,
                          const double *pi)
{
    const size_t K = confusion->K;
    double *logs = uc_alloc(K, sizeof *logs), sum = 0.0;
    if (!logs)
        return UC_ERR_NOMEM;
    for (size_t z = 0; z < K; z++)
        logs[z] = log(pi[z]);
    prior_job job = {labelled, confusion, logs};
    const uc_status status =
        uc_sum_over(labelled->context, labelled->annotations->rows, add_prior, &job, &sum, 1);
    *out = sum / labelled->total_weight;
    uc_free(logs);
    return status;
}

typedef struct class_job {
    const uc_labelled *labelled;
    const double *R;
} class_job;

static uc_status add_classes(double *sum, size_t first, size_t last, void *user)
{
    const class_job *job = user;
    const size_t K = job->labelled->annotations->K;
    for (size_t i = first; i < last; i++) {
        const double weight = job->labelled->weights ? job->labelled->weights[i] : 1.0;
        for (size_t z = 0; z < K; z++)
            sum[z] += weight * job->R[i * K + z];
    }
    return UC_OK;
}

uc_status uc_class_prior(double *pi, const uc_labelled *labelled, const double *R)
{
    const size_t K = labelled->annotations->K;
    class_job job = {labelled, R};
    for (size_t z = 0; z < K; z++)
        pi[z] = 0.0;
    const uc_status status =
        uc_sum_over(labelled->context, labelled->annotations->rows, add_classes, &job, pi, K);
    for (size_t z = 0; z < K; z++)
        pi[z] = (pi[z] + 1.0) / (labelled->total_weight + (double)K);
    return status;
}
