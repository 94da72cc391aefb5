/* Help, manual page and completion, all from the option tables. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define HELP_COLUMN 30
#define HELP_WIDTH 100
#define LARGE 1e6 /* bounds beyond it are not shown */

/* From a noisy file to a model and the labels to look at again. A test runs the commands as they are printed. */
static const struct example {
    const char *about, *commands; /* one command per line */
} examples[] = {
    {"A noisy file to begin with, or bring your own:",
     "unconfuse generate cspa-gaussians --test test.svm -o clean.svm\n"
     "unconfuse noise make random --classes 4 --level 5 -o true-noise.csv\n"
     "unconfuse noise apply clean.svm --noise-matrix true-noise.csv -o noisy.svm\n"},
    {"How its labels are confused, estimated from the noisy labels alone:",
     "unconfuse noise estimate noisy.svm --method self -o noise.csv\n"},
    {"A model that corrects for this noise, and its error on clean test data:",
     "unconfuse train logistic --noise-matrix noise.csv noisy.svm -o model.uc\n"
     "unconfuse evaluate model.uc test.svm\n"},
    {"The most suspicious labels first, with the probability that each is right:",
     "unconfuse predict model.uc noisy.svm --probabilities --suspect | head\n"},
};
#define EXAMPLES (sizeof examples / sizeof *examples)

static const char exit_statuses[] =
    "0: success. 1: failure, such as bad data or options that do not fit the data. 2: wrong usage, such "
    "as an unknown option or a value outside its bounds. 130 or 143: interrupted by Ctrl-C or SIGTERM.";

/* ---- one option ---- */

const char *cli_option_argument(const uc_option *option)
{
    static const char *const by_type[] = {"", "N", "X", "", "TEXT", "SIZE"};
    if (option->argument)
        return option->argument;
    return option->type == UC_OPTION_CHOICE ? option->choices : by_type[option->type];
}

void cli_option_note(const uc_option *option, char *text, size_t size)
{
    const bool number = option->type == UC_OPTION_COUNT || option->type == UC_OPTION_REAL;
    const bool off =
        option->type == UC_OPTION_FLAG && option->standard && strcmp(option->standard, "off") == 0;
    const bool unset =
        option->type == UC_OPTION_CHOICE && option->argument; /* `none`, which is not to be typed */
    const bool shown = option->standard && !off && !unset;
    size_t length = 0;
    text[0] = 0;
    if (shown)
        length += (size_t)snprintf(text, size, "default %s", option->standard);
    if (number && option->low > -LARGE && (option->low != 0 || option->above_low))
        length += (size_t)snprintf(text + length, size - length, "%s%s %.15g", length ? ", " : "",
                                   option->above_low ? "above" : "at least", option->low);
    if (number && option->high < LARGE)
        length += (size_t)snprintf(text + length, size - length, "%sat most %.15g", length ? ", " : "",
                                   option->high);
    if (option->automatic && !(shown && strcmp(option->standard, "auto") == 0))
        snprintf(text + length, size - length, "%sor auto", length ? ", " : "");
}

/* Words from column `from` to HELP_WIDTH; the cursor is at column `at`. */
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

static void print_option(FILE *file, const uc_option *option)
{
    char left[128], note[128], letter[] = {'-', option->letter, ',', 0};
    const char *argument = cli_option_argument(option);
    const bool negatable =
        option->type == UC_OPTION_FLAG && option->standard && strcmp(option->standard, "off") != 0;
    snprintf(left, sizeof left, "  %3s --%s%s%s%s", option->letter ? letter : "", negatable ? "[no-]" : "",
             option->name, *argument ? " " : "", argument);
    cli_option_note(option, note, sizeof note);
    char text[512];
    snprintf(text, sizeof text, "%s%s%s%s", cli_in_words(option->help ? option->help : ""), *note ? " (" : "",
             note, *note ? ")" : "");
    if (strlen(left) + 1 >= HELP_COLUMN)
        fprintf(file, "%s\n%*s", left, HELP_COLUMN, "");
    else
        fprintf(file, "%-*s", HELP_COLUMN, left);
    print_wrapped(file, text, HELP_COLUMN, HELP_COLUMN);
}

void cli_print_options(FILE *file, const uc_option *table)
{
    for (; table->name; table++)
        print_option(file, table);
}

