/* A data set's life, and parts of it. */
#include "unconfuse/dataset.h"

#include <string.h>

#include "base/base.h"
#include "data/reader.h"

void uc_dataset_free(uc_dataset *self)
{
    if (self->mapping) {
        uc_mapping_free(self->mapping);
    } else {
        uc_matrix_free(&self->X);
        uc_free(self->y);
        uc_free(self->bag);
    }
    uc_names_free(&self->classes);
    uc_names_free(&self->bags);
    *self = (uc_dataset){0};
}

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

uc_status uc_dataset_subset(uc_dataset *out, const uc_dataset *self, const size_t *rows, size_t count,
                            const uc_context *context)
{
    if (!rows)
        count = self->X.rows;
    uc_dataset part = {0};
    uc_status status = uc_matrix_subset(&part.X, &self->X, rows, count, context);
    if (status == UC_OK)
        status = pick(&part.y, self->y, rows, count);
    if (status == UC_OK)
        status = pick(&part.bag, self->bag, rows, count);
    if (status == UC_OK)
        status = uc_names_copy(&part.classes, &self->classes);
    if (status == UC_OK)
        status = uc_names_copy(&part.bags, &self->bags);
    if (status == UC_OK)
        *out = part;
    else
        uc_dataset_free(&part);
    return status;
}
