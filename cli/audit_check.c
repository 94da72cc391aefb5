/* audit --check: the rows that a person should check next, as files to fill in. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "audit_check.h"

#define SHOWN 10

enum { FORMAT_AUTO, FORMAT_CSV, FORMAT_LABEL_STUDIO, FORMAT_ARGILLA };

#define FIELD(name) offsetof(cli_check_args, name)
const uc_option cli_check_options[] = {
    {.name = "check",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(rows),
     .standard = "0",
     .low = 0,
     .high = 1e9,
     .argument = "N",
     .help = "propose N rows to look at next, drawn as unconfuse check draws them, and the N labels that are "
             "most likely wrong; rows of --gold are left out"},
    {.name = "check-out",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(drawn),
     .argument = "FILE",
     .help = "write the drawn rows there, for evaluate --gold and audit --gold"},
    {.name = "check-worst",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(worst),
     .argument = "FILE",
     .help = "write the labels that are most likely wrong there, for audit --gold"},
    {.name = "check-format",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(format),
     .standard = "auto",
     .choices = "auto|csv|label-studio|argilla",
     .help = "of these files; auto: label-studio for names in .json, argilla for .jsonl, else csv"},
    {0},
};

/* ---- which rows ---- */

uc_status cli_check_plan_make(cli_check_plan *out, const cli_audit *audit, const cli_check_args *args,
                              uint64_t seed)
{
    const uc_label_audit *found = audit->found;
    const size_t rows = audit->data->X.rows;
    uint32_t *open = app_calloc(rows + 1, sizeof *open);
    uc_status status = UC_OK;
    out->audit = audit;
    out->of_row = app_calloc(rows + 1, sizeof *out->of_row);
    out->worst = app_calloc(found->labels + 1, sizeof *out->worst);
    for (size_t i = 0; i < rows; i++)
        open[i] = audit->gold && audit->gold[i] != UC_NONE ? UC_NONE : audit->data->y[i];
    for (size_t i = 0; i < found->labels; i++) {
        const size_t row = found->suspects[i].row;
        out->of_row[row] = i;
        out->labelled += open[row] != UC_NONE;
        if (open[row] != UC_NONE && out->worst_count < args->rows)
            out->worst[out->worst_count++] = i;
    }
    const uc_predicted_rows about = {open, found->predicted, rows, &audit->data->classes, "", NULL, false};
    if (out->labelled > 0)
        status = uc_check_draw(&out->drawn, &about, (size_t)args->rows, found->clean_error.strata, seed);
    free(open);
    return status;
}

void cli_check_plan_free(cli_check_plan *self)
{
    uc_check_free(&self->drawn);
    free(self->of_row);
    free(self->worst);
}

/* A proposed row, and the class that is likelier than its label. */
typedef struct proposal {
    const uc_suspect *suspect;
    uint32_t other;
    const char *stratum; /* NULL: the row was not drawn */
} proposal;

static proposal drawn_at(const cli_check_plan *self, size_t i)
{
    const uc_label_audit *found = self->audit->found;
    const size_t row = self->drawn.rows[i];
    const uc_suspect *suspect = &found->suspects[self->of_row[row]];
    const uint32_t predicted = found->predicted[row];
    return (proposal){suspect, predicted,
                      uc_stratum_name(predicted == suspect->given ? UC_AGREE : UC_DISAGREE)};
}

static proposal worst_at(const cli_check_plan *self, size_t i)
{
    const uc_suspect *suspect = &self->audit->found->suspects[self->worst[i]];
    return (proposal){suspect, suspect->suggested, NULL};
}

typedef struct list {
    const cli_check_plan *plan;
    size_t count;
    proposal (*at)(const cli_check_plan *self, size_t i);
    bool drawn;
} list;

/* ---- CSV ---- */

static const char *class_of(const list *self, uint32_t k)
{
    return self->plan->audit->data->classes.text[k];
}

/* Prints the sizes of the strata in the form that uc_checked_read reads. */
static void print_sizes(char *out, size_t size, const uc_check *drawn)
{
    snprintf(out, size, "agree %zu drawn %zu disagree %zu drawn %zu", drawn->sizes[UC_AGREE],
             drawn->drawn[UC_AGREE], drawn->sizes[UC_DISAGREE], drawn->drawn[UC_DISAGREE]);
}

