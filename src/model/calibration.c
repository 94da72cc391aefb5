/* Probabilities of the true class from the scores of a least-squares classifier. These are close to 0 and 1,
 * but may lie outside that range. */
#include <math.h>

#include "model/model.h"

#define LEAST_SCORE 0.02

void uc_softmax(double *scores, size_t count)
{
    double highest = scores[0], total = 0.0;
    for (size_t k = 1; k < count; k++)
        highest = fmax(highest, scores[k]);
    for (size_t k = 0; k < count; k++)
        total += scores[k] = exp(scores[k] - highest);
    for (size_t k = 0; k < count; k++)
        scores[k] /= total;
}

void uc_calibrate_scores(double *S, double a1, double a2, const double *f, size_t K)
{
    for (size_t q = 0; q < K; q++)
        S[q] = a1 * f[q] + a2 * uc_calibration_log(f[q]);
    uc_softmax(S, K);
}

double uc_calibration_log(double f)
{
    return log(fmax(f, LEAST_SCORE));
}

void uc_calibration_apply(double *scores, const uc_calibration *parts, size_t count, size_t K, double *work)
{
    double *sum = work, *part = work + K;
    for (size_t q = 0; q < K; q++)
        sum[q] = 0.0;
    for (size_t i = 0; i < count; i++) {
        uc_calibrate_scores(part, parts[i].a1, parts[i].a2, scores, K);
        for (size_t q = 0; q < K; q++)
            sum[q] += parts[i].weight * part[q];
    }
    for (size_t q = 0; q < K; q++)
        scores[q] = fmin(sum[q], 1.0); /* the weights sum to 1 only up to rounding */
}
