/* unconfuse audit: finds which labels are wrong and how many, and learns a model that does not trust them. */
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "audit_check.h"
#include "commands.h"

typedef struct audit_args {
    uc_audit_settings learner;
    uc_read_settings read;
    app_report report;
    const char *output, *model, *noise, *clean, *gold;
    int repair, all;
    uint64_t bootstrap;
    const char *probabilities;
    cli_crowd crowd;
    uc_consensus_settings consensus;
    cli_check_args check;
} audit_args;

#define FIELD(name) offsetof(audit_args, name)
static const uc_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = UC_OPTION_TEXT,
     .offset = FIELD(output),
     .argument = "SUSPECTS.csv",
     .help = "write the flagged labels there, the most suspicious first (--all: every label)"},
    {.name = "model-out",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(model),
     .argument = "MODEL",
     .help = "write a model that predicts true classes"},
    {.name = "noise-out",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(noise),
     .argument = "MATRIX",
     .help = "write how classes are confused, as a CSV file that --noise-matrix reads"},
    {.name = "clean-out",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(clean),
     .argument = "DATA",
     .help = "write the data with flagged labels repaired"},
    {.name = "repair",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(repair),
     .standard = "suggest",
     .choices = "suggest|drop|weight|checked",
     .help = "how: flagged labels become the suggested ones; their rows are left out; every row is "
             "weighted by the probability that its label is right; or only the labels of rows in --gold "
             "change, to what was found there"},
    {.name = "gold",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(gold),
     .argument = "FILE",
     .help =
         "rows whose true class somebody has checked: a file of unconfuse check that was filled in, what "
         "Label Studio (JSON) or Argilla exports, two columns id,true_label, or a label per row with '?' for "
         "the others"},
    {.name = "probabilities",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(probabilities),
     .argument = "FILE",
     .help =
         "judge the labels of DATA by the probabilities of any model, n x K (NPY, or CSV with class names), "
         "out of fold; DATA may then be a list of labels"},
    {.name = "width",
     .type = UC_OPTION_REAL,
     .offset = FIELD(learner.width),
     .standard = "auto",
     .low = 1e-3,
     .high = 1e3,
     .automatic = true,
     .argument = "W",
     .help = "width of the kernels, exp(-W |x - y|^2 / median); auto: the one of 0.3, 1 and 3 that suits the "
             "labels best"},
    {.name = "all",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(all),
     .standard = "off",
     .help = "list every label, not only the flagged ones"},
    {.name = "bootstrap",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(bootstrap),
     .standard = "200",
     .low = 2,
     .high = 1e6,
     .help = "resamples for the intervals"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"How true classes are found", uc_audit_options, FIELD(learner)},
    {"Rows to check", cli_check_options, FIELD(check)},
    {"Several annotators", cli_crowd_options, FIELD(crowd)},
    {"How annotators are combined", uc_consensus_options, FIELD(consensus)},
    {"Data options", uc_read_options, FIELD(read)},
    {"Report", app_report_options, FIELD(report)},
    {0},
};

/* ---- files ---- */

typedef struct audit_files {
    uc_output *suspects, *model, *noise;
    cli_data_file clean;
    cli_check_files check;
} audit_files;

static bool to_file(const char *path)
{
    return path && strcmp(path, "-") != 0;
}

static uc_status begin(audit_files *out, const app_call *call, const cli_files *files)
{
    const audit_args *args = call->args;
    uc_status status = UC_OK;
    if (args->output && (!call->common.json || to_file(args->output)))
        status = app_begin_file(&out->suspects, args->output, "-o");
    if (status == UC_OK && args->model)
        status = app_begin_file(&out->model, args->model, "--model-out");
    if (status == UC_OK && args->noise)
        status = app_begin_file(&out->noise, args->noise, "--noise-out");
    if (status == UC_OK && args->clean)
        status = cli_begin_data(&out->clean, args->clean, "--clean-out", UC_FORMAT_AUTO, NULL);
    if (status == UC_OK)
        status = cli_check_plan_begin(&out->check, &args->check);
    if (status == UC_OK)
        status = cli_keep_inputs(files, &args->read);
    return status == UC_OK ? app_keep_input(args->gold) : status;
}

/* The format of a table on standard output, where there is no file name to choose it by. */
static uc_format format_of_table(const char *path)
{
    uc_format format = UC_FORMAT_CSV;
    const uc_status status = uc_format_of_path(&format, path);
    return status == UC_OK && format == UC_FORMAT_JSONL ? UC_FORMAT_JSONL : UC_FORMAT_CSV;
}

/* A table keeps its header, ids, columns and text; weights become one more column, unless it already has
 * one. */
