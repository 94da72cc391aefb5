/* An evaluation as text and as JSON. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

#define MATRIX_CLASSES 20 /* a larger confusion matrix is summarised */
#define LARGEST 10        /* confusions that the summary shows */

static json_t *json_counts(const uint64_t *counts, size_t classes)
{
    json_t *rows = json_array();
    for (size_t p = 0; p < classes; p++) {
        json_t *row = json_array();
        for (size_t q = 0; q < classes; q++)
            json_array_append_new(row, json_integer((json_int_t)counts[p * classes + q]));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* Whole numbers, unless examples have weights. */
static json_t *json_confusion(const uc_evaluation *evaluation)
{
    const size_t K = evaluation->classes;
    if (evaluation->weighted)
        return app_json_matrix(evaluation->weighted_confusion, K, K);
    return json_counts(evaluation->confusion, K);
}

/* N[cell], with the examples' weights if they have any. */
static double weight_of(const uc_evaluation *evaluation, size_t cell)
{
    if (evaluation->weighted)
        return evaluation->weighted_confusion[cell];
    return (double)evaluation->confusion[cell];
}

/* Adds a cell with a count, or with a sum of weights. */
static void count_cell(app_grid *table, const uc_evaluation *evaluation, size_t cell)
{
    if (evaluation->weighted)
        app_cell(table, "%.6g", evaluation->weighted_confusion[cell]);
    else
        app_cell(table, "%llu", (unsigned long long)evaluation->confusion[cell]);
}

static uint64_t examples_of(const uc_evaluation *evaluation, size_t cls)
{
    uint64_t sum = 0;
    for (size_t q = 0; q < evaluation->classes; q++)
        sum += evaluation->confusion[cls * evaluation->classes + q];
    return sum;
}

/* The corrected error as a share. */
static double plugin_error(const uc_evaluation *evaluation)
{
    return fmin(fmax(evaluation->corrected_error, 0.0), 1.0);
}

static uint64_t predictions_of(const uc_evaluation *evaluation, size_t cls)
{
    uint64_t sum = 0;
    for (size_t p = 0; p < evaluation->classes; p++)
        sum += evaluation->confusion[p * evaluation->classes + cls];
    return sum;
}

json_t *cli_json_interval(double share, uint64_t examples)
{
    double interval[2];
    if (examples == 0 || isnan(share))
        return json_null();
    uc_metrics_wilson_of_share(interval, share, (double)examples);
    return app_json_reals(interval, 2);
}

json_t *cli_json_class(const char *name, uint64_t examples, uint64_t predictions, double recall,
                       double precision, const double *f1)
{
    json_t *class = json_pack("{so sI so so}", "class", app_json_text(name), "examples", (json_int_t)examples,
                              "recall", app_json_real(recall), "precision", app_json_real(precision));
    if (f1)
        json_object_set_new(class, "f1", app_json_real(*f1));
    json_object_set_new(class, "recall_interval", cli_json_interval(recall, examples));
    json_object_set_new(class, "precision_interval", cli_json_interval(precision, predictions));
    return class;
}

/* Adds the error and confusion matrix corrected for the given noise; shares are clipped to [0, 1]. */
static void correction_json(json_t *object, const uc_evaluation *evaluation)
{
    const double error = plugin_error(evaluation);
    json_object_set_new(object, "corrected_error", app_json_real(error));
    json_object_set_new(object, "corrected_error_plugin", app_json_real(error));
    json_object_set_new(object, "corrected_error_deviation",
                        app_json_real(evaluation->corrected_error_deviation));
    json_object_set_new(
        object, "corrected_confusion",
        app_json_matrix(evaluation->corrected_confusion, evaluation->classes, evaluation->classes));
}

void cli_report_json(json_t *object, const cli_report *self)
{
    const uc_evaluation *evaluation = self->evaluation;
    const uc_names *classes = self->classes;
    json_t *per_class = json_array();
    for (size_t k = 0; k < evaluation->classes; k++) {
        json_t *class =
            cli_json_class(classes->text[k], examples_of(evaluation, k), predictions_of(evaluation, k),
                           evaluation->recall[k], evaluation->precision[k], &evaluation->f1[k]);
        json_array_append_new(per_class, class);
    }
    json_object_set_new(object, "examples", json_integer((json_int_t)evaluation->examples));
    json_object_set_new(object, "error", app_json_real(evaluation->error));
    json_object_set_new(object, "error_interval",
                        json_pack("[oo]", app_json_real(evaluation->error_interval[0]),
                                  app_json_real(evaluation->error_interval[1])));
    json_object_set_new(object, "balanced_accuracy", app_json_real(evaluation->balanced_accuracy));
    json_object_set_new(object, "macro_f1", app_json_real(evaluation->macro_f1));
    json_object_set_new(object, "log_loss", app_json_real(evaluation->log_loss));
    json_object_set_new(object, "classes", app_json_names(classes));
    json_object_set_new(object, "confusion", json_confusion(evaluation));
    if (evaluation->weighted) {
        json_object_set_new(object, "weight", app_json_real(evaluation->weight));
        json_object_set_new(object, "effective_examples", app_json_real(evaluation->effective_examples));
    }
    json_object_set_new(object, "confusion_rate", app_json_real(evaluation->confusion_rate));
    json_object_set_new(object, "confusion_norm", app_json_real(evaluation->confusion_norm));
    json_object_set_new(object, "confusion_norm_joint", app_json_real(evaluation->confusion_norm_joint));
    json_object_set_new(object, "per_class", per_class);
    json_object_set_new(object, "unlabelled", json_integer((json_int_t)evaluation->unlabelled));
    json_object_set_new(object, "unknown_labels", json_integer((json_int_t)evaluation->unknown_labels));
    if (self->clean->found)
        json_object_set_new(object, "clean_error", cli_clean_error_json(self->clean));
    if (evaluation->corrected)
        correction_json(object, evaluation);
}

/* ---- text ---- */

static void percent_cell(app_grid *table, double share)
{
    if (isnan(share))
        app_cell(table, "-");
    else
        app_cell(table, "%.1f%%", 100 * share);
}

/* Prints a row of shares below the counts. */
static void print_margin(app_grid *table, const char *title, const double *shares, size_t classes)
{
    app_cell(table, "%s", title);
    for (size_t k = 0; k < classes; k++)
        percent_cell(table, shares[k]);
    app_cell(table, "%s", "");
}

/* Prints counts or, with `shares`, estimated percentages of all examples. */
static void print_matrix(FILE *file, const uc_evaluation *evaluation, const uc_names *classes,
                         const double *shares)
{
    const size_t K = evaluation->classes;
    app_grid table = {.align = "lr", .columns = K + (shares ? 1 : 2)};
    app_cell(&table, "true \\ predicted");
    for (size_t q = 0; q < K; q++)
        app_cell(&table, "%s", classes->text[q]);
    if (!shares)
        app_cell(&table, "recall");
    for (size_t p = 0; p < K; p++) {
        app_cell(&table, "%s", classes->text[p]);
        for (size_t q = 0; q < K; q++)
            if (shares)
                app_cell(&table, "%.1f%%", 100 * shares[p * K + q]);
            else
                count_cell(&table, evaluation, p * K + q);
        if (!shares)
            percent_cell(&table, evaluation->recall[p]);
    }
    if (!shares) {
        print_margin(&table, "precision", evaluation->precision, K);
        print_margin(&table, "F1", evaluation->f1, K);
    }
    app_grid_print(&table, file);
}

static void print_classes(FILE *file, const uc_evaluation *evaluation, const uc_names *classes)
{
    app_grid table = {.align = "lr", .columns = 5};
    app_cell(&table, "class");
    app_cell(&table, "examples");
    app_cell(&table, "recall");
    app_cell(&table, "precision");
    app_cell(&table, "F1");
    for (size_t k = 0; k < evaluation->classes; k++) {
        app_cell(&table, "%s", classes->text[k]);
        app_cell(&table, "%llu", (unsigned long long)examples_of(evaluation, k));
        percent_cell(&table, evaluation->recall[k]);
        percent_cell(&table, evaluation->precision[k]);
        percent_cell(&table, evaluation->f1[k]);
    }
    app_grid_print(&table, file);
}

static void print_largest(FILE *file, const uc_evaluation *evaluation, const uc_names *classes)
{
    const size_t K = evaluation->classes;
    size_t largest[LARGEST], count = 0; /* cells, by descending count */
    for (size_t cell = 0; cell < K * K; cell++) {
        const double value = weight_of(evaluation, cell);
        if (cell / K == cell % K || value == 0.0)
            continue;
        size_t at = count < LARGEST ? count++ : LARGEST;
        for (; at > 0 && weight_of(evaluation, largest[at - 1]) < value; at--)
            if (at < LARGEST)
                largest[at] = largest[at - 1];
        if (at < LARGEST)
            largest[at] = cell;
    }
    if (count == 0)
        return;
    app_grid table = {.align = "llr", .columns = 3};
    app_cell(&table, "true");
    app_cell(&table, "predicted");
    app_cell(&table, "examples");
    for (size_t i = 0; i < count; i++) {
        app_cell(&table, "%s", classes->text[largest[i] / K]);
        app_cell(&table, "%s", classes->text[largest[i] % K]);
        count_cell(&table, evaluation, largest[i]);
    }
    fputs("\nlargest confusions\n", file);
    app_grid_print(&table, file);
}

/* Prints the clean error where users look for it: below the error on the labels. */
static void print_clean(FILE *file, const cli_report *self)
{
    const uc_evaluation *evaluation = self->evaluation;
    if (self->clean->found)
        cli_clean_error_print(file, self->clean, self->data, self->model);
    if (evaluation->corrected)
        fprintf(file, "without noise      error %.2f%% +- %.2f%% (%s)\n", 100 * plugin_error(evaluation),
                100 * evaluation->corrected_error_deviation,
                self->estimated ? "too low: the noise was estimated from these same labels"
                                : "unbiased if the noise given is that of these labels");
}

static void print_numbers(FILE *file, const cli_report *self)
{
    const uc_evaluation *evaluation = self->evaluation;
    if (evaluation->weighted)
        fprintf(
            file,
            "error              %.2f%% (of a weight of %.6g, as much as %.6g equal examples; 95%% interval "
            "%.2f%% to %.2f%%)\n",
            100 * evaluation->error, evaluation->weight, evaluation->effective_examples,
            100 * evaluation->error_interval[0], 100 * evaluation->error_interval[1]);
    else
        fprintf(file, "error              %.2f%% (%zu of %zu; 95%% interval %.2f%% to %.2f%%)\n",
                100 * evaluation->error, evaluation->errors, evaluation->examples,
                100 * evaluation->error_interval[0], 100 * evaluation->error_interval[1]);
    if (evaluation->unknown_labels)
        fprintf(file, "unknown labels     %zu, counted as errors and as one more class\n",
                evaluation->unknown_labels);
    if (evaluation->unlabelled)
        fprintf(file, "unlabelled         %zu, skipped\n", evaluation->unlabelled);
    print_clean(file, self);
    fprintf(file, "balanced accuracy  %.2f%% (mean recall, each class weighted equally)\n",
            100 * evaluation->balanced_accuracy);
    fprintf(file,
            "macro F1           %.2f%% (mean F1 over classes; F1: harmonic mean of precision and recall)\n",
            100 * evaluation->macro_f1);
    if (!isnan(evaluation->log_loss))
        fprintf(file, "log loss           %.4f (mean of -log of the probability of the label)\n",
                evaluation->log_loss);
    fprintf(file,
            "confusion rate     %.4f (shares of each class taken for another: Frobenius norm / sqrt(%zu))\n",
            evaluation->confusion_rate, evaluation->classes);
    fprintf(file, "confusion norm     %.4f (largest singular value of the same shares, the spectral norm)\n",
            evaluation->confusion_norm);
    fprintf(file,
            "joint norm         %.4f (spectral norm of shares of all examples: large classes count more)\n",
            evaluation->confusion_norm_joint);
}

void cli_report_text(FILE *file, const cli_report *self)
{
    const uc_evaluation *evaluation = self->evaluation;
    const uc_names *classes = self->classes;
    print_numbers(file, self);
    fputc('\n', file);
    if (evaluation->classes > MATRIX_CLASSES) {
        print_classes(file, evaluation, classes);
        print_largest(file, evaluation, classes);
        return;
    }
    print_matrix(file, evaluation, classes, NULL);
    if (evaluation->corrected) {
        fputs("\nwithout noise, estimated shares of all examples\n", file);
        print_matrix(file, evaluation, classes, evaluation->corrected_confusion);
    }
}
