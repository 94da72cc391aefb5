/* Section 4.2: digits, letters and news, labelled by a rough classifier. Table 1 and figures 2 to 5. */
#include "problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const recipe *const all_problems[] = {&problem_optdigits, &problem_letter, &problem_reuters_r8,
                                             &problem_reuters_r52, NULL};
/* In figure 4's order. */
static const recipe *const figure4_problems[] = {&problem_reuters_r8, &problem_optdigits, &problem_letter,
                                                 NULL};

static const char *const all_data[] = {"optdigits", "letter", "reuters-r52", NULL};
static const char *const reuters_data[] = {"reuters-r52", NULL};

static bool s3vm_is_there(execution *self)
{
    if (learner_exists("s3vm"))
        return true;
    report_skip(&self->report, "skipped: S3VM: this build has no learner 's3vm'");
    return false;
}

static void note_problem(execution *self, const problem *shown)
{
    char kernel[96] = "tf-idf, no kernel";
    if (shown->gamma > 0.0)
        snprintf(kernel, sizeof kernel,
                 "Gaussian kernel PCA, D = %zu, gamma = %.4g (%g / median squared distance)",
                 shown->train.X.cols, shown->gamma, shown->recipe->width_divisor);
    report_note(&self->report, "%s: %zu training and %zu test examples, %zu classes, %s", shown->recipe->name,
                shown->train.X.rows, shown->test.X.rows, shown->train.classes.count, kernel);
    if (shown->recipe->iterations)
        report_note(&self->report, "%s: UMA and the perceptrons take at most %llu steps", shown->recipe->name,
                    (unsigned long long)shown->recipe->iterations);
}

/* Whether a problem is to be run, and its data are available. The quick version leaves out the slowest
 * one. */
static bool takes_part(execution *self, const recipe *chosen)
{
    const bool wanted =
        execution_wants(self, chosen->name) && !(self->quick && chosen == &problem_reuters_r52);
    return wanted && data_need(self, chosen->data);
}

/* Opens a problem and finds its first unfinished run. */
static uc_status begin_runs(size_t *first, execution *self, panel *table, problem *from, const recipe *chosen)
{
    uc_status status = problem_open(from, self, chosen);
    if (status == UC_OK)
        status = finished_runs(first, self, table);
    if (status == UC_OK && *first == self->runs)
        status = problem_prepare(from, self, *first - 1); /* no run does, and the notes show its size */
    return status;
}

/* ---- figure 2: how the classes are distributed ---- */

static uc_status show_classes(execution *self, const recipe *chosen)
{
    problem shown = {0};
    uc_status status = problem_open(&shown, self, chosen);
    const uc_dataset *data = chosen->train_rows ? &shown.all : &shown.raw_train;
    size_t *counts = app_calloc(data->classes.count, sizeof *counts);
    if (status == UC_OK) {
        panel *table =
            report_panel(&self->report, chosen->name, chosen->title, PLOT_BARS, "class", "examples");
        panel_column(table, "examples");
        uc_dataset_class_counts(counts, data);
        for (size_t k = 0; k < data->classes.count; k++) {
            const char *name = data->classes.text[k];
            char shown_name[64];
            if (chosen == &problem_letter)
                snprintf(shown_name, sizeof shown_name, "%c", 'A' + (int)k);
            else if (chosen == &problem_optdigits)
                snprintf(shown_name, sizeof shown_name, "%zu", k);
            else
                snprintf(shown_name, sizeof shown_name, "%s", name);
            panel_add(table, panel_row(table, (double)k, "%s", shown_name), 0, (double)counts[k]);
        }
    }
    free(counts);
    problem_free(&shown);
    return status;
}

static uc_status run_figure2(execution *self)
{
    for (size_t i = 0; all_problems[i]; i++)
        if (all_problems[i] != &problem_reuters_r52 && takes_part(self, all_problems[i]))
            execution_settle(self, show_classes(self, all_problems[i]), all_problems[i]->name);
    self->runs = 1;
    if (self->report.panel_count > 0)
        report_note(
            &self->report,
            "The paper: digits and letters are even; its 9 classes of Reuters have roughly 500 to nearly "
            "4,000 examples.");
    return UC_OK;
}

