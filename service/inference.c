/* Scores for platforms that use the Open Inference Protocol, version 2. */
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"
#include "service/routes_inside.h"

#define MOST_ROWS 1000

/* Whether the number of values matches the shape. */
static bool has_shape(const json_t *data, size_t rows, size_t columns)
{
    if (!json_is_array(json_array_get(data, 0)))
        return json_array_size(data) == rows * columns;
    bool same = json_array_size(data) == rows;
    for (size_t i = 0; i < rows && same; i++)
        same = json_array_size(json_array_get(data, i)) == columns;
    return same;
}

/* A number in a tensor, which is flat or has rows. */
static const json_t *number_at(const json_t *data, size_t row, size_t column, size_t columns)
{
    const json_t *first = json_array_get(data, 0);
    if (json_is_array(first))
        return json_array_get(json_array_get(data, row), column);
    return json_array_get(data, row * columns + column);
}

/* Checks that the request has one tensor of numbers; *out is borrowed from the body. */
static bool read_tensor(const json_t **out, const json_t *body, problem *why)
{
    static const char *const types[] = {"BOOL",  "UINT8", "UINT16", "UINT32", "UINT64", "INT8",
                                        "INT16", "INT32", "INT64",  "FP16",   "FP32",   "FP64"};
    const json_t *inputs = json_object_get(body, "inputs"), *tensor = json_array_get(inputs, 0);
    const char *type = json_string_value(json_object_get(tensor, "datatype"));
    if (json_array_size(inputs) != 1 || !json_is_object(tensor))
        return problem_set(why, 400, "inputs: expected one tensor");
    *out = tensor;
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return problem_set(why, 400, "inputs[0].datatype: expected a type of numbers, such as FP32");
}

static bool check_outputs(const json_t *body, problem *why)
{
    const json_t *outputs = json_object_get(body, "outputs");
    if (outputs && !json_is_array(outputs))
        return problem_set(why, 400, "outputs: expected an array");
    for (size_t i = 0; i < json_array_size(outputs); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(outputs, i), "name"));
        if (!name || (strcmp(name, "scores") != 0 && strcmp(name, "class") != 0))
            return problem_set(why, 400, "outputs[%zu]: expected the name scores or class", i);
    }
    return true;
}

/* Whether the answer has this output: a request that names none gets all. */
static bool is_wanted(const json_t *body, const char *name)
{
    const json_t *outputs = json_object_get(body, "outputs");
    for (size_t i = 0; i < json_array_size(outputs); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(outputs, i), "name")), name) == 0)
            return true;
    return json_array_size(outputs) == 0;
}

static bool read_shape(size_t *rows, size_t *columns, const json_t *tensor, problem *why)
{
    const json_t *shape = json_object_get(tensor, "shape");
    const json_int_t n = json_integer_value(json_array_get(shape, 0));
    const json_int_t d = json_integer_value(json_array_get(shape, 1));
    if (json_array_size(shape) != 2 || n < 1 || n > MOST_ROWS || d < 1 || d > FEATURES_MOST)
        return problem_set(why, 400, "inputs[0].shape: expected [rows, columns], rows from 1 to %d",
                           MOST_ROWS);
    *rows = (size_t)n;
    *columns = (size_t)d;
    return true;
}

static bool read_row(job_item *out, const json_t *data, size_t row, size_t columns, problem *why)
{
    json_t *values = json_array();
    bool good = true;
    for (size_t j = 0; j < columns && good; j++) {
        const json_t *value = number_at(data, row, j, columns);
        if (!json_is_number(value) && !json_is_boolean(value))
            good = problem_set(why, 400, "inputs[0].data: number %zu of row %zu is not a number", j + 1,
                               row + 1);
        else
            (void)json_array_append(values, (json_t *)value);
    }
    good = good && features_read(&out->given, values, "inputs[0].data", why);
    json_decref(values);
    return good;
}

