/*
 * L-BFGS by liblbfgs: its callbacks, its reasons to stop, and its requirement that array lengths are
 * multiples of 16.
 *
 * Its best line search (More, Thuente) sometimes fails far from a minimum, where the function is concave or
 * nearly piecewise linear along the direction. Searches that backtrack until the function has decreased do
 * find steps there, so they take over from the best point, starting with no memory of the curvature: first
 * one that also requires a flatter slope, which keeps the approximation of the curvature positive, then one
 * with no further requirement.
 */
#include "learn/minimise.h"

#include <lbfgs.h>
#include <math.h>
#include <string.h>

#define ROWS_PER_BLOCK ((size_t)512) /* of the weights */
#define MEMORY 10                    /* pairs of steps and gradients that approximate the curvature */
#define FAR 100.0       /* times the wanted distance from stationary: more than rounding explains */
#define PAST 10         /* iterations that show whether the value is still decreasing */
#define LEAST_FALL 1e-9 /* relative; a line search that achieves less is not tried again */

enum { STOPPED = 1000, NO_STEP, ARRIVED }; /* codes with which `progress` stops liblbfgs */

static const int line_searches[] = {LBFGS_LINESEARCH_MORETHUENTE, LBFGS_LINESEARCH_BACKTRACKING_WOLFE,
                                    LBFGS_LINESEARCH_BACKTRACKING_ARMIJO};
#define LINE_SEARCHES (sizeof line_searches / sizeof *line_searches)

typedef struct search {
    uc_objective_fn *objective;
    void *user;
    const uc_conditioning *conditioning; /* NULL: none */
    double *weights;                     /* at which the objective is evaluated if there is conditioning */
    const uc_context *context;
    uint64_t most_iterations;
    uint64_t before; /* iterations with earlier line searches */
    double tolerance;
    size_t count, padded;
    double excess, variables_excess; /* at the last evaluation: in both, in the variables alone */
    double past[PAST];               /* values of the last iterations, in a ring */
    double *best;                    /* point with the smallest value */
    double best_value;
    uc_minimum found;
    uc_status status; /* why the search stopped */
} search;

/* The distance from stationary: the length of the gradient relative to that of the point, or to 1 if that is
 * longer. Both are squared. */
static double excess_at(double gradient, double point, double tolerance)
{
    return sqrt(gradient) / (tolerance * fmax(1.0, sqrt(point)));
}

static double excess_of(const search *self, const double *gradient, const double *point)
{
    double squares = 0.0, length = 0.0;
    for (size_t i = 0; i < self->count; i++) {
        squares += gradient[i] * gradient[i];
        length += point[i] * point[i];
    }
    return excess_at(squares, length, self->tolerance);
}

/* The squares of the gradient and of the point, in weights and in variables. */
enum { GRADIENT, POINT, VARIABLE_GRADIENT, VARIABLE_POINT, SQUARES };

typedef struct excess_job {
    const double *gradient, *x;
    const uc_conditioning *conditioning;
    size_t rows, stride;
    double *squares; /* SQUARES per block */
} excess_job;

static uc_status add_squares(size_t block, void *user)
{
    const excess_job *job = user;
    const uc_range rows = uc_block_range(block, job->rows, ROWS_PER_BLOCK);
    double sums[SQUARES] = {0};
    for (size_t j = rows.first; j < rows.last; j++) {
        const double *g = job->gradient + j * job->stride, *x = job->x + j * job->stride;
        const double scale = job->conditioning ? job->conditioning->scale[j] : 1.0;
        double gradient = 0.0, point = 0.0;
        for (size_t q = 0; q < job->stride; q++) {
            gradient += g[q] * g[q];
            point += x[q] * x[q];
        }
        sums[GRADIENT] += gradient;
        sums[POINT] += point;
        sums[VARIABLE_GRADIENT] += gradient / (scale * scale);
        sums[VARIABLE_POINT] += point * (scale * scale);
    }
    memcpy(job->squares + block * SQUARES, sums, sizeof sums);
    return UC_OK;
}

uc_status uc_excess(double *out, const double *gradient, const double *x, size_t count,
                    const uc_conditioning *conditioning, double tolerance, const uc_context *context)
{
    assert(!conditioning || (!conditioning->centre && !conditioning->root));
    const size_t stride = conditioning ? conditioning->stride : 1, rows = count / stride;
    const size_t blocks = uc_block_count(rows, ROWS_PER_BLOCK);
    const uc_context fitting = uc_context_for_work(context, (double)count);
    double sums[SQUARES] = {0};
    excess_job job = {gradient, x, conditioning, rows, stride, uc_alloc(blocks, SQUARES * sizeof(double))};
    if (!job.squares)
        return UC_ERR_NOMEM;
    const uc_status status = uc_run_blocks(&fitting, blocks, add_squares, &job);
    for (size_t b = 0; b < blocks; b++)
        for (size_t k = 0; k < SQUARES; k++)
            sums[k] += job.squares[b * SQUARES + k];
    *out = fmax(excess_at(sums[GRADIENT], sums[POINT], tolerance),
                excess_at(sums[VARIABLE_GRADIENT], sums[VARIABLE_POINT], tolerance));
    uc_free(job.squares);
    return status;
}

