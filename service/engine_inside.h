/* Internals of the engine: what its thread and the jobs share. */
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

/* A model, with the engine's data about it. */
typedef struct entry {
    served *model;
    class_list *classes;
    int64_t snapshot; /* sequence of the newest snapshot; 0: none */
    int64_t drift;    /* sequence of the last drift alarm that was logged */
    bool touched;     /* by the open transaction */
    bool new;         /* defined in the open transaction */
    bool lost;        /* could not be loaded again: tried before the next request */
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
    problem broken;     /* why the open transaction cannot be committed; status 0: it can */
    int64_t probed;     /* when an unwritable journal was last tried again */
    problem unwritable; /* why the last commit failed; status 0: it succeeded */
    uint64_t commits, committed_rows;
    uint64_t open_rows;        /* in the open transaction */
    unsigned char random[512]; /* for ids */
    size_t random_left;
};

entry *engine_find(const engine *self, const char *name); /* NULL if there is none */
/* The time of a new row of the model, which is never before that of its last row. */
int64_t engine_now(const served *model);
/* Performs a new row and adds it to the journal; its time is now unless it has one. */
bool engine_row(engine *self, entry *model, journal_row *row, problem *why);
class_list *class_list_make(const uc_names *classes);
void class_list_release(class_list *self); /* NULL is fine */

/* engine_jobs.c */
bool job_writes(const job *self);
void engine_run(engine *self, job *work);
/* Expires the proposals that have waited too long, by adding journal rows. */
bool engine_expire(engine *self, entry *model, problem *why);

/* engine_metrics.c */
void engine_metrics(const engine *self, job *work);

/* engine_snapshots.c */
bool engine_snapshot(engine *self, entry *model, problem *why);
bool engine_load(engine *self, entry *model, bool (*go_on)(void), problem *why);
json_t *engine_snapshot_list(engine *self, const entry *model);

#endif
