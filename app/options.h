/* Reads the words of a command line by option tables: --name VALUE, --name=VALUE, --flag, --no-flag, -n
 * VALUE, -nVALUE, several letters without values (-qj), and -- before words that begin with a dash. */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include "app/program.h"

/* A titled table of options and the settings that they fill in. */
typedef struct app_table {
    const char *title;
    const uc_option *options;
    void *settings; /* NULL: options are recognised, but their values are not stored */
} app_table;

/* All tables for a command line. An option in several of them is shown in the first and set in all. */
typedef struct app_tables {
    app_table *items;
    size_t count;
} app_tables;

void app_tables_add(app_tables *self, const char *title, const uc_option *options, void *settings);
void app_tables_free(app_tables *self);
void app_tables_defaults(const app_tables *self);
const uc_option *app_tables_find(const app_tables *self, const char *name); /* or NULL */
/* Whether a table before number `before` has an option of that name, which then takes precedence. */
bool app_tables_has_earlier(const app_tables *self, size_t before, const char *name);
uc_status app_tables_set(const app_tables *self, const uc_option *option, const char *value);

/* Iterates over the words of a command line. */
typedef struct app_parser {
    const app_tables *tables;
    int argc;
    char **argv;
    const char *see; /* the command that shows all options: "unconfuse help train" */
    /* Fails with the reason why a name is no option; UC_OK: no special reason. May be NULL. */
    uc_status (*refuse)(const char *name, const void *user);
    const void *user;
    int at;              /* the next word; private from here on */
    const char *letters; /* the rest of several letters after one dash, as in -qj */
    bool only_words;     /* after -- */
} app_parser;

typedef struct app_token {
    const uc_option *option; /* NULL: a word */
    const char *text;        /* the option's value, or the word; NULL: the end */
} app_token;

/* Reads the next word. Fails with UC_ERR_OPTION and a message that suggests the nearest option, if any. */
uc_status app_parser_next(app_token *out, app_parser *self);

#endif
