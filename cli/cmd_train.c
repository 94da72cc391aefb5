/* unconfuse train: learns a model from a data file or, with -v, estimates how good a model would be. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "regions.h"
#include "train_log.h"

typedef struct train_args {
    uc_train_settings train;
    uc_read_settings read;
    cli_shards shards;
    cli_log log;
    app_report report;
    cli_noise noise;
    int estimate; /* estimate the noise from the data */
    cli_clean clean;
    const char *output;
    uint64_t folds;
} train_args;

static const uc_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = UC_OPTION_TEXT,
     .offset = offsetof(train_args, output),
     .argument = "MODEL",
     .help = "the model file to write"},
    {.name = "folds",
     .letter = 'v',
     .type = UC_OPTION_COUNT,
     .offset = offsetof(train_args, folds),
     .low = 2,
     .high = 1e9,
     .argument = "K",
     .help = "estimate the error by K-fold cross-validation instead of writing a model; --html shows it"},
    {.name = "noise",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(train_args, estimate),
     .standard = "none",
     .choices = "none|estimate",
     .help = "estimate: find out from the noisy labels themselves how they are confused, as noise estimate "
             "--method self does (sloppy-svm: its two noise rates, by cross-validation)"},
    {.name = "mix",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(train_args, train.mix),
     .standard = "average",
     .choices = "average|once",
     .help = "online learners in several processes (unconfuse-mpi): average the weights after every pass, or "
             "once at the end"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Training options", uc_train_options, offsetof(train_args, train)},
    {"Map options", uc_map_options, offsetof(train_args, train.map)},
    {"Noise of the labels", cli_noise_options, offsetof(train_args, noise)},
    {"Error on true classes", cli_clean_options, offsetof(train_args, clean)},
    {"Data options", uc_read_options, offsetof(train_args, read)},
    {"Several files", cli_shard_options, offsetof(train_args, shards)},
    {"Logged events", cli_log_options, offsetof(train_args, log)},
    {"Report, of -v K", app_report_options, offsetof(train_args, report)},
    {0},
};

/* ---- one model ---- */

static void print_prior(FILE *text, const uc_values *found)
{
    const double prior = uc_values_number(found, "prior"), low = uc_values_number(found, "prior_low");
    if (!isnan(low))
        fprintf(text, "class prior %.3f (estimated; 95%% interval %.3f to %.3f)\n", prior, low,
                uc_values_number(found, "prior_high"));
    else if (!isnan(prior))
        fprintf(text, "class prior %.3f (given)\n", prior);
}

static void print_error(FILE *text, const uc_values *found, bool online)
{
    const double error = 100 * uc_values_number(found, "training_error");
    const double corrected = uc_values_number(found, "corrected_error");
    const double rate = uc_values_number(found, "noise_rate");
    const double iterations = uc_values_number(found, "iterations");
    if (online)
        fprintf(text, "training error %.2f%% (progressive, in the last of %.0f passes), %.0f updates\n",
                error, iterations, uc_values_number(found, "updates"));
    else if (!isnan(iterations))
        fprintf(text, "training error %.2f%% (of the labels as given), %.0f iteration%s\n", error, iterations,
                iterations == 1.0 ? "" : "s");
    else
        fprintf(text, "training error %.2f%% (of the labels as given)\n", error);
    if (!isnan(corrected))
        fprintf(text,
                "corrected error %.2f%% +- %.2f%% (estimated for the true labels), condition number %.3g\n",
                100 * corrected, 100 * uc_values_number(found, "corrected_error_deviation"),
                uc_values_number(found, "condition_number"));
    print_prior(text, found);
    if (!isnan(rate))
        fprintf(text,
                "noise rate %.2f%% +- %.2f%% (estimated: too high where classes overlap, too low with few "
                "examples)\n",
                100 * rate, 100 * uc_values_number(found, "noise_rate_deviation"));
}