/* ---- table 1 ---- */

enum {
    F_Y,
    F_CONF,
    F_FULL,
    S3VM,
    UMA,
    S3VM_UNPROJECTED,
    PUBLISHED,
    UMA_AVERAGED = PUBLISHED,
    FORWARD,
    METHODS
};

static const char *const method_names[METHODS] = {
    "f_y",          "f_conf",
    "f_full",       "S3VM",
    "UMA, last",    "S3VM, no projection",
    "UMA, average", "logistic, forward",
};

/* Methods are rows, so that every table is narrow. */
static panel *table1_panel(execution *self, const recipe *chosen)
{
    panel *table =
        report_panel(&self->report, chosen->name, chosen->title, PLOT_BARS, "method", "test error");
    panel_column(table, "error");
    for (size_t method = 0; method < METHODS; method++) {
        panel_row(table, (double)method, "%s", method_names[method]);
        if (method < PUBLISHED)
            panel_publish(table, method, 0, chosen->published[method]);
    }
    return table;
}

/* Tests the learners that are given y and C. */
static uc_status test_corrected(panel *table, draw *drawn, const uc_noise *noise, uint64_t seed,
                                const uc_context *context)
{
    static const struct {
        size_t method;
        int returns;
    } variants[] = {{UMA, UMA_LAST}, {UMA_AVERAGED, UMA_AUTO}};
    const uc_dataset *test = &drawn->problem->test;
    score result;
    uc_status status = UC_OK;
    for (size_t i = 0; i < sizeof variants / sizeof *variants && status == UC_OK; i++) {
        const uc_uma_settings settings =
            uma_settings(variants[i].returns, drawn->problem->recipe->iterations);
        status = learn_and_test(&result, "uma", &settings, noise, &drawn->labelled, test, seed, context);
        if (status == UC_OK)
            panel_add(table, variants[i].method, 0, result.error);
    }
    if (status == UC_OK)
        status = learn_and_test(&result, "logistic", NULL, noise, &drawn->labelled, test, seed, context);
    if (status == UC_OK)
        panel_add(table, FORWARD, 0, result.error);
    return status;
}

/* Tests the perceptrons. If the split is fixed, f_full is the same in every run. */
static uc_status test_perceptrons(panel *table, draw *drawn, size_t conf, bool full, uint64_t seed,
                                  const uc_context *context)
{
    const problem *from = drawn->problem;
    score result;
    uc_status status =
        perceptron_and_test(&result, from->recipe->iterations, &drawn->labelled, &from->test, seed, context);
    if (status != UC_OK)
        return status;
    panel_add(table, F_Y, 0, result.error);
    if ((status = draw_test_conf(&result, drawn, conf, seed, context)) != UC_OK)
        return status;
    panel_add(table, F_CONF, 0, result.error);
    if (!full)
        return UC_OK;
    uc_dataset clean = from->train;
    status = perceptron_and_test(&result, from->recipe->iterations, &clean, &from->test, seed, context);
    if (status == UC_OK)
        panel_add(table, F_FULL, 0, result.error);
    return status;
}

static uc_status test_s3vms(panel *table, const draw *drawn, size_t conf, uint64_t seed,
                            const execution *running)
{
    const problem *from = drawn->problem;
    const uc_context *context = &running->context;
    score result;
    uc_status status =
        draw_test_s3vm(&result, drawn, conf, S3VM_COST, &from->train, &from->test, seed, context);
    if (status != UC_OK)
        return status;
    panel_add(table, S3VM, 0, result.error);
    if (from->gamma == 0.0) { /* there is no projection to leave out */
        panel_add(table, S3VM_UNPROJECTED, 0, result.error);
        return UC_OK;
    }
    uc_dataset train = {0}, test = {0};
    status = problem_unproject(&train, &test, from, running->quick, true, seed, context);
    if (status == UC_OK)
        status = draw_test_s3vm(&result, drawn, conf, S3VM_COST, &train, &test, seed, context);
    if (status == UC_OK)
        panel_add(table, S3VM_UNPROJECTED, 0, result.error);
    uc_dataset_free(&train);
    uc_dataset_free(&test);
    return status;
}

