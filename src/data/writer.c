/*
 * Writing data sets. Text is made row by row, in parallel: each block of rows fills its own buffer, and the
 * buffers are written in order. Numbers are the shortest text that reads back as the same float.
 */
#include <string.h>

#include "data/container.h"
#include "data/number.h"
#include "data/reader.h"
#include "data/sink.h"

#define BLOCKS_AT_ONCE ((size_t)32)
#define BLOCK_BYTES ((size_t)64 << 10) /* of text, approximately */

/* ---- text that grows ---- */

typedef struct text {
    char *bytes;
    size_t length, room;
    bool failed; /* because of too little memory */
} text;

/* Room for `length` more bytes; NULL if there is not enough memory. */
static char *text_room(text *self, size_t length)
{
    if (self->room - self->length < length) {
        const size_t room = uc_grown(uc_max_size(self->room, 4096), self->length + length);
        char *bytes = uc_realloc(self->bytes, room, 1);
        if (!bytes) {
            self->failed = true;
            return NULL;
        }
        self->bytes = bytes;
        self->room = room;
    }
    return self->bytes + self->length;
}

static void put_text(text *self, const char *bytes, size_t length)
{
    char *to = text_room(self, length);
    if (to) {
        memcpy(to, bytes, length);
        self->length += length;
    }
}

static void put_character(text *self, char c)
{
    put_text(self, &c, 1);
}

static void put_number(text *self, float value)
{
    char *to = text_room(self, UC_NUMBER_TEXT);
    if (to)
        self->length += uc_number_write(to, value);
}

/* Writes the number with 15 digits if these read back as the same number, otherwise with 17. */
static void put_real(text *self, double value)
{
    char digits[32];
    double back;
    size_t length = (size_t)snprintf(digits, sizeof digits, "%.15g", value);
    if (!uc_parse_real(&back, digits, length) || back != value)
        length = (size_t)snprintf(digits, sizeof digits, "%.17g", value);
    put_text(self, digits, length);
}

static void put_count(text *self, size_t value)
{
    char digits[24];
    put_text(self, digits, (size_t)snprintf(digits, sizeof digits, "%zu", value));
}

/* ---- rows as text ---- */

#define JSON_LINES '{'

typedef struct job {
    const uc_dataset *data;
    char delimiter; /* of CSV; 0: LIBSVM; or JSON_LINES */
    size_t rows_per_block;
    size_t first; /* row of the first block */
    text *blocks;
} job;

static const char *label_of(const uc_dataset *data, size_t row)
{
    return data->y && data->y[row] != UC_NONE ? data->classes.text[data->y[row]] : "?";
}

static void put_libsvm_pair(text *out, size_t column, float value)
{
    put_character(out, ' ');
    char *to = text_room(out, UC_NUMBER_TEXT);
    if (to)
        out->length += uc_number_write_count(to, column + 1);
    put_character(out, ':');
    put_number(out, value);
}

static void put_libsvm_row(text *out, const uc_dataset *data, size_t i)
{
    const char *label = label_of(data, i);
    put_text(out, label, strlen(label));
    if (data->bag) {
        const char *bag = data->bags.text[data->bag[i]];
        put_text(out, " bag:", 5);
        put_text(out, bag, strlen(bag));
    }
    const uc_row row = uc_matrix_row(&data->X, i);
    for (size_t j = 0; j < row.count; j++)
        if (row.columns || row.values[j] != 0.0f)
            put_libsvm_pair(out, row.columns ? row.columns[j] : j, row.values[j]);
    put_character(out, '\n');
}

/* Adds quotes if the word would be read differently without them. */
static void put_field(text *out, const char *word, char delimiter)
{
    const size_t length = strlen(word);
    const bool plain = length > 0 && !strchr(word, delimiter) && !strchr(word, '"') && word[0] != ' ' &&
                       word[length - 1] != ' ';
    if (plain) {
        put_text(out, word, length);
        return;
    }
    put_character(out, '"');
    for (const char *p = word; *p; p++) {
        if (*p == '"')
            put_character(out, '"');
        put_character(out, *p);
    }
    put_character(out, '"');
}

