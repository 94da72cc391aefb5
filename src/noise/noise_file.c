/*
 * Noise matrices in files.
 *
 * Delimited text (data/delimited.h). The shape alone decides which fields are names, so classes may be called
 * 0, 1, 2:
 *
 *   K lines of K            no names
 *   K+1 lines of K          the first line names the columns
 *   K lines of K+1          the first field of every line names the row
 *   K+1 lines of K+1        both, if the top-left field is empty or not a number; otherwise no names
 *   a line of K, K of K+1   both, without a top-left field
 *
 * If both have names, the rows are put in the order of the columns.
 *
 * NPY (data/npy.h): a matrix of numbers.
 *
 * Both may be compressed (.gz, .zst).
 */
#include "unconfuse/noise.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "data/delimited.h"
#include "data/npy.h"
#include "noise/valid.h"

/* ---- text ---- */

typedef struct cell {
    uc_field field;
    size_t line;
} cell;

typedef struct table {
    const char *source;
    cell *cells; /* line by line, without blank lines */
    size_t count, capacity;
    size_t lines, first_width, width; /* fields of the first line, and of each of the others */
} table;

static uc_status add_cell(table *self, const uc_field *field, size_t line)
{
    if (self->count == self->capacity) {
        const size_t capacity = uc_grown(self->capacity, self->count + 1);
        cell *cells = uc_realloc(self->cells, capacity, sizeof *cells);
        if (!cells)
            return UC_ERR_NOMEM;
        self->cells = cells;
        self->capacity = capacity;
    }
    self->cells[self->count++] = (cell){*field, line};
    return UC_OK;
}

static uc_status split_line(table *self, const uc_lines *lines, char delimiter)
{
    for (char *p = lines->line;; p++) {
        uc_field field;
        const char *problem = uc_field_cut(&field, &p, delimiter);
        if (problem)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: %s", self->source, lines->number, problem);
        const uc_status status = add_cell(self, &field, lines->number);
        if (status != UC_OK || *p == '\n')
            return status;
    }
}

static uc_status check_width(table *self, size_t width, size_t line)
{
    if (self->lines == 0)
        self->first_width = self->width = width;
    else if (self->lines == 1 && width == self->first_width + 1)
        self->width = width;
    else if (width != self->width)
        return uc_fail(UC_ERR_FORMAT, "%s:%zu: %zu fields where the line before has %zu", self->source, line,
                       width, self->width);
    self->lines++;
    return UC_OK;
}

static bool is_empty(const uc_lines *lines, char delimiter)
{
    return uc_skip_padding(lines->line, delimiter) >= lines->line + lines->width;
}

static uc_status split_text(table *self, uc_lines *lines)
{
    char delimiter = '\0';
    while (uc_lines_next(lines)) {
        const size_t before = self->count;
        if (is_empty(lines, delimiter))
            continue;
        if (!delimiter)
            delimiter = uc_find_delimiter(lines->line, lines->width);
        uc_status status = split_line(self, lines, delimiter);
        if (status == UC_OK)
            status = check_width(self, self->count - before, lines->number);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

static bool is_number(const cell *at)
{
    double ignored;
    return uc_field_real(&ignored, &at->field);
}

/* Where the names and numbers are among the cells. */
typedef struct layout {
    size_t classes;
    const cell *column_names; /* contiguous; NULL: none */
    const cell *row_names;    /* `width` apart; NULL: none */
    const cell *values;       /* rows `width` apart */
    size_t width;
} layout;

static uc_status find_layout(layout *out, const table *self)
{
    const size_t lines = self->lines, width = self->width;
    const cell *first = self->cells;
    if (lines == 0)
        return uc_fail(UC_ERR_FORMAT, "%s: the file is empty", self->source);
    const bool no_corner = lines > 1 && self->first_width + 1 == width;
    const bool corner = lines == width && (first->field.length == 0 || !is_number(first));
    if (no_corner && lines == width)
        *out = (layout){lines - 1, first, first + width - 1, first + width, width};
    else if (!no_corner && corner)
        *out = (layout){lines - 1, first + 1, first + width, first + width + 1, width};
    else if (!no_corner && lines == width)
        *out = (layout){lines, NULL, NULL, first, width};
    else if (!no_corner && lines == width + 1)
        *out = (layout){width, first, NULL, first + width, width};
    else if (!no_corner && lines + 1 == width)
        *out = (layout){lines, NULL, first, first + 1, width};
    else
        return uc_fail(UC_ERR_FORMAT,
                       "%s: %zu lines of %zu fields are not a square matrix, with or without names",
                       self->source, lines, width);
    return UC_OK;
}

static uc_status read_names(uc_names *out, const cell *names, size_t count, size_t apart, const char *source)
{
    for (size_t k = 0; k < count; k++) {
        const cell *at = names + k * apart;
        const uc_field *name = &at->field;
        uint32_t index;
        if (name->length == 0)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: a class without a name", source, at->line);
        const uc_status status = uc_names_add(&index, out, name->begin, name->length);
        if (status != UC_OK)
            return status;
        if (index != k)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: class \"%.*s\" is named twice", source, at->line,
                           (int)name->length, name->begin);
    }
    return UC_OK;
}

/* Sets position[i] to the row of the matrix to which line i of the values belongs. */
static uc_status match_rows(size_t *position, const uc_names *columns, const uc_names *rows, const layout *at,
                            const char *source)
{
    for (size_t i = 0; i < at->classes; i++) {
        const uint32_t found = uc_names_find(columns, rows->text[i], strlen(rows->text[i]));
        if (found == UC_NONE)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: the row \"%s\" has no column of that name", source,
                           at->row_names[i * at->width].line, rows->text[i]);
        position[i] = found;
    }
    return UC_OK;
}

