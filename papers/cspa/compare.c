/*
 * Section 5.2: CSPA, Banditron, Confidit and BPA run over the same rounds, with right or wrong as the only
 * feedback.
 *
 *   table 1, figure 3   linear; the hyper-parameter with the best mean over all runs, as in the paper
 *   table 2, figure 4   after Gaussian kernel values against the first 700 examples; width and
 *                       hyper-parameter with the best mean over the first CHOICE_RUNS runs, or over one run
 *                       of MANY_ROUNDS
 *
 * The figures are curves of the ratio in every 100 rounds, with the choices of the table. Two methods that
 * are not in the paper run as well: cspa-plus with its defaults, and SPA, which sees all labels. With the
 * kernel, only their width is chosen.
 */
#include "cspa.h"

#include <math.h>
#include <stdlib.h>

#define WINDOW 100 /* rounds per point of a curve */
#define CHOICE_RUNS 3
#define MANY_ROUNDS 20000 /* for which one run is enough to choose by */
#define LEVEL 0.05        /* of the t-tests */
#define TABLE_LINES 12    /* in a curve's table */
#define MOST_WIDTHS 5
#define MOST_VALUES 10

static const double linear_width[] = {0.0};
static const double kernel_widths[] = {0.01, 0.1, 1, 10, 100};

typedef struct plan {
    bool kernel, curves;
    const recipe *tasks;
    values widths;
} plan;

static const plan table1 = {false, false, linear_tasks, {linear_width, 1}};
static const plan table2 = {true, false, kernel_tasks, {kernel_widths, MOST_WIDTHS}};
static const plan figure3 = {false, true, linear_tasks, {linear_width, 1}};
static const plan figure4 = {true, true, kernel_tasks, {kernel_widths, MOST_WIDTHS}};

/* A method without a hyper-parameter has one candidate per width. */
static values values_of(const plan *self, const method *who)
{
    static const double none[] = {0.0};
    if (!who->option)
        return (values){none, 1};
    return self->kernel ? who->kernel : who->linear;
}

/* ---- hyper-parameters ---- */

typedef struct choice {
    double width, value;
} choice;

/* Percentages of all candidates, as sums over the runs. */
typedef struct tally {
    double sums[METHODS][MOST_WIDTHS][MOST_VALUES];
} tally;

/* Runs all candidates for one width on the same rounds. */
static uc_status try_values(tally *out, const plan *how, size_t width, const rounds *prepared, uint64_t seed)
{
    const size_t count = prepared->X.rows;
    bool *right = app_calloc(count, sizeof *right);
    uc_status status = UC_OK;
    for (size_t p = 0; p < METHODS; p++) {
        const values tried = values_of(how, &methods[p]);
        if (how->widths.count * tried.count == 1)
            continue; /* there is no choice */
        for (size_t v = 0; v < tried.count && status == UC_OK; v++) {
            status = rounds_run(right, prepared, count, &methods[p], tried.list[v], seed);
            if (status == UC_OK)
                out->sums[p][width][v] += percent_right(right, count);
        }
    }
    free(right);
    return status;
}

static choice best_of(const tally *from, const plan *how, size_t p)
{
    const values tried = values_of(how, &methods[p]);
    choice best = {0};
    double most = -1.0;
    for (size_t w = 0; w < how->widths.count; w++)
        for (size_t v = 0; v < tried.count; v++)
            if (from->sums[p][w][v] > most) {
                most = from->sums[p][w][v];
                best = (choice){how->widths.list[w], tried.list[v]};
            }
    return best;
}

static void note_choices(execution *self, const plan *how, const task *from, const choice *chosen)
{
    char text[512];
    size_t used = 0;
    const size_t K = from->data.classes.count;
    for (size_t p = 0; p < (how->kernel ? METHODS : PUBLISHED); p++) {
        const double value = isnan(chosen[p].value) ? 1.0 / (2.0 * (double)(K - 1)) : chosen[p].value;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s", p ? "," : ":", methods[p].title);
        if (methods[p].option)
            used += (size_t)snprintf(text + used, sizeof text - used, " %s %.3g", methods[p].symbol, value);
        if (how->kernel)
            used += (size_t)snprintf(text + used, sizeof text - used, " g %g", chosen[p].width);
    }
    report_note(&self->report, "%s, %zu rounds, %zu classes%s", from->recipe->name, task_rounds(from, self),
                K, text);
}

