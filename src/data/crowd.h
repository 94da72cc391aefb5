/* Collecting annotations for a uc_crowd. */
#ifndef UC_DATA_CROWD_H
#define UC_DATA_CROWD_H

#include "parallel/parallel.h"
#include "unconfuse/crowd.h"

/* Annotations in any order; the arrays have `count` entries. */
typedef struct uc_annotation_list {
    size_t count, capacity;
    uint32_t *row, *annotator, *label;
    uint32_t *line;   /* of the file, for messages; NULL if they come from arrays */
    const char *name; /* of the file; NULL if there is none */
} uc_annotation_list;

uc_status uc_annotation_list_add(uc_annotation_list *self, uint32_t row, uint32_t annotator, uint32_t label,
                                 size_t line);
void uc_annotation_list_free(uc_annotation_list *self);

/* Sorts the annotations into `self`, whose names and number of rows are already set. Fails if an annotator
 * gives a row two different labels; the same label given twice counts once, with a warning. */
uc_status uc_crowd_fill(uc_crowd *self, const uc_annotation_list *list, const uc_context *context);

/* A stable counting sort. out[0 .. count-1] become the items of `order` (NULL: 0, 1, ...), sorted by
 * keys[item]; those of key k begin at starts[k], k <= key_count. */
void uc_sort_by_key(uint32_t *out, size_t *starts, const uint32_t *keys, size_t key_count,
                    const uint32_t *order, size_t count);

/* Sorts a set of names, and updates positions[0 .. count-1] to the positions in the sorted set. */
uc_status uc_names_sort_with(uc_names *names, uint32_t *positions, size_t count);

#endif
