/* unconfuse journal: prints the events of a model. */
#include <string.h>

#include "commands.h"
#include "service/service.h"

typedef struct journal_args {
    const char *model, *output;
    int format;
} journal_args;

static const uc_option options[] = {
    {.name = "model",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(journal_args, model),
     .argument = "NAME",
     .help = "the model"},
    {.name = "format",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(journal_args, format),
     .standard = "csv",
     .choices = "csv|jsonl|dsjson|training",
     .help =
         "csv: id, features, class, probability, right; jsonl: everything, one JSON object per line; "
         "dsjson: as Vowpal Wabbit reads it; training: examples for train --label class --weight weight, "
         "each event whose class the answer reveals, weighted by 1/probability where only \"right\" does"},
    {.name = "output",
     .letter = 'o',
     .type = UC_OPTION_TEXT,
     .offset = offsetof(journal_args, output),
     .argument = "FILE",
     .help = "the file to write (standard output)"},
    {0},
};

static const app_section sections[] = {{"Options", options, 0}, {0}};

static bool write_bytes(const char *bytes, size_t size, void *user)
{
    app_output *output = user;
    memcpy(app_output_reserve(output, size), bytes, size);
    app_output_advance(output, size);
    return !app_output_failed(output) && app_check_interrupt() == UC_OK;
}

static uc_status run(app_call *call)
{
    static const char *const formats[] = {"csv", "jsonl", "dsjson", "training"};
    enum { TRAINING = 3 };
    const journal_args *args = call->args;
    app_output *output = NULL;
    if (!args->model)
        return app_fail(UC_ERR_OPTION, "say which model with --model NAME");
    uc_status status = app_output_open(&output, args->output ? args->output : "-");
    if (status != UC_OK)
        return status;
    const service_export to = {formats[args->format], write_bytes, output};
    if (args->format == TRAINING) {
        const service_training asked = {call->words[0], args->model};
        service_trained found = {0};
        status = service_training_write(&found, &asked, &to);
        free(found.types);
    } else {
        status = service_journal(call->words[0], args->model, &to);
    }
    if (status == UC_OK)
        return app_output_commit(output);
    if (app_output_failed(output))
        status = app_output_check(output);
    app_output_abort(output);
    return app_check_interrupt() == UC_OK ? status : UC_ERR_CANCELLED;
}

const app_command command_journal = {
    .name = "journal",
    .usage = "DIR --model NAME [--format csv|jsonl|dsjson|training] [-o FILE]",
    .summary = "list the events of a service: proposals and answers",
    .description =
        "Writes every event of a model of unconfuse serve, oldest first: what was proposed, with which "
        "probability, and what the answer was. The service may be running.",
    .sections = sections,
    .args_size = sizeof(journal_args),
    .least = 1,
    .most = 1,
    .run = run,
};
