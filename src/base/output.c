/*
 * A file that appears whole or not at all: bytes go to a temporary name in the same directory, and the commit
 * renames it. What is not an ordinary file (a terminal, a pipe, /dev/null) is written directly. An output to memory
 * keeps everything in the buffer, which grows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

#define BUFFER_BYTES ((size_t)1 << 18)

struct uc_output {
    int file;
    char *path;      /* where the file will be; NULL for standard output */
    char *temporary; /* NULL: written directly */
    size_t filled;
    char *buffer;
    bool in_memory;
    size_t capacity; /* of the buffer, in memory */
};

static const char *name_of(const uc_output *self)
{
    return self->path ? self->path : "standard output";
}

static uc_status fail_io(const uc_output *self, const char *verb)
{
    return uc_fail(UC_ERR_IO, "%s: cannot %s: %s", name_of(self), verb, strerror(errno));
}

/* A symbolic link is followed, so that the file behind it is replaced and the link stays. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    char *copy = uc_strdup(real ? real : path);
    free(real);
    return copy;
}

static uc_status open_temporary(uc_output *self)
{
    const size_t size = strlen(self->path) + 32;
    self->temporary = uc_alloc(size, 1);
    if (!self->temporary)
        return UC_ERR_NOMEM;
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        snprintf(self->temporary, size, "%s.%ld-%u.tmp", self->path, (long)getpid(), attempt);
        self->file = open(self->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (self->file >= 0)
            return UC_OK;
        if (errno != EEXIST)
            break;
    }
    const uc_status status = fail_io(self, "write");
    uc_free(self->temporary);
    self->temporary = NULL;
    return status;
}

static uc_status open_file(uc_output *self, const char *path)
{
    struct stat info;
    self->path = resolve(path);
    if (!self->path)
        return UC_ERR_NOMEM;
    const bool exists = stat(self->path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return uc_fail(UC_ERR_IO, "%s: cannot write: it is a directory", self->path);
    if (!exists || S_ISREG(info.st_mode)) {
        const uc_status status = open_temporary(self);
        if (status == UC_OK && exists)
            (void)fchmod(self->file,
                         info.st_mode & 07777); /* the new file may be read by whom the old one was */
        return status;
    }
    self->file = open(self->path, O_WRONLY | O_CLOEXEC);
    return self->file >= 0 ? UC_OK : fail_io(self, "write");
}

uc_status uc_output_open(uc_output **out, const char *path)
{
    uc_output *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    self->file = -1;
    uc_status status = UC_OK;
    self->buffer = uc_alloc(BUFFER_BYTES, 1);
    if (!self->buffer)
        status = UC_ERR_NOMEM;
    else if (strcmp(path, "-") == 0)
        self->file = STDOUT_FILENO;
    else
        status = open_file(self, path);
    if (status != UC_OK) {
        uc_output_abort(self);
        return status;
    }
    *out = self;
    return UC_OK;
}

uc_status uc_output_open_memory(uc_output **out)
{
    uc_output *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    self->file = -1;
    self->in_memory = true;
    *out = self;
    return UC_OK;
}

static uc_status append(uc_output *self, const void *bytes, size_t length)
{
    size_t needed;
    if (!uc_size_add(&needed, self->filled, length))
        return uc_fail(UC_ERR_NOMEM, "an output of that length does not fit in memory");
    if (needed > self->capacity) {
        const size_t capacity = uc_grown(self->capacity, needed);
        char *buffer = uc_realloc(self->buffer, capacity, 1);
        if (!buffer)
            return UC_ERR_NOMEM;
        self->buffer = buffer;
        self->capacity = capacity;
    }
    memcpy(self->buffer + self->filled, bytes, length);
    self->filled = needed;
    return UC_OK;
}

void uc_output_take(void **bytes, size_t *length, uc_output *self)
{
    *bytes = self->buffer;
    *length = self->filled;
    self->buffer = NULL;
    uc_output_abort(self);
}

static uc_status write_all(uc_output *self, const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(self->file, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return fail_io(self, "write");
        bytes += written;
        length -= (size_t)written;
    }
    return UC_OK;
}

static uc_status flush(uc_output *self)
{
    const uc_status status = write_all(self, self->buffer, self->filled);
    self->filled = 0;
    return status;
}

uc_status uc_output_write(uc_output *self, const void *bytes, size_t length)
{
    if (self->in_memory)
        return append(self, bytes, length);
    if (self->filled + length > BUFFER_BYTES) {
        const uc_status status = flush(self);
        if (status != UC_OK)
            return status;
    }
    if (length > BUFFER_BYTES)
        return write_all(self, bytes, length);
    memcpy(self->buffer + self->filled, bytes, length);
    self->filled += length;
    return UC_OK;
}

uc_status uc_output_printf(uc_output *self, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        return uc_fail(UC_ERR_INVALID, "%s: a text of %d bytes is too long to write at once", name_of(self),
                       length);
    return uc_output_write(self, text, (size_t)length);
}

/* The rename itself must reach the disk too. */
static void sync_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    const int file = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        (void)fsync(file); /* some file systems cannot sync a directory; the file itself was synced */
        close(file);
    }
    free(directory);
}

static void release(uc_output *self)
{
    uc_free(self->temporary);
    uc_free(self->path);
    uc_free(self->buffer);
    uc_free(self);
}

uc_status uc_output_commit(uc_output *self, bool durable)
{
    uc_status status = flush(self);
    if (status == UC_OK && durable && self->temporary && fsync(self->file) != 0)
        status = fail_io(self, "write");
    if (self->path) {
        if (close(self->file) != 0 && status == UC_OK)
            status = fail_io(self, "write");
        self->file = -1;
    }
    if (status == UC_OK && self->temporary && rename(self->temporary, self->path) != 0)
        status = fail_io(self, "rename to");
    if (status != UC_OK) {
        uc_output_abort(self);
        return status;
    }
    if (durable && self->temporary && self->path)
        sync_directory(self->path);
    release(self);
    return UC_OK;
}

void uc_output_abort(uc_output *self)
{
    if (!self)
        return;
    if (self->file >= 0 && self->path)
        close(self->file);
    if (self->temporary)
        (void)unlink(self->temporary);
    release(self);
}
