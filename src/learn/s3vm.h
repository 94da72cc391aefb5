/* Inside of s3vm: the problem that L-BFGS is given, for the learner and its tests. */
#ifndef UC_S3VM_H
#define UC_S3VM_H

#include "learn/learner.h"

typedef struct uc_s3vm {
    const uc_dataset *data;
    const uc_context *context;
    double cost, unlabelled_cost; /* C, and C_u at this moment of the annealing */
    size_t d, P, S;               /* dimensions; machines: K, or 1 for two classes; their stride */
    double labelled, unlabelled;  /* l, u: their weights */
    size_t unlabelled_rows;
    double *means;              /* d of the labelled rows, d of the unlabelled ones */
    bool free_offset, balanced; /* there are offsets; they follow from the balance */
    double *target;             /* S: the mean score of the unlabelled rows, when balanced */
    double *offset;             /* S: b at the point of the last evaluation */
    double *sum;                /* (1 + d) x S, and one more: work space */
    const double *W;            /* the point at which the gradient is taken */
    uint64_t evaluations, iterations;
} uc_s3vm;

/* Counts the rows and takes their means; refuses a class without a labelled row. */
uc_status uc_s3vm_begin(uc_s3vm *self, const uc_fit *fit, double cost);
void uc_s3vm_end(uc_s3vm *self); /* zero-initialised is fine */
/* From here on the unlabelled rows must score on average what the labelled ones score at W. */
void uc_s3vm_balance(uc_s3vm *self, const double *W);
/* The objective at W, (1 + d) x S with the offsets in row 0 (not read when balanced), and its gradient. */
uc_status uc_s3vm_objective(double *value, double *gradient, uc_s3vm *self, const double *W);

#endif
