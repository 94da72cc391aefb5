/* Before the first round: a first look at the data, and the learner, which is new or from a model. */
#include "stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a new learner ---- */

/* The message says which column of a table has the labels. */
static uc_status refuse_one_class(const stream *self, const uc_names *classes)
{
    uc_reader *reader = NULL;
    uc_dataset found = {.classes = *classes};
    if (self->data.table)
        found.table = uc_table_share(self->data.table);
    else if (strcmp(self->path, "-") != 0 &&
             uc_reader_open(&reader, self->path, &self->args->read, &self->call->context) == UC_OK)
        found.table = uc_table_share(uc_reader_table(reader));
    const uc_status status = app_fail_in(uc_dataset_check_classes(&found), self->path);
    uc_table_free(found.table);
    uc_reader_close(reader);
    return status;
}

/* Sets look->classes to those of --classes, if it is given. */
static uc_status choose_classes(uc_first_look *look, const stream *self, bool grows)
{
    const char *given = self->args->classes;
    uc_names *classes = &look->classes;
    if (given) {
        uc_names_free(classes);
        const uc_status status = cli_split_names(classes, given, "classes");
        if (status != UC_OK || classes->count > 1)
            return status;
        return app_fail(UC_ERR_OPTION, "--classes %s: only one class, where two are needed", given);
    }
    if (classes->count == 0 && !grows)
        return app_fail(UC_ERR_INVALID, "%s: the data have no labels", self->path);
    if (classes->count == 1)
        return refuse_one_class(self, classes);
    return UC_OK;
}

/* Looks at the data beforehand, except if they come from standard input. */
static uc_status look_at_data(uc_first_look *out, const stream *self, const uc_train_settings *train)
{
    const stream_args *args = self->args;
    *out = uc_first_look_none();
    if (cli_reads_once(self->path))
        return UC_OK;
    if (args->shuffle)
        return uc_first_look_at_data(out, &self->data, train, &self->call->context);
    const uc_status status = uc_first_look_at_file(out, self->path, &args->read, train, &self->call->context);
    return status == UC_OK ? app_check_interrupt() : status;
}

static uc_session_settings session_settings(stream *self)
{
    const stream_args *args = self->args;
    return (uc_session_settings){.feedback = (int)self->feedback,
                                 .delay = args->delay,
                                 .missing = args->missing,
                                 .flips = {args->flips[0], args->flips[1]},
                                 .label_share = args->label_share,
                                 .policy = {.apprentice = self->baseline != NULL,
                                            .explore = args->explore,
                                            .expired_is_wrong = args->expired != 0},
                                 .expire = args->expire,
                                 .baseline = self->baseline,
                                 .saved = args->output != NULL,
                                 .source = self->path,
                                 .on_round = stream_on_round,
                                 .user = self};
}

static uc_status begin_new(stream *self)
{
    uc_train_settings train = self->args->train;
    uc_session_settings settings = session_settings(self);
    uc_first_look look;
    train.passes = self->args->passes;
    train.shuffle = self->args->shuffle;
    settings.add_classes = self->args->grow_classes || (cli_reads_once(self->path) && !self->args->classes);
    settings.classes = "the classes: the file has changed since it was first read";
    if (self->args->classes) {
        snprintf(self->classes, sizeof self->classes, "--classes %s", self->args->classes);
        settings.classes = self->classes;
    }
    uc_status status = look_at_data(&look, self, &train);
    if (self->args->shuffle)
        settings.held_bytes = (double)look.rows * (look.row_bytes + sizeof(size_t));
    if (status == UC_OK)
        status = choose_classes(&look, self, settings.add_classes);
    if (status == UC_OK)
        status = uc_session_begin(&self->session, self->learner, self->call->member_settings, &train,
                                  &settings, &look, self->args->passes, &self->context);
    uc_first_look_free(&look);
    return status;
}

/* ---- a learner that resumes ---- */

/* The settings that a model was learned with, where `auto` has been replaced by the chosen value. */
typedef struct learned {
    const uc_model_summary *model;
    const uc_option *own_options; /* the learner's */
    void *own;                    /* its settings */
} learned;

/* A stored value as text, before its option parses it. */
static void raw_text(char *text, size_t size, const uc_value *value, const char *standard)
{
    if (!value)
        snprintf(text, size, "%s", standard); /* the option is newer than the model */
    else if (value->kind == UC_VALUE_TEXT)
        snprintf(text, size, "%s", value->text);
    else if (value->kind == UC_VALUE_COUNT)
        snprintf(text, size, "%lld", (long long)value->count);
    else if (value->kind == UC_VALUE_REAL)
        snprintf(text, size, "%.17g", value->real);
    else
        snprintf(text, size, "%s", value->flag ? "on" : "off");
}

/* Dimension and width are taken from the map itself; a model without one has `none`, whatever was
 * requested. */