static uc_status write_repaired(const audit_files *files, const cli_audit *self, const uc_dataset *repaired,
                                const app_call *call)
{
    const audit_args *args = call->args;
    const size_t rows = self->data->X.rows;
    cli_table_rows table = {.text = self->text, .count = rows, .reweighted = true};
    if (args->repair == UC_REPAIR_SUGGEST || args->repair == UC_REPAIR_CHECKED)
        table = (cli_table_rows){self->text, NULL, rows, repaired->y, self->data->y, false};
    if (args->repair != UC_REPAIR_DROP)
        return cli_write_table(call, &table, repaired, &files->clean);
    bool *flagged = app_calloc(rows + 1, sizeof *flagged);
    size_t *kept = app_calloc(rows + 1, sizeof *kept), count = 0;
    for (size_t i = 0; i < self->found->flagged; i++)
        flagged[self->found->suspects[i].row] = true;
    for (size_t i = 0; i < rows; i++)
        if (!flagged[i])
            kept[count++] = i;
    table = (cli_table_rows){.text = self->text, .rows = kept, .count = count};
    const uc_status status = cli_write_table(call, &table, repaired, &files->clean);
    free(kept);
    free(flagged);
    return status;
}

static uc_status write_clean(const audit_files *files, const cli_audit *self, const app_call *call)
{
    const audit_args *args = call->args;
    uc_dataset repaired = {0};
    uc_status status = uc_label_audit_repair(&repaired, self->data, self->found, self->gold,
                                             (uc_repair)args->repair, &call->context);
    if (status == UC_OK)
        status = write_repaired(files, self, &repaired, call);
    uc_dataset_free(&repaired);
    return status;
}

static uc_status write_files(const audit_files *files, const cli_audit *self, const app_call *call)
{
    const audit_args *args = call->args;
    uc_status status = UC_OK;
    if (files->suspects)
        status = cli_audit_write(files->suspects, self, args->all);
    if (status == UC_OK && files->model)
        status = uc_model_write(self->found->model, files->model);
    if (status == UC_OK && files->noise)
        status = uc_noise_write_to(&self->found->noise, files->noise);
    if (status == UC_OK && files->clean.rows)
        status = write_clean(files, self, call);
    return status;
}

/* ---- checked rows ---- */

/* The true classes of checked rows, UC_NONE for others. The file was drawn for these data and identifies
 * their rows. */
static uc_status read_gold(uint32_t **out, const char *path, const uc_dataset *data, uc_table_text *text,
                           const cli_files *files, const app_call *call)
{
    char **ids = cli_table_ids(text, data->X.rows);
    const uc_predicted_rows rows = {
        data->y, data->y, data->X.rows, &data->classes, files->shown, (const char *const *)ids, false};
    uc_checked checked = {0};
    uc_status status = uc_checked_read(&checked, path, &rows, &call->context);
    cli_table_ids_free(ids, data->X.rows);
    if (status == UC_OK && checked.count == 0)
        status = app_fail(UC_ERR_FORMAT, "%s: no true class is filled in", path);
    if (status != UC_OK) {
        uc_checked_free(&checked);
        return status;
    }
    uint32_t *gold = app_calloc(data->X.rows, sizeof *gold);
    for (size_t i = 0; i < data->X.rows; i++)
        gold[i] = UC_NONE;
    for (size_t i = 0; i < checked.count; i++)
        gold[checked.rows[i]] = checked.truth[i];
    uc_checked_free(&checked);
    *out = gold;
    return UC_OK;
}

/* ---- all ---- */

/* What is read: the data, their text if they are a table, and the true classes of checked rows, or NULL. */
typedef struct audit_input {
    uc_dataset data;
    uc_table_text *text;
    uint32_t *gold;
} audit_input;

/* Says what happened to the labels in --clean-out, and what else can be done if they are unsure. */
static void print_repair(FILE *text, const cli_audit *self, const audit_args *args)
{
    size_t changed = 0;
    for (size_t i = 0; self->gold && i < self->data->X.rows; i++)
        changed += self->gold[i] != UC_NONE && self->gold[i] != self->data->y[i];
    if (args->repair == UC_REPAIR_CHECKED) {
        fprintf(text, "%zu checked label%s changed in %s.\n", changed, changed == 1 ? " was" : "s were",
                args->clean);
        return;
    }
    if (args->repair != UC_REPAIR_SUGGEST || self->found->flagged == 0)
        return;
    fprintf(text, "%zu label%s changed in %s.", self->found->flagged,
            self->found->flagged == 1 ? " was" : "s were", args->clean);
    if (cli_audit_is_unsure(self))
        fprintf(text, " Some of them were right: --repair weight believes labels in doubt less, and --repair "
                      "checked changes only those that --gold has checked.");
    fputc('\n', text);
}

