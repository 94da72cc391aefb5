/* A change of variables that makes columns of different sizes, and columns far from 0, alike to an
 * optimiser. */
#ifndef UC_CONDITIONING_H
#define UC_CONDITIONING_H

#include "parallel/parallel.h"
#include "unconfuse/dataset.h"

#define UC_SPARSE 0.05 /* rows with a smaller share of values that are not 0 are mostly zeros */

/* For weights of (1 + columns) x stride numbers, of which the first row are the offsets. */
typedef struct uc_conditioning {
    size_t columns, stride;
    double *scale;  /* 1 + columns: a variable is scale times a weight */
    double *centre; /* columns: the mean; NULL: mostly zeros, or no free offsets to take it up */
    bool sparse;    /* the rows are mostly zeros */
    double rows;    /* of all processes */
    double *root;   /* columns x columns, a lower triangle, of uc_conditioning_whiten; NULL: none */
} uc_conditioning;

/* For an objective whose second derivative is about penalty + curvature x^2 in a weight, on the rows of all
 * processes. *out is freed with uc_conditioning_free, also after a failure. */
uc_status uc_conditioning_fit(uc_conditioning *out, const uc_matrix *X, size_t stride, double penalty,
                              double curvature, bool free_offset, const uc_context *context);
/* Makes columns alike that vary together, too: about the whole second derivative at the start, instead of its
 * diagonal. Does nothing where that costs more than it saves: rows that are mostly zeros, many columns.
 * uc_blas_begin comes before. */
uc_status uc_conditioning_whiten(uc_conditioning *self, const uc_matrix *X, double penalty, double curvature,
                                 const uc_context *context);
/* Of one with a root that was made for free offsets: the one for offsets that stay as they are, without
 * reading the rows again. */
uc_status uc_conditioning_fix_offset(uc_conditioning *out, const uc_conditioning *self, double curvature);
void uc_conditioning_free(uc_conditioning *self);

/* Weights to variables and back; and a gradient in the weights, in place, to that in the variables. */
void uc_conditioning_enter(double *variables, const uc_conditioning *self, const double *weights);
void uc_conditioning_leave(double *weights, const uc_conditioning *self, const double *variables);
void uc_conditioning_turn(double *gradient, const uc_conditioning *self);

#endif
