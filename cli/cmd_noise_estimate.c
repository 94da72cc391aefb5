/* unconfuse noise estimate: estimates how often each class is mistaken for each other one, from gold labels,
 * predictions, or the noisy labels alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

enum { METHOD_NONE, METHOD_GOLD, METHOD_MODEL, METHOD_CV, METHOD_SELF };
static const char *const method_names[] = {"", "gold", "model", "cv", "self"};

typedef struct estimate_args {
    uc_noise_estimate_settings estimate;
    uc_train_settings train;
    uc_read_settings read;
    app_report report;
    cli_shards shards;
    int method;
    const char *gold, *model, *predictions, *learner, *output;
} estimate_args;

#define FIELD(name) offsetof(estimate_args, name)
static const uc_option options[] = {
    {.name = "method",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(method),
     .standard = "none",
     .choices = "none|gold|model|cv|self",
     .argument = "gold|model|cv|self",
     .help = "what to estimate from: gold labels next to the observed ones, a model's predictions, "
             "cross-validation, or the noisy labels alone"},
    {.name = "gold",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(gold),
     .argument = "FILE",
     .help =
         "for --method gold: the file with the true labels of DATA, one per line, or a data file; '?' for a "
         "label that nobody has checked"},
    {.name = "model",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(model),
     .argument = "G",
     .help =
         "for --method model: the model whose mistakes on DATA, which must have true labels, are counted"},
    {.name = "predictions",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(predictions),
     .argument = "FILE",
     .help =
         "for --method model: a file with a model's predictions for DATA, one class per line, instead of the "
         "model"},
    {.name = "learner",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(learner),
     .argument = "NAME",
     .help = "for --method cv: the learner whose mistakes are counted (without it: perceptron)"},
    {.name = "output",
     .letter = 'o',
     .type = UC_OPTION_TEXT,
     .offset = FIELD(output),
     .argument = "FILE",
     .help = "the CSV file to write the noise matrix to; --noise-matrix reads it"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Estimation options", uc_noise_estimate_options, FIELD(estimate)},
    {"Training options, cv and self", uc_train_options, FIELD(train)},
    {"Map options, cv and self", uc_map_options, FIELD(train.map)},
    {"Data options", uc_read_options, FIELD(read)},
    {"Several files, cv and self", cli_shard_options, FIELD(shards)},
    {"Report", app_report_options, FIELD(report)},
    {0},
};

/* ---- which options go together ---- */

static bool is_for(const char *option, int method)
{
    static const struct {
        const char *option;
        int first, last; /* the methods that it is for */
    } belongs[] = {
        {"gold", METHOD_GOLD, METHOD_GOLD},          {"model", METHOD_MODEL, METHOD_MODEL},
        {"predictions", METHOD_MODEL, METHOD_MODEL}, {"learner", METHOD_CV, METHOD_CV},
        {"folds", METHOD_CV, METHOD_SELF},           {"l2", METHOD_CV, METHOD_SELF},
        {"estimator", METHOD_SELF, METHOD_SELF},     {"anchors", METHOD_SELF, METHOD_SELF},
    };
    for (size_t i = 0; i < sizeof belongs / sizeof *belongs; i++)
        if (strcmp(belongs[i].option, option) == 0)
            return method >= belongs[i].first && method <= belongs[i].last;
    const bool training = uc_options_find(cli_shard_options, option) ||
                          uc_options_find(uc_train_options, option) ||
                          uc_options_find(uc_map_options, option);
    return !training || strcmp(option, "seed") == 0 || method >= METHOD_CV;
}

static uc_status check_options(const app_call *call)
{
    const estimate_args *args = call->args;
    if (args->method == METHOD_NONE || !args->output)
        return app_fail(UC_ERR_OPTION,
                        "noise estimate needs DATA, --method gold, model, cv or self, and -o FILE");
    for (size_t i = 0; i < call->given_count; i++)
        if (!is_for(call->given[i]->name, args->method))
            return app_fail(UC_ERR_OPTION, "--%s is not for --method %s", call->given[i]->name,
                            method_names[args->method]);
    if (args->method < METHOD_CV && uc_comm_size(app_comm) > 1)
        return app_fail(UC_ERR_OPTION, "--method %s runs in one process; cv and self can use several",
                        method_names[args->method]);
    if (args->method == METHOD_GOLD && !args->gold)
        return app_fail(UC_ERR_OPTION, "--method gold needs the true labels: --gold FILE");
    if (args->method == METHOD_MODEL && !args->model == !args->predictions)
        return app_fail(UC_ERR_OPTION, "--method model needs one of --model G and --predictions FILE");
    if (app_given(call, "l2") && args->method == METHOD_CV &&
        strcmp(args->learner ? args->learner : "", "logistic") != 0)
        return app_fail(UC_ERR_OPTION,
                        "--l2 is an option of logistic; say --learner logistic, or leave it out");
    return UC_OK;
}

