/* unconfuse compare: finds which online learner suits the data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "learner_list.h"

typedef struct compare_args {
    uc_compare_settings compare;
    uc_train_settings train;
    uc_read_settings read;
    app_report report;
    const char *learners;
} compare_args;

#define FIELD(name) offsetof(compare_args, name)
static const uc_option options[] = {
    {.name = "learners",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(learners),
     .argument = "a,b,c",
     .help =
         "the learners to compare, each with options of its own if any, as in cspa:beta=0.5,bpa (without it: "
         "every online learner for the feedback)"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Comparison options", uc_compare_options, FIELD(compare)},
    {"Training options", uc_train_options, FIELD(train)},
    {"Map options", uc_map_options, FIELD(train.map)},
    {"Data options", uc_read_options, FIELD(read)},
    {"Report", app_report_options, FIELD(report)},
    {0},
};

static uc_status check_options(const app_call *call)
{
    if (app_given(call, "shuffle"))
        return app_fail(UC_ERR_OPTION, "--shuffle is not for compare: every run is a shuffle of its own");
    if (app_given(call, "average"))
        return app_fail(UC_ERR_OPTION, "--average is not for compare: it changes models, never a proposal");
    return UC_OK;
}

/* ---- names ---- */

/* "cspa:beta=0.3", in the form that --learners reads: options that are not at their default or that were
 * tuned. */
static const char *label(const uc_compared *self, bool tuned, char *text, size_t size)
{
    const uc_option *table = uc_learner_options(self->learner);
    size_t length = (size_t)snprintf(text, size, "%s", uc_learner_name(self->learner));
    for (; table->name && length < size; table++) {
        char value[64];
        uc_option_text(table, self->settings, value, sizeof value);
        if (strcmp(value, table->standard) != 0 || (tuned && cli_is_on_grid(self->learner, table->name)))
            length += (size_t)snprintf(text + length, size - length, ":%s=%s", table->name, value);
    }
    return text;
}

static const char *feedback_name(int feedback)
{
    static const char *const names[] = {
        [UC_FEEDBACK_FULL] = "full", [UC_FEEDBACK_PARTIAL] = "partial", [UC_FEEDBACK_MIXED] = "mixed"};
    return names[feedback];
}

/* ---- JSON ---- */

/* [{round, ratio_correct, deviation, recent_recall}]: like that of stream, but over all runs. */
static json_t *json_curve(const uc_compared *self, const uc_comparison *all, size_t classes)
{
    json_t *curve = json_array();
    for (size_t p = 0; p < all->points; p++) {
        json_t *point =
            json_pack("{sI so so}", "round", (json_int_t)all->point_rounds[p], "ratio_correct",
                      app_json_real(self->curve[p]), "deviation", app_json_real(self->curve_deviation[p]));
        if (self->recall)
            json_object_set_new(point, "recent_recall", app_json_reals(self->recall + p * classes, classes));
        json_array_append_new(curve, point);
    }
    return curve;
}

static json_t *json_learner(const uc_compared *self, const uc_comparison *all, size_t classes)
{
    const size_t runs = (size_t)all->runs;
    json_t *settings = json_object();
    app_json_settings(settings, uc_learner_options(self->learner), self->settings);
    return json_pack("{ss so ss sb so so so so so so so}", "learner", uc_learner_name(self->learner),
                     "settings", settings, "feedback", feedback_name((int)self->feedback), "reference",
                     self->reference, "mean", app_json_real(self->mean), "deviation",
                     app_json_real(self->deviation), "ratios", app_json_reals(self->ratios, runs), "seconds",
                     app_json_real(self->seconds), "differs_from_best",
                     runs > 1 ? json_boolean(self->differs) : json_null(), "p_value",
                     app_json_real(self->p_value), "curve", json_curve(self, all, classes));
}

static json_t *as_json(const uc_comparison *self, const compare_args *args, const uc_dataset *data)
{
    json_t *learners = json_array(), *p_values = json_array();
    for (size_t i = 0; i < self->count; i++) {
        json_array_append_new(learners, json_learner(&self->learners[i], self, data->classes.count));
        json_array_append_new(p_values, app_json_reals(self->p_values + i * self->count, self->count));
    }
    return json_pack("{so ss sI sI sI sI so ss sb so sf so}", "learners", learners, "best",
                     uc_learner_name(self->learners[self->best].learner), "best_position",
                     (json_int_t)self->best, "runs", (json_int_t)self->runs, "passes",
                     (json_int_t)args->compare.passes, "examples", (json_int_t)data->X.rows, "classes",
                     app_json_names(&data->classes), "feedback", feedback_name(args->compare.feedback),
                     "grid", args->compare.grid, "width", app_json_real(self->width), "significance",
                     UC_SIGNIFICANCE, "p_values", p_values);
}

