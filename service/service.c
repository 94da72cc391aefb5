/* unconfuse serve, from its settings to its end. */
#define _GNU_SOURCE
#include "service/service.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "app/memory.h"
#include "app/message.h"
#include "service/engine.h"
#include "service/follow.h"
#include "service/http.h"
#include "service/log.h"

#define MOST_TOLD 20 /* models that are listed at the start */

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    stopped = signal_number;
}

static bool go_on(void)
{
    return !stopped;
}

/* The program's own handlers end it soon; here, queued requests must be answered first. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = stop};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

/* Parses "7d", "90s", "12h", "30m" as milliseconds; 0: not a time. */
static int64_t parse_wait(const char *typed)
{
    char *end;
    const double number = strtod(typed, &end);
    static const char units[] = "smhd";
    static const double factors[] = {1e3, 6e4, 36e5, 864e5};
    const char *unit = *end ? strchr(units, *end) : units;
    if (end == typed || !unit || (*end && end[1]) || !(number > 0.0 && number <= 36500.0 * 86400.0))
        return 0;
    return (int64_t)(number * factors[unit - units]);
}

/* Reads a small file, without white space at its end; the caller frees the text. */
static uc_status read_small(char **out, const char *path, const char *option)
{
    FILE *file = fopen(path, "re");
    char bytes[65536];
    if (!file)
        return app_fail(UC_ERR_IO, "%s %s: cannot open: %s", option, path, strerror(errno));
    size_t size = fread(bytes, 1, sizeof bytes - 1, file);
    const bool failed = ferror(file) != 0;
    (void)fclose(file);
    if (failed)
        return app_fail(UC_ERR_IO, "%s %s: cannot read it", option, path);
    while (size > 0 && strchr(" \t\r\n", bytes[size - 1]))
        size--;
    bytes[size] = 0;
    if (strlen(bytes) != size || size == 0)
        return app_fail(UC_ERR_FORMAT, "%s %s: the file is empty or has zero bytes", option, path);
    *out = app_text("%s", bytes);
    return UC_OK;
}

static uc_status read_files(http_settings *out, char *owned[4], const service_settings *settings)
{
    uc_status status = UC_OK;
    if (!settings->certificate != !settings->key)
        return app_fail(UC_ERR_OPTION, "--tls-certificate and --tls-key go together");
    if (settings->token_file)
        status = read_small(&owned[0], settings->token_file, "--token-file");
    if (status == UC_OK && settings->certificate)
        status = read_small(&owned[1], settings->certificate, "--tls-certificate");
    if (status == UC_OK && settings->key)
        status = read_small(&owned[2], settings->key, "--tls-key");
    if (status == UC_OK && settings->follow_token)
        status = read_small(&owned[3], settings->follow_token, "--follow-token-file");
    out->token = owned[0];
    out->certificate = owned[1];
    out->key = owned[2];
    if (status == UC_OK && owned[0] && (strlen(owned[0]) < 8 || strpbrk(owned[0], " \t\r\n")))
        status = app_fail(UC_ERR_FORMAT, "--token-file %s: a token is one word of at least 8 characters",
                          settings->token_file);
    return status;
}

/* Defines the model given on the command line. */
static uc_status define_model(engine *models, const service_settings *settings)
{
    job *work = job_create(JOB_PUT, settings->model, 0);
    problem why = {0};
    work->body = json_loads(settings->definition, 0, NULL);
    const bool whole = json_object_get(work->body, "classes") != NULL;
    if (served_check_name(settings->model, &why)) {
        engine_perform(models, work);
        why = work->why;
    }
    job_free(work);
    if (why.status == 400 && !whole && strncmp(why.detail, "classes:", 8) == 0)
        return app_fail(UC_ERR_INVALID,
                        "--model %s: there is no such model in %s yet; --classes a,b,c makes it",
                        settings->model, settings->directory);
    return why.status ? app_fail(UC_ERR_INVALID, "--model %s: %s", settings->model, why.detail) : UC_OK;
}

static bool is_there(const char *directory)
{
    char *path = app_text("%s/journal.db", directory);
    const bool found = access(path, F_OK) == 0;
    free(path);
    return found;
}

/* Checks what does not depend on the directory's contents, before anything is created. */
static uc_status check_model(const service_settings *settings)
{
    problem why = {0};
    json_t *body = json_loads(settings->definition, 0, NULL), *made = NULL;
    bool changed;
    const bool named = served_check_name(settings->model, &why);
    /* without classes it may be an existing one */
    const bool whole = json_object_get(body, "classes") != NULL;
    if (named && whole && served_define(&made, &changed, NULL, body, &why))
        json_decref(made);
    json_decref(body);
    if (named && !whole && !is_there(settings->directory))
        return app_fail(UC_ERR_INVALID, "--model %s: there is no such model yet; --classes a,b,c makes it",
                        settings->model);
    return why.status ? app_fail(UC_ERR_INVALID, "--model %s: %s", settings->model, why.detail) : UC_OK;
}

