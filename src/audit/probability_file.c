/* Files of probabilities: NPY or CSV, a row per example and a column per class, read block by block. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "audit/probability_rows.h"
#include "data/delimited.h"
#include "data/npy.h"
#include "data/reader.h"

#define SUM_TOLERANCE 0.01        /* sums this close to 1 are normalised */
#define ENTRIES ((size_t)1 << 24) /* probabilities to keep, but at least 64 per row */

/* ---- rows ---- */

/* Normalises row i into `p`; column k belongs to class place[k], or to class k if place is NULL. */
static uc_status take_row(float *p, const float *values, const uint32_t *place, size_t K, size_t i,
                          const char *source)
{
    double sum = 0.0;
    for (size_t k = 0; k < K; k++) {
        if (!(values[k] >= 0.0f && values[k] <= 1.0f + (float)SUM_TOLERANCE))
            return uc_fail(UC_ERR_FORMAT, "%s: row %zu, column %zu: %g is not a probability", source, i + 1,
                           k + 1, (double)values[k]);
        sum += (double)values[k];
    }
    if (!(fabs(sum - 1.0) <= SUM_TOLERANCE))
        return uc_fail(UC_ERR_FORMAT, "%s: row %zu: its probabilities sum to %g, not 1", source, i + 1, sum);
    for (size_t k = 0; k < K; k++)
        p[place ? place[k] : k] = (float)((double)values[k] / sum);
    return UC_OK;
}

typedef struct filling {
    uc_probability_rows *out;
    const uc_matrix *X;    /* a block of the file, or NULL */
    const double *values;  /* all rows, or NULL */
    size_t first, skipped; /* the number of the block's first row; how many rows of the block are a header */
    const uint32_t *labels;
    const uint32_t *place; /* the class of each column; NULL: columns are in the order of the classes */
    const char *source;
} filling;

#define ROWS_PER_JOB ((size_t)64)

static uc_status fill_rows(size_t job, void *user)
{
    filling *self = user;
    const size_t K = self->out->K, count = self->X ? self->X->rows - self->skipped : self->out->rows;
    const uc_range range = uc_block_range(job, count, ROWS_PER_JOB);
    float *p = uc_alloc(2 * K, sizeof *p), *values = p + K;
    uc_status status = p ? UC_OK : UC_ERR_NOMEM;
    for (size_t r = range.first; r < range.last && status == UC_OK; r++) {
        const size_t i = self->first + r;
        if (self->X)
            memcpy(values, uc_matrix_row(self->X, r + self->skipped).values, K * sizeof *values);
        for (size_t k = 0; k < K && !self->X; k++)
            values[k] = (float)self->values[i * K + k];
        status = take_row(p, values, self->place, K, i, self->source);
        if (status == UC_OK)
            uc_probability_rows_set(self->out, i, p, self->labels[i]);
    }
    uc_free(p);
    return status;
}

/* ---- classes ---- */

/* The names in the first line of a CSV file; empty if it is not a header. A line of numbers is a header if it
 * contains the names of all classes. */
static uc_status read_header(uc_names *out, bool *numeric, const char *path, const uc_names *known,
                             const uc_context *context)
{
    uc_input *input;
    const char *bytes;
    size_t length;
    uc_status status = uc_input_open(&input, path);
    (void)context;
    *numeric = true;
    if (status != UC_OK)
        return status;
    status = uc_input_peek(&bytes, &length, input);
    const char *newline = status == UC_OK ? memchr(bytes, '\n', length) : NULL;
    if (status != UC_OK || uc_npy_begins(bytes, length) || !newline) {
        uc_input_close(input);
        return status;
    }
    const size_t mark = uc_byte_order_mark(bytes, length), width = (size_t)(newline - bytes) - mark;
    char *line = uc_alloc(width + 1 + UC_NUMBER_SLACK, 1), *at = line;
    size_t found = 0;
    if (line) {
        memcpy(line, bytes + mark, width);
        line[width] = '\n';
    } else {
        status = UC_ERR_NOMEM;
    }
    const char delimiter = line ? uc_find_delimiter(line, width) : ',';
    for (bool more = status == UC_OK; more && status == UC_OK; at++) {
        uc_field field;
        uint32_t index;
        double value;
        const char *problem = uc_field_cut(&field, &at, delimiter);
        if (problem) {
            status = uc_fail(UC_ERR_FORMAT, "%s:1: %s", path, problem);
            break;
        }
        *numeric = *numeric && uc_field_real(&value, &field);
        found += uc_names_find(known, field.begin, field.length) != UC_NONE;
        const size_t before = out->count;
        if (field.length > 0 && uc_is_name(field.begin, field.length))
            status = uc_names_add(&index, out, field.begin, field.length);
        if (status == UC_OK && out->count == before && !*numeric)
            status = uc_fail(UC_ERR_FORMAT, "%s:1: a column is named twice, or not at all", path);
        more = *at != '\n';
    }
    if (status == UC_OK && *numeric && !(found == known->count && out->count >= found && found > 1))
        uc_names_free(out);
    uc_free(line);
    uc_input_close(input);
    return status;
}

