/* What every row counts for a batch learner. */
#ifndef UC_ROW_WEIGHTS_H
#define UC_ROW_WEIGHTS_H

#include "learn/learner.h"

/* Whether the weights are finite and not negative, and rows of soft labels sum to 1: data that come from a
 * program. */
uc_status uc_weights_check(const uc_dataset *data);
/* weights[k]: given by fit->train, or, when the learner's settings ask for balanced classes, n / (K n_k),
 * where n_k is what the examples of class k weigh, n what all weigh, and K the number of classes that
 * occur; in all processes. *any: whether one of them is not 1. */
uc_status uc_class_weights(double *weights, bool *any, const uc_learner *learner, const void *settings,
                           const uc_fit *fit);
/* data->weights become the weight of each example times that of its class, where the learner has class
 * weights. With soft labels it is the sum over the classes, and their probabilities change with it: u t_k
 * v_k, weight, label and class weight, is what class k counts in the row. What data point to afterwards
 * and did not before is the caller's to free. Unlabelled rows have no class weight. */
uc_status uc_row_weights(uc_dataset *data, const uc_learner *learner, const void *settings,
                         const uc_fit *fit);

#endif
