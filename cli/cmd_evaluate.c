/* unconfuse evaluate: compares predictions with labels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "picture.h"
#include "regions.h"

typedef struct evaluate_args {
    uc_read_settings read;
    cli_shards shards;
    app_report report;
    cli_noise noise;
    int bags;
    int positive_unlabelled, scenario;
    double prior;
    cli_clean clean;
    int clean_error;
    const char *gold;
} evaluate_args;

static const uc_option options[] = {
    {.name = "gold",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(evaluate_args, gold),
     .argument = "FILE",
     .help =
         "true classes of some rows: a file that unconfuse check wrote, filled in; what Label Studio (JSON) "
         "or "
         "Argilla exports of it; or one with a true class per row and '?' for those that nobody has checked"},
    {.name = "clean-error",
     .type = UC_OPTION_FLAG,
     .offset = offsetof(evaluate_args, clean_error),
     .standard = "on",
     .help =
         "estimate the error on true classes too, as an interval; --no-clean-error: all labels are right"},
    {.name = "bags",
     .type = UC_OPTION_FLAG,
     .offset = offsetof(evaluate_args, bags),
     .standard = "off",
     .help = "evaluate bags instead of examples: of two classes, a bag is positive when any of its examples "
             "is predicted so; of more, it has the class with the highest score of any example"},
    {.name = "positive-unlabelled",
     .type = UC_OPTION_FLAG,
     .offset = offsetof(evaluate_args, positive_unlabelled),
     .standard = "off",
     .help = "only some positives are labelled: recall, and precision, F1, AUC and error estimated by the "
             "class prior"},
    {.name = "prior",
     .type = UC_OPTION_REAL,
     .offset = offsetof(evaluate_args, prior),
     .standard = "model",
     .low = 0,
     .above_low = true,
     .high = 0.999,
     .zero = "model",
     .argument = "P",
     .help = "positive-unlabelled: share of positives in the population (model: what it was trained with)"},
    {.name = "scenario",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(evaluate_args, scenario),
     .standard = "censored",
     .choices = "sampled|censored",
     .help = "positive-unlabelled: whether the unlabelled examples are the population (sampled) or all are "
             "(censored)"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Error on true classes", cli_clean_options, offsetof(evaluate_args, clean)},
    {"Noise of the labels", cli_noise_options, offsetof(evaluate_args, noise)},
    {"Data options", uc_read_options, offsetof(evaluate_args, read)},
    {"Several files", cli_shard_options, offsetof(evaluate_args, shards)},
    {"Report", app_report_options, offsetof(evaluate_args, report)},
    {0},
};

/* Labels and predictions of all examples, as positions in the model's classes. */
typedef struct pairs {
    const uc_names *classes;
    uint32_t *labels, *predicted;
    double *probability; /* of each label; only filled in if the model has probabilities */
    double *certainty;   /* the probability of each prediction; only then, too */
    double *weights;     /* of each example */
    bool weighted;       /* one of the files has weights */
    bool probabilities;  /* the scores are probabilities */
    size_t count, capacity;
    size_t file;        /* the number of the current file */
    uint32_t *position; /* of each class of that file */
    size_t positions;
    /* With --bags `labels` and `predicted` are those of bags, and each bag has `best`. */
    bool bags;
    uint32_t positive;
    double *best; /* one per class: uc_bag_add */
    bool clean;   /* keep scores, to estimate the error on true classes */
    cli_kept kept;
    bool has_gold;
    char **ids;       /* of the rows, to find checked ones; NULL: not needed */
    json_t *gold;     /* describes the checked rows */
    cli_plane *plane; /* for the regions of a page; NULL: none */
    const uc_model *model;
    const uc_context *context;
} pairs;

static void learn_positions(pairs *self, const uc_names *names, size_t file)
{
    if (file != self->file)
        self->positions = 0;
    self->file = file;
    if (names->count == self->positions)
        return;
    self->position = app_realloc(self->position, names->count, sizeof *self->position);
    for (; self->positions < names->count; self->positions++) {
        const char *name = names->text[self->positions];
        const uint32_t found = uc_names_find_label(self->classes, name, strlen(name));
        self->position[self->positions] = found == UC_NONE ? (uint32_t)self->classes->count : found;
    }
}

