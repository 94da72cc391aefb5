/* What `train auto` chose and found, as text. */
#include <math.h>
#include <string.h>

#include "cli.h"

#define CLOSE 0.01 /* of the criterion; a view within it counts as equally good */
#define LITTLE 2.0 /* percent of wrong labels that are not worth mentioning */

static const char *text_of(const uc_values *values, const char *name)
{
    const uc_value *value = values ? uc_values_find(values, name) : NULL;
    return value && value->text ? value->text : "";
}

static const uc_values *members_of(const uc_values *values, const char *name)
{
    const uc_value *value = uc_values_find(values, name);
    return value ? value->members : NULL;
}

/* "standardised columns, Gaussian kernel of width 12.5" */
static void print_view(FILE *text, const uc_values *options)
{
    const char *scale = text_of(options, "scale"), *columns = "unscaled columns";
    const double width = uc_values_number(options, "width");
    const uc_value *unit = uc_values_find(options, "normalize-input");
    if (strcmp(scale, "standard") == 0)
        columns = "standardised columns";
    else if (strcmp(scale, "numbers") == 0)
        columns = "standardised numbers, categories as 0 and 1";
    else if (strcmp(scale, "relevance") == 0)
        columns = "columns by what each tells about the labels";
    fprintf(text, "%s, %s", columns, unit && unit->flag ? "rows of unit length, " : "");
    if (!isnan(width))
        fprintf(text, "Gaussian kernel of width %.4g", width);
    else
        fputs("linear", text);
}

static double number_of(const uc_values *candidates, size_t i, const char *name)
{
    return uc_values_number(candidates->items[i].members, name);
}

/* The number of views among the candidates. Only views have a number of examples; heads and rivals come after
 * them. */
static size_t count_views(const uc_values *candidates)
{
    size_t count = candidates->count;
    while (count > 0 && isnan(number_of(candidates, count - 1, "examples")))
        count--;
    return count;
}

/* Prints the chosen view, and how many others were as good. Views that were rejected early were judged on
 * fewer examples. */
static void print_views(FILE *text, const uc_values *candidates, size_t count)
{
    size_t best = 0, close = 0;
    for (size_t i = 1; i < count; i++) {
        const double examples =
            number_of(candidates, i, "examples") - number_of(candidates, best, "examples");
        const double criterion =
            number_of(candidates, i, "criterion") - number_of(candidates, best, "criterion");
        if (examples > 0.0 || (examples == 0.0 && criterion < 0.0))
            best = i;
    }
    for (size_t i = 0; i < count; i++)
        close += i != best &&
                 number_of(candidates, i, "examples") == number_of(candidates, best, "examples") &&
                 number_of(candidates, i, "criterion") < number_of(candidates, best, "criterion") + CLOSE;
    fputs("view: ", text);
    print_view(text, members_of(candidates->items[best].members, "options"));
    fprintf(text, " (best of %zu by leave-one-out", count);
    if (close == 1)
        fputs(count == 2 ? "; the other was close" : "; another was close", text);
    else if (close > 1)
        fprintf(text, "; %zu others were close", close);
    fputs(")\n", text);
}

/* Heads: logistic regression and support vector machines instead of the last ridge regression. Prints whether
 * the best of them is better, and how close it was. */
static void print_heads(FILE *text, const uc_values *candidates, size_t first)
{
    size_t tried = 0, best = 0;
    for (size_t i = first; i < candidates->count; i++) {
        const double gain = number_of(candidates, i, "gain");
        if (isnan(number_of(candidates, i, "wrong_labels")))
            tried++;
        if (!isnan(gain))
            best = i;
    }
    if (tried == 0)
        return;
    const uc_values *head = candidates->items[best].members;
    const double gain = uc_values_number(head, "gain"), margin = uc_values_number(head, "gain_deviation");
    const uc_value *stands = uc_values_find(head, "stands");
    const char *name = text_of(head, "learner");
    if (stands && stands->flag)
        fprintf(text,
                "head: %s instead of ridge, the best of %zu: log-likelihood of a held-out label %.4f "
                "higher, +- %.4f\n",
                name, tried, gain, margin);
    else
        fprintf(text,
                "head: ridge; of %zu others %s was the closest: log-likelihood of a held-out label %.4f "
                "%s, +- %.4f\n",
                tried, name, fabs(gain), gain < 0.0 ? "lower" : "higher", margin);
}

/* Rivals: learners with another model of how labels arise. Prints whether one of them is believed. */
static void print_rivals(FILE *text, const uc_values *candidates, size_t first)
{
    for (size_t i = first; i < candidates->count; i++) {
        const uc_values *rival = candidates->items[i].members;
        if (isnan(uc_values_number(rival, "wrong_labels")))
            continue;
        const uc_value *stands = uc_values_find(rival, "stands");
        const double wrong = 100 * uc_values_number(rival, "wrong_labels");
        const char *name = text_of(rival, "learner");
        if (stands && stands->flag)
            fprintf(text,
                    "model: that of %s, for wrong labels that depend on the row: it explains %.1f%% of the "
                    "labels as wrong that look like overlap otherwise\n",
                    name, wrong);
        else
            fprintf(text, "model: auto's own; the %s model was tried and fits these labels less well\n",
                    name);
    }
}

static void print_noise(FILE *text, const uc_values *found)
{
    const char *noise = text_of(members_of(found, "chosen"), "noise");
    const double wrong = 100 * uc_values_number(found, "wrong_labels");
    if (strcmp(noise, "none") == 0 && wrong < LITTLE)
        fputs("labels: no sign of wrong ones\n", text);
    else if (strcmp(noise, "none") == 0)
        fprintf(text, "labels: about %.1f%% may be wrong; the data fit equally well if all are right\n",
                wrong);
    else if (strcmp(noise, "symmetric") != 0)
        fprintf(text, "labels: about %.1f%% are wrong, some classes more often than others\n", wrong);
    else
        fprintf(text, "labels: about %.1f%% are wrong, in all classes alike\n", wrong);
}

static void print_clean_error(FILE *text, const uc_values *error, const char *data, const char *model)
{
    const double rows = uc_values_number(error, "rows_to_check");
    cli_print_interval(text, "error on true classes: ", uc_values_number(error, "estimate"),
                       uc_values_number(error, "low"), uc_values_number(error, "high"),
                       ", if wrong labels do not depend on the example");
    if (!isnan(rows))
        cli_print_check(text, rows, data, model);
}

void cli_print_auto(FILE *text, const uc_values *found, const char *data, const char *model)
{
    const uc_values *candidates = members_of(found, "candidates"), *error = members_of(found, "clean_error");
    const size_t views = candidates ? count_views(candidates) : 0;
    if (views > 0)
        print_views(text, candidates, views);
    if (candidates) {
        print_heads(text, candidates, views);
        print_rivals(text, candidates, views);
    }
    if (!isnan(uc_values_number(found, "wrong_labels")))
        print_noise(text, found);
    if (error)
        print_clean_error(text, error, data, model);
}
