/* Creating, copying and freeing data sets, and parts of them. */
#include "unconfuse/dataset.h"

#include <assert.h>
#include <string.h>

#include "data/dataset.h"
#include "data/mapping.h"
#include "data/valid.h"
#include "unconfuse/table.h"

void uc_dataset_free(uc_dataset *self)
{
    if (self->mapping) {
        uc_mapping_free(self->mapping);
    } else {
        uc_matrix_free(&self->X);
        uc_free(self->y);
        uc_free(self->bag);
    }
    uc_table_free(self->table);
    uc_free(self->weights);
    uc_free(self->soft);
    uc_names_free(&self->classes);
    uc_names_free(&self->bags);
    *self = (uc_dataset){0};
}

static uc_status create_matrix(uc_matrix *out, const uc_dataset_shape *shape)
{
    if (shape->sparse)
        return uc_matrix_create_sparse(out, shape->rows, shape->cols, shape->entries);
    return uc_matrix_create_dense(out, shape->rows, shape->cols);
}

uc_status uc_dataset_create(uc_dataset *out, const uc_dataset_shape *shape)
{
    uc_dataset made = {0};
    const uc_status status = create_matrix(&made.X, shape);
    if (status != UC_OK)
        return status;
    if (shape->labels)
        made.y = uc_alloc(shape->rows, sizeof *made.y);
    if (shape->bags)
        made.bag = uc_alloc(shape->rows, sizeof *made.bag);
    if (shape->weights)
        made.weights = uc_alloc(shape->rows, sizeof *made.weights);
    if (shape->soft)
        made.soft = uc_alloc(shape->rows * shape->soft, sizeof *made.soft);
    const bool incomplete = (shape->labels && !made.y) || (shape->bags && !made.bag) ||
                            (shape->weights && !made.weights) || (shape->soft && !made.soft);
    if (incomplete) {
        uc_dataset_free(&made);
        return UC_ERR_NOMEM;
    }
    *out = made;
    return UC_OK;
}

/* Copies the entries of some rows (NULL: all rows), if the array exists. */
static uc_status pick(uint32_t **out, const uint32_t *from, const size_t *rows, size_t count)
{
    if (!from)
        return UC_OK;
    uint32_t *picked = uc_alloc(count, sizeof *picked);
    if (!picked)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        picked[i] = from[rows ? rows[i] : i];
    *out = picked;
    return UC_OK;
}

/* The same for `width` numbers per row. */
static uc_status pick_reals(double **out, const double *from, size_t width, const size_t *rows, size_t count)
{
    size_t total;
    if (!from)
        return UC_OK;
    if (!uc_size_mul(&total, width, count) || !(*out = uc_alloc(total, sizeof **out)))
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        memcpy(*out + i * width, from + (rows ? rows[i] : i) * width, width * sizeof **out);
    return UC_OK;
}

static uc_status copy_rows(uc_dataset *out, const uc_dataset *self, const size_t *rows, size_t count,
                           const uc_context *context)
{
    uc_status status = uc_matrix_subset(&out->X, &self->X, rows, count, context);
    if (status == UC_OK)
        status = pick(&out->y, self->y, rows, count);
    if (status == UC_OK)
        status = pick(&out->bag, self->bag, rows, count);
    if (status == UC_OK)
        status = pick_reals(&out->weights, self->weights, 1, rows, count);
    if (status == UC_OK)
        status = pick_reals(&out->soft, self->soft, self->classes.count, rows, count);
    return status;
}

static uc_status copy_names(uc_dataset *out, const uc_dataset *self)
{
    const uc_status status = uc_names_copy(&out->classes, &self->classes);
    if (status != UC_OK)
        return status;
    return uc_names_copy(&out->bags, &self->bags);
}

uc_status uc_dataset_subset(uc_dataset *out, const uc_dataset *self, const size_t *rows, size_t count,
                            const uc_context *context)
{
    uc_dataset part = {0};
    if (!rows)
        count = self->X.rows;
    uc_status status = copy_rows(&part, self, rows, count, context);
    if (status == UC_OK)
        status = copy_names(&part, self);
    if (status != UC_OK) {
        uc_dataset_free(&part);
        return status;
    }
    part.table = uc_table_share(self->table);
    assert(uc_matrix_is_valid(&part.X)); /* only X: a reader keeps the names elsewhere */
    *out = part;
    return UC_OK;
}

uc_status uc_dataset_check_classes(const uc_dataset *data)
{
    char name[UC_QUOTE_SIZE], value[UC_QUOTE_SIZE];
    if (data->classes.count != 1)
        return UC_OK;
    const char *class = data->classes.text[0];
    const size_t columns = data->table ? uc_table_column_count(data->table) : 0;
    for (size_t i = 0; i < columns; i++) {
        uc_column column;
        uc_table_column_at(&column, data->table, i);
        if (column.type != UC_COLUMN_LABEL || !column.name)
            continue;
        return uc_fail(UC_ERR_FORMAT,
                       "the labels are taken from '%s'%s, which has one value, '%s', where two are needed; "
                       "{label} NAME chooses another column",
                       uc_quote(name, column.name, strlen(column.name)),
                       i + 1 == columns ? ", the last column" : "", uc_quote(value, class, strlen(class)));
    }
    return uc_fail(UC_ERR_FORMAT, "only one class, '%s', where two are needed", class);
}
