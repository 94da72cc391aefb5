/* Counts of what happened in a session. A point of the curve is kept at rounds 1, 2, 4, 8 and so on. */
#include "train/tally.h"

#include <assert.h>
#include <string.h>

uc_status uc_tally_add_label(uint32_t *out, uc_tally *self, const char *name, const uc_names *classes)
{
    const size_t before = self->labels.count, length = strlen(name);
    if (before == self->capacity) {
        const size_t capacity = uc_grown(self->capacity, before + 1);
        uc_label_tally *of = uc_realloc(self->of, capacity, sizeof *of);
        if (!of)
            return UC_ERR_NOMEM;
        self->of = of;
        self->capacity = capacity;
    }
    const uc_status status = uc_names_add(out, &self->labels, name, length);
    if (status == UC_OK && self->labels.count > before)
        self->of[*out] = (uc_label_tally){.class = uc_names_find_label(classes, name, length)};
    return status;
}

uc_status uc_tally_reserve(uc_tally *self, size_t classes)
{
    if (classes <= self->proposals_count)
        return UC_OK;
    const size_t room = uc_grown(self->proposals_count, classes);
    uint64_t *proposals = uc_realloc(self->proposals, room, sizeof *proposals);
    if (!proposals)
        return UC_ERR_NOMEM;
    memset(proposals + self->proposals_count, 0, (room - self->proposals_count) * sizeof *proposals);
    self->proposals = proposals;
    self->proposals_count = room;
    return UC_OK;
}

static uc_session_point point_now(const uc_tally *self)
{
    const double recent = (double)(self->correct - self->correct_at_point);
    uint64_t last = 0;
    if (self->points > 0)
        last = self->curve[self->points - 1].round;
    return (uc_session_point){
        .round = self->rounds,
        .ratio_correct = (double)self->correct / (double)self->rounds,
        .recent_ratio = recent / (double)(self->rounds - last),
    };
}

static void add_point(uc_tally *self)
{
    const uc_session_point point = point_now(self);
    self->curve[self->points++] = point;
    self->correct_at_point = self->correct;
}

void uc_tally_round(uc_tally *self, uint32_t label, uint32_t proposed, bool right)
{
    assert(label < self->labels.count);
    assert(proposed == UC_NONE || proposed < self->proposals_count);
    self->rounds++;
    self->correct += right;
    self->of[label].examples++;
    self->of[label].correct += right;
    if (proposed != UC_NONE)
        self->proposals[proposed]++;
    if ((self->rounds & (self->rounds - 1)) == 0) /* a power of two */
        add_point(self);
}

/* The point of the last round is computed here and not kept, since more rounds may come. */
const uc_session_point *uc_tally_curve(size_t *count, uc_tally *self)
{
    *count = self->points;
    if (self->points > 0 && self->curve[self->points - 1].round < self->rounds) {
        self->curve[self->points] = point_now(self);
        ++*count;
    }
    return self->curve;
}

static void describe_class(uc_session_label *out, const uc_tally *self, const char *name, size_t i)
{
    const uint32_t label = uc_names_find(&self->labels, name, strlen(name));
    *out = (uc_session_label){.name = name, .known = true};
    if (label != UC_NONE) {
        out->examples = self->of[label].examples;
        out->correct = self->of[label].correct;
    }
    if (i < self->proposals_count)
        out->proposed = self->proposals[i];
}

bool uc_tally_label_at(uc_session_label *out, const uc_tally *self, const uc_names *classes, size_t i)
{
    if (i < classes->count) {
        describe_class(out, self, classes->text[i], i);
        return true;
    }
    i -= classes->count;
    for (size_t label = 0; label < self->labels.count; label++)
        if (self->of[label].class == UC_NONE && i-- == 0) {
            *out = (uc_session_label){.name = self->labels.text[label], .examples = self->of[label].examples};
            return true;
        }
    return false;
}

void uc_tally_free(uc_tally *self)
{
    uc_names_free(&self->labels);
    uc_free(self->of);
    uc_free(self->proposals);
    *self = (uc_tally){0};
}
