/* Reading a command line by option tables, and saying what went wrong. */
#define _GNU_SOURCE
#include "cli.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- several processes ---- */

const uc_comm *cli_comm;

bool cli_is_first(void)
{
    return uc_comm_rank(cli_comm) == 0;
}

/* Processes on one machine share its cores, unless whoever started them has dealt the cores out. */
static unsigned default_threads(void)
{
    cpu_set_t cores;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int processes = uc_comm_neighbours(cli_comm);
    if (processes == 1 || sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) < online)
        return 0;
    return online > processes ? (unsigned)(online / processes) : 1;
}

/* ---- saying things ---- */

static char own_error[1024];

uc_status cli_fail(uc_status status, const char *format, ...)
{
    char text[sizeof own_error]; /* the last sentence may be part of this one */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    uc_printable(own_error, sizeof own_error, text);
    return status;
}

uc_status cli_fail_in(uc_status status, const char *file)
{
    const char *sentence = cli_last_error(), *rest = strstr(sentence, ": ");
    if (strncmp(sentence, "rank ", 5) == 0 && rest)
        return cli_fail(status, "%.*s: %s%s", (int)(rest - sentence), sentence, file, rest);
    return cli_fail(status, "%s: %s", file, sentence);
}

const char *cli_in_words(const char *text)
{
    static char shown[2048];
    uc_message_render(shown, sizeof shown, text, UC_MESSAGE_COMMAND_LINE);
    return shown;
}

const char *cli_library_error(void)
{
    return cli_in_words(uc_last_error());
}

const char *cli_last_error(void)
{
    return own_error[0] ? own_error : cli_library_error();
}

/* The sentences that processes exchange here are the program's, with the options as they are typed. */
uc_status cli_agree(uc_status status)
{
    if (uc_comm_size(cli_comm) == 1)
        return status;
    const uc_status agreed = uc_comm_agree_on(cli_comm, status, cli_last_error());
    return agreed == UC_OK ? UC_OK : cli_fail(agreed, "%s", uc_last_error());
}

/* A line on standard error, without what a terminal might obey. */
static void say(const char *prefix, const char *format, va_list arguments) CLI_PRINTF(2, 0);
static void say(const char *prefix, const char *format, va_list arguments)
{
    char text[4096], shown[4096];
    vsnprintf(text, sizeof text, format, arguments);
    uc_printable(shown, sizeof shown, text);
    fprintf(stderr, "%s%s\n", prefix, shown);
}

void cli_warn(const char *format, ...)
{
    va_list arguments;
    if (!cli_is_first())
        return;
    cli_progress_end();
    va_start(arguments, format);
    say("unconfuse: warning: ", format, arguments);
    va_end(arguments);
}

void cli_detail(const cli_call *call, const char *format, ...)
{
    if (!call->common.verbose || !cli_is_first())
        return;
    va_list arguments;
    cli_progress_end();
    va_start(arguments, format);
    say("unconfuse: ", format, arguments);
    va_end(arguments);
}

FILE *cli_summary(const cli_call *call, const char *output)
{
    if (call->common.json || call->common.quiet || !cli_is_first())
        return NULL;
    cli_progress_end();
    return output && strcmp(output, "-") == 0 ? stderr : stdout;
}

/* ---- memory ---- */

static _Noreturn void give_up(size_t count, size_t size)
{
    cli_output_discard();
    fprintf(stderr, "unconfuse: not enough memory for %zu times %zu bytes\n", count, size);
    exit(1);
}

void *cli_realloc(void *block, size_t count, size_t size)
{
    void *result = reallocarray(block, count ? count : 1, size);
    if (!result)
        give_up(count, size);
    return result;
}

void *cli_calloc(size_t count, size_t size)
{
    void *result = calloc(count ? count : 1, size);
    if (!result)
        give_up(count, size);
    return result;
}

static void *json_alloc(size_t size)
{
    return cli_realloc(NULL, size, 1);
}

void cli_own_json_memory(void)
{
    json_set_alloc_funcs(json_alloc, free);
}

/* ---- families ---- */

