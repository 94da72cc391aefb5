/*
 * CSV and TSV: a table of numbers, with a column of labels and perhaps one of bags.
 *
 * The delimiter is the first of tab, semicolon and comma that the first line has outside quotes. The first line is a
 * header when a field that should be a feature is not a number, or when the label's field is just its usual name.
 * Fields may be quoted as in RFC 4180, but not across lines. Rows are dense.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <strings.h>

#include "data/number.h"
#include "data/text.h"

#define NO_COLUMN SIZE_MAX

typedef struct layout {
    char delimiter;
    size_t columns, features;
    size_t label, bag; /* or NO_COLUMN */
    char **names;      /* of the columns; NULL: there is no header */
} layout;

typedef struct field {
    char *text;
    size_t length;
} field;

static bool is_blank(char c, char delimiter)
{
    return (c == ' ' || c == '\t' || c == '\r') && c != delimiter;
}

/* ---- one field ---- */

/* Cuts the field at *p, which lies in a line that ends with a newline, takes off its quotes, and moves *p to the
 * delimiter or newline behind it. Blanks around it are not part of it. false: a quote is not closed, or text follows
 * a closed one. */
static bool cut_field(field *out, char **p, char delimiter)
{
    char *q = *p;
    while (is_blank(*q, delimiter))
        q++;
    if (*q != '"') {
        out->text = q;
        while (*q != delimiter && *q != '\n')
            q++;
        *p = q;
        while (q > out->text && is_blank(q[-1], delimiter))
            q--;
        out->length = (size_t)(q - out->text);
        return true;
    }
    char *to = ++q;
    out->text = to;
    for (;; q++) {
        if (*q == '\n')
            return false;
        if (*q == '"' && *++q != '"')
            break;
        *to++ = *q;
    }
    out->length = (size_t)(to - out->text);
    while (is_blank(*q, delimiter))
        q++;
    *p = q;
    return *q == delimiter || *q == '\n';
}

/* ---- the first line ---- */

static void free_layout(void *user)
{
    layout *self = user;
    for (size_t i = 0; self->names && i < self->columns; i++)
        uc_free(self->names[i]);
    uc_free(self->names);
    uc_free(self);
}

static char find_delimiter(const char *line, size_t length)
{
    bool tab = false, semicolon = false, quoted = false;
    for (size_t i = 0; i < length; i++) {
        quoted ^= line[i] == '"';
        tab |= !quoted && line[i] == '\t';
        semicolon |= !quoted && line[i] == ';';
    }
    return tab ? '\t' : semicolon ? ';' : ',';
}

static bool is_number(const field *self)
{
    float value;
    return self->length > 0 && uc_number_read(&value, self->text) == self->text + self->length;
}

static bool field_is(const field *self, const char *name)
{
    return self->length == strlen(name) && strncasecmp(self->text, name, self->length) == 0;
}

/* The column whose field in the first line is exactly `name`. */
static size_t find_name(const field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].length == strlen(name) && memcmp(fields[i].text, name, fields[i].length) == 0)
            return i;
    return NO_COLUMN;
}

/* The column that a user calls `wanted`: 1, 2, ..., -1 for the last, or a name of the first line, which then is a
 * header. Whether a number is also a name is for the caller to see. */
static uc_status find_column(size_t *out, bool *header, const uc_reader *reader, const char *wanted,
                             const field *fields, size_t count)
{
    const bool from_end = wanted[0] == '-';
    uint64_t number;
    if (uc_parse_count(&number, wanted + from_end, strlen(wanted + from_end))) {
        if (number >= 1 && number <= count) {
            *out = from_end ? count - (size_t)number : (size_t)number - 1;
            return UC_OK;
        }
        if (find_name(fields, count, wanted) == NO_COLUMN)
            return uc_fail(UC_ERR_INVALID, "%s: there is no column %s: the file has %zu columns",
                           uc_input_name(reader->input), wanted, count);
    }
    *out = find_name(fields, count, wanted);
    if (*out == NO_COLUMN)
        return uc_fail(UC_ERR_INVALID, "%s: no column is called '%s'", uc_input_name(reader->input), wanted);
    *header = true;
    return UC_OK;
}

