/* A model as GET shows it, and what is saved in addition to the model file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/json.h"
#include "app/memory.h"
#include "service/served.h"

/* ---- showing ---- */

static json_t *count_json(uint64_t count)
{
    return json_integer((json_int_t)count);
}

static json_t *ratio_json(uint64_t part, uint64_t whole)
{
    return whole ? json_real((double)part / (double)whole) : json_null();
}

static json_t *proposed_json(const served *self)
{
    json_t *json = json_object();
    const uc_names *classes = served_classes(self);
    for (size_t k = 0; k < classes->count; k++)
        (void)json_object_set_new(json, classes->text[k], count_json(self->proposed[k]));
    return json;
}

static json_t *counts_json(const uint64_t *counts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(list, count_json(counts[i]));
    return list;
}

/* null if there are too many classes. */
static json_t *confusion_json(const served *self)
{
    const size_t K = served_classes(self)->count;
    if (!self->confusion)
        return json_null();
    json_t *rows = json_array();
    for (size_t label = 0; label < K; label++)
        (void)json_array_append_new(rows, counts_json(self->confusion + label * self->class_room, K));
    return rows;
}

static json_t *drift_json(const served *self)
{
    if (self->drift_sequence == 0)
        return json_null();
    return json_pack("{sI sI sf sf sI}", "sequence", (json_int_t)self->drift_sequence, "answers",
                     (json_int_t)self->drift.round, "before", self->drift.before, "after", self->drift.after,
                     "alarms", (json_int_t)self->drift.alarms);
}

json_t *served_state(const served *self)
{
    json_t *json = json_object();
    (void)json_object_set_new(json, "name", json_string(self->name));
    (void)json_object_update(json, self->definition);
    (void)json_object_set_new(json, "sequence", json_integer(self->sequence));
    (void)json_object_set_new(json, "proposals", count_json(self->events.proposals));
    (void)json_object_set_new(json, "answered", count_json(self->answered));
    (void)json_object_set_new(json, "right", count_json(self->right));
    (void)json_object_set_new(json, "waiting", count_json(self->waits.count));
    (void)json_object_set(json, "expiry", json_object_get(self->definition, "expired"));
    (void)json_object_set_new(json, "expired", count_json(self->events.expired));
    (void)json_object_set_new(json, "ratio_correct", ratio_json(self->right, self->answered));
    (void)json_object_set_new(json, "recent_ratio_correct", app_json_real(served_recent(self)));
    (void)json_object_set_new(json, "agreement", ratio_json(self->events.agreed, self->events.compared));
    (void)json_object_set_new(json, "drift", drift_json(self));
    (void)json_object_set_new(json, "columns", json_integer((json_int_t)self->names.columns.count));
    (void)json_object_set_new(json, "proposed", proposed_json(self));
    (void)json_object_set_new(json, "confusion", confusion_json(self));
    return json;
}

/* ---- saving ---- */

static json_t *recent_json(const served *self)
{
    char text[SERVED_RECENT + 1];
    for (size_t i = 0; i < self->recent_count; i++) /* the oldest first */
        text[i] = self->recent[(self->recent_at + SERVED_RECENT - self->recent_count + i) % SERVED_RECENT]
                      ? '1'
                      : '0';
    text[self->recent_count] = 0;
    return json_string(text);
}

/* Everything in uc_drift, in the order of its fields. */
static json_t *kept_drift_json(const served *self)
{
    const uc_drift *drift = &self->drift;
    json_t *levels = json_array();
    for (size_t level = 0; level < UC_DRIFT_LEVELS; level++)
        (void)json_array_append_new(levels, counts_json(drift->sums[level], drift->counts[level]));
    return json_pack("{sI sI sI sI sf sf sI sI so}", "sequence", (json_int_t)self->drift_sequence, "rounds",
                     (json_int_t)drift->rounds, "alarms", (json_int_t)drift->alarms, "round",
                     (json_int_t)drift->round, "before", drift->before, "after", drift->after, "width",
                     (json_int_t)drift->width, "right", (json_int_t)drift->right, "levels", levels);
}

/* A waiting row as it was scaled for its proposal; the journal has the unscaled row. */
static json_t *scaled_json(const encoded *line)
{
    json_t *values = json_array(), *columns = json_null();
    for (size_t i = 0; i < line->row.count; i++)
        (void)json_array_append_new(values, json_real((double)line->values[i]));
    if (line->columns) {
        columns = json_array();
        for (size_t i = 0; i < line->row.count; i++)
            (void)json_array_append_new(columns, json_integer(line->columns[i]));
    }
    return json_pack("{so so}", "values", values, "columns", columns);
}

