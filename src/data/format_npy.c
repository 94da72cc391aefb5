/*
 * NPY: a matrix of numbers, and its labels in a file of their own. Rows are dense. A matrix in C order is read some MB
 * at a time; one in Fortran order, column after column, can only be handed out as a whole.
 */
#include <math.h>
#include <string.h>

#include "data/npy.h"
#include "data/reader.h"

#define BLOCK_BYTES ((size_t)2 << 20)

typedef struct npy_state {
    uc_npy array;
    size_t rows_done;
    uint32_t *labels;     /* of all rows; NULL: none */
    unsigned char *bytes; /* BLOCK_BYTES, or one row when that is more */
    size_t rows_a_block;
    float *column; /* Fortran order: values of a part of a column */
} npy_state;

/* ---- labels ---- */

/* UTF-8 of one character; 0 bytes when it is none. */
static size_t put_character(char *text, uint32_t c)
{
    if (c < 0x80) {
        text[0] = (char)c;
        return 1;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    const size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; c >>= 6)
        text[i] = (char)(0x80 | (c & 0x3f));
    text[0] = (char)(lead[length] | c);
    return length;
}

/* Item i as text; `text` has room for it. Returns its length, or SIZE_MAX when it is not text. */
static size_t label_text(char *text, const uc_npy *self, const unsigned char *bytes, size_t i)
{
    const unsigned char *p = bytes + i * self->size;
    size_t length = self->size;
    if (self->kind == 'S') {
        while (length > 0 && p[length - 1] == 0)
            length--;
        memcpy(text, p, length);
        return uc_is_name(text, length) ? length : SIZE_MAX;
    }
    if (self->kind != 'U') {
        length = uc_npy_print(text, self, bytes, i);
        const bool whole = self->kind == 'f' && length > 2 && memcmp(text + length - 2, ".0", 2) == 0;
        return whole ? length - 2 : length; /* 1.0 is called 1, as in files of text */
    }
    size_t written = 0, zeros = 0;
    for (size_t at = 0; at < self->size; at += 4) {
        uint32_t c;
        memcpy(&c, p + at, sizeof c);
        if (c == 0) {
            zeros++;
            continue;
        }
        const size_t step = put_character(text + written, c);
        if (step == 0 || zeros > 0)
            return SIZE_MAX;
        written += step;
    }
    return uc_is_name(text, written) ? written : SIZE_MAX;
}

static uc_status read_label_block(uc_reader *self, uc_input *input, const uc_npy *array, unsigned char *bytes,
                                  char *text, size_t first, size_t count)
{
    npy_state *state = self->state;
    const uc_status status = uc_input_read_exactly(input, bytes, count * array->size);
    if (status != UC_OK)
        return status;
    uc_npy_to_native(array, bytes, count);
    for (size_t i = 0; i < count; i++) {
        const size_t length = label_text(text, array, bytes, i);
        if (length == SIZE_MAX)
            return uc_fail(UC_ERR_FORMAT, "%s: label %zu is not text", uc_input_name(input), first + i + 1);
        if (length == 0)
            return uc_fail(UC_ERR_FORMAT, "%s: label %zu is empty", uc_input_name(input), first + i + 1);
        if (array->kind == 'f' && memchr(text, 'n', length)) /* nan, inf */
            return uc_fail(UC_ERR_FORMAT, "%s: label %zu: %.*s is not a finite number", uc_input_name(input),
                           first + i + 1, (int)length, text);
        uint32_t *index = &state->labels[first + i];
        *index = UC_NONE;
        if (length != 1 || text[0] != '?') {
            const uc_status added = uc_names_add(index, &self->classes, text, length);
            if (added != UC_OK)
                return added;
        }
    }
    return UC_OK;
}

static uc_status read_label_items(uc_reader *self, uc_input *input, const uc_npy *array)
{
    npy_state *state = self->state;
    const size_t count = array->shape[0], size = array->size ? array->size : 1;
    const size_t block = BLOCK_BYTES / size ? BLOCK_BYTES / size : 1;
    state->labels = uc_alloc(count, sizeof *state->labels);
    unsigned char *bytes = uc_alloc(block, size);
    char *text = uc_alloc(size + 32, 1); /* UTF-8 needs no more bytes than UCS-4 */
    uc_status status = state->labels && bytes && text ? UC_OK : UC_ERR_NOMEM;
    for (size_t i = 0; i < count && status == UC_OK; i += block)
        status = read_label_block(self, input, array, bytes, text, i, count - i < block ? count - i : block);
    uc_free(bytes);
    uc_free(text);
    return status;
}

static uc_status read_labels(uc_reader *self)
{
    const npy_state *state = self->state;
    uc_input *input;
    uc_status status = uc_input_open(&input, self->settings.labels);
    if (status != UC_OK)
        return status;
    uc_npy array;
    status = uc_npy_read_header(&array, input, 1, "labels");
    if (status == UC_OK && array.shape[0] != state->array.shape[0])
        status = uc_fail(UC_ERR_FORMAT, "%s has %zu labels, but %s has %zu rows", uc_input_name(input),
                         array.shape[0], uc_input_name(self->input), state->array.shape[0]);
    if (status == UC_OK)
        status = read_label_items(self, input, &array);
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
            const size_t count = rows - first < part ? rows - first : part;
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

static uc_status next(uc_reader *self)
{
    npy_state *state = self->state;
    const size_t left = state->array.shape[0] - state->rows_done;
    const size_t count = left < state->rows_a_block ? left : state->rows_a_block;
    uint64_t remaining;
    const bool all = state->array.fortran || (self->whole && uc_input_remaining(&remaining, self->input));
    uc_status status = UC_OK;
    if (count > 0)
        status = uc_reader_reserve(self, self->rows.X.rows + (all ? left : count), 0, all);
    if (status == UC_OK)
        status = state->array.fortran ? next_columns(self) : next_rows(self, count);
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
    state->rows_a_block = array->fortran            ? array->shape[0]
                          : BLOCK_BYTES / row_bytes ? BLOCK_BYTES / row_bytes
                                                    : 1;
    const size_t bytes = array->fortran || row_bytes < BLOCK_BYTES ? BLOCK_BYTES : row_bytes;
    status = uc_memory_check(&self->context, (double)bytes, "a row of the file");
    if (status != UC_OK)
        return status;
    state->bytes = uc_alloc(bytes, 1);
    state->column = uc_alloc(array->fortran ? BLOCK_BYTES / array->size : 1, sizeof *state->column);
    return state->bytes && state->column ? UC_OK : UC_ERR_NOMEM;
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
