/* What unconfuse stream tells: the table as it goes, the recall of each class, JSON. */
#include "stream.h"

#include <math.h>
#include <string.h>

static const char *class_name(const stream *self, uint32_t class)
{
    return class == UC_NONE ? "-" : uc_online_classes(self->online)->text[class];
}

static double share(size_t part, size_t whole)
{
    return whole ? (double)part / (double)whole : (double)NAN;
}

/* ---- round by round ---- */

void stream_show(stream *self)
{
    const double ratio = share(self->correct, self->rounds);
    const double recent = share(self->correct - self->shown_correct, self->rounds - self->shown_rounds);
    if (!self->call->common.quiet) {
        if (self->points == 0)
            fprintf(stderr, "%12s %9s %9s  %s\n", "round", "correct", "recent", "last proposal");
        fprintf(stderr, "%12zu %8.2f%% %8.2f%%  %s, %s\n", self->rounds, 100 * ratio, 100 * recent,
                class_name(self, self->proposed), self->right ? "right" : "wrong");
    }
    self->curve = cli_realloc(self->curve, self->points + 1, sizeof *self->curve);
    self->curve[self->points++] = (point){self->rounds, ratio, recent};
    self->shown_rounds = self->rounds;
    self->shown_correct = self->correct;
}

static void count_proposal(stream *self, uint32_t class)
{
    if (class >= self->proposals_count) {
        const size_t count = uc_online_classes(self->online)->count;
        self->proposals = cli_realloc(self->proposals, count, sizeof *self->proposals);
        memset(self->proposals + self->proposals_count, 0,
               (count - self->proposals_count) * sizeof *self->proposals);
        self->proposals_count = count;
    }
    self->proposals[class]++;
}

void stream_count_round(stream *self, uint32_t label, bool right, uint32_t proposed)
{
    self->rounds++;
    self->correct += right;
    self->proposed = proposed;
    self->right = right;
    self->tally[label].examples++;
    self->tally[label].correct += right;
    if (proposed != UC_NONE)
        count_proposal(self, proposed);
    if (self->rounds == self->next_shown) {
        stream_show(self);
        self->next_shown *= 2;
    }
}

/* ---- afterwards ---- */

static size_t unknown_rounds(const stream *self, const char **example)
{
    size_t rounds = 0;
    for (size_t i = self->labels.count; i-- > 0;)
        if (self->tally[i].known == UC_NONE) {
            rounds += self->tally[i].examples;
            *example = self->labels.text[i];
        }
    return rounds;
}

void stream_tell_unknown(stream *self)
{
    const char *example = NULL;
    const size_t rounds = unknown_rounds(self, &example);
    if (rounds > 0)
        cli_warn("%zu of %zu rounds had a label that is not among the classes, such as %s: every proposal "
                 "was wrong",
                 rounds, self->rounds, example);
}

/* One line of the table of classes: those that the learner knows, then the labels that it does not. */
typedef struct class_line {
    const char *name;
    size_t examples, correct, proposed;
} class_line;

static bool class_line_at(class_line *out, const stream *self, size_t i)
{
    const uc_names *classes = uc_online_classes(self->online);
    if (i < classes->count) {
        const char *name = classes->text[i];
        const uint32_t label = uc_names_find(&self->labels, name, strlen(name));
        const label_tally tally = label == UC_NONE ? (label_tally){0} : self->tally[label];
        *out = (class_line){name, tally.examples, tally.correct,
                            i < self->proposals_count ? self->proposals[i] : 0};
        return true;
    }
    i -= classes->count;
    for (size_t label = 0; label < self->labels.count; label++)
        if (self->tally[label].known == UC_NONE && i-- == 0) {
            *out = (class_line){self->labels.text[label], self->tally[label].examples, 0, 0};
            return true;
        }
    return false;
}

json_t *stream_describe(const stream *self, double seconds)
{
    json_t *curve = json_array(), *per_class = json_array();
    const char *example;
    class_line line;
    for (size_t i = 0; i < self->points; i++)
        json_array_append_new(curve, json_pack("{sI sf sf}", "round", (json_int_t)self->curve[i].round,
                                               "ratio_correct", self->curve[i].ratio, "recent_ratio",
                                               self->curve[i].recent));
    for (size_t i = 0; class_line_at(&line, self, i); i++)
        json_array_append_new(per_class,
                              cli_json_class(line.name, line.examples, share(line.correct, line.examples),
                                             share(line.correct, line.proposed)));
    return json_pack("{sI sI so so so sf sI sI}", "rounds", (json_int_t)self->rounds, "correct",
                     (json_int_t)self->correct, "ratio_correct",
                     cli_json_real(share(self->correct, self->rounds)), "curve", curve, "per_class",
                     per_class, "seconds", seconds, "rounds_before", (json_int_t)self->rounds_before,
                     "unknown_labels", (json_int_t)unknown_rounds(self, &example));
}

void stream_print(const stream *self, FILE *file, double seconds)
{
    cli_table table = {.align = "lr", .columns = 3};
    class_line line;
    fprintf(file, "%zu rounds, %zu correct (%.2f%%), %llu updates, %.3f s\n", self->rounds, self->correct,
            100 * share(self->correct, self->rounds),
            (unsigned long long)(uc_online_updates(self->online) - self->updates_before), seconds);
    if (self->args->resume)
        fprintf(file, "%llu rounds since the beginning of the stream\n",
                (unsigned long long)(self->rounds_before + self->rounds));
    fputc('\n', file);
    cli_cell(&table, "class");
    cli_cell(&table, "rounds");
    cli_cell(&table, "recall");
    for (size_t i = 0; class_line_at(&line, self, i); i++) {
        cli_cell(&table, "%s", line.name);
        cli_cell(&table, "%zu", line.examples);
        if (line.examples)
            cli_cell(&table, "%.1f%%", 100 * share(line.correct, line.examples));
        else
            cli_cell(&table, "-");
    }
    cli_table_print(&table, file);
    if (self->args->output)
        fprintf(file, "model: %s\n", self->args->output);
}
