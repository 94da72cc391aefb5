/* Reads new rows of another service's journal by GET /v1/models and GET .../events, and passes them to the
 * engine, which performs and stores the same rows. HTTP/1.0, with a connection for each request, is
 * enough. */
#define _GNU_SOURCE
#include "service/follow.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "app/memory.h"
#include "service/log.h"
#include "service/text.h"

#define ROWS 1000               /* per request */
#define CONNECTING 5            /* seconds until a connection is given up */
#define PATIENCE 30             /* seconds without a byte */
#define MOST_BYTES (256u << 20) /* per answer */
#define UNREACHABLE 502         /* status of a problem that affects all models */

struct follow {
    char *url, *host, *port, *token;
    engine *into;
    pthread_t thread;
    bool started;
    atomic_bool stops;
    json_t *troubles; /* why it fails, as logged, by model; "": reaching the service at all */
};

/* ---- requests ---- */

static bool split_url(char **host, char **port, const char *url)
{
    static const char scheme[] = "http://";
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return false;
    const char *begin = url + sizeof scheme - 1, *end = begin + strcspn(begin, "/");
    const char *colon = memrchr(begin, ':', (size_t)(end - begin));
    if (colon && memchr(colon, ']', (size_t)(end - colon)))
        colon = NULL; /* of an IPv6 address without a port */
    const char *last = colon ? colon : end;
    const bool six = last > begin + 1 && begin[0] == '[' && last[-1] == ']';
    if (last == begin || (*end && end[1]) || (colon && colon + 1 == end))
        return false;
    *host = app_text("%.*s", (int)(last - begin) - 2 * six, begin + six);
    *port = colon ? app_text("%.*s", (int)(end - colon) - 1, colon + 1) : app_text("80");
    return true;
}

bool follow_check(const char *url, problem *why)
{
    char *host = NULL, *port = NULL;
    const bool good = split_url(&host, &port, url);
    free(host);
    free(port);
    if (!good && strncmp(url, "https://", 8) == 0)
        return problem_set(why, 400,
                           "--follow %.200s: a follower speaks http only; let stunnel or ssh -L listen on "
                           "loopback and speak TLS to the other service, and follow http://127.0.0.1:PORT",
                           url);
    return good || problem_set(why, 400, "--follow %.200s: expected http://HOST:PORT", url);
}

static int connect_to(const follow *self, problem *why)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const struct timeval connecting = {.tv_sec = CONNECTING}, reading = {.tv_sec = 1};
    int open = -1;
    if (getaddrinfo(self->host, self->port, &hints, &found) != 0) {
        (void)problem_set(why, UNREACHABLE, "%s cannot be found", self->host);
        return -1;
    }
    for (const struct addrinfo *at = found; at && open < 0; at = at->ai_next) {
        open = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (open < 0)
            continue;
        (void)setsockopt(open, SOL_SOCKET, SO_RCVTIMEO, &reading, sizeof reading);
        (void)setsockopt(open, SOL_SOCKET, SO_SNDTIMEO, &connecting, sizeof connecting);
        if (connect(open, at->ai_addr, at->ai_addrlen) != 0) {
            const int code = errno == EINPROGRESS ? ETIMEDOUT : errno; /* SO_SNDTIMEO gives EINPROGRESS */
            (void)problem_set(why, UNREACHABLE, "it cannot be reached: %s", strerror(code));
            (void)close(open);
            open = -1;
        }
    }
    freeaddrinfo(found);
    return open;
}

static bool send_all(int open, const text *bytes)
{
    for (size_t sent = 0; sent < bytes->size;) {
        const ssize_t part = send(open, bytes->bytes + sent, bytes->size - sent, MSG_NOSIGNAL);
        if (part <= 0)
            return false;
        sent += (size_t)part;
    }
    return true;
}

/* Receives everything up to the end of the connection. */
static bool receive_all(text *out, const follow *self, int open)
{
    char buffer[65536];
    for (int quiet = 0; quiet < PATIENCE && out->size < MOST_BYTES && !atomic_load(&self->stops);) {
        const ssize_t part = recv(open, buffer, sizeof buffer, 0);
        if (part == 0)
            return true;
        if (part > 0) {
            text_add(out, buffer, (size_t)part);
            quiet = 0;
        } else if (errno == EAGAIN || errno == EINTR) {
            quiet++;
        } else {
            return false;
        }
    }
    return false;
}

/* The length announced in the head of an answer; SIZE_MAX: none. */
static size_t announced(const char *head)
{
    const char *found = strcasestr(head, "\r\nContent-Length:");
    return found ? (size_t)strtoull(found + strlen("\r\nContent-Length:"), NULL, 10) : SIZE_MAX;
}

/* Gets the body of the answer, terminated by a zero byte; the caller frees it. */
static bool get(char **body, const follow *self, const char *path, problem *why)
{
    text request = {0}, answer = {0};
    const int open = connect_to(self, why);
    if (open < 0)
        return false;
    const bool six = strchr(self->host, ':') != NULL;
    text_add_format(&request, "GET %s HTTP/1.0\r\nHost: %s%s%s:%s\r\n", path, six ? "[" : "", self->host,
                    six ? "]" : "", self->port);
    if (self->token)
        text_add_format(&request, "Authorization: Bearer %s\r\n", self->token);
    text_add_string(&request, "\r\n");
    bool got = send_all(open, &request) && receive_all(&answer, self, open);
    (void)close(open);
    text_add(&answer, "", 1);
    char *end = strstr(answer.bytes, "\r\n\r\n");
    if (end)
        *end = 0;
    got = got && end && strncmp(answer.bytes, "HTTP/1.", 7) == 0 && strchr(answer.bytes, ' ');
    const long status = got ? strtol(strchr(answer.bytes, ' '), NULL, 10) : 0;
    const size_t length = got ? answer.size - 1 - (size_t)(end + 4 - answer.bytes) : 0;
    if (got && announced(answer.bytes) != SIZE_MAX && announced(answer.bytes) != length)
        got = false;
    if (!got)
        (void)problem_set(why, 503, "its answer to %s broke off", path);
    else if (status != 200)
        got = problem_set(why, 503, "it answers %s with %ld", path, status);
    else
        *body = app_text("%s", end + 4);
    free(request.bytes);
    free(answer.bytes);
    return got;
}

