/* The service, as commands run it. */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include <stdint.h>

#include "app/program.h"

typedef struct service_settings {
    const char *directory;
    const char *listen;            /* 127.0.0.1:8470 */
    const char *token_file;        /* NULL: none */
    const char *certificate, *key; /* NULL: no TLS */
    int crash_only;                /* --durability crash */
    const char *wait;              /* 7d */
    const char *request_time;      /* 60s */
    uint64_t snapshot_every, keep_snapshots, max_body, max_pending;
    const char *follow, *follow_token; /* another service's URL, and the file with its token; NULL: none */
    /* A model to be created if it does not exist, and its definition as JSON; NULL: none. */
    const char *model, *definition;
} service_settings;

/* Serves until SIGTERM or SIGINT. */
uc_status service_run(const service_settings *settings);
/* Where events are written. `write` returns false to stop, and sets its own message. */
typedef struct service_export {
    const char *format; /* csv, jsonl, dsjson or training */
    bool (*write)(const char *bytes, size_t size, void *user);
    void *user;
} service_export;
/* Writes the events of a model, oldest first. */
uc_status service_journal(const char *directory, const char *model, const service_export *to);

/* Logged events as training examples: a CSV file with the columns class, weight and the features. The format
 * in `to` is ignored. */
typedef struct service_training {
    const char *path;  /* a directory, or a file */
    const char *model; /* in a directory; NULL: none */
} service_training;
typedef struct service_trained {
    uint64_t events, unanswered; /* with an answer, and without */
    uint64_t examples;           /* events whose class the answer reveals */
    size_t classes;              /* among the examples */
    double effective;            /* the number of equal examples with the same information */
    bool explored;               /* some probability is below 1 */
    bool labelled;               /* the true class was given for some wrong proposals */
    char *types; /* "NAME=TYPE,..." of features named like ids; the caller frees it; NULL: none */
} service_trained;
uc_status service_training_write(service_trained *out, const service_training *asked,
                                 const service_export *to);

/* Evaluates another learner on logged events. */
typedef struct service_replay {
    const char **paths; /* directories and files */
    size_t count;
    const char *model;       /* in the directories; NULL: none */
    const uc_names *classes; /* NULL: those in the log */
    const uc_learner *learner;
    const void *learner_settings; /* NULL: its defaults */
    const uc_train_settings *train;
} service_replay;
/* An estimate of the ratio of right proposals with its 95 percent interval; NaN if there is none. */
typedef struct service_value {
    double estimate, low, high;
} service_value;
typedef struct service_replayed {
    uint64_t events, unanswered, agreed;
    double logged;            /* the ratio in the log itself */
    double effective;         /* the effective sample size */
    double least_probability; /* in the log */
    service_value replay, ips, snips, dr;
} service_replayed;
uc_status service_replay_run(service_replayed *out, const service_replay *asked);

#endif