static const char *learner_name(size_t i)
{
    const uc_learner *learner = uc_learner_at(i);
    return learner ? uc_learner_name(learner) : NULL;
}

static const char *learner_summary(size_t i)
{
    return cli_in_words(uc_learner_summary(uc_learner_at(i)));
}

static const uc_option *learner_options(size_t i)
{
    return uc_learner_options(uc_learner_at(i));
}

static size_t learner_settings_size(size_t i)
{
    return uc_learner_settings_size(uc_learner_at(i));
}

static const char *generator_name(size_t i)
{
    const uc_generator *generator = uc_generator_at(i);
    return generator ? uc_generator_name(generator) : NULL;
}

static const char *generator_summary(size_t i)
{
    return cli_in_words(uc_generator_summary(uc_generator_at(i)));
}

static const uc_option *generator_options(size_t i)
{
    return uc_generator_options(uc_generator_at(i));
}

static size_t generator_settings_size(size_t i)
{
    return uc_generator_settings_size(uc_generator_at(i));
}

const cli_family cli_learners = {
    .word = "learner",
    .name = learner_name,
    .summary = learner_summary,
    .options = learner_options,
    .settings_size = learner_settings_size,
    .lists = "learners",
    .advice = "Use logistic for labels that are clean or confused with one another, sloppy-svm for two "
              "classes with flipped labels, s3vm for few labels",
    .first_choice = "logistic",
};
const cli_family cli_generators = {
    .word = "generator",
    .name = generator_name,
    .summary = generator_summary,
    .options = generator_options,
    .settings_size = generator_settings_size,
    .lists = "generate",
};

size_t cli_family_find(const cli_family *self, const char *name)
{
    for (size_t i = 0; self->name(i); i++)
        if (strcmp(self->name(i), name) == 0)
            return i;
    return CLI_NO_MEMBER;
}

static size_t family_count(const cli_family *self)
{
    size_t count = 0;
    while (self->name(count))
        count++;
    return count;
}

/* ---- the tables of a call ---- */

#define COMMON(field) offsetof(cli_common, field)
const uc_option cli_common_options[] = {
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
     .help = "print neither progress nor a summary"},
    {.name = "verbose",
     .type = UC_OPTION_FLAG,
     .offset = COMMON(verbose),
     .standard = "off",
     .help = "print more on standard error"},
    {.name = "help",
     .letter = 'h',
     .type = UC_OPTION_FLAG,
     .offset = COMMON(help),
     .standard = "off",
     .help = "print this help"},
    {0},
};

const uc_option *cli_table_at(const cli_call *call, size_t i, const char **title, void **settings)
{
    const cli_family *family = call->command->family;
    for (const cli_section *section = call->command->sections; section->title; section++, i--)
        if (i == 0) {
            *title = section->title;
            *settings = (char *)call->args + section->offset;
            return section->table;
        }
    if (family && call->member != CLI_NO_MEMBER) {
        if (i-- == 0) {
            *title = family->name(call->member);
            *settings = call->member_settings;
            return family->options(call->member);
        }
    } else if (family) {
        const size_t members = family_count(family);
        if (i < members) {
            *title = family->name(i);
            *settings = NULL;
            return family->options(i);
        }
        i -= members;
    }
    *title = "Common options";
    *settings = (void *)&call->common;
    return i == 0 ? cli_common_options : NULL;
}

static const uc_option *find_name(const cli_call *call, const char *name)
{
    const char *title;
    void *settings;
    const uc_option *table, *option;
    for (size_t i = 0; (table = cli_table_at(call, i, &title, &settings)); i++)
        if ((option = uc_options_find(table, name)))
            return option;
    return NULL;
}

static const uc_option *find_letter(const cli_call *call, char letter)
{
    const char *title;
    void *settings;
    const uc_option *table;
    for (size_t i = 0; (table = cli_table_at(call, i, &title, &settings)); i++)
        for (; table->name; table++)
            if (table->letter == letter)
                return table;
    return NULL;
}

