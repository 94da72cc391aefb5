/* L-BFGS by liblbfgs: its callbacks, its ways to end, and its wish for arrays of a multiple of 16 numbers. */
#include "learn/minimise.h"

#include <lbfgs.h>
#include <math.h>
#include <string.h>

#define MEMORY 10 /* pairs of steps and gradients that approximate the curvature */

typedef struct search {
    uc_objective_fn *objective;
    void *user;
    const uc_context *context;
    uint64_t most_iterations;
    uc_minimum found;
    uc_status status; /* why the search was stopped */
} search;

static lbfgsfloatval_t evaluate(void *user, const lbfgsfloatval_t *x, lbfgsfloatval_t *gradient, int count,
                                lbfgsfloatval_t step)
{
    (void)step;
    search *self = user;
    double value = 0.0;
    self->found.evaluations++;
    memset(gradient, 0,
           (size_t)count * sizeof *gradient); /* after a failure: a stationary point, which ends it */
    if (self->status == UC_OK)
        self->status = self->objective(&value, gradient, x, self->user);
    return value;
}

static int progress(void *user, const lbfgsfloatval_t *x, const lbfgsfloatval_t *gradient,
                    lbfgsfloatval_t value, lbfgsfloatval_t length, lbfgsfloatval_t gradient_length,
                    lbfgsfloatval_t step, int count, int iteration, int tries)
{
    (void)x, (void)gradient, (void)length, (void)step, (void)count, (void)tries;
    search *self = user;
    char detail[96];
    self->found.iterations = (uint64_t)iteration;
    snprintf(detail, sizeof detail, "objective %.6f, gradient %.1e", value, gradient_length);
    if (self->status == UC_OK)
        self->status = uc_report(self->context, "training", iteration, (double)self->most_iterations, detail);
    return self->status != UC_OK;
}

/* A search that cannot improve any more has arrived as well. */
static uc_status status_of(int code)
{
    switch (code) {
    case LBFGS_SUCCESS:
    case LBFGS_STOP:
    case LBFGS_ALREADY_MINIMIZED:
    case LBFGSERR_MAXIMUMITERATION:
    case LBFGSERR_ROUNDING_ERROR:
    case LBFGSERR_MINIMUMSTEP:
    case LBFGSERR_MAXIMUMLINESEARCH:
    case LBFGSERR_WIDTHTOOSMALL:
    case LBFGSERR_OUTOFINTERVAL:
    case LBFGSERR_INCREASEGRADIENT:
        return UC_OK;
    case LBFGSERR_OUTOFMEMORY:
        return uc_fail(UC_ERR_NOMEM, "not enough memory for L-BFGS");
    default:
        return uc_fail(UC_ERR_DIVERGED, "L-BFGS failed (code %d); try --scale or --normalize", code);
    }
}

#define FAR 1e3 /* times the tolerance */

/* A line search that ends without a step may have arrived at the precision of the numbers, or be lost. */
static uc_status look_where_it_ended(search *self, const double *point, size_t padded, double tolerance)
{
    double *gradient = uc_alloc(padded, sizeof *gradient), value, squares = 0.0, length = 0.0;
    if (!gradient)
        return UC_ERR_NOMEM;
    const uc_status status = self->objective(&value, gradient, point, self->user);
    for (size_t i = 0; i < padded && status == UC_OK; i++) {
        squares += gradient[i] * gradient[i];
        length += point[i] * point[i];
    }
    self->found.stuck = sqrt(squares) > FAR * tolerance * fmax(1.0, sqrt(length));
    if (status == UC_OK)
        self->found.value = value;
    uc_free(gradient);
    return status;
}

uc_status uc_minimise(uc_minimum *out, double *x, size_t count, uc_objective_fn *objective, void *user,
                      uint64_t iterations, double tolerance, const uc_context *context)
{
    const size_t padded = (count + 15) / 16 * 16;
    if (padded > INT32_MAX)
        return uc_fail(UC_ERR_INVALID, "%zu weights are more than L-BFGS can count", count);
    double *point = uc_alloc(padded, sizeof *point);
    if (!point)
        return UC_ERR_NOMEM;
    memcpy(point, x, count * sizeof *x);
    search self = {.objective = objective, .user = user, .context = context, .most_iterations = iterations};
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.m = MEMORY;
    parameters.epsilon = tolerance;
    parameters.max_iterations = iterations < INT32_MAX ? (int)iterations : 0;
    const int code = lbfgs((int)padded, point, &self.found.value, evaluate, progress, &self, &parameters);
    uc_status status = self.status != UC_OK ? self.status : status_of(code);
    if (status == UC_OK && code < 0 && code != LBFGSERR_MAXIMUMITERATION)
        status = look_where_it_ended(&self, point, padded, tolerance);
    if (status == UC_OK && !isfinite(self.found.value))
        status = uc_fail(UC_ERR_DIVERGED,
                         "the objective is not a finite number: scale the data (--scale, --normalize)");
    if (status == UC_OK) {
        memcpy(x, point, count * sizeof *x);
        *out = self.found;
    }
    uc_free(point);
    return status;
}
