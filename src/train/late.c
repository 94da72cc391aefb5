/* A ring buffer of rounds that wait for their feedback. It grows as needed and reuses the arrays of rows that
 * have left it. */
#include "train/late.h"

#include <assert.h>

#define FIRST_CAPACITY ((size_t)64)

size_t uc_late_capacity_for_one_more(const uc_late *self)
{
    if (self->count < self->capacity)
        return self->capacity;
    if (self->capacity == 0)
        return FIRST_CAPACITY;
    return 2 * self->capacity;
}

static uc_status grow(uc_late *self)
{
    const size_t capacity = uc_late_capacity_for_one_more(self);
    uc_late_round *ring = uc_alloc(capacity, sizeof *ring);
    if (!ring)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < self->count; i++)
        ring[i] = self->ring[(self->first + i) % self->capacity];
    uc_free(self->ring);
    self->ring = ring;
    self->capacity = capacity;
    self->first = 0;
    return UC_OK;
}

uc_status uc_late_add(uc_late_round **out, uc_late *self)
{
    if (self->count == self->capacity) {
        const uc_status status = grow(self);
        if (status != UC_OK)
            return status;
    }
    assert(self->count < self->capacity);
    *out = &self->ring[(self->first + self->count++) % self->capacity];
    return UC_OK;
}

const uc_late_round *uc_late_first(const uc_late *self)
{
    return self->count > 0 ? &self->ring[self->first] : NULL;
}

void uc_late_remove_first(uc_late *self)
{
    assert(self->count > 0);
    self->first = (self->first + 1) % self->capacity;
    self->count--;
}

void uc_late_free(uc_late *self)
{
    for (size_t i = 0; i < self->capacity; i++)
        uc_row_copy_free(&self->ring[i].row);
    uc_free(self->ring);
    *self = (uc_late){0};
}