job *begin_infer(const route *self, const request *given, const char *model, const char *event, problem *why)
{
    json_t *body = route_body(given, why);
    const json_t *tensor = NULL;
    size_t rows = 0, columns = 0;
    (void)event;
    if (!body)
        return NULL;
    bool good = read_tensor(&tensor, body, why) && check_outputs(body, why) &&
                read_shape(&rows, &columns, tensor, why);
    if (good && !has_shape(json_object_get(tensor, "data"), rows, columns))
        good = problem_set(why, 400, "inputs[0].data: expected %zu numbers, as inputs[0].shape says",
                           rows * columns);
    job *work = job_create(self->kind, model, rows);
    work->body = body; /* the answer repeats its id and has the outputs that it names */
    for (size_t i = 0; good && i < rows; i++)
        good = read_row(&work->items[i], json_object_get(tensor, "data"), i, columns, why);
    if (good)
        return work;
    job_free(work);
    return NULL;
}

static void add_scores(text *out, const job *done)
{
    const size_t K = class_list_count(done->classes);
    text_add_format(out, "{\"name\":\"scores\",\"datatype\":\"FP64\",\"shape\":[%zu,%zu],\"data\":[",
                    done->count, K);
    for (size_t i = 0; i < done->count; i++)
        for (size_t k = 0; k < K; k++) {
            text_add_string(out, i + k > 0 ? "," : "");
            text_add_number(out, done->items[i].scores[k]);
        }
    text_add_string(out, "]}");
}

static void add_classes(text *out, const job *done)
{
    text_add_format(out, "{\"name\":\"class\",\"datatype\":\"BYTES\",\"shape\":[%zu],\"data\":[",
                    done->count);
    for (size_t i = 0; i < done->count; i++) {
        text_add_string(out, i > 0 ? "," : "");
        text_add_string(out, class_list_name(done->classes, done->items[i].class));
    }
    text_add_string(out, "]}");
}

void finish_infer(response *out, job *done)
{
    const bool scores = is_wanted(done->body, "scores"), classes = is_wanted(done->body, "class");
    const char *id = json_string_value(json_object_get(done->body, "id"));
    text body = {0};
    for (size_t i = 0; i < done->count; i++)
        if (done->items[i].why.status) {
            route_inference_problem(out, &done->items[i].why);
            return;
        }
    text_add_format(&body, "{\"model_name\":\"%s\",\"model_version\":\"1\",", done->model);
    if (id) {
        text_add_string(&body, "\"id\":");
        text_add_json_string(&body, id);
        text_add_string(&body, ",");
    }
    text_add_string(&body, "\"outputs\":[");
    if (scores)
        add_scores(&body, done);
    text_add_string(&body, scores && classes ? "," : "");
    if (classes)
        add_classes(&body, done);
    text_add_string(&body, "]}");
    *out = (response){.status = 200, .type = "application/json", .body = body.bytes, .size = body.size};
}

static void answer_flag(response *out, const char *name)
{
    char *bytes = app_text("{\"%s\":true}", name);
    *out = (response){.status = 200, .type = "application/json", .body = bytes, .size = strlen(bytes)};
}

void answer_server_live(response *out, const request *given, engine *from, const char *model, problem *why)
{
    (void)given;
    (void)from;
    (void)model;
    (void)why;
    answer_flag(out, "live");
}

void finish_server_ready(response *out, job *done)
{
    (void)done;
    answer_flag(out, "ready");
}

void finish_model_ready(response *out, job *done)
{
    char *bytes = app_text("{\"name\":\"%s\",\"ready\":true}", done->model);
    *out = (response){.status = 200, .type = "application/json", .body = bytes, .size = strlen(bytes)};
}

void answer_server(response *out, const request *given, engine *from, const char *model, problem *why)
{
    (void)given;
    (void)from;
    (void)model;
    (void)why;
    char *bytes = app_text("{\"name\":\"unconfuse\",\"version\":\"%s\",\"extensions\":[]}", uc_version());
    *out = (response){.status = 200, .type = "application/json", .body = bytes, .size = strlen(bytes)};
}

void finish_metadata(response *out, job *done)
{
    const json_int_t K = (json_int_t)json_array_size(json_object_get(done->json, "classes"));
    json_t *json =
        json_pack("{ss s[s] ss s[{ss ss s[ii]}] s[{ss ss s[iI]},{ss ss s[i]}]}", "name", done->model,
                  "versions", "1", "platform", "unconfuse", "inputs", "name", "features", "datatype", "FP32",
                  "shape", -1, -1, "outputs", "name", "scores", "datatype", "FP64", "shape", -1, K, "name",
                  "class", "datatype", "BYTES", "shape", -1);
    char *bytes = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    *out = (response){.status = 200, .type = "application/json", .body = bytes, .size = strlen(bytes)};
}
