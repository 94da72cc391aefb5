/*
 * Noise matrices in files.
 *
 * CSV, separated by the tab, semicolon or comma of its first line. What is a name is decided by the shape
 * alone, so that classes may be called 0, 1, 2:
 *
 *   K lines of K            no names
 *   K+1 lines of K          the first line names the columns
 *   K lines of K+1          the first field of every line names the row
 *   K+1 lines of K+1        both, when the top-left field is empty or not a number; else no names
 *   a line of K, K of K+1   both, without a top-left field
 *
 * With both kinds of names the rows are put in the columns' order. Surrounding spaces are taken off; a name
 * may be in double quotes, where two of them stand for one.
 *
 * NPY (NumPy's format, version 1 to 3): two dimensions, little-endian floats or integers.
 *
 * Both are read packed (.gz, .zst) as well.
 */
#include "unconfuse/noise.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/input.h"

/* ---- CSV ---- */

typedef struct field {
    const char *text;
    size_t length, line;
} field;

typedef struct table {
    const char *source;
    field *fields; /* line after line, blank lines left out */
    size_t count, capacity;
    size_t lines, first_width, width; /* fields of the first line, and of each of the others */
} table;

static uc_status add_field(table *self, char *text, size_t length, size_t line)
{
    if (self->count == self->capacity) {
        const size_t capacity = uc_grown(self->capacity, self->count + 1);
        field *fields = uc_realloc(self->fields, capacity, sizeof *fields);
        if (!fields)
            return UC_ERR_NOMEM;
        self->fields = fields;
        self->capacity = capacity;
    }
    self->fields[self->count++] = (field){text, length, line};
    return UC_OK;
}

/* Takes the quotes off text[0..*length), in place, and adapts *length. false: no quote ends it. */
static bool unquote(char *text, size_t *length)
{
    size_t used = 0;
    for (size_t i = 1; i < *length; i++) {
        if (text[i] == '"' && !(i + 1 < *length && text[i + 1] == '"')) {
            const bool last = i + 1 == *length;
            *length = used;
            return last;
        }
        if (text[i] == '"')
            i++;
        text[used++] = text[i];
    }
    return false;
}

/* The end of the field that begins at `text`: a separator outside quotes, or `end`. Only a quote that begins
 * a field is one. */
static char *field_end(char *text, const char *end, char separator)
{
    text += strspn(text, " ");
    const bool may_quote = *text == '"';
    bool quoted = false;
    while (text < end && (quoted || *text != separator))
        quoted ^= may_quote & (*text++ == '"');
    return text;
}

static bool has_outside_quotes(const char *text, const char *end, char wanted)
{
    bool quoted = false;
    for (; text < end; text++) {
        quoted ^= *text == '"';
        if (!quoted && *text == wanted)
            return true;
    }
    return false;
}

/* The first of tab, semicolon and comma that the line has outside quotes; a comma when it has none. */
static char find_separator(const char *text, const char *end)
{
    static const char candidates[] = "\t;,";
    const char *candidate = candidates;
    while (candidate[1] && !has_outside_quotes(text, end, *candidate))
        candidate++;
    return *candidate;
}

static uc_status split_line(table *self, char *text, char *end, char separator, size_t line)
{
    for (;;) {
        char *next = field_end(text, end, separator), *last = next;
        while (text < last && (*text == ' ' || *text == '\t'))
            text++;
        while (last > text && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        size_t length = (size_t)(last - text);
        if (*text == '"' && !unquote(text, &length))
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: a quote that does not end its field", self->source, line);
        const uc_status status = add_field(self, text, length, line);
        if (status != UC_OK || next == end)
            return status;
        text = next + 1;
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
                       width, self->lines == 1 ? self->first_width : self->width);
    self->lines++;
    return UC_OK;
}

static uc_status split_text(table *self, char *text, const char *end)
{
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        text += 3;
    char separator = '\0';
    for (size_t line = 1; text < end; line++) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        char *last = newline ? newline : text + (end - text);
        char *next = newline ? newline + 1 : last;
        if (last > text && last[-1] == '\r')
            last--;
        if (strspn(text, " ") < (size_t)(last - text)) {
            const size_t before = self->count;
            if (!separator)
                separator = find_separator(text, last);
            uc_status status = split_line(self, text, last, separator, line);
            if (status == UC_OK)
                status = check_width(self, self->count - before, line);
            if (status != UC_OK)
                return status;
        }
        text = next;
    }
    return UC_OK;
}

static bool is_number(const field *at)
{
    double ignored;
    return uc_parse_real(&ignored, at->text, at->length);
}

/* Where names and numbers are. */
typedef struct layout {
    size_t classes;
    const field *column_names; /* one after the other; NULL: none */
    const field *row_names;    /* `width` apart; NULL: none */
    const field *values;       /* rows `width` apart */
    size_t width;
} layout;

