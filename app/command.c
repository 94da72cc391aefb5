#define _GNU_SOURCE
#include "app/command.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/memory.h"
#include "app/message.h"
#include "app/progress.h"

/* ---- messages ---- */

void app_detail(const app_call *call, const char *format, ...)
{
    if (!call->common.verbose)
        return;
    va_list arguments;
    va_start(arguments, format);
    app_say_list("", format, arguments);
    va_end(arguments);
}

FILE *app_findings(const app_call *call, const char *output)
{
    if (call->common.json || !app_is_first())
        return NULL;
    app_progress_end();
    const bool taken = call->standard_output || (output && strcmp(output, "-") == 0);
    return taken ? stderr : stdout;
}

FILE *app_summary(const app_call *call, const char *output)
{
    return call->common.quiet ? NULL : app_findings(call, output);
}

/* ---- families ---- */

size_t app_family_find(const app_family *self, const char *name)
{
    for (size_t i = 0; self->name(i); i++)
        if (strcmp(self->name(i), name) == 0)
            return i;
    return APP_NO_MEMBER;
}

static const char *member_name(size_t i, const void *user)
{
    return ((const app_family *)user)->name(i);
}

uc_status app_refuse_member(const app_family *family, const char *name)
{
    const char *nearest = uc_names_nearest(name, member_name, family);
    if (!nearest && family->standard)
        return app_fail(UC_ERR_OPTION,
                        "there is no %s called %s; %s %s lists them, and %s is the one to begin with",
                        family->word, name, app_this_program.name, family->lists, family->standard);
    if (!nearest)
        return app_fail(UC_ERR_OPTION, "there is no %s called %s; %s %s lists them", family->word, name,
                        app_this_program.name, family->lists);
    return app_fail(UC_ERR_OPTION, "there is no %s called %s; did you mean %s? (%s %s lists them)",
                    family->word, name, nearest, app_this_program.name, family->lists);
}

/* Whether the word looks like a file: it exists, or has a dot or slash, which no member's name has. */
static bool looks_like_data(const char *word)
{
    return strcmp(word, "-") == 0 || strpbrk(word, "./") || access(word, F_OK) == 0;
}

/* ---- the tables of a call ---- */

#define COMMON(field) offsetof(app_common, field)
const uc_option app_common_options[] = {
    {.name = "seed",
     .type = UC_OPTION_COUNT,
     .offset = COMMON(seed),
     .standard = "1",
     .high = 0x1p63,
     .help = "seed of all random numbers; the same seed gives the same bytes"},
    {.name = "threads",
     .type = UC_OPTION_COUNT,
     .offset = COMMON(threads),
     .standard = "0",
     .high = 4096,
     .help = "threads to use, 0: all cores; the result does not depend on it"},
    {.name = "memory",
     .type = UC_OPTION_BYTES,
     .offset = COMMON(memory),
     .standard = "0",
     .argument = "SIZE",
     .help = "memory that may be used, such as 512M or 4G; 0: all of the machine's"},
    {.name = "json",
     .type = UC_OPTION_FLAG,
     .offset = COMMON(json),
     .standard = "off",
     .help = "print one JSON object on standard output and nothing else"},
    {.name = "quiet",
     .letter = 'q',
     .type = UC_OPTION_FLAG,
     .offset = COMMON(quiet),
     .standard = "off",
     .help = "print neither progress nor a summary of what was written; results on standard output, as those "
             "of evaluate, and warnings stay"},
    {.name = "verbose",
     .type = UC_OPTION_FLAG,
     .offset = COMMON(verbose),
     .standard = "off",
     .help = "print details on standard error: the program's version, the files read, times"},
    {.name = "help",
     .letter = 'h',
     .type = UC_OPTION_FLAG,
     .offset = COMMON(help),
     .standard = "off",
     .help = "print this help"},
    {0},
};

const uc_option app_report_options[] = {
    {.name = "html",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(app_report, html),
     .argument = "FILE",
     .help = "write a report for people to look at: one HTML file that needs no network"},
    {0},
};

static void add_members(app_tables *out, const app_family *family)
{
    for (size_t i = 0; family->name(i); i++)
        app_tables_add(out, family->name(i), family->options(i), NULL);
}

void app_command_tables(app_tables *out, const app_command *command)
{
    for (const app_section *section = command->sections; section->title; section++)
        app_tables_add(out, section->title, section->table, NULL);
    if (command->family)
        add_members(out, command->family);
    app_tables_add(out, "Common options", app_common_options, NULL);
}

static void find_tables(app_call *call)
{
    const app_family *family = call->command->family;
    app_tables_free(&call->tables);
    for (const app_section *section = call->command->sections; section->title; section++)
        app_tables_add(&call->tables, section->title, section->table, (char *)call->args + section->offset);
    if (family && call->member != APP_NO_MEMBER)
        app_tables_add(&call->tables, family->name(call->member), family->options(call->member),
                       call->member_settings);
    else if (family)
        add_members(&call->tables, family);
    app_tables_add(&call->tables, "Common options", app_common_options, &call->common);
}