/* ---- text ---- */

/* With two runs, the t-distribution has such heavy tails that hardly any difference is significant. */
#define ENOUGH_RUNS 3

static const char *verdict(const uc_comparison *self, size_t i, char *text, size_t size)
{
    const uc_compared *learner = &self->learners[i];
    if (i == self->best)
        snprintf(text, size, "best");
    else if (isnan(learner->p_value))
        snprintf(text, size, "-");
    else if (!learner->differs && self->runs < ENOUGH_RUNS)
        snprintf(text, size, "too few runs to tell (p = %.2g)", learner->p_value);
    else if (!learner->differs)
        snprintf(text, size, "not significantly different (p = %.2g)", learner->p_value);
    else
        snprintf(text, size, "%s (p = %.2g)",
                 learner->mean > self->learners[self->best].mean ? "better" : "worse", learner->p_value);
    return text;
}

/* The remark on a learner whose feedback differs from that of the comparison. */
static const char *remark(const uc_compared *learner, bool other)
{
    if (!other)
        return "";
    return learner->reference ? "; sees the labels" : "; sees only right or wrong";
}

static void print_table(const uc_comparison *self, const compare_args *args, FILE *file)
{
    app_grid table = {.align = "lrrrl", .columns = 5};
    char text[256];
    app_cell(&table, "learner");
    app_cell(&table, "correct");
    app_cell(&table, "deviation");
    app_cell(&table, "seconds");
    app_cell(&table, "compared with the best");
    for (size_t i = 0; i < self->count; i++) {
        const uc_compared *learner = &self->learners[i];
        const bool other = (int)learner->feedback != args->compare.feedback;
        app_cell(&table, "%s", label(learner, args->compare.grid, text, sizeof text));
        app_cell(&table, "%.2f%%", 100 * learner->mean);
        if (isnan(learner->deviation))
            app_cell(&table, "-");
        else
            app_cell(&table, "%.2f%%", 100 * learner->deviation);
        app_cell(&table, "%.4f", learner->seconds);
        app_cell(&table, "%s%s", verdict(self, i, text, sizeof text), remark(learner, other));
    }
    app_grid_print(&table, file);
}

/* The learners that a sentence is about. */
typedef enum group { EQUAL, WORSE, REFERENCE } group;

/* Learners with the same feedback as the best are EQUAL or, if significantly worse, WORSE. The others are
 * references. */
static bool is_in(group wanted, const uc_comparison *self, size_t i)
{
    const uc_compared *learner = &self->learners[i];
    if (i == self->best)
        return false;
    if (learner->reference != self->learners[self->best].reference)
        return wanted == REFERENCE;
    return wanted == (learner->differs ? WORSE : EQUAL);
}

/* Writes "a, b and c"; returns the number of learners. */
static size_t list_learners(char *out, size_t size, const uc_comparison *self, group wanted, bool tuned)
{
    char text[256];
    size_t total = 0, length = 0, listed = 0;
    out[0] = 0;
    for (int writes = 0; writes < 2; writes++)
        for (size_t i = 0; i < self->count && length < size; i++) {
            if (!is_in(wanted, self, i))
                continue;
            if (!writes) {
                total++;
                continue;
            }
            const char *between = listed + 1 == total ? " and " : ", ";
            if (listed == 0)
                between = "";
            length += (size_t)snprintf(out + length, size - length, "%s%s", between,
                                       label(&self->learners[i], tuned, text, sizeof text));
            listed++;
        }
    return total;
}

/* Prints the conclusion in one sentence. */
static void print_conclusion(const uc_comparison *self, bool tuned, FILE *file)
{
    char best[256], equals[2048], losers[2048], references[2048];
    label(&self->learners[self->best], tuned, best, sizeof best);
    if (self->runs < 2) {
        fprintf(file,
                "\n%s was best in the one run; whether that is chance, only more runs can tell (--runs).\n",
                best);
        return;
    }
    const size_t equal = list_learners(equals, sizeof equals, self, EQUAL, tuned);
    const size_t worse = list_learners(losers, sizeof losers, self, WORSE, tuned);
    fprintf(file, "\n%s is best", best);
    if (equal > 0 && self->runs < ENOUGH_RUNS)
        fprintf(file, "; two runs cannot show that %s %s worse: give more, such as --runs 10", equals,
                equal == 1 ? "is" : "are");
    else if (equal > 0)
        fprintf(file, "; %s %s not significantly worse", equals, equal == 1 ? "is" : "are");
    else if (worse == 1)
        fprintf(file, "; %s is significantly worse", losers);
    else if (worse > 1)
        fputs("; all others are significantly worse", file);
    if (equal + worse > 0)
        fprintf(file, " (paired t-test over %llu runs, 5%%)", (unsigned long long)self->runs);
    fputc('.', file);
    const size_t seeing = list_learners(references, sizeof references, self, REFERENCE, tuned);
    if (seeing == 1)
        fprintf(file, " %s sees the labels; it is a reference and is not ranked.", references);
    else if (seeing > 1)
        fprintf(file, " %s see the labels; they are references and are not ranked.", references);
    fputc('\n', file);
}

