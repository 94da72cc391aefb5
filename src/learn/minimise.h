/* Minimising a smooth function by L-BFGS. */
#ifndef UC_MINIMISE_H
#define UC_MINIMISE_H

#include "learn/conditioning.h"
#include "parallel/parallel.h"

/* The value at x and the gradient there. */
typedef uc_status uc_objective_fn(double *value, double *gradient, const double *x, void *user);

typedef struct uc_minimum {
    double value;
    uint64_t iterations, evaluations;
    double excess; /* of the gradient, as a multiple of the tolerance: at most 1 after convergence */
    bool stuck;    /* no line search finds an improving step, although the gradient is far from 0 */
} uc_minimum;

/* Minimises from x[0..count); x becomes the best point found. Stops when the gradient is `tolerance` times as
 * long as x (or than 1), when no step improves any more, or after `iterations`. With a change of variables
 * (conditioning; NULL: none) the search is in the variables, and has converged when the gradient is short in
 * both; x and the objective are in the weights. If the objective fails or the progress is cancelled, returns
 * that status. */
uc_status uc_minimise(uc_minimum *out, double *x, size_t count, uc_objective_fn *objective, void *user,
                      const uc_conditioning *conditioning, uint64_t iterations, double tolerance,
                      const uc_context *context);

/* The distance of x from stationary, as a multiple of the tolerance: the length of its gradient in the
 * weights or, with a change of variables, in the variables if that is larger. The change may only scale: it
 * has neither a centre nor a root. */
uc_status uc_excess(double *out, const double *gradient, const double *x, size_t count,
                    const uc_conditioning *conditioning, double tolerance, const uc_context *context);

/* The entries for `iterations` and `tolerance` in a learner's option table. */
#define UC_MINIMISE_OPTIONS(struct_name)                                                                     \
    {.name = "iterations",                                                                                   \
     .type = UC_OPTION_COUNT,                                                                                \
     .offset = offsetof(struct_name, iterations),                                                            \
     .standard = "1000",                                                                                     \
     .low = 1,                                                                                               \
     .high = 1e9,                                                                                            \
     .help = "largest number of steps of Newton or L-BFGS"},                                                 \
    {                                                                                                        \
        .name = "tolerance", .type = UC_OPTION_REAL, .offset = offsetof(struct_name, tolerance),             \
        .standard = "1e-05", .low = 0, .above_low = true, .high = 1,                                         \
        .help = "stop when the gradient is this small relative to the weights"                               \
    }

/* What to advise if iterations ran out: nothing, more iterations, or also {l2=auto}. */
typedef enum uc_advice { UC_ADVISE_NOTHING, UC_ADVISE_ITERATIONS, UC_ADVISE_L2 } uc_advice;

/* Warns that a search for `what` has not converged: why it stopped, and how far from stationary. If
 * iterations ran out, adds the advice. */
void uc_minimum_warn(const uc_minimum *self, const char *what, uint64_t iterations, uc_advice advice,
                     const uc_context *context);

#endif