/* "columns: 6 numbers, 4 categories, 1 date; not used: ticket_id (id)" */
static void print_columns(FILE *text, const uc_table *table)
{
    static const struct {
        uc_column_type type;
        const char *one, *many;
    } kinds[] = {{UC_COLUMN_NUMBER, "number", "numbers"},
                 {UC_COLUMN_BOOLEAN, "boolean", "booleans"},
                 {UC_COLUMN_CATEGORY, "category", "categories"},
                 {UC_COLUMN_DATE, "date", "dates"},
                 {UC_COLUMN_TEXT, "text", "texts"}};
    const char *before = "columns: ";
    uc_column column;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t count = 0;
        for (size_t i = 0; i < uc_table_column_count(table); i++) {
            uc_table_column_at(&column, table, i);
            count += column.type == kinds[k].type;
        }
        if (count == 0)
            continue;
        fprintf(text, "%s%zu %s", before, count, count == 1 ? kinds[k].one : kinds[k].many);
        before = ", ";
    }
    before = "; not used: ";
    for (size_t i = 0; i < uc_table_column_count(table); i++) {
        char name[41];
        uc_table_column_at(&column, table, i);
        if (column.type != UC_COLUMN_ID && column.type != UC_COLUMN_DROP)
            continue;
        uc_printable(name, sizeof name, column.name);
        fprintf(text, "%s%s (%s)", before, name,
                column.why && column.type == UC_COLUMN_DROP ? column.why : uc_column_type_name(column.type));
        before = ", ";
    }
    fputs(" (unconfuse inspect DATA: why)\n", text);
}

static void print_model(const app_call *call, const uc_model_summary *summary, const uc_table *table,
                        const char *positive, size_t examples, double seconds)
{
    const train_args *args = call->args;
    FILE *text = app_summary(call, args->output);
    if (!text)
        return;
    fprintf(text, "%s: %zu examples, %zu features, %zu classes, %.3f s\n", summary->learner, examples,
            summary->features, summary->classes->count, seconds);
    if (table && !uc_table_is_plain(table))
        print_columns(text, table);
    if (!isnan(uc_values_number(&summary->found, "training_error")))
        print_error(text, &summary->found, uc_learner_is_online(uc_learner_at(call->member)));
    cli_print_auto(text, &summary->found, call->word_count > 0 ? call->words[0] : "DATA", args->output);
    if (positive)
        fprintf(text, "positive class: '%s'%s\n", positive,
                args->noise.positive ? "" : " (--positive NAME for the other)");
    fprintf(text, "model: %s\n", args->output);
}

static json_t *describe_model(const train_args *args, const uc_model_summary *summary, size_t examples,
                              double seconds)
{
    const uc_values *found = &summary->found;
    json_t *all = cli_json_values(found);
    json_t *result = json_pack(
        "{ss so sI sI so so so so sf so}", "learner", summary->learner, "settings",
        cli_json_values(&summary->settings), "examples", (json_int_t)examples, "features",
        (json_int_t)summary->features, "classes", app_json_names(summary->classes), "iterations",
        cli_json_value(found, "iterations"), "updates", cli_json_value(found, "updates"), "training_error",
        cli_json_value(found, "training_error"), "seconds", seconds, "model", app_json_text(args->output));
    json_object_update_missing(result, all); /* other results of the learner */
    json_decref(all);
    return result;
}

static uc_status tell(app_call *call, const uc_model *model, const uc_table *table, size_t examples,
                      double seconds)
{
    uc_model_summary summary;
    const uc_status status = uc_model_summarize(&summary, model);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; summary.map.eigenvalues && i < summary.map.dimension; i++)
        app_detail(call, "eigenvalue %zu: %.6g", i + 1, summary.map.eigenvalues[i]);
    print_model(call, &summary, table, uc_model_positive(model), examples, seconds);
    if (app_given(call, "wrong-at-most") && !uc_values_find(&summary.found, "clean_error"))
        app_warn("--wrong-at-most has no effect: %s does not estimate its error on true classes; -v K does",
                 summary.learner);
    if (call->common.json)
        call->result = describe_model(call->args, &summary, examples, seconds);
    uc_model_summary_free(&summary);
    return UC_OK;
}