static uc_status tell(app_call *call, const cli_audit *self, audit_files *files)
{
    const audit_args *args = call->args;
    cli_check_plan plan = {0};
    uc_status status = UC_OK;
    if (args->check.rows > 0)
        status = cli_check_plan_make(&plan, self, &args->check, call->common.seed);
    if (status == UC_OK && app_wants_result(call)) {
        call->result = cli_audit_json(self, args->all);
        if (args->check.rows > 0)
            json_object_set_new(call->result, "check", cli_check_plan_json(&plan));
    }
    if (status == UC_OK)
        status = write_files(files, self, call);
    if (status == UC_OK && args->check.rows > 0)
        status = cli_check_plan_write(&plan, &files->check, &args->check);
    if (status == UC_OK)
        status = app_finish_call(call, args->model != NULL);
    FILE *text = app_summary(call, args->output);
    if (status == UC_OK && text) {
        cli_audit_print(text, self);
        if (args->clean)
            print_repair(text, self, args);
        if (args->check.rows > 0)
            cli_check_plan_print(text, &plan, &args->check, call->words[0]);
    }
    cli_check_plan_free(&plan);
    return status;
}

static bool is_crowd(const audit_args *args)
{
    return args->crowd.file || args->crowd.columns;
}

/* Runs an audit by annotators, or by probabilities instead of features. */
static uc_status run_otherwise(app_call *call)
{
    const audit_args *args = call->args;
    const cli_audit_request request = {.data = call->word_count ? call->words[0] : NULL,
                                       .read = &args->read,
                                       .gold = args->gold,
                                       .output = args->output,
                                       .model = args->model,
                                       .noise = args->noise,
                                       .all = args->all,
                                       .settings = &args->learner};
    if (is_crowd(args) && args->probabilities)
        return app_fail(UC_ERR_OPTION, "--%s and --probabilities do not go together",
                        args->crowd.file ? "crowd" : "annotators");
    if (args->check.rows > 0)
        return app_fail(UC_ERR_OPTION, "--check is for data with one label per row and features%s",
                        is_crowd(args) ? "; --ask N proposes rows and annotators to ask again" : "");
    if (args->clean)
        return app_fail(UC_ERR_OPTION,
                        "--clean-out is for data with one label per row and features; --consensus-out "
                        "writes the classes that annotators agree on");
    if (is_crowd(args))
        return cli_audit_crowd(call, &args->crowd, &args->consensus, &request);
    return cli_audit_probabilities(call, args->probabilities, &request);
}

/* Refuses an option about annotators, named as it was typed: a flag that is on by default turns it off. */
static uc_status refuse_alone(const uc_option *option)
{
    const bool off =
        option->type == UC_OPTION_FLAG && option->standard && strcmp(option->standard, "on") == 0;
    return app_fail(UC_ERR_OPTION, "--%s%s is about several annotators: it needs --crowd FILE",
                    off ? "no-" : "", option->name);
}

/* Whether the rows' own features find the true classes. */
static bool uses_features(const app_call *call)
{
    const audit_args *args = call->args;
    if (!is_crowd(args))
        return !args->probabilities;
    return call->word_count > 0 && args->crowd.features && args->consensus.method == UC_CONSENSUS_AUDIT;
}

/* Warns of an option that does nothing here. */
static void tell_unused(const app_call *call, const char *name)
{
    const audit_args *args = call->args;
    const bool about_features = uc_options_find(uc_audit_options, name) || strcmp(name, "width") == 0;
    const bool otherwise = is_crowd(args) || args->probabilities;
    if (about_features && !uses_features(call))
        app_warn("--%s does nothing: no features are used", name);
    if (otherwise && strcmp(name, "bootstrap") == 0)
        app_warn("--bootstrap does nothing: it is for data with one label per row and features");
}

/* Refuses options that make no sense together, and warns of those that do nothing. */
static uc_status check_options(const app_call *call)
{
    const audit_args *args = call->args;
    for (size_t i = 0; i < call->given_count; i++) {
        const uc_option *option = call->given[i];
        const bool about_crowds = uc_options_find(cli_crowd_options, option->name) ||
                                  uc_options_find(uc_consensus_options, option->name);
        if (about_crowds && !is_crowd(args))
            return refuse_alone(option);
        tell_unused(call, option->name);
    }
    if (args->repair == UC_REPAIR_CHECKED && !args->gold)
        return app_fail(UC_ERR_OPTION, "--repair checked changes labels to those of --gold; give both");
    if (app_given(call, "repair") && !args->clean)
        return app_fail(UC_ERR_OPTION,
                        "--repair says how the data of --clean-out DATA are repaired; give both");
    if (call->word_count == 0 && !is_crowd(args) && !args->probabilities)
        return app_fail(UC_ERR_OPTION,
                        "audit needs DATA; only annotators can be audited without, by --crowd FILE");
    return UC_OK;
}

