/* HTTP: from a connection of libmicrohttpd to a route, and back. A connection whose job is in the engine's
 * queue is suspended, and resumed when the job is done; http_workers.c runs the connections. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "app/memory.h"
#include "service/address.h"
#include "service/http_inside.h"
#include "service/routes.h"

#define HEAD_BYTES 32768   /* request line and headers, at most */
#define STEP_BYTES 1048576 /* a client gets the time of one request for this many bytes of an answer */

/* A request that is being processed. */
typedef struct exchange {
    http *owner;
    suspended place;
    struct MHD_Connection *connection;
    const route *route;
    text body;
    bool too_large;
    bool unreadable; /* the end of its body is unknown */
    size_t ignored;  /* bytes of a body that is too large */
    double began;
    job *work;
    bool waited; /* the job is done */
    int status;
    bool is_live;   /* server-sent events */
    response early; /* the request was rejected before its body was read; status 0: it was not */
} exchange;

/* ---- answers ---- */

static void free_model(void *bytes)
{
    uc_model_memory_free(bytes);
}

/* Whether the client already has this version. */
static bool has_already(const exchange *self, const response *out)
{
    const char *known = MHD_lookup_connection_value(self->connection, MHD_HEADER_KIND, "If-None-Match");
    return known && out->etag[0] && out->status == 200 &&
           (strcmp(known, "*") == 0 || strstr(known, out->etag) != NULL);
}

/* Takes ownership of the body. */
static enum MHD_Result queue_answer(exchange *self, response *out)
{
    if (has_already(self, out)) {
        response unchanged = {.status = 304};
        (void)snprintf(unchanged.etag, sizeof unchanged.etag, "%s", out->etag);
        response_free(out);
        *out = unchanged;
    }
    if (self->route && route_is_metrics(self->route) && out->status == 200)
        latency_print(&self->owner->times, out);
    struct MHD_Response *answer;
    if (out->is_model)
        answer = MHD_create_response_from_buffer_with_free_callback(out->size, out->body, free_model);
    else
        answer = MHD_create_response_from_buffer(out->size, out->body, MHD_RESPMEM_MUST_FREE);
    if (!answer) {
        response_free(out);
        return MHD_NO;
    }
    if (out->size > 0)
        (void)MHD_add_response_header(answer, "Content-Type", out->type);
    (void)MHD_add_response_header(answer, "Cache-Control", "no-store");
    (void)MHD_add_response_header(answer, "X-Content-Type-Options", "nosniff");
    if (out->etag[0])
        (void)MHD_add_response_header(answer, "ETag", out->etag);
    if (out->allow[0])
        (void)MHD_add_response_header(answer, "Allow", out->allow);
    if (out->status == 401)
        (void)MHD_add_response_header(answer, "WWW-Authenticate", "Bearer");
    if (out->status == 429 || out->status == 503)
        (void)MHD_add_response_header(answer, "Retry-After", "1");
    if (atomic_load(&self->owner->stops))
        (void)MHD_add_response_header(answer, "Connection", "close");
    self->status = out->status;
    client_allow(self->connection, self->owner->request_seconds * (1.0 + (double)out->size / STEP_BYTES));
    const enum MHD_Result queued = MHD_queue_response(self->connection, (unsigned)out->status, answer);
    MHD_destroy_response(answer);
    return queued;
}

static enum MHD_Result refuse(exchange *self, int status, const char *sentence)
{
    problem why;
    response out;
    (void)problem_set(&why, status, "%s", sentence);
    route_problem(&out, &why);
    return queue_answer(self, &out);
}

/* ---- the dashboard's messages ---- */

#define MOST_VIEWERS 50

/* A connection that gets server-sent events. It is suspended between messages. */
typedef struct viewer {
    http *owner;
    suspended place;
    uint64_t seen;
    char *message;
    size_t size, sent;
    struct viewer *next;
    bool waits; /* whether it is in the list */
} viewer;

static void wait_for_message(viewer *self)
{
    (void)pthread_mutex_lock(&self->owner->viewers_mutex);
    self->next = self->owner->viewers;
    self->owner->viewers = self;
    self->waits = true;
    MHD_suspend_connection(self->place.connection);
    (void)pthread_mutex_unlock(&self->owner->viewers_mutex);
}

