/* Names that are looked up often; value_index.h explains how. */
#include "data/value_index.h"

#include "base/base.h"

#define FIRST(n) (UINT64_MAX >> (64 - 8 * (n)))

const uint64_t uc_short_masks[UC_SHORT_VALUE + 1][2] = {
    {0, 0},
    {FIRST(1), 0},
    {FIRST(2), 0},
    {FIRST(3), 0},
    {FIRST(4), 0},
    {FIRST(5), 0},
    {FIRST(6), 0},
    {FIRST(7), 0},
    {FIRST(8), 0},
    {FIRST(8), FIRST(1)},
    {FIRST(8), FIRST(2)},
    {FIRST(8), FIRST(3)},
    {FIRST(8), FIRST(4)},
    {FIRST(8), FIRST(5)},
    {FIRST(8), FIRST(6)},
    {FIRST(8), FIRST(7)},
    {FIRST(8), FIRST(8)},
};

static void add(uc_value_index *self, const char *name, uint32_t position)
{
    char text[UC_SHORT_VALUE] = {0};
    const size_t length = strlen(name);
    if (length > UC_SHORT_VALUE)
        return;
    memcpy(text, name, length);
    const uc_short_value value = uc_value_short(text, length);
    size_t slot = (size_t)uc_short_mark(value, length) & (self->count - 1);
    while (self->slots[slot].position != UC_NONE)
        slot = (slot + 1) & (self->count - 1);
    self->slots[slot] = (uc_value_slot){value, (uint32_t)length, position};
}

uc_status uc_value_index_create(uc_value_index *out, const uc_names *names)
{
    *out = (uc_value_index){.names = names, .count = 4};
    if (names->count == 0)
        return UC_OK;
    while (out->count < 4 * names->count)
        out->count *= 2;
    out->slots = uc_alloc(out->count, sizeof *out->slots);
    if (!out->slots)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < out->count; i++)
        out->slots[i].position = UC_NONE;
    for (size_t i = 0; i < names->count; i++)
        add(out, names->text[i], (uint32_t)i);
    return UC_OK;
}

void uc_value_index_free(uc_value_index *self)
{
    uc_free(self->slots);
    *self = (uc_value_index){0};
}
