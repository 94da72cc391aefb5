/* unconfuse serve: models that predict and learn over HTTP. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "service/service.h"

typedef struct serve_args {
    service_settings service;
    int durability;
    const char *model, *learner, *classes;
} serve_args;

#define SERVICE(member) offsetof(serve_args, service.member)

static const uc_option options[] = {
    {.name = "listen",
     .type = UC_OPTION_TEXT,
     .offset = SERVICE(listen),
     .argument = "ADDRESS:PORT",
     .help = "where to listen (127.0.0.1:8470); port 0: any free one, which the log names"},
    {.name = "token-file",
     .type = UC_OPTION_TEXT,
     .offset = SERVICE(token_file),
     .argument = "FILE",
     .help = "every request must carry the token in this file; needed for any address but loopback"},
    {.name = "tls-certificate",
     .type = UC_OPTION_TEXT,
     .offset = SERVICE(certificate),
     .argument = "FILE",
     .help = "serve HTTPS with this certificate (PEM)"},
    {.name = "tls-key",
     .type = UC_OPTION_TEXT,
     .offset = SERVICE(key),
     .argument = "FILE",
     .help = "the key of the certificate (PEM)"},
    {.name = "durability",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(serve_args, durability),
     .standard = "power",
     .choices = "power|crash",
     .help =
         "what an answered request survives: power: that the machine loses power; crash: that the process "
         "is killed"},
    {.name = "wait",
     .type = UC_OPTION_TEXT,
     .offset = SERVICE(wait),
     .argument = "TIME",
     .help = "how long a proposal waits for feedback before it expires, such as 90s, 12h or 7d (7d)"},
    {.name = "snapshot-every",
     .type = UC_OPTION_COUNT,
     .offset = SERVICE(snapshot_every),
     .standard = "10000",
     .low = 1,
     .high = 1e9,
     .help = "journal rows from one snapshot of a model to the next"},
    {.name = "keep-snapshots",
     .type = UC_OPTION_COUNT,
     .offset = SERVICE(keep_snapshots),
     .standard = "5",
     .low = 1,
     .high = 50,
     .help = "snapshots of a model that are kept"},
    {.name = "max-body",
     .type = UC_OPTION_BYTES,
     .offset = SERVICE(max_body),
     .standard = "1M",
     .low = 1024,
     .high = 1 << 30,
     .help = "the largest body of a request, from 1K to 1G"},
    {.name = "request-time",
     .type = UC_OPTION_TEXT,
     .offset = SERVICE(request_time),
     .argument = "TIME",
     .help = "how long the body of a request may take to arrive, and each megabyte of an answer to be taken "
             "(60s); a connection that is slower is closed"},
    {.name = "max-pending",
     .type = UC_OPTION_COUNT,
     .offset = SERVICE(max_pending),
     .standard = "100000",
     .low = 1,
     .high = 1e8,
     .help = "proposals of a model that may wait for feedback; more are refused with 429"},
    {.name = "follow",
     .type = UC_OPTION_TEXT,
     .offset = SERVICE(follow),
     .argument = "URL",
     .help =
         "copy the models of the service at http://HOST:PORT, row by row, and answer what changes nothing: "
         "predict, state, events, model files"},
    {.name = "follow-token-file",
     .type = UC_OPTION_TEXT,
     .offset = SERVICE(follow_token),
     .argument = "FILE",
     .help = "the token of the service that is followed"},
    {.name = "model",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(serve_args, model),
     .argument = "NAME",
     .help = "a model to make if it is not there"},
    {.name = "learner",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(serve_args, learner),
     .argument = "LEARNER",
     .help = "its learner, with settings if any, as in cspa-plus:bonus=0.5:scale=standard (onebit)"},
    {.name = "classes",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(serve_args, classes),
     .argument = "a,b,c",
     .help = "its classes, separated by commas"},
    {0},
};

static const app_section sections[] = {{"Options", options, 0}, {0}};

/* The value in the form that PUT expects: a number, true or false if it is one, otherwise text. */
static json_t *setting_json(const char *typed)
{
    char *end;
    const double number = strtod(typed, &end);
    json_t *value = json_loads(typed, JSON_DECODE_ANY, NULL);
    if (json_is_number(value) || json_is_boolean(value))
        return value;
    json_decref(value);
    if (*end == 0 && isfinite(number)) /* a number that is not JSON, such as .5 */
        return json_real(number);
    return app_json_text(typed);
}

