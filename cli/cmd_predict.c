/* unconfuse predict: prints one class name per line, in constant memory. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

typedef struct predict_args {
    uc_read_settings read;
    cli_shards shards;
    const char *output;
    int scores, probabilities, suspect;
} predict_args;

static const uc_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = UC_OPTION_TEXT,
     .offset = offsetof(predict_args, output),
     .argument = "FILE",
     .help = "the file to write the predictions to, instead of standard output"},
    {.name = "scores",
     .type = UC_OPTION_FLAG,
     .offset = offsetof(predict_args, scores),
     .standard = "off",
     .help = "print a header, then the predicted class and the scores of all classes, separated by tabs"},
    {.name = "probabilities",
     .type = UC_OPTION_FLAG,
     .offset = offsetof(predict_args, probabilities),
     .standard = "off",
     .help =
         "print a header, then the predicted class and the probabilities of all classes, separated by tabs; "
         "only for models that have probabilities"},
    {.name = "suspect",
     .type = UC_OPTION_FLAG,
     .offset = offsetof(predict_args, suspect),
     .standard = "off",
     .help =
         "list labelled examples, those whose label is most probably wrong first, with the given label, the "
         "probability that it is right, and the example's number; needs --probabilities"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Data options", uc_read_options, offsetof(predict_args, read)},
    {"Several files", cli_shard_options, offsetof(predict_args, shards)},
    {0},
};

typedef struct writer {
    const uc_names *classes;
    size_t *lengths;    /* of the class names */
    size_t longest;     /* of these */
    app_output *output; /* NULL: predictions go to `list` */
    json_t *list;
    const char *values; /* their name in the JSON */
    json_t *ids;        /* of the rows of a table, with `list` */
    size_t examples;
} writer;

static void write_header(writer *self)
{
    size_t length = strlen("label\n");
    for (size_t k = 0; k < self->classes->count; k++)
        length += self->lengths[k] + 1;
    char *begin = app_output_reserve(self->output, length), *at = begin;
    at = (char *)memcpy(at, "label", 5) + 5;
    for (size_t k = 0; k < self->classes->count; k++) {
        *at++ = '\t';
        at = (char *)memcpy(at, self->classes->text[k], self->lengths[k]) + self->lengths[k];
    }
    *at++ = '\n';
    app_output_advance(self->output, (size_t)(at - begin));
}

#define MOST_RESERVED ((size_t)1 << 16) /* bytes, unless a row needs more */

/* Room is made for many rows at once: a row is often two bytes. */
static void write_rows(writer *self, size_t rows, const uint32_t *predicted, const double *scores)
{
    const size_t K = self->classes->count;
    const size_t longest = self->longest + 1 + (scores ? 33 * K : 0);
    const size_t most = longest < MOST_RESERVED ? MOST_RESERVED / longest : 1;
    for (size_t i = 0; i < rows;) {
        const size_t end = i + (rows - i < most ? rows - i : most);
        char *begin = app_output_reserve(self->output, (end - i) * longest), *at = begin;
        for (; i < end; i++) {
            const size_t length = self->lengths[predicted[i]];
            at = (char *)memcpy(at, self->classes->text[predicted[i]], length) + length;
            for (size_t k = 0; scores && k < K; k++) {
                *at++ = '\t';
                at += app_print_real(at, scores[i * K + k]);
            }
            *at++ = '\n';
        }
        app_output_advance(self->output, (size_t)(at - begin));
    }
}

/* ---- tables: CSV with the ids of the rows ---- */

static bool is_table(const uc_reader *reader)
{
    const uc_table *table = uc_reader_table(reader);
    return table && !uc_table_is_plain(table);
}

static void write_table_header(writer *self, bool with_scores)
{
    size_t length = 64;
    for (size_t k = 0; k < self->classes->count; k++)
        length += 2 * self->lengths[k] + 3;
    char *begin = app_output_reserve(self->output, length), *at = begin;
    at = stpcpy(at, "id,predicted_label");
    for (size_t k = 0; with_scores && k < self->classes->count; k++) {
        *at++ = ',';
        at += cli_csv_field(at, self->classes->text[k], self->lengths[k]);
    }
    *at++ = '\n';
    app_output_advance(self->output, (size_t)(at - begin));
}