static uc_status run_protocol(execution *self, panel *table, problem *from, size_t run)
{
    const uint64_t seed = execution_seed(self, run);
    draw drawn = {0};
    uc_noise noise = {0};
    uc_status status = problem_prepare(from, self, run);
    if (status != UC_OK)
        goto cleanup;
    const size_t conf = (size_t)lround(CONF_SHARE * (double)from->train.X.rows);
    if ((status = draw_labels(&drawn, from, from->recipe->examples_per_class, seed, &self->context)) != UC_OK)
        goto cleanup;
    if ((status = draw_noise(&noise, &drawn, conf, &self->context)) != UC_OK)
        goto cleanup;
    if ((status = test_perceptrons(table, &drawn, conf, run == 0 || from->recipe->train_rows, seed,
                                   &self->context)) != UC_OK)
        goto cleanup;
    if ((status = test_corrected(table, &drawn, &noise, seed, &self->context)) != UC_OK)
        goto cleanup;
    if (s3vm_is_there(self) && (status = test_s3vms(table, &drawn, conf, seed, self)) != UC_OK)
        goto cleanup;

cleanup:
    uc_noise_free(&noise);
    draw_free(&drawn);
    return status;
}

/* `done`: the number of problems before this one. */
static void run_problem(execution *self, const recipe *chosen, size_t done)
{
    problem from = {0};
    panel *table = table1_panel(self, chosen);
    size_t first = 0;
    uc_status status = begin_runs(&first, self, table, &from, chosen);
    for (size_t run = first; run < self->runs && status == UC_OK; run++) {
        execution_stage(self, (double)(done * self->runs + run), 4.0 * (double)self->runs,
                        "%s, run %zu of %zu", chosen->name, run + 1, self->runs);
        status = run_protocol(self, table, &from, run);
        if (status == UC_OK)
            status = finished_keep(self, table, run + 1);
    }
    if (execution_settle(self, status, chosen->name))
        note_problem(self, &from);
    else
        report_drop(&self->report, table);
    problem_free(&from);
}

static uc_status run_table1(execution *self)
{
    for (size_t i = 0; all_problems[i]; i++)
        if (takes_part(self, all_problems[i]))
            run_problem(self, all_problems[i], i);
    if (self->report.panel_count > 0)
        report_note(
            &self->report,
            "f_y: perceptron on y = g(x); f_conf: perceptron on the true labels of S_conf; f_full: on all "
            "true labels; UMA, last: as in the paper; UMA, average: our default; logistic, forward: "
            "beyond the paper, from the same y and C. Reuters R8 stands in for the paper's corpus");
    return UC_OK;
}

/* ---- figures 3 and 4: the size of S_conf ---- */

typedef struct sizes_plan {
    const recipe *recipe;
    size_t examples_per_class;
    bool s3vm; /* UMA is compared with the S3VM, otherwise with f_conf */
} sizes_plan;

static const double shares[] = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4};

#define SHARES (sizeof shares / sizeof *shares)

static bool runs_share(const execution *self, size_t i)
{
    return !self->quick || i % 2 == 1;
}

/* Tests UMA with C from the first `count` rows of the order, and its rival with the labels of the same
 * rows. */
static uc_status test_size(panel *table, size_t row, draw *drawn, size_t count, bool s3vm, uint64_t seed,
                           const uc_context *context)
{
    static const int returns[] = {UMA_LAST, UMA_AUTO};
    const problem *from = drawn->problem;
    uc_noise noise = {0};
    score result;
    uc_status status = draw_noise(&noise, drawn, count, context);
    for (size_t i = 0; i < 2 && status == UC_OK; i++) {
        const uc_uma_settings settings = uma_settings(returns[i], from->recipe->iterations);
        status =
            learn_and_test(&result, "uma", &settings, &noise, &drawn->labelled, &from->test, seed, context);
        if (status == UC_OK)
            panel_add(table, row, i, result.error);
    }
    uc_noise_free(&noise);
    if (status != UC_OK || (s3vm && !learner_exists("s3vm")))
        return status;
    if (s3vm)
        status = draw_test_s3vm(&result, drawn, count, S3VM_COST, &from->train, &from->test, seed, context);
    else
        status = draw_test_conf(&result, drawn, count, seed, context);
    if (status == UC_OK)
        panel_add(table, row, 2, result.error);
    return status;
}

