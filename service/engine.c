/* The engine's thread, its queue and its transactions. */
#define _GNU_SOURCE
#include "service/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/memory.h"
#include "service/engine_inside.h"
#include "service/log.h"

#define MOST_TOGETHER 4096 /* jobs per transaction */

/* ---- jobs ---- */

job *job_create(job_kind kind, const char *model, size_t items)
{
    job *self = app_calloc(1, sizeof *self);
    self->kind = kind;
    self->status = 200;
    (void)snprintf(self->model, sizeof self->model, "%s", model);
    self->count = items;
    self->items = app_calloc(items, sizeof *self->items);
    return self;
}

void job_free(job *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < self->count; i++) {
        job_item *item = &self->items[i];
        free(item->id);
        features_free(&item->given);
        free(item->bytes);
        free(item->baseline);
        free(item->label);
        free(item->scores);
    }
    free(self->items);
    json_decref(self->body);
    json_decref(self->json);
    if (self->is_model)
        uc_model_memory_free(self->bytes);
    else
        free(self->bytes);
    class_list_release(self->classes);
    free(self);
}

class_list *class_list_make(const uc_names *classes)
{
    class_list *self = app_calloc(1, sizeof *self + classes->count * sizeof *self->names);
    atomic_init(&self->users, 1);
    self->count = classes->count;
    for (size_t i = 0; i < classes->count; i++) {
        json_t *name = json_string(classes->text[i]);
        self->names[i] = json_dumps(name, JSON_ENCODE_ANY);
        json_decref(name);
    }
    return self;
}

void class_list_release(class_list *self)
{
    if (!self || atomic_fetch_sub(&self->users, 1) != 1)
        return;
    for (size_t i = 0; i < self->count; i++)
        free(self->names[i]);
    free(self);
}

size_t class_list_count(const class_list *self)
{
    return self->count;
}

const char *class_list_name(const class_list *self, size_t i)
{
    return self->names[i];
}

/* ---- rows ---- */

entry *engine_find(const engine *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++)
        if (strcmp(self->entries[i]->model->name, name) == 0)
            return self->entries[i];
    return NULL;
}

int64_t engine_now(const served *model)
{
    const int64_t now = log_milliseconds();
    return now > model->time ? now : model->time;
}

bool engine_row(engine *self, entry *model, journal_row *row, problem *why)
{
    row->model = model->model->number;
    row->sequence = model->model->sequence + 1;
    if (row->time == 0)
        row->time = engine_now(model->model);
    if (!served_perform(model->model, row, why)) {
        if (model->model->stale || row->kind != JOURNAL_PROPOSAL)
            self->broken = *why;
        return false;
    }
    model->touched = true;
    self->open_rows++;
    if (journal_add(self->writes, row, why))
        return true;
    self->broken = *why;
    return false;
}

/* ---- transactions ---- */

/* Undoes the transaction: the models that it touched are loaded from the journal again. */
static void take_back(engine *self)
{
    journal_abandon(self->writes);
    self->open_rows = 0;
    for (size_t i = 0; i < self->count; i++) {
        entry *model = self->entries[i];
        problem why = {0};
        if (model->new) {
            served_free(model->model);
            class_list_release(model->classes);
            free(model);
            self->entries[i--] = self->entries[--self->count];
            continue;
        }
        if (model->touched || model->model->stale || model->lost)
            model->lost = !engine_load(self, model, NULL, &why);
        model->touched = false;
        if (model->lost)
            log_line("error", "journal", "%s cannot be read again: %s", model->model->name, why.detail);
    }
}

static void settle(engine *self)
{
    for (size_t i = 0; i < self->count; i++)
        self->entries[i]->touched = self->entries[i]->new = false;
}

/* Called when the transaction is on disk. One without rows does not show that the journal can be written. */
static void note_commit(engine *self)
{
    settle(self);
    if (self->open_rows == 0)
        return;
    self->commits++;
    self->committed_rows += self->open_rows;
    self->open_rows = 0;
    if (self->unwritable.status)
        log_line("info", "journal", "can be written again");
    self->unwritable.status = 0;
}

/* Returns whether the jobs may be answered as they are. */
static bool commit(engine *self)
{
    problem *why = &self->broken;
    if (why->status == 0 && journal_commit(self->writes, why)) {
        note_commit(self);
        return true;
    }
    if (why->status >= 500) {
        log_line("error", "journal", "%s", why->detail);
        self->unwritable = *why;
    }
    take_back(self);
    return false;
}

