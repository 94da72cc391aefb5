/* Inside of the engine: what its thread and the jobs share. */
#ifndef SERVICE_ENGINE_INSIDE_H
#define SERVICE_ENGINE_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "service/engine.h"

struct class_list {
    atomic_int users;
    size_t count;
    char *names[];
};

/* A model, and what the engine knows of it. */
typedef struct entry {
    served *model;
    class_list *classes;
    int64_t snapshot; /* sequence of the newest one; 0: none */
    int64_t drift;    /* sequence of the last fall that the log has */
    bool touched;     /* by the transaction that is open */
    bool new;         /* defined in it */
    bool lost;        /* it could not be made again: try before the next request */
} entry;

struct engine {
    engine_settings settings;
    char *directory;
    int lock;        /* of the directory */
    journal *writes; /* the thread's own */
    journal *reads;  /* for engine_events, guarded by reading */
    pthread_mutex_t reading;
    entry **entries;
    size_t count;
    int64_t next_number;

    pthread_t thread;
    pthread_mutex_t mutex; /* of the queue */
    pthread_cond_t wakes;
    job *first, *last;
    bool stops;
    problem broken;     /* why the transaction that is open cannot be committed; status 0: it can */
    int64_t probed;     /* when a journal that cannot be written was tried again */
    problem unwritable; /* why the last commit failed; status 0: it did not */
    uint64_t commits, committed_rows;
    uint64_t open_rows;        /* of the transaction that is open */
    unsigned char random[512]; /* for ids */
    size_t random_left;
};

entry *engine_find(const engine *self, const char *name); /* or NULL */
/* The time of a new row of the model: never before its last one. */
int64_t engine_now(const served *model);
/* Performs a new row and adds it to the journal; its time is now unless it has one. */
bool engine_row(engine *self, entry *model, journal_row *row, problem *why);
class_list *class_list_make(const uc_names *classes);
void class_list_release(class_list *self); /* NULL is fine */

/* engine_jobs.c */
bool job_writes(const job *self);
void engine_run(engine *self, job *work);
/* Expires what has waited too long, by journal rows. */
bool engine_expire(engine *self, entry *model, problem *why);

/* engine_metrics.c */
void engine_metrics(const engine *self, job *work);

/* engine_snapshots.c */
bool engine_snapshot(engine *self, entry *model, problem *why);
bool engine_load(engine *self, entry *model, bool (*go_on)(void), problem *why);
json_t *engine_snapshot_list(engine *self, const entry *model);

#endif
