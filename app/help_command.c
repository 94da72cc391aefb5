/* The command `help`: the overview, a command's help, the manual page, completion scripts. */
#include <stddef.h>
#include <string.h>

#include "app/help.h"
#include "app/json.h"

typedef struct help_args {
    int manual, completion;
} help_args;

static const uc_option options[] = {
    {.name = "man",
     .type = UC_OPTION_FLAG,
     .offset = offsetof(help_args, manual),
     .standard = "off",
     .help = "print the manual page (roff)"},
    {.name = "completion",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(help_args, completion),
     .standard = "none",
     .choices = "none|bash|zsh",
     .argument = "bash|zsh",
     .help = "print the completion script of a shell"},
    {0},
};

static const app_section sections[] = {{"Options", options, 0}, {0}};

/* Whether `help FIRST SECOND` is about the command: `help noise` explains all commands that begin with it. */
static bool is_meant(const app_command *command, const char *first, const char *second)
{
    const char *name = command->name;
    const size_t length = strlen(first);
    if (strncmp(name, first, length) != 0 || (name[length] != 0 && name[length] != ' '))
        return false;
    return !second || name[length] != ' ' || strcmp(name + length + 1, second) == 0;
}

/* If the first word is NULL, describes all commands. */
static json_t *describe_commands(const char *first, const char *second)
{
    json_t *list = json_array();
    for (const app_command *const *command = app_this_program.commands; *command; command++) {
        if (first && !is_meant(*command, first, second))
            continue;
        json_t *tables = json_array();
        for (const app_section *section = (*command)->sections; section->title; section++) {
            json_t *table = app_json_table(section->table);
            json_array_extend(tables, table);
            json_decref(table);
        }
        json_array_append_new(list,
                              json_pack("{ss ss ss so}", "name", (*command)->name, "usage", (*command)->usage,
                                        "summary", (*command)->summary, "options", tables));
    }
    return list;
}

static uc_status print_commands(const char *first, const char *second)
{
    bool found = false;
    for (const app_command *const *command = app_this_program.commands; *command; command++) {
        if (!is_meant(*command, first, second))
            continue;
        if (found)
            putchar('\n');
        app_call call;
        (void)app_parse(&call, *command, 1, (char *[]){"--help", NULL});
        app_print_command_help(stdout, &call);
        app_call_free(&call);
        found = true;
    }
    return found ? UC_OK : app_refuse_command(first);
}

static uc_status describe(app_call *call)
{
    const char *first = call->word_count > 0 ? call->words[0] : NULL;
    json_t *commands = describe_commands(first, first ? call->words[1] : NULL);
    if (first && json_array_size(commands) == 0) {
        json_decref(commands);
        return app_refuse_command(first);
    }
    call->result = json_pack("{ss so}", "version", uc_version(), "commands", commands);
    return UC_OK;
}

static uc_status run(app_call *call)
{
    const help_args *args = call->args;
    if (call->common.json)
        return describe(call);
    if (args->manual)
        app_print_manual(stdout);
    else if (args->completion == 1)
        app_print_bash(stdout);
    else if (args->completion == 2)
        app_print_zsh(stdout);
    else if (call->word_count > 0)
        return print_commands(call->words[0], call->words[1]);
    else
        app_print_overview(stdout);
    return UC_OK;
}

const app_command app_command_help = {
    .name = "help",
    .usage = "[COMMAND] [--man | --completion bash|zsh]",
    .summary = "explain the commands",
    .description = "Prints an overview, the help of a command, the manual page, or a script that makes a "
                   "shell complete commands, options and their values.",
    .sections = sections,
    .args_size = sizeof(help_args),
    .most = 2,
    .run = run,
};
