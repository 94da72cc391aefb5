/* The weight of every row for a batch learner. */
#ifndef UC_ROW_WEIGHTS_H
#define UC_ROW_WEIGHTS_H

#include "learn/learner.h"

/* Checks data that come from a program: weights must be finite and not negative, and rows of soft labels must
 * sum to 1. */
uc_status uc_weights_check(const uc_dataset *data);
/* weights[k] becomes the weight given by fit->train or, if the learner's settings ask for balanced classes, n
 * / (K n_k), where n_k is the total weight of the examples of class k, n that of all examples, and K the
 * number of classes that occur, over all processes. *any becomes whether one of them is not 1. */
uc_status uc_class_weights(double *weights, bool *any, const uc_learner *learner, const void *settings,
                           const uc_fit *fit);
/* data->weights become the weight of each example times that of its class, if the learner has class weights.
 * With soft labels the weight is the sum over the classes, and the probabilities change too: class k counts u
 * t_k v_k in the row, the product of weight, label and class weight. Arrays that `data` points to afterwards
 * but did not before belong to the caller. Unlabelled rows have no class weight. */
uc_status uc_row_weights(uc_dataset *data, const uc_learner *learner, const void *settings,
                         const uc_fit *fit);

#endif
