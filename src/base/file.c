/* A whole file in memory. Small files are read, because a mapped file that becomes shorter kills the program
 * that reads it. Large files are mapped if possible, so that they need not be in memory twice. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

#define LARGE_BYTES ((off_t)1 << 26)

static uc_status fail_io(const char *path)
{
    return uc_fail(UC_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
}

static uc_status read_all(uc_bytes *out, int file, const char *path, const void *begin, size_t begin_length)
{
    unsigned char *data = NULL;
    size_t length = 0, capacity = 0;
    bool wanted = true;
    while (wanted) {
        if (length == capacity) {
            capacity = uc_grown(capacity, length + ((size_t)1 << 16));
            unsigned char *grown = uc_realloc(data, capacity, 1);
            if (!grown) {
                uc_free(data);
                return UC_ERR_NOMEM;
            }
            data = grown;
        }
        const ssize_t got = read(file, data + length, capacity - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            const uc_status status = fail_io(path);
            uc_free(data);
            return status;
        }
        if (got == 0)
            break;
        length += (size_t)got;
        wanted = begin_length == 0 || length < begin_length || memcmp(data, begin, begin_length) == 0;
    }
    *out = (uc_bytes){data, length, false};
    return UC_OK;
}

uc_status uc_bytes_read_kind(uc_bytes *out, const char *path, const void *begin, size_t begin_length)
{
    if (strcmp(path, "-") == 0)
        return read_all(out, STDIN_FILENO, "standard input", begin, begin_length);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return fail_io(path);
    struct stat info;
    uc_status status = UC_OK;
    void *data = MAP_FAILED;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= LARGE_BYTES)
        data = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (data != MAP_FAILED)
        *out = (uc_bytes){data, (size_t)info.st_size, true};
    else
        status = read_all(out, file, path, begin, begin_length);
    close(file);
    return status;
}

uc_status uc_bytes_read(uc_bytes *out, const char *path)
{
    return uc_bytes_read_kind(out, path, NULL, 0);
}

void uc_bytes_free(uc_bytes *self)
{
    if (self->mapped)
        munmap(self->data, self->length);
    else
        uc_free(self->data);
    *self = (uc_bytes){0};
}
