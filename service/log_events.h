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
    const char *label; /* the true class, where it was given; NULL: it was not */
    size_t classes;    /* that could have been proposed; 0: not known */
    const char *other; /* of two classes, the one that was not proposed; NULL: not known */
} logged;

typedef bool logged_fn(const logged *event, void *user);

typedef struct log_source {
    const char *path;   /* a directory of the service, or a file */
    const char *model;  /* of a directory */
    bool named;         /* CSV: columns of numbers keep their names, unless these are 1, 2, ... */
    const char *option; /* that says the model */
} log_source;

/* Every event that has an answer, oldest first; what it points to is valid during the call. *unanswered: how
 * many have none. `visit` returns false to stop. */
bool log_events(const log_source *from, logged_fn *visit, void *user, uint64_t *unanswered, problem *why);

#endif
