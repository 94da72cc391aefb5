/* unconfuse experiment: trains learners on data with artificial label noise, all on the same draws. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "experiment.h"
#include "learner_list.h"
#include "regions.h"

#define MOST_REGIONS 100 /* pictures on a page; if there were more, none is drawn */

typedef struct experiment_args {
    uc_train_settings train;
    uc_read_settings read;
    app_report report;
    const char *noise, *learners, *csv, *latex;
    uint64_t runs;
    double test_share;
    int tell_noise;
} experiment_args;

#define FIELD(name) offsetof(experiment_args, name)
static const uc_option options[] = {
    {.name = "noise",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(noise),
     .argument = "KINDS",
     .help =
         "how training labels are made wrong, by commas: none, uniform:RATE, pair:RATE (every class is taken "
         "for the next one), random:LEVEL (a random matrix), rates:POSITIVE:NEGATIVE (two classes), "
         "instance:RATE (more where a weak model hesitates) (without it: none,uniform:0.2,uniform:0.4)"},
    {.name = "learners",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(learners),
     .argument = "a,b,c",
     .help =
         "the learners, each with options of its own if any, as in csvm:cost=10,auto (without it: all that "
         "learn from labels)"},
    {.name = "runs",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(runs),
     .standard = "5",
     .low = 1,
     .high = 10000,
     .help = "how often to draw training rows, test rows and wrong labels anew"},
    {.name = "test",
     .type = UC_OPTION_REAL,
     .offset = FIELD(test_share),
     .standard = "0.3",
     .low = 0,
     .above_low = true,
     .high = 0.99,
     .argument = "SHARE",
     .help = "share of the rows to test on; their labels stay as they are"},
    {.name = "tell-noise",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(tell_noise),
     .standard = "off",
     .help = "give the noise matrix to the learners that use one"},
    {.name = "csv",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(csv),
     .argument = "FILE",
     .help = "write the results as CSV"},
    {.name = "latex",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(latex),
     .argument = "FILE",
     .help = "write the table of errors for LaTeX, the best of each column in bold"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Training options", uc_train_options, FIELD(train)},
    {"Map options", uc_map_options, FIELD(train.map)},
    {"Data options", uc_read_options, FIELD(read)},
    {"Report", app_report_options, FIELD(report)},
    {0},
};

/* The state of the experiment. */
typedef struct study {
    const app_call *call;
    const experiment_args *args;
    learner_list learners;
    uc_label_noise *noise;
    experiment_result result;
    uc_context context; /* its progress counts trials */
    size_t done;
    char stage[256];
    json_t *regions; /* of problems with two columns, as learned in the first run */
    json_t *region;  /* of the current problem; NULL: not wanted */
    cli_plane plane; /* the rows of the current problem */
} study;

/* ---- what to run ---- */

static uc_status parse_noise(study *self, const char *list)
{
    experiment_result *result = &self->result;
    uc_status status = UC_OK;
    for (const char *at = list; at && status == UC_OK;) {
        const size_t length = strcspn(at, ",");
        char *text = app_text("%.*s", (int)length, at);
        self->noise = app_realloc(self->noise, result->noise_count + 1, sizeof *self->noise);
        result->noise = app_realloc(result->noise, result->noise_count + 1, sizeof *result->noise);
        result->noise[result->noise_count] = text;
        status = uc_label_noise_parse(&self->noise[result->noise_count++], text);
        if (status != UC_OK)
            status = app_fail(UC_ERR_OPTION, "--noise: %s", app_library_error());
        for (size_t i = 0; i + 1 < result->noise_count && status == UC_OK; i++)
            if (strcmp(result->noise[i], text) == 0)
                status = app_fail(UC_ERR_OPTION, "--noise: %s is named twice", text);
        at = at[length] ? at + length + 1 : NULL;
    }
    return status;
}

/* Lists every learner that learns from labels and needs no special kind of labels. */
static uc_status name_all_learners(learner_list *self)
{
    uc_status status = UC_OK;
    for (size_t i = 0; uc_learner_at(i) && status == UC_OK; i++) {
        const uc_learner *learner = uc_learner_at(i);
        if (uc_learner_accepts(learner, UC_FEEDBACK_FULL) &&
            !uc_learner_accepts(learner, UC_FEEDBACK_PARTIAL) && !uc_learner_is_positive_unlabelled(learner))
            status = cli_parse_learners(self, uc_learner_name(learner));
    }
    return status;
}

static uc_status check_options(const app_call *call)
{
    const experiment_args *args = call->args;
    if (args->read.weights || args->read.soft_labels)
        return app_fail(UC_ERR_OPTION, "%s is not for experiment: the test labels must be true ones",
                        args->read.weights ? "--weights" : "--soft-labels");
    return UC_OK;
}

static uc_status prepare(study *self)
{
    const experiment_args *args = self->args;
    experiment_result *result = &self->result;
    uc_status status = check_options(self->call);
    if (status == UC_OK)
        status = parse_noise(self, args->noise ? args->noise : "none,uniform:0.2,uniform:0.4");
    if (status == UC_OK && args->learners)
        status = cli_parse_learners(&self->learners, args->learners);
    else if (status == UC_OK)
        status = name_all_learners(&self->learners);
    if (status == UC_OK)
        status =
            cli_check_map_options(self->call, &args->train.map, self->learners.items, self->learners.count);
    if (status != UC_OK)
        return status;
    result->runs = (size_t)args->runs;
    result->data_count = self->call->word_count;
    result->data = app_calloc(result->data_count, sizeof *result->data);
    for (size_t i = 0; i < result->data_count; i++) {
        const char *slash = strrchr(self->call->words[i], '/');
        result->data[i] = app_text("%s", slash ? slash + 1 : self->call->words[i]);
    }
    result->learner_count = self->learners.count;
    result->learners = app_calloc(result->learner_count, sizeof *result->learners);
    result->cells =
        app_calloc(result->data_count * result->noise_count * result->learner_count, sizeof *result->cells);
    for (size_t i = 0; i < result->data_count * result->noise_count * result->learner_count; i++)
        result->cells[i].errors = app_calloc(result->runs, sizeof *result->cells[i].errors);
    for (size_t i = 0; i < result->learner_count; i++)
        result->learners[i].name = self->learners.names[i];
    return UC_OK;
}

experiment_cell *experiment_at(const experiment_result *self, size_t data, size_t noise, size_t learner)
{
    return &self->cells[(data * self->noise_count + noise) * self->learner_count + learner];
}

static void free_study(study *self)
{
    experiment_result *result = &self->result;
    const size_t cells = result->data_count * result->noise_count * result->learner_count;
    for (size_t i = 0; result->cells && i < cells; i++) {
        free(result->cells[i].errors);
        free(result->cells[i].why);
    }
    for (size_t i = 0; i < result->data_count && result->data; i++)
        free(result->data[i]);
    for (size_t i = 0; i < result->noise_count; i++)
        free(result->noise[i]);
    free(result->cells);
    free(result->learners);
    free(result->data);
    free(result->noise);
    free(self->noise);
    json_decref(self->regions);
    cli_free_learners(&self->learners);
}

/* ---- running it ---- */

static bool show_stage(const char *task, double done, double total, const char *detail, void *user)
{
    const study *self = user;
    const experiment_result *result = &self->result;
    const double trials =
        (double)(result->data_count * result->noise_count * result->runs * result->learner_count);
    (void)task, (void)done, (void)total, (void)detail;
    if (self->call->common.quiet)
        return !app_signal();
    return app_progress("experiment", (double)self->done, trials, self->stage, NULL);
}

/* Begins a picture of the first draw, if the data have two columns and there are not too many pictures. */
static void begin_regions(study *self, size_t d, size_t k, const uc_dataset *noisy)
{
    const experiment_result *result = &self->result;
    const size_t pictures = result->data_count * result->noise_count * result->learner_count;
    self->region = NULL;
    if (!app_wants_result(self->call) || noisy->X.cols != 2 || noisy->X.rows == 0 || pictures > MOST_REGIONS)
        return;
    self->plane = (cli_plane){0};
    for (size_t i = 0; i < noisy->X.rows; i++)
        cli_plane_add(&self->plane, &noisy->X, i, noisy->y[i]);
    self->region = cli_plane_json(&self->plane);
    json_object_set_new(self->region, "data", app_json_text(result->data[d]));
    json_object_set_new(self->region, "noise", app_json_text(result->noise[k]));
    json_object_set_new(self->region, "classes", app_json_names(&noisy->classes));
    json_object_set_new(self->region, "learners", json_array());
    if (!self->regions)
        self->regions = json_array();
    json_array_append_new(self->regions, self->region);
}

static uc_status add_region(study *self, size_t learner, const uc_model *model)
{
    json_t *cells;
    if (!self->region || !model || uc_model_features(model) != 2)
        return UC_OK;
    const uc_status status = cli_regions_json(&cells, model, &self->plane, &self->context);
    if (status == UC_OK)
        json_array_append_new(
            json_object_get(self->region, "learners"),
            json_pack("{so so}", "learner", app_json_text(self->learners.names[learner]), "cells", cells));
    return status;
}

/* A learner that fails is left out of this problem, and its message is kept. */
static uc_status run_trial(study *self, experiment_cell *cell, size_t learner, size_t run,
                           const uc_train_settings *train, const uc_dataset *noisy, const uc_dataset *test)
{
    const uc_compare_entry *entry = &self->learners.items[learner];
    double seconds = 0.0;
    cell->errors[run] = NAN;
    uc_model *model = NULL;
    uc_status status = UC_OK;
    if (!cell->why)
        status = uc_trial(&cell->errors[run], &seconds, self->region ? &model : NULL, entry->learner,
                          entry->settings, train, noisy, test, &self->context);
    if (status == UC_OK)
        status = add_region(self, learner, model);
    uc_model_free(model);
    self->done++;
    cell->seconds += seconds / (double)self->result.runs;
    if (status == UC_OK || status == UC_ERR_NOMEM || app_signal())
        return status == UC_OK ? UC_OK : app_fail(status, "%s", app_library_error());
    cell->why = app_text("%s", app_library_error());
    app_forget_error();
    return UC_OK;
}

static uc_status run_draw(study *self, const uc_dataset *data, size_t d, size_t k, size_t run)
{
    const uint64_t seed = self->call->common.seed + UC_RUN_STRIDE * (uint64_t)run;
    uc_train_settings train = self->args->train;
    uc_dataset noisy = {0}, test = {0};
    uc_noise matrix = {0};
    train.seed = seed;
    uc_status status = uc_experiment_draw(&noisy, &test, data, self->args->test_share, seed, &self->context);
    if (status == UC_OK)
        status = uc_label_noise_apply(&noisy, &matrix, &self->noise[k], seed, &self->context);
    if (status != UC_OK)
        (void)app_fail(status, "%s, %s: %s", self->call->words[d], self->result.noise[k],
                       app_library_error());
    self->region = NULL;
    if (status == UC_OK && run == 0)
        begin_regions(self, d, k, &noisy);
    for (size_t j = 0; j < self->learners.count && status == UC_OK; j++) {
        const bool told = self->args->tell_noise && matrix.classes > 0 &&
                          uc_learner_uses_noise(self->learners.items[j].learner);
        train.noise = told ? &matrix : NULL;
        snprintf(self->stage, sizeof self->stage, "%s, %s, run %zu of %zu, %s", self->result.data[d],
                 self->result.noise[k], run + 1, self->result.runs, self->learners.names[j]);
        status = run_trial(self, experiment_at(&self->result, d, k, j), j, run, &train, &noisy, &test);
    }
    uc_noise_free(&matrix);
    uc_dataset_free(&noisy);
    uc_dataset_free(&test);
    return status;
}

static void summarise_cell(experiment_cell *self, size_t runs)
{
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < runs; i++)
        mean += self->errors[i] / (double)runs;
    for (size_t i = 0; i < runs; i++)
        squares += (self->errors[i] - mean) * (self->errors[i] - mean);
    self->error = mean;
    self->deviation = runs > 1 ? sqrt(squares / (double)(runs - 1)) : NAN;
    if (!self->why)
        return;
    self->error = self->deviation = self->rank = self->seconds = NAN;
}

