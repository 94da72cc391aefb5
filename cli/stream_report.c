/* The output of unconfuse stream: the table while it runs, the recall of each class, JSON. */
#include "stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : (double)NAN;
}

/* ---- round by round ---- */

/* Prints the points of the curve that were not shown yet; `last` is the round of the last one. */
static void show_points(stream *self, const uc_session_round *last)
{
    const uc_names *classes = uc_online_classes(uc_session_online(self->session));
    size_t count;
    const uc_session_point *curve = uc_session_curve(&count, self->session);
    for (; self->points_shown < count; self->points_shown++) {
        const uc_session_point *point = &curve[self->points_shown];
        if (self->call->common.quiet)
            continue;
        if (self->points_shown == 0)
            fprintf(stderr, "%12s %9s %9s  %s\n", "round", "correct", "recent", "last proposal");
        const char *proposed = last->proposed == UC_NONE ? "-" : classes->text[last->proposed];
        fprintf(stderr, "%12llu %8.2f%% %8.2f%%  %s, %s\n", (unsigned long long)point->round,
                100 * point->ratio_correct, 100 * point->recent_ratio, proposed,
                last->right ? "right" : "wrong");
    }
}

/* Adds the recall of each class since the last point; null: the class did not occur. */
static void add_recalls(stream *self)
{
    const size_t K = uc_online_classes(uc_session_online(self->session))->count;
    json_t *recalls = json_array();
    uc_session_label label;
    for (size_t i = 0; i < K && i < STREAM_CLASSES && uc_session_label_at(&label, self->session, i); i++) {
        const uint64_t correct = label.correct - self->correct[i];
        json_array_append_new(recalls, app_json_real(share(correct, label.examples - self->examples[i])));
        self->examples[i] = label.examples;
        self->correct[i] = label.correct;
    }
    if (!self->recalls)
        self->recalls = json_array();
    json_array_append_new(self->recalls, recalls);
}

/* Adds a drop in the share of right proposals, which means that the data or their classes have changed. */
static void add_fall(stream *self)
{
    const uc_drift *drift = &self->drift;
    if (!self->falls)
        self->falls = json_array();
    json_array_append_new(self->falls, json_pack("{sI sf sf}", "round", (json_int_t)drift->round, "before",
                                                 drift->before, "after", drift->after));
    if (!self->call->common.quiet)
        fprintf(stderr, "%12llu  drift: right proposals fell from %.1f%% to %.1f%%\n",
                (unsigned long long)drift->round, 100 * drift->before, 100 * drift->after);
}

uc_status stream_on_round(const uc_session_round *round, void *user)
{
    stream *self = user;
    self->last = *round;
    if (uc_drift_add(&self->drift, round->right))
        add_fall(self);
    if ((round->number & (round->number - 1)) == 0) { /* 1, 2, 4, ... */
        show_points(self, round);
        add_recalls(self);
    }
    return app_check_interrupt();
}

void stream_show_last(stream *self)
{
    show_points(self, &self->last);
}

/* ---- afterwards ---- */

/* Counts the rounds whose label the learner does not know; *example is the first of these labels. */
static uint64_t unknown_rounds(const stream *self, const char **example)
{
    uint64_t rounds = 0;
    uc_session_label label;
    for (size_t i = 0; uc_session_label_at(&label, self->session, i); i++)
        if (!label.known) {
            if (rounds == 0)
                *example = label.name;
            rounds += label.examples;
        }
    return rounds;
}

void stream_warn_unknown(const stream *self)
{
    const char *example = NULL;
    const uint64_t rounds = unknown_rounds(self, &example);
    if (rounds > 0)
        app_warn("%llu of %llu rounds had a label that is not among the classes, such as %s: every proposal "
                 "was wrong",
                 (unsigned long long)rounds, (unsigned long long)uc_session_count(self->session).rounds,
                 example);
}

/* A point of the curve; `before` is the round of the one before. */
static json_t *json_point(const uc_session_point *point, uint64_t before)
{
    return json_pack("{sI sf sf so so}", "round", (json_int_t)point->round, "ratio_correct",
                     point->ratio_correct, "recent_ratio", point->recent_ratio, "ratio_interval",
                     cli_json_interval(point->ratio_correct, point->round), "recent_interval",
                     cli_json_interval(point->recent_ratio, point->round - before));
}

