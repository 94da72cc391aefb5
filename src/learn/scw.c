/*
 * SCW, exact soft confidence-weighted learning (Wang, Zhao, Hoi, ICML 2012), with the label's class against
 * the best wrong one.
 *
 *   y  the label    r  the best wrong class    m = <w_y - w_r, x>    C  cost (times the class weight)
 *   phi  the normal quantile of --confidence, the probability with which the margin should be positive
 *
 * The weights have a Gaussian distribution N(w, S), where S starts as the identity and has one block per
 * class (covariance.h). A round solves, over all w and all S with the same blocks,
 *
 *   min  KL(N(w, S) || N(w(old), S(old)))  +  C l   (variant 1)   |   C l^2   (variant 2)
 *
 *   l = max(0, phi sqrt(x'S_y x + x'S_r x) - m)
 *
 * Whatever the blocks are, with s_b the parts of v = x'S_y x + x'S_r x before the round, the solution is
 *
 *   w_y += a S_y x,   w_r -= a S_r x,   S^-1 += c x x' for both classes,   a = c sqrt(u)/phi
 *   u = sum_b s_b/(1 + c s_b), the variance after the round
 *
 * where c is the root of
 *
 *   m + n a - phi sqrt(u) = 0,      n = v for variant 1,  v + 1/(2C) for variant 2
 *
 * and, in variant 1 if this gives a > C, the root of a = C instead. a increases with c and u decreases, so
 * there is one root. With a single part, as for one full matrix over all classes, it would have the paper's
 * closed form,
 *
 *   a = (-(2 m n + phi^2 m v) + phi sqrt(phi^2 m^2 v^2 + 4 n v (n + v phi^2))) / (2 (n^2 + n v phi^2))
 *
 * which is where Newton's method starts.
 */
#include <math.h>
#include <stddef.h>

#include "learn/covariance.h"
#include "learn/passive_aggressive.h"

enum { LINEAR_SLACK, SQUARED_SLACK };

#define MOST_ITERATIONS 100
#define ROUNDING 1e-15

static const uc_option options[] = {
    {.name = "variant",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(uc_scw_settings, variant),
     .standard = "1",
     .choices = "1|2",
     .help = "1: slack, each step at most the cost; 2: squared slack"},
    {.name = "cost",
     .letter = 'c',
     .type = UC_OPTION_REAL,
     .offset = offsetof(uc_scw_settings, cost),
     .standard = "1",
     .low = 0,
     .above_low = true,
     .high = 1e12,
     .argument = "C",
     .help = "how much one example may change the weights"},
    {.name = "confidence",
     .type = UC_OPTION_REAL,
     .offset = offsetof(uc_scw_settings, confidence),
     .standard = "0.9",
     .low = 0.5,
     .above_low = true,
     .high = 0.999999,
     .argument = "ETA",
     .help = "the probability with which an example is to be on the right side"},
    UC_COVARIANCE_OPTION(uc_scw_settings),
    UC_CLASS_WEIGHT_OPTION(uc_scw_settings),
    {.name = NULL},
};

static const double cost_values[] = {0.003, 0.01, 0.03, 0.1, 0.3, 1, 3},
                    confidence_values[] = {0.6, 0.75, 0.9, 0.99};
static const uc_candidates grid[] = {
    {"cost", cost_values, sizeof cost_values / sizeof *cost_values},
    {"confidence", confidence_values, sizeof confidence_values / sizeof *confidence_values},
    {0}};

typedef struct scw_memory {
    uc_covariance covariance;
    double phi;
} scw_memory;

/* ---- initialisation ---- */

/* The x with P(N(0, 1) <= x) = probability, which is above one half. Newton's method from 0 increases, since
 * the distribution function is concave there. */
static double normal_quantile(double probability)
{
    double x = 0.0;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        const double missing = probability - 0.5 * erfc(-x / sqrt(2.0));
        if (!(missing > 0.0))
            break;
        x += missing * sqrt(2.0 * acos(-1.0)) * exp(0.5 * x * x);
    }
    return x;
}

static bool plane(double *start, const void *user, size_t number, uc_shape shape)
{
    const uc_scw_settings *settings = user;
    (void)shape;
    return uc_covariance_plane(start, settings->covariance, 1.0, number);
}

