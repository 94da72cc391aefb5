/* The models' part of GET /metrics, in Prometheus text format. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/engine_inside.h"

typedef struct metric {
    const char *name, *type, *help;
    double (*value)(const served *model); /* NaN: no value yet */
    const char *labels;                   /* appended to the model's label */
} metric;

static double proposals(const served *model)
{
    return (double)model->events.proposals;
}

static double right(const served *model)
{
    return (double)model->right;
}

static double wrong(const served *model)
{
    return (double)(model->answered - model->right);
}

static double expired(const served *model)
{
    return (double)model->events.expired;
}

static double waiting_events(const served *model)
{
    return (double)model->waits.count;
}

static double recent_ratio(const served *model)
{
    return served_recent(model);
}

static double sequence(const served *model)
{
    return (double)model->sequence;
}

static double drift_alarms(const served *model)
{
    return (double)model->drift.alarms;
}

/* Metrics with the same name are adjacent. */
static const metric metrics[] = {
    {"unconfuse_proposals_total", "counter", "Proposals of a model.", proposals, ""},
    {"unconfuse_feedback_total", "counter", "Answers to them.", right, ",answer=\"right\""},
    {"unconfuse_feedback_total", "counter", NULL, wrong, ",answer=\"wrong\""},
    {"unconfuse_expired_total", "counter", "Proposals that nobody answered in time.", expired, ""},
    {"unconfuse_waiting_events", "gauge", "Proposals that wait for an answer.", waiting_events, ""},
    {"unconfuse_recent_ratio_correct", "gauge", "Share of right proposals among the last 1000 answers.",
     recent_ratio, ""},
    {"unconfuse_sequence", "gauge", "The last row of the model's journal.", sequence, ""},
    {"unconfuse_drift_alarms_total", "counter", "Falls of the share of right proposals.", drift_alarms, ""},
};

static void print_head(FILE *out, const char *name, const char *type, const char *help)
{
    (void)fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_metrics(FILE *out, const engine *self)
{
    print_head(out, "unconfuse_journal_commits_total", "counter", "Transactions that added rows to it.");
    (void)fprintf(out, "unconfuse_journal_commits_total %llu\n", (unsigned long long)self->commits);
    print_head(out, "unconfuse_journal_rows_total", "counter", "Rows that were added to the journal.");
    (void)fprintf(out, "unconfuse_journal_rows_total %llu\n", (unsigned long long)self->committed_rows);
    print_head(out, "unconfuse_journal_writable", "gauge", "Whether the journal can be written.");
    (void)fprintf(out, "unconfuse_journal_writable %d\n", self->unwritable.status == 0);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        if (metrics[i].help)
            print_head(out, metrics[i].name, metrics[i].type, metrics[i].help);
        for (size_t j = 0; j < self->count; j++) {
            const served *model = self->entries[j]->model;
            const double value = metrics[i].value(model);
            if (!isnan(value))
                (void)fprintf(out, "%s{model=\"%s\"%s} %.15g\n", metrics[i].name, model->name,
                              metrics[i].labels, value);
        }
    }
}

void engine_metrics(const engine *self, job *work)
{
    FILE *out = open_memstream(&work->bytes, &work->size);
    if (!out) {
        (void)problem_set(&work->why, 503, "not enough memory");
        return;
    }
    print_metrics(out, self);
    (void)fclose(out);
}
