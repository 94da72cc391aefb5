/* The arrays that a learner needs to resume. */
#include <string.h>

#include "model/model.h"

uc_status uc_model_state_take(uc_model_state *self, uc_array array)
{
    char *name = uc_strdup(array.name);
    uc_array *arrays = uc_realloc(self->arrays, self->count + 1, sizeof *arrays);
    if (arrays)
        self->arrays = arrays;
    if (!arrays || !name) {
        uc_free(name);
        uc_free((void *)array.data);
        return UC_ERR_NOMEM;
    }
    arrays[self->count++] = (uc_array){name, array.type, array.data, array.count};
    return UC_OK;
}

uc_status uc_model_state_add(uc_model_state *self, uc_array array)
{
    const size_t size = uc_array_item_size(array.type);
    void *data = uc_alloc(array.count, size);
    if (!data)
        return UC_ERR_NOMEM;
    if (array.count > 0)
        memcpy(data, array.data, array.count * size);
    return uc_model_state_take(self, (uc_array){array.name, array.type, data, array.count});
}

const uc_array *uc_model_state_find(const uc_model_state *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++)
        if (strcmp(self->arrays[i].name, name) == 0)
            return &self->arrays[i];
    return NULL;
}

void uc_model_state_free(uc_model_state *self)
{
    for (size_t i = 0; i < self->count; i++) {
        uc_free((char *)self->arrays[i].name);
        uc_free((void *)self->arrays[i].data);
    }
    uc_free(self->arrays);
    json_decref(self->counters);
    *self = (uc_model_state){0};
}