/* Whether several processes share the rows. The first one works alone on annotators and probabilities, and on
 * data that can be read only once. */
static uc_status check_shared(bool *out, const app_call *call)
{
    const audit_args *args = call->args;
    const char *const inputs[] = {call->word_count ? call->words[0] : NULL, args->read.labels,
                                  args->read.weights, args->read.soft_labels, args->gold};
    double alone = is_crowd(args) || args->probabilities;
    *out = false;
    if (uc_comm_size(app_comm) == 1)
        return UC_OK;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (inputs[i] && cli_reads_once(inputs[i]))
            alone = 1.0;
    const uc_status status = uc_comm_sum(app_comm, &alone, 1);
    *out = alone == 0.0;
    if (status == UC_OK && !*out)
        app_warn(
            "audit works in the first of %d processes: they share only rows with features and one label, "
            "read from files",
            uc_comm_size(app_comm));
    return status;
}

/* Opens the outputs, and reads the data and the checked rows. */
static uc_status read_inputs(audit_input *out, audit_files *outputs, cli_files *files, app_call *call)
{
    const audit_args *args = call->args;
    const cli_shards one = {0};
    uc_status status = cli_find_files(files, call, &one, 0);
    if (status == UC_OK)
        status = begin(outputs, call, files);
    if (status == UC_OK)
        status = cli_read_table(&out->data, &out->text, call, files->paths[0], &args->read);
    if (out->text && outputs->clean.rows && !to_file(args->clean))
        outputs->clean.format = format_of_table(files->paths[0]);
    if (status == UC_OK && args->gold)
        status = read_gold(&out->gold, args->gold, &out->data, out->text, files, call);
    return status;
}

/* Every process reads all rows; those of `context` share the work on them; the first one writes. */
static uc_status run_rows(app_call *call, const uc_context *context)
{
    const audit_args *args = call->args;
    const uc_label_audit_settings settings = {args->learner, args->bootstrap, call->common.seed};
    audit_files outputs = {0};
    audit_input rows = {0};
    uc_label_audit found = {0}, before = {0};
    cli_files files = {0};
    uc_status status = read_inputs(&rows, &outputs, &files, call);
    if (context->comm)
        status = app_agree(status);
    if (status == UC_OK && rows.gold)
        status = uc_label_audit_run(&before, &rows.data, NULL, &settings, context);
    if (status == UC_OK)
        status = uc_label_audit_run(&found, &rows.data, rows.gold, &settings, context);
    if (status == UC_ERR_FORMAT && !strchr(app_last_error(), ':'))
        status = app_fail_in(status, files.shown);
    const cli_audit self = {&rows.data, rows.text, &found, rows.gold, rows.gold ? &before : NULL};
    if (status == UC_OK && app_is_first())
        status = tell(call, &self, &outputs);
    free(rows.gold);
    uc_label_audit_free(&found);
    uc_label_audit_free(&before);
    uc_table_text_free(rows.text);
    uc_dataset_free(&rows.data);
    cli_files_free(&files);
    return status;
}

static uc_status run(app_call *call)
{
    const audit_args *args = call->args;
    bool shared;
    uc_status status = check_shared(&shared, call);
    if (status != UC_OK || (!shared && !app_is_first()))
        return status;
    uc_context context = call->context;
    if (!shared)
        context.comm = NULL;
    call->context.comm = NULL;
    status = check_options(call);
    if (status != UC_OK)
        return status;
    return is_crowd(args) || args->probabilities ? run_otherwise(call) : run_rows(call, &context);
}

const app_command command_audit = {
    .name = "audit",
    .usage =
        "DATA [-o SUSPECTS.csv] [--model-out MODEL] [--noise-out MATRIX] [--clean-out DATA] [--gold FILE] "
        "[--crowd FILE] [--probabilities FILE]",
    .summary = "find the labels that are wrong, and how many there are",
    .description =
        "Finds the true class behind every label, from the features and from how classes are confused, and "
        "prints which labels are probably wrong, how many, and between which classes. A row's own label "
        "is never used to judge that row. It can write the suspects, a model that predicts true classes, "
        "the noise matrix, and the data with labels repaired.",
    .sections = sections,
    .args_size = sizeof(audit_args),
    .least = 0,
    .most = 1,
    .shared = true,
    .run = run,
};