/* p-values of all pairs, numbered as the table's lines. */
static void print_pairs(const uc_comparison *self, bool tuned, FILE *file)
{
    app_grid table = {.align = "rlr", .columns = self->count + 2};
    char text[256];
    app_cell(&table, "%s", "");
    app_cell(&table, "p-values");
    for (size_t i = 0; i < self->count; i++)
        app_cell(&table, "%zu", i + 1);
    for (size_t i = 0; i < self->count; i++) {
        app_cell(&table, "%zu", i + 1);
        app_cell(&table, "%s", label(&self->learners[i], tuned, text, sizeof text));
        for (size_t j = 0; j < self->count; j++)
            app_cell(&table, "%.2g", self->p_values[i * self->count + j]);
    }
    fputc('\n', file);
    app_grid_print(&table, file);
}

static void print(const uc_comparison *self, const app_call *call, const uc_dataset *data, FILE *file)
{
    const compare_args *args = call->args;
    const bool tuned = args->compare.grid;
    const char *runs = self->runs == 1 ? "run" : "runs";
    const char *passes = args->compare.passes == 1 ? "pass" : "passes";
    static const char *const in_words[] = {[UC_FEEDBACK_FULL] = "the label",
                                           [UC_FEEDBACK_PARTIAL] = "only right or wrong",
                                           [UC_FEEDBACK_MIXED] =
                                               "right or wrong, and some labels after wrong ones"};
    const char *feedback = in_words[args->compare.feedback];
    fprintf(file, "%zu examples, %zu classes, %llu %s of %llu %s, feedback: %s", data->X.rows,
            data->classes.count, (unsigned long long)self->runs, runs,
            (unsigned long long)args->compare.passes, passes, feedback);
    if (!isnan(self->width))
        fprintf(file, ", kernel of width %.6g", self->width);
    fputs(tuned ? ", options chosen on 2 other shuffles\n\n" : "\n\n", file);
    print_table(self, args, file);
    if (call->common.verbose && self->runs > 1)
        print_pairs(self, tuned, file);
    print_conclusion(self, tuned, file);
}

static uc_status run(app_call *call)
{
    const compare_args *args = call->args;
    const char *path = call->words[0];
    learner_list named = {.online = true};
    uc_dataset data = {0};
    uc_comparison found = {0};
    uc_status status = check_options(call);
    if (status != UC_OK)
        goto cleanup;
    if (args->learners && (status = cli_parse_learners(&named, args->learners)) != UC_OK)
        goto cleanup;
    if (args->learners &&
        (status = cli_check_map_options(call, &args->train.map, named.items, named.count)) != UC_OK)
        goto cleanup;
    if ((status = app_keep_input(path)) != UC_OK)
        goto cleanup;
    if ((status = cli_read_data(&data, call, path, &args->read)) != UC_OK ||
        (status = uc_dataset_drop_weightless(&data, &call->context)) != UC_OK)
        goto cleanup;
    status =
        uc_compare(&found, named.items, named.count, &args->compare, &args->train, &data, &call->context);
    if (status == UC_ERR_FORMAT)
        (void)app_fail(status, "%s: %s", path, app_library_error()); /* it does not name the file */
    if (status != UC_OK)
        goto cleanup;
    FILE *text = app_findings(call, NULL);
    if (text)
        print(&found, call, &data, text);
    if (app_wants_result(call))
        call->result = as_json(&found, args, &data);

cleanup:
    uc_comparison_free(&found);
    uc_dataset_free(&data);
    cli_free_learners(&named);
    return status;
}

const app_command command_compare = {
    .name = "compare",
    .usage = "DATA [--feedback full|partial|mixed] [--learners a,b] [--runs N] [--grid]",
    .summary = "find the online learner that suits the data",
    .description =
        "Runs several learners on the same shuffles of the data (propose a class, get feedback, learn) and "
        "shows how often each was right, with the deviation over the runs, its time, and which "
        "differences are significant. With --feedback partial, a learner that needs labels takes part if "
        "--learners names it: it sees the labels, and is a reference that is not ranked.",
    .sections = sections,
    .args_size = sizeof(compare_args),
    .least = 1,
    .most = 1,
    .run = run,
};
