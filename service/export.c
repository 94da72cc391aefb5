/* Exports the events of a model, each with its proposal, probability and answer, as JSON lines, CSV or
 * DSJSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"
#include "app/message.h"
#include "service/columns.h"
#include "service/engine.h"
#include "service/events.h"
#include "service/service.h"

typedef struct exporting {
    journal *from;
    int64_t model;
    event_names names;
    const service_export *to;
    text line;
    columns columns; /* for CSV */
    problem *why;
    bool failed;
} exporting;

/* The answer to the current event. */
typedef struct outcome {
    int answer; /* journal_answer */
    uint32_t label;
    bool expired;
    int64_t damaged; /* the row of an invalid answer; 0: none */
    const event_names *names;
} outcome;

static bool see_answer(const journal_row *row, void *user)
{
    outcome *out = user;
    out->expired = row->kind == JOURNAL_EXPIRY;
    out->answer = out->expired ? JOURNAL_NO_ANSWER : row->answer;
    out->label = row->label;
    if (!event_is_whole(out->names, row))
        out->damaged = row->sequence;
    return true;
}

static bool refuse_row(exporting *self, int64_t sequence)
{
    self->failed = true;
    return problem_set(self->why, 503, "row %lld of the journal is damaged", (long long)sequence);
}

static bool write_line(exporting *self)
{
    text_add_string(&self->line, "\n");
    const bool written = self->to->write(self->line.bytes, self->line.size, self->to->user);
    self->line.size = 0;
    return written;
}

/* ---- JSON lines ---- */

static bool write_jsonl(exporting *self, const journal_row *row, const outcome *found)
{
    json_t *json = event_json(&self->names, row);
    (void)json_object_del(json, "kind");
    (void)json_object_set_new(
        json, "right",
        found->answer == JOURNAL_NO_ANSWER ? json_null() : json_boolean(found->answer == JOURNAL_RIGHT));
    if (found->label != UC_NONE)
        (void)json_object_set_new(json, "label", json_string(event_class(&self->names, found->label)));
    (void)json_object_set_new(json, "expired", json_boolean(found->expired));
    char *line = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
    text_add_string(&self->line, line);
    free(line);
    json_decref(json);
    return write_line(self);
}

/* ---- DSJSON ---- */

/* Only the sum of the other classes' probabilities is known. */
static bool write_dsjson(exporting *self, const journal_row *row, const outcome *found)
{
    const size_t K = json_array_size(self->names.classes);
    const double rest = K > 1 ? (1.0 - row->probability) / (double)(K - 1) : 0.0;
    json_t *actions = json_array(), *odds = json_array(), *multi = json_array();
    features given;
    char when[32];
    event_time(when, row->time);
    (void)json_array_append_new(actions, json_integer((json_int_t)row->proposed + 1));
    (void)json_array_append_new(odds, json_real(row->probability));
    for (size_t k = 0; k < K; k++) {
        (void)json_array_append_new(
            multi, json_pack("{s{sO}}", "b_", "class", json_array_get(self->names.classes, k)));
        if (k == row->proposed)
            continue;
        (void)json_array_append_new(actions, json_integer((json_int_t)k + 1));
        (void)json_array_append_new(odds, json_real(rest));
    }
    json_t *json = json_pack("{sI sf sI}", "_labelIndex", (json_int_t)row->proposed, "_label_probability",
                             row->probability, "_label_Action", (json_int_t)row->proposed + 1);
    if (found->answer != JOURNAL_NO_ANSWER)
        (void)json_object_set_new(json, "_label_cost", json_integer(found->answer == JOURNAL_RIGHT ? -1 : 0));
    json_t *context = json_object();
    if (features_parse(&given, row->features, row->features_size)) {
        (void)json_object_set_new(context, "features", features_json(&given));
        (void)json_object_set_new(context, "_features_kind", json_string(features_kind_name(given.kind)));
        features_free(&given);
    }
    (void)json_object_set_new(context, "_multi", multi);
    (void)json_object_set_new(json, "Timestamp", json_string(when));
    (void)json_object_set_new(json, "Version", json_string("1"));
    (void)json_object_set_new(json, "EventId", json_string(row->id));
    (void)json_object_set_new(json, "a", actions);
    (void)json_object_set_new(json, "c", context);
    (void)json_object_set_new(json, "p", odds);
    char *line = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
    text_add_string(&self->line, line);
    free(line);
    json_decref(json);
    return write_line(self);
}

/* ---- CSV ---- */

/* The first pass: finds the columns. */
static bool see_columns(const journal_row *row, void *user)
{
    exporting *self = user;
    features given;
    event_names_see(&self->names, row);
    if (!event_is_whole(&self->names, row))
        return refuse_row(self, row->sequence);
    if (row->kind != JOURNAL_PROPOSAL || !features_parse(&given, row->features, row->features_size))
        return true;
    self->failed = !columns_see(&self->columns, &given);
    features_free(&given);
    return !self->failed;
}

static bool write_header(exporting *self)
{
    text_add_string(&self->line, "id");
    columns_add_names(&self->line, &self->columns);
    text_add_string(&self->line, ",class,probability,right");
    return write_line(self);
}

static bool write_csv(exporting *self, const journal_row *row, const outcome *found)
{
    static const char *const answers[] = {"false", "true", ""};
    features given;
    columns_add_field(&self->line, row->id);
    if (features_parse(&given, row->features, row->features_size)) {
        columns_add_values(&self->line, &self->columns, &given);
        features_free(&given);
    }
    text_add_string(&self->line, ",");
    columns_add_field(&self->line, event_class(&self->names, row->proposed));
    text_add_string(&self->line, ",");
    text_add_number(&self->line, row->probability);
    text_add_format(&self->line, ",%s", answers[found->answer]);
    return write_line(self);
}

/* ---- all formats ---- */

static bool export_row(const journal_row *row, void *user)
{
    exporting *self = user;
    outcome found = {.answer = JOURNAL_NO_ANSWER, .label = UC_NONE, .names = &self->names};
    event_names_see(&self->names, row);
    if (!event_is_whole(&self->names, row))
        return refuse_row(self, row->sequence);
    if (row->kind != JOURNAL_PROPOSAL)
        return true;
    bool done = journal_find_answer(self->from, self->model, row->sequence, see_answer, &found, self->why);
    if (done && found.damaged)
        return refuse_row(self, found.damaged);
    if (done && strcmp(self->to->format, "csv") == 0)
        done = write_csv(self, row, &found);
    else if (done && strcmp(self->to->format, "dsjson") == 0)
        done = write_dsjson(self, row, &found);
    else if (done)
        done = write_jsonl(self, row, &found);
    self->failed = !done;
    return done;
}

uc_status service_journal(const char *directory, const char *model, const service_export *to)
{
    problem why = {0};
    exporting self = {.to = to, .why = &why};
    bool done = directory_journal(&self.from, directory, &why) &&
                directory_model(&self.model, self.from, model, &why);
    if (done && strcmp(to->format, "csv") == 0)
        done = journal_each(self.from, self.model, 0, INT64_MAX, see_columns, &self, &why) &&
               write_header(&self);
    if (done)
        done = journal_each(self.from, self.model, 0, INT64_MAX, export_row, &self, &why);
    event_names_free(&self.names);
    columns_free(&self.columns);
    free(self.line.bytes);
    journal_close(self.from);
    if (!done && why.status)
        return app_fail(UC_ERR_IO, "%s: %s", directory, why.detail);
    return done ? UC_OK : UC_ERR_IO;
}