static bool map_text(char *text, size_t size, const uc_model_summary *model, const char *name)
{
    const bool mapped = model->map.kernel != NULL, gaussian = mapped && model->map.width > 0;
    if (!mapped && strcmp(name, "map") == 0)
        snprintf(text, size, "none");
    else if (mapped && strcmp(name, "dimension") == 0)
        snprintf(text, size, "%zu", model->map.dimension);
    else if (gaussian && strcmp(name, "width") == 0)
        snprintf(text, size, "%.17g", model->map.width);
    else if (gaussian && strcmp(name, "gamma") == 0)
        snprintf(text, size, "%.17g", 1 / model->map.width);
    else
        return false;
    return true;
}

/* The stored value as a user would type it. `room` has space for settings of the option's table. */
static void stored_text(char *text, size_t size, const learned *self, const uc_option *option, void *room)
{
    const uc_option *own = uc_options_find(self->own_options, option->name);
    if (own) {
        uc_option_text(own, self->own, text, size);
        return;
    }
    if (!map_text(text, size, self->model, option->name))
        raw_text(text, size, uc_values_find(&self->model->settings, option->name), option->standard);
    if (uc_option_set(option, room, text) == UC_OK)
        uc_option_text(option, room, text, size);
}

/* Refuses options of a table that were typed and differ from those that the model was learned with; `size` is
 * that of the table's settings. `auto` and `median` are accepted: they leave the value to the program, and
 * the model has one. */
static uc_status check_table(const stream *self, const learned *before, const uc_option *table,
                             const void *settings, size_t size)
{
    void *room = app_calloc(1, size);
    uc_status status = UC_OK;
    for (; table->name && status == UC_OK; table++) {
        if (!app_given(self->call, table->name) || strcmp(table->name, "passes") == 0 ||
            strcmp(table->name, "shuffle") == 0)
            continue;
        char typed[64], stored[64];
        uc_option_text(table, settings, typed, sizeof typed);
        stored_text(stored, sizeof stored, before, table, room);
        const bool open = strcmp(typed, "auto") == 0 || (table->zero && strcmp(typed, table->zero) == 0);
        if (!open && strcmp(typed, stored) != 0)
            status =
                app_fail(UC_ERR_OPTION, "--%s %s: %s was learned with %s, and a stream continues as it began",
                         table->name, typed, self->args->resume, stored);
    }
    free(room);
    return status;
}

static uc_status check_settings(const stream *self, const uc_model *model)
{
    const uc_train_settings *train = &self->args->train;
    const uc_option *own_options = uc_learner_options(self->learner);
    const size_t own_size = uc_learner_settings_size(self->learner);
    uc_model_summary summary;
    uc_status status = uc_model_summarize(&summary, model);
    if (status != UC_OK)
        return status;
    learned before = {&summary, own_options, app_calloc(1, own_size)};
    uc_online_settings(before.own, self->resumed);
    status = check_table(self, &before, own_options, self->call->member_settings, own_size);
    if (status == UC_OK)
        status = check_table(self, &before, uc_train_options, train, sizeof *train);
    if (status == UC_OK && (train->map.map != UC_MAP_NONE || uc_online_has_map(self->resumed)))
        status = check_table(self, &before, uc_map_options, &train->map, sizeof train->map);
    free(before.own);
    uc_model_summary_free(&summary);
    return status;
}

static uc_status resume_learner(stream *self)
{
    const char *path = self->args->resume, *learner = uc_learner_name(self->learner);
    uc_model *model = NULL;
    uc_status status = uc_model_load(&model, path);
    if (status != UC_OK)
        return status;
    if (strcmp(uc_model_learner(model), learner) != 0)
        status = app_fail(UC_ERR_INVALID, "%s was learned by %s, not by %s", path, uc_model_learner(model),
                          learner);
    else if ((status = uc_online_resume(&self->resumed, model)) != UC_OK)
        (void)app_fail(status, "%s: %s", path, app_library_error());
    else
        status = check_settings(self, model);
    uc_model_free(model);
    return status;
}

static uc_status begin_again(stream *self)
{
    const uc_status status = resume_learner(self);
    if (status != UC_OK)
        return status;
    uc_session_settings settings = session_settings(self);
    settings.add_classes = self->args->grow_classes || self->feedback != UC_FEEDBACK_PARTIAL;
    if (self->args->shuffle)
        settings.held_bytes = (double)self->data.X.rows * sizeof(size_t);
    return uc_session_continue(&self->session, self->resumed, &settings, &self->context);
}

/* Loads the model whose predictions are proposed instead. This does not work for tables, whose rows are
 * encoded by what the stream has learned and mean nothing to another model. */
static uc_status load_baseline(stream *self)
{
    const char *path = self->args->baseline;
    if (!path)
        return UC_OK;
    const uc_status status = uc_model_load(&self->baseline, path);
    if (status == UC_OK && uc_model_table(self->baseline))
        return app_fail(UC_ERR_INVALID,
                        "--baseline %s: it reads a table with columns of its own; in a stream a baseline "
                        "needs rows of numbers",
                        path);
    return status;
}

uc_status stream_begin(stream *self)
{
    const uc_status status = load_baseline(self);
    if (status != UC_OK)
        return status;
    if (self->args->resume)
        return begin_again(self);
    return begin_new(self);
}
