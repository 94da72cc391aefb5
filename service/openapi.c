/* Makes openapi.json from the table of routes. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "app/memory.h"
#include "service/routes_inside.h"

/* Schemas of the bodies; the table of routes uses the same names. */
static const char schemas[] =
    "{\"Features\":{\"description\":\"numbers by position; by column number, from 1; or numbers, categories "
    "and "
    "text by name\",\"oneOf\":[{\"type\":\"array\",\"items\":{\"type\":[\"number\",\"boolean\"]}},"
    "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"number\",\"string\",\"boolean\",\"null\"]}}]}"
    ","
    "\"Definition\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"classes\"],"
    "\"properties\":{"
    "\"learner\":{\"type\":\"string\",\"default\":\"onebit\"},"
    "\"classes\":{\"type\":\"array\",\"minItems\":2,\"items\":{\"type\":\"string\"}},"
    "\"settings\":{\"type\":\"object\"},\"mode\":{\"enum\":[\"online\",\"apprentice\"]},"
    "\"explore\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},"
    "\"expired\":{\"enum\":[\"ignore\",\"wrong\"]}}},"
    "\"Example\":{\"type\":\"object\",\"properties\":{\"features\":{\"$ref\":\"#/components/schemas/"
    "Features\"},"
    "\"id\":{\"type\":\"string\",\"maxLength\":256},\"baseline\":{\"type\":\"string\"},"
    "\"examples\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Example\"}}}},"
    "\"Answer\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"right\":{\"type\":"
    "\"boolean\"},"
    "\"label\":{\"type\":\"string\"},\"answers\":{\"type\":\"array\",\"items\":{\"$ref\":"
    "\"#/components/schemas/Answer\"}}}},"
    "\"Reward\":{\"type\":\"object\",\"required\":[\"value\"],\"properties\":{\"value\":{\"type\":\"number\"}"
    "}},"
    "\"Rollback\":{\"type\":\"object\",\"required\":[\"sequence\"],\"properties\":{\"sequence\":{\"type\":"
    "\"integer\",\"minimum\":1}}},"
    "\"Inference\":{\"type\":\"object\",\"required\":[\"inputs\"],\"properties\":{\"inputs\":{\"type\":"
    "\"array\"}}},"
    "\"Problem\":{\"type\":\"object\",\"properties\":{\"type\":{\"type\":\"string\"},\"title\":{\"type\":"
    "\"string\"},\"status\":{\"type\":\"integer\"},\"detail\":{\"type\":\"string\"}}}}";

static json_t *content(const char *type, const char *schema)
{
    return json_pack("{s:{s:{s:{ss}}}}", "content", type, "schema", "$ref", schema);
}

/* The id that client generators use, such as "post_v1_models_name_propose". */
static json_t *operation_id(const route *self)
{
    char *name = app_text("%s%s", self->method, self->path);
    size_t length = 0;
    for (const char *from = name; *from; from++) {
        if (isalnum((unsigned char)*from))
            name[length++] = (char)tolower((unsigned char)*from);
        else if (length > 0 && name[length - 1] != '_')
            name[length++] = '_';
    }
    while (length > 0 && name[length - 1] == '_')
        length--;
    json_t *id = json_stringn(name, length);
    free(name);
    return id;
}

static json_t *operation_of(const route *self)
{
    json_t *operation = json_pack("{so ss}", "operationId", operation_id(self), "summary", self->summary);
    json_t *parameters = json_array();
    static const char *const holes[] = {"name", "id"};
    for (size_t i = 0; i < 2; i++) {
        char hole[16];
        (void)snprintf(hole, sizeof hole, "{%s}", holes[i]);
        if (strstr(self->path, hole))
            (void)json_array_append_new(parameters,
                                        json_pack("{ss ss sb s{ss}}", "name", holes[i], "in", "path",
                                                  "required", 1, "schema", "type", "string"));
    }
    const size_t length = strlen(self->path);
    if (length > 7 && strcmp(self->path + length - 7, "/events") == 0) {
        (void)json_array_append_new(parameters, json_pack("{ss ss s{ss}}", "name", "after", "in", "query",
                                                          "schema", "type", "integer"));
        (void)json_array_append_new(parameters, json_pack("{ss ss s{ss}}", "name", "limit", "in", "query",
                                                          "schema", "type", "integer"));
    }
    (void)json_object_set_new(operation, "parameters", parameters);
    if (self->body) {
        char schema[80];
        (void)snprintf(schema, sizeof schema, "#/components/schemas/%s", self->body);
        json_t *body = content("application/json", schema);
        (void)json_object_set_new(body, "required", json_true());
        (void)json_object_set_new(operation, "requestBody", body);
    }
    json_t *wrong = content("application/problem+json", "#/components/schemas/Problem");
    (void)json_object_set_new(wrong, "description", json_string("one sentence in detail"));
    (void)json_object_set_new(operation, "responses",
                              json_pack("{s{ss} so}", "2XX", "description", "done", "default", wrong));
    return operation;
}

char *route_openapi(void)
{
    json_t *paths = json_object();
    for (size_t i = 0; route_at(i); i++) {
        const route *self = route_at(i);
        char method[8] = "";
        for (size_t j = 0; j < sizeof method - 1 && self->method[j]; j++)
            method[j] = (char)(self->method[j] | 0x20);
        json_t *path = json_object_get(paths, self->path);
        if (!path) {
            path = json_object();
            (void)json_object_set_new(paths, self->path, path);
        }
        (void)json_object_set_new(path, method, operation_of(self));
    }
    json_t *json = json_pack("{ss s{ss ss} s[{s[]}{}] so s{so s{s{ss ss}}}}", "openapi", "3.1.0", "info",
                             "title", "unconfuse serve", "version", uc_version(), "security", "token",
                             "paths", paths, "components", "schemas", json_loads(schemas, 0, NULL),
                             "securitySchemes", "token", "type", "http", "scheme", "bearer");
    char *described = json_dumps(json, JSON_INDENT(1));
    json_decref(json);
    return described;
}