/* Splits "cspa-plus:bonus=0.5" into the members "learner" and "settings". */
static uc_status define_learner(json_t *json, const char *typed)
{
    char *text = app_text("%s", typed), *rest = strchr(text, ':');
    json_t *settings = json_object();
    uc_status status = UC_OK;
    if (rest)
        *rest++ = 0;
    while (rest && status == UC_OK) {
        char *name = rest, *value = strchr(rest, '=');
        rest = strchr(rest, ':');
        if (rest)
            *rest++ = 0;
        if (!value || value == name || value[1] == 0) {
            status = app_fail(UC_ERR_OPTION, "--learner %s: a setting is written as NAME=VALUE, not as '%s'",
                              typed, name);
            break;
        }
        *value++ = 0;
        (void)json_object_set_new(settings, name, setting_json(value));
    }
    (void)json_object_set_new(json, "learner", app_json_text(text));
    if (json_object_size(settings) > 0)
        (void)json_object_set(json, "settings", settings);
    json_decref(settings);
    free(text);
    return status;
}

/* The definition of --model in the form that PUT expects; NULL if there is none. */
static uc_status define(char **out, const serve_args *args)
{
    uc_names classes = {0};
    if (!args->model && (args->learner || args->classes))
        return app_fail(UC_ERR_OPTION, "--learner and --classes are of a model: give --model NAME");
    if (!args->model)
        return UC_OK;
    json_t *json = json_object();
    uc_status status = UC_OK;
    if (args->classes) {
        status = cli_split_names(&classes, args->classes, "classes");
        (void)json_object_set_new(json, "classes", app_json_names(&classes));
    }
    if (args->learner && status == UC_OK)
        status = define_learner(json, args->learner);
    *out = json_dumps(json, JSON_COMPACT);
    uc_names_free(&classes);
    json_decref(json);
    return status;
}

static uc_status run(app_call *call)
{
    serve_args *args = call->args;
    service_settings *service = &args->service;
    char *definition = NULL;
    service->directory = call->words[0];
    service->crash_only = args->durability == 1;
    if (!service->listen)
        service->listen = "127.0.0.1:8470";
    if (!service->wait)
        service->wait = "7d";
    if (!service->request_time)
        service->request_time = "60s";
    uc_status status = define(&definition, args);
    service->model = args->model;
    service->definition = definition;
    if (status == UC_OK)
        status = service_run(service);
    free(definition);
    return status;
}

const app_command command_serve = {
    .name = "serve",
    .usage = "DIR [--listen ADDRESS:PORT] [--token-file FILE] [--model NAME --classes a,b,c]",
    .summary = "propose classes and learn from late answers over HTTP",
    .description =
        "A service that proposes a class for an example now, is told later whether it was right, and loses "
        "nothing: every event is in DIR/journal.db before it is answered, and a restart has the model of a "
        "service that never stopped. SIGTERM ends it with all events answered. The log on standard error has "
        "one JSON object a line. Propose with curl http://127.0.0.1:8470/v1/models/NAME/propose -d "
        "'{\"id\":\"t-1\",\"features\":[1,2]}' and tell with .../feedback -d "
        "'{\"id\":\"t-1\",\"right\":true}'; the dashboard is at http://127.0.0.1:8470/, and docs/service.md "
        "shows all requests.",
    .sections = sections,
    .args_size = sizeof(serve_args),
    .least = 1,
    .most = 1,
    .run = run,
};
