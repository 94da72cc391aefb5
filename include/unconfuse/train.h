/* Training: on a whole data set, or one example at a time. */
#ifndef UNCONFUSE_TRAIN_H
#define UNCONFUSE_TRAIN_H

#include "unconfuse/learn.h"
#include "unconfuse/random.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a whole data set ---- */

/* `settings` is the learner's own struct (NULL: its defaults); `train` may be NULL for the defaults. The data
 * need labels of at least two classes. *out belongs to the caller. */
uc_status uc_train(uc_model **out, const uc_learner *learner, const void *settings,
                   const uc_train_settings *train, uc_dataset *data, const uc_context *context);

/* ---- one example at a time ---- */

/* Creates a learner with zero weights.
 *
 * `classes` may be empty if labels are given as feedback: uc_online_add_class adds classes as they come. Rows
 * may have any number of columns; the weights grow with the widest row so far. `preprocessing` holds scaling
 * that was learned beforehand. If it is NULL, there is no scaling unless train->scale asks for one: it is
 * then learned as rows arrive, and row t is scaled by the statistics of rows 1 to t. Whether rows are scaled
 * to unit length is taken from `train`. The only possible map is `landmarks`, and its kernel width must be
 * given: every row that arrives becomes a landmark until there are enough of them. The features of landmarks
 * yet to come are 0. */
uc_status uc_online_begin(uc_online **out, const uc_learner *learner, const void *settings,
                          const uc_train_settings *train, const uc_names *classes,
                          const uc_preprocessing *preprocessing);
/* Continues exactly where the model's learner stopped. Returns UC_ERR_INVALID if the model has no learner's
 * state. */
uc_status uc_online_resume(uc_online **out, const uc_model *model);
void uc_online_free(uc_online *self);
const uc_names *uc_online_classes(const uc_online *self);
const uc_learner *uc_online_learner(const uc_online *self);
uint64_t uc_online_rounds(const uc_online *self);    /* rounds learned from */
uint64_t uc_online_updates(const uc_online *self);   /* rounds that changed the weights */
uint64_t uc_online_proposals(const uc_online *self); /* by this learner since its very first round */
bool uc_online_has_map(const uc_online *self);
/* Copies the learner's own settings (uc_learner_settings_size bytes). Every `auto` is replaced by its value
 * for the rows and classes so far. */
void uc_online_settings(void *settings, const uc_online *self);
/* Allocates in advance what rows of this many columns need. `density` is the share of their values that are
 * not 0 (uc_matrix_density); if it is NaN, it is taken from the first row. */
uc_status uc_online_expect(uc_online *self, size_t columns, double density);
/* *index becomes the position of the class `name`, which is added if it is new. */
uc_status uc_online_add_class(uint32_t *index, uc_online *self, const char *name);

/* What is known about the data to come, for an estimate of the memory that the learner will need. */
typedef struct uc_online_ahead {
    size_t columns, classes;
    double density;    /* of the raw rows; NaN: not known */
    double row_bytes;  /* of a raw row, on average */
    double rounds;     /* INFINITY: not known */
    double waiting;    /* preprocessed rows that are kept until their feedback arrives */
    double held_bytes; /* held by the caller in addition */
    bool saved;        /* a model with the learner's state will be made */
} uc_online_ahead;

/* Return UC_ERR_NOMEM, with the figures in the message, if the estimate exceeds the context's memory. Call
 * the first before uc_online_begin. */
uc_status uc_learner_check_memory(const uc_learner *learner, const void *settings,
                                  const uc_train_settings *train, const uc_online_ahead *ahead,
                                  const uc_context *context);
uc_status uc_online_check_memory(const uc_online *self, const uc_online_ahead *ahead,
                                 const uc_context *context);

/* Proposes a class for a raw row. */
uc_status uc_online_propose(uc_proposal *out, uc_online *self, const uc_row *row);
/* Adds exploration to any learner: with probability `share`, from 0 to 1, the class of the last proposal is
 * replaced by one drawn evenly from all. proposal->probability becomes the total probability with which the
 * resulting class was drawn. The draw depends on the seed and on the number of proposals so far; with _drawn
 * it comes from the caller's generator. Learn with the proposal as this call leaves it. */
void uc_online_explore(uc_proposal *proposal, const uc_online *self, double share);
void uc_online_explore_drawn(uc_proposal *proposal, const uc_online *self, double share, uc_rng *rng);
/* The scores behind the last proposal, one for each class; valid until the next call. */
const double *uc_online_scores(const uc_online *self);
/* The preprocessed row of the last uc_online_propose; valid until the next call. If feedback comes later and
 * the scaling is learned as rows arrive, keep a copy: uc_online_learn_prepared then learns with the values
 * that the proposal was made from, whereas uc_online_learn would apply the scaling of that later time. */
uc_row uc_online_prepared(const uc_online *self);
/* Learns from the feedback. `row` is the one that the proposal was made for, in this round or an earlier
 * one. */
uc_status uc_online_learn(uc_online *self, const uc_row *row, const uc_proposal *proposal, uc_answer answer);
/* The same with separate preprocessing, for rows that come in blocks or wait for their feedback: prepare a
 * block of rows in the order of their rounds, then propose and learn with the prepared rows. With a map this
 * is faster than one row at a time, and the results have the same bits. *out is a new matrix, without the
 * columns that the scaling does not know. */
uc_status uc_online_prepare(uc_matrix *out, uc_online *self, const uc_matrix *rows,
                            const uc_context *context);
uc_status uc_online_propose_prepared(uc_proposal *out, uc_online *self, const uc_row *prepared);
uc_status uc_online_learn_prepared(uc_online *self, const uc_row *prepared, const uc_proposal *proposal,
                                   uc_answer answer);
/* The model so far. with_state: uc_online_resume can continue from it. */
uc_status uc_online_model(uc_model **out, const uc_online *self, bool with_state);

#ifdef __cplusplus
}
#endif

#endif
