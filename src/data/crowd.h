/* Annotations on their way into a uc_crowd. */
#ifndef UC_DATA_CROWD_H
#define UC_DATA_CROWD_H

#include "parallel/parallel.h"
#include "unconfuse/crowd.h"

/* Annotations in any order; the arrays have `count` entries. */
typedef struct uc_annotation_list {
    size_t count, capacity;
    uint32_t *row, *annotator, *label;
    uint32_t *line;   /* of the file, for messages; NULL: they come from arrays */
    const char *name; /* of the file; NULL: none */
} uc_annotation_list;

uc_status uc_annotation_list_add(uc_annotation_list *self, uint32_t row, uint32_t annotator, uint32_t label,
                                 size_t line);
void uc_annotation_list_free(uc_annotation_list *self);

/* Puts the annotations in order in `self`, whose names and number of rows are set. Fails where an annotator
 * gives a row two labels; one who gives it the same label twice is heard once, with a warning. */
uc_status uc_crowd_fill(uc_crowd *self, const uc_annotation_list *list, const uc_context *context);

/* A stable counting sort. out[0 .. count-1] are the items of `order` (NULL: 0, 1, ...) with keys[item]
 * ascending,
 * and otherwise as they were; those of key k begin at starts[k], k <= key_count. */
void uc_sort_by_key(uint32_t *out, size_t *starts, const uint32_t *keys, size_t key_count,
                    const uint32_t *order, size_t count);

/* Sorts a set of names, and makes positions[0 .. count-1] those of the sorted set. */
uc_status uc_names_sort_with(uc_names *names, uint32_t *positions, size_t count);

#endif
