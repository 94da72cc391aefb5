/* Training: a learner on a whole data set, or one example at a time. */
#ifndef UNCONFUSE_TRAIN_H
#define UNCONFUSE_TRAIN_H

#include "unconfuse/learn.h"
#include "unconfuse/random.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a whole data set ---- */

/* `settings` is the learner's own struct, NULL for its defaults; `train` NULL for the defaults. The data need
 * labels of at least two classes. *out belongs to the caller. */
uc_status uc_train(uc_model **out, const uc_learner *learner, const void *settings,
                   const uc_train_settings *train, uc_dataset *data, const uc_context *context);

/* ---- one example at a time ---- */

/* A learner with zero weights.
 *
 * `classes` may be empty if labels are given as feedback: uc_online_add_class adds classes as they come. Rows
 * may have any number of columns; the weights grow with the widest row so far. `preprocessing` holds scaling
 * that was learned beforehand. NULL: there is none, unless train->scale asks for one: then it is learned as
 * rows arrive, and row t is scaled by what rows 1 to t say. Whether rows are scaled to unit length is taken
 * from `train`. The
 * only map is `landmarks`, and its kernel width must be given: every row that arrives becomes a landmark
 * until there are enough of them. The features of landmarks yet to come are 0. */
uc_status uc_online_begin(uc_online **out, const uc_learner *learner, const void *settings,
                          const uc_train_settings *train, const uc_names *classes,
                          const uc_preprocessing *preprocessing);
/* Continues exactly where the model's learner stopped. UC_ERR_INVALID if the model has no learner's state. */
uc_status uc_online_resume(uc_online **out, const uc_model *model);
void uc_online_free(uc_online *self);
const uc_names *uc_online_classes(const uc_online *self);
const uc_learner *uc_online_learner(const uc_online *self);
uint64_t uc_online_rounds(const uc_online *self);    /* rounds learned from */
uint64_t uc_online_updates(const uc_online *self);   /* rounds that changed the weights */
uint64_t uc_online_proposals(const uc_online *self); /* of this learner, from its very first round on */
bool uc_online_has_map(const uc_online *self);
/* Copies the learner's own settings (uc_learner_settings_size bytes). Every `auto` is replaced by the value
 * that it has for the rows and classes so far. */
void uc_online_settings(void *settings, const uc_online *self);
/* Allocates now what rows of this many columns need. `density` is the share of their values that are not 0
 * (uc_matrix_density); NaN: not known, it is taken from the first row. */
uc_status uc_online_expect(uc_online *self, size_t columns, double density);
/* *index: the class called `name`, which is added if it is new. */
uc_status uc_online_add_class(uint32_t *index, uc_online *self, const char *name);

/* What is known of the data to come, for an estimate of the memory that they need. */
typedef struct uc_online_ahead {
    size_t columns, classes;
    double density;    /* of the raw rows; NaN: not known */
    double row_bytes;  /* of a raw row, on average */
    double rounds;     /* INFINITY: not known */
    double waiting;    /* preprocessed rows that are kept until their feedback comes */
    double held_bytes; /* what the caller holds besides */
    bool saved;        /* a model with the learner's state will be made */
} uc_online_ahead;

/* UC_ERR_NOMEM, with the figures, if that is more than the context's memory. The first is for use before
 * uc_online_begin. */
uc_status uc_learner_check_memory(const uc_learner *learner, const void *settings,
                                  const uc_train_settings *train, const uc_online_ahead *ahead,
                                  const uc_context *context);
uc_status uc_online_check_memory(const uc_online *self, const uc_online_ahead *ahead,
                                 const uc_context *context);

/* Proposes a class for a raw row. */
uc_status uc_online_propose(uc_proposal *out, uc_online *self, const uc_row *row);
/* An exploration floor for any learner: with the probability `share`, from 0 to 1, the class of the last
 * proposal is replaced by one drawn evenly from all. proposal->probability becomes that with which the class
 * was drawn, all told. The draw depends on the seed and on the number of proposals so far; with _drawn it is
 * the caller's. Learn with the proposal as it is afterwards. */
void uc_online_explore(uc_proposal *proposal, const uc_online *self, double share);
void uc_online_explore_drawn(uc_proposal *proposal, const uc_online *self, double share, uc_rng *rng);
/* The scores that the last proposal was made from, one for each class; valid until the next call. */
const double *uc_online_scores(const uc_online *self);
/* The row of the last uc_online_propose as the weights saw it; valid until the next call. Copy it where
 * feedback comes later and the scaling is learned as rows arrive: uc_online_learn_prepared then learns with
 * the values that the proposal was made from, uc_online_learn with those of the scaling by then. */
uc_row uc_online_prepared(const uc_online *self);
/* Learns from the feedback. `row` is the one that the proposal was made for, in this round or an earlier
 * one. */
uc_status uc_online_learn(uc_online *self, const uc_row *row, const uc_proposal *proposal, uc_answer answer);
/* The same with preprocessing apart, for rows that come in blocks or wait for their feedback: prepare a block
 * of rows in the order of their rounds, then propose and learn with the prepared rows. With a map this is
 * faster than one row at a time, and the results have the same bits. *out is a new matrix, without columns
 * that the scaling does not know. */
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
