/* audit --crowd: labels of the same rows by several annotators, and whom to believe. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit_crowd.h"

#define FIELD(name) offsetof(cli_crowd, name)

const uc_option cli_crowd_options[] = {
    {.name = "crowd",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(file),
     .argument = "FILE",
     .help = "labels of several annotators: one per line, as row (a number from 1, or an id), annotator and "
             "label, "
             "with a header or without one; the labels of DATA are not used"},
    {.name = "annotators",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(columns),
     .argument = "COLS",
     .help = "the same from columns of DATA, a table with a header: their names, with commas, one per "
             "annotator; empty fields are no label, and these columns are no features"},
    {.name = "features",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(features),
     .standard = "on",
     .help = "use the features of DATA; without them the consensus audit is dawid-skene"},
    {.name = "ask",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(ask),
     .standard = "10",
     .low = 0,
     .high = 1e9,
     .argument = "N",
     .help = "how many rows to propose to ask about again, and whom"},
    {.name = "resume",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(resume),
     .argument = "STATE",
     .help =
         "add the annotations to those of a finished result, a file of --state-out, and go on from it; with "
         "features all of them are fitted again"},
    {.name = "state-out",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(state),
     .argument = "STATE",
     .help = "write all annotations and their consensus to a file for --resume"},
    {.name = "consensus-out",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(consensus_out),
     .argument = "FILE",
     .help = "write the consensus of every row to a CSV file: row,id,class,probability"},
    {0},
};

/* ---- gold ---- */

uc_status cli_read_truths(uint32_t **out, size_t *checked, const char *path, const uc_predicted_rows *of,
                          const app_call *call)
{
    const size_t rows = of->rows;
    uint32_t *gold = app_calloc(rows, sizeof *gold);
    for (size_t i = 0; i < rows; i++) /* no class, so that the file's given labels are not compared */
        gold[i] = (uint32_t)of->classes->count;
    uc_predicted_rows about = *of;
    about.labels = about.predicted = gold;
    uc_checked found = {0};
    uc_status status = uc_checked_read(&found, path, &about, &call->context);
    if (status == UC_OK && found.count == 0)
        status = app_fail(UC_ERR_FORMAT, "%s: no true class is filled in", path);
    for (size_t i = 0; i < rows; i++)
        gold[i] = UC_NONE;
    for (size_t i = 0; i < found.count && status == UC_OK; i++)
        gold[found.rows[i]] = found.truth[i];
    *checked = found.count;
    *out = gold;
    uc_checked_free(&found);
    return status;
}

/* ---- work ---- */

/* The ids of a table's rows; none unless every row has a unique one. */
static uc_status read_ids(uc_names *ids, uc_table_text *text, size_t rows)
{
    uc_status status = UC_OK;
    for (size_t i = 0; i < rows && text && status == UC_OK; i++) {
        size_t length = 0;
        uint32_t index = UC_NONE;
        const char *id = uc_table_text_id(&length, text, i);
        if (id && length > 0)
            status = uc_names_add(&index, ids, id, length);
        if (status == UC_OK && index != i) {
            uc_names_free(ids);
            return UC_OK;
        }
    }
    return status;
}

/* The annotators' columns are not features, and without --label there is no column of labels. */
static uc_status read_data(cli_crowd_run *self, const app_call *call)
{
    const cli_audit_request *request = self->request;
    uc_read_settings read = *request->read;
    char *drop = NULL;
    if (self->crowd_args->columns) {
        if (asprintf(&drop, "%s%s%s", read.drop ? read.drop : "", read.drop ? "," : "",
                     self->crowd_args->columns) < 0)
            return app_fail(UC_ERR_NOMEM, "not enough memory for the names of columns");
        read.drop = drop;
        read.label = read.label ? read.label : "none";
    }
    const uc_status status = cli_read_table(&self->data, &self->text, call, request->data, &read);
    free(drop);
    if (status != UC_OK && self->crowd_args->columns &&
        strstr(app_last_error(), "is about the columns of CSV data"))
        return app_fail(status, "%s is no table, whose columns --annotators could name", request->data);
    const char *blamed = status == UC_OK ? NULL : strstr(app_last_error(), ", which --drop names");
    if (blamed && self->crowd_args->columns && !request->read->drop)
        return app_fail(status, "%.*s, which --annotators names", (int)(blamed - app_last_error()),
                        app_last_error());
    return status == UC_OK ? read_ids(&self->ids, self->text, self->data.X.rows) : status;
}

