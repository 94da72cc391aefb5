/* The results of unconfuse audit as JSON and as text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "picture.h"

#define SHOWN_SUSPECTS 10
#define OVERLAP 0.05 /* the error on true classes from which on the text warns of overlap */
#define SHOWN_PAIRS 5

cli_suspicion cli_judge_suspicion(const cli_audit *self)
{
    cli_suspicion out = {0};
    const uc_label_audit *before = self->before;
    for (size_t i = 0; i < before->labels; i++) {
        const uc_suspect *one = &before->suspects[i];
        const uint32_t truth = self->gold[one->row];
        if (truth == UC_NONE)
            continue;
        const bool wrong = truth != one->given, flagged = i < before->flagged;
        out.checked++;
        out.wrong += wrong;
        out.flagged += flagged;
        out.hits += wrong && flagged;
    }
    return out;
}

/* ---- the error on true classes ---- */

json_t *cli_audit_error_json(const uc_clean_error *error)
{
    const cli_clean_error all = {.found = true, .error = *error, .method = "noise hypotheses"};
    return cli_clean_error_json(&all);
}

void cli_audit_print_error(FILE *text, const uc_clean_error *error, const char *whose)
{
    fprintf(text,
            "\n%s: %.1f%% (90%% interval %.1f%% to %.1f%%, if wrong labels do not depend on the example).\n",
            whose, 100 * error->estimate, 100 * error->low, 100 * error->high);
    if (error->high - error->low > UC_CLEAN_ERROR_WIDE)
        fprintf(text, "These labels alone cannot narrow this down. Checking %zu rows by hand would.\n",
                uc_rows_to_check(error, UC_CHECKED_HALF_WIDTH));
}

/* ---- JSON ---- */

static json_t *name_of(const cli_audit *self, uint32_t class)
{
    return app_json_text(self->data->classes.text[class]);
}

static json_t *share_json(uc_label_share share)
{
    return json_pack("{so so so}", "estimate", app_json_real(share.estimate), "low", app_json_real(share.low),
                     "high", app_json_real(share.high));
}

