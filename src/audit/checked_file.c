/*
 * Reads the file that `unconfuse check` wrote, after a person and perhaps a spreadsheet edited it.
 *
 *     # stratum sizes: agree 143 drawn 40 disagree 111 drawn 60 ...
 *     row,id,given_label,predicted_label,stratum,true_label
 *     17,,3,3,agree,3
 *
 * A file with only `id,true_label`, written by hand, is read too.
 *
 * A spreadsheet may change delimiters, quotes, line ends and the form of numbers (+1, 1.0); none of this
 * matters. Rows may be left empty or moved. If rows are missing, which the line with the sizes reveals, the
 * others are still a random part of each stratum only if the reason for the removal has nothing to do with
 * the rows. Truncating the file is harmless, since the rows are in random order, but the user is told.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "audit/checked_json.h"
#include "unconfuse/check.h"
#include "unconfuse/dataset.h"

enum { ROW, ID, GIVEN, PREDICTED, STRATUM, TRUE_LABEL, COLUMNS };
static const char *const titles[COLUMNS] = {"row",     "id",        "given_label", "predicted_label",
                                            "stratum", "true_label"};

#define MOST_FIELDS 64
#define MOST_ROWS 1e15 /* of a stratum; a larger number is a mistake */

typedef struct file {
    uc_lines lines;
    const char *name;
    const uc_predicted_rows *data;
    uc_names ids; /* of the data's rows, by position; empty unless every row has a unique id */
    char delimiter;
    size_t place[COLUMNS]; /* the column of each title; MOST_FIELDS: not in the file */
    size_t *line_of;       /* the line of the file that names each row of the data; 0: none so far */
    size_t listed[UC_STRATA];
} file;

void uc_checked_free(uc_checked *self)
{
    uc_free(self->rows);
    uc_free(self->truth);
    uc_free(self->stratum);
    *self = (uc_checked){0};
}

/* ---- fields ---- */

/* The fields of the current line, at most MOST_FIELDS. It cuts the line in place, so it can run only once per
 * line. */
static uc_status cut_line(uc_field *fields, size_t *count, const file *self)
{
    char *at = self->lines.line;
    const char *control = uc_find_control(at);
    if (control)
        return uc_fail(UC_ERR_FORMAT, "%s:%zu: control character 0x%02x", self->name, self->lines.number,
                       (unsigned)(unsigned char)*control);
    *count = 0;
    for (;;) {
        uc_field field;
        const char *problem = uc_field_cut(&field, &at, self->delimiter);
        if (problem)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: %s", self->name, self->lines.number, problem);
        if (*count < MOST_FIELDS)
            fields[(*count)++] = field;
        if (*at == '\n')
            return UC_OK;
        at++;
    }
}

static bool is_blank_line(const uc_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].length > 0)
            return false;
    return true;
}

/* Whether the line is a comment, possibly quoted by a spreadsheet. */
static bool is_comment(const uc_lines *lines)
{
    const char *p = lines->line;
    while (uc_is_blank(*p) || *p == '"')
        p++;
    return *p == '#';
}

/* The class that a person or a spreadsheet meant: the one of this name; otherwise the only one that is the
 * same number, or that differs only in upper and lower case. */
static uint32_t find_class(const uc_names *classes, const uc_field *field)
{
    double wanted, value;
    uint32_t found = uc_names_find_label(classes, field->begin, field->length);
    const bool number = uc_field_real(&wanted, field);
    size_t meant = 0;
    if (found != UC_NONE)
        return found;
    for (size_t k = 0; k < classes->count; k++) {
        const uc_field name = {.begin = classes->text[k], .length = strlen(classes->text[k])};
        const bool same =
            number ? uc_field_real(&value, &name) && value == wanted
                   : name.length == field->length && strncasecmp(name.begin, field->begin, name.length) == 0;
        if (same) {
            found = (uint32_t)k;
            meant++;
        }
    }
    return meant == 1 ? found : UC_NONE;
}

/* ---- the header ---- */

