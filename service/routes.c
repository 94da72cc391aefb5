/* The table of routes, and parsing of JSON requests. */
#include "service/routes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"
#include "service/routes_inside.h"

#define DEEPEST 32         /* nesting of brackets in a body */
#define MOST_TOGETHER 1000 /* examples or answers per request */

/* ---- bodies ---- */

/* The depth of nested brackets, ignoring strings. */
static size_t depth_of(const char *body, size_t size)
{
    size_t depth = 0, deepest = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        if (quoted && body[i] == '\\')
            i++;
        else if (body[i] == '"')
            quoted = !quoted;
        else if (!quoted && (body[i] == '[' || body[i] == '{'))
            depth++;
        else if (!quoted && (body[i] == ']' || body[i] == '}') && depth > 0)
            depth--;
        if (depth > deepest)
            deepest = depth;
    }
    return deepest;
}

json_t *route_body(const request *given, problem *why)
{
    json_error_t error;
    if (given->size == 0) {
        (void)problem_set(why, 400, "the body is empty; expected a JSON object");
        return NULL;
    }
    if (depth_of(given->body, given->size) > DEEPEST) {
        (void)problem_set(why, 400, "the body is nested more than %d deep", DEEPEST);
        return NULL;
    }
    json_t *json = json_loadb(given->body, given->size, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        (void)problem_set(why, 400, "the body is not JSON: %.200s, at line %d, column %d", error.text,
                          error.line, error.column);
    else if (!json_is_object(json)) {
        (void)problem_set(why, 400, "the body is not a JSON object");
        json_decref(json);
        json = NULL;
    }
    return json;
}

/* Rejects unknown members. `allowed` is separated by spaces. */
static bool check_members(const json_t *json, const char *allowed, const char *at, problem *why)
{
    const char *key;
    json_t *value;
    char padded[160], wanted[80];
    (void)snprintf(padded, sizeof padded, " %s ", allowed);
    json_object_foreach((json_t *)json, key, value)
    {
        (void)snprintf(wanted, sizeof wanted, " %.60s ", key);
        if (strchr(key, ' ') || !strstr(padded, wanted))
            return problem_set(why, 400, "%.*s%s'%.60s' is unknown; expected %s", (int)strcspn(at, "."), at,
                               *at ? ": " : "", key, allowed);
    }
    return true;
}

/* Accepts 1 to 256 printable characters. */
static bool check_id(const char *id, const char *at, problem *why)
{
    size_t characters = 0;
    bool printable = id != NULL;
    for (const char *byte = id; printable && *byte; byte++) {
        characters += ((unsigned char)*byte & 0xc0) != 0x80;
        printable = (unsigned char)*byte >= 0x20 && *byte != 0x7f;
    }
    if (!printable || characters == 0 || characters > SERVED_ID)
        return problem_set(why, 400, "%sid: expected 1 to %d printable characters", at, SERVED_ID);
    return true;
}

/* Reads a member that is text; *out stays NULL if it is missing or null. */
static bool read_text(char **out, const json_t *json, const char *member, const char *at, problem *why)
{
    const json_t *value = json_object_get(json, member);
    if (!value || json_is_null(value))
        return true;
    if (!json_is_string(value))
        return problem_set(why, 400, "%s%s: expected a string", at, member);
    *out = app_text("%s", json_string_value(value));
    return true;
}

/* Reads the members of a list, or the body itself, for a request for many items or one. */
typedef bool read_item_fn(job_item *out, const json_t *json, const char *at, problem *why);

static job *read_items(const request *given, const char *model, job_kind kind, const char *list,
                       read_item_fn *read, problem *why)
{
    json_t *body = route_body(given, why);
    const json_t *items = json_object_get(body, list);
    if (!body)
        return NULL;
    job *work = job_create(kind, model, items ? json_array_size(items) : 1);
    work->body = body;              /* the features point to it */
    work->sequence = items ? 1 : 0; /* whether it is a list */
    bool good = true;
    if (items && (!json_is_array(items) || json_object_size(body) > 1))
        good = problem_set(why, 400, "%s: expected an array, and nothing next to it", list);
    if (good && items && (work->count == 0 || work->count > MOST_TOGETHER))
        good = problem_set(why, 400, "%s: expected 1 to %d", list, MOST_TOGETHER);
    for (size_t i = 0; i < work->count && good; i++) {
        char at[40] = "";
        if (items)
            (void)snprintf(at, sizeof at, "%s[%zu].", list, i);
        const json_t *item = items ? json_array_get(items, i) : body;
        good = json_is_object(item) ? read(&work->items[i], item, at, why)
                                    : problem_set(why, 400, "%s[%zu]: expected an object", list, i);
    }
    if (good)
        return work;
    job_free(work);
    return NULL;
}

static bool read_features(job_item *out, const json_t *json, const char *at, problem *why)
{
    char where[64];
    (void)snprintf(where, sizeof where, "%sfeatures", at);
    const json_t *given = json_object_get(json, "features");
    if (!given)
        return problem_set(why, 400, "%s: missing", where);
    if (!features_read(&out->given, given, where, why))
        return false;
    out->bytes = features_bytes(&out->given, &out->size);
    return true;
}

static bool read_proposal(job_item *out, const json_t *json, const char *at, problem *why)
{
    if (!check_members(json, "features id baseline", at, why) || !read_features(out, json, at, why) ||
        !read_text(&out->id, json, "id", at, why) || !read_text(&out->baseline, json, "baseline", at, why))
        return false;
    return !out->id || check_id(out->id, at, why);
}

static bool read_prediction(job_item *out, const json_t *json, const char *at, problem *why)
{
    return check_members(json, "features", at, why) && read_features(out, json, at, why);
}

static bool read_answer(job_item *out, const json_t *json, const char *at, problem *why)
{
    const json_t *right = json_object_get(json, "right");
    out->answer = json_is_true(right) ? JOURNAL_RIGHT : JOURNAL_WRONG;
    if (!check_members(json, "id right label", at, why) || !read_text(&out->id, json, "id", at, why) ||
        !check_id(out->id, at, why) || !read_text(&out->label, json, "label", at, why))
        return false;
    if (right && !json_is_boolean(right))
        return problem_set(why, 400, "%sright: expected true or false", at);
    if (!right == !out->label) { /* "answers[1]." refers to the entry, not to a member */
        const int length = (int)strcspn(at, ".");
        return problem_set(why, 400, "%.*s%sexpected either right or label", length, at, *at ? ": " : "");
    }
    return true;
}

/* ---- requests ---- */

static job *begin_simple(const route *self, const request *given, const char *model, const char *event,
                         problem *why)
{
    (void)given;
    (void)event;
    (void)why;
    return job_create(self->kind, model, 0);
}

static job *begin_put(const route *self, const request *given, const char *model, const char *event,
                      problem *why)
{
    json_t *body = route_body(given, why);
    (void)event;
    if (!body)
        return NULL;
    job *work = job_create(self->kind, model, 0);
    work->body = body;
    return work;
}

static job *begin_propose(const route *self, const request *given, const char *model, const char *event,
                          problem *why)
{
    (void)event;
    return read_items(given, model, self->kind, "examples", read_proposal, why);
}

static job *begin_predict(const route *self, const request *given, const char *model, const char *event,
                          problem *why)
{
    (void)event;
    return read_items(given, model, self->kind, "examples", read_prediction, why);
}

static job *begin_feedback(const route *self, const request *given, const char *model, const char *event,
                           problem *why)
{
    (void)event;
    return read_items(given, model, self->kind, "answers", read_answer, why);
}

/* For clients that use rank and reward. */
static job *begin_reward(const route *self, const request *given, const char *model, const char *event,
                         problem *why)
{
    json_t *body = route_body(given, why);
    const json_t *value = json_object_get(body, "value");
    const double reward = json_number_value(value);
    const bool good = body && check_members(body, "value", "", why) && check_id(event, "", why) &&
                      (json_is_number(value) || problem_set(why, 400, "value: expected a number"));
    json_decref(body);
    if (!good)
        return NULL;
    job *work = job_create(self->kind, model, 1);
    work->items[0].id = app_text("%s", event);
    work->items[0].answer = reward >= 0.5 ? JOURNAL_RIGHT : JOURNAL_WRONG;
    return work;
}

static job *begin_rollback(const route *self, const request *given, const char *model, const char *event,
                           problem *why)
{
    json_t *body = route_body(given, why);
    const json_t *sequence = json_object_get(body, "sequence");
    const json_int_t number = json_integer_value(sequence);
    const bool good = body && check_members(body, "sequence", "", why) &&
                      (json_is_integer(sequence) || problem_set(why, 400, "sequence: expected an integer"));
    (void)event;
    json_decref(body);
    if (!good)
        return NULL;
    job *work = job_create(self->kind, model, 0);
    work->sequence = number;
    return work;
}

/* ---- the table ---- */

static const route routes[] = {
    {"GET", "/v1/models", JOB_LIST, begin_simple, finish_json, NULL, "All models", NULL},
    {"PUT", "/v1/models/{name}", JOB_PUT, begin_put, finish_json, NULL, "Defines a model, or adds classes",
     "Definition"},
    {"GET", "/v1/models/{name}", JOB_STATE, begin_simple, finish_json, NULL, "A model and what it has seen",
     NULL},
    {"POST", "/v1/models/{name}/propose", JOB_PROPOSE, begin_propose, finish_proposals, NULL,
     "Proposes a class for an example, or for several", "Example"},
    {"POST", "/v1/models/{name}/feedback", JOB_FEEDBACK, begin_feedback, finish_feedback, NULL,
     "Tells whether a proposal was right, or the label", "Answer"},
    {"POST", "/v1/models/{name}/events/{id}/reward", JOB_FEEDBACK, begin_reward, finish_reward, NULL,
     "Feedback as a reward: right from .5 up", "Reward"},
    {"POST", "/v1/models/{name}/predict", JOB_PREDICT, begin_predict, finish_predictions, NULL,
     "Class and scores; no event, nothing learned", "Example"},
    {"GET", "/v1/models/{name}/events", JOB_READY, NULL, NULL, answer_events, "The journal, as JSON lines",
     NULL},
    {"GET", "/v1/models/{name}/model", JOB_MODEL, begin_simple, finish_model, NULL,
     "The model file with the learner's state", NULL},
    {"POST", "/v1/models/{name}/snapshot", JOB_SNAPSHOT, begin_simple, finish_json, NULL,
     "Takes a snapshot now", NULL},
    {"POST", "/v1/models/{name}/rollback", JOB_ROLLBACK, begin_rollback, finish_json, NULL,
     "The learner as it was after a row of the journal", "Rollback"},
    {"GET", "/healthz", JOB_READY, NULL, NULL, answer_health, "The process is alive", NULL},
    {"GET", "/readyz", JOB_READY, begin_simple, finish_ready, NULL, "The journal can be read and written",
     NULL},
    {"GET", "/metrics", JOB_METRICS, begin_simple, finish_metrics, NULL, "Metrics as Prometheus reads them",
     NULL},
    {"GET", "/v1/openapi.json", JOB_READY, NULL, NULL, answer_openapi, "This description", NULL},
    {"GET", "/", JOB_READY, NULL, NULL, answer_page, "The dashboard", NULL},
    {"GET", "/v1/live", JOB_LIVE, NULL, NULL, NULL, "What the dashboard shows, as server-sent events", NULL},
    {"GET", "/v2/health/live", JOB_READY, NULL, NULL, answer_server_live, "Open Inference Protocol: alive",
     NULL},
    {"GET", "/v2/health/ready", JOB_READY, begin_simple, finish_server_ready, NULL,
     "Open Inference Protocol: ready", NULL},
    {"GET", "/v2", JOB_READY, NULL, NULL, answer_server, "Open Inference Protocol: the server", NULL},
    {"GET", "/v2/models/{name}/ready", JOB_STATE, begin_simple, finish_model_ready, NULL,
     "Open Inference Protocol: the model is ready", NULL},
    {"GET", "/v2/models/{name}", JOB_STATE, begin_simple, finish_metadata, NULL,
     "Open Inference Protocol: metadata", NULL},
    {"POST", "/v2/models/{name}/infer", JOB_PREDICT, begin_infer, finish_infer, NULL,
     "Open Inference Protocol: scores", "Inference"},
    {"GET", "/v2/models/{name}/versions/1/ready", JOB_STATE, begin_simple, finish_model_ready, NULL,
     "Open Inference Protocol: the model is ready", NULL},
    {"GET", "/v2/models/{name}/versions/1", JOB_STATE, begin_simple, finish_metadata, NULL,
     "Open Inference Protocol: metadata", NULL},
    {"POST", "/v2/models/{name}/versions/1/infer", JOB_PREDICT, begin_infer, finish_infer, NULL,
     "Open Inference Protocol: scores", "Inference"},
    {0},
};

const route *route_at(size_t i)
{
    return i < sizeof routes / sizeof *routes - 1 ? &routes[i] : NULL;
}

/* Whether the path matches the route; the contents of its placeholders are copied to model and event. */
static bool matches(const route *self, const char *path, char *model, char *event)
{
    const char *pattern = self->path;
    while (*pattern) {
        if (*pattern != '{') {
            if (*pattern++ != *path++)
                return false;
            continue;
        }
        const bool is_id = strncmp(pattern, "{id}", 4) == 0;
        const char *rest = strchr(pattern, '}') + 1;
        size_t length = strcspn(path, "/");
        if (is_id) { /* an id may have slashes, up to the rest of the pattern */
            const size_t whole = strlen(path), after = strlen(rest);
            length = whole > after ? whole - after : 0;
        }
        if (length == 0 || length > (is_id ? 4 * SERVED_ID : SERVED_NAME))
            return false;
        memcpy(is_id ? event : model, path, length);
        (is_id ? event : model)[length] = 0;
        path += length;
        pattern = rest;
    }
    return *path == 0;
}

void route_methods(char *out, size_t size, const char *path)
{
    char model[SERVED_NAME + 1], event[4 * SERVED_ID + 1];
    size_t length = 0;
    out[0] = 0;
    for (size_t i = 0; route_at(i) && length < size; i++) {
        const char *method = route_at(i)->method;
        if (matches(route_at(i), path, model, event))
            length += (size_t)snprintf(out + length, size - length, "%s%s%s", length > 0 ? ", " : "", method,
                                       strcmp(method, "GET") == 0 ? ", HEAD" : "");
    }
}

const route *route_find(const char *method, const char *path, problem *why)
{
    char model[SERVED_NAME + 1] = "", event[4 * SERVED_ID + 1], methods[40];
    for (size_t i = 0; route_at(i); i++) {
        const bool head = strcmp(method, "HEAD") == 0 && strcmp(route_at(i)->method, "GET") == 0;
        if ((head || strcmp(method, route_at(i)->method) == 0) && matches(route_at(i), path, model, event))
            return route_at(i);
    }
    route_methods(methods, sizeof methods, path);
    if (methods[0])
        (void)problem_set(why, 405, "%.20s is not a method of %.200s, which takes %s", method, path, methods);
    else
        (void)problem_set(why, 404, "there is nothing at %.200s; /v1/openapi.json lists what there is", path);
    return NULL;
}

static void refuse(response *out, const route *self, const problem *why)
{
    if (strncmp(self->path, "/v2", 3) == 0)
        route_inference_problem(out, why);
    else
        route_problem(out, why);
}

job *route_begin(response *out, const route *self, const request *given, engine *from)
{
    char model[SERVED_NAME + 1] = "", event[4 * SERVED_ID + 1] = "";
    problem why = {0};
    job *work = NULL;
    (void)matches(self, given->path, model, event);
    const bool named = !strstr(self->path, "{name}") || served_check_name(model, &why);
    if (named && self->answer)
        self->answer(out, given, from, model, &why);
    else if (named)
        work = self->begin(self, given, model, event, &why);
    if (why.status)
        refuse(out, self, &why);
    /* cppcheck-suppress returnDanglingLifetime ; a job has its own copy of a problem */
    return work;
}

void route_finish(response *out, const route *self, job *done)
{
    if (done->why.status)
        refuse(out, self, &done->why);
    else
        self->finish(out, done);
}

bool route_is_metrics(const route *self)
{
    return self->kind == JOB_METRICS;
}

bool route_is_live(const route *self)
{
    return self->kind == JOB_LIVE;
}

bool route_is_open(const route *self)
{
    return strcmp(self->path, "/") == 0;
}

const char *route_name(const route *self)
{
    return self->path;
}