static void print_csv(FILE *file, const list *self)
{
    const cli_audit *audit = self->plan->audit;
    char sizes[160];
    print_sizes(sizes, sizeof sizes, &self->plan->drawn);
    if (self->drawn)
        fprintf(file,
                "# stratum sizes: %s (fill in true_label and keep this line)\n"
                "row,id,given_label,predicted_label,stratum,true_label\n",
                sizes);
    else
        fputs("row,id,given_label,predicted_label,label_score,true_label\n", file);
    for (size_t i = 0; i < self->count; i++) {
        const proposal one = self->at(self->plan, i);
        char *id = cli_audit_id(audit, one.suspect->row), score[32];
        app_print_real(score, 1.0 - one.suspect->p_wrong);
        fprintf(file, "%zu,", one.suspect->row + 1);
        cli_print_field(file, id ? id : "");
        fputc(',', file);
        cli_print_field(file, class_of(self, one.suspect->given));
        fputc(',', file);
        cli_print_field(file, class_of(self, one.other));
        fprintf(file, ",%s,\n", self->drawn ? one.stratum : score);
        free(id);
    }
}

/* ---- annotation tools ---- */

/* Row, id, label and the table's columns. */
static json_t *shown(const list *self, const proposal *one)
{
    const cli_audit *audit = self->plan->audit;
    json_t *columns = cli_columns_json(audit->text, one->suspect->row);
    char *id = cli_audit_id(audit, one->suspect->row);
    json_t *data = json_pack("{sI so so}", "row", (json_int_t)one->suspect->row + 1, "id",
                             id ? app_json_text(id) : json_null(), "given_label",
                             app_json_text(class_of(self, one->suspect->given)));
    if (one->stratum) {
        char sizes[160];
        print_sizes(sizes, sizeof sizes, &self->plan->drawn);
        json_object_set_new(data, "stratum", json_string(one->stratum));
        json_object_set_new(data, "stratum_sizes", json_string(sizes));
    }
    if (columns) /* a column with the name of an existing member does not replace it */
        json_object_update_missing(data, columns);
    json_decref(columns);
    free(id);
    return data;
}

static json_t *label_studio(const list *self)
{
    json_t *tasks = json_array();
    for (size_t i = 0; i < self->count; i++) {
        const proposal one = self->at(self->plan, i);
        json_t *result = json_pack("{ss ss ss s{s[o]}}", "from_name", "true_label", "to_name", "text", "type",
                                   "choices", "value", "choices", app_json_text(class_of(self, one.other)));
        json_array_append_new(tasks, json_pack("{so s[{ss so s[o]}]}", "data", shown(self, &one),
                                               "predictions", "model_version", "unconfuse audit", "score",
                                               app_json_real(one.suspect->p_wrong), "result", result));
    }
    return tasks;
}

/* Turns all members into text, since Argilla's fields are text. */
static json_t *as_text(json_t *data)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(data, next, name, value)
    {
        char number[32];
        if (json_is_string(value))
            continue;
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        json_object_set_new(data, name, json_string(json_is_integer(value) ? number : ""));
    }
    return data;
}

static json_t *argilla(const list *self, size_t i)
{
    const proposal one = self->at(self->plan, i);
    char *id = cli_audit_id(self->plan->audit, one.suspect->row), number[32];
    snprintf(number, sizeof number, "%zu", one.suspect->row + 1);
    json_t *record = json_pack("{so so s[{ss so so ss}]}", "id", app_json_text(id ? id : number), "fields",
                               as_text(shown(self, &one)), "suggestions", "question_name", "true_label",
                               "value", app_json_text(class_of(self, one.other)), "score",
                               app_json_real(one.suspect->p_wrong), "agent", "unconfuse audit");
    free(id);
    return record;
}

/* ---- files ---- */

static int format_of(const char *path, int format)
{
    const size_t length = strlen(path);
    if (format != FORMAT_AUTO)
        return format;
    if (length > 6 && strcmp(path + length - 6, ".jsonl") == 0)
        return FORMAT_ARGILLA;
    return length > 5 && strcmp(path + length - 5, ".json") == 0 ? FORMAT_LABEL_STUDIO : FORMAT_CSV;
}

static void print_json(FILE *file, json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags);
    if (text)
        fprintf(file, "%s\n", text);
    free(text);
    json_decref(value);
}

