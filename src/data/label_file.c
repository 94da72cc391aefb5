/* Labels in a separate file: one per line, an NPY array, or those of a data file. */
#include <string.h>

#include "data/delimited.h"
#include "data/npy.h"
#include "data/reader.h"
#include "data/recognise.h"
#include "data/table_text.h"

void uc_labels_free(uc_labels *self)
{
    uc_names_free(&self->classes);
    uc_free(self->y);
    *self = (uc_labels){0};
}

/* ---- lists ---- */

static bool is_name_of(const uc_names *known, const char *text, size_t length)
{
    return uc_names_find_label(known, text, length) != UC_NONE;
}

/* Whether the lines are only labels: none looks like features, unless a class has that name. */
static bool is_list(uc_lines *lines, const uc_names *known)
{
    bool list = memchr(lines->text, '\0', lines->length) == NULL;
    while (list && uc_lines_next(lines)) {
        const bool plain = strcspn(lines->line, ",;:\t\n") >= lines->width;
        list = plain || is_name_of(known, lines->line, lines->width);
    }
    uc_lines_rewind(lines);
    return list;
}

/* A label has no control characters: a zero byte would end the text, and a tab indicates several columns. */
static uc_status check_line(const uc_lines *lines, const char *name)
{
    if (lines->width == 0)
        return uc_fail(UC_ERR_FORMAT, "%s:%zu: there is no label on this line", name, lines->number);
    for (size_t i = 0; i < lines->width; i++) {
        const unsigned char c = (unsigned char)lines->line[i];
        if (c < ' ' || c == 0x7f)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: control character 0x%02x", name, lines->number, c);
    }
    return UC_OK;
}

static size_t count_lines(uc_lines *lines)
{
    size_t count = 0;
    while (uc_lines_next(lines))
        count++;
    uc_lines_rewind(lines);
    return count;
}

static uc_status read_list(uc_labels *out, uc_lines *lines, const char *name)
{
    out->y = uc_alloc(count_lines(lines), sizeof *out->y);
    if (!out->y)
        return UC_ERR_NOMEM;
    for (; uc_lines_next(lines); out->count++) {
        uint32_t *label = &out->y[out->count];
        uc_status status = check_line(lines, name);
        *label = UC_NONE;
        if (status == UC_OK && (lines->width != 1 || lines->line[0] != '?'))
            status = uc_names_add(label, &out->classes, lines->line, lines->width);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

/* ---- other files ---- */

static uc_status read_npy(uc_labels *out, bool *is_data, const void *bytes, size_t length, const char *name)
{
    uc_input *input;
    uc_npy array;
    uc_status status = uc_input_open_memory(&input, bytes, length, name);
    if (status != UC_OK)
        return status;
    status = uc_npy_read_header(&array, input, 0, "labels");
    *is_data = status == UC_OK && array.dimensions == 2;
    if (status == UC_OK && !*is_data) {
        status = uc_npy_read_labels(&out->y, &out->classes, &array, input);
        out->count = array.shape[0];
    }
    uc_input_close(input);
    return status;
}

/* Keeps the labels of the data; the rest is freed. */
static uc_status take_labels(uc_labels *out, uc_dataset *data, const char *name)
{
    if (!data->y) {
        uc_dataset_free(data);
        return uc_fail(UC_ERR_FORMAT, "%s: there are no labels in this file", name);
    }
    uc_status status = UC_OK;
    out->count = data->X.rows;
    out->y = uc_alloc(out->count, sizeof *out->y);
    if (out->y)
        memcpy(out->y, data->y, out->count * sizeof *out->y);
    else
        status = UC_ERR_NOMEM;
    out->classes = data->classes;
    data->classes = (uc_names){0};
    uc_dataset_free(data);
    return status;
}

static uc_status read_labels(uc_labels *out, uc_table_text **text, uc_lines *lines, const uc_names *known,
                             const char *name, const uc_read_settings *settings, const uc_context *context)
{
    bool is_data = known && !is_list(lines, known);
    if (uc_npy_begins(lines->text, lines->length)) {
        const uc_status status = read_npy(out, &is_data, lines->text, lines->read, name);
        if (status != UC_OK || !is_data)
            return status;
    }
    if (!is_data)
        return read_list(out, lines, name);
    uc_dataset data = {0};
    uc_read_settings own = settings ? *settings : uc_reader_defaults();
    own.weights = own.soft_labels = NULL; /* these are for the data that the labels belong to */
    uc_format format = (uc_format)own.format;
    uc_status status = UC_OK;
    if (format == UC_FORMAT_AUTO)
        status = uc_recognise_format(&format, lines->text, lines->read, name);
    if (status != UC_OK)
        return status;
    if (format != UC_FORMAT_CSV &&
        format != UC_FORMAT_JSONL) /* so are names of columns, if they are not of this file */
        uc_read_settings_forget_columns(&own);
    if (text)
        status = uc_dataset_read_memory_with_text(&data, text, lines->text, lines->read, name, &own, context);
    else
        status = uc_dataset_read_memory(&data, lines->text, lines->read, name, &own, context);
    if (status != UC_OK)
        return status;
    status = take_labels(out, &data, name);
    if (status != UC_OK && text) {
        uc_table_text_free(*text);
        *text = NULL;
    }
    return status;
}

uc_status uc_labels_read_with_text(uc_labels *out, uc_table_text **text, const char *path,
                                   const uc_names *known, const uc_read_settings *settings,
                                   const uc_context *context)
{
    uc_input *input;
    uc_lines lines = {0};
    uc_labels labels = {0};
    uc_status status = uc_input_open(&input, path);
    if (status != UC_OK)
        return status;
    status = uc_lines_read(&lines, input, context);
    if (status == UC_OK)
        status = read_labels(&labels, text, &lines, known, uc_input_name(input), settings, context);
    if (status == UC_OK)
        *out = labels;
    else
        uc_labels_free(&labels);
    uc_lines_free(&lines);
    uc_input_close(input);
    return status;
}

uc_status uc_labels_read(uc_labels *out, const char *path, const uc_names *known,
                         const uc_read_settings *settings, const uc_context *context)
{
    return uc_labels_read_with_text(out, NULL, path, known, settings, context);
}
