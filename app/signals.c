/* What a signal does.
 *
 * The first signal sets a flag, which the progress callback turns into a cancellation: the library then
 * unwinds and leaves nothing half-written. If the work does not call the callback in time (inside LAPACK,
 * say), the program removes the unfinished files and ends. A second signal ends the program at once, as does
 * the first signal if there are several processes, since this process may be waiting for another one that has
 * ended already. */
#define _GNU_SOURCE
#include "app/signals.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "unconfuse/program.h"

#define GRACE_NANOSECONDS 600000000L /* for the library to unwind after a signal */

static volatile sig_atomic_t caught;
static volatile sig_atomic_t shows_bar;
static volatile sig_atomic_t files_appear;
static int nothing = -1; /* /dev/null */
static timer_t grace;
static bool has_grace;
static pthread_t first_thread;

/* ---- unfinished files ---- */

static const char *volatile unfinished[APP_MOST_FILES];
static size_t unfinished_count;

void app_unfinished_add(const char *temporary)
{
    assert(unfinished_count < APP_MOST_FILES);
    unfinished[unfinished_count++] = temporary;
}

void app_unfinished_forget(void)
{
    for (size_t i = 0; i < APP_MOST_FILES; i++)
        unfinished[i] = NULL;
    unfinished_count = 0;
}

void app_unfinished_remove(void)
{
    for (size_t i = 0; i < APP_MOST_FILES; i++)
        if (unfinished[i])
            (void)unlink(unfinished[i]);
}

/* ---- handlers ---- */

/* Writes a line on standard error, from a handler; a failure is ignored. */
static void write_line(const char *sentence)
{
    static const char clear[] = "\r\033[K";
    const char *name = app_this_program.name;
    bool written = !shows_bar || write(STDERR_FILENO, clear, sizeof clear - 1) > 0;
    written = written && write(STDERR_FILENO, name, strlen(name)) > 0;
    written = written && write(STDERR_FILENO, sentence, strlen(sentence)) > 0;
    (void)written;
}

/* A signal that arrives in a helper's thread is passed to the first thread, which is the one that makes files
 * appear. A handler in that thread cannot run while files_appear is being set, only before or after. */
static bool passed_on(int signal_number)
{
    /* it compares two numbers: NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c) */
    if (pthread_equal(pthread_self(), first_thread))
        return false;
    (void)pthread_kill(first_thread, signal_number);
    return true;
}

/* Ends the program, because the library has not returned in time. */
static void end_now(int signal_number)
{
    if (passed_on(signal_number) || files_appear)
        return;
    app_unfinished_remove();
    write_line(": interrupted\n");
    _exit(128 + caught);
}

/* Ends the process by the signal as if it had not been caught; mpirun then says which process it was. */
static void end_by(int signal_number)
{
    app_unfinished_remove();
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

static void stop(int signal_number)
{
    if (passed_on(signal_number))
        return;
    if (files_appear) { /* only ends a wait for a pipe's reader; the rest continues until all files appear */
        caught = caught ? caught : signal_number;
        return;
    }
    if (uc_comm_size(app_comm) > 1)
        end_by(signal_number);
    if (caught) {
        app_unfinished_remove();
        _exit(128 + signal_number);
    }
    caught = signal_number;
    const struct itimerspec soon = {.it_value = {.tv_nsec = GRACE_NANOSECONDS}};
    if (has_grace)
        (void)timer_settime(grace, 0, &soon, NULL);
    /* A read that waits for standard input then sees its end. */
    if (nothing >= 0)
        (void)dup2(nothing, STDIN_FILENO);
}

/* A signal that was ignored when the program started stays ignored: a shell's background job or nohup's child
 * must not end because the user presses Ctrl-C in another program. */
static void catch_unless_ignored(int signal_number)
{
    struct sigaction action = {.sa_handler = stop}, before;
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
        (void)sigaction(signal_number, &action, NULL);
}

/* If another program makes a mapped file shorter, some of its pages no longer exist. */
static void lose_file(int signal_number)
{
    (void)signal_number;
    app_unfinished_remove();
    shows_bar = 0;
    write_line(": a file was made shorter, or its disk failed, while it was being read\n");
    _exit(1);
}

/* ---- the rest of the program ---- */

void app_files_appear(bool now)
{
    files_appear = now;
    if (!now && caught && uc_comm_size(app_comm) > 1)
        end_by(caught);
}

void app_bar_is_shown(bool shown)
{
    shows_bar = shown;
}

void app_catch_signals(void)
{
    struct sigaction lost = {.sa_handler = lose_file};
    (void)sigemptyset(&lost.sa_mask);
    first_thread = pthread_self();
    nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct sigevent alarm_clock = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    has_grace =
        signal(SIGALRM, end_now) != SIG_ERR && timer_create(CLOCK_MONOTONIC, &alarm_clock, &grace) == 0;
    catch_unless_ignored(SIGINT);
    catch_unless_ignored(SIGTERM);
    uc_program_unblock_signals(); /* the handlers are set by now, so a pending signal is caught */
    (void)sigaction(SIGBUS, &lost, NULL);
    (void)signal(SIGXFSZ, SIG_IGN); /* if a file may not grow any more, the write fails instead */
    (void)signal(SIGPIPE, SIG_DFL); /* if the reader of our output stops reading, we end quietly */
}

int app_signal(void)
{
    return caught;
}

uc_status app_check_interrupt(void)
{
    return caught ? UC_ERR_CANCELLED : UC_OK;
}
