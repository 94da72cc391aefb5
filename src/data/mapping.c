/* Files in memory, mapped if the system can do that. */
#define _GNU_SOURCE
#include "data/mapping.h"

#include <sys/mman.h>

static void map_file(uc_mapping *self, const uc_input *input)
{
    const int file = uc_input_file(input);
    const uint64_t total = uc_input_total(input);
    if (file < 0 || total == 0 || total > SIZE_MAX)
        return;
    self->length = (size_t)total;
    self->bytes = mmap(NULL, self->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
    self->mapped = self->bytes != MAP_FAILED;
}

uc_status uc_mapping_open(uc_mapping **out, uc_input *input, const uc_context *context)
{
    uc_mapping *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    map_file(self, input);
    if (!self->mapped) { /* a pipe, an archive, or a file system that cannot map */
        char *bytes = NULL;
        const uc_status status = uc_input_read_all(&bytes, &self->length, input, 0, context);
        self->bytes = bytes;
        if (status != UC_OK) {
            uc_mapping_free(self);
            return status;
        }
    }
    *out = self;
    return UC_OK;
}

void uc_mapping_free(uc_mapping *self)
{
    if (!self)
        return;
    if (self->mapped)
        munmap(self->bytes, self->length);
    else
        uc_free(self->bytes);
    uc_free(self);
}

bool uc_mapping_is_file(const uc_mapping *self)
{
    return self && self->mapped;
}
