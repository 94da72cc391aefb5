/* A file of named arrays after a JSON header: model files and .ucd data files.
 *
 *   0   8   magic
 *   8   4   format version, little-endian as everything else
 *  12   4   length of the JSON text
 *  16   8   length of the whole file
 *  24       JSON object; its "arrays" member is a list of [name, type, count, offset]
 *           arrays, each at a multiple of 64 bytes
 *  end-8    CRC-32 of everything before it (4 bytes), then 4 zero bytes
 */
#ifndef UC_CONTAINER_H
#define UC_CONTAINER_H

#include <jansson.h>

#include "base/base.h"

typedef enum uc_array_type {
    UC_ARRAY_F64,
    UC_ARRAY_F32,
    UC_ARRAY_U64,
    UC_ARRAY_U32,
    UC_ARRAY_U8
} uc_array_type;

typedef struct uc_array {
    const char *name;
    uc_array_type type;
    const void *data;
    size_t count;
} uc_array;

/* The JSON text in one line, which the caller frees with uc_free; NULL if there is not enough memory. */
char *uc_json_text(const json_t *json);

/* Adds the "arrays" member to `header` and writes everything to an open output, which stays open. */
uc_status uc_container_write_to(uc_output *output, const char magic[8], uint32_t version, json_t *header,
                                const uc_array *arrays, size_t count);

/* The same bytes in memory, which the caller frees. */
uc_status uc_container_write_memory(void **bytes, size_t *length, const char magic[8], uint32_t version,
                                    json_t *header, const uc_array *arrays, size_t count);

/* A parsed container. The bytes still belong to the caller and must outlive it. Arrays are read in place; if
 * the bytes begin at an odd address, they are copied first and the container owns the copy. */
typedef struct uc_container {
    const unsigned char *bytes;
    void *copy; /* NULL if `bytes` are the caller's */
    size_t length;
    uint32_t version;
    json_t *header;
    const char *source; /* for messages */
} uc_container;

/* Checks the magic, the version (1 .. newest), the lengths and, if `verify`, the checksum, all before it
 * allocates anything. The message of a failure begins with `source`. Freed with uc_container_close. */
uc_status uc_container_open(uc_container *out, const void *bytes, size_t length, const char magic[8],
                            uint32_t newest, bool verify, const char *source);
/* *data points into the bytes (aligned to 64 relative to their start). Fails if the file has no array of that
 * name, type and count. */
uc_status uc_container_array(const void **data, const uc_container *self, const char *name,
                             uc_array_type type, size_t count);
/* Array number i of any type; its name belongs to the container. Past the last array, returns UC_OK and a
 * name of NULL. */
uc_status uc_container_array_at(uc_array *out, const uc_container *self, size_t i);
size_t uc_array_item_size(uc_array_type type);
bool uc_container_has(const uc_container *self, const char *name);
uint32_t uc_container_checksum(const uc_container *self); /* as stored in the file */
void uc_container_close(uc_container *self);

#endif
