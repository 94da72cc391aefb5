/* How each kind of job is performed. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "app/memory.h"
#include "service/engine_inside.h"
#include "service/events.h"

#define MOST_MODELS 1000
#define MOST_EXPIRED 10000 /* per transaction */

/* ---- expiry ---- */

bool engine_expire(engine *self, entry *model, problem *why)
{
    const int64_t due = engine_now(model->model) - self->settings.wait;
    for (size_t i = 0; i < MOST_EXPIRED; i++) {
        const pending *oldest = model->model->waits.oldest;
        if (!oldest || oldest->time > due)
            return true;
        journal_row row = {.kind = JOURNAL_EXPIRY,
                           .event = oldest->sequence,
                           .proposed = UC_NONE,
                           .favourite = UC_NONE,
                           .answer =
                               model->model->policy.expired_is_wrong ? JOURNAL_WRONG : JOURNAL_NO_ANSWER,
                           .label = UC_NONE};
        if (!engine_row(self, model, &row, why))
            return false;
    }
    return true;
}

/* ---- definitions ---- */

static entry *add_new(engine *self, const char *name, problem *why)
{
    if (self->count >= MOST_MODELS) {
        (void)problem_set(why, 429, "there are %d models already, which is as many as there may be",
                          MOST_MODELS);
        return NULL;
    }
    if (!journal_add_model(self->writes, self->next_number, name, why)) {
        self->broken = *why;
        return NULL;
    }
    self->entries = app_realloc(self->entries, self->count + 1, sizeof *self->entries);
    entry *model = app_calloc(1, sizeof *model);
    model->model = served_create(self->next_number++, name);
    model->new = model->touched = true;
    self->entries[self->count++] = model;
    return model;
}

static void run_put(engine *self, job *work, entry *model)
{
    json_t *definition = NULL;
    bool changed;
    if (!served_define(&definition, &changed, model ? model->model : NULL, work->body, &work->why))
        return;
    char *json = json_dumps(definition, JSON_COMPACT | JSON_REAL_PRECISION(17));
    journal_row row = {.kind = JOURNAL_DEFINE,
                       .proposed = UC_NONE,
                       .favourite = UC_NONE,
                       .answer = JOURNAL_NO_ANSWER,
                       .label = UC_NONE,
                       .text = json};
    work->status = model ? 200 : 201;
    if (!model)
        model = add_new(self, work->model, &work->why);
    if (model && changed && engine_row(self, model, &row, &work->why)) {
        class_list_release(model->classes);
        model->classes = class_list_make(served_classes(model->model));
    }
    if (model && work->why.status == 0)
        work->json = served_state(model->model);
    free(json);
    json_decref(definition);
}

/* ---- proposals ---- */

/* Ids increase with the sequence, so that the journal's index grows at its end; the rest of an id cannot be
 * guessed. */
static char *make_id(engine *self, int64_t sequence)
{
    char rest[25];
    if (self->random_left < 12) {
        if (getrandom(self->random, sizeof self->random, 0) != (ssize_t)sizeof self->random)
            return NULL;
        self->random_left = sizeof self->random;
    }
    for (size_t i = 0; i < 12; i++)
        (void)snprintf(rest + 2 * i, 3, "%02x", self->random[--self->random_left]);
    return app_text("%010llx-%s", (unsigned long long)sequence, rest);
}

/* The id was already used for a proposal: with the same features it gets the same answer. */
static bool answer_again(const journal_row *row, void *user)
{
    job_item *item = user;
    const bool same = row->features_size == item->size && row->features &&
                      memcmp(row->features, item->bytes, item->size) == 0;
    if (!same)
        return problem_set(&item->why, 409, "the id '%.80s' was proposed for before, with other features",
                           item->id);
    item->repeated = true;
    item->class = row->proposed;
    item->probability = row->probability;
    item->sequence = row->sequence;
    return true;
}

