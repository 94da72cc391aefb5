/* The weight of every row for a batch learner: that of the example times that of its class. */
#include "train/row_weights.h"

#include <math.h>

#include "data/weights.h"

static uc_status check_soft_row(const uc_dataset *data, size_t i)
{
    const size_t K = data->classes.count;
    double sum = 0.0;
    for (size_t k = 0; k < K; k++) {
        const double probability = data->soft[i * K + k];
        if (!(probability >= 0.0 && isfinite(probability)))
            return uc_fail(UC_ERR_INVALID, "soft labels of example %zu: %g is not a probability", i + 1,
                           probability);
        sum += probability;
    }
    if (fabs(sum - 1.0) > 1e-9)
        return uc_fail(UC_ERR_INVALID, "soft labels of example %zu sum to %.12g, not to 1", i + 1, sum);
    return UC_OK;
}

uc_status uc_weights_check(const uc_dataset *data)
{
    uc_status status = UC_OK;
    for (size_t i = 0; data->weights && i < data->X.rows; i++)
        if (!(data->weights[i] >= 0.0 && isfinite(data->weights[i])))
            return uc_fail(UC_ERR_INVALID,
                           "the weight of example %zu, %g, is not a finite number of 0 or more", i + 1,
                           data->weights[i]);
    for (size_t i = 0; data->soft && i < data->X.rows && status == UC_OK; i++)
        status = check_soft_row(data, i);
    return status;
}

/* The total weight of the examples of every class, over all processes. */
static uc_status weigh_labels(double *sums, const uc_fit *fit)
{
    const uc_dataset *data = fit->data;
    const size_t K = data->classes.count;
    for (size_t i = 0; i < data->X.rows; i++) {
        const double weight = uc_row_weight(data, i);
        if (!data->soft && data->y[i] != UC_NONE)
            sums[data->y[i]] += weight;
        for (size_t k = 0; data->soft && k < K; k++)
            sums[k] += weight * data->soft[i * K + k];
    }
    return uc_comm_sum(uc_comm_of(fit->context), sums, K);
}

/* Turns the total weight of each class into the weight of one of its examples. */
static void balance(double *weights, size_t classes)
{
    double total = 0.0, present = 0.0;
    for (size_t k = 0; k < classes; k++) {
        total += weights[k];
        present += weights[k] > 0.0;
    }
    for (size_t k = 0; k < classes; k++)
        weights[k] = weights[k] > 0.0 ? total / (present * weights[k]) : 1.0;
}

uc_status uc_class_weights(double *weights, bool *any, const uc_learner *learner, const void *settings,
                           const uc_fit *fit)
{
    const size_t K = fit->data->classes.count, offset = learner->class_weight;
    const double *given = fit->train->class_weights;
    const bool balanced =
        offset != UC_NO_CLASS_WEIGHT &&
        *(const int *)(const void *)((const char *)settings + offset) == UC_CLASS_WEIGHT_BALANCED;
    uc_status status = UC_OK;
    *any = given || balanced;
    for (size_t k = 0; k < K; k++)
        weights[k] = given ? given[k] : 0.0;
    if (!given && balanced) {
        status = weigh_labels(weights, fit);
        balance(weights, K);
    }
    return status;
}

/* The row's probabilities times the weights of their classes; returns the sum of the products. */
static double reweigh(double *out, const double *soft, const double *weights, size_t classes)
{
    double sum = 0.0;
    for (size_t k = 0; k < classes; k++)
        sum += out[k] = soft[k] * weights[k];
    for (size_t k = 0; k < classes; k++)
        out[k] /= sum;
    return sum;
}

static void weigh_rows(double *rows, double *soft, const uc_dataset *data, const double *classes)
{
    const size_t K = data->classes.count;
    for (size_t i = 0; i < data->X.rows; i++) {
        double weight = 1.0;
        if (soft)
            weight = reweigh(soft + i * K, data->soft + i * K, classes, K);
        else if (data->y[i] != UC_NONE)
            weight = classes[data->y[i]];
        rows[i] = uc_row_weight(data, i) * weight;
    }
}

uc_status uc_row_weights(uc_dataset *data, const uc_learner *learner, const void *settings, const uc_fit *fit)
{
    const size_t n = data->X.rows, K = data->classes.count;
    bool any = false;
    if (learner->weighs_classes)
        return UC_OK;
    double *classes = uc_alloc(K, sizeof *classes), *rows = NULL, *soft = NULL;
    if (!classes)
        return UC_ERR_NOMEM;
    uc_status status = uc_class_weights(classes, &any, learner, settings, fit);
    if (status != UC_OK || !any)
        goto cleanup;
    rows = uc_alloc(n, sizeof *rows);
    soft = data->soft ? uc_alloc(n * K, sizeof *soft) : NULL;
    if (!rows || (data->soft && !soft)) {
        uc_free(soft);
        uc_free(rows);
        status = UC_ERR_NOMEM;
        goto cleanup;
    }
    weigh_rows(rows, soft, data, classes);
    data->weights = rows;
    if (soft)
        data->soft = soft;
cleanup:
    uc_free(classes);
    return status;
}
