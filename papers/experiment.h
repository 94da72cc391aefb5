/* The experiments of the papers: what one is, what it reports, and where its data are.
 *
 * An experiment adds numbers to the cells of a report, one a run; mean and deviation, the table on standard
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
    double *values; /* one a run */
    size_t count;
    double published, published_deviation; /* NaN: the paper gives no number */
    bool marked;                           /* one of the best of its row */
} cell;

typedef enum plot_kind {
    PLOT_LINES,  /* a line a column over the rows' x */
    PLOT_BARS,   /* a bar a row, of the first column */
    PLOT_GROUPS, /* the same of all columns: a group a row */
    PLOT_NONE,   /* a table only */
} plot_kind;

/* One table, and one part of the picture. */
typedef struct panel {
    char *name, *title;
    char *row_title, *value_title; /* what rows and values are: the axes */
    plot_kind kind;
    bool log_x;
    double most;      /* PLOT_LINES: no value exceeds it; 0: no bound */
    double shaded_to; /* PLOT_LINES: x from 0 to here has a grey ground; 0: none */
    const char *shaded_title;
    int decimals;         /* of all numbers; 0: three, but none of whole numbers */
    size_t printed_every; /* the table has every so many rows, and the last; 0: all */
    int x_column;         /* the column whose mean is a row's x; -1: the x that the row was given */
    size_t first_drawn;   /* columns before this one are in the table only */
    char **columns;
    size_t column_count;
    char **rows;
    double *x;
    size_t row_count;
    cell *cells;   /* row by row */
    double spread; /* PLOT_LINES: columns are this far apart in x, with bars of deviation; 0: bands */
} panel;

typedef struct report {
    panel **panels;
    size_t panel_count;
    char **notes; /* sentences under the tables */
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
/* Takes a panel out; NULL is fine. */
void report_drop(report *self, const panel *dropped);
/* Takes out the panels that hold no value. */
void report_drop_empty(report *self);
void report_free(report *self);

/* Columns first, then rows. Both return the position of what was added. */
size_t panel_column(panel *self, const char *name);
size_t panel_row(panel *self, double x, const char *format, ...) APP_PRINTF(3, 4);
void panel_add(panel *self, size_t row, size_t column, double value);
void panel_publish(panel *self, size_t row, size_t column, double value);
void panel_publish_deviation(panel *self, size_t row, size_t column, double value);
void panel_mark(panel *self, size_t row, size_t column);
/* Take out what a part that failed has added: its row, which is the last one, or the values of its column. */
void panel_drop_last_row(panel *self);
void panel_clear_column(panel *self, size_t column);
const cell *panel_cell(const panel *self, size_t row, size_t column);
double panel_x(const panel *self, size_t row);
double cell_mean(const cell *self);      /* NaN without values */
double cell_deviation(const cell *self); /* NaN for fewer than two values */

void report_print(const report *self, FILE *file);
json_t *report_json(const report *self);
void report_csv(const report *self, FILE *file);

/* ---- experiments (experiment.c) ---- */

typedef struct experiment experiment;

/* One execution of an experiment. */
typedef struct execution {
    const experiment *experiment;
    const char *data_directory;
    size_t runs;
    bool quick;       /* a smaller version, in under a minute */
    bool quiet;       /* no progress */
    const char *only; /* problems to run, by commas; NULL: all */
    const char *out;  /* the directory of the results; NULL: none */
    json_t *finished; /* runs of an earlier execution, by panel; NULL: none */
    double began;     /* when this one would have begun without interruptions, by app_seconds */
    uint64_t seed;
    uc_context context;
    const char *command; /* as one would type it to have the same numbers again */
    char stage[96];      /* what it is at, for the progress */
    double done;         /* share of the work */
    report report;
} execution;

struct experiment {
    const char *name;        /* "uma.figure1a" */
    const char *what;        /* one line */
    const char *const *data; /* names of data sets, ends with NULL */
    size_t runs;             /* of the paper */
    size_t quick_runs;
    uc_status (*run)(execution *self);
};

extern const experiment *const experiments[]; /* ends with NULL */
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
/* The name of the experiment that `word` was probably meant to be; NULL when none is near. */
const char *experiment_nearest(const char *word);

/* The seed of run `run`: runs share nothing. */
uint64_t execution_seed(const execution *self, size_t run);
/* Ends the work on one part of an experiment, such as a data set. A failure is noted in the report, and the
 * other parts go on; whoever calls it takes out what the part has added. Returns whether the part
 * succeeded. */
bool execution_settle(execution *self, uc_status status, const char *part);
/* Whether --only lets this problem through. */
bool execution_wants(const execution *self, const char *problem);
/* Says on standard error what is done now; call it before each longer piece of work. */
void execution_stage(execution *self, double done, double total, const char *format, ...) APP_PRINTF(4, 5);
/* The context's callback: shows the stage again while the library works on it. `user` is the execution. */
bool execution_progress(const char *task, double done, double total, const char *detail, void *user);

/* ---- finished runs (finished.c) ---- */

/* An experiment whose runs take minutes keeps each finished one in OUT, so that an interrupted execution can
 * be continued. Reads what is there. */
uc_status finished_read(execution *self);
/* Fills a panel with the values of finished runs; *runs is their number. */
uc_status finished_runs(size_t *runs, const execution *self, panel *to);
/* The panel has the values of that many whole runs. */
uc_status finished_keep(execution *self, const panel *from, size_t runs);
/* All is done, or nothing is to be kept. */
void finished_remove(execution *self);

/* ---- data sets (data.c) ---- */

typedef struct data_set {
    const char *name;
    const char *const *files; /* without .svm.zst, ends with NULL */
    const char *source;       /* where it can be had */
} data_set;

extern const data_set data_sets[]; /* ends with a name of NULL */
const data_set *data_find(const char *name);
/* --data, or the environment's, or the usual place. */
const char *data_directory(const char *given);
bool data_is_there(const char *directory, const char *name);
/* False, with a sentence in the report, when it is not there. */
bool data_need(execution *self, const char *name);
/* Reads one file of a data set, such as "optdigits.train". */
uc_status data_read(uc_dataset *out, const execution *self, const char *file);
/* The lines of a text file of the directory, in order. */
uc_status data_read_lines(uc_names *out, const execution *self, const char *file);

/* ---- pictures (plot.c) ---- */

/* Writes BASE.gp and has gnuplot draw BASE.svg and BASE.png; without gnuplot it says so. `title` is shown
 * where there are several panels, else the panel's own; `suffix` goes behind either. */
uc_status plot_draw(const report *self, const char *title, const char *suffix, const char *directory,
                    const char *base);

/* ---- files (files.c) ---- */

/* What goes into a text file. */
typedef void text_fn(FILE *file, const void *user);
/* DIRECTORY/NAME with this text; it appears with app_finish_files. */
uc_status begin_text(const char *directory, const char *name, text_fn *print, const void *user);

/* ---- commands ---- */

typedef struct data_args {
    const char *directory;
} data_args;
extern const uc_option data_options[];                /* --data */
extern const app_command command_list, command_fetch; /* list.c */
extern const app_command command_run;                 /* run.c */

#endif
