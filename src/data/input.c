/*
 * Bytes pass through up to three stages:
 *
 *   file or memory  ->  raw (packed bytes)  ->  zlib or zstd  ->  the caller, or head (bytes peeked at)
 *
 * A file that is not packed is read by the system directly into the caller's buffer. An archive may consist
 * of several concatenated members, as made by `cat a.gz b.gz`; it must end at the end of a member.
 */
#define _GNU_SOURCE
#include "data/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define RAW_BYTES ((size_t)1 << 17)
#define HEAD_BYTES ((size_t)1 << 16)

typedef enum packing { PLAIN, GZIP, ZSTD } packing;

struct uc_input {
    char *name;
    int file; /* -1: memory */
    bool regular;
    const unsigned char *memory;
    uint64_t done, total;
    bool windowed; /* the file continues after `total` */

    packing packing;
    z_stream gzip;
    ZSTD_DStream *zstd;
    bool inside;        /* within a member of the archive */
    unsigned char *raw; /* bytes from the file that have not been used yet: raw[raw_at .. raw_end) */
    size_t raw_at, raw_end;

    char *head;
    size_t head_at, head_end;
};

/* ---- from the system ---- */

static uc_status fail_io(const uc_input *self)
{
    return uc_fail(UC_ERR_IO, "%s: cannot read: %s", self->name, strerror(errno));
}

/* Reads up to `size` bytes of the file or memory; *got is 0 at its end. */
static uc_status take(size_t *got, uc_input *self, void *buffer, size_t size)
{
    if (self->file < 0) {
        const uint64_t left = self->total - self->done;
        *got = uc_min_size(left, size);
        if (*got)
            memcpy(buffer, self->memory + self->done, *got);
        self->done += *got;
        return UC_OK;
    }
    if (self->windowed && size > self->total - self->done)
        size = (size_t)(self->total - self->done);
    ssize_t count;
    do
        count = read(self->file, buffer, size);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return fail_io(self);
    *got = (size_t)count;
    self->done += (uint64_t)count;
    return UC_OK;
}

/* Whether a read would return at once. */
static bool is_ready(const uc_input *self)
{
    if (!uc_input_is_live(self))
        return true;
    struct pollfd one = {.fd = self->file, .events = POLLIN};
    return poll(&one, 1, 0) > 0;
}

/* ---- unpacking ---- */

static voidpf zlib_alloc(voidpf user, uInt count, uInt size)
{
    (void)user;
    return uc_alloc(count, size);
}

static void zlib_free(voidpf user, voidpf block)
{
    (void)user;
    uc_free(block);
}

/* Fills `raw` if it is empty; *ended: there are no more bytes. */
static uc_status refill(bool *ended, uc_input *self)
{
    *ended = false;
    if (self->raw_at < self->raw_end)
        return UC_OK;
    self->raw_at = self->raw_end = 0;
    size_t got;
    const uc_status status = take(&got, self, self->raw, RAW_BYTES);
    if (status == UC_OK) {
        self->raw_end = got;
        *ended = got == 0;
    }
    return status;
}

/* Between two gzip members: zero bytes are padding, anything else must be the next member. */
static uc_status next_gzip_member(uc_input *self)
{
    while (self->raw_at < self->raw_end && self->raw[self->raw_at] == 0)
        self->raw_at++;
    if (self->raw_at == self->raw_end)
        return UC_OK;
    if (self->raw[self->raw_at] != 0x1f)
        return uc_fail(UC_ERR_FORMAT, "%s: the archive is followed by something else", self->name);
    inflateReset(&self->gzip);
    self->inside = true;
    return UC_OK;
}

