/* Logged events as examples: each event whose class the answer reveals becomes an example, with a weight such
 * that each example counts once on average, whatever the policy was.
 *
 *   p   the probability with which the class was proposed
 *   s   the share of wrong proposals whose true class was given
 *
 * With two classes, an answer always reveals the class: weight 1. With more classes, the right class k of an
 * example is proposed with probability p_k, and otherwise its class is given with probability s. If s > 0,
 * the weights are 1 if the proposal was right and 1/s if it was wrong: p_k + (1 - p_k) s (1/s) = 1. If s = 0,
 * only "right" reveals a class, and its weight is 1/p: p_k (1/p_k) = 1. */
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"
#include "app/message.h"
#include "service/columns.h"
#include "service/log_events.h"
#include "service/service.h"

#define LABEL "class"
#define WEIGHT "weight"

typedef struct training {
    const service_export *to;
    service_trained *out;
    columns columns;
    uc_names classes;         /* that occur in the log */
    uc_names revealed;        /* those of the examples */
    uint64_t wrong, labelled; /* wrong proposals among more than two classes; those with a true class */
    uc_names ids, texts;      /* features named like ids, and those of them that are text */
    double weights, squares;
    text line;
    problem *why;
    bool failed; /* failed, rather than only stopped */
} training;

/* ---- the first pass ---- */

static bool see(const logged *event, void *user)
{
    training *self = user;
    uint32_t index;
    const char *label = event->label ? event->label : event->class;
    self->out->explored = self->out->explored || event->probability < 1.0;
    self->wrong += !event->right && event->classes != 2;
    self->labelled += !event->right && event->classes != 2 && event->label;
    if (columns_see(&self->columns, &event->given) &&
        uc_names_add(&index, &self->classes, event->class, strlen(event->class)) == UC_OK &&
        uc_names_add(&index, &self->classes, label, strlen(label)) == UC_OK)
        return true;
    self->failed = !problem_set(self->why, 503, "not enough memory for the columns");
    return false;
}

static bool check_names(const training *self, const char *path)
{
    static const char *const own[] = {LABEL, WEIGHT};
    if (self->columns.width > 0 && self->columns.fields.count > 0)
        return problem_set(self->why, 400,
                           "%s: features have names in some events and only numbers in others", path);
    for (size_t i = 0; i < self->columns.fields.count; i++) {
        const char *name = self->columns.fields.text[i];
        if (strchr(name, ',') && uc_table_is_id_name(name, strlen(name)))
            return problem_set(self->why, 400,
                               "%s: the feature '%.80s' has a name of ids and a comma in it; rename it", path,
                               name);
    }
    for (size_t i = 0; i < 2; i++)
        if (uc_names_find(&self->columns.fields, own[i], strlen(own[i])) != UC_NONE)
            return problem_set(self->why, 400,
                               "%s: a feature is called '%s', as a column of the examples is; rename it",
                               path, own[i]);
    return true;
}

/* ---- the second pass ---- */

static double weight_of(const training *self, const logged *event, bool two)
{
    if (two)
        return 1.0;
    if (!event->right)
        return (double)self->wrong / (double)self->labelled;
    return self->labelled > 0 ? 1.0 : 1.0 / event->probability;
}

/* The class that the answer reveals; NULL if it reveals none. */
static const char *revealed(double *weight, const training *self, const logged *event)
{
    const bool two = (event->classes ? event->classes : self->classes.count) == 2;
    const char *other = event->other;
    if (two && !other && self->classes.count == 2)
        other = self->classes.text[strcmp(event->class, self->classes.text[0]) == 0];
    const char *class = event->label;
    if (!class && event->right)
        class = event->class;
    if (!class && two)
        class = other;
    if (class)
        *weight = weight_of(self, event, two);
    return class;
}

static bool write_line(training *self)
{
    text_add_string(&self->line, "\n");
    const bool written = self->to->write(self->line.bytes, self->line.size, self->to->user);
    self->line.size = 0;
    self->failed = !written;
    return written;
}

/* Finds features named like ids, which must nevertheless be read as features. */
static bool see_ids(training *self, const features *given)
{
    bool seen = true;
    uint32_t index;
    for (size_t i = 0; i < given->count && seen; i++) {
        const char *name = given->items[i].name;
        if (!name || !uc_table_is_id_name(name, strlen(name)))
            continue;
        seen = uc_names_add(&index, &self->ids, name, strlen(name)) == UC_OK;
        if (seen && given->items[i].text)
            seen = uc_names_add(&index, &self->texts, name, strlen(name)) == UC_OK;
    }
    return seen;
}

/* The types of these, for `columns` in uc_read_settings. */
static char *types_of(const training *self)
{
    text list = {0};
    for (size_t i = 0; i < self->ids.count; i++) {
        const char *name = self->ids.text[i];
        const bool is_text = uc_names_find(&self->texts, name, strlen(name)) != UC_NONE;
        text_add_format(&list, "%s%s=%s", i ? "," : "", name, is_text ? "text" : "number");
    }
    return list.bytes;
}

static bool write_example(const logged *event, void *user)
{
    training *self = user;
    double weight;
    const char *class = revealed(&weight, self, event);
    self->out->events++;
    if (!class)
        return true;
    uint32_t index;
    if (uc_names_add(&index, &self->revealed, class, strlen(class)) != UC_OK ||
        !see_ids(self, &event->given)) {
        self->failed = !problem_set(self->why, 503, "not enough memory for the names");
        return false;
    }
    self->out->examples++;
    self->weights += weight;
    self->squares += weight * weight;
    columns_add_field(&self->line, class);
    text_add_string(&self->line, ",");
    text_add_number(&self->line, weight);
    columns_add_values(&self->line, &self->columns, &event->given);
    return write_line(self);
}

uc_status service_training_write(service_trained *out, const service_training *asked,
                                 const service_export *to)
{
    problem why = {0};
    *out = (service_trained){0};
    training self = {.to = to, .out = out, .why = &why};
    const log_source from = {asked->path, asked->model, true, "--log-model"};
    bool done = log_events(&from, see, &self, &out->unanswered, &why) && !self.failed &&
                check_names(&self, asked->path);
    if (done) {
        text_add_string(&self.line, LABEL "," WEIGHT);
        columns_add_names(&self.line, &self.columns);
        done = write_line(&self);
    }
    done = done && log_events(&from, write_example, &self, &out->unanswered, &why) && !self.failed;
    out->labelled = self.labelled > 0;
    if (done && self.squares > 0.0)
        out->effective = self.weights * self.weights / self.squares;
    out->classes = self.revealed.count;
    if (done)
        out->types = types_of(&self);
    columns_free(&self.columns);
    uc_names_free(&self.ids);
    uc_names_free(&self.texts);
    uc_names_free(&self.revealed);
    uc_names_free(&self.classes);
    free(self.line.bytes);
    if (!done && why.status)
        return app_fail(UC_ERR_INVALID, "%s", why.detail);
    return done ? UC_OK : UC_ERR_IO;
}