/* ---- labels of a file ---- */

/* Reads a list of labels or, if `known` is given, a data file. */
static uc_status read_labels(uc_labels *out, const app_call *call, const char *path, const uc_names *known)
{
    const estimate_args *args = call->args;
    if (strcmp(path, "-") == 0)
        known = NULL;
    return uc_labels_read(out, path, known, &args->read, &call->context);
}

static uc_status check_rows(const uc_labels *self, const char *path, size_t rows, const char *data_path)
{
    if (self->count == rows)
        return UC_OK;
    return app_fail(UC_ERR_INVALID, "%s has %zu labels, but %s has %zu examples", path, self->count,
                    data_path, rows);
}

/* Changes y to positions in `classes`. */
static uc_status renumber(uc_labels *self, const uc_names *classes, const char *path, const char *advice)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->y[i] == UC_NONE)
            continue;
        const char *name = self->classes.text[self->y[i]];
        self->y[i] = uc_names_find_label(classes, name, strlen(name));
        if (self->y[i] == UC_NONE)
            return app_fail(UC_ERR_INVALID, "%s: label %zu is \"%s\", %s", path, i + 1, name, advice);
    }
    return UC_OK;
}

static uc_status need_labels(const uc_dataset *data, const char *path)
{
    if (data->y)
        return UC_OK;
    (void)app_fail(UC_ERR_FORMAT, "%s: the data have no labels", path);
    return UC_ERR_FORMAT;
}

/* *out must be freed, also on failure. */
static uc_status read_labelled(uc_dataset *out, const app_call *call, const char *path,
                               const uc_read_settings *settings)
{
    const uc_status status = cli_read_data(out, call, path, settings);
    return status == UC_OK ? need_labels(out, path) : status;
}

/* ---- the methods ---- */

/* Takes observed labels from DATA and true ones from --gold. */
static uc_status from_gold(uc_noise_estimate *out, app_call *call, const cli_files *files,
                           const uc_context *context)
{
    static const char advice[] =
        "a class that no example of DATA is observed as; give all the data, with '?' as the gold label of "
        "what was not checked";
    const estimate_args *args = call->args;
    uc_dataset data = {0};
    uc_labels gold = {0};
    uc_status status = read_labelled(&data, call, files->shown, &args->read);
    if (status != UC_OK)
        goto cleanup;
    if ((status = read_labels(&gold, call, args->gold, &data.classes)) != UC_OK)
        goto cleanup;
    if ((status = check_rows(&gold, args->gold, data.X.rows, files->shown)) != UC_OK)
        goto cleanup;
    if ((status = renumber(&gold, &data.classes, args->gold, advice)) != UC_OK)
        goto cleanup;
    status = uc_noise_from_weighted_labels(out, data.y, gold.y, data.weights, data.X.rows, &data.classes,
                                           &args->estimate, context);

cleanup:
    uc_labels_free(&gold);
    uc_dataset_free(&data);
    return status;
}

