/* audit --probabilities: judges labels by the out-of-fold probabilities of any model. */
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "commands.h"

#define MOST_SHOWN ((size_t)10)
#define MOST_MATRIX_CLASSES 500 /* in the JSON */

typedef struct judged {
    const cli_audit_request *request;
    uc_labels labels;
    uc_table_text *text; /* of the table with the labels; NULL: they are in another kind of file */
    uint32_t *gold;
    uc_probability_audit found;
    uc_suspect *suspects; /* every label, the most suspicious first */
    size_t flagged;
    /* How good the suspicion without the checked rows was, measured on these rows; with gold. */
    cli_suspicion suspicion;
    uc_reliability bins[UC_RELIABILITY_BINS];
    uc_output *issue_file, *noise_file;
} judged;

/* Lists every label, the most suspicious first; *flagged of them are called wrong. The caller frees it. */
static uc_suspect *rank(size_t *flagged, const uc_probability_audit *found)
{
    size_t count = 0;
    uc_suspect *suspects = app_calloc(found->labels, sizeof *suspects);
    for (size_t i = 0; i < found->rows; i++)
        if (found->given[i] != UC_NONE)
            suspects[count++] = (uc_suspect){i, found->given[i], found->most_probable[i], found->wrong[i]};
    *flagged = uc_suspects_flag(suspects, count);
    return suspects;
}

/* Judges the labels again without the checked rows, which then judge it. */
static uc_status look_back(judged *self, const char *probabilities, const app_call *call)
{
    uc_probability_audit before = {0};
    cli_suspicion *seen = &self->suspicion;
    size_t flagged = 0;
    uc_status status = uc_probability_audit_read(&before, probabilities, &self->labels, NULL, &call->context);
    if (status != UC_OK)
        return status;
    uc_suspect *suspects = rank(&flagged, &before);
    uc_reliability_begin(self->bins);
    for (size_t i = 0; i < before.labels; i++) {
        const size_t row = suspects[i].row;
        if (self->gold[row] == UC_NONE)
            continue;
        const bool wrong = self->gold[row] != self->labels.y[row];
        seen->checked++;
        seen->wrong += wrong;
        seen->flagged += i < flagged;
        seen->hits += wrong && i < flagged;
        uc_reliability_add(self->bins, suspects[i].p_wrong, wrong);
    }
    uc_reliability_end(self->bins);
    free(suspects);
    uc_probability_audit_free(&before);
    return UC_OK;
}

/* ---- output ---- */

static size_t listed(const judged *self)
{
    return self->request->all ? self->found.labels : self->flagged;
}

static const char *name_of(const judged *self, uint32_t k)
{
    return self->found.classes.text[k];
}

static uc_status write_issues(const judged *self)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        return app_fail(UC_ERR_NOMEM, "not enough memory for the list of suspects");
    fputs("row,id,given_label,predicted_label,label_score,is_label_issue", file);
    cli_print_table_names(file, self->text);
    fputc('\n', file);
    for (size_t i = 0; i < listed(self); i++) {
        const uc_suspect *one = &self->suspects[i];
        char score[32], *id = cli_table_id(self->text, one->row);
        app_print_real(score, 1.0 - one->p_wrong);
        fprintf(file, "%zu,", one->row + 1);
        cli_print_field(file, id ? id : "");
        free(id);
        fputc(',', file);
        cli_print_field(file, name_of(self, one->given));
        fputc(',', file);
        cli_print_field(file, name_of(self, one->suggested));
        fprintf(file, ",%s,%s", score, i < self->flagged ? "True" : "False");
        cli_print_table_columns(file, self->text, one->row);
        fputc('\n', file);
    }
    const bool failed = fclose(file) != 0;
    const uc_status status = failed ? app_fail(UC_ERR_NOMEM, "not enough memory for the list of suspects")
                                    : uc_output_write(self->issue_file, text, length);
    free(text);
    return status;
}

static uc_status write_noise(const judged *self)
{
    uc_noise noise = {0};
    uc_status status = uc_probability_audit_noise(&noise, &self->found);
    if (status == UC_OK)
        status = uc_noise_write_to(&noise, self->noise_file);
    uc_noise_free(&noise);
    return status;
}