/* Without being told: a column with one of the usual names, else the last; none when all columns are features. */
static size_t usual_label(bool *header, const uc_reader *reader, const layout *self, const field *fields)
{
    static const char *const names[] = {"label", "class", "target", "y"};
    for (size_t n = 0; n < 4; n++) {
        if (n == 3 && reader->settings.expected_cols == self->columns - (self->bag != NO_COLUMN))
            return NO_COLUMN; /* before `y`, which may well be a feature */
        for (size_t i = 0; i < self->columns; i++)
            if (i != self->bag && field_is(&fields[i], names[n])) {
                *header = *header || n < 3; /* `y` may well be a label: yes or no */
                return i;
            }
    }
    const size_t last = self->columns - 1;
    return last != self->bag ? last : last ? last - 1 : NO_COLUMN;
}

static uc_status choose_columns(layout *self, bool *header, const uc_reader *reader, const field *fields)
{
    const uc_read_settings *settings = &reader->settings;
    const bool no_label = settings->label && strcmp(settings->label, "none") == 0;
    uc_status status = UC_OK;
    if (settings->bag)
        status = find_column(&self->bag, header, reader, settings->bag, fields, self->columns);
    if (status == UC_OK && settings->label && !no_label)
        status = find_column(&self->label, header, reader, settings->label, fields, self->columns);
    else if (status == UC_OK && !no_label)
        self->label = usual_label(header, reader, self, fields);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < self->columns; i++)
        *header = *header || (i != self->label && i != self->bag && !is_number(&fields[i]));
    /* Names beat numbers. */
    if (*header && settings->bag && find_name(fields, self->columns, settings->bag) != NO_COLUMN)
        self->bag = find_name(fields, self->columns, settings->bag);
    if (*header && settings->label && !no_label &&
        find_name(fields, self->columns, settings->label) != NO_COLUMN)
        self->label = find_name(fields, self->columns, settings->label);
    if (self->label != NO_COLUMN && self->label == self->bag)
        return uc_fail(UC_ERR_INVALID, "%s: label and bag cannot both be column %zu",
                       uc_input_name(reader->input), self->label + 1);
    self->features = self->columns - (self->label != NO_COLUMN) - (self->bag != NO_COLUMN);
    if (self->features == 0)
        return uc_fail(UC_ERR_FORMAT, "%s: no columns of features", uc_input_name(reader->input));
    return UC_OK;
}

static uc_status keep_names(layout *self, const field *fields)
{
    self->names = uc_alloc(self->columns, sizeof *self->names);
    if (!self->names)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < self->columns; i++) {
        self->names[i] = uc_strndup(fields[i].text, fields[i].length);
        if (!self->names[i])
            return UC_ERR_NOMEM;
    }
    return UC_OK;
}

/* Cuts a line into at most length + 1 fields. */
static uc_status cut_line(field *fields, size_t *count, const layout *self, const uc_reader *reader,
                          char *line, size_t number)
{
    *count = 0;
    for (char *p = line;; p++) {
        if (!cut_field(&fields[(*count)++], &p, self->delimiter))
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: a quote is not closed on its line",
                           uc_input_name(reader->input), number);
        if (*p == '\n')
            return UC_OK;
    }
}

/* Learns the layout from a copy of the first line, which cutting may change. */
static uc_status learn_layout(layout *self, bool *header, const uc_reader *reader, const char *line,
                              size_t length, size_t number)
{
    self->delimiter = find_delimiter(line, length);
    char *copy = uc_alloc(length + 1 + UC_NUMBER_SLACK, 1);
    field *fields = uc_alloc(length + 1, sizeof *fields);
    uc_status status = copy && fields ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK) {
        memcpy(copy, line, length);
        copy[length] = '\n';
        status = cut_line(fields, &self->columns, self, reader, copy, number);
    }
    if (status == UC_OK)
        status = choose_columns(self, header, reader, fields);
    if (status == UC_OK && *header)
        status = keep_names(self, fields);
    uc_free(fields);
    uc_free(copy);
    return status;
}

/* ---- the rows ---- */

static void blame_column(uc_text_block *block, const layout *self, size_t column, const char *format,
                         const field *value)
{
    char name[UC_QUOTE_SIZE], text[UC_QUOTE_SIZE], where[80];
    if (self->names)
        snprintf(where, sizeof where, "column '%s'",
                 uc_quote(name, self->names[column], strlen(self->names[column])));
    else
        snprintf(where, sizeof where, "column %zu", column + 1);
    if (value->length == 0)
        uc_text_blame(block, "%s is empty", where);
    else
        uc_text_blame(block, "%s: '%s' %s", where, uc_quote(text, value->text, value->length), format);
}

/* A line with `count` fields up to p, where it has its newline or goes on. */
static void blame_ragged(uc_text_block *block, const layout *self, size_t count, char *p)
{
    field unused;
    while (*p != '\n') {
        count++;
        p++;
        if (!cut_field(&unused, &p, self->delimiter))
            break;
    }
    uc_text_blame(block, "%zu column%s, but the first line has %zu", count, count == 1 ? "" : "s",
                  self->columns);
}