static uc_status run_sizes_once(execution *self, panel *table, problem *from, const sizes_plan *plan,
                                size_t run)
{
    const uint64_t seed = execution_seed(self, run);
    draw drawn = {0};
    uc_status status = problem_prepare(from, self, run);
    if (status == UC_OK)
        status = draw_labels(&drawn, from, plan->examples_per_class, seed, &self->context);
    size_t row = 0;
    for (size_t i = 0; i < SHARES && status == UC_OK; i++) {
        if (!runs_share(self, i))
            continue;
        const size_t count = (size_t)lround(shares[i] * (double)from->train.X.rows);
        if (run == 0)
            panel_row(table, (double)count, "%zu", count);
        execution_stage(self, (double)run, (double)self->runs, "%s, run %zu of %zu, %zu labels",
                        from->recipe->name, run + 1, self->runs, count);
        status = test_size(table, row++, &drawn, count, plan->s3vm, seed, &self->context);
    }
    draw_free(&drawn);
    return status;
}

static void run_sizes(execution *self, const sizes_plan *plan)
{
    problem from = {0};
    if (!takes_part(self, plan->recipe))
        return;
    char title[96];
    snprintf(title, sizeof title, "%s, m = %zu", plan->recipe->title, plan->examples_per_class);
    panel *table = report_panel(&self->report, plan->recipe->name, title, PLOT_LINES,
                                "labelled examples in S_conf", "test error");
    table->log_x = true;
    panel_column(table, "UMA, last");
    panel_column(table, "UMA, average");
    panel_column(table, plan->s3vm ? "S3VM" : "f_conf");
    size_t first = 0;
    uc_status status = begin_runs(&first, self, table, &from, plan->recipe);
    for (size_t run = first; run < self->runs && status == UC_OK; run++) {
        status = run_sizes_once(self, table, &from, plan, run);
        if (status == UC_OK)
            status = finished_keep(self, table, run + 1);
    }
    if (execution_settle(self, status, plan->recipe->name))
        note_problem(self, &from);
    else
        report_drop(&self->report, table);
    problem_free(&from);
}

static uc_status run_figure3(execution *self)
{
    const sizes_plan plan = {&problem_reuters_r8, 70, false};
    run_sizes(self, &plan);
    if (self->report.panel_count > 0)
        report_note(
            &self->report,
            "The paper's figure has no numbers; its text: UMA hardly depends on the size, f_conf wins "
            "once it is large, and UMA is near 0.11 at 550 examples.");
    return UC_OK;
}

static uc_status run_figure4(execution *self)
{
    (void)s3vm_is_there(self);
    for (size_t i = 0; figure4_problems[i]; i++) {
        const sizes_plan plan = {figure4_problems[i], figure4_problems[i]->examples_per_class, true};
        run_sizes(self, &plan);
    }
    if (self->report.panel_count > 0)
        report_note(&self->report,
                    "The paper's figure has no numbers; its text: UMA is low and stable from few labels on, "
                    "S3VM starts high and keeps improving.");
    return UC_OK;
}

/* ---- figure 5: choosing the pair ---- */

static const size_t iterations[] = {1, 2, 3, 4, 5, 7, 10, 14, 20, 25, 30, 40, 50, 70, 100, 150, 200};

#define ITERATIONS (sizeof iterations / sizeof *iterations)

