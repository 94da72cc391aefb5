/* The results of unconfuse experiment: tables as text, JSON, CSV, LaTeX. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/csv.h"
#include "experiment.h"

/* The learners, best mean rank first; those that ever failed come last. */
static size_t *order_learners(const experiment_result *self)
{
    size_t *order = app_calloc(self->learner_count, sizeof *order);
    for (size_t j = 0; j < self->learner_count; j++) {
        size_t place = j;
        const double rank = self->learners[j].rank;
        while (place > 0) {
            const double before = self->learners[order[place - 1]].rank;
            if (isnan(rank) || (!isnan(before) && before <= rank))
                break;
            order[place] = order[place - 1];
            place--;
        }
        order[place] = j;
    }
    return order;
}

/* The smallest error of a column. */
static double best_error(const experiment_result *self, size_t data, size_t noise)
{
    double best = INFINITY;
    for (size_t j = 0; j < self->learner_count; j++)
        best = fmin(best, experiment_at(self, data, noise, j)->error); /* fmin ignores NaN */
    return best;
}

/* ---- text ---- */

static void print_errors(const experiment_result *self, size_t data, const size_t *order, FILE *file)
{
    app_grid table = {.align = "lr", .columns = self->noise_count + 1};
    app_cell(&table, "%s", self->data[data]);
    for (size_t k = 0; k < self->noise_count; k++)
        app_cell(&table, "%s", self->noise[k]);
    for (size_t i = 0; i < self->learner_count; i++) {
        app_cell(&table, "%s", self->learners[order[i]].name);
        for (size_t k = 0; k < self->noise_count; k++) {
            const experiment_cell *cell = experiment_at(self, data, k, order[i]);
            const char *mark = cell->error == best_error(self, data, k) ? "*" : " ";
            if (cell->why)
                app_cell(&table, "- ");
            else if (isnan(cell->deviation))
                app_cell(&table, "%.2f%%%s", 100.0 * cell->error, mark);
            else
                app_cell(&table, "%.2f%% ±%.2f%s", 100.0 * cell->error, 100.0 * cell->deviation, mark);
        }
    }
    app_grid_print(&table, file);
    fputc('\n', file);
}

static void print_ranks(const experiment_result *self, const size_t *order, FILE *file)
{
    app_grid table = {.align = "lrrr", .columns = 4};
    app_cell(&table, "all problems");
    app_cell(&table, "mean rank");
    app_cell(&table, "mean error");
    app_cell(&table, "seconds a run");
    for (size_t i = 0; i < self->learner_count; i++) {
        const experiment_learner *learner = &self->learners[order[i]];
        if (isnan(learner->rank))
            continue;
        app_cell(&table, "%s", learner->name);
        app_cell(&table, "%.2f", learner->rank);
        app_cell(&table, "%.2f%%", 100.0 * learner->error);
        app_cell(&table, "%.3g", learner->seconds);
    }
    app_grid_print(&table, file);
}

static void print_test(const experiment_result *self, FILE *file)
{
    const size_t problems = self->data_count * self->noise_count;
    if (isnan(self->test.p_value)) {
        fputs("\nWhether learners differ, only several problems and learners can tell.\n", file);
        return;
    }
    fprintf(file, "\nFriedman's test over %zu problems: p = %.2g.", problems, self->test.p_value);
    if (self->test.p_value < UC_SIGNIFICANCE)
        fprintf(file, " Mean ranks that are more than %.2f apart differ at 5%% (Nemenyi).\n",
                self->test.critical_difference);
    else
        fputs(" No significant difference between learners.\n", file);
}

/* Prints a sentence for every learner that failed, with the first problem where it did. */
static void print_failures(const experiment_result *self, FILE *file)
{
    for (size_t j = 0; j < self->learner_count; j++) {
        size_t failed = 0, first = 0;
        const size_t problems = self->data_count * self->noise_count;
        for (size_t i = problems; i-- > 0;)
            if (self->cells[i * self->learner_count + j].why) {
                failed++;
                first = i;
            }
        if (failed > 0)
            fprintf(file, "Left out in %zu of %zu: %s: %s\n", failed, problems, self->learners[j].name,
                    self->cells[first * self->learner_count + j].why);
    }
}

void experiment_print(const experiment_result *self, FILE *file)
{
    size_t *order = order_learners(self);
    const char *runs = self->runs == 1 ? "run" : "runs";
    fprintf(file, "Test errors on true labels, %zu %s%s (* the smallest of a column)\n\n", self->runs, runs,
            self->runs > 1 ? ", mean ±deviation" : "");
    for (size_t d = 0; d < self->data_count; d++)
        print_errors(self, d, order, file);
    print_ranks(self, order, file);
    print_test(self, file);
    print_failures(self, file);
    free(order);
}

/* ---- JSON ---- */

