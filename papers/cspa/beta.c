/*
 * Section 5.1, figures 1 and 2: CSPA's beta against the amount of noise. Convergence is guaranteed below
 * 1/(K-1), which is the range shaded in the pictures.
 */
#include "cspa.h"

#include <stdlib.h>

static const double betas[] = {0.02, 0.05, 0.1, 0.167, 0.25, 0.333, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
static const double variances[] = {0.05, 0.1, 0.3, 0.5, 1};

#define BETAS (sizeof betas / sizeof *betas)
#define VARIANCES (sizeof variances / sizeof *variances)
#define TOY_ROUNDS 4000 /* 1,000 per class */

/* The quick version leaves out every second value. */
static size_t beta_stride(const execution *self)
{
    return self->quick ? 2 : 1;
}

/* One line per amount of noise. */
static panel *beta_panel(execution *self, const char *name, const char *title, const double *sigmas,
                         size_t count, size_t classes)
{
    panel *table = report_panel(&self->report, name, title, PLOT_LINES, "beta", "right proposals, %");
    table->decimals = 1;
    table->most = 100.0;
    table->shaded_to = 1.0 / (double)(classes - 1);
    table->shaded_title = "below 1/(K-1)";
    for (size_t i = 0; i < count; i++) {
        char *label = app_text("sigma %g", sigmas[i]);
        panel_column(table, label);
        free(label);
    }
    for (size_t i = 0; i < BETAS; i += beta_stride(self))
        panel_row(table, betas[i], "%g", betas[i]);
    return table;
}

/* Runs every beta on the same rows. */
static uc_status run_betas(panel *table, size_t column, const rounds *prepared, const execution *self,
                           uint64_t seed)
{
    bool *right = app_calloc(prepared->X.rows, sizeof *right);
    uc_status status = UC_OK;
    size_t row = 0;
    for (size_t i = 0; i < BETAS && status == UC_OK; i += beta_stride(self)) {
        status = rounds_run(right, prepared, prepared->X.rows, &methods[CSPA], betas[i], seed);
        if (status == UC_OK)
            panel_add(table, row++, column, percent_right(right, prepared->X.rows));
    }
    free(right);
    return status;
}

/* ---- figure 1 ---- */

static uc_status run_toy(panel *table, size_t column, const execution *self, uint64_t seed)
{
    const uc_generator *gaussians = uc_generator_find("cspa-gaussians");
    const uc_preprocessing unit_length = {.cols = 2, .normalize = true};
    char variance[32];
    uc_dataset toy = {0};
    void *settings = app_calloc(1, uc_generator_settings_size(gaussians));
    uc_options_defaults(uc_generator_options(gaussians), settings);
    snprintf(variance, sizeof variance, "%g", variances[column]);
    uc_status status =
        uc_option_set(uc_options_find(uc_generator_options(gaussians), "sigma"), settings, variance);
    if (status == UC_OK)
        status = uc_generator_run(&toy, NULL, gaussians, settings, TOY_ROUNDS, 0, seed);
    if (status == UC_OK)
        status = uc_preprocessing_apply(&unit_length, &toy.X, &self->context);
    const rounds prepared = {toy.X, toy.y, &toy.classes};
    if (status == UC_OK)
        status = run_betas(table, column, &prepared, self, seed);
    uc_dataset_free(&toy);
    free(settings);
    return status;
}

static uc_status run_figure1(execution *self)
{
    panel *table = beta_panel(self, "toy", "Four Gaussians of variance sigma", variances, VARIANCES, 4);
    uc_status status = UC_OK;
    for (size_t run = 0; run < self->runs && status == UC_OK; run++)
        for (size_t i = 0; i < VARIANCES && status == UC_OK; i++) {
            execution_stage(self, (double)(run * VARIANCES + i), (double)(self->runs * VARIANCES),
                            "run %zu of %zu, sigma %g", run + 1, self->runs, variances[i]);
            status = run_toy(table, i, self, execution_seed(self, run));
        }
    report_note(
        &self->report,
        "The paper's figure has no numbers, and its variances are not named; its text: the larger the "
        "noise, the smaller the best beta; below 1/(K-1) CSPA is robust.");
    return status;
}

/* ---- figure 2 ---- */

static uc_status run_task(execution *self, const recipe *chosen)
{
    task from = {0};
    uc_status status = task_open(&from, self, chosen);
    if (status == UC_OK) {
        panel *table =
            beta_panel(self, chosen->name, chosen->name, chosen->sigma, SIGMAS, from.data.classes.count);
        for (size_t run = 0; run < self->runs && status == UC_OK; run++)
            for (size_t i = 0; i < SIGMAS && status == UC_OK; i++) {
                rounds prepared = {0};
                execution_stage(self, self->done, 1, "%s, run %zu of %zu, sigma %g", chosen->name, run + 1,
                                self->runs, chosen->sigma[i]);
                status = task_prepare(&prepared, &from, self, run, chosen->sigma[i], 0.0);
                if (status == UC_OK)
                    status = run_betas(table, i, &prepared, self, execution_seed(self, run));
                rounds_free(&prepared);
            }
        if (status != UC_OK)
            report_drop(&self->report, table);
    }
    task_free(&from);
    return status;
}

static uc_status run_figure2(execution *self)
{
    double tasks = 0.0;
    for (const recipe *chosen = linear_tasks; chosen->name; chosen++)
        tasks += chosen->sigma[1] > 0.0;
    for (const recipe *chosen = linear_tasks; chosen->name; chosen++)
        if (chosen->sigma[1] > 0.0 && task_takes_part(self, chosen)) {
            self->done = (double)self->report.panel_count / tasks;
            execution_settle(self, run_task(self, chosen), chosen->name);
        }
    if (self->report.panel_count > 0)
        report_note(
            &self->report,
            "Gaussian noise of deviation sigma on every value, before rows get unit length; on texts only "
            "on the words that occur. The paper's figure has no numbers, and does not name its sigmas: "
            "these are ours, in the features' units ([-1, 1]; pendigits 0 to 100, 20news tf-idf).");
    return UC_OK;
}

const experiment cspa_figure1 = {
    .name = "cspa.figure1",
    .what = "CSPA's beta against noise, four Gaussians",
    .data = (const char *const[]){NULL},
    .runs = 10,
    .quick_runs = 3,
    .run = run_figure1,
};

const experiment cspa_figure2 = {
    .name = "cspa.figure2",
    .what = "CSPA's beta against noise added to real data",
    .data = (const char *const[]){"20news-bydate", "sector", "vehicle", "shuttle", "usps", "pendigits", NULL},
    .runs = 10,
    .quick_runs = 2,
    .run = run_figure2,
};
