/* Inside of learning one example at a time. */
#ifndef UC_TRAIN_ONLINE_H
#define UC_TRAIN_ONLINE_H

#include "learn/online.h"
#include "unconfuse/train.h"

/* Room for prepared rows of `features` columns and for all classes. */
uc_status uc_online_reserve(uc_online *self, size_t features);
/* Rows of `columns` columns come: room to prepare them, and for their weights. */
uc_status uc_online_reserve_columns(uc_online *self, size_t columns);
/* A raw row as the weights see it; it becomes a landmark of a map that grows. Valid until the next row. */
uc_status uc_online_prepare_row(uc_row *out, uc_online *self, uc_row row);
/* Whether rows that are said to be prepared are as wide as the map makes them; without a map, room for
 * them. */
uc_status uc_online_check_prepared(uc_online *self, const uc_matrix *X);
/* Both from self->scores, which belong to `row`. */
uc_proposal uc_online_propose_scored(uc_online *self, uc_row row);
uc_status uc_online_learn_scored(uc_online *self, uc_row row, const uc_proposal *proposal, uc_answer answer,
                                 double weight);

/* ---- models ---- */

/* The weights, and the mean of the iterates so far, become the means over all processes, of which this one
 * counts `share`; after the last pass the weights are those of the model. `status`: how its pass went; all
 * fail when one does. */
uc_status uc_online_mix(uc_online *self, double share, bool last, uc_status status,
                        const uc_context *context);

/* The mean of the iterates (or the last), the constant feature and the counts, into a model of the same
 * shape. */
uc_status uc_online_write(uc_model *model, const uc_online *self);
/* What uc_online_resume needs besides, into the same model. */
uc_status uc_online_write_state(uc_model *model, const uc_online *self);
/* UC_ERR_DIVERGED when a weight is not a finite number. */
uc_status uc_model_check_finite(const uc_model *model);
/* What a model remembers of how it was trained. */
uc_status uc_write_settings(uc_model *model, const uc_learner *learner, const void *settings,
                            const uc_train_settings *train);

#endif
