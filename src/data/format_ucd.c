/*
 * UCD: the arrays of a data set in a container file (container.h), which is mapped and not read. The mapping is private:
 * a change to the data set does not reach the file.
 *
 *   header   {"rows", "cols", "sparse", "stride", "entries", "classes": [...], "bags": [...]}; sparse has stride 0
 *   arrays   values; offsets and columns when sparse; y and bag when there are any
 *
 * Everything that the rest of the library relies on is checked in one pass over the arrays. The checksum is not: that
 * the pages of the file are there is the disk's business, and a pass over the arrays is all that reading costs.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "data/container.h"
#include "data/reader.h"

#define ROWS_PER_BLOCK ((size_t)4096)

struct uc_mapping {
    void *bytes;
    size_t length;
    bool mapped; /* else allocated */
};

void uc_mapping_free(uc_mapping *self)
{
    if (!self)
        return;
    if (self->mapped)
        munmap(self->bytes, self->length);
    else
        uc_free(self->bytes);
    uc_free(self);
}

bool uc_mapping_is_file(const uc_mapping *self)
{
    return self && self->mapped;
}

static uc_status map_input(uc_mapping **out, uc_input *input, const uc_context *context)
{
    uc_mapping *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    uc_status status = UC_OK;
    const int file = uc_input_file(input);
    const uint64_t total = uc_input_total(input);
    if (file >= 0 && total > 0 && total <= SIZE_MAX) {
        self->length = (size_t)total;
        self->bytes = mmap(NULL, self->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
        self->mapped = self->bytes != MAP_FAILED;
    }
    if (!self->mapped) { /* a pipe, an archive, or a file system that cannot map */
        char *bytes = NULL;
        status = uc_input_read_all(&bytes, &self->length, input, 0, context);
        self->bytes = bytes;
    }
    if (status != UC_OK)
        uc_mapping_free(self);
    else
        *out = self;
    return status;
}

/* ---- the header ---- */

static uc_status read_size(size_t *out, const uc_container *file, const char *name)
{
    const json_t *value = json_object_get(file->header, name);
    const json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || (uint64_t)number > SIZE_MAX / 64)
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: its header has no usable '%s'", file->source, name);
    *out = (size_t)number;
    return UC_OK;
}

static uc_status read_names(uc_names *out, const uc_container *file, const char *key)
{
    const json_t *list = json_object_get(file->header, key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *text = json_string_value(item);
        const size_t length = json_string_length(item);
        uint32_t index = UC_NONE;
        if (!text || length == 0 || !uc_is_name(text, length))
            return uc_fail(UC_ERR_FORMAT, "%s: damaged: %s has an entry that is not a name", file->source,
                           key);
        const uc_status status = uc_names_add(&index, out, text, length);
        if (status != UC_OK)
            return status;
        if (index != i)
            return uc_fail(UC_ERR_FORMAT, "%s: damaged: %s has '%s' twice", file->source, key, text);
    }
    return UC_OK;
}

static uc_status read_array(void *out, const uc_container *file, const char *name, uc_array_type type,
                            size_t count)
{
    const void *data;
    const uc_status status = uc_container_array(&data, file, name, type, count);
    if (status == UC_OK)
        memcpy(out, &data, sizeof data); /* the mapping is private: the arrays may be written to */
    return status;
}

static uc_status read_header(uc_dataset *out, size_t *entries, const uc_container *file)
{
    uc_matrix *X = &out->X;
    uc_status status = read_size(&X->rows, file, "rows");
    if (status == UC_OK)
        status = read_size(&X->cols, file, "cols");
    if (status == UC_OK)
        status = read_size(&X->stride, file, "stride");
    if (status == UC_OK)
        status = read_size(entries, file, "entries");
    if (status != UC_OK)
        return status;
    const bool sparse = json_is_true(json_object_get(file->header, "sparse"));
    size_t values = *entries;
    if (X->cols > UINT32_MAX ||
        (sparse ? X->stride != 0
                : X->stride < X->cols || X->stride % 16 || !uc_size_mul(&values, X->rows, X->stride)))
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: rows of %zu columns every %zu values", file->source,
                       X->cols, X->stride);
    status = read_array(&X->values, file, "values", UC_ARRAY_F32, values);
    if (status == UC_OK && sparse)
        status = read_array(&X->offsets, file, "offsets", UC_ARRAY_U64, X->rows + 1);
    if (status == UC_OK && sparse)
        status = read_array(&X->columns, file, "columns", UC_ARRAY_U32, values);
    if (status == UC_OK && uc_container_has(file, "y"))
        status = read_array(&out->y, file, "y", UC_ARRAY_U32, X->rows);
    if (status == UC_OK && uc_container_has(file, "bag"))
        status = read_array(&out->bag, file, "bag", UC_ARRAY_U32, X->rows);
    /* Every array but these has been found to be in the file, and so the rows are no more than its bytes. */
    if (status == UC_OK && X->rows > 0 && !sparse && X->stride == 0 && !out->y && !out->bag)
        status = uc_fail(UC_ERR_FORMAT, "%s: damaged: %zu rows without columns, labels or bags", file->source,
                         X->rows);
    return status;
}

/* ---- the arrays ---- */

typedef struct check {
    const uc_dataset *data;
    size_t first, last; /* rows that are looked at */
    size_t entries, classes, bags;
    const char *source;
} check;

static uc_status fail_row(const check *self, size_t row, const char *what)
{
    return uc_fail(UC_ERR_FORMAT, "%s: damaged: row %zu has %s", self->source, row + 1, what);
}