static json_t *scaled_rows_json(const served *self)
{
    json_t *rows = json_array();
    for (const pending *event = self->waits.oldest; event && self->scaling; event = event->newer)
        (void)json_array_append_new(rows, scaled_json(&event->row));
    return rows;
}

static encoded scaled_from_json(const json_t *json)
{
    const json_t *values = json_object_get(json, "values"), *columns = json_object_get(json, "columns");
    encoded line = {.values = app_calloc(json_array_size(values), sizeof *line.values)};
    if (json_is_array(columns))
        line.columns = app_calloc(json_array_size(values), sizeof *line.columns);
    for (size_t i = 0; i < json_array_size(values); i++) {
        line.values[i] = (float)json_number_value(json_array_get(values, i));
        if (line.columns)
            line.columns[i] = (uint32_t)json_integer_value(json_array_get(columns, i));
    }
    line.row = (uc_row){json_array_size(values), line.values, line.columns};
    return line;
}

char *served_keep(const served *self)
{
    json_t *waits = json_array(), *labels = json_array(), *favourites = json_array(), *odds = json_array();
    for (const pending *event = self->waits.oldest; event; event = event->newer) {
        (void)json_array_append_new(waits, json_integer(event->sequence));
        (void)json_array_append_new(labels, json_integer(event->proposal.label));
        (void)json_array_append_new(favourites, json_integer(event->proposal.favourite));
        (void)json_array_append_new(odds, json_real(event->proposal.probability));
    }
    const size_t K = served_classes(self)->count;
    json_t *json = json_pack(
        "{sI sI sO sI so so so so so sI sI sI sI sI sI so so so so}", "sequence", (json_int_t)self->sequence,
        "time", (json_int_t)self->time, "definition", self->definition, "seed", (json_int_t)self->seed,
        "names", dictionary_json(&self->names), "waits", waits, "labels", labels, "favourites", favourites,
        "probabilities", odds, "proposals", (json_int_t)self->events.proposals, "answered",
        (json_int_t)self->answered, "right", (json_int_t)self->right, "expired",
        (json_int_t)self->events.expired, "compared", (json_int_t)self->events.compared, "agreed",
        (json_int_t)self->events.agreed, "proposed", counts_json(self->proposed, K), "confusion",
        confusion_json(self), "recent", recent_json(self), "drift", kept_drift_json(self));
    if (self->scaling != SERVED_UNSCALED)
        (void)json_object_set_new(json, "scaled", scaled_rows_json(self));
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(json);
    return text;
}

/* ---- restoring ---- */

static uint64_t count_of(const json_t *json, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(json, name));
}

static void restore_recent(served *self, const char *text)
{
    for (; text && *text && self->recent_count < SERVED_RECENT; text++)
        self->recent[self->recent_count++] = *text == '1';
    self->recent_at = self->recent_count % SERVED_RECENT;
}

static void restore_drift(served *self, const json_t *json)
{
    uc_drift *drift = &self->drift;
    const json_t *levels = json_object_get(json, "levels");
    self->drift_sequence = json_integer_value(json_object_get(json, "sequence"));
    drift->rounds = count_of(json, "rounds");
    drift->alarms = count_of(json, "alarms");
    drift->round = count_of(json, "round");
    drift->before = json_number_value(json_object_get(json, "before"));
    drift->after = json_number_value(json_object_get(json, "after"));
    drift->width = count_of(json, "width");
    drift->right = count_of(json, "right");
    for (size_t level = 0; level < json_array_size(levels) && level < UC_DRIFT_LEVELS; level++) {
        const json_t *sums = json_array_get(levels, level);
        for (size_t i = 0; i < json_array_size(sums) && i < UC_DRIFT_PER_LEVEL; i++)
            drift->sums[level][drift->counts[level]++] =
                (uint64_t)json_integer_value(json_array_get(sums, i));
    }
}

static void restore_counts(served *self, const json_t *json)
{
    const json_t *proposed = json_object_get(json, "proposed"), *rows = json_object_get(json, "confusion");
    self->events.proposals = count_of(json, "proposals");
    self->answered = count_of(json, "answered");
    self->right = count_of(json, "right");
    self->events.expired = count_of(json, "expired");
    self->events.compared = count_of(json, "compared");
    self->events.agreed = count_of(json, "agreed");
    for (size_t k = 0; k < json_array_size(proposed) && k < self->class_room; k++)
        self->proposed[k] = (uint64_t)json_integer_value(json_array_get(proposed, k));
    for (size_t label = 0; self->confusion && label < json_array_size(rows) && label < self->class_room;
         label++) {
        const json_t *row = json_array_get(rows, label);
        for (size_t k = 0; k < json_array_size(row) && k < self->class_room; k++)
            self->confusion[label * self->class_room + k] =
                (uint64_t)json_integer_value(json_array_get(row, k));
    }
    restore_drift(self, json_object_get(json, "drift"));
    restore_recent(self, json_string_value(json_object_get(json, "recent")));
}