/* ---- rows ---- */

/* Parses JSON lines as an array; NULL if they are not valid. */
static json_t *read_lines(char *body)
{
    json_t *rows = json_array();
    char *rest = NULL;
    for (char *line = strtok_r(body, "\n", &rest); line && rows; line = strtok_r(NULL, "\n", &rest)) {
        json_t *row = json_loads(line, 0, NULL);
        if (!row || json_array_append_new(rows, row) != 0) {
            json_decref(rows);
            rows = NULL;
        }
    }
    return rows;
}

/* The sequence of the model's last row here; 0: none. */
static int64_t last_row(const follow *self, const char *model)
{
    job *work = job_create(JOB_STATE, model, 0);
    engine_perform(self->into, work);
    const int64_t last = json_integer_value(json_object_get(work->json, "sequence"));
    job_free(work);
    return last;
}

/* Copies the rows after `*last`; also gets that row, to check that it is the same. Returns whether there may
 * be more rows. */
static bool copy_rows(const follow *self, const char *model, int64_t *last, problem *why)
{
    const long long after = *last > 0 ? *last - 1 : 0;
    char *path = app_text("/v1/models/%s/events?after=%lld&limit=%d", model, after, ROWS);
    char *body = NULL;
    json_t *rows = get(&body, self, path, why) ? read_lines(body) : NULL;
    bool more = json_array_size(rows) > 0;
    if (!rows && !why->status)
        (void)problem_set(why, 503, "its answer to %s is not JSON lines", path);
    if (rows && !more && *last > 0)
        (void)problem_set(why, 409,
                          "its rows end before row %lld, which is here: it is another journal, which needs a "
                          "directory of its own",
                          (long long)*last);
    if (more) {
        job *work = job_create(JOB_FOLLOW, model, 0);
        work->body = json_incref(rows);
        engine_perform(self->into, work);
        more = work->why.status == 0 && work->sequence > *last;
        *last = work->sequence;
        *why = work->why;
        job_free(work);
    }
    json_decref(rows);
    free(path);
    free(body);
    return more;
}

/* Copies one model up to its last row. */
static void catch_up(const follow *self, const char *name, problem *why)
{
    bool more = served_check_name(name, why);
    int64_t last = more ? last_row(self, name) : 0;
    while (more && !atomic_load(&self->stops))
        more = copy_rows(self, name, &last, why);
}

/* Logs when copying begins to fail, fails for another reason, or works again. */
static void report(const follow *self, const char *model, const problem *why)
{
    const char *before = json_string_value(json_object_get(self->troubles, model));
    const char *of = *model ? ": model " : "";
    if (atomic_load(&self->stops))
        return;
    if (why->status && (!before || strcmp(before, why->detail) != 0))
        log_line("warning", "follow", "%s%s%s: %s; trying again once a second", self->url, of, model,
                 why->detail);
    if (!why->status && before)
        log_line("info", "follow", "%s%s%s is followed again", self->url, of, model);
    if (why->status)
        (void)json_object_set_new(self->troubles, model, json_string(why->detail));
    else
        (void)json_object_del(self->troubles, model);
}

/* Copies everything that is new; a model that fails does not stop the others. */
static void catch_up_all(const follow *self)
{
    char *body = NULL;
    problem why = {0};
    json_t *answer = get(&body, self, "/v1/models", &why) ? json_loads(body, 0, NULL) : NULL;
    const json_t *models = json_object_get(answer, "models");
    if (!json_is_array(models) && !why.status)
        (void)problem_set(&why, 503, "it is no service of unconfuse");
    report(self, "", &why);
    for (size_t i = 0; i < json_array_size(models) && why.status != UNREACHABLE; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(models, i), "name"));
        if (!name)
            continue;
        why.status = 0;
        catch_up(self, name, &why);
        report(self, why.status == UNREACHABLE ? "" : name, &why);
    }
    json_decref(answer);
    free(body);
}

static void *run(void *user)
{
    follow *self = user;
    while (!atomic_load(&self->stops)) {
        catch_up_all(self);
        for (int i = 0; i < 10 && !atomic_load(&self->stops); i++) {
            const struct timespec pause = {.tv_nsec = 100000000};
            (void)nanosleep(&pause, NULL);
        }
    }
    return NULL;
}

bool follow_open(follow **out, const char *url, const char *token, engine *into, problem *why)
{
    follow *self = app_calloc(1, sizeof *self);
    self->url = app_text("%s", url);
    self->into = into;
    self->troubles = json_object();
    if (token)
        self->token = app_text("%s", token);
    self->started =
        split_url(&self->host, &self->port, url) && pthread_create(&self->thread, NULL, run, self) == 0;
    if (self->started) {
        *out = self;
        return true;
    }
    follow_close(self);
    return problem_set(why, 503, "cannot start a thread");
}

void follow_close(follow *self)
{
    if (!self)
        return;
    atomic_store(&self->stops, true);
    if (self->started)
        (void)pthread_join(self->thread, NULL);
    free(self->url);
    json_decref(self->troubles);
    free(self->host);
    free(self->port);
    free(self->token);
    free(self);
}