static uc_status set_everywhere(cli_call *call, const uc_option *option, const char *value)
{
    const char *title;
    void *settings;
    const uc_option *table;
    for (size_t i = 0; (table = cli_table_at(call, i, &title, &settings)); i++) {
        const uc_option *same = uc_options_find(table, option->name);
        const uc_status status = same && settings ? uc_option_set(same, settings, value) : UC_OK;
        if (status != UC_OK)
            return status;
    }
    if (strcmp(option->name, "output") == 0)
        call->writes_standard_output = strcmp(value, "-") == 0;
    call->given = cli_realloc(call->given, call->given_count + 1, sizeof *call->given);
    call->given[call->given_count++] = option;
    return UC_OK;
}

bool cli_given(const cli_call *call, const char *option)
{
    for (size_t i = 0; i < call->given_count; i++)
        if (strcmp(call->given[i]->name, option) == 0)
            return true;
    return false;
}

/* ---- an option that does not exist ---- */

/* "pa, spa": the members that do have the option. */
static bool members_with(const cli_family *family, const char *name, char *text, size_t size)
{
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; family && family->name(i); i++)
        if (uc_options_find(family->options(i), name) && length < size)
            length +=
                (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "", family->name(i));
    return length > 0;
}

/* The i-th option of all tables. */
static const char *option_name(size_t i, const void *user)
{
    const cli_call *call = user;
    const char *title;
    void *settings;
    const uc_option *table;
    for (size_t t = 0; (table = cli_table_at(call, t, &title, &settings)); t++)
        for (; table->name; table++)
            if (i-- == 0)
                return table->name;
    return NULL;
}

static uc_status refuse_name(const cli_call *call, const char *name)
{
    char members[256];
    if (call->member != CLI_NO_MEMBER && members_with(call->command->family, name, members, sizeof members))
        return cli_fail(UC_ERR_OPTION, "--%s is not an option of %s, but of %s", name,
                        call->command->family->name(call->member), members);
    const char *nearest = uc_names_nearest(name, option_name, call);
    if (!nearest && strncmp(name, "no-", 3) == 0)
        nearest = uc_names_nearest(name + 3, option_name, call);
    if (!nearest && call->member != CLI_NO_MEMBER)
        return cli_fail(UC_ERR_OPTION, "unknown option --%s; see unconfuse %s %s --help", name,
                        call->command->name, call->command->family->name(call->member));
    if (!nearest)
        return cli_fail(UC_ERR_OPTION, "unknown option --%s; see unconfuse help %s", name,
                        call->command->name);
    return cli_fail(UC_ERR_OPTION, "unknown option --%s; did you mean --%s?", name, nearest);
}

/* ---- walking over the words of a command line ---- */

typedef struct walker {
    int argc;
    char **argv;
    int at;
    const char *letters; /* the rest of a cluster such as -qj */
    bool only_words;     /* after -- */
} walker;

typedef struct token {
    const uc_option *option; /* NULL: a word */
    const char *text;        /* the option's value, or the word; NULL: the end */
} token;

static uc_status take_value(token *out, walker *self, const char *shown)
{
    if (self->at >= self->argc)
        return cli_fail(UC_ERR_OPTION, "%s needs a value", shown);
    out->text = self->argv[self->at++];
    return UC_OK;
}

static uc_status next_letter(token *out, walker *self, const cli_call *call)
{
    const char shown[] = {'-', *self->letters++, 0};
    out->option = find_letter(call, shown[1]);
    if (!out->option)
        return cli_fail(UC_ERR_OPTION, "unknown option %s; see unconfuse help %s", shown,
                        call->command->name);
    if (out->option->type == UC_OPTION_FLAG) {
        out->text = "on";
        return UC_OK;
    }
    out->text = self->letters;
    self->letters = NULL;
    return *out->text ? UC_OK : take_value(out, self, shown);
}

static uc_status next_name(token *out, walker *self, const cli_call *call, const char *argument)
{
    char name[64];
    const size_t length = strcspn(argument, "=");
    const bool valued = argument[length] == '=';
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), argument);
    out->option = find_name(call, name);
    if (!out->option && strncmp(name, "no-", 3) == 0) {
        out->option = find_name(call, name + 3);
        if (!out->option || out->option->type != UC_OPTION_FLAG || valued)
            return refuse_name(call, name);
        out->text = "off";
        return UC_OK;
    }
    if (!out->option)
        return refuse_name(call, name);
    out->text = valued ? argument + length + 1 : "on";
    if (valued || out->option->type == UC_OPTION_FLAG)
        return UC_OK;
    return take_value(out, self, self->argv[self->at - 1]);
}

