/* A change of variables that makes columns of different sizes, and columns far from 0, alike to an
 * optimiser. */
#ifndef UC_CONDITIONING_H
#define UC_CONDITIONING_H

#include "parallel/parallel.h"
#include "unconfuse/dataset.h"

/* For weights of (1 + columns) x stride numbers, of which the first row are the offsets. */
typedef struct uc_conditioning {
    size_t columns, stride;
    double *scale;  /* 1 + columns: a variable is scale times a weight */
    double *centre; /* columns: the mean; NULL: mostly zeros, or no free offsets to take it up */
} uc_conditioning;

/* For an objective whose second derivative is about penalty + curvature x^2 in a weight, on the rows of all
 * processes. *out is freed with uc_conditioning_free, also after a failure. */
uc_status uc_conditioning_fit(uc_conditioning *out, const uc_matrix *X, size_t stride, double penalty,
                              double curvature, bool free_offset, const uc_context *context);
void uc_conditioning_free(uc_conditioning *self);

/* Weights to variables and back; and a gradient in the weights, in place, to that in the variables. */
void uc_conditioning_enter(double *variables, const uc_conditioning *self, const double *weights);
void uc_conditioning_leave(double *weights, const uc_conditioning *self, const double *variables);
void uc_conditioning_turn(double *gradient, const uc_conditioning *self);

#endif
