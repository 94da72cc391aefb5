/* unconfuse evaluate: predictions against labels. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"

typedef struct evaluate_args {
    uc_read_settings read;
    cli_noise noise;
} evaluate_args;

static const cli_section sections[] = {
    {"Noise of the labels", cli_noise_options, offsetof(evaluate_args, noise)},
    {"Data options", uc_read_options, offsetof(evaluate_args, read)},
    {0},
};

/* Labels and predictions of all examples, as positions in the model's classes. */
typedef struct pairs {
    const uc_names *classes;
    uint32_t *labels, *predicted;
    size_t count, capacity;
    uint32_t *position; /* of each class of the file */
    size_t positions;
} pairs;

static void learn_positions(pairs *self, const uc_names *names)
{
    if (names->count == self->positions)
        return;
    self->position = cli_realloc(self->position, names->count, sizeof *self->position);
    for (; self->positions < names->count; self->positions++) {
        const char *name = names->text[self->positions];
        const uint32_t found = uc_names_find(self->classes, name, strlen(name));
        self->position[self->positions] = found == UC_NONE ? (uint32_t)self->classes->count : found;
    }
}

static uc_status visit(const uc_dataset *block, const uc_reader *reader, const uint32_t *predicted,
                       const double *scores, void *user)
{
    pairs *self = user;
    const size_t needed = self->count + block->X.rows;
    (void)scores;
    if (!block->y)
        return cli_fail(UC_ERR_INVALID, "there are no labels to compare the predictions with");
    if (needed > self->capacity) {
        self->capacity = needed > 2 * self->capacity ? needed : 2 * self->capacity;
        self->labels = cli_realloc(self->labels, self->capacity, sizeof *self->labels);
        self->predicted = cli_realloc(self->predicted, self->capacity, sizeof *self->predicted);
    }
    learn_positions(self, uc_reader_classes(reader));
    for (size_t i = 0; i < block->X.rows; i++)
        self->labels[self->count + i] = block->y[i] == UC_NONE ? UC_NONE : self->position[block->y[i]];
    memcpy(self->predicted + self->count, predicted, block->X.rows * sizeof *predicted);
    self->count = needed;
    return UC_OK;
}

static uc_status evaluate(cli_call *call, const uc_model *model, const uc_noise *noise)
{
    const evaluate_args *args = call->args;
    pairs self = {.classes = uc_model_classes(model)};
    uc_evaluation evaluation = {0};
    uc_status status = cli_score_file(call, model, call->words[1], &args->read, CLI_CLASSES, visit, &self);
    if (status == UC_OK)
        status =
            uc_evaluate(&evaluation, self.labels, self.predicted, self.count, self.classes->count, noise);
    if (status == UC_OK && call->common.json) {
        call->result = json_object();
        cli_report_json(call->result, &evaluation, self.classes);
        if (evaluation.unlabelled)
            cli_warn("%s: %zu unlabelled examples were skipped", call->words[1], evaluation.unlabelled);
    } else if (status == UC_OK) {
        cli_progress_end();
        cli_report_text(stdout, &evaluation, self.classes);
    }
    uc_evaluation_free(&evaluation);
    free(self.labels);
    free(self.predicted);
    free(self.position);
    return status;
}

static uc_status run(cli_call *call)
{
    const evaluate_args *args = call->args;
    uc_model *model = NULL;
    uc_noise noise = {0};
    uc_noise_check check;
    uc_status status = cli_load_model(&model, call->words[0]);
    if (status == UC_OK)
        status = cli_noise_build(&noise, &check, &args->noise, uc_model_classes(model), call);
    if (status == UC_OK)
        status = evaluate(call, model, noise.classes ? &noise : NULL);
    uc_noise_free(&noise);
    uc_model_free(model);
    return status;
}

const cli_command command_evaluate = {
    .name = "evaluate",
    .usage = "MODEL DATA [--noise-matrix FILE]",
    .summary = "error, confusion matrix and its norms",
    .description = "Compares a model's predictions with the labels of the data. When the noise of these "
                   "labels is told, it also estimates the error and the confusion matrix that clean labels "
                   "would show.",
    .sections = sections,
    .args_size = sizeof(evaluate_args),
    .least = 2,
    .most = 2,
    .run = run,
};
