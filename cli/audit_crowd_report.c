/* The results of audit --crowd: CSV files, JSON, and text. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "audit_crowd.h"
#include "picture.h"

#define MOST_SHOWN ((size_t)10)
#define MOST_MATRIX_NUMBERS 1e6 /* of the annotators' matrices in the JSON, unless --all asks for them */

static double probability(const cli_crowd_run *self, size_t row, size_t k)
{
    const uc_posteriors *posterior = &self->consensus.posterior;
    return posterior->values[uc_posterior_at(posterior, row, k)];
}

static const char *id_of(const cli_crowd_run *self, size_t row)
{
    if (self->ids.count)
        return self->ids.text[row];
    return self->crowd.ids.count ? self->crowd.ids.text[row] : NULL;
}

static size_t issues_listed(const cli_crowd_run *self)
{
    return self->request->all ? self->issues.count : self->issues.flagged;
}

/* ---- CSV ---- */

/* Writes what `print` prints. */
static uc_status write_text(const cli_crowd_run *self, uc_output *output,
                            void (*print)(FILE *file, const cli_crowd_run *self))
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        return app_fail(UC_ERR_NOMEM, "not enough memory for a list of rows");
    print(file, self);
    uc_status status = UC_OK;
    if (fclose(file) != 0)
        status = app_fail(UC_ERR_NOMEM, "not enough memory for a list of rows");
    if (status == UC_OK)
        status = uc_output_write(output, text, length);
    free(text);
    return status;
}

static void print_row(FILE *file, const cli_crowd_run *self, size_t row)
{
    fprintf(file, "%zu,", row + 1);
    if (id_of(self, row))
        cli_print_field(file, id_of(self, row));
    fputc(',', file);
}

static void print_issue_list(FILE *file, const cli_crowd_run *self)
{
    const uc_crowd *crowd = &self->crowd;
    fputs("row,id,given_label,predicted_label,label_score,is_label_issue,annotator\n", file);
    for (size_t i = 0; i < issues_listed(self); i++) {
        const uc_crowd_issue *issue = &self->issues.issues[i];
        char score[32];
        app_print_real(score, 1.0 - issue->wrong);
        print_row(file, self, issue->row);
        cli_print_field(file, crowd->classes.text[crowd->label[issue->annotation]]);
        fputc(',', file);
        cli_print_field(file, crowd->classes.text[self->consensus.most_probable[issue->row]]);
        fprintf(file, ",%s,%s,", score, i < self->issues.flagged ? "True" : "False");
        cli_print_field(file, crowd->annotators.text[crowd->annotator[issue->annotation]]);
        fputc('\n', file);
    }
}

static void print_consensus_list(FILE *file, const cli_crowd_run *self)
{
    fputs("row,id,class,probability,annotations\n", file);
    for (size_t i = 0; i < self->crowd.rows; i++) {
        const uint32_t best = self->consensus.most_probable[i];
        char score[32];
        app_print_real(score, probability(self, i, best));
        print_row(file, self, i);
        cli_print_field(file, self->crowd.classes.text[best]);
        fprintf(file, ",%s,%zu\n", score, self->crowd.first[i + 1] - self->crowd.first[i]);
    }
}

uc_status cli_crowd_write_issues(const cli_crowd_run *self, uc_output *file)
{
    return write_text(self, file, print_issue_list);
}

uc_status cli_crowd_write_consensus(const cli_crowd_run *self, uc_output *file)
{
    return write_text(self, file, print_consensus_list);
}

/* ---- JSON ---- */

static json_t *share_json(const uc_share_estimate *share)
{
    return json_pack("{sf sf sf}", "estimate", share->estimate, "low", share->low, "high", share->high);
}

static void set_id(json_t *object, const cli_crowd_run *self, size_t row)
{
    const char *id = id_of(self, row);
    json_object_set_new(object, "id", id ? app_json_text(id) : json_null());
}

