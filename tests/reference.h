/* The kernels of src/linalg as simple loops: the definition that they are tested against. */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include "linalg/linalg.h"

static inline void reference_scores(double *scores, uc_row row, const double *W, size_t S)
{
    for (size_t i = 0; i < row.count; i++)
        for (size_t k = 0; k < S; k++)
            scores[k] += (double)row.values[i] * W[uc_row_column(row, i) * S + k];
}

static inline void reference_update(double *W, size_t S, uc_row row, const double *tau)
{
    for (size_t i = 0; i < row.count; i++)
        for (size_t k = 0; k < S; k++)
            W[uc_row_column(row, i) * S + k] += (double)row.values[i] * tau[k];
}

static inline double reference_norm2(uc_row row)
{
    double sum = 0.0;
    for (size_t i = 0; i < row.count; i++)
        sum += (double)row.values[i] * (double)row.values[i];
    return sum;
}

static inline double reference_dot(uc_row row, const double *w)
{
    double sum = 0.0;
    for (size_t i = 0; i < row.count; i++)
        sum += (double)row.values[i] * w[uc_row_column(row, i)];
    return sum;
}

static inline double reference_product(const double *x, const float *y, size_t columns)
{
    double sums[UC_LANES] = {0};
    for (size_t j = 0; j < columns; j++)
        sums[j % UC_LANES] += x[j] * (double)y[j];
    return uc_lane_sum(sums);
}

#endif
