/* A second-order metric A = prior I + sum of x x', for learners whose updates go along A^-1 x instead of
 * x. */
#ifndef UC_METRIC_H
#define UC_METRIC_H

#include "learn/online.h"
#include "learn/state.h"

typedef enum uc_metric_kind { UC_METRIC_NONE, UC_METRIC_DIAGONAL, UC_METRIC_FULL } uc_metric_kind;

typedef struct uc_metric {
    uc_metric_kind kind;
    size_t size;     /* 1 + features: the constant feature comes first */
    size_t stride;   /* of the rows of a full metric, and of the vectors; a multiple of 8 */
    double *inverse; /* A^-1: size x stride, or its diagonal */
    double *pending; /* full metric: u, not yet in `inverse`: A^-1 = inverse - factor u u' */
    double factor;
    size_t vectors;     /* for which the next two have room, stride doubles each */
    double *rows;       /* as dense vectors; diagonal metric: the directions, as floats */
    double *directions; /* A^-1 x, for a full metric */
} uc_metric;            /* zero-initialised: none, along x itself */

/* `kind` may only change to none. `vectors`: the most rows in one call of uc_metric_add. */
uc_status uc_metric_resize(uc_metric *self, uc_metric_kind kind, size_t features, double prior,
                           size_t vectors);
/* The same into a new metric, whose kind is not none; `self` is unchanged. */
uc_status uc_metric_grown(uc_metric *out, const uc_metric *self, uc_metric_kind kind, size_t features,
                          double prior, size_t vectors);
void uc_metric_free(uc_metric *self);
/* Its arrays are named `name`, `name`.pending and `name`.factor. */
uc_status uc_metric_remember(uc_metric *self, uc_state *state, const char *name);

/* A += rows[0] rows[0]', then computes the directions of all rows, which are valid until the next call. */
void uc_metric_add(uc_direction *directions, uc_metric *self, const uc_row *rows, size_t count, double bias);

/* Full metric: returns the direction A^-1 x of a row, which is valid until the next call. */
uc_direction uc_metric_direction(uc_metric *self, uc_row row, double bias);
/* The same for the vector at the beginning of self->rows: `size` numbers, then zeros up to `stride`. */
uc_direction uc_metric_direction_dense(uc_metric *self);
/* A += weight x x', where x is the row of the last uc_metric_direction, which returned `direction`. */
void uc_metric_add_last(uc_metric *self, const uc_direction *direction, double weight);

#endif