/* Whether the option names a file to write, judged by its name. */
static bool names_output(const char *name)
{
    static const char *const others[] = {"output", "check-worst", "csv", "latex"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    return length > 4 && strcmp(name + length - 4, "-out") == 0;
}

static uc_status set_option(app_call *call, const uc_option *option, const char *value)
{
    const uc_status status = app_tables_set(&call->tables, option, value);
    if (status != UC_OK)
        return status;
    if (call->standard_output == option)
        call->standard_output = NULL; /* if it is given several times, the last one counts */
    if (names_output(option->name) && strcmp(value, "-") == 0)
        call->standard_output = option;
    call->given = app_realloc(call->given, call->given_count + 1, sizeof *call->given);
    call->given[call->given_count++] = option;
    return UC_OK;
}

bool app_given(const app_call *call, const char *option)
{
    for (size_t i = 0; i < call->given_count; i++)
        if (strcmp(call->given[i]->name, option) == 0)
            return true;
    return false;
}

const char *app_html(const app_call *call)
{
    for (const app_section *section = call->command->sections; section->title; section++)
        if (section->table == app_report_options)
            return ((const app_report *)((const char *)call->args + section->offset))->html;
    return NULL;
}

bool app_wants_result(const app_call *call)
{
    return call->common.json || app_html(call);
}

/* ---- parsing ---- */

/* "pa, spa": the members that do have the option. */
static bool members_with(const app_family *family, const char *name, char *text, size_t size)
{
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; family && family->name(i); i++)
        if (uc_options_find(family->options(i), name) && length < size)
            length +=
                (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "", family->name(i));
    return length > 0;
}

/* Refuses an option that only other members have. */
static uc_status refuse_option(const char *name, const void *user)
{
    const app_call *call = user;
    char members[256];
    if (call->member == APP_NO_MEMBER || !members_with(call->command->family, name, members, sizeof members))
        return UC_OK;
    return app_fail(UC_ERR_OPTION, "--%s is not an option of %s, but of %s", name,
                    call->command->family->name(call->member), members);
}

/* The command that explains the options of the call; freed with free. */
static char *see(const app_call *call)
{
    const char *command = call->command->name;
    if (call->member == APP_NO_MEMBER)
        return app_text("%s help %s", app_this_program.name, command);
    return app_text("%s %s %s --help", app_this_program.name, command,
                    call->command->family->name(call->member));
}

/* Finds the first word, after options that may belong to any member; NULL: there is none. */
static uc_status first_word(const char **out, const app_call *call, int argc, char **argv)
{
    char *help = see(call);
    app_parser words = {.tables = &call->tables, .argc = argc, .argv = argv, .see = help};
    app_token found;
    uc_status status;
    do
        status = app_parser_next(&found, &words);
    while (status == UC_OK && found.option);
    *out = found.text;
    free(help);
    return status;
}

/* The first word chooses the member. */
static uc_status choose_member(app_call *call, int argc, char **argv)
{
    const app_family *family = call->command->family;
    const char *program = app_this_program.name, *word;
    const uc_status status = first_word(&word, call, argc, argv);
    if (status != UC_OK || !word)
        return status;
    size_t member = app_family_find(family, word);
    call->member_is_implied = member == APP_NO_MEMBER && family->standard && looks_like_data(word);
    if (call->member_is_implied)
        member = app_family_find(family, family->standard);
    if (member != APP_NO_MEMBER) {
        call->member_settings = app_calloc(1, family->settings_size(member));
        call->member = member;
        return UC_OK;
    }
    if (family->refuse && family->refuse(word) != UC_OK)
        return UC_ERR_OPTION;
    if (family->advice && looks_like_data(word))
        return app_fail(UC_ERR_OPTION,
                        "%s needs a %s before %s: try %s %s %s %s -o MODEL. %s; %s %s lists all",
                        call->command->name, family->word, word, program, call->command->name,
                        family->first_choice, word, family->advice, program, family->lists);
    return app_refuse_member(family, word);
}

/* Processes on one machine share its cores, unless they were started with cores assigned to each. */
static unsigned default_threads(void)
{
    cpu_set_t cores;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int processes = uc_comm_neighbours(app_comm);
    if (processes == 1 || sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) < online)
        return 0;
    return online > processes ? (unsigned)(online / processes) : 1;
}

/* Prints a repeated warning only once, for example if every fold of a cross-validation gives it. */
static void hear_warning(const char *sentence, void *user)
{
    static char last[256];
    (void)user;
    if (strncmp(last, sentence, sizeof last - 1) == 0)
        return;
    snprintf(last, sizeof last, "%s", sentence);
    app_warn("%s", app_in_words(sentence));
}

static uc_context make_context(const app_call *call)
{
    uc_context context = {.threads = (unsigned)call->common.threads,
                          .memory = call->common.memory,
                          .progress = app_progress,
                          .warn = hear_warning};
    if (context.threads == 0)
        context.threads = default_threads();
    if (call->command->shared)
        context.comm = app_comm;
    if (call->common.quiet || !app_is_first())
        context.progress = app_progress_silent;
    return context;
}

