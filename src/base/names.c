/* An ordered set of names: an array of strings, and an open hash table of positions in it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "unconfuse/names.h"

/* The position and length of a name. Most other names differ in length, which saves comparing the text. */
typedef struct uc_name_slot {
    uint32_t position; /* UC_NONE: the slot is empty */
    uint32_t length;
} uc_name_slot;

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9fb21c651e98df25);
    return h ^ (h >> 29);
}

/* Hashes eight bytes at a time; some of the last ones may be hashed twice. */
static uint64_t hash(const char *name, size_t length)
{
    uint64_t h = length * UINT64_C(0x9e3779b97f4a7c15), word = 0;
    if (length < 8) {
        for (size_t i = 0; i < length; i++)
            word = word << 8 | (unsigned char)name[i];
        return mix(h, word);
    }
    for (size_t i = 0; i + 8 <= length; i += 8) {
        memcpy(&word, name + i, 8);
        h = mix(h, word);
    }
    memcpy(&word, name + length - 8, 8);
    return mix(h, word);
}

/* The slot that holds the name, or the empty one where it belongs. */
static size_t slot_of(const uc_names *self, const char *name, size_t length)
{
    size_t slot = (size_t)hash(name, length) & (self->slot_count - 1);
    for (;; slot = (slot + 1) & (self->slot_count - 1)) {
        const uc_name_slot found = self->slots[slot];
        if (found.position == UC_NONE)
            return slot;
        if (found.length == length && memcmp(self->text[found.position], name, length) == 0)
            return slot;
    }
}

static void fill_slots(uc_names *self)
{
    memset(self->slots, 0xff, self->slot_count * sizeof *self->slots);
    for (size_t i = 0; i < self->count; i++) {
        const size_t length = strlen(self->text[i]);
        self->slots[slot_of(self, self->text[i], length)] = (uc_name_slot){(uint32_t)i, (uint32_t)length};
    }
}

/* Makes room for one more name; the table stays at most half full. */
static uc_status make_room(uc_names *self)
{
    if (self->count == self->capacity) {
        const size_t capacity = uc_grown(self->capacity, self->count + 1);
        char **text = uc_realloc(self->text, capacity, sizeof *text);
        if (!text)
            return UC_ERR_NOMEM;
        self->text = text;
        self->capacity = capacity;
    }
    if (2 * (self->count + 1) > self->slot_count) {
        const size_t slot_count = uc_max_size(2 * self->slot_count, 32);
        uc_name_slot *slots = uc_realloc(self->slots, slot_count, sizeof *slots);
        if (!slots)
            return UC_ERR_NOMEM;
        self->slots = slots;
        self->slot_count = slot_count;
        fill_slots(self);
    }
    return UC_OK;
}

uint32_t uc_names_find(const uc_names *self, const char *name, size_t length)
{
    if (self->count == 0)
        return UC_NONE;
    return self->slots[slot_of(self, name, length)].position;
}

static bool are_digits(const char *p, const char *end)
{
    for (; p < end; p++)
        if (*p < '0' || *p > '9')
            return false;
    return true;
}

size_t uc_label_number(char *out, const char *text, size_t length)
{
    const char *p = text, *end = text + length;
    size_t used = 0;
    if (length == 0 || length > 40)
        return 0;
    if (*p == '-')
        out[used++] = '-';
    p += *p == '-' || *p == '+';
    const char *point = memchr(p, '.', (size_t)(end - p)), *whole = point ? point : end;
    if (whole == p || !are_digits(p, whole) || (*p == '0' && whole - p > 1))
        return 0;
    if (point && (point + 1 == end || !are_digits(point + 1, end)))
        return 0;
    while (point && end > point && (end[-1] == '0' || end[-1] == '.'))
        end--;
    if (end < whole)
        end = whole;
    memcpy(out + used, p, (size_t)(end - p));
    used += (size_t)(end - p);
    return used == 2 && out[0] == '-' && out[1] == '0' ? 0 : used;
}

uint32_t uc_names_find_label(const uc_names *self, const char *name, size_t length)
{
    char wanted[64], other[64];
    const uint32_t found = uc_names_find(self, name, length);
    if (found != UC_NONE)
        return found;
    const size_t size = uc_label_number(wanted, name, length);
    for (size_t k = 0; k < self->count && size > 0; k++)
        if (uc_label_number(other, self->text[k], strlen(self->text[k])) == size &&
            memcmp(wanted, other, size) == 0)
            return (uint32_t)k;
    return UC_NONE;
}

uc_status uc_names_add(uint32_t *index, uc_names *self, const char *name, size_t length)
{
    const uint32_t found = uc_names_find(self, name, length);
    if (found != UC_NONE) {
        *index = found;
        return UC_OK;
    }
    if (self->count >= UC_NONE - 1)
        return uc_fail(UC_ERR_INVALID, "more than %u different names", UC_NONE - 1);
    const uc_status status = make_room(self);
    if (status != UC_OK)
        return status;
    char *text = uc_strndup(name, length);
    if (!text)
        return UC_ERR_NOMEM;
    const size_t slot = slot_of(self, name, length);
    self->text[self->count] = text;
    self->slots[slot] = (uc_name_slot){(uint32_t)self->count, (uint32_t)length};
    *index = (uint32_t)self->count++;
    return UC_OK;
}

uc_status uc_names_copy(uc_names *out, const uc_names *self)
{
    uc_names copy = {0};
    for (size_t i = 0; i < self->count; i++) {
        uint32_t index;
        const uc_status status = uc_names_add(&index, &copy, self->text[i], strlen(self->text[i]));
        if (status != UC_OK) {
            uc_names_free(&copy);
            return status;
        }
    }
    *out = copy;
    return UC_OK;
}

typedef struct entry {
    char *text;
    double number; /* NaN: names are compared as text */
    uint32_t old;
} entry;

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->number < y->number)
        return -1;
    if (x->number > y->number)
        return 1;
    return strcmp(x->text, y->text);
}

uc_status uc_names_sort(uc_names *self, uint32_t *renumber)
{
    entry *entries = uc_alloc(self->count, sizeof *entries);
    if (!entries)
        return UC_ERR_NOMEM;
    bool numbers = true;
    for (size_t i = 0; i < self->count; i++) {
        entries[i] = (entry){self->text[i], 0.0, (uint32_t)i};
        numbers = numbers && uc_parse_real(&entries[i].number, self->text[i], strlen(self->text[i])) &&
                  isfinite(entries[i].number);
    }
    for (size_t i = 0; i < self->count && !numbers; i++)
        entries[i].number = NAN;
    qsort(entries, self->count, sizeof *entries, compare);
    for (size_t i = 0; i < self->count; i++) {
        self->text[i] = entries[i].text;
        if (renumber)
            renumber[entries[i].old] = (uint32_t)i;
    }
    uc_free(entries);
    if (self->count)
        fill_slots(self);
    return UC_OK;
}

void uc_names_free(uc_names *self)
{
    for (size_t i = 0; i < self->count; i++)
        uc_free(self->text[i]);
    uc_free(self->text);
    uc_free(self->slots);
    *self = (uc_names){0};
}