static uc_status step_gzip(size_t *made, uc_input *self, void *buffer, size_t size)
{
    *made = 0;
    if (!self->inside) {
        const uc_status status = next_gzip_member(self);
        if (status != UC_OK || !self->inside)
            return status;
    }
    const size_t most = uc_min_size(size, (size_t)1 << 30);
    self->gzip.next_in = self->raw + self->raw_at;
    self->gzip.avail_in = (uInt)(self->raw_end - self->raw_at);
    self->gzip.next_out = buffer;
    self->gzip.avail_out = (uInt)most;
    const int code = inflate(&self->gzip, Z_NO_FLUSH);
    self->raw_at = self->raw_end - self->gzip.avail_in;
    *made = most - self->gzip.avail_out;
    if (code == Z_STREAM_END)
        self->inside = false;
    else if (code == Z_MEM_ERROR)
        return uc_fail(UC_ERR_NOMEM, "%s: not enough memory to unpack the archive", self->name);
    else if (code != Z_OK && code != Z_BUF_ERROR)
        return uc_fail(UC_ERR_FORMAT, "%s: the archive is damaged", self->name);
    return UC_OK;
}

static uc_status step_zstd(size_t *made, uc_input *self, void *buffer, size_t size)
{
    ZSTD_inBuffer from = {self->raw, self->raw_end, self->raw_at};
    ZSTD_outBuffer to = {buffer, size, 0};
    const size_t code = ZSTD_decompressStream(self->zstd, &to, &from);
    self->raw_at = from.pos;
    *made = to.pos;
    if (ZSTD_isError(code))
        return uc_fail(UC_ERR_FORMAT, "%s: the archive is damaged (%s)", self->name, ZSTD_getErrorName(code));
    self->inside = code != 0;
    return UC_OK;
}

/* Unpacks at least one byte, or none at the end of the archive. */
static uc_status unpack(size_t *got, uc_input *self, void *buffer, size_t size)
{
    for (;;) {
        bool ended;
        uc_status status = refill(&ended, self);
        if (status != UC_OK)
            return status;
        /* zstd may still return buffered bytes without new input. */
        if (ended && self->packing == GZIP && self->inside)
            return uc_fail(UC_ERR_FORMAT, "%s: the archive ends too early", self->name);
        if (ended && !self->inside) {
            *got = 0;
            return UC_OK;
        }
        if (self->packing == GZIP)
            status = step_gzip(got, self, buffer, size);
        else
            status = step_zstd(got, self, buffer, size);
        if (status != UC_OK || *got > 0)
            return status;
        if (ended)
            return uc_fail(UC_ERR_FORMAT, "%s: the archive ends too early", self->name);
    }
}

/* ---- opening ---- */

/* Detects from the first bytes whether the file is packed. */
static uc_status recognise(uc_input *self)
{
    self->raw = uc_alloc(RAW_BYTES, 1);
    if (!self->raw)
        return UC_ERR_NOMEM;
    while (self->raw_end < 4) {
        size_t got;
        const uc_status status = take(&got, self, self->raw + self->raw_end, RAW_BYTES - self->raw_end);
        if (status != UC_OK)
            return status;
        self->raw_end += got;
        if (got == 0)
            break;
    }
    const unsigned char *b = self->raw;
    if (self->raw_end >= 2 && b[0] == 0x1f && b[1] == 0x8b) {
        self->gzip.zalloc = zlib_alloc;
        self->gzip.zfree = zlib_free;
        if (inflateInit2(&self->gzip, 15 + 16) != Z_OK)
            return uc_fail(UC_ERR_NOMEM, "%s: not enough memory to unpack the archive", self->name);
        self->packing = GZIP;
        self->inside = true;
    } else if (self->raw_end >= 4 &&
               ((b[0] == 0x28 && b[1] == 0xb5 && b[2] == 0x2f && b[3] == 0xfd) ||
                ((b[0] & 0xf0) == 0x50 && b[1] == 0x2a && b[2] == 0x4d && b[3] == 0x18))) {
        self->zstd = ZSTD_createDStream();
        if (!self->zstd)
            return uc_fail(UC_ERR_NOMEM, "%s: not enough memory to unpack the archive", self->name);
        self->packing = ZSTD;
    }
    return UC_OK;
}

