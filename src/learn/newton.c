/*
 * Newton's method with truncated conjugate gradients
 * (Lin, Weng, Keerthi: Trust region Newton method for logistic regression, JMLR 9, 2008; with a line search
 * instead of the trust region, as in LIBLINEAR since 2.40).
 *
 *   f, g, H   the value, gradient and curvature at x        M   approximate diagonal of H
 *   s         the step: about -H^-1 g                       q(s) = <g, s> + <s, H s> / 2
 *
 * Conjugate gradients on M^-1 H s = -M^-1 g stop when an iteration lowers q by no more than a fifth of the
 * mean decrease per iteration so far, or at a direction in which H is negative. In the latter case the step
 * is what was found before, or the first direction. A line search finds about the smallest f along the step:
 * where the slope is a fiftieth of what it was, and f has decreased by a hundredth of what that promised. For
 * logistic regression a point of it costs far less than a product, and the first steps would otherwise be
 * too short, since its curvature decreases on the way.
 *
 * The rows are read only by the gradient and the products. Vectors are processed in blocks by all threads;
 * the sums of the blocks are added in order, so that the bytes are the same for any number of threads.
 */
#include "learn/newton.h"

#include <math.h>
#include <string.h>

#define NUMBERS_PER_BLOCK ((size_t)8192)
#define ENOUGH .2        /* of the mean decrease of q: an iteration that achieves no more is the last */
#define MOST_PRODUCTS 40 /* per step: if more are needed, the curvature is ill-conditioned */
#define SUFFICIENT 0.01  /* share of the decrease that the slope promises */
#define FLAT .02         /* of the slope at the start: the line search is done */
#define MOST_POINTS 6    /* of the line search */
#define MOST_GROWTH 4.0  /* from point to point */

typedef struct search {
    uc_objective_fn *objective;
    const uc_curvature *curvature;
    void *user;
    const uc_conditioning *conditioning;
    const uc_context *context;
    size_t count, blocks;
    double tolerance;
    double *x;
    double *gradient;
    double *step, *residual;     /* s, and -g - H s */
    double *direction, *product; /* of conjugate gradients, and H times it */
    double *diagonal;            /* M */
    double *sums;                /* SUMS per block */
    uc_minimum found;
} search;

enum { SUMS = 1 };

/* One pass over the vectors, with a factor; its sums go to `sums`. */
typedef void pass_fn(double *sums, const search *self, double factor, size_t first, size_t last);
typedef struct pass_job {
    const search *self;
    pass_fn *pass;
    double factor;
} pass_job;

static uc_status run_pass(size_t block, void *user)
{
    const pass_job *job = user;
    const uc_range range = uc_block_range(block, job->self->count, NUMBERS_PER_BLOCK);
    double sums[SUMS] = {0};
    job->pass(sums, job->self, job->factor, range.first, range.last);
    memcpy(job->self->sums + block * SUMS, sums, sizeof sums);
    return UC_OK;
}

static uc_status go_through(double *sums, const search *self, pass_fn *pass, double factor)
{
    pass_job job = {self, pass, factor};
    const uc_context fitting = uc_context_for_work(self->context, (double)self->count);
    const uc_status status = uc_run_blocks(&fitting, self->blocks, run_pass, &job);
    memset(sums, 0, SUMS * sizeof *sums);
    for (size_t b = 0; b < self->blocks; b++)
        for (size_t k = 0; k < SUMS; k++)
            sums[k] += self->sums[b * SUMS + k];
    return status;
}

/* With a sum for every LANES-th number, additions do not wait for each other. */
enum { LANES = 4 };