static json_t *issues_json(const cli_crowd_run *self)
{
    const uc_crowd *crowd = &self->crowd;
    json_t *list = json_array();
    for (size_t i = 0; i < issues_listed(self); i++) {
        const uc_crowd_issue *issue = &self->issues.issues[i];
        json_t *item =
            json_pack("{sI so so so sf sb}", "row", (json_int_t)issue->row + 1, "annotator",
                      app_json_text(crowd->annotators.text[crowd->annotator[issue->annotation]]), "given",
                      app_json_text(crowd->classes.text[crowd->label[issue->annotation]]), "suggested",
                      app_json_text(crowd->classes.text[self->consensus.most_probable[issue->row]]),
                      "p_wrong", issue->wrong, "flagged", i < self->issues.flagged);
        set_id(item, self, issue->row);
        json_t *columns = cli_columns_json(self->text, issue->row);
        if (columns)
            json_object_set_new(item, "columns", columns);
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *annotators_json(const cli_crowd_run *self)
{
    const size_t K = self->crowd.classes.count, count = self->crowd.annotators.count;
    const bool matrices =
        (double)count * (double)(K * K + self->crowd.count) <= MOST_MATRIX_NUMBERS || self->request->all;
    double *matrix = app_calloc(K * K, sizeof *matrix);
    json_t *list = json_array();
    for (size_t j = 0; j < count; j++) {
        const uc_annotator *annotator = &self->consensus.annotators[j];
        json_t *item = json_pack("{so sI sf sf sf so}", "name", app_json_text(self->crowd.annotators.text[j]),
                                 "labels", (json_int_t)annotator->labels, "accuracy", annotator->accuracy,
                                 "low", annotator->interval[0], "high", annotator->interval[1], "information",
                                 app_json_real(annotator->information));
        if (matrices && uc_consensus_matrix(matrix, &self->consensus, &self->crowd, j) == UC_OK)
            json_object_set_new(item, "matrix", app_json_matrix(matrix, K, K));
        json_array_append_new(list, item);
    }
    free(matrix);
    return list;
}

static json_t *consensus_json(const cli_crowd_run *self)
{
    json_t *list = json_array();
    for (size_t i = 0; i < self->crowd.rows; i++) {
        const uint32_t best = self->consensus.most_probable[i];
        json_t *item = json_pack("{sI so sf}", "row", (json_int_t)i + 1, "class",
                                 app_json_text(self->crowd.classes.text[best]), "probability",
                                 probability(self, i, best));
        if (id_of(self, i))
            set_id(item, self, i);
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *questions_json(const cli_crowd_run *self)
{
    json_t *list = json_array();
    for (size_t q = 0; q < self->question_count; q++) {
        const uc_question *question = &self->questions[q];
        const char *who =
            question->annotator == UC_NONE ? NULL : self->crowd.annotators.text[question->annotator];
        json_t *item =
            json_pack("{sI so sf}", "row", (json_int_t)question->row + 1, "annotator",
                      who ? app_json_text(who) : json_null(), "probability", question->probability);
        set_id(item, self, question->row);
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *pairs_json(const cli_crowd_run *self)
{
    json_t *list = json_array();
    for (size_t p = 0; p < self->issues.pair_count; p++) {
        const uc_crowd_mistake *pair = &self->issues.pairs[p];
        json_t *item = share_json(&pair->share);
        json_object_set_new(item, "given", app_json_text(self->crowd.classes.text[pair->given]));
        json_object_set_new(item, "true", app_json_text(self->crowd.classes.text[pair->truth]));
        json_array_append_new(list, item);
    }
    return list;
}

/* Columns are true classes. */
static json_t *noise_json(const cli_crowd_run *self)
{
    const size_t K = self->crowd.classes.count;
    double *values = app_calloc(K * K, sizeof *values);
    for (size_t z = 0; z < K; z++)
        for (size_t l = 0; l < K; l++)
            values[l * K + z] = self->consensus.pooled[z * K + l];
    json_t *matrix = app_json_matrix(values, K, K);
    free(values);
    return matrix;
}

json_t *cli_crowd_json(const cli_crowd_run *self)
{
    const uc_consensus *consensus = &self->consensus;
    json_t *result = json_pack(
        "{sI sI so so sI so so sI sI sI}", "examples", (json_int_t)self->crowd.rows, "annotations",
        (json_int_t)self->crowd.count, "classes", app_json_names(&self->crowd.classes), "wrong",
        share_json(&self->issues.wrong), "flagged", (json_int_t)self->issues.flagged, "noise_matrix",
        noise_json(self), "class_pairs", pairs_json(self), "ties", (json_int_t)consensus->ties, "unannotated",
        (json_int_t)consensus->unannotated, "checked", (json_int_t)self->checked);
    json_object_set_new(result, "log_likelihood", app_json_real(consensus->log_likelihood));
    json_object_set_new(result, "iterations", json_integer((json_int_t)consensus->iterations));
    json_object_set_new(result, "converged", json_boolean(consensus->converged));
    json_object_set_new(result, "clean_error", cli_audit_error_json(&self->error));
    json_object_set_new(result, "clean_error_of", json_string(self->model ? "model" : "consensus"));
    if (self->suspicion) {
        json_t *seen = cli_suspicion_json(&self->suspicion->annotations);
        json_object_set_new(seen, "consensus_right", json_integer((json_int_t)self->suspicion->right));
        json_object_set_new(result, "suspicion", seen);
        json_object_set_new(result, "calibration", cli_audit_calibration_json(self->suspicion->bins));
        json_object_set_new(result, "calibration_of", json_string("checked rows"));
    }
    json_object_set_new(result, "issues", issues_json(self));
    json_object_set_new(result, "annotators", annotators_json(self));
    json_object_set_new(result, "consensus", consensus_json(self));
    json_object_set_new(result, "ask_again", questions_json(self));
    return result;
}

/* ---- text ---- */

/* The row's number in the data, or its id if it occurs only in the annotations; the caller frees it. */
static char *row_name(const cli_crowd_run *self, size_t row)
{
    char *name = NULL;
    int length;
    if (self->crowd.ids.count)
        length = asprintf(&name, "%s", self->crowd.ids.text[row]);
    else
        length = asprintf(&name, "%zu", row + 1);
    return length < 0 ? NULL : name;
}

/* The first flagged annotations, without those of checked rows. */
static size_t shown_issues(size_t shown[MOST_SHOWN], const cli_crowd_run *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->issues.flagged && count < MOST_SHOWN; i++)
        if (!self->gold || self->gold[self->issues.issues[i].row] == UC_NONE)
            shown[count++] = i;
    return count;
}

static void print_issues(FILE *text, const cli_crowd_run *self)
{
    const uc_crowd *crowd = &self->crowd;
    size_t shown[MOST_SHOWN];
    const size_t count = shown_issues(shown, self);
    if (count > 0)
        fprintf(text, "\nMost suspicious annotations:\n  %10s  %-16s %-16s %-16s %s%s\n", "row", "annotator",
                "given", "more likely", "wrong", self->ids.count ? "   id" : "");
    for (size_t i = 0; i < count; i++) {
        const uc_crowd_issue *issue = &self->issues.issues[shown[i]];
        char *name = row_name(self, issue->row);
        fprintf(text, "  %10s  %-16s %-16s %-16s %5.1f%%", name ? name : "",
                crowd->annotators.text[crowd->annotator[issue->annotation]],
                crowd->classes.text[crowd->label[issue->annotation]],
                crowd->classes.text[self->consensus.most_probable[issue->row]], 100.0 * issue->wrong);
        if (self->ids.count)
            fprintf(text, "  %s", self->ids.text[issue->row]);
        fputc('\n', text);
        free(name);
    }
}

static int compare_accuracy(const void *a, const void *b, void *user)
{
    const uc_annotator *annotators = user;
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    if (annotators[i].interval[1] != annotators[j].interval[1])
        return annotators[i].interval[1] < annotators[j].interval[1] ? -1 : 1;
    return (i > j) - (i < j);
}

/* Prints the annotators, those that are most certainly bad first. */
static void print_annotators(FILE *text, const cli_crowd_run *self)
{
    const size_t count = self->crowd.annotators.count, shown = count < MOST_SHOWN ? count : MOST_SHOWN;
    size_t *order = app_calloc(count, sizeof *order);
    for (size_t j = 0; j < count; j++)
        order[j] = j;
    qsort_r(order, count, sizeof *order, compare_accuracy, self->consensus.annotators);
    fprintf(text, "\nLeast accurate annotators:\n  %-20s %8s  %s\n", "annotator", "labels", "accuracy");
    for (size_t j = 0; j < shown; j++) {
        const uc_annotator *annotator = &self->consensus.annotators[order[j]];
        fprintf(text, "  %-20s %8zu  %.2f (%.2f to %.2f)\n", self->crowd.annotators.text[order[j]],
                annotator->labels, annotator->accuracy, annotator->interval[0], annotator->interval[1]);
    }
    free(order);
}

static void print_pairs(FILE *text, const cli_crowd_run *self)
{
    if (self->issues.pair_count > 0)
        fprintf(text, "\nMost frequent mistakes:\n");
    for (size_t p = 0; p < self->issues.pair_count && p < 5; p++) {
        const uc_crowd_mistake *pair = &self->issues.pairs[p];
        fprintf(text, "  %s called %s: %.1f%% of the annotations (%.1f to %.1f)\n",
                self->crowd.classes.text[pair->truth], self->crowd.classes.text[pair->given],
                100.0 * pair->share.estimate, 100.0 * pair->share.low, 100.0 * pair->share.high);
    }
}

static void print_questions(FILE *text, const cli_crowd_run *self)
{
    if (self->question_count == 0)
        return;
    fprintf(text, "\nWhom to ask again:\n");
    for (size_t q = 0; q < self->question_count && q < MOST_SHOWN; q++) {
        const uc_question *question = &self->questions[q];
        char *name = row_name(self, question->row);
        fprintf(text, "  row %s", name ? name : "");
        if (self->ids.count)
            fprintf(text, ", %s", self->ids.text[question->row]);
        fprintf(text, " (%.2f sure): %s\n", question->probability,
                question->annotator == UC_NONE ? "somebody new"
                                               : self->crowd.annotators.text[question->annotator]);
        free(name);
    }
}

void cli_crowd_tell(const cli_crowd_run *self, const app_call *call)
{
    FILE *text = app_summary(call, self->request->output);
    if (!text)
        return;
    const uc_share_estimate *wrong = &self->issues.wrong;
    fprintf(text,
            "%zu annotations of %zu rows by %zu annotators: about %.1f%% are wrong (95%% interval %.1f%% to "
            "%.1f%%, if annotators err independently of each other); %zu %s flagged.\n",
            self->crowd.count, self->crowd.rows, self->crowd.annotators.count, 100.0 * wrong->estimate,
            100.0 * wrong->low, 100.0 * wrong->high, self->issues.flagged,
            self->issues.flagged == 1 ? "is" : "are");
    if (self->consensus.ties)
        fprintf(text, "Ties, which go to the first class: %zu rows.\n", self->consensus.ties);
    if (self->consensus.unannotated)
        fprintf(text, "Rows without an annotation: %zu.\n", self->consensus.unannotated);
    print_pairs(text, self);
    cli_draw_matrix(text,
                    "Annotations by true class (rows: true class, columns: annotation, in the same order)",
                    self->consensus.pooled, &self->crowd.classes);
    print_issues(text, self);
    print_annotators(text, self);
    print_questions(text, self);
    if (self->suspicion)
        fprintf(text,
                "\nOf %zu annotations of %zu checked rows %zu are wrong. Without the checks %zu of them had "
                "been flagged, %zu of those rightly, and the consensus of %zu of the rows was right.\n",
                self->suspicion->annotations.checked, self->checked, self->suspicion->annotations.wrong,
                self->suspicion->annotations.flagged, self->suspicion->annotations.hits,
                self->suspicion->right);
    cli_audit_print_error(text, &self->error,
                          self->model ? "The model's error on true classes" : "Error of the consensus");
}
