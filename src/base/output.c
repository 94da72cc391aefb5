/*
 * A file that appears either complete or not at all: bytes go to a temporary file in the same directory, and
 * the commit renames it. Anything but a regular file (a terminal, a pipe, /dev/null) is written directly. An
 * output to memory keeps everything in its buffer, which grows.
 *
 * Several files appear together: all are complete on disk before the first is renamed. If a rename fails, the
 * ones before it are undone: each old file keeps a second name until all new ones are in place.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/output_file.h"

#define BUFFER_BYTES ((size_t)1 << 18)
#define BYTES_AT_ONCE ((size_t)1 << 24) /* between two calls of go_on */
#define WAIT_MS 50                      /* the same, while a pipe is full or has no reader */

struct uc_output {
    int file;
    int lock;        /* a duplicate of `file` that keeps its lock until the end; -1: none */
    char *name;      /* as given; NULL in memory */
    char *path;      /* where the file will be; NULL for standard output */
    char *temporary; /* NULL: written directly */
    char *backup;    /* the old file's second name during the commit of several; NULL: none */
    bool exists;     /* whether the file or pipe exists already; device and inode identify it */
    dev_t device;
    ino_t inode;
    uc_go_on_fn *go_on;
    void *user;
    size_t filled;
    char *buffer;
    bool in_memory;
    size_t capacity; /* of the buffer, in memory */
};

static const char *shown(const uc_output *self)
{
    if (!self->name)
        return "memory";
    return strcmp(self->name, "-") == 0 ? "standard output" : self->name;
}

static uc_status fail_io(const uc_output *self, const char *verb)
{
    return uc_fail(UC_ERR_IO, "%s: cannot %s: %s", shown(self), verb, strerror(errno));
}

/* Asks whether to go on after a wait. A signal alone does not end the wait, since it may come from a profiler
 * or a child process. */
static uc_status ask(const uc_output *self)
{
    if (!self->go_on || self->go_on(self->user))
        return UC_OK;
    return uc_fail(UC_ERR_CANCELLED, "interrupted");
}

/* Remembers which file or pipe exists, but not a device: writing to it twice replaces and mixes up
 * nothing. */
static void remember(uc_output *self, const struct stat *info)
{
    if (!S_ISREG(info->st_mode) && !S_ISFIFO(info->st_mode))
        return;
    self->exists = true;
    self->device = info->st_dev;
    self->inode = info->st_ino;
}

/* ---- opening ---- */

static uc_status open_temporary(uc_output *self)
{
    self->temporary = uc_alloc(strlen(self->path) + UC_TEMPORARY_ROOM, 1);
    if (!self->temporary)
        return UC_ERR_NOMEM;
    self->file = uc_temporary_open(self->temporary, self->path);
    if (self->file >= 0)
        return UC_OK;
    const uc_status status = fail_io(self, "write");
    uc_free(self->temporary);
    self->temporary = NULL;
    return status;
}

/* Waits for a reader if it is a pipe, but not inside open(), which only a signal at the right moment could
 * end. */
static uc_status open_directly(uc_output *self, bool pipe)
{
    const struct timespec pause = {.tv_nsec = WAIT_MS * 1000000L};
    int flags = O_WRONLY | O_CLOEXEC;
    if (pipe)
        flags |= O_NONBLOCK;
    for (;;) {
        self->file = open(self->path, flags);
        if (self->file >= 0)
            return UC_OK;
        if (errno != EINTR && !(pipe && errno == ENXIO))
            return fail_io(self, "write");
        if (errno == ENXIO)
            (void)nanosleep(&pause, NULL);
        const uc_status status = ask(self);
        if (status != UC_OK)
            return status;
    }
}

