/*
 * Projection on the simplex: q_k = max(0, v_k - theta), where theta makes the sum 1. Starting with all
 * classes, theta = (sum of v over the remaining classes - 1)/(their number); classes with v at or below theta
 * are removed, until there are none (Michelot, A finite algorithm for finding the projection of a point onto
 * the canonical simplex of R^n, Journal of Optimization Theory and Applications 50:195-200, 1986). All
 * classes are treated alike: equal v give equal q, bit for bit.
 */
#include "learn/onebit/targets.h"

#include <assert.h>
#include <math.h>

void uc_project_without(double *q, const double *v, size_t K, uint32_t p)
{
    double theta = -INFINITY;
    size_t left = K;
    assert(K >= 2 && p < K);
    for (;;) {
        double sum = 0.0;
        size_t count = 0;
        for (size_t k = 0; k < K; k++)
            if (k != p && v[k] > theta) {
                sum += v[k];
                count++;
            }
        if (count == left || count == 0)
            break;
        left = count;
        theta = (sum - 1.0) / (double)count;
    }
    for (size_t k = 0; k < K; k++)
        q[k] = k != p && v[k] > theta ? v[k] - theta : 0.0;
}
