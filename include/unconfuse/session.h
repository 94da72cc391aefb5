/* A session: an online learner goes through a stream of examples. In each round it proposes a class, gets
 * feedback, and learns.
 *
 *   uc_first_look   what must be known about the data before the first round: classes, columns, scaling,
 *                   kernel width
 *   uc_session      the rounds: their order, which feedback comes back and when, and how often the learner
 *                   was right
 *
 * A session replays labelled examples from a file or from memory. A program whose feedback comes from outside
 * calls uc_online_propose and uc_online_learn itself. */
#ifndef UNCONFUSE_SESSION_H
#define UNCONFUSE_SESSION_H

#include "unconfuse/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the first look ---- */

typedef struct uc_first_look {
    uc_names classes; /* sorted as a data set has them */
    size_t rows, columns;
    double density;           /* share of values that are not 0, in the first 1,000 rows; NaN: not known */
    double row_bytes;         /* of an example on average */
    uc_preprocessing scaling; /* empty unless train->scale asks for scaling */
    double width; /* of train->map's Gaussian kernel; the median if found here; NaN: no such kernel */
} uc_first_look;  /* uc_first_look_none() is for data that can be read only once */

uc_first_look uc_first_look_none(void);
/* Makes one pass over a file, in constant memory. Of `train`, only scale, normalize_input, map and seed are
 * used. A median width is computed from 2,000 examples drawn evenly, after scaling, so it is the same for a
 * file and for its examples in memory. */
uc_status uc_first_look_at_file(uc_first_look *out, const char *path, const uc_read_settings *read,
                                const uc_train_settings *train, const uc_context *context);
/* The same for examples in memory. Data without class names have no classes. */
uc_status uc_first_look_at_data(uc_first_look *out, const uc_dataset *data, const uc_train_settings *train,
                                const uc_context *context);
void uc_first_look_free(uc_first_look *self);

/* ---- what happens around proposals ---- */

/* Rules that are shared by a session, a service, and a program that calls a learner directly. */
typedef struct uc_policy {
    bool apprentice;       /* where an example has a baseline, propose and judge that     (false) */
    double explore;        /* share of the other proposals drawn evenly: uc_online_explore  (0) */
    bool expired_is_wrong; /* an event that expires counts as "wrong" for the learner    (false) */
} uc_policy;

typedef struct uc_event_counts {
    uint64_t proposals, expired;
    uint64_t compared, agreed; /* proposals with a baseline, and those where the learner agreed with it */
} uc_event_counts;

/* Call after uc_online_propose: decides the class that is proposed, and its probability. `baseline` is a
 * position among the learner's classes; UC_NONE: there is none. If `rng` is NULL, draws depend on the seed
 * and the number of proposals. Learn with the proposal as this call leaves it. */
void uc_policy_propose(uc_proposal *proposal, uc_event_counts *counts, const uc_policy *self,
                       const uc_online *online, uint32_t baseline, uc_rng *rng);
/* Turns an answer into one that the learner can use; label UC_NONE: only right or wrong is known. Returns
 * false if the learner cannot use it, such as "wrong" for a learner that needs labels. */
bool uc_policy_answer(uc_answer *out, const uc_online *online, const uc_proposal *proposal, bool right,
                      uint32_t label);
/* The same for an event that expires without an answer. */
bool uc_policy_expire(uc_answer *out, uc_event_counts *counts, const uc_policy *self, const uc_online *online,
                      const uc_proposal *proposal);

/* ---- sessions ---- */

typedef struct uc_session uc_session;

/* What happened in one round. */
typedef struct uc_session_round {
    uint64_t number;   /* of this session, from 1 */
    uint32_t proposed; /* position among the learner's classes; UC_NONE: it had no class yet */
    bool right;
    double probability; /* with which the class was drawn; 1 if the learner does not explore */
} uc_session_round;

/* Called after every round; a status other than UC_OK ends the session with that status. */
typedef uc_status uc_round_fn(const uc_session_round *round, void *user);

typedef struct uc_session_settings {
    int feedback;          /* uc_feedback: the label, right or wrong, or both         (full) */
    uint64_t delay;        /* rounds until feedback comes                             (0) */
    double missing;        /* probability that feedback never comes                      (0) */
    bool add_classes;      /* an unknown label becomes a new class; with right/wrong feedback only after
                              its first round  (false) */
    bool saved;            /* a model will be made, so its memory is included in the check  (false) */
    double held_bytes;     /* bytes held by the caller, such as examples in memory         (0) */
    const char *source;    /* what messages call the data; borrowed                        (NULL: nothing) */
    const char *classes;   /* what messages call the classes; borrowed                (NULL: "the classes") */
    uc_round_fn *on_round; /*                                                         (NULL) */
    void *user;            /* passed to on_round */
    double flips[2];       /* share of right proposals answered "wrong", and of wrong ones "right"   (0, 0) */
    double label_share;    /* mixed feedback: share of "wrong" answers that come with the label   (0) */
    uc_policy policy;      /*                                                         ({0}) */
    uint64_t expire;       /* rounds after which an event without feedback expires    (0: never) */
    const uc_model *baseline; /* proposes a baseline for every example; borrowed              (NULL) */
} uc_session_settings;