static uc_status train(app_call *call, uc_dataset *data, uc_train_settings *settings, uc_output *file)
{
    double examples = (double)data->X.rows;
    const double began = app_seconds();
    const uc_traffic before = uc_comm_traffic(app_comm);
    uc_model *model = NULL;
    settings->overwrite = 1;
    uc_status status = uc_tune_and_train(&model, uc_learner_at(call->member), call->member_settings, settings,
                                         data, &call->context);
    if (status != UC_OK)
        goto cleanup;
    const double seconds = app_seconds() - began;
    if ((status = app_check_interrupt()) != UC_OK)
        goto cleanup;
    if ((status = uc_comm_sum(app_comm, &examples, 1)) != UC_OK)
        goto cleanup;
    cli_tell_traffic(call, before, seconds);
    if (app_is_first() && (status = uc_model_write(model, file)) != UC_OK)
        goto cleanup;
    if ((status = app_finish_files(true)) != UC_OK)
        goto cleanup;
    status = tell(call, model, data->table, (size_t)examples, seconds);

cleanup:
    uc_model_free(model);
    return status;
}

/* ---- cross-validation ---- */

/* A flag of the learner; false if the learner does not have it. */
static bool learner_flag(const app_call *call, const char *name)
{
    const uc_option *option = uc_options_find(cli_learners.options(call->member), name);
    return option && *(const int *)(const void *)((const char *)call->member_settings + option->offset) == 1;
}

/* Whether the labels are those of single examples and may be wrong: not for bags, nor if only positives have
 * labels. */
static bool has_noisy_labels(const app_call *call)
{
    return !learner_flag(call, "positive-unlabelled") && !learner_flag(call, "bags") &&
           !uc_learner_is_positive_unlabelled(uc_learner_at(call->member));
}

static void mean_and_deviation(double *mean, double *deviation, const double *values, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    *mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - *mean) * (values[i] - *mean);
    *deviation = sqrt(squares / (double)(count - 1));
}

static void tell_folds(app_call *call, const cli_report *report, const double *fold_error,
                       const uc_train_settings *settings, double seconds)
{
    const uint64_t folds = ((const train_args *)call->args)->folds;
    double mean, deviation;
    mean_and_deviation(&mean, &deviation, fold_error, folds);
    if (!call->common.json) {
        printf("%s: %llu folds, error per fold %.2f%% +- %.2f%%, %.3f s\n", cli_learners.name(call->member),
               (unsigned long long)folds, 100 * mean, 100 * deviation, seconds);
        cli_report_text(stdout, report);
    }
    if (!app_wants_result(call))
        return;
    json_t *errors = json_array(), *shown = json_object();
    for (size_t i = 0; i < folds; i++)
        json_array_append_new(errors, app_json_real(fold_error[i]));
    app_json_settings(shown, cli_learners.options(call->member), call->member_settings);
    app_json_settings(shown, uc_train_options, settings);
    if (settings->map.map != UC_MAP_NONE && settings->map.map < UC_MAP_AUTO)
        app_json_settings(shown, uc_map_options, &settings->map);
    call->result =
        json_pack("{ss so sI so so so sf}", "learner", cli_learners.name(call->member), "settings", shown,
                  "folds", (json_int_t)folds, "fold_errors", errors, "fold_error_mean", app_json_real(mean),
                  "fold_error_deviation", app_json_real(deviation), "seconds", seconds);
    cli_report_json(call->result, report);
}

/* A copy of an array of the data, for cli_collect; NULL stays NULL. */
static void *copy_all(const void *items, size_t count, size_t size)
{
    if (!items)
        return NULL;
    void *copy = app_calloc(count, size);
    memcpy(copy, items, count * size);
    return copy;
}