static uc_status find_layout(layout *out, const table *self)
{
    const size_t lines = self->lines, width = self->width;
    const field *first = self->fields;
    if (lines == 0)
        return uc_fail(UC_ERR_FORMAT, "%s: the file is empty", self->source);
    const bool no_corner = lines > 1 && self->first_width + 1 == width;
    const bool corner = lines == width && (first->length == 0 || !is_number(first));
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

static uc_status read_names(uc_names *out, const field *names, size_t count, size_t apart, const char *source)
{
    for (size_t k = 0; k < count; k++) {
        const field *name = names + k * apart;
        uint32_t index;
        if (name->length == 0)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: a class without a name", source, name->line);
        const uc_status status = uc_names_add(&index, out, name->text, name->length);
        if (status != UC_OK)
            return status;
        if (index != k)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: class \"%.*s\" is named twice", source, name->line,
                           (int)name->length, name->text);
    }
    return UC_OK;
}

/* position[i] becomes the row of the matrix where line i of the values belongs. */
static uc_status order_rows(size_t *position, uc_names *names, const layout *at, const char *source)
{
    uc_status status = UC_OK;
    for (size_t i = 0; i < at->classes; i++)
        position[i] = i;
    if (at->column_names)
        status = read_names(names, at->column_names, at->classes, 1, source);
    if (status != UC_OK || !at->row_names)
        return status;

    uc_names rows = {0};
    status = read_names(&rows, at->row_names, at->classes, at->width, source);
    for (size_t i = 0; i < at->classes && status == UC_OK && at->column_names; i++) {
        const uint32_t found = uc_names_find(names, rows.text[i], strlen(rows.text[i]));
        if (found == UC_NONE)
            status = uc_fail(UC_ERR_FORMAT, "%s:%zu: the row \"%s\" has no column of that name", source,
                             at->row_names[i * at->width].line, rows.text[i]);
        else
            position[i] = found;
    }
    if (status == UC_OK && !at->column_names) {
        *names = rows;
        rows = (uc_names){0};
    }
    uc_names_free(&rows);
    return status;
}

static uc_status read_values(double *values, const layout *at, const size_t *position, const char *source)
{
    for (size_t i = 0; i < at->classes; i++)
        for (size_t j = 0; j < at->classes; j++) {
            const field *value = at->values + i * at->width + j;
            if (!uc_parse_real(&values[position[i] * at->classes + j], value->text, value->length))
                return uc_fail(UC_ERR_FORMAT, "%s:%zu: \"%.*s\" is not a number", source, value->line,
                               (int)value->length, value->text);
        }
    return UC_OK;
}

/* What a file holds, before it is checked as a noise matrix. */
typedef struct content {
    double *values;
    size_t classes;
    uc_names names;
} content;

static uc_status parse_csv(content *out, char *text, size_t length, const char *source)
{
    table cells = {.source = source};
    layout at = {0};
    size_t *position = NULL;
    if (memchr(text, '\0', length))
        return uc_fail(UC_ERR_FORMAT, "%s: neither a text file nor NPY", source);
    uc_status status = split_text(&cells, text, text + length);
    if (status == UC_OK)
        status = find_layout(&at, &cells);
    if (status != UC_OK)
        goto cleanup;

    out->classes = at.classes;
    out->values = uc_alloc(at.classes * at.classes, sizeof *out->values);
    position = uc_alloc(at.classes, sizeof *position);
    status = out->values && position ? order_rows(position, &out->names, &at, source) : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = read_values(out->values, &at, position, source);

cleanup:
    uc_free(position);
    uc_free(cells.fields);
    return status;
}

/* ---- NPY ---- */

static const char npy_magic[] = "\x93NUMPY";
#define NPY_MAGIC_BYTES (sizeof npy_magic - 1)