static void make_room(pairs *self, size_t needed)
{
    if (needed <= self->capacity)
        return;
    self->capacity = needed > 2 * self->capacity ? needed : 2 * self->capacity;
    self->labels = app_realloc(self->labels, self->capacity, sizeof *self->labels);
    self->predicted = app_realloc(self->predicted, self->capacity, sizeof *self->predicted);
    self->probability = app_realloc(self->probability, self->capacity, sizeof *self->probability);
    self->certainty = app_realloc(self->certainty, self->capacity, sizeof *self->certainty);
    self->weights = app_realloc(self->weights, self->capacity, sizeof *self->weights);
    if (self->has_gold)
        self->ids = app_realloc(self->ids, self->capacity, sizeof *self->ids);
    if (self->bags)
        self->best = app_realloc(self->best, self->capacity * self->classes->count, sizeof *self->best);
}

static uc_status visit_bags(pairs *self, const uc_dataset *block, const double *scores)
{
    if (!block->bag)
        return app_fail(UC_ERR_INVALID,
                        "--bags: the data have no bags: LIBSVM rows name theirs as bag:ID after "
                        "the label, CSV files in a column that --bag names");
    const size_t K = self->classes->count;
    for (size_t i = 0; i < block->X.rows; i++) {
        const uint32_t bag = block->bag[i];
        const uint32_t label = block->y[i] == UC_NONE ? UC_NONE : self->position[block->y[i]];
        if (bag == UC_NONE)
            return app_fail(UC_ERR_INVALID, "--bags: an example is in no bag");
        make_room(self, (size_t)bag + 1);
        for (; self->count <= bag; self->count++) {
            self->labels[self->count] = UC_NONE;
            for (size_t k = 0; k < K; k++)
                self->best[self->count * K + k] = -HUGE_VAL;
        }
        if (self->labels[bag] != UC_NONE && label != UC_NONE && self->labels[bag] != label)
            return app_fail(UC_ERR_INVALID, "--bags: bag number %u has examples of %s labels", bag + 1,
                            K == 2 ? "both" : "two");
        if (label != UC_NONE)
            self->labels[bag] = label;
        uc_bag_add(self->best + bag * K, scores + i * K, K, self->positive);
        self->predicted[bag] = uc_bag_class(self->best + bag * K, K, self->positive);
    }
    return UC_OK;
}

/* Refuses data without labels. A model that was trained without a column of labels, as by audit --annotators,
 * does not look for one. */
static uc_status refuse_unlabelled(const char *format)
{
    const char *advice = "";
    if (strcmp(format, "npy") == 0)
        advice = "; --labels FILE has those of NPY data";
    else if (strcmp(format, "csv") == 0 || strcmp(format, "jsonl") == 0)
        advice = "; --label COLUMN says which column has them";
    return app_fail(UC_ERR_INVALID, "there are no labels to compare the predictions with%s", advice);
}

static uc_status visit(const uc_dataset *block, const uc_reader *reader, size_t file,
                       const uint32_t *predicted, const double *scores, void *user)
{
    pairs *self = user;
    const size_t needed = self->count + block->X.rows;
    if (!block->y)
        return refuse_unlabelled(uc_reader_format(reader));
    learn_positions(self, uc_reader_classes(reader), file);
    if (self->bags)
        return visit_bags(self, block, scores);
    make_room(self, needed);
    for (size_t i = 0; i < block->X.rows; i++) {
        const uint32_t label = block->y[i] == UC_NONE ? UC_NONE : self->position[block->y[i]];
        const bool known = self->probabilities && label < self->classes->count;
        self->labels[self->count + i] = label;
        self->probability[self->count + i] = known ? scores[i * self->classes->count + label] : 0.0;
        if (self->probabilities)
            self->certainty[self->count + i] = scores[i * self->classes->count + predicted[i]];
        self->weights[self->count + i] = block->weights ? block->weights[i] : 1.0;
        if (self->ids)
            self->ids[self->count + i] = cli_reader_id(reader, i);
    }
    if (self->plane) {
        const uc_status status =
            cli_plane_add_all(self->plane, self->model, &block->X, self->labels + self->count, self->context);
        if (status != UC_OK)
            return status;
    }
    if (self->clean)
        cli_kept_add(&self->kept, scores, block->X.rows);
    self->weighted = self->weighted || block->weights;
    memcpy(self->predicted + self->count, predicted, block->X.rows * sizeof *predicted);
    self->count = needed;
    return UC_OK;
}