json_t *stream_describe(stream *self, double seconds)
{
    const uc_session_counts counts = uc_session_count(self->session);
    json_t *points = json_array(), *per_class = json_array();
    const char *example;
    uc_session_label label;
    size_t count;
    const uc_session_point *curve = uc_session_curve(&count, self->session);
    if (json_array_size(self->recalls) < count)
        add_recalls(self);
    const bool few = uc_online_classes(uc_session_online(self->session))->count <= STREAM_CLASSES;
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(points, json_point(&curve[i], i > 0 ? curve[i - 1].round : 0));
        if (few)
            json_object_set(json_array_get(points, i), "recent_recall", json_array_get(self->recalls, i));
    }
    for (size_t i = 0; uc_session_label_at(&label, self->session, i); i++)
        json_array_append_new(per_class, cli_json_class(label.name, label.examples, label.proposed,
                                                        share(label.correct, label.examples),
                                                        share(label.correct, label.proposed), NULL));
    json_t *falls = self->falls ? json_incref(self->falls) : json_array();
    const uc_event_counts *events = &counts.events;
    return json_pack("{sI sI so so so sf sI sI so sI so}", "rounds", (json_int_t)counts.rounds, "correct",
                     (json_int_t)counts.correct, "ratio_correct",
                     app_json_real(share(counts.correct, counts.rounds)), "curve", points, "per_class",
                     per_class, "seconds", seconds, "rounds_before", (json_int_t)counts.rounds_before,
                     "unknown_labels", (json_int_t)unknown_rounds(self, &example), "drift", falls, "expired",
                     (json_int_t)events->expired, "agreement",
                     events->compared ? app_json_real(share(events->agreed, events->compared)) : json_null());
}

/* Draws the share of right proposals between points: rounds 1, 2, 3 and 4, 5 to 8, ... */
static void draw_curve(const stream *self, FILE *file)
{
    size_t count;
    const uc_session_point *curve = uc_session_curve(&count, self->session);
    double *recent = app_calloc(count + 1, sizeof *recent);
    for (size_t i = 0; i < count; i++)
        recent[i] = curve[i].recent_ratio;
    cli_draw_curve(file, "Recently right, at rounds 1, 2, 4, 8 and so on", recent, count);
    free(recent);
}

static void print_falls(const stream *self, FILE *file)
{
    const uc_drift *drift = &self->drift;
    if (drift->alarms == 0)
        return;
    fprintf(file, "\ndrift: right proposals fell %llu time%s, last at round %llu, from %.1f%% to %.1f%%\n",
            (unsigned long long)drift->alarms, drift->alarms == 1 ? "" : "s",
            (unsigned long long)drift->round, 100 * drift->before, 100 * drift->after);
}

void stream_print(const stream *self, FILE *file, double seconds)
{
    const uc_session_counts counts = uc_session_count(self->session);
    app_grid table = {.align = "lr", .columns = 3};
    uc_session_label label;
    fprintf(file, "%llu rounds, %llu correct (%.2f%%), %llu updates, %.3f s\n",
            (unsigned long long)counts.rounds, (unsigned long long)counts.correct,
            100 * share(counts.correct, counts.rounds), (unsigned long long)counts.updates, seconds);
    if (counts.events.compared > 0)
        fprintf(file, "the learner agreed with %llu of %llu baselines (%.2f%%)\n",
                (unsigned long long)counts.events.agreed, (unsigned long long)counts.events.compared,
                100 * share(counts.events.agreed, counts.events.compared));
    if (counts.events.expired > 0)
        fprintf(file, "%llu rounds expired without feedback\n", (unsigned long long)counts.events.expired);
    if (self->args->resume)
        fprintf(file, "%llu rounds since the beginning of the stream\n",
                (unsigned long long)(counts.rounds_before + counts.rounds));
    fputc('\n', file);
    app_cell(&table, "class");
    app_cell(&table, "rounds");
    app_cell(&table, "recall");
    for (size_t i = 0; uc_session_label_at(&label, self->session, i); i++) {
        app_cell(&table, "%s", label.name);
        app_cell(&table, "%llu", (unsigned long long)label.examples);
        if (label.examples)
            app_cell(&table, "%.1f%%", 100 * share(label.correct, label.examples));
        else
            app_cell(&table, "-");
    }
    app_grid_print(&table, file);
    draw_curve(self, file);
    print_falls(self, file);
    if (self->args->output)
        fprintf(file, "model: %s\n", self->args->output);
}
