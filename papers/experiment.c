/* The one table that lists the experiments, and how far one is. */
#define _GNU_SOURCE
#include "experiment.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define TERMINAL_SECONDS 0.1 /* between two drawings of the line */
#define LINE_SECONDS 10.0    /* between two lines where there is no terminal */
#define RUN_STRIDE 1000003   /* between the seeds of two runs */

const experiment *const experiments[] = {
    &uma_figure1a, &uma_figure1b, &uma_figure2,    &uma_table1,    &uma_figure3,  &uma_figure4,
    &uma_figure5,  &uma_s3vm,     &uma_width,      &copa_toy,      &cspa_figure1, &cspa_figure2,
    &cspa_table1,  &cspa_table2,  &cspa_figure3,   &cspa_figure4,  &rp_table1,    &rp_figure2,
    &rp_table3,    &rp_figure3,   &sloppy_figure1, &sloppy_table1, &sloppy_pu,    NULL,
};

static const char *experiment_name(size_t i, const void *user)
{
    (void)user;
    return experiments[i] ? experiments[i]->name : NULL;
}

const char *experiment_nearest(const char *word)
{
    return uc_names_nearest(word, experiment_name, NULL);
}

uint64_t execution_seed(const execution *self, size_t run)
{
    return self->seed + RUN_STRIDE * (uint64_t)run;
}

bool execution_settle(execution *self, uc_status status, const char *part)
{
    if (status == UC_OK)
        return true;
    report_fail(&self->report, "%s: %s: %s", self->experiment->name, part, papers_last_error());
    papers_forget_error();
    return false;
}

bool execution_wants(const execution *self, const char *problem)
{
    const size_t length = strlen(problem);
    for (const char *item = self->only; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL)
        if (strncmp(item, problem, length) == 0 && (item[length] == 0 || item[length] == ','))
            return true;
    return !self->only;
}

/* ---- progress ---- */

static struct {
    double shown;
    bool drawn; /* there is a line on the terminal */
} progress;

/* `task` is what the library is doing within the stage, or NULL. */
static void show_progress(const execution *self, const char *task)
{
    const double now = papers_seconds();
    const bool terminal = isatty(STDERR_FILENO);
    if (self->quiet || now - progress.shown < (terminal ? TERMINAL_SECONDS : LINE_SECONDS))
        return;
    fprintf(stderr, terminal ? "\r\033[K%s: %.0f%%, %s%s%s" : "unconfuse-papers: %s: %.0f%%, %s%s%s\n",
            self->experiment->name, 100.0 * self->done, self->stage, task ? ": " : "", task ? task : "");
    progress.drawn = terminal;
    progress.shown = now;
}

bool execution_progress(const char *task, double done, double total, const char *detail, void *user)
{
    (void)done, (void)total, (void)detail;
    char shown[128];
    uc_message_render(shown, sizeof shown, task, UC_MESSAGE_COMMAND_LINE);
    show_progress(user, shown);
    return true;
}

void execution_stage(execution *self, double done, double total, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->stage, sizeof self->stage, format, arguments);
    va_end(arguments);
    self->done = done / total;
    show_progress(self, NULL);
}

void execution_stage_end(void)
{
    if (progress.drawn)
        fputs("\r\033[K", stderr);
    progress.drawn = false;
}