/* Reads `word` and the whole number after it. */
static bool take_size(const char **at, const char *word, size_t *out)
{
    const size_t length = strlen(word);
    *at += strspn(*at, " ");
    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    *at += strspn(*at, " ");
    const size_t digits = strspn(*at, "0123456789");
    const double number = strtod(*at, NULL);
    if (digits == 0 || number > MOST_ROWS)
        return false;
    *at += digits;
    *out = (size_t)number;
    return true;
}

static void read_sizes(uc_checked *out, const uc_lines *lines)
{
    char text[256];
    const char *begin = memchr(lines->line, '#', lines->width + 1);
    size_t sizes[UC_STRATA], drawn[UC_STRATA];
    if (!begin)
        return;
    const size_t length = (size_t)(lines->line + lines->width - begin);
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), begin);
    const char *at = text;
    if (!take_size(&at, "# stratum sizes: agree", &sizes[UC_AGREE]) ||
        !take_size(&at, "drawn", &drawn[UC_AGREE]) || !take_size(&at, "disagree", &sizes[UC_DISAGREE]) ||
        !take_size(&at, "drawn", &drawn[UC_DISAGREE]))
        return;
    memcpy(out->sizes, sizes, sizeof sizes);
    memcpy(out->drawn, drawn, sizeof drawn);
    out->stratified = true;
}

static size_t find_title(const uc_field *fields, size_t count, const char *title)
{
    size_t i = 0;
    while (i < count && !uc_field_equals(&fields[i], title))
        i++;
    return i < count ? i : MOST_FIELDS;
}

/* A header of two columns may use the titles of a crowd file. */
static void find_other_titles(file *self, const uc_field *fields)
{
    static const char *const rows[] = {"task", "item", "example"}, *const labels[] = {"label", "class"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows && self->place[ID] == MOST_FIELDS; i++)
        self->place[ID] = find_title(fields, 2, rows[i]);
    for (size_t i = 0; i < sizeof labels / sizeof *labels && self->place[TRUE_LABEL] == MOST_FIELDS; i++)
        self->place[TRUE_LABEL] = find_title(fields, 2, labels[i]);
}

/* Whether the file has the columns of `check`, or only rows and labels; afterwards the reader is behind the
 * header. */
static bool read_head(uc_checked *out, file *self)
{
    uc_field fields[MOST_FIELDS];
    size_t count = 0;
    while (uc_lines_next(&self->lines)) {
        if (is_comment(&self->lines)) {
            read_sizes(out, &self->lines);
            continue;
        }
        self->delimiter = uc_find_delimiter(self->lines.line, self->lines.width);
        if (cut_line(fields, &count, self) != UC_OK)
            return false;
        if (!is_blank_line(fields, count))
            break;
    }
    if (!self->lines.line)
        return false;
    for (size_t c = 0; c < COLUMNS; c++)
        self->place[c] = find_title(fields, count, titles[c]);
    if (count == 2)
        find_other_titles(self, fields);
    const bool rows = self->place[ROW] < MOST_FIELDS || self->place[ID] < MOST_FIELDS;
    return rows && self->place[TRUE_LABEL] < MOST_FIELDS;
}

/* ---- rows ---- */

static uc_field field_at(const file *self, const uc_field *fields, size_t count, int column)
{
    static const uc_field none = {.begin = ""};
    return self->place[column] < count ? fields[self->place[column]] : none;
}

static uc_status read_row_number(size_t *row, const file *self, const uc_field *field)
{
    double number;
    if (!uc_field_real(&number, field) || !(number >= 1.0) || number != floor(number) ||
        number > (double)self->data->rows)
        return uc_fail(UC_ERR_FORMAT, "%s:%zu: row '%.*s' is not one of the rows 1 to %zu of %s", self->name,
                       self->lines.number, (int)field->length, field->begin, self->data->rows,
                       self->data->name);
    *row = (size_t)number - 1;
    return UC_OK;
}

static uc_status find_id(size_t *row, const file *self, const uc_field *field)
{
    char given[UC_QUOTE_SIZE];
    if (self->ids.count == 0)
        return uc_fail(UC_ERR_FORMAT,
                       "%s: the rows of %s have no ids of their own: name them by a column row", self->name,
                       self->data->name);
    const uint32_t found = uc_names_find_label(&self->ids, field->begin, field->length);
    if (found == UC_NONE)
        return uc_fail(UC_ERR_FORMAT, "%s:%zu: '%s' is not the id of a row of %s", self->name,
                       self->lines.number, uc_quote(given, field->begin, field->length), self->data->name);
    *row = found;
    return UC_OK;
}