static ssize_t read_message(void *user, uint64_t position, char *buffer, size_t most)
{
    viewer *self = user;
    (void)position;
    if (atomic_load(&self->owner->stops))
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!self->message) {
        self->message = live_message(self->owner->live, &self->seen, &self->size);
        self->sent = 0;
    }
    if (!self->message) {
        wait_for_message(self);
        return 0;
    }
    const size_t left = self->size - self->sent, part = left < most ? left : most;
    memcpy(buffer, self->message + self->sent, part);
    self->sent += part;
    if (self->sent == self->size) {
        free(self->message);
        self->message = NULL;
    }
    return (ssize_t)part;
}

static void free_viewer(void *user)
{
    viewer *self = user;
    (void)atomic_fetch_sub(&self->owner->watching, 1);
    free(self->message);
    free(self);
}

static enum MHD_Result show_live(exchange *self)
{
    if (atomic_fetch_add(&self->owner->watching, 1) >= MOST_VIEWERS) {
        (void)atomic_fetch_sub(&self->owner->watching, 1);
        return refuse(self, 429, "as many dashboards as may are open");
    }
    viewer *viewing = app_calloc(1, sizeof *viewing);
    viewing->owner = self->owner;
    viewing->place = self->place;
    struct MHD_Response *answer =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 65536, read_message, viewing, free_viewer);
    if (!answer) {
        free_viewer(viewing);
        return MHD_NO;
    }
    (void)MHD_add_response_header(answer, "Content-Type", "text/event-stream");
    (void)MHD_add_response_header(answer, "Cache-Control", "no-store");
    self->status = 200;
    client_allow(self->connection, (double)INFINITY);
    const enum MHD_Result queued = MHD_queue_response(self->connection, 200, answer);
    MHD_destroy_response(answer);
    (void)atomic_fetch_sub(&self->owner->busy, 1); /* no one waits for its end */
    self->is_live = true;
    return queued;
}

static void wake_viewers(http *self)
{
    (void)pthread_mutex_lock(&self->viewers_mutex);
    viewer *first = self->viewers;
    self->viewers = NULL;
    while (first) {
        viewer *next = first->next;
        first->waits = false;
        worker_resume(&first->place);
        first = next;
    }
    (void)pthread_mutex_unlock(&self->viewers_mutex);
}

void http_tick(http *self)
{
    if (atomic_load(&self->watching) == 0)
        return;
    live_update(self->live, self->engine, &self->times);
    wake_viewers(self);
}

/* ---- authorization ---- */

/* Takes the same time for all texts of the same length. */
static bool same_secret(const char *given, const char *secret)
{
    const size_t length = strlen(secret), other = strlen(given);
    unsigned char differs = length != other;
    for (size_t i = 0; i < length; i++)
        differs |= (unsigned char)(secret[i] ^ given[other ? i % other : 0]);
    return !differs;
}

static bool may_ask(const exchange *self)
{
    static const char scheme[] = "Bearer ";
    if (!self->owner->token || (self->route && route_is_open(self->route)))
        return true;
    const char *given = MHD_lookup_connection_value(self->connection, MHD_HEADER_KIND, "Authorization");
    return given && strncasecmp(given, scheme, sizeof scheme - 1) == 0 &&
           same_secret(given + sizeof scheme - 1, self->owner->token);
}

/* Whether a page of another site sends the request through the browser of an authorized user; all browsers
 * indicate this. With a token it is not possible. */
static bool is_of_other_page(const exchange *self)
{
    const char *site = MHD_lookup_connection_value(self->connection, MHD_HEADER_KIND, "Sec-Fetch-Site");
    return !self->owner->token && site && strcmp(site, "cross-site") == 0;
}

/* ---- requests ---- */

/* How the headers describe the body's length. */
typedef struct framing {
    unsigned lengths, encodings;
    bool chunked; /* and no other encoding */
} framing;

static enum MHD_Result see_header(void *user, enum MHD_ValueKind kind, const char *name, const char *value)
{
    framing *self = user;
    (void)kind;
    self->lengths += strcasecmp(name, "Content-Length") == 0;
    if (strcasecmp(name, "Transfer-Encoding") == 0)
        self->chunked = ++self->encodings == 1 && value && strcasecmp(value, "chunked") == 0;
    return MHD_YES;
}

