/* --learners a,b:option=value: learners to compare, each with its own options. */
#include "learner_list.h"

#include <stdlib.h>
#include <string.h>

#include "commands.h"

void cli_free_learners(learner_list *self)
{
    for (size_t i = 0; i < self->count; i++) {
        free((void *)self->items[i].settings);
        free(self->names[i]);
    }
    free(self->items);
    free(self->names);
    *self = (learner_list){0};
}

bool cli_is_on_grid(const uc_learner *learner, const char *option)
{
    const double *values;
    size_t count;
    const char *name;
    for (size_t i = 0; (name = uc_learner_grid(&values, &count, learner, i)); i++)
        if (strcmp(name, option) == 0)
            return true;
    return false;
}

static const char *option_of(const learner_list *self)
{
    return self->option ? self->option : "--learners";
}

/* Reads "beta=0.5", an option of the entry that `item` names. */
static uc_status set_option(uc_compare_entry *self, void *settings, char *text, const char *item,
                            const char *list)
{
    char *value = strchr(text, '=');
    const uc_option *table = uc_learner_options(self->learner);
    if (!value || value == text || value[1] == 0)
        return app_fail(UC_ERR_OPTION, "%s %s: an option is written as NAME=VALUE, not as '%s'", list, item,
                        text);
    *value++ = 0;
    const uc_option *option = uc_options_find(table, text);
    if (!option) {
        char names[256] = "";
        for (size_t length = 0; table->name && length < sizeof names; table++)
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "",
                                       table->name);
        return app_fail(UC_ERR_OPTION, "%s %s: %s has no option %s; it has %s", list, item,
                        uc_learner_name(self->learner), text, names);
    }
    if (uc_option_set(option, settings, value) != UC_OK)
        return app_fail(UC_ERR_OPTION, "%s %s: %s", list, item, app_library_error());
    self->fixed = self->fixed || cli_is_on_grid(self->learner, text);
    return UC_OK;
}

static uc_status refuse_batch(const learner_list *self, const char *name)
{
    if (self->option)
        return app_fail(UC_ERR_OPTION, "%s: %s learns from whole data sets, not one example at a time",
                        self->option, name);
    return app_fail(UC_ERR_OPTION,
                    "--learners: %s learns from whole data sets, and compare is about one example after the "
                    "other: unconfuse experiment DATA --learners %s --noise none compares errors",
                    name, self->typed);
}

/* Reads "cspa:beta=0.5"; cuts the text into pieces. */
static uc_status add_entry(learner_list *self, char *text, const char *item)
{
    char *rest = strchr(text, ':');
    if (rest)
        *rest++ = 0;
    if (*text == 0)
        return app_fail(UC_ERR_OPTION, "%s: a learner's name is empty", option_of(self));
    uc_compare_entry next = {.learner = uc_learner_find(text)};
    if (!next.learner) {
        (void)app_refuse_member(&cli_learners, text);
        return app_fail(UC_ERR_OPTION, "%s: %s", option_of(self), app_last_error());
    }
    if (self->online && !uc_learner_is_online(next.learner))
        return refuse_batch(self, text);
    const size_t size = uc_learner_settings_size(next.learner);
    void *settings = app_calloc(1, size);
    uc_options_defaults(uc_learner_options(next.learner), settings);
    next.settings = settings;
    self->items = app_realloc(self->items, self->count + 1, sizeof *self->items);
    self->names = app_realloc(self->names, self->count + 1, sizeof *self->names);
    self->names[self->count] = app_text("%s", item);
    uc_compare_entry *added = &self->items[self->count++];
    *added = next;
    uc_status status = UC_OK;
    while (rest && status == UC_OK) {
        char *option = rest;
        rest = strchr(rest, ':');
        if (rest)
            *rest++ = 0;
        status = set_option(added, settings, option, item, option_of(self));
    }
    for (size_t i = 0; i + 1 < self->count && status == UC_OK; i++)
        if (self->items[i].learner == added->learner && self->items[i].fixed == added->fixed &&
            memcmp(self->items[i].settings, settings, size) == 0)
            status = app_fail(UC_ERR_OPTION, "%s: %s is named twice with the same settings", option_of(self),
                              text);
    return status;
}

/* The length up to the next comma that is not part of a value, as before a number:
 * "onebit:feedback-noise=.1,.2" */
static size_t item_length(const char *text)
{
    size_t length = strcspn(text, ",");
    while (text[length] && strspn(text + length + 1, "0123456789.") > 0)
        length += 1 + strcspn(text + length + 1, ",");
    return length;
}

uc_status cli_parse_learners(learner_list *self, const char *list)
{
    uc_status status = UC_OK;
    self->typed = list;
    for (const char *at = list; at && status == UC_OK;) {
        const size_t length = item_length(at);
        char *item = app_calloc(length + 1, 1), *text = app_calloc(length + 1, 1);
        memcpy(item, at, length);
        memcpy(text, at, length);
        status = add_entry(self, text, item);
        free(item);
        free(text);
        at = at[length] ? at + length + 1 : NULL;
    }
    return status;
}