/* Rounds an error before it is ranked, so that means of the same counts are equal in whatever order they were
 * summed. Means of other counts differ by far more. */
static double ranked_error(double error)
{
    return round(error * 1e12) / 1e12;
}

/* Ranks the learners on each problem for Friedman's test; the rank of a learner is the mean over the
 * problems. */
static void rank_cells(experiment_result *self, const double *errors, size_t problems)
{
    double *ranks = app_calloc(self->learner_count, sizeof *ranks);
    for (size_t i = 0; i < problems; i++) {
        uc_metrics_ranks(ranks, errors + i * self->compared, self->compared);
        for (size_t j = 0, at = 0; j < self->learner_count; j++)
            self->cells[i * self->learner_count + j].rank =
                isnan(self->learners[j].error) ? (double)NAN : ranks[at++];
    }
    free(ranks);
}

/* Compares the learners that never failed, over all problems. */
static uc_status compare_learners(experiment_result *self)
{
    const size_t problems = self->data_count * self->noise_count;
    double *errors = app_calloc(problems * self->learner_count, sizeof *errors);
    double *ranks = app_calloc(self->learner_count, sizeof *ranks);
    self->compared = 0;
    for (size_t j = 0; j < self->learner_count; j++) {
        experiment_learner *learner = &self->learners[j];
        for (size_t i = 0; i < problems; i++) {
            learner->error += self->cells[i * self->learner_count + j].error / (double)problems;
            learner->seconds += self->cells[i * self->learner_count + j].seconds / (double)problems;
        }
        if (!isnan(learner->error))
            self->compared++;
    }
    for (size_t i = 0; i < problems; i++)
        for (size_t j = 0, at = 0; j < self->learner_count; j++)
            if (!isnan(self->learners[j].error))
                errors[i * self->compared + at++] =
                    ranked_error(self->cells[i * self->learner_count + j].error);
    rank_cells(self, errors, problems);
    uc_status status = UC_OK;
    if (self->compared > 0)
        status = uc_metrics_friedman(&self->test, ranks, errors, problems, self->compared);
    for (size_t j = 0, at = 0; j < self->learner_count; j++)
        self->learners[j].rank = isnan(self->learners[j].error) ? NAN : ranks[at++];
    free(errors);
    free(ranks);
    return status == UC_OK ? UC_OK : app_fail(status, "%s", app_library_error());
}