/* The same, also without names for both. `names` gets the matrix's order: the names of the columns, or else
 * those of the rows. */
static uc_status order_rows(size_t *position, uc_names *names, const layout *at, const char *source)
{
    for (size_t i = 0; i < at->classes; i++)
        position[i] = i;
    if (!at->column_names && !at->row_names)
        return UC_OK;
    if (!at->column_names)
        return read_names(names, at->row_names, at->classes, at->width, source);
    uc_status status = read_names(names, at->column_names, at->classes, 1, source);
    if (status != UC_OK || !at->row_names)
        return status;
    uc_names rows = {0};
    status = read_names(&rows, at->row_names, at->classes, at->width, source);
    if (status == UC_OK)
        status = match_rows(position, names, &rows, at, source);
    uc_names_free(&rows);
    return status;
}

static uc_status read_values(double *values, const layout *at, const size_t *position, const char *source)
{
    for (size_t i = 0; i < at->classes; i++)
        for (size_t j = 0; j < at->classes; j++) {
            const cell *value = at->values + i * at->width + j;
            if (!uc_field_real(&values[position[i] * at->classes + j], &value->field))
                return uc_fail(UC_ERR_FORMAT, "%s:%zu: \"%.*s\" is not a number", source, value->line,
                               (int)value->field.length, value->field.begin);
        }
    return UC_OK;
}

/* The contents of a file, before it is checked as a noise matrix. */
typedef struct content {
    double *values;
    size_t classes;
    uc_names names;
} content;

static uc_status take_values(content *out, const table *cells)
{
    layout at = {0};
    uc_status status = find_layout(&at, cells);
    if (status != UC_OK)
        return status;
    out->classes = at.classes;
    out->values = uc_alloc(at.classes * at.classes, sizeof *out->values);
    if (!out->values)
        return UC_ERR_NOMEM;
    size_t *position = uc_alloc(at.classes, sizeof *position);
    if (!position)
        return UC_ERR_NOMEM;
    status = order_rows(position, &out->names, &at, cells->source);
    if (status == UC_OK)
        status = read_values(out->values, &at, position, cells->source);
    uc_free(position);
    return status;
}

static uc_status read_text(content *out, uc_input *input, const uc_context *context)
{
    table cells = {.source = uc_input_name(input)};
    uc_lines lines;
    uc_status status = uc_lines_read(&lines, input, context);
    if (status != UC_OK)
        return status;
    if (memchr(lines.text, '\0', lines.length))
        status = uc_fail(UC_ERR_FORMAT, "%s: neither a text file nor NPY", cells.source);
    if (status == UC_OK)
        status = split_text(&cells, &lines);
    if (status == UC_OK)
        status = take_values(out, &cells);
    uc_free(cells.cells);
    uc_lines_free(&lines);
    return status;
}

/* ---- NPY ---- */

static void transpose(double *values, size_t K)
{
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < i; j++) {
            const double kept = values[i * K + j];
            values[i * K + j] = values[j * K + i];
            values[j * K + i] = kept;
        }
}

