#include "service/estimate.h"

#include <math.h>
#include <stdlib.h>

#include "app/memory.h"

#define Z 1.959963984540054 /* 95 percent */

typedef struct mean {
    double n, sum;
} mean;

struct estimate {
    size_t classes;
    mean *past; /* for each class: when the learner disagreed, and when it agreed */
    uint64_t events, agreed, right, agreed_right;
    double w, ww, wr, wwr; /* sums; r is 0 or 1, so r^2 is r */
    double dr, dr2;
    double least;
};

estimate *estimate_create(size_t classes)
{
    estimate *self = app_calloc(1, sizeof *self);
    self->classes = classes;
    self->past = app_calloc(2 * classes, sizeof *self->past);
    self->least = 1.0;
    return self;
}

void estimate_free(estimate *self)
{
    if (self)
        free(self->past);
    free(self);
}

/* The mean so far, shrunk towards one half, since a class that was never proposed gives no information. */
static double past_mean(const mean *self)
{
    return (self->sum + 0.5) / (self->n + 1.0);
}

void estimate_add(estimate *self, uint32_t logged, double probability, bool right, uint32_t now)
{
    const bool agreed = logged == now;
    const double w = agreed ? 1.0 / probability : 0.0, r = right;
    const double q = past_mean(&self->past[2 * now + 1]);
    const double term = q + w * (r - q);
    self->events++;
    self->right += right;
    self->agreed += agreed;
    self->agreed_right += agreed && right;
    self->w += w;
    self->ww += w * w;
    self->wr += w * r;
    self->wwr += w * w * r;
    self->dr += term;
    self->dr2 += term * term;
    if (probability < self->least)
        self->least = probability;
    mean *past = &self->past[2 * logged + agreed];
    past->n += 1.0;
    past->sum += r;
}

/* A ratio is within [0, 1], regardless of the weights; NaN stays. */
static double cut_ratio(double value)
{
    if (value < 0.0)
        return 0.0;
    return value > 1.0 ? 1.0 : value;
}

static interval cut(interval given)
{
    return (interval){cut_ratio(given.estimate), cut_ratio(given.low), cut_ratio(given.high)};
}

/* The interval for terms with this sum and sum of squares. */
static interval interval_of(double n, double sum, double squares)
{
    const double m = sum / n, variance = fmax(squares / n - m * m, 0.0);
    const double half = Z * sqrt(variance / fmax(n - 1.0, 1.0));
    return (interval){m, m - half, m + half};
}

/* Wilson's interval, which is also valid at 0 and 1. */
static interval ratio_interval(double right, double n)
{
    const double p = right / n, z2 = Z * Z, middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    const double half = Z * sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n)) / (1.0 + z2 / n);
    return (interval){p, middle - half, middle + half};
}

estimates estimate_all(const estimate *self)
{
    const double n = (double)self->events;
    const interval none = {(double)NAN, (double)NAN, (double)NAN};
    estimates out = {.events = self->events,
                     .agreed = self->agreed,
                     .logged = n > 0.0 ? (double)self->right / n : (double)NAN,
                     .least_probability = self->least,
                     .replay = none,
                     .ips = none,
                     .snips = none,
                     .dr = none};
    if (self->events == 0)
        return out;
    out.ips = cut(interval_of(n, self->wr, self->wwr));
    out.dr = cut(interval_of(n, self->dr, self->dr2));
    if (self->agreed == 0)
        return out;
    out.effective = self->w * self->w / self->ww;
    out.replay = cut(ratio_interval((double)self->agreed_right, (double)self->agreed));
    /* by the delta method: residuals w (r - s), whose sum is 0 */
    const double s = self->wr / self->w;
    const double squares = self->wwr - 2.0 * s * self->wwr + s * s * self->ww;
    const double half = Z * sqrt(fmax(squares, 0.0)) / self->w;
    out.snips = cut((interval){s, s - half, s + half});
    return out;
}