static uc_status next_token(token *out, walker *self, const cli_call *call)
{
    *out = (token){NULL, NULL};
    if (self->letters && *self->letters)
        return next_letter(out, self, call);
    if (self->at >= self->argc)
        return UC_OK;
    const char *argument = self->argv[self->at++];
    if (self->only_words || argument[0] != '-' || argument[1] == 0) {
        out->text = argument;
        return UC_OK;
    }
    if (argument[1] != '-') {
        self->letters = argument + 1;
        return next_letter(out, self, call);
    }
    if (argument[2] != 0)
        return next_name(out, self, call, argument + 2);
    self->only_words = true;
    return next_token(out, self, call);
}

/* ---- parsing ---- */

static const char *member_name(size_t i, const void *user)
{
    return ((const cli_family *)user)->name(i);
}

uc_status cli_refuse_member(const cli_family *family, const char *name)
{
    const char *nearest = uc_names_nearest(name, member_name, family);
    if (!nearest)
        return cli_fail(UC_ERR_OPTION, "there is no %s called %s; unconfuse %s lists them", family->word,
                        name, family->lists);
    return cli_fail(UC_ERR_OPTION, "there is no %s called %s; did you mean %s? (unconfuse %s lists them)",
                    family->word, name, nearest, family->lists);
}

/* No member is called so, and nobody calls data otherwise. */
static bool looks_like_data(const char *word)
{
    return strcmp(word, "-") == 0 || strpbrk(word, "./") || access(word, F_OK) == 0;
}

/* The first word chooses the member; options before it may be those of any. */
static uc_status choose_member(cli_call *call, int argc, char **argv)
{
    const cli_family *family = call->command->family;
    walker walk = {.argc = argc, .argv = argv};
    token found;
    do {
        const uc_status status = next_token(&found, &walk, call);
        if (status != UC_OK)
            return status;
    } while (found.option);
    if (!found.text)
        return UC_OK;
    const size_t member = cli_family_find(family, found.text);
    if (member == CLI_NO_MEMBER && family->refuse && family->refuse(found.text) != UC_OK)
        return UC_ERR_OPTION;
    if (member == CLI_NO_MEMBER && family->advice && looks_like_data(found.text))
        return cli_fail(
            UC_ERR_OPTION,
            "%s needs a %s before %s: try unconfuse %s %s %s -o MODEL. %s; unconfuse %s lists all",
            call->command->name, family->word, found.text, call->command->name, family->first_choice,
            found.text, family->advice, family->lists);
    if (member == CLI_NO_MEMBER)
        return cli_refuse_member(family, found.text);
    call->member_settings = cli_calloc(1, family->settings_size(member));
    call->member = member;
    return UC_OK;
}

static void set_defaults(cli_call *call)
{
    const char *title;
    void *settings;
    const uc_option *table;
    for (size_t i = 0; (table = cli_table_at(call, i, &title, &settings)); i++)
        if (settings)
            uc_options_defaults(table, settings);
}

/* Once is enough, also when it comes from every fold of a cross-validation. */
static void hear_warning(const char *sentence, void *user)
{
    static char last[256];
    (void)user;
    if (strncmp(last, sentence, sizeof last - 1) == 0)
        return;
    snprintf(last, sizeof last, "%s", sentence);
    cli_warn("%s", cli_in_words(sentence));
}

