/* Crowd files: one annotation per line, as row, annotator and label, with a header or without one. */
#define _GNU_SOURCE
#include <strings.h>

#include "data/crowd.h"
#include "data/delimited.h"

#define MOST_COLUMNS 64
enum { ROW, ANNOTATOR, LABEL, PARTS };

typedef struct reading {
    uc_crowd crowd;
    uc_crowd_frame frame;
    uc_annotation_list list;
    uc_lines lines;
    const char *name;     /* of the file */
    char delimiter;       /* ' ': one or more blanks */
    size_t columns;       /* in every line */
    size_t column[PARTS]; /* of each part */
    bool header;          /* the first line names the columns */
    bool by_id;           /* rows are named, not numbered */
    uc_names spelled;     /* labels as the file writes them */
    uint32_t *class_of;   /* for each spelling */
    size_t class_capacity;
    uint32_t last_row; /* position in the ids collected so far; lines with the same row are often adjacent */
} reading;

/* ---- fields ---- */

static uc_status fail_line(const reading *self, const char *complaint)
{
    return uc_fail(UC_ERR_FORMAT, "%s:%zu: %s", self->name, self->lines.number, complaint);
}

static uc_status fail_field(const reading *self, const uc_field *field, const char *complaint)
{
    char text[UC_QUOTE_SIZE];
    return uc_fail(UC_ERR_FORMAT, "%s:%zu: '%s' %s", self->name, self->lines.number,
                   uc_quote(text, field->begin, field->length), complaint);
}

/* Cuts the current line, which is not blank, into fields. */
static uc_status cut_line(uc_field fields[MOST_COLUMNS], size_t *count, const reading *self)
{
    char *at = self->lines.line;
    for (*count = 0; *count < MOST_COLUMNS; at++) {
        if (self->delimiter == ' ' && *(at = uc_skip_padding(at, '\n')) == '\n')
            return UC_OK;
        const char *problem = uc_field_cut(&fields[(*count)++], &at, self->delimiter);
        if (problem)
            return fail_line(self, problem);
        if (*at == '\n')
            return UC_OK;
    }
    return uc_fail(UC_ERR_FORMAT, "%s:%zu: more than %d columns", self->name, self->lines.number,
                   MOST_COLUMNS);
}

static bool next_line(reading *self)
{
    while (uc_lines_next(&self->lines))
        if (*uc_skip_padding(self->lines.line, '\n') != '\n')
            return true;
    return false;
}

/* ---- the first line ---- */

static bool is_called(const uc_field *field, size_t part)
{
    static const char *const names[PARTS][6] = {
        {"row", "id", "task", "item", "example", NULL},
        {"annotator", "worker", "user", "rater", NULL},
        {"label", "class", "answer", NULL},
    };
    for (const char *const *name = names[part]; *name; name++)
        if (strlen(*name) == field->length && strncasecmp(*name, field->begin, field->length) == 0)
            return true;
    return false;
}

/* Whether the line names the three columns. */
static uc_status find_header(reading *self, const uc_field *fields, size_t count)
{
    unsigned found = 0;
    for (size_t part = 0; part < PARTS; part++)
        for (size_t i = count; i > 0; i--)
            if (is_called(&fields[i - 1], part)) {
                self->column[part] = i - 1;
                found |= 1u << part;
            }
    self->header = found == 7;
    /* Rows called `row` and labels called `label` are hardly meant. */
    if (!self->header && count > 0 && (is_called(&fields[0], ROW) || (found & (found - 1)) != 0))
        return fail_line(self,
                         "this header names some of the columns row (or id, task), annotator (or worker) "
                         "and label (or class), but all three are needed");
    return UC_OK;
}

static char delimiter_of(const uc_lines *lines)
{
    const char delimiter = uc_find_delimiter(lines->line, lines->width);
    if (delimiter == ',' && !memchr(lines->line, ',', lines->width))
        return ' ';
    return delimiter;
}

static bool is_row_number(const reading *self, const uc_field *field)
{
    uint64_t number;
    return uc_parse_count(&number, field->begin, field->length) && number >= 1 && number <= self->frame.rows;
}

/* Whether rows have names instead of numbers: according to the header's word for them, or to the first
 * value. */
static bool names_rows(const reading *self, const uc_field *key)
{
    if (self->frame.rows == 0 || !self->frame.ids)
        return self->frame.rows == 0;
    if (self->header)
        return strncasecmp(key->begin, "row", key->length) != 0;
    return !is_row_number(self, key);
}

