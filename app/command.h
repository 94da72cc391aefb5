/* Commands described by option tables: the tables are parser, help, manual page and completion at once. The
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

/* What the first word of a command chooses from; each member has options of its own. */
struct app_family {
    const char *word;              /* "learner" */
    const char *(*name)(size_t i); /* NULL past the end */
    const char *(*summary)(size_t i);
    const uc_option *(*options)(size_t i);
    size_t (*settings_size)(size_t i);
    /* Says why a name is no member; UC_OK: it has nothing to say. NULL: never. */
    uc_status (*refuse)(const char *name);
    const char *lists; /* the command that lists the members */
    /* For who gives the data without a member: which to take when, and the one to try first; NULL: data
     * never follow. */
    const char *advice, *first_choice;
    const char *standard; /* the member that data alone mean; NULL: one must be named */
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
    const char *(*word)(size_t i); /* what an ordinary first word may be, for completion; NULL: anything */
    size_t least, most;            /* words, the family's included */
    bool shared;                   /* all processes of unconfuse-mpi run it; else the first one alone */
    uc_status (*run)(app_call *call);
};

/* The command that the words from argv[0] on name, and how many of them do; NULL: there is none. */
const app_command *app_command_find(const char *first, const char *second, int *words_used);
uc_status app_refuse_command(const char *name); /* names the nearest one, if one is near */

/* The options of every command. */
typedef struct app_common {
    uint64_t seed, threads, memory;
    int json, quiet, verbose, help;
} app_common;
extern const uc_option app_common_options[];

/* --html. A command that has this table among its sections has a page of the same name (web/src/pages). */
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
    bool member_is_implied; /* by data that came without one */
    void *member_settings;  /* the struct of the member's own options */
    const char **words;     /* what is not an option, without the member's name */
    size_t word_count;
    const uc_option **given; /* options that were typed */
    size_t given_count;
    const uc_option *standard_output; /* the option whose file is -; NULL: none */
    uc_context context;
    json_t *result;      /* printed by app_main when the command succeeds with --json, shown by --html */
    bool tells_failures; /* the result says what failed: it is printed also when the command fails */
    /* The tables of its options. Before the member is known all members' tables are there, without
     * settings. */
    app_tables tables;
};

/* Fills in a call from the words after the command's name; UC_ERR_OPTION with a sentence. */
uc_status app_parse(app_call *call, const app_command *command, int argc, char **argv);
void app_call_free(app_call *call);
bool app_given(const app_call *call, const char *option);
const char *app_html(const app_call *call);  /* the file of --html; NULL: none */
bool app_wants_result(const app_call *call); /* for --json or --html */
/* Adds all tables of a command, without settings. */
void app_command_tables(app_tables *out, const app_command *command);

/* On standard error, with --verbose only. */
void app_detail(const app_call *call, const char *format, ...) APP_PRINTF(2, 3);
/* Where findings go that are what the command was called for: standard output, or standard error when
 * `output` or another file is "-"; NULL with --json. */
FILE *app_findings(const app_call *call, const char *output);
/* The same for a summary of what was done, which --quiet leaves out. */
FILE *app_summary(const app_call *call, const char *output);
/* Refuses `other`, which wants standard output too, where call->standard_output writes there. */
uc_status app_refuse_standard_output(const app_call *call, const char *other);

#endif
