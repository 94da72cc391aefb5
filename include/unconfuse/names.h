/* An ordered set of distinct names with fast look-up, such as class names or bag names. */
#ifndef UNCONFUSE_NAMES_H
#define UNCONFUSE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "unconfuse/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Not a position. As a label: the example has no label, or one that the model does not know. */
#define UC_NONE UINT32_MAX

typedef struct uc_names {
    size_t count;
    char **text;                /* names in order; each ends with a zero byte */
    struct uc_name_slot *slots; /* hash table of positions; private */
    size_t capacity, slot_count;
} uc_names; /* zero-initialised is an empty set */

/* *index becomes the position of the name, which is added at the end if it is new. */
uc_status uc_names_add(uint32_t *index, uc_names *self, const char *name, size_t length);
uint32_t uc_names_find(const uc_names *self, const char *name, size_t length); /* or UC_NONE */
/* The same for a label: +1 and 1.0 also match the name 1; 007 does not match 7. */
uint32_t uc_names_find_label(const uc_names *self, const char *name, size_t length);
uc_status uc_names_copy(uc_names *out, const uc_names *self);
/* Sorts numerically if every name is a number, otherwise by bytes. renumber[old position] becomes the new
 * position; it has `count` entries and may be NULL. */
uc_status uc_names_sort(uc_names *self, uint32_t *renumber);
void uc_names_free(uc_names *self); /* leaves an empty set */

/* Returns name i of a list, or NULL past its end. */
typedef const char *uc_name_at_fn(size_t i, const void *user);
/* The name that a mistyped `word` was probably meant to be, for "did you mean"; NULL if none is close. */
const char *uc_names_nearest(const char *word, uc_name_at_fn *name_at, const void *user);

#ifdef __cplusplus
}
#endif

#endif
