/* A directory of the service: the journal and the snapshots, and loading a model from both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"
#include "service/engine.h"
#include "service/log.h"

bool directory_journal(journal **out, const char *directory, problem *why)
{
    char *path = app_text("%s/journal.db", directory);
    const bool opened = journal_open(out, path, JOURNAL_READ_ONLY, why);
    free(path);
    return opened;
}

typedef struct finding {
    const char *name; /* NULL: any name */
    int64_t number, last;
    size_t count, length;
    char names[200]; /* of all models, as many as fit */
} finding;

static bool find_model(int64_t number, const char *name, void *user)
{
    finding *found = user;
    if (found->name && strcmp(name, found->name) == 0)
        found->number = number;
    found->last = number;
    if (found->length < sizeof found->names)
        found->length += (size_t)snprintf(found->names + found->length, sizeof found->names - found->length,
                                          "%s%s", found->count > 0 ? ", " : "", name);
    found->count++;
    return true;
}

bool directory_model(int64_t *number, journal *from, const char *name, problem *why)
{
    finding found = {.name = name};
    if (!journal_models(from, find_model, &found, why))
        return false;
    *number = name || found.count != 1 ? found.number : found.last;
    if (*number != 0)
        return true;
    const char *there = found.count > 0 ? "there is " : "there is no model yet";
    const char *more = found.length < sizeof found.names ? "" : "...";
    if (!name)
        return problem_set(why, 400, "%s%s%s", there, found.names, more);
    return problem_set(why, 404, "there is no model '%.80s'; %s%s%s", name, there, found.names, more);
}

/* ---- loading ---- */

typedef struct loading {
    served *self;
    journal *from;
    const char *directory, *name;
    int64_t number, snapshot, last;
    bool (*go_on)(void);
    problem *why;
    bool failed;
} loading;

/* Tries one snapshot; returns false, which ends the search, if it is valid. */
static bool try_snapshot(int64_t sequence, const char *state, void *user)
{
    loading *work = user;
    problem why = {0};
    uc_model *model = NULL;
    char *path = app_text("%s/%s/%lld.uc", work->directory, work->name, (long long)sequence);
    served *tried = served_create(work->number, work->name);
    bool held = false;
    const uc_status status = uc_model_load(&model, path);
    if (status != UC_OK)
        (void)problem_of_library(&why, status);
    else if (served_restore(tried, model, state, work->from, &why) && tried->sequence == sequence)
        held = true;
    uc_model_free(model);
    if (held) {
        served_free(work->self);
        work->self = tried;
        work->snapshot = sequence;
    } else {
        served_free(tried);
        log_line("warning", "snapshot", "%s cannot be used, an older one is tried: %s", path, why.detail);
    }
    free(path);
    return !held;
}

/* Resets the learner to its state after an earlier row. */
static bool go_back(loading *work, int64_t target)
{
    served *then = NULL;
    int64_t snapshot;
    if (!directory_load(&then, &snapshot, work->from, work->directory, work->number, work->name, target,
                        work->go_on, work->why))
        return false;
    const bool taken = served_take_learner(work->self, then, work->why);
    served_free(then);
    return taken;
}

static bool replay_row(const journal_row *row, void *user)
{
    loading *work = user;
    journal_row copy = *row;
    bool done = true;
    if (row->sequence != work->self->sequence + 1)
        done = problem_set(work->why, 503, "the journal of %s is damaged: row %lld follows row %lld",
                           work->name, (long long)row->sequence, (long long)work->self->sequence);
    else if (work->go_on && row->sequence % 256 == 0 && !work->go_on())
        done = problem_set(work->why, 0, "stopped");
    else if (row->kind == JOURNAL_ROLLBACK)
        done = go_back(work, row->event);
    done = done && served_perform(work->self, &copy, work->why);
    if (done && row->sequence % 100000 == 0)
        log_line("info", "replay", "%s: row %lld of %lld", work->name, (long long)row->sequence,
                 (long long)work->last);
    work->failed = !done;
    return done;
}

bool directory_load(served **out, int64_t *snapshot, journal *from, const char *directory, int64_t number,
                    const char *name, int64_t last, bool (*go_on)(void), problem *why)
{
    loading work = {.self = served_create(number, name),
                    .from = from,
                    .directory = directory,
                    .name = name,
                    .number = number,
                    .last = last,
                    .go_on = go_on,
                    .why = why};
    bool loaded = journal_snapshots(from, number, last, try_snapshot, &work, why);
    if (loaded)
        loaded = journal_each(from, number, work.self->sequence, last, replay_row, &work, why);
    if (!loaded || work.failed) {
        served_free(work.self);
        return false;
    }
    if (work.self->other > 0)
        log_line("warning", "replay",
                 "%s: %llu proposals came out differently than the journal has them, which counts: this is "
                 "another CPU or another version",
                 name, (unsigned long long)work.self->other);
    *out = work.self;
    *snapshot = work.snapshot;
    return true;
}
