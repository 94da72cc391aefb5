/* Logged events for an evaluation: from a journal, a DSJSON file or a CSV file. */
#ifndef SERVICE_LOG_EVENTS_H
#define SERVICE_LOG_EVENTS_H

#include "service/features.h"

/* What was proposed for an example, with which probability, and whether it was right. */
typedef struct logged {
    features given;
    const char *class;
    double probability;
    bool right;
    const char *label; /* the true class, if it was given; NULL: not given */
    size_t classes;    /* number of classes that could have been proposed; 0: unknown */
    const char *other; /* of two classes, the one that was not proposed; NULL: unknown */
} logged;

typedef bool logged_fn(const logged *event, void *user);

typedef struct log_source {
    const char *path;   /* a directory of the service, or a file */
    const char *model;  /* in a directory */
    bool named;         /* CSV: columns of numbers keep their names, unless these are 1, 2, ... */
    const char *option; /* the option that names the model */
} log_source;

/* Visits every event that has an answer, oldest first; data that it points to are valid during the call.
 * *unanswered becomes the number of events without an answer. `visit` returns false to stop. */
bool log_events(const log_source *from, logged_fn *visit, void *user, uint64_t *unanswered, problem *why);

#endif
