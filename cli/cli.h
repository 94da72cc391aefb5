/* Functions that several commands of unconfuse share. */
#ifndef CLI_H
#define CLI_H

#include "app/app.h"

/* Values from the library, such as a model's summary, as JSON (values_json.c). */
json_t *cli_json_value(const uc_values *values, const char *name); /* null: none has that name */
json_t *cli_json_values(const uc_values *values);
/* Prints what `train auto` chose and how good it is; nothing for other learners (auto_report.c). */
void cli_print_auto(FILE *text, const uc_values *found, const char *data, const char *model);

/* Learners and generators, each with options of its own (names.c). */
extern const app_family cli_learners, cli_generators;

/* --noise-matrix, --noise-rate, --noise-rates (noise_options.c) */
typedef struct cli_noise {
    const char *matrix;
    int orientation;
    double rate;
    const char *rates, *positive;
} cli_noise;
extern const uc_option cli_noise_options[];
bool cli_noise_is_given(const app_call *call);
/* The noise that the options give, in the order of `classes`; *out is unchanged if they give none. Warns if a
 * diagonal does not dominate its row, unless labels are complementary. */
uc_status cli_noise_build(uc_noise *out, uc_noise_check *check, const cli_noise *self,
                          const uc_names *classes, const app_call *call);
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
uc_status cli_write_data(const app_call *call, const uc_dataset *data, const cli_data_file *file);
/* Reads the whole file and, for CSV or JSON lines, its text, which outputs in these formats keep; otherwise
 * *text is NULL. */
uc_status cli_read_table(uc_dataset *out, uc_table_text **text, const app_call *call, const char *path,
                         const uc_read_settings *settings);
/* Writes rows of that text or, if there is none or another format is wanted, the data set `part`. If the text
 * has no column of weights, those of `part` become one. `y` and `before` are those of uc_table_changes. */
typedef struct cli_table_rows {
    uc_table_text *text;
    const size_t *rows; /* NULL: all */
    size_t count;
    const uint32_t *y, *before; /* NULL: labels do not change */
    bool reweighted;            /* the weights of the part are not those of the text */
} cli_table_rows;
uc_status cli_write_table(const app_call *call, const cli_table_rows *table, const uc_dataset *part,
                          const cli_data_file *file);

/* Splits "a,b,c" into names; refuses an empty one and one that occurs twice (names.c). */
uc_status cli_split_names(uc_names *out, const char *list, const char *option);

/* The kind of a file: our own model, a LIBLINEAR model, or data (anything else, and "-") (files.c). */
typedef enum cli_kind { CLI_DATA, CLI_MODEL, CLI_LIBLINEAR } cli_kind;
cli_kind cli_recognise(const char *path);
bool cli_reads_once(const char *path);                      /* standard input, a pipe */
uc_status cli_load_model(uc_model **out, const char *path); /* either kind of model */
/* Reads the whole file into memory. */
uc_status cli_read_data(uc_dataset *out, const app_call *call, const char *path,
                        const uc_read_settings *settings);

/* DATA, or the files that --shards names (files.c). */
typedef struct cli_files {
    char **paths;
    size_t count;
    const char *shown; /* for messages: the file or the pattern */
} cli_files;
/* Calls app_keep_input for all of them, and for the file of their labels. */
uc_status cli_keep_inputs(const cli_files *files, const uc_read_settings *read);
uc_status cli_keep_data(const char *path, const uc_read_settings *read); /* the same for one file */
typedef struct cli_shards {
    const char *pattern;
} cli_shards;
extern const uc_option cli_shard_options[];
/* Finds the files; DATA is word number `word`. */
uc_status cli_find_files(cli_files *out, const app_call *call, const cli_shards *shards, size_t word);
void cli_files_free(cli_files *self);
/* Loads the model at `path`, for a command that takes a model and then data; the message says so if their
 * order was reversed. */
uc_status cli_load_first(uc_model **out, const char *path, const cli_files *data);
/* Reads all files into memory; with several processes, only this one's share of the rows. */
uc_status cli_read_files(uc_dataset *out, const app_call *call, const cli_files *files,
                         const uc_read_settings *settings);
/* Appends the items of the other processes, in the order of their ranks, to the list of the first. */
uc_status cli_collect(void **items, size_t *count, size_t size);
/* With --verbose, prints the cost of sums over several processes since `before`. */
void cli_tell_traffic(const app_call *call, uc_traffic before, double seconds);

/* Refuses options of uc_map_options that contradict each other, and warns about those that have no effect for
 * any of these learners (map_options.c). */
uc_status cli_check_map_options(const app_call *call, const uc_map_settings *map,
                                const uc_compare_entry *learners, size_t count);

/* Predicts files block by block (scoring.c). `visit` gets each block with its predictions, with scores or
 * probabilities (K per row; NULL unless wanted), and with the number of the file, since each file has its own
 * list of classes. Refuses CSV and NPY files of another width, and warns once about columns that the model
 * does not know. With several processes each has its share of the rows, and all fail if one does. */
