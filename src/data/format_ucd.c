/*
 * UCD: the arrays of a data set in a container file (container.h), which is mapped and not read. The mapping
 * is private: a change to the data set does not affect the file.
 *
 *   header   {"rows", "cols", "sparse", "stride", "entries", "classes": [...], "bags": [...]};
 *            sparse has stride 0
 *   arrays   values; offsets and columns if sparse; y, bag, weights and soft if there are any
 *
 * Weights and soft labels are copied: they remain when the file is unmapped.
 *
 * Everything that the rest of the library relies on is checked in one pass over the arrays, or by the caller
 * for the rows that it is about to use (uc_reader_check). The checksum is not verified: detecting damaged
 * pages is the disk's task, and it would take a second pass over the arrays, while a single pass is all that
 * reading costs.
 */
#include <math.h>
#include <string.h>

#include "data/container.h"
#include "data/mapping.h"
#include "data/marks.h"
#include "data/reader.h"
#include "linalg/linalg.h"

#define ROWS_PER_BLOCK ((size_t)4096)

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
        memcpy(out, &data, sizeof data); /* the mapping is private, so the arrays may be written to */
    return status;
}

static uc_status read_sizes(uc_matrix *X, size_t *entries, const uc_container *file)
{
    const struct {
        size_t *size;
        const char *name;
    } sizes[] = {{&X->rows, "rows"}, {&X->cols, "cols"}, {&X->stride, "stride"}, {entries, "entries"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uc_status status = read_size(sizes[i].size, file, sizes[i].name);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

/* *values becomes the number of values that the file must have. */
static bool is_shape_possible(size_t *values, const uc_matrix *X, bool sparse, size_t entries)
{
    *values = entries;
    if (X->cols > UINT32_MAX)
        return false;
    if (sparse)
        return X->stride == 0;
    return X->stride >= X->cols && X->stride % 16 == 0 && uc_size_mul(values, X->rows, X->stride);
}

static uc_status read_matrix(uc_matrix *X, size_t *entries, const uc_container *file)
{
    const bool sparse = json_is_true(json_object_get(file->header, "sparse"));
    size_t values;
    uc_status status = read_sizes(X, entries, file);
    if (status != UC_OK)
        return status;
    if (!is_shape_possible(&values, X, sparse, *entries))
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: rows of %zu columns every %zu values", file->source,
                       X->cols, X->stride);
    status = read_array(&X->values, file, "values", UC_ARRAY_F32, values);
    if (status == UC_OK && sparse)
        status = read_array(&X->offsets, file, "offsets", UC_ARRAY_U64, X->rows + 1);
    if (status == UC_OK && sparse)
        status = read_array(&X->columns, file, "columns", UC_ARRAY_U32, values);
    return status;
}

static uc_status read_labels(uc_dataset *out, const uc_container *file)
{
    const uc_matrix *X = &out->X;
    uc_status status = UC_OK;
    if (uc_container_has(file, "y"))
        status = read_array(&out->y, file, "y", UC_ARRAY_U32, X->rows);
    if (status == UC_OK && uc_container_has(file, "bag"))
        status = read_array(&out->bag, file, "bag", UC_ARRAY_U32, X->rows);
    if (status != UC_OK)
        return status;
    /* All arrays except these are known to be in the file, which bounds the number of rows by its bytes. */
    if (X->rows > 0 && !X->offsets && X->stride == 0 && !out->y && !out->bag)
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: %zu rows without columns, labels or bags", file->source,
                       X->rows);
    return UC_OK;
}

static uc_status copy_reals(double **out, const uc_container *file, const char *name, size_t count)
{
    const double *values;
    if (!uc_container_has(file, name))
        return UC_OK;
    const uc_status status = read_array(&values, file, name, UC_ARRAY_F64, count);
    if (status != UC_OK)
        return status;
    *out = uc_alloc(count, sizeof **out);
    if (!*out)
        return UC_ERR_NOMEM;
    memcpy(*out, values, count * sizeof **out);
    return UC_OK;
}

/* Reads weights and soft labels, for the rows of the matrix and the reader's classes. */
static uc_status read_weights(uc_dataset *out, const uc_reader *reader, const uc_container *file)
{
    size_t cells;
    if (!uc_size_mul(&cells, out->X.rows, reader->classes.count))
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: %zu rows of %zu classes", file->source, out->X.rows,
                       reader->classes.count);
    const uc_status status = copy_reals(&out->weights, file, "weights", out->X.rows);
    if (status != UC_OK)
        return status;
    return copy_reals(&out->soft, file, "soft", cells);
}

static uc_status read_header(uc_dataset *out, size_t *entries, uc_reader *reader, const uc_container *file)
{
    uc_status status = read_matrix(&out->X, entries, file);
    if (status != UC_OK)
        return status;
    status = read_labels(out, file);
    if (status == UC_OK)
        status = read_names(&reader->classes, file, "classes");
    if (status == UC_OK)
        status = read_names(&reader->bags, file, "bags");
    if (status != UC_OK)
        return status;
    if ((!out->y && reader->classes.count > 0) || (!out->bag && reader->bags.count > 0))
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: it names classes or bags, but no example's",
                       file->source);
    return read_weights(out, reader, file);
}

