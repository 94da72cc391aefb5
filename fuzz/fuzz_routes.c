/* Requests with any method, path and body: each gets an answer, a failure gets a problem with a single
 * sentence, and the service continues. The first line of the input is "METHOD /path", the rest is the
 * body. */
#define _GNU_SOURCE
#include <ftw.h>
#include <jansson.h>

#include "app/program.h"
#include "fuzz/files.h"
#include "service/routes.h"

const app_program app_this_program = {.name = "fuzz_routes"};

static engine *models;

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void remove_directory(void)
{
    (void)nftw(scratch_path(), remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void close_engine(void)
{
    engine_close(models);
    remove_directory();
}

static const char *no_query(const char *name, void *user)
{
    return user ? name : NULL;
}

/* The answer, which the caller frees; its status is 0 if there is no such route. */
static response answer(const char *method, const char *path, const char *body, size_t size)
{
    response out = {0};
    problem why = {0};
    const route *found = route_find(method, path, &why);
    if (!found) {
        CHECK(why.status == 404 || why.status == 405);
        route_problem(&out, &why);
        return out;
    }
    if (route_is_live(found))
        return out;
    const request given = {.method = method, .path = path, .body = body, .size = size, .query = no_query};
    job *work = route_begin(&out, found, &given, models);
    if (!work)
        return out;
    engine_perform(models, work);
    route_finish(&out, found, work);
    job_free(work);
    return out;
}

static void check_answer(const response *out)
{
    static const char problems[] = "application/problem+json";
    if (out->status == 0)
        return;
    CHECK(out->status >= 200 && out->status < 600);
    CHECK(out->status < 400 || strcmp(out->type, problems) == 0);
    if (out->size == 0 || !strstr(out->type, "json") || strstr(out->type, "lines") ||
        strstr(out->type, "ndjson"))
        return;
    json_t *json = json_loadb(out->body, out->size, JSON_REJECT_DUPLICATES, NULL);
    CHECK(json);
    if (out->status >= 400) {
        const char *detail = json_string_value(json_object_get(json, "detail"));
        CHECK(json_integer_value(json_object_get(json, "status")) == out->status);
        CHECK(detail && detail[0] && !strchr(detail, '\n'));
    }
    json_decref(json);
}

static void begin(void)
{
    static const char definition[] = "{\"learner\":\"cspa-plus\",\"classes\":[\"a\",\"b\"],\"explore\":0.1}";
    const engine_settings settings = {.directory = scratch_path(),
                                      .durability = JOURNAL_CRASH,
                                      .wait = 60000,
                                      .snapshot_every = 1000,
                                      .keep_snapshots = 2,
                                      .max_pending = 100};
    problem why = {0};
    remove_directory();
    CHECK(engine_open(&models, &settings, NULL, &why));
    CHECK(atexit(close_engine) == 0);
    response defined = answer("PUT", "/v1/models/m", definition, sizeof definition - 1);
    CHECK(defined.status == 201);
    response_free(&defined);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (!models)
        begin();
    const uint8_t *line_end = memchr(bytes, '\n', length);
    const size_t line = line_end ? (size_t)(line_end - bytes) : length;
    char *head = strndup((const char *)bytes, line);
    CHECK(head);
    char *path = strchr(head, ' ');
    if (path) {
        *path++ = '\0';
        const size_t rest = line_end ? length - line - 1 : 0;
        char *body = malloc(rest ? rest : 1); /* exactly as long, so that reading beyond it is detected */
        CHECK(body);
        if (rest > 0)
            memcpy(body, line_end + 1, rest);
        response out = answer(head, path, body, rest);
        check_answer(&out);
        response_free(&out);
        free(body);
    }
    free(head);
    response alive = answer("GET", "/v1/models/m", NULL, 0);
    CHECK(alive.status == 200);
    response_free(&alive);
    return 0;
}