static uc_status choose(choice chosen[METHODS], execution *self, const plan *how, const task *from)
{
    const size_t rows = from->data.X.rows, most = rows > MANY_ROUNDS ? 1 : CHOICE_RUNS;
    const size_t runs = how->kernel && most < self->runs ? most : self->runs;
    tally sums = {0};
    uc_status status = UC_OK;
    for (size_t run = 0; run < runs && status == UC_OK; run++)
        for (size_t w = 0; w < how->widths.count && status == UC_OK; w++) {
            rounds prepared = {0};
            execution_stage(self, self->done, 1, "%s, choosing, run %zu of %zu", from->recipe->name, run + 1,
                            runs);
            status = task_prepare(&prepared, from, self, run, 0.0, how->widths.list[w]);
            if (status == UC_OK)
                status = try_values(&sums, how, w, &prepared, execution_seed(self, run));
            rounds_free(&prepared);
        }
    for (size_t p = 0; p < METHODS; p++)
        chosen[p] = best_of(&sums, how, p);
    if (status == UC_OK)
        note_choices(self, how, from, chosen);
    return status;
}

/* ---- results ---- */

static void add_methods(panel *table)
{
    table->decimals = 1;
    table->most = 100.0;
    for (size_t p = 0; p < METHODS; p++)
        panel_column(table, methods[p].title);
}

/* Where the results of a task go: a row of the common table, or a separate panel. */
typedef struct place {
    panel *panel;
    size_t row;
} place;

static place begin_place(execution *self, const plan *how, const recipe *chosen)
{
    report *shown = &self->report;
    const char *title = "Right/wrong feedback only: linear";
    if (how->kernel)
        title = "Right/wrong feedback only: Gaussian kernel, 700 examples";
    if (how->curves) {
        panel *curves = report_panel(shown, chosen->name, chosen->name, PLOT_LINES, "round",
                                     "right proposals of every 100, %");
        add_methods(curves);
        return (place){curves, 0};
    }
    if (shown->panel_count == 0)
        add_methods(report_panel(shown, how->kernel ? "kernel" : "linear", title, PLOT_GROUPS, "data set",
                                 "right proposals, %"));
    panel *table = shown->panels[0];
    const size_t row = panel_row(table, (double)table->row_count, "%s", chosen->name);
    for (size_t p = 0; p < PUBLISHED; p++) {
        panel_publish(table, row, p, chosen->published[p]);
        panel_publish_deviation(table, row, p, chosen->deviation[p]);
    }
    return (place){table, row};
}

static void add_result(const place *to, const plan *how, size_t p, const bool *right, size_t count)
{
    if (!how->curves) {
        panel_add(to->panel, to->row, p, percent_right(right, count));
        return;
    }
    while (to->panel->row_count < count / WINDOW)
        panel_row(to->panel, (double)((to->panel->row_count + 1) * WINDOW), "%zu",
                  (to->panel->row_count + 1) * WINDOW);
    to->panel->printed_every = (to->panel->row_count + TABLE_LINES - 1) / TABLE_LINES;
    for (size_t i = 0; i < count / WINDOW; i++)
        panel_add(to->panel, i, p, percent_right(right + i * WINDOW, WINDOW));
}

/* Runs all methods for which this width was chosen, on the rounds of one run. */
static uc_status run_width(const place *to, execution *self, const plan *how, const task *from,
                           const choice *chosen, double width, size_t run)
{
    rounds prepared = {0};
    uc_status status = task_prepare(&prepared, from, self, run, 0.0, width);
    const size_t count = prepared.X.rows;
    bool *right = app_calloc(count, sizeof *right);
    for (size_t p = 0; p < METHODS && status == UC_OK; p++) {
        if (chosen[p].width != width)
            continue;
        execution_stage(self, self->done, 1, "%s, run %zu of %zu, %s", from->recipe->name, run + 1,
                        self->runs, methods[p].title);
        status = rounds_run(right, &prepared, count, &methods[p], chosen[p].value, execution_seed(self, run));
        if (status == UC_OK)
            add_result(to, how, p, right, count);
    }
    free(right);
    rounds_free(&prepared);
    return status;
}

static bool is_anybodys(const choice *chosen, double width)
{
    for (size_t p = 0; p < METHODS; p++)
        if (chosen[p].width == width)
            return true;
    return false;
}

/* Marks the best one of the paper's four methods, and those that no t-test distinguishes from it. */
static void mark_best(panel *table, size_t row)
{
    size_t best = 0;
    for (size_t p = 1; p < PUBLISHED; p++)
        if (cell_mean(panel_cell(table, row, p)) > cell_mean(panel_cell(table, row, best)))
            best = p;
    const cell *leader = panel_cell(table, row, best);
    for (size_t p = 0; p < PUBLISHED; p++) {
        const cell *other = panel_cell(table, row, p);
        if (leader->count > 1 && other->count == leader->count &&
            !(uc_metrics_paired_t_test(leader->values, other->values, leader->count) < LEVEL))
            panel_mark(table, row, p);
    }
}