/* Evaluates the held-out rows, in the first process, which has those of all. */
static uc_status judge_folds(uc_evaluation *out, cli_clean_error *clean, const cli_kept *kept,
                             const uc_outcomes *outcomes, const uc_train_settings *settings,
                             const app_call *call)
{
    const train_args *args = call->args;
    const uc_learner *learner = uc_learner_at(call->member);
    const uc_status status = uc_evaluation_of(out, outcomes, kept->classes, settings->noise);
    if (status != UC_OK || outcomes->soft || kept->count == 0)
        return status;
    if (!settings->noise || args->estimate)
        return cli_clean_error_of(clean, kept, outcomes, uc_learner_has_probabilities(learner), out->error,
                                  &args->clean, call);
    cli_clean_error_given(clean, out, &args->clean);
    return UC_OK;
}

/* Adds the regions of a model of all rows, if the rows have two columns, or two dimensions after the map.
 * Each fold has its own model, and one picture cannot show them all. */
static uc_status add_regions(app_call *call, uc_dataset *data, const uc_train_settings *settings)
{
    uc_model *model = NULL;
    uc_train_settings train = *settings;
    train.overwrite = 0;
    if (!call->result || uc_comm_size(app_comm) > 1 || learner_flag(call, "bags") ||
        (data->X.cols != 2 && settings->map.dimension != 2))
        return UC_OK;
    cli_plane *plane = app_calloc(1, sizeof *plane);
    uc_status status = uc_tune_and_train(&model, uc_learner_at(call->member), call->member_settings, &train,
                                         data, &call->context);
    if (status == UC_OK && cli_has_regions(model, &plane->mapped)) {
        status = cli_plane_add_all(plane, model, &data->X, data->y, &call->context);
        if (status == UC_OK)
            status = cli_add_regions(call->result, model, plane, &call->context);
    }
    uc_model_free(model);
    free(plane);
    return status;
}

static uc_status cross_validate(app_call *call, uc_dataset *data, const uc_train_settings *settings,
                                const char *shown)
{
    const train_args *args = call->args;
    const uint64_t folds = args->folds;
    const double began = app_seconds();
    if (uc_comm_size(app_comm) == 1 && folds > data->X.rows)
        return app_fail(UC_ERR_INVALID, "--folds %llu: there are only %zu examples",
                        (unsigned long long)folds, data->X.rows);
    cli_clean_error clean = {0};
    cli_kept kept = {.classes = data->classes.count};
    double *scores = app_calloc(data->X.rows * kept.classes, sizeof *scores);
    uint32_t *predicted = app_calloc(data->X.rows, sizeof *predicted);
    double *fold_error = app_calloc(folds, sizeof *fold_error);
    uc_evaluation evaluation = {0};
    const size_t soft_size = data->classes.count * sizeof(double);
    uint32_t *labels = copy_all(data->y, data->X.rows, sizeof *labels);
    double *weights = copy_all(data->weights, data->X.rows, sizeof *weights);
    double *soft = copy_all(data->soft, data->X.rows, soft_size);
    size_t count = data->X.rows, predictions = count, weight_count = count, soft_count = count;
    uc_status status =
        uc_cross_validate_scores(scores, predicted, fold_error, uc_learner_at(call->member),
                                 call->member_settings, settings, data, (unsigned)folds, &call->context);
    if (status != UC_OK)
        goto cleanup;
    if (has_noisy_labels(call))
        cli_kept_add(&kept, scores, data->X.rows);
    if ((status = cli_kept_collect(&kept)) != UC_OK)
        goto cleanup;
    if ((status = cli_collect((void **)&labels, &count, sizeof *labels)) != UC_OK)
        goto cleanup;
    if ((status = cli_collect((void **)&predicted, &predictions, sizeof *predicted)) != UC_OK)
        goto cleanup;
    if (weights && (status = cli_collect((void **)&weights, &weight_count, sizeof *weights)) != UC_OK)
        goto cleanup;
    if (soft && (status = cli_collect((void **)&soft, &soft_count, soft_size)) != UC_OK)
        goto cleanup;
    const uc_outcomes outcomes = {labels, predicted, weights, soft, count};
    if (app_is_first() &&
        (status = judge_folds(&evaluation, &clean, &kept, &outcomes, settings, call)) != UC_OK)
        goto cleanup;
    const cli_report report = {&evaluation, &data->classes, &clean, args->estimate == 1, shown, "MODEL"};
    if (app_is_first())
        tell_folds(call, &report, fold_error, settings, app_seconds() - began);
    status = add_regions(call, data, settings);

cleanup:
    cli_kept_free(&kept);
    free(scores);
    uc_evaluation_free(&evaluation);
    free(fold_error);
    free(soft);
    free(weights);
    free(labels);
    free(predicted);
    return status;
}

