/* Suspicious labels: every labelled example with the probability that its label is right, the least likely
 * first. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct suspect {
    double right;
    size_t example; /* from 1 */
    uint32_t label, predicted;
} suspect;

typedef struct suspects {
    const uc_model *model;
    size_t classes;
    suspect *list;
    double *probabilities; /* `classes` per example, in the file's order */
    size_t count, capacity;
    size_t examples, unlabelled, unknown;
    char **texts; /* the names of the file's labels, in the order in which they appear */
    size_t text_count;
} suspects;

static void copy_new_names(suspects *self, const uc_names *names)
{
    if (names->count == self->text_count)
        return;
    self->texts = app_realloc(self->texts, names->count, sizeof *self->texts);
    for (; self->text_count < names->count; self->text_count++) {
        const size_t size = strlen(names->text[self->text_count]) + 1;
        self->texts[self->text_count] = memcpy(app_calloc(size, 1), names->text[self->text_count], size);
    }
}

static uc_status visit(const uc_dataset *block, const uc_reader *reader, size_t file,
                       const uint32_t *predicted, const double *probabilities, void *user)
{
    suspects *self = user;
    (void)file;
    const size_t K = self->classes, needed = self->count + block->X.rows;
    if (!block->y)
        return app_fail(UC_ERR_INVALID, "the data have no labels, so none is suspicious");
    if (needed > self->capacity) {
        self->capacity = needed > 2 * self->capacity ? needed : 2 * self->capacity;
        self->list = app_realloc(self->list, self->capacity, sizeof *self->list);
        self->probabilities =
            app_realloc(self->probabilities, self->capacity * K, sizeof *self->probabilities);
    }
    copy_new_names(self, uc_reader_classes(reader));
    for (size_t i = 0; i < block->X.rows; i++) {
        self->examples++;
        if (block->y[i] == UC_NONE) {
            self->unlabelled++;
            continue;
        }
        const char *text = self->texts[block->y[i]];
        const uint32_t known = uc_names_find_label(uc_model_classes(self->model), text, strlen(text));
        self->unknown += known == UC_NONE;
        memcpy(self->probabilities + self->count * K, probabilities + i * K, K * sizeof *probabilities);
        self->list[self->count] =
            (suspect){uc_model_label_is_right(self->model, probabilities + i * K, known), self->examples,
                      block->y[i], predicted[i]};
        self->count++;
    }
    return UC_OK;
}

static int compare(const void *a, const void *b)
{
    const suspect *x = a, *y = b;
    if (x->right != y->right)
        return x->right < y->right ? -1 : 1;
    return (x->example > y->example) - (x->example < y->example);
}

static void put(app_output *output, const char *text, char end)
{
    const size_t length = strlen(text);
    char *at = app_output_reserve(output, length + 1);
    memcpy(at, text, length);
    at[length] = end;
    app_output_advance(output, length + 1);
}

static void put_real(app_output *output, double value, char end)
{
    char text[32];
    app_print_real(text, value);
    put(output, text, end);
}

/* After the list was sorted, `place` gives the position of an example's probabilities. */
static void write_list(app_output *output, const suspects *self, const size_t *place)
{
    const uc_names *classes = uc_model_classes(self->model);
    put(output, "label", '\t');
    for (size_t k = 0; k < self->classes; k++)
        put(output, classes->text[k], '\t');
    put(output, "given\tright\texample", '\n');
    for (size_t i = 0; i < self->count && !app_output_failed(output); i++) {
        const suspect *one = &self->list[i];
        char number[32];
        put(output, classes->text[one->predicted], '\t');
        for (size_t k = 0; k < self->classes; k++)
            put_real(output, self->probabilities[place[one->example - 1] * self->classes + k], '\t');
        put(output, self->texts[one->label], '\t');
        put_real(output, one->right, '\t');
        snprintf(number, sizeof number, "%zu", one->example);
        put(output, number, '\n');
    }
}

static json_t *list_json(const suspects *self)
{
    json_t *list = json_array();
    for (size_t i = 0; i < self->count; i++) {
        const suspect *one = &self->list[i];
        json_array_append_new(list,
                              json_pack("{sI so so sf}", "example", (json_int_t)one->example, "given",
                                        app_json_text(self->texts[one->label]), "label",
                                        app_json_text(uc_model_classes(self->model)->text[one->predicted]),
                                        "right", one->right));
    }
    return list;
}

static uc_status print(app_call *call, suspects *self, const char *path, app_output *output)
{
    size_t *place = app_calloc(self->examples, sizeof *place);
    for (size_t i = 0; i < self->count; i++)
        place[self->list[i].example - 1] = i;
    qsort(self->list, self->count, sizeof *self->list, compare);
    const bool to_file = path && strcmp(path, "-") != 0;
    uc_status status = UC_OK;
    if (output) {
        write_list(output, self, place);
        status = app_output_commit(output);
    }
    if (status == UC_OK && call->common.json) {
        call->result = json_pack("{sI sI sI}", "examples", (json_int_t)self->examples, "unlabelled",
                                 (json_int_t)self->unlabelled, "unknown_labels", (json_int_t)self->unknown);
        if (to_file)
            json_object_set_new(call->result, "output", app_json_text(path));
        else
            json_object_set_new(call->result, "suspects", list_json(self));
    }
    free(place);
    return status;
}

static uc_status open_output(app_output **out, const app_call *call, const cli_files *files,
                             const uc_read_settings *read, const char *path)
{
    const bool to_file = path && strcmp(path, "-") != 0;
    uc_status status = UC_OK;
    if (!call->common.json || to_file)
        status = app_output_open(out, to_file ? path : "-");
    if (status == UC_OK)
        status = cli_keep_inputs(files, read);
    return status == UC_OK ? app_keep_input(call->words[0]) : status;
}

/* Warns if the model was probably trained on these labels, because it then tends to believe them. */
static uc_status warn_of_training_rows(const uc_model *model, const char *shown, size_t examples)
{
    uc_model_summary summary;
    const uc_status status = uc_model_summarize(&summary, model);
    if (status != UC_OK)
        return status;
    if (uc_values_number(&summary.found, "examples") == (double)examples)
        app_warn(
            "%s has as many examples as the model was trained on: if they are the same, their labels speak "
            "for themselves; unconfuse audit %s leaves each example's own label out",
            shown, shown);
    uc_model_summary_free(&summary);
    return UC_OK;
}

uc_status cli_print_suspects(app_call *call, const uc_model *model, const cli_files *files,
                             const uc_read_settings *read, const char *output)
{
    suspects self = {.model = model, .classes = uc_model_classes(model)->count};
    app_output *text = NULL;
    uc_status status = open_output(&text, call, files, read, output);
    if (status == UC_OK)
        status = cli_score_files(call, model, files, read, CLI_PROBABILITIES, visit, &self);
    if (status == UC_OK)
        status = print(call, &self, output, text);
    else
        app_output_abort(text);
    if (status == UC_OK && self.unknown)
        app_warn("%s: %zu labels are of classes that the model does not know; their probability counts as 0",
                 files->shown, self.unknown);
    if (status == UC_OK)
        status = warn_of_training_rows(model, files->shown, self.examples);
    for (size_t i = 0; i < self.text_count; i++)
        free(self.texts[i]);
    free(self.texts);
    free(self.list);
    free(self.probabilities);
    return status;
}
