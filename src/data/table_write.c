/* Writing the text of a table: rows unchanged except for their labels, or in another format. */
#define _GNU_SOURCE
#include <string.h>

#include "data/delimited.h"
#include "data/sink.h"
#include "data/table_text.h"

/* ---- JSON lines ---- */

static uc_status put_text(uc_line_text *out, const char *text, size_t length)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    uc_status status = uc_line_add(out, "\"", 1);
    for (size_t i = 0; i < length && status == UC_OK; i++) {
        const char *found = text[i] ? strchr(escaped, text[i]) : NULL;
        char unit[8];
        if (found) {
            const char pair[2] = {'\\', names[found - escaped]};
            status = uc_line_add(out, pair, 2);
        } else if ((unsigned char)text[i] < ' ') {
            snprintf(unit, sizeof unit, "\\u%04x", (unsigned)(unsigned char)text[i]);
            status = uc_line_add(out, unit, 6);
        } else {
            status = uc_line_add(out, text + i, 1);
        }
    }
    return status == UC_OK ? uc_line_add(out, "\"", 1) : status;
}

/* Numbers as written in JSON, true and false are unchanged; an empty value becomes null. */
static uc_status put_value(uc_line_text *out, const char *text, size_t length, bool quoted)
{
    if (length == 0)
        return uc_line_add(out, "null", 4);
    if (!quoted && uc_json_is_word(text, length))
        return uc_line_add(out, text, length);
    return put_text(out, text, length);
}

/* Whether the text is valid UTF-8, as JSON lines must be. */
static bool is_utf8(const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t step = (unsigned char)text[i] < 0x80;
        if (i + 3 <= length && memcmp(text + i, UC_BYTE_ORDER_MARK, 3) == 0)
            step = 3;
        for (size_t n = 2; step == 0 && n <= 4 && i + n <= length; n++)
            if (uc_is_name(text + i, n))
                step = n;
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}

static uc_status check_utf8(const uc_table_text *self, size_t row)
{
    char quoted[UC_QUOTE_SIZE];
    for (size_t i = 0; i < self->layout.columns; i++) {
        const uc_field *field = &self->fields[i];
        if (is_utf8(field->begin, field->length))
            continue;
        size_t line = 1;
        for (const char *p = self->text; p < self->text + self->begins[2 * row]; p++)
            line += *p == '\n';
        return uc_fail(UC_ERR_FORMAT,
                       "%s:%zu: '%s' in column %zu is not UTF-8 text, which JSON needs: convert the file "
                       "first, as iconv -f LATIN1 -t UTF-8 does",
                       self->name, line, uc_quote(quoted, field->begin, field->length), i + 1);
    }
    return UC_OK;
}

static uc_status put_json(uc_line_text *out, const uc_table_text *self, const uc_table_edit *edit)
{
    uc_status status = uc_line_add(out, "{", 1);
    for (size_t i = 0; i < self->layout.columns && status == UC_OK; i++) {
        const char *name = self->layout.names[i];
        const uc_field *field = &self->fields[i];
        if (i > 0)
            status = uc_line_add(out, ", ", 2);
        if (status == UC_OK)
            status = put_text(out, name, strlen(name));
        if (status == UC_OK)
            status = uc_line_add(out, ": ", 2);
        if (status == UC_OK && edit->text && i == edit->column)
            status = put_value(out, edit->text, strlen(edit->text), false);
        else if (status == UC_OK)
            status = put_value(out, field->begin, field->length, field->quoted);
    }
    return status == UC_OK ? uc_line_add(out, "}\n", 2) : status;
}

/* ---- rows unchanged except for one field ---- */

/* Where field `column` of the record at p begins and ends, including its quotes, without blanks around it. */
static void find_field(const char **begin, const char **end, const char *p, const char *stop, char delimiter,
                       size_t column)
{
    for (size_t i = 0;; i++) {
        while (p < stop && uc_is_padding(*p, delimiter))
            p++;
        const char *first = p;
        if (p < stop && *p == '"') {
            for (p++; p < stop; p++)
                if (*p == '"' && (p + 1 == stop || *++p != '"'))
                    break;
        }
        while (p < stop && *p != delimiter && *p != '\n')
            p++;
        if (i == column || p >= stop || *p == '\n') {
            const char *last = p;
            while (last > first && uc_is_padding(last[-1], delimiter))
                last--;
            *begin = first;
            *end = last;
            return;
        }
        p++;
    }
}