static uc_status read_annotations(cli_crowd_run *self, const app_call *call)
{
    const cli_audit_request *request = self->request;
    uc_crowd_frame frame = {0};
    if (self->crowd_args->columns) {
        if (!self->text)
            return app_fail(UC_ERR_INVALID, "%s is no table, whose columns --annotators could name",
                            request->data);
        return uc_crowd_from_table(&self->crowd, self->text, self->crowd_args->columns,
                                   request->read->missing_values, request->data, &call->context);
    }
    if (request->data) {
        frame.ids = self->ids.count ? &self->ids : NULL;
        frame.rows = self->data.X.rows;
        frame.classes = self->data.classes.count > 1 ? &self->data.classes : NULL;
    }
    return uc_crowd_read(&self->crowd, self->crowd_args->file, &frame, &call->context);
}

static uc_status read_input(cli_crowd_run *self, app_call *call)
{
    const cli_audit_request *request = self->request;
    uc_status status = request->data ? read_data(self, call) : UC_OK;
    if (status == UC_OK)
        status = read_annotations(self, call);
    if (status == UC_OK && self->crowd_args->resume)
        status = uc_crowd_state_add(&self->crowd, &self->start, self->crowd_args->resume, &call->context);
    if (status != UC_OK || !request->gold)
        return status;
    const uc_names *ids = request->data ? &self->ids : &self->crowd.ids;
    const uc_predicted_rows rows = {.rows = self->crowd.rows,
                                    .classes = &self->crowd.classes,
                                    .name = request->data ? request->data : self->crowd_args->file,
                                    .ids = ids->count ? (const char *const *)ids->text : NULL,
                                    .named = !request->data};
    return cli_read_truths(&self->gold, &self->checked, request->gold, &rows, call);
}

/* Whether the features of the rows are used. */
static bool uses_features(const cli_crowd_run *self)
{
    return self->request->data && self->crowd_args->features &&
           self->consensus_args->method == UC_CONSENSUS_AUDIT;
}

static uc_status find_consensus(uc_consensus *out, uc_model **model, uc_clean_error *error,
                                const cli_crowd_run *self, const uint32_t *gold, const app_call *call)
{
    if (uses_features(self))
        return uc_consensus_with_features(out, model, error, &self->data, &self->crowd, gold,
                                          self->request->settings, call->common.seed, &call->context);
    return uc_consensus_find(out, &self->crowd, gold, self->start.values ? &self->start : NULL,
                             self->consensus_args, &call->context);
}

/* How well wrong annotations were found, measured on checked rows. */
static void judge(cli_suspicion *out, const cli_crowd_run *self, const uc_crowd_issues *issues)
{
    for (size_t i = 0; i < issues->count; i++) {
        const uc_crowd_issue *issue = &issues->issues[i];
        const uint32_t truth = self->gold[issue->row];
        if (truth == UC_NONE)
            continue;
        const bool wrong = truth != self->crowd.label[issue->annotation], flagged = i < issues->flagged;
        out->checked++;
        out->wrong += wrong;
        out->flagged += flagged;
        out->hits += wrong && flagged;
        uc_reliability_add(self->suspicion->bins, issue->wrong, wrong);
    }
}

/* Computes the consensus again without the checked rows, which then judge it. */
static uc_status look_back(cli_crowd_run *self, const app_call *call)
{
    uc_consensus before = {0};
    uc_crowd_issues issues = {0};
    self->suspicion = app_calloc(1, sizeof *self->suspicion);
    uc_reliability_begin(self->suspicion->bins);
    uc_status status = find_consensus(&before, NULL, NULL, self, NULL, call);
    if (status == UC_OK)
        status = uc_crowd_issues_find(&issues, &before, &self->crowd, call->common.seed, &call->context);
    if (status == UC_OK) {
        judge(&self->suspicion->annotations, self, &issues);
        for (size_t i = 0; i < self->crowd.rows; i++)
            self->suspicion->right += before.most_probable[i] == self->gold[i];
        uc_reliability_end(self->suspicion->bins);
    }
    uc_crowd_issues_free(&issues);
    uc_consensus_free(&before);
    return status;
}

static uc_status work(cli_crowd_run *self, app_call *call)
{
    uc_status status = find_consensus(&self->consensus, &self->model, &self->error, self, self->gold, call);
    if (status == UC_OK && !self->model)
        status = uc_consensus_error(&self->error, &self->consensus, &self->crowd, self->gold,
                                    call->common.seed, &call->context);
    if (status == UC_OK)
        status = uc_crowd_issues_find(&self->issues, &self->consensus, &self->crowd, call->common.seed,
                                      &call->context);
    if (status == UC_OK && self->gold)
        status = look_back(self, call);
    if (status == UC_OK)
        status = uc_questions_find(&self->questions, &self->question_count, &self->consensus, &self->crowd,
                                   self->gold, (size_t)self->crowd_args->ask);
    if (status == UC_OK && !self->consensus.converged)
        app_warn("the consensus had not settled after %zu step%s; --consensus-iterations allows for more",
                 self->consensus.iterations, self->consensus.iterations == 1 ? "" : "s");
    return status;
}

