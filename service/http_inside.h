/* Inside of http: what its files share. */
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

/* Serves some of the connections. All calls about one of them are made by the thread of its worker. */
typedef struct worker {
    http *owner;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    int wake; /* an eventfd: there are connections to resume, or it is to end */
    atomic_bool ends;
    pthread_mutex_t mutex;
    struct suspended *resumed;
    struct client *clients; /* all that are connected */
    bool left;              /* one of them has gone since the daemon was run */
    double swept;           /* when they were last looked at */
} worker;

/* One connection, as long as it is open. */
typedef struct client {
    int socket;
    double deadline; /* when it is closed, whatever it is doing; INFINITY: never */
    struct client *next, *previous;
} client;

/* A connection that waits for something else than its client. */
typedef struct suspended {
    worker *worker;
    struct MHD_Connection *connection;
    struct suspended *next;
} suspended;

struct http {
    worker workers[THREADS];
    int count; /* of workers that run */
    engine *engine;
    char *token;
    size_t max_body;
    double request_seconds; /* from the first byte of a request to the last of its body */
    atomic_bool stops;
    atomic_int busy;     /* requests that are not answered yet */
    atomic_int queued;   /* those of them that the engine has */
    atomic_int watching; /* dashboards */
    latency times;
    live *live;
    pthread_mutex_t viewers_mutex;
    struct viewer *viewers; /* that wait for the next message */
    char address[80];
};

double http_seconds(void); /* of a clock that is never set */

/* http.c: what the daemons call. */
enum MHD_Result http_handle(void *user, struct MHD_Connection *connection, const char *path,
                            const char *method, const char *version, const char *upload, size_t *upload_size,
                            void **state);
void http_end_exchange(void *user, struct MHD_Connection *connection, void **state,
                       enum MHD_RequestTerminationCode how);

/* http_workers.c */
/* Whether the certificate and the key are good; 503. */
bool workers_check(const http_settings *settings, problem *why);
/* 400: the address cannot be listened on. */
bool workers_start(http *self, const http_settings *settings, const struct sockaddr_storage *address,
                   problem *why);
void workers_stop(http *self);
void worker_wake(worker *self);
/* By any thread. */
void worker_resume(suspended *place);
/* From now on the client has so many seconds; INFINITY: as many as it takes. */
void client_allow(struct MHD_Connection *connection, double seconds);
/* It is to send a request. */
void client_idle(struct MHD_Connection *connection);

#endif