/* Finds the column's value in a line of JSON, by cutting a copy; false: the line has none. */
static bool find_pair(const char **begin, const char **end, uc_table_text *self, size_t row, size_t column)
{
    const char *line = self->text + self->begins[2 * row], *name = self->layout.names[column];
    uc_json_pair pair;
    if (uc_table_text_cut(self, row) != UC_OK) /* makes the copy large enough, and changes it */
        return false;
    memcpy(self->row, line, self->begins[2 * row + 1] - self->begins[2 * row]);
    uc_json_begin(&self->json.line, self->row);
    while (uc_json_next(&pair, &self->json.line))
        if (uc_json_is_key(&pair, name)) {
            *begin = line + (pair.raw_begin - self->row);
            *end = line + (pair.raw_end - self->row);
            return true;
        }
    return false;
}

static uc_status put_as_it_is(uc_line_text *out, uc_table_text *self, size_t row, const uc_table_edit *edit)
{
    const char *text = self->text + self->begins[2 * row], *begin = NULL, *end = NULL;
    const size_t length = self->begins[2 * row + 1] - self->begins[2 * row];
    if (!edit->text)
        return uc_line_add(out, text, length);
    if (!self->layout.json)
        find_field(&begin, &end, text, text + length, self->delimiter, edit->column);
    else if (!find_pair(&begin, &end, self, row, edit->column))
        return uc_line_add(out, text, length);
    uc_status status = uc_line_add(out, text, (size_t)(begin - text));
    if (status == UC_OK && self->layout.json)
        status = put_value(out, edit->text, strlen(edit->text), *begin == '"');
    else if (status == UC_OK)
        status = uc_put_field(out, edit->text, strlen(edit->text), self->delimiter);
    if (status == UC_OK)
        status = uc_line_add(out, end, (size_t)(text + length - end));
    return status;
}

/* ---- rows ---- */

/* How rows are written. */
typedef struct style {
    bool json, same; /* same: as they are in the file */
    char delimiter;
} style;

static style style_of(const uc_table_text *self, const char *name, uc_format format)
{
    style out = {.json = format == UC_FORMAT_JSONL, .delimiter = self->delimiter};
    const size_t stem = uc_sink_stem(name);
    if (stem > 4 && strncmp(name + stem - 4, ".tsv", 4) == 0)
        out.delimiter = '\t';
    out.same = out.json == self->layout.json && (out.json || out.delimiter == self->delimiter);
    return out;
}

static uc_status put_row(uc_line_text *out, uc_table_text *self, size_t row, const uc_table_edit *edit,
                         const style *how)
{
    out->length = 0;
    if (how->same)
        return put_as_it_is(out, self, row, edit);
    uc_status status = uc_table_text_cut(self, row);
    if (status == UC_OK && how->json)
        status = check_utf8(self, row);
    if (status != UC_OK)
        return status;
    if (how->json)
        return put_json(out, self, edit);
    return uc_put_csv(out, self, self->fields, edit, how->delimiter);
}

/* ---- one more column ---- */

/* Appends a field to a line of delimited text. */
static uc_status add_field(uc_line_text *line, const char *field, char delimiter)
{
    const char *end = "\n";
    line->length--; /* removes the newline at its end */
    if (line->length > 0 && line->text[line->length - 1] == '\r') {
        line->length--;
        end = "\r\n";
    }
    uc_status status = uc_line_add(line, &delimiter, 1);
    if (status == UC_OK)
        status = uc_put_field(line, field, strlen(field), delimiter);
    return status == UC_OK ? uc_line_add(line, end, strlen(end)) : status;
}