/* Logs the drift alarms since the last call. */
static void tell_drift(engine *self)
{
    for (size_t i = 0; i < self->count; i++) {
        entry *model = self->entries[i];
        const served *now = model->model;
        if (now->drift_sequence > model->drift)
            log_line("warning", "drift",
                     "%s: at row %lld the ratio of right proposals fell from %.3f to %.3f", now->name,
                     (long long)now->drift_sequence, now->drift.before, now->drift.after);
        model->drift = now->drift_sequence;
    }
}

static void take_snapshots(engine *self, bool all)
{
    for (size_t i = 0; i < self->count; i++) {
        entry *model = self->entries[i];
        const int64_t rows = model->model->sequence - model->snapshot;
        problem why = {0};
        if (rows == 0 || (!all && rows < self->settings.snapshot_every))
            continue;
        if (!engine_snapshot(self, model, &why)) {
            log_line("warning", "snapshot", "%s: %s", model->model->name, why.detail);
            model->snapshot = model->model->sequence; /* not before the same number of rows again */
        }
    }
}

/* A journal that could not be written may have room by now; this is tried once a second. */
static void probe(engine *self)
{
    problem why = {0};
    const int64_t now = log_milliseconds();
    if (now >= self->probed && now - self->probed < 1000)
        return;
    self->probed = now;
    if (self->unwritable.status && journal_is_writable(self->writes, &why)) {
        self->unwritable.status = 0;
        log_line("info", "journal", "can be written again");
    }
    for (size_t i = 0; i < self->count; i++)
        if (self->entries[i]->lost)
            self->entries[i]->lost = !engine_load(self, self->entries[i], NULL, &why);
}

/* A job that read something that was then undone is run again. */
static void run_again(engine *self, job *work)
{
    for (size_t i = 0; i < work->count; i++) {
        free(work->items[i].scores);
        work->items[i].scores = NULL;
        work->items[i].why.status = 0;
    }
    json_decref(work->json);
    if (work->is_model)
        uc_model_memory_free(work->bytes);
    else
        free(work->bytes);
    class_list_release(work->classes);
    work->json = NULL;
    work->bytes = NULL;
    work->classes = NULL;
    work->why.status = 0;
    engine_run(self, work);
}

/* Runs all of the jobs, in order, followed by a single commit. */
static void run_together(engine *self, job *first)
{
    self->broken.status = 0;
    if (self->unwritable.status || !first)
        probe(self);
    const bool writable = self->unwritable.status == 0;
    for (size_t i = 0; i < self->count && writable && self->broken.status == 0; i++)
        if (!self->entries[i]->lost && !self->settings.follows) {
            problem why = {0};
            (void)engine_expire(self, self->entries[i], &why);
        }
    for (job *work = first; work && self->broken.status == 0; work = work->next) {
        if (writable || !job_writes(work))
            engine_run(self, work);
        else
            work->why = self->unwritable;
    }
    if (commit(self))
        return;
    for (job *work = first; work; work = work->next) {
        if (job_writes(work))
            work->why = self->broken;
        else
            run_again(self, work);
    }
}

static void *run_thread(void *user)
{
    engine *self = user;
    (void)pthread_mutex_lock(&self->mutex);
    for (;;) {
        struct timespec until;
        (void)clock_gettime(CLOCK_MONOTONIC, &until); /* CLOCK_REALTIME may be set back */
        until.tv_sec++;
        int waited = 0;
        while (!self->first && !self->stops && waited == 0)
            waited = pthread_cond_timedwait(&self->wakes, &self->mutex, &until);
        if (!self->first && self->stops)
            break;
        job *first = self->first, *last = first;
        for (size_t i = 1; i < MOST_TOGETHER && last && last->next; i++)
            last = last->next;
        self->first = last ? last->next : NULL;
        if (!self->first)
            self->last = NULL;
        if (last)
            last->next = NULL;
        (void)pthread_mutex_unlock(&self->mutex);
        run_together(self, first);
        for (job *work = first; work;) {
            job *next = work->next;
            work->done(work, work->user);
            work = next;
        }
        tell_drift(self);
        take_snapshots(self, false);
        (void)pthread_mutex_lock(&self->mutex);
    }
    (void)pthread_mutex_unlock(&self->mutex);
    take_snapshots(self, true);
    return NULL;
}

void engine_submit(engine *self, job *work)
{
    (void)pthread_mutex_lock(&self->mutex);
    work->next = NULL;
    if (self->last)
        self->last->next = work;
    else
        self->first = work;
    self->last = work;
    (void)pthread_cond_signal(&self->wakes);
    (void)pthread_mutex_unlock(&self->mutex);
}

typedef struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t wakes;
    bool over;
} meeting;

static void wake(job *work, void *user)
{
    meeting *here = user;
    (void)work;
    (void)pthread_mutex_lock(&here->mutex);
    here->over = true;
    (void)pthread_cond_signal(&here->wakes);
    (void)pthread_mutex_unlock(&here->mutex);
}

