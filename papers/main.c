/* unconfuse-papers: runs the experiments of the papers again, with the published figure beside ours. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "experiment.h"

typedef struct settings {
    const char *data, *out, *only;
    uint64_t runs, seed, threads, memory;
    int quick, json, quiet, help, version, man;
} settings;

#define FIELD(name) offsetof(settings, name)

static const uc_option options[] = {
    {.name = "data",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(data),
     .argument = "DIR",
     .help = "directory of the data (UNCONFUSE_DATA, else ./data)"},
    {.name = "runs",
     .type = UC_OPTION_COUNT,
     .automatic = true,
     .offset = FIELD(runs),
     .standard = "auto",
     .low = 1,
     .high = 1000,
     .help = "runs to average over (as in the paper; fewer with --quick)"},
    {.name = "quick",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(quick),
     .standard = "off",
     .help = "a smaller version of each, in under a minute"},
    {.name = "out",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(out),
     .argument = "DIR",
     .help = "write NAME.json, NAME.csv and the picture NAME.svg and NAME.png there"},
    {.name = "only",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(only),
     .argument = "A,B",
     .help = "of the data sets of a table or figure, these only: optdigits,reuters-r8"},
    {.name = "seed",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(seed),
     .standard = "1",
     .low = 0,
     .high = 1e15,
     .help = "same seed, same numbers (1)"},
    {.name = "threads",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(threads),
     .standard = "0",
     .low = 0,
     .high = 4096,
     .help = "threads to use (all cores)"},
    {.name = "memory",
     .type = UC_OPTION_BYTES,
     .offset = FIELD(memory),
     .standard = "0",
     .low = 0,
     .high = 1e18,
     .argument = "SIZE",
     .help = "memory to use at most (the machine's)"},
    {.name = "json",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(json),
     .standard = "off",
     .help = "one JSON object on standard output instead of tables"},
    {.name = "quiet",
     .letter = 'q',
     .type = UC_OPTION_FLAG,
     .offset = FIELD(quiet),
     .standard = "off",
     .help = "no progress"},
    {.name = "help",
     .letter = 'h',
     .type = UC_OPTION_FLAG,
     .offset = FIELD(help),
     .standard = "off",
     .help = "this text"},
    {.name = "version",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(version),
     .standard = "off",
     .help = "the version"},
    {.name = "man", .type = UC_OPTION_FLAG, .offset = FIELD(man), .standard = "off"}, /* for the build */
    {.name = NULL},
};

/* ---- options ---- */

static const uc_option *find_option(const char *word, const char **value)
{
    char name[32];
    *value = NULL;
    for (const uc_option *option = options; option->name && word[1] != '-'; option++)
        if (option->letter && word[1] == option->letter && word[2] == 0)
            return option;
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    if (word[1] != '-' || length - 2 >= sizeof name)
        return NULL;
    memcpy(name, word + 2, length - 2);
    name[length - 2] = 0;
    *value = equals ? equals + 1 : NULL;
    return uc_options_find(options, name);
}

/* Fills in the settings and moves what is not an option to the front of argv. */
static uc_status parse(settings *out, int *words, int argc, char **argv)
{
    *words = 0;
    uc_options_defaults(options, out);
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-' || argv[i][1] == 0) {
            argv[(*words)++] = argv[i];
            continue;
        }
        const char *word = argv[i], *value;
        const uc_option *option = find_option(word, &value);
        if (!option)
            return papers_fail(UC_ERR_OPTION, "there is no option '%s' (see unconfuse-papers --help)", word);
        const bool flag = option->type == UC_OPTION_FLAG;
        if (!value && !flag && i + 1 < argc)
            value = argv[++i];
        if ((!value && !flag) || (value && flag))
            return papers_fail(UC_ERR_OPTION, flag ? "--%s takes no value" : "--%s needs a value",
                               option->name);
        const uc_status status = uc_option_set(option, out, flag ? "on" : value);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

/* ---- list and fetch ---- */

static void list_data(const experiment *shown, const char *directory)
{
    fputs("data: ", stdout);
    for (size_t i = 0; shown->data[i]; i++)
        printf("%s%s (%s)", i ? ", " : "", shown->data[i],
               data_is_there(directory, shown->data[i]) ? "there" : "missing");
    puts(shown->data[0] ? "" : "generated");
}

