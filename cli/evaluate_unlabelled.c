/* unconfuse evaluate --positive-unlabelled: evaluates scores if only some positives have a label. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

typedef struct rows {
    const uc_names *classes; /* of the model */
    uint32_t positive;
    bool *labelled;
    double *scores;  /* score of the positive class minus that of the other */
    double *weights; /* from a column or a .ucd file */
    bool weighted;
    size_t count, capacity;
} rows;

static uc_status visit(const uc_dataset *block, const uc_reader *reader, size_t file,
                       const uint32_t *predicted, const double *scores, void *user)
{
    rows *self = user;
    const uc_names *names = uc_reader_classes(reader);
    const size_t needed = self->count + block->X.rows;
    (void)file, (void)predicted;
    if (!block->y)
        return app_fail(UC_ERR_INVALID, "--positive-unlabelled: the data have no labels");
    if (needed > self->capacity) {
        self->capacity = needed > 2 * self->capacity ? needed : 2 * self->capacity;
        self->labelled = app_realloc(self->labelled, self->capacity, sizeof *self->labelled);
        self->scores = app_realloc(self->scores, self->capacity, sizeof *self->scores);
        self->weights = app_realloc(self->weights, self->capacity, sizeof *self->weights);
    }
    self->weighted = self->weighted || block->weights;
    for (size_t i = 0; i < block->X.rows; i++) {
        const char *label = block->y[i] == UC_NONE ? NULL : names->text[block->y[i]];
        const uint32_t class = label ? uc_names_find_label(self->classes, label, strlen(label)) : UC_NONE;
        if (label && class == UC_NONE)
            return app_fail(UC_ERR_INVALID, "--positive-unlabelled: the model does not know the label '%s'",
                            label);
        self->labelled[self->count + i] = class == self->positive;
        self->weights[self->count + i] = block->weights ? block->weights[i] : 1.0;
        self->scores[self->count + i] = scores[2 * i + self->positive] - scores[2 * i + 1 - self->positive];
    }
    self->count = needed;
    return UC_OK;
}

static void tell_json(app_call *call, const rows *self, const uc_pu_evaluation *found)
{
    call->result = json_pack(
        "{sI sI sI ss so so so s[oo] so so so so so}", "examples", (json_int_t)self->count, "labelled",
        (json_int_t)found->labelled, "unlabelled", (json_int_t)found->unlabelled, "positive",
        self->classes->text[self->positive], "classes", app_json_names(self->classes), "prior",
        app_json_real(found->prior), "recall", app_json_real(found->recall), "recall_interval",
        app_json_real(found->recall_interval[0]), app_json_real(found->recall_interval[1]), "precision",
        app_json_real(found->precision), "f1", app_json_real(found->f1), "auc", app_json_real(found->auc),
        "error", app_json_real(found->error), "predicted_positive", app_json_real(found->predicted_positive));
}

static void tell_text(const rows *self, const uc_pu_evaluation *found)
{
    printf("%zu examples are labelled '%s', %zu are not; class prior %.4f\n", found->labelled,
           self->classes->text[self->positive], found->unlabelled, found->prior);
    printf("recall              %.2f%% (of the labelled examples; 95%% interval %.2f%% to %.2f%%)\n",
           100 * found->recall, 100 * found->recall_interval[0], 100 * found->recall_interval[1]);
    printf("predicted positive  %.2f%% (of the population)\n", 100 * found->predicted_positive);
    if (!isnan(found->precision))
        printf("precision           %.2f%% (estimated by the class prior, as are the following)\n",
               100 * found->precision);
    printf("F1                  %.2f%%\n", 100 * found->f1);
    printf("AUC                 %.4f\n", found->auc);
    printf("error               %.2f%%\n", 100 * found->error);
}

/* Finds the positive class and the prior: as given, or else those of the model. */
static uc_status settle(rows *self, double *prior, const uc_model *model, const char *positive)
{
    self->classes = uc_model_classes(model);
    if (self->classes->count != 2)
        return app_fail(UC_ERR_INVALID, "--positive-unlabelled is for two classes, but the model has %zu",
                        self->classes->count);
    if (!positive)
        positive = uc_model_positive(model);
    self->positive = positive ? uc_names_find_label(self->classes, positive, strlen(positive)) : 1;
    if (self->positive == UC_NONE)
        return app_fail(UC_ERR_INVALID, "--positive %s: the classes are %s and %s", positive,
                        self->classes->text[0], self->classes->text[1]);
    if (*prior == 0.0)
        *prior = uc_model_prior(model);
    return isnan(*prior)
               ? app_fail(UC_ERR_OPTION,
                          "--positive-unlabelled: the model has no class prior: give it with --prior")
               : UC_OK;
}

/* Collects the results of all processes in the order of the rows. */
static uc_status collect(rows *self)
{
    size_t scores = self->count, weights = scores;
    double weighted = self->weighted;
    uc_status status = cli_collect((void **)&self->labelled, &self->count, sizeof *self->labelled);
    if (status == UC_OK)
        status = cli_collect((void **)&self->scores, &scores, sizeof *self->scores);
    if (status == UC_OK)
        status = cli_collect((void **)&self->weights, &weights, sizeof *self->weights);
    if (status == UC_OK)
        status = uc_comm_sum(app_comm, &weighted, 1);
    self->weighted = weighted > 0.0;
    return status;
}

/* Evaluates with the weights of --weights, which has those of the rows of all files. */
static uc_status compute(uc_pu_evaluation *out, const rows *self, double prior, bool censored,
                         const uc_read_settings *read)
{
    double *weights = NULL;
    uc_status status = UC_OK;
    if (read->weights)
        status = uc_weights_read(&weights, NULL, read->weights, self->count, NULL);
    const double *used = self->weighted ? self->weights : NULL;
    if (status == UC_OK)
        status = uc_pu_evaluation_weighted(out, self->labelled, self->scores, weights ? weights : used,
                                           self->count, prior, censored);
    uc_weights_free(weights);
    return status;
}

uc_status cli_evaluate_unlabelled(app_call *call, const uc_model *model, const cli_files *files,
                                  const uc_read_settings *read, const cli_unlabelled *how)
{
    rows self = {0};
    double prior = how->prior;
    uc_pu_evaluation found = {0};
    uc_status status = settle(&self, &prior, model, how->positive);
    if (status == UC_OK)
        status = cli_score_files(call, model, files, read, CLI_SCORES, visit, &self);
    if (status == UC_OK)
        status = collect(&self);
    if (status == UC_OK && app_is_first())
        status = compute(&found, &self, prior, how->censored, read);
    if (status == UC_OK && app_is_first() && app_wants_result(call))
        tell_json(call, &self, &found);
    if (status == UC_OK && app_is_first() && !call->common.json) {
        app_progress_end();
        tell_text(&self, &found);
    }
    free(self.labelled);
    free(self.scores);
    free(self.weights);
    return status;
}
