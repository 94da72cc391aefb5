/* Saving and resuming through the same list of calls. */
#include "learn/state.h"

#include <math.h>
#include <string.h>

#define MOST_COUNTED ((json_int_t)1 << 53) /* larger counts are never reached */

uc_status uc_state_damaged(void)
{
    return uc_fail(UC_ERR_FORMAT, "the model's learner state does not fit its settings");
}

uc_status uc_state_counter(uc_state *self, const char *name, uint64_t *value)
{
    if (!self->reading)
        return uc_json_set(self->model->counters, name, json_integer((json_int_t)*value));
    const json_t *stored = json_object_get(self->model->counters, name);
    if (!stored)
        return UC_OK;
    if (!json_is_integer(stored) || json_integer_value(stored) < 0 ||
        json_integer_value(stored) > MOST_COUNTED)
        return uc_state_damaged();
    *value = (uint64_t)json_integer_value(stored);
    return UC_OK;
}

bool uc_state_has(const uc_state *self, const char *name)
{
    return uc_model_state_find(self->model, name) != NULL;
}

static bool all_finite(const uc_array *array)
{
    for (size_t i = 0; i < array->count && array->type == UC_ARRAY_F64; i++)
        if (!isfinite(((const double *)array->data)[i]))
            return false;
    for (size_t i = 0; i < array->count && array->type == UC_ARRAY_F32; i++)
        if (!isfinite(((const float *)array->data)[i]))
            return false;
    return true;
}

static uc_status check_written(const uc_array *array)
{
    if (!all_finite(array))
        return uc_fail(UC_ERR_DIVERGED, "what the learner keeps overflowed; try {normalize} or {scale}");
    return UC_OK;
}

uc_status uc_state_give(uc_state *self, const char *name, uc_array_type type, void *data, size_t count)
{
    const uc_array given = {name, type, data, count};
    const uc_status status = check_written(&given);
    if (status == UC_OK)
        return uc_model_state_take(self->model, given);
    uc_free(data);
    return status;
}

const void *uc_state_lend(const uc_state *self, const char *name, uc_array_type type, size_t count)
{
    const uc_array *stored = uc_model_state_find(self->model, name);
    if (stored && stored->type == type && stored->count == count && all_finite(stored))
        return stored->data;
    (void)uc_state_damaged();
    return NULL;
}

uc_status uc_state_array(uc_state *self, const char *name, uc_array_type type, void *data, size_t count)
{
    if (!self->reading) {
        const uc_array written = {name, type, data, count};
        const uc_status status = check_written(&written);
        if (status != UC_OK)
            return status;
        return uc_model_state_add(self->model, written);
    }
    const void *stored = uc_state_lend(self, name, type, count);
    if (!stored)
        return UC_ERR_FORMAT;
    if (count > 0)
        memcpy(data, stored, count * uc_array_item_size(type));
    return UC_OK;
}
