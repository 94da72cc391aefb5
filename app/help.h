/* Help, manual page and completion, all made from the tables of the commands. */
#ifndef APP_HELP_H
#define APP_HELP_H

#include <stdio.h>

#include "app/command.h"

/* help.c */
void app_print_overview(FILE *file);
void app_print_command_help(FILE *file, const app_call *call);
void app_print_options(FILE *file, const uc_option *table);
/* The placeholder of an option's value ("N", "max|uniform"; "" for a flag), and "default 5, at least 1". */
const char *app_option_argument(const uc_option *option);
void app_option_note(const uc_option *option, char *text, size_t size);

void app_print_manual(FILE *file); /* roff, man(7) (manual.c) */

void app_print_bash(FILE *file); /* completion scripts (completion.c) */
void app_print_zsh(FILE *file);

/* The command `help` of a program (help_command.c). */
extern const app_command app_command_help;

#endif
