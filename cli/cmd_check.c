/* unconfuse check: draws rows for a person to check, so that evaluate --gold can estimate a model's error. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"

typedef struct check_args {
    uc_read_settings read;
    const char *model, *output;
    uint64_t rows;
} check_args;

static const uc_option options[] = {
    {.name = "model",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(check_args, model),
     .argument = "MODEL",
     .help = "the model whose error is in question"},
    {.name = "rows",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(check_args, rows),
     .standard = "200",
     .low = 1,
     .high = 1e9,
     .argument = "N",
     .help = "how many rows to draw"},
    {.name = "output",
     .letter = 'o',
     .type = UC_OPTION_TEXT,
     .offset = offsetof(check_args, output),
     .argument = "FILE",
     .help = "the CSV file to fill in"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Data options", uc_read_options, offsetof(check_args, read)},
    {0},
};

/* Labels, predictions and scores of all rows. */
typedef struct seen_rows {
    const uc_names *classes;
    const char *shown; /* the file */
    uc_names names;    /* of the labels, as the file has them */
    uint32_t *given;   /* positions in `names` */
    uint32_t *labels, *predicted;
    char **ids; /* of a table; NULL: none */
    size_t count, capacity;
    cli_kept kept;
} seen_rows;

static uc_status learn_names(seen_rows *self, const uc_names *names)
{
    uc_status status = UC_OK;
    for (size_t i = self->names.count; i < names->count && status == UC_OK; i++) {
        uint32_t ignored;
        status = uc_names_add(&ignored, &self->names, names->text[i], strlen(names->text[i]));
    }
    return status;
}

char *cli_reader_id(const uc_reader *reader, size_t row)
{
    size_t length = 0;
    const char *id = uc_reader_id(&length, reader, row);
    return id ? memcpy(app_calloc(length + 1, 1), id, length) : NULL;
}

static uc_status visit(const uc_dataset *block, const uc_reader *reader, size_t file,
                       const uint32_t *predicted, const double *scores, void *user)
{
    seen_rows *self = user;
    const size_t needed = self->count + block->X.rows;
    (void)file;
    if (!block->y)
        return app_fail(UC_ERR_INVALID, "%s: the data have no labels to check", self->shown);
    const uc_status status = learn_names(self, uc_reader_classes(reader));
    if (status != UC_OK)
        return status;
    if (needed > self->capacity) {
        self->capacity = needed > 2 * self->capacity ? needed : 2 * self->capacity;
        self->given = app_realloc(self->given, self->capacity, sizeof *self->given);
        self->labels = app_realloc(self->labels, self->capacity, sizeof *self->labels);
        self->predicted = app_realloc(self->predicted, self->capacity, sizeof *self->predicted);
        self->ids = app_realloc(self->ids, self->capacity, sizeof *self->ids);
    }
    for (size_t i = 0; i < block->X.rows; i++) {
        uint32_t label = block->y[i];
        if (label != UC_NONE) {
            const char *name = self->names.text[label];
            label = uc_names_find_label(self->classes, name, strlen(name));
            if (label == UC_NONE)
                label = (uint32_t)self->classes->count;
        }
        self->given[self->count + i] = block->y[i];
        self->ids[self->count + i] = cli_reader_id(reader, i);
        self->labels[self->count + i] = label;
        self->predicted[self->count + i] = predicted[i];
    }
    cli_kept_add(&self->kept, scores, block->X.rows);
    self->count = needed;
    return UC_OK;
}

/* The expected error where the prediction equals the label, and where it does not. */
static uc_status expect(double g[UC_STRATA], const seen_rows *self, bool probabilities, const app_call *call)
{
    const uc_outcomes outcomes = {.labels = self->labels, .predicted = self->predicted, .count = self->count};
    const cli_clean nothing = {0};
    cli_clean_error found = {0};
    const uc_status status =
        cli_clean_error_of(&found, &self->kept, &outcomes, probabilities, 0.0, &nothing, call);
    memcpy(g, found.error.strata, sizeof found.error.strata);
    return status;
}

/* ---- the file ---- */

static void put_text(app_output *output, const char *text)
{
    const size_t length = strlen(text);
    memcpy(app_output_reserve(output, length), text, length);
    app_output_advance(output, length);
}

/* Writes a field, in quotes if it needs them. */
static void put_field(app_output *output, const char *text)
{
    const size_t length = strlen(text);
    if (length > 0 && !strpbrk(text, ",;\t\"#\r\n") && text[0] != ' ' && text[length - 1] != ' ') {
        put_text(output, text);
        return;
    }
    char *at = app_output_reserve(output, 2 * length + 2), *begin = at;
    if (length > 0)
        *at++ = '"';
    for (const char *p = text; *p; p++) {
        if (*p == '"')
            *at++ = '"';
        *at++ = *p;
    }
    if (length > 0)
        *at++ = '"';
    app_output_advance(output, (size_t)(at - begin));
}