static uc_status read_npy(content *out, uc_input *input, const uc_context *context)
{
    uc_npy array;
    uc_status status = uc_npy_read_header(&array, input, 2, "noise matrix");
    if (status != UC_OK)
        return status;
    const size_t K = array.shape[0];
    if (!uc_npy_is_numeric(&array))
        return uc_fail(UC_ERR_FORMAT, "%s: an array of text, but the noise matrix must be numbers",
                       uc_input_name(input));
    if (K != array.shape[1])
        return uc_fail(UC_ERR_FORMAT, "%s: a matrix of %zu x %zu is not square", uc_input_name(input), K,
                       array.shape[1]);
    const double bytes = (double)K * (double)K * (double)(sizeof(double) + array.size);
    status = uc_memory_check(context, bytes, uc_input_name(input));
    if (status != UC_OK)
        return status;
    out->classes = K;
    out->values = uc_alloc(K * K, sizeof *out->values);
    void *items = uc_alloc(K * K, array.size);
    status = UC_ERR_NOMEM;
    if (out->values && items)
        status = uc_input_read_exactly(input, items, K * K * array.size);
    if (status == UC_OK) {
        uc_npy_to_double(out->values, &array, items, K * K);
        if (array.fortran)
            transpose(out->values, K);
    }
    uc_free(items);
    return status;
}

/* ---- either ---- */

static uc_status read_content(content *out, uc_input *input, const uc_context *context)
{
    const char *head;
    size_t length;
    const uc_status status = uc_input_peek(&head, &length, input);
    if (status != UC_OK)
        return status;
    if (uc_npy_begins(head, length))
        return read_npy(out, input, context);
    return read_text(out, input, context);
}

uc_status uc_noise_read(uc_noise *out, const char *path, uc_noise_orientation orientation,
                        const uc_context *context)
{
    uc_input *input;
    uc_status status = uc_input_open(&input, path);
    if (status != UC_OK)
        return status;
    const char *source = uc_input_name(input);
    content found = {0};
    status = read_content(&found, input, context);
    if (status == UC_OK && found.classes < 2)
        status = uc_fail(UC_ERR_FORMAT, "%s: a noise matrix needs at least 2 classes, not %zu", source,
                         found.classes);
    if (status == UC_OK)
        status = uc_noise_create(out, found.values, found.classes, &found.names, orientation, source);
    uc_free(found.values);
    uc_names_free(&found.names);
    uc_input_close(input);
    return status;
}

/* ---- writing ---- */

/* Writes a name, in quotes if it needs them to be read back unchanged. */
static uc_status write_name(uc_output *output, const char *name)
{
    const size_t length = strlen(name);
    const bool spaces = length > 0 && (strchr(" \t", name[0]) || strchr(" \t", name[length - 1]));
    if (!spaces && !strpbrk(name, "\",;\t"))
        return uc_output_write(output, name, length);
    uc_status status = uc_output_write(output, "\"", 1);
    for (; *name && status == UC_OK; name++)
        if (*name == '"')
            status = uc_output_write(output, "\"\"", 2);
        else
            status = uc_output_write(output, name, 1);
    if (status != UC_OK)
        return status;
    return uc_output_write(output, "\"", 1);
}

/* Writes the shortest digits that read back as the same number. */
static uc_status write_number(uc_output *output, double value)
{
    char text[40];
    size_t length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        length = uc_print_real(text, sizeof text, digits, value);
        if (uc_parse_real(&back, text, length) && back == value)
            break;
    }
    return uc_output_write(output, text, length);
}

uc_status uc_noise_write_to(const uc_noise *self, uc_output *output)
{
    const bool named = self->names.count > 0;
    uc_status status = UC_OK;
    assert(uc_noise_is_valid(self));
    for (size_t q = 0; q < self->names.count && status == UC_OK; q++) {
        status = uc_output_write(output, ",", 1);
        if (status == UC_OK)
            status = write_name(output, self->names.text[q]);
    }
    if (named && status == UC_OK)
        status = uc_output_write(output, "\n", 1);
    for (size_t p = 0; p < self->classes; p++) {
        if (named && status == UC_OK)
            status = write_name(output, self->names.text[p]);
        for (size_t q = 0; q < self->classes && status == UC_OK; q++) {
            if (named || q > 0)
                status = uc_output_write(output, ",", 1);
            if (status == UC_OK)
                status = write_number(output, self->values[p * self->classes + q]);
        }
        if (status == UC_OK)
            status = uc_output_write(output, "\n", 1);
    }
    return status;
}

uc_status uc_noise_write(const uc_noise *self, const char *path)
{
    uc_output *output;
    const uc_status status = uc_output_open(&output, path);
    if (status != UC_OK)
        return status;
    return uc_output_end(output, uc_noise_write_to(self, output), false);
}
