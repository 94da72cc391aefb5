/*
 * Whether probabilities come true: labels are put into bins by the probability of an event, and in each bin
 * the share for which the event happened is compared with the mean probability.
 *
 * Without checked rows nobody knows which labels are wrong. But every label is known, and the probability of
 * each follows from the same two parts, based on rows other than its own:
 *
 *   P(label l | row i) = sum_z softmax(S_i / t)_z P[z][l]
 *
 * So the probability that the label differs from the predicted class can be compared with how often it
 * does.
 */
#include <math.h>
#include <string.h>

#include "audit/reliability.h"
#include "linalg/linalg.h"

void uc_reliability_begin(uc_reliability bins[UC_RELIABILITY_BINS])
{
    for (size_t b = 0; b < UC_RELIABILITY_BINS; b++)
        bins[b] = (uc_reliability){.low = (double)b / UC_RELIABILITY_BINS,
                                   .high = (double)(b + 1) / UC_RELIABILITY_BINS};
}

void uc_reliability_add(uc_reliability bins[UC_RELIABILITY_BINS], double probability, bool happened)
{
    const double place = fmin(fmax(probability, 0.0), 1.0) * UC_RELIABILITY_BINS;
    uc_reliability *bin = &bins[uc_min_size((size_t)place, UC_RELIABILITY_BINS - 1)];
    bin->labels++;
    bin->expected += probability;
    bin->observed += happened;
}

void uc_reliability_end(uc_reliability bins[UC_RELIABILITY_BINS])
{
    for (size_t b = 0; b < UC_RELIABILITY_BINS; b++) {
        bins[b].expected /= (double)bins[b].labels; /* NaN for an empty bin */
        bins[b].observed /= (double)bins[b].labels;
    }
}

uc_status uc_label_calibration(uc_reliability bins[UC_RELIABILITY_BINS], const uc_audit_fit *found,
                               const uint32_t *labels)
{
    const size_t K = found->K;
    double *p = uc_alloc(K, sizeof *p);
    if (!p)
        return UC_ERR_NOMEM;
    uc_reliability_begin(bins);
    for (size_t i = 0; i < found->rows; i++) {
        if (labels[i] == UC_NONE)
            continue;
        const size_t best = uc_argmax(found->S + i * K, K);
        double same = 0.0;
        for (size_t z = 0; z < K; z++)
            p[z] = found->S[i * K + z] / found->temperature;
        uc_softmax(p, K);
        for (size_t z = 0; z < K; z++)
            same += p[z] * found->confusion.P[z * K + best];
        uc_reliability_add(bins, 1.0 - same, labels[i] != best);
    }
    uc_reliability_end(bins);
    uc_free(p);
    return UC_OK;
}