static uc_status run_data(study *self, size_t d)
{
    experiment_result *result = &self->result;
    uc_dataset data = {0};
    uc_status status = cli_read_data(&data, self->call, self->call->words[d], &self->args->read);
    if (status == UC_OK && data.weights)
        status = app_fail(UC_ERR_OPTION, "%s: weights are not for experiment", self->call->words[d]);
    for (size_t k = 0; k < result->noise_count && status == UC_OK; k++) {
        for (size_t run = 0; run < result->runs && status == UC_OK; run++)
            status = run_draw(self, &data, d, k, run);
        for (size_t j = 0; j < result->learner_count && status == UC_OK; j++)
            summarise_cell(experiment_at(result, d, k, j), result->runs);
    }
    uc_dataset_free(&data);
    return status;
}

/* ---- files ---- */

typedef void print_fn(const experiment_result *self, FILE *file);

static uc_status write_text(uc_output *file, print_fn *print, const experiment_result *result)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *text = file ? open_memstream(&bytes, &length) : NULL;
    if (!file)
        return UC_OK;
    if (text)
        print(result, text);
    if (!text || fclose(text) != 0) {
        free(bytes);
        return app_fail(UC_ERR_NOMEM, "no memory for the results");
    }
    const uc_status status = uc_output_write(file, bytes, length);
    free(bytes);
    return status;
}

