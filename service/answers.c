/* Answers: turns finished jobs into JSON. */
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"
#include "service/events.h"
#include "service/live.h"
#include "service/routes_inside.h"

static const char json_content[] = "application/json";

void response_free(response *self)
{
    if (self->is_model)
        uc_model_memory_free(self->body);
    else
        free(self->body);
    *self = (response){0};
}

static void answer_text(response *out, int status, const char *type, text *body)
{
    *out = (response){.status = status, .type = type, .body = body->bytes, .size = body->size};
}

static const char *title_of(int status)
{
    switch (status) {
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 409:
        return "Conflict";
    case 410:
        return "Gone";
    case 413:
        return "Content Too Large";
    case 414:
        return "URI Too Long";
    case 429:
        return "Too Many Requests";
    case 431:
        return "Request Header Fields Too Large";
    case 501:
        return "Not Implemented";
    case 507:
        return "Insufficient Storage";
    default:
        return "Service Unavailable";
    }
}

static void add_problem(text *out, const problem *why)
{
    text_add_format(out, "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"detail\":",
                    title_of(why->status), why->status);
    text_add_json_string(out, why->detail);
    text_add_string(out, "}");
}

void route_problem(response *out, const problem *why)
{
    text body = {0};
    add_problem(&body, why);
    text_add_string(&body, "\n");
    answer_text(out, why->status, "application/problem+json", &body);
}

/* A problem, with the sentence where clients of the Open Inference Protocol look for it as well. */
void route_inference_problem(response *out, const problem *why)
{
    text body = {0};
    add_problem(&body, why);
    body.size--; /* the closing brace */
    text_add_string(&body, ",\"error\":");
    text_add_json_string(&body, why->detail);
    text_add_string(&body, "}\n");
    answer_text(out, why->status, "application/problem+json", &body);
}

/* Takes ownership of the JSON. */
static void answer_json(response *out, int status, json_t *json)
{
    char *bytes = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15)); /* prints .2 as .2 */
    json_decref(json);
    *out = (response){.status = status, .type = json_content, .body = bytes, .size = strlen(bytes)};
}

void finish_json(response *out, job *done)
{
    json_t *json = done->json;
    done->json = NULL;
    answer_json(out, done->status, json);
}

/* ---- items ---- */

static void add_scores(text *out, const job *done, const job_item *item)
{
    text_add_string(out, ",\"scores\":");
    if (!item->scores) {
        text_add_string(out, "null");
        return;
    }
    text_add_string(out, "{");
    for (size_t k = 0; k < class_list_count(done->classes); k++) {
        text_add_string(out, k ? "," : "");
        text_add_string(out, class_list_name(done->classes, k));
        text_add_string(out, ":");
        text_add_number(out, item->scores[k]);
    }
    text_add_string(out, "}");
}

static void add_proposal(text *out, const job *done, const job_item *item)
{
    text_add_string(out, "{\"id\":");
    text_add_json_string(out, item->id);
    text_add_format(out, ",\"class\":%s,\"probability\":", class_list_name(done->classes, item->class));
    text_add_number(out, item->probability);
    add_scores(out, done, item);
    text_add_format(out, ",\"sequence\":%lld", (long long)item->sequence);
    text_add_string(out, item->repeated ? ",\"repeated\":true}" : "}");
}

static void add_prediction(text *out, const job *done, const job_item *item)
{
    text_add_format(out, "{\"class\":%s", class_list_name(done->classes, item->class));
    add_scores(out, done, item);
    text_add_string(out, "}");
}

static void add_answer(text *out, const job *done, const job_item *item)
{
    (void)done;
    text_add_string(out, "{\"id\":");
    text_add_json_string(out, item->id);
    text_add_string(out, item->repeated ? ",\"learned\":false,\"repeated\":true" : ",\"learned\":true");
    text_add_format(out, ",\"sequence\":%lld}", (long long)item->sequence);
}

typedef void add_item_fn(text *out, const job *done, const job_item *item);

/* A single answer, or a list of them, in which each has its own problem. */
static void finish_items(response *out, job *done, const char *list, add_item_fn *add)
{
    text body = {0};
    const bool is_list = done->sequence != 0;
    if (!is_list && done->items[0].why.status) {
        route_problem(out, &done->items[0].why);
        return;
    }
    if (is_list)
        text_add_format(&body, "{\"%s\":[", list);
    for (size_t i = 0; i < done->count; i++) {
        const job_item *item = &done->items[i];
        text_add_string(&body, i ? "," : "");
        if (item->why.status)
            add_problem(&body, &item->why);
        else
            add(&body, done, item);
    }
    if (is_list)
        text_add_string(&body, "]}");
    answer_text(out, 200, json_content, &body);
}

