/* Commands described by option tables, from which parser, help, manual page and completion are made. The
 * parser fills in an `app_call`; the command's function does the work and returns a status; app_main turns
 * that into an exit status. */
#ifndef APP_COMMAND_H
#define APP_COMMAND_H

#include <jansson.h>
#include <stdio.h>

#include "app/options.h"

/* A titled table of options; `offset` is that of its settings struct in the command's arguments. */
typedef struct app_section {
    const char *title;
    const uc_option *table;
    size_t offset;
} app_section;

/* A family: the members that the first word of a command chooses from, each with options of its own. */
struct app_family {
    const char *word;              /* "learner" */
    const char *(*name)(size_t i); /* NULL past the end */
    const char *(*summary)(size_t i);
    const uc_option *(*options)(size_t i);
    size_t (*settings_size)(size_t i);
    /* Fails with the reason why a name is no member; UC_OK: no special reason. May be NULL. */
    uc_status (*refuse)(const char *name);
    const char *lists; /* the command that lists the members */
    /* For users who give the data without a member: which member to take when, and which to try first. NULL:
     * no data follow the member. */
    const char *advice, *first_choice;
    const char *standard; /* the member if only data are given; NULL: one must be named */
};

size_t app_family_find(const app_family *self, const char *name); /* or APP_NO_MEMBER */
#define APP_NO_MEMBER SIZE_MAX
uc_status app_refuse_member(const app_family *family,
                            const char *name); /* names the nearest one, if one is near */

typedef struct app_call app_call;

struct app_command {
    const char *name;              /* one word or two: "noise make" */
    const char *usage;             /* what follows the name */
    const char *summary;           /* one line */
    const char *description;       /* one paragraph */
    const app_section *sections;   /* ends with a title of NULL */
    size_t args_size;              /* of the struct that the sections fill in */
    const app_family *family;      /* NULL: the first word is an ordinary one */
    const char *(*word)(size_t i); /* for completion: the possible ordinary first words; NULL: anything */
    size_t least, most;            /* words, the family's included */
    bool shared;                   /* all processes of unconfuse-mpi run it; otherwise only the first */
    uc_status (*run)(app_call *call);
};

/* The command that these words name, and whether it uses one or both; NULL: there is none. */
const app_command *app_command_find(const char *first, const char *second, int *words_used);
uc_status app_refuse_command(const char *name); /* names the nearest one, if one is near */

/* The options of every command. */
typedef struct app_common {
    uint64_t seed, threads, memory;
    int json, quiet, verbose, help;
} app_common;
extern const uc_option app_common_options[];

/* --html. For every command with this table there is a page of the same name (web/src/pages). */
typedef struct app_report {
    const char *html;
} app_report;
extern const uc_option app_report_options[];

/* One run of a command. */
struct app_call {
    const app_command *command;
    void *args; /* the command's struct, filled in */
    app_common common;
    char *typed;            /* the command as it was typed, quoted for a shell */
    uc_output *page;        /* the file of --html; NULL: none, or already written */
    size_t member;          /* of the family; APP_NO_MEMBER: none chosen */
    bool member_is_implied; /* data were given without a member */
    void *member_settings;  /* the struct of the member's own options */
    const char **words;     /* all words that are not options, without the member's name */
    size_t word_count;
    const uc_option **given; /* options that were typed */
    size_t given_count;
    const uc_option *standard_output; /* the option whose file is -; NULL: none */
    uc_context context;
    json_t *result;      /* printed by app_main when the command succeeds with --json, shown by --html */
    bool tells_failures; /* the result says what failed, and is printed even if the command fails */
    /* The tables of its options. Before the member is known, these are the tables of all members, without
     * settings. */
    app_tables tables;
};

/* Fills in a call from the words after the command's name; fails with UC_ERR_OPTION and a message. */
uc_status app_parse(app_call *call, const app_command *command, int argc, char **argv);
void app_call_free(app_call *call);
bool app_given(const app_call *call, const char *option);
const char *app_html(const app_call *call);  /* the file of --html; NULL: none */
bool app_wants_result(const app_call *call); /* for --json or --html */
/* Adds all tables of a command, without settings. */
void app_command_tables(app_tables *out, const app_command *command);

/* Prints on standard error, only with --verbose. */
void app_detail(const app_call *call, const char *format, ...) APP_PRINTF(2, 3);
/* Where the results of the command are printed: standard output, or standard error if `output` or another
 * file is "-"; NULL with --json. */
FILE *app_findings(const app_call *call, const char *output);
/* The same for a summary of what was done, which --quiet leaves out. */
FILE *app_summary(const app_call *call, const char *output);
/* Refuses `other`, which writes to standard output, if call->standard_output does so already. */
uc_status app_refuse_standard_output(const app_call *call, const char *other);

#endif
