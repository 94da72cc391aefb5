/* Requests: from a method, a path and a body to a job of the engine, and from the job to an answer. JSON does
 * not go below this. Knows nothing of sockets. */
#ifndef SERVICE_ROUTES_H
#define SERVICE_ROUTES_H

#include "service/engine.h"
#include "service/text.h"

typedef struct request {
    const char *method, *path; /* the path is decoded, without the query */
    const char *body;
    size_t size;
    /* A parameter of the query; NULL: not given. */
    const char *(*query)(const char *name, void *user);
    void *user;
} request;

typedef struct response {
    int status;
    const char *type; /* of the content; lent */
    char *body;       /* owned */
    size_t size;
    bool is_model; /* the body is freed with uc_model_memory_free */
    char etag[32];
    char allow[40]; /* with 405: the methods that there are */
} response;         /* zero-initialised; freed with response_free */
void response_free(response *self);

typedef struct route route;

/* The route of a method and path; NULL, with 404 or 405 in *why. */
const route *route_find(const char *method, const char *path, problem *why);
/* The methods that a path has, as "GET, HEAD, PUT"; empty: there is no such path. */
void route_methods(char *out, size_t size, const char *path);
/* A job to be performed; NULL: the answer is there already, in *out. */
job *route_begin(response *out, const route *self, const request *given, engine *from);
void route_finish(response *out, const route *self, job *done);
void route_problem(response *out, const problem *why);
bool route_is_open(const route *self);     /* needs no token */
bool route_is_live(const route *self);     /* server-sent events: the caller answers it alone */
bool route_is_metrics(const route *self);  /* the caller adds its own */
const char *route_name(const route *self); /* for metrics: the path with its holes */
char *route_openapi(void);                 /* OpenAPI 3.1 of all routes; freed with free */

#endif