/* ---- both ---- */

/* Adds the file to a message of the library, which does not know its name. */
static uc_status blame_data(uc_status status, const char *shown)
{
    return status == UC_ERR_FORMAT ? app_fail_in(status, shown) : status;
}

/* Interprets the labels by --positive-unlabelled and --bags, and finds which rates remain to be estimated. */
static uc_status read_labels(uint32_t *positive, uc_rates_free *rates, const app_call *call, uc_dataset *data)
{
    const train_args *args = call->args;
    const bool unlabelled = learner_flag(call, "positive-unlabelled") ||
                            uc_learner_is_positive_unlabelled(uc_learner_at(call->member));
    const bool bags = learner_flag(call, "bags");
    const char *name = args->noise.positive;
    *rates = UC_RATES_BOTH;
    *positive = 1;
    if (unlabelled && bags)
        return app_fail(UC_ERR_OPTION, "give only one of --positive-unlabelled and --bags");
    if (unlabelled) {
        *rates = UC_RATES_POSITIVE_ONLY;
        return uc_dataset_positive_unlabelled(positive, data, name, &call->context);
    }
    if (name && (*positive = uc_names_find_label(&data->classes, name, strlen(name))) == UC_NONE)
        return app_fail(UC_ERR_INVALID, "--positive %s: no example has this label", name);
    if (!bags)
        return UC_OK;
    *rates = UC_RATES_NEGATIVE_ONLY;
    return uc_dataset_check_bags(data, &call->context);
}

static json_t *describe_rates(const uc_rates_estimate *found)
{
    const uc_rates *best = &found->tried[found->best];
    json_t *curve = json_array();
    for (size_t i = 0; i < found->count; i++)
        json_array_append_new(curve, json_pack("{sf sf so so}", "positive", found->tried[i].positive,
                                               "negative", found->tried[i].negative, "criterion",
                                               app_json_real(found->tried[i].criterion), "deviation",
                                               app_json_real(found->tried[i].deviation)));
    return json_pack("{sf sf s[ff] s[ff] sf sf so}", "positive", best->positive, "negative", best->negative,
                     "positive_interval", found->positive_interval[0], found->positive_interval[1],
                     "negative_interval", found->negative_interval[0], found->negative_interval[1],
                     "criterion", best->criterion, "deviation", best->deviation, "curve", curve);
}

static uc_status estimate_rates(uc_noise *noise, json_t **described, const app_call *call,
                                const uc_dataset *data, uint32_t positive, uc_rates_free rates)
{
    const train_args *args = call->args;
    uc_rates_estimate found = {0};
    const uc_status status = uc_noise_rates_from_data(noise, &found, call->member_settings, &args->train,
                                                      data, positive, rates, &call->context);
    if (status != UC_OK)
        return status;
    FILE *text = app_summary(call, args->output);
    const uc_rates *best = &found.tried[found.best];
    if (text)
        fprintf(text,
                "estimated noise rates: %.3g of the true '%s' (%.3g to %.3g), %.3g of the true '%s' (%.3g to "
                "%.3g)\n",
                best->positive, data->classes.text[positive], found.positive_interval[0],
                found.positive_interval[1], best->negative, data->classes.text[1 - positive],
                found.negative_interval[0], found.negative_interval[1]);
    *described = describe_rates(&found);
    uc_rates_estimate_free(&found);
    return UC_OK;
}

