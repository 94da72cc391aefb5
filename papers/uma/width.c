/*
 * Beyond the paper: the width of its Gaussian kernel, which it does not give.
 *
 * The kernel is exp(-g |x-y|^2 / median squared distance). For several g: the perceptrons of table 1, and
 * UMA, next to the results printed in the paper.
 */
#include <math.h>

#include "problem.h"

enum { F_Y, F_CONF, F_FULL, UMA, COLUMNS };

static const char *const column_names[COLUMNS] = {"f_y", "f_conf", "f_full", "UMA, last"};
static const size_t published_places[COLUMNS] = {0, 1, 2, 4}; /* in `recipe.published` */
static const double divisors[] = {0.5, 1, 2, 5, 14};

#define DIVISORS (sizeof divisors / sizeof *divisors)

static const recipe *const problems[] = {&problem_optdigits, &problem_letter, NULL};

static bool runs_divisor(const execution *self, size_t i)
{
    return !self->quick || divisors[i] == 1 || divisors[i] == 14;
}

static panel *begin_table(execution *self, const recipe *chosen)
{
    panel *table = report_panel(&self->report, chosen->name, chosen->title, PLOT_LINES,
                                "g, of exp(-g |x-y|^2 / median squared distance)", "test error");
    table->log_x = true;
    for (size_t column = 0; column < COLUMNS; column++)
        panel_column(table, column_names[column]);
    for (size_t i = 0; i < DIVISORS; i++) {
        if (!runs_divisor(self, i))
            continue;
        const size_t row = panel_row(table, divisors[i], "%g", divisors[i]);
        for (size_t column = 0; column < COLUMNS; column++)
            panel_publish(table, row, column, chosen->published[published_places[column]]);
    }
    return table;
}

static uc_status run_once(execution *self, panel *table, size_t row, problem *from, size_t run)
{
    const uint64_t seed = execution_seed(self, run);
    const uc_uma_settings settings = uma_settings(UMA_LAST, 0);
    draw drawn = {0};
    uc_noise noise = {0};
    score scores[COLUMNS] = {0};
    uc_status status = problem_prepare(from, self, run);
    if (status != UC_OK)
        goto cleanup;
    const size_t conf = (size_t)lround(CONF_SHARE * (double)from->train.X.rows);
    uc_dataset clean = from->train;
    if ((status = draw_labels(&drawn, from, from->recipe->examples_per_class, seed, &self->context)) != UC_OK)
        goto cleanup;
    if ((status = draw_noise(&noise, &drawn, conf, &self->context)) != UC_OK)
        goto cleanup;
    if ((status = perceptron_and_test(&scores[F_Y], 0, &drawn.labelled, &from->test, seed, &self->context)) !=
        UC_OK)
        goto cleanup;
    if ((status = draw_test_conf(&scores[F_CONF], &drawn, conf, seed, &self->context)) != UC_OK)
        goto cleanup;
    if ((status = perceptron_and_test(&scores[F_FULL], 0, &clean, &from->test, seed, &self->context)) !=
        UC_OK)
        goto cleanup;
    if ((status = learn_and_test(&scores[UMA], "uma", &settings, &noise, &drawn.labelled, &from->test, seed,
                                 &self->context)) != UC_OK)
        goto cleanup;
    for (size_t column = 0; column < COLUMNS; column++)
        panel_add(table, row, column, scores[column].error);

cleanup:
    uc_noise_free(&noise);
    draw_free(&drawn);
    return status;
}

/* Runs the problem with another kernel width. */
static uc_status run_width(execution *self, panel *table, size_t row, const recipe *chosen, double divisor)
{
    recipe wider = *chosen;
    problem from = {0};
    wider.width_divisor = divisor;
    uc_status status = problem_open(&from, self, &wider);
    for (size_t run = 0; run < self->runs && status == UC_OK; run++) {
        execution_stage(self, (double)row, (double)table->row_count, "%s, g = %g, run %zu of %zu",
                        chosen->name, divisor, run + 1, self->runs);
        status = run_once(self, table, row, &from, run);
    }
    problem_free(&from);
    return status;
}

static void run_problem(execution *self, const recipe *chosen)
{
    panel *table = begin_table(self, chosen);
    uc_status status = UC_OK;
    size_t row = 0;
    for (size_t i = 0; i < DIVISORS && status == UC_OK; i++)
        if (runs_divisor(self, i))
            status = run_width(self, table, row++, chosen, divisors[i]);
    if (!execution_settle(self, status, chosen->name))
        report_drop(&self->report, table);
}

static uc_status run_widths(execution *self)
{
    for (size_t i = 0; problems[i]; i++)
        if (execution_wants(self, problems[i]->name) && !(self->quick && problems[i] == &problem_letter) &&
            data_need(self, problems[i]->data))
            run_problem(self, problems[i]);
    if (self->report.panel_count > 0)
        report_note(&self->report,
                    "The paper's figures are those of its table 1, whatever its width was; ours "
                    "there are g = %g for digits and g = %g for letters.",
                    problem_optdigits.width_divisor, problem_letter.width_divisor);
    return UC_OK;
}

const experiment uma_width = {
    .name = "uma.width",
    .what = "beyond the paper: table 1's perceptrons and UMA by the width of the kernel",
    .data = (const char *const[]){"optdigits", "letter", NULL},
    .runs = 5,
    .quick_runs = 1,
    .run = run_widths,
};
