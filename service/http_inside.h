/* Internals of http, shared by its files. */
#ifndef SERVICE_HTTP_INSIDE_H
#define SERVICE_HTTP_INSIDE_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "service/http.h"
#include "service/latency.h"
#include "service/live.h"

#define THREADS 2

/* Serves some of the connections. All calls for these are made in the worker's thread. */
typedef struct worker {
    http *owner;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    int wake; /* an eventfd: there are connections to resume, or the thread is to end */
    atomic_bool ends;
    pthread_mutex_t mutex;
    struct suspended *resumed;
    struct client *clients; /* all connected clients */
    bool left;              /* a client has left since the daemon was last run */
    double swept;           /* when deadlines were last checked */
} worker;

/* A connection, for as long as it is open. */
typedef struct client {
    int socket;
    double deadline; /* when it is closed, regardless of its state; INFINITY: never */
    struct client *next, *previous;
} client;

/* A connection that waits for something other than its client. */
typedef struct suspended {
    worker *worker;
    struct MHD_Connection *connection;
    struct suspended *next;
} suspended;

struct http {
    worker workers[THREADS];
    int count; /* number of running workers */
    engine *engine;
    char *token;
    size_t max_body;
    double request_seconds; /* from the first byte of a request to the last of its body */
    atomic_bool stops;
    atomic_int busy;     /* requests that have not been answered yet */
    atomic_int queued;   /* those of them that are in the engine */
    atomic_int watching; /* dashboards */
    latency times;
    live *live;
    pthread_mutex_t viewers_mutex;
    struct viewer *viewers; /* those that wait for the next message */
    char address[80];
};

double http_seconds(void); /* by a clock that is never set */

/* http.c: called by the daemons. */
enum MHD_Result http_handle(void *user, struct MHD_Connection *connection, const char *path,
                            const char *method, const char *version, const char *upload, size_t *upload_size,
                            void **state);
void http_end_exchange(void *user, struct MHD_Connection *connection, void **state,
                       enum MHD_RequestTerminationCode how);

/* http_workers.c */
/* Checks that the certificate and the key are valid; 503. */
bool workers_check(const http_settings *settings, problem *why);
/* 400: the address cannot be listened on. */
bool workers_start(http *self, const http_settings *settings, const struct sockaddr_storage *address,
                   problem *why);
void workers_stop(http *self);
void worker_wake(worker *self);
/* May be called in any thread. */
void worker_resume(suspended *place);
/* Limits the client's time from now on; INFINITY: no limit. */
void client_allow(struct MHD_Connection *connection, double seconds);
/* The client is expected to send a request. */
void client_idle(struct MHD_Connection *connection);

#endif
