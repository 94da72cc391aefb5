#define _GNU_SOURCE
#include "service/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/json.h"
#include "service/features.h"

void event_names_see(event_names *self, const journal_row *row)
{
    if (row->kind != JOURNAL_DEFINE || !row->text)
        return;
    json_t *definition = json_loads(row->text, 0, NULL);
    json_t *classes = json_incref(json_object_get(definition, "classes"));
    json_decref(definition);
    if (!classes)
        return;
    json_decref(self->classes);
    self->classes = classes;
}

void event_names_free(event_names *self)
{
    json_decref(self->classes);
    self->classes = NULL;
}

const char *event_class(const event_names *self, uint32_t class)
{
    return json_string_value(json_array_get(self->classes, class));
}

bool event_is_whole(const event_names *self, const journal_row *row)
{
    json_t *definition;
    features given;
    bool whole = row->kind >= JOURNAL_DEFINE && row->kind <= JOURNAL_ROLLBACK;
    switch (row->kind) {
    case JOURNAL_DEFINE:
        definition = json_loads(row->text ? row->text : "", 0, NULL);
        whole = json_is_array(json_object_get(definition, "classes"));
        json_decref(definition);
        break;
    case JOURNAL_PROPOSAL:
        whole = row->id && event_class(self, row->proposed) && row->probability > 0.0 &&
                row->probability <= 1.0 && features_parse(&given, row->features, row->features_size);
        if (whole)
            features_free(&given);
        break;
    case JOURNAL_FEEDBACK:
        whole = row->event > 0 && (row->answer == JOURNAL_WRONG || row->answer == JOURNAL_RIGHT) &&
                (row->label == UC_NONE || event_class(self, row->label));
        break;
    case JOURNAL_EXPIRY:
    case JOURNAL_ROLLBACK:
        whole = row->event > 0 && row->event < row->sequence;
        break;
    default:
        break;
    }
    return whole;
}