/* Every iterate is the last one of a shorter training, since UMA takes the same steps again. */
static uc_status follow_choice(panel *const tables[2], size_t column, draw *drawn, const uc_noise *noise,
                               uint64_t seed, const execution *running)
{
    score result;
    uc_status status = UC_OK;
    size_t row = 0;
    for (size_t i = 0; i < ITERATIONS && status == UC_OK; i++) {
        if (running->quick && iterations[i] > 50)
            break;
        uc_uma_settings settings = uma_settings(UMA_LAST, iterations[i]);
        settings.choose = (int)column;
        status = learn_and_test(&result, "uma", &settings, noise, &drawn->labelled, &drawn->problem->test,
                                seed, &running->context);
        if (status != UC_OK)
            break;
        panel_add(tables[0], row, column, result.error);
        panel_add(tables[1], row++, column, result.confusion_rate);
    }
    return status;
}

static void begin_figure5(panel *tables[2], execution *self)
{
    static const char *const values[] = {"test error", "confusion rate"};
    static const char *const names[] = {"error", "confusion-rate"};
    for (size_t i = 0; i < 2; i++) {
        tables[i] = report_panel(&self->report, names[i], problem_reuters_r8.title, PLOT_LINES, "iteration",
                                 values[i]);
        tables[i]->log_x = true;
        panel_column(tables[i], "error"); /* in the order of UMA_ERROR ... */
        panel_column(tables[i], "confusion");
        panel_column(tables[i], "random");
        for (size_t j = 0; j < ITERATIONS && !(self->quick && iterations[j] > 50); j++)
            panel_row(tables[i], (double)iterations[j], "%zu", iterations[j]);
    }
}

static uc_status run_figure5(execution *self)
{
    panel *tables[2];
    problem from = {0};
    if (!takes_part(self, &problem_reuters_r8))
        return UC_OK;
    begin_figure5(tables, self);
    uc_status status = problem_open(&from, self, &problem_reuters_r8);
    for (size_t run = 0; run < self->runs && status == UC_OK; run++) {
        const uint64_t seed = execution_seed(self, run);
        draw drawn = {0};
        uc_noise noise = {0};
        status = problem_prepare(&from, self, run);
        const size_t conf = (size_t)lround(CONF_SHARE * (double)from.train.X.rows);
        if (status == UC_OK)
            status = draw_labels(&drawn, &from, from.recipe->examples_per_class, seed, &self->context);
        if (status == UC_OK)
            status = draw_noise(&noise, &drawn, conf, &self->context);
        for (size_t column = 0; column < 3 && status == UC_OK; column++) {
            execution_stage(self, (double)(3 * run + column), 3.0 * (double)self->runs, "run %zu of %zu",
                            run + 1, self->runs);
            status = follow_choice(tables, column, &drawn, &noise, seed, self);
        }
        uc_noise_free(&noise);
        draw_free(&drawn);
    }
    if (status == UC_OK)
        note_problem(self, &from);
    report_note(
        &self->report,
        "The paper's figure has no numbers; its text: a stable state around the 30th iteration, random is "
        "never the best, confusion is best for the confusion rate and error for the error.");
    problem_free(&from);
    return status;
}

const experiment uma_figure2 = {
    .name = "uma.figure2",
    .what = "how the classes of the data sets are distributed",
    .data = all_data,
    .runs = 1,
    .quick_runs = 1,
    .run = run_figure2,
};

const experiment uma_table1 = {
    .name = "uma.table1",
    .what = "test errors when a rough classifier has labelled the data",
    .data = all_data,
    .runs = 10,
    .quick_runs = 1,
    .run = run_table1,
};

const experiment uma_figure3 = {
    .name = "uma.figure3",
    .what = "Reuters: UMA and f_conf against the size of S_conf",
    .data = reuters_data,
    .runs = 10,
    .quick_runs = 1,
    .run = run_figure3,
};

const experiment uma_figure4 = {
    .name = "uma.figure4",
    .what = "UMA and S3VM against the size of S_conf",
    .data = all_data,
    .runs = 15,
    .quick_runs = 1,
    .run = run_figure4,
};

const experiment uma_figure5 = {
    .name = "uma.figure5",
    .what = "Reuters: error and confusion along the iterations, by the choice of the pair",
    .data = reuters_data,
    .runs = 10,
    .quick_runs = 1,
    .run = run_figure5,
};
