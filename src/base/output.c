/*
 * A file that appears whole or not at all: bytes go to a temporary name in the same directory, and the commit
 * renames it. What is not an ordinary file (a terminal, a pipe, /dev/null) is written directly. An output to
 * memory keeps everything in the buffer, which grows.
 *
 * Several files appear together: all are complete on disk before the first is renamed. A rename that fails
 * after that is undone: the old file keeps a second name until all are there.
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
#define BYTES_AT_ONCE ((size_t)1 << 24) /* between two questions whether to go on */
#define WAIT_MS 50                      /* the same, for a pipe that is full or has no reader */

struct uc_output {
    int file;
    int lock;        /* the same file, until it has its name; -1: none */
    char *name;      /* as it was given; NULL in memory */
    char *path;      /* where the file will be; NULL for standard output */
    char *temporary; /* NULL: written directly */
    char *backup;    /* the old file's second name during the commit of several; NULL: none */
    bool exists;     /* the file or pipe that is there already, and which it is */
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

/* After a wait, whether to wait once more. A signal alone does not end it: it may be a profiler's, or a
 * child's. */
static uc_status ask(const uc_output *self)
{
    if (!self->go_on || self->go_on(self->user))
        return UC_OK;
    return uc_fail(UC_ERR_CANCELLED, "interrupted");
}

/* Not a device: whatever is written to it, nothing is replaced or mixed up. */
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

/* A pipe that nobody reads yet is waited for, but not in a call that only a signal at the right moment could
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

/* Only the name of an ordinary file is resolved: what /dev/stdout leads to when it is a pipe has no name. */
static uc_status open_file(uc_output *self)
{
    struct stat info;
    const bool exists = stat(self->name, &info) == 0;
    if (!exists && errno == ELOOP) /* no file is at the end of it, and none of the links is to be replaced */
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
        (void)fchmod(self->file, info.st_mode & 07777); /* the new file may be read by whom the old one was */
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

/* ---- what it is ---- */

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

/* How many of the bytes were written, *written says. */
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

/* Everything is in the file, which is closed; its lock is kept. */
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

/* With `keep`, so that it can be undone. */
static uc_status appear(uc_output *self, bool keep)
{
    if (!self->temporary)
        return UC_OK;
    if (keep && self->exists) {
        self->backup = uc_alloc(strlen(self->path) + UC_TEMPORARY_ROOM, 1);
        if (!self->backup)
            return UC_ERR_NOMEM;
        if (!uc_temporary_link(self->backup, self->path)) { /* a file system without links: no way back */
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
