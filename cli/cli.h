/* The command line: commands described by option tables, and what every command shares.
 *
 * A command is a `cli_command`: its option tables are parser, help, manual page and completion at once. The parser fills
 * in a `cli_call`; the command's function does the work and returns a status; main turns that into an exit status. */
#ifndef CLI_H
#define CLI_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "unconfuse/unconfuse.h"

#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* ---- commands and their options ---- */

/* A titled table of options; `offset` is that of its settings struct in the command's arguments. */
typedef struct cli_section {
    const char *title;
    const uc_option *table;
    size_t offset;
} cli_section;

/* What the first word of a command chooses from; each member has options of its own. */
typedef struct cli_family {
    const char *word;              /* "learner" */
    const char *(*name)(size_t i); /* NULL past the end */
    const char *(*summary)(size_t i);
    const uc_option *(*options)(size_t i);
    size_t (*settings_size)(size_t i);
    /* Says why a name is no member; UC_OK: it has nothing to say. NULL: never. */
    uc_status (*refuse)(const char *name);
    const char *lists; /* the command that lists the members */
    /* For who gives the data without a member: which to take when, and the one to try first; NULL: data never follow. */
    const char *advice, *first_choice;
} cli_family;

extern const cli_family cli_learners, cli_generators;
size_t cli_family_find(const cli_family *self, const char *name); /* or CLI_NO_MEMBER */
#define CLI_NO_MEMBER SIZE_MAX
uc_status cli_refuse_member(const cli_family *family,
                            const char *name); /* names the nearest one, if one is near */

typedef struct cli_call cli_call;

typedef struct cli_command {
    const char *name;            /* one word or two: "noise make" */
    const char *usage;           /* what follows the name */
    const char *summary;         /* one line */
    const char *description;     /* one paragraph */
    const cli_section *sections; /* ends with a title of NULL */
    size_t args_size;            /* of the struct that the sections fill in */
    const cli_family *family;    /* NULL: the first word is an ordinary one */
    size_t least, most;          /* words, the family's included */
    bool shared;                 /* all processes of unconfuse-mpi run it; else the first one alone */
    uc_status (*run)(cli_call *call);
} cli_command;

/* The processes that share the work; NULL: there is one. */
extern const uc_comm *cli_comm;
bool cli_is_first(void);               /* of them: it prints and writes */
uc_status cli_agree(uc_status status); /* all fail when one does, with its sentence */

extern const cli_command *const cli_commands[]; /* ends with NULL */
const cli_command *cli_command_find(const char *first, const char *second, int *words_used);
uc_status cli_refuse_command(const char *name); /* names the nearest one, if one is near */

/* The options of every command. */
typedef struct cli_common {
    uint64_t seed, threads, memory;
    int json, quiet, verbose, help;
} cli_common;
extern const uc_option cli_common_options[];

/* One run of a command. */
struct cli_call {
    const cli_command *command;
    void *args; /* the command's struct, filled in */
    cli_common common;
    size_t member;         /* of the family; CLI_NO_MEMBER: none chosen */
    void *member_settings; /* the struct of the member's own options */
    const char **words;    /* what is not an option, without the member's name */
    size_t word_count;
    const uc_option **given; /* options that were typed */
    size_t given_count;
    bool writes_standard_output; /* -o - */
    uc_context context;
    json_t *result; /* printed by main when the command succeeds with --json */
};

/* Fills in a call from the words after the command's name; UC_ERR_OPTION with a sentence. */
uc_status cli_parse(cli_call *call, const cli_command *command, int argc, char **argv);
void cli_call_free(cli_call *call);
bool cli_given(const cli_call *call, const char *option);
/* The i-th table in which this call's options are, with its title and settings; NULL past the end. Before the member
 * is known all members' tables are there, without settings. An option in several tables is shown in the first and set
 * in all. */
const uc_option *cli_table_at(const cli_call *call, size_t i, const char **title, void **settings);

/* ---- help, from the same tables (help.c) ---- */

void cli_print_overview(FILE *file);
void cli_print_command_help(FILE *file, const cli_call *call);
void cli_print_options(FILE *file, const uc_option *table);
/* What an option's value is called ("N", "max|uniform"; "" for a flag), and "default 5, at least 1". */
const char *cli_option_argument(const uc_option *option);
void cli_option_note(const uc_option *option, char *text, size_t size);
void cli_print_manual(FILE *file); /* roff, man(7) */
void cli_print_bash(FILE *file);   /* completion scripts */
void cli_print_zsh(FILE *file);

