/* Training: a learner on a whole data set, or one example at a time. */
#ifndef UNCONFUSE_TRAIN_H
#define UNCONFUSE_TRAIN_H

#include "unconfuse/learn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a whole data set ---- */

/* `settings` is the learner's own struct, NULL for its defaults; `train` NULL for the defaults. Needs labels of
 * at least two classes. *out belongs to the caller. */
uc_status uc_train(uc_model **out, const uc_learner *learner, const void *settings,
                   const uc_train_settings *train, uc_dataset *data, const uc_context *context);

/* ---- one example at a time ---- */

/* Begins at zero weights. `classes` may be empty when feedback is full: uc_online_add_class grows it. Rows may
 * have any number of columns; the weights grow with the largest seen. `preprocessing` is what scaling was learned
 * beforehand (NULL: none); normalisation follows `train`. Of the maps there is `landmarks`, with a width: every row
 * becomes a landmark when it arrives, until there are enough; later landmarks count as 0 until then. */
uc_status uc_online_begin(uc_online **out, const uc_learner *learner, const void *settings,
                          const uc_train_settings *train, const uc_names *classes,
                          const uc_preprocessing *preprocessing);
/* Goes on exactly where the model's learner stopped; refuses a model without a learner's state. */
uc_status uc_online_resume(uc_online **out, const uc_model *model);
void uc_online_free(uc_online *self);
const uc_names *uc_online_classes(const uc_online *self);
const uc_learner *uc_online_learner(const uc_online *self);
uint64_t uc_online_rounds(const uc_online *self);    /* rounds learned from */
uint64_t uc_online_updates(const uc_online *self);   /* rounds that changed the weights */
uint64_t uc_online_proposals(const uc_online *self); /* since the very beginning */
bool uc_online_has_map(const uc_online *self);
/* The learner's own settings, uc_learner_settings_size bytes, where an `auto` is what it means for the rows and classes
 * so far. */
void uc_online_settings(void *settings, const uc_online *self);
/* Rows will have this many columns, of which this share is not 0 (uc_matrix_density; NaN: not known, the first row tells): what
 * is needed for them is allocated now. */
uc_status uc_online_expect(uc_online *self, size_t columns, double density);
uc_status uc_online_add_class(uint32_t *index, uc_online *self, const char *name);

/* What is to come, as far as it is known, for a look at the memory that it needs. */
typedef struct uc_online_ahead {
    size_t columns, classes;
    double density;    /* of the raw rows; NaN: not known */
    double row_bytes;  /* of a raw row, on average */
    double rounds;     /* INFINITY: not known */
    double waiting;    /* rows that wait for their feedback, as they are behind the map */
    double held_bytes; /* what the caller holds besides */
    bool saved;        /* a model with the learner's state will be made */
} uc_online_ahead;

/* UC_ERR_NOMEM, with the figures, when it needs more than the context's memory: before uc_online_begin, and later. */
uc_status uc_learner_check_memory(const uc_learner *learner, const void *settings,
                                  const uc_train_settings *train, const uc_online_ahead *ahead,
                                  const uc_context *context);
uc_status uc_online_check_memory(const uc_online *self, const uc_online_ahead *ahead,
                                 const uc_context *context);

/* Proposes a class for a raw row. */
uc_status uc_online_propose(uc_proposal *out, uc_online *self, const uc_row *row);
/* Learns from what came back. `row` is the one that the proposal was made for, now or rounds ago. */
uc_status uc_online_learn(uc_online *self, const uc_row *row, const uc_proposal *proposal, uc_answer answer);
/* The same in two steps, for rows that come in blocks or wait for their feedback: prepare as many rows as there are, in
 * the order in which they will be played, then propose and learn with the prepared ones. Behind a map this is faster
 * than one by one; the bits are the same. *out is a new matrix; columns that the scaling does not know are not in it. */
uc_status uc_online_prepare(uc_matrix *out, uc_online *self, const uc_matrix *rows,
                            const uc_context *context);
uc_status uc_online_propose_prepared(uc_proposal *out, uc_online *self, const uc_row *prepared);
uc_status uc_online_learn_prepared(uc_online *self, const uc_row *prepared, const uc_proposal *proposal,
                                   uc_answer answer);
/* The model so far; with_state: uc_online_resume can go on from it. */
uc_status uc_online_model(uc_model **out, const uc_online *self, bool with_state);

#ifdef __cplusplus
}
#endif

#endif