/* A field that is not simply a number: a label, a bag, a quoted or a bad one. Returns where it ends, or NULL. */
static char *read_field(uc_text_block *block, const uc_reader *reader, const layout *self, size_t column,
                        char *p, float *value)
{
    field cut;
    char *start = p;
    if (!cut_field(&cut, &p, self->delimiter)) {
        uc_text_blame(block, "a quote is not closed on its line");
        return NULL;
    }
    if (column == self->label || column == self->bag) {
        for (size_t i = 0; i < cut.length; i++)
            if ((unsigned char)cut.text[i] < ' ' && uc_text_blame_control(block, cut.text))
                return NULL;
        if (cut.length == 0)
            uc_text_blame(block, column == self->label ? "no label" : "no bag");
        else if (column == self->label)
            uc_text_class(block, reader, cut.text, cut.length);
        else
            uc_text_bag(block, reader, cut.text, cut.length);
        return block->status == UC_OK ? p : NULL;
    }
    if (cut.length == 0 || uc_number_read(value, cut.text) != cut.text + cut.length || !isfinite(*value)) {
        if (!uc_text_blame_control(block, start))
            blame_column(block, self, column, uc_number_complaint(cut.text, cut.length), &cut);
        return NULL;
    }
    return p;
}

/* The row at p, into the block's next row; returns the end of its line, or NULL. */
static char *read_row(uc_text_block *block, const uc_reader *reader, const layout *self, char *p)
{
    const size_t stride = reader->rows.X.stride;
    float *value = block->values + block->rows * stride, *const row_end = value + stride;
    for (size_t column = 0;; column++, p++) {
        char *q = p;
        float read = 0.0f;
        bool simple = false;
        if (column != self->label && column != self->bag) {
            while (is_blank(*q, self->delimiter))
                q++;
            char *end = (char *)(uintptr_t)uc_number_read(&read, q);
            simple = end != q && isfinite(read);
            for (q = end; is_blank(*q, self->delimiter);)
                q++;
            simple = simple && (*q == self->delimiter || *q == '\n');
        }
        p = simple ? q : read_field(block, reader, self, column, p, &read);
        if (!p)
            return NULL;
        if (column != self->label && column != self->bag)
            *value++ = read;
        if (column + 1 == self->columns || *p == '\n') {
            if (column + 1 != self->columns || *p != '\n') {
                blame_ragged(block, self, column + 1, p);
                return NULL;
            }
            break;
        }
    }
    while (value < row_end)
        *value++ = 0.0f;
    return p;
}

static void parse(uc_text_block *block, const uc_reader *reader, const void *user)
{
    const layout *self = user;
    for (char *p = block->begin; p < block->end; p++) {
        block->lines++;
        char *first = p;
        while (is_blank(*first, self->delimiter))
            first++;
        if (*first == '\n') {
            p = first;
            continue;
        }
        p = read_row(block, reader, self, p);
        if (!p)
            return;
        block->rows++;
    }
}

static uc_status begin(uc_reader *self)
{
    uc_status status = uc_text_begin(self, parse, NULL);
    if (status != UC_OK)
        return status;
    layout *made = uc_alloc(1, sizeof *made);
    if (!made)
        return UC_ERR_NOMEM;
    made->label = made->bag = NO_COLUMN;
    uc_text_set_layout(self, made, free_layout);
    size_t length, number;
    const char *line = uc_text_first_line(&length, &number, self, 0);
    if (!line)
        return uc_fail(UC_ERR_FORMAT, "%s: no examples", uc_input_name(self->input));
    bool header = false;
    status = learn_layout(made, &header, self, line, length, number);
    if (status != UC_OK)
        return status;
    if (header) {
        uc_text_skip_line(self, line, number);
        self->header = UC_MARK;
        for (size_t i = 0; i < made->columns; i++)
            self->header = uc_mark(self->header, made->names[i], strlen(made->names[i]) + 1);
    }
    self->has_labels = made->label != NO_COLUMN;
    self->has_bags = made->bag != NO_COLUMN;
    self->label = self->has_labels ? made->label + 1 : 0;
    self->bag = self->has_bags ? made->bag + 1 : 0;
    self->rows.X.cols = made->features;
    self->rows.X.stride = uc_matrix_stride(made->features);
    return UC_OK;
}

const uc_data_format uc_format_csv = {"csv", begin, uc_text_next, uc_text_end, uc_text_cut};