static uc_status estimate_matrix(uc_noise *noise, const app_call *call, const uc_dataset *data)
{
    const train_args *args = call->args;
    uc_noise_check check;
    uc_status status = uc_noise_estimate_self(noise, data, &args->train, &call->context);
    if (status == UC_OK)
        status = cli_noise_check(&check, noise);
    FILE *text = status == UC_OK ? app_summary(call, args->output) : NULL;
    if (text)
        fprintf(text, "estimated noise: %.1f%% of the labels wrong, condition number %.3g\n",
                100 * check.wrong, check.condition);
    return status;
}

static bool has_unlabelled(const uc_dataset *data)
{
    for (size_t i = 0; data->y && i < data->X.rows; i++)
        if (data->y[i] == UC_NONE)
            return true;
    return false;
}

static uc_status refuse_one_class(const uc_dataset *data, const char *shown, bool unlabelled)
{
    if (unlabelled)
        return app_fail(UC_ERR_FORMAT,
                        "%s: only one class, '%s', where two are needed; if the '?' may be of either class, "
                        "use --positive-unlabelled",
                        shown, data->classes.text[0]);
    return app_fail_in(uc_dataset_check_classes(data), shown);
}

/* The noise that the options give or that is estimated from the data; unchanged without either. */
static uc_status find_noise(uc_noise *noise, json_t **described, const app_call *call, const uc_dataset *data,
                            const char *shown, uint32_t positive, uc_rates_free rates)
{
    const train_args *args = call->args;
    const uc_learner *learner = uc_learner_at(call->member);
    const bool given = cli_noise_is_given(call), used = uc_learner_uses_rates(learner);
    cli_noise named = args->noise;
    uc_noise_check check;
    if (data->classes.count == 1)
        return refuse_one_class(data, shown, used && has_unlabelled(data));
    if (named.rates && data->classes.count == 2)
        named.positive = data->classes.text[positive]; /* not always the later class */
    else if (rates != UC_RATES_BOTH)
        named.positive = NULL; /* --positive was about the labels */
    if (!args->estimate && (given || rates == UC_RATES_BOTH || !used))
        return cli_noise_build(noise, &check, &named, &data->classes, call);
    if (given)
        return app_fail(
            UC_ERR_OPTION,
            "--noise estimate cannot be combined with --noise-matrix, --noise-rate or --noise-rates");
    if (!uc_learner_uses_noise(learner))
        return app_fail(UC_ERR_OPTION, "--noise estimate: %s does not use the noise",
                        cli_learners.name(call->member));
    if (used)
        return blame_data(estimate_rates(noise, described, call, data, positive, rates), shown);
    return blame_data(estimate_matrix(noise, call, data), shown);
}

/* Opens the file of the model, which must not replace a file that it is learned from. */
static uc_status begin_model(uc_output **file, const train_args *args, const cli_files *files)
{
    uc_status status = app_begin_file(file, args->output, "-o");
    if (status == UC_OK)
        status = cli_keep_inputs(files, &args->read);
    if (status == UC_OK)
        status = app_keep_input(args->noise.matrix);
    if (status == UC_OK)
        status = app_keep_input(args->log.path);
    return status;
}

/* Finds the data: DATA, shards or a log. */
static uc_status find_data(cli_files *out, const app_call *call)
{
    const train_args *args = call->args;
    const cli_log *log = &args->log;
    *out = (cli_files){.shown = log->path};
    if (log->model && !log->path)
        return app_fail(UC_ERR_OPTION, "--log-model needs --log DIR");
    if (!log->path)
        return cli_find_files(out, call, &args->shards, 0);
    if (call->word_count > 0 || args->shards.pattern)
        return app_fail(UC_ERR_OPTION, "give either %s or --log %s",
                        call->word_count > 0 ? call->words[0] : "--shards", log->path);
    return UC_OK;
}

static uc_status read_data(uc_dataset *out, json_t **log, const cli_files *files, const app_call *call)
{
    const train_args *args = call->args;
    if (args->log.path)
        return cli_log_read(out, log, &args->log, call, &args->read);
    return cli_read_files(out, call, files, &args->read);
}

