/* Compares lambdas by leave-one-out. The criterion is the squared error plus the error rate. Each alone ranks
 * worse: the squared error because it rewards probabilities, the error rate because it is coarse. */
#include "learn/ridge/path.h"

#include <math.h>

#include "linalg/linalg.h"

#define FEWEST_LANDMARKS ((size_t)200)
#define MOST_LANDMARKS ((size_t)500)

typedef struct path_job {
    const uint32_t *labels;
    const double *weights;
    size_t K;
} path_job;

/* Adds what row i contributes to the squared errors, then to the errors, for each lambda. */
static void add_row(double *sum, size_t i, const double *L, void *user)
{
    const path_job *job = user;
    const size_t K = job->K, label = job->labels[i];
    const double r = job->weights ? job->weights[i] : 1.0;
    for (size_t l = 0; l < UC_RIDGE_LAMBDAS; l++, L += K) {
        double squared = 0.0;
        for (size_t k = 0; k < K; k++)
            squared += L[k] * L[k];
        squared += 1.0 - 2.0 * L[label];
        sum[l] += r * squared;
        if (uc_argmax(L, K) != label)
            sum[UC_RIDGE_LAMBDAS + l] += r;
    }
}

uc_status uc_ridge_try_lambdas(uc_ridge_path *out, const uc_ridge *self, const uc_ridge_targets *targets,
                               const uint32_t *labels, double scale)
{
    double sum[2 * UC_RIDGE_LAMBDAS] = {0};
    path_job job = {labels, self->weights, targets->count};
    for (size_t l = 0; l < UC_RIDGE_LAMBDAS; l++)
        out->lambda[l] = scale * pow(10.0, -3.0 + 0.5 * (double)l);
    const uc_status status = uc_ridge_visit(sum, 2 * UC_RIDGE_LAMBDAS, self, targets, out->lambda,
                                            UC_RIDGE_LAMBDAS, add_row, &job);
    if (status != UC_OK)
        return status;
    out->best = 0;
    for (size_t l = 0; l < UC_RIDGE_LAMBDAS; l++) {
        out->squared[l] = sum[l] / self->total;
        out->error[l] = sum[UC_RIDGE_LAMBDAS + l] / self->total;
        out->criterion[l] = out->squared[l] + out->error[l];
        if (out->criterion[l] <= out->criterion[out->best])
            out->best = l;
    }
    return UC_OK;
}

double uc_ridge_scale(const uc_ridge *self, const uc_map_settings *map)
{
    /* The effect of the weights, rounded to whole steps of the path: apart from its ends, the lambdas are
     * those that repeated rows would get. */
    const double unit = pow(10.0, 0.5 * round(2.0 * log10(self->total / self->effective)));
    double sum = 0.0;
    if (map->map != UC_MAP_NONE && map->kernel == UC_KERNEL_GAUSSIAN)
        return unit;
    for (size_t j = 0; j < self->rank; j++)
        sum += self->values[j];
    return sum > 0.0 ? unit * 2.0 * sum / self->total : unit;
}

void uc_ridge_label_targets(double *Y, const uint32_t *labels, size_t rows, size_t K)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < K; k++)
            Y[i * K + k] = labels[i] == k;
}

size_t uc_ridge_landmarks(size_t rows)
{
    const size_t half = rows / 2;
    return uc_min_size(uc_min_size(rows, half > FEWEST_LANDMARKS ? half : FEWEST_LANDMARKS), MOST_LANDMARKS);
}
