#define _GNU_SOURCE
#include "service/events.h"

#include <stdio.h>
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
        whole = row->answer >= JOURNAL_WRONG && row->answer <= JOURNAL_NO_ANSWER &&
                (row->label == UC_NONE || event_class(self, row->label));
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
        features_free(&given);
    }
    (void)json_object_set_new(json, "class", class_json(names, row->proposed));
    (void)json_object_set_new(json, "probability", json_real(row->probability));
    (void)json_object_set_new(json, "favourite", class_json(names, row->favourite));
    if (row->text)
        (void)json_object_set_new(json, "baseline", app_json_text(row->text));
}

json_t *event_json(const event_names *names, const journal_row *row)
{
    static const char *const kinds[] = {"unknown", "define", "proposal", "feedback", "expiry", "rollback"};
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