/* Whether the labels are column numbers: 0, 1, ..., K - 1. */
static bool are_columns(const uc_names *names, size_t K)
{
    for (size_t c = 0; c < names->count; c++) {
        uint64_t number;
        if (!uc_parse_count(&number, names->text[c], strlen(names->text[c])) || number >= K)
            return false;
    }
    return true;
}

static uc_status name_columns(uc_names *classes, size_t K)
{
    uc_status status = UC_OK;
    for (size_t k = 0; k < K && status == UC_OK; k++) {
        char text[24];
        uint32_t index;
        const int length = snprintf(text, sizeof text, "%zu", k);
        status = uc_names_add(&index, classes, text, (size_t)length);
    }
    return status;
}

uc_status uc_probability_classes(uc_names *classes, uint32_t *labels, uint32_t *gold, size_t count,
                                 const uc_names *names, size_t K, const char *source)
{
    uc_status status = UC_OK;
    uint32_t *place = uc_alloc(names->count, sizeof *place), *unused = NULL;
    if (!place)
        return UC_ERR_NOMEM;
    if (classes->count == 0 && names->count < K && are_columns(names, K)) {
        status = name_columns(classes, K);
    } else if (classes->count == 0 && names->count == K) {
        status = uc_names_copy(classes, names);
        if (status == UC_OK)
            status = uc_names_sort(classes, unused);
    }
    if (status == UC_OK && classes->count != K)
        status =
            uc_fail(UC_ERR_INVALID,
                    "%s has %zu columns, but the labels are of %zu classes: name the columns in a first line",
                    source, K, names->count);
    for (size_t c = 0; c < names->count && status == UC_OK; c++) {
        place[c] = uc_names_find(classes, names->text[c], strlen(names->text[c]));
        if (place[c] == UC_NONE)
            status = uc_fail(UC_ERR_INVALID, "%s has no column for class '%s'", source, names->text[c]);
    }
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        if (labels[i] != UC_NONE)
            labels[i] = place[labels[i]];
        if (gold && gold[i] != UC_NONE)
            gold[i] = place[gold[i]];
    }
    uc_free(place);
    return status;
}

/* ---- files ---- */

typedef struct reading {
    uc_probability_rows rows;
    uc_names classes;
    uint32_t *place; /* the position in `classes` of each named column; NULL: columns have no names */
    uint32_t *labels, *gold;
    size_t count; /* of labels */
    bool numeric; /* the header is numeric, and the reader takes it for a row */
} reading;

static uc_status read_blocks(reading *self, uc_reader *reader, const uc_names *names, const char *path,
                             const uc_context *context)
{
    const uc_dataset *block;
    size_t next = 0;
    bool begun = false;
    uc_status status;
    while ((status = uc_reader_next(&block, reader)) == UC_OK && block) {
        const size_t skipped = !begun && self->classes.count > 0 && self->numeric ? 1 : 0;
        const size_t rows = block->X.rows - skipped;
        if (!begun) {
            status = uc_probability_classes(&self->classes, self->labels, self->gold, self->count, names,
                                            block->X.cols, path);
            if (status == UC_OK)
                status = uc_probability_rows_create(&self->rows, self->count, block->X.cols, ENTRIES);
        }
        begun = true;
        if (status == UC_OK && next + rows > self->count)
            status = uc_fail(UC_ERR_INVALID, "%s has more rows than the %zu labels", path, self->count);
        if (status != UC_OK)
            return status;
        filling job = {&self->rows, &block->X, NULL, next, skipped, self->labels, self->place, path};
        status = uc_run_blocks(context, uc_block_count(rows, ROWS_PER_JOB), fill_rows, &job);
        next += rows;
        if (status != UC_OK)
            return status;
    }
    if (status == UC_OK && next < self->count)
        status =
            uc_fail(UC_ERR_INVALID, "%s has %zu rows, but there are %zu labels", path, next, self->count);
    return status;
}

static uint32_t *copy_labels(const uint32_t *labels, size_t count)
{
    uint32_t *copy = uc_alloc(count, sizeof *copy);
    if (copy)
        memcpy(copy, labels, count * sizeof *copy);
    return copy;
}

