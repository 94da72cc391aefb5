/* Stempfel, Ralaivola: Learning kernel perceptrons on noisy data and random projections, section 5. */
#ifndef PAPERS_RP_H
#define PAPERS_RP_H

#include "binary.h"

/* Rows after a map to the largest dimension; the first D columns are the map to dimension D. */
typedef struct mapped {
    uc_dataset *parts; /* one for each mapped data set, in order; each borrows everything except its X */
    size_t count;
} mapped; /* empty and safe to free if zero-initialised */

/* Learns a map with a Gaussian kernel from sets[0], and maps all the sets with it. */
uc_status map_sets(mapped *out, int kind, double width, size_t dimension, const uc_dataset *const *sets,
                   size_t count, uint64_t seed, const uc_context *context);
void mapped_free(mapped *self);

/* Learns the perceptron with the rule nu, from the first `dimension` columns of the first part. */
uc_status learn_perceptron(uc_model **out, double kappa, size_t dimension, const mapped *rows,
                           const uc_context *context);
/* Its test error in percent on the other parts, which all have the same size. */
uc_status perceptron_error(double *percent, double kappa, size_t dimension, const mapped *rows,
                           const uc_context *context);

size_t smallest(const double *values, size_t count); /* the first position with the smallest value */

#endif
