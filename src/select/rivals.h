/* Learners that `auto` tries next to its own fit (rivals.c). */
#ifndef UC_RIVALS_H
#define UC_RIVALS_H

#include "learn/learner.h"

#define UC_MOST_RIVALS 4

typedef struct uc_rival {
    const uc_learner *learner;
    double criterion; /* its own */
    double wrong;     /* the share of wrong labels, by its own model of the labels */
    double error;     /* of its held-out predictions, against the labels */
    bool stands;      /* it is believed */
} uc_rival;

typedef struct uc_rivals {
    uc_rival tried[UC_MOST_RIVALS];
    size_t count;
    uc_model *best; /* of the first that stands; NULL: none does */
} uc_rivals;        /* zero-initialised is empty and may be freed */

/* Whether there may be rivals. If so, the rows must not change until all are trained. */
uc_status uc_rivals_may_be(bool *out, const uc_learner *learner, const void *settings,
                           const uc_train_settings *train, const uc_dataset *data, const uc_context *context);
/* Trains every learner that has `stands`, unless `model`, the fit of `auto`, explains the labels well
 * enough. */
uc_status uc_rivals_train(uc_rivals *out, const uc_model *model, const uc_train_settings *train,
                          uc_dataset *data, const uc_context *context);
/* The model of the one that stands, which the caller frees. */
uc_model *uc_rivals_take(uc_rivals *self);
void uc_rivals_free(uc_rivals *self);
/* Adds the rivals to the candidates in the model's summary; if one of them made the model, it becomes
 * `chosen`. */
uc_status uc_rivals_write(uc_model *model, const uc_rivals *self);

#endif
