/* How many values are different, and which they are: see table_look.h. */
#include <string.h>

#include "data/table_look.h"

static uc_value_entry *find(const uc_value_set *self, uint64_t mark)
{
    size_t slot = (size_t)(mark >> 20) & (self->room - 1);
    while (self->slots[slot].count && self->slots[slot].mark != mark)
        slot = (slot + 1) & (self->room - 1);
    return &self->slots[slot];
}

/* Makes a table of `room` slots with the entries of the present level. */
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
        if (old[i].count && uc_mark_is_kept(old[i].mark, self->level)) {
            *find(self, old[i].mark) = old[i];
            self->used++;
        }
    uc_free(old);
    return UC_OK;
}

/* Appends a copy of the text to *texts, terminated by a zero byte. */
static uc_status append_text(char **texts, size_t *used, size_t *room, const char *text, size_t length)
{
    const size_t needed = *used + length + 1;
    if (needed > *room) {
        const size_t grown = uc_grown(*room, needed);
        char *copy = uc_realloc(*texts, grown, 1);
        if (!copy)
            return UC_ERR_NOMEM;
        *texts = copy;
        *room = grown;
    }
    memcpy(*texts + *used, text, length);
    (*texts)[*used + length] = '\0';
    *used = needed;
    return UC_OK;
}

static uc_status keep_text(uc_value_set *self, uc_value_entry *entry, const char *text, size_t length)
{
    entry->text = entry->length = 0;
    if (self->used > self->most_texts)
        self->without_texts = true;
    if (self->without_texts || !text)
        return UC_OK;
    const size_t begin = self->text_used;
    const uc_status status = append_text(&self->texts, &self->text_used, &self->text_room, text, length);
    if (status != UC_OK)
        return status;
    entry->text = begin + 1;
    entry->length = length;
    return UC_OK;
}

uc_status uc_value_set_add(uc_value_set *self, uint64_t mark, uint64_t count, const char *text, size_t length)
{
    uc_status status = UC_OK;
    if (!uc_mark_is_kept(mark, self->level))
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
    while (status == UC_OK && self->used > (self->level ? UC_SAMPLED_VALUES : UC_EXACT_VALUES)) {
        self->level++;
        self->without_texts = true;
        status = rebuild(self, self->room);
    }
    if (status == UC_OK && self->level && self->room > 4 * UC_SAMPLED_VALUES)
        status = rebuild(self, 4 * UC_SAMPLED_VALUES); /* so that more of it stays in the caches */
    return status;
}

void uc_value_set_free(uc_value_set *self)
{
    uc_free(self->slots);
    uc_free(self->texts);
    *self = (uc_value_set){0};
}

/* ---- the values of one block ---- */

uc_status uc_value_log_create(uc_value_log *self, size_t recent_count)
{
    *self = (uc_value_log){.recent_count = recent_count};
    self->recent = uc_alloc(recent_count, sizeof *self->recent);
    return self->recent ? UC_OK : UC_ERR_NOMEM;
}

void uc_value_log_clear(uc_value_log *self, const uc_value_set *set)
{
    memset(self->recent, 0, self->recent_count * sizeof *self->recent);
    self->used = self->text_used = 0;
    self->level = set->level;
    self->with_texts = !set->without_texts;
}

static uc_status list_entry(uc_value_log *self, const uc_value_entry *entry)
{
    if (self->used == self->room) {
        const size_t room = uc_grown(self->room, self->used + 1);
        uc_value_entry *entries = uc_realloc(self->entries, room, sizeof *entries);
        if (!entries)
            return UC_ERR_NOMEM;
        self->entries = entries;
        self->room = room;
    }
    self->entries[self->used++] = *entry;
    return UC_OK;
}

uc_status uc_value_log_add(uc_value_log *self, uint64_t mark, const char *text, size_t length)
{
    uc_value_entry *entry = &self->recent[(size_t)(mark >> 32) & (self->recent_count - 1)];
    uc_status status = UC_OK;
    if (entry->count && entry->mark == mark) {
        entry->count++;
        return UC_OK;
    }
    if (entry->count)
        status = list_entry(self, entry);
    *entry = (uc_value_entry){.mark = mark, .count = 1, .length = length};
    if (status == UC_OK && self->with_texts) {
        entry->text = self->text_used + 1;
        status = append_text(&self->texts, &self->text_used, &self->text_room, text, length);
    }
    return status;
}

uc_status uc_value_log_flush(uc_value_log *self, uc_value_set *set)
{
    uc_status status = UC_OK;
    for (size_t i = 0; i < self->recent_count && status == UC_OK; i++)
        if (self->recent[i].count)
            status = list_entry(self, &self->recent[i]);
    for (size_t i = 0; i < self->used && status == UC_OK; i++) {
        const uc_value_entry *entry = &self->entries[i];
        const char *text = self->with_texts ? self->texts + entry->text - 1 : NULL;
        status = uc_value_set_add(set, entry->mark, entry->count, text, entry->length);
    }
    return status;
}

void uc_value_log_free(uc_value_log *self)
{
    uc_free(self->recent);
    uc_free(self->entries);
    uc_free(self->texts);
    *self = (uc_value_log){0};
}