/* Finds the class that makes a bag positive, if the model has two classes. */
static uc_status begin_bags(pairs *self, const char *positive, bool noisy)
{
    self->bags = true;
    if (noisy)
        return app_fail(UC_ERR_OPTION,
                        "--bags: the noise is that of examples, not of bags; leave out one of the two");
    if (self->classes->count != 2 && positive)
        return app_fail(UC_ERR_INVALID, "--positive is for two classes, but the model has %zu",
                        self->classes->count);
    if (self->classes->count != 2)
        return UC_OK;
    self->positive = positive ? uc_names_find_label(self->classes, positive, strlen(positive)) : 1;
    if (self->positive == UC_NONE)
        return app_fail(UC_ERR_INVALID, "--positive %s: the classes are %s and %s", positive,
                        self->classes->text[0], self->classes->text[1]);
    return UC_OK;
}

/* Reads soft labels, which replace the labels: the most probable class becomes the label. */
static uc_status read_soft(double **out, pairs *self, const char *path, const uc_context *context)
{
    const size_t K = self->classes->count;
    const uc_status status = uc_soft_labels_read(out, path, self->count, self->classes, context);
    for (size_t i = 0; i < self->count && status == UC_OK; i++) {
        const double *soft = *out + i * K;
        self->labels[i] = 0;
        for (size_t k = 1; k < K; k++)
            if (soft[k] > soft[self->labels[i]])
                self->labels[i] = (uint32_t)k;
    }
    return status;
}

/* The error on true classes: by checked rows if there are any, by the noise if it was given, and otherwise
 * from the labels alone. Not for soft labels, which already say how likely they are wrong. */
static uc_status find_clean(cli_clean_error *out, const uc_evaluation *evaluation, pairs *self,
                            const uc_outcomes *outcomes, const app_call *call)
{
    const evaluate_args *args = call->args;
    const uc_predicted_rows rows = {outcomes->labels,
                                    outcomes->predicted,
                                    outcomes->count,
                                    self->classes,
                                    call->words[1],
                                    (const char *const *)self->ids,
                                    false};
    if (args->gold)
        return cli_gold_read(out, &self->gold, args->gold, &rows, &args->clean, call);
    if (!self->clean || outcomes->soft)
        return UC_OK;
    out->test_labels = true;
    if (!evaluation->corrected)
        return cli_clean_error_of(out, &self->kept, outcomes, self->probabilities, evaluation->error,
                                  &args->clean, call);
    cli_clean_error_given(out, evaluation, &args->clean);
    return UC_OK;
}

/* Evaluates the rows of all processes, with the files of weights and soft labels, which have all these rows.
 * The log loss needs labels. */
static uc_status sum_up(uc_evaluation *out, cli_clean_error *clean, pairs *self, const uc_noise *noise,
                        const app_call *call)
{
    const uc_read_settings *read = &((const evaluate_args *)call->args)->read;
    double *weights = NULL, *soft = NULL;
    uc_status status = UC_OK;
    if (read->weights)
        status = uc_weights_read(&weights, NULL, read->weights, self->count, NULL);
    if (status == UC_OK && read->soft_labels)
        status = read_soft(&soft, self, read->soft_labels, NULL);
    uc_outcomes outcomes = {.labels = self->labels,
                            .predicted = self->predicted,
                            .weights = weights,
                            .soft = soft,
                            .count = self->count};
    if (!weights && self->weighted)
        outcomes.weights = self->weights;
    if (status == UC_OK)
        status = uc_evaluation_of(out, &outcomes, self->classes->count, noise);
    if (status == UC_OK && self->probabilities && !soft)
        status = uc_evaluation_set_weighted_log_loss(out, self->labels, self->probability, outcomes.weights,
                                                     self->count);
    if (status == UC_OK)
        status = find_clean(clean, out, self, &outcomes, call);
    uc_weights_free(soft);
    uc_weights_free(weights);
    return status;
}

/* Collects the results of all processes in the order of the rows, so that one process evaluates them as if it
 * were alone. */