/* The objective at `point`, and the distance from stationary: the larger of those in the variables and in the
 * weights. A short gradient in only one of them may leave directions of little curvature in the other. */
static uc_status ask(double *value, double *gradient, search *self, const double *point)
{
    if (!self->conditioning) {
        const uc_status status = self->objective(value, gradient, point, self->user);
        self->excess = self->variables_excess = excess_of(self, gradient, point);
        return status;
    }
    uc_conditioning_leave(self->weights, self->conditioning, point);
    const uc_status status = self->objective(value, gradient, self->weights, self->user);
    self->excess = excess_of(self, gradient, self->weights);
    uc_conditioning_turn(gradient, self->conditioning);
    self->variables_excess = excess_of(self, gradient, point);
    self->excess = fmax(self->excess, self->variables_excess);
    return status;
}

static lbfgsfloatval_t evaluate(void *user, const lbfgsfloatval_t *x, lbfgsfloatval_t *gradient, int count,
                                lbfgsfloatval_t step)
{
    (void)step;
    search *self = user;
    double value = 0.0;
    self->found.evaluations++;
    /* After a failure the point looks stationary, which ends the search. */
    memset(gradient, 0, (size_t)count * sizeof *gradient);
    if (self->status == UC_OK)
        self->status = ask(&value, gradient, self, x);
    return isnan(value) ? (double)INFINITY : value; /* like a step that is too long */
}

/* Columns of 1e30 never have a short gradient in the weights, simply because of their units. A short gradient
 * in the variables is then enough, once the value no longer decreases. */
static void forgive_units(search *self, double value)
{
    double *past = &self->past[self->found.iterations % PAST];
    const double fall = *past - value;
    *past = value;
    if (self->found.iterations > self->before + PAST && fall <= 0.1 * self->tolerance * fabs(value))
        self->excess = self->variables_excess;
}

static int progress(void *user, const lbfgsfloatval_t *x, const lbfgsfloatval_t *gradient,
                    lbfgsfloatval_t value, lbfgsfloatval_t length, lbfgsfloatval_t gradient_length,
                    lbfgsfloatval_t step, int count, int iteration, int tries)
{
    (void)gradient, (void)length, (void)step, (void)tries;
    search *self = user;
    char detail[96];
    /* After a step too short to change x, liblbfgs is left with a curvature of 0/0 and points that are
     * NaN. */
    if (!(value < self->best_value))
        return NO_STEP;
    self->best_value = value;
    memcpy(self->best, x, (size_t)count * sizeof *x);
    self->found.iterations = self->before + (uint64_t)iteration;
    forgive_units(self, value);
    self->found.excess = self->excess; /* a line search ends at the point of its last evaluation */
    snprintf(detail, sizeof detail, "objective %.6f, gradient %.1e", value, gradient_length);
    if (self->status == UC_OK)
        self->status = uc_report(self->context, "training", (double)self->found.iterations,
                                 (double)self->most_iterations, detail);
    if (self->status != UC_OK)
        return STOPPED;
    return self->excess <= 1.0 ? ARRIVED : 0;
}

/* UC_OK for the codes of a finished search, and of one whose line search found no step. */
static uc_status status_of(int code)
{
    switch (code) {
    case NO_STEP:
    case ARRIVED:
    case LBFGS_SUCCESS:
    case LBFGS_STOP:
    case LBFGS_ALREADY_MINIMIZED:
    case LBFGSERR_MAXIMUMITERATION:
    case LBFGSERR_ROUNDING_ERROR:
    case LBFGSERR_MINIMUMSTEP:
    case LBFGSERR_MAXIMUMSTEP:
    case LBFGSERR_MAXIMUMLINESEARCH:
    case LBFGSERR_WIDTHTOOSMALL:
    case LBFGSERR_OUTOFINTERVAL:
    case LBFGSERR_INCORRECT_TMINMAX:
    case LBFGSERR_INVALIDPARAMETERS:
    case LBFGSERR_INCREASEGRADIENT:
        return UC_OK;
    case LBFGSERR_OUTOFMEMORY:
        return uc_fail(UC_ERR_NOMEM, "not enough memory for L-BFGS");
    default:
        return uc_fail(UC_ERR_DIVERGED, "L-BFGS failed (code %d); try {scale} or {normalize}", code);
    }
}

/* Evaluates the value and the distance from stationary at `point`, where a line search found no step. */
static uc_status look_around(search *self, const double *point)
{
    double *gradient = uc_alloc(self->padded, sizeof *gradient), value = 0.0;
    if (!gradient)
        return UC_ERR_NOMEM;
    const uc_status status = ask(&value, gradient, self, point);
    self->found.evaluations++;
    self->found.value = value;
    self->found.excess = self->variables_excess; /* as in forgive_units: the value no longer decreases */
    uc_free(gradient);
    return status;
}

