/*
 * What an answer is worth if some answers are false.
 *
 *   v   score of the proposed class, without the round itself        y = 1   the proposal was right
 *
 *   P(y = 1 | v)       = pi = 1/(1 + exp(-(a + b v)))
 *   P("right" | v)     = (1 - A) pi + B (1 - pi)
 *   P(y = 1 | "right") = (1 - A) pi / ((1 - A) pi + B (1 - pi))
 *   P(y = 1 | "wrong") = A pi / (A pi + (1 - B)(1 - pi))
 *
 * This is a psychometric function with lapses and guesses. It is fitted by EM: the posteriors r of y give A
 * and B as shares, with a prior worth 20 more right proposals of which 1 was answered "wrong", and 20 more
 * wrong ones of which 1 was answered "right". The logistic regression of r on v takes one Newton step, with a
 * weak prior at the initial line. A is determined by the most certain proposals and B by the least certain
 * ones; where there are none, the prior decides.
 */
#include "learn/onebit/doubt.h"

#include <math.h>
#include <string.h>

#define STEPS 30
#define FEWEST_ROUNDS ((size_t)64)
#define PRIOR_ROUNDS 20.0
#define PRIOR_FLIPS 1.0
#define LARGEST_FLIPPED 0.45
#define LINE_PRIOR 1.0 /* the initial line counts as so many rounds */
#define SURE 1e-6
/* The scores of the first rounds mean little. A learner that does not believe "right" would then never find
 * the classes, and one that is certain although it is wrong must not dismiss every "wrong". So pi is at least
 * LEAST_TRUST after "right" and at most MOST_TRUST after "wrong". */
#define LEAST_TRUST 0.5
#define MOST_TRUST 0.9

uc_doubt uc_doubt_begin(const double noise[2], double offset, double slope)
{
    uc_doubt self = {.offset = offset, .slope = slope};
    self.estimates = isnan(noise[0]);
    for (size_t i = 0; i < 2; i++) {
        self.flipped[i] = noise[i];
        if (self.estimates)
            self.flipped[i] = PRIOR_FLIPS / PRIOR_ROUNDS;
    }
    self.active = self.flipped[0] > 0.0 || self.flipped[1] > 0.0;
    return self;
}

static double probability(const uc_doubt *self, double v)
{
    const double pi = 1.0 / (1.0 + exp(-(self->offset + self->slope * v)));
    return fmin(1.0 - SURE, fmax(SURE, pi));
}

/* Bayes' rule, from the probability pi that the proposal is right. */
static double posterior(const uc_doubt *self, double pi, bool answered_right)
{
    double yes = (1.0 - self->flipped[0]) * pi, no = self->flipped[1] * (1.0 - pi);
    if (!answered_right) {
        yes = self->flipped[0] * pi;
        no = (1.0 - self->flipped[1]) * (1.0 - pi);
    }
    return yes + no > 0.0 ? yes / (yes + no) : pi;
}

double uc_doubt_posterior(const uc_doubt *self, double v, bool answered_right)
{
    double pi = probability(self, v);
    if (answered_right)
        pi = fmax(pi, LEAST_TRUST);
    else
        pi = fmin(pi, MOST_TRUST);
    return posterior(self, pi, answered_right);
}

/* Sums over the rounds for one EM step. */
typedef struct sums {
    double right, wrong;                 /* of r, of 1 - r */
    double flipped_right, flipped_wrong; /* of these, with the opposite answer */
    double gradient[2], hessian[3];      /* of the logistic regression: offset, slope */
} sums;

static sums sum_rounds(const uc_doubt *self, const double *v, const bool *right, size_t count)
{
    sums all = {0};
    for (size_t i = 0; i < count; i++) {
        const double pi = probability(self, v[i]), r = posterior(self, pi, right[i]);
        const double spread = pi * (1.0 - pi);
        all.right += r;
        all.wrong += 1.0 - r;
        if (right[i])
            all.flipped_wrong += 1.0 - r;
        else
            all.flipped_right += r;
        all.gradient[0] += r - pi;
        all.gradient[1] += (r - pi) * v[i];
        all.hessian[0] += spread;
        all.hessian[1] += spread * v[i];
        all.hessian[2] += spread * v[i] * v[i];
    }
    return all;
}

/* A Newton step for the line, with the prior at `first`. */
static void move_line(uc_doubt *self, const uc_doubt *first, sums all)
{
    all.gradient[0] -= LINE_PRIOR * (self->offset - first->offset);
    all.gradient[1] -= LINE_PRIOR * (self->slope - first->slope);
    all.hessian[0] += LINE_PRIOR;
    all.hessian[2] += LINE_PRIOR;
    const double determinant = all.hessian[0] * all.hessian[2] - all.hessian[1] * all.hessian[1];
    self->offset += (all.hessian[2] * all.gradient[0] - all.hessian[1] * all.gradient[1]) / determinant;
    self->slope += (all.hessian[0] * all.gradient[1] - all.hessian[1] * all.gradient[0]) / determinant;
}

void uc_doubt_fit(uc_doubt *self, const double *v, const bool *right, size_t count)
{
    const uc_doubt first = *self;
    uc_doubt next = *self;
    if (count < FEWEST_ROUNDS)
        return;
    for (int step = 0; step < STEPS; step++) {
        const sums all = sum_rounds(&next, v, right, count);
        if (next.estimates) {
            const double A = (all.flipped_right + PRIOR_FLIPS) / (all.right + PRIOR_ROUNDS);
            const double B = (all.flipped_wrong + PRIOR_FLIPS) / (all.wrong + PRIOR_ROUNDS);
            next.flipped[0] = fmin(A, LARGEST_FLIPPED);
            next.flipped[1] = fmin(B, LARGEST_FLIPPED);
        }
        move_line(&next, &first, all);
    }
    if (isfinite(next.offset) && isfinite(next.slope) && next.slope > 0.0)
        *self = next;
}

uc_status uc_doubt_remember(uc_doubt *self, uc_state *state)
{
    double reals[4] = {self->flipped[0], self->flipped[1], self->offset, self->slope};
    const uc_status status = uc_state_array(state, "state.doubt", UC_ARRAY_F64, reals, 4);
    if (status != UC_OK)
        return status;
    if (!(reals[0] >= 0.0 && reals[0] < 1.0 && reals[1] >= 0.0 && reals[1] < 1.0) || !isfinite(reals[2]) ||
        !(reals[3] > 0.0 && isfinite(reals[3])))
        return uc_state_damaged();
    memcpy(self->flipped, reals, sizeof self->flipped);
    self->offset = reals[2];
    self->slope = reals[3];
    return UC_OK;
}