void engine_perform(engine *self, job *work)
{
    meeting here = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wakes = PTHREAD_COND_INITIALIZER};
    work->done = wake;
    work->user = &here;
    engine_submit(self, work);
    (void)pthread_mutex_lock(&here.mutex);
    while (!here.over)
        (void)pthread_cond_wait(&here.wakes, &here.mutex);
    (void)pthread_mutex_unlock(&here.mutex);
}

/* ---- opening ---- */

/* Locks the directory for a single process; the lock ends with it. */
static bool take_directory(engine *self, problem *why)
{
    if (mkdir(self->directory, 0777) != 0 && errno != EEXIST)
        return problem_set(why, 503, "%s: cannot make the directory: %s", self->directory, strerror(errno));
    self->lock = open(self->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (self->lock < 0)
        return problem_set(why, 503, "%s: cannot open the directory: %s", self->directory, strerror(errno));
    if (flock(self->lock, LOCK_EX | LOCK_NB) != 0)
        return problem_set(why, 503, "%s: another process serves this directory", self->directory);
    return true;
}

static bool add_entry(int64_t number, const char *name, void *user)
{
    engine *self = user;
    self->entries = app_realloc(self->entries, self->count + 1, sizeof *self->entries);
    entry *model = app_calloc(1, sizeof *model);
    model->model = served_create(number, name);
    self->entries[self->count++] = model;
    if (number >= self->next_number)
        self->next_number = number + 1;
    return true;
}

static bool open_all(engine *self, bool (*go_on)(void), problem *why)
{
    char *path = app_text("%s/journal.db", self->directory);
    bool opened = take_directory(self, why) &&
                  journal_open(&self->writes, path, self->settings.durability, why) &&
                  journal_open(&self->reads, path, JOURNAL_READ_ONLY, why) &&
                  journal_models(self->writes, add_entry, self, why);
    for (size_t i = 0; i < self->count && opened; i++)
        opened = engine_load(self, self->entries[i], go_on, why);
    free(path);
    return opened;
}

static void release(engine *self)
{
    for (size_t i = 0; i < self->count; i++) {
        served_free(self->entries[i]->model);
        class_list_release(self->entries[i]->classes);
        free(self->entries[i]);
    }
    free(self->entries);
    journal_close(self->reads);
    journal_close(self->writes);
    if (self->lock >= 0)
        (void)close(self->lock);
    (void)pthread_mutex_destroy(&self->mutex);
    (void)pthread_mutex_destroy(&self->reading);
    (void)pthread_cond_destroy(&self->wakes);
    free(self->directory);
    free(self);
}

bool engine_open(engine **out, const engine_settings *settings, bool (*go_on)(void), problem *why)
{
    engine *self = app_calloc(1, sizeof *self);
    self->settings = *settings;
    self->directory = app_text("%s", settings->directory);
    self->lock = -1;
    self->next_number = 1;
    (void)pthread_mutex_init(&self->mutex, NULL);
    (void)pthread_mutex_init(&self->reading, NULL);
    pthread_condattr_t steady;
    (void)pthread_condattr_init(&steady);
    (void)pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&self->wakes, &steady);
    (void)pthread_condattr_destroy(&steady);
    bool opened = open_all(self, go_on, why);
    if (opened && pthread_create(&self->thread, NULL, run_thread, self) != 0)
        opened = problem_set(why, 503, "cannot start a thread");
    if (opened)
        *out = self;
    else
        release(self);
    return opened;
}

void engine_close(engine *self)
{
    if (!self)
        return;
    (void)pthread_mutex_lock(&self->mutex);
    self->stops = true;
    (void)pthread_cond_signal(&self->wakes);
    (void)pthread_mutex_unlock(&self->mutex);
    (void)pthread_join(self->thread, NULL);
    release(self);
}

/* ---- reading ---- */

bool engine_events(engine *self, const char *model, int64_t after, int64_t limit, journal_row_fn *visit,
                   void *user, problem *why)
{
    int64_t number;
    (void)pthread_mutex_lock(&self->reading);
    bool read = directory_model(&number, self->reads, model, why);
    if (read)
        read = journal_each(self->reads, number, after, after + limit, visit, user, why);
    (void)pthread_mutex_unlock(&self->reading);
    return read;
}

bool engine_definitions(engine *self, const char *model, int64_t last, journal_row_fn *visit, void *user,
                        problem *why)
{
    int64_t number;
    (void)pthread_mutex_lock(&self->reading);
    bool read = directory_model(&number, self->reads, model, why);
    if (read)
        read = journal_definitions(self->reads, number, last, visit, user, why);
    (void)pthread_mutex_unlock(&self->reading);
    return read;
}
