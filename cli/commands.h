/* Every command of the program, one cmd_*.c each. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli.h"

extern const app_command command_train, command_predict, command_evaluate, command_stream, command_compare,
    command_noise_make, command_noise_apply, command_noise_estimate, command_split, command_generate,
    command_convert, command_inspect, command_learners, command_check, command_audit, command_serve,
    command_journal, command_replay, command_experiment;

/* How `evaluate --positive-unlabelled` reads the labels (evaluate_unlabelled.c). */
typedef struct cli_unlabelled {
    double prior;         /* 0: the model's */
    bool censored;        /* the population is all examples, not only the unlabelled ones */
    const char *positive; /* NULL: the model's, or the later class */
} cli_unlabelled;
uc_status cli_evaluate_unlabelled(app_call *call, const uc_model *model, const cli_files *files,
                                  const uc_read_settings *read, const cli_unlabelled *how);

/* Warns if the data have as many rows as the model was trained on (evaluate_gold.c). */
void cli_warn_of_training_rows(const uc_model *model, size_t rows, const char *shown);
/* A copy of the row's id, which the caller frees; NULL: the data have none (cmd_check.c). */
char *cli_reader_id(const uc_reader *reader, size_t row);
/* `evaluate --gold`: the error by checked rows, and their counts (evaluate_gold.c). */
uc_status cli_gold_read(cli_clean_error *out, json_t **described, const char *path,
                        const uc_predicted_rows *rows, const cli_clean *known, const app_call *call);

/* `audit --crowd`: labels of several annotators (audit_crowd.c). */
typedef struct cli_crowd {
    const char *file;           /* --crowd; NULL: not given */
    const char *columns;        /* --annotators: columns of DATA instead; NULL: not given */
    int features;               /* off: --no-features */
    uint64_t ask;               /* questions to propose */
    const char *resume, *state; /* an earlier result to continue from, and where to write this one */
    const char *consensus_out;  /* a CSV file of all rows */
} cli_crowd;
extern const uc_option cli_crowd_options[];
/* The options of `audit` itself. */
typedef struct cli_audit_request {
    const char *data; /* NULL: only the crowd file */
    const uc_read_settings *read;
    const char *gold, *output, *model, *noise; /* files; NULL: none */
    bool all;                                  /* list every annotation, not only the flagged ones */
    const uc_audit_settings *settings;
} cli_audit_request;
/* The true classes of checked rows, UC_NONE for others, from a list or a file of `check`; `of` needs no
 * labels and no predictions. The caller frees *out, also on failure. */
uc_status cli_read_truths(uint32_t **out, size_t *checked, const char *path, const uc_predicted_rows *of,
                          const app_call *call);
uc_status cli_audit_crowd(app_call *call, const cli_crowd *crowd, const uc_consensus_settings *consensus,
                          const cli_audit_request *request);

/* The columns of a table, one per line (inspect_table.c). */
json_t *cli_json_table(const uc_table *table);
void cli_print_table(const uc_table *table);
/* What a model knows about the columns of its table. */
void cli_print_encoding(const uc_table *table);
/* The `count` largest weights of every class, with the names of their features. */
uc_status cli_json_top(json_t **out, const uc_model *model, size_t count, const char *path);
void cli_print_top(const json_t *top);

/* `audit --probabilities`: labels and the probabilities of any model (audit_probabilities.c). */
uc_status cli_audit_probabilities(app_call *call, const char *probabilities,
                                  const cli_audit_request *request);

/* Prints an estimated matrix: its numbers, shaded on a terminal, and how certain they are
 * (noise_picture.c). */
void cli_print_noise(FILE *file, const uc_noise_estimate *self, const uc_noise_check *check,
                     const char *path);

#endif
