/* The manual page, in roff. */
#include <ctype.h>

#include "app/help.h"

/* Prints text for roff: escapes hyphens and backslashes, and a first character that would make it a
 * request. */
static void roff(FILE *file, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", file);
    for (; *text; text++) {
        if (*text == '-')
            fputs("\\-", file);
        else if (*text == '\\')
            fputs("\\e", file);
        else
            fputc(*text, file);
    }
}

static void roff_item(FILE *file, app_item item)
{
    fputs(".TP\n\\fB", file);
    roff(file, item.name);
    fputs("\\fR\n", file);
    roff(file, item.text);
    fputc('\n', file);
}

static void roff_option(FILE *file, const uc_option *option)
{
    char note[128];
    app_option_note(option, note, sizeof note);
    fputs(".TP\n", file);
    if (option->letter)
        fprintf(file, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", file);
    roff(file, option->name);
    fputs("\\fR", file);
    if (*app_option_argument(option)) {
        fputs(" \\fI", file);
        roff(file, app_option_argument(option));
        fputs("\\fR", file);
    }
    fputc('\n', file);
    roff(file, app_in_words(option->help ? option->help : ""));
    if (*note) {
        fputs(" (", file);
        roff(file, note);
        fputc(')', file);
    }
    fputc('\n', file);
}

static void roff_options(FILE *file, const uc_option *option)
{
    for (; option->name; option++)
        roff_option(file, option);
}

static bool is_shared(const uc_option *table)
{
    size_t users = 0;
    for (const app_command *const *command = app_this_program.commands; *command; command++)
        for (const app_section *section = (*command)->sections; section->title; section++)
            users += section->table == table;
    return users > 1;
}

static void roff_command(FILE *file, const app_command *command)
{
    fputs(".SS ", file);
    roff(file, command->name);
    fputs("\n\\fB", file);
    roff(file, app_this_program.name);
    fputc(' ', file);
    roff(file, command->name);
    fputs("\\fR ", file);
    roff(file, command->usage);
    fputs("\n.PP\n", file);
    roff(file, command->description);
    fputc('\n', file);
    for (const app_section *section = command->sections; section->title; section++)
        if (!is_shared(section->table))
            roff_options(file, section->table);
    const char *before = ".PP\nSee also below: ";
    for (const app_section *section = command->sections; section->title; section++)
        if (is_shared(section->table)) {
            fprintf(file, "%s%s", before, section->title);
            before = ", ";
        }
    fputs(*before == ',' ? ".\n" : "", file);
}

/* Prints the tables that several commands use, each once. */
static void roff_shared(FILE *file)
{
    const uc_option *seen[16];
    size_t count = 0;
    for (const app_command *const *command = app_this_program.commands; *command; command++)
        for (const app_section *section = (*command)->sections; section->title; section++) {
            bool known = !is_shared(section->table);
            for (size_t i = 0; i < count; i++)
                known = known || seen[i] == section->table;
            if (known || count == sizeof seen / sizeof *seen)
                continue;
            seen[count++] = section->table;
            fprintf(file, ".SS %s\n", section->title);
            roff_options(file, section->table);
        }
}

static void roff_family(FILE *file, const app_family *family)
{
    fputs(".SH ", file);
    for (const char *c = family->word; *c; c++)
        fputc(toupper((unsigned char)*c), file);
    fputs("S\n", file);
    for (size_t i = 0; family->name(i); i++) {
        fputs(".SS ", file);
        roff(file, family->name(i));
        fputc('\n', file);
        roff(file, family->summary(i));
        fputc('\n', file);
        roff_options(file, family->options(i));
    }
}

static void roff_title(FILE *file)
{
    const app_program *program = &app_this_program;
    fputs(".TH ", file);
    for (const char *c = program->name; *c; c++)
        if (*c == '-')
            fputs("\\-", file);
        else
            fputc(toupper((unsigned char)*c), file);
    fprintf(file, " 1 %s \"unconfuse %s\" \"User Commands\"\n.SH NAME\n", program->manual_date, uc_version());
    roff(file, program->name);
    fputs(" \\- ", file);
    roff(file, program->manual_name);
    fputs("\n.SH SYNOPSIS\n\\fB", file);
    roff(file, program->name);
    fputs("\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\n", file);
    fputs(program->manual, file);
}

static void roff_examples(FILE *file)
{
    const app_example *examples = app_this_program.examples;
    fputs(".SH EXAMPLES\n", file);
    for (const app_example *example = examples; example->about; example++) {
        fputs(example == examples ? "" : ".PP\n", file);
        roff(file, example->about);
        fputs("\n.PP\n.nf\n.RS\n", file);
        roff(file, example->commands);
        fputs(".RE\n.fi\n", file);
    }
}

void app_print_manual(FILE *file)
{
    const app_program *program = &app_this_program;
    roff_title(file);
    fputs(".SH COMMANDS\n", file);
    for (const app_command *const *command = program->commands; *command; command++)
        roff_command(file, *command);
    fputs(".SH OPTIONS\n.SS Common options\n", file);
    roff_options(file, app_common_options);
    roff_shared(file);
    for (const app_family *const *family = program->families; family && *family; family++)
        roff_family(file, *family);
    if (program->list)
        fprintf(file, ".SH %s\n", program->list_title);
    for (size_t i = 0; program->list && program->list(i).name; i++)
        roff_item(file, program->list(i));
    fputs(".SH EXIT STATUS\n", file);
    roff(file, program->exit_statuses);
    fputs("\n.SH ENVIRONMENT\n", file);
    for (const app_item *variable = program->environment; variable->name; variable++)
        roff_item(file, *variable);
    roff_examples(file);
    if (program->see_also)
        fprintf(file, ".SH SEE ALSO\n%s\n", program->see_also);
}
