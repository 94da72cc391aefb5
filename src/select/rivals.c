/*
 * Learners that `auto` trains next to its own fit.
 *
 * Candidates of `auto` differ in how they see the rows, and one criterion compares them (view.c). A learner
 * with another picture of how labels come about is not comparable by how well it predicts labels: one that
 * predicts wrong labels well has learned them. It must know by itself whether its picture holds, and says so
 * in `stands` (learn/learner.h). To add one: write that hook; nothing else is needed.
 */
#include "select/rivals.h"

#include <string.h>

#include "select/view.h"
#include "train/train.h"

static uc_status train_rival(uc_rivals *self, const uc_learner *learner, const uc_train_settings *train,
                             uc_dataset *data, const uc_context *context)
{
    uc_train_settings kept = *train; /* the rows are needed again */
    uc_rival *rival = &self->tried[self->count];
    uc_model *model = NULL;
    kept.overwrite = 0;
    const uc_status status = uc_train(&model, learner, NULL, &kept, data, context);
    if (status != UC_OK)
        return status;
    *rival = (uc_rival){.learner = learner};
    rival->stands = learner->stands(&rival->criterion, model);
    self->count++;
    if (rival->stands && !self->best)
        self->best = model;
    else
        uc_model_free(model);
    return UC_OK;
}

uc_status uc_rivals_train(uc_rivals *out, const uc_learner *learner, const void *settings,
                          const uc_train_settings *train, uc_dataset *data, const uc_context *context)
{
    uc_rivals self = {0};
    uc_status status = UC_OK;
    if (learner != &uc_learner_auto || ((const uc_auto_settings *)settings)->effort == UC_EFFORT_FAST)
        return UC_OK;
    for (size_t i = 0; uc_learner_at(i) && self.count < UC_MOST_RIVALS && status == UC_OK; i++)
        if (uc_learner_at(i)->stands)
            status = train_rival(&self, uc_learner_at(i), train, data, context);
    if (status == UC_OK)
        *out = self;
    else
        uc_rivals_free(&self);
    return status;
}

uc_model *uc_rivals_take(uc_rivals *self)
{
    uc_model *model = self->best;
    self->best = NULL;
    return model;
}

void uc_rivals_free(uc_rivals *self)
{
    uc_model_free(self->best);
    *self = (uc_rivals){0};
}

uc_status uc_rivals_write(uc_model *model, const uc_rivals *self)
{
    json_t *list = json_object_get(model->summary, "candidates");
    for (size_t i = 0; i < self->count; i++) {
        const uc_rival *rival = &self->tried[i];
        json_t *entry = json_pack("{s:s, s:{}, s:f, s:b}", "learner", rival->learner->name, "options",
                                  "criterion", rival->criterion, "stands", (int)rival->stands);
        if (!entry || json_array_append_new(list, entry) != 0)
            return uc_fail(UC_ERR_NOMEM, "not enough memory for the summary of the model");
        if (rival->stands && strcmp(model->learner, rival->learner->name) == 0)
            return uc_json_set(model->summary, "chosen", json_pack("{s:s}", "learner", model->learner));
    }
    return UC_OK;
}
