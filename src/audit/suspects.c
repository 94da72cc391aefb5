/*
 * Which labels to call wrong: the k most suspicious ones with the largest expected F1,
 *
 *   2 sum_{i <= k} p_i / (k + sum_i p_i)        p_i  the probability that label i is wrong, descending
 *
 * since sum_{i <= k} p_i of the k are wrong, and sum_i p_i of all.
 */
#include <stdlib.h>

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

size_t uc_suspects_flag(uc_suspect *suspects, size_t count)
{
    double all = 0.0, sum = 0.0, best = 0.0;
    size_t flagged = 0;
    if (count > 0)
        qsort(suspects, count, sizeof *suspects, compare);
    for (size_t i = 0; i < count; i++)
        all += suspects[i].p_wrong;
    for (size_t i = 0; i < count && suspects[i].p_wrong > LEAST_SUSPICION; i++) {
        sum += suspects[i].p_wrong;
        const double f1 = 2.0 * sum / ((double)(i + 1) + all);
        if (f1 > best) {
            best = f1;
            flagged = i + 1;
        }
    }
    return flagged;
}
