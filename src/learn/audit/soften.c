/*
 * Calibrated probabilities. R was found to be overconfident, especially where classes overlap
 * (docs/audit.md). Q are the posteriors from the same scores and the same matrix with a temperature t,
 *
 *   Q_i = softmax(S_i / t + LL_i)        t = t0 x the one of {1, 1.5, 2, 3} that makes the labels most likely
 *
 * t0 is the temperature of R: 1, or that of `labels`. If wrong labels depend on the row, higher temperatures
 * fit the labels even better, by believing them. R remains the basis of classes, shares and the matrix: its
 * sum estimates the number of wrong labels better. Up to 600 rows the method is defined by R alone, and Q is
 * R.
 */
#include <math.h>
#include <string.h>

#include "learn/audit/audit.h"

static const double factors[] = {1.0, 1.5, 2.0, 3.0};
#define FACTORS (sizeof factors / sizeof *factors)

uc_status uc_audit_soften(double *Q, double *temperature, const uc_audit_fit *found,
                          const uc_labelled *labelled)
{
    const double start = found->mode == UC_AUDIT_LABELS ? found->temperature : 1.0;
    uc_labelled known = *labelled;
    double temperatures[FACTORS], fits[FACTORS], change;
    uc_expectation expectation = {&known, &found->confusion, found->S, start, temperatures, FACTORS};
    size_t best = 0;
    memcpy(Q, found->R, found->rows * found->K * sizeof *Q);
    *temperature = start;
    if (!found->large)
        return UC_OK;
    for (size_t k = 0; k < FACTORS; k++)
        temperatures[k] = start * factors[k];
    uc_status status = uc_labelled_weigh(&known);
    if (status == UC_OK)
        status = uc_expect(Q, &change, fits, &expectation);
    if (status != UC_OK)
        return status;
    for (size_t k = 1; k < FACTORS; k++)
        if (fits[k] > fits[best])
            best = k;
    *temperature = expectation.temperature = temperatures[best];
    return uc_expect(Q, &change, NULL, &expectation);
}