void finish_proposals(response *out, job *done)
{
    finish_items(out, done, "proposals", add_proposal);
}

void finish_predictions(response *out, job *done)
{
    finish_items(out, done, "predictions", add_prediction);
}

void finish_feedback(response *out, job *done)
{
    finish_items(out, done, "answers", add_answer);
}

void finish_reward(response *out, job *done)
{
    if (done->items[0].why.status)
        route_problem(out, &done->items[0].why);
    else
        *out = (response){.status = 204, .type = json_content};
}

/* ---- other answers ---- */

void finish_model(response *out, job *done)
{
    *out = (response){.status = 200,
                      .type = "application/octet-stream",
                      .body = done->bytes,
                      .size = done->size,
                      .is_model = true};
    (void)snprintf(out->etag, sizeof out->etag, "\"%lld\"", (long long)done->sequence);
    done->bytes = NULL;
}

void finish_ready(response *out, job *done)
{
    (void)done;
    answer_json(out, 200, json_pack("{ss}", "status", "ready"));
}

void finish_metrics(response *out, job *done)
{
    *out = (response){.status = 200,
                      .type = "text/plain; version=0.0.4; charset=utf-8",
                      .body = done->bytes,
                      .size = done->size};
    done->bytes = NULL;
}

void answer_health(response *out, const request *given, engine *from, const char *model, problem *why)
{
    (void)given;
    (void)from;
    (void)model;
    (void)why;
    answer_json(out, 200, json_pack("{ss ss}", "status", "alive", "version", uc_version()));
}

void answer_page(response *out, const request *given, engine *from, const char *model, problem *why)
{
    size_t size = 0;
    (void)given;
    (void)from;
    (void)model;
    char *page = live_page(&size);
    if (page)
        *out = (response){.status = 200, .type = "text/html; charset=utf-8", .body = page, .size = size};
    else
        (void)problem_set(why, 404, "this program was built without pages, which need esbuild and d3");
}

void answer_openapi(response *out, const request *given, engine *from, const char *model, problem *why)
{
    (void)given;
    (void)from;
    (void)model;
    (void)why;
    char *bytes = route_openapi();
    *out = (response){.status = 200, .type = json_content, .body = bytes, .size = strlen(bytes)};
}

/* ---- events ---- */

#define MOST_EVENTS 10000
#define FULL (16u << 20) /* bytes after which an answer ends: the client can ask for more */

typedef struct listing {
    text body;
    event_names names;
    bool full;
} listing;

static bool list_event(const journal_row *row, void *user)
{
    listing *out = user;
    event_names_see(&out->names, row);
    json_t *json = event_json(&out->names, row);
    char *line = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
    text_add_string(&out->body, line);
    text_add_string(&out->body, "\n");
    free(line);
    json_decref(json);
    out->full = out->body.size >= FULL;
    return !out->full;
}

static bool see_definition(const journal_row *row, void *user)
{
    event_names_see(user, row);
    return true;
}

static bool read_count(int64_t *out, const request *given, const char *name, int64_t standard, int64_t most,
                       problem *why)
{
    const char *value = given->query(name, given->user);
    char *end = NULL;
    *out = value ? strtoll(value, &end, 10) : standard;
    if (value && (!*value || *end || *out < 0 || *out > most || value[0] == '-' || value[0] == '+'))
        return problem_set(why, 400, "%s=%.40s is not an integer from 0 to %lld", name, value,
                           (long long)most);
    return true;
}

void answer_events(response *out, const request *given, engine *from, const char *model, problem *why)
{
    int64_t after, limit;
    listing found = {0};
    if (read_count(&after, given, "after", 0, INT64_MAX / 2, why) &&
        read_count(&limit, given, "limit", 1000, MOST_EVENTS, why) &&
        engine_definitions(from, model, after, see_definition, &found.names, why) &&
        (engine_events(from, model, after, limit, list_event, &found, why) || found.full))
        answer_text(out, 200, "application/x-ndjson", &found.body);
    else
        free(found.body.bytes);
    event_names_free(&found.names);
}