typedef enum cli_wanted { CLI_CLASSES, CLI_SCORES, CLI_PROBABILITIES } cli_wanted;
typedef uc_status cli_scored_fn(const uc_dataset *block, const uc_reader *reader, size_t file,
                                const uint32_t *predicted, const double *scores, void *user);
uc_status cli_score_files(const app_call *call, const uc_model *model, const cli_files *files,
                          const uc_read_settings *read, cli_wanted wanted, cli_scored_fn *visit, void *user);

/* Prints the labelled examples, the one whose label is least likely to be right first (suspect.c). */
uc_status cli_print_suspects(app_call *call, const uc_model *model, const cli_files *files,
                             const uc_read_settings *read, const char *output);

/* --wrong-at-most, for commands that estimate the error on true classes (clean_error.c) */
typedef struct cli_clean {
    double wrong_at_most; /* 0: not known */
} cli_clean;
extern const uc_option cli_clean_options[];

/* Scores of rows for that estimate, or of a sample if there are many rows. The sample depends only on row
 * numbers, so it is the same in every run. */
typedef struct cli_kept {
    size_t classes;
    double *scores; /* count x classes */
    size_t *rows;   /* their row numbers */
    size_t count, seen;
    size_t capacity; /* private, as is the next member */
    unsigned level;
} cli_kept; /* zero-initialised, with `classes` set */
void cli_kept_add(cli_kept *self, const double *scores, size_t count);
/* Gathers those of all processes in the first one. */
uc_status cli_kept_collect(cli_kept *self);
void cli_kept_free(cli_kept *self);

typedef struct cli_clean_error {
    bool found;
    uc_clean_error error;
    const char *method;
    bool test_labels;    /* not the labels of the training, so all of them may be right */
    char condition[128]; /* as text: when the estimate holds, or what it is based on */
    double wrong_at_most, bound[2];
} cli_clean_error;
/* Estimates it from the labels alone. `outcomes` are those of all rows, `noisy` is their error. */
uc_status cli_clean_error_of(cli_clean_error *out, const cli_kept *kept, const uc_outcomes *outcomes,
                             bool probabilities, double noisy, const cli_clean *known, const app_call *call);
/* Takes it from an evaluation that was corrected with a given noise matrix. */
void cli_clean_error_given(cli_clean_error *out, const uc_evaluation *evaluation, const cli_clean *known);
/* Restricts it by what the user knows. */
void cli_clean_error_bound(cli_clean_error *self, double noisy, const cli_clean *known);
json_t *cli_clean_error_json(const cli_clean_error *self);
/* Prints it as text; `data` and `model` are for the command that it suggests. */
void cli_clean_error_print(FILE *file, const cli_clean_error *self, const char *data, const char *model);
void cli_print_interval(FILE *file, const char *title, double estimate, double low, double high,
                        const char *condition);
void cli_print_check(FILE *file, double rows, const char *data, const char *model);

/* Writes a field of CSV, in quotes if it needs them; returns its length, at most 2 * length + 2 (names.c). */
size_t cli_csv_field(char *out, const char *text, size_t length);

/* Wilson's 95% interval for a share of this number of examples; null if there are none (report.c). */
json_t *cli_json_interval(double share, uint64_t examples);
/* "class", "examples", "recall", "precision", "f1" unless it is NULL, and intervals (report.c). */
json_t *cli_json_class(const char *name, uint64_t examples, uint64_t predictions, double recall,
                       double precision, const double *f1);
/* Error, confusion matrix, norms, and the error on true classes if it was estimated (report.c). */
typedef struct cli_report {
    const uc_evaluation *evaluation;
    const uc_names *classes;
    const cli_clean_error *clean;
    bool estimated;           /* the noise was estimated from these same labels */
    const char *data, *model; /* for the commands that the text suggests */
} cli_report;
void cli_report_json(json_t *object, const cli_report *self);
void cli_report_text(FILE *file, const cli_report *self);

/* The columns of a row of a table with a header, {name: text}, and its id, which the caller frees. NULL: none
 * (audit_files.c). */
json_t *cli_columns_json(uc_table_text *text, size_t row);
char *cli_table_id(uc_table_text *text, size_t row);
/* Adds the ids and columns of its rows to each pair of cli_json_confused, if `path` is a table that can be
 * read again and is not too large (evaluate_rows.c). */
uc_status cli_add_columns(json_t *pairs, const char *path, const uc_read_settings *read,
                          const uc_context *context);
/* The pairs of classes that are confused most, with rows to look at (evaluate_rows.c). */
json_t *cli_json_confused(const uint32_t *labels, const uint32_t *predicted, size_t count,
                          const uc_names *classes);
/* A histogram of how probable predictions were, for those that equal the label and for the others
 * (evaluate_rows.c). */
json_t *cli_json_certainty(const uint32_t *labels, const uint32_t *predicted, const double *certainty,
                           size_t count);

#endif