/* Inserts a pair at the beginning of a line of JSON. */
static uc_status add_pair(uc_line_text *line, const char *name, const char *value)
{
    const char *end = line->text + line->length, *rest = memchr(line->text, '{', line->length);
    uc_line_text out = {0};
    rest = rest ? rest + 1 : line->text;
    uc_status status = uc_line_add(&out, line->text, (size_t)(rest - line->text));
    while (rest < end && uc_is_blank(*rest))
        rest++;
    if (status == UC_OK)
        status = put_text(&out, name, strlen(name));
    if (status == UC_OK)
        status = uc_line_add(&out, ": ", 2);
    if (status == UC_OK)
        status = put_value(&out, value, strlen(value), false);
    if (status == UC_OK && rest < end && *rest != '}')
        status = uc_line_add(&out, ", ", 2);
    if (status == UC_OK)
        status = uc_line_add(&out, rest, (size_t)(end - rest));
    uc_free(line->text);
    *line = out;
    return status;
}

/* ---- whole files ---- */

/* `added` is the name of an additional column, or NULL. */
static uc_status put_header(uc_line_text *out, const uc_table_text *self, const char *added, const style *how)
{
    const size_t length = self->header_end - self->header_begin;
    if (how->json || (!self->layout.json && length == 0))
        return UC_OK;
    const uc_status status = how->same ? uc_line_add(out, self->text + self->header_begin, length)
                                       : uc_put_csv_header(out, self, how->delimiter);
    return status == UC_OK && added ? add_field(out, added, how->delimiter) : status;
}

/* Writes row i of the output, which is row `row` of the table. */
static uc_status put_changed(uc_line_text *line, uc_table_text *self, const uc_table_changes *changes,
                             size_t i, size_t row, const char *added, const style *how)
{
    const uint32_t *y = changes->y;
    uc_table_edit edit = {.column = self->label};
    char weight[32] = "";
    if (changes->weights) {
        double back;
        const size_t length = uc_print_real(weight, sizeof weight, 15, changes->weights[i]);
        if (!uc_parse_real(&back, weight, length) || back != changes->weights[i])
            uc_print_real(weight, sizeof weight, 17, changes->weights[i]);
    }
    if (changes->weights && !added)
        edit = (uc_table_edit){self->weight, weight};
    else if (y && y[i] != changes->before[i] && y[i] != UC_NONE && self->label != UC_NO_COLUMN)
        edit.text = changes->classes->text[y[i]];
    const uc_status status = put_row(line, self, row, &edit, how);
    if (status != UC_OK || !added)
        return status;
    return how->json ? add_pair(line, added, weight) : add_field(line, weight, how->delimiter);
}

uc_status uc_table_text_write(uc_table_text *self, uc_output *output, uc_format format, const size_t *rows,
                              size_t count, const uc_table_changes *changes)
{
    const style how = style_of(self, uc_output_name(output), format);
    const bool adds = changes->weights && !uc_table_text_has_weights(self);
    const char *added = adds ? uc_table_text_weight_name(self) : NULL;
    uc_sink *sink = NULL;
    uc_line_text line = {0};
    if (adds && !added)
        return uc_fail(UC_ERR_INVALID,
                       "%s: weights need a column of their own, but 'weight' and 'label_weight' are columns "
                       "already: rename one of them",
                       self->name);
    if (changes->y && changes->weights && !adds)
        return uc_fail(UC_ERR_INVALID, "%s: labels and weights do not change together", self->name);
    if (!rows)
        count = self->rows;
    uc_status status = uc_sink_begin(&sink, output);
    if (status != UC_OK)
        return status;
    status = put_header(&line, self, added, &how);
    if (status == UC_OK)
        status = uc_sink_write(sink, line.text, line.length);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        status = put_changed(&line, self, changes, i, rows ? rows[i] : i, added, &how);
        if (status == UC_OK)
            status = uc_sink_write(sink, line.text, line.length);
    }
    uc_free(line.text);
    if (status == UC_OK)
        return uc_sink_end(sink);
    uc_sink_abort(sink);
    return status;
}