static void list(const settings *given)
{
    const char *directory = data_directory(given->data);
    for (size_t i = 0; experiments[i]; i++) {
        printf("%-14s %s\n%-14s ", experiments[i]->name, experiments[i]->what, "");
        list_data(experiments[i], directory);
    }
    printf("\nData directory: %s\n", directory);
}

static void fetch(const settings *given)
{
    const char *directory = data_directory(given->data);
    printf("Nothing is downloaded. Put these files into %s (or name another directory with --data or "
           "UNCONFUSE_DATA);\n"
           "the format is LIBSVM text, plain (.svm) or compressed (.svm.gz, .svm.zst):\n",
           directory);
    for (const data_set *set = data_sets; set->name; set++) {
        printf("\n%s (%s)\n  %s\n", set->name, data_is_there(directory, set->name) ? "there" : "missing",
               set->source);
        for (size_t i = 0; set->files[i]; i++)
            printf("  file: %s.svm\n", set->files[i]);
    }
}

/* ---- run ---- */

/* `json` or, when it is NULL, the report as CSV. */
static uc_status print_report(FILE *text, const report *shown, const json_t *json)
{
    if (!json)
        report_csv(shown, text);
    else if (json_dumpf(json, text, JSON_INDENT(1) | JSON_REAL_PRECISION(10)) == 0)
        fputc('\n', text);
    else
        return papers_fail(UC_ERR_NOMEM, "no memory for the JSON text of a result");
    return ferror(text) ? papers_fail(UC_ERR_NOMEM, "no memory for the text of a result") : UC_OK;
}

/* Everything that goes into one file; it appears when it is committed. */
static uc_status begin_file(uc_output **out, const char *directory, const char *name, const char *ending,
                            const report *shown, const json_t *json)
{
    char *path = papers_text("%s/%s%s", directory, name, ending), *bytes = NULL;
    size_t length = 0;
    uc_status status = uc_output_begin(out, path, NULL, NULL);
    FILE *text = status == UC_OK ? open_memstream(&bytes, &length) : NULL;
    if (text)
        status = print_report(text, shown, json);
    if (status == UC_OK && (!text || fclose(text) != 0))
        status = papers_fail(UC_ERR_NOMEM, "no memory for the text of a result");
    else if (status != UC_OK && text)
        (void)fclose(text);
    if (status == UC_OK)
        status = uc_output_write(*out, bytes, length);
    free(bytes);
    free(path);
    return status;
}

/* NAME.json and NAME.csv, both or neither. */
static uc_status write_results(const report *shown, const json_t *json, const char *directory,
                               const char *name)
{
    uc_output *files[2] = {NULL, NULL};
    uc_status status = begin_file(&files[0], directory, name, ".json", shown, json);
    if (status == UC_OK)
        status = begin_file(&files[1], directory, name, ".csv", shown, NULL);
    if (status == UC_OK)
        return uc_output_commit_all(files, 2, true);
    uc_output_abort(files[0]);
    uc_output_abort(files[1]);
    return status;
}

static uc_status write_files(execution *self, const json_t *json, const char *directory)
{
    const char *name = self->experiment->name;
    const uc_status status = write_results(&self->report, json, directory, name);
    if (status != UC_OK || self->report.panel_count == 0)
        return status;
    const plot_result drawn = plot_draw(&self->report, self->experiment->what,
                                        self->quick ? " (quick version)" : "", directory, name);
    if (drawn == PLOT_NO_PROGRAM)
        fprintf(stderr, "unconfuse-papers: no picture of %s: there is no gnuplot (Debian: gnuplot-nox)\n",
                name);
    else if (drawn == PLOT_FAILED)
        return papers_fail(UC_ERR_IO, "%s: gnuplot could not draw %s/%s.gp", name, directory, name);
    return UC_OK;
}

/* What one would type to have the same numbers again; the caller frees it. */
static char *command_of(const experiment *chosen, const settings *given)
{
    char *runs = given->runs != UC_AUTO_COUNT ? papers_text(" --runs %llu", (unsigned long long)given->runs)
                                              : papers_text("%s", "");
    char *seed = given->seed != 1 ? papers_text(" --seed %llu", (unsigned long long)given->seed)
                                  : papers_text("%s", "");
    char *command =
        papers_text("unconfuse-papers run %s%s%s%s%s%s", chosen->name, given->quick ? " --quick" : "",
                    given->only ? " --only " : "", given->only ? given->only : "", runs, seed);
    free(runs);
    free(seed);
    return command;
}