/* ---- the arrays ---- */

typedef struct check {
    const uc_dataset *data;
    size_t first, last; /* the rows of check_job */
    size_t entries, classes, bags;
    const char *source;
} check;

static uc_status fail_row(const check *self, size_t row, const char *what)
{
    return uc_fail(UC_ERR_FORMAT, "%s: damaged: row %zu has %s", self->source, row + 1, what);
}

#define LANES 8
typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));

UC_INLINE bool are_none_set(const lanes *bits)
{
    uint64_t halves[LANES / 2];
    memcpy(halves, bits, sizeof halves);
    return (halves[0] | halves[1] | halves[2] | halves[3]) == 0;
}

/* Whether every column is above the one before it. */
UC_INLINE bool do_ascend(const uint32_t *columns, size_t count)
{
    lanes bad = {0};
    size_t j = 1;
    for (; j + LANES <= count; j += LANES) {
        lanes before, now;
        memcpy(&before, columns + j - 1, sizeof before);
        memcpy(&now, columns + j, sizeof now);
        bad |= (lanes)(before >= now);
    }
    bool good = are_none_set(&bad);
    for (; j < count; j++)
        good &= columns[j - 1] < columns[j];
    return good;
}

UC_INLINE uc_status check_sparse_row(const check *self, size_t i)
{
    const uc_matrix *X = &self->data->X;
    if (X->offsets[i] > X->offsets[i + 1] || X->offsets[i + 1] > self->entries)
        return fail_row(self, i, "no place in the file");
    const uc_row row = uc_matrix_row(X, i);
    if (row.count > 0 && (row.columns[row.count - 1] >= X->cols || !do_ascend(row.columns, row.count)))
        return fail_row(self, i, "columns that do not ascend or are too large");
    if (!uc_are_finite(row.values, row.count))
        return fail_row(self, i, "a value that is not a finite number");
    return UC_OK;
}

/* Whether the `padding` values that fill up each row are zero. The last vector of a row may begin with values
 * of the row itself. */
UC_INLINE bool is_padding_zero(const uc_matrix *X, size_t first, size_t last, size_t padding)
{
    const uint32_t without_sign = 0x7fffffffu;
    uint32_t kept[LANES];
    lanes bits, mask, set = {0};
    for (size_t lane = 0; lane < LANES; lane++)
        kept[lane] = lane + padding >= LANES ? without_sign : 0;
    memcpy(&mask, kept, sizeof mask);
    for (; first < last; first++) {
        const float *end = X->values + (first + 1) * X->stride;
        for (const float *at = end - padding; at + LANES < end; at += LANES) {
            memcpy(&bits, at, sizeof bits);
            set |= bits & without_sign;
        }
        memcpy(&bits, end - LANES, sizeof bits);
        set |= bits & mask;
    }
    return are_none_set(&set);
}

UC_INLINE bool are_dense_rows_good(const uc_matrix *X, size_t first, size_t last)
{
    const size_t padding = X->stride - X->cols;
    if (!uc_are_finite(X->values + first * X->stride, (last - first) * X->stride))
        return false;
    return padding == 0 || is_padding_zero(X, first, last, padding);
}

UC_INLINE uc_status check_features(const check *self, size_t first, size_t last)
{
    const uc_matrix *X = &self->data->X;
    uc_status status = UC_OK;
    if (!uc_matrix_is_sparse(X)) {
        if (are_dense_rows_good(X, first, last))
            return UC_OK;
        while (first + 1 < last && are_dense_rows_good(X, first, first + 1))
            first++;
        return fail_row(self, first, "a value that is not a finite number");
    }
    for (size_t i = first; i < last && status == UC_OK; i++)
        status = check_sparse_row(self, i);
    return status;
}

UC_MARKS_FAST static uc_status check_features_fast(const check *self, size_t first, size_t last)
{
    return check_features(self, first, last);
}

static bool is_weighted_well(const check *self, size_t i)
{
    const uc_dataset *data = self->data;
    const double *soft = data->soft ? data->soft + i * self->classes : NULL;
    double sum = 1.0;
    if (data->weights && !(data->weights[i] >= 0.0 && isfinite(data->weights[i])))
        return false;
    for (size_t k = 0; soft && k < self->classes; k++) {
        if (!(soft[k] >= 0.0))
            return false;
        sum -= soft[k];
    }
    return !soft || fabs(sum) <= 1e-9;
}

/* Checks the other properties of a row. */
static uc_status check_row(const check *self, size_t i)
{
    const uc_dataset *data = self->data;
    if (data->y && data->y[i] != UC_NONE && data->y[i] >= self->classes)
        return fail_row(self, i, "a label that is not in the list of classes");
    if (data->bag && data->bag[i] >= self->bags)
        return fail_row(self, i, "a bag that is not in the list of bags");
    if (!is_weighted_well(self, i))
        return fail_row(self, i, "a weight or soft label that is none");
    return UC_OK;
}