static uc_status begin_outputs(uc_output **csv, uc_output **latex, const experiment_args *args)
{
    uc_status status = UC_OK;
    if (args->csv)
        status = app_begin_file(csv, args->csv, "--csv");
    if (status == UC_OK && args->latex)
        status = app_begin_file(latex, args->latex, "--latex");
    return status;
}

static uc_status run(app_call *call)
{
    study self = {.call = call, .args = call->args, .context = call->context};
    uc_output *csv = NULL, *latex = NULL;
    self.context.progress = show_stage;
    self.context.user = &self;
    uc_status status = begin_outputs(&csv, &latex, self.args);
    if (status == UC_OK)
        status = prepare(&self);
    for (size_t d = 0; d < call->word_count && status == UC_OK; d++)
        status = run_data(&self, d);
    app_progress_end();
    if (status == UC_OK)
        status = compare_learners(&self.result);
    if (status == UC_OK)
        status = write_text(csv, experiment_csv, &self.result);
    if (status == UC_OK)
        status = write_text(latex, experiment_latex, &self.result);
    if (status == UC_OK && self.result.compared == 0)
        status = app_fail(UC_ERR_INVALID, "every learner failed: %s", self.result.cells[0].why);
    if (status == UC_OK && app_wants_result(call))
        call->result = experiment_json(&self.result);
    if (call->result && self.regions)
        json_object_set(call->result, "regions", self.regions);
    if (status == UC_OK)
        status = app_finish_call(call, false);
    FILE *text = status == UC_OK ? app_findings(call, NULL) : NULL;
    if (text)
        experiment_print(&self.result, text);
    free_study(&self);
    return status;
}

const app_command command_experiment = {
    .name = "experiment",
    .usage =
        "DATA... [--noise uniform:0.2,pair:0.3,...] [--learners a,b] [--runs N] [--html FILE] [--latex FILE]",
    .summary = "compare learners on labels that are made wrong on purpose",
    .description =
        "Takes data whose labels are right, draws training and test rows, makes training labels wrong in "
        "several "
        "ways, and lets every learner learn from the same draws: test errors with deviations, ranks, times, "
        "and "
        "which learners differ over all problems (Friedman's test; Nemenyi's critical difference). A learner "
        "that cannot learn from a data set is left out there, and the table says why.",
    .sections = sections,
    .args_size = sizeof(experiment_args),
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
