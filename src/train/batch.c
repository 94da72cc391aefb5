#include "train/batch.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "linalg/linalg.h"

/* Keeps the rows in their order: following a permutation would be slower. */
uc_status uc_batch_check_weights(bool *weightless, const uc_batch *self)
{
    const bool all = self->count == self->X->rows;
    *weightless = false;
    for (size_t i = 0; i < self->count; i++) {
        const size_t at = all ? i : uc_batch_row(self, i);
        const double weight = self->weights[at];
        if (!(weight >= 0.0 && isfinite(weight)))
            return uc_fail(UC_ERR_INVALID,
                           "the weight of example %zu, %g, is not a finite number of 0 or more", at + 1,
                           weight);
        *weightless = *weightless || weight == 0.0;
    }
    return UC_OK;
}

void uc_batch_leave_out_weightless(uc_batch *out, size_t *kept, const uc_batch *self)
{
    *out = *self;
    out->rows = kept;
    out->count = 0;
    for (size_t i = 0; i < self->count; i++)
        if (self->weights[uc_batch_row(self, i)] > 0.0)
            kept[out->count++] = uc_batch_row(self, i);
}

void uc_batch_prefetch(const uc_batch *self, size_t i)
{
    const uc_matrix *X = self->X;
    if (!self->rows || i + 8 >= self->count)
        return;
    if (X->offsets)
        __builtin_prefetch(X->offsets + self->rows[i + 8]);
    __builtin_prefetch(self->labels + self->rows[i + 8]);
    if (self->weights)
        __builtin_prefetch(self->weights + self->rows[i + 8]);
    const uc_row later = uc_matrix_row(X, self->rows[i + 4]);
    const size_t bytes = uc_min_size(later.count * sizeof(float), 1024);
    for (size_t at = 0; at < bytes; at += 64) {
        __builtin_prefetch((const char *)later.values + at);
        if (later.columns)
            __builtin_prefetch((const char *)later.columns + at);
    }
}

uc_status uc_batch_predict(uint32_t **out, const uc_batch *self, const uc_model *model,
                           const uc_names *classes, const uc_context *context)
{
    const uc_names *names = uc_model_classes(model);
    uint32_t *places = uc_alloc(names->count, sizeof *places);
    uint32_t *found = uc_alloc(self->X->rows, sizeof *found);
    uc_status status = UC_ERR_NOMEM;
    if (!places || !found)
        goto cleanup;
    for (size_t k = 0; k < names->count; k++)
        places[k] = uc_names_find_label(classes, names->text[k], strlen(names->text[k]));
    status = uc_model_predict(found, model, self->X, context);
    for (size_t i = 0; i < self->X->rows && status == UC_OK; i++)
        found[i] = places[found[i]];

cleanup:
    uc_free(places);
    if (status == UC_OK)
        *out = found;
    else
        uc_free(found);
    return status;
}
