/* Losses of a model on held-out rows, by which values for `auto` are chosen. None needs clean labels. */
#ifndef UC_SELECT_HELD_OUT_H
#define UC_SELECT_HELD_OUT_H

#include <stdbool.h>

#include "base/base.h"
#include "parallel/parallel.h"
#include "unconfuse/dataset.h"
#include "unconfuse/model.h"
#include "unconfuse/noise.h"

/* The share of errors on the labels as given; if the noise is given, the share that clean labels would
 * show. */
uc_status uc_error_loss(double *loss, const uc_model *model, const uc_dataset *test, const uc_noise *noise,
                        bool positive_unlabelled, const uc_context *context);
/* The mean of -log P(observed label). */
uc_status uc_likelihood_loss(double *loss, const uc_model *model, const uc_dataset *test,
                             const uc_noise *noise, const uc_context *context);
/* The share of bags that are predicted wrongly. */
uc_status uc_bag_loss(double *loss, const uc_model *model, const uc_dataset *test, uint32_t positive,
                      const uc_context *context);

#endif