/* Returns true if the id is new. */
static bool check_id(engine *self, entry *model, job_item *item)
{
    const pending *event = waiting_find_id(&model->model->waits, item->id);
    int64_t sequence = event ? event->sequence : 0;
    if (!event && !journal_find(&sequence, self->writes, model->model->number, item->id, &item->why))
        return false;
    if (sequence == 0)
        return true;
    (void)journal_each(self->writes, model->model->number, sequence - 1, sequence, answer_again, item,
                       &item->why);
    if (event && event->scores && item->why.status == 0) {
        const size_t K = served_classes(model->model)->count;
        item->scores = app_calloc(K, sizeof *item->scores);
        memcpy(item->scores, event->scores, K * sizeof *item->scores);
    }
    return false;
}

static bool check_baseline(const served *model, const job_item *item, problem *why)
{
    uint32_t baseline;
    if (!item->baseline && model->policy.apprentice)
        return problem_set(why, 400,
                           "baseline: a model in apprentice mode needs the class that you would take");
    return !item->baseline || served_class(&baseline, model, item->baseline, why);
}

static void propose(engine *self, entry *model, job_item *item)
{
    served *now = model->model;
    if (item->id && !check_id(self, model, item))
        return;
    if (!check_baseline(now, item, &item->why))
        return;
    if (now->waits.count >= self->settings.max_pending) {
        (void)problem_set(&item->why, 429,
                          "%zu proposals of %s wait for feedback, as many as may (--max-pending)",
                          now->waits.count, now->name);
        return;
    }
    if (!item->id)
        item->id = make_id(self, now->sequence + 1);
    if (!item->id) {
        (void)problem_set(&item->why, 503, "the system has no random numbers for an id");
        return;
    }
    journal_row row = {.kind = JOURNAL_PROPOSAL,
                       .id = item->id,
                       .features = item->bytes,
                       .features_size = item->size,
                       .proposed = UC_NONE,
                       .favourite = UC_NONE,
                       .answer = JOURNAL_NO_ANSWER,
                       .label = UC_NONE,
                       .text = item->baseline};
    if (!engine_row(self, model, &row, &item->why))
        return;
    const size_t K = served_classes(now)->count;
    item->class = row.proposed;
    item->probability = row.probability;
    item->sequence = row.sequence;
    item->scores = app_calloc(K, sizeof *item->scores);
    memcpy(item->scores, now->waits.newest->scores, K * sizeof *item->scores);
}

static void predict(entry *model, job_item *item)
{
    item->scores = app_calloc(served_classes(model->model)->count, sizeof *item->scores);
    (void)served_predict(&item->class, item->scores, model->model, &item->given, &item->why);
}

/* ---- feedback ---- */

typedef struct earlier {
    job_item *item;
    uint32_t label; /* given by the item */
    bool found;
} earlier;

/* Compares with an event that was answered, or has expired. */
static bool compare_answers(const journal_row *row, void *user)
{
    earlier *this = user;
    job_item *item = this->item;
    this->found = true;
    if (row->kind == JOURNAL_EXPIRY)
        return problem_set(&item->why, 410, "the event '%.80s' has expired", item->id);
    const bool labels_differ = row->label != UC_NONE && this->label != UC_NONE && row->label != this->label;
    if (row->answer != item->answer || labels_differ)
        return problem_set(&item->why, 409, "the event '%.80s' has another answer already", item->id);
    item->repeated = true;
    item->sequence = row->sequence;
    return true;
}

static bool copy_proposed(const journal_row *row, void *user)
{
    *(uint32_t *)user = row->proposed;
    return true;
}

