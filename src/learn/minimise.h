/* The smallest value of a smooth function, by L-BFGS. */
#ifndef UC_MINIMISE_H
#define UC_MINIMISE_H

#include "learn/conditioning.h"
#include "parallel/parallel.h"

/* The value at x and its gradient there. */
typedef uc_status uc_objective_fn(double *value, double *gradient, const double *x, void *user);

typedef struct uc_minimum {
    double value;
    uint64_t iterations, evaluations;
    double excess; /* of the gradient, as a multiple of the tolerance: at most 1 when it has converged */
    bool stuck;    /* no line search finds a step that improves, although the gradient is far from 0 */
} uc_minimum;

/* With a change of variables (conditioning; NULL: none) the search is in the variables, and has converged
 * when the gradient is short in both; x and the objective are in the weights. From x[0..count) downhill,
 * until the gradient is `tolerance` times as long as x (or than 1), no step improves any more, or after
 * `iterations`. x becomes the best point that was found. A failure of the objective, or a cancelled progress,
 * ends it with that status. */
uc_status uc_minimise(uc_minimum *out, double *x, size_t count, uc_objective_fn *objective, void *user,
                      const uc_conditioning *conditioning, uint64_t iterations, double tolerance,
                      const uc_context *context);

/* How far from stationary x is, as a multiple of the tolerance: by its gradient, which is changed, in the
 * weights and, with a change of variables, in these; the farther of the two. `work`: `count` numbers. */
double uc_excess(double *gradient, const double *x, size_t count, const uc_conditioning *conditioning,
                 double tolerance, double *work);

/* The entries of a learner's table for `iterations` and `tolerance`. */
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

/* What helps a search whose iterations ran out: nothing that can be set, more of them, or also {l2=auto}. */
typedef enum uc_advice { UC_ADVISE_NOTHING, UC_ADVISE_ITERATIONS, UC_ADVISE_L2 } uc_advice;

/* Warns of a search of `what` that has not converged: why it ended, and how far from stationary. Where
 * iterations ran out it adds the advice. */
void uc_minimum_warn(const uc_minimum *self, const char *what, uint64_t iterations, uc_advice advice,
                     const uc_context *context);

#endif