/* Rows are found by number if there is one, because a spreadsheet may have changed the ids. */
static uc_status find_row(size_t *row, const file *self, const uc_field *number, const uc_field *id)
{
    uc_status status = UC_OK;
    if (self->place[ROW] < MOST_FIELDS && !self->data->named)
        status = read_row_number(row, self, number);
    else
        status = find_id(row, self, self->place[ID] < MOST_FIELDS ? id : number);
    if (status != UC_OK)
        return status;
    if (self->line_of[*row])
        return uc_fail(UC_ERR_FORMAT, "%s:%zu: row %zu was given in line %zu already; keep one of the two",
                       self->name, self->lines.number, *row + 1, self->line_of[*row]);
    self->line_of[*row] = self->lines.number;
    return UC_OK;
}

/* If the number of a row was changed, or the row comes from other data, its id is that of another row. A
 * spreadsheet may write a numeric id differently. */
static uc_status check_id(const file *self, const uc_field *id, size_t row)
{
    const char *const *ids = self->data->ids;
    char given[UC_QUOTE_SIZE], own[UC_QUOTE_SIZE];
    double a, b;
    if (id->length == 0 || !ids || !ids[row] || uc_field_equals(id, ids[row]))
        return UC_OK;
    const uc_field wanted = {.begin = ids[row], .length = strlen(ids[row])};
    if (uc_field_real(&a, id) && uc_field_real(&b, &wanted) && a == b)
        return UC_OK;
    return uc_fail(UC_ERR_FORMAT, "%s:%zu: id '%s' is not that of row %zu, which is '%s' in %s", self->name,
                   self->lines.number, uc_quote(given, id->begin, id->length), row + 1,
                   uc_quote(own, ids[row], wanted.length), self->data->name);
}

/* The row's label must equal that of the data; otherwise the file was made for other data. */
static uc_status check_given(const file *self, const uc_field *given, size_t row)
{
    const uint32_t label = self->data->labels[row];
    const uc_names *classes = self->data->classes;
    if (given->length == 0 || (label != UC_NONE && label >= classes->count))
        return UC_OK;
    const char *name = label == UC_NONE ? "?" : classes->text[label];
    if (label != UC_NONE && find_class(classes, given) == label)
        return UC_OK;
    return uc_fail(UC_ERR_FORMAT,
                   "%s:%zu: the label of row %zu is '%.*s' here but '%s' in %s: this file was made for other "
                   "data",
                   self->name, self->lines.number, row + 1, (int)given->length, given->begin, name,
                   self->data->name);
}

static uint8_t find_stratum(const uc_field *field)
{
    for (unsigned h = 0; h < UC_STRATA; h++) {
        const char *name = uc_stratum_name((uc_stratum)h);
        if (field->length == strlen(name) && strncasecmp(field->begin, name, field->length) == 0)
            return (uint8_t)h;
    }
    return UC_STRATA;
}

static uc_status read_truth(uint32_t *truth, const file *self, const uc_field *field)
{
    *truth = UC_NONE;
    if (field->length == 0 || uc_field_equals(field, "?"))
        return UC_OK;
    *truth = find_class(self->data->classes, field);
    if (*truth != UC_NONE)
        return UC_OK;
    return uc_fail(UC_ERR_FORMAT,
                   "%s:%zu: '%.*s' is not a class of the model; leave true_label empty if it is "
                   "not clear",
                   self->name, self->lines.number, (int)field->length, field->begin);
}

