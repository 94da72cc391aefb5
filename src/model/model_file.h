/* Functions shared by the files that read and write parts of the model file. */
#ifndef UC_MODEL_FILE_H
#define UC_MODEL_FILE_H

#include "data/container.h"
#include "unconfuse/prepare.h"
#include "unconfuse/table.h"

#define UC_MAP_ARRAYS 8 /* at most */

/* map NULL: the word "none" */
json_t *uc_map_header(const uc_map *map);
const char *uc_map_kind_word(uc_map_kind kind);
const char *uc_kernel_word(uc_kernel kernel);
const char *uc_scaling_word(int scaling);
size_t uc_map_arrays(uc_array arrays[UC_MAP_ARRAYS], const uc_map *map);
#define UC_TABLE_ARRAYS 5 /* at most */

json_t *uc_table_header(const uc_table *table);
/* The values of all categories, which the caller frees. */
uc_status uc_table_values(char **out, size_t *length, const uc_table *table);
size_t uc_table_arrays(uc_array arrays[UC_TABLE_ARRAYS], const uc_table *table, const char *values,
                       size_t length);
/* If the file has no table, *out is unchanged. */
uc_status uc_table_read(uc_table **out, const uc_container *file, size_t features);

uc_status uc_map_read(uc_map **out, const uc_container *file); /* *out NULL: the file has none */

/* The preprocessing of rows (steps_file.c): the header member "steps", and the arrays shift and factor. */
json_t *uc_steps_header(const uc_preprocessing *self);
/* Reads scaling, lengths and map, for rows with this number of features. */
uc_status uc_steps_read(uc_preprocessing *out, const uc_container *file, size_t features);
/* The header member "views"; NULL: there are none. */
json_t *uc_views_header(const uc_preprocessing *self);
typedef struct uc_view_bytes {
    char name[32];
    void *bytes;
    size_t length;
} uc_view_bytes;
/* Writes every view as a container of its own, which becomes one array; *out NULL: there are none. */
uc_status uc_views_bytes(uc_view_bytes **out, const uc_preprocessing *self);
size_t uc_views_arrays(uc_array *arrays, const uc_view_bytes *views, size_t count);
void uc_views_bytes_free(uc_view_bytes *views, size_t count);
uc_status uc_views_read(uc_preprocessing *out, const uc_container *file, size_t features);

/* Copies the array of that name; *out is unchanged if there is none. All values must be finite. */
uc_status uc_container_reals(double **out, const uc_container *file, const char *name, size_t count);
uc_status uc_container_check_finite(const uc_container *file, const char *name, const double *values,
                                    size_t count);

#endif