uc_status cli_parse(cli_call *call, const cli_command *command, int argc, char **argv)
{
    *call = (cli_call){.command = command, .member = CLI_NO_MEMBER};
    call->args = cli_calloc(1, command->args_size ? command->args_size : 1);
    call->words = cli_calloc((size_t)argc + 1, sizeof *call->words);
    uc_status status = command->family ? choose_member(call, argc, argv) : UC_OK;
    if (status != UC_OK)
        return status;
    set_defaults(call);

    walker walk = {.argc = argc, .argv = argv};
    size_t words = 0;
    for (;;) {
        token found;
        status = next_token(&found, &walk, call);
        if (status == UC_OK && !found.text)
            break;
        if (status == UC_OK && found.option)
            status = set_everywhere(call, found.option, found.text);
        if (status != UC_OK)
            return status;
        if (!found.option && (words++ > 0 || !command->family))
            call->words[call->word_count++] = found.text;
    }
    const bool silent = call->common.quiet || !cli_is_first();
    call->context =
        (uc_context){.threads = call->common.threads ? (unsigned)call->common.threads : default_threads(),
                     .memory = call->common.memory,
                     .comm = command->shared ? cli_comm : NULL,
                     .progress = silent ? cli_progress_silent : cli_progress,
                     .warn = hear_warning};
    if (call->common.help)
        return UC_OK;
    if (call->common.json && call->writes_standard_output)
        return cli_fail(UC_ERR_OPTION, "--json and -o - both want standard output");
    if (words < command->least)
        return cli_fail(UC_ERR_OPTION, "an argument is missing; usage: unconfuse %s %s", command->name,
                        command->usage);
    if (words > command->most)
        return cli_fail(UC_ERR_OPTION, "unexpected argument %s; usage: unconfuse %s %s",
                        call->words[call->word_count - (words - command->most)], command->name,
                        command->usage);
    return UC_OK;
}

void cli_call_free(cli_call *call)
{
    free(call->args);
    free(call->member_settings);
    free(call->words);
    free(call->given);
    json_decref(call->result);
}

static const char *command_name(size_t i, const void *user)
{
    (void)user;
    return cli_commands[i] ? cli_commands[i]->name : NULL;
}

uc_status cli_refuse_command(const char *name)
{
    char seconds[128] = ""; /* all but the last */
    const char *last = NULL;
    size_t length = 0;
    const size_t skip = strlen(name);
    for (const cli_command *const *command = cli_commands; *command && length < sizeof seconds; command++) {
        if (strncmp((*command)->name, name, skip) != 0 || (*command)->name[skip] != ' ')
            continue;
        if (last)
            length +=
                (size_t)snprintf(seconds + length, sizeof seconds - length, "%s%s", length ? ", " : "", last);
        last = (*command)->name + skip + 1;
    }
    if (last)
        return cli_fail(UC_ERR_OPTION, "%s must be followed by %s%s%s; see unconfuse help %s", name, seconds,
                        length ? " or " : "", last, name);
    const char *nearest = uc_names_nearest(name, command_name, NULL);
    if (!nearest)
        return cli_fail(UC_ERR_OPTION, "there is no command called %s; unconfuse help lists them", name);
    return cli_fail(UC_ERR_OPTION,
                    "there is no command called %s; did you mean %s? (unconfuse help lists them)", name,
                    nearest);
}

const cli_command *cli_command_find(const char *first, const char *second, int *words_used)
{
    for (const cli_command *const *command = cli_commands; *command; command++) {
        const char *space = strchr((*command)->name, ' ');
        const size_t length = space ? (size_t)(space - (*command)->name) : strlen((*command)->name);
        if (strncmp((*command)->name, first, length) != 0 || first[length] != 0)
            continue;
        if (!space || (second && strcmp(space + 1, second) == 0)) {
            *words_used = space ? 2 : 1;
            return *command;
        }
    }
    return NULL;
}

uc_status cli_split_names(uc_names *out, const char *list, const char *option)
{
    uc_names names = {0};
    for (const char *name = list; name;) {
        const size_t length = strcspn(name, ","), before = names.count;
        uint32_t index;
        const uc_status status = uc_names_add(&index, &names, name, length);
        if (status != UC_OK || length == 0 || names.count == before) {
            uc_names_free(&names);
            return status != UC_OK ? status
                                   : cli_fail(UC_ERR_OPTION, "--%s %s: %s", option, list,
                                              length == 0 ? "a name is empty" : "a name occurs twice");
        }
        name = name[length] ? name + length + 1 : NULL;
    }
    *out = names;
    return UC_OK;
}
