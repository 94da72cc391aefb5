#define _GNU_SOURCE
#include "service/live.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/memory.h"
#include "service/events.h"

#define LAST_EVENTS 20

struct live {
    pthread_mutex_t mutex;
    char *message;
    size_t size;
    uint64_t number;
    unsigned long long before[LATENCY_BOUNDS + 1];
    double time;
};

live *live_create(void)
{
    live *self = app_calloc(1, sizeof *self);
    (void)pthread_mutex_init(&self->mutex, NULL);
    return self;
}

void live_free(live *self)
{
    if (!self)
        return;
    (void)pthread_mutex_destroy(&self->mutex);
    free(self->message);
    free(self);
}

/* ---- requests ---- */

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Adds the requests since the last message. */
static void add_requests(json_t *json, live *self, latency *times)
{
    unsigned long long counts[LATENCY_BOUNDS + 1], total = 0;
    const double now = seconds(), passed = now - self->time;
    for (size_t i = 0; i <= LATENCY_BOUNDS; i++) {
        const unsigned long long count = atomic_load(&times->buckets[i]);
        counts[i] = count - self->before[i];
        self->before[i] = count;
        total += counts[i];
    }
    self->time = now;
    (void)json_object_set_new(json, "requests_per_second",
                              json_real(passed > 0.0 ? (double)total / passed : 0.0));
    (void)json_object_set_new(json, "p50", json_real(latency_quantile(counts, 0.5)));
    (void)json_object_set_new(json, "p99", json_real(latency_quantile(counts, 0.99)));
}

/* ---- events ---- */

typedef struct last {
    json_t *list;
    const char *model;
    event_names names;
} last;

static bool see_definition(const journal_row *row, void *user)
{
    event_names_see(&((last *)user)->names, row);
    return true;
}

static bool list_event(const journal_row *row, void *user)
{
    last *self = user;
    event_names_see(&self->names, row);
    json_t *event = event_json(&self->names, row);
    (void)json_object_del(event, "features");
    (void)json_object_del(event, "features_kind");
    (void)json_object_set_new(event, "model", json_string(self->model));
    (void)json_array_append_new(self->list, event);
    return true;
}

static void add_events(json_t *json, engine *from, const json_t *models)
{
    last self = {.list = json_array()};
    const size_t count = json_array_size(models);
    const int64_t each = count > 0 ? LAST_EVENTS / (int64_t)(count < LAST_EVENTS ? count : LAST_EVENTS) : 0;
    for (size_t i = 0; i < count && i < LAST_EVENTS; i++) {
        const json_t *model = json_array_get(models, i);
        const int64_t sequence = json_integer_value(json_object_get(model, "sequence"));
        const int64_t after = sequence > each ? sequence - each : 0;
        problem why = {0};
        self.model = json_string_value(json_object_get(model, "name"));
        if (engine_definitions(from, self.model, after, see_definition, &self, &why))
            (void)engine_events(from, self.model, after, each, list_event, &self, &why);
        event_names_free(&self.names);
    }
    (void)json_object_set_new(json, "events", self.list);
}

void live_update(live *self, engine *from, latency *times)
{
    job *work = job_create(JOB_LIST, "", 0);
    engine_perform(from, work);
    json_t *json = work->json;
    work->json = NULL;
    job_free(work);
    if (!json)
        return;
    add_requests(json, self, times);
    add_events(json, from, json_object_get(json, "models"));
    char *body = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(json);
    char *message = app_text("data: %s\n\n", body);
    free(body);
    (void)pthread_mutex_lock(&self->mutex);
    free(self->message);
    self->message = message;
    self->size = strlen(message);
    self->number++;
    (void)pthread_mutex_unlock(&self->mutex);
}

char *live_message(live *self, uint64_t *seen, size_t *size)
{
    char *copy = NULL;
    (void)pthread_mutex_lock(&self->mutex);
    if (self->number > *seen) {
        *seen = self->number;
        *size = self->size;
        copy = app_text("%s", self->message);
    }
    (void)pthread_mutex_unlock(&self->mutex);
    return copy;
}

/* ---- the page ---- */

extern const unsigned char app_page_head[], app_page_tail[];
extern const size_t app_page_head_size, app_page_tail_size;

/* The page of the reports, which in this case may also send requests to the service that it came from. */
char *live_page(size_t *size)
{
    static const char policy[] = "base-uri 'none'", wider[] = "connect-src 'self'; ";
    if (app_page_head_size == 0)
        return NULL;
    const char *head = (const char *)app_page_head;
    const char *at = memmem(head, app_page_head_size, policy, sizeof policy - 1);
    const size_t before = at ? (size_t)(at - head) : app_page_head_size;
    text page = {0};
    text_add(&page, head, before);
    text_add_string(&page, wider);
    text_add(&page, head + before, app_page_head_size - before);
    text_add_format(&page, " data-page=\"serve\" data-command=\"unconfuse serve\" data-version=\"%s\">{}",
                    uc_version());
    text_add(&page, (const char *)app_page_tail, app_page_tail_size);
    *size = page.size;
    return page.bytes;
}