/* Answers feedback for an id that is not waiting. */
static void answer_old(engine *self, entry *model, job_item *item)
{
    const int64_t number = model->model->number;
    int64_t sequence = 0;
    earlier this = {.item = item, .label = UC_NONE};
    uint32_t proposed = UC_NONE;
    if (!journal_find(&sequence, self->writes, number, item->id, &item->why))
        return;
    if (sequence == 0) {
        (void)problem_set(&item->why, 404, "there is no event '%.80s'", item->id);
        return;
    }
    if (!journal_each(self->writes, number, sequence - 1, sequence, copy_proposed, &proposed, &item->why))
        return;
    if (item->label) {
        if (!served_class(&this.label, model->model, item->label, &item->why))
            return;
        item->answer = this.label == proposed ? JOURNAL_RIGHT : JOURNAL_WRONG;
    }
    (void)journal_find_answer(self->writes, number, sequence, compare_answers, &this, &item->why);
    if (!this.found && item->why.status == 0)
        (void)problem_set(&item->why, 503, "the event '%.80s' is in the journal, but does not wait",
                          item->id);
}

static void answer(engine *self, entry *model, job_item *item)
{
    const pending *event = waiting_find_id(&model->model->waits, item->id);
    uint32_t label = UC_NONE;
    if (!event) {
        answer_old(self, model, item);
        return;
    }
    if (item->label) {
        if (!served_class(&label, model->model, item->label, &item->why))
            return;
        item->answer = label == event->proposal.label ? JOURNAL_RIGHT : JOURNAL_WRONG;
    }
    journal_row row = {.kind = JOURNAL_FEEDBACK,
                       .event = event->sequence,
                       .proposed = UC_NONE,
                       .favourite = UC_NONE,
                       .answer = item->answer,
                       .label = label,
                       .text = item->id}; /* for readers of the journal */
    if (engine_row(self, model, &row, &item->why))
        item->sequence = row.sequence;
}

/* ---- other jobs ---- */

static json_t *state_json(engine *self, const entry *model)
{
    json_t *json = served_state(model->model);
    (void)json_object_set_new(json, "snapshots", engine_snapshot_list(self, model));
    return json;
}

static void run_list(engine *self, job *work)
{
    json_t *list = json_array();
    for (size_t i = 0; i < self->count; i++)
        (void)json_array_append_new(list, state_json(self, self->entries[i]));
    work->json = json_pack("{so}", "models", list);
}

static void run_model(job *work, const served *now)
{
    uc_model *model = NULL;
    void *bytes = NULL;
    uc_status status = uc_online_model(&model, now->online, true);
    if (status == UC_OK)
        status = uc_model_save_memory(&bytes, &work->size, model);
    uc_model_free(model);
    work->bytes = bytes;
    work->is_model = true;
    work->sequence = now->sequence;
    if (status != UC_OK)
        (void)problem_of_library(&work->why, status);
}

static void run_snapshot(engine *self, job *work, entry *model)
{
    /* a transaction of its own: earlier rows must be on disk first */
    if (!journal_commit(self->writes, &work->why)) {
        self->broken = work->why;
        return;
    }
    if (!engine_snapshot(self, model, &work->why))
        return;
    work->json = json_pack("{sI}", "sequence", (json_int_t)model->model->sequence);
}

static void run_rollback(engine *self, job *work, entry *model)
{
    served *then = NULL, *now = model->model;
    int64_t snapshot;
    if (work->sequence < 1 || work->sequence > now->sequence) {
        (void)problem_set(&work->why, 400, "sequence: expected a number from 1 to %lld",
                          (long long)now->sequence);
        return;
    }
    journal_row row = {.kind = JOURNAL_ROLLBACK,
                       .event = work->sequence,
                       .proposed = UC_NONE,
                       .favourite = UC_NONE,
                       .answer = JOURNAL_NO_ANSWER,
                       .label = UC_NONE};
    if (!directory_load(&then, &snapshot, self->writes, self->directory, now->number, now->name,
                        work->sequence, NULL, &work->why))
        return;
    if (served_take_learner(now, then, &work->why) && engine_row(self, model, &row, &work->why))
        work->json = json_pack("{sI sI}", "sequence", (json_int_t)now->sequence, "rolled_back_to",
                               (json_int_t)work->sequence);
    served_free(then);
}

/* ---- rows of another service ---- */

