/* Progress of the work on standard error. */
#define _GNU_SOURCE
#include "app/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "app/signals.h"

#define QUIET_SECONDS 0.5 /* shorter work shows nothing */
#define BAR_SECONDS 0.1   /* between two drawings of the bar */
#define LINE_SECONDS 5.0  /* between two lines if there is no terminal */
#define SHOWN_RATE 1000   /* units per second; a lower rate is not shown: rows or bytes, not folds */
#define USUAL_WIDTH 80    /* columns, if the terminal does not give its width */
#define LONGEST_BAR 20    /* columns */
#define SHORTEST_BAR 5    /* columns; if there is less room, there is no bar */
#define DESCRIPTION 256   /* bytes of the text after the bar */

double app_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

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
    if (total <= 0 || rate >= SHOWN_RATE)
        length += (size_t)snprintf(text + length, size - length, "%s%s/s", length ? ", " : "",
                                   with_prefix(rate, number, sizeof number));
    if (total > 0 && done > 0) {
        const long left = lround(fmin(elapsed * (total - done) / done, 1e8));
        length += (size_t)snprintf(text + length, size - length, ", %ld:%02ld left", left / 60, left % 60);
    }
    if (detail && length < size)
        snprintf(text + length, size - length, ", %s", app_in_words(detail));
}

size_t app_terminal_width(int file)
{
    struct winsize window;
    const bool known = ioctl(file, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
    return known ? window.ws_col : USUAL_WIDTH;
}

/* Draws one line of the terminal, however narrow it is. A longer text would leave a part behind when the next
 * line is drawn over it. */
static void draw(double done, double total, const char *text)
{
    const size_t room = app_terminal_width(STDERR_FILENO) - 1,
                 words = strlen(state.task) + strlen(text) + strlen(" [] ");
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
    app_bar_is_shown(true);
}

bool app_progress(const char *task, double done, double total, const char *detail, void *user)
{
    const double now = app_seconds();
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
            fprintf(stderr, "%s: %s: %s\n", app_this_program.name, state.task, text);
        state.shown = now;
    }
    return !app_signal();
}

bool app_progress_silent(const char *task, double done, double total, const char *detail, void *user)
{
    (void)task, (void)done, (void)total, (void)detail, (void)user;
    return !app_signal();
}

void app_progress_end(void)
{
    if (state.drawn)
        fputs("\r\033[K", stderr);
    state.drawn = false;
    app_bar_is_shown(false);
}