/* NULL: it cannot be said in JSON, whose texts are UTF-8. */
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
    printf("%s: %s\n", self->experiment->name, self->experiment->what);
    if (self->report.panel_count > 0)
        printf("%zu run%s%s, seed %llu, %.0f s; mean ±deviation\n\n", self->runs, self->runs == 1 ? "" : "s",
               self->quick ? ", quick version" : "", (unsigned long long)self->seed, seconds);
    report_print(&self->report, stdout);
    for (size_t i = 0; i < self->report.skipped_count; i++)
        puts(self->report.skipped[i]);
    for (size_t i = 0; i < self->report.failed_count; i++)
        printf("failed: %s\n", self->report.failed[i]);
    putchar('\n');
    fflush(stdout);
}

static size_t runs_of(const experiment *chosen, const settings *given)
{
    if (given->runs != UC_AUTO_COUNT)
        return (size_t)given->runs;
    return given->quick ? chosen->quick_runs : chosen->runs;
}

/* What became of all experiments. */
typedef struct outcome {
    json_t *results;
    char **failed; /* a sentence each */
    size_t failed_count;
    size_t panels; /* of all results: 0 when everything was skipped */
} outcome;

static void keep_failures(outcome *self, const report *from)
{
    for (size_t i = 0; i < from->failed_count; i++) {
        self->failed = papers_realloc(self->failed, self->failed_count + 1, sizeof *self->failed);
        self->failed[self->failed_count++] = papers_text("%s", from->failed[i]);
    }
}

/* Runs one experiment and hands over what it finished, also when it or a part of it failed. */
static void run_one(outcome *out, const experiment *chosen, const settings *given)
{
    char *command = command_of(chosen, given);
    execution self = {
        .experiment = chosen,
        .data_directory = data_directory(given->data),
        .runs = runs_of(chosen, given),
        .quick = given->quick,
        .quiet = given->quiet,
        .only = given->only,
        .seed = given->seed,
        .command = command,
        .context = {.threads = (unsigned)given->threads,
                    .memory = given->memory,
                    .progress = execution_progress},
    };
    self.context.user = &self;
    const double began = papers_seconds();
    const bool whole = execution_settle(&self, chosen->run(&self), "all of it");
    const double seconds = papers_seconds() - began;
    execution_stage_end();
    for (size_t i = self.report.panel_count; i-- > 0 && !whole;)
        report_drop(&self.report, self.report.panels[i]); /* nobody knows what is finished */
    report_drop_empty(&self.report);
    json_t *json = describe(&self, seconds);
    if (!given->json)
        print_result(&self, seconds);
    if (!json)
        execution_settle(&self, papers_fail(UC_ERR_INVALID, "a text in it, such as --only, is not UTF-8"),
                         "its JSON");
    else if (given->out)
        execution_settle(&self, write_files(&self, json, given->out), "its files");
    if (json)
        json_array_append_new(out->results, json);
    keep_failures(out, &self.report);
    out->panels += self.report.panel_count;
    report_free(&self.report);
    free(command);
}

/* "all", "uma" or "uma.figure1a" */
static bool is_meant(const experiment *self, const char *word)
{
    const size_t length = strlen(word);
    return strcmp(word, "all") == 0 || strcmp(word, self->name) == 0 ||
           (strncmp(self->name, word, length) == 0 && self->name[length] == '.');
}

static uc_status check_names(int count, char **names)
{
    if (count == 0)
        return papers_fail(UC_ERR_OPTION, "run what? (see unconfuse-papers list)");
    for (int i = 0; i < count; i++) {
        bool found = false;
        for (size_t j = 0; experiments[j]; j++)
            found |= is_meant(experiments[j], names[i]);
        const char *nearest = found ? NULL : experiment_nearest(names[i]);
        if (nearest)
            return papers_fail(UC_ERR_OPTION, "there is no experiment '%s'; did you mean '%s'?", names[i],
                               nearest);
        if (!found)
            return papers_fail(UC_ERR_OPTION, "there is no experiment '%s'; unconfuse-papers list lists them",
                               names[i]);
    }
    return UC_OK;
}

