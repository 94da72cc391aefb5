/* unconfuse-papers list, fetch: the experiments, and where to get their data. */
#include <stddef.h>
#include <stdlib.h>

#include "experiment.h"

const uc_option data_options[] = {
    {.name = "data",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(data_args, directory),
     .argument = "DIR",
     .help = "the directory that holds the data files (without it: UNCONFUSE_DATA, else ./data)"},
    {0},
};

static const app_section sections[] = {{"Options", data_options, 0}, {0}};

static const char *directory_of(const app_call *call)
{
    return data_directory(((const data_args *)call->args)->directory);
}

static const char *presence(const char *directory, const char *name)
{
    return data_is_there(directory, name) ? "there" : "missing";
}

/* ---- list ---- */

static void print_experiment(const experiment *shown, const char *directory)
{
    printf("%-14s %s\n%-14s data: ", shown->name, shown->what, "");
    for (size_t i = 0; shown->data[i]; i++)
        printf("%s%s (%s)", i ? ", " : "", shown->data[i], presence(directory, shown->data[i]));
    puts(shown->data[0] ? "" : "generated");
}

static json_t *describe_experiment(const experiment *shown, const char *directory)
{
    json_t *data = json_array();
    for (size_t i = 0; shown->data[i]; i++)
        json_array_append_new(data, json_pack("{ss sb}", "name", shown->data[i], "there",
                                              data_is_there(directory, shown->data[i])));
    return json_pack("{ss ss so}", "experiment", shown->name, "what", shown->what, "data", data);
}

static uc_status list(app_call *call)
{
    const char *directory = directory_of(call);
    json_t *all = json_array();
    for (size_t i = 0; experiments[i]; i++)
        if (call->common.json)
            json_array_append_new(all, describe_experiment(experiments[i], directory));
        else
            print_experiment(experiments[i], directory);
    if (call->common.json)
        call->result = json_pack("{sO so}", "experiments", all, "directory", app_json_text(directory));
    else
        printf("\nData directory: %s\n", directory);
    json_decref(all);
    return UC_OK;
}

const app_command command_list = {
    .name = "list",
    .usage = "[--data DIR]",
    .summary = "list the experiments, and whether their data are there",
    .description = "Lists every experiment with what it measures and the data sets that it needs.",
    .sections = sections,
    .args_size = sizeof(data_args),
    .run = list,
};

/* ---- fetch ---- */

static void print_source(const data_set *set, const char *directory)
{
    printf("\n%s (%s)\n  %s\n", set->name, presence(directory, set->name), set->source);
    for (size_t i = 0; set->files[i]; i++)
        printf("  file: %s.svm\n", set->files[i]);
}

static json_t *describe_source(const data_set *set, const char *directory)
{
    json_t *files = json_array();
    for (size_t i = 0; set->files[i]; i++) {
        char *name = app_text("%s.svm", set->files[i]);
        json_array_append_new(files, json_string(name));
        free(name);
    }
    return json_pack("{ss sb ss so}", "name", set->name, "there", data_is_there(directory, set->name),
                     "source", set->source, "files", files);
}

static uc_status fetch(app_call *call)
{
    const char *directory = directory_of(call);
    json_t *all = json_array();
    if (!call->common.json)
        printf("Nothing is downloaded. Put these files into %s (or name another directory with --data or "
               "UNCONFUSE_DATA);\n"
               "the format is LIBSVM text, plain (.svm) or compressed (.svm.gz, .svm.zst):\n",
               directory);
    for (const data_set *set = data_sets; set->name; set++)
        if (call->common.json)
            json_array_append_new(all, describe_source(set, directory));
        else
            print_source(set, directory);
    if (call->common.json)
        call->result = json_pack("{sO so}", "data", all, "directory", app_json_text(directory));
    json_decref(all);
    return UC_OK;
}

const app_command command_fetch = {
    .name = "fetch",
    .usage = "[--data DIR]",
    .summary = "say where the data can be had, and which files are expected",
    .description = "Lists the source of every data set and the names that its files must have. It downloads "
                   "nothing.",
    .sections = sections,
    .args_size = sizeof(data_args),
    .run = fetch,
};
