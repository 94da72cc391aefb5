/* Internal interface of learning one example at a time. */
#ifndef UC_TRAIN_ONLINE_H
#define UC_TRAIN_ONLINE_H

#include "learn/online.h"
#include "unconfuse/train.h"

/* Makes room for preprocessed rows of `features` columns, for all classes. */
uc_status uc_online_reserve(uc_online *self, size_t features);
/* Makes room for preprocessing raw rows of `columns` columns, and for their weights. */
uc_status uc_online_reserve_columns(uc_online *self, size_t columns);
/* Preprocesses a raw row; it becomes a landmark if the map is still growing. *out is valid until the next
 * row. */
uc_status uc_online_prepare_row(uc_row *out, uc_online *self, uc_row row);
/* Checks that rows declared as prepared have the width of the map's output; without a map, makes room for
 * them. */
uc_status uc_online_check_prepared(uc_online *self, const uc_matrix *X);
/* Both use self->scores, which must belong to `row`. */
uc_proposal uc_online_propose_scored(uc_online *self, uc_row row);
uc_status uc_online_learn_scored(uc_online *self, uc_row row, const uc_proposal *proposal, uc_answer answer,
                                 double weight);

/* ---- models ---- */

/* Replaces the weights and the mean of the iterates so far by their means over all processes, in which this
 * process counts with `share`; after the last pass the weights become those of the model. `status` is the
 * result of this process's pass; if any process failed, all fail. */
uc_status uc_online_mix(uc_online *self, double share, bool last, uc_status status,
                        const uc_context *context);

/* Writes the mean of the iterates (or the last one), the constant feature and the counts into a model of the
 * same shape. */
uc_status uc_online_write(uc_model *model, const uc_online *self);
/* Adds to the model what uc_online_resume needs. */
uc_status uc_online_write_state(uc_model *model, const uc_online *self);
/* Returns UC_ERR_DIVERGED if a weight is not a finite number. */
uc_status uc_model_check_finite(const uc_model *model);
/* Stores in the model how it was trained. */
uc_status uc_write_settings(uc_model *model, const uc_learner *learner, const void *settings,
                            const uc_train_settings *train);

#endif