/* Found out before hours of work, not after. */
static uc_status make_directory(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return papers_fail(UC_ERR_IO, "%s: cannot make the directory: %s", path, strerror(errno));
    if (access(path, W_OK | X_OK) != 0)
        return papers_fail(UC_ERR_IO, "%s: cannot write there: %s", path, strerror(errno));
    return UC_OK;
}

/* A line for each failure, the last of which is the sentence that the program ends with. */
static uc_status judge(const outcome *self, const settings *given)
{
    for (size_t i = 0; i + 1 < self->failed_count; i++)
        fprintf(stderr, "unconfuse-papers: %s\n", self->failed[i]);
    if (self->failed_count > 0)
        return papers_fail(UC_ERR_INVALID, "%s", self->failed[self->failed_count - 1]);
    if (self->panels == 0 && given->only)
        return papers_fail(UC_ERR_INVALID,
                           "nothing was run: '%s' (--only) is no data set of it whose files are in %s",
                           given->only, data_directory(given->data));
    if (self->panels == 0)
        return papers_fail(UC_ERR_IO, "nothing was run: the data are not in %s (see unconfuse-papers fetch)",
                           data_directory(given->data));
    return UC_OK;
}

static uc_status run(const settings *given, int count, char **names)
{
    outcome all = {.results = json_array()};
    uc_status status = check_names(count, names);
    if (status == UC_OK && given->out)
        status = make_directory(given->out);
    for (size_t i = 0; experiments[i] && status == UC_OK; i++) {
        bool meant = false;
        for (int j = 0; j < count; j++)
            meant |= is_meant(experiments[i], names[j]);
        if (meant)
            run_one(&all, experiments[i], given);
    }
    if (status == UC_OK && given->json) {
        json_t *shown = json_pack("{sO}", "experiments", all.results);
        if (shown && json_dumpf(shown, stdout, JSON_REAL_PRECISION(17)) == 0)
            putchar('\n');
        else if (!ferror(stdout)) /* which main looks at */
            status = papers_fail(UC_ERR_NOMEM, "no memory for the JSON text of the results");
        json_decref(shown);
    }
    if (status == UC_OK)
        status = judge(&all, given);
    for (size_t i = 0; i < all.failed_count; i++)
        free(all.failed[i]);
    free(all.failed);
    json_decref(all.results);
    return status;
}

/* ---- the program ---- */

static uc_status dispatch(const settings *given, int words, char **argv)
{
    const char *command = words > 0 ? argv[0] : "";
    if (given->help) {
        print_usage(stdout, options);
        return UC_OK;
    }
    if (given->version) {
        printf("unconfuse-papers %s\n", uc_version());
        return UC_OK;
    }
    if (given->man) {
        print_manual(stdout, options);
        return UC_OK;
    }
    if (strcmp(command, "run") == 0)
        return run(given, words - 1, argv + 1);
    if (strcmp(command, "list") != 0 && strcmp(command, "fetch") != 0)
        return papers_fail(UC_ERR_OPTION, "there is no command '%s'; the commands are list, run and fetch",
                           command);
    if (words > 1)
        return papers_fail(UC_ERR_OPTION, "'%s' is one word too many: %s takes none", argv[1], command);
    if (strcmp(command, "list") == 0)
        list(given);
    else
        fetch(given);
    return UC_OK;
}

int main(int argc, char **argv)
{
    uc_program_occupy_standard_files();
    uc_threads_sleep_when_idle(argv);
    uc_program_unblock_signals();
    settings given;
    int words;
    uc_status status = parse(&given, &words, argc - 1, argv + 1);
    if (status == UC_OK && words == 0 && !(given.help || given.version || given.man)) {
        print_usage(stderr, options);
        return 2;
    }
    if (status == UC_OK)
        status = dispatch(&given, words, argv + 1);
    if (status == UC_OK && (fflush(stdout) != 0 || ferror(stdout)))
        status = papers_fail(UC_ERR_IO, "standard output: cannot write: %s", strerror(errno));
    if (status == UC_OK)
        return 0;
    execution_stage_end();
    fprintf(stderr, "unconfuse-papers: %s\n", papers_last_error());
    return status == UC_ERR_OPTION ? 2 : 1;
}
