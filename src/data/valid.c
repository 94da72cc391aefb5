/* The invariants of data sets. */
#include "data/valid.h"

#include <math.h>

static bool is_sparse_row_valid(const uc_matrix *X, size_t i)
{
    if (X->offsets[i] > X->offsets[i + 1])
        return false;
    const uc_row row = uc_matrix_row(X, i);
    for (size_t j = 0; j < row.count; j++) {
        if (row.columns[j] >= X->cols)
            return false;
        if (j > 0 && row.columns[j - 1] >= row.columns[j])
            return false;
    }
    return true;
}

bool uc_matrix_is_valid(const uc_matrix *X)
{
    if (!uc_matrix_is_sparse(X))
        return X->rows == 0 || X->stride >= X->cols;
    for (size_t i = 0; i < X->rows; i++)
        if (!is_sparse_row_valid(X, i))
            return false;
    return true;
}

/* `positions` may be NULL. */
static bool are_below(const uint32_t *positions, size_t rows, size_t bound)
{
    for (size_t i = 0; positions && i < rows; i++)
        if (positions[i] != UC_NONE && positions[i] >= bound)
            return false;
    return true;
}

static bool are_weights(const double *weights, size_t count)
{
    for (size_t i = 0; weights && i < count; i++)
        if (!(weights[i] >= 0.0 && isfinite(weights[i])))
            return false;
    return true;
}

static bool are_soft_labels(const uc_dataset *data)
{
    const size_t K = data->classes.count;
    for (size_t i = 0; data->soft && i < data->X.rows; i++) {
        double sum = 0.0;
        if (!are_weights(data->soft + i * K, K))
            return false;
        for (size_t k = 0; k < K; k++)
            sum += data->soft[i * K + k];
        if (fabs(sum - 1.0) > 1e-9)
            return false;
    }
    return true;
}

bool uc_dataset_is_valid(const uc_dataset *data)
{
    return uc_matrix_is_valid(&data->X) && are_below(data->y, data->X.rows, data->classes.count) &&
           are_below(data->bag, data->X.rows, data->bags.count) && are_weights(data->weights, data->X.rows) &&
           are_soft_labels(data);
}
