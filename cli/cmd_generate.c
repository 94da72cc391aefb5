/* unconfuse generate: draws data from the artificial problems of the papers. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"

typedef struct generate_args {
    cli_data_output data;
    const char *output, *test;
    uint64_t examples, test_examples;
} generate_args;

static const uc_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = UC_OPTION_TEXT,
     .offset = offsetof(generate_args, output),
     .argument = "DATA",
     .help = "the data file to write"},
    {.name = "examples",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(generate_args, examples),
     .standard = "0",
     .high = 0x1p40,
     .help = "how many examples to generate, 0: as many as in the paper"},
    {.name = "test",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(generate_args, test),
     .argument = "FILE",
     .help = "a second data file to write, with test examples of the same problem"},
    {.name = "test-examples",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(generate_args, test_examples),
     .standard = "0",
     .high = 0x1p40,
     .help = "how many examples to write to the file of --test, 0: as many as in the paper"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Output options", cli_data_output_options, offsetof(generate_args, data)},
    {0},
};

static json_t *describe_generator(size_t i)
{
    json_t *summary = json_string(cli_generators.summary(i));
    return json_pack("{ss so so}", "name", cli_generators.name(i), "summary", summary, "options",
                     app_json_table(cli_generators.options(i)));
}

static void list_generators(app_call *call)
{
    app_grid table = {.align = "l", .columns = 2};
    json_t *list = json_array();
    for (size_t i = 0; cli_generators.name(i); i++) {
        if (call->common.json) {
            json_array_append_new(list, describe_generator(i));
            continue;
        }
        app_cell(&table, "%s", cli_generators.name(i));
        app_cell(&table, "%s", cli_generators.summary(i));
    }
    app_grid_print(&table, stdout);
    if (call->common.json)
        call->result = json_pack("{sO}", "generators", list);
    json_decref(list);
}

static void tell(app_call *call, const uc_dataset *train, const uc_dataset *test)
{
    const generate_args *args = call->args;
    FILE *text = app_summary(call, args->output);
    if (text) {
        fprintf(text, "%zu examples, %zu features, %zu classes: %s\n", train->X.rows, train->X.cols,
                train->classes.count, args->output);
        if (args->test)
            fprintf(text, "%zu test examples: %s\n", test->X.rows, args->test);
    }
    if (!call->common.json)
        return;
    json_t *settings = json_object();
    app_json_settings(settings, cli_generators.options(call->member), call->member_settings);
    call->result =
        json_pack("{ss so sI sI so so}", "generator", cli_generators.name(call->member), "settings", settings,
                  "examples", (json_int_t)train->X.rows, "features", (json_int_t)train->X.cols, "classes",
                  app_json_names(&train->classes), "output", app_json_text(args->output));
    if (args->test) {
        json_object_set_new(call->result, "test_examples", json_integer((json_int_t)test->X.rows));
        json_object_set_new(call->result, "test", app_json_text(args->test));
    }
}

static uc_status run(app_call *call)
{
    const generate_args *args = call->args;
    uc_dataset train = {0}, test = {0};
    if (call->member == APP_NO_MEMBER) {
        list_generators(call);
        return UC_OK;
    }
    if (!args->output)
        return app_fail(UC_ERR_OPTION, "say where the data go with -o DATA");
    if (args->test_examples && !args->test)
        return app_fail(UC_ERR_OPTION, "say where the test examples go with --test FILE");
    const uc_format format = (uc_format)args->data.format;
    cli_data_file output, test_output;
    uc_status status = cli_begin_data(&output, args->output, "-o", format, args->data.labels);
    if (status != UC_OK)
        goto cleanup;
    if (args->test && (status = cli_begin_data(&test_output, args->test, "--test", format, NULL)) != UC_OK)
        goto cleanup;
    if ((status = uc_generator_run(&train, args->test ? &test : NULL, uc_generator_at(call->member),
                                   call->member_settings, (size_t)args->examples, (size_t)args->test_examples,
                                   call->common.seed)) != UC_OK)
        goto cleanup;
    if ((status = cli_write_data(call, &train, &output)) != UC_OK)
        goto cleanup;
    if (args->test && (status = cli_write_data(call, &test, &test_output)) != UC_OK)
        goto cleanup;
    if ((status = app_finish_files(false)) != UC_OK)
        goto cleanup;
    tell(call, &train, &test);

cleanup:
    uc_dataset_free(&train);
    uc_dataset_free(&test);
    return status;
}

const app_command command_generate = {
    .name = "generate",
    .usage = "[NAME [--examples N] [--test FILE --test-examples M] [options] -o DATA]",
    .summary = "generate data of an artificial problem",
    .description = "Generates examples of one of the papers' artificial problems. Without a name, lists the "
                   "problems.",
    .sections = sections,
    .args_size = sizeof(generate_args),
    .family = &cli_generators,
    .least = 0,
    .most = 1,
    .run = run,
};
