/* How far the work is, on standard error, and stopping it with Ctrl-C.
 *
 * The first signal sets a flag, which the progress callback turns into a cancellation: the library then unwinds and
 * leaves nothing half-written. Work that does not ask for so long (a large problem inside LAPACK, say) is not waited for: the
 * unfinished file goes, and the program with it. The second signal ends the program at once, as does the first one that one of
 * several processes gets: it may wait for another process, which has ended already. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

#define QUIET_SECONDS 0.5 /* work that is over sooner shows nothing */
#define BAR_SECONDS 0.1   /* between two drawings of the bar */
#define LINE_SECONDS 5.0  /* between two lines where there is no terminal */
#define TELLING_RATE 1000 /* units per second from which on they are shown: rows or bytes, not folds */
#define USUAL_WIDTH 80    /* columns of a terminal that does not say how many it has */
#define LONGEST_BAR 20    /* columns */
#define SHORTEST_BAR 5    /* where there is less room the text goes without */
#define DESCRIPTION 256   /* bytes of the text behind the bar */

#define GRACE_NANOSECONDS 600000000L /* that the library has to unwind after a signal */

static volatile sig_atomic_t caught;
static volatile sig_atomic_t shows_bar;
static volatile sig_atomic_t files_appear;
static int nothing = -1; /* /dev/null */
static timer_t grace;
static bool has_grace;
static pthread_t first_thread;

/* A signal that came to one of OpenMP's threads goes to the first one, which is where files appear: a handler that runs
 * there runs before or after files_appear is set, not while. */
static bool passed_on(int signal_number)
{
    if (pthread_equal(pthread_self(), first_thread))
        return false;
    (void)pthread_kill(first_thread, signal_number);
    return true;
}

/* The library has not come back in time. */
static void end_now(int signal_number)
{
    static const char clear[] = "\r\033[K", sentence[] = "unconfuse: interrupted\n";
    if (passed_on(signal_number) || files_appear)
        return;
    cli_output_discard();
    const bool written = (!shows_bar || write(STDERR_FILENO, clear, sizeof clear - 1) > 0) &&
                         write(STDERR_FILENO, sentence, sizeof sentence - 1) > 0;
    (void)written; /* nobody may be there to read it */
    _exit(128 + caught);
}

/* As if nothing had been caught: mpirun says which process it was. */
static void end_by(int signal_number)
{
    cli_output_discard();
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

static void stop(int signal_number)
{
    if (passed_on(signal_number))
        return;
    if (files_appear) { /* a wait for a pipe's reader ends; nothing else does before all files are there */
        caught = caught ? caught : signal_number;
        return;
    }
    if (uc_comm_size(cli_comm) > 1)
        end_by(signal_number);
    if (caught) {
        cli_output_discard();
        _exit(128 + signal_number);
    }
    caught = signal_number;
    const struct itimerspec soon = {.it_value = {.tv_nsec = GRACE_NANOSECONDS}};
    if (has_grace)
        (void)timer_settime(grace, 0, &soon, NULL);
    /* A read that waits for standard input sees the end of it instead. */
    if (nothing >= 0)
        (void)dup2(nothing, STDIN_FILENO);
}

/* A signal that the program was started to ignore stays ignored: a shell's background job and nohup's child must not end
 * because somebody presses Ctrl-C in front of something else. */
static void catch_unless_ignored(int signal_number)
{
    struct sigaction action = {.sa_handler = stop}, before;
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
        (void)sigaction(signal_number, &action, NULL);
}

/* A mapped file that another program makes shorter has pages that are not there any more. */
static void lose_file(int signal_number)
{
    static const char sentence[] =
        "unconfuse: a file was made shorter, or its disk failed, while it was being read\n";
    (void)signal_number;
    cli_output_discard();
    if (write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0)
        _exit(1);
    _exit(1);
}

void cli_files_appear(bool now)
{
    files_appear = now;
    if (!now && caught && uc_comm_size(cli_comm) > 1)
        end_by(caught);
}

void cli_catch_signals(void)
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
    uc_program_unblock_signals(); /* with the handlers in place: one that came before now is caught */
    (void)sigaction(SIGBUS, &lost, NULL);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow any more is a failed write */
    (void)signal(SIGPIPE, SIG_DFL); /* whoever reads our output may stop reading: then we end, quietly */
}