/* The id of a row of the block; its number, from 1, if the table has no ids. */
static const char *id_of(size_t *length, char number[24], const writer *self, const uc_reader *reader,
                         size_t row)
{
    const char *id = uc_reader_id(length, reader, row);
    if (id)
        return id;
    *length = (size_t)snprintf(number, 24, "%zu", self->examples + row + 1);
    return number;
}

static void write_table(writer *self, const uc_reader *reader, size_t rows, const uint32_t *predicted,
                        const double *scores)
{
    const size_t K = self->classes->count;
    if (self->examples == 0 && app_is_first())
        write_table_header(self, scores != NULL);
    for (size_t i = 0; i < rows; i++) {
        char number[24];
        size_t id_length;
        const char *id = id_of(&id_length, number, self, reader, i);
        const size_t length = 2 * (id_length + self->lengths[predicted[i]]) + 8 + (scores ? 33 * K : 0);
        char *begin = app_output_reserve(self->output, length), *at = begin;
        at += cli_csv_field(at, id, id_length);
        *at++ = ',';
        at += cli_csv_field(at, self->classes->text[predicted[i]], self->lengths[predicted[i]]);
        for (size_t k = 0; scores && k < K; k++) {
            *at++ = ',';
            at += app_print_real(at, scores[i * K + k]);
        }
        *at++ = '\n';
        app_output_advance(self->output, (size_t)(at - begin));
    }
}

static void list_ids(writer *self, const uc_reader *reader, size_t rows)
{
    if (!self->ids)
        self->ids = json_array();
    for (size_t i = 0; i < rows; i++) {
        char number[24];
        size_t length;
        const char *id = id_of(&length, number, self, reader, i);
        json_t *text = json_stringn(id, length);
        json_array_append_new(self->ids, text ? text : json_string("?"));
    }
}

static void list_rows(writer *self, size_t rows, const uint32_t *predicted, const double *scores)
{
    const size_t K = self->classes->count;
    for (size_t i = 0; i < rows; i++) {
        json_t *label = app_json_text(self->classes->text[predicted[i]]);
        if (scores) {
            json_t *row = json_array();
            for (size_t k = 0; k < K; k++)
                json_array_append_new(row, app_json_real(scores[i * K + k]));
            label = json_pack("{so so}", "label", label, self->values, row);
        }
        json_array_append_new(self->list, label);
    }
}

static uc_status visit(const uc_dataset *block, const uc_reader *reader, size_t file,
                       const uint32_t *predicted, const double *scores, void *user)
{
    writer *self = user;
    const bool table = is_table(reader);
    (void)file;
    if (!self->output) {
        if (table)
            list_ids(self, reader, block->X.rows);
        list_rows(self, block->X.rows, predicted, scores);
        self->examples += block->X.rows;
        return UC_OK;
    }
    if (table) {
        write_table(self, reader, block->X.rows, predicted, scores);
    } else {
        if (self->examples == 0 && scores && app_is_first())
            write_header(self);
        write_rows(self, block->X.rows, predicted, scores);
    }
    self->examples += block->X.rows;
    return app_output_check(self->output);
}

/* Opens the output for the predictions: a JSON list, or text in a file. */
static uc_status open_output(writer *self, const app_call *call, const cli_files *files, const char *path)
{
    const predict_args *args = call->args;
    uc_status status = UC_OK;
    if (call->common.json && !path && uc_comm_size(app_comm) > 1)
        return app_fail(UC_ERR_OPTION, "--json: several processes write predictions to a file: add -o FILE");
    if (call->common.json && !path)
        self->list = json_array();
    else
        status = app_output_open(&self->output, path ? path : "-");
    if (status == UC_OK)
        status = cli_keep_inputs(files, &args->read);
    return status == UC_OK ? app_keep_input(call->words[0]) : status;
}