static void put_csv_row(text *out, const uc_dataset *data, size_t i, char delimiter)
{
    const uc_row row = uc_matrix_row(&data->X, i);
    for (size_t j = 0, next = 0; j < data->X.cols; j++) {
        if (j > 0)
            put_character(out, delimiter);
        if (!row.columns)
            put_number(out, row.values[j]);
        else if (next < row.count && row.columns[next] == j)
            put_number(out, row.values[next++]);
        else
            put_character(out, '0');
    }
    if (data->y) {
        put_character(out, delimiter);
        put_field(out, label_of(data, i), delimiter);
    }
    if (data->bag) {
        put_character(out, delimiter);
        put_field(out, data->bags.text[data->bag[i]], delimiter);
    }
    if (data->weights) {
        put_character(out, delimiter);
        put_real(out, data->weights[i]);
    }
    put_character(out, '\n');
}

/* Writes a name and its value, in quotes; null if there is no value. */
static void put_pair(text *out, const char *name, const char *value)
{
    put_text(out, ", \"", 3);
    put_text(out, name, strlen(name));
    put_text(out, "\": ", 3);
    if (!value) {
        put_text(out, "null", 4);
        return;
    }
    put_character(out, '"');
    for (const char *p = value; *p; p++) {
        if (*p == '"' || *p == '\\')
            put_character(out, '\\');
        put_character(out, *p);
    }
    put_character(out, '"');
}

/* Writes all columns, since an absent one would be a missing value. */
static void put_json_row(text *out, const uc_dataset *data, size_t i)
{
    const uc_row row = uc_matrix_row(&data->X, i);
    put_character(out, '{');
    for (size_t j = 0, next = 0; j < data->X.cols; j++) {
        if (j > 0)
            put_text(out, ", ", 2);
        put_text(out, "\"x", 2);
        put_count(out, j + 1);
        put_text(out, "\": ", 3);
        if (!row.columns)
            put_number(out, row.values[j]);
        else if (next < row.count && row.columns[next] == j)
            put_number(out, row.values[next++]);
        else
            put_character(out, '0');
    }
    if (data->y)
        put_pair(out, "label", data->y[i] == UC_NONE ? NULL : data->classes.text[data->y[i]]);
    if (data->bag)
        put_pair(out, "bag", data->bags.text[data->bag[i]]);
    if (data->weights) {
        put_text(out, ", \"weight\": ", 12);
        put_real(out, data->weights[i]);
    }
    put_text(out, "}\n", 2);
}

static uc_status format_block(size_t block, void *user)
{
    const job *self = user;
    text *out = &self->blocks[block];
    const size_t first = self->first + block * self->rows_per_block, rows = self->data->X.rows;
    const size_t last = uc_min_size(first + self->rows_per_block, rows);
    out->length = 0;
    for (size_t i = first; i < last && !out->failed; i++) {
        if (self->delimiter == JSON_LINES)
            put_json_row(out, self->data, i);
        else if (self->delimiter)
            put_csv_row(out, self->data, i, self->delimiter);
        else
            put_libsvm_row(out, self->data, i);
    }
    if (out->failed)
        return UC_ERR_NOMEM;
    return UC_OK;
}

