#include "service/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "app/memory.h"

static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash ^ (hash >> 29);
}

/* The number of chains is a power of two. */
static size_t chain_of_id(const waiting *self, const char *id)
{
    return (size_t)hash_text(id) & (self->chains - 1);
}

static size_t chain_of_sequence(const waiting *self, int64_t sequence)
{
    return (size_t)sequence & (self->chains - 1);
}

static void link_in(waiting *self, pending *item)
{
    pending **id = &self->by_id[chain_of_id(self, item->id)];
    pending **sequence = &self->by_sequence[chain_of_sequence(self, item->sequence)];
    item->next_by_id = *id;
    *id = item;
    item->next_by_sequence = *sequence;
    *sequence = item;
}

static void grow(waiting *self)
{
    free(self->by_id);
    free(self->by_sequence);
    self->chains = self->chains ? 2 * self->chains : 64;
    self->by_id = app_calloc(self->chains, sizeof *self->by_id);
    self->by_sequence = app_calloc(self->chains, sizeof *self->by_sequence);
    for (pending *item = self->oldest; item; item = item->newer)
        link_in(self, item);
}

pending *waiting_add(waiting *self, const char *id, int64_t sequence, int64_t time, const encoded *row,
                     const uc_proposal *proposal)
{
    if (self->count >= self->chains)
        grow(self);
    pending *item = app_calloc(1, sizeof *item);
    item->id = app_text("%s", id);
    item->sequence = sequence;
    item->time = time;
    item->row = *row;
    item->proposal = *proposal;
    item->older = self->newest;
    if (self->newest)
        self->newest->newer = item;
    else
        self->oldest = item;
    self->newest = item;
    self->count++;
    link_in(self, item);
    return item;
}

pending *waiting_find_id(const waiting *self, const char *id)
{
    if (self->count == 0)
        return NULL;
    pending *item = self->by_id[chain_of_id(self, id)];
    while (item && strcmp(item->id, id) != 0)
        item = item->next_by_id;
    return item;
}

pending *waiting_find(const waiting *self, int64_t sequence)
{
    if (self->count == 0)
        return NULL;
    pending *item = self->by_sequence[chain_of_sequence(self, sequence)];
    while (item && item->sequence != sequence)
        item = item->next_by_sequence;
    return item;
}

static void free_pending(pending *item)
{
    encoded_free(&item->row);
    free(item->id);
    free(item->scores);
    free(item);
}

void waiting_remove(waiting *self, pending *gone)
{
    pending **id = &self->by_id[chain_of_id(self, gone->id)];
    pending **sequence = &self->by_sequence[chain_of_sequence(self, gone->sequence)];
    while (*id != gone)
        id = &(*id)->next_by_id;
    *id = gone->next_by_id;
    while (*sequence != gone)
        sequence = &(*sequence)->next_by_sequence;
    *sequence = gone->next_by_sequence;
    if (gone->older)
        gone->older->newer = gone->newer;
    else
        self->oldest = gone->newer;
    if (gone->newer)
        gone->newer->older = gone->older;
    else
        self->newest = gone->older;
    self->count--;
    free_pending(gone);
}

void waiting_free(waiting *self)
{
    for (pending *item = self->oldest; item;) {
        pending *next = item->newer;
        free_pending(item);
        item = next;
    }
    free(self->by_id);
    free(self->by_sequence);
    *self = (waiting){0};
}
