/* Internals of s3vm, for the learner and its tests: the problem that L-BFGS minimises. */
#ifndef UC_S3VM_H
#define UC_S3VM_H

#include "learn/learner.h"

typedef struct uc_s3vm {
    const uc_dataset *data;
    const uc_context *context;
    double cost, unlabelled_cost; /* C, and C_u at the present stage of the annealing */
    size_t d, P, S;               /* dimensions; machines: K, or 1 for two classes; their stride */
    double labelled, unlabelled;  /* l, u: sums of weights */
    size_t unlabelled_rows;
    double *means;              /* d of the labelled rows, d of the unlabelled ones */
    bool free_offset, balanced; /* has offsets; they follow from the balance */
    double *target;             /* S: the mean scores of the unlabelled rows, if balanced */
    double *offset;             /* S: b at the point of the last evaluation */
    double *sum;                /* (1 + d) x S, and one more: work space */
    const double *W;            /* the point at which the gradient is taken */
    uint64_t evaluations, iterations;
} uc_s3vm;

/* Counts the rows and computes their means; fails if a class has no labelled row. */
uc_status uc_s3vm_begin(uc_s3vm *self, const uc_fit *fit, double cost);
void uc_s3vm_end(uc_s3vm *self); /* may be zero-initialised */
/* From now on the unlabelled rows must score on average what the labelled ones score at W. */
void uc_s3vm_balance(uc_s3vm *self, const double *W);
/* The objective at W, (1 + d) x S with the offsets in row 0 (not read if balanced), and its gradient. */
uc_status uc_s3vm_objective(double *value, double *gradient, uc_s3vm *self, const double *W);

#endif