/* ---- files ---- */

static uc_status check_request(const cli_crowd_run *self)
{
    const cli_crowd *crowd = self->crowd_args;
    if (crowd->file && crowd->columns)
        return app_fail(UC_ERR_OPTION, "--crowd and --annotators do not go together");
    if (crowd->columns && !self->request->data)
        return app_fail(UC_ERR_OPTION, "--annotators needs DATA: the table that has the columns");
    if (self->request->read->weight || self->request->read->weights)
        return app_fail(UC_ERR_OPTION, "annotations have no weights: leave out --weight and --weights");
    if (self->request->model && !uses_features(self))
        return app_fail(UC_ERR_OPTION, "--model-out needs DATA with features and --consensus audit");
    return UC_OK;
}

static uc_status begin_files(cli_crowd_run *self)
{
    const cli_audit_request *request = self->request;
    const cli_crowd *crowd = self->crowd_args;
    const struct {
        uc_output **out;
        const char *path, *option;
    } files[] = {
        {&self->model_file, request->model, "--model-out"},
        {&self->noise_file, request->noise, "--noise-out"},
        {&self->state_file, crowd->state, "--state-out"},
    };
    uc_status status = UC_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files && status == UC_OK; i++)
        if (files[i].path)
            status = app_begin_file(files[i].out, files[i].path, files[i].option);
    if (status == UC_OK && request->output)
        status = app_begin_file(&self->issue_file, request->output, "-o");
    if (status == UC_OK && crowd->consensus_out)
        status = app_begin_file(&self->consensus_file, crowd->consensus_out, "--consensus-out");
    const char *read[] = {request->data, crowd->file, request->gold};
    for (size_t i = 0; i < sizeof read / sizeof *read && status == UC_OK; i++)
        status = app_keep_input(read[i]);
    return status;
}

/* P(label | true class) of all annotators; columns are true classes. */
static uc_status write_noise(const cli_crowd_run *self)
{
    const size_t K = self->crowd.classes.count;
    uc_noise noise = {0};
    uc_status status = uc_noise_create(&noise, self->consensus.pooled, K, &self->crowd.classes, UC_NOISE_ROWS,
                                       "the annotators' matrix");
    if (status == UC_OK)
        status = uc_noise_write_to(&noise, self->noise_file);
    uc_noise_free(&noise);
    return status;
}

static uc_status write_files(cli_crowd_run *self, app_call *call)
{
    uc_status status = UC_OK;
    if (self->model_file)
        status = uc_model_write(self->model, self->model_file);
    if (status == UC_OK && self->noise_file)
        status = write_noise(self);
    if (status == UC_OK && self->state_file)
        status = uc_crowd_state_write(self->state_file, &self->crowd, &self->consensus);
    if (status == UC_OK && self->issue_file)
        status = cli_crowd_write_issues(self, self->issue_file);
    if (status == UC_OK && self->consensus_file)
        status = cli_crowd_write_consensus(self, self->consensus_file);
    return status == UC_OK ? app_finish_call(call, true) : status;
}

uc_status cli_audit_crowd(app_call *call, const cli_crowd *crowd, const uc_consensus_settings *consensus,
                          const cli_audit_request *request)
{
    cli_crowd_run self = {.crowd_args = crowd, .consensus_args = consensus, .request = request};
    uc_status status = check_request(&self);
    if (status == UC_OK)
        status = begin_files(&self);
    if (status == UC_OK)
        status = read_input(&self, call);
    if (status == UC_OK)
        status = work(&self, call);
    if (status == UC_OK && app_wants_result(call))
        call->result = cli_crowd_json(&self);
    if (status == UC_OK)
        status = write_files(&self, call);
    if (status == UC_OK)
        cli_crowd_tell(&self, call);
    uc_questions_free(self.questions);
    uc_crowd_issues_free(&self.issues);
    uc_consensus_free(&self.consensus);
    uc_posteriors_free(&self.start);
    uc_crowd_free(&self.crowd);
    uc_names_free(&self.ids);
    uc_table_text_free(self.text);
    uc_dataset_free(&self.data);
    uc_model_free(self.model);
    free(self.suspicion);
    free(self.gold);
    return status;
}
