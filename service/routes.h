/* Requests: from a method, a path and a body to a job for the engine, and from the job to an answer. JSON is
 * not used below this layer, which knows nothing about sockets. */
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
    const char *type; /* of the content; borrowed */
    char *body;       /* owned */
    size_t size;
    bool is_model; /* the body is freed with uc_model_memory_free */
    char etag[32];
    char allow[40]; /* with 405: the allowed methods */
} response;         /* zero-initialised; freed with response_free */
void response_free(response *self);

typedef struct route route;

/* The route for a method and path; NULL, with 404 or 405 in *why. */
const route *route_find(const char *method, const char *path, problem *why);
/* The methods for a path, such as "GET, HEAD, PUT"; empty if there is no such path. */
void route_methods(char *out, size_t size, const char *path);
/* Returns a job to be performed; NULL: the answer is already in *out. */
job *route_begin(response *out, const route *self, const request *given, engine *from);
void route_finish(response *out, const route *self, job *done);
void route_problem(response *out, const problem *why);
bool route_is_open(const route *self);     /* needs no token */
bool route_is_live(const route *self);     /* server-sent events, which the caller handles itself */
bool route_is_metrics(const route *self);  /* the caller adds its own metrics */
const char *route_name(const route *self); /* for metrics: the path with its placeholders */
char *route_openapi(void);                 /* OpenAPI 3.1 of all routes; freed with free */

#endif
