/* Choosing by data: cross-validation. */
#ifndef UNCONFUSE_SELECT_H
#define UNCONFUSE_SELECT_H

#include "unconfuse/learn.h"
#include "unconfuse/metrics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Trains on all folds but one and predicts that one, for every fold (stratified, drawn by train->seed).
 * predicted[i] is the class that row i got from the model that did not see it. fold_error (may be NULL) has
 * `folds` entries. 2 <= folds <= rows. */
uc_status uc_cross_validate(uint32_t *predicted, double *fold_error, const uc_learner *learner,
                            const void *settings, const uc_train_settings *train, const uc_dataset *data,
                            unsigned folds, const uc_context *context);

#ifdef __cplusplus
}
#endif

#endif