/* Does all runs of a task, with what was chosen for it. */
static uc_status run_all(execution *self, const plan *how, const task *from, const choice *chosen)
{
    const place to = begin_place(self, how, from->recipe);
    uc_status status = UC_OK;
    for (size_t run = 0; run < self->runs && status == UC_OK; run++)
        for (size_t w = 0; w < how->widths.count && status == UC_OK; w++)
            if (is_anybodys(chosen, how->widths.list[w]))
                status = run_width(&to, self, how, from, chosen, how->widths.list[w], run);
    if (status == UC_OK && !how->curves)
        mark_best(to.panel, to.row);
    else if (status != UC_OK && how->curves)
        report_drop(&self->report, to.panel);
    else if (status != UC_OK)
        panel_drop_last_row(to.panel);
    return status;
}

static uc_status run_task(execution *self, const plan *how, const recipe *wanted)
{
    task from = {0};
    choice chosen[METHODS];
    uc_status status = task_open(&from, self, wanted);
    const bool too_short = status == UC_OK && how->curves && task_rounds(&from, self) < WINDOW;
    if (too_short)
        report_skip(&self->report, "skipped: %s has fewer than %d rounds", wanted->name, WINDOW);
    if (status == UC_OK && !too_short)
        status = choose(chosen, self, how, &from);
    if (status == UC_OK && !too_short)
        status = run_all(self, how, &from, chosen);
    task_free(&from);
    return status;
}

static void note_protocol(execution *self, const plan *how)
{
    if (how->kernel)
        report_note(&self->report,
                    "Chosen by the ratio itself, over the first %d runs (the first one where there are more "
                    "than %d rounds); g is "
                    "the width of the kernel exp(-|x-y|^2/g). cspa-plus, at its defaults, and SPA, which "
                    "sees every label, "
                    "choose g only.",
                    CHOICE_RUNS, MANY_ROUNDS);
    else
        report_note(
            &self->report,
            "Chosen by the ratio itself, over all runs, as in the paper. cspa-plus runs at its defaults; "
            "SPA sees every label. 20news is another edition than the paper's (11,314 texts, 44,628 "
            "words): counts, and tf-idf.");
    if (!how->curves)
        report_note(&self->report,
                    "*: of the paper's four the best, and those that a paired t-test at 5%% does "
                    "not distinguish from it.");
}

static uc_status run_comparison(execution *self, const plan *how)
{
    size_t tasks = 0, begun = 0;
    for (const recipe *chosen = how->tasks; chosen->name; chosen++)
        tasks++;
    for (const recipe *chosen = how->tasks; chosen->name; chosen++) {
        self->done = (double)begun++ / (double)tasks;
        if (task_takes_part(self, chosen))
            execution_settle(self, run_task(self, how, chosen), chosen->name);
    }
    if (self->report.panel_count > 0)
        note_protocol(self, how);
    return UC_OK;
}

static uc_status run_table1(execution *self)
{
    return run_comparison(self, &table1);
}

static uc_status run_table2(execution *self)
{
    return run_comparison(self, &table2);
}

static uc_status run_figure3(execution *self)
{
    return run_comparison(self, &figure3);
}

static uc_status run_figure4(execution *self)
{
    return run_comparison(self, &figure4);
}

static const char *const linear_data[] = {"20news-bydate", "sector",    "vehicle", "shuttle",
                                          "usps",          "pendigits", NULL};
static const char *const kernel_data[] = {"satimage", "mnist",      "letter", "segment",
                                          "vowel",    "sensorless", NULL};

const experiment cspa_table1 = {
    .name = "cspa.table1",
    .what = "right/wrong feedback: ratio of right proposals, linear",
    .data = linear_data,
    .runs = 10,
    .quick_runs = 2,
    .run = run_table1,
};

const experiment cspa_table2 = {
    .name = "cspa.table2",
    .what = "right/wrong feedback: ratio of right proposals, Gaussian kernel",
    .data = kernel_data,
    .runs = 10,
    .quick_runs = 2,
    .run = run_table2,
};

const experiment cspa_figure3 = {
    .name = "cspa.figure3",
    .what = "right/wrong feedback: the ratio along the rounds, linear",
    .data = linear_data,
    .runs = 10,
    .quick_runs = 2,
    .run = run_figure3,
};

const experiment cspa_figure4 = {
    .name = "cspa.figure4",
    .what = "right/wrong feedback: the ratio along the rounds, Gaussian kernel",
    .data = kernel_data,
    .runs = 10,
    .quick_runs = 2,
    .run = run_figure4,
};