/* Only the path of a regular file is resolved: if /dev/stdout is a pipe, what it leads to has no path. */
static uc_status open_file(uc_output *self)
{
    struct stat info;
    const bool exists = stat(self->name, &info) == 0;
    if (!exists && errno == ELOOP) /* the links lead to no file, and none of them may be replaced */
        return fail_io(self, "write");
    if (exists)
        remember(self, &info);
    if (exists && S_ISDIR(info.st_mode))
        return uc_fail(UC_ERR_IO, "%s: cannot write: it is a directory", self->name);
    const bool direct = exists && !S_ISREG(info.st_mode);
    if (direct)
        self->path = uc_strdup(self->name);
    else
        self->path = uc_target_of(self->name);
    if (!self->path)
        return UC_ERR_NOMEM;
    if (direct)
        return open_directly(self, S_ISFIFO(info.st_mode));
    const uc_status status = open_temporary(self);
    if (status == UC_OK && exists)
        (void)fchmod(self->file, info.st_mode & 07777); /* the new file has the permissions of the old one */
    return status;
}

static uc_output *create(void)
{
    uc_output *self = uc_alloc(1, sizeof *self);
    if (self)
        self->file = self->lock = -1;
    return self;
}

uc_status uc_output_begin(uc_output **out, const char *path, uc_go_on_fn *go_on, void *user)
{
    struct stat info;
    if (!*path)
        return uc_fail(UC_ERR_IO, "'': cannot write: a file needs a name");
    uc_output *self = create();
    if (!self)
        return UC_ERR_NOMEM;
    self->go_on = go_on;
    self->user = user;
    uc_status status = UC_OK;
    self->name = uc_strdup(path);
    self->buffer = uc_alloc(BUFFER_BYTES, 1);
    if (!self->buffer || !self->name) {
        status = UC_ERR_NOMEM;
    } else if (strcmp(path, "-") == 0) {
        self->file = STDOUT_FILENO;
        if (fstat(self->file, &info) == 0)
            remember(self, &info);
    } else {
        status = open_file(self);
    }
    if (status != UC_OK) {
        uc_output_abort(self);
        return status;
    }
    *out = self;
    return UC_OK;
}

uc_status uc_output_open(uc_output **out, const char *path)
{
    return uc_output_begin(out, path, NULL, NULL);
}

uc_status uc_output_open_memory(uc_output **out)
{
    uc_output *self = create();
    if (!self)
        return UC_ERR_NOMEM;
    self->in_memory = true;
    *out = self;
    return UC_OK;
}

/* ---- queries ---- */

const char *uc_output_name(const uc_output *self)
{
    return self->name ? self->name : "memory";
}

const char *uc_output_temporary(const uc_output *self)
{
    return self->temporary;
}

bool uc_output_is_same(const uc_output *a, const uc_output *b)
{
    if (a->exists && b->exists)
        return a->device == b->device && a->inode == b->inode;
    if (a->temporary && b->temporary)
        return strcmp(a->path, b->path) == 0;
    return !a->path && !b->path;
}

bool uc_output_replaces(const uc_output *self, const char *path)
{
    struct stat info;
    return self->exists && stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_dev == self->device &&
           info.st_ino == self->inode;
}

/* ---- writing ---- */

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

/* Sets *written to the number of bytes that were written. */
static uc_status write_some(uc_output *self, const char *bytes, size_t length, size_t *written)
{
    struct pollfd room = {.fd = self->file, .events = POLLOUT};
    const ssize_t count = write(self->file, bytes, uc_min_size(length, BYTES_AT_ONCE));
    *written = count > 0 ? (size_t)count : 0;
    if (count < 0 && errno == EAGAIN)
        (void)poll(&room, 1, WAIT_MS);
    else if (count < 0 && errno != EINTR)
        return fail_io(self, "write");
    if (*written == length)
        return UC_OK;
    return ask(self);
}

static uc_status write_all(uc_output *self, const char *bytes, size_t length)
{
    uc_status status = UC_OK;
    while (length > 0 && status == UC_OK) {
        size_t written;
        status = write_some(self, bytes, length, &written);
        bytes += written;
        length -= written;
    }
    return status;
}