static void write_rows(app_output *output, const uc_check *check, const seen_rows *self)
{
    char text[256];
    snprintf(text, sizeof text,
             "# stratum sizes: agree %zu drawn %zu disagree %zu drawn %zu (fill in true_label and keep this "
             "line)\n",
             check->sizes[UC_AGREE], check->drawn[UC_AGREE], check->sizes[UC_DISAGREE],
             check->drawn[UC_DISAGREE]);
    put_text(output, text);
    put_text(output, "row,id,given_label,predicted_label,stratum,true_label\n");
    for (size_t i = 0; i < check->count && !app_output_failed(output); i++) {
        const size_t row = check->rows[i];
        const bool agree = self->labels[row] == self->predicted[row];
        snprintf(text, sizeof text, "%zu,", row + 1);
        put_text(output, text);
        put_field(output, self->ids[row] ? self->ids[row] : "");
        put_text(output, ",");
        put_field(output, self->names.text[self->given[row]]);
        put_text(output, ",");
        put_field(output, self->classes->text[self->predicted[row]]);
        snprintf(text, sizeof text, ",%s,\n", uc_stratum_name(agree ? UC_AGREE : UC_DISAGREE));
        put_text(output, text);
    }
}

static void tell(app_call *call, const uc_check *check)
{
    const check_args *args = call->args;
    FILE *text = app_summary(call, args->output);
    if (text)
        fprintf(
            text,
            "%zu rows to check: %zu of %zu where the prediction is the label, %zu of %zu where it is not\n"
            "Fill in true_label in %s, then: unconfuse evaluate %s %s --gold %s\n",
            check->count, check->drawn[UC_AGREE], check->sizes[UC_AGREE], check->drawn[UC_DISAGREE],
            check->sizes[UC_DISAGREE], args->output, args->model, call->words[0], args->output);
    if (!call->common.json)
        return;
    json_t *strata = json_array();
    for (int h = 0; h < UC_STRATA; h++)
        json_array_append_new(strata,
                              json_pack("{ss sI sI}", "stratum", uc_stratum_name((uc_stratum)h), "rows",
                                        (json_int_t)check->sizes[h], "drawn", (json_int_t)check->drawn[h]));
    call->result = json_pack("{sI so so}", "rows", (json_int_t)check->count, "strata", strata, "output",
                             app_json_text(args->output));
}

static uc_status begin(app_output **out, const app_call *call, const cli_files *files)
{
    const check_args *args = call->args;
    uc_status status = app_output_open(out, args->output);
    if (status == UC_OK)
        status = cli_keep_inputs(files, &args->read);
    return status == UC_OK ? app_keep_input(args->model) : status;
}

static uc_status draw(uc_check *out, seen_rows *self, const uc_model *model, const cli_files *files,
                      const app_call *call)
{
    const check_args *args = call->args;
    const bool probabilities = uc_model_has_probabilities(model);
    double g[UC_STRATA];
    self->shown = files->shown;
    uc_status status = cli_score_files(call, model, files, &args->read,
                                       probabilities ? CLI_PROBABILITIES : CLI_SCORES, visit, self);
    if (status != UC_OK)
        return status; /* the message names the file */
    status = expect(g, self, probabilities, call);
    const uc_predicted_rows rows = {
        self->labels, self->predicted, self->count, self->classes, files->shown, NULL, false};
    if (status == UC_OK)
        status = uc_check_draw(out, &rows, args->rows, g, call->common.seed);
    if (status == UC_OK)
        cli_warn_of_training_rows(model, self->count, files->shown);
    if (status == UC_ERR_INVALID)
        return app_fail_in(status, files->shown);
    if (status == UC_OK && out->count < args->rows)
        app_warn("%s has %zu labelled rows: all of them are to be checked", files->shown, out->count);
    return status;
}

static uc_status run(app_call *call)
{
    const check_args *args = call->args;
    if (!args->model || !args->output)
        return app_fail(UC_ERR_OPTION, "check needs DATA, --model MODEL and -o FILE");
    const cli_shards one = {0};
    uc_model *model = NULL;
    app_output *output = NULL;
    uc_check check = {0};
    seen_rows rows = {0};
    cli_files files;
    uc_status status = cli_find_files(&files, call, &one, 0);
    if (status == UC_OK)
        status = cli_load_model(&model, args->model);
    if (status == UC_OK)
        status = begin(&output, call, &files);
    if (status == UC_OK) {
        rows.classes = uc_model_classes(model);
        rows.kept.classes = rows.classes->count;
        status = draw(&check, &rows, model, &files, call);
    }
    if (status == UC_OK) {
        write_rows(output, &check, &rows);
        status = app_output_commit(output);
    } else {
        app_output_abort(output);
    }
    if (status == UC_OK)
        tell(call, &check);
    uc_check_free(&check);
    uc_names_free(&rows.names);
    cli_kept_free(&rows.kept);
    for (size_t i = 0; i < rows.count; i++)
        free(rows.ids[i]);
    free(rows.ids);
    free(rows.given);
    free(rows.labels);
    free(rows.predicted);
    uc_model_free(model);
    cli_files_free(&files);
    return status;
}

const app_command command_check = {
    .name = "check",
    .usage = "DATA --model MODEL [--rows N] -o FILE",
    .summary = "draw rows to check by hand, for a model's error on true classes",
    .description =
        "Where labels are wrong, they alone may not tell how good a model is; a few checked rows do. This "
        "draws "
        "rows at random, more of them where they say more, and writes a CSV file with a column true_label to "
        "fill in. unconfuse evaluate MODEL DATA --gold FILE then gives the error and its interval; rows that "
        "are "
        "left empty do not count.",
    .sections = sections,
    .args_size = sizeof(check_args),
    .least = 1,
    .most = 1,
    .run = run,
};
