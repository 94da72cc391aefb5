/* One model of the service: its learner, the proposals that wait for feedback, and its statistics. It knows
 * nothing about HTTP, threads or files.
 *
 * Everything that changes it is a journal row: a request becomes a row, and performing the row is the same
 * whether it is new or read from the journal. So the same rows give the same model. */
#ifndef SERVICE_SERVED_H
#define SERVICE_SERVED_H

#include "service/journal.h"
#include "service/waiting.h"

#define SERVED_NAME 64       /* longest name of a model, in bytes */
#define SERVED_ID 256        /* longest id of an event, in bytes */
#define SERVED_CONFUSION 100 /* largest number of classes for which confusion is counted */
#define SERVED_RECENT 1000   /* number of answers in the recent ratio */

/* The scaling of columns, learned as rows arrive. SHIFTS: zeros become other values, and rows are dense. */
typedef enum served_scaling { SERVED_UNSCALED, SERVED_SCALES, SERVED_SHIFTS } served_scaling;

typedef struct served {
    int64_t number;
    char name[SERVED_NAME + 1];
    json_t *definition; /* learner, classes, settings, mode, explore, expired */
    const uc_learner *learner;
    uc_online *online;
    uint64_t seed;
    uc_policy policy;

    dictionary names;
    served_scaling scaling;
    waiting waits;
    int64_t sequence, time; /* of the last row */

    uint64_t answered, right;
    uc_event_counts events;
    uint64_t *proposed;  /* of each class */
    uint64_t *confusion; /* label x proposed, if labels came; NULL: more than SERVED_CONFUSION classes */
    size_t class_room;   /* of both */
    char recent[SERVED_RECENT]; /* the last answers, in a ring */
    size_t recent_count, recent_at;
    uc_drift drift;
    int64_t drift_sequence; /* of the row at the last drift alarm; 0: none */

    uc_model *cached; /* for predictions; NULL: not made yet */
    bool stale;       /* a request failed half-way: it must be loaded from the journal again */
    uint64_t other;   /* rows whose results differed from the journal when they were performed again */
} served;

/* Accepts [a-z0-9][a-z0-9._-]{0,63} except the names of the journal's files; 400 otherwise. */
bool served_check_name(const char *name, problem *why);

served *served_create(int64_t number, const char *name);
void served_free(served *self); /* NULL is fine */

/* ---- rows ---- */

/* Performs a row; row->sequence must be the next one. In a new proposal (proposed UC_NONE) the classes and
 * the probability are filled in; one from the journal already has them. */
bool served_perform(served *self, journal_row *row, problem *why);

/* Checks a definition (the body of PUT) and completes it. *changed: it differs from the present one. 409: it
 * cannot follow the present one. *out belongs to the caller. */
bool served_define(json_t **out, bool *changed, const served *self, const json_t *body, problem *why);
/* Finds the position of a class; 400: there is none. */
bool served_class(uint32_t *out, const served *self, const char *name, problem *why);

const uc_names *served_classes(const served *self);
/* Computes class and scores (one per class) without an event. */
bool served_predict(uint32_t *class, double *scores, served *self, const features *given, problem *why);

/* ---- statistics ---- */

json_t *served_state(const served *self); /* as returned by GET */
double served_recent(const served *self); /* NaN: no answers yet */

/* ---- saving and restoring (served_keep.c) ---- */

/* Saves what is not in the model file. */
char *served_keep(const served *self); /* JSON; freed with free */
/* Restores from a model file and that text. The rows of waiting proposals come from the journal. */
bool served_restore(served *self, const uc_model *model, const char *kept, journal *from, problem *why);
/* Takes over the learner of `other`, which loses it; everything else stays. */
bool served_take_learner(served *self, served *other, problem *why);

#endif