/* Replaces the definition by what PUT would make of it here, so that it is complete. */
static bool check_definition(event_parsed *row, const served *now, problem *why)
{
    json_t *given = json_loads(row->text, 0, NULL), *made = NULL;
    bool changed;
    const bool good = served_define(&made, &changed, now, given, why);
    if (good) {
        free(row->text);
        row->text = json_dumps(made, JSON_COMPACT | JSON_REAL_PRECISION(17));
        row->row.text = row->text;
    }
    json_decref(given);
    json_decref(made);
    return good;
}

/* Checks everything that the other service checked before it made the row, since data from the network may be
 * anything. `now` is NULL for the first row. */
static bool check_row(engine *self, event_parsed *parsed, const served *now, problem *why)
{
    const journal_row *row = &parsed->row;
    const event_names names = {json_object_get(now ? now->definition : NULL, "classes")};
    const bool answers = row->kind == JOURNAL_FEEDBACK || row->kind == JOURNAL_EXPIRY;
    int64_t same_id = 0;
    if (!event_is_whole(&names, row) || (!now && row->kind != JOURNAL_DEFINE))
        return problem_set(why, 503, "it is not a row of a journal");
    if (row->kind == JOURNAL_DEFINE)
        return check_definition(parsed, now, why);
    if (answers && !waiting_find(&now->waits, row->event))
        return problem_set(why, 503, "it answers row %lld, which does not wait", (long long)row->event);
    if (row->kind == JOURNAL_PROPOSAL && !journal_find(&same_id, self->writes, now->number, row->id, why))
        return false;
    return same_id == 0 || problem_set(why, 503, "it has the id of row %lld", (long long)same_id);
}

/* Copies one row; *model is created with its first one. */
static bool copy_row(engine *self, job *work, entry **model, const json_t *event)
{
    event_parsed parsed;
    problem *why = &work->why;
    served *now = *model ? (*model)->model : NULL, *then = NULL;
    int64_t snapshot;
    if (!event_parse(&parsed, event, now ? served_classes(now) : NULL, why))
        return false;
    bool done = check_row(self, &parsed, now, why);
    if (done && !now) {
        *model = add_new(self, work->model, why);
        done = *model != NULL;
        now = done ? (*model)->model : NULL;
    }
    if (done && parsed.row.kind == JOURNAL_ROLLBACK)
        done = directory_load(&then, &snapshot, self->writes, self->directory, now->number, now->name,
                              parsed.row.event, NULL, why) &&
               served_take_learner(now, then, why);
    done = done && engine_row(self, *model, &parsed.row, why);
    if (done && parsed.row.kind == JOURNAL_DEFINE) {
        class_list_release((*model)->classes);
        (*model)->classes = class_list_make(served_classes(now));
    }
    served_free(then);
    event_parsed_free(&parsed);
    return done;
}

typedef struct comparison {
    const journal_row *theirs;
    bool same;
} comparison;

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Ids, which are partly random, and times differ between two journals. */
static bool compare_rows(const journal_row *ours, void *user)
{
    comparison *this = user;
    const journal_row *theirs = this->theirs;
    const bool same_texts = ours->kind == JOURNAL_DEFINE ||
                            (same_text(ours->id, theirs->id) && same_text(ours->text, theirs->text));
    this->same = ours->kind == theirs->kind && ours->time == theirs->time && ours->event == theirs->event &&
                 ours->proposed == theirs->proposed && ours->answer == theirs->answer && same_texts;
    return true;
}

/* Checks that the last row here is the same in the other service. */
static bool check_last(engine *self, const served *now, const json_t *event, problem *why)
{
    event_parsed parsed;
    comparison this = {.theirs = &parsed.row};
    if (event_parse(&parsed, event, served_classes(now), why)) {
        const bool read = journal_each(self->writes, now->number, now->sequence - 1, now->sequence,
                                       compare_rows, &this, why);
        event_parsed_free(&parsed);
        if (!read)
            return false;
    }
    return this.same || problem_set(why, 409,
                                    "its row %lld is not the one that is here: it is another journal, which "
                                    "needs a directory of its own",
                                    (long long)now->sequence);
}