/* Whether an earlier table of the call has an option of that name, which is then the one that counts. */
static bool shadowed(const cli_call *call, size_t table_index, const char *name)
{
    const char *title;
    void *settings;
    for (size_t i = 0; i < table_index; i++)
        if (uc_options_find(cli_table_at(call, i, &title, &settings), name))
            return true;
    return false;
}

/* ---- help of a command ---- */

void cli_print_command_help(FILE *file, const cli_call *call)
{
    const cli_command *command = call->command;
    const char *title;
    void *settings;
    const uc_option *table;
    fprintf(file, "usage: unconfuse %s %s\n\n", command->name, command->usage);
    print_wrapped(file, command->description, 0, 0);
    for (size_t i = 0; (table = cli_table_at(call, i, &title, &settings)); i++) {
        if (!settings)
            continue; /* members, before one is chosen */
        fprintf(file, "\n%s%s:\n", settings == call->member_settings ? "Options of " : "", title);
        for (; table->name; table++)
            if (!shadowed(call, i, table->name))
                print_option(file, table);
    }
    if (!command->family || call->member != CLI_NO_MEMBER)
        return;
    fprintf(file, "\n%c%ss (unconfuse %s NAME --help shows the options of one):\n",
            toupper((unsigned char)command->family->word[0]), command->family->word + 1, command->name);
    for (size_t i = 0; command->family->name(i); i++) {
        fprintf(file, "  %-*s", HELP_COLUMN - 2, command->family->name(i));
        print_wrapped(file, command->family->summary(i), HELP_COLUMN, HELP_COLUMN);
    }
}

void cli_print_overview(FILE *file)
{
    fprintf(file,
            "unconfuse %s: classifiers from labels that cannot be trusted\n\n"
            "usage: unconfuse COMMAND [options]\n\n",
            uc_version());
    for (const cli_command *const *command = cli_commands; *command; command++)
        fprintf(file, "  %-16s%s\n", (*command)->name, (*command)->summary);
    fputs("\nunconfuse help COMMAND explains a command. A file named - is standard input or output.\n", file);
    for (size_t i = 0; i < EXAMPLES; i++) {
        fprintf(file, "\n%s\n", examples[i].about);
        for (const char *line = examples[i].commands; *line; line += strcspn(line, "\n") + 1)
            fprintf(file, "  %.*s\n", (int)strcspn(line, "\n"), line);
    }
}

/* ---- manual page ---- */

/* Text of a roff line: a hyphen that is typed, a backslash, and no request by accident. */
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