static void reading_free(reading *self)
{
    uc_probability_rows_free(&self->rows);
    uc_names_free(&self->classes);
    uc_free(self->place);
    uc_free(self->labels);
    uc_free(self->gold);
}

/* Sorts named classes in the order used by all results, whatever the order of the columns. */
static uc_status sort_classes(reading *self)
{
    if (self->classes.count == 0)
        return UC_OK;
    self->place = uc_alloc(self->classes.count, sizeof *self->place);
    return self->place ? uc_names_sort(&self->classes, self->place) : UC_ERR_NOMEM;
}

/* Runs the audit and hands over names and labels. */
static uc_status finish(uc_probability_audit *out, reading *self, const uc_context *context)
{
    uc_probability_audit found = {0};
    const uc_status status =
        uc_probability_audit_find(&found, &self->rows, self->labels, self->gold, context);
    if (status != UC_OK)
        return status;
    found.classes = self->classes;
    found.given = self->labels;
    self->classes = (uc_names){0};
    self->labels = NULL;
    *out = found;
    return UC_OK;
}

/* With class names, the file is read as plain CSV, whatever the names are: a table reader would drop a column
 * `id`. */
static uc_status open_file(uc_reader **out, const reading *self, const char *path, const uc_names *known,
                           const uc_context *context)
{
    uc_read_settings settings = uc_reader_defaults();
    uc_input *input;
    settings.label = "none";
    if (self->classes.count == 0)
        return uc_reader_open(out, path, &settings, context);
    for (size_t c = 0; c < self->classes.count; c++) {
        const char *name = self->classes.text[c];
        if (strcasecmp(name, "id") == 0 && uc_names_find(known, name, strlen(name)) == UC_NONE)
            return uc_fail(UC_ERR_FORMAT,
                           "%s: no label is of class '%s': leave that column out, rows are in the order of "
                           "the labels",
                           path, name);
    }
    const uc_status status = uc_input_open(&input, path);
    if (status != UC_OK)
        return status;
    return uc_reader_open_as(out, input, &uc_format_csv, &settings, context);
}

uc_status uc_probability_audit_read(uc_probability_audit *out, const char *path, const uc_labels *labels,
                                    const uint32_t *gold, const uc_context *context)
{
    uc_reader *reader = NULL;
    uc_probability_audit found = {0};
    reading self = {.count = labels->count};
    self.labels = copy_labels(labels->y, labels->count);
    self.gold = gold ? copy_labels(gold, labels->count) : NULL;
    uc_status status = self.labels && (!gold || self.gold) ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = read_header(&self.classes, &self.numeric, path, &labels->classes, context);
    if (status == UC_OK)
        status = open_file(&reader, &self, path, &labels->classes, context);
    if (status == UC_OK)
        status = sort_classes(&self);
    if (status == UC_OK)
        status = read_blocks(&self, reader, &labels->classes, path, context);
    uc_reader_close(reader);
    if (status == UC_OK)
        status = finish(&found, &self, context);
    if (status == UC_OK)
        status = uc_probability_clean_error(&found.clean_error, &self.rows, found.given, context);
    reading_free(&self);
    if (status == UC_OK)
        *out = found;
    else
        uc_probability_audit_free(&found);
    return status;
}

uc_status uc_probability_audit_matrix(uc_probability_audit *out, const double *p, size_t rows, size_t K,
                                      const uint32_t *labels, const uc_context *context)
{
    reading self = {.count = rows};
    filling job = {&self.rows, NULL, p, 0, 0, NULL, NULL, "pred_probs"};
    uc_status status = UC_OK;
    for (size_t i = 0; i < rows && status == UC_OK; i++)
        if (labels[i] != UC_NONE && labels[i] >= K)
            status =
                uc_fail(UC_ERR_INVALID, "label %zu is %u, but there are %zu classes", i + 1, labels[i], K);
    if (status == UC_OK && (rows == 0 || K < 2))
        status = uc_fail(UC_ERR_INVALID, "pred_probs needs rows, and two classes or more");
    if (status != UC_OK)
        return status;
    self.labels = copy_labels(labels, rows);
    status = self.labels ? name_columns(&self.classes, K) : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_probability_rows_create(&self.rows, rows, K, ENTRIES);
    job.labels = self.labels;
    if (status == UC_OK)
        status = uc_run_blocks(context, uc_block_count(rows, ROWS_PER_JOB), fill_rows, &job);
    if (status == UC_OK)
        status = finish(out, &self, context);
    reading_free(&self);
    return status;
}
