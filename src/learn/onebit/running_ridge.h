/* Ridge regression with all classes at once, one row at a time. One matrix suffices: it does not depend on
 * labels. */
#ifndef UC_RUNNING_RIDGE_H
#define UC_RUNNING_RIDGE_H

#include "learn/state.h"
#include "linalg/linalg.h"

#define UC_RIDGE_PENDING ((size_t)32) /* rows that wait before the inverse is updated */

typedef struct uc_running_ridge {
    size_t size;   /* n: features, including the constant one */
    size_t stride; /* of vectors and of the inverse's rows; a multiple of 8 */
    size_t classes, class_stride;
    double *inverse; /* lower triangle of A0^-1; A^-1 = A0^-1 - sum of u u' over the pending u */
    double *pending; /* UC_RIDGE_PENDING x stride */
    size_t pending_count;
    double *weights; /* W = A^-1 (B - changes), n x class_stride */
    double *sums;    /* B = sum of phi q' */
    double *changes; /* changes of B that are not in W yet */
    bool changed;
    uint64_t flushes;         /* updates of the inverse since W last took in the changes */
    double *feature_sum;      /* sum of phi */
    double *work, *direction; /* stride each */
    double *step;             /* class_stride */
} uc_running_ridge;           /* zero-initialised: none */

/* Sets up n features and so many classes; all sums are 0, and the caller fills in the inverse. */
uc_status uc_running_ridge_begin(uc_running_ridge *out, size_t size, size_t classes);
void uc_running_ridge_free(uc_running_ridge *self);
/* Adds classes whose targets were 0 so far. Targets are centred by 1/K, which changes. */
uc_status uc_running_ridge_add_classes(uc_running_ridge *self, size_t classes);
/* self->direction = A^-1 phi; returns phi'A^-1 phi. */
double uc_running_ridge_direct(uc_running_ridge *self, const float *phi);
/* Adds the row of the last uc_running_ridge_direct, which returned h: A += weight phi phi', and W and B
 * follow. q is its target and s its scores before; both have class_stride entries, with zero padding. */
void uc_running_ridge_add(uc_running_ridge *self, const float *phi, double h, double weight, const double *q,
                          const double *s);
/* Gives a new target to a row that is already in A: dq, class_stride entries, is the change times the row's
 * weight. W follows at the next uc_running_ridge_settle. */
void uc_running_ridge_change(uc_running_ridge *self, const float *phi, const double *dq);
/* Updates the inverse with the pending rows. The changes of targets also go to W, unless there were fewer
 * than `every` flushes since they last did: a product with them costs as much as several rounds. */
void uc_running_ridge_flush(uc_running_ridge *self, uint64_t every, double *work);
/* Applies everything that is pending. `work`: n x class_stride. */
void uc_running_ridge_settle(uc_running_ridge *self, double *work);
/* W = A^-1 B; nothing is pending afterwards. */
void uc_running_ridge_solve(uc_running_ridge *self);
/* Saves or reads its arrays, which are called state.ridge.*. Size and classes must be set before reading. */
uc_status uc_running_ridge_remember(uc_running_ridge *self, uc_state *state);

#endif
