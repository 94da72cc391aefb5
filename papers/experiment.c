/* The table of the experiments, and their progress. */
#include "experiment.h"

#include <stdarg.h>
#include <string.h>

#define RUN_STRIDE 1000003 /* between the seeds of two runs */

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
    report_fail(&self->report, "%s: %s: %s", self->experiment->name, part, app_last_error());
    app_forget_error();
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

bool execution_progress(const char *task, double done, double total, const char *detail, void *user)
{
    const execution *self = user;
    char stage[sizeof self->stage + 128];
    (void)done, (void)total, (void)detail;
    if (self->quiet)
        return !app_signal();
    if (task)
        snprintf(stage, sizeof stage, "%s: %s", self->stage, task);
    else
        snprintf(stage, sizeof stage, "%s", self->stage);
    return app_progress(self->experiment->name, self->done, 1.0, stage, NULL);
}

void execution_stage(execution *self, double done, double total, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->stage, sizeof self->stage, format, arguments);
    va_end(arguments);
    self->done = done / total;
    (void)execution_progress(NULL, 0, 0, NULL, self);
}
