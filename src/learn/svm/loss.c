/* The smoothed hinge loss, and its correction for noise rates; svm.c has the formulas. */
#include "learn/svm/svm.h"

#include <assert.h>

/* The smoothed hinge loss and its slope at `margin`. */
static double hinge(double *slope, double margin, double h)
{
    if (margin >= 1.0 + h) {
        *slope = 0.0;
        return 0.0;
    }
    if (margin <= 1.0 - h) {
        *slope = -1.0;
        return 1.0 - margin;
    }
    const double short_of = 1.0 + h - margin;
    *slope = -short_of / (2.0 * h);
    return short_of * short_of / (4.0 * h);
}

double uc_svm_loss_at(double *slope, const uc_svm *self, double margin, int label)
{
    const double own = self->rate[label], other = self->rate[1 - label], K = 1.0 / (1.0 - own - other);
    const double forth_weight = K * (1.0 - other) * self->weight[label],
                 back_weight = K * own * self->weight[1 - label];
    double forth, back;
    assert(own >= 0.0 && other >= 0.0 && own + other < 1.0);
    const double loss = hinge(&forth, margin, self->smoothing);
    if (self->loss == UC_SVM_WEIGHTED || own == 0.0) {
        *slope = (forth_weight + back_weight) * forth;
        return (forth_weight + back_weight) * loss;
    }
    const double opposite = hinge(&back, -margin, self->smoothing);
    *slope = forth_weight * forth + back_weight * back;
    return forth_weight * loss - back_weight * opposite;
}

bool uc_svm_is_convex(const uc_svm *self)
{
    return self->loss == UC_SVM_WEIGHTED || (self->rate[0] == 0.0 && self->rate[1] == 0.0);
}