/* Rejects heads that are too long, and lengths that a proxy in front might interpret differently (RFC 9112,
 * 6.1 and 6.3). */
static bool check_head(struct MHD_Connection *connection, problem *why)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    framing seen = {0};
    if (info && info->header_size > HEAD_BYTES)
        return problem_set(why, 431, "the request line and headers have more than %d bytes", HEAD_BYTES);
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, see_header, &seen);
    if (seen.encodings > 0 && !seen.chunked)
        return problem_set(why, 501, "Transfer-Encoding: only chunked is known here");
    if (seen.lengths > 1 || (seen.lengths > 0 && seen.encodings > 0))
        return problem_set(why, 400, "the length of the body is given more than once");
    return true;
}

static const char *query_value(const char *name, void *user)
{
    return MHD_lookup_connection_value(user, MHD_GET_ARGUMENT_KIND, name);
}

static exchange *begin_exchange(worker *served_by, struct MHD_Connection *connection, const char *method,
                                const char *path)
{
    exchange *self = app_calloc(1, sizeof *self);
    problem why = {0};
    self->owner = served_by->owner;
    self->place = (suspended){.worker = served_by, .connection = connection};
    self->connection = connection;
    self->began = http_seconds();
    self->route = route_find(method, path, &why);
    (void)atomic_fetch_add(&self->owner->busy, 1);
    if (!may_ask(self))
        (void)problem_set(&why, 401, "this service needs a token: Authorization: Bearer TOKEN");
    else if (is_of_other_page(self) && strcmp(method, "GET") != 0)
        (void)problem_set(&why, 403,
                          "a page of another site sends this; a service without a token refuses it");
    self->unreadable = !check_head(connection, &why);
    if (why.status)
        route_problem(&self->early, &why);
    if (why.status == 405)
        route_methods(self->early.allow, sizeof self->early.allow, path);
    client_allow(connection, self->owner->request_seconds);
    return self;
}

/* Stores the part of the body that has arrived. */
static bool take_body(exchange *self, const char *bytes, size_t size)
{
    if (http_seconds() - self->began > self->owner->request_seconds)
        return false;
    if (self->early.status || self->body.size + size > self->owner->max_body) {
        self->too_large = self->too_large || !self->early.status;
        self->ignored += size;
        return self->ignored < 16 * (size_t)1048576; /* a client that continues does not read the answer */
    }
    text_add(&self->body, bytes, size);
    return true;
}

static void job_is_done(job *work, void *user)
{
    exchange *self = user;
    (void)work;
    self->waited = true;
    (void)atomic_fetch_sub(&self->owner->queued, 1);
    worker_resume(&self->place);
}

static enum MHD_Result finish_exchange(exchange *self)
{
    response out = {0};
    route_finish(&out, self->route, self->work);
    job_free(self->work);
    self->work = NULL;
    return queue_answer(self, &out);
}

/* Answers before the body was read; libmicrohttpd then closes the connection. */
static enum MHD_Result answer_early(exchange *self)
{
    response out = self->early;
    self->early = (response){0};
    return queue_answer(self, &out);
}

static enum MHD_Result run_request(exchange *self, const char *method, const char *path)
{
    response out = {0};
    if (self->early.status)
        return answer_early(self);
    if (self->too_large) {
        char sentence[120];
        (void)snprintf(sentence, sizeof sentence, "the body has more than %zu bytes (--max-body)",
                       self->owner->max_body);
        return refuse(self, 413, sentence);
    }
    if (atomic_load(&self->owner->stops))
        return refuse(self, 503, "the service is stopping");
    if (route_is_live(self->route))
        return show_live(self);
    const request given = {.method = method,
                           .path = path,
                           .body = self->body.bytes,
                           .size = self->body.size,
                           .query = query_value,
                           .user = self->connection};
    self->work = route_begin(&out, self->route, &given, self->owner->engine);
    if (!self->work)
        return queue_answer(self, &out);
    self->work->done = job_is_done;
    self->work->user = self;
    (void)atomic_fetch_add(&self->owner->queued, 1);
    client_allow(self->connection, (double)INFINITY);
    MHD_suspend_connection(self->connection);
    engine_submit(self->owner->engine, self->work);
    return MHD_YES;
}