static uc_status write_blocks(uc_sink *sink, job *self, const uc_context *context)
{
    const size_t rows = self->data->X.rows;
    const size_t row_bytes = 16 + 12 * (uc_matrix_entries(&self->data->X) / uc_max_size(rows, 1));
    self->rows_per_block = uc_max_size(BLOCK_BYTES / row_bytes, 1);
    uc_status status = UC_OK;
    while (self->first < rows && status == UC_OK) {
        const size_t left = (rows - self->first + self->rows_per_block - 1) / self->rows_per_block;
        const size_t blocks = uc_min_size(left, BLOCKS_AT_ONCE);
        status = uc_run_blocks(context, blocks, format_block, self);
        for (size_t i = 0; i < blocks && status == UC_OK; i++)
            status = uc_sink_write(sink, self->blocks[i].bytes, self->blocks[i].length);
        self->first += blocks * self->rows_per_block;
        if (status == UC_OK)
            status =
                uc_report(context, "writing", (double)uc_min_size(self->first, rows), (double)rows, NULL);
    }
    return status;
}

static uc_status write_rows(uc_sink *sink, const uc_dataset *data, char delimiter, const uc_context *context)
{
    job self = {.data = data, .delimiter = delimiter, .blocks = uc_alloc(BLOCKS_AT_ONCE, sizeof(text))};
    if (!self.blocks)
        return UC_ERR_NOMEM;
    const uc_status status = write_blocks(sink, &self, context);
    for (size_t i = 0; i < BLOCKS_AT_ONCE; i++)
        uc_free(self.blocks[i].bytes);
    uc_free(self.blocks);
    return status;
}

/* ---- LIBSVM and CSV ---- */

/* Fails if a word would not end where it should. A label with a colon would be read as a column. */
static uc_status check_libsvm_names(const uc_names *names, const char *what, const char *marks,
                                    const char *path)
{
    for (size_t i = 0; i < names->count; i++)
        if (strpbrk(names->text[i], marks) || names->text[i][0] == '\0')
            return uc_fail(UC_ERR_INVALID,
                           "%s: the %s '%s' cannot be written as LIBSVM text: it has a blank, '#' or ':'",
                           path, what, names->text[i]);
    return UC_OK;
}

static void put_column(text *out, char delimiter, bool present, const char *name)
{
    if (!present)
        return;
    put_character(out, delimiter);
    put_text(out, name, strlen(name));
}

static uc_status write_header(uc_sink *sink, const uc_dataset *data, char delimiter)
{
    text header = {0};
    if (delimiter == JSON_LINES)
        return UC_OK;
    for (size_t j = 0; j < data->X.cols; j++) {
        if (j > 0)
            put_character(&header, delimiter);
        put_character(&header, 'x');
        put_count(&header, j + 1);
    }
    put_column(&header, delimiter, data->y != NULL, "label");
    put_column(&header, delimiter, data->bag != NULL, "bag");
    put_column(&header, delimiter, data->weights != NULL, "weight");
    put_character(&header, '\n');
    uc_status status = UC_ERR_NOMEM;
    if (!header.failed)
        status = uc_sink_write(sink, header.bytes, header.length);
    uc_free(header.bytes);
    return status;
}

static uc_status check_text(const uc_dataset *data, char delimiter, const char *path)
{
    if (delimiter && data->X.cols == 0)
        return uc_fail(UC_ERR_INVALID, "%s: data without columns cannot be written as CSV or JSON lines",
                       path);
    if (delimiter)
        return UC_OK;
    const uc_status status = check_libsvm_names(&data->classes, "label", " \t\r#:", path);
    if (status != UC_OK)
        return status;
    return check_libsvm_names(&data->bags, "bag", " \t\r#", path);
}

static uc_status write_text(const uc_dataset *data, uc_output *output, char delimiter,
                            const uc_context *context)
{
    uc_status status = check_text(data, delimiter, uc_output_name(output));
    if (status != UC_OK)
        return status;
    uc_sink *sink;
    status = uc_sink_begin(&sink, output);
    if (status != UC_OK)
        return status;
    if (delimiter)
        status = write_header(sink, data, delimiter);
    if (status == UC_OK)
        status = write_rows(sink, data, delimiter, context);
    if (status == UC_OK)
        return uc_sink_end(sink);
    uc_sink_abort(sink);
    return status;
}

