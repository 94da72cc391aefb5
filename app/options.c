#include "app/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"
#include "app/message.h"

/* ---- tables ---- */

void app_tables_add(app_tables *self, const char *title, const uc_option *options, void *settings)
{
    self->items = app_realloc(self->items, self->count + 1, sizeof *self->items);
    self->items[self->count++] = (app_table){title, options, settings};
}

void app_tables_free(app_tables *self)
{
    free(self->items);
    *self = (app_tables){0};
}

void app_tables_defaults(const app_tables *self)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->items[i].settings)
            uc_options_defaults(self->items[i].options, self->items[i].settings);
}

const uc_option *app_tables_find(const app_tables *self, const char *name)
{
    const uc_option *option = NULL;
    for (size_t i = 0; i < self->count && !option; i++)
        option = uc_options_find(self->items[i].options, name);
    return option;
}

bool app_tables_has_earlier(const app_tables *self, size_t before, const char *name)
{
    for (size_t i = 0; i < before; i++)
        if (uc_options_find(self->items[i].options, name))
            return true;
    return false;
}

uc_status app_tables_set(const app_tables *self, const uc_option *option, const char *value)
{
    for (size_t i = 0; i < self->count; i++) {
        const uc_option *same = uc_options_find(self->items[i].options, option->name);
        if (!same || !self->items[i].settings)
            continue;
        const uc_status status = uc_option_set(same, self->items[i].settings, value);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

static const uc_option *find_letter(const app_tables *self, char letter)
{
    for (size_t i = 0; i < self->count; i++)
        for (const uc_option *option = self->items[i].options; option->name; option++)
            if (option->letter == letter)
                return option;
    return NULL;
}

/* The i-th option of all tables. */
static const char *option_name(size_t i, const void *user)
{
    const app_tables *self = user;
    for (size_t t = 0; t < self->count; t++)
        for (const uc_option *option = self->items[t].options; option->name; option++)
            if (i-- == 0)
                return option->name;
    return NULL;
}

/* ---- words ---- */

static uc_status refuse_name(const app_parser *self, const char *name)
{
    if (self->refuse && self->refuse(name, self->user) != UC_OK)
        return UC_ERR_OPTION;
    const char *nearest = app_habit_find(app_this_program.options_elsewhere, name);
    if (!nearest || !app_tables_find(self->tables, nearest))
        nearest = uc_names_nearest(name, option_name, self->tables);
    if (!nearest && strncmp(name, "no-", 3) == 0)
        nearest = uc_names_nearest(name + 3, option_name, self->tables);
    if (!nearest)
        return app_fail(UC_ERR_OPTION, "unknown option --%s; see %s", name, self->see);
    return app_fail(UC_ERR_OPTION, "unknown option --%s; did you mean --%s?", name, nearest);
}

static uc_status take_value(app_token *out, app_parser *self, const char *shown)
{
    if (self->at >= self->argc)
        return app_fail(UC_ERR_OPTION, "%s needs a value", shown);
    out->text = self->argv[self->at++];
    return UC_OK;
}

static uc_status next_letter(app_token *out, app_parser *self)
{
    const char shown[] = {'-', *self->letters++, 0};
    out->option = find_letter(self->tables, shown[1]);
    if (!out->option)
        return app_fail(UC_ERR_OPTION, "unknown option %s; see %s", shown, self->see);
    if (out->option->type == UC_OPTION_FLAG) {
        out->text = "on";
        return UC_OK;
    }
    out->text = self->letters;
    self->letters = NULL;
    return *out->text ? UC_OK : take_value(out, self, shown);
}

/* Reads no-NAME, which turns the flag NAME off. */
static uc_status next_negation(app_token *out, app_parser *self, const char *name, bool valued)
{
    out->option = app_tables_find(self->tables, name + 3);
    if (!out->option || out->option->type != UC_OPTION_FLAG || valued)
        return refuse_name(self, name);
    out->text = "off";
    return UC_OK;
}

static uc_status next_name(app_token *out, app_parser *self, const char *argument)
{
    char name[64];
    const size_t length = strcspn(argument, "=");
    const bool valued = argument[length] == '=';
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), argument);
    out->option = app_tables_find(self->tables, name);
    if (!out->option && strncmp(name, "no-", 3) == 0)
        return next_negation(out, self, name, valued);
    if (!out->option)
        return refuse_name(self, name);
    out->text = valued ? argument + length + 1 : "on";
    if (valued || out->option->type == UC_OPTION_FLAG)
        return UC_OK;
    return take_value(out, self, self->argv[self->at - 1]);
}

uc_status app_parser_next(app_token *out, app_parser *self)
{
    *out = (app_token){NULL, NULL};
    if (self->letters && *self->letters)
        return next_letter(out, self);
    if (self->at < self->argc && !self->only_words && strcmp(self->argv[self->at], "--") == 0) {
        self->only_words = true;
        self->at++;
    }
    if (self->at >= self->argc)
        return UC_OK;
    const char *argument = self->argv[self->at++];
    if (self->only_words || argument[0] != '-' || argument[1] == 0) {
        out->text = argument;
        return UC_OK;
    }
    if (argument[1] == '-')
        return next_name(out, self, argument + 2);
    self->letters = argument + 1;
    return next_letter(out, self);
}