/* Takes true labels from DATA and observed ones from --model. */
static uc_status from_model(uc_noise_estimate *out, app_call *call, const cli_files *files,
                            const uc_context *context)
{
    const estimate_args *args = call->args;
    uc_read_settings read = args->read;
    uc_model *model = NULL;
    uc_dataset data = {0};
    uint32_t *predicted = NULL;
    uc_status status = cli_load_model(&model, args->model);
    if (status != UC_OK)
        goto cleanup;
    const uc_names *classes = uc_model_classes(model);
    read.expected_cols = uc_model_features(model);
    if ((status = read_labelled(&data, call, files->shown, &read)) != UC_OK)
        goto cleanup;
    predicted = app_calloc(data.X.rows, sizeof *predicted);
    if ((status = uc_model_predict(predicted, model, &data.X, context)) != UC_OK)
        goto cleanup;
    uc_labels gold = {data.classes, data.y, data.X.rows}; /* borrowed */
    if ((status = renumber(&gold, classes, files->shown, "a class that the model does not know")) != UC_OK)
        goto cleanup;
    status = uc_noise_from_weighted_labels(out, predicted, gold.y, data.weights, gold.count, classes,
                                           &args->estimate, context);

cleanup:
    free(predicted);
    uc_dataset_free(&data);
    uc_model_free(model);
    return status;
}

/* The names of both, sorted. *out must be freed, also on failure. */
static uc_status unite_names(uc_names *out, const uc_names *a, const uc_names *b)
{
    uc_status status = uc_names_copy(out, a);
    for (size_t k = 0; k < b->count && status == UC_OK; k++) {
        uint32_t index;
        status = uc_names_add(&index, out, b->text[k], strlen(b->text[k]));
    }
    return status == UC_OK ? uc_names_sort(out, NULL) : status;
}

/* Takes true labels from DATA and observed ones from --predictions; the classes are those of both. */
static uc_status from_predictions(uc_noise_estimate *out, app_call *call, const cli_files *files,
                                  const uc_context *context)
{
    const estimate_args *args = call->args;
    uc_dataset data = {0};
    uc_labels predicted = {0};
    uc_names classes = {0};
    uc_status status = read_labelled(&data, call, files->shown, &args->read);
    if (status != UC_OK)
        goto cleanup;
    if ((status = read_labels(&predicted, call, args->predictions, NULL)) != UC_OK)
        goto cleanup;
    if ((status = check_rows(&predicted, args->predictions, data.X.rows, files->shown)) != UC_OK)
        goto cleanup;
    if ((status = unite_names(&classes, &data.classes, &predicted.classes)) != UC_OK)
        goto cleanup;
    uc_labels gold = {data.classes, data.y, data.X.rows}; /* borrowed */
    (void)renumber(&gold, &classes, files->shown, "");
    (void)renumber(&predicted, &classes, args->predictions, "");
    status = uc_noise_from_weighted_labels(out, predicted.y, gold.y, data.weights, gold.count, &classes,
                                           &args->estimate, context);

cleanup:
    uc_names_free(&classes);
    uc_labels_free(&predicted);
    uc_dataset_free(&data);
    return status;
}

/* The learner's own settings, or NULL for its defaults; freed with free. */
static void *learner_settings(const uc_learner *learner, const estimate_args *args)
{
    void *settings = app_calloc(1, uc_learner_settings_size(learner));
    uc_options_defaults(uc_learner_options(learner), settings);
    if (strcmp(uc_learner_name(learner), "logistic") == 0)
        ((uc_logistic_settings *)settings)->l2 = args->estimate.l2;
    return settings;
}

/* Takes true labels from DATA and observed ones from models that did not see them. */
static uc_status from_folds(uc_noise_estimate *out, app_call *call, const cli_files *files,
                            const uc_context *context)
{
    const estimate_args *args = call->args;
    const unsigned folds = (unsigned)args->estimate.folds;
    const uc_learner *learner = uc_learner_find(args->learner ? args->learner : "perceptron");
    if (!learner)
        return app_refuse_member(&cli_learners, args->learner);
    uc_dataset data = {0};
    uint32_t *predicted = NULL;
    void *settings = learner_settings(learner, args);
    uc_status status = cli_read_files(&data, call, files, &args->read);
    if (status == UC_OK)
        status = app_agree(uc_dataset_drop_weightless(&data, &call->context));
    if (status != UC_OK || (status = need_labels(&data, files->shown)) != UC_OK)
        goto cleanup;
    if (uc_comm_size(app_comm) == 1 && folds > data.X.rows) {
        status = app_fail(UC_ERR_INVALID, "--folds %u: there are only %zu examples", folds, data.X.rows);
        goto cleanup;
    }
    predicted = app_calloc(data.X.rows, sizeof *predicted);
    status = uc_cross_validate(predicted, NULL, learner, settings, &args->train, &data, folds, context);
    if (status != UC_OK)
        goto cleanup;
    status = uc_noise_from_weighted_labels(out, predicted, data.y, data.weights, data.X.rows, &data.classes,
                                           &args->estimate, context);

cleanup:
    free(predicted);
    free(settings);
    uc_dataset_free(&data);
    return status;
}

