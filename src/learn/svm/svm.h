/* The objective of csvm and sloppy-svm, for the learners and their tests. */
#ifndef UC_SVM_H
#define UC_SVM_H

#include "learn/learner.h"
#include "learn/minimise.h"

typedef enum uc_svm_loss { UC_SVM_SLOPPY, UC_SVM_WEIGHTED } uc_svm_loss;

/* One machine: class `positive` against the rest. Rows without a label (UC_NONE) are left out. */
typedef struct uc_svm {
    const uc_dataset *data; /* with the weights of its rows, if any */
    uint32_t positive;
    double cost, smoothing;
    uc_svm_loss loss;
    double rate[2];   /* for true negatives, and for true positives: the share that has the other label */
    double weight[2]; /* for true negatives, and for true positives */
    const double *class_weights; /* given for every class; NULL: not given */
    bool free_offset;
    bool arranged; /* rows are arranged for dual coordinate descent (uc_svm_arrange) */
    /* Initial and final values, one per row, 0 where the label has changed; NULL: starts from zeros. */
    double *alpha;
} uc_svm;

/* The corrected loss of an example labelled `label` (0 or 1) at `margin`, which is its label's sign times its
 * score. */
double uc_svm_loss_at(double *slope, const uc_svm *self, double margin, int label);
/* point[0] is the offset, then d weights. */
uc_status uc_svm_gradient(double *value, double *gradient, const double *point, const uc_svm *self,
                          const uc_context *context);

bool uc_svm_is_convex(const uc_svm *self);
/* Minimises from point[0..d], which must be zeros unless svm->alpha is given. Rows of several processes must
 * be arranged. */
uc_status uc_svm_solve(uc_minimum *out, double *point, const uc_svm *self, const uc_svm_settings *settings,
                       const uc_context *context);
/* Counts the examples with each label, over all processes; labelled[1] is the positive one. */
uc_status uc_svm_count_labels(double labelled[2], const uc_svm *self, const uc_context *context);
/* Sets self->weight, given these label counts. */
void uc_svm_weigh(uc_svm *self, const double labelled[2], const uc_svm_settings *settings);

/* The number of parts (1, 2, 4, 8 or 16) of a convex machine, and the number of rows after which they join
 * their changes. */
#define UC_SVM_MOST_PARTS ((size_t)16)
typedef struct uc_svm_plan {
    size_t parts;
    double rows_a_round;
} uc_svm_plan;
uc_svm_plan uc_svm_plan_for(size_t rows, size_t columns, double entries);
/* Distributes rows over several processes for dual coordinate descent, which must not cut a part in two. Each
 * process gets other rows; or, if there is only one part, each gets all rows, and *context becomes that of a
 * process alone. *out is freed by the caller, and unchanged if the rows can stay as they are. *possible:
 * whether a process has enough memory. */
uc_status uc_svm_arrange(uc_dataset *out, bool *possible, uc_context *context, const uc_dataset *data,
                         size_t rows);
/* Whether every process has the memory for a machine with the rows of all processes, given their number and
 * that of their entries. */
uc_status uc_svm_fits_all(bool *out, const uc_matrix *X, size_t rows, double entries,
                          const uc_context *context);
double uc_svm_dual_bytes(size_t rows, size_t columns, double entries); /* needed while a machine is solved */
/* The gap at an epoch. */
typedef struct uc_svm_pace {
    uint64_t epoch;
    double gap;
} uc_svm_pace;
/* Whether the gap, if it continues to decrease as it did in the last half of the epochs, reaches `target`
 * soon enough. */
bool uc_svm_keeps_pace(uc_svm_pace *last, uint64_t epoch, double gap, double target);
/* Whether the gap decreases too slowly for several parts; `recent` are the last two checks. */
bool uc_svm_slows_down(uc_svm_pace *recent, uint64_t epoch, double gap, double target);

/* Minimises a convex machine, from zeros in point[0..d] or from svm->alpha and the offset, until the
 * objective is at most `tolerance`, relative, above its minimum (`arrived`), `epochs` have passed, or L-BFGS
 * is likely to be faster from there. plan NULL: by size. Rows of several processes must be arranged. */
uc_status uc_svm_dual(uc_minimum *out, bool *arrived, double *point, const uc_svm *svm,
                      const uc_svm_plan *plan, uint64_t epochs, double tolerance, const uc_context *context);

#endif