static uc_status check_sparse_row(const check *self, size_t i)
{
    const uc_matrix *X = &self->data->X;
    if (X->offsets[i] > X->offsets[i + 1] || X->offsets[i + 1] > self->entries)
        return fail_row(self, i, "no place in the file");
    const uc_row row = uc_matrix_row(X, i);
    bool good = true;
    for (size_t j = 0; j < row.count; j++)
        good &= row.columns[j] < X->cols && (j == 0 || row.columns[j - 1] < row.columns[j]);
    if (!good)
        return fail_row(self, i, "columns that do not ascend or are too large");
    for (size_t j = 0; j < row.count; j++)
        good &= isfinite(row.values[j]) != 0;
    return good ? UC_OK : fail_row(self, i, "a value that is not a finite number");
}

static uc_status check_dense_row(const check *self, size_t i)
{
    const uc_matrix *X = &self->data->X;
    const float *values = X->values + i * X->stride;
    bool good = true;
    for (size_t j = 0; j < X->cols; j++)
        good &= isfinite(values[j]) != 0;
    for (size_t j = X->cols; j < X->stride; j++)
        good &= values[j] == 0.0f;
    return good ? UC_OK : fail_row(self, i, "a value that is not a finite number");
}

static uc_status check_job(size_t block, void *user)
{
    const check *self = user;
    const uc_dataset *data = self->data;
    const size_t first = self->first + block * ROWS_PER_BLOCK;
    const size_t last = self->last - first < ROWS_PER_BLOCK ? self->last : first + ROWS_PER_BLOCK;
    uc_status status = UC_OK;
    for (size_t i = first; i < last && status == UC_OK; i++) {
        status = data->X.offsets ? check_sparse_row(self, i) : check_dense_row(self, i);
        if (status == UC_OK && data->y && data->y[i] != UC_NONE && data->y[i] >= self->classes)
            status = fail_row(self, i, "a label that is not in the list of classes");
        if (status == UC_OK && data->bag && data->bag[i] >= self->bags)
            status = fail_row(self, i, "a bag that is not in the list of bags");
    }
    return status;
}

static uc_status check_arrays(const uc_reader *reader, const uc_dataset *data, size_t entries, size_t first,
                              size_t last)
{
    check self = {
        data, first, last, entries, reader->classes.count, reader->bags.count, uc_input_name(reader->input)};
    const uc_matrix *X = &data->X;
    if (X->offsets && (X->offsets[0] != 0 || X->offsets[X->rows] != entries))
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: its rows do not fill the file", self.source);
    return uc_run_blocks(&reader->context, (last - first + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK, check_job,
                         &self);
}

/* ---- a range of the rows ---- */

/* The row that stands behind byte `at` of the file if rows fill it evenly. Where bytes are cut evenly (uc_even_start), so are
 * the rows, as long as a row has more bytes than there are processes. */
static size_t row_at(const uc_reader *reader, size_t rows, uint64_t at)
{
    const uint64_t bytes = uc_input_total(reader->input);
    if (at == 0 || at >= bytes)
        return at ? rows : 0;
    return (size_t)((double)rows * ((double)(at + 1) / (double)bytes));
}

/* Only rows first .. last-1, as a copy; the mapping is given back. */
static uc_status keep_rows(uc_dataset *data, size_t first, size_t last, const uc_context *context)
{
    uc_dataset part = *data, kept = {0};
    part.X.rows = last - first;
    part.X.values += part.X.offsets ? 0 : first * part.X.stride;
    part.X.offsets += part.X.offsets ? first : 0;
    part.y += part.y ? first : 0;
    part.bag += part.bag ? first : 0;
    const uc_status status = uc_dataset_subset(&kept, &part, NULL, 0, context);
    if (status != UC_OK)
        return status;
    uc_mapping_free(data->mapping);
    *data = kept;
    return UC_OK;
}

/* ---- the format's functions ---- */

static uc_status begin(uc_reader *self)
{
    uc_dataset data = {0};
    uc_status status = map_input(&data.mapping, self->input, &self->context);
    if (status != UC_OK)
        return status;
    uc_container file = {0};
    size_t entries = 0;
    status = uc_container_open(&file, data.mapping->bytes, data.mapping->length, UC_DATA_MAGIC,
                               UC_DATA_VERSION, false, uc_input_name(self->input));
    if (status == UC_OK)
        status = read_header(&data, &entries, &file);
    if (status == UC_OK)
        status = read_names(&self->classes, &file, "classes");
    if (status == UC_OK)
        status = read_names(&self->bags, &file, "bags");
    if (status == UC_OK && ((!data.y && self->classes.count > 0) || (!data.bag && self->bags.count > 0)))
        status =
            uc_fail(UC_ERR_FORMAT, "%s: damaged: it names classes or bags, but no example's", file.source);
    const bool whole = !self->range.to;
    const size_t first = whole ? 0 : row_at(self, data.X.rows, self->range.from);
    const size_t last = whole ? data.X.rows : row_at(self, data.X.rows, self->range.to);
    if (status == UC_OK)
        status = check_arrays(self, &data, entries, first, last);
    if (status == UC_OK && !whole)
        status = keep_rows(&data, first, last, &self->context);
    if (file.header)
        uc_container_close(&file);
    if (status != UC_OK) {
        uc_mapping_free(data.mapping);
        return status;
    }
    self->rows = data;
    self->rows.X.rows = 0; /* until they are asked for */
    self->row_capacity = data.X.rows;
    self->sparse = data.X.offsets != NULL;
    self->has_labels = data.y != NULL;
    self->has_bags = data.bag != NULL;
    return UC_OK;
}

/* All rows at once: they are in the file, not in memory. */
static uc_status next(uc_reader *self)
{
    self->rows.X.rows = self->row_capacity;
    self->ended = true;
    return UC_OK;
}

static void end(uc_reader *self)
{
    (void)self;
}

const uc_data_format uc_format_ucd = {"ucd", begin, next, end, NULL};
