/* One model of the service: its learner, the proposals that wait, and what it has seen. It knows nothing of
 * HTTP, threads or files.
 *
 * Everything that changes it is a journal row: a request becomes a row, and performing the row is the same
 * whether it is new or read from the journal. So the same rows give the same model. */
#ifndef SERVICE_SERVED_H
#define SERVICE_SERVED_H

#include "service/journal.h"
#include "service/waiting.h"

#define SERVED_NAME 64       /* longest name of a model */
#define SERVED_ID 256        /* longest id of an event */
#define SERVED_CONFUSION 100 /* classes of which the confusion is counted, at most */
#define SERVED_RECENT 1000   /* answers that the recent ratio is of */

/* Of the columns, learned as rows come. SHIFTS: zeros become other values, and rows are dense. */
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
    uint64_t *confusion; /* label x proposed, where labels came; NULL: more classes than SERVED_CONFUSION */
    size_t class_room;   /* of both */
    char recent[SERVED_RECENT]; /* the last answers, a ring */
    size_t recent_count, recent_at;
    uc_drift drift;
    int64_t drift_sequence; /* of the row that the last fall was found at; 0: none */

    uc_model *cached; /* for predictions; NULL: to be made */
    bool stale;       /* a request failed half-way: it must be made again from the journal */
    uint64_t other;   /* rows performed again that came out differently than the journal has them */
} served;

/* [a-z0-9][a-z0-9._-]{0,63}, and no name of the journal's files; 400 otherwise. */
bool served_check_name(const char *name, problem *why);

served *served_create(int64_t number, const char *name);
void served_free(served *self); /* NULL is fine */

/* ---- rows ---- */

/* Performs a row; row->sequence must be the next one. A new proposal (proposed UC_NONE) gets its classes and
 * probability filled in; for one from the journal they are what it says. */
bool served_perform(served *self, journal_row *row, problem *why);

/* Checks a definition (the body of PUT) and makes it complete. *changed: it differs from the present one.
 * 409: it cannot follow the present one. *out belongs to the caller. */
bool served_define(json_t **out, bool *changed, const served *self, const json_t *body, problem *why);
/* The position of a class; 400: there is none. */
bool served_class(uint32_t *out, const served *self, const char *name, problem *why);

const uc_names *served_classes(const served *self);
/* Class and scores (one for each class) without an event. */
bool served_predict(uint32_t *class, double *scores, served *self, const features *given, problem *why);

/* ---- what it has seen ---- */

json_t *served_state(const served *self); /* as GET shows it */
double served_recent(const served *self); /* NaN: no answers yet */

/* ---- keeping (served_keep.c) ---- */

/* What is not in the model file. */
char *served_keep(const served *self); /* JSON; freed with free */
/* Back from a model file's bytes and that text. The rows of proposals that wait come from the journal. */
bool served_restore(served *self, const uc_model *model, const char *kept, journal *from, problem *why);
/* The learner of `other`, which loses it, instead of its own: all else stays. */
bool served_take_learner(served *self, served *other, problem *why);

#endif
