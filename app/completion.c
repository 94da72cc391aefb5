/* Completion scripts. One function, in the common subset of the shells, lists the words that may follow; each
 * shell has its own code around it. */
#include <string.h>

#include "app/help.h"

/* ---- the words ---- */

static void begin_case(FILE *file, const char *command, const char *what)
{
    fprintf(file, "    '%s %s')\n        echo '", command, what);
}

static void end_case(FILE *file)
{
    fputs("'\n        ;;\n", file);
}

static void print_choices(FILE *file, const app_tables *tables, const app_command *command,
                          const uc_option *option)
{
    fprintf(file, "    '%s --%s')\n        echo '", command->name, option->name);
    for (size_t i = 0; i < tables->count; i++) {
        const uc_option *same = uc_options_find(tables->items[i].options, option->name);
        if (same && same->type == UC_OPTION_CHOICE)
            for (const char *c = same->choices; *c; c++)
                fputc(*c == '|' ? ' ' : *c, file);
        if (same)
            fputc(' ', file);
    }
    end_case(file);
}

static void print_names(FILE *file, const app_tables *tables, const app_command *command)
{
    begin_case(file, command->name, "options");
    for (size_t i = 0; i < tables->count; i++)
        for (const uc_option *option = tables->items[i].options; option->name; option++) {
            if (app_tables_has_earlier(tables, i, option->name))
                continue;
            fprintf(file, "--%s ", option->name);
            if (option->type == UC_OPTION_FLAG)
                fprintf(file, "--no-%s ", option->name);
        }
    end_case(file);
}

static void print_list(FILE *file, const app_command *command, const char *(*word)(size_t i))
{
    begin_case(file, command->name, "first");
    for (size_t i = 0; word(i); i++)
        fprintf(file, "%s ", word(i));
    end_case(file);
}

static void print_words_of(FILE *file, const app_command *command)
{
    app_tables tables = {0};
    app_command_tables(&tables, command);
    for (size_t i = 0; i < tables.count; i++)
        for (const uc_option *option = tables.items[i].options; option->name; option++)
            if (option->type == UC_OPTION_CHOICE && !app_tables_has_earlier(&tables, i, option->name))
                print_choices(file, &tables, command, option);
    print_names(file, &tables, command);
    if (command->family)
        print_list(file, command, command->family->name);
    else if (command->word)
        print_list(file, command, command->word);
    app_tables_free(&tables);
}

/* The first words of commands that begin with `prefix`, each once. */
static void print_first_words(FILE *file, const char *prefix)
{
    const char *last = "";
    const size_t skip = strlen(prefix);
    for (const app_command *const *command = app_this_program.commands; *command; command++) {
        const char *word = (*command)->name;
        if (strncmp(word, prefix, skip) != 0)
            continue;
        word += skip;
        const size_t length = strcspn(word, " ");
        if (strncmp(word, last, length) != 0)
            fprintf(file, "%.*s ", (int)length, word);
        last = word;
    }
}

/* Writes the i-th first word of commands of two words, with a space after it, to `text`; false past the
 * end. */
static bool group_at(size_t i, char *text, size_t size)
{
    text[0] = 0;
    for (const app_command *const *command = app_this_program.commands; *command; command++) {
        const char *name = (*command)->name, *space = strchr(name, ' ');
        const size_t length = space ? (size_t)(space - name) + 1 : 0;
        if (length == 0 || strncmp(name, text, length) == 0)
            continue;
        snprintf(text, size, "%.*s", (int)length, name);
        if (i-- == 0)
            return true;
    }
    return false;
}

/* "_unconfuse_papers" */
static void print_function_name(FILE *file)
{
    fputc('_', file);
    for (const char *c = app_this_program.name; *c; c++)
        fputc(*c == '-' ? '_' : *c, file);
}

static void print_word_function(FILE *file)
{
    char group[64];
    print_function_name(file);
    fputs("_words() {\n    case \"$1\" in\n", file);
    for (const app_command *const *command = app_this_program.commands; *command; command++)
        print_words_of(file, *command);
    fputs("    commands | 'help first')\n        echo '", file);
    print_first_words(file, "");
    end_case(file);
    for (size_t i = 0; group_at(i, group, sizeof group); i++) {
        fprintf(file, "    '%sfirst')\n        echo '", group);
        print_first_words(file, group);
        end_case(file);
    }
    fputs("    esac\n}\n\n", file);
}

/* ---- the shells ---- */

/* Prints the text with every @ replaced by the program's function, and every % by its name. */
static void print_script(FILE *file, const char *text)
{
    for (; *text; text++)
        if (*text == '@')
            print_function_name(file);
        else if (*text == '%')
            fputs(app_this_program.name, file);
        else
            fputc(*text, file);
}

/* For commands of two words: prints every first word between `begin` and `end`, which are in the shell's
 * language. */
static void print_groups(FILE *file, const char *begin, const char *end)
{
    char group[64];
    for (size_t i = 0; group_at(i, group, sizeof group); i++)
        fprintf(file, "%s%.*s%s", begin, (int)strcspn(group, " "), group, end);
}

void app_print_bash(FILE *file)
{
    print_script(file, "# bash completion of %, made by: % help --completion bash\n");
    print_word_function(file);
    print_script(file, "@() {\n"
                       "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                       "    local command=${COMP_WORDS[1]} first=2 words\n");
    print_groups(file, "    if [ \"$command\" = ",
                 " ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
                 "        command=\"$command ${COMP_WORDS[2]}\"\n"
                 "        first=3\n"
                 "    fi\n");
    print_script(file, "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                       "        words=$(@_words commands)\n"
                       "    elif [ \"${current#-}\" != \"$current\" ]; then\n"
                       "        words=$(@_words \"$command options\")\n"
                       "    elif [ \"${previous#-}\" != \"$previous\" ]; then\n"
                       "        words=$(@_words \"$command $previous\")\n"
                       "    elif [ \"$COMP_CWORD\" -eq \"$first\" ]; then\n"
                       "        words=$(@_words \"$command first\")\n"
                       "    fi\n"
                       "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                       "}\n"
                       "complete -o default -F @ %\n");
}

void app_print_zsh(FILE *file)
{
    print_script(file, "#compdef %\n# zsh completion of %, made by: % help --completion zsh\n");
    print_word_function(file);
    print_script(file, "@() {\n"
                       "    local current=$words[CURRENT] previous=$words[CURRENT-1]\n"
                       "    local command=$words[2] first=3 list\n");
    print_groups(file, "    if [[ $command == ",
                 " && $CURRENT -gt 3 ]]; then\n"
                 "        command=\"$command $words[3]\"\n"
                 "        first=4\n"
                 "    fi\n");
    print_script(file, "    if [[ $CURRENT -eq 2 ]]; then\n"
                       "        list=$(@_words commands)\n"
                       "    elif [[ $current == -* ]]; then\n"
                       "        list=$(@_words \"$command options\")\n"
                       "    elif [[ $previous == -* ]]; then\n"
                       "        list=$(@_words \"$command $previous\")\n"
                       "    elif [[ $CURRENT -eq $first ]]; then\n"
                       "        list=$(@_words \"$command first\")\n"
                       "    fi\n"
                       "    if [[ -n $list ]]; then\n"
                       "        compadd -- ${=list}\n"
                       "    else\n"
                       "        _files\n"
                       "    fi\n"
                       "}\n"
                       "@");
    fputs(" \"$@\"\n", file);
}
