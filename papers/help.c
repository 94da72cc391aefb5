/* The usage text and the manual page, from the table of options and the list of experiments. */
#include <string.h>

#include "experiment.h"

static const struct {
    const char *words, *what;
} commands[] = {
    {"list", "the experiments, and whether their data are there"},
    {"run NAME... [options]", "run them; a paper's name (uma) or `all` means all of its experiments"},
    {"fetch", "where the data can be had, and the file names expected (it downloads nothing)"},
};

#define COMMANDS (sizeof commands / sizeof *commands)

static const char *argument_of(const uc_option *option)
{
    if (option->argument)
        return option->argument;
    return option->type == UC_OPTION_FLAG ? "" : "N";
}

void print_usage(FILE *file, const uc_option *options)
{
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(file, "%s unconfuse-papers %-22s %s\n", i ? "      " : "usage:", commands[i].words,
                commands[i].what);
    fputs("\noptions of run:\n", file);
    for (const uc_option *option = options; option->name; option++) {
        char name[64];
        snprintf(name, sizeof name, "--%s %s", option->name, argument_of(option));
        if (option->help)
            fprintf(file, "  %-16s %s\n", name, option->help);
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

static void roff_item(FILE *file, const char *name, const char *argument, const char *text)
{
    fputs(".TP\n\\fB", file);
    roff(file, name);
    fputs("\\fR", file);
    if (*argument) {
        fputs(" \\fI", file);
        roff(file, argument);
        fputs("\\fR", file);
    }
    fputc('\n', file);
    roff(file, text);
    fputc('\n', file);
}

static void roff_options(FILE *file, const uc_option *options)
{
    for (const uc_option *option = options; option->name; option++) {
        char name[64];
        snprintf(name, sizeof name, "--%s", option->name);
        if (option->help)
            roff_item(file, name, argument_of(option), option->help);
    }
}

void print_manual(FILE *file, const uc_option *options)
{
    fprintf(file,
            ".TH UNCONFUSE\\-PAPERS 1 2026-11-17 \"unconfuse %s\" \"User Commands\"\n"
            ".SH NAME\nunconfuse\\-papers \\- run the experiments of the papers behind unconfuse again\n"
            ".SH SYNOPSIS\n\\fBunconfuse\\-papers\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n"
            ".SH DESCRIPTION\n"
            "Tables on standard output have the mean over the runs, the deviation, and the published figure "
            "where the paper gives one.\n"
            "An experiment whose data are missing says so and is skipped.\n"
            "Failures are listed at the end, one per line; everything else is run and kept.\n"
            ".SH COMMANDS\n",
            uc_version());
    for (size_t i = 0; i < COMMANDS; i++)
        roff_item(file, commands[i].words, "", commands[i].what);
    fputs(".SH OPTIONS\n", file);
    roff_options(file, options);
    fputs(".SH EXPERIMENTS\n", file);
    for (size_t i = 0; experiments[i]; i++)
        roff_item(file, experiments[i]->name, "", experiments[i]->what);
    fputs(".SH EXIT STATUS\n"
          "0 done; 1 something failed, or nothing was run because no data are there; 2 wrong usage.\n"
          ".SH ENVIRONMENT\n",
          file);
    roff_item(file, "UNCONFUSE_DATA", "", "the directory of the data, unless --data names another");
    fputs(".SH EXAMPLES\n.nf\n", file);
    roff(file, "unconfuse-papers run uma.figure1a --quick\n"
               "unconfuse-papers run cspa --only usps,pendigits --out results\n");
    fputs(".fi\n.SH SEE ALSO\n\\fBunconfuse\\fR(1)\n", file);
}
