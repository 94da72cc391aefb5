/* Help of options and commands. */
#include "app/help.h"

#include <ctype.h>
#include <string.h>

#define HELP_COLUMN 30
#define NAME_COLUMN 16 /* the least columns for the names of commands */
#define HELP_WIDTH 100
#define LARGE 1e6 /* bounds beyond it are not shown */

/* ---- one option ---- */

const char *app_option_argument(const uc_option *option)
{
    static const char *const by_type[] = {"", "N", "X", "", "TEXT", "SIZE", "X,Y"};
    if (option->argument)
        return option->argument;
    return option->type == UC_OPTION_CHOICE ? option->choices : by_type[option->type];
}

/* Whether to show the default: not if a flag is off by default, and not `none` if users never type that
 * word. */
static bool shows_default(const uc_option *option)
{
    if (!option->standard || (option->type == UC_OPTION_CHOICE && option->argument))
        return false;
    return option->type != UC_OPTION_FLAG || strcmp(option->standard, "off") != 0;
}

void app_option_note(const uc_option *option, char *text, size_t size)
{
    const bool number =
        option->type == UC_OPTION_COUNT || option->type == UC_OPTION_REAL || option->type == UC_OPTION_PAIR;
    const bool shown = shows_default(option);
    size_t length = 0;
    text[0] = 0;
    if (shown)
        length += (size_t)snprintf(text, size, "default %s", option->standard);
    const char *bound = option->above_low ? "above" : "at least";
    if (number && option->low > -LARGE && (option->low != 0 || option->above_low))
        length += (size_t)snprintf(text + length, size - length, "%s%s %.15g", length ? ", " : "", bound,
                                   option->low);
    if (number && option->high < LARGE)
        length += (size_t)snprintf(text + length, size - length, "%sat most %.15g", length ? ", " : "",
                                   option->high);
    if (option->unknown && !(shown && strcmp(option->standard, option->unknown) == 0))
        length +=
            (size_t)snprintf(text + length, size - length, "%sor %s", length ? ", " : "", option->unknown);
    if (option->automatic && !(shown && strcmp(option->standard, "auto") == 0))
        snprintf(text + length, size - length, "%sor auto", length ? ", " : "");
}

/* Prints words between column `from` and HELP_WIDTH; the cursor is at column `at`. */
static void print_wrapped(FILE *file, const char *text, size_t from, size_t at)
{
    while (*text) {
        const size_t length = strcspn(text, " ");
        if (at > from && at + 1 + length > HELP_WIDTH) {
            fprintf(file, "\n%*s", (int)from, "");
            at = from;
        } else if (at > from) {
            fputc(' ', file);
            at++;
        }
        fprintf(file, "%.*s", (int)length, text);
        at += length;
        text += length + (text[length] == ' ');
    }
    fputc('\n', file);
}

/* "-o, --output FILE" */
static void print_names(char *text, size_t size, const uc_option *option)
{
    const char *argument = app_option_argument(option);
    char letter[] = "   ";
    if (option->letter)
        memcpy(letter, (char[]){'-', option->letter, ','}, 3);
    const bool negatable =
        option->type == UC_OPTION_FLAG && option->standard && strcmp(option->standard, "off") != 0;
    int length = snprintf(text, size, "  %s --%s%s", letter, negatable ? "[no-]" : "", option->name);
    if (*argument && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, " %s", argument);
}

static void print_option(FILE *file, const uc_option *option)
{
    char left[128], note[128], text[640];
    const char *help = app_in_words(option->help ? option->help : "");
    print_names(left, sizeof left, option);
    app_option_note(option, note, sizeof note);
    if (*note)
        snprintf(text, sizeof text, "%s (%s)", help, note);
    else
        snprintf(text, sizeof text, "%s", help);
    if (strlen(left) + 1 >= HELP_COLUMN)
        fprintf(file, "%s\n%*s", left, HELP_COLUMN, "");
    else
        fprintf(file, "%-*s", HELP_COLUMN, left);
    print_wrapped(file, text, HELP_COLUMN, HELP_COLUMN);
}

void app_print_options(FILE *file, const uc_option *table)
{
    for (; table->name; table++)
        print_option(file, table);
}

/* ---- help of a command ---- */

static void print_members(FILE *file, const app_command *command)
{
    const app_family *family = command->family;
    fprintf(file, "\n%c%ss (%s %s NAME --help shows the options of one):\n",
            toupper((unsigned char)family->word[0]), family->word + 1, app_this_program.name, command->name);
    for (size_t i = 0; family->name(i); i++) {
        fprintf(file, "  %-*s", HELP_COLUMN - 2, family->name(i));
        print_wrapped(file, family->summary(i), HELP_COLUMN, HELP_COLUMN);
    }
}

void app_print_command_help(FILE *file, const app_call *call)
{
    const app_command *command = call->command;
    fprintf(file, "usage: %s %s %s\n\n", app_this_program.name, command->name, command->usage);
    print_wrapped(file, command->description, 0, 0);
    for (size_t i = 0; i < call->tables.count; i++) {
        const app_table *table = &call->tables.items[i];
        if (!table->settings)
            continue; /* tables of members, before one is chosen */
        fprintf(file, "\n%s%s:\n", table->settings == call->member_settings ? "Options of " : "",
                table->title);
        for (const uc_option *option = table->options; option->name; option++)
            if (!app_tables_has_earlier(&call->tables, i, option->name))
                print_option(file, option);
    }
    if (command->family && call->member == APP_NO_MEMBER)
        print_members(file, command);
}

void app_print_overview(FILE *file)
{
    const app_program *program = &app_this_program;
    fprintf(file, "%s %s: %s\n\nusage: %s COMMAND [options]\n\n", program->name, uc_version(), program->title,
            program->name);
    for (const app_command *const *command = program->commands; *command; command++)
        fprintf(file, "  %-*s%s\n", NAME_COLUMN, (*command)->name, (*command)->summary);
    fprintf(file, "\n%s\n", program->overview);
    for (const app_example *example = program->examples; example->about; example++) {
        fprintf(file, "\n%s\n", example->about);
        for (const char *line = example->commands; *line; line += strcspn(line, "\n") + 1)
            fprintf(file, "  %.*s\n", (int)strcspn(line, "\n"), line);
    }
}