static uc_status take_row(uc_checked *out, file *self, const uc_field *fields, size_t count)
{
    size_t row = 0;
    uint32_t truth = UC_NONE;
    const uc_field number = field_at(self, fields, count, ROW), given = field_at(self, fields, count, GIVEN);
    const uc_field predicted = field_at(self, fields, count, PREDICTED);
    const uc_field true_label = field_at(self, fields, count, TRUE_LABEL);
    const uc_field stratum = field_at(self, fields, count, STRATUM);
    const uc_field id = field_at(self, fields, count, ID);
    uc_status status = find_row(&row, self, &number, &id);
    if (status == UC_OK)
        status = check_id(self, &id, row);
    if (status == UC_OK)
        status = check_given(self, &given, row);
    if (status == UC_OK)
        status = read_truth(&truth, self, &true_label);
    if (status != UC_OK)
        return status;
    const uint8_t h = find_stratum(&stratum);
    if (h < UC_STRATA)
        self->listed[h]++;
    else if (truth != UC_NONE)
        out->why = "a row has no stratum";
    if (predicted.length > 0 && find_class(self->data->classes, &predicted) != self->data->predicted[row])
        out->other_model = true;
    if (truth == UC_NONE) {
        out->empty++;
        return UC_OK;
    }
    out->rows[out->count] = row;
    out->truth[out->count] = truth;
    out->stratum[out->count++] = h;
    return UC_OK;
}

/* Decides whether the rows are the ones that were drawn, from strata of the same sizes as in the data. If the
 * line with the sizes was lost, the sizes are recomputed, which needs the model that the rows were drawn
 * for. */
static uc_status judge(uc_checked *out, const file *self)
{
    const uc_predicted_rows *data = self->data;
    size_t sizes[UC_STRATA] = {0};
    for (size_t i = 0; i < data->rows; i++)
        if (data->labels[i] != UC_NONE)
            sizes[data->labels[i] == data->predicted[i] ? UC_AGREE : UC_DISAGREE]++;
    const size_t labelled = sizes[UC_AGREE] + sizes[UC_DISAGREE];
    if (!out->stratified && !out->why) {
        if (out->other_model && out->count > 0)
            return uc_fail(
                UC_ERR_FORMAT,
                "%s: its rows were drawn for another model, and the line with the stratum sizes is "
                "missing",
                self->name);
        memcpy(out->sizes, sizes, sizeof sizes);
        memcpy(out->drawn, self->listed, sizeof self->listed);
        out->stratified = true;
    }
    if (out->stratified && out->sizes[UC_AGREE] + out->sizes[UC_DISAGREE] != labelled)
        return uc_fail(UC_ERR_FORMAT, "%s: it was made for data of %zu labelled rows, but %s has %zu",
                       self->name, out->sizes[UC_AGREE] + out->sizes[UC_DISAGREE], data->name, labelled);
    for (size_t h = 0; h < UC_STRATA && out->stratified; h++) {
        if (self->listed[h] > out->drawn[h])
            out->why = "it has more rows than were drawn";
        else
            out->missing += out->drawn[h] - self->listed[h];
    }
    out->stratified = out->stratified && !out->why;
    return UC_OK;
}

static uc_status read_rows(uc_checked *out, file *self)
{
    uc_field fields[MOST_FIELDS];
    size_t count;
    uc_status status = UC_OK;
    while (status == UC_OK && uc_lines_next(&self->lines)) {
        if (is_comment(&self->lines))
            continue;
        status = cut_line(fields, &count, self);
        if (status == UC_OK && !is_blank_line(fields, count))
            status = take_row(out, self, fields, count);
    }
    return status == UC_OK ? judge(out, self) : status;
}

/* Ids are not used if a row has none or two rows share one. */
static uc_status know_ids(file *self)
{
    const char *const *ids = self->data->ids;
    uc_status status = UC_OK;
    for (size_t i = 0; ids && i < self->data->rows && status == UC_OK; i++) {
        uint32_t place = UC_NONE;
        if (ids[i] && *ids[i])
            status = uc_names_add(&place, &self->ids, ids[i], strlen(ids[i]));
        if (status == UC_OK && place != i) {
            uc_names_free(&self->ids);
            return UC_OK;
        }
    }
    return status;
}

static uc_status make_room(uc_checked *out, file *self)
{
    const size_t n = self->data->rows;
    const uc_status status = know_ids(self);
    if (status != UC_OK)
        return status;
    out->rows = uc_alloc(n, sizeof *out->rows);
    out->truth = uc_alloc(n, sizeof *out->truth);
    out->stratum = uc_alloc(n, sizeof *out->stratum);
    self->line_of = uc_alloc(n, sizeof *self->line_of);
    return out->rows && out->truth && out->stratum && self->line_of ? UC_OK : UC_ERR_NOMEM;
}

