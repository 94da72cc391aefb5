/* unconfuse-papers run: experiments, their tables, and the files of their results. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "experiment.h"

typedef struct run_args {
    data_args data;
    const char *out, *only;
    uint64_t runs;
    int quick, resume;
} run_args;

#define FIELD(name) offsetof(run_args, name)
static const uc_option options[] = {
    {.name = "runs",
     .type = UC_OPTION_COUNT,
     .automatic = true,
     .offset = FIELD(runs),
     .standard = "auto",
     .low = 1,
     .high = 1000,
     .help = "how often to repeat each experiment, with new random numbers; auto: as often as in the paper, "
             "less often with --quick"},
    {.name = "quick",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(quick),
     .standard = "off",
     .help = "run a smaller version of each experiment, in less than a minute"},
    {.name = "out",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(out),
     .argument = "DIR",
     .help =
         "the directory to write results to: NAME.json, NAME.csv, and the figure as NAME.svg and NAME.png"},
    {.name = "only",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(only),
     .argument = "A,B",
     .help = "run an experiment on these of its data sets only, such as optdigits,reuters-r8"},
    {.name = "resume",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(resume),
     .standard = "off",
     .help =
         "continue what was interrupted: experiments whose runs take minutes (uma.table1, figure3, figure4) "
         "keep every finished run in --out"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Data options", data_options, FIELD(data)},
    {0},
};

/* ---- files ---- */