static uc_status grow(uc_online *self, uc_shape shape, size_t classes)
{
    const uc_scw_settings *settings = self->settings;
    scw_memory *memory = self->memory;
    memory->phi = normal_quantile(settings->confidence);
    return uc_covariance_grow(&memory->covariance, settings->covariance, 1.0, shape, classes);
}

static double memory_bytes(const void *user, uc_shape shape, size_t classes, double row_bytes, double rounds)
{
    const uc_scw_settings *settings = user;
    (void)row_bytes;
    (void)rounds;
    return uc_covariance_bytes(settings->covariance, shape, classes);
}

/* ---- rounds ---- */

/* offset + n a - phi sqrt(u), which increases with c. */
typedef struct scw_equation {
    const double *parts;
    size_t count;
    double quantile; /* multiplied with a */
    double offset, n, phi;
} scw_equation;

static double evaluate(double *slope, double *a, const scw_equation *self, double c)
{
    double u = 0.0, du = 0.0;
    for (size_t b = 0; b < self->count; b++) {
        const double s = self->parts[b] / (1.0 + c * self->parts[b]);
        u += s;
        du -= s * s;
    }
    const double root = sqrt(u), droot = du / (2.0 * root);
    *a = c * root / self->quantile;
    *slope = self->n * (root + c * droot) / self->quantile - self->phi * droot;
    return self->offset + self->n * *a - self->phi * root;
}

/* Newton's method between bounds; returns c, and sets *a. */
static double solve(double *a, const scw_equation *self, double c)
{
    double low = 0.0, high = INFINITY;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        double slope;
        const double value = evaluate(&slope, a, self, c);
        if (value < 0.0)
            low = c;
        else
            high = c;
        double next = c - value / slope;
        if (!(next > low && next < high))
            next = isinf(high) ? 2.0 * c : 0.5 * (low + high);
        if (!(fabs(next - c) > ROUNDING * c))
            break;
        c = next;
    }
    return c;
}

static uc_status learn(uc_online *self, uc_row row, const uc_round *round)
{
    const uc_scw_settings *settings = self->settings;
    const scw_memory *memory = self->memory;
    const uint32_t y = round->answer.label, r = uc_best_other(round->scores, round->classes, y);
    const double m = round->scores[y] - round->scores[r], C = settings->cost * round->weight;
    const double phi = memory->phi, phi2 = phi * phi;
    double v, a;
    const size_t count = uc_covariance_margin(&v, self, row, y, r);
    if (!(phi * sqrt(v) > m) || !(v > 0.0))
        return UC_OK;
    const double n = settings->variant == LINEAR_SLACK ? v : v + 1.0 / (2.0 * C);
    const double discriminant = phi2 * m * m * v * v + 4.0 * n * v * (n + v * phi2);
    a = (phi * sqrt(discriminant) - (2.0 * n + phi2 * v) * m) / (2.0 * n * (n + v * phi2));
    const double root = 0.5 * (sqrt(a * a * v * v * phi2 + 4.0 * v) - a * v * phi);
    scw_equation equation = {memory->covariance.parts, count, phi, m, n, phi};
    double c = solve(&a, &equation, a * phi / root);
    if (settings->variant == LINEAR_SLACK && a > C) {
        equation.offset = -C;
        equation.n = 1.0;
        equation.phi = 0.0;
        c = solve(&a, &equation, c);
    }
    uc_covariance_learn(self, row, y, r, a, c);
    return UC_OK;
}

const uc_learner uc_learner_scw = {
    .name = "scw",
    .summary = "labels that are mostly right: second order, asks of every example that it is probably right",
    .paper = "Wang, Zhao, Hoi: Exact soft confidence-weighted learning, ICML 2012",
    .options = options,
    .settings_size = sizeof(uc_scw_settings),
    .grid = grid,
    .full = true,
    .last = true,
    .class_weight = offsetof(uc_scw_settings, class_weight),
    .plane = plane,
    .memory_size = sizeof(scw_memory),
    .grow = grow,
    .memory_bytes = memory_bytes,
    .release = uc_covariance_release,
    .remember = uc_covariance_remember,
    .learn = learn,
};
