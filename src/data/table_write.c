/* Writing the text of a table: rows as they are, but for their labels, or in another format. */
#define _GNU_SOURCE
#include <string.h>

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

/* Numbers as JSON writes them, true and false as they are; what is empty is null. */
static uc_status put_value(uc_line_text *out, const char *text, size_t length, bool quoted)
{
    if (length == 0)
        return uc_line_add(out, "null", 4);
    if (!quoted && uc_json_is_word(text, length))
        return uc_line_add(out, text, length);
    return put_text(out, text, length);
}

/* Any UTF-8: a line of JSON is nothing else. */
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

static uc_status put_json(uc_line_text *out, const uc_table_text *self, const char *label)
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
        if (status == UC_OK && label && i == self->label)
            status = put_value(out, label, strlen(label), false);
        else if (status == UC_OK)
            status = put_value(out, field->begin, field->length, field->quoted);
    }
    return status == UC_OK ? uc_line_add(out, "}\n", 2) : status;
}

/* ---- rows as they are, with another label ---- */

/* Where field `column` of the record at p begins and ends, with its quotes and without blanks around it. */
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

/* Where the label's value is in a line of JSON, which is cut in a copy; false: it has none. */
static bool find_pair(const char **begin, const char **end, uc_table_text *self, size_t row)
{
    const char *line = self->text + self->begins[2 * row], *name = self->layout.names[self->label];
    uc_json_pair pair;
    if (uc_table_text_cut(self, row) != UC_OK) /* which leaves the copy changed, and large enough */
        return false;
    memcpy(self->row, line, self->begins[2 * row + 1] - self->begins[2 * row]);
    uc_json_begin(&self->json.line, self->row);
    while (uc_json_next(&pair, &self->json.line))
        if (pair.key_length == strlen(name) && memcmp(pair.key, name, pair.key_length) == 0) {
            *begin = line + (pair.raw_begin - self->row);
            *end = line + (pair.raw_end - self->row);
            return true;
        }
    return false;
}

static uc_status put_as_it_is(uc_line_text *out, uc_table_text *self, size_t row, const char *label)
{
    const char *text = self->text + self->begins[2 * row], *begin = NULL, *end = NULL;
    const size_t length = self->begins[2 * row + 1] - self->begins[2 * row];
    if (!label || self->label == UC_NO_COLUMN)
        return uc_line_add(out, text, length);
    if (!self->layout.json)
        find_field(&begin, &end, text, text + length, self->delimiter, self->label);
    else if (!find_pair(&begin, &end, self, row))
        return uc_line_add(out, text, length);
    uc_status status = uc_line_add(out, text, (size_t)(begin - text));
    if (status == UC_OK && self->layout.json)
        status = put_value(out, label, strlen(label), *begin == '"');
    else if (status == UC_OK)
        status = uc_put_field(out, label, strlen(label), self->delimiter);
    if (status == UC_OK)
        status = uc_line_add(out, end, (size_t)(text + length - end));
    return status;
}

/* ---- all ---- */

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

static uc_status put_row(uc_line_text *out, uc_table_text *self, size_t row, const char *label,
                         const style *how)
{
    out->length = 0;
    if (how->same)
        return put_as_it_is(out, self, row, label);
    uc_status status = uc_table_text_cut(self, row);
    if (status == UC_OK && how->json)
        status = check_utf8(self, row);
    if (status != UC_OK)
        return status;
    if (how->json)
        return put_json(out, self, label);
    return uc_put_csv(out, self, self->fields, label, how->delimiter);
}

static uc_status put_header(uc_line_text *out, const uc_table_text *self, const style *how)
{
    if (how->json)
        return UC_OK;
    if (how->same)
        return uc_line_add(out, self->text + self->header_begin, self->header_end - self->header_begin);
    if (!self->layout.json && self->header_begin == self->header_end)
        return UC_OK;
    return uc_put_csv_header(out, self, how->delimiter);
}

uc_status uc_table_text_write(uc_table_text *self, uc_output *output, uc_format format, const size_t *rows,
                              size_t count, const uint32_t *y, const uint32_t *before,
                              const uc_names *classes)
{
    const style how = style_of(self, uc_output_name(output), format);
    uc_sink *sink = NULL;
    uc_line_text line = {0};
    if (!rows)
        count = self->rows;
    uc_status status = uc_sink_begin(&sink, output);
    if (status != UC_OK)
        return status;
    status = put_header(&line, self, &how);
    if (status == UC_OK)
        status = uc_sink_write(sink, line.text, line.length);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        const char *label = NULL;
        if (y && y[i] != before[i] && y[i] != UC_NONE)
            label = classes->text[y[i]];
        status = put_row(&line, self, rows ? rows[i] : i, label, &how);
        if (status == UC_OK)
            status = uc_sink_write(sink, line.text, line.length);
    }
    uc_free(line.text);
    if (status == UC_OK)
        return uc_sink_end(sink);
    uc_sink_abort(sink);
    return status;
}
