/* The smallest value of a smooth function, by L-BFGS. */
#ifndef UC_MINIMISE_H
#define UC_MINIMISE_H

#include "parallel/parallel.h"

/* The value at x and its gradient there. */
typedef uc_status uc_objective_fn(double *value, double *gradient, const double *x, void *user);

typedef struct uc_minimum {
    double value;
    uint64_t iterations, evaluations;
    bool stuck; /* no step improved, although the gradient is far from 0 */
} uc_minimum;

/* From x[0..count) downhill, until the gradient is `tolerance` times as long as x (or than 1), no step improves any more,
 * or after `iterations`. A failure of the objective, or a cancelled progress, ends it with that status. */
uc_status uc_minimise(uc_minimum *out, double *x, size_t count, uc_objective_fn *objective, void *user,
                      uint64_t iterations, double tolerance, const uc_context *context);

#endif