static double joined(const double *lanes)
{
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

/* s = 0, r = -g, d = r / M; sums <r, r / M>. The diagonal becomes 1 / M. */
static void begin_step(double *sums, const search *self, double factor, size_t first, size_t last)
{
    (void)factor;
    for (size_t i = first; i < last; i++) {
        const double r = -self->gradient[i];
        self->diagonal[i] = 1.0 / self->diagonal[i];
        self->step[i] = 0.0;
        self->residual[i] = r;
        self->direction[i] = r * self->diagonal[i];
        sums[0] += r * self->direction[i];
    }
}

/* s += a d, r -= a H d; sums <r, r / M>. */
static void advance(double *sums, const search *self, double factor, size_t first, size_t last)
{
    double squares[LANES] = {0};
    for (size_t i = first; i < last; i++) {
        self->step[i] += factor * self->direction[i];
        const double r = self->residual[i] -= factor * self->product[i];
        squares[i % LANES] += r * r * self->diagonal[i];
    }
    sums[0] = joined(squares);
}

/* d = r / M + b d */
static void turn(double *sums, const search *self, double factor, size_t first, size_t last)
{
    (void)sums;
    for (size_t i = first; i < last; i++)
        self->direction[i] = self->residual[i] * self->diagonal[i] + factor * self->direction[i];
}

/* Sums <g, s>. */
static void descent(double *sums, const search *self, double factor, size_t first, size_t last)
{
    double lanes[LANES] = {0};
    (void)factor;
    for (size_t i = first; i < last; i++)
        lanes[i % LANES] += self->gradient[i] * self->step[i];
    sums[0] = joined(lanes);
}

/* x += t s */
static void move(double *sums, const search *self, double factor, size_t first, size_t last)
{
    (void)sums;
    for (size_t i = first; i < last; i++)
        self->x[i] += factor * self->step[i];
}

/* Computes the step; *found: within MOST_PRODUCTS products. An iteration lowers q by <r, r / M>^2 /
 * (2 <d, H d>). */
static uc_status find_step(bool *found, search *self)
{
    double sums[SUMS] = {0}, length, along = 0.0, lowered = 0.0;
    *found = false;
    uc_status status = self->curvature->diagonal(self->diagonal, self->user);
    if (status == UC_OK)
        status = go_through(sums, self, begin_step, 0.0);
    length = sums[0];
    for (int products = 1; status == UC_OK && products <= MOST_PRODUCTS; products++) {
        status = self->curvature->product(self->product, &along, self->direction, self->user);
        self->found.evaluations++;
        if (status != UC_OK || along == 0.0 || !isfinite(along)) /* rounding, or not a number */
            break;
        /* Negative curvature along d: takes the step found so far, or the first direction. */
        if (along < 0.0) {
            if (products == 1)
                status = go_through(sums, self, advance, 1.0);
            *found = status == UC_OK;
            break;
        }
        const double fall = length * length / (2.0 * along);
        status = go_through(sums, self, advance, length / along);
        lowered += fall;
        *found = products * fall <= ENOUGH * lowered;
        if (status != UC_OK || *found)
            break;
        const double rest = sums[0];
        status = go_through(sums, self, turn, rest / length);
        length = rest;
    }
    return status;
}

/* A point of the line search. */
typedef struct point {
    double factor, slope;
} point;

/* The next factor: where a straight line through the slopes at two points is 0, at most MOST_GROWTH times the
 * larger one; half-way if that is not between `low` and `high` (INFINITY: none). */
static double next_factor(point a, point b, double low, double high)
{
    double next = a.factor - a.slope * (b.factor - a.factor) / (b.slope - a.slope);
    if (isfinite(high))
        return next > low && next < high ? next : (low + high) / 2;
    const double most = MOST_GROWTH * fmax(a.factor, b.factor);
    return next > low && next < most ? next : most;
}

/* Finds a factor of the step; 0: none decreases the value as much as it should. */
static uc_status search_line(double *factor, const search *self, double slope)
{
    point before = {0.0, slope}, at = {1.0, 0.0};
    double low = 0.0, high = INFINITY, best = INFINITY;
    *factor = 0.0;
    for (int points = 0; points < MOST_POINTS; points++) {
        double value = NAN;
        const uc_status status = self->curvature->look_along(&value, &at.slope, at.factor, self->user);
        if (status != UC_OK)
            return status;
        const bool enough = value <= self->found.value + SUFFICIENT * at.factor * slope; /* false if NaN */
        if (enough && value < best) {
            best = value;
            *factor = at.factor;
        }
        if (enough && fabs(at.slope) <= FLAT * fabs(slope))
            break;
        const bool short_of = enough && at.slope < 0.0;
        const double next =
            short_of ? next_factor(before, at, at.factor, high) : next_factor(before, at, low, at.factor);
        if (short_of) {
            low = at.factor;
            before = at;
        } else {
            high = at.factor;
        }
        at.factor = next;
    }
    return UC_OK;
}

/* Takes the step; *moved: whether any multiple of it decreases the value. */
static uc_status take_step(bool *moved, search *self)
{
    double sums[SUMS], factor = 0.0;
    *moved = false;
    uc_status status = go_through(sums, self, descent, 0.0);
    if (status == UC_OK)
        status = self->curvature->begin_line(self->x, self->step, self->user);
    if (status == UC_OK)
        status = search_line(&factor, self, sums[0]);
    if (status != UC_OK || factor == 0.0)
        return status;
    *moved = true;
    status = go_through(sums, self, move, factor);
    if (status == UC_OK)
        status = self->curvature->follow_line(factor, self->user);
    if (status == UC_OK)
        status = self->objective(&self->found.value, self->gradient, self->x, self->user);
    self->found.evaluations++;
    return status;
}

static uc_status measure_excess(search *self)
{
    return uc_excess(&self->found.excess, self->gradient, self->x, self->count, self->conditioning,
                     self->tolerance, self->context);
}

static uc_status report(search *self, uint64_t iterations)
{
    char detail[96];
    const uc_status measured = measure_excess(self);
    if (measured != UC_OK)
        return measured;
    snprintf(detail, sizeof detail, "objective %.6f, gradient %.1e times the tolerance", self->found.value,
             self->found.excess);
    return uc_report(self->context, "training", (double)self->found.iterations, (double)iterations, detail);
}

static uc_status run(search *self, uint64_t iterations)
{
    bool goes_on = true;
    uc_status status = self->objective(&self->found.value, self->gradient, self->x, self->user);
    self->found.evaluations++;
    if (status == UC_OK)
        status = measure_excess(self);
    while (status == UC_OK && self->found.excess > 1.0 && self->found.iterations < iterations) {
        status = find_step(&goes_on, self);
        if (status == UC_OK && goes_on)
            status = take_step(&goes_on, self);
        if (status != UC_OK || !goes_on)
            break;
        self->found.iterations++;
        status = report(self, iterations);
    }
    return status;
}

uc_status uc_newton(uc_minimum *out, double *x, size_t count, uc_objective_fn *objective,
                    const uc_curvature *curvature, void *user, const uc_conditioning *conditioning,
                    uint64_t iterations, double tolerance, const uc_context *context)
{
    const size_t blocks = uc_block_count(count, NUMBERS_PER_BLOCK);
    search self = {.objective = objective,
                   .curvature = curvature,
                   .user = user,
                   .conditioning = conditioning,
                   .context = context,
                   .count = count,
                   .blocks = blocks,
                   .tolerance = tolerance,
                   .x = x,
                   .sums = uc_alloc(blocks * SUMS, sizeof(double)),
                   .found = {.excess = INFINITY}};
    double **const vectors[] = {&self.gradient,  &self.step,    &self.residual,
                                &self.direction, &self.product, &self.diagonal};
    enum { VECTORS = sizeof vectors / sizeof *vectors };
    double *room = uc_alloc(count, VECTORS * sizeof *room);
    for (size_t v = 0; v < VECTORS && room; v++)
        *vectors[v] = room + v * count;
    uc_status status = UC_ERR_NOMEM;
    if (room && self.sums)
        status = run(&self, iterations);
    *out = self.found;
    uc_free(room);
    uc_free(self.sums);
    return status;
}