static cli_wanted wanted_of(const predict_args *args)
{
    if (args->scores)
        return CLI_SCORES;
    return args->probabilities ? CLI_PROBABILITIES : CLI_CLASSES;
}

static void describe(app_call *call, const writer *self, double examples, const char *path)
{
    call->result =
        json_pack("{sI so}", "examples", (json_int_t)examples, "classes", app_json_names(self->classes));
    if (path)
        json_object_set_new(call->result, "output", app_json_text(path));
    else
        json_object_set(call->result, "predictions", self->list);
    if (!path && self->ids)
        json_object_set(call->result, "ids", self->ids);
}

static uc_status predict(app_call *call, writer *self, const uc_model *model, const cli_files *files)
{
    const predict_args *args = call->args;
    const char *path = args->output && strcmp(args->output, "-") != 0 ? args->output : NULL;
    const cli_wanted wanted = wanted_of(args);
    uc_status status = app_agree(open_output(self, call, files, path));
    if (status != UC_OK) {
        app_output_abort(self->output);
        goto cleanup;
    }
    status = cli_score_files(call, model, files, &args->read, wanted, visit, self);
    if (self->output && status == UC_OK)
        status = app_output_commit(self->output); /* all processes do this together */
    else
        app_output_abort(self->output);
    if ((status = app_agree(status)) != UC_OK)
        goto cleanup;
    double examples = (double)self->examples;
    status = uc_comm_sum(app_comm, &examples, 1);
    if (status == UC_OK && call->common.json)
        describe(call, self, examples, path);

cleanup:
    json_decref(self->list);
    json_decref(self->ids);
    return status;
}

static uc_status run(app_call *call)
{
    const predict_args *args = call->args;
    uc_model *model = NULL;
    cli_files files;
    if (args->scores && args->probabilities)
        return app_fail(UC_ERR_OPTION, "give only one of --scores and --probabilities");
    if (args->suspect && !args->probabilities)
        return app_fail(UC_ERR_OPTION, "--suspect needs --probabilities");
    if (args->suspect && (args->shards.pattern || uc_comm_size(app_comm) > 1))
        return app_fail(UC_ERR_OPTION, "--suspect orders the examples of one file, in one process");
    uc_status status = cli_find_files(&files, call, &args->shards, 1);
    if (status == UC_OK)
        status = app_agree(cli_load_first(&model, call->words[0], &files));
    if (status != UC_OK) {
        cli_files_free(&files);
        return status;
    }
    if (args->probabilities && !uc_model_has_probabilities(model)) {
        status = app_fail(UC_ERR_INVALID, "%s: a model of %s has scores but no probabilities; use --scores",
                          call->words[0], uc_model_learner(model));
    } else if (args->suspect) {
        status = cli_print_suspects(call, model, &files, &args->read, args->output);
    } else {
        writer self = {.classes = uc_model_classes(model),
                       .values = args->probabilities ? "probabilities" : "scores"};
        self.lengths = app_calloc(self.classes->count, sizeof *self.lengths);
        for (size_t k = 0; k < self.classes->count; k++) {
            self.lengths[k] = strlen(self.classes->text[k]);
            self.longest = self.lengths[k] > self.longest ? self.lengths[k] : self.longest;
        }
        status = predict(call, &self, model, &files);
        free(self.lengths);
    }
    uc_model_free(model);
    cli_files_free(&files);
    return status;
}

const app_command command_predict = {
    .name = "predict",
    .usage = "MODEL DATA|--shards GLOB [-o FILE] [--scores | --probabilities [--suspect]]",
    .summary = "predict the class of every example, or list suspicious labels",
    .description = "Predicts the class of every example, one name per line in the order of the file, in "
                   "constant memory; of a table, CSV with the id of every row. LIBSVM columns that the model "
                   "does not know are ignored, with one warning.",
    .sections = sections,
    .args_size = sizeof(predict_args),
    .least = 1,
    .most = 2,
    .shared = true,
    .run = run,
};
