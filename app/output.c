/* The list of a command's files, and text in them. */
#define _GNU_SOURCE
#include "app/output.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"
#include "app/message.h"
#include "app/signals.h"

/* ---- files ---- */

static struct {
    uc_output *output;
    const char *option;
} files[APP_MOST_FILES];
static size_t file_count;

static bool go_on(void *nothing)
{
    (void)nothing;
    return !app_signal();
}

static uc_status refuse_same(size_t a, size_t b)
{
    return app_fail(UC_ERR_OPTION, "%s and %s are the same file, %s", files[a].option, files[b].option,
                    uc_output_name(files[b].output));
}

uc_status app_begin_file(uc_output **out, const char *path, const char *option)
{
    *out = NULL;
    if (!app_is_first())
        return UC_OK;
    if (!*path)
        return app_fail(UC_ERR_OPTION, "%s '': a file needs a name", option);
    uc_output *output = NULL;
    const uc_status status = uc_output_begin(&output, path, go_on, NULL);
    if (status != UC_OK)
        return status;
    assert(file_count < APP_MOST_FILES);
    const size_t number = file_count++;
    files[number].output = *out = output;
    files[number].option = option;
    app_unfinished_add(uc_output_temporary(output));
    for (size_t i = 0; i < number; i++)
        if (uc_output_is_same(files[i].output, output))
            return refuse_same(i, number);
    return UC_OK;
}

uc_status app_keep_input(const char *path)
{
    for (size_t i = 0; path && i < file_count; i++)
        if (strcmp(path, "-") != 0 && uc_output_replaces(files[i].output, path))
            return app_fail(UC_ERR_OPTION, "%s %s would replace the input %s", files[i].option,
                            uc_output_name(files[i].output), path);
    return UC_OK;
}

static void forget_files(void)
{
    app_unfinished_forget();
    file_count = 0;
}

uc_status app_finish_files(bool durable)
{
    uc_output *all[APP_MOST_FILES];
    const size_t count = file_count;
    uc_status status = app_check_interrupt();
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        all[i] = files[i].output;
    app_files_appear(true);
    forget_files(); /* committed files must not be aborted later */
    status = uc_output_commit_all(all, count, durable);
    app_files_appear(false);
    return status;
}

void app_abort_files(void)
{
    const size_t count = file_count;
    forget_files();
    for (size_t i = 0; i < count; i++)
        uc_output_abort(files[i].output);
}

/* ---- text ---- */

#define BUFFER_BYTES ((size_t)1 << 20)

struct app_output {
    uc_output *file;  /* NULL: another process writes; the text stays in the buffer until the end */
    uc_status status; /* of the first failure; later writes are skipped */
    char *buffer;
    size_t filled, capacity;
};

uc_status app_output_open(app_output **out, const char *path)
{
    uc_output *file;
    const uc_status status = app_begin_file(&file, path, "-o");
    if (status != UC_OK)
        return status;
    app_output *self = app_calloc(1, sizeof *self);
    *self = (app_output){file, UC_OK, app_realloc(NULL, BUFFER_BYTES, 1), 0, BUFFER_BYTES};
    *out = self;
    return UC_OK;
}

static void flush(app_output *self)
{
    if (self->status == UC_OK)
        self->status = uc_output_write(self->file, self->buffer, self->filled);
    self->filled = 0;
}

char *app_output_reserve(app_output *self, size_t length)
{
    if (self->filled + length > self->capacity && self->file)
        flush(self);
    if (self->filled + length > self->capacity) {
        const size_t needed = self->filled + length, doubled = 2 * self->capacity;
        self->capacity = needed > doubled ? needed : doubled;
        self->buffer = app_realloc(self->buffer, self->capacity, 1);
    }
    return self->buffer + self->filled;
}

void app_output_advance(app_output *self, size_t length)
{
    self->filled += length;
}

bool app_output_failed(const app_output *self)
{
    return self->status != UC_OK;
}

uc_status app_output_check(const app_output *self)
{
    return self->status;
}

static uc_status take_text(const void *bytes, size_t length, void *user)
{
    memcpy(app_output_reserve(user, length), bytes, length);
    app_output_advance(user, length);
    return UC_OK;
}

/* Appends the text of the other processes to that of the first. */
static uc_status collect(app_output *self)
{
    if (self->file)
        return uc_comm_collect(app_comm, NULL, 0, take_text, self);
    return uc_comm_collect(app_comm, self->buffer, self->filled, take_text, self);
}

uc_status app_output_commit(app_output *self)
{
    uc_status status = uc_comm_size(app_comm) > 1 ? collect(self) : UC_OK;
    if (status == UC_OK && self->file) {
        flush(self);
        status = self->status;
        if (status == UC_OK)
            status = app_finish_files(false);
    }
    app_output_abort(self);
    return status;
}

void app_output_abort(app_output *self)
{
    if (!self)
        return;
    free(self->buffer);
    free(self);
}
