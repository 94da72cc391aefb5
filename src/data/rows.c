/*
 * Room for the rows that a reader collects.
 *
 * The arrays for a whole data set are made as large as estimated from the part of the file that has been
 * read, and are shrunk at the end. The system provides memory only for what is written, and moves the pages
 * of large arrays without copying them, so there are never two copies of an array.
 */
#include "data/reader.h"

/* false: not enough memory; the array stays unchanged. */
static bool grow(void **array, size_t count, size_t size)
{
    void *grown = uc_realloc(*array, count, size);
    if (!grown)
        return false;
    *array = grown;
    return true;
}

/* The number of items to make room for if `needed` are known: an estimate of all, from the share of the file
 * that they come from, or a quarter more than `needed`. */
static size_t expected(const uc_reader *self, size_t needed, bool exact)
{
    const double most = (double)(SIZE_MAX / 64), quarter = (double)needed * 1.25;
    const double done = (double)uc_input_done(self->input), total = (double)uc_input_total(self->input);
    if (exact || quarter >= most)
        return needed;
    const double all = (double)needed * 1.02 * total / done;
    if (self->whole && done > 0.0 && all > quarter && all < most)
        return (size_t)all;
    return (size_t)quarter;
}

static uc_status reserve_rows(uc_reader *self, size_t rows)
{
    uc_dataset *data = &self->rows;
    if (self->has_labels && !grow((void **)&data->y, rows, sizeof *data->y))
        return UC_ERR_NOMEM;
    if (self->has_bags && !grow((void **)&data->bag, rows, sizeof *data->bag))
        return UC_ERR_NOMEM;
    if (self->has_weights && !grow((void **)&data->weights, rows, sizeof *data->weights))
        return UC_ERR_NOMEM;
    if (self->sparse) {
        if (!grow((void **)&data->X.offsets, rows + 1, sizeof *data->X.offsets))
            return UC_ERR_NOMEM;
        data->X.offsets[0] = 0;
    }
    self->row_capacity = rows;
    return UC_OK;
}

static uc_status reserve_values(uc_reader *self, size_t values)
{
    uc_matrix *X = &self->rows.X;
    if (!grow((void **)&X->values, values, sizeof *X->values))
        return UC_ERR_NOMEM;
    if (self->sparse && !grow((void **)&X->columns, values, sizeof *X->columns))
        return UC_ERR_NOMEM;
    self->value_capacity = values;
    return UC_OK;
}

uc_status uc_reader_reserve(uc_reader *self, size_t rows, size_t entries, bool exact)
{
    size_t values = entries, value_bytes = sizeof(float) + sizeof(uint32_t);
    if (!self->sparse) {
        if (!uc_size_mul(&values, rows, self->rows.X.stride))
            return uc_fail(UC_ERR_NOMEM, "%s: %zu rows of %zu columns do not fit in memory",
                           uc_input_name(self->input), rows, self->rows.X.cols);
        value_bytes = sizeof(float);
    }
    const double bytes = (double)values * (double)value_bytes;
    uc_status status = uc_memory_check(&self->context, bytes, uc_input_name(self->input));
    if (status == UC_OK && (rows > self->row_capacity || (self->has_bags && !self->rows.bag)))
        status = reserve_rows(self, expected(self, rows, exact));
    if (status == UC_OK && (values > self->value_capacity || !self->rows.X.values))
        status = reserve_values(self, expected(self, values, exact));
    return status;
}

uc_status uc_reader_reserve_none(uc_reader *self)
{
    return reserve_rows(self, 0);
}

/* If shrinking fails, the arrays stay larger, which does no harm. */
static void trim_values(uc_reader *self)
{
    uc_matrix *X = &self->rows.X;
    size_t values = X->rows * X->stride;
    if (self->sparse)
        values = (size_t)X->offsets[X->rows];
    if (values >= self->value_capacity)
        return;
    (void)grow((void **)&X->values, values, sizeof *X->values);
    if (self->sparse)
        (void)grow((void **)&X->columns, values, sizeof *X->columns);
}

void uc_reader_trim(uc_reader *self)
{
    uc_dataset *data = &self->rows;
    const size_t rows = data->X.rows;
    if (data->mapping)
        return;
    trim_values(self);
    if (rows >= self->row_capacity)
        return;
    if (self->has_labels)
        (void)grow((void **)&data->y, rows, sizeof *data->y);
    if (self->has_bags)
        (void)grow((void **)&data->bag, rows, sizeof *data->bag);
    if (self->has_weights)
        (void)grow((void **)&data->weights, rows, sizeof *data->weights);
    if (self->sparse)
        (void)grow((void **)&data->X.offsets, rows + 1, sizeof *data->X.offsets);
}
