/*
 * NPY: a matrix of numbers, and its labels in a separate file. Rows are dense. A matrix in C order is read
 * some MB at a time; one in Fortran order, column after column, can only be returned as a whole.
 */
#include <math.h>
#include <string.h>

#include "data/npy.h"
#include "data/reader.h"

#define BLOCK_BYTES ((size_t)2 << 20)

typedef struct npy_state {
    uc_npy array;
    size_t rows_done;
    uint32_t *labels;     /* of all rows; NULL: there are none */
    unsigned char *bytes; /* BLOCK_BYTES, or one row if that is larger */
    size_t rows_per_block;
    float *column; /* Fortran order: values of a part of a column */
} npy_state;

/* Users may have labels in CSV, which fails here. */
static uc_status check_is_npy(uc_input *input)
{
    const char *bytes;
    size_t length;
    const uc_status status = uc_input_peek(&bytes, &length, input);
    if (status != UC_OK || uc_npy_begins(bytes, length))
        return status;
    return uc_fail(UC_ERR_FORMAT, "%s: {labels} takes an NPY file, as numpy.save writes it, and this is none",
                   uc_input_name(input));
}

static uc_status read_labels(uc_reader *self)
{
    npy_state *state = self->state;
    uc_input *input;
    uc_status status = uc_input_open(&input, self->settings.labels);
    if (status != UC_OK)
        return status;
    uc_npy array;
    status = check_is_npy(input);
    if (status == UC_OK)
        status = uc_npy_read_header(&array, input, 1, "labels");
    if (status == UC_OK && array.shape[0] != state->array.shape[0])
        status = uc_fail(UC_ERR_FORMAT, "%s has %zu labels, but %s has %zu rows", uc_input_name(input),
                         array.shape[0], uc_input_name(self->input), state->array.shape[0]);
    if (status == UC_OK)
        status = uc_npy_read_labels(&state->labels, &self->classes, &array, input);
    uc_input_close(input);
    return status;
}

/* ---- rows ---- */

static uc_status fail_value(const uc_reader *self, const uc_npy *array, const void *item, size_t row,
                            size_t column)
{
    char text[32];
    const size_t length = uc_npy_print(text, array, item, 0);
    const bool finite = !memchr(text, 'n', length);
    return uc_fail(UC_ERR_FORMAT, "%s: row %zu, column %zu: %.*s is %s", uc_input_name(self->input), row + 1,
                   column + 1, (int)length, text,
                   finite ? "beyond the range of float" : "not a finite number");
}

static void add_labels(uc_reader *self, size_t first, size_t count)
{
    const npy_state *state = self->state;
    if (state->labels && count)
        memcpy(self->rows.y + self->rows.X.rows, state->labels + first, count * sizeof *state->labels);
}

static uc_status next_rows(uc_reader *self, size_t count)
{
    npy_state *state = self->state;
    uc_matrix *X = &self->rows.X;
    uc_status status = uc_input_read_exactly(self->input, state->bytes, count * X->cols * state->array.size);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        float *row = X->values + (X->rows + i) * X->stride;
        unsigned char *items = state->bytes + i * X->cols * state->array.size;
        const size_t good = uc_npy_to_float(row, &state->array, items, X->cols);
        if (good < X->cols)
            status =
                fail_value(self, &state->array, items + good * state->array.size, state->rows_done + i, good);
        memset(row + X->cols, 0, (X->stride - X->cols) * sizeof *row);
    }
    return status;
}

static uc_status next_columns(uc_reader *self)
{
    npy_state *state = self->state;
    uc_matrix *X = &self->rows.X;
    const size_t rows = state->array.shape[0], size = state->array.size, part = BLOCK_BYTES / size;
    uc_status status = UC_OK;
    for (size_t j = 0; j < X->cols; j++)
        for (size_t first = 0; first < rows && status == UC_OK; first += part) {
            const size_t count = uc_min_size(rows - first, part);
            status = uc_input_read_exactly(self->input, state->bytes, count * size);
            if (status != UC_OK)
                break;
            const size_t good = uc_npy_to_float(state->column, &state->array, state->bytes, count);
            if (good < count)
                status = fail_value(self, &state->array, state->bytes + good * size, first + good, j);
            for (size_t i = 0; i < good; i++)
                X->values[(first + i) * X->stride + j] = state->column[i];
        }
    for (size_t i = 0; i < rows && status == UC_OK; i++)
        memset(X->values + i * X->stride + X->cols, 0, (X->stride - X->cols) * sizeof *X->values);
    return status;
}

/* Makes room for `rows` more rows. */
static uc_status reserve(uc_reader *self, size_t rows, bool all)
{
    if (rows == 0)
        return UC_OK;
    return uc_reader_reserve(self, self->rows.X.rows + rows, 0, all);
}

static uc_status next(uc_reader *self)
{
    npy_state *state = self->state;
    const size_t left = state->array.shape[0] - state->rows_done;
    const size_t count = uc_min_size(left, state->rows_per_block);
    uint64_t remaining;
    const bool all = state->array.fortran || (self->whole && uc_input_remaining(&remaining, self->input));
    uc_status status = UC_OK;
    if (all)
        status = reserve(self, left, true);
    else
        status = reserve(self, count, false);
    if (status != UC_OK)
        return status;
    if (state->array.fortran)
        status = next_columns(self);
    else
        status = next_rows(self, count);
    if (status != UC_OK)
        return status;
    add_labels(self, state->rows_done, count);
    self->rows.X.rows += count;
    state->rows_done += count;
    self->ended = count == left;
    return UC_OK;
}

static uc_status begin(uc_reader *self)
{
    npy_state *state = uc_alloc(1, sizeof *state);
    if (!state)
        return UC_ERR_NOMEM;
    self->state = state;
    uc_status status = uc_npy_read_header(&state->array, self->input, 2, "data");
    if (status != UC_OK)
        return status;
    const uc_npy *array = &state->array;
    const size_t cols = array->shape[1];
    if (array->kind == 'U' || array->kind == 'S')
        return uc_fail(UC_ERR_FORMAT, "%s: an array of text, but the data must be numbers",
                       uc_input_name(self->input));
    if (cols == 0 || cols > SIZE_MAX / 1024)
        return uc_fail(UC_ERR_FORMAT, "%s: %zu columns of features", uc_input_name(self->input), cols);
    if (self->settings.labels)
        status = read_labels(self);
    if (status != UC_OK)
        return status;
    self->has_labels = state->labels != NULL;
    self->rows.X.cols = cols;
    self->rows.X.stride = uc_matrix_stride(cols);
    const size_t row_bytes = cols * array->size;
    size_t bytes = uc_max_size(row_bytes, BLOCK_BYTES), column_items = 1;
    state->rows_per_block = uc_max_size(BLOCK_BYTES / row_bytes, 1);
    if (array->fortran) {
        bytes = BLOCK_BYTES;
        column_items = BLOCK_BYTES / array->size;
        state->rows_per_block = array->shape[0];
    }
    status = uc_memory_check(&self->context, (double)bytes, "a row of the file");
    if (status != UC_OK)
        return status;
    state->bytes = uc_alloc(bytes, 1);
    state->column = uc_alloc(column_items, sizeof *state->column);
    if (!state->bytes || !state->column)
        return UC_ERR_NOMEM;
    return UC_OK;
}

static void end(uc_reader *self)
{
    npy_state *state = self->state;
    if (!state)
        return;
    uc_free(state->labels);
    uc_free(state->bytes);
    uc_free(state->column);
    uc_free(state);
    self->state = NULL;
}

const uc_data_format uc_format_npy = {"npy", begin, next, end, NULL};
