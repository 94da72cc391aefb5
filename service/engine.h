/* All models of a directory, and the one thread that changes them.
 *
 * Requests are jobs in a queue. The thread takes all waiting jobs, performs them in order, commits the
 * journal once, and only then answers: one transaction for many requests. If the commit fails, none of it has
 * happened: the models that it touched are loaded from the journal again. */
#ifndef SERVICE_ENGINE_H
#define SERVICE_ENGINE_H

#include "service/served.h"

typedef struct engine_settings {
    const char *directory;
    journal_durability durability;
    int64_t wait;           /* milliseconds after which a proposal without an answer expires */
    int64_t snapshot_every; /* rows */
    size_t keep_snapshots;
    size_t max_pending;  /* waiting proposals per model */
    const char *follows; /* the service whose journal this one copies; nothing else then changes it */
} engine_settings;

/* The names of classes at the time of a job, as JSON strings with their quotes; shared. */
typedef struct class_list class_list;
size_t class_list_count(const class_list *self);
const char *class_list_name(const class_list *self, size_t i);

typedef enum job_kind {
    JOB_PUT,      /* body; status 201 or 200 */
    JOB_LIST,     /* json */
    JOB_STATE,    /* json */
    JOB_PROPOSE,  /* items */
    JOB_FEEDBACK, /* items */
    JOB_PREDICT,  /* items */
    JOB_MODEL,    /* bytes */
    JOB_SNAPSHOT, /* json */
    JOB_ROLLBACK, /* sequence; json */
    JOB_METRICS,  /* bytes: the part with the models' metrics */
    JOB_READY,
    JOB_FOLLOW, /* body: rows of another service's journal, as in event_json; the first may be the last row
                   that is already here, and must then be equal */
    JOB_LIVE    /* never performed: the name of a route */
} job_kind;

typedef struct job_item {
    char *id; /* propose: NULL: to be generated; owned */
    features given;
    char *bytes; /* canonical bytes of `given`; owned */
    size_t size;
    char *baseline, *label; /* owned; NULL: none */
    int answer;             /* journal_answer, of feedback */

    problem why; /* status 0: none */
    uint32_t class;
    double probability;
    double *scores; /* owned; NULL: not stored */
    int64_t sequence;
    bool repeated;
} job_item;

typedef struct job {
    job_kind kind;
    char model[SERVED_NAME + 1];
    json_t *body;
    int64_t sequence; /* requested; afterwards, that at which it was performed */
    job_item *items;
    size_t count;
    void (*done)(struct job *self, void *user); /* called by the engine's thread */
    void *user;

    problem why; /* of the whole job; status 0: none */
    int status;
    json_t *json;
    char *bytes; /* freed with uc_model_memory_free if `is_model`, else with free */
    size_t size;
    bool is_model;
    class_list *classes;
    struct job *next;
} job;

job *job_create(job_kind kind, const char *model, size_t items);
void job_free(job *self); /* NULL is fine */

typedef struct engine engine;

/* Opens the directory, which is created if it does not exist, and every model in it. `go_on` is called now
 * and then; if it returns false, opening stops with status 0 in *why. */
bool engine_open(engine **out, const engine_settings *settings, bool (*go_on)(void), problem *why);
/* Answers the queued jobs, takes snapshots, and ends. NULL is fine. */
void engine_close(engine *self);
/* The job belongs to the caller again when `done` is called. */
void engine_submit(engine *self, job *work);
/* The same, but waits until the job is done. */
void engine_perform(engine *self, job *work);
/* Reads rows of the journal; `visit` is called in the caller's thread. 404: no such model. */
bool engine_events(engine *self, const char *model, int64_t after, int64_t limit, journal_row_fn *visit,
                   void *user, problem *why);

/* Visits the definitions of the model up to row `last`. */
bool engine_definitions(engine *self, const char *model, int64_t last, journal_row_fn *visit, void *user,
                        problem *why);

/* Opens a directory for reading only, as some commands do. */
bool directory_journal(journal **out, const char *directory, problem *why);
/* Finds the number of a model; 404 if there is none. Without a name, the directory must have a single model;
 * otherwise 400, and *why lists the models. */
bool directory_model(int64_t *number, journal *from, const char *name, problem *why);
/* Loads a model as it was after row `last`, from the newest valid snapshot and the rows after it. *snapshot:
 * its sequence; 0: none. */
bool directory_load(served **out, int64_t *snapshot, journal *from, const char *directory, int64_t number,
                    const char *name, int64_t last, bool (*go_on)(void), problem *why);

#endif
