/* Ridge regression of all classes at once, one row at a time: one matrix, because it does not see labels. */
#ifndef UC_RUNNING_RIDGE_H
#define UC_RUNNING_RIDGE_H

#include "learn/state.h"
#include "linalg/linalg.h"

#define UC_RIDGE_PENDING ((size_t)32) /* rows that wait before the inverse changes */

typedef struct uc_running_ridge {
    size_t size;   /* n: features, the constant one included */
    size_t stride; /* of vectors and of the inverse's rows; a multiple of 8 */
    size_t classes, class_stride;
    double *inverse; /* lower triangle of A0^-1; A^-1 = A0^-1 - sum of u u' over the pending u */
    double *pending; /* UC_RIDGE_PENDING x stride */
    size_t pending_count;
    double *weights; /* W = A^-1 (B - changes), n x class_stride */
    double *sums;    /* B = sum of phi q' */
    double *changes; /* of B that are not in W yet */
    bool changed;
    uint64_t flushes;         /* times that the inverse changed since the changes were last in W */
    double *feature_sum;      /* sum of phi */
    double *work, *direction; /* stride each */
    double *step;             /* class_stride */
} uc_running_ridge;           /* zero-initialised: none */

/* For n features and so many classes; all sums are 0, the inverse is the caller's to fill. */
uc_status uc_running_ridge_begin(uc_running_ridge *out, size_t size, size_t classes);
void uc_running_ridge_free(uc_running_ridge *self);
/* One more class, whose targets were 0 so far; targets are centred by 1/K, which changes. */
uc_status uc_running_ridge_add_classes(uc_running_ridge *self, size_t classes);
/* self->direction = A^-1 phi; returns phi'A^-1 phi. */
double uc_running_ridge_direct(uc_running_ridge *self, const float *phi);
/* The row of the last uc_running_ridge_direct, which returned h: A += weight phi phi', and W and B follow. q:
 * its target; s: its scores before; both class_stride, the padding 0. */
void uc_running_ridge_add(uc_running_ridge *self, const float *phi, double h, double weight, const double *q,
                          const double *s);
/* A row that is in A already gets another target: dq, class_stride, is the change times its weight. W follows
 * with the next uc_running_ridge_settle. */
void uc_running_ridge_change(uc_running_ridge *self, const float *phi, const double *dq);
/* The pending rows change the inverse. The changes of targets go to W too, unless this was done fewer than
 * `every` times since they last did: a product with them costs as much as several rounds. */
void uc_running_ridge_flush(uc_running_ridge *self, uint64_t every, double *work);
/* What waits is done. `work`: n x class_stride. */
void uc_running_ridge_settle(uc_running_ridge *self, double *work);
/* W = A^-1 B; nothing waits afterwards. */
void uc_running_ridge_solve(uc_running_ridge *self);
/* Its arrays are called state.ridge.*. The size and the classes are there when it is read. */
uc_status uc_running_ridge_remember(uc_running_ridge *self, uc_state *state);

#endif
