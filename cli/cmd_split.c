/* unconfuse split: splits a data file into two parts. */
#include <stdlib.h>

#include "commands.h"

typedef struct split_args {
    uc_read_settings read;
    cli_data_output data;
    const char *output, *rest;
    double share;
    int stratified;
} split_args;

static const uc_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = UC_OPTION_TEXT,
     .offset = offsetof(split_args, output),
     .argument = "DATA",
     .help = "the data file to write the first part to"},
    {.name = "rest",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(split_args, rest),
     .argument = "DATA",
     .help = "the data file to write the second part to"},
    {.name = "share",
     .type = UC_OPTION_REAL,
     .offset = offsetof(split_args, share),
     .standard = "0.7",
     .low = 0,
     .above_low = true,
     .high = 1,
     .help = "the share of the examples that goes to the first file"},
    {.name = "stratified",
     .type = UC_OPTION_FLAG,
     .offset = offsetof(split_args, stratified),
     .standard = "on",
     .help = "take the same share of every class, so that both files hold the classes in equal proportions"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Data options", uc_read_options, offsetof(split_args, read)},
    {"Output options", cli_data_output_options, offsetof(split_args, data)},
    {0},
};

static uc_status run(app_call *call)
{
    const split_args *args = call->args;
    if (!args->output || !args->rest)
        return app_fail(UC_ERR_OPTION, "say where the two parts go with -o DATA --rest DATA");
    const uc_format format = (uc_format)args->data.format;
    uc_dataset data = {0}, first = {0}, second = {0};
    uc_table_text *table = NULL;
    size_t *rows = NULL, count;
    cli_data_file output, rest;
    uc_status status = cli_begin_data(&output, args->output, "-o", format, args->data.labels);
    if (status != UC_OK)
        goto cleanup;
    if ((status = cli_begin_data(&rest, args->rest, "--rest", format, NULL)) != UC_OK)
        goto cleanup;
    if ((status = cli_keep_data(call->words[0], &args->read)) != UC_OK)
        goto cleanup;
    if ((status = cli_read_table(&data, &table, call, call->words[0], &args->read)) != UC_OK)
        goto cleanup;
    if ((status = uc_dataset_split(&first, &second, &data, args->share, args->stratified && data.y,
                                   call->common.seed, &call->context)) != UC_OK)
        goto cleanup;
    rows = app_calloc(data.X.rows, sizeof *rows);
    if ((status = uc_dataset_split_rows(rows, &count, &data, args->share, args->stratified && data.y,
                                        call->common.seed)) != UC_OK)
        goto cleanup;
    const cli_table_rows here = {.text = table, .rows = rows, .count = count};
    const cli_table_rows there = {.text = table, .rows = rows + count, .count = data.X.rows - count};
    if ((status = cli_write_table(call, &here, &first, &output)) != UC_OK)
        goto cleanup;
    if ((status = cli_write_table(call, &there, &second, &rest)) != UC_OK)
        goto cleanup;
    if ((status = app_finish_files(false)) != UC_OK)
        goto cleanup;
    FILE *text = app_summary(call, args->output);
    if (text)
        fprintf(text, "%zu examples: %s\n%zu examples: %s\n", first.X.rows, args->output, second.X.rows,
                args->rest);
    if (call->common.json)
        call->result = json_pack("{sI so sI so}", "examples", (json_int_t)first.X.rows, "output",
                                 app_json_text(args->output), "rest_examples", (json_int_t)second.X.rows,
                                 "rest", app_json_text(args->rest));

cleanup:
    free(rows);
    uc_table_text_free(table);
    uc_dataset_free(&first);
    uc_dataset_free(&second);
    uc_dataset_free(&data);
    return status;
}

const app_command command_split = {
    .name = "split",
    .usage = "DATA -o DATA --rest DATA [--share P]",
    .summary = "divide data at random into two files",
    .description = "Divides the examples at random into two files, such as one to train on and one to test "
                   "on. The same seed gives the same division.",
    .sections = sections,
    .args_size = sizeof(split_args),
    .least = 1,
    .most = 1,
    .run = run,
};