int cli_signal(void)
{
    return caught;
}

uc_status cli_check_interrupt(void)
{
    return caught ? UC_ERR_CANCELLED : UC_OK;
}

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the bar ---- */

static struct {
    char task[64];
    double began, shown;
    bool drawn; /* a bar is on the terminal's last line */
} state;

/* 1234567 -> "1.2 M" */
static const char *with_prefix(double value, char *text, size_t size)
{
    static const char prefixes[] = " kMGT";
    size_t i = 0;
    for (; value >= 1000 && i + 1 < sizeof prefixes - 1; i++)
        value /= 1000;
    if (i == 0)
        snprintf(text, size, "%.3g ", value);
    else
        snprintf(text, size, "%.3g %c", value, prefixes[i]);
    return text;
}

/* "43%, 1.2 M/s, 0:12 left, error 0.041" */
static void describe(char *text, size_t size, double done, double total, double elapsed, const char *detail)
{
    char number[32];
    size_t length = 0;
    const double rate = done / fmax(elapsed, 1e-3);
    text[0] = 0;
    if (total > 0)
        length += (size_t)snprintf(text, size, "%.0f%%", 100 * fmin(1, done / total));
    if (total <= 0 || rate >= TELLING_RATE)
        length += (size_t)snprintf(text + length, size - length, "%s%s/s", length ? ", " : "",
                                   with_prefix(rate, number, sizeof number));
    if (total > 0 && done > 0) {
        const long left = lround(fmin(elapsed * (total - done) / done, 1e8));
        length += (size_t)snprintf(text + length, size - length, ", %ld:%02ld left", left / 60, left % 60);
    }
    if (detail && length < size)
        snprintf(text + length, size - length, ", %s", cli_in_words(detail));
}

static size_t terminal_width(void)
{
    struct winsize window;
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
    return known ? window.ws_col : USUAL_WIDTH;
}

/* One line of the terminal, however narrow: a longer one would be left behind when the next is drawn over it. */
static void draw(double done, double total, const char *text)
{
    const size_t room = terminal_width() - 1, words = strlen(state.task) + strlen(text) + strlen(" [] ");
    size_t cells = room > words ? room - words : 0;
    char bar[LONGEST_BAR + 4] = "", line[sizeof state.task + sizeof bar + DESCRIPTION];
    if (cells > LONGEST_BAR)
        cells = LONGEST_BAR;
    if (total > 0 && cells >= SHORTEST_BAR) {
        memset(bar, ' ', cells + 3);
        bar[1] = '[';
        memset(bar + 2, '#', (size_t)(fmin(1, done / total) * (double)cells));
        bar[cells + 2] = ']';
    }
    snprintf(line, sizeof line, "%s%s %s", state.task, bar, text);
    fprintf(stderr, "\r\033[K%.*s", (int)room, line);
    state.drawn = true;
    shows_bar = 1;
}

bool cli_progress(const char *task, double done, double total, const char *detail, void *user)
{
    const double now = cli_seconds();
    char fresh[sizeof state.task];
    (void)user;
    uc_message_render(fresh, sizeof fresh, task, UC_MESSAGE_COMMAND_LINE);
    if (strcmp(state.task, fresh) != 0) {
        memcpy(state.task, fresh, sizeof fresh);
        state.began = state.shown = now;
    }
    const bool terminal = isatty(STDERR_FILENO);
    if (now - state.began >= QUIET_SECONDS && now - state.shown >= (terminal ? BAR_SECONDS : LINE_SECONDS)) {
        char text[DESCRIPTION];
        describe(text, sizeof text, done, total, now - state.began, detail);
        if (terminal)
            draw(done, total, text);
        else
            fprintf(stderr, "unconfuse: %s: %s\n", state.task, text);
        state.shown = now;
    }
    return !caught;
}

bool cli_progress_silent(const char *task, double done, double total, const char *detail, void *user)
{
    (void)task, (void)done, (void)total, (void)detail, (void)user;
    return !caught;
}

void cli_progress_end(void)
{
    if (state.drawn)
        fputs("\r\033[K", stderr);
    state.drawn = false;
    shows_bar = 0;
}
