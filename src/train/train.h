/* Training on a whole data set, for callers that train many times. */
#ifndef UC_TRAIN_H
#define UC_TRAIN_H

#include "learn/learner.h"
#include "unconfuse/train.h"

/* The number of rows on which views are judged and from which relevance is learned. */
#define UC_VIEW_SAMPLE ((size_t)5000)

/* Whether the learner can be trained on these labels, and in this number of processes. */
uc_status uc_train_check(const uc_learner *learner, const uc_dataset *data, const uc_context *context);

#endif
