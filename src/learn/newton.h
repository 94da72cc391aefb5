/* Minimising a smooth, mostly convex function by Newton steps, which conjugate gradients find. */
#ifndef UC_NEWTON_H
#define UC_NEWTON_H

#include "learn/minimise.h"

/* What else the search needs of the objective, at the point x of its last evaluation. */
typedef struct uc_curvature {
    /* The second derivative H times the direction; *along becomes <direction, H direction>. */
    uc_status (*product)(double *out, double *along, const double *direction, void *user);
    /* About that of H, above 0; it only saves products. */
    uc_status (*diagonal)(double *out, void *user);
    /* Begins a line search from x along the step; products are no longer possible. */
    uc_status (*begin_line)(const double *x, const double *step, void *user);
    /* The value at x + factor step, and its derivative by the factor. */
    uc_status (*look_along)(double *value, double *slope, double factor, void *user);
    /* The next evaluation will be at x + factor step. */
    uc_status (*follow_line)(double factor, void *user);
} uc_curvature;

/* Like uc_minimise, from x. It gives up, with an excess above 1 and at the best point so far, if a step takes
 * many products or does not decrease the value; L-BFGS is then the better choice. `evaluations` of the result
 * counts gradients and products. */
uc_status uc_newton(uc_minimum *out, double *x, size_t count, uc_objective_fn *objective,
                    const uc_curvature *curvature, void *user, const uc_conditioning *conditioning,
                    uint64_t iterations, double tolerance, const uc_context *context);

#endif
