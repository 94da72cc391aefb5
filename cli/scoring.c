/* Predicts files block by block. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The number of rows with a value in a column that the model does not know. */
static size_t rows_beyond(const uc_matrix *X, size_t features)
{
    size_t count = 0;
    for (size_t i = 0; X->cols > features && i < X->rows; i++) {
        const uc_row row = uc_matrix_row(X, i);
        bool beyond = false;
        if (row.columns)
            beyond = row.count > 0 && row.columns[row.count - 1] >= features;
        else
            for (size_t j = features; j < row.count; j++)
                beyond = beyond || row.values[j] != 0;
        count += beyond;
    }
    return count;
}

static uc_status check_width(const uc_dataset *block, const uc_reader *reader, const char *path,
                             size_t features)
{
    const char *format = uc_reader_format(reader);
    if (block->X.cols == features || (strcmp(format, "csv") != 0 && strcmp(format, "npy") != 0))
        return UC_OK;
    return app_fail(UC_ERR_INVALID,
                    "%s: the data have %zu columns of features, but the model was trained on %zu", path,
                    block->X.cols, features);
}

typedef struct buffers {
    uint32_t *predicted;
    double *scores;
    size_t rows;
} buffers;

static uc_status score_block(buffers *self, const uc_model *model, const uc_matrix *X,
                             const uc_row_check *check, cli_wanted wanted, const uc_context *context)
{
    const size_t classes = uc_model_classes(model)->count;
    const bool with_scores = wanted != CLI_CLASSES;
    if (X->rows > self->rows || !self->predicted || (with_scores && !self->scores)) {
        self->rows = X->rows;
        self->predicted = app_realloc(self->predicted, self->rows, sizeof *self->predicted);
        if (with_scores)
            self->scores = app_realloc(self->scores, self->rows * classes, sizeof *self->scores);
    }
    const uc_scoring scoring = {self->predicted, self->scores, wanted == CLI_PROBABILITIES, check};
    return uc_model_score(&scoring, model, X, context);
}

typedef struct scoring {
    const app_call *call;
    const uc_model *model;
    cli_wanted wanted;
    cli_scored_fn *visit;
    void *user;
    buffers buffer;
    double rows, beyond; /* all rows; rows with columns that the model does not know */
    double unseen;       /* values of categories that it does not know */
    size_t extra;        /* columns of a table that it does not know */
} scoring;

static uc_status score_range(scoring *self, const uc_file_range *range, const uc_read_settings *settings,
                             size_t file)
{
    const size_t features = uc_model_features(self->model);
    uc_reader *reader = NULL;
    const uc_dataset *block = NULL;
    uc_status status = uc_reader_open_range(&reader, range, settings, &self->call->context);
    while (status == UC_OK && (status = uc_reader_next(&block, reader)) == UC_OK && block) {
        status = check_width(block, reader, range->path, features);
        if (status == UC_OK)
            status = score_block(&self->buffer, self->model, &block->X, uc_reader_check(reader), self->wanted,
                                 &self->call->context);
        if (status != UC_OK)
            break;
        status = self->visit(block, reader, file, self->buffer.predicted, self->buffer.scores, self->user);
        if (status == UC_OK)
            status = app_check_interrupt();
        self->rows += (double)block->X.rows;
        self->beyond += (double)rows_beyond(&block->X, features);
    }
    if (reader) {
        self->unseen += (double)uc_reader_unseen(reader);
        self->extra = uc_reader_extra_columns(reader);
    }
    uc_reader_close(reader);
    return status;
}

/* Says what was left out, one line each. */
static void tell_left_out(const scoring *self, const double *counts, const char *shown)
{
    if (counts[1] > 0.0)
        app_warn(
            "%s: %.0f of %.0f examples have columns above %zu, which the model does not know; those were "
            "ignored",
            shown, counts[1], counts[0], uc_model_features(self->model));
    if (counts[2] > 0.0)
        app_warn("%s: %.0f value%s of categories that the model does not know: each counts as `other`", shown,
                 counts[2], counts[2] == 1.0 ? "" : "s");
    if (self->extra > 0)
        app_warn("%s: %zu column%s that the model does not know %s ignored", shown, self->extra,
                 self->extra == 1 ? "" : "s", self->extra == 1 ? "was" : "were");
}

/* Refuses options for a table's columns if the model was trained on a table, which has decided them. */
static uc_status check_columns(const uc_read_settings *read, const uc_table *table)
{
    const char *option = table && !uc_table_is_plain(table) ? uc_table_decided(table, read) : NULL;
    if (!option)
        return UC_OK;
    return app_fail(UC_ERR_INVALID,
                    "--%s: the model decides which columns are what, as it was trained; leave --%s out",
                    option, option);
}

uc_status cli_score_files(const app_call *call, const uc_model *model, const cli_files *files,
                          const uc_read_settings *read, cli_wanted wanted, cli_scored_fn *visit, void *user)
{
    scoring self = {.call = call, .model = model, .wanted = wanted, .visit = visit, .user = user};
    uc_read_settings settings = *read;
    settings.expected_cols = uc_model_features(model);
    settings.table = uc_model_table(model);
    if (check_columns(read, settings.table) != UC_OK)
        return UC_ERR_INVALID;
    settings.check_later = true;
    settings.weights = settings.soft_labels = NULL; /* the command reads them, for the rows of all files */
    uc_file_range *ranges = NULL;
    size_t count = 0;
    uc_status status =
        uc_file_ranges(&ranges, &count, (const char *const *)files->paths, files->count, &call->context);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = score_range(&self, &ranges[i], &settings, i);
    if (ranges)
        status = app_agree(status);
    if (status == UC_OK)
        status = app_check_interrupt();
    double counts[] = {self.rows, self.beyond, self.unseen};
    if (status == UC_OK)
        status = uc_comm_sum(app_comm, counts, 3);
    if (status == UC_OK)
        tell_left_out(&self, counts, files->shown);
    uc_file_ranges_free(ranges);
    free(self.buffer.predicted);
    free(self.buffer.scores);
    return status;
}