static void allow_many_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

/* Logs the existing models, for a user who has just restarted the service. */
static void tell_models(engine *models)
{
    job *work = job_create(JOB_LIST, "", 0);
    engine_perform(models, work);
    const json_t *list = json_object_get(work->json, "models");
    const size_t count = json_array_size(list);
    for (size_t i = 0; i < count && i < MOST_TOLD; i++) {
        const json_t *model = json_array_get(list, i);
        log_line("info", "model", "%s: row %lld of the journal, %lld proposals, %lld of them wait",
                 json_string_value(json_object_get(model, "name")),
                 (long long)json_integer_value(json_object_get(model, "sequence")),
                 (long long)json_integer_value(json_object_get(model, "proposals")),
                 (long long)json_integer_value(json_object_get(model, "waiting")));
    }
    if (count > MOST_TOLD)
        log_line("info", "model", "and %zu more", count - MOST_TOLD);
    job_free(work);
}

/* Serves until a signal arrives. */
static void serve(http *open, bool tls)
{
    char address[80];
    http_address(open, address, sizeof address);
    log_line("info", "listening", "%s://%s", tls ? "https" : "http", address);
    while (!stopped) {
        const struct timespec pause = {.tv_sec = 1};
        sigset_t blocked, before;
        (void)sigemptyset(&blocked);
        (void)sigaddset(&blocked, SIGTERM);
        (void)sigaddset(&blocked, SIGINT);
        (void)pthread_sigmask(SIG_BLOCK, &blocked, &before);
        if (!stopped) {
            const int caught = sigtimedwait(&blocked, NULL, &pause);
            if (caught > 0)
                stopped = caught;
        }
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (!stopped)
            http_tick(open);
    }
    log_line("info", "stopping", "answering what is queued");
}

uc_status service_run(const service_settings *settings)
{
    problem why = {0};
    char *owned[4] = {NULL};
    engine *models = NULL;
    http *open = NULL;
    follow *following = NULL;
    http_settings listen = {.listen = settings->listen,
                            .max_body = settings->max_body,
                            .request_seconds = (double)parse_wait(settings->request_time) / 1e3};
    const engine_settings engine_with = {.directory = settings->directory,
                                         .durability = settings->crash_only ? JOURNAL_CRASH : JOURNAL_POWER,
                                         .wait = parse_wait(settings->wait),
                                         .snapshot_every = (int64_t)settings->snapshot_every,
                                         .keep_snapshots = settings->keep_snapshots,
                                         .max_pending = settings->max_pending,
                                         .follows = settings->follow};
    catch_signals();
    allow_many_files();
    uc_status status = read_files(&listen, owned, settings);
    if (status == UC_OK && engine_with.wait == 0)
        status =
            app_fail(UC_ERR_OPTION, "--wait %s: expected a time such as 7d, 12h, 30m or 90s", settings->wait);
    if (status == UC_OK && listen.request_seconds <= 0.0)
        status = app_fail(UC_ERR_OPTION, "--request-time %s: expected a time such as 60s or 5m",
                          settings->request_time);
    if (status == UC_OK && settings->model && settings->follow)
        status = app_fail(UC_ERR_OPTION, "--follow copies the models of another service: leave out --model");
    if (status == UC_OK && settings->follow_token && !settings->follow)
        status = app_fail(UC_ERR_OPTION, "--follow-token-file needs --follow URL");
    if (status == UC_OK && settings->model)
        status = check_model(settings);
    if (status == UC_OK && settings->follow && !follow_check(settings->follow, &why))
        status = app_fail(UC_ERR_OPTION, "%s", why.detail);
    if (status == UC_OK && !http_check(&listen, &why))
        status = app_fail(why.status == 400 ? UC_ERR_OPTION : UC_ERR_IO, "%s", why.detail);
    if (status == UC_OK && !engine_open(&models, &engine_with, go_on, &why) && !stopped)
        status = app_fail(UC_ERR_IO, "%s", why.detail);
    if (status == UC_OK && models && settings->model)
        status = define_model(models, settings);
    if (status == UC_OK && models && !http_open(&open, &listen, models, &why))
        status = app_fail(UC_ERR_INVALID, "%s", why.detail);
    if (open && settings->follow && !follow_open(&following, settings->follow, owned[3], models, &why))
        status = app_fail(UC_ERR_IO, "%s", why.detail);
    const bool opened = status == UC_OK && open;
    if (opened) {
        tell_models(models);
        serve(open, listen.certificate != NULL);
    }
    follow_close(following);
    if (open)
        http_close(open);
    engine_close(models);
    if (opened)
        log_line("info", "stopped", "all events are in the journal");
    for (size_t i = 0; i < 4; i++)
        free(owned[i]);
    return status;
}