/* One line search, from `point` to where it ends. *over is false if another one may get farther from the best
 * point. */
static uc_status descend(bool *over, search *self, double *point, int line_search)
{
    const uint64_t left = self->most_iterations - self->found.iterations;
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.m = MEMORY;
    parameters.epsilon = 0.0; /* `progress` decides when to stop */
    parameters.linesearch = line_search;
    parameters.max_iterations = left < INT32_MAX ? (int)left : 0;
    self->before = self->found.iterations;
    const int code =
        lbfgs((int)self->padded, point, &self->found.value, evaluate, progress, self, &parameters);
    uc_status status = self->status;
    if (status == UC_OK)
        status = status_of(code);
    *over = status != UC_OK || (code >= 0 && code != NO_STEP) || code == LBFGSERR_MAXIMUMITERATION;
    if (code == LBFGS_ALREADY_MINIMIZED)
        self->found.excess = 0.0;
    if (*over)
        return status;
    memcpy(point, self->best, self->padded * sizeof *point);
    return look_around(self, point);
}

/* A line search that made progress is restarted; after one that did not, the next one continues. */
static uc_status descend_with_all(search *self, double *point)
{
    bool over = false;
    double value = INFINITY;
    uc_status status = UC_OK;
    for (size_t chosen = 0; chosen < LINE_SEARCHES && !over && status == UC_OK;) {
        status = descend(&over, self, point, line_searches[chosen]);
        over = over || self->found.excess <= 1.0 || self->found.iterations >= self->most_iterations;
        const bool fell = self->found.value < value - LEAST_FALL * fabs(self->found.value);
        chosen += chosen == 0 || !fell;
        value = self->found.value;
    }
    self->found.stuck = !over && self->found.excess > FAR;
    return status;
}

uc_status uc_minimise(uc_minimum *out, double *x, size_t count, uc_objective_fn *objective, void *user,
                      const uc_conditioning *conditioning, uint64_t iterations, double tolerance,
                      const uc_context *context)
{
    search self = {.objective = objective,
                   .user = user,
                   .conditioning = conditioning,
                   .context = context,
                   .most_iterations = iterations,
                   .tolerance = tolerance,
                   .count = count,
                   .padded = (count + 15) / 16 * 16,
                   .best_value = INFINITY};
    if (self.padded > INT32_MAX)
        return uc_fail(UC_ERR_INVALID, "%zu weights are more than L-BFGS can count", count);
    double *point = uc_alloc(self.padded, sizeof *point);
    self.best = uc_alloc(self.padded, sizeof *self.best);
    self.weights = uc_alloc(conditioning ? count : 0, sizeof *self.weights);
    uc_status status = UC_ERR_NOMEM;
    if (!point || !self.best || !self.weights)
        goto cleanup;
    if (conditioning)
        uc_conditioning_enter(point, conditioning, x);
    else
        memcpy(point, x, count * sizeof *x);
    memcpy(self.best, point, self.padded * sizeof *point);
    status = descend_with_all(&self, point);
    if (status == UC_OK && !isfinite(self.found.value))
        status = uc_fail(UC_ERR_DIVERGED,
                         "the objective is not a finite number: scale the data ({scale}, {normalize})");
    if (status != UC_OK)
        goto cleanup;
    if (conditioning)
        uc_conditioning_leave(x, conditioning, point);
    else
        memcpy(x, point, count * sizeof *x);
    *out = self.found;
cleanup:
    uc_free(self.weights);
    uc_free(self.best);
    uc_free(point);
    return status;
}

void uc_minimum_warn(const uc_minimum *self, const char *what, uint64_t iterations, uc_advice advice,
                     const uc_context *context)
{
    const unsigned long long took = (unsigned long long)self->iterations;
    const char *plural = took == 1 ? "" : "s";
    const bool ended = self->iterations >= iterations && self->excess > 1.0;
    if (self->stuck)
        uc_warn(context,
                "%s stopped where no step makes its loss smaller: the gradient is %.2g times the tolerance",
                what, self->excess);
    else if (ended && advice == UC_ADVISE_L2)
        uc_warn(
            context,
            "%s has not converged after %llu iteration%s: the gradient is %.2g times the tolerance; allow "
            "more {iterations}, or let {l2=auto} choose the regularisation",
            what, took, plural, self->excess);
    else if (ended && advice == UC_ADVISE_ITERATIONS)
        uc_warn(
            context,
            "%s has not converged after %llu iteration%s: the gradient is %.2g times the tolerance; allow "
            "more {iterations}",
            what, took, plural, self->excess);
    else if (ended)
        uc_warn(context,
                "%s has not converged after %llu iteration%s: the gradient is %.2g times the tolerance", what,
                took, plural, self->excess);
}