/* ---- rows, annotators, labels ---- */

static uc_status find_row(uint32_t *row, reading *self, const uc_field *field)
{
    uint64_t number;
    if (self->frame.rows == 0) {
        if (field->length == 0 || !uc_is_name(field->begin, field->length))
            return fail_field(self, field, "cannot be the name of a row");
        const uc_names *ids = &self->crowd.ids;
        if (self->last_row < ids->count && uc_field_equals(field, ids->text[self->last_row]))
            *row = self->last_row;
        else
            return uc_names_add(row, &self->crowd.ids, field->begin, field->length);
        return UC_OK;
    }
    if (self->by_id) {
        *row = uc_names_find(self->frame.ids, field->begin, field->length);
        if (*row != UC_NONE)
            return UC_OK;
        return fail_field(self, field,
                          self->header ? "is not the id of a row of the data"
                                       : "is neither the id nor the number of a row of the data");
    }
    if (!is_row_number(self, field)) {
        char text[UC_QUOTE_SIZE];
        return uc_fail(UC_ERR_FORMAT,
                       "%s:%zu: '%s' is not the number of a row: those of the data are 1 to %zu", self->name,
                       self->lines.number, uc_quote(text, field->begin, field->length), self->frame.rows);
    }
    (void)uc_parse_count(&number, field->begin, field->length);
    *row = (uint32_t)(number - 1);
    return UC_OK;
}

static uc_status find_annotator(uint32_t *annotator, reading *self, const uc_field *field)
{
    uc_names *names = &self->crowd.annotators;
    *annotator = uc_names_find(names, field->begin, field->length);
    if (*annotator != UC_NONE)
        return UC_OK;
    if (field->length == 0 || !uc_is_name(field->begin, field->length))
        return fail_field(self, field, "cannot be the name of an annotator");
    return uc_names_add(annotator, names, field->begin, field->length);
}

/* Finds a class that is the same number: +1 and 1 are one class. */
static uint32_t find_equal(const uc_names *classes, const uc_field *field)
{
    double wanted, value;
    if (!uc_field_real(&wanted, field))
        return UC_NONE;
    for (size_t k = 0; k < classes->count; k++)
        if (uc_parse_real(&value, classes->text[k], strlen(classes->text[k])) && value == wanted)
            return (uint32_t)k;
    return UC_NONE;
}

/* The class of a label that has a new spelling. */
static uc_status find_new_label(uint32_t *class, reading *self, const uc_field *field)
{
    uc_names *classes = &self->crowd.classes;
    if (field->length == 0)
        return fail_line(self, "there is no label on this line");
    if (!uc_is_name(field->begin, field->length))
        return fail_field(self, field, "cannot be the name of a class");
    *class = uc_names_find(classes, field->begin, field->length);
    if (*class == UC_NONE)
        *class = find_equal(classes, field);
    if (*class != UC_NONE)
        return UC_OK;
    if (self->frame.classes)
        return fail_field(self, field, "is not a class of the data");
    return uc_names_add(class, classes, field->begin, field->length);
}

static uc_status find_label(uint32_t *label, reading *self, const uc_field *field)
{
    uint32_t position = uc_names_find(&self->spelled, field->begin, field->length), class;
    if (position != UC_NONE) {
        *label = self->class_of[position];
        return UC_OK;
    }
    uc_status status = find_new_label(&class, self, field);
    if (status == UC_OK)
        status = uc_names_add(&position, &self->spelled, field->begin, field->length);
    if (status != UC_OK)
        return status;
    if (position >= self->class_capacity) {
        const size_t capacity = uc_grown(self->class_capacity, (size_t)position + 1);
        uint32_t *grown = uc_realloc(self->class_of, capacity, sizeof *grown);
        if (!grown)
            return UC_ERR_NOMEM;
        self->class_of = grown;
        self->class_capacity = capacity;
    }
    *label = self->class_of[position] = class;
    return UC_OK;
}

