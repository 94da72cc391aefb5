/* Output that appears whole or not at all, and tables whose columns line up. */
#define _GNU_SOURCE
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* ---- files ---- */

#define MOST_FILES 4

static struct {
    uc_output *output;
    const char *option;
} files[MOST_FILES];
static size_t file_count;

/* Their temporary names, for the signal handler. */
static const char *volatile unfinished[MOST_FILES];

void cli_output_discard(void)
{
    for (size_t i = 0; i < MOST_FILES; i++)
        if (unfinished[i])
            (void)unlink(unfinished[i]);
}

static bool go_on(void *nothing)
{
    (void)nothing;
    return !cli_signal();
}

static uc_status refuse_same(size_t a, size_t b)
{
    return cli_fail(UC_ERR_OPTION, "%s and %s are the same file, %s", files[a].option, files[b].option,
                    uc_output_name(files[b].output));
}

uc_status cli_begin_file(uc_output **out, const char *path, const char *option)
{
    *out = NULL;
    if (!cli_is_first())
        return UC_OK;
    if (!*path)
        return cli_fail(UC_ERR_OPTION, "%s '': a file needs a name", option);
    uc_output *output = NULL;
    const uc_status status = uc_output_begin(&output, path, go_on, NULL);
    if (status != UC_OK)
        return status;
    assert(file_count < MOST_FILES);
    const size_t number = file_count++;
    files[number].output = *out = output;
    files[number].option = option;
    unfinished[number] = uc_output_temporary(output);
    for (size_t i = 0; i < number; i++)
        if (uc_output_is_same(files[i].output, output))
            return refuse_same(i, number);
    return UC_OK;
}

uc_status cli_keep_input(const char *path)
{
    for (size_t i = 0; path && i < file_count; i++)
        if (strcmp(path, "-") != 0 && uc_output_replaces(files[i].output, path))
            return cli_fail(UC_ERR_OPTION, "%s %s would replace the input %s", files[i].option,
                            uc_output_name(files[i].output), path);
    return UC_OK;
}

static void forget_files(void)
{
    for (size_t i = 0; i < MOST_FILES; i++)
        unfinished[i] = NULL;
    file_count = 0;
}

uc_status cli_finish_files(bool durable)
{
    uc_output *all[MOST_FILES];
    const size_t count = file_count;
    uc_status status = cli_check_interrupt();
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        all[i] = files[i].output;
    cli_files_appear(true);
    forget_files(); /* what has been committed must not be discarded */
    status = uc_output_commit_all(all, count, durable);
    cli_files_appear(false);
    return status;
}

void cli_abort_files(void)
{
    const size_t count = file_count;
    forget_files();
    for (size_t i = 0; i < count; i++)
        uc_output_abort(files[i].output);
}

/* ---- text ---- */

#define BUFFER_BYTES ((size_t)1 << 20)

struct cli_output {
    uc_output *file;  /* NULL: another process writes; everything stays in the buffer until then */
    uc_status status; /* of the first failure; later writes are skipped */
    char *buffer;
    size_t filled, capacity;
};

uc_status cli_output_open(cli_output **out, const char *path)
{
    uc_output *file;
    const uc_status status = cli_begin_file(&file, path, "-o");
    if (status != UC_OK)
        return status;
    cli_output *self = cli_calloc(1, sizeof *self);
    *self = (cli_output){file, UC_OK, cli_realloc(NULL, BUFFER_BYTES, 1), 0, BUFFER_BYTES};
    *out = self;
    return UC_OK;
}

static void flush(cli_output *self)
{
    if (self->status == UC_OK)
        self->status = uc_output_write(self->file, self->buffer, self->filled);
    self->filled = 0;
}

char *cli_output_reserve(cli_output *self, size_t length)
{
    if (self->filled + length > self->capacity && self->file)
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
    return self->status != UC_OK;
}

uc_status cli_output_check(const cli_output *self)
{
    return self->status;
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
    const bool first = self->file != NULL;
    return uc_comm_collect(cli_comm, first ? NULL : self->buffer, first ? 0 : self->filled, take_text, self);
}

uc_status cli_output_commit(cli_output *self)
{
    uc_status status = uc_comm_size(cli_comm) > 1 ? collect(self) : UC_OK;
    if (status == UC_OK && self->file) {
        flush(self);
        status = self->status;
        if (status == UC_OK)
            status = cli_finish_files(false);
    }
    cli_output_abort(self);
    return status;
}

void cli_output_abort(cli_output *self)
{
    if (!self)
        return;
    free(self->buffer);
    free(self);
}

/* ---- tables ---- */

void cli_cell(cli_table *self, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    const size_t size = length < 0 ? 1 : (size_t)length + 1;
    char *text = cli_calloc(size, 1);
    (void)vsnprintf(text, size, format, again);
    va_end(again);
    va_end(arguments);
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
