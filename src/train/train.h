/* Training on a whole data set, for those who train many times. */
#ifndef UC_TRAIN_H
#define UC_TRAIN_H

#include "learn/learner.h"
#include "unconfuse/train.h"

/* Rows that views are judged on, and that relevance is learned from. */
#define UC_VIEW_SAMPLE ((size_t)5000)

/* Whether the learner can be trained on these labels, and by these processes. */
uc_status uc_train_check(const uc_learner *learner, const uc_dataset *data, const uc_context *context);

#endif