static uc_status write_list(uc_output *output, const char *path, int format, const list *self)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        return app_fail(UC_ERR_NOMEM, "not enough memory for the rows to check");
    format = format_of(path, format);
    if (format == FORMAT_CSV)
        print_csv(file, self);
    if (format == FORMAT_LABEL_STUDIO)
        print_json(file, label_studio(self), JSON_INDENT(1));
    for (size_t i = 0; i < self->count && format == FORMAT_ARGILLA; i++)
        print_json(file, argilla(self, i), JSON_COMPACT);
    uc_status status = UC_OK;
    if (fclose(file) != 0)
        status = app_fail(UC_ERR_NOMEM, "not enough memory for the rows to check");
    if (status == UC_OK)
        status = uc_output_write(output, text, length);
    free(text);
    return status;
}

static list drawn_rows(const cli_check_plan *self)
{
    return (list){self, self->drawn.count, drawn_at, true};
}

static list worst_rows(const cli_check_plan *self)
{
    return (list){self, self->worst_count, worst_at, false};
}

uc_status cli_check_plan_begin(cli_check_files *out, const cli_check_args *args)
{
    uc_status status = UC_OK;
    if ((args->drawn || args->worst || args->format != FORMAT_AUTO) && args->rows == 0)
        return app_fail(UC_ERR_OPTION, "--%s needs --check N: how many rows",
                        args->drawn ? "check-out" : (args->worst ? "check-worst" : "check-format"));
    if (args->drawn)
        status = app_begin_file(&out->drawn, args->drawn, "--check-out");
    if (status == UC_OK && args->worst)
        status = app_begin_file(&out->worst, args->worst, "--check-worst");
    return status;
}

uc_status cli_check_plan_write(const cli_check_plan *self, const cli_check_files *files,
                               const cli_check_args *args)
{
    const list drawn = drawn_rows(self), worst = worst_rows(self);
    uc_status status = UC_OK;
    if (files->drawn)
        status = write_list(files->drawn, args->drawn, args->format, &drawn);
    if (status == UC_OK && files->worst)
        status = write_list(files->worst, args->worst, args->format, &worst);
    return status;
}

/* ---- the result ---- */

static json_t *list_json(const list *self)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < self->count; i++) {
        const proposal one = self->at(self->plan, i);
        char *id = cli_audit_id(self->plan->audit, one.suspect->row);
        json_t *row = json_pack(
            "{sI so so so so}", "row", (json_int_t)one.suspect->row + 1, "id",
            id ? app_json_text(id) : json_null(), "given", app_json_text(class_of(self, one.suspect->given)),
            one.stratum ? "predicted" : "suggested", app_json_text(class_of(self, one.other)), "p_wrong",
            app_json_real(one.suspect->p_wrong));
        if (one.stratum)
            json_object_set_new(row, "stratum", json_string(one.stratum));
        json_array_append_new(rows, row);
        free(id);
    }
    return rows;
}

json_t *cli_check_plan_json(const cli_check_plan *self)
{
    const list drawn = drawn_rows(self), worst = worst_rows(self);
    return json_pack("{so so}", "drawn", list_json(&drawn), "most_suspicious", list_json(&worst));
}

static void print_rows(FILE *text, const list *self)
{
    for (size_t i = 0; i < self->count && i < SHOWN; i++)
        fprintf(text, " %zu", self->at(self->plan, i).suspect->row + 1);
    fputs(self->count > SHOWN ? " ...\n" : "\n", text);
}

void cli_check_plan_print(FILE *text, const cli_check_plan *self, const cli_check_args *args,
                          const char *data)
{
    const list drawn = drawn_rows(self), worst = worst_rows(self);
    const uc_check *check = &self->drawn;
    fprintf(text,
            "\nTo check next, drawn at random (%zu of %zu rows where the prediction is the label, %zu of %zu "
            "where it is not):",
            check->drawn[UC_AGREE], check->sizes[UC_AGREE], check->drawn[UC_DISAGREE],
            check->sizes[UC_DISAGREE]);
    print_rows(text, &drawn);
    fputs("To check next, most likely wrong:", text);
    print_rows(text, &worst);
    if (args->drawn || args->worst)
        fprintf(text, "Fill in true_label, then: unconfuse audit %s --gold %s\n", data,
                args->drawn ? args->drawn : args->worst);
    if (args->drawn)
        fputs("They tell the error of a model on these rows; for one that was trained on them it is too low. "
              "For its error on new rows, draw from rows that were held out (unconfuse check).\n",
              text);
}
