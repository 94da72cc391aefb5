/* What the parts of the model file share. */
#ifndef UC_MODEL_FILE_H
#define UC_MODEL_FILE_H

#include "data/container.h"
#include "unconfuse/map.h"

#define UC_MAP_ARRAYS 6 /* at most */

/* map NULL: the word none */
json_t *uc_map_header(const uc_map *map);
const char *uc_map_kind_word(uc_map_kind kind);
const char *uc_kernel_word(uc_kernel kernel);
const char *uc_scaling_word(int scaling);
size_t uc_map_arrays(uc_array arrays[UC_MAP_ARRAYS], const uc_map *map);
uc_status uc_map_read(uc_map **out, const uc_container *file); /* *out NULL: the file has none */

#endif