static uc_status add_annotation(reading *self, const uc_field *fields, size_t count)
{
    uint32_t row, annotator, label;
    if (count != self->columns)
        return uc_fail(
            UC_ERR_FORMAT,
            "%s:%zu: %zu columns where there should be %zu: a row, an annotator and a label, or those "
            "that a header names",
            self->name, self->lines.number, count, self->columns);
    uc_status status = find_row(&row, self, &fields[self->column[ROW]]);
    if (status != UC_OK)
        return status;
    self->last_row = row;
    if (uc_field_equals(&fields[self->column[LABEL]], "?"))
        return UC_OK;
    if ((status = find_annotator(&annotator, self, &fields[self->column[ANNOTATOR]])) != UC_OK)
        return status;
    if ((status = find_label(&label, self, &fields[self->column[LABEL]])) != UC_OK)
        return status;
    if (self->list.count == UC_NONE - 1)
        return uc_fail(UC_ERR_FORMAT, "%s: more than %u annotations", self->name, UC_NONE - 1);
    return uc_annotation_list_add(&self->list, row, annotator, label, self->lines.number);
}

/* ---- the file ---- */

static uc_status read_lines(reading *self)
{
    uc_field fields[MOST_COLUMNS];
    size_t count;
    if (!next_line(self))
        return uc_fail(UC_ERR_FORMAT, "%s: empty: there are no annotations", self->name);
    self->delimiter = delimiter_of(&self->lines);
    uc_status status = cut_line(fields, &count, self);
    if (status != UC_OK)
        return status;
    if ((status = find_header(self, fields, count)) != UC_OK)
        return status;
    self->columns = count;
    if (!self->header) {
        self->columns = PARTS;
        for (size_t part = 0; part < PARTS; part++)
            self->column[part] = part;
    }
    self->by_id = names_rows(self, &fields[self->column[ROW]]);
    if (!self->header)
        status = add_annotation(self, fields, count);
    while (status == UC_OK && next_line(self))
        if ((status = cut_line(fields, &count, self)) == UC_OK)
            status = add_annotation(self, fields, count);
    if (status == UC_OK && self->list.count == 0)
        return uc_fail(UC_ERR_FORMAT, "%s: empty: there are no annotations", self->name);
    return status;
}

/* Puts the names and the annotations in their final order. */
static uc_status put_in_order(reading *self, const uc_context *context)
{
    uc_crowd *crowd = &self->crowd;
    uc_annotation_list *list = &self->list;
    uc_status status = uc_names_sort_with(&crowd->annotators, list->annotator, list->count);
    if (status == UC_OK && !self->frame.classes)
        status = uc_names_sort_with(&crowd->classes, list->label, list->count);
    if (status == UC_OK && self->frame.rows == 0)
        status = uc_names_sort_with(&crowd->ids, list->row, list->count);
    crowd->rows = self->frame.rows ? self->frame.rows : crowd->ids.count;
    return status == UC_OK ? uc_crowd_fill(crowd, list, context) : status;
}

static uc_status read_crowd(uc_crowd *out, uc_input *input, const uc_crowd_frame *frame,
                            const uc_context *context)
{
    reading self = {.name = uc_input_name(input)};
    uc_status status = UC_OK;
    if (frame)
        self.frame = *frame;
    if (self.frame.rows >= UC_NONE)
        return uc_fail(UC_ERR_INVALID, "more than %u rows", UC_NONE - 1);
    if (self.frame.classes && (status = uc_names_copy(&self.crowd.classes, self.frame.classes)) != UC_OK)
        goto cleanup;
    if ((status = uc_lines_read(&self.lines, input, context)) != UC_OK)
        goto cleanup;
    self.list.name = self.name;
    if ((status = read_lines(&self)) != UC_OK)
        goto cleanup;
    uc_lines_free(&self.lines);
    status = put_in_order(&self, context);

cleanup:
    uc_lines_free(&self.lines);
    uc_annotation_list_free(&self.list);
    uc_names_free(&self.spelled);
    uc_free(self.class_of);
    if (status == UC_OK)
        *out = self.crowd;
    else
        uc_crowd_free(&self.crowd);
    return status;
}

uc_status uc_crowd_read(uc_crowd *out, const char *path, const uc_crowd_frame *frame,
                        const uc_context *context)
{
    uc_input *input;
    uc_status status = uc_input_open(&input, path);
    if (status == UC_OK) {
        status = read_crowd(out, input, frame, context);
        uc_input_close(input);
    }
    return status;
}

uc_status uc_crowd_read_memory(uc_crowd *out, const void *bytes, size_t length, const char *name,
                               const uc_crowd_frame *frame, const uc_context *context)
{
    uc_input *input;
    uc_status status = uc_input_open_memory(&input, bytes, length, name);
    if (status == UC_OK) {
        status = read_crowd(out, input, frame, context);
        uc_input_close(input);
    }
    return status;
}
