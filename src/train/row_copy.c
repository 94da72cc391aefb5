/* Copies of rows; the arrays are reused for the next row unless it is longer. */
#include "train/row_copy.h"

#include <string.h>

static uc_status reserve(uc_row_copy *self, uc_row row)
{
    if (row.count > self->capacity) {
        uc_row_copy_free(self);
        self->values = uc_alloc(row.count, sizeof *self->values);
        if (!self->values)
            return UC_ERR_NOMEM;
        self->capacity = row.count;
    }
    if (row.columns && !self->columns) {
        self->columns = uc_alloc(self->capacity, sizeof *self->columns);
        if (!self->columns)
            return UC_ERR_NOMEM;
    }
    return UC_OK;
}

uc_status uc_row_copy_set(uc_row_copy *self, uc_row row)
{
    const uc_status status = reserve(self, row);
    self->count = 0;
    self->sparse = row.columns != NULL;
    if (status != UC_OK || row.count == 0)
        return status;
    memcpy(self->values, row.values, row.count * sizeof *self->values);
    if (row.columns)
        memcpy(self->columns, row.columns, row.count * sizeof *self->columns);
    self->count = row.count;
    return UC_OK;
}

uc_row uc_row_copy_view(const uc_row_copy *self)
{
    return (uc_row){self->count, self->values, self->sparse ? self->columns : NULL};
}

void uc_row_copy_free(uc_row_copy *self)
{
    uc_free(self->values);
    uc_free(self->columns);
    *self = (uc_row_copy){0};
}
