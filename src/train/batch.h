/* A batch of rows of a session. */
#ifndef UC_BATCH_H
#define UC_BATCH_H

#include "unconfuse/matrix.h"
#include "unconfuse/model.h"

/* All rows of X, or those listed in `rows`. */
typedef struct uc_batch {
    const uc_matrix *X;
    const uint32_t *labels;
    const double *weights; /* NULL: all are 1 */
    const size_t *rows;
    size_t count;
    const uint32_t *baselines; /* positions among the learner's classes or UC_NONE; NULL: no row has one */
} uc_batch;

static inline size_t uc_batch_row(const uc_batch *self, size_t i)
{
    return self->rows ? self->rows[i] : i;
}

static inline double uc_batch_weight(const uc_batch *self, size_t row)
{
    return self->weights ? self->weights[row] : 1.0;
}

static inline uint32_t uc_batch_baseline(const uc_batch *self, size_t row)
{
    return self->baselines ? self->baselines[row] : UC_NONE;
}

/* Sets *weightless to whether some row has weight 0. Returns UC_ERR_INVALID if a weight is not valid. */
uc_status uc_batch_check_weights(bool *weightless, const uc_batch *self);
/* *out becomes the rows whose weight is not 0; `kept` has room for all row numbers. */
void uc_batch_leave_out_weightless(uc_batch *out, size_t *kept, const uc_batch *self);
/* Shuffled rows lie anywhere in memory: prefetches what the rounds after the i-th need. */
void uc_batch_prefetch(const uc_batch *self, size_t i);
/* A baseline for every row of X: the model's prediction, as a position in `classes`. *out is freed with
 * uc_free. */
uc_status uc_batch_predict(uint32_t **out, const uc_batch *self, const uc_model *model,
                           const uc_names *classes, const uc_context *context);

#endif
