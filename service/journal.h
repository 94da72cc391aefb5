/* The journal: every event of every model, in order, in one SQLite file. The only user of sqlite3.h.
 *
 * A model has a number; its rows have sequence numbers from 1 without gaps. Rows are added in transactions:
 * after journal_commit has returned true they are on disk, as far as the chosen durability guarantees it. A
 * journal is used by one thread at a time. */
#ifndef SERVICE_JOURNAL_H
#define SERVICE_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "service/problem.h"

typedef enum journal_durability { JOURNAL_POWER, JOURNAL_CRASH, JOURNAL_READ_ONLY } journal_durability;

typedef enum journal_kind {
    JOURNAL_DEFINE = 1, /* the model's definition, or a changed one: `text` is JSON */
    JOURNAL_PROPOSAL,
    JOURNAL_FEEDBACK,
    JOURNAL_EXPIRY,
    JOURNAL_ROLLBACK /* `event`: the sequence to which the learner was reset */
} journal_kind;

typedef enum journal_answer { JOURNAL_WRONG = 0, JOURNAL_RIGHT = 1, JOURNAL_NO_ANSWER = 2 } journal_answer;

typedef struct journal_row {
    int64_t model, sequence;
    journal_kind kind;
    int64_t time;         /* milliseconds since 1970; never less than in the row before */
    int64_t event;        /* feedback, expiry: the sequence of the proposal; 0: none */
    const char *id;       /* of a proposal; NULL: none */
    const void *features; /* of a proposal: features.h */
    size_t features_size;
    uint32_t proposed;  /* the class that was proposed; UC_NONE: none */
    uint32_t favourite; /* the learner's own best class */
    double probability; /* with which the class was proposed */
    int answer;         /* journal_answer */
    uint32_t label;     /* given by the feedback; UC_NONE: none */
    const char *text;   /* JSON; NULL: none */
} journal_row;

typedef struct journal journal;

/* Opens or creates the file. The directory must exist. */
bool journal_open(journal **out, const char *path, journal_durability durability, problem *why);
void journal_close(journal *self); /* NULL is fine */

/* Adding begins a transaction if there is none. After a failure, nothing of the transaction is stored. 507:
 * the disk is full; 503: any other reason. */
bool journal_add(journal *self, const journal_row *row, problem *why);
bool journal_commit(journal *self, problem *why);
void journal_abandon(journal *self);
bool journal_is_writable(journal *self, problem *why); /* tries a small write and undoes it */

/* Visits the models by number. */
typedef bool journal_model_fn(int64_t number, const char *name, void *user);
bool journal_models(journal *self, journal_model_fn *visit, void *user, problem *why);
/* Adds a model, in the transaction. */
bool journal_add_model(journal *self, int64_t number, const char *name, problem *why);

/* Visits the rows after `after` up to `last` in order; data that a row points to are valid during the
 * call. */
typedef bool journal_row_fn(const journal_row *row, void *user);
bool journal_each(journal *self, int64_t model, int64_t after, int64_t last, journal_row_fn *visit,
                  void *user, problem *why);
/* Visits the definitions among rows 1 to `last`. */
bool journal_definitions(journal *self, int64_t model, int64_t last, journal_row_fn *visit, void *user,
                         problem *why);
/* Gets the last sequence; 0: no rows. */
bool journal_last(int64_t *out, journal *self, int64_t model, problem *why);
/* Gets the sequence of the proposal with this id; 0: there is none. */
bool journal_find(int64_t *sequence, journal *self, int64_t model, const char *id, problem *why);
/* Passes the feedback or expiry of a proposal to `visit`, which is not called if there is none. */
bool journal_find_answer(journal *self, int64_t model, int64_t event, journal_row_fn *visit, void *user,
                         problem *why);

/* Snapshots: what the service saves in addition to the model file of that sequence. Each call is a
 * transaction. */
bool journal_add_snapshot(journal *self, int64_t model, int64_t sequence, const char *state, problem *why);
bool journal_remove_snapshot(journal *self, int64_t model, int64_t sequence, problem *why);
typedef bool journal_snapshot_fn(int64_t sequence, const char *state, void *user);
/* Visits those up to `last`, the newest first; `visit` returns false to stop. */
bool journal_snapshots(journal *self, int64_t model, int64_t last, journal_snapshot_fn *visit, void *user,
                       problem *why);

#endif
