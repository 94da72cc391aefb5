/* How many values differ, and which: table_look.h. */
#include <string.h>

#include "data/table_look.h"

static uc_value_entry *find(const uc_value_set *self, uint64_t mark)
{
    size_t slot = (size_t)(mark >> 20) & (self->room - 1);
    while (self->slots[slot].count && self->slots[slot].mark != mark)
        slot = (slot + 1) & (self->room - 1);
    return &self->slots[slot];
}

static bool is_kept(uint64_t mark, unsigned level)
{
    return (mark & ((UINT64_C(1) << level) - 1)) == 0;
}

/* A table of `room` slots with the entries of the present level. */
static uc_status rebuild(uc_value_set *self, size_t room)
{
    uc_value_entry *old = self->slots;
    const size_t old_room = self->room;
    uc_value_entry *slots = uc_alloc(room, sizeof *slots);
    if (!slots)
        return UC_ERR_NOMEM;
    self->slots = slots;
    self->room = room;
    self->used = 0;
    for (size_t i = 0; i < old_room; i++)
        if (old[i].count && is_kept(old[i].mark, self->level)) {
            *find(self, old[i].mark) = old[i];
            self->used++;
        }
    uc_free(old);
    return UC_OK;
}

static uc_status keep_text(uc_value_set *self, uc_value_entry *entry, const char *text, size_t length)
{
    entry->text = entry->length = 0;
    if (self->used > self->most_texts)
        self->without_texts = true;
    if (self->without_texts || !text)
        return UC_OK;
    const size_t needed = self->text_used + length + 1;
    if (needed > self->text_room) {
        const size_t room = uc_grown(self->text_room, needed);
        char *texts = uc_realloc(self->texts, room, 1);
        if (!texts)
            return UC_ERR_NOMEM;
        self->texts = texts;
        self->text_room = room;
    }
    memcpy(self->texts + self->text_used, text, length);
    self->texts[self->text_used + length] = '\0';
    entry->text = self->text_used + 1;
    entry->length = length;
    self->text_used = needed;
    return UC_OK;
}

uc_status uc_value_set_add(uc_value_set *self, uint64_t mark, uint64_t count, const char *text, size_t length)
{
    uc_status status = UC_OK;
    if (!is_kept(mark, self->level))
        return UC_OK;
    if (2 * (self->used + 1) > self->room)
        status = rebuild(self, self->room ? 2 * self->room : 16);
    if (status != UC_OK)
        return status;
    uc_value_entry *entry = find(self, mark);
    if (entry->count) {
        entry->count += count;
        return UC_OK;
    }
    self->used++;
    *entry = (uc_value_entry){.mark = mark, .count = count};
    status = keep_text(self, entry, text, length);
    while (status == UC_OK && self->used > UC_EXACT_VALUES) {
        self->level++;
        self->without_texts = true;
        status = rebuild(self, self->room);
    }
    return status;
}

void uc_value_set_clear(uc_value_set *self, size_t most_texts, unsigned level)
{
    if (self->room)
        memset(self->slots, 0, self->room * sizeof *self->slots);
    self->used = self->text_used = 0;
    self->level = level;
    self->most_texts = most_texts;
    self->without_texts = level > 0;
}

void uc_value_set_free(uc_value_set *self)
{
    uc_free(self->slots);
    uc_free(self->texts);
    *self = (uc_value_set){0};
}