static uc_status from_itself(uc_noise_estimate *out, app_call *call, const cli_files *files,
                             const uc_context *context)
{
    const estimate_args *args = call->args;
    uc_dataset data = {0};
    uc_status status = cli_read_files(&data, call, files, &args->read);
    if (status == UC_OK)
        status = app_agree(uc_dataset_drop_weightless(&data, &call->context));
    if (status == UC_OK)
        status = uc_noise_from_data(out, &data, &args->estimate, &args->train, context);
    uc_dataset_free(&data);
    return status;
}

static uc_status estimate(uc_noise_estimate *out, app_call *call, const cli_files *files,
                          const uc_context *context)
{
    const estimate_args *args = call->args;
    if (args->method == METHOD_GOLD)
        return from_gold(out, call, files, context);
    if (args->method == METHOD_MODEL && args->model)
        return from_model(out, call, files, context);
    if (args->method == METHOD_MODEL)
        return from_predictions(out, call, files, context);
    if (args->method == METHOD_CV)
        return from_folds(out, call, files, context);
    return from_itself(out, call, files, context);
}

/* ---- the result ---- */

static void note(const char *sentence, void *user)
{
    json_t *warnings = user;
    for (size_t i = 0; i < json_array_size(warnings); i++)
        if (strcmp(json_string_value(json_array_get(warnings, i)), sentence) == 0)
            return; /* every fold may give the same warning */
    json_array_append_new(warnings, app_json_text(sentence));
    app_warn("%s", sentence);
}

static void hear(const char *text, void *user)
{
    note(app_in_words(text), user);
}

/* Notes whether a learner can learn with this noise. */
static void note_learnability(const uc_noise *noise, const uc_noise_check *check, json_t *warnings)
{
    char sentence[256];
    if (isinf(check->condition))
        note("the matrix is singular: different true classes give the same labels, and no learner can use it",
             warnings);
    if (check->dominated == 0 || check->complementary || noise->names.count == 0)
        return;
    snprintf(sentence, sizeof sentence,
             "%zu of %zu observed classes more often hide another class than show their own; the first is "
             "\"%.60s\"",
             check->dominated, noise->classes, noise->names.text[check->dominated_row]);
    note(sentence, warnings);
}