typedef struct restoring {
    served *self;
    const json_t *kept;
    size_t next; /* position in the list of waiting proposals */
    problem *why;
} restoring;

/* Restores a proposal if it was waiting; rows in between are skipped. */
static bool restore_waiting(const journal_row *row, void *user)
{
    restoring *job = user;
    const size_t at = job->next;
    features given;
    encoded line;
    if (!row->id || !row->features || !features_parse(&given, row->features, row->features_size))
        return problem_set(job->why, 503, "row %lld of the journal is no proposal", (long long)row->sequence);
    const bool known = dictionary_encode(&line, &job->self->names, &given, job->why);
    features_free(&given);
    if (!known)
        return false;
    if (job->self->scaling != SERVED_UNSCALED) {
        encoded_free(&line);
        line = scaled_from_json(json_array_get(json_object_get(job->kept, "scaled"), at));
    }
    const uc_proposal proposal = {
        .label = (uint32_t)json_integer_value(json_array_get(json_object_get(job->kept, "labels"), at)),
        .favourite =
            (uint32_t)json_integer_value(json_array_get(json_object_get(job->kept, "favourites"), at)),
        .probability = json_number_value(json_array_get(json_object_get(job->kept, "probabilities"), at)),
        .ticket = UINT64_MAX}; /* its scores are no longer in memory */
    (void)waiting_add(&job->self->waits, row->id, row->sequence, row->time, &line, &proposal);
    job->next++;
    return true;
}

static bool restore_waits(served *self, const json_t *kept, journal *from, problem *why)
{
    const json_t *waits = json_object_get(kept, "waits");
    restoring job = {.self = self, .kept = kept, .why = why};
    for (size_t i = 0; i < json_array_size(waits); i++) {
        const int64_t sequence = json_integer_value(json_array_get(waits, i));
        if (!journal_each(from, self->number, sequence - 1, sequence, restore_waiting, &job, why))
            return false;
        if (job.next != i + 1)
            return problem_set(why, 503, "row %lld, which waits, is not in the journal", (long long)sequence);
    }
    return true;
}

bool served_restore(served *self, const uc_model *model, const char *kept, journal *from, problem *why)
{
    json_t *json = json_loads(kept, 0, NULL);
    const json_t *definition = json_object_get(json, "definition");
    char *text = json_dumps(definition ? definition : json, JSON_COMPACT | JSON_ENCODE_ANY);
    journal_row row = {.kind = JOURNAL_DEFINE, .text = text};
    uc_online *online = NULL;
    bool restored = false;
    if (!definition || !text) {
        (void)problem_set(why, 503, "the state of the snapshot is damaged");
        goto cleanup;
    }
    const uc_status status = uc_online_resume(&online, model);
    if (status != UC_OK) {
        (void)problem_of_library(why, status);
        goto cleanup;
    }
    self->online = online;
    if (!served_perform(self, &row, why))
        goto cleanup;
    self->seed = count_of(json, "seed");
    if (!dictionary_restore(&self->names, json_object_get(json, "names"))) {
        (void)problem_set(why, 503, "the names of the snapshot are damaged");
        goto cleanup;
    }
    restore_counts(self, json);
    if (!restore_waits(self, json, from, why))
        goto cleanup;
    self->sequence = json_integer_value(json_object_get(json, "sequence"));
    self->time = json_integer_value(json_object_get(json, "time"));
    restored = true;

cleanup:
    free(text);
    json_decref(json);
    return restored;
}

bool served_take_learner(served *self, served *other, problem *why)
{
    char *text = json_dumps(self->definition, JSON_COMPACT);
    journal_row row = {.kind = JOURNAL_DEFINE, .sequence = self->sequence, .time = self->time, .text = text};
    uc_online_free(self->online);
    self->online = other->online;
    other->online = NULL;
    for (pending *event = self->waits.oldest; event; event = event->newer)
        event->proposal.ticket = UINT64_MAX;
    const bool defined = served_perform(self, &row, why); /* classes that were added later */
    free(text);
    return defined;
}