/* ---- a label for every row ---- */

/* The row that label i belongs to, or UC_NONE. Named rows are those that annotators have seen; if the names
 * are numbers, some may be missing. */
static uint32_t row_of_label(const file *self, size_t i)
{
    char number[32];
    if (!self->data->named)
        return (uint32_t)i;
    const int length = snprintf(number, sizeof number, "%zu", i + 1);
    return uc_names_find_label(&self->ids, number, (size_t)length);
}

/* Checks that there is one label per row. */
static uc_status check_count(const file *self, size_t labels)
{
    const uc_predicted_rows *data = self->data;
    for (size_t i = 0; i < data->rows && data->named; i++) {
        const uc_field id = {.begin = data->ids[i], .length = strlen(data->ids[i])};
        double number;
        if (!uc_field_real(&number, &id) || !(number >= 1.0) || number != floor(number))
            return uc_fail(
                UC_ERR_FORMAT,
                "%s: %s gives its rows names, such as '%s', and no order: name them here as well, by a "
                "header row,true_label",
                self->name, data->name, data->ids[i]);
        if (number > (double)labels)
            return uc_fail(UC_ERR_FORMAT,
                           "%s: %zu true classes, but %s has a row %s; '?' stands for a row that "
                           "nobody has checked",
                           self->name, labels, data->name, data->ids[i]);
    }
    if (data->named || labels == data->rows)
        return UC_OK;
    return uc_fail(UC_ERR_FORMAT,
                   "%s: %zu true classes, but %s has %zu rows; '?' stands for a row that nobody has checked",
                   self->name, labels, data->name, data->rows);
}

static uc_status take_labels(uc_checked *out, const file *self, const uc_labels *labels)
{
    uc_status status = check_count(self, labels->count);
    for (size_t i = 0; i < labels->count && status == UC_OK; i++) {
        const uint32_t row = row_of_label(self, i);
        if (labels->y[i] == UC_NONE || row == UC_NONE) {
            out->empty++;
            continue;
        }
        const char *text = labels->classes.text[labels->y[i]];
        const uc_field name = {.begin = text, .length = strlen(text)};
        const uint32_t truth = find_class(self->data->classes, &name);
        if (truth == UC_NONE)
            return uc_fail(UC_ERR_FORMAT, "%s: row %zu: '%s' is not a class of the model", self->name, i + 1,
                           text);
        out->rows[out->count] = row;
        out->truth[out->count] = truth;
        out->stratum[out->count++] = UC_STRATA;
    }
    if (out->empty > 0)
        out->why = "it has no stratum of the rows";
    return status;
}

static uc_status read_labels(uc_checked *out, const file *self, const char *path, const uc_context *context)
{
    uc_labels labels = {0};
    uc_status status = uc_labels_read(&labels, path, self->data->classes, NULL, context);
    if (status == UC_OK)
        status = take_labels(out, self, &labels);
    uc_labels_free(&labels);
    return status;
}

/* ---- either kind of file ---- */

uc_status uc_checked_read(uc_checked *out, const char *path, const uc_predicted_rows *rows,
                          const uc_context *context)
{
    uc_input *input;
    file self = {.data = rows};
    uc_checked read = {0};
    uc_status status = uc_input_open(&input, path);
    if (status != UC_OK)
        return status;
    self.name = uc_input_name(input);
    status = uc_lines_read(&self.lines, input, context);
    if (status == UC_OK)
        status = make_room(&read, &self);
    const bool json = status == UC_OK && uc_checked_is_json(&self.lines);
    if (json)
        status = uc_checked_convert(&self.lines, self.name);
    if (status == UC_OK && read_head(&read, &self)) {
        if (json)
            self.lines.number = 0; /* tasks are counted from 1 */
        status = read_rows(&read, &self);
    } else if (status == UC_OK) {
        status = read_labels(&read, &self, path, context);
    }
    uc_lines_free(&self.lines);
    uc_free(self.line_of);
    uc_names_free(&self.ids);
    uc_input_close(input);
    if (status != UC_OK)
        uc_checked_free(&read);
    else
        *out = read;
    return status;
}
