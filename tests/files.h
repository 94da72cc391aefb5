/* Files that tests make with the library's own writers: containers and compressed files. */
#ifndef TESTS_FILES_H
#define TESTS_FILES_H

#include "tests/support.h"

#include "data/container.h"
#include "data/sink.h"

static inline uc_status write_container(const char *path, const char magic[8], uint32_t version,
                                        json_t *header, const uc_array *arrays, size_t count)
{
    uc_output *output = NULL;
    const uc_status status = uc_output_open(&output, path);
    if (status != UC_OK)
        return status;
    return uc_output_end(output, uc_container_write_to(output, magic, version, header, arrays, count), false);
}

/* Writes a compressed file, as the ending of the path says: .gz or .zst. */
static inline void write_packed(const char *path, const void *bytes, size_t length)
{
    uc_output *output = NULL;
    uc_sink *sink = NULL;
    assert_ok(uc_output_open(&output, path));
    assert_ok(uc_sink_begin(&sink, output));
    assert_ok(uc_sink_write(sink, bytes, length));
    assert_ok(uc_sink_end(sink));
    assert_ok(uc_output_commit(output, false));
}

#endif
