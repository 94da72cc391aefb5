/* The class of a bag, from the scores of its examples. */
#include <math.h>

#include "unconfuse/metrics.h"

void uc_bag_add(double *best, const double *scores, size_t classes, uint32_t positive)
{
    if (classes == 2) {
        best[positive] = fmax(best[positive], scores[positive] - scores[1 - positive]);
        best[1 - positive] = 0.0; /* the margin that an example must exceed */
        return;
    }
    for (size_t k = 0; k < classes; k++)
        best[k] = fmax(best[k], scores[k]);
}

uint32_t uc_bag_class(const double *best, size_t classes, uint32_t positive)
{
    uint32_t found = classes == 2 ? 1 - positive : 0;
    for (size_t k = 0; k < classes; k++)
        if (best[k] > best[found])
            found = (uint32_t)k;
    return found;
}