/* ---- saying things ---- */

/* Keeps the sentence for main and returns `status`; like the library's own failures. */
uc_status cli_fail(uc_status status, const char *format, ...) CLI_PRINTF(2, 3);
/* The last sentence again, with the file that it is about in front, behind the rank of the process. */
uc_status cli_fail_in(uc_status status, const char *file);
const char *cli_last_error(void); /* the program's own sentence, else the library's */
/* A text of the library with its options as they are typed; valid until the next call. The second is of uc_last_error(). */
const char *cli_in_words(const char *text);
const char *cli_library_error(void);
void cli_warn(const char *format, ...) CLI_PRINTF(1, 2);
/* On standard error, with --verbose only. */
void cli_detail(const cli_call *call, const char *format, ...) CLI_PRINTF(2, 3);
/* Where a summary for people goes: standard output, or standard error when `output` is "-"; NULL with --json or
 * --quiet. */
FILE *cli_summary(const cli_call *call, const char *output);

/* ---- progress and interruption (progress.c) ---- */

void cli_catch_signals(void);
/* While output files get their names a signal does not end the program: all of them appear, or none. */
void cli_files_appear(bool now);
int cli_signal(void);                /* the signal that asked to stop, 0: none */
uc_status cli_check_interrupt(void); /* UC_ERR_CANCELLED after a signal */
bool cli_progress(const char *task, double done, double total, const char *detail, void *quiet);
bool cli_progress_silent(const char *task, double done, double total, const char *detail, void *user);
void cli_progress_end(void); /* clears the bar */
double cli_seconds(void);    /* a clock that only goes forward */

/* ---- memory: a program that cannot allocate a few kilobytes says so and ends ---- */

void *cli_realloc(void *block, size_t count, size_t size);
void *cli_calloc(size_t count, size_t size);
void cli_own_json_memory(void); /* jansson's too: it does not survive it unharmed */

/* ---- output (output.c) ---- */

/* The files that a command writes. It opens them before it begins to work, all of them appear together when it is done, and
 * main removes what is left of them when it failed. `option` names it in messages. With several processes the first one
 * has the files, and NULL stands for them in the others. */
uc_status cli_begin_file(uc_output **out, const char *path, const char *option);
/* Fails when one of the files is `path`, which the command reads; NULL is fine. */
uc_status cli_keep_input(const char *path);
uc_status cli_finish_files(bool durable);
void cli_abort_files(void);

/* A text file among them; "-" is standard output. With several processes the first one writes what all of them have to
 * say, in the order of their ranks. */
typedef struct cli_output cli_output;
uc_status cli_output_open(cli_output **out, const char *path);
/* Room for `length` bytes, to be followed by cli_output_advance of what was used. */
char *cli_output_reserve(cli_output *self, size_t length);
void cli_output_advance(cli_output *self, size_t length);
/* Ends and frees it whatever happens, with all files of the command; write errors end up here. */
uc_status cli_output_commit(cli_output *self);
void cli_output_abort(cli_output *self);            /* NULL is fine */
bool cli_output_failed(const cli_output *self);     /* a write failed: going on is of no use */
uc_status cli_output_check(const cli_output *self); /* the same, with the sentence */
void cli_output_discard(void);                      /* removes what is unfinished; safe in a signal handler */

/* Columns that line up. `align` has 'l' or 'r' per column; its last letter holds for all that follow. */
typedef struct cli_table {
    const char *align;
    size_t columns;
    char **cells;
    size_t count, capacity;
} cli_table;
void cli_cell(cli_table *self, const char *format, ...) CLI_PRINTF(2, 3);
void cli_table_print(cli_table *self, FILE *file); /* and empties it */

/* ---- JSON (json.c) ---- */

json_t *cli_json_text(const char *text); /* bytes that are not UTF-8 become U+FFFD */
json_t *cli_json_real(double value);     /* null for NaN and infinities */
json_t *cli_json_names(const uc_names *names);
json_t *cli_json_option(const uc_option *option, const void *settings);
void cli_json_settings(json_t *object, const uc_option *table, const void *settings);
json_t *cli_json_table(const uc_option *table); /* name, type, default, bounds, help of every option */
/* Adds "class", "examples", "recall", "precision". */
json_t *cli_json_class(const char *name, size_t examples, double recall, double precision);

/* ---- what several commands do ---- */