static uc_status flush(uc_output *self)
{
    const uc_status status = write_all(self, self->buffer, self->filled);
    self->filled = 0;
    return status;
}

uc_status uc_output_write(uc_output *self, const void *bytes, size_t length)
{
    if (length == 0)
        return UC_OK;
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
        return uc_fail(UC_ERR_INVALID, "%s: a text of %d bytes is too long to write at once", shown(self),
                       length);
    return uc_output_write(self, text, (size_t)length);
}

/* ---- the end ---- */

/* The rename itself must reach the disk too. */
static void sync_directory(const char *path)
{
    char *directory = uc_directory_of(path);
    if (!directory)
        return;
    const int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0) {
        (void)fsync(file); /* some file systems cannot sync a directory; the file itself was synced */
        close(file);
    }
    uc_free(directory);
}

static void release(uc_output *self)
{
    if (self->lock >= 0)
        close(self->lock);
    uc_free(self->backup);
    uc_free(self->temporary);
    uc_free(self->path);
    uc_free(self->name);
    uc_free(self->buffer);
    uc_free(self);
}

/* Writes the rest to the file and closes it, but keeps its lock. */
static uc_status finish(uc_output *self, bool durable)
{
    uc_status status = flush(self);
    if (status == UC_OK && durable && self->temporary && fsync(self->file) != 0)
        status = fail_io(self, "write");
    if (self->path) {
        if (self->temporary)
            self->lock = fcntl(self->file, F_DUPFD_CLOEXEC, 3);
        if (close(self->file) != 0 && status == UC_OK)
            status = fail_io(self, "write");
        self->file = -1;
    }
    return status;
}

/* Renames the temporary file to its final name. With `keep` this can be undone. */
static uc_status appear(uc_output *self, bool keep)
{
    if (!self->temporary)
        return UC_OK;
    if (keep && self->exists) {
        self->backup = uc_alloc(strlen(self->path) + UC_TEMPORARY_ROOM, 1);
        if (!self->backup)
            return UC_ERR_NOMEM;
        if (!uc_temporary_link(self->backup, self->path)) { /* no hard links here: it cannot be undone */
            uc_free(self->backup);
            self->backup = NULL;
        }
    }
    if (rename(self->temporary, self->path) != 0)
        return fail_io(self, "rename to");
    return UC_OK;
}

static void disappear(uc_output *self)
{
    if (self->backup)
        (void)rename(self->backup, self->path);
    else if (self->temporary && !self->exists)
        (void)unlink(self->path);
    uc_free(self->backup);
    self->backup = NULL;
}

static void leave(uc_output *self, bool durable)
{
    if (self->backup)
        (void)unlink(self->backup);
    if (durable && self->temporary)
        sync_directory(self->path);
    release(self);
}

uc_status uc_output_commit_all(uc_output *const *outputs, size_t count, bool durable)
{
    uc_status status = UC_OK;
    size_t appeared = 0;
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = finish(outputs[i], durable);
    while (appeared < count && status == UC_OK) {
        status = appear(outputs[appeared], count > 1);
        appeared += status == UC_OK;
    }
    if (status == UC_OK) {
        for (size_t i = 0; i < count; i++)
            leave(outputs[i], durable);
        return UC_OK;
    }
    for (size_t i = 0; i < appeared; i++)
        disappear(outputs[i]);
    for (size_t i = 0; i < count; i++)
        uc_output_abort(outputs[i]);
    return status;
}

uc_status uc_output_commit(uc_output *self, bool durable)
{
    return uc_output_commit_all(&self, 1, durable);
}

uc_status uc_output_end(uc_output *self, uc_status status, bool durable)
{
    if (status == UC_OK)
        return uc_output_commit(self, durable);
    uc_output_abort(self);
    return status;
}

void uc_output_abort(uc_output *self)
{
    if (!self)
        return;
    if (self->file >= 0 && self->path)
        close(self->file);
    if (self->temporary)
        (void)unlink(self->temporary);
    if (self->backup)
        (void)unlink(self->backup);
    release(self);
}