static uc_status open_file(uc_input *self, const char *path)
{
    if (strcmp(path, "-") == 0) {
        self->file = STDIN_FILENO;
    } else {
        self->file = open(path, O_RDONLY | O_CLOEXEC);
        if (self->file < 0)
            return uc_fail(UC_ERR_IO, "%s: %s", path, strerror(errno));
    }
    struct stat info;
    if (fstat(self->file, &info) != 0)
        return fail_io(self);
    if (S_ISDIR(info.st_mode))
        return uc_fail(UC_ERR_IO, "%s: is a directory", self->name);
    self->regular = S_ISREG(info.st_mode);
    if (self->regular) {
        /* Standard input may be a file that has been read in part. */
        const off_t at = lseek(self->file, 0, SEEK_CUR);
        self->regular = at >= 0;
        if (at <= 0)
            self->total = (uint64_t)info.st_size;
        else if (at < info.st_size)
            self->total = (uint64_t)(info.st_size - at);
    }
    return UC_OK;
}

static uc_status create(uc_input **out, const char *name)
{
    uc_input *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    self->file = -1;
    self->name = uc_strdup(name);
    if (!self->name) {
        uc_free(self);
        return UC_ERR_NOMEM;
    }
    *out = self;
    return UC_OK;
}

uc_status uc_input_open(uc_input **out, const char *path)
{
    uc_input *self;
    uc_status status = create(&self, strcmp(path, "-") == 0 ? "standard input" : path);
    if (status != UC_OK)
        return status;
    status = open_file(self, path);
    if (status == UC_OK)
        status = recognise(self);
    if (status != UC_OK) {
        uc_input_close(self);
        return status;
    }
    *out = self;
    return UC_OK;
}

uc_status uc_input_open_memory(uc_input **out, const void *bytes, size_t length, const char *name)
{
    uc_input *self;
    uc_status status = create(&self, name);
    if (status != UC_OK)
        return status;
    self->memory = bytes;
    self->total = length;
    status = recognise(self);
    if (status != UC_OK) {
        uc_input_close(self);
        return status;
    }
    *out = self;
    return UC_OK;
}

void uc_input_close(uc_input *self)
{
    if (!self)
        return;
    if (self->packing == GZIP)
        inflateEnd(&self->gzip);
    ZSTD_freeDStream(self->zstd);
    if (self->file > STDIN_FILENO)
        close(self->file);
    uc_free(self->raw);
    uc_free(self->head);
    uc_free(self->name);
    uc_free(self);
}

/* ---- reading ---- */

/* One step: returns peeked bytes, or what the next stage returns. */
static uc_status read_some(size_t *got, uc_input *self, void *buffer, size_t size)
{
    if (self->head && self->head_at < self->head_end) {
        const size_t left = self->head_end - self->head_at;
        *got = uc_min_size(left, size);
        memcpy(buffer, self->head + self->head_at, *got);
        self->head_at += *got;
        return UC_OK;
    }
    if (self->packing != PLAIN)
        return unpack(got, self, buffer, size);
    if (self->raw_at < self->raw_end) {
        const size_t left = self->raw_end - self->raw_at;
        *got = uc_min_size(left, size);
        memcpy(buffer, self->raw + self->raw_at, *got);
        self->raw_at += *got;
        return UC_OK;
    }
    return take(got, self, buffer, size);
}

uc_status uc_input_read(size_t *got, uc_input *self, void *buffer, size_t size)
{
    size_t filled = 0;
    while (filled < size && (filled == 0 || is_ready(self))) {
        size_t more;
        const uc_status status = read_some(&more, self, (char *)buffer + filled, size - filled);
        if (status != UC_OK)
            return status;
        if (more == 0)
            break;
        filled += more;
    }
    *got = filled;
    return UC_OK;
}

uc_status uc_input_read_exactly(uc_input *self, void *buffer, size_t size)
{
    for (size_t filled = 0; filled < size;) {
        size_t got;
        const uc_status status = uc_input_read(&got, self, (char *)buffer + filled, size - filled);
        if (status != UC_OK)
            return status;
        if (got == 0)
            return uc_fail(UC_ERR_FORMAT, "%s: the file ends too early", self->name);
        filled += got;
    }
    return UC_OK;
}

static uc_status make_room(char **bytes, size_t capacity, const uc_input *self, const uc_context *context)
{
    const uc_status status = uc_memory_check(context, (double)capacity, self->name);
    if (status != UC_OK)
        return status;
    char *grown = uc_realloc(*bytes, capacity, 1);
    if (!grown)
        return UC_ERR_NOMEM;
    *bytes = grown;
    return UC_OK;
}

