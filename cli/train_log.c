/* Turns logged events into a table in memory, which is then read like any other. So the model knows its
 * columns by name, and can predict tables with the same columns. */
#include "train_log.h"

#include <stdlib.h>
#include <string.h>

#include "service/service.h"

#define FEW_EXAMPLES 100.0 /* of equal weight */

#define FIELD(name) offsetof(cli_log, name)
const uc_option cli_log_options[] = {
    {.name = "log",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(path),
     .argument = "LOG",
     .help =
         "train on logged proposals and answers instead of DATA: a directory of unconfuse serve, a DSJSON "
         "file, or CSV with the columns id, features, class, probability, right; an event whose class "
         "the answer reveals is an example, weighted by 1/probability where only \"right\" reveals it"},
    {.name = "log-model",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(model),
     .argument = "NAME",
     .help = "the model of a directory"},
    {0},
};

typedef struct bytes {
    char *text;
    size_t length, room;
} bytes;

static bool write_bytes(const char *text, size_t size, void *user)
{
    bytes *self = user;
    if (self->length + size > self->room) {
        self->room = 2 * (self->length + size);
        self->text = app_realloc(self->text, self->room, 1);
    }
    memcpy(self->text + self->length, text, size);
    self->length += size;
    return app_check_interrupt() == UC_OK;
}

static uc_status judge(const service_trained *found, const cli_log *log)
{
    if (found->events == 0)
        return app_fail(UC_ERR_FORMAT, "%s: the log has no event with an answer", log->path);
    if (found->examples == 0)
        return app_fail(UC_ERR_FORMAT,
                        "%s: no answer reveals a class: of more than two classes only "
                        "\"right\" and labels do",
                        log->path);
    if (found->classes == 1)
        return app_fail(
            UC_ERR_FORMAT,
            "%s: the answers reveal one class only, where two are needed; let the service explore "
            "(PUT with \"explore\": 0.05)",
            log->path);
    if (!found->explored && !found->labelled && found->examples < found->events)
        app_warn("%s: every probability is 1: it never explored, so classes that it never proposed correctly "
                 "have no examples",
                 log->path);
    if (found->effective < FEW_EXAMPLES)
        app_warn("%s: the effective sample size is only %.0f; log more events or explore more", log->path,
                 found->effective);
    return UC_OK;
}

/* Joins both lists of NAME=TYPE, of which the first takes precedence; freed with free. */
static char *join_types(const char *given, const char *found)
{
    char *all = app_calloc(strlen(given) + strlen(found) + 2, 1);
    strcpy(all, given);
    for (const char *word = found; *word;) {
        const size_t size = strcspn(word, ","), name = strcspn(word, "=");
        bool known = false;
        for (const char *other = given; other && !known; other = strchr(other, ',')) {
            other += *other == ',';
            known = strncmp(other, word, name + 1) == 0;
        }
        if (!known)
            sprintf(all + strlen(all), ",%.*s", (int)size, word);
        word += size + (word[size] == ',');
    }
    return all;
}

uc_status cli_log_read(uc_dataset *out, json_t **described, const cli_log *log, const app_call *call,
                       const uc_read_settings *settings)
{
    uc_read_settings read = *settings;
    bytes table = {0};
    const service_training asked = {log->path, log->model};
    const service_export to = {"training", write_bytes, &table};
    service_trained found = {0};
    char *types = NULL;
    if (read.label || read.weight || read.weights || read.soft_labels)
        return app_fail(UC_ERR_OPTION, "--log says what is label and weight: leave out --label, --weight, "
                                       "--weights and --soft-labels");
    if (read.format != UC_FORMAT_AUTO || (read.separator && strcmp(read.separator, "auto") != 0))
        return app_fail(UC_ERR_OPTION,
                        "--log finds out by itself how the log is written: leave out --format and "
                        "--separator");
    if (uc_comm_size(app_comm) > 1)
        return app_fail(UC_ERR_OPTION, "--log is read by one process");
    read.format = UC_FORMAT_CSV;
    read.label = "class";
    read.weight = "weight";
    read.separator = ",";
    uc_status status = service_training_write(&found, &asked, &to);
    if (status != UC_OK && app_check_interrupt() != UC_OK)
        status = UC_ERR_CANCELLED;
    if (status == UC_OK)
        status = judge(&found, log);
    if (found.types && read.columns)
        read.columns = types = join_types(read.columns, found.types);
    else if (found.types)
        read.columns = found.types;
    if (status == UC_OK)
        status = uc_dataset_read_memory(out, table.text, table.length, "examples of the log", &read,
                                        &call->context);
    if (status == UC_OK)
        *described = json_pack("{sI sI sI sf sb}", "events", (json_int_t)found.events, "unanswered",
                               (json_int_t)found.unanswered, "examples", (json_int_t)found.examples,
                               "effective_examples", found.effective, "explored", found.explored);
    free(types);
    free(found.types);
    free(table.text);
    return status;
}