/* Refuses options that the learner does not use. A batch learner takes all rows at once. */
static uc_status check_options(const app_call *call)
{
    static const char *const online[] = {"passes", "shuffle", "average"};
    const train_args *args = call->args;
    const uc_compare_entry entry = {.learner = uc_learner_at(call->member)};
    for (size_t i = 0; i < sizeof online / sizeof *online; i++)
        if (app_given(call, online[i]) && !uc_learner_is_online(uc_learner_at(call->member)))
            return app_fail(
                UC_ERR_OPTION,
                "--%s is for learners that see one example after the other, and %s learns from all "
                "at once",
                online[i], cli_learners.name(call->member));
    return cli_check_map_options(call, &args->train.map, &entry, 1);
}

static uc_status run(app_call *call)
{
    const train_args *args = call->args;
    uc_train_settings settings = args->train;
    uc_dataset data = {0};
    uc_noise noise = {0};
    json_t *described = NULL, *log = NULL;
    uint32_t positive = 1;
    uc_rates_free rates = UC_RATES_BOTH;
    if (!args->output && !args->folds)
        return app_fail(UC_ERR_OPTION, "say where the model goes with -o MODEL, or cross-validate with -v K");
    if (args->output && args->folds)
        return app_fail(UC_ERR_OPTION, "-v cross-validates and writes no model; leave out -v or -o");
    if (app_html(call) && !args->folds)
        return app_fail(UC_ERR_OPTION,
                        "--html shows a cross-validation: give -v K instead of -o MODEL; the "
                        "page of a model is that of unconfuse evaluate MODEL DATA --html FILE");
    cli_files files;
    uc_output *file = NULL;
    uc_status status = find_data(&files, call);
    if (status != UC_OK)
        goto cleanup;
    if ((status = check_options(call)) != UC_OK)
        goto cleanup;
    if (!args->output && (status = app_agree(cli_keep_inputs(&files, &args->read))) != UC_OK)
        goto cleanup;
    if (args->output && (status = app_agree(begin_model(&file, args, &files))) != UC_OK)
        goto cleanup;
    if ((status = read_data(&data, &log, &files, call)) != UC_OK)
        goto cleanup;
    if ((status = app_agree(uc_dataset_drop_weightless(&data, &call->context))) != UC_OK)
        goto cleanup;
    if ((status = blame_data(read_labels(&positive, &rates, call, &data), files.shown)) != UC_OK)
        goto cleanup;
    if ((status = find_noise(&noise, &described, call, &data, files.shown, positive, rates)) != UC_OK)
        goto cleanup;
    if (noise.classes)
        settings.noise = &noise;
    settings.wrong_at_most = args->clean.wrong_at_most;
    if (data.classes.count == 2 && positive < 2 &&
        (uc_options_find(cli_learners.options(call->member), "positive-unlabelled") ||
         uc_learner_is_positive_unlabelled(uc_learner_at(call->member))))
        settings.positive = data.classes.text[positive];
    if (args->folds)
        status = cross_validate(call, &data, &settings, files.shown);
    else
        status = train(call, &data, &settings, file);
    status = blame_data(status, files.shown);
    if (status == UC_OK && call->result && described)
        json_object_set(call->result, "noise_estimate", described);
    if (status == UC_OK && call->result && log)
        json_object_set(call->result, "log", log);

cleanup:
    json_decref(log);
    json_decref(described);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
    cli_files_free(&files);
    return status;
}

const app_command command_train = {
    .name = "train",
    .usage = "[LEARNER] [options] DATA|--shards GLOB|--log LOG -o MODEL",
    .summary = "train a model on a data file (-v K: cross-validate)",
    .description = "Learns a model from labelled data and writes it to a file. Without a learner it is auto, "
                   "which needs to know nothing about the labels. The same data, options and "
                   "seed give the same bytes, whatever the number of threads. --html FILE is the page of a "
                   "cross-validation (-v K); that of a model is made by unconfuse evaluate MODEL DATA --html "
                   "FILE.",
    .sections = sections,
    .args_size = sizeof(train_args),
    .family = &cli_learners,
    .least = 1,
    .most = 2,
    .shared = true,
    .run = run,
};
