/* The experiments of the papers: what one is, what it reports, and where its data are.
 *
 * An experiment adds numbers to the cells of a report, one per run. Mean and deviation, the table on standard
 * output, JSON, CSV and the picture are all made from the report. A new experiment is one function and one
 * line in experiment.c. */
#ifndef PAPERS_EXPERIMENT_H
#define PAPERS_EXPERIMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "app/app.h"

/* ---- reports (report.c) ---- */

typedef struct cell {
    double *values; /* one per run */
    size_t count;
    double published, published_deviation; /* NaN: not in the paper */
    bool marked;                           /* among the best in its row */
} cell;

typedef enum plot_kind {
    PLOT_LINES,  /* one line per column, over the rows' x */
    PLOT_BARS,   /* one bar per row, for the first column */
    PLOT_GROUPS, /* the same for all columns: one group per row */
    PLOT_NONE,   /* only a table */
} plot_kind;

/* A table, and a part of the picture. */
typedef struct panel {
    char *name, *title;
    char *row_title, *value_title; /* axis titles: what rows and values are */
    plot_kind kind;
    bool log_x;
    double most;      /* PLOT_LINES: no value exceeds it; 0: no bound */
    double shaded_to; /* PLOT_LINES: x from 0 to here has a grey background; 0: none */
    const char *shaded_title;
    int decimals;         /* of all numbers; 0: three, but none for whole numbers */
    size_t printed_every; /* the table has every n-th row, and the last; 0: all */
    int x_column;         /* the column whose mean is a row's x; -1: the x given for the row */
    size_t first_drawn;   /* columns before this one are only in the table */
    char **columns;
    size_t column_count;
    char **rows;
    double *x;
    size_t row_count;
    cell *cells;   /* row by row */
    double spread; /* PLOT_LINES: distance in x between columns, with error bars; 0: bands */
} panel;

typedef struct report {
    panel **panels;
    size_t panel_count;
    char **notes; /* sentences below the tables */
    size_t note_count;
    char **skipped; /* sentences about what could not be run */
    size_t skipped_count;
    char **failed; /* sentences about what went wrong */
    size_t failed_count;
    struct picture *picture; /* drawn instead of the panels; NULL: none */
} report;

panel *report_panel(report *self, const char *name, const char *title, plot_kind kind, const char *row_title,
                    const char *value_title);
void report_note(report *self, const char *format, ...) APP_PRINTF(2, 3);
void report_skip(report *self, const char *format, ...) APP_PRINTF(2, 3);
void report_fail(report *self, const char *format, ...) APP_PRINTF(2, 3);
/* Removes a panel; NULL is fine. */
void report_drop(report *self, const panel *dropped);
/* Removes the panels that have no values. */
void report_drop_empty(report *self);
void report_free(report *self);

/* Columns are added first, then rows. Both functions return the new position. */
size_t panel_column(panel *self, const char *name);
size_t panel_row(panel *self, double x, const char *format, ...) APP_PRINTF(3, 4);
void panel_add(panel *self, size_t row, size_t column, double value);
void panel_publish(panel *self, size_t row, size_t column, double value);
void panel_publish_deviation(panel *self, size_t row, size_t column, double value);
void panel_mark(panel *self, size_t row, size_t column);
/* Remove what a failed part has added: its row, which is the last one, or the values in its column. */
void panel_drop_last_row(panel *self);
void panel_clear_column(panel *self, size_t column);
const cell *panel_cell(const panel *self, size_t row, size_t column);
double panel_x(const panel *self, size_t row);
double cell_mean(const cell *self);      /* NaN if there are no values */
double cell_deviation(const cell *self); /* NaN if there are fewer than two values */

void report_print(const report *self, FILE *file);
json_t *report_json(const report *self);
void report_csv(const report *self, FILE *file);

/* ---- experiments (experiment.c) ---- */

typedef struct experiment experiment;

/* A single execution of an experiment. */
typedef struct execution {
    const experiment *experiment;
    const char *data_directory;
    size_t runs;
    bool quick;       /* a smaller version, in under a minute */
    bool quiet;       /* shows no progress */
    const char *only; /* problems to run, separated by commas; NULL: all */
    const char *out;  /* the directory of the results; NULL: none */
    json_t *finished; /* runs of an earlier execution, by panel; NULL: none */
    double began;     /* when it would have begun without interruptions, by app_seconds */
    uint64_t seed;
    uc_context context;
    const char *command; /* the command that gives the same numbers again */
    char stage[96];      /* current piece of work, for the progress */
    double done;         /* share of the work that is done */
    report report;
} execution;