static void roff_option(FILE *file, const uc_option *option)
{
    char note[128];
    cli_option_note(option, note, sizeof note);
    fputs(".TP\n", file);
    if (option->letter)
        fprintf(file, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", file);
    roff(file, option->name);
    fputs("\\fR", file);
    if (*cli_option_argument(option)) {
        fputs(" \\fI", file);
        roff(file, cli_option_argument(option));
        fputs("\\fR", file);
    }
    fputc('\n', file);
    roff(file, cli_in_words(option->help ? option->help : ""));
    if (*note) {
        fputs(" (", file);
        roff(file, note);
        fputc(')', file);
    }
    fputc('\n', file);
}

static bool is_shared(const uc_option *table)
{
    size_t users = 0;
    for (const cli_command *const *command = cli_commands; *command; command++)
        for (const cli_section *section = (*command)->sections; section->title; section++)
            users += section->table == table;
    return users > 1;
}

static void roff_command(FILE *file, const cli_command *command)
{
    fputs(".SS ", file);
    roff(file, command->name);
    fputs("\n\\fBunconfuse ", file);
    roff(file, command->name);
    fputs("\\fR ", file);
    roff(file, command->usage);
    fputs("\n.PP\n", file);
    roff(file, command->description);
    fputc('\n', file);
    for (const cli_section *section = command->sections; section->title; section++)
        if (!is_shared(section->table))
            for (const uc_option *option = section->table; option->name; option++)
                roff_option(file, option);
    const char *before = ".PP\nSee also below: ";
    for (const cli_section *section = command->sections; section->title; section++)
        if (is_shared(section->table)) {
            fprintf(file, "%s%s", before, section->title);
            before = ", ";
        }
    fputs(*before == ',' ? ".\n" : "", file);
}

/* Tables that several commands use, each once. */
static void roff_shared(FILE *file)
{
    const uc_option *seen[16];
    size_t count = 0;
    for (const cli_command *const *command = cli_commands; *command; command++)
        for (const cli_section *section = (*command)->sections; section->title; section++) {
            bool known = !is_shared(section->table);
            for (size_t i = 0; i < count; i++)
                known = known || seen[i] == section->table;
            if (known || count == sizeof seen / sizeof *seen)
                continue;
            seen[count++] = section->table;
            fprintf(file, ".SS %s\n", section->title);
            for (const uc_option *option = section->table; option->name; option++)
                roff_option(file, option);
        }
}

static void roff_family(FILE *file, const char *title, const cli_family *family)
{
    fprintf(file, ".SH %s\n", title);
    for (size_t i = 0; family->name(i); i++) {
        fputs(".SS ", file);
        roff(file, family->name(i));
        fputc('\n', file);
        roff(file, family->summary(i));
        fputc('\n', file);
        for (const uc_option *option = family->options(i); option->name; option++)
            roff_option(file, option);
    }
}

void cli_print_manual(FILE *file)
{
    fprintf(
        file,
        ".TH UNCONFUSE 1 2026-11-16 \"unconfuse %s\" \"User Commands\"\n"
        ".SH NAME\nunconfuse \\- learn classifiers from labels that cannot be trusted\n"
        ".SH SYNOPSIS\n\\fBunconfuse\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n"
        ".SH DESCRIPTION\n"
        "Labels may be confused by a known or estimated matrix, flipped at random, or missing for most "
        "examples.\n"
        "\\fBunconfuse\\fR trains classifiers on such data, also on streams that do not fit in memory,\n"
        "estimates how the labels are confused, measures how good a model is, and lists the labels that are "
        "probably wrong.\n"
        ".PP\nWhere a file is asked for, \\- is standard input or output.\n"
        "Data are LIBSVM text, CSV or TSV, NPY or the binary format .ucd, recognised from their content; .gz "
        "and .zst are unpacked.\n"
        ".SH COMMANDS\n",
        uc_version());
    for (const cli_command *const *command = cli_commands; *command; command++)
        roff_command(file, *command);
    fputs(".SH OPTIONS\n.SS Common options\n", file);
    for (const uc_option *option = cli_common_options; option->name; option++)
        roff_option(file, option);
    roff_shared(file);
    roff_family(file, "LEARNERS", &cli_learners);
    roff_family(file, "GENERATORS", &cli_generators);
    fputs(".SH EXIT STATUS\n", file);
    roff(file, exit_statuses);
    fputs("\n.SH ENVIRONMENT\n.TP\n\\fBUNCONFUSE_CPU\\fR\n", file);
    fputs("baseline, avx2, avx512 or best: the CPU level of the hot loops, for the same bytes on different "
          "machines.\n",
          file);
    fputs(".SH EXAMPLES\n", file);
    for (size_t i = 0; i < EXAMPLES; i++) {
        fputs(i ? ".PP\n" : "", file);
        roff(file, examples[i].about);
        fputs("\n.PP\n.nf\n.RS\n", file);
        roff(file, examples[i].commands);
        fputs(".RE\n.fi\n", file);
    }
}

/* ---- completion ----
 * One function in the common subset of the shells tells the words that may follow; each shell has its own glue. */

static void print_choices(FILE *file, const cli_call *call, const uc_option *option)
{
    const char *title;
    void *settings;
    const uc_option *table;
    fprintf(file, "    '%s --%s')\n        echo '", call->command->name, option->name);
    for (size_t i = 0; (table = cli_table_at(call, i, &title, &settings)); i++) {
        const uc_option *same = uc_options_find(table, option->name);
        if (same && same->type == UC_OPTION_CHOICE)
            for (const char *c = same->choices; *c; c++)
                fputc(*c == '|' ? ' ' : *c, file);
        if (same)
            fputc(' ', file);
    }
    fputs("'\n        ;;\n", file);
}

static void print_words_of(FILE *file, const cli_command *command)
{
    const cli_call call = {.command = command, .member = CLI_NO_MEMBER};
    const char *title;
    void *settings;
    const uc_option *table;
    for (size_t i = 0; (table = cli_table_at(&call, i, &title, &settings)); i++)
        for (; table->name; table++)
            if (table->type == UC_OPTION_CHOICE && !shadowed(&call, i, table->name))
                print_choices(file, &call, table);
    fprintf(file, "    '%s options')\n        echo '", command->name);
    for (size_t i = 0; (table = cli_table_at(&call, i, &title, &settings)); i++)
        for (; table->name; table++)
            if (!shadowed(&call, i, table->name))
                fprintf(file, "--%s %s%s%s", table->name, table->type == UC_OPTION_FLAG ? "--no-" : "",
                        table->type == UC_OPTION_FLAG ? table->name : "",
                        table->type == UC_OPTION_FLAG ? " " : "");
    fputs("'\n        ;;\n", file);
    if (command->family) {
        fprintf(file, "    '%s first')\n        echo '", command->name);
        for (size_t i = 0; command->family->name(i); i++)
            fprintf(file, "%s ", command->family->name(i));
        fputs("'\n        ;;\n", file);
    }
}

static void print_first_words(FILE *file, const char *prefix)
{
    const char *last = "";
    const size_t skip = strlen(prefix);
    for (const cli_command *const *command = cli_commands; *command; command++) {
        const char *word = (*command)->name;
        if (strncmp(word, prefix, skip) != 0)
            continue;
        word += skip;
        const int length = (int)strcspn(word, " ");
        if (strncmp(word, last, (size_t)length) != 0)
            fprintf(file, "%.*s ", length, word);
        last = word;
    }
}

static void print_word_function(FILE *file)
{
    fputs("_unconfuse_words() {\n    case \"$1\" in\n", file);
    for (const cli_command *const *command = cli_commands; *command; command++)
        print_words_of(file, *command);
    fputs("    commands | 'help first')\n        echo '", file);
    print_first_words(file, "");
    fputs("'\n        ;;\n    'noise first')\n        echo '", file);
    print_first_words(file, "noise ");
    fputs("'\n        ;;\n    'noise make first')\n        echo 'uniform random'\n        ;;\n"
          "    'learners first')\n        echo '",
          file);
    for (size_t i = 0; cli_learners.name(i); i++)
        fprintf(file, "%s ", cli_learners.name(i));
    fputs("'\n        ;;\n    esac\n}\n\n", file);
}

void cli_print_bash(FILE *file)
{
    fputs("# bash completion of unconfuse, made by: unconfuse help --completion bash\n", file);
    print_word_function(file);
    fputs("_unconfuse() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=${COMP_WORDS[1]} first=2 words\n"
          "    if [ \"$command\" = noise ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
          "        command=\"noise ${COMP_WORDS[2]}\"\n"
          "        first=3\n"
          "    fi\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        words=$(_unconfuse_words commands)\n"
          "    elif [ \"${current#-}\" != \"$current\" ]; then\n"
          "        words=$(_unconfuse_words \"$command options\")\n"
          "    elif [ \"${previous#-}\" != \"$previous\" ]; then\n"
          "        words=$(_unconfuse_words \"$command $previous\")\n"
          "    elif [ \"$COMP_CWORD\" -eq \"$first\" ]; then\n"
          "        words=$(_unconfuse_words \"$command first\")\n"
          "    fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "}\n"
          "complete -o default -F _unconfuse unconfuse\n",
          file);
}