uc_status uc_input_read_all(char **out, size_t *length, uc_input *self, size_t slack,
                            const uc_context *context)
{
    uint64_t remaining = 0;
    size_t filled = 0, capacity = HEAD_BYTES;
    if (uc_input_remaining(&remaining, self) && remaining < SIZE_MAX / 2)
        capacity = (size_t)remaining + 1;
    char *bytes = NULL;
    uc_status status = make_room(&bytes, capacity + slack, self, context);
    while (status == UC_OK) {
        size_t got;
        status = uc_input_read(&got, self, bytes + filled, capacity - filled);
        if (status != UC_OK || got == 0)
            break;
        filled += got;
        if (filled == capacity) {
            capacity += capacity / 2 + HEAD_BYTES;
            status = make_room(&bytes, capacity + slack, self, context);
        }
    }
    if (status != UC_OK) {
        uc_free(bytes);
        return status;
    }
    memset(bytes + filled, 0, slack);
    *out = bytes;
    *length = filled;
    return UC_OK;
}

uc_status uc_input_peek(const char **bytes, size_t *length, uc_input *self)
{
    if (!self->head) {
        char *head = uc_alloc(HEAD_BYTES, 1);
        if (!head)
            return UC_ERR_NOMEM;
        size_t filled = 0;
        while (filled < HEAD_BYTES && !(uc_input_is_live(self) && memchr(head, '\n', filled))) {
            size_t got;
            const uc_status status = uc_input_read(&got, self, head + filled, HEAD_BYTES - filled);
            if (status != UC_OK) {
                uc_free(head);
                return status;
            }
            if (got == 0)
                break;
            filled += got;
        }
        self->head = head;
        self->head_end = filled;
    }
    *bytes = self->head;
    *length = self->head_end;
    return UC_OK;
}

static size_t count_lines(const char *bytes, size_t length)
{
    size_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += bytes[i] == '\n';
    return lines;
}

/* The head grows until reading starts, which continues after it. */
uc_status uc_input_peek_lines(const char **bytes, size_t *length, bool *whole, uc_input *self, size_t lines)
{
    uc_status status = uc_input_peek(bytes, length, self);
    if (status != UC_OK)
        return status;
    size_t filled = self->head_end, room = uc_max_size(filled, HEAD_BYTES);
    char *head = self->head;
    size_t seen = count_lines(head, filled);
    *whole = false;
    self->head_at = self->head_end; /* the bytes after it are not in the head */
    while (seen < lines && !*whole) {
        size_t got = 0;
        if (filled == room) {
            char *grown = uc_realloc(head, 2 * room, 1);
            if (!grown) {
                status = UC_ERR_NOMEM;
                break;
            }
            head = self->head = grown;
            room *= 2;
        }
        status = read_some(&got, self, head + filled, room - filled);
        if (status != UC_OK)
            break;
        seen += count_lines(head + filled, got);
        filled += got;
        self->head_at = self->head_end = filled;
        *whole = got == 0;
    }
    self->head_at = 0;
    *bytes = head;
    *length = filled;
    return status;
}

/* ---- queries ---- */

const char *uc_input_name(const uc_input *self)
{
    return self->name;
}

bool uc_input_is_live(const uc_input *self)
{
    return self->file >= 0 && !self->regular && self->packing == PLAIN;
}

uint64_t uc_input_done(const uc_input *self)
{
    return self->done;
}

uint64_t uc_input_total(const uc_input *self)
{
    return self->total;
}

bool uc_input_remaining(uint64_t *bytes, const uc_input *self)
{
    if (self->packing != PLAIN || (self->file >= 0 && !self->regular) || self->done > self->total)
        return false;
    *bytes = self->total - self->done + (self->raw_end - self->raw_at) + (self->head_end - self->head_at);
    return true;
}

int uc_input_file(const uc_input *self)
{
    if (self->packing != PLAIN || !self->regular || self->file == STDIN_FILENO)
        return -1;
    return self->file;
}

/* ---- parts of a file ---- */