struct experiment {
    const char *name;        /* "uma.figure1a" */
    const char *what;        /* one line */
    const char *const *data; /* names of data sets, terminated by NULL */
    size_t runs;             /* in the paper */
    size_t quick_runs;
    uc_status (*run)(execution *self);
};

extern const experiment *const experiments[]; /* terminated by NULL */
/* copa/ */
extern const experiment copa_toy;
/* cspa/ */
extern const experiment cspa_figure1, cspa_figure2, cspa_table1, cspa_table2, cspa_figure3, cspa_figure4;
/* uma/ */
extern const experiment uma_figure1a, uma_figure1b, uma_figure2, uma_table1, uma_figure3, uma_figure4,
    uma_figure5, uma_s3vm, uma_width;
/* rp/ */
extern const experiment rp_table1, rp_table3, rp_figure2, rp_figure3;
/* sloppy/ */
extern const experiment sloppy_figure1, sloppy_table1, sloppy_pu;
/* The name of the experiment that `word` probably means; NULL if none is similar. */
const char *experiment_nearest(const char *word);

/* The seed of run `run`; different runs have independent random numbers. */
uint64_t execution_seed(const execution *self, size_t run);
/* Finishes one part of an experiment, such as a data set. A failure is noted in the report and the other
 * parts continue; the caller removes what the part has added. Returns whether the part succeeded. */
bool execution_settle(execution *self, uc_status status, const char *part);
/* Whether --only selects this problem. */
bool execution_wants(const execution *self, const char *problem);
/* Shows the current work on standard error; to be called before each longer piece of work. */
void execution_stage(execution *self, double done, double total, const char *format, ...) APP_PRINTF(4, 5);
/* The context's callback: shows the stage again while the library works on it. `user` is the execution. */
bool execution_progress(const char *task, double done, double total, const char *detail, void *user);

/* ---- finished runs (finished.c) ---- */

/* An experiment whose runs take minutes saves each finished one in OUT, so that an interrupted execution can
 * be continued. This function reads the saved ones. */
uc_status finished_read(execution *self);
/* Fills a panel with the values of finished runs; *runs becomes their number. */
uc_status finished_runs(size_t *runs, const execution *self, panel *to);
/* Saves the panel, which has the values of `runs` complete runs. */
uc_status finished_keep(execution *self, const panel *from, size_t runs);
/* Removes the saved runs: everything is done, or nothing is to be kept. */
void finished_remove(execution *self);

/* ---- data sets (data.c) ---- */

typedef struct data_set {
    const char *name;
    const char *const *files; /* without .svm.zst; terminated by NULL */
    const char *source;       /* where to get it */
} data_set;

extern const data_set data_sets[]; /* terminated by a name of NULL */
const data_set *data_find(const char *name);
/* The directory given by --data, or by the environment, or the usual one. */
const char *data_directory(const char *given);
bool data_is_there(const char *directory, const char *name);
/* False, with a sentence in the report, if the data set is missing. */
bool data_need(execution *self, const char *name);
/* Reads one file of a data set, such as "optdigits.train". */
uc_status data_read(uc_dataset *out, const execution *self, const char *file);
/* Reads the lines of a text file in the directory, in order. */
uc_status data_read_lines(uc_names *out, const execution *self, const char *file);

/* ---- pictures (plot.c) ---- */

/* Writes BASE.gp and has gnuplot draw BASE.svg and BASE.png; notes if gnuplot is missing. `title` is shown if
 * there are several panels, otherwise the panel's own title; `suffix` is appended to either. */
uc_status plot_draw(const report *self, const char *title, const char *suffix, const char *directory,
                    const char *base);

/* ---- files (files.c) ---- */

/* Prints the contents of a text file. */
typedef void text_fn(FILE *file, const void *user);
/* Writes this text to DIRECTORY/NAME, which appears when app_finish_files is called. */
uc_status begin_text(const char *directory, const char *name, text_fn *print, const void *user);

/* ---- commands ---- */

typedef struct data_args {
    const char *directory;
} data_args;
extern const uc_option data_options[];                /* --data */
extern const app_command command_list, command_fetch; /* list.c */
extern const app_command command_run;                 /* run.c */

#endif
