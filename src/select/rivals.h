/* Learners that `auto` trains next to its own fit (rivals.c). */
#ifndef UC_RIVALS_H
#define UC_RIVALS_H

#include "learn/learner.h"

#define UC_MOST_RIVALS 4

typedef struct uc_rival {
    const uc_learner *learner;
    double criterion; /* its own */
    bool stands;
} uc_rival;

typedef struct uc_rivals {
    uc_rival tried[UC_MOST_RIVALS];
    size_t count;
    uc_model *best; /* of the first that stands; NULL: none does */
} uc_rivals;        /* zero-initialised is empty and may be freed */

/* Trains every learner that has `stands`, if `learner` is `auto` and is given the time. Rows and their
 * preparation are left as they are. */
uc_status uc_rivals_train(uc_rivals *out, const uc_learner *learner, const void *settings,
                          const uc_train_settings *train, uc_dataset *data, const uc_context *context);
/* The model of the one that stands, which the caller frees. */
uc_model *uc_rivals_take(uc_rivals *self);
void uc_rivals_free(uc_rivals *self);
/* They join the candidates that the model remembers, and the one that made it becomes `chosen`. */
uc_status uc_rivals_write(uc_model *model, const uc_rivals *self);

#endif