uc_status uc_input_window(uc_input *self, uint64_t from, uint64_t to)
{
    if (lseek(self->file, (off_t)from, SEEK_SET) < 0)
        return fail_io(self);
    self->raw_at = self->raw_end = self->head_at = self->head_end = 0;
    self->done = 0;
    self->total = to > from ? to - from : 0;
    self->windowed = true;
    return UC_OK;
}

/* Calls see(bytes, count, user) for the bytes from `at` on, until it returns false or `end` is reached. */
static uc_status look_through(const uc_input *self, uint64_t at, uint64_t end,
                              bool (*see)(const char *bytes, size_t count, void *user), void *user)
{
    char *bytes = uc_alloc(RAW_BYTES, 1);
    if (!bytes)
        return UC_ERR_NOMEM;
    uc_status status = UC_OK;
    while (at < end) {
        const ssize_t got = pread(self->file, bytes, uc_min_size(end - at, RAW_BYTES), (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = fail_io(self);
        if (got <= 0 || !see(bytes, (size_t)got, user))
            break;
        at += (uint64_t)got;
    }
    uc_free(bytes);
    return status;
}

/* *user counts the bytes up to and including the first newline. */
static bool see_newline(const char *bytes, size_t count, void *user)
{
    const char *newline = memchr(bytes, '\n', count);
    *(uint64_t *)user += newline ? (uint64_t)(newline - bytes) + 1 : count;
    return !newline;
}

uc_status uc_input_line_at(uint64_t *begin, const uc_input *self, uint64_t at)
{
    struct stat info;
    uint64_t passed = 0;
    if (fstat(self->file, &info) != 0)
        return fail_io(self);
    const uint64_t length = (uint64_t)info.st_size;
    if (at == 0 || at >= length) {
        *begin = uc_min_size(at, length);
        return UC_OK;
    }
    const uc_status status = look_through(self, at - 1, length, see_newline, &passed);
    *begin = at - 1 + passed;
    return status;
}

/* State of a scan for records, byte by byte. */
typedef struct record_walk {
    char delimiter;
    enum { AT_BEGINNING, IN_PLAIN, IN_QUOTES, AFTER_QUOTE } place; /* within a field */
    uint64_t passed, at;
    uint64_t begin; /* the first record at `at` or later; UINT64_MAX: not found yet */
} record_walk;

static bool see_record(const char *bytes, size_t count, void *user)
{
    record_walk *self = user;
    for (size_t i = 0; i < count; i++) {
        const char c = bytes[i];
        if (self->place == IN_QUOTES) {
            if (c == '"')
                self->place = AFTER_QUOTE;
        } else if (c == '"' && (self->place == AFTER_QUOTE || self->place == AT_BEGINNING)) {
            self->place = IN_QUOTES; /* begins or continues: two quotes stand for one in the field */
        } else if (c == '\n') {
            self->place = AT_BEGINNING;
            if (self->passed + i + 1 >= self->at) {
                self->begin = self->passed + i + 1;
                return false;
            }
        } else if (c == self->delimiter) {
            self->place = AT_BEGINNING;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            self->place = IN_PLAIN;
        }
    }
    self->passed += count;
    return true;
}

uc_status uc_input_record_at(uint64_t *begin, const uc_input *self, uint64_t at, char delimiter)
{
    struct stat info;
    record_walk walk = {.delimiter = delimiter, .at = at, .begin = UINT64_MAX};
    if (fstat(self->file, &info) != 0)
        return fail_io(self);
    const uint64_t length = (uint64_t)info.st_size;
    *begin = uc_min_size(at, length);
    if (at == 0 || at >= length)
        return UC_OK;
    const uc_status status = look_through(self, 0, length, see_record, &walk);
    *begin = uc_min_size(walk.begin, length);
    return status;
}

static bool count_newlines(const char *bytes, size_t count, void *user)
{
    for (size_t i = 0; i < count; i++)
        *(size_t *)user += bytes[i] == '\n';
    return true;
}

uc_status uc_input_count_lines(size_t *lines, const uc_input *self, uint64_t bytes)
{
    *lines = 0;
    return look_through(self, 0, bytes, count_newlines, lines);
}
