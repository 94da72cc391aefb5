/* Before the first round: what is to be known of the data, and the learner, new or from a model. */
#include "stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a new learner ---- */

/* look->classes become those of --classes when it is given. */
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
        return app_fail(UC_ERR_FORMAT, "%s: only one class, '%s', where two are needed", self->path,
                        classes->text[0]);
    return UC_OK;
}

/* Standard input tells nothing beforehand. */
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
    return (uc_session_settings){.feedback = self->partial ? UC_FEEDBACK_PARTIAL : UC_FEEDBACK_FULL,
                                 .delay = args->delay,
                                 .missing = args->missing,
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
    settings.add_classes = cli_reads_once(self->path) && !self->args->classes;
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

/* ---- a learner that goes on ---- */

/* A stored value as a user would type it; `room` is for settings of the option's table. An option that is newer than the
 * model is at its default. */
static void stored_text(char *text, size_t size, const uc_option *option, void *room, const json_t *value)
{
    char raw[64];
    if (json_is_number(value))
        snprintf(raw, sizeof raw, "%.17g", json_number_value(value));
    else
        snprintf(raw, sizeof raw, "%s",
                 json_is_string(value) ? json_string_value(value)
                 : !value              ? option->standard
                 : json_is_true(value) ? "on"
                                       : "off");
    if (uc_option_set(option, room, raw) == UC_OK)
        uc_option_text(option, room, text, size);
    else
        snprintf(text, size, "%s", raw);
}

/* Refuses options of a table that were typed and are not what the model was learned with; `size` is that of its
 * settings. `auto` and `median` leave the value to the program, and the model has it. */
static uc_status check_table(const stream *self, const json_t *learned, const uc_option *table,
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
        stored_text(stored, sizeof stored, table, room, json_object_get(learned, table->name));
        const bool open = strcmp(typed, "auto") == 0 || (table->zero && strcmp(typed, table->zero) == 0);
        if (!open && strcmp(typed, stored) != 0)
            status =
                app_fail(UC_ERR_OPTION, "--%s %s: %s was learned with %s, and a stream continues as it began",
                         table->name, typed, self->args->resume, stored);
    }
    free(room);
    return status;
}

/* What was learned with, where `auto` is what it came to; new. */
static json_t *decided_settings(const stream *self, const json_t *description)
{
    json_t *learned = json_deep_copy(json_object_get(description, "settings"));
    const json_t *map = json_object_get(description, "map");
    void *own = app_calloc(1, uc_learner_settings_size(self->learner));
    uc_online_settings(own, self->resumed);
    app_json_settings(learned, uc_learner_options(self->learner), own);
    free(own);
    if (!json_is_object(map)) {
        json_object_set_new(learned, "map", json_string("none"));
        return learned;
    }
    const double width = json_number_value(json_object_get(map, "width"));
    json_object_set(learned, "dimension", json_object_get(map, "dimension"));
    if (width > 0) {
        json_object_set_new(learned, "width", json_real(width));
        json_object_set_new(learned, "gamma", json_real(1 / width));
    }
    return learned;
}

static uc_status check_settings(stream *self, const uc_model *model)
{
    const uc_train_settings *train = &self->args->train;
    char *text;
    uc_status status = uc_model_describe(&text, model);
    if (status != UC_OK)
        return status;
    json_t *description = json_loads(text, 0, NULL);
    json_t *learned = decided_settings(self, description);
    uc_model_text_free(text);
    status = check_table(self, learned, uc_learner_options(self->learner), self->call->member_settings,
                         uc_learner_settings_size(self->learner));
    if (status == UC_OK)
        status = check_table(self, learned, uc_train_options, train, sizeof *train);
    if (status == UC_OK && (train->map.map != UC_MAP_NONE || uc_online_has_map(self->resumed)))
        status = check_table(self, learned, uc_map_options, &train->map, sizeof train->map);
    json_decref(learned);
    json_decref(description);
    return status;
}

static uc_status begin_again(stream *self)
{
    const char *path = self->args->resume;
    uc_model *model = NULL;
    uc_status status = uc_model_load(&model, path);
    if (status == UC_OK && strcmp(uc_model_learner(model), uc_learner_name(self->learner)) != 0)
        status = app_fail(UC_ERR_INVALID, "%s was learned by %s, not by %s", path, uc_model_learner(model),
                          uc_learner_name(self->learner));
    if (status == UC_OK && (status = uc_online_resume(&self->resumed, model)) != UC_OK)
        (void)app_fail(status, "%s: %s", path, app_library_error());
    if (status == UC_OK)
        status = check_settings(self, model);
    uc_model_free(model);
    uc_session_settings settings = session_settings(self);
    settings.add_classes = !self->partial;
    if (self->args->shuffle)
        settings.held_bytes = (double)self->data.X.rows * sizeof(size_t);
    if (status == UC_OK)
        status = uc_session_continue(&self->session, self->resumed, &settings, &self->context);
    return status;
}

uc_status stream_begin(stream *self)
{
    return self->args->resume ? begin_again(self) : begin_new(self);
}