enum MHD_Result http_handle(void *user, struct MHD_Connection *connection, const char *path,
                            const char *method, const char *version, const char *upload, size_t *upload_size,
                            void **state)
{
    exchange *self = *state;
    (void)version;
    if (!self) {
        self = *state = begin_exchange(user, connection, method, path);
        return self->unreadable ? answer_early(self) : MHD_YES;
    }
    if (*upload_size > 0) {
        if (!take_body(self, upload, *upload_size))
            return MHD_NO;
        *upload_size = 0;
        return MHD_YES;
    }
    if (self->waited)
        return finish_exchange(self);
    return run_request(self, method, path);
}

/* Called when the answer was sent, or the connection was closed. */
void http_end_exchange(void *user, struct MHD_Connection *connection, void **state,
                       enum MHD_RequestTerminationCode how)
{
    exchange *self = *state;
    http *owner = ((worker *)user)->owner;
    (void)how;
    client_idle(connection);
    if (!self)
        return;
    if (!self->is_live)
        latency_add(&owner->times, self->status, http_seconds() - self->began);
    job_free(self->work);
    free(self->body.bytes);
    response_free(&self->early);
    if (!self->is_live)
        (void)atomic_fetch_sub(&owner->busy, 1);
    free(self);
    *state = NULL;
}

/* ---- opening ---- */

static void release(http *self)
{
    live_free(self->live);
    (void)pthread_mutex_destroy(&self->viewers_mutex);
    free(self->token);
    free(self);
}

static bool choose_address(struct sockaddr_storage *out, const http_settings *settings, problem *why)
{
    bool loopback = false;
    if (!address_parse(out, &loopback, settings->listen, why))
        return false;
    if (!loopback && !settings->token)
        return problem_set(why, 400,
                           "--listen %s: only a loopback address may be listened on without --token-file",
                           settings->listen);
    return true;
}

static bool refuse_address(const http_settings *settings, int reason, problem *why)
{
    return problem_set(why, 503, "--listen %s: cannot listen there: %s%s", settings->listen, strerror(reason),
                       reason == EADDRINUSE ? "; port 0 takes any free one, which the log names" : "");
}

/* Opens a socket of the same address for a moment, so that errors are reported before anything is created. */
bool http_check(const http_settings *settings, problem *why)
{
    struct sockaddr_storage address;
    if (!choose_address(&address, settings, why))
        return false;
    const socklen_t size =
        address.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    const int tried = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    if (tried < 0)
        return refuse_address(settings, errno, why);
    (void)setsockopt(tried, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const bool bound =
        bind(tried, (const struct sockaddr *)(const void *)&address, size) == 0 && listen(tried, 1) == 0;
    const int reason = errno;
    (void)close(tried);
    return (bound || refuse_address(settings, reason, why)) && workers_check(settings, why);
}

bool http_open(http **out, const http_settings *settings, engine *behind, problem *why)
{
    struct sockaddr_storage address;
    if (!choose_address(&address, settings, why))
        return false;
    http *self = app_calloc(1, sizeof *self);
    self->engine = behind;
    self->live = live_create();
    (void)pthread_mutex_init(&self->viewers_mutex, NULL);
    self->max_body = settings->max_body;
    self->request_seconds = settings->request_seconds;
    if (settings->token)
        self->token = app_text("%s", settings->token);
    if (!workers_start(self, settings, &address, why)) {
        release(self);
        return false;
    }
    *out = self;
    return true;
}

void http_address(const http *self, char *out, size_t size)
{
    (void)snprintf(out, size, "%s", self->address);
}

/* Does not wait for requests whose body does not arrive. */
void http_close(http *self)
{
    atomic_store(&self->stops, true);
    for (int i = 0; i < THREADS; i++)
        worker_wake(&self->workers[i]);
    wake_viewers(self);
    for (int i = 0; atomic_load(&self->queued) > 0 || (i < 200 && atomic_load(&self->busy) > 0); i++) {
        const struct timespec pause = {.tv_nsec = 10000000};
        (void)nanosleep(&pause, NULL);
    }
    wake_viewers(self);
    workers_stop(self);
    release(self);
}