static json_t *cell_json(const experiment_result *self, size_t data, size_t noise, size_t learner)
{
    const experiment_cell *cell = experiment_at(self, data, noise, learner);
    return json_pack("{so so so sI so so so so so so}", "data", app_json_text(self->data[data]), "noise",
                     app_json_text(self->noise[noise]), "learner",
                     app_json_text(self->learners[learner].name), "runs", (json_int_t)self->runs, "error",
                     app_json_real(cell->error), "deviation", app_json_real(cell->deviation), "seconds",
                     app_json_real(cell->seconds), "rank", app_json_real(cell->rank), "errors",
                     app_json_reals(cell->errors, self->runs), "failed",
                     cell->why ? app_json_text(cell->why) : json_null());
}

static json_t *learner_json(const experiment_learner *self)
{
    return json_pack("{so so so so}", "learner", app_json_text(self->name), "rank", app_json_real(self->rank),
                     "error", app_json_real(self->error), "seconds", app_json_real(self->seconds));
}

json_t *experiment_json(const experiment_result *self)
{
    json_t *results = json_array(), *learners = json_array();
    size_t *order = order_learners(self);
    for (size_t d = 0; d < self->data_count; d++)
        for (size_t k = 0; k < self->noise_count; k++)
            for (size_t j = 0; j < self->learner_count; j++)
                json_array_append_new(results, cell_json(self, d, k, j));
    for (size_t j = 0; j < self->learner_count; j++)
        json_array_append_new(learners, learner_json(&self->learners[order[j]]));
    free(order);
    return json_pack("{so so so so sI so so so sf}", "results", results, "learners", learners, "data",
                     app_json_texts(self->data, self->data_count), "noise",
                     app_json_texts(self->noise, self->noise_count), "runs", (json_int_t)self->runs,
                     "friedman_statistic", app_json_real(self->test.statistic), "p_value",
                     app_json_real(self->test.p_value), "critical_difference",
                     app_json_real(self->test.critical_difference), "significance", UC_SIGNIFICANCE);
}

/* ---- CSV ---- */

void experiment_csv(const experiment_result *self, FILE *file)
{
    fputs("data,noise,learner,runs,error,deviation,seconds,rank\n", file);
    for (size_t d = 0; d < self->data_count; d++)
        for (size_t k = 0; k < self->noise_count; k++)
            for (size_t j = 0; j < self->learner_count; j++) {
                const experiment_cell *cell = experiment_at(self, d, k, j);
                app_csv_text(file, self->data[d], ',');
                app_csv_text(file, self->noise[k], ',');
                app_csv_text(file, self->learners[j].name, ',');
                fprintf(file, "%zu,", self->runs);
                app_csv_real(file, cell->error, ',');
                app_csv_real(file, cell->deviation, ',');
                app_csv_real(file, cell->seconds, ',');
                app_csv_real(file, cell->rank, '\n');
            }
}

/* ---- LaTeX ---- */

static void latex_text(const char *text, FILE *file)
{
    for (; *text; text++)
        if (*text == '\\')
            fputs("\\textbackslash{}", file);
        else if (*text == '~' || *text == '^')
            fprintf(file, "\\%c{}", *text);
        else if (strchr("&%$#_{}", *text))
            fprintf(file, "\\%c", *text);
        else
            fputc(*text, file);
}

static void latex_cell(const experiment_cell *self, bool best, FILE *file)
{
    if (self->why) {
        fputs(" & --", file);
        return;
    }
    fprintf(file, " & $%s%.2f%s", best ? "\\mathbf{" : "", 100.0 * self->error, best ? "}" : "");
    if (!isnan(self->deviation))
        fprintf(file, " \\pm %.2f", 100.0 * self->deviation);
    fputc('$', file);
}

void experiment_latex(const experiment_result *self, FILE *file)
{
    size_t *order = order_learners(self);
    fprintf(file, "%% test errors in %%, mean and deviation of %zu run%s; needs no package\n", self->runs,
            self->runs == 1 ? "" : "s");
    fprintf(file, "\\begin{tabular}{ll*{%zu}{r}}\n\\hline\ndata & noise", self->learner_count);
    for (size_t j = 0; j < self->learner_count; j++) {
        fputs(" & ", file);
        latex_text(self->learners[order[j]].name, file);
    }
    fputs(" \\\\\n\\hline\n", file);
    for (size_t d = 0; d < self->data_count; d++)
        for (size_t k = 0; k < self->noise_count; k++) {
            latex_text(k == 0 ? self->data[d] : "", file);
            fputs(" & ", file);
            latex_text(self->noise[k], file);
            for (size_t j = 0; j < self->learner_count; j++) {
                const experiment_cell *cell = experiment_at(self, d, k, order[j]);
                latex_cell(cell, cell->error == best_error(self, d, k), file);
            }
            fputs(" \\\\\n", file);
        }
    fputs("\\hline\nmean rank &", file);
    for (size_t j = 0; j < self->learner_count; j++)
        if (isnan(self->learners[order[j]].rank))
            fputs(" & --", file);
        else
            fprintf(file, " & $%.2f$", self->learners[order[j]].rank);
    fputs(" \\\\\n\\hline\n\\end{tabular}\n", file);
    free(order);
}