static uint64_t little_endian(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = count; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

/* One number of NumPy's type `kind` (f, i or u) and `size`. */
static double npy_number(const unsigned char *bytes, char kind, size_t size)
{
    const uint64_t bits = little_endian(bytes, size);
    if (kind == 'f' && size == 4) {
        const uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        return (double)value;
    }
    if (kind == 'f') {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    const uint64_t sign = kind == 'i' ? UINT64_C(1) << (8 * size - 1) : 0;
    return (double)(bits & ~sign) - (double)(bits & sign);
}

typedef struct npy_header {
    char kind;
    size_t size, rows, cols;
    bool fortran_order;
} npy_header;

/* The text after `'key':` and its spaces, or an empty one. */
static const char *npy_value(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (!at)
        return "";
    at += strlen(key);
    return at + strspn(at, " ");
}

/* '<f8' and the like: byte order, kind, bytes. */
static bool parse_npy_type(npy_header *out, const char *text)
{
    if (strlen(text) < 5 || text[0] != '\'' || !strchr("<|", text[1]) || text[4] != '\'')
        return false;
    out->kind = text[2];
    out->size = (size_t)(text[3] - '0');
    return out->kind == 'f' ? out->size == 4 || out->size == 8
                            : (out->kind == 'i' || out->kind == 'u') && strchr("1248", text[3]) != NULL;
}

/* A number of at most nine digits, then `end`. Returns what follows, or NULL. */
static const char *parse_npy_size(size_t *out, const char *text, char end)
{
    uint64_t size;
    text += strspn(text, " ");
    const size_t digits = strspn(text, "0123456789");
    if (digits > 9 || !uc_parse_count(&size, text, digits) || text[digits] != end)
        return NULL;
    *out = (size_t)size;
    return text + digits + 1;
}

/* `header` is the literal of a Python dictionary such as
 * {'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), } */
static bool parse_npy_header(npy_header *out, const char *header)
{
    const char *shape = npy_value(header, "'shape':");
    out->fortran_order = strncmp(npy_value(header, "'fortran_order':"), "True", 4) == 0;
    if (*shape != '(' || !parse_npy_type(out, npy_value(header, "'descr':")))
        return false;
    shape = parse_npy_size(&out->rows, shape + 1, ',');
    return shape && parse_npy_size(&out->cols, shape, ')');
}

static uc_status parse_npy(content *out, char *bytes, size_t length, const char *source)
{
    const unsigned char *data = (const unsigned char *)bytes;
    const size_t length_bytes = length > NPY_MAGIC_BYTES && data[NPY_MAGIC_BYTES] == 1 ? 2 : 4;
    const size_t start = NPY_MAGIC_BYTES + 2 + length_bytes;
    const size_t header_bytes =
        length >= start ? (size_t)little_endian(data + NPY_MAGIC_BYTES + 2, length_bytes) : length;
    if (length < start || header_bytes == 0 || header_bytes > length - start)
        return uc_fail(UC_ERR_FORMAT, "%s: the file is cut short", source);

    npy_header header;
    bytes[start + header_bytes - 1] = '\0'; /* it ends with a newline */
    if (!parse_npy_header(&header, bytes + start))
        return uc_fail(UC_ERR_FORMAT,
                       "%s: an NPY file must hold a matrix of little-endian floats or integers", source);
    const size_t K = header.rows;
    if (K != header.cols)
        return uc_fail(UC_ERR_FORMAT, "%s: a matrix of %zu x %zu is not square", source, K, header.cols);
    data += start + header_bytes;
    if ((length - start - header_bytes) / header.size / (K ? K : 1) < K)
        return uc_fail(UC_ERR_FORMAT, "%s: the file is cut short", source);

    out->classes = K;
    out->values = uc_alloc(K * K, sizeof *out->values);
    if (!out->values)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++)
            out->values[i * K + j] =
                npy_number(data + (header.fortran_order ? j * K + i : i * K + j) * header.size, header.kind,
                           header.size);
    return UC_OK;
}

static uc_status parse(uc_noise *out, char *bytes, size_t length, uc_noise_orientation orientation,
                       const char *source)
{
    content found = {0};
    uc_status status;
    if (length >= NPY_MAGIC_BYTES && memcmp(bytes, npy_magic, NPY_MAGIC_BYTES) == 0)
        status = parse_npy(&found, bytes, length, source);
    else
        status = parse_csv(&found, bytes, length, source);
    if (status == UC_OK && found.classes < 2)
        status = uc_fail(UC_ERR_FORMAT, "%s: a noise matrix needs at least 2 classes, not %zu", source,
                         found.classes);
    if (status == UC_OK)
        status = uc_noise_create(out, found.values, found.classes, &found.names, orientation, source);
    uc_free(found.values);
    uc_names_free(&found.names);
    return status;
}

uc_status uc_noise_read(uc_noise *out, const char *path, uc_noise_orientation orientation,
                        const uc_context *context)
{
    (void)context; /* a matrix is small: there is nothing to share out or to report */
    uc_input *input;
    uc_status status = uc_input_open(&input, path);
    if (status != UC_OK)
        return status;
    char *bytes = NULL;
    size_t length;
    status = uc_input_read_all(&bytes, &length, input, 1, NULL);
    if (status == UC_OK)
        status = parse(out, bytes, length, orientation, uc_input_name(input));
    uc_free(bytes);
    uc_input_close(input);
    return status;
}

/* ---- writing ---- */

/* A name that reads back as it is: in quotes where it needs them. */
static uc_status write_name(uc_output *output, const char *name)
{
    const size_t length = strlen(name);
    const bool spaces = length > 0 && (strchr(" \t", name[0]) || strchr(" \t", name[length - 1]));
    if (!spaces && !strpbrk(name, "\",;\t"))
        return uc_output_write(output, name, length);
    uc_status status = uc_output_write(output, "\"", 1);
    for (; *name && status == UC_OK; name++)
        status = uc_output_write(output, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    return status == UC_OK ? uc_output_write(output, "\"", 1) : status;
}

/* The shortest digits that read back as the same number. */
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
    return status == UC_OK ? uc_output_end(output, uc_noise_write_to(self, output), false) : status;
}
