/* The page of a report: template, bundle (web/, which becomes app_page_head and app_page_tail at build time)
 * and data. Text from outside goes to two places, and is escaped for each: attributes, and a JSON element,
 * which no text can end since every `<` is written as \u003c. */
#include "app/page.h"

#include <stdlib.h>
#include <string.h>

#include "app/json.h"
#include "app/memory.h"
#include "app/message.h"
#include "app/output.h"

#define MOST_ISSUES 5000 /* suspicious rows on a page; the command's own output has all of them */
#define BUFFER_BYTES 65536

/* Made by cmake/web.cmake; app_page_head ends where the attributes of the JSON element begin. A program
 * without pages has those of web/none.c instead, whose size is 0. */
extern const unsigned char app_page_head[], app_page_tail[];
extern const size_t app_page_head_size, app_page_tail_size;

typedef struct page_writer {
    uc_output *file;
    uc_status status;
    size_t filled;
    char buffer[BUFFER_BYTES];
} page_writer;

static void flush(page_writer *self)
{
    if (self->status == UC_OK)
        self->status = uc_output_write(self->file, self->buffer, self->filled);
    self->filled = 0;
}

static void put(page_writer *self, const char *bytes, size_t length)
{
    while (length > 0) {
        const size_t room = BUFFER_BYTES - self->filled, part = length < room ? length : room;
        memcpy(self->buffer + self->filled, bytes, part);
        self->filled += part;
        bytes += part;
        length -= part;
        if (self->filled == BUFFER_BYTES)
            flush(self);
    }
}

static void put_text(page_writer *self, const char *text)
{
    put(self, text, strlen(text));
}

/* How a character is escaped in HTML; NULL: it is not. */
static const char *escape_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

/* Writes an attribute with its value in double quotes. */
static void put_attribute(page_writer *self, const char *name, const char *value)
{
    put_text(self, " ");
    put_text(self, name);
    put_text(self, "=\"");
    for (; *value; value++) {
        const char *const escape = escape_of(*value);
        if (escape)
            put_text(self, escape);
        else
            put(self, value, 1);
    }
    put_text(self, "\"");
}

/* Writes JSON from jansson, in which `<` occurs only inside strings. */
static int put_json(const char *bytes, size_t length, void *user)
{
    page_writer *self = user;
    const char *end = bytes + length;
    while (bytes < end) {
        const char *next = memchr(bytes, '<', (size_t)(end - bytes));
        put(self, bytes, (size_t)((next ? next : end) - bytes));
        if (!next)
            break;
        put_text(self, "\\u003c");
        bytes = next + 1;
    }
    return self->status == UC_OK ? 0 : -1;
}

/* The result for the page, with no more suspicious rows than it can show. */
static json_t *for_page(const json_t *result)
{
    json_t *shown = json_copy((json_t *)result);
    const json_t *issues = json_object_get(shown, "issues");
    if (json_array_size(issues) <= MOST_ISSUES)
        return shown;
    json_t *first = json_array();
    for (size_t i = 0; i < MOST_ISSUES; i++)
        json_array_append(first, json_array_get(issues, i));
    json_object_set_new(shown, "issues", first);
    return shown;
}

bool app_page_is_pending(const app_call *call)
{
    return call->page != NULL;
}

uc_status app_page_begin(app_call *call)
{
    const char *path = app_html(call);
    if (!path)
        return UC_OK;
    if (app_page_head_size == 0)
        return app_fail(UC_ERR_OPTION, "--html: this program was built without pages, which need esbuild and "
                                       "d3 (Debian: esbuild, node-d3)");
    if (strcmp(path, "-") == 0 && call->common.json)
        return app_fail(UC_ERR_OPTION, "--html - and --json both want standard output");
    if (strcmp(path, "-") == 0 && call->standard_output)
        return app_refuse_standard_output(call, "--html -");
    return app_begin_file(&call->page, path, "--html");
}

static uc_status write_page(app_call *call)
{
    if (!call->page)
        return UC_OK;
    page_writer *self = app_calloc(1, sizeof *self);
    json_t *shown = for_page(call->result);
    self->file = call->page;
    put(self, (const char *)app_page_head, app_page_head_size);
    put_attribute(self, "data-page", call->command->name);
    put_attribute(self, "data-command", call->typed);
    put_attribute(self, "data-version", uc_version());
    put_text(self, ">");
    if (json_dump_callback(shown, put_json, self, JSON_REAL_PRECISION(17)) != 0 && self->status == UC_OK)
        self->status = app_fail(UC_ERR_INVALID, "cannot write the result as JSON");
    put(self, (const char *)app_page_tail, app_page_tail_size);
    flush(self);
    const uc_status status = self->status;
    json_decref(shown);
    free(self);
    call->page = NULL;
    return status;
}

uc_status app_finish_call(app_call *call, bool durable)
{
    const uc_status status = write_page(call);
    return status == UC_OK ? app_finish_files(durable) : status;
}