/* Whether the rows of a model that does not exist here begin with its definition. */
static bool begins_model(const json_t *row)
{
    const char *kind = json_string_value(json_object_get(row, "kind"));
    return kind && strcmp(kind, "define") == 0 && json_is_object(json_object_get(row, "definition")) &&
           json_integer_value(json_object_get(row, "sequence")) == 1;
}

/* Copies rows up to the first one that cannot be copied; those before it remain. */
static void run_follow(engine *self, job *work, entry *model)
{
    problem *why = &work->why;
    bool done =
        model || begins_model(json_array_get(work->body, 0)) ||
        problem_set(why, 503, "the rows of model %.200s do not begin with its definition", work->model);
    for (size_t i = 0; i < json_array_size(work->body) && done; i++) {
        const json_t *event = json_array_get(work->body, i);
        const long long sequence = json_integer_value(json_object_get(event, "sequence"));
        const long long last = model ? model->model->sequence : 0;
        if (model && sequence == last)
            done = check_last(self, model->model, event, why);
        else if (sequence != last + 1)
            done = problem_set(why, 503, "row %lld comes after row %lld", sequence, last);
        else if (!copy_row(self, work, &model, event))
            done = problem_set(why, why->status, "row %lld: %s", sequence, why->detail);
    }
    work->sequence = model ? model->model->sequence : 0;
}

static void run_items(engine *self, job *work, entry *model)
{
    work->classes = model->classes;
    (void)atomic_fetch_add(&work->classes->users, 1);
    for (size_t i = 0; i < work->count; i++) {
        job_item *item = &work->items[i];
        if (work->kind == JOB_PROPOSE)
            propose(self, model, item);
        else if (work->kind == JOB_FEEDBACK)
            answer(self, model, item);
        else
            predict(model, item);
        if (self->broken.status)
            return;
    }
}

bool job_writes(const job *self)
{
    switch (self->kind) {
    case JOB_PUT:
    case JOB_PROPOSE:
    case JOB_FEEDBACK:
    case JOB_SNAPSHOT:
    case JOB_ROLLBACK:
    case JOB_FOLLOW:
        return true;
    default:
        return false;
    }
}

void engine_run(engine *self, job *work)
{
    entry *model = engine_find(self, work->model);
    const bool needs_model = work->kind != JOB_LIST && work->kind != JOB_METRICS && work->kind != JOB_READY;
    if (self->settings.follows && job_writes(work) && work->kind != JOB_FOLLOW) {
        (void)problem_set(&work->why, 403, "this service only follows %.200s: send changes there",
                          self->settings.follows);
        return;
    }
    if (needs_model && !model && work->kind != JOB_PUT && work->kind != JOB_FOLLOW) {
        (void)problem_set(&work->why, 404, "there is no model '%.80s'; PUT /v1/models/%.80s makes one",
                          work->model, work->model);
        return;
    }
    if (needs_model && model && model->lost) {
        (void)problem_set(&work->why, 503, "the journal of %s cannot be read", work->model);
        return;
    }
    switch (work->kind) {
    case JOB_PUT:
        run_put(self, work, model);
        break;
    case JOB_LIST:
        run_list(self, work);
        break;
    case JOB_STATE:
        work->json = state_json(self, model);
        break;
    case JOB_PROPOSE:
    case JOB_FEEDBACK:
    case JOB_PREDICT:
        run_items(self, work, model);
        break;
    case JOB_MODEL:
        run_model(work, model->model);
        break;
    case JOB_SNAPSHOT:
        run_snapshot(self, work, model);
        break;
    case JOB_ROLLBACK:
        run_rollback(self, work, model);
        break;
    case JOB_METRICS:
        engine_metrics(self, work);
        break;
    case JOB_FOLLOW:
        run_follow(self, work, model);
        break;
    case JOB_LIVE:
        break;
    case JOB_READY:
        work->why = self->unwritable;
        break;
    }
}