/* Creates a learner for data that were looked at, and a session with it. `passes`, the number of passes to
 * come, is only used to estimate the memory. The other arguments are those of uc_online_begin. *out belongs
 * to the caller; everything else may be freed after the call. */
uc_status uc_session_begin(uc_session **out, const uc_learner *learner, const void *settings,
                           const uc_train_settings *train, const uc_session_settings *session,
                           const uc_first_look *look, uint64_t passes, const uc_context *context);
/* A session that continues with an existing learner, which remains the caller's and must outlive the session.
 * Random orders and missing feedback continue where the learner's last session ended. */
uc_status uc_session_continue(uc_session **out, uc_online *online, const uc_session_settings *session,
                              const uc_context *context);
void uc_session_free(uc_session *self);               /* NULL is fine */
uc_online *uc_session_online(const uc_session *self); /* borrowed */

/* Makes `passes` passes over a file in its order. */
uc_status uc_session_run_file(uc_session *self, const char *path, const uc_read_settings *read,
                              uint64_t passes);
/* Makes `passes` passes over examples in memory; shuffled: each in a new random order, by the learner's seed.
 * Labels are positions in data->classes, whatever the order of the learner's classes. */
uc_status uc_session_run_data(uc_session *self, const uc_dataset *data, uint64_t passes, bool shuffled);
/* Runs one round for each of rows[0..count) of X (NULL: rows 0 to count-1). Labels are positions among the
 * learner's classes. prepared: the rows are already preprocessed (uc_online_prepare). */
uc_status uc_session_run_rows(uc_session *self, const uc_matrix *X, const uint32_t *labels,
                              const size_t *rows, size_t count, bool prepared);
/* The same with weights, one for every row of X (NULL: all are 1), which scale the learner's update. A row of
 * weight 0 gets no round. */
uc_status uc_session_run_weighted(uc_session *self, const uc_matrix *X, const uint32_t *labels,
                                  const double *weights, const size_t *rows, size_t count, bool prepared);
/* Delivers the feedback that is still delayed. */
uc_status uc_session_finish(uc_session *self);

/* ---- what happened ---- */

typedef struct uc_session_counts {
    uint64_t rounds, correct;
    uint64_t updates;       /* rounds that changed the weights */
    uint64_t rounds_before; /* of earlier sessions with the same learner */
    uc_event_counts events;
} uc_session_counts;
uc_session_counts uc_session_count(const uc_session *self);

/* A point of the learning curve: rounds 1, 2, 4, ... and the last. */
typedef struct uc_session_point {
    uint64_t round;
    double ratio_correct; /* of all rounds so far */
    double recent_ratio;  /* since the previous point */
} uc_session_point;
const uc_session_point *uc_session_curve(size_t *count, uc_session *self);

/* The i-th label: first the learner's classes in their order, then the labels that it does not know. Returns
 * false past the end. */
typedef struct uc_session_label {
    const char *name;
    bool known; /* it is the learner's class i */
    uint64_t examples, correct, proposed;
} uc_session_label;
bool uc_session_label_at(uc_session_label *out, const uc_session *self, size_t i);

/* ---- drift ---- */

#define UC_DRIFT_LEVELS 40
#define UC_DRIFT_PER_LEVEL 6

/* Detects whether the share of right proposals has fallen, by ADWIN on the right/wrong bits. It needs
 * constant memory and no choice of a window. It consists of plain numbers: copy it to save it. */
typedef struct uc_drift {
    uint64_t rounds;                                    /* rounds so far */
    uint64_t alarms;                                    /* falls found */
    uint64_t round;                                     /* of the last alarm; 0: none */
    double before, after;                               /* the shares of right rounds on both sides of it */
    uint64_t width, right;                              /* of the window, in which the share is steady */
    uint64_t sums[UC_DRIFT_LEVELS][UC_DRIFT_PER_LEVEL]; /* private: of 1, 2, 4, ... bits, the oldest first */
    uint32_t counts[UC_DRIFT_LEVELS];
} uc_drift; /* zero-initialised is empty */

/* Adds one bit. Returns true if the share has fallen; a rise moves the window but is no alarm. */
bool uc_drift_add(uc_drift *self, bool right);

#ifdef __cplusplus
}
#endif

#endif