void event_time(char *out, int64_t milliseconds)
{
    const time_t seconds = (time_t)(milliseconds / 1000);
    struct tm utc;
    (void)gmtime_r(&seconds, &utc);
    const size_t length = strftime(out, 25, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(out + length, 32 - length, ".%03dZ", (int)(milliseconds % 1000));
}

static json_t *class_json(const event_names *names, uint32_t class)
{
    const char *name = event_class(names, class);
    return name ? json_string(name) : json_null();
}

static void add_proposal(json_t *json, const event_names *names, const journal_row *row)
{
    features given;
    (void)json_object_set_new(json, "id", app_json_text(row->id));
    if (features_parse(&given, row->features, row->features_size)) {
        (void)json_object_set_new(json, "features", features_json(&given));
        (void)json_object_set_new(json, "features_kind", json_string(features_kind_name(given.kind)));
        features_free(&given);
    }
    (void)json_object_set_new(json, "class", class_json(names, row->proposed));
    (void)json_object_set_new(json, "probability", json_real(row->probability));
    (void)json_object_set_new(json, "favourite", class_json(names, row->favourite));
    if (row->text)
        (void)json_object_set_new(json, "baseline", app_json_text(row->text));
}

static const char *const kinds[] = {"unknown", "define", "proposal", "feedback", "expiry", "rollback"};

json_t *event_json(const event_names *names, const journal_row *row)
{
    char when[32];
    const bool known = row->kind >= JOURNAL_DEFINE && row->kind <= JOURNAL_ROLLBACK;
    event_time(when, row->time);
    json_t *json = json_pack("{sI ss ss}", "sequence", (json_int_t)row->sequence, "time", when, "kind",
                             kinds[known ? row->kind : 0]);
    if (row->kind == JOURNAL_PROPOSAL)
        add_proposal(json, names, row);
    if (row->kind == JOURNAL_DEFINE)
        (void)json_object_set_new(json, "definition", json_loads(row->text ? row->text : "{}", 0, NULL));
    if (row->kind == JOURNAL_ROLLBACK)
        (void)json_object_set_new(json, "to", json_integer(row->event));
    if (row->kind == JOURNAL_FEEDBACK || row->kind == JOURNAL_EXPIRY)
        (void)json_object_set_new(json, "event", json_integer(row->event));
    if (row->kind == JOURNAL_FEEDBACK && row->text)
        (void)json_object_set_new(json, "id", app_json_text(row->text));
    if (row->answer != JOURNAL_NO_ANSWER)
        (void)json_object_set_new(json, "right", json_boolean(row->answer == JOURNAL_RIGHT));
    if (row->label != UC_NONE)
        (void)json_object_set_new(json, "label", class_json(names, row->label));
    return json;
}

/* ---- parsing ---- */

/* Milliseconds; 0 if it is not a time. */
static int64_t parse_time(const char *typed)
{
    struct tm utc = {0};
    char *end = NULL;
    const char *rest = typed ? strptime(typed, "%Y-%m-%dT%H:%M:%S", &utc) : NULL;
    const long milliseconds = rest && *rest == '.' ? strtol(rest + 1, &end, 10) : -1;
    if (milliseconds < 0 || milliseconds > 999 || strcmp(end, "Z") != 0)
        return 0;
    return (int64_t)timegm(&utc) * 1000 + milliseconds;
}

static journal_kind parse_kind(const char *typed)
{
    for (int kind = JOURNAL_DEFINE; kind <= JOURNAL_ROLLBACK; kind++)
        if (typed && strcmp(typed, kinds[kind]) == 0)
            return (journal_kind)kind;
    return (journal_kind)0;
}

static uint32_t parse_class(const json_t *json, const char *member, const uc_names *classes)
{
    const char *name = json_string_value(json_object_get(json, member));
    return name && classes ? uc_names_find(classes, name, strlen(name)) : UC_NONE;
}

static bool parse_features(event_parsed *out, const json_t *json, problem *why)
{
    const json_t *values = json_object_get(json, "features");
    const features_kind kind = features_named_kind(json_object_get(json, "features_kind"), values);
    features given;
    if (!features_read_as(&given, values, kind, "features", why))
        return false;
    out->features = features_bytes(&given, &out->row.features_size);
    out->row.features = out->features;
    features_free(&given);
    return true;
}

bool event_parse(event_parsed *out, const json_t *json, const uc_names *classes, problem *why)
{
    const json_t *right = json_object_get(json, "right"), *event = json_object_get(json, "event");
    const json_t *label = json_object_get(json, "label");
    journal_row *row = &out->row;
    const char *id = json_string_value(json_object_get(json, "id"));
    *out = (event_parsed){.row = {.sequence = json_integer_value(json_object_get(json, "sequence")),
                                  .time = parse_time(json_string_value(json_object_get(json, "time"))),
                                  .kind = parse_kind(json_string_value(json_object_get(json, "kind"))),
                                  .event = json_integer_value(event ? event : json_object_get(json, "to")),
                                  .proposed = UC_NONE,
                                  .favourite = UC_NONE,
                                  .answer = JOURNAL_NO_ANSWER,
                                  .label = parse_class(json, "label", classes)}};
    bool whole = row->sequence > 0 && row->time > 0 && row->kind && (!label || row->label != UC_NONE);
    if (json_is_boolean(right))
        row->answer = json_is_true(right) ? JOURNAL_RIGHT : JOURNAL_WRONG;
    if (row->kind == JOURNAL_DEFINE) {
        out->text = json_dumps(json_object_get(json, "definition"), JSON_COMPACT | JSON_REAL_PRECISION(17));
        row->text = out->text;
        whole = whole && out->text;
    } else if (row->kind == JOURNAL_PROPOSAL) {
        row->id = id;
        row->text = json_string_value(json_object_get(json, "baseline"));
        row->proposed = parse_class(json, "class", classes);
        row->favourite = parse_class(json, "favourite", classes);
        row->probability = json_number_value(json_object_get(json, "probability"));
        whole = whole && parse_features(out, json, why);
    } else if (row->kind == JOURNAL_FEEDBACK) {
        row->text = id;
    }
    if (whole)
        return true;
    event_parsed_free(out);
    if (why->status)
        return false;
    return problem_set(why, 503, "it is not a row of a journal");
}

void event_parsed_free(event_parsed *self)
{
    free(self->features);
    free(self->text);
    *self = (event_parsed){0};
}
