/*
 * ADWIN: a window of right/wrong bits that is as long as their ratio stays the same
 * (Bifet, Gavalda, Learning from time-changing data with adaptive windowing, SDM 2007).
 *
 *   n, n0, n1   bits in the window, in an older part of it, in the rest;   m = 1 / (1/n0 + 1/n1)
 *   p           the ratio of the window
 *   d           the logarithm of 2 ln(n) / delta
 *
 * A cut between older and newer bits is a change if the ratios on its two sides differ by more than
 *
 *   sqrt(2 p (1 - p) d / m) + 2 d / (3 m)
 *
 * The oldest bits are then dropped until there is no such cut. The window is kept as sums of 1, 2, 4, ...
 * bits, at most PER_LEVEL of each, so n bits need O(log n) sums. delta was chosen on simulated bits: see
 * tests/unit/train_drift.c.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "unconfuse/session.h"

#define DELTA 0.0005
#define LEAST 16.0 /* minimum number of bits on either side of a cut */
#define ROUNDS_PER_CHECK 32
#define SAME_FALL 500 /* further cuts within so many rounds of an alarm belong to the same fall */
#define PER_LEVEL (UC_DRIFT_PER_LEVEL - 1)

/* Merges two sums of a level that has one too many into one sum of the next level. */
static void compress(uc_drift *self)
{
    for (size_t level = 0; level + 1 < UC_DRIFT_LEVELS && self->counts[level] > PER_LEVEL; level++) {
        uint64_t *sums = self->sums[level];
        self->sums[level + 1][self->counts[level + 1]++] = sums[0] + sums[1];
        memmove(sums, sums + 2, (UC_DRIFT_PER_LEVEL - 2) * sizeof *sums);
        self->counts[level] -= 2;
    }
}

static void drop_oldest(uc_drift *self)
{
    for (size_t level = UC_DRIFT_LEVELS; level-- > 0;) {
        uint64_t *sums = self->sums[level];
        if (self->counts[level] == 0)
            continue;
        self->width -= UINT64_C(1) << level;
        self->right -= sums[0];
        memmove(sums, sums + 1, (UC_DRIFT_PER_LEVEL - 1) * sizeof *sums);
        self->counts[level]--;
        return;
    }
}

/* Whether the window has a cut that is a change; *before and *after become the ratios on the two sides of the
 * clearest one. */
static bool find_cut(double *before, double *after, const uc_drift *self)
{
    const double n = (double)self->width, total = (double)self->right, p = total / n;
    const double d = log(2.0 * log(n) / DELTA);
    double n0 = 0.0, older = 0.0, clearest = 1.0;
    for (size_t level = UC_DRIFT_LEVELS; level-- > 0;)
        for (size_t i = 0; i < self->counts[level]; i++) {
            n0 += ldexp(1.0, (int)level);
            older += (double)self->sums[level][i];
            const double n1 = n - n0;
            if (n0 < LEAST || n1 < LEAST)
                continue;
            const double m = 1.0 / (1.0 / n0 + 1.0 / n1), first = older / n0, second = (total - older) / n1;
            const double bound = sqrt(2.0 * p * (1.0 - p) * d / m) + 2.0 * d / (3.0 * m);
            if (fabs(first - second) > clearest * bound) {
                clearest = fabs(first - second) / bound;
                *before = first;
                *after = second;
            }
        }
    return clearest > 1.0;
}

bool uc_drift_add(uc_drift *self, bool right)
{
    double before = 0.0, after = 0.0;
    bool fell = false;
    self->rounds++;
    self->width++;
    self->right += right;
    self->sums[0][self->counts[0]++] = right;
    compress(self);
    assert(self->right <= self->width);
    if (self->rounds % ROUNDS_PER_CHECK != 0)
        return false;
    const bool again = self->round > 0 && self->rounds - self->round < SAME_FALL;
    while (find_cut(&before, &after, self)) {
        if (after < before && !fell && !again) {
            self->before = before;
            self->after = after;
        }
        fell = fell || after < before;
        drop_oldest(self);
    }
    if (!fell || again)
        return false;
    self->alarms++;
    self->round = self->rounds;
    return true;
}