/* --noise-matrix, --noise-rate, --noise-rates (noise_options.c) */
typedef struct cli_noise {
    const char *matrix;
    int orientation;
    double rate;
    const char *rates, *positive;
} cli_noise;
extern const uc_option cli_noise_options[];
bool cli_noise_is_given(const cli_call *call);
/* The noise that the options tell of, in the order of `classes`; untouched when they tell of none. Warns when a diagonal
 * does not dominate its row. */
uc_status cli_noise_build(uc_noise *out, uc_noise_check *check, const cli_noise *self,
                          const uc_names *classes, const cli_call *call);
/* Warns about a matrix that hides a class. */
uc_status cli_noise_check(uc_noise_check *out, const uc_noise *noise);

/* --to, --labels-out (files.c) */
typedef struct cli_data_output {
    int format;
    const char *labels;
} cli_data_output;
extern const uc_option cli_data_output_options[];
/* A data file to write, and the file for its labels. */
typedef struct cli_data_file {
    uc_output *rows, *labels; /* labels NULL: none */
    uc_format format;
} cli_data_file;
uc_status cli_begin_data(cli_data_file *out, const char *path, const char *option, uc_format format,
                         const char *labels);
uc_status cli_write_data(const cli_call *call, const uc_dataset *data, const cli_data_file *file);

/* Splits "a,b,c" into names; refuses an empty one and one that occurs twice. */
uc_status cli_split_names(uc_names *out, const char *list, const char *option);

/* What a file is: a model of ours, a LIBLINEAR model, or (anything else, and "-") data (files.c). */
typedef enum cli_kind { CLI_DATA, CLI_MODEL, CLI_LIBLINEAR } cli_kind;
cli_kind cli_recognise(const char *path);
bool cli_reads_once(const char *path);                      /* standard input, a pipe */
uc_status cli_load_model(uc_model **out, const char *path); /* either kind of model */
/* The whole file in memory. */
uc_status cli_read_data(uc_dataset *out, const cli_call *call, const char *path,
                        const uc_read_settings *settings);

/* DATA, or the files that --shards names (files.c). */
typedef struct cli_files {
    char **paths;
    size_t count;
    const char *shown; /* for messages: the one file, or the pattern */
} cli_files;
/* cli_keep_input for all of them, and for the file of their labels. */
uc_status cli_keep_inputs(const cli_files *files, const uc_read_settings *read);
typedef struct cli_shards {
    const char *pattern;
} cli_shards;
extern const uc_option cli_shard_options[];
/* Word number `word` is DATA. */
uc_status cli_find_files(cli_files *out, const cli_call *call, const cli_shards *shards, size_t word);
void cli_files_free(cli_files *self);
/* The model at `path`, for a command that takes a model and then data: says so when they come the other way round. */
uc_status cli_load_first(uc_model **out, const char *path, const cli_files *data);
/* All of them in memory; with several processes, this one's share of the rows. */
uc_status cli_read_files(uc_dataset *out, const cli_call *call, const cli_files *files,
                         const uc_read_settings *settings);
/* The items of all processes, in the order of the ranks, for the first one, whose list grows. */
uc_status cli_collect(void **items, size_t *count, size_t size);
/* Says what the sums over several processes took since `before`, with --verbose. */
void cli_tell_traffic(const cli_call *call, uc_traffic before, double seconds);

/* Predicts files block by block (scoring.c). `visit` gets each block with its predictions (and
 * scores or probabilities, K per row, when asked for; else NULL), and the number of the file, since each has its own list
 * of classes. Refuses CSV and NPY of another width, and warns once about columns that the model does not know. With
 * several processes each has its share of the rows, and all fail when one does. */
typedef enum cli_wanted { CLI_CLASSES, CLI_SCORES, CLI_PROBABILITIES } cli_wanted;
typedef uc_status cli_scored_fn(const uc_dataset *block, const uc_reader *reader, size_t file,
                                const uint32_t *predicted, const double *scores, void *user);
uc_status cli_score_files(const cli_call *call, const uc_model *model, const cli_files *files,
                          const uc_read_settings *read, cli_wanted wanted, cli_scored_fn *visit, void *user);

/* Labelled examples, the one whose label is least likely to be right first (suspect.c). */
uc_status cli_print_suspects(cli_call *call, const uc_model *model, const cli_files *files,
                             const uc_read_settings *read, const char *output);
/* The shorter of two texts that read back as the same number; `text` has room for 32 bytes. */
size_t cli_print_real(char *text, double value);

/* Error, confusion matrix, norms (report.c). */
void cli_report_json(json_t *object, const uc_evaluation *evaluation, const uc_names *classes);
void cli_report_text(FILE *file, const uc_evaluation *evaluation, const uc_names *classes);

#endif