/* ---- NPY ---- */

static uc_status write_npy_header(uc_sink *sink, const char *type, const char *shape)
{
    /* The length of the whole header, with its newline, is a multiple of 64 bytes. */
    char line[192];
    const int length = snprintf(line + 10, sizeof line - 10,
                                "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    const size_t total = (10 + (size_t)length + 1 + 63) / 64 * 64;
    memset(line + 10 + length, ' ', total - 11 - (size_t)length);
    line[total - 1] = '\n';
    memcpy(line, "\x93NUMPY\x01\x00", 8);
    line[8] = (char)((total - 10) & 0xff);
    line[9] = (char)((total - 10) >> 8);
    return uc_sink_write(sink, line, total);
}

static uc_status write_npy_rows(uc_sink *sink, const uc_matrix *X, const uc_context *context)
{
    char shape[64];
    snprintf(shape, sizeof shape, "%zu, %zu", X->rows, X->cols);
    uc_status status = write_npy_header(sink, "<f4", shape);
    float *dense = uc_alloc(X->cols, sizeof *dense);
    if (!dense)
        status = UC_ERR_NOMEM;
    for (size_t i = 0; i < X->rows && status == UC_OK; i++) {
        const uc_row row = uc_matrix_row(X, i);
        for (size_t j = 0; row.columns && j < row.count; j++)
            dense[row.columns[j]] = row.values[j];
        status = uc_sink_write(sink, row.columns ? dense : row.values, X->cols * sizeof(float));
        for (size_t j = 0; row.columns && j < row.count; j++)
            dense[row.columns[j]] = 0.0f;
        if (status == UC_OK && i % 4096 == 0)
            status = uc_report(context, "writing", (double)i, (double)X->rows, NULL);
    }
    uc_free(dense);
    return status;
}

/* The characters of valid UTF-8; returns their number. `out` may be NULL. */
static size_t decode(uint32_t *out, const char *utf8)
{
    size_t count = 0;
    for (const unsigned char *p = (const unsigned char *)utf8; *p; count++) {
        const size_t length = 1 + (size_t)(*p >= 0x80) + (size_t)(*p >= 0xe0) + (size_t)(*p >= 0xf0);
        uint32_t c = *p;
        if (length > 1)
            c &= 0x7fu >> length;
        for (size_t i = 1; i < length && p[i]; i++)
            c = c << 6 | (p[i] & 0x3f);
        for (size_t i = 0; i < length && *p; i++)
            p++;
        if (out)
            out[count] = c;
    }
    return count;
}

static uc_status write_npy_labels(uc_sink *sink, const uc_dataset *data)
{
    size_t width = 1;
    for (size_t k = 0; k < data->classes.count; k++) {
        width = uc_max_size(width, decode(NULL, data->classes.text[k]));
    }
    char type[32], shape[32];
    snprintf(type, sizeof type, "<U%zu", width);
    snprintf(shape, sizeof shape, "%zu,", data->X.rows);
    uc_status status = write_npy_header(sink, type, shape);
    uint32_t *item = uc_alloc(width, sizeof *item);
    if (!item)
        status = UC_ERR_NOMEM;
    for (size_t i = 0; i < data->X.rows && status == UC_OK; i++) {
        memset(item, 0, width * sizeof *item);
        decode(item, label_of(data, i));
        status = uc_sink_write(sink, item, width * sizeof *item);
    }
    uc_free(item);
    return status;
}

/* Ends the sink if `status` is UC_OK, otherwise aborts it; returns the status of both. */
static uc_status end_sink(uc_sink *sink, uc_status status)
{
    if (status == UC_OK)
        return uc_sink_end(sink);
    uc_sink_abort(sink);
    return status;
}

static uc_status write_npy(const uc_dataset *data, uc_output *output, uc_output *labels,
                           const uc_context *context)
{
    if (labels && !data->y)
        return uc_fail(UC_ERR_INVALID, "%s: the data have no labels", uc_output_name(labels));
    uc_sink *sink;
    uc_status status = uc_sink_begin(&sink, output);
    if (status != UC_OK)
        return status;
    status = end_sink(sink, write_npy_rows(sink, &data->X, context));
    if (status != UC_OK || !labels)
        return status;
    status = uc_sink_begin(&sink, labels);
    if (status != UC_OK)
        return status;
    return end_sink(sink, write_npy_labels(sink, data));
}

/* ---- UCD ---- */

static json_t *names_to_json(const uc_names *names)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < names->count; i++)
        if (json_array_append_new(list, json_string(names->text[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

static uc_status write_arrays(const uc_dataset *data, const uc_matrix *X, uc_output *output)
{
    const bool sparse = uc_matrix_is_sparse(X);
    const size_t entries = uc_matrix_entries(X);
    size_t values = entries;
    if (!sparse)
        values = X->rows * X->stride;
    uc_array arrays[7] = {{"values", UC_ARRAY_F32, X->values, values}};
    size_t count = 1;
    if (sparse) {
        arrays[count++] = (uc_array){"offsets", UC_ARRAY_U64, X->offsets, X->rows + 1};
        arrays[count++] = (uc_array){"columns", UC_ARRAY_U32, X->columns, values};
    }
    if (data->y)
        arrays[count++] = (uc_array){"y", UC_ARRAY_U32, data->y, X->rows};
    if (data->bag)
        arrays[count++] = (uc_array){"bag", UC_ARRAY_U32, data->bag, X->rows};
    if (data->weights)
        arrays[count++] = (uc_array){"weights", UC_ARRAY_F64, data->weights, X->rows};
    if (data->soft)
        arrays[count++] = (uc_array){"soft", UC_ARRAY_F64, data->soft, X->rows * data->classes.count};
    json_t *header = json_pack("{s:I, s:I, s:b, s:I, s:I, s:o, s:o}", "rows", (json_int_t)X->rows, "cols",
                               (json_int_t)X->cols, "sparse", (int)sparse, "stride", (json_int_t)X->stride,
                               "entries", (json_int_t)entries, "classes", names_to_json(&data->classes),
                               "bags", names_to_json(&data->bags));
    if (!header)
        return uc_fail(UC_ERR_NOMEM, "%s: not enough memory for the names of classes and bags",
                       uc_output_name(output));
    const uc_status status =
        uc_container_write_to(output, UC_DATA_MAGIC, UC_DATA_VERSION, header, arrays, count);
    json_decref(header);
    return status;
}

static bool is_even(const uc_matrix *X)
{
    if (uc_matrix_is_sparse(X))
        return X->offsets[0] == 0;
    return X->stride == uc_matrix_stride(X->cols);
}

/* Arrays that a caller lends may be less regular than the library's own; such arrays are copied first. */
static uc_status write_ucd(const uc_dataset *data, uc_output *output, const uc_context *context)
{
    const char *path = uc_output_name(output);
    if (uc_sink_stem(path) != strlen(path))
        return uc_fail(UC_ERR_INVALID, "%s: a .ucd file is mapped and cannot be packed", path);
    const uc_matrix *X = &data->X;
    if (X->rows > 0 && X->cols == 0 && !uc_matrix_is_sparse(X) && !data->y && !data->bag)
        return uc_fail(UC_ERR_INVALID,
                       "%s: %zu rows without columns, labels or bags cannot be written as .ucd", path,
                       X->rows);
    if (is_even(X))
        return write_arrays(data, X, output);
    uc_matrix copy;
    uc_status status = uc_matrix_subset(&copy, X, NULL, 0, context);
    if (status == UC_OK) {
        status = write_arrays(data, &copy, output);
        uc_matrix_free(&copy);
    }
    return status;
}

/* ---- choosing the format ---- */

static const struct {
    const char *ending;
    uc_format format;
} endings[] = {
    {".svm", UC_FORMAT_LIBSVM},   {".libsvm", UC_FORMAT_LIBSVM}, {".svmlight", UC_FORMAT_LIBSVM},
    {".txt", UC_FORMAT_LIBSVM},   {".csv", UC_FORMAT_CSV},       {".tsv", UC_FORMAT_CSV},
    {".npy", UC_FORMAT_NPY},      {".ucd", UC_FORMAT_UCD},       {".jsonl", UC_FORMAT_JSONL},
    {".ndjson", UC_FORMAT_JSONL},
};

static bool path_ends_with(const char *path, const char *ending)
{
    const size_t stem = uc_sink_stem(path), length = strlen(ending);
    return stem > length && strncmp(path + stem - length, ending, length) == 0;
}

uc_status uc_format_of_path(uc_format *out, const char *path)
{
    if (strcmp(path, "-") == 0) {
        *out = UC_FORMAT_LIBSVM;
        return UC_OK;
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (path_ends_with(path, endings[i].ending)) {
            *out = endings[i].format;
            return UC_OK;
        }
    return uc_fail(UC_ERR_INVALID,
                   "%s: its ending is none of .svm .libsvm .txt .csv .tsv .npy .ucd .jsonl; choose a format",
                   path);
}

uc_status uc_dataset_write_to(const uc_dataset *self, uc_output *output, uc_format format, uc_output *labels,
                              const uc_context *context)
{
    const char *path = uc_output_name(output);
    uc_status status = UC_OK;
    if (format == UC_FORMAT_AUTO)
        status = uc_format_of_path(&format, path);
    if (status != UC_OK)
        return status;
    if (labels && format != UC_FORMAT_NPY)
        return uc_fail(UC_ERR_INVALID, "%s: labels go to a file of their own with NPY only",
                       uc_output_name(labels));
    if (self->weights && format != UC_FORMAT_CSV && format != UC_FORMAT_UCD && format != UC_FORMAT_JSONL)
        uc_warn(context, "%s: the format has no place for weights; they are left out", path);
    if (self->soft && format != UC_FORMAT_UCD)
        uc_warn(context, "%s: only .ucd has a place for soft labels; they are left out", path);
    switch (format) {
    case UC_FORMAT_CSV:
        return write_text(self, output, path_ends_with(path, ".tsv") ? '\t' : ',', context);
    case UC_FORMAT_JSONL:
        return write_text(self, output, JSON_LINES, context);
    case UC_FORMAT_NPY:
        return write_npy(self, output, labels, context);
    case UC_FORMAT_UCD:
        return write_ucd(self, output, context);
    default:
        return write_text(self, output, '\0', context);
    }
}

/* If this fails, files that were opened are in `files`. */
static uc_status open_outputs(uc_output *files[2], const char *path, const char *labels)
{
    uc_status status = uc_output_open(&files[0], path);
    if (status != UC_OK || !labels)
        return status;
    status = uc_output_open(&files[1], labels);
    if (status == UC_OK && uc_output_is_same(files[0], files[1]))
        return uc_fail(UC_ERR_INVALID, "%s: data and labels cannot go to the same file", labels);
    return status;
}

uc_status uc_dataset_write(const uc_dataset *self, const char *path, uc_format format, const char *labels,
                           const uc_context *context)
{
    uc_output *files[2] = {NULL, NULL};
    uc_status status = UC_OK;
    if (format == UC_FORMAT_AUTO)
        status = uc_format_of_path(&format, path);
    if (status != UC_OK)
        return status;
    status = open_outputs(files, path, labels);
    if (status == UC_OK)
        status = uc_dataset_write_to(self, files[0], format, files[1], context);
    if (status == UC_OK)
        return uc_output_commit_all(files, labels ? 2 : 1, false);
    uc_output_abort(files[0]);
    uc_output_abort(files[1]);
    return status;
}
