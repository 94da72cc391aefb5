/* Minimising a smooth, mostly convex function by Newton steps, which conjugate gradients find. */
#ifndef UC_NEWTON_H
#define UC_NEWTON_H

#include "learn/minimise.h"

/* The second derivative H of the objective, at the point of the last evaluation. */
typedef struct uc_curvature {
    uc_status (*product)(double *out, const double *direction, void *user); /* H times the direction */
    uc_status (*diagonal)(double *out, void *user); /* about that of H, above 0; it only saves products */
} uc_curvature;

/* Like uc_minimise, from x. It gives up, with an excess above 1 and at the best point so far, if a step takes
 * many products or does not decrease the value; L-BFGS is then the better choice. `evaluations` of the result
 * counts gradients and products. */
uc_status uc_newton(uc_minimum *out, double *x, size_t count, uc_objective_fn *objective,
                    const uc_curvature *curvature, void *user, const uc_conditioning *conditioning,
                    uint64_t iterations, double tolerance, const uc_context *context);

#endif