/* Reads options and words; *words also counts the family's word. */
static uc_status take_words(app_call *call, size_t *words, app_parser *parser)
{
    for (;;) {
        app_token found;
        uc_status status = app_parser_next(&found, parser);
        if (status != UC_OK || !found.text)
            return status;
        if (found.option)
            status = set_option(call, found.option, found.text);
        else if ((*words)++ > 0 || !call->command->family)
            call->words[call->word_count++] = found.text;
        if (status != UC_OK)
            return status;
    }
}

uc_status app_refuse_standard_output(const app_call *call, const char *other)
{
    const uc_option *taken = call->standard_output;
    if (taken->letter)
        return app_fail(UC_ERR_OPTION, "%s and -%c - both want standard output", other, taken->letter);
    return app_fail(UC_ERR_OPTION, "%s and --%s - both want standard output", other, taken->name);
}

static uc_status check_words(const app_call *call, size_t words)
{
    const app_command *command = call->command;
    const char *program = app_this_program.name;
    if (call->common.json && call->standard_output)
        return app_refuse_standard_output(call, "--json");
    if (words < command->least)
        return app_fail(UC_ERR_OPTION, "an argument is missing; usage: %s %s %s", program, command->name,
                        command->usage);
    if (words > command->most)
        return app_fail(UC_ERR_OPTION, "unexpected argument %s; usage: %s %s %s",
                        call->words[call->word_count - (words - command->most)], program, command->name,
                        command->usage);
    return UC_OK;
}

uc_status app_parse(app_call *call, const app_command *command, int argc, char **argv)
{
    *call = (app_call){.command = command, .member = APP_NO_MEMBER};
    call->args = app_calloc(command->args_size, 1);
    call->words = app_calloc((size_t)argc + 1, sizeof *call->words);
    find_tables(call);
    if (command->family) {
        const uc_status status = choose_member(call, argc, argv);
        if (status != UC_OK)
            return status;
        find_tables(call);
    }
    app_tables_defaults(&call->tables);

    char *help = see(call);
    size_t words = call->member_is_implied; /* it counts as a word */
    app_parser parser = {.tables = &call->tables,
                         .argc = argc,
                         .argv = argv,
                         .see = help,
                         .refuse = refuse_option,
                         .user = call};
    uc_status status = take_words(call, &words, &parser);
    free(help);
    if (status != UC_OK)
        return status;
    call->context = make_context(call);
    return call->common.help ? UC_OK : check_words(call, words);
}

void app_call_free(app_call *call)
{
    app_tables_free(&call->tables);
    free(call->typed);
    free(call->args);
    free(call->member_settings);
    free(call->words);
    free(call->given);
    json_decref(call->result);
}

/* ---- commands ---- */

static const char *command_name(size_t i, const void *user)
{
    (void)user;
    return app_this_program.commands[i] ? app_this_program.commands[i]->name : NULL;
}

/* The second words that may follow `first`, as in "make, apply or estimate"; false: no command begins with
 * it. */
static bool second_words(const char *first, char *text, size_t size)
{
    const size_t skip = strlen(first);
    const char *last = NULL; /* the word that is not yet in the text */
    size_t length = 0;
    text[0] = 0;
    for (const app_command *const *command = app_this_program.commands; *command && length < size;
         command++) {
        if (strncmp((*command)->name, first, skip) != 0 || (*command)->name[skip] != ' ')
            continue;
        if (last)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "", last);
        last = (*command)->name + skip + 1;
    }
    if (last && length < size)
        snprintf(text + length, size - length, "%s%s", length ? " or " : "", last);
    return last != NULL;
}

uc_status app_refuse_command(const char *name)
{
    char seconds[256];
    const char *program = app_this_program.name;
    if (second_words(name, seconds, sizeof seconds))
        return app_fail(UC_ERR_OPTION, "%s must be followed by %s; see %s help %s", name, seconds, program,
                        name);
    const char *nearest = uc_names_nearest(name, command_name, NULL);
    const char *instead = app_habit_find(app_this_program.commands_elsewhere, name);
    if (instead)
        return app_fail(UC_ERR_OPTION, "there is no command called %s; it is %s %s here (%s help lists all)",
                        name, program, instead, program);
    if (!nearest)
        return app_fail(UC_ERR_OPTION, "there is no command called %s; %s help lists them", name, program);
    return app_fail(UC_ERR_OPTION, "there is no command called %s; did you mean %s? (%s help lists them)",
                    name, nearest, program);
}

const app_command *app_command_find(const char *first, const char *second, int *words_used)
{
    for (const app_command *const *command = app_this_program.commands; *command; command++) {
        const char *name = (*command)->name;
        const size_t length = strcspn(name, " ");
        if (strncmp(name, first, length) != 0 || first[length] != 0)
            continue;
        const bool two = name[length] == ' ';
        if (two && (!second || strcmp(name + length + 1, second) != 0))
            continue;
        *words_used = 1 + two;
        return *command;
    }
    return NULL;
}