static uc_status write_files(const judged *self, app_call *call)
{
    uc_status status = UC_OK;
    if (self->issue_file)
        status = write_issues(self);
    if (status == UC_OK && self->noise_file)
        status = write_noise(self);
    return status == UC_OK ? app_finish_call(call, false) : status;
}

static json_t *share_json(const uc_share_estimate *share)
{
    return json_pack("{sf sf sf}", "estimate", share->estimate, "low", share->low, "high", share->high);
}

static json_t *issues_json(const judged *self)
{
    json_t *list = json_array();
    for (size_t i = 0; i < listed(self); i++) {
        const uc_suspect *one = &self->suspects[i];
        char *id = cli_table_id(self->text, one->row);
        json_t *issue =
            json_pack("{sI so so so sf sb}", "row", (json_int_t)one->row + 1, "id",
                      id ? app_json_text(id) : json_null(), "given", app_json_text(name_of(self, one->given)),
                      "suggested", app_json_text(name_of(self, one->suggested)), "p_wrong", one->p_wrong,
                      "flagged", i < self->flagged);
        json_t *columns = cli_columns_json(self->text, one->row);
        if (columns)
            json_object_set_new(issue, "columns", columns);
        json_array_append_new(list, issue);
        free(id);
    }
    return list;
}

static json_t *noise_json(const uc_probability_audit *found)
{
    uc_noise noise = {0};
    if (found->K > MOST_MATRIX_CLASSES || uc_probability_audit_noise(&noise, found) != UC_OK)
        return json_null();
    json_t *matrix = app_json_matrix(noise.values, found->K, found->K);
    uc_noise_free(&noise);
    return matrix;
}

static json_t *result_json(const judged *self)
{
    const uc_probability_audit *found = &self->found;
    json_t *pairs = json_array();
    for (size_t p = 0; p < found->pair_count; p++) {
        json_t *pair = share_json(&found->pairs[p].share);
        json_object_set_new(pair, "given", app_json_text(name_of(self, found->pairs[p].given)));
        json_object_set_new(pair, "true", app_json_text(name_of(self, found->pairs[p].truth)));
        json_array_append_new(pairs, pair);
    }
    json_t *result = json_pack(
        "{sI sI so so sI so so sf sI so so}", "examples", (json_int_t)found->rows, "labels",
        (json_int_t)found->labels, "classes", app_json_names(&found->classes), "wrong",
        share_json(&found->share), "flagged", (json_int_t)self->flagged, "noise_matrix", noise_json(found),
        "class_pairs", pairs, "temperature", found->temperature, "classes_kept", (json_int_t)found->kept,
        "clean_error", cli_audit_error_json(&found->clean_error), "issues", issues_json(self));
    if (self->gold) {
        json_object_set_new(result, "suspicion", cli_suspicion_json(&self->suspicion));
        json_object_set_new(result, "calibration", cli_audit_calibration_json(self->bins));
        json_object_set_new(result, "calibration_of", json_string("checked rows"));
    }
    return result;
}

/* The first flagged labels, without those of checked rows. */
static size_t shown_suspects(size_t shown[MOST_SHOWN], const judged *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->flagged && count < MOST_SHOWN; i++)
        if (!self->gold || self->gold[self->suspects[i].row] == UC_NONE)
            shown[count++] = i;
    return count;
}

static void print_suspects(FILE *text, const judged *self)
{
    size_t length, shown[MOST_SHOWN];
    const bool ids = self->text && uc_table_text_id(&length, self->text, 0);
    const size_t count = shown_suspects(shown, self);
    if (count > 0)
        fprintf(text, "\nMost suspicious labels:\n  %10s  %-16s %-16s %s%s\n", "row", "given", "more likely",
                "wrong", ids ? "   id" : "");
    for (size_t i = 0; i < count; i++) {
        const uc_suspect *one = &self->suspects[shown[i]];
        char *id = cli_table_id(self->text, one->row);
        fprintf(text, "  %10zu  %-16s %-16s %5.1f%%%s%s\n", one->row + 1, name_of(self, one->given),
                name_of(self, one->suggested), 100.0 * one->p_wrong, id ? "  " : "", id ? id : "");
        free(id);
    }
}

