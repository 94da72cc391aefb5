/*
 * Which labels to call wrong: the k most suspicious ones, where k gives the largest expected F1,
 *
 *   2 sum_{i <= k} p_i / (k + sum_i p_i)        p_i  the probability that label i is wrong, descending
 *
 * since sum_{i <= k} p_i of the k labels, and sum_i p_i of all labels, are expected to be wrong. To flag no
 * label is perfect if none is wrong: its expected F1 is prod_i (1 - p_i). On clean data that is the largest,
 * whereas the formula above would flag labels with p = 1e-5 rather than none.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "unconfuse/audit.h"

#define LEAST_SUSPICION 1e-9

static int compare(const void *a, const void *b)
{
    const uc_suspect *x = a, *y = b;
    if (x->p_wrong != y->p_wrong)
        return x->p_wrong > y->p_wrong ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The probabilities descend and are `stride` bytes apart; their sum is `total`. */
static size_t flag(const double *wrong, size_t stride, size_t count, double total)
{
    const char *at = (const char *)wrong;
    double sum = 0.0, best = 0.0, none = 0.0; /* log prod (1 - p) */
    size_t flagged = 0;
    for (size_t i = 0; i < count; i++, at += stride) {
        double p;
        memcpy(&p, at, sizeof p);
        if (!(p > LEAST_SUSPICION))
            break;
        sum += p;
        none += log1p(-fmin(p, 1.0));
        const double f1 = 2.0 * sum / ((double)(i + 1) + total);
        if (f1 > best) {
            best = f1;
            flagged = i + 1;
        }
    }
    return exp(none) > best ? 0 : flagged;
}

size_t uc_flag_most(const double *wrong, size_t count, double total)
{
    return flag(wrong, sizeof *wrong, count, total);
}

void uc_suspects_sort(uc_suspect *suspects, size_t count)
{
    if (count > 0)
        qsort(suspects, count, sizeof *suspects, compare);
}

size_t uc_suspects_flag(uc_suspect *suspects, size_t count)
{
    double total = 0.0;
    if (count == 0)
        return 0;
    uc_suspects_sort(suspects, count);
    for (size_t i = 0; i < count; i++)
        total += suspects[i].p_wrong;
    return flag(&suspects->p_wrong, sizeof *suspects, count, total);
}
