/* The best lambda of a ridge regression on labels, by exact leave-one-out. */
#ifndef UC_RIDGE_PATH_H
#define UC_RIDGE_PATH_H

#include "learn/ridge/decomposition.h"
#include "unconfuse/map.h"

#define UC_RIDGE_LAMBDAS 11

/* How well labels are predicted by the fits without them, for each lambda on the path. */
typedef struct uc_ridge_path {
    double lambda[UC_RIDGE_LAMBDAS];
    double squared[UC_RIDGE_LAMBDAS];   /* mean of |y - l|^2; y is the label as K numbers, one of them 1 */
    double error[UC_RIDGE_LAMBDAS];     /* share of rows for which l is not largest at the label */
    double criterion[UC_RIDGE_LAMBDAS]; /* the sum of the two */
    size_t best;                        /* the smallest criterion, the largest lambda if tied */
} uc_ridge_path;

/* lambda = scale x 10^-3, 10^-2.5, ..., 10^2. `targets` are those of the labels. */
uc_status uc_ridge_try_lambdas(uc_ridge_path *out, const uc_ridge *self, const uc_ridge_targets *targets,
                               const uint32_t *labels, double scale);
/* A scale of lambdas that suits the rows: columns may have any size, but the features of a Gaussian kernel
 * have length 1. */
double uc_ridge_scale(const uc_ridge *self, const uc_map_settings *map);
/* Labels as targets, rows x K; every row must have one. */
void uc_ridge_label_targets(double *Y, const uint32_t *labels, size_t rows, size_t K);

/* The number of landmarks with which fits of this many rows are compared: half the number of rows, but 200 to
 * 500. */
size_t uc_ridge_landmarks(size_t rows);

#endif