static void print_json(FILE *file, const void *json)
{
    (void)json_dumpf(json, file, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    fputc('\n', file);
}

static void print_csv(FILE *file, const void *shown)
{
    report_csv(shown, file);
}

/* Writes NAME.json and NAME.csv, both or neither. */
static uc_status write_results(const report *shown, const json_t *json, const char *directory,
                               const char *name)
{
    char *json_name = app_text("%s.json", name), *csv_name = app_text("%s.csv", name);
    uc_status status = begin_text(directory, json_name, print_json, json);
    if (status == UC_OK)
        status = begin_text(directory, csv_name, print_csv, shown);
    if (status == UC_OK)
        status = app_finish_files(true);
    app_abort_files(); /* files that a failure has left */
    free(json_name);
    free(csv_name);
    return status;
}

static uc_status write_files(const execution *self, const json_t *json, const char *directory)
{
    const char *name = self->experiment->name, *suffix = self->quick ? " (quick version)" : "";
    const uc_status status = write_results(&self->report, json, directory, name);
    if (status != UC_OK || self->report.panel_count == 0)
        return status;
    return plot_draw(&self->report, self->experiment->what, suffix, directory, name);
}

/* ---- one experiment ---- */

/* The command that gives the same numbers again; the caller frees it. */
static char *command_of(const experiment *chosen, const app_call *call)
{
    const run_args *args = call->args;
    char runs[40] = "", seed[40] = "", *only = NULL;
    if (args->runs != UC_AUTO_COUNT)
        snprintf(runs, sizeof runs, " --runs %llu", (unsigned long long)args->runs);
    if (call->common.seed != 1)
        snprintf(seed, sizeof seed, " --seed %llu", (unsigned long long)call->common.seed);
    if (args->only)
        only = app_text(" --only %s", args->only);
    else
        only = app_text("%s", "");
    char *command = app_text("unconfuse-papers run %s%s%s%s%s", chosen->name, args->quick ? " --quick" : "",
                             only, runs, seed);
    free(only);
    return command;
}

/* NULL if it cannot be represented in JSON, whose texts are UTF-8. */
static json_t *describe(const execution *self, double seconds)
{
    char date[16] = "";
    const time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        (void)strftime(date, sizeof date, "%Y-%m-%d", &parts);
    json_t *object = json_pack("{ss ss ss ss sI sb sI sf ss}", "experiment", self->experiment->name, "what",
                               self->experiment->what, "command", self->command, "date", date, "runs",
                               (json_int_t)self->runs, "quick", self->quick, "seed", (json_int_t)self->seed,
                               "seconds", seconds, "version", uc_version());
    json_t *content = report_json(&self->report);
    if (!object || !content || json_object_update(object, content) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(content);
    return object;
}

static void print_result(const execution *self, double seconds)
{
    const char *runs = self->runs == 1 ? "run" : "runs";
    printf("%s: %s\n", self->experiment->name, self->experiment->what);
    if (self->report.panel_count > 0)
        printf("%zu %s%s, seed %llu, %.0f s; mean ±deviation\n\n", self->runs, runs,
               self->quick ? ", quick version" : "", (unsigned long long)self->seed, seconds);
    report_print(&self->report, stdout);
    for (size_t i = 0; i < self->report.skipped_count; i++)
        puts(self->report.skipped[i]);
    for (size_t i = 0; i < self->report.failed_count; i++)
        printf("failed: %s\n", self->report.failed[i]);
    putchar('\n');
    fflush(stdout);
}

static size_t runs_of(const experiment *chosen, const run_args *args)
{
    if (args->runs != UC_AUTO_COUNT)
        return (size_t)args->runs;
    return args->quick ? chosen->quick_runs : chosen->runs;
}

/* The results of all experiments. */
typedef struct outcome {
    json_t *results;
    char **failed; /* one sentence each */
    size_t failed_count;
    size_t panels; /* in all results; 0 if everything was skipped */
} outcome;

static void keep_failures(outcome *self, const report *from)
{
    for (size_t i = 0; i < from->failed_count; i++) {
        self->failed = app_realloc(self->failed, self->failed_count + 1, sizeof *self->failed);
        self->failed[self->failed_count++] = app_text("%s", from->failed[i]);
    }
}

/* Prints, writes and stores the results of an experiment. */
static void hand_over(outcome *out, execution *self, const app_call *call, double seconds)
{
    const run_args *args = call->args;
    json_t *json = describe(self, seconds);
    if (!call->common.json)
        print_result(self, seconds);
    if (!json)
        execution_settle(self, app_fail(UC_ERR_INVALID, "a text in it, such as --only, is not UTF-8"),
                         "its JSON");
    else if (args->out)
        execution_settle(self, write_files(self, json, args->out), "its files");
    if (json)
        json_array_append_new(out->results, json);
    keep_failures(out, &self->report);
    out->panels += self->report.panel_count;
}

/* Runs one experiment and hands over what it finished, even if it or a part of it failed. */
static void run_one(outcome *out, const experiment *chosen, const app_call *call)
{
    const run_args *args = call->args;
    char *command = command_of(chosen, call);
    execution self = {
        .experiment = chosen,
        .data_directory = data_directory(args->data.directory),
        .runs = runs_of(chosen, args),
        .quick = args->quick,
        .quiet = call->common.quiet,
        .only = args->only,
        .out = args->out,
        .seed = call->common.seed,
        .command = command,
        .context = {.threads = call->context.threads,
                    .memory = call->context.memory,
                    .progress = execution_progress},
    };
    self.context.user = &self;
    self.began = app_seconds();
    uc_status status = args->resume ? finished_read(&self) : UC_OK;
    if (status == UC_OK)
        status = chosen->run(&self);
    const bool whole = execution_settle(&self, status, "all of it");
    app_progress_end();
    for (size_t i = self.report.panel_count; i-- > 0 && !whole;)
        report_drop(&self.report, self.report.panels[i]); /* it is unknown what is finished */
    report_drop_empty(&self.report);
    if (!app_signal())
        hand_over(out, &self, call, app_seconds() - self.began);
    if (!app_signal() && self.report.failed_count == 0)
        finished_remove(&self);
    json_decref(self.finished);
    report_free(&self.report);
    free(command);
}

/* ---- all of them ---- */

/* Whether `word` selects the experiment: "all", "uma" or "uma.figure1a". */
static bool is_meant(const experiment *self, const char *word)
{
    const size_t length = strlen(word);
    return strcmp(word, "all") == 0 || strcmp(word, self->name) == 0 ||
           (strncmp(self->name, word, length) == 0 && self->name[length] == '.');
}

static bool is_any_meant(const experiment *self, const app_call *call)
{
    bool meant = false;
    for (size_t i = 0; i < call->word_count; i++)
        meant = meant || is_meant(self, call->words[i]);
    return meant;
}

static uc_status check_name(const char *name)
{
    for (size_t i = 0; experiments[i]; i++)
        if (is_meant(experiments[i], name))
            return UC_OK;
    const char *nearest = experiment_nearest(name);
    if (nearest)
        return app_fail(UC_ERR_OPTION, "there is no experiment '%s'; did you mean '%s'?", name, nearest);
    return app_fail(UC_ERR_OPTION, "there is no experiment '%s'; unconfuse-papers list lists them", name);
}

/* Makes the directory now, so that a failure is found before hours of work. */
static uc_status make_directory(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return app_fail(UC_ERR_IO, "%s: cannot make the directory: %s", path, strerror(errno));
    if (access(path, W_OK | X_OK) != 0)
        return app_fail(UC_ERR_IO, "%s: cannot write there: %s", path, strerror(errno));
    return UC_OK;
}

static uc_status check_words(const app_call *call)
{
    const run_args *args = call->args;
    uc_status status = UC_OK;
    if (args->resume && !args->out)
        return app_fail(UC_ERR_OPTION, "--resume needs --out DIR, where finished runs are kept");
    for (size_t i = 0; i < call->word_count && status == UC_OK; i++)
        status = check_name(call->words[i]);
    return status == UC_OK && args->out ? make_directory(args->out) : status;
}

/* Shows one line per failure, the last one as the message with which the program ends. */
static uc_status judge(const outcome *self, const run_args *args)
{
    const char *directory = data_directory(args->data.directory);
    for (size_t i = 0; i + 1 < self->failed_count; i++)
        app_say("%s", self->failed[i]);
    if (self->failed_count > 0)
        return app_fail(UC_ERR_INVALID, "%s", self->failed[self->failed_count - 1]);
    if (self->panels == 0 && args->only)
        return app_fail(UC_ERR_INVALID,
                        "nothing was run: '%s' (--only) is no data set of it whose files are in %s",
                        args->only, directory);
    if (self->panels == 0)
        return app_fail(UC_ERR_IO, "nothing was run: the data are not in %s (see unconfuse-papers fetch)",
                        directory);
    return UC_OK;
}

static uc_status run(app_call *call)
{
    outcome all = {.results = json_array()};
    uc_status status = check_words(call);
    if (status != UC_OK)
        goto cleanup;
    for (size_t i = 0; experiments[i] && !app_signal(); i++)
        if (is_any_meant(experiments[i], call))
            run_one(&all, experiments[i], call);
    status = app_check_interrupt();
    if (status != UC_OK)
        goto cleanup;
    if (call->common.json)
        call->result = json_pack("{sO}", "experiments", all.results);
    call->tells_failures = true;
    status = judge(&all, call->args);

cleanup:
    for (size_t i = 0; i < all.failed_count; i++)
        free(all.failed[i]);
    free(all.failed);
    json_decref(all.results);
    return status;
}

static const char *name_at(size_t i)
{
    return experiments[i] ? experiments[i]->name : NULL;
}

const app_command command_run = {
    .name = "run",
    .usage = "NAME... [options]",
    .summary = "run experiments; a paper's name (uma) or `all` means all of its experiments",
    .description =
        "Runs experiments of the papers and prints tables with the mean over the runs, the deviation, and "
        "the published figure where the paper gives one. An experiment whose data are missing is skipped. "
        "Failures are listed at the end, one per line; everything else is run and kept.",
    .sections = sections,
    .args_size = sizeof(run_args),
    .word = name_at,
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