void cli_print_zsh(FILE *file)
{
    fputs("#compdef unconfuse\n# zsh completion of unconfuse, made by: unconfuse help --completion zsh\n",
          file);
    print_word_function(file);
    fputs("_unconfuse() {\n"
          "    local current=$words[CURRENT] previous=$words[CURRENT-1]\n"
          "    local command=$words[2] first=3 list\n"
          "    if [[ $command == noise && $CURRENT -gt 3 ]]; then\n"
          "        command=\"noise $words[3]\"\n"
          "        first=4\n"
          "    fi\n"
          "    if [[ $CURRENT -eq 2 ]]; then\n"
          "        list=$(_unconfuse_words commands)\n"
          "    elif [[ $current == -* ]]; then\n"
          "        list=$(_unconfuse_words \"$command options\")\n"
          "    elif [[ $previous == -* ]]; then\n"
          "        list=$(_unconfuse_words \"$command $previous\")\n"
          "    elif [[ $CURRENT -eq $first ]]; then\n"
          "        list=$(_unconfuse_words \"$command first\")\n"
          "    fi\n"
          "    if [[ -n $list ]]; then\n"
          "        compadd -- ${=list}\n"
          "    else\n"
          "        _files\n"
          "    fi\n"
          "}\n"
          "_unconfuse \"$@\"\n",
          file);
}