static json_t *pairs_json(const cli_audit *self)
{
    json_t *list = json_array();
    for (size_t i = 0; i < self->found->pair_count; i++) {
        const uc_class_pair *pair = &self->found->pairs[i];
        json_t *entry = share_json(pair->share);
        json_object_set_new(entry, "given", name_of(self, pair->given));
        json_object_set_new(entry, "true", name_of(self, pair->truth));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *issues_json(const cli_audit *self, bool all)
{
    json_t *list = json_array();
    const size_t count = all ? self->found->labels : self->found->flagged;
    for (size_t i = 0; i < count; i++) {
        const uc_suspect *one = &self->found->suspects[i];
        char *id = cli_audit_id(self, one->row);
        json_t *issue = json_pack("{sI so so so so sb}", "row", (json_int_t)one->row + 1, "id",
                                  id ? app_json_text(id) : json_null(), "given", name_of(self, one->given),
                                  "suggested", name_of(self, one->suggested), "p_wrong",
                                  app_json_real(one->p_wrong), "flagged", (int)(i < self->found->flagged));
        json_t *columns = cli_columns_json(self->text, one->row);
        if (columns)
            json_object_set_new(issue, "columns", columns);
        json_array_append_new(list, issue);
        free(id);
    }
    return list;
}

json_t *cli_suspicion_json(const cli_suspicion *seen)
{
    const double precision = (double)seen->hits / (double)seen->flagged;
    const double recall = (double)seen->hits / (double)seen->wrong;
    return json_pack("{sI sI sI sI so so}", "checked", (json_int_t)seen->checked, "wrong",
                     (json_int_t)seen->wrong, "flagged", (json_int_t)seen->flagged, "both",
                     (json_int_t)seen->hits, "precision", app_json_real(precision), "recall",
                     app_json_real(recall));
}

json_t *cli_audit_calibration_json(const uc_reliability bins[UC_RELIABILITY_BINS])
{
    json_t *list = json_array();
    for (size_t b = 0; b < UC_RELIABILITY_BINS; b++)
        if (bins[b].labels > 0)
            json_array_append_new(list,
                                  json_pack("{sf sf sI sf sf so}", "low", bins[b].low, "high", bins[b].high,
                                            "rows", (json_int_t)bins[b].labels, "expected", bins[b].expected,
                                            "wrong", bins[b].observed, "interval",
                                            cli_json_interval(bins[b].observed, bins[b].labels)));
    return list;
}

/* The calibration on checked labels, by how suspicious they were without the checks; if none is checked, by
 * leave-one-out. */
static json_t *calibration_json(const cli_audit *self)
{
    uc_reliability bins[UC_RELIABILITY_BINS];
    if (!self->before)
        return cli_audit_calibration_json(self->found->calibration);
    uc_reliability_begin(bins);
    for (size_t i = 0; i < self->before->labels; i++) {
        const uc_suspect *one = &self->before->suspects[i];
        if (self->gold[one->row] != UC_NONE)
            uc_reliability_add(bins, one->p_wrong, self->gold[one->row] != one->given);
    }
    uc_reliability_end(bins);
    return cli_audit_calibration_json(bins);
}

json_t *cli_audit_json(const cli_audit *self, bool all)
{
    const uc_label_audit *found = self->found;
    const size_t K = self->data->classes.count;
    json_t *result =
        json_pack("{sI sI so so sI so so so ss so so sf so}", "examples", (json_int_t)found->rows, "labels",
                  (json_int_t)found->labels, "classes", app_json_names(&self->data->classes), "wrong",
                  share_json(found->wrong), "flagged", (json_int_t)found->flagged, "noise_matrix",
                  app_json_matrix(found->noise.values, K, K), "class_pairs", pairs_json(self), "clean_error",
                  cli_audit_error_json(&found->clean_error), "mode", found->mode, "guard_loss",
                  app_json_real(found->loss), "width", app_json_real(found->width), "temperature",
                  found->temperature, "issues", issues_json(self, all));
    if (found->noise_low) {
        json_object_set_new(result, "noise_low", app_json_matrix(found->noise_low, K, K));
        json_object_set_new(result, "noise_high", app_json_matrix(found->noise_high, K, K));
    }
    json_object_set_new(result, "calibration", calibration_json(self));
    json_object_set_new(result, "calibration_of",
                        json_string(self->before ? "checked rows" : "labels left out"));
    if (self->before) {
        const cli_suspicion seen = cli_judge_suspicion(self);
        json_object_set_new(result, "suspicion", cli_suspicion_json(&seen));
    }
    return result;
}

/* ---- text ---- */

static void print_wrong(FILE *text, const cli_audit *self)
{
    const uc_label_audit *found = self->found;
    fprintf(text,
            "About %.1f%% of the %zu labels are wrong (95%% interval %.1f%% to %.1f%%); %zu %s flagged.\n",
            100 * found->wrong.estimate, found->labels, 100 * found->wrong.low, 100 * found->wrong.high,
            found->flagged, found->flagged == 1 ? "is" : "are");
    if (found->rows > found->labels)
        fprintf(text, "Rows without a label: %zu. They helped to see the classes.\n",
                found->rows - found->labels);
}

static void print_pairs(FILE *text, const cli_audit *self)
{
    const uc_label_audit *found = self->found;
    const char *const *names = (const char *const *)self->data->classes.text;
    if (found->pair_count == 0)
        return;
    fputs("\nWhere labels go wrong, in labels:\n", text);
    for (size_t i = 0; i < found->pair_count && i < SHOWN_PAIRS; i++) {
        const uc_class_pair *pair = &found->pairs[i];
        const double n = (double)found->labels;
        fprintf(text, "  labelled %s, really %s: about %.0f (%.0f to %.0f)\n", names[pair->given],
                names[pair->truth], n * pair->share.estimate, n * pair->share.low, n * pair->share.high);
    }
}

/* The first flagged labels, without those of checked rows. */
static size_t shown_suspects(size_t shown[SHOWN_SUSPECTS], const cli_audit *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->found->flagged && count < SHOWN_SUSPECTS; i++)
        if (!self->gold || self->gold[self->found->suspects[i].row] == UC_NONE)
            shown[count++] = i;
    return count;
}

static void print_suspects(FILE *text, const cli_audit *self)
{
    const uc_label_audit *found = self->found;
    const uc_names *classes = &self->data->classes;
    size_t width = strlen("given"), shown[SHOWN_SUSPECTS];
    const size_t count = shown_suspects(shown, self);
    for (size_t k = 0; k < classes->count; k++)
        if (strlen(classes->text[k]) > width)
            width = strlen(classes->text[k]);
    if (width > 30)
        width = 30;
    if (count == 0) {
        fprintf(text, "\nNo %slabel is more likely wrong than right.\n", self->gold ? "unchecked " : "");
        return;
    }
    const int second = width > strlen("more likely") ? (int)width : (int)strlen("more likely");
    size_t length;
    const bool ids = self->text && uc_table_text_id(&length, self->text, 0);
    const bool header = self->text && uc_table_text_header(&length, self->text);
    fprintf(text, "\nMost suspicious%s:\n  %8s  %-*s  %-*s  wrong%s\n",
            header ? " (row 1 is the first line after the header)" : "", "row", (int)width, "given", second,
            "more likely", ids ? "  id" : "");
    for (size_t i = 0; i < count; i++) {
        const uc_suspect *one = &found->suspects[shown[i]];
        char *id = cli_audit_id(self, one->row);
        const char *likelier = "-"; /* a label may be flagged although no class is more likely */
        if (one->suggested != one->given)
            likelier = classes->text[one->suggested];
        fprintf(text, "  %8zu  %-*s  %-*s  %4.1f%%%s%s\n", one->row + 1, (int)width,
                classes->text[one->given], second, likelier, 100 * one->p_wrong, id ? "  " : "",
                id ? id : "");
        free(id);
    }
}

void cli_print_suspicion(FILE *text, const cli_suspicion *seen)
{
    fprintf(text,
            "\nOf %zu checked labels %zu are wrong. Without the checks %zu of them had been flagged, %zu of "
            "those rightly.\n",
            seen->checked, seen->wrong, seen->flagged, seen->hits);
}

bool cli_audit_is_unsure(const cli_audit *self)
{
    return self->found->clean_error.estimate >= OVERLAP;
}

/* If classes overlap, rows on the wrong side of a border look like wrong labels, and are flagged with the
 * same certainty. */
static void warn_of_overlap(FILE *text, const cli_audit *self)
{
    if (cli_audit_is_unsure(self))
        fputs("Classes seem to overlap: then a label can be right although it is listed as 100% likely to be "
              "wrong. "
              "--check N proposes rows to look at; with --gold these tell how often.\n",
              text);
}

static void print_trust(FILE *text, const cli_audit *self)
{
    const uc_label_audit *found = self->found;
    cli_audit_print_error(text, &found->clean_error, "The model's error on true classes");
    warn_of_overlap(text, self);
    if (strcmp(found->mode, "structure") == 0)
        fputs("Assumed: rows of a class look alike. Do not trust this where the labels were written by a "
              "program, or where a class consists of many unlike groups.\n",
              text);
    else
        fputs(
            "The rows of a class do not look alike enough to overrule labels: they were believed first, and "
            "corrected once. Labels that are wrong in the same way everywhere stay unnoticed; --mode "
            "structure would look for them.\n",
            text);
}

void cli_audit_print(FILE *text, const cli_audit *self)
{
    print_wrong(text, self);
    print_pairs(text, self);
    cli_draw_matrix(text, "Labels by true class (rows: label, columns: true class, in the same order)",
                    self->found->noise.values, &self->data->classes);
    print_suspects(text, self);
    if (self->before) {
        const cli_suspicion seen = cli_judge_suspicion(self);
        cli_print_suspicion(text, &seen);
    }
    print_trust(text, self);
}
