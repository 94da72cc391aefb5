/* The objective of csvm and sloppy-svm, for the learners and their tests. */
#ifndef UC_SVM_H
#define UC_SVM_H

#include "learn/learner.h"
#include "learn/minimise.h"

typedef enum uc_svm_loss { UC_SVM_SLOPPY, UC_SVM_WEIGHTED } uc_svm_loss;

/* One machine: class `positive` against the rest. */
typedef struct uc_svm {
    const uc_dataset *data;
    uint32_t positive;
    double cost, smoothing;
    uc_svm_loss loss;
    double rate[2];   /* of truly negative, and of truly positive examples: how many carry the other label */
    double weight[2]; /* of truly negative, and of truly positive examples */
    bool free_offset;
} uc_svm;

/* The smoothed hinge loss and its slope at `margin`. */
double uc_svm_hinge(double *slope, double margin, double smoothing);
/* The corrected loss of an example labelled `label` (0 or 1) at `margin`, its label's sign times its score. */
double uc_svm_loss_at(double *slope, const uc_svm *self, double margin, int label);
/* point[0] is the offset, then d weights. */
uc_status uc_svm_gradient(double *value, double *gradient, const double *point, const uc_svm *self,
                          const uc_context *context);

bool uc_svm_is_convex(const uc_svm *self);
/* From zeros in point[0..d] towards the minimum of a convex machine, one process, until the objective is at most
 * `tolerance`, relative, above it (`arrived`), `epochs` are over, or L-BFGS is likely to be faster from there. */
uc_status uc_svm_dual(uc_minimum *out, bool *arrived, double *point, const uc_svm *self, uint64_t epochs,
                      double tolerance, const uc_context *context);

#endif
