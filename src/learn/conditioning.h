/* A change of variables that makes columns of different sizes, and columns far from 0, look alike to an
 * optimiser. */
#ifndef UC_CONDITIONING_H
#define UC_CONDITIONING_H

#include "parallel/parallel.h"
#include "unconfuse/dataset.h"

#define UC_SPARSE 0.05 /* rows with a smaller share of values that are not 0 are mostly zeros */

/* For weights of (1 + columns) x stride numbers, whose first row holds the offsets. */
typedef struct uc_conditioning {
    size_t columns, stride;
    double *scale;  /* 1 + columns: variable = scale * weight */
    double *centre; /* columns: the means; NULL: rows of mostly zeros, or no free offsets to absorb them */
    bool sparse;    /* the rows are mostly zeros */
    double rows;    /* of all processes */
    double *root;   /* columns x columns, a lower triangle, from uc_conditioning_whiten; NULL: none */
} uc_conditioning;

/* For an objective whose second derivative in a weight is about penalty + curvature x^2. Uses the rows of all
 * processes. *out is freed with uc_conditioning_free, also after a failure. */
uc_status uc_conditioning_fit(uc_conditioning *out, const uc_matrix *X, size_t stride, double penalty,
                              double curvature, bool free_offset, const uc_context *context);
/* Also decorrelates the columns, by using about the whole second derivative at the start instead of its
 * diagonal. Does nothing if that would cost more than it saves (rows of mostly zeros, many columns). Call
 * uc_blas_begin first. */
uc_status uc_conditioning_whiten(uc_conditioning *self, const uc_matrix *X, double penalty, double curvature,
                                 const uc_context *context);
/* For rows first, first + every, ..., `count` of them: about the second derivative of the loss in a score,
 * >= 0. */
typedef uc_status uc_curvatures_fn(double *out, size_t first, size_t every, size_t count, void *user);
/* Replaces the root by that for the curvatures of the rows at the weights found so far. `self` has a root. */
uc_status uc_conditioning_whiten_again(uc_conditioning *self, const uc_matrix *X, double penalty,
                                       double curvature, uc_curvatures_fn *find, void *user,
                                       const uc_context *context);
/* Derives, from a change of variables with a root that was made for free offsets, the one for fixed offsets,
 * without reading the rows again. */
uc_status uc_conditioning_fix_offset(uc_conditioning *out, const uc_conditioning *self, double curvature);
void uc_conditioning_free(uc_conditioning *self);

/* Converts weights to variables and back; `turn` converts a gradient in the weights, in place, to the one in
 * the variables. */
void uc_conditioning_enter(double *variables, const uc_conditioning *self, const double *weights);
void uc_conditioning_leave(double *weights, const uc_conditioning *self, const double *variables);
void uc_conditioning_turn(double *gradient, const uc_conditioning *self);

#endif