static uc_status compare(uc_evaluation *out, cli_clean_error *clean, pairs *self, const uc_noise *noise,
                         const app_call *call)
{
    size_t predictions = self->count, known = self->count, sure = self->count, weights = self->count;
    double weighted = self->weighted;
    uc_status status = cli_collect((void **)&self->labels, &self->count, sizeof *self->labels);
    if (status == UC_OK)
        status = cli_collect((void **)&self->predicted, &predictions, sizeof *self->predicted);
    if (status == UC_OK && self->probabilities)
        status = cli_collect((void **)&self->probability, &known, sizeof *self->probability);
    if (status == UC_OK && self->probabilities)
        status = cli_collect((void **)&self->certainty, &sure, sizeof *self->certainty);
    if (status == UC_OK)
        status = cli_collect((void **)&self->weights, &weights, sizeof *self->weights);
    if (status == UC_OK)
        status = uc_comm_sum(app_comm, &weighted, 1);
    self->weighted = weighted > 0.0;
    if (status == UC_OK && self->clean)
        status = cli_kept_collect(&self->kept);
    if (status == UC_OK && app_is_first())
        status = sum_up(out, clean, self, noise, call);
    return status;
}

static void free_pairs(pairs *self)
{
    for (size_t i = 0; self->ids && i < self->count; i++)
        free(self->ids[i]);
    free(self->ids);
    free(self->labels);
    free(self->predicted);
    free(self->probability);
    free(self->certainty);
    free(self->position);
    free(self->weights);
    free(self->best);
    free(self->plane);
    cli_kept_free(&self->kept);
}

static void draw_confusion(const cli_report *report)
{
    const uc_evaluation *found = report->evaluation;
    const size_t K = found->classes;
    if (K != report->classes->count) /* one class more, for labels that the model does not know */
        return;
    double *shares = app_calloc(K * K, sizeof *shares);
    for (size_t p = 0; p < K; p++) {
        double sum = 0.0;
        for (size_t q = 0; q < K; q++)
            sum += (double)found->confusion[p * K + q];
        for (size_t q = 0; q < K && sum > 0; q++)
            shares[p * K + q] = (double)found->confusion[p * K + q] / sum;
    }
    cli_draw_matrix(stdout,
                    "What each class is taken for (rows: true class, columns: predicted, in the same order)",
                    shares, report->classes);
    free(shares);
}

static void tell(app_call *call, const cli_report *report, const pairs *self)
{
    if (!call->common.json) {
        app_progress_end();
        cli_report_text(stdout, report);
        if (!call->common.quiet)
            draw_confusion(report);
    }
    if (!app_wants_result(call))
        return;
    call->result = json_object();
    cli_report_json(call->result, report);
    if (!self->bags)
        json_object_set_new(call->result, "confused_pairs",
                            cli_json_confused(self->labels, self->predicted, self->count, self->classes));
    if (self->probabilities)
        json_object_set_new(call->result, "score_histogram",
                            cli_json_certainty(self->labels, self->predicted, self->certainty, self->count));
    if (report->evaluation->unlabelled && call->common.json)
        app_warn("%s: %zu unlabelled examples were skipped", report->data, report->evaluation->unlabelled);
}

/* Adds the table's own columns of confused rows, if the model is of a table. */
static uc_status add_columns(const app_call *call, const uc_model *model, const cli_files *files)
{
    uc_read_settings read = ((const evaluate_args *)call->args)->read;
    read.table = uc_model_table(model);
    read.expected_cols = uc_model_features(model);
    read.weights = read.soft_labels = NULL;
    if (!read.table || files->count != 1 || uc_comm_size(app_comm) > 1)
        return UC_OK;
    return cli_add_columns(json_object_get(call->result, "confused_pairs"), files->paths[0], &read,
                           &call->context);
}

