/* Output that appears whole or not at all, and tables whose columns line up. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* ---- files ---- */

#define BUFFER_BYTES ((size_t)1 << 20)

struct cli_output {
    const char *path;
    char *
        followed; /* where a symbolic link leads: the file behind it is replaced; NULL: there is no file yet */
    int file;     /* -1: another process writes; everything stays in the buffer until then */
    int error;    /* errno of the first failure; later writes are skipped */
    char *buffer;
    size_t filled, capacity;
};

/* The unfinished file, for the signal handler; at most one is open at a time. */
static char temporary[4096];
static volatile int temporary_exists;

void cli_output_discard(void)
{
    if (temporary_exists)
        (void)unlink(temporary);
    temporary_exists = 0;
}

static uc_status fail_io(const char *path, int error)
{
    return cli_fail(UC_ERR_IO, "%s: cannot write: %s", strcmp(path, "-") == 0 ? "standard output" : path,
                    strerror(error));
}

static int open_temporary(const char *path)
{
    int file = -1;
    errno = EEXIST;
    for (int attempt = 0; attempt < 1000 && file < 0 && errno == EEXIST; attempt++) {
        const int length =
            snprintf(temporary, sizeof temporary, "%s.%ld-%d.tmp", path, (long)getpid(), attempt);
        if ((size_t)length >= sizeof temporary)
            errno = ENAMETOOLONG;
        else
            file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    temporary_exists = file >= 0;
    return file;
}

/* What exists and is no ordinary file (a pipe, /dev/null) is written directly. */
static int open_target(const char *path)
{
    struct stat info;
    if (strcmp(path, "-") == 0)
        return STDOUT_FILENO;
    const bool exists = stat(path, &info) == 0;
    if (exists && !S_ISREG(info.st_mode))
        return open(path, O_WRONLY | O_CLOEXEC);
    const int file = open_temporary(path);
    if (file >= 0 && exists)
        (void)fchmod(file, info.st_mode & 07777); /* the new file may be read by whom the old one was */
    return file;
}

uc_status cli_output_open(cli_output **out, const char *path)
{
    char *followed = strcmp(path, "-") == 0 || !cli_is_first() ? NULL : realpath(path, NULL);
    const int file = cli_is_first() ? open_target(followed ? followed : path) : -1;
    if (file < 0 && cli_is_first()) {
        const uc_status status = fail_io(path, errno);
        free(followed);
        return status;
    }
    cli_output *self = cli_calloc(1, sizeof *self);
    *self = (cli_output){path, followed, file, 0, cli_realloc(NULL, BUFFER_BYTES, 1), 0, BUFFER_BYTES};
    *out = self;
    return UC_OK;
}

static void flush(cli_output *self)
{
    const char *bytes = self->buffer;
    while (self->filled > 0 && !self->error) {
        const ssize_t written = write(self->file, bytes, self->filled);
        if (written < 0 && errno != EINTR)
            self->error = errno;
        if (written > 0) {
            bytes += written;
            self->filled -= (size_t)written;
        }
    }
    self->filled = 0;
}

char *cli_output_reserve(cli_output *self, size_t length)
{
    if (self->filled + length > self->capacity && self->file >= 0)
        flush(self);
    if (self->filled + length > self->capacity) {
        self->capacity =
            self->filled + length > 2 * self->capacity ? self->filled + length : 2 * self->capacity;
        self->buffer = cli_realloc(self->buffer, self->capacity, 1);
    }
    return self->buffer + self->filled;
}

void cli_output_advance(cli_output *self, size_t length)
{
    self->filled += length;
}

bool cli_output_failed(const cli_output *self)
{
    return self->error != 0;
}

uc_status cli_output_check(const cli_output *self)
{
    return self->error ? fail_io(self->path, self->error) : UC_OK;
}

static void release(cli_output *self)
{
    free(self->followed);
    free(self->buffer);
    free(self);
}

static uc_status take_text(const void *bytes, size_t length, void *user)
{
    memcpy(cli_output_reserve(user, length), bytes, length);
    cli_output_advance(user, length);
    return UC_OK;
}

/* What the other processes have to say comes behind what the first one said. */
static uc_status collect(cli_output *self)
{
    const bool first = self->file >= 0;
    return uc_comm_collect(cli_comm, first ? NULL : self->buffer, first ? 0 : self->filled, take_text, self);
}

uc_status cli_output_commit(cli_output *self)
{
    if (uc_comm_size(cli_comm) > 1) {
        const uc_status status = collect(self);
        if (status != UC_OK || self->file < 0) {
            cli_output_abort(self);
            return status;
        }
    }
    flush(self);
    if (self->file != STDOUT_FILENO && close(self->file) != 0 && !self->error)
        self->error = errno;
    if (!self->error && temporary_exists &&
        rename(temporary, self->followed ? self->followed : self->path) != 0)
        self->error = errno;
    const uc_status status = self->error ? fail_io(self->path, self->error) : UC_OK;
    if (self->error)
        cli_output_discard();
    temporary_exists = 0;
    release(self);
    return status;
}

void cli_output_abort(cli_output *self)
{
    if (!self)
        return;
    if (self->file >= 0 && self->file != STDOUT_FILENO)
        close(self->file);
    cli_output_discard();
    release(self);
}

/* ---- tables ---- */

void cli_cell(cli_table *self, const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        text = cli_calloc(1, 1);
    if (self->count == self->capacity) {
        self->capacity = self->capacity ? 2 * self->capacity : 64;
        self->cells = cli_realloc(self->cells, self->capacity, sizeof *self->cells);
    }
    self->cells[self->count++] = text;
}

/* Characters of UTF-8: bytes that do not continue one. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static char alignment(const cli_table *self, size_t column)
{
    const size_t last = strlen(self->align) - 1;
    return self->align[column < last ? column : last];
}

void cli_table_print(cli_table *self, FILE *file)
{
    size_t *width = cli_calloc(self->columns, sizeof *width);
    for (size_t i = 0; i < self->count; i++)
        if (width_of(self->cells[i]) > width[i % self->columns])
            width[i % self->columns] = width_of(self->cells[i]);
    for (size_t i = 0; i < self->count; i++) {
        const size_t column = i % self->columns;
        const bool last = column + 1 == self->columns;
        const int padding = (int)(width[column] - width_of(self->cells[i]));
        const bool blank = last && self->cells[i][0] == 0; /* no blanks at the end of a line */
        if (column > 0 && !blank)
            fputs("  ", file);
        if (alignment(self, column) == 'r')
            fprintf(file, "%*s%s", blank ? 0 : padding, "", self->cells[i]);
        else
            fprintf(file, "%s%*s", self->cells[i], last ? 0 : padding, "");
        if (last)
            fputc('\n', file);
        free(self->cells[i]);
    }
    free(width);
    free(self->cells);
    self->cells = NULL;
    self->count = self->capacity = 0;
}

size_t cli_print_real(char *text, double value)
{
    int length = snprintf(text, 32, "%.15g", value);
    if (strtod(text, NULL) != value)
        length = snprintf(text, 32, "%.17g", value);
    return (size_t)length;
}
