/* unconfuse convert: converts data and models from one format to another. */
#include <string.h>

#include "commands.h"

/* Positions in --to; the first six are uc_format. */
enum { TO_AUTO = UC_FORMAT_AUTO, TO_JSONL = UC_FORMAT_JSONL, TO_UC, TO_LIBLINEAR };

typedef struct convert_args {
    uc_read_settings read;
    int to;
    const char *labels;
} convert_args;

static const uc_option options[] = {
    {.name = "to",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(convert_args, to),
     .standard = "auto",
     .choices = "auto|libsvm|csv|npy|ucd|jsonl|uc|liblinear",
     .help = "the format to write; auto: by the ending of OUT for data, the other of uc and liblinear for a "
             "model"},
    {.name = "labels-out",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(convert_args, labels),
     .argument = "FILE",
     .help = "the file to write the labels to when OUT is NPY, which has no room for them"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Data options", uc_read_options, offsetof(convert_args, read)},
    {0},
};

static void tell(app_call *call, const char *kind, const char *examples, size_t examples_count,
                 size_t features, const uc_names *classes)
{
    const char *output = call->words[1];
    FILE *text = app_summary(call, output);
    if (text)
        fprintf(text, "%zu %s, %zu features, %zu classes: %s\n", examples_count,
                strcmp(kind, "model") == 0 ? "weight vectors" : examples, features, classes->count, output);
    if (call->common.json)
        call->result = json_pack("{ss sI sI so so}", "kind", kind, examples, (json_int_t)examples_count,
                                 "features", (json_int_t)features, "classes", app_json_names(classes),
                                 "output", app_json_text(output));
}

static uc_status convert_data(app_call *call)
{
    const convert_args *args = call->args;
    uc_dataset data = {0};
    uc_table_text *table = NULL;
    cli_data_file file;
    uc_status status = cli_begin_data(&file, call->words[1], "OUT", (uc_format)args->to, args->labels);
    if (status != UC_OK)
        goto cleanup;
    if ((status = cli_keep_data(call->words[0], &args->read)) != UC_OK)
        goto cleanup;
    if ((status = cli_read_table(&data, &table, call, call->words[0], &args->read)) != UC_OK)
        goto cleanup;
    const cli_table_rows all = {.text = table};
    if ((status = cli_write_table(call, &all, &data, &file)) != UC_OK)
        goto cleanup;
    if ((status = app_finish_files(false)) != UC_OK)
        goto cleanup;
    tell(call, "data", "examples", data.X.rows, data.X.cols, &data.classes);

cleanup:
    uc_table_text_free(table);
    uc_dataset_free(&data);
    return status;
}

static bool ends_in_uc(const char *path)
{
    const size_t length = strlen(path);
    return length >= 3 && strcmp(path + length - 3, ".uc") == 0;
}

static uc_status convert_model(app_call *call, cli_kind kind)
{
    const convert_args *args = call->args;
    const char *output = call->words[1];
    uc_model *model = NULL;
    uc_output *file;
    int to = args->to;
    if (to == TO_AUTO)
        to = kind == CLI_LIBLINEAR || ends_in_uc(output) ? TO_UC : TO_LIBLINEAR;
    uc_status status = app_begin_file(&file, output, "OUT");
    if (status != UC_OK)
        goto cleanup;
    if ((status = app_keep_input(call->words[0])) != UC_OK)
        goto cleanup;
    if ((status = cli_load_model(&model, call->words[0])) != UC_OK)
        goto cleanup;
    if (to == TO_UC)
        status = uc_model_write(model, file);
    else
        status = uc_model_write_liblinear(model, file);
    if (status != UC_OK || (status = app_finish_files(true)) != UC_OK)
        goto cleanup;
    tell(call, "model", "weight_vectors", uc_model_classes(model)->count, uc_model_features(model),
         uc_model_classes(model));

cleanup:
    uc_model_free(model);
    return status;
}

static uc_status run(app_call *call)
{
    const convert_args *args = call->args;
    const cli_kind kind = cli_recognise(call->words[0]);
    const bool from_standard_input = strcmp(call->words[0], "-") == 0;
    const bool to_model = args->to >= TO_UC;
    if (call->common.json && strcmp(call->words[1], "-") == 0)
        return app_fail(UC_ERR_OPTION, "--json and the output - both want standard output");
    if (kind != CLI_DATA && args->to != TO_AUTO && !to_model)
        return app_fail(UC_ERR_INVALID, "%s is a model: it becomes uc or liblinear", call->words[0]);
    if (kind == CLI_DATA && to_model && !from_standard_input)
        return app_fail(UC_ERR_INVALID, "%s is not a model: data become libsvm, csv, npy, ucd or jsonl",
                        call->words[0]);
    if (kind == CLI_DATA && !to_model)
        return convert_data(call);
    return convert_model(call, kind);
}

const app_command command_convert = {
    .name = "convert",
    .usage = "IN OUT [--to FORMAT]",
    .summary = "write data or a model in another format",
    .description =
        "Converts data to LIBSVM text, CSV, NPY, JSON lines or the binary format ucd, which is mapped into "
        "memory instead of parsed; the endings .gz and .zst compress. Converts models to this program's "
        "format (uc) or to LIBLINEAR's text format.",
    .sections = sections,
    .args_size = sizeof(convert_args),
    .least = 2,
    .most = 2,
    .run = run,
};
