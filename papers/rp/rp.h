/* Stempfel, Ralaivola: Learning kernel perceptrons on noisy data and random projections, section 5. */
#ifndef PAPERS_RP_H
#define PAPERS_RP_H

#include "binary.h"

/* Rows after a map of the largest dimension; the first D columns are the map of dimension D. */
typedef struct mapped {
    uc_dataset *parts; /* of the data sets that were mapped, in order; each borrows all but its X */
    size_t count;
} mapped; /* zero-initialised is empty and may be freed */

/* A map with a Gaussian kernel, learned from sets[0], of all the sets. */
uc_status map_sets(mapped *out, int kind, double width, size_t dimension, const uc_dataset *const *sets,
                   size_t count, uint64_t seed, const uc_context *context);
void mapped_free(mapped *self);

/* The perceptron of rule nu, from the first `dimension` columns of the first part. */
uc_status learn_perceptron(uc_model **out, double kappa, size_t dimension, const mapped *rows,
                           const uc_context *context);
/* Its test error in percent on the other parts, which are of one size. */
uc_status perceptron_error(double *percent, double kappa, size_t dimension, const mapped *rows,
                           const uc_context *context);

size_t smallest(const double *values, size_t count); /* the position of the first of them */

#endif