static json_t *json_sizes(const size_t *values, size_t K)
{
    json_t *rows = json_array();
    for (size_t p = 0; p < K; p++) {
        json_t *row = json_array();
        for (size_t q = 0; q < K; q++)
            json_array_append_new(row, json_integer((json_int_t)values[p * K + q]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *as_json(const uc_noise_estimate *self, const uc_noise_check *check, json_t *warnings,
                       const estimate_args *args)
{
    const size_t K = self->noise.classes;
    return json_pack("{ss sI sI so so so so so so so sI sO so}", "method", method_names[args->method],
                     "examples", (json_int_t)self->examples, "skipped", (json_int_t)self->skipped, "classes",
                     app_json_names(&self->noise.names), "matrix", app_json_matrix(self->noise.values, K, K),
                     "low", app_json_matrix(self->low, K, K), "high", app_json_matrix(self->high, K, K),
                     "counts", json_sizes(self->counts, K), "condition_number",
                     app_json_real(check->condition), "wrong", app_json_real(check->wrong), "dominated_rows",
                     (json_int_t)check->dominated, "warnings", warnings, "output",
                     app_json_text(args->output));
}

/* Other explanations of the labels, and how likely they are. */
static json_t *families_json(const uc_noise_families *self)
{
    return json_pack("{ss s{so} s{so} s{so so} s{so so}}", "chosen", self->chosen, "full", "wrong",
                     app_json_real(self->wrong_full), "symmetric", "wrong",
                     app_json_real(self->wrong_symmetric), "full_over_symmetric", "gain",
                     app_json_real(self->gain), "deviation", app_json_real(self->gain_deviation),
                     "symmetric_over_none", "gain", app_json_real(self->symmetric_gain), "deviation",
                     app_json_real(self->symmetric_gain_deviation));
}

static void print_families(FILE *text, const uc_noise_families *self)
{
    fprintf(
        text,
        "\nwrong labels: %.1f%% by the full matrix, %.1f%% by symmetric noise\n"
        "log-likelihood of a held-out label: full over symmetric %+.4f +- %.4f, symmetric over none %+.4f "
        "+- %.4f; the simplest that does: %s\n",
        100 * self->wrong_full, 100 * self->wrong_symmetric, self->gain, self->gain_deviation,
        self->symmetric_gain, self->symmetric_gain_deviation, self->chosen);
}

/* Opens the file of the matrix, which must not replace a file that it is estimated from. */
static uc_status begin_matrix(uc_output **file, const estimate_args *args, const cli_files *files)
{
    const char *const read[] = {args->gold, args->model, args->predictions};
    uc_status status = app_begin_file(file, args->output, "-o");
    if (status == UC_OK)
        status = cli_keep_inputs(files, &args->read);
    for (size_t i = 0; i < sizeof read / sizeof *read && status == UC_OK; i++)
        status = app_keep_input(read[i]);
    return status;
}

/* Adds the file to messages of the library that do not name it. A message that does has a colon, after that
 * of the rank. */
static uc_status blame_data(uc_status status, const char *shown)
{
    const char *said = app_last_error();
    if (status != UC_ERR_FORMAT)
        return status;
    if (strncmp(said, "rank ", 5) == 0)
        said = strchr(said, ':') + 1;
    return strchr(said, ':') ? status : app_fail_in(status, shown);
}

static void print(const app_call *call, const uc_noise_estimate *found, const uc_noise_check *check)
{
    const estimate_args *args = call->args;
    FILE *text = app_summary(call, args->output);
    if (!text)
        return;
    cli_print_noise(text, found, check, args->output);
    if (found->families.chosen)
        print_families(text, &found->families);
    if (args->method == METHOD_SELF && found->low)
        fputs("\nThe intervals reflect sampling error only, not the mistakes of the classifier "
              "that --method self relies on.\n",
              text);
}

static uc_status run(app_call *call)
{
    const estimate_args *args = call->args;
    uc_noise_estimate found = {0};
    uc_noise_check check = {0};
    json_t *warnings = json_array();
    uc_context context = call->context;
    context.warn = hear;
    context.user = warnings;
    cli_files files = {0};
    uc_output *file;
    uc_status status = check_options(call);
    if (status != UC_OK)
        goto cleanup;
    if ((status = cli_find_files(&files, call, &args->shards, 0)) != UC_OK)
        goto cleanup;
    if ((status = app_agree(begin_matrix(&file, args, &files))) != UC_OK)
        goto cleanup;
    if ((status = blame_data(estimate(&found, call, &files, &context), files.shown)) != UC_OK)
        goto cleanup;
    if ((status = uc_noise_inspect(&check, &found.noise)) != UC_OK)
        goto cleanup;
    note_learnability(&found.noise, &check, warnings);
    if ((status = app_check_interrupt()) != UC_OK)
        goto cleanup;
    if (app_is_first() && (status = uc_noise_write_to(&found.noise, file)) != UC_OK)
        goto cleanup;
    if (app_wants_result(call))
        call->result = as_json(&found, &check, warnings, args);
    if (call->result && found.families.chosen)
        json_object_set_new(call->result, "families", families_json(&found.families));
    if ((status = app_finish_call(call, false)) != UC_OK)
        goto cleanup;
    print(call, &found, &check);

cleanup:
    json_decref(warnings);
    cli_files_free(&files);
    uc_noise_estimate_free(&found);
    return status;
}

const app_command command_noise_estimate = {
    .name = "noise estimate",
    .usage = "DATA|--shards GLOB --method gold|model|cv|self [--gold FILE] [--model G | --predictions FILE] "
             "-o FILE",
    .summary = "estimate a noise matrix from data",
    .description =
        "Estimates the probability of each observed class given the true class, with 95% bootstrap "
        "intervals, and writes it as a CSV file that --noise-matrix reads.",
    .sections = sections,
    .args_size = sizeof(estimate_args),
    .least = 0,
    .most = 1,
    .shared = true,
    .run = run,
};