static void tell(const judged *self, const app_call *call)
{
    const uc_probability_audit *found = &self->found;
    FILE *text = app_summary(call, self->request->output);
    if (!text)
        return;
    fprintf(text,
            "About %.1f%% of the %zu labels are wrong (95%% interval %.1f%% to %.1f%%); %zu %s flagged.\n"
            "This assumes that the model has not seen the labels (out of fold); its confidence was divided "
            "by %g.\n",
            100.0 * found->share.estimate, found->labels, 100.0 * found->share.low, 100.0 * found->share.high,
            self->flagged, self->flagged == 1 ? "is" : "are", found->temperature);
    if (found->pair_count > 0)
        fprintf(text, "\nMost frequent mistakes:\n");
    for (size_t p = 0; p < found->pair_count && p < 5; p++)
        fprintf(text, "  %s called %s: %.1f%% of the labels (%.1f to %.1f)\n",
                name_of(self, found->pairs[p].truth), name_of(self, found->pairs[p].given),
                100.0 * found->pairs[p].share.estimate, 100.0 * found->pairs[p].share.low,
                100.0 * found->pairs[p].share.high);
    print_suspects(text, self);
    if (self->gold)
        cli_print_suspicion(text, &self->suspicion);
    cli_audit_print_error(text, &found->clean_error, "Error of these probabilities on true classes");
}

/* ---- all ---- */

static uc_status begin(judged *self, const char *probabilities)
{
    const cli_audit_request *request = self->request;
    uc_status status = UC_OK;
    if (!request->data)
        return app_fail(UC_ERR_OPTION,
                        "--probabilities needs DATA: the labels, one per line, or data with labels");
    if (cli_reads_once(probabilities))
        return app_fail(UC_ERR_OPTION, "--probabilities needs a file: its first line is read twice");
    if (request->model)
        return app_fail(UC_ERR_OPTION, "--model-out needs features: it does not go with --probabilities");
    if (request->output)
        status = app_begin_file(&self->issue_file, request->output, "-o");
    if (status == UC_OK && request->noise)
        status = app_begin_file(&self->noise_file, request->noise, "--noise-out");
    const char *read[] = {request->data, probabilities, request->gold};
    for (size_t i = 0; i < sizeof read / sizeof *read && status == UC_OK; i++)
        status = app_keep_input(read[i]);
    return status;
}

static uc_status read_gold(judged *self, const app_call *call)
{
    const cli_audit_request *request = self->request;
    const size_t count = self->labels.count;
    size_t checked;
    char **ids = cli_table_ids(self->text, count);
    const uc_predicted_rows rows = {.rows = count,
                                    .classes = &self->labels.classes,
                                    .name = request->data,
                                    .ids = (const char *const *)ids};
    const uc_status status = cli_read_truths(&self->gold, &checked, request->gold, &rows, call);
    cli_table_ids_free(ids, count);
    return status;
}

uc_status cli_audit_probabilities(app_call *call, const char *probabilities, const cli_audit_request *request)
{
    static const uc_names none = {0};
    judged self = {.request = request};
    uc_status status = begin(&self, probabilities);
    if (status == UC_OK)
        status = uc_labels_read_with_text(&self.labels, &self.text, request->data, &none, request->read,
                                          &call->context);
    if (status == UC_OK && request->gold)
        status = read_gold(&self, call);
    if (status == UC_OK)
        status =
            uc_probability_audit_read(&self.found, probabilities, &self.labels, self.gold, &call->context);
    if (status == UC_OK && self.gold)
        status = look_back(&self, probabilities, call);
    if (status == UC_OK) {
        self.suspects = rank(&self.flagged, &self.found);
        if (app_wants_result(call))
            call->result = result_json(&self);
        status = write_files(&self, call);
    }
    if (status == UC_OK)
        tell(&self, call);
    uc_probability_audit_free(&self.found);
    uc_labels_free(&self.labels);
    uc_table_text_free(self.text);
    free(self.suspects);
    free(self.gold);
    return status;
}
