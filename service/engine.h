/* All models of a directory, and the one thread that changes them.
 *
 * Requests are jobs in a queue. The thread takes all that wait, performs them in their order, commits the
 * journal once, and only then answers: one transaction for many requests. When the commit fails, nothing of
 * it has happened: the models that it touched are made again from the journal. */
#ifndef SERVICE_ENGINE_H
#define SERVICE_ENGINE_H

#include "service/served.h"

typedef struct engine_settings {
    const char *directory;
    journal_durability durability;
    int64_t wait;           /* milliseconds until a proposal without an answer expires */
    int64_t snapshot_every; /* rows */
    size_t keep_snapshots;
    size_t max_pending;  /* proposals of a model that may wait */
    const char *follows; /* the service whose journal this one copies; then nobody else changes it */
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
    JOB_METRICS,  /* bytes: the models' part */
    JOB_READY,
    JOB_FOLLOW, /* body: rows of another service's journal, as event_json has them; the first may be the last
                   that is here, which must be the same */
    JOB_LIVE    /* never performed: the name of a route */
} job_kind;

typedef struct job_item {
    char *id; /* propose: NULL is one to be made; owned */
    features given;
    char *bytes; /* canonical, of `given`; owned */
    size_t size;
    char *baseline, *label; /* owned; NULL: none */
    int answer;             /* journal_answer, of feedback */

    problem why; /* status 0: none */
    uint32_t class;
    double probability;
    double *scores; /* owned; NULL: not kept */
    int64_t sequence;
    bool repeated;
} job_item;

typedef struct job {
    job_kind kind;
    char model[SERVED_NAME + 1];
    json_t *body;
    int64_t sequence; /* asked for; then, at which it was performed */
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

/* Opens the directory, which is made if it is not there, and every model in it. `go_on` is asked now and
 * then; false stops with status 0 in *why. */
bool engine_open(engine **out, const engine_settings *settings, bool (*go_on)(void), problem *why);
/* Answers what is queued, takes snapshots, and ends. NULL is fine. */
void engine_close(engine *self);
/* The job is the caller's again when `done` is called. */
void engine_submit(engine *self, job *work);
/* The same for a caller that waits. */
void engine_perform(engine *self, job *work);
/* Rows of the journal for whoever reads; `visit` is called by the caller's thread. 404: no such model. */
bool engine_events(engine *self, const char *model, int64_t after, int64_t limit, journal_row_fn *visit,
                   void *user, problem *why);

/* The definitions of the model up to row `last`. */
bool engine_definitions(engine *self, const char *model, int64_t last, journal_row_fn *visit, void *user,
                        problem *why);

/* Opens a directory for reading only, as commands do. */
bool directory_journal(journal **out, const char *directory, problem *why);
/* The number of a model; 404. Without a name it is the only one that there is; else 400, and *why says
 * which there are. */
bool directory_model(int64_t *number, journal *from, const char *name, problem *why);
/* A model as after its row `last`, from the newest snapshot that holds and the rows after it. *snapshot: its
 * sequence, 0: none. */
bool directory_load(served **out, int64_t *snapshot, journal *from, const char *directory, int64_t number,
                    const char *name, int64_t last, bool (*go_on)(void), problem *why);

#endif
