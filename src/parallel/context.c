/* The threads, memory and callbacks of a context. */
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "parallel/parallel.h"

unsigned uc_threads(const uc_context *context)
{
    if (context && context->threads)
        return context->threads;
    return uc_cores();
}

uint64_t uc_memory_limit(const uc_context *context)
{
    if (context && context->memory)
        return context->memory;
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0)
        return UINT64_MAX;
    return (uint64_t)pages * (uint64_t)page_bytes;
}

uc_context uc_context_for_work(const uc_context *context, double operations)
{
    uc_context fitting = uc_context_copy(context);
    if (operations < 200e3)
        fitting.threads = 1;
    return fitting;
}

uc_context uc_context_alone(const uc_context *context)
{
    uc_context alone = uc_context_copy(context);
    alone.comm = NULL;
    return alone;
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static bool progress_by_turns(const char *task, double done, double total, const char *detail, void *user)
{
    const uc_context *outer = user;
    pthread_mutex_lock(&turn);
    const bool go_on = outer->progress(task, done, total, detail, outer->user);
    pthread_mutex_unlock(&turn);
    return go_on;
}

static void warn_by_turns(const char *sentence, void *user)
{
    const uc_context *outer = user;
    pthread_mutex_lock(&turn);
    outer->warn(sentence, outer->user);
    pthread_mutex_unlock(&turn);
}

/* With one thread, callbacks need no lock. Such a context may also have been made here already, and its
 * callbacks would wait forever for the lock that they hold. */
uc_context uc_context_for_job(const uc_context *context)
{
    uc_context own = uc_context_copy(context);
    if (context && uc_threads(context) > 1) {
        if (context->progress)
            own.progress = progress_by_turns;
        if (context->warn)
            own.warn = warn_by_turns;
        own.user = (void *)context;
    }
    own.threads = 1;
    return own;
}

uc_status uc_memory_check(const uc_context *context, double bytes, const char *what)
{
    const uint64_t limit = uc_memory_limit(context);
    if (bytes <= (double)limit)
        return UC_OK;
    return uc_fail(UC_ERR_NOMEM, "%s needs %.1f MB of memory, more than the limit of %.1f MB ({memory})",
                   what, bytes / 1e6, (double)limit / 1e6);
}

uc_status uc_report(const uc_context *context, const char *task, double done, double total,
                    const char *detail)
{
    if (context && context->progress && !context->progress(task, done, total, detail, context->user))
        return uc_fail(UC_ERR_CANCELLED, "interrupted");
    return UC_OK;
}

void uc_warn(const uc_context *context, const char *format, ...)
{
    if (!context || !context->warn)
        return;
    char sentence[UC_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    uc_message_format(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    context->warn(sentence, context->user);
}

/* ---- parts of a whole ---- */

/* Reports "training 7 of 25" and, for a detailed part, its own task and detail. */
static bool tell_part(const uc_parts *parts, const uc_context *context, const char *task, const char *detail)
{
    char text[192];
    const size_t done = atomic_load(&parts->done), number = uc_min_size(done + 1, parts->count);
    const char *bound = parts->at_most ? "at most " : "";
    const int length =
        snprintf(text, sizeof text, "%s %zu of %s%zu", parts->part, number, bound, parts->count);
    if (parts->detailed && task && length > 0 && (size_t)length < sizeof text) {
        char *rest = text + length;
        const size_t room = sizeof text - (size_t)length;
        if (detail)
            snprintf(rest, room, ", %s: %s", task, detail);
        else
            snprintf(rest, room, ", %s", task);
    }
    const double sum = fmin((double)done + parts->furthest, (double)parts->count);
    return context->progress(parts->task, sum, (double)parts->count, text, context->user);
}

static bool report_part(const char *task, double done, double total, const char *detail, void *user)
{
    const uc_part *self = user;
    uc_parts *parts = self->parts;
    if (parts->detailed && total > 0.0) /* progress never goes back when the part begins another task */
        parts->furthest = fmax(parts->furthest, fmin(1.0, done / total));
    return tell_part(parts, self->context, task, detail);
}

static void warn_part(const char *sentence, void *user)
{
    const uc_part *self = user;
    self->context->warn(sentence, self->context->user);
}

uc_context uc_context_of_part(uc_part *self)
{
    uc_context context = uc_context_copy(self->context);
    context.user = self;
    if (context.progress)
        context.progress = report_part;
    if (context.warn)
        context.warn = warn_part;
    return context;
}

uc_status uc_part_done(const uc_part *self)
{
    const uc_context *context = self->context;
    if (self->parts->detailed)
        self->parts->furthest = 0.0;
    atomic_fetch_add(&self->parts->done, 1);
    if (context && context->progress && !tell_part(self->parts, context, NULL, NULL))
        return uc_fail(UC_ERR_CANCELLED, "interrupted");
    return UC_OK;
}
