/* The description of a program: its name, its commands, and the texts around them. Everything in app/ belongs
 * to the one program that it is linked into. */
#ifndef APP_PROGRAM_H
#define APP_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "unconfuse/unconfuse.h"

#define APP_PRINTF(text, first) __attribute__((format(printf, text, first)))

typedef struct app_command app_command;
typedef struct app_family app_family;

/* Commands to copy, one per line, and a sentence that introduces them. */
typedef struct app_example {
    const char *about, *commands;
} app_example;

/* A name that other programs use, and what to type here instead. */
typedef struct app_habit {
    const char *word, *instead;
} app_habit;

/* A name and what it is, in the manual page. */
typedef struct app_item {
    const char *name, *text;
} app_item;

typedef struct app_program {
    const char *name;                   /* as users type it: "unconfuse" */
    const char *title;                  /* what it does, in one line */
    const char *manual_name;            /* the same for the NAME of the manual page */
    const char *manual_date;            /* 2026-11-16 */
    const char *manual;                 /* the DESCRIPTION of the manual page, in roff */
    const char *overview;               /* a line below the list of commands */
    const app_command *const *commands; /* ends with NULL */
    const app_family *const *families;  /* explained in the manual page; ends with NULL */
    const app_example *examples;        /* ends with an `about` of NULL */
    app_item (*list)(size_t i);  /* the manual page's last list, which ends with a name of NULL; NULL: none */
    const char *list_title;      /* "EXPERIMENTS" */
    const char *exit_statuses;   /* one paragraph */
    const app_item *environment; /* ends with a name of NULL */
    const app_habit *commands_elsewhere, *options_elsewhere; /* each ends with a word of NULL; NULL: none */
    const char *see_also;                                    /* other manual pages, in roff; NULL: none */
} app_program;

/* What to type instead of `word`; NULL: there is nothing. `habits` may be NULL. */
const char *app_habit_find(const app_habit *habits, const char *word);

/* Each program defines its own. */
extern const app_program app_this_program;

/* A message of the library with options as users type them; valid until the next call. */
const char *app_in_words(const char *text);

/* The processes that share the work; NULL: there is one. */
extern const uc_comm *app_comm;
bool app_is_first(void); /* whether this is the first of them, which prints and writes */

#endif