static uc_status evaluate(app_call *call, const uc_model *model, const cli_files *files,
                          const uc_noise *noise)
{
    const evaluate_args *args = call->args;
    bool mapped;
    pairs self = {.classes = uc_model_classes(model),
                  .model = model,
                  .context = &call->context,
                  .probabilities = uc_model_has_probabilities(model) && !args->bags,
                  .clean = args->clean_error && !args->bags && !args->gold,
                  .has_gold = args->gold != NULL};
    uc_evaluation evaluation = {0};
    cli_clean_error clean = {0};
    cli_wanted wanted = self.clean ? CLI_SCORES : CLI_CLASSES;
    uc_status status = UC_OK;
    self.kept.classes = self.classes->count;
    if (app_wants_result(call) && uc_comm_size(app_comm) == 1 && !args->bags &&
        cli_has_regions(model, &mapped)) {
        self.plane = app_calloc(1, sizeof *self.plane);
        self.plane->mapped = mapped;
    }
    if (self.probabilities)
        wanted = CLI_PROBABILITIES;
    if (args->bags) {
        const char *positive = args->noise.positive ? args->noise.positive : uc_model_positive(model);
        wanted = CLI_SCORES;
        status = begin_bags(&self, positive, noise != NULL);
    }
    if (status == UC_OK)
        status = cli_score_files(call, model, files, &args->read, wanted, visit, &self);
    if (status == UC_OK)
        status = compare(&evaluation, &clean, &self, noise, call);
    const cli_report report = {.evaluation = &evaluation,
                               .classes = self.classes,
                               .clean = &clean,
                               .data = files->shown,
                               .model = call->words[0]};
    if (status == UC_OK && app_is_first())
        tell(call, &report, &self);
    if (status == UC_OK && call->result)
        status = add_columns(call, model, files);
    if (status == UC_OK && call->result && self.plane)
        status = cli_add_regions(call->result, model, self.plane, &call->context);
    if (status == UC_OK && self.gold)
        cli_warn_of_training_rows(model, self.count, files->shown);
    if (call->result && self.gold)
        json_object_set(call->result, "gold", self.gold);
    json_decref(self.gold);
    uc_evaluation_free(&evaluation);
    free_pairs(&self);
    return status;
}

static uc_status run(app_call *call)
{
    const evaluate_args *args = call->args;
    uc_model *model = NULL;
    uc_noise noise = {0};
    uc_noise_check check;
    cli_noise given = args->noise;
    const cli_unlabelled how = {args->prior, args->scenario == 1, args->noise.positive};
    if ((args->bags || args->positive_unlabelled) && !given.rates)
        given.positive = NULL; /* --positive is then about the bags or the labelled examples */
    if (args->positive_unlabelled && (args->bags || cli_noise_is_given(call)))
        return app_fail(UC_ERR_OPTION, "--positive-unlabelled cannot be combined with --bags or with noise");
    if (args->bags && (args->read.weight || args->read.weights || args->read.soft_labels))
        return app_fail(UC_ERR_OPTION,
                        "--weight, --weights and --soft-labels cannot be combined with --bags");
    if (args->positive_unlabelled && args->read.soft_labels)
        return app_fail(UC_ERR_OPTION, "--soft-labels cannot be combined with --positive-unlabelled");
    if (args->gold &&
        (args->bags || args->positive_unlabelled || args->shards.pattern || uc_comm_size(app_comm) > 1 ||
         args->read.weight || args->read.weights || args->read.soft_labels))
        return app_fail(UC_ERR_OPTION,
                        "--gold is for the examples of one file, in one process: not with --bags, "
                        "--positive-unlabelled, --shards, weights or soft labels");
    if (args->bags && (args->shards.pattern || uc_comm_size(app_comm) > 1))
        return app_fail(UC_ERR_OPTION, "--bags counts the bags of one file, in one process");
    cli_files files;
    uc_status status = cli_find_files(&files, call, &args->shards, 1);
    if (status == UC_OK)
        status = app_agree(cli_keep_inputs(&files, &args->read));
    if (status == UC_OK)
        status = app_agree(app_keep_input(call->words[0]));
    if (status == UC_OK)
        status = app_agree(cli_load_first(&model, call->words[0], &files));
    if (status == UC_OK)
        status = cli_noise_build(&noise, &check, &given, uc_model_classes(model), call);
    if (status == UC_OK && args->positive_unlabelled)
        status = cli_evaluate_unlabelled(call, model, &files, &args->read, &how);
    else if (status == UC_OK)
        status = evaluate(call, model, &files, noise.classes ? &noise : NULL);
    cli_files_free(&files);
    uc_noise_free(&noise);
    uc_model_free(model);
    return status;
}

const app_command command_evaluate = {
    .name = "evaluate",
    .usage = "MODEL DATA|--shards GLOB [--gold FILE] [--noise-matrix FILE] [--bags] "
             "[--positive-unlabelled]",
    .summary = "measure a model's error, F1 and confusion matrix on labelled data",
    .description =
        "Compares a model's predictions with the labels of the data: error, balanced accuracy, F1, "
        "log loss (for models with probabilities), the confusion matrix and its norms. When the "
        "noise of these labels is given, it also estimates the error and the confusion matrix that "
        "clean labels would show. Where only some positives are labelled, --positive-unlabelled estimates "
        "the same from them and the class prior.",
    .sections = sections,
    .args_size = sizeof(evaluate_args),
    .least = 1,
    .most = 2,
    .shared = true,
    .run = run,
};
