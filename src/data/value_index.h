/* Short values of a table, of at most 16 bytes, stored in two words. They are compared and hashed without a
 * loop and without a branch that depends on their length. */
#ifndef UC_DATA_VALUE_INDEX_H
#define UC_DATA_VALUE_INDEX_H

#include "data/value.h"
#include "unconfuse/names.h"

#define UC_SHORT_VALUE ((size_t)16)

typedef struct uc_short_value {
    uint64_t words[2]; /* the bytes, padded with zeros */
} uc_short_value;

extern const uint64_t uc_short_masks[UC_SHORT_VALUE + 1][2];

/* The text has at most UC_SHORT_VALUE bytes; UC_NUMBER_SLACK bytes after it are readable. */
UC_INLINE uc_short_value uc_value_short(const char *text, size_t length)
{
    uint64_t words[2];
    memcpy(words, text, sizeof words);
    return (uc_short_value){
        {le64toh(words[0]) & uc_short_masks[length][0], le64toh(words[1]) & uc_short_masks[length][1]}};
}

UC_INLINE uint64_t uc_short_mark(uc_short_value value, size_t length)
{
    uint64_t mark = (value.words[0] ^ length * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0x9fb21c651e98df25);
    mark = ((mark ^ mark >> 32) ^ value.words[1]) * UINT64_C(0xd6e8feb86659fd93);
    mark = (mark ^ mark >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return mark ^ mark >> 32;
}

/* An index of the positions of names, for many look-ups. */
typedef struct uc_value_slot {
    uc_short_value value;
    uint32_t length, position; /* UC_NONE: the slot is empty */
} uc_value_slot;

typedef struct uc_value_index {
    const uc_names *names;
    uc_value_slot *slots; /* of the short names; NULL if there are none */
    size_t count;         /* a power of 2 */
} uc_value_index;         /* zero-initialised may be freed */

/* The names must outlive the index. */
uc_status uc_value_index_create(uc_value_index *out, const uc_names *names);
void uc_value_index_free(uc_value_index *self);

/* uc_names_find. UC_NUMBER_SLACK bytes after the text are readable. */
UC_INLINE uint32_t uc_value_index_find(const uc_value_index *self, const char *text, size_t length)
{
    if (length > UC_SHORT_VALUE || !self->slots)
        return uc_names_find(self->names, text, length);
    const uc_short_value value = uc_value_short(text, length);
    size_t slot = (size_t)uc_short_mark(value, length) & (self->count - 1);
    for (;; slot = (slot + 1) & (self->count - 1)) {
        const uc_value_slot *found = &self->slots[slot];
        const uint64_t differ = (found->value.words[0] ^ value.words[0]) |
                                (found->value.words[1] ^ value.words[1]) | (found->length ^ length);
        if (differ == 0 || found->position == UC_NONE)
            return found->position;
    }
}

#endif