static uc_status check_rows(size_t first, size_t last, void *user)
{
    const check *self = user;
    uc_status status;
    if (uc_marks_are_fast())
        status = check_features_fast(self, first, last);
    else
        status = check_features(self, first, last);
    for (size_t i = first; i < last && status == UC_OK; i++)
        status = check_row(self, i);
    return status;
}

static uc_status check_job(size_t block, void *user)
{
    const check *self = user;
    const uc_range range = uc_block_range(block, self->last - self->first, ROWS_PER_BLOCK);
    return check_rows(self->first + range.first, self->first + range.last, user);
}

static uc_status check_now(check *self, const uc_context *context)
{
    return uc_run_blocks(context, uc_block_count(self->last - self->first, ROWS_PER_BLOCK), check_job, self);
}

/* The reader's caller will check each row before it uses it. */
static uc_status check_later(uc_reader *reader, const check *self)
{
    check *state = uc_alloc(1, sizeof *state);
    if (!state)
        return UC_ERR_NOMEM;
    *state = *self;
    state->data = &reader->rows;
    reader->state = state;
    reader->check = (uc_row_check){check_rows, state};
    return UC_OK;
}

/* ---- a range of the rows ---- */

/* The row after byte `at` of the file, assuming rows of equal size. If bytes are divided evenly
 * (uc_even_start), so are the rows, as long as a row has more bytes than there are processes. */
static size_t row_at(const uc_reader *reader, size_t rows, uint64_t at)
{
    const uint64_t bytes = uc_input_total(reader->input);
    if (at == 0)
        return 0;
    if (at >= bytes)
        return rows;
    return (size_t)((double)rows * ((double)(at + 1) / (double)bytes));
}

/* Keeps only a copy of rows first .. last-1, so that the file can be unmapped. */
static uc_status keep_rows(uc_dataset *data, const uc_reader *reader, size_t first, size_t last)
{
    uc_dataset part = *data, kept = {0};
    part.X.rows = last - first;
    if (part.X.offsets)
        part.X.offsets += first;
    else
        part.X.values += first * part.X.stride;
    if (part.y)
        part.y += first;
    if (part.bag)
        part.bag += first;
    if (part.weights)
        part.weights += first;
    part.classes = reader->classes; /* borrowed, for the width of the soft labels */
    if (part.soft)
        part.soft += first * part.classes.count;
    const uc_status status = uc_dataset_subset(&kept, &part, NULL, 0, &reader->context);
    if (status != UC_OK)
        return status;
    uc_names_free(&kept.classes);
    uc_dataset_free(data);
    *data = kept;
    return UC_OK;
}

/* ---- the format's functions ---- */

/* Gets and checks the arrays of the mapped file, or of the reader's range of it. */
static uc_status read_arrays(uc_dataset *data, uc_reader *self, const uc_container *file)
{
    const uc_matrix *X = &data->X;
    size_t entries = 0;
    uc_status status = read_header(data, &entries, self, file);
    if (status != UC_OK)
        return status;
    if (X->offsets && (X->offsets[0] != 0 || X->offsets[X->rows] != entries))
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: its rows do not fill the file", file->source);
    check rows = {data, 0, X->rows, entries, self->classes.count, self->bags.count, file->source};
    const bool cut = self->range.to > 0;
    if (self->settings.check_later && !self->whole && !cut)
        return check_later(self, &rows);
    if (cut) {
        rows.first = row_at(self, X->rows, self->range.from);
        rows.last = row_at(self, X->rows, self->range.to);
    }
    status = check_now(&rows, &self->context);
    if (status != UC_OK || !cut)
        return status;
    return keep_rows(data, self, rows.first, rows.last);
}

static uc_status begin(uc_reader *self)
{
    uc_dataset data = {0};
    uc_status status = uc_mapping_open(&data.mapping, self->input, &self->context);
    if (status != UC_OK)
        return status;
    uc_container file;
    status = uc_container_open(&file, data.mapping->bytes, data.mapping->length, UC_DATA_MAGIC,
                               UC_DATA_VERSION, false, uc_input_name(self->input));
    if (status == UC_OK) {
        status = read_arrays(&data, self, &file);
        uc_container_close(&file);
    }
    if (status != UC_OK) {
        uc_dataset_free(&data);
        return status;
    }
    self->rows = data;
    self->rows.X.rows = 0; /* until they are read */
    self->row_capacity = data.X.rows;
    self->sparse = data.X.offsets != NULL;
    self->has_labels = data.y != NULL;
    self->has_bags = data.bag != NULL;
    self->has_weights = data.weights != NULL;
    return UC_OK;
}

/* Returns all rows at once: they are in the file, not in memory. */
static uc_status next(uc_reader *self)
{
    self->rows.X.rows = self->row_capacity;
    self->ended = true;
    return UC_OK;
}

static void end(uc_reader *self)
{
    uc_free(self->state);
}

const uc_data_format uc_format_ucd = {"ucd", begin, next, end, NULL};
